"""Rows of a wide matrix that have entries in few of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.model.spatial import AnyArray, Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: What is smaller in all rows of a column is rounding; columns are of unit size.
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class Strip:
    """Some rows, in the columns where they have entries.

    Parameters
    ----------
    columns : (n,) int array
        Increasing.
    values : (k, n) array
    """

    columns: AnyArray
    values: Array

    def times(self, matrix: Array) -> Strip:
        """Return ``matrix`` (r, k) times these rows, without columns that are rounding."""
        values = matrix @ self.values
        kept = np.abs(values).max(axis=0, initial=0.0) > _NOTHING
        return Strip(self.columns[kept], values[:, kept])


def strip_of(matrix: csr_array, rows: slice) -> Strip:
    """Return some rows of a sparse matrix."""
    bounds = matrix.indptr[rows.start : rows.stop + 1]
    inside = slice(bounds[0], bounds[-1])
    columns, places = np.unique(matrix.indices[inside], return_inverse=True)
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
    """Return the sum of strips of as many rows, without columns where they cancel each other."""
    together, count = stacked(strips), len(strips[0].values)
    return together.times(np.tile(np.eye(count), len(strips))) if len(strips) > 1 else together
