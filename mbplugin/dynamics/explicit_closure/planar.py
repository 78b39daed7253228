"""Dyads: the three unknown joints of a planar loop in closed form (blajer1993 (15)–(23), for any kind).

Known joints merge the bodies of a loop into three substitute bodies. The loop is then
U₁ K₁ U₂ K₂ U₃ K₃ = 1 with three unknown hinges or sliders: a triangle.

Planar displacements and twists are written with complex numbers: a point of the plane is x + i·y. A twist is
(ω, v), the angular rate and the velocity at the plane's origin. A hinge at z that turns at the rate s is
(s, −i·s·z); a slider is (0, direction).
"""

from __future__ import annotations

from cmath import exp, phase
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import acos, atan2, pi, sqrt

import numpy as np

from mbplugin.dynamics.explicit_closure import newton
from mbplugin.errors import CannotClose
from mbplugin.model import Array, BodyPoses, Pair, Pose, align_z, cross, relative_pose

#: Largest tilt (rad), or gap across the plane relative to the size of the loop, that counts as rounding.
ROUNDING = 1e-3
_HINGES = ("revolute", "continuous", "planar")
_IN_TREE = (*_HINGES, "prismatic", "fixed")
#: Cut pairs that leave tilts free; the relative orientation of their bodies is measured at the given pose.
_TILTING = ("spherical", "cylindrical", "point-on-line", "point-on-plane")
#: Unknown joints in the cyclic order of their solution. RR is a closure that other loops imply.
KINDS = ("RRR", "RRP", "RPP", "RR")
#: Tolerance, relative to its arms, for a dyad out of reach by rounding.
_REACH = 1e-9
#: A dyad is flat below this sine, and its rates are unbounded; a sine from arccos is no more accurate than this.
_FLAT = 1e-7
#: Hinges closer than this fraction of their loop, or of their distance from the origin, are coaxial.
_COAXIAL, _NO_ARM = 1e-6, 1e-9


# Planar loops: projection of the joints to one plane, or the reason why a loop is not planar.


@dataclass(frozen=True, eq=False)
class _Axis:
    """A freedom at zero coordinates, in the axes of the first body of the loop."""

    name: str
    turns: bool
    direction: Array
    point: Array
    at: int
    rate: int


def may_be_planar(layout: newton.Layout, pair: Pair) -> bool:
    """Return True if a pair can be part of a planar loop; a tree pair must have plain coordinates."""
    return pair.type in (_IN_TREE if not layout.is_cut(pair.name) else (*_IN_TREE, *_TILTING))


def planar_ring(layout: newton.Layout, cycle: newton.Cycle, poses: BodyPoses) -> Ring | str:
    """Return a loop as a planar ring, or the reason why it is not one."""
    way = newton.once_round(layout.mech, cycle)
    if way is None:
        return "its path passes through a free body, or through a body twice"
    normal = _normal(layout, way, poses)
    if isinstance(normal, str):
        return normal
    axes, K = _walk(layout, way, poses, normal)
    if isinstance(axes, str):
        return axes
    # these may let their bodies slide across the plane, so that there is no gap
    return _in_plane(
        axes,
        K,
        normal,
        any(pair.type in ("cylindrical", "point-on-line", "point-on-plane") for pair, _ in way),
    )


def _normal(layout: newton.Layout, way: list[tuple[Pair, bool]], poses: BodyPoses) -> Array | str:
    """Return the mean axis of the hinges of a loop, in the axes of its first body."""
    X, axes = Pose.identity(), []
    for pair, forward in way:
        if not may_be_planar(layout, pair):
            return f"its {pair.type} pair {pair.name!r} moves in no plane"
        X = X @ (pair.X_AP if forward else pair.X_BS)
        if pair.type in _HINGES:
            axes.append((pair.name, X.R[:, 2]))
        X = X @ _at_zero(layout, pair, forward, poses) @ (pair.X_SB if forward else pair.X_AP.inverse())
    if not axes:
        return "it has no hinge that defines its plane"
    name, first = axes[0]
    for other, axis in axes[1:]:
        if (angle := float(np.linalg.norm(cross(first, axis)))) > ROUNDING:
            return f"the axes of {name!r} and {other!r} are not parallel (sine of the angle {angle:.2g})"
    total = np.sum([axis * np.sign(axis @ first) for _, axis in axes], axis=0)
    return np.asarray(total / np.linalg.norm(total))


def _at_zero(layout: newton.Layout, pair: Pair, forward: bool, poses: BodyPoses) -> Pose:
    """Return the displacement across a pair at zero coordinates, in the direction of traversal."""
    if not (layout.is_cut(pair.name) and pair.type in _TILTING):
        return Pose.identity()
    R_PS = relative_pose(layout.mech, pair, poses).R
    return Pose(R_PS if forward else R_PS.T, np.zeros(3))


def _walk(
    layout: newton.Layout, way: list[tuple[Pair, bool]], poses: BodyPoses, normal: Array
) -> tuple[list[_Axis] | str, Pose]:
    """Traverse a loop with all coordinates at zero; return its axes and the remaining displacement.

    ``normal`` (3,) of the loop's plane is in the axes of its first body.
    """
    X, out = Pose.identity(), []
    for pair, forward in way:
        X = X @ (pair.X_AP if forward else pair.X_BS)
        across = _at_zero(layout, pair, forward, poses)
        # the axes are those of the predecessor frame, which is traversed first or last
        X_P = X if forward else X @ across
        own = _axes(layout, pair, X_P, normal)
        if isinstance(own, str):
            return own, X
        out += (
            own
            if forward
            else [
                _Axis(axis.name, axis.turns, -axis.direction, axis.point, axis.at, axis.rate)
                for axis in reversed(own)
            ]
        )
        X = X @ across @ (pair.X_SB if forward else pair.X_AP.inverse())
    return out, X


def _axes(layout: newton.Layout, pair: Pair, X: Pose, normal: Array) -> list[_Axis] | str:
    """Return the freedoms of a pair in the plane with normal (3,), in the order of its displacement."""
    x, y, z = X.R.T
    upright = abs(float(z @ normal)) > 0.5
    directions: list[tuple[bool, Array]]
    match pair.type:
        case "revolute" | "continuous":
            directions = [(True, z)]
        case "prismatic":
            directions = [(False, z)]
        case "planar":
            directions = [(False, x), (False, y), (True, z)]
        case "spherical":
            directions = [(True, normal)]
        case "cylindrical":
            directions = [(True, z)] if upright else [(False, z)]
        case "point-on-line":
            directions = [(True, normal)] if upright else [(False, z), (True, normal)]
        case "point-on-plane" if upright:
            return f"its pair {pair.name!r} closes nothing in the plane"
        case "point-on-plane":
            directions = [(False, _unit(cross(normal, z))), (True, normal)]
        case _:
            directions = []
    at, rate = layout.places.get(pair.name, (0, 0))
    # a tilting pair has the slot 0 for its travel and 1 for its turn, even if there is only one
    slots = [int(turns) for turns, _ in directions] if pair.type in _TILTING else range(len(directions))
    return [
        _Axis(pair.name, turns, d, X.p, at + k, rate + k)
        for k, (turns, d) in zip(slots, directions, strict=True)
    ]


def _unit(a: Array) -> Array:
    """Return the unit vector (3,) of a vector a (3,)."""
    return np.asarray(a / np.linalg.norm(a))


def _in_plane(axes: list[_Axis], K: Pose, normal: Array, slides: bool) -> Ring | str:
    """Return a loop projected to its plane with ``normal`` (3,), or the reason why it is not planar."""
    R_WE = align_z(normal)
    tilt, joints = 0.0, []
    for axis in axes:
        along = float(axis.direction @ normal)
        tilt = max(tilt, float(np.linalg.norm(cross(axis.direction, normal))) if axis.turns else abs(along))
        direction, point = R_WE.T @ axis.direction, R_WE.T @ axis.point
        if axis.turns:
            s = float(np.sign(along))
            twist = Twist(s, -1j * s * complex(point[0], point[1]))
        else:
            flat = complex(direction[0], direction[1])
            twist = Twist(0.0, flat / abs(flat) if flat else 1.0)
        joints.append(RingJoint(axis.name, twist, axis.at, axis.rate))
    R, p = R_WE.T @ K.R @ R_WE, R_WE.T @ K.p
    tilt = max(tilt, float(np.hypot(R[0, 2], R[1, 2])))
    gap = 0.0 if slides else abs(float(p[2]))
    points = [axis.point for axis in axes] + [K.p]
    size = max(float(np.linalg.norm(a - points[0])) for a in points)
    if tilt > ROUNDING:
        return f"its joints are {tilt:.2g} rad out of one plane"
    if gap > ROUNDING * size:
        return f"its two ends are {gap:.2g} m apart across the plane"
    angle = atan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1])
    turn = Twist(1.0, 0j).exp(angle).turn
    return Ring(tuple(joints), Displacement(turn, complex(p[0], p[1])), tilt, gap)


@dataclass(frozen=True)
class Displacement:
    """The displacement p → turn·p + shift.

    Parameters
    ----------
    turn : complex
        exp(i·angle), of modulus one.
    shift : complex
        m.
    """

    turn: complex = 1.0
    shift: complex = 0.0

    def __matmul__(self, other: Displacement) -> Displacement:
        return Displacement(self.turn * other.turn, self.shift + self.turn * other.shift)

    def inverse(self) -> Displacement:
        """Return the inverse displacement."""
        back = self.turn.conjugate()
        return Displacement(back, -back * self.shift)


@dataclass(frozen=True)
class Twist:
    """A unit twist of a joint: turning rate (rad per unit rate) and velocity at the origin (m)."""

    omega: float
    v: complex

    @property
    def pivot(self) -> complex:
        """Position of a hinge; zero for a slider."""
        return 1j * self.v / self.omega if self.omega else 0j

    def exp(self, x: float) -> Displacement:
        """Return the displacement at the coordinate x."""
        if not self.omega:
            return Displacement(1.0, self.v * x)
        turn = exp(1j * self.omega * x)
        return Displacement(turn, (1 - turn) * self.pivot)

    def moved(self, by: Displacement) -> Twist:
        """Return the twist of the joint after it has been displaced."""
        return Twist(self.omega, by.turn * self.v - 1j * self.omega * by.shift)

    def bracket(self, other: Twist) -> complex:
        """Return the velocity part of the rate of change of ``other`` when it moves with this twist."""
        return 1j * (self.omega * other.v - other.omega * self.v)

    def plus(self, other: Twist, rate: float) -> Twist:
        """Return the sum of this twist and ``rate`` times another one."""
        return Twist(self.omega + rate * other.omega, self.v + rate * other.v)


# A planar loop as a ring of hinges and sliders: E₁(x₁) E₂(x₂) … Eₙ(xₙ) K = 1.


@dataclass(frozen=True)
class RingJoint:
    """One freedom of a loop.

    Parameters
    ----------
    name : str
        Its pair, for messages.
    twist : Twist
        At zero coordinates, in the plane of the loop.
    at, rate : int
        Indices of its coordinate and its rate, in the layout of tree and cut pairs.
    """

    name: str
    twist: Twist
    at: int
    rate: int

    @property
    def letter(self) -> str:
        """R for a hinge, P for a slider."""
        return "R" if self.twist.omega else "P"


@dataclass(frozen=True)
class Ring:
    """A loop whose joints all move in one plane.

    Coordinates y (nq + c,) and rates yd (nv + c,) are in the order of the layout, c of them for cut pairs.

    Parameters
    ----------
    joints : tuple of RingJoint
        Once round the loop.
    K : Displacement
        Displacement around the loop that remains when all coordinates are zero.
    tilt : float
        Largest angle between a hinge and the normal of the plane, or a slider and the plane, rad.
    gap : float
        Gap of the loop across the plane, m.
    """

    joints: tuple[RingJoint, ...]
    K: Displacement
    tilt: float
    gap: float

    def product(self, y: Array, start: int, stop: int) -> Displacement:
        """Return E_start … E_{stop−1}."""
        out = Displacement()
        for joint in self.joints[start:stop]:
            out = out @ joint.twist.exp(float(y[joint.at]))
        return out

    def twists(self, y: Array) -> list[Twist]:
        """Return the twist of every joint at coordinates y."""
        out, reached = [], Displacement()
        for joint in self.joints:
            out.append(joint.twist.moved(reached))
            reached = reached @ joint.twist.exp(float(y[joint.at]))
        return out

    def bias(self, twists: list[Twist], yd: Array) -> Array:
        """Return Σ ṫ ẋ (3,), the velocity-dependent part of the loop's acceleration."""
        body, velocity = Twist(0.0, 0j), 0j
        for joint, twist in zip(self.joints, twists, strict=True):
            rate = float(yd[joint.rate])
            velocity += rate * body.bracket(twist)
            body = body.plus(twist, rate)
        return np.array([0.0, velocity.real, velocity.imag])


_Turned = list[tuple[Twist, Displacement]]


@dataclass(frozen=True)
class DyadStep:
    """Unknown joints of a ring as functions of the known ones.

    Coordinates y (nq + c,) and rates yd (nv + c,) are in the order of the layout, c of them for cut pairs.

    Parameters
    ----------
    unknown : tuple of int
        Their indices in the ring, rotated to the order of ``solved_as``.
    solved_as : str
        One of ``KINDS``.
    branch : int
        ±1: side of the triangle of the unknown joints; 0 if there is only one solution.
    """

    ring: Ring
    unknown: tuple[int, ...]
    solved_as: str
    branch: int = 0

    reason = ""

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the unknown joints, starting after the longest run of known ones."""
        return tuple(self.ring.joints[k].name for k in self._in_reading_order())

    @property
    def kind(self) -> str:
        """Usual name of the dyad, starting after the longest run of known joints: RRR, RRP, RPR, …"""
        return "".join(self.ring.joints[k].letter for k in self._in_reading_order())

    @property
    def dependent(self) -> tuple[int, ...]:
        """Indices of the rates that it determines."""
        return tuple(self.ring.joints[k].rate for k in self.unknown)

    @property
    def known(self) -> tuple[int, ...]:
        """Indices of the rates that it needs."""
        return tuple(j.rate for k, j in enumerate(self.ring.joints) if k not in self.unknown)

    def closed(self, y: Array) -> Array:
        """Return y (nq + c,) with the unknown coordinates solved, in the turn nearest to their values in y.

        Raises
        ------
        CannotClose
            The known joints are out of reach of the dyad.
        """
        out = np.array(y)
        for k, value in zip(self.unknown, _SOLVERS[self.solved_as](self, self._blocks(y)), strict=True):
            joint = self.ring.joints[k]
            if joint.twist.omega:
                turns = round((float(y[joint.at]) - value / joint.twist.omega) / (2 * pi))
                value = value / joint.twist.omega + 2 * pi * turns
            out[joint.at] = value
        return out

    def alternatives(self) -> Iterator[DyadStep]:
        """Yield the dyad on its other branch."""
        if self.branch:
            yield replace(self, branch=-self.branch)

    def slope(self, y: Array) -> Array:
        """Return ∂ẋ_D/∂ẋ_I (unknown, known) by the reciprocal twists (blajer1993 (19)–(22))."""
        twists = self.ring.twists(y)
        known = [k for k in range(len(twists)) if k not in self.unknown]
        return np.asarray(-self._inverse(twists) @ _columns([twists[k] for k in known]))

    def bias(self, y: Array, yd: Array) -> Array:
        """Return ξ (unknown,) at rates of all joints of the ring (blajer1993 (23))."""
        twists = self.ring.twists(y)
        return np.asarray(-self._inverse(twists) @ self.ring.bias(twists, yd))

    def margin(self, y: Array) -> float:
        """Return the distance of the dyad from flat, 0 … 1: a sine, for RRR that of the largest angle."""
        return self._width(self._completed(self.ring.twists(y)))

    def _width(self, own: list[Twist]) -> float:
        if self.solved_as == "RPP":
            return abs((own[1].v.conjugate() * own[2].v).imag)
        if self.solved_as == "RRR":
            a, b, c = (twist.pivot for twist in own)
            short, middle, _ = sorted((abs(a - b), abs(b - c), abs(c - a)))
            area = abs(((b - a).conjugate() * (c - a)).imag)
            return area / (short * middle) if short else 0.0
        arm = own[1].pivot - own[0].pivot
        return abs((arm.conjugate() * own[2].v).real) / abs(arm) if arm else 0.0

    def _in_reading_order(self) -> list[int]:
        """Return the unknown joints in order, starting after the longest run of known ones."""
        order = sorted(self.unknown)
        n = len(self.ring.joints)
        gaps = [(order[k] - order[k - 1] - 1) % n for k in range(len(order))]
        first = gaps.index(max(gaps))
        return order[first:] + order[:first]

    def _blocks(self, y: Array) -> _Turned:
        """Return every unknown joint of the loop with the fixed displacement that follows it."""
        n, out = len(self.ring.joints), []
        for here, there in zip(self.unknown, self.unknown[1:] + self.unknown[:1], strict=True):
            if there > here:
                K = self.ring.product(y, here + 1, there)
            else:
                K = self.ring.product(y, here + 1, n) @ self.ring.K @ self.ring.product(y, 0, there)
            out.append((self.ring.joints[here].twist, K))
        return out

    def _completed(self, twists: list[Twist]) -> list[Twist]:
        """Return the twists of the unknown joints; an implied closure (RR) gets a slider for its misfit."""
        own = [twists[k] for k in self.unknown]
        if self.solved_as == "RR":
            arm = own[1].pivot - own[0].pivot
            own.append(Twist(0.0, arm / abs(arm) if arm else 1.0))
        return own

    def _inverse(self, twists: list[Twist]) -> Array:
        """Return the reciprocal twists (unknown, 3): the inverse of the unknown columns, by cross products."""
        own = self._completed(twists)
        a, b, c = _columns(own).T
        rows = np.array([cross(b, c), cross(c, a), cross(a, b)])
        if self._width(own) <= _FLAT:
            raise CannotClose(
                f"the joints {self._named()} lie in a line, where their rates do not follow from the others",
                remedy=newton.OTHER_COORDINATES,
            )
        return np.asarray(rows[: len(self.unknown)] / float(a @ rows[0]))

    def _named(self) -> str:
        return ", ".join(repr(name) for name in self.joints)

    def out_of_reach(self, gap: float) -> CannotClose:
        """Return the error for known joints that the dyad cannot join."""
        return CannotClose(
            f"the joints {self._named()} cannot close their loop: they stay {gap:.3g} m apart",
            remedy=newton.WITHIN_REACH,
        )


def _columns(twists: list[Twist]) -> Array:
    """Return twists as columns (3, k): ω, then the velocity at the origin in the plane."""
    columns: Array = np.array([[t.omega, t.v.real, t.v.imag] for t in twists]).reshape(-1, 3).T
    return columns


def _between_pivots(blocks: _Turned) -> list[Displacement]:
    """Return the fixed displacements from pivot to pivot; the pivot of a slider is the origin."""
    pivots = [twist.pivot for twist, _ in blocks]
    return [
        Displacement(1.0, -here) @ K @ Displacement(1.0, there)
        for here, (_, K), there in zip(pivots, blocks, pivots[1:] + pivots[:1], strict=True)
    ]


def _rrr(step: DyadStep, blocks: _Turned) -> list[float]:
    """Solve a triangle of three hinges (blajer1993 (17), (18)): angles of the ring, rad."""
    L1, L2, L3 = _between_pivots(blocks)
    w = L3.inverse().shift
    a, b, c = abs(L1.shift), abs(L2.shift), abs(w)
    if not a * b:
        raise step.out_of_reach(abs(c - a - b))
    cosine = (c * c - a * a - b * b) / (2 * a * b)
    if abs(cosine) > 1 + _REACH:
        raise step.out_of_reach(max(c - a - b, abs(a - b) - c))
    elbow = step.branch * acos(max(-1.0, min(1.0, cosine)))
    theta2 = elbow - phase(L1.turn * L2.shift) + phase(L1.shift)
    turn2 = Twist(1.0, 0j).exp(theta2).turn
    theta1 = phase(w) - phase(L1.shift + L1.turn * turn2 * L2.shift)
    return [theta1, theta2, -theta1 - theta2 - phase(L1.turn * L2.turn * L3.turn)]


def _rrp(step: DyadStep, blocks: _Turned) -> list[float]:
    """Solve two hinges and a slider: intersection of a circle and a line."""
    L1, L2, L3 = _between_pivots(blocks)
    d = blocks[2][0].v
    h = L2.inverse().shift - L3.shift
    along, across, arm = (h * d.conjugate()).real, (h * d.conjugate()).imag, abs(L1.shift)
    if abs(across) > arm * (1 + _REACH):
        raise step.out_of_reach(abs(across) - arm)
    s = along + step.branch * sqrt(max(0.0, (arm - across) * (arm + across)))
    theta1 = phase(L3.turn.conjugate() * (h - d * s)) - phase(L1.shift)
    return [theta1, -theta1 - phase(L1.turn * L2.turn * L3.turn), s]


def _rpp(step: DyadStep, blocks: _Turned) -> list[float]:
    """Solve a hinge and two sliders: intersection of two lines."""
    L1, L2, L3 = _between_pivots(blocks)
    d, e = L1.turn * blocks[1][0].v, L1.turn * L2.turn * blocks[2][0].v
    gap = -(L1.shift + L1.turn * (L2.shift + L2.turn * L3.shift))
    crossing = (d.conjugate() * e).imag
    if abs(crossing) <= _FLAT:
        raise step.out_of_reach(abs(gap))
    s2 = (gap.conjugate() * e).imag / crossing
    s3 = (d.conjugate() * gap).imag / crossing
    return [-phase(L1.turn * L2.turn * L3.turn), s2, s3]


def _rr(step: DyadStep, blocks: _Turned) -> list[float]:
    """Solve two hinges whose distance is already determined by other loops."""
    L1, L2 = _between_pivots(blocks)
    theta1 = phase(L2.inverse().shift) - phase(L1.shift)
    return [theta1, -theta1 - phase(L1.turn * L2.turn)]


_SOLVERS = {"RRR": _rrr, "RRP": _rrp, "RPP": _rpp, "RR": _rr}


def dyad(ring: Ring, unknown: list[int], y: Array) -> DyadStep | None:
    """Return the dyad of the unknown joints of a ring, on the branch of y (nq + c,); None if there is none."""
    letters = "".join(ring.joints[k].letter for k in unknown)
    for first in range(len(unknown)):
        turned = tuple(unknown[first:] + unknown[:first])
        solved_as = letters[first:] + letters[:first]
        if solved_as == "RR" and _coaxial(ring, turned, y):
            return None
        if solved_as in KINDS:
            return _on_branch(DyadStep(ring, turned, solved_as), y)
    return None


def _coaxial(ring: Ring, pair: tuple[int, ...], y: Array) -> bool:
    """Return True if two hinges are coaxial at y (nq + c,), where their relative angle is undetermined."""
    pivots = [twist.pivot for twist in ring.twists(y) if twist.omega]
    size = max(abs(a - b) for a in pivots for b in pivots)
    first, second = (ring.twists(y)[k].pivot for k in pair)
    return abs(first - second) <= max(_COAXIAL * size, _NO_ARM * max(abs(p) for p in pivots))


def _on_branch(step: DyadStep, y: Array) -> DyadStep:
    """Return the step with the branch whose solution is nearest to a pose y (nq + c,)."""
    if step.solved_as not in ("RRR", "RRP"):
        return step
    both = [DyadStep(step.ring, step.unknown, step.solved_as, branch) for branch in (1, -1)]
    at = [step.ring.joints[k].at for k in step.unknown]
    away = [float(np.abs(candidate.closed(y)[at] - y[at]).sum()) for candidate in both]
    return both[int(np.argmin(away))]
