"""Closures that a scene states by half or twice: what is told, and that it is what was computed with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.linter.rule import Finding
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import rotation_from_rpy, rpy_from_rotation

BAR = """
[[body]]
name = "{name}"
mass = 1
com = [0.5, 0, 0]
xyz = {xyz}
rpy = {rpy}
inertia = [0.01, 0.1, 0.1]
"""
#: A four-bar of 1 m bars; the follower is turned, so that its frame is not that of the ground.
FOUR_BAR = (
    BAR.format(name="crank", xyz=[0, 0, 0], rpy=[0, 0, 1.5707963267948966])
    + BAR.format(name="coupler", xyz=[0, 1, 0], rpy=[0, 0, 0])
    + BAR.format(name="rocker", xyz=[1, 1, 0], rpy=[0, 0, -1.5707963267948966])
    + """
[[pair]]
name = "p0"
type = "revolute"
body_a = "world"
body_b = "crank"
xyz_a = [0, 0, 0]
[[pair]]
name = "p1"
type = "revolute"
body_a = "crank"
body_b = "coupler"
xyz_a = [1, 0, 0]
[[pair]]
name = "p2"
type = "revolute"
body_a = "coupler"
body_b = "rocker"
xyz_a = [1, 0, 0]
"""
)


def closure(
    name: str = "c", type: str = "revolute", a: str = "world", b: str = "rocker", **keys: object
) -> str:
    said = "".join(f"{key} = {value}\n" for key, value in keys.items())
    return f'[[closure]]\nname = "{name}"\ntype = "{type}"\nbody_a = "{a}"\nbody_b = "{b}"\n{said}'


def findings(tmp_path: Path, text: str, code: str) -> list[Finding]:
    file = tmp_path / "s.scene.toml"
    file.write_text(FOUR_BAR + text)
    return [f for f in mb.lint(file).findings if f.code == code]


def pair(tmp_path: Path, text: str) -> Pair:
    file = tmp_path / "s.scene.toml"
    file.write_text(FOUR_BAR + text)
    return mb.load(file).mechanism.pair_by_name["c"]


# One side


@pytest.mark.parametrize(
    "keys",
    [
        {"xyz_a": [1, 0, 0]},
        {"xyz_b": [1, 0, 0], "axis": [0, 0.6, 0.8]},
        {"xyz_a": [1, 0, 0], "rpy_a": [0.1, 0.2, 0.3]},
        {"xyz_b": [1, 0, 0], "rpy_b": [0.4, 1.5707963267948966, 0.3]},
    ],
)
def test_the_values_that_are_told_are_those_that_were_taken(tmp_path: Path, keys: dict[str, object]) -> None:
    (finding,) = findings(tmp_path, closure(**keys), "MB116")
    assert finding.severity == "note"
    taken = pair(tmp_path, closure(**keys))
    pasted = pair(tmp_path, closure(**keys) + finding.help.partition(":\n")[2] + "\n")
    for ours, theirs in ((pasted.X_AP, taken.X_AP), (pasted.X_BS, taken.X_BS)):
        np.testing.assert_allclose(ours.p, theirs.p, atol=1e-12)
        np.testing.assert_allclose(ours.R, theirs.R, atol=1e-12)


def test_the_side_in_the_rocker_is_where_a_hand_puts_it(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, closure(xyz_a=[1, 0, 0]), "MB116")
    assert "side b of closure 'c'" in finding.message and "'rocker'" in finding.message
    # the rocker hangs from (1, 1) along −y, so the ground's (1, 0) is 1 m along its x, turned by +90°
    np.testing.assert_allclose(finding.evidence["xyz_b"], [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(finding.evidence["rpy_b"], [0, 0, np.pi / 2], atol=1e-12)


def test_a_slip_of_five_metres_is_a_warning(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, closure(xyz_a=[6, 0, 0]), "MB116")
    assert finding.severity == "warning"
    # from the rocker's centre (1, 0.5) to (6, 0); the ground's joint is at (0, 0), 6 m away
    assert finding.evidence["distance_m"] == pytest.approx(6.0)
    assert finding.evidence["mechanism_length_m"] == pytest.approx(np.sqrt(2))


def test_two_sides_are_no_finding(tmp_path: Path) -> None:
    assert not findings(tmp_path, closure(xyz_a=[1, 0, 0], xyz_b=[1, 0, 0]), "MB116")


@pytest.mark.parametrize("seed", range(20))
def test_angles_of_a_rotation_give_it_back(seed: int) -> None:
    rpy = np.random.default_rng(seed).uniform(-3, 3, 3)
    if seed % 4 == 0:
        rpy[1] = np.pi / 2 * (-1) ** (seed // 4)
    R = rotation_from_rpy(rpy)
    np.testing.assert_allclose(rotation_from_rpy(rpy_from_rotation(R)), R, atol=1e-12)


# Twice

STATED = {"xyz_a": [1, 0, 0], "xyz_b": [1, 0, 0], "rpy_b": [0, 0, 1.5707963267948966]}


@pytest.mark.parametrize(
    ("again", "found"),
    [
        (closure("d", **STATED), True),
        # about z the frames of a revolute joint may be turned, and its bodies be swapped
        (closure("d", xyz_a=[1, 0, 0], xyz_b=[1, 0, 0]), True),
        (closure("d", a="rocker", b="world", xyz_a=[1, 0, 0], xyz_b=[1, 0, 0]), True),
        (closure("d", "continuous", xyz_a=[1, 0, 1e-5], xyz_b=[1, 0, 1e-5]), True),
        (closure("d", "spherical", xyz_a=[1, 0, 0], xyz_b=[1, 0, 0]), False),
        (closure("d", xyz_a=[1, 0, 0.1], xyz_b=[1, 0, 0.1]), False),
        (closure("d", xyz_a=[1, 0, 0], xyz_b=[1, 0, 0], axis=[0, 1, 0]), False),
        (closure("d", a="crank", xyz_a=[1, 0, 0], xyz_b=[1, 0, 0]), False),
    ],
)
def test_a_closure_that_is_stated_again_is_found(tmp_path: Path, again: str, found: bool) -> None:
    told = findings(tmp_path, closure(**STATED) + again, "MB205")
    assert [f.element for f in told] == (["d"] if found else [])


def test_a_weld_is_the_same_wherever_its_frame_is(tmp_path: Path) -> None:
    first = closure("c", "fixed", xyz_a=[1, 0, 0], xyz_b=[1, 0, 0], rpy_b=[0, 0, 1.5707963267948966])
    second = closure("d", "fixed", xyz_a=[1, 1, 0], xyz_b=[0, 0, 0], rpy_b=[0, 0, 1.5707963267948966])
    assert [f.element for f in findings(tmp_path, first + second, "MB205")] == ["d"]


YAML_URDF = """<robot name="r"><link name="world"/><link name="a"/><link name="b"/>
 <joint name="wa" type="revolute"><parent link="world"/><child link="a"/><axis xyz="0 0 1"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
 <joint name="wb" type="revolute"><parent link="world"/><child link="b"/><origin xyz="1 0 0"/>
  <axis xyz="0 0 1"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""


def test_a_loop_of_the_yaml_that_the_scene_closes_again_names_both_places(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    (tmp_path / "r.urdf").write_text(YAML_URDF)
    (tmp_path / "r.yaml").write_text("closed_loop: [[a, b]]\ntype: ['3d']\n")
    scene = tmp_path / "s.scene.toml"
    scene.write_text(
        '[[model]]\nfile = "r.urdf"\n[[closure]]\nname = "mine"\ntype = "spherical"\n'
        'body_a = "a"\nbody_b = "b"\nxyz_a = [0, 0, 0]\nxyz_b = [0, 0, 0]\n'
    )
    report = mb.lint(scene)
    (finding,) = [f for f in report.findings if f.code == "MB205"]
    assert finding.element == "mine" and Path(finding.file).name == "s.scene.toml" and finding.line == 3
    assert "r.yaml:1" in finding.message and "s.scene.toml:3" in finding.message
    assert finding.evidence["rows"] == 3


def link_by_link(tmp_path: Path, coupler: str, sides: str) -> list[Finding]:
    """Two links on hinges; what the second states, and the sides of the hinge between them."""
    path = tmp_path / "links.scene.toml"
    path.write_text(
        "[[body]]\nname = 'crank'\nmass = 1\ninertia = [0.1, 0.1, 0.1]\n"
        f"[[body]]\nname = 'coupler'\nmass = 1\ninertia = [0.1, 0.1, 0.1]\n{coupler}\n"
        "[[pair]]\nname = 'A'\ntype = 'revolute'\nbody_a = 'world'\nbody_b = 'crank'\nxyz_a = [0, 0, 0]\n"
        f"[[pair]]\nname = 'B'\ntype = 'revolute'\nbody_a = 'crank'\nbody_b = 'coupler'\n{sides}\n",
        encoding="utf-8",
    )
    return list(mb.lint(path, select=["MB116"]).findings)


def test_a_body_without_a_pose_stands_at_the_origin_where_a_pair_states_one_side(tmp_path: Path) -> None:
    """Whoever writes links by their dimensions means side b at the link frame; the note has what is computed."""
    (finding,) = link_by_link(tmp_path, "", "xyz_a = [0.3, 0, 0]")
    assert "side b of pair 'B' is not given" in finding.message
    assert "xyz_b = [0.3, 0, 0]" in finding.message
    assert "'coupler' states no pose and stands at the origin" in finding.message
    assert (tmp_path / "links.scene.toml").read_text().splitlines()[finding.line :][0] == "name = 'B'"
    assert not link_by_link(tmp_path, "", "xyz_a = [0.3, 0, 0]\nxyz_b = [0, 0, 0]")
    assert not link_by_link(tmp_path, "", "xyz_a = [0, 0, 0]\naxis = [0, 1, 1]")
    # both bodies have a place: the other side is that of the drawing
    assert link_by_link(tmp_path, "xyz = [0.3, 0, 0]", "xyz_a = [0.3, 0, 0]") == []
