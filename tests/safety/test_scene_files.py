"""What a scene names: every key of its schema that may be a path leads nowhere but into its repository."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

import mbplugin as mb
from command_line import ASSETS, call
from mbplugin.errors import MbPluginError
from mbplugin.readers.scene_file import SceneFile
from mbplugin.readers.scene_file.tables import FileName, Table

SECRET = "hunter2-canary"
MODEL = '[[model]]\nfile = "four_bar.urdf"\nbase = "fixed"\n'


def tables_of(annotation: Any) -> Iterator[type[Table]]:
    if isinstance(annotation, type) and issubclass(annotation, Table):
        yield annotation
    for inner in get_args(annotation):
        yield from tables_of(inner)


def keys() -> Iterator[tuple[str, str, Any]]:
    """Yield table, key and type of all keys of a scene's tables."""
    for name, field in SceneFile.fields().items():
        for table in tables_of(field.annotation):
            yield from ((name, key, one.annotation) for key, one in table.fields().items())


def holds(annotation: Any, kind: type) -> bool:
    return annotation is kind or any(holds(inner, kind) for inner in get_args(annotation))


TEXTS = [(table, key) for table, key, kind in keys() if holds(kind, str) or holds(kind, FileName)]
PATHS = [(table, key) for table, key, kind in keys() if holds(kind, FileName)]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "secret.csv").write_text(f"{SECRET},value\n1,2\n")
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    shutil.copy(ASSETS / "four_bar.urdf", root)
    (root / "link.csv").symlink_to(tmp_path / "secret.csv")
    (root / "linked").symlink_to(tmp_path)
    return root


def scene_with(folder: Path, table: str, key: str, value: str) -> Path:
    stated = {"driver": 'joint = "j0"\n', "model": 'base = "fixed"\n', "shape": 'body = "crank"\n'}.get(
        table, ""
    )
    stated = "".join(line for line in stated.splitlines(keepends=True) if not line.startswith(f"{key} "))
    bare = "" if table == "model" else MODEL
    header = f"[[{table}]]" if "list" in str(SceneFile.fields()[table].annotation) else f"[{table}]"
    file = folder / "x.scene.toml"
    file.write_text(f"{bare}{header}\n{stated}{key} = '{value}'\n")
    return file


OPENED: list[str] = []


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        OPENED.append(os.fsdecode(arguments[0]))


@pytest.fixture(scope="module", autouse=True)
def opened() -> None:
    sys.addaudithook(_note)


def test_the_keys_that_name_files_are_found() -> None:
    assert {("model", "file"), ("driver", "file")} <= set(PATHS)
    assert len(TEXTS) > 30


@pytest.mark.long_after(6)
@pytest.mark.parametrize(("table", "key"), TEXTS)
def test_no_key_of_a_scene_opens_a_file_outside(table: str, key: str, repository: Path) -> None:
    outside = repository.parent / "secret.csv"
    for name in (str(outside), "../secret.csv", "link.csv", "linked/secret.csv", f"file://{outside}"):
        OPENED.clear()
        file = scene_with(repository, table, key, name)
        said = call("lint", str(file), "--output-format", "json")
        assert SECRET not in said.out + said.err
        assert not [name for name in OPENED if os.path.realpath(name) == str(outside)]
        if (table, key) in PATHS:
            with pytest.raises(MbPluginError, match="lies outside the scene's repository"):
                mb.load(file)


@pytest.mark.parametrize(("table", "key"), PATHS)
def test_what_is_no_file_is_refused_before_it_is_opened(table: str, key: str, repository: Path) -> None:
    os.mkfifo(repository / "pipe.csv")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(repository / "socket.csv"))
    (repository / "folder.csv").mkdir()
    special = ("/proc/self/environ", "/dev/zero", "/sys/kernel/notes", "pipe.csv", "socket.csv", "folder.csv")
    for name in special:
        OPENED.clear()
        file = scene_with(repository, table, key, name)
        # whatever folder the user gives: nothing of the system is a file of a model
        with pytest.raises(MbPluginError, match=r"of the system|ordinary file"):
            mb.load(file, package_dirs=["/"])
        assert not [path for path in OPENED if path.endswith(name)]


@pytest.mark.parametrize(("table", "key"), PATHS)
def test_the_folders_of_the_user_are_read(table: str, key: str, repository: Path) -> None:
    shared = repository.parent / "shared"
    shared.mkdir()
    shutil.copy(ASSETS / "four_bar.urdf", shared / "model")
    (shared / "driver").write_text("time,value\n0,0\n1,1\n")
    (shared / "shape").write_text("v 0 0 0\n")
    file = scene_with(repository, table, key, str(shared / table))
    with pytest.raises(MbPluginError, match=f"a file in {repository} or in a package folder"):
        mb.load(file)
    loaded = mb.load(file, package_dirs=[str(shared)])
    meshes = (shape.mesh for own in loaded.shapes.values() for shape in own)
    assert str(shared / table) in (*loaded.files, *meshes)


@pytest.mark.parametrize(
    "content",
    [
        f"PASSWORD={SECRET}\0HOME=/root".encode(),
        f"root:{SECRET}:0:0\n".encode(),
        f"time,{SECRET}=1\n0,0\n".encode(),
        f"time,value\n0,{SECRET}\n".encode(),
        f"time,value [{SECRET} of the unit]\n0,1\n".encode(),
        f'time,value\n0,"{SECRET}\n'.encode(),
        f"time,value\n0,{SECRET}\xff".encode("latin-1"),
        f"{SECRET}@host\t1\n".encode("utf-16"),
    ],
)
def test_messages_about_a_motion_do_not_quote_it(content: bytes, repository: Path) -> None:
    (repository / "motion.csv").write_bytes(content)
    file = scene_with(repository, "driver", "file", "motion.csv")
    for output in ("text", "json", "github"):
        said = call("lint", str(file), "--output-format", output)
        assert said.code == 2 and "motion.csv" in said.out + said.err
        assert SECRET not in said.out + said.err


def test_a_yaml_file_beside_a_urdf_does_not_lead_out(repository: Path) -> None:
    (repository.parent / "secret.yaml").write_text(f"closed_loop: [[{SECRET}, b]]\n")
    (repository / "four_bar.yaml").symlink_to(repository.parent / "secret.yaml")
    with pytest.raises(MbPluginError, match="leads out of its repository") as raised:
        mb.load(repository / "four_bar.urdf")
    assert SECRET not in str(raised.value)
