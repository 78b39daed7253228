"""A file that somebody else wrote keeps its bytes, whatever command and option name it; ours are written again."""

from __future__ import annotations

import inspect
import os
import time
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path
from typing import Any

import pytest
import tomllib

from command_line import ASSETS, DOOR_2, FOUR_BAR, call
from mbplugin.cli.app import _function, application
from mbplugin.cli.help import COMMANDS, WRITTEN
from mbplugin.files import is_own, replacing

ARM = str(ASSETS / "arm_6r.scene.toml")
MODEL = ARM.replace(".scene.toml", ".urdf")
#: Of each command, what it is called with; it is refused before it looks at any of it.
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "lint": (FOUR_BAR,),
    "config": (),
    "doctor": (),
    "init": ("--dry-run",),
    "rule": ("MB201",),
    "schema": ("lint",),
    "matrix": (FOUR_BAR,),
    "reactions": (FOUR_BAR,),
    "simulate": (FOUR_BAR, "--duration", "0.01"),
    "modes": (FOUR_BAR,),
    "estop": (ARM, "--qd", "j1=1"),
    "stop-table": (ARM, "--axes", "j1"),
    "calibrate": (ARM, "measured.csv"),
    "worst-stop": (ARM,),
    "sweep": (ARM, "--out", "stops", "--number", "3"),
    "distance": ("stop.json",),
    "crosscheck": (FOUR_BAR,),
    "diff": (FOUR_BAR, DOOR_2),
    "engines": (FOUR_BAR,),
    "close": (FOUR_BAR, "--to", "mjcf"),
    "view": (FOUR_BAR,),
    "warmup": (),
}
#: Options with a path that is read.
READ = {"config", "baseline", "against", "trajectory", "motion", "measured", "file", "out", "envelope"}
#: What somebody may have written, by the ending.
ENDINGS = {
    "save": (".csv", ".npz"),
    "plot": (".svg",),
    "picture": (".png",),
    "film": (".gif",),
    "zone": (".svg",),
    "save_envelope": (".csv",),
}
FOREIGN = b"# my own notes, a week of work\nwritten by mbplugin is what this is not\n"


def parameters() -> list[tuple[str, Any]]:
    """Return every option of every command."""
    import typer.main

    group: Any = typer.main.get_command(application(COMMANDS))
    return [(name, one) for name, command in group.commands.items() for one in command.params]


def writing() -> list[tuple[str, str, str]]:
    """Return command, option and ending of everything that is written."""
    found = []
    for command, parameter in parameters():
        if parameter.name in WRITTEN:
            own = (
                (".xml",)
                if parameter.name == "write"
                else (".scene.toml",)
                if parameter.name == "write_scene"
                else ()
            )
            for ending in own or ENDINGS.get(parameter.name, (".txt", ".json")):
                if (command, ending) != ("warmup", ".json"):
                    found.append((command, parameter.opts[0], ending))
    return found


@pytest.mark.long
def test_every_option_with_a_path_is_read_or_protected() -> None:
    """One that a command adds is in the one list or in the other."""
    known = {*READ, *WRITTEN}
    for command in COMMANDS:
        for name, one in inspect.signature(_function(command), eval_str=True).parameters.items():
            assert name in known or "Path" not in str(one.annotation), (command, name)
        # an editor writes what the server proposes
        assert command == "server" or any(
            name == command and one.name == "force" for name, one in parameters()
        ), command


@pytest.mark.parametrize(("command", "option", "ending"), writing())
def test_a_file_of_somebody_else_keeps_its_bytes(
    command: str, option: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / f"mine{ending}"
    file.write_bytes(FOREIGN)
    value = f"json={file}" if option == "--report" else str(file)
    done = call(command, *ARGUMENTS[command], option, value)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1 and "add --force to replace it" in done.err and str(file) in done.err
    assert file.read_bytes() == FOREIGN
    assert list(tmp_path.iterdir()) == [file]


def _again(tmp_path: Path, *arguments: str, name: str, option: str = "--output") -> Path:
    """Write a file twice, then edit it; then only with --force."""
    file = tmp_path / name
    for _ in range(2):
        done = call(*arguments, option, str(file))
        assert done.code in (0, 1), done.err
    return file


TEXTS = [
    ("lint", DOOR_2, "r.txt"),
    ("lint", DOOR_2, "r.html"),
    ("stop-table", ARM, "--axes", "j1", "r.csv"),
    ("schema", "scene", "no_ending"),
]


@pytest.mark.long_after(2)
@pytest.mark.parametrize("given", TEXTS, ids=lambda given: f"{given[0]} {given[-1]}")
def test_a_text_of_ours_is_written_again_until_somebody_edits_it(
    given: tuple[str, ...], tmp_path: Path
) -> None:
    *arguments, name = given
    file = _again(tmp_path, *arguments, name=name)
    if name == "no_ending":
        return
    # line ends that a checkout on Windows changes are not an edit
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert is_own(file)
    text = file.read_bytes()
    file.write_bytes(text[:-40] + b"x" + text[-40:])
    edited = file.read_bytes()
    done = call(*arguments, "--output", str(file))
    assert done.code == 2 and "or it was edited since" in done.err and file.read_bytes() == edited
    assert call(*arguments, "--output", str(file), "--force").code in (0, 1)
    assert file.read_bytes() != edited


def test_a_scene_is_written_again_until_somebody_edits_it(tmp_path: Path) -> None:
    file = _again(tmp_path, "lint", MODEL, name="arm.scene.toml", option="--write-scene")
    assert tomllib.loads(file.read_text())["model"]
    file.write_text(file.read_text() + "gravity = [0, 0, -1.62]\n")
    mine = file.read_bytes()
    assert call("lint", MODEL, "--write-scene", str(file)).code == 2
    assert file.read_bytes() == mine


@pytest.mark.long_after(3)
@pytest.mark.parametrize("kind", ["json", "sarif", "gitlab", "junit", "github", "html", "text", "xlsx"])
def test_reports_of_ci_are_written_again(kind: str, tmp_path: Path) -> None:
    for report in (DOOR_2, FOUR_BAR, MODEL):
        file = tmp_path / "report"
        done = call("lint", report, "--report", f"{kind}={file}")
        assert done.code in (0, 1), done.err


@pytest.mark.long_after(1)
@pytest.mark.parametrize(
    ("to", "ending"), [("mjcf", "xml"), ("sdf", "sdf"), ("usd", "usda"), ("scene", "scene.toml")]
)
def test_models_are_written_again_and_read(to: str, ending: str, tmp_path: Path) -> None:
    if to == "usd":
        pytest.importorskip("pxr")
    file = _again(tmp_path, "close", FOUR_BAR, "--to", to, "--no-drift", name=f"m.{ending}", option="--write")
    assert call("lint", str(file), "--select", "MB9").code == 0


@pytest.mark.parametrize("ending", ["npz", "csv"])
def test_matrices_and_motions_are_written_again_and_read(ending: str, tmp_path: Path) -> None:
    import numpy as np

    _again(tmp_path, "matrix", FOUR_BAR, name=f"C.{ending}", option="--save")
    motion = _again(tmp_path, "simulate", FOUR_BAR, "--duration", "0.01", name=f"m.{ending}", option="--save")
    if ending == "npz":
        with np.load(motion) as arrays:
            assert arrays["time"][-1] == pytest.approx(0.01)
        assert zipfile.ZipFile(motion).testzip() is None
    else:
        assert motion.read_text().startswith("time [s],")


def _opened(path: Path) -> None:
    """Read a picture, drawing or mesh with a library of its format."""
    if path.suffix in (".png", ".jpg", ".gif"):
        from PIL import Image

        with Image.open(path) as image:
            image.load()
            assert getattr(image, "n_frames", 1) >= 1
    elif path.suffix == ".svg":
        ElementTree.parse(path)
    elif path.suffix == ".dxf":
        import ezdxf

        assert not ezdxf.readfile(path).audit().errors
    elif path.suffix == ".stl":
        import trimesh

        assert len(trimesh.load(path).faces)
    elif path.suffix == ".mp4":
        import imageio.v2

        assert imageio.v2.get_reader(path).get_data(0).size
    elif path.suffix == ".pdf":
        import pypdf

        assert len(pypdf.PdfReader(path, strict=True).pages) == 1


@pytest.mark.long
@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "jpg"])
def test_curves_are_written_again_and_read(ending: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    if ending == "pdf":
        pytest.importorskip("pypdf")
    _opened(_again(tmp_path, "simulate", FOUR_BAR, "--duration", "0.01", name=f"p.{ending}", option="--plot"))


@pytest.mark.long
@pytest.mark.parametrize("ending", ["dxf", "svg", "csv", "stl"])
def test_zones_are_written_again_and_read(ending: str, tmp_path: Path) -> None:
    pytest.importorskip("shapely")
    pytest.importorskip("ezdxf")
    _opened(_again(tmp_path, "estop", ARM, "--qd", "j1=0.5", name=f"z.{ending}", option="--zone"))


@pytest.mark.long
@pytest.mark.bullet
@pytest.mark.parametrize("name", ["p.png", "p.jpg", "f.gif", "f.mp4"])
def test_pictures_and_films_are_written_again_and_read(name: str, tmp_path: Path) -> None:
    if name == "f.mp4":
        pytest.importorskip("imageio_ffmpeg")
    option, more = ("--film", ("--stop", "--qd", "j1=0.5")) if name[0] == "f" else ("--picture", ())
    _opened(_again(tmp_path, "view", ARM, *more, "--size", "64x64", name=name, option=option))


def test_an_empty_file_and_a_device_are_written_to(tmp_path: Path) -> None:
    empty = tmp_path / "made_by_mktemp"
    empty.touch()
    assert call("lint", FOUR_BAR, "--output", str(empty)).code == 0 and empty.stat().st_size
    assert call("lint", FOUR_BAR, "--output", "/dev/null").code == 0


def test_two_outputs_are_not_one_file(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    done = call("lint", FOUR_BAR, "--output", str(file), "--report", f"sarif={file}")
    assert done.code == 2 and "two outputs are the same file" in done.err and not file.exists()


@pytest.mark.parametrize("name", ["sweep.json", "part-000000.parquet"])
@pytest.mark.parametrize("content", [FOREIGN, b'{"seed": 3}'])
def test_a_sweep_replaces_no_file_of_somebody_else(name: str, content: bytes, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("joblib")
    folder = tmp_path / "stops"
    folder.mkdir()
    (folder / name).write_bytes(content)
    done = call("sweep", ARM, "--qd", "j1=1", "--out", str(folder), "--number", "3", "--jobs", "1")
    assert done.code == 2 and done.err.count("\n") == 1 and "add --force" in done.err
    assert [(file.name, file.read_bytes()) for file in folder.iterdir()] == [(name, content)]


def test_what_a_killed_process_left_is_removed_an_hour_later(tmp_path: Path) -> None:
    names = (".mbplugin-old.npz", ".mbplugin-new.npz", ".other-old.npz")
    for name in names:
        (tmp_path / name).write_bytes(b"half")
    for name in (names[0], names[2]):
        os.utime(tmp_path / name, (time.time() - 3700,) * 2)
    with replacing(tmp_path / "m.txt") as temporary:
        temporary.write_text("whole\n")
    assert {file.name for file in tmp_path.iterdir()} == {*names[1:], "m.txt"}
