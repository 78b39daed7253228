"""Many stops of one robot against single ones, and the table that a maker would print."""

from __future__ import annotations

import csv
import io
import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.errors import BadUsage, UnknownName
from mbplugin.model.brake_law import Brake
from mbplugin.model.mechanism import Body
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.model.scene import Payload, Scene
from mbplugin.stopping.batch import CompiledStop
from mbplugin.stopping.evaluation import joint_stops
from mbplugin.stopping.run import estop, make_scenario, run_stop
from mbplugin.stopping.table import StoppingTable
from mbplugin.stopping.table.extension import ExtensionPoses, table_axes
from places import ASSETS, BULLET_DATA
from rod_arms import arm, two_rods

IIWA = BULLET_DATA / "kuka_iiwa" / "model.urdf"


@pytest.fixture(scope="module")
def iiwa() -> Scene:
    return mb.load(IIWA, base="fixed")


@pytest.fixture(scope="module")
def table(iiwa: Scene) -> StoppingTable:
    return mb.stopping_table(iiwa, payload=7.0)


@pytest.mark.parametrize("seed", range(6))
def test_quick_stops_are_those_of_the_runner(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 2 + seed
    mech = arm(tuple(rng.uniform(0.3, 0.8, n)))
    brakes = [
        Brake(f"j{k}", t, 1.1 * t, rng.uniform(0, 3), rng.uniform(0, 0.02), rng.uniform(0, 0.02))
        for k, t in enumerate(rng.uniform(20, 90, n) / (1 + np.arange(n)))
    ]
    q, qd = rng.uniform(-1, 1, n), rng.uniform(-3, 3, n)
    scenario = make_scenario(mech, q, qd, brakes=brakes, payload=1.0)
    scenario = replace(scenario, duration=1.5, rtol=1e-10, atol=1e-12)
    motion = run_stop(scenario)
    slow = joint_stops(scenario, motion)
    quick = CompiledStop(scenario, rtol=1e-9, atol=1e-11).stop(q, qd)
    assert quick.travels == pytest.approx(motion.q[-1] - q, abs=1e-6)
    if motion.outcome == "stopped":
        assert quick.times == pytest.approx([joint.time for joint in slow], abs=1e-5)
        assert quick.time == pytest.approx(motion.time[-1], abs=1e-6)
    else:
        assert quick.outcome in ("not_stopped", "slipped_back")
    assert quick.back == pytest.approx([joint.back for joint in slow], abs=1e-5)


def test_quick_end_stop_is_that_of_the_runner() -> None:
    mech = arm((1.0, 1.0), gravity=0.0, limits=Freedom(lower=-1.0, upper=0.3))
    brakes = [Brake("j0", 1.0), Brake("j1", 1.0)]
    q, qd = np.array([0.1, 0.0]), np.array([2.0, -2.0])
    scenario = make_scenario(mech, q, qd, brakes=brakes)
    motion, quick = run_stop(scenario), CompiledStop(scenario).stop(q, qd)
    assert motion.outcome == quick.outcome == "limit_hit"
    assert quick.time == pytest.approx(motion.time[-1], abs=1e-7)
    assert quick.travels == pytest.approx(motion.q[-1] - q, abs=1e-7)


def test_payload_and_brakes_are_exchanged_in_place() -> None:
    q, qd = np.array([0.3, -0.5]), np.array([1.0, 2.0])
    first, second = [Brake("j0", 40.0), Brake("j1", 30.0)], [Brake("j0", 60.0), Brake("j1", 50.0, delay=0.02)]
    compiled = CompiledStop(make_scenario(arm((0.5, 0.4)), q, qd, brakes=first))
    before = compiled.stop(q, qd)
    other = make_scenario(arm((0.5, 0.4)), q, qd, brakes=second, payload=3.0)
    compiled.set_payloads((Payload("b1", 3.0, np.zeros(3), np.zeros((3, 3))),))
    compiled.set_brakes(other.brakes)
    fresh = CompiledStop(other).stop(q, qd)
    assert compiled.stop(q, qd).travels.tolist() == fresh.travels.tolist()
    compiled.set_payloads(())
    compiled.set_brakes(compiled.scenario.brakes)
    assert compiled.stop(q, qd).travels.tolist() == before.travels.tolist()


@pytest.mark.bullet
def test_led_stops_are_those_of_the_runner(iiwa: Scene) -> None:
    q, qd = np.array([0, 0.6, 0, -1.2, 0, 0.5, 0]), np.array([1.5, 0.5, 0, -1, 0.3, 1, 2])
    ramps = {name: 3.0 + k for k, name in enumerate(iiwa.mechanism.q_names)}
    report = estop(iiwa, q, qd, category=1, decelerations=ramps)
    quick = CompiledStop(make_scenario(iiwa, q, qd)).controlled_stop(q, qd, np.array(list(ramps.values())))
    assert quick.outcome == report.outcome == "stopped"
    assert quick.travels == pytest.approx([joint.travel for joint in report.joints], abs=1e-9)
    assert quick.time == pytest.approx(report.time, abs=1e-9)


@pytest.mark.bullet
def test_what_brakes_hold_and_what_joints_move(iiwa: Scene) -> None:
    mech = arm((1.0, 1.0))
    compiled = CompiledStop(make_scenario(mech, brakes=[Brake("j0", 99.0), Brake("j1", 99.0)]))
    for q in np.random.default_rng(1).uniform(-3, 3, (5, 2)):
        M, h = two_rods(q, np.zeros(2))
        assert compiled.holding(q) == pytest.approx(h, abs=1e-9)
        assert compiled.inertias(q) == pytest.approx(np.diag(M))


@pytest.mark.bullet
def test_rolls_are_left_out(iiwa: Scene) -> None:
    assert [a[-1] for a in table_axes(iiwa.mechanism, "lbr_iiwa_link_7")] == ["1", "2", "4"]
    with pytest.raises(UnknownName, match="joint 'elbow' cannot be an axis"):
        mb.stopping_table(iiwa, axes=["elbow"])


def test_stretched_and_drawn_in() -> None:
    """Two rods and a wrist: the reach by hand, its shares by bending the elbow, the pull of gravity down."""
    mech = arm((0.7, 0.5, 0.2))
    compiled = CompiledStop(make_scenario(mech, brakes=[Brake(f"j{k}", 99.0) for k in range(3)], tool="b2"))
    poser = ExtensionPoses(compiled, ("j0", "j1"))
    full = poser.pose("j0", 1.0)
    assert full.extension == pytest.approx(1.2, abs=1e-9)
    # stretched out level, and moving down
    assert abs(np.sin(full.q[0])) < 0.05 and full.sense * np.cos(full.q[0]) < 0
    third = poser.pose("j0", 0.66)
    assert third.extension == pytest.approx(0.66 * 1.2, abs=0.01)
    elbow = np.arccos((0.792**2 - 0.7**2 - 0.5**2) / (2 * 0.7 * 0.5))
    assert abs(third.q[1]) == pytest.approx(elbow, abs=0.03)


@pytest.mark.bullet
def test_a_flange_above_the_first_axis_of_an_upright_arm_is_no_wrong_tool(table: StoppingTable) -> None:
    """The stops are at poses in which that axis moves it."""
    assert not table.tool_choice.still_on and not any("lies on the ax" in one for one in table.assumptions)
    assert all(row["tool_distance"] > 0.01 for row in table.rows if row["axis"] == 1)


@pytest.mark.bullet
def test_the_grid(table: StoppingTable) -> None:
    assert len(table.rows) == 66
    zero = [row for row in table.rows if row["category"] == 0]
    assert [row["axis"] for row in zero] == [1, 2, 3]
    assert all(row["speed_percent"] == row["payload_percent"] == 100 for row in zero)
    one = [row for row in table.rows if row["category"] == 1]
    assert [sum(row["axis"] == k for row in one) for k in (1, 2, 3)] == [27, 27, 9]
    for row in one:
        # delay at full rate, then a constant deceleration
        ramp = row["speed"] / row["deceleration"]
        if row["outcome"] == "limit_hit":
            assert row["rest_time"] < 0.015 + ramp
            continue
        assert row["time"] == pytest.approx(0.015 + ramp, abs=1e-12)
        assert row["distance"] == pytest.approx(row["speed"] * (0.015 + 0.5 * ramp), abs=1e-12)


@pytest.mark.bullet
def test_rows_that_do_not_rest_are_named_in_every_format(table: StoppingTable) -> None:
    rests = tuple({**row, "outcome": "stopped"} for row in table.rows)
    assert replace(table, rows=rests).unrested == ""
    first, second, third, *others = rests
    ends = (
        {**first, "outcome": "limit_hit"},
        {**second, "outcome": "limit_hit"},
        {**third, "outcome": "slipped_back"},
    )
    made = replace(table, rows=(*ends, *others))
    joint, category = first["joint"], first["category"]
    assert made.unrested.startswith(f"3 of {len(rests)} stops not at rest: {joint} ran into a joint limit (")
    for row in ends:
        assert (
            f"of category {category}, " in made.unrested
            and f"{row['speed_percent']} % speed" in made.unrested
        )
    assert "slipped back (1 stop of" in made.unrested
    slip = {"joint": "other", "unit": "rad", "travel": 1.0, "time": 0.1}
    slipping = replace(table, rows=({**first, "outcome": "limit_hit", "slips": [slip]}, second, *others))
    assert "a joint ran into a joint limit while the brake of other slipped (1 stop of" in slipping.unrested
    assert made.unrested in " ".join(made.text("text").split()) and made.unrested in made.text("html")
    assert json.loads(made.text("json"))["unrested"] == made.unrested


@pytest.mark.bullet
def test_a_table_row_is_a_stop(iiwa: Scene, table: StoppingTable) -> None:
    row = table.rows[0]
    compiled = CompiledStop(make_scenario(iiwa))
    compiled.set_payloads((Payload("lbr_iiwa_link_7", 7.0, np.zeros(3), np.zeros((3, 3))),))
    pose = ExtensionPoses(compiled, table.axes).pose(table.axes[0], 1.0)
    qd = np.zeros(7)
    qd[0] = pose.sense * row["speed"]
    report = estop(iiwa, pose.q, qd, payload=7.0)
    assert report.joints[0].time == pytest.approx(row["time"], rel=1e-4)
    assert abs(report.joints[0].travel) == pytest.approx(row["distance"], rel=1e-4)


@pytest.mark.bullet
def test_files(table: StoppingTable, tmp_path: Path) -> None:
    for ending in ("csv", "json", "html"):
        table.save(tmp_path / f"table.{ending}")
    lines = (tmp_path / "table.csv").read_text().splitlines()
    assert "# computed, not measured" in lines
    rows = list(csv.DictReader(io.StringIO("\n".join(line for line in lines if line[0] != "#"))))
    assert len(rows) == 66 and float(rows[0]["time"]) == table.rows[0]["time"]
    document = json.loads((tmp_path / "table.json").read_text())
    assert document["rows"][0]["joint"] == "lbr_iiwa_joint_1" and document["computed_not_measured"] is True
    page = (tmp_path / "table.html").read_text()
    # six longest stops, the rows below a line for each axis and category, and the poses of two axes at three
    # extensions and of the third, each under a head; some stops have a line of their own
    more = sum(bool(row["slips"]) or row["outcome"] != "stopped" for row in table.rows)
    assert page.count("<figure") == 6 and "computed, not measured" in page
    assert page.count("<tr") == 7 + 67 + 6 + more + 8
    with pytest.raises(BadUsage, match=r"\.docx is none of the formats"):
        table.save(tmp_path / "table.docx")


@pytest.mark.bullet
def test_tables_that_cannot_be(iiwa: Scene) -> None:
    two = [Brake("j0", 90.0), Brake("j1", 90.0)]
    with pytest.raises(BadUsage, match="full speed of joint 'j1'"):
        mb.stopping_table(arm((1.0, 1.0)), axes=["j0", "j1"], brakes=two, speeds={"j0": 1.0})
    speeds = {"j0": 1.0}
    with pytest.raises(BadUsage, match="no ramp for joint 'j0'"):
        mb.stopping_table(arm((1.0,)), brakes=[Brake("j0", 50.0)], speeds=speeds)
    assert len(mb.stopping_table(arm((1.0,)), brakes=[Brake("j0", 50.0)], speeds=speeds, categories=[0]).rows)


@pytest.mark.bullet
def test_a_deceleration_of_no_such_joint_is_refused_with_those_there_are(iiwa: Scene) -> None:
    with pytest.raises(mb.MbPluginError, match=r"'lbr_iiwa_joint_22'.* did you mean 'lbr_iiwa_joint_2'"):
        mb.stopping_table(iiwa, decelerations={"lbr_iiwa_joint_22": 3.0})


def test_a_free_body_beside_an_arm_does_not_change_its_axes() -> None:
    """Its quaternion is not zero at home: poses of zeros would be no numbers."""
    mech = mb.load(ASSETS / "arm_6r.scene.toml").mechanism
    free = replace(mech, bodies=(*mech.bodies, Body("box", 1.0, np.zeros(3), np.eye(3))))
    tool = mech.bodies[-1].name
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert table_axes(free, tool) == table_axes(mech, tool)


LIFT = """<robot name="lift"><link name="world"/><link name="mast"/><link name="fork"><inertial><mass value="8"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="fixed" type="fixed"><parent link="world"/><child link="mast"/></joint>
<joint name="lift" type="prismatic"><parent link="mast"/><child link="fork"/><axis xyz="0 0 {sign}"/>
<limit lower="{lower}" upper="{upper}" effort="200" velocity="1"/></joint></robot>"""


@pytest.mark.parametrize(("sign", "lower", "upper"), [(1, 0, 1.1), (-1, -1.1, 0), (1, -0.5, 0.5)])
def test_a_slide_stops_from_the_end_with_room(sign: int, lower: float, upper: float, tmp_path: Path) -> None:
    """It was stopped where the pose of the file is, often at the limit towards which it moved."""
    (tmp_path / "lift.urdf").write_text(LIFT.format(sign=sign, lower=lower, upper=upper))
    table = mb.stopping_table(
        str(tmp_path / "lift.urdf"), brakes=[mb.Brake("lift", torque=200, delay=0)], categories=(0,)
    )
    rows = [row for row in table.rows if row["speed"] == 1.0]
    assert rows and {row["outcome"] for row in rows} == {"stopped"}
    # downwards, the brake decelerates 8 kg by 200 N less the weight
    deceleration = (200 - 8 * 9.80665) / 8
    for row in rows:
        assert row["time"] == pytest.approx(1 / deceleration, rel=1e-3)
        assert row["distance"] == pytest.approx(0.5 / deceleration, rel=1e-3)
