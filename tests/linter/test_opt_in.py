"""Rules that are off by default, and how they are switched on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mbplugin as mb
from command_line import call
from mbplugin.choices import SIMULATORS
from mbplugin.errors import BadUsage
from mbplugin.linter.rule import Rule, Selection, find_rule, rules
from places import ORACLES, ROOT

ERR = ROOT / "tests" / "cases" / "err"
#: A file whose only finding is that of a rule that is off by default.
NAMES = ERR / "mb160.urdf"
OPT_IN = [rule for rule in rules() if rule.opt_in]


def codes(*arguments: object) -> list[str]:
    document = json.loads(call("lint", *map(str, arguments), "--output-format", "json").out)
    return [finding["code"] for finding in document["findings"]]


@pytest.mark.bullet
@pytest.mark.parametrize("rule", OPT_IN, ids=lambda rule: rule.code)
def test_what_is_off_by_default_is_silent_and_switched_on_by_name(rule: Rule) -> None:
    (file,) = ERR.glob(f"{rule.code.lower()}.urdf")
    assert not mb.lint(file).findings
    assert [f.code for f in mb.lint(file, extend_select=[rule.code]).findings] == [rule.code]
    assert [f.code for f in mb.lint(file, select=[rule.code]).findings] == [rule.code]


@pytest.mark.parametrize(
    ("selection", "codes"),
    [
        (Selection(), {"MB101"}),
        (Selection(extend_select=("MB160",)), {"MB101", "MB160"}),
        (Selection(extend_select=("mb1",)), {"MB101", "MB160"}),
        (Selection(select=("MB160",)), {"MB160"}),
        (Selection(select=("MB2",)), set()),
        (Selection(select=("MB2",), extend_select=("MB101",)), {"MB101"}),
        (Selection(ignore=("MB16",), extend_select=("MB160",)), {"MB101"}),
    ],
)
def test_what_is_selected(selection: Selection, codes: set[str]) -> None:
    assert {code for code in ("MB101", "MB160") if selection.includes(find_rule(code))} == codes


def test_the_command_line_the_configuration_and_a_scene_switch_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    robot = tmp_path / "robot.urdf"
    robot.write_text(NAMES.read_text())
    assert codes(robot) == []
    assert codes(robot, "--extend-select", "mb160") == ["MB160"]
    config = tmp_path / "mbplugin.toml"
    config.write_text('extend-select = ["MB160"]\n')
    assert codes(robot) == ["MB160"]
    # what the command line adds is beside the configuration
    assert codes(robot, "--extend-select", "MB144") == ["MB144", "MB160"]
    assert f"extend-select: MB160 ({config}:1)" in call("config", str(robot)).out
    config.write_text('\nextend-select = ["MB777"]\n')
    assert f"{config}:2: extend-select names 'MB777'" in call("lint", str(robot)).err
    config.unlink()
    scene = tmp_path / "robot.scene.toml"
    scene.write_text('[[model]]\nfile = "robot.urdf"\n\n[lint]\nextend_select = ["MB160"]\n')
    assert codes(scene) == ["MB160"]


@pytest.mark.long
@pytest.mark.bullet
def test_collisions_is_short_for_its_rule() -> None:
    file = ERR / "mb135.urdf"
    assert codes(file, "--collisions") == codes(file, "--extend-select", "MB135") == ["MB135"]
    assert find_rule("MB135").name == "overlapping-links"


def test_the_list_of_rules_says_what_is_off() -> None:
    lines = call("rule").out.splitlines()
    assert {line[:5] for line in lines if ", off)" in line} == {rule.code for rule in OPT_IN}
    document = json.loads(call("rule", "MB160", "--output-format", "json").out)
    assert document["rules"][0]["opt_in"] is True
    assert call("rule", "MB160").out.startswith("MB160 unportable-name (note, off)\n")


def test_targets_are_stated_on_the_command_line_and_in_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    robot = tmp_path / "gripper.urdf"
    robot.write_text((ERR / "mb161.urdf").read_text())
    # PyBullet is the simulator where none is named
    assert codes(robot) == codes(robot, "--target", "pybullet", "--target", "mujoco") == ["MB161"]
    assert codes(robot, "--target", "mujoco") == []
    (tmp_path / "mbplugin.toml").write_text('targets = ["pybullet"]\n')
    assert codes(robot) == ["MB161"]
    assert codes(robot, "--target", "mujoco") == []
    refused = call("lint", str(robot), "--target", "pybulet")
    assert (refused.code, refused.out) == (2, "")
    assert "--target is 'pybulet'; expected one of mujoco" in refused.err
    with pytest.raises(BadUsage, match=r"targets\[0\] is 'bullet'; expected 'mujoco'"):
        mb.lint(robot, targets=["bullet"])  # type: ignore[list-item]


URDF = """<robot name="r" xmlns:drake="http://drake.mit.edu">
  <link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="b"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
  {}
</robot>"""
LOOP = '<loop_joint name="l" type="revolute"><link1 link="a"/><link2 link="b"/></loop_joint>'
BALL = (
    '<drake:ball_constraint><drake:ball_constraint_body_A name="a"/><drake:ball_constraint_body_B name="b"/>'
    '<drake:ball_constraint_p_AP value="0 0 0"/><drake:ball_constraint_p_BQ value="0 0 0"/></drake:ball_constraint>'
)
MJCF = """<mujoco><worldbody>
  <body name="a"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><joint name="j" axis="0 0 1"/></body>
  <body name="b"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><joint name="k" axis="0 0 1"/></body>
</worldbody><equality>{}</equality></mujoco>"""


@pytest.mark.parametrize(
    ("name", "text", "ignoring"),
    [
        ("r.urdf", URDF.format(LOOP), {"mujoco", "newton", "gazebo", "drake", "pybullet"}),
        ("r.urdf", URDF.format(BALL), {"mujoco", "newton", "isaac", "gazebo", "pybullet"}),
        ("r.xml", MJCF.format('<connect body1="a" body2="b" anchor="0 0 0"/>'), {"pybullet"}),
        ("r.xml", MJCF.format('<weld body1="a" body2="b"/>'), {"drake", "pybullet"}),
        ("r.xml", MJCF.format('<joint joint1="j" joint2="k"/>'), {"drake", "pybullet"}),
        ("r.urdf", URDF.format(""), set()),
    ],
)
def test_what_simulators_ignore_depends_on_how_it_is_written(
    name: str, text: str, ignoring: set[str]
) -> None:
    findings = mb.lint(name, text=text, select=["MB161"], targets=SIMULATORS).findings
    assert {finding.evidence["target"] for finding in findings} == ignoring


@pytest.mark.parametrize("equality", [0, 1])
def test_mujoco_reads_a_mimic_and_ignores_a_loop(equality: int) -> None:
    """The table against the program itself: a mimic becomes an equality, a loop joint does not."""
    mujoco = pytest.importorskip("mujoco")
    text = (ERR / "mb161.urdf").read_text() if equality else URDF.format(LOOP)
    assert mujoco.MjModel.from_xml_string(text).neq == equality


# Links that overlap

ARM = (ERR / "mb135.urdf").read_text()
SRDF = '<robot name="case"><disable_collisions link1="{}" link2="{}" reason="Never"/></robot>'


def overlapping(text: str, file: Path) -> list[tuple[str, str]]:
    file.write_text(text)
    findings = mb.lint(file, select=["MB135"]).findings
    assert all(f.code == "MB135" for f in findings)
    return [(f.element, f.message.rpartition("file: ")[2]) for f in findings]


@pytest.mark.bullet
@pytest.mark.parametrize(
    ("old", "new", "depth"),
    [
        # the boxes are 0.1 m high, and the links 0.06 m apart
        ("", "", 40),
        ('xyz="0 0 -0.05"', 'xyz="0 0 -0.03"', 20),
        ('xyz="0 0 -0.05"', 'xyz="0 0 -0.0095"', None),
        ('xyz="0 0 -0.05"', 'xyz="1 0 -0.05"', None),
        ('<box size="0.4 0.1 0.1"/>', '<cylinder radius="0.05" length="0.1"/>', 40),
        ('<box size="0.4 0.1 0.1"/>', '<sphere radius="0.05"/>', 40),
    ],
)
def test_the_depth_of_an_overlap_is_that_of_the_shapes(
    old: str, new: str, depth: float | None, tmp_path: Path
) -> None:
    found = overlapping(ARM.replace(old, new), tmp_path / "arm.urdf")
    assert found == ([("fore", f"'base' and 'fore' ({depth} mm)")] if depth else [])


@pytest.mark.bullet
def test_a_mesh_counts_as_its_hull(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((400, 100, 100)).export(tmp_path / "box.stl")
    mesh = ARM.replace('<box size="0.4 0.1 0.1"/>', '<mesh filename="box.stl" scale="0.001 0.001 0.001"/>')
    assert overlapping(mesh, tmp_path / "arm.urdf") == [("fore", "'base' and 'fore' (40 mm)")]


@pytest.mark.long
@pytest.mark.bullet
def test_pairs_that_the_srdf_disables_and_joined_links_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.with_suffix(".srdf").write_text(SRDF.format("upper", "fore"))
    assert overlapping(ARM, file)
    file.with_suffix(".srdf").write_text(SRDF.format("fore", "base"))
    assert overlapping(ARM, file) == []
    file.with_suffix(".srdf").unlink()
    # upper and base overlap too, and the shoulder joins them
    assert len(overlapping(ARM.replace('xyz="0 0 0.11"', 'xyz="0 0 0.05"'), file)) == 1
    # as does a tool that is fixed to the forearm
    tool = '<link name="tool"/><joint name="t" type="fixed"><parent link="fore"/><child link="tool"/></joint>'
    assert len(overlapping(ARM.replace("</robot>", tool + "</robot>"), file)) == 1


def test_a_code_alone_is_one_code_and_an_unknown_one_an_error() -> None:
    file = ORACLES / "four_bar_4R.sdf"
    assert {f.code[:3] for f in mb.lint(file, select="MB2").findings} == {"MB2"}
    with pytest.raises(BadUsage, match="select names 'XX', which no rule has"):
        mb.lint(file, select=["XX"])
