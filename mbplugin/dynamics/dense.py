"""Dense factorisations that a step loop asks for thousands of times, straight from LAPACK.

For the small matrices of one mechanism scipy's wrappers take ten times as long as the work itself.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from mbplugin.model.spatial import AnyArray, Array


def pivot_order(A: Array) -> AnyArray:
    """Return the columns of A (m, n) as a QR factorisation with pivoting takes them, best first."""
    if not A.size:
        return np.arange(A.shape[1])
    return np.asarray(lapack.dgeqp3(A)[1] - 1)


def solve_triangular(A: Array, rhs: Array, *, lower: bool = False, transposed: bool = False) -> Array:
    """Return A⁻¹ rhs, or A⁻ᵀ rhs, for a triangular A (n, n) and rhs (n,) or (n, k)."""
    if not rhs.size:
        return np.zeros_like(rhs)
    return np.asarray(lapack.dtrtrs(A, rhs, lower=lower, trans=transposed)[0]).reshape(rhs.shape)
