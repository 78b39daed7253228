"""The JSON document of ``mbplugin worst-stop`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from mbplugin.model.enumerations import FailureKind, Moving, StopCategory, StopMeasure
from mbplugin.report.documents.part import ByName, Count, Model, Part, Recorded, Size, key
from mbplugin.report.documents.stopping.stops import EffortLimits, ToolChoice
from mbplugin.stopping.outcome.outcome import StopOutcome

if TYPE_CHECKING:
    from mbplugin.stopping.worst.values import WorstStops


class _Worst(Part):
    axis: str | None = key("null where the value is that of the whole robot")
    measure: StopMeasure
    unit: Literal["s", "rad", "m"]
    value: Size
    grid: Size | None = key(
        "the same of the row of the stopping table at full speed, extension and payload; null where there is none"
    )
    factor: Size | None = key("value over grid")
    outcome: StopOutcome
    time: Size = key("to rest, s")
    tool_distance: Size = key("along the path, m")
    q: ByName = key("at the signal, rad, m")
    qd: ByName = key("at the signal, rad/s, m/s")
    payload: Size = key("kg")
    torque_factors: ByName = key("of brakes, where not 1")
    delay_factors: ByName = key("of brakes, where not 1")
    command: str | None = key("computes the stop again; null without a file")


class _Failure(Part):
    kind: FailureKind
    amount: Size = key("worn: the share of the torque that is left; late: the additional delay, s")


class _FailedBrake(Part):
    joint: str
    failure: _Failure
    outcome: StopOutcome = key("the worst one")
    time: Size = key("the longest of the stops that come to rest, s")
    tool_distance: Size = key("the longest of the stops that come to rest, m")


class _OutcomeCount(Part):
    outcome: StopOutcome
    stops: Count


class _Searches(Part):
    complete: Count = key("that came to their end; the values of the others are the worst so far")
    planned: Count = key("one for each value")
    max_seconds: Size = key("of computing, s, that all together may take")


class WorstOfTable(Part):
    """The worst stops of category 0 of the axes of a table, one at a time."""

    seed: Count
    stops: Count = key("that were computed", read="count")
    outcomes: list[_OutcomeCount] = key(read="outcome_counts")
    searches: _Searches = key("how much of the search was done in its time", optional=True)
    found: list[_Worst]
    assumptions: list[str]


class Output(Recorded):
    """The worst stops of a category that a search found."""

    source: str = key("the FILE as it was given")
    model: Model
    computed_not_measured: Literal[True]
    category: StopCategory
    tool: str
    moving: Moving
    axes: list[str]
    seed: Count
    stops: Count = key("that were computed", read="count")
    outcomes: list[_OutcomeCount] = key(read="outcome_counts")
    searches: _Searches = key("how much of the search was done in its time", optional=True)
    found: list[_Worst]
    failed: list[_FailedBrake] = key("the worst stops again, with one brake that fails")
    assumptions: list[str]
    of_effort: EffortLimits = key("brakes that nobody stated")
    tool_choice: ToolChoice = key("of which point speed and way are computed, and why", optional=True)


def worst_stop_document(worst: WorstStops, source: str, files: Sequence[str]) -> dict[str, Any]:
    """Return the document of one search."""
    return Output.of(worst, source=source, model=(worst.model, files))
