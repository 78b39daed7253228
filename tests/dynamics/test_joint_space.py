"""Forward kinematics, Jacobians, mass matrix and bias forces on arrays: PyBullet, Pinocchio, and finite differences."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from bullet_masses import DATA
from mbplugin.constraints.reduction import mass_matrix, velocity_transformation
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.errors import BadNumber, UnknownName
from mbplugin.model.brakes import AppliedForces
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import displace, forward, home
from mbplugin.model.mechanism.pair import PAIR_TYPES, Pair
from mbplugin.model.spatial import Array
from random_mechanisms import loop_mechanism

ROBOTS = (
    "kuka_iiwa/model.urdf",
    "franka_panda/panda.urdf",
    "laikago/laikago.urdf",
    "quadruped/minitaur.urdf",
)
#: PyBullet computes world transforms in single precision, Jacobians and mass matrices in double.
SINGLE = 2e-6
_ASK = """
import json, sys
import numpy as np
from mbplugin.bullet import quiet, session

root, files = json.load(sys.stdin)
rng = np.random.default_rng(5)
out = {}
for file in files:
    with session() as (p, client):
        p.setAdditionalSearchPath(root)
        with quiet():
            robot = p.loadURDF(file, useFixedBase=True, flags=p.URDF_USE_INERTIA_FROM_FILE)
        infos = [p.getJointInfo(robot, j) for j in range(p.getNumJoints(robot))]
        moving = [i for i in infos if i[3] >= 0]
        states = []
        for _ in range(3):
            q = rng.uniform(-1.5, 1.5, len(moving)).tolist()
            for info, value in zip(moving, q):
                p.resetJointState(robot, info[0], value)
            links = {}
            for info in infos:
                state = p.getLinkState(robot, info[0], computeForwardKinematics=1)
                turn = p.getMatrixFromQuaternion(state[5])
                links[info[12].decode()] = {"p": state[4], "R": turn}
            last = infos[-1]
            local = [0.03, -0.02, 0.05]
            zero = [0.0] * len(moving)
            linear, angular = p.calculateJacobian(robot, last[0], local, q, zero, zero)
            states.append({"q": q, "links": links, "M": p.calculateMassMatrix(robot, q),
                           "linear": linear, "angular": angular})
        out[file] = {"joints": [i[1].decode() for i in moving], "last": infos[-1][12].decode(),
                     "local": local, "states": states}
json.dump(out, sys.stdout)
"""


@pytest.fixture(scope="module")
def pybullet_says() -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", _ASK],
        input=json.dumps([str(DATA), list(ROBOTS)]),
        capture_output=True,
        text=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])
    return answer


@pytest.mark.bullet
@pytest.mark.parametrize("file", ROBOTS)
def test_pybullet_has_the_same_link_frames_jacobians_and_mass_matrices(
    file: str, pybullet_says: dict[str, Any]
) -> None:
    said = pybullet_says[file]
    scene = mb.load(DATA / file, base="fixed", massless="pybullet")
    mech = scene.mechanism
    columns = [said["joints"].index(name) for name in mech.qd_names]
    Q = np.array([state["q"] for state in said["states"]])[:, columns]
    names = list(said["states"][0]["links"])
    X = mb.forward_kinematics(scene, Q, links=names)
    assert X.shape == (len(Q), len(names), 4, 4)
    J = mb.jacobian(scene, said["last"], Q, point=said["local"])
    M = mb.mass_matrix(scene, Q)
    for k, state in enumerate(said["states"]):
        for n, name in enumerate(names):
            assert X[k, n, :3, 3] == pytest.approx(state["links"][name]["p"], abs=SINGLE)
            assert X[k, n, :3, :3].ravel() == pytest.approx(state["links"][name]["R"], abs=SINGLE)
        seen = np.vstack((state["linear"], state["angular"]))[:, columns]
        assert J[k] == pytest.approx(seen, abs=1e-9)
        seen_M = np.array(state["M"])[np.ix_(columns, columns)]
        assert M[k] == pytest.approx(seen_M, abs=1e-6 * np.abs(seen_M).max())


def test_pinocchio_has_the_same_frames_jacobians_mass_matrix_and_bias() -> None:
    pin = pytest.importorskip("pinocchio")
    path = "assets/arm_6r.urdf"
    model = pin.buildModelFromUrdf(path)
    data = model.createData()
    rng = np.random.default_rng(2)
    scene = mb.load(path, base="fixed")
    order = [model.joints[model.getJointId(name)].idx_v for name in scene.mechanism.qd_names]
    Q, Qd = rng.uniform(-2, 2, (4, len(order))), rng.uniform(-2, 2, (4, len(order)))
    link = scene.mechanism.bodies[-1].name
    frame = model.getFrameId(link)
    X, J = mb.forward_kinematics(scene, Q, links=[link])[:, 0], mb.jacobian(scene, link, Q)
    M, h = mb.mass_matrix(scene, Q), mb.bias_forces(scene, Q, Qd)
    for k in range(len(Q)):
        q, v = np.empty(model.nq), np.empty(model.nv)
        q[order], v[order] = Q[k], Qd[k]
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        assert X[k] == pytest.approx(data.oMf[frame].homogeneous, abs=1e-12)
        seen = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        assert J[k] == pytest.approx(seen[:, order], abs=1e-12)
        crba = np.triu(pin.crba(model, data, q))
        full = crba + np.triu(crba, 1).T
        assert M[k] == pytest.approx(full[np.ix_(order, order)], abs=1e-11)
        assert h[k] == pytest.approx(pin.nonLinearEffects(model, data, q, v)[order], abs=1e-10)


def test_mujoco_has_the_same_mass_matrix_and_bias() -> None:
    mujoco = pytest.importorskip("mujoco")
    scene = mb.load("assets/arm_6r.urdf", base="fixed")
    model = mujoco.MjModel.from_xml_path("assets/arm_6r.urdf")
    data = mujoco.MjData(model)
    rng = np.random.default_rng(4)
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(model.njnt)]
    order = [names.index(name) for name in scene.mechanism.qd_names]
    for _ in range(3):
        q, qd = rng.uniform(-2, 2, len(order)), rng.uniform(-2, 2, len(order))
        data.qpos[order], data.qvel[order] = q, qd
        mujoco.mj_forward(model, data)
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        M = M[np.ix_(order, order)] - np.diag(model.dof_armature[order])
        assert mb.mass_matrix(scene, q) == pytest.approx(M, abs=1e-6)
        assert mb.bias_forces(scene, q, qd) == pytest.approx(data.qfrc_bias[order], abs=1e-5)


# Trees of every pair type: two constructions, and finite differences.


def tree(seed: int, *, free: bool = False) -> tuple[Mechanism, Array]:
    """A tree of every kind of pair at random, on the ground or free, with reversed joints."""
    mech, q = loop_mechanism(seed, 0, "generic")
    pairs = tuple(_turned(pair) if seed % 2 and k % 2 else pair for k, pair in enumerate(mech.pairs))
    if free or seed % 2:
        mech = replace(mech, pairs=pairs[free:])
        q = home(mech)
    return mech, q


def _turned(pair: Pair) -> Pair:
    """The same joint from the other side."""
    return replace(pair, body_a=pair.body_b, body_b=pair.body_a, X_AP=pair.X_BS, X_BS=pair.X_AP)


def poses(mech: Mechanism, q: Array, count: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    return np.array([displace(mech, q, rng.uniform(-1, 1, len(mech.qd_names))) for _ in range(count)])


CASES = [(seed, free) for seed in range(6) for free in (False, True)]


@pytest.mark.parametrize(("seed", "free"), CASES)
def test_a_batch_is_the_single_calls_and_the_single_calls_are_the_old_constructions(
    seed: int, free: bool
) -> None:
    mech, q = tree(seed, free=free)
    Q = poses(mech, q, 5, seed)
    Qd = np.random.default_rng(seed + 1).normal(size=(5, len(mech.qd_names)))
    link = mech.bodies[-1].name
    X, M = mb.forward_kinematics(mech, Q), mb.mass_matrix(mech, Q)
    J, h = mb.jacobian(mech, link, Q, point=[0.1, 0.2, -0.3]), mb.bias_forces(mech, Q, Qd)
    for k in range(len(Q)):
        at = forward(mech, Q[k])
        assert X[k, :, :3, :3] == pytest.approx(at.R_WL, abs=1e-12)
        assert X[k, :, :3, 3] == pytest.approx(at.p_WL, abs=1e-12)
        S = velocity_transformation(mech, at)
        assert M[k] == pytest.approx(S.T @ mass_matrix(mech, at) @ S, abs=1e-11)
        assert mb.forward_kinematics(mech, Q[k]) == pytest.approx(X[k], abs=1e-13)
        assert mb.jacobian(mech, link, Q[k], point=[0.1, 0.2, -0.3]) == pytest.approx(J[k], abs=1e-13)
        assert mb.mass_matrix(mech, Q[k]) == pytest.approx(M[k], abs=1e-13)
        assert mb.bias_forces(mech, Q[k], Qd[k]) == pytest.approx(h[k], abs=1e-12)


@pytest.mark.parametrize(("seed", "free"), CASES)
def test_the_jacobian_is_the_derivative_of_the_pose(seed: int, free: bool) -> None:
    mech, q = tree(seed, free=free)
    (q,) = poses(mech, q, 1, seed)
    link, point, step = mech.bodies[-1].name, np.array([0.1, 0.2, -0.3]), 1e-6
    J = mb.jacobian(mech, link, q, point=point)
    (X,) = mb.forward_kinematics(mech, q, links=[link])
    for column in range(len(mech.qd_names)):
        rate = np.zeros(len(mech.qd_names))
        rate[column] = step
        ends = np.array([displace(mech, q, -rate), displace(mech, q, rate)])
        back, ahead = mb.forward_kinematics(mech, ends, links=[link])[:, 0]
        dX = (ahead - back) / (2 * step)
        W = dX[:3, :3] @ X[:3, :3].T
        assert J[:3, column] == pytest.approx(dX[:3, :3] @ point + dX[:3, 3], abs=1e-8)
        assert J[3:, column] == pytest.approx([W[2, 1], W[0, 2], W[1, 0]], abs=1e-8)


@pytest.mark.parametrize(("seed", "free"), CASES)
def test_the_bias_is_that_of_the_recursive_equations(seed: int, free: bool) -> None:
    mech, q = tree(seed, free=free)
    (q,) = poses(mech, q, 1, seed)
    qd = np.random.default_rng(seed).normal(size=len(mech.qd_names))
    equations = joint_equations(mech, q, qd, AppliedForces())
    assert mb.bias_forces(mech, q, qd) == pytest.approx(-equations.F, abs=1e-10)
    assert mb.mass_matrix(mech, q) == pytest.approx(equations.M, abs=1e-10)


def test_the_cases_have_reversed_joints_and_every_pair_type_of_the_random_trees() -> None:
    mechs = [tree(seed, free=free)[0] for seed, free in CASES]
    assert any(joint.reversed for mech in mechs for joint in mech.tree.joints)
    types = {pair.type for mech in mechs for pair in mech.pairs}
    assert types >= {"universal", "spherical", "planar", "cylindrical", "prismatic"} <= set(PAIR_TYPES)


def test_payloads_and_rotors_of_a_scene_count() -> None:
    scene = mb.load("assets/arm_6r.scene.toml")
    assert scene.payloads or scene.actuators
    bare = mb.mass_matrix(scene.mechanism)
    full = mb.mass_matrix(scene)
    ours = full - bare
    rotors = {a.joint: a.armature * a.gear_ratio**2 for a in scene.actuators}
    without = replace(scene, actuators=())
    names = scene.mechanism.qd_names
    assert full - mb.mass_matrix(without) == pytest.approx(np.diag([rotors.get(n, 0.0) for n in names]))
    assert np.abs(ours).max() > 0


def test_gravity_is_held_at_rest() -> None:
    """The work of the holding forces along any step is the change of the potential energy."""
    mech, q = tree(3)
    (q,) = poses(mech, q, 1, 0)
    h = mb.bias_forces(mech, q, np.zeros(len(mech.qd_names)))

    def energy(q: Array) -> float:
        masses = np.array([body.mass for body in mech.bodies])
        return float(-masses @ forward(mech, q).p_WC @ mech.gravity)

    for column in range(len(h)):
        step = np.zeros(len(h))
        step[column] = 1e-5
        slope = (energy(displace(mech, q, step)) - energy(displace(mech, q, -step))) / 2e-5
        assert h[column] == pytest.approx(slope, abs=1e-6)


def test_one_pose_goes_with_many_rates_and_many_poses_with_one_rate() -> None:
    mech, q = tree(1)
    Qd = np.random.default_rng(0).normal(size=(3, len(mech.qd_names)))
    h = mb.bias_forces(mech, q, Qd)
    assert h[2] == pytest.approx(mb.bias_forces(mech, q, Qd[2]))
    Q = poses(mech, q, 3, 0)
    assert mb.bias_forces(mech, Q, Qd[0])[1] == pytest.approx(mb.bias_forces(mech, Q[1], Qd[0]))
    with pytest.raises(BadNumber, match="the batch has 2 rows of rates; expected 3"):
        mb.bias_forces(mech, Q, Qd[:2])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda m, q: mb.forward_kinematics(m, np.zeros((2, 3, 4))),
            "the batch of poses has the shape 2 × 3 × 4",
        ),
        (lambda m, q: mb.mass_matrix(m, np.zeros((2, 1))), "the batch of poses has the shape 2 × 1"),
        (lambda m, q: mb.mass_matrix(m, np.full((2, len(q)), np.nan)), "has the value nan in row 0"),
        (lambda m, q: mb.jacobian(m, "b0", q, point=[1, 2]), "the point has 2 numbers"),
        (lambda m, q: mb.mass_matrix(m, q[:-1]), "the joint vector has"),
    ],
)
def test_wrong_shapes_and_numbers_are_one_sentence(call: Any, words: str) -> None:
    mech, q = tree(2)
    with pytest.raises(BadNumber, match=words):
        call(mech, q)


def test_an_unknown_link_names_the_nearest_one() -> None:
    mech, q = tree(2)
    with pytest.raises(UnknownName, match="there is no link 'b00'; did you mean 'b0'"):
        mb.jacobian(mech, "b00", q)
    with pytest.raises(UnknownName, match="there is no link 'nothing'"):
        mb.forward_kinematics(mech, q, links=["nothing"])


def test_a_quaternion_of_zero_is_named() -> None:
    mech, _ = tree(0, free=True)
    Q = np.zeros((2, len(mech.q_names)))
    with pytest.raises(BadNumber, match=r"the quaternion of '.*' in pose 0 is zero"):
        mb.forward_kinematics(mech, Q)
