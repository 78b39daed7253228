"""Degenerate closed poses: where the rows lose a rank that closed poses near them have."""

from __future__ import annotations

import numpy as np

from mbplugin.constraints.assembly.closure import CLOSED, CONVERGED, Closure, System
from mbplugin.constraints.assembly.descent.newton import gauss_newton, levenberg_marquardt
from mbplugin.constraints.assembly.loops import Group
from mbplugin.constraints.assembly.nearness import distances, nearest_turns
from mbplugin.model.spatial import AnyArray, Array

#: Poses tried, how far away (root mean square, rad and travels against the length), and descents to them.
_TRIED, _AWAY, _ITERATIONS = 6, 0.2, 30


def generic_nearby(
    closure: Closure,
    system: System,
    group: Group,
    q: Array,
    end: Array,
    movable: AnyArray,
    rng: np.random.Generator,
) -> Array | None:
    """Return a closed pose (nq,) of a higher rank than ``end``, the nearest to q that is found; None: none is.

    Parameters
    ----------
    q, end : (nq,) array
        The given pose, and a closed one.
    movable : (nv,) bool array
    """
    J = system.linearised(end[None])[0]
    here = J.ranks()[0]
    if here == min(J.pattern.shape):
        return None
    step = _AWAY * rng.normal(size=(_TRIED, len(system.rates))) * movable[system.rates]
    Q = system.stepped(np.repeat(end[None], _TRIED, axis=0), step)
    # where not even an open pose has more, no closed one has
    if system.linearised(Q)[0].ranks().max() <= here:
        return None
    Q, gap = levenberg_marquardt(system, Q, movable, 0.1 * CLOSED * closure.length, _ITERATIONS)
    closed = nearest_turns(closure, Q[gap <= CLOSED * closure.length], q, group.joints)
    for pose in closed[np.argsort(distances(closure, closed, q, group.joints))]:
        there, left = gauss_newton(system, pose, movable, CONVERGED)
        if left <= CLOSED * closure.length and system.linearised(there[None])[0].ranks()[0] > here:
            return there
    return None
