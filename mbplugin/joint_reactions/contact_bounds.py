"""Contacts at an instant that hold, slip or open, and bounds and margins of the reactions they leave open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from mbplugin.constraints.reduction import body_twists
from mbplugin.constraints.rows import contact_rows
from mbplugin.dynamics import load_wrench
from mbplugin.errors import BadUsage
from mbplugin.joint_reactions import ClosedState
from mbplugin.joint_reactions.bounds import Bounds, Possible, bounds_of, inequalities
from mbplugin.joint_reactions.margins import DIRECTIONS, Standing, require_standing, standing_of
from mbplugin.joint_reactions.statics import System, balances
from mbplugin.joint_reactions.stiffness import Applied
from mbplugin.model import Array, Contact, Driver, Load, Lock, RowLabel, drive_component, lock_component
from mbplugin.phrases import listed, one_line_repr

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


_NAMED = 6


@dataclass(frozen=True, eq=False)
class Bounded:
    """Bounds of the reactions, margins of the contacts, and notes.

    Parameters
    ----------
    bounds : Bounds or None
        None if no inequality limits anything that the rigid model leaves open.
    standing : Standing or None
        None without contacts.
    """

    bounds: Bounds | None = None
    standing: Standing | None = None
    notes: tuple[str, ...] = ()


NOT_BOUNDED = Bounded()


def bounded(
    system: System,
    multipliers: Array,
    applied: Applied,
    held: Sequence[Lock],
    loads: Sequence[Load],
    tolerance: float,
) -> Bounded:
    """Return the bounds of the reactions under the inequalities of contacts, and of drives with an effort limit.

    Parameters
    ----------
    multipliers : (m,) array
        One balancing λ₀, scaled.
    held : sequence of Lock
        Joints that drives hold, with the effort limits of the file.
    loads : sequence of Load
        Stated loads, without springs.
    tolerance : float
        Largest share of a load that nothing balances.

    Raises
    ------
    BadUsage
        The contacts cannot hold.
    """
    limits = _efforts(system, held)
    wanted = inequalities(system, limits)
    possible = Possible.of(system, multipliers)
    contacts = wanted.of("normal", "friction")
    if len(contacts):
        require_standing(system, possible, wanted)
    notes: tuple[str, ...] = ()
    if limits and not possible.holds(wanted):
        phase = possible.phase(wanted)
        over = [
            owner.rpartition(".")[0]
            for owner, price in zip(wanted.owners, phase.prices.tolist(), strict=True)
            if price > 1e-7 and owner.endswith(".effort")
        ]
        names = listed(list(dict.fromkeys(over)), _NAMED)
        if len(contacts):
            notes = (f"the drives of {names} are too weak for this load: no effort limit enters the bounds",)
        wanted = contacts
    standing = None
    if len(contacts):
        sideways = _sideways(system, applied, tolerance)
        standing = standing_of(system, possible, wanted, _of_loads(system, loads, tolerance), sideways)
    if system.unique.all() or not len(wanted):
        return Bounded(None, standing, notes)
    return Bounded(bounds_of(system, possible, wanted), standing, notes)


def _efforts(system: System, held: Sequence[Lock]) -> dict[str, float]:
    """Return the finite effort limits (N, N·m) of held and driven joints by the label of their row."""
    pairs = system.mech.pair_by_name
    efforts: dict[str, float] = {}
    holders: tuple[Driver | Lock, ...] = (*system.mech.drivers, *held)
    for holder in holders:
        pair = pairs[holder.joint]
        for name, freedom in zip(pair.kind.free, pair.freedoms, strict=True):
            if 0 < freedom.effort < np.inf and name in (holder.freedoms or pair.kind.free):
                component = drive_component(name) if isinstance(holder, Driver) else lock_component(name)
                efforts[RowLabel(holder.name, component).dotted] = freedom.effort
    return efforts


def _of_loads(system: System, loads: Sequence[Load], tolerance: float) -> Array | None:
    """Return the scaled multipliers (m,) of the stated loads alone; None without loads, or if nothing balances them."""
    missing = np.zeros((len(system.mech.bodies), 6))
    for load in loads:
        body = system.mech.body_index[load.body]
        missing[body] -= load_wrench(load, system.poses, body)
    if not missing.any():
        return None
    (found,) = balances(system, missing[None])
    return found.multipliers if found.share <= tolerance else None


def _sideways(
    system: System, applied: Applied, tolerance: float
) -> list[tuple[tuple[float, float, float], Array]]:
    """Return the scaled multipliers (m,) of level loads of one weight, in proportion to the masses, by direction."""
    gravity = system.mech.gravity
    if not gravity.any():
        return []
    up = -gravity / np.linalg.norm(gravity)
    axis = np.eye(3)[1 if abs(up[0]) > 0.9 else 0]
    first = axis - (axis @ up) * up
    first /= np.linalg.norm(first)
    second = np.cross(up, first)
    missing = []
    for e in (first, second):
        pull = np.concatenate((np.linalg.norm(gravity) * e, np.zeros(3)))
        missing.append(-np.einsum("nij,j->ni", applied.equations.M, pull))
    found = balances(system, np.array(missing))
    if any(one.share > tolerance for one in found):
        return []
    out = []
    for angle in 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS:
        c, s = (float(v) if abs(v) > 1e-15 else 0.0 for v in (np.cos(angle), np.sin(angle)))
        x, y, z = (c * first + s * second).tolist()
        out.append(((x, y, z), c * found[0].multipliers + s * found[1].multipliers))
    return out
