"""Inverse dynamics, M q̈ + bias, against PyBullet's on its own robots."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bullet_masses import DATA, ZEROED_BY_BULLET, as_pybullet_reads, is_diagonal, ours
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.model.brakes import AppliedForces
from mbplugin.model.mechanism.kinematics import joint_vector, rate_vector

ROBOTS = (
    "kuka_iiwa/model.urdf",
    "franka_panda/panda.urdf",
    "laikago/laikago.urdf",
    "quadruped/minitaur.urdf",
    "a1/a1.urdf",
)
_ASK = """
import json, sys
import numpy as np
from mbplugin.bullet import quiet, session

root, files = json.load(sys.stdin)
rng = np.random.default_rng(3)
out = {}
for file in files:
    with session() as (p, client):
        p.setAdditionalSearchPath(root)
        p.setGravity(0.3, -0.7, -9.81)
        with quiet():
            robot = p.loadURDF(file, useFixedBase=True, flags=p.URDF_USE_INERTIA_FROM_FILE)
        moving = [i for i in (p.getJointInfo(robot, j) for j in range(p.getNumJoints(robot))) if i[3] >= 0]
        states = []
        for _ in range(4):
            q, qd, qdd = (rng.uniform(-1.5, 1.5, len(moving)).tolist() for _ in range(3))
            torque = p.calculateInverseDynamics(robot, q, qd, qdd)
            states.append({"q": q, "qd": qd, "qdd": qdd, "torque": torque})
        out[file] = {"joints": [i[1].decode() for i in moving], "states": states}
json.dump(out, sys.stdout)
"""


@pytest.fixture(scope="module")
def pybullet_says() -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", _ASK],
        input=json.dumps([str(DATA), [f for f in ROBOTS if (DATA / f).exists()]]),
        capture_output=True,
        text=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])
    return answer


@pytest.mark.long_after(13)
@pytest.mark.bullet
@pytest.mark.parametrize("file", ROBOTS)
def test_torques_that_give_an_acceleration_are_pybullets(pybullet_says: dict[str, Any], file: str) -> None:
    scene = ours(file)
    assert scene is not None
    mech = as_pybullet_reads(scene, ZEROED_BY_BULLET.get(file, set())).mechanism

    mech = replace(mech, gravity=np.array([0.3, -0.7, -9.81]), couplings=())
    tolerance = 1e-10 if is_diagonal(file) else 1e-8
    answer = pybullet_says[file]
    index = [mech.qd_names.index(joint) for joint in answer["joints"]]
    for state in answer["states"]:
        named = [dict(zip(answer["joints"], state[k], strict=True)) for k in ("q", "qd", "qdd")]
        q, qd, qdd = joint_vector(mech, named[0]), rate_vector(mech, named[1]), rate_vector(mech, named[2])
        equations = joint_equations(mech, q, qd, AppliedForces(damping=False, friction=False))
        ours_ = (equations.M @ qdd - equations.F)[index]
        theirs = np.array(state["torque"])
        assert np.abs(ours_ - theirs).max() < tolerance * np.abs(theirs).max()
