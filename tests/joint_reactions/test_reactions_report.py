"""``mbplugin reactions``: text, JSON by its schema, estimates marked as such, and bad input."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS, call, call_process
from mbplugin.joint_reactions.stiffness_estimate import Layout, estimated_sections
from mbplugin.model.scene import Shape
from mbplugin.model.spatial import Pose
from mbplugin.report.picture import bodies as solids

FOUR_BAR = str(ASSETS / "four_bar.scene.toml")
SIDE = ("--load", "coupler:0,1000,0@0.25,0,0")

DOOR = """
[[body]]
name = "door"
mass = 10
xyz = [0.4, 0, 0]

[[pair]]
name = "h0"
type = "revolute"
body_a = "world"
body_b = "door"
xyz_a = [0, 0, 0]

[[closure]]
name = "h1"
type = "revolute"
body_a = "world"
body_b = "door"
xyz_a = [0, 0, 1]
"""


@pytest.fixture
def door(tmp_path: Path) -> Any:
    def write(more: str = "") -> str:
        path = tmp_path / "door.scene.toml"
        path.write_text(DOOR + more, encoding="utf-8")
        return str(path)

    return write


def document(*arguments: str) -> dict[str, Any]:
    outcome = call("reactions", *arguments, "--output-format", "json")
    assert outcome.code == 0, outcome.err
    found: dict[str, Any] = json.loads(outcome.out, parse_constant=pytest.fail)
    jsonschema.validate(found, json.loads(call("schema", "reactions").out))
    return found


def component(found: dict[str, Any], name: str, component: str) -> dict[str, Any]:
    (constraint,) = (c for c in found["constraints"] if c["name"] == name)
    (one,) = (c for c in constraint["components"] if c["name"] == component)
    return dict(one)


def test_what_rigid_bodies_leave_open_is_no_number() -> None:
    found = document(FOUR_BAR, *SIDE, "--no-estimate")
    for name in ("j0", "j1", "j2", "j3"):
        for label in ("tz", "rx", "ry"):
            assert component(found, name, label) | {
                "value": None,
                "source": None,
                "unique": False,
            } == component(found, name, label)
    assert {u["component"] for u in found["unresolved"]} == {"tz", "rx", "ry"}
    (family,) = found["families"]
    assert len(family["parameters"]) == 3 and len(family["relations"]) == 9
    text = call("reactions", FOUR_BAR, *SIDE, "--no-estimate").out
    assert "j2 tz = j0 tz - 1000 N" in text
    assert "any value is possible" in text
    # with the closure cut, all of the load would be at j0: that must not be said
    assert " 1000 " not in text.split("Undetermined in a rigid model")[0].replace("-1000 ", "")


@pytest.mark.long
def test_estimates_are_marked_with_their_inputs() -> None:
    found = document(FOUR_BAR, *SIDE)
    assert component(found, "j0", "tz")["source"] == "estimated"
    assert component(found, "j0", "tx")["source"] == "rigid"
    assert {e["body"] for e in found["estimated"]} == {"ground", "crank", "coupler", "rocker"}
    assert all(e["material"] == "steel" and e["shapes"] for e in found["estimated"])
    text = call("reactions", FOUR_BAR, *SIDE).out
    assert "~ not determined by the rigid model; computed with estimated stiffness" in text
    assert "Estimated beam sections" in text and "visual box" in text
    # one material for all: its modulus cancels
    soft = document(FOUR_BAR, *SIDE, "--material", "aluminium")
    steel, aluminium = (component(d, "j0", "tz")["value"] for d in (found, soft))
    assert aluminium == pytest.approx(steel, rel=0.02)


def test_a_loop_with_some_stated_stiffness_stays_open_unless_asked(tmp_path: Path) -> None:
    scene = mb.load(FOUR_BAR)
    stated = {"j0": [1e6, 1e6, 1e6, np.inf, np.inf, 0]}
    result = mb.reactions(scene, stiffness=stated)
    assert result.estimated == () and result["j0"]["tz"].value is None
    assert {c for _, c in result.unresolved} == {"tz", "rx", "ry"}
    # j0 has a stiffness of its own; the link "ground" is welded to the world
    assert result.missing.bodies == ("crank", "coupler", "rocker") and result.missing.pairs == ()
    asked = mb.reactions(scene, stiffness=stated, estimate=True)
    assert asked.unresolved == () and asked["j0"]["tz"].source == "estimated"
    assert not asked.missing


def test_shapes_of_absurd_width_give_no_estimate_and_a_note(tmp_path: Path) -> None:
    for name in ("four_bar.urdf", "four_bar.scene.toml"):
        text = (ASSETS / name).read_text(encoding="utf-8")
        wide = re.sub(r'<box size="[^"]*"/>', '<sphere radius="1e13"/>', text)
        (tmp_path / name).write_text(wide, encoding="utf-8")
    outcome = call("reactions", str(tmp_path / "four_bar.scene.toml"), *SIDE)
    assert outcome.code == 0 and "10000 times as wide as the beam is long" in " ".join(outcome.out.split())


def test_an_estimated_box_is_that_box() -> None:
    layout = Layout(np.array([[-0.4, 0, 0], [0.4, 0, 0]]), ((0, 1, 0),))
    here = Pose.identity()
    box = Shape("visual", "box", (1.0, 0.2, 0.1), here)
    (e,) = estimated_sections("b", [box], None, layout, here, "steel") or ()
    assert (e.section.A, e.section.Iy, e.section.Iz) == pytest.approx(
        (0.02, 0.2 * 0.1**3 / 12, 0.1 * 0.2**3 / 12)
    )
    assert e.stations == 5 and e.length == pytest.approx(0.8)
    tube = Layout(np.array([[0.0, 0, -0.4], [0, 0, 0.4]]), ((0, 1, 0),))
    cylinder = Shape("collision", "cylinder", (0.1, 1.0), here)
    (e,) = estimated_sections("b", [box, cylinder], None, tube, here, "aluminium") or ()
    assert pytest.approx(np.pi * 0.01, rel=5e-3) == e.section.A
    assert e.section.Iy == pytest.approx(np.pi * 1e-4 / 4, rel=5e-3)
    assert pytest.approx(np.pi * 1e-4 / 2, rel=5e-3) == e.section.J
    assert e.shapes == ("collision cylinder",) and e.section.E == 70e9
    assert estimated_sections("b", [], None, layout, here, "steel") is None
    lost = Shape("visual", "mesh", (1.0, 1.0, 1.0), here, "lost.stl")
    assert estimated_sections("b", [lost], None, layout, here, "steel") is None


@pytest.mark.filterwarnings("error")
def test_a_ball_whose_radius_has_no_square_gives_no_section() -> None:
    layout = Layout(np.array([[-0.4, 0, 0], [0.4, 0, 0]]), ((0, 1, 0),))
    ball = Shape("collision", "sphere", (1e-300,), Pose.identity())
    assert estimated_sections("b", [ball], None, layout, Pose.identity(), "steel") is None
    assert np.abs(solids.ball(1e-300).vertices).max() == pytest.approx(1e-300)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("radius, length", [(0.2, 1.0), (0.2, 0.0), (1e29, 1e-9)])
def test_a_drawn_capsule_has_half_balls_at_the_ends_of_its_cylinder(radius: float, length: float) -> None:
    vertices = solids.capsule(radius, length).vertices
    assert vertices.max(axis=0) == pytest.approx([radius, radius, radius + length / 2], rel=1e-2)
    assert vertices.min(axis=0) == pytest.approx([-radius, -radius, -radius - length / 2], rel=1e-2)
    beyond = np.maximum(np.abs(vertices[:, 2]) - length / 2, 0.0)
    assert np.hypot(np.hypot(vertices[:, 0], vertices[:, 1]), beyond) == pytest.approx(radius, rel=1e-9)


def test_a_moved_and_turned_shape_is_cut_where_it_is() -> None:
    layout = Layout(np.array([[0.0, 0, 0], [0, 2.0, 0]]), ((0, 1, 0),))
    turned = Pose.from_xyz_rpy((0.3, 1.0, 0.07), (0, 0, np.pi / 2))
    box = Shape("visual", "box", (2.4, 0.2, 0.1), turned)
    (e,) = estimated_sections("b", [box], None, layout, Pose.identity(), "steel") or ()
    assert (e.section.A, e.section.Iy, e.section.Iz) == pytest.approx(
        (0.02, 0.2 * 0.1**3 / 12, 0.1 * 0.2**3 / 12)
    )


def test_a_cut_that_only_grazes_an_edge_does_not_count() -> None:
    layout = Layout(np.array([[0.0, 0, 0], [1.0, 0, 0]]), ((0, 1, 0),))
    half = 0.1 * np.sqrt(2)
    # a square on its corner: the cut at 0.5 m meets 1e-10 m of it, the one at 0.7 m what is left to its right
    on_edge = Pose.from_xyz_rpy((0.5 + half - 1e-10, 0, 0), (0, 0, np.pi / 4))
    box = Shape("visual", "box", (0.2, 0.2, 0.1), on_edge)
    (e,) = estimated_sections("b", [box], None, layout, Pose.identity(), "steel") or ()
    assert e.stations == 1
    assert pytest.approx(0.1 * 2 * (2 * half - 0.2)) == e.section.A


@pytest.mark.long
def test_stiffness_from_the_scene(door: Any) -> None:
    rows = "".join(f'[[stiffness]]\npair = "h{k}"\nk = [1e6, 1e6, 1e6, 1e4, 1e4, 0]\n' for k in range(2))
    found = document(door(rows))
    assert component(found, "h0", "tz")["value"] == pytest.approx(5 * 9.81)
    assert component(found, "h0", "tz")["source"] == "stated"
    assert found["stated"] == ["h0", "h1"] and found["unresolved"] == []
    rigid = rows.replace("1e4, 1e4", "inf, inf")
    assert {u["component"] for u in document(door(rigid))["unresolved"]} == {"rx", "ry"}
    section = (
        '[[stiffness]]\nbody = "door"\nsection = { E = 1e10, A = 1e-3, Iy = 1e-7, Iz = 1e-7, J = 1e-7 }\n'
    )
    assert document(door(section))["unresolved"] == []


@pytest.mark.long
def test_loads_from_the_scene_and_the_command_line(door: Any) -> None:
    path = door('[[load]]\nbody = "door"\nforce = [0, 0, -50]\n[[payload]]\nbody = "door"\nmass = 2\n')
    found = document(path, "--load", "door:0,0,-7", "--payload", "door:1@0.1,0,0")
    (relation,) = (r for f in found["families"] for r in f["relations"] if r["component"] == "tz")
    assert relation["constant"] == pytest.approx(11 * 9.81 + 57)
    torque = document(path, "--load", "door:0,0,0,0,5,0")
    assert torque["families"] != document(path)["families"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--load", "copler:1,0,0"), "did you mean 'coupler'"),
        (("--load", "coupler"), "expected BODY:FX"),
        (("--load", "coupler:1,2"), "2 numbers"),
        (("--load", "coupler:a,0,0"), "has 'a'; expected a finite number"),
        (("--load", "coupler:1,0,0@1"), "a point of 1"),
        (("--load", "coupler:1,0,inf"), "has 'inf'; expected a finite number"),
        (("--payload", "coupler:1,2"), "one mass"),
        (("--qd", "j0=x"), "--qd gives"),
        (("--qdd", "nope=1"), "no joint coordinate"),
        (("--misfit", "j0.rz=1"), "not a row"),
        (("--misfit-sigma", "j0.rz=1"), "standard deviation of the misfit names 'j0.rz'"),
        (("--misfit-sigma", "j0.tx=-1mm"), "not negative"),
        (("--misfit-sigma", "j0.tx=1deg"), "which is an angle; expected a length"),
        (("--limit", "j0"), "NAME=VALUE"),
        (("--limit", "j0=-5"), "expected a positive number"),
        (("--limit", "j0=5mm"), "which is a length; expected a force"),
        (("--limit", "j0.rx=5N"), "which is a force; expected a torque"),
        (("--limit", "jo=5"), "neither a joint nor a row"),
        (("--hold", "j77"), "known names are j0, j1, j2, j3"),
        (("--hold", ""), "moves under the load"),
        (("--tolerance", "0"), "between 0 and 1"),
        (("--material", "wood"), "wood"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(arguments: tuple[str, ...], said: str) -> None:
    outcome = call("reactions", FOUR_BAR, *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("k", "said"),
    [
        ("[1e6, 1e6, -1, 1e4, 1e4, 0]", "not positive semidefinite"),
        ("[1e6, 1e6, nan, 1e4, 1e4, 0]", "not six numbers"),
        ("[1e6, 1e6]", "six"),
        (str((np.eye(6) + np.eye(6, k=2)).tolist()), "not symmetric"),
    ],
)
def test_bad_stiffness_is_one_sentence_and_exit_2(door: Any, k: str, said: str) -> None:
    outcome = call("reactions", door(f'[[stiffness]]\npair = "h0"\nk = {k}\n'))
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err and outcome.err.count("\n") == 1


def test_the_free_motion_is_named() -> None:
    err = call("reactions", FOUR_BAR, "--hold", "").err
    assert "the mechanism moves under the load: j1 by -1 rad, j0 by +0.735 rad" in err


@pytest.mark.long
def test_only_json_on_stdout_in_a_process_of_its_own() -> None:
    outcome = call_process("reactions", FOUR_BAR, "--output-format", "json")
    assert outcome.code == 0 and outcome.err == ""
    assert json.loads(outcome.out)["held"] == ["j0"]


def test_scenes_in_a_plane() -> None:
    found = document(str(ASSETS / "four_wheel_robot.scene.toml"), "--load", "1:0,0,-500")
    assert found["model"]["planar"] == "xy"
    assert {u["constraint"] for u in found["unresolved"]} == {"B", "C", "W1", "W2", "W3", "W4"}


def test_the_room_can_be_called() -> None:
    import mbplugin.joint_reactions.run

    assert mb.reactions is mbplugin.reactions
    assert mb.reactions(mb.load(FOUR_BAR)).held == ("j0",)


def test_the_rounding_of_angles_with_ten_digits_is_no_force(tmp_path: Path) -> None:
    """Turned by 1.570796327 rad, a joint has 2e-10 of its load along another axis, and rounding has less."""
    file = tmp_path / "r.urdf"
    inertial = (
        "<inertial><mass value='{}'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
    )
    file.write_text(
        "<robot name='r'><link name='world'/>"
        f"<link name='a'>{inertial.format(1000)}</link><link name='b'>{inertial.format(1)}</link>"
        "<joint name='j' type='fixed'><parent link='world'/><child link='a'/></joint>"
        "<joint name='k' type='fixed'><parent link='a'/><child link='b'/>"
        "<origin xyz='0 0 1' rpy='1.570796327 0 0'/></joint></robot>"
    )
    found = mb.reactions(file)
    values = [component.value for one in found.constraints for component in one.components]
    assert all(abs(value) > 1.0 for value in values if value) and "e-" not in str(found)
