"""The worst stops with angles and lengths in some units, for texts and pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from mbplugin.model.units import Units

if TYPE_CHECKING:
    from mbplugin.stopping.worst.values import WorstStop, WorstStops


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
        grid=None if one.grid is None else size * one.grid,
        tool_distance=metre * one.tool_distance,
        q=shown(one.q),
        qd=shown(one.qd),
    )
