"""Constrained accelerations and velocity jumps, by orthonormalising the rows' innovations, G = Rᵀ Q.

J M⁻¹ Jᵀ = G Gᵀ is never formed: its condition number is the square of that of G, which would cost accuracy near a
singular pose.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt

import numpy as np

from mbplugin.dynamics.compiler import Records, kernel
from mbplugin.dynamics.kernels.articulated import (
    force_innovations,
    outward,
    project_wrench,
    wrench_innovations,
)
from mbplugin.dynamics.kernels.rows import COMBINED, RATE
from mbplugin.model.brake_law import PARTS, BrakeLaw, depends_on_rate, rate_force
from mbplugin.model.spatial import AnyArray, Array

#: A resistance along a row, with the parts of its law. ``sense`` is the sign of the rate while it slides, else
#: zero. ``stuck`` is the constant force, N·m or N, of a resistance that sticks and depends on active rows, so
#: that its own row has no multiplier.
RESISTANCE = np.dtype(
    [
        ("row", np.int64),
        *((part, np.float64) for part in PARTS),
        ("sense", np.float64),
        ("stuck", np.float64),
    ],
    align=True,
)
_rate_force, _depends_on_rate = kernel(rate_force), kernel(depends_on_rate)
#: A row counts as dependent in the kernels when its independent part, relative to the largest row, is below this:
#: only at a singular pose, since permanently redundant rows have been left out before.
SINGULAR = 1e-10
#: A row that keeps this share of its length is orthogonal after one pass, up to rounding divided by this share.
_MUCH_LEFT = 0.1


# Resistances on the rate of a row: a damper in a cut pair, dry friction, a brake.


def resistance_records(first_row: int, laws: Sequence[BrakeLaw]) -> AnyArray:
    """Return resistances (n,) with n laws on consecutive rows from ``first_row``."""
    out = np.zeros(len(laws), dtype=RESISTANCE)
    for n, law in enumerate(laws):
        out[n]["row"] = first_row + n
        store_law(out[n], law)
    return out


def law_of(resistance: Records) -> BrakeLaw:
    """Return the law of a resistance."""
    return BrakeLaw(*(float(resistance[part]) for part in PARTS))


def store_law(resistance: Records, law: BrakeLaw) -> None:
    """Set the law of a resistance."""
    for part in PARTS:
        resistance[part] = getattr(law, part)


def store_laws(resistances: AnyArray, laws: Sequence[BrakeLaw], places: Sequence[int]) -> None:
    """Set the laws of the resistances (n,) at the indices ``places``."""
    for part in PARTS:
        resistances[part][places] = [getattr(law, part) for law in laws]


def add_law(resistance: Records, law: BrakeLaw) -> None:
    """Add a law to that of a resistance."""
    store_law(resistance, law_of(resistance) + law)


def sliding_forces(resistances: AnyArray, rates: Array) -> Array:
    """Return the sliding forces of resistances (n,) along their rows at rates (n,), N·m or N."""
    laws = resistances.view(np.recarray)
    return np.asarray(-resistances["sense"] * resistances["sliding"] - rate_force(laws, rates))


@kernel
def resist(
    composites: Records,
    rates: Records,
    rows: Records,
    terms: Records,
    resistances: Records,
    qd: Array,
    power: Array,
) -> None:
    """Add resistance forces at ``qd`` (nv,) to ``f`` and ``tau``, and their power to ``power[0]`` of power (3,), W."""
    for n in range(len(resistances)):
        resistance = resistances[n]
        if resistance.sense == 0.0 and resistance.stuck == 0.0 and not _depends_on_rate(resistance):
            continue
        row = rows[resistance.row]
        rate = qd[row.rate] if row.kind == RATE else row_rate(composites, rows, terms, resistance.row, qd)
        force = -_rate_force(resistance, rate) - resistance.sense * resistance.sliding + resistance.stuck
        power[0] += force * rate
        if row.kind == RATE:
            rates[row.rate].tau += force
            continue
        a, b = composites[row.a], composites[row.b]
        for i in range(6):
            a.f[i] -= force * row.on_a[i]
            b.f[i] -= force * row.on_b[i]


@kernel
def add_innovations(
    composites: Records, rates: Records, rows: Records, terms: Records, i: int, size: float, G: Array
) -> None:
    """Add ``size`` times the innovations of row i to G (nv,)."""
    row = rows[i]
    if row.kind == COMBINED:
        for n in range(row.first, row.first + row.count):
            _add_part(composites, rates, rows[terms[n].row], size * terms[n].coefficient, G)
    else:
        _add_part(composites, rates, row, size, G)


@kernel
def _add_part(composites: Records, rates: Records, row: Records, size: float, G: Array) -> None:
    """Add ``size`` times the innovations of a row (not a combined one) to G (nv,)."""
    if row.kind == RATE:
        force_innovations(composites, rates, row.rate, size, G)
        return
    a, b = row.on_a, row.on_b
    on_a = (size * a[0], size * a[1], size * a[2], size * a[3], size * a[4], size * a[5])
    on_b = (size * b[0], size * b[1], size * b[2], size * b[3], size * b[4], size * b[5])
    wrench_innovations(composites, rates, row.a, on_a, G)
    wrench_innovations(composites, rates, row.b, on_b, G)


@kernel
def row_in_rates(
    composites: Records, rates: Records, rows: Records, terms: Records, i: int, size: float, out: Array
) -> None:
    """Add ``size`` times row i, expressed in joint rates, to ``out`` (nv,)."""
    row = rows[i]
    if row.kind == COMBINED:
        for n in range(row.first, row.first + row.count):
            _part_in_rates(composites, rates, rows[terms[n].row], size * terms[n].coefficient, out)
    else:
        _part_in_rates(composites, rates, row, size, out)


@kernel
def _part_in_rates(composites: Records, rates: Records, row: Records, size: float, out: Array) -> None:
    """Add ``size`` times a row (not a combined one), expressed in joint rates, to out (nv,)."""
    if row.kind == RATE:
        out[row.rate] += size
        return
    project_wrench(composites, rates, row.a, size * row.on_a, out)
    project_wrench(composites, rates, row.b, size * row.on_b, out)


@kernel
def row_rate(composites: Records, rows: Records, terms: Records, i: int, qd: Array) -> float:
    """Return row i times the velocities qd (nv,)."""
    row, total = rows[i], 0.0
    if row.kind == COMBINED:
        for n in range(row.first, row.first + row.count):
            total += terms[n].coefficient * _part_rate(composites, rows[terms[n].row], qd)
        return total
    return _part_rate(composites, row, qd)


@kernel
def _part_rate(composites: Records, row: Records, qd: Array) -> float:
    """Return a row (not a combined one) times the velocities qd (nv,)."""
    if row.kind == RATE:
        return float(qd[row.rate])
    a, b, total = composites[row.a], composites[row.b], 0.0
    for i in range(6):
        total += row.on_a[i] * a.v[i] + row.on_b[i] * b.v[i]
    return total


@kernel
def row_acceleration(composites: Records, rates: Records, rows: Records, terms: Records, i: int) -> float:
    """Return row i times the accelerations."""
    row, total = rows[i], 0.0
    if row.kind == COMBINED:
        for n in range(row.first, row.first + row.count):
            total += terms[n].coefficient * _part_acceleration(composites, rates, rows[terms[n].row])
        return total
    return _part_acceleration(composites, rates, row)


@kernel
def _part_acceleration(composites: Records, rates: Records, row: Records) -> float:
    if row.kind == RATE:
        return float(rates[row.rate].qdd)
    a, b, total = composites[row.a], composites[row.b], 0.0
    for i in range(6):
        total += row.on_a[i] * a.a[i] + row.on_b[i] * b.a[i]
    return total


@kernel
def decompose(
    composites: Records,
    rates: Records,
    rows: Records,
    terms: Records,
    independent_rows: AnyArray,
    Q: Array,
    R: Array,
) -> float:
    """Fill Q (r, nv) with orthonormal rows and R (r, r) with G = Rᵀ Q of ``independent_rows`` (r,).

    Returns
    -------
    float
        The smallest independent part of a row, relative to the largest row; a row whose independent part is below
        ``SINGULAR``, relative to the largest row so far, is left out.
    """
    r, nv, least, largest = len(independent_rows), Q.shape[1], inf, 0.0
    for i in range(r):
        for j in range(nv):
            Q[i, j] = 0.0
        add_innovations(
            composites, rates, rows, terms, independent_rows[i], rows[independent_rows[i]].unit, Q[i]
        )
        size = sqrt(_product(Q, i, i))
        for k in range(i + 1):
            R[k, i] = 0.0
        own = _take_out(Q, R, i)
        # orthogonalise a second time if much was removed; twice is enough
        if own < _MUCH_LEFT * size:
            own = _take_out(Q, R, i)
        # any row, even the first, can become dependent or vanish
        largest, least = max(largest, size), min(least, own)
        share = own / largest if largest > 0.0 else 0.0
        R[i, i] = own if share > SINGULAR else 0.0
        scale = 1.0 / own if share > SINGULAR else 0.0
        for j in range(nv):
            Q[i, j] *= scale
    if r == 0:
        return 1.0
    return least / largest if largest > 0.0 else 0.0


@kernel
def _take_out(Q: Array, R: Array, i: int) -> float:
    """Make row i of Q (r, nv) orthogonal to those before, adding to column i of R (r, r); return its new length."""
    for k in range(i):
        along = _product(Q, k, i)
        R[k, i] += along
        for j in range(Q.shape[1]):
            Q[i, j] -= along * Q[k, j]
    return sqrt(_product(Q, i, i))


@kernel
def _product(Q: Array, i: int, k: int) -> float:
    """Return the product of rows i and k of Q (r, nv), with four independent accumulators."""
    nv, a, b, c, d, j = Q.shape[1], 0.0, 0.0, 0.0, 0.0, 0
    while j + 4 <= nv:
        a += Q[i, j] * Q[k, j]
        b += Q[i, j + 1] * Q[k, j + 1]
        c += Q[i, j + 2] * Q[k, j + 2]
        d += Q[i, j + 3] * Q[k, j + 3]
        j += 4
    while j < nv:
        a += Q[i, j] * Q[k, j]
        j += 1
    return (a + b) + (c + d)


@kernel
def forward_substitute(R: Array, rhs: Array) -> None:
    """Solve Rᵀ y = rhs in place, R (r, r) and rhs (r,); dropped rows give zero."""
    for i in range(len(rhs)):
        for k in range(i):
            rhs[i] -= R[k, i] * rhs[k]
        rhs[i] = rhs[i] / R[i, i] if R[i, i] > 0.0 else 0.0


@kernel
def back_substitute(R: Array, y: Array, out: Array) -> None:
    """Solve R x = y into ``out`` (r,), which may be y (r,); R (r, r); dropped rows give zero."""
    for i in range(len(y) - 1, -1, -1):
        total = y[i]
        for k in range(i + 1, len(y)):
            total -= R[i, k] * out[k]
        out[i] = total / R[i, i] if R[i, i] > 0.0 else 0.0


@kernel
def constrain(
    composites: Records,
    rates: Records,
    rows: Records,
    terms: Records,
    independent_rows: AnyArray,
    Q: Array,
    R: Array,
    multipliers: Array,
) -> None:
    """Correct the free accelerations to satisfy the chosen rows; fill their multipliers (r,), N·m and N.

    ``independent_rows`` (r,), ``Q`` (r, nv) and ``R`` (r, r) as in :func:`decompose`.
    """
    y, r = multipliers, len(independent_rows)
    for i in range(r):
        row = rows[independent_rows[i]]
        y[i] = row.unit * (row.gamma - row_acceleration(composites, rates, rows, terms, independent_rows[i]))
    forward_substitute(R, y)
    _add_orthonormal(rates, Q, y)
    outward(composites, rates, True)
    back_substitute(R, y, multipliers)
    for i in range(r):
        multipliers[i] *= rows[independent_rows[i]].unit


@kernel
def _add_orthonormal(rates: Records, Q: Array, y: Array) -> None:
    """Add Qᵀ y to the innovations, Q (r, nv) and y (r,)."""
    for j in range(len(rates)):
        total = 0.0
        for i in range(len(y)):
            total += Q[i, j] * y[i]
        rates[j].u += total * rates[j].root


@kernel
def impulsive_rates(
    composites: Records, rates: Records, Q: Array, R: Array, y: Array, impulses: Array
) -> None:
    """Fill ``qdd`` of the rates with M⁻¹Jᵀ(J M⁻¹Jᵀ)⁻¹ y, y (r,) scaled as the rows; overwrites ``y``.

    With y = −(J q̇ + b) this is the velocity jump that satisfies the rows (mueller2026 (22), (24));
    ``impulses`` (r,) are those of the scaled rows; ``Q`` (r, nv) and ``R`` (r, r) as in :func:`decompose`.
    """
    forward_substitute(R, y)
    back_substitute(R, y, impulses)
    for j in range(len(rates)):
        rates[j].u = 0.0
    _add_orthonormal(rates, Q, y)
    outward(composites, rates, False)
