"""The first motion on a machine says that it compiles; later ones, and pipes, say nothing."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from mbplugin.dynamics import compiler as first_run


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("kept", "terminal", "told"), [(False, True, True), (True, True, False), (False, False, False)]
)
def test_announcement(
    kept: bool, terminal: bool, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(first_run, "cache_folder", lambda: tmp_path)
    if kept:
        (tmp_path / "some.code").touch()
    first_run.announce_compilation()
    assert ("compiling" in stream.getvalue()) is told
