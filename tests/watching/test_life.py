"""What happens to a client while it is watched, and what a watch says then."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from live_clients import Client
from mbplugin.bullet import quiet, session
from mbplugin.errors import BadUsage, UnknownName
from watched import BIPED, husky, minitaur, table


def one_sentence(error: BaseException) -> bool:
    text = str(error)
    return text.endswith(".") and "\n" not in text and len(text) < 300


def test_a_client_that_disconnects(tmp_path: Path) -> None:
    with session() as (bullet, id):
        client = Client(bullet, id)
        table(client, tmp_path)
        watch = mb.watch(id)
        watch.update()
        client.disconnect()
        with pytest.raises(UnknownName, match="not connected any more") as error:
            watch.update()
        assert one_sentence(error.value)
        watch.close()


def test_a_client_that_disconnects_while_it_is_followed(tmp_path: Path) -> None:
    with session() as (bullet, id):
        client = Client(bullet, id)
        table(client, tmp_path)
        watch = mb.watch(id, every=1, log=tmp_path / "log.csv")
        for _ in range(50):
            client.stepSimulation()
        client.disconnect()
        assert watch.closed and watch.updates == 50
        assert (tmp_path / "log.csv").stat().st_size > 100
        assert any("disconnected" in note for note in watch.notes)


def test_no_client_and_no_model() -> None:
    for client, data, text in (
        (77, None, "not connected"),
        (Path("robot.urdf"), None, "client is"),
        (0, object(), "data is"),
    ):
        with pytest.raises(mb.MbPluginError, match=text) as error:
            mb.watch(client, data)
        assert one_sentence(error.value)


@pytest.mark.parametrize(
    "options", [{"every": 0}, {"intervals": 0}, {"tolerance": 0.0}, {"drift": -1.0}, {"overlay": True}]
)
def test_options_out_of_range(client: Client, tmp_path: Path, options: dict) -> None:
    table(client, tmp_path)
    with pytest.raises(BadUsage) as error:
        mb.watch(client.id, **options)
    assert one_sentence(error.value)


def test_an_empty_client(client: Client, tmp_path: Path) -> None:
    watch = mb.watch(client.id)
    with pytest.raises(BadUsage, match="empty") as error:
        watch.update()
    assert one_sentence(error.value)
    table(client, tmp_path)
    client.stepSimulation()
    assert watch.update().number == 1


def test_bodies_and_constraints_that_come_and_go(client: Client) -> None:
    with mb.watch(client.id, every=1) as watch:
        body = minitaur(client)
        client.stepSimulation()
        assert len(watch.latest.drifts) == 4
        client.removeConstraint(client.getConstraintUniqueId(0))
        client.stepSimulation()
        assert len(watch.latest.drifts) == 3 and any(
            "constraints changed from 4 to 3" in n for n in watch.notes
        )
        box = client.createCollisionShape(client.GEOM_BOX, halfExtents=[0.1, 0.1, 0.1])
        client.createMultiBody(1.0, box, basePosition=[2, 0, 0.1])
        client.stepSimulation()
        assert len(watch.latest.numbers.structure.mass) == 29
        client.removeBody(body)
        for _ in range(50):
            client.stepSimulation()
        assert any("bodies changed from 3 to 2" in note for note in watch.notes)
        assert watch.latest.balanced and len(watch.latest.numbers.reading.touching) == 4


def test_a_reset_of_the_simulation(client: Client, tmp_path: Path) -> None:
    with mb.watch(client.id, every=1) as watch:
        table(client, tmp_path)
        for _ in range(30):
            client.stepSimulation()
        client.resetSimulation()
        client.stepSimulation()
        assert any("is empty" in note for note in watch.notes)
        # the same file at the same ids, twice as heavy
        body = table(client, tmp_path)
        client.changeDynamics(body, -1, mass=40.0)
        for _ in range(400):
            client.stepSimulation()
        assert any("reset" in note for note in watch.notes)
        assert watch.latest.numbers.force == pytest.approx(40 * 9.81)
        assert watch.latest.balanced


def settled(client: Client) -> int:
    """Let a Husky come to rest on its wheels."""
    body = husky(client)
    for _ in range(200):
        client.stepSimulation()
    return body


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("how", ["base", "rates", "joint", "joints", "restored"])
def test_a_state_that_the_script_sets_is_no_motion(client: Client, how: str, every: int) -> None:
    """The state before the next step is not the one after the last update: the jump needs no force."""
    body = settled(client)
    saved = client.saveState()
    with mb.watch(client.id, every=every) as watch:
        for _ in range(2 * every):
            client.stepSimulation()
        if how == "base":
            client.resetBasePositionAndOrientation(body, [0, 0, 1], [0, 0, 0, 1])
        elif how == "rates":
            client.resetBaseVelocity(body, [0, 0, 3], [0, 0, 0])
        elif how == "joint":
            client.resetJointState(body, 2, 1.0, 3.0)
        elif how == "joints":
            client.resetJointStatesMultiDof(body, [2, 3], [[0.3], [0.4]], [[5.0], [6.0]])
        else:
            client.resetBasePositionAndOrientation(body, [0, 0, 1], [0, 0, 0, 1])
            for _ in range(8 * every):
                client.stepSimulation()
            client.restoreState(stateId=saved)
        for _ in range(2 * every):
            client.stepSimulation()
            assert watch.latest.balanced
        assert not watch.marks
        assert sum("saved state was restored" in note for note in watch.notes) == (how == "restored")


def test_states_that_are_restored_are_noted_once(client: Client, tmp_path: Path) -> None:
    table(client, tmp_path)
    saved = client.saveState()
    with mb.watch(client.id, every=1) as watch:
        for _ in range(4):
            client.stepSimulation()
            client.restoreState(saved)
        assert [note for note in watch.notes if "restored" in note] == [
            "at 0.004167 s a saved state was restored; the time of the watch goes on"
        ]


def test_masses_changed_by_a_call_that_is_seen_count_at_once(client: Client) -> None:
    """A Husky has more links than the watch looks at in one update."""
    body = settled(client)
    with mb.watch(client.id, every=1) as watch:
        client.stepSimulation()
        weight = watch.latest.numbers.force
        heavy = client.getNumJoints(body) - 1
        mass = client.getDynamicsInfo(body, heavy)[0]
        client.changeDynamics(body, heavy, mass=mass + 3.0)
        client.stepSimulation()
        assert watch.latest.numbers.force == pytest.approx(weight + 3 * 9.81, rel=1e-6)
        assert any("mass or friction" in note for note in watch.notes)


FALLING = """<mujoco><option timestep="0.05"/><worldbody><geom type="plane" size="5 5 .1"/>
<body pos="0 0 1"><freejoint/><geom type="sphere" size=".1"/></body></worldbody></mujoco>"""


@pytest.fixture
def falling():
    """A ball of MuJoCo above a floor: the module, its model and its data."""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(FALLING)
    mujoco.set_mju_user_warning(lambda text: None)
    yield mujoco, model, mujoco.MjData(model)
    mujoco.set_mju_user_warning(None)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("qvel", "a rate was not a number or huge (mjWARN_BADQVEL)"),
        ("qpos", "a coordinate was not a number or huge (mjWARN_BADQPOS)"),
        ("xfrc_applied", "an acceleration was not a number or huge (mjWARN_BADQACC)"),
    ],
)
@pytest.mark.parametrize("followed", [True, False])
def test_a_divergence_after_which_mujoco_resets_itself_is_said(falling, kind, words, followed) -> None:
    mujoco, model, data = falling
    with mb.watch(model, data, every=1 if followed else None) as watch:
        for k in range(12):
            if k == 10:
                (data.xfrc_applied[1] if kind == "xfrc_applied" else getattr(data, kind))[2] = 1e30
            elif k == 11:
                data.xfrc_applied[:] = 0
            mujoco.mj_step(model, data)
            if not followed:
                watch.update()
        assert data.time == pytest.approx(0.1)
        assert watch.notes == [f"MuJoCo reset the data at 0.5 s, and its time goes on from 0.05 s: {words}"]


def test_a_divergence_in_steps_that_are_not_looked_at_is_said(falling) -> None:
    """After the third step MuJoCo starts at zero again; the watch looks after the fifth, which is later."""
    mujoco, model, data = falling
    with mb.watch(model, data, every=5) as watch:
        for k in range(5):
            if k == 3:
                data.qvel[0] = np.nan
            mujoco.mj_step(model, data)
        assert data.time == pytest.approx(0.1) and watch.updates == 1
        (note,) = watch.notes
        assert "MuJoCo reset the data at 0.15 s" in note and "BADQVEL" in note


def test_a_divergence_at_every_step_is_said_once(falling) -> None:
    mujoco, model, data = falling
    with mb.watch(model, data, every=1) as watch:
        for _ in range(6):
            data.qvel[0] = 1e30
            mujoco.mj_step(model, data)
        assert len(watch.notes) == 2 and "0.05 s, and its time goes on from 0.05 s" in watch.notes[1]


def test_data_that_the_script_resets_are_said(falling) -> None:
    mujoco, model, data = falling
    with mb.watch(model, data, every=1) as watch:
        for _ in range(2):
            mujoco.mj_step(model, data)
            assert not watch.notes
        mujoco.mj_resetData(model, data)
        mujoco.mj_step(model, data)
        assert watch.notes == ["the data were reset or set back from 0.1 s to 0.05 s"]


def test_without_its_resets_a_diverged_state_is_a_sentence(falling) -> None:
    mujoco, model, data = falling
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    with mb.watch(model, data) as watch:
        mujoco.mj_step(model, data)
        watch.update()
        data.qpos[2] = np.nan
        mujoco.mj_step(model, data)
        with pytest.raises(BadUsage, match=r"at 0\.1 s the state of MuJoCo's data is not a number") as error:
            watch.update()
        assert one_sentence(error.value)
        assert any("MuJoCo warned: a coordinate was not a number" in note for note in watch.notes)


def test_a_changed_mass_is_noticed(client: Client, tmp_path: Path) -> None:
    body = table(client, tmp_path)
    with mb.watch(client.id) as watch:
        for _ in range(200):
            client.stepSimulation()
        watch.update()
        client.changeDynamics(body, -1, mass=30.0)
        for _ in range(200):
            client.stepSimulation()
        for _ in range(4):
            client.stepSimulation()
            watch.update()
        assert watch.latest.numbers.force == pytest.approx(30 * 9.81)
        assert any("mass or friction" in note for note in watch.notes)


def test_a_moved_pivot_is_followed(client: Client) -> None:
    client.load("plane.urdf")
    body = client.load("cube_small.urdf", [0, 0, 1.0])
    uid = client.createConstraint(body, -1, -1, -1, client.JOINT_POINT2POINT, [0] * 3, [0] * 3, [0, 0, 1.0])
    with mb.watch(client.id, every=1, drift=0.02) as watch:
        for k in range(200):
            client.changeConstraint(uid, [1e-3 * k, 0, 1.0])
            client.stepSimulation()
        assert not any(mark.kind == "drift" for mark in watch.latest.marks)
        assert watch.latest.drifts[f"constraint {uid}"][0] < 0.02
        assert not watch.notes


@pytest.mark.long
def test_a_body_that_sleeps(client: Client, tmp_path: Path) -> None:
    client.setPhysicsEngineParameter(enableFileCaching=0)
    client.setGravity(0, 0, -9.81)
    client.load("plane.urdf")
    body = client.load("cube_small.urdf", [0, 0, 0.025])
    client.changeDynamics(body, -1, activationState=client.ACTIVATION_STATE_ENABLE_SLEEPING)
    with mb.watch(client.id, every=1) as watch:
        for _ in range(1500):
            client.stepSimulation()
        assert client.getBaseVelocity(body) == ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        assert watch.latest.balanced and not watch.latest.marks


def test_soft_bodies_are_left_out(client: Client) -> None:
    with quiet():
        client.resetSimulation(client.RESET_USE_DEFORMABLE_WORLD)
    client.setGravity(0, 0, -9.81)
    with quiet():
        client.loadURDF(str(_data("plane.urdf")))
        client.loadURDF(str(_data("cube_small.urdf")), [1, 0, 0.025])
        client.loadSoftBody(
            str(_data("cloth_z_up.obj")), basePosition=[0, 0, 0.5], mass=0.5, useNeoHookean=0, useMassSpring=1
        )
    with mb.watch(client.id, every=1) as watch:
        for _ in range(20):
            client.stepSimulation()
        assert watch.updates == 20, watch.notes
        assert any("soft" in note for note in watch.notes)


def _data(name: str) -> Path:
    from places import BULLET_DATA

    return BULLET_DATA / name


def test_a_static_world(client: Client) -> None:
    client.load("plane.urdf")
    box = client.createCollisionShape(client.GEOM_BOX, halfExtents=[0.1, 0.1, 0.1])
    client.createMultiBody(0.0, box, basePosition=[0, 0, 0.1])
    with mb.watch(client.id, every=1) as watch:
        for _ in range(3):
            client.stepSimulation()
        assert watch.latest.degree_of_redundancy == 0 and not watch.latest.marks
        assert watch.latest.intervals or watch.latest.intervals == {}
        assert not watch.notes


def test_sensors_that_are_off_are_told_once(client: Client) -> None:
    """No getter tells it: joints that carry a load have no number. One sensor that is on is the script's choice."""
    client.setGravity(0, 0, -9.81)
    body = client.load("kuka_iiwa/model.urdf", useFixedBase=True)
    with mb.watch(client.id) as watch:
        # nothing was stepped, so that sensors would have no number yet
        watch.update()
        assert not watch.notes
        for _ in range(3):
            client.stepSimulation()
            watch.update()
        assert len(watch.notes) == 1 and "enableJointForceTorqueSensor" in watch.notes[0]
    client.enableJointForceTorqueSensor(body, 3)
    with mb.watch(client.id, every=1) as watch:
        for _ in range(3):
            client.stepSimulation()
        assert watch.updates == 3 and not watch.notes


def test_joints_without_a_load_need_no_sensor(client: Client) -> None:
    client.load("kuka_iiwa/model.urdf", useFixedBase=True)
    with mb.watch(client.id, every=1) as watch:
        for _ in range(3):
            client.stepSimulation()
        assert watch.updates == 3 and not watch.notes


def test_many_contacts_stay_fast(client: Client) -> None:
    client.setGravity(0, 0, -9.81)
    client.load("plane.urdf")
    box = client.createCollisionShape(client.GEOM_BOX, halfExtents=[0.05, 0.05, 0.05])
    for k in range(125):
        client.createMultiBody(1.0, box, basePosition=[0.2 * (k % 12), 0.2 * (k // 12), 0.05])
    for _ in range(20):
        client.stepSimulation()
    with mb.watch(client.id) as watch:
        watch.update()
        client.stepSimulation()
        begun = time.thread_time()
        update = watch.update()
        assert time.thread_time() - begun < 0.5
        assert len(update.numbers.reading.touching) >= 500
        assert not update.decided and any("only when it is asked for" in note for note in watch.notes)
        assert update.balanced and not update.marks


def test_two_clients_and_two_watches(client: Client, tmp_path: Path) -> None:
    table(client, tmp_path)
    with session() as (bullet, other):
        second = Client(bullet, other)
        husky(second)
        with (
            mb.watch(client.id, every=1) as a,
            mb.watch(other, every=1) as b,
            mb.watch(client.id, every=2) as c,
        ):
            for _ in range(10):
                client.stepSimulation()
            for _ in range(4):
                second.stepSimulation()
            assert (a.updates, b.updates, c.updates) == (10, 4, 5)
            a.close()
            client.stepSimulation()
            assert (a.updates, c.steps) == (10, 11)
        name = bullet.stepSimulation
    assert type(name).__name__ == "builtin_function_or_method"


def test_updates_from_several_threads(client: Client, tmp_path: Path) -> None:
    table(client, tmp_path)
    client.stepSimulation()
    with mb.watch(client.id) as watch:
        threads = [threading.Thread(target=lambda: [watch.update() for _ in range(20)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert watch.updates == 80 and [one.time for one in watch.kept] == sorted(
            one.time for one in watch.kept
        )


def test_a_closed_watch(client: Client, tmp_path: Path) -> None:
    table(client, tmp_path)
    with mb.watch(client.id, every=1) as watch:
        client.stepSimulation()
    watch.close()
    client.stepSimulation()
    assert watch.updates == 1
    with pytest.raises(BadUsage, match="closed") as error:
        watch.update()
    assert one_sentence(error.value)


def test_what_fails_inside_does_not_reach_the_script(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table(client, tmp_path)

    def fails() -> None:
        raise RuntimeError("a bug")

    with mb.watch(client.id, every=1) as watch:
        monkeypatch.setattr(watch.source, "read", fails)
        for _ in range(3):
            client.stepSimulation()
        assert watch.notes == ["RuntimeError: a bug"]


def test_data_of_another_model() -> None:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(BIPED)
    other = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    for data, text in ((None, "without its data"), (mujoco.MjData(other), "another MjModel")):
        with pytest.raises(BadUsage, match=text) as error:
            mb.watch(model, data)
        assert one_sentence(error.value)


def test_a_bullet_client_object_keeps_its_client_filled_in(tmp_path: Path) -> None:
    """The functions that are wrapped are no longer functions of C, by which ``BulletClient`` knows them."""
    import pybullet
    from pybullet_utils.bullet_client import BulletClient

    with session():
        with quiet():
            client = BulletClient(pybullet.DIRECT)
        (tmp_path / "table.urdf").write_text("<robot name='r'><link name='a'/></robot>")
        with quiet():
            client.loadURDF(str(tmp_path / "table.urdf"), [0, 0, 1])
        client.setGravity(0, 0, -10)
        with mb.watch(client, every=1) as watch:
            client.stepSimulation()
            client.stepSimulation()
            assert watch.updates == 2
            client.disconnect()
            assert watch.closed
        assert client._client == -1
