"""The commands estop and stop-table: their JSON against the schemas, their text, bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from command_line import ASSETS, call
from places import BULLET_DATA, ORACLES

IIWA = str(BULLET_DATA / "kuka_iiwa" / "model.urdf")
STOP = ("estop", IIWA, "--base", "fixed")
TABLE = ("stop-table", IIWA, "--base", "fixed", "--payload", "7")


@pytest.mark.long_after(1)
@pytest.mark.bullet
@pytest.mark.parametrize("category", ["0", "1", "2"])
def test_a_stop_follows_its_schema(category: str) -> None:
    state = ("--q", "lbr_iiwa_joint_2=0.5", "--qd", "lbr_iiwa_joint_1=1", "--payload", "5")
    outcome = call(*STOP, *state, "--category", category, "--output-format", "json")
    assert outcome.code == 0
    found = json.loads(outcome.out)
    jsonschema.validate(found, json.loads(call("schema", "estop").out))
    assert found["outcome"] == "stopped"
    assert found["q_end"]["lbr_iiwa_joint_2"] == pytest.approx(0.5, abs=0.01)


@pytest.mark.long
def test_a_single_stop_loads_no_loop_of_many_stops() -> None:
    """Code that one stop does not need would be loaded, and its machine code read, in every estop."""
    others = {
        "mbplugin.stopping.many",
        "mbplugin.stopping.table",
        "mbplugin.linter.run",
        "mbplugin.analysis.dca",
    }
    code = (
        "import sys, mbplugin as mb;"
        f"mb.estop({str(ASSETS / 'arm_6r.scene.toml')!r}, category=0);"
        f"print(sorted({others!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr


@pytest.mark.bullet
@pytest.mark.long
def test_a_table_follows_its_schema_and_files(tmp_path: Path) -> None:
    outcome = call(*TABLE, "--output-format", "json")
    jsonschema.validate(json.loads(outcome.out), json.loads(call("schema", "stop-table").out))
    text = call(*TABLE, "--category", "0").out
    assert "computed, not measured" in text and "Category 0, axis 3: lbr_iiwa_joint_4" in text
    page = tmp_path / "table.html"
    assert call(*TABLE, "--output-format", "html", "--output", str(page)).code == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    first, second = call(*TABLE, "--output-format", "csv").out.splitlines()[:2]
    assert first.startswith("# ASSUMED, NOT STATED") and second.startswith("# stopping table of lbr_iiwa")


#: A flywheel with a brake, and nothing that says how its drive could lead it to rest.
WHEEL = """[[body]]
name = "wheel"
mass = 1
inertia = [1, 1, 2]
[[pair]]
name = "axle"
type = "revolute"
body_a = "world"
body_b = "wheel"
xyz_a = [0, 0, 0]
[[brake]]
joint = "axle"
torque = 5
"""


#: A second wheel on the first one.
OTHER = WHEEL.replace("wheel", "disc").replace("axle", "hub").replace('"world"', '"wheel"')
#: The first wheel has no brake, only the second one.
LOOSE = WHEEL.partition("[[brake]]")[0] + OTHER


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (LOOSE, "'axle' has no brake; state its brake with --brake (brakes=[...]), or"),
        (
            WHEEL + OTHER.partition("[[brake]]")[0],
            "'hub' has no brake; state its brake with --brake (brakes=[...]), or",
        ),
        (WHEEL + '[[lock]]\njoint = "axle"\n', "'axle' is locked;"),
    ],
)
@pytest.mark.parametrize("command", ["stop-table", "worst-stop"])
def test_a_robot_without_a_table_is_told_which_joint_is_the_reason(
    command: str, text: str, why: str, tmp_path: Path
) -> None:
    scene = tmp_path / "wheel.scene.toml"
    scene.write_text(text, encoding="utf-8")
    outcome = call(command, str(scene))
    assert (
        outcome.code == 2
        and f"need arms that their brakes hold; 'wheel': {why} use estop for single stops" in outcome.err
    )


@pytest.mark.parametrize(
    ("tables", "options", "words"),
    [
        ("", ("--category", "1"), "no ramp for joint 'axle'"),
        ("", ("--category", "2"), "no ramp for joint 'axle'"),
        ("", ("--category", "1", "--deceleration", "axle=-3"), "the deceleration of 'axle' is -3"),
        ("", ("--duration", "0"), "the duration is 0 s"),
        ("", ("--payload", "-3"), "has mass -3"),
        ("", ("--limits", "maybe"), "limits are 'maybe'"),
        ('[[lock]]\njoint = "axle"\nat = -0.1\n', (), "at is -0.1; expected at least 0"),
        ('[[brake]]\njoint = "axle"\ntorque = 2\n', (), "joint 'axle' has two brakes"),
        ('[[payload]]\nbody = "hand"\nmass = 2\n', (), "no body is called 'hand'"),
    ],
)
def test_a_scene_that_cannot_be_stopped(
    tables: str, options: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    scene = tmp_path / "wheel.scene.toml"
    scene.write_text(WHEEL + tables, encoding="utf-8")
    outcome = call("estop", str(scene), "--qd", "axle=1", *options)
    assert outcome.code == 2 and outcome.out == ""
    assert words in outcome.err and outcome.err.count("\n") == 1


def test_locks_that_close_later_are_left_out_and_told(tmp_path: Path) -> None:
    scene = tmp_path / "wheel.scene.toml"
    scene.write_text(WHEEL + '[[lock]]\njoint = "axle"\nat = 0.1\n', encoding="utf-8")
    out = call("estop", str(scene), "--qd", "axle=1", "--output-format", "json")
    found = json.loads(out.out)
    # 2 kg·m² at 1 rad/s against 5 N·m
    assert found["time"] == pytest.approx(0.4) and found["joints"][0]["travel"] == pytest.approx(0.2)
    assert "timed locks of the scene are ignored, because the brakes end a stop" in found["notes"]


@pytest.mark.bullet
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--brake", "world→lbr_iiwa_link_0:torque=1"), "fixed joint"),
        (
            ("--brake", "lbr_iiwa_joint_1:torque=9,delay=-0.1"),
            "_joint_1' is -0.1",
        ),
        (("--brake", "torque=1"), "--brake has 'torque=1'"),
        (("--payload", "hand:3"), "'hand', which is not a body"),
        (("--payload", "heavy"), "--payload has 'heavy'"),
        (("--q", "lbr_iiwa_joint_2=3"), "above its upper limit"),
        (("--category", "4"), "no stop category 4"),
        (("--at", "0.3"), "--at states a time in a motion"),
        (("--trajectory", "missing.csv"), "no such file"),
        (("--tool", "hand"), "the tool is 'hand'"),
    ],
)
def test_bad_input_is_one_sentence(options: tuple[str, ...], words: str) -> None:
    outcome = call(*STOP, *options)
    assert outcome.code == 2 and outcome.out == ""
    assert words in outcome.err and outcome.err.count("\n") == 1


@pytest.mark.long
def test_warmup_compiles_and_says_how_long_that_took() -> None:
    outcome = call("warmup")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("machine code is compiled in ") and " s and cached in " in outcome.out


@pytest.mark.parametrize("command", ["stop-table", "worst-stop"])
def test_a_speed_of_no_axis_is_refused(command: str) -> None:
    arm = str(ASSETS / "arm_6r.scene.toml")
    misspelt = call(command, arm, "--speed", "j21=1")
    assert misspelt.code == 2 and "'j21', which is not a joint; did you mean 'j2'?" in " ".join(
        misspelt.err.split()
    )
    idle = call(command, arm, "--axes", "j1,j2", "--speed", "j6=1")
    assert idle.code == 2 and "'j6', which is not an axis here; expected one of j1, j2" in " ".join(
        idle.err.split()
    )


@pytest.mark.long
def test_lengths_of_a_zone_are_in_the_units_of_the_user(tmp_path: Path) -> None:
    pytest.importorskip("shapely")
    arm, zone = str(ASSETS / "arm_6r.scene.toml"), str(tmp_path / "zone.csv")
    run = ("estop", arm, "--qd", "j4=1", "--payload", "5", "--zone", zone, "--output-format", "json")
    said = call(*run, "--units", "deg,mm", "--payload-radius", "100", "--zone-resolution", "5")
    same = call(*run, "--payload-radius", "0.1", "--zone-resolution", "5mm")
    assert said.code == same.code == 0
    assert "a ball of 0.1 m" in said.err and "a ball of 0.1 m" in same.err


def test_there_is_no_distance_for_a_stop_that_begins_at_rest(tmp_path: Path) -> None:
    stop = tmp_path / "stop.json"
    assert call(
        "estop", str(ASSETS / "arm_6r.scene.toml"), "--category", "1", "--qd", "j1=0", "--output", str(stop)
    ).code in (0, 1)
    document = json.loads(stop.read_text())
    document |= {"time": 0.0, "outcome": "stopped", "tool": document["tool"] | {"distance": 0.0}}
    stop.write_text(json.dumps(document))
    outcome = call("distance", str(stop), "--term", "K=1.6,t1=0.1,D_DS=0.85,Z=0")
    assert outcome.code == 2 and "begins at rest" in outcome.err


def test_a_first_stop_without_rates_says_how_to_state_them() -> None:
    """Rounding is all the energy there is."""
    outcome = call("estop", str(ASSETS / "arm_6r.urdf"), "--base", "fixed")
    assert outcome.code == 0 and "such as --qd JOINT=1" in outcome.out
    assert "e-1" not in outcome.out and "kinetic energy released            0" in outcome.out


def test_a_robot_without_brakes_says_how_to_state_one() -> None:
    outcome = call("estop", str(ORACLES / "door_1_hinge.sdf"))
    assert outcome.code == 0 and "(--brake, brakes=)" in outcome.out
