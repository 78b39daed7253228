"""The category 1 table of a TM5-700: a ramp fitted at 33 and 66 % of speed predicts the distances at 100 %."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import mbplugin as mb
from places import ROOT

MEASURED = ROOT / "examples" / "published_stops"


@pytest.fixture(scope="module")
def fitted() -> mb.Calibration:
    robot = mb.load(MEASURED / "tm5_700.urdf", base="fixed")
    return mb.calibrate(robot, MEASURED / "tm5_700.csv", hold_out="speed=100%")


def held(fitted: mb.Calibration, joint: str) -> list[float]:
    """How far the predicted distances are from the published ones, as shares."""
    rows = [row for row in fitted.rows if row.held_out and row.joint == joint]
    return [abs(row.distance_deviation or 0.0) for row in rows]


def test_the_ramps_have_constant_times(fitted: mb.Calibration) -> None:
    assert [joint.law for joint in fitted.joints] == ["ramp_time"] * 3
    for joint in fitted.joints:
        assert joint.parameters["time"].value == pytest.approx(0.30, abs=0.01)
        assert (joint.rows, joint.held_out) == (18, 9)


@pytest.mark.parametrize(
    ("joint", "within", "of_nine"), [("joint_1", 0.05, 9), ("joint_2", 0.10, 7), ("joint_3", 0.10, 8)]
)
def test_distances_at_full_speed_are_predicted(
    fitted: mb.Calibration, joint: str, within: float, of_nine: int
) -> None:
    deviations = held(fitted, joint)
    assert len(deviations) == 9
    assert sum(deviation <= within for deviation in deviations) == of_nine


def test_the_outliers_are_named(fitted: mb.Calibration) -> None:
    """Full payload at the smaller extensions for joint 2, a third of it at 66 % of extension for joint 3."""
    named = [row.line for row in fitted.rows if any("distance" in clause for clause in row.unexplained)]
    lines = (MEASURED / "tm5_700.csv").read_text().splitlines()
    assert [lines[line - 1] for line in named] == [
        "joint_3,1,33,66,100,457,23.41",
        "joint_2,1,100,33,100,356,30.98",
        "joint_2,1,100,66,100,343,31.10",
    ]


def test_the_times_are_not_those_of_a_ramp(fitted: mb.Calibration) -> None:
    for joint in fitted.joints:
        assert joint.time_scatter is None and joint.distance_scatter is not None
        assert any("settling" in note and "not fitted" in note for note in joint.notes)
        assert joint.undetermined == (("time", "reaction"),)
    first = fitted.rows[0]
    assert first.shape_index == pytest.approx(2 * 9.00 / (0.33 * 180 * 0.364))
    assert any("settling" in clause for clause in first.unexplained)


def test_a_scene_takes_the_fitted_ramps(fitted: mb.Calibration, tmp_path: Path) -> None:
    file = tmp_path / "tm5.scene.toml"
    shutil.copy(MEASURED / "tm5_700.urdf", tmp_path)
    file.write_text(f'[[model]]\nfile = "tm5_700.urdf"\nbase = "fixed"\n\n{fitted.toml}')
    ramps = {ramp.joint: ramp for ramp in mb.load(file).ramps}
    for joint in fitted.joints:
        assert ramps[joint.joint].time == pytest.approx(joint.parameters["time"].value, rel=1e-5)
        assert ramps[joint.joint].reaction == 0.0
