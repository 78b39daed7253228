"""The JSON document of ``mbplugin stop-table`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from mbplugin.model.enumerations import CoordinateUnit
from mbplugin.report.documents.part import ByName, Count, Document, Part, Size, key
from mbplugin.stopping.outcome.outcome import StopOutcome

if TYPE_CHECKING:
    from mbplugin.stopping.table.values import StoppingTable


class _Slip(Part):
    joint: str
    unit: CoordinateUnit
    travel: float = key("unit")
    time: Size = key("from the signal to rest, s")


class _TableRow(Part):
    category: Literal[0, 1]
    axis: Count
    joint: str
    unit: CoordinateUnit
    speed_percent: Count
    extension_percent: Count
    payload_percent: Count
    speed: Size = key("unit/s")
    sense: Literal[-1, 1] = key("in which the axis moves")
    extension: Size = key("distance of the tool from the axis, m")
    payload: Size = key("kg")
    deceleration: Size | None = key("unit/s²")
    time: Size = key("from the signal until the axis rests, s")
    distance: Size = key("unit")
    reaction_time: Size = key("s")
    reaction_distance: Size = key("unit")
    rest_time: Size = key("until all joints rest, s")
    tool_distance: Size = key("along the path, m")
    tool_displacement: Size = key("straight, m")
    outcome: StopOutcome
    slips: list[_Slip] = key("other joints that move")
    q: ByName = key("at the signal, rad, m")
    command: str | None = key("computes the row again; null without a file")


class _TableModel(Part):
    name: str


class Output(Document):
    """A stopping table."""

    model: _TableModel
    computed_not_measured: Literal[True]
    tool: str
    axes: list[str]
    assumptions: list[str]
    rows: list[_TableRow]


def stop_table_document(table: StoppingTable) -> dict[str, Any]:
    """Return the document of one table."""
    return Output.of(table, model=(table.model,))
