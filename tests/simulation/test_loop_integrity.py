"""All rows of loops hold at every sample, dependent ones as well, or the outcome says that one opened."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.constraints.closure import Closure
from mbplugin.errors import BadUsage
from mbplugin.model.mechanism import WORLD, Mechanism
from mbplugin.model.spatial import Array, Pose
from models import from_world_frames, pose_at
from random_mechanisms import loop_mechanism

CASES = Path(__file__).parents[1] / "analysis" / "mobility"
Y = (0.0, 1.0, 0.0)


def scene(name: str) -> str:
    return str(CASES / f"{name}.scene.toml")


def largest_gap(motion: mb.Trajectory) -> float:
    """Of all closing rows over all samples, m, by the equations with which loops are closed."""
    closure = Closure(motion.mechanism, motion.q[0])
    return max(max(closure.residuals(q).values(), default=0.0) for q in motion.q)


def strut(offset: float) -> tuple[Mechanism, Array]:
    places = ((0, 0), (0.5, offset), (0.8, 0))
    ends = ((WORLD, "u"), ("u", "v"), ("v", WORLD))
    joints = [
        (f"j{k}", "revolute", *end, pose_at(np.array([x, 0.0, z]), Y))
        for k, (end, (x, z)) in enumerate(zip(ends, places, strict=True))
    ]
    return from_world_frames("strut", {"u": Pose.identity(), "v": Pose.identity()}, joints)


@pytest.mark.parametrize("offset", [0.0, 1e-8, 1e-6, 1e-5, 3e-5, 1e-3])
def test_a_strut_stays(offset: float) -> None:
    mech, q = strut(offset)
    motion = mb.simulate(mech, 0.2, q=q)
    assert motion.outcome == "completed"
    assert np.abs(motion.q).max() < 1e-9
    assert largest_gap(motion) < 1e-9


@pytest.mark.parametrize(
    ("name", "rates"),
    [("three_unequal_cranks", {"A0": 1.0}), ("strut_collinear", {"B": -0.5}), ("leg", {"ankle_roll": 0.2})],
)
def test_a_start_along_a_freedom_to_first_order_only_is_refused(name: str, rates: dict[str, float]) -> None:
    with pytest.raises(BadUsage, match="free to first order only"):
        mb.simulate(scene(name), 0.1, qd=rates)


def test_an_arm_that_carries_a_strut_swings_like_one_that_carries_a_beam() -> None:
    motion = mb.simulate(scene("arm_with_strut"), 0.3)
    found = mb.readers.load(scene("arm_with_strut")).mechanism
    welded = mb.Mechanism(
        found.name,
        found.bodies,
        tuple(p if p.name not in ("A", "B") else p.retyped("fixed") for p in found.pairs if not p.closure),
        gravity=found.gravity,
    )
    beam = mb.simulate(welded, 0.3)
    for name in ("s1", "s2"):
        k, n = motion.mechanism.q_names.index(name), beam.mechanism.q_names.index(name)
        assert motion.q[-1, k] == pytest.approx(beam.q[-1, n], abs=1e-6)
    assert largest_gap(motion) < 1e-9


def test_a_motion_ends_where_a_loop_opens() -> None:
    # a platform without joints of its own cannot be held by a lock
    motion = mb.simulate(scene("hexapod_fichter"), 0.5)
    assert motion.outcome == "loop_opened"
    assert motion.time[-1] < 0.1
    assert re.search(r"the loops open at t = 0\.0\d* s: r\d d by \S+ m", motion.notes[-1])
    assert largest_gap(motion) < 1e-6


def test_a_mobile_loop_is_not_ended_by_rounding() -> None:
    tilt, points = 2e-5, ((0, 0), (0.1, 0.3), (0.7, 0.4), (0.8, 0.0))
    axes = ((0, 1, 0), (tilt, 1, 0), (0, 1, tilt), (0.4 * tilt, 1, -tilt))
    names = (WORLD, "u", "v", "w", WORLD)
    joints = [
        (f"j{k}", "revolute", names[k], names[k + 1], pose_at(np.array([x, 0.0, z]), a))
        for k, ((x, z), a) in enumerate(zip(points, axes, strict=True))
    ]
    mech, q = from_world_frames("rounded", {n: Pose.identity() for n in names[1:4]}, joints)
    motion = mb.simulate(mech, 0.5, q=q)
    assert motion.outcome == "completed"
    assert np.ptp(motion.q[:, 0]) > 0.1


def test_a_stop_of_a_shaky_mechanism_holds_its_loops() -> None:
    report = mb.estop(
        scene("arm_with_strut"), qd={"s1": 0.5}, brakes=[{"joint": j, "torque": 200} for j in ("s1", "s2")]
    )
    assert report.outcome == "stopped"
    assert largest_gap(report.trajectory) < 1e-9


def test_reactions_of_a_strut_say_that_it_does_not_move() -> None:
    with pytest.raises(BadUsage, match="does not move but yields"):
        mb.reactions(scene("strut_collinear"))


@pytest.mark.long
@pytest.mark.parametrize("part", range(5))
def test_random_mechanisms_hold_or_say_so(part: int) -> None:
    outcomes: dict[str, int] = {}
    for seed in range(100 * part, 100 * part + 100):
        rng = np.random.default_rng(seed)
        if seed % 4 == 0:
            mech, q = strut(float(rng.choice([0.0, 10.0 ** rng.uniform(-8, -1)])))
        else:
            mech, q = loop_mechanism(seed, 1 + seed % 2, ("planar", "spherical", "generic")[seed % 3])
        try:
            motion = mb.simulate(mech, 0.02, q=q, max_seconds=20)
        except mb.MbPluginError:
            outcomes["refused"] = outcomes.get("refused", 0) + 1
            continue
        outcomes[motion.outcome] = outcomes.get(motion.outcome, 0) + 1
        if motion.outcome != "loop_opened":
            assert largest_gap(motion) < 1e-5, (seed, motion.outcome)
    assert outcomes["completed"] > 60, outcomes
