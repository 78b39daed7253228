"""SDF: hand-computed frames of every version's conventions, loops, includes, the oracle files."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import subprocess
import sys
from math import inf, pi
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from mbplugin.errors import BadNumber, BadUsage, BrokenModel, MbPluginError, UnknownName, UnresolvedPath
from mbplugin.model.mechanism.kinematics import forward, relative_pose
from mbplugin.model.scene import Request, Scene
from mbplugin.model.spatial import Pose
from mbplugin.readers.paths import read_text
from mbplugin.readers.sdf.reader import read_sdf
from places import BULLET_DATA, ORACLES

EXPECTED = json.loads((ORACLES / "expected.json").read_text())
DATA = BULLET_DATA

RIGHT = pi / 2
AXIS = "<axis><xyz>0 0 1</xyz></axis>"


def load(text: str, **options: object) -> Scene:
    return read_sdf(text, Request("<stdin>", text, **options))


def model(body: str, version: str = "1.9", pose: str = "", name: str = "m", attributes: str = "") -> str:
    return f'<sdf version="{version}">\n<model name="{name}" {attributes}>{pose}\n{body}\n</model></sdf>'


def link(name: str, pose: str = "") -> str:
    return f'<link name="{name}">{f"<pose>{pose}</pose>" if pose else ""}</link>'


def joint(parent: str, child: str, name: str = "j", type: str = "revolute", inner: str = AXIS) -> str:
    return (
        f'<joint name="{name}" type="{type}"><parent>{parent}</parent><child>{child}</child>{inner}</joint>'
    )


def pose_of(scene: Scene, body: str) -> Pose:
    mech = scene.mechanism
    return forward(mech, scene.state.q).of(mech.body_index[body])


def assert_pose(X: Pose, xyz: list[float], rpy: list[float] = (0.0, 0.0, 0.0)) -> None:
    wanted = Pose.from_xyz_rpy(xyz, rpy)
    np.testing.assert_allclose(X.p, wanted.p, atol=1e-14)
    np.testing.assert_allclose(X.R, wanted.R, atol=1e-14)


def world_axis(scene: Scene, name: str) -> np.ndarray:
    pair = scene.mechanism.pair_by_name[name]
    X_WA = Pose.identity() if pair.body_a == "world" else pose_of(scene, pair.body_a)
    return (X_WA @ pair.X_AP).R[:, 2]


def assert_frames_coincide(scene: Scene) -> None:
    """Every joint frame of a file coincides at its pose, tree or closure, and every body is there."""
    mech = scene.mechanism
    poses = forward(mech, scene.state.q)
    for pair in mech.pairs:
        assert_pose(relative_pose(mech, pair, poses), [0, 0, 0])


def assert_plain_poses(scene: Scene, file: Path) -> None:
    """In a flat file every link lies at its own pose in the pose of its model; read here with ElementTree."""
    root = ElementTree.parse(file).getroot()
    models = list(root.iter("model"))

    def pose(element: ElementTree.Element) -> Pose:
        values = [float(word) for word in element.findtext("pose", "0 0 0 0 0 0").split()]
        return Pose.from_xyz_rpy(values[:3], values[3:])

    names = iter(scene.mechanism.bodies)
    for element in models:
        for item in element.findall("link"):
            if item.get("name") != "world":
                wanted = pose(element) @ pose(item)
                found = pose_of(scene, next(names).name)
                np.testing.assert_allclose(found.p, wanted.p, atol=1e-13)
                np.testing.assert_allclose(found.R, wanted.R, atol=1e-13)


# --- the files -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_oracle_files(name):
    known = EXPECTED[name]
    file = ORACLES / known["file"]
    scene = read_sdf(read_text(file), Request(str(file)))
    mech = scene.mechanism
    assert len(mech.bodies) == known["bodies"]
    assert len(mech.pairs) == known["pairs"]
    assert sum(len(pair.kind.constrained) for pair in mech.pairs) == known["rows"]
    assert {pair.name for pair in mech.pairs} == set(known["indeterminate_reaction_dim"])
    loops = len(mech.pairs) - len(mech.bodies)
    assert sum(pair.closure for pair in mech.pairs) == loops == len(mech.tree.cut)
    assert not scene.defects
    assert_frames_coincide(scene)
    assert_plain_poses(scene, file)


@pytest.mark.parametrize("file", sorted(DATA.rglob("*.sdf")), ids=lambda p: f"{p.parent.name}/{p.name}")
def test_pybullet_data(file):
    scene = read_sdf(read_text(file), Request(str(file)))
    assert_frames_coincide(scene)
    assert_plain_poses(scene, file)
    assert not scene.mechanism.tree.cut


@pytest.mark.bullet
def test_two_models_of_one_name_are_told_apart():
    file = DATA / "kuka_iiwa" / "model2.sdf"
    scene = read_sdf(read_text(file), Request(str(file)))
    assert {b.name.split("/")[0] for b in scene.mechanism.bodies} == {"lbr_iiwa", "lbr_iiwa#2"}
    assert [d.code for d in scene.defects] == ["MB107"]


@pytest.mark.robots
@pytest.mark.parametrize("name", ["", "_reduced", "_simple", "_v2", "_wo_gearbox_spring"])
def test_cassie(name):
    try:
        robots = importlib.metadata.distribution("example-robot-data")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("needs example-robot-data")
    folder = "cmeel.prefix/share/example-robot-data/robots/cassie_description/robots"
    file = Path(str(robots.locate_file(folder))) / f"cassie{name}.sdf"
    scene = read_sdf(read_text(file), Request(str(file)))
    mech = scene.mechanism
    assert len(mech.couplings) == (10 if not name else 0)
    assert sum(p.closure for p in mech.pairs) == len(mech.tree.cut) > 0
    assert_frames_coincide(scene)
    assert_plain_poses(scene, file)


# --- poses -----------------------------------------------------------------------------------------


def test_poses_chain_through_models_links_and_frames():
    """Model at x=1 turned 90° about z; each step is one metre along the turned x."""
    text = model(
        link("a", "1 0 0 0 0 0")
        + f'<frame name="f" attached_to="a"><pose>1 0 0 0 0 {RIGHT}</pose></frame>'
        + '<link name="b"><pose relative_to="f">1 0 0 0 0 0</pose></link>'
        + '<link name="c"><pose relative_to="b">0 0 0 0 0 0</pose></link>'
        + '<frame name="g"><pose relative_to="c">0 0 2 0 0 0</pose></frame>'
        + '<link name="d"><pose relative_to="g"/></link>',
        pose=f"<pose>1 0 0 0 0 {RIGHT}</pose>",
    )
    scene = load(text)
    assert_pose(pose_of(scene, "a"), [1, 1, 0], [0, 0, RIGHT])
    assert_pose(pose_of(scene, "b"), [0, 2, 0], [0, 0, pi])
    assert_pose(pose_of(scene, "c"), [0, 2, 0], [0, 0, pi])
    assert_pose(pose_of(scene, "d"), [0, 2, 2], [0, 0, pi])


def test_a_link_relative_to_a_joint_and_a_joint_relative_to_a_frame():
    text = model(
        link("a", "0 0 1 0 0 0")
        + '<link name="b"><pose relative_to="j">0 0 -1 0 0 0</pose></link>'
        + joint("a", "b", inner=f'<pose relative_to="a">0 0 3 {RIGHT} 0 0</pose>' + AXIS)
    )
    scene = load(text)
    assert_pose(pose_of(scene, "b"), [0, 1, 4], [RIGHT, 0, 0])
    np.testing.assert_allclose(world_axis(scene, "j"), [0, -1, 0], atol=1e-15)
    assert_pose(scene.mechanism.pair_by_name["j"].X_AP, [0, 0, 3], [RIGHT, 0, 0])


def test_a_joints_pose_is_in_its_child_by_default():
    scene = load(
        model(
            link("a")
            + link("b", f"1 0 0 0 0 {RIGHT}")
            + joint("a", "b", inner="<pose>1 0 0 0 0 0</pose>" + AXIS)
        )
    )
    pair = scene.mechanism.pair_by_name["j"]
    assert_pose(pair.X_AP, [1, 1, 0], [0, 0, RIGHT])
    assert_pose(pair.X_BS, [1, 0, 0])


@pytest.mark.parametrize(
    ("pose", "rpy"),
    [
        (f"<pose>1 2 3 {RIGHT} 0 0</pose>", [RIGHT, 0, 0]),
        ('<pose degrees="true">1 2 3 90 0 -90</pose>', [RIGHT, 0, -RIGHT]),
        ('<pose rotation_format="quat_xyzw">1 2 3 0 0 1 1</pose>', [0, 0, RIGHT]),
        ('<pose rotation_format="euler_rpy" degrees="true">1 2 3 0 30 0</pose>', [0, pi / 6, 0]),
    ],
)
def test_pose_formats(pose, rpy):
    assert_pose(pose_of(load(model(f'<link name="a">{pose}</link>')), "a"), [1, 2, 3], rpy)


def test_placement_frame_puts_that_frame_at_the_models_pose():
    text = model(
        link("a", "1 0 0 0 0 0")
        + f'<frame name="tip" attached_to="a"><pose>1 0 0 0 0 {RIGHT}</pose></frame>',
        attributes='placement_frame="tip"',
        pose="<pose>5 0 0 0 0 0</pose>",
    )
    # seen from the tip, a lies one metre along +y and is turned back
    assert_pose(pose_of(load(text), "a"), [5, 1, 0], [0, 0, -RIGHT])


def test_nested_models_scope_their_names_and_frames():
    inner = (
        '<model name="in"><pose>0 1 0 0 0 0</pose>'
        + link("a", "0 0 1 0 0 0")
        + link("b")
        + joint("a", "b")
        + "</model>"
    )
    text = model(link("a") + inner + joint("a", "in::a", "k") + joint("in", "c", "n") + link("c"))
    scene = load(text)
    mech = scene.mechanism
    assert [b.name for b in mech.bodies] == ["a", "c", "in::a", "in::b"]
    assert {p.name for p in mech.pairs} == {"k", "n", "in::j"}
    # a model stands for its canonical link, by default its first
    assert mech.pair_by_name["n"].body_a == "in::a"
    assert_pose(pose_of(scene, "in::a"), [0, 1, 1])


def test_several_models_prefix_their_names():
    text = (
        '<sdf version="1.6"><world name="w"><gravity>0 0 -1.6</gravity>'
        + "".join(
            f'<model name="{m}"><pose>{x} 0 0 0 0 0</pose>{link("a")}{link("b")}{joint("a", "b")}</model>'
            for x, m in enumerate(("one", "two"))
        )
        + "</world></sdf>"
    )
    scene = load(text)
    assert [b.name for b in scene.mechanism.bodies] == ["one/a", "one/b", "two/a", "two/b"]
    assert [p.name for p in scene.mechanism.pairs] == ["one/j", "two/j"]
    assert_pose(pose_of(scene, "two/b"), [1, 0, 0])
    np.testing.assert_array_equal(scene.mechanism.gravity, [0, 0, -1.6])


def test_worlds_have_the_formats_gravity_and_lone_models_the_default():
    world = f'<sdf version="1.6"><world name="w"><model name="m">{link("a")}</model></world></sdf>'
    assert load(world).mechanism.gravity[2] == -9.8
    assert load(model(link("a"))).mechanism.gravity[2] == -9.81


# --- axes ------------------------------------------------------------------------------------------

TURNED = link("a") + link("b", f"0 0 0 0 0 {RIGHT}")


@pytest.mark.parametrize(
    ("version", "axis", "wanted"),
    [
        ("1.4", "<xyz>1 0 0</xyz>", [0, 0, -1]),
        ("1.5", "<xyz>1 0 0</xyz>", [0, 1, 0]),
        ("1.6", "<xyz>1 0 0</xyz>", [0, 1, 0]),
        ("1.6", "<xyz>1 0 0</xyz><use_parent_model_frame>1</use_parent_model_frame>", [0, 0, -1]),
        ("1.6", "<xyz>1 0 0</xyz><use_parent_model_frame>false</use_parent_model_frame>", [0, 1, 0]),
        ("1.7", "<xyz>1 0 0</xyz>", [0, 1, 0]),
        ("1.7", '<xyz expressed_in="__model__">1 0 0</xyz>', [0, 0, -1]),
        ("1.9", '<xyz expressed_in="f">1 0 0</xyz>', [0, 1, 0]),
        ("1.9", '<xyz expressed_in="b">0 0 2</xyz>', [1, 0, 0]),
    ],
)
def test_axes_are_read_in_the_frame_of_their_version(version, axis, wanted):
    """The model is turned by 90° about y, the child by another 90° about z, as is frame f."""
    text = model(
        TURNED
        + f'<frame name="f"><pose relative_to="__model__">0 0 0 0 0 {RIGHT}</pose></frame>'
        + joint("a", "b", inner=f"<axis>{axis}</axis>"),
        version,
        pose=f"<pose>0 0 0 0 {RIGHT} 0</pose>",
    )
    np.testing.assert_allclose(world_axis(load(text), "j"), wanted, atol=1e-15)


def test_the_pair_frame_is_the_joint_frame_turned_least():
    scene = load(model(TURNED + joint("a", "b", inner="<axis><xyz>1 0 0</xyz></axis>")))
    R = scene.mechanism.pair_by_name["j"].X_BS.R
    np.testing.assert_allclose(R, [[0, 0, 1], [0, 1, 0], [-1, 0, 0]], atol=1e-15)


def test_a_zero_axis_is_noted_and_read_as_z():
    scene = load(model(TURNED + joint("a", "b", inner="<axis><xyz>0 0 0</xyz></axis>")))
    assert [d.code for d in scene.defects] == ["MB106"]
    np.testing.assert_allclose(world_axis(scene, "j"), [0, 0, 1])


# --- joints ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "type", "inner", "free"),
    [
        ("revolute", "revolute", AXIS, 1),
        ("continuous", "continuous", AXIS, 1),
        ("prismatic", "prismatic", AXIS, 1),
        ("ball", "spherical", "", 3),
        ("fixed", "fixed", "", 0),
        ("screw", "screw", AXIS, 1),
        ("universal", "universal", AXIS + "<axis2><xyz>0 1 0</xyz></axis2>", 2),
        ("revolute2", "universal", AXIS + "<axis2><xyz>0 1 0</xyz></axis2>", 2),
    ],
)
def test_joint_types(kind, type, inner, free):
    scene = load(model(TURNED + joint("a", "b", type=kind, inner=inner)))
    pair = scene.mechanism.pair_by_name["j"]
    assert (pair.type, len(pair.kind.free), pair.body_a, pair.body_b) == (type, free, "a", "b")
    assert_frames_coincide(scene)


def test_universal_turns_about_the_parents_axis_then_the_childs():
    inner = "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>"
    pair = load(
        model(link("a") + link("b") + joint("a", "b", type="universal", inner=inner))
    ).mechanism.pairs[0]
    np.testing.assert_allclose(pair.X_AP.R[:, 0], [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(pair.X_AP.R[:, 1], [0, 1, 0], atol=1e-15)
    assert np.linalg.det(pair.X_AP.R) == pytest.approx(1)


def test_universal_axes_that_are_not_perpendicular_are_refused():
    inner = "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 1 1</xyz></axis2>"
    with pytest.raises(BrokenModel, match=r"45 degrees.*two revolute joints"):
        load(model(TURNED + joint("a", "b", type="revolute2", inner=inner)))


@pytest.mark.parametrize(
    ("pitch", "lead"),
    [
        ("<screw_thread_pitch>0.002</screw_thread_pitch>", 0.002),
        # rad/m, positive for a left-handed thread
        ("<thread_pitch>-100</thread_pitch>", 2 * pi / 100),
        ("<thread_pitch>100</thread_pitch><screw_thread_pitch>-0.5</screw_thread_pitch>", -0.5),
    ],
)
def test_screw_pitch(pitch, lead):
    pair = load(model(TURNED + joint("a", "b", type="screw", inner=AXIS + pitch))).mechanism.pairs[0]
    assert pair.lead == pytest.approx(lead)


def test_limits_effort_and_friction():
    inner = (
        "<axis><xyz>0 0 1</xyz><limit><lower>-1e16</lower><upper>2</upper><effort>-1</effort>"
        "<velocity>3</velocity></limit><dynamics><damping>0.1</damping><friction>0.2</friction></dynamics></axis>"
    )
    freedom = load(model(TURNED + joint("a", "b", inner=inner))).mechanism.pairs[0].freedoms[0]
    assert (freedom.lower, freedom.upper, freedom.effort, freedom.velocity) == (-inf, 2, inf, 3)
    assert (freedom.damping, freedom.friction) == (0.1, 0.2)
    words = inner.replace("-1e16", "-inf").replace("<upper>2", "<upper>inf")
    freedom = load(model(TURNED + joint("a", "b", inner=words))).mechanism.pairs[0].freedoms[0]
    assert (freedom.lower, freedom.upper) == (-inf, inf)


@pytest.mark.parametrize("tag", ["damping", "friction", "effort", "velocity", "lower"])
@pytest.mark.parametrize("text", ["<{0}/>", "<{0}> </{0}>"])
def test_an_empty_element_has_its_default_as_in_libsdformat(tag: str, text: str) -> None:
    """Exporters of CAD write ``<damping/>``."""
    model = (
        '<sdf version="1.9"><model name="m"><link name="a"/><link name="b"/><joint name="j" type="revolute">'
        "<parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz><limit>{}</limit><dynamics>{}</dynamics></axis>"
        "</joint></model></sdf>"
    )
    empty = text.format(tag)
    places = ("", empty) if tag in ("damping", "friction") else (empty, "")
    read, expected = (load(model.format(*one)).mechanism for one in (places, ("", "")))
    assert read.pair_by_name["j"].freedoms == expected.pair_by_name["j"].freedoms


def test_world_as_parent_and_as_child():
    scene = load(
        model(
            link("a", "1 0 0 0 0 0")
            + joint("world", "a")
            + link("b", "2 0 0 0 0 0")
            + joint("b", "world", "k")
        )
    )
    j, k = scene.mechanism.pairs
    assert (j.body_a, j.body_b, k.body_a, k.body_b) == ("world", "a", "b", "world")
    assert_pose(j.X_AP, [1, 0, 0])
    # the joint frame is that of its child, the world
    assert_pose(k.X_AP, [-2, 0, 0])
    assert_pose(pose_of(scene, "b"), [2, 0, 0])


def test_a_joint_called_world_is_not_what_its_parent_means():
    (pair,) = load(model(link("a", "1 0 0 0 0 0") + joint("world", "a", "world"))).mechanism.pairs
    assert (pair.name, pair.body_a, pair.body_b) == ("world", "world", "a")
    assert_pose(pair.X_AP, [1, 0, 0])


def test_a_link_called_world_is_the_ground():
    scene = load(model('<link name="world"/>' + link("a", "1 0 0 0 0 0") + joint("world", "a")))
    assert [b.name for b in scene.mechanism.bodies] == ["a"]
    assert scene.mechanism.pairs[0].body_a == "world"


def test_joint_ends_may_be_frames():
    text = model(
        link("a")
        + link("b", "1 0 0 0 0 0")
        + '<frame name="fb" attached_to="gb"><pose>0 0 1 0 0 0</pose></frame>'
        + '<frame name="gb" attached_to="b"/>'
        + joint("a", "fb")
    )
    pair = load(text).mechanism.pairs[0]
    assert (pair.body_b, pair.body_a) == ("b", "a")
    assert_pose(pair.X_BS, [0, 0, 1])


def test_initial_position_goes_to_the_state():
    inner = "<axis><xyz>0 0 1</xyz><initial_position>0.5</initial_position></axis>"
    scene = load(model(link("a") + link("b") + joint("a", "b", inner=inner), "1.6"))
    assert scene.state.q[scene.mechanism.q_names.index("j")] == 0.5
    assert_pose(pose_of(scene, "b"), [0, 0, 0], [0, 0, 0.5])


# --- loops, bases ----------------------------------------------------------------------------------


def closures(scene: Scene) -> list[str]:
    return [pair.name for pair in scene.mechanism.pairs if pair.closure]


def test_the_second_joint_on_a_child_closes_a_loop():
    links = link("a") + link("b") + link("c")
    scene = load(model(links + joint("a", "c", "ac") + joint("b", "c", "bc") + joint("a", "b", "ab")))
    assert closures(scene) == ["bc"]


def test_two_parents_without_a_loop_close_nothing():
    scene = load(model(link("a") + link("b") + link("c") + joint("a", "c", "ac") + joint("b", "c", "bc")))
    assert closures(scene) == []


def test_a_loop_of_single_children_is_closed_by_its_last_joint():
    scene = load(model(link("a") + link("b") + joint("a", "b", "ab") + joint("b", "a", "ba")))
    assert closures(scene) == ["ba"]


def test_a_free_root_starts_at_its_links_pose():
    mass = "<inertial><pose>0.1 0.2 0.3 0 0 0</pose><mass>2</mass></inertial>"
    text = model(f'<link name="a"><pose>1 2 3 0.1 0.2 0.3</pose>{mass}</link>')
    assert_pose(pose_of(load(text), "a"), [1, 2, 3], [0.1, 0.2, 0.3])
    fixed = load(text, base="fixed")
    assert [p.name for p in fixed.mechanism.pairs] == ["world→a"]
    assert_pose(pose_of(fixed, "a"), [1, 2, 3], [0.1, 0.2, 0.3])


def test_a_fixed_base_holds_one_root_per_part():
    text = model(
        link("a") + link("b") + link("c") + joint("a", "b", "ab") + joint("c", "b", "cb") + link("d")
    )
    assert [p.name for p in load(text, base="fixed").mechanism.pairs] == ["world→a", "world→d", "ab", "cb"]


def test_a_static_model_is_fixed_link_by_link():
    text = model("<static>true</static>" + TURNED + joint("a", "b"))
    scene = load(text)
    assert [p.name for p in scene.mechanism.pairs] == ["world→a", "world→b"]
    assert [d.code for d in scene.defects] == ["MB113"]
    assert_pose(pose_of(scene, "b"), [0, 0, 0], [0, 0, RIGHT])
    with pytest.raises(BadUsage, match="static"):
        load(text, base="free")


def test_a_base_that_is_jointed_to_the_world_cannot_be_free():
    with pytest.raises(BadUsage, match="'j' ties it to the world"):
        load(model(link("a") + joint("world", "a")), base="free")
    assert load(model(link("a")), base="free").mechanism.pairs == ()


# --- couplings -------------------------------------------------------------------------------------

GEARBOX = (
    "<gearbox_ratio>5</gearbox_ratio><gearbox_reference_body>a</gearbox_reference_body>"
    "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 -1</xyz></axis2>"
)


def test_a_model_without_links_cannot_be_free():
    with pytest.raises(BadUsage, match="the base cannot be free, there is no body that moves"):
        load(model(""), base="free")


def test_a_gearbox_couples_the_turns_against_its_reference_body():
    """theta_2 = −5 theta_1, where the hinge of the child is written from the child to the reference."""
    text = model(
        link("a")
        + link("b")
        + link("c")
        + joint("a", "b", "ab")
        + joint("c", "a", "ca")
        + joint("b", "c", "g", "gearbox", GEARBOX)
    )
    (coupling,) = load(text).mechanism.couplings
    assert (coupling.name, coupling.type) == ("g", "gear")
    # q(ca) turns a against c about z: c turns by −q about z, by +q about axis2 = −z
    assert {(t.joint, t.coefficient) for t in coupling.terms} == {("ca", 1.0), ("ab", 5.0)}


def test_a_gearbox_without_its_hinges_is_refused():
    text = model(
        link("a") + link("b") + link("c") + joint("a", "b") + joint("b", "c", "g", "gearbox", GEARBOX)
    )
    with pytest.raises(BrokenModel, match=r"'g' has no hinge.*'a' and 'c'"):
        load(text)


def test_a_mimic_is_a_coupling_with_reference_and_offset():
    mimic = (
        '<axis><xyz>0 0 1</xyz><mimic joint="j"><multiplier>2</multiplier><offset>0.3</offset>'
        "<reference>0.1</reference></mimic></axis>"
    )
    scene = load(
        model(link("a") + link("b") + link("c") + joint("a", "b") + joint("b", "c", "k", inner=mimic), "1.11")
    )
    (coupling,) = scene.mechanism.couplings
    assert coupling.name == "mimic k"
    assert [(t.joint, t.freedom, t.coefficient) for t in coupling.terms] == [
        ("k", "rz", 1.0),
        ("j", "rz", -2.0),
    ]
    assert coupling.offset == pytest.approx(0.3 - 2 * 0.1)


def test_drakes_joints_mimics_and_rotors():
    planar = (
        '<drake:joint name="p" type="planar"><drake:parent>a</drake:parent><drake:child>b</drake:child>'
        f"<pose>0 0 0 {RIGHT} 0 0</pose></drake:joint>"
    )
    extras = (
        '<drake:mimic joint="j" multiplier="3" offset="1"/><drake:rotor_inertia>0.1</drake:rotor_inertia>'
    )
    scene = load(
        model(
            link("a")
            + link("b")
            + link("c")
            + link("d")
            + planar
            + joint("b", "c")
            + joint("c", "d", "k", inner=AXIS + extras)
        )
    )
    pair = scene.mechanism.pair_by_name["p"]
    assert (pair.type, pair.body_a, pair.body_b) == ("planar", "a", "b")
    assert_pose(pair.X_AP, [0, 0, 0], [RIGHT, 0, 0])
    (coupling,) = scene.mechanism.couplings
    assert (coupling.terms[1].coefficient, coupling.offset) == (-3, 1)
    assert [(a.joint, a.armature, a.gear_ratio) for a in scene.actuators] == [("k", 0.1, 1.0)]


def test_a_mimic_may_lead_by_the_second_axis():
    universal = AXIS + "<axis2><xyz>0 1 0</xyz></axis2>"
    mimic = '<axis><xyz>0 0 1</xyz><mimic joint="j" axis="axis2"><multiplier>-1</multiplier></mimic></axis>'
    text = model(
        link("a")
        + link("b")
        + link("c")
        + joint("a", "b", "j", "universal", universal)
        + joint("b", "c", "k", inner=mimic)
    )
    (coupling,) = load(text).mechanism.couplings
    assert (coupling.terms[1].joint, coupling.terms[1].freedom) == ("j", "ry")


@pytest.mark.parametrize(
    ("mimic", "words"),
    [
        ('joint="nope"', "does not exist"),
        ('joint="k"', "itself"),
        ('joint="ball"', "is spherical"),
        ('joint="r" axis="axis2"', "no such axis"),
    ],
)
def test_a_mimic_that_cannot_be_is_noted(mimic, words):
    inner = f"<axis><xyz>0 0 1</xyz><mimic {mimic}/></axis>"
    links = "".join(link(name) for name in "abcd")
    others = joint("b", "c", "ball", "ball", "") + joint("c", "d", "r")
    scene = load(model(links + joint("a", "b", "k", inner=inner) + others))
    assert [(d.code, d.element) for d in scene.defects] == [("MB108", "k")]
    assert words in scene.defects[0].message
    assert not scene.mechanism.couplings


def test_drake_ball_constraints_are_element_text():
    ball = (
        "<drake:ball_constraint><drake:ball_constraint_body_A>a</drake:ball_constraint_body_A>"
        "<drake:ball_constraint_p_AP>0 0 1</drake:ball_constraint_p_AP>"
        "<drake:ball_constraint_body_B>b</drake:ball_constraint_body_B>"
        "<drake:ball_constraint_p_BQ>0 0 -1</drake:ball_constraint_p_BQ></drake:ball_constraint>"
    )
    scene = load(model(link("a") + link("b", f"0 0 2 {RIGHT} 0 0") + joint("a", "b") + ball))
    pair = scene.mechanism.pair_by_name["ball_constraint_a_b"]
    assert (pair.type, pair.body_a, pair.body_b, pair.closure) == ("spherical", "a", "b", True)
    X = relative_pose(scene.mechanism, pair, forward(scene.mechanism, scene.state.q))
    # Q lies at (0, 1, 2), P at (0, 0, 1), and the axes are parallel at the file's pose
    assert_pose(X, [0, 1, 1])


# --- links -----------------------------------------------------------------------------------------


def test_inertia_is_turned_into_link_axes():
    inertial = (
        f"<inertial><pose>1 2 3 0 0 {RIGHT}</pose><mass>4</mass><inertia><ixx>1</ixx><iyy>2</iyy><izz>3</izz>"
        "<ixz>0.1</ixz></inertia></inertial>"
    )
    (body,) = load(model(f'<link name="a">{inertial}</link>')).mechanism.bodies
    assert body.mass == 4
    np.testing.assert_allclose(body.p_LC, [1, 2, 3])
    np.testing.assert_allclose(body.I_C, [[2, 0, 0], [0, 1, 0.1], [0, 0.1, 3]], atol=1e-15)


def test_a_link_without_inertial_is_massless():
    assert load(model(link("a"))).mechanism.bodies[0].massless


def test_shapes():
    geometry = {
        "box": "<size>1 2 3</size>",
        "sphere": "<radius>4</radius>",
        "cylinder": "<radius>1</radius><length>2</length>",
        "capsule": "<radius>1</radius><length>2</length>",
        "mesh": "<uri>model://m/a.stl</uri><scale>2 2 2</scale>",
        "plane": "<normal>1 0 0</normal>",
        "heightmap": "",
    }
    visuals = "".join(
        f'<visual name="{k}"><pose>0 0 1 0 0 0</pose><geometry><{k}>{v}</{k}></geometry></visual>'
        for k, v in geometry.items()
    )
    shapes = load(model(f'<link name="a">{visuals}</link>')).shapes["a"]
    assert [(s.kind, s.size) for s in shapes] == [
        ("box", (1, 2, 3)),
        ("sphere", (4,)),
        ("cylinder", (1, 2)),
        ("capsule", (1, 2)),
        ("mesh", (2, 2, 2)),
        ("plane", (1, 1)),
    ]
    assert shapes[4].mesh == "model://m/a.stl"
    np.testing.assert_allclose(shapes[5].X_LS.R[:, 2], [1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(shapes[0].X_LS.p, [0, 0, 1])


# --- origins and angles ----------------------------------------------------------------------------


def test_origins_have_lines_and_literals():
    text = model(
        '<link name="a">\n<pose>0 0 0 1.5708 0 0</pose>\n<inertial>\n<mass>1.0</mass>\n</inertial></link>\n'
        '<link name="b"/>\n<joint name="j" type="revolute"><parent>a</parent><child>b</child>\n'
        "<pose>0 0 0 0 1.57 0</pose>\n<axis><xyz>0 0 1</xyz></axis></joint>"
    )
    origin = load(text).origin
    assert (origin["body", "a", ""].line, origin["body", "a", "inertial"].line) == (3, 5)
    assert (origin["body", "a", "rpy"].line, origin["body", "a", "rpy"].text) == (4, "1.5708 0 0")
    assert (origin["body", "a", "mass"].line, origin["body", "a", "mass"].text) == (6, "1.0")
    assert (origin["constraint", "j", "rpy"].line, origin["constraint", "j", "rpy"].text) == (10, "0 1.57 0")
    assert origin["constraint", "j", "axis"].text == "0 0 1"
    assert origin["constraint", "j", ""].line == 9


def test_rounded_angles_are_snapped_on_request():
    text = model('<link name="a"><pose>0 0 0 1.5708 0 0</pose></link>')
    assert pose_of(load(text), "a").R[1, 1] != pytest.approx(0, abs=1e-7)
    assert_pose(pose_of(load(text, snap_angles=True), "a"), [0, 0, 0], [RIGHT, 0, 0])


# --- includes --------------------------------------------------------------------------------------

ARM = model(link("base") + link("tip", "0 0 1 0 0 0") + joint("base", "tip"), name="arm")


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder / next(iter(files))


def load_file(file: Path, **options: object) -> Scene:
    return read_sdf(read_text(file), Request(str(file), **options))


CONFIG = '<model><sdf version="1.5">old.sdf</sdf><sdf version="1.10">new.sdf</sdf></model>'


@pytest.mark.parametrize(
    ("uri", "files"),
    [
        ("arm.sdf", {"arm.sdf": ARM}),
        ("model://arm/arm.sdf", {"arm/arm.sdf": ARM}),
        ("model://arm", {"arm/model.sdf": ARM}),
        ("arm", {"arm/model.config": CONFIG, "arm/new.sdf": ARM}),
        ("model://arm/", {"arm/model.config": CONFIG, "arm/new.sdf": ARM}),
    ],
)
def test_includes_are_found(uri, files, tmp_path):
    include = f"<include><uri>{uri}</uri><name>left</name><pose>0 1 0 0 0 0</pose></include>"
    main = write(
        tmp_path, {"main.sdf": model(link("body") + include + joint("body", "left::base", "k")), **files}
    )
    scene = load_file(main)
    assert [b.name for b in scene.mechanism.bodies] == ["body", "left::base", "left::tip"]
    assert_pose(pose_of(scene, "left::tip"), [0, 1, 1])
    assert len(scene.files) == 2
    assert scene.origin["body", "left::tip", ""].file == scene.files[1]


def test_includes_nest_and_look_beside_themselves(tmp_path):
    files = {
        "main.sdf": '<sdf version="1.9"><world name="w"><include><uri>model://sun</uri></include>'
        "<include><uri>robot/robot.sdf</uri></include></world></sdf>",
        "robot/robot.sdf": model("<include><uri>parts/arm.sdf</uri></include>", name="robot"),
        "robot/parts/arm.sdf": ARM,
    }
    scene = load_file(write(tmp_path, files))
    assert [b.name for b in scene.mechanism.bodies] == ["arm::base", "arm::tip"]


def test_a_merged_include_adds_to_the_model(tmp_path):
    include = '<include merge="true"><uri>arm.sdf</uri><pose relative_to="body">0 1 0 0 0 0</pose></include>'
    text = model(link("body", "1 0 0 0 0 0") + include + joint("body", "base", "k"))
    scene = load_file(write(tmp_path, {"main.sdf": text, "arm.sdf": ARM}))
    assert [b.name for b in scene.mechanism.bodies] == ["body", "base", "tip"]
    assert_pose(pose_of(scene, "tip"), [1, 1, 1])


def test_an_include_may_be_placed_by_a_frame(tmp_path):
    include = "<include><uri>arm.sdf</uri><placement_frame>tip</placement_frame><static>1</static></include>"
    scene = load_file(write(tmp_path, {"main.sdf": model(include), "arm.sdf": ARM}))
    assert_pose(pose_of(scene, "arm::base"), [0, 0, -1])
    assert {p.body_a for p in scene.mechanism.pairs} == {"world"}


def test_an_include_that_includes_itself_is_refused(tmp_path):
    files = {
        "main.sdf": model("<include><uri>other.sdf</uri></include>"),
        "other.sdf": model("<include><uri>main.sdf</uri></include>"),
    }
    with pytest.raises(BrokenModel, match="includes itself"):
        load_file(write(tmp_path, files))


def test_an_include_does_not_find_another_models_config(tmp_path):
    """Leaving out the package name must not end in the including folder's own model.config."""
    files = {"model.sdf": model("<include><uri>model://ground</uri></include>"), "model.config": CONFIG}
    with pytest.raises(UnresolvedPath, match=r"model.sdf:3: 'model://ground'.*--package-dir"):
        load_file(write(tmp_path, files))
    write(tmp_path / "elsewhere", {"ground/model.sdf": ARM})
    assert load_file(tmp_path / "model.sdf", package_dirs=(str(tmp_path / "elsewhere"),)).mechanism.bodies


# --- bad input -------------------------------------------------------------------------------------


def test_joints_of_one_name_are_numbered():
    scene = load(model(link("a") + link("b") + link("c") + joint("a", "b") + joint("b", "c")))
    assert [p.name for p in scene.mechanism.pairs] == ["j", "j#2"]
    assert [(d.code, d.element) for d in scene.defects] == [("MB107", "j")]


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("<robot/>", BrokenModel, "<robot>.*expected <sdf"),
        ('<sdf version="x"><model name="m"/></sdf>', BadNumber, "version"),
        (model("<link/>"), BrokenModel, ":3: a <link> has no name"),
        (model(link("a") + link("a")), BrokenModel, ":3: two links are called 'a'"),
        (model(link("a") + link("b") + joint("a", "b", type="hinge")), BrokenModel, "'hinge'.*revolute, "),
        (model(link("arm") + link("b") + joint("ram", "b")), UnknownName, ":3:.*'ram'.*did you mean 'arm'"),
        (model(link("a") + joint("a", "a")), BrokenModel, "to itself"),
        (model(link("a") + link("b") + joint("a", "b", inner="")), BrokenModel, "no <axis>"),
        (model(link("a") + link("b") + '<joint name="j" type="ball"/>'), BrokenModel, "no <parent>"),
        (model(link("a", "0 0 nan 0 0 0")), BadNumber, ":3: <pose> of <link>.*finite"),
        (model(link("a", "0 0 0")), BadNumber, "3 numbers; expected 6"),
        (
            model('<link name="a"><pose rotation_format="quat_xyzw">0 0 0 0 0 0 0</pose></link>'),
            BadNumber,
            "quaternion",
        ),
        (
            model(
                '<link name="a"><pose relative_to="b"/></link><link name="b"><pose relative_to="c"/></link>'
                '<frame name="c" attached_to="a"/>'
            ),
            BrokenModel,
            "relative_to.*leads back to itself",
        ),
        (
            model(
                link("a")
                + link("b")
                + '<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>'
                + joint("a", "f", inner='<pose relative_to="a"/>' + AXIS)
            ),
            BrokenModel,
            "attached_to.*leads back to itself",
        ),
        (model("<include><uri>nope.sdf</uri></include>"), UnresolvedPath, ":3: 'nope.sdf'"),
        (model("<include/>"), BrokenModel, "no <uri>"),
        (
            model(
                link("a")
                + link("b")
                + joint("a", "b", type="screw", inner=AXIS + "<thread_pitch>0</thread_pitch>")
            ),
            BrokenModel,
            "thread_pitch 0",
        ),
    ],
)
def test_bad_input_is_one_sentence(text, error, words):
    with pytest.raises(error, match=words) as caught:
        load(text)
    assert isinstance(caught.value, MbPluginError)
    assert "\n" not in str(caught.value)


def test_long_chains_of_frames_do_not_recurse():
    frames = "".join(
        f'<frame name="f{i}"><pose relative_to="f{i - 1}">1 0 0 0 0 0</pose></frame>' for i in range(1, 3000)
    )
    text = model(f'<frame name="f0"/>{frames}<link name="a"><pose relative_to="f2999"/></link>')
    assert_pose(pose_of(load(text), "a"), [2999, 0, 0])


def test_reading_imports_no_engine():
    code = (
        "import sys, mbplugin.readers.sdf.reader, mbplugin.readers.mjcf;"
        "print([m for m in ('pybullet', 'numba', 'trimesh', 'networkx', 'mujoco') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
