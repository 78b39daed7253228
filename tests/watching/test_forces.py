"""Forces of a watch against the analysis of the same state, and the engines' numbers against their intervals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from live_clients import Client
from mbplugin.constraints.rows import plane_columns
from mbplugin.joint_reactions import with_held
from mbplugin.joint_reactions.statics import build_system
from mbplugin.model.mechanism import Lock
from mbplugin.model.mechanism.kinematics import coordinates_of
from mbplugin.model.mechanism.pair import Contact
from mbplugin.watching.intervals import with_contacts
from mbplugin.watching.numbers import contact_axes
from watched import BIPED, COM, CORNERS, MASS, arm, husky, minitaur, mujoco_table, table

#: Legs with the load between them.
THREE = (CORNERS[0], CORNERS[1], CORNERS[3])


def settled(client: Client, steps: int) -> mb.Watch:
    watch = mb.watch(client.id)
    for _ in range(steps - 2):
        client.stepSimulation()
    for _ in range(2):
        client.stepSimulation()
        watch.update()
    return watch


def same_as_the_analysis(update) -> None:
    """What is determined is what no self-stress of the system of absolute coordinates loads."""
    n = update.numbers
    held = {}
    for k in np.flatnonzero(n.held | n.stopped).tolist():
        joint, freedom = n.structure.freedom[k]
        held.setdefault(joint, []).append(freedom)
    mech = with_held(with_contacts(n), [Lock(joint, freedoms=tuple(f)) for joint, f in held.items()])
    poses = n.reading.geometry.poses
    system = build_system(
        mech, coordinates_of(mech, poses), poses, plane_columns(None), n.structure.tolerance
    )
    loaded = (
        abs(system.Z).max(axis=1).toarray().ravel()
        if system.degree_of_redundancy
        else np.zeros(len(system.labels))
    )
    found = {(force.constraint, force.component): force.determined for force in update.forces}
    assert set(found) == set(system.labels)
    compared = 0
    for label, size in zip(system.labels, loaded.tolist(), strict=True):
        # engines let contacts sink in, so that small entries are no more than that
        if not 1e-6 < size < 3e-2:
            compared += 1
            assert found[label] == (size <= 1e-6), (label, size)
    assert compared > 0.7 * len(found)
    assert update.degree_of_redundancy == system.degree_of_redundancy


def test_a_table_on_four_legs(client: Client, tmp_path: Path) -> None:
    table(client, tmp_path)
    with settled(client, 500) as watch:
        update = watch.latest
        same_as_the_analysis(update)
        assert update.degree_of_redundancy == 6 and update.balanced and not update.marks
        normal = [force for force in update.forces if force.component == "cn"]
        assert len(normal) == 4 and not any(force.determined for force in normal)
        for force in normal:
            interval = update.intervals[force.constraint, force.component]
            assert interval.lower - 1 <= force.engine <= interval.upper + 1
            assert interval.upper - interval.lower > 10
        assert not update.marks
        assert sum(force.engine for force in normal) == pytest.approx(MASS * 9.81, rel=1e-2)


def test_the_intervals_are_those_of_reactions(client: Client, tmp_path: Path) -> None:
    table(client, tmp_path)
    with settled(client, 500) as watch:
        update = watch.latest
        result = mb.reactions(client.id, contacts=True)
        for contact in result.contacts:
            found, expected = update.intervals[contact.name, "cn"], result[contact.name]["cn"]
            assert (found.lower, found.upper) == pytest.approx((expected.lower, expected.upper), abs=0.05)


def test_three_legs_are_determined(client: Client, tmp_path: Path) -> None:
    table(client, tmp_path, THREE)
    with settled(client, 800) as watch:
        update = watch.latest
        same_as_the_analysis(update)
        # sum of forces and moments about the middle of two legs, by hand
        x, y = COM
        A = np.array([[1.0, 1.0, 1.0], [c[0] for c in THREE], [c[1] for c in THREE]])
        by_hand = np.linalg.solve(A, MASS * 9.81 * np.array([1.0, x, y]))
        points = update.numbers.reading.touching.point
        normal = [force for force in update.forces if force.component == "cn"]
        for point, force in zip(points, normal, strict=True):
            corner = int(np.argmin(np.linalg.norm(np.array(THREE) - point[:2], axis=1)))
            assert force.determined
            assert force.value == pytest.approx(by_hand[corner], abs=0.5)
            assert force.engine == pytest.approx(by_hand[corner], rel=2e-2)


@pytest.mark.parametrize("robot", [minitaur, husky])
def test_robots_at_rest_lie_within_their_intervals(client: Client, robot) -> None:
    robot(client)
    with settled(client, 1000) as watch:
        update = watch.latest
        same_as_the_analysis(update)
        n = update.numbers
        assert update.balanced and np.abs(n.rest / n.scale).max() < 0.01
        intervals = update.intervals
        checked = 0
        for force in update.forces:
            if force.engine is None or force.constraint.startswith("lock"):
                continue
            size = 0.01 * n.force * (1.0 if force.unit == "N" else n.length)
            interval = intervals[force.constraint, force.component]
            assert interval.lower - size <= force.engine <= interval.upper + size, force
            checked += 1
        assert checked >= 12
        assert not update.marks


def test_an_arm_on_a_constraint(client: Client) -> None:
    arm(client, None)
    with settled(client, 5) as watch:
        update = watch.latest
        same_as_the_analysis(update)
        assert not update.marks and update.balanced
        tied = update["constraint 1"]
        assert set(tied) == {"tx", "ty", "tz"}
        for force in tied.values():
            assert force.determined
            assert force.engine == pytest.approx(force.value, abs=0.02 * update.numbers.force)


@pytest.mark.long
def test_forces_in_a_fall_and_an_impact_explain_the_motion(client: Client) -> None:
    """The equation of motion holds to rounding, whatever moves, but for what PyBullet does not tell."""
    husky(client)
    watch = mb.watch(client.id, every=1)
    worst = []
    for _ in range(400):
        client.stepSimulation()
        n = watch.latest.numbers
        if n.needed is not None:
            worst.append(float(np.abs(n.rest / n.scale).max()))
    watch.close()
    assert len(worst) == 399
    assert np.median(worst) < 1e-3 and np.quantile(worst, 0.95) < 0.02


def test_every_nth_step_sees_the_accelerations_of_its_step(client: Client) -> None:
    husky(client)
    with mb.watch(client.id, every=7) as watch:
        for _ in range(70):
            client.stepSimulation()
        assert watch.updates == 10 and watch.steps == 70
        assert watch.latest.balanced
        assert watch.latest.time == pytest.approx(70 / 240)


def test_unknown_steps_between_updates_are_not_guessed(client: Client) -> None:
    husky(client)
    with mb.watch(client.id) as watch:
        watch.update()
        for _ in range(5):
            client.stepSimulation()
        update = watch.update()
        assert update.balanced is None and update.intervals == {}
        client.stepSimulation()
        assert watch.update().balanced is True


def test_mujocos_forces_lie_within_their_intervals() -> None:
    mujoco = pytest.importorskip("mujoco")
    for text, contacts, steps in ((mujoco_table(), 4, 3000), (BIPED, 8, 3000)):
        model = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(model)
        for _ in range(steps):
            mujoco.mj_step(model, data)
        with mb.watch(model, data) as watch:
            update = watch.update()
            same_as_the_analysis(update)
            n = update.numbers
            assert len(n.reading.touching) == contacts and update.balanced
            assert np.abs(n.rest / n.scale).max() < 1e-6
            for force in update.forces:
                if force.component in ("cn", "ct1", "ct2"):
                    interval = update.intervals[force.constraint, force.component]
                    assert interval.lower - 1e-3 * n.force <= force.engine <= interval.upper + 1e-3 * n.force
            assert not update.marks and update.time == pytest.approx(data.time)


@pytest.mark.long
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
def test_mujocos_motion_is_explained(integrator: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(BIPED.replace("<option ", f'<option integrator="{integrator}" '))
    data = mujoco.MjData(model)
    data.qvel[:] = 0.5 * np.sin(np.arange(model.nv))
    data.ctrl[0] = 3.0
    data.xfrc_applied[1] = (5.0, -3.0, 2.0, 0.5, 1.0, -0.3)
    with mb.watch(model, data, every=1) as watch:
        for _ in range(300):
            mujoco.mj_step(model, data)
            n = watch.latest.numbers
            assert n.needed is not None and np.abs(n.rest / n.scale).max() < 5e-3


def test_axes_are_those_of_a_contact() -> None:
    rng = np.random.default_rng(3)
    normals = rng.normal(size=(40, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    normals[:3] = np.eye(3)
    for gravity in (np.array([0, 0, -9.81]), np.array([1.0, -2.0, -9.0])):
        found = contact_axes(normals, gravity)
        for k, normal in enumerate(normals):
            contact = Contact("c", "b", np.zeros(3), normal, 0.5)
            assert found[k] == pytest.approx(contact.axes(gravity), abs=1e-12)


def test_sensors_of_joints_at_rest_are_read(client: Client) -> None:
    body = arm(client, None)
    for joint in range(7):
        client.enableJointForceTorqueSensor(body, joint)
        client.setJointMotorControl2(body, joint, client.POSITION_CONTROL, targetPosition=0.3, force=300)
    client.removeConstraint(client.getConstraintUniqueId(0))
    with settled(client, 1500) as watch:
        read = [
            f for f in watch.latest.forces if not f.constraint.startswith("lock") and f.engine is not None
        ]
        assert len(read) == 35
        for force in read:
            assert force.determined and force.engine == pytest.approx(force.value, abs=0.5)


def test_named_joints_are_held(client: Client) -> None:
    minitaur(client)
    client.stepSimulation()
    motors = [f"quadruped/motor_{leg}_joint" for leg in ("front_leftL", "front_leftR")]
    with mb.watch(client.id, hold=motors) as watch:
        locks = {f.constraint for f in watch.update().forces if f.constraint.startswith("lock")}
        assert locks == {f"lock {name}" for name in motors}
    with pytest.raises(mb.MbPluginError, match="nobody"):
        mb.watch(client.id, hold=["nobody"]).update()


def test_a_free_body_beside_a_fixed_robot_has_no_drive(client: Client) -> None:
    """Rates of free bases come before those of joints, whatever was loaded first."""
    client.setGravity(0, 0, -9.81)
    client.load("plane.urdf")
    arm = client.load("kuka_iiwa/model.urdf", useFixedBase=True)
    client.load("cube_small.urdf", [1, 0, 0.025])
    client.stepSimulation()
    with mb.watch(client.id) as watch:
        drives = [f.constraint for f in watch.update().forces if f.constraint.startswith("lock")]
    assert len(drives) == client.getNumJoints(arm) == 7
    assert all("lbr_iiwa_joint" in name for name in drives)


def test_a_copy_of_a_table_is_a_block_of_its_own(client: Client, tmp_path: Path) -> None:
    table(client, tmp_path)
    client.load(tmp_path / "table.urdf", [3 + COM[0], COM[1], 0.7])
    with settled(client, 500) as watch:
        same_as_the_analysis(watch.latest)
        assert watch.latest.degree_of_redundancy == 12


def test_a_watch_says_in_one_line_what_it_is(client: Client, tmp_path: Path) -> None:
    table(client, tmp_path)
    with settled(client, 100) as watch:
        assert repr(watch).startswith("<Watch") and "4 contacts" in repr(watch.latest)
        with pytest.raises(KeyError):
            watch.latest["nothing"]


@pytest.mark.parametrize("upper_first", [False, True])
def test_what_slides_on_a_moving_body_slips_by_their_relative_motion(
    client: Client, upper_first: bool
) -> None:
    """A box at 1 m/s on a slab at 3 m/s: its friction drives it on, along its own motion."""
    client.setGravity(0, 0, -9.81)
    floor = client.load("plane.urdf")
    boxes = []
    made = ((0.5, 0.05, 3.0), (0.1, 0.15, 1.0))
    # the engine names the pair in this order
    for half, height, speed in made[::-1] if upper_first else made:
        shape = client.createCollisionShape(client.GEOM_BOX, halfExtents=[half, half, 0.05])
        boxes.append(client.createMultiBody(2.0, shape, basePosition=[0, 0, height]))
        client.resetBaseVelocity(boxes[-1], [speed, 0, 0], [0, 0, 0])
    for body, mu in ((floor, 0.0), *((box, 0.6) for box in boxes)):
        client.changeDynamics(body, -1, lateralFriction=mu)
    with mb.watch(client.id, every=1) as watch:
        for _ in range(10):
            client.stepSimulation()
    numbers = watch.latest.numbers
    between = numbers.reading.touching.on >= 0
    assert between.any() and (numbers.rows.state[between] == 1).all()
    touching, v = numbers.reading.touching, numbers.reading.twists_after[:, 0]
    relative = v[touching.body[between]] - v[touching.on[between]]
    assert (
        np.abs(relative).min() > 1 and (np.sign(numbers.rows.slip[between][:, 0]) == np.sign(relative)).all()
    )
