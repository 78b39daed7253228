"""The active constraints of each segment of a motion: the mechanism with closed locks, brakes, sticking joints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.model.mechanism.coupling import Lock
from mbplugin.model.mechanism.identity import Holder, pair_and_freedom
from mbplugin.model.mechanism.mechanism import Constraint, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import AnyArray
from mbplugin.simulation.impact.timed import with_constraints

if TYPE_CHECKING:
    from mbplugin.simulation.trajectory.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class Held:
    """A mechanism while one set of constraints holds, and the samples at which it does.

    Parameters
    ----------
    mech : Mechanism
        With a lock for whatever holds besides its own constraints; held freedoms have no dry friction,
        since the lock stands for it.
    active : tuple of str
        Names of what holds besides the mechanism's own constraints.
    samples : (s,) array of int
    """

    mech: Mechanism
    active: tuple[str, ...]
    samples: AnyArray

    def spread(self, most: int) -> list[int]:
        """Return up to ``most`` of the samples, evenly spread."""
        at = np.linspace(0, len(self.samples) - 1, min(most, len(self.samples)))
        return [int(k) for k in self.samples[at.round().astype(int)]]


def held_mechanisms(trajectory: Trajectory) -> Iterator[Held]:
    """Yield every segment of a motion that has samples."""
    for k, active in enumerate(trajectory.active):
        samples = np.flatnonzero(trajectory.segment == k)
        if samples.size:
            yield Held(_closed(trajectory.mechanism, active, trajectory.held), active, samples)


def _closed(mech: Mechanism, active: tuple[str, ...], for_a_while: tuple[Constraint, ...]) -> Mechanism:
    """Return the mechanism with what was active besides its own constraints.

    That is a lock for ``lock j``, ``friction j`` or ``brake j``, and constraints that hold for a while.
    """
    mech = with_constraints(mech, [c for c in for_a_while if c.name in active])
    own = {constraint.name for constraint in mech.constraints()}
    holders = (Holder.of(name) for name in active if name not in own)
    joints = dict.fromkeys(holder.joint for holder in holders if holder)
    locks = tuple(_lock(mech, joint) for joint in joints)
    held = {(lock.joint, freedom) for lock in locks for freedom in _freedoms(mech, lock)}
    pairs = tuple(_without_friction(pair, held) for pair in mech.pairs)
    return replace(mech, pairs=pairs, locks=(*mech.locks, *locks))


def _lock(mech: Mechanism, joint: str) -> Lock:
    """Return the lock of a joint, or of one freedom that is written behind a point."""
    pair, freedom = pair_and_freedom(joint, mech.pair_by_name)
    return Lock(pair, freedoms=(freedom,) if freedom else ())


def _freedoms(mech: Mechanism, lock: Lock) -> tuple[str, ...]:
    return lock.freedoms or mech.pair_by_name[lock.joint].kind.free


def _without_friction(pair: Pair, held: set[tuple[str, str]]) -> Pair:
    freedoms = tuple(
        replace(freedom, friction=0.0, load_friction=0.0) if (pair.name, name) in held else freedom
        for name, freedom in zip(pair.kind.free, pair.freedoms, strict=True)
    )
    return pair if freedoms == pair.freedoms else replace(pair, freedoms=freedoms)
