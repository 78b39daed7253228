"""Closing one component: from the pose as it is, then parted into groups, then as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mbplugin.constraints.assembly.branch import generic_nearby
from mbplugin.constraints.assembly.closure import CLOSED, CONVERGED, Closure, System
from mbplugin.constraints.assembly.descent.newton import gauss_newton, levenberg_marquardt
from mbplugin.constraints.assembly.descent.steps import shortest_step
from mbplugin.constraints.assembly.group import Found, GroupSearch, better, gap_at
from mbplugin.constraints.assembly.loops import Group
from mbplugin.constraints.assembly.parting import parted
from mbplugin.constraints.assembly.starts import drawn
from mbplugin.model.spatial import AnyArray, Array

#: How often a group starts from many poses at once before it counts as not closed.
_ROUNDS = 4
_ITERATIONS = 80
#: A step below this leaves a rate alone, rad or lengths of the mechanism.
_ALONE = 1e-9


@dataclass(frozen=True, eq=False)
class _Part:
    """A component, its equations, and the pose that it is to be closed from."""

    component: Group
    system: System
    q: Array


@dataclass(frozen=True, eq=False)
class Movable:
    """Rates that may change, (nv,) of bool, and whether closed poses far away are searched as well."""

    rates: AnyArray
    searched: bool


def close_component(
    closure: Closure, component: Group, q: Array, movable_sets: Sequence[Movable], seed: int
) -> tuple[Found, bool]:
    """Return the closed pose of a component that is nearest to q, and whether what may not move need not.

    Parameters
    ----------
    q : (nq,) array
    movable_sets : sequence of Movable
        Tried in this order; the first ones are for poses that close without moving the others.
    """
    part = _Part(component, closure.system(component), q)
    best = Found(q, gap_at(part.system, q), 1, component.constraints)
    if best.gap <= CONVERGED * closure.length:
        return replace(best, starts=0), True
    is_open = best.gap > CLOSED * closure.length
    rng = np.random.default_rng(seed)
    sets = _distinct(movable_sets, part.system.rates)
    for movable in sets:
        # what is held may be what keeps the loops open: that is not searched for long
        search = GroupSearch(closure, movable.rates, rng, _ROUNDS if movable is sets[-1] else 1)
        found = _from_here(part, movable.rates, search.nearly)
        if found.gap > search.closed and movable.searched:
            found = better(found, _by_groups(search, part))
        found = replace(found, q=_unmoved(closure, found.q, q, movable.rates))
        best = better(best, found)
        if found.gap <= search.closed and settled(part.system, found.q, ~movable.rates):
            # a pose that was given closed is meant as it is
            return (_generic(search, part, found) if is_open else found), True
    return best, False


def settled(system: System, q: Array, fixed: AnyArray, alone: float = _ALONE) -> bool:
    """Return whether the smallest step that closes what is open at q (nq,) leaves the rates ``fixed`` (nv,) alone.

    A step below ``alone`` does, rad or lengths of the mechanism. What stays open then is the misfit of rows that no
    pose closes, and none that the fixed rates keep open.
    """
    J, Phi = system.linearised(q[None])
    if float(np.abs(Phi).max(initial=0.0)) <= CONVERGED * system.length:
        return True
    return float(np.abs(shortest_step(J, -Phi[0])[fixed[system.rates]]).max(initial=0.0)) <= alone


def _unmoved(closure: Closure, found: Array, q: Array, movable: AnyArray) -> Array:
    """Return a pose ``found`` (nq,) with the coordinates of q (nq,) where no rate of ``movable`` (nv,) changes them."""
    out = np.array(found)
    for joint in closure.mech.tree.joints:
        moves = movable[joint.qd]
        if not moves.any():
            out[joint.q] = q[joint.q]
        elif len(moves) == joint.q.stop - joint.q.start:
            out[joint.q] = np.where(moves, found[joint.q], q[joint.q])
    return out


def open_alone(closure: Closure, found: Found, seed: int) -> list[tuple[str, float]]:
    """Return the constraints of an open group that do not even close on their own, and their gaps, m."""
    if len(found.group) < 2:
        return []
    every = np.ones(len(closure.units), dtype=bool)
    search = GroupSearch(closure, every, np.random.default_rng(seed), _ROUNDS)
    alone = []
    for k in found.group:
        single = search.close(Group((k,), tuple(sorted(closure.members[k]))), found.q)
        if single.gap > search.closed:
            alone.append((closure.constraints[k].name, single.gap))
    return sorted(alone, key=lambda item: -item[1])


def _distinct(movable_sets: Sequence[Movable], rates: AnyArray) -> list[Movable]:
    """Return the sets that differ in the rates (C,) of the component, and have some."""
    distinct: list[Movable] = []
    for movable in reversed(movable_sets):
        same = any((movable.rates[rates] == other.rates[rates]).all() for other in distinct)
        if not same and (not distinct or movable.rates[rates].any()):
            distinct.insert(0, movable)
    return distinct


def _from_here(part: _Part, movable: AnyArray, nearly: float) -> Found:
    """Return where a descent ends in the rates movable (nv,) of bool."""
    end = levenberg_marquardt(part.system, part.q[None], movable, nearly, _ITERATIONS)[0][0]
    end, gap = gauss_newton(part.system, end, movable, CONVERGED)
    return Found(end, gap, 1, part.component.constraints)


def _generic(search: GroupSearch, part: _Part, found: Found) -> Found:
    """Return what was found, or a closed pose near it where the rows keep the rank that it loses."""
    pose = generic_nearby(
        search.closure, part.system, part.component, part.q, found.q, search.movable, search.rng
    )
    if pose is None:
        return found
    names = tuple(search.closure.constraints[k].name for k in part.component.constraints)
    return replace(found, q=pose, gap=gap_at(part.system, pose), degenerate=names)


def _by_groups(search: GroupSearch, part: _Part) -> Found:
    """Return the best pose of a component that falls into groups while what they share is held."""
    groups = parted(search.closure, part.component, part.q, search.movable, search.rng)
    if len(groups) == 1:
        return search.close(part.component, part.q)
    there = Found(part.q, np.inf, 1, part.component.constraints)
    still_open = []
    for group in groups:
        found = search.close(group, there.q)
        there = replace(
            there,
            q=found.q,
            starts=max(there.starts, found.starts),
            degenerate=there.degenerate + found.degenerate,
        )
        if found.gap > search.closed:
            still_open.append(group)
    if not still_open:
        end, gap = gauss_newton(part.system, there.q, search.movable, CONVERGED)
        return replace(there, q=end, gap=gap)
    grouped = {k for group in groups for k in group.joints}
    held = [k for k in search.moving(part.component) if k not in grouped]
    return _with_held(search, part, there, still_open, held)


def _with_held(
    search: GroupSearch, part: _Part, there: Found, still_open: Sequence[Group], held: Sequence[int]
) -> Found:
    """Return the best pose when all of a component moves, and only what is open starts anew.

    Every other descent starts from other values of the joints that were held as well.
    """
    joints = sorted({k for group in still_open for k in group.joints})
    constraints = tuple(sorted({k for group in still_open for k in group.constraints}))
    best = replace(there, gap=gap_at(part.system, there.q), group=constraints)
    starts, count = there.starts, search.together(part.system)
    for _ in range(search.rounds):
        Q = drawn(search.closure, np.repeat(there.q[None], count, axis=0), joints, search.rng)
        Q[1::2] = drawn(search.closure, Q[1::2], held, search.rng)
        found = search.descended(part.system, part.component, part.q, Q)
        starts += count
        best = replace(better(best, replace(found, group=constraints)), starts=starts)
        if best.gap <= search.closed:
            break
    return best
