"""Grades that real files taught: what is not error, what is said once, and how links in a group are held."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import call
from mbplugin.linter.rule import Finding
from mbplugin.model.scene import Request
from mbplugin.readers import load
from mbplugin.readers.mjcf import read_mjcf
from places import ROOT

CASES = ROOT / "tests" / "cases"
MASS = '<inertial><mass value="{}"/><inertia ixx="{}" ixy="0" ixz="0" iyy="{}" iyz="0" izz="{}"/></inertial>'
LIMIT = '<limit lower="-1" upper="1" effort="10" velocity="1"/>'


def link(name: str, mass: float | None = None, *moments: float) -> str:
    inside = "" if mass is None else MASS.format(mass, *(moments or (0.1, 0.1, 0.1)))
    return f'<link name="{name}">{inside}</link>'


def joint(kind: str, parent: str, child: str, extra: str = "") -> str:
    return (
        f'<joint name="{parent}-{child}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="0 0 1"/>{LIMIT if kind != "fixed" else ""}{extra}</joint>'
    )


def findings(*elements: str, select: str = "", **options: object) -> list[Finding]:
    text = f'<robot name="robot">{"".join(elements)}</robot>'
    chosen = [select] if select else []
    found = mb.lint("robot.urdf", text=text, select=chosen, ignore=["MB161"], **options).findings  # type: ignore[arg-type]
    return list(found)


def graded(*elements: str, select: str = "", **options: object) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(f.code, f.severity, f.elements) for f in findings(*elements, select=select, **options)]


# Links without mass


def test_a_frame_that_is_fixed_to_a_mass_is_no_finding() -> None:
    assert not graded(link("base", 1), link("tool"), joint("fixed", "base", "tool"))


def test_links_that_move_without_mass_are_one_warning_stated_or_not() -> None:
    """One defect has one grade: a mass of zero, and no <inertial>."""
    hinge = joint("revolute", "base", "arm")
    unstated = graded(link("base", 1), link("arm"), link("tip"), hinge, joint("fixed", "arm", "tip"))
    assert unstated == [("MB109", "warning", ("arm", "tip"))]
    stated = graded(
        link("base", 1), link("arm", 0, 0, 0, 0), link("tip"), hinge, joint("fixed", "arm", "tip")
    )
    assert stated == [("MB101", "warning", ("arm",))]


def test_a_root_without_mass_is_a_note_until_the_base_is_free() -> None:
    robot = (link("base"), link("arm", 1), joint("revolute", "base", "arm"))
    assert graded(*robot) == [("MB109", "note", ("base",))]
    assert graded(*robot, base="free") == [("MB109", "warning", ("base",))]
    assert not graded(*robot, base="fixed")
    stated = (link("base", 0, 0, 0, 0), *robot[1:])
    assert graded(*stated) == [("MB101", "note", ("base",))]


def test_bodies_that_the_mjcf_reader_makes_are_no_findings() -> None:
    pytest.importorskip("mujoco")
    text = (
        '<mujoco><worldbody><body name="cart"><joint name="x" type="slide" axis="1 0 0"/>'
        '<joint name="y" type="slide" axis="0 1 0"/><geom size="0.1"/></body></worldbody></mujoco>'
    )
    scene = read_mjcf(text, Request("two.xml", text))
    assert [body.massless for body in scene.mechanism.bodies] == [True, False]
    assert not mb.lint(scene).findings


def test_harmless_masses_of_zero_are_one_note() -> None:
    frames = [link(f"f{k}", 0, 0.1, 0.1, 0.1) for k in range(12)]
    joints = [joint("fixed", "base", f"f{k}") for k in range(12)]
    found = findings(link("base", 1), *frames, *joints, select="MB101")
    assert [(f.severity, len(f.elements)) for f in found] == [("note", 12)]
    assert "and " in found[0].message and "more" in found[0].message


# Impossible inertias


@pytest.mark.parametrize(
    ("code", "moments"), [("MB102", (-0.1, 0.1, 0.1)), ("MB103", (0.01, 0.01, 0.1))], ids=["MB102", "MB103"]
)
def test_an_impossible_inertia_matters_less_where_a_heavier_link_carries_it(
    code: str, moments: tuple[float, float, float]
) -> None:
    links = (link("base", 5), link("arm", 1, *moments), link("leg", 1, *moments))
    moving = joint("revolute", "base", "arm") + joint("revolute", "base", "leg")
    assert graded(*links, moving) == [(code, "error", ("arm",)), (code, "error", ("leg",))]
    carried = moving.replace("revolute", "fixed")
    assert graded(*links, carried) == [(code, "warning", ("arm", "leg"))]
    if code == "MB103":
        mere = (link("base", 500), *links[1:])
        assert graded(*mere, carried) == [(code, "note", ("arm", "leg"))]
    light = (link("base", 0.5), *links[1:2])
    assert graded(*light, joint("fixed", "base", "arm")) == [(code, "error", ("arm",))]


def test_what_exporters_leave_of_no_inertia_is_none() -> None:
    """Of 1e-20 kg·m² neither sign nor triangle inequality says anything."""
    hinge = joint("revolute", "base", "arm")
    for moments in ((-1e-20, 0.0, 1e-20), (5e-21, 3e-20, 6e-20)):
        assert graded(link("base", 1), link("arm", 1, *moments), hinge) == [("MB102", "warning", ("arm",))]


# Names and limits


def test_joints_of_one_name_are_an_error() -> None:
    twice = joint("revolute", "base", "a") + joint("revolute", "base", "b").replace("base-b", "base-a")
    found = graded(link("base", 1), link("a", 1), link("b", 1), twice)
    assert [(code, severity) for code, severity, _ in found] == [("MB107", "error")]


def test_names_that_we_make_are_no_duplicates() -> None:
    """Two ball constraints without a name join the same links."""
    ball = (
        '<drake:ball_constraint><drake:ball_constraint_body_A name="a"/>'
        '<drake:ball_constraint_p_AP value="{0} 0 0"/><drake:ball_constraint_body_B name="b"/>'
        '<drake:ball_constraint_p_BQ value="{0} 0 0"/></drake:ball_constraint>'
    )
    links = (link("base", 1), link("a", 1), link("b", 1))
    joints = (joint("revolute", "base", "a"), joint("revolute", "base", "b"))
    assert not graded(*links, *joints, ball.format(0.1), ball.format(0.2), select="MB107")


def test_programs_and_sensors_of_gazebo_may_be_many() -> None:
    """Real robots have several plug-ins in one element; none of them is the one that counts."""
    plugin = '<plugin name="{0}" filename="{0}.so"/>'
    several = f'<gazebo reference="base">{plugin.format("a")}{plugin.format("b")}</gazebo>'
    assert not [f for f in findings(link("base", 1), several) if "a second" in f.message]


# Poses


def test_a_mimic_with_an_offset_is_a_note_in_the_unit_of_its_joint() -> None:
    mimic = '<mimic joint="base-a" multiplier="2" offset="0.25"/>'
    for kind, shown in (("revolute", "0.25 rad"), ("prismatic", "0.25 m")):
        joints = (joint(kind, "base", "a"), joint(kind, "base", "b", mimic))
        (finding,) = findings(link("base", 1), link("a", 1), link("b", 1), *joints)
        assert (finding.code, finding.severity) == ("MB504", "note")
        assert f"open by {shown}" in finding.message
    # a pinion that follows a rack: 0.25 rad, whatever the mechanism's length is
    turning = joint("prismatic", "base", "a") + joint("revolute", "base", "b", mimic.replace('"2"', '"20"'))
    (finding,) = findings(link("base", 1), link("a", 1), link("b", 1), turning)
    assert "open by 0.25 rad" in finding.message


def test_the_joint_that_moves_is_one_of_the_open_loop() -> None:
    """Another mimic moves its joint farther, by a smaller gap: its leader follows too. What follows moves first."""
    wide, of_c, of_d = (
        f'<mimic joint="base-{leader}" offset="{offset}"/>'
        for leader, offset in (("a", 0.3), ("c", 0.2), ("d", 0.25))
    )
    joints = joint("revolute", "base", "a") + joint("revolute", "base", "b", wide)
    joints += joint("revolute", "base", "c") + joint("revolute", "base", "d", of_c)
    joints += joint("revolute", "base", "e", of_d)
    (finding,) = findings(*(link(name, 1) for name in ("base", *"abcde")), joints)
    assert finding.element == "mimic base-b" and "open by 0.3 rad" in finding.message
    assert "when base-b moves by 0.3 rad" in finding.message


def test_a_loop_that_only_a_rotation_leaves_open_is_open_by_an_angle(tmp_path: Path) -> None:
    """Axes through one point: all origins are there, whatever the angles are."""
    scene = tmp_path / "spherical.scene.toml"
    frames = "rpy_a = [{t}, 0, 0], rpy_b = [0, 0, 0]"
    pair = '{{ name = "j{k}", type = "revolute", body_a = "{a}", body_b = "b{k}", ' + frames + " }}"
    joints = ", ".join(
        pair.format(k=k, a=f"b{k - 1}" if k > 1 else "world", t=1.1 * (k > 1)) for k in (1, 2, 3)
    )
    bodies = ", ".join(
        f'{{ name = "b{k}", mass = 1, com = [0, 0, 0.2], inertia = [1, 1, 1] }}' for k in (1, 2, 3)
    )
    frames = "rpy_a = [1.1, 0, 0], rpy_b = [-1.1, 0, 0]"
    closing = f'{{ name = "last", type = "revolute", body_a = "b3", body_b = "world", {frames} }}'
    scene.write_text(
        f"body = [{bodies}]\npair = [{joints}]\nclosure = [{closing}]\nstate.q = {{ j1 = 0.3 }}\n"
    )
    (finding,) = [f for f in mb.lint(scene).findings if f.code == "MB504"]
    assert " rad, and closes to " in finding.message and " m, and" not in finding.message


def test_the_scene_that_is_offered_closes_the_pose(tmp_path: Path) -> None:
    mimic = '<mimic joint="base-a" multiplier="-1" offset="0.4"/>'
    joints = joint("revolute", "base", "a") + joint("revolute", "base", "b", mimic)
    robot = tmp_path / "my robot.urdf"
    robot.write_text(f'<robot name="r">{link("base", 1)}{link("a", 1)}{link("b", 1)}{joints}</robot>')
    scene = tmp_path / "scenes" / "closed.scene.toml"
    scene.parent.mkdir()
    assert call("lint", str(robot), "--write-scene", str(scene)).code == 0
    report = mb.lint(scene, ignore=["MB161"])
    assert not report.findings
    assert report.scene is not None
    a, b = (report.scene.state.q[report.scene.mechanism.q_names.index(n)] for n in ("base-a", "base-b"))
    assert a + b == pytest.approx(0.4, abs=1e-12)
    refused = call("lint", str(scene), "--write-scene", str(tmp_path / "again.scene.toml"))
    assert (refused.code, "needs a model file" in refused.err) == (2, True)


# One fact, one warning


def test_a_redundant_loop_is_one_warning() -> None:
    report = mb.lint(ROOT / "assets" / "four_bar.scene.toml")
    grades = [(f.code, f.severity) for f in report.findings]
    notes = [("MB202", "note"), ("MB301", "note"), ("MB401", "note")]
    assert grades == [("MB201", "warning"), *notes]
    (warning, *_) = report.findings
    assert "restrains translation along z, rotation about x, rotation about y of j3 twice" in warning.message


def test_a_rounded_angle_and_its_plateau_are_one_error() -> None:
    found = mb.lint(CASES / "err" / "mb501.urdf", select=["MB5"]).findings
    assert [f.severity for f in found if f.code == "MB501"] == ["error"]
    assert all(f.severity == "note" for f in found if f.code == "MB502")


def test_mjcf_is_told_of_its_softness_and_of_elements_that_it_has(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    rod = '<inertial pos="{} 0 0" mass="1" diaginertia="1 1 1"/>'
    file = tmp_path / "weld.xml"
    file.write_text(
        '<mujoco><worldbody><body name="a"><joint name="j" axis="0 0 1"/>' + rod.format(0.5) + "</body>"
        '<body name="b" pos="1 0 0"><joint name="k" axis="0 0 1"/>' + rod.format(0.5) + "</body></worldbody>"
        '<equality><weld name="w" body1="a" body2="b"/></equality></mujoco>'
    )
    found = {f.code: f for f in mb.lint(file).findings}
    assert "solref" in found["MB301"].message and "arbitrary" not in found["MB301"].message
    assert "MB507" in found["MB201"].help and "<connect> in place of <weld>" in found["MB507"].help
    assert "point-on" not in found["MB201"].help.partition("(")[0]


def test_limits_that_a_loop_leaves_are_one_finding() -> None:
    (finding,) = mb.lint(CASES / "err" / "mb505.scene.toml", select=["MB505"]).findings
    assert finding.elements == tuple(finding.evidence["joints"])
    assert np.isfinite(finding.evidence["limits_rad"]).all()


# What belongs to another program


GAZEBO = (
    '<gazebo><link name="rod"><inertial><mass>1</mass></inertial><pose>0 0 1 0 0 0</pose></link></gazebo>'
    '<gazebo><joint name="base-arm" type="revolute"><parent>rod</parent><child>arm</child>'
    "<axis><xyz>0 0 1</xyz></axis></joint></gazebo>"
)


def test_a_joint_that_gazebo_adds_may_have_the_name_of_a_joint() -> None:
    """PR2's grippers do so, where Gazebo leaves the joint of the URDF out."""
    found = graded(link("base", 1), link("arm", 1), joint("revolute", "base", "arm"), GAZEBO, select="MB107")
    assert found == [("MB107", "warning", ("base-arm",))]


def test_a_link_that_gazebo_adds_is_no_root_of_the_urdf() -> None:
    robot = (link("base", 1), link("arm", 1), joint("revolute", "base", "arm"), GAZEBO)
    assert not graded(*robot, select="MB110")
    scene = load("robot.urdf", text=f'<robot name="r">{"".join(robot)}</robot>', base="fixed")
    assert [pair.body_b for pair in scene.mechanism.pairs if pair.body_a == "world"] == ["base"]


def test_words_of_mujoco_and_pybullet_in_a_urdf_are_notes() -> None:
    extension = '<mujoco><compiler meshdir="m"/></mujoco>'
    ball = joint("spherical", "base", "arm").replace('upper="1"', 'upper="1" twist="0.3"')
    found = findings(link("base", 1), link("arm", 1), extension, ball, select="MB113")
    found += findings(link("base", 1), extension, select="MB153")
    assert {f.severity for f in found} == {"note"} and {f.element for f in found} == {"robot", "base-arm"}


def test_a_link_of_negligible_mass_has_no_density_whichever_end_of_a_fixed_joint_it_is() -> None:
    box = '<collision><geometry><box size="0.5 0.5 0.5"/></geometry></collision></link>'
    dummy, trunk = (
        link(name, mass).replace("</link>", box) for name, mass in (("base", 1e-6), ("trunk", 20))
    )
    assert not graded(dummy, trunk, joint("fixed", "base", "trunk"), select="MB140")
    assert graded(dummy, trunk, joint("revolute", "base", "trunk"), select="MB140")


def test_a_list_of_links_keeps_its_numbers() -> None:
    carried = [link(f"sensor_mount_link_{k}", 0.1, 0.001, 0.001, 0.01) for k in range(2)]
    joints = [joint("fixed", "base", f"sensor_mount_link_{k}") for k in range(2)]
    (found,) = findings(link("base", 5), *carried, *joints, select="MB103")
    assert "'sensor_mount_link_0': 0.01 exceeds 0.001 + 0.001 kg·m² by 0.008" in found.message


@pytest.mark.parametrize(("density", "found"), [(5.0, False), (4.9, True)])
def test_a_density_of_five_is_the_least(density: float, found: bool) -> None:
    """The ant of Gymnasium states it for all its geoms."""
    pytest.importorskip("mujoco")
    legs = "".join(
        f'<body name="leg{k}"><joint name="j{k}"/>'
        f'<geom type="capsule" fromto="0 0 0 {size} {size} 0" size="0.08"/></body>'
        for k, size in enumerate((0.2, 0.3, 0.7))
    )
    default = f'<default><geom density="{density}"/></default>'
    text = f"<mujoco>{default}<worldbody>{legs}</worldbody></mujoco>"
    scene = read_mjcf(text, Request("ant.xml", text))
    assert ("MB140" in {f.code for f in mb.lint(scene).findings}) == found
