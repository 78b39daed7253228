"""A column of the stopping table is one entry: rows, schema, text and page follow."""

from __future__ import annotations

import json
import re
from typing import Any

from command_line import ROOT
from mbplugin.report.documents.part import schema_of
from mbplugin.report.text.layout import plain_text
from mbplugin.report.text.stopping import stop_table_lines
from mbplugin.stopping.table.values import COLUMNS, HTML_CELLS, TEXT_CELLS, StoppingTable, cells_with_bounds

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
        name: column.meaning for name, column in COLUMNS.items()
    }


def test_every_column_is_a_column_of_the_csv() -> None:
    heads = TABLE.text("csv").splitlines()[-2].split(",")
    assert set(heads) == {*COLUMNS, "command", "q j0"} - {"q"}


def test_text_and_page_show_their_cells() -> None:
    # terms of the glossary are links in the page
    text, page = plain_text(stop_table_lines(TABLE, 200)), re.sub(r"</?a\b[^>]*>", "", TABLE.text("html"))
    for plain, shown in ((TEXT_CELLS, text), (HTML_CELLS, page)):
        cells = cells_with_bounds(plain, bounded=True)
        assert len(cells) == len(plain) + 4
        assert len({cell.head for cell in cells}) == len(cells)
        for cell in cells:
            assert cell.head in shown and cell.show(ROW) in shown, cell.head
    assert "250.0" in text and "375.0" in text and "j1 slips -0.5 rad" in text
    assert json.loads(TABLE.text("json"))["rows"][0] == ROW


def test_the_guide_names_what_a_row_adds_to_its_inputs() -> None:
    guide = (ROOT / "docs" / "estop.md").read_text(encoding="utf-8")
    for name in ("time", "rest_time", "tool_distance", "tool_displacement", "slips", "command"):
        assert f"`{name}`" in guide
