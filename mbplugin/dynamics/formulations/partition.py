"""A partition of the coordinates into independent and dependent ones, and the motion in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.redundancy.independent import Independent
from mbplugin.dynamics.solution import Solution
from mbplugin.errors import BadUsage
from mbplugin.model.spatial import AnyArray, Array


@dataclass(frozen=True, eq=False)
class Partition:
    """v̇ = H v̇_I + [0; ξ] for independent coordinates I and dependent ones D.

    Parameters
    ----------
    independent, dependent : (k,), (r,) array of int
        Which coordinates.
    H : (n, k) array
        Identity in the independent rows and A = −C_D⁻¹C_I in the dependent ones: a basis of ker C.
        It is Dᵀ of blajer1994 (9) and F of mueller2026 (10).
    xi : (n,) array
        [0; ξ] with ξ = C_D⁻¹Γ (blajer1994 (8), (10)).
    """

    independent: AnyArray
    dependent: AnyArray
    H: Array
    xi: Array


def partition(constraints: Independent, independent: AnyArray) -> Partition:
    """Return the partition with given coordinates ``independent`` (k,) (blajer1994 (5)–(10)).

    Raises
    ------
    BadUsage
        Coordinates that the constraints make depend on each other, or too few or too many.
    """
    r, n = constraints.C.shape
    chosen = np.asarray(independent, dtype=int)
    dependent = np.delete(np.arange(n), chosen)
    if len(dependent) != r:
        raise BadUsage(f"{len(chosen)} independent coordinates are given", expected=f"{n - r}")
    sides = np.column_stack((constraints.C[:, chosen], constraints.Gamma))
    try:
        solved = np.linalg.solve(constraints.C[:, dependent], sides)
    except np.linalg.LinAlgError:
        raise BadUsage(
            "the coordinates that are to be independent depend on each other at this pose",
            remedy="choose others, for example those with the largest projective criterion",
        ) from None
    H, xi = np.zeros((n, len(chosen))), np.zeros(n)
    H[chosen, np.arange(len(chosen))] = 1.0
    H[dependent], xi[dependent] = -solved[:, :-1], solved[:, -1]
    return Partition(chosen, dependent, H, xi)


def motion_in(equations: Equations, constraints: Independent, parts: Partition) -> Solution:
    """Solve HᵀMH v̇_I = Hᵀ(F − M[0; ξ]) (blajer1994 (12)–(14), mueller2026 (12), (13)).

    The multipliers follow from the rows of the dependent coordinates, C_Dᵀ μ = (M v̇ − F)_D.
    """
    H, M = parts.H, equations.M
    MH = M @ H
    reduced = np.linalg.solve(H.T @ MH, H.T @ equations.F - MH.T @ parts.xi)
    v_dot = H @ reduced + parts.xi
    D = parts.dependent
    multipliers = np.linalg.solve(constraints.C[:, D].T, M[D] @ v_dot - equations.F[D])
    return Solution(v_dot, constraints.spread @ multipliers)
