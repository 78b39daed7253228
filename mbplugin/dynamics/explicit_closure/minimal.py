"""Minimal equations of motion in the independent coordinates of closing conditions."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.explicit_closure.closing import Closing
from mbplugin.errors import BadUsage
from mbplugin.model.spatial import Array


def minimal_accelerations(equations: Equations, closing: Closing, q: Array) -> Array:
    """Return q̈ (nv,) from AᵀM A q̈_I = Aᵀ(F − M ξ) (blajer1993 (12)–(14)).

    Parameters
    ----------
    equations : Equations
        In joint coordinates, at the state (q, q̇).
    q : (nq,) array
        A closed pose.

    Raises
    ------
    BadUsage
        Equations in absolute coordinates, or with rows that are no closing conditions.
    """
    if equations.coordinates != "joint":
        raise BadUsage(
            "closing conditions are between joint coordinates",
            expected="equations in joint coordinates",
        )
    own = {c.name for c in closing.rows.closings}
    if other := next((name for name, _ in equations.labels if name not in own), None):
        raise BadUsage(
            f"{other!r} is no closing condition of a loop",
            remedy="use a formulation that takes any row, as voronets does",
        )
    here = closing.at(q)
    xi = here.xi(equations.v)
    mass = here.A.T @ equations.M @ here.A
    force = here.A.T @ (equations.F - equations.M @ xi)
    return np.asarray(here.A @ scipy.linalg.solve(mass, force, assume_a="pos") + xi)
