"""Constraints without redundancy, and how their multipliers are spread over all rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.dynamics.equations import Equations
from mbplugin.model.spatial import Array


@dataclass(frozen=True, eq=False)
class Independent:
    """r independent constraints that stand for all m rows.

    Parameters
    ----------
    C : (r, n) array
        Dimensionless rows on the coordinates of the equations.
    Gamma : (r,) array
        C v̇ = Γ.
    spread : (m, r) array
        λ = spread μ are the multipliers of all rows, N and N·m, for the multipliers μ of these.
    """

    C: Array
    Gamma: Array
    spread: Array


def as_they_are(equations: Equations) -> Independent:
    """Return the scaled rows themselves, which are independent where p = 0."""
    scale = equations.row_scale
    return Independent(scale[:, None] * equations.C, scale * equations.Gamma, np.diag(scale))
