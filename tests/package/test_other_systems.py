"""Windows and macOS: what only POSIX has is used behind a check of the system.

mypy knows what each system lacks; a process in which that is missing shows that the commands run without it.
"""

from __future__ import annotations

import ntpath
import subprocess
import sys
from pathlib import Path, PureWindowsPath
from types import SimpleNamespace

import pytest

import mbplugin as mb
from mbplugin import files
from places import ROOT

#: Modules, and names of os and signal, that Windows does not have.
MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "pty", "_posixshmem")
NAMES = {
    "os": ("fork", "getuid", "sched_getaffinity", "killpg", "setsid"),
    "signal": ("SIGALRM", "SIGHUP", "SIGXCPU", "alarm", "setitimer"),
}
#: Libraries choose by the system when they are imported; this package must not have been.
AS_ON_WINDOWS = f"""
import os, signal, sys
import joblib, lxml.etree, multiprocessing.connection, numba, numpy, pydantic, rich.console, rich.progress
import scipy.linalg, scipy.optimize, scipy.sparse.linalg, scipy.spatial, scipy.stats, tempfile, trimesh, typer
import concurrent.futures.process

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in {MODULES}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

for name in {MODULES}:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Absent())
for module, names in {NAMES}.items():
    for name in names:
        if hasattr(sys.modules[module], name):
            delattr(sys.modules[module], name)
sys.platform = "win32"
assert not [name for name in sys.modules if name.startswith("mbplugin")]
"""
RUN = """
from mbplugin.cli.app import run
from mbplugin.processes.supervised import supervised

sys.exit(supervised(lambda: run(sys.argv[1:])))
"""
WALK = """
import importlib, pkgutil, mbplugin
for module in pkgutil.walk_packages(mbplugin.__path__, "mbplugin."):
    if not module.name.endswith(("__main__", "pytest_plugin")):
        importlib.import_module(module.name)
"""


def on_windows(script: str, *arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", AS_ON_WINDOWS + script, *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.long
def test_every_module_can_be_imported_without_what_windows_lacks() -> None:
    done = on_windows(WALK)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("lint", "assets/four_bar.scene.toml", "assets/arm_6r.urdf"), "3 redundant"),
        (("simulate", "assets/four_bar.scene.toml", "--duration", "0.1"), "kinetic"),
        (("estop", "assets/arm_6r.scene.toml"), "j2"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_commands_run_without_what_windows_lacks(command: tuple[str, ...], words: str) -> None:
    done = on_windows(RUN, *command)
    assert done.returncode in (0, 1), done.stderr[-2000:]
    assert words in done.stdout and "Traceback" not in done.stderr


def test_a_directory_is_told_where_it_may_not_be_opened(tmp_path: Path) -> None:
    """Windows says PermissionError of a directory."""
    from mbplugin.errors import UnreadableFile
    from mbplugin.files import read_bounded

    with pytest.raises(UnreadableFile, match="this is a directory"):
        read_bounded(tmp_path)


@pytest.mark.parametrize(
    ("file", "name"),
    [(r"C:\robots\arms\arm.urdf", "../arms/arm.urdf"), (r"D:\arm.urdf", "D:/arm.urdf")],
    ids=["one drive", "two drives"],
)
def test_a_file_is_named_with_slashes(monkeypatch: pytest.MonkeyPatch, file: str, name: str) -> None:
    """No relative path leads from one drive of Windows to another."""
    monkeypatch.setattr(files, "os", SimpleNamespace(path=ntpath, sep="\\"))
    assert files.seen_from(PureWindowsPath(r"C:\robots\scenes"), file) == name


def test_every_table_ends_its_lines_alike(tmp_path: Path) -> None:
    mb.matrix("assets/four_bar.scene.toml").save(tmp_path / "matrix.csv")
    mb.simulate("assets/four_bar.scene.toml", 0.01).save(tmp_path / "motion.csv")
    mb.stop_table("assets/arm_6r.scene.toml", axes=["j1"]).save(tmp_path / "table.csv")
    written = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert len(written) == 3
    assert [name for name, data in written.items() if b"\r" in data] == []


@pytest.mark.long
@pytest.mark.parametrize("system", ["win32", pytest.param("darwin", marks=pytest.mark.slow)])
def test_the_types_are_right_on_other_systems(system: str) -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--platform", system, "--cache-dir", f"out/mypy-{system}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:]
