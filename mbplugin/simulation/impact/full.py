"""The general transition condition: momentum balance and all constraints in one system."""

from __future__ import annotations

from mbplugin.dynamics.formulations.kkt import kkt
from mbplugin.dynamics.solution import Solution
from mbplugin.simulation.impact.problem import ImpactProblem


def full(problem: ImpactProblem) -> Solution:
    """Solve [[M, −J₊ᵀ], [J₊, 0]] [Δq̇; Λ] = [U; −(J₊q̇₋ + b₊)] (mueller2026 (22), (24)).

    The matrix is that of the equations of motion with multipliers; rows that others imply are left out.
    """
    rows = problem.equations.independent_rows
    constraints = problem.pose(rows, problem.C[rows], problem.gap[rows])
    return kkt(problem.impulsive(problem.impulse), constraints)
