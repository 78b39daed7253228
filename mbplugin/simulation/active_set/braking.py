"""The brakes along a computed motion: which are engaged, and their forces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.dynamics.kernels.resistance import add_law, sliding_forces
from mbplugin.dynamics.tree_model import TreeModel
from mbplugin.model.applied_forces import BrakeForce
from mbplugin.model.brake_law import rate_force
from mbplugin.model.mechanism.identity import Holder, RowLabel, lock_label
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.active_set.stick_slip import AT_REST, rates_of
from mbplugin.simulation.trajectory.segments import Held

if TYPE_CHECKING:
    from mbplugin.simulation.trajectory.trajectory import Trajectory

#: Where sliding ends the rate is zero to this, rad/s and m/s: as exactly as the instant is found.
_HARDLY = 1e-6


def by_brakes(trajectory: Trajectory, samples: AnyArray) -> Iterator[tuple[AnyArray, tuple[BrakeForce, ...]]]:
    """Yield ``samples`` (k,) of a segment with the brakes that have gripped there, in the order of time."""
    first = {brake: _first_sample(trajectory, brake.closes) for brake in trajectory.actions.brakes}
    inner = sorted({k for k in first.values() if samples[0] < k <= samples[-1]})
    for part in np.split(samples, np.searchsorted(samples, inner)):
        if part.size:
            yield part, tuple(brake for brake, k in first.items() if k <= part[0])


def _first_sample(trajectory: Trajectory, closes: float) -> int:
    """Return the first sample behind an instant; the first of two at that instant is before it."""
    time, qdd = trajectory.time, trajectory.qdd
    k = int(np.searchsorted(time, closes - 1e-12 * (1.0 + closes)))
    twice = k + 1 < len(time) and time[k + 1] - time[k] <= 1e-12 * (1.0 + closes)
    return k + 1 if twice and not np.array_equal(qdd[k], qdd[k + 1]) else k


def close(model: TreeModel, held: Held, gripped: tuple[BrakeForce, ...]) -> None:
    """Let brakes act; where a lock stands for what holds or leads a freedom, it has the dry part."""
    own = {lock.joint for lock in held.mech.locks}
    for n, brake in model.brakes:
        if brake in gripped:
            law = brake.law.without_dry_part if brake.joint in own else brake.law
            add_law(model.resistances[n], law)


def set_senses(model: TreeModel, qd: Array, qdd: Array, before: tuple[Array, Array] | None = None) -> None:
    """Let every resistance slide in the sense of its rate.

    Where the rate is zero, that is the sense in which it starts to slide, that of its acceleration; where
    sliding has just come to its end, it is that of the rate before. The model is at the state already.

    Parameters
    ----------
    qd, qdd : (nv,) array
        Rates and accelerations, SI units.
    before : (qd, qdd), optional
        Of the sample before, where the state is the last one before a jump.
    """
    rates, at_rest = rates_of(model, qd), AT_REST
    beside = rates_of(model, qdd)
    if before is not None:
        earlier, at_rest = rates_of(model, before[0]), _HARDLY
        beside = np.where(np.abs(earlier) > AT_REST, earlier, rates_of(model, before[1]))
    model.resistances["sense"] = np.sign(np.where(np.abs(rates) > at_rest, rates, beside))


def before_jumps(time: Array) -> AnyArray:
    """Return which samples are those before a jump, (T,) of bool, by their time (T,), s.

    Others of the same time follow, none is earlier.
    """
    twice = np.diff(time) == 0
    return np.asarray(np.append(twice, False) & ~np.insert(twice, 0, False))


def resistance_forces(model: TreeModel, qd: Array) -> Array:
    """Return what every resistance (n,) does along its freedom at rates qd (nv,) while it slides, N·m or N."""
    return sliding_forces(model.resistances, rates_of(model, qd))


def holding_row(model: TreeModel, held: Held, brake: BrakeForce) -> RowLabel | None:
    """Return the (constraint, component) of the lock that stands for a brake while it holds."""
    label = lock_label(brake.joint, brake.freedom)
    return label if str(Holder("brake", brake.joint)) in held.active and label in model.table.labels else None


def brake_force(model: TreeModel, held: Held, brake: BrakeForce, qd: Array, multipliers: Array) -> float:
    """Return what a gripped brake does to its joint along its freedom, N·m or N.

    Rates qd (nv,) and multipliers (m,) are those of the state.
    """
    n = next(n for n, other in model.brakes if other is brake)
    if label := holding_row(model, held, brake):
        return float(multipliers[model.table.labels.index(label)])
    one = model.resistances[n]
    rate = float(rates_of(model, qd)[n])
    sliding = brake.law.sliding * one["sense"] if one["sliding"] else 0.0
    return -float(sliding + rate_force(brake.law, rate))
