"""Decelerations of drives: stated, else the effort limit over the inertia at the pose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np

from mbplugin.dynamics.joint import joint_equations
from mbplugin.errors import BadNumber, BadUsage, UnknownName, suggestion
from mbplugin.model.applied_forces import AppliedForces
from mbplugin.model.component import units_of
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Actuator
from mbplugin.model.spatial import Array


def decelerations_at(
    mech: Mechanism,
    actions: AppliedForces,
    q: Array,
    joints: Sequence[str],
    actuators: Sequence[Actuator] = (),
    given: Mapping[str, float] | None = None,
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the deceleration of every joint (rad/s², m/s²), and sentences on those nobody gave.

    A given one comes first, then that of an ``[[actuator]]``, then the limit that the robot's file states,
    then the effort limit over the inertia of the pose q (nq,); the last two are reported.

    Raises
    ------
    BadUsage
        A joint of which neither a deceleration nor an effort limit is known.
    UnknownName, BadNumber
        A given one of no such joint, or not positive.
    """
    stated = {a.joint: a.deceleration for a in actuators if a.deceleration is not None}
    stated.update(_checked(joints, given or {}))
    limits = {joint: value for joint, value in file_limits(mech, joints).items() if joint not in stated}
    assumed = [
        f"{joint}: deceleration {value:.4g} {_unit(mech, joint)}, the limit that the file states"
        for joint, value in limits.items()
    ]
    stated.update(limits)
    missing = [joint for joint in joints if joint not in stated]
    if not missing:
        return stated, tuple(assumed)
    inertia = np.diag(joint_equations(mech, q, np.zeros(len(mech.qd_names)), actions).M)
    for joint in missing:
        pair = mech.pair_by_name[joint]
        effort = pair.freedoms[0].effort
        if not (isfinite(effort) and effort > 0) or joint not in mech.tree.joint_of_pair:
            raise BadUsage(
                f"there is no ramp for joint {joint!r}: it has neither a deceleration nor an effort limit",
                remedy="state its [[ramp]], or stop in category 0",
            )
        value = effort / float(inertia[mech.tree.joint_of_pair[joint].qd.start])
        stated[joint] = value
        unit = _unit(mech, joint)
        assumed.append(f"{joint}: deceleration {value:.4g} {unit}, effort limit over the inertia of the pose")
    return stated, tuple(assumed)


def file_limits(mech: Mechanism, joints: Sequence[str]) -> dict[str, float]:
    """Return the deceleration limits (rad/s², m/s²) that the file states for joints of one freedom."""
    found = {}
    for joint in joints:
        pair = mech.pair_by_name.get(joint)
        if pair is not None and len(pair.freedoms) == 1:
            value = pair.freedoms[0].deceleration
            if isfinite(value) and value > 0:
                found[joint] = value
    return found


def _unit(mech: Mechanism, joint: str) -> str:
    return units_of(mech.pair_by_name[joint].kind.free[0]).acceleration


def _checked(joints: Sequence[str], given: Mapping[str, float]) -> dict[str, float]:
    for joint, value in given.items():
        if joint not in joints:
            raise UnknownName(
                f"a deceleration is given for {joint!r}, which has no brake",
                remedy=suggestion(joint, tuple(joints)),
            )
        if not (isfinite(value) and value > 0):
            raise BadNumber(f"the deceleration of {joint!r} is {value:g}", expected="a positive number")
    return dict(given)
