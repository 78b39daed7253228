"""Contact points that a user states, compared with the bodies that touch there."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.errors import BadUsage
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.scene import Scene, Shape, state_at_home
from mbplugin.model.spatial import Pose, rotation_from_vector
from mbplugin.phrases import Assumption
from mbplugin.readers.contact_points import compare_points, distance_from_triangles, winding


def of_shape(*shapes: Shape) -> Scene:
    """Return a scene with one body that has the shapes, at the origin of the world."""
    mech = mb.Mechanism("one", (mb.Body("a", 1.0, np.zeros(3), np.eye(3)),))
    return Scene(mech, state_at_home(mech), shapes={"a": shapes})


def compared(scene: Scene, *points) -> tuple[str, ...]:
    """Return what is said of contacts of body a at points of its link frame."""
    contacts = [
        mb.Contact(f"c{k}", "a", np.array(point, dtype=float), np.array([0, 0, 1.0]), 0.5)
        for k, point in enumerate(points)
    ]
    mech = scene.mechanism
    return compare_points(scene, mech, forward(mech, scene.state.q), contacts)


# Stated contact points beside the shapes of their bodies.

QUARTER = rotation_from_vector(np.array([0, pi / 2, 0]))
ONE = {
    "sphere": (
        Shape("collision", "sphere", (0.5,), Pose.identity()),
        [0, 0, -0.5],
        [0, 0, -0.6],
        [0, 0.1, 0],
    ),
    "box": (
        Shape("collision", "box", (2.0, 1.0, 0.4), Pose.identity()),
        [1, 0.2, 0.1],
        [1.2, 0.6, 0],
        [0, 0, 0.1],
    ),
    "cylinder": (
        Shape("collision", "cylinder", (0.4, 0.2), Pose.identity()),
        [0.4, 0, 0.05],
        [0, 0.6, 0],
        [0.1, 0, 0],
    ),
    "capsule": (
        Shape("collision", "capsule", (0.1, 1.0), Pose(QUARTER, np.zeros(3))),
        [0.6, 0, 0],
        [0.8, 0, 0],
        [0.3, 0, 0],
    ),
}


@pytest.mark.parametrize("kind", ONE)
def test_a_point_on_the_surface_is_accepted_and_others_are_not(kind):
    shape, on, away, inside = ONE[kind]
    scene = of_shape(shape)
    poses = forward(scene.mechanism, scene.state.q)

    def require(point):
        contact = mb.Contact("c", "a", np.array(point, dtype=float), np.array([0, 0, 1.0]), 0.5)
        compare_points(scene, scene.mechanism, poses, [contact])

    require(on)
    with pytest.raises(BadUsage, match=r"contact 'c' is 0\.\d+ m away from the collision shapes of 'a'"):
        require(away)
    with pytest.raises(BadUsage, match=r"contact 'c' is 0\.\d+ m inside the collision shapes of 'a'"):
        require(inside)


def test_the_distances_are_those_of_the_surface():
    points = {"sphere": 0.1, "box": np.hypot(0.2, 0.1), "cylinder": 0.2, "capsule": 0.2}
    for kind, expected in points.items():
        shape, _, away, _ = ONE[kind]
        scene = of_shape(shape)
        poses = forward(scene.mechanism, scene.state.q)
        contact = mb.Contact("c", "a", np.array(away, dtype=float), np.array([0, 0, 1.0]), 0.5)
        with pytest.raises(BadUsage, match=f"is {expected:.3g} m away"):
            compare_points(scene, scene.mechanism, poses, [contact])


def test_a_point_beside_a_mesh_is_refused_and_one_in_its_hull_is_not():
    corners = tuple((float(x), float(y), float(z)) for x in (0, 1) for y in (0, 1) for z in (0, 1))
    scene = of_shape(Shape("collision", "hull", (), Pose.identity(), points=corners))
    poses = forward(scene.mechanism, scene.state.q)
    for point, wrong in (([0.5, 0.5, 0.5], False), ([0.5, 0.5, 0.0], False), ([0.5, 0.5, -0.2], True)):
        contact = mb.Contact("c", "a", np.array(point), np.array([0, 0, 1.0]), 0.5)
        if wrong:
            with pytest.raises(BadUsage, match=r"0\.2 m away"):
                compare_points(scene, scene.mechanism, poses, [contact])
        else:
            compare_points(scene, scene.mechanism, poses, [contact])


def test_reactions_refuse_a_contact_beside_the_body():
    scene = of_shape(Shape("collision", "box", (2.0, 1.0, 0.4), Pose.identity()))
    beside = [{"body_a": "a", "point": [0, 0, -0.48], "normal": [0, 0, 1], "mu": 0.5}]
    with pytest.raises(BadUsage, match=r"0\.28 m away from the collision shapes of 'a'"):
        mb.reactions(scene, contacts=beside)


# Points that are taken as stated, and said.


@pytest.mark.parametrize(
    ("z", "words"),
    [
        (-0.2, None),
        (-0.2009, None),
        (-0.21, "'c0' is 10 mm away from the collision shapes of 'a'"),
        (-0.17, "'c0' is 30 mm inside the collision shapes of 'a'"),
    ],
)
def test_a_point_up_to_two_percent_beside_a_shape_is_said_in_millimetres(z, words):
    said = compared(of_shape(Shape("collision", "box", (2.0, 1.0, 0.4), Pose.identity())), [0.3, 0, z])
    assert len(said) == (words is not None)
    assert words is None or (words in said[0] and "taken as stated" in said[0])


def test_several_points_of_a_body_are_one_sentence_with_the_largest_depth():
    box = of_shape(Shape("collision", "box", (2.0, 1.0, 0.4), Pose.identity()))
    inside, outside = compared(box, [0, 0, -0.18], [0.5, 0, -0.17], [0.2, 0, -0.2], [0.1, 0, -0.215])
    assert "2 contacts are inside the collision shapes of 'a', by up to 30 mm ('c1')" in inside
    assert "'c3' is 15 mm away" in outside
    assert inside.short == "2 contacts up to 30 mm inside a"


def test_visual_shapes_may_leave_out_a_leg_and_are_not_compared():
    """The size of the body counts instead: here a radius of gyration of √1.5 m."""
    box = Shape("visual", "box", (2.0, 1.0, 0.4), Pose.identity())
    assert not compared(of_shape(box), [0, 0, -0.9])
    (said,) = compared(of_shape(box), [0, 0, -25.0])
    assert "25 m from the center of mass of 'a'" in said
    ball = Shape("collision", "sphere", (0.5,), Pose.identity())
    assert not compared(of_shape(box, ball), [0, 0, -0.5])


#: A cup: a box of 1 m with a hollow of 0.6 m from above, as a closed mesh.
def cup():
    def square(half, z):
        return [[x * half, y * half, z] for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]

    vertices = np.array([*square(0.5, 0.0), *square(0.5, 1.0), *square(0.3, 1.0), *square(0.3, 0.4)])

    def ring(low, high):
        for k in range(4):
            n = (k + 1) % 4
            yield from ((low + k, low + n, high + n), (low + k, high + n, high + k))

    bottom = [(0, 2, 1), (0, 3, 2)]
    hollow = [(12, 13, 14), (12, 14, 15)]
    triangles = np.array([*bottom, *ring(0, 4), *ring(4, 8), *ring(8, 12), *hollow])
    return vertices, triangles


@pytest.mark.parametrize(
    ("point", "words"),
    [
        ([0, 0, 0], None),
        ([0, 0, 0.4], None),
        ([0, 0, 1.0], None),
        ([0, 0, 0.3], "'c0' is 100 mm inside the collision shapes"),
        ([0.4, 0, 0.6], "'c0' is 100 mm inside the collision shapes"),
        ([0, 0, 0.5], "'c0' is 100 mm away from the collision shapes"),
        ([0.52, 0, 0.6], "'c0' is 20 mm away from the collision shapes"),
    ],
)
def test_a_point_inside_a_mesh_is_said_and_one_in_its_hollow_lies_outside(point, words):
    """On the surface of the mesh or of its convex hull, which engines take instead, nothing is said."""
    said = compared(of_shape(Shape("collision", "mesh", (1, 1, 1), Pose.identity(), triangles=cup())), point)
    assert [words in one for one in said] == ([] if words is None else [True])


def test_a_point_far_from_a_mesh_is_refused_with_its_distance():
    scene = of_shape(Shape("collision", "mesh", (1, 1, 1), Pose.identity(), triangles=cup()))
    with pytest.raises(BadUsage, match=rf"{np.hypot(0.3, 0.4):g} m away"):
        compared(scene, [0.8, 0.0, -0.4])


def test_distances_from_triangles_are_the_smallest_over_their_points():
    rng = np.random.default_rng(5)
    fine = np.stack(np.meshgrid(*[np.linspace(0, 1, 201)] * 2), axis=-1).reshape(-1, 2)
    u, v = fine[fine.sum(axis=1) <= 1 + 1e-12].T
    for _ in range(20):
        a, b, c = corners = rng.normal(size=(3, 3))
        sampled = a + np.outer(u, b - a) + np.outer(v, c - a)
        for point in rng.normal(size=(10, 3)) * 2:
            expected = np.linalg.norm(sampled - point, axis=1).min()
            assert distance_from_triangles(point, corners[None]) == pytest.approx(
                expected, abs=2e-3, rel=1e-2
            )


def test_a_triangle_without_area_is_its_edges():
    line = np.array([[[0.0, 0, 0], [1, 0, 0], [2, 0, 0]], [[5.0, 5, 5]] * 3])
    assert distance_from_triangles(np.array([1.5, 0.3, 0.4]), line) == pytest.approx(0.5)
    assert distance_from_triangles(np.array([-3.0, 0, 4.0]), line) == pytest.approx(5.0)


def test_triangles_surround_what_is_inside_once_in_either_order():
    vertices, triangles = cup()
    for order in (slice(None), slice(None, None, -1)):
        corners = vertices[triangles[:, order]]
        for point, times in (([0.4, 0, 0.6], 1), ([0, 0, 0.2], 1), ([0, 0, 0.6], 0), ([0, 0, 3.0], 0)):
            assert winding(np.array(point), corners) == pytest.approx(times, abs=1e-9)


# Bodies without shapes.


def crate(*welded: mb.Body) -> mb.Mechanism:
    """Return a free box of 10 kg with a radius of gyration of √(3/20) m about its center at 0.5 m height."""
    body = mb.Body("a", 10.0, np.array([0, 0, 0.5]), np.eye(3))
    welds = [
        mb.Pair(f"weld {w.name}", "fixed", "a", w.name, Pose.identity(), Pose.identity()) for w in welded
    ]
    return mb.Mechanism("crate", (body, *welded), tuple(welds))


def feet(*more):
    corners = [[x, y, 0] for x in (1, -1) for y in (1, -1)]
    return [{"body_a": "a", "point": p, "normal": [0, 0, 1], "mu": 0.8} for p in (*corners, *more)]


def test_a_point_fifty_metres_away_is_said_first():
    result = mb.reactions(crate(), contacts=feet([50, 0, 0]))
    (said,) = (note for note in result.notes if isinstance(note, Assumption))
    assert (
        "contact 'contact a 5' is 50 m from the center of mass of 'a', 129 times its size of 0.387 m" in said
    )
    assert "a contact 50 m from a" in str(result).splitlines()[0]
    assert said in result.to_dict()["notes"]


def test_a_point_within_twenty_sizes_is_not_said():
    size = np.sqrt(3 / 20)
    for factor, says in ((19.9, False), (20.1, True)):
        x = np.sqrt((factor * size) ** 2 - 0.25)
        notes = mb.reactions(crate(), contacts=feet([x, 0, 0])).notes
        assert any("center of mass" in note for note in notes) == says


def test_a_foot_without_inertia_has_the_size_of_all_that_is_welded_to_it():
    foot = mb.Body("foot", 0.0, np.zeros(3), np.zeros((3, 3)))
    mech = crate(foot)
    near, far = (
        mb.reactions(mech, contacts=[*feet(), {**feet()[0], "body_a": "foot", "point": [x, 0, 0]}])
        for x in (5.0, 9.0)
    )
    assert not any("center of mass" in note for note in near.notes)
    assert any("9.01 m from the center of mass of 'foot'" in note for note in far.notes)


def test_bodies_that_are_welded_together_have_one_radius_of_gyration():
    # 10 kg each, 6 m apart: a radius of gyration of 3.02 m about the middle, 0.387 m alone
    mech = crate(mb.Body("a far one", 10.0, np.array([6.0, 0, 0.5]), np.eye(3)))
    said = [
        note
        for note in mb.reactions(mech, contacts=feet([5, 0, 0], [70, 0, 0])).notes
        if "mass of 'a'" in note
    ]
    assert len(said) == 1 and "'contact a 6' is 67 m" in said[0]
    assert f"{np.hypot(67, 0.5) / np.sqrt(9 + 3 / 20):.3g} times its size" in said[0]


def test_both_bodies_of_a_contact_are_compared():
    box = Shape("collision", "box", (2.0, 2.0, 1.0), Pose(np.eye(3), np.array([0, 0, 0.5])))
    top = mb.Body("b", 1.0, np.array([0, 0, 1.5]), np.eye(3))
    mech = mb.Mechanism("stack", (*crate().bodies, top))
    scene = Scene(mech, state_at_home(mech), shapes={"a": (box,)})
    # a lies 30 mm lower at this pose
    poses = forward(mech, np.array([0, 0, 0.47, 0, 0, 0, 1, 0, 0, 1.5, 0, 0, 0, 1]))
    on_top = mb.Contact("pad", "b", np.array([0, 0, 1.0]), np.array([0, 0, 1.0]), 0.5, "a")
    (said,) = compare_points(scene, mech, poses, [on_top])
    assert "'pad' is 30 mm away from the collision shapes of 'a'" in said


def test_a_body_is_as_large_as_the_distance_to_its_joints():
    """Both have a placeholder inertia; the joint of the bar says how long that is."""
    bar = mb.Body("bar", 1.0, np.zeros(3), 1e-6 * np.eye(3))
    tip = mb.Body("tip", 1.0, np.zeros(3), 1e-6 * np.eye(3))
    joint = mb.Pair("j", "revolute", "bar", "tip", Pose(np.eye(3), np.array([0.5, 0, 0])), Pose.identity())
    mech = mb.Mechanism("bars", (bar, tip), (joint,))
    scene = Scene(mech, state_at_home(mech))
    poses = forward(mech, scene.state.q)

    def said(body):
        contact = mb.Contact("c", body, np.array([0, 0, -0.1]), np.array([0, 0, 1.0]), 0.5)
        return compare_points(None, mech, poses, [contact])

    assert not said("bar")
    # nothing but its inertia says how large the tip is: √1.5 mm
    assert f"{0.1 / np.sqrt(1.5e-6):.3g} times" in said("tip")[0]


# The same contact twice.


def test_the_same_contact_twice_is_refused_from_python():
    twice = feet([1, 1, 0])
    with pytest.raises(
        BadUsage, match="contacts 'contact a 1' and 'contact a 5' of 'a' on 'world' are the same"
    ):
        mb.reactions(crate(), contacts=twice)
    twice[4] = {**twice[4], "point": [1, 1, 1e-6]}
    mb.reactions(crate(), contacts=twice)
    # a corner between two planes
    twice[4] = {**twice[4], "point": [1, 1, 0], "normal": [-1, 0, 0]}
    mb.reactions(crate(), contacts=twice)


def test_a_contact_that_is_stated_from_both_sides_is_refused():
    top = mb.Body("b", 1.0, np.array([0, 0, 1.5]), np.eye(3))
    mech = mb.Mechanism("stack", (*crate().bodies, top))
    pads = [{"body_a": "b", "body_b": "a", "point": p, "normal": [0, 0, 1], "mu": 0.5} for p in CORNERS]
    mb.reactions(mech, contacts=[*feet(), *pads])
    back = {
        "body_a": "a",
        "body_b": "b",
        "point": CORNERS[1],
        "normal": [0, 0, -1],
        "mu": 0.3,
        "name": "back",
    }
    with pytest.raises(BadUsage, match="'contact b 2' and 'back' of 'a' on 'b' are the same"):
        mb.reactions(mech, contacts=[*feet(), *pads, back])


CORNERS = [[x, y, 1.0] for x in (0.3, -0.3) for y in (0.3, -0.3)]
TABLES = """
[[body]]
name = "a"
mass = 10
com = [0, 0, 0.5]
inertia = [1, 1, 1]
"""


def table(point, name=""):
    named = f'name = "{name}"\n' if name else ""
    return f'[[contact]]\nbody_a = "a"\n{named}point = {point}\nnormal = [0, 0, 1]\nmu = 0.8\n'


def test_the_same_contact_twice_in_a_scene_is_refused_with_its_line(tmp_path):
    path = tmp_path / "crate.scene.toml"
    first = TABLES + "".join(table([x, y, 0]) for x in (1, -1) for y in (1, -1))
    path.write_text(first + table([1, -1, 0], "again"), encoding="utf-8")
    with pytest.raises(BadUsage, match="'contact a 2' and 'again' of 'a' on 'world' are the same") as caught:
        mb.load(path)
    assert f"crate.scene.toml:{first.count(chr(10)) + 1}:" in str(caught.value)


def test_a_call_that_repeats_a_contact_of_the_scene_is_refused(tmp_path):
    path = tmp_path / "crate.scene.toml"
    path.write_text(TABLES + "".join(table([x, y, 0]) for x in (1, -1) for y in (1, -1)), encoding="utf-8")
    with pytest.raises(BadUsage, match="'contact a 4' and 'contact a' of 'a' on 'world' are the same"):
        mb.reactions(mb.load(path), contacts=[feet()[3]])
