"""Every rule against its fixture pair, and the rules that have an oracle against that.

``tests/cases/err/mbNNN.*`` triggers rule MBNNN and no other, at the line that says HERE;
``tests/cases/ok/mbNNN.*`` is the same model mended. Scenes ignore the rules that cannot but follow
from the same cause. Run as a program, this file prints ``docs/rules.md``.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

import mbplugin as mb
from mbplugin import errors
from mbplugin.linter.fixes.proposals import fix_of
from mbplugin.linter.rule import Rule, find_rule, rules
from mbplugin.linter.run import Report
from mbplugin.model.scene import Origin
from places import ROOT

CASES = ROOT / "tests" / "cases"
SECTIONS = ("What it does", "Why it matters", "Example", "Remedy", "References")
#: Rules without fixtures, and why.
WITHOUT_CASE = {
    "MB129": "needs OpenUSD: tests/readers/test_usd.py",
    "MB147": "needs OpenUSD: tests/linter/test_articulation_loops.py",
    "MB165": "needs OpenUSD: tests/linter/test_articulation_loops.py",
    "MB900": "for errors that are none of the others; no reader raises it",
    "MB909": "needs an environment in which an optional package is missing",
    "MB911": "needs a rule that fails: tests/test_own_rules.py",
    "MB912": "needs a bug: tests/test_many_files.py",
    "MB913": "is about a configuration: tests/test_config.py",
    "MB915": "is about the time of a run: tests/test_run_budget.py",
}
#: Where the file that offends says nothing about the line.
WITHOUT_LINE = {"MB901": "the file is empty", "MB503": "the pose is nobody's line"}

all_rules = pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.code)
#: Rules that need PyBullet.
WITH_BULLET = {"MB135"}
with_case = pytest.mark.parametrize(
    "rule",
    [
        pytest.param(rule, id=rule.code, marks=[pytest.mark.bullet] * (rule.code in WITH_BULLET))
        for rule in rules()
        if rule.code not in WITHOUT_CASE
    ],
)


def case(folder: str, rule: Rule) -> Path:
    beside = (".srdf", ".stl")
    found = sorted((CASES / folder).glob(f"{rule.code.lower()}.*"))
    found = [path for path in found if path.suffix not in beside]
    assert found, f"{rule.code} has no fixture in {folder}"
    return next((path for path in found if path.name.endswith(".scene.toml")), found[0])


def run(folder: str, rule: Rule) -> Report:
    switched_on = [rule.code] if rule.opt_in else []
    # mimics and loops of a URDF are nothing to PyBullet, whatever else is wrong
    apart = [] if rule.code == "MB161" else ["MB161"]
    return mb.lint(
        case(folder, rule),
        package_dirs=[str(CASES / folder)],
        fail_on="note",
        extend_select=switched_on,
        ignore=apart,
    )


# Fixtures


@with_case
def test_an_err_case_triggers_its_rule_once_and_no_other(rule: Rule) -> None:
    report = run("err", rule)
    assert [(f.code, f.name) for f in report.findings] == [(rule.code, rule.name)]
    (finding,) = report.findings
    assert finding.severity == rule.severity
    assert finding.message and "\n" not in finding.message
    assert finding.help
    assert report.exit_code == (2 if rule.code.startswith("MB9") else 1)
    assert Path(finding.file).parent == CASES / "err"


@with_case
def test_an_err_case_is_found_at_its_line(rule: Rule) -> None:
    (finding,) = run("err", rule).findings
    lines = Path(finding.file).read_text().splitlines()
    here = [number for number, line in enumerate(lines, start=1) if "HERE" in line]
    assert here == ([] if rule.code in WITHOUT_LINE else [finding.line])


@with_case
def test_an_ok_case_is_clean(rule: Rule) -> None:
    report = run("ok", rule)
    assert not report.findings
    assert report.exit_code == 0


def test_every_case_belongs_to_a_rule() -> None:
    known = {rule.code.lower() for rule in rules()}
    for folder in ("ok", "err"):
        assert {path.name.partition(".")[0] for path in (CASES / folder).iterdir()} <= known
        assert not set(WITHOUT_CASE) & known


# Documentation


@all_rules
def test_the_docstring_is_the_documentation(rule: Rule) -> None:
    headings = re.findall(r"^(\w[\w ]*)\n-+$", rule.documentation, re.MULTILINE)
    assert tuple(headings) == SECTIONS
    assert re.match(r"[A-Z`].*\.$", rule.summary)
    assert all(len(section.strip()) > 20 for section in re.split(r"\n-+\n", rule.documentation)[1:])


def documentation_page() -> str:
    rows = [
        f"| {r.code} | {r.name} | {r.severity}{', off' * r.opt_in} | {r.summary} | {fix_of(r.code)} |"
        for r in rules()
        if r.code.startswith("MB")
    ]
    return "\n".join(
        [
            "# Rules",
            "",
            "`mbplugin rule CODE` prints what a rule does, why it matters, an example and the remedy.",
            "The table gives the usual severity of its findings. The exit code is 1 for findings at or above",
            "`--fail-on` (default error), and 2 for MB9xx. `--select`, `--ignore` and `[lint] ignore` of a scene",
            "take codes or prefixes of codes. A code is never reused. Rules with *off* are off by default:",
            "`--extend-select`, `extend-select` of the configuration and `[lint] extend_select` of a scene add them to",
            "the others; `--select` selects them as any rule.",
            "",
            "*Fix* says what `lint --fix` does: *safe* leaves the robot as it was read, or corrects what has one near",
            "match; *unsafe* changes its meaning and needs `--unsafe-fixes`; *none*: the remedy is a choice, or",
            "needs what the file does not state.",
            "",
            "| Code | Name | Severity | What it reports | Fix |",
            "|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def test_the_page_lists_the_rules_as_the_registry_knows_them() -> None:
    assert (ROOT / "docs" / "rules.md").read_text() == documentation_page()


def test_every_error_that_lint_reports_has_a_rule() -> None:
    kinds = [errors.MbPluginError, *errors.MbPluginError.__subclasses__()]
    # a request that cannot be meant is raised, not reported
    for kind in (k for k in kinds if k is not errors.BadUsage):
        words = re.findall(r"[A-Z][a-z]+", kind.__name__)
        names = {errors.MbPluginError: "unusable-input", errors.CannotClose: "not-closed"}
        name = names.get(kind, "-".join(words).lower())
        assert find_rule(kind.code).name == name


# Severities that depend


def test_a_rounded_angle_that_moves_nothing_is_not_reported(tmp_path: Path) -> None:
    text = (CASES / "err" / "mb501.urdf").read_text()
    # both sides of the loop rounded alike: the axes stay parallel
    alike = text.replace("1.5707963267948966", "1.5708")
    file = tmp_path / "alike.urdf"
    file.write_text(alike)
    assert not mb.lint(file, select=["MB5"]).findings
    # an axis that is tilted by itself is near-redundant, and the rounded angles are innocent
    at = alike.index('name="j1"')
    file.write_text(alike[:at] + alike[at:].replace('"0 0 1"', '"0 0.00001 1"', 1))
    assert [f.code for f in mb.lint(file, select=["MB5"]).findings] == ["MB502"]


def test_a_pose_asked_for_is_a_note() -> None:
    scene = CASES / "ok" / "mb504.scene.toml"
    (finding,) = mb.lint(scene, q={"j0": 0.1}, select=["MB504"]).findings
    assert finding.severity == "note"
    assert finding.evidence["q"]["j0"] == pytest.approx(0.1)


def test_a_small_gap_is_a_warning() -> None:
    text = (CASES / "err" / "mb504.scene.toml").read_text().replace("1.05", "1.0001")
    (finding,) = mb.lint("gap.scene.toml", text=text, select=["MB504"]).findings
    assert finding.severity == "warning"
    assert finding.evidence["gap_file_m"] == pytest.approx(1e-4, rel=1e-3)


@pytest.mark.parametrize(("type_", "severity"), [("fixed", "note"), ("continuous", "warning")])
def test_zero_mass_matters_where_it_moves(type_: str, severity: str) -> None:
    text = (CASES / "err" / "mb101.urdf").read_text().replace('mass value="-1"', 'mass value="0"')
    text = text.replace('"revolute"', f'"{type_}"')
    findings = mb.lint("case.urdf", text=text, select=["MB101"]).findings
    assert [f.severity for f in findings] == [severity]


# Scenes that came from no file


@pytest.mark.parametrize("path", sorted(CASES.glob("err/*.*")), ids=lambda path: path.name)
def test_no_rule_needs_to_know_where_things_were_written(path: Path) -> None:
    report = mb.lint(path)
    if report.scene is None:
        return
    live = replace(
        report.scene,
        origin={},
        files=(),
        request=None,
        documents=(),
        defects=tuple(replace(defect, origin=None) for defect in report.scene.defects),
    )
    for rule in rules():
        if rule.code in WITH_BULLET and find_spec("pybullet") is None:
            continue
        for finding in rule.check(live, report.analysis):
            assert finding.line == 0


def test_an_origin_without_a_line_names_the_file() -> None:
    assert str(Origin("robot.xml", 0)) == "robot.xml"


if __name__ == "__main__":
    sys.stdout.write(documentation_page())
