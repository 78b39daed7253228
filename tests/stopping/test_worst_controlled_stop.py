"""The worst stops of categories 1 and 2: ramps by hand, brakes that slip after them, assumed decelerations."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS, call
from mbplugin.model.brake_law import Brake
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.stopping.worst import worst_stop
from mbplugin.stopping.worst_search import Failure, WorstStops
from rod_arms import arm

ROD = arm((1.0,), limits=Freedom(lower=-2.5, upper=2.5, velocity=2.0, effort=60.0))
#: Torque of gravity about the joint of the rod when it lies flat, N·m.
WEIGHT = 0.5 * 9.81
STRONG = Brake("j0", 40.0, delay=0.02)
BOOM = """
gravity = [0.0, 0.0, -9.81]
body = [{ name = "boom", mass = 3.0, com = [0.6, 0, 0], inertia = [0.001, 0.36, 0.36] }]
pair = [{ name = "slew", type = "revolute", body_a = "world", body_b = "boom", xyz_a = [0, 0, 0], velocity = 2.0 }]
brake = [{ joint = "slew", torque = 80.0, delay = 0.01, engagement = 0.02 }]
"""


def value(worst: WorstStops, measure: str) -> float:
    (found,) = (one for one in worst.found if one.measure == measure)
    return found.value


@pytest.mark.long
@pytest.mark.parametrize("category", [1, 2])
def test_a_stated_deceleration_stops_alike_in_every_pose(category: int) -> None:
    worst = worst_stop(ROD, category=category, brakes=[STRONG], decelerations={"j0": 8.0}, samples=50)
    assert worst.category == category
    assert value(worst, "time") == pytest.approx(0.02 + 2.0 / 8.0, rel=1e-9)
    assert value(worst, "travel") == pytest.approx(2.0 * 0.02 + 4.0 / 16.0, rel=1e-9)
    (found,) = (one for one in worst.found if one.measure == "time")
    assert (found.factor is None) == (category == 2)
    assert found.factor is None or found.factor == pytest.approx(1.0, rel=1e-6)
    assert "j0: given deceleration 8" in worst.assumptions


@pytest.mark.long
def test_a_brake_that_is_too_weak_slips_after_the_ramp_where_gravity_pulls() -> None:
    """A brake of 2 N·m holds the rod only near its rest; the ramp alone ends after 0.27 s."""
    weak = Brake("j0", 2.0, delay=0.02)
    worst = worst_stop(ROD, category=1, brakes=[weak], decelerations={"j0": 8.0}, samples=200, duration=3.0)
    held = worst_stop(ROD, category=2, brakes=[weak], decelerations={"j0": 8.0}, samples=200, duration=3.0)
    assert WEIGHT > 2.0
    assert value(worst, "time") > 2 * value(held, "time")
    assert sum(worst.outcomes[key] for key in worst.outcomes if key != "stopped") > 0
    assert set(held.outcomes) <= {"stopped", "limit_hit"}


@pytest.mark.long
def test_an_assumed_deceleration_is_that_of_each_pose(tmp_path: Path) -> None:
    """An effort limit over the inertia: least where the arm is stretched, so there it takes longest."""
    worst = worst_stop(
        mb.load(ASSETS / "arm_6r.scene.toml"), category=2, axes=["j1"], samples=100, payload=5.0
    )
    (slowest,) = (one for one in worst.found if one.measure == "time")
    lengths = {one.measure: one.q for one in worst.found}
    scene = mb.load(ASSETS / "arm_6r.scene.toml")
    stop = mb.estop(scene, q=slowest.q, qd=slowest.qd, category=2, payload=slowest.payload)
    assert stop.time == pytest.approx(slowest.value, rel=1e-6) and lengths
    assert "j1" in worst.of_effort.ramps and "j2" not in worst.of_effort.ramps
    assert any("j1: category 2 decelerates with its effort limit" in s for s in worst.assumptions)
    rng = np.random.default_rng(5)
    for _ in range(50):
        pose = {joint: rng.uniform(-1.5, 1.5) for joint in ("j2", "j3", "j5")}
        other = mb.estop(scene, q=pose, qd=slowest.qd, category=2, payload=slowest.payload)
        assert other.time <= slowest.value * (1 + 1e-9)


@pytest.mark.long
def test_a_ramp_of_the_scene_and_its_reaction_are_searched_within_the_tolerance(tmp_path: Path) -> None:
    file = tmp_path / "boom.scene.toml"
    file.write_text(BOOM + 'ramp = [{ joint = "slew", time = 0.3, reaction = 0.05 }]\n')
    scene = mb.load(file)
    worst = worst_stop(scene, category=1, delay_tolerance=0.4, samples=50)
    assert value(worst, "time") == pytest.approx(0.07 + 0.3, rel=1e-4)
    assert value(worst, "travel") == pytest.approx(2.0 * (0.07 + 0.15), rel=1e-4)
    assert any(one.delay_factors for one in worst.found)
    # no option of a command states another reaction than the scene's
    assert all(one.command is None for one in worst.found if one.delay_factors)
    exact = worst_stop(scene, category=1, samples=10)
    for found in exact.found:
        assert found.command is not None
        words = shlex.split(found.command)
        stop = json.loads(call(*words[1:], "--output-format", "json").out)
        assert stop["joints"][0]["time"] == pytest.approx(found.time, rel=1e-9)


@pytest.mark.long
def test_the_command_line_states_category_and_decelerations() -> None:
    arguments = ("worst-stop", str(ASSETS / "arm_6r.scene.toml"), "--category", "1", "--axes", "j4")
    run = (*arguments, "--deceleration", "j4=10", "--samples", "20", "--failure", "dead")
    document = json.loads(call(*run, "--output-format", "json").out)
    assert document["category"] == 1 and document["failed"]
    assert "--category 1" in document["found"][0]["command"]
    words = shlex.split(document["found"][0]["command"])
    assert "j4=10.0" in words and words[words.index("j4=10.0") - 1] == "--deceleration"
    text = call(*run).out
    assert "of category 1, seed 0" in text and "j4: given deceleration 10" in text
    distance = mb.separation_distance(worst_stop(ROD, category=1, samples=5), K=1.0, t1=0, D_DS=0, Z=0)
    assert distance.term("t2").source.startswith("worst stop of category 1 of")


@pytest.mark.long
def test_a_brake_that_fails_matters_after_the_ramp_only() -> None:
    common = {"category": 1, "brakes": [STRONG], "decelerations": {"j0": 8.0}, "samples": 30}
    worst = worst_stop(ROD, failures=(Failure("dead"), Failure("worn", 0.9)), **common)  # type: ignore[arg-type]
    dead, worn = worst.failed
    assert dead.outcome != "stopped" and worn.outcome == "stopped"
    assert worn.time == pytest.approx(value(worst, "time"), rel=1e-9)
