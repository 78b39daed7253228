"""Tables of robots with brakes on some joints only, and of robots whose file leaves the base free."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

import mbplugin as mb
from command_line import call
from mbplugin.errors import BadUsage

#: Two driven wheels, and two that only roll: one of them on a steered fork, whose axis is upright.
CART = """<robot name='cart'>
  <link name='chassis'><inertial><mass value='20'/>
    <inertia ixx='0.4' iyy='0.5' izz='0.8' ixy='0' ixz='0' iyz='0'/></inertial></link>
  <link name='fork'><inertial><origin xyz='0.05 0 -0.1'/><mass value='2'/>
    <inertia ixx='0.01' iyy='0.01' izz='0.02' ixy='0' ixz='0' iyz='0'/></inertial></link>
  {wheels}
  <joint name='steer' type='revolute'><parent link='chassis'/><child link='fork'/>
    <origin xyz='0.4 0 -0.1'/><axis xyz='0 0 1'/><limit lower='-0.5' upper='0.5' effort='3' velocity='1'/></joint>
</robot>"""


def _wheel(name: str, parent: str, place: str, kind: str, limit: str) -> str:
    return (
        f"<link name='{name}'><inertial><mass value='1'/><inertia ixx='0.01' iyy='0.02' izz='0.01' ixy='0' ixz='0' "
        f"iyz='0'/></inertial></link><joint name='{name}_axle' type='{kind}'><parent link='{parent}'/>"
        f"<child link='{name}'/><origin xyz='{place}'/><axis xyz='0 1 0'/>{limit}</joint>"
    )


def cart(folder: Path, kind: str = "continuous") -> Path:
    driven = "<limit effort='5' velocity='2'/>"
    wheels = (
        _wheel("left_wheel", "chassis", "0 0.3 -0.2", "continuous", driven),
        _wheel("right_wheel", "chassis", "0 -0.3 -0.2", "continuous", driven),
        _wheel("rear_wheel", "chassis", "-0.4 0 -0.2", kind, ""),
        _wheel("front_wheel", "fork", "0.05 0 -0.1", kind, ""),
    )
    file = folder / f"cart_{kind}.urdf"
    file.write_text(CART.format(wheels="".join(wheels)), encoding="utf-8")
    return file


def test_wheels_without_a_brake_are_rigid_and_said_first(tmp_path: Path) -> None:
    """The table is that of the cart whose wheels are fixed; upright forks turn wheels about no axis of their own."""
    table = mb.stopping_table(cart(tmp_path))
    assert table.axes == ("steer",) and table.tool == "front_wheel"
    assert "front_wheel_axle: taken as rigid in its pose, as it has no brake." in table.warnings
    assert "rear_wheel_axle: taken as rigid in its pose, as it lies beside the arm." in table.warnings
    expected = mb.stopping_table(cart(tmp_path, "fixed"), tool="front_wheel")
    keys = ("axis", "category", "time", "distance", "tool_distance", "outcome")
    assert len(table.rows) == 10
    assert [[row[key] for key in keys] for row in table.rows] == [
        [row[key] for key in keys] for row in expected.rows
    ]
    first = " ".join(call("stop-table", str(cart(tmp_path))).out.replace("\n!", "").split()[:80])
    assert "chassis taken as fixed to the ground (--base free)" in first and "1 unbraked joint rigid" in first


def test_the_command_of_a_row_holds_the_base_as_the_table_does(tmp_path: Path) -> None:
    row = mb.stopping_table(cart(tmp_path), categories=[0]).rows[0]
    words = shlex.split(str(row["command"]))
    assert words[0] == "mbplugin" and "--base" in words
    done = call(*words[1:], "--output-format", "json", "--output", str(tmp_path / "stop.json"))
    assert done.code == 0
    stop = json.loads((tmp_path / "stop.json").read_text(encoding="utf-8"))
    steer = next(joint for joint in stop["joints"] if joint["name"] == "steer")
    assert steer["time"] == pytest.approx(row["time"], rel=1e-6)
    assert abs(steer["travel"]) == pytest.approx(row["distance"], rel=1e-6)


def test_a_joint_without_a_brake_is_no_axis(tmp_path: Path) -> None:
    with pytest.raises(BadUsage, match=r"'front_wheel_axle' has no brake; state its brake with --brake"):
        mb.stopping_table(cart(tmp_path), axes=["front_wheel_axle"])
    braked = mb.stopping_table(
        cart(tmp_path),
        axes=["front_wheel_axle"],
        speeds={"front_wheel_axle": 1.0},
        brakes=[{"joint": "front_wheel_axle", "torque": 2.0}],
        categories=[0],
    )
    # 0.02 kg·m² at 1 rad/s against 2 N·m, which act at once
    assert braked.rows[0]["time"] == pytest.approx(0.01, rel=1e-6)


#: A torso with an arm of two links; {free} may leave it free, and {other} is another body.
WALKER = """<mujoco model='walker'><compiler angle='radian'/><worldbody>{other}
  <body name='torso' pos='0 0 1'>{free}<geom type='box' size='.1 .1 .2' mass='10'/>
    <body name='upper' pos='0 .15 .1'>
      <joint name='shoulder' axis='0 1 0' limited='true' range='-2 2' actuatorfrcrange='-40 40'/>
      <geom type='capsule' fromto='0 0 0 .3 0 0' size='.04' mass='2'/>
      <body name='lower' pos='.3 0 0'>
        <joint name='elbow' axis='0 1 0' limited='true' range='-2 2' actuatorfrcrange='-20 20'/>
        <geom type='capsule' fromto='0 0 0 .3 0 0' size='.03' mass='1'/></body></body></body>
</worldbody></mujoco>"""
CUBE = "<body name='cube' pos='1 0 .1'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
SPEEDS = {"shoulder": 1.0, "elbow": 1.0}


def walker(folder: Path, *, free: bool, cube: bool = False) -> Path:
    file = folder / f"walker_{free}_{cube}.xml"
    text = WALKER.format(free="<freejoint/>" * free, other=CUBE * cube)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("free", "cube", "held"),
    [
        (True, False, "torso is taken as fixed to the ground"),
        (False, True, "cube is taken as fixed to the ground"),
        (True, True, "cube, torso are taken as fixed to the ground"),
    ],
)
def test_a_base_that_an_mjcf_file_leaves_free_is_held(
    free: bool, cube: bool, held: str, tmp_path: Path
) -> None:
    """As on a stand: the table is that of the same file without the free joint."""
    own = {"tool": "lower", "speeds": {"shoulder": 1.0}}
    table = mb.stopping_table(walker(tmp_path, free=free, cube=cube), **own)
    expected = mb.stopping_table(walker(tmp_path, free=False), **own)
    keys = ("joint", "category", "time", "distance", "tool_distance", "outcome")
    assert len(table.rows) == 10
    assert [[row[key] for key in keys] for row in table.rows] == [
        [row[key] for key in keys] for row in expected.rows
    ]
    assert f"{held}: --base free (base='free') changes that." in table.warnings
    assert all("--base fixed" in str(row["command"]) for row in table.rows)
    assert not any("--base" in str(row["command"]) for row in expected.rows)


@pytest.mark.parametrize("command", ["stop-table", "worst-stop"])
def test_a_base_that_the_call_frees_stays_free(command: str, tmp_path: Path) -> None:
    done = call(command, str(walker(tmp_path, free=True)), "--base", "free")
    assert done.code == 2 and "its base is free; fix its base with --base fixed" in done.err
    moved = f"[[model]]\nfile = '{walker(tmp_path, free=True).name}'\nbase = 'free'\n"
    scene = tmp_path / "walker.scene.toml"
    scene.write_text(moved, encoding="utf-8")
    done = call(command, str(scene))
    assert done.code == 2 and "its base is free; fix its base with --base fixed" in done.err


def test_worst_stops_hold_such_a_base(tmp_path: Path) -> None:
    own = {"tool": "lower", "speeds": SPEEDS, "samples": 20, "seed": 3}
    found = [mb.worst_stop(walker(tmp_path, free=free), **own) for free in (True, False)]
    assert [one.value for one in found[0].found] == [one.value for one in found[1].found]
    assert found[0].axes == ("shoulder", "elbow")
