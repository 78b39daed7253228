"""A parallelogram arm written as a tree: its rods end on links, and the hinges to paste make it move as the robot."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from places import ROOT

ARM = (ROOT / "tests" / "cases" / "err" / "mb156.urdf").read_text()
#: Nine revolute joints of a palletizing arm whose joints were written without places, axes and shapes.
BARE = "".join(
    f'<joint name="J{k}" type="revolute"><parent link="L{parent}"/><child link="L{k}"/>'
    '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    for k, parent in ((1, 0), (2, 1), (3, 2), (4, 2), (5, 1), (6, 1), (7, 6), (8, 7), (9, 8))
)


def written(folder: Path, text: str) -> Path:
    file = folder / "arm.urdf"
    file.write_text(text)
    return file


def closed(folder: Path, text: str) -> Path:
    """Write the arm on the ground, and a scene with the lines that the finding states."""
    (finding,) = mb.lint(written(folder, text), select=["MB156"]).findings
    scene = folder / "arm.scene.toml"
    scene.write_text(f'[[model]]\nfile = "arm.urdf"\nbase = "fixed"\n\n{finding.evidence["toml"]}\n')
    return scene


def test_the_hinge_to_paste_takes_away_two_freedoms_and_makes_nothing_redundant(tmp_path: Path) -> None:
    scene = closed(tmp_path, ARM)
    tree = mb.load(written(tmp_path, ARM), base="fixed")
    before, after = mb.analyze(tree), mb.analyze(scene)
    assert (before.dof, after.dof, after.degree_of_redundancy) == (3, 1, 0)
    assert not [finding for finding in mb.lint(scene).findings if finding.code == "MB156"]


def test_with_the_hinge_the_bracket_stays_level_while_the_arm_falls(tmp_path: Path) -> None:
    """In a parallelogram the rod turns as the arm does, and what joins their ends does not turn."""
    scene = closed(tmp_path, ARM)
    motion = mb.simulate(scene, q={"shoulder": 0.2}, duration=0.5, limits="ignore")
    names = motion.mechanism.q_names
    arm, bracket, rod = (motion.q[:, names.index(name)] for name in ("shoulder", "level", "rod_foot"))
    assert np.ptp(arm) > 0.3
    np.testing.assert_allclose(arm + bracket, 0.0, atol=1e-7)
    np.testing.assert_allclose(rod, arm, atol=1e-7)


def test_without_the_hinge_the_bracket_tips(tmp_path: Path) -> None:
    tree = mb.load(written(tmp_path, ARM), base="fixed")
    motion = mb.simulate(tree, q={"shoulder": 0.2}, duration=0.5, limits="ignore")
    names = motion.mechanism.q_names
    tipped = motion.q[:, names.index("shoulder")] + motion.q[:, names.index("level")]
    assert np.ptp(tipped) > 0.1


def test_frames_of_the_rod_may_be_turned(tmp_path: Path) -> None:
    """A rod whose frame and shape are turned against each other by 0.5 rad about its hinge is the same rod."""
    turned = re.sub(r'(<origin xyz="-0.05 0 0.12")', r'\1 rpy="0 0.5 0"', ARM)
    along = f"{0.2 * np.sin(-0.5):.9f} 0.015 {0.2 * np.cos(0.5):.9f}"
    turned = turned.replace('<origin xyz="0 0.015 0.2"', f'<origin xyz="{along}" rpy="0 -0.5 0"')
    assert turned.count('rpy="0 -0.5 0"') == 3
    (finding,) = mb.lint(written(tmp_path, turned), select=["MB156"]).findings
    assert "'rod' on 'bracket' at (-0.05, 0.01, 0.52) m" in finding.message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param('"0 0.015 0.2"', '"0 0.215 0.2"', id="beside"),
        pytest.param("0.015 0.01 0.42", "0.015 0.01 0.3", id="short"),
        pytest.param("0.015 0.01 0.42", "0.3 0.01 0.42", id="plate"),
        pytest.param('"-0.05 0 0.12"', '"-0.15 0 0.12"', id="elsewhere"),
        pytest.param('(name="rod_foot".*?<axis xyz=)"0 1 0"', r'\1"0.1 1 0"', id="another plane"),
        pytest.param('(name="rod_foot".*?)</joint>', r'\1<mimic joint="shoulder"/></joint>', id="imitated"),
        pytest.param("<(visual|collision)>.*?</(visual|collision)>", "", id="no shapes"),
    ],
)
def test_other_links_are_no_loose_rods(old: str, new: str, tmp_path: Path) -> None:
    changed = re.sub(old, new, ARM, flags=re.DOTALL)
    assert changed != ARM
    assert mb.lint(written(tmp_path, changed), select=["MB156"]).findings == ()


def test_joints_without_places_and_shapes_show_no_loop(tmp_path: Path) -> None:
    """All 45 pairs of the ten links meet in one point, so that nothing tells the three of the robot's loops."""
    links = "".join(f'<link name="L{k}"/>' for k in range(10))
    bare = written(tmp_path, f'<robot name="bare">{links}{BARE}</robot>')
    report = mb.lint(bare, select=["MB128", "MB155", "MB156"])
    assert report.findings == () and report.analysis is not None
    assert not np.ptp([pair.X_AP.p for pair in report.analysis.mechanism.pairs], axis=0).any()
