"""Motions asked for wrongly, interrupted, or broken by a user's function: a sentence, and nothing lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from command_line import call
from mbplugin.errors import BadUsage, ContradictedState, MbPluginError
from mbplugin.model.mechanism import Body, Driver, Mechanism
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.spatial import Array, Pose
from mbplugin.report.documents.part import schema_of
from mbplugin.simulation.options import UserEvent
from mbplugin.simulation.run import simulate
from models import chain, four_bar


@pytest.fixture(scope="module")
def arm() -> Mechanism:
    return chain(2, "revolute", np.random.default_rng(3))[0]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"duration": 0.0}, "the duration is 0 s; expected a positive number"),
        ({"duration": -1.0}, "the duration is -1 s"),
        ({"duration": np.inf}, "the duration is inf s"),
        ({"duration": np.nan}, "the duration is nan s"),
        ({"step": 0.0}, "the step is 0 s; expected a positive number"),
        ({"step": -1e-3}, "the step is -0.001 s"),
        ({"rtol": 0.0}, "the rtol is 0"),
        ({"atol": -1.0}, "the atol is -1"),
        ({"rtol": np.nan}, "the rtol is nan"),
        ({"samples": 0}, "0 samples were requested"),
        ({"integrator": "euler"}, "there is no integrator 'euler'"),
        ({"limits": "bounce"}, "there is no limits 'bounce'"),
        ({"tolerance": 2.0}, "the tolerance is 2"),
        ({"stabilization": "baumgarte", "formulation": "kkt"}, "Baumgarte's terms are for closing rows"),
        (
            {"stabilization": "baumgarte", "redundancy": "minimum-norm"},
            "with elimination in joint coordinates",
        ),
        ({"qd0": {"j7": 1.0}}, "no joint coordinate is called 'j7'"),
        ({"qd0": [np.nan, 0.0]}, "'j0' has the value nan; expected a finite number, rad/s"),
    ],
)
def test_requests_that_cannot_be(arm: Mechanism, asked: dict[str, object], sentence: str) -> None:
    with pytest.raises(MbPluginError) as caught:
        simulate(arm, **{"duration": 1.0, **asked})  # type: ignore[arg-type]
    assert sentence in str(caught.value)


def test_rates_that_are_named_lead_and_the_others_follow() -> None:
    mech, q = four_bar()
    motion = simulate(mech, 0.01, q0=q, qd0={"j0": 2.0})
    assert motion.qd[0] == pytest.approx([2.0, -2.0, 2.0], abs=1e-12)
    assert motion.notes == ()


@pytest.mark.parametrize("rates", [{"j0": 2.0, "j1": 1.0}, [2.0, 1.0, 0.0]])
def test_rates_that_contradict_the_loops_are_refused_with_those_that_agree(rates: object) -> None:
    """In the unit square the coupler only travels: j1 = -j0, j2 = j0."""
    mech, q = four_bar()
    with pytest.raises(
        ContradictedState, match=r"j0 = 2, j1 = 1 contradict each other .* j1 = -2, the others"
    ):
        simulate(mech, 0.01, q0=q, qd0=rates)  # type: ignore[arg-type]


def test_a_driver_that_contradicts_its_loop() -> None:
    mech, q = four_bar()
    driven = replace(mech, drivers=(Driver("one", "j0", rate=1.0), Driver("two", "j2", rate=-2.0)))
    with pytest.raises(BadUsage, match=r"no rates satisfy .*; change what its drivers prescribe"):
        simulate(driven, 0.1, q0=q)


def broken(at: float, how: Callable[[], Array]) -> Callable[[float, Array, Array], Array]:
    return lambda t, q, qd: np.zeros(2) if t < at else how()


def crash() -> Array:
    raise ZeroDivisionError("division by zero")


@pytest.mark.parametrize("integrator", ["dop853", "rk4"])
@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        (lambda: np.full(2, np.nan), "the controller returned [nan nan] at t = 0.3"),
        (lambda: np.zeros(3), "the controller returned [0. 0. 0.] at t = 0.3"),
        (crash, "the controller failed at t = 0.3"),
    ],
)
def test_a_controller_that_breaks_loses_nothing(
    arm: Mechanism, how: Callable[[], Array], sentence: str, integrator: str
) -> None:
    options = {"integrator": integrator, "step": 0.02, "qd0": {"j0": 1.0}}
    motion = simulate(arm, 1.0, controller=broken(0.3, how), **options)  # type: ignore[arg-type]
    assert motion.outcome == "failed"
    assert sentence in motion.notes[-1]
    assert 0.25 < motion.time[-1] < 0.3 + 1e-9
    whole = simulate(arm, float(motion.time[-1]), readable=True, **options)  # type: ignore[arg-type]
    assert motion.q[-1] == pytest.approx(whole.q[-1], abs=1e-7)
    with pytest.raises(MbPluginError, match="at t = 0 s"):
        simulate(arm, 1.0, controller=broken(0.0, how))


def test_an_event_and_a_profile_that_break() -> None:
    mech, q = four_bar()
    event = UserEvent(lambda t, q, qd: 1.0 if t < 0.2 else np.nan, "mine")
    motion = simulate(mech, 1.0, q0=q, qd0={"j0": 1.0}, events=[event], step=0.05)
    assert (motion.outcome, "event 'mine' returned nan at t = 0.2" in motion.notes[-1]) == ("failed", True)
    assert motion.time[-1] > 0.1
    driven = replace(mech, drivers=(Driver("drive", "j0"),))
    profiles = {"drive": lambda t: (t, 1.0, 0.0) if t < 0.2 else (t, 1.0)}
    motion = simulate(driven, 1.0, q0=q, profiles=profiles, integrator="rk4", step=0.05)  # type: ignore[dict-item]
    assert motion.outcome == "failed"
    assert "the profile of 'drive' returned [0.2 1. ] at t = 0.2" in motion.notes[-1]
    assert motion.time[-1] == pytest.approx(0.15)


def test_ctrl_c_keeps_what_was_computed(arm: Mechanism) -> None:
    def stop(t: float, *_: object) -> Array:
        if t > 0.505:
            raise KeyboardInterrupt
        return np.zeros(2)

    motion = simulate(arm, 1.0, controller=stop, integrator="rk4", step=0.01)
    assert motion.outcome == "interrupted"
    assert motion.time[-1] == pytest.approx(0.5)
    motion = simulate(arm, 1.0, progress=stop, step=0.01, integrator="rk4", readable=True)
    assert motion.outcome == "interrupted"
    assert motion.time[-1] == pytest.approx(0.51)
    sampled = simulate(arm, 1.0, progress=stop, integrator="rk4", step=0.01, readable=True, samples=5)
    assert sampled.time == pytest.approx([0.0, 0.2, 0.4, 0.51])


@pytest.mark.no_invariants("a step that is far too long has no right energy")
@pytest.mark.parametrize("readable", [False, True])
def test_a_motion_ends_at_its_last_finite_sample(arm: Mechanism, readable: bool) -> None:
    """Damping that the step is far too long for: each step is the largest so far, a hundredfold and more."""
    hinge, other = arm.pairs
    stiff = replace(arm, pairs=(replace(hinge, freedoms=(Freedom(damping=1e6),)), other))
    with np.errstate(over="raise", invalid="raise"):
        motion = simulate(stiff, 1.0, qd0={"j0": 1.0}, integrator="rk4", step=0.01, readable=readable)
    assert motion.outcome == "failed" and "the motion is no longer finite at t = " in motion.notes[-1]
    assert 1 < len(motion.time) < 50 and np.abs(motion.qd[-1]).max() > 1e6
    for values in (motion.q, motion.qd, motion.qdd, motion.kinetic, motion.dissipated):
        assert np.isfinite(values).all()


@pytest.mark.no_invariants("a step that is far too long has no right energy")
@pytest.mark.parametrize("readable", [False, True])
def test_a_turn_beyond_all_numbers_is_no_sample(readable: bool) -> None:
    """One step turns a ball joint by 1e150 rad: its quaternion, and the masses at it, are no numbers any more."""
    damped = tuple(Freedom(damping=1e40) for _ in range(3))
    body = Body("b", 1.0, np.array([0.1, 0.0, 0.0]), 0.1 * np.eye(3))
    joint = Pair("j", "spherical", "world", "b", Pose.identity(), Pose.identity(), freedoms=damped)
    mech = Mechanism("ball", (body,), (joint,))
    motion = simulate(
        mech, 1.0, qd0={"j.wx": 1.0, "j.wy": 0.5}, integrator="rk4", step=0.01, readable=readable
    )
    assert motion.outcome == "failed" and "the motion is no longer finite at t = " in motion.notes[-1]
    for values in (motion.q, motion.qd, motion.qdd, motion.kinetic):
        assert np.isfinite(values).all()


@pytest.mark.no_invariants("a step that is far too long has no right energy")
@pytest.mark.parametrize("format_", ["json", "html", "text"])
def test_a_report_in_a_file_leaves_the_reason_on_stderr(tmp_path: Path, format_: str) -> None:
    robot, report = tmp_path / "robot.urdf", tmp_path / "report"
    robot.write_text(
        """<robot name="robot"><link name="base"/><link name="rod"><inertial><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="j0" type="continuous"><parent link="base"/><child link="rod"/><dynamics damping="1e6"/>
        </joint></robot>""",
        encoding="utf-8",
    )
    done = call(
        *(
            "simulate",
            str(robot),
            "--base",
            "fixed",
            "--qd",
            "j0=1",
            "--integrator",
            "rk4",
            "--step",
            "0.01",
            "--duration",
            "1",
        ),
        *("--output-format", format_, "--output", str(report)),
    )
    assert done.code == 2 and report.exists() and done.out == ""
    sentence = f"mbplugin simulate: {robot}: the motion is no longer finite at t = "
    assert done.err.startswith(sentence) and done.err.count("\n") == 1
    if format_ == "json":
        found = json.loads(report.read_text(encoding="utf-8"))
        jsonschema.validate(found, schema_of("simulate"))
        assert found["outcome"] == "failed"


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"loads": {"b0": [0, 0, 1]}}, "a load names no body.*write {'body': 'b0', 'force': .0, 0, 1.}"),
        ({"payloads": [3.0]}, r"payload\[0\] is 3.0; expected a Payload or a mapping"),
        ({"brakes": {"j0": 50}}, "a brake names no joint.*write {'joint': 'j0', 'torque': 50}"),
        ({"locks": ["j0"]}, r"locks\[0\] is 'j0'; expected a Lock"),
    ],
)
def test_what_is_no_element_of_its_list_is_named(
    arm: Mechanism, asked: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(MbPluginError, match=sentence):
        simulate(arm, 0.1, **asked)
