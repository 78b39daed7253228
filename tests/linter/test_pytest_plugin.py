"""The pytest plugin in sessions of its own, and the function for tests that are written."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import DOOR_1, DOOR_2, SAMPLE
from mbplugin.errors import BadUsage
from mbplugin.testing import assert_lints

IGNORE = '\n[[waive]]\nrule = "MB103"\nelement = "{}"\nreason = "the supplier owes us a model"\n'


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: the sample repository."""
    folder = tmp_path / "repository"
    shutil.copytree(SAMPLE, folder)
    monkeypatch.chdir(folder)
    return folder


def session(folder: Path, *arguments: str) -> str:
    # what this session was told is not for that one
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=False,
        timeout=120,
    )
    # passed, failed, not collected, nothing to do
    assert done.returncode in (0, 1, 2, 5), done.stderr.decode()
    return done.stdout.decode()


def outcomes(text: str) -> dict[str, int]:
    """Return ``{"passed": 1, "failed": 2}`` of the last line."""
    return {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", text.splitlines()[-1])}


@pytest.mark.long
@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_each_model_is_a_test(workers: list[str], repository: Path) -> None:
    text = session(repository, "--mbplugin", *workers)
    assert outcomes(text) == {"passed": 1, "failed": 2}
    failures = dict(
        re.findall(r"^_+ mbplugin lint (\S+) _+\n(.*?)(?=^[_=]{5})", text, re.MULTILINE | re.DOTALL)
    )
    assert set(failures) == {"robots/four_bar.sdf", "robots/gripper.urdf"}
    bar, gripper = failures["robots/four_bar.sdf"], failures["robots/gripper.urdf"]
    assert "0 errors, 1 warning, 3 notes in robots/four_bar.sdf\n" in bar
    assert "3 redundant constraints" in bar
    assert "make rocker_hinge point-on-line instead of revolute" in bar
    assert "robots/gripper.urdf:9: no body has the inertia of link 'finger'" in gripper
    assert "Traceback" not in text and "def runtest" not in text


@pytest.mark.long
def test_nothing_is_collected_unless_it_is_asked_for(repository: Path) -> None:
    assert "no tests ran" in session(repository)


@pytest.mark.long
def test_scenes_are_collected_and_what_is_excluded_is_not(repository: Path) -> None:
    (repository / "bar.scene.toml").write_text('[[model]]\nfile = "robots/four_bar.sdf"\n')
    with (repository / "mbplugin.toml").open("a") as config:
        config.write('exclude = ["robots/g*"]\n')
    listed = session(repository, "--mbplugin", "--collect-only", "-q").splitlines()
    assert listed[:3] == ["bar.scene.toml::lint", "robots/arm.urdf::lint", "robots/four_bar.sdf::lint"]
    assert outcomes(session(repository, "--mbplugin", "robots/gripper.urdf")) == {"failed": 1}


@pytest.mark.long
@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_ignores_hold_and_unused_ones_are_told(workers: list[str], repository: Path) -> None:
    with (repository / "mbplugin.toml").open("a") as config:
        config.write(IGNORE.format("finger") + IGNORE.format("thumb"))
    text = session(repository, "--mbplugin", *workers)
    assert outcomes(text) == {"passed": 2, "failed": 1}
    told = re.findall(r"mbplugin.toml:(\d+): the waiver of MB103 for '(\w+)'", text)
    assert told == [("9", "thumb")]


@pytest.mark.long
def test_what_is_no_model_by_itself_is_skipped(repository: Path) -> None:
    (repository / "robots" / "part.urdf").write_text('<robot name="part"/>')
    assert outcomes(session(repository, "--mbplugin", "--deselect", "robots/four_bar.sdf")) == {
        "passed": 1,
        "failed": 1,
        "skipped": 1,
        "deselected": 1,
    }
    assert outcomes(session(repository, "--mbplugin", "robots/part.urdf")) == {"failed": 1}


@pytest.mark.long
def test_a_broken_configuration_is_one_sentence(repository: Path) -> None:
    (repository / "mbplugin.toml").write_text("fail_on = 1")
    text = session(repository, "--mbplugin")
    assert "mbplugin.toml:1: unknown key 'fail_on'" in text
    assert "def " not in text and "Traceback" not in text


@pytest.mark.long
def test_the_fixture_gives_the_report(repository: Path) -> None:
    (repository / "robots" / "test_robots.py").write_text(
        "def test_arm(lint_model):\n"
        "    report = lint_model('arm.urdf', q={'elbow': 0.3})\n"
        "    assert report.analysis.dof == 2 and report.fail_on == 'warning'\n"
        "def test_bar(lint_model):\n"
        "    assert lint_model('four_bar.sdf').exit_code == 1\n"
    )
    assert outcomes(session(repository)) == {"passed": 2}


def test_assert_lints_fails_with_the_findings(repository: Path) -> None:
    with pytest.raises(AssertionError, match="3 redundant constraints") as failure:
        assert_lints("robots/four_bar.sdf")
    assert "MB201" in str(failure.value)
    report = assert_lints("robots/four_bar.sdf", fail_on="error")
    assert report.analysis is not None and report.analysis.degree_of_redundancy == 3
    assert_lints("robots/four_bar.sdf", select=["MB1"])
    assert_lints("robots/four_bar.sdf", ignore=["MB2", "MB3", "MB4"])
    assert_lints(repository / "robots" / "arm.urdf")


def test_assert_lints_passes_options_on() -> None:
    assert assert_lints(DOOR_1, base="fixed", samples=0, tolerance=1e-6).analysis.tolerance == 1e-6  # type: ignore[union-attr]
    assert_lints(DOOR_2)
    with pytest.raises(AssertionError, match="MB901"):
        assert_lints("gone.urdf")
    with pytest.raises(BadUsage):
        assert_lints(DOOR_1, tolerance=2)


def test_the_plugin_costs_other_sessions_nothing() -> None:
    code = (
        "import sys, mbplugin.pytest_plugin;"
        "print([name for name in ('numpy', 'scipy', 'lxml', 'typer', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    assert done.stdout.decode().strip() == "[]"
