"""Limits and user's functions: what is passed in a step without changing the motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.errors import BadNumber
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.events.event import EventKind
from mbplugin.simulation.events.search import function_zeros, polynomial_zeros
from mbplugin.simulation.integrators.contract import Chunk, Step
from mbplugin.simulation.options import Options, UserEvent

Displace = Callable[[Array, Array], Array]

#: A coordinate has passed a bound where it is beyond it by more than this, rad or m; a joint that rests on its
#: end stop goes beyond it and back by rounding errors.
BEYOND = 1e-10


@dataclass(frozen=True)
class Limit:
    """A bound of a joint coordinate."""

    name: str
    coordinate: int
    rate: int
    bound: float
    upper: bool

    @property
    def passed_at(self) -> float:
        """Where a coordinate has passed the bound, rad or m."""
        return self.bound + BEYOND if self.upper else self.bound - BEYOND


@dataclass(frozen=True)
class Passing:
    """Something passed at a fraction of a step."""

    fraction: float
    kind: EventKind
    name: str
    terminal: bool
    text: str


def joint_limits(mech: Mechanism, options: Options) -> tuple[Limit, ...]:
    """Return the bounds that are watched."""
    found: list[Limit] = []
    if options.limits == "ignore":
        return ()
    for joint in mech.tree.joints:
        if joint.pair is None or len(joint.pair.freedoms) != joint.q.stop - joint.q.start:
            continue
        for k, freedom in enumerate(joint.pair.freedoms):
            if not freedom.lower < freedom.upper:
                continue
            name = mech.qd_names[joint.qd.start + k]
            for bound, upper in ((freedom.lower, False), (freedom.upper, True)):
                if np.isfinite(bound):
                    found.append(Limit(name, joint.q.start + k, joint.qd.start + k, bound, upper))
    return tuple(found)


class Limits:
    """The bounds that are watched, and which of them a step may reach.

    Parameters
    ----------
    limits : sequence of Limit
    """

    def __init__(self, limits: Sequence[Limit]) -> None:
        self._limits = tuple(limits)
        self._coordinates = np.array([limit.coordinate for limit in limits], dtype=np.int64)
        self._rates = np.array([limit.rate for limit in limits], dtype=np.int64)
        self._bounds = np.array([limit.passed_at for limit in limits], dtype=float)

    def in_reach(self, step: Step) -> list[Limit]:
        """Return the bounds that a step may reach."""
        near = self._near(step.q[None], step.polynomial[None])[0]
        return [self._limits[n] for n in np.flatnonzero(near)]

    def first_in_reach(self, q: Array, chunk: Chunk, kept: int) -> int:
        """Return the first of the steps of a chunk that may reach a bound; their number where none may.

        Parameters
        ----------
        q : (nq,) array
            At the start of the chunk, rad and m.
        """
        if not self._limits or not kept:
            return kept
        near = self._near(np.concatenate((q[None], chunk.q[: kept - 1])), chunk.dense[:kept])
        first = int(near.any(axis=1).argmax())
        return first if near[first].any() else kept

    def _near(self, q: Array, dense: Array) -> AnyArray:
        """Return (k, n) whether k steps, from q (k, nq) along dense (k, d, 2, nv), may reach n bounds."""
        reach = np.abs(dense[:, 1:, 0]).sum(axis=1).take(self._rates, axis=1)
        gap = dense[:, 0, 0].take(self._rates, axis=1) + q.take(self._coordinates, axis=1) - self._bounds
        return np.asarray(np.abs(gap) <= reach)


def passings(step: Step, limits: Limits, options: Options, displace: Displace) -> list[Passing]:
    """Return what a step passes, in the order of time."""
    found = [
        p for limit in limits.in_reach(step) for p in _limit_passings(step, limit, options.limits == "stop")
    ]
    for event in options.events:
        found += _user_passings(step, event, displace)
    return sorted(found, key=lambda p: p.fraction)


def _limit_passings(step: Step, limit: Limit, terminal: bool) -> list[Passing]:
    gap = step.polynomial[:, 0, limit.rate].copy()
    gap[0] += step.q[limit.coordinate] - limit.passed_at
    out = []
    for fraction in polynomial_zeros(gap):
        rate = step.at(fraction)[1][limit.rate]
        # only on the way out
        if (rate > 0) == limit.upper:
            side = "upper" if limit.upper else "lower"
            text = f"{limit.name} passes its {side} limit {limit.bound:.6g} at {rate:.4g} per second"
            out.append(Passing(fraction, "limit", limit.name, terminal, text))
    return out


def _user_passings(step: Step, event: UserEvent, displace: Displace) -> list[Passing]:
    def g(fraction: float) -> float:
        x, qd = step.at(fraction)
        time = step.start + fraction * step.length
        value = float(event.function(time, displace(step.q, x), qd))
        if not np.isfinite(value):
            raise BadNumber(
                f"event {event.name!r} returned {value} at t = {time:.9g} s", expected="a finite number"
            )
        return value

    zeros = function_zeros(g)
    kept = [f for f in zeros if event.direction * (g(min(f + 1e-6, 1.0)) - g(max(f - 1e-6, 0.0))) >= 0]
    return [Passing(f, "user", event.name, event.terminal, f"{event.name} passes zero") for f in kept]
