"""Decelerations of drives: as stated, else the effort limit divided by the inertia at the pose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbplugin.errors import BadNumber, BadUsage, UnknownName, suggestion
from mbplugin.model.brake_law import Ramp
from mbplugin.model.brakes import NO_FORCES, AppliedForces, JointBrake
from mbplugin.model.mechanism import Driver, Mechanism
from mbplugin.model.mechanism.identity import Holder
from mbplugin.model.scene import Actuator
from mbplugin.model.spatial import Array, Units, units_of

if TYPE_CHECKING:
    from mbplugin.dynamics.formulations import Equations

#: Coordinates, rates and accelerations at the signal, (nq,), (nv,) and (nv,), rad and m.
State = tuple[Array, Array, Array]


# Sources of the ramps of a controlled stop: given values, the scene's ramps, actuators, limits.


@dataclass(frozen=True, eq=False)
class RampSource:
    """The statements about the ramps of a robot, independent of its state at the signal.

    Parameters
    ----------
    stated : tuple of Ramp
        Ramps of the scene.
    actuators : tuple of Actuator
        Actuators of the scene.
    given : mapping of str to float
        Decelerations by joint, rad/s² or m/s²; they take precedence over stated ones.
    """

    stated: tuple[Ramp, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    given: Mapping[str, float] = field(default_factory=dict)

    def decelerations(
        self,
        mech: Mechanism,
        brakes: tuple[JointBrake, ...],
        state: tuple[Array, Array, Array],
        inertias: Callable[[], Array],
    ) -> Decelerations:
        """Return the decelerations of the joints with brakes for one state at the signal.

        Parameters
        ----------
        brakes : tuple of JointBrake
            Their delays are the reactions of the drives.
        state : (nq,), (nv,), (nv,) array
            Coordinates, rates and accelerations at the signal, rad and m.
        inertias : callable
            Returns the diagonal of the mass matrix at the pose, (nv,), kg·m² and kg.

        Raises
        ------
        BadUsage, UnknownName, BadNumber
            As for :func:`decelerations_at`.
        """
        given = {**ramp_decelerations(self.stated, rates_at_ramps(mech, brakes, state)), **self.given}
        return decelerations_at(mech, [brake.joint for brake in brakes], inertias, self.actuators, given)


class Assumed(NamedTuple):
    """An assumed deceleration.

    Parameters
    ----------
    value : float
        rad/s² or m/s².
    effort : float or None
        The effort limit from which it was computed, N·m or N; None if it is a limit stated in the robot's file.
    units : Units
        Units of the joint.
    name : str
        What the effort is.
    """

    value: float
    effort: float | None
    units: Units
    name: str = "effort limit"

    @property
    def source(self) -> str:
        """Its source, in words that hold for every pose."""
        if self.effort is None:
            return f"the limit that the file states, {self.value:g} {self.units.acceleration}"
        return f"its {self.name}, {self.effort:.6g} {self.units.force}, divided by the inertia at the pose"


class Decelerations(NamedTuple):
    """The decelerations of joints, and their sources.

    Parameters
    ----------
    values : dict of str to float
        rad/s² or m/s².
    assumed : tuple of str
        Sentences on those that are not stated.
    of_effort : tuple of str
        Joints whose deceleration is derived from the effort limit.
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

    A given value takes precedence, then that of an ``[[actuator]]``; others are assumed, and reported.

    Parameters
    ----------
    inertias : callable
        Returns the diagonal of the mass matrix at the pose, (nv,), kg·m² and kg.

    Raises
    ------
    BadUsage
        Neither a deceleration nor an effort limit of a joint is known.
    UnknownName, BadNumber
        A deceleration is given for an unknown joint, or is not positive.
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
        why = stated if assumed.effort is None else f"{assumed.name} over the inertia of the pose"
        sentences.append(f"{joint}: deceleration {assumed.value:.4g} {unit}, {why}")
    return Decelerations(found, tuple(sentences), tuple(of_effort))


def assumed_deceleration(mech: Mechanism, joint: str, inertias: Callable[[], Array]) -> Assumed:
    """Return the deceleration to assume for a joint if none is stated.

    It is the limit in the robot's file, else the effort limit divided by the inertia of the joint.

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
    name = "assumed brake" if joint in mech.assumed_drives else "effort limit"
    return Assumed(freedom.effort / inertia, freedom.effort, units, name)


def has_ramp(mech: Mechanism, joint: str) -> bool:
    """Return True if a deceleration can be assumed for a joint for which none is stated."""
    freedom = mech.pair_by_name[joint].freedoms[0]
    by_effort = _is_stated(freedom.effort) and joint in mech.tree.joint_of_pair
    return by_effort or _is_stated(freedom.deceleration)


def inertias_at(mech: Mechanism, q: Array, actions: AppliedForces) -> Array:
    """Return the diagonal (nv,) of the mass matrix at coordinates q (nq,); kg·m² and kg."""
    # compiled code is loaded only when an inertia is needed; web pages show many scenarios without one
    from mbplugin.dynamics.tree_model import joint_equations

    return np.diag(joint_equations(mech, q, np.zeros(len(mech.qd_names)), actions).M)


def _is_stated(value: float) -> bool:
    return isfinite(value) and value > 0


def checked_decelerations(joints: Sequence[str], given: Mapping[str, float]) -> dict[str, float]:
    """Check given decelerations of joints with a brake, rad/s² or m/s², and return a copy.

    Raises
    ------
    UnknownName, BadNumber
        A deceleration is given for a joint without a brake, or is not positive.
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


# Ramps stated in a scene: the reaction time of each drive, and its deceleration, which depends on the rate.


def with_reactions(brakes: Iterable[JointBrake], ramps: Iterable[Ramp]) -> tuple[JointBrake, ...]:
    """Return the brakes of a controlled stop, with the reaction times of the ramps, if stated, as delays, s."""
    reactions = {ramp.joint: ramp.reaction for ramp in ramps if ramp.reaction is not None}
    return tuple(
        replace(brake, delay=reactions[brake.joint], at_once=False) if brake.joint in reactions else brake
        for brake in brakes
    )


def rates_at_ramps(mech: Mechanism, brakes: Iterable[JointBrake], state: State) -> dict[str, float]:
    """Return the rates at which ramps begin, by joint: after the delay, at the accelerations of the signal.

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

    The coordinate of a joint that closes a loop is measured between its bodies; which joint that is depends on the
    choice of the cut. If all accelerations are zero (not stated), its acceleration is taken as zero too.

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
    """Return the rows of a mechanism followed by those of all drives, and the drives' coordinates (n,), rad and m.

    Parameters
    ----------
    state : (nq,), (nv,) array
        Coordinates and rates, rad and m.
    degree_of_redundancy : int
        Of the rows of the mechanism alone.
    """
    # compiled code is loaded only when needed; web pages show many scenarios without a loop
    from mbplugin.dynamics.tree_model import equations_of, tree_model

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
