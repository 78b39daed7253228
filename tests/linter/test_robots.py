"""Every robot of example-robot-data lints without a crash (extra ``robots``, `make test-all`)."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

import mbplugin as mb


def robots() -> list[Path]:
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    return sorted(Path(str(f.locate())) for f in files if f.suffix == ".urdf")


ROBOTS = robots()
#: What cannot be linted, and why.
UNUSABLE = {"ur3.urdf": "no link"}


@pytest.mark.robots
def test_they_are_all_there() -> None:
    assert len(ROBOTS) >= 69


@pytest.mark.robots
@pytest.mark.parametrize("robot", ROBOTS, ids=lambda path: path.name)
def test_a_robot_lints_without_a_crash(robot: Path) -> None:
    report = mb.lint(robot, samples=2)
    errors = [f for f in report.findings if f.code.startswith("MB9")]
    if robot.name in UNUSABLE:
        assert report.exit_code == 2
        assert UNUSABLE[robot.name] in errors[0].message
        return
    assert report.analysis is not None
    assert report.exit_code in (0, 1)
    assert errors == []
    # a URDF is a tree unless it says more
    cut = report.analysis.mechanism.tree.cut
    if not cut and not report.analysis.mechanism.couplings:
        assert report.analysis.degree_of_redundancy == 0
