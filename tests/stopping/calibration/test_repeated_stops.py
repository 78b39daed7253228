"""Stops that were measured ten times or more: bounds of what was measured, by order statistics alone."""

from __future__ import annotations

import json
import math
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import mbplugin as mb
from command_line import call
from mbplugin.errors import BadNumber
from mbplugin.stopping.calibration import Calibration

ROBOT = """<robot name="one"><link name="base"/><link name="bar"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j0" type="continuous"><parent link="base"/><child link="bar"/><axis xyz="0 0 1"/>
<limit effort="10" velocity="3"/></joint></robot>"""
#: Of the repeats, rad/s; three other speeds are measured once.
SPEED = 2.0


def files(folder: Path, delays: np.ndarray, repeats: int = 1, distances: bool = True) -> tuple[str, str]:
    """A ramp of 0.3 s after delays that scatter: the times are delay + 0.3 s."""
    rows = ["joint,category,speed,time,distance,repeats"]
    rows += [f"j0,1,{v},0.35,{v * 0.2},1" for v in (0.5, 1.0, 1.5)]
    for delay in delays.tolist():
        distance = SPEED * (delay + 0.15) if distances else ""
        rows.append(f"j0,1,{SPEED},{delay + 0.3!r},{distance!r},{repeats}".replace("''", ""))
    robot, table = folder / "one.urdf", folder / "stops.csv"
    robot.write_text(ROBOT, encoding="utf-8")
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(robot), str(table)


def calibrated(folder: Path, delays: np.ndarray, **options: float) -> Calibration:
    robot, table = files(folder, delays)
    return mb.calibrate(mb.load(robot, base="fixed"), table, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("count", "rank"), [(12, 0), (58, 0), (59, 1), (92, 1), (93, 2)])
def test_the_bound_is_a_measured_value(tmp_path: Path, count: int, rank: int) -> None:
    """95 % with 95 % confidence: the largest of 59, the second of 93 (Wilks); of fewer, the largest is less."""
    delays = np.random.default_rng(count).uniform(0.04, 0.06, count)
    (stop,) = calibrated(tmp_path, delays).repeated
    assert stop.lines == tuple(range(5, 5 + count)) and stop.time is not None and stop.distance is not None
    ordered = np.sort(delays)
    assert (stop.time.rank, stop.distance.rank) == (rank, rank)
    if rank:
        assert stop.time.value == pytest.approx(ordered[-rank] + 0.3, abs=1e-12)
        assert stop.distance.value == pytest.approx(SPEED * (ordered[-rank] + 0.15), abs=1e-12)
    else:
        assert stop.time.value is None and stop.time.required == 59
        assert stop.time.largest == pytest.approx(ordered[-1] + 0.3, abs=1e-12)
        assert stop.time.share_of_largest == pytest.approx(0.05 ** (1 / count), abs=1e-12)


def test_nine_are_too_few_and_means_do_not_count(tmp_path: Path) -> None:
    delays = np.linspace(0.045, 0.055, 12)
    assert not calibrated(tmp_path, delays[:9]).repeated
    robot, table = files(tmp_path, delays, repeats=5)
    assert not mb.calibrate(mb.load(robot, base="fixed"), table).repeated


def test_times_alone(tmp_path: Path) -> None:
    robot, table = files(tmp_path, np.linspace(0.045, 0.055, 12), distances=False)
    (stop,) = mb.calibrate(mb.load(robot, base="fixed"), table).repeated
    assert stop.distance is None and stop.time is not None and stop.time.count == 12


def test_the_share_of_the_command(tmp_path: Path) -> None:
    """Of 30, the largest is a bound of 90 % with 95 %: 1 − 0.9³⁰ = 0.958."""
    delays = np.random.default_rng(4).uniform(0.04, 0.06, 30)
    robot, table = files(tmp_path, delays)
    command = ("calibrate", robot, table, "--base", "fixed", "--bound", "0.9")
    document = json.loads(call(*command, "--output-format", "json").out)
    schema = json.loads(call("schema", "calibrate").out)
    jsonschema.validate(document, schema)
    (stop,) = document["repeated"]
    assert (stop["time"]["share"], stop["time"]["confidence"], stop["time"]["rank"]) == (0.9, 0.95, 1)
    text = " ".join(call(*command).out.split())
    largest = math.ceil(1e4 * (delays.max() + 0.3)) / 10
    assert f"time no more than {largest:.4g} ms in 90 % of such stops, with 95 % confidence" in text


def test_shares_that_cannot_be(tmp_path: Path) -> None:
    delays = np.linspace(0.045, 0.055, 12)
    with pytest.raises(BadNumber, match="share of a bound is 1"):
        calibrated(tmp_path, delays, share=1.0)
    robot, table = files(tmp_path, delays)
    outcome = call("calibrate", robot, table, "--base", "fixed", "--bound", "95")
    assert outcome.code == 2 and "--bound has '95'" in outcome.err
