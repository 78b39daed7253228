"""Sparse least squares by a banded orthogonal factorisation.

In a chain of loops each unknown couples only with its neighbours. With the unknowns ordered along the chain, the
triangular factor R is a narrow band, and its inverse decays away from the diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.constraints.reduction.frontal_qr import strip_of
from mbplugin.model.spatial import AnyArray, Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Smallest number of unknowns eliminated at once.
_AT_ONCE = 8
#: Number of columns of the inverse of R computed at once.
_INVERTED = 64
#: Entries of the inverse of R below this fraction of the diagonal entry of their row are rounding.
_FADED = 1e-14
#: Steps of inverse iteration.
_POWERS = 20


@dataclass(frozen=True, eq=False)
class BandedFactor:
    """R of A P = Q R, A (k, p) of full rank.

    Parameters
    ----------
    order : (p,) int array
        P: the unknowns along the band.
    band : (b + 1, p) array
        R by its diagonals, the main one last (as ``scipy.linalg.solve_banded`` has it).
    loaded : (p,) array
        Qᵀ times the right-hand side.
    """

    order: AnyArray
    band: Array
    loaded: Array

    def solution(self, gaps: Array) -> Array:
        """Return y (p,) of least ½ |rhs − A y|² − gapsᵀ y, for gaps (p,)."""
        y = np.empty(len(self.order))
        y[self.order] = self._solve(self.loaded + self._solve_transposed(gaps[self.order]))
        return y

    def smallest(self) -> float:
        """Return an estimate of the smallest singular value of A, rarely more than 10 % too large."""
        x = np.random.default_rng(0).normal(size=len(self.order))
        for _ in range(_POWERS):
            x = self._solve(self._solve_transposed(x / np.linalg.norm(x)))
        return float(1.0 / np.sqrt(np.linalg.norm(x)))

    def inverse(self) -> csr_array:
        """Return G (p, p) with G Gᵀ = (AᵀA)⁻¹: P R⁻¹ without negligible entries."""
        from scipy.sparse import csr_array

        p, width = self.band.shape[1], len(self.band)
        faded = _FADED / np.abs(self.band[-1])
        rows, columns, data = [np.zeros(0, int)], [np.zeros(0, int)], [np.zeros(0)]
        for start in range(0, p, _INVERTED):
            stop, reach = min(start + _INVERTED, p), _INVERTED + width
            while True:
                # the inverse of a diagonal block of R is the same block of R⁻¹
                first = max(0, start - reach)
                unit = np.eye(stop - first, stop - start, first - start)
                X = _solved(0, self.band[:, first:stop], unit)
                kept = np.abs(X) > faded[first:stop, None]
                if not first or not kept[:width].any():
                    break
                reach *= 2
            i, j = np.nonzero(kept)
            rows.append(self.order[first + i])
            columns.append(start + j)
            data.append(X[i, j])
        places = np.concatenate(rows), np.concatenate(columns)
        return csr_array((np.concatenate(data), places), shape=(p, p))

    def _solve(self, c: Array) -> Array:
        """Return R⁻¹ c, c (p,)."""
        return _solved(0, self.band, c)

    def _solve_transposed(self, c: Array) -> Array:
        """Return R⁻ᵀ c, c (p,)."""
        below = np.zeros_like(self.band)
        for k in range(len(self.band)):
            below[k, : below.shape[1] - k] = self.band[-1 - k, k:]
        return _solved(len(below) - 1, below, c)


def _solved(lower: int, band: Array, c: Array) -> Array:
    """Solve a triangular band (b + 1, p), its diagonals below or above, for x of the shape of c (p,) or (p, n)."""
    upper = len(band) - 1 - lower
    if len(c) == 1:
        # SciPy 1.12 divides by another diagonal
        return np.asarray(c / band[upper, 0])
    import scipy.linalg

    return np.asarray(scipy.linalg.solve_banded((lower, upper), band, c))


def banded_factor(A: csr_array, rhs: Array) -> BandedFactor:
    """Return the banded factor of A (k, p) with a right-hand side ``rhs`` (k,).

    Raises
    ------
    numpy.linalg.LinAlgError
        A does not have full rank.
    """
    order = _along_a_band(A)
    A, rhs, first, last = _by_first_unknown(A[:, order], rhs)
    # fronts as wide as a row is long
    p, step = A.shape[1], max(_AT_ONCE, int((last - first).max(initial=0)))
    bounds = np.searchsorted(first, np.arange(0, p + step, step))
    pieces, carried, reach = [], np.zeros((0, 1)), 0
    for k, start in enumerate(range(0, p, step)):
        here = slice(bounds[k], bounds[k + 1])
        stop, before = min(start + step, p), reach
        reach = max(stop, reach, 1 + int(last[here].max(initial=-1)))
        front = np.zeros((len(carried) + here.stop - here.start, reach - start + 1))
        front[: len(carried), : max(0, before - start)] = carried[:, :-1]
        own = strip_of(A, here)
        front[len(carried) :, own.columns - start] = own.values
        front[:, -1] = np.concatenate((carried[:, -1], rhs[here]))
        # large rows first, so that soft elements do not spoil the accuracy of stiff ones
        front = front[np.argsort(-np.linalg.norm(front[:, :-1], axis=1), kind="stable")]
        front = np.asarray(np.linalg.qr(front, mode="r"))
        if len(front) < stop - start:
            raise np.linalg.LinAlgError("fewer rows than unknowns")
        pieces.append(front[: stop - start])
        carried = front[stop - start : reach - start, stop - start :]
    return BandedFactor(order, _band(pieces, p), np.concatenate([piece[:, -1] for piece in pieces]))


def _by_first_unknown(A: csr_array, rhs: Array) -> tuple[csr_array, Array, AnyArray, AnyArray]:
    """Return nonempty rows of A (k, p) and ``rhs`` (k,), sorted by first unknown, and first and last unknowns (j,)."""
    A.sort_indices()
    filled = np.flatnonzero(np.diff(A.indptr))
    first, last = A.indices[A.indptr[filled]], A.indices[A.indptr[filled + 1] - 1]
    order = np.argsort(first, kind="stable")
    return A[filled[order]], rhs[filled[order]], first[order], last[order]


def _along_a_band(A: csr_array) -> AnyArray:
    """Return an order (p,) of the unknowns of A (k, p) in which those that share a row are close together."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    touched = abs(A)
    return np.asarray(reverse_cuthill_mckee((touched.T @ touched).tocsr(), symmetric_mode=True))


def _band(pieces: list[Array], p: int) -> Array:
    """Return the diagonals (b + 1, p) of the triangular matrix whose rows, from the diagonal on, are in ``pieces``."""
    rows, columns, data, start = [], [], [], 0
    for piece in pieces:
        i, j = np.nonzero(np.triu(piece[:, :-1]))
        rows.append(start + i)
        columns.append(start + j)
        data.append(piece[i, j])
        start += len(piece)
    i, j = np.concatenate(rows), np.concatenate(columns)
    if len(np.unique(i[i == j])) < p:
        raise np.linalg.LinAlgError("the rows do not have full rank")
    band = np.zeros((1 + int((j - i).max()), p))
    band[len(band) - 1 + i - j, j] = np.concatenate(data)
    return band
