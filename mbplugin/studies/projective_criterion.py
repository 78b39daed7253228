"""The projective criterion of all joint rates, in both of its forms (blajer1994 (23))."""

from __future__ import annotations

import numpy as np

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.formulations.criterion import inverse_diagonal, tangents
from mbplugin.dynamics.joint import joint_equations
from mbplugin.dynamics.redundancy.eliminate import eliminate
from mbplugin.dynamics.redundancy.independent import Independent
from mbplugin.joint_reactions.state import closed_state
from mbplugin.model.mechanism.kinematics import JointValues
from mbplugin.model.spatial import Array
from mbplugin.readers.source import ModelSource, model_of


def projective_criterion(model: ModelSource, q: JointValues = None) -> dict[str, float]:
    """Return cos²αᵢ of every joint rate of a model at a pose: how well it serves as an independent one.

    1 is a rate along the motions that the constraints allow, 0 one that cannot be independent. Masses count.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
    q : mapping or vector, optional
        Joint coordinates, rad and m; the loops are closed first.

    Raises
    ------
    CannotClose
        The loops cannot be closed.
    """
    state = closed_state(model_of(model), q, None, None, None, None)
    equations = joint_equations(
        state.mech, state.q, np.zeros(len(state.mech.qd_names)), tolerance=state.tolerance
    )
    values = cos_squared(equations, eliminate(equations))
    return dict(zip(state.mech.qd_names, values.tolist(), strict=True))


def cos_squared(equations: Equations, constraints: Independent) -> Array:
    """Return cos²αᵢ = kᵢᵀ M_d⁻¹ kᵢ / (M⁻¹)ᵢᵢ of all coordinates, (n,) (blajer1994 (23a)).

    kᵢ is column i of D = Hᵀ and M_d = D M Dᵀ; the result does not depend on which H was taken.
    """
    return np.asarray((tangents(equations, constraints) ** 2).sum(axis=0))


def complementary_cos_squared(equations: Equations, constraints: Independent) -> Array:
    """Return cos²βᵢ = kᵢᵀ M_c⁻¹ kᵢ / (M⁻¹)ᵢᵢ of all coordinates, (n,) (blajer1994 (23b)).

    kᵢ is column i of C M⁻¹ and M_c = C M⁻¹Cᵀ. It is 1 − (23a), by another way.
    """
    effect = equations.solve_M(constraints.C.T)
    along = np.linalg.solve(constraints.C @ effect, effect.T)
    return np.asarray(np.einsum("ir,ri->i", effect, along) / inverse_diagonal(equations))
