"""Orthogonal factorisations of large sparse blocks: frontal, for rank and left null space, and banded, to solve.

Frontal QR merges rows in small dense fronts. A front holds rows that share a tree joint. Eliminating the joint
rotates these rows so that few of them have entries in its rates (they are independent) and the others have none; the
others move on to their remaining joints. Rows without any entries left are redundant. All rotations are stored, so
left null vectors follow in linear time, and rank is decided locally, pivot by pivot.

Least squares are banded: in a chain of loops each unknown couples only with its neighbours. With the unknowns ordered
along the chain, the triangular factor R is a narrow band, and its inverse decays away from the diagonal.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.constraints.reduction import Entry
from mbplugin.model import AnyArray, Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array


#: A front with a row below this fraction of the largest constraint is checked for dependence immediately.
_SMALL = 0.1
#: A column whose entries are all below this is rounding; columns are of unit size.
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class Elimination:
    """The outcome of an elimination.

    Parameters
    ----------
    rows : int
        Rows of J.
    pivots : (rank,) array
        Sizes of the accepted pivots, relative; decreasing.
    rejected : array
        Sizes of pivots and rows taken as zero, relative; decreasing.
    """

    rows: int
    pivots: Array
    rejected: Array
    _null: AnyArray
    _rotations: tuple[tuple[AnyArray, Array], ...]

    @property
    def redundancy(self) -> int:
        """Rows minus rank."""
        return len(self._null)

    def null_vectors(self, weights: Array) -> Array:
        """Return left null vectors of J, (rows, s), for weights (p, s) of the redundant rows."""
        mu = np.zeros((self.rows, weights.shape[1]))
        mu[self._null] = weights
        for slots, Q in reversed(self._rotations):
            mu[slots] = Q @ mu[slots]
        return mu

    def null_strips(self) -> dict[int, Strip]:
        """Return an orthonormal basis of the left null vectors as a strip for each nonzero row."""
        mu = {slot: Strip(np.array([k]), np.ones((1, 1))) for k, slot in enumerate(self._null.tolist())}
        for slots, Q in reversed(self._rotations):
            here = [k for k, slot in enumerate(slots.tolist()) if slot in mu]
            if here:
                rotated = stacked([mu[int(slots[k])] for k in here]).times(Q[:, here])
                mu.update(
                    (slot, rotated.times(row))
                    for slot, row in zip(slots.tolist(), np.eye(len(slots))[:, None], strict=True)
                )
        return mu


@dataclass(eq=False)
class _Front:
    """Rows (by slot) and their values in the rates of the joints they touch, keyed by first rate."""

    slots: AnyArray
    values: dict[int, Array]


class _Elimination:
    """Work state of an elimination: the remaining fronts, and those that touch each joint."""

    def __init__(self, entries: Sequence[Entry], tolerance: float) -> None:
        self.tolerance = tolerance
        self.fronts: dict[int, _Front] = {}
        self.touching: dict[int, set[int]] = {}
        self.rotations: list[tuple[AnyArray, Array]] = []
        self.pivots: list[Array] = []
        self.rejected: list[Array] = []
        self.null: list[AnyArray] = []
        by_rows: dict[tuple[int, int], dict[int, Array]] = {}
        for entry in entries:
            key = entry.rows.start, entry.rows.stop
            by_rows.setdefault(key, {})[entry.rates.start] = entry.values
        norms = [np.sqrt(sum(float((v * v).sum()) for v in values.values())) for values in by_rows.values()]
        self.unit = max(1.0, *norms) if norms else 1.0
        for (start, stop), values in by_rows.items():
            self.put(_Front(np.arange(start, stop), values))
        self.covered = {row for start, stop in by_rows for row in range(start, stop)}

    def put(self, front: _Front) -> None:
        """Add a front after separating its rows without entries."""
        front = self.compressed(front)
        if not len(front.slots):
            return
        number = int(front.slots[0])
        self.fronts[number] = front
        for joint in front.values:
            self.touching.setdefault(joint, set()).add(number)

    def compressed(self, front: _Front) -> _Front:
        """Return a front rotated so that as few rows as possible have entries; record the others as redundant."""
        joints = list(front.values)
        stacked = np.hstack([front.values[j] for j in joints]) if joints else np.zeros((len(front.slots), 0))
        size = np.sqrt((stacked * stacked).sum(axis=1)) / self.unit
        touching = size > self.tolerance
        if not touching.all():
            self.null.append(front.slots[~touching])
            self.rejected.append(size[~touching])
        slots, stacked, size = front.slots[touching], stacked[touching], size[touching]
        if len(slots) and (len(slots) > stacked.shape[1] or size.min() < _SMALL):
            rank, stacked = self.rotate(slots, stacked, stacked)
            self.null.append(slots[rank:])
            slots, stacked = slots[:rank], stacked[:rank]
        values, start = {}, 0
        for j in joints:
            stop = start + front.values[j].shape[1]
            if stacked[:, start:stop].any():
                values[j] = stacked[:, start:stop]
            start = stop
        return _Front(slots, values)

    def rotate(self, slots: AnyArray, leading: Array, values: Array) -> tuple[int, Array]:
        """Rotate the rows ``slots`` (k,) so that only the first ones have ``leading`` (k, f) entries.

        Return the number of these rows, and the rotated ``values`` (k, n).
        """
        if leading.shape[1] == 1:
            U, sigma = _reflection(leading[:, 0])
        else:
            U, sigma, _ = np.linalg.svd(leading)
        relative = sigma / self.unit
        rank = int((relative > self.tolerance).sum())
        self.rotations.append((slots, U))
        self.rejected.append(relative[rank:])
        return rank, U.T @ values

    def eliminate(self, joint: int) -> None:
        """Merge the fronts that touch a joint, record its pivots, and put the remaining rows back."""
        members = [self.fronts.pop(number) for number in sorted(self.touching.pop(joint))]
        joints = list(dict.fromkeys(j for f in members for j in f.values if j != joint))
        widths = {j: f.values[j].shape[1] for f in members for j in f.values}
        for front in members:
            for j in front.values:
                if j != joint:
                    self.touching[j].discard(int(front.slots[0]))
        slots = np.concatenate([f.slots for f in members])
        own, width = widths[joint], 0
        columns: dict[int, slice] = {}
        for j in (joint, *joints):
            columns[j] = slice(width, width + widths[j])
            width += widths[j]
        merged, row = np.zeros((len(slots), width)), 0
        for f in members:
            for j, part in f.values.items():
                merged[row : row + len(f.slots), columns[j]] = part
            row += len(f.slots)
        rank, rotated = self.rotate(slots, merged[:, :own], merged)
        values = {j: rotated[rank:, columns[j]] for j in joints}
        pivots = rotated[:rank, :own]
        self.pivots.append(np.sqrt((pivots * pivots).sum(axis=1)) / self.unit)
        if rank < len(slots):
            self.put(_Front(slots[rank:], values))


def eliminate(entries: Sequence[Entry], shape: tuple[int, int], tolerance: float) -> Elimination:
    """Eliminate all joints of a sparse closure Jacobian, those touched by the fewest rows first.

    Parameters
    ----------
    entries : sequence of Entry
        The pieces of J.
    shape : (k, f)
    tolerance : float
        A pivot counts when it exceeds this fraction of the largest closing constraint's size.
    """
    work = _Elimination(entries, tolerance)
    untouched = np.setdiff1d(np.arange(shape[0]), np.fromiter(work.covered, dtype=int))
    if untouched.size:
        work.null.append(untouched)
    heap = [(_size(work, joint), joint) for joint in work.touching]
    heapq.heapify(heap)
    while heap:
        size, joint = heapq.heappop(heap)
        if not work.touching.get(joint):
            continue
        if (now := _size(work, joint)) > size:
            heapq.heappush(heap, (now, joint))
            continue
        neighbours = {j for n in work.touching[joint] for j in work.fronts[n].values}
        work.eliminate(joint)
        for j in neighbours:
            if work.touching.get(j):
                heapq.heappush(heap, (_size(work, j), j))
    return Elimination(
        shape[0],
        _decreasing(work.pivots),
        _decreasing(work.rejected),
        np.concatenate(work.null) if work.null else np.zeros(0, dtype=int),
        tuple(work.rotations),
    )


def _size(work: _Elimination, joint: int) -> int:
    return sum(len(work.fronts[number].slots) for number in work.touching[joint])


def _decreasing(parts: Sequence[Array]) -> Array:
    """Return all values (n,) in decreasing order."""
    return np.asarray(np.sort(np.concatenate(parts))[::-1] if parts else np.zeros(0))


def _reflection(column: Array) -> tuple[Array, Array]:
    """Return the Householder reflection that maps a column (k,) to its first entry, and the column's norm (1,)."""
    length = np.sqrt(column @ column)
    w = np.array(column)
    w[0] += length if column[0] >= 0 else -length
    square = w @ w
    U = np.eye(len(column))
    if square > 0:
        U -= np.outer(w, (2.0 / square) * w)
    return U, np.array([length])


# Rows of a wide matrix with entries in few of its columns.


@dataclass(frozen=True, eq=False)
class Strip:
    """Some rows of a matrix, stored only in the columns where they have entries.

    Parameters
    ----------
    columns : (n,) int array
        Increasing.
    values : (k, n) array
    """

    columns: AnyArray
    values: Array

    def times(self, matrix: Array) -> Strip:
        """Return ``matrix`` (r, k) times these rows, without columns of rounding size."""
        values = matrix @ self.values
        kept = np.abs(values).max(axis=0, initial=0.0) > _NOTHING
        return Strip(self.columns[kept], values[:, kept])


#: Entries of a strip whose columns are sorted as Python integers.
_FEW = 64


def strip_of(matrix: csr_array, rows: slice) -> Strip:
    """Return some rows of a sparse matrix."""
    bounds = matrix.indptr[rows.start : rows.stop + 1]
    inside, count = slice(bounds[0], bounds[-1]), len(bounds) - 1
    if count:
        # rows of one block usually have entries in the same columns, in increasing order
        each = matrix.indices[bounds[0] : bounds[1]]
        if len(each) * count == bounds[-1] - bounds[0]:
            table = matrix.indices[inside].reshape(count, len(each))
            if (table == each).all() and (each[1:] > each[:-1]).all():
                return Strip(each, matrix.data[inside].reshape(count, len(each)).copy())
    indices = matrix.indices[inside]
    if len(indices) <= _FEW:
        # for a few entries, calls of numpy would take most of the time
        columns = np.array(sorted(set(indices.tolist())), dtype=indices.dtype)
        places = np.searchsorted(columns, indices)
    else:
        columns, places = np.unique(indices, return_inverse=True)
    values = np.zeros((len(bounds) - 1, len(columns)))
    values[np.repeat(np.arange(len(values)), np.diff(bounds)), places] = matrix.data[inside]
    return Strip(columns, values)


def stacked(strips: Sequence[Strip]) -> Strip:
    """Return the rows of all strips, one below the other."""
    if len(strips) == 1:
        return strips[0]
    columns = np.unique(np.concatenate([strip.columns for strip in strips]))
    values, start = np.zeros((sum(len(s.values) for s in strips), len(columns))), 0
    for strip in strips:
        stop = start + len(strip.values)
        values[start:stop, np.searchsorted(columns, strip.columns)] = strip.values
        start = stop
    return Strip(columns, values)


def added(strips: Sequence[Strip]) -> Strip:
    """Return the sum of strips with equal numbers of rows, without columns that cancel."""
    together, count = stacked(strips), len(strips[0].values)
    return together.times(np.tile(np.eye(count), len(strips))) if len(strips) > 1 else together


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
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    # an order of the unknowns in which those that share a row are close together
    touched = abs(A)
    order = np.asarray(reverse_cuthill_mckee((touched.T @ touched).tocsr(), symmetric_mode=True))
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
