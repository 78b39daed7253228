"""A robot whose file states no brake and no effort limit gets assumed brakes, which are said before any number."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import call
from mbplugin.errors import BadUsage
from mbplugin.stopping.scenario import with_assumed_drives
from mbplugin.stopping.sweep import sweep_plan

G = 9.81
BODY = (
    '<inertial><origin xyz="{0} 0 0"/><mass value="{1}"/>'
    '<inertia ixx="{2}" ixy="0" ixz="0" iyy="{2}" iyz="0" izz="{2}"/></inertial>'
)


def arm(limit: str = "", second: str = "revolute") -> str:
    """Two links of 2 kg and 1 kg, 0.5 m long, with centres of mass at 0.2 m and 0.3 m, on a base that is fixed."""
    return f"""<robot name="arm"><link name="world"/><link name="a">{BODY.format(0.2, 2, 0.01)}</link>
      <link name="b">{BODY.format(0.3, 1, 0.02)}</link>
      <joint name="j1" type="revolute"><parent link="world"/><child link="a"/><axis xyz="0 1 0"/>{limit}</joint>
      <joint name="j2" type="{second}"><parent link="a"/><child link="b"/><origin xyz="0.5 0 0"/><axis xyz="0 1 0"/>
      {limit}</joint></robot>"""


def wheels() -> str:
    wheel = BODY.format(0, 1, 0.004)
    sides = "".join(
        f"""<link name="{side}_wheel">{wheel}</link><joint name="{side}" type="continuous"><parent link="base"/>
        <child link="{side}_wheel"/><origin xyz="0 {y} 0"/><axis xyz="0 1 0"/></joint>"""
        for side, y in (("left", 0.2), ("right", -0.2))
    )
    return f'<robot name="cart"><link name="base">{BODY.format(0, 9, 0.1)}</link>{sides}</robot>'


def written(folder: Path, text: str) -> str:
    (folder / "robot.urdf").write_text(text)
    return str(folder / "robot.urdf")


def efforts(text: str, folder: Path, **options: object) -> dict[str, float]:
    scene = mb.load(written(folder, text))
    return {p.name: p.freedoms[0].effort for p in with_assumed_drives(scene).mechanism.pairs if p.kind.free}  # type: ignore[union-attr]


LIMIT = '<limit lower="-2" upper="2" effort="0" velocity="{}"/>'


def test_a_brake_holds_twice_what_holds_the_stretched_links(tmp_path: Path) -> None:
    found = efforts(arm(LIMIT.format(1)), tmp_path)
    assert found == pytest.approx({"j1": 2 * G * (2 * 0.2 + 1 * 0.8), "j2": 2 * G * 1 * 0.3})


def test_a_fast_joint_has_the_brake_that_stops_it_in_half_a_second(tmp_path: Path) -> None:
    found = efforts(arm(LIMIT.format(40)), tmp_path)
    inertias = {"j1": 2 * 0.2**2 + 0.01 + 1 * 0.8**2 + 0.02, "j2": 1 * 0.3**2 + 0.02}
    assert found == pytest.approx({name: inertia * 40 / 0.5 for name, inertia in inertias.items()})


def test_a_wheel_is_balanced_and_a_slide_reaches_its_end(tmp_path: Path) -> None:
    assert efforts(wheels(), tmp_path) == pytest.approx({"left": 0.008, "right": 0.008})
    found = efforts(arm(LIMIT.format(1), "prismatic"), tmp_path)
    # the slide moves by 2 m at most; itself, it bears the weight of its link
    assert found == pytest.approx({"j1": 2 * G * (2 * 0.2 + 1 * (0.5 + 2 + 0.3)), "j2": 2 * G * 1})


def test_it_does_not_depend_on_the_pose_of_the_file(tmp_path: Path) -> None:
    """The distance of stretched links bounds what gravity pulls with in any pose."""
    text = arm(LIMIT.format(1))
    folded = text.replace('<origin xyz="0.5 0 0"/>', '<origin xyz="0.5 0 0" rpy="0 2 0"/>')
    assert efforts(folded, tmp_path) == pytest.approx(efforts(text, tmp_path))


@pytest.mark.parametrize("stated", ["effort", "brake"])
def test_what_is_stated_of_one_joint_leaves_the_others_as_they_are(stated: str, tmp_path: Path) -> None:
    text = arm(LIMIT.format(1))
    if stated == "effort":
        text = text.replace('effort="0"', 'effort="5"', 1)
        scene = mb.load(written(tmp_path, text))
        assert with_assumed_drives(scene) is scene
    else:
        scene = mb.load(written(tmp_path, text))
        brakes = [{"joint": "j1", "torque": 50}]
        assert with_assumed_drives(scene, brakes) is scene
        report = mb.estop(scene, brakes=brakes)
        assert [brake.joint for brake in report.scenario.brakes] == ["j1"]


COMMANDS = {
    "estop": ("estop", "--qd", "j1=1"),
    "stop-table": ("stop-table",),
    "worst-stop": ("worst-stop", "--max-seconds", "2"),
}


@pytest.mark.long_after(6)
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_every_command_says_it_in_its_first_lines_and_can_refuse_it(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    robot = written(tmp_path, arm(LIMIT.format(1)))
    done = call(command[0], robot, *command[1:])
    assert done.code == 0
    first = [line for line in done.out.splitlines() if line][:5]
    top = " ".join(" ".join(first).replace("!", "").split())
    assert re.search(r"(brakes|assumed are) j1 23.5 N·m, j2 5.89 N·m", top) and "(--brake" in top
    assert "No brake and no effort limit is stated: assumed are j1 23.5 N·m" in done.out
    assert "An assumed brake holds 2 times" in " ".join(done.out.replace("!", "").split())
    assert "of the file" not in done.out and "UR5" not in done.out
    refused = call(command[0], robot, *command[1:], "--require-brakes")
    assert refused.code == 2 and "are assumed" in refused.err


def test_all_commands_have_the_same_brakes_and_a_row_repeats(tmp_path: Path) -> None:
    robot = written(tmp_path, arm(LIMIT.format(1)))
    table = mb.stopping_table(robot, payload=0.5)
    row = next(row for row in table.rows if row["category"] == 0 and row["payload_percent"] == 100)
    again = call(*str(row["command"]).split()[1:])
    assert again.code == 0 and "assumed are j1 23.5 N·m, j2 5.89 N·m" in " ".join(
        again.out.replace("!", "").split()
    )
    plan = sweep_plan(robot, 2)
    assert {b.joint: b.law.sliding for b in plan.scenario.brakes} == pytest.approx(
        {"j1": 23.544, "j2": 5.886}
    )


@pytest.mark.long_after(1)
@pytest.mark.parametrize("command", ["stop-table", "worst-stop"])
def test_velocity_limits_that_no_robot_reaches_are_said_first_unless_speeds_are_stated(
    command: str, tmp_path: Path
) -> None:
    """A field that was filled with a large number, and a slider at the speed of a car, which is possible."""
    said = {}
    stated = "j1=1" if command == "stop-table" else "j1=1,j2=1"
    for limit, more in ((101.0, ()), (99.0, ()), (5e4, ("--speed", stated))):
        robot = written(tmp_path, arm(LIMIT.format(limit)))
        done = call(command, robot, *more, *(("--max-seconds", "1") if command == "worst-stop" else ()))
        assert done.code == 0
        said[limit] = " ".join(" ".join([x for x in done.out.splitlines() if x][:5]).replace("!", "").split())
    assert re.search(
        r"full speeds j1 101 rad/s(, j2 101 rad/s)? from the file, which no robot reaches \(--speed\)",
        said[101.0],
    )
    assert "no robot" not in said[99.0] + said[5e4]
    slider = arm(LIMIT.format(40), "prismatic")
    assert "no robot" not in call("stop-table", written(tmp_path, slider)).out


@pytest.mark.long
def test_a_table_of_wheels_without_any_limit_says_its_speeds(tmp_path: Path) -> None:
    robot = written(tmp_path, wheels())
    for command in (("stop-table", robot), ("worst-stop", robot, "--max-seconds", "2")):
        done = call(*command)
        assert done.code == 0
        first = " ".join([line for line in done.out.splitlines() if line][:5])
        first = " ".join(first.replace("!", "").split())
        assert "taken as fixed to the ground (--base free)" in first
        assert "full speeds right 1 rad/s (--speed)" in first
        assert "brakes left 0.008 N·m" in first
    stated = call("stop-table", robot, "--speed", "right=3")
    assert stated.code == 0 and "velocity limit" not in stated.out
    # a stop at rest, of a cart that nothing holds
    assert call("estop", robot).out.startswith("cart falls")


def test_what_moves_no_mass_has_no_brake(tmp_path: Path) -> None:
    empty = written(tmp_path, arm(LIMIT.format(1)).replace('mass value="2"', 'mass value="0"'))
    scene = mb.load(empty)
    assert set(with_assumed_drives(scene).mechanism.assumed_drives) == {"j1", "j2"}  # type: ignore[union-attr]
    light = (
        arm(LIMIT.format(1))
        .replace('mass value="2"', 'mass value="0"')
        .replace('mass value="1"', 'mass value="0"')
    )
    light = light.replace('"0.01"', '"0"').replace('"0.02"', '"0"')
    with pytest.raises(BadUsage, match="no joint of 'arm' has a brake or an effort limit"):
        mb.estop(written(tmp_path, light))
    fixed = arm().replace("revolute", "fixed")
    with pytest.raises(BadUsage, match="no joint of 'arm' can move"):
        mb.estop(written(tmp_path, fixed))
    assert np.isinf(mb.load(written(tmp_path, wheels())).mechanism.pair_by_name["left"].freedoms[0].effort)
