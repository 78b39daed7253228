"""The scripts in ``benchmarks/`` run: each can be imported, and that of short commands prints every row."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from command_line import ROOT

BENCHMARKS = ROOT / "benchmarks"
IMPORTS = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    importlib.import_module(name)
"""


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, cwd=ROOT, timeout=300
    )


@pytest.mark.long
def test_each_script_imports_names_that_the_package_has() -> None:
    scripts = sorted(path.stem for path in BENCHMARKS.glob("[!_]*.py"))
    assert len(scripts) > 10
    done = run("-c", IMPORTS, str(BENCHMARKS), *scripts)
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_short_commands_are_timed_without_an_exception() -> None:
    done = run(str(Path("benchmarks", "lint_cold.py")), "--runs", "1")
    assert (done.returncode, done.stderr) == (0, "")
    for row in ("the least that a lint imports", "lint minitaur.scene.toml", "rule MB301", "--help"):
        assert row in done.stdout


@pytest.mark.long
def test_a_command_that_ends_with_an_exception_has_no_time() -> None:
    code = "import lint_cold, sys; lint_cold.spent((sys.executable, '-c', 'import mbplugin.missing'))"
    done = run("-c", f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r}); {code}")
    assert done.returncode == 1 and "ended with 1" in done.stderr and "Traceback" in done.stderr


@pytest.mark.long
@pytest.mark.bullet
def test_error_against_time_is_computed_for_every_model(tmp_path: Path) -> None:
    """Random rates of all joints of the Minitaur contradict its closed legs, and the script ended there."""
    pytest.importorskip("pybullet")
    picture = tmp_path / "work-precision.svg"
    done = run(str(Path("benchmarks", "work_precision.py")), "--short", "--picture", str(picture))
    assert done.returncode == 0, done.stderr
    for model in ("3R pendulum", "iiwa", "Bricard", "Minitaur, legs closed"):
        assert f"| {model} | mbplugin dop853 |" in done.stdout and model in picture.read_text(
            encoding="utf-8"
        )
