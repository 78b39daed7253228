"""Least squares with every unknown between −1 and 1, also where columns depend on each other."""

from __future__ import annotations

import numpy as np

from mbplugin.model.spatial import AnyArray, Array

#: Beyond its bound by more than this an unknown is held there.
_BEYOND = 1e-9
#: An unknown leaves its bound when that improves the fit, against rounding.
_IMPROVES, _ROUNDING = 1e-9, 1e-14
#: Columns of unit length depend on each other below this singular value.
_DEPENDENT = 1e-9
#: An unknown that would have to be larger is at its bound as surely.
_FAR = 1e15


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
    sizes[~free] = 1.0
    u, zero = np.where(free, 0.0, 1.0), ~free
    for _ in range(10 * n + 10):
        z = _fit(A[:, free], sizes[free], b - A[:, ~free] @ u[~free])
        if (np.abs(z) > 1.0 + _BEYOND).any():
            _go_to_bound(u, free, z)
            continue
        u[free] = np.clip(z, -1.0, 1.0)
        residual = A @ u - b
        # what a unit of force gains by leaving the bound it is at
        with np.errstate(over="ignore", invalid="ignore"):
            gain = u * ((A / sizes).T @ residual) / sizes if n else u
            noise = _IMPROVES + _ROUNDING * float(np.linalg.norm(b)) / sizes
        gain[free | zero] = 0.0
        if not (gain > noise).any():
            break
        free[int(gain.argmax())] = True
    return u, free


def _fit(A: Array, sizes: Array, b: Array) -> Array:
    """Return the unbounded minimiser; of several the smallest in columns of unit length."""
    with np.errstate(over="ignore"):
        out: Array = np.clip(np.linalg.lstsq(A / sizes, b, rcond=_DEPENDENT)[0] / sizes, -_FAR, _FAR)
    return out


def column_sizes(A: Array) -> Array:
    """Return the lengths (n,) of the columns, whose squares may be too small or too large for numbers."""
    largest = np.abs(A).max(axis=0, initial=0.0)
    return np.asarray(largest * np.linalg.norm(A / np.where(largest > 0.0, largest, 1.0), axis=0))


def _go_to_bound(u: Array, free: AnyArray, z: Array) -> None:
    """Go from u towards z up to the first bound, in place, and hold that unknown there."""
    at = np.flatnonzero(free)
    step = z - u[at]
    with np.errstate(divide="ignore", invalid="ignore"):
        length = np.where(np.abs(z) > 1.0 + _BEYOND, (np.sign(z) - u[at]) / step, np.inf)
    k = int(length.argmin())
    u[at] += max(float(length[k]), 0.0) * step
    u[at[k]] = np.sign(z[k])
    free[at[k]] = False


def basic_solution(A: Array, u: Array, free: AnyArray) -> tuple[Array, AnyArray]:
    """Return unknowns with the same A u of which the free ones have independent columns, and which those are.

    Free unknowns are moved along what their columns leave open until one is at its bound, again and again.
    """
    u, free = u.copy(), free.copy()
    sizes = column_sizes(A)
    while free.any():
        at = np.flatnonzero(free)
        _, sigma, V = np.linalg.svd(A[:, at] / sizes[at])
        rank = int((sigma > _DEPENDENT * sigma[0]).sum())
        if rank == len(at):
            break
        d = V[-1] / sizes[at]
        with np.errstate(divide="ignore"):
            length = np.where(np.abs(d) > 1e-12 * np.abs(d).max(), (np.sign(d) - u[at]) / d, np.inf)
        k = int(length.argmin())
        u[at] = np.clip(u[at] + max(float(length[k]), 0.0) * d, -1.0, 1.0)
        u[at[k]] = np.sign(d[k])
        free[at[k]] = False
    return u, free
