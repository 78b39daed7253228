"""Kernel records of the constraint rows beyond the tree: closures, couplings, drivers, locks, Pfaffian rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from math import atan2, floor, pi, sqrt

import numpy as np

from mbplugin.dynamics.compiler import Records, kernel
from mbplugin.dynamics.kernels.composite_bodies import (
    Composites,
    Vector,
    cross,
    dot,
    minus,
    plus,
    point_position,
    point_velocity,
    turned,
)
from mbplugin.errors import BadUsage
from mbplugin.model.mechanism import (
    Constraint,
    Coupling,
    Driver,
    KnifeEdge,
    Lock,
    Mechanism,
    Rolling,
    TreeJoint,
)
from mbplugin.model.mechanism.identity import Holder, RowLabel, drive_component, lock_component
from mbplugin.model.mechanism.pair import Contact, Pair, RowKind, travel_per_radian
from mbplugin.model.spatial import COMPONENTS, AnyArray, Array, Pose

#: Kinds of rows: 0 … 5 are the components tx … rz in axes of P, then come those of RowKind.
KIND_NUMBERS = dict(zip((kind for kind in RowKind if kind is not RowKind.AXIS), count(6), strict=False))
CARRIED, CROSSED = KIND_NUMBERS[RowKind.CARRIED], KIND_NUMBERS[RowKind.CROSSED]
DISTANCE, SCREW = KIND_NUMBERS[RowKind.DISTANCE], KIND_NUMBERS[RowKind.SCREW]
RATE, COMBINED, KNIFE, NORMAL, ROLL, SIDE = (6 + len(KIND_NUMBERS) + k for k in range(6))
#: Angles that form the rotational residual of a pair, depending on the number of constrained rotations.
TILT, ALL_TURNS, MEASURED = 0, 1, 2
_V, _W, _M3 = (3,), (6,), (3, 3)
#: Both frames of a cut pair: P in composite body a, S in composite body b; the state is in world axes.
JOINT_FRAME = np.dtype(
    [
        ("a", np.int64),
        ("b", np.int64),
        ("R_aP", np.float64, _M3),
        ("p_aP", np.float64, _V),
        ("R_bS", np.float64, _M3),
        ("p_bS", np.float64, _V),
        ("pitch", np.float64),
        ("length", np.float64),
        ("P", np.float64, _M3),
        ("S", np.float64, _M3),
        ("p_P", np.float64, _V),
        ("p_S", np.float64, _V),
        ("of_a", np.float64, _V),
        ("of_b", np.float64, _V),
        ("relative", np.float64, _W),
    ],
    align=True,
)
#: A row: ``kind``; its ``joint_frame``, or the ``rate`` of the tree, or its terms ``first`` … ``first + count``;
#: ``angles`` selects the angles of its residual; ``drive`` is the prescribed motion it follows, ``offset`` the value
#: it maintains; ``unit`` makes it dimensionless. ``vectors``: point, direction, normal and point of the plane of a
#: Pfaffian row. State: ``on_a``, ``on_b`` are the coefficients on the twists of composite bodies ``a`` and ``b``;
#: ``bias``, ``gamma`` and ``phi`` are b, Γ and Φ in C v + b = 0, C v̇ = Γ, Φ = 0.
ROW = np.dtype(
    [
        ("kind", np.int64),
        ("joint_frame", np.int64),
        ("rate", np.int64),
        ("coordinate", np.int64),
        ("first", np.int64),
        ("count", np.int64),
        ("angles", np.int64),
        ("drive", np.int64),
        ("offset", np.float64),
        ("unit", np.float64),
        ("radius", np.float64),
        ("holonomic", np.bool_),
        ("a", np.int64),
        ("b", np.int64),
        ("vectors", np.float64, (4, 3)),
        ("on_a", np.float64, _W),
        ("on_b", np.float64, _W),
        ("bias", np.float64),
        ("gamma", np.float64),
        ("phi", np.float64),
    ],
    align=True,
)
#: One part of a combined row: ``coefficient`` times another row.
TERM = np.dtype([("row", np.int64), ("coefficient", np.float64)], align=True)


# Rows at a state: coefficients on the twists of their two composite bodies, and the terms Γ, b and Φ.


@kernel
def update_rows(
    composites: Records, joint_frames: Records, rows: Records, terms: Records, drive: Array, q: Array
) -> None:
    """Fill entries, bias, Γ and Φ of all rows from poses and twists; q (nq,).

    ``drive`` (d, 3) prescribes motions: position, rate and acceleration of each driven freedom.
    """
    for n in range(len(joint_frames)):
        _place_joint_frame(composites[joint_frames[n].a], composites[joint_frames[n].b], joint_frames[n])
    for i in range(len(rows) - 1, -1, -1):
        row = rows[i]
        if row.kind == COMBINED:
            _combine(rows, terms, row)
        elif row.kind == RATE:
            row.gamma = 0.0
            row.phi = q[row.coordinate] - row.offset if row.coordinate >= 0 else 0.0
        elif row.kind >= KNIFE:
            touch_ground(composites[row.b], row)
        else:
            joint_frame = joint_frames[row.joint_frame]
            _pair_row(composites[joint_frame.a], composites[joint_frame.b], joint_frame, row)
        row.bias = 0.0
        if row.drive >= 0:
            row.phi -= drive[row.drive, 0]
            row.bias = -drive[row.drive, 1]
            row.gamma += drive[row.drive, 2]
        if row.angles == MEASURED and 3 <= row.kind < RATE:
            row.phi -= 2 * pi * floor(row.phi / (2 * pi) + 0.5)


@kernel
def _place_joint_frame(a: Records, b: Records, joint_frame: Records) -> None:
    for i in range(3):
        for j in range(3):
            joint_frame.P[i, j] = (
                a.R[i, 0] * joint_frame.R_aP[0, j]
                + a.R[i, 1] * joint_frame.R_aP[1, j]
                + a.R[i, 2] * joint_frame.R_aP[2, j]
            )
            joint_frame.S[i, j] = (
                b.R[i, 0] * joint_frame.R_bS[0, j]
                + b.R[i, 1] * joint_frame.R_bS[1, j]
                + b.R[i, 2] * joint_frame.R_bS[2, j]
            )
    p_P, p_S = point_position(a, joint_frame.p_aP), point_position(b, joint_frame.p_bS)
    w_a, w_b = (a.v[3], a.v[4], a.v[5]), (b.v[3], b.v[4], b.v[5])
    v_S = point_velocity(b, p_S)
    of_b = cross(w_b, cross(w_b, minus(p_S, (b.c[0], b.c[1], b.c[2]))))
    # the reference point S moves with b, which also enters the part of a
    of_a = cross(w_a, minus(v_S, (a.v[0], a.v[1], a.v[2])))
    relative = minus(v_S, point_velocity(a, p_S))
    for i in range(3):
        joint_frame.p_P[i], joint_frame.p_S[i] = p_P[i], p_S[i]
        joint_frame.of_a[i], joint_frame.of_b[i] = of_a[i], of_b[i]
        joint_frame.relative[i], joint_frame.relative[3 + i] = relative[i], w_b[i] - w_a[i]


@kernel
def _pair_row(a: Records, b: Records, joint_frame: Records, row: Records) -> None:
    """Fill a row from its coefficients [t; r] on the relative twist at S and their time derivative."""
    if row.kind == DISTANCE:
        _distance_row(a, b, joint_frame, row)
        return
    w_a, w_b = (a.v[3], a.v[4], a.v[5]), (b.v[3], b.v[4], b.v[5])
    zero = (0.0, 0.0, 0.0)
    t, r, t_dot, r_dot = zero, zero, zero, zero
    if row.kind == CROSSED:
        x, y = (
            (joint_frame.P[0, 0], joint_frame.P[1, 0], joint_frame.P[2, 0]),
            (joint_frame.S[0, 1], joint_frame.S[1, 1], joint_frame.S[2, 1]),
        )
        r = cross(x, y)
        from_a, from_b = cross(cross(w_a, x), y), cross(x, cross(w_b, y))
        r_dot = (from_a[0] + from_b[0], from_a[1] + from_b[1], from_a[2] + from_b[2])
    elif row.kind == CARRIED:
        r = (joint_frame.S[0, 1], joint_frame.S[1, 1], joint_frame.S[2, 1])
        r_dot = cross(w_b, r)
    elif row.kind == SCREW:
        t = (joint_frame.P[0, 2], joint_frame.P[1, 2], joint_frame.P[2, 2])
        t_dot = cross(w_a, t)
        r = (-joint_frame.pitch * t[0], -joint_frame.pitch * t[1], -joint_frame.pitch * t[2])
        r_dot = (-joint_frame.pitch * t_dot[0], -joint_frame.pitch * t_dot[1], -joint_frame.pitch * t_dot[2])
    else:
        axis = row.kind % 3
        e = (joint_frame.P[0, axis], joint_frame.P[1, axis], joint_frame.P[2, axis])
        e_dot = cross(w_a, e)
        if row.kind < 3:
            t, t_dot = e, e_dot
        else:
            r, r_dot = e, e_dot
    rel, turn = _halves(joint_frame.relative)
    of = (
        joint_frame.of_b[0] - joint_frame.of_a[0],
        joint_frame.of_b[1] - joint_frame.of_a[1],
        joint_frame.of_b[2] - joint_frame.of_a[2],
    )
    row.gamma = -dot(t, of) - dot(t_dot, rel) - dot(r_dot, turn)
    _enter(a, b, joint_frame, row, t, r)
    row.phi = _pair_residual(joint_frame, row) - row.offset


@kernel
def _halves(six: Array) -> tuple[Vector, Vector]:
    """Return the linear and angular halves of ``six`` (6,)."""
    return (six[0], six[1], six[2]), (six[3], six[4], six[5])


@kernel
def _enter(a: Records, b: Records, joint_frame: Records, row: Records, t: Vector, r: Vector) -> None:
    """Write a row [t; r] at S as coefficients on the twists at both centres of mass."""
    p_S = (joint_frame.p_S[0], joint_frame.p_S[1], joint_frame.p_S[2])
    m_a = cross(minus(p_S, (a.c[0], a.c[1], a.c[2])), t)
    m_b = cross(minus(p_S, (b.c[0], b.c[1], b.c[2])), t)
    for i in range(3):
        row.on_a[i], row.on_a[3 + i] = -t[i], -r[i] - m_a[i]
        row.on_b[i], row.on_b[3 + i] = t[i], r[i] + m_b[i]


@kernel
def _distance_row(a: Records, b: Records, joint_frame: Records, row: Records) -> None:
    p_P, p_S = (
        (joint_frame.p_P[0], joint_frame.p_P[1], joint_frame.p_P[2]),
        (joint_frame.p_S[0], joint_frame.p_S[1], joint_frame.p_S[2]),
    )
    line = minus(p_S, p_P)
    length = sqrt(dot(line, line))
    scale = 1.0 / length if length > 0.0 else 0.0
    e = (line[0] * scale, line[1] * scale, line[2] * scale) if length > 0.0 else (0.0, 0.0, 1.0)
    v = minus(point_velocity(b, p_S), point_velocity(a, p_P))
    along = dot(e, v)
    w_a = (a.v[3], a.v[4], a.v[5])
    of_a = cross(w_a, cross(w_a, minus(p_P, (a.c[0], a.c[1], a.c[2]))))
    of = minus((joint_frame.of_b[0], joint_frame.of_b[1], joint_frame.of_b[2]), of_a)
    row.gamma = -dot(e, of) - (dot(v, v) - along * along) * scale
    # the line passes through P and S, so the moments on a are the same for either point
    _enter(a, b, joint_frame, row, e, (0.0, 0.0, 0.0))
    row.phi = length - joint_frame.length - row.offset


@kernel
def _pair_residual(joint_frame: Records, row: Records) -> float:
    """Return the residual of a row: a displacement in axes of P (m), or an angle (rad)."""
    kind = row.kind
    if kind < 3 or kind == SCREW:
        axis = 2 if kind == SCREW else kind
        travel = 0.0
        for i in range(3):
            travel += joint_frame.P[i, axis] * (joint_frame.p_S[i] - joint_frame.p_P[i])
        if kind < 3:
            return float(travel)
        angle = atan2(_element(joint_frame, 1, 0), _element(joint_frame, 0, 0))
        turns = (
            floor((travel / joint_frame.pitch - angle) / (2 * pi) + 0.5) if joint_frame.pitch != 0.0 else 0.0
        )
        return float(travel - joint_frame.pitch * (angle + 2 * pi * turns))
    if kind == CROSSED:
        return float(-_element(joint_frame, 0, 1))
    if kind == CARRIED:
        return float(atan2(_element(joint_frame, 0, 2), _element(joint_frame, 0, 0)))
    if row.angles == ALL_TURNS:
        return _turn_component(joint_frame, kind - 3)
    if row.angles == MEASURED:
        axis = kind - 3
        j, k = (axis + 1) % 3, (axis + 2) % 3
        return float(atan2(_element(joint_frame, k, j), _element(joint_frame, j, j)))
    x, y, z = _element(joint_frame, 0, 2), _element(joint_frame, 1, 2), _element(joint_frame, 2, 2)
    sine = sqrt(x * x + y * y)
    ratio = atan2(sine, z) / sine if sine > 1e-12 else 1.0
    if sine <= 1e-12 and z < 0:
        return pi if kind == 3 else 0.0
    return float(-ratio * y if kind == 3 else ratio * x)


@kernel
def _element(joint_frame: Records, i: int, j: int) -> float:
    """Return an element of R_PS."""
    return float(
        joint_frame.P[0, i] * joint_frame.S[0, j]
        + joint_frame.P[1, i] * joint_frame.S[1, j]
        + joint_frame.P[2, i] * joint_frame.S[2, j]
    )


@kernel
def _turn_component(joint_frame: Records, axis: int) -> float:
    """Return a component of the rotation vector of R_PS (valid for a closed pair, far from half a turn)."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    half = 0.5 * (_element(joint_frame, k, j) - _element(joint_frame, j, k))
    trace = _element(joint_frame, 0, 0) + _element(joint_frame, 1, 1) + _element(joint_frame, 2, 2)
    cosine = 0.5 * (trace - 1.0)
    x = 0.5 * (_element(joint_frame, 2, 1) - _element(joint_frame, 1, 2))
    y = 0.5 * (_element(joint_frame, 0, 2) - _element(joint_frame, 2, 0))
    z = 0.5 * (_element(joint_frame, 1, 0) - _element(joint_frame, 0, 1))
    sine = sqrt(x * x + y * y + z * z)
    return float(half * (atan2(sine, cosine) / sine if sine > 1e-12 else 1.0))


@kernel
def _combine(rows: Records, terms: Records, row: Records) -> None:
    row.gamma, row.phi = 0.0, -row.offset
    for n in range(row.first, row.first + row.count):
        part = rows[terms[n].row]
        row.gamma += terms[n].coefficient * part.gamma
        row.phi += terms[n].coefficient * part.phi


# Rows of a knife edge or a rolling wheel at a state (wojtyra2013 (30), (31)).


@kernel
def touch_ground(body: Records, row: Records) -> None:
    """Fill coefficients, Γ and Φ of a row between a composite body and the ground."""
    if row.kind == KNIFE:
        _knife_edge(body, row)
    else:
        _rolling(body, row)


@kernel
def _knife_edge(body: Records, row: Records) -> None:
    w = (body.v[3], body.v[4], body.v[5])
    e = turned(body, row.vectors[1])
    p = point_position(body, row.vectors[0])
    arm = minus(p, (body.c[0], body.c[1], body.c[2]))
    row.gamma = -dot(cross(w, e), point_velocity(body, p)) - dot(e, cross(w, cross(w, arm)))
    row.phi = 0.0
    _rolling_enter(row, e, arm)


@kernel
def _rolling(body: Records, row: Records) -> None:
    """Fill a row at the lowest point of a wheel's circle, which moves along the rim as the wheel rolls."""
    w = (body.v[3], body.v[4], body.v[5])
    n = (row.vectors[2, 0], row.vectors[2, 1], row.vectors[2, 2])
    axis = turned(body, row.vectors[1])
    axis_dot = cross(w, axis)
    center = point_position(body, row.vectors[0])
    along, along_dot = dot(n, axis), dot(n, axis_dot)
    fall = (along * axis[0] - n[0], along * axis[1] - n[1], along * axis[2] - n[2])
    fall_dot = (
        along_dot * axis[0] + along * axis_dot[0],
        along_dot * axis[1] + along * axis_dot[1],
        along_dot * axis[2] + along * axis_dot[2],
    )
    down, down_dot = _unit(fall, fall_dot)
    roll, roll_dot = _unit(cross(axis, n), cross(axis_dot, n))
    r = row.radius
    contact = plus(center, (r * down[0], r * down[1], r * down[2]))
    rho_dot = (r * down_dot[0], r * down_dot[1], r * down_dot[2])
    e, e_dot = cross(n, roll), cross(n, roll_dot)
    if row.kind == NORMAL:
        e, e_dot = n, (0.0, 0.0, 0.0)
    elif row.kind == ROLL:
        e, e_dot = roll, roll_dot
    bias = cross(w, plus(cross(w, minus(center, (body.c[0], body.c[1], body.c[2]))), rho_dot))
    row.gamma = -dot(e_dot, point_velocity(body, contact)) - dot(e, bias)
    plane = (row.vectors[3, 0], row.vectors[3, 1], row.vectors[3, 2])
    row.phi = dot(n, minus(contact, plane)) if row.kind == NORMAL else 0.0
    _rolling_enter(row, e, minus(contact, (body.c[0], body.c[1], body.c[2])))


@kernel
def _unit(a: Vector, a_dot: Vector) -> tuple[Vector, Vector]:
    """Return the unit vector of a, and its derivative."""
    s = 1.0 / sqrt(dot(a, a))
    u = (a[0] * s, a[1] * s, a[2] * s)
    along = dot(u, a_dot)
    return u, (s * (a_dot[0] - u[0] * along), s * (a_dot[1] - u[1] * along), s * (a_dot[2] - u[2] * along))


@kernel
def _rolling_enter(row: Records, e: Vector, arm: Vector) -> None:
    moment = cross(arm, e)
    for i in range(3):
        row.on_a[i], row.on_a[3 + i] = 0.0, 0.0
        row.on_b[i], row.on_b[3 + i] = e[i], moment[i]


# Held rates of a tree (locked, driven or stuck), which do not reduce the articulated inertia.


@kernel
def hold_rates(rates: Records, rows: Records, independent_rows: AnyArray) -> bool:
    """Mark the rates of ``independent_rows`` (r,) as held if all rows are of single rates; return True if so.

    Such rows of a tree are always independent, unless two are of the same rate.
    """
    if len(independent_rows) == 0:
        return False
    for i in range(len(rows)):
        if rows[i].kind != RATE:
            return False
    for j in range(len(rates)):
        rates[j].held = False
    for i in range(len(independent_rows)):
        joint_rate = rates[rows[independent_rows[i]].rate]
        if joint_rate.held:
            return False
        joint_rate.held = True
    return True


@kernel
def any_held(rates: Records) -> bool:
    """Return True if any rate is held."""
    # Numba cannot compile a generator in any()
    for j in range(len(rates)):  # noqa: SIM110
        if rates[j].held:
            return True
    return False


@dataclass(frozen=True, eq=False)
class RowTable:
    """Rows of all constraints that close the tree, followed by the parts of combined rows.

    Parameters
    ----------
    labels : tuple of (constraint, component)
        Labels of the rows; the parts have none.
    persistent : int
        Number of permanent rows; the labelled rows after them are active only at times.
    rows, joint_frames, terms : record arrays
    driven : tuple of (driver, freedom)
        Driver and freedom of each ``drive``.
    """

    labels: tuple[RowLabel, ...]
    persistent: int
    rows: AnyArray
    joint_frames: AnyArray
    terms: AnyArray
    driven: tuple[tuple[Driver, str], ...]


class _Builder:
    """Collects records; the parts of combined rows follow the labelled rows."""

    def __init__(self, mech: Mechanism, composites: Composites, joints: Mapping[str, TreeJoint]) -> None:
        self.mech, self.composites, self.joints = mech, composites, joints
        self.rows: list[AnyArray] = []
        self.labels: list[RowLabel] = []
        self.parts: list[AnyArray] = []
        self.terms: list[tuple[int, float]] = []
        self.joint_frames: list[AnyArray] = []
        self.driven: list[tuple[Driver, str]] = []
        self._joint_frame_of: dict[str, int] = {}

    def joint_frame(self, pair: Pair) -> int:
        """Return the index of a pair's frames, which are added if new."""
        if pair.name not in self._joint_frame_of:
            record = np.zeros((), dtype=JOINT_FRAME)
            record["a"], P = self.composites.frame(self.mech, pair.body_a, pair.X_AP)
            record["b"], S = self.composites.frame(self.mech, pair.body_b, pair.X_BS)
            record["R_aP"], record["p_aP"] = P.R, P.p
            record["R_bS"], record["p_bS"] = S.R, S.p
            record["pitch"], record["length"] = travel_per_radian(pair), pair.length
            self._joint_frame_of[pair.name] = len(self.joint_frames)
            self.joint_frames.append(record)
        return self._joint_frame_of[pair.name]

    def row(self, kind: int, **values: object) -> AnyArray:
        """Return a new row record, for the rows (m,) of the table, not yet added to them."""
        record = np.zeros((), dtype=ROW)
        record["kind"], record["drive"], record["joint_frame"] = kind, -1, -1
        record["unit"], record["holonomic"] = 1.0, True
        for name, value in values.items():
            record[name] = value
        if record["joint_frame"] >= 0:
            record["a"], record["b"] = (
                self.joint_frames[record["joint_frame"]]["a"],
                self.joint_frames[record["joint_frame"]]["b"],
            )
        return record

    def place(self, constraint: str, component: str, record: AnyArray) -> None:
        """Append a record to the labelled rows.

        Parameters
        ----------
        constraint, component : str
        record : () record of an (m,) record array
        """
        self.rows.append(record)
        self.labels.append(RowLabel(constraint, component))

    def freedom(self, pair: Pair, freedom: str) -> AnyArray:
        """Return a new row record, for the rows (m,) of the table, that measures the rate of a freedom."""
        joint = self.joints.get(pair.name)
        if joint is not None:
            rate = joint.qd.start + pair.kind.free.index(freedom)
            name = self.mech.qd_names[rate]
            coordinate = self.mech.q_names.index(name) if name in self.mech.q_names else -1
            return self.row(RATE, rate=rate, coordinate=coordinate)
        return self.row(_kind(pair, freedom), joint_frame=self.joint_frame(pair), angles=MEASURED)


def row_table(
    mech: Mechanism,
    composites: Composites,
    columns: tuple[int, ...] = (0, 1, 2, 3, 4, 5),
    locks: Sequence[Lock] = (),
    resisted: Sequence[tuple[Pair, str]] = (),
    *,
    every_pair: bool = False,
) -> RowTable:
    """Return the permanent rows of a mechanism, followed by those of locks and of resisted freedoms.

    If ``columns`` omits twist components, free roots get rows that keep them in the plane. With ``every_pair`` the
    tree pairs have rows as well, and no row is on a rate of the tree.
    """
    joints = {} if every_pair else mech.tree.joint_of_pair
    build = _Builder(mech, composites, joints)
    for constraint in mech.constraints():
        if constraint.name not in joints:
            _add(build, constraint)
    roots = [joint.qd.start for joint in mech.tree.joints if joint.pair is None]
    for name, rate in [(mech.qd_names[s + i], s + i) for s in roots for i in range(6) if i not in columns]:
        build.place("plane", name, build.row(RATE, rate=rate, coordinate=-1))
    persistent = len(build.rows)
    for lock in locks:
        _add(build, lock)
    for pair, freedom in resisted:
        build.place(str(Holder("friction", pair.name)), freedom, build.freedom(pair, freedom))
    everything = [*build.rows, *build.parts]
    terms = [(len(build.rows) + part, coefficient) for part, coefficient in build.terms]
    return RowTable(
        tuple(build.labels),
        persistent,
        np.array(everything, dtype=ROW) if everything else np.zeros(0, dtype=ROW),
        np.array(build.joint_frames, dtype=JOINT_FRAME)
        if build.joint_frames
        else np.zeros(0, dtype=JOINT_FRAME),
        np.array(terms, dtype=TERM),
        tuple(build.driven),
    )


def _add(build: _Builder, constraint: Constraint) -> None:
    match constraint:
        case Pair():
            _add_pair(build, constraint)
        case Coupling():
            _add_coupling(build, constraint)
        case Driver():
            pair = build.mech.pair_by_name[constraint.joint]
            for freedom in constraint.freedoms or pair.kind.free:
                record = build.freedom(pair, freedom)
                record["drive"] = len(build.driven)
                build.driven.append((constraint, freedom))
                build.place(constraint.name, drive_component(freedom), record)
        case Lock():
            pair = build.mech.pair_by_name[constraint.joint]
            for freedom in constraint.freedoms or pair.kind.free:
                build.place(constraint.name, lock_component(freedom), build.freedom(pair, freedom))
        case KnifeEdge() | Rolling():
            _add_pfaffian(build, constraint)
        case Contact():
            raise BadUsage(
                f"contact {constraint.name!r} holds at one instant, not along a motion",
                expected="a mechanism without contacts",
            )


def _add_pair(build: _Builder, pair: Pair) -> None:
    joint_frame = build.joint_frame(pair)
    turns = sum(c[0] == "r" for c in pair.kind.constrained)
    for component in pair.kind.constrained:
        angles = ALL_TURNS if turns == 3 else TILT
        record = build.row(_kind(pair, component), joint_frame=joint_frame, angles=angles)
        build.place(pair.name, component, record)


def _kind(pair: Pair, component: str) -> int:
    """Return the kernels' row kind for a component of a pair."""
    kind = pair.kind.row_kind(component)
    return COMPONENTS.index(component) if kind is RowKind.AXIS else KIND_NUMBERS[kind]


def _add_coupling(build: _Builder, coupling: Coupling) -> None:
    record = build.row(COMBINED, first=len(build.terms), count=len(coupling.terms), offset=coupling.offset)
    for term in coupling.terms:
        pair = build.mech.pair_by_name[term.joint]
        build.terms.append((len(build.parts), term.coefficient))
        build.parts.append(build.freedom(pair, term.freedom))
    build.place(coupling.name, "c", record)


def _add_pfaffian(build: _Builder, pfaffian: KnifeEdge | Rolling) -> None:
    composite, X = build.composites.frame(build.mech, pfaffian.body, Pose.identity())
    if isinstance(pfaffian, KnifeEdge):
        direction = X.R @ (pfaffian.direction / np.linalg.norm(pfaffian.direction))
        vectors = [X.apply(pfaffian.point), direction, np.zeros(3), np.zeros(3)]
        record = build.row(KNIFE, b=composite, vectors=np.array(vectors), holonomic=False)
        build.place(pfaffian.name, "side", record)
        return
    axis = X.R @ (pfaffian.axis / np.linalg.norm(pfaffian.axis))
    normal = pfaffian.plane_normal / np.linalg.norm(pfaffian.plane_normal)
    vectors = [X.apply(pfaffian.center), axis, normal, pfaffian.plane_point]
    for component in (*pfaffian.holonomic, *pfaffian.nonholonomic):
        record = build.row(
            {"normal": NORMAL, "roll": ROLL, "side": SIDE}[component],
            b=composite,
            vectors=np.array(vectors),
            radius=pfaffian.radius,
            holonomic=component in pfaffian.holonomic,
        )
        build.place(pfaffian.name, component, record)


def row_units(table: RowTable, length: float) -> Array:
    """Return factors (m,) that make the labelled rows dimensionless with a characteristic length, m."""
    units = np.ones(len(table.labels))
    for k, (_, component) in enumerate(table.labels):
        if component[0] in "td" or component in ("normal", "roll", "side"):
            units[k] = 1.0 / length
    return units
