"""Files that are not on this machine: what can be analyzed without them is, and the finding has the line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from mbplugin.errors import UnreadableFile, UnresolvedPath
from mbplugin.linter.run import Report, lint
from mbplugin.readers import load

ASSETS = """<mujoco><compiler meshdir="m"/>
<asset>
<texture name="t" type="2d" file="gone.png"/>
<texture name="s" type="cube" fileright="r.png" fileleft="l.png" fileup="u.png" filedown="d.png"
 filefront="f.png" fileback="b.png"/>
<material name="c" texture="t"/>
<mesh name="v" file="sub/gone.stl" scale="0.001 0.001 0.001"/>
<mesh name="w" file="gone.obj"/>
</asset>
<worldbody><body name="a">{inertial}<joint axis="0 0 1"/>
<geom type="mesh" mesh="v" material="c" contype="0" conaffinity="0" {mass}/><geom type="mesh" mesh="w" {mass}/>
<geom type="box" size="1 1 1" mass="2"/>
</body></worldbody></mujoco>"""
INERTIAL = '<inertial pos="0 0 0.5" mass="1" diaginertia="1 2 2"/>'


def findings(report: Report, code: str) -> list[tuple[int, str]]:
    return [(f.line, f.severity) for f in report.findings if f.code == code]


@pytest.mark.parametrize(("inertial", "mass"), [(INERTIAL, ""), ("", 'mass="0"')])
def test_mjcf_is_read_without_what_can_only_be_seen(tmp_path: Path, inertial: str, mass: str) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "m.xml"
    file.write_text(ASSETS.format(inertial=inertial, mass=mass))
    report = lint(file)
    assert report.analysis is not None and report.analysis.dof == 1 and report.exit_code == 0
    assert findings(report, "MB906") == [(3, "warning")]
    (finding,) = (f for f in report.findings if f.code == "MB906")
    assert finding.elements == ("t", "s", "v", "w")
    assert [place.rpartition(":")[2] for place in finding.evidence["places"]] == ["3", "4", "7", "8"]
    assert "8 more files cannot be found either" in finding.message
    bare = tmp_path / "bare.xml"
    bare.write_text(
        f'<mujoco><worldbody><body name="a">{inertial}<joint axis="0 0 1"/>'
        '<geom type="box" size="1 1 1" mass="2"/></body></worldbody></mujoco>'
    )
    assert report.scene is not None
    (with_files,), (without,) = report.scene.mechanism.bodies, load(bare).mechanism.bodies
    np.testing.assert_allclose(with_files.I_C, without.I_C)
    assert with_files.mass == without.mass


@pytest.mark.parametrize(
    "grid", ['gridsize="2 3" gridlayout="ULFRBD"', 'gridsize="3 4" gridlayout=".U..LFRB.D.."', ""]
)
def test_a_missing_picture_may_hold_the_six_sides_of_a_cube(tmp_path: Path, grid: str) -> None:
    """MuJoCo cuts the picture into squares, and refuses one that has others."""
    pytest.importorskip("mujoco")
    file = tmp_path / "m.xml"
    file.write_text(
        f'<mujoco><asset>\n<texture name="t" type="cube" file="gone.png" {grid}/></asset><worldbody><body>'
        f'{INERTIAL}<joint axis="0 0 1"/><geom size="1"/></body></worldbody></mujoco>'
    )
    report = lint(file)
    assert report.exit_code == 0 and findings(report, "MB906") == [(2, "warning")]


def test_a_mesh_that_gives_a_mass_is_needed(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "m.xml"
    file.write_text(ASSETS.format(inertial="", mass=""))
    with pytest.raises(UnresolvedPath, match="gone"):
        load(file)


ARM = """<sdf version="1.7"><model name="arm"><link name="a"/><link name="b"/>
<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint>
</model></sdf>"""
WORLD = """<sdf version="1.7"><world name="w">
<include><uri>{uri}</uri><name>kept</name></include>
<include><uri>https://fuel.gazebosim.org/1.0/OpenRobotics/models/Sun</uri></include>
<model name="own"><link name="c"/></model>
</world></sdf>"""


def test_an_include_that_is_not_found_is_a_warning_at_its_line(tmp_path: Path) -> None:
    file = tmp_path / "w.sdf"
    file.write_text(WORLD.format(uri="model://gone"))
    report = lint(file)
    assert findings(report, "MB906") == [(2, "warning")]
    assert report.exit_code == 0 and report.scene is not None
    assert [body.name for body in report.scene.mechanism.bodies] == ["c"]


def test_a_joint_to_a_missing_model_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "m.sdf"
    file.write_text(
        '<sdf version="1.7"><model name="m"><link name="a"/>\n<include><uri>model://gone</uri></include>\n'
        '<joint name="j" type="fixed"><parent>a</parent><child>gone::b</child></joint></model></sdf>'
    )
    report = lint(file)
    assert report.analysis is not None and report.analysis.dof == 6
    assert findings(report, "MB906") == [(2, "warning")] and findings(report, "MB113") == [(3, "note")]


@pytest.mark.parametrize("variable", ["GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH"])
def test_models_are_found_on_the_paths_of_gazebo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    place = tmp_path / "models" / "arm"
    place.mkdir(parents=True)
    (place / "model.sdf").write_text(ARM)
    file = tmp_path / "own" / "deep" / "w.sdf"
    file.parent.mkdir(parents=True)
    file.write_text(WORLD.format(uri="model://arm"))
    monkeypatch.setenv(variable, str(place.parent))
    assert len(load(file).mechanism.bodies) == 3


def test_models_that_gazebo_keeps_are_found_the_newest_version_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "home" / ".gz" / "fuel" / "fuel.gazebosim.org" / "some one" / "models" / "arm 2"
    for version, name in (("2", "old"), ("10", "new")):
        (kept / version).mkdir(parents=True)
        (kept / version / "model.sdf").write_text(ARM.replace('"arm"', f'"{name}"'))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    uri = "https://fuel.gazebosim.org/1.0/Some One/models/Arm%202"
    file = tmp_path / "own" / "deep" / "w.sdf"
    file.parent.mkdir(parents=True)
    file.write_text(WORLD.format(uri=uri).replace("<name>kept</name>", ""))
    assert "new/a" in [body.name for body in load(file).mechanism.bodies]
    file.write_text(WORLD.format(uri=f"{uri}/2").replace("<name>kept</name>", ""))
    assert "old/a" in [body.name for body in load(file).mechanism.bodies]


TWO_AXES = """<sdf version="1.7"><model name="m"><link name="a"/><link name="b"/>
<joint name="j" type="{kind}"><pose>0 0 0 0 0 1.5707963267948966</pose>
<parent>a</parent><child>b</child>{axis}</joint></model></sdf>"""


@pytest.mark.parametrize(
    ("axis", "first", "second"),
    [
        # x and y of the joint, which is turned by a right angle about z
        ("", (0, 1, 0), (-1, 0, 0)),
        ("<axis><xyz>1 0 0</xyz></axis>", (0, 1, 0), (0, 0, 1)),
        ("<axis><xyz>0 0 1</xyz></axis>", (0, 0, 1), (-1, 0, 0)),
    ],
)
@pytest.mark.parametrize("kind", ["universal", "revolute2"])
def test_axes_of_a_joint_with_two_have_defaults(
    tmp_path: Path, kind: str, axis: str, first: tuple[float, ...], second: tuple[float, ...]
) -> None:
    file = tmp_path / "m.sdf"
    file.write_text(TWO_AXES.format(kind=kind, axis=axis))
    report = lint(file)
    assert report.scene is not None and report.analysis is not None and report.analysis.dof == 8
    (pair,) = report.scene.mechanism.pairs
    np.testing.assert_allclose(pair.X_AP.R[:, :2], np.column_stack((first, second)), atol=1e-12)
    assert set(findings(report, "MB113")) == {(2, "note")}


def test_a_joint_away_from_the_frame_of_its_parent_is_reported(tmp_path: Path) -> None:
    text = """<sdf version="1.7"><model name="m">
<frame name="Wd" attached_to="world"><pose>{x} 0 0 0 0 0</pose></frame>
<link name="a"><pose>3 0 0 0 0 0</pose></link>
<joint name="j" type="revolute">
<parent>Wd</parent><child>a</child><axis><xyz>0 0 1</xyz></axis></joint></model></sdf>"""
    file = tmp_path / "m.sdf"
    file.write_text(text.format(x=1))
    report = lint(file)
    assert findings(report, "MB119") == [(5, "warning")]
    assert "2 m away from the frame 'Wd'" in next(f.message for f in report.findings if f.code == "MB119")
    file.write_text(text.format(x=3))
    assert findings(lint(file), "MB119") == []
    file.write_text(text.format(x=1).replace("<parent>Wd</parent>", "<parent>world</parent>"))
    assert findings(lint(file), "MB119") == []


def test_a_model_whose_listed_file_is_not_there_is_a_warning_too(tmp_path: Path) -> None:
    """PX4 makes the files of its models while it is built."""
    (tmp_path / "iris").mkdir()
    (tmp_path / "iris" / "model.config").write_text("<model><sdf>iris.sdf</sdf></model>")
    file = tmp_path / "w.sdf"
    file.write_text(WORLD.format(uri="model://iris"))
    report = lint(file, package_dirs=[str(tmp_path)])
    assert findings(report, "MB906") == [(2, "warning")] and report.exit_code == 0
    assert "'iris.sdf', which is missing" in report.findings[0].message


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse or change such names")
def test_a_path_that_is_not_utf_8_is_said(tmp_path: Path) -> None:
    file = tmp_path / os.fsdecode(b"robot_\xff.urdf")
    file.write_text('<robot name="r"><link name="a"/></robot>')
    with pytest.raises(
        UnreadableFile, match="the path of the file is not UTF-8; expected names in UTF-8; rename it"
    ):
        load(file)
