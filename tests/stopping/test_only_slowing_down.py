"""What only damping brakes never comes to rest; a stop that is too stiff for the compiled loop is the runner's."""

from __future__ import annotations

from dataclasses import replace
from math import log, log1p
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import call
from mbplugin.errors import BadUsage
from mbplugin.model.mechanism import WORLD, Body, Coupling, Mechanism, Term
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.spatial import Pose
from mbplugin.simulation.friction import AT_REST
from mbplugin.stopping.batch import ArmStopper, CompiledStop

INERTIA = 0.155
MOTOR = {"joint": "j0", "torque": 0.0, "short_circuit": 0.5, "short_circuit_rate": 2.0, "delay": 0.1}


def wheels(count: int, damping: float = 0.0, gear: float = 0.0) -> Mechanism:
    """Return wheels on parallel axes without gravity, the first two of them geared where a ratio is given."""
    unit, none = np.eye(3), np.zeros(3)
    at = Pose(unit, none)
    bodies = tuple(Body(f"w{k}", 1.0, none, INERTIA * unit) for k in range(count))
    freedoms = (Freedom(damping=damping),)
    pairs = tuple(Pair(f"j{k}", "revolute", WORLD, f"w{k}", at, at, freedoms=freedoms) for k in range(count))
    couplings = (Coupling("gear", "gear", (Term("j0", "rz", 1.0), Term("j1", "rz", gear))),) if gear else ()
    return Mechanism("wheels", bodies, pairs, couplings=couplings, gravity=none)


def slowing_time(speed: float) -> float:
    """Return when the wheel on the motor falls from 3 rad/s below a speed: I ω' = −k ω / (1 + (ω/ω₀)²), s."""
    return 0.1 + INERTIA / 0.5 * (log(3.0 / speed) + (9.0 - speed**2) / (2 * 2.0**2))


def test_a_motor_alone_never_brings_a_joint_to_rest() -> None:
    """The outcome and a note say so, with the closed form's times; the series of stops agree."""
    stop = mb.estop(wheels(1), qd={"j0": 3.0}, brakes=[MOTOR])
    assert (stop.outcome, stop.slowing) == ("not_stopped", ("j0",))
    assert not stop.joint("j0").stopped
    assert "j0 only slows down" in stop.notes[-1]
    assert f"0.01 from {slowing_time(0.01):.4g} s on" in stop.notes[-1]
    assert stop.verdict == "never at rest (j0 only slows down)"
    scenario = stop.scenario
    fast = ArmStopper(CompiledStop(scenario)).stop(scenario.q, scenario.qd, scenario.brakes, ())
    assert (fast.outcome, fast.time) == ("not_stopped", stop.time)


@pytest.mark.parametrize("speed", [0.1, 1e-3, 1e-6])
def test_the_speed_that_counts_as_rest_is_the_users(speed: float) -> None:
    """The time is when the rate passes it, by the closed form."""
    stop = mb.estop(wheels(1), qd={"j0": 3.0}, brakes=[MOTOR], rest_speed=speed)
    assert stop.outcome == "stopped"
    assert stop.time == pytest.approx(slowing_time(speed), rel=1e-6)
    assert f"below {speed:g} rad/s or m/s counts as rest" in stop.notes[-1]


def test_what_creeps_at_the_end_of_the_time_has_not_stopped() -> None:
    """A pendulum in thick oil comes down; the time is over while it is faster than what counts as rest."""
    unit = np.eye(3)
    body = Body("bob", 1.0, np.array([0.0, -0.5, 0.0]), 0.01 * unit)
    pair = Pair("j0", "revolute", WORLD, "bob", Pose(unit, np.zeros(3)), Pose(unit, np.zeros(3)))
    mech = Mechanism("pendulum", (body,), (pair,), gravity=np.array([0.0, -9.81, 0.0]))
    brake = {"joint": "j0", "torque": 0.0, "viscous": 4.0, "delay": 0.0}
    whole = mb.estop(mech, {"j0": 0.4}, {"j0": -0.5}, brakes=[brake], rest_speed=0.01)
    early = mb.estop(mech, {"j0": 0.4}, {"j0": -0.5}, brakes=[brake], rest_speed=0.01, duration=2.0)
    beyond = whole.trajectory.resample(np.linspace(whole.time, 10.0, 2000)).qd[:, 0]
    assert (whole.outcome, early.outcome) == ("stopped", "not_stopped")
    assert np.abs(beyond).max() == pytest.approx(0.01, rel=1e-6)


def test_a_gear_or_a_brake_that_holds_is_rest() -> None:
    """A joint without a dry part rests where a geared one with a brake does; one beside it does not."""
    brakes = [
        {"joint": "j0", "torque": 0.5, "delay": 0.0},
        {"joint": "j1", "torque": 0.0, "viscous": 0.5, "delay": 0.0},
    ]
    geared = mb.estop(wheels(2, gear=2.0), qd={"j0": 3.0}, brakes=brakes)
    loose = mb.estop(wheels(2), qd={"j0": 3.0, "j1": 1.0}, brakes=brakes)
    assert (geared.outcome, geared.slowing) == ("stopped", ())
    assert (loose.outcome, loose.slowing) == ("not_stopped", ("j1",))
    assert loose.joint("j0").stopped
    assert loose.joint("j0").time == pytest.approx(INERTIA * 3.0 / 0.5, rel=1e-6)


def test_the_compiled_loop_does_not_take_it_for_rest_either() -> None:
    """One wheel is hardly moving when the brake of the other has brought that to rest."""
    brakes = [
        {"joint": "j0", "torque": 0.5, "delay": 0.0},
        {"joint": "j1", "torque": 0.0, "viscous": 8.0, "delay": 0.0},
    ]
    begun = mb.estop(wheels(2), qd={"j0": 3.0, "j1": 1.0}, brakes=brakes, duration=0.01)
    scenario = replace(begun.scenario, duration=10.0)
    fast = ArmStopper(CompiledStop(scenario, 1e-11, 1e-13)).stop(scenario.q, scenario.qd, scenario.brakes, ())
    assert (fast.outcome, fast.time) == ("not_stopped", 10.0)
    assert fast.travels[1] == pytest.approx(INERTIA / 8.0, rel=1e-6)


def test_a_dot_in_a_name_is_part_of_the_name() -> None:
    """The wheel ``a`` is held by its brake; ``a.b`` is another one, and only slows down."""
    mech = wheels(2)
    pairs = tuple(replace(pair, name=name) for pair, name in zip(mech.pairs, ("a", "a.b"), strict=True))
    brakes = [
        {"joint": "a", "torque": 0.5, "delay": 0.0},
        {"joint": "a.b", "torque": 0.0, "viscous": 0.5, "delay": 0.0},
    ]
    stop = mb.estop(replace(mech, pairs=pairs), qd={"a": 3.0, "a.b": 1.0}, brakes=brakes)
    assert (stop.outcome, stop.slowing) == ("not_stopped", ("a.b",))


@pytest.mark.parametrize("damping", [0.1, 10.0, 100.0])
def test_a_dry_brake_and_damping_stop_as_the_closed_form_says(damping: float) -> None:
    """I ω' = −T − c ω, in the runner and in the compiled loop, from slow damping to 645 per second."""
    torque, rate = 2.0, 3.0
    brake = {"joint": "j0", "torque": torque, "viscous": damping, "delay": 0.0}
    stop = mb.estop(wheels(1), qd={"j0": rate}, brakes=[brake], rtol=1e-11, atol=1e-13)
    scenario = stop.scenario
    fast = ArmStopper(CompiledStop(scenario, 1e-11, 1e-13)).stop(scenario.q, scenario.qd, scenario.brakes, ())
    time = INERTIA / damping * log1p(damping * rate / torque)
    travel = INERTIA * rate / damping - torque / damping * time
    assert (stop.outcome, fast.outcome) == ("stopped", "stopped")
    assert (stop.time, fast.time) == (pytest.approx(time, rel=1e-9), pytest.approx(time, rel=1e-9))
    assert (stop.joints[0].travel, fast.travels[0]) == (
        pytest.approx(travel, rel=1e-8),
        pytest.approx(travel, rel=1e-8),
    )


def test_a_speed_below_zero_is_refused() -> None:
    with pytest.raises(BadUsage, match="the rest speed is -1"):
        mb.estop(wheels(1), qd={"j0": 3.0}, brakes=[MOTOR], rest_speed=-1.0)


def test_the_option_takes_units(tmp_path: Path) -> None:
    """A bare number is rad/s, or the unit of the run."""
    scene = tmp_path / "wheel.scene.toml"
    scene.write_text(
        'gravity = [0, 0, 0]\nbody = [{name = "w", mass = 1, inertia = [0.155, 0.155, 0.155]}]\n'
        'pair = [{name = "j0", type = "revolute", body_a = "world", body_b = "w",'
        " xyz_a = [0, 0, 0], axis = [0, 0, 1]}]\n"
        "state.qd = {j0 = 3.0}\n"
        'brake = [{joint = "j0", torque = 0, short_circuit = 0.5, short_circuit_rate = 2, delay = 0.1}]\n'
    )
    said = call("estop", str(scene), "--rest-speed", "5.7295779513deg/s").out
    assert f"stopped after {slowing_time(0.1):.4g} s" in said
    bare = call("estop", str(scene), "--rest-speed", "0.1", "--units", "deg,mm")
    assert bare.code == 2 and "--rest-speed '0.1' has no unit" in bare.err


@pytest.mark.long
@pytest.mark.parametrize("viscous", [0.1, 1.0, pytest.param(10.0, marks=pytest.mark.long)])
def test_a_stiff_stop_is_that_of_the_runner(viscous: float) -> None:
    """The tip's brake is up to 2·10⁵ times faster than the stop: steps enough for it run out in the compiled loop."""
    unit = np.eye(3)
    bodies = (
        Body("l1", 5.0, np.array([0.0, 0.5, 0.0]), 0.1 * unit),
        Body("tip", 0.1, np.array([0.0, 0.02, 0.0]), 5e-5 * unit),
    )
    at = Pose(unit, np.zeros(3))
    pairs = (
        Pair("j1", "revolute", WORLD, "l1", at, at),
        Pair("j2", "revolute", "l1", "tip", Pose(unit, np.array([0.0, 1.0, 0.0])), at),
    )
    mech = Mechanism("stiff", bodies, pairs, gravity=np.zeros(3))
    brakes = [
        {"joint": "j1", "torque": 2.0, "delay": 0.0},
        {"joint": "j2", "torque": 0.0, "viscous": viscous, "delay": 0.0},
    ]
    stop = mb.estop(mech, qd={"j1": 2.0}, brakes=brakes, duration=1.6)
    scenario = stop.scenario
    stopper = ArmStopper(CompiledStop(scenario))
    fast = stopper.stop(scenario.q, scenario.qd, scenario.brakes, ())
    # as one body, about its axis: the tip adds little
    whole = 5.0 * 0.25 + 0.1 + 0.1 * 1.02**2 + 5e-5
    assert fast.times[0] == pytest.approx(whole * 2.0 / 2.0, rel=1e-2)
    assert fast.travels == pytest.approx([joint.travel for joint in stop.joints], rel=1e-6)
    assert fast.tool_distance == pytest.approx(stop.tool.distance, rel=1e-6)
    pieces = stopper.arm.pieces
    lengths = pieces[:, 0, 0]
    # the tip decays exactly in the compiled loop, to a rate that counts as none before the time is over
    last = pieces[(lengths > 0.0).sum() - 1]
    assert lengths.sum() == pytest.approx(1.6) or (lengths.sum() > 1.46 and np.abs(last[5]).max() < AT_REST)
    if fast.evaluations == 0:
        # the runner's; a fit does not wait for it, and takes the joint for moving on
        hasty = CompiledStop(scenario, patient=False).stop(scenario.q, scenario.qd)
        assert (hasty.outcome, hasty.times.max(), hasty.evaluations > 0) == ("not_stopped", 1.6, True)
    assert viscous < 1.0 or fast.evaluations == 0
