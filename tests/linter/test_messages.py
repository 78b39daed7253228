"""Messages: short in every output, whole in the JSON; and lines that a finding offers end it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import mbplugin as mb
from command_line import call
from github_annotations import annotations
from mbplugin.choices import SIMULATORS
from mbplugin.linter.rule import LONGEST, Finding
from mbplugin.phrases import shortened
from mbplugin.report.ci import github_text, sarif_document
from mbplugin.report.text.lint import finding_text
from places import ASSETS, ROOT

CASES = sorted((ROOT / "tests" / "cases" / "err").glob("*.*"))
MODELS = [file for file in sorted(ASSETS.iterdir()) if file.suffix in (".urdf", ".sdf", ".xml", ".toml")]


@pytest.mark.long_after(20)
@pytest.mark.parametrize("file", [*CASES, *MODELS], ids=lambda path: path.name)
def test_no_message_is_longer_than_an_annotation_shows(file: Path) -> None:
    report = mb.lint(file, extend_select=["MB"], targets=SIMULATORS)
    assert all(len(f.message) <= LONGEST for f in report.findings)
    assert all(len(f.help.partition("\n")[0]) <= LONGEST for f in report.findings)
    results = sarif_document([report])["runs"][0]["results"]
    assert all(len(result["message"]["text"]) <= LONGEST for result in results)
    for annotation in annotations(github_text([report])):
        assert len(annotation["message"]) <= LONGEST
    for finding in report.findings:
        # the text breaks lines, also after dashes, and says no more than the message
        text = "".join(finding_text(finding).partition("help: ")[0].split())
        assert text.endswith("".join(finding.message.split()))


def test_long_names_are_cut_in_the_message_and_whole_in_the_evidence() -> None:
    name = "x" * 900
    text = (ROOT / "tests" / "cases" / "err" / "mb103.urdf").read_text().replace('"arm"', f'"{name}"')
    (finding,) = mb.lint("long.urdf", text=text, select=["MB103"]).findings
    assert finding.element == name
    assert len(finding.message) <= LONGEST
    assert name in finding.evidence["full_message"]
    again = replace(finding, severity="note")
    assert (again.message, again.evidence["full_message"]) == (
        finding.message,
        finding.evidence["full_message"],
    )


@pytest.mark.parametrize("length", [1, 299, 300, 301, 5000])
def test_a_text_is_cut_to_size(length: int) -> None:
    text = "".join(chr(97 + k % 26) for k in range(length))
    cut = shortened(text, LONGEST)
    assert len(cut) <= LONGEST
    assert cut == text if length <= LONGEST else (cut[:50], cut[-50:]) == (text[:50], text[-50:])


def test_a_sentence_is_cut_between_words() -> None:
    text = " ".join(f"word{k}" for k in range(200))
    for most in range(40, 400):
        cut = shortened(text, most)
        head, tail = cut.split(" … ")
        assert len(cut) <= most and set(head.split()) | set(tail.split()) <= set(text.split())


def test_a_long_message_leaves_the_remedy_to_the_help_of_the_finding(tmp_path: Path) -> None:
    file = tmp_path / "world.sdf"
    uri = f"https://example.org/1.0/{'some%20model/' * 9}"
    file.write_text(f"<sdf version='1.9'><world name='w'><include><uri>{uri}</uri></include></world></sdf>")
    (finding,) = mb.lint(file).findings
    assert "package_dirs" in finding.help and "package_dirs" not in finding.message


def severities(findings: tuple[Finding, ...]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for finding in findings:
        out.setdefault(finding.severity, []).append(finding.code)
    return out


@pytest.mark.parametrize("code", ["mb201", "mb202", "mb204", "mb301", "mb401"])
def test_lines_that_the_finding_offers_end_it_and_nothing_worse_appears(code: str) -> None:
    """The remedy is pasted into the scene, whose table it refines; what is left is milder than before."""
    file = ROOT / "tests" / "cases" / "err" / f"{code}.scene.toml"
    scene = re.sub(r"\[lint\]\n(.*\n)*?\n", "", file.read_text(), count=1)
    before = mb.lint(file, text=scene)
    assert before.analysis is not None
    mended = scene
    for change in before.analysis.remedies[0].changes:
        pattern = rf'(name = "{change.constraint}"\ntype = )"{change.old}"'
        mended, count = re.subn(pattern, rf'\1"{change.new}"', mended)
        assert count == 1
        assert change.axis is None or change.axis == (0.0, 0.0, 1.0)
    after = mb.lint(file, text=mended)
    assert before.findings and not set(severities(after.findings)) & {"error", "warning"}


def test_a_closure_that_is_stated_twice_is_removed() -> None:
    file = ROOT / "tests" / "cases" / "err" / "mb205.scene.toml"
    before, _, second = file.read_text().rpartition("[[closure]]")
    assert 'name = "again"' in second
    assert [f.code for f in mb.lint(file, select=["MB205"]).findings] == ["MB205"]
    assert not mb.lint(file, text=before).findings


def test_the_text_says_who_works_against_whom_once(tmp_path: Path) -> None:
    file = str(ROOT / "assets" / "four_bar.scene.toml")
    text, verbose = call("lint", file, "-v").out, call("lint", file, "-vv").out
    assert text.count("translation along z of j3: j0, j1, j2, j3") == 1
    assert "carried by" not in text
    assert verbose.count("translation along z of j3: j0 (tz ry); j1 (tz rx ry); j2 (tz rx); j3 (tz)") == 1
    stress = json.loads(call("lint", file, "--output-format", "json").out)["self_stresses"][0]
    assert (stress["restrains"], stress["closed_by"]) == ("translation along z", "j3")
    assert stress["loop"] == "ground–crank–coupler–rocker"
