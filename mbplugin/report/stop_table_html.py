"""A stopping table as one HTML page: assumptions, curves of distance and time over speed, all rows."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mbplugin.estop.table_values import StoppingTable

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{padding:.15rem .7rem;"
    "text-align:right;border-bottom:1px solid #ddd}th{background:#f4f4f4}svg{margin:.5rem 1rem .5rem 0}"
    ".warn{color:#b00020}"
)
_HEADS = (
    "category",
    "axis",
    "joint",
    "speed %",
    "extension %",
    "payload %",
    "time [ms]",
    "distance",
    "of it reaction",
    "tool [m]",
    "outcome",
)
_COLOURS = ("#0b6", "#06b", "#b30")
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 360, 240, 56, 40


def stop_table_html(table: StoppingTable) -> str:
    """Return the page."""
    title = f"Stopping table of {table.model}"
    sentences = "".join(f"<li>{escape(one)}</li>" for one in table.assumptions)
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{escape(title)}</title>"
        f"<style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>"
        f"<p>Tool: {escape(table.tool)}. <strong>Computed, not measured.</strong></p>"
        f"<h2>Assumptions</h2><ul>{sentences}</ul>{''.join(_curves(table))}<h2>All stops</h2>{_rows(table)}"
        "</body></html>\n"
    )


def _curves(table: StoppingTable) -> Iterator[str]:
    """Yield curves over the speed, one line per extension, at full payload."""
    for k, joint in enumerate(table.axes, 1):
        rows = [
            r for r in table.rows if r["axis"] == k and r["category"] == 1 and r["payload_percent"] == 100
        ]
        if not rows:
            continue
        yield f"<h2>Axis {k}: {escape(joint)}, category 1, full payload</h2>"
        unit = rows[0]["unit"]
        yield _chart(rows, "distance", 1.0, f"distance [{unit}]")
        yield _chart(rows, "time", 1e3, "time [ms]")


def _chart(rows: list[dict[str, Any]], key: str, factor: float, label: str) -> str:
    across = max(row["speed"] for row in rows) or 1.0
    up = factor * max(row[key] for row in rows) or 1.0
    shares = sorted({row["extension_percent"] for row in rows})
    lines = []
    for colour, share in zip(_COLOURS, shares, strict=False):
        own = sorted((r["speed"], factor * r[key]) for r in rows if r["extension_percent"] == share)
        points = " ".join(f"{_x(v / across):.1f},{_y(d / up):.1f}" for v, d in own)
        x, y = points.split()[-1].split(",")
        lines.append(
            f"<polyline points='{points}' fill='none' stroke='{colour}' stroke-width='2'/>"
            f"<text x='{x}' y='{float(y) - 5:.1f}' font-size='11' fill='{colour}' text-anchor='end'>"
            f"{share} % extension</text>"
        )
    axes = (
        f"<path d='M{_LEFT} 10V{_y(0)}H{_WIDTH - 8}' fill='none' stroke='#888'/>"
        f"<text x='{_WIDTH - 8}' y='{_HEIGHT - 8}' font-size='12' text-anchor='end'>speed, up to {across:.3g}"
        f" {escape(rows[0]['unit'])}/s</text>"
        f"<text x='4' y='{_y(1)}' font-size='12'>{up:.3g}</text>"
        f"<text x='4' y='{_HEIGHT - 8}' font-size='12'>{escape(label)}</text>"
    )
    return f"<svg width='{_WIDTH}' height='{_HEIGHT}' role='img'>{axes}{''.join(lines)}</svg>"


def _x(share: float) -> float:
    return _LEFT + share * (_WIDTH - _LEFT - 12)


def _y(share: float) -> float:
    return _HEIGHT - _BOTTOM - share * (_HEIGHT - _BOTTOM - 24)


def _rows(table: StoppingTable) -> str:
    head = "".join(f"<th>{one}</th>" for one in _HEADS)
    body = []
    for row in table.rows:
        cells = [
            row["category"],
            row["axis"],
            escape(row["joint"]),
            row["speed_percent"],
            row["extension_percent"],
            row["payload_percent"],
            f"{1e3 * row['time']:.1f}",
            f"{row['distance']:.4f} {row['unit']}",
            f"{row['reaction_distance']:.4f}",
            f"{row['tool_distance']:.4f}",
            row["outcome"].replace("_", " "),
        ]
        style = "" if row["outcome"] == "stopped" else " class='warn'"
        body.append(f"<tr{style}>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
