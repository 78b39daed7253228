"""Voronets equations: minimal coordinates, chosen by the geometry of the constraints."""

from __future__ import annotations

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.formulations.partition import motion_in, partition
from mbplugin.dynamics.redundancy.independent import Independent
from mbplugin.dynamics.solution import Solution
from mbplugin.lapack import pivot_order
from mbplugin.model.spatial import AnyArray


def voronets(equations: Equations, constraints: Independent) -> Solution:
    """Solve M̄ s̈ = Hᵀ(F − M Ḣṡ), M̄ = HᵀMH, with q̇ = H ṡ (mueller2026 (10)–(13), whose F is H).

    Γ gives Ḣṡ: it is the acceleration that the constraints demand while s̈ = 0.
    """
    return motion_in(
        equations, constraints, partition(constraints, pivoted_coordinates(equations, constraints))
    )


def pivoted_coordinates(equations: Equations, constraints: Independent) -> AnyArray:
    """Return independent coordinates (k,): those that a pivoted QR of the scaled C leaves over.

    The columns of the others are well independent, so that H stays moderate; masses play no part.
    """
    return pivot_order(constraints.C * equations.column_scale)[len(constraints.C) :]
