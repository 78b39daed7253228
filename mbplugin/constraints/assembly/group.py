"""Closing one group of loops from many poses at once, all other joints as they are."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mbplugin.constraints.assembly.closure import CLOSED, CONVERGED, Closure, System
from mbplugin.constraints.assembly.descent.newton import gauss_newton, levenberg_marquardt
from mbplugin.constraints.assembly.limits import beyond_limits
from mbplugin.constraints.assembly.loops import Group
from mbplugin.constraints.assembly.nearness import distances, nearest_turns
from mbplugin.constraints.assembly.starts import drawn
from mbplugin.model.spatial import AnyArray, Array

#: Descents at once.
_TOGETHER = 12
#: Columns times descents at once: more of a large group would only take longer.
_WORK = 1200
_ITERATIONS = 80
#: The many descents end this close, as a fraction of what counts as closed; the last steps are Newton's.
_NEARLY = 0.1


@dataclass(frozen=True, eq=False)
class Found:
    """The best pose of a search, closed or not.

    Parameters
    ----------
    q : (nq,) array
    gap : float
        Largest residual, m.
    starts : int
        Poses from which the group was tried.
    group : tuple of int
        What stays open, as positions among the constraints to close.
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
    """How groups are searched: which rates may change, and how often a group starts anew.

    Parameters
    ----------
    movable : (nv,) bool array
    rng : Generator
    rounds : int
        Of descents from many poses at once.
    """

    closure: Closure
    movable: AnyArray
    rng: np.random.Generator
    rounds: int

    @property
    def closed(self) -> float:
        """The residual below which a constraint counts as closed, m."""
        return CLOSED * self.closure.length

    @property
    def nearly(self) -> float:
        """The residual at which the last steps begin, m."""
        return _NEARLY * self.closed

    def close(self, group: Group, q: Array) -> Found:
        """Return the nearest closed pose of a group, or the best one; the first start is q (nq,) itself."""
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
        """Return the best of the poses where descents from Q (K, nq) end, as seen from q (nq,)."""
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
        """Return the joints of a group of which all rates may change."""
        joints = self.closure.mech.tree.joints
        return [k for k in group.joints if self.movable[joints[k].qd].all()]

    def together(self, system: System) -> int:
        """Return how many descents of a group go on at once."""
        return int(np.clip(_WORK // max(1, len(system.rates)), 2, _TOGETHER))


def gap_at(system: System, q: Array) -> float:
    """Return the largest residual at a pose q (nq,), m."""
    return float(np.abs(system.linearised(q[None])[1]).max(initial=0.0))


def better(one: Found, other: Found) -> Found:
    """Return the one that is closed farther, with the larger number of starts."""
    return replace(other if other.gap < one.gap else one, starts=max(one.starts, other.starts))
