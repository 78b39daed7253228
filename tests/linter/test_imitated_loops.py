"""The joints that mimics stand for are stated so that they can be pasted into a scene."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.linter.checks.loops import _normal
from mbplugin.linter.finding import Finding

#: Of a crank of a finger: in its own frame, m, which is turned by an angle, rad; and of its rocker's place, m.
CRANK, TURN, ROCKER = (0.01234567891, 0.06123456789), 0.3, 0.02987654321
INERTIA = '<inertial><mass value="0.1"/><inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial>'


def joint(name: str, bodies: tuple[str, str], x: float, z: float, turn: float, ratio: int) -> str:
    mimic = "" if name == "crank_left" else f'<mimic joint="crank_left" multiplier="{ratio}"/>'
    return f"""<joint name="{name}" type="revolute"><parent link="{bodies[0]}"/><child link="{bodies[1]}"/>
      <origin xyz="{x} 0 {z}" rpy="0 {turn} 0"/><axis xyz="0 1 0"/>
      <limit lower="-1" upper="1" effort="1" velocity="1"/>{mimic}</joint>"""


def gripper() -> str:
    """A parallelogram per finger, the right one mirrored, all led by the left crank."""
    parts = [f'<link name="base">{INERTIA}</link>']
    for side, sign in (("left", 1), ("right", -1)):
        crank, finger, rocker = (f"{part}_{side}_link" for part in ("crank", "finger", "rocker"))
        parts += [f'<link name="{link}">{INERTIA}</link>' for link in (crank, finger, rocker)]
        parts += [
            joint(f"crank_{side}", ("base", crank), 0.01 * sign, 0.0, sign * TURN, sign),
            joint(f"finger_{side}", (crank, finger), sign * CRANK[0], CRANK[1], 0.1, -sign),
            joint(f"rocker_{side}", ("base", rocker), sign * (0.01 + ROCKER), 0.0, 0.2, sign),
        ]
    return f'<robot name="gripper">{"".join(parts)}</robot>'


@pytest.fixture
def finding(tmp_path: Path) -> Finding:
    (tmp_path / "gripper.urdf").write_text(gripper())
    (found,) = [f for f in mb.lint(tmp_path / "gripper.urdf").findings if f.code == "MB128"]
    return found


def with_pasted(folder: Path, lines: str) -> Path:
    scene = folder / "gripper.scene.toml"
    scene.write_text(f'[[model]]\nfile = "gripper.urdf"\nbase = "fixed"\n\n{lines}\n')
    return scene


def test_both_fingers_of_one_leader_are_named(finding: Finding) -> None:
    for side in ("left", "right"):
        assert f"finger_{side}_link" in finding.help and f"rocker_{side}_link" in finding.help
    assert finding.evidence["mimics"] == [["finger_left", "rocker_left"], ["finger_right", "rocker_right"]]


def test_what_the_finding_says_can_be_pasted(finding: Finding, tmp_path: Path) -> None:
    """With the mimics the loops close as they are; without those that the joints replace nothing is redundant."""
    document: dict[str, Any] = json.loads(json.dumps(finding.evidence))
    assert finding.help.endswith(document["toml"])
    scene = with_pasted(tmp_path, document["toml"])
    closed = mb.lint(scene)
    assert not {"MB128", "MB502"} & {one.code for one in closed.findings}
    assert mb.analyze(scene).dof == 1
    text = gripper()
    for name in [name for loop in document["mimics"] for name in loop]:
        before, start, rest = text.partition(f'<joint name="{name}"')
        text = before + start + re.sub("<mimic[^>]*>", "", rest, count=1)
    (tmp_path / "gripper.urdf").write_text(text)
    analysis = mb.analyze(scene)
    assert (analysis.dof, analysis.degree_of_redundancy) == (1, 0)
    assert not {"MB128", "MB201", "MB502"} & {one.code for one in mb.lint(scene).findings}


def test_a_loop_that_begins_with_a_slide_has_the_normal_of_its_turns(tmp_path: Path) -> None:
    """A slide has no axis of rotation: no NaN, whichever joint comes first."""
    text = gripper().replace('"rocker_left" type="revolute"', '"rocker_left" type="prismatic"')
    (tmp_path / "gripper.urdf").write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        mb.lint(tmp_path / "gripper.urdf")


def test_the_normal_of_a_plane_is_across_its_slides() -> None:
    turn, along = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert _normal([along, turn, turn]) == pytest.approx([0.0, 1.0, 0.0])
    assert _normal([turn, np.roll(along, 1)]) is None
    assert _normal([turn, np.roll(turn, 1)]) is None
    assert _normal([along, along]) is None
