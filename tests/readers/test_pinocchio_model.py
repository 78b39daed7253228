"""Models of Pinocchio in memory: its own mass matrix, poses and limits are the judge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import mbplugin as mb
from mbplugin.constraints.reduction import velocity_transformation
from mbplugin.errors import BadUsage, BrokenModel
from mbplugin.model.brakes import with_coordinates
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.scene import Scene
from places import ASSETS
from same_mechanics import assert_same_mass_matrix, masses

pinocchio = pytest.importorskip("pinocchio")

Array = NDArray[np.float64]
#: Joints of one freedom: along an axis of the frame, along any axis, unbounded, sliding, and turning while they slide.
UNIT = np.array([1.0, 2.0, 2.0]) / 3
SINGLE = {
    "RX": pinocchio.JointModelRX,
    "RY": pinocchio.JointModelRY,
    "RZ": pinocchio.JointModelRZ,
    "any": lambda: pinocchio.JointModelRevoluteUnaligned(UNIT),
    "endless": pinocchio.JointModelRUBX,
    "PX": pinocchio.JointModelPX,
    "slide": lambda: pinocchio.JointModelPrismaticUnaligned(UNIT),
    "screw": lambda: pinocchio.JointModelHelicalUnaligned(UNIT, 0.3),
}


def tree(kinds: list[str], seed: int, *, free: bool = False) -> Any:
    """A random tree of joints of some kinds, with random bodies, limits and losses."""
    rng = np.random.default_rng(seed)
    pinocchio.seed(seed)
    model = pinocchio.Model()
    way = [0]
    if free:
        way = [model.addJoint(0, pinocchio.JointModelFreeFlyer(), pinocchio.SE3.Identity(), "root")]
    for k, kind in enumerate(kinds):
        # on the way to the last joint: Pinocchio wants them depth first
        del way[int(rng.integers(1, len(way) + 1)) :]
        way.append(model.addJoint(way[-1], SINGLE[kind](), pinocchio.SE3.Random(), f"j{k}"))
    for joint in range(1, model.njoints):
        model.appendBodyToJoint(joint, pinocchio.Inertia.Random(), pinocchio.SE3.Random())
    model.damping[:] = rng.uniform(0, 1, model.nv)
    model.armature[:] = rng.uniform(0, 1, model.nv) * (np.arange(model.nv) >= 6 * free)
    return model


def mass_matrix(scene: Scene) -> Array:
    S = velocity_transformation(scene.mechanism, forward(scene.mechanism, scene.state.q))
    return np.asarray(S.T @ masses(scene) @ S)


def configuration(model: Any, values: dict[str, float]) -> Array:
    """Pinocchio's configuration with some joints of one freedom at given values."""
    q = np.array(pinocchio.neutral(model))
    for name, value in values.items():
        joint = model.joints[model.getJointId(name)]
        q[joint.idx_q : joint.idx_q + joint.nq] = (
            (value,) if joint.nq == 1 else (np.cos(value), np.sin(value))
        )
    return q


@pytest.mark.parametrize("seed", range(12))
def test_the_mass_matrix_is_that_of_pinocchio(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = [str(kind) for kind in rng.choice(sorted(SINGLE), 6)]
    model = tree(kinds, seed)
    scene = mb.load(model)
    names = [str(name) for name in model.names][1:]
    values = dict(zip(names, rng.uniform(-1, 1, len(names)).tolist(), strict=True))
    scene = with_coordinates(scene, values)
    data = model.createData()
    M = np.array(pinocchio.crba(model, data, configuration(model, values)))
    M = np.triu(M) + np.triu(M, 1).T - np.diag(model.armature)
    order = [scene.mechanism.qd_names.index(name) for name in names]
    np.testing.assert_allclose(mass_matrix(scene)[np.ix_(order, order)], M, atol=1e-9)
    armatures = {one.joint: one.armature for one in scene.actuators}
    assert armatures == pytest.approx(dict(zip(names, model.armature, strict=True)))
    freedoms = {pair.name: pair.freedoms[0] for pair in scene.mechanism.pairs}
    assert {name: one.damping for name, one in freedoms.items()} == pytest.approx(
        dict(zip(names, model.damping, strict=True))
    )


def test_a_free_root_is_free_or_held() -> None:
    model = tree(["RX", "slide"], 3, free=True)
    assert mb.analyze(model).dof == 8
    assert mb.analyze(mb.load(model, base="fixed")).dof == 2
    assert mb.analyze(mb.load(model, base="free")).dof == 8
    with pytest.raises(BadUsage, match="JointModelFreeFlyer"):
        mb.load(tree(["RX"], 3), base="free")


def test_a_urdf_of_pinocchio_is_that_urdf() -> None:
    file = ASSETS / "four_bar.urdf"
    scene, found = mb.load(file, base="fixed"), mb.load(pinocchio.buildModelFromUrdf(str(file)))
    assert [pair.name for pair in found.mechanism.pairs] == ["j0", "j1", "j2"]
    assert {body.name for body in found.mechanism.bodies} == {"crank", "coupler", "rocker"}
    assert_same_mass_matrix(scene, found, tree=True)
    theirs = {pair.name: pair.freedoms[0] for pair in scene.mechanism.pairs if pair.freedoms}
    for pair in found.mechanism.pairs:
        own = theirs[pair.name]
        assert (pair.freedoms[0].effort, pair.freedoms[0].velocity) == (own.effort, own.velocity)


def test_a_ball_and_gravity_are_read_and_another_joint_is_refused() -> None:
    model = pinocchio.Model()
    model.gravity.linear = np.array([0.0, -9.81, 0.0])
    joint = model.addJoint(0, pinocchio.JointModelSpherical(), pinocchio.SE3.Random(), "ball")
    model.appendBodyToJoint(joint, pinocchio.Inertia.Random(), pinocchio.SE3.Identity())
    model.addBodyFrame("head", joint, pinocchio.SE3.Identity(), 0)
    scene = mb.load(model)
    assert [(pair.type, pair.body_b) for pair in scene.mechanism.pairs] == [("spherical", "head")]
    np.testing.assert_array_equal(scene.mechanism.gravity, [0.0, -9.81, 0.0])
    model.addJoint(joint, pinocchio.JointModelPlanar(), pinocchio.SE3.Identity(), "table")
    with pytest.raises(BrokenModel, match="joint 'table' is a Planar"):
        mb.load(model)


def test_a_joint_that_mimics_another_and_a_composite_are_refused() -> None:
    joint = pinocchio.JointModelComposite()
    joint.addJoint(pinocchio.JointModelRX(), pinocchio.SE3.Random())
    model = tree(["RX"], 2)
    model.addJoint(1, joint, pinocchio.SE3.Identity(), "made of parts")
    with pytest.raises(BrokenModel, match="'made of parts' is a Composite"):
        mb.load(model)
    if not hasattr(pinocchio, "JointModelMimic"):
        return
    model = tree(["RX"], 2)
    mimic = pinocchio.JointModelMimic(model.joints[1], 2.0, 0.0)
    model.addJoint(1, mimic, pinocchio.SE3.Identity(), "follower")
    with pytest.raises(BrokenModel, match="'follower'"):
        mb.load(model)


def test_every_command_takes_it() -> None:
    model = tree(["RX", "RY", "RZ"], 1)
    assert mb.analyze(model).dof == 3
    assert len(mb.simulate(model, 0.01).q) > 1
