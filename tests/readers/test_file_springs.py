"""Springs that MJCF and SDF files state: MuJoCo's accelerations, closed forms, and what has no place."""

from __future__ import annotations

from math import cos, radians, sqrt
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.dynamics.tree_calls import ForwardDynamics
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.errors import BadScene
from mbplugin.model.brake_law import Brake
from mbplugin.model.brakes import scene_actions
from mbplugin.model.scene import Request, Scene
from mbplugin.model.spatial import JointSpring, Spring
from mbplugin.readers.mjcf import read_mjcf
from mbplugin.readers.sdf.reader import read_sdf

mujoco = pytest.importorskip("mujoco")

#: Degrees, references, a default class, a slide, two joints of one body, a spring stated by its time
#: constant; contacts off.
TREE = """<mujoco>
 <compiler angle="degree"/>
 <option gravity="0.3 -0.2 -9.81"><flag contact="disable"/></option>
 <default><default class="soft"><joint stiffness="3" springref="-25" damping="0.2"/></default></default>
 <worldbody>
  <body name="a" pos="0 0 1" euler="10 20 30">
   <joint name="a1" axis="1 2 3" pos="0.1 0 0.05" stiffness="12" springref="40" ref="15"/>
   <joint name="a2" type="slide" axis="0 1 1" stiffness="250" springref="0.05" ref="0.02" damping="1.5"/>
   <inertial pos="0.1 0 0" mass="2" diaginertia="0.02 0.03 0.04"/>
   <body name="b" pos="0.3 0 0">
    <joint name="b1" class="soft" axis="0 1 0"/>
    <inertial pos="0.1 0.02 0" mass="1" diaginertia="0.01 0.02 0.02"/>
    <body name="c" pos="0.2 0 0">
     <joint name="c1" axis="0 0 1" springdamper="0.4 0.7" armature="0.01"/>
     <inertial pos="0.1 0 0.03" mass="0.6" diaginertia="0.004 0.005 0.006"/>
    </body>
   </body>
  </body>
 </worldbody>
</mujoco>"""

#: A finger of four bars whose joints are sprung, like those of underactuated grippers: the coupler and
#: the follower meet in a connect that the compiler closes at qpos0.
FINGER = """<mujoco>
 <compiler angle="radian"/>
 <option gravity="0 0 -9.81"><flag contact="disable"/></option>
 <worldbody>
  <body name="driver" pos="0 0 0.2"><joint name="driver" axis="0 1 0" armature="0.005"/>
   <inertial pos="0.02 0 0.02" mass="0.1" diaginertia="1e-4 1e-4 1e-4"/>
   <body name="coupler" pos="0.05 0 0.05"><joint name="coupler" axis="0 1 0" stiffness="0.9"
     springref="0.3"/>
    <inertial pos="0.05 0 0" mass="0.08" diaginertia="1e-4 2e-4 2e-4"/>
   </body>
  </body>
  <body name="follower" pos="0.15 0 0.18"><joint name="follower" axis="0 1 0" stiffness="0.05"
    springref="2.62" damping="0.01"/>
   <inertial pos="0 0 0.03" mass="0.07" diaginertia="1e-4 1e-4 1e-4"/>
  </body>
 </worldbody>
 <equality><connect name="tip" body1="coupler" body2="follower" anchor="0.1 0 0.02"/></equality>
</mujoco>"""

SDF = """<sdf version="1.9"><model name="m">
 <link name="base"/>
 <link name="b"><pose>0 0 0.1 0 0 0</pose><inertial><mass>1</mass>
  <inertia><ixx>0.04</ixx><iyy>0.04</iyy><izz>0.04</izz></inertia></inertial></link>
 <joint name="hold" type="fixed"><parent>world</parent><child>base</child></joint>
 <joint name="j" type="{type}"><parent>base</parent><child>b</child>
  <axis><xyz>0 1 0</xyz><dynamics><spring_stiffness>25</spring_stiffness>
   <spring_reference>0.3</spring_reference></dynamics></axis>{more}</joint>
</model></sdf>"""


def load(text: str) -> Scene:
    return read_mjcf(text, Request("<stdin>", text))


def one_joint(joint: str) -> str:
    return f"""<mujoco><worldbody><body name="b">{joint}
     <inertial pos="0 0 0" mass="2" diaginertia="0.1 0.1 0.1"/></body></worldbody></mujoco>"""


def mujoco_state(text: str, q: np.ndarray, qd: np.ndarray) -> tuple[object, object]:
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, qd
    mujoco.mj_forward(model, data)
    return model, data


# MJCF


@pytest.mark.long_after(10)
@pytest.mark.parametrize("seed", range(5))
def test_accelerations_are_mujocos(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scene = load(TREE)
    q, qd = rng.uniform(-1, 1, 4), rng.uniform(-1, 1, 4)
    _, data = mujoco_state(TREE, q, qd)
    qdd = ForwardDynamics(scene.mechanism, scene_actions(scene))(q, qd)
    np.testing.assert_allclose(qdd, data.qacc, rtol=1e-9, atol=1e-9)
    assert scene.defects == ()


def test_references_are_in_the_units_of_the_compiler_and_classes_count() -> None:
    springs = {spring.joint: spring for spring in load(TREE).springs}
    assert set(springs) == {"a1", "a2", "b1", "c1"}
    assert springs["a1"].stiffness == 12 and springs["a1"].rest == pytest.approx(radians(40))
    assert (springs["a2"].stiffness, springs["a2"].rest) == (250, 0.05)
    assert springs["b1"].stiffness == 3 and springs["b1"].rest == pytest.approx(radians(-25))


@pytest.mark.long
def test_springs_of_a_model_with_an_equality_enter_its_accelerations() -> None:
    scene = load(FINGER)
    q, zero = scene.state.q, np.zeros(3)
    model, data = mujoco_state(FINGER, q, zero)
    mass = np.zeros((3, 3))
    mujoco.mj_fullM(model, data, mass)
    jacobians = []
    anchors = np.array(model.eq_data[0][:6]).reshape(2, 3)
    for body, anchor in zip((model.eq_obj1id[0], model.eq_obj2id[0]), anchors, strict=True):
        jacobian = np.zeros((3, 3))
        point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ anchor
        mujoco.mj_jac(model, data, jacobian, None, point, body)
        jacobians.append(jacobian)
    # the row across the plane is empty
    J = (jacobians[0] - jacobians[1])[[0, 2]]
    kkt = np.block([[mass, J.T], [J, np.zeros((2, 2))]])
    force = data.qfrc_passive - data.qfrc_bias
    expected = np.linalg.solve(kkt, np.concatenate((force, np.zeros(2))))[:3]
    motion = mb.simulate(scene, duration=1e-6, step=1e-6, integrator="rk4")
    ours = motion.qd[-1] / 1e-6
    assert np.abs(expected).max() > 10
    np.testing.assert_allclose(ours, expected, rtol=1e-6)
    equations = joint_equations(scene.mechanism, q, zero, scene_actions(scene))
    np.testing.assert_allclose(equations.F, force, rtol=1e-9, atol=1e-12)


def test_the_spring_of_a_free_joint_pulls_at_its_origin_and_its_orientation_part_is_noted() -> None:
    text = one_joint('<joint type="free" name="root" stiffness="7"/>').replace(
        'name="b"', 'name="b" pos="1 2 3"'
    )
    scene = load(text)
    (spring,) = scene.springs
    assert isinstance(spring, Spring) and spring.length == 0
    q, qd = np.array([1.3, 1.8, 3.5, 1, 0, 0, 0]), np.zeros(6)
    _, data = mujoco_state(text, q, qd)
    ours = ForwardDynamics(scene.mechanism, scene_actions(scene))(np.array([1.3, 1.8, 3.5, 0, 0, 0, 1.0]), qd)
    np.testing.assert_allclose(ours, data.qacc, atol=1e-9)
    (defect,) = scene.defects
    assert defect.code == "MB113" and "orientation" in defect.message


@pytest.mark.parametrize(
    ("joint", "word"),
    [
        ('<joint name="j" type="ball" stiffness="4"/>', "orientation"),
        ('<joint name="j" stiffness="4 2 1"/>', "nonlinear stiffness"),
        ('<joint name="j" damping="4 2 1"/>', "nonlinear damping"),
        pytest.param(
            '<joint name="j" stiffness="4" springyield="2"/>',
            "springyield",
            marks=pytest.mark.skipif(mujoco.__version__.startswith("3."), reason="MuJoCo 4 knows it"),
        ),
    ],
)
def test_what_is_no_linear_spring_is_noted(joint: str, word: str) -> None:
    defects = load(one_joint(joint)).defects
    assert [(d.code, d.element) for d in defects] == [("MB113", "j")]
    assert word in defects[0].message


# SDF


def read(text: str) -> Scene:
    return read_sdf(text, Request("<stdin>", text))


@pytest.mark.long
@pytest.mark.parametrize(("type", "inertia"), [("revolute", 0.04), ("prismatic", 1.0)])
def test_a_sprung_joint_swings_about_its_reference(type: str, inertia: float) -> None:
    scene = read(SDF.format(type=type, more=""))
    assert scene.springs == (JointSpring("j", 25.0, 0.3),)
    motion = mb.simulate(scene, duration=0.5, rtol=1e-11, atol=1e-12)
    omega = sqrt(25.0 / inertia)
    assert motion.q[-1, 0] == pytest.approx(0.3 * (1 - cos(omega * motion.time[-1])), abs=1e-9)


def test_the_static_reaction_holds_the_spring() -> None:
    held = mb.reactions(read(SDF.format(type="prismatic", more="")), q={"j": 0.1}, hold=["j"])
    # −25 (0.1 − 0.3) pulls the body up the rail, so what holds it carries 5 N down
    assert held.value("lock j", "tz_lock") == pytest.approx(-5.0, abs=1e-9)


def test_both_axes_of_a_universal_joint_have_springs() -> None:
    more = (
        "<axis2><xyz>0 0 1</xyz><dynamics><spring_stiffness>9</spring_stiffness>"
        "<spring_reference>-0.2</spring_reference></dynamics></axis2>"
    )
    scene = read(SDF.format(type="universal", more=more))
    equations = joint_equations(scene.mechanism, np.array([0.1, 0.05]), np.zeros(2), scene_actions(scene))
    np.testing.assert_allclose(equations.F, [-25 * (0.1 - 0.3), -9 * (0.05 + 0.2)], atol=1e-12)


def test_the_spring_of_a_joint_that_closes_a_loop_is_noted() -> None:
    second = SDF.format(type="revolute", more="").replace('name="j"', 'name="k"')
    second = second[second.index('<joint name="k"') : second.index("</model>")]
    scene = read(SDF.format(type="revolute", more="").replace("</model>", second + "</model>"))
    assert scene.springs == (JointSpring("j", 25.0, 0.3),)
    (defect,) = scene.defects
    assert (defect.code, defect.element) == ("MB113", "k")
    assert "25" in defect.message and "0.3" in defect.message


# Scenes


def retyped_scene(folder: Path, type: str) -> Path:
    (folder / "m.sdf").write_text(SDF.format(type="revolute", more=""))
    path = folder / "s.scene.toml"
    path.write_text(f'[[model]]\nfile = "m.sdf"\n[[pair]]\nname = "j"\ntype = "{type}"\n')
    return path


def test_a_retyped_joint_keeps_the_spring_of_the_freedom_that_it_keeps(tmp_path: Path) -> None:
    scene = mb.load(retyped_scene(tmp_path, "cylindrical"))
    assert scene.springs == (JointSpring("j.rz", 25.0, 0.3),)
    assert not [d.element for d in scene.defects if d.code == "MB113"]
    mb.simulate(scene, duration=0.01)


def test_a_joint_whose_spring_would_mean_nothing_cannot_be_retyped(tmp_path: Path) -> None:
    with pytest.raises(
        BadScene, match="revolute joint 'j' has a spring, which means nothing for its new type"
    ):
        mb.load(retyped_scene(tmp_path, "spherical"))


# Programs


@pytest.mark.long
def test_crosscheck_agrees_with_a_sprung_joint() -> None:
    pytest.importorskip("pybullet")
    assert mb.crosscheck(read(SDF.format(type="revolute", more="")), duration=0.2).agrees


@pytest.mark.long
def test_a_stop_takes_the_spring_into_account() -> None:
    # 40 N·m/rad at 0.5 rad against a brake of 1 N·m: the joint goes on, and does not rest where it was
    scene = load(
        '<mujoco><compiler angle="radian"/><option gravity="0 0 0"/><worldbody><body name="b">'
        '<joint name="j" axis="0 1 0" stiffness="40"/>'
        '<inertial pos="0 0 0" mass="2" diaginertia="0.1 0.1 0.1"/></body></worldbody></mujoco>'
    )
    stop = mb.estop(scene, q={"j": 0.5}, brakes=[Brake("j", torque=1.0, static_torque=1.0)])
    # by hand: amplitudes shrink by 2·1/40 per half swing until |q| ≤ 1/40
    assert abs(stop.joints[0].end) <= 1 / 40 + 1e-9
    assert stop.energies.brakes == pytest.approx(0.5 * 40 * (0.25 - stop.joints[0].end ** 2), rel=1e-6)
