"""The mass matrix of all bodies, factored: blocks, and the inertia of drives between neighbours."""

from __future__ import annotations

from math import sqrt

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.dynamics.kernels.absolute.state import AbsoluteState
from mbplugin.dynamics.kernels.articulated import turn_inertia
from mbplugin.model.spatial import AnyArray, Array


@kernel
def factor_masses(a: AbsoluteState, rates: Records) -> bool:
    """Fill M with the Cholesky factor of the mass matrix, drives included; return whether every body has mass."""
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
    """Add the inertia of a drive (kg·m² or kg) whose rate a row measures."""
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
    """Replace M (n, n), whose rows start at ``first`` (n,), by its Cholesky factor; return whether M is definite."""
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
