"""The physical reactions among the possible ones: those of least elastic energy.

The real λ minimises ½ λᵀAλ + dᵀλ over all λ = λ₀ + Z y of the same motion, so that y = −(ZᵀAZ)⁻¹ Zᵀ(A λ₀ +
d). A component is determined only if a self-stress that changes it deforms an element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array

from mbplugin.joint_reactions.self_stresses.basis import placed, side_by_side
from mbplugin.joint_reactions.stiffness.elements import Element
from mbplugin.joint_reactions.stiffness.least_energy import LeastEnergy, solved_parts
from mbplugin.joint_reactions.system import System
from mbplugin.model.spatial import AnyArray, Array

#: Relative size below which a flexibility is rounding.
_ROUNDING = 1e-11


@dataclass(frozen=True, eq=False)
class Resolution:
    """Multipliers that compliance determines.

    Parameters
    ----------
    multipliers : (m,) array
        Scaled; of those that are not determined only the relations to others mean anything.
    determined : (m,) bool array
        Whether compliance, or the rigid model, determines each.
    open : (m, k) sparse array
        Orthonormal changes of the multipliers, scaled, that neither determines.
    response : (m, k) sparse array
        W with B = W Wᵀ: stated gaps δ change the multipliers by −B δ, scaled; B = Z (ZᵀAZ)⁻¹ Zᵀ on the
        self-stresses that compliance determines. Beside ``open`` ones B has no finite value.
    """

    multipliers: Array
    determined: AnyArray
    open: csr_array
    response: csr_array


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
    m, gaps = len(multipliers), misfit.copy()
    for e in elements:
        gaps[e.rows] += e.d
    limit = np.maximum(system.zero, 1e-8)
    F = _flexibility_factor(elements, m)
    problem = LeastEnergy(
        F, F @ multipliers, gaps, uncovered & ~system.unique, float(limit.max(initial=1e-8))
    )
    parts = solved_parts(problem, system.Z, system.local)
    found = multipliers.copy()
    for part in parts:
        found[part.rows] -= part.change
    free = side_by_side([(part.rows, part.free) for part in parts], m)
    determined = system.unique | (np.sqrt(free.power(2).sum(axis=1)) <= limit)
    # what the rigid model determines has rounding there
    open_rows = diags_array(np.where(system.unique, 0.0, 1.0))
    response = open_rows @ side_by_side([(part.rows, part.responding) for part in parts], m)
    return Resolution(found, determined, free, response.tocsr())


def _flexibility_factor(elements: Sequence[Element], m: int) -> csr_array:
    """Return F (k, m) with FᵀF the flexibility of all elements."""
    pieces, start = [], 0
    for e in elements:
        B = _factor(e.A)
        pieces.append((np.arange(start, start + len(B)), e.rows, B))
        start += len(B)
    return placed(pieces, (start, m))


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
