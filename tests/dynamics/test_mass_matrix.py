"""Our joint-space mass matrix SᵀMS against PyBullet's, for every robot that comes with PyBullet.

PyBullet runs in a child process, because some files end it; it is handed only what our own reader
has accepted, and tells back numbers.
"""

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from bullet_masses import DATA, ZEROED_BY_BULLET, as_pybullet_reads, is_diagonal, ours
from mbplugin.constraints.reduction import mass_matrix, velocity_transformation
from mbplugin.model.mechanism.kinematics import forward, joint_vector, rate_vector

FILES = sorted(str(f.relative_to(DATA)) for f in DATA.rglob("*.urdf") if "random_urdfs" not in f.parts)

#: Our reader refuses it: a cloth without links, which PyBullet cannot load as a robot either.
NOT_A_ROBOT = {"torus_deform.urdf"}
#: PyBullet refuses these: their meshes are not in the package.
WITHOUT_MESHES = {"kuka_iiwa/model_for_sdf.urdf", "toys/concave_box.urdf"}
#: With spherical joints the coordinates differ, so the kinetic energy is compared.
SPHERICAL = {"humanoid/humanoid.urdf", "spherical_joint_limit.urdf"}

CHILD = """
import json, sys
import numpy as np
from mbplugin.bullet.reader import read_client
from mbplugin.bullet import quiet, session

def energy(p, robot, joints):
    total = 0.0
    for j in joints:
        state = p.getLinkState(robot, j, computeLinkVelocity=1)
        mass, _, moments = p.getDynamicsInfo(robot, j)[:3]
        R = np.array(p.getMatrixFromQuaternion(state[1])).reshape(3, 3)
        total += 0.5 * mass * np.dot(state[6], state[6])
        total += 0.5 * np.dot(moments, (R.T @ np.array(state[7])) ** 2)
    return total

def answer(p, client, file, rng):
    with quiet() as printed:
        try:
            robot = p.loadURDF(file, useFixedBase=True, flags=p.URDF_USE_INERTIA_FROM_FILE)
        except p.error:
            robot = -1
    zeroed = [line.rsplit(": ", 1)[1] for line in printed.text.splitlines() if "Bad inertia" in line]
    if robot < 0:
        return None
    infos = [p.getJointInfo(robot, j) for j in range(p.getNumJoints(robot))]
    moving = [i for i in infos if i[3] >= 0]
    poses = []
    for _ in range(3 if moving else 0):
        if all(i[2] != p.JOINT_SPHERICAL for i in moving):
            q = rng.uniform(-2, 2, len(moving)).tolist()
            M = p.calculateMassMatrix(robot, q)
            poses.append({"q": {i[1].decode(): x for i, x in zip(moving, q)}, "M": M})
            continue
        for i in moving:
            if i[2] == p.JOINT_SPHERICAL:
                turn = rng.normal(size=4)
                p.resetJointStateMultiDof(robot, i[0], turn / np.linalg.norm(turn), rng.normal(size=3))
            else:
                p.resetJointState(robot, i[0], rng.normal(), rng.normal())
        live = read_client(client)
        q = dict(zip(live.mechanism.q_names, live.state.q))
        qd = dict(zip(live.mechanism.qd_names, live.state.qd))
        poses.append({"q": q, "qd": qd, "T": energy(p, robot, range(len(infos)))})
    return {"zeroed": sorted(set(zeroed)), "joints": [i[1].decode() for i in moving], "poses": poses}

root, files = json.load(sys.stdin)
rng = np.random.default_rng(7)
for file in files:
    with session() as (p, client):
        print(json.dumps([file, answer(p, client, f"{root}/{file}", rng)]), flush=True)
"""


@pytest.fixture(scope="module")
def pybullet_says() -> dict[str, Any]:
    accepted = [file for file in FILES if ours(file) is not None]
    child = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps([str(DATA), accepted]),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    answers = dict(json.loads(line) for line in child.stdout.splitlines())
    assert len(answers) == len(accepted), f"PyBullet ended after {list(answers)[-1:]}: {child.stderr[-500:]}"
    return answers


@pytest.mark.long
@pytest.mark.bullet
def test_every_file_is_accounted_for(pybullet_says: dict[str, Any]):
    assert len(FILES) == 95
    assert {file for file in FILES if ours(file) is None} == NOT_A_ROBOT
    assert {file for file, answer in pybullet_says.items() if answer is None} == WITHOUT_MESHES
    moving = {file for file, answer in pybullet_says.items() if answer and answer["poses"]}
    assert len(moving) == 43
    assert moving >= SPHERICAL


@pytest.mark.long
@pytest.mark.bullet
def test_the_inertias_that_bullet_zeroes_are_impossible_ones(pybullet_says: dict[str, Any]):
    zeroed = {file: set(answer["zeroed"]) for file, answer in pybullet_says.items() if answer}
    assert {file: links for file, links in zeroed.items() if links} == ZEROED_BY_BULLET
    for file, links in ZEROED_BY_BULLET.items():
        scene = ours(file)
        assert scene is not None
        for body in scene.mechanism.bodies:
            if body.name in links:
                least, middle, greatest = np.linalg.eigvalsh(body.I_C)
                assert least <= 0 or least + middle < greatest * (1 + 1e-9), (file, body.name)


@pytest.mark.parametrize("file", FILES)
def test_the_mass_matrix_is_pybullets(pybullet_says: dict[str, Any], file: str):
    answer, scene = pybullet_says.get(file), ours(file)
    if scene is None or not answer or not answer["poses"]:
        return
    mech = as_pybullet_reads(scene, ZEROED_BY_BULLET.get(file, set())).mechanism
    # Bullet turns a full inertia to its principal axes, to about eight digits
    tolerance = 1e-12 if is_diagonal(file) else 1e-8
    for pose in answer["poses"]:
        q = joint_vector(mech, pose["q"])
        poses = forward(mech, q)
        S = velocity_transformation(mech, poses)
        M = S.T @ mass_matrix(mech, poses) @ S
        if file in SPHERICAL:
            qd = rate_vector(mech, pose["qd"])
            assert 0.5 * qd @ M @ qd == pytest.approx(pose["T"], rel=tolerance)
            continue
        index = [mech.qd_names.index(joint) for joint in answer["joints"]]
        theirs = np.array(pose["M"])
        error = np.abs(M[np.ix_(index, index)] - theirs).max() / np.abs(theirs).max()
        assert error < tolerance
