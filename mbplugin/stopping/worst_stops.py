"""The worst stops of a robot as a value."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import NamedTuple

from mbplugin.model.brake_law import Units
from mbplugin.model.enumerations import FailureKind, Moving, StopMeasure
from mbplugin.phrases import counted, one_line, one_line_repr
from mbplugin.rendering import Result
from mbplugin.simulation.options import LONGEST, require_positive
from mbplugin.stopping.outcome import StopOutcome
from mbplugin.stopping.scenario.scenario import NO_EFFORT_LIMITS, NO_TOOL, EffortLimits, ToolChoice

_MEASURES = {"time": "longest time", "travel": "longest travel", "tool_distance": "longest tool path"}


# The worst stops with angles and lengths in some units, for texts and pages.


def worst_in_units(worst: WorstStops, units: Units) -> WorstStops:
    """Return the worst stops with their numbers in some units; ``unit`` is that of the value."""
    if units.is_si:
        return worst
    metre, _ = units.shown("m")
    return replace(
        worst,
        found=tuple(_found_in_units(one, units, worst.lengths) for one in worst.found),
        failed=tuple(replace(one, tool_distance=metre * one.tool_distance) for one in worst.failed),
    )


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


# The time that a search for worst stops may take, and how much of the search was done in it.


class Searches(NamedTuple):
    """How many searches, one for each value, came to their end, of how many, and the time that all had, s."""

    complete: int
    planned: int
    max_seconds: float

    @property
    def heading(self) -> str:
        """How much was done, in one clause; empty where all searches are complete."""
        if self.complete == self.planned:
            return ""
        return (
            f"the search ended early: {self.max_seconds:g} s of computing were used up when {self.complete} of "
            f"{self.planned} values were searched; the others are the worst so far, and may be much larger"
        )

    @property
    def warning(self) -> str:
        """What stands on top of a report; empty where all searches are complete."""
        return f"INCOMPLETE: {self.heading}. Allow more (--max-seconds)." if self.heading else ""


@dataclass
class SearchBudget:
    """A clock that runs from its making.

    Parameters
    ----------
    max_seconds : float
    out_of_time : bool
        Whether something was left out because the seconds were used up.
    complete : int
        Searches that came to their end.

    Raises
    ------
    BadUsage
        A time that is not positive.
    """

    max_seconds: float
    out_of_time: bool = False
    complete: int = 0
    begun: float = field(init=False)

    def __post_init__(self) -> None:
        require_positive("time to compute", self.max_seconds, "s", LONGEST)
        self.begun = monotonic()

    def is_spent(self) -> bool:
        """Return whether the seconds are used up; what is left out then is noted."""
        self.out_of_time = self.out_of_time or monotonic() - self.begun > self.max_seconds
        return self.out_of_time

    def end_search(self) -> None:
        """Count a search as complete, unless something of it was left out."""
        self.complete += not self.out_of_time


@dataclass(frozen=True)
class Failure:
    """How a brake fails.

    Parameters
    ----------
    kind : "dead", "worn" or "late"
    amount : float
        The share of the torque that is left, or the additional delay, s; 0 of a dead brake.
    """

    kind: FailureKind
    amount: float = 0.0


@one_line_repr
@dataclass(frozen=True)
class WorstStop:
    """The worst stop that was found in one respect.

    Parameters
    ----------
    axis : str or None
        None where the value is that of the whole robot.
    measure : "time", "travel" or "tool_distance"
    unit : str
    value : float
        From the signal to rest: s, rad or m.
    grid : float or None
        The same of the stopping table's row at full speed, extension and payload; None where there is none.
    outcome : StopOutcome
    time, tool_distance : float
        Of this stop, s and m.
    q, qd : mapping of str to float
        At the signal, rad and m, rad/s and m/s.
    payload : float
        kg.
    torque_factors, delay_factors : mapping of str to float
        Of the brakes by joint, where they are not 1.
    command : str or None
        The ``mbplugin estop …`` that computes this stop; None for a model that was not read from a file.
    bound, time_bound, tool_distance_bound : float or None
        Upper bounds of value, time and tool_distance, where one axis moves whose brake or ramp is calibrated.
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
        """What it is the worst of."""
        return f"{self.axis or 'robot'}: {_MEASURES[self.measure]}"

    @property
    def factor(self) -> float | None:
        """The value against that of the stopping table."""
        return self.value / self.grid if self.grid else None


@dataclass(frozen=True)
class FailedBrake:
    """The worst stops again, with one brake that fails.

    Parameters
    ----------
    joint : str
    failure : Failure
    outcome : StopOutcome
        The worst one.
    time, tool_distance : float
        The largest of the stops that come to rest, s and m; 0 where none does.
    """

    joint: str
    failure: Failure
    outcome: StopOutcome
    time: float
    tool_distance: float


@dataclass(frozen=True)
class WorstStops(Result):
    """The worst stops that a search found: computed, not measured, and no proof that there is no worse one.

    Parameters
    ----------
    model, tool : str
    moving : "one" or "all"
    axes : tuple of str
    seed : int
    outcomes : mapping of StopOutcome to int
        How many of the computed stops ended in each way.
    found : tuple of WorstStop
    failed : tuple of FailedBrake
    assumptions : tuple of str
        One sentence each.
    searches : Searches
        How much of the search was done in its time.
    of_effort : EffortLimits
        Brakes that are effort limits.
    lengths : tuple of str
        Coordinates that are lengths; the others are angles.
    category : int
        Of the stops.
    tool_choice : ToolChoice
        Why the tool is this point, and which axes do not move it.
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
        """Number of stops that were computed."""
        return sum(self.outcomes.values())

    @property
    def outcome_counts(self) -> list[tuple[StopOutcome, int]]:
        """How many of the computed stops ended in each way, as pairs."""
        return list(self.outcomes.items())

    def only_here(self, assumptions: Collection[str]) -> tuple[str, ...]:
        """Return the assumptions that are not among some others, such as those of a table."""
        return tuple(sentence for sentence in self.assumptions if sentence not in assumptions)

    def __repr__(self) -> str:
        what = (f"axes {', '.join(self.axes)}", f"of {counted(self.count, 'stop')}")
        return one_line(self, self.model, what)
