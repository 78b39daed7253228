"""``lint --watch`` in a process of its own: it lints again when a file that it read changes, and ends with Ctrl-C."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import pytest

from command_line import call
from places import ASSETS

LINT = (sys.executable, "-P", "-m", "mbplugin", "lint", "--watch")
AXIS, WRONG = 'xyz="0 -1 0"', 'xyz="0 -2 0"'
WATCHING, CLEAR = "Ctrl-C ends", "\x1b[2J\x1b[3J\x1b[H"
PATIENCE = 90.0


class Watching:
    """A running process, and what it has printed."""

    def __init__(self, process: subprocess.Popen[bytes], out: IO[bytes], err: IO[bytes]) -> None:
        self.process, self.text, self.errors = process, "", ""
        # stderr first: a report is flushed before the line that follows it on stderr, so that whoever
        # has read this line, and then all that stands on stdout, has the whole report
        self._streams = {"errors": err, "text": out}
        for stream in self._streams.values():
            os.set_blocking(stream.fileno(), False)

    def until(self, runs: int) -> str:
        """Return what was printed on stdout once the files have been linted so often."""
        end = time.monotonic() + PATIENCE
        while self.errors.count(WATCHING) < runs:
            assert time.monotonic() < end, (self.text, self.errors)
            select.select(list(self._streams.values()), (), (), 0.2)
            for name in self._streams:
                self._read(name)
        return self.text

    def _read(self, name: str) -> None:
        # BlockingIOError: nothing more yet; OSError: the end of a terminal
        with suppress(OSError):
            while part := os.read(self._streams[name].fileno(), 65536):
                setattr(self, name, getattr(self, name) + part.decode())

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)


@contextmanager
def watching(*arguments: str, cwd: Path, terminal: bool = False) -> Iterator[Watching]:
    end, out = os.openpty() if terminal else (None, subprocess.PIPE)
    process = subprocess.Popen((*LINT, *arguments), cwd=cwd, stdout=out, stderr=subprocess.PIPE)
    try:
        stream = process.stdout if end is None else os.fdopen(end, "rb", buffering=0)
        assert stream is not None and process.stderr is not None
        if terminal:
            os.close(out)
        yield Watching(process, stream, process.stderr)
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    for name in ("four_bar.urdf", "four_bar.scene.toml"):
        shutil.copy(ASSETS / name, tmp_path)
    return tmp_path


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.long
def test_a_change_of_the_file_is_linted(folder: Path) -> None:
    with watching("four_bar.urdf", cwd=folder) as own:
        assert "MB125" not in own.until(1) and "\x1b" not in own.text
        change(folder / "four_bar.urdf", AXIS, WRONG)
        text = own.until(2)
        assert text.count("MB125") >= 1 and "\n--- " in text and CLEAR not in text
        change(folder / "four_bar.urdf", WRONG, AXIS)
        text = own.until(3)
        assert "MB125" not in text.rpartition("\n--- ")[2]
        assert own.interrupt() == 130
        assert "Traceback" not in own.errors


@pytest.mark.long
def test_a_model_that_a_scene_includes_is_watched(folder: Path) -> None:
    with watching("four_bar.scene.toml", "--output-format", "json", cwd=folder) as own:
        assert "MB125" not in own.until(1)
        change(folder / "four_bar.urdf", AXIS, WRONG)
        text = own.until(2)
        assert "MB125" in text and "---" not in text
        # broken, and mended again: the scene is read again although it was not read meanwhile
        change(folder / "four_bar.urdf", "<robot", "<robo")
        own.until(3)
        change(folder / "four_bar.urdf", "<robo ", "<robot ")
        own.until(4)
        assert own.interrupt() == 130


@pytest.mark.long
def test_a_folder_has_new_files_and_configurations(folder: Path) -> None:
    with watching(".", cwd=folder) as own:
        own.until(1)
        text = (folder / "four_bar.urdf").read_text(encoding="utf-8").replace(AXIS, WRONG)
        (folder / "new.urdf").write_text(text, encoding="utf-8")
        assert "MB125" in own.until(2)
        (folder / "mbplugin.toml").write_text('ignore = ["MB125"', encoding="utf-8")
        own.until(3)
        assert "the configuration is not TOML" in own.errors
        (folder / "mbplugin.toml").write_text('ignore = ["MB125"]\n', encoding="utf-8")
        assert "MB125" not in own.until(4).rpartition("\n--- ")[2]
        assert own.interrupt() == 130


@pytest.mark.long
def test_a_screen_is_cleared(folder: Path) -> None:
    with watching("four_bar.urdf", cwd=folder, terminal=True) as own:
        assert own.until(1).startswith(CLEAR)
        change(folder / "four_bar.urdf", AXIS, WRONG)
        own.until(2)
        time.sleep(0.5)
        own.errors = ""
        change(folder / "four_bar.urdf", WRONG, AXIS)
        text = own.until(1)
        assert text.count(CLEAR) == 3 and "\n--- " not in text
        assert own.interrupt() == 130


@pytest.mark.long
def test_a_file_from_the_future_is_linted_once(folder: Path) -> None:
    later = time.time() + 3600
    os.utime(folder / "four_bar.urdf", (later, later))
    with watching("four_bar.urdf", cwd=folder) as own:
        own.until(2)
        time.sleep(1.5)
        change(folder / "four_bar.urdf", AXIS, WRONG)
        own.until(3)
        assert own.text.count("\n--- ") == 2


@pytest.mark.parametrize("more", [("--fix",), ("--diff",), ("--write-scene", "a.scene.toml")])
def test_what_writes_is_not_watched(folder: Path, more: tuple[str, ...]) -> None:
    done = call("lint", str(folder / "four_bar.urdf"), "--watch", *more)
    assert done.code == 2 and "--watch is given with" in done.err


def test_stdin_is_not_watched() -> None:
    done = call("lint", "-", "--watch")
    assert done.code == 2 and "--watch is given with" in done.err
