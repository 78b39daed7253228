"""What ``--against`` finds is what was changed, no more and no less."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from command_line import FOUR_BAR, call
from mbplugin.report.against import Comparison, EarlierReport, change_words, compared, input_words
from mbplugin.report.documents.part import schema_of

KEPT = Path(__file__).parent / "documents"
RECORD = {"date": "2026-01-01T00:00:00Z", "version": "1", "command": "c", "robot": "r", "files": []}
TERMS = "K=1.6,t1=0.1,D_DS=0.85,Z=0.05"


def document(name: str) -> dict[str, Any]:
    return {
        **json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8")),
        "record": copy.deepcopy(RECORD),
    }


def against(old: dict[str, Any], new: dict[str, Any]) -> Comparison:
    return compared(EarlierReport("old.json", "0" * 64, old), new)


@pytest.mark.parametrize("name", sorted(file.stem for file in KEPT.glob("*.json")))
def test_nothing_differs_from_itself(name: str) -> None:
    found = against(document(name), document(name))
    assert (found.differs, found.inputs) == (False, ())
    assert found.count > 0 or name == "rule"


@pytest.mark.parametrize("seed", range(20))
def test_one_changed_number_is_found_with_its_place(seed: int) -> None:
    rng = random.Random(seed)
    old, new = document("stop_table"), document("stop_table")
    k, key = rng.randrange(len(new["rows"])), rng.choice(["time", "distance", "tool_distance", "rest_time"])
    new["rows"][k][key] *= 1.25
    (change,) = against(old, new).changes
    assert (change.key, change.changed, change.count) == (f"rows[].{key}", 1, len(old["rows"]))
    assert (change.old, change.new) == (old["rows"][k][key], new["rows"][k][key])
    assert change.relative == pytest.approx(0.25)
    row = old["rows"][k]
    assert f"joint {row['joint']}" in change.where and f"speed percent {row['speed_percent']}" in change.where


def test_rounding_is_no_difference_and_more_is_one() -> None:
    old, new = document("stop_table"), document("stop_table")
    largest = max(row["time"] for row in old["rows"])
    new["rows"][0]["time"] += 0.9e-6 * largest
    assert not against(old, new).differs
    new["rows"][0]["time"] += 0.2e-6 * largest
    assert against(old, new).differs


def test_the_order_of_named_entries_does_not_count() -> None:
    old, new = document("stop_table"), document("stop_table")
    random.Random(1).shuffle(new["rows"])
    assert not against(old, new).differs


def test_a_row_that_is_gone_is_named() -> None:
    old, new = document("stop_table"), document("stop_table")
    gone = new["rows"].pop(1)
    found = {change.key: change for change in against(old, new).changes}
    assert all(change.new is None for change in found.values() if change.key.startswith("rows"))
    assert found["rows[].time"].old == gone["time"]
    assert f"joint {gone['joint']}" in found["rows[].time"].where


def test_a_part_that_only_one_report_has_is_one_difference() -> None:
    old, new = document("stop_table"), document("stop_table")
    new["worst"] = {"seed": 0, "found": [{"axis": "j1", "value": 1.0}, {"axis": "j2", "value": 2.0}]}
    old.pop("worst", None)
    (change,) = against(old, new).changes
    assert (change.key, change.new) == ("worst", "an object")


def test_every_sentence_that_changed_is_listed_in_full() -> None:
    old, new = document("stop_table"), document("stop_table")
    gone = new["assumptions"][1]
    new["assumptions"][1] = "a new sentence " * 20
    said = {change_words(change)[1:] for change in against(old, new).changes}
    assert said == {("gone", gone), ("new", new["assumptions"][1])}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda record: record.update(version="2"), "version"),
        (lambda record: record.update(command="other"), "command"),
        (lambda record: record.update(standard="ISO"), "standard"),
        (lambda record: record["files"].append({"path": "a.urdf", "sha256": "1" * 64}), "a.urdf"),
    ],
)
def test_an_input_that_changed_is_named(change: Callable[[dict[str, Any]], None], name: str) -> None:
    old, new = document("stop_table"), document("stop_table")
    change(new["record"])
    (found,) = against(old, new).inputs
    assert found.name == name
    assert found.old in input_words(found) and found.new in input_words(found)


def test_a_file_with_another_content_is_named() -> None:
    old, new = document("stop_table"), document("stop_table")
    old["record"]["files"] = [{"path": "a.urdf", "sha256": "1" * 64}]
    new["record"]["files"] = [{"path": "a.urdf", "sha256": "2" * 64}]
    (found,) = against(old, new).inputs
    assert (found.name, found.old, found.new) == ("a.urdf", f"SHA-256 {'1' * 64}", f"SHA-256 {'2' * 64}")


def test_another_type_of_value_is_a_difference() -> None:
    old, new = document("stop_table"), document("stop_table")
    new["rows"][0]["time"] = None
    new["rows"][0]["slips"] = "none"
    assert {change.key for change in against(old, new).changes} >= {"rows[].time", "rows[].slips"}


@pytest.fixture
def earlier(tmp_path: Path) -> str:
    file = tmp_path / "old.json"
    outcome = call("distance", str(KEPT / "estop.json"), "--term", TERMS, "--output", str(file))
    assert outcome.code == 0, outcome.err
    return str(file)


def test_the_command_shows_it_in_every_format(earlier: str, tmp_path: Path) -> None:
    again = (
        "distance",
        str(KEPT / "estop.json"),
        "--term",
        TERMS.replace("0.85", "0.9"),
        "--against",
        earlier,
    )
    text = call(*again).out
    assert f"Against {earlier}" in text
    assert "value: 1 of 1 differ" in text.replace("\n    ", " ")
    page, data = tmp_path / "new.html", tmp_path / "new.json"
    assert call(*again, "--output", str(page)).code == call(*again, "--output", str(data)).code == 0
    assert "Against an earlier report" in page.read_text(encoding="utf-8")
    found = json.loads(data.read_text(encoding="utf-8"))
    jsonschema.validate(found, schema_of("distance"))
    value = next(one for one in found["against"]["changes"] if one["key"] == "value")
    assert value["new"] - value["old"] == pytest.approx(0.05)
    assert [one["name"] for one in found["against"]["inputs"]] == ["command"]


def test_nothing_that_differs_is_said_as_such(earlier: str) -> None:
    text = call("distance", str(KEPT / "estop.json"), "--term", TERMS, "--against", earlier).out
    assert "values differs" in text and "none of" in text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no such file"),
        ("", "the earlier report is not JSON; expected the output of mbplugin distance"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "the earlier report has no schema_version"),
        (
            '{"record": {"command": "mbplugin matrix r.urdf"}}',
            "the earlier report comes from mbplugin matrix; expected the JSON of mbplugin",
        ),
        ('{"schema_version": 1, "rows": []}', "expected the JSON of mbplugin distance"),
    ],
)
def test_what_is_no_earlier_report_is_refused(tmp_path: Path, content: str | None, said: str) -> None:
    file, output = tmp_path / "old.json", tmp_path / "new.json"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    outcome = call(
        *("distance", str(KEPT / "estop.json"), "--term", TERMS),
        *("--against", str(file), "--output", str(output)),
    )
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
    assert not output.exists()


@pytest.mark.long_after(4)
@pytest.mark.parametrize("command", ["reactions", "simulate", "engines"])
def test_other_commands_have_it_too(command: str, tmp_path: Path) -> None:
    file = str(tmp_path / "old.json")
    more = ("--duration", "0.01") if command == "simulate" else ()
    assert call(command, FOUR_BAR, *more, "--output", file).code == 0
    text = call(command, FOUR_BAR, *more, "--against", file).out
    assert "none of" in text.split("Against")[1]


def test_the_earlier_report_is_not_overwritten(earlier: str) -> None:
    before = Path(earlier).read_bytes()
    again = ("distance", str(KEPT / "estop.json"), "--term", TERMS, "--against", earlier)
    assert call(*again, "--output", earlier).code == 2
    assert Path(earlier).read_bytes() == before
