"""The general transition condition: momentum balance and all constraints in one system."""

from __future__ import annotations

from mbplugin.dynamics.formulations.kkt import kkt
from mbplugin.dynamics.solution import Solution
from mbplugin.simulation.impact.problem import Setting


def full(setting: Setting) -> Solution:
    """Solve [[M, −J₊ᵀ], [J₊, 0]] [Δq̇; Λ] = [U; −(J₊q̇₋ + b₊)] (mueller2026 (22), (24)).

    The matrix is that of the equations of motion with multipliers; rows that others imply are left out.
    """
    rows = setting.equations.independent_rows
    constraints = setting.pose(rows, setting.C[rows], setting.gap[rows])
    return kkt(setting.impulsive(setting.impulse), constraints)
