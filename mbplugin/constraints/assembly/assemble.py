"""Closing all loops of a pose, group by group, from the coordinates that are stated."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from mbplugin.constraints.assembly.closure import CLOSED, CONVERGED, Closure
from mbplugin.constraints.assembly.descent.newton import gauss_newton
from mbplugin.constraints.assembly.group import Found
from mbplugin.constraints.assembly.limits import respect_limits
from mbplugin.constraints.assembly.loops import Group
from mbplugin.constraints.assembly.result import Assembly
from mbplugin.constraints.assembly.search import Movable, close_component, open_alone, settled
from mbplugin.constraints.contradiction import AGREED, contradiction, rounding_of
from mbplugin.errors import CannotClose, ContradictedState
from mbplugin.model.mechanism.joint import has_quaternion
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
    """Close all loops, starting at q and holding what is stated, see :mod:`mbplugin.constraints.stated_state`.

    Constraints that share no joint are closed on their own. What the descent from q leaves open is
    parted: while the joints that many loops share are held, groups of loops are closed one by one, each
    from poses drawn at random.

    Parameters
    ----------
    q : (nq,) array
        The pose of the file.
    given : collection of str
        Coordinates that are stated, by the file or the caller.
    named : collection of str
        Those that the caller states: where the file's contradict them, these follow.
    seed : int
        Of the poses drawn.

    Raises
    ------
    CannotClose
        Names the group of constraints that stays open, by how much, and from how many poses.
    ContradictedState
        Loops that close, but not with what is stated; names the coordinates and the values that agree.
    """
    closure = Closure(mech, q)
    if not closure.constraints:
        return Assembly(q, {}, {}, closure.length, 0.0)
    before = closure.initial
    if max(before.values()) <= CONVERGED * closure.length:
        return Assembly(q, before, before, closure.length, 0.0)
    caller = rates_of(mech, named)
    stated = caller | rates_of(mech, given)
    there, starts = q, 0
    degenerate: list[str] = []
    for component in closure.components:
        found = _close(closure, component, there, stated, caller, {*given, *named}, set(named), seed)
        there, starts = found.q, max(starts, found.starts)
        degenerate += found.degenerate
    there, beyond = respect_limits(closure, q, there, ~stated)
    moved = float(np.abs(there - q).max()) if q.size else 0.0
    after = closure.residuals(there)
    return Assembly(
        there, before, after, closure.length, moved, beyond, starts, tuple(degenerate), closure.turned(q)
    )


def rates_of(mech: Mechanism, coordinates: Collection[str]) -> AnyArray:
    """Return the rates (nv,) of bool that change some coordinates: one each, three of a quaternion."""
    out = np.zeros(len(mech.qd_names), dtype=bool)
    if not coordinates:
        return out
    for joint in mech.tree.joints:
        named = np.array([name in coordinates for name in mech.q_names[joint.q]], dtype=bool)
        if has_quaternion("floating" if joint.pair is None else joint.pair.type):
            out[joint.qd] = [*named[:-4], *[named[-4:].any()] * 3]
        else:
            out[joint.qd] = named
    return out


def _close(
    closure: Closure,
    component: Group,
    q: Array,
    stated: AnyArray,
    caller: AnyArray,
    names: Collection[str],
    named: Collection[str],
    seed: int,
) -> Found:
    """Return a component closed at q (nq,), the rates ``stated`` (nv,) fixed, else those of the ``caller`` (nv,)."""
    own = np.zeros_like(stated)
    own[closure.system(component).rates] = True
    found = Found(q, np.inf, 1, component.constraints)
    for held in (stated, caller) if (caller & own).any() and (stated & ~caller & own).any() else (stated,):
        found, holds = close_component(closure, component, q, _movable_sets(closure.mech, held), seed)
        if holds:
            return found
        if (rounded := _within_rounding(closure, component, found.q, q, held & own)) is not None:
            return replace(found, q=rounded)
    if (stated & own).any():
        free = np.zeros_like(stated)
        found, holds = close_component(closure, component, q, _movable_sets(closure.mech, free), seed)
        if holds:
            raise _contradicted(closure, component, q, own, names, named)
    raise _not_closed(closure, found, seed)


def _movable_sets(mech: Mechanism, held: AnyArray) -> list[Movable]:
    """Return the rates that may change while ``held`` (nv,) are fixed, those first that are led by others.

    First what follows in a coupling; then all but the leaders of couplings; then all but free bases; then all.
    Only the last two are worth a search.
    """
    roots, leads, follows = (np.zeros_like(held) for _ in range(3))
    followers = {c.terms[0].joint for c in mech.couplings}
    leaders = {term.joint for c in mech.couplings for term in c.terms[1:]} - followers
    for joint in mech.tree.joints:
        if joint.pair is None:
            roots[joint.qd] = True
        else:
            leads[joint.qd], follows[joint.qd] = joint.pair.name in leaders, joint.pair.name in followers
    sets = [Movable(follows & ~held, False), Movable(~(leads | roots | held), False)] if followers else []
    return [*sets, Movable(~(roots | held), True), Movable(~held, True)]


def _within_rounding(
    closure: Closure, component: Group, start: Array, q: Array, held: AnyArray
) -> Array | None:
    """Return a closed pose (nq,) near ``start`` (nq,) that moves what is stated by no more than it was rounded.

    None where q (nq,) contradicts itself in the rates ``held`` (nv,) by more.
    """
    mech, system = closure.mech, closure.system(component)
    allowed, moved = np.zeros(len(held)), np.zeros(len(held))
    for joint in mech.tree.joints:
        if held[joint.qd].any():
            turned = has_quaternion("floating" if joint.pair is None else joint.pair.type)
            own = np.array([rounding_of(value) for value in q[joint.q].tolist()])
            allowed[joint.qd] = [*own[:-4], *[2 * own[-4:].max()] * 3] if turned else own
    # what was written with fewer digits moves first
    exact = held & (allowed <= AGREED * closure.units)
    end, gap = gauss_newton(system, start, ~exact, CONVERGED)
    if gap > CLOSED * closure.length or not settled(system, end, exact, AGREED):
        return None
    end = gauss_newton(system, end, np.ones_like(held), CONVERGED)[0]
    for joint in mech.tree.joints:
        if held[joint.qd].any():
            turned = has_quaternion("floating" if joint.pair is None else joint.pair.type)
            by = np.abs(end[joint.q] - q[joint.q])
            moved[joint.qd] = [*by[:-4], *[2 * by[-4:].max()] * 3] if turned else by
    return end if (moved <= np.maximum(allowed, AGREED * closure.units))[held].all() else None


def _contradicted(
    closure: Closure,
    component: Group,
    q: Array,
    own: AnyArray,
    names: Collection[str],
    named: Collection[str],
) -> ContradictedState:
    """Return the error about the stated coordinates of a component, ``own`` (nv,) its rates, at q (nq,)."""
    mech = closure.mech
    index = {name: k for k, name in enumerate(mech.q_names)}
    here = [name for name in names if name in index and (rates_of(mech, (name,)) & own).any()]
    # what the file states would have given way
    here = [name for name in here if name in named] or here
    stated = {name: float(q[index[name]]) for name in here}

    def follows(some: Collection[str]) -> Mapping[str, float] | None:
        held = rates_of(mech, some)
        last = [Movable(~held, True)]
        found, holds = close_component(closure, component, q, last, 0)
        if not holds and _within_rounding(closure, component, found.q, q, held & own) is None:
            return None
        return {name: float(found.q[index[name]]) for name in here}

    closing = [closure.constraints[k].name for k in component.constraints]
    return contradiction("coordinate", stated, named, follows, closing)


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
