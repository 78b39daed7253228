"""Ramps that a scene states: the reaction of each drive, and its deceleration from the rate at the signal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.model.applied_forces import NO_FORCES, AppliedForces
from mbplugin.model.brakes import JointBrake
from mbplugin.model.mechanism.coupling import Driver
from mbplugin.model.mechanism.identity import Holder
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.ramp import Ramp
from mbplugin.model.spatial import Array

if TYPE_CHECKING:
    from mbplugin.dynamics.equations import Equations

#: Coordinates, rates and accelerations at the signal, (nq,), (nv,) and (nv,), rad and m.
State = tuple[Array, Array, Array]


def with_reactions(brakes: Iterable[JointBrake], ramps: Iterable[Ramp]) -> tuple[JointBrake, ...]:
    """Return the brakes of a controlled stop, each with the reaction of its joint's ramp as delay, s."""
    reactions = {ramp.joint: ramp.reaction for ramp in ramps if ramp.reaction is not None}
    return tuple(
        replace(brake, delay=reactions[brake.joint], at_once=False) if brake.joint in reactions else brake
        for brake in brakes
    )


def rates_at_ramps(mech: Mechanism, brakes: Iterable[JointBrake], state: State) -> dict[str, float]:
    """Return the rates at which ramps begin, by joint: after the delay at the accelerations of the signal.

    Parameters
    ----------
    state : (nq,), (nv,), (nv,) array
        Coordinates, rates and accelerations at the signal, rad and m.
    """
    brakes = tuple(brakes)
    states = joint_states(mech, brakes, state)
    return {brake.joint: v + a * brake.delay for brake, (_, v, a) in zip(brakes, states, strict=True)}


def joint_states(
    mech: Mechanism, brakes: Sequence[JointBrake], state: State
) -> list[tuple[float, float, float]]:
    """Return coordinate, rate and acceleration of each joint with a brake, rad and m.

    A joint that closes a loop is measured between its bodies: it depends on the choice of the cut which one that is.
    Where no accelerations are stated (all are zero), its rate is not stated to change either.

    Parameters
    ----------
    state : (nq,), (nv,), (nv,) array
        Coordinates, rates and accelerations, rad and m.
    """
    q, qd, qdd = state
    tree = mech.tree.joint_of_pair
    if any(brake.joint not in tree for brake in brakes):
        equations, values = drive_equations(mech, NO_FORCES, brakes, (q, qd), 0)
        own = slice(len(equations.C) - len(brakes), None)
        changes = equations.C[own] @ qdd - equations.Gamma[own] if qdd.any() else np.zeros(len(brakes))
        return list(zip(values.tolist(), (equations.C[own] @ qd).tolist(), changes.tolist(), strict=True))
    places = [(tree[brake.joint].q.start, tree[brake.joint].qd.start) for brake in brakes]
    return [(float(q[i]), float(qd[k]), float(qdd[k])) for i, k in places]


def drive_equations(
    mech: Mechanism,
    actions: AppliedForces,
    brakes: Sequence[JointBrake],
    state: tuple[Array, Array],
    degree_of_redundancy: int,
) -> tuple[Equations, Array]:
    """Return the rows of a mechanism with those of all drives behind them, and the drives' coordinates (n,), rad and m.

    Parameters
    ----------
    state : (nq,), (nv,) array
        Coordinates and rates, rad and m.
    degree_of_redundancy : int
        Of the mechanism's own rows.
    """
    # compiled code is loaded only when it is needed: pages hold scenarios, and show many without a loop
    from mbplugin.dynamics.joint import equations_of
    from mbplugin.dynamics.tree_model import tree_model

    drivers = [drive_of(brake) for brake in brakes]
    model = tree_model(mech, actions, locks=drivers, q=state[0])
    count = model.table.persistent + len(drivers)
    equations = equations_of(
        *(model, *state),
        degree_of_redundancy=degree_of_redundancy + len(drivers),
        rows=range(count),
        drive=np.zeros((len(model.table.driven), 3)),
    )
    return equations, model.table.rows["phi"][model.table.persistent : count].copy()


def drive_of(brake: JointBrake) -> Driver:
    """Return the drive of a joint that has a brake."""
    return Driver(str(Holder("drive", brake.joint)), brake.joint, (brake.freedom,), 0.0)


def ramp_decelerations(ramps: Iterable[Ramp], rates: Mapping[str, float]) -> dict[str, float]:
    """Return the decelerations (rad/s², m/s²) of the joints that have a ramp, from their rates."""
    return {ramp.joint: ramp.deceleration_from(rates.get(ramp.joint, 0.0)) for ramp in ramps}
