"""The result of a tool for the rows of a block, and its derivation from a left null space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.constraints.reduction.reduce import ReducedBlock
from mbplugin.model.spatial import AnyArray, Array


@dataclass(frozen=True, eq=False)
class RowVerdict:
    """Uniqueness of the multipliers of one block.

    Parameters
    ----------
    unique : (m,) bool array
        Per row, in the order of ``ReducedBlock.labels``.
    indeterminate_dim : dict of constraint name to int
        Dimension of the family of possible reactions.
    """

    unique: AnyArray
    indeterminate_dim: dict[str, int]


def from_self_stresses(reduced: ReducedBlock, Z: Array, zero: float) -> RowVerdict:
    """Read the verdict off self-stresses Z (m, s): a basis, or at least six random ones.

    A row is unique iff it is zero in Z; the rank of a constraint's rows is the dimension of its
    indeterminate reaction. A random vector of the left null space is zero in a row exactly when that
    row is unique, with probability one.
    """
    unique = np.linalg.norm(Z, axis=1) <= zero
    first = np.cumsum([0, *(len(rows.components) for rows in reduced.rows)])
    dims = {rows.constraint: 0 for rows in reduced.rows}
    alike: dict[int, list[int]] = {}
    for k, rows in enumerate(reduced.rows):
        if not unique[first[k] : first[k + 1]].all():
            alike.setdefault(len(rows.components), []).append(k)
    for count, members in alike.items():
        Z_X = Z[first[members][:, None] + np.arange(count)]
        ranks = (np.linalg.svd(Z_X, compute_uv=False) > zero).sum(axis=1)
        dims.update((reduced.rows[k].constraint, max(1, int(r))) for k, r in zip(members, ranks, strict=True))
    return RowVerdict(unique, dims)


def from_left_null_basis(reduced: ReducedBlock, mu: Array, zero: float) -> RowVerdict:
    """Carry a left null basis mu (k, p) of J by statics to all rows, and read the verdict off it."""
    Z = np.linalg.qr(reduced.self_stresses(mu))[0]
    return from_self_stresses(reduced, np.asarray(Z), zero)
