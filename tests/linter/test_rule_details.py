"""What the rules about joints, shapes, masses and references decide, beyond their fixtures."""

from __future__ import annotations

import re
from itertools import pairwise
from math import pi
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.linter.checks import in_degrees, twins
from mbplugin.linter.checks.loops import imitated_loops
from mbplugin.linter.rule import Finding
from mbplugin.readers.meshes import mesh_extent, mesh_problem
from places import ROOT
from planted_links import stl_box

OK, ERR = (ROOT / "tests" / "cases" / folder for folder in ("ok", "err"))
LIMIT = '<limit lower="-1" upper="1" effort="10" velocity="1"/>'


def lint_text(text: str, code: str, folder: Path) -> list[Finding]:
    file = folder / "robot.urdf"
    file.write_text(text, encoding="utf-8")
    return [finding for finding in mb.lint(file).findings if finding.code == code]


def with_limit(limit: str, type: str = "revolute") -> str:
    text = (OK / "mb120.urdf").read_text()
    assert LIMIT in text
    return text.replace(LIMIT, limit).replace('type="revolute"', f'type="{type}"')


# Names and angles


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("left_wheel", "right_wheel"),
        ("FL_hip", "FR_hip"),
        ("l_arm", "r_arm"),
        ("panda_leftfinger", "panda_rightfinger"),
        ("LeftElbow", "RightElbow"),
        ("arm_L", "arm_R"),
        ("wheel_rl", "wheel_rr"),
        ("LH_FOOT", "RH_FOOT"),
    ],
)
def test_twins_are_known_by_their_names(left: str, right: str) -> None:
    assert list(twins([right, "base", left])) == [(left, right)]


@pytest.mark.parametrize(
    "names",
    [("rolling", "lolling"), ("front_leftL", "front_rightL"), ("leg_1", "leg_2"), ("cleft", "cright_x")],
)
def test_other_names_are_no_twins(names: tuple[str, str]) -> None:
    assert not list(twins(names))


@pytest.mark.parametrize("values", [(-170, 170), (0, 135), (-90, 90), (-350, 350), (0, 45)])
def test_whole_numbers_beyond_two_turns_are_degrees(values: tuple[float, float]) -> None:
    assert in_degrees(values)


@pytest.mark.parametrize(
    "values", [(-pi, pi), (-2 * pi, 2 * pi), (-10, 10), (-100, 100), (-1e3, 1e3), (-12, 12), (-18.85, 18.85)]
)
def test_turns_and_powers_of_ten_are_not(values: tuple[float, float]) -> None:
    assert not in_degrees(values)


# Limits


def test_zeros_alone_are_a_note(tmp_path: Path) -> None:
    (finding,) = lint_text(
        with_limit('<limit lower="-1" upper="1" effort="10" velocity="0"/>'), "MB123", tmp_path
    )
    assert finding.severity == "note"
    (finding,) = lint_text(
        with_limit('<limit lower="-1" upper="1" effort="10" velocity="-1"/>'), "MB123", tmp_path
    )
    assert finding.severity == "warning"


def test_a_continuous_joint_needs_no_bounds(tmp_path: Path) -> None:
    text = with_limit('<limit effort="10" velocity="1"/>', "continuous")
    assert not lint_text(text, "MB121", tmp_path)
    assert lint_text(with_limit('<limit effort="10" velocity="1"/>'), "MB121", tmp_path)


def test_equal_limits_are_one_finding(tmp_path: Path) -> None:
    text = with_limit('<limit lower="0.3" upper="0.3" effort="10" velocity="1"/>')
    assert lint_text(text, "MB121", tmp_path)
    assert not lint_text(text, "MB127", tmp_path)


# Mimics


@pytest.mark.parametrize(("follower", "leader"), [("j", "k"), ("k", "j")])
def test_a_mimic_of_a_joint_that_closes_a_loop_imitates_none(
    follower: str, leader: str, tmp_path: Path
) -> None:
    mimic = f'<mimic joint="{leader}"><multiplier>1</multiplier><offset>0</offset></mimic>'
    joints = "".join(
        f'<joint name="{name}" type="revolute"><parent>{parent}</parent><child>{child}</child>'
        f"<axis><xyz>0 0 1</xyz>{mimic if name == follower else ''}</axis></joint>"
        for name, parent, child in (("j", "world", "a"), ("i", "a", "b"), ("k", "world", "b"))
    )
    links = '<link name="a"/><link name="b"><pose>1 0 0 0 0 0</pose></link>'
    file = tmp_path / "loop.sdf"
    file.write_text(f'<sdf version="1.11"><model name="m">{links}{joints}</model></sdf>')
    scene = mb.load(file)
    assert scene.mechanism.couplings and not list(imitated_loops(scene))


def test_an_imitated_parallelogram_lacks_the_joint_where_its_links_meet() -> None:
    """Crank (0.01, 0, 0.06) and rocker from (0.03, 0, 0): the fourth joint lies at the sum of both."""
    (loop,) = imitated_loops(mb.load(ROOT / "tests" / "cases" / "err" / "mb128.urdf"))
    assert {loop.body_a, loop.body_b} == {"rocker", "finger"}
    # along the axis of a planar loop the point is free
    assert loop.point[[0, 2]] == pytest.approx([0.04, 0.06], abs=1e-9)


@pytest.mark.parametrize("ratio", ["-0.9", "1", "2"])
def test_other_ratios_imitate_no_loop(ratio: str, tmp_path: Path) -> None:
    text = (ROOT / "tests" / "cases" / "err" / "mb128.urdf").read_text()
    assert not lint_text(text.replace('multiplier="-1"', f'multiplier="{ratio}"'), "MB128", tmp_path)


def test_a_follower_that_closes_a_loop_imitates_none(tmp_path: Path) -> None:
    """It has no coordinate of its own, so nothing is known of where its mimic leads."""
    text = (ROOT / "tests" / "cases" / "err" / "mb128.urdf").read_text()
    twice = """<joint name="second" type="revolute">
      <parent link="rocker"/><child link="finger"/><origin xyz="0.01 0 0.06"/><axis xyz="0 1 0"/>
      <limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="crank_joint" multiplier="-1"/>
    </joint></robot>"""
    assert not lint_text(text.replace("</robot>", twice), "MB911", tmp_path)


# Meshes


def test_a_package_with_a_name_that_no_folder_can_have_is_a_missing_mesh(tmp_path: Path) -> None:
    text = (ROOT / "tests" / "cases" / "err" / "mb131.urdf").read_text()
    long = re.sub(r'filename="[^"]*"', f'filename="package://{"x" * 300}/a.stl"', text)
    assert lint_text(long, "MB131", tmp_path)
    assert not lint_text(long, "MB911", tmp_path)


def test_the_extent_of_a_mesh_is_that_of_its_vertices(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    edges = (0.3, 0.2, 0.7)
    binary = tmp_path / "box.stl"
    binary.write_bytes(stl_box(*edges))
    mesh = trimesh.load(binary)
    for kind in ("stl_ascii", "obj"):
        (tmp_path / f"box.{kind[:3]}").write_bytes(b"")
    text, obj = tmp_path / "text.stl", tmp_path / "box.obj"
    text.write_text(mesh.export(file_type="stl_ascii"))
    obj.write_text(mesh.export(file_type="obj"))
    coloured = tmp_path / "coloured.obj"
    rows = "".join(f"v {x} {y} {z} 1 0 0\n" for x, y, z in mesh.vertices)
    coloured.write_text(f"# colours\n{rows}f 1 2 3\n")
    for file in (text, obj, coloured):
        assert mesh_extent(str(file)) == pytest.approx(np.array(edges), abs=1e-6), file.name
    binary.write_bytes(stl_box(*edges))
    assert mesh_problem(str(binary)) == ""
    binary.write_bytes(stl_box(*edges)[:-60])
    assert mesh_problem(str(binary)) == "is cut short"


def test_settings_of_gazebo_ask_for_nothing(tmp_path: Path) -> None:
    text = (OK / "mb131.urdf").read_text()
    settings = '<gazebo reference="arm"><mu1>0.2</mu1><kp>1e6</kp></gazebo></robot>'
    text = text.replace("</robot>", settings)
    assert not lint_text(text, "MB113", tmp_path)
    (finding,) = mb.lint(tmp_path / "robot.urdf", select=["MB153"]).findings
    assert finding.severity == "note" and finding.help.startswith("leave it")


def test_a_mesh_of_an_absent_package_is_a_note(tmp_path: Path) -> None:
    text = (OK / "mb131.urdf").read_text()
    (finding,) = lint_text(text.replace("mb131.stl", "package://absent/mb131.stl"), "MB131", tmp_path)
    assert finding.severity == "note"
    assert finding.message.endswith(
        "'package://absent/mb131.stl' of 'arm' is in a package that is not on this machine"
    )
    (tmp_path / "present").mkdir()
    (finding,) = lint_text(text.replace("mb131.stl", "package://present/mb131.stl"), "MB131", tmp_path)
    assert finding.severity == "warning"
    # a clone may have another name than the package in it
    (tmp_path / "package.xml").write_text("<package><name>absent</name></package>")
    (finding,) = lint_text(text.replace("mb131.stl", "package://absent/mb131.stl"), "MB131", tmp_path)
    assert finding.severity == "warning" and "is missing" in finding.message


def test_a_mirrored_mesh_is_a_note(tmp_path: Path) -> None:
    text = (OK / "mb132.urdf").read_text().replace('scale="1 1 1"', 'scale="1 -1 1"')
    (finding,) = lint_text(text, "MB132", tmp_path)
    assert finding.severity == "note"


# Masses


@pytest.mark.parametrize(("mass", "found"), [(0.07, True), (0.09, False), (390, False), (410, True)])
def test_a_density_is_possible_between_air_and_platinum(mass: float, found: bool, tmp_path: Path) -> None:
    # 0.4 × 0.2 × 0.2 m: 5 kg/m³ are 0.08 kg, 25 000 kg/m³ are 400 kg
    text = (OK / "mb140.urdf").read_text()
    at = text.index('name="arm"')
    text = text[:at] + text[at:].replace('<mass value="1"/>', f'<mass value="{mass}"/>', 1)
    assert bool(lint_text(text, "MB140", tmp_path)) == found


def test_a_light_cover_on_a_heavy_link_is_possible(tmp_path: Path) -> None:
    text = (OK / "mb140.urdf").read_text().replace('type="revolute"', 'type="fixed"')
    at = text.index('name="arm"')
    light = text[:at] + text[at:].replace('<mass value="1"/>', '<mass value="0.005"/>', 1)
    assert not lint_text(light, "MB140", tmp_path)


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("0 -0.1 0", False),
        # a plane of symmetry beside the parent's origin
        ("0 -0.04 0", False),
        ("0 0.1 0", False),
        ("0.02 -0.1 0", True),
        ("0 -0.1 0.03", True),
    ],
)
def test_the_place_of_a_twin_is_mirrored(place: str, found: bool, tmp_path: Path) -> None:
    text = (OK / "mb145.urdf").read_text().replace('xyz="0 -0.1 0"', f'xyz="{place}"')
    assert bool(lint_text(text, "MB145", tmp_path)) == found


@pytest.mark.parametrize(("limits", "found"), [("-0.5 1", False), ("-1 0.5", False), ("-1 1", True)])
def test_the_limits_of_a_twin_may_be_mirrored(limits: str, found: bool, tmp_path: Path) -> None:
    lower, upper = limits.split()
    text = (OK / "mb145.urdf").read_text().replace("continuous", "revolute")
    left, right = text.rsplit('<limit effort="1"', 1)
    left = left.replace('<limit effort="1"', '<limit lower="-0.5" upper="1" effort="1"')
    text = f'{left}<limit lower="{lower}" upper="{upper}" effort="1"{right}'
    assert bool(lint_text(text, "MB145", tmp_path)) == found


@pytest.mark.parametrize(
    ("old", "new", "severity"),
    [
        # shoulders and elbows of public humanoids, which differ on purpose
        ('<mass value="0.5"/>', '<mass value="0.548"/>', "note"),
        ('ixx="0.001"', 'ixx="0.0012"', "note"),
        ('<origin xyz="0 -0.1 0"/>', '<origin xyz="0.015 -0.1 0"/>', "note"),
        ('<mass value="0.5"/>', '<mass value="0.7"/>', "warning"),
        ('ixx="0.001"', 'ixx="0.0019"', "warning"),
        ('<origin xyz="0 -0.1 0"/>', '<origin xyz="0.04 -0.1 0"/>', "warning"),
    ],
)
def test_slight_differences_of_twins_are_notes(old: str, new: str, severity: str, tmp_path: Path) -> None:
    before, _, after = (OK / "mb145.urdf").read_text().rpartition(old)
    (finding,) = lint_text(before + new + after, "MB145", tmp_path)
    assert finding.severity == severity


@pytest.mark.parametrize(
    ("left", "right", "severity"),
    [("1.013", "1.13", "warning"), ("1.123", "1.213", "warning"), ("1.013", "1.12", "note")],
)
def test_a_lost_or_swapped_digit_of_a_twin_is_a_warning(
    left: str, right: str, severity: str, tmp_path: Path
) -> None:
    first, second, third = (OK / "mb145.urdf").read_text().split('<mass value="0.5"/>')
    text = f'{first}<mass value="{left}"/>{second}<mass value="{right}"/>{third}'
    (finding,) = lint_text(text, "MB145", tmp_path)
    assert finding.severity == severity


def test_the_large_difference_of_twins_comes_first(tmp_path: Path) -> None:
    before, _, after = (OK / "mb145.urdf").read_text().rpartition('<mass value="0.5"/>')
    text = f'{before}<mass value="0.548"/>{after}'
    before, _, after = text.rpartition('<origin xyz="0 -0.1 0"/>')
    (finding,) = lint_text(f'{before}<origin xyz="0.04 -0.1 0"/>{after}', "MB145", tmp_path)
    assert finding.severity == "warning" and finding.element == "hip_right"
    assert finding.message.index("in place") < finding.message.index("in mass")


@pytest.mark.parametrize(("tilt", "severity"), [("1e-5", "warning"), ("1e-8", "note")])
def test_a_loop_that_is_nearly_redundant_far_below_the_tolerance_is_a_note(
    tilt: str, severity: str, tmp_path: Path
) -> None:
    file = tmp_path / "loop.scene.toml"
    text = (ERR / "mb502.scene.toml").read_text(encoding="utf-8")
    file.write_text(text.replace("1e-5", tilt), encoding="utf-8")
    (finding,) = (one for one in mb.lint(file).findings if one.code == "MB502")
    assert finding.severity == severity


def test_axes_of_an_arm_called_l_and_r_are_no_twins(tmp_path: Path) -> None:
    """The axes S, L, E, U, R, B, T follow one another."""
    mass = '<inertial><mass value="{}"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    limit = '<limit lower="-1" upper="{}" effort="1" velocity="1"/><axis xyz="0 0 1"/>'
    names = ("s", "l", "e", "r")
    links = "".join(f'<link name="link_{n}">{mass.format(k + 1)}</link>' for k, n in enumerate(names))
    joints = "".join(
        f'<joint name="joint_{b}" type="revolute"><parent link="link_{a}"/><child link="link_{b}"/>'
        f'<origin xyz="0 0 {k}"/>{limit.format(k + 1)}</joint>'
        for k, (a, b) in enumerate(pairwise(names))
    )
    text = f'<robot name="arm">{links}{joints}</robot>'
    assert not lint_text(text, "MB145", tmp_path)
    # beside each other they are twins
    assert lint_text(text.replace('parent link="link_e"', 'parent link="link_s"'), "MB145", tmp_path)


# References


def test_a_name_that_is_nearly_right_is_proposed(tmp_path: Path) -> None:
    text = (OK / "mb150.urdf").read_text().replace('reference="arm"', 'reference="amr"')
    (finding,) = lint_text(text, "MB150", tmp_path)
    assert "did you mean 'arm'?" in finding.message


def test_the_joints_of_a_model_in_a_scene_have_its_name(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text(
        with_limit('<limit lower="1" upper="-1" effort="10" velocity="1"/>'), encoding="utf-8"
    )
    scene = tmp_path / "two.scene.toml"
    models = "".join(
        f'[[model]]\nfile = "robot.urdf"\nname = "{name}"\nbase = "fixed"\nxyz = [{x}, 0, 0]\n'
        for x, name in enumerate(("one", "two"))
    )
    scene.write_text(models, encoding="utf-8")
    (finding,) = [f for f in mb.lint(scene).findings if f.code == "MB120"]
    assert finding.evidence["elements"] == ["one/hinge", "two/hinge"]
    assert Path(finding.file).name == "robot.urdf"


def ball(mass: float, density: float) -> str:
    """Return a robot whose tool is a ball without a shape."""
    radius = (3 * mass / (4 * np.pi * density)) ** (1 / 3)
    moment = 0.4 * mass * radius**2
    return f"""<robot name="ball">
  <link name="base"/>
  <joint name="j" type="continuous"><parent link="base"/><child link="tool"/><origin xyz="0 0 1"/></joint>
  <link name="tool"><inertial><mass value="{mass!r}"/>
    <inertia ixx="{moment!r}" ixy="0" ixz="0" iyy="{moment!r}" iyz="0" izz="{moment!r}"/></inertial></link>
</robot>"""


@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize(("density", "found"), [(1e3, False), (22_600, False), (1e6, True)])
def test_nothing_is_denser_than_metal(mass: float, density: float, found: bool) -> None:
    """A ball has the smallest moments of all bodies of a mass and density: one of osmium is possible."""
    findings = mb.lint("ball.urdf", text=ball(mass, density), base="fixed", select=["MB141"]).findings
    assert [f.element for f in findings] == ["tool"] * found


@pytest.mark.filterwarnings("error")
def test_a_mass_too_small_for_numbers_has_a_radius_of_gyration() -> None:
    text = re.sub(r'mass value="[^"]*"', 'mass value="5e-324"', ball(1.0, 1e3))
    (finding,) = mb.lint("ball.urdf", text=text, base="fixed", select=["MB141"]).findings
    assert "inf" not in finding.message and "e+16" in finding.message


def test_twins_with_placeholders_may_differ_in_mass() -> None:
    text = (ERR / "mb145.urdf").read_text()
    ones = re.sub(r"<inertia [^/]*/>", '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>', text)
    for side, mass in (("left", "1"), ("right", "1.2")):
        ones = re.sub(
            rf'(<link name="leg_{side}">.*?<mass value=")[^"]*', rf"\g<1>{mass}", ones, flags=re.DOTALL
        )
    messages = [f.message for f in mb.lint("twins.urdf", text=ones, select=["MB145"]).findings]
    assert len(messages) == 1 and "in mass (1, 1.2 kg)" in messages[0]


def test_a_placeholder_that_is_turned_is_one() -> None:
    text = (ERR / "mb104.urdf").read_text()
    turned = text.replace("<inertial>", '<inertial><origin rpy="0.3 1.1 -0.7"/>')
    assert [f.code for f in mb.lint("turned.urdf", text=turned, select=["MB10"]).findings] == ["MB104"]


def with_axis(axis: str, rpy: str = "0 0 0") -> str:
    """Return twins whose right axis is another one, in a frame of its own."""
    left, right = (OK / "mb145.urdf").read_text().rsplit('<axis xyz="0 1 0"/>', 1)
    left, place = left.rsplit('<origin xyz="0 -0.1 0"/>', 1)
    return f'{left}<origin xyz="0 -0.1 0" rpy="{rpy}"/>{place}<axis xyz="{axis}"/>{right}'


@pytest.mark.parametrize(
    ("axis", "rpy", "found"),
    [
        ("0 1 0", "0 0 0", False),
        # the sense is not compared
        ("0 -1 0", "0 0 0", False),
        ("0 0 1", "0 0 0", True),
        ("1 0 0", "0 0 0", True),
        ("0 0.998 0.0628", "0 0 0", False),
        ("0 0.99 0.14", "0 0 0", True),
        # the frame counts, not the numbers of the file
        ("0 1 0", "1.5707963 0 0", True),
        ("0 0 1", "-1.5707963 0 0", False),
    ],
)
@pytest.mark.parametrize("kind", ["continuous", "prismatic"])
def test_the_axes_of_twins_are_compared_at_the_zero_pose(
    axis: str, rpy: str, found: bool, kind: str, tmp_path: Path
) -> None:
    text = with_axis(axis, rpy).replace('type="continuous"', f'type="{kind}"')
    assert text.count(f'type="{kind}"') == 2
    messages = [finding.message for finding in lint_text(text, "MB145", tmp_path)]
    assert bool(messages) == found
    assert all("'hip_left' and 'hip_right' in axis at the zero pose" in message for message in messages)


def test_mirrored_axes_are_equal(tmp_path: Path) -> None:
    """Mirrored at y = 0: the axis of a rotation is an axial vector, but its sense does not count."""
    text = with_axis("0.3 1 0.2")
    left, right = text.split('<axis xyz="0 1 0"/>')
    for mirrored in ("0.3 -1 0.2", "-0.3 1 -0.2"):
        assert not lint_text(f'{left}<axis xyz="{mirrored}"/>{right}', "MB145", tmp_path)
    assert lint_text(f'{left}<axis xyz="0.3 0.2 1"/>{right}', "MB145", tmp_path)


@pytest.mark.parametrize(
    ("size", "moment", "found"),
    [
        # 1 kg at the corners of 0.2 × 0.1 × 0.1 m: 0.0125 kg·m² about y and z
        ("0.2 0.1 0.1", 0.0125, ""),
        ("0.2 0.1 0.1", 0.0187, ""),
        ("0.2 0.1 0.1", 0.0190, "iyy 0.019 kg·m², at most 0.0125 in its shape"),
    ],
)
def test_no_inertia_exceeds_that_of_the_corners_of_the_box(
    size: str, moment: float, found: str, tmp_path: Path
) -> None:
    text = on_a_rail(f'<box size="{size}"/>', "0 0 0", (0.005, moment, moment))
    messages = [finding.message for finding in lint_text(text, "MB105", tmp_path)]
    assert [found in message for message in messages] == ([True] if found else [])
    assert not any("origin" in message for message in messages)


def test_an_inertia_about_the_joint_is_recognised(tmp_path: Path) -> None:
    """A rod of 1 kg and 0.3 m from its joint: m l²/12 about its centre of mass, m l²/3 about the joint."""
    about_center, about_joint = 0.3**2 / 12, 0.3**2 / 3
    for moment, found in ((about_center, False), (about_joint, True)):
        text = on_a_rail('<box size="0.3 0.02 0.02"/>', "0.15 0 0", (1e-4, moment, moment))
        messages = [finding.message for finding in lint_text(text, "MB105", tmp_path)]
        assert [": about its origin?" in message for message in messages] == [True] * found


def on_a_rail(shape: str, center: str, moments: tuple[float, float, float]) -> str:
    """Return a link of 1 kg that slides."""
    ixx, iyy, izz = moments
    return f"""<robot name="r"><link name="world"/><link name="a"><inertial><origin xyz="{center}"/><mass value="1"/>
<inertia ixx="{ixx}" ixy="0" ixz="0" iyy="{iyy}" iyz="0" izz="{izz}"/></inertial>
<collision><origin xyz="{center}"/><geometry>{shape}</geometry></collision></link>
<joint name="j" type="prismatic"><parent link="world"/><child link="a"/><axis xyz="1 0 0"/>{LIMIT}</joint></robot>"""


@pytest.mark.long
def test_many_spheres_are_a_body(tmp_path: Path) -> None:
    spheres = "".join(
        f'<collision><origin xyz="{k} 0 0"/><geometry><sphere radius="0.01"/></geometry></collision>'
        for k in range(4000)
    )
    text = on_a_rail('<sphere radius="1"/>', "0 0 0", (0.01, 0.01, 0.01)).replace(
        'mass value="1"', 'mass value="2000"'
    )
    assert lint_text(re.sub("<collision>.*</collision>", spheres, text), "MB140", tmp_path)


@pytest.mark.parametrize(("apart", "found"), [(0.05, False), (0.009, True)])
def test_spheres_apart_from_each_other_are_contact_points(apart: float, found: bool, tmp_path: Path) -> None:
    """Four spheres of 4.2 cm³ under a foot of 2 kg have 120 000 kg/m³; where they touch, they are its body."""
    spheres = "".join(
        f'<collision><origin xyz="{x} {y} 0"/><geometry><sphere radius="0.01"/></geometry></collision>'
        for x in (0, apart)
        for y in (0, apart)
    )
    text = on_a_rail('<sphere radius="1"/>', "0 0 0", (0.01, 0.01, 0.01))
    text = re.sub("<collision>.*</collision>", spheres, text).replace('value="1"', 'value="2"')
    assert bool(lint_text(text, "MB140", tmp_path)) == found
