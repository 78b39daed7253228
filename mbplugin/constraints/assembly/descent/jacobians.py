"""Jacobians of some equations at many poses, by their entries: every constraint touches few rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mbplugin.constraints.reduction.frontal_qr import eliminate
from mbplugin.constraints.reduction.reduce import Entry
from mbplugin.constraints.tolerance import DEFAULT_TOLERANCE
from mbplugin.model.spatial import AnyArray, Array

#: Entries of a Jacobian, zeros as well, up to which dense algebra is the quicker one.
LARGEST_DENSE = 100_000


class Pattern:
    """Where entries may differ from zero: full blocks, each the rows of one constraint in some rates.

    Parameters
    ----------
    shape : (r, C)
    blocks : sequence of (slice, (k,) int array)
        Rows and columns; none overlaps another.

    Attributes
    ----------
    rows, columns : (n,) int array
        Of all entries, block by block and row by row.
    """

    def __init__(self, shape: tuple[int, int], blocks: Sequence[tuple[slice, AnyArray]]) -> None:
        self.shape = shape
        self.blocks = blocks
        none = [np.zeros(0, dtype=int)]
        self.rows = np.concatenate(
            none + [np.repeat(np.arange(rows.start, rows.stop), len(columns)) for rows, columns in blocks]
        )
        self.columns = np.concatenate(
            none + [np.tile(columns, rows.stop - rows.start) for rows, columns in blocks]
        )


@dataclass(frozen=True, eq=False)
class Jacobians:
    """K Jacobians of one pattern.

    Parameters
    ----------
    values : (K, n) array
        Their entries.
    """

    pattern: Pattern
    values: Array

    @property
    def large(self) -> bool:
        """Whether one is too large for dense algebra."""
        return self.pattern.shape[0] * self.pattern.shape[1] > LARGEST_DENSE

    def at(self, poses: AnyArray) -> Jacobians:
        """Return those at some of the ``poses`` (n,), numbers."""
        return replace(self, values=self.values[poses])

    def moving(self, movable: AnyArray) -> Jacobians:
        """Return them with zeros in the rates that are not movable: ``movable`` (C,) of bool."""
        return replace(self, values=self.values * movable[self.pattern.columns])

    def squares(self) -> Array:
        """Return the sums of the squares of the entries, (K,)."""
        return np.asarray(np.einsum("kn,kn->k", self.values, self.values))

    def dense(self) -> Array:
        """Return them as arrays (K, r, C)."""
        J = np.zeros((len(self.values), *self.pattern.shape))
        J[:, self.pattern.rows, self.pattern.columns] = self.values
        return J

    def ranks(self) -> AnyArray:
        """Return their ranks, (K,)."""
        if self.large:
            return np.array([self._rank_of_large(values) for values in self.values], dtype=int)
        sigma = np.linalg.svd(self.dense(), compute_uv=False)
        largest = sigma.max(axis=1, keepdims=True, initial=0.0)
        counts: AnyArray = (sigma > DEFAULT_TOLERANCE * largest).sum(axis=1)
        return counts

    def _rank_of_large(self, values: Array) -> int:
        """Return the rank of a Jacobian with these entries (n,), decided pivot by pivot."""
        entries, start = [], 0
        for rows, columns in self.pattern.blocks:
            count = rows.stop - rows.start
            block = values[start : start + count * len(columns)].reshape(count, -1)
            entries += [Entry(rows, slice(c, c + 1), block[:, [k]]) for k, c in enumerate(columns.tolist())]
            start += block.size
        return self.pattern.shape[0] - eliminate(entries, self.pattern.shape, DEFAULT_TOLERANCE).redundancy
