"""Models of other libraries in memory: the same scene as their file, and MuJoCo's own poses and velocities."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from driven_models import ACTUATORS, LINKS, MODEL
from mbplugin.constraints.reduction import body_twists
from mbplugin.errors import BadUsage
from mbplugin.model.mechanism.kinematics import forward
from places import ASSETS

#: A free root whose centre of mass is off its origin, a ball, several joints of one body, offsets and references.
LOOSE = """<mujoco model="loose"><compiler angle="degree"/><worldbody>
<body name="root" pos="0 0 1"><freejoint/><inertial pos="0.1 0.2 0.3" mass="2" diaginertia="1 1.2 1.5"/>
<body name="arm" pos="0.3 0 0" euler="10 20 30"><joint name="ball" type="ball" pos="0.1 0 0.2"/><geom size="0.1"/>
<body name="hand" pos="0 0.4 0"><joint name="turn" axis="1 2 0" ref="25" pos="0 0.1 0"/>
<joint name="slide" type="slide" axis="0 0 1" ref="0.2"/><geom size="0.1" pos="0.1 0 0"/></body></body></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize("text", [LINKS + ACTUATORS, MODEL, LOOSE], ids=["chain", "loop", "loose"])
def test_a_compiled_model_is_its_file(tmp_path: Path, text: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    file = tmp_path / "model.xml"
    file.write_text(text)
    model = mujoco.MjModel.from_xml_path(str(file))
    scene = mb.load(file)
    for source in (model, mujoco.MjSpec.from_file(str(file))):
        found = mb.load(source)
        assert mb.diff(scene, found).differences == ()
        assert found.actuator_laws == scene.actuator_laws and found.actuated == scene.actuated
        assert found.mechanism.name == scene.mechanism.name
        # what is not read of a text, and what programs make of a file, is not part of a model in memory
        codes = [
            [f.code for f in mb.lint(one).findings if not f.code.startswith("MB1")] for one in (source, file)
        ]
        assert codes[0] == codes[1]


@pytest.mark.parametrize("text", [LINKS + ACTUATORS, LOOSE], ids=["chain", "loose"])
@pytest.mark.parametrize("seed", range(3))
def test_data_is_the_model_in_its_state(text: str, seed: int) -> None:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(seed)
    mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv), 1.0)
    data.qvel[:] = rng.normal(size=model.nv)
    mujoco.mj_forward(model, data)
    scene = mb.load(data)
    mech, state = scene.mechanism, scene.state
    poses = forward(mech, state.q)
    twists = body_twists(mech, poses, state.qd)
    for k in range(1, model.nbody):
        i = mech.body_index[model.body(k).name]
        assert np.allclose(poses.p_WC[i], data.xipos[k], atol=1e-12)
        assert np.allclose(poses.R_WL[i], data.xmat[k].reshape(3, 3), atol=1e-12)
        velocity = np.zeros(6)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, k, velocity, 0)
        # MuJoCo gives it at the origin of the body's inertial frame, in world axes, angular part first
        assert np.allclose(twists[i], [*velocity[3:], *velocity[:3]], atol=1e-12)


def test_the_model_that_is_given_is_not_changed() -> None:
    mujoco = pytest.importorskip("mujoco")
    spec = mujoco.MjSpec.from_string(MODEL)
    before = spec.to_xml()
    mb.lint(spec)
    assert spec.to_xml() == before
    model = mujoco.MjModel.from_xml_string(MODEL)
    data = mujoco.MjData(model)
    mb.load(data)
    assert not data.xpos.any()


def test_reactions_of_a_model_in_memory_are_those_of_its_file(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    file = tmp_path / "model.xml"
    file.write_text(MODEL)
    ours, theirs = (mb.reactions(source) for source in (mujoco.MjModel.from_xml_string(MODEL), file))
    assert [joint.name for joint in ours.constraints] == [joint.name for joint in theirs.constraints]
    for one, other in zip(ours.constraints, theirs.constraints, strict=True):
        assert (one.wrench is None) == (other.wrench is None)
        assert one.wrench is None or np.allclose(one.wrench, other.wrench, atol=1e-9, equal_nan=True)


def test_a_robot_of_yourdfpy_is_its_file() -> None:
    yourdfpy = pytest.importorskip("yourdfpy")
    robot = yourdfpy.URDF.load(ASSETS / "arm_6r.urdf", load_meshes=False, build_scene_graph=False)
    assert mb.diff(ASSETS / "arm_6r.urdf", robot).same
    assert mb.lint(robot).exit_code == mb.lint(ASSETS / "arm_6r.urdf").exit_code


def test_a_robot_of_urchin_has_the_masses_that_it_gives_its_links() -> None:
    urchin = pytest.importorskip("urchin")
    robot = urchin.URDF.load(str(ASSETS / "arm_6r.urdf"))
    found = mb.diff(ASSETS / "arm_6r.urdf", robot)
    # it gives a link without inertia one of its own
    assert {one.element_a for one in found.differences} <= {"base"}


def test_anything_else_is_refused_with_what_is_taken() -> None:
    for value in (3.5, object(), [1]):
        with pytest.raises(BadUsage, match="a model of MuJoCo, Pinocchio, yourdfpy or urchin"):
            mb.lint(value)
