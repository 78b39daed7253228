"""``[[ramp]]``: controlled stops with a ramp of constant time or of constant deceleration."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import call
from mbplugin.errors import BadScene, UnknownName
from mbplugin.stopping.scenario.drives import Ramps

SCENE = """
gravity = [0.0, 0.0, -9.81]
body = [{ name = "boom", mass = 3.0, com = [0.6, 0, 0], inertia = [0.001, 0.36, 0.36] }]
pair = [{ name = "slew", type = "revolute", body_a = "world", body_b = "boom", xyz_a = [0, 0, 0] }]
brake = [{ joint = "slew", torque = 80.0, delay = 0.01, engagement = 0.02 }]
"""
TIMED = 'ramp = [{ joint = "slew", time = 0.3, reaction = 0.05 }]\n'
CONSTANT = 'ramp = [{ joint = "slew", deceleration = 4.0 }]\n'
SPEEDS = [0.5, 2.0]


def scene(folder: Path, ramps: str) -> mb.Scene:
    file = folder / "boom.scene.toml"
    file.write_text(SCENE + ramps)
    return mb.load(file)


@pytest.mark.parametrize("speed", SPEEDS)
def test_a_ramp_of_constant_time_goes_as_far_as_by_hand(tmp_path: Path, speed: float) -> None:
    stop = mb.estop(scene(tmp_path, TIMED), qd={"slew": speed}, category=1).joint("slew")
    assert stop.reaction_time == pytest.approx(0.05)
    assert stop.time == pytest.approx(0.35, abs=1e-6)
    assert stop.travel == pytest.approx(speed * (0.05 + 0.15), rel=1e-6)


@pytest.mark.parametrize("speed", SPEEDS)
def test_a_ramp_of_constant_deceleration_waits_for_the_brake_s_delay(tmp_path: Path, speed: float) -> None:
    stop = mb.estop(scene(tmp_path, CONSTANT), qd={"slew": speed}, category=1).joint("slew")
    assert stop.time == pytest.approx(0.01 + speed / 4, abs=1e-6)
    assert stop.travel == pytest.approx(0.01 * speed + speed**2 / 8, rel=1e-6)


def test_category_0_knows_no_ramp(tmp_path: Path) -> None:
    with_ramp, without = (mb.estop(scene(tmp_path, ramps), qd={"slew": 2.0}) for ramps in (TIMED, ""))
    assert with_ramp.joint("slew").travel == without.joint("slew").travel


def test_a_stated_deceleration_replaces_the_ramp_but_not_its_reaction(tmp_path: Path) -> None:
    stop = mb.estop(scene(tmp_path, TIMED), qd={"slew": 2.0}, category=1, decelerations={"slew": 10.0})
    assert stop.joint("slew").travel == pytest.approx(2.0 * 0.05 + 4 / 20, rel=1e-6)


@pytest.mark.parametrize("ramps", [TIMED, CONSTANT])
def test_the_table_takes_the_ramp_at_every_speed(tmp_path: Path, ramps: str) -> None:
    robot = scene(tmp_path, ramps)
    table = mb.stopping_table(robot, categories=[1], speeds={"slew": 3.0})
    assert {row["speed_percent"] for row in table.rows} == {33, 66, 100}
    for row in table.rows:
        same = mb.estop(robot, qd={"slew": row["speed"]}, category=1).joint("slew")
        assert row["time"] == pytest.approx(same.time, abs=1e-6)
        assert row["distance"] == pytest.approx(abs(same.travel), rel=1e-6)
        assert row["reaction_time"] == pytest.approx(0.05 if ramps == TIMED else 0.01)


def test_the_command_of_a_row_computes_it_again(tmp_path: Path) -> None:
    row = mb.stopping_table(scene(tmp_path, TIMED), categories=[1], speeds={"slew": 3.0}).rows[0]
    words = row["command"].split()[1:]
    found = json.loads(call(*words, "--output-format", "json").out)
    (joint,) = found["joints"]
    assert joint["time"] == pytest.approx(row["time"], abs=1e-6)


@pytest.mark.parametrize(
    ("ramps", "error", "sentence"),
    [
        ('ramp = [{ joint = "slew" }]', BadScene, "states neither of time and deceleration"),
        (
            'ramp = [{ joint = "slew", time = 0.3, deceleration = 2 }]',
            BadScene,
            "states both time and decel",
        ),
        ('ramp = [{ joint = "slew", time = 0.0 }]', BadScene, "expected more than 0"),
        ('ramp = [{ joint = "slow", time = 0.3 }]', UnknownName, "did you mean 'slew'"),
        (TIMED.replace("}]", '}, { joint = "slew", time = 1.0 }]'), BadScene, "has two ramps"),
    ],
)
def test_a_ramp_that_cannot_be(tmp_path: Path, ramps: str, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        scene(tmp_path, ramps + "\n")


@pytest.mark.parametrize("deceleration", [5e-324, 1e-300, 1e-9])
def test_a_ramp_that_hardly_slows_a_joint_ends_late_or_never(deceleration: float) -> None:
    ramps = Ramps(
        np.zeros(2), np.array([2.0, 0.0]), np.array([0.1, 0.1]), np.array([deceleration, deceleration])
    )
    assert ramps.ends[0] >= 1e9 and ramps.ends[1] == 0.0
    q, rate = ramps.at(0.6)
    assert q == pytest.approx([1.2, 0.0]) and rate == pytest.approx([2.0, 0.0])
