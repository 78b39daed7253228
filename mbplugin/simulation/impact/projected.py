"""The projected transition condition: only the closing rows are unknown, the others are projected out."""

from __future__ import annotations

import numpy as np

from mbplugin.dynamics.formulations.kkt import kkt
from mbplugin.dynamics.solution import Solution
from mbplugin.lapack import solve_triangular
from mbplugin.model.spatial import Array
from mbplugin.simulation.impact.problem import ImpactProblem, best_rows


def projected(problem: ImpactProblem) -> Solution:
    """Solve [[M, −N₁ᵀJ₂ᵀ], [J₂N₁, 0]] [Δq̇; Λ₂] = [N₁ᵀU; −(J₂q̇₋ + b₂)] (mueller2026 (28), (32)).

    N₁ = I − C⁺J₁ with the pseudoinverse C⁺ of J₁ in the metric M, which redundant rows of J₁ do not
    disturb. What is missing to J₁q̇₋ + b₁ = 0 is corrected by C⁺ first. Multipliers of the persistent
    rows are not part of this form and come out as zero.
    """
    equations, closing = problem.equations, np.flatnonzero(problem.activated)
    inverse, N = _projector(problem)
    corrected = inverse @ problem.gap[~problem.activated]
    J2N1 = problem.C[closing] @ N
    gap = problem.gap[closing] - problem.C[closing] @ corrected
    best = best_rows(J2N1 * equations.column_scale, problem.added)
    constraints = problem.pose(closing[best], J2N1[best], gap[best])
    found = kkt(problem.impulsive(N.T @ problem.impulse), constraints)
    return Solution(found.v_dot + corrected, found.multipliers)


def _projector(problem: ImpactProblem) -> tuple[Array, Array]:
    """Return C⁺ (n, m₁) of the persistent rows and N₁ (n, n), through M = LLᵀ and the SVD of J₁L⁻ᵀ."""
    J1, rank = problem.C[~problem.activated], len(problem.persistent)
    L = np.linalg.cholesky(problem.equations.M)
    G = solve_triangular(L, J1.T, lower=True).T
    U, sigma, Vt = np.linalg.svd(G, full_matrices=False)
    U, sigma, Vt = U[:, :rank], sigma[:rank], Vt[:rank]
    V = solve_triangular(L, Vt.T, lower=True, transposed=True)
    return V @ (U / sigma).T, np.eye(len(L)) - V @ (L @ Vt.T).T
