"""Neovim and Emacs with their own clients, without a window: a wrong axis is typed, underlined, mended and saved."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from places import ASSETS, ROOT

HERE = Path(__file__).resolve().parent
MODEL = ASSETS / "four_bar.urdf"
#: The command of each editor before the name of its session, and a session that ends well if it has a client.
EDITORS = {
    "neovim.lua": (
        ["nvim", "--clean", "--headless", "-n", "-S"],
        ["nvim", "--headless", "+lua vim.lsp.start_client", "+q"],
    ),
    "emacs.el": (["emacs", "--batch", "-l"], ["emacs", "--batch", "--eval", "(require 'eglot)"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("session", EDITORS)
def test_an_editor_shows_a_wrong_axis_and_mends_it(session: str, tmp_path: Path) -> None:
    command, has_client = EDITORS[session]
    if shutil.which(command[0]) is None:
        pytest.skip(f"needs {command[0]}")
    if subprocess.run(has_client, check=False, capture_output=True, timeout=60).returncode:
        pytest.skip(f"this {command[0]} has no client of language servers")
    (tmp_path / ".git").mkdir()
    file = Path(shutil.copy(MODEL, tmp_path))
    said = tmp_path / "said"
    own = {"MODEL": str(file), "SAID": str(said), "SERVER_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    own |= {name: str(tmp_path) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")}
    done = subprocess.run(
        [*command, str(HERE / session)],
        cwd=tmp_path,
        env=os.environ | own,
        check=False,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )
    log = said.read_text(encoding="utf-8") if said.exists() else ""
    assert not done.returncode, log + done.stderr.decode(errors="replace")[-2000:]
    lines = log.splitlines()
    assert "MB125" in lines[0] and " 21 " in lines[0], log
    assert lines[-1] == "mended"
    # the number that was typed is gone, and nothing else changed
    assert file.read_bytes() == MODEL.read_bytes()
