"""A link that has a shape and states no mass counts as without mass, and every report says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import call

LINK = "<inertial><mass value='1'/><inertia ixx='.1' iyy='.1' izz='.1' ixy='0' ixz='0' iyz='0'/></inertial>"
SHAPE = "<visual><geometry><box size='1 .1 .1'/></geometry></visual>"


def robot(folder: Path, upper: str) -> str:
    """Return the file of an arm whose base has a shape alone, and whose upper arm has these elements."""
    limit = "<limit lower='-3' upper='3' effort='10' velocity='2'/>"
    file = folder / "arm.urdf"
    file.write_text(
        f"<robot name='arm'><link name='base'>{SHAPE}</link><link name='upper'>{upper}</link>"
        f"<link name='lower'>{LINK}</link>"
        "<joint name='j1' type='revolute'><parent link='base'/><child link='upper'/><axis xyz='0 0 1'/>"
        f"{limit}</joint><joint name='j2' type='revolute'><parent link='upper'/><child link='lower'/>"
        f"<origin xyz='.5 0 0'/><axis xyz='0 0 1'/>{limit}</joint></robot>",
        encoding="utf-8",
    )
    return str(file)


@pytest.mark.parametrize(
    "command",
    [
        ("estop", "--qd", "j1=1"),
        ("simulate", "--qd", "j1=1", "--duration", "0.1"),
        ("stop-table", "--category", "0"),
        pytest.param(("worst-stop", "--samples", "10"), marks=pytest.mark.long),
    ],
    ids=lambda command: command[0],
)
def test_reports_name_the_links_that_count_as_without_mass(command: tuple[str, ...], tmp_path: Path) -> None:
    for upper, named in ((SHAPE, True), (SHAPE + LINK, False), ("", False)):
        done = call(command[0], robot(tmp_path, upper), "--base", "fixed", *command[1:])
        assert done.code == 0
        said = " ".join(done.out.split())
        assert ("may be too small: upper" in said) is named
        # the base stands
        assert "upper, base" not in said and "base, upper" not in said


@pytest.mark.long
@pytest.mark.parametrize("command", ["reactions", "engines"])
def test_forces_name_the_links_that_count_as_without_mass_before_the_numbers(
    command: str, tmp_path: Path
) -> None:
    for upper, named in ((SHAPE, True), (SHAPE + LINK, False)):
        done = call(command, robot(tmp_path, upper), "--base", "fixed")
        first = " ".join(done.out.split("tx N")[0].split())
        assert done.code == 0 and ("1 link with a shape has no mass (--massless)" in first) is named


@pytest.mark.parametrize("command", [("stop-table",), ("worst-stop", "--samples", "10"), ("estop",)])
def test_a_joint_that_moves_no_mass_is_refused_with_the_remedy(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    file = Path(robot(tmp_path, SHAPE + LINK))
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(f"<link name='lower'>{LINK}</link>", "<link name='lower'/>"), "utf-8")
    done = call(command[0], str(file), "--base", "fixed", *command[1:])
    assert done.code == 2 and done.err.startswith("mbplugin: joint rate 'j2' moves no mass; ")
    assert "--massless pybullet" in done.err
