"""Kernels for accelerations and multipliers in absolute coordinates, and the records they work on."""

from __future__ import annotations

from math import nan, sqrt
from typing import NamedTuple

import numpy as np

from mbplugin.dynamics.compiler import Records, kernel
from mbplugin.dynamics.kernels.articulated import turn_inertia
from mbplugin.dynamics.kernels.composite_bodies import gather
from mbplugin.dynamics.kernels.rows import COMBINED, update_rows
from mbplugin.dynamics.kernels.solve import SINGULAR, resist
from mbplugin.model.spatial import AnyArray, Array

#: A row that keeps this share of its length is orthogonal after one pass, up to rounding divided by this share.
_MUCH_LEFT = 0.1


# Accelerations and multipliers in absolute coordinates, from the poses and twists of the tree.


@kernel
def absolute_accelerations(
    a: AbsoluteState,
    composites: Records,
    rates: Records,
    resistances: Records,
    drive: Array,
    q: Array,
    qd: Array,
    power: Array,
) -> bool:
    """Fill ``v_dot``, the multipliers, and ``qdd`` of the tree's rates; return True if every body has mass.

    ``qdd`` is NaN if a body has no mass or the state is not finite.
    The composite bodies of the tree must be placed at q (nq,) and qd (nv,). ``drive`` (d, 3) prescribes motions;
    the power of dampers and friction, of applied forces, and of drivers is added to ``power`` (3,), W.
    """
    place_bodies(composites, a.bodies)
    update_rows(a.bodies, a.joint_frames, a.rows, a.terms, drive, q)
    if not factor_masses(a, rates):
        for j in range(len(rates)):
            rates[j].qdd = nan
        return False
    _apply_forces(a, rates, resistances, q, qd, power)
    _fill_forces(a, rates)
    solve_lower(a.M, a.first, a.v_dot, 0)
    fill_rows(a)
    _constrain(a)
    solve_upper(a.M, a.first, a.v_dot)
    for k in range(len(a.candidates)):
        # the power of Cᵀλ is vᵀCᵀλ = −bᵀλ
        power[2] -= a.multipliers[k] * a.rows[a.candidates[k]].bias
    _read_back(a, rates)
    return True


@kernel
def _apply_forces(
    a: AbsoluteState,
    rates: Records,
    resistances: Records,
    q: Array,
    qd: Array,
    power: Array,
) -> None:
    """Fill ``f`` of all bodies with minus the wrenches on them; arrays as for :func:`absolute_accelerations`."""
    gather(a.bodies, rates, a.loads, a.springs, q, qd, power)
    for n in range(len(resistances)):
        a.resistances[n] = resistances[n]
        a.resistances[n].row = a.resisted[0] + n
    resist(a.bodies, rates, a.rows, a.terms, a.resistances, qd, power)
    for j in range(len(rates)):
        rates[j].tau += a.applied[j]
        power[1] += a.applied[j] * qd[j]
        row = a.rows[a.measured[j]]
        for i in range(6):
            a.bodies[row.a].f[i] -= rates[j].tau * row.on_a[i]
            a.bodies[row.b].f[i] -= rates[j].tau * row.on_b[i]


@kernel
def _fill_forces(a: AbsoluteState, rates: Records) -> None:
    """Fill ``v_dot`` with the generalised forces, including bias forces of the drives' inertia."""
    w = len(a.columns)
    for j in range(len(rates)):
        if rates[j].armature != 0.0:
            row = a.rows[a.measured[j]]
            for i in range(6):
                a.bodies[row.a].f[i] -= rates[j].armature * row.gamma * row.on_a[i]
                a.bodies[row.b].f[i] -= rates[j].armature * row.gamma * row.on_b[i]
    for k in range(1, len(a.bodies)):
        for i in range(w):
            a.v_dot[(k - 1) * w + i] = -a.bodies[k].f[a.columns[i]]


@kernel
def _constrain(a: AbsoluteState) -> None:
    """Add the effect of independent rows to ``v_dot``, which holds Lᵀ v̇ here; fill the multipliers."""
    m, n, r = len(a.candidates), len(a.v_dot), len(a.R)
    y = np.empty(m)
    for k in range(m):
        row, along = a.rows[a.candidates[k]], 0.0
        for j in range(n):
            along += a.G[k, j] * a.v_dot[j]
        y[k] = row.unit * row.gamma - along
        a.multipliers[k] = 0.0
    choose_independent(a.G, a.R, a.order)
    for k in range(r):
        i = a.order[k]
        for s in range(k):
            y[i] -= a.R[s, i] * y[a.order[s]]
        y[i] = y[i] / a.R[k, i] if a.R[k, i] > 0.0 else 0.0
        for j in range(n):
            a.v_dot[j] += y[i] * a.G[i, j]
    for k in range(r - 1, -1, -1):
        i = a.order[k]
        total = y[i]
        for s in range(k + 1, r):
            total -= a.R[k, a.order[s]] * a.multipliers[a.order[s]]
        a.multipliers[i] = total / a.R[k, i] if a.R[k, i] > 0.0 else 0.0
    for k in range(m):
        a.multipliers[k] *= a.rows[a.candidates[k]].unit


@kernel
def _read_back(a: AbsoluteState, rates: Records) -> None:
    """Fill the accelerations of the bodies, and from these the accelerations of the tree's rates."""
    w = len(a.columns)
    for k in range(1, len(a.bodies)):
        a.bodies[k].a[:] = 0.0
        for i in range(w):
            a.bodies[k].a[a.columns[i]] = a.v_dot[(k - 1) * w + i]
    for j in range(len(rates)):
        row = a.rows[a.measured[j]]
        total = -row.gamma
        for i in range(6):
            total += row.on_a[i] * a.bodies[row.a].a[i] + row.on_b[i] * a.bodies[row.b].a[i]
        rates[j].qdd = total


# Independent rows in absolute coordinates: as many as the rank, chosen at every pose.


@kernel
def fill_rows(a: AbsoluteState) -> None:
    """Fill G (m, n) with L⁻¹ times the scaled candidates."""
    for k in range(len(a.candidates)):
        row, G = a.rows[a.candidates[k]], a.G[k]
        G[:] = 0.0
        if row.kind == COMBINED:
            for t in range(row.first, row.first + row.count):
                _add_row(a, a.rows[a.terms[t].row], row.unit * a.terms[t].coefficient, G)
        else:
            _add_row(a, row, row.unit, G)
        start = 0
        while start < len(G) and G[start] == 0.0:
            start += 1
        solve_lower(a.M, a.first, G, start)


@kernel
def _add_row(a: AbsoluteState, row: Records, size: float, out: Array) -> None:
    """Add ``size`` times a row that is not combined to out (n,)."""
    w = len(a.columns)
    for i in range(w):
        if row.a:
            out[(row.a - 1) * w + i] += size * row.on_a[a.columns[i]]
        if row.b:
            out[(row.b - 1) * w + i] += size * row.on_b[a.columns[i]]


@kernel
def choose_independent(G: Array, R: Array, order: AnyArray) -> None:
    """Choose r independent rows of G (m, n), longest first; put them first in ``order`` (m,) and orthonormalise them.

    R (r, m) is filled with the components of every row along them. At a singular pose, a row that depends on those
    before gets zero there.
    """
    m, n = G.shape
    size, largest = np.empty(m), 0.0
    for i in range(m):
        order[i], size[i] = i, sqrt(_product(G[i], G[i]))
    whole = size.copy()
    for k in range(len(R)):
        best = k
        for s in range(k + 1, m):
            if size[order[s]] > size[order[best]]:
                best = s
        order[k], order[best] = order[best], order[k]
        i = order[k]
        if size[i] < _MUCH_LEFT * whole[i]:
            for s in range(k):
                R[s, i] += _take_out(G[order[s]], G[i])
        own = sqrt(_product(G[i], G[i]))
        largest = max(largest, own)
        R[k, i] = own if own > SINGULAR * largest else 0.0
        scale = 1.0 / own if own > SINGULAR * largest else 0.0
        for j in range(n):
            G[i, j] *= scale
        for s in range(k + 1, m):
            j = order[s]
            R[k, j] = _take_out(G[i], G[j])
            size[j] = sqrt(_product(G[j], G[j]))


@kernel
def _take_out(unit: Array, x: Array) -> float:
    """Make x (n,) orthogonal to a unit vector ``unit`` (n,); return its component along that vector."""
    along = _product(unit, x)
    if along != 0.0:
        for j in range(len(x)):
            x[j] -= along * unit[j]
    return along


@kernel
def _product(x: Array, y: Array) -> float:
    """Return x · y, x (n,) and y (n,), with four independent accumulators for instruction-level parallelism."""
    n, a, b, c, d, j = len(x), 0.0, 0.0, 0.0, 0.0, 0
    while j + 4 <= n:
        a += x[j] * y[j]
        b += x[j + 1] * y[j + 1]
        c += x[j + 2] * y[j + 2]
        d += x[j + 3] * y[j + 3]
        j += 4
    while j < n:
        a += x[j] * y[j]
        j += 1
    return (a + b) + (c + d)


# Factored mass matrix of all bodies: diagonal blocks, and coupling of neighbours by the inertia of drives.


@kernel
def factor_masses(a: AbsoluteState, rates: Records) -> bool:
    """Fill M with the Cholesky factor of the mass matrix, including drives; return True if every body has mass."""
    w = len(a.columns)
    for row in range(len(a.M)):
        for column in range(a.first[row], row + 1):
            a.M[row, column] = 0.0
    for k in range(1, len(a.bodies)):
        body, base = a.bodies[k], (k - 1) * w
        turn_inertia(body)
        for i in range(w):
            for j in range(i + 1):
                row, column = a.columns[i], a.columns[j]
                if row >= 3 and column >= 3:
                    a.M[base + i, base + j] = body.J[row - 3, column - 3]
                elif row == column:
                    a.M[base + i, base + j] = body.mass
    for j in range(len(rates)):
        if rates[j].armature != 0.0:
            _add_drive(a, a.rows[a.measured[j]], rates[j].armature)
    return _factor(a.M, a.first)


@kernel
def _add_drive(a: AbsoluteState, row: Records, armature: float) -> None:
    """Add the inertia ``armature`` (kg·m² or kg) of a drive whose rate is measured by a row."""
    _add_product(a, row.b, row.on_b, row.b, row.on_b, armature)
    _add_product(a, row.a, row.on_a, row.a, row.on_a, armature)
    if row.a > row.b:
        _add_product(a, row.a, row.on_a, row.b, row.on_b, armature)
    else:
        _add_product(a, row.b, row.on_b, row.a, row.on_a, armature)


@kernel
def _add_product(a: AbsoluteState, k: int, x: Array, m: int, y: Array, size: float) -> None:
    """Add ``size`` times x yᵀ, x (6,) and y (6,), to the block of bodies k and m ≤ k; the ground has none."""
    if m == 0:
        return
    w = len(a.columns)
    for i in range(w):
        for j in range(i + 1 if k == m else w):
            a.M[(k - 1) * w + i, (m - 1) * w + j] += size * x[a.columns[i]] * y[a.columns[j]]


@kernel
def _factor(M: Array, first: AnyArray) -> bool:
    """Replace M (n, n), whose rows start at ``first`` (n,), by its Cholesky factor; return True if M is definite."""
    for i in range(len(M)):
        for j in range(first[i], i + 1):
            total = M[i, j]
            for k in range(max(first[i], first[j]), j):
                total -= M[i, k] * M[j, k]
            if j < i:
                M[i, j] = total / M[j, j]
            elif total > 0.0:
                M[i, i] = sqrt(total)
            else:
                return False
    return True


@kernel
def solve_lower(L: Array, first: AnyArray, x: Array, start: int) -> None:
    """Solve L y = x in place, L (n, n) whose rows start at ``first`` (n,), and x (n,), zero before ``start``."""
    for i in range(start, len(x)):
        total = x[i]
        for k in range(max(first[i], start), i):
            total -= L[i, k] * x[k]
        x[i] = total / L[i, i]


@kernel
def solve_upper(L: Array, first: AnyArray, x: Array) -> None:
    """Solve Lᵀ y = x in place, L (n, n) whose rows start at ``first`` (n,), and x (n,)."""
    for i in range(len(x) - 1, -1, -1):
        x[i] /= L[i, i]
        for k in range(first[i], i):
            x[k] -= L[i, k] * x[i]


class AbsoluteState(NamedTuple):
    """Bodies and rows of a mechanism in absolute coordinates, and workspace for the equations.

    The coordinates are the twists of the bodies at their centres of mass, payloads included, in world axes: in a
    plane w = 3 components of each, else 6; n of all bodies.

    Parameters
    ----------
    bodies : record array
        The ground and all bodies as composite bodies; ``parent`` is the composite body of the tree that a body
        belongs to, ``R_in, p_in`` its frame relative to that one.
    joint_frames, rows, terms, loads, springs, resistances : record arrays
        As in the tree, but for all pairs; rows that measure freedoms follow those of constraints.
    columns : (w,) array of int
        Components of a twist that count.
    measured : (nv,) array of int
        The row that measures each rate of the tree.
    resisted : (1,) array of int
        The row of the first resistance.
    candidates : (m,) array of int
        Active rows, of which independent ones are chosen.
    order : (m,) array of int
        Indices among ``candidates``; the first r, the rows of :attr:`R`, are the independent ones.
    applied : (nv,) array
        Forces on the rates of the tree in addition to those of the records, N·m and N.
    first : (n,) array of int
        First nonzero column of each row of M.
    M : (n, n) array
        Lower triangle of the mass matrix, then its Cholesky factor L.
    v_dot : (n,) array
        The accelerations.
    G : (m, n) array
        L⁻¹ times the scaled candidates; then orthonormal, in the order of their choice.
    R : (r, m) array
        Components of the candidates along the chosen rows.
    multipliers : (m,) array
        λ of the candidates, N and N·m; zero for those not chosen.
    """

    bodies: Records
    joint_frames: Records
    rows: Records
    terms: Records
    loads: Records
    springs: Records
    resistances: Records
    columns: AnyArray
    measured: AnyArray
    resisted: AnyArray
    candidates: AnyArray
    order: AnyArray
    applied: Array
    first: AnyArray
    M: Array
    v_dot: Array
    G: Array
    R: Array
    multipliers: Array


@kernel
def place_bodies(composites: Records, bodies: Records) -> None:
    """Fill frame, centre of mass and twist of all bodies from the composite bodies of the tree."""
    for k in range(1, len(bodies)):
        body = bodies[k]
        on = composites[body.parent]
        for i in range(3):
            a, b, c = on.R[i, 0], on.R[i, 1], on.R[i, 2]
            for j in range(3):
                body.R[i, j] = a * body.R_in[0, j] + b * body.R_in[1, j] + c * body.R_in[2, j]
            body.p[i] = on.p[i] + a * body.p_in[0] + b * body.p_in[1] + c * body.p_in[2]
            a, b, c = body.R[i, 0], body.R[i, 1], body.R[i, 2]
            body.c[i] = body.p[i] + a * body.com[0] + b * body.com[1] + c * body.com[2]
        x, y, z = body.c[0] - on.c[0], body.c[1] - on.c[1], body.c[2] - on.c[2]
        wx, wy, wz = on.v[3], on.v[4], on.v[5]
        body.v[0] = on.v[0] + wy * z - wz * y
        body.v[1] = on.v[1] + wz * x - wx * z
        body.v[2] = on.v[2] + wx * y - wy * x
        body.v[3], body.v[4], body.v[5] = wx, wy, wz
