"""Parting loops that share a few joints: held, these leave groups that close on their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbplugin.constraints.assembly.closure import Closure
from mbplugin.constraints.assembly.loops import Group, connected
from mbplugin.constraints.assembly.starts import drawn
from mbplugin.model.spatial import AnyArray, Array


def parted(
    closure: Closure, group: Group, q: Array, movable: AnyArray, rng: np.random.Generator
) -> list[Group]:
    """Return the groups that a component falls into while joints that many loops share are held.

    A joint is held if that takes no rank from the rows at a pose drawn at random: the loops must still be
    able to close. One that parts nothing is free again. One group comes back where nothing parts.

    Parameters
    ----------
    q : (nq,) array
    movable : (nv,) bool array
    """
    members = [closure.members[k] for k in group.constraints]
    joints = [k for k in group.joints if movable[closure.mech.tree.joints[k].qd].any()]
    shared = {k: sum(k in m for m in members) for k in joints}
    order = sorted((k for k in joints if shared[k] > 1), key=lambda k: -shared[k])
    held = _bearable(closure, group, order, drawn(closure, q[None], joints, rng)[0], movable)

    def parts(held: Sequence[int]) -> list[Group]:
        free = frozenset(joints) - frozenset(held)
        return connected([m & free for m in members], group.constraints)

    for joint in reversed(held):
        without = [k for k in held if k != joint]
        if len(parts(without)) == len(parts(held)):
            held = without
    return parts(held)


def _bearable(closure: Closure, group: Group, order: Sequence[int], q: Array, movable: AnyArray) -> list[int]:
    """Return the joints, the most shared first, that can be held one after the other without loss of rank.

    At q (nq,), movable (nv,) of bool.
    """
    system = closure.system(group)
    J = system.linearised(q[None])[0]
    keep = movable[system.rates].copy()
    rank, held = J.moving(keep).ranks()[0], []
    for joint in order:
        span = closure.mech.tree.joints[joint].qd
        trial = keep & ~((system.rates >= span.start) & (system.rates < span.stop))
        if trial.sum() >= rank and J.moving(trial).ranks()[0] == rank:
            keep = trial
            held.append(joint)
    return held
