"""The search: random stops first, then differential evolution and a pattern search from the worst of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mbplugin.model.brakes import JointBrake
from mbplugin.model.enumerations import StopMeasure
from mbplugin.model.spatial import Array
from mbplugin.stopping.compiled.batch import StopSummary
from mbplugin.stopping.compiled.stopper import CompiledStopper
from mbplugin.stopping.outcome.outcome import StopOutcome
from mbplugin.stopping.scenario.scenario import Scenario
from mbplugin.stopping.worst.budget import SearchBudget
from mbplugin.stopping.worst.space import StopSpace, StopStart

#: Stops of a generation, generations, and weights and share of the mutations (Storn and Price 1997).
_POPULATION, _GENERATIONS = 30, 30
_WEIGHTS, _CROSSED = (0.4, 0.9), 0.8
#: Steps of the pattern search, as fractions of the range of each quantity.
_STEPS = (0.05, 0.02, 0.005, 0.001)

#: Gets the number of computed stops.
Count = Callable[[int], None]


@dataclass(frozen=True)
class Objective:
    """What is to be the largest: a measure, of one axis or of the whole robot (None)."""

    axis: str | None
    measure: StopMeasure

    def value(self, stop: StopSummary, n: int) -> float:
        """Return its value for a stop, s, rad or m; ``n`` is the index of the axis among the brakes.

        Zero for a stop that ends at a joint limit: how it would go on is not known.
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
    stopper : CompiledStopper
    count : callable
        Gets 1 after each stop.
    margin : float
        A stop that comes nearer to a joint limit counts as one that reaches it, rad and m.
    """

    stopper: CompiledStopper
    count: Count
    margin: float = 0.0
    outcomes: dict[StopOutcome, int] = field(default_factory=dict)

    @property
    def scenario(self) -> Scenario:
        """What all stops have in common; its brakes are the nominal ones."""
        return self.stopper.scenario

    def stop(self, space: StopSpace, start: StopStart) -> StopSummary:
        """Return how a stop comes out."""
        found = self.stop_with(start.brakes(self.scenario.brakes), space, start)
        if self.stopper.compiled.to_limits() < self.margin:
            found = replace(found, outcome="limit_hit")
        self.outcomes[found.outcome] = self.outcomes.get(found.outcome, 0) + 1
        return found

    def stop_with(self, brakes: tuple[JointBrake, ...], space: StopSpace, start: StopStart) -> StopSummary:
        """Return how a stop with other brakes comes out, which is not counted among the outcomes."""
        self.count(1)
        return self.stopper.stop(start.q, start.qd, brakes, space.payloads(start))

    def value(self, space: StopSpace, objective: Objective, x: Array) -> float:
        """Return the value of an objective at a point x (d,) of a space."""
        return objective.value(self.stop(space, space.start(x)), self.index_of(objective))

    def index_of(self, objective: Objective) -> int:
        """Index of an objective's axis among the brakes, 0 where it has none."""
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
    """Return the point (d,) of the worst stop that was found for each objective, in the time that there is.

    Parameters
    ----------
    known : (k, d) array
        Points to begin with: what is found is at least as bad.
    samples : int
        Random stops, which all objectives share.
    budget : SearchBudget
        When it is spent, the points to begin with, or one of the random stops, are computed all the same.
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
            # nothing is better than what there is when the time is over, so the search runs out
            return -np.inf if budget.is_spent() else computer.value(space, objective, x)

        if budget.is_spent():
            found.append(X[order[0]])
            continue
        x, best = _evolved(value, X[order], rng)
        found.append(_refined(value, x, best))
        budget.end_search()
    return found


def _evolved(value: Callable[[Array], float], X: Array, rng: np.random.Generator) -> tuple[Array, float]:
    """Return the best point (d,) of a differential evolution from a population X (k, d), and its value."""
    # here, because other commands need no optimizer, which takes long to import
    from scipy.optimize import differential_evolution

    found = differential_evolution(
        lambda x: -value(x),
        [(0.0, 1.0)] * X.shape[1],
        strategy="currenttobest1bin",
        init=X,
        maxiter=_GENERATIONS,
        mutation=_WEIGHTS,
        recombination=_CROSSED,
        tol=0.0,
        polish=False,
        seed=rng,
    )
    return np.asarray(found.x), -float(found.fun)


def _refined(value: Callable[[Array], float], x: Array, best: float) -> Array:
    """Return where a search along each coordinate ends that begins at x (d,) with the value ``best``."""
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
