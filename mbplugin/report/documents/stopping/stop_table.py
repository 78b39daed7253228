"""The JSON document of ``mbplugin stop-table`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import create_model

from mbplugin.model.enumerations import CoordinateUnit
from mbplugin.report.documents.part import ByName, Count, Part, Recorded, Size, Source, key
from mbplugin.report.documents.stopping.compared import ComparedRow
from mbplugin.report.documents.stopping.stops import EffortLimits, ToolChoice
from mbplugin.report.documents.stopping.worst_stop import WorstOfTable
from mbplugin.stopping.outcome.outcome import StopOutcome
from mbplugin.stopping.table.columns import COLUMNS

if TYPE_CHECKING:
    from mbplugin.stopping.table.values import StoppingTable


class _Slip(Part):
    joint: str
    unit: CoordinateUnit
    travel: float = key("unit")
    time: Size = key("from the signal to rest, s")


#: The types of the values of columns, by kind.
_KINDS: dict[str, Any] = {
    "category": Literal[0, 1],
    "count": Count,
    "text": str,
    "unit": CoordinateUnit,
    "size": Size,
    "size or null": Size | None,
    "sense": Literal[-1, 1],
    "outcome": StopOutcome,
    "slips": list[_Slip],
    "coordinates": ByName,
}

if TYPE_CHECKING:
    _Columns = Part
else:
    _Columns = create_model(
        "_Columns",
        __base__=Part,
        **{name: (_KINDS[column.kind], key(column.meaning or None)) for name, column in COLUMNS.items()},
    )


class _TableRow(_Columns):
    command: str | None = key("computes the row again; null without a file")


class _MeasuredRow(ComparedRow):
    outcome: StopOutcome = key("of the computed stop")
    covered: bool = key("took no longer and went no farther than computed")


class _MeasuredStops(Part):
    source: Source
    sentence: str = key("how many took longer or went farther than computed")
    rows: list[_MeasuredRow]


class _TableModel(Part):
    name: str


class Output(Recorded):
    """A stopping table."""

    model: _TableModel
    computed_not_measured: Literal[True]
    tolerance: Size = key("relative rank tolerance", optional=True)
    tool: str
    axes: list[str]
    assumptions: list[str]
    of_effort: EffortLimits = key("brakes and decelerations that are not stated", optional=True)
    tool_choice: ToolChoice = key("of which point speed and way are computed, and why", optional=True)
    rows: list[_TableRow]
    worst: WorstOfTable | None = key("the worst stops, where they were searched", optional=True)
    measured: _MeasuredStops | None = key("measured stops beside computed ones", optional=True)


def stop_table_document(table: StoppingTable) -> dict[str, Any]:
    """Return the document of one table."""
    return Output.of(table, model=(table.model,))
