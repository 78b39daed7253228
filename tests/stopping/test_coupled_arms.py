"""Stopping tables and worst stops of arms whose axes are coupled by belts or close loops."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mbplugin as mb
from command_line import call
from mbplugin import readers
from mbplugin.dynamics.tree_model import redundancy
from mbplugin.errors import BadUsage
from mbplugin.stopping.evaluation import evaluate, summarise
from mbplugin.stopping.run import make_scenario, run_stop
from places import ORACLES

G = 9.81
#: Of the palletiser: upper arm, each side of the crank, forearm to the tool (m).
UPPER, CRANK, FORE = 0.4, 0.09, 0.5
LINK = (
    '<link name="{}"><inertial><origin xyz="{} {} {}"/><mass value="{}"/>'
    '<inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
JOINT = (
    '<joint name="{}" type="revolute"><parent link="{}"/><child link="{}"/><origin xyz="{}"/><axis xyz="{}"/>'
    '<limit lower="{}" upper="{}" effort="{}" velocity="{}"/>{}</joint>'
)
#: Mass, centre of mass along the link, and inertia of the moving parts.
PARTS = {
    "upper": (6.0, 0.2, 0.05),
    "crank": (2.0, -0.05, 0.01),
    "rod": (1.0, 0.2, 0.02),
    "fore": (4.0, 0.15, 0.04),
}


def palletiser(folder: Path, loop: bool, engagement: float = 0.05) -> Path:
    """Write a scene: a rod from a crank at the shoulder holds the forearm parallel to the crank.

    Without the ``loop``, couplings of the same joints say the same.
    """
    links = [LINK.format("base", 0, 0, 0.1, 20, i=0.2), LINK.format("column", 0, 0, 0.1, 15, i=0.2)]
    for name, (mass, x, inertia) in PARTS.items():
        place = (0, 0, x) if name in ("upper", "rod") else (x, 0, 0)
        links.append(LINK.format(name, *place, mass, i=inertia))
    joints = [
        JOINT.format("yaw", "base", "column", "0 0 0.3", "0 0 1", -3, 3, 300, 2, ""),
        JOINT.format("shoulder", "column", "upper", "0.1 0 0.1", "0 1 0", 0, 1.65, 400, 2, ""),
        JOINT.format("drive", "column", "crank", "0.1 0 0.1", "0 1 0", -0.5, 0.5, 300, 2, ""),
        JOINT.format("rod_low", "crank", "rod", f"{-CRANK} 0 {CRANK}", "0 1 0", -3.5, 3.5, 0, 9, ""),
        JOINT.format("elbow", "upper", "fore", f"0 0 {UPPER}", "0 1 0", -3.5, 3.5, 0, 9, ""),
        f'<joint name="flange" type="fixed"><parent link="fore"/><child link="tool0"/><origin xyz="{FORE} 0 0"/>'
        "</joint>",
    ]
    links.append('<link name="tool0"/>')
    urdf = f'<robot name="palletiser">{"".join(links + joints)}</robot>'
    closure = f"""
[[closure]]
name = "rod_high"
type = "revolute"
body_a = "rod"
body_b = "fore"
xyz_a = [0, 0, {UPPER}]
xyz_b = [{-CRANK}, 0, {CRANK}]
axis = [0, 1, 0]
"""
    couplings = "".join(
        f"""
[[coupling]]
name = "{joint} follows"
type = "gear"
terms = [
  {{ joint = "{joint}", coefficient = 1.0 }},
  {{ joint = "shoulder", coefficient = {sign} }},
  {{ joint = "drive", coefficient = {-sign} }},
]
"""
        for joint, sign in (("rod_low", -1.0), ("elbow", 1.0))
    )
    brakes = "".join(
        f"""
[[brake]]
joint = "{joint}"
torque = {torque}
delay = 0.02
engagement = {engagement}
"""
        for joint, torque in (("yaw", 90), ("shoulder", 260), ("drive", 150))
    )
    (folder / "arm.urdf").write_text(urdf, encoding="utf-8")
    scene = folder / "arm.scene.toml"
    head = '[[model]]\nfile = "arm.urdf"\nbase = "fixed"\n'
    scene.write_text(head + (closure if loop else couplings) + brakes, encoding="utf-8")
    return scene


class OneAxis:
    """The palletiser with one moving axis, from energies written by hand.

    Angles: of the column, and of the upper arm and the forearm against the upright pose.
    """

    def __init__(self, q: dict[str, float], payload: float) -> None:
        self.q, self.payload = q, payload

    def inertia(self, axis: str) -> float:
        masses = {name: mass for name, (mass, _, _) in PARTS.items()}
        own = {name: inertia for name, (_, _, inertia) in PARTS.items()}
        if axis == "shoulder":
            carried = masses["fore"] + self.payload
            return own["upper"] + own["rod"] + (masses["upper"] + masses["rod"]) * 0.2**2 + carried * UPPER**2
        if axis == "drive":
            return (
                own["crank"]
                + own["fore"]
                + masses["crank"] * 0.05**2
                + masses["rod"] * 2 * CRANK**2
                + masses["fore"] * 0.15**2
                + self.payload * FORE**2
            )
        points = self.points(self.q["shoulder"], self.q["drive"])
        spread = sum(mass * x**2 for mass, (x, _) in points)
        return 0.2 + sum(own.values()) + spread

    def points(self, a: float, d: float) -> list[tuple[float, tuple[float, float]]]:
        """Return masses and their places from the column's axis and above its shoulder, m."""
        up, out = np.array([np.sin(a), np.cos(a)]), np.array([np.cos(d), -np.sin(d)])
        across = np.array([np.sin(d), np.cos(d)])
        at = {
            "upper": 0.2 * up,
            "crank": -0.05 * out,
            "rod": CRANK * (across - out) + 0.2 * up,
            "fore": UPPER * up + 0.15 * out,
        }
        found = [(PARTS[name][0], tuple(place + np.array([0.1, 0.0]))) for name, place in at.items()]
        return [*found, (self.payload, tuple(UPPER * up + FORE * out + np.array([0.1, 0.0])))]

    def pull(self, axis: str, angle: float) -> float:
        """Return the moment of gravity on the axis at its angle, by a derivative of the potential energy."""
        if axis == "yaw":
            return 0.0

        def energy(x: float) -> float:
            now = self.q | {axis: x}
            return sum(mass * G * z for mass, (_, z) in self.points(now["shoulder"], now["drive"]))

        return -(energy(angle + 1e-5) - energy(angle - 1e-5)) / 2e-5

    def stop(self, axis: str, rate: float, torque: float, delay: float) -> tuple[float, float]:
        """Return time and travel to rest: a powered and a braked phase."""
        inertia, q = self.inertia(axis), self.q[axis] + rate * delay

        def slope(t: float, y: Any) -> list[float]:
            return [y[1], (self.pull(axis, y[0]) - torque * np.sign(rate)) / inertia]

        def rest(t: float, y: Any) -> float:
            return float(y[1])

        rest.terminal = True  # type: ignore[attr-defined]
        how: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-12, "method": "DOP853"}
        end = solve_ivp(slope, (0, 5), [q, rate], events=rest, **how)
        return delay + float(end.t[-1]), abs(float(end.y[0, -1]) - self.q[axis])


BRAKES = {"yaw": 90.0, "shoulder": 260.0, "drive": 150.0}


@pytest.mark.long
@pytest.mark.parametrize(("axis", "torque"), BRAKES.items())
def test_the_stops_of_a_palletiser_are_those_of_its_energies_by_hand(
    axis: str, torque: float, tmp_path: Path
) -> None:
    """The brakes of the other axes are strong enough for the inertia that pushes them."""
    scene = palletiser(tmp_path, loop=True, engagement=0.0)
    table = mb.stopping_table(
        scene,
        payload=5.0,
        categories=[0],
        grid={"speed": [10, 50], "payload": [0, 100]},
        brakes=[{"joint": name, "torque": 5000, "delay": 0.02} for name in BRAKES if name != axis],
    )
    assert table.axes == ("yaw", "shoulder", "drive")
    rows = [row for row in table.rows if row["joint"] == axis]
    assert len(rows) == 4
    for row in rows:
        assert row["outcome"] == "stopped"
        hand = OneAxis(row["q"], row["payload"])
        time, travel = hand.stop(axis, row["sense"] * row["speed"], torque, 0.02)
        assert row["time"] == pytest.approx(time, rel=1e-6)
        assert row["distance"] == pytest.approx(travel, rel=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("category", [0, 1])
def test_a_loop_and_the_couplings_that_say_the_same_have_the_same_table(
    category: int, tmp_path: Path
) -> None:
    tables = []
    for loop in (True, False):
        folder = tmp_path / str(loop)
        folder.mkdir()
        scene = palletiser(folder, loop)
        tables.append(
            mb.stopping_table(
                scene,
                payload=5.0,
                categories=[category],
                decelerations={"yaw": 4.0, "shoulder": 3.0, "drive": 3.5},
                grid={"speed": [10], "extension": [66, 100], "payload": [100]},
            )
        )
    for row, same in zip(*(table.rows for table in tables), strict=True):
        assert (row["joint"], row["outcome"]) == (same["joint"], same["outcome"])
        for key in ("time", "distance", "tool_distance", "extension"):
            assert row[key] == pytest.approx(same[key], rel=1e-7, abs=1e-9), (row["joint"], key)


@pytest.mark.long
def test_the_command_of_a_row_repeats_the_stop(tmp_path: Path) -> None:
    scene = palletiser(tmp_path, loop=True)
    table = mb.stopping_table(scene, payload=5.0, categories=[0], grid={"speed": [10]})
    for row in table.rows:
        words = shlex.split(row["command"])
        outcome = call(*words[1:], "--output-format", "json")
        stop = json.loads(outcome.out)
        (joint,) = (one for one in stop["joints"] if one["name"] == row["joint"])
        assert joint["time"] == pytest.approx(row["time"], rel=1e-9)
        assert stop["tool"]["distance"] == pytest.approx(row["tool_distance"], rel=1e-6)


def test_the_poses_of_a_palletiser_close_its_loop_and_reach_out(tmp_path: Path) -> None:
    """From the column the arm reaches farthest with upper arm and forearm level."""
    table = mb.stopping_table(palletiser(tmp_path, loop=True), categories=[0], grid={"speed": [10]})
    for row in table.rows:
        q = row["q"]
        assert q["rod_low"] == pytest.approx(q["shoulder"] - q["drive"], abs=1e-9)
        assert q["elbow"] == pytest.approx(q["drive"] - q["shoulder"], abs=1e-9)
    far = next(row for row in table.rows if row["joint"] == "yaw")
    assert far["extension"] == pytest.approx(0.1 + UPPER + FORE, abs=1e-3)


@pytest.mark.long
def test_worst_stops_of_a_palletiser_are_no_better_than_its_table(tmp_path: Path) -> None:
    scene = palletiser(tmp_path, loop=True)
    speeds: dict[str, Any] = {"speeds": dict.fromkeys(BRAKES, 0.2)}
    worst = mb.worst_stop(scene, payload=5.0, samples=0, max_seconds=4, **speeds)
    table = mb.stopping_table(scene, payload=5.0, categories=[0], **speeds)
    assert "elbow, rod_low follow the other joints through couplings and loops" in worst.assumptions
    assert "elbow, rod_low follow the other joints through couplings and loops" in table.assumptions
    keys = {"time": "time", "travel": "distance", "tool_distance": "tool_distance"}
    for one in worst.found:
        rows = [row for row in table.rows if row["joint"] == one.axis and row["outcome"] == "stopped"]
        assert rows and one.value >= max(row[keys[one.measure]] for row in rows) - 1e-6
        again = mb.estop(scene, one.q, one.qd, payload=one.payload)
        assert again.time == pytest.approx(one.time, rel=1e-6)


#: A planar arm of three links; a belt holds the last link at a constant angle against the ground.
BELT = (
    '<robot name="belt"><link name="base"/>'
    + LINK.format("one", 0.2, 0, 0, 4, i=0.05)
    + LINK.format("two", 0.15, 0, 0, 2, i=0.02)
    + LINK.format("tool0", 0.05, 0, 0, 1, i=0.005)
    + JOINT.format("a", "base", "one", "0 0 0.5", "0 1 0", -2, 2, 200, 2, "")
    + JOINT.format("b", "one", "two", "0.4 0 0", "0 1 0", -2, 2, 100, 2, "")
    + JOINT.format(
        "c", "two", "tool0", "0.3 0 0", "0 1 0", -4, 4, 50, 4, '<mimic joint="{}" multiplier="-1"/>'
    )
    + "</robot>"
)


@pytest.mark.long
def test_a_belt_to_an_axis_is_carried_along() -> None:
    """The last link keeps its angle against the second: it moves as if it had no inertia of its own."""
    arm = readers.load("belt.urdf", text=BELT.format("b"))
    table = mb.stopping_table(
        arm, categories=[0], brakes=[{"joint": n, "torque": t} for n, t in (("a", 900), ("b", 40))]
    )
    assert table.axes == ("a", "b")
    row = next(row for row in table.rows if row["joint"] == "b")
    # the tool's link translates with the tip of the second link
    inertia = 0.02 + 2 * 0.15**2 + 1 * (0.3**2)
    assert row["outcome"] == "stopped"

    def slope(t: float, y: Any) -> list[float]:
        angle = row["q"]["a"] + y[0]
        load = (2 * 0.15 + 1 * 0.3) * G * np.cos(angle)
        return [y[1], (load - row["sense"] * 40) / inertia]

    def rest(t: float, y: Any) -> float:
        return float(y[1])

    rest.terminal = True  # type: ignore[attr-defined]
    start = [row["q"]["b"], row["sense"] * row["speed"]]
    end = solve_ivp(slope, (0, 2), start, events=rest, rtol=1e-11, atol=1e-12)
    assert row["time"] == pytest.approx(float(end.t[-1]), rel=1e-6)


def test_an_arm_that_its_brakes_do_not_hold_is_refused(tmp_path: Path) -> None:
    scene = palletiser(tmp_path, loop=True)
    text = scene.read_text(encoding="utf-8")
    arm = (
        (tmp_path / "arm.urdf")
        .read_text(encoding="utf-8")
        .replace('effort="300" velocity="2"', 'effort="0" velocity="2"')
    )
    (tmp_path / "arm.urdf").write_text(arm, encoding="utf-8")
    before, _, _ = text.partition('\n[[brake]]\njoint = "drive"')
    scene.write_text(before, encoding="utf-8")
    with pytest.raises(BadUsage, match="have no brake"):
        mb.stopping_table(scene)
    outcome = call("stop-table", str(scene))
    assert outcome.code == 2 and "need arms that their brakes hold" in outcome.err


@pytest.mark.long
def test_axes_move_downwards_and_their_assumed_ramps_carry_what_follows(tmp_path: Path) -> None:
    """Effort over inertia, with the inertias of all parts that an axis moves; the second and third axis go down."""
    scene = palletiser(tmp_path, loop=True)
    table = mb.stopping_table(
        scene, payload=5.0, categories=[1], grid={"speed": [5], "extension": [100], "payload": [100]}
    )
    efforts = {"yaw": 300.0, "shoulder": 400.0, "drive": 300.0}
    assert {row["joint"] for row in table.rows} == set(efforts)
    for row in table.rows:
        hand = OneAxis(row["q"], row["payload"])
        axis = row["joint"]
        assert row["deceleration"] == pytest.approx(efforts[axis] / hand.inertia(axis), rel=1e-6)
        assert row["sense"] * hand.pull(axis, row["q"][axis]) >= 0.0


def with_crank(folder: Path, place: str, at: str) -> Path:
    """Write the palletiser with the end of its crank at another place, as text of the URDF and of the scene."""
    scene = palletiser(folder, loop=True)
    for file, old, new in (
        (scene, f"[{-CRANK}, 0, {CRANK}]", at),
        (folder / "arm.urdf", f"{-CRANK} 0 {CRANK}", place),
    ):
        file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    return scene


@pytest.mark.long
def test_poses_keep_the_limits_of_followers_and_stay_off_singular_ones(tmp_path: Path) -> None:
    """With the crank level, the parallelogram is flat where the arm reaches farthest; the elbow ends before."""
    scene = with_crank(tmp_path, f"{-CRANK} 0 0", f"[{-CRANK}, 0, 0]")
    grid = {"speed": [5], "payload": [100]}
    near = [row["q"] for row in mb.stopping_table(scene, categories=[0], grid=grid).rows]
    assert all(abs(q["shoulder"] - q["drive"] - np.pi / 2) > 5e-3 for q in near)
    urdf = tmp_path / "arm.urdf"
    text = urdf.read_text(encoding="utf-8")
    urdf.write_text(text.replace('lower="-3.5" upper="3.5"', 'lower="-1.1" upper="1.1"'), encoding="utf-8")
    for row in mb.stopping_table(scene, categories=[0], grid=grid).rows:
        assert abs(row["q"]["elbow"]) <= 1.1 + 1e-9 and abs(row["q"]["rod_low"]) <= 1.1 + 1e-9


@pytest.mark.long
def test_a_parallelogram_that_is_drawn_flat_is_told_to_move(tmp_path: Path) -> None:
    """At a flat pose nothing determines how its joints follow, though their motor has a brake."""
    scene = with_crank(tmp_path, f"0 0 {-CRANK}", f"[0, 0, {-CRANK}]")
    refused = call("stop-table", str(scene))
    assert refused.code == 2 and "do not determine how" in refused.err and "no brake" not in refused.err
    bent = call("stop-table", str(scene), "--category", "0", "--q", "shoulder=0.8,drive=0")
    assert bent.code == 0, bent.err


def limited(folder: Path, *limits: tuple[str, float, float]) -> Path:
    """Write the palletiser with its loop, with other limits of some joints."""
    scene, arm = palletiser(folder, loop=True), folder / "arm.urdf"
    text = arm.read_text(encoding="utf-8")
    for joint, lower, upper in limits:
        before, name, after = text.partition(f'<joint name="{joint}"')
        head, _, tail = after.partition("<limit ")
        rest = tail[tail.index(" effort") :]
        text = f'{before}{name}{head}<limit lower="{lower}" upper="{upper}"{rest}'
    arm.write_text(text, encoding="utf-8")
    return scene


@pytest.mark.long
def test_a_loop_whose_zero_pose_is_outside_the_limits_starts_inside_and_closed(tmp_path: Path) -> None:
    """The forearm follows the crank: elbow = drive − shoulder."""
    scene = limited(tmp_path, ("drive", 0.1, 0.5), ("elbow", 0.1, 3.0))
    stop = mb.estop(scene, qd={"yaw": 1.0})
    q = dict(zip(mb.load(scene).mechanism.q_names, stop.trajectory.q[0], strict=True))
    assert q["drive"] == pytest.approx(0.3) and 0.0 <= q["shoulder"] <= 1.65 and 0.1 <= q["elbow"] <= 3.0
    assert q["elbow"] == pytest.approx(q["drive"] - q["shoulder"], abs=1e-9)
    for command in ("estop", "stop-table"):
        done = call(command, str(scene), *(("--qd", "yaw=1") if command == "estop" else ()))
        said = " ".join(done.out.replace("\n!", " ").split())
        assert done.code == 0
        assert "2 joints inside their limits, as the file's pose is outside the limits (--q)" in said
        assert f"drive at 0.3 rad, elbow at {q['elbow']:.4g} rad, and the loops are closed there" in said


def test_a_stated_coordinate_outside_its_limits_is_not_moved(tmp_path: Path) -> None:
    scene = limited(tmp_path, ("drive", 0.1, 0.5))
    with pytest.raises(BadUsage, match="'drive' is at 0, below its lower limit"):
        mb.estop(scene, q={"drive": 0.0}, qd={"yaw": 1.0})


def test_a_loop_without_a_pose_inside_its_limits_says_which_joint_is_outside(tmp_path: Path) -> None:
    scene = limited(tmp_path, ("drive", 0.1, 0.5), ("elbow", 2.5, 3.0), ("shoulder", 0.0, 0.1))
    with pytest.raises(BadUsage, match="is at 0, below its lower limit"):
        mb.estop(scene, qd={"yaw": 1.0})


@pytest.mark.long
def test_a_table_of_a_platform_on_six_legs_repeats_the_poses_of_its_stops() -> None:
    """A motion starts with closed loops, which differ from the pose of a row by rounding."""
    table = mb.stopping_table(ORACLES / "stewart_6UPS.sdf", axes=["p0"], categories=[0], payload=0)
    assert {row["joint"] for row in table.rows} == {"p0"}


@pytest.mark.parametrize(
    ("mimics", "p"),
    [
        ({}, 0),
        ({"c": "a"}, 0),
        ({"c": "a", "d": "b"}, 0),
        ({"c": "a", "d": "a"}, 0),
        ({"c": "a", "a": "c"}, 1),
    ],
    ids=str,
)
def test_couplings_without_a_common_joint_have_no_redundant_row(mimics: dict[str, str], p: int) -> None:
    """Rank of the rows in joint rates, from their coefficients."""
    names = "abcd"
    joints = "".join(
        JOINT.format(
            name, f"l{k}", f"l{k + 1}", "0.3 0 0", "0 1 0", -2, 2, 50, 2,
            f'<mimic joint="{mimics[name]}" multiplier="1"/>' if name in mimics else "",
        )
        for k, name in enumerate(names)
    )  # fmt: skip
    links = "".join(LINK.format(f"l{k}", 0.15, 0, 0, 1, i=0.1) for k in range(5))
    arm = readers.load("arm.urdf", text=f'<robot name="arm">{links}{joints}</robot>', base="fixed").mechanism
    rows = [[(n == own) - float(n == led) for n in names] for own, led in mimics.items()]
    rank = np.linalg.matrix_rank(np.array(rows).reshape(-1, 4))
    assert len(rows) - rank == p == redundancy(arm, np.array([0.3, -0.2, 0.5, 0.1]), None, 1e-4)


def test_the_instant_at_which_a_joint_rests_is_as_accurate_as_the_integration(tmp_path: Path) -> None:
    """A search integrates roughly: the drive rests within its tolerance. The invariants of the motion hold as well."""
    pose = {"yaw": -2.036087947, "shoulder": 1.600376932, "drive": 0.016068586}
    scenario = make_scenario(palletiser(tmp_path, loop=False), q=pose, qd={"yaw": -2.0})
    rests = []
    for rtol in (1e-6, 1e-10):
        motion = run_stop(replace(scenario, rtol=rtol, atol=1e-2 * rtol))
        (event,) = (e for e in motion.events if e.kind == "stick" and e.joint == "drive.rz")
        k = int(np.flatnonzero(motion.time == event.time)[0])
        rests.append(abs(float(motion.qd[k, motion.mechanism.qd_names.index("drive")])))
    assert rests[0] < 2e-5 and rests[1] < 1e-10


def test_the_numbers_of_a_stop_in_a_search_are_those_of_its_report(tmp_path: Path) -> None:
    scene = palletiser(tmp_path, loop=True)
    scenario = make_scenario(scene, qd={"shoulder": 1.0, "drive": 0.3})
    motion = run_stop(scenario)
    report, found = evaluate(scenario, motion), summarise(scenario, motion)
    assert (found.outcome, found.time) == (report.outcome, report.time)
    assert found.tool_distance == report.tool.distance > 0.0
    assert found.tool_displacement == report.tool.displacement
    for values, key in (
        (found.times, "time"),
        (found.travels, "travel"),
        (found.reaction_travels, "reaction_travel"),
        (found.back, "back"),
    ):
        assert values.tolist() == [getattr(joint, key) for joint in report.joints]
