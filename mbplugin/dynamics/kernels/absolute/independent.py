"""Independent rows of absolute coordinates: as many as the rank says, chosen anew at every pose."""

from __future__ import annotations

from math import sqrt

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.dynamics.kernels.absolute.mass import solve_lower
from mbplugin.dynamics.kernels.absolute.state import AbsoluteState
from mbplugin.dynamics.kernels.rows import COMBINED
from mbplugin.dynamics.kernels.solve import SINGULAR
from mbplugin.model.spatial import AnyArray, Array

#: A row that keeps this share of its length is orthogonal to rounding, over this share, after one pass.
_MUCH_LEFT = 0.1


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
    """Put r independent rows of G (m, n) in front of ``order`` (m,), the longest first, and make them orthonormal.

    R (r, m) takes what every row has along them. A row of which next to nothing is its own, at a singular pose, gets
    zero there.
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
    """Make x (n,) orthogonal to a vector ``unit`` (n,) of length one; return what it had along that."""
    along = _product(unit, x)
    if along != 0.0:
        for j in range(len(x)):
            x[j] -= along * unit[j]
    return along


@kernel
def _product(x: Array, y: Array) -> float:
    """Return x · y, x (n,) and y (n,), in four sums that do not wait for each other."""
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
