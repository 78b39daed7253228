"""How far one pose is from another, and which turns of its angles are the nearest."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mbplugin.constraints.assembly.closure import Closure
from mbplugin.model.component import is_turn
from mbplugin.model.mechanism.joint import has_quaternion
from mbplugin.model.mechanism.pair import RowKind
from mbplugin.model.spatial import Array

_TURN = 2 * np.pi


def distances(closure: Closure, Q: Array, q: Array, joints: Iterable[int]) -> Array:
    """Return how far poses Q (K, nq) are from q (nq,) in some joints: root of the sum of squares, (K,).

    Turns in rad, travels in characteristic lengths.
    """
    total = np.zeros(len(Q))
    for k in joints:
        joint = closure.mech.tree.joints[k]
        difference = Q[:, joint.q] - q[joint.q]
        units = closure.units[joint.qd]
        if has_quaternion("floating" if joint.pair is None else joint.pair.type):
            cosine = np.clip(np.abs(Q[:, joint.q][:, -4:] @ q[joint.q][-4:]), 0.0, 1.0)
            total += (2 * np.arccos(cosine)) ** 2
            difference, units = difference[:, :-4], units[:-3]
        total += ((difference / units) ** 2).sum(axis=1)
    return np.asarray(np.sqrt(total))


def nearest_turns(closure: Closure, Q: Array, q: Array, joints: Iterable[int]) -> Array:
    """Return poses Q (K, nq) with whole turns taken off where that is the same pose.

    Angles come into their limits where whole turns bring them there, otherwise near those of q (nq,). Screws
    and joints of which a coupling or a driver speaks keep their turns.
    """
    out = np.array(Q)
    for k in joints:
        pair = closure.mech.tree.joints[k].pair
        if pair is None or pair.name in closure.mech.measured_pairs:
            continue
        if pair.kind.row_kind("tz") is RowKind.SCREW:
            continue
        if has_quaternion(pair.type):
            continue
        for slot, (component, freedom) in enumerate(zip(pair.kind.free, pair.freedoms, strict=True)):
            if is_turn(component):
                column = closure.mech.tree.joints[k].q.start + slot
                near = Q[:, column] - _TURN * np.round((Q[:, column] - q[column]) / _TURN)
                low = near + _TURN * np.ceil((freedom.lower - near) / _TURN)
                high = near - _TURN * np.ceil((near - freedom.upper) / _TURN)
                near = np.where((near < freedom.lower) & (low <= freedom.upper), low, near)
                out[:, column] = np.where((near > freedom.upper) & (high >= freedom.lower), high, near)
    return out
