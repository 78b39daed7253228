"""The rows of a stopping table with angles and lengths in some units, for texts and pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mbplugin.model.units import Units

if TYPE_CHECKING:
    from mbplugin.stopping.table.columns import Cell
    from mbplugin.stopping.table.values import StoppingTable

#: Numbers in the unit of the axis.
_OF_AXIS = ("speed", "deceleration", "distance", "reaction_distance")
_LENGTHS = ("extension", "tool_distance", "tool_displacement")


def rows_in_units(table: StoppingTable, units: Units) -> list[dict[str, Any]]:
    """Return the rows with their numbers in some units; ``unit`` is that of the axis."""
    return [_row_in_units(row, units, table.lengths) for row in table.rows]


def head_in_units(cell: Cell, units: Units) -> str:
    """Return the head of a cell with the unit of lengths."""
    return cell.head.replace("[m]", f"[{units.length}]")


def _row_in_units(row: Mapping[str, Any], units: Units, lengths: tuple[str, ...]) -> dict[str, Any]:
    if units.is_si:
        return dict(row)
    size, unit = units.shown(row["unit"])
    metre, _ = units.shown("m")
    radian, _ = units.shown("rad")
    scaled = {key: None if row[key] is None else size * row[key] for key in _OF_AXIS}
    pose = {name: value * (metre if name in lengths else radian) for name, value in row["q"].items()}
    slips = [_slip_in_units(slip, units) for slip in row["slips"]]
    far = {key: metre * row[key] for key in _LENGTHS}
    return {**row, **scaled, **far, "unit": unit, "q": pose, "slips": slips}


def _slip_in_units(slip: Mapping[str, Any], units: Units) -> dict[str, Any]:
    size, unit = units.shown(slip["unit"])
    return {**slip, "unit": unit, "travel": size * slip["travel"]}
