"""A cart on two wheels alone: nothing holds its pitch when the brakes grip."""

from __future__ import annotations

from pathlib import Path

import mbplugin as mb
from mbplugin.report.html.stopping import phases_figure
from mbplugin.report.text.stop import tool_sentences
from places import ASSETS

ARM = ASSETS / "arm_6r.urdf"

WHEEL = """
[[body]]
name = "{name}"
mass = 1
xyz = [0, {y}, 0.1]
inertia = [0.003, 0.005, 0.003]

[[pair]]
name = "{name} axle"
type = "revolute"
body_a = "chassis"
body_b = "{name}"
xyz_a = [0, {y}, 0]
xyz_b = [0, 0, 0]
axis = [0, 1, 0]

[[brake]]
joint = "{name} axle"
torque = 5.0

[[pfaffian]]
name = "{name} on ground"
type = "rolling"
body = "{name}"
axis = [0, 1, 0]
radius = 0.1
plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
"""
CART = """
[[body]]
name = "chassis"
mass = 10
xyz = [0, 0, 0.1]
com = [0.05, 0, 0.1]
inertia = [0.2, 0.2, 0.2]
"""


def test_it_tips_and_has_no_way_to_rest(tmp_path: Path) -> None:
    scene = tmp_path / "cart.scene.toml"
    scene.write_text(CART + WHEEL.format(name="left", y=0.2) + WHEEL.format(name="right", y=-0.2))
    stop = mb.estop(scene, qd={"left axle": 1.0, "right axle": 1.0}, duration=0.2)
    assert stop.outcome == "not_stopped"
    (still,) = [note for note in stop.notes if note.startswith("still moving")]
    assert "tips" in still and "castor" in still and "base='fixed'" not in still
    assert "until 0.2 s, not at rest" in tool_sentences(stop)[0]


def test_a_joint_that_moves_by_rounding_has_no_phase() -> None:
    stop = mb.estop(mb.load(ARM, base="fixed"), qd={"j1": 0.5})
    figure = phases_figure(stop)
    assert figure is not None
    moving = [joint.name for joint in stop.joints if abs(joint.travel) > 1e-12]
    assert [name for name in ("j1", "j2", "j3", "j4", "j5", "j6") if f"{name}: " in str(figure)] == moving
