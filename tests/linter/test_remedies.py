"""What the help of a finding proposes ends the finding, and nothing else is found in the mended file."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import mbplugin as mb
from mbplugin.linter.rule import SEVERITIES, Finding, find_rule, rules
from places import ROOT
from planted_links import stl_box

ERR = ROOT / "tests" / "cases" / "err"
INERTIAL = '<inertial><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial>'
ARM_BOX = '<collision><origin xyz="0.2 0 0"/><geometry><box size="0.4 0.1 0.1"/></geometry></collision>'

#: Of the fixture of a rule: each remedy that its help names, as the replacement of a pattern.
REMEDIES: dict[str, tuple[tuple[str, str], ...]] = {
    "MB101": (('mass value="-1"', 'mass value="1"'),),
    "MB102": (('ixy="0.5"', 'ixy="0.05"'),),
    "MB103": (('izz="0.05"', 'izz="0.015"'),),
    "MB104": (('"1.0"', '"0.01"'),),
    "MB105": (('"1.67"', '"0.00167"'),),
    "MB106": (('xyz="0 0 0"/> <!-- HERE', 'xyz="0 0 1"/> <!-- HERE'), ('"revolute"', '"fixed"')),
    "MB107": (('"hinge" type="revolute"> <!-- HERE', '"wrist" type="revolute"> <!-- HERE'),),
    "MB108": (("hingee", "hinge"), ("<mimic[^>]*>", "")),
    "MB109": (('<link name="arm"/>', f'<link name="arm">{INERTIAL}</link>'), ('"revolute"', '"fixed"')),
    "MB110": (
        (
            "</robot>",
            '<joint name="wrist" type="revolute"><parent link="arm"/><child link="gripper"/>'
            '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>',
        ),
    ),
    "MB111": (
        (r'type="(revolute|prismatic)"(?=(?:(?!<limit).)*?</joint>)', 'type="continuous"'),
        (
            r'(<joint name="hinge" type="revolute">)',
            r'\1<limit lower="-1" upper="1" effort="1" velocity="1"/>',
        ),
    ),
    "MB113": (("<state[^>]*>", ""),),
    "MB114": (("0 0 0.5\\.", "0 0 0.5"),),
    "MB117": (('<robot name="[^"]*">', r'\g<0><link name="world"/>'),),
    "MB118": (('"fixed"', '"continuous"'),),
    "MB119": (
        ("<pose>1 0 0 0 0 0</pose>", "<pose>2 0 0 0 0 0</pose>"),
        ("<parent>mount", "<parent>world"),
    ),
    "MB120": (('lower="1" upper="-1"', 'lower="-1" upper="1"'),),
    "MB121": (
        ('lower="0" upper="0"', 'lower="-1" upper="1"'),
        ('"revolute"', '"fixed"'),
        ('"revolute"', '"continuous"'),
    ),
    "MB122": (('lower="-170" upper="170"', 'lower="-2.97" upper="2.97"'),),
    "MB123": (('effort="-10"', 'effort="10" velocity="1"'),),
    "MB124": (('damping="-0.5"', 'damping="0.5"'), ('damping="-0.5"', 'damping="0"')),
    "MB125": (('xyz="0 1 1"', 'xyz="0 0.70710678 0.70710678"'),),
    "MB126": (('rpy="0 0 90"', 'rpy="0 0 1.5707963267948966"'),),
    "MB127": (('lower="0.2" upper="1"', 'lower="-0.4" upper="0.4"'),),
    "MB130": (('size="0.4 0.1 0"', 'size="0.4 0.1 0.1"'), ("<(visual|collision)>.*</\\1>", "")),
    "MB131": (("no_such_mesh", "part"), ("no_such_mesh", "elsewhere")),
    "MB132": (('scale="1 1 0"', 'scale="1 1 1"'),),
    "MB133": (('"mb133.stl"', '"mb133.stl" scale="0.001 0.001 0.001"'),),
    "MB134": (('(<link name="arm">)', rf"\1{ARM_BOX}"),),
    "MB135": (
        ('xyz="0 0 -0.05"', 'xyz="0 0 0.11"'),
        (r'(.*<collision>\s*<origin xyz="0.2 0) 0"', r'\1 0.15"'),
    ),
    "MB140": (
        ('value="1000"(.*?)"7"(.*?)"17"(.*?)"17"', r'value="1"\1"0.01"\2"0.02"\3"0.02"'),
        ('size="0.4 0.2 0.2"', 'size="0.4 0.4 0.4"'),
    ),
    "MB141": (('"10000"(.*?)"20000"(.*?)"20000"', r'"0.01"\1"0.02"\2"0.02"'),),
    "MB142": (
        ('(.*)ixx="0.01"(.*?)iyy="0.01"(.*?)izz="0.01"', r'\1ixx="0.0004"\2iyy="0.0004"\3izz="0.0004"'),
    ),
    "MB143": (('xyz="200 0 0"', 'xyz="0.2 0 0"'),),
    "MB144": (
        (
            '(<robot name="[^"]*">)',
            r'\1<link name="root"/><joint name="mount" type="fixed"><parent link="root"/><child link="base"/></joint>',
        ),
    ),
    "MB145": (('"0.05"', '"0.5"'),),
    "MB146": (("0 -1 0", "0 1 0"),),
    "MB150": (("amr", "arm"), ("<gazebo[^>]*>", "")),
    "MB151": (
        ('<robot name="[^"]*">', r'\g<0><material name="orange"><color rgba="1 0.5 0 1"/></material>'),
    ),
    "MB136": (("0 0 0.5  1 0 0 1", "0 0 0.5  0.6 0 0 0.8"),),
    "MB152": (('value="2"', 'value="0.5"'),),
    "MB153": (("<transmission.*</transmission>", ""),),
    "MB155": (('0 0.4 0" rpy="0.3', '0.1 0.4 0" rpy="0.3'),),
    "MB156": (('size="0.015 0.01 0.42', 'size="0.015 0.01 0.3'),),
    "MB160": (("hinge-1", "hinge_1"),),
}
#: Rules about the model without an entry above, and why.
APART = {
    "MB112": "below: lines to paste into a scene",
    "MB115": "below: a scene",
    "MB116": "below: lines to paste into the scene",
    "MB128": "below: a scene",
    "MB129": "needs OpenUSD: tests/readers/test_usd.py",
    "MB147": "needs OpenUSD: tests/linter/test_articulation_loops.py",
    "MB161": "below: each simulator has its own",
    "MB162": "a scene: its ok case",
    "MB163": "a scene: its ok case",
    "MB164": "a scene: its ok case",
    "MB165": "needs OpenUSD: tests/linter/test_articulation_loops.py",
}


def copied(code: str, folder: Path) -> list[Path]:
    """Copy the fixture of a rule, and return its files."""
    return [Path(shutil.copy(file, folder)) for file in sorted(ERR.glob(f"{code.lower()}.*"))]


def findings(code: str, folder: Path) -> tuple[Finding, ...]:
    opt_in = [code] if find_rule(code).opt_in else []
    return mb.lint(
        main_file(code, folder),
        package_dirs=[str(folder / "packages")],
        extend_select=opt_in,
        ignore=[] if code == "MB161" else ["MB161"],
    ).findings


def main_file(code: str, folder: Path) -> Path:
    names = (f"{code.lower()}.{ending}" for ending in ("scene.toml", "urdf", "sdf"))
    return next(folder / name for name in names if (folder / name).exists())


CASES = [
    pytest.param(code, k, id=f"{code}-{k}")
    for code, remedies in REMEDIES.items()
    for k in range(len(remedies))
]


@pytest.mark.bullet
@pytest.mark.parametrize(("code", "number"), CASES)
def test_a_remedy_ends_its_finding(code: str, number: int, tmp_path: Path) -> None:
    files = copied(code, tmp_path)
    (tmp_path / "part.stl").write_bytes(stl_box(0.4, 0.3, 0.3))
    # where --package-dir leads
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "elsewhere.stl").write_bytes(stl_box(0.4, 0.3, 0.3))
    assert [f.code for f in findings(code, tmp_path)] == [code]
    pattern, replacement = REMEDIES[code][number]
    changed = 0
    for file in files:
        if file.suffix in (".urdf", ".sdf", ".srdf", ".toml"):
            text, count = re.subn(pattern, replacement, file.read_text(), flags=re.DOTALL)
            file.write_text(text)
            changed += count
    assert changed
    assert not findings(code, tmp_path)


def test_every_rule_about_the_model_has_a_remedy_that_is_tried() -> None:
    of_models = {rule.code for rule in rules() if rule.code.startswith("MB1")}
    assert set(REMEDIES) | set(APART) == of_models
    assert not set(REMEDIES) & set(APART)


@pytest.mark.parametrize("code", ["MB112", "MB116"])
def test_lines_to_paste_end_the_finding_and_nothing_worse_appears(code: str, tmp_path: Path) -> None:
    copied(code, tmp_path)
    (finding,) = findings(code, tmp_path)
    lines = finding.help.partition("\n")[2]
    scene = tmp_path / f"{code.lower()}.scene.toml"
    if scene.exists():
        # beside the side that is given
        scene.write_text(scene.read_text() + lines)
    else:
        scene.write_text(f'[[model]]\nfile = "{code.lower()}.urdf"\n\n{lines}\n')
    after = findings(code, tmp_path)
    assert code not in {f.code for f in after}
    assert worst(after) <= worst((finding,))


def worst(found: tuple[Finding, ...]) -> int:
    return max((SEVERITIES.index(finding.severity) for finding in found), default=-1)


@pytest.mark.parametrize(
    ("code", "removed", "closure"),
    [
        ("MB115", '<joint name="slot".*?</joint>', {"type": "spherical", "bodies": ("crank", "rocker")}),
        (
            "MB128",
            "<mimic[^>]*>",
            # the point that the finding names, and the line along the axes of the joints
            {"type": "point-on-line", "bodies": ("finger", "rocker"), "xyz_b": [0.01, 0, 0.06]},
        ),
    ],
)
def test_a_loop_that_is_declared_ends_the_finding(
    code: str, removed: str, closure: dict[str, Any], tmp_path: Path
) -> None:
    (file,) = copied(code, tmp_path)
    (finding,) = findings(code, tmp_path)
    text, count = re.subn(removed, "", file.read_text(), flags=re.DOTALL)
    assert count
    file.write_text(text)
    a, b = closure["bodies"]
    (tmp_path / f"{code.lower()}.scene.toml").write_text(f'''[[model]]
file = "{file.name}"
base = "fixed"

[[closure]]
name = "declared"
type = "{closure["type"]}"
body_a = "{a}"
body_b = "{b}"
xyz_b = {closure.get("xyz_b", [-1, 0, 0])}
rpy_b = [1.5707963267948966, 0, 0]
''')
    after = findings(code, tmp_path)
    assert code not in {f.code for f in after}
    assert worst(after) <= worst((finding,)), after


def test_roots_in_models_of_their_own_are_no_finding(tmp_path: Path) -> None:
    (file,) = copied("MB110", tmp_path)
    text = file.read_text()
    gripper = re.search('<link name="gripper">.*?</link>', text, re.DOTALL)
    assert gripper is not None
    (tmp_path / "gripper.urdf").write_text(f'<robot name="gripper">{gripper.group()}</robot>')
    file.write_text(text.replace(gripper.group(), ""))
    (tmp_path / "mb110.scene.toml").write_text(
        f'[[model]]\nfile = "{file.name}"\n\n[[model]]\nfile = "gripper.urdf"\n'
    )
    assert not findings("MB110", tmp_path)


def test_a_static_scene_needs_nothing(tmp_path: Path) -> None:
    (file,) = copied("MB118", tmp_path)
    report = mb.lint(file)
    assert report.exit_code == 0 and worst(report.findings) == SEVERITIES.index("note")


LINK = f"<link name='%s'>{INERTIAL}</link>"
PIN = (
    '<joint name="%s" type="revolute"><parent link="%s"/><child link="%s"/><origin xyz="%s"/><axis xyz="0 1 0"/>'
    '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
)
#: A crank and a rocker whose tips meet at x = 1, and what closes the loop.
OPEN_LOOP = (
    '<robot name="loop">'
    + "".join(LINK % name for name in ("base", "crank", "rod", "rocker"))
    + PIN % ("a", "base", "crank", "0 0 0")
    + PIN % ("b", "crank", "rod", "0 0 1")
    + PIN % ("c", "base", "rocker", "1 0 0")
    + "%s</robot>"
)
LOOP_JOINT = (
    '<loop_joint name="tip" type="spherical"><link1 link="rod" xyz="1 0 0"/><link2 link="rocker" xyz="0 0 1"/>'
    "</loop_joint>"
)
BALL = (
    '<drake:ball_constraint name="tip"><drake:ball_constraint_body_A name="rod"/>'
    '<drake:ball_constraint_p_AP value="1 0 0"/><drake:ball_constraint_body_B name="rocker"/>'
    '<drake:ball_constraint_p_BQ value="0 0 1"/></drake:ball_constraint>'
)
MIMIC_SDF = (
    '<sdf version="1.11"><model name="m">'
    + "".join(
        f'<link name="{name}"><inertial><mass>1</mass><inertia><ixx>0.01</ixx><iyy>0.02</iyy><izz>0.02</izz></inertia>'
        "</inertial></link>"
        for name in ("base", "one", "two")
    )
    + "".join(
        f'<joint name="{name}_slide" type="prismatic"><parent>base</parent><child>{name}</child><axis><xyz>1 0 0</xyz>'
        f"<limit><lower>-1</lower><upper>1</upper></limit>{mimic}</axis></joint>"
        for name, mimic in (
            ("one", ""),
            ("two", '<mimic joint="one_slide"><multiplier>1</multiplier></mimic>'),
        )
    )
    + "</model></sdf>"
)
MIMIC_MJCF = """<mujoco><worldbody><body name="base"><inertial pos="0 0 0" mass="1" diaginertia=".01 .02 .02"/>
<body name="one"><joint name="one_slide" type="slide" axis="1 0 0"/>
<inertial pos="0 0 0" mass="1" diaginertia=".01 .02 .02"/></body>
<body name="two"><joint name="two_slide" type="slide" axis="1 0 0"/>
<inertial pos="0 0 0" mass="1" diaginertia=".01 .02 .02"/></body></body></worldbody>
<equality><joint joint1="two_slide" joint2="one_slide" polycoef="0 1 0 0 0"/></equality></mujoco>"""


@pytest.mark.parametrize(
    ("simulator", "before", "after"),
    [
        ("isaac", OPEN_LOOP % BALL, OPEN_LOOP % LOOP_JOINT),
        ("drake", OPEN_LOOP % LOOP_JOINT, OPEN_LOOP % BALL),
        ("gazebo", OPEN_LOOP % LOOP_JOINT, MIMIC_SDF),
        ("mujoco", OPEN_LOOP % LOOP_JOINT, MIMIC_MJCF),
    ],
)
def test_a_constraint_stated_as_the_simulator_reads_it_ends_the_finding(
    simulator: Any, before: str, after: str
) -> None:
    first = mb.lint("before", text=before, targets=[simulator]).findings
    assert "MB161" in {finding.code for finding in first}
    second = mb.lint("after", text=after, targets=[simulator]).findings
    assert "MB161" not in {finding.code for finding in second}
    assert worst(second) <= worst(first), second


def test_a_constraint_made_in_pybullet_ends_the_finding(tmp_path: Path) -> None:
    pybullet = pytest.importorskip("pybullet")
    copied("MB161", tmp_path)
    (finding,) = findings("MB161", tmp_path)
    assert "createConstraint" in finding.help and "JOINT_GEAR" in finding.help
    client = pybullet.connect(pybullet.DIRECT)
    try:
        # without the flag PyBullet replaces the inertias
        flags = pybullet.URDF_USE_INERTIA_FROM_FILE
        robot = pybullet.loadURDF(str(tmp_path / "mb161.urdf"), flags=flags, physicsClientId=client)
        frames = ([1, 0, 0], [0, 0, 0], [0, 0, 0])
        pybullet.createConstraint(robot, 0, robot, 1, pybullet.JOINT_GEAR, *frames, physicsClientId=client)
        after = mb.lint(client, targets=["pybullet"]).findings
    finally:
        pybullet.disconnect(client)
    assert "MB161" not in {found.code for found in after}
    assert worst(after) <= worst((finding,)), after
