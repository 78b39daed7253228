"""Decelerations of drives: stated, else the effort limit over the inertia at the pose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import isfinite
from typing import NamedTuple

import numpy as np

from mbplugin.errors import BadNumber, BadUsage, UnknownName, suggestion
from mbplugin.model.applied_forces import AppliedForces
from mbplugin.model.component import Units, units_of
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Actuator
from mbplugin.model.spatial import Array


class Assumed(NamedTuple):
    """A deceleration that nobody gave.

    Parameters
    ----------
    value : float
        rad/s² or m/s².
    effort : float or None
        The effort limit that it comes from, N·m or N; None: it is the limit that the robot's file states.
    units : Units
        Those of the joint.
    """

    value: float
    effort: float | None
    units: Units

    @property
    def source(self) -> str:
        """Where it comes from, in words that hold for every pose."""
        if self.effort is None:
            return f"the limit that the file states, {self.value:g} {self.units.acceleration}"
        return f"its effort limit, {self.effort:g} {self.units.force}, over the pose's inertia"


class Decelerations(NamedTuple):
    """The decelerations of joints, and where they come from.

    Parameters
    ----------
    values : dict of str to float
        rad/s² or m/s².
    assumed : tuple of str
        Sentences on those that are not stated.
    of_effort : tuple of str
        The joints whose effort limit stands for one.
    """

    values: dict[str, float]
    assumed: tuple[str, ...] = ()
    of_effort: tuple[str, ...] = ()


def decelerations_at(
    mech: Mechanism,
    joints: Sequence[str],
    inertias: Callable[[], Array],
    actuators: Sequence[Actuator] = (),
    given: Mapping[str, float] | None = None,
) -> Decelerations:
    """Return the deceleration of every joint.

    A given one comes first, then that of an ``[[actuator]]``; others are assumed, and reported.

    Parameters
    ----------
    inertias : callable
        Returns the diagonal of the mass matrix at the pose, (nv,), kg·m² and kg.

    Raises
    ------
    BadUsage
        A joint of which neither a deceleration nor an effort limit is known.
    UnknownName, BadNumber
        A given one of no such joint, or not positive.
    """
    found = {a.joint: a.deceleration for a in actuators if a.deceleration is not None}
    found.update(checked_decelerations(joints, given or {}))
    sentences, of_effort = [], []
    inertias = cache(inertias)
    for joint in joints:
        if joint in found:
            continue
        assumed = assumed_deceleration(mech, joint, inertias)
        found[joint], unit = assumed.value, assumed.units.acceleration
        of_effort += [joint] * (assumed.effort is not None)
        stated = "the limit that the file states"
        why = stated if assumed.effort is None else "effort limit over the inertia of the pose"
        sentences.append(f"{joint}: deceleration {assumed.value:.4g} {unit}, {why}")
    return Decelerations(found, tuple(sentences), tuple(of_effort))


def assumed_deceleration(mech: Mechanism, joint: str, inertias: Callable[[], Array]) -> Assumed:
    """Return the deceleration of a joint that states none.

    That is the limit in the robot's file, else the effort limit over the inertia of the joint.

    Parameters
    ----------
    inertias : callable
        Returns the diagonal of the mass matrix at the pose, (nv,), kg·m² and kg.

    Raises
    ------
    BadUsage
        Neither is known.
    """
    pair = mech.pair_by_name[joint]
    freedom, units = pair.freedoms[0], units_of(pair.kind.free[0])
    if _is_stated(freedom.deceleration):
        return Assumed(freedom.deceleration, None, units)
    if not has_ramp(mech, joint):
        raise BadUsage(
            f"there is no ramp for joint {joint!r}: it has neither a deceleration nor an effort limit",
            remedy="state its [[ramp]], or stop in category 0",
        )
    inertia = float(inertias()[mech.tree.joint_of_pair[joint].qd.start])
    if not (inertia > 0.0 and _is_stated(freedom.effort / inertia)):
        raise BadUsage(
            f"there is no ramp for joint {joint!r}: it states no deceleration, and moves an inertia of {inertia:g}",
            remedy="state its [[ramp]], or stop in category 0",
        )
    return Assumed(freedom.effort / inertia, freedom.effort, units)


def has_ramp(mech: Mechanism, joint: str) -> bool:
    """Whether a deceleration can be assumed for a joint that states none."""
    freedom = mech.pair_by_name[joint].freedoms[0]
    by_effort = _is_stated(freedom.effort) and joint in mech.tree.joint_of_pair
    return by_effort or _is_stated(freedom.deceleration)


def inertias_at(mech: Mechanism, q: Array, actions: AppliedForces) -> Array:
    """Return the diagonal (nv,) of the mass matrix at coordinates q (nq,); kg·m² and kg."""
    # compiled code is loaded only when an inertia is needed: pages hold scenarios, and show many without one
    from mbplugin.dynamics.joint import joint_equations

    return np.diag(joint_equations(mech, q, np.zeros(len(mech.qd_names)), actions).M)


def _is_stated(value: float) -> bool:
    return isfinite(value) and value > 0


def checked_decelerations(joints: Sequence[str], given: Mapping[str, float]) -> dict[str, float]:
    """Return given decelerations of joints with a brake, rad/s² or m/s².

    Raises
    ------
    UnknownName, BadNumber
        One of no such joint, or not positive.
    """
    for joint, value in given.items():
        if joint not in joints:
            raise UnknownName(
                f"a deceleration is given for {joint!r}, which has no brake",
                remedy=suggestion(joint, tuple(joints)),
            )
        if not _is_stated(value):
            raise BadNumber(f"the deceleration of {joint!r} is {value:g}", expected="a positive number")
    return dict(given)
