"""Loops that mimic joints imitate: bodies of two branches that stay together in one point.

A coupled linkage has one freedom. Where two of its bodies turn against each other about a point that is
fixed in both, a hinge could stand there without hindering the motion: the real mechanism has one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, zip_longest

import numpy as np

from mbplugin.model.mechanism import WORLD
from mbplugin.model.mechanism.kinematics import BodyPoses, forward, joint_axes, joint_vector
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.rigid import rigid_groups
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array, Pose, rpy_from_rotation

#: Angles of the leading joint at which the linkage is looked at, rad.
_ANGLES = (0.0, 0.15, 0.3, 0.45, 0.6)
#: The distance that the point may move, and how far away it may be, in sizes of the linkage.
_STAYS, _REACH = 1e-3, 2.0
#: A rotation below this is none, rad; and bodies of a linkage, above which nothing is looked for.
_TURNS, _MOST = 0.05, 24
#: Axes are parallel up to this angle, rad; a direction is one of others up to this share.
_PARALLEL, _DEPENDENT = 1e-6, 1e-6
#: Of what is pasted, m and rad.
_DECIMALS = 10
#: Ratio and offset (rad) of a follower.
_Line = tuple[float, float]


@dataclass(frozen=True, eq=False)
class ImitatedLoop:
    """Two bodies that stay together in one point, and the joint that is missing there.

    Parameters
    ----------
    leader : str
        The joint that leads them.
    body_a, body_b : str
    point : (3,) array, m, world
    type : str
        Of the missing joint: one that leaves a planar loop without redundant constraints, else a spherical one.
    X_AP, X_BS : Pose
        Its frames in the frames of the links.
    mimics : tuple of str
        Joints whose mimics it replaces.
    """

    leader: str
    body_a: str
    body_b: str
    point: Array
    type: str
    X_AP: Pose
    X_BS: Pose
    mimics: tuple[str, ...]

    @property
    def toml(self) -> str:
        """The joint as lines to paste into a scene file."""
        lines = [
            f"# without the mimics of {' and '.join(self.mimics)}",
            "[[closure]]",
            f"name = {json.dumps(f'{self.body_a}_{self.body_b}')}",
            f'type = "{self.type}"',
            f"body_a = {json.dumps(self.body_a)}",
            f"body_b = {json.dumps(self.body_b)}",
        ]
        for side, X in (("a", self.X_AP), ("b", self.X_BS)):
            for key, values in (("xyz", X.p), ("rpy", rpy_from_rotation(X.R))):
                lines.append(f"{key}_{side} = {(np.round(values, _DECIMALS) + 0.0).tolist()}")
        return "\n".join(lines)


def imitated_loops(scene: Scene) -> Iterator[ImitatedLoop]:
    """Yield the loops that the followers of a leading joint imitate, each with mimics of its own."""
    mech = scene.mechanism
    for leader, followers in _leaders(mech).items():
        yield from _loops(mech, leader, followers)


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


def _loops(mech: Mechanism, leader: str, followers: Mapping[str, _Line]) -> Iterator[ImitatedLoop]:
    moved = {mech.pair_by_name[joint].body_b for joint in (leader, *followers)}
    ends = {body for joint in (leader, *followers) for body in mech.pair_by_name[joint].bodies}
    group = rigid_groups(mech)
    adjacent = {frozenset((a, b)) for p in mech.pairs for a in group[p.body_a] for b in group[p.body_b]}
    bodies = sorted(ends - {WORLD})
    above = {body: _above(mech, body) for body in bodies}
    if len(bodies) > _MOST:
        return
    motion = [_poses(mech, leader, followers, angle) for angle in _ANGLES]
    index = mech.body_index
    size = float(np.linalg.norm(np.ptp([motion[0].of(index[body]).p for body in bodies], axis=0)))
    kept = set(followers)
    for a, b in combinations(bodies, 2):
        apart = a not in above[b] and b not in above[a] and frozenset((a, b)) not in adjacent
        if not apart or b in group[a] or not moved & {a, b} or size == 0:
            continue
        point = _common_point([X.of(index[a]).inverse() @ X.of(index[b]) for X in motion], size)
        if point is None:
            continue
        axis, mimics = _replaced(mech, (a, b), point, motion[len(motion) // 2], kept)
        if not mimics:
            continue
        kept -= {*mimics}
        X_WA, X_WB = (motion[0].of(index[body]) for body in (a, b))
        # both frames at one place: what the imitation is inaccurate by would keep the loop from closing
        X_WP = Pose.from_xyz_axis(X_WA.apply(point), np.array([0.0, 0.0, 1.0]) if axis is None else axis)
        type = "spherical" if axis is None else "point-on-line"
        frames = (X_WA.inverse() @ X_WP, X_WB.inverse() @ X_WP)
        yield ImitatedLoop(leader, a, b, X_WP.p, type, *frames, mimics)


def _replaced(
    mech: Mechanism, bodies: tuple[str, str], point: Array, poses: BodyPoses, kept: set[str]
) -> tuple[Array | None, tuple[str, ...]]:
    """Return the axis (3,) of a planar loop in world axes, and the mimics that a joint of two bodies replaces.

    Of the mimics that are kept, those nearest to the joint; none where they are too few, as for a loop within others.

    Parameters
    ----------
    bodies : two names
        The joint is at a point (3,) of the first, m, in its frame.
    """
    ways = [[j for j in mech.tree.way_in(body) if j.pair is not None and j.pair.kind.free] for body in bodies]
    own = [[j for j in way if j not in other] for way, other in (ways, ways[::-1])]
    # in turn from both ends, as they are seen from the joint that is missing
    loop = [j for pair in zip_longest(*own) for j in pair if j is not None]
    there = poses.of(mech.body_index[bodies[0]]).apply(point)
    places = [joint_axes(mech, joint, poses) for joint in loop]
    axes = [S[3:, 0] for S, _ in places]
    planar = all(np.linalg.norm(np.cross(axes[0], other)) < _PARALLEL for other in axes)
    across = np.eye(3) - np.outer(axes[0], axes[0]) if planar else np.eye(3)
    rates = [across @ (S[:3, 0] + np.cross(S[3:, 0], there - p)) for S, p in places]
    needed, rows = _rank(rates), list[Array]()
    mimics = []
    for joint, rate in zip(loop, rates, strict=True):
        if joint.pair is not None and joint.pair.name in kept and _rank([*rows, rate]) > len(rows):
            rows.append(rate)
            mimics.append(joint.pair.name)
    return (axes[0] if planar else None), (tuple(mimics) if len(mimics) == needed else ())


def _rank(rates: list[Array]) -> int:
    """Return how many directions velocities (3,) of a point have."""
    return int(np.linalg.matrix_rank(np.array(rates), rtol=_DEPENDENT))


def _above(mech: Mechanism, body: str) -> set[str]:
    """Return the bodies between a body and the root of its tree."""
    parent = {pair.body_b: pair.body_a for pair in mech.pairs if not pair.closure}
    found: set[str] = set()
    while body in parent and parent[body] not in found:
        body = parent[body]
        found.add(body)
    return found


def _poses(mech: Mechanism, leader: str, followers: Mapping[str, _Line], angle: float) -> BodyPoses:
    own = {joint: ratio * angle + offset for joint, (ratio, offset) in followers.items()}
    return forward(mech, joint_vector(mech, {leader: angle, **own}))


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
