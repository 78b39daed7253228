"""A minute of models and command lines made from a grammar, and whether the judge sees what it looks for."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import fuzz.structured.judge as judge
from failing_inputs import HELD, Greedy
from fuzz.campaign import Limits, run_campaign
from fuzz.structured import reports
from fuzz.structured.case import Case, case
from fuzz.structured.commands import COMMANDS
from fuzz.structured.dice import Dice
from fuzz.structured.judge import Outcome, outcome
from fuzz.structured.target import Structured

SECONDS = 60.0


@pytest.mark.long
@pytest.mark.parametrize("inputs", [8, pytest.param(600, marks=pytest.mark.long)])
def test_structured_cases_end_with_answers_or_sentences(inputs: int, tmp_path: Path) -> None:
    """The first eight in the loop of a day; as many as a minute takes among the long ones."""
    result = run_campaign(11, Limits(inputs=inputs, seconds=SECONDS), tmp_path, Structured())
    assert not result.failures, result.text()
    assert result.inputs > min(inputs - 1, 10)


def test_seed_and_number_alone_decide_a_case() -> None:
    assert case(3, 5) == case(3, 5) != case(3, 6)
    assert case(4, 5) != case(3, 5)


def test_damaging_a_report_leaves_what_others_are_damaged_with() -> None:
    before = repr(reports._OTHERS)
    for number in range(3000):
        reports.damaged_json({"a": [{"b": 1, "c": [2, 3]}, {"b": 4}], "d": {"e": "f"}}, Dice(f"{number}"))
    assert repr(reports._OTHERS) == before


@pytest.mark.long
def test_every_command_and_every_format_comes() -> None:
    cases = [case(1, number) for number in range(1500)]
    assert {one.arguments[0] for one in cases} == set(COMMANDS)
    assert any("--xacro-arg" in one.arguments for one in cases)
    names = [name for one in cases for name in one.files]
    for ending in (
        ".urdf",
        ".sdf",
        ".xml",
        ".xacro",
        ".srdf",
        "/package.xml",
        ".scene.toml",
        ".yaml",
        ".stl",
        ".gltf",
        ".csv",
        ".npz",
    ):
        assert any(name.endswith(ending) for name in names), ending


def test_no_command_of_the_program_is_left_out() -> None:
    listed = outcome(("--help",)).out.partition("\nOptions:")[0]
    commands = set(re.findall(r"^  ([a-z][a-z-]*)  +\S", listed, re.MULTILINE))
    # what speaks with an editor, what reads no input, and what writes into the repository that it stands in
    assert commands == {*COMMANDS, "server", "doctor", "init"}


@pytest.mark.long
def test_many_cases_are_what_their_author_meant(tmp_path: Path) -> None:
    """A campaign whose cases are all refused at the first word would show nothing."""
    ends = []
    for number in range(120):
        made = case(2, number)
        # earlier reports are damaged on purpose
        if made.arguments[0] not in ("lint", "matrix") or {"--baseline", "--against"} & {*made.arguments}:
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        made.write(folder)
        with judge._in(folder):
            ends.append(outcome(made.arguments).code)
    assert len([code for code in ends if code != 2]) > len(ends) / 4


BAD = {
    "Traceback": Outcome(2, "", "Traceback (most recent call last):\nZeroDivisionError"),
    "exit code 1": Outcome(1, "", ""),
    "exit code 3": Outcome(3, "", ""),
    "without a word": Outcome(2, "", ""),
    "not a sentence of ours": Outcome(0, "", "something went wrong"),
    "warns": Outcome(0, "", "", ("RuntimeWarning: overflow at x.py:1",)),
    "no JSON": Outcome(0, '{"a": NaN}', ""),
    "its schema forbids": Outcome(0, "{}", ""),
}


@pytest.mark.parametrize("said", BAD)
def test_the_judge_sees(said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge._validator("matrix")
    monkeypatch.setattr(judge, "outcome", lambda *a: BAD[said])
    asked = Case(("matrix", "model.urdf", "--output-format", "json"), {})
    assert said in judge.failure_of(asked, tmp_path)


def test_the_judge_sees_nan_in_a_table_and_a_rule_that_failed(tmp_path: Path, monkeypatch) -> None:
    def judged(arguments: tuple[str, ...], out: str) -> str:
        monkeypatch.setattr(judge, "outcome", lambda *a: Outcome(0, out, ""))
        return judge.failure_of(Case(arguments, {}), tmp_path)

    assert "nan" in judged(("simulate", "x"), "energy  nan J")
    assert judged(("simulate", "x"), "energy  1 J of 'nan'") == ""
    finding = {"code": "MB911", "message": "m", "evidence": {"traceback": "ZeroDivisionError"}}
    told = judged(("lint", "x", "--output-format", "json"), json.dumps({"findings": [finding]}))
    assert "ZeroDivisionError" in told


@pytest.mark.long
def test_time_and_memory_of_children_count() -> None:
    result = run_campaign(1, Limits(inputs=4, patience=1.0, memory=HELD), None, Greedy())
    assert result.inputs == 4
    assert {numbers[0]: failure[:4] for failure, numbers in result.failures.items()} == {1: "no a", 2: "more"}
