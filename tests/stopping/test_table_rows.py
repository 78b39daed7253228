"""Rows of a stopping table: both times, what else moves, the tool's way, and the command that repeats it."""

from __future__ import annotations

import csv
import importlib.metadata
import io
import json
import shlex
from dataclasses import fields
from html import escape
from math import sin, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import mbplugin as mb
from command_line import ASSETS, call
from mbplugin import readers
from mbplugin.cli.braking import Braking
from mbplugin.model.brake_law import Brake
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.report.documents.part import schema_of
from mbplugin.stopping.batch import CompiledStop
from mbplugin.stopping.run import estop, make_scenario
from mbplugin.stopping.table import COLUMNS
from rod_arms import arm
from two_rod_stops import slide_to_rest

#: Two rods of 1 kg and 1 m in a vertical plane, as in ``two_rods``. The shoulder holds them level, and slips
#: when the elbow's brake pulls on it; the payload has an inertia, which no option of a command can state.
WEAK_SHOULDER = """
gravity = [0, -9.81, 0]
[state]
qd = { j1 = 0.25 }
[[body]]
name = "upper"
mass = 1.0
com = [0.5, 0, 0]
inertia = [0.001, 0.08333333333333333, 0.08333333333333333]
[[body]]
name = "lower"
mass = 1.0
com = [0.5, 0, 0]
inertia = [0.001, 0.08333333333333333, 0.08333333333333333]
[[pair]]
name = "j0"
type = "revolute"
body_a = "world"
body_b = "upper"
xyz_a = [0, 0, 0]
[[pair]]
name = "j1"
type = "revolute"
body_a = "upper"
body_b = "lower"
xyz_a = [1, 0, 0]
[[body]]
name = "tool"
mass = 0.1
inertia = [0.001, 0.001, 0.001]
[[pair]]
name = "flange"
type = "fixed"
body_a = "lower"
body_b = "tool"
xyz_a = [1, 0, 0]
[[brake]]
joint = "j0"
torque = 45
delay = 0.01
engagement = 0.02
[[brake]]
joint = "j1"
torque = 60
delay = 0.015
[[payload]]
body = "tool"
mass = 0.5
com = [0.1, 0, 0]
inertia = [0.01, 0.02, 0.02]
"""
SPEEDS = ("--speed", "j0=2,j1=6")


@pytest.fixture(name="scene")
def scene_file(tmp_path: Path) -> str:
    path = tmp_path / "weak shoulder.scene.toml"
    path.write_text(WEAK_SHOULDER, encoding="utf-8")
    return str(path)


def rows_of(*arguments: str) -> list[dict[str, Any]]:
    outcome = call("stop-table", *arguments, "--output-format", "json")
    assert outcome.code == 0, outcome.err
    rows: list[dict[str, Any]] = json.loads(outcome.out)["rows"]
    return rows


def repeated(row: dict[str, Any]) -> dict[str, Any]:
    """Run the command of a row."""
    program, *arguments = shlex.split(row["command"])
    assert program == "mbplugin"
    outcome = call(*arguments, "--output-format", "json")
    assert outcome.code == 0, (row["command"], outcome.err)
    found: dict[str, Any] = json.loads(outcome.out)
    return found


def assert_repeats(row: dict[str, Any]) -> None:
    """The command of a row gives its numbers, and what it does not name does not move."""
    stop = repeated(row)
    joints = {joint["name"]: joint for joint in stop["joints"]}
    axis = joints.pop(row["joint"])
    assert stop["outcome"] == row["outcome"]
    assert row["time"] == pytest.approx(axis["time"], rel=2e-5)
    assert row["rest_time"] == pytest.approx(stop["time"], rel=2e-5)
    assert row["sense"] * row["distance"] == pytest.approx(axis["travel"], rel=2e-5)
    assert row["tool_distance"] == pytest.approx(stop["tool"]["distance"], rel=2e-5)
    assert row["tool_displacement"] == pytest.approx(stop["tool"]["displacement"], rel=2e-5)
    assert row["q"] == {joint["name"]: joint["start"] for joint in stop["joints"]}
    slips = {slip["joint"]: slip for slip in row["slips"]}
    for name, joint in joints.items():
        travel, time = (slips[name]["travel"], slips[name]["time"]) if name in slips else (0.0, 0.0)
        assert joint["travel"] == pytest.approx(travel, rel=2e-5, abs=1e-8)
        assert not travel or joint["time"] == pytest.approx(time, rel=2e-5)


@pytest.mark.long
@pytest.mark.parametrize("shoulder", [45, 4])
def test_every_row_is_one_command(scene: str, shoulder: int) -> None:
    """With 4 N·m the shoulder lets the arm swing down and back."""
    options = (*SPEEDS, "--deceleration", "j0=3,j1=20")
    options += ("--brake", f"j0:torque={shoulder},delay=0.01,engagement=0.02")
    rows = rows_of(scene, *options, "--category", "0") + rows_of(scene, *options)[2::7]
    assert any(row["slips"] for row in rows) and {row["category"] for row in rows} == {0, 1}
    assert ({row["outcome"] for row in rows} == {"stopped"}) == (shoulder == 45)
    for row in rows:
        assert_repeats(row)


def test_the_command_states_what_the_table_was_told(scene: str) -> None:
    """Other brakes, and a payload in place of the scene's."""
    brakes = ("--brake", "j0:torque=70,viscous=0.3,delay=0.01", "--brake", "j1:torque=20,wear=0.9")
    rows = rows_of(scene, *SPEEDS, *brakes, "--payload", "0.8", "--tool", "tool", "--category", "0")
    for row in rows:
        assert row["payload"] == 0.8
        assert_repeats(row)


#: Values of the options that all stop commands have, by their field.
OPTIONS = {
    "brake": ("--brake", "j0:torque=70,viscous=0.3,delay=0.03"),
    "require_brakes": ("--require-brakes",),
    "deceleration": ("--deceleration", "j1=15"),
    "tool": ("--tool", "lower"),
}
RAMPS = """
[[ramp]]
joint = "j0"
deceleration = 3.0
[[ramp]]
joint = "j1"
time = 0.3
reaction = 0.025
"""


@pytest.mark.long
@pytest.mark.parametrize("name", [field.name for field in fields(Braking)])
def test_the_command_of_a_row_has_every_option_of_the_stop_commands(name: str, tmp_path: Path) -> None:
    """Stops and tables apply each option alike, to the ramps of the scene too; a new option needs its value here."""
    scene = tmp_path / "ramps.scene.toml"
    scene.write_text(WEAK_SHOULDER + RAMPS, encoding="utf-8")
    rows = rows_of(str(scene), *SPEEDS, *OPTIONS[name], "--grid", "speed=50", "--grid", "extension=66")
    assert {(row["category"], row["joint"]) for row in rows} == {(c, j) for c in (0, 1) for j in ("j0", "j1")}
    for row in rows[::3]:
        assert_repeats(row)


@pytest.mark.long
def test_rows_of_an_arm_with_six_joints() -> None:
    rows = rows_of(str(ASSETS / "arm_6r.scene.toml"), "--payload", "5")
    for row in (*rows[:3], *rows[3::21]):
        assert_repeats(row)


@pytest.mark.long
def test_the_ur5_elbow_pulls_the_shoulder_along() -> None:
    """The elbow rests after 23 ms, the arm after 287 ms: the shoulder slips (other programs find the same)."""
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("needs example-robot-data")
    path = next(file for file in files if str(file).endswith("/ur5_robot.urdf")).locate()
    row = rows_of(str(path), "--base", "fixed", "--payload", "5", "--category", "0")[2]
    assert row["joint"] == "elbow_joint" and row["time"] == pytest.approx(0.0229, abs=1e-4)
    assert row["rest_time"] == pytest.approx(0.2872, abs=1e-4)
    assert row["tool_displacement"] == pytest.approx(0.218, abs=1e-3)
    (slip, _) = row["slips"]
    assert slip["joint"] == "shoulder_lift_joint" and slip["time"] == row["rest_time"]
    assert_repeats(row)


def test_a_slipping_shoulder_against_an_own_integration() -> None:
    """The elbow of two rods is braked; the shoulder's brake slides as long as it has to."""
    mech, torques = arm((1.0, 1.0)), np.array([25.0, 40.0])
    brakes = [Brake(f"j{k}", torque) for k, torque in enumerate(torques)]
    speeds, axes = {"j0": 1.0, "j1": 5.0}, ["j0", "j1"]
    row = mb.stopping_table(mech, axes=axes, brakes=brakes, speeds=speeds, categories=[0], tool="b1").rows[1]
    q = np.array(list(row["q"].values()))
    end = slide_to_rest(q, np.array([0.0, row["sense"] * 5.0]), torques)
    assert row["joint"] == "j1" and row["rest_time"] == pytest.approx(end.time, rel=1e-6)
    assert row["time"] == pytest.approx(end.times[1], rel=1e-6) and row["time"] < 0.9 * row["rest_time"]
    (slip,) = row["slips"]
    assert slip["travel"] == pytest.approx(end.q[0] - q[0], rel=1e-6)
    assert row["distance"] == pytest.approx(abs(end.q[1] - q[1]), rel=1e-6)
    assert row["command"] is None
    # the tool is the origin of the outer rod, which only the shoulder moves
    assert row["tool_distance"] == pytest.approx(abs(end.q[0] - q[0]), rel=1e-6)
    assert row["tool_displacement"] == pytest.approx(2 * sin(abs(end.q[0] - q[0]) / 2), rel=1e-6)


def test_the_way_of_the_tool_is_an_arc_and_its_displacement_the_chord() -> None:
    """One heavy wheel with its tool at 0.4 m: ω²I/2τ of angle after 15 ms at full rate, in every report."""
    mech, speed, torque = arm((1.2,), 3.0, gravity=0.0), 9.0, 40.0
    angle = 9.0 * 0.015 + (3.0 * 1.2**2 / 3) * speed**2 / (2 * torque)
    arc, chord = 0.4 * angle, 2 * 0.4 * sin(angle / 2)
    brake = Brake("j0", torque, delay=0.015)
    point = np.array([0.4, 0, 0])
    report = estop(mech, qd={"j0": speed}, brakes=[brake], tool_point=point)
    assert report.tool.distance == pytest.approx(arc, rel=1e-5)
    assert report.tool.displacement == pytest.approx(chord, rel=1e-8)
    assert report.naive.distance == pytest.approx(0.4 * 9.0 * 0.015, rel=1e-5)
    assert report.naive.displacement == pytest.approx(2 * 0.4 * sin(9.0 * 0.015 / 2), rel=1e-8)
    compiled = CompiledStop(make_scenario(mech, brakes=[brake], tool_point=point))
    quick = compiled.stop(np.zeros(1), np.array([speed]))
    assert quick.tool_distance == pytest.approx(arc, rel=1e-8)
    assert quick.tool_displacement == pytest.approx(chord, rel=1e-8)
    led = compiled.controlled_stop(np.zeros(1), np.array([speed]), np.array([10.0]))
    assert led.tool_distance == pytest.approx(0.4 * (9.0 * 0.015 + speed**2 / 20), rel=1e-9)


def test_a_led_stop_that_the_brakes_cannot_hold_or_that_meets_a_limit() -> None:
    """Category 1: what comes after the ramp, and a limit within it, by hand."""
    limited = arm((1.0,), gravity=0.0, limits=Freedom(lower=-1.0, upper=0.3))
    compiled = CompiledStop(make_scenario(limited, brakes=[Brake("j0", 5.0, delay=0.1)]))
    quick = compiled.controlled_stop(np.zeros(1), np.array([2.0]), np.array([4.0]))
    # 0.2 rad in the delay, then 0.1 = 2 t − 2 t²
    time = 0.1 + (1 - sqrt(1 - 0.2)) / 2
    assert quick.outcome == "limit_hit" and quick.travels == pytest.approx([0.3])
    assert quick.time == quick.times[0] == pytest.approx(time, rel=1e-9)
    assert quick.tool_distance == pytest.approx(0.0, abs=1e-15)
    # a rod of 1 kg and 1 m, level: its weight is worth 4.905 N·m, and 3 N·m hold it at 52.3° from there
    falling = make_scenario(arm((1.0,)), brakes=[Brake("j0", 3.0, static_torque=3.0)])
    quick = CompiledStop(falling, rtol=1e-10, atol=1e-12).controlled_stop(
        np.zeros(1), np.zeros(1), np.ones(1)
    )

    def left(angle: float) -> float:
        return 9.81 / 2 * sin(angle) - 3.0 * angle

    assert quick.outcome == "stopped" and quick.travels[0] == pytest.approx(-brentq(left, 0.5, 3.0), rel=1e-6)


def test_files_hold_pose_sense_and_command(scene: str) -> None:
    table = mb.stopping_table(mb.load(scene), speeds={"j0": 2.0, "j1": 6.0}, categories=[0])
    text = "".join(line for line in table.text("csv").splitlines(True) if line[0] != "#")
    for cells, row in zip(csv.DictReader(io.StringIO(text)), table.rows, strict=True):
        assert cells["command"] == row["command"] and int(cells["sense"]) == row["sense"]
        assert [float(cells[f"q {name}"]) for name in row["q"]] == list(row["q"].values())
        assert bool(cells["slips"]) == bool(row["slips"])
    page, said = table.text("html"), call("stop-table", scene, *SPEEDS, "--category", "0", "--commands").out
    for row in table.rows:
        assert escape(row["command"]) in page and row["command"] in said
        assert f"{1e3 * row['time']:.1f}" in said and f"{1e3 * row['rest_time']:.1f}" in said
    assert "j0 slips" in said and "j0 slips" in page
    assert "mbplugin estop" not in call("stop-table", scene, *SPEEDS, "--category", "0").out


def test_the_document_has_the_columns_of_the_table_in_their_order() -> None:
    """Value, type and meaning of a column are one entry."""
    row = schema_of("stop-table")["$defs"]["TableRow"]
    assert list(row["properties"]) == [*COLUMNS, "command"]


def test_a_table_ends_at_its_time_limit(tmp_path: Path) -> None:
    refused = call("stop-table", str(ASSETS / "arm_6r.scene.toml"), "--payload", "5", "--max-seconds", "1e-6")
    assert refused.code == 2 and "the table is not computed within 1e-06 s" in refused.err
    assert "--grid" in refused.err
    # what is measured is read before anything is computed
    measured = tmp_path / "measured.csv"
    measured.write_text("joint,category\n")
    unread = call(
        "stop-table", str(ASSETS / "arm_6r.scene.toml"), "--measured", str(measured), "--max-seconds", "1e-6"
    )
    assert unread.code == 2 and "measured.csv:1: " in unread.err and "within" not in unread.err


WRIST = """<robot name="belt"><link name="rail"/>{links}
<joint name="a" type="revolute"><parent link="rail"/><child link="upper"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="200" velocity="3"/></joint>
<joint name="b" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="0.5 0 0"/><axis xyz="0 1 0"/>
<limit lower="-2.5" upper="2.5" effort="100" velocity="3"/></joint>
<joint name="c" type="revolute"><parent link="lower"/><child link="fore"/><origin xyz="0.3 0 0"/><axis xyz="0 1 0"/>
<limit lower="-2.5" upper="2.5" effort="60" velocity="3"/></joint>
<joint name="w" type="{wrist}"><parent link="fore"/><child link="w1"/><origin xyz="0.3 0 0"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="500" velocity="4"/></joint>
<joint name="v" type="{wrist}"><parent link="w1"/><child link="tool0"/><origin xyz="0.1 0 0"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="500" velocity="5"/>{mimic}</joint></robot>"""
LINK = """<link name="{}"><inertial><origin xyz="0.1 0 0"/><mass value="{}"/>
<inertia ixx="0.02" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


def belt(wrist: str, mimic: str) -> str:
    names = (("upper", 8), ("lower", 5), ("fore", 3), ("w1", 1), ("tool0", 1))
    return WRIST.format(links="".join(LINK.format(*one) for one in names), wrist=wrist, mimic=mimic)


@pytest.mark.long
def test_a_wrist_that_a_belt_couples_is_rigid_and_the_arm_has_its_table() -> None:
    """The same table as with a welded wrist, and stops of the whole robot with the belt, whose wrist brakes hold."""
    coupled = readers.load("belt.urdf", text=belt("revolute", '<mimic joint="w" multiplier="-1"/>'))
    made = mb.stopping_table(coupled, categories=[0])
    welded = mb.stopping_table(readers.load("belt.urdf", text=belt("fixed", "")), categories=[0])
    assert "w, v: taken as rigid in their pose, as couplings tie them." in made.warnings
    for row, same in zip(made.rows, welded.rows, strict=True):
        assert row["time"] == pytest.approx(same["time"], rel=1e-9)
        assert row["tool_distance"] == pytest.approx(same["tool_distance"], rel=1e-9)
        stop = mb.estop(coupled, row["q"], {row["joint"]: row["sense"] * row["speed"]})
        assert stop.joint(row["joint"]).time == pytest.approx(row["time"], rel=1e-5)
        assert abs(stop.joint(row["joint"]).travel) == pytest.approx(row["distance"], rel=1e-5)
    worst = mb.worst_stop(coupled, samples=1, max_seconds=5)
    assert worst.axes == ("a", "b", "c")
    # a belt that couples the wrist to an axis that is stopped
    elbow = readers.load("belt.urdf", text=belt("revolute", '<mimic joint="c"/>'))
    table = mb.stopping_table(elbow, categories=[0])
    assert table.axes == ("a", "b", "c")
    assert "v follows the other joints through couplings and loops" in table.assumptions
