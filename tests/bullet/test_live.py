from pathlib import Path
from typing import Any

import numpy as np
import pytest

from live_clients import Client, load_minitaur
from mbplugin.bullet import session
from mbplugin.bullet.reader import read_client
from mbplugin.constraints.reduction import body_twists
from mbplugin.errors import BadUsage, BrokenModel, UnknownName
from mbplugin.model.mechanism.kinematics import BodyPoses, forward, relative_pose
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Pose, rotation_from_quaternion
from mbplugin.readers import load
from places import ASSETS

ROBOTS = [
    "kuka_iiwa/model.urdf",
    "husky/husky.urdf",
    "laikago/laikago.urdf",
    "quadruped/minitaur.urdf",
    "r2d2.urdf",
    "humanoid/humanoid.urdf",
    "racecar/racecar.urdf",
]


def move(client: Client, body: int, rng: np.random.Generator) -> None:
    """Give every joint and the base a random position and rate."""
    for j in range(client.getNumJoints(body)):
        kind = client.getJointInfo(body, j)[2]
        if kind == client.JOINT_SPHERICAL:
            q = rng.normal(size=4)
            client.resetJointStateMultiDof(body, j, q / np.linalg.norm(q), rng.normal(size=3))
        elif kind != client.JOINT_FIXED:
            client.resetJointState(body, j, rng.normal(), rng.normal())
    if client.getDynamicsInfo(body, -1)[0] > 0:
        client.resetBaseVelocity(body, rng.normal(size=3), rng.normal(size=3))


@pytest.mark.parametrize("file", ROBOTS)
@pytest.mark.parametrize("inertia_from_file", [False, True])
def test_poses_and_twists_are_those_of_the_client(client: Client, file: str, inertia_from_file: bool):
    flags = client.URDF_USE_INERTIA_FROM_FILE if inertia_from_file else 0
    body = client.load(file, [0.1, 0.2, 0.3], [0.1, 0.2, 0.3, 0.9], flags=flags)
    move(client, body, np.random.default_rng(1))

    scene = read_client(client.id)
    poses = forward(scene.mechanism, scene.state.q)
    twists = body_twists(scene.mechanism, poses, scene.state.qd)
    for j in range(client.getNumJoints(body)):
        com, R_WC, _, R_LC, _, _, v, w = client.getLinkState(body, j, computeLinkVelocity=1)
        i = scene.mechanism.body_index[client.getJointInfo(body, j)[12].decode()]
        assert poses.p_WC[i] == pytest.approx(np.array(com), abs=1e-9)
        assert poses.R_WL[i] @ rotation_from_quaternion(R_LC) == pytest.approx(
            rotation_from_quaternion(R_WC), abs=1e-9
        )
        # PyBullet computes the velocities itself in double, the link frame in single precision
        assert twists[i] == pytest.approx(np.array([*v, *w]), abs=1e-9)
        link_frame = client.getLinkState(body, j)[4]
        assert poses.p_WL[i] == pytest.approx(np.array(link_frame), abs=1e-6)


def test_a_live_minitaur_has_the_foot_closures_of_the_scene_file(client: Client):
    load_minitaur(client)
    live, file = read_client(client.id), load(ASSETS / "minitaur.scene.toml")

    def anchors(scene: Scene) -> dict[tuple[str, str], np.ndarray]:
        mech = scene.mechanism
        poses = forward(mech, scene.state.q)
        return {
            (p.body_a, p.body_b): np.concatenate(
                [poses.of(mech.body_index[b]).apply(X.p) for b, X in ((p.body_a, p.X_AP), (p.body_b, p.X_BS))]
            )
            for p in mech.pairs
            if p.closure
        }

    ours, theirs = anchors(live), anchors(file)
    assert ours.keys() == theirs.keys()
    assert len(ours) == 4
    for key in ours:
        assert ours[key] == pytest.approx(theirs[key], abs=1e-9)
        # the two sides of a foot meet as well as the example's rounded angles allow
        assert ours[key][:3] == pytest.approx(ours[key][3:], abs=2e-5)


def test_a_live_minitaur_is_the_mechanism_of_the_scene_file(client: Client):
    load_minitaur(client)
    live, file = read_client(client.id).mechanism, load(ASSETS / "minitaur.scene.toml").mechanism
    assert sorted(b.name for b in live.bodies) == sorted(b.name for b in file.bodies)

    def kinds(pairs):
        # PyBullet does not tell a revolute joint without limits from a continuous one
        return {p.name: p.type.replace("continuous", "revolute") for p in pairs if not p.closure}

    assert kinds(live.pairs) == kinds(file.pairs)
    assert {p.type for p in live.pairs if p.closure} == {"spherical"}


@pytest.mark.parametrize(("fixed", "override", "expected"), [
    (True, None, True), (False, None, False), (True, "free", False), (False, "fixed", True),
])  # fmt: skip
def test_the_base_is_fixed_where_it_stands_or_free(client: Client, fixed, override, expected):
    client.load("laikago/laikago.urdf", [0, 0, 0.5], useFixedBase=fixed)
    scene = read_client(client.id, base=override)
    fixings = [p for p in scene.mechanism.pairs if p.body_a == "world"]
    assert [p.name for p in fixings] == (["world→chassis"] if expected else [])
    poses = forward(scene.mechanism, scene.state.q)
    base_pose = client.getBasePositionAndOrientation(0)[0]
    assert poses.p_WC[scene.mechanism.body_index["chassis"]] == pytest.approx(np.array(base_pose))


def test_several_bodies_get_their_models_names_and_twins_a_number(client: Client):
    client.load("plane.urdf")
    client.load("r2d2.urdf")
    client.load("r2d2.urdf", [2, 0, 1])
    mech = read_client(client.id).mechanism
    assert mech.bodies[0].name == "plane/planeLink"
    assert {b.name.split("/")[0] for b in mech.bodies} == {"plane", "physics", "physics#2"}
    assert [p.name for p in mech.pairs if p.body_a == "world"] == ["plane/world→planeLink"]
    assert "physics#2/head_swivel" in mech.q_names


def box(client: Client, mass: float, *pose: Any) -> int:
    shape = client.createCollisionShape(client.GEOM_BOX, halfExtents=[0.1, 0.2, 0.3])
    return client.createMultiBody(mass, shape if mass else -1, -1, *pose)


def held_box(client: Client, kind: int, axis: list[float]) -> Scene:
    """Let PyBullet close a constraint with skew frames between two boxes, and read it."""
    turn = client.getQuaternionFromEuler
    a = box(client, 0, [0.2, 0.1, 0], turn([0.1, 0.2, 0.3]))
    b = box(client, 1, [0, 0, 1])
    pivots, frames = ([0.1, 0.2, 0.3], [0.3, 0.2, 0.1]), (turn([0.3, -0.2, 0.5]), turn([-0.4, 0.6, 0.1]))
    uid = client.createConstraint(a, -1, b, -1, kind, axis, *pivots, *frames)
    client.changeConstraint(uid, maxForce=1e5)
    for _ in range(1500):
        client.applyExternalForce(b, -1, [0.3, -0.1, 0.2], [0, 0, 0], client.WORLD_FRAME)
        client.stepSimulation()
    return read_client(client.id)


def closure_pose(client: Client, scene: Scene) -> tuple[Pair, Pose]:
    """Return the closure, and X_PS at the poses that the client tells itself."""
    mech = scene.mechanism
    (pair,) = [p for p in mech.pairs if p.closure]
    X = [_client_pose(client, body) for body in range(2)]
    poses = BodyPoses(np.array([x.R for x in X]), np.array([x.p for x in X]), np.array([x.p for x in X]))
    return pair, relative_pose(mech, pair, poses)


def _client_pose(client: Client, body: int) -> Pose:
    position, turn = client.getBasePositionAndOrientation(body)
    return Pose(rotation_from_quaternion(turn), np.array(position))


def test_a_fixed_constraint_is_where_pybullet_holds_it(client: Client):
    pair, X_PS = closure_pose(client, held_box(client, client.JOINT_FIXED, [0, 0, 0]))
    assert pair.type == "fixed"
    assert X_PS.p == pytest.approx(np.zeros(3), abs=1e-4)
    assert pytest.approx(np.eye(3), abs=1e-4) == X_PS.R


def test_a_prismatic_constraint_slides_along_its_z(client: Client):
    pair, X_PS = closure_pose(client, held_box(client, client.JOINT_PRISMATIC, [1, 2, 3]))
    assert pair.type == "prismatic"
    assert abs(X_PS.p[2]) > 0.05
    assert X_PS.p[:2] == pytest.approx(np.zeros(2), abs=1e-3)
    assert pytest.approx(np.eye(3), abs=1e-3) == X_PS.R


@pytest.mark.parametrize("kind", ["JOINT_FIXED", "JOINT_PRISMATIC"])
def test_a_body_hung_on_a_constraint_stands_and_moves_as_in_the_client(client: Client, kind: str):
    scene = held_box(client, getattr(client, kind), [1, 2, 3])
    poses = forward(scene.mechanism, scene.state.q)
    twist = body_twists(scene.mechanism, poses, scene.state.qd)[1]
    position, turn = client.getBasePositionAndOrientation(1)
    assert poses.p_WC[1] == pytest.approx(np.array(position), abs=1e-3)
    assert pytest.approx(rotation_from_quaternion(turn), abs=1e-3) == poses.R_WL[1]
    assert twist == pytest.approx(np.concatenate(client.getBaseVelocity(1)), abs=1e-2)


def test_a_constraint_with_the_world_has_its_second_pivot_there(client: Client):
    body = client.load("r2d2.urdf", [0, 0, 1])
    client.createConstraint(body, 3, -1, -1, client.JOINT_POINT2POINT, [0, 0, 0], [0.1, 0, 0], [1, 2, 3])
    (pair,) = [p for p in read_client(client.id).mechanism.pairs if p.closure]
    assert (pair.type, pair.body_b) == ("spherical", "world")
    assert pair.X_BS.p == pytest.approx([1, 2, 3])


def three_wheels(client: Client) -> int:
    shape = client.createCollisionShape(client.GEOM_BOX, halfExtents=[0.1, 0.2, 0.3])
    return client.createMultiBody(
        0,
        linkMasses=[1] * 3,
        linkCollisionShapeIndices=[shape] * 3,
        linkVisualShapeIndices=[-1] * 3,
        linkPositions=[[0, 0, 1], [5, 0, 0], [10, 0, 0]],
        linkOrientations=[[0, 0, 0, 1]] * 3,
        linkInertialFramePositions=[[0, 0, 0]] * 3,
        linkInertialFrameOrientations=[[0, 0, 0, 1]] * 3,
        linkParentIndices=[0] * 3,
        linkJointTypes=[client.JOINT_REVOLUTE] * 3,
        linkJointAxis=[[0, 0, 1]] * 3,
    )


@pytest.mark.parametrize("aux", [None, 2])
def test_a_gear_holds_at_the_rates_that_pybullet_enforces(client: Client, aux: int | None):
    body = three_wheels(client)
    gear = client.createConstraint(body, 0, body, 1, client.JOINT_GEAR, [0, 0, 1], [0, 0, 0], [0, 0, 0])
    client.changeConstraint(gear, gearRatio=2.5, maxForce=1e4)
    if aux is not None:
        client.changeConstraint(gear, gearAuxLink=aux)
    client.setJointMotorControl2(body, 0, client.VELOCITY_CONTROL, force=0)
    for _ in range(200):
        for joint, rate in ((1, 1.0), (2, 0.7)):
            client.setJointMotorControl2(body, joint, client.VELOCITY_CONTROL, targetVelocity=rate, force=100)
        client.stepSimulation()
    scene = read_client(client.id)
    (coupling,) = scene.mechanism.couplings
    assert coupling.type == "gear"
    assert len(coupling.terms) == (2 if aux is None else 3)
    rates = dict(zip(scene.mechanism.qd_names, scene.state.qd, strict=True))
    assert abs(rates["joint1"]) > 1
    assert sum(t.coefficient * rates[t.joint] for t in coupling.terms) == pytest.approx(0, abs=1e-3)
    q = dict(zip(scene.mechanism.q_names, scene.state.q, strict=True))
    assert sum(t.coefficient * q[t.joint] for t in coupling.terms) == pytest.approx(coupling.offset)


def test_reading_leaves_the_client_as_it_was():
    def after(read: bool) -> list[Any]:
        with session() as (bullet, id):
            client = Client(bullet, id)
            body = load_minitaur(client, fixed=False)
            client.setGravity(0, 0, -9.81)
            states = []
            for _ in range(20):
                client.stepSimulation()
                if read:
                    read_client(id)
                states.append(client.getJointStates(body, range(client.getNumJoints(body))))
            return [states, client.getBasePositionAndOrientation(body)]

    assert after(read=True) == after(read=False)


def test_gravity_and_limits_are_read(client: Client):
    client.load("kuka_iiwa/model.urdf")
    client.setGravity(1, 2, 3)
    mech = read_client(client.id).mechanism
    assert mech.gravity == pytest.approx([1, 2, 3])
    (freedom,) = mech.pair_by_name["lbr_iiwa_joint_1"].freedoms
    assert (freedom.lower, freedom.upper) == (-2.96705972839, 2.96705972839)
    assert mech.pair_by_name["lbr_iiwa_joint_1"].type == "revolute"


def test_an_unlimited_joint_is_continuous(client: Client):
    client.load("husky/husky.urdf")
    assert read_client(client.id).mechanism.pair_by_name["front_left_wheel"].type == "continuous"


@pytest.mark.parametrize("bad", [-1, 99, 10**9])
def test_a_client_that_is_not_connected_is_named(bad: int):
    with pytest.raises(UnknownName, match=f"id {bad} "):
        read_client(bad)


def test_an_empty_client_and_no_client_at_all_are_refused(client: Client):
    with pytest.raises(BadUsage, match="empty"):
        read_client(client.id)
    with pytest.raises(BadUsage, match="not a PyBullet client id"):
        read_client("minitaur")  # type: ignore[arg-type]


def test_a_planar_joint_is_refused_because_pybullet_hides_its_plane(client: Client, tmp_path: Path):
    file = tmp_path / "planar.urdf"
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    file.write_text(
        f'<robot name="r"><link name="a">{inertial}</link><link name="b">{inertial}</link>'
        '<joint name="j" type="planar"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint></robot>'
    )
    client.load(file)
    with pytest.raises(BrokenModel, match=r"'j' \(planar\).*read its file"):
        read_client(client.id)
