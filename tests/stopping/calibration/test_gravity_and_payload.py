"""A brake is found from stops under gravity, with payloads and at several poses, which the runner computes."""

from __future__ import annotations

from pathlib import Path

import pytest

import mbplugin as mb
from measured_stops import written
from places import ROOT

ARM = ROOT / "assets" / "arm_6r.scene.toml"
TRUE = {"delay": 0.02, "torque": 900.0, "viscous": 60.0}
#: Speed of j2 (rad/s, its sign is the sense), payload (kg), and the pose of j2 and j3 (rad).
STOPS = [
    (0.5, 1.0, 0.3, 0.4),
    (1.0, 5.0, 0.3, 0.4),
    (-1.0, 5.0, 0.6, -0.2),
    (1.5, 2.0, -0.4, 0.8),
    (-1.5, 5.0, 0.9, 0.1),
]


@pytest.mark.long
def test_gravity_payload_and_pose_are_those_of_each_row(tmp_path: Path) -> None:
    arm = mb.load(ARM)
    brakes = [{"joint": f"j{k}", "torque": 1e6} for k in (1, 3, 4, 5, 6)] + [{"joint": "j2", **TRUE}]
    lines = ["joint,category,speed,sense,payload,q j2,q j3,time,distance"]
    for speed, payload, q2, q3 in STOPS:
        q, qd = {"j2": q2, "j3": q3}, dict.fromkeys(arm.mechanism.qd_names, 0.0) | {"j2": speed}
        report = mb.estop(arm, q, qd, payload=payload, brakes=brakes, limits="ignore")
        stop = report.joint("j2")
        assert report.outcome == "stopped"
        cells = ("j2", 0, abs(speed), 1 if speed > 0 else -1, payload, q2, q3, stop.time, abs(stop.travel))
        lines.append(",".join(map(str, cells)))
    found = mb.calibrate(arm, written(tmp_path, "\n".join(lines)), parameters=list(TRUE))
    values = {name: parameter.value for name, parameter in found.joints[0].parameters.items()}
    assert values == pytest.approx(TRUE, rel=2e-3)
    for row in found.rows:
        assert row.time_computed == pytest.approx(row.time_measured, abs=1e-5)
        assert row.distance_computed == pytest.approx(row.distance_measured, rel=1e-4)
