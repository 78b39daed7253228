"""The worst stops of a robot, and their search: random ones, then differential evolution and a pattern search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from time import monotonic
from typing import NamedTuple

import numpy as np

from mbplugin.choices import FailureKind, Moving, StopMeasure
from mbplugin.model import AnyArray, Array, JointBrake, Pair, Payload, Units, is_turn
from mbplugin.phrases import counted, one_line, one_line_repr
from mbplugin.rendering import Result
from mbplugin.simulation.options import LONGEST, require_positive
from mbplugin.stopping.batch import ArmStopper, ArmStops, CompiledStop
from mbplugin.stopping.defaults import payload_share
from mbplugin.stopping.many import TIMES, TRAVELS, Stops, StopStarts
from mbplugin.stopping.outcome import StopOutcome, StopSummary
from mbplugin.stopping.scenario import NO_EFFORT_LIMITS, NO_TOOL, EffortLimits, Scenario, ToolChoice

_MEASURES = {"time": "longest time", "travel": "longest travel", "tool_distance": "longest tool path"}


# The worst stops with angles and lengths in chosen units, for texts and pages.
#: Population size, number of generations, range of mutation weights, crossover share (Storn and Price 1997).
_POPULATION, _GENERATIONS = 30, 60
#: Number of random stops, and of generations, where the compiled loop computes a stop, and where the integrator does.
SAMPLES, SAMPLES_OF_RUNS, _GENERATIONS_OF_RUNS = 2000, 100, 4
_WEIGHTS, _CROSSED = (0.4, 0.9), 0.8
#: Largest relative difference between the values of a population whose evolution has converged.
TOLERANCE = 1e-3
#: Values below this are rounding, such as the path of a tool on its axis; s, rad and m.
_ROUNDING = 1e-12
#: Largest number of stops that are computed together.
_AT_ONCE = 1000
#: Steps of the pattern search, as fractions of the range of each quantity.
_STEPS = (0.05, 0.02, 0.005, 0.001)
#: Callback that gets the number of newly computed stops.
Count = Callable[[int], None]


def _found_in_units(one: WorstStop, units: Units, lengths: tuple[str, ...]) -> WorstStop:
    size, unit = units.shown(one.unit)
    metre, _ = units.shown("m")
    radian, _ = units.shown("rad")

    def shown(values: Mapping[str, float]) -> dict[str, float]:
        return {name: value * (metre if name in lengths else radian) for name, value in values.items()}

    return replace(
        one,
        unit=unit,
        value=size * one.value,
        bound=None if one.bound is None else size * one.bound,
        tool_distance_bound=None if one.tool_distance_bound is None else metre * one.tool_distance_bound,
        grid=None if one.grid is None else size * one.grid,
        tool_distance=metre * one.tool_distance,
        q=shown(one.q),
        qd=shown(one.qd),
    )


# The time budget of a search for worst stops, and how much of the search was completed within it.


class Searches(NamedTuple):
    """Number of completed and planned searches, one for each value, and the time limit for all of them, s."""

    complete: int
    planned: int
    max_seconds: float

    @property
    def heading(self) -> str:
        """How much was completed, in one clause; empty if all searches are complete."""
        if self.complete == self.planned:
            return ""
        return (
            f"the search ended early: {self.max_seconds:g} s of computing were used up before it was complete; its"
            f" {counted(self.planned, 'value')} are the worst so far, and may be much larger"
        )

    @property
    def warning(self) -> str:
        """Warning at the top of a report; empty if all searches are complete."""
        return f"INCOMPLETE: {self.heading}. Allow more (--max-seconds)." if self.heading else ""


@dataclass
class SearchBudget:
    """A time limit that runs from the creation of this object.

    Parameters
    ----------
    max_seconds : float
    out_of_time : bool
        Whether something was left out because the time was used up.
    complete : int
        Number of completed searches.

    Raises
    ------
    BadUsage
        The time is not positive.
    """

    max_seconds: float
    out_of_time: bool = False
    complete: int = 0
    begun: float = field(init=False)

    def __post_init__(self) -> None:
        require_positive("time to compute", self.max_seconds, "s", LONGEST)
        self.begun = monotonic()

    def is_spent(self) -> bool:
        """Return True if the time is used up; ``out_of_time`` is then set."""
        self.out_of_time = self.out_of_time or monotonic() - self.begun > self.max_seconds
        return self.out_of_time

    def end_search(self) -> None:
        """Count a search as complete, unless part of it was left out."""
        self.complete += not self.out_of_time


@dataclass(frozen=True)
class Failure:
    """A failure of a brake.

    Parameters
    ----------
    kind : "dead", "worn" or "late"
    amount : float
        Remaining share of the torque, or additional delay, s; 0 for a dead brake.
    """

    kind: FailureKind
    amount: float = 0.0


@one_line_repr
@dataclass(frozen=True)
class WorstStop:
    """The worst stop found for one objective.

    Parameters
    ----------
    axis : str or None
        None if the value is that of the whole robot.
    measure : "time", "travel" or "tool_distance"
    unit : str
    value : float
        From the signal to rest: s, rad or m.
    grid : float or None
        The same value in the stopping table's row at full speed, extension and payload; None if there is none.
    outcome : StopOutcome
    time, tool_distance : float
        Of this stop, s and m.
    q, qd : mapping of str to float
        State at the signal, rad and m, rad/s and m/s.
    payload : float
        Carried mass, kg.
    torque_factors, delay_factors : mapping of str to float
        Of the brakes, by joint, if they are not 1.
    command : str or None
        The ``mbplugin estop …`` that computes this stop; None if the model was not read from a file, or if no command
        can state its reaction times.
    bound, time_bound, tool_distance_bound : float or None
        Upper bounds of value, time and tool_distance, if one axis moves whose brake or ramp is calibrated.
    """

    axis: str | None
    measure: StopMeasure
    unit: str
    value: float
    grid: float | None
    outcome: StopOutcome
    time: float
    tool_distance: float
    q: Mapping[str, float]
    qd: Mapping[str, float]
    payload: float
    torque_factors: Mapping[str, float]
    delay_factors: Mapping[str, float]
    command: str | None
    bound: float | None = None
    time_bound: float | None = None
    tool_distance_bound: float | None = None

    @property
    def name(self) -> str:
        """The objective of which it is the worst, in words."""
        return f"{self.axis or 'robot'}: {_MEASURES[self.measure]}"

    @property
    def factor(self) -> float | None:
        """The value divided by that of the stopping table."""
        return self.value / self.grid if self.grid else None


@dataclass(frozen=True)
class FailedBrake:
    """The results of the worst stops when one brake fails.

    Parameters
    ----------
    joint : str
    failure : Failure
    outcome : StopOutcome
        The most severe of the stops.
    time, tool_distance : float
        The largest among the stops that come to rest, s and m; 0 if none does.
    """

    joint: str
    failure: Failure
    outcome: StopOutcome
    time: float
    tool_distance: float


@dataclass(frozen=True)
class WorstStops(Result):
    """The worst stops found by a search: computed, not measured, and no proof that there are no worse ones.

    Parameters
    ----------
    model, tool : str
    moving : "one" or "all"
    axes : tuple of str
    seed : int
    outcomes : mapping of StopOutcome to int
        Number of computed stops by outcome.
    found : tuple of WorstStop
    failed : tuple of FailedBrake
    assumptions : tuple of str
        One sentence each.
    searches : Searches
        How much of the search was completed in its time.
    of_effort : EffortLimits
        Brakes and ramps derived from effort limits.
    lengths : tuple of str
        Coordinates that are lengths; the others are angles.
    category : int
        Category of the stops.
    tool_choice : ToolChoice
        The reason why this point is the tool, and the axes that do not move it.
    """

    model: str
    tool: str
    moving: Moving
    axes: tuple[str, ...]
    seed: int
    outcomes: Mapping[StopOutcome, int]
    found: tuple[WorstStop, ...]
    failed: tuple[FailedBrake, ...]
    assumptions: tuple[str, ...]
    searches: Searches
    of_effort: EffortLimits = NO_EFFORT_LIMITS
    lengths: tuple[str, ...] = ()
    category: int = 0
    tool_choice: ToolChoice = NO_TOOL

    @property
    def count(self) -> int:
        """Number of computed stops."""
        return sum(self.outcomes.values())

    def in_units(self, units: Units) -> WorstStops:
        """Return the worst stops converted to ``units``; ``unit`` of each becomes the unit of its value."""
        if units.is_si:
            return self
        metre, _ = units.shown("m")
        return replace(
            self,
            found=tuple(_found_in_units(one, units, self.lengths) for one in self.found),
            failed=tuple(replace(one, tool_distance=metre * one.tool_distance) for one in self.failed),
        )

    @property
    def outcome_counts(self) -> list[tuple[StopOutcome, int]]:
        """Number of computed stops by outcome, as pairs."""
        return list(self.outcomes.items())

    def only_here(self, assumptions: Collection[str]) -> tuple[str, ...]:
        """Return the assumptions that are not among the given ones, such as those of a table."""
        return tuple(sentence for sentence in self.assumptions if sentence not in assumptions)

    def __repr__(self) -> str:
        what = (f"axes {', '.join(self.axes)}", f"of {counted(self.count, 'stop')}")
        return one_line(self, self.model, what)


@dataclass(frozen=True)
class Objective:
    """The quantity to maximise: a measure of one axis, or of the whole robot (None)."""

    axis: str | None
    measure: StopMeasure

    def value(self, stop: StopSummary, n: int) -> float:
        """Return its value for a stop, s, rad or m; ``n`` is the index of the axis among the brakes.

        Zero for a stop that ends at a joint limit, since the rest of its motion is unknown.
        """
        return float(self.values((stop.outcome,), Stops.of((stop,), stop.time), n)[0])

    def values(self, outcomes: Sequence[StopOutcome], stops: Stops, n: int) -> Array:
        """Return its values (k,) for k stops and their outcomes, see :meth:`value`."""
        still_moving = [outcome in ("not_stopped", "loop_opened") for outcome in outcomes]
        if self.measure == "tool_distance":
            found = stops.ended["tool_distance"]
        elif self.measure == "travel":
            found = np.abs(stops.joints[:, TRAVELS, n])
        elif self.axis is None:
            found = stops.times
        else:
            found = np.where(still_moving, stops.times, stops.joints[:, TIMES, n])
        return np.where([outcome == "limit_hit" for outcome in outcomes], 0.0, found)


@dataclass(eq=False)
class StopComputer:
    """Computes the stops of a space, and counts them by outcome.

    Parameters
    ----------
    stopper : ArmStopper
    count : callable
        Called with 1 for each stop.
    margin : float
        A stop that comes nearer than this to a joint limit counts as reaching it, rad and m.
    """

    stopper: ArmStopper
    count: Count
    margin: float = 0.0
    outcomes: dict[StopOutcome, int] = field(default_factory=dict)

    @property
    def scenario(self) -> Scenario:
        """The scenario that all stops share; its brakes are the nominal ones."""
        return self.stopper.scenario

    def stop(self, space: StopSpace, start: StopStart) -> StopSummary:
        """Compute a stop and count its outcome."""
        found = self.stop_with(start.brakes(self.scenario.brakes), space, start)
        if self.stopper.arm.to_limits() < self.margin:
            found = replace(found, outcome="limit_hit")
        self.outcomes[found.outcome] = self.outcomes.get(found.outcome, 0) + 1
        return found

    def stop_with(self, brakes: tuple[JointBrake, ...], space: StopSpace, start: StopStart) -> StopSummary:
        """Compute a stop with other brakes, without counting its outcome."""
        self.count(1)
        return self.stopper.stop(start.q, start.qd, brakes, space.payloads(start))

    def stops(self, points: Sequence[tuple[StopSpace, Array]]) -> tuple[list[StopOutcome], Stops]:
        """Compute stops at points (k, d) of spaces, and count their outcomes; return these and the results, in order.

        The spaces have the same scenario and rated payload.
        """
        rated = points[0][0].rated
        starts = StopStarts.joined([space.starts(X) for space, X in points])
        stops = self.stopper.stops(starts, (rated,) if rated.mass else ())
        self.count(len(starts))
        near = (stops.ended["clearance"] < self.margin).tolist()
        outcomes: list[StopOutcome] = [
            "limit_hit" if too_near else outcome
            for too_near, outcome in zip(near, stops.outcomes, strict=True)
        ]
        for outcome in outcomes:
            self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
        return outcomes, stops

    def index_of(self, objective: Objective) -> int:
        """Return the index of an objective's axis among the brakes, 0 if it has none."""
        joints = [brake.joint for brake in self.scenario.brakes]
        return 0 if objective.axis is None else joints.index(objective.axis)


def worst_points(
    computer: StopComputer,
    searched: Sequence[tuple[StopSpace, Sequence[Objective], Array]],
    samples: int,
    rng: np.random.Generator,
    budget: SearchBudget,
) -> list[Array]:
    """Return the point (d,) of the worst stop found for each objective of each space within the time budget.

    All objectives are searched at the same time, and the stops of a generation are computed together.

    Parameters
    ----------
    searched : sequence of (StopSpace, sequence of Objective, (k, d) array)
        Spaces with their objectives and initial points: the result is at least as bad as these.
    samples : int
        Number of random stops in each space, which all its objectives share.
    budget : SearchBudget
        Even if it is spent, the initial points, or one of the random stops, are computed.
    """
    searches: list[_Search] = []
    for space, objectives, known in searched:
        X = np.vstack((known, rng.random((max(samples, _POPULATION), space.dimension))))
        parts, done = list[tuple[list[StopOutcome], Stops]](), 0
        # the initial points even if the time is over, then the random ones, as long as it lasts
        compiled = isinstance(space.arm, CompiledStop)
        for size in (max(1, len(known)), *[_AT_ONCE if compiled else _POPULATION] * len(X)):
            if done == len(X) or (parts and budget.is_spent()):
                break
            parts.append(computer.stops([(space, X[done : done + size])]))
            done = min(done + size, len(X))
        generations = _GENERATIONS if compiled else _GENERATIONS_OF_RUNS
        for objective, own in zip(objectives, rng.spawn(len(objectives)), strict=True):
            n = computer.index_of(objective)
            values = np.concatenate([objective.values(*part, n) for part in parts])
            order = np.argsort(-values, kind="stable")[:_POPULATION]
            searches.append(_Search(space, objective, n, X[order], values[order], generations, own))
    evolving = searches
    while evolving := [one for one in evolving if not one.is_evolved]:
        _compute(computer, [(one, one.trials()) for one in evolving], budget, _Search.select)
    _refine(computer, searches, budget)
    return [one.X[0] for one in searches]


@dataclass(eq=False)
class _Search:
    """The differential evolution of one objective.

    Parameters
    ----------
    n : int
        Index of the objective's axis among the brakes.
    X, values : (k, d), (k,) array
        The population, with the worst stop first, and its values.
    generations : int
        Largest number of generations that are left.
    rng : numpy.random.Generator
    """

    space: StopSpace
    objective: Objective
    n: int
    X: Array
    values: Array
    generations: int
    rng: np.random.Generator

    @property
    def is_evolved(self) -> bool:
        """True after the last generation, or if all values of the population are equal within the tolerance.

        A value that has not grown for many generations is no reason to stop: at a joint limit, beyond which stops
        do not compete, it grows again after more than ten.
        """
        if len(self.X) < _POPULATION or self.generations <= 0:
            return True
        best = self.values[0]
        # if all stops end at a joint limit, the evolution is a random search for one that does not
        return bool(0.0 < best <= max(self.values.min() / (1.0 - TOLERANCE), _ROUNDING))

    def trials(self) -> Array:
        """Return the points (k, d) of the next generation, by the scheme current-to-best/1/bin with dither."""
        k, d = self.X.shape
        first = self.rng.integers(1, k, size=k)
        second = self.rng.integers(1, k - 1, size=k)
        # two others, neither each other nor the point itself
        second += second >= first
        others = self.X[(np.arange(k) + first) % k] - self.X[(np.arange(k) + second) % k]
        weight = self.rng.uniform(*_WEIGHTS)
        moved = self.X + weight * (self.X[0] - self.X) + weight * others
        outside = (moved < 0.0) | (moved > 1.0)
        moved[outside] = self.rng.random(int(outside.sum()))
        crossed = self.rng.random((k, d)) < _CROSSED
        crossed[np.arange(k), self.rng.integers(d, size=k)] = True
        return np.where(crossed, moved, self.X)

    def select(self, X: Array, values: Array) -> None:
        """Keep the worse one of each stop and of that at X (k, d) with ``values`` (k,), and count the generation."""
        better = values >= self.values
        self.X = np.where(better[:, None], X, self.X)
        self.values = np.where(better, values, self.values)
        self.lead(int(np.argmax(self.values)))
        self.generations -= 1

    def lead(self, at: int) -> None:
        """Exchange the first point with another one."""
        self.X[[0, at]], self.values[[0, at]] = self.X[[at, 0]], self.values[[at, 0]]

    def improve(self, X: Array, values: Array) -> None:
        """Take the worst stop of X (k, d), whose values are ``values`` (k,), if it is worse than the worst so far."""
        at = int(np.argmax(values))
        if values[at] > self.values[0]:
            last = int(np.argmin(self.values))
            self.X[last], self.values[last] = X[at], values[at]
            self.lead(last)


def _compute(
    computer: StopComputer,
    trials: Sequence[tuple[_Search, Array]],
    budget: SearchBudget,
    take: Callable[[_Search, Array, Array], None],
) -> None:
    """Compute the stops of searches at points X (k, d) of each, and let each search take its points and values.

    When the time is over, no point improves on the current ones, so the searches end.
    """
    compiled = isinstance(trials[0][0].space.arm, CompiledStop)
    per_call = max(1, _AT_ONCE // max(len(X) for _, X in trials)) if compiled else 1
    for k in range(0, len(trials), per_call):
        part = trials[k : k + per_call]
        if budget.is_spent():
            for one, X in part:
                one.generations = 0
                take(one, X, np.full(len(X), -np.inf))
            continue
        groups = [(space, list(group)) for space, group in groupby(part, lambda pair: pair[0].space)]
        points = [np.concatenate([X for _, X in group]) for _, group in groups]
        outcomes, stops = computer.stops([(group[0], X) for group, X in zip(groups, points, strict=True)])
        begin = 0
        for (_, group), X_all in zip(groups, points, strict=True):
            own = slice(begin, begin := begin + len(X_all))
            found, shared, at = outcomes[own], stops.part(own), 0
            for one, X in group:
                values = one.objective.values(found, shared, one.n)
                take(one, X, values[at : (at := at + len(X))])
                # a stop computed for another objective of the space may be the worst of this one, too
                one.improve(X_all, values)


def _refine(computer: StopComputer, searches: Sequence[_Search], budget: SearchBudget) -> None:
    """Move the best point of each search by a pattern search along each coordinate, all searches side by side."""
    for step in _STEPS:
        for k in range(max(one.space.dimension for one in searches)):
            moving: list[tuple[_Search, tuple[float, ...]]]
            moving = [(one, (step, -step)) for one in searches if k < one.space.dimension]
            while moving:
                trials, before = [], []
                for one, steps in moving:
                    X = np.repeat(one.X[:1], len(steps), axis=0)
                    X[:, k] = np.clip(X[:, k] + steps, 0.0, 1.0)
                    X = X[X[:, k] != one.X[0, k]]
                    if len(X):
                        trials.append((one, X))
                        before.append(float(one.X[0, k]))
                if not trials:
                    break
                _compute(computer, trials, budget, _Search.improve)
                # whatever has become worse goes on in its direction
                moved = [(one, float(one.X[0, k]) - at) for (one, _), at in zip(trials, before, strict=True)]
                moving = [(one, (float(np.copysign(step, by)),)) for one, by in moved if by]
    for _ in searches:
        budget.end_search()


# The search space: stops as points of a unit cube, with one coordinate for each varied quantity.


@dataclass(frozen=True, eq=False)
class StopStart:
    """The start of a stop: state, payload and brakes.

    Parameters
    ----------
    q, qd : (nq,), (nv,) array
        State at the signal; rad and m, rad/s and m/s.
    share : float
        Carried share of the rated payload.
    torque_factors, delay_factors : (n,) array
        Factors on the torques and delays of the brakes.
    """

    q: Array
    qd: Array
    share: float
    torque_factors: Array
    delay_factors: Array

    def brakes(self, nominal: tuple[JointBrake, ...]) -> tuple[JointBrake, ...]:
        """Return the nominal brakes with their torques and delays multiplied by the factors."""
        factors = zip(nominal, self.torque_factors.tolist(), self.delay_factors.tolist(), strict=True)
        return tuple(brake.scaled(torque, late) for brake, torque, late in factors)


@dataclass(frozen=True, eq=False)
class StopSpace:
    """The space of all stops of a search.

    Parameters
    ----------
    arm : ArmStops
        Its scenario has no payloads; its pose gives the coordinates that have no range.
    rated : Payload
    speeds : mapping of str to float
        Full speed of each axis that moves, rad/s or m/s.
    axis : str or None
        The only axis that moves, at full speed; None if all move, each at up to full speed.
    torque_tolerance, delay_tolerance : float
        Of the brakes, relative, in both directions, independent for each joint.
    payload_range : (float, float)
        Smallest and largest share of the rated payload.
    """

    arm: ArmStops
    rated: Payload
    speeds: Mapping[str, float]
    axis: str | None
    torque_tolerance: float = 0.0
    delay_tolerance: float = 0.0
    payload_range: tuple[float, float] = (0.0, 1.0)

    @property
    def scenario(self) -> Scenario:
        """The scenario that all stops share."""
        return self.arm.scenario

    @cached_property
    def _ranges(self) -> tuple[AnyArray, Array, Array]:
        """Indices into q (k,) of the varied coordinates, and their lower and upper ends."""
        where, ranges = [], []
        for joint in self.arm.varied:
            if joint.pair is not None:
                low, high = coordinate_range(joint.pair)
                if low < high:
                    where.append(joint.q.start)
                    ranges.append((low, high))
        lows, highs = np.array(ranges, dtype=float).reshape(-1, 2).T
        return np.array(where, dtype=int), lows, highs

    @cached_property
    def _moving(self) -> tuple[str, ...]:
        return tuple(self.speeds) if self.axis is None else (self.axis,)

    @cached_property
    def _sizes(self) -> tuple[int, int, int, int, int]:
        """Numbers of coordinates for the pose, the rates, the payload, the torques and the delays."""
        n, (low, high) = len(self.scenario.brakes), self.payload_range
        return (
            len(self._ranges[0]),
            len(self._moving),
            int(bool(self.rated.mass) and low < high),
            n * (self.torque_tolerance > 0),
            n * (self.delay_tolerance > 0),
        )

    @property
    def dimension(self) -> int:
        """Number of coordinates of a stop."""
        return sum(self._sizes)

    def start(self, x: Array) -> StopStart:
        """Return the stop at a point x (d,) of the unit cube."""
        one = self.starts(x[None])
        return StopStart(
            one.q[0], one.qd[0], float(one.shares[0]), one.torque_factors[0], one.delay_factors[0]
        )

    def starts(self, X: Array) -> StopStarts:
        """Return the stops at points X (k, d) of the unit cube."""
        parts = np.split(np.clip(X, 0.0, 1.0), np.cumsum(self._sizes)[:-1], axis=1)
        (pose, rates, shares, torques, delays), (where, low, high) = parts, self._ranges
        q = np.tile(self.scenario.q, (len(X), 1))
        q[:, where] = low + pose * (high - low)
        full = np.array([self.speeds[axis] for axis in self._moving])
        # a single axis moves at full speed in either sense
        size = 2.0 * rates - 1.0 if self.axis is None else np.where(rates >= 0.5, 1.0, -1.0)
        q, qd = self.arm.starts(q, self._moving, size * full)
        least, most = self.payload_range
        one = np.ones((len(X), len(self.scenario.brakes)))
        return StopStarts(
            q,
            qd,
            1.0 + self.torque_tolerance * (2.0 * torques - 1.0) if torques.size else one,
            1.0 + self.delay_tolerance * (2.0 * delays - 1.0) if delays.size else one,
            least + shares[:, 0] * (most - least) if shares.size else np.full(len(X), most),
        )

    def point(self, q: Array, rates: Mapping[str, float]) -> Array:
        """Return the point (d,) of a stop with nominal brakes and the largest payload.

        Parameters
        ----------
        q : (nq,) array
            rad and m, within the ranges.
        rates : mapping of str to float
            Of the moving axes, rad/s or m/s; axes left out have rate zero.
        """
        where, low, high = self._ranges
        _, _, share, torques, delays = self._sizes
        sizes = [0.5 + 0.5 * rates.get(axis, 0.0) / self.speeds[axis] for axis in self._moving]
        rest = ((q[where] - low) / (high - low), sizes, np.ones(share), np.full(torques + delays, 0.5))
        return np.clip(np.concatenate(rest), 0.0, 1.0)

    def payloads(self, start: StopStart) -> tuple[Payload, ...]:
        """Return the payloads that a start carries."""
        return payload_share(self.rated, start.share)


def coordinate_range(pair: Pair) -> tuple[float, float]:
    """Return the range over which the coordinate of a pair with one freedom is varied, rad or m.

    It is that of its limits; without limits, a full turn for an angle, and empty for a length.
    """
    freedom = pair.freedoms[0]
    turn = np.pi if is_turn(pair.kind.free[0]) else 0.0
    low, high = freedom.lower, freedom.upper
    return (low, high) if np.isfinite([low, high]).all() and low < high else (-turn, turn)
