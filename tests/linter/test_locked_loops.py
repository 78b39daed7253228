"""Loops that a closure locks: found, and free with the closure that the finding names."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import ROOT, call
from mbplugin.analysis.remedies import apply_changes
from mbplugin.linter.checks.snapping import locked_loops
from mbplugin.model.mechanism import Coupling, Term

LOCKED = ROOT / "tests" / "cases" / "err" / "mb507.scene.toml"
MJCF = """<mujoco><compiler autolimits="true"/><worldbody>
<body name="crank"><joint name="j1" type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .3" size=".02"/>
<body name="coupler" pos="0 0 .3"><joint name="j2" type="hinge" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 1 0 .1" size=".02"/></body></body>
<body name="rocker" pos="1 0 0"><joint name="j3" type="hinge" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 .4" size=".02"/></body></worldbody>
<equality><weld body1="coupler" body2="rocker"/></equality></mujoco>"""


def test_the_closure_that_is_named_makes_the_loop_move() -> None:
    scene = mb.load(LOCKED)
    analysis = mb.analyze(scene)
    ((_, freeing),) = locked_loops(analysis)
    assert (analysis.dof, freeing.mobility, freeing.change.new, freeing.change.axis) == (
        0,
        1,
        "revolute",
        (0, 1, 0),
    )
    moved = apply_changes(scene.mechanism, [freeing.change])
    motion = mb.simulate(moved, 0.2, q=scene.state.q, qd={"A": 1.0})
    assert motion.outcome == "completed" and abs(np.ptp(motion.q[:, 0])) > 0.05
    assert max(motion.residuals.values()) < 1e-9


def test_a_weld_of_mjcf_becomes_a_connect(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "fb.xml"
    file.write_text(MJCF)
    (found,) = [f for f in mb.lint(file).findings if f.code == "MB507"]
    assert found.element == "weld0" and found.evidence["joints"] == ["j1", "j2", "j3"]
    # MJCF has no hinge among its equalities
    assert found.help.startswith("make it spherical, <connect> in place of <weld>: then the mobility is 1")
    file.write_text(MJCF.replace("<weld body1", '<connect anchor="1 0 0.1" body1'))
    assert "MB507" not in {f.code for f in mb.lint(file).findings}


def test_the_redundancy_of_a_locked_loop_points_there() -> None:
    text = LOCKED.read_text(encoding="utf-8").replace('ignore = ["MB2", "MB3", "MB4", "MB1"]', "")
    found = {f.code: f for f in mb.lint(LOCKED.parent / "x.scene.toml", text=text).findings}
    assert found["MB201"].help.endswith("see MB507")


def test_a_closure_that_a_coupling_names_keeps_its_freedoms() -> None:
    """A universal joint has no freedom rz that the gear could turn."""
    from mbplugin import readers

    text = LOCKED.read_text(encoding="utf-8").replace('type = "fixed"', 'type = "revolute"\naxis = [1, 0, 0]')
    mech = readers.load("t.scene.toml", text=text).mechanism
    assert [freeing.change.constraint for _, freeing in locked_loops(mb.analyze(mech))] == ["C"]
    gear = Coupling("gear", "gear", (Term("C", "rz", 1.0), Term("A", "rz", 2.0)))
    assert locked_loops(mb.analyze(replace(mech, couplings=(gear,)))) == ()


@pytest.mark.parametrize("closing", ["revolute", "spherical"])
def test_a_triangle_of_bars_is_a_structure(closing: str) -> None:
    """Three bars between two pins of the ground: no closure that a hinge could be instead gives it motion."""
    body = '[[body]]\nname = "{}"\nmass = 1\nxyz = [{}, 0, 0]\ninertia = [0.01, 0.01, 0.01]\n'
    pair = '[[pair]]\nname = "{}"\ntype = "{}"\nbody_a = "{}"\nbody_b = "{}"\nxyz_a = {}\naxis = [0, 1, 0]\n'
    text = (
        body.format("a", 0)
        + body.format("b", 1)
        + pair.format("A", "revolute", "world", "a", [0, 0, 0])
        + pair.format("B", "revolute", "world", "b", [1, 0, 0])
        + f'[[closure]]\nname = "C"\ntype = "{closing}"\nbody_a = "a"\nbody_b = "b"\n'
        "xyz_a = [0.5, 0, 0.5]\nxyz_b = [-0.5, 0, 0.5]\n"
    )
    from mbplugin import readers

    analysis = mb.analyze(readers.load("t.scene.toml", text=text))
    assert analysis.dof == 0 and locked_loops(analysis) == ()


def test_it_is_in_the_json_with_the_lines_to_paste() -> None:
    document = json.loads(call("lint", str(LOCKED), "--output-format", "json").out)
    (found,) = [f for f in document["findings"] if f["code"] == "MB507"]
    assert 'name = "C"' in found["evidence"]["toml"] and found["evidence"]["mobility"] == 1
