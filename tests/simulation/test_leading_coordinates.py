"""Motions in independent coordinates: no drift without stabilisation, changes of coordinates, other rows."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from closed_mechanisms import axes_at, planar, spherical
from command_line import ASSETS, call
from mbplugin.dynamics.explicit_closure import closing_conditions
from mbplugin.dynamics.formulations import eliminate
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.errors import ContradictedState
from mbplugin.model.scene import Scene
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.studies.elimination import cos_squared
from places import ORACLES, ROOT

#: Loops in closed form (four-bar) and by Newton's steps: spatial ones, and with p = 1 and 3.
LOOPS = [
    "four_bar_4R",
    "bennett_4R",
    "bricard_A04",
    "sarrus_6R",
    pytest.param("stewart_6UPS", marks=pytest.mark.long),
]
ACCURATE: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-12}
COARSE: dict[str, Any] = {"integrator": "rk4", "step": 0.02, "stabilization": "none", "readable": True}


def pulled(name: str, pull: tuple[float, float, float] = (1.0, -9.81, 2.0)) -> Scene:
    scene = mb.load(ORACLES / f"{name}.sdf")
    return replace(scene, mechanism=replace(scene.mechanism, gravity=np.array(pull)))


def crank_rocker() -> Scene:
    return mb.load(ROOT / "assets" / "crank_rocker.scene.toml")


def state_of(motion: Trajectory) -> np.ndarray:
    return np.concatenate((motion.q[-1], motion.qd[-1]))


@pytest.mark.long_after(1)
@pytest.mark.parametrize("name", LOOPS)
def test_no_loop_opens_without_stabilisation(name: str) -> None:
    """Coarse steps, whose errors open every loop in all other formulations."""
    scene = pulled(name)
    closing = mb.simulate(scene, 0.3, formulation="closing", **COARSE)
    assert max(closing.residuals.values()) < 1e-12
    assert np.abs(closing.qd[-1]).max() > 0.04


def test_the_same_steps_open_the_loop_in_another_formulation() -> None:
    closing = mb.simulate(crank_rocker(), 1.0, formulation="closing", **COARSE)
    other = mb.simulate(crank_rocker(), 1.0, formulation="projected", **COARSE)
    assert max(other.residuals.values()) > 1e-6
    assert max(closing.residuals.values()) < 1e-14
    assert np.ptp(closing.energy) < 1e-3 * closing.kinetic.max()


@pytest.mark.long_after(1)
@pytest.mark.parametrize("name", LOOPS)
def test_the_motion_is_that_of_every_formulation(name: str) -> None:
    scene = pulled(name)
    expected = state_of(mb.simulate(scene, 0.2, **ACCURATE))
    found = mb.simulate(scene, 0.2, formulation="closing", **ACCURATE)
    assert state_of(found) == pytest.approx(expected, abs=1e-7)


@pytest.mark.long
@pytest.mark.parametrize("formulation", ["closing", "partitioning"])
def test_drivers_locks_and_brakes_hold_beside_closing_conditions(formulation: str) -> None:
    scene = crank_rocker()
    mech = scene.mechanism
    start = float(mb.analyze(scene).q[0])
    driver = mb.Driver("motor", "O1", value=start, rate=0.4, acceleration=0.9)
    driven = replace(scene, mechanism=replace(mech, drivers=(driver,)))
    for given, stated in (
        (driven, {}),
        (scene, {"locks": [mb.Lock("O4", 0.1, until=0.25)]}),
        (scene, {"qd0": {"O1": 2.0}, "brakes": [{"joint": "O1", "torque": 3.0}], "signal": 0.05}),
    ):
        expected = mb.simulate(given, 0.4, **stated, **ACCURATE)
        found = mb.simulate(given, 0.4, formulation=formulation, **stated, **ACCURATE)
        assert found.outcome == expected.outcome
        assert state_of(found) == pytest.approx(state_of(expected), abs=1e-7)
        assert [e.time for e in found.events] == pytest.approx([e.time for e in expected.events], abs=1e-7)
        assert found.driven[-1] == pytest.approx(expected.driven[-1], abs=1e-7)
        assert max(found.residuals.values()) < 1e-12
    at_end = start + 0.4 * 0.4 + 0.45 * 0.4**2
    led = mb.simulate(driven, 0.4, formulation=formulation, **ACCURATE)
    assert led.q[-1, 0] == pytest.approx(at_end, abs=1e-12)


@pytest.mark.parametrize("formulation", ["closing", "partitioning"])
def test_the_first_to_lead_has_the_largest_criterion(formulation: str) -> None:
    """With a heavy coupler another angle is the best (blajer1994 figure 3)."""
    scene, leaders = crank_rocker(), set()
    for factor in (1.0, 20.0):
        bodies = tuple(
            replace(b, mass=factor * b.mass, I_C=factor * b.I_C) if b.name == "coupler" else b
            for b in scene.mechanism.bodies
        )
        heavy = replace(scene, mechanism=replace(scene.mechanism, bodies=bodies))
        motion = mb.simulate(heavy, 0.05, q0={"O1": 4.2}, formulation=formulation)
        q = motion.q[0]
        equations = joint_equations(heavy.mechanism, q, np.zeros(3))
        criterion = cos_squared(equations, eliminate(equations))
        best = heavy.mechanism.qd_names[int(criterion.argmax())]
        assert motion.independent[0].time == 0.0
        assert motion.independent[0].names == (best,)
        leaders.add(best)
    assert len(leaders) == 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("formulation", "name", "pull", "duration"),
    [
        # three poses in which the links of a rhombus lie on one line, where no angle can lead
        ("closing", "four_bar_4R", (3.0, -9.81, 2.0), 1.3),
        pytest.param("closing", "bricard_A04", (-9.0, 3.0, 2.0), 1.5, marks=pytest.mark.long),
        ("partitioning", "bricard_A04", (-9.0, 3.0, 2.0), 1.5),
    ],
)
def test_coordinates_change_in_time_and_nothing_jumps(
    formulation: str, name: str, pull: tuple[float, float, float], duration: float
) -> None:
    scene = pulled(name, pull)
    motion = mb.simulate(scene, duration, formulation=formulation, **ACCURATE)
    leaders = motion.independent
    assert len(leaders) >= 2
    assert all(a.names != b.names for a, b in pairwise(leaders))
    assert {one.time for one in leaders} <= set(motion.time.tolist())
    expected = mb.simulate(scene, duration, **ACCURATE)
    assert state_of(motion) == pytest.approx(state_of(expected), abs=1e-6)
    assert np.ptp(motion.energy) < 1e-6 * motion.kinetic.max()
    assert max(motion.residuals.values()) < 1e-11


@pytest.mark.long_after(5)
@pytest.mark.parametrize(
    "formulation", ["projected", "kkt", "null-space", "voronets", "partitioning", "closing"]
)
@pytest.mark.parametrize(
    "options", [ACCURATE, {"integrator": "rk4", "step": 5e-3}, {}], ids=["fine", "rk4", "default"]
)
def test_a_rhombus_runs_through_the_pose_in_which_a_row_vanishes(
    formulation: str, options: dict[str, Any]
) -> None:
    """All links on one horizontal line: the horizontal closing row is zero there, and not parallel to another.

    The links go on as they came, as a parallelogram: its sides stay parallel.
    """
    scene = pulled("four_bar_4R", (3.0, -9.81, 2.0))
    motion = mb.simulate(scene, 0.85, formulation=formulation, **options)
    assert motion.outcome == "completed"
    assert motion.q[-1, 0] < -np.pi / 2 - 0.5
    assert motion.q == pytest.approx(motion.q[:, :1] * np.array([1.0, -1.0, 1.0]), abs=1e-6)


def test_the_report_says_who_led() -> None:
    command = ["simulate", str(ASSETS / "crank_rocker.scene.toml"), "--duration", "0.05"]
    assert "\nindependent: O1\n" in call(*command, "--formulation", "closing").out
    document = json.loads(call(*command, "--formulation", "closing", "--output-format", "json").out)
    assert document["independent"] == [{"time": 0.0, "names": ["O1"]}]
    assert json.loads(call(*command, "--output-format", "json").out)["independent"] == []


def five_bar() -> tuple[mb.Mechanism, np.ndarray]:
    """Two cranks on the ground, one freedom left when one of them is driven or locked."""
    joints = [
        ("crank", "revolute", mb.WORLD, "crank", (0.0, 0.0), 0.0),
        ("elbow", "revolute", "crank", "forearm", (-0.5, 0.6), 0.0),
        ("crank2", "revolute", mb.WORLD, "crank2", (0.3, 0.0), 0.0),
        ("elbow2", "revolute", "crank2", "forearm2", (0.9, 0.5), 0.0),
        ("tip", "revolute", "forearm", "forearm2", (0.2, 1.3), 0.0),
    ]
    mech, q = planar(joints)
    return replace(mech, drivers=(mb.Driver("motor", "crank2"),)), q


def swing(t: float) -> tuple[float, float, float]:
    return 0.5 * np.sin(4 * t), 2.0 * np.cos(4 * t), -8.0 * np.sin(4 * t)


@pytest.mark.long
def test_a_driven_joint_is_a_function_of_time_and_not_integrated() -> None:
    """blajer1993 (5), (6): q_D = g(q_I, t), whatever the step; other formulations integrate it and drift."""
    mech, q = five_bar()
    given: dict[str, Any] = {"q0": q, "qd0": {"crank2": 2.0}, "profiles": {"motor": swing}}
    motion = mb.simulate(mech, 0.5, formulation="closing", **given, **COARSE)
    exact = np.array([swing(t)[:2] for t in motion.time])
    k = mech.qd_names.index("crank2")
    assert motion.q[:, k] == pytest.approx(exact[:, 0], abs=1e-15)
    assert motion.qd[:, k] == pytest.approx(exact[:, 1], abs=1e-15)
    assert max(motion.residuals.values()) < 1e-14
    assert "crank2" in motion.independent[0].names and len(motion.independent[0].names) == 2
    other = mb.simulate(mech, 0.5, formulation="projected", **given, **COARSE)
    # Simpson's rule on -8 sin 4t, in steps of h = 0.02: errors of the size of h⁴/2880 · 512
    assert 1e-8 < np.abs(other.q[:, k] - [swing(t)[0] for t in other.time]).max() < 1e-7
    expected = mb.simulate(mech, 0.5, **given, **ACCURATE)
    fine = mb.simulate(mech, 0.5, formulation="closing", **given, **ACCURATE)
    assert state_of(fine) == pytest.approx(state_of(expected), abs=1e-7)
    assert fine.driven[-1] == pytest.approx(expected.driven[-1], abs=1e-6)


@pytest.mark.parametrize("formulation", ["projected", "closing"])
def test_a_motion_starts_with_the_rate_of_its_profile_and_the_one_that_is_stated(formulation: str) -> None:
    """Two freedoms: the profile has one, the caller the other one; a rate against the profile is refused."""
    mech, q = five_bar()
    given: dict[str, Any] = {"q0": q, "profiles": {"motor": swing}, "formulation": formulation}
    motion = mb.simulate(mech, 0.1, qd0={"crank": 0.7}, **given, **COARSE)
    names = mech.qd_names
    assert motion.qd[0, [names.index("crank"), names.index("crank2")]] == pytest.approx([0.7, 2.0], abs=1e-12)
    assert motion.q[-1, names.index("crank2")] == pytest.approx(swing(0.1)[0], abs=1e-7)
    with pytest.raises(ContradictedState, match="crank2 = 1"):
        mb.simulate(mech, 0.1, qd0={"crank2": 1.0}, **given, **COARSE)


@pytest.mark.long
def test_a_lock_stands_still_without_stabilisation_and_lets_go_again() -> None:
    """The locked joint comes first among the independent ones, others lead again when it opens."""
    mech, q = five_bar()
    free = replace(mech, drivers=())
    given: dict[str, Any] = {"q0": q, "qd0": {"crank": 1.0, "crank2": -0.5}}
    given["locks"] = [mb.Lock("elbow", at=0.1, until=0.3)]
    motion = mb.simulate(free, 0.5, formulation="closing", **given, **COARSE)
    k = free.qd_names.index("elbow")
    held = (motion.time > 0.1 + 1e-9) & (motion.time < 0.3 - 1e-9)
    assert held.sum() > 5
    assert np.ptp(motion.q[held, k]) == 0.0
    assert np.abs(motion.qd[held, k]).max() == 0.0
    assert max(motion.residuals.values()) < 1e-14
    assert [e.kind for e in motion.events] == ["lock", "release"]
    leaders = [one.names for one in motion.independent if 0.1 - 1e-9 <= one.time < 0.3]
    assert leaders and all("elbow" in names for names in leaders)
    expected = mb.simulate(free, 0.5, **given, **ACCURATE)
    fine = mb.simulate(free, 0.5, formulation="closing", **given, **ACCURATE)
    assert state_of(fine) == pytest.approx(state_of(expected), abs=1e-7)
    impulse = next(iter(fine.events[0].impulse.values()))
    assert impulse == pytest.approx(next(iter(expected.events[0].impulse.values())), rel=1e-6)


def test_eta_and_xi_are_derivatives_of_g_along_the_time() -> None:
    """blajer1993 (5)–(7) with a crank driven by 0.3 + 0.7 t + t²."""
    mech, q = five_bar()
    driver = mb.Driver("motor", "crank2", value=0.3, rate=0.7, acceleration=2.0)
    mech = replace(mech, drivers=(driver,))
    closing = closing_conditions(mech, q, ["crank", "crank2"])
    assert [one.driver.name for one in closing.driven] == ["motor"]
    crank, h, t = closing.independent.index("crank"), 1e-5, 0.2
    led = 1 - crank

    def pose(time: float, speed: float) -> np.ndarray:
        q_I = np.zeros(2)
        q_I[crank] = 0.1 + speed * (time - t)
        return closing.g(q_I, near=q, time=time)

    here = pose(t, 0.0)
    assert here[mech.qd_names.index("crank2")] == pytest.approx(0.3 + 0.7 * t + t**2)
    eta = closing.eta(here, t)
    assert (pose(t + h, 0.0) - pose(t - h, 0.0)) / (2 * h) == pytest.approx(eta, abs=1e-8)
    speed = 1.3
    qd = closing.A(here)[:, crank] * speed + eta
    assert (pose(t + h, speed) - pose(t - h, speed)) / (2 * h) == pytest.approx(qd, abs=1e-7)
    second = (pose(t + 1e-4, speed) - 2 * here + pose(t - 1e-4, speed)) / 1e-8
    assert second == pytest.approx(closing.xi(here, qd, t), abs=1e-4)
    assert closing.A(here)[:, led] == pytest.approx(eta / (0.7 + 2 * t))


@pytest.mark.long
def test_a_spherical_five_bar_moves_in_closed_form() -> None:
    """The palm of a hand, two freedoms, and a lock; no loop opens, and it is the motion of every formulation."""
    arcs, turns = np.radians([40, 65, 70, 45, 0]).tolist(), [0.4, 1.5, 1.2, 1.4, 0.0]
    mech, q = spherical(axes_at(np.array([0.2, -0.1, 0.4]), arcs, turns), 4)
    assert [step.kind for step in closing_conditions(mech, q).steps] == ["spherical RRR"]
    given: dict[str, Any] = {"q0": q, "locks": [mb.Lock("j1", at=0.15)]}
    motion = mb.simulate(mech, 0.3, formulation="closing", **given, **COARSE)
    assert max(motion.residuals.values()) < 1e-14
    expected = mb.simulate(mech, 0.3, **given, **ACCURATE)
    found = mb.simulate(mech, 0.3, formulation="closing", **given, **ACCURATE)
    assert state_of(found) == pytest.approx(state_of(expected), abs=1e-7)
    assert np.abs(found.q[-1] - q).max() > 0.1
