"""Ramps that a scene states: the reaction of each drive, and its deceleration from the rate at the signal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from mbplugin.model.brakes import JointBrake
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.ramp import Ramp
from mbplugin.model.spatial import Array


def with_reactions(brakes: Iterable[JointBrake], ramps: Iterable[Ramp]) -> tuple[JointBrake, ...]:
    """Return the brakes of a controlled stop, each with the reaction of its joint's ramp as delay, s."""
    reactions = {ramp.joint: ramp.reaction for ramp in ramps if ramp.reaction is not None}
    return tuple(
        replace(brake, delay=reactions[brake.joint], at_once=False) if brake.joint in reactions else brake
        for brake in brakes
    )


def rates_at_ramps(mech: Mechanism, brakes: Iterable[JointBrake], qd: Array, qdd: Array) -> dict[str, float]:
    """Return the rates at which ramps begin, by joint: after the delay at the accelerations of the signal.

    Parameters
    ----------
    qd, qdd : (nv,) array
        At the signal, rad and m, per second.
    """
    of_pair = mech.tree.joint_of_pair
    index = {brake.joint: of_pair[brake.joint].qd.start for brake in brakes if brake.joint in of_pair}
    delays = {brake.joint: brake.delay for brake in brakes}
    return {joint: float(qd[k] + qdd[k] * delays[joint]) for joint, k in index.items()}


def ramp_decelerations(ramps: Iterable[Ramp], rates: Mapping[str, float]) -> dict[str, float]:
    """Return the decelerations (rad/s², m/s²) of the joints that have a ramp, from their rates."""
    return {ramp.joint: ramp.deceleration_from(rates.get(ramp.joint, 0.0)) for ramp in ramps}
