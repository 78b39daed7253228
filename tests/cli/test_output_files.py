"""Output files appear whole or not at all: full disks, folders that cannot be written, runs at once."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import FOUR_BAR, ROOT, call


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "mbplugin", *map(str, arguments)]


def almost_full_disk() -> None:
    """Let files grow to 1000 bytes; the write beyond fails, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [("lint", FOUR_BAR, "--report", "json={}"), ("matrix", FOUR_BAR, "--save", "{}")],
    ids=["lint", "matrix"],
)
@pytest.mark.parametrize("before", [None, "what was there before"])
def test_a_full_disk_leaves_what_was_there(
    tmp_path: Path, arguments: tuple[str, ...], before: str | None
) -> None:
    target = tmp_path / "out.csv"
    if before is not None:
        target.write_text(before)
    done = subprocess.run(
        command(*(str(argument).format(target) for argument in arguments), "--force"),
        # some Pythons would keep the first 1000 bytes of a module as its bytecode
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        preexec_fn=almost_full_disk,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "out.csv: the file cannot be written" in done.stderr
    assert [file.read_text() for file in tmp_path.iterdir()] == ([] if before is None else [before])


@pytest.mark.parametrize("error", [errno.EACCES, errno.EROFS, errno.ENOSPC, errno.EDQUOT])
def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch, error: int) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        # root may write anywhere, so the refusal is played
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    outcome = call("lint", FOUR_BAR, "--output", str(tmp_path / "report.txt"))
    assert outcome.code == 2 and os.strerror(error).lower() in outcome.err
    assert outcome.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_read_only_file_system(tmp_path: Path) -> None:
    outcome = call("lint", FOUR_BAR, "--output", "/proc/report.txt")
    assert outcome.code == 2 and outcome.err.startswith(
        "mbplugin: /proc/report.txt: the file cannot be written"
    )


@pytest.mark.long
def test_runs_at_once_do_not_mix(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    runs = [
        subprocess.Popen(
            command("lint", FOUR_BAR, "--output-format", "json", "--output", target, "--samples", k + 1),
            cwd=ROOT,
            stderr=subprocess.PIPE,
        )
        for k in range(4)
    ]
    for process in runs:
        assert process.communicate(timeout=120)[1] == b"" and process.returncode == 0
    assert [file.name for file in tmp_path.iterdir()] == ["report.json"]
    assert json.loads(target.read_text())["mobility"]["degree_of_redundancy"] == 3
