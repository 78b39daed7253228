"""State of contacts in a motion: those that hold, slip or open at this instant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from mbplugin.constraints.reduction import body_twists
from mbplugin.constraints.rows import contact_rows
from mbplugin.errors import BadUsage
from mbplugin.joint_reactions import ClosedState
from mbplugin.model.mechanism.pair import Contact
from mbplugin.model.spatial import Array
from mbplugin.phrases import one_line_repr

#: A contact does not move below this fraction of √(g ℓ) (velocity) and of g (acceleration):
#: simulators let bodies creep.
_STILL = 1e-3
#: The same relative to the largest motion of a body, for rounding.
_ROUNDING = 1e-7


@one_line_repr
@dataclass(frozen=True, eq=False)
class ContactState:
    """A contact at an instant.

    Parameters
    ----------
    name, body, on : str
        The contact, the body that is pushed, and the body that pushes.
    point : (3,) array
        In the world, m.
    normal : (3,) array
        Into ``body``, world axes.
    mu : float
        Coefficient of friction.
    state : "holds", "slips" or "opens"
        A contact that opens carries no force; one that slips carries the friction of its normal force.
    """

    name: str
    body: str
    on: str
    point: Array
    normal: Array
    mu: float
    state: Literal["holds", "slips", "opens"]


def contact_states(
    state: ClosedState, contacts: Sequence[Contact]
) -> tuple[tuple[Contact, ...], tuple[ContactState, ...]]:
    """Return the contacts that carry force in a motion, and the states of all.

    A contact whose points separate opens; one whose points move along the plane slips. Where the velocities vanish, the
    accelerations decide.

    Raises
    ------
    BadUsage
        The points of a contact move into each other.
    """
    carrying: list[Contact] = []
    found: list[ContactState] = []
    poses = state.motion.poses
    twists = body_twists(state.mech, poses, state.qd)
    g = float(np.linalg.norm(state.mech.gravity))
    limits = [
        max(_STILL * usual, _ROUNDING * float(np.abs(motion).max(initial=0.0)))
        for usual, motion in ((np.sqrt(g * state.motion.length), twists), (g, state.accelerations))
    ]
    moves = bool(twists.any() or state.accelerations.any())
    for contact in contacts:
        # at rest all hold, and there may be hundreds
        how, direction = _motion(state, contact, twists, limits) if moves else ("holds", None)
        if how == "holds" or (how == "slips" and contact.mu == 0):
            carrying.append(contact)
        elif how == "slips":
            carrying.append(replace(contact, slip=direction))
        point = poses.of(state.mech.body_index[contact.body]).apply(contact.point)
        found.append(
            ContactState(contact.name, contact.body, contact.on, point, contact.normal, contact.mu, how)
        )
    return tuple(carrying), tuple(found)


def _motion(
    state: ClosedState, contact: Contact, twists: Array, limits: Sequence[float]
) -> tuple[Literal["holds", "slips", "opens"], Array | None]:
    """Return the state of a contact, and its direction of slip (3,), from the twists (N, 6) and accelerations."""
    axes = contact.axes(state.mech.gravity)
    rows = contact_rows(state.mech, replace(contact, mu=contact.mu or 1.0), state.motion.poses, twists)
    relative = [
        sum((e @ motion[body] for body, e in rows.entries), np.zeros(3)) - rest
        for motion, rest in ((twists, np.zeros(3)), (state.accelerations, rows.Gamma))
    ]
    slip: Array | None = None
    for motion, limit in zip(relative, limits, strict=True):
        if motion[0] < -limit:
            raise BadUsage(
                f"the motion presses the bodies of contact {contact.name!r} into each other",
                expected="rates and accelerations with which the points stay together or separate",
            )
        if motion[0] > limit:
            return "opens", None
        sideways = float(np.linalg.norm(motion[1:]))
        if slip is None and sideways > limit:
            slip = np.asarray(motion[1:] @ axes[1:] / sideways)
    return ("holds", None) if slip is None else ("slips", slip)
