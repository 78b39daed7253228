"""Many files in one command: what is linted, in which order, side by side, and whatever one of them does."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command_line import DOOR_1, DOOR_2, FOUR_BAR, SAMPLE, call, call_process
from mbplugin.linter import Settings, batch, batch as jobs
from mbplugin.linter.run import Report
from mbplugin.linter.targets import Target, targets
from mbplugin.report.documents.part import violation

FILES = ["a.urdf", "b.sdf", "deep/c.scene.toml", "deep/d/e.URDF"]
PASSED_OVER = ["notes.txt", "package.xml", "mbplugin.toml", ".hidden/f.urdf"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with models and other files in folders."""
    for name in (*FILES, *PASSED_OVER):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def named(*names: str) -> list[str]:
    return [target.file for target in targets(names)]


# What is linted


def test_a_folder_is_its_models_in_order(folder: Path) -> None:
    assert named(".") == FILES
    assert named("deep") == FILES[2:]
    assert named(str(folder)) == [str(folder / name) for name in FILES]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.urdf", ["a.urdf"]),
        ("**/*.urdf", ["a.urdf"]),
        ("[ab].*", ["a.urdf", "b.sdf"]),
        ("d*", FILES[2:]),
        ("*.txt", ["notes.txt"]),
    ],
)
def test_patterns(pattern: str, found: list[str], folder: Path) -> None:
    assert named(pattern) == found


def test_what_stands_for_nothing_stays_and_is_told(folder: Path) -> None:
    (folder / "empty").mkdir()
    assert named("*.nothing", "gone.urdf", "empty") == ["*.nothing", "gone.urdf", "empty"]
    outcome = call("lint", "*.nothing", "gone.urdf", "empty", "--output-format", "json")
    runs = json.loads(outcome.out)["runs"]
    assert outcome.code == 2
    assert [[f["code"] for f in run["findings"]] for run in runs] == [["MB901"]] * 3


@pytest.mark.parametrize("name", ["", "a" * 5000, "a" * 300 + "/*.urdf", "[", "/dev/null", "\udcff.urdf"])
def test_names_that_no_file_can_have_are_told(name: str, folder: Path) -> None:
    outcome = call("lint", name, "a.urdf")
    assert outcome.code == 2
    assert "Traceback" not in outcome.err
    assert "2 runs: 0 passed, 0 failed, 2 unusable" in outcome.out


def test_a_name_with_a_line_break_writes_no_second_line(folder: Path) -> None:
    outcome = call("lint", "b: a\n::error b", "a.urdf", "--output", "out.txt")
    assert outcome.code == 2
    assert all(line.startswith("mbplugin lint: ") for line in outcome.err.splitlines()) and outcome.err


def test_a_file_with_a_pattern_s_name_is_itself(folder: Path) -> None:
    (folder / "[ab].urdf").touch()
    assert named("[ab].urdf") == ["[ab].urdf"]


def test_each_is_linted_once_unless_it_is_named_again(folder: Path) -> None:
    assert named(".", "deep", "*.urdf") == FILES
    assert named("a.urdf", ".") == FILES
    assert named("a.urdf", "a.urdf") == ["a.urdf", "a.urdf"]


def test_a_loop_of_links_ends(folder: Path) -> None:
    (folder / "deep" / "back").symlink_to(folder)
    assert named(".") == FILES


# Side by side


@pytest.fixture(scope="module")
def robots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models of all kinds, good and bad."""
    folder = tmp_path_factory.mktemp("robots")
    for file in sorted((SAMPLE / "robots").iterdir()):
        shutil.copy(file, folder)
    for file in (DOOR_1, DOOR_2, FOUR_BAR):
        shutil.copy(file, folder)
    (folder / "torn.urdf").write_text("<robot")
    (folder / "empty.sdf").touch()
    (folder / "bad.scene.toml").write_text("[[modle]]")
    return folder


@pytest.mark.long
@pytest.mark.parametrize("output_format", ["text", "json", "sarif", "github", "junit"])
def test_processes_change_nothing(output_format: str, robots: Path) -> None:
    def lint(count: str) -> tuple[int, str]:
        outcome = call("lint", str(robots), "--jobs", count, "--output-format", output_format)
        return outcome.code, outcome.out

    assert lint("1") == lint("3")


@pytest.mark.long
def test_one_bad_file_never_stops_the_others(robots: Path) -> None:
    outcome = call("lint", str(robots), "--output-format", "json", "--jobs", "2")
    runs = json.loads(outcome.out)["runs"]
    assert [Path(run["source"]).name for run in runs] == sorted(file.name for file in robots.iterdir())
    unusable = [Path(run["source"]).name for run in runs if run["exit_code"] == 2]
    assert unusable == ["bad.scene.toml", "empty.sdf", "torn.urdf"]
    assert all((run["model"] is None) == (run["exit_code"] == 2) for run in runs)
    last = call("lint", str(robots)).out.splitlines()[-1]
    counts = [sum(run["exit_code"] == code for run in runs) for code in (0, 1, 2)]
    assert last.startswith("{} runs: {} passed, {} failed, {} unusable; ".format(len(runs), *counts))


def test_a_wish_that_one_file_cannot_meet_stops_no_other() -> None:
    # its root link is the ground
    arm = str(SAMPLE / "robots" / "arm.urdf")
    alone = call("lint", arm, "--base", "free")
    assert (alone.code, alone.out) == (2, "")
    both = call("lint", arm, FOUR_BAR, "--base", "free", "--ignore", "MB9", "--output-format", "json")
    first, second = json.loads(both.out)["runs"]
    assert both.code == 2
    assert [finding["code"] for finding in first["findings"]] == ["MB900"]
    assert "cannot be free" in first["findings"][0]["message"]
    assert second["exit_code"] == 2 or second["model"] is not None


#: A rule that does to its process what is asked of it, and is imported by spawned processes too.
MODULE = """
import os, signal, time
from mbplugin.linter.rule import Rule

class Deadly(Rule):
    "It ends the process of a model that is called so."

    code, name, severity = "ACME666", "deadly", "error"

    def check(self, scene, analysis):
        name = scene.mechanism.name
        if name == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if name == "unsendable":
            yield self.finding("it cannot be pickled", evidence={"it": lambda: None})
        if name == "slow":
            open("started", "w").close()
            time.sleep(60)
"""


@pytest.fixture
def deadly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The environment of processes in which that rule is installed; the working directory has models."""
    (tmp_path / "deadly.py").write_text(MODULE)
    info = tmp_path / "deadly-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: deadly\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[mbplugin.rules]\ndeadly = deadly:Deadly\n")
    monkeypatch.chdir(tmp_path)
    yield {"PYTHONPATH": str(tmp_path)}


def model(name: str) -> None:
    Path(f"{name}.urdf").write_text(f'<robot name="{name}"><link name="a"/></robot>')


def in_process(*arguments: str, **environment: str) -> dict[str, Any]:
    outcome = call_process("lint", *arguments, "--output-format", "json", **environment)
    assert outcome.code == 2
    runs = json.loads(outcome.out)["runs"]
    return {Path(run["source"]).stem: [f["code"] for f in run["findings"]] for run in runs}


@pytest.mark.long
def test_a_killed_process_is_told_for_its_file_and_the_others_are_linted(
    deadly: dict[str, str], tmp_path: Path
) -> None:
    names = ["a", "killed", "m", "n", "unsendable", "z"]
    for name in names:
        model(name)
    found = in_process(str(tmp_path), "--jobs", "2", **deadly)
    assert list(found) == names
    assert "MB912" in found["killed"] and "MB912" in found["unsendable"]
    assert all("MB912" not in found[name] for name in ("a", "m", "n", "z"))


@pytest.mark.long
def test_an_interrupt_ends_all_processes(deadly: dict[str, str], tmp_path: Path) -> None:
    for name in ("slow", "b", "c"):
        model(name)
    with subprocess.Popen(
        [sys.executable, "-m", "mbplugin", "lint", ".", "--jobs", "2"],
        cwd=tmp_path,
        env={**os.environ, **deadly},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        deadline = time.monotonic() + 120
        while not (tmp_path / "started").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert (tmp_path / "started").exists()
        # as a terminal does: to all processes of the command
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")


# What nobody foresaw


def test_a_bug_is_told_for_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def lint(source: str, **_: object) -> Report:
        if source == "bad":
            raise RecursionError("too deep\nby far")
        return Report(source, (), None, None)

    monkeypatch.setattr(batch, "lint", lint)
    chosen = [Target(name, Settings()) for name in ("good", "bad", "fine")]
    reports = list(jobs.lint_targets(chosen, {}, 1))
    assert [report.exit_code for report in reports] == [0, 2, 0]
    (finding,) = reports[1].findings
    assert (finding.code, finding.file) == ("MB912", "bad")
    assert finding.message == "bad: RecursionError: too deep by far."
    assert "in lint" in finding.evidence["traceback"]


# Baselines


@pytest.mark.long
def test_a_baseline_leaves_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(SAMPLE / "robots", "robots")
    robot = Path("robots/gripper.urdf")
    assert call("lint", "robots", "--output-format", "json", "--output", "old.json").code == 1

    def new(*options: str) -> list[tuple[str, str]]:
        text = call("lint", "robots", "--baseline", "old.json", "--output-format", "json", *options).out
        found = [finding for run in json.loads(text)["runs"] for finding in run["findings"]]
        return [(finding["code"], finding["element"]) for finding in found]

    assert new() == []
    assert call("lint", "robots", "--baseline", "old.json", "--fail-on", "note").code == 0
    # lines and numbers move, the finding is the same
    robot.write_text(
        "\n\n" + robot.read_text().replace("0.005", "0.006").replace('<?xml version="1.0"?>', "")
    )
    assert new() == []
    robot.write_text(robot.read_text().replace("finger", "thumb"))
    assert new() == [("MB103", "thumb")]
    assert call("lint", "robots", "--baseline", "old.json").code == 1
    # the same in another file is new
    shutil.copy(SAMPLE / "robots" / "gripper.urdf", "robots/other.urdf")
    assert ("MB103", "finger") in new()
    # nothing is known about a file that cannot be read, whenever that began
    robot.write_text("<robot")
    call("lint", "robots", "--output-format", "json", "--output", "old.json")
    assert new() == [("MB902", "")]


def test_two_of_a_kind_are_not_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mbplugin.linter.targets import read_baseline, without_known

    monkeypatch.chdir(tmp_path)
    call("lint", DOOR_2, "--output-format", "json", "--output", "old.json")
    (report,) = jobs.lint_targets(targets([DOOR_2]), {})
    twice = Report(report.source, (*report.findings, *report.findings), None, None)
    (left,) = without_known(
        [twice], read_baseline(Path("old.json"), lambda document: violation(document, "lint"))
    )
    assert left.findings == report.findings


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"runs": 3}', '{"runs": [{"source": 1}]}', "null"])
def test_what_is_no_baseline_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    file.write_text(text)
    outcome = call("lint", DOOR_1, "--baseline", str(file))
    assert (outcome.code, outcome.out) == (2, "")
    assert f"{file}: this is not a baseline" in outcome.err
    assert call("lint", DOOR_1, "--baseline", str(tmp_path / "gone.json")).code == 2
