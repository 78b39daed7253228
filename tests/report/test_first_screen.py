"""The first screen of a lint: every finding in one kind, equal parts as one, and few lines; the page likewise."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import pytest

import mbplugin as mb
from command_line import ASSETS, DOOR_1, DOOR_2, ORACLES, call, call_process
from html_pages import page_of, parsed
from mbplugin.linter import Ignore
from mbplugin.linter.overview import alike, kinds_of, overview_of, pattern_of
from mbplugin.linter.rule import Finding
from mbplugin.linter.run import Report, suppress
from mbplugin.report.documents.lint import lint_document
from mbplugin.report.text.lint import lint_text
from places import ROOT

MODELS = sorted(
    file
    for folder in (ASSETS, ORACLES, ROOT / "tests" / "cases" / "err", ROOT / "tests" / "cases" / "ok")
    for file in folder.iterdir()
    if file.suffix in (".urdf", ".sdf", ".xml", ".toml")
)
MINITAUR = str(ASSETS / "minitaur.scene.toml")
KIND = re.compile(r"^(\d+) (error|warning|note)s? (\w+) ([\w-]+)", re.MULTILINE)


@cache
def report_of(file: Path) -> Report:
    return mb.lint(file, samples=0)


def with_random_waivers(report: Report, random: Random) -> Report:
    """Return a report of whose findings some elements, drawn at random, are waived."""
    drawn = [finding for finding in report.findings if random.random() < 0.4]
    return suppress(report, [Ignore(finding.code, finding.element, "drawn", "*") for finding in drawn])


@pytest.mark.long_after(20)
@pytest.mark.parametrize("file", MODELS, ids=lambda file: file.name)
def test_every_finding_is_counted_in_exactly_one_kind(file: Path) -> None:
    random = Random(file.name)
    for report in (report_of(file), *(with_random_waivers(report_of(file), random) for _ in range(4))):
        overview = overview_of(report)
        kinds = [(kind.severity, kind.code) for kind in overview.kinds]
        assert len(set(kinds)) == len(kinds)
        assert tuple(finding for kind in overview.kinds for finding in kind.findings) == report.findings
        for kind in overview.kinds:
            elements = [name for part in kind.parts for name in part.names]
            assert sorted(elements) == sorted({f.element for f in kind.findings if f.element})
        document = json.loads(json.dumps(lint_document([report]), default=str))
        stated = Counter((one["severity"], one["code"]) for one in document["findings"])
        shown = Counter(
            {(severity, code): int(n) for n, severity, code, _ in KIND.findall(lint_text([report]))}
        )
        assert shown == stated
        assert dict(overview.counts) == {
            severity: sum(n for (own, _), n in stated.items() if own == severity)
            for severity in ("error", "warning", "note")
        }
        assert overview.ignored == len(report.suppressed)
        assert {name for group in overview.distrusted for name in group.names} == {
            one["name"] for one in document["constraints"] if one["reaction"] == "non-unique"
        }


def test_the_waivers_of_that_test_take_findings_away() -> None:
    random = Random(1)
    fewer = [with_random_waivers(report_of(file), random) for file in MODELS]
    assert sum(len(report.suppressed) for report in fewer) > 20


@pytest.mark.parametrize("words", [12, 40])
def test_the_first_kinds_are_shown_in_full_while_the_screen_has_room(words: int) -> None:
    """Six kinds: all whole if they are short, else the first ones, within 25 lines."""
    report = report_of(ASSETS / "four_bar.urdf")
    message = " ".join(f"word{n}" for n in range(words))
    warning = Finding(
        "MB125", "axis-not-normalized", "warning", message, "j0", "four_bar.urdf", 3, {}, "mend it"
    )
    made = tuple(replace(warning, code=f"MB12{n}", message=f"{message} end{n}") for n in range(6))
    text = lint_text([replace(report, findings=made)], 80)
    whole = [n for n in range(6) if f"end{n}\n" in text]
    assert len(text.splitlines()) <= 25
    assert whole == ([*range(6)] if words == 12 else [*range(len(whole))]) and whole
    assert (len(whole) < 6) is (words == 40)


@pytest.mark.bullet
@pytest.mark.parametrize("width", [80, 100, 140])
def test_the_minitaur_fits_a_screen(width: int) -> None:
    text = lint_text([mb.lint(MINITAUR)], width)
    first, second, *others = text.splitlines()
    assert len(others) + 2 <= 25 and max(map(len, text.splitlines())) <= width
    assert first == "minitaur: OVERCONSTRAINED, 4 redundant constraints, mobility 8 (Grübler: 4)"
    assert second == "FAILS: 1 error, 7 warnings, 10 notes"
    place = f"{'assets/' * (width > 80)}minitaur.scene.toml:27, 35, 43"
    assert f"4 warnings MB201 redundant-constraints, 4 feet, {place}" in text
    assert "→ make foot_* point-on-line instead of spherical\n" in text
    assert "Distrust the reactions of 28 of 31 constraints" in text
    for word in ("-v", "--output-format html", "mbplugin explain MB501"):
        assert word in others[-1]


def test_many_kinds_leave_the_verdict_on_the_screen() -> None:
    """Of many kinds the notes take one line each: 24 lines are what a terminal has."""
    notes = tuple(Finding(f"MB1{k:02}", "name", "note", "message", help="remedy") for k in range(16))
    errors = tuple(Finding(f"MB2{k:02}", "name", "error", "message", help="remedy") for k in range(2))
    report = replace(report_of(Path(DOOR_1)), findings=errors + notes)
    lines = lint_text([report]).splitlines()
    assert len(lines) <= 24
    assert sum("→ remedy" in line for line in lines) == 18


def test_assumptions_stand_in_the_first_lines() -> None:
    report = report_of(ASSETS / "arm_6r.urdf")
    assert report.analysis is not None
    standing = replace(report.analysis.mechanism, assumed_fixed=("base",))
    assumed = replace(report, analysis=replace(report.analysis, mechanism=standing))
    head = "\n".join(lint_text([assumed]).splitlines()[:5])
    assert "Assumed: base is taken as fixed to the ground" in head
    assert "Assumed" not in lint_text([report])


def test_mobility_is_that_of_the_joints_and_of_the_base() -> None:
    report = mb.lint(ASSETS / "arm_6r.urdf", base="free")
    first = lint_text([report]).partition("\n")[0]
    assert first == "arm_6r: NOT OVERCONSTRAINED, mobility 12: 6 of the joints, 6 of the free base"


# Equal parts


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["foot_front_left", "foot_back_right", "foot_rear_left"], ["3 feet"]),
        (["FL_foot", "FR_foot", "RL_foot", "RR_foot"], ["4 feet"]),
        (["left_wheel_joint", "right_wheel_joint"], ["2 *_wheel_joint"]),
        (["motor_front_rightR_joint", "motor_back_leftL_joint"], ["2 motor_*_joint"]),
        (["finger1_body", "finger2_body", "palm"], ["2 finger*_body", "palm"]),
        (["bodyLeft", "bodyRight", "body_of_the_arm"], ["bodyLeft, bodyRight", "body_of_the_arm"]),
        (["j0", "j1", "j2"], ["j0, j1, j2"]),
        (["left", "right"], ["left", "right"]),
        (["1", "2"], ["1", "2"]),
        ([], []),
    ],
)
def test_equal_parts_are_one(names: list[str], labels: list[str]) -> None:
    assert [group.label for group in alike(names)] == labels


def test_a_pattern_keeps_what_says_which_part_it_is() -> None:
    assert pattern_of("upper_leg_front_leftR_link") == "upper_leg_*_link"
    assert pattern_of("lower_leg_front_leftR_link") == "lower_leg_*_link"
    assert pattern_of("chassis") == "chassis"


def test_findings_with_other_numbers_or_remedies_are_not_equal() -> None:
    def finding(side: str, rank: float, help: str = "mend {}") -> Finding:
        name = f"foot_{side}"
        return Finding("MB201", "n", "warning", "m", name, "r.urdf", 1, {"p": rank}, help.format(name))

    (kind,) = kinds_of([finding("left", 1.0), finding("right", 1.0000001)])
    assert [part.names for part in kind.parts] == [("foot_left", "foot_right")]
    assert kind.remedies == ("mend foot_*",)
    (kind,) = kinds_of([finding("left", 1.0), finding("right", 2.0)])
    assert [part.pattern for part in kind.parts] == ["foot_left", "foot_right"]
    assert kind.remedies == ("mend foot_left", "mend foot_right")
    (kind,) = kinds_of([finding("left", 1.0), finding("right", 1.0, "replace {}")])
    assert kind.remedies == ("mend foot_left", "replace foot_right")


# Several robots; a pipe; the page


def test_of_several_robots_each_has_its_block_and_the_totals_are_last() -> None:
    done = call("lint", DOOR_1, DOOR_2, str(ORACLES / "no.urdf"))
    assert done.code == 2
    blocks = done.out.split("\n\n")
    assert len(blocks) == 4
    for block, verdict in zip(
        blocks, ("NOT OVERCONSTRAINED", "OVERCONSTRAINED", "UNUSABLE INPUT"), strict=False
    ):
        assert f": {verdict}," in " ".join(block.split())
    assert blocks[-1].splitlines()[0].startswith("3 runs: 2 passed, 0 failed, 1 unusable; 1 error, ")
    assert done.out.count("More: ") == 1
    assert "1 error MB901 unreadable-file" in done.out and "check the path" in done.out


@pytest.mark.long
@pytest.mark.parametrize("option", [(), ("-v",)], ids=["brief", "full"])
def test_a_pipe_gets_no_colour(option: tuple[str, ...]) -> None:
    done = call_process("lint", DOOR_2, *option, TERM="xterm-256color", FORCE_COLOR="")
    assert done.code == 0 and "\x1b" not in done.out + done.err


def test_the_page_has_the_kinds_with_their_findings_folded() -> None:
    page = parsed(page_of("lint", DOOR_2))
    report = report_of(Path(DOOR_2))
    kinds = page.xpath("//details[@class='kind']")
    assert len(kinds) == len(kinds_of(report.findings)) > 1
    for shown, kind in zip(kinds, kinds_of(report.findings), strict=True):
        assert shown.get("open") is None
        summary = " ".join(shown.xpath("string(./summary)").split())
        assert kind.code in summary and kind.name in summary and kind.remedies[0].rstrip(":") in summary
        assert len(shown.xpath(".//tbody/tr")) == kind.count
