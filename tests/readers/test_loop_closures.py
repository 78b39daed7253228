"""``loop_closures.yaml`` beside a URDF: the loop of a four-bar that its tree has no place for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import call
from mbplugin.errors import BadNumber, BrokenModel, MbPluginError, UnknownName
from mbplugin.model.mechanism.kinematics import forward, relative_pose

pytest.importorskip("yaml")

INERTIAL = """<inertial><origin xyz="0 0 .15"/><mass value="1"/>
<inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>"""
#: The base is turned and moved against the root, so that the frame of the numbers matters.
TREE = f"""<robot name="four_bar"><link name="world"/>
<link name="base_link"/><link name="crank">{INERTIAL}</link><link name="coupler">{INERTIAL}</link>
<link name="rocker">{INERTIAL}</link>
<joint name="w" type="fixed"><parent link="world"/><child link="base_link"/>
<origin xyz="1 2 3" rpy="0.3 0.2 0.1"/></joint>
<joint name="j1" type="revolute"><parent link="base_link"/><child link="crank"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="10" velocity="1"/></joint>
<joint name="j2" type="revolute"><parent link="crank"/><child link="coupler"/><origin xyz="0 0 .3"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="10" velocity="1"/></joint>
<joint name="j3" type="continuous"><parent link="base_link"/><child link="rocker"/><origin xyz="1 0 0"/>
<axis xyz="0 1 0"/></joint></robot>"""
SIDECAR = """closures:
- link_a: coupler
  link_b: rocker
  point: [1.0, 0.0, 0.3]
  axis: [0.0, 2.0, 0.0]
dependent: [j2, j3]
independent: [j1]
"""


def robot(folder: Path, text: str = SIDECAR, beside: str = ".") -> Path:
    """A URDF in ``urdf``, and its sidecar in a folder seen from there."""
    (folder / "package.xml").write_text("<package><name>p</name></package>")
    (folder / "urdf").mkdir()
    file = folder / "urdf" / "robot.urdf"
    file.write_text(TREE)
    place = folder / "urdf" / beside
    place.mkdir(exist_ok=True)
    (place / "loop_closures.yaml").write_text(text)
    return file


@pytest.mark.parametrize("beside", [".", "..", "../config"])
def test_the_hinge_closes_the_loop(tmp_path: Path, beside: str) -> None:
    file = robot(tmp_path, beside=beside)
    scene = mb.load(file)
    (pair,) = (p for p in scene.mechanism.pairs if p.closure)
    assert (pair.type, pair.bodies) == ("revolute", ("coupler", "rocker"))
    analysis = mb.analyze(scene)
    assert (analysis.dof, analysis.structural_redundancy) == (1, 3)
    assert scene.actuated == ("j1",) and len(scene.files) == 2
    # at zero both frames meet, at the point that is stated and along the axis, in the base link
    poses = forward(scene.mechanism, scene.state.q)
    apart = relative_pose(scene.mechanism, pair, poses)
    assert np.allclose(apart.p, 0, atol=1e-12) and np.allclose(apart.R, np.eye(3), atol=1e-12)
    index = scene.mechanism.body_index
    X_BJ = poses.of(index["base_link"]).inverse() @ poses.of(index["coupler"]) @ pair.X_AP
    assert np.allclose(X_BJ.p, [1, 0, 0.3]) and np.allclose(X_BJ.R[:, 2], [0, 1, 0])
    assert scene.origin["constraint", pair.name, ""].line == 2


def test_a_lint_names_the_redundancy_of_the_hinge(tmp_path: Path) -> None:
    done = call("lint", str(robot(tmp_path)))
    assert "MB201" in done.out and "coupler-rocker" in done.out


def test_a_file_of_another_robot_says_nothing(tmp_path: Path) -> None:
    text = SIDECAR.replace("coupler", "other").replace("rocker", "another")
    scene = mb.load(robot(tmp_path, text, ".."))
    assert not any(pair.closure for pair in scene.mechanism.pairs) and scene.actuated == ()
    (defect,) = (d for d in scene.defects if "loop_closures.yaml" in d.message)
    assert defect.code == "MB113" and "names no link of this robot" in defect.message


def test_a_closure_that_the_urdf_has_is_read_once(tmp_path: Path) -> None:
    file = robot(tmp_path)
    loop = """<loop_joint name="pin" type="revolute"><link1 link="coupler" xyz="1 0 0" rpy="0 0 0"/>
    <link2 link="rocker" xyz="0 0 0.3" rpy="0 0 0"/><axis xyz="0 1 0"/></loop_joint></robot>"""
    file.write_text(TREE.replace("</robot>", loop))
    scene = mb.load(file)
    assert [pair.name for pair in scene.mechanism.pairs if pair.closure] == ["pin"]
    assert any("is 'pin' of the URDF already" in defect.message for defect in scene.defects)


def test_what_else_a_closure_states_is_told(tmp_path: Path) -> None:
    scene = mb.load(robot(tmp_path, SIDECAR.replace("  axis", "  stiffness: 3\n  axis")))
    assert any("'stiffness' of the closure" in defect.message for defect in scene.defects)


@pytest.mark.parametrize(
    ("was", "becomes", "error", "words"),
    [
        ("link_b: rocker", "link_b: rokcer", UnknownName, "did you mean 'rocker'"),
        ("link_b: rocker", "link_b: coupler", BrokenModel, "joins 'coupler' to itself"),
        ("  axis: [0.0, 2.0, 0.0]", "", BrokenModel, "does not state axis"),
        ("[0.0, 2.0, 0.0]", "[0, 0, 0]", BadNumber, "the axis of a closure is zero"),
        ("[1.0, 0.0, 0.3]", "[1, 0]", BadNumber, "point of a closure is '1, 0'"),
        ("[1.0, 0.0, 0.3]", "[1, .nan, 0]", BadNumber, "point of a closure"),
        ("[1.0, 0.0, 0.3]", "{a: 1}", BrokenModel, "this is not a list"),
        ("closures:\n-", "closures:\n- 3\n-", BrokenModel, "a closure is not a table"),
        ("closures:", "closures: [", BrokenModel, "the YAML is broken"),
        ("independent: [j1]", "independent: j1", BrokenModel, "this is not a list"),
    ],
)
def test_bad_input_is_one_sentence(
    tmp_path: Path, was: str, becomes: str, error: type[MbPluginError], words: str
) -> None:
    assert was in SIDECAR
    with pytest.raises(error, match=words) as told:
        mb.load(robot(tmp_path, SIDECAR.replace(was, becomes)))
    assert "loop_closures.yaml" in str(told.value)
