"""Every way people write a loop closure in a URDF, on one four-bar whose frames are known.

The four-bar stands as a unit square in the x–z plane at zero: crank and rocker point up from (0, 0, 0)
and (1, 0, 0), the coupler points along x from the crank's tip. All axes are y. The loop closes at
(1, 0, 1), which is (0, 0, 1) in the rocker and (1, 0, 0) in the coupler.
"""

from __future__ import annotations

import sys
from math import inf, pi
from pathlib import Path

import numpy as np
import pytest

from mbplugin.errors import BrokenModel, MissingDependency, UnknownName
from mbplugin.model.mechanism.kinematics import forward, home, joint_vector, relative_pose
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import rotation_from_rpy
from mbplugin.readers import load

LINKS = "".join(f'<link name="{name}"/>' for name in ("base", "crank", "coupler", "rocker"))


def joint(name: str, parent: str, child: str, xyz: str, kind: str = "continuous", axis: str = "0 1 0") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="{axis}"/></joint>'
    )


TREE = (
    LINKS
    + joint("j1", "base", "crank", "0 0 0")
    + joint("j2", "crank", "coupler", "0 0 1")
    + joint("j3", "base", "rocker", "1 0 0")
)


def robot(body: str, path: str = "four_bar.urdf", **options: object) -> Scene:
    options = {"base": "fixed", **options}
    return load(path, text=f'<robot name="four_bar">{body}</robot>', **options)  # type: ignore[arg-type]


def closure(scene: Scene) -> Pair:
    (pair,) = (pair for pair in scene.mechanism.pairs if pair.closure)
    return pair


def codes(scene: Scene) -> list[str]:
    return [defect.code for defect in scene.defects]


def check_square(scene: Scene, kind: str) -> Pair:
    """The closure sits at the known points of rocker and coupler, whichever comes first."""
    pair = closure(scene)
    assert pair.type == kind
    points = {"rocker": [0, 0, 1], "coupler": [1, 0, 0]}
    assert {pair.body_a, pair.body_b} == set(points)
    np.testing.assert_allclose(pair.X_AP.p, points[pair.body_a], atol=1e-12)
    np.testing.assert_allclose(pair.X_BS.p, points[pair.body_b], atol=1e-12)
    if kind in ("revolute", "continuous"):
        np.testing.assert_allclose(pair.X_AP.R[:, 2], [0, 1, 0], atol=1e-12)
        np.testing.assert_allclose(pair.X_BS.R[:, 2], [0, 1, 0], atol=1e-12)
    # closed at zero, and cut out of the tree
    X_PS = relative_pose(scene.mechanism, pair, forward(scene.mechanism, home(scene.mechanism)))
    np.testing.assert_allclose(X_PS.p, 0, atol=1e-12)
    np.testing.assert_allclose(X_PS.R, np.eye(3), atol=1e-12)
    assert scene.mechanism.tree.cut == (pair,)
    assert scene.mechanism.q_names == ("j1", "j2", "j3")
    return pair


# ---------------------------------------------------------------- two joints with one child


def test_later_joint_of_a_child_is_the_closure() -> None:
    scene = robot(TREE + "\n" + joint("j4", "rocker", "coupler", "0 0 1"))
    assert check_square(scene, "continuous").name == "j4"
    # it tells how it was read, since the file could mean the coupler's own frame
    assert codes(scene) == ["MB115"]
    assert str(scene.defects[0].origin) == "four_bar.urdf:2"
    assert "'j2'" in scene.defects[0].message


def test_file_order_decides_which_joint_is_the_closure() -> None:
    scene = robot(
        LINKS
        + joint("j3", "base", "rocker", "1 0 0")
        + joint("j4", "rocker", "coupler", "0 0 1", axis="0 -1 0")
        + joint("j1", "base", "crank", "0 0 0")
        + joint("j2", "crank", "coupler", "0 0 1")
    )
    pair = closure(scene)
    assert pair.name == "j2"
    # the coupler's frame is at the rocker's tip now, the crank's tip is one to the left
    np.testing.assert_allclose(pair.X_BS.p, [-1, 0, 0], atol=1e-12)
    assert scene.mechanism.q_names == ("j3", "j4", "j1")


def test_two_coaxial_hinges_of_a_door() -> None:
    scene = robot(
        '<link name="frame"/><link name="door"/>'
        + joint("low", "frame", "door", "0 0 0", axis="0 0 1")
        + joint("high", "frame", "door", "0 0 1", axis="0 0 1")
    )
    pair = closure(scene)
    assert pair.name == "high"
    np.testing.assert_allclose(pair.X_AP.p, [0, 0, 1])
    np.testing.assert_allclose(pair.X_BS.p, [0, 0, 1])


def test_ring_without_a_root_is_cut_at_its_last_joint() -> None:
    scene = robot(
        '<link name="a"/><link name="b"/><link name="c"/>'
        + joint("ab", "a", "b", "1 0 0")
        + joint("bc", "b", "c", "0 1 0")
        + joint("ca", "c", "a", "0 0 1")
    )
    pair = closure(scene)
    assert pair.name == "ca"
    # a is at the origin and c at (1, 1, 0), so the joint sits at (1, 1, 1)
    np.testing.assert_allclose(pair.X_BS.p, [1, 1, 1], atol=1e-12)
    assert "world→a" in scene.mechanism.pair_by_name
    assert codes(scene) == ["MB115"]


# ---------------------------------------------------------------- loop_joint


@pytest.mark.parametrize("second", ["link2", "link1"])
def test_loop_joint(second: str) -> None:
    scene = robot(
        TREE
        + '<loop_joint name="loop" type="revolute">\n<link1 link="rocker" xyz="0 0 1" rpy="0 0 0"/>\n'
        + f'<{second} link="coupler" xyz="1 0 0" rpy="0 0 0"/><axis xyz="0 1 0"/></loop_joint>'
    )
    pair = check_square(scene, "revolute")
    assert (pair.name, pair.body_a) == ("loop", "rocker")
    assert scene.origin[("constraint", "loop", "rpy_a")].line == 2
    assert scene.origin[("constraint", "loop", "rpy_b")].line == 3


@pytest.mark.parametrize(
    ("stated", "kind"), [("spherical", "spherical"), ("ball", "spherical"), ("fixed", "fixed")]
)
def test_loop_joint_types(stated: str, kind: str) -> None:
    scene = robot(
        TREE
        + f'<loop_joint name="loop" type="{stated}"><link1 link="rocker" xyz="0 0 1"/>'
        + '<link2 link="coupler" xyz="1 0 0"/></loop_joint>'
    )
    check_square(scene, kind)


def test_loop_joint_frames_are_turned_before_the_axis() -> None:
    scene = robot(
        TREE
        + '<loop_joint name="loop" type="continuous"><link1 link="rocker" xyz="0 0 1" '
        + 'rpy="1.5707963267948966 0 0"/><link2 link="coupler" xyz="1 0 0"/><axis xyz="0 1 0"/></loop_joint>'
    )
    pair = closure(scene)
    # Rx(90°) takes y to z
    np.testing.assert_allclose(pair.X_AP.R[:, 2], [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(pair.X_BS.R[:, 2], [0, 1, 0], atol=1e-12)


def test_loop_joint_angles_are_snapped() -> None:
    body = (
        TREE
        + '<loop_joint name="loop" type="fixed"><link1 link="rocker" rpy="1.57075 0 0"/>'
        + '<link2 link="coupler"/></loop_joint>'
    )
    R = closure(robot(body, snap_angles=True)).X_AP.R
    np.testing.assert_allclose(R, rotation_from_rpy((pi / 2, 0, 0)), atol=1e-16)


# ---------------------------------------------------------------- Drake


def test_drake_ball_constraint() -> None:
    scene = robot(
        TREE
        + '<drake:ball_constraint><drake:ball_constraint_body_A name="rocker"/>'
        + '<drake:ball_constraint_body_B name="coupler"/><drake:ball_constraint_p_AP value="0 0 1"/>'
        + '<drake:ball_constraint_p_BQ value="1 0 0"/></drake:ball_constraint>'
    )
    assert check_square(scene, "spherical").name == "ball_constraint_rocker_coupler"


def test_drake_ball_constraint_as_element_text() -> None:
    scene = robot(
        TREE
        + "<drake:ball_constraint><drake:ball_constraint_body_A>rocker</drake:ball_constraint_body_A>"
        + "<drake:ball_constraint_body_B> coupler </drake:ball_constraint_body_B>"
        + "<drake:ball_constraint_p_AP>0 0 1</drake:ball_constraint_p_AP>"
        + "<drake:ball_constraint_p_BQ>1 0 0</drake:ball_constraint_p_BQ></drake:ball_constraint>"
    )
    check_square(scene, "spherical")


@pytest.mark.parametrize("point", ['p_AP value="0 0 1"', 'p_BQ value="1 0 0"'])
def test_drake_ball_constraint_with_one_point_takes_the_other_at_zero(point: str) -> None:
    scene = robot(
        TREE
        + '<drake:ball_constraint><drake:ball_constraint_body_A name="rocker"/>'
        + '<drake:ball_constraint_body_B name="coupler"/>'
        + f"<drake:ball_constraint_{point}/></drake:ball_constraint>"
    )
    check_square(scene, "spherical")


def test_two_ball_constraints_of_one_pair_of_bodies_are_told_apart() -> None:
    ball = (
        '<drake:ball_constraint><drake:ball_constraint_body_A name="rocker"/>'
        '<drake:ball_constraint_body_B name="coupler"/><drake:ball_constraint_p_AP value="0 {} 1"/>'
        '<drake:ball_constraint_p_BQ value="1 {} 0"/></drake:ball_constraint>'
    )
    names = [p.name for p in robot(TREE + ball.format(0, 0) + ball.format(1, 1)).mechanism.pairs if p.closure]
    assert names == ["ball_constraint_rocker_coupler", "ball_constraint_rocker_coupler#2"]


@pytest.mark.parametrize(
    ("kind", "expected"), [("ball", "spherical"), ("universal", "universal"), ("planar", "planar")]
)
def test_drake_joint_types(kind: str, expected: str) -> None:
    body = '<link name="a"/><link name="b"/>' + joint("j", "a", "b", "0 0 1", kind).replace(
        "<joint", "<drake:joint"
    ).replace("</joint", "</drake:joint")
    pair = robot(body).mechanism.pair_by_name["j"]
    assert pair.type == expected and not pair.closure
    # the normal of the plane is the axis; the other two turn about the axes of the joint frame itself
    z = [0, 1, 0] if kind == "planar" else [0, 0, 1]
    np.testing.assert_allclose(pair.X_AP.R[:, 2], z, atol=1e-15)


def test_drake_universal_turns_about_x_then_y() -> None:
    body = (
        '<link name="a"/><link name="b"/><drake:joint name="j" type="universal"><parent link="a"/>'
        '<child link="b"/></drake:joint>'
    )
    mech = robot(body).mechanism
    poses = forward(mech, joint_vector(mech, {"j.rx": pi / 2, "j.ry": pi / 2}))
    # Rx(90°) Ry(90°) takes z to x and x to −z, which Rx(90°) takes to y
    R = poses.of(mech.body_index["b"]).R
    np.testing.assert_allclose(R @ [0, 0, 1], [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(R @ [1, 0, 0], [0, 1, 0], atol=1e-12)


def test_drake_screw() -> None:
    body = (
        '<link name="a"/><link name="b"/><drake:joint name="j" type="screw"><parent link="a"/>'
        '<child link="b"/><axis xyz="0 0 1"/><drake:screw_thread_pitch value="0.004"/></drake:joint>'
    )
    mech = robot(body).mechanism
    poses = forward(mech, joint_vector(mech, {"j": 2 * pi}))
    np.testing.assert_allclose(poses.of(mech.body_index["b"]).p, [0, 0, 0.004], atol=1e-15)


def test_drake_planar_damping_is_per_freedom() -> None:
    body = (
        '<link name="a"/><link name="b"/><drake:joint name="j" type="planar"><parent link="a"/>'
        '<child link="b"/><dynamics damping="1 2 3"/></drake:joint>'
    )
    assert [f.damping for f in robot(body).mechanism.pair_by_name["j"].freedoms] == [1, 2, 3]


def test_drake_joint_can_close_a_loop() -> None:
    closing = joint("j4", "rocker", "coupler", "0 0 1", "ball")
    body = TREE + closing.replace("<joint", "<drake:joint").replace("</joint", "</drake:joint")
    check_square(robot(body), "spherical")


def test_a_bushing_is_no_constraint() -> None:
    body = (
        TREE + '<drake:linear_bushing_rpy><drake:bushing_frameA name="coupler"/></drake:linear_bushing_rpy>'
    )
    assert not robot(body).mechanism.tree.cut


# ---------------------------------------------------------------- Gazebo


def gazebo(inner: str, kind: str = "revolute", parent: str = "rocker", child: str = "coupler") -> str:
    return (
        f'<gazebo><joint name="g" type="{kind}"><parent>{parent}</parent><child>{child}</child>'
        f"{inner}</joint></gazebo>"
    )


AXIS = "<axis><xyz>0 1 0</xyz></axis>"


def test_gazebo_joint_is_placed_in_the_child() -> None:
    scene = robot(TREE + gazebo("<pose>1 0 0 0 0 0</pose>" + AXIS))
    pair = check_square(scene, "revolute")
    assert (pair.name, pair.body_a, pair.body_b) == ("g", "rocker", "coupler")
    assert scene.origin[("constraint", "g", "rpy")].text == "0 0 0"


@pytest.mark.parametrize(
    "pose",
    [
        '<pose relative_to="coupler">1 0 0 0 0 0</pose>',
        '<pose relative_to="rocker">0 0 1 0 0 0</pose>',
        '<pose relative_to="__model__">1 0 1 0 0 0</pose>',
    ],
)
def test_gazebo_pose_relative_to_another_frame(pose: str) -> None:
    check_square(robot(TREE + gazebo(pose + AXIS)), "revolute")


def test_gazebo_axis_is_in_the_joint_frame_unless_it_says_otherwise() -> None:
    pose = "<pose>1 0 0 1.5707963267948966 0 0</pose>"
    # Rx(90°) takes y to z
    pair = closure(robot(TREE + gazebo(pose + AXIS)))
    np.testing.assert_allclose(pair.X_BS.R[:, 2], [0, 0, 1], atol=1e-12)
    for in_model in (
        "<axis><xyz>0 1 0</xyz><use_parent_model_frame>1</use_parent_model_frame></axis>",
        '<axis><xyz expressed_in="__model__">0 1 0</xyz></axis>',
    ):
        pair = closure(robot(TREE + gazebo(pose + in_model)))
        np.testing.assert_allclose(pair.X_BS.R[:, 2], [0, 1, 0], atol=1e-12)


def test_gazebo_ball_fixed_and_limits() -> None:
    check_square(robot(TREE + gazebo("<pose>1 0 0 0 0 0</pose>", "ball")), "spherical")
    check_square(robot(TREE + gazebo("<pose>1 0 0 0 0 0</pose>", "fixed")), "fixed")
    limits = (
        "<axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>2</upper><effort>-1</effort>"
        "<velocity>5</velocity></limit><dynamics><damping>0.5</damping></dynamics></axis>"
    )
    (freedom,) = closure(robot(TREE + gazebo(limits))).freedoms
    assert (freedom.lower, freedom.upper, freedom.effort, freedom.velocity) == (-1, 2, inf, 5)
    assert freedom.damping == 0.5


def test_gazebo_universal_turns_about_its_two_axes() -> None:
    axes = "<axis><xyz>0 0 2</xyz></axis><axis2><xyz>1 0 0</xyz></axis2>"
    pair = closure(robot(TREE + gazebo(axes, "universal")))
    np.testing.assert_allclose(pair.X_BS.R[:, 0], [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(pair.X_BS.R[:, 1], [1, 0, 0], atol=1e-12)


@pytest.mark.parametrize(
    "pitch",
    ["<screw_thread_pitch>0.004</screw_thread_pitch>", "<thread_pitch>-1570.7963267948967</thread_pitch>"],
)
def test_gazebo_screw(pitch: str) -> None:
    assert closure(robot(TREE + gazebo(AXIS + pitch, "screw"))).lead == pytest.approx(0.004)


def test_gazebo_joint_to_the_ground() -> None:
    scene = robot(TREE + gazebo("", "fixed", "world", "coupler"), base=None)
    pair = scene.mechanism.pair_by_name["g"]
    # nothing else holds the robot, so this is not a loop
    assert not pair.closure and pair.body_a == "world"
    np.testing.assert_allclose(pair.X_AP.p, [0, 0, 1], atol=1e-12)
    assert len(scene.mechanism.q_names) == 3


def test_a_link_that_only_a_gazebo_joint_holds_is_no_root() -> None:
    scene = robot(TREE + '<link name="tool"/>' + gazebo(AXIS, "revolute", "coupler", "tool"))
    assert codes(scene) == []
    assert not any(pair.closure for pair in scene.mechanism.pairs)
    assert scene.mechanism.q_names == ("j1", "j2", "j3", "g")


# ---------------------------------------------------------------- onshape-to-robot

DUMMIES = "".join(
    f'<link name="closing_tip_{n}"/>' + joint(f"tip_{n}", body, f"closing_tip_{n}", xyz, "fixed")
    for n, body, xyz in ((1, "rocker", "0 0 1"), (2, "coupler", "1 0 0"))
)


def test_dummy_links_are_reported_and_nothing_is_invented() -> None:
    scene = robot(TREE + DUMMIES)
    assert scene.mechanism.tree.cut == ()
    assert codes(scene) == ["MB112"]
    defect = scene.defects[0]
    assert defect.element == "tip"
    assert "[[closure]]" in defect.message and "closing_tip_2" in defect.message
    assert 'name = "tip"' in defect.evidence["toml"]


def test_dummy_links_that_something_joins_are_not_reported() -> None:
    loop = (
        '<loop_joint name="tip" type="fixed"><link1 link="closing_tip_1"/><link2 link="closing_tip_2"/>'
        "</loop_joint>"
    )
    assert codes(robot(TREE + DUMMIES + loop)) == []


# ---------------------------------------------------------------- Extended URDF


def extended(tmp_path: Path, yaml: str, body: str = TREE + DUMMIES, ending: str = ".yaml") -> Scene:
    (tmp_path / f"robot{ending}").write_text(yaml)
    (tmp_path / "robot.urdf").write_text(f'<robot name="r">{body}</robot>')
    return load(tmp_path / "robot.urdf", base="fixed")


@pytest.mark.parametrize("frames", ["closing_tip_1, closing_tip_2", "tip_1, tip_2", "tip_1, closing_tip_2"])
@pytest.mark.parametrize(
    ("stated", "kind"), [("6d", "fixed"), ("6D", "fixed"), ("3d", "spherical"), ("3D", "spherical")]
)
def test_extended_urdf_closes_by_link_or_joint(tmp_path, frames: str, stated: str, kind: str) -> None:
    scene = extended(tmp_path, f"name_mot: [j1]\nclosed_loop: [[{frames}]]\ntype: ['{stated}']\n")
    pair = closure(scene)
    assert (pair.type, pair.body_a, pair.body_b) == (kind, "closing_tip_1", "closing_tip_2")
    assert scene.origin[("constraint", pair.name, "")].line == 2
    assert scene.files == (str(tmp_path / "robot.urdf"), str(tmp_path / "robot.yaml"))
    assert codes(scene) == []
    X_PS = relative_pose(scene.mechanism, pair, forward(scene.mechanism, home(scene.mechanism)))
    np.testing.assert_allclose(X_PS.p, 0, atol=1e-12)


def test_a_moving_joint_names_the_frame_of_its_child(tmp_path) -> None:
    pair = closure(extended(tmp_path, "closed_loop:\n- [j2, base]\ntype: [3d]\n", ending=".yml"))
    assert (pair.body_a, pair.body_b) == ("coupler", "base")


def test_closures_without_types_are_welds(tmp_path) -> None:
    assert closure(extended(tmp_path, "closed_loop: [[tip_1, tip_2]]")).type == "fixed"


@pytest.mark.parametrize(
    ("stated", "first", "second"),
    [
        ("UJOINT_XY", [1, 0, 0], [0, 1, 0]),
        ("UJOINT_YZ", [0, 1, 0], [0, 0, 1]),
        ("UJOINT_ZX", [0, 0, 1], [1, 0, 0]),
    ],
)
def test_universal_joints_turn_about_axes_of_the_joint_frame(tmp_path, stated, first, second) -> None:
    scene = extended(
        tmp_path, f"closed_loop: [[tip_1, tip_2]]\ntype: [6d]\njoint_name: [j2]\njoint_type: [{stated}]\n"
    )
    pair = scene.mechanism.pair_by_name["j2"]
    assert pair.type == "universal"
    for X in (pair.X_AP, pair.X_BS):
        np.testing.assert_allclose(X.R[:, 0], first, atol=1e-12)
        np.testing.assert_allclose(X.R[:, 1], second, atol=1e-12)
    np.testing.assert_allclose(pair.X_AP.p, [0, 0, 1], atol=1e-12)
    assert scene.origin[("constraint", "j2", "type")].text == stated


def test_spherical_and_fixed_retyping(tmp_path) -> None:
    scene = extended(
        tmp_path,
        "closed_loop: [[tip_1, tip_2]]\ntype: [3d]\njoint_name: [j2, j3]\njoint_type: [SPHERICAL, FIXED]\n",
    )
    pairs = scene.mechanism.pair_by_name
    assert (pairs["j2"].type, pairs["j3"].type) == ("spherical", "fixed")
    np.testing.assert_allclose(pairs["j2"].X_AP.R, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(pairs["j3"].X_AP.p, [1, 0, 0], atol=1e-12)


def test_retyping_drops_a_mimic_that_no_longer_makes_sense(tmp_path) -> None:
    body = (
        (TREE + DUMMIES)
        .replace('<joint name="j3"', '<joint name="j3" ')
        .replace('<origin xyz="1 0 0"/><axis', '<origin xyz="1 0 0"/><mimic joint="j2"/><axis', 1)
    )
    yaml = "closed_loop: [[tip_1, tip_2]]\ntype: [3d]\njoint_name: [j2]\njoint_type: [SPHERICAL]\n"
    assert codes(extended(tmp_path, yaml, body)) == ["MB108"]


@pytest.mark.parametrize("yaml", ["name_mot: [j1]", "# closed_loop: none here\nother: 1"])
def test_other_yaml_beside_a_urdf_is_left_alone(tmp_path, yaml: str) -> None:
    scene = extended(tmp_path, yaml, TREE)
    assert scene.files == (str(tmp_path / "robot.urdf"),)


@pytest.mark.parametrize(
    ("yaml", "error", "said"),
    [
        ("closed_loop: [[tip_1, tip_3]]", UnknownName, "robot.yaml:1: closed_loop names 'tip_3'"),
        ("\nclosed_loop: [[tip_1]]", BrokenModel, "robot.yaml:2: a closed_loop joins 1 frames"),
        ("closed_loop: [[tip_1, closing_tip_1]]", BrokenModel, "to itself"),
        ("closed_loop: [[tip_1, tip_2]]\ntype: [4d]", BrokenModel, "robot.yaml:2: the closure type '4d'"),
        (
            "closed_loop: [[tip_1, tip_2]]\ntype: [3d, 3d]",
            BrokenModel,
            "closed_loop has 1 entries and type has 2",
        ),
        (
            "closed_loop: [[tip_1, tip_2]]\njoint_name: [j9]\njoint_type: [FIXED]",
            UnknownName,
            "robot.yaml:2: ",
        ),
        (
            "closed_loop: [[tip_1, tip_2]]\njoint_name: [j2]\njoint_type: [BALL]",
            BrokenModel,
            "robot.yaml:3: ",
        ),
        ("closed_loop: tip_1", BrokenModel, "not a list"),
        ("closed_loop: [[[tip_1], tip_2]]", BrokenModel, "not a name"),
        ("closed_loop: [[tip_1, tip_2]\n", BrokenModel, "YAML is broken"),
    ],
)
def test_extended_urdf_mistakes_are_one_sentence(tmp_path, yaml: str, error, said: str) -> None:
    with pytest.raises(error) as caught:
        extended(tmp_path, yaml)
    assert said in str(caught.value) and f"{tmp_path}/robot.yaml:" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_pyyaml_matters_only_where_a_loop_is_stated(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    (tmp_path / "robot.urdf").write_text(f"<robot>{TREE}</robot>")
    (tmp_path / "robot.yaml").write_text("other: 1")
    load(tmp_path / "robot.urdf")
    (tmp_path / "robot.yaml").write_text("closed_loop: []")
    with pytest.raises(MissingDependency, match=r"robot\.yaml: .*python -m pip install PyYAML"):
        load(tmp_path / "robot.urdf")


# ---------------------------------------------------------------- what is refused

REFUSED = [
    (
        '<loop_joint name="l" type="revolute"><link1 link="rocker"/><link2 link="cupler"/></loop_joint>',
        UnknownName,
        "did you mean 'coupler'",
    ),
    ('<loop_joint name="l" type="revolute"><link1 link="rocker"/></loop_joint>', BrokenModel, "has 1 sides"),
    (
        '<loop_joint name="l" type="distance"><link1 link="rocker"/><link2 link="coupler"/></loop_joint>',
        BrokenModel,
        "unknown type 'distance'",
    ),
    (
        '<loop_joint name="l" type="fixed"><link1 link="rocker"/><link2 link="rocker"/></loop_joint>',
        BrokenModel,
        "to itself",
    ),
    (
        '<drake:ball_constraint><drake:ball_constraint_body_A name="rocker"/></drake:ball_constraint>',
        BrokenModel,
        "has no <drake:ball_constraint_body_B>",
    ),
    (
        '<drake:ball_constraint><drake:ball_constraint_body_A name="rocker"/>'
        '<drake:ball_constraint_body_B name="coupler"/></drake:ball_constraint>',
        BrokenModel,
        "states no point",
    ),
    (
        '<drake:ball_constraint><drake:ball_constraint_body_A name="rocer"/>'
        '<drake:ball_constraint_body_B name="coupler"/></drake:ball_constraint>',
        UnknownName,
        "did you mean 'rocker'",
    ),
    (gazebo(AXIS, parent="roker"), UnknownName, "did you mean 'rocker'"),
    (gazebo(AXIS, kind="gearbox"), BrokenModel, "unknown type 'gearbox'"),
    (gazebo("<axis><xyz>0 0 0</xyz></axis>"), BrokenModel, "axis of Gazebo joint 'g' is zero"),
    (
        gazebo("<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2>", "universal"),
        BrokenModel,
        "are parallel",
    ),
    (
        gazebo(AXIS + "<thread_pitch>0</thread_pitch>", "screw"),
        BrokenModel,
        "a screw joint has thread_pitch 0",
    ),
    (
        '<drake:joint name="j9" type="screw"><parent link="rocker"/><child link="coupler"/></drake:joint>',
        BrokenModel,
        "has no <drake:screw_thread_pitch>",
    ),
]


@pytest.mark.parametrize(("body", "error", "said"), REFUSED)
def test_refused_with_file_and_line(body: str, error, said: str) -> None:
    with pytest.raises(error) as caught:
        robot(TREE + "\n" + body)
    assert str(caught.value).startswith("four_bar.urdf:2: ")
    assert said in str(caught.value) and "\n" not in str(caught.value)
