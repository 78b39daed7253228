"""``mbplugin reactions`` of scenes with contacts and of robots that stand."""

from __future__ import annotations

import json

import pytest

from command_line import call
from places import ASSETS

TABLE = str(ASSETS / "table.scene.toml")
BALL = '<collision><origin xyz="0 0 -0.4"/><geometry><sphere radius="0.02"/></geometry></collision>'
MASS = (
    '<inertial><mass value="{m}"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
)


@pytest.fixture
def dog(tmp_path):
    legs = "".join(
        f'<link name="{name}_foot">{MASS.format(m=0.5)}{BALL}</link><joint name="{name}_hip" type="revolute">'
        f'<parent link="trunk"/><child link="{name}_foot"/><origin xyz="{x} {y} 0"/><axis xyz="0 1 0"/>'
        '<limit lower="-1" upper="1" effort="30" velocity="9"/></joint>'
        for name, x, y in (("FL", 0.3, 0.2), ("FR", 0.3, -0.2), ("RL", -0.3, 0.2), ("RR", -0.3, -0.2))
    )
    file = tmp_path / "dog.urdf"
    file.write_text(
        f'<robot name="dog"><link name="trunk">{MASS.format(m=8)}</link>{legs}</robot>', encoding="utf-8"
    )
    return str(file)


def document(*args: str) -> dict:
    return json.loads(call("reactions", *args, "--output-format", "json").out)


def test_a_robot_stands_without_options_and_the_first_line_says_on_what(dog):
    said = call("reactions", dog).out
    first = " ".join(said.split("\n\n")[0].replace("\n! ", " ").split())
    assert first == (
        "! taken as standing on 4 contacts: FL_foot, FR_foot, RL_foot, RR_foot; the coefficient of friction is assumed"
        " to be 0.8: --friction (friction=...) changes it; --stance (stance=[...]) names the links that touch the"
        " ground."
    )
    assert "6 redundant constraints" in said and "0 … 49.05" in said and "polygon of 16 sides" in said
    assert "tips under a sideways load of" in said
    found = document(dog)
    assert found["stance"] == {
        "links": ["FL_foot", "FR_foot", "RL_foot", "RR_foot"],
        "friction": 0.8,
        "assumed": True,
        "assumed_friction": True,
    }
    foot = next(c for c in found["constraints"] if c["name"] == "contact FL_foot")
    assert (foot["kind"], foot["body_a"], foot["body_b"]) == ("contact", "world", "FL_foot")
    normal = foot["components"][0]
    assert (normal["name"], normal["value"], normal["unique"]) == ("cn", None, False)
    assert (normal["lower"], normal["upper"]) == pytest.approx((0.0, 49.05), abs=1e-6)
    assert set(normal["bounded_by"]) <= {f"contact {name}_foot.cn" for name in ("FL", "FR", "RL", "RR")}


def test_the_stance_and_its_friction_can_be_stated(dog):
    found = document(dog, "--stance", "F*_foot,RL_foot", "--friction", "0.4")
    assert [c["name"] for c in found["contacts"]] == ["contact FL_foot", "contact FR_foot", "contact RL_foot"]
    assert {c["mu"] for c in found["contacts"]} == {0.4} and found["stance"]["assumed"] is False
    assert call("reactions", dog, "--stance", "*_foot", "--friction", "0.4").out.startswith(
        "dog: joint reactions"
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--stance", ""), "falls under the load"),
        (("--stance", "FX_foot"), "did you mean"),
        (("--stance", "trunk"), "trunk has no shape"),
        (("--base", "fixed", "--stance", "*_foot"), "base is fixed"),
        (("--base", "fixed", "--friction", "0.3"), "no stance"),
        (("--friction", "-1"), "friction"),
        (("--stance", "F*_foot"), "alone cannot carry"),
        (
            ("--load", "trunk:0,0,-300@2,0,0"),
            "tips it about the line through contact FL_foot and contact FR_foot",
        ),
        (("--load", "trunk:150,0,0@0,0,-0.4"), "slip at"),
    ],
)
def test_what_does_not_stand_is_one_sentence(dog, options, words):
    run = call("reactions", dog, *options)
    assert (
        run.code == 2 and words in run.err and run.err.count("\n") == 1 and run.err.startswith("mbplugin: ")
    )


def test_a_scene_with_contacts_prints_its_bounds_and_margins():
    said = call("reactions", TABLE).out
    assert "left rear cn          0 … 61.55   N" in said
    assert "left front, left rear, right rear, right front: hold" in said
    assert "within the bounds; the others follow" in said
    found = document(TABLE)
    assert "stance" not in found or found["stance"] is None
    assert found["standing"]["smallest_friction"] == pytest.approx(0.0, abs=1e-9)
    assert found["standing"]["sideways"] == pytest.approx(0.554, abs=1e-3)
    assert set(found["standing"]["sideways_limited_by"]) <= {
        f"{side} {end}.{kind}"
        for side in ("left", "right")
        for end in ("front", "rear")
        for kind in ("cn", "friction")
    }


def test_a_page_shows_the_bounds(tmp_path):
    page = tmp_path / "table.html"
    call("reactions", TABLE, "--output-format", "html", "--output", str(page))
    text = page.read_text(encoding="utf-8")
    assert "0 … 61.55" in text and "polygon of 16 sides" in text and "Contacts: left front" in text
