"""Every invariant sees what breaks it: right motions pass, and each is failed by one wrong number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from document_invariants import document_of_motion_is_valid
from invariants import check_motion, check_stop
from looked import Looked
from mbplugin.model.mechanism import WORLD, Body, Lock, Mechanism
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.spatial import Array, Pose
from mbplugin.simulation.options import Options
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.outcome import StopReport
from models import pose_at
from state_invariants import (
    energies_are_those_of_the_states,
    forces_are_admissible,
    jumps_are_made_by_what_holds_afterwards,
    loops_stay_closed,
    numbers_are_finite_and_in_order,
    what_holds_stands_still,
)
from work_invariants import (
    dissipation_is_the_work_of_what_resists,
    dissipation_never_falls,
    energy_is_balanced,
    loads_do_their_work,
)


def arm(friction: float = 0.8) -> Mechanism:
    """Two links of 0.5 m, dry friction and damping in the outer joint."""
    links = tuple(
        Body(name, 2.0, np.array([0.25, 0.0, 0.0]), 0.05 * np.eye(3)) for name in ("upper", "lower")
    )
    at = pose_at(np.zeros(3), (0.0, 1.0, 0.0))
    pairs = (
        Pair("shoulder", "revolute", WORLD, "upper", at, at),
        Pair(
            "elbow",
            "revolute",
            "upper",
            "lower",
            pose_at(np.array([0.5, 0.0, 0.0]), (0.0, 1.0, 0.0)),
            at,
            freedoms=(Freedom(damping=0.1, friction=friction),),
        ),
    )
    return Mechanism("arm", links, pairs)


def four_bar() -> tuple[Mechanism, Array]:
    """A parallelogram-free loop of hinges with a damper in the one that is cut."""
    X = Pose.identity()
    points = [np.array(p) for p in ((0, 0, 0.0), (0.1, 0.3, 0), (0.7, 0.5, 0), (0.8, 0, 0))]
    names = ["crank", "coupler", "rocker"]
    joint_frames = [WORLD, *names, WORLD]
    pairs = tuple(
        Pair(
            f"j{k}",
            "revolute",
            joint_frames[k],
            joint_frames[k + 1],
            X @ pose_at(points[k]),
            pose_at(points[k]),
            closure=k == 3,
            freedoms=(Freedom(damping=0.2 * (k == 3)),),
        )
        for k in range(4)
    )
    bodies = tuple(
        Body(n, 1.0, 0.5 * (points[k] + points[k + 1]), 0.02 * np.eye(3)) for k, n in enumerate(names)
    )
    mech = Mechanism("four-bar", bodies, pairs, gravity=np.array([0.0, -9.81, 0.0]))
    return mech, np.zeros(3)


@pytest.fixture(scope="module")
def stopping() -> Trajectory:
    """The shoulder locks at 0.3 s; the elbow sticks and slips, and a brake on it grips at 0.4 s."""
    return mb.simulate(
        arm(),
        0.8,
        q0=[0.4, 0.3],
        qd0=[1.0, -2.0],
        locks=[Lock("shoulder", at=0.3)],
        brakes=[{"joint": "elbow", "torque": 12.0, "viscous": 0.3, "delay": 0.4}],
        limits="ignore",
    )


@pytest.fixture(scope="module")
def turning() -> Trajectory:
    mech, _ = four_bar()
    return mb.simulate(mech, 0.5, qd0={"j0": 3.0}, limits="ignore")


@pytest.fixture(scope="module")
def report() -> StopReport:
    brakes = [{"joint": j, "torque": 20.0, "viscous": 0.2, "delay": 0.05} for j in ("shoulder", "elbow")]
    return mb.estop(arm(), q=[0.2, 0.1], qd=[1.0, 1.5], brakes=brakes)


def changed(motion: Trajectory, name: str, change: Callable[[Array], Any]) -> Trajectory:
    """The motion with one of its arrays changed."""
    values = np.array(getattr(motion, name))
    out = change(values)
    return replace(motion, **{name: values if out is None else out})


def held(motion: Trajectory) -> int:
    """A sample in the middle of the last segment, in which the brake holds."""
    return int(np.flatnonzero(motion.segment == motion.segment.max()).mean())


def test_right_motions_pass(stopping: Trajectory, turning: Trajectory, report: StopReport) -> None:
    assert {e.kind for e in stopping.events} >= {"lock", "brake", "stick"}
    assert stopping.dissipated[-1] > 0.1 and turning.dissipated[-1] > 0.01
    check_motion(stopping)
    check_motion(turning)
    check_motion(report.trajectory)
    check_stop(report, peaks=True)


def _bump(k: int, size: float) -> Callable[[Array], None]:
    def change(values: Array) -> None:
        values[k] += size

    return change


def all_forces(look: Looked) -> None:
    forces_are_admissible(look, 1000)


def document(look: Looked) -> None:
    document_of_motion_is_valid(look.motion)


def _resist_less(m: Trajectory) -> Trajectory:
    return replace(m, mechanism=replace(m.mechanism, pairs=arm(0.7999).pairs))


def _locked_otherwise(m: Trajectory) -> Trajectory:
    jumps = np.flatnonzero((np.diff(m.time) == 0) & (np.diff(m.qd[:, 0]) != 0))
    return changed(m, "qd", _bump(int(jumps[0]) + 1, 1e-3))


def _creeping(m: Trajectory) -> Trajectory:
    return changed(m, "qd", _bump(held(m), 1e-5))


def _unheard(m: Trajectory) -> Trajectory:
    return replace(m, events=(replace(m.events[0], kind="unheard"), *m.events[1:]))


#: What is wrong: the array and its change, or a function; the invariant that says so, and a word of it.
WRONG: dict[str, tuple[Any, Callable[[Looked], None], str]] = {
    "too much": (("dissipated", lambda w: 1.00001 * w), dissipation_is_the_work_of_what_resists, "∑∫ τ q̇ dt"),
    "too little friction": (_resist_less, dissipation_is_the_work_of_what_resists, "∑∫ τ q̇ dt"),
    "given back": (("dissipated", _bump(-1, -1.0)), dissipation_never_falls, "dissipated falls"),
    "not finite": (("applied", _bump(2, np.nan)), numbers_are_finite_and_in_order, "applied is not finite"),
    "backwards": (("time", _bump(2, 0.5)), numbers_are_finite_and_in_order, "time decreases"),
    "faster": (("kinetic", lambda w: w * (1 + 1e-8)), energies_are_those_of_the_states, "kinetic energy"),
    "higher": (("potential", _bump(3, 1e-6)), energies_are_those_of_the_states, "potential energy"),
    "of nobody": (("applied", lambda w: w + 1e-4 * np.arange(len(w))), loads_do_their_work, "applied up to"),
    "a drive": (("driven", lambda w: w + 1e-4 * np.arange(len(w))), energy_is_balanced, "energy balance"),
    "creeping": (
        lambda m: changed(m, "qd", _bump(held(m), 1e-5)),
        what_holds_stands_still,
        "is said to hold",
    ),
    "other forces": (("qdd", _bump(3, 1e-3)), all_forces, "no admissible forces"),
    "another jump": (_locked_otherwise, jumps_are_made_by_what_holds_afterwards, "jump by more"),
    "no such kind": (_unheard, document, "does not follow its schema"),
    "no such outcome": (lambda m: replace(m, outcome="well"), document, "does not follow its schema"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_number_is_seen(name: str, stopping: Trajectory) -> None:
    change, invariant, text = WRONG[name]
    wrong = changed(stopping, *change) if isinstance(change, tuple) else change(stopping)
    invariant(Looked(stopping, Options(0.8)))
    with pytest.raises(AssertionError, match=text):
        invariant(Looked(wrong, Options(0.8)))


def test_a_weaker_brake_cannot_have_held(stopping: Trajectory) -> None:
    (brake,) = stopping.actions.brakes
    weak = replace(stopping.actions, brakes=(replace(brake, law=replace(brake.law, static=1e-3)),))
    with pytest.raises(AssertionError, match="no admissible forces"):
        check_motion(replace(stopping, actions=weak))


def test_a_loop_that_opens_is_seen(turning: Trajectory) -> None:
    k = len(turning.time) // 2
    for name, text in (("q", "a loop is open"), ("qd", "a loop opens")):
        with pytest.raises(AssertionError, match=text):
            loops_stay_closed(Looked(changed(turning, name, _bump(k, 1e-5)), Options(0.5)))


def test_a_sample_that_is_not_returned_is_seen(stopping: Trajectory, monkeypatch: pytest.MonkeyPatch) -> None:
    def beside(motion: Trajectory, times: Array) -> Trajectory:
        return resampled(motion, np.minimum(times + 1e-7, motion.time[-1]))

    resampled = Trajectory.resample
    monkeypatch.setattr(Trajectory, "resample", beside)
    with pytest.raises(AssertionError, match="when resampled there"):
        check_motion(stopping)


STOPS: dict[str, tuple[str, Callable[[StopReport], StopReport]]] = {
    "a brake that gives energy": (
        "the brake of shoulder takes up",
        lambda r: replace(r, joints=(replace(r.joints[0], brake_energy=-1e-9), *r.joints[1:])),
    ),
    "brakes that take more than is lost": (
        "brakes take up",
        lambda r: replace(r, joints=(replace(r.joints[0], brake_energy=9.0), *r.joints[1:])),
    ),
    "negative losses": (
        "losses in damping",
        lambda r: replace(r, energies=replace(r.energies, losses=-1e-3)),
    ),
    "an open balance": ("leaves", lambda r: replace(r, energies=replace(r.energies, residual=1e-3))),
    "a joint that rests after the arm": ("rests after", lambda r: replace(r, time=0.5 * r.time)),
    "a joint that moves on": (
        "a joint is not",
        lambda r: replace(r, joints=(replace(r.joints[0], stopped=False), *r.joints[1:])),
    ),
    "an outcome of no kind": ("does not follow its schema", lambda r: replace(r, outcome="well")),
}


@pytest.mark.parametrize("name", STOPS)
def test_a_wrong_stop_is_seen(name: str, report: StopReport) -> None:
    text, change = STOPS[name]
    with pytest.raises(AssertionError, match=text):
        check_stop(change(report))
