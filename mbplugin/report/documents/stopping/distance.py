"""The JSON document of ``mbplugin distance`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from mbplugin.report.documents.part import Part, Recorded, Size, key
from mbplugin.report.documents.stopping.stops import EffortLimits, ToolChoice
from mbplugin.stopping.zones.term import TermOrigin, TermUnit

if TYPE_CHECKING:
    from mbplugin.stopping.zones.distance import Distance


class _Term(Part):
    symbol: str
    meaning: str
    value: Size = key("unit")
    unit: TermUnit
    origin: TermOrigin = key("by the user, from the stop, or from other terms")
    source: str = key("which stop, or which formula")


class _Stop(Part):
    model: str
    time: Size = key("from the signal until all joints rest, s")
    travel: Size = key("of the tool, along its path, m")
    speed: Size | None = key("of the tool at the signal, m/s; null for a table")
    slowest: str
    farthest: str
    assumed: list[str]
    of_effort: EffortLimits = key("brakes and decelerations that are not stated", optional=True)
    tool_choice: ToolChoice = key("of which point speed and way are computed, and why", optional=True)
    file: str
    sha256: str = key("of the file")


class Output(Recorded):
    """A separation distance."""

    computed_not_measured: Literal[True]
    standard: str = key("with its edition")
    formula: str
    symbol: Literal["S", "S_p"]
    value: Size = key("m")
    terms: list[_Term] = key("in the order of the formula, the distance last")
    stop: _Stop
    notes: list[str]


def distance_document(distance: Distance) -> dict[str, Any]:
    """Return the document of one distance."""
    return Output.of(distance)
