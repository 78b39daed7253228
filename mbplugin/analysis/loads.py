"""How the self-stresses of a block load each of its constraints, in units of the largest force and moment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.analysis.uniqueness import StressedBlock
from mbplugin.constraints.reduction.strips import Strip, strip_of
from mbplugin.constraints.rows.row import Rows
from mbplugin.model.spatial import AnyArray, Array

if TYPE_CHECKING:
    from scipy.sparse import csc_array

#: Columns of an inverse that are computed at once.
_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class Loads:
    """The self-stresses in the k rows of one constraint.

    Parameters
    ----------
    columns : (n,) int array
        Those of a basis that load it.
    values : (k, n) array
        Their entries.
    orthonormal : (k, r) array
        The same in an orthonormal basis, up to its choice.
    """

    rows: Rows
    columns: AnyArray
    values: Array
    orthonormal: Array


def loads_of(s: StressedBlock) -> Iterator[Loads]:
    """Yield the loads of all constraints of a block.

    Moments grow with the size of a mechanism, forces do not; neither may hide the other. So the largest force
    row of an orthonormal basis has length one, and so has the largest moment row.
    """
    rows = s.ranked.reduced.rows
    found = _of_basis(s) if s.complete else _of_local_basis(s)
    translation = np.concatenate([one.translation for one in rows])
    length = np.concatenate([np.linalg.norm(orthonormal, axis=1) for _, orthonormal in found])
    unit = np.ones(len(length))
    for kind in (translation, ~translation):
        unit[kind] = max(float(length[kind].max(initial=0.0)), s.ranked.zero)
    for one, (strip, orthonormal) in zip(rows, found, strict=True):
        own = unit[s.slices[one.constraint], None]
        yield Loads(one, strip.columns, strip.values / own, orthonormal / own)


def _of_basis(s: StressedBlock) -> list[tuple[Strip, Array]]:
    """Return the rows (k, p) of each constraint in an orthonormal basis, twice."""
    every = np.arange(s.Z.shape[1])
    parts = [s.Z[s.slices[one.constraint]] for one in s.ranked.reduced.rows]
    return [(Strip(every, part), part) for part in parts]


def _of_local_basis(s: StressedBlock) -> list[tuple[Strip, Array]]:
    """Return the rows of each constraint in the local basis B, and (k, k) in an orthonormal one.

    The latter have the products B_X (BᵀB)⁻¹ B_Xᵀ, to which only those entries of the inverse contribute whose
    self-stresses both load the constraint.
    """
    B = s.local
    inverse = _inverse_where((B.T @ B).tocsc(), _loading_one_constraint(s))
    found = []
    for one in s.ranked.reduced.rows:
        own = strip_of(B, s.slices[one.constraint])
        products = own.values @ _dense_part(inverse, own.columns) @ own.values.T
        size, directions = np.linalg.eigh(products)
        found.append((own, directions * np.sqrt(np.maximum(size, 0.0))))
    return found


def _loading_one_constraint(s: StressedBlock) -> csc_array:
    """Return a matrix (p, p) with entries where two self-stresses load one constraint."""
    from scipy.sparse import csc_array

    counts = [one.stop - one.start for one in s.slices.values()]
    owner = np.repeat(np.repeat(np.arange(len(counts)), counts), np.diff(s.local.indptr))
    shape = (len(counts), s.ranked.redundancy)
    loads = csc_array((np.ones(len(owner)), (owner, s.local.indices)), shape=shape)
    return (loads.T @ loads).tocsc()


def _inverse_where(G: csc_array, pattern: csc_array) -> csc_array:
    """Return the entries of the inverse of G (p, p) in the places where a pattern (p, p) has entries."""
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    pattern.sort_indices()
    rows, first, p = pattern.indices, pattern.indptr, G.shape[0]
    factors, data = (
        splu(G, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}),
        np.zeros(pattern.nnz),
    )
    for start in range(0, p, _AT_ONCE):
        stop = min(start + _AT_ONCE, p)
        solved = factors.solve(np.eye(p, stop - start, -start))
        filled = slice(first[start], first[stop])
        data[filled] = solved[
            rows[filled], np.repeat(np.arange(stop - start), np.diff(first[start : stop + 1]))
        ]
    return csc_array((data, rows, first), shape=(p, p))


def _dense_part(matrix: csc_array, columns: AnyArray) -> Array:
    """Return the rows and columns ``columns`` (n,) of a matrix that has entries in all of them, (n, n)."""
    part = np.zeros((len(columns), len(columns)))
    for k, column in enumerate(columns.tolist()):
        filled = slice(matrix.indptr[column], matrix.indptr[column + 1])
        part[:, k] = matrix.data[filled][np.searchsorted(matrix.indices[filled], columns)]
    return part
