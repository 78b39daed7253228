"""The variational steps in readable Python: the same motion as compiled ones, and what controllers do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from closed_mechanisms import paper_four_bar
from mbplugin.model.brake_law import Brake
from mbplugin.model.brakes import AppliedForces
from mbplugin.model.mechanism import Driver, Lock, Mechanism
from mbplugin.model.mechanism.kinematics import home
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.model.scene import State
from mbplugin.model.spatial import Array, JointSpring
from mbplugin.simulation.options import Options
from mbplugin.simulation.passing_marks import TimedDrive
from mbplugin.simulation.run import move
from mbplugin.simulation.trajectory.trajectory import Trajectory
from models import four_bar
from rod_arms import arm
from variational_cases import exact, floating_chain, momentum, pendulum, run, sled

BALLS = [1.0, 0.5, -1.0, 0.3, 2.0, 1.0]


def assert_same(one: Trajectory, other: Trajectory, close: float = 1e-10) -> None:
    """The same samples, works and events."""
    assert (one.outcome, len(one.time)) == (other.outcome, len(other.time))
    assert [(e.kind, e.joint) for e in one.events] == [(e.kind, e.joint) for e in other.events]
    for name in ("time", "q", "qd", "dissipated", "applied", "driven"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=0, atol=close, err_msg=name)


def parallelogram() -> tuple[Mechanism, Array]:
    """Three closing rows too many, hanging in its plane."""
    mech, q = four_bar()
    return replace(mech, gravity=np.array([3.0, -9.0, 0.0])), q


def cases() -> dict[str, tuple[Mechanism, dict[str, Any]]]:
    bar, q_bar = parallelogram()
    rubbing = Freedom(damping=0.3, friction=0.2)
    start = {"qd0": [1.0, -2.0, 3.0]}
    return {
        "turns": (pendulum(3), start),
        "turns on the group": (pendulum(2, "spherical"), {"qd0": BALLS}),
        "floating": (floating_chain(3), {"qd0": np.linspace(-1, 1, 12)}),
        "loop": (paper_four_bar(), {}),
        "redundant loop": (bar, {"q0": q_bar, "qd0": {"j0": 1.0}}),
        "driver": (replace(paper_four_bar(), drivers=(Driver("motor", "a1", (), None, 2.0),)), {}),
        "knife edge": (sled(), {"qd0": [1.0, 0.0, 2.0]}),
        "lock": (pendulum(3), start | {"locks": [Lock("j1", at=0.104, until=0.163)]}),
        "lock of a ball": (pendulum(2, "spherical"), {"qd0": BALLS, "locks": [Lock("j1", at=0.104)]}),
        "friction": (pendulum(2, freedoms=(rubbing,)), {"qd0": [0.5, -1.5]}),
        "limits and samples": (
            pendulum(2, freedoms=(Freedom(upper=0.1),)),
            {"samples": 7, "limits": "record"},
        ),
    }


@pytest.mark.parametrize("name", list(cases()))
def test_readable_steps_give_the_compiled_motion(name: str) -> None:
    mech, asked = cases()[name]
    assert_same(run(mech, 0.25, 0.0125, **asked), run(mech, 0.25, 0.0125, readable=True, **asked))


@pytest.mark.long_after(13)
@pytest.mark.parametrize("readable", [False, True])
@pytest.mark.parametrize(
    ("damping", "mass", "length", "torque"), [(10, 1e-4, 1e-4, 0), (0.1, 0.01, 1e-3, 10)]
)
def test_steps_beyond_all_numbers_are_not_taken(readable, damping, mass, length, torque) -> None:
    stiff = arm((length, length), mass=mass, limits=Freedom(damping=float(damping)))
    brakes = [Brake("j1", float(torque))] if torque else None
    motion = mb.simulate(
        stiff,
        duration=1e-4,
        qd0={"j0": 1e3, "j1": 1.0},
        integrator="variational",
        brakes=brakes,
        readable=readable,
    )
    assert motion.outcome in ("completed", "step_too_small")
    assert np.isfinite(motion.q).all() and np.isfinite(motion.qd).all()


def test_readable_steps_that_are_too_long_are_taken_in_the_same_parts() -> None:
    start = np.array([5.0, -8.0, 10.0])
    one, other = (run(pendulum(3), 0.8, 0.1, qd0=start, readable=readable) for readable in (False, True))
    assert one.statistics["rejected"] == other.statistics["rejected"] > 0
    assert np.ptp(np.diff(other.time)) > 0.04
    assert_same(one, other)


@pytest.mark.parametrize(
    ("mech", "start"),
    [(pendulum(3), [1.0, -2.0, 3.0]), (pendulum(2, "spherical"), BALLS), (sled(), [1.0, 0.0, 2.0])],
    ids=["turns", "turns on the group", "knife edge"],
)
def test_controller_that_does_what_constant_torques_do(mech: Mechanism, start: list[float]) -> None:
    force = np.linspace(-1.5, 2.0, len(start))
    torques = dict(zip(mech.qd_names, force, strict=True))
    compiled = run(mech, 0.25, 0.0125, qd0=start, torques=torques)
    controlled = run(mech, 0.25, 0.0125, qd0=start, controller=lambda t, q, qd: force)
    assert abs(compiled.applied[-1]) > 0.1
    assert_same(compiled, controlled)


def test_controller_that_does_what_a_load_does() -> None:
    """A torque on the last rod, about its hinge, is the same torque at every hinge on the way."""
    start = [1.0, -2.0, 3.0]
    load = {"body": "b2", "torque": [0.0, 1.7, 0.0]}
    loaded = run(pendulum(3), 0.25, 0.0125, qd0=start, loads=[load])
    assert_same(
        loaded, run(pendulum(3), 0.25, 0.0125, qd0=start, controller=lambda t, q, qd: np.full(3, 1.7))
    )


def test_controller_that_does_what_a_spring_and_a_damper_do() -> None:
    """It is asked at the midpoint, where those act as well."""
    start, spring = [1.0, -2.0], JointSpring("j0", stiffness=20.0, rest=0.3)
    damped = run(pendulum(2, freedoms=(Freedom(damping=0.4),)), 0.25, 0.0125, qd0=start, springs=[spring])

    def controller(t: float, q: Array, qd: Array) -> Array:
        return np.array([-20.0 * (q[0] - 0.3), 0.0]) - 0.4 * qd

    controlled = run(pendulum(2), 0.25, 0.0125, qd0=start, controller=controller)
    np.testing.assert_allclose(controlled.q, damped.q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(controlled.qd, damped.qd, rtol=0, atol=1e-10)


def test_momenta_that_no_controller_inside_changes() -> None:
    """Joint torques that depend on time and state stir a floating chain; its momenta stay."""
    mech = floating_chain(3)

    def controller(t: float, q: Array, qd: Array) -> Array:
        return np.concatenate((np.zeros(6), np.sin(9 * t) * np.arange(1.0, 7.0) - 0.4 * qd[6:]))

    start = np.random.default_rng(5).normal(size=12)
    motion = run(mech, 0.4, 0.02, qd0=start, controller=controller)
    assert (len(motion.time), motion.applied[-1] > 1.0) == (21, True)
    kept = momentum(mech, motion.q[0], motion.qd[0])
    for q, qd in zip(motion.q, motion.qd, strict=True):
        np.testing.assert_allclose(momentum(mech, q, qd), kept, rtol=0, atol=1e-12)


def test_order_two_with_a_controller() -> None:
    mech, errors = pendulum(2), []

    def controller(t: float, q: Array, qd: Array) -> Array:
        return -3.0 * (q - [1.0, 0.0]) - 0.5 * qd + 2.0 * np.sin(8 * t)

    reference = exact(mech, 0.3, controller=controller)
    for step in (0.02, 0.01):
        motion = run(mech, 0.3, step, controller=controller)
        gaps = motion.q[-1] - reference.q[-1], motion.qd[-1] - reference.qd[-1]
        errors.append([np.abs(gap).max() for gap in gaps])
    assert np.log2(np.array(errors[0]) / errors[1]) == pytest.approx([2.0, 2.0], abs=0.15)


@pytest.mark.no_invariants("the balance of forces has no row for a drive that is held from the start")
@pytest.mark.parametrize(("pair_type", "driven"), [("revolute", ()), ("spherical", ("ry",))])
def test_profile_that_says_what_a_drive_says(pair_type: str, driven: tuple[str, ...]) -> None:
    """A quartic of time that the compiled steps know, and readable ones ask for, instant by instant."""
    mech = pendulum(2, pair_type)
    q, qd = home(mech), np.linspace(2.0, -1.0, len(mech.qd_names))
    # the driven freedom begins with the rate of its drive
    qd[mech.qd_names.index("j0.wy" if driven else "j0")] = 2.0
    value = np.polynomial.Polynomial([0.0, 2.0, 0.0, -40.0, 60.0])

    def profile(t: float) -> tuple[float, float, float]:
        return float(value(t)), float(value.deriv()(t)), float(value.deriv(2)(t))

    motor = Driver("motor", "j0", driven, 0.0, 2.0)
    led = run(replace(mech, drivers=(motor,)), 0.25, 0.0125, q0=q, qd0=qd, profiles={"motor": profile})
    drive = TimedDrive(motor, ((0.0, tuple(value.coef)),))
    options = Options(0.25, integrator="variational", step=0.0125, limits="ignore")
    assert_same(move(mech, AppliedForces(), State(q, qd), (), options, drives=(drive,)), led)


def test_controller_that_fails_or_jumps() -> None:
    """What went before is kept; forces that jump with the rates may leave a step without a solution."""
    motion = run(pendulum(2), 0.1, 0.01, controller=lambda t, q, qd: q * (np.nan if t > 0.05 else 0.0))
    assert (motion.outcome, len(motion.time)) == ("failed", 6)
    assert "t = 0.055 s" in motion.notes[-1]
    motion = run(pendulum(2), 0.1, 0.01, controller=lambda t, q, qd: -50.0 * np.sign(qd))
    assert motion.outcome == "step_too_small"
