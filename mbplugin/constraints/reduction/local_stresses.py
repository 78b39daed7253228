"""Self-stresses of a large block, each in the few rows that it loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbplugin.constraints.reduction.frontal_qr import Elimination
from mbplugin.constraints.reduction.reduce import ReducedBlock
from mbplugin.constraints.reduction.strips import Strip, added, stacked
from mbplugin.model.mechanism.body import WORLD

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def local_stresses(reduced: ReducedBlock, elimination: Elimination) -> csr_array:
    """Return a basis (m, p) of the scaled self-stresses, of columns of length one.

    The same as :meth:`ReducedBlock.self_stresses` of all null vectors, in the entries that are not zero: a loop
    loads its own joints, and its wrenches cancel on the bodies that carry it.
    """
    from scipy.sparse import csr_array

    mu = elimination.null_strips()
    nothing = Strip(np.zeros(0, dtype=int), np.zeros((1, 0)))
    on_body: dict[str, list[Strip]] = {}
    for body, rows, W in reduced.wrenches:
        own = stacked([mu.get(row, nothing) for row in range(rows.start, rows.stop)])
        on_body.setdefault(body, []).append(own.times(W.T * reduced.row_units[rows]))
    in_tree: dict[str, Strip] = {}
    for link in reversed(reduced.links):
        F = added(on_body.pop(link.outer, [Strip(nothing.columns, np.zeros((6, 0)))]))
        if link.rows is not None:
            in_tree[link.rows.constraint] = F.times(reduced.balancing[link.outer])
        if link.inner != WORLD and len(F.columns):
            on_body.setdefault(link.inner, []).append(F)
    strips = [in_tree[rows.constraint] for rows in reduced.tree_rows]
    units = reduced.row_units
    strips += [mu.get(row, nothing).times(units[[row], None]) for row in range(len(units))]
    data = np.concatenate([strip.values.ravel() for strip in strips])
    columns = np.concatenate([np.tile(strip.columns, len(strip.values)) for strip in strips])
    widths = np.concatenate([np.full(len(strip.values), len(strip.columns)) for strip in strips])
    size = np.sqrt(np.bincount(columns, data * data, elimination.redundancy))
    shape = (len(reduced.labels), elimination.redundancy)
    return csr_array((data / size[columns], columns, np.concatenate(([0], np.cumsum(widths)))), shape=shape)
