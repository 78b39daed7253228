"""The contacts of a robot that stands: the lowest points of its collision shapes."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.errors import BadNumber, BadUsage, MbPluginError, UnknownName
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.scene import Scene, Shape, state_at_home
from mbplugin.model.spatial import Pose, rotation_from_vector
from mbplugin.readers.standing import (
    FRICTION,
    TOUCHING,
    stance_of,
    stance_sentence,
    stands,
)

INERTIAL = (
    '<inertial><mass value="{m}"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
)
BALL = '<sphere radius="0.02"/>'


def link(
    name: str,
    shape: str = "",
    m: float = 1.0,
    xyz: str = "0 0 0",
    role: str = "collision",
    rpy: str = "0 0 0",
) -> str:
    geometry = (
        f'<{role}><origin xyz="{xyz}" rpy="{rpy}"/><geometry>{shape}</geometry></{role}>' if shape else ""
    )
    return f'<link name="{name}">{INERTIAL.format(m=m)}{geometry}</link>'


def leg(name: str, x: float, y: float, drop: float = 0.5, shape: str = BALL, role: str = "collision") -> str:
    return (
        link(f"{name}_leg", shape, 0.5, f"0 0 {-drop}", role)
        + f'<joint name="{name}_hip" type="revolute"><parent link="trunk"/><child link="{name}_leg"/>'
        f'<origin xyz="{x} {y} 0"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="40" velocity="9"/></joint>'
    )


def robot(*parts: str, trunk: str = '<box size="1 0.6 0.1"/>') -> str:
    return f'<robot name="dog">{link("trunk", trunk, 10.0)}{"".join(parts)}</robot>'


CORNERS = {"FL": (0.4, 0.3), "FR": (0.4, -0.3), "RL": (-0.4, 0.3), "RR": (-0.4, -0.3)}
DOG = robot(*(leg(name, x, y) for name, (x, y) in CORNERS.items()))


def read(tmp_path, text: str) -> Scene:
    path = tmp_path / "dog.urdf"
    path.write_text(text, encoding="utf-8")
    return mb.load(path)


def stance(scene: Scene, links=None, friction=None):
    return stance_of(scene, scene.mechanism, forward(scene.mechanism, scene.state.q), links, friction)


def places(scene: Scene, found) -> np.ndarray:
    poses = forward(scene.mechanism, scene.state.q)
    return np.array([poses.of(scene.mechanism.body_index[c.body]).apply(c.point) for c in found.contacts])


def of_shape(*shapes: Shape) -> Scene:
    """Return a scene with one body that has the shapes, at the origin of the world."""
    mech = mb.Mechanism("one", (mb.Body("a", 1.0, np.zeros(3), np.eye(3)),))
    return Scene(mech, state_at_home(mech), shapes={"a": shapes})


def test_a_robot_stands_on_the_balls_of_its_lowest_links(tmp_path):
    scene = read(tmp_path, DOG)
    found = stance(scene)
    assert (
        found.links == ("FL_leg", "FR_leg", "RL_leg", "RR_leg") and found.assumed and found.assumed_friction
    )
    assert [c.name for c in found.contacts] == [f"contact {name}" for name in found.links]
    assert np.allclose(places(scene, found), [[x, y, -0.52] for x, y in CORNERS.values()])
    assert all(c.mu == FRICTION and np.allclose(c.normal, [0, 0, 1]) for c in found.contacts)
    assert stands(scene)
    (said,) = stance_sentence(found)
    assert "standing on 4 contacts: FL_leg, FR_leg, RL_leg, RR_leg" in said
    assert "assumed to be 0.8" in said and "--stance" in said and "--friction" in said


def test_the_ground_is_against_gravity_and_follows_the_pose(tmp_path):
    scene = read(tmp_path, DOG)
    tilted = mb.Mechanism(
        "tilted", scene.mechanism.bodies, scene.mechanism.pairs, gravity=np.array([9.81, 0, 0])
    )
    found = stance_of(scene, tilted, forward(tilted, scene.state.q), None, 0.5)
    # the trunk's front face lies lowest, along +x
    assert found.links == ("trunk",) and len(found.contacts) == 4
    assert all(np.allclose(c.normal, [-1, 0, 0]) for c in found.contacts)
    posed = forward(
        scene.mechanism, np.where(np.array(scene.mechanism.q_names) == "FL_hip", 0.5, scene.state.q)
    )
    lifted = stance_of(scene, scene.mechanism, posed, None, None)
    assert lifted.links == ("FR_leg", "RL_leg", "RR_leg")


def test_links_within_the_tolerance_touch_and_others_do_not(tmp_path):
    legs = {"FL": 0.5, "FR": 0.5 - 0.5 * TOUCHING, "RL": 0.5, "RR": 0.5 - 3 * TOUCHING}
    scene = read(tmp_path, robot(*(leg(name, *CORNERS[name], drop) for name, drop in legs.items())))
    assert stance(scene).links == ("FL_leg", "FR_leg", "RL_leg")


def test_named_links_and_patterns_touch_with_their_own_lowest_points(tmp_path):
    scene = read(tmp_path, robot(leg("FL", 0.4, 0.3), leg("FR", 0.4, -0.3, 0.4), leg("RL", -0.4, 0.3)))
    found = stance(scene, ["F*_leg", "RL_leg"], 0.6)
    assert found.links == ("FL_leg", "FR_leg", "RL_leg") and not found.assumed and not found.assumed_friction
    assert np.allclose(places(scene, found)[:, 2], [-0.52, -0.42, -0.52])
    assert any("differ by 0.1 m" in note for note in found.notes)
    assert stance_sentence(found) == ()
    assert "--stance" not in "".join(stance_sentence(stance(scene, ["FL_leg"])))


def test_a_toe_welded_to_a_leg_is_one_contact(tmp_path):
    toe = link("toe", BALL, 0.1) + (
        '<joint name="ankle" type="fixed"><parent link="FL_leg"/><child link="toe"/><origin xyz="0 0 -0.5"/></joint>'
    )
    scene = read(tmp_path, robot(leg("FL", 0.4, 0.3), toe, leg("FR", 0.4, -0.3), leg("RL", -0.4, 0.3)))
    assert len(stance(scene).contacts) == 3
    assert len(stance(scene, ["FL_leg", "toe"]).contacts) == 2


def test_without_collision_shapes_the_visual_ones_touch(tmp_path):
    scene = read(tmp_path, robot(*(leg(n, *p, role="visual") for n, p in CORNERS.items()), trunk=""))
    found = stance(scene)
    assert len(found.contacts) == 4 and any("visual" in note for note in found.notes)


def test_a_mesh_that_cannot_be_read_is_noted(tmp_path):
    scene = read(
        tmp_path, robot(leg("FL", 0.4, 0.3), leg("FR", 0.4, -0.3, shape='<mesh filename="none.stl"/>'))
    )
    assert any("FR_leg" in note for note in stance(scene).notes)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (Shape("collision", "sphere", (0.5,), Pose(np.eye(3), np.array([1.0, 0, 0]))), [[1, 0, -0.5]]),
        (
            Shape(
                "collision",
                "capsule",
                (0.1, 1.0),
                Pose(rotation_from_vector(np.array([0, pi / 2, 0])), np.zeros(3)),
            ),
            [[-0.5, 0, -0.1], [0.5, 0, -0.1]],
        ),
        (
            Shape(
                "collision",
                "cylinder",
                (0.4, 0.2),
                Pose(rotation_from_vector(np.array([pi / 2, 0, 0])), np.zeros(3)),
            ),
            [[0, -0.1, -0.4], [0, 0.1, -0.4]],
        ),
        (
            Shape("collision", "box", (2.0, 1.0, 0.4), Pose.identity()),
            [[-1, -0.5, -0.2], [-1, 0.5, -0.2], [1, -0.5, -0.2], [1, 0.5, -0.2]],
        ),
        (
            # tilted about y by a quarter of a turn less 0.3: the lowest edge
            Shape(
                "collision",
                "box",
                (2.0, 1.0, 0.4),
                Pose(rotation_from_vector(np.array([0, 0.3, 0])), np.zeros(3)),
            ),
            [[cos(0.3) - 0.2 * sin(0.3), y, -sin(0.3) - 0.2 * cos(0.3)] for y in (-0.5, 0.5)],
        ),
        (
            Shape(
                "collision", "hull", (), Pose.identity(), points=((0, 0, 1), (0, 0, 0), (1, 0, 0), (0, 1, 0))
            ),
            [[0, 0, 0], [0, 1, 0], [1, 0, 0]],
        ),
        (
            Shape(
                "collision",
                "mesh",
                (2.0, 2.0, 2.0),
                Pose.identity(),
                triangles=(
                    np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, 1]]),
                    np.array([[0, 1, 2]]),
                ),
            ),
            [[0, 0, 0], [0, 2, 0], [2, 0, 0]],
        ),
    ],
    ids=["sphere", "capsule", "wheel", "box", "edge", "hull", "mesh"],
)
def test_each_shape_touches_at_its_lowest_points(shape, expected):
    scene = of_shape(shape)
    found = places(scene, stance(scene))
    assert np.allclose(found[np.lexsort(np.round(found, 9).T[::-1])], expected)


def test_an_upright_cylinder_stands_on_four_points_of_its_rim():
    scene = of_shape(Shape("collision", "cylinder", (0.4, 0.2), Pose.identity()))
    found = places(scene, stance(scene))
    assert len(found) == 4 and np.allclose(found[:, 2], -0.1)
    assert np.allclose(np.linalg.norm(found[:, :2], axis=1), 0.4) and np.allclose(
        found.mean(axis=0), [0, 0, -0.1]
    )


def test_the_bottom_of_a_tessellated_ball_is_one_point():
    angles = 2 * pi * np.arange(12) / 12
    points = [
        (0.0, 0.0, -1.0),
        *((0.01 * cos(a), 0.01 * sin(a), -0.9995) for a in angles),
        (0.0, 0.0, 1.0),
        (1.0, 0, 0),
    ]
    scene = of_shape(Shape("collision", "hull", (), Pose.identity(), points=tuple(points)))
    assert np.allclose(places(scene, stance(scene)), [[0, 0, -1]], atol=0.011)
    assert len(stance(scene).contacts) == 1


@pytest.mark.parametrize(
    ("links", "friction", "error", "words"),
    [
        (["FX_leg"], None, UnknownName, "did you mean"),
        (["nothing*"], None, UnknownName, "nothing"),
        (["bare"], None, BadUsage, "bare has no shape"),
        (None, -0.1, BadNumber, "friction"),
        (None, float("nan"), BadNumber, "friction"),
        (None, 1e3, BadNumber, "from 0 to 100"),
    ],
)
def test_a_wrong_stance_is_one_sentence(tmp_path, links, friction, error, words):
    bare = (
        link("bare") + '<joint name="to_bare" type="fixed"><parent link="trunk"/><child link="bare"/></joint>'
    )
    with pytest.raises(error, match=words):
        stance(read(tmp_path, robot(leg("FL", 0.4, 0.3), bare)), links, friction)


def test_without_shapes_or_gravity_nothing_can_stand(tmp_path):
    scene = read(tmp_path, robot(trunk=""))
    with pytest.raises(BadUsage, match="collision shapes"):
        stance(scene)
    mech = mb.Mechanism("free", scene.mechanism.bodies, gravity=np.zeros(3))
    with pytest.raises(BadUsage, match="without gravity"):
        stance_of(scene, mech, forward(mech, scene.state.q), None, None)


# In reactions.


def test_a_falling_robot_on_legs_is_taken_as_standing(tmp_path):
    result = mb.reactions(read(tmp_path, DOG))
    assert result.stance is not None and result.stance.assumed
    W = 12 * 9.81
    assert result.degree_of_redundancy == 6 and set(result.held) == {f"{name}_hip" for name in CORNERS}
    for name in CORNERS:
        found = result[f"contact {name}_leg"]["cn"]
        assert (found.lower, found.upper) == pytest.approx((0.0, W / 2), abs=1e-6)
        torque = result[f"lock {name}_hip"]["rz_lock"]
        assert torque.lower is not None and torque.lower == pytest.approx(-torque.upper, abs=1e-6)
        assert torque.upper <= 40.0 + 1e-9
    assert str(result).startswith("! taken as standing on 4 contacts")
    document = result.to_dict()
    assert document["stance"]["assumed"] is True and len(document["contacts"]) == 4
    assert document["standing"]["sides"] == 16


def test_a_limit_of_a_drive_narrows_the_bounds(tmp_path):
    strong = mb.reactions(read(tmp_path, DOG))
    weak = mb.reactions(read(tmp_path, DOG.replace('effort="40"', 'effort="5"')))
    one, other = strong["lock FL_hip"]["rz_lock"], weak["lock FL_hip"]["rz_lock"]
    assert one.upper > 5.1 and other.upper == pytest.approx(5.0, abs=1e-6)
    assert "FL_hip.effort" in other.bounded_by


def test_a_stated_stance_or_none_replaces_the_assumption(tmp_path):
    scene = read(tmp_path, DOG)
    three = mb.reactions(scene, stance=["F*_leg", "RL_leg"], friction=0.5)
    assert [c.name for c in three.contacts] == ["contact FL_leg", "contact FR_leg", "contact RL_leg"]
    assert three.contacts[0].mu == 0.5 and not three.stance.assumed
    with pytest.raises(BadUsage, match="falls"):
        mb.reactions(scene, stance=False)


def test_a_friction_without_a_stance_is_refused(tmp_path):
    scene = read(tmp_path, robot(trunk='<box size="2 2 1"/>'))
    corners = [
        {"body_a": "trunk", "point": [x, y, -0.5], "normal": [0, 0, 1], "mu": 0.3}
        for x in (-1, 1)
        for y in (-1, 1)
    ]
    with pytest.raises(BadUsage, match="no stance"):
        mb.reactions(scene, contacts=corners, friction=0.4)


def test_two_feet_cannot_hold_a_robot_that_turns_over_them(tmp_path):
    with pytest.raises(BadUsage, match=r"contact FL_leg, contact FR_leg alone"):
        mb.reactions(read(tmp_path, DOG), stance=["F*_leg"])


def test_a_robot_bolted_down_has_no_stance(tmp_path):
    path = tmp_path / "dog.urdf"
    path.write_text(DOG, encoding="utf-8")
    with pytest.raises(MbPluginError, match="base is fixed"):
        mb.reactions(mb.load(path, base="fixed"), stance=["*_leg"])


@pytest.mark.parametrize("stance", [["FL_leg", "FR_leg", "FL_leg"], ["*_leg", "*_leg"]])
def test_a_link_that_is_named_twice_is_refused(tmp_path, stance):
    with pytest.raises(BadUsage, match=rf"the stance names '{stance[0].replace('*', '.')}' twice"):
        mb.reactions(read(tmp_path, DOG), stance=stance)


def test_a_pattern_and_a_link_that_it_matches_are_one(tmp_path):
    scene = read(tmp_path, DOG)
    both, one = (mb.reactions(scene, stance=links) for links in (["*_leg", "FL_leg"], ["*_leg"]))
    assert len(both.contacts) == len(one.contacts) == 4
