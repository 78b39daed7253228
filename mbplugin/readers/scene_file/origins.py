"""What is stated of a brake or a ramp, and whether its origin still speaks of these numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mbplugin.readers.scene_file.tables.stops import BrakeTable, RampTable

#: Keys that are no numbers of a table.
_WORDS = ("joint", "origin", "origin_values")


def stated_with_origin(table: BrakeTable | RampTable) -> dict[str, Any]:
    """Return what a table states by key; the origin names the numbers that are not those it speaks of."""
    stated = {key: value for key, value in table.model_dump().items() if key != "origin_values"}
    if table.origin_values:
        stated["origin"] = "; ".join((table.origin or "no origin is stated", *_changes(table)))
    return stated


def _changes(table: BrakeTable | RampTable) -> Iterator[str]:
    """Yield which numbers are not those of the origin, and which it does not have."""
    now, there = table.model_dump(), table.origin_values
    changed = [
        f"{key} ({value:g} there, {_shown(now.get(key))} here)"
        for key, value in there.items()
        if key in _WORDS or now.get(key) != value
    ]
    if changed:
        yield f"CHANGED SINCE: {', '.join(changed)}"
    more = [key for key in table.model_fields_set if key not in (*_WORDS, *there)]
    if more:
        keys = [key for key in type(table).model_fields if key in more]
        yield f"not from there: {', '.join(keys)}"


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else "none"
