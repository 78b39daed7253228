"""The Dormand–Prince method of order 8(5,3) with step control, and dense output of order 7.

The coefficients are in ``integrators/explicit.py``.
"""

from __future__ import annotations

import numpy as np

from mbplugin.model import Array
from mbplugin.simulation.integrators import explicit as dop853
from mbplugin.simulation.integrators.explicit import ExplicitIntegrator
from mbplugin.simulation.integrators.explicit_loop import Tableau


def _dense_output() -> Array:
    """Return the weights (16, 8) of the stages in powers of θ.

    Hairer's form is F₀θ + F₁θ(1−θ) + F₂θ²(1−θ) + F₃θ²(1−θ)² + … with F₀ = Δy, F₁ = hk₁ − Δy,
    F₂ = 2Δy − h(k₁ + k₁₃) and F₃ … F₆ from D.
    """
    stages = len(dop853.D[0])
    rise, first, last = np.zeros(stages), np.eye(stages)[0], np.eye(stages)[12]
    rise[:12] = dop853.B
    F = np.vstack((rise, first - rise, 2.0 * rise - (first + last), dop853.D))
    weights, factor = np.zeros((stages, 8)), np.polynomial.Polynomial([0.0, 1.0])
    for n, values in enumerate(F):
        weights[:, : len(factor.coef)] += np.outer(values, factor.coef)
        factor *= np.polynomial.Polynomial([1.0, -1.0] if n % 2 == 0 else [0.0, 1.0])
    return weights


INTEGRATOR = ExplicitIntegrator(
    Tableau(
        A=dop853.A,
        b=dop853.B,
        c=dop853.C,
        errors=(dop853.E5, dop853.E3),
        error_order=7,
        dense=_dense_output(),
        A_dense=dop853.A_EXTRA,
        c_dense=dop853.C_EXTRA,
    )
)
