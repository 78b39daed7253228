"""The worst stops of a robot: the result of a search."""

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


# The worst stops with angles and lengths in chosen units, for texts and pages.


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
            f"the search ended early: {self.max_seconds:g} s of computing were used up when {self.complete} of "
            f"{self.planned} values were searched; the others are the worst so far, and may be much larger"
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
