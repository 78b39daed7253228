"""A search for worst stops that ends early: what it has is reported, and how much of the search was done."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

import mbplugin as mb
from command_line import ASSETS, below_the_verdict, call
from mbplugin.errors import BadUsage
from mbplugin.model.brake_law import Brake
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.report.documents.part import schema_of
from mbplugin.report.html.chapters import distance_chapter, worst_chapter
from mbplugin.report.html.view import grade
from mbplugin.stopping import worst_search as budget
from mbplugin.stopping.scenario import NO_TOOL
from rod_arms import arm

ARM = str(ASSETS / "arm_6r.scene.toml")
ROD = arm((1.0,), limits=Freedom(lower=-2.5, upper=2.5, velocity=2.0))
STATED = {"brakes": [Brake("j0", 40.0, delay=0.02)], "tool": "b0", "samples": 40}


class Ticks:
    """A clock that goes on by a second each time it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.mark.long
def test_a_search_that_ends_early_has_the_worst_so_far_and_says_how_much_was_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = mb.worst_stop(ROD, **STATED)
    assert whole.searches == (3, 3, 600.0) and not whole.searches.warning
    before = [0.0, 0.0, 0.0]
    for seconds in (1.0, 6.0, 12.0, 1e5):
        monkeypatch.setattr(budget, "monotonic", Ticks())
        early = mb.worst_stop(ROD, **STATED, max_seconds=seconds)
        complete, planned, limit = early.searches
        assert (complete, planned, limit) == (3 if seconds == 1e5 else 0, 3, seconds)
        # the clock is read once for the row of the table and the random stops, and once for each generation
        assert early.count <= 41 + 3 * 30 * seconds
        for k, (found, best) in enumerate(zip(early.found, whole.found, strict=True)):
            assert found.grid is not None and found.value >= found.grid * (1 - 1e-6)
            # reported values are more accurate than those that are compared; the tool's path of the rod is zero
            assert before[k] * (1 - 1e-5) - 1e-12 <= found.value <= best.value * (1 + 1e-5) + 1e-12
            before[k] = found.value
        assert bool(early.searches.warning) is (complete < 3)
        assert any("the search ended early" in said for said in early.assumptions) is (complete < 3)
    assert early.found == whole.found


def test_time_that_ends_early_is_shared_by_all_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each generation of every value takes its turn: all get beyond the random stops, and none is complete."""
    monkeypatch.setattr(budget, "monotonic", Ticks())
    random = mb.worst_stop(ROD, **STATED, max_seconds=4.0)
    monkeypatch.setattr(budget, "monotonic", Ticks())
    early = mb.worst_stop(ROD, **STATED, max_seconds=12.0)
    assert early.searches.complete == 0
    assert "before it was complete; its 3 values are the worst so far" in early.searches.warning
    values = {one.measure: one.value for one in random.found}
    for one in early.found:
        assert one.measure == "tool_distance" or one.value > values[one.measure]


@pytest.mark.long
def test_nothing_of_it_is_green() -> None:
    # the origin of the rod is on its axis, which is another warning
    whole = replace(mb.worst_stop(ROD, **STATED), tool_choice=NO_TOOL)
    assert grade(worst_chapter(whole)) == "good"
    early = replace(whole, searches=whole.searches._replace(complete=2))
    assert grade(worst_chapter(early)) == "fair" and below_the_verdict(str(early)).startswith(
        "! INCOMPLETE: the search ended"
    )
    early = replace(mb.worst_stop(ROD, **STATED, max_seconds=1e-9), tool_choice=NO_TOOL)
    made = mb.protective_distance(early, v_h=1.6, v_r=1.0, T_r=0.1, C=0.2, Z_d=0.05, Z_r=0.01)
    assert grade(distance_chapter(made)) == "fair" and "the search ended early" in str(made)


def test_the_command_ends_with_zero_and_json_and_tables_carry_it(tmp_path: Path) -> None:
    run = ("worst-stop", ARM, "--axes", "j4", "--samples", "20", "--max-seconds", "1us")
    done = call(*run, "--output-format", "json")
    document = json.loads(done.out)
    jsonschema.validate(document, schema_of("worst-stop"))
    assert done.code == 0 and document["searches"] == {"complete": 0, "planned": 3, "max_seconds": 1e-6}
    table = mb.stopping_table(mb.load(ARM), axes=["j4"], categories=[0])
    worst = mb.worst_stop(mb.load(ARM), axes=["j4"], samples=20, max_seconds=1e-6)
    both = replace(table, worst=worst)
    assert "INCOMPLETE" in str(both) and "# INCOMPLETE" in both.text("csv")
    jsonschema.validate(json.loads(both.text("json")), schema_of("stop-table"))


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), 1e10])
def test_a_time_that_cannot_be_is_refused(seconds: float) -> None:
    with pytest.raises(BadUsage, match="the time to compute is"):
        mb.worst_stop(ROD, **STATED, max_seconds=seconds)
