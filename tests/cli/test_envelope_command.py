"""``mbplugin reactions --envelope``."""

from __future__ import annotations

import json

import pytest

from command_line import call
from places import ASSETS

FOUR_BAR = str(ASSETS / "four_bar.scene.toml")


@pytest.fixture
def motion(tmp_path):
    file = tmp_path / "swing.csv"
    call("simulate", FOUR_BAR, "--duration", "0.1", "--qd", "j0=2", "--samples", "4", "--save", str(file))
    return str(file)


@pytest.mark.long
def test_the_largest_loads_are_printed_saved_and_written(motion, tmp_path):
    saved, page = tmp_path / "loads.csv", tmp_path / "page.html"
    text = call("reactions", FOUR_BAR, "--envelope", motion, "--save", str(saved)).out
    assert "largest joint loads of 5 instants from 0 to 0.1 s (swing.csv)" in text
    assert "not bounded" in text and "j0 radial" in text
    document = json.loads(
        call("reactions", FOUR_BAR, "--envelope", motion, "--instants", "2", "--output-format", "json").out
    )
    assert document["envelope"]["time"] == [0.0, 0.1] and document["qd"]["j0"] == pytest.approx(2.0)
    radial = next(
        one for one in document["envelope"]["loads"] if one["joint"] == "j0" and one["kind"] == "radial"
    )
    rows = [line.split(",") for line in saved.read_text().splitlines() if not line.startswith("#")]
    of_csv = next(row for row in rows if row[0] == "j0" and row[2] == "radial")
    assert float(of_csv[4]) == pytest.approx(radial["value"]) and radial["unit"] == "N"
    call("reactions", FOUR_BAR, "--envelope", motion, "--output-format", "html", "--output", str(page))
    assert "Largest loads of 5 instants" in page.read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--instants", "3"), "--instants is given without --envelope"),
        (("--save", "x.csv"), "--save is given without --envelope"),
        (("--envelope", "MOTION", "--q", "j0=1"), "--envelope and --q are given together"),
        (("--envelope", "MOTION", "--save", "x.txt"), "x.txt"),
        (("--envelope", "missing.csv"), "missing.csv"),
    ],
)
def test_options_that_do_not_belong_together_are_one_sentence(motion, options, words):
    found = call("reactions", FOUR_BAR, *(motion if one == "MOTION" else one for one in options))
    assert found.code == 2 and words in found.err and found.out == ""


def test_an_arm_that_a_motion_holds_is_bolted_down_as_in_reactions(tmp_path):
    mass = '<inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
    file, motion = tmp_path / "arm.urdf", tmp_path / "motion.npz"
    file.write_text(
        f'<robot name="arm"><link name="base">{mass}</link><link name="arm">{mass}</link>'
        '<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>'
        '<limit lower="-3" upper="3" effort="90" velocity="9"/></joint></robot>'
    )
    simulated = ("simulate", str(file), "--duration", "0.01", "--save", str(motion))
    assert call(*simulated, "--base", "fixed").code == 0
    fixed = call("reactions", str(file), "--envelope", str(motion))
    assert fixed.code == 0 and "base is taken as fixed to the ground" in fixed.out.split("\n\n")[0]
    stated = call("reactions", str(file), "--base", "fixed", "--envelope", str(motion))
    assert stated.code == 0 and fixed.out.partition("\n\n")[2] == stated.out
    # the motion of a base that falls says so itself
    assert call(*simulated, "--force").code == 0
    free = call("reactions", str(file), "--envelope", str(motion))
    assert free.code == 0 and "taken as fixed" not in free.out
