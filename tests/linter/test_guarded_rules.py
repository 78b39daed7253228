"""Rules of plug-ins that end the program or write what is not theirs: there is no verdict, and it is said."""

from __future__ import annotations

import json
import shutil
import time
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


@pytest.mark.long
def test_the_model_is_clean_without_them(tmp_path: Path) -> None:
    assert call_process("lint", str(tmp_path / "clean.urdf")).code == 0


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
def test_a_rule_that_never_ends_is_stopped_and_stops_no_other(tmp_path: Path) -> None:
    env = with_rules(tmp_path, "rules:Hangs", "rules:Finds", "hangs_at_import:Rule")
    model = str(tmp_path / "clean.urdf")
    begun = time.monotonic()
    outcome = call_process("lint", model, "--rule-seconds", "1", "--output-format", "json", **env)
    assert 2 < time.monotonic() - begun < 60
    assert outcome.code == 2
    assert found(outcome) == {
        "hangs": "rule ACME207 hangs failed: it was stopped after 1 s",
        "2-entry": "the rule '2-entry' of acme cannot be loaded: RuleTookTooLong: it was stopped after 1 s",
    }
    assert "ACME204" in outcome.out


@pytest.mark.long
def test_a_rule_that_was_stopped_is_not_run_for_every_file(tmp_path: Path) -> None:
    env = with_rules(tmp_path, "rules:Hangs", "rules:Finds")
    models = []
    for k in range(20):
        models.append(str(tmp_path / f"clean{k}.urdf"))
        Path(models[-1]).write_text(URDF)
    begun = time.monotonic()
    outcome = call_process(
        "lint", *models, "--jobs", "1", "--rule-seconds", "3", "--output-format", "json", **env
    )
    assert time.monotonic() - begun < 50
    runs = json.loads(outcome.out)["runs"]
    said = [f["message"] for run in runs for f in run["findings"] if f["code"] == "MB911"]
    first, *later = said
    assert first == "rule ACME207 hangs failed: it was stopped after 3 s"
    assert later == [f"{first} for an earlier file, and not run again"] * 19
    assert all("ACME204" in [f["code"] for f in run["findings"]] for run in runs)


@pytest.mark.long
def test_in_several_processes_a_rule_is_stopped_too(tmp_path: Path) -> None:
    env = with_rules(tmp_path, "rules:Hangs")
    outcome = call_process(
        "lint", DOOR_1, DOOR_2, "--jobs", "2", "--rule-seconds", "1", "--output-format", "json", **env
    )
    assert outcome.code == 2
    runs = json.loads(outcome.out)["runs"]
    said = [f["message"] for run in runs for f in run["findings"] if f["code"] == "MB911"]
    assert len(said) == 2 and all(text.endswith("it was stopped after 1 s") for text in said)


@pytest.mark.long
@pytest.mark.parametrize("rule", ["HangsInC", "Hardened"])
def test_a_rule_that_cannot_be_stopped_ends_the_process(rule: str, tmp_path: Path) -> None:
    env = with_rules(tmp_path, f"rules:{rule}")
    begun = time.monotonic()
    outcome = call_process("lint", str(tmp_path / "clean.urdf"), "--rule-seconds", "0.5", **env)
    assert time.monotonic() - begun < 60
    whose = {"HangsInC": "ACME208 hangs-in-c", "Hardened": "ACME209 hardened"}[rule]
    said = f"mbplugin: the rule {whose} had not ended after 10.5 s; nothing is known about the models.\n"
    assert (outcome.code, outcome.out, outcome.err) == (2, "", said)


@pytest.mark.long
def test_a_rule_that_takes_all_memory_is_named(tmp_path: Path) -> None:
    env = with_rules(tmp_path, "rules:Eats", "rules:Finds")
    outcome = call_process("lint", str(tmp_path / "clean.urdf"), "--output-format", "json", **env)
    assert outcome.code == 2
    assert found(outcome) == {"eats": "rule ACME210 eats failed: it needs more than 4 GiB of memory"}
    assert "ACME204" in outcome.out


@pytest.mark.long_after(1)
@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "1e300"])
def test_a_time_that_means_nothing_is_refused(seconds: str, tmp_path: Path) -> None:
    outcome = call_process("lint", str(tmp_path / "clean.urdf"), "--rule-seconds", seconds)
    assert outcome.code == 2 and "--rule-seconds is" in outcome.err and "Traceback" not in outcome.err


@pytest.mark.long
def test_in_several_processes_every_file_is_told(tmp_path: Path) -> None:
    env = with_rules(tmp_path, "rules:Dies")
    outcome = call_process("lint", DOOR_1, DOOR_2, "--jobs", "2", "--output-format", "json", **env)
    runs = json.loads(outcome.out)["runs"]
    assert outcome.code == 2
    assert [[f["code"] for f in run["findings"]] for run in runs] == [["MB912"]] * 2


@pytest.mark.long
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


@pytest.mark.long
def test_exit_codes_pass_through(tmp_path: Path) -> None:
    """The process that watches adds nothing of its own."""
    env = with_rules(tmp_path, "rules:Finds")
    assert call_process("lint", str(tmp_path / "clean.urdf"), **env).code == 1
    assert call_process("lint", str(tmp_path / "clean.urdf"), "--ignore", "ACME", **env).code == 0
    assert call_process("lint", "--no-such-option", **env).code == 2
    shown = call_process("rule", "ACME204", **env)
    assert (shown.code, shown.err) == (0, "")
