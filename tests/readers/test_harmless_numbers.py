"""Numbers that no mechanics depend on: a finding with its line, and the verdict follows."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from mbplugin.linter.run import lint
from mbplugin.readers import load

INERTIAL = '<inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>'
BOX = "<geometry><box size='1 1 1'/></geometry>"
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def robot(tmp_path: Path, part: str, limit: str = LIMIT, more: str = "") -> Path:
    file = tmp_path / "r.urdf"
    file.write_text(
        f'<robot name="r">\n<link name="a">{INERTIAL}</link>\n<link name="b">{INERTIAL}\n{part}\n</link>\n'
        '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>\n'
        f"{limit}</joint>{more}</robot>"
    )
    return file


@pytest.mark.parametrize(
    "part",
    [
        f'<visual><origin xyz="0 0 0" rpy="0 0"/>{BOX}</visual>',
        f'<visual><origin xyz="0 0 0\'" rpy="0 0 0"/>{BOX}</visual>',
        f'<visual><origin quat_xyzw="0 0 0 0"/>{BOX}</visual>',
        '<collision><geometry><sphere radius="nan"/></geometry></collision>',
        "<collision><geometry><box/></geometry></collision>",
        '<visual><geometry><cylinder radius="1"/></geometry></visual>',
        '<visual><geometry><mesh filename="x.stl" scale="1 x 1"/></geometry></visual>',
        '<collision><geometry><plane normal="1 0"/></geometry></collision>',
    ],
)
def test_a_shape_that_cannot_be_read_is_left_out(tmp_path: Path, part: str) -> None:
    good = f"<collision>{BOX}</collision>"
    report = lint(robot(tmp_path, part + good))
    assert report.analysis is not None and report.exit_code == 0
    assert report.scene is not None and len(report.scene.shapes["b"]) == 1
    assert [(f.code, f.line) for f in report.findings if f.code == "MB114"] == [("MB114", 4)]
    assert np.isclose(report.scene.mechanism.bodies[1].mass, 2.0)


@pytest.mark.parametrize("attribute", ["effort", "velocity", "acceleration"])
@pytest.mark.parametrize("value", ["fast", "", "nan", "-inf"])
def test_a_cap_that_is_no_number_is_none(tmp_path: Path, attribute: str, value: str) -> None:
    limit = f'<limit lower="-1" upper="1" {attribute}="{value}"/>'
    report = lint(robot(tmp_path, "", limit))
    assert report.scene is not None and report.analysis is not None
    assert getattr(report.scene.mechanism.pairs[0].freedoms[0], attribute) == math.inf
    assert [f.line for f in report.findings if f.code == "MB114"] == [7]


def test_infinite_limits_are_no_limits(tmp_path: Path) -> None:
    limit = '<limit lower="-inf" upper="Infinity" effort="inf" velocity="1e999"/>'
    report = lint(robot(tmp_path, "", limit))
    assert report.scene is not None
    freedom = report.scene.mechanism.pairs[0].freedoms[0]
    assert (freedom.lower, freedom.upper) == (-math.inf, math.inf)
    assert (freedom.effort, freedom.velocity) == (math.inf, math.inf)
    assert not [f for f in report.findings if f.code in ("MB114", "MB905")]


SDF = """<sdf version="1.7"><model name="m"><link name="a"/><link name="b">
{}
</link><joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz>
<limit>{}</limit></axis></joint></model></sdf>"""


@pytest.mark.parametrize(
    "part",
    [
        "<visual name='v'><pose>0 0 0 0 0</pose><geometry><sphere/></geometry></visual>",
        "<collision name='c'><geometry><box><size>1 x 1</size></box></geometry></collision>",
        "<visual name='v'><pose relative_to='none'>0 0 0 0 0 0</pose><geometry><sphere/></geometry></visual>",
    ],
)
def test_shapes_of_sdf_too(tmp_path: Path, part: str) -> None:
    file = tmp_path / "m.sdf"
    file.write_text(SDF.format(part, ""))
    report = lint(file)
    assert report.analysis is not None
    assert [f.line for f in report.findings if f.code == "MB114"] == [2]


@pytest.mark.parametrize("value", ["fast", "nan"])
def test_caps_of_sdf_too(tmp_path: Path, value: str) -> None:
    file = tmp_path / "m.sdf"
    file.write_text(SDF.format("", f"\n<effort>{value}</effort>"))
    report = lint(file)
    assert report.analysis is not None
    assert [f.line for f in report.findings if f.code == "MB114"] == [5]
    assert report.scene is not None
    assert report.scene.mechanism.pairs[0].freedoms[0].effort == math.inf


def test_the_ground_needs_no_link(tmp_path: Path) -> None:
    foot = '\n<joint name="f" type="fixed"><parent link="world"/><child link="a"/></joint>'
    file = robot(tmp_path, "", more=foot)
    report = lint(file)
    assert [f.line for f in report.findings if f.code == "MB117"] == [8]
    assert report.analysis is not None and report.analysis.dof == 1
    declared = tmp_path / "declared.urdf"
    declared.write_text(file.read_text().replace("<link", '<link name="world"/><link', 1))
    pairs = [load(name).mechanism.pairs for name in (file, declared)]
    assert [(p.name, p.body_a, p.body_b) for p in pairs[0]] == [
        (p.name, p.body_a, p.body_b) for p in pairs[1]
    ]


def test_links_in_gazebo_are_where_they_state_it(tmp_path: Path) -> None:
    more = """
<gazebo><link name="g"><pose>0 0 1 0 0 0</pose><inertial><mass>3</mass><pose>0.5 0 0 0 0 0</pose>
<inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.2</izz></inertia></inertial></link>
<joint name="gj" type="revolute"><parent>b</parent><child>g</child><pose>0 0.25 0 0 0 0</pose>
<axis><xyz>1 0 0</xyz></axis></joint></gazebo>"""
    report = lint(robot(tmp_path, "", more=more))
    assert report.scene is not None and report.analysis is not None
    g = report.scene.mechanism.bodies[2]
    assert (g.name, g.mass) == ("g", 3.0)
    np.testing.assert_allclose(g.p_LC, [0.5, 0, 0])
    np.testing.assert_allclose(g.I_C, np.diag([0.1, 0.2, 0.2]))
    joint = report.scene.mechanism.pairs[1]
    # b lies at the origin, g one metre above it
    np.testing.assert_allclose(joint.X_AP.p, [0, 0.25, 1])
    np.testing.assert_allclose(joint.X_BS.p, [0, 0.25, 0])
    # a free base, and a hinge each
    assert report.analysis.dof == 8 and not joint.closure


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.urdf", '<robot name="r"><link name="world"/></robot>'),
        ("s.sdf", '<sdf version="1.7"><world name="w"><light name="s"/></world></sdf>'),
        ("s.xml", '<mujoco><worldbody><geom type="plane" size="1 1 1"/></worldbody></mujoco>'),
    ],
)
def test_a_static_scene_is_clean_and_says_so(tmp_path: Path, name: str, text: str) -> None:
    if name.endswith(".xml"):
        pytest.importorskip("mujoco")
    (tmp_path / name).write_text(text)
    report = lint(tmp_path / name)
    assert report.exit_code == 0
    (finding,) = report.findings
    assert finding.code == "MB118" and "it has no body" in finding.message
