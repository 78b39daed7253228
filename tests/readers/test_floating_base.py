"""A floating joint below a root link without mass: the robot that it carries is the free base."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.model.mechanism.kinematics import forward

ROBOT = """<robot name="r">
  <link name="root">{root}</link>
  <link name="trunk"><inertial><origin xyz="0.1 0 0"/><mass value="3"/>
    <inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="arm"><inertial><origin xyz="0 0 0.2"/><mass value="1"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  {joint}
  <joint name="j" type="revolute"><parent link="trunk"/><child link="arm"/><axis xyz="0 1 0"/>
    <origin xyz="0.2 0 0"/><limit lower="-1" upper="1" effort="9" velocity="2"/></joint>
  {more}
</robot>"""
FLOATING = """<joint name="f" type="floating"><parent link="root"/><child link="trunk"/>
    <origin xyz="1 2 3" rpy="0 0 0.5"/></joint>"""
MASS = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
MARKER = '<visual><geometry><sphere radius="0.01"/></geometry></visual>'


def robot(folder: Path, root: str = "", joint: str = FLOATING, more: str = "") -> Path:
    (folder / "r.urdf").write_text(ROBOT.format(root=root, joint=joint, more=more))
    return folder / "r.urdf"


@pytest.mark.parametrize("root", ["", MARKER])
def test_the_link_that_it_frees_is_the_base(root: str, tmp_path: Path) -> None:
    scene = mb.load(robot(tmp_path, root))
    assert [body.name for body in scene.mechanism.bodies] == ["trunk", "arm"]
    assert [pair.name for pair in scene.mechanism.pairs] == ["j"] and mb.analyze(scene).dof == 7
    X = forward(scene.mechanism, scene.state.q).of(0)
    assert pytest.approx([1, 2, 3]) == X.p
    assert pytest.approx(np.array([np.cos(0.5), np.sin(0.5), 0])) == X.R[:, 0]
    assert not [name for name in scene.shapes if name == "root"]
    (said,) = (finding for finding in mb.lint(tmp_path / "r.urdf").findings if "free base" in finding.message)
    assert (said.code, said.severity) == (
        "MB113",
        "note",
    ) and "'trunk' is read as the free base" in said.message
    assert ("without the shapes of 'root'" in said.message) == bool(root)


def test_it_moves_as_the_robot_without_that_root(tmp_path: Path) -> None:
    """Half a second of fall, of a robot whose file states no root above its trunk."""
    (tmp_path / "a").mkdir()
    ours = mb.simulate(mb.load(robot(tmp_path)), 0.5, qd={"j": 1.0})
    bare = robot(tmp_path / "a", joint="").read_text().replace('<link name="root"></link>', "")
    (tmp_path / "a/r.urdf").write_text(bare)
    scene = mb.load(tmp_path / "a/r.urdf")
    theirs = mb.simulate(scene, 0.5, q=ours.q[0], qd={"j": 1.0})
    assert scene.mechanism.q_names == ours.mechanism.q_names
    assert ours.q[-1] == pytest.approx(theirs.q[-1], abs=1e-12)


def test_a_base_that_is_fixed_is_the_link_that_it_frees(tmp_path: Path) -> None:
    scene = mb.load(robot(tmp_path), base="fixed")
    assert mb.analyze(scene).dof == 1
    assert pytest.approx([1, 2, 3]) == forward(scene.mechanism, scene.state.q).of(0).p
    assert mb.reactions(scene, hold=["j"])["world→trunk"]["tz"].value == pytest.approx(4 * 9.81)


@pytest.mark.parametrize(
    ("root", "joint", "more"),
    [
        (MASS, FLOATING, ""),
        (MARKER.replace("visual", "collision"), FLOATING, ""),
        ("", FLOATING.replace('"floating"', '"planar"'), ""),
        (
            "",
            FLOATING,
            '<link name="b"/><joint name="g" type="fixed"><parent link="root"/><child link="b"/></joint>',
        ),
    ],
    ids=["mass", "collision shape", "another joint", "another child"],
)
def test_any_other_root_stays(root: str, joint: str, more: str, tmp_path: Path) -> None:
    mech = mb.load(robot(tmp_path, root, joint, more)).mechanism
    assert {"f"} <= {pair.name for pair in mech.pairs} and mech.bodies[0].name == "root"


def test_a_floating_joint_that_the_loads_move_is_held_whole(tmp_path: Path) -> None:
    """Its freedoms are found in several rounds; they make one lock."""
    file = robot(tmp_path, MASS)
    # moments that are small beside the weight
    file.write_text(file.read_text().replace('"0.1 0 0"', '"0.001 0.002 0"').replace('"0.2 0 0"', '"0 0 0"'))
    found = mb.reactions(mb.load(file, base="fixed"))
    assert found["lock f"]["tz_lock"].value == pytest.approx(4 * 9.81)
    assert found["world→root"]["tz"].value == pytest.approx(5 * 9.81)


def test_each_robot_of_a_file_with_two_is_freed(tmp_path: Path) -> None:
    file = robot(tmp_path)
    text = file.read_text()
    second = text.replace('<robot name="r">', "").replace("</robot>", "")
    for name in ("root", "trunk", "arm", "f", "j"):
        second = second.replace(f'"{name}"', f'"{name}2"')
    file.write_text(text.replace("</robot>", f"{second}</robot>"))
    mech = mb.load(file).mechanism
    assert sorted(body.name for body in mech.bodies) == ["arm", "arm2", "trunk", "trunk2"]
    assert mb.analyze(mech).dof == 14
