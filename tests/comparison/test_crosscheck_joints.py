"""Every parameter of a joint that PyBullet tells is compared, and every difference has its own row."""

from __future__ import annotations

from pathlib import Path

import pytest

import mbplugin as mb
from command_line import call
from mbplugin.bullet import quiet, session

TEXT = """<robot name="r"><link name="{root}"/>
<link name="a"><inertial><mass value="2"/>
<inertia ixx=".1" iyy=".2" izz=".2" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><origin xyz="0 0 .1"/><mass value="1"/>
<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn" type="{kind}"><parent link="{root}"/><child link="a"/>
<origin xyz=".1 .2 .3" rpy=".3 .4 .1"/>
<axis xyz="0 .6 .8"/><limit lower="-1" upper="1.5" effort="30" velocity="2"/>
<dynamics damping="0.3" friction="0.2"/></joint>
<joint name="slide" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>
<limit lower="-.2" upper=".3" effort="50" velocity="1"/>
<dynamics damping="7" friction="5"/></joint></robot>"""

CHANGES = [
    ('damping="0.3"', 'damping="0.5"', "joint damping", "turn", 0.2, "N·m·s/rad"),
    ('friction="0.2"', 'friction="0.9"', "joint friction", "turn", 0.7, "N·m"),
    ('friction="0.2"', "", "joint friction", "turn", 0.2, "N·m"),
    ('lower="-1"', 'lower="-1.25"', "lower limit", "turn", 0.25, "rad"),
    ('upper="1.5"', 'upper="1.75"', "upper limit", "turn", 0.25, "rad"),
    ('effort="30"', 'effort="31"', "effort limit", "turn", 1.0, "N·m"),
    ('velocity="2"', 'velocity="2.5"', "velocity limit", "turn", 0.5, "rad/s"),
    ('damping="7"', 'damping="8"', "joint damping", "slide", 1.0, "N·s/m"),
    ('friction="5"', 'friction="5.5"', "joint friction", "slide", 0.5, "N"),
    ('upper=".3"', 'upper=".4"', "upper limit", "slide", 0.1, "m"),
    ('effort="50"', 'effort="60"', "effort limit", "slide", 10.0, "N"),
    ('velocity="1"', 'velocity="3"', "velocity limit", "slide", 2.0, "m/s"),
    ('type="prismatic"', 'type="revolute"', "number of differing freedoms", "slide", 2.0, "1"),
]  # fmt: skip


def written(folder: Path, name: str, old: str = "", new: str = "", root: str = "ground") -> Path:
    text = TEXT.format(root=root, kind="revolute")
    assert old in text
    path = folder / name
    path.write_text(text.replace(old, new) if old else text, encoding="utf-8")
    return path


@pytest.mark.long_after(5)
@pytest.mark.bullet
@pytest.mark.parametrize("root", ["ground", "world"])
@pytest.mark.parametrize(("old", "new", "quantity", "joint", "off", "unit"), CHANGES)
def test_a_file_with_one_other_number_differs_in_that_one(
    tmp_path: Path, root: str, old: str, new: str, quantity: str, joint: str, off: float, unit: str
) -> None:
    scene = mb.load(written(tmp_path, "ours.urdf", root=root), base="fixed")
    other = written(tmp_path, "other.urdf", old, new, root=root)
    found = mb.crosscheck(scene, 0.05, against=str(other))
    assert found.verdict == "disagrees" and not found.steps
    (row,) = [row for row in found.rows if not row.agrees]
    assert (row.quantity, row.element, row.unit) == (quantity, joint, unit)
    assert row.deviation == pytest.approx(off, rel=1e-12)
    number = f"{off:.3g}" + ("" if unit == "1" else f" {unit}")
    assert found.reason == (
        f"the models differ: {quantity} of {joint!r} by {number}; the motions were not compared"
    )


@pytest.mark.bullet
def test_a_limit_that_only_one_has_is_a_difference_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "endless.urdf"
    path.write_text(TEXT.format(root="ground", kind="continuous").replace('lower="-1" upper="1.5"', ""))
    scene = mb.load(written(tmp_path, "ours.urdf"), base="fixed")
    found = mb.crosscheck(scene, 0.05, against=str(path))
    off = {(row.quantity, row.element) for row in found.rows if not row.agrees}
    assert off == {("presence of a lower limit", "turn"), ("presence of a upper limit", "turn")}


@pytest.mark.bullet
def test_an_axis_without_a_direction_is_a_difference_without_a_number(tmp_path: Path) -> None:
    """PyBullet divides 0 0 0 by its length and goes on with no numbers."""
    path = written(tmp_path, "axis.urdf", '<axis xyz="1 0 0"/>', '<axis xyz="0 0 0"/>')
    outcome = call("crosscheck", str(path), "--base", "fixed", "--duration", "0.01")
    assert "presence of a joint frame of 'slide'" in outcome.out and "nan" not in outcome.out


@pytest.mark.bullet
def test_a_client_whose_joint_rubs_more_differs(tmp_path: Path) -> None:
    """PyBullet tells what was loaded; what ``changeDynamics`` makes of it later it does not."""
    scene = mb.load(written(tmp_path, "ours.urdf"), base="fixed")
    other = written(tmp_path, "other.urdf", 'damping="7" friction="5"', 'damping="9" friction="5"')
    with session() as (bullet, client):
        with quiet():
            flags = bullet.URDF_USE_INERTIA_FROM_FILE
            bullet.loadURDF(str(other), useFixedBase=True, flags=flags, physicsClientId=client)
        found = mb.crosscheck(scene, 0.05, against=client)
    (row,) = [row for row in found.rows if not row.agrees]
    assert (row.quantity, row.element, row.deviation) == ("joint damping", "slide", pytest.approx(2.0))


@pytest.mark.bullet
def test_limits_that_pybullet_gives_an_endless_joint_of_the_own_file_are_a_note(tmp_path: Path) -> None:
    path = tmp_path / "ours.urdf"
    path.write_text(TEXT.format(root="ground", kind="continuous"))
    found = mb.crosscheck(mb.load(path, base="fixed"), 0.05)
    assert found.agrees, found.reason
    for which in ("lower", "upper"):
        note = f"PyBullet reads another {which} limit of 'turn'; limits are off in both motions"
        assert note in found.notes


@pytest.mark.bullet
def test_a_quaternion_that_pybullet_ignores_is_told(tmp_path: Path) -> None:
    """The half turn about z is in the file, and not in PyBullet."""
    old, new = 'rpy=".3 .4 .1"', 'quat_xyzw="0 0 1 0"'
    path = written(tmp_path, "turned.urdf", old, new)
    note = f"PyBullet ignores the quat_xyzw of 'turn' ({path}"
    for options in ((), ("--against", str(path))):
        done = call("crosscheck", str(path), "--base", "fixed", "--duration", "0.05", *options)
        assert note.replace(" ", "") in "".join(done.out.split())
    plain = mb.crosscheck(mb.load(written(tmp_path, "plain.urdf"), base="fixed"), 0.05)
    assert not any("quat_xyzw" in note for note in plain.notes)
