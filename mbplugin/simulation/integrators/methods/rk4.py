"""The classical Runge–Kutta method of order 4, with a fixed step.

Between the ends of a step: the cubic Hermite polynomials of increment and rates.
"""

from __future__ import annotations

from mbplugin.simulation.integrators.explicit import ExplicitIntegrator
from mbplugin.simulation.integrators.explicit_loop import Tableau

INTEGRATOR = ExplicitIntegrator(
    Tableau(
        A=[[], [1 / 2], [0, 1 / 2], [0, 0, 1]],
        b=[1 / 6, 1 / 3, 1 / 3, 1 / 6],
        c=[0, 1 / 2, 1 / 2, 1],
    )
)
