"""Spatial loops with a closed form: spherical loops, and loops closed by a ball joint or a rod.

Known joints merge bodies. The first unknown joint follows from a quantity that the other unknowns do not change: an
angle between two axes (spherical law of cosines), the distance of two points (R or P with two intersecting hinges,
or with a rod), or the distance of a point from a line (P with a cylindrical pair). The equation is
A cos x + B sin x = C, or quadratic; the other joints then follow one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import acos, atan2, hypot, inf, pi, sqrt

import numpy as np

from mbplugin.dynamics.explicit_closure.newton import WITHIN_REACH, Cycle, Layout, NewtonStep, once_round
from mbplugin.errors import CannotClose
from mbplugin.model import BodyPoses, Pair, relative_pose, spatial

#: Tolerance, relative to its lengths, for a loop out of reach by rounding.
_REACH = 1e-9
#: An equation does not depend on its unknown below this fraction of its lengths.
_INDEPENDENT = 1e-9
#: Largest distance of two axes, relative to the size of their loop, and largest sine that count as rounding.
ROUNDING = 1e-3
#: Pairs whose coordinates are angles and travels along axes of their frames.
PLAIN = ("revolute", "continuous", "prismatic", "cylindrical", "universal", "fixed")
#: Pairs that close a chain by the position of one point.
POINT = ("spherical", "distance")
#: A length below this fraction of the distance from the origin is rounding.
_NO_LENGTH = 1e-9
#: Unknown coordinates of a chain, in its order, for a choice of branches, and a gap; None without a closed form.
_Solution = tuple[list[float], float] | None


# Hinges and sliders in space, and the equations for an angle, a travel and two intersecting hinges.


@dataclass(frozen=True, eq=False)
class Screw:
    """The axis of a hinge, or of a slider.

    Parameters
    ----------
    turns : bool
        True for a hinge.
    e, p : (3,) array
        Unit direction, and for a hinge a point of the axis, m.
    """

    turns: bool
    e: spatial.Array
    p: spatial.Array

    def exp(self, x: float) -> spatial.Pose:
        """Return the displacement at the coordinate x, rad or m."""
        if not self.turns:
            return spatial.Pose(np.eye(3), self.e * x)
        R = spatial.rotation_from_vector(self.e * x)
        return spatial.Pose(R, self.p - R @ self.p)

    def moved(self, X: spatial.Pose) -> Screw:
        """Return the axis after a displacement."""
        return Screw(self.turns, X.R @ self.e, X.apply(self.p))

    def across(self, point: spatial.Array) -> spatial.Array:
        """Return the vector (3,) to a point (3,) from the foot of its perpendicular on the axis."""
        arm = point - self.p
        return np.asarray(arm - self.e * (self.e @ arm))

    def angle(self, start: spatial.Array, end: spatial.Array) -> float:
        """Return the angle of the hinge that moves a point ``start`` (3,) to ``end`` (3,), rad."""
        u, v = self.across(start), self.across(end)
        return atan2(float(self.e @ spatial.cross(u, v)), float(u @ v))


def angles(A: float, B: float, C: float, size: float) -> tuple[float, float, float] | None:
    """Solve A cos x + B sin x = C; return both x and by how much C is out of reach; None if independent of x."""
    amplitude = hypot(A, B)
    if amplitude <= _INDEPENDENT * size:
        return None
    gap = max(0.0, abs(C) - amplitude * (1 + _REACH))
    half = acos(max(-1.0, min(1.0, C / amplitude)))
    middle = atan2(B, A)
    return middle + half, middle - half, gap


def travels(a: float, b: float, c: float, size: float) -> tuple[float, float, float] | None:
    """Solve a x² + 2 b x + c = 0, in lengths² with a ≤ 1; return both x and a squared gap, as :func:`angles`."""
    if a <= _INDEPENDENT:
        return None
    under = b * b - a * c
    gap = max(0.0, -under - _REACH * size * size)
    root = sqrt(max(0.0, under))
    return (-b + root) / a, (-b - root) / a, gap


def at_distance(
    screw: Screw, point: spatial.Array, centre: spatial.Array, length: float
) -> tuple[float, float, float] | None:
    """Return both coordinates at which a point (3,) moved by the screw is at a distance from a centre (3,), m."""
    if not screw.turns:
        arm = point - centre
        size = max(length, float(np.linalg.norm(arm)))
        return travels(1.0, float(arm @ screw.e), float(arm @ arm) - length**2, size)
    u, v = screw.across(point), screw.across(centre)
    along = float(screw.e @ (point - centre))
    size = float(max(u @ u, v @ v))
    C = (u @ u + v @ v + along**2 - length**2) / 2
    return angles(float(u @ v), float(screw.e @ spatial.cross(u, v)), float(C), size)


def off_line(
    slider: Screw, point: spatial.Array, line: Screw, length: float
) -> tuple[float, float, float] | None:
    """Return both travels at which a point (3,) moved by a slider is at a distance from a line, m."""
    arm, e = line.across(point), slider.e - line.e * (line.e @ slider.e)
    size = max(length, float(np.linalg.norm(arm)))
    return travels(float(e @ e), float(e @ arm), float(arm @ arm) - length**2, size)


def at_height(
    hinge: Screw, direction: spatial.Array, start: spatial.Array, height: float
) -> tuple[float, float, float] | None:
    """Return both angles of a hinge at which ``start`` (3,) has the component ``height`` along ``direction`` (3,)."""
    along = hinge.e * (hinge.e @ start)
    u = start - along
    A, B = float(direction @ u), float(direction @ spatial.cross(hinge.e, start))
    return angles(A, B, height - float(direction @ along), float(np.linalg.norm(start)))


def meeting(screws: Sequence[Screw], size: float) -> spatial.Array | None:
    """Return the common point (3,) of all hinges of a loop of a size (m), up to rounding; None without one."""
    across = [np.eye(3) - np.outer(screw.e, screw.e) for screw in screws]
    total = np.sum(across, axis=0)
    if np.linalg.svd(total, compute_uv=False)[-1] < ROUNDING**2:
        return None
    origin = screws[0].p
    lines = [N @ (screw.p - origin) for N, screw in zip(across, screws, strict=True)]
    point = origin + np.linalg.solve(total, np.sum(lines, axis=0))
    off = max(float(np.linalg.norm(screw.across(point))) for screw in screws)
    return np.asarray(point) if off <= ROUNDING * size else None


def miss(first: Screw, second: Screw) -> float:
    """Return the distance of two lines, m; infinite for parallel ones."""
    across = spatial.cross(first.e, second.e)
    sine = float(np.linalg.norm(across))
    return abs(float(across @ (second.p - first.p))) / sine if sine > ROUNDING else inf


# A spatial loop as a chain of hinges and sliders: E₁(x₁) … Eₙ(xₙ), closed by a ball, a rod, or by itself.


@dataclass(frozen=True, eq=False)
class ChainJoint:
    """One freedom of a chain: its axis at zero coordinates, and the indices of its coordinate and rate.

    ``sign`` is −1 if the pair is traversed from its successor to its predecessor.
    """

    name: str
    screw: Screw
    at: int
    rate: int
    sign: float

    @property
    def letter(self) -> str:
        """R for a hinge, P for a slider."""
        return "R" if self.screw.turns else "P"

    def exp(self, y: spatial.Array) -> spatial.Pose:
        """Return the joint's displacement at y (nq + c,)."""
        return self.screw.exp(self.sign * float(y[self.at]))


@dataclass(frozen=True, eq=False)
class SpatialRing:
    """The chain of a loop in the frame of its first body; all axes at zero coordinates.

    Parameters
    ----------
    joints : tuple of ChainJoint
        All freedoms of the loop, starting after the closing pair.
    end : Pose
        End frame of the chain: that of the closing pair on the last body, or the remaining displacement of the loop.
    closing : Pair or None
        A ball or a rod; None if the chain closes by itself.
    forward : bool
        Whether the closing pair is traversed from its predecessor to its successor.
    """

    joints: tuple[ChainJoint, ...]
    end: spatial.Pose
    closing: Pair | None
    forward: bool

    @cached_property
    def size(self) -> float:
        """Extent of the loop, m, but at least rounding of the largest coordinate."""
        points = np.array([*(joint.screw.p for joint in self.joints), self.end.p, self.begin.p])
        extent = float(np.linalg.norm(points - points[0], axis=1).max())
        return max(extent, _NO_LENGTH * float(np.abs(points).max()))

    @cached_property
    def is_spherical(self) -> bool:
        """True if it consists only of hinges whose axes all meet in one point."""
        hinges = [joint.screw for joint in self.joints if joint.screw.turns]
        return len(hinges) == len(self.joints) > 2 and meeting(hinges, self.size) is not None

    @property
    def may_have_closed_form(self) -> bool:
        """True if some choice of known joints may give a closed form."""
        return self.closing is not None or self.is_spherical

    @property
    def begin(self) -> spatial.Pose:
        """Frame of the closing pair on the first body."""
        if self.closing is None:
            return spatial.Pose.identity()
        return self.closing.X_BS if self.forward else self.closing.X_AP

    def product(self, y: spatial.Array, start: int, stop: int) -> spatial.Pose:
        """Return E_start … E_{stop−1} at y (nq + c,)."""
        out = spatial.Pose.identity()
        for joint in self.joints[start:stop]:
            out = out @ joint.exp(y)
        return out

    def ball_rotation(self, y: spatial.Array) -> spatial.Array:
        """Return R_PS (3, 3) of a closing ball at closed coordinates y (nq + c,)."""
        R = (self.product(y, 0, len(self.joints)) @ self.end).R
        return np.asarray(R.T @ self.begin.R if self.forward else self.begin.R.T @ R)


def spatial_ring(layout: Layout, cycle: Cycle, poses: BodyPoses) -> SpatialRing | str:
    """Return a loop as a spatial chain, or the reason why it is not one."""
    way = once_round(layout.mech, cycle)
    if way is None:
        return "its path passes through a free body, or through a body twice"
    points = [k for k, (pair, _) in enumerate(way) if pair.type in POINT]
    if len(points) > 1:
        return "it has several pairs that fix only a point"
    way = way[points[0] + 1 :] + way[: points[0] + 1] if points else way
    chain = way[:-1] if points else way
    for pair, _ in chain:
        if pair.type not in PLAIN:
            return f"its {pair.type} pair {pair.name!r} has no axes of its own"
    joints, X = _walk(layout, chain, poses)
    if not points:
        return SpatialRing(tuple(joints), X, None, True)
    closing, forward = way[-1]
    return SpatialRing(tuple(joints), X @ (closing.X_AP if forward else closing.X_BS), closing, forward)


def _walk(
    layout: Layout, way: Sequence[tuple[Pair, bool]], poses: BodyPoses
) -> tuple[list[ChainJoint], spatial.Pose]:
    """Traverse a path with all coordinates at zero; return its freedoms and the last body's frame."""
    X, out = spatial.Pose.identity(), []
    for pair, forward in way:
        X = X @ (pair.X_AP if forward else pair.X_BS)
        across = _at_zero(layout, pair, poses)
        X_P = X if forward else X @ across.inverse()
        own = _joints(layout, pair, X_P, 1.0 if forward else -1.0)
        out += own if forward else own[::-1]
        X = X @ (across @ pair.X_SB if forward else across.inverse() @ pair.X_AP.inverse())
    return out, X


def _at_zero(layout: Layout, pair: Pair, poses: BodyPoses) -> spatial.Pose:
    """Return X_PS at zero coordinates; a cut cylindrical pair measures its rotation from the given pose."""
    if layout.is_cut(pair.name) and pair.type == "cylindrical":
        return spatial.Pose(relative_pose(layout.mech, pair, poses).R, np.zeros(3))
    return spatial.Pose.identity()


def _joints(layout: Layout, pair: Pair, X_P: spatial.Pose, sign: float) -> list[ChainJoint]:
    """Return the freedoms of a pair in the order of its displacement, at its frame P."""
    if pair.type == "fixed":
        return []
    at, rate = layout.places[pair.name]
    return [
        ChainJoint(
            pair.name,
            Screw(spatial.is_turn(component), X_P.R[:, spatial.axis_of(component)], X_P.p),
            at + k,
            rate + k,
            sign,
        )
        for k, component in enumerate(pair.kind.free)
    ]


@dataclass(frozen=True, eq=False)
class SpatialStep:
    """Unknown joints of a spatial loop as functions of the known ones.

    Coordinates y (nq + c,) and rates yd (nv + c,) are in the order of the layout, c of them for cut pairs.

    Parameters
    ----------
    kind : str
        Kind of closed form: ``spherical RRR``, ``R-distance``, ``RSU``, ``PSC`` and the like.
    unknown : tuple of int
        Their indices in the ring.
    branches : tuple of int
        ±1 for the joint that is solved first, and for the two intersecting hinges.
    ball_at : slice or None
        The quaternion of a closing ball that is a tree joint.
    rates : NewtonStep
        Closing rows of the same loop, for rates and accelerations.
    """

    kind: str
    ring: SpatialRing
    unknown: tuple[int, ...]
    branches: tuple[int, ...]
    ball_at: slice | None
    rates: NewtonStep

    reason = ""

    @property
    def branch(self) -> int:
        """Branch of the assembly, ±1."""
        return self.branches[0]

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the dependent rates."""
        return self.rates.joints

    @property
    def dependent(self) -> tuple[int, ...]:
        """Indices of the rates that it determines."""
        return self.rates.dependent

    @property
    def known(self) -> tuple[int, ...]:
        """Indices of the rates that it needs."""
        return self.rates.known

    def closed(self, y: spatial.Array) -> spatial.Array:
        """Return y (nq + c,) with the unknown coordinates solved, in the turn nearest to their values in y.

        Raises
        ------
        CannotClose
            The known joints are out of reach.
        """
        solved = _solve(self.kind, self.ring, self.unknown, self.branches, y)
        if solved is None or solved[1]:
            raise CannotClose(
                f"the joints {', '.join(map(repr, self.joints))} cannot close their loop: they do not reach that far",
                remedy=WITHIN_REACH,
            )
        out = np.array(y)
        for k, value in zip(self.unknown, solved[0], strict=True):
            joint = self.ring.joints[k]
            turns = round((float(y[joint.at]) - joint.sign * value) / (2 * pi)) if joint.screw.turns else 0
            out[joint.at] = joint.sign * value + 2 * pi * turns
        if self.ball_at is not None:
            quaternion = spatial.quaternion_from_rotation(self.ring.ball_rotation(out))
            out[self.ball_at] = quaternion if quaternion @ y[self.ball_at] >= 0 else -quaternion
        return out

    def slope(self, y: spatial.Array) -> spatial.Array:
        """Return ∂q̇_D/∂q̇_I (dependent, known)."""
        return self.rates.slope(y)

    def bias(self, y: spatial.Array, yd: spatial.Array) -> spatial.Array:
        """Return ξ (dependent,) at rates of all joints."""
        return self.rates.bias(y, yd)

    def margin(self, y: spatial.Array) -> float:
        """Return the conditioning of the dependent columns relative to all columns, 0 (singular) … 1."""
        return self.rates.margin(y)

    def alternatives(self) -> Iterator[SpatialStep]:
        """Yield the step on its other branches."""
        for branches in product((1, -1), repeat=len(self.branches)):
            if branches != self.branches:
                yield replace(self, branches=branches)


def spatial_step(
    ring: SpatialRing, unknown: Sequence[int], y: spatial.Array, ball_at: slice | None, rates: NewtonStep
) -> SpatialStep | None:
    """Return a closed form for the unknown joints of a ring, on the branch of y (nq + c,); None without one."""
    # exact forms before those that fit only up to rounding
    for _, kind in sorted(_kinds(ring, unknown)):
        found = [
            step
            for branches in product((1, -1), repeat=2 if "U" in kind else 1)
            if (step := SpatialStep(kind, ring, tuple(unknown), branches, ball_at, rates))
            and _solve(kind, ring, step.unknown, branches, y)
        ]
        if found:
            return min(found, key=lambda step: _away(step, y))
    return None


def _away(step: SpatialStep, y: spatial.Array) -> float:
    """Return the distance of a step's solution from y (nq + c,), rad and m; infinite if it cannot close."""
    try:
        own = step.closed(y)
    except CannotClose:
        return float("inf")
    return sum(abs(float(own[step.ring.joints[k].at] - y[step.ring.joints[k].at])) for k in step.unknown)


def _kinds(ring: SpatialRing, unknown: Sequence[int]) -> Iterator[tuple[float, str]]:
    """Yield the misfit and kind of each candidate closed form for the unknown joints of a ring."""
    joints = [ring.joints[k] for k in unknown]
    letters = "".join(joint.letter for joint in joints)
    if ring.closing is None:
        if letters == "RRR" and ring.is_spherical:
            yield 0.0, "spherical RRR"
    elif ring.closing.type == "distance":
        if len(letters) == 1:
            yield 0.0, f"{letters}-distance"
    elif len(letters) == 3:
        # the single joint may be on either side of the ball; the other two must be adjacent
        for single, first, forms in ((0, 1, ("{}SU", "{}SC")), (2, 0, ("US{}", "CS{}"))):
            if unknown[first + 1] != unknown[first] + 1:
                continue
            pair = [joint.screw for joint in joints[first : first + 2]]
            crossing, coaxial = (form.format(letters[single]) for form in forms)
            if all(screw.turns for screw in pair):
                yield miss(*pair) / ring.size, crossing
            elif pair[0].turns != pair[1].turns and letters[single] == "P":
                yield float(np.linalg.norm(spatial.cross(pair[0].e, pair[1].e))), coaxial


def _solve(
    kind: str, ring: SpatialRing, unknown: Sequence[int], branches: tuple[int, ...], y: spatial.Array
) -> _Solution:
    """Return the coordinates of the unknown joints at y (nq + c,), signed in the direction of traversal."""
    if kind == "spherical RRR":
        return _spherical(ring, unknown, branches[0], y)
    screws, point, target = _gathered(ring, unknown, y)
    if kind.endswith("distance"):
        assert ring.closing is not None
        return _chosen(at_distance(screws[0], point, target, ring.closing.length), branches[0])
    backwards = kind[0] in "UC"
    if backwards:
        # e₁ e₂ e₃ p = t read from the other end: e₃⁻¹ e₂⁻¹ e₁⁻¹ t = p
        screws, point, target = screws[::-1], target, point
    pair = _crossing if "U" in kind else _coaxial
    solved = pair(screws, point, target, branches, ring.size)
    if solved is None or not backwards:
        return solved
    return [-value for value in reversed(solved[0])], solved[1]


def _gathered(
    ring: SpatialRing, unknown: Sequence[int], y: spatial.Array
) -> tuple[list[Screw], spatial.Array, spatial.Array]:
    """Return unknown screws at y (nq + c,), and points p, t (3,) with e₁ e₂ e₃ p = t, for fixed known joints."""
    X, screws, start = spatial.Pose.identity(), [], 0
    for k in unknown:
        X = X @ ring.product(y, start, k)
        screws.append(ring.joints[k].screw.moved(X))
        start = k + 1
    X = X @ ring.product(y, start, len(ring.joints))
    return screws, X.apply(ring.end.p), ring.begin.p


def _chosen(both: tuple[float, float, float] | None, branch: int) -> _Solution:
    return None if both is None else ([both[0] if branch > 0 else both[1]], both[2])


def _crossing(
    screws: list[Screw], point: spatial.Array, target: spatial.Array, branches: tuple[int, ...], size: float
) -> _Solution:
    """Solve e₁ e₂ e₃ p = t with intersecting hinges e₂, e₃, which preserve the distance from their intersection.

    The points are p, ``point`` (3,), and t, ``target`` (3,), m.
    """
    first, second, third = screws
    if (crossing := meeting([second, third], size)) is None:
        return None
    arm = point - crossing
    length = float(np.linalg.norm(arm))
    # |e₁⁻¹ t − O| = |p − O|
    found = _chosen(at_distance(first, target, crossing, length), branches[0])
    if found is None:
        return None
    x1 = -found[0][0]
    there = first.exp(-x1).apply(target) - crossing
    turned = _chosen(at_height(third, second.e, arm, float(second.e @ there)), branches[1])
    if turned is None:
        return None
    x3 = turned[0][0]
    at = Screw(True, third.e, np.zeros(3)).exp(x3).apply(arm)
    x2 = Screw(True, second.e, np.zeros(3)).angle(at, there)
    return [x1, x2, x3], max(found[1], turned[1])


def _coaxial(
    screws: list[Screw], point: spatial.Array, target: spatial.Array, branches: tuple[int, ...], size: float
) -> _Solution:
    """Solve e₁ e₂ e₃ p = t with coaxial e₂, e₃ and a slider e₁: they preserve the distance from the common axis.

    The points are p, ``point`` (3,), and t, ``target`` (3,), m.
    """
    first, *pair = screws
    hinge, slider = pair if pair[0].turns else reversed(pair)
    if float(np.linalg.norm(spatial.cross(hinge.e, slider.e))) > ROUNDING:
        return None
    found = _chosen(off_line(first, target, hinge, float(np.linalg.norm(hinge.across(point)))), branches[0])
    if found is None:
        return None
    x1 = -found[0][0]
    there = first.exp(-x1).apply(target)
    along = float(slider.e @ (there - point))
    angle = hinge.angle(point, there)
    return [x1, *((angle, along) if pair[0].turns else (along, angle))], found[1]


def _spherical(ring: SpatialRing, unknown: Sequence[int], branch: int, y: spatial.Array) -> _Solution:
    """Solve R₁ Q₁ R₂ Q₂ R₃ Q₃ = 1 at y (nq + c,) by the angle between the first and the third axis."""
    i, j, k = unknown
    n = len(ring.joints)
    a, b, c = (ring.joints[m].screw.e for m in unknown)
    Q1, Q2 = ring.product(y, i + 1, j).R, ring.product(y, j + 1, k).R
    Q3 = ring.product(y, k + 1, n).R @ ring.end.R @ ring.product(y, 0, i).R
    origin = np.zeros(3)
    # a·(Q₁ R₂ Q₂ c) = a·(Q₃ᵀ c)
    image = Q3.T @ c
    found = _chosen(at_height(Screw(True, b, origin), Q1.T @ a, Q2 @ c, float(a @ image)), branch)
    if found is None:
        return None
    x2 = found[0][0]
    R2 = Screw(True, b, origin).exp(x2).R
    x1 = Screw(True, a, origin).angle(Q1 @ R2 @ Q2 @ c, image)
    left = (Screw(True, a, origin).exp(x1).R @ Q1 @ R2 @ Q2).T @ Q3.T
    other = np.eye(3)[int(np.abs(c).argmin())]
    x3 = Screw(True, c, origin).angle(other, left @ other)
    return [x1, x2, x3], found[1]
