"""Every planted defect in every robot: found by its rule, at its line, and no other error appears."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import mbplugin as mb
from mbplugin.linter.rule import Finding, find_rule
from mbplugin.linter.run import Report
from places import ASSETS
from planted import PlantedDefect, PlantedFile, all_defects, planted, robots, unchanged

DEFECTS = tuple(all_defects())
#: Defects that are not found in a robot, and why.
NOT_FOUND = {
    ("arm_6r.urdf", "tonnes for kilograms"): "no shape: a light flange is possible",
    ("panda.urdf", "tonnes for kilograms"): "the finger weighs too much for its size before",
    ("panda.urdf", "twin with another inertia"): "MB105 reports it, and MB142 reports its twin",
    ("aliengo.urdf", "misspelt element of a joint"): "it states zeros, with which nothing is lost",
    ("aliengo.urdf", "moving link without inertial"): "a toe with mass is fixed to the link",
    ("r2d2.urdf", "moving link without inertial"): "a link with mass is fixed to it",
    ("r2d2.urdf", "twin with another inertia"): "its twin has the placeholder of MB104",
    ("r2d2.urdf", "twin at another place"): "the left gripper is placed by another frame",
}
PLANTED = [(source, defect) for source in robots() for defect in DEFECTS]


def lint(file: PlantedFile) -> Report:
    return mb.lint(file.path, package_dirs=[file.packages])


@cache
def found_before(source: Path) -> tuple[Finding, ...]:
    with TemporaryDirectory() as folder:
        return lint(unchanged(source, Path(folder))).findings


def lines_of(finding: Finding, file: Path) -> set[int]:
    """Return the lines that a finding names in a file: its own, and those of its list."""
    places = [str(place) for place in finding.evidence.get("places", ())]
    parts = [place.rpartition(":") for place in places if place]
    named = {int(line) for name, _, line in parts if Path(name) == file}
    return named | ({finding.line} if Path(finding.file) == file else set())


def seen(report: Report, defect: PlantedDefect, file: PlantedFile) -> bool:
    codes = defect.code.split()
    return any(f.code in codes and lines_of(f, file.file) & file.lines for f in report.findings)


def facts(finding: Finding) -> list[tuple[str, str, str]]:
    """Return code and element of all that a finding lists, and what it compares of a link."""
    compared = finding.evidence.get("links", {})
    details = compared if isinstance(compared, dict) else {}
    return [(finding.code, element, str(details.get(element))) for element in finding.elements]


def new_errors(report: Report, defect: PlantedDefect, before: tuple[Finding, ...]) -> list[str]:
    known = Counter((f.code, f.element) for f in before)
    return [
        f.code
        for f in report.findings
        if f.severity == "error" and (f.code, f.element) not in known and f.code not in defect.code.split()
    ]


def check(source: Path, defect: PlantedDefect, folder: Path) -> bool | None:
    """Return whether a defect is found, and require that nothing else is; None where it has no place."""
    file = planted(defect, source, folder)
    if file is None:
        return None
    report = lint(file)
    assert not new_errors(report, defect, found_before(source)), defect.name
    assert all(len(f.message) <= 300 for f in report.findings if "MB120" <= f.code < "MB200")
    return seen(report, defect, file)


def test_there_are_sixty_defects_and_every_rule_that_finds_one_exists() -> None:
    assert len(DEFECTS) >= 60
    for defect in DEFECTS:
        for code in defect.code.split():
            find_rule(code)


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name.replace(" ", "-"))
def test_a_defect_in_an_arm_is_found_at_its_line(defect: PlantedDefect, tmp_path: Path) -> None:
    source = ASSETS / "arm_6r.urdf"
    if (source.name, defect.name) not in NOT_FOUND:
        assert check(source, defect, tmp_path) in (True, None)


@pytest.mark.parametrize(
    ("robot", "name"),
    [
        ("arm_6r.urdf", "mesh in millimetres"),
        ("arm_6r.urdf", "mesh scaled to micrometres"),
        ("arm_6r.urdf", "one inertia for several masses"),
        ("model.urdf", "mass with three digits too many"),
        ("aliengo.urdf", "one inertia for several masses"),
        ("aliengo.urdf", "grams for kilograms"),
        ("aliengo.urdf", "tonnes for kilograms"),
        ("aliengo.urdf", "inertia in kg mm²"),
        ("aliengo.urdf", "inertia in another unit of mass"),
    ],
)
def test_one_fact_about_a_mass_is_one_finding(robot: str, name: str, tmp_path: Path) -> None:
    """Shape, mass, inertia and twin contradict each other; one rule reports it."""
    source = next((path for path in robots() if path.name == robot), None)
    if source is None:
        pytest.skip("needs the robots of pybullet_data")
    file = planted(next(defect for defect in DEFECTS if defect.name == name), source, tmp_path)
    assert file is not None
    known = {fact for finding in found_before(source) for fact in facts(finding)}
    new = {fact[0] for finding in lint(file).findings for fact in facts(finding) if fact not in known}
    assert len(new) == 1


@pytest.mark.long
def test_nearly_all_defects_are_found_in_robots_of_any_make(tmp_path: Path) -> None:
    if len(robots()) < 5:
        pytest.skip("needs the robots of pybullet_data")
    results = {}
    for k, (source, defect) in enumerate(PLANTED):
        folder = tmp_path / str(k)
        folder.mkdir()
        results[source.name, defect.name] = check(source, defect, folder)
    applicable = {key: found for key, found in results.items() if found is not None}
    missed = {key for key, found in applicable.items() if not found}
    assert len(applicable) >= 300
    assert missed == set(NOT_FOUND), missed ^ set(NOT_FOUND)
    assert len(missed) <= 0.025 * len(applicable)
    # each is found in one robot or more
    assert {name for _, name in applicable} == {defect.name for defect in DEFECTS}
    assert {name for key, found in applicable.items() for name in [key[1]] if found} == {
        defect.name for defect in DEFECTS
    }
