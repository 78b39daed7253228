"""The search for worst stops: random ones, then differential evolution and a pattern search from the worst."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from mbplugin.model.brakes import JointBrake
from mbplugin.model.enumerations import StopMeasure
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Payload
from mbplugin.model.spatial import AnyArray, Array, is_turn
from mbplugin.stopping.batch import ArmStopper, ArmStops, CompiledStop, StopSummary
from mbplugin.stopping.outcome import StopOutcome
from mbplugin.stopping.scenario.scenario import Scenario
from mbplugin.stopping.table.rated import payload_share
from mbplugin.stopping.worst_stops import SearchBudget

#: Population size, number of generations, range of mutation weights, crossover share (Storn and Price 1997).
_POPULATION, _GENERATIONS = 30, 30
#: Number of random stops, and of generations, where the compiled loop computes a stop, and where the integrator does.
SAMPLES, SAMPLES_OF_RUNS, _GENERATIONS_OF_RUNS = 2000, 100, 4
_WEIGHTS, _CROSSED = (0.4, 0.9), 0.8
#: Steps of the pattern search, as fractions of the range of each quantity.
_STEPS = (0.05, 0.02, 0.005, 0.001)
#: Callback that gets the number of newly computed stops.
Count = Callable[[int], None]


@dataclass(frozen=True)
class Objective:
    """The quantity to maximise: a measure of one axis, or of the whole robot (None)."""

    axis: str | None
    measure: StopMeasure

    def value(self, stop: StopSummary, n: int) -> float:
        """Return its value for a stop, s, rad or m; ``n`` is the index of the axis among the brakes.

        Zero for a stop that ends at a joint limit, since the rest of its motion is unknown.
        """
        if stop.outcome == "limit_hit":
            return 0.0
        if self.measure == "tool_distance":
            return stop.tool_distance
        if self.measure == "travel":
            return abs(float(stop.travels[n]))
        at_rest = stop.outcome not in ("not_stopped", "loop_opened") and self.axis is not None
        return float(stop.times[n]) if at_rest else stop.time


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

    def value(self, space: StopSpace, objective: Objective, x: Array) -> float:
        """Return the value of an objective at a point x (d,) of a space."""
        return objective.value(self.stop(space, space.start(x)), self.index_of(objective))

    def index_of(self, objective: Objective) -> int:
        """Return the index of an objective's axis among the brakes, 0 if it has none."""
        joints = [brake.joint for brake in self.scenario.brakes]
        return 0 if objective.axis is None else joints.index(objective.axis)


def worst_points(
    computer: StopComputer,
    space: StopSpace,
    objectives: Sequence[Objective],
    known: Array,
    samples: int,
    rng: np.random.Generator,
    budget: SearchBudget,
) -> list[Array]:
    """Return the point (d,) of the worst stop found for each objective within the time budget.

    Parameters
    ----------
    known : (k, d) array
        Initial points: the result is at least as bad as these.
    samples : int
        Number of random stops, which all objectives share.
    budget : SearchBudget
        Even if it is spent, the initial points, or one of the random stops, are computed.
    """
    X = np.vstack((known, rng.random((max(samples, _POPULATION), space.dimension))))
    first = max(1, len(known))
    stops = [
        computer.stop(space, space.start(x)) for k, x in enumerate(X) if k < first or not budget.is_spent()
    ]
    found = []
    for objective in objectives:
        n = computer.index_of(objective)
        values = np.array([objective.value(stop, n) for stop in stops])
        order = np.argsort(-values, kind="stable")[:_POPULATION]

        def value(x: Array, objective: Objective = objective) -> float:
            # when the time is over, no point improves on the current one, so the search ends
            return -np.inf if budget.is_spent() else computer.value(space, objective, x)

        if budget.is_spent():
            found.append(X[order[0]])
            continue
        generations = _GENERATIONS if isinstance(space.arm, CompiledStop) else _GENERATIONS_OF_RUNS
        x, best = _evolved(value, X[order], generations, rng)
        found.append(_refined(value, x, best))
        budget.end_search()
    return found


def _evolved(
    value: Callable[[Array], float], X: Array, generations: int, rng: np.random.Generator
) -> tuple[Array, float]:
    """Return the best point (d,) of a differential evolution from a population X (k, d), and its value."""
    # imported here because it is slow to import, and other commands do not need it
    from scipy.optimize import differential_evolution

    found = differential_evolution(
        lambda x: -value(x),
        [(0.0, 1.0)] * X.shape[1],
        strategy="currenttobest1bin",
        init=X,
        maxiter=generations,
        mutation=_WEIGHTS,
        recombination=_CROSSED,
        tol=0.0,
        polish=False,
        seed=rng,
    )
    return np.asarray(found.x), -float(found.fun)


def _refined(value: Callable[[Array], float], x: Array, best: float) -> Array:
    """Return the point at which a pattern search along each coordinate ends, from x (d,) with value ``best``."""
    x = x.copy()
    for step in _STEPS:
        for k in range(len(x)):
            for sign in (1.0, -1.0):
                trial = x.copy()
                trial[k] = np.clip(x[k] + sign * step, 0.0, 1.0)
                while trial[k] != x[k] and (new := value(trial)) > best:
                    x, best = trial.copy(), new
                    trial[k] = np.clip(x[k] + sign * step, 0.0, 1.0)
    return x


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
        return tuple(
            replace(
                brake,
                law=brake.law.scaled(torque),
                delay=late * brake.delay,
                engagement=late * brake.engagement,
            )
            for brake, torque, late in factors
        )


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

    @property
    def _moving(self) -> tuple[str, ...]:
        return tuple(self.speeds) if self.axis is None else (self.axis,)

    @property
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
        pose, rates, share, torques, delays = np.split(np.clip(x, 0.0, 1.0), np.cumsum(self._sizes)[:-1])
        s, (where, low, high) = self.scenario, self._ranges
        q, speeds = s.q.copy(), {}
        q[where] = low + pose * (high - low)
        q = self.arm.toward(q)
        for axis, rate in zip(self._moving, 2.0 * rates - 1.0, strict=True):
            # a single axis moves at full speed in either sense
            size = rate if self.axis is None else (1.0 if rate >= 0.0 else -1.0)
            speeds[axis] = size * self.speeds[axis]
        least, most = self.payload_range
        n = len(s.brakes)
        return StopStart(
            q,
            self.arm.rates(q, speeds),
            float(least + share[0] * (most - least)) if share.size else most,
            1.0 + self.torque_tolerance * (2.0 * torques - 1.0) if torques.size else np.ones(n),
            1.0 + self.delay_tolerance * (2.0 * delays - 1.0) if delays.size else np.ones(n),
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
