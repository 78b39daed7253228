"""Joint limits: a closed pose inside them where one is found near."""

from __future__ import annotations

import numpy as np

from mbplugin.constraints.assembly.closure import CLOSED, Closure
from mbplugin.model.spatial import AnyArray, Array

#: What is beyond a limit by less is rounding: rad or lengths of the mechanism, and parts of the value.
_LIMIT_SLACK = 1e-9


def respect_limits(
    closure: Closure, start: Array, q: Array, movable: AnyArray
) -> tuple[Array, tuple[str, ...]]:
    """Return a closed pose (nq,) inside the joint limits where one is found, and who is left outside.

    Parameters
    ----------
    start, q : (nq,) array
        The given pose, whose joints outside their limits do not count, and the closed one.
    movable : (nv,) bool array
        Rates that may change.
    """
    tolerated = beyond_limits(closure, start).keys()
    outside = beyond_limits(closure, q).keys() - tolerated
    movable, trial = np.array(movable), np.array(q)
    for _ in range(len(closure.mech.tree.joints)):
        now = {n: limit for n, limit in beyond_limits(closure, trial).items() if n not in tolerated}
        if not now:
            return trial, ()
        for name, limit in now.items():
            joint = closure.mech.tree.joint_of_pair[name]
            trial[joint.q], movable[joint.qd] = limit, False
        trial = closure.solve(trial, movable)
        if max(closure.residuals(trial).values()) > CLOSED * closure.length:
            break
    return q, tuple(sorted(outside))


def beyond_limits(closure: Closure, q: Array) -> dict[str, float]:
    """Return the single-freedom joints outside their limits at q (nq,), and the limit they passed."""
    beyond: dict[str, float] = {}
    for joint in closure.mech.tree.joints:
        if joint.pair is None or len(joint.pair.freedoms) != 1:
            continue
        freedom, value = joint.pair.freedoms[0], float(q[joint.q][0])
        slack = _LIMIT_SLACK * (float(closure.units[joint.qd][0]) + abs(value))
        if freedom.lower <= freedom.upper and not freedom.lower - slack <= value <= freedom.upper + slack:
            beyond[joint.pair.name] = freedom.lower if value < freedom.lower else freedom.upper
    return beyond
