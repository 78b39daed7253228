"""The pose in which a tool is farthest from an axis, against another search with kinematics of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import differential_evolution
from scipy.spatial.transform import Rotation

import mbplugin as mb
from command_line import ROOT
from mbplugin.model.brake_law import Brake
from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.spatial import Array, Pose
from mbplugin.stopping.batch import CompiledStop
from mbplugin.stopping.run import make_scenario
from mbplugin.stopping.table.extension import ExtensionPoses

ARM = ROOT / "assets" / "arm_6r.scene.toml"
#: Rad from the limits that joints keep that may slip.
ROOM = 0.02


def poses_of(mech: Mechanism, axes: tuple[str, ...], tool: str) -> ExtensionPoses:
    brakes = [Brake(pair.name, 99.0) for pair in mech.pairs if pair.kind.free]
    return ExtensionPoses(CompiledStop(make_scenario(mech, brakes=brakes, tool=tool)), axes)


def about_z(angle: Array) -> Array:
    c, s, zero, one = np.cos(angle), np.sin(angle), 0 * angle, 1 + 0 * angle
    return np.moveaxis(np.array([[c, -s, zero], [s, c, zero], [zero, zero, one]]), (0, 1), (-2, -1))


def distance_by_hand(mech: Mechanism, tool: str) -> Callable[[Array], Array]:
    """The tool's distance from the first joint's axis over coordinates (k,) or (k, n) of the joints behind it."""
    way = [joint.pair for joint in reversed(list(mech.tree.way_in(tool))) if joint.pair is not None]
    first = next(k for k, pair in enumerate(way) if pair.kind.free)

    def distance(q: Array) -> Array:
        X_BS = way[first].X_BS.inverse()
        R, p, angles = np.asarray(X_BS.R), np.asarray(X_BS.p), iter(np.asarray(q))
        for pair in way[first + 1 :]:
            angle = next(angles) if pair.kind.free else np.array(0.0)
            back = pair.X_BS.inverse()
            p = p + R @ pair.X_AP.p
            R = R @ pair.X_AP.R @ about_z(angle)
            p = p + R @ back.p
            R = R @ back.R
        return np.asarray(np.hypot(p[..., 0], p[..., 1]))

    return distance


def largest(distance: Callable[[Array], Array], bounds: list[tuple[float, float]]) -> float:
    found = differential_evolution(
        lambda q: -distance(q),
        bounds,
        seed=1,
        popsize=20,
        maxiter=400,
        tol=1e-9,
        updating="deferred",
        vectorized=True,
    )
    return -float(found.fun)


def chain_of(seed: int) -> Mechanism:
    """An arm of 3 to 7 joints in random directions, with random limits."""
    rng = np.random.default_rng(seed)
    n, bodies, pairs = 3 + seed % 5, [], []
    for k in range(n):
        low = rng.uniform(-2.5, 0.0)
        limits = Freedom(lower=low, upper=max(0.1, low + rng.uniform(0.5, 4.0)))
        X_AP = Pose(Rotation.random(random_state=rng).as_matrix(), rng.uniform(-0.4, 0.4, 3))
        bodies.append(Body(f"b{k}", 1.0, np.zeros(3), 0.01 * np.eye(3)))
        before = f"b{k - 1}" if k else "world"
        pairs.append(Pair(f"j{k}", "revolute", before, f"b{k}", X_AP, Pose.identity(), freedoms=(limits,)))
    flange = Pair(
        "flange", "fixed", f"b{n - 1}", "tool", Pose(np.eye(3), rng.uniform(-0.3, 0.3, 3)), Pose.identity()
    )
    tool = Body("tool", 0.1, np.zeros(3), 1e-4 * np.eye(3))
    return Mechanism("chain", (*bodies, tool), (*pairs, flange))


def bounds_of(mech: Mechanism, room: float) -> list[tuple[float, float]]:
    out = []
    for pair in [p for p in mech.pairs if p.kind.free][1:]:
        low, high = max(pair.freedoms[0].lower, -np.pi), min(pair.freedoms[0].upper, np.pi)
        out.append((low + room, high - room))
    return out


def offset_arm() -> Mechanism:
    """An arm whose links are bent: a climb from zero, joint by joint, ends 40 mm before the largest distance."""
    limits = [(-3, 3), (-2.05, 2.05), (-3.9, 0.2), (-1.7, 3.1)]
    places = [(0, 0, 0), (0, 0, 0.3), (0.06, 0, 0.3), (0.08, 0, -0.35)]
    upright = Rotation.from_euler("x", -90, degrees=True).as_matrix()
    bodies, pairs, before = [], [], "world"
    for k, ((low, high), place) in enumerate(zip(limits, places, strict=True)):
        turn = upright if k else np.eye(3)
        # the axis of the first joint is z, those of the others y; link frames are parallel to the world at zero
        pairs.append(
            Pair(
                f"j{k}",
                "revolute",
                before,
                f"b{k}",
                Pose(turn, np.array(place, dtype=float)),
                Pose(turn, np.zeros(3)),
                freedoms=(Freedom(lower=low, upper=high),),
            )
        )
        before = f"b{k}"
        bodies.append(Body(before, 1.0, np.zeros(3), 0.01 * np.eye(3)))
    flange = Pair(
        "flange", "fixed", before, "tool", Pose(np.eye(3), np.array([0.08, 0, -0.1])), Pose.identity()
    )
    tool = Body("tool", 0.1, np.zeros(3), 1e-4 * np.eye(3))
    return Mechanism("offset", (*bodies, tool), (*pairs, flange))


@pytest.mark.long_after(2)
@pytest.mark.parametrize("seed", range(5))
def test_a_stretched_arm_is_as_long_as_another_search_finds(seed: int) -> None:
    mech = chain_of(seed)
    expected = largest(distance_by_hand(mech, "tool"), bounds_of(mech, ROOM))
    found = poses_of(mech, ("j0",), "tool").pose("j0", 1.0).extension
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("share", [1.0, 0.66, 0.33])
def test_no_local_maximum_of_an_arm_with_offsets_is_its_extension(share: float) -> None:
    mech = offset_arm()
    distance = distance_by_hand(mech, "tool")
    expected = largest(distance, bounds_of(mech, ROOM))
    pose = poses_of(mech, ("j0", "j1", "j2"), "tool").pose("j0", share)
    assert distance(pose.q[1:]) == pytest.approx(share * expected, rel=1e-5)
    assert pose.share == pytest.approx(share, rel=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_the_axis_that_moves_keeps_its_room_to_stop(seed: int) -> None:
    """The joints before an axis are stretched to the ends of their ranges, where its own motion cannot start."""
    mech = chain_of(seed)
    axes = tuple(pair.name for pair in mech.pairs[:3])
    poses = poses_of(mech, axes, "tool")
    for k, axis in enumerate(axes):
        freedom = mech.pairs[k].freedoms[0]
        room = min(0.35, 0.25 * (freedom.upper - freedom.lower)) - 1e-6
        for share in (1.0, 0.33):
            assert freedom.lower + room <= poses.pose(axis, share).q[k] <= freedom.upper - room


def test_two_axes_that_meet_have_the_same_extension() -> None:
    """The wrist rolls, the elbow bends in the plane of the shoulder."""
    poses = poses_of(offset_arm(), ("j0", "j1", "j2"), "tool")
    assert poses.pose("j0", 1.0).extension == pytest.approx(poses.pose("j1", 1.0).extension, rel=1e-9)


def test_the_example_arm_is_stretched_and_drawn_in_to_its_shares() -> None:
    mech = mb.load(ARM).mechanism
    tool = make_scenario(mb.load(ARM)).tool
    distance = distance_by_hand(mech, tool)
    poses = poses_of(mech, ("j1", "j2", "j3"), tool)
    full = largest(distance, bounds_of(mech, ROOM))
    for share in (0.33, 0.66, 1.0):
        assert distance(poses.pose("j1", share).q[1:]) == pytest.approx(share * full, rel=1e-6)


def test_an_elbow_that_cannot_bend_enough_leaves_the_rest_to_all_joints() -> None:
    mech = offset_arm()
    stiff = tuple(
        replace(pair, freedoms=(Freedom(lower=-0.25, upper=0.2),)) if pair.name == "j2" else pair
        for pair in mech.pairs
    )
    pose = poses_of(replace(mech, pairs=stiff), ("j0", "j1", "j2"), "tool").pose("j0", 0.33)
    assert pose.share == pytest.approx(0.33, rel=1e-5)
    assert -0.25 < pose.q[2] < 0.2
