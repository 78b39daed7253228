"""Joints without a default brake: their effort limit is 0, or is not stated."""

from __future__ import annotations

from collections.abc import Collection
from math import isfinite

from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair


def follows(mech: Mechanism, pair: Pair) -> bool:
    """Return whether a coupling moves a joint with another one: it has no drive of its own."""
    return any(coupling.terms[0].joint == pair.name for coupling in mech.couplings)


def unbraked_joints(mech: Mechanism, braked: Collection[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the joints with an effort limit of 0, and those without one, that nothing brakes or leads.

    Joints of one freedom that can move: not locked, and not led by a coupling.

    Parameters
    ----------
    braked : collection of str
        Joints with a brake.
    """
    locked = {lock.joint for lock in mech.locks}
    own = [
        pair
        for pair in mech.pairs
        if len(pair.kind.free) == 1 and pair.name not in {*braked, *locked} and not follows(mech, pair)
    ]
    zero = tuple(pair.name for pair in own if pair.freedoms[0].effort == 0.0)
    return zero, tuple(pair.name for pair in own if not isfinite(pair.freedoms[0].effort))
