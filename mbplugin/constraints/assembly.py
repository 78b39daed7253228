"""Closing all loops of a mechanism, group by group, from the stated coordinates."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

import numpy as np

from mbplugin.constraints import AGREED, contradiction, rounding_of
from mbplugin.constraints.closure import (
    CLOSED,
    CONVERGED,
    Assembly,
    Closure,
    Group,
    System,
    beyond_limits,
    connected,
    distances,
    drawn,
    nearest_turns,
    respect_limits,
)
from mbplugin.constraints.descent import gauss_newton, levenberg_marquardt, shortest_step
from mbplugin.errors import CannotClose, ContradictedState
from mbplugin.model import AnyArray, Array, Mechanism, Pair, has_quaternion, relative_pose
from mbplugin.phrases import dataclass, listed

#: Two axes are opposite if the cosine of their angle is below this (170°).
_OPPOSITE = -0.985
#: Rounds of descents from many poses before a group counts as not closed.
_ROUNDS = 4
_ITERATIONS = 80
#: A step below this does not change a rate, rad or lengths of the mechanism.
_ALONE = 1e-9
#: Search for a generic pose: number of poses, their RMS distance (rad, and travels in lengths), and iterations.
_TRIED, _AWAY, _BRANCH_ITERATIONS = 6, 0.2, 30
#: Largest number of simultaneous descents.
_TOGETHER = 12
#: Bound on columns times simultaneous descents: for a large group more would only take longer.
_WORK = 1200
#: Simultaneous descents stop at this fraction of the closing threshold; Gauss–Newton steps finish.
_NEARLY = 0.1
#: Collects the groups that would have to be searched for from many poses, where that search is left out; else None.
_LEFT_OUT: ContextVar[list[Group] | None] = ContextVar("left_out", default=None)


def assemble(
    mech: Mechanism, q: Array, given: Collection[str] = (), named: Collection[str] = (), *, seed: int = 0
) -> Assembly:
    """Close all loops, starting at q with stated values fixed, see :mod:`mbplugin.constraints.stated_state`.

    Components that share no joint are closed separately. If a descent from q does not close a component, it is
    split: with the joints that many loops share fixed, groups of loops are closed one by one, each from random
    poses.

    Parameters
    ----------
    q : (nq,) array
        The pose of the file.
    given : collection of str
        Coordinates stated by the file or the caller.
    named : collection of str
        Those stated by the caller; values of the file that contradict them give way.
    seed : int
        Seed of the random poses.

    Raises
    ------
    CannotClose
        A group of constraints stays open; the message gives its gap and the number of starting poses.
    ContradictedState
        Loops close, but not with the stated values; the message names coordinates and values that agree.
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


@contextmanager
def without_search() -> Iterator[list[Group]]:
    """Leave out the search from many poses: a group that does not close near its pose raises at once.

    Yields
    ------
    list of Group
        The groups that raised :class:`CannotClose` for this reason, of which the search may close some.
    """
    groups: list[Group] = []
    token = _LEFT_OUT.set(groups)
    try:
        yield groups
    finally:
        _LEFT_OUT.reset(token)


def rates_of(mech: Mechanism, coordinates: Collection[str]) -> AnyArray:
    """Return a mask (nv,) of the rates that change some coordinates: one each, three for a quaternion."""
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
    """Return a component closed from q (nq,), the rates ``stated`` (nv,) fixed or, failing that, ``caller`` (nv,)."""
    own = np.zeros_like(stated)
    own[closure.system(component).rates] = True
    found = Found(q, np.inf, 1, component.constraints)
    for held in (stated, caller) if (caller & own).any() and (stated & ~caller & own).any() else (stated,):
        found, holds = close_component(closure, component, q, movable_sets_of(closure.mech, held), seed)
        if holds:
            return found
        if (rounded := _within_rounding(closure, component, found.q, q, held & own)) is not None:
            return replace(found, q=rounded)
    if (stated & own).any():
        free = np.zeros_like(stated)
        found, holds = close_component(closure, component, q, movable_sets_of(closure.mech, free), seed)
        if holds:
            raise _contradicted(closure, component, q, own, names, named)
    raise _not_closed(closure, found, seed)


def movable_sets_of(mech: Mechanism, held: AnyArray) -> list[Movable]:
    """Return sets of rates that may change while ``held`` (nv,) are fixed, in the order to try.

    First the followers of couplings; then all but leaders of couplings and free bases; then all but free bases;
    then all. Only for the last two are distant poses searched.
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
    """Return a closed pose (nq,) near ``start`` (nq,) that changes stated values by no more than their rounding.

    None if the values of q (nq,) in the rates ``held`` (nv,) would have to change by more.
    """
    mech, system = closure.mech, closure.system(component)
    allowed, moved = np.zeros(len(held)), np.zeros(len(held))
    for joint in mech.tree.joints:
        if held[joint.qd].any():
            turned = has_quaternion("floating" if joint.pair is None else joint.pair.type)
            own = np.array([rounding_of(value) for value in q[joint.q].tolist()])
            allowed[joint.qd] = [*own[:-4], *[2 * own[-4:].max()] * 3] if turned else own
    # values with a rounding allowance move first
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
    """Return the error for contradicting stated coordinates at q (nq,) of a component with the rates ``own`` (nv,)."""
    mech = closure.mech
    index = {name: k for k, name in enumerate(mech.q_names)}
    here = [name for name in names if name in index and (rates_of(mech, (name,)) & own).any()]
    # values of the file would have given way
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
    """Return a hint naming joints of an open group whose two axes are opposite at the start, and how to turn one."""
    pairs = [c for k in found.group if isinstance(c := closure.constraints[k], Pair)]
    # joints that do not tilt their axis
    hinged = [p for p in pairs if p.type != "fixed" and not {"rx", "ry"} & set(p.kind.free)]
    names = [p.name for p in hinged if relative_pose(closure.mech, p, closure.poses).R[2, 2] < _OPPOSITE]
    if not names:
        return ""
    sides = f"the axes of both sides of {listed(names, 3)} are opposite at the start"
    return f"{sides}: turn one of them, such as by rpy_b = [3.141592653589793, 0, 0]"


# Closing one component: from the given pose, then split into groups, then as a whole.


@dataclass(frozen=True, eq=False)
class _Part:
    """A component, its equations, and its starting pose."""

    component: Group
    system: System
    q: Array


@dataclass(frozen=True, eq=False)
class Movable:
    """Mask (nv,) of the rates that may change, and whether distant closed poses are searched as well."""

    rates: AnyArray
    searched: bool


def close_component(
    closure: Closure, component: Group, q: Array, movable_sets: Sequence[Movable], seed: int
) -> tuple[Found, bool]:
    """Return the closed pose of a component nearest to q, and whether it closes without moving the fixed rates.

    Parameters
    ----------
    q : (nq,) array
    movable_sets : sequence of Movable
        Tried in this order; the first sets suffice for poses that close without moving the other rates.

    Raises
    ------
    CannotClose
        A search from many poses is needed, and left out by :func:`without_search`.
    """
    part = _Part(component, closure.system(component), q)
    best = Found(q, gap_at(part.system, q), 1, component.constraints)
    if best.gap <= CONVERGED * closure.length:
        return replace(best, starts=0), True
    is_open = best.gap > CLOSED * closure.length
    rng = np.random.default_rng(seed)
    sets = distinct(movable_sets, part.system.rates)
    for movable in sets:
        # fixed rates may be what keeps the loops open, so only the last set is searched thoroughly
        search = GroupSearch(closure, movable.rates, rng, _ROUNDS if movable is sets[-1] else 1)
        # the end of a descent from the part's pose in the rates ``movable`` (nv,) of bool
        end = levenberg_marquardt(part.system, part.q[None], movable.rates, search.nearly, _ITERATIONS)[0][0]
        end, gap = gauss_newton(part.system, end, movable.rates, CONVERGED)
        found = Found(end, gap, 1, part.component.constraints)
        if found.gap > search.closed and movable.searched:
            if (left_out := _LEFT_OUT.get()) is not None:
                left_out.append(component)
                raise CannotClose("not closed near its pose, and not searched for elsewhere")
            found = better(found, _by_groups(search, part))
        found = replace(found, q=_unmoved(closure, found.q, q, movable.rates))
        best = better(best, found)
        if found.gap <= search.closed and settled(part.system, found.q, ~movable.rates):
            # a pose that was given closed is intended, even if it is degenerate
            return (_generic(search, part, found) if is_open else found), True
    return best, False


def settled(system: System, q: Array, fixed: AnyArray, alone: float = _ALONE) -> bool:
    """Return True if the smallest step that closes the residual at q (nq,) changes no rate ``fixed`` (nv,).

    Steps up to ``alone``, rad or lengths of the mechanism, do not count. The remaining residual is then a misfit that
    no pose closes, and is not caused by the fixed rates.
    """
    J, Phi = system.linearised(q[None])
    if float(np.abs(Phi).max(initial=0.0)) <= CONVERGED * system.length:
        return True
    return float(np.abs(shortest_step(J, -Phi[0])[fixed[system.rates]]).max(initial=0.0)) <= alone


def _unmoved(closure: Closure, found: Array, q: Array, movable: AnyArray) -> Array:
    """Return ``found`` (nq,) with the coordinates of q (nq,) wherever no rate of ``movable`` (nv,) changes them."""
    out = np.array(found)
    for joint in closure.mech.tree.joints:
        moves = movable[joint.qd]
        if not moves.any():
            out[joint.q] = q[joint.q]
        elif len(moves) == joint.q.stop - joint.q.start:
            out[joint.q] = np.where(moves, found[joint.q], q[joint.q])
    return out


def open_alone(closure: Closure, found: Found, seed: int) -> list[tuple[str, float]]:
    """Return the constraints of an open group that do not close on their own either, and their gaps, m."""
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


def distinct(movable_sets: Sequence[Movable], rates: AnyArray) -> list[Movable]:
    """Return the sets that differ in the ``rates`` (C,) of the component and are not empty there."""
    distinct: list[Movable] = []
    for movable in reversed(movable_sets):
        same = any((movable.rates[rates] == other.rates[rates]).all() for other in distinct)
        if not same and (not distinct or movable.rates[rates].any()):
            distinct.insert(0, movable)
    return distinct


def _generic(search: GroupSearch, part: _Part, found: Found) -> Found:
    """Return the closed pose or, if the rows lose rank there, one near it of higher rank."""
    pose = generic_nearby(
        search.closure, part.system, part.component, part.q, found.q, search.movable, search.rng
    )
    if pose is None:
        return found
    names = tuple(search.closure.constraints[k].name for k in part.component.constraints)
    return replace(found, q=pose, gap=gap_at(part.system, pose), degenerate=names)


def _by_groups(search: GroupSearch, part: _Part) -> Found:
    """Return the best pose of a component, closing group by group with the shared joints fixed."""
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
    """Return the best pose with all joints of a component moving, and new starts for the open groups only.

    Every second descent also draws new values for the joints that were fixed.
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


# Splitting loops that share a few joints: with these fixed, groups of loops close independently.


def parted(
    closure: Closure, group: Group, q: Array, movable: AnyArray, rng: np.random.Generator
) -> list[Group]:
    """Return the groups into which a component splits when joints shared by many loops are fixed.

    A joint is fixed if the rows keep their rank at a random pose: the loops must still be able to close. Joints
    that do not contribute to the split are released. Without a split, one group is returned.

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
    """Return the joints of ``order`` that can be fixed one after the other without loss of rank.

    At q (nq,), with the rates ``movable`` (nv,) of bool.
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


# Degenerate closed poses, where the rows have a lower rank than at closed poses nearby.


def generic_nearby(
    closure: Closure,
    system: System,
    group: Group,
    q: Array,
    end: Array,
    movable: AnyArray,
    rng: np.random.Generator,
) -> Array | None:
    """Return the closed pose (nq,) found nearest to q with a higher rank than ``end``, or None.

    Parameters
    ----------
    q, end : (nq,) array
        The given pose, and a closed one.
    movable : (nv,) bool array
    """
    J = system.linearised(end[None])[0]
    here = J.ranks()[0]
    if here == min(J.pattern.shape):
        return None
    step = _AWAY * rng.normal(size=(_TRIED, len(system.rates))) * movable[system.rates]
    Q = system.stepped(np.repeat(end[None], _TRIED, axis=0), step)
    # if no open pose has a higher rank, no closed one has
    if system.linearised(Q)[0].ranks().max() <= here:
        return None
    Q, gap = levenberg_marquardt(system, Q, movable, 0.1 * CLOSED * closure.length, _BRANCH_ITERATIONS)
    closed = nearest_turns(closure, Q[gap <= CLOSED * closure.length], q, group.joints)
    for pose in closed[np.argsort(distances(closure, closed, q, group.joints))]:
        there, left = gauss_newton(system, pose, movable, CONVERGED)
        if left <= CLOSED * closure.length and system.linearised(there[None])[0].ranks()[0] > here:
            return there
    return None


# Closing one group of loops from many poses at once, with all other joints unchanged.


@dataclass(frozen=True, eq=False)
class Found:
    """The best pose of a search, closed or not.

    Parameters
    ----------
    q : (nq,) array
    gap : float
        Largest residual, m.
    starts : int
        Number of starting poses.
    group : tuple of int
        Open constraints, as indices among the constraints to close.
    degenerate : tuple of str
        As in :class:`Assembly`.
    """

    q: Array
    gap: float
    starts: int
    group: tuple[int, ...]
    degenerate: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class GroupSearch:
    """Settings for the search of groups: rates that may change, and rounds of new starts.

    Parameters
    ----------
    movable : (nv,) bool array
    rng : Generator
    rounds : int
        Rounds of descents from many poses at once.
    """

    closure: Closure
    movable: AnyArray
    rng: np.random.Generator
    rounds: int

    @property
    def closed(self) -> float:
        """Residual below which a constraint counts as closed, m."""
        return CLOSED * self.closure.length

    @property
    def nearly(self) -> float:
        """Residual at which the final Gauss–Newton steps begin, m."""
        return _NEARLY * self.closed

    def close(self, group: Group, q: Array) -> Found:
        """Return the nearest closed pose of a group, else the one with the smallest gap; the first start is q (nq,)."""
        system = self.closure.system(group, q)
        best, count, starts = Found(q, gap_at(system, q), 1, group.constraints), self.together(system), 0
        for number in range(self.rounds):
            Q = drawn(self.closure, np.repeat(q[None], count, axis=0), self.moving(group), self.rng)
            if number == 0:
                Q[0] = q
            starts += count
            best = replace(better(best, self.descended(system, group, q, Q)), starts=starts)
            if best.gap <= self.closed:
                break
        return best

    def descended(self, system: System, group: Group, q: Array, Q: Array) -> Found:
        """Return the best end of descents from Q (K, nq): of highest rank, inside limits, and near q (nq,)."""
        Q, gap = levenberg_marquardt(system, Q, self.movable, self.nearly, _ITERATIONS)
        closed = np.flatnonzero(gap <= self.closed)
        if not closed.size:
            k = int(gap.argmin())
            return Found(Q[k], float(gap[k]), len(Q), group.constraints)
        near = nearest_turns(self.closure, Q[closed], q, group.joints)
        rank = system.linearised(near)[0].ranks()
        outside = [len(beyond_limits(self.closure, pose)) for pose in near]
        away = distances(self.closure, near, q, group.joints)
        order = sorted(range(len(near)), key=lambda k: (outside[k], away[k]))
        chosen = next(k for k in order if rank[k] == rank.max())
        names = tuple(self.closure.constraints[k].name for k in group.constraints)
        end, left = gauss_newton(system, near[chosen], self.movable, CONVERGED)
        return Found(end, left, len(Q), group.constraints, names if chosen != order[0] else ())

    def moving(self, group: Group) -> list[int]:
        """Return the joints of a group whose rates may all change."""
        joints = self.closure.mech.tree.joints
        return [k for k in group.joints if self.movable[joints[k].qd].all()]

    def together(self, system: System) -> int:
        """Return the number of simultaneous descents for a group."""
        return int(np.clip(_WORK // max(1, len(system.rates)), 2, _TOGETHER))


def gap_at(system: System, q: Array) -> float:
    """Return the largest residual at a pose q (nq,), m."""
    return float(np.abs(system.linearised(q[None])[1]).max(initial=0.0))


def better(one: Found, other: Found) -> Found:
    """Return the result with the smaller gap, with the larger number of starts of both."""
    return replace(other if other.gap < one.gap else one, starts=max(one.starts, other.starts))
