"""Runs over folders: every format, and what is skipped, with the reason."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from command_line import call

pytest.importorskip("xacro")
pytest.importorskip("mujoco")

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
LINK = '<link name="{}"/>'
MACRO = f'<xacro:macro name="leg" params="n">{LINK.format("${n}")}</xacro:macro>'
FILES = {
    "plain.urdf": f"<robot name='r'>{LINK.format('a')}</robot>",
    "arm.urdf.xacro": f'{HEAD}<xacro:include filename="leg.xacro"/><xacro:leg n="b"/></robot>',
    "leg.xacro": f"{HEAD}<!-- <link/> --><xacro:property name='w' value='1'/>{MACRO}</robot>",
    "part.urdf": '<robot name="r"><material name="red"/></robot>',
    "needs.xacro": f"{HEAD}{LINK.format('$(arg side)')}</robot>",
    "calls.xacro": f'{HEAD}{MACRO.replace(LINK.format("${n}"), "")}<xacro:leg n="b"/></robot>',
    "model.sdf.xacro": '<sdf version="1.7" xmlns:xacro="http://www.ros.org/wiki/xacro"><model name="s">'
    '<link name="${1 + 1}"/></model></sdf>',
    "scene.xml": "<mujoco><worldbody><body name='m'><geom size='1'/><joint/></body></worldbody></mujoco>",
    "package.xml": "<package><name>p</name></package>",
    "half.xml": "<mujocoinclude/>",
    "arm.srdf.xacro": f"{HEAD}<group name='g'><link name='a'/></group></robot>",
    "a.world": '<sdf version="1.7"><world name="w"><model name="s"><link name="x"/></model></world></sdf>',
    "empty.world": '<sdf version="1.7"><world name="w"><include><uri>model://ground_plane</uri></include>'
    "</world></sdf>",
    "broken.xacro": f"{HEAD}<xacro:nothing/></robot>",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.long
def test_a_folder_run_takes_every_format_and_states_what_it_skips(folder: Path) -> None:
    done = call("lint", str(folder), "--output-format", "json")
    runs = {Path(one["source"]).name: one for one in json.loads(done.out)["runs"]}
    models = {"plain.urdf", "arm.urdf.xacro", "model.sdf.xacro", "scene.xml", "a.world"}
    notes = {"part.urdf", "needs.xacro", "calls.xacro", "empty.world"}
    assert set(runs) == models | notes | {"broken.xacro"}
    assert all(runs[name]["model"] for name in models)
    for name in notes:
        (finding,) = runs[name]["findings"]
        assert finding["severity"] == "note" and "skipped: " in finding["message"]
        assert runs[name]["exit_code"] == 0
    assert {name for name, run in runs.items() if run["skipped"]} == notes
    assert "'side'" in runs["needs.xacro"]["findings"][0]["message"]
    # xacro itself does not expand it
    assert runs["broken.xacro"]["exit_code"] == 2 and done.code == 2
    assert "skipped: 1 xacro files that only define macros or properties" in done.err
    assert "leg.xacro" in done.err and "package.xml" not in done.err


@pytest.mark.long
def test_what_is_skipped_has_not_passed(folder: Path) -> None:
    (folder / "broken.xacro").unlink()
    done = call("lint", str(folder), "--report", f"junit={folder / 'out.xml'}")
    assert done.code == 0
    assert "9 runs: 5 passed, 0 failed, 0 unusable, 4 skipped" in done.out
    assert "part.urdf: SKIPPED, nothing was analyzed" in " ".join(done.out.split())
    suite = ET.parse(folder / "out.xml").getroot()[0]
    assert suite.get("tests") == "9" and suite.get("skipped") == "4" == str(len(suite.findall(".//skipped")))


def test_a_folder_of_which_nothing_was_linted_has_not_passed(tmp_path: Path) -> None:
    """A job in CI would be green without a robot."""
    for name in ("needs.xacro", "part.urdf"):
        (tmp_path / name).write_text(FILES[name])
    done = call("lint", str(tmp_path))
    assert done.code == 2
    assert "2 runs: 0 passed, 0 failed, 2 unusable" in done.out
    assert "pass --xacro-arg side:=VALUE" in " ".join(done.out.split())


@pytest.mark.parametrize("name", ["part.urdf", "needs.xacro", "leg.xacro", "empty.world"])
def test_a_file_that_is_named_is_not_skipped(folder: Path, name: str) -> None:
    assert call("lint", str(folder / name)).code == 2


@pytest.mark.long
def test_patterns_are_as_folders(folder: Path) -> None:
    (folder / "broken.xacro").unlink()
    done = call("lint", str(folder / "*"), "--output-format", "json")
    names = {Path(one["source"]).name for one in json.loads(done.out)["runs"]}
    assert "leg.xacro" not in names and {"arm.urdf.xacro", "scene.xml", "plain.urdf"} <= names
    assert done.code == 0


@pytest.mark.long
def test_a_file_that_only_joins_others_is_linted_and_its_parts_are_not(tmp_path: Path) -> None:
    parts = {
        "leg.xacro": f"{HEAD}{LINK.format('leg')}<xacro:paint n='leg'/></robot>",
        "paint.xacro": f"{HEAD}<xacro:macro name='paint' params='n'><material name='${{n}}'/></xacro:macro></robot>",
        "alone.xacro": f"{HEAD}{LINK.format('leg')}<xacro:paint n='leg'/></robot>",
        "robot.xacro": f"{HEAD}<xacro:include filename='paint.xacro'/><xacro:include filename='leg.xacro'/></robot>",
    }
    for name, text in parts.items():
        (tmp_path / name).write_text(text)
    done = call("lint", str(tmp_path), "--output-format", "json")
    runs = {Path(one["source"]).name: one for one in json.loads(done.out)["runs"]}
    assert set(runs) == {"alone.xacro", "leg.xacro", "robot.xacro"} and runs["robot.xacro"]["model"]
    (finding,) = runs["leg.xacro"]["findings"]
    assert finding["severity"] == "note" and "robot.xacro includes it" in finding["message"]
    assert runs["alone.xacro"]["exit_code"] == 2 and done.code == 2
    assert call("lint", str(tmp_path / "leg.xacro")).code == 2


def test_a_folder_without_a_robot_says_so(tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("nothing here")
    done = call("lint", str(tmp_path))
    assert done.code == 2 and "this is a directory" not in done.out
    text = " ".join(done.out.split())
    assert "no robot file in this folder; looked for .urdf, .sdf, .world" in text and "MB901" in text


def test_a_scene_and_its_robot_are_linted_once(tmp_path: Path) -> None:
    """The scene's run is about its robot too; a robot that is named is linted as it was asked."""
    inner = tmp_path / "urdf"
    inner.mkdir()
    for name in ("described", "alone"):
        (inner / f"{name}.urdf").write_text(f"<robot name='{name}'>{LINK.format('a')}</robot>")
    scene = tmp_path / "described.scene.toml"
    scene.write_text('[[model]]\nfile = "urdf/described.urdf"\n')
    for wrong, text in (("broken", "model = ["), ("odd", 'model = [1, {file = 3}, {file = "a\\u0000b"}]\n')):
        (tmp_path / f"{wrong}.scene.toml").write_text(text)

    def linted(*names: str) -> list[str]:
        document = json.loads(call("lint", *names, "--output-format", "json").out)
        return [Path(run["source"]).name for run in document["runs"]]

    scenes = ["broken.scene.toml", "described.scene.toml", "odd.scene.toml"]
    assert linted(str(tmp_path)) == [*scenes, "alone.urdf"]
    done = call("lint", str(tmp_path))
    assert "skipped: 1 models of scenes that are linted (" in done.err and "described.urdf" in done.err
    # a folder without the scene has the robot alone
    assert linted(str(inner)) == ["alone.urdf", "described.urdf"]
    assert linted(str(scene), str(inner / "described.urdf")) == ["described.scene.toml", "described.urdf"]
