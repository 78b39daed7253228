"""A pose that rounded angles leave open by 4 µrad: which components are unique does not hang on the cut."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

import mbplugin as mb
from invariance.on_mechanism import Posed, at_the_same_pose

#: Two hinges hold the crank to the ground at 1.5708 rad, the rocker stands on it at π/2.
MODEL = """<robot name="braced four-bar">
  <link name="world"/><link name="crank"/><link name="coupler"/><link name="rocker"/>
  <joint name="j0" type="continuous"><parent link="world"/><child link="crank"/>
    <origin rpy="{angle} 0 0"/><axis xyz="0 0 1"/></joint>
  <joint name="j1" type="continuous"><parent link="crank"/><child link="coupler"/>
    <origin xyz="0 1 0"/><axis xyz="0 0 1"/></joint>
  <joint name="j2" type="continuous"><parent link="coupler"/><child link="rocker"/>
    <origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>
  <loop_joint name="j3" type="revolute"><link1 link="world" xyz="1 0 0" rpy="1.5707963267948966 0 0"/>
    <link2 link="rocker" xyz="0 -1 0"/><axis xyz="0 0 1"/></loop_joint>
  <loop_joint name="brace" type="revolute"><link1 link="world" xyz="0.3 0 0" rpy="{angle} 0 0"/>
    <link2 link="crank" xyz="0.3 0 0"/><axis xyz="0 0 1"/></loop_joint>
</robot>"""
#: By hand: the crank stands, coupler and rocker are a truss of three hinges, whose forces in the plane are
#: determined; every loop of parallel axes is held three times too often, and the brace pulls at j0.
IN_PLANE = {"j1": ["tx", "ty"], "j2": ["tx", "ty"], "j3": ["tx", "ty"]}


@pytest.mark.parametrize("angle", ["1.5707963267948966", "1.5708"])
def test_forces_in_the_plane_are_determined_at_every_cut(tmp_path: Path, angle: str) -> None:
    file = tmp_path / "braced.urdf"
    file.write_text(MODEL.format(angle=angle))
    closed = mb.analyze(mb.load(file), samples=0)
    mech = closed.mechanism
    for cut in combinations(["j0", "j1", "j2", "j3", "brace"], 2):
        pairs = tuple(replace(p, closure=p.name in cut) for p in mech.pairs)
        change = at_the_same_pose(Posed(mech, closed.q), replace(mech, pairs=pairs))
        found = mb.analyze(change.model, change.q, samples=0)
        assert (found.degree_of_redundancy, found.dof) == (7, 0)
        unique = {v.name: [c.name for c in v.components if c.unique] for v in found.constraints}
        assert {name: unique[name] for name in IN_PLANE} == IN_PLANE, cut
