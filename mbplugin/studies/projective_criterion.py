"""The projective criterion of all coordinates, in both of its forms (blajer1994 (23))."""

from __future__ import annotations

import numpy as np

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.formulations.criterion import inverse_diagonal, tangents
from mbplugin.dynamics.redundancy.independent import Independent
from mbplugin.model.spatial import Array


def projective_criterion(equations: Equations, constraints: Independent) -> Array:
    """Return cos²αᵢ = kᵢᵀ M_d⁻¹ kᵢ / (M⁻¹)ᵢᵢ of all coordinates, (n,) (blajer1994 (23a)).

    kᵢ is column i of D = Hᵀ and M_d = D M Dᵀ; the result does not depend on which H was taken.
    """
    return np.asarray((tangents(equations, constraints) ** 2).sum(axis=0))


def complementary_criterion(equations: Equations, constraints: Independent) -> Array:
    """Return cos²βᵢ = kᵢᵀ M_c⁻¹ kᵢ / (M⁻¹)ᵢᵢ of all coordinates, (n,) (blajer1994 (23b)).

    kᵢ is column i of C M⁻¹ and M_c = C M⁻¹Cᵀ. It is 1 − (23a), by another way.
    """
    effect = equations.solve_M(constraints.C.T)
    along = np.linalg.solve(constraints.C @ effect, effect.T)
    return np.asarray(np.einsum("ir,ri->i", effect, along) / inverse_diagonal(equations))
