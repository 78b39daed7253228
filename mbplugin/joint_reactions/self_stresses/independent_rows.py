"""Rows on which sparse self-stresses are independent, and all other rows as combinations of them."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from scipy.sparse import csr_array

from mbplugin.model.spatial import AnyArray

#: A pivot may be smaller than the largest of its column by so much where few columns meet in its row.
_PIVOT = 0.1
#: A coefficient that is smaller is rounding.
_NOTHING = 1e-12


def independent_rows(B: csr_array) -> tuple[AnyArray, csr_array]:
    """Return p independent rows (p,) of a basis B (m, p), and T = B (these rows of B)⁻¹, (m, p).

    Gauss–Jordan elimination, column by column. Of the rows that are large enough the one that fewest columns
    share is the pivot, so that a combination stays short; of equal ones the first.
    """
    by_column = B.tocsc()
    columns = [
        dict(zip(by_column.indices[a:b].tolist(), by_column.data[a:b].tolist(), strict=True))
        for a, b in zip(by_column.indptr[:-1].tolist(), by_column.indptr[1:].tolist(), strict=True)
    ]
    sharing: defaultdict[int, set[int]] = defaultdict(set)
    for c, column in enumerate(columns):
        for row in column:
            sharing[row].add(c)
    pivots = []
    for c, column in enumerate(columns):
        enough = _PIVOT * max(abs(value) for value in column.values())
        pivot = min(
            (row for row, v in column.items() if abs(v) >= enough), key=lambda r: (len(sharing[r]), r)
        )
        divisor = column[pivot]
        for row in column:
            column[row] /= divisor
        for other in sharing[pivot] - {c}:
            _subtract(columns, sharing, c, other, pivot)
        pivots.append(pivot)
    rows = np.array([row for column in columns for row in column], dtype=int)
    data = np.array([value for column in columns for value in column.values()])
    places = rows, np.repeat(np.arange(len(columns)), [len(column) for column in columns])
    return np.array(pivots, dtype=int), csr_array((data, places), shape=B.shape)


def _subtract(
    columns: list[dict[int, float]], sharing: dict[int, set[int]], c: int, other: int, pivot: int
) -> None:
    """Take so much of column ``c`` from another one that this has nothing left in the row ``pivot``."""
    changed = columns[other]
    factor = changed[pivot]
    for row, value in columns[c].items():
        left = changed.get(row, 0.0) - factor * value
        if row == pivot or abs(left) < _NOTHING:
            changed.pop(row, None)
            sharing[row].discard(other)
        else:
            changed[row] = left
            sharing[row].add(other)
