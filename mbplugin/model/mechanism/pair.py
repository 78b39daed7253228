"""Kinematic pairs and contact points: the relative motions that they allow between two bodies, and their frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from enum import Enum
from functools import cached_property, lru_cache
from math import cos, inf, pi, sin
from typing import Literal

import numpy as np

from mbplugin.choices import LARGEST
from mbplugin.errors import BadNumber, BadUsage, BrokenModel, UnknownName, answers_wrong_calls, suggestion
from mbplugin.model import spatial
from mbplugin.phrases import dataclass, one_line_repr

#: Translations of the pair types whose rotation is a quaternion.
_TRAVELS = {
    "floating": ("tx", "ty", "tz"),
    "point-on-line": ("tz",),
    "point-on-plane": ("tx", "ty"),
    "spherical": (),
}
#: Directions are parallel if their cosine differs from one by less.
_PARALLEL = 1e-9
#: Interpolation between points that state values only.
Between = Literal["spline", "rest"]
MOST_POINTS = 10_000
#: Largest error of a piece at its end, relative to its motion; and rounding, relative to the largest value.
_MISSED, _ROUNDING = 1e-6, 1e-12


# Joint coordinates of a pair: X_PS(q), its motion subspace, and q from a relative pose.
#
# A coordinate is an angle (rad) or a translation (m), for a single freedom about or along z. Spherical motions have a
# quaternion (xyzw) of R_PS, and their rates are ω_PS in axes of P.


def _turn(axis: int, angle: float) -> spatial.Array:
    """Return the rotation matrix (3, 3) about an axis (0 to 2) by an angle, rad."""
    c, s = cos(angle), sin(angle)
    if axis == 2:
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    if axis == 1:
        return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def has_quaternion(pair_type: str) -> bool:
    """Return True if the rotation of a pair is described by a quaternion, not by angles."""
    return pair_type in _TRAVELS


def zero_coordinates(pair_type: str, free: tuple[str, ...]) -> spatial.Array:
    """Return the joint coordinates (c,) at which the joint frames coincide."""
    if pair_type in _TRAVELS:
        return np.array([0.0] * len(_TRAVELS[pair_type]) + [0.0, 0.0, 0.0, 1.0])
    return np.zeros(len(free))


def travel_per_radian(pair: Pair) -> float:
    """Return the pitch of a screw in m/rad, zero for every other pair."""
    return pair.lead / (2 * pi) if pair.type == "screw" else 0.0


def transform(pair_type: str, free: tuple[str, ...], pitch: float, q: spatial.Array) -> spatial.Pose:
    """Return X_PS at joint coordinates q (c,)."""
    p = np.zeros(3)
    if pair_type in _TRAVELS:
        travels = _TRAVELS[pair_type]
        for component, value in zip(travels, q[:-4], strict=True):
            p[spatial.axis_of(component)] = value
        return spatial.Pose(spatial.rotation_from_quaternion(q[-4:]), p)
    R = None
    for component, value in zip(free, q.tolist(), strict=True):
        axis = spatial.axis_of(component)
        if spatial.is_turn(component):
            turn = _turn(axis, value)
            R = turn if R is None else R @ turn
        else:
            p[axis] += value
    if pitch:
        p[2] += pitch * q[0]
    return spatial.Pose(np.eye(3) if R is None else R, p)


def pair_transform(pair: Pair, q: spatial.Array) -> spatial.Pose:
    """Return X_PS of a pair at its coordinates q (c,)."""
    return transform(pair.type, pair.kind.free, travel_per_radian(pair), q)


def motion_subspace(pair: Pair, R_WP: spatial.Array, R_WS: spatial.Array) -> spatial.Array:
    """Return the twists (6, f) of S relative to P per unit rate, in world axes at the origin of S.

    ``R_WP`` (3, 3) and ``R_WS`` (3, 3) are the orientations of the joint frames.
    """
    free = pair.kind.free
    S = np.zeros((6, len(free)))
    for column, component in enumerate(free):
        axis = spatial.axis_of(component)
        e = (R_WS if pair.kind.row_kind(component) is RowKind.CARRIED else R_WP)[:, axis]
        S[spatial.half_of(component), column] = e
    if pitch := travel_per_radian(pair):
        S[:3, 0] = pitch * R_WP[:, 2]
    return S


def measure(pair: Pair, X_PS: spatial.Pose) -> spatial.Array:
    """Return the joint coordinates (c,) that best describe a relative pose (exact if the pair allows it)."""
    R, p, kind = X_PS.R, X_PS.p, pair.type
    if kind in _TRAVELS:
        travels = [p[spatial.axis_of(c)] for c in _TRAVELS[kind]]
        return np.array([*travels, *spatial.quaternion_from_rotation(R)])
    values = []
    for component in pair.kind.free:
        axis = spatial.axis_of(component)
        if not spatial.is_turn(component):
            values.append(p[axis])
        elif kind == "universal":
            values.append(np.arctan2(R[2, 1], R[1, 1]) if component == "rx" else np.arctan2(R[0, 2], R[0, 0]))
        else:
            j, k = (axis + 1) % 3, (axis + 2) % 3
            values.append(np.arctan2(R[k, j], R[j, j]))
    if pitch := travel_per_radian(pair):
        # the translation gives the number of whole turns of the screw
        values[0] += 2 * pi * round((p[2] / pitch - values[0]) / (2 * pi))
    return np.array(values)


def advance(pair_type: str, q: spatial.Array, step: spatial.Array) -> spatial.Array:
    """Return the coordinates q (c,) after a ``step`` (f,) in the rates (rotations by the exponential map)."""
    if pair_type not in _TRAVELS:
        return np.asarray(q + step)
    R = spatial.rotation_from_vector(step[-3:]) @ spatial.rotation_from_quaternion(q[-4:])
    return np.concatenate((q[:-4] + step[:-3], spatial.quaternion_from_rotation(R)))


class RowKind(Enum):
    """The quantity that a component of a pair measures; all constraint rows are built from it."""

    #: A translation along or a rotation about an axis of the predecessor's joint frame.
    AXIS = "axis"
    #: A rotation about an axis fixed in the successor.
    CARRIED = "carried"
    #: The angle between the predecessor's x and the successor's y, about their cross product.
    CROSSED = "crossed"
    #: The translation of a screw minus that due to its rotation.
    SCREW = "screw"
    #: The distance of two points.
    DISTANCE = "distance"


@dataclass(frozen=True)
class PairType:
    """A type of pair: its constrained and its free components (wojtyra2013 §2.1).

    Parameters
    ----------
    name : str
        The name used in files and reports.
    constrained : tuple of str
        Labels of its rows, in the predecessor frame.
    free : tuple of str
        Labels of its freedoms, in the order of its joint rates.
    kinds : mapping of str to RowKind
        Kinds of the components that are not along or about an axis of the predecessor frame.
    size : "lead", "length" or ""
        The size that a pair of this type has, an attribute of :class:`Pair`, m.
    """

    name: str
    constrained: tuple[str, ...]
    free: tuple[str, ...]
    kinds: Mapping[str, RowKind] = field(default_factory=dict, hash=False)
    size: Literal["lead", "length", ""] = ""

    @property
    def has_coordinates(self) -> bool:
        """True if constrained and free components add up to six, so that the spanning tree can contain the pair."""
        return len(self.constrained) + len(self.free) == len(spatial.COMPONENTS)

    def row_kind(self, component: str) -> RowKind:
        """Return the row kind of a component."""
        return self.kinds.get(component, RowKind.AXIS)

    def separation(self, X_PS: spatial.Pose) -> float:
        """Return the measure of a relative pose that the length of a pair prescribes, m: the distance from P to S."""
        return float(np.linalg.norm(X_PS.p))


def _without(*free: str) -> tuple[str, ...]:
    return tuple(component for component in spatial.COMPONENTS if component not in free)


#: All pair types by name. z is the joint axis; a universal joint turns first about the
#: predecessor's x, then about the successor's y; its row ``rz`` is along their cross product.
PAIR_TYPES: dict[str, PairType] = {
    kind.name: kind
    for kind in (
        PairType("fixed", spatial.COMPONENTS, ()),
        PairType("revolute", _without("rz"), ("rz",)),
        PairType("continuous", _without("rz"), ("rz",)),
        PairType("prismatic", _without("tz"), ("tz",)),
        PairType("screw", _without("rz"), ("rz",), {"tz": RowKind.SCREW}, "lead"),
        PairType("cylindrical", _without("tz", "rz"), ("tz", "rz")),
        PairType(
            "universal",
            _without("rx", "ry"),
            ("rx", "ry"),
            {"ry": RowKind.CARRIED, "rz": RowKind.CROSSED},
        ),
        PairType("spherical", ("tx", "ty", "tz"), ("rx", "ry", "rz")),
        PairType("planar", ("tz", "rx", "ry"), ("tx", "ty", "rz")),
        PairType("point-on-line", ("tx", "ty"), ("tz", "rx", "ry", "rz")),
        PairType("point-on-plane", ("tz",), ("tx", "ty", "rx", "ry", "rz")),
        PairType("distance", ("d",), (), {"d": RowKind.DISTANCE}, "length"),
        PairType("floating", (), spatial.COMPONENTS),
    )
}


@answers_wrong_calls
@one_line_repr
@dataclass(frozen=True)
class Freedom:
    """Limits, damping and friction of one freedom of a pair as a file states them, in rad or m, N·m or N, and s.

    Parameters
    ----------
    lower, upper : float
        Limits of the coordinate, rad or m.
    effort : float
        Limit of the drive, N·m or N.
    velocity, acceleration, deceleration, jerk : float
        Limits of the driven motion: rad/s, rad/s² and rad/s³, or m/s and so on; infinite if the file states none.
    damping, friction : float
        Viscous damping, N·m·s/rad or N·s/m, and dry friction, N·m or N.
    load_friction : float
        Dry friction per newton of the force that the joint transmits: μ of a prismatic joint, μ times the radius (m)
        of a revolute one.
    guide_length : float
        Prismatic with ``load_friction``: length of the bush along the axis, m. Its centre is the origin of S;
        the forces at its two ends carry the moments across the axis too, and
        friction grows with both. 0 leaves moments out.
    """

    lower: float = -inf
    upper: float = inf
    effort: float = inf
    velocity: float = inf
    damping: float = 0.0
    friction: float = 0.0
    acceleration: float = inf
    deceleration: float = inf
    jerk: float = inf
    load_friction: float = 0.0
    guide_length: float = 0.0


@answers_wrong_calls
@one_line_repr
@dataclass(frozen=True, eq=False)
class Pair:
    """A kinematic pair between a predecessor body a and a successor body b.

    Parameters
    ----------
    name : str
        Unique among all constraints.
    type : str
        A key of ``PAIR_TYPES``.
    body_a, body_b : str
        Predecessor (may be ``world``) and successor.
    X_AP : Pose
        Joint frame P in the link frame of body a; its z axis is the joint axis.
    X_BS : Pose
        Joint frame S in the link frame of body b; P and S coincide at zero joint coordinates.
    closure : bool
        Whether the file states that the pair closes a loop.
    lead : float
        Screw only: travel along +z per turn, m.
    length : float
        Distance only: the distance between the origins of P and S, m.
    freedoms : tuple of Freedom
        Limits, friction and damping, one per free component.
    """

    name: str
    type: str
    body_a: str
    body_b: str
    X_AP: spatial.Pose
    X_BS: spatial.Pose
    closure: bool = False
    lead: float = 0.0
    length: float = 0.0
    freedoms: tuple[Freedom, ...] = ()

    def __post_init__(self) -> None:
        if self.type not in PAIR_TYPES:
            raise UnknownName(
                f"there is no pair type {self.type!r}",
                where=f"pair {self.name!r}",
                remedy=suggestion(self.type, list(PAIR_TYPES)),
            )
        if not self.freedoms:
            object.__setattr__(self, "freedoms", tuple(Freedom() for _ in self.kind.free))

    @cached_property
    def X_SB(self) -> spatial.Pose:
        """Link frame of body b in joint frame S."""
        return self.X_BS.inverse()

    @property
    def bodies(self) -> tuple[str, str]:
        """Predecessor and successor."""
        return self.body_a, self.body_b

    @property
    def kind(self) -> PairType:
        """The pair's type."""
        return PAIR_TYPES[self.type]

    def retyped(self, type: str, axis: spatial.Array | None = None) -> Pair:
        """Return the pair with another type; freedoms whose direction remains keep their limits.

        Parameters
        ----------
        type : str
            The new type.
        axis : (3,) array, optional
            In axes of P: the new joint axis, or for a universal joint its second axis (the first is the old
            joint axis; the second is x of P by default).
        """
        if type == "universal":
            # x along the old z, y along the axis, made perpendicular
            second = np.array([1.0, 0.0, 0.0]) if axis is None else axis
            x = np.array([0.0, 0.0, 1.0])
            y = spatial.unit(second - (second @ x) * x)
            turn = np.column_stack((x, y, spatial.cross(x, y)))
        else:
            turn = np.eye(3) if axis is None else spatial.align_z(axis)
        freedoms = tuple(self._along(c[0], turn[:, "xyz".index(c[1])]) for c in PAIR_TYPES[type].free)
        X_new = spatial.Pose(turn, np.zeros(3))
        return replace(self, type=type, freedoms=freedoms, X_AP=self.X_AP @ X_new, X_BS=self.X_BS @ X_new)

    def _along(self, kind: str, direction: spatial.Array) -> Freedom:
        """Return the freedom of a kind (t, r) along a direction (3,) in axes of P, or else one without limits."""
        for name, freedom in zip(self.kind.free, self.freedoms, strict=True):
            cosine = direction["xyz".index(name[1])] if name[0] == kind else 0.0
            if cosine > 1 - _PARALLEL:
                return freedom
            if cosine < _PARALLEL - 1:
                return replace(freedom, lower=-freedom.upper, upper=-freedom.lower)
        return Freedom()


# Prescribed motions of a driver over time: piecewise polynomials through points.


@answers_wrong_calls
@one_line_repr
@dataclass(frozen=True)
class MotionProfile:
    """A motion as piecewise polynomials in time; calling it returns value, rate and acceleration.

    Parameters
    ----------
    segments : tuple of (start, coefficients)
        Polynomials Σ cₖ (t − start)ᵏ of degree 5 at most, in order of their starts (s), the first one at 0; rad or m.
        Value and rate are continuous from one to the next.
    """

    segments: tuple[tuple[float, tuple[float, ...]], ...]

    def __call__(self, time: float) -> tuple[float, float, float]:
        """Return value, rate and acceleration at a time (s), in rad or m, per s and per s²."""
        start, coefficients = next(one for one in reversed(self.segments) if one[0] <= time or one[0] == 0.0)
        value = rate = acceleration = 0.0
        for c in reversed(coefficients):
            acceleration = acceleration * (time - start) + 2.0 * rate
            rate = rate * (time - start) + value
            value = value * (time - start) + c
        return value, rate, acceleration

    @property
    def breaks(self) -> tuple[float, ...]:
        """Times at which one polynomial follows another, s."""
        return tuple(start for start, _ in self.segments[1:])

    @classmethod
    def from_points(
        cls, points: Sequence[Sequence[float]] | spatial.Array, between: Between = "spline"
    ) -> MotionProfile:
        """Return the motion through points (n, 2 to 4).

        Parameters
        ----------
        points : (n, 2), (n, 3) or (n, 4) array
            Time (s), value (rad or m), and optionally rate and acceleration. With rates the pieces are cubic, with
            accelerations quintic.
        between : "spline" or "rest"
            If only values are given: a cubic spline that starts and ends at rest, or quintic pieces at rest at
            every point.

        Raises
        ------
        BadUsage, BadNumber
            There are too few or too many points, times that are negative or do not increase, numbers that are not
            finite, points too close in time, rates with ``"rest"``, or a start after time 0 with a rate.
        """
        table = _checked(points)
        time, columns = table[:, 0], table[:, 1:]
        if between == "rest" and columns.shape[1] > 1:
            raise BadUsage("points with rates do not rest at every point", expected="time and value alone")
        pieces = _pieces(time, columns, between)
        segments = [(float(t), tuple(c)) for t, c in zip(time[:-1], pieces, strict=True)]
        first, last = cls((segments[0],))(float(time[0])), cls((segments[-1],))(float(time[-1]))
        if time[0] > 0.0:
            if first[1] != 0.0:
                raise BadUsage(
                    f"the motion begins at {time[0]:g} s with the rate {first[1]:g}",
                    expected="time 0, or a rate of 0 there",
                )
            segments.insert(0, (0.0, (first[0],)))
        moving = abs(last[1]) > 1e-9 * float(np.abs(columns).max(initial=1.0))
        segments.append((float(time[-1]), last[:2] if moving else (last[0],)))
        return cls(tuple(segments))


def _checked(points: Sequence[Sequence[float]] | spatial.Array) -> spatial.Array:
    """Check the points of a motion and return them as an array (n, 2 to 4)."""
    try:
        table = np.array(points, dtype=float)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 2 or table.shape[1] not in (2, 3, 4) or not 2 <= len(table) <= MOST_POINTS:
        raise BadUsage(
            "the points of a motion are not a table",
            expected=f"2 to {MOST_POINTS} rows of time, value and, in all rows or in none, rate and acceleration",
        )
    if not (np.abs(table) <= LARGEST).all():
        raise BadNumber("the points of a motion are not all finite", expected="numbers in s, rad or m")
    if table[0, 0] < 0.0 or not (np.diff(table[:, 0]) > 0.0).all():
        k = 0 if table[0, 0] < 0.0 else int(np.flatnonzero(np.diff(table[:, 0]) <= 0.0)[0]) + 1
        raise BadUsage(
            f"the time of point {k + 1} of a motion is {table[k, 0]:g} s",
            expected="times that increase from 0 s on",
        )
    return table


def _pieces(time: spatial.Array, columns: spatial.Array, between: Between) -> spatial.Array:
    """Return the coefficients (m, k) of the polynomials between times, constant terms first, m = n − 1.

    Parameters
    ----------
    time : (n,) array
        s.
    columns : (n, c) array
        Values, and rates and accelerations if stated, rad or m, per s and per s².

    Raises
    ------
    BadNumber
        A piece has coefficients that are not finite or misses its end, because its points are too close in time.
    """
    # imported here, because only such drivers need scipy
    from scipy.interpolate import BPoly, CubicSpline, PPoly

    # powers of a very short step underflow; quotients that are then not finite are refused below
    with np.errstate(all="ignore"):
        _refuse_close(time, ~np.isfinite(np.diff(columns[:, 0]) / np.diff(time)))
        if columns.shape[1] == 1 and between == "spline":
            coefficients = CubicSpline(time, columns[:, 0], bc_type="clamped").c
        else:
            ends = np.pad(columns, ((0, 0), (0, 2))) if columns.shape[1] == 1 else columns
            coefficients = PPoly.from_bernstein_basis(BPoly.from_derivatives(time, ends)).c
        # a piece must reach the next point: with a very short step, rounding can be as large as the whole motion
        terms = coefficients[::-1] * np.diff(time) ** np.arange(len(coefficients))[:, None]
        rates = sum(
            (np.abs(columns[:-1, k]) + np.abs(columns[1:, k])) * np.diff(time) ** k
            for k in range(1, columns.shape[1])
        )
        bound = _MISSED * (np.ptp(columns[:, 0]) + rates) + _ROUNDING * np.abs(columns[:, 0]).max()
        missed = ~(np.abs(terms.sum(axis=0) - columns[1:, 0]) <= bound)
    _refuse_close(time, missed | ~np.isfinite(coefficients).all(axis=0))
    return np.asarray(coefficients[::-1].T)


def _refuse_close(time: spatial.Array, bad: spatial.AnyArray) -> None:
    """Refuse points at ``time`` (n,), s, if ``bad`` (m,) marks a piece between two of them, m = n − 1."""
    for k in np.flatnonzero(bad).tolist():
        raise BadNumber(
            f"points {k + 1} and {k + 2} of a motion are {time[k + 1] - time[k]:g} s apart",
            expected="times far enough apart for the motion between them to be a number",
        )


#: Maximum number of contacts of one analysis.
MOST_CONTACTS = 2000
#: Largest friction coefficient; larger values are mistakes.
LARGEST_FRICTION = 100.0
#: Largest deviation of the length of a normal from one; files round to three digits.
_UNIT = 1e-3
#: Sine of the angle between gravity and normal below which the plane is level.
_LEVEL = 1e-9
#: Sides of the regular polygon that stands for the circle of friction, which it exceeds by up to 2 %.
SIDES = 16
#: Components of the force at a contact: along the normal, and along two tangents.
NORMAL, TANGENTS = "cn", ("ct1", "ct2")


@answers_wrong_calls
@one_line_repr
@dataclass(frozen=True, eq=False)
class Contact:
    """A contact point that holds at an instant: row ``cn`` can only push, ``ct1`` and ``ct2`` are dry friction.

    Parameters
    ----------
    name : str
        Unique among all constraints.
    body : str
        The body that is pushed.
    point : (3,) array
        Contact point in the link frame of ``body``, m.
    normal : (3,) array
        Unit vector in world axes, into ``body``.
    mu : float
        Coefficient of friction; 0 leaves only the row ``cn``.
    on : str
        The body that pushes, by default the ground.
    slip : (3,) array, optional
        Direction in which ``body`` slips on the other one, a unit vector in world axes: then the friction is
        ``mu`` times the normal force, against it, and ``cn`` is the only row.

    Raises
    ------
    BadUsage, BadNumber
        A body touches itself, the ground is pushed, or a number is impossible.
    """

    name: str
    body: str
    point: spatial.Array
    normal: spatial.Array
    mu: float
    on: str = "world"
    slip: spatial.Array | None = None

    type = "contact"

    def __post_init__(self) -> None:
        what = f"contact {self.name!r}" if self.name else f"the contact of {self.body!r}"
        if self.body == "world":
            raise BadUsage(
                f"{what} pushes the ground", expected="a body that moves, with the ground as body_b"
            )
        if self.body == self.on:
            raise BadUsage(f"{what} is between {self.body!r} and itself", expected="two bodies")
        point, normal = (np.array(value, dtype=float) for value in (self.point, self.normal))
        if point.shape != (3,) or not (np.abs(point) <= LARGEST).all():
            raise BadNumber(f"the point of {what} is {self.point!r}", expected="three finite numbers, m")
        length = float(np.linalg.norm(normal)) if normal.shape == (3,) else np.nan
        if not abs(length - 1.0) <= _UNIT:
            raise BadNumber(
                f"the normal of {what} has the length {length:g}", expected="a unit vector in world axes"
            )
        if not 0 <= self.mu <= LARGEST_FRICTION:
            raise BadNumber(
                f"the friction coefficient of {what} is {self.mu!r}",
                expected=f"a number from 0 to {LARGEST_FRICTION:g}",
            )
        for name, value in (("point", point), ("normal", normal / length)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def components(self) -> tuple[str, ...]:
        """Labels of the rows."""
        return (NORMAL, *TANGENTS) if self.mu > 0 and self.slip is None else (NORMAL,)

    @property
    def pushes(self) -> spatial.Array:
        """Direction (3,) of the force per unit of ``cn``, world axes: the normal, less friction if it slips."""
        return self.normal if self.slip is None else self.normal - self.mu * self.slip

    def axes(self, gravity: spatial.Array) -> spatial.Array:
        """Return the directions (3, 3) of ``cn``, ``ct1`` and ``ct2`` in the world, by row.

        ``ct1`` points downhill on an inclined plane, along the world's x axis (or y) on a level one.

        Parameters
        ----------
        gravity : (3,) array
            m/s², world axes.
        """
        return np.array(_axes(self.normal.tobytes(), np.asarray(gravity, dtype=float).tobytes()))


# most contacts of a scene have one normal
@lru_cache(maxsize=64)
def _axes(normal: bytes, gravity: bytes) -> spatial.Array:
    """Return the directions (3, 3) of the rows of a contact by row."""
    n, g = np.frombuffer(normal), np.frombuffer(gravity)
    downhill = g - (g @ n) * n
    if np.linalg.norm(downhill) <= _LEVEL * np.linalg.norm(g):
        axis = np.eye(3)[1 if abs(n[0]) > 0.9 else 0]
        downhill = axis - (axis @ n) * n
    t1 = downhill / np.linalg.norm(downhill)
    return np.array([n, t1, spatial.cross(n, t1)])


def require_few(contacts: tuple[Contact, ...]) -> None:
    """Raise if there are more contacts than the largest permitted number.

    Raises
    ------
    BrokenModel
    """
    if len(contacts) > MOST_CONTACTS:
        raise BrokenModel(
            f"there are {len(contacts)} contacts",
            expected=f"{MOST_CONTACTS} at most",
            remedy="keep the corners of each face only",
        )
