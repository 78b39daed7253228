"""Least squares with every unknown between −1 and 1, also where columns depend on each other.

Columns A (m, n) and their lengths ``sizes`` (n,), the right side b (m,), unknowns u (n,), which of them are
``free`` (n,), and the unbounded minimiser z (n,).
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from mbplugin.dynamics.compiler.jit import kernel
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.active_set.orthogonal import least_squares, orthogonalize
from mbplugin.simulation.active_set.selection import largest_size, place_of_least, true_positions

#: Beyond its bound by more than this an unknown is held there.
_BEYOND = 1e-9
#: An unknown leaves its bound when that improves the fit, against rounding.
_IMPROVES, _ROUNDING = 1e-9, 1e-14
#: Columns of unit length depend on each other below this singular value.
_DEPENDENT = 1e-9
#: An unknown that would have to be larger is at its bound as surely.
_FAR = 1e15


@kernel
def bounded_least_squares(A: Array, b: Array) -> tuple[Array, AnyArray]:
    """Return the minimiser of ‖A u − b‖ with |u| ≤ 1, and which of its unknowns are free.

    An active-set method after Stark and Parker (1995), started with everything free. scipy's ``bvls``
    does the same, but solves for free unknowns without regard to their rank.

    Parameters
    ----------
    A : (m, n) array
        An unknown whose column is zero is held at a bound.
    b : (m,) array

    Returns
    -------
    u : (n,) array
        Of several minimisers one with small free unknowns.
    free : (n,) array of bool
        False: held at its bound.
    """
    n = A.shape[1]
    sizes = column_sizes(A)
    free = sizes > 0.0
    u = np.zeros(n)
    for j in range(n):
        if not free[j]:
            u[j] = 1.0
    for _ in range(10 * n + 10):
        z = _fit(A, sizes, b, u, free)
        if _go_to_bound(u, free, z):
            continue
        for j in range(n):
            if free[j]:
                u[j] = min(max(z[j], -1.0), 1.0)
        j = _leaving(A, sizes, b, u, free)
        if j < 0:
            break
        free[j] = True
    return u, free


@kernel
def _fit(A: Array, sizes: Array, b: Array, u: Array, free: AnyArray) -> Array:
    """Return the unbounded minimiser (n,) of the free unknowns; of several the smallest in columns of unit length."""
    m, n = A.shape
    at = true_positions(free)
    part, rest, z = np.empty((m, len(at))), b.copy(), np.zeros(n)
    for j in range(n):
        if not free[j]:
            for k in range(m):
                rest[k] -= A[k, j] * u[j]
    for i in range(len(at)):
        for k in range(m):
            part[k, i] = A[k, at[i]] / sizes[at[i]]
    x = least_squares(part, rest, _DEPENDENT)
    for i in range(len(at)):
        z[at[i]] = min(max(x[i] / sizes[at[i]], -_FAR), _FAR)
    return z


@kernel
def _leaving(A: Array, sizes: Array, b: Array, u: Array, free: AnyArray) -> int:
    """Return the unknown at its bound that gains most by leaving it; −1 where none gains more than rounding."""
    m, n = A.shape
    residual, size = -b, 0.0
    for k in range(m):
        size += b[k] * b[k]
        for j in range(n):
            residual[k] += A[k, j] * u[j]
    size = sqrt(size)
    which, most, gains = -1, 0.0, False
    for j in range(n):
        if free[j] or sizes[j] == 0.0:
            continue
        gain = 0.0
        for k in range(m):
            gain += A[k, j] / sizes[j] * residual[k]
        # what a unit of force gains
        gain *= u[j] / sizes[j]
        gains = gains or gain > _IMPROVES + _ROUNDING * size / sizes[j]
        if gain > most:
            which, most = j, gain
    return which if gains else -1


@kernel
def column_sizes(A: Array) -> Array:
    """Return the lengths (n,) of the columns of A (m, n), whose squares may be too small or too large for numbers."""
    m, n = A.shape
    sizes = np.zeros(n)
    for j in range(n):
        largest, total = 0.0, 0.0
        for k in range(m):
            largest = max(largest, abs(A[k, j]))
        if largest > 0.0:
            for k in range(m):
                total += (A[k, j] / largest) ** 2
            sizes[j] = largest * sqrt(total)
    return sizes


@kernel
def _go_to_bound(u: Array, free: AnyArray, z: Array) -> bool:
    """Go from u towards z up to the first bound, in place, and hold that unknown there; return whether there is one."""
    which, length = -1, np.inf
    for j in range(len(u)):
        if free[j] and abs(z[j]) > 1.0 + _BEYOND:
            part = (np.sign(z[j]) - u[j]) / (z[j] - u[j])
            if part < length:
                which, length = j, part
    if which < 0:
        return False
    for j in range(len(u)):
        if free[j]:
            u[j] += max(length, 0.0) * (z[j] - u[j])
    u[which] = np.sign(z[which])
    free[which] = False
    return True


@kernel
def basic_solution(A: Array, u: Array, free: AnyArray) -> tuple[Array, AnyArray]:
    """Return unknowns with the same A u of which the free ones have independent columns, and which those are.

    They are ``u`` (n,) for ``A`` (m, n), and ``free`` (n,) of bool. Free unknowns are moved along what their
    columns leave open until one is at its bound, again and again.
    """
    m, n = A.shape
    u, free = u.copy(), free.copy()
    sizes = column_sizes(A)
    for _ in range(n):
        at = true_positions(free)
        part = np.empty((m, len(at)))
        for i in range(len(at)):
            for k in range(m):
                part[k, i] = A[k, at[i]] / sizes[at[i]]
        _, V, sigma = orthogonalize(part)
        weakest = place_of_least(sigma)
        if len(at) == 0 or sigma[weakest] > _DEPENDENT * largest_size(sigma):
            break
        d = np.empty(len(at))
        for i in range(len(at)):
            d[i] = V[i, weakest] / sizes[at[i]]
        which, length, least = -1, np.inf, 1e-12 * largest_size(d)
        for i in range(len(at)):
            if abs(d[i]) > least:
                way = (np.sign(d[i]) - u[at[i]]) / d[i]
                if way < length:
                    which, length = i, way
        for i in range(len(at)):
            u[at[i]] = min(max(u[at[i]] + max(length, 0.0) * d[i], -1.0), 1.0)
        u[at[which]] = np.sign(d[which])
        free[at[which]] = False
    return u, free
