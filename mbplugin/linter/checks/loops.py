"""Loops imitated by mimic joints: bodies of two branches that share a common point throughout the motion.

A coupled linkage has one freedom. If two of its bodies rotate relative to each other about a point that is
fixed in both, a hinge at that point would not hinder the motion: the real mechanism has one there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from itertools import combinations, islice, product, zip_longest
from typing import Literal, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from mbplugin.files import toml_text
from mbplugin.linter.checks.meshes import solid_of
from mbplugin.model import MADE, WORLD, Body, Mechanism, Pair, Payload, Scene, TreeJoint
from mbplugin.model.mechanism.kinematics import BodyPoses, forward, joint_axes, joint_vector, rigid_groups
from mbplugin.model.spatial import AnyArray, Array, Pose, is_turn, rpy_from_rotation, skew
from mbplugin.phrases import dataclass, visible

#: Angles of the leading joint at which the linkage is evaluated, rad.
_ANGLES = (0.0, 0.15, 0.3, 0.45, 0.6)
#: Largest motion of the common point, and its largest distance, both relative to the size of the linkage.
_STAYS, _REACH = 1e-3, 2.0
#: Of an imitation that is not exact: largest error over the range of the leader, and largest distance of the point from
#: the shapes of both bodies, relative to the size of the linkage; smallest relative rotation, rad; angles in the range.
_NEARLY, _BESIDE, _SWINGS, _STEPS = 0.1, 0.2, 0.5, 21
#: Number of hinges of a four-bar, besides the missing one; and the distance of a ratio from a whole number. Whole
#: ratios are those of gears, belts and parallelograms, which do not imitate a linkage.
_HINGES, _WHOLE = 3, 1e-3
#: Largest distance of coinciding frames, relative to the size of the mechanism.
_MEET = 1e-3
#: Smallest relative rotation that counts, rad; and largest number of bodies of a linkage that is searched.
_TURNS, _MOST = 0.05, 24
#: Axes are parallel within the first tolerance; the second is the relative tolerance for the rank of directions.
_PARALLEL, _DEPENDENT = 1e-6, 1e-6
#: Decimals of the numbers to paste, m and rad.
_DECIMALS = 10
#: Ratio and offset (rad) of a follower.
_Line = tuple[float, float]
#: ``grounded``, ``borne``: fixed to the ground, or to another link with mass; ``root``: a root that moves only with a
#: free base; ``moving``: it moves, and no other link fixed to it has mass.
Carriage = Literal["grounded", "borne", "root", "moving"]
#: A link below this fraction of the mass of its rigid group is negligible.
_NEGLIGIBLE = 0.01
#: Hill climbing: number of starts for each sign and their sweeps over the coordinates; number of best poses retained
#: and their further sweeps.
_STARTS, _SWEEPS, _KEPT, _LAST = 64, 7, 12, 20
#: Fractions of a pull below which it does not depend on a coordinate, and below which two pulls are equal.
_NOTHING, _EQUAL = 1e-9, 1e-9
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class MissingJoint:
    """Two bodies with a common point, and the joint that is missing there.

    Parameters
    ----------
    body_a, body_b : str
    point : (3,) array, m, world
    type : str
        Type of the missing joint: in a planar loop, one without redundant constraints; else spherical.
    X_AP, X_BS : Pose
        Its frames in the link frames.
    leader : str
        The leading joint of the imitated loop; empty if no loop is imitated.
    mimics : tuple of str
        Joints whose mimics it replaces.
    error : float
        Largest distance of the two points while the mimics lead the bodies over the range, m; 0: they are one point.
    """

    body_a: str
    body_b: str
    point: Array
    type: str
    X_AP: Pose
    X_BS: Pose
    leader: str = ""
    mimics: tuple[str, ...] = ()
    error: float = 0.0

    @property
    def toml(self) -> str:
        """The joint as lines to paste into a scene file."""
        lines = [
            *([f"# without the mimics of {visible(' and '.join(self.mimics))}"] if self.mimics else []),
            "[[closure]]",
            f"name = {toml_text(f'{self.body_a}_{self.body_b}')}",
            f'type = "{self.type}"',
            f"body_a = {toml_text(self.body_a)}",
            f"body_b = {toml_text(self.body_b)}",
        ]
        for side, X in (("a", self.X_AP), ("b", self.X_BS)):
            for key, values in (("xyz", X.p), ("rpy", rpy_from_rotation(X.R))):
                lines.append(f"{key}_{side} = {(np.round(values, _DECIMALS) + 0.0).tolist()}")
        return "\n".join(lines)


def imitated_loops(scene: Scene) -> Iterator[MissingJoint]:
    """Yield the loops imitated by the followers of a leading joint; no mimic is replaced twice."""
    mech = scene.mechanism
    for leader, followers in _leaders(mech).items():
        exact = list(_loops(mech, leader, followers))
        yield from exact or _four_bars(scene, leader, followers)


def _leaders(mech: Mechanism) -> dict[str, dict[str, _Line]]:
    """Return the leading revolute joints, each with ratio and offset of its followers by mimics."""
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
    """Return True if a joint has the single freedom ``rz`` and is in the tree; closures have no coordinate."""
    return joint in mech.tree.joint_of_pair and mech.pair_by_name[joint].kind.free == ("rz",)


def _loops(mech: Mechanism, leader: str, followers: Mapping[str, _Line]) -> Iterator[MissingJoint]:
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
        # put both frames at the same point: the inaccuracy of the imitation would prevent the loop from closing
        X_WP = Pose.from_xyz_axis(X_WA.apply(point), np.array([0.0, 0.0, 1.0]) if axis is None else axis)
        type = "spherical" if axis is None else "point-on-line"
        frames = (X_WA.inverse() @ X_WP, X_WB.inverse() @ X_WP)
        yield MissingJoint(a, b, X_WP.p, type, *frames, leader, mimics)


def _four_bars(scene: Scene, leader: str, followers: Mapping[str, _Line]) -> Iterator[MissingJoint]:
    """Yield a four-bar whose coupler and rocker follow its crank in straight lines: its closure, with the error.

    The angles of a four-bar are not proportional to each other, so that the ends of its links come apart. Any two
    bodies that turn little have a nearly common point; so the range must be wide, and the point on the links.
    """
    mech, group = scene.mechanism, rigid_groups(scene.mechanism)
    low, high = (float(np.clip(end, -np.pi, np.pi)) for end in _ends(mech.pair_by_name[leader]))
    odd = [abs(ratio - round(ratio)) > _WHOLE for ratio, _ in followers.values()]
    if not any(odd) or high - low < _SWINGS or len(followers) + 1 > _MOST:
        return
    index = mech.body_index
    motion = [_poses(mech, leader, followers, angle) for angle in np.linspace(low, high, _STEPS)]
    joined = {frozenset((group[pair.body_a], group[pair.body_b])) for pair in mech.pairs}
    found: list[tuple[float, MissingJoint]] = []
    for first, second in combinations((leader, *followers), 2):
        a, b = mech.pair_by_name[first].body_b, mech.pair_by_name[second].body_b
        ways = [[j for j in mech.tree.way_in(n) if j.pair is not None and j.pair.kind.free] for n in (a, b)]
        loop = [j for own, other in (ways, ways[::-1]) for j in own if j not in other]
        names = {j.pair.name for j in loop if j.pair is not None}
        if len(loop) != _HINGES or leader not in names or not names <= {leader, *followers} or b in group[a]:
            continue
        if not all(ways) or ways[0][0] in ways[1] or ways[1][0] in ways[0]:
            continue
        if frozenset((group[a], group[b])) in joined:
            continue
        axis = _normal([joint_axes(mech, j, motion[0])[0][:, 0] for j in loop])
        if axis is None:
            continue
        between = [X.of(index[a]).inverse() @ X.of(index[b]) for X in motion]
        size = _size(mech, loop, motion[_STEPS // 2])
        on_b, on_a, error = _nearest_points(between)
        turned = float(np.arccos(np.clip((np.trace(between[0].R.T @ between[-1].R) - 1) / 2, -1, 1)))
        if turned < _SWINGS or not 0 < error <= _NEARLY * size:
            continue
        if not all(_beside(scene, n, p) <= _BESIDE * size for n, p in ((a, on_a), (b, on_b))):
            continue
        X_WA, X_WB = (motion[0].of(index[n]) for n in (a, b))
        X_WP, X_WS = (Pose.from_xyz_axis(X.apply(p), axis) for X, p in ((X_WA, on_a), (X_WB, on_b)))
        frames = (X_WA.inverse() @ X_WP, X_WB.inverse() @ X_WS)
        mimics = tuple(name for name in followers if name in names)
        middle = motion[_STEPS // 2].of(index[a]).apply(on_a)
        found.append((error, MissingJoint(a, b, middle, "point-on-line", *frames, leader, mimics, error)))
    yield from (joint for _, joint in sorted(found, key=lambda one: one[0])[:1])


def _ends(pair: Pair) -> tuple[float, float]:
    """Return the limits of a joint, rad."""
    return pair.freedoms[0].lower, pair.freedoms[0].upper


def _size(mech: Mechanism, loop: Sequence[TreeJoint], poses: BodyPoses) -> float:
    """Return the largest distance of two joints of a loop, m."""
    points = [joint_axes(mech, joint, poses)[1] for joint in loop]
    return max(float(np.linalg.norm(p - q)) for p, q in combinations(points, 2))


def _nearest_points(motion: Sequence[Pose]) -> tuple[Array, Array, float]:
    """Return the points of B (3,) and of A (3,), m, that stay closest together, and their largest distance, m.

    Parameters
    ----------
    motion : list of Pose
        X_AB at several angles.
    """
    rows = np.vstack([np.hstack((X.R, -np.eye(3))) for X in motion])
    known = -np.concatenate([X.p for X in motion])
    solution = np.linalg.lstsq(rows, known, rcond=1e-9)[0]
    apart = (rows @ solution - known).reshape(-1, 3)
    return solution[:3], solution[3:], float(np.linalg.norm(apart, axis=1).max())


def _beside(scene: Scene, body: str, point: Array) -> float:
    """Return the distance of a point (3,), link frame, m, from the box around a link's shapes; inf without any."""
    solid = solid_of(scene.shapes.get(body, ()), scene.request)
    return (
        np.inf if solid is None else float(np.linalg.norm(point - np.clip(point, solid.lower, solid.upper)))
    )


# Coinciding frames of two branches: where a linkage was cut to obtain a tree.


def coinciding_frames(scene: Scene) -> Iterator[MissingJoint]:
    """Yield the missing joints where two massless fixed frames of different bodies coincide.

    If more than two frames coincide, no joint was cut there.
    """
    mech, group = scene.mechanism, rigid_groups(scene.mechanism)
    poses, index = stated_poses(scene), mech.body_index
    size = float(np.linalg.norm(np.ptp(poses.p_WC, axis=0))) if len(mech.bodies) else 0.0
    fixed = {pair.body_b for pair in mech.pairs if pair.type == "fixed" and not pair.closure}
    carriers = {pair.body_a for pair in mech.pairs}
    frames = [
        body.name
        for body in mech.bodies
        if body.massless and body.name in fixed - carriers and body.name not in scene.shapes
    ]
    joined = {frozenset((group[pair.body_a], group[pair.body_b])) for pair in mech.pairs}
    places = np.array([poses.of(index[name]).p for name in frames]).reshape(-1, 3)
    for k, other in _couples(places, _MEET * size):
        a, b = frames[k], frames[other]
        if b in group[a] or frozenset((group[a], group[b])) in joined:
            continue
        X_WA, X_WB = poses.of(index[a]), poses.of(index[b])
        ways = [
            [j for j in mech.tree.way_in(body) if j.pair is not None and j.pair.kind.free] for body in (a, b)
        ]
        loop = [
            joint_axes(mech, j, poses)[0] for own, other in (ways, ways[::-1]) for j in own if j not in other
        ]
        planar = all(S.shape[1] == 1 for S in loop)
        axis = _normal([S[:, 0] for S in loop]) if planar else None
        along = np.array([0.0, 0.0, 1.0]) if axis is None else axis
        X_WP, X_WS = (Pose.from_xyz_axis(X.p, along) for X in (X_WA, X_WB))
        type = "spherical" if axis is None else "point-on-line"
        yield MissingJoint(a, b, X_WP.p, type, X_WA.inverse() @ X_WP, X_WB.inverse() @ X_WS)


def _couples(points: Array, distance: float) -> Iterator[tuple[int, int]]:
    """Yield the pairs of points (n, 3) within a distance, m, of each other and of no other point."""
    if len(points) < 2 or distance == 0:
        return
    # points near each other are in the same cell or in neighbouring cells
    corners = [tuple(cell) for cell in np.floor(points / distance).tolist()]
    cells: dict[tuple[float, ...], list[int]] = {}
    for k, cell in enumerate(corners):
        cells.setdefault(cell, []).append(k)
    for k, (x, y, z) in enumerate(corners):
        around = (cells.get((x + a, y + b, z + c), ()) for a, b, c in product((0, -1, 1), repeat=3))
        near = (n for cell in around for n in cell if n != k)
        others = list(islice((n for n in near if np.linalg.norm(points[n] - points[k]) <= distance), 2))
        if len(others) == 1 and k < others[0]:
            yield k, others[0]


def _replaced(
    mech: Mechanism, bodies: tuple[str, str], point: Array, poses: BodyPoses, kept: set[str]
) -> tuple[Array | None, tuple[str, ...]]:
    """Return the normal (3,) of a planar loop in world axes, and the mimics that a joint of two bodies replaces.

    These are the mimics in ``kept`` that are nearest to the joint; none if too few are left, as in nested loops.

    Parameters
    ----------
    bodies : two names
        The joint is at ``point`` (3,) of the first body, m, in its frame.
    """
    ways = [[j for j in mech.tree.way_in(body) if j.pair is not None and j.pair.kind.free] for body in bodies]
    own = [[j for j in way if j not in other] for way, other in (ways, ways[::-1])]
    # alternate between both branches, starting at the missing joint
    loop = [j for pair in zip_longest(*own) for j in pair if j is not None]
    there = poses.of(mech.body_index[bodies[0]]).apply(point)
    places = [joint_axes(mech, joint, poses) for joint in loop]
    if not all(S.shape[1] == 1 for S, _ in places):
        return None, ()
    normal = _normal([S[:, 0] for S, _ in places])
    across = np.eye(3) if normal is None else np.eye(3) - np.outer(normal, normal)
    rates = [across @ (S[:3, 0] + np.cross(S[3:, 0], there - p)) for S, p in places]
    needed, rows = _rank(rates), list[Array]()
    mimics = []
    for joint, rate in zip(loop, rates, strict=True):
        if joint.pair is not None and joint.pair.name in kept and _rank([*rows, rate]) > len(rows):
            rows.append(rate)
            mimics.append(joint.pair.name)
    return normal, (tuple(mimics) if len(mimics) == needed else ())


def _normal(screws: list[Array]) -> Array | None:
    """Return the normal (3,) of the common plane of motion of joints with screws (6,); None if there is none."""
    turns = [S[3:] for S in screws if S[3:].any()]
    if not turns:
        return None
    slides = [S[:3] for S in screws if not S[3:].any()]
    in_plane = all(np.linalg.norm(np.cross(turns[0], other)) < _PARALLEL for other in turns[1:])
    in_plane = in_plane and all(abs(turns[0] @ slide) < _PARALLEL for slide in slides)
    return turns[0] if in_plane else None


def _rank(rates: list[Array]) -> int:
    """Return the dimension of the span of velocities (3,) of a point."""
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
    """Return the point of A, (3,) m, that coincides with a fixed point of B; None if there is none.

    Parameters
    ----------
    motion : list of Pose
        X_AB at several angles.
    size : float
        Size of the linkage, m.
    """
    turned = [motion[0].R.T @ X.R for X in motion[1:]]
    if max(float(np.arccos(np.clip((np.trace(R) - 1) / 2, -1, 1))) for R in turned) < _TURNS:
        return None
    # R p_B − p_A = −t at every angle; along the axis, where the point is free, lstsq chooses the least distance
    rows = np.vstack([np.hstack((X.R, -np.eye(3))) for X in motion])
    known = -np.concatenate([X.p for X in motion])
    solution = np.linalg.lstsq(rows, known, rcond=1e-9)[0]
    left = float(np.abs(rows @ solution - known).max())
    near = float(np.linalg.norm(solution[3:])) <= _REACH * size
    return solution[3:] if left <= _STAYS * size and near else None


# Support of a link: by the ground, by a link with mass, or by nothing with mass.


class Carriages:
    """Support of each link of a scene, including frames and bodies made by readers."""

    def __init__(self, scene: Scene) -> None:
        mech = scene.mechanism
        self._scene = scene
        self._mass = {body.name: body.mass for body in mech.bodies}
        self._group = rigid_groups(mech)
        groups = set(self._group.values())
        self._total = {group: sum(self._mass.get(name, 0.0) for name in group) for group in groups}
        self._roots = {joint.outer for joint in mech.tree.joints if joint.pair is None}

    def of(self, name: str) -> Carriage:
        """Return the support of a link; the link's own mass does not count."""
        group = self._group[name]
        if WORLD in group:
            return "grounded"
        if any(self._mass[other] > 0 for other in group if other != name):
            return "borne"
        # the root moves only if the caller states a free base; by default most robots are bolted down
        freed = self._scene.request is not None and self._scene.request.base == "free"
        return "moving" if freed or not group & self._roots else "root"

    def heavier(self, body: Body) -> bool:
        """Return True if the ground or a heavier body is rigidly connected to a body."""
        group = self._group[body.name]
        return WORLD in group or any(self._mass[other] > body.mass for other in group if other != body.name)

    def is_negligible(self, name: str) -> bool:
        """Return True if a link has less than 1 % of the mass of its rigid group."""
        return self._mass[name] < _NEGLIGIBLE * self._total[self._group[name]]

    def together(self, name: str) -> frozenset[str]:
        """Return the links of the rigid group of a link, itself included."""
        return self._group[name] - {WORLD}


def states_inertial(scene: Scene, body: Body) -> bool:
    """Return True if a mass or an inertia of a body is stated in its file, even if zero."""
    written = any(("body", body.name, part) in scene.origin for part in ("inertial", "mass"))
    return written or not body.massless


def is_made(scene: Scene, name: str) -> bool:
    """Return True if a body was made by a reader and is not in a file."""
    return ("body", name, MADE) in scene.origin


# Poses with the largest gravity loads on joints of a tree.
#
# The load has many local maxima. As a function of one coordinate it is A + B cos q + C sin q + D q, whose maximum
# is known: many poses are improved at once, each coordinate in turn being set to its best value in the whole range.


@dataclass(frozen=True, eq=False)
class GravityPull:
    """Single-freedom joints and the masses that they carry, at a pose.

    Parameters
    ----------
    gravity : (3,) array
        Gravitational acceleration, m/s².
    S : (k, 6) array
        Twists of the joints at their ``points``, linear part first, world.
    points : (k, 3) array, m
    before : (k,) array of int
        The preceding joint of each joint, −1 for none.
    mass, moment : (k,), (k, 3) array
        Mass between each joint and the next ones, kg, and its first moment (mass times position), kg·m, world.
    low, high : (k,) array
        Ranges of the coordinates relative to the pose, rad and m.
    """

    gravity: Array
    S: Array
    points: Array
    before: AnyArray
    mass: Array
    moment: Array
    low: Array
    high: Array

    def starts(self, count: int) -> Array:
        """Return displacements (count, k) of random poses within the ranges; the first is the nearest to the pose."""
        inner = np.random.default_rng(0).random((count - 1, len(self.low)))
        nearest = np.clip(0.0, self.low, self.high)
        return np.vstack((nearest, self.low + inner * (self.high - self.low)))

    def hardest(self, joints: Sequence[int]) -> Array:
        """Return the displacements (n, k) of the poses with the largest gravity load on each of n joints."""
        of, count = np.array(joints), len(joints)
        sense = np.tile(np.repeat([1.0, -1.0], _STARTS), (count, 1))
        Q = np.tile(self.starts(_STARTS), (count, 2, 1))
        for _ in range(_SWEEPS):
            pull = self._climb(Q, sense, of)
        kept = np.argsort(-pull, axis=1, kind="stable")[:, :_KEPT]
        Q, sense = np.take_along_axis(Q, kept[..., None], 1), np.take_along_axis(sense, kept, 1)
        for _ in range(_LAST):
            pull = self._climb(Q, sense, of)
        near = pull >= pull.max(axis=1, keepdims=True) * (1.0 - _EQUAL)
        return np.asarray(Q[np.arange(count), near.argmax(axis=1)])

    def _climb(self, Q: Array, sense: Array, joints: AnyArray) -> Array:
        """Set each coordinate of poses Q (n, s, k) in turn to its best value; return the pulls (n, s) on joints (n,).

        ``sense`` (n, s) is the sign in which each pull is maximized. The pull on a joint is g · R_front dE h,
        where h is mass and moment of the bodies beyond it, displaced by the joints there.
        """
        R, inner = self._turned(Q), self._inner()
        pull = np.zeros(Q.shape[:2])
        axis = R[joints, np.arange(len(joints))] @ self.S[joints, None, 3:, None]
        across = np.cross(self.gravity, axis[..., 0])
        x = np.zeros((len(self.S), *Q.shape[:2], 3))
        for k in reversed(range(len(self.S))):
            beyond, own, front = inner[k, joints][:, None], (joints == k)[:, None], inner[joints, k][:, None]
            carries = beyond | own
            x[k] += carries[..., None] * self.moment[k]
            parts = self._parts(
                k, x[k], carries * self.mass[inner[:, k] | (np.arange(len(self.S)) == k)].sum()
            )
            way = np.where(beyond[..., None], across, self.gravity)
            factors = np.einsum("nsbi,nsji,nsj->nsb", parts, R[k], way)
            factors = np.where(own[..., None], _slopes(factors), factors) * (carries | front)[..., None]
            Q[..., k] = self._best(k, sense[..., None] * factors)
            moved = np.einsum("nsbi,nsb->nsi", parts, _basis(Q[..., k], own)) * (carries | front)[..., None]
            if self.before[k] >= 0:
                x[self.before[k]] += moved
            else:
                pull += moved @ self.gravity
        return sense * pull

    def _inner(self) -> AnyArray:
        """Return a matrix (k, k), True where the joint of the row is beyond that of the column."""
        inner = np.zeros((len(self.before),) * 2, dtype=bool)
        for k, before in enumerate(self.before.tolist()):
            if before >= 0:
                inner[k] = inner[before]
                inner[k, before] = True
        return inner

    def _turned(self, Q: Array) -> Array:
        """Return the rotations (k, n, s, 3, 3) due to the joints before each joint, at poses Q (n, s, k)."""
        A = np.array([skew(a) for a in self.S[:, 3:]])
        angle = Q[..., None, None]
        turns = np.eye(3) + np.sin(angle) * A + (1 - np.cos(angle)) * (A @ A)
        R = np.empty((len(self.S), *Q.shape[:2], 3, 3))
        for k, before in enumerate(self.before.tolist()):
            R[k] = R[before] @ turns[:, :, before] if before >= 0 else np.eye(3)
        return R

    def _parts(self, k: int, x: Array, mass: Array) -> Array:
        """Return the coefficients (n, s, 4, 3) of 1, cos q, sin q and q for moments x (n, s, 3) with masses (n, 1)."""
        v, a, m = self.S[k, :3], self.S[k, 3:], mass[..., None]
        way = x - m * self.points[k]
        along = way @ np.outer(a, a) if a.any() else way
        slide = np.broadcast_to(m * v, x.shape)
        return np.stack((m * self.points[k] + along, way - along, np.cross(a, way), slide), axis=2)

    def _best(self, k: int, factors: Array) -> Array:
        """Return the displacements q (n, s) in the range that maximize factors (n, s, 4) · (1, cos q, sin q, q)."""
        low, high = self.low[k], self.high[k]
        top = low + np.mod(np.arctan2(factors[..., 2], factors[..., 1]) - low, 2 * np.pi)
        upper = factors @ (_basis(np.array(high)) - _basis(np.array(low))) > 0
        best = np.where((top <= high) & self.S[k, 3:].any(), top, np.where(upper, high, low))
        nothing = np.abs(factors[..., 1:]).sum(axis=-1) <= _NOTHING * np.abs(factors).sum(axis=-1)
        return np.asarray(np.where(nothing, np.clip(0.0, low, high), best))


def gravity_pull(
    mech: Mechanism, payloads: Sequence[Payload], q: Array
) -> tuple[GravityPull, list[str], bool]:
    """Return the gravity model at a pose q (nq,), the names of its joints, and True if no other joint moves.

    Screws, coupled joints, slides without limits and joints with several freedoms remain at their coordinates.
    """
    poses, index = forward(mech, q), mech.body_index
    coupled = {term.joint for coupling in mech.couplings for term in coupling.terms}
    names: list[str] = []
    on, before, places, ranges, whole = {WORLD: -1}, [], [], [], True
    for joint in mech.tree.joints:
        on[joint.outer] = on[joint.inner]
        if joint.pair is None or len(joint.pair.kind.free) != 1:
            whole &= joint.pair is not None and not joint.pair.kind.free
            continue
        span = None if joint.pair.name in coupled else _range(joint.pair)
        whole &= span is not None
        before.append(on[joint.inner])
        on[joint.outer] = len(names)
        names.append(joint.pair.name)
        places.append(joint_axes(mech, joint, poses))
        here = float(q[joint.q.start])
        ranges.append(np.subtract(span or (here, here), here))
    mass, moment = np.zeros(len(names)), np.zeros((len(names), 3))
    loads = [(index[body.name], body.mass, poses.p_WC[index[body.name]]) for body in mech.bodies]
    loads += [(i, load.mass, poses.of(i).apply(load.com)) for load in payloads for i in [index[load.body]]]
    for i, m, place in loads:
        k = on[mech.bodies[i].name]
        if k >= 0:
            mass[k], moment[k] = mass[k] + m, moment[k] + m * place
    S, points = np.array([S[:, 0] for S, _ in places]), np.array([point for _, point in places])
    low, high = np.array(ranges).T
    return GravityPull(mech.gravity, S, points, np.array(before), mass, moment, low, high), names, whole


def _range(pair: Pair) -> tuple[float, float] | None:
    """Return the range of a joint with one freedom, at most one turn; None if unknown."""
    low, high = pair.freedoms[0].lower, pair.freedoms[0].upper
    if pair.lead or not low < high:
        return None
    if not is_turn(pair.kind.free[0]):
        return (low, high) if np.isfinite([low, high]).all() else None
    if high - low > 2 * np.pi:
        # the turn closest to being centred at zero
        low = min(max(low, -np.pi), high - 2 * np.pi)
        high = low + 2 * np.pi
    return low, high


def _slopes(factors: Array) -> Array:
    """Return the factors (n, s, 4) of the derivative of factors · (1, cos q, sin q, q)."""
    a, b, c, d = np.moveaxis(factors, -1, 0)
    return np.stack((d, c, -b, np.zeros_like(a)), axis=-1)


def _basis(q: Array, slopes: Array | bool = False) -> Array:
    """Return 1, cos q, sin q and q (…, 4), or their derivatives."""
    values = np.stack((np.ones_like(q), np.cos(q), np.sin(q), q), axis=-1)
    rates = np.stack((np.zeros_like(q), -np.sin(q), np.cos(q), np.ones_like(q)), axis=-1)
    return np.where(np.asarray(slopes)[..., None], rates, values)


# Values for a scene that several rules need: computed once and cached while the scene exists.


def per_scene(function: Callable[[Scene], T]) -> Callable[[Scene], T]:
    """Return a function that computes its value once for each scene; the value must be immutable."""
    known: WeakKeyDictionary[Scene, T] = WeakKeyDictionary()

    @wraps(function)
    def kept(scene: Scene) -> T:
        if scene not in known:
            known[scene] = function(scene)
        return known[scene]

    return kept


# Sizes of a mechanism and its bodies, judged by the positions of joints.


@dataclass(frozen=True, eq=False)
class Extents:
    """Sizes of a mechanism and its bodies.

    Parameters
    ----------
    whole : float
        Diagonal of the box around all joints and link frames in the pose of the file, m; 0 if all coincide.
    joints : dict of body name to (n, 3) array
        Positions of the joints of a body in its link frame, m.
    """

    whole: float
    joints: dict[str, Array]

    def of(self, body: str) -> float:
        """Return the diagonal of the box around the joints of a body, along the axes of its frame, m."""
        return float(np.linalg.norm(np.ptp(self.joints[body], axis=0))) if body in self.joints else 0.0


@per_scene
def stated_poses(scene: Scene) -> BodyPoses:
    """Return the poses of all bodies at the coordinates of the file; the arrays are read only."""
    poses = forward(scene.mechanism, scene.state.q)
    for shared in (poses.R_WL, poses.p_WL, poses.p_WC):
        shared.setflags(write=False)
    return poses


@per_scene
def extents(scene: Scene) -> Extents:
    """Return the sizes of a scene's mechanism."""
    mech = scene.mechanism
    poses = stated_poses(scene)
    own: dict[str, list[Array]] = {}
    # link frames are at joints, except that of the root, which is arbitrary
    points = [poses.of(k).p for k in range(len(mech.bodies))]
    for pair in mech.pairs:
        for body, X in ((pair.body_a, pair.X_AP), (pair.body_b, pair.X_BS)):
            if body != WORLD:
                own.setdefault(body, []).append(X.p)
                points.append(poses.of(mech.body_index[body]).apply(X.p))
    whole = float(np.linalg.norm(np.ptp(np.array(points), axis=0))) if points else 0.0
    return Extents(whole, {body: np.array(found) for body, found in own.items()})
