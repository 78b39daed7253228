"""The tool that is taken where none is named: no finger, and the report says which link and why."""

from __future__ import annotations

import importlib.metadata
import json
import re
import shlex
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS, below_the_verdict, call
from mbplugin import readers
from mbplugin.errors import BadUsage
from mbplugin.model.mechanism import Body
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Pose
from mbplugin.report.documents.part import schema_of
from mbplugin.report.html.chapters import distance_chapter, table_chapter
from mbplugin.report.html.view import grade
from mbplugin.stopping.defaults import default_tool
from rod_arms import arm

LINK = """<link name="{0}"><inertial><origin xyz="0.1 0 0"/><mass value="{1}"/>
<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/><origin xyz="{4} 0 0"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="50" velocity="1"/>{5}</joint>"""


def robot(*joints: tuple[str, ...]) -> str:
    """A robot of (name, type, parent, child, mimicked joint)."""
    names = dict.fromkeys(name for joint in joints for name in joint[2:4] if name != "world")
    links = [LINK.format(name, 0.1 if "finger" in name else 1.0) for name in names]
    progress = [JOINT.format(*j[:4], 0.3, f'<mimic joint="{j[4]}"/>' if len(j) > 4 else "") for j in joints]
    return f'<robot name="r"><link name="world"/>{"".join(links)}{"".join(progress)}</robot>'


ARM = (
    ("j0", "revolute", "world", "upper"),
    ("j1", "revolute", "upper", "lower"),
    ("flange", "fixed", "lower", "hand"),
)
FINGERS = (
    ("grip", "prismatic", "hand", "left_finger"),
    ("grip2", "prismatic", "hand", "right_finger", "grip"),
)


@pytest.mark.long
@pytest.mark.parametrize("hand", [(), (("tcp", "fixed", "hand", "tool0"),)])
def test_the_tool_of_a_gripper_robot_is_its_hand(hand: tuple[tuple[str, ...], ...], tmp_path: Path) -> None:
    path = tmp_path / "gripper.urdf"
    path.write_text(robot(*ARM, *FINGERS, *hand), encoding="utf-8")
    expected = "tool0" if hand else "hand"
    found = json.loads(call("estop", str(path), "--qd", "j0=0.5", "--output-format", "json").out)
    assert found["tool"]["body"] == expected
    (said,) = [note for note in found["notes"] if note.startswith("no tool given")]
    assert f"no tool given; using {expected}, where" in said and "gripper (grip, grip2)" in said
    named = ("estop", str(path), "--qd", "j0=0.5", "--tool", "right_finger", "--output-format", "json")
    found = json.loads(call(*named).out)
    assert found["tool"]["body"] == "right_finger"
    assert not any(note.startswith("no tool given") for note in found["notes"])


def tool_of(*joints: tuple[str, ...]) -> str:
    return default_tool(readers.load("r.urdf", text=robot(*joints)).mechanism).body


def test_fingers_without_a_mimic_and_of_two_joints_each() -> None:
    arm = (*ARM[:2], ("j2", "revolute", "lower", "wrist"), ("flange", "fixed", "wrist", "hand"))
    fingers = [
        (f"{side}{k}", "revolute", f"{side}_finger{k - 1}" if k else "hand", f"{side}_finger{k}")
        for side in ("left", "right")
        for k in range(2)
    ]
    assert tool_of(*arm, *fingers) == "hand"


LONGER = (*ARM[:2], ("j2", "revolute", "lower", "wrist"), ("flange", "fixed", "wrist", "palm"))


@pytest.mark.parametrize(
    ("joint", "link", "tool"),
    [
        ("gripper", "jaw", "palm"),
        ("j3", "moving_jaw_v1", "palm"),
        ("jointGripper", "gripperMover", "palm"),
        # a wrist that carries a gripper turns it, and a joint without such a name is one of the arm
        ("gripper_roll", "gripper_base", "gripper_base"),
        ("j3", "last", "last"),
    ],
)
def test_a_gripper_with_one_moving_jaw_is_none_of_the_arm(joint: str, link: str, tool: str) -> None:
    assert tool_of(*LONGER, (joint, "revolute", "palm", link)) == tool


def test_a_fingertip_that_is_fixed_to_the_hand_is_no_tool() -> None:
    tips = [(f"fix{k}", "fixed", "palm", f"link_finger_tip_{k}") for k in (1, 2)]
    assert tool_of(*LONGER, ("end", "fixed", "palm", "end_effector"), *tips) == "end_effector"


def test_what_branches_at_its_root_or_not_at_all_has_its_tool_farthest_out() -> None:
    assert tool_of(*ARM) == "hand"
    legs = [
        (f"{side}{k}", "revolute", f"{side}leg{k - 1}" if k else "trunk", f"{side}leg{k}")
        for side in ("left", "right")
        for k in range(3)
    ]
    assert tool_of(("waist", "revolute", "world", "trunk"), *legs) == "rightleg2"
    # a gripper by itself: its base is the ground, and its right finger follows the left one
    assert tool_of(("mount", "fixed", "world", "hand"), *FINGERS) == "left_finger"
    six = default_tool(mb.load(ASSETS / "arm_6r.scene.toml").mechanism)
    assert six.body == "flange" and six.reason == "the outermost link"


def test_links_that_a_loop_joins_again_are_no_fingers() -> None:
    """A rod beside the fourth link of an arm, as in a parallelogram: both leave the third one."""
    mech = arm((1.0, 1.0, 1.0, 1.0, 1.0))
    rod, here = Body("rod", 1.0, np.zeros(3), np.eye(3)), Pose.identity()
    beside = Pair("beside", "revolute", "b2", "rod", here, here)
    open_ended = replace(mech, bodies=(*mech.bodies, rod), pairs=(*mech.pairs, beside))
    assert default_tool(open_ended).body == "b2"
    closed = replace(open_ended, pairs=(*open_ended.pairs, Pair("c", "revolute", "b3", "rod", here, here)))
    assert default_tool(closed).body == "b4"


def test_the_tool_of_a_panda_is_no_finger() -> None:
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("needs example-robot-data")
    path = next(Path(str(f.locate())) for f in files if str(f).endswith("/panda.urdf"))
    found = default_tool(mb.load(path, base="fixed").mechanism)
    assert found.body in ("panda_hand", "panda_hand_tcp") and "panda_finger_joint1" in found.reason


PENDULUM = """<robot name="pend"><link name="world"/><link name="arm"><inertial><origin xyz="0.4 0 0"/><mass value="5"/>
<inertia ixx="0.01" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="world"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="60" velocity="2"/></joint></robot>"""
STILL = "lies on the axis of j and does not move with it"
BRAKE = ("--brake", "j:torque=60,delay=0.015")
TERMS = {"v_h": 1.6, "T_r": 0.1, "C": 0.2, "Z_d": 0.05, "Z_r": 0.01}


@pytest.fixture
def pendulum(tmp_path: Path) -> str:
    path = tmp_path / "pend.urdf"
    path.write_text(PENDULUM, encoding="utf-8")
    return str(path)


@pytest.mark.long
def test_a_tool_point_on_the_axis_that_turns_the_arm_is_never_green(pendulum: str, tmp_path: Path) -> None:
    """The distance of a point 0.8 m out, by hand: its speed 0.8 ω, its way 0.8 times the travel."""
    run, stop = ("estop", pendulum, "--base", "fixed", "--qd", "j=1.5", *BRAKE), tmp_path / "stop.json"
    text = call(*run).out
    assert below_the_verdict(text).startswith("! NOT THE WHOLE MOTION") and STILL in " ".join(
        text.replace("\n! ", " ").split()
    )
    call(*run, "--output", str(stop))
    document = json.loads(stop.read_text())
    jsonschema.validate(document, schema_of("estop"))
    assert any(STILL in note for note in document["notes"]) and document["tool_choice"]["still_on"] == ["j"]
    scene = mb.load(pendulum, base="fixed")
    brakes = [{"joint": "j", "torque": 60, "delay": 0.015}]
    still = mb.estop(scene, qd={"j": 1.5}, brakes=brakes)
    moved = mb.estop(scene, qd={"j": 1.5}, brakes=brakes, tool="arm", tool_point=np.array([0.8, 0, 0]))
    for source in (str(stop), still):
        made = mb.protective_distance(source, **TERMS)
        assert made.term("v_r").value == 0 and grade(distance_chapter(made)) == "fair"
        assert below_the_verdict(str(made)).startswith("! NOT THE WHOLE MOTION")
        assert "arm at (0, 0, 0) m in its link frame (not given" in " ".join(str(made).split())
    made = mb.protective_distance(moved, **TERMS)
    assert made.value - mb.protective_distance(still, **TERMS).value == pytest.approx(
        0.8 * 1.5 * 0.1 + 0.8 * moved.joint("j").travel
    )
    assert not moved.scenario.tool_choice.warning and grade(distance_chapter(made)) == "good"
    unnamed = mb.estop(scene, qd={"j": 1.5}, brakes=brakes, tool_point=np.array([0.8, 0, 0]))
    assert grade(distance_chapter(mb.protective_distance(unnamed, **TERMS))) == "fair"
    pointed = json.loads(call(*run, "--tool-point", "0.8,0,0", "--output-format", "json").out)
    assert pointed["tool"]["distance"] == pytest.approx(moved.tool.distance)
    assert pointed["tool_choice"] == {
        "body": "arm",
        "point": [0.8, 0, 0],
        "reason": "the outermost link",
        "still_on": [],
    }


@pytest.mark.long
def test_tables_searches_sweeps_and_zones_warn_of_it_too(pendulum: str) -> None:
    scene = mb.load(pendulum, base="fixed")
    table = mb.stopping_table(scene, categories=[0], brakes=[{"joint": "j", "torque": 60, "delay": 0.01}])
    worst = mb.worst_stop(scene, samples=1, brakes=[{"joint": "j", "torque": 60, "delay": 0.01}])
    for found in (table, worst):
        assert below_the_verdict(str(found)).startswith("! NOT THE WHOLE MOTION") and any(
            STILL in s for s in found.assumptions
        )
    assert grade(table_chapter(table)) == "fair" and table.text("csv").startswith("# NOT THE WHOLE MOTION")
    assert any("NOT THE WHOLE MOTION" in said for said in mb.stop_zone(scene, table).assumptions)


def test_a_flange_on_the_axis_of_its_wrist_is_a_tool_unless_nothing_else_moves() -> None:
    """The hand of a wrist is narrow beside the reach; a forearm without a tool frame is not."""
    scene = mb.load(ASSETS / "arm_6r.scene.toml")
    assert not mb.estop(scene).scenario.tool_choice.still_on
    alone = {name: float(name == "j6") for name in scene.mechanism.qd_names}
    assert mb.estop(scene, qd=alone).scenario.tool_choice.still_on == ("j6",)
    elbow = readers.load("r.urdf", text=robot(*ARM[:2]))
    assert mb.estop(elbow, qd={"j0": 0.5}).scenario.tool_choice.still_on == ("j1",)


@pytest.mark.long
def test_a_free_base_is_the_cause_that_a_calibration_and_a_table_name(pendulum: str, tmp_path: Path) -> None:
    Path(pendulum).write_text(PENDULUM.replace('"world"', '"base"'), encoding="utf-8")
    measured = tmp_path / "measured.csv"
    measured.write_text("joint,category,speed,time,distance\nj,0,1.0,0.1,0.06\nj,0,2.0,0.2,0.2\n")
    for run in (("calibrate", pendulum, str(measured)), ("stop-table", pendulum)):
        refused = call(*run, "--base", "free")
        assert refused.code == 2 and "is free" in refused.err and "--base fixed" in refused.err
    taken = call("calibrate", pendulum, str(measured))
    assert taken.code == 0 and "base is taken as fixed to the ground: --base free" in taken.out
    assert "taken as fixed" not in call("calibrate", pendulum, str(measured), "--base", "fixed").out


@pytest.mark.bullet
def test_a_motion_beside_a_stop_is_refused_and_rounding_is_a_zero_in_notebooks(pendulum: str) -> None:
    stop = mb.estop(
        mb.load(pendulum, base="fixed"), qd={"j": 1.5}, brakes=[{"joint": "j", "torque": 60, "delay": 0.01}]
    )
    for wrong in ({"duration": 0.2}, {"q": {"j": 0.1}}, {"damping": False}):
        with pytest.raises(BadUsage, match=f"a stop has its own motion, and {next(iter(wrong))} was given"):
            mb.crosscheck(stop, **wrong)
    joint = replace(stop.joints[0], rate=-1.9224e-22)
    cells = replace(stop, joints=(joint,))._repr_html_()
    assert "e-22" not in cells and "<td>0</td>" in cells


def test_a_mass_below_zero_has_no_radius_of_gyration(tmp_path: Path) -> None:
    """The tool's choice looks at what an axis turns; a root of a negative number would not be a radius."""
    arm = ASSETS / "arm_6r.urdf"
    text = arm.read_text(encoding="utf-8")
    file = tmp_path / "arm.urdf"
    file.write_text(re.sub(r'(<mass value=")', r"\1-", text), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        outcome = call("stop-table", str(file), "--max-seconds", "30")
    assert outcome.code in (0, 2) and "Traceback" not in outcome.err


def test_a_payload_stated_by_its_mass_is_at_the_point_of_the_tool() -> None:
    text, point = robot(*ARM), [0.1, 0.0, 0.05]
    scene = readers.load("r.urdf", text=text)
    settings: dict[str, Any] = {"qd": {"j0": 1.0}, "tool": "hand", "tool_point": point}
    mass_alone = mb.estop(scene, payload=2.0, **settings)
    with_place = mb.estop(scene, payload={"body": "hand", "mass": 2.0, "com": point}, **settings)
    at_origin = mb.estop(scene, payload={"body": "hand", "mass": 2.0}, **settings)
    assert mass_alone.time == with_place.time != at_origin.time
    np.testing.assert_array_equal(mass_alone.trajectory.q, with_place.trajectory.q)


def with_ends(*names: str) -> tuple[tuple[str, ...], ...]:
    """An arm with links fixed to its last one, each to the one before."""
    parents = ("lower", *names)
    return (*ARM[:2], *((name, "fixed", parent, name) for parent, name in zip(parents, names, strict=False)))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("wrist", "tool0", "adapter"), "tool0"),
        (("flange", "camera_color_optical_frame"), "flange"),
        (("flange", "EndEffector_Link", "spacer"), "EndEffector_Link"),
        (("hand", "ee_link", "panda_hand_tcp", "x"), "panda_hand_tcp"),
        (("gripper", "imu_link"), "gripper"),
        # nothing has such a name: the outermost that is not a sensor
        (("a", "b", "camera_link"), "b"),
        # a syllable is not a word
        (("steep", "meek"), "meek"),
    ],
)
def test_the_tool_of_an_arm_has_the_name_of_one(names: tuple[str, ...], expected: str) -> None:
    found = default_tool(readers.load("r.urdf", text=robot(*with_ends(*names))).mechanism)
    assert found.body == expected and not found.point.any()
    reason = "the outermost link that is not a sensor" if expected == "b" else "name of a tool"
    assert (reason if expected != names[-1] else "the outermost link") in found.reason


def test_between_fingers_without_a_named_link_the_tool_is_at_their_middle(tmp_path: Path) -> None:
    arm = (*ARM[:2], ("mount", "fixed", "lower", "palm"))
    fingers = (
        ("grip", "prismatic", "palm", "left_finger"),
        ("grip2", "prismatic", "palm", "right_finger", "grip"),
    )
    text = robot(*arm, *fingers).replace('origin xyz="0.3 0 0"/>', 'origin xyz="0.3 0.02 0"/>', 5)
    path = tmp_path / "gripper.urdf"
    path.write_text(text, encoding="utf-8")
    found = default_tool(mb.load(path).mechanism)
    origins = [pair.X_AP.p for pair in mb.load(path).mechanism.pairs if pair.name in ("grip", "grip2")]
    assert found.body == "palm" and found.reason.endswith("at their middle")
    np.testing.assert_allclose(found.point, np.mean(origins, axis=0), atol=1e-12)
    # a row and its command are one stop, of this point and with the payload there
    table = mb.stopping_table(path, payload=0.5, speeds={"j0": 1.0, "j1": 1.0})
    row = table.rows[-1]
    assert "--tool-point" in row["command"] and "palm:0.5@" in row["command"]
    again = json.loads(call(*shlex.split(row["command"])[1:], "--output-format", "json").out)
    assert again["tool"]["distance"] == pytest.approx(row["tool_distance"], rel=1e-6)
    assert again["time"] == pytest.approx(row["rest_time"], rel=1e-6)
    single = mb.estop(path, q=row["q"], qd={row["joint"]: row["sense"] * row["speed"]}, payload=0.5)
    assert single.scenario.tool == "palm"
    np.testing.assert_allclose(single.scenario.tool_point, found.point)
