"""Settings of libraries and of Python that lie in the working folder have no effect."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import ASSETS, ROOT, Outcome

ATTACKS = ROOT / "tests" / "attacks"
#: Names that Python or a library imports by itself, where a file of that name is found.
HOOKS = ("sitecustomize", "usercustomize", "random", "conftest", "numpy", "matplotlib", "numba", "yaml")
BAR = str(ASSETS / "four_bar.scene.toml")
ARM = str(ASSETS / "arm_6r.scene.toml")
MOTION = ("simulate", BAR, "--duration", "0.05")


def run(folder: Path, *arguments: str, script: Path) -> Outcome:
    """Run the console script in a folder."""
    marks = folder.parent / "marks"
    marks.mkdir(exist_ok=True)
    environment = {**os.environ, "MARKS": str(marks), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(script), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=folder,
        env={name: value for name, value in environment.items() if not name.startswith("NUMBA_")},
    )
    assert not list(marks.iterdir())
    return Outcome(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """The console script, as an installation makes it."""
    path = tmp_path / "bin" / "mbplugin"
    path.parent.mkdir()
    path.write_text(
        "import sys\nfrom mbplugin.cli import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
    )
    return path


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """An empty folder, and one with everything that might be looked for."""
    clean, attacked = tmp_path / "clean", tmp_path / "attacked"
    clean.mkdir()
    shutil.copytree(ATTACKS / "settings", attacked)
    for name in HOOKS:
        shutil.copy(ATTACKS / "module.py", attacked / f"{name}.py")
    return clean, attacked


def without_clock(text: str) -> list[str]:
    return [line for line in text.splitlines() if '"seconds"' not in line]


@pytest.mark.long
def test_the_attack_works(folders: tuple[Path, Path]) -> None:
    """Or the tests below would show nothing: whoever imports the libraries there has their settings."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("yaml")
    code = (
        "import sys; sys.path.remove('')\nimport matplotlib, numba\n"
        "print(matplotlib.rcParams['axes.facecolor'], numba.config.DISABLE_JIT)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folders[1], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["red", "1"]


@pytest.mark.long
def test_a_picture_is_drawn_as_anywhere_else(folders: tuple[Path, Path], script: Path) -> None:
    pytest.importorskip("matplotlib")
    pictures = []
    for folder in folders:
        done = run(folder, *MOTION, "--plot", "motion.png", script=script)
        assert done.code == 0, done.err
        pictures.append((folder / "motion.png").read_bytes())
    assert pictures[0] == pictures[1]


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    [
        (*MOTION, "--output-format", "json"),
        ("estop", ARM, "--output-format", "json"),
        ("lint", BAR, ARM, "--jobs", "2", "--output-format", "json"),
        pytest.param(
            ("crosscheck", BAR, "--duration", "0.05", "--output-format", "json"), marks=pytest.mark.bullet
        ),
    ],
    ids=lambda command: command[0],
)
def test_a_command_prints_what_it_prints_anywhere_else(
    command: tuple[str, ...], folders: tuple[Path, Path], script: Path
) -> None:
    clean, attacked = (run(folder, *command, script=script) for folder in folders)
    assert clean.code in (0, 1)
    assert (attacked.code, attacked.err) == (clean.code, clean.err)
    assert without_clock(attacked.out) == without_clock(clean.out)


@pytest.mark.long
def test_processes_of_a_sweep_find_none_either(folders: tuple[Path, Path], script: Path) -> None:
    for module in ("joblib", "pyarrow"):
        pytest.importorskip(module)
    tables = []
    for folder in folders:
        # in category 0 threads compute them
        varied = (
            "--category",
            "1",
            "--number",
            "300",
            "--q-spread",
            "0.1",
            "--jobs",
            "2",
            "--output-format",
            "json",
        )
        done = run(folder, "sweep", ARM, "--out", "stops", *varied, script=script)
        assert (done.code, done.err) == (0, "")
        tables.append({file.name: file.read_bytes() for file in (folder / "stops").iterdir()})
        json.loads(done.out)
    assert tables[0] == tables[1]
    assert not (folders[1] / "planted").exists()
