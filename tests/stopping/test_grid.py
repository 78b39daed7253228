"""A stopping table on another grid than that of the standard."""

from __future__ import annotations

import csv
import io
import json

import pytest

import mbplugin as mb
from command_line import ROOT, call
from mbplugin.errors import BadNumber, BadUsage
from mbplugin.stopping.table import StoppingTable
from mbplugin.stopping.table.run import FORMS, grid_of

ARM = ROOT / "assets" / "arm_6r.scene.toml"
KEY = ("category", "joint", "speed_percent", "extension_percent", "payload_percent")
Rows = dict[tuple[object, ...], dict[str, object]]


def rows_of(table: StoppingTable) -> Rows:
    return {tuple(row[key] for key in KEY): row for row in table.rows}


@pytest.fixture(scope="module")
def standard() -> StoppingTable:
    return mb.stopping_table(ARM, payload=5.0)


def test_rows_of_both_grids_are_equal(standard: StoppingTable) -> None:
    grid = {"speed": [100, 50, 33], "payload": [0, 100]}
    found = mb.stopping_table(ARM, payload=5.0, grid=grid)
    own, those = rows_of(found), rows_of(standard)
    # category 0: 3 axes, 3 speeds, 2 payloads; category 1: two axes at 3 extensions, the third at one
    assert len(own) == len(found.rows) == 3 * 3 * 2 + (3 + 3 + 1) * 3 * 2
    common = own.keys() & those.keys()
    assert len(common) == 3 + 2 * 3 * 2 + 2
    for key in common:
        assert own[key] == those[key]
    assert {row["payload"] for row in found.rows} == {0.0, 5.0}
    half = own[0, "j1", 50, 100, 100]
    assert half["speed"] == pytest.approx(0.5 * those[0, "j1", 100, 100, 100]["speed"])  # type: ignore[operator]


def test_it_has_the_form_of_the_standard_only_without_a_grid(standard: StoppingTable) -> None:
    found = mb.stopping_table(ARM, axes=["j1"], categories=[0], grid={"speed": [20, 100]})
    assert (standard.form, found.form) == (FORMS[2025], None)
    sentence = f"the grid is stated, it is not that of {FORMS[2025]}: speed 20, 100 %"
    assert sentence in found.assumptions
    assert not any("grid" in one for one in standard.assumptions)


def test_the_axis_that_bends_the_arm_is_not_bent_for_itself() -> None:
    table = mb.stopping_table(ARM, axes=["j1", "j2"], categories=[1])
    shares = {
        joint: {r["extension_percent"] for r in table.rows if r["joint"] == joint} for joint in table.axes
    }
    assert shares == {"j1": {33, 66, 100}, "j2": {100}}


def test_the_command_has_it() -> None:
    common = ("stop-table", str(ARM), "--axes", "j1", "--category", "0", "--grid", "speed=25%,100")
    text = call(*common, "--output-format", "csv").out
    rows = list(csv.DictReader(line for line in io.StringIO(text) if line[0] != "#"))
    assert [row["speed_percent"] for row in rows] == ["25", "100"]
    record = json.loads(call(*common, "--output-format", "json").out)["record"]
    assert "standard" not in record


@pytest.mark.parametrize(
    ("grid", "said"),
    [
        ({"speed": [0]}, "the grid has 0 % speed; expected whole percentages from 1 to 100"),
        ({"payload": [-1]}, "whole percentages from 0 to 100"),
        ({"extension": [101]}, "101 % extension"),
        ({"speed": [33.3]}, "33.3 % speed"),
    ],
)
def test_what_is_no_percent_is_refused(grid: dict[str, list[int]], said: str) -> None:
    with pytest.raises(BadNumber, match=said):
        grid_of(grid, 2025)


@pytest.mark.parametrize("grid", [{"speeds": [100]}, {"speed": []}])
def test_what_is_no_quantity_is_refused(grid: dict[str, list[int]]) -> None:
    with pytest.raises(BadUsage, match="expected shares of speed, extension or payload"):
        grid_of(grid, 2025)


@pytest.mark.parametrize("text", ["speed", "speed=fast", "speed=-5", "=5", "speed="])
def test_what_the_option_refuses(text: str) -> None:
    outcome = call("stop-table", str(ARM), "--grid", text)
    assert (outcome.code, outcome.out) == (2, "")
    assert "grid" in outcome.err


@pytest.mark.parametrize(
    ("edition", "form"), [(2011, "ISO 10218-1:2011, Annex B"), (2025, "ISO 10218-1:2025")]
)
def test_the_edition_that_is_named_is_cited(edition: int, form: str) -> None:
    arm = str(ROOT / "assets" / "arm_6r.scene.toml")
    command = ("stop-table", arm, "--axes", "j1", "--category", "0")
    stated = json.loads(call(*command, "--edition", str(edition), "--output-format", "json").out)
    assert stated["record"]["standard"] == form
    newest = json.loads(call(*command, "--output-format", "json").out)
    assert newest["record"]["standard"] == FORMS[max(FORMS)] == "ISO 10218-1:2025"
    refused = call(*command, "--edition", "2006")
    assert refused.code == 2 and "expected 2011 or 2025" in refused.err
