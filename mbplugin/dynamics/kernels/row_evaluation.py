"""Rows at a state: what they do to the twists of their two composite bodies, and their terms Γ, b and Φ."""

from __future__ import annotations

from math import atan2, floor, pi, sqrt

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.dynamics.kernels.forces import point_position, point_velocity
from mbplugin.dynamics.kernels.rolling import touch_ground
from mbplugin.dynamics.kernels.rows import (
    ALL_TURNS,
    COMBINED,
    KIND_NUMBERS,
    KNIFE,
    MEASURED,
    RATE,
)
from mbplugin.dynamics.kernels.vectors import Vector, cross, dot, minus
from mbplugin.model.mechanism.pair import RowKind
from mbplugin.model.spatial import Array

CARRIED, CROSSED = KIND_NUMBERS[RowKind.CARRIED], KIND_NUMBERS[RowKind.CROSSED]
DISTANCE, SCREW = KIND_NUMBERS[RowKind.DISTANCE], KIND_NUMBERS[RowKind.SCREW]


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
    # the point moves with b, so a's part follows b's motion
    of_a = cross(w_a, minus(v_S, (a.v[0], a.v[1], a.v[2])))
    relative = minus(v_S, point_velocity(a, p_S))
    for i in range(3):
        joint_frame.p_P[i], joint_frame.p_S[i] = p_P[i], p_S[i]
        joint_frame.of_a[i], joint_frame.of_b[i] = of_a[i], of_b[i]
        joint_frame.relative[i], joint_frame.relative[3 + i] = relative[i], w_b[i] - w_a[i]


@kernel
def _pair_row(a: Records, b: Records, joint_frame: Records, row: Records) -> None:
    """Row [t; r] on the relative twist at S, its derivative, and what follows from them."""
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
    """Return linear and angular half of ``six`` (6,)."""
    return (six[0], six[1], six[2]), (six[3], six[4], six[5])


@kernel
def _enter(a: Records, b: Records, joint_frame: Records, row: Records, t: Vector, r: Vector) -> None:
    """Write a row [t; r] at S as entries on the twists at both centres of mass."""
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
    # the line runs through P as well, so the moments on a are the same about either point
    _enter(a, b, joint_frame, row, e, (0.0, 0.0, 0.0))
    row.phi = length - joint_frame.length - row.offset


@kernel
def _pair_residual(joint_frame: Records, row: Records) -> float:
    """Return what a row measures: a travel in axes of P (m), or an angle (rad)."""
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
    """Return a component of the rotation vector of R_PS (a closed pair is far from half a turn)."""
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
