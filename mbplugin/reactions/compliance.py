"""The physical reactions among the possible ones: those of least elastic energy (THEORY §4).

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
from mbplugin.spatial import Array

#: Relative size below which a flexibility, or what it sees of a self-stress, is rounding.
_ROUNDING = 1e-9


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
    determined: np.ndarray


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
    Z = system.Z
    seen = _seen(Z, elements)
    _, sigma, Vt = np.linalg.svd(np.linalg.qr(seen, mode="r"))
    rank = int((sigma > _ROUNDING).sum())
    basis, unseen = Vt[:rank].T, Vt[rank:].T
    limit = np.maximum(system.zero, 1e-8)
    determined = system.unique | (np.linalg.norm(Z @ unseen, axis=1) <= limit)
    if not rank:
        return Resolution(multipliers, determined)
    G, g = np.zeros((rank, rank)), basis.T @ (Z.T @ misfit)
    for e in elements:
        own = Z[e.rows] @ basis
        G += own.T @ e.A @ own
        g += own.T @ (e.A @ multipliers[e.rows] + e.d)
    size = 1 / np.sqrt(np.diag(G))
    y = size * scipy.linalg.solve(size[:, None] * G * size, size * g, assume_a="pos")
    return Resolution(multipliers - Z @ (basis @ y), determined)


def _seen(Z: Array, elements: Sequence[Element]) -> Array:
    """Return rows (k, p) whose null space is that of ZᵀAZ, however soft or stiff each element is.

    Every element is brought to unit size in each direction in which it gives way, since what is
    determined must not depend on how much.
    """
    parts = [np.zeros((0, Z.shape[1]))]
    for e in elements:
        size = np.sqrt(np.maximum(np.diag(e.A), 0.0))
        giving = size > 0
        if not giving.any():
            continue
        s = size[giving]
        values, vectors = np.linalg.eigh(e.A[np.ix_(giving, giving)] / np.outer(s, s))
        kept = vectors[:, values > _ROUNDING * values[-1]].T * s
        kept /= np.linalg.norm(kept, axis=1, keepdims=True)
        parts.append(kept @ Z[e.rows[giving]])
    return np.vstack(parts)
