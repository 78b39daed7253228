"""Elements in the wrong place and words that a format does not have: one finding per element."""

from __future__ import annotations

import re

import pytest

from mbplugin.model.scene import Defect
from mbplugin.readers import load

LINKS = '<link name="a"/><link name="b"/>'
JOINT = '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def unread(text: str) -> list[Defect]:
    return [defect for defect in load("file", text=text).defects if defect.code in ("MB113", "MB153")]


def urdf(inner: str) -> str:
    return f'<robot name="r">{LINKS}{JOINT}{inner}</robot>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (urdf(INERTIAL), "<inertial> in <robot> of 'r' .* is not read there; <inertial> belongs in <link>$"),
        (urdf('<limit effort="3"/>'), "is not read there; <limit> belongs in <joint>$"),
        (urdf("<parent/>"), "<parent> belongs in <joint>$"),
        (urdf('<geometry><box size="1 1 1"/></geometry>'), "<geometry> belongs in <visual> or <collision>$"),
        (urdf('<origin xyz="0 0 1"/>'), "<origin> belongs in <joint>, <inertial>, <visual> or <collision>$"),
        (
            '<sdf version="1.9"><model name="m"><link name="a"><mass>2</mass></link></model></sdf>',
            "<mass> in <link> of 'a' .2. is not read there; <mass> belongs in <inertial>$",
        ),
        (urdf("<jiont/>"), "not part of the format and is not read; did you mean 'joint'"),
        (urdf("<nowhere/>"), "known names are"),
    ],
)
def test_an_element_in_the_wrong_place_is_told_where_it_belongs(text: str, message: str) -> None:
    (defect,) = unread(text)

    assert re.search(message, defect.message), defect.message


def test_an_element_with_several_wrong_attributes_is_one_finding() -> None:
    (defect,) = unread(urdf('<link name="c" mass="2" size="3" nmae="d" foo="1"/>'))
    assert defect.message == (
        "mass, size, nmae and foo of <link> of 'c' (mass=2 size=3 nmae=d foo=1) are not part of the format and "
        "are not read; did you mean 'name' for 'nmae'?"
    )


def test_settings_of_gazebo_s_contacts_are_one_note() -> None:
    settings = "<mu1>0.2</mu1><kp>1e6</kp><maxVel>1</maxVel><selfCollide>true</selfCollide>"
    ends = "<implicitSpringDamper>1</implicitSpringDamper>"
    # a second <kp> is as little read as the first one
    first, second = (f'<gazebo reference="{link}">{settings}<kp>1</kp></gazebo>' for link in "ab")
    (defect,) = unread(urdf(f'{first}{second}<gazebo reference="j">{ends}</gazebo>'))
    assert defect.severity == "note"
    assert defect.message == (
        "<mu1>, <kp>, <maxVel>, <selfCollide> and <implicitSpringDamper> in <gazebo> of 'a', 'b', 'j' (0.2) "
        "are not read: settings of Gazebo's contacts and solver"
    )


@pytest.mark.parametrize(
    ("setting", "messages"),
    [
        ("<static>false</static>", []),
        ("<static>true</static>", ["--base fixed"]),
        ("<gravity>1</gravity>", []),
    ],
)
def test_settings_of_gazebo_that_change_nothing_are_no_finding(setting: str, messages: list[str]) -> None:
    found = unread(urdf(f"<gazebo>{setting}</gazebo>"))
    assert len(found) == len(messages)
    assert all(part in defect.message for part, defect in zip(messages, found, strict=True))


def test_attributes_of_one_kind_on_several_elements_are_one_finding() -> None:
    controller = '<safety_controller k_position="1" k_velocity="2" soft_upper_limit="1"/>'
    joints = "".join(
        f'<link name="c{k}"/><joint name="j{k}" type="fixed"><parent link="a"/><child link="c{k}"/>{controller}</joint>'
        for k in range(3)
    )
    (defect,) = unread(urdf(joints))
    assert defect.message.startswith(
        "k_position, k_velocity and soft_upper_limit of <safety_controller> of 'j0', 'j1', 'j2'"
    )


def test_of_many_wrong_attributes_the_first_are_named() -> None:
    attributes = " ".join(f'x{k}="1"' for k in range(40))
    (defect,) = unread(urdf(f'<link name="c" {attributes}/>'))
    assert "x5 and 34 more of <link>" in defect.message


@pytest.mark.parametrize(
    ("inner", "found"),
    [
        ('<link name="c"><origin xyz="0 0 0.0"/></link>', False),
        ('<link name="c"><origin xyz="0 0 0.1"/></link>', True),
        ('<link name="c" anchor="0 -0.0 0e3"/>', False),
        ('<link name="c" anchor="0 0 x"/>', True),
        ('<link name="c" anchor=""/>', True),
        # a flag says something by being there
        ('<link name="c"><frozen/></link>', True),
    ],
)
def test_with_zeros_under_a_strange_name_nothing_is_lost(inner: str, found: bool) -> None:
    assert bool(unread(urdf(inner))) == found


@pytest.mark.parametrize(
    ("inner", "found"),
    [
        # what conversions of Gazebo and of controllers leave in the links and joints of published robots
        ('<link name="c"><gravity>1</gravity><kinematic>0</kinematic></link>', []),
        ('<link name="c"><gravity>0</gravity></link>', ["MB113"]),
        ('<link name="c"><collision><max_contacts>1</max_contacts></collision></link>', ["MB153"]),
        ('<link name="c"><self_filter><origin xyz="1 0 0"/></self_filter></link>', ["MB153"]),
        # a copy takes nothing away
        (f'<link name="c">{INERTIAL}{INERTIAL}</link>', []),
        (f'<link name="c">{INERTIAL}<inertial><mass value="2"/></inertial></link>', ["MB113"]),
    ],
)
def test_what_changes_nothing_is_no_warning(inner: str, found: list[str]) -> None:
    inner = inner.replace("<collision>", '<collision><geometry><sphere radius="1"/></geometry>')
    assert [defect.code for defect in unread(urdf(inner))] == found


def test_limits_of_a_drive_are_settings_and_no_misspelt_effort() -> None:
    limit = '<limit effort="80" velocity="15" command_effort="40" current="10" gear_velocity="10"/>'
    joint = f'<joint name="j" type="continuous"><parent link="a"/><child link="c"/>{limit}</joint>'
    (defect,) = unread(urdf(f'<link name="c"/>{joint}'))
    assert defect.code == "MB153" and "did you mean" not in defect.message


def test_the_other_half_of_an_inertia_is_a_note() -> None:
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" iyx="0.1"/></inertial>'
    (defect,) = unread(urdf(f'<link name="c">{inertial}</link>'))
    assert defect.severity == "note" and "an inertia is symmetric" in defect.message
