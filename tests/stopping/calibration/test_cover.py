"""A longer delay covers every fitted row: by closed forms, under gravity, and in the scene that is written."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import tomllib

import mbplugin as mb
from command_line import call
from mbplugin.errors import BadUsage
from mbplugin.report.documents.part import schema_of
from mbplugin.stopping.calibration.fit import RampModel
from mbplugin.stopping.calibration.intervals import as_written, covering_margin, written_up
from mbplugin.stopping.calibration.measured import Measurement
from measured_stops import boom, friction, ramp, table, written

SPEEDS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
NOISE = (0.02, 0.02)
FULL = {"speed": [100], "extension": [100], "payload": [100]}
SCENE = """
gravity = [0.0, 0.0, -9.81]
body = [{ name = "boom", mass = 3.0, com = [0.6, 0, 0], inertia = [0.001, 0.36, 0.36] }]
pair = [{ name = "j0", type = "revolute", body_a = "world", body_b = "boom", xyz_a = [0, 0, 0], axis = [0, 1, 0] }]
"""


@pytest.mark.long
@pytest.mark.parametrize(("law", "category"), [(friction(0.03, 5.0, 1.0), 0), (ramp(0.05, 0.3), 1)])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_margin_is_the_largest_gap_where_nothing_pulls(
    tmp_path: Path, law, category: int, seed: int
) -> None:
    """At constant speed during the delay, a second more is a second and ω more."""
    file = written(tmp_path, table(law, SPEEDS, noise=NOISE, seed=seed, category=category))
    plain, covered = (mb.calibrate(boom(), file, cover=cover) for cover in (False, True))
    gaps = [
        (
            max(
                row.time_measured - row.time_computed,
                (row.distance_measured - row.distance_computed) / row.speed,
            ),
            row,
        )
        for row in plain.rows
    ]
    gap, _ = max(gaps, key=lambda one: one[0])
    (joint,) = covered.joints
    assert gap > 0.005 and joint.margin is not None
    assert joint.margin.time == pytest.approx(gap, rel=1e-3)
    assert not all(row.covered for row in plain.rows) and all(row.covered for row in covered.rows)
    assert joint.parameters == plain.joints[0].parameters
    name = "delay" if category == 0 else "reaction"
    late, before = getattr(joint.stated, name), getattr(plain.joints[0].stated, name)
    # written with six digits
    assert late - before == pytest.approx(joint.margin.time, rel=1e-4)


@pytest.mark.long
def test_the_scene_that_is_written_covers_the_rows_under_gravity(tmp_path: Path) -> None:
    """Each stop again by estop: a brake that was measured with scatter, upwards and downwards."""
    robot = tmp_path / "boom.scene.toml"
    robot.write_text(SCENE)
    true = [{"joint": "j0", "torque": 60.0, "viscous": 3.0, "delay": 0.03}]
    lines = ["joint,category,speed,sense,time,distance"]
    for k, rate in enumerate((1.0, 2.0, 3.0, -1.0, -2.0, -3.0)):
        stop = mb.estop(mb.load(robot), qd={"j0": rate}, brakes=true).joint("j0")
        off = 0.02 * (-1) ** k
        lines.append(
            f"j0,0,{abs(rate)},{1 if rate > 0 else -1},{stop.time + off},{abs(stop.travel) + abs(rate) * off}"
        )
    file = written(tmp_path, "\n".join(lines))
    plain, covered = (mb.calibrate(mb.load(robot), file, cover=cover) for cover in (False, True))
    assert covered.joints[0].margin.time > 0.005
    short = {}
    for name, found in (("plain", plain), ("covered", covered)):
        scene = tmp_path / f"{name}.scene.toml"
        scene.write_text(SCENE + found.toml)
        stops = [
            (row, mb.estop(mb.load(scene), qd={"j0": row.speed * s}).joint("j0"))
            for row, s in zip(found.rows, (1, 1, 1, -1, -1, -1), strict=True)
        ]
        short[name] = [
            stop.time < row.time_measured * (1 - 1e-4)
            or abs(stop.travel) < row.distance_measured * (1 - 1e-4)
            for row, stop in stops
        ]
    assert any(short["plain"]) and not any(short["covered"])


@pytest.mark.long
def test_a_fit_that_covers_needs_no_margin(tmp_path: Path) -> None:
    file = written(tmp_path, table(friction(0.03, 5.0, 1.0), SPEEDS))
    (joint,) = mb.calibrate(boom(), file, cover=True).joints
    assert joint.margin is not None and joint.margin.time < 1e-4


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 4])
def test_the_tables_that_are_written_cover_every_row_when_they_are_read_again(
    tmp_path: Path, seed: int
) -> None:
    """The numbers of the table are those that were found to cover: a delay rounded to the nearest was too short."""
    robot = tmp_path / "boom.scene.toml"
    robot.write_text(SCENE.replace("axis = [0, 1, 0]", "axis = [0, 0, 1]"))
    file = written(tmp_path, table(friction(0.03, 5.0, 1.0), SPEEDS, noise=NOISE, seed=seed))
    found = mb.calibrate(mb.load(robot), file, cover=True)
    (stated,) = tomllib.loads(found.toml)["brake"]
    brake = found.joints[0].stated
    assert [stated[name] for name in ("delay", "torque", "viscous")] == [
        brake.delay,
        brake.torque,
        brake.viscous,
    ]
    robot.write_text(robot.read_text() + found.toml)
    again = mb.stopping_table(mb.load(robot), categories=[0], speeds={"j0": 3.0}, measured=file, grid=FULL)
    assert again.measured is not None and again.measured.sentence.startswith("none of 6 measured stops")


def test_a_number_is_written_no_smaller_than_it_is() -> None:
    for value in (0.0410371234, 0.9999999, 123456.5, 7.0, 3e-9):
        up = written_up(value)
        assert value <= up <= value * (1 + 1.1e-5) and as_written(up) == up


@pytest.mark.long
def test_text_json_and_tables_say_what_was_added(tmp_path: Path) -> None:
    robot = tmp_path / "boom.scene.toml"
    robot.write_text(SCENE.replace("axis = [0, 1, 0]", "axis = [0, 0, 1]"))
    measured = str(written(tmp_path, table(friction(0.03, 5.0, 1.0), SPEEDS, noise=NOISE, seed=1)))
    run = ("calibrate", str(robot), measured, "--cover", "--hold-out", "speed=3")
    document = json.loads(call(*run, "--output-format", "json").out)
    jsonschema.validate(document, schema_of("calibrate"))
    margin = document["joints"][0]["margin"]
    said = f"{margin['time']:.3g} s to cover line {margin['line']}"
    assert said in document["toml"]
    text = " ".join(call(*run).out.split())
    assert f"{margin['time']:.3g} s longer than the fitted one" in text
    assert "of 1 predicted row," in text and "took no longer and went no farther" in text
    assert "margin" not in json.loads(call(*run[:3], "--output-format", "json").out)["joints"][0]


def test_a_stop_that_no_delay_covers_is_refused(tmp_path: Path) -> None:
    """A stop that ends where gravity turns it round does not depend on how late the brake comes."""

    class Turned(RampModel):
        def predict(self, values):
            return super().predict({**values, "reaction": min(values["reaction"], 0.05)})

    rows = mb.calibrate(boom(), written(tmp_path, table(ramp(0.05, 0.3), SPEEDS, category=1))).rows
    stops = [Measurement(r.line, "j0", 1, r.speed, 0, None, None, (), 0.4, 0.2 * r.speed) for r in rows]
    with pytest.raises(
        BadUsage, match=r"no reaction makes the computed stop of line 2 as long.*check the payload"
    ):
        covering_margin(Turned(stops), {"reaction": 0.05, "time": 0.3}, "reaction", 0.0)
    assert covering_margin(
        RampModel(stops), {"reaction": 0.05, "time": 0.3}, "reaction", 0.0
    ).time == pytest.approx(0.05, rel=1e-3)
