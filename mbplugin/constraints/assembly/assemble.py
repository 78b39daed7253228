"""Closing all loops of a pose, group by group."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from mbplugin.constraints.assembly.closure import CLOSED, CONVERGED, Closure
from mbplugin.constraints.assembly.group import Found
from mbplugin.constraints.assembly.limits import respect_limits
from mbplugin.constraints.assembly.result import Assembly
from mbplugin.constraints.assembly.search import close_component, open_alone
from mbplugin.errors import CannotClose
from mbplugin.model.mechanism.kinematics import relative_pose
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.phrases import listed

#: Cosine of the angle from which on two axes are opposite: 170°.
_OPPOSITE = -0.985


def assemble(
    mech: Mechanism, q: Array, given: Collection[str] = (), named: Collection[str] = (), *, seed: int = 0
) -> Assembly:
    """Close all loops, starting at q and moving what was not given first.

    Constraints that share no joint are closed on their own. What the descent from q leaves open is
    parted: while the joints that many loops share are held, groups of loops are closed one by one, each
    from poses drawn at random.

    Parameters
    ----------
    q : (nq,) array
        The pose of the file.
    given : collection of str
        Coordinate names to be held when the loops close without moving them.
    named : collection of str
        Those of them that are held where not all can be.
    seed : int
        Of the poses drawn.

    Raises
    ------
    CannotClose
        Names the group of constraints that stays open, by how much, and from how many poses.
    """
    closure = Closure(mech, q)
    if not closure.constraints:
        return Assembly(q, {}, {}, closure.length, 0.0)
    before = closure.initial
    if max(before.values()) <= CONVERGED * closure.length:
        return Assembly(q, before, before, closure.length, 0.0)
    there, starts = q, 0
    degenerate: list[str] = []
    for component in closure.components:
        found = close_component(closure, component, there, _held_sets(mech, given, named), seed)
        if found.gap > CLOSED * closure.length:
            raise _not_closed(closure, found, seed)
        there, starts = found.q, max(starts, found.starts)
        degenerate += found.degenerate
    there, beyond = respect_limits(closure, q, there)
    moved = float(np.abs(there - q).max()) if q.size else 0.0
    after = closure.residuals(there)
    return Assembly(
        there, before, after, closure.length, moved, beyond, starts, tuple(degenerate), closure.turned(q)
    )


def _held_sets(mech: Mechanism, given: Collection[str], named: Collection[str]) -> list[AnyArray]:
    """Return movable rates, from the most held to none held: given joints and free roots, then less."""
    free_roots, all_given, only_named = (np.zeros(len(mech.qd_names), dtype=bool) for _ in range(3))
    for joint in mech.tree.joints:
        names = mech.q_names[joint.q]
        free_roots[joint.qd] = joint.pair is None
        all_given[joint.qd] = not {*given, *named}.isdisjoint(names)
        only_named[joint.qd] = not set(named).isdisjoint(names)
    held = [all_given | free_roots, all_given, only_named | free_roots, only_named, np.zeros_like(free_roots)]
    kept = [h for k, h in enumerate(held) if not any((h == other).all() for other in held[:k])]
    return [~h for h in kept]


def _not_closed(closure: Closure, found: Found, seed: int) -> CannotClose:
    names = [repr(closure.constraints[k].name) for k in found.group]
    alone = [f"{name!r} ({gap:.2g} m)" for name, gap in open_alone(closure, found, seed)]
    also = f"; not closed on its own either: {listed(alone, 2)}" if alone else ""
    return CannotClose(
        f"not closed in {found.starts} starts (seed {seed}): best gap {found.gap:.4g} m,"
        f" group {listed(names, 3)}{also}",
        expected=f"a gap below {CLOSED * closure.length:.2g} m",
        remedy=_turn_opposite(closure, found)
        or "correct the frames of the group, or give a starting pose nearer to the closed one",
    )


def _turn_opposite(closure: Closure, found: Found) -> str:
    """Return which joints of an open group have opposite axes on their two sides at the start, and what turns one."""
    pairs = [c for k in found.group if isinstance(c := closure.constraints[k], Pair)]
    # joints that do not tilt their axis
    hinged = [p for p in pairs if p.type != "fixed" and not {"rx", "ry"} & set(p.kind.free)]
    names = [p.name for p in hinged if relative_pose(closure.mech, p, closure.poses).R[2, 2] < _OPPOSITE]
    if not names:
        return ""
    sides = f"the axes of both sides of {listed(names, 3)} are opposite at the start"
    return f"{sides}: turn one of them, such as by rpy_b = [3.141592653589793, 0, 0]"
