"""MJCF: the same body poses as MuJoCo computes, and closures that hold at qpos0."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mbplugin.errors import BadNumber, BadUsage, BrokenModel, MbPluginError, UnresolvedPath
from mbplugin.model.mechanism.kinematics import forward, relative_pose
from mbplugin.model.scene import Request, Scene
from mbplugin.readers.mjcf import read_mjcf
from mbplugin.readers.paths import read_text
from places import BULLET_DATA

mujoco = pytest.importorskip("mujoco")

DATA = BULLET_DATA / "mjcf"

#: Joints of one body with offset anchors and skew axes, references, a ball, a free root.
SEVERAL_JOINTS = """<mujoco model="several">
 <compiler angle="degree"/>
 <worldbody>
  <body name="a" pos="0.1 0.2 1" euler="20 -30 40">
   <joint name="a1" axis="1 2 3" pos="0.1 0 0.05" ref="25"/>
   <joint name="a2" type="slide" axis="0 1 1" ref="0.2"/>
   <joint name="a3" axis="0 0 -1" pos="0 0.2 0" range="-90 45" damping="0.4" frictionloss="0.3" armature="1"/>
   <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0" euler="10 20 30"/>
   <body name="b" pos="0.3 0 0" quat="0.8 0.1 0.2 0.3">
    <joint name="b1" type="ball" pos="0.05 0 0.1"/>
    <geom type="capsule" size="0.05 0.2"/>
    <body pos="0 0 0.2"><geom size="0.1"/></body>
   </body>
  </body>
  <body name="f" pos="3 2 1" euler="0 0 30">
   <freejoint name="root"/>
   <inertial pos="0.1 0.2 0.3" mass="2" fullinertia="0.5 0.6 0.7 0.01 0.02 0.03"/>
   <body name="g"><joint type="slide" axis="1 0 0"/><geom size="0.1"/></body>
  </body>
 </worldbody>
</mujoco>"""


def load(text: str, **options: object) -> Scene:
    return read_mjcf(text, Request("<stdin>", text, **options))


def with_equality(equality: str) -> str:
    return f"""<mujoco>
 <worldbody>
  <body name="a" pos="0 0 1" euler="0 30 0"><joint name="ja" axis="0 1 0" ref="10"/><geom size="0.1"/>
   <site name="sa" pos="0.3 0.1 0" euler="10 20 30"/>
   <body name="c" pos="0.5 0 0"><joint name="jc" axis="0 1 0"/><geom size="0.1"/></body></body>
  <body name="b" pos="1 0 1" euler="40 0 10"><joint name="jb" axis="0 1 0" ref="-20"/><geom size="0.1"/>
   <site name="sb" pos="0 0.2 0.3"/></body>
 </worldbody>
 <equality>
  {equality}
 </equality>
</mujoco>"""


def coordinates(scene: Scene, model: object, qpos: np.ndarray) -> np.ndarray:
    """Return our q of MuJoCo's qpos: free roots sit at their centre of mass, quaternions are xyzw."""
    mech, q = scene.mechanism, np.array(scene.state.q)
    slot = {joint.outer if joint.pair is None else joint.pair.name: joint for joint in mech.tree.joints}
    for j in range(model.njnt):
        adr, body = model.jnt_qposadr[j], int(model.jnt_bodyid[j])
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j) or f"joint{j}"
        if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE:
            outer = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, body) or f"body{body}"
            com = np.zeros(3)
            mujoco.mju_rotVecQuat(com, model.body_ipos[body], qpos[adr + 3 : adr + 7])
            q[slot[outer].q] = [*(qpos[adr : adr + 3] + com), *qpos[adr + 4 : adr + 7], qpos[adr + 3]]
        elif model.jnt_type[j] == mujoco.mjtJoint.mjJNT_BALL:
            q[slot[name].q] = [*qpos[adr + 1 : adr + 4], qpos[adr]]
        else:
            q[slot[name].q] = qpos[adr]
    return q


def assert_same_poses(scene: Scene, model: object, seed: int = 0) -> None:
    """Compare all bodies at qpos0 and at random joint positions."""
    rng, data = np.random.default_rng(seed), mujoco.MjData(model)
    for trial in range(5):
        qpos = np.array(model.qpos0)
        if trial:
            mujoco.mj_integratePos(model, qpos, rng.normal(size=model.nv), 1.0)
        data.qpos[:] = qpos
        mujoco.mj_forward(model, data)
        np.testing.assert_allclose(data.qpos, qpos, atol=1e-15)
        q = coordinates(scene, model, qpos)
        if not trial:
            np.testing.assert_allclose(q, scene.state.q, atol=1e-14)
        poses = forward(scene.mechanism, q)
        for i in range(1, model.nbody):
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, i) or f"body{i}"
            X = poses.of(scene.mechanism.body_index[name])
            np.testing.assert_allclose(X.p, data.xpos[i], atol=1e-12)
            np.testing.assert_allclose(X.R, data.xmat[i].reshape(3, 3), atol=1e-12)
            body = scene.mechanism.bodies[scene.mechanism.body_index[name]]
            np.testing.assert_allclose(X.apply(body.p_LC), data.xipos[i], atol=1e-12)
            I_W = data.ximat[i].reshape(3, 3) @ np.diag(model.body_inertia[i]) @ data.ximat[i].reshape(3, 3).T
            np.testing.assert_allclose(X.R @ body.I_C @ X.R.T, I_W, atol=1e-12)


def closure_pose(scene: Scene, name: str):
    mech = scene.mechanism
    return relative_pose(mech, mech.pair_by_name[name], forward(mech, scene.state.q))


def test_joints_of_one_body_become_a_chain_with_mujocos_poses():
    scene = load(SEVERAL_JOINTS)
    mech = scene.mechanism
    assert [b.name for b in mech.bodies] == ["a#1", "a#2", "a", "b", "body3", "f", "g"]
    assert [p.name for p in mech.pairs] == ["a1", "a2", "a3", "b1", "b→body3", "joint5"]
    assert mech.bodies[0].massless
    assert [j.outer for j in mech.tree.joints if j.pair is None] == ["f"]
    assert_same_poses(scene, mujoco.MjModel.from_xml_string(SEVERAL_JOINTS))


def test_limits_friction_and_armature_are_compiled_units():
    scene = load(SEVERAL_JOINTS)
    freedom = scene.mechanism.pair_by_name["a3"].freedoms[0]
    assert (freedom.lower, freedom.upper) == pytest.approx((-np.pi / 2, np.pi / 4))
    assert (freedom.damping, freedom.friction) == (0.4, 0.3)
    assert [(a.joint, a.armature) for a in scene.actuators] == [("a3", 1.0)]
    assert scene.mechanism.pair_by_name["a1"].freedoms[0].upper == np.inf


def test_lines_of_named_elements():
    origin = load(SEVERAL_JOINTS).origin
    assert origin["body", "a", ""].line == 4
    assert origin["constraint", "a2", ""].line == 6
    assert (origin["constraint", "a3", "axis"].line, origin["constraint", "a3", "axis"].text) == (7, "0 0 -1")
    assert origin["body", "body3", ""].line == 0


@pytest.mark.parametrize("file", sorted(DATA.glob("*.xml")), ids=lambda path: path.name)
def test_pybullet_data(file):
    try:
        model = mujoco.MjModel.from_xml_path(str(file))
    except ValueError:
        with pytest.raises(MbPluginError, match=file.name):
            read_mjcf(read_text(file), Request(str(file)))
        return
    assert_same_poses(read_mjcf(read_text(file), Request(str(file))), model)


@pytest.mark.bullet
def test_humanoid_has_bodies_with_several_joints():
    file = DATA / "humanoid.xml"
    names = [b.name for b in read_mjcf(read_text(file), Request(str(file))).mechanism.bodies]
    assert any("#2" in name for name in names)


def test_connect_takes_its_anchor_in_body_1_and_holds_at_qpos0():
    scene = load(with_equality('<connect name="k" body1="a" body2="b" anchor="0.2 0.1 0.3"/>'))
    pair = scene.mechanism.pair_by_name["k"]
    assert (pair.type, pair.body_a, pair.body_b, pair.closure) == ("spherical", "a", "b", True)
    np.testing.assert_allclose(pair.X_AP.p, [0.2, 0.1, 0.3])
    X = closure_pose(scene, "k")
    np.testing.assert_allclose(X.p, 0, atol=1e-12)
    np.testing.assert_allclose(X.R, np.eye(3), atol=1e-12)
    assert scene.origin["constraint", "k", ""].line == 10


def test_connect_of_sites_joins_their_origins():
    text = with_equality('<connect name="k" site1="sa" site2="sb"/>')
    scene, model = load(text), mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    X_WP_R = data.site_xmat[0].reshape(3, 3)
    X = closure_pose(scene, "k")
    np.testing.assert_allclose(X.p, X_WP_R.T @ (data.site_xpos[1] - data.site_xpos[0]), atol=1e-12)


def test_connect_to_the_world():
    scene = load(with_equality('<connect name="k" body1="c" anchor="0 0 0"/>'))
    assert scene.mechanism.pair_by_name["k"].body_b == "world"
    np.testing.assert_allclose(closure_pose(scene, "k").p, 0, atol=1e-12)


@pytest.mark.parametrize(
    "attributes",
    [
        'body1="a" body2="b" anchor="0.1 0.2 0.3"',
        'body1="a" body2="b" relpose="0.3 0.2 0.1 0.5 0.5 0.5 0.5" anchor="0.1 0.2 0"',
        'body1="b" relpose="1 2 3 1 1 0 0"',
        'site1="sa" site2="sb"',
    ],
)
def test_weld_has_mujocos_residual(attributes):
    """MuJoCo's own constraint residual at a random pose is the oracle."""
    text = with_equality(f'<weld name="k" {attributes} torquescale="1"/>')
    scene, model = load(text), mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:] = np.random.default_rng(1).normal(size=model.nq)
    mujoco.mj_forward(model, data)
    residual = data.efc_pos[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY]
    mech = scene.mechanism
    pair = mech.pair_by_name["k"]
    poses = forward(mech, coordinates(scene, model, data.qpos))
    X_WA = poses.of(mech.body_index[pair.body_a])
    X = relative_pose(mech, pair, poses)
    assert pair.type == "fixed"
    # MuJoCo: position of frame 1 minus frame 2 in the world, sine of half the angle
    np.testing.assert_allclose(residual[:3], -X_WA.R @ pair.X_AP.R @ X.p, atol=1e-12)
    half_angle = np.arccos(np.clip((np.trace(X.R) - 1) / 2, -1, 1)) / 2
    assert np.linalg.norm(residual[3:6]) == pytest.approx(np.sin(half_angle), abs=1e-7)


def test_weld_without_relpose_holds_at_qpos0():
    X = closure_pose(load(with_equality('<weld name="k" body1="a" body2="b"/>')), "k")
    np.testing.assert_allclose(X.p, 0, atol=1e-12)
    np.testing.assert_allclose(X.R, np.eye(3), atol=1e-12)


def test_joint_equality_is_relative_to_the_references():
    scene = load(with_equality('<joint name="k" joint1="jb" joint2="ja" polycoef="0.1 -2 0 0 0"/>'))
    (coupling,) = scene.mechanism.couplings
    assert [(t.joint, t.freedom, t.coefficient) for t in coupling.terms] == [
        ("jb", "rz", 1.0),
        ("ja", "rz", 2.0),
    ]
    y0, x0 = np.deg2rad([-20, 10])
    assert coupling.offset == pytest.approx(y0 + 0.1 + 2 * x0)
    assert not scene.defects


def test_joint_equality_without_a_leader_holds_the_joint():
    scene = load(with_equality('<joint name="k" joint1="jb" polycoef="0 1 0 0 0"/>'))
    (coupling,) = scene.mechanism.couplings
    assert len(coupling.terms) == 1
    assert coupling.offset == pytest.approx(np.deg2rad(-20))


@pytest.mark.parametrize(
    ("equality", "element", "couplings"),
    [
        ('<joint name="k" joint1="jb" joint2="ja" polycoef="0 1 0.5 0 0"/>', "k", 1),
        ('<joint name="k" joint1="jb" joint2="ja" active="false"/>', "k", 0),
        ('<connect body1="a" body2="b" anchor="0 0 0" active="false"/>', "connect0", 0),
    ],
)
def test_what_is_not_read_is_noted(equality, element, couplings):
    scene = load(with_equality(equality))
    assert [(d.code, d.element) for d in scene.defects] == [("MB113", element)]
    assert len(scene.mechanism.couplings) == couplings
    assert not any(p.closure for p in scene.mechanism.pairs)


def test_a_tendon_equality_is_noted():
    text = with_equality('<tendon name="k" tendon1="t"/>').replace(
        "</mujoco>", '<tendon><fixed name="t"><joint joint="ja" coef="1"/></fixed></tendon></mujoco>'
    )
    assert [(d.code, d.element) for d in load(text).defects] == [("MB113", "k"), ("MB113", "t")]


def test_an_equality_may_have_the_name_of_a_joint():
    scene = load(with_equality('<connect name="ja" body1="a" body2="b" anchor="0 0 0"/>'))
    assert "ja#2" in scene.mechanism.pair_by_name
    assert not scene.defects


def test_the_base_follows_the_request():
    fixed = load(SEVERAL_JOINTS, base="fixed")
    assert "world→f" in fixed.mechanism.pair_by_name
    assert not [j for j in fixed.mechanism.tree.joints if j.pair is None]
    free = load(SEVERAL_JOINTS)
    i = free.mechanism.body_index["f"]
    at = [forward(s.mechanism, s.state.q).of(s.mechanism.body_index["f"]).p for s in (fixed, free)]
    np.testing.assert_allclose(at[0], at[1], atol=1e-14)
    assert i >= 0
    with pytest.raises(BadUsage, match="freejoint"):
        load('<mujoco><worldbody><body name="a"><geom size="1"/></body></worldbody></mujoco>', base="free")


def test_shapes_are_full_sizes():
    shapes = load(SEVERAL_JOINTS).shapes
    assert shapes["a"][0].size == pytest.approx((0.2, 0.4, 0.6))
    assert shapes["b"][0].size == pytest.approx((0.05, 0.4))


def test_includes_are_read_beside_the_file_and_keep_their_lines(tmp_path):
    inner = '<mujocoinclude>\n<body name="in"><joint name="j"/><geom size="1"/></body></mujocoinclude>'
    (tmp_path / "inner.xml").write_text(inner)
    main = tmp_path / "main.xml"
    main.write_text('<mujoco><worldbody><include file="inner.xml"/></worldbody></mujoco>')
    scene = read_mjcf(main.read_text(), Request(str(main)))
    assert scene.mechanism.name == "main"
    assert scene.files == (str(main), str(tmp_path / "inner.xml"))
    origin = scene.origin["body", "in", ""]
    assert (origin.file, origin.line) == (str(tmp_path / "inner.xml"), 2)


def test_an_included_file_may_call_its_root_mujoco_wherever_it_is_included(tmp_path):
    body = '<body name="{0}"><joint name="{0}"/><geom size="1"/></body>'
    (tmp_path / "inner.xml").write_text(f"<mujoco>{body.format('a')}{body.format('b')}</mujoco>")
    main = tmp_path / "main.xml"
    main.write_text('<mujoco><worldbody><include file="inner.xml"/></worldbody></mujoco>')
    scene = read_mjcf(main.read_text(), Request(str(main)))
    assert [body.name for body in scene.mechanism.bodies] == ["a", "b"] and not scene.defects


def test_a_message_without_a_line_names_the_file_alone(tmp_path):
    (tmp_path / "inner.xml").write_text('<mujoco><include file="gone.xml"/></mujoco>')
    main = tmp_path / "main.xml"
    main.write_text('<mujoco><include file="inner.xml"/></mujoco>')
    with pytest.raises(UnresolvedPath, match=r"gone\.xml") as caught:
        read_mjcf(main.read_text(), Request(str(main)))
    assert caught.value.where == str(main)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("<sdf/>", BrokenModel, "<mujoco>"),
        ('<mujoco>\n<worldbody>\n<body nme="x"/></worldbody></mujoco>', BrokenModel, ":3: .*'nme'"),
        ('<mujoco>\n<include file="nada.xml"/></mujoco>', UnresolvedPath, "nada.xml"),
        (
            '<mujoco><asset><mesh name="m" file="no.stl"/></asset><worldbody><body><joint/>'
            '<geom type="mesh" mesh="m"/></body></worldbody></mujoco>',
            UnresolvedPath,
            "no.stl",
        ),
        (
            '<mujoco><worldbody>\n<body pos="0 nan 0"><geom size="1"/></body></worldbody></mujoco>',
            BadNumber,
            ":2:",
        ),
        (
            '<mujoco><worldbody><body>\n<joint pos="inf 0 0"/><geom size="1"/></body></worldbody></mujoco>',
            BadNumber,
            ":2:",
        ),
        (
            '<mujoco><worldbody><body name="a"/></worldbody><equality>\n<connect body1="q" anchor="0 0 0"/>'
            "</equality></mujoco>",
            BrokenModel,
            ":2: .*'q'",
        ),
        (
            '<mujoco><worldbody><body name="a"><site name="s"/><site name="t"/></body></worldbody><equality>'
            '<weld site1="s" site2="t"/></equality></mujoco>',
            BrokenModel,
            "itself",
        ),
    ],
)
def test_bad_input_is_one_sentence(text, error, words, capfd):
    with pytest.raises(error, match=words) as caught:
        load(text)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")
    assert not Path("MUJOCO_LOG.TXT").exists()


@pytest.mark.parametrize(("x", "found"), [(0.2, [("w", pytest.approx(0.8))]), (1.0, [])])
def test_an_equality_that_carries_a_body_off_its_pose_is_told(x: float, found: list[object]):
    """The free ball stands 1 m beside the other one, to which it is welded at x m."""
    text = f"""<mujoco><worldbody><body name="a"><freejoint/><geom size=".1"/></body>
      <body name="b" pos="1 0 0"><joint axis="0 1 0"/><geom size=".1"/></body></worldbody>
      <equality><weld name="w" body1="a" body2="b" relpose="{x} 0 0 1 0 0 0"/></equality></mujoco>"""
    defects = [d for d in read_mjcf(text, Request("m.xml", text=text)).defects if d.code == "MB119"]
    assert [(d.element, d.evidence["distance"]) for d in defects] == found


@pytest.mark.skipif(
    not hasattr(mujoco.MjModel, "nactuator"), reason="one command per actuator before MuJoCo 4"
)
def test_actuators_with_several_commands_are_counted_as_one_each():
    text = """<mujoco><worldbody><body name="a"><joint name="ball" type="ball"/><geom size="0.1"/>
      <body name="b"><joint name="first" axis="1 0 0"/><geom size="0.1"/>
      <body name="c"><joint name="last" axis="0 1 0"/><geom size="0.1"/></body></body></body></worldbody>
      <actuator><position name="p1" joint="first" kp="3" ctrlrange="-1 1"/>
      <orientation name="o" joint="ball" kp="1" dampratio="1"/>
      <position name="p2" joint="last" kp="5" ctrlrange="-2 2"/></actuator></mujoco>"""
    scene = read_mjcf(text, Request("several.xml", text))
    assert scene.actuated == ("first", "ball", "last")
    assert [(law.name, law.joint) for law in scene.actuator_laws] == [
        ("p1", "first"),
        ("o", "ball"),
        ("p2", "last"),
    ]
    laws = [dict(law.attributes) for law in scene.actuator_laws]
    assert laws[0]["ctrlrange"] == "-1.0 1.0" and laws[2]["ctrlrange"] == "-2.0 2.0"
    assert laws[2]["gainprm"] == "5.0" and scene.actuator_laws[1].obstacle
