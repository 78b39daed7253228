"""Rules about contacts: statics by hand, stances on the command line, and requests that cannot be meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mbplugin as mb
from command_line import call
from mbplugin.errors import BadUsage
from places import ASSETS, ROOT

CASES = ROOT / "tests" / "cases"
FOUR, THREE = str(CASES / "err" / "mb303.scene.toml"), str(CASES / "ok" / "mb303.scene.toml")
TIPPING = CASES / "err" / "mb304.scene.toml"
RULES = ["MB302", "MB303", "MB304"]
FEET = ((0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2))


def dog(tmp_path, effort: float = 30.0) -> str:
    mass = '<inertial><mass value="{}"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
    ball = '<collision><origin xyz="0 0 -0.4"/><geometry><sphere radius="0.02"/></geometry></collision>'
    legs = "".join(
        f'<link name="foot_{k}">{mass.format(0.5)}{ball}</link><joint name="hip_{k}" type="revolute">'
        f'<parent link="trunk"/><child link="foot_{k}"/><origin xyz="{x} {y} 0"/><axis xyz="0 1 0"/>'
        f'<limit lower="-1" upper="1" effort="{effort}" velocity="9"/></joint>'
        for k, (x, y) in enumerate(FEET)
    )
    file = tmp_path / "dog.urdf"
    file.write_text(f'<robot name="dog"><link name="trunk">{mass.format(8)}</link>{legs}</robot>')
    return str(file)


def test_the_bounds_of_a_square_table_are_those_of_statics() -> None:
    report = mb.lint(FOUR)
    (finding,) = report.findings
    weight = 10 * 9.81
    bounds = finding.evidence["bounds_N"]
    assert set(bounds) == {f"{side} {end}" for side in ("left", "right") for end in ("front", "rear")}
    for one in bounds.values():
        assert one["cn"] == pytest.approx([0.0, weight / 2], abs=1e-9)
    assert finding.evidence["redundant"] == 1 and finding.evidence["joints"] == []
    assert "left front 0 … 49.05 N" in finding.message and finding.elements == tuple(bounds)


def test_three_legs_without_friction_are_silent_and_with_friction_share_only_that() -> None:
    assert not mb.lint(THREE).findings
    text = (CASES / "ok" / "mb303.scene.toml").read_text().replace("mu = 0", "mu = 0.5")
    (finding,) = mb.lint("three.scene.toml", text=text).findings
    assert finding.code == "MB303" and finding.message.startswith("the friction forces of 3 contacts")
    assert all("cn" not in one for one in finding.evidence["bounds_N"].values())


def test_a_table_that_tips_names_its_line_and_one_that_slips_its_friction() -> None:
    (finding,) = mb.lint(TIPPING).findings
    assert "tips it about the line through front and left rear; right rear opens" in finding.message
    pushed = TIPPING.read_text().replace("[2.0, 0.3, 0]", "[0, 0, -0.7]").replace("[0, 0, -50]", "[20, 0, 0]")
    (finding,) = mb.lint("pushed.scene.toml", text=pushed.replace("mu = 0", "mu = 0.1")).findings
    # 20 N against 98.1 N of weight
    assert finding.code == "MB304" and "slip at" in finding.message
    assert f"at least {20 / (10 * 9.81):.4g}" in finding.evidence["expected"]
    held = pushed.replace("mu = 0", "mu = 0.3")
    assert [f.code for f in mb.lint("pushed.scene.toml", text=held).findings] == ["MB303"]


def test_a_point_beside_the_shapes_is_a_finding() -> None:
    scene = (ASSETS / "table.scene.toml").read_text().replace('role = "visual"', 'role = "collision"')
    (finding,) = mb.lint("table.scene.toml", text=scene, select=RULES).findings
    assert finding.code == "MB304" and "away from the collision shapes" in finding.message


def test_a_stance_counts_the_joints_that_the_feet_leave_open(tmp_path) -> None:
    file = dog(tmp_path)
    assert not mb.lint(file, select=RULES).findings
    report = mb.lint(file, stance=["foot_*"], friction=0.5, select=RULES)
    (finding,) = report.findings
    assert finding.code == "MB303" and "4 contacts" in finding.message
    assert sorted(finding.evidence["joints"]) == [f"hip_{k}" for k in range(4)]
    # the whole weight on a diagonal
    assert finding.evidence["bounds_N"]["contact foot_0"]["cn"] == pytest.approx([0.0, 5 * 9.81], abs=1e-6)
    assert report.analysis.degree_of_redundancy == 0 and report.stance.friction == 0.5
    # motors of 3 N·m share the loads out further
    weak = mb.lint(dog(tmp_path, 3.0), stance=True, friction=0.5, select=["MB303"])
    lower, upper = weak.findings[0].evidence["bounds_N"]["contact foot_0"]["ct1"]
    assert max(-lower, upper) == pytest.approx(3.0 / 0.42, rel=1e-3)


@pytest.mark.long
def test_a_command_line_says_what_it_assumes(tmp_path) -> None:
    file = dog(tmp_path)
    run = call("lint", file, "--stance", "foot_*")
    assert run.code == 0 and "MB303" in run.out
    assert "Assumed: taken as standing on 4 contacts: foot_0, foot_1, foot_2, foot_3" in " ".join(
        run.out.split()
    )
    stated = call("lint", file, "--stance", "foot_0,foot_1,foot_2", "--friction", "0.4")
    assert "Assumed" not in stated.out
    document = json.loads(call("lint", file, "--stance", "foot_*", "--output-format", "json").out)
    assert document["stance"] == {
        "links": [f"foot_{k}" for k in range(4)],
        "friction": 0.8,
        "assumed_friction": True,
    }
    assert "stance" not in json.loads(call("lint", file, "--output-format", "json").out)
    sarif = json.loads(call("lint", FOUR, "--output-format", "sarif").out)
    (result,) = sarif["runs"][0]["results"]
    assert result["ruleId"] == "MB303"
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 7
    page = call("lint", file, "--stance", "foot_*", "--output-format", "html").out
    assert "non-unique-contact-force" in page and "foot_3" in page


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--stance", "foot_9"), "foot_9"),
        (("--stance", "trunk"), "trunk has no shape"),
        (("--stance", "foot_*", "--base", "fixed"), "base is fixed"),
        (("--friction", "0.5"), "no stance"),
        (("--stance", "foot_*", "--friction", "-1"), "coefficient of friction"),
        (("--stance", "foot_0,foot_0"), "twice"),
    ],
)
def test_a_stance_that_cannot_be_is_refused(tmp_path, options, words) -> None:
    run = call("lint", dog(tmp_path), *options)
    assert run.code == 2 and words in " ".join((run.out + run.err).split())


def test_contacts_where_there_are_none_are_refused(tmp_path) -> None:
    with pytest.raises(BadUsage, match="has no contacts"):
        mb.lint(dog(tmp_path), contacts=True)
    contact = {"body_a": "foot_0", "point": [0, 0, -0.42], "normal": [0, 0, 1], "mu": 0.5}
    with pytest.raises(BadUsage, match="the same"):
        mb.lint(dog(tmp_path), contacts=[contact, contact])
    with pytest.raises(BadUsage, match="away from the collision shapes"):
        mb.lint(dog(tmp_path), contacts=[contact | {"point": [0, 0, -1]}])
    with pytest.raises(BadUsage, match="has no mu"):
        mb.lint(dog(tmp_path), contacts=[{k: v for k, v in contact.items() if k != "mu"}])


def test_contacts_of_the_call_hold_beside_those_of_the_scene() -> None:
    fourth = {"body_a": "table", "point": [0.5, -0.3, -0.7], "normal": [0, 0, 1], "mu": 0}
    (finding,) = mb.lint(THREE, contacts=[fourth]).findings
    # four points, of which (0.5, 0) and the left rear one span a line without the new one
    assert finding.code == "MB303" and len(finding.elements) == 4


def test_an_arm_on_feet_is_not_bolted_down_as_well(tmp_path) -> None:
    """Its base is free to press on the feet only: none of them carries more than the weight."""
    text = (
        Path(dog(tmp_path))
        .read_text()
        .replace("foot", "ball")
        .replace("hip", "elbow")
        .replace("trunk", "plate")
    )
    file = tmp_path / "arm.urdf"
    file.write_text(text[: text.index('<link name="ball_1"')] + "</robot>")
    plate = '<link name="plate"><collision><geometry><box size="0.4 0.4 0.9"/></geometry></collision>'
    file.write_text(file.read_text().replace('<link name="plate">', plate))
    (finding,) = mb.lint(file, stance=["plate"], friction=0.5, select=["MB303"]).findings
    for one in finding.evidence["bounds_N"].values():
        assert one["cn"][0] >= 0 and one["cn"][1] <= 8.5 * 9.81


def test_what_the_inequalities_determine_is_not_reported() -> None:
    """The weight stands over the edge of the front legs: the rear ones carry nothing, whatever the rank says."""
    text = Path(FOUR).read_text().replace("[0.5,", "[0.0,").replace("[-0.5,", "[-1.0,")
    assert not mb.lint("edge.scene.toml", text=text, select=RULES).findings


def test_a_joint_that_is_open_without_contacts_is_not_counted_again(tmp_path) -> None:
    scene = tmp_path / "twin.scene.toml"
    dog(tmp_path)
    scene.write_text(
        '[[model]]\nfile = "dog.urdf"\nbase = "free"\n\n[[closure]]\nname = "twin"\ntype = "revolute"\n'
        'body_a = "trunk"\nbody_b = "foot_0"\nxyz_a = [0.3, 0.2, 0.1]\nrpy_a = [-1.5707963267948966, 0, 0]\n'
        "xyz_b = [0, 0, 0.1]\nrpy_b = [-1.5707963267948966, 0, 0]\n\n"
        "[state.q]\nhip_0 = 0\n"
    )
    alone = mb.lint(scene, select=["MB301"])
    assert "hip_0" in alone.findings[0].evidence["components"]
    (finding,) = mb.lint(scene, stance=["foot_*"], friction=0.5, select=["MB303"]).findings
    assert sorted(finding.evidence["joints"]) == ["hip_1", "hip_2", "hip_3"]
