"""Held joints: drivers and locks, actuated joints, and joints named by the caller."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from mbplugin.constraints.rank import rank_blocks
from mbplugin.constraints.rows.build import rows_of
from mbplugin.constraints.rows.planar import planar_rows
from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.joint_reactions.motion import JointMotion
from mbplugin.model.mechanism.coupling import Lock
from mbplugin.model.mechanism.identity import pair_and_freedom
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array
from mbplugin.phrases import names_of

#: A joint holds something only if it turns with a free motion by more than this fraction of it.
_INDEPENDENT = 1e-6


def held_joints(
    motion: JointMotion, hold: Iterable[str] | None, actuated: Sequence[str], tolerance: float
) -> tuple[Lock, ...]:
    """Return the joints to be held besides the drivers and locks that the mechanism has.

    Parameters
    ----------
    hold : iterable of str, or None
        Pairs, or ``pair.freedom``. None takes the actuated joints; where the mechanism has no
        driver, lock or actuator, the joints with a finite effort limit. Of these only as many as are
        independent, in file order.
    actuated : sequence of str
        Pairs with an actuator.
    tolerance : float
        Rank tolerance.

    Raises
    ------
    UnknownName, BadUsage
        A name that is no pair, or a pair without that freedom.
    """
    mech = motion.mech
    if hold is not None:
        named = {lock.name: lock for lock in (named_lock(mech, name) for name in names_of(hold))}
        return tuple(lock for lock in named.values() if not _already_held(mech, lock))
    candidates = [pair.name for pair in mech.pairs if pair.name in set(actuated)]
    if not candidates and not mech.drivers and not mech.locks:
        candidates = limited_joints(mech)
    locks = [lock for lock in map(Lock, candidates) if not _already_held(mech, lock)]
    return _independent(motion, locks, tolerance) if locks else ()


def with_held(mech: Mechanism, held: Sequence[Lock]) -> Mechanism:
    """Return the mechanism with more joints locked."""
    return replace(mech, locks=(*mech.locks, *held)) if held else mech


def limited_joints(mech: Mechanism) -> list[str]:
    """Return the pairs all of whose freedoms have a finite effort limit."""
    return [p.name for p in mech.pairs if p.freedoms and all(_limited(f.effort) for f in p.freedoms)]


def _limited(effort: float) -> bool:
    return 0 < effort < np.inf


def named_lock(mech: Mechanism, name: str, what: str = "the joint to hold") -> Lock:
    """Return what holds a pair, or ``pair.freedom``.

    Raises
    ------
    UnknownName, BadUsage
        A name that is no pair, or a pair without that freedom.
    """
    joint, freedom = pair_and_freedom(name, mech.pair_by_name)
    pair, freedoms = mech.pair_by_name.get(joint), (freedom,) if freedom else ()
    if pair is None:
        raise UnknownName(
            f"{what}, {name!r}, is no pair of {mech.name!r}",
            remedy=suggestion(name, [p.name for p in mech.pairs if p.kind.free]),
        )
    if not pair.kind.free or not set(freedoms) <= set(pair.kind.free):
        free = ", ".join(pair.kind.free) or "no freedom at all"
        raise BadUsage(f"{pair.type} pair {pair.name!r} cannot be held as {name!r}: it has {free}")
    return Lock(pair.name, freedoms=freedoms)


def _already_held(mech: Mechanism, lock: Lock) -> bool:
    """Return whether drivers and locks of the mechanism hold all of it already."""
    kind = mech.pair_by_name[lock.joint].kind
    wanted = set(lock.freedoms or kind.free)
    for driver in mech.drivers:
        if driver.joint == lock.joint:
            wanted -= set(driver.freedoms or kind.free)
    for other in mech.locks:
        if other.joint == lock.joint:
            wanted -= set(other.freedoms or kind.free)
    return not wanted


def _independent(motion: JointMotion, locks: Sequence[Lock], tolerance: float) -> tuple[Lock, ...]:
    """Return the locks, in order, that each take a free motion away."""
    blocks = rank_blocks(motion.mech, motion.poses, motion.columns, tolerance, motion.q)
    free = motion.free_motions(sum(block.redundancy for block in blocks))
    chosen = []
    for lock in locks:
        rows = rows_of(motion.mech, (lock,), motion.poses, motion.q)
        moved = motion.jacobian([planar_rows(r, motion.columns) for r in rows]) @ free
        if np.linalg.matrix_rank(moved, _INDEPENDENT) < len(moved) or not len(moved):
            continue
        chosen.append(lock)
        free = free @ _null(moved)
    return tuple(chosen)


def _null(rows: Array) -> Array:
    """Return a basis (n, n − k) of what independent rows (k, n) leave free."""
    return np.asarray(np.linalg.svd(rows)[2][len(rows) :].T)
