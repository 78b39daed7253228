"""The URDF reader: frames, inertias, names and sentences against values worked out by hand."""

from __future__ import annotations

import subprocess
import sys
from math import inf, pi

import numpy as np
import pytest

from mbplugin.errors import BadNumber, BadUsage, BrokenModel, MbPluginError, UnknownFormat
from mbplugin.model.mechanism import WORLD
from mbplugin.model.mechanism.kinematics import forward, joint_vector
from mbplugin.model.scene import Origin, Scene
from mbplugin.model.spatial import rotation_from_rpy
from mbplugin.readers import load, reload

TWO_LINKS = '<link name="a"/><link name="b"/>'


def robot(body: str, **options: object) -> Scene:
    return load("arm.urdf", text=f'<robot name="arm">{body}</robot>', **options)  # type: ignore[arg-type]


def joint(inner: str = "", kind: str = "revolute", name: str = "j", ends: str = "ab") -> str:
    limit = '<limit lower="-1" upper="2" effort="3" velocity="4"/>' if "<limit" not in inner else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{ends[0]}"/><child link="{ends[1]}"/>'
        f"{limit}{inner}</joint>"
    )


def codes(scene: Scene) -> list[str]:
    return [defect.code for defect in scene.defects]


def world_point(scene: Scene, body: str, point: tuple[float, float, float], **q: float) -> np.ndarray:
    mech = scene.mechanism
    return forward(mech, joint_vector(mech, q)).of(mech.body_index[body]).apply(np.array(point))


# ---------------------------------------------------------------- frames


def test_joint_frame_has_its_z_on_the_axis() -> None:
    scene = robot(TWO_LINKS + joint('<origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><axis xyz="0 5 0"/>'))
    pair = scene.mechanism.pair_by_name["j"]
    np.testing.assert_allclose(pair.X_AP.p, [1, 2, 3])
    # y of a frame that is turned by 90° about z points along −x of the parent
    np.testing.assert_allclose(pair.X_AP.R[:, 2], [-1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(pair.X_BS.R[:, 2], [0, 1, 0], atol=1e-15)
    np.testing.assert_allclose(pair.X_BS.p, 0)


def test_child_moves_about_the_axis() -> None:
    scene = robot(
        TWO_LINKS + joint('<origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><axis xyz="0 1 0"/>'),
        base="fixed",
    )
    # Ry(90°) takes x to −z, Rz(90°) leaves that alone
    np.testing.assert_allclose(world_point(scene, "b", (1, 0, 0), j=pi / 2), [1, 2, 2], atol=1e-12)


def test_prismatic_child_moves_along_the_axis() -> None:
    scene = robot(
        TWO_LINKS
        + joint('<origin xyz="0 0 1" rpy="1.5707963267948966 0 0"/><axis xyz="0 1 0"/>', "prismatic"),
        base="fixed",
    )
    np.testing.assert_allclose(world_point(scene, "b", (0, 0, 0), j=0.5), [0, 0, 1.5], atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "freedoms"),
    [
        ("revolute", 1),
        ("continuous", 1),
        ("prismatic", 1),
        ("fixed", 0),
        ("planar", 3),
        ("spherical", 3),
        ("floating", 6),
    ],
)
def test_types(kind: str, freedoms: int) -> None:
    pair = robot(TWO_LINKS + joint(kind=kind)).mechanism.pair_by_name["j"]
    assert pair.type == kind
    assert len(pair.freedoms) == freedoms


def test_planar_joint_moves_across_its_axis() -> None:
    scene = robot(TWO_LINKS + joint('<axis xyz="1 0 0"/>', "planar"), base="fixed")
    p = world_point(scene, "b", (0, 0, 0), **{"j.tx": 0.3, "j.ty": 0.4})
    assert p[0] == pytest.approx(0)
    assert np.linalg.norm(p) == pytest.approx(0.5)


@pytest.mark.parametrize("kind", ["fixed", "spherical", "floating"])
def test_a_joint_without_axis_keeps_the_frame_of_the_file(kind: str) -> None:
    scene = robot(TWO_LINKS + joint('<origin rpy="0 0 0.5"/><axis xyz="0 0 0"/>', kind))
    np.testing.assert_allclose(
        scene.mechanism.pair_by_name["j"].X_AP.R, rotation_from_rpy((0, 0, 0.5)), atol=1e-15
    )
    assert codes(scene) == []


def test_axis_is_x_where_none_is_given() -> None:
    pair = robot(TWO_LINKS + joint()).mechanism.pair_by_name["j"]
    np.testing.assert_allclose(pair.X_AP.R[:, 2], [1, 0, 0], atol=1e-15)


def test_zero_axis_is_a_defect_and_x_is_taken() -> None:
    scene = robot(TWO_LINKS + "\n" + joint('<axis xyz="0 0 0"/>'))
    assert codes(scene) == ["MB106"]
    assert scene.defects[0].element == "j"
    assert scene.defects[0].origin == Origin("arm.urdf", 2)
    np.testing.assert_allclose(scene.mechanism.pair_by_name["j"].X_AP.R[:, 2], [1, 0, 0], atol=1e-15)


# ---------------------------------------------------------------- freedoms


def test_limits_damping_and_friction() -> None:
    inner = '<limit lower="-1" upper="2" effort="3" velocity="4"/><dynamics damping="0.5" friction="0.25"/>'
    (freedom,) = robot(TWO_LINKS + joint(inner)).mechanism.pair_by_name["j"].freedoms
    assert (freedom.lower, freedom.upper, freedom.effort, freedom.velocity) == (-1, 2, 3, 4)
    assert (freedom.damping, freedom.friction) == (0.5, 0.25)


@pytest.mark.parametrize(
    ("kind", "limit", "bounds"),
    [
        ("continuous", 'lower="-1" upper="1"', (-inf, inf)),
        ("revolute", 'lower="-1"', (-1, 0)),
        ("revolute", 'effort="1"', (-inf, inf)),
        ("revolute", 'lower="1" upper="-1"', (-inf, inf)),
        ("prismatic", 'lower="0" upper="0"', (0, 0)),
    ],
)
def test_bounds(kind: str, limit: str, bounds: tuple[float, float]) -> None:
    (freedom,) = robot(TWO_LINKS + joint(f"<limit {limit}/>", kind)).mechanism.pair_by_name["j"].freedoms
    assert (freedom.lower, freedom.upper) == bounds


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_missing_limit_is_noted(kind: str) -> None:
    text = f'<joint name="j" type="{kind}"><parent link="a"/><child link="b"/></joint>'
    scene = robot(TWO_LINKS + text)
    assert codes(scene) == ["MB111"]
    assert "PyBullet refuses" in scene.defects[0].message
    (freedom,) = scene.mechanism.pair_by_name["j"].freedoms
    assert (freedom.lower, freedom.upper) == (-inf, inf)


# ---------------------------------------------------------------- bodies


def test_inertia_is_turned_into_link_axes() -> None:
    scene = robot(
        '<link name="a"><inertial><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><mass value="5"/>'
        '<inertia ixx="1" iyy="2" izz="3" ixy="0.1" ixz="0.2" iyz="0.3"/></inertial></link>'
    )
    (body,) = scene.mechanism.bodies
    assert body.mass == 5
    np.testing.assert_allclose(body.p_LC, [1, 2, 3])
    # Rz(90°): new x = −old y, new y = old x
    np.testing.assert_allclose(body.I_C, [[2, -0.1, -0.3], [-0.1, 1, 0.2], [-0.3, 0.2, 3]], atol=1e-15)


def test_link_without_inertial_is_massless() -> None:
    scene = robot('<link name="a"/>')
    assert scene.mechanism.bodies[0].massless
    assert ("body", "a", "") in scene.origin
    assert ("body", "a", "inertial") not in scene.origin


def test_impossible_masses_are_read_as_they_are() -> None:
    scene = robot('<link name="a"><inertial><mass value="-2"/><inertia ixx="-1"/></inertial></link>')
    assert scene.mechanism.bodies[0].mass == -2
    assert scene.mechanism.bodies[0].I_C[0, 0] == -1


def test_shapes() -> None:
    scene = robot(
        '<link name="a">'
        '<visual><origin xyz="0 0 1"/>'
        '<geometry><mesh filename="package://x/m.stl" scale="2 3 4"/></geometry></visual>'
        '<visual><geometry><mesh filename="m.stl" scale="0.1"/></geometry></visual>'
        '<collision><geometry><box size="1 2 3"/></geometry></collision>'
        '<collision><geometry><sphere radius="0.5"/></geometry></collision>'
        '<collision><geometry><cylinder radius="0.5" length="2"/></geometry></collision>'
        '<collision><geometry><capsule radius="0.5" length="2"/></geometry></collision>'
        "<collision/></link>"
    )
    shapes = scene.shapes["a"]
    assert [(s.role, s.kind, s.size) for s in shapes] == [
        ("visual", "mesh", (2, 3, 4)),
        ("visual", "mesh", (0.1, 0.1, 0.1)),
        ("collision", "box", (1, 2, 3)),
        ("collision", "sphere", (0.5,)),
        ("collision", "cylinder", (0.5, 2)),
        ("collision", "capsule", (0.5, 2)),
    ]
    assert shapes[0].mesh == "package://x/m.stl"
    np.testing.assert_allclose(shapes[0].X_LS.p, [0, 0, 1])


# ---------------------------------------------------------------- ground and base


def test_root_link_world_is_the_ground() -> None:
    scene = robot(f'<link name="world"/><link name="b"/>{joint(ends="wb")}'.replace('"w"', '"world"'))
    assert [body.name for body in scene.mechanism.bodies] == ["b"]
    assert scene.mechanism.pair_by_name["j"].body_a == WORLD
    assert scene.mechanism.q_names == ("j",)


def test_base_is_free_unless_fixed() -> None:
    text = TWO_LINKS + joint()
    assert len(robot(text).mechanism.qd_names) == 7
    assert [pair.name for pair in robot(text, base="free").mechanism.pairs] == ["j"]
    fixed = robot(text, base="fixed").mechanism
    assert [pair.name for pair in fixed.pairs] == ["world→a", "j"]
    assert fixed.pairs[0].type == "fixed"
    assert fixed.q_names == ("j",)


def test_fixed_base_leaves_a_grounded_root_alone() -> None:
    text = f'<link name="world"/><link name="b"/>{joint(ends="wb")}'.replace('"w"', '"world"')
    assert [pair.name for pair in robot(text, base="fixed").mechanism.pairs] == ["j"]
    with pytest.raises(BadUsage, match=r"^arm\.urdf:1: the base cannot be free"):
        robot(text, base="free")


def test_several_roots_are_reported_and_each_is_held() -> None:
    text = TWO_LINKS + '<link name="c"/>' + joint()
    scene = robot(text, base="fixed")
    assert codes(scene) == ["MB110"]
    assert "'a'" in scene.defects[0].message and "'c'" in scene.defects[0].message
    assert "'b'" not in scene.defects[0].message
    assert [p.name for p in scene.mechanism.pairs] == ["world→a", "world→c", "j"]


# ---------------------------------------------------------------- mimics


def three_links(mimic: str, leader_kind: str = "revolute", follower_kind: str = "revolute") -> Scene:
    return robot(
        TWO_LINKS
        + '<link name="c"/>'
        + joint(name="leader", kind=leader_kind)
        + joint(mimic, name="follower", kind=follower_kind, ends="ac")
    )


def test_mimic_is_a_coupling() -> None:
    scene = three_links('<mimic joint="leader" multiplier="-2" offset="0.5"/>')
    (coupling,) = scene.mechanism.couplings
    assert (coupling.name, coupling.type, coupling.offset) == ("mimic follower", "mimic", 0.5)
    # follower = −2·leader + 0.5, all on one side
    assert [(t.joint, t.freedom, t.coefficient) for t in coupling.terms] == [
        ("follower", "rz", 1),
        ("leader", "rz", 2),
    ]
    assert scene.origin[("constraint", "mimic follower", "")].line == 1


def test_mimic_of_a_slider_names_its_travel() -> None:
    scene = three_links('<mimic joint="leader"/>', leader_kind="prismatic")
    assert [(t.freedom, t.coefficient) for t in scene.mechanism.couplings[0].terms] == [("rz", 1), ("tz", -1)]


@pytest.mark.parametrize(
    ("mimic", "kinds", "said"),
    [
        ('<mimic joint="leaders"/>', ("revolute", "revolute"), "did you mean 'leader'"),
        ('<mimic joint="follower"/>', ("revolute", "revolute"), "itself"),
        ('<mimic joint="leader"/>', ("spherical", "revolute"), "no single freedom"),
        ('<mimic joint="leader"/>', ("fixed", "revolute"), "no single freedom"),
        ('<mimic joint="leader"/>', ("revolute", "planar"), "more than one freedom"),
    ],
)
def test_mimic_that_cannot_be_followed_is_a_defect(mimic: str, kinds: tuple[str, str], said: str) -> None:
    scene = three_links(mimic, *kinds)
    assert codes(scene) == ["MB108"]
    assert said in scene.defects[0].message
    assert scene.mechanism.couplings == ()


def test_mimic_of_a_frozen_joint_says_nothing() -> None:
    scene = three_links('<mimic joint="gone"/>', follower_kind="fixed")
    assert codes(scene) == [] and scene.mechanism.couplings == ()


# ---------------------------------------------------------------- names


def test_second_joint_of_a_name_gets_a_suffix() -> None:
    scene = robot(TWO_LINKS + '<link name="c"/>\n' + joint(ends="ab") + "\n" + joint(ends="bc"))
    assert [pair.name for pair in scene.mechanism.pairs] == ["j", "j#2"]
    assert codes(scene) == ["MB107"]
    assert str(scene.defects[0].origin) == "arm.urdf:3"
    assert "arm.urdf:2" in scene.defects[0].message
    assert scene.origin[("constraint", "j#2", "")].line == 3


def test_the_same_name_for_a_link_and_a_joint_is_fine() -> None:
    scene = robot(TWO_LINKS + joint(name="b"))
    assert codes(scene) == [] and scene.mechanism.pairs[0].name == "b"


def test_origins_hold_line_and_literal() -> None:
    text = (
        '<robot name="arm">\n<link name="a"/>\n<link name="b">\n<inertial>\n<mass value="2.0"/>\n'
        '<inertia ixx="1"/></inertial></link>\n<joint name="j" type="continuous">\n<parent link="a"/>'
        '<child link="b"/>\n<origin xyz="0 0 0"\n rpy="0 1.57075 0"/>\n<axis xyz="0 0 1"/></joint></robot>'
    )
    origin = load("arm.urdf", text=text).origin
    assert origin[("model", "arm", "")] == Origin("arm.urdf", 1)
    assert origin[("body", "a", "")] == Origin("arm.urdf", 2)
    assert origin[("body", "b", "inertial")].line == 4
    assert origin[("body", "b", "mass")] == Origin("arm.urdf", 5, "2.0")
    assert origin[("body", "b", "inertia")].line == 6
    assert origin[("constraint", "j", "")].line == 7
    assert origin[("constraint", "j", "rpy")] == Origin("arm.urdf", 9, "0 1.57075 0")
    assert origin[("constraint", "j", "axis")] == Origin("arm.urdf", 11, "0 0 1")


def test_files_are_named_as_the_user_wrote_them(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.urdf").write_text('<robot><link name="a"/></robot>')
    scene = load("./r.urdf")
    assert scene.files == ("./r.urdf",)
    assert scene.origin[("body", "a", "")].file == "./r.urdf"
    assert scene.mechanism.name == "r"


# ---------------------------------------------------------------- literals


def test_snapping_reads_rounded_angles_as_meant() -> None:
    text = TWO_LINKS + joint('<origin rpy="1.57075 0 3.141592"/><axis xyz="0 0 1"/>')
    R = robot(text).mechanism.pair_by_name["j"].X_AP.R
    assert 4e-5 < abs(R[2, 2]) < 5e-5
    R = robot(text, snap_angles=True).mechanism.pair_by_name["j"].X_AP.R
    np.testing.assert_allclose(R, rotation_from_rpy((pi / 2, 0, pi)), atol=1e-16)


def test_snapping_leaves_inertial_frames_alone() -> None:
    link = (
        '<link name="a"><inertial><origin rpy="1.57075 0 0"/><mass value="1"/>'
        '<inertia ixx="1" iyy="2" izz="3"/></inertial></link>'
    )
    np.testing.assert_array_equal(
        robot(link).mechanism.bodies[0].I_C, robot(link, snap_angles=True).mechanism.bodies[0].I_C
    )


@pytest.mark.parametrize(
    ("literal", "taken"),
    [('rpy="0.1 0.2 0.3 0.4"', (0.1, 0.2, 0.3)), ('rpy="0.1 0.2. 0.3f"', (0.1, 0.2, 0.3))],
)
def test_numbers_that_pybullet_reads_past_are_taken_and_noted(literal: str, taken) -> None:
    scene = robot(TWO_LINKS + "\n" + joint(f"<origin {literal}/>", "fixed"))
    assert codes(scene) == ["MB114"]
    assert (scene.defects[0].element, str(scene.defects[0].origin)) == ("j", "arm.urdf:2")
    np.testing.assert_allclose(scene.mechanism.pairs[0].X_AP.R, rotation_from_rpy(taken), atol=1e-15)


def test_ordinary_spellings_of_numbers_are_not_noted() -> None:
    assert codes(robot(TWO_LINKS + joint('<origin xyz="1. .5 -2e-3" rpy="0 0. +1.E0"/>'))) == []


def test_environment_substitutions(monkeypatch) -> None:
    inner = '<origin xyz="$(optenv ROS_ARM_XYZ 0.19 0 0.149)" rpy="0 0 0"/>'
    monkeypatch.delenv("ROS_ARM_XYZ", raising=False)
    np.testing.assert_allclose(robot(TWO_LINKS + joint(inner)).mechanism.pairs[0].X_AP.p, [0.19, 0, 0.149])
    monkeypatch.setenv("ROS_ARM_XYZ", "1 2 3")
    np.testing.assert_allclose(robot(TWO_LINKS + joint(inner)).mechanism.pairs[0].X_AP.p, [1, 2, 3])


def test_templates_in_parts_that_are_not_read_do_no_harm() -> None:
    scene = robot(
        '<link name="a"><visual><geometry><mesh filename="$(find x)/m.stl"/></geometry></visual></link>'
        '<gazebo><plugin name="${p}"/></gazebo><xacro:property name="p" value="${1 + 1}"/>'
    )
    assert scene.shapes["a"][0].mesh == "$(find x)/m.stl"


# ---------------------------------------------------------------- what is refused

REFUSED = [
    ("<material/>", BrokenModel, "has no links"),
    ("<link/>", BrokenModel, "<link> has no name"),
    (TWO_LINKS + '\n<link name="a"/>', BrokenModel, "arm.urdf:2: a second link is called 'a'"),
    (TWO_LINKS + joint(kind="hinge"), BrokenModel, "revolute, continuous, prismatic"),
    (TWO_LINKS + joint(kind="ball"), BrokenModel, "unknown type 'ball'"),
    (TWO_LINKS + joint(ends="xb"), BrokenModel, "link 'x' that does not exist"),
    (TWO_LINKS + joint(ends="aB"), BrokenModel, "link 'B' that does not exist"),
    (TWO_LINKS + joint(ends="aa"), BrokenModel, "joins link 'a' to itself"),
    (TWO_LINKS + '<joint name="j" type="fixed"><child link="b"/></joint>', BrokenModel, "has no <parent>"),
    (TWO_LINKS + '<joint type="fixed"/>', BrokenModel, "<joint> has no name"),
    (TWO_LINKS + '<joint name="j"/>', BrokenModel, "<joint> has no type"),
    ('<link name="a"/><link name="world"/>' + joint().replace('"b"', '"world"'), BrokenModel, "the ground"),
    ('<link name="a"><inertial><mass value="nan"/></inertial></link>', BadNumber, "finite"),
    ('<link name="a"><inertial><mass value="1e999"/></inertial></link>', BadNumber, "finite"),
    ('<link name="a"><inertial><mass value="heavy"/></inertial></link>', BadNumber, "value of <mass>"),
    ('<link name="a"><inertial><mass/></inertial></link>', BadNumber, "value of <mass>"),
    ('<link name="a"><inertial><inertia ixx="inf"/></inertial></link>', BadNumber, "ixx of <inertia>"),
    (TWO_LINKS + joint('<origin xyz="1 2"/>'), BadNumber, "xyz of <origin> has 2 numbers"),
    (TWO_LINKS + joint('<origin rpy="0 0 NaN"/>'), BadNumber, "rpy of <origin>"),
    (TWO_LINKS + joint('<axis xyz="0 0 inf"/>'), BadNumber, "xyz of <axis>"),
    (TWO_LINKS + joint('<limit upper="-inf"/>'), BadNumber, "upper of <limit>"),
    (TWO_LINKS + joint('<origin xyz="${x} 0 0"/>'), BrokenModel, "run xacro"),
    (TWO_LINKS + joint('<origin xyz="$(arg x) 0 0"/>'), BrokenModel, "run xacro"),
    (TWO_LINKS + '<xacro:leg name="l"/>', BrokenModel, "run xacro"),
]


@pytest.mark.parametrize(("body", "error", "said"), REFUSED)
def test_refused_with_file_and_line(body: str, error: type[MbPluginError], said: str) -> None:
    with pytest.raises(error) as caught:
        robot(body)
    message = str(caught.value)
    assert said in message
    assert message.startswith(("arm.urdf:1: ", "arm.urdf:2: "))
    assert "\n" not in message and message.endswith((".", "?"))


def test_unknown_link_comes_with_a_suggestion() -> None:
    with pytest.raises(BrokenModel, match="did you mean 'forearm'"):
        robot(
            '<link name="arm"/><link name="forearm"/>'
            + joint().replace('"b"', '"fore_arm"').replace('"a"', '"arm"')
        )


def test_the_line_is_that_of_the_element() -> None:
    with pytest.raises(BrokenModel, match=r"^arm\.urdf:3: joint 'j' names a link 'x'"):
        robot(TWO_LINKS + '\n<joint name="j" type="fixed">\n<parent link="x"/><child link="b"/></joint>')


# ---------------------------------------------------------------- finding the reader


def test_format_is_found_by_content(tmp_path) -> None:
    file = tmp_path / "arm.sdf"
    file.write_text('<?xml version="1.0"?>\n<!-- <sdf> --><robot name="r"><link name="a"/></robot>')
    assert load(file).mechanism.bodies[0].name == "a"


@pytest.mark.parametrize("text", ["<html><robot/></html>", "hello", "<!-- <robot/> -->"])
def test_unknown_format(text: str) -> None:
    with pytest.raises(UnknownFormat, match=r"^x\.urdf:1: .*URDF \(<robot>\), SDF"):
        load("x.urdf", text=text)


def test_base_is_checked() -> None:
    with pytest.raises(BadUsage, match="fixed or free"):
        robot(TWO_LINKS, base="loose")


def test_reload_snaps_and_keeps_the_state() -> None:
    from dataclasses import replace

    scene = robot(TWO_LINKS + joint('<origin rpy="1.57075 0 0"/>'), base="fixed")
    moved = replace(scene, state=replace(scene.state, q=np.array([0.25])))
    again = reload(moved, snap_angles=True)
    assert again.state.q.tolist() == [0.25]
    assert again.mechanism.pair_by_name["j"].X_AP.R[1, 1] == pytest.approx(0, abs=1e-15)
    assert again.request is not None and again.request.snap_angles and again.request.base == "fixed"


def test_a_live_scene_cannot_be_reloaded() -> None:
    from dataclasses import replace

    with pytest.raises(BadUsage, match="live client"):
        reload(replace(robot(TWO_LINKS), request=None), snap_angles=True)


def test_reading_a_file_imports_no_engine() -> None:
    code = (
        "import sys; from mbplugin.readers import load;"
        "load('r.urdf', text='<robot><link name=\"a\"/></robot>');"
        "heavy = ('pybullet', 'numba', 'trimesh', 'networkx', 'mujoco', 'yaml');"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ---------------------------------------------------------------- xacro

XACRO = """<?xml version="1.0"?>
<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="x">
  <xacro:arg name="length" default="2"/>
  <xacro:property name="half" value="${$(arg length) / 2}"/>
  <link name="a"/><link name="b"/>
  <joint name="j" type="fixed"><parent link="a"/><child link="b"/><origin xyz="${half} 0 0"/></joint>
</robot>
"""


def test_xacro_is_expanded(tmp_path) -> None:
    file = tmp_path / "x.xacro"
    file.write_text(XACRO)
    scene = load(file)
    np.testing.assert_allclose(scene.mechanism.pairs[0].X_AP.p, [1, 0, 0])
    assert scene.files == (str(file),)
    assert scene.origin[("constraint", "j", "")] == Origin(str(file), 6)


def test_xacro_that_fails_is_one_sentence(tmp_path) -> None:
    file = tmp_path / "x.xacro"
    file.write_text(XACRO.replace("${half}", "${unknown_name}"))
    with pytest.raises(BrokenModel, match="xacro could not expand the file") as caught:
        load(file)
    assert str(file) in str(caught.value) and "\n" not in str(caught.value)
