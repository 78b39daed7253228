"""Bases of the self-stresses of all blocks, by their entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.sparse import coo_array, csr_array, issparse, sparray

from mbplugin.analysis.uniqueness import StressedBlock
from mbplugin.joint_reactions.self_stresses.independent_rows import independent_rows
from mbplugin.model.spatial import AnyArray, Array


@dataclass(frozen=True, eq=False)
class StressBasis:
    """The scaled self-stresses of one block.

    Parameters
    ----------
    rows : (n,) int array
        Of the system.
    Z : (n, p) array
        Orthonormal.
    local : (n, p) array
        The same space; of a large block each in the few rows that it loads.
    dropped : (p,) int array
        Rows of the system, well apart, without which the rest are independent.
    """

    rows: AnyArray
    Z: Array | csr_array
    local: Array | csr_array
    dropped: AnyArray

    @property
    def large(self) -> bool:
        """Whether the arrays are sparse."""
        return bool(issparse(self.Z))


def stress_basis(s: StressedBlock, rows: AnyArray) -> StressBasis:
    """Return the basis of a block with redundant constraints, ``rows`` (n,) of the system."""
    if s.complete:
        return StressBasis(rows, s.Z, s.Z, rows[dependent_rows(s.Z)])
    local = s.ranked.local_stresses
    return StressBasis(rows, s.ranked.orthonormal_stresses, local, rows[np.sort(independent_rows(local)[0])])


def dependent_rows(Z: Array) -> AnyArray:
    """Return p rows (p,) on which the self-stresses Z (m, p) are most independent (pivoted QR of Zᵀ).

    Dropping them leaves rows of full rank: no combination of the rest is a self-stress.
    """
    if not Z.shape[1]:
        return np.zeros(0, dtype=int)
    order = scipy.linalg.qr(Z.T, mode="r", pivoting=True)[1]
    return np.sort(order[: Z.shape[1]])


def side_by_side(pieces: Sequence[tuple[AnyArray, Array | sparray]], m: int) -> csr_array:
    """Return pieces (n, k), each in its own columns and in its rows (n,) of m, as one matrix."""
    placed_pieces, width = [], 0
    for rows, values in pieces:
        columns = np.arange(width, width + values.shape[1])
        placed_pieces.append((rows, columns, values))
        width += len(columns)
    return placed(placed_pieces, (m, width))


def placed(pieces: Sequence[tuple[AnyArray, AnyArray, Array | sparray]], shape: tuple[int, int]) -> csr_array:
    """Return a matrix of pieces (n, k), each in its rows (n,) and columns (k,)."""
    data, i, j = [np.zeros(0)], [np.zeros(0, int)], [np.zeros(0, int)]
    for rows, columns, values in pieces:
        piece = coo_array(values)
        data.append(piece.data)
        i.append(rows[piece.row])
        j.append(columns[piece.col])
    return csr_array((np.concatenate(data), (np.concatenate(i), np.concatenate(j))), shape=shape)
