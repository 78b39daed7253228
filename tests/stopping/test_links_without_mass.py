"""A link that has a shape and states no mass counts as without mass, and every report says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mbplugin as mb
from command_line import call
from mbplugin.errors import BrokenModel

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


def with_a_massless_tip(folder: Path, upper: str = LINK) -> str:
    """Return the file of the arm whose outer link states nothing."""
    file = Path(robot(folder, SHAPE + upper))
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(f"<link name='lower'>{LINK}</link>", "<link name='lower'/>"), "utf-8")
    return str(file)


@pytest.mark.parametrize(
    "command",
    [
        ("stop-table", "--axes", "j2"),
        # all joints on the way to the tool move its payload
        ("stop-table", "--payload", "5"),
        ("worst-stop", "--samples", "10", "--payload", "5"),
        ("worst-stop", "--samples", "10", "--axes", "j2"),
        ("estop", "--qd", "j2=1"),
        ("simulate", "--qd", "j2=1"),
    ],
    ids=" ".join,
)
def test_a_joint_that_moves_no_mass_is_refused_with_the_remedy(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    done = call(command[0], with_a_massless_tip(tmp_path), "--base", "fixed", *command[1:])
    assert done.code == 2 and done.err.startswith("mbplugin: joint rate 'j2' moves no mass; ")
    assert "--massless pybullet" in done.err


@pytest.mark.parametrize("command", ["stop-table", "worst-stop", "estop", "simulate"])
def test_a_robot_without_any_mass_is_refused_with_the_remedy(command: str, tmp_path: Path) -> None:
    done = call(command, with_a_massless_tip(tmp_path, ""), "--base", "fixed")
    assert done.code == 2 and "moves no mass, as no link of the file has one; " in done.err
    assert "--massless pybullet" in done.err


@pytest.mark.parametrize(
    "command",
    [
        ("stop-table", "--category", "0"),
        (
            "stop-table",
            "--category",
            "0",
            "--payload",
            "0",
            "--brake",
            "j2:torque=5",
            "--brake",
            "j1:torque=50",
        ),
        pytest.param(("worst-stop", "--samples", "10"), marks=pytest.mark.long),
        ("estop", "--qd", "j1=1"),
        ("estop", "--qd", "j1=1", "--brake", "j1:torque=50,delay=0.01,engagement=0", "--require-brakes"),
        ("estop", "--qd", "j1=1", "--load", "lower:0,0,0", "--payload", "0"),
        ("simulate", "--qd", "j1=1", "--duration", "0.1"),
        ("modes",),
    ],
    ids=" ".join,
)
def test_a_joint_without_mass_that_is_not_moved_stays_in_place(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    """The first lines say so."""
    done = call(command[0], with_a_massless_tip(tmp_path), "--base", "fixed", *command[1:])
    assert done.code == 0
    first = " ".join(done.out.split()[:150])
    said = ("1 massless joint rigid", "1 joint without mass in place", "! j2: stays in place")
    assert any(words in first for words in said)


def test_a_table_is_that_of_the_arm_whose_massless_joint_is_fixed(tmp_path: Path) -> None:
    file = with_a_massless_tip(tmp_path)
    table = mb.stopping_table(mb.load(file, base="fixed"), categories=(0,))
    alone = tmp_path / "alone.urdf"
    text = Path(file).read_text(encoding="utf-8")
    alone.write_text(text.replace("name='j2' type='revolute'", "name='j2' type='fixed'"), encoding="utf-8")
    expected = mb.stopping_table(mb.load(alone, base="fixed"), categories=(0,))
    keys = ("joint", "time", "distance", "tool_distance", "outcome")
    assert [[row[key] for key in keys] for row in table.rows] == [
        [row[key] for key in keys] for row in expected.rows
    ]


def stops_along(file: str, folder: Path, columns: str, rows: list[str]) -> Any:
    """Return the table of a sweep along a recorded motion."""
    pq = pytest.importorskip("pyarrow.parquet")
    motion = folder / "motion.csv"
    motion.write_text("\n".join((columns, *rows)) + "\n", encoding="utf-8")
    out = folder / f"stops {Path(file).stem}"
    swept = mb.sweep(mb.load(file, base="fixed"), out, count=8, seed=2, trajectory=motion, jobs=1)
    assert swept.report.count == 8
    (file_of_stops,) = out.glob("part-*.parquet")
    return pq.read_table(file_of_stops).to_pydict()


@pytest.mark.long
def test_stops_along_a_motion_leave_a_joint_without_mass_in_place(tmp_path: Path) -> None:
    """They are those of the arm whose massless joint is fixed there."""
    file = with_a_massless_tip(tmp_path)
    alone = tmp_path / "alone.urdf"
    text = Path(file).read_text(encoding="utf-8")
    fixed = text.replace("name='j2' type='revolute'", "name='j2' type='fixed'")
    alone.write_text(fixed, encoding="utf-8")
    first = [f"{0.1 * k},{0.05 * k * k},0.3" for k in range(6)]
    found = stops_along(file, tmp_path, "time,j1,j2", first)
    expected = stops_along(str(alone), tmp_path, "time,j1", [row.rpartition(",")[0] for row in first])
    assert len(set(found["rate j1"])) > 2 and max(found["time"]) > 0.01
    for name in ("rate j1", "time", "travel j1"):
        assert found[name] == pytest.approx(expected[name], rel=1e-7, abs=1e-12)
    # one that the recording moves has no motion of its own in a stop
    with pytest.raises(BrokenModel, match="joint rate 'j2' moves no mass"):
        stops_along(file, tmp_path, "time,j1,j2", ["0,0,0", "1,1,0", "2,2,0.1"])
