"""A stop with brakes that nobody stated says so before any number, and can be refused."""

from __future__ import annotations

import csv
import hashlib
import importlib.metadata
import json
import re
import shutil
from itertools import groupby
from math import radians
from pathlib import Path
from typing import Any

import pytest

import mbplugin as mb
from command_line import ROOT, below_the_verdict, call
from mbplugin.errors import BadUsage
from mbplugin.report.html.chapters import stop_chapter, table_chapter
from mbplugin.report.html.view import grade
from mbplugin.stopping.scenario import PUBLISHED_OVER_DEFAULT

ARM = str(ROOT / "assets" / "arm_6r.scene.toml")
JOINTS = [f"j{k}" for k in range(1, 7)]
STATED = [f"--brake={joint}:torque=300,delay=0.01" for joint in JOINTS]
RAMPS = ["--deceleration", ",".join(f"{joint}=8" for joint in JOINTS)]
COMMANDS = {
    "estop": ("estop", ARM),
    "stop-table": ("stop-table", ARM, "--category", "0"),
}


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_text_says_below_its_verdict_that_brakes_are_assumed(command: tuple[str, ...]) -> None:
    done = call(*command)
    assert done.code == 0
    assert done.out.startswith("arm_6r:") and "--require-brakes" in done.out
    assert below_the_verdict(done.out).startswith(
        "! ASSUMED, NOT STATED: the brakes of j1, j2, j3, j4, j5, j6 "
    )
    partly = call(*command, STATED[0])
    assert below_the_verdict(partly.out).startswith("! ASSUMED, NOT STATED: the brakes of j2, j3, ")
    assert "ASSUMED" not in call(*command, *STATED).out


def test_the_factor_of_published_stops_is_that_of_brakes_alone() -> None:
    """They are stops of category 0, in which no ramp takes part."""
    ramps = " ".join(
        below_the_verdict(call("estop", ARM, "--category", "1", *STATED).out).replace("\n!", "").split()
    )
    assert ramps.startswith("! ASSUMED, NOT STATED: the decelerations of j1, ")
    assert "1.2 to 7.1" not in ramps and "A ramp is a setting of the drive" in ramps
    assert "state the ramps; --require-brakes" in ramps
    both = " ".join(call("estop", ARM, "--category", "1").out.replace("\n!", "").split())
    assert "1.2 to 7.1 times" in both and "state the brakes and ramps;" in both


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_assumed_brakes_can_be_refused(command: tuple[str, ...]) -> None:
    done = call(*command, "--require-brakes")
    assert done.code == 2 and done.out == ""
    assert "but the brakes of j1, j2, j3, j4, j5, j6 are assumed" in done.err and "--brake" in done.err
    assert call(*command, "--require-brakes", *STATED).code == 0


def test_a_sweep_refuses_them_before_it_writes(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    out = tmp_path / "stops"
    command = ("sweep", ARM, "--number", "3", "--jobs", "1", "--out", str(out))
    done = call(*command, "--require-brakes")
    assert done.code == 2 and "but the brakes of " in done.err and not out.exists()
    assert below_the_verdict(call(*command).out).startswith("! ASSUMED")
    stated = call(*command[:-1], str(tmp_path / "stated"), "--require-brakes", *STATED)
    assert stated.code == 0 and "ASSUMED" not in stated.out


@pytest.mark.long
def test_decelerations_that_are_effort_limits_are_assumed_too() -> None:
    command = ("estop", ARM, "--category", "1", *STATED)
    assert below_the_verdict(call(*command).out).startswith(
        "! ASSUMED, NOT STATED: the decelerations of j1, "
    )
    refused = call(*command, "--require-brakes")
    assert refused.code == 2 and "--deceleration" in refused.err
    assert call(*command, *RAMPS, "--require-brakes").code == 0
    # category 2 has no brakes
    assert call("estop", ARM, "--category", "2", *RAMPS, "--require-brakes").code == 0


def test_the_pages_are_amber_and_never_green() -> None:
    scene = mb.load(ARM)
    for chapter in (
        stop_chapter(scene, mb.estop(scene)),
        table_chapter(mb.stopping_table(scene, axes=["j1"], categories=[0])),
    ):
        assert grade(chapter) == "fair" and "ASSUMED" in " ".join(chapter.warnings)
    page = mb.stopping_table(scene, categories=[0]).text("html")
    assert page.index('class="verdict') < page.index('class="alarm"')
    assert 'class="verdict good"' not in page
    stated = mb.stopping_table(
        scene,
        axes=["j1"],
        categories=[0],
        brakes=[{"joint": j, "torque": 900, "delay": 0.01} for j in JOINTS],
    )
    assert 'class="alarm"' not in stated.text("html") and grade(table_chapter(stated)) == "good"


@pytest.mark.long
def test_json_and_csv_name_the_joints() -> None:
    document = json.loads(call("estop", ARM, "--output-format", "json").out)
    assert document["of_effort"] == {
        "brakes": JOINTS,
        "ramps": [],
        "delays": [],
        "taken": [],
        "holding": False,
    }
    table = json.loads(call("stop-table", ARM, *STATED, "--output-format", "json").out)
    assert table["of_effort"] == {
        "brakes": [],
        "ramps": ["j1", "j2", "j3"],
        "delays": [],
        "taken": [],
        "holding": False,
    }
    assert call("stop-table", ARM, "--category", "0", "--output-format", "csv").out.startswith("# ASSUMED")


def test_a_call_refuses_them() -> None:
    with pytest.raises(BadUsage, match="but the brakes of j1"):
        mb.estop(mb.load(ARM), require_brakes=True)
    with pytest.raises(BadUsage, match="the decelerations of j1"):
        mb.stopping_table(
            mb.load(ARM),
            brakes=[{"joint": j, "torque": 300, "delay": 0.01} for j in JOINTS],
            require_brakes=True,
        )


def test_a_brake_without_a_delay_is_assumed_to_grip_at_once(tmp_path: Path) -> None:
    """Who states a torque only stops sooner than who states nothing: the report must not be green over that."""
    brakes = [{"joint": j, "torque": 900} for j in JOINTS]
    arm = mb.load(ARM)
    report = mb.estop(arm, brakes=brakes)
    assert report.scenario.of_effort.delays == tuple(JOINTS) and not report.scenario.of_effort.brakes
    assert report.assumed == tuple(f"{j}: its delay is 0 s, as none is stated" for j in JOINTS)
    (warning,) = stop_chapter(arm, report).warnings
    assert warning.startswith("ASSUMED, NOT STATED: the delays of the brakes of j1") and "UR5" not in warning
    assert grade(stop_chapter(arm, report)) == "fair"
    with pytest.raises(BadUsage, match=r"but the delays of the brakes of j1.*; state delay in"):
        mb.estop(mb.load(ARM), brakes=brakes, require_brakes=True)
    scene = tmp_path / "arm.scene.toml"
    text = "".join(f'[[brake]]\njoint = "{j}"\ntorque = 900\n' for j in JOINTS)
    shutil.copy(ROOT / "assets" / "arm_6r.urdf", tmp_path)
    model = '[[model]]\nfile = "arm_6r.urdf"\nbase = "fixed"\n'
    scene.write_text(model + text, encoding="utf-8")
    assert mb.estop(scene).scenario.of_effort.delays == tuple(JOINTS)
    for times in ({"delay": 0}, {"engagement": 0.01}):
        timed = [{**brake, **times} for brake in brakes]
        assert mb.estop(mb.load(ARM), brakes=timed, require_brakes=True).assumed == ()


def published() -> list[dict[str, str]]:
    text = (Path(__file__).parent / "published_stops.csv").read_text()
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


ROW = re.compile(
    r"^\| (UR\d) \| (\d) \| ([\d.]+) rad, (\d+) ms \| ([\d.]+) rad, (\d+) ms \| ([\d.]+), ([\d.]+) \|$", re.M
)


def test_the_guide_has_the_published_rows_and_their_factors() -> None:
    guide = ROW.findall((ROOT / "docs" / "estop.md").read_text(encoding="utf-8"))
    rows = published()
    assert [(name.lower(), float(d), int(t)) for name, _, d, t, *_ in guide] == [
        (row["robot"], float(row["distance_rad"]), int(row["time_ms"])) for row in rows
    ]
    factors = [float(one[-1]) for one in guide]
    assert (round(min(factors), 1), round(max(factors), 1)) == PUBLISHED_OVER_DEFAULT


@pytest.mark.robots
def test_the_factors_of_the_guide_are_recomputed() -> None:
    guide = iter(ROW.findall((ROOT / "docs" / "estop.md").read_text(encoding="utf-8")))
    files = importlib.metadata.files("example-robot-data") or []
    for robot, rows in groupby(published(), key=lambda row: row["robot"]):
        urdf = next(file for file in files if file.name == f"{robot}_robot.urdf")
        scene = mb.load(str(urdf.locate()), base="fixed")
        own = list(rows)
        speeds = dict.fromkeys([row["joint"] for row in own], radians(183))
        table = mb.stopping_table(scene, payload=float(own[0]["payload_kg"]), speeds=speeds, categories=[0])
        assert table.of_effort.brakes
        for stated, computed in zip(own, table.rows, strict=True):
            assert cells(stated, computed) == next(guide)[4:]


def cells(stated: dict[str, str], computed: dict[str, Any]) -> tuple[str, ...]:
    distance, time = computed["distance"], 1e3 * computed["time"]
    return (
        f"{distance:.2f}",
        f"{time:.0f}",
        f"{float(stated['distance_rad']) / distance:.2f}",
        f"{float(stated['time_ms']) / time:.2f}",
    )


@pytest.mark.long
def test_stated_brakes_and_ramps_are_printed_with_their_origin(tmp_path: Path) -> None:
    file = tmp_path / "arm.scene.toml"
    shutil.copy(ROOT / "assets" / "arm_6r.urdf", tmp_path)
    file.write_text(
        '[[model]]\nfile = "arm_6r.urdf"\nbase = "fixed"\n'
        '[[brake]]\njoint = "j1"\ntorque = 300\nviscous = 20\ndelay = 0.01\norigin = "data sheet 7"\n'
        '[[ramp]]\njoint = "j2"\ntime = 0.4\norigin = "page 12"\n',
        encoding="utf-8",
    )
    brake = (
        "j1: the brake slides with 300 N·m, 20 N·m/(rad/s) viscous; 10 ms until power off, 0 ms more until it"
        " grips (data sheet 7)"
    )
    ramp = "j2: a ramp of 400 ms (page 12)"
    report = mb.estop(file, qd={"j1": 1.0})
    assert report.scenario.stated == (brake,)
    assert mb.estop(file, qd={"j1": 1.0}, category=1).scenario.stated == (brake, ramp)
    table = mb.stopping_table(file, axes=["j1", "j2"])
    assert brake in table.assumptions and ramp in table.assumptions
    assert ramp not in mb.stopping_table(file, axes=["j1", "j2"], categories=[0]).assumptions
    found = json.loads(call("estop", str(file), "--qd", "j1=1", "--output-format", "json").out)
    assert found["stated"] == [brake] and found["brakes"][0]["origin"] == "data sheet 7"
    assert "data sheet 7" in " ".join(call("estop", str(file), "--qd", "j1=1").out.split())
    given = {"joint": "j1", "torque": 300.0}
    assert mb.estop(file, qd={"j1": 1.0}, brakes=[given]).scenario.stated[0].endswith("(stated)")


def test_a_calibration_is_the_origin_of_its_brakes(tmp_path: Path) -> None:
    measured = tmp_path / "stops.csv"
    measured.write_text(
        "joint,category,speed,time,distance\nj1,1,1.0,0.30,0.155\nj1,1,2.0,0.31,0.31\nj1,1,4.0,0.30,0.62\n",
        encoding="utf-8",
    )
    found = mb.calibrate(ROOT / "assets" / "arm_6r.urdf", measured)
    origin = found.joint("j1").stated.origin
    assert origin.startswith(f"calibrated on {found.date} from 3 rows of stops.csv, SHA-256 ")
    assert hashlib.sha256(measured.read_bytes()).hexdigest()[:12] in origin
    assert f"origin = {json.dumps(origin, ensure_ascii=False)}" in found.toml
