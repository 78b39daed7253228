"""Bounds and margins of one set of reactions: the inequalities of its contacts and drives, and its loads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.dynamics import load_wrench
from mbplugin.joint_reactions.bounds import Bounds, Possible, bounds_of, inequalities
from mbplugin.joint_reactions.margins import DIRECTIONS, Standing, require_standing, standing_of
from mbplugin.joint_reactions.statics import System, balances
from mbplugin.joint_reactions.stiffness import Applied
from mbplugin.model.mechanism import Driver, Lock
from mbplugin.model.mechanism.identity import RowLabel, drive_component, lock_component
from mbplugin.model.scene import Load
from mbplugin.model.spatial import Array
from mbplugin.phrases import listed

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
        standing = standing_of(
            system, possible, wanted, _of_loads(system, applied, loads, tolerance), sideways
        )
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


def _of_loads(system: System, applied: Applied, loads: Sequence[Load], tolerance: float) -> Array | None:
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
