"""The Dormand–Prince method of order 5(4) with step control, and dense output of order 4.

The coefficients are those of Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, as
scipy publishes them.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import RK45

from mbplugin.simulation.integrators.explicit import ExplicitIntegrator
from mbplugin.simulation.integrators.tableau import Tableau

INTEGRATOR = ExplicitIntegrator(
    Tableau(
        A=RK45.A,
        b=RK45.B,
        c=RK45.C,
        errors=(RK45.E,),
        error_order=4,
        dense=np.hstack((np.zeros((len(RK45.P), 1)), RK45.P)),
    )
)
