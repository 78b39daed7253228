"""Every URDF that PyBullet brings along is read, or refused in one sentence."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from mbplugin.errors import MbPluginError
from mbplugin.model.mechanism import WORLD
from mbplugin.model.mechanism.kinematics import forward, home
from mbplugin.model.scene import Scene
from mbplugin.readers import load
from mbplugin.readers.xml import children, parse_xml
from places import BULLET_DATA

DATA = BULLET_DATA
FILES = sorted(file for file in DATA.rglob("*.urdf") if "random_urdfs" not in file.parts)
RANDOM = sorted((DATA / "random_urdfs").rglob("*.urdf"))
#: The one model that is not a multibody: a deformable torus.
REFUSED = {"torus_deform.urdf"}


def read(file: Path) -> Scene | None:
    try:
        return load(file)
    except MbPluginError as error:
        message = str(error)
        assert message.startswith(f"{file}:") and message.endswith((".", "?")) and "\n" not in message
        assert file.name in REFUSED, message
        return None


def check(file: Path) -> None:
    scene = read(file)
    if scene is None:
        return
    mech = scene.mechanism
    # counted by another route than the reader's
    text = file.read_text(errors="replace").rstrip("\0 \r\n")
    root = parse_xml(text, str(file))
    links = [element.get("name") for element in children(root, "link")]
    assert [body.name for body in mech.bodies] == [name for name in links if name != WORLD]
    assert len(mech.pairs) == len(children(root, "joint"))
    poses = forward(mech, home(mech))
    assert np.isfinite(poses.R_WL).all() and np.isfinite(poses.p_WC).all()


@pytest.mark.bullet
def test_the_data_is_the_one_that_is_meant() -> None:
    assert len(FILES) >= 95 and len(RANDOM) >= 1000


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(DATA)))
def test_urdf(file: Path) -> None:
    check(file)


@pytest.mark.slow
def test_random_urdfs() -> None:
    for file in RANDOM:
        check(file)


@pytest.mark.bullet
def test_minitaur() -> None:
    scene = load(DATA / "quadruped" / "minitaur.urdf")
    mech = scene.mechanism
    types = Counter(pair.type for pair in mech.pairs)
    # eight motors and eight knees; PyBullet's getNumJoints is 26 too
    assert types == {"continuous": 8, "revolute": 8, "fixed": 10}
    literals = {o.text for (_, _, part), o in scene.origin.items() if part == "rpy"}
    assert any("1.57075" in text for text in literals)


@pytest.mark.bullet
def test_husky_gets_its_default_for_the_imu() -> None:
    pair = load(DATA / "husky" / "husky.urdf").mechanism.pair_by_name["imu_joint"]
    np.testing.assert_allclose(pair.X_AP.p, [0.19, 0, 0.149])


def test_bodies_lie_where_pybullet_puts_them() -> None:
    """Another program's forward kinematics, on a robot of each kind."""
    pybullet = pytest.importorskip("pybullet")
    client = pybullet.connect(pybullet.DIRECT)
    try:
        pybullet.setAdditionalSearchPath(str(DATA), physicsClientId=client)
        for name in ("kuka_iiwa/model.urdf", "quadruped/minitaur.urdf", "biped/biped2d_pybullet.urdf"):
            _compare_poses(pybullet, client, DATA / name)
    finally:
        pybullet.disconnect(client)


def _compare_poses(pybullet, client: int, file: Path) -> None:
    mech = load(file, base="fixed").mechanism
    robot = pybullet.loadURDF(str(file), useFixedBase=True, physicsClientId=client)
    infos = [pybullet.getJointInfo(robot, i, client) for i in range(pybullet.getNumJoints(robot, client))]
    rng = np.random.default_rng(1)
    q = home(mech)
    for info in infos:
        name = info[1].decode()
        if name in mech.q_names:
            q[mech.q_names.index(name)] = angle = rng.uniform(-1, 1)
            pybullet.resetJointState(robot, info[0], angle, physicsClientId=client)
    poses = forward(mech, q)
    for info in infos:
        state = pybullet.getLinkState(robot, info[0], computeForwardKinematics=True, physicsClientId=client)
        X_WL = poses.of(mech.body_index[info[12].decode()])
        R = np.reshape(pybullet.getMatrixFromQuaternion(state[5]), (3, 3))
        np.testing.assert_allclose(X_WL.p, state[4], atol=2e-6)
        np.testing.assert_allclose(X_WL.R, R, atol=2e-6)
