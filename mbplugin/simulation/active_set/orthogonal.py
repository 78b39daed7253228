"""Least squares with columns that may depend on each other, by one-sided Jacobi rotations.

Columns A (m, n), the rotated ones W (m, n) and the rotations V (n, n).
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from mbplugin.dynamics.compiler.jit import kernel
from mbplugin.model.spatial import Array
from mbplugin.simulation.active_set.selection import largest_size

#: Columns are orthogonal when the cosine between them is smaller; those are zero whose length is this part of
#: the largest.
_COSINE, _ZERO = 1e-15, 1e-18
#: Rounds over all pairs of columns; five or six are enough.
_ROUNDS = 30


@kernel
def orthogonalize(A: Array) -> tuple[Array, Array, Array]:
    """Return W = A V with orthogonal columns, V (n, n) orthogonal, and the singular values (n,) of A (m, n)."""
    n = A.shape[1]
    W, V, sigma = A.copy(), np.zeros((n, n)), np.zeros(n)
    least = 0.0
    for j in range(n):
        V[j, j] = 1.0
        least = max(least, column_product(W, j, j))
    least *= _ZERO * _ZERO
    for _ in range(_ROUNDS):
        turned = False
        for i in range(n):
            for j in range(i + 1, n):
                a, b, c = column_product(W, i, i), column_product(W, j, j), column_product(W, i, j)
                if abs(c) <= _COSINE * sqrt(a * b) or min(a, b) <= least:
                    continue
                _rotate(W, V, i, j, 0.5 * (b - a) / c)
                turned = True
        if not turned:
            break
    for j in range(n):
        sigma[j] = sqrt(column_product(W, j, j))
    return W, V, sigma


@kernel
def column_product(A: Array, i: int, j: int) -> float:
    """Return the inner product of columns i and j of A (m, n)."""
    total = 0.0
    for k in range(A.shape[0]):
        total += A[k, i] * A[k, j]
    return total


@kernel
def _rotate(W: Array, V: Array, i: int, j: int, zeta: float) -> None:
    """Turn columns i and j of both matrices, ``zeta`` the cotangent of twice the angle."""
    t = (1.0 if zeta >= 0.0 else -1.0) / (abs(zeta) + sqrt(1.0 + zeta * zeta))
    c = 1.0 / sqrt(1.0 + t * t)
    s = c * t
    for k in range(W.shape[0]):
        W[k, i], W[k, j] = c * W[k, i] - s * W[k, j], s * W[k, i] + c * W[k, j]
    for k in range(V.shape[0]):
        V[k, i], V[k, j] = c * V[k, i] - s * V[k, j], s * V[k, i] + c * V[k, j]


@kernel
def least_squares(A: Array, b: Array, dependent: float) -> Array:
    """Return the smallest x (n,) that minimises ‖A x − b‖, A (m, n) and b (m,).

    Singular values below ``dependent`` times the largest count as zero.
    """
    m, n = A.shape
    x, largest = np.zeros(n), 0.0
    for k in range(m):
        for j in range(n):
            largest = max(largest, abs(A[k, j]))
    if largest == 0.0:
        return x
    # squares of what is left are numbers
    W, V, sigma = orthogonalize(A / largest)
    greatest = largest_size(sigma)
    for i in range(n):
        if sigma[i] > dependent * greatest:
            along = 0.0
            for k in range(m):
                along += W[k, i] * b[k]
            along /= sigma[i] * sigma[i] * largest
            for j in range(n):
                x[j] += along * V[j, i]
    return x
