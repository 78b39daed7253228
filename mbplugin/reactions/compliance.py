"""The physical reactions among the possible ones: those of least elastic energy.

The real λ minimises ½ λᵀAλ + dᵀλ over all λ = λ₀ + Z y of the same motion, so that
y = −(ZᵀAZ)⁻¹ Zᵀ(A λ₀ + d). Only what some element gives way to is determined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from mbplugin.reactions.elements import Element
from mbplugin.reactions.system import System
from mbplugin.spatial import AnyArray, Array

#: Relative size below which a flexibility is rounding.
_ROUNDING = 1e-11
#: Part of a self-stress that has to bend something for the self-stress to be determined.
_SEEN = 1e-9


@dataclass(frozen=True, eq=False)
class Resolution:
    """Multipliers that compliance determines.

    Parameters
    ----------
    multipliers : (m,) array
        Scaled; of those that are not determined only the relations to others mean anything.
    determined : (m,) bool array
        Whether compliance, or the rigid model, determines each.
    """

    multipliers: Array
    determined: AnyArray


def resolve(system: System, multipliers: Array, elements: Sequence[Element], misfit: Array) -> Resolution:
    """Return the reactions of least elastic energy.

    Parameters
    ----------
    multipliers : (m,) array
        One balancing λ₀, scaled.
    elements : sequence of Element
        Everything that gives way; what is not among them is rigid.
    misfit : (m,) array
        Gaps open before assembly, scaled (with the rows).
    """
    Z, factors = system.Z, [(e.rows, _factor(e.A)) for e in elements]
    seen = np.vstack([np.zeros((0, Z.shape[1])), *(_unit_rows(B) @ Z[rows] for rows, B in factors)])
    _, sigma, Vt = np.linalg.svd(np.linalg.qr(seen, mode="r"))
    rank = int((sigma > _SEEN).sum())
    basis, unseen = Vt[:rank].T, Vt[rank:].T
    limit = np.maximum(system.zero, 1e-8)
    determined = system.unique | (np.linalg.norm(Z @ unseen, axis=1) <= limit)
    if not rank:
        return Resolution(multipliers, determined)
    gaps = misfit.copy()
    for e in elements:
        gaps[e.rows] += e.d
    bent = np.vstack([B @ (Z[rows] @ basis) for rows, B in factors])
    loaded = np.concatenate([B @ multipliers[rows] for rows, B in factors])
    y = basis @ _least_energy(bent, loaded, basis.T @ (Z.T @ gaps))
    return Resolution(multipliers - Z @ y, determined)


def _factor(A: Array) -> Array:
    """Return B (r, k) with A = BᵀB, r the rank of a flexibility."""
    size = np.sqrt(np.maximum(np.diag(A), 0.0))
    giving = np.flatnonzero(size > 0)
    if not giving.size:
        return np.zeros((0, len(A)))
    s = size[giving]
    # with a diagonal of ones, what is soft does not hide what is stiff
    values, vectors = np.linalg.eigh(A[np.ix_(giving, giving)] / np.outer(s, s))
    kept = values > _ROUNDING * values[-1]
    B = np.zeros((int(kept.sum()), len(A)))
    B[:, giving] = np.sqrt(values[kept])[:, None] * vectors[:, kept].T * s
    return B


def _unit_rows(rows: Array) -> Array:
    """Return rows of length one: what is determined must not depend on how much something gives way."""
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def _least_energy(bent: Array, loaded: Array, gaps: Array) -> Array:
    """Return y of least ½ |loaded − bent y|² − gapsᵀ y.

    Rows of very different size (a soft pair beside a hard one) keep their digits when the largest
    come first in a pivoted QR; normal equations would lose the hard ones.
    """
    order = np.argsort(-np.linalg.norm(bent, axis=1), kind="stable")
    Q, R, pivots = scipy.linalg.qr(bent[order], mode="economic", pivoting=True)
    u = Q.T @ loaded[order] + scipy.linalg.solve_triangular(R, gaps[pivots], trans="T")
    y = np.zeros(len(pivots))
    y[pivots] = scipy.linalg.solve_triangular(R, u)
    return y
