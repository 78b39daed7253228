"""A workbook holds every value of its document, and no formula."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

from command_line import FOUR_BAR, call
from mbplugin.errors import BadUsage
from mbplugin.report.documents import xlsx
from mbplugin.report.documents.xlsx import workbook

KEPT = Path(__file__).parent / "documents"


def opened(document: dict[str, Any]) -> Any:
    return openpyxl.load_workbook(io.BytesIO(workbook(document)))


def scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for item in value.values():
            yield from scalars(item)
    elif isinstance(value, list):
        for item in value:
            yield from scalars(item)
    elif value is not None and value != "":
        yield value


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def cells(book: Any) -> Iterator[Any]:
    for sheet in book:
        if sheet.title != "meanings":
            for row in sheet.iter_rows(min_row=2, values_only=True):
                yield from (value for value in row if value is not None)


@pytest.mark.parametrize("name", sorted(file.stem for file in KEPT.glob("*.json")))
def test_every_value_is_in_a_cell(name: str) -> None:
    document = json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8"))
    found = list(cells(opened(document)))
    texts = {(type(value), value) for value in found if not is_number(value)}
    numbers = np.array([value for value in found if is_number(value)])
    for value in scalars(document):
        if is_number(value):
            # a workbook has 16 digits
            assert np.isclose(numbers, value, rtol=1e-15, atol=0.0).any(), value
        else:
            # line ends are shown as such
            assert (type(value), value) in texts or "\n" in str(value), value


def test_rows_are_a_table_and_what_belongs_to_a_row_names_it() -> None:
    book = opened(
        {"rows": [{"joint": "a", "slips": []}, {"joint": "b", "slips": [{"of": 1.5}]}], "tool": "t"}
    )
    assert book.sheetnames == ["report", "rows", "rows.slips", "meanings"]
    assert list(book["rows"].values) == [("joint",), ("a",), ("b",)]
    assert list(book["rows.slips"].values) == [("of row", "of"), (2, 1.5)]
    assert list(book["report"].values) == [("key", "value 1"), ("tool", "t")]


def test_curves_are_columns() -> None:
    samples = {"time": np.linspace(0.0, 1.0, 11), "q": np.linspace(2.0, 3.0, 11)}
    sheet = opened({"samples": samples})["samples"]
    assert sheet.dimensions == "A1:B12"
    assert list(sheet.values)[-1] == (1.0, 3.0)


@pytest.mark.parametrize("text", ["=1+1", '=HYPERLINK("http://x","y")', "+1", "@SUM(A1)", "-2+3"])
def test_a_text_is_never_a_formula(text: str) -> None:
    book = opened({"name": text, text: 1.0, "rows": [{text: text}]})
    types = {cell.data_type for sheet in book for row in sheet.iter_rows() for cell in row}
    assert "f" not in types
    assert ("name", text) in book["report"].values


def test_what_excel_cannot_hold() -> None:
    document = {
        "wide": "x" * 40_000,
        "bell": "a\x07b",
        "nothing": float("nan"),
        "a/b[c]:d*e?" + "f" * 40: [{"x": 1}],
        "A b c  d e " + "f" * 40: [{"x": 2}],
    }
    book = opened(document)
    facts = {row[0]: row[1] for row in book["report"].values}
    assert len(facts["wide"]) == 32_767 and facts["wide"].endswith("…")
    assert "\x07" not in facts["bell"] and facts["nothing"] is None
    assert len({name.lower() for name in book.sheetnames}) == 4
    assert all(len(name) <= 31 for name in book.sheetnames)


def test_too_many_rows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx, "_ROWS", 20)
    with pytest.raises(BadUsage, match="rows has 20 rows; expected fewer than 20"):
        workbook({"rows": [{"x": k} for k in range(20)]})


def test_a_command_writes_it_by_the_ending(tmp_path: Path) -> None:
    file = tmp_path / "door.xlsx"
    outcome = call("reactions", FOUR_BAR, "--output", str(file))
    assert (outcome.code, outcome.out) == (0, "")
    book = openpyxl.load_workbook(file)
    facts = dict(row[:2] for row in book["report"].values)
    assert facts["record.robot"] == "four_bar_4R"
    assert "mbplugin reactions" in facts["record.command"]
    meant = {(sheet, key): meaning for sheet, key, meaning in book["meanings"].values}
    assert meant["report", "record.date"] == "UTC, ISO 8601"


def test_it_needs_a_file() -> None:
    outcome = call("reactions", FOUR_BAR, "--output-format", "xlsx")
    assert outcome.code == 2
    assert "add --output report.xlsx" in outcome.err


def test_equal_commands_write_equal_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With ``SOURCE_DATE_EPOCH``: archives and properties have dates too, which advance by whole seconds."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "951782400")
    monkeypatch.chdir(tmp_path)
    first, *others = (
        _written_at(monkeypatch, tmp_path / "door.xlsx", time) for time in (0.0, 86_400.0 * 400)
    )
    assert all(other == first for other in others)
    properties = openpyxl.load_workbook(tmp_path / "door.xlsx").properties
    assert properties.created == properties.modified == datetime(2000, 2, 29)
    with zipfile.ZipFile(tmp_path / "door.xlsx") as archive:
        assert {part.date_time for part in archive.infolist()} == {(2000, 2, 29, 0, 0, 0)}


def _written_at(monkeypatch: pytest.MonkeyPatch, file: Path, later: float) -> bytes:
    """Return the bytes of a workbook that is written some seconds later."""
    with monkeypatch.context() as patch:
        now = time.time
        patch.setattr(time, "time", lambda: now() + later)
        assert call("reactions", FOUR_BAR, "--output", str(file)).code == 0
    if not later:
        # properties count whole seconds
        time.sleep(1.1)
    return file.read_bytes()
