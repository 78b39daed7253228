"""Rules of plug-ins that end the program or write what is not theirs: there is no verdict, and it is said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from command_line import DOOR_1, DOOR_2, ROOT, Outcome, call_process

ATTACKS = ROOT / "tests" / "attacks"
URDF = '<robot name="clean"><link name="a"/></robot>'


@pytest.fixture(autouse=True)
def _distribution(tmp_path: Path) -> None:
    shutil.copytree(ATTACKS, tmp_path / "site", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "clean.urdf").write_text(URDF)


def with_rules(folder: Path, *entries: str) -> dict[str, str]:
    """Return the environment of a process in which a distribution announces rules."""
    info = folder / "site" / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    lines = [f"{k}-entry = {entry}" for k, entry in enumerate(entries)]
    (info / "entry_points.txt").write_text("\n".join(["[mbplugin.rules]", *lines, ""]))
    return {"PYTHONPATH": f"{folder / 'site'}:{ROOT}"}


def found(outcome: Outcome) -> dict[str, str]:
    assert "Traceback" not in outcome.err
    findings = json.loads(outcome.out)["findings"]
    return {f["element"]: f["message"] for f in findings if f["code"] == "MB911"}


def test_the_model_is_clean_without_them(tmp_path: Path) -> None:
    assert call_process("lint", str(tmp_path / "clean.urdf")).code == 0


def test_a_rule_that_exits_is_named_and_stops_no_other(tmp_path: Path) -> None:
    env = with_rules(
        tmp_path, "rules:Leaves", "leaves_at_import:Rule", "rules:Mute", "rules:Unwritable", "rules:Finds"
    )
    outcome = call_process("lint", str(tmp_path / "clean.urdf"), "--output-format", "json", **env)
    assert outcome.code == 2
    assert found(outcome) == {
        "leaves": "rule ACME201 leaves failed: 0 (SystemExit)",
        "mute": "rule ACME205 mute failed: no reason given (Unspeakable)",
        "unwritable": "rule ACME206 unwritable failed: the message of its finding is int, not str"
        " (TypeError)",
        "1-entry": "the rule '1-entry' of acme cannot be loaded: SystemExit: 0",
    }
    assert "ACME204" in outcome.out


@pytest.mark.parametrize(
    ("entry", "whose"),
    [("rules:Dies", "the rule ACME202 dies"), ("dies_at_import:Rule", "the rule '0-entry' of acme")],
)
@pytest.mark.parametrize("output_format", ["text", "json"])
def test_a_rule_that_ends_the_process_leaves_no_verdict(
    entry: str, whose: str, output_format: str, tmp_path: Path
) -> None:
    env = with_rules(tmp_path, entry)
    outcome = call_process("lint", str(tmp_path / "clean.urdf"), "--output-format", output_format, **env)
    said = f"mbplugin: {whose} ended the process by exit code 0; nothing is known about the models.\n"
    assert (outcome.code, outcome.out, outcome.err) == (2, "", said)


def test_in_several_processes_every_file_is_told(tmp_path: Path) -> None:
    env = with_rules(tmp_path, "rules:Dies")
    outcome = call_process("lint", DOOR_1, DOOR_2, "--jobs", "2", "--output-format", "json", **env)
    runs = json.loads(outcome.out)["runs"]
    assert outcome.code == 2
    assert [[f["code"] for f in run["findings"]] for run in runs] == [["MB912"]] * 2


@pytest.mark.parametrize("output_format", ["text", "github", "junit", "sarif"])
def test_no_text_of_a_plugin_begins_a_line(output_format: str, tmp_path: Path) -> None:
    """GitHub obeys every line of a log that begins with two colons, blanks before them or not."""
    env = with_rules(tmp_path, "rules:Writes", "rules:Finds", "raises_at_import:Rule")
    outcome = call_process("lint", str(tmp_path / "clean.urdf"), "--output-format", output_format, **env)
    assert outcome.code == 2
    text = outcome.out + outcome.err
    assert "forged" in text
    forged = ("::error title=forged", "::error file=x", "::warning::b", "::notice::this")
    assert not [line for line in text.splitlines() if line.strip().startswith(forged)]
    assert "\x1b" not in text


def test_exit_codes_pass_through(tmp_path: Path) -> None:
    """The process that watches adds nothing of its own."""
    env = with_rules(tmp_path, "rules:Finds")
    assert call_process("lint", str(tmp_path / "clean.urdf"), **env).code == 1
    assert call_process("lint", str(tmp_path / "clean.urdf"), "--ignore", "ACME", **env).code == 0
    assert call_process("lint", "--no-such-option", **env).code == 2
    shown = call_process("rule", "ACME204", **env)
    assert (shown.code, shown.err) == (0, "")
