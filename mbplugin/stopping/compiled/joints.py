"""The joints of a robot in a stop: what leads and what brakes them, and how far they move."""

from __future__ import annotations

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.dynamics.kernels.resistance import RESISTANCE
from mbplugin.model.spatial import Array
from mbplugin.simulation.active_set.stick_slip import AT_REST

#: One resistance in a stop, as it is before (``free``) and after (``braked``) its brake grips. ``power_off``:
#: when its drive gives up; ``engagement_time``: when its brake grips, s. ``lower``, ``upper``: where it has passed
#: its limits. ``direction``: the sense of its
#: motion when braking starts; ``position_at_braking``: the coordinate there; ``max_travel``: the farthest
#: along that sense; ``rest``: the last instant at which it moved, s.
STOPPING = np.dtype(
    [
        ("rate", np.int64),
        ("free", RESISTANCE),
        ("braked", RESISTANCE),
        ("power_off", np.float64),
        ("engagement_time", np.float64),
        ("lower", np.float64),
        ("upper", np.float64),
        ("controlled", np.bool_),
        ("direction", np.float64),
        ("position_at_braking", np.float64),
        ("max_travel", np.float64),
        ("rest", np.float64),
    ],
    align=True,
)


@kernel
def reset_joints(resistances: Records, s: Records, q: Array) -> None:
    """Put all joints to before the stop, at q (nv,), rad and m."""
    for n in range(len(s)):
        joint = s[n]
        joint.controlled, joint.rest = joint.power_off > 0.0, 0.0
        joint.direction, joint.position_at_braking, joint.max_travel = 0.0, q[joint.rate], 0.0
        resistances[n] = joint.free


@kernel
def controlled_until(s: Records, end: float) -> float:
    """Return until when every joint is led at its rate, s."""
    until = end
    for n in range(len(s)):
        until = min(until, s[n].power_off)
    return max(until, 0.0)


@kernel
def limit_time(s: Records, q: Array, qd: Array) -> float:
    """Return when the first joint passes a limit on its way out, from q (nv,) at constant rates qd (nv,), s."""
    first = np.inf
    for n in range(len(s)):
        v = qd[s[n].rate]
        gap = (s[n].upper if v > 0.0 else s[n].lower) - q[s[n].rate]
        if gap * v > 0.0:
            first = min(first, gap / v)
    return first


@kernel
def switch_due(s: Records, resistances: Records, t: float, q: Array, qd: Array) -> bool:
    """Let drives give up and brakes grip that are due at q (nv,), qd (nv,); return whether any did."""
    changed = False
    for n in range(len(s)):
        joint = s[n]
        if joint.controlled and joint.power_off <= t + 1e-12:
            joint.controlled, changed = False, True
        if joint.direction == 0.0 and joint.engagement_time <= t + 1e-12:
            sense = resistances[n].sense
            resistances[n] = joint.braked
            resistances[n].sense = sense
            v = qd[joint.rate]
            # 2 stands for at rest: it has no sense to come back from
            joint.direction = 2.0 if abs(v) <= AT_REST else (1.0 if v > 0.0 else -1.0)
            joint.position_at_braking, joint.max_travel = q[joint.rate], 0.0
            changed = True
    return changed


@kernel
def next_switch(s: Records, t: float, end: float) -> float:
    """Return when the next drive gives up or brake grips, ``end`` at the latest, s."""
    goal = end
    for n in range(len(s)):
        for at in (s[n].power_off, s[n].engagement_time):
            if t + 1e-12 < at < goal:
                goal = at
    return goal


@kernel
def track_travel(s: Records, t: float, old_qd: Array, q: Array, qd: Array) -> None:
    """Take account of a sample q (nv,), qd (nv,) at t (s), ``old_qd`` (nv,) being the rates before."""
    for n in range(len(s)):
        joint = s[n]
        if max(abs(old_qd[joint.rate]), abs(qd[joint.rate])) > 1e-7:
            joint.rest = t
        if abs(joint.direction) == 1.0:
            joint.max_travel = max(
                joint.max_travel, joint.direction * (q[joint.rate] - joint.position_at_braking)
            )


@kernel
def all_switched(s: Records, t: float) -> bool:
    """Return whether all drives have given up and all brakes grip at t, s."""
    waiting = 0
    for n in range(len(s)):
        waiting += s[n].engagement_time > t + 1e-12 or s[n].controlled
    return waiting == 0
