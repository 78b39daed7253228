"""The projective criterion: how well each coordinate serves as an independent one.

A coordinate is a direction kᵢ in the space of velocities, whose metric is M. It serves the better the
closer it lies to the motions that the constraints allow: cos²αᵢ = 1 is entirely among them, 0 cannot be
independent. Masses count: with others, another coordinate may be the best.
"""

from __future__ import annotations

import numpy as np

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.formulations.partition import partition
from mbplugin.dynamics.formulations.voronets import pivoted_coordinates
from mbplugin.dynamics.redundancy.independent import Independent
from mbplugin.lapack import pivot_order, solve_triangular
from mbplugin.model.spatial import AnyArray, Array


def tangents(equations: Equations, constraints: Independent) -> Array:
    """Return the projections (k, n) of the unit vectors kᵢ/|kᵢ| on the motions that are allowed.

    They are written in a basis that is orthonormal in the metric M: the length of column i is cos αᵢ,
    and the columns of an independent set are a well conditioned matrix.
    """
    H = partition(constraints, pivoted_coordinates(equations, constraints)).H
    lower = np.asarray(np.linalg.cholesky(H.T @ equations.M @ H), dtype=float)
    projected = solve_triangular(lower, H.T, lower=True)
    return np.asarray(projected / np.sqrt(inverse_diagonal(equations)))


def independence(projections: Array, chosen: AnyArray) -> float:
    """Return how independent a set of coordinates is, from 0 to 1.

    The smallest singular value squared of its projections (k, n), of which ``chosen`` (k,) are taken: for one
    freedom the criterion itself.
    """
    if not len(projections):
        return 1.0
    return float(np.linalg.svd(projections[:, chosen], compute_uv=False)[-1] ** 2)


def best_coordinates(projections: Array) -> AnyArray:
    """Return k independent coordinates (k,) by the criterion from projections (k, n), in ascending order.

    First the one of the largest cos²αᵢ, then each time the largest of what is left when the chosen
    ones are taken out; the k largest values alone may depend on each other.
    """
    return np.sort(pivot_order(projections)[: len(projections)])


def inverse_diagonal(equations: Equations) -> Array:
    """Return the diagonal (n,) of M⁻¹."""
    return np.asarray(np.diagonal(equations.solve_M(np.eye(len(equations.M)))))
