"""What rounded angles cost: the gap in the loop as meant, and the loads of two hinges by hand."""

from __future__ import annotations

import json
import re
from math import pi
from pathlib import Path

import jsonschema
import pytest

import mbplugin as mb
from command_line import ASSETS, call
from mbplugin.constraints.assembly import assemble
from mbplugin.joint_reactions.misfit import rounding_effect
from mbplugin.joint_reactions.misfit_response import MisfitEffect
from mbplugin.readers import reload
from mbplugin.report.documents.part import schema_of

WHOLE, ROUNDED = "1.5707963267948966", "1.57075"
#: Distance of the hinges, m; their radial and their tilting stiffness, N/m and N·m/rad.
LENGTH, RADIAL, TILTING = 0.6, 1e6, 1e4
SCENE = f"""
[[body]]
name = "leaf"
mass = 4.0
com = [0.3, 0.4, 0.0]
inertia = [0.1, 0.1, 0.1]
[[pair]]
name = "lower"
type = "revolute"
body_a = "world"
body_b = "leaf"
xyz_a = [0, 0, 0]
rpy_a = [0, {WHOLE}, 0]
rpy_b = [0, {WHOLE}, 0]
[[pair]]
name = "upper"
type = "revolute"
body_a = "world"
body_b = "leaf"
xyz_a = [{LENGTH}, 0, 0]
xyz_b = [{LENGTH}, 0, 0]
rpy_a = [0, UPPER, 0]
rpy_b = [0, {WHOLE}, 0]
[[stiffness]]
pair = "lower"
k = [{RADIAL}, {RADIAL}, {RADIAL}, {TILTING}, {TILTING}, 0]
[[stiffness]]
pair = "upper"
k = [{RADIAL}, {RADIAL}, {RADIAL}, {TILTING}, {TILTING}, 0]
"""


def cost_of(folder: Path, upper: str) -> MisfitEffect | None:
    """Return the cost where the upper hinge is turned by an angle with so many digits."""
    file = folder / "leaf.scene.toml"
    file.write_text(SCENE.replace("UPPER", upper), encoding="utf-8")
    written = mb.load(file)
    meant = reload(written, snap_angles=True)
    q = assemble(meant.mechanism, written.state.q).q
    return rounding_effect(written.mechanism, meant, q, tolerance=1e-4)


def test_two_hinges_out_of_line_by_hand(tmp_path: Path) -> None:
    """The leaf turns by θ where k L²/4 θ² + c/2 (θ² + (ε − θ)²) is least: θ = c ε/(2 c + k L²/2)."""
    error = pi / 2 - float(ROUNDED)
    theta = TILTING * error / (2 * TILTING + RADIAL * LENGTH**2 / 2)
    cost = cost_of(tmp_path, ROUNDED)
    assert cost is not None
    assert cost.constraint == "upper" and cost.component.startswith("r")
    assert cost.step.size == pytest.approx(error, rel=1e-6)
    loads = {(load.constraint, load.unit): abs(load.value) for load in reversed(cost.loads)}
    force = RADIAL * LENGTH * theta / 2
    assert loads["lower", "N"] == pytest.approx(force, rel=1e-6)
    assert loads["upper", "N"] == pytest.approx(force, rel=1e-6)
    assert loads["upper", "N·m"] == pytest.approx(TILTING * (error - theta), rel=1e-6)
    assert loads["lower", "N·m"] == pytest.approx(TILTING * theta, rel=1e-6)
    assert {load.source for load in cost.loads} == {"stated"}


def test_angles_as_meant_cost_nothing(tmp_path: Path) -> None:
    assert cost_of(tmp_path, WHOLE) is None


def test_a_longer_literal_is_meant_as_it_stands(tmp_path: Path) -> None:
    assert cost_of(tmp_path, "1.570603673205103") is None


@pytest.mark.bullet
@pytest.mark.long
def test_minitaur_s_angles_cost_a_tenth_of_a_newton() -> None:
    """1.57075 for π/2 is a gap of 9.6 µm across each foot."""
    file = str(ASSETS / "minitaur.scene.toml")
    report = mb.lint(file, select=["MB501"])
    (finding,) = (one for one in report.findings if one.severity == "error")
    assert finding.message.endswith("; together they are a gap of 9.6 µm at foot_front_right ty")
    assert finding.evidence["gap"] == ["foot_front_right", "ty", pytest.approx(9.6e-6, rel=0.01)]
    assert report.rounding is not None
    force = max(abs(load.value) for load in report.rounding.loads if load.unit == "N")
    assert force == pytest.approx(0.130, rel=0.01)
    said = " ".join(call("lint", file, "-vv").out.split())
    (gap,) = re.findall(r"rounded angles together, a gap of (\S+) mm at foot_front_right ty: ", said)
    assert float(gap) == pytest.approx(9.6e-3, rel=0.01)
    document = json.loads(call("lint", file, "-v", "--output-format", "json").out)
    jsonschema.validate(document, schema_of("lint"))
    assert document["rounding"]["misfit"] == report.rounding.step.size
    assert {load["source"] for load in document["rounding"]["loads"]} == {"estimated"}
    assert "rounded angles together" in call("lint", file, "--output-format", "html").out
    assert "rounding" not in json.loads(call("lint", file, "--output-format", "json").out)
