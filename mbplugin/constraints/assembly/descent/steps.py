"""Steps that close what is open: the shortest one, and damped ones; of large equations by a sparse factorization."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbplugin.constraints.assembly.descent.jacobians import Jacobians
from mbplugin.constraints.tolerance import DEFAULT_TOLERANCE
from mbplugin.model.spatial import AnyArray, Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: What is smaller than this fraction of the largest entry of J is rounding.
_NOTHING = 1e-14
#: What is smaller than this has no effect that could close a gap: a step over it would overflow, m/rad and m/m.
_NO_SLOPE = 1e-100
#: Columns from which on it pays to look for parts.
_WORTH_PARTING = 60
#: Of one iteration: rad, and travels against the mechanism's length.
LARGEST_STEP = 0.5
#: Damping that keeps equations solvable, against the sum of the squares of the entries of J.
_ROUNDING = 1e-13
#: Refinements of the shortest step of large equations, and a correction that ends them, as a part of the step.
_REFINED, _REFINED_ENOUGH = 8, 1e-13


def damped_steps(J: Jacobians, Phi: Array, damping: Array) -> Array:
    """Return the steps (K, C) of damped least squares, none longer than is sensible.

    Phi (K, r) and damping (K,).
    """
    # where J has grown on the way, what was damping at the start is rounding now
    damping = np.maximum(damping, _ROUNDING * J.squares())
    step = -(_damped_by_factors(J, Phi, damping) if J.large else _damped(J.dense(), Phi, damping))
    largest = np.abs(step).max(axis=1, keepdims=True)
    return np.asarray(step * np.minimum(1.0, LARGEST_STEP / np.maximum(largest, 1e-300)))


def _damped(J: Array, Phi: Array, damping: Array) -> Array:
    """Return (JᵀJ + damping)⁻¹ Jᵀ Φ, (K, C), for J (K, r, C), Phi (K, r) and damping (K,)."""
    normal = np.swapaxes(J, 1, 2) @ J
    diagonal = np.arange(J.shape[2])
    normal[:, diagonal, diagonal] += damping[:, None]
    return np.asarray(np.linalg.solve(normal, np.swapaxes(J, 1, 2) @ Phi[:, :, None])[:, :, 0])


def _damped_by_factors(J: Jacobians, Phi: Array, damping: Array) -> Array:
    """Return the same as :func:`_damped`, (K, C), for large J, Phi (K, r) and damping (K,)."""
    out = np.zeros((len(Phi), J.pattern.shape[1]))
    for k, d in enumerate(np.sqrt(damping)):
        out[k] = _Damped(_sparse(J, J.values[k]), float(d)).solution(Phi[k])
    return out


def shortest_step(J: Jacobians, rhs: Array) -> Array:
    """Return the shortest x (C,) with J x ≈ rhs (r,), J of one pose, without what rounding decides."""
    if J.large:
        return _shortest_by_factors(J, rhs)
    dense = J.dense()[0]
    x = np.zeros(dense.shape[1])
    for rows, columns in independent_parts(dense):
        x[columns] = _solution_of_part(dense[np.ix_(rows, columns)], rhs[rows])
    return x


def independent_parts(J: Array) -> list[tuple[AnyArray, AnyArray]]:
    """Return rows and columns of the parts of J (k, n) that share nothing: loops that do not touch.

    The work on one part grows with its cube. Rows and columns of zeros belong to none.
    """
    used = np.abs(J) > _NOTHING * np.abs(J).max(initial=0.0)
    if not used.any():
        return []
    if J.shape[1] < _WORTH_PARTING:
        return [(np.flatnonzero(used.any(axis=1)), np.flatnonzero(used.any(axis=0)))]
    rows, columns = np.nonzero(used)
    part = _parts(rows, columns, (J.shape[0], J.shape[1]))
    found = []
    for number in np.unique(part[rows]):
        members = np.flatnonzero(part == number)
        found.append((members[members < J.shape[0]], members[members >= J.shape[0]] - J.shape[0]))
    return found


def _parts(rows: AnyArray, columns: AnyArray, shape: tuple[int, int]) -> AnyArray:
    """Return the part, (r + C,), to which each row and then each column belongs.

    For entries in ``rows`` (n,) and ``columns`` (n,).
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = sum(shape)
    graph = coo_array((np.ones(rows.size), (rows, shape[0] + columns)), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1])


def _solution_of_part(J: Array, rhs: Array) -> Array:
    """Return the smallest x (n,) with J x ≈ rhs, J (m, n) and rhs (m,), without what rounding decides."""
    U, sigma, Vt = np.linalg.svd(J, full_matrices=False)
    # what only smaller ones could close is a misfit by rounding: chasing it would fling the mechanism about
    kept = sigma > max(DEFAULT_TOLERANCE * sigma[0], _NO_SLOPE)
    return np.asarray(Vt[kept].T @ ((U[:, kept].T @ rhs) / sigma[kept]))


def _shortest_by_factors(J: Jacobians, rhs: Array) -> Array:
    """Return the shortest x (C,) with J x ≈ rhs (r,), J large, each part with a tolerance of its own.

    Damped solutions of what the last ones leave open converge to it in all directions whose singular value
    exceeds the damping, the faster the larger it is; in smaller ones hardly anything moves.
    """
    pattern, values = J.pattern, J.values[0]
    values = np.where(np.abs(values) > _NOTHING * np.abs(values).max(initial=0.0), values, 0.0)
    there = np.flatnonzero(values)
    part = _parts(pattern.rows[there], pattern.columns[there], pattern.shape)[: pattern.shape[0]]
    scale = _largest(part, pattern.rows, pattern.columns, values, pattern.shape)
    size = np.where(scale > _NO_SLOPE, scale, np.inf)[part]
    matrix, left = _sparse(J, values / size[pattern.rows]), rhs / size
    damped, x = _Damped(matrix, DEFAULT_TOLERANCE), np.zeros(pattern.shape[1])
    for _ in range(_REFINED):
        more = damped.solution(left)
        x += more
        left = left - matrix @ more
        if np.abs(more).max() <= _REFINED_ENOUGH * np.abs(x).max():
            break
    return x


def _largest(
    part: AnyArray, rows: AnyArray, columns: AnyArray, values: Array, shape: tuple[int, int]
) -> Array:
    """Return a bound of the largest singular value of each of P parts, (P,).

    The root of the largest sum of a row times the largest sum of a column; ``part`` (r,) has the part of each
    row, and the entries are ``values`` (n,) in ``rows`` (n,) and ``columns`` (n,).
    """
    size = np.abs(values)
    of_rows, of_columns = np.bincount(rows, size, shape[0]), np.bincount(columns, size, shape[1])
    most = np.zeros((2, int(part.max(initial=0)) + 1))
    np.maximum.at(most[0], part, of_rows)
    np.maximum.at(most[1], part[rows], np.where(size > 0, of_columns[columns], 0.0))
    return np.asarray(np.sqrt(most[0]) * np.sqrt(most[1]))


def _sparse(J: Jacobians, values: Array) -> csr_array:
    """Return a sparse matrix (r, C) of entries ``values`` (n,), without those that are zero."""
    from scipy.sparse import csr_array

    there = np.flatnonzero(values)
    places = J.pattern.rows[there], J.pattern.columns[there]
    return csr_array((values[there], places), shape=J.pattern.shape)


class _Damped:
    """(JᵀJ + d²)⁻¹ Jᵀ of a sparse J (r, C), factorized.

    [[d, Jᵀ], [J, −d]] has entries where J has, however many rows or columns one column or row touches, and
    the condition of J / d instead of its square.
    """

    def __init__(self, J: csr_array, d: float) -> None:
        from scipy.sparse import block_array, eye_array
        from scipy.sparse.linalg import splu

        rows, self.columns = J.shape
        K = block_array([[d * eye_array(self.columns), J.T], [J, -d * eye_array(rows)]], format="csc")
        # any order of pivots on the diagonal will do, since K is quasi-definite; others would fill it
        self._factors = splu(
            K, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )

    def solution(self, rhs: Array) -> Array:
        """Return x (C,) for rhs (r,)."""
        x = self._factors.solve(np.concatenate((np.zeros(self.columns), rhs)))
        return np.asarray(x[: self.columns])
