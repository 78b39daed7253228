"""The time of a whole lint is bounded: what it does not reach is reported, and never counts as linted."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from command_line import DOOR_2, call, call_process
from mbplugin.linter import Settings, batch, batch as jobs
from mbplugin.linter.run import Report
from mbplugin.linter.targets import Target

#: A xacro file that computes until its own limit of 10 s.
ENDLESS = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:macro name="m" params="n"><xacro:if value="${n > 0}"><xacro:m n="${n - 1}"/><xacro:m n="${n - 1}"/></xacro:if>
</xacro:macro><xacro:m n="40"/><link name="a"/></robot>
"""


@pytest.mark.parametrize("number", [1, 4])
def test_a_running_file_is_ended_and_the_rest_is_not_begun(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    def lint(source: str, **_: object) -> Report:
        begun.append(source)
        if source == "slow":
            time.sleep(60)
        return Report(source, (), None, None)

    monkeypatch.setattr(batch, "lint", lint)
    names = ("good", "slow", "late", "later")[-number:] if number == 4 else ("slow",)
    start = time.monotonic()
    reports = list(jobs.lint_targets([Target(name, Settings()) for name in names], {}, 1, 0.5))
    assert time.monotonic() - start < 5
    assert [report.source for report in reports] == list(names)
    codes = [[finding.code for finding in report.findings] for report in reports]
    assert codes == [[] if name == "good" else ["MB915"] for name in names]
    assert begun == list(names[: names.index("slow") + 1])
    assert [report.exit_code for report in reports] == [0 if name == "good" else 2 for name in names]


def test_a_run_that_is_not_late_is_the_same_with_a_limit(tmp_path: Path) -> None:
    assert call("lint", DOOR_2).out == call("lint", DOOR_2, "--max-seconds", "60").out


def test_it_is_listed_in_every_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for k in range(3):
        shutil.copy(DOOR_2, f"m{k}.sdf")
    formats = ("text", "json", "sarif", "github", "gitlab", "junit", "html")
    reports = [word for kind in formats for word in ("--report", f"{kind}=r.{kind}")]
    done = call("lint", ".", "--jobs", "1", "--max-seconds", "0.000001", *reports)
    assert done.code == 2 and "3 runs: 0 passed, 0 failed, 0 unusable, 3 not linted" in done.out
    for kind in formats:
        text = Path(f"r.{kind}").read_text()
        assert all(f"m{k}.sdf" in text for k in range(3)) and "MB915" in text, kind
    assert [run["exit_code"] for run in json.loads(Path("r.json").read_text())["runs"]] == [2] * 3
    assert len(ElementTree.parse("r.junit").findall(".//error")) == 3


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "1e9", "soon"])
def test_a_limit_that_is_none_is_refused(text: str) -> None:
    done = call("lint", DOOR_2, "--max-seconds", text)
    assert (done.code, done.out) == (2, "") and done.err.count("\n") == 1 and "--max-seconds" in done.err


@pytest.mark.long
@pytest.mark.parametrize("number", ["1", "2"])
def test_files_that_compute_are_ended_in_every_process(number: str, tmp_path: Path) -> None:
    for k in range(4):
        (tmp_path / f"m{k}.urdf.xacro").write_text(ENDLESS)
    start = time.monotonic()
    done = call_process("lint", str(tmp_path), "--jobs", number, "--max-seconds", "3")
    # four of them would take 20 or 40 s
    assert time.monotonic() - start < 15
    assert done.code == 2 and "4 not linted" in done.out


@pytest.mark.long
def test_code_that_cannot_be_interrupted_ends_the_process() -> None:
    """A C function that does not return for a minute, without the interpreter's lock as LAPACK has it."""
    script = """
import ctypes, sys
from mbplugin.linter import batch
from mbplugin.processes import supervised
supervised.DEADLINE_GRACE = 0.5
def lint(*_, **__):
    libc = ctypes.CDLL(None)
    libc.signal(supervised._DEADLINE_SIGNAL, 1)
    libc.sleep(60)
batch.lint = lint
from mbplugin.cli.app import run
sys.exit(run(["lint", sys.argv[1], "--max-seconds", "0.5"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, DOOR_2], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "door_2_hinges.sdf does not end" in done.stderr
