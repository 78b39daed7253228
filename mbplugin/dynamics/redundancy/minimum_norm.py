"""Minimum norm: of all multipliers that give the motion, the smallest."""

from __future__ import annotations

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.redundancy.independent import Independent, as_they_are


def minimum_norm(equations: Equations) -> Independent:
    """Return the r left singular vectors of the scaled rows as constraints.

    They are orthonormal and orthogonal to every self-stress, so that the multipliers spread by them
    are the smallest; moments count in characteristic lengths. Which multipliers these are where a
    reaction is not unique depends on that length.
    """
    if not equations.degree_of_redundancy:
        return as_they_are(equations)
    U = equations.singular_vectors[:, : equations.rank]
    combine = (equations.row_scale[:, None] * U).T
    return Independent(combine @ equations.C, combine @ equations.Gamma, combine.T)
