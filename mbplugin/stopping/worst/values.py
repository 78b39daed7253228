"""The worst stops of a robot as a value."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from mbplugin.model.enumerations import FailureKind, Moving, StopMeasure
from mbplugin.phrases import counted, one_line, one_line_repr
from mbplugin.rendering import Result
from mbplugin.stopping.outcome.outcome import StopOutcome
from mbplugin.stopping.scenario.effort_limits import NO_EFFORT_LIMITS, EffortLimits
from mbplugin.stopping.scenario.tool_choice import NO_TOOL, ToolChoice
from mbplugin.stopping.worst.budget import Searches

_MEASURES = {"time": "longest time", "travel": "longest travel", "tool_distance": "longest tool path"}


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
