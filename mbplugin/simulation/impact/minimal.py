"""The transition condition in minimal coordinates: as few unknowns as the persistent constraints leave."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mbplugin.dynamics.dense import pivot_order
from mbplugin.dynamics.formulations.kkt import kkt
from mbplugin.dynamics.formulations.partition import partition
from mbplugin.dynamics.solution import Solution
from mbplugin.simulation.impact.problem import Setting, best_rows


def minimal(setting: Setting) -> Solution:
    """Solve [[M̄, −H₁ᵀJ₂ᵀ], [J₂H₁, 0]] [Δṡ; Λ₂] = [H₁ᵀU; −(J₂H₁ṡ₋ + b₂)] (mueller2026 (35)–(37)).

    Δq̇ = H₁Δṡ + [0; ξ], where ξ is what is missing to J₁q̇₋ + b₁ = 0, zero after a proper motion. The
    minimal coordinates are those that a pivoted factorisation of J₁ leaves over. Multipliers of the
    persistent rows are not part of this form and come out as zero.
    """
    equations, size = setting.equations, setting.equations.column_scale
    held, closing = setting.persistent, np.flatnonzero(setting.activated)
    J1 = setting.pose(held, setting.C[held], setting.gap[held])
    parts = partition(J1, pivot_order(J1.C * size)[len(held) :] if len(held) else np.arange(len(size)))
    H, free = parts.H, size[parts.independent]
    J2H1 = setting.C[closing] @ H
    gap = setting.gap[closing] - setting.C[closing] @ parts.xi
    best = best_rows(J2H1 * free, setting.added)
    reduced = replace(
        equations,
        M=H.T @ equations.M @ H,
        F=H.T @ (setting.impulse - equations.M @ parts.xi),
        column_scale=free,
    )
    if not len(free):
        return Solution(parts.xi, np.zeros(len(setting.C)))
    found = kkt(reduced, setting.pose(closing[best], J2H1[best], gap[best]))
    return Solution(H @ found.v_dot + parts.xi, found.multipliers)
