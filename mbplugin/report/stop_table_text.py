"""A stopping table for people: the assumptions, then one line per stop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mbplugin.report.layout import PLAIN_WIDTH, Line, wrapped

if TYPE_CHECKING:
    from mbplugin.estop.table_values import StoppingTable

_HEADS = ("speed %", "extens. %", "payload %", "extens. [m]", "time [ms]", "distance", "tool [m]")


def stop_table_lines(table: StoppingTable, width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the table, by category and axis."""
    title = f"{table.model}: stopping table, tool {table.tool}; computed, not measured"
    yield from (Line(text, "bold") for text in wrapped(title, width, "", "  "))
    for sentence in table.assumptions[1:]:
        yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))
    block = None
    for row in table.rows:
        if block != (row["category"], row["axis"]):
            block = row["category"], row["axis"]
            yield Line()
            yield Line(
                f"Category {row['category']}, axis {row['axis']}: {row['joint']},"
                f" {row['speed'] * 100 / row['speed_percent']:.4g} {row['unit']}/s",
                "bold cyan",
            )
            yield Line("  " + "".join(f"{head:>12}" for head in _HEADS))
        cells = [
            f"{row['speed_percent']}",
            f"{row['extension_percent']}",
            f"{row['payload_percent']}",
            f"{row['extension']:.3f}",
            f"{1e3 * row['time']:.1f}",
            f"{row['distance']:.3f} {row['unit']}",
            f"{row['tool_distance']:.3f}",
        ]
        outcome = "" if row["outcome"] == "stopped" else f"  {row['outcome'].replace('_', ' ')}"
        yield Line("  " + "".join(f"{cell:>12}" for cell in cells) + outcome)
