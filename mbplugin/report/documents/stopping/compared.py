"""A measured stop beside the computed one, as several documents have it."""

from __future__ import annotations

from typing import Literal

from mbplugin.model.enumerations import CoordinateUnit
from mbplugin.report.documents.part import Count, Part, Size, key


class ComparedRow(Part):
    """A measured stop beside the computed one."""

    line: Count = key("of the file of measured stops")
    joint: str
    category: Literal[0, 1]
    unit: CoordinateUnit
    speed: Size = key("unit/s")
    repeats: Count
    shape_index: Size | None = key("2 d/(v T) of the measured values")
    time_measured: Size | None = key("s")
    time_computed: Size = key("s")
    distance_measured: Size | None = key("unit")
    distance_computed: Size = key("unit")
