"""Red marks: forces and constraints that cannot be are found, each planted by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from live_clients import Client
from watched import BIPED, MASS, arm, husky, minitaur, table


def kinds(watch: Any) -> set[str]:
    return {mark.kind for mark in watch.latest.marks}


@pytest.mark.long
def test_a_loop_whose_pivot_is_wrong_drifts(client: Client) -> None:
    """A Minitaur whose four-bar is closed at a point that its legs cannot reach."""
    body = minitaur(client)
    first = client.getConstraintUniqueId(0)
    joints = client.joints(body)
    client.removeConstraint(first)
    right, left = joints["knee_front_rightR_link"], joints["knee_front_rightL_link"]
    wrong = client.createConstraint(
        body, right, body, left, client.JOINT_POINT2POINT, [0, 0, 0], [0, 0.005, 0.2], [0, 0.01, 0.5]
    )
    client.changeConstraint(wrong, maxForce=30)
    with mb.watch(client.id, every=1) as watch:
        for _ in range(300):
            client.stepSimulation()
        found = [mark for mark in watch.latest.marks if mark.kind == "drift"]
        assert [mark.constraint for mark in found] == [f"constraint {wrong}"]
        distance = watch.latest.drifts[f"constraint {wrong}"][0]
        assert found[0].value == distance > 0.02 and "open by" in str(found[0])
        others = [d for name, (d, _) in watch.latest.drifts.items() if name != f"constraint {wrong}"]
        assert len(others) == 3 and max(others) < 5e-3
    for limit, marked in ((0.99 * distance, True), (1.01 * distance, False)):
        with mb.watch(client.id, drift=limit) as watch:
            watch.update()
            drifting = [mark for mark in watch.latest.marks if mark.kind == "drift"]
            assert bool(drifting) is marked and all(mark.limit == limit for mark in drifting)


@pytest.mark.long
def test_a_force_that_nothing_explains_is_marked(client: Client, tmp_path: Path) -> None:
    """Somebody presses on a table, unseen by the watch: its legs carry what its weight does not explain."""
    body = table(client, tmp_path)
    push = client.bullet.applyExternalForce
    with mb.watch(client.id) as watch:
        for _ in range(500):
            client.stepSimulation()
            watch.update()
        assert not watch.latest.marks
        for _ in range(200):
            push(body, -1, [0, 0, -60], [0.1, 0.05, 0.7], client.WORLD_FRAME, physicsClientId=client.id)
            client.stepSimulation()
            watch.update()
        (mark,) = [mark for mark in watch.latest.marks if mark.component == "tz"]
        assert mark.kind == "balance" and mark.value == pytest.approx(-60, abs=1)
        assert watch.latest.balanced is False
        assert watch.marks["table/top", "tz", "balance"] >= 150


@pytest.mark.long
def test_what_the_hooks_note_explains_the_same_push(client: Client, tmp_path: Path) -> None:
    body = table(client, tmp_path)
    with mb.watch(client.id, every=1) as watch:
        for k in range(700):
            if k > 400:
                frame = client.LINK_FRAME if k % 2 else client.WORLD_FRAME
                place = [0.0, 0.0, 0.0] if k % 2 else client.getBasePositionAndOrientation(body)[0]
                client.applyExternalForce(body, -1, [0, 0, -60], list(place), frame)
                client.applyExternalTorque(body, -1, [0, 0, 2.0], client.WORLD_FRAME)
            client.stepSimulation()
        assert not watch.latest.marks and watch.latest.balanced
        total = sum(f.engine for f in watch.latest.forces if f.component == "cn")
        assert total == pytest.approx(MASS * 9.81 + 60, rel=1e-2)


def test_a_torque_that_the_script_gives_is_known(client: Client) -> None:
    body = client.load("kuka_iiwa/model.urdf", useFixedBase=True)
    client.setGravity(0, 0, -9.81)
    for joint in range(7):
        client.setJointMotorControl2(body, joint, client.VELOCITY_CONTROL, force=0)
    with mb.watch(client.id, every=1) as watch:
        # a wrist without a motor soon turns at the 100 rad/s that PyBullet allows
        for k in range(6):
            client.setJointMotorControl2(body, 1, client.TORQUE_CONTROL, force=40.0)
            client.setJointMotorControlArray(body, [3, 5], client.TORQUE_CONTROL, forces=[-20.0, 2.0])
            client.stepSimulation()
            if k:
                assert watch.latest.balanced, watch.latest.marks
    with mb.watch(client.id) as unseen:
        for _ in range(5):
            client.bullet.setJointMotorControl2(
                body, 1, client.TORQUE_CONTROL, force=40.0, physicsClientId=client.id
            )
            client.stepSimulation()
            unseen.update()
        assert ("lbr_iiwa_joint_2", "rz", "balance") in unseen.marks


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({9: lambda x: -25.0}, "pulls"),
        ({10: lambda x: x[9] * 2.0, 12: lambda x: 0.0}, "friction"),
        ({9: lambda x: 3 * x[9]}, "balance"),
    ],
)
def test_numbers_of_an_engine_that_cannot_be(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[int, Any], kind: str
) -> None:
    """The first contact of PyBullet is falsified."""
    table(client, tmp_path)
    watch = mb.watch(client.id)
    for _ in range(500):
        client.stepSimulation()
    watch.update()
    assert not watch.latest.marks
    original = client.bullet.getContactPoints

    def falsified(**named: Any) -> Any:
        points = [list(point) for point in original(**named)]
        for index, value in change.items():
            points[0][index] = value(points[0])
        return [tuple(point) for point in points]

    monkeypatch.setattr(client.bullet, "getContactPoints", falsified)
    watch.update()
    assert kind in kinds(watch)
    # the same number is outside of its interval
    _ = watch.latest.intervals
    assert kind == "friction" or "interval" in kinds(watch)
    monkeypatch.undo()
    watch.update()
    assert not watch.latest.marks


def test_a_wrong_determined_force_is_compared(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    arm(client, None)
    watch = mb.watch(client.id)
    original = client.bullet.getConstraintState

    def falsified(uid: int, **named: Any) -> Any:
        x, y, z = original(uid, **named)
        return x, y + 30.0, z

    monkeypatch.setattr(client.bullet, "getConstraintState", falsified)
    for _ in range(4):
        client.stepSimulation()
        watch.update()
    # the axes of the constraint are those of the hand
    marks = [mark for mark in watch.latest.marks if mark.kind == "determined"]
    assert marks and {mark.constraint for mark in marks} == {"constraint 1"}
    error = [mark.value - mark.limit for mark in marks]
    assert np.linalg.norm(error) == pytest.approx(30, abs=3)


def test_a_drive_beyond_its_limit(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    minitaur(client)
    watch = mb.watch(client.id)
    original = client.bullet.getJointStates

    def falsified(*args: Any, **named: Any) -> Any:
        states = list(original(*args, **named))
        states[1] = (*states[1][:3], 150.0)
        return states

    client.stepSimulation()
    watch.update()
    assert "effort" not in kinds(watch)
    monkeypatch.setattr(client.bullet, "getJointStates", falsified)
    watch.update()
    assert "effort" in kinds(watch)


@pytest.mark.long
def test_nothing_is_marked_while_a_robot_drives(client: Client) -> None:
    body = husky(client)
    wheels = [j for name, j in client.joints(body).items() if "wheel" in name]
    with mb.watch(client.id, every=1) as watch:
        for k in range(600):
            if k == 200:
                client.setJointMotorControlArray(
                    body, wheels, client.VELOCITY_CONTROL, targetVelocities=[4.0] * 4, forces=[20.0] * 4
                )
            client.stepSimulation()
        assert client.getBasePositionAndOrientation(body)[0][0] > 0.3
        # the blow of the wheels on the ground lasts for a step or two
        assert sum(watch.marks.values()) <= 6


def test_a_joint_of_mujoco_that_is_not_explained() -> None:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(BIPED)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 1500)
    with mb.watch(model, data) as watch:
        assert not watch.update().marks
        data.qacc[6] += 500.0
        assert "balance" in {mark.kind for mark in watch.update().marks}
        data.qacc[6] -= 500.0
        data.efc_force[:] *= 3.0
        _ = watch.update().intervals
        assert {"balance", "interval"} <= {mark.kind for mark in watch.latest.marks}
        assert np.isfinite(watch.latest.numbers.force)


@pytest.mark.parametrize("spins", [True, False])
def test_spinning_friction_holds_what_no_force_at_a_point_can(
    client: Client, tmp_path: Path, spins: bool
) -> None:
    """A block between two points, its centre of mass beside their line, hangs by a moment that nobody reports."""
    mass = '<inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>'
    ball = '<collision><geometry><sphere radius="0.005"/></geometry></collision>'
    fingers = "".join(
        f'<link name="{name}">{mass}{ball}</link><joint name="{name}" type="prismatic"><parent link="palm"/>'
        f'<child link="{name}"/><origin xyz="0 {way * 0.025} 0"/><axis xyz="0 {-way} 0"/>'
        '<limit lower="-0.05" upper="0.05" effort="50" velocity="1"/></joint>'
        for name, way in (("left", 1), ("right", -1))
    )
    file = tmp_path / "hand.urdf"
    file.write_text(f'<robot name="hand"><link name="palm">{mass}</link>{fingers}</robot>')
    client.bullet.setPhysicsEngineParameter(
        numSolverIterations=200, solverResidualThreshold=0, physicsClientId=client.id
    )
    client.setGravity(0, 0, -9.81 if spins else 0)
    hand = client.load(file, [0, 0, 1], useFixedBase=True)
    box = client.createCollisionShape(client.GEOM_BOX, halfExtents=[0.05, 0.02, 0.05])
    block = client.createMultiBody(
        0.5, box, basePosition=[0.02, 0, 1], baseInertialFramePosition=[0.02, 0, 0]
    )
    friction = {"lateralFriction": 1.0, "spinningFriction": 0.5 if spins else 0.0}
    client.changeDynamics(block, -1, **friction)
    for joint in range(2):
        client.changeDynamics(hand, joint, **friction)
        client.setJointMotorControl2(hand, joint, client.VELOCITY_CONTROL, targetVelocity=0.05, force=20)
    with mb.watch(client.id, every=1, intervals=1) as watch:
        for _ in range(200):
            client.stepSimulation()
    update = watch.latest
    assert len(update.numbers.reading.touching) == 2 and update.balanced and not update.marks
    # 0.5 kg at 20 mm need 0.098 N·m; two points on a line give none about it
    unread = any("spinning friction" in note for note in watch.notes)
    assert unread is spins and bool(update.intervals) is not spins


def test_feet_with_rolling_friction_have_no_intervals(client: Client, tmp_path: Path) -> None:
    """Points alone could hold the table, but the moments at its feet may carry a part of the load."""
    body = table(client, tmp_path)
    with mb.watch(client.id, every=1) as watch:
        for friction in (0.0, 0.5):
            client.changeDynamics(body, -1, rollingFriction=friction)
            for _ in range(200):
                client.stepSimulation()
            assert bool(watch.latest.intervals) is (friction == 0.0)
        assert sum("rolling or spinning" in note for note in watch.notes) == 1
