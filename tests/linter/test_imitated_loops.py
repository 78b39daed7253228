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
from mbplugin.linter.rule import Finding

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


#: Crank, coupler and rocker of a four-bar, m, with their boxes; ratios of a straight line through its angles.
LINKS = {"drive": (0.1, 0.2), "couple": (0.2, 0.3), "follow": (0.16, 0.3)}


def straight_lines(ratios: tuple[float, float] = (-1.21, 0.63), reach: float = 1.0, box: float = 1.0) -> str:
    """A four-bar whose coupler and rocker follow its crank with constant ratios."""
    text = '<link name="base"/>'
    for name, (length, mass) in LINKS.items():
        half = length / 2
        text += f"""<link name="{name}"><inertial><origin xyz="{half} 0 0"/><mass value="{mass}"/>
          <inertia ixx="1e-5" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>
          <visual><origin xyz="{half} 0 0"/>
          <geometry><box size="{length * box} {0.01 * box} {0.01 * box}"/></geometry></visual></link>"""
    for joint, parent, child, x, ratio in (
        ("motor", "base", "drive", 0.0, None),
        ("knuckle", "drive", "couple", 0.1, ratios[0]),
        ("rear", "base", "follow", 0.25, ratios[1]),
    ):
        mimic = "" if ratio is None else f'<mimic joint="motor" multiplier="{ratio}"/>'
        text += f"""\n<joint name="{joint}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
          <origin xyz="{x} 0 0"/><axis xyz="0 0 1"/><limit lower="{-reach}" upper="{reach}" effort="5" velocity="3"/>
          {mimic}</joint>"""
    return f'<robot name="lines">{text}</robot>'


def imitated(text: str, folder: Path) -> tuple[Finding, ...]:
    (folder / "gripper.urdf").write_text(text)
    return mb.lint(folder / "gripper.urdf", select=["MB128"]).findings


def test_a_four_bar_in_straight_lines_is_named_with_its_error(tmp_path: Path) -> None:
    text = straight_lines()
    (found,) = imitated(text, tmp_path)
    assert found.element == "motor" and text.splitlines()[found.line - 1].startswith('<joint name="motor"')
    assert "'couple' and 'follow'" in found.message and "error up to 24.5 mm over its range" in found.message
    # without the mimics, what is pasted moves the rocker about as they did
    (tmp_path / "gripper.urdf").write_text(re.sub("<mimic[^>]*>", "", text))
    scene = mb.load(with_pasted(tmp_path, found.help.partition("\n")[2]))
    run = mb.simulate(scene, 0.2, q={"motor": 0.5}, qd={"motor": 2.0})
    first, last = (dict(zip(scene.mechanism.q_names, run.q[k], strict=True)) for k in (0, -1))
    assert mb.analyze(scene, q={"motor": 0.5}).dof == 1
    assert last["motor"] - first["motor"] > 0.1
    for q in (first, last):
        assert abs(q["rear"]) > 0.1 and q["knuckle"] == pytest.approx(-1.21 * q["motor"], abs=0.25)


@pytest.mark.parametrize(
    "text",
    [
        # whole ratios are those of gears and belts
        straight_lines((-1.0, 2.0), reach=0.4),
        # over a short range any two bodies have a point that nearly stays
        straight_lines(reach=0.2),
        # the bodies do not reach the point
        straight_lines(box=0.1),
    ],
)
def test_what_follows_in_straight_lines_may_be_no_four_bar(text: str, tmp_path: Path) -> None:
    assert not imitated(text, tmp_path)


def cut_four_bar(end: str, tip: str = "", shape: str = "") -> str:
    """A four-bar whose coupler (0.3 m) and rocker (0.4 m) meet at (0.3, 0.4) m, where it is cut."""
    bars = "".join(f'<link name="{name}">{INERTIA}</link>' for name in ("base", "crank", "coupler", "rocker"))

    def hinge(name: str, a: str, b: str, place: str) -> str:
        return f"""<joint name="{name}" type="continuous"><parent link="{a}"/><child link="{b}"/>
          <origin xyz="{place}"/><axis xyz="0 0 1"/></joint>"""

    hinges = hinge("motor", "base", "crank", "0 0 0") + hinge("elbow", "crank", "coupler", "0 0.4 0")
    hinges += hinge("rear", "base", "rocker", "0.3 0 0")
    marks = "".join(
        f"""<link name="{name}">{shape}</link><joint name="{name}" type="fixed"><parent link="{bar}"/>
        <child link="{name}"/><origin xyz="{place}" rpy="0.3 0 0"/></joint>"""
        for name, bar, place in (("coupler_end", "coupler", "0.3 0 0"), ("rocker_end", "rocker", end))
    )
    return f'<robot name="cut">{bars}{hinges}{marks}{tip}</robot>'


def meeting(text: str, folder: Path) -> tuple[Finding, ...]:
    (folder / "gripper.urdf").write_text(text)
    return mb.lint(folder / "gripper.urdf", select=["MB155"]).findings


def test_where_a_linkage_was_cut_its_frames_coincide(tmp_path: Path) -> None:
    (found,) = meeting(cut_four_bar("0 0.4 0"), tmp_path)
    assert found.element == "coupler_end" and "'coupler_end' and 'rocker_end'" in found.message
    closed = mb.lint(with_pasted(tmp_path, found.help.partition("\n")[2]))
    assert closed.analysis is not None and closed.scene is not None
    assert (closed.analysis.dof, closed.analysis.degree_of_redundancy) == (1, 0)
    assert "MB155" not in {f.code for f in closed.findings}
    # it is the parallelogram of the cranks: both turn alike
    run = mb.simulate(closed.scene, 0.2, qd={"motor": 1.0})
    q = dict(zip(closed.scene.mechanism.q_names, run.q[-1], strict=True))
    assert q["motor"] == pytest.approx(q["rear"], abs=1e-6) and abs(q["motor"]) > 0.05


@pytest.mark.parametrize(
    "text",
    [
        cut_four_bar("0.01 0.4 0"),
        # what is seen is a part, and no mark
        cut_four_bar("0 0.4 0", shape='<visual><geometry><sphere radius="0.01"/></geometry></visual>'),
        # one that carries something is a link of the chain
        cut_four_bar(
            "0 0.4 0",
            '<link name="t"/><joint name="t" type="fixed"><parent link="rocker_end"/><child link="t"/></joint>',
        ).replace('<link name="t"/>', f'<link name="t">{INERTIA}</link>'),
    ],
)
def test_frames_that_mark_no_cut_are_no_finding(text: str, tmp_path: Path) -> None:
    assert not meeting(text, tmp_path)


def many_frames(count: int) -> str:
    """The first and the last of three bodies in a row, with frames that are all at one place."""
    text = "".join(f'<link name="{name}">{INERTIA}</link>' for name in ("base", "x", "y"))
    for a, b in (("base", "x"), ("x", "y")):
        text += f"""<joint name="{b}" type="continuous"><parent link="{a}"/><child link="{b}"/>
          <origin xyz="1 0 0"/></joint>"""
    for k in range(count):
        parent, place = ("base", "3 0 0") if k % 2 else ("y", "1 0 0")
        text += f"""<link name="f{k}"/><joint name="g{k}" type="fixed"><parent link="{parent}"/><child link="f{k}"/>
          <origin xyz="{place}"/></joint>"""
    return f'<robot name="r">{text}</robot>'


@pytest.mark.long
@pytest.mark.parametrize("count", [3, 3000])
def test_a_place_with_many_frames_is_no_cut(count: int, tmp_path: Path) -> None:
    """Of 3000 frames there are 4.5 million pairs: none is looked at by itself."""
    assert meeting(many_frames(2), tmp_path)
    assert not meeting(many_frames(count), tmp_path)
