"""The JSON document of ``mbplugin calibrate`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from mbplugin.model.enumerations import CoordinateUnit
from mbplugin.report.documents.part import Count, Part, Recorded, Size, Source, key
from mbplugin.report.documents.stopping import Bound, ComparedRow, bound_entries
from mbplugin.stopping.calibration import LawName

if TYPE_CHECKING:
    from mbplugin.stopping.calibration import Calibration, RepeatedStop


class _Parameter(Part):
    value: Size
    low: Size | None = key(
        "95 % interval, for all parameters of the joint together; null where the data give none"
    )
    high: Size | None
    identifiable: bool = key("whether the rows determine it")
    unit: str


class _Margin(Part):
    time: Size = key("s; 0 where the fit covers them itself")
    line: Count | None = key("the row that needs it")


class _Joint(Part):
    joint: str
    category: Literal[0, 1]
    unit: CoordinateUnit
    law: LawName
    parameters: dict[str, _Parameter]
    rows: Count = key("fitted rows")
    held_out: Count = key("predicted rows")
    freedom: Count = key("fitted numbers beyond those that determine the parameters; 0 for an exact fit")
    time_scatter: Size | None = key("standard deviation of one stop about the computed one, s")
    distance_scatter: Size | None = key("unit")
    undetermined: list[list[str]] = key("parameters of which only a combination is determined")
    notes: list[str]
    margin: _Margin | None = key(
        "what was added to delay or reaction so that no fitted row took longer or went farther than computed",
        optional=True,
    )


class _Row(ComparedRow):
    held_out: bool = key("predicted, not fitted")
    unexplained: list[str]


class _RepeatedStop(Part):
    joint: str
    category: Literal[0, 1]
    unit: CoordinateUnit
    speed: Size = key("unit/s")
    lines: list[Count]
    time: Bound | None = key("of the measured times, s; null where fewer than ten were measured")
    distance: Bound | None = key("of the measured distances, unit")
    time_computed: Size = key("s")
    distance_computed: Size = key("unit")


class _Model(Part):
    name: str
    files: list[Source]


class CalibrateOutput(Recorded):
    """Brakes and ramps from measured stops."""

    model: _Model
    date: str
    measured: Source
    hold_out: str | None
    verdict: str = key("how many rows were fitted, not explained, and exceed what is computed", optional=True)
    not_determined: list[str] = key("parameters that the rows do not determine", optional=True)
    assumptions: list[str]
    joints: list[_Joint]
    rows: list[_Row]
    repeated: list[_RepeatedStop] = key("stops that were measured ten times or more", optional=True)
    toml: str = key("tables of a scene")


def calibrate_document(calibration: Calibration) -> dict[str, Any]:
    """Return the document of one calibration."""
    return CalibrateOutput.of(
        calibration,
        model=(calibration.model, calibration.robot),
        repeated=[_repeated(stop) for stop in calibration.repeated] or None,
    )


def _repeated(stop: RepeatedStop) -> dict[str, object]:
    row = stop.row
    return {
        **{name: getattr(row, name) for name in ("joint", "category", "unit", "speed")},
        "lines": stop.lines,
        "time": stop.time and bound_entries(stop.time),
        "distance": stop.distance and bound_entries(stop.distance),
        "time_computed": row.time_computed,
        "distance_computed": row.distance_computed,
    }
