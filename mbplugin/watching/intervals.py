"""Smallest and largest value of every force at one update, by the linear programs of ``reactions``."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mbplugin.constraints.rows import plane_columns
from mbplugin.joint_reactions import with_held
from mbplugin.joint_reactions.bounds import Possible, bounds_of, inequalities
from mbplugin.joint_reactions.statics import System, balance, build_system
from mbplugin.model import Array, Contact, Lock, Mechanism, RowLabel, coordinates_of, cross, lock_label
from mbplugin.watching.numbers import Mark, Numbers, contact_names, row_labels

#: Largest share of the load, or relative rest of an equation of motion, that nothing balances.
_BALANCED = 0.02


@dataclass(frozen=True)
class Interval:
    """What a force may be.

    Parameters
    ----------
    lower, upper : float
        N or N·m; infinite if nothing bounds it.
    """

    lower: float
    upper: float


def intervals_of(n: Numbers) -> dict[RowLabel, Interval]:
    """Return the interval of each force of closures, contacts, held joints and tree pairs; equal ends if determined.

    Empty if the motion since the last update is unknown, if forces that cannot be read move the mechanism, or if
    contacts may transmit moments of rolling and spinning friction, which no engine reports.

    Raises
    ------
    MbPluginError
        The linear programs have no solution.
    """
    if n.wrenches is None or n.unread_moments.any():
        return {}
    s, g = n.structure, n.reading.geometry
    mech = with_held(with_contacts(n), _locks(n))
    q = coordinates_of(mech, g.poses)
    system = build_system(mech, q, g.poses, plane_columns(None), s.tolerance)
    missing = n.wrenches.copy()
    missing[:, 3:] -= cross(g.poses.p_WC, missing[:, :3])
    missing -= _drives(n)
    multipliers = _start(n, system, missing)
    if multipliers is None:
        return {}
    held = np.flatnonzero(n.held & ~n.stopped)
    limits = {
        lock_label(*s.freedom[k]).dotted: float(s.effort[k])
        for k in held.tolist()
        if 0 < s.effort[k] < np.inf
    }
    wanted = inequalities(system, limits)
    possible = Possible.of(system, multipliers)
    values = multipliers * system.scale
    lower, upper = values.copy(), values.copy()
    open_rows = ~system.unique
    if open_rows.any():
        if len(wanted):
            bounds = bounds_of(system, possible, wanted)
            lower[open_rows], upper[open_rows] = bounds.lower[open_rows], bounds.upper[open_rows]
        else:
            lower[open_rows], upper[open_rows] = -np.inf, np.inf
    return {
        label: Interval(low, high)
        for label, low, high in zip(system.labels, lower.tolist(), upper.tolist(), strict=True)
    }


def _start(n: Numbers, system: System, missing: Array) -> Array | None:
    """Return balancing multipliers (m,), scaled, for ``missing`` (N, 6) wrenches; None if there are none.

    A constraint that counts as redundant at the rank tolerance may still carry a part of the load; the engine's own
    forces, if they balance, are then taken instead.
    """
    found = balance(system, missing)
    if found.share <= _BALANCED:
        return found.multipliers
    s, rows = n.structure, n.rows
    if np.isnan(rows.engine).any() or (np.abs(n.rest) > _BALANCED * n.scale).any() or n.needed is None:
        return None
    values = dict(zip(row_labels(n), rows.engine.tolist(), strict=True))
    left = n.needed - rows.J.T @ rows.engine
    for k in np.flatnonzero(n.held | n.stopped).tolist():
        values[lock_label(*s.freedom[k])] = float(left[k])
    joints, own = n.pair_wrenches(rows.engine), s.pairs
    for k, label in enumerate(own.labels):
        values[label] = float(joints[own.of_row[k], own.axis[k] + 3 * own.turn[k]])
    return np.array([values[label] for label in system.labels]) / system.scale


def with_contacts(n: Numbers) -> Mechanism:
    """Return the mechanism with the contacts that carry force at an update."""
    s, g, t, rows = n.structure, n.reading.geometry, n.reading.touching, n.rows
    names = contact_names(s, t)
    found = []
    for k in np.unique(rows.contact).tolist():
        body, on = int(t.body[k]), int(t.on[k])
        local = g.poses.of(body).inverse().apply(t.point[k])
        slip = rows.slip[k] if rows.state[k] == 1 else None
        where = "world" if on < 0 else s.mech.bodies[on].name
        found.append(
            Contact(names[k], s.mech.bodies[body].name, local, t.normal[k], float(t.mu[k]), where, slip)
        )
    gravity = n.reading.gravity
    pairs = (*(p for p in s.mech.pairs if not p.closure), *n.reading.closures.pairs)
    return replace(s.mech, pairs=pairs, contacts=tuple(found), gravity=gravity)


def _drives(n: Numbers) -> Array:
    """Return the wrenches (N, 6) of known forces along joints, at the centres of mass."""
    s, g = n.structure, n.reading.geometry
    force = np.nan_to_num(n.reading.drives)
    force[n.held | n.stopped] = 0.0
    force += n.reading.known
    out = np.zeros((len(s.mass) + 1, 6))
    for k in np.flatnonzero(force).tolist():
        # a unit force of a drive has power one on its rate: it is along the axis, through its point
        wrench = np.concatenate((np.zeros(3), g.direction[k])) if s.turn[k] else g.measure[k]
        for body, sign in ((s.outer[k], 1.0), (s.inner[k], -1.0)):
            own = sign * force[k] * wrench
            if body >= 0:
                own[3:] -= cross(g.poses.p_WC[body], own[:3])
                out[body] += own
    return out[:-1]


def _locks(n: Numbers) -> tuple[Lock, ...]:
    """Return the locks of the joints that drives or their stops hold; a stop is taken as two-sided."""
    freedoms: dict[str, list[str]] = {}
    for k in np.flatnonzero(n.held | n.stopped).tolist():
        joint, name = n.structure.freedom[k]
        freedoms.setdefault(joint, []).append(name)
    return tuple(Lock(joint, freedoms=tuple(names)) for joint, names in freedoms.items())


def outside(n: Numbers, intervals: dict[RowLabel, Interval], tolerance: float) -> list[Mark]:
    """Return the engine's numbers that lie outside of their intervals by more than the tolerance."""
    found = []
    for k, label in enumerate(row_labels(n)):
        value, interval = float(n.rows.engine[k]), intervals.get(label)
        size = tolerance * n.force * (n.length if n.rows.turn[k] else 1.0)
        if interval is None or np.isnan(value):
            continue
        if not interval.lower - size <= value <= interval.upper + size:
            nearest = interval.lower if value < interval.lower else interval.upper
            found.append(Mark(*label, "interval", value, nearest))
    return found
