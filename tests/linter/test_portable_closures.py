"""The tables of closures against the programs and the analysis: what doubles a row has one row too many."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import mbplugin as mb
from mbplugin.linter.checks.snapping import CLOSURES, TWO_POINTS
from mbplugin.model.mechanism.pair import PAIR_TYPES
from mbplugin.model.scene import LintOptions
from places import ROOT

ERR = ROOT / "tests" / "cases" / "err"

#: A hinge that closes a loop of seven freedoms as two balls on its axis: without the second one nothing is redundant.
TWO_CONNECTS = """<mujoco><compiler angle="radian"/><worldbody>
  <body name="crank" pos="0 0 0.5"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
    <joint name="a" axis="0 1 0" pos="0 0 -0.5"/>
    <body name="coupler" pos="0.5 0.1 0.5"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      <joint name="b" type="ball" pos="-0.5 -0.1 0"/>
      <body name="rocker" pos="0.5 0.1 -0.5"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
        <joint name="c" axis="1 0 0" pos="0 0 0.5"/><joint name="d" axis="0 0 1" pos="0 0 0.5"/>
      </body></body></body>
</worldbody><equality>
  <connect name="near" body1="rocker" anchor="0 0 -0.5"/>
  {}
</equality></mujoco>"""
SECOND = '<connect name="far" body1="rocker" anchor="0.01 0.1 -0.48"/>'


def codes(text: str, target: str) -> list[str]:
    return [f.code for f in mb.lint("r.xml", text=text, targets=[target], select=["MB162"]).findings]


@pytest.mark.parametrize("target", ["mujoco", "newton"])
def test_two_connects_for_a_hinge_have_a_redundant_row_that_one_has_not(target: str) -> None:
    pytest.importorskip("mujoco")
    both, one = TWO_CONNECTS.format(SECOND), TWO_CONNECTS.format("")
    assert codes(both, target) == ["MB162"] and codes(one, target) == []
    p = [mb.lint("r.xml", text=text).analysis.degree_of_redundancy for text in (both, one)]  # type: ignore[union-attr]
    assert p == [1, 0]


def test_pybullet_closes_what_the_table_says_and_hinges_by_two_points() -> None:
    pytest.importorskip("pybullet")
    from mbplugin.bullet.built import constraint_parts

    scene = mb.load(ERR / "mb162.scene.toml")
    mech, (loop,) = scene.mechanism, scene.mechanism.tree.cut
    assert "pybullet" in TWO_POINTS and loop.type == "revolute"
    parts = {kind: len(constraint_parts(mech, replace(loop, type=kind))) for kind in CLOSURES["pybullet"]}
    assert parts == {"spherical": 1, "fixed": 1, "prismatic": 1, "revolute": 2, "continuous": 2}


def test_the_tables_name_pair_types() -> None:
    assert all(types <= set(PAIR_TYPES) for types in CLOSURES.values())


@pytest.mark.parametrize("code", ["MB162", "MB163", "MB164"])
def test_without_a_target_nothing_is_reported(code: str, tmp_path: Path) -> None:
    scene = mb.load(ERR / f"{code.lower()}.scene.toml")
    assert [f.code for f in mb.lint(scene, select=[code]).findings] == [code]
    assert not mb.lint(replace(scene, options=LintOptions()), select=[code]).findings


def test_close_ends_the_findings_of_a_planar_loop() -> None:
    """Redundancy that becomes noise in PyBullet, a closure that MuJoCo lacks: both are gone in the written file."""
    pytest.importorskip("mujoco")
    scene = mb.load(ERR / "mb164.scene.toml")
    selected = ["MB163", "MB164"]
    targets = ["pybullet", "mujoco"]
    before = mb.lint(replace(scene, options=LintOptions()), select=selected, targets=targets)  # type: ignore[arg-type]
    assert {f.code for f in before.findings} == set(selected)
    text = mb.close(replace(scene, options=LintOptions()), "mjcf", measure_drift=False).text
    assert not mb.lint("closed.xml", text=text, select=selected, targets=targets).findings  # type: ignore[arg-type]
