"""Random stops, by the compiled loop and by the runner of every other motion: the same to 1e-9."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.errors import ImplausibleValue
from mbplugin.model.mechanism import WORLD, Body, Coupling, Mechanism, Term
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.spatial import Array, Pose
from mbplugin.stopping.batch import ArmStopper, CompiledStop
from mbplugin.stopping.run import make_scenario

SEED = 2
#: Of the runner and of the loop: relative and absolute.
TOLERANCES = 1e-11, 1e-12


def rotation(rng: np.random.Generator) -> Array:
    """Return a random rotation (3, 3)."""
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q *= np.sign(np.diag(R))
    Q[:, 0] *= np.sign(np.linalg.det(Q))
    return np.asarray(Q)


def joint(rng: np.random.Generator, k: int, stiff: bool) -> tuple[Pair, dict[str, Any]]:
    """Return a joint of a random tree, and its brake: dry, viscous, or that of a short-circuited motor."""
    damping = 10 ** rng.uniform(1, 2.5) if stiff and rng.random() < 0.5 else rng.uniform(0, 0.5)
    freedom = Freedom(
        lower=-rng.uniform(0.3, 3) if rng.random() < 0.3 else -np.inf,
        upper=rng.uniform(0.3, 3) if rng.random() < 0.3 else np.inf,
        damping=damping if rng.random() < 0.5 else 0.0,
        friction=rng.uniform(0, 1.5) if rng.random() < 0.3 else 0.0,
    )
    before = WORLD if k == 0 else f"b{rng.integers(0, k)}"
    kind = "prismatic" if rng.random() < 0.2 else "revolute"
    place = Pose(rotation(rng), rng.uniform(-0.4, 0.4, 3))
    pair = Pair(f"j{k}", kind, before, f"b{k}", place, Pose(np.eye(3), np.zeros(3)), freedoms=(freedom,))
    brake: dict[str, Any] = {"joint": f"j{k}", "torque": rng.uniform(5, 60)}
    brake["delay"] = rng.uniform(0, 0.2) if rng.random() < 0.5 else 0.0
    brake["engagement"] = rng.uniform(0, 0.1) if rng.random() < 0.5 else 0.0
    if rng.random() < 0.3:
        brake["static_torque"] = brake["torque"] * rng.uniform(1, 1.4)
    if rng.random() < 0.2:
        brake["viscous"] = rng.uniform(0, 3)
    elif rng.random() < 0.2:
        brake["short_circuit"], brake["short_circuit_rate"] = rng.uniform(0.5, 5), rng.uniform(0.5, 4)
    return pair, brake


def geared(mech: Mechanism, rng: np.random.Generator) -> tuple[Mechanism, dict[str, float]]:
    """Return the tree with a flywheel on the ground geared to each joint, and the same inertia as armatures."""
    none, unit = np.zeros(3), np.eye(3)
    bodies, pairs, couplings, armature = [], [], [], {}
    for pair in mech.pairs:
        ratio, inertia = rng.uniform(1, 12) * rng.choice([-1, 1]), rng.uniform(1e-4, 1e-2)
        wheel, axle = f"wheel of {pair.name}", f"axle of {pair.name}"
        bodies.append(Body(wheel, 0.3, none, inertia * unit))
        pairs.append(Pair(axle, "revolute", WORLD, wheel, Pose(rotation(rng), none), Pose(unit, none)))
        terms = Term(axle, pairs[-1].kind.free[0], 1.0), Term(pair.name, pair.kind.free[0], -ratio)
        couplings.append(Coupling(f"gear of {pair.name}", "gear", terms))
        armature[pair.name] = inertia * ratio**2
    changed = replace(
        mech, bodies=(*mech.bodies, *bodies), pairs=(*mech.pairs, *pairs), couplings=tuple(couplings)
    )
    return changed, armature


def stop_both_ways(number: int, gears: bool) -> tuple[Any, Any]:
    """Return the report of a random stop of category 0 or 1, and the summary of the compiled loop.

    With ``gears`` the runner's joints drive flywheels through couplings, which the loop has as armatures.
    """
    rng = np.random.default_rng((SEED, number))
    count, stiff = int(rng.integers(1, 5)), bool(rng.random() < 0.2)
    made = [joint(rng, k, stiff) for k in range(count)]
    bodies = tuple(
        Body(f"b{k}", rng.uniform(0.5, 4), rng.uniform(-0.2, 0.2, 3), np.diag(rng.uniform(0.07, 0.25, 3)))
        for k in range(count)
    )
    gravity = np.array([0.0, 0.0, -9.81 if rng.random() < 0.8 else 0.0])
    mech = Mechanism("tree", bodies, tuple(pair for pair, _ in made), gravity=gravity)
    q = {f"j{k}": rng.uniform(-0.25, 0.25) for k in range(count)}
    qd = {f"j{k}": rng.uniform(-4, 4) if k == 0 or rng.random() < 0.5 else 0.0 for k in range(count)}
    category = int(rng.random() < 0.3)
    ramps = {f"j{k}": rng.uniform(2, 20) for k in range(count)}
    how: dict[str, Any] = {"decelerations": ramps} if category else {}
    how |= {"category": category, "brakes": [brake for _, brake in made]}
    rtol, atol = TOLERANCES
    whole, armature = geared(mech, rng) if gears else (mech, {})
    report = mb.estop(whole, q, qd, rtol=rtol, atol=atol, duration=3.0, **how)
    scenario = replace(make_scenario(mech, q, qd, armature=armature, **how), duration=3.0)
    stopper = ArmStopper(CompiledStop(scenario, *TOLERANCES))
    return report, stopper.stop(scenario.q, scenario.qd, scenario.brakes, ())


def compare(numbers: range, gears: bool = False) -> None:
    """Compare random stops: outcome, travels, and the time to rest."""
    for number in numbers:
        report, summary = stop_both_ways(number, gears)
        travels = np.array([joint.travel for joint in report.joints if not joint.name.startswith("axle")])
        assert summary.outcome == report.outcome, number
        assert np.abs(summary.travels - travels).max() < 1e-9, number
        if report.outcome == "stopped" and not _creeps(report):
            assert abs(summary.time - report.time) < 1e-9, number


def _creeps(report: Any) -> bool:
    """Whether a rate is hardly one for a while before rest: the two take it for rest at different sizes."""
    motion = report.trajectory
    rates = np.abs(motion.qd).max(axis=1)
    return bool(((rates > 0.0) & (rates < 1e-4) & (motion.time > report.time)).any())


@pytest.mark.long
@pytest.mark.filterwarnings("ignore", category=ImplausibleValue)
def test_random_stops_are_the_same_in_the_loop_and_in_the_runner() -> None:
    compare(range(80))


@pytest.mark.long
@pytest.mark.filterwarnings("ignore", category=ImplausibleValue)
def test_random_stops_with_couplings_are_the_same_in_the_loop_and_in_the_runner() -> None:
    compare(range(40), gears=True)


@pytest.mark.long
@pytest.mark.no_invariants(
    "drives that lead all joints leave steps long, in which their work is known to some 1e-5 of it"
)
@pytest.mark.filterwarnings("ignore", category=ImplausibleValue)
def test_many_random_stops_are_the_same_in_the_loop_and_in_the_runner() -> None:
    compare(range(80, 2000))
    compare(range(40, 700), gears=True)


def test_a_joint_that_rests_at_the_signal_has_no_ramp_to_begin() -> None:
    """The brakes of a controlled stop are signalled when the joints that move are led to rest, and no later."""
    unit, none = np.eye(3), np.zeros(3)
    bodies = tuple(Body(f"b{k}", 1.0, none, 0.1 * unit) for k in range(2))
    at = Pose(unit, none)
    pairs = tuple(Pair(f"j{k}", "revolute", WORLD, f"b{k}", at, at) for k in range(2))
    mech = Mechanism("wheels", bodies, pairs, gravity=none)
    brakes = [{"joint": "j0", "torque": 1.0, "delay": 0.9}, {"joint": "j1", "torque": 1.0, "delay": 0.1}]
    report = mb.estop(mech, qd={"j1": 2.0}, category=1, brakes=brakes, decelerations={"j0": 4.0, "j1": 4.0})
    times = [event.time for event in report.events if event.kind == "brake"]
    assert times == pytest.approx([0.1 + 2.0 / 4.0] * 2)
