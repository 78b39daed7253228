"""SARIF, GitHub annotations and JUnit XML: valid by their schemas, and the findings of the JSON."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any, get_args
from urllib.parse import unquote

import jsonschema
import pytest
from lxml import etree

import mbplugin as mb
from command_line import DOOR_2, SAMPLE, call, call_process
from github_annotations import annotations
from mbplugin.cli.lint import rendered
from mbplugin.linter.rule import Finding, rules
from mbplugin.linter.run import Report
from mbplugin.report import LintFormat
from mbplugin.report.ci import github_text, gitlab_text, junit_text, sarif_document
from places import ROOT, TESTS

SCHEMAS = TESTS / "schemas"
NASTY = "j%0A,:x\n::error file=a,line=1::boo\r"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: the sample repository, at a place of its own."""
    folder = tmp_path / "repository"
    shutil.copytree(SAMPLE, folder)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    return folder


def report(*findings: Finding, fail_on: Any = "error", source: str = "r.urdf") -> Report:
    return Report(source, findings, None, None, fail_on)


def finding(message: str = "m", severity: Any = "error", **parts: Any) -> Finding:
    return Finding("MB101", "nonpositive-mass", severity, message, **parts)


def runs(*arguments: str) -> list[dict[str, Any]]:
    document = json.loads(call("lint", *arguments, "--output-format", "json").out)
    return list(document.get("runs", [document]))


# SARIF


def validated(log: dict[str, Any]) -> dict[str, Any]:
    schema = json.loads((SCHEMAS / "sarif-2.1.0.json").read_text())
    validator = jsonschema.validators.validator_for(schema)
    validator(schema, format_checker=validator.FORMAT_CHECKER).validate(log)
    (run,) = log["runs"]
    for result in run["results"]:
        # what the schema cannot say, SARIF 2.1.0 sections 3.27.6, 3.27.10 and 3.30
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        for location in result["locations"]:
            assert location.get("physicalLocation", {}).get("region", {"startLine": 1})["startLine"] > 0
    return dict(run)


def test_sarif_is_valid_and_holds_the_findings(repository: Path) -> None:
    run = validated(json.loads(call("lint", "robots", "--output-format", "sarif").out))
    found = [finding for one in runs("robots") for finding in one["findings"]]
    assert len(found) == len(run["results"]) == 5
    for result, finding in zip(run["results"], found, strict=True):
        assert (result["ruleId"], result["level"]) == (finding["code"], finding["severity"])
        assert result["message"]["text"].startswith(finding["message"])
        (location,) = result["locations"]
        physical = location["physicalLocation"]
        assert (repository / physical["artifactLocation"]["uri"]).samefile(finding["file"])
        assert physical["artifactLocation"]["uriBaseId"] == "SRCROOT"
        assert physical["region"] == {"startLine": finding["line"]}
        (logical,) = location["logicalLocations"]
        assert logical["name"] == finding["element"]
        model = Path(finding["file"]).stem
        assert logical["fullyQualifiedName"] == f"{model}/{finding['element']}"


def test_sarif_explains_every_rule() -> None:
    run = validated(json.loads(call("lint", DOOR_2, "--output-format", "sarif").out))
    described = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert list(described) == [rule.code for rule in rules()]
    for rule in rules():
        entry = described[rule.code]
        assert entry["shortDescription"]["text"] == rule.summary
        assert rule.remedy in " ".join(entry["help"]["text"].split())
        assert entry["defaultConfiguration"]["level"] == rule.severity


def test_sarif_tells_unusable_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.urdf").write_text("<robot")
    outcome = call("lint", "bad.urdf", "missing.urdf", "-", "--output-format", "sarif")
    run = validated(json.loads(outcome.out))
    assert outcome.code == 2
    assert run["invocations"] == [{"executionSuccessful": False, "exitCode": 2}]
    places = [result["locations"][0].get("physicalLocation") for result in run["results"]]
    # stdin is not an artifact
    assert [p and p["artifactLocation"]["uri"] for p in places] == ["bad.urdf", "missing.urdf", None]


@pytest.mark.parametrize("name", ["my robot.urdf", "größe.urdf", "a%20b#c?.urdf", "\udcff.urdf"])
def test_sarif_escapes_names_of_files(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = validated(sarif_document([report(finding(file=name, line=3))]))
    uri = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert unquote(uri, errors="surrogateescape") == name
    assert not set(uri) & set(" ?#ß")


def test_a_file_outside_the_repository_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(inside))
    run = validated(sarif_document([report(finding(file="../other.urdf", line=3))]))
    artifact = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": (tmp_path / "other.urdf").as_uri()}


@pytest.mark.parametrize("marker", [".git", "workspace"])
def test_paths_are_seen_from_the_root_of_the_repository(
    marker: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if marker == ".git":
        (repository / ".git").mkdir()
    else:
        monkeypatch.setenv("GITHUB_WORKSPACE", str(repository))
    monkeypatch.chdir(repository / "robots")
    (annotation,) = annotations(call("lint", "gripper.urdf", "--output-format", "github").out)
    assert annotation["file"] == "robots/gripper.urdf"


# GitHub annotations


def test_annotations_are_the_findings_at_their_lines(repository: Path) -> None:
    outcome = call("lint", "robots", "--output-format", "github")
    found = annotations(outcome.out)
    said = [(a["command"], a["file"], a["title"].split()[0]) for a in found]
    bar, gripper = "robots/four_bar.sdf", "robots/gripper.urdf"
    notes = [("notice", bar, code) for code in ("MB202", "MB301", "MB401")]
    assert said == [("warning", bar, "MB201"), *notes, ("error", gripper, "MB103")]
    lines = [(repository / a["file"]).read_text().splitlines()[int(a["line"]) - 1] for a in found]
    assert [re.findall(r'name="(\w+)"|(izz="0.005")', line)[0] for line in lines] == [
        ("rocker_hinge", ""),
        ("rocker_hinge", ""),
        ("rocker_hinge", ""),
        ("crank", ""),
        ("", 'izz="0.005"'),
    ]
    assert outcome.out.splitlines()[-1].startswith("3 runs: 1 passed, 2 failed, 0 unusable; 1 error")


def test_no_name_breaks_out_of_an_annotation() -> None:
    text = github_text([report(finding(NASTY, element=NASTY, file="a,b:c.urdf", line=2, help=NASTY))])
    command, summary = text.splitlines()
    assert summary.startswith("1 run: ")
    (annotation,) = annotations(command)
    shown = "j%0A,:x\\u000a::error file=a,line=1::boo\\u000d"
    # the first line of the help repeats a part of it, the others are there to be pasted
    assert annotation["message"] == shown
    assert annotation["title"] == f"MB101 nonpositive-mass [{shown}]"
    assert annotation["file"].endswith("a,b:c.urdf")


def test_severities_of_annotations() -> None:
    text = github_text([report(*(finding(severity=s) for s in ("error", "warning", "note")))])
    assert [a["command"] for a in annotations(text)] == ["error", "warning", "notice"]


# GitLab Code Quality


def quality(text: str) -> list[dict[str, Any]]:
    """Return the entries of a report that GitLab takes: these keys, no byte order mark, unique fingerprints."""
    entries = json.loads(text)
    for entry in entries:
        assert set(entry) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert entry["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert set(entry["location"]) == {"path", "lines"} and entry["location"]["lines"]["begin"] >= 1
        assert entry["location"]["path"] and not entry["location"]["path"].startswith("./")
    assert len({entry["fingerprint"] for entry in entries}) == len(entries)
    return list(entries)


def test_gitlab_names_the_findings_at_their_lines(repository: Path) -> None:
    entries = quality(call("lint", "robots", "--output-format", "gitlab").out)
    found = [finding for one in runs("robots") for finding in one["findings"]]
    assert [(e["check_name"], e["location"]["path"]) for e in entries] == [
        (f["code"], Path(f["file"]).as_posix()) for f in found
    ]
    assert [e["location"]["lines"]["begin"] for e in entries] == [f["line"] for f in found]


def test_gitlab_recognizes_a_finding_that_moved_to_another_line(repository: Path) -> None:
    before = quality(call("lint", "robots", "--output-format", "gitlab").out)
    file = repository / "robots" / "gripper.urdf"
    file.write_text(file.read_text().replace("<robot", "<!-- one\nmore -->\n<robot", 1))
    after = quality(call("lint", "robots", "--output-format", "gitlab").out)
    assert [e["fingerprint"] for e in after] == [e["fingerprint"] for e in before]
    assert after != before


def test_gitlab_takes_findings_that_are_alike_and_those_without_a_file() -> None:
    twice = [finding(severity=s) for s in ("error", "warning", "note", "note")]
    entries = quality(gitlab_text([report(*twice, source="<stdin>"), report(finding(NASTY, element=NASTY))]))
    assert [e["severity"] for e in entries] == ["critical", "major", "info", "info", "critical"]
    assert entries[0]["location"] == {"path": "<stdin>", "lines": {"begin": 1}}


# JUnit XML


def junit(text: str) -> Any:
    root = etree.fromstring(text.encode())
    etree.XMLSchema(file=str(SCHEMAS / "junit-10.xsd")).assertValid(root)
    return root


def test_junit_has_a_case_per_file(repository: Path) -> None:
    (repository / "robots" / "torn.urdf").write_text("<robot")
    root = junit(call("lint", "robots", "--output-format", "junit").out)
    cases = {case.get("name"): [child.tag for child in case] for case in root.iter("testcase")}
    assert cases == {
        "robots/arm.urdf": [],
        "robots/four_bar.sdf": ["failure", "system-out"],
        "robots/gripper.urdf": ["failure"],
        "robots/torn.urdf": ["error"],
    }
    suite = root.find("testsuite")
    assert [suite.get(key) for key in ("tests", "failures", "errors")] == ["4", "2", "1"]
    texts = ["".join(case.itertext()) for case in root.iter("testcase")]
    for run, text in zip(runs("robots"), texts, strict=True):
        for finding in run["findings"]:
            assert finding["code"] in text
            assert finding["message"].split(":")[0] in " ".join(text.split())


def test_junit_fails_at_the_threshold_only() -> None:
    found = [finding(severity=s) for s in ("error", "warning", "note")]
    (case,) = junit(junit_text([report(*found, fail_on="warning")])).iter("testcase")
    assert [child.tag for child in case] == ["failure", "system-out"]
    assert re.findall(r"^\w+", case[0].text, re.MULTILINE) == ["error", "warning"]
    assert re.findall(r"^\w+", case[1].text, re.MULTILINE) == ["note"]


def test_junit_can_hold_any_text() -> None:
    nasty = 'a<b>&"\x01\x02\ufffe\ud800]]>'
    (case,) = junit(junit_text([report(finding(nasty), source=nasty)])).iter("testcase")
    assert 'a<b>&"\\u0001\\u0002\\ufffe\\ud800]]>' in case[0].text
    assert case.get("name").startswith('a<b>&"\\u0001')


# Text


@pytest.mark.long_after(1)
@pytest.mark.parametrize("columns", [60, 80, 120])
def test_text_fits_the_terminal(columns: int) -> None:
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    inherited = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    command = [sys.executable, "-m", "mbplugin", "lint", DOOR_2]
    environment = {**inherited, "TERM": "xterm-256color"}
    subprocess.run(command, stdout=follower, check=True, timeout=120, env=environment)
    os.close(follower)
    shown = os.read(leader, 100_000).decode()
    os.close(leader)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()
    assert 0.8 * columns < max(map(len, lines)) <= columns


@pytest.mark.parametrize("output_format", ["text", "github"])
def test_no_colour_where_nobody_watches(output_format: str) -> None:
    outcome = call_process("lint", DOOR_2, "--output-format", output_format, TERM="xterm-256color")
    assert "redundant" in outcome.out
    assert "\x1b" not in outcome.out


# All of them at once


def test_one_command_writes_several_formats(repository: Path) -> None:
    outcome = call(
        "lint",
        "robots",
        "--output-format",
        "github",
        "--report",
        "sarif=lint.sarif",
        "--report",
        "junit=j.xml",
    )
    assert outcome.code == 1
    assert (repository / "lint.sarif").read_text() == call("lint", "robots", "--output-format", "sarif").out
    assert (repository / "j.xml").read_text() == call("lint", "robots", "--output-format", "junit").out


@pytest.mark.parametrize("text", ["sarif", "sarif=", "pdf=x", "=x"])
def test_a_report_that_is_none_is_refused(text: str) -> None:
    outcome = call("lint", DOOR_2, "--report", text)
    assert (outcome.code, outcome.out) == (2, "")
    assert "FORMAT=FILE" in outcome.err


def test_every_format_takes_every_severity_and_no_finding() -> None:
    reports = [mb.lint(DOOR_2), report()]
    validated(sarif_document(reports))
    junit(junit_text(reports))
    assert len(annotations(github_text(reports))) == len(reports[0].findings)
    assert len(quality(gitlab_text(reports))) == len(reports[0].findings)


def test_every_format_has_its_file_and_its_line_in_the_guide() -> None:
    guide = (ROOT / "docs" / "teams.md").read_text(encoding="utf-8")
    for name in get_args(LintFormat):
        assert f"| `{name}` |" in guide
        assert rendered(name, [report()])
