"""A remedy found at a singular pose: it holds around that pose, and the report says that it does not there."""

from __future__ import annotations

from pathlib import Path

import pytest

import mbplugin as mb
from mbplugin.errors import BadScene

BAR = "mass = 1, com = [0.1, 0, 0], inertia = [1e-4, 2e-3, 2e-3]"
#: A parallelogram that lies flat on its ground, at which its two assemblies meet.
FLAT = f"""
body = [{{ name = "a", {BAR} }}, {{ name = "b", xyz = [0.2, 0, 0], {BAR} }}, {{ name = "c", xyz = [0.5, 0, 0], {BAR} }}]
pair = [
  {{ name = "A", type = "revolute", body_a = "world", body_b = "a", xyz_a = [0, 0, 0], axis = [0, 1, 0] }},
  {{ name = "B", type = "revolute", body_a = "a", body_b = "b", xyz_a = [0.2, 0, 0], axis = [0, 1, 0] }},
  {{ name = "C", type = "revolute", body_a = "world", body_b = "c", xyz_a = [0.5, 0, 0], axis = [0, 1, 0] }},
]
"""
CLOSURE = """
[[closure]]
name = "D"
type = "revolute"
body_a = "b"
body_b = "c"
xyz_b = [0.2, 0, 0]
axis = [0, 1, 0]
"""


def scene_of(folder: Path, text: str) -> Path:
    (folder / "flat.scene.toml").write_text(text)
    return folder / "flat.scene.toml"


@pytest.mark.long
def test_a_remedy_at_a_singular_pose_says_where_it_is_proved(tmp_path: Path) -> None:
    report = mb.lint(scene_of(tmp_path, FLAT + CLOSURE))
    said = " ".join(str(report.analysis).split())
    assert report.analysis is not None and report.analysis.singular_pose
    where = (
        "proved: 0 redundant constraints, mobility 1, at the poses around this singular one; at it some stays"
    )
    assert where in said and "poses around this singular one" in " ".join(report.to_html().split())
    weaker = CLOSURE.replace("revolute", "point-on-line")
    mended = mb.analyze(scene_of(tmp_path, FLAT + weaker))
    # the two bars are in line: what is along them stays restrained twice, at this pose alone
    assert (mended.degree_of_redundancy, mended.structural_redundancy) == (1, 0)
    assert mb.analyze(tmp_path / "flat.scene.toml", {"A": 0.5, "B": -0.5, "C": 0.5}).degree_of_redundancy == 0


def test_a_table_pasted_beside_a_list_says_how_to_write_both(tmp_path: Path) -> None:
    pasted = scene_of(tmp_path, FLAT + CLOSURE + '[[pair]]\nname = "C"\ntype = "spherical"\n')
    with pytest.raises(BadScene, match=r"write either \[\[pair\]\] for each pair or pair = \[…\] for all"):
        mb.load(pasted)
