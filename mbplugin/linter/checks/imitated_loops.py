"""Loops that mimic joints imitate: bodies of two branches that stay together in one point.

A coupled linkage has one freedom. Where two of its bodies turn against each other about a point that is
fixed in both, a hinge could stand there without hindering the motion: the real mechanism has one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mbplugin.model.mechanism import WORLD
from mbplugin.model.mechanism.kinematics import forward, joint_vector
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.rigid import rigid_groups
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array, Pose

#: Angles of the leading joint at which the linkage is looked at, rad.
_ANGLES = (0.0, 0.15, 0.3, 0.45, 0.6)
#: The distance that the point may move, and how far away it may be, in sizes of the linkage.
_STAYS, _REACH = 1e-3, 2.0
#: A rotation below this is none, rad; and bodies of a linkage, above which nothing is looked for.
_TURNS, _MOST = 0.05, 24
#: Ratio and offset (rad) of a follower.
_Line = tuple[float, float]


@dataclass(frozen=True, eq=False)
class ImitatedLoop:
    """Two bodies, the joint that leads them, and the point in world axes in which they stay together, (3,) m."""

    leader: str
    body_a: str
    body_b: str
    point: Array


def imitated_loops(scene: Scene) -> Iterator[ImitatedLoop]:
    """Yield a loop per leading joint whose followers imitate one."""
    mech = scene.mechanism
    for leader, followers in _leaders(mech).items():
        loop = _loop(mech, leader, followers)
        if loop is not None:
            yield loop


def _leaders(mech: Mechanism) -> dict[str, dict[str, _Line]]:
    """Return the revolute joints that lead others by a mimic, and how each follower depends on it."""
    followed: dict[str, tuple[str, _Line]] = {}
    for coupling in mech.couplings:
        if coupling.type == "mimic" and len(coupling.terms) == 2:
            follower, leading = coupling.terms
            ratio = -leading.coefficient / follower.coefficient
            followed[follower.joint] = (leading.joint, (ratio, coupling.offset / follower.coefficient))
    found: dict[str, dict[str, _Line]] = {}
    for joint in followed:
        name, (ratio, offset), seen = joint, (1.0, 0.0), set[str]()
        while name in followed and name not in seen:
            seen.add(name)
            name, (factor, shift) = followed[name]
            ratio, offset = ratio * factor, offset + ratio * shift
        if name not in seen and all(_turns_alone(mech, n) for n in (joint, name)):
            found.setdefault(name, {})[joint] = (ratio, offset)
    return found


def _turns_alone(mech: Mechanism, joint: str) -> bool:
    """Whether a joint is a revolute joint with a coordinate of its own; one that closes a loop has none."""
    return joint in mech.tree.joint_of_pair and mech.pair_by_name[joint].kind.free == ("rz",)


def _loop(mech: Mechanism, leader: str, followers: Mapping[str, _Line]) -> ImitatedLoop | None:
    moved = {mech.pair_by_name[joint].body_b for joint in (leader, *followers)}
    ends = {body for joint in (leader, *followers) for body in mech.pair_by_name[joint].bodies}
    group = rigid_groups(mech)
    adjacent = {frozenset((a, b)) for p in mech.pairs for a in group[p.body_a] for b in group[p.body_b]}
    bodies = sorted(ends - {WORLD})
    above = {body: _above(mech, body) for body in bodies}
    if len(bodies) > _MOST:
        return None
    poses = [_poses(mech, leader, followers, angle, bodies) for angle in _ANGLES]
    size = float(np.linalg.norm(np.ptp([X.p for X in poses[0].values()], axis=0)))
    for a, b in combinations(bodies, 2):
        apart = a not in above[b] and b not in above[a] and frozenset((a, b)) not in adjacent
        if not apart or b in group[a] or not moved & {a, b} or size == 0:
            continue
        point = _common_point([X[a].inverse() @ X[b] for X in poses], size)
        if point is not None:
            return ImitatedLoop(leader, a, b, poses[0][a].apply(point))
    return None


def _above(mech: Mechanism, body: str) -> set[str]:
    """Return the bodies between a body and the root of its tree."""
    parent = {pair.body_b: pair.body_a for pair in mech.pairs if not pair.closure}
    found: set[str] = set()
    while body in parent and parent[body] not in found:
        body = parent[body]
        found.add(body)
    return found


def _poses(
    mech: Mechanism, leader: str, followers: Mapping[str, _Line], angle: float, bodies: list[str]
) -> dict[str, Pose]:
    own = {joint: ratio * angle + offset for joint, (ratio, offset) in followers.items()}
    values = {leader: angle, **own}
    poses = forward(mech, joint_vector(mech, values))
    return {body: poses.of(mech.body_index[body]) for body in bodies}


def _common_point(motion: list[Pose], size: float) -> Array | None:
    """Return the point of A, (3,) m, that a point of B stays at; None where there is none.

    Parameters
    ----------
    motion : list of Pose
        X_AB at several angles.
    size : float
        Of the linkage, m.
    """
    turned = [motion[0].R.T @ X.R for X in motion[1:]]
    if max(float(np.arccos(np.clip((np.trace(R) - 1) / 2, -1, 1))) for R in turned) < _TURNS:
        return None
    # R p_B − p_A = −t at every angle; what is free along the axis is set to the least distance
    rows = np.vstack([np.hstack((X.R, -np.eye(3))) for X in motion])
    known = -np.concatenate([X.p for X in motion])
    solution = np.linalg.lstsq(rows, known, rcond=1e-9)[0]
    left = float(np.abs(rows @ solution - known).max())
    near = float(np.linalg.norm(solution[3:])) <= _REACH * size
    return solution[3:] if left <= _STAYS * size and near else None
