"""The largest loads along a motion, by hand and instant by instant."""

from __future__ import annotations

import sys
from math import cos, radians

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.errors import BadNumber, BadUsage, ImplausibleValue, MissingDependency, UnreadableFile
from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.spatial import Pose
from mbplugin.readers.motions import RecordedMotion, read_motion
from places import ASSETS

MASS, LENGTH, G = 2.0, 0.5, 9.81


def pendulum():
    """Return a point mass on a massless rod that hangs at q = 0 and turns about the world's y axis."""
    R = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
    pin = Pair("pin", "revolute", "world", "bob", Pose(R, np.zeros(3)), Pose(R, np.array([0, 0, LENGTH])))
    return Mechanism("pendulum", (Body("bob", MASS, np.zeros(3), 1e-12 * np.eye(3)),), (pin,))


def swing(count=241):
    """Return the angles, rates and accelerations of the pendulum released at an angle, at equal steps of the angle."""
    angle = radians(70)
    q = np.linspace(angle, -angle, count)
    rate = -np.sqrt(2 * G / LENGTH * np.maximum(np.cos(q) - cos(angle), 0.0))
    return RecordedMotion(
        np.linspace(0, 1, count), q[:, None], rate[:, None], (-G / LENGTH * np.sin(q))[:, None], "swing"
    )


@pytest.mark.long
def test_the_pin_of_a_pendulum_carries_weight_and_centrifugal_force_at_the_bottom():
    found = mb.envelope(pendulum(), swing())
    # m g + m l w² with l w² = 2 g (1 − cos 70°), at the middle of the motion
    expected = MASS * G * (3 - 2 * cos(radians(70)))
    radial = found["pin"]["radial"]
    assert radial.value == pytest.approx(expected, rel=1e-9) and radial.time == pytest.approx(0.5)
    assert radial.determined and radial.largest == radial.value and radial.bound is None
    assert found["pin"]["axial"].value == pytest.approx(0.0, abs=1e-9)
    assert "torque" not in found["pin"]


@pytest.mark.long
def test_every_instant_has_the_values_of_reactions():
    rng = np.random.default_rng(3)
    scene = mb.load(ASSETS / "four_bar.scene.toml")
    motion = mb.simulate(scene, 0.3, qd={"j0": 2.0}, samples=7)
    force = [float(v) for v in rng.normal(size=3)]
    loads = [{"body": scene.mechanism.bodies[0].name, "force": force}]
    found = mb.envelope(scene, motion, loads=loads)
    largest = {}
    for k, time in enumerate(motion.time):
        one = mb.reactions(
            scene, motion.q[k], motion.qd[k], motion.qdd[k], loads=loads, estimate=False, tolerance=None
        )
        for joint in one.constraints:
            if joint.wrench is None:
                continue
            for kind, rows in (("axial", [2]), ("radial", [0, 1]), ("moment", [3, 4]), ("torque", [5])):
                value = np.linalg.norm(joint.wrench[rows])
                if not np.isnan(value) and value > largest.get((joint.name, kind), (-1.0,))[0]:
                    largest[joint.name, kind] = value, time
    assert len(largest) >= 4
    for load in found.loads:
        if load.kind == "component":
            continue
        expected = largest.get((load.joint, load.kind))
        assert (load.value is None) == (expected is None)
        if expected is not None:
            assert (load.value, load.time) == pytest.approx(expected, abs=1e-12)
            assert not load.open_instants
        else:
            # no contact and no effort limit bounds a self-stress of hinges
            assert load.open_instants == len(motion.time) and load.largest is None


def test_contacts_give_bounds_where_nothing_is_determined():
    table = mb.load(ASSETS / "table.scene.toml")
    found = mb.envelope(table, resting(table, [0.0, 2.0], 0.0))
    for constraint in mb.reactions(table).constraints:
        normal = found[constraint.name]["cn"]
        assert normal.value is None and normal.open_instants == 2 and not normal.determined
        assert normal.bound == pytest.approx(constraint["cn"].upper, rel=1e-12) and normal.bound > 0
        assert normal.bound_time == 0.0 and normal.largest == normal.bound


def resting(table, times, lift):
    """Return a table that stands, and at the last instant is accelerated upwards, m/s²."""
    state = mb.reactions(table)
    rates = np.zeros((len(times), len(state.qd)))
    qdd = rates.copy()
    qdd[-1, 2] = lift
    return RecordedMotion(np.array(times), np.tile(state.q, (len(times), 1)), rates, qdd, "rest")


def test_two_drives_are_bounded_by_their_efforts():
    turns = tuple(
        Pair(
            name,
            "revolute",
            "world",
            "shaft",
            Pose.identity(),
            Pose.identity(),
            closure,
            freedoms=(Freedom(effort=effort),),
        )
        for name, effort, closure in (("a", 6.0, False), ("b", 9.0, True))
    )
    mech = Mechanism("shaft", (Body("shaft", 1.0, np.zeros(3), np.eye(3)),), turns, gravity=np.zeros(3))
    motion = RecordedMotion(np.zeros(1), np.zeros((1, 1)), np.zeros((1, 1)), np.array([[10.0]]), "start")
    found = mb.envelope(mech, motion, hold=["a", "b"])
    assert found["lock a"]["rz_lock"].bound == pytest.approx(6.0)
    assert found["lock b"]["rz_lock"].bound == pytest.approx(9.0)
    assert found["a"]["radial"].bound is None and found["a"]["radial"].open_instants == 1


@pytest.mark.parametrize("file", ["swing.csv", "swing.npz"])
def test_a_saved_motion_is_read_as_it_was(tmp_path, file):
    mech = pendulum()
    motion = mb.simulate(mech, 0.2, q={"pin": 1.0}, samples=5)
    motion.save(tmp_path / file)
    read = read_motion(tmp_path / file, mech)
    for name in ("time", "q", "qd", "qdd"):
        assert np.array_equal(getattr(read, name), getattr(motion, name))
    by_file, direct = mb.envelope(mech, tmp_path / file), mb.envelope(mech, motion)
    assert [load.value for load in by_file.loads] == [load.value for load in direct.loads]
    assert by_file.source == file
    fewer = mb.envelope(mech, tmp_path / file, instants=3)
    assert fewer.time == pytest.approx(read.time[[0, 2, -1]])


COLUMNS = {
    "time [s]": [0.0, 1.0],
    "q pin [rad]": [0.5, 0.25],
    "qd pin [rad/s]": [0, 2],
    "qdd pin [rad/s²]": [3.0, 4],
}


def parquet(path, columns):
    arrow = pytest.importorskip("pyarrow")
    parts = pytest.importorskip("pyarrow.parquet")
    pairs = [(name, values) for name, values in columns.items() if values is not None]
    parts.write_table(arrow.table({name: arrow.array(values) for name, values in pairs}), path)


def test_a_table_in_parquet_is_read_by_the_names_of_its_columns(tmp_path):
    parquet(tmp_path / "swing.parquet", {"note": ["a", "b"], **dict(reversed(COLUMNS.items()))})
    read = read_motion(tmp_path / "swing.parquet", pendulum())
    assert read.time.tolist() == [0.0, 1.0] and read.q.tolist() == [[0.5], [0.25]]
    assert read.qd.tolist() == [[0.0], [2.0]] and read.qdd.tolist() == [[3.0], [4.0]]
    # along the rod at the second instant: m (l w² + g cos q); across it: m (l a + g sin q)
    at = MASS * np.hypot(LENGTH * 4 + G * np.cos(0.25), LENGTH * 4 + G * np.sin(0.25))
    found = mb.envelope(pendulum(), tmp_path / "swing.parquet")["pin"]["radial"]
    assert (found.value, found.time) == pytest.approx((at, 1.0), rel=1e-9)


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        ({"qdd pin [rad/s²]": None}, BadUsage, "no column 'qdd pin"),
        ({"q pin [rad]": [0.0, None]}, BadNumber, r"'q pin \[rad\]' has no finite number at instant 2"),
        ({"qd pin [rad/s]": [np.inf, 0.0]}, BadNumber, "no finite number at instant 1"),
        ({"time [s]": ["0", "1"]}, BadNumber, "has the type string"),
        ({name: np.zeros(0) for name in COLUMNS}, BadUsage, "the motion has 0 instants"),
        ({name: np.zeros(100_001) for name in COLUMNS}, BadUsage, "the motion has 100001 instants"),
    ],
)
def test_a_wrong_table_in_parquet_is_one_sentence(tmp_path, changed, error, words):
    parquet(tmp_path / "motion.parquet", {**COLUMNS, **changed})
    with pytest.raises(error, match=words) as caught:
        mb.envelope(pendulum(), tmp_path / "motion.parquet")
    assert str(caught.value).count("\n") == 0


def test_a_damaged_table_in_parquet_is_one_sentence(tmp_path):
    file = tmp_path / "motion.parquet"
    file.write_text("time,q")
    with pytest.raises(UnreadableFile, match="the table cannot be read"):
        mb.envelope(pendulum(), file)
    parquet(file, COLUMNS)
    content = bytearray(file.read_bytes())
    content[8:40] = bytes(32)
    file.write_bytes(content)
    with pytest.raises(UnreadableFile, match="the table cannot be read"):
        mb.envelope(pendulum(), file)


def test_without_pyarrow_the_message_names_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependency, match=r"needs PyArrow, which is not installed.*\.csv or \.npz"):
        mb.envelope(pendulum(), tmp_path / "motion.parquet")


def test_the_table_is_saved_with_its_units(tmp_path):
    mb.envelope(pendulum(), swing(count=11)).save(tmp_path / "loads.csv")
    lines = (tmp_path / "loads.csv").read_text().splitlines()
    assert lines[0].startswith("# pendulum, swing, 11 instants")
    assert lines[2].startswith("joint,type,load,unit,largest determined,at [s]")
    assert lines[4].split(",")[:4] == ["pin", "revolute", "radial", "N"]
    assert float(lines[4].split(",")[4]) == pytest.approx(MASS * G * (3 - 2 * cos(radians(70))))


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("time [s],q pin [rad]\n0,1\n", BadUsage, "no column 'qd pin"),
        ("time [s],q pin [rad],qd pin [rad/s],qdd pin [rad/s²]\n", BadUsage, "0 instants"),
        ("time [s],q pin [rad],qd pin [rad/s],qdd pin [rad/s²]\n0,1,0,x\n", BadNumber, "no number"),
        ("time [s],q pin [rad],qd pin [rad/s],qdd pin [rad/s²]\n0,1,0\n", BadNumber, "no number"),
        ("time [s],q pin [rad],qd pin [rad/s],qdd pin [rad/s²]\n0,nan,0,0\n", BadNumber, "no number"),
        ("time [s],q pin [deg],qd pin [rad/s],qdd pin [rad/s²]\n0,1,0,0\n", BadUsage, r"q pin \[rad\]"),
    ],
)
def test_a_wrong_motion_is_one_sentence(tmp_path, text, error, words):
    (tmp_path / "motion.csv").write_text(text)
    with pytest.raises(error, match=words) as caught:
        mb.envelope(pendulum(), tmp_path / "motion.csv")
    assert str(caught.value).count("\n") == 0


ONE = {"time": [0.0], "q": [[1.0]], "qd": [[0.0]], "qdd": [[0.0]], "q_names": ["pin"], "qd_names": ["pin"]}


def test_arrays_are_taken_by_the_names_of_their_columns(tmp_path):
    many = {name: [[7.0, *ONE[name][0]]] for name in ("q", "qd", "qdd")}
    names = {name: ["other", "pin"] for name in ("q_names", "qd_names")}
    np.savez(tmp_path / "motion.npz", **{**ONE, **many, **names})
    read = read_motion(tmp_path / "motion.npz", pendulum())
    assert (read.q.tolist(), read.qd.tolist(), read.qdd.tolist()) == ([[1.0]], [[0.0]], [[0.0]])


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        ({"qdd": None}, UnreadableFile, "arrays cannot be read"),
        ({"q_names": ["other"]}, BadUsage, "no q of 'pin'"),
        ({"qd": [[0.0, 1.0]]}, BadUsage, r"'qd' has the shape \(1, 2\); expected \(1, 1\)"),
        ({"q": [1.0]}, BadUsage, r"'q' has the shape \(1,\)"),
        ({"time": 0.0}, BadUsage, "0 instants"),
        ({"q": [[np.nan]]}, BadNumber, "'q' has numbers that are not finite"),
        ({"qdd": [[1e300]]}, BadNumber, "'qdd' has numbers"),
        ({"time": np.array([{}], dtype=object)}, UnreadableFile, "arrays cannot be read"),
    ],
)
def test_wrong_arrays_are_one_sentence(tmp_path, changed, error, words):
    arrays = {name: value for name, value in {**ONE, **changed}.items() if value is not None}
    np.savez(tmp_path / "motion.npz", **arrays)
    with pytest.raises(error, match=words) as caught:
        mb.envelope(pendulum(), tmp_path / "motion.npz")
    assert str(caught.value).count("\n") == 0


def test_a_file_that_is_no_archive_is_one_sentence(tmp_path):
    (tmp_path / "motion.npz").write_text("time,q")
    with pytest.raises(UnreadableFile, match="arrays cannot be read"):
        mb.envelope(pendulum(), tmp_path / "motion.npz")


def test_what_cannot_be_a_motion_of_the_mechanism_is_refused(tmp_path):
    with pytest.raises(BadUsage, match=r"no \.csv, \.npz or \.parquet file"):
        mb.envelope(pendulum(), tmp_path / "motion.txt")
    with pytest.raises(BadNumber, match="instants is 0"):
        mb.envelope(pendulum(), swing(), instants=0)
    with pytest.raises(BadUsage, match="motion is 3"):
        mb.envelope(pendulum(), 3)
    other = mb.simulate(ASSETS / "four_bar.scene.toml", 0.01, samples=1)
    with pytest.raises(BadUsage, match="3 coordinates and 3 rates"):
        mb.envelope(pendulum(), other)


def test_an_error_says_at_which_time():
    table = mb.load(ASSETS / "table.scene.toml")
    with pytest.raises(BadUsage, match=r"^at 2 s of the motion: these accelerations need a force"):
        mb.envelope(table, resting(table, [0.0, 1.0, 2.0], 1.0))


@pytest.mark.long
def test_a_rate_above_its_limit_is_warned_of_once_with_its_largest_value():
    scene = mb.load(ASSETS / "four_bar.scene.toml")
    motion = mb.simulate(scene, 0.5, qd={"j0": 2.0}, samples=30)
    fast = float(np.abs(motion.qd[:, 0]).max())
    with pytest.warns(ImplausibleValue) as caught:
        mb.envelope(scene, motion)
    of_j0 = [str(one.message) for one in caught if "the rate of j0 " in str(one.message)]
    assert len(of_j0) == 1 and f"{fast:.6g} rad/s" in of_j0[0]
