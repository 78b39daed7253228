"""Coordinate partitioning: independent coordinates by the projective criterion, changed when it becomes small."""

from __future__ import annotations

import numpy as np

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.formulations.criterion import best_coordinates, independence, tangents
from mbplugin.dynamics.formulations.partition import motion_in, partition
from mbplugin.dynamics.redundancy.independent import Independent
from mbplugin.dynamics.solution import Solution
from mbplugin.model.spatial import AnyArray

#: Coordinates are kept while they are at least this fraction as independent as the best ones: a change
#: costs nothing in accuracy, but nothing is won by changing to and fro where two are equally good.
_KEPT = 0.5


def partitioning(
    equations: Equations, constraints: Independent, independent: AnyArray | None = None
) -> Solution:
    """Solve M_d v̇_I = h_d, v̇ = Dᵀ v̇_I + [0; ξ] (blajer1994 (9)–(14)).

    Parameters
    ----------
    independent : (k,) array of int, optional
        Independent coordinates, as :func:`independent_coordinates` keeps them along a motion; by
        default the best ones of this state.
    """
    chosen = independent_coordinates(equations, constraints) if independent is None else independent
    return motion_in(equations, constraints, partition(constraints, chosen))


def independent_coordinates(
    equations: Equations, constraints: Independent, current: AnyArray | None = None
) -> AnyArray:
    """Return the independent coordinates (k,) to go on with: the current ones while good, else the best.

    All coordinates and rates are known at every state, so that a change needs no new initial values
    and the accelerations do not jump.

    Parameters
    ----------
    current : (k,) array of int, optional
        Those used so far.
    """
    projections = tangents(equations, constraints)
    best = best_coordinates(projections)
    if current is None or len(current) != len(best):
        return best
    bound = _KEPT * independence(projections, best)
    return np.asarray(current) if independence(projections, current) >= bound else best
