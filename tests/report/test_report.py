"""Reports: JSON that its schema accepts, text that says the verdict first and can be pasted."""

from __future__ import annotations

import itertools
import json
import math
import os
import pty
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import jsonschema
import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS, DOOR_1, DOOR_2, FOUR_BAR, ORACLES, call
from mbplugin.phrases import counted, joined_by_words, listed
from mbplugin.report import plain
from mbplugin.report.documents.lint import lint_document
from mbplugin.report.documents.part import dumps, schema_of
from mbplugin.report.text import PLAIN_WIDTH, wrapped
from mbplugin.report.text.lint import Detail, lint_text, verdict

MINITAUR = str(ASSETS / "minitaur.scene.toml")
ROBOT = str(ASSETS / "four_wheel_robot.scene.toml")
EXPECTED: dict[str, dict[str, Any]] = json.loads((ORACLES / "expected.json").read_text())


def check_against_schema(document: Mapping[str, Any], name: str = "lint") -> None:
    schema = schema_of(name)
    validator = jsonschema.Draft202012Validator
    validator.check_schema(schema)
    validator(schema).validate(document)


def strict(text: str) -> Any:
    """Parse JSON that may not hold NaN or Infinity."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("file", [FOUR_BAR, MINITAUR, ROBOT], ids=["sdf", "minitaur", "wheels"])
def test_lint_json_follows_its_schema(file: str) -> None:
    text = call("lint", file, "--output-format", "json", "--samples", "2").out
    document = strict(text)
    check_against_schema(document)
    assert document["schema_version"] == 1


def test_lint_json_of_several_files_follows_its_schema(tmp_path: Path) -> None:
    text = call("lint", DOOR_1, str(tmp_path / "no.urdf"), DOOR_2, "--output-format", "json").out
    check_against_schema(strict(text))


@pytest.mark.parametrize("planar", ["xy", "yz", "zx"])
def test_planar_json_names_the_plane(planar: str) -> None:
    document = strict(call("lint", FOUR_BAR, "--planar", planar, "--output-format", "json").out)
    check_against_schema(document)
    assert document["model"]["planar"] == planar
    assert document["model"]["columns"] == 3 * document["model"]["bodies"]


@pytest.mark.long
def test_the_schema_refuses_what_lacks_a_key() -> None:
    document = lint_document([mb.lint(DOOR_2)])
    for key in document:
        with pytest.raises(jsonschema.ValidationError):
            check_against_schema({k: v for k, v in document.items() if k != key})
    with pytest.raises(jsonschema.ValidationError):
        check_against_schema({**document, "mobility": {**document["mobility"], "rank": "5"}})


@pytest.mark.parametrize("name", ["four_bar_4R", "door_3_hinges", "stewart_6UPS"])
def test_json_numbers_are_the_oracle(name: str) -> None:
    expected = EXPECTED[name]
    document = strict(call("lint", str(ORACLES / expected["file"]), "--output-format", "json").out)
    model, mobility = document["model"], document["mobility"]
    assert (model["bodies"], model["pairs"], model["rows"]) == (
        expected["bodies"],
        expected["pairs"],
        expected["rows"],
    )
    for key in ("rank", "dof", "degree_of_redundancy", "structural_redundancy"):
        assert mobility[key] == expected[key]
    dims = {c["name"]: c["indeterminate_dim"] for c in document["constraints"]}
    assert dims == expected["indeterminate_reaction_dim"]
    assert mobility["gruebler"] == model["columns"] - model["rows"]
    assert mobility["dof"] == model["columns"] - mobility["rank"]
    assert model["holonomic_rows"] + model["pfaffian_rows"] == model["rows"]


@pytest.mark.bullet
def test_json_counts_closures_and_says_their_kind() -> None:
    document = strict(call("lint", MINITAUR, "--samples", "0", "--output-format", "json").out)
    assert document["model"]["closures"] == 4
    assert [c["name"] for c in document["constraints"] if c["kind"] == "closure"] == [
        "foot_front_left",
        "foot_back_left",
        "foot_front_right",
        "foot_back_right",
    ]
    assert document["model"]["files"][0] == MINITAUR


def test_no_number_that_is_not_finite_reaches_json() -> None:
    report = mb.lint(DOOR_2)
    finding = replace(
        report.findings[0],
        evidence={"sigma": math.inf, "array": np.array([1.0, math.nan]), "n": np.int64(3), "names": ("a",)},
    )
    document = strict(dumps(lint_document([replace(report, findings=(finding,))])))
    assert document["findings"][0]["evidence"] == {
        "sigma": None,
        "array": [1.0, None],
        "n": 3,
        "names": ["a"],
    }


def test_plain_knows_numpy_and_sets() -> None:
    assert plain({1: np.float64(2.0), "flag": np.bool_(True), "set": {"x"}}) == {
        "1": 2.0,
        "flag": True,
        "set": ["x"],
    }


def test_other_documents_follow_their_schemas() -> None:
    check_against_schema(strict(call("rule", "--output-format", "json").out), "rule")
    check_against_schema(strict(call("matrix", FOUR_BAR, "--output-format", "json").out), "matrix")


@pytest.mark.long
def test_scene_schema_accepts_the_assets() -> None:
    tomllib = pytest.importorskip("tomllib" if sys.version_info >= (3, 11) else "tomli")
    for file in sorted(ASSETS.glob("*.scene.toml")):
        check_against_schema(tomllib.loads(file.read_text(encoding="utf-8")), "scene")


def test_verdict_of_each_kind(tmp_path: Path) -> None:
    assert verdict(mb.lint(DOOR_2)).endswith(": 5 redundant constraints, mobility 1 (Grübler: -4)")
    assert verdict(mb.lint(DOOR_1)).endswith(": no redundant constraint, mobility 1")
    fold = verdict(mb.lint(str(ORACLES / "four_bar_fold_rectangle.sdf")))
    assert "4 redundant constraints at this singular pose (3 elsewhere), mobility 2" in fold
    (tmp_path / "no.urdf").write_text("")
    assert verdict(mb.lint(str(tmp_path / "no.urdf"))).endswith(
        "no.urdf: unusable input, nothing was analyzed"
    )
    assert "in the zx plane" in verdict(mb.lint(FOUR_BAR, planar="zx"))


@pytest.mark.bullet
def test_text_names_exactly_the_non_unique_reactions() -> None:
    report = mb.lint(MINITAUR, samples=0)
    assert report.analysis is not None
    section = (
        lint_text([report], detail="full").split("Non-unique reactions in a rigid model")[1].split("\n\n")[0]
    )
    shown = set(re.findall(r"[\w→]+", section.partition("\n")[2]))
    for constraint in report.analysis.constraints:
        assert (constraint.name in shown) == (not constraint.unique)


def test_lines_fit_the_width() -> None:
    report = mb.lint(MINITAUR, samples=0)
    for width, detail in itertools.product((60, 80, PLAIN_WIDTH), get_args(Detail)):
        for line in lint_text([report], width, detail=detail).splitlines():
            # a single name or path may be longer than a line
            assert len(line) <= width or len(line.split(maxsplit=1)[-1].split()) <= 2, line


def test_the_remedy_in_the_text_can_be_pasted(tmp_path: Path) -> None:
    """What stands under "What to change", put into the scene file, leaves nothing redundant."""
    text = call("lint", str(ASSETS / "four_bar.scene.toml"), "-v").out
    section = text.split("What to change")[1].partition("\n")[2].split("\n  or ")[0].split("\n\nHow ")[0]
    (tmp_path / "four_bar.urdf").write_text((ASSETS / "four_bar.urdf").read_text())
    fixed = tmp_path / "fixed.scene.toml"
    lines = "\n".join(line.strip() for line in section.splitlines())
    fixed.write_text((ASSETS / "four_bar.scene.toml").read_text() + "\n" + lines + "\n")
    before, after = mb.lint(ASSETS / "four_bar.scene.toml").analysis, mb.lint(fixed).analysis
    assert before is not None and after is not None
    assert (before.degree_of_redundancy, after.degree_of_redundancy) == (3, 0)
    assert after.dof == before.dof


def test_every_remedy_in_the_json_can_be_pasted(tmp_path: Path) -> None:
    (tmp_path / "four_bar.urdf").write_text((ASSETS / "four_bar.urdf").read_text())
    scene = (ASSETS / "four_bar.scene.toml").read_text()
    document = lint_document([mb.lint(ASSETS / "four_bar.scene.toml")])
    assert document["remedies"]
    for remedy in document["remedies"]:
        fixed = tmp_path / "fixed.scene.toml"
        fixed.write_text(f"{scene}\n{remedy['toml']}\n")
        analysis = mb.lint(fixed).analysis
        assert analysis is not None
        assert (analysis.degree_of_redundancy, analysis.dof) == (0, remedy["dof"])


@pytest.mark.bullet
@pytest.mark.parametrize(("tolerance", "redundant"), [("1e-4", "4"), ("1e-6", "0")])
def test_the_used_plateau_is_marked(tolerance: str, redundant: str) -> None:
    text = call("lint", MINITAUR, "-v", "--samples", "0", "--tolerance", tolerance).out
    used = [line for line in text.splitlines() if line.endswith("(used)")]
    assert len(used) == 1
    assert f": {redundant} redundant constraints" in used[0]


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({"TERM": "xterm-256color"}, True), ({"TERM": "xterm-256color", "NO_COLOR": "1"}, False)],
    ids=["colour", "NO_COLOR"],
)
def test_colour_on_a_terminal(environment: dict[str, str], coloured: bool) -> None:
    leader, follower = pty.openpty()
    inherited = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    subprocess.run(
        [sys.executable, "-m", "mbplugin", "lint", DOOR_2],
        stdout=follower,
        check=True,
        timeout=120,
        env={**inherited, **environment},
    )
    os.close(follower)
    shown = os.read(leader, 100_000).decode()
    os.close(leader)
    assert "5 redundant constraints" in shown
    assert ("\x1b[3" in shown) == coloured


def test_wrapped_breaks_at_blanks_and_after_dashes() -> None:
    assert list(wrapped("one two three", 8, "- ", "  ")) == ["- one", "  two", "  three"]
    assert list(wrapped("aaa–bbb–ccc", 9)) == ["aaa–bbb–", "ccc"]
    assert list(wrapped("", 9, "  ")) == [""]
    text = "the loop a–b–c restrains rotation about x twice"
    assert " ".join(" ".join(wrapped(text, 20)).split()).replace("– ", "–") == text


def test_words() -> None:
    assert (counted(1, "row"), counted(2, "row")) == ("1 row", "2 rows")
    assert listed(["a", "b"]) == "a, b"
    assert listed([str(k) for k in range(30)], most=3) == "0, 1, 2 and 27 more"


def test_names_with_the_same_words_are_one_sentence() -> None:
    said = ["a: its torque is 3", "as it is", "b: its torque is 4", "c: its torque is 3", "or not"]
    assert joined_by_words(said) == ("a, c: its torque is 3", "as it is", "b: its torque is 4", "or not")


@pytest.mark.parametrize("kind", ["text", "html"])
def test_assumed_brakes_with_the_same_numbers_are_one_sentence(kind: str) -> None:
    text = call("estop", str(ASSETS / "arm_6r.scene.toml"), "--output-format", kind).out
    assert "j1, j2: no brake is stated, torque assumed as the effort limit, 900" in text
    assert text.count("no brake is stated") == 5
