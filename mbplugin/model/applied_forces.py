"""The forces on a moving mechanism: loads, payloads, springs, dampers, friction, armature.

Forces of a joint work on its rates, so one description serves absolute and joint coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mbplugin.errors import BadNumber, UnknownName, suggestion
from mbplugin.model.brake_law import BrakeLaw
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Load, Payload, Scene
from mbplugin.model.spatial import Array
from mbplugin.model.spring import JointSpring, Spring
from mbplugin.phrases import one_line_repr

#: A controller returns generalised forces (nv,) in the order of ``qd_names``, N·m and N, at t, q, qd.
Controller = Callable[[float, Array, Array], Array]


@one_line_repr
@dataclass(frozen=True)
class BrakeForce:
    """What a brake does to one freedom from the time on at which it grips.

    Parameters
    ----------
    closes : float
        s.
    assumed : tuple of str
        What was not stated, one phrase each.
    at_once : bool
        It grips with the signal, as nothing is stated about its times.
    """

    joint: str
    freedom: str
    law: BrakeLaw
    closes: float = 0.0
    assumed: tuple[str, ...] = ()
    at_once: bool = False


@one_line_repr
@dataclass(frozen=True, eq=False)
class AppliedForces:
    """Everything but constraints and gravity that makes a mechanism move or stop.

    Parameters
    ----------
    loads : tuple of Load
        Constant wrenches on bodies.
    payloads : tuple of Payload
        Masses that move with a body.
    torques : mapping
        Constant force of a joint rate, N·m or N, by its name.
    armature : mapping
        Inertia that a drive adds to a joint rate, kg·m² or kg, by its name.
    damping : bool
        Whether the viscous damping that the file states for its joints counts.
    friction : bool
        Whether the dry friction that the file states for its joints counts.
    controller : callable, optional
        Generalised forces at (t, q, qd).
    """

    loads: tuple[Load, ...] = ()
    payloads: tuple[Payload, ...] = ()
    springs: tuple[Spring, ...] = ()
    joint_springs: tuple[JointSpring, ...] = ()
    torques: Mapping[str, float] = field(default_factory=dict)
    armature: Mapping[str, float] = field(default_factory=dict)
    damping: bool = True
    friction: bool = True
    controller: Controller | None = None
    brakes: tuple[BrakeForce, ...] = ()


#: Only gravity, and what the file says of its joints.
NO_FORCES = AppliedForces()


def scene_actions(scene: Scene) -> AppliedForces:
    """Return what a scene says: its loads, payloads and springs, and J·n² of its actuators."""
    armature = {a.joint: a.armature * a.gear_ratio**2 for a in scene.actuators if a.armature}
    return with_springs(AppliedForces(scene.loads, scene.payloads, armature=armature), scene.springs)


def with_springs(actions: AppliedForces, springs: Iterable[Spring | JointSpring]) -> AppliedForces:
    """Return actions with more springs."""
    springs = tuple(springs)
    return replace(
        actions,
        springs=(*actions.springs, *(s for s in springs if isinstance(s, Spring))),
        joint_springs=(*actions.joint_springs, *(s for s in springs if isinstance(s, JointSpring))),
    )


def rate_values(mech: Mechanism, values: Mapping[str, float], what: str) -> Array:
    """Return values by rate name as a vector (nv,), zero where none is given.

    Raises
    ------
    UnknownName
        A name that is no joint rate.
    BadNumber
        A value that is not finite.
    """
    out = np.zeros(len(mech.qd_names))
    for name, value in values.items():
        if name not in mech.qd_names:
            closes = name in mech.pair_by_name and name not in mech.tree.joint_of_pair
            raise UnknownName(
                f"{what} is given for {name!r}, which {'closes a loop and has' if closes else 'is'} no joint rate",
                remedy="let another joint of its loop be the closure"
                if closes
                else suggestion(name, mech.qd_names),
            )
        if not np.isfinite(value):
            raise BadNumber(
                f"{what} of {name!r} has a value that is not finite", expected="numbers in SI units"
            )
        out[mech.qd_names.index(name)] = value
    return out


def rest_values(mech: Mechanism, springs: Sequence[JointSpring]) -> tuple[Array, Array]:
    """Return stiffness (nv,) and the coordinate without force (nv,) of every rate's springs.

    Raises
    ------
    UnknownName
        A spring of a joint whose rate is not the derivative of one coordinate.
    """
    k = np.zeros(len(mech.qd_names))
    moment = np.zeros_like(k)
    for spring in springs:
        k += (own := rate_values(mech, {spring.joint: spring.stiffness}, "a spring"))
        if spring.joint not in mech.q_names:
            raise UnknownName(
                f"the spring of {spring.joint!r} has no coordinate to act on",
                expected="a joint whose rate is the derivative of one coordinate",
            )
        moment += own * spring.rest
    return k, moment / np.where(k != 0, k, 1.0)
