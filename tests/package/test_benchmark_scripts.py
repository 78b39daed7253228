"""The scripts in ``benchmarks/`` run: a figure of a page cannot be measured anew with one that does not."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from places import ROOT

FOLDER = ROOT / "benchmarks"
SCRIPTS = sorted(FOLDER.glob("[a-z]*.py"))


def run(*command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, env=environment, timeout=300, check=False
    )


@pytest.mark.long
def test_whatever_a_script_uses_of_the_package_exists() -> None:
    code = "import runpy, sys; sys.path.insert(0, sys.argv[1])\n"
    code += "for path in sys.argv[2:]: runpy.run_path(path, run_name='read')"
    done = run("-c", code, str(FOLDER), *map(str, SCRIPTS))
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_the_times_of_lints_are_measured() -> None:
    done = run(str(FOLDER / "lint_cold.py"), str(ROOT / "assets" / "four_bar.scene.toml"), "--runs", "1")
    assert done.returncode == 0 and not done.stderr
    assert "| the least that a lint imports |" in done.stdout
    assert "| lint four_bar.scene.toml |" in done.stdout
