"""The physical reactions among the possible ones: those of least elastic energy.

The real λ minimises ½ λᵀAλ + dᵀλ over all λ = λ₀ + Z y of the same motion, so that y = −(ZᵀAZ)⁻¹ Zᵀ(A λ₀ +
d). A component is determined only if a self-stress that changes it deforms an element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from mbplugin.joint_reactions.stiffness.elements import Element
from mbplugin.joint_reactions.system import System
from mbplugin.model.spatial import AnyArray, Array

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
    open : (m, k) array
        Orthonormal changes of the multipliers, scaled, that neither determines.
    response : (m, k) array
        W with B = W Wᵀ: stated gaps δ change the multipliers by −B δ, scaled; B = Z (ZᵀAZ)⁻¹ Zᵀ on the
        self-stresses that compliance determines. Beside ``open`` ones B has no finite value.
    """

    multipliers: Array
    determined: AnyArray
    open: Array
    response: Array


def resolve(
    system: System, multipliers: Array, elements: Sequence[Element], misfit: Array, uncovered: AnyArray
) -> Resolution:
    """Return the reactions of least elastic energy.

    A self-stress that loads an uncovered row stays open, whatever part of it bends something: what it
    also loads and nobody stated would decide. Others that bend the same elements depend on it.

    Parameters
    ----------
    multipliers : (m,) array
        One balancing λ₀, scaled.
    elements : sequence of Element
        Everything that gives way; what is not among them is rigid.
    misfit : (m,) array
        Gaps open before assembly, scaled (with the rows).
    uncovered : (m,) bool array
        Rows of reactions on bodies without stiffness (pekal2024 §1).
    """
    Z, factors = system.Z, [(e.rows, _factor(e.A)) for e in elements]
    limit = np.maximum(system.zero, 1e-8)
    avoiding, loading = _split(Z[uncovered & ~system.unique], float(limit.max(initial=1e-8)))
    seen = np.vstack([np.zeros((0, Z.shape[1])), *(_unit_rows(B) @ Z[rows] for rows, B in factors)])
    unseen, basis = _split(seen @ avoiding, _SEEN)
    unseen, basis = avoiding @ unseen, avoiding @ basis
    if not basis.shape[1]:
        return _resolution(system, multipliers, np.hstack((unseen, loading)), limit, basis)
    gaps = misfit.copy()
    for e in elements:
        gaps[e.rows] += e.d
    bent = np.vstack([B @ (Z[rows] @ basis) for rows, B in factors])
    loaded = np.concatenate([B @ multipliers[rows] for rows, B in factors])
    y = basis @ _least_energy(bent, loaded, basis.T @ (Z.T @ gaps))
    followed = [
        basis
        @ _least_energy(bent, np.concatenate([B @ (Z[r] @ c) for r, B in factors]), np.zeros(len(basis.T)))
        for c in loading.T
    ]
    following = loading - np.array(followed).reshape(-1, len(Z.T)).T
    free = np.hstack((unseen, following))
    return _resolution(system, multipliers - Z @ y, free, limit, basis @ _inverse_factor(bent))


def _resolution(
    system: System, multipliers: Array, free: Array, limit: Array, responding: Array
) -> Resolution:
    """Return what is determined beside the self-stresses ``free`` (p, k), and what responds to gaps.

    ``multipliers`` (m,), ``limit`` (m,) and ``responding`` (p, r).
    """
    changes = system.Z @ np.linalg.qr(free)[0]
    determined = system.unique | (np.linalg.norm(changes, axis=1) <= limit)
    # what the rigid model determines has rounding there
    response = np.where(system.unique[:, None], 0.0, system.Z @ responding)
    return Resolution(multipliers, determined, changes, response)


def _split(rows: Array, limit: float) -> tuple[Array, Array]:
    """Return orthonormal bases of what rows (k, p) map to zero, (p, p − r), and of the rest, (p, r)."""
    _, sigma, Vt = np.linalg.svd(np.linalg.qr(rows, mode="r"))
    rank = int((sigma > limit).sum())
    return np.asarray(Vt[rank:].T), np.asarray(Vt[:rank].T)


def _factor(A: Array) -> Array:
    """Return B (r, k) with A = BᵀB, r the rank of a flexibility A (k, k)."""
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
    """Return rows (k, n) of length one: what is determined must not depend on how much something gives way."""
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def _least_energy(bent: Array, loaded: Array, gaps: Array) -> Array:
    """Return y (p,) of least ½ |loaded − bent y|² − gapsᵀ y; bent (k, p), loaded (k,) and gaps (p,).

    Rows of very different size (a soft pair beside a hard one) keep their digits when the largest
    come first in a pivoted QR; normal equations would lose the hard ones.
    """
    order = np.argsort(-np.linalg.norm(bent, axis=1), kind="stable")
    Q, R, pivots = scipy.linalg.qr(bent[order], mode="economic", pivoting=True)
    u = Q.T @ loaded[order] + scipy.linalg.solve_triangular(R, gaps[pivots], trans="T")
    y = np.zeros(len(pivots))
    y[pivots] = scipy.linalg.solve_triangular(R, u)
    return y


def _inverse_factor(bent: Array) -> Array:
    """Return G (p, p) with G Gᵀ = (bentᵀ bent)⁻¹, for bent (k, p); in the order of ``_least_energy``."""
    order = np.argsort(-np.linalg.norm(bent, axis=1), kind="stable")
    R, pivots = scipy.linalg.qr(bent[order], mode="r", pivoting=True)
    size = len(pivots)
    G = np.zeros((size, size))
    G[pivots] = scipy.linalg.solve_triangular(R[:size], np.eye(size))
    return G
