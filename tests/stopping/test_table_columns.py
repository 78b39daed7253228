"""A column of the stopping table is one entry: rows, schema, text and page follow."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from typing import Any

import pytest

from command_line import ROOT
from mbplugin.model.brake_law import SI, Units
from mbplugin.report.documents.part import schema_of
from mbplugin.report.html import html_page, stopping_table as html
from mbplugin.report.html.chapters import table_chapter
from mbplugin.report.text import plain_text, stopping as text
from mbplugin.report.text.stopping import stop_table_lines
from mbplugin.stopping.table import (
    COLUMNS,
    HTML_CELLS,
    TEXT_CELLS,
    Cell,
    Column,
    StoppingTable,
    cells_with_bounds,
)

ROW: dict[str, Any] = {
    **dict.fromkeys(COLUMNS, 0.5),
    "category": 0,
    "axis": 1,
    "joint": "j0",
    "unit": "rad",
    "sense": 1,
    "outcome": "stopped",
    "evidence": "calibrated",
    "deceleration": None,
    "speed_percent": 33,
    "extension_percent": 66,
    "payload_percent": 100,
    "time": 0.25,
    "rest_time": 0.375,
    "slips": [{"joint": "j1", "unit": "rad", "travel": -0.5, "time": 0.125}],
    "q": {"j0": 0.75},
    "command": "mbplugin estop robot.urdf",
}
TABLE = StoppingTable("robot", "hand", ("j0",), (ROW,), ("a sentence",))


def test_the_schema_has_the_columns_in_their_order_with_their_meanings() -> None:
    parts = [part.get("properties", {}) for part in schema_of("stop-table")["$defs"].values()]
    (rows,) = (part for part in parts if "command" in part and "slips" in part)
    assert list(rows) == [*COLUMNS, "command"]
    assert {name: own.get("description", "") for name, own in rows.items() if name in COLUMNS} == {
        name: column.description for name, column in COLUMNS.items()
    }


def test_every_column_is_a_column_of_the_csv() -> None:
    heads = TABLE.text("csv").splitlines()[-2].split(",")
    assert set(heads) == {*COLUMNS, "command", "q j0"} - {"q"}


def test_text_and_page_show_their_cells() -> None:
    # terms of the glossary are links in the page
    plain, page = plain_text(stop_table_lines(TABLE, 200)), re.sub(r"</?a\b[^>]*>", "", TABLE.text("html"))
    for kind, shown in ((TEXT_CELLS, plain), (HTML_CELLS, page)):
        cells = cells_with_bounds(kind, bounded=True)
        assert len(cells) == len(kind) + 4
        assert len({cell.title(SI) for cell in cells}) == len(cells)
        for cell in cells:
            assert cell.title(SI, "" if kind is TEXT_CELLS else "rad") in shown, cell.head
            assert cell.text(ROW, kind is HTML_CELLS) in shown, cell.head
    assert "250.0" in plain and "375.0" in plain and "j1 slips -0.5 rad" in plain
    assert json.loads(TABLE.text("json"))["rows"][0] == ROW


def test_a_new_column_is_converted_and_labelled_by_its_unit_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    units = Units("deg", "mm")
    added = {
        "peak_speed": ("unit/s", 0.5, "28.65 deg/s", "peak_speed [deg/s]"),
        "peak_force_arm": ("m", 0.25, "250.00", "peak_force_arm [mm]"),
        "peak_deceleration": ("unit/s²", 2.0, "114.59 deg/s²", "peak_deceleration [deg/s²]"),
        "tool_speed": ("m/s", 0.25, "250.00", "tool_speed [mm/s]"),
        "tool_deceleration": ("m/s²", 2.0, "2000.00", "tool_deceleration [mm/s²]"),
        "tilt": ("rad", -0.5, "-28.65", "tilt [deg]"),
        "moment": ("N·m", 0.75, "0.75", "moment [N·m]"),
        "settling_time": ("s", 0.125, "125.00", "settling_time [ms]"),
        "ratio": ("", 0.375, "0.38", "ratio"),
        "missing": ("unit", None, "–", "missing [deg]"),
    }
    cells = tuple(Cell(name, name, ".2f") for name in added)
    for name, (unit, _, _, _) in added.items():
        monkeypatch.setitem(COLUMNS, name, Column("size or null", "", unit, lambda r: 0.0))
    monkeypatch.setattr(text, "TEXT_CELLS", (*TEXT_CELLS, *cells))
    monkeypatch.setattr(html, "HTML_CELLS", (*HTML_CELLS, *cells))
    row = {**ROW, **{name: value for name, (_, value, _, _) in added.items()}}
    table = replace(TABLE, rows=(row,))
    plain = plain_text(stop_table_lines(table, 400, units=units))
    page = re.sub(r"</?[^>]*>", " ", html_page(table_chapter(table, units)))
    line = " ".join(next(line for line in plain.splitlines() if " 33 " in line).split())
    assert line.endswith(" ".join(in_text for _, _, in_text, _ in added.values()))
    for name, (unit, value, in_text, title) in added.items():
        # the text has the unit of an axis behind each number, the page in the head where it is the same for all
        assert (name if unit.startswith("unit") else title) in plain
        assert title in page and in_text.split()[0] in page
        cells_of_csv = dict(zip(*csv.reader(table.text("csv").splitlines()[-2:]), strict=True))
        assert cells_of_csv[name] == ("" if value is None else str(value))


def test_the_guide_names_what_a_row_adds_to_its_inputs() -> None:
    guide = (ROOT / "docs" / "estop.md").read_text(encoding="utf-8")
    for name in ("time", "rest_time", "tool_distance", "tool_displacement", "slips", "command"):
        assert f"`{name}`" in guide
