"""The command line, called in this process or in one of its own."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

from mbplugin.cli.app import run
from places import ROOT

ASSETS = ROOT / "assets"
ORACLES = ROOT / "tests" / "oracles"
FOUR_BAR = str(ORACLES / "four_bar_4R.sdf")
SAMPLE = ROOT / "tests" / "sample_repository"
DOOR_1 = str(ORACLES / "door_1_hinge.sdf")
DOOR_2 = str(ORACLES / "door_2_hinges.sdf")


#: The line of a text by which mbplugin recognizes its own files.
STAMP = re.compile(r"^(?:# |<!-- )written by mbplugin \S+, checksum [0-9a-f]{16}(?: -->)?\n", re.MULTILINE)


def unstamped(file: Path) -> str:
    """Return the text of a file that a command wrote, without the one line that says so."""
    text, stamps = STAMP.subn("", file.read_bytes().decode())
    assert stamps == 1
    return text


@dataclass(frozen=True)
class Outcome:
    """Exit code, stdout and stderr."""

    code: int
    out: str
    err: str


def call(*arguments: str, stdin: bytes = b"") -> Outcome:
    out, err = io.StringIO(), io.StringIO()
    given = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    with (
        mock.patch("sys.stdin", given),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run(arguments)
    return Outcome(code, out.getvalue(), err.getvalue())


def call_process(*arguments: str, stdin: bytes = b"", **environment: str) -> Outcome:
    done = subprocess.run(
        [sys.executable, "-m", "mbplugin", *arguments],
        input=stdin,
        capture_output=True,
        check=False,
        timeout=120,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


#: A way of calling it.
Call = Callable[..., Outcome]
#: For parametrized tests: both ways of calling, the longer one among the long tests.
EITHER_WAY = [pytest.param(call, id="here"), pytest.param(call_process, id="process", marks=pytest.mark.long)]


def below_the_verdict(text: str) -> str:
    """What a report in text says from its second paragraph on: above it stands the verdict."""
    return text.split("\n\n", 1)[1]
