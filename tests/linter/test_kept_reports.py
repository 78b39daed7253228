"""Reports kept between runs over a folder: whatever changes, the output is that of a run without the cache."""

from __future__ import annotations

import os
import pickle
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trimesh

from command_line import Outcome, call
from mbplugin.linter import batch

ARM = """<robot name="arm"><link name="base"/><link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="2"/>
<inertia ixx="0.02" iyy="0.02" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><mesh filename="package://robots/meshes/upper.stl"/></geometry></collision></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="30" velocity="2"/></joint></robot>"""
XACRO = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="made"><xacro:include filename="mass.xacro"/>
<link name="base"/><link name="tip"><inertial><mass value="${mass}"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/></joint></robot>"""
MASS = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="mass" value="1.5"/></robot>'
SCENE = '[[model]]\nfile = "../urdf/arm.urdf"\nbase = "fixed"\n'


@pytest.fixture
def robots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with robots in several formats, which are older than the run."""
    folder = tmp_path / "robots"
    for name, text in {
        "package.xml": "<package><name>robots</name></package>",
        ".git/HEAD": "",
        "urdf/arm.urdf": ARM,
        "urdf/packed.urdf": ARM,
        "urdf/plain.urdf": ARM.replace("package://robots/meshes/upper.stl", "../meshes/upper.stl"),
        "xacro/made.urdf.xacro": XACRO,
        "xacro/mass.xacro": MASS,
        "scenes/arm.scene.toml": SCENE,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "meshes").mkdir()
    trimesh.creation.box((0.05, 0.05, 0.4)).export(folder / "meshes/upper.stl")
    _age(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.delenv(batch.OFF)
    monkeypatch.chdir(folder)
    return folder


def _age(folder: Path, seconds: float = 3600.0) -> None:
    """Set the times of all files back, as far as a program can: the time of change stays."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            then = path.stat().st_mtime - seconds
            os.utime(path, (then, then))


@pytest.fixture
def linted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the files that are linted in this process, in order; a new list is filled."""
    names: list[str] = []
    lint = batch.lint_one_of_many

    def counted(target: Any, options: Any) -> Any:
        names.append(Path(target.file).name)
        return lint(target, options)

    monkeypatch.setattr(batch, "lint_one_of_many", counted)
    monkeypatch.setattr(batch, "_RECENT", -3600.0)
    return names


def printed(*options: str) -> Outcome:
    return call("lint", ".", "--jobs", "1", "-v", *options)


@pytest.mark.long
def test_a_second_run_lints_nothing_and_prints_the_same(robots: Path, linted: list[str]) -> None:
    first = printed()
    assert len(linted) >= 4
    linted.clear()
    assert printed() == first and linted == []
    assert call("lint", ".", "--jobs", "1", "--output-format", "json").out
    assert linted == []


@pytest.mark.long
def test_without_the_cache_everything_is_linted(robots: Path, linted: list[str]) -> None:
    first = printed("--no-cache")
    count = len(linted)
    assert printed("--no-cache") == first and len(linted) == 2 * count
    assert not (robots.parent / "caches" / "mbplugin" / "reports").exists()


def _rewrite(path: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        file = folder / path
        before = file.stat()
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))
        # as an archive does that is unpacked: size and time of modification may be the old ones
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    return change


def _another_mesh(folder: Path) -> None:
    trimesh.creation.icosphere(3, 0.001).export(folder / "meshes/upper.stl")


def _mesh_of_the_same_size(folder: Path) -> None:
    file = folder / "meshes/upper.stl"
    before = file.stat()
    trimesh.creation.box((0.001, 0.001, 0.001)).export(file)
    assert file.stat().st_size == before.st_size
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def _no_mesh(folder: Path) -> None:
    (folder / "meshes/upper.stl").unlink()


def _another_package_first(folder: Path) -> None:
    """The folder beside the model is looked up before the one around it."""
    (folder / "urdf/robots/meshes").mkdir(parents=True)
    trimesh.creation.box((0.3, 0.3, 0.4)).export(folder / "urdf/robots/meshes/upper.stl")


def _configuration(folder: Path) -> None:
    (folder / "mbplugin.toml").write_text('ignore = ["MB1"]\n')


def _another_link(folder: Path) -> None:
    (folder / "meshes/upper.stl").rename(folder / "meshes/long.stl")
    trimesh.creation.box((0.3, 0.3, 0.4)).export(folder / "meshes/wide.stl")
    (folder / "meshes/upper.stl").symlink_to("wide.stl")


CHANGES: dict[str, tuple[Callable[[Path], None], set[str]]] = {
    "model": (_rewrite("urdf/arm.urdf", 'mass value="2"', 'mass value="0"'), {"arm.scene.toml"}),
    "include": (_rewrite("xacro/mass.xacro", "1.5", "0.0"), {"made.urdf.xacro"}),
    "another mesh": (_another_mesh, {"packed.urdf", "plain.urdf", "arm.scene.toml"}),
    "mesh of the same size": (_mesh_of_the_same_size, {"packed.urdf", "plain.urdf", "arm.scene.toml"}),
    "no mesh": (_no_mesh, {"packed.urdf", "plain.urdf", "arm.scene.toml"}),
    "another package": (_another_package_first, {"packed.urdf"}),
    "configuration": (_configuration, {"packed.urdf", "plain.urdf", "made.urdf.xacro", "arm.scene.toml"}),
    "link": (_another_link, {"packed.urdf", "plain.urdf"}),
    "name of the package": (_rewrite("package.xml", "robots", "others"), set()),
}


@pytest.mark.long
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen(change: str, robots: Path, linted: list[str]) -> None:
    before = printed()
    linted.clear()
    make, affected = CHANGES[change]
    make(robots)
    after = printed()
    assert affected <= set(linted)
    linted.clear()
    assert printed("--no-cache") == after
    if change not in ("configuration", "name of the package"):
        assert after != before


@pytest.mark.long
def test_a_change_of_a_file_that_an_engine_included_is_seen(robots: Path, linted: list[str]) -> None:
    pytest.importorskip("mujoco")
    (robots / "mjcf").mkdir()
    (robots / "mjcf/door.xml").write_text(
        '<mujoco model="door"><worldbody><include file="leaf.xml"/></worldbody></mujoco>'
    )
    (robots / "mjcf/leaf.xml").write_text(
        '<mujocoinclude><body name="leaf"><joint name="h" axis="0 0 1"/>'
        '<geom type="box" size=".4 .02 1" mass="3"/></body></mujocoinclude>'
    )
    before = printed()
    linted.clear()
    assert printed() == before and "door.xml" not in linted
    _rewrite(
        "mjcf/leaf.xml", "</body>", '<body><joint axis="0 0 1"/><geom size=".1" mass="1"/></body></body>'
    )(robots)
    after = printed()
    assert "door.xml" in linted
    assert printed("--no-cache") == after


@pytest.mark.long
def test_a_mesh_whose_numbers_are_known_is_a_dependency_too(robots: Path, linted: list[str]) -> None:
    """Without the rules that open the file, nothing reads it in a second run."""
    rules = ("--select", "MB140,MB141,MB142")
    before = printed(*rules)
    shutil.rmtree(robots.parent / "caches/mbplugin/reports")
    assert printed(*rules) == before
    linted.clear()
    _another_mesh(robots)
    after = printed(*rules)
    assert "plain.urdf" in linted
    assert printed("--no-cache", *rules) == after


@pytest.mark.long
@pytest.mark.parametrize("name", ["ROS_MASS", "CALLED_OTHERWISE"])
def test_a_variable_that_a_model_asks_for_is_seen(
    name: str, robots: Path, linted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model reads those of ROS only, and is refused if it asks for another one that is set."""
    (robots / "xacro/mass.xacro").write_text(MASS.replace("1.5", f"$(optenv {name} 1.5)"))
    before = printed()
    linted.clear()
    assert printed() == before and not linted
    monkeypatch.setenv(name, "0")
    after = printed()
    assert "made.urdf.xacro" in linted and after != before
    assert printed("--no-cache") == after


@pytest.mark.long
def test_only_what_changed_is_linted_again(robots: Path, linted: list[str]) -> None:
    printed()
    linted.clear()
    CHANGES["include"][0](robots)
    printed()
    assert linted == ["made.urdf.xacro"] or set(linted) == {"made.urdf.xacro", "mass.xacro"}


def test_a_file_with_other_times_and_the_same_content_is_not_linted(robots: Path, linted: list[str]) -> None:
    printed()
    linted.clear()
    # no solid of a mesh is known by the content of its file
    for file in (*robots.glob("*/*.urdf"), *robots.glob("*/*.xacro")):
        file.write_bytes(file.read_bytes())
    printed()
    assert linted == []


@pytest.mark.long
@pytest.mark.parametrize("options", [("--tolerance", "1e-6"), ("--base", "fixed"), ("--select", "MB1")])
def test_options_have_reports_of_their_own(options: tuple[str, ...], robots: Path, linted: list[str]) -> None:
    printed()
    linted.clear()
    there = printed(*options)
    assert linted
    assert printed("--no-cache", *options) == there


@pytest.mark.long
def test_random_changes_one_after_the_other(robots: Path, linted: list[str]) -> None:
    """Texts, meshes, links and folders come, change and go; after each change both outputs are compared."""
    seed = 20
    draw = random.Random(seed)
    kept = robots.parent / "kept"
    shutil.copytree(robots, kept, symlinks=True)
    for step in range(40):
        name = draw.choice([*CHANGES, "back", "touch", "none"])
        if name == "back":
            for entry in robots.iterdir():
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            shutil.copytree(kept, robots, symlinks=True, dirs_exist_ok=True)
        elif name == "touch":
            _age(robots, draw.random() * 100)
        elif name != "none":
            try:
                CHANGES[name][0](robots)
            # the change was made before
            except (AssertionError, OSError):
                continue
        assert printed() == printed("--no-cache"), (seed, step, name)
    assert len(linted) > 40


@pytest.mark.long
def test_a_forged_entry_runs_nothing(robots: Path, linted: list[str]) -> None:
    first = printed()
    ran = robots.parent / "ran"

    class Forged:
        def __reduce__(self) -> tuple[Any, tuple[str]]:
            return os.system, (f"touch '{ran}'",)

    entries = list((robots.parent / "caches/mbplugin/reports").iterdir())
    assert entries
    for number, entry in enumerate(entries):
        content = entry.read_bytes()
        entry.write_bytes((pickle.dumps(Forged()), content[:-7], b"", b"{}")[number % 4])
    linted.clear()
    assert printed() == first and linted
    assert not ran.exists()


def test_a_folder_of_others_is_not_used(robots: Path, linted: list[str]) -> None:
    folder = robots.parent / "caches/mbplugin/reports"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    outcome = printed()
    assert not list(folder.iterdir())
    assert "mbplugin: reports are not cached" in outcome.err or outcome.code in (0, 1)


@pytest.mark.long
def test_old_entries_make_room(robots: Path, linted: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    printed()
    folder = robots.parent / "caches/mbplugin/reports"
    size = sum(entry.stat().st_size for entry in folder.iterdir())
    monkeypatch.setattr(batch, "_MOST", size // 2)
    printed("--tolerance", "1e-6")
    assert sum(entry.stat().st_size for entry in folder.iterdir()) <= size // 2


@pytest.mark.long
def test_processes_keep_reports_too(robots: Path) -> None:
    """As on the command line, where each part of the files has a process."""
    for number in range(12):
        shutil.copy(robots / "urdf/plain.urdf", robots / f"urdf/copy{number}.urdf")
    command = [sys.executable, "-P", "-m", "mbplugin", "lint", ".", "--jobs", "2"]
    first, second = (
        subprocess.run(command, capture_output=True, text=True, check=False, timeout=120) for _ in range(2)
    )
    assert (first.stdout, first.returncode) == (second.stdout, second.returncode)
    assert first.stderr == second.stderr
    assert list((robots.parent / "caches/mbplugin/reports").iterdir())
