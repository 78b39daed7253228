"""Modules that lie in the working folder are not imported, by the command line or by what it starts."""

from __future__ import annotations

import os
import pkgutil
import shutil
import site
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from command_line import ROOT, Outcome

ATTACK = ROOT / "tests" / "attacks" / "module.py"
INSTALLED = [module.name for module in pkgutil.iter_modules(site.getsitepackages())]
#: Every module of Python and of what is installed, whichever of them a command may need.
NAMES = sorted(
    name
    for name in {*sys.stdlib_module_names, *INSTALLED} - {"mbplugin"}
    if name.isidentifier() and not name.startswith("_")
)
#: What this interpreter has loaded before the first line of a program runs.
START = "import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"

ARM = """
body = [{ name = "upper", mass = 3.0, com = [0.25, 0, 0], inertia = [0.01, 0.06, 0.06] }]
pair = [{ name = "j0", type = "revolute", body_a = "world", body_b = "upper", xyz_a = [0, 0, 0] }]
brake = [{ joint = "j0", torque = 90.0 }]
state = { qd = { j0 = 1.0 } }
"""
URDF = '<robot name="{}"><link name="a"/></robot>'


@dataclass(frozen=True)
class Folder:
    """A working folder full of modules, and where those that are imported leave a mark."""

    path: Path
    marks: Path

    def run(self, *command: str, python_path: str = str(ROOT), **environment: str) -> Outcome:
        done = subprocess.run(
            [sys.executable, *command],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            cwd=self.path,
            env={**os.environ, "MARKS": str(self.marks), "PYTHONPATH": python_path, **environment},
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    @property
    def marked(self) -> set[str]:
        return {file.name for file in self.marks.iterdir()}

    def keep(self, *names: str) -> None:
        """Take all modules away but some."""
        for module in self.path.glob("*.py"):
            if module.stem not in names:
                module.unlink()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "repository", tmp_path / "marks")
    made.path.mkdir()
    made.marks.mkdir()
    for name in NAMES:
        shutil.copy(ATTACK, made.path / f"{name}.py")
    (made.path / "arm.scene.toml").write_text(ARM)
    for name in ("one", "two"):
        (made.path / f"{name}.urdf").write_text(URDF.format(name))
    return made


RAMP = ("--category", "1", "--deceleration", "j0=5")
COMMANDS = [
    ("lint", ".", "--jobs", "2"),
    pytest.param(("crosscheck", "arm.scene.toml", "--duration", "0.05"), marks=pytest.mark.bullet),
    # in category 0 threads compute them, and no process starts
    ("sweep", "arm.scene.toml", *RAMP, "--out", "stops", "--number", "300", "--jobs", "2"),
    ("sweep", "arm.scene.toml", "--out", "stops", "--number", "2", "--jobs", "1", "--backend", "dask"),
    pytest.param(("view", "arm.scene.toml"), marks=pytest.mark.bullet),
]
NEEDS = {"sweep": ("pyarrow", "joblib"), "dask": ("distributed",)}


def test_the_attack_works(folder: Folder) -> None:
    """Or the other tests would show nothing: the folder does catch a careless interpreter."""
    folder.run("-c", "import random")
    # later Pythons fail at their own imports there
    assert folder.marked


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:1] + command[-2:]))
def test_the_console_script_imports_nothing(command: tuple[str, ...], folder: Folder, tmp_path: Path) -> None:
    for word in command:
        if not all(find_spec(name) for name in NEEDS.get(word, ())):
            pytest.skip(f"{word} needs {NEEDS[word]}")
    script = tmp_path / "bin" / "mbplugin"
    script.parent.mkdir()
    script.write_text(
        "import sys\nfrom mbplugin.cli import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
    )
    outcome = folder.run(str(script), *command, DISPLAY="")
    assert folder.marked == set()
    assert "Traceback" not in outcome.err
    if command[0] == "view":
        assert "PyBullet cannot open a window" in outcome.err
    else:
        assert outcome.code in (0, 1), outcome.err


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS[:2], ids=["lint", "crosscheck"])
def test_python_m_imports_nothing_after_its_start(command: tuple[str, ...], folder: Folder) -> None:
    """What ``python -m`` and the package itself import first cannot be helped: docs/trust.md names it."""
    first = f"import runpy, mbplugin; {START}"
    for name in folder.run("-I", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {first}").out.split():
        (folder.path / f"{name}.py").unlink(missing_ok=True)
    for name in {"numpy", "random", "pybullet", "multiprocessing", "lxml", "pickle"}.intersection(NAMES):
        assert (folder.path / f"{name}.py").exists()
    outcome = folder.run("-m", "mbplugin", *command)
    assert folder.marked == set()
    assert outcome.code in (0, 1), outcome.err


@pytest.mark.long
def test_an_empty_entry_of_pythonpath_is_not_the_working_folder(folder: Folder) -> None:
    """``export PYTHONPATH=/some/folder:$PYTHONPATH`` leaves one where the variable was not set."""
    folder.keep("numpy", "random", "pybullet", "multiprocessing", "lxml", "pickle")
    outcome = folder.run("-m", "mbplugin", "lint", ".", "--jobs", "2", python_path=f"{ROOT}:")
    assert folder.marked == set()
    assert outcome.code == 0, outcome.err


STARTS = [
    # what the trust page says is not protected: Python runs it before the first line of a program
    pytest.param((), {"PYTHONPATH": ":/nowhere"}, True, id="command"),
    pytest.param(("-P", "-m", "mbplugin"), {"PYTHONPATH": ":/nowhere"}, True, id="-P"),
    # and what it says helps
    pytest.param(("-I", "-m", "mbplugin"), {"PYTHONPATH": ":/nowhere"}, False, id="-I"),
    pytest.param((), {}, False, id="without the variable"),
]


@pytest.mark.long
@pytest.mark.parametrize(("start", "variable", "runs"), STARTS)
def test_what_python_runs_before_the_command_is_as_the_trust_page_says(
    start: tuple[str, ...], variable: dict[str, str], runs: bool, tmp_path: Path
) -> None:
    """And no process that the command starts runs it: one mark at most, by the command's own process."""
    if "-P" in start and sys.version_info < (3, 11):
        pytest.skip("there is no -P")
    script = Path(sys.executable).parent / "mbplugin"
    if not script.exists():
        pytest.skip("mbplugin is not installed")
    repository, marks = tmp_path / "repository", tmp_path / "marks"
    repository.mkdir()
    marks.mkdir()
    for name in ("sitecustomize", "usercustomize", "ctypes"):
        mark = f"import os; open({str(marks)!r} + f'/{name}-{{os.getpid()}}', 'w').close()\n"
        (repository / f"{name}.py").write_text(mark if name != "ctypes" else f"{mark}raise ImportError\n")
    (repository / "one.urdf").write_text(URDF.format("one"))
    (repository / "two.urdf").write_text(URDF.format("two"))
    shutil.copy(ROOT / "tests" / "attacks" / "mjcf" / "good.xml", repository / "three.xml")
    (repository / "four.xacro").write_text(
        '<robot name="f" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="${1 + 1}"/></robot>'
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [*([sys.executable, *start] if start else [str(script)]), "lint", ".", "--jobs", "2"],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
        cwd=repository,
        env=environment | variable,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    names = [file.name.partition("-")[0] for file in marks.iterdir()]
    assert names == (["sitecustomize"] if runs else [])


def test_a_folder_that_pythonpath_names_is_looked_in(folder: Folder) -> None:
    """Who names it, trusts it: developers run so in their checkout."""
    folder.keep("numpy")
    folder.run("-m", "mbplugin", "lint", "one.urdf", python_path=f"{folder.path}:{ROOT}")
    assert folder.marked == {"numpy"}


def test_children_find_this_very_package(folder: Folder) -> None:
    """Also where neither the search path nor a variable leads to it any more."""
    code = (
        f"import sys; sys.path[:0] = [{str(ROOT)!r}]; import inspect\n"
        "from mbplugin.bullet import in_child\n"
        "sys.path.pop(0)\n"
        "print(in_child(inspect.getfile, in_child))\n"
    )
    outcome = folder.run("-I", "-c", code)
    assert outcome.out.strip() == str(ROOT / "mbplugin" / "bullet" / "__init__.py"), outcome.err
    assert folder.marked == set()
