"""A stopping table with measured stops beside the computed ones: closed forms, and what is not covered."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import jsonschema
import pytest

import mbplugin as mb
from command_line import call
from mbplugin.report.documents.part import schema_of
from measured_stops import friction, ramp, table, written

#: A boom about a vertical axis, with the inertia 3·0.6² + 0.36 = 1.44 kg·m², and what stops it.
SCENE = """
gravity = [0.0, 0.0, -9.81]
body = [{ name = "boom", mass = 3.0, com = [0.6, 0, 0], inertia = [0.001, 0.36, 0.36] }]
pair = [{ name = "j0", type = "revolute", body_a = "world", body_b = "boom", xyz_a = [0, 0, 0], velocity = 3 }]
ramp = [{ joint = "j0", reaction = 0.02, time = 0.3 }]
brake = [{ joint = "j0", torque = 5.0, viscous = 1.0, delay = 0.03 }]
"""
SPEEDS = (1.0, 2.0, 3.0)
BRAKED = table(friction(0.03, 5.0, 1.0), SPEEDS)
LED = table(ramp(0.02, 0.3), SPEEDS, category=1)
OPTIONS = ("--axes", "j0", "--tool", "boom")


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    file = tmp_path / "boom.scene.toml"
    file.write_text(SCENE, encoding="utf-8")
    return file


@pytest.mark.parametrize("rows", [BRAKED, LED])
def test_what_is_computed_is_the_closed_form(robot: Path, tmp_path: Path, rows: str) -> None:
    made = mb.stopping_table(robot, axes=["j0"], tool="boom", measured=written(tmp_path, rows))
    assert made.measured is not None and len(made.measured.rows) == 3
    for row in made.measured.rows:
        assert row.time_computed == pytest.approx(row.time_measured, rel=1e-5)
        assert row.distance_computed == pytest.approx(row.distance_measured, rel=1e-5)


def test_a_stop_that_took_longer_is_named_with_its_line(robot: Path, tmp_path: Path) -> None:
    lines = BRAKED.splitlines()
    joint, category, speed, time, way = lines[2].split(",")
    lines[2] = ",".join((joint, category, speed, repr(1.25 * float(time)), way))
    table = mb.stopping_table(robot, axes=["j0"], tool="boom", measured=written(tmp_path, "\n".join(lines)))
    longer = table.measured
    assert longer is not None
    assert "line 3" in longer.sentence and "20.0 % (time, line 3)" in longer.sentence
    assert longer.sentence.startswith("TOO SHORT: of 3 measured stops, ")
    (verdict,) = re.findall(r'<p class="verdict (\w+)">([^<]*)', table.to_html())
    assert verdict[0] == "bad" and "TOO SHORT for 1 of 3 measured stops" in verdict[1]
    # with half the torque every stop takes longer than measured
    weak = mb.stopping_table(
        robot.read_text() and _with(robot, "torque = 5.0", "torque = 2.0"),
        axes=["j0"],
        tool="boom",
        measured=written(tmp_path, BRAKED),
    ).measured
    assert weak is not None and all(row.far and row.covered for row in weak.rows)
    assert weak.sentence.startswith(
        "none of 3 measured stops took longer or went farther than computed. TOO LONG: 3 of 3 are computed more"
        " than 50 % longer or farther than measured (line 2, 3, 4), by up to "
    )
    worst = max(max(row.time_deviation or 0, row.distance_deviation or 0) for row in weak.rows)
    assert f"by up to {100 * worst:.0f} % (" in weak.sentence


@pytest.mark.parametrize(("factor", "far"), [(1.49, False), (1.51, True)])
def test_a_model_of_another_robot_is_called_one(
    factor: float, far: bool, robot: Path, tmp_path: Path
) -> None:
    """One measured distance is much shorter than computed; its line and the deviation are named."""
    lines = BRAKED.splitlines()
    joint, category, speed, time, way = lines[2].split(",")
    lines[2] = ",".join((joint, category, speed, time, repr(float(way) / factor)))
    table = mb.stopping_table(robot, axes=["j0"], tool="boom", measured=written(tmp_path, "\n".join(lines)))
    assert table.measured is not None and [row.far for row in table.measured.rows] == [False, far, False]
    assert ("51 % (distance, line 3)" in table.measured.sentence) == far
    assert ("and none is computed more than 50 % longer or farther" in table.measured.sentence) != far
    (verdict,) = re.findall(r'<p class="verdict (\w+)">([^<]*)', table.to_html())
    assert ("TOO LONG for 1 of 3 measured stops" in verdict[1]) == far
    assert [row["far"] for row in json.loads(table.text("json"))["measured"]["rows"]] == [False, far, False]


def test_every_format_has_them_and_the_record_the_file(robot: Path, tmp_path: Path) -> None:
    measured = written(tmp_path, BRAKED)
    digest = hashlib.sha256(measured.read_bytes()).hexdigest()
    said = {
        kind: call("stop-table", str(robot), *OPTIONS, "--measured", str(measured), "--output-format", kind)
        for kind in ("text", "json", "html", "csv")
    }
    assert [one.code for one in said.values()] == [0] * 4
    document = json.loads(said["json"].out)
    jsonschema.validate(document, schema_of("stop-table"))
    assert [row["line"] for row in document["measured"]["rows"]] == [2, 3, 4]
    assert digest in [file["sha256"] for file in document["record"]["files"]]
    for one in said.values():
        assert digest in "".join(one.out.split())
        assert "measured stops took longer or went farther than computed" in " ".join(
            one.out.replace("# ", "").split()
        )
    without = json.loads(call("stop-table", str(robot), *OPTIONS, "--output-format", "json").out)
    assert "measured" not in without and without["rows"] == document["rows"]


def test_a_file_that_is_no_table_of_stops_writes_nothing(robot: Path, tmp_path: Path) -> None:
    measured, output = written(tmp_path, BRAKED.replace("j0,", "j7,")), tmp_path / "table.json"
    done = call("stop-table", str(robot), *OPTIONS, "--measured", str(measured), "--output", str(output))
    assert done.code == 2 and "j7" in done.err and not output.exists()


def _with(file: Path, old: str, new: str) -> Path:
    text = file.read_text(encoding="utf-8")
    assert old in text
    changed = file.with_name(f"changed_{file.name}")
    changed.write_text(text.replace(old, new), encoding="utf-8")
    return changed
