"""What is to be seen: every body, closed loops, colours that can be told apart, arrows in balance."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS, DOOR_1, DOOR_2, ORACLES
from mbplugin.model.mechanism import WORLD, Body, Mechanism
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.pair import PAIR_TYPES, Pair
from mbplugin.model.scene import Shape
from mbplugin.model.spatial import Array, Pose, rotation_from_rpy
from mbplugin.report.picture import LEGEND, PALETTE, Picture, _fan, bodies as made, picture
from mbplugin.report.picture.bodies import Mesh, glyph_mesh, glyphs, limited, merged, moved

MINITAUR = str(ASSETS / "minitaur.scene.toml")


def volume(mesh: Mesh) -> float:
    """Return the enclosed volume; inside-out faces count negative."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def of(file: str) -> Picture:
    scene = mb.load(file)
    return picture(scene, analysis=mb.analyze(scene))


@pytest.mark.parametrize(
    ("mesh", "exact", "half"),
    [
        (made.box(1.0, 2.0, 3.0), 6.0, (0.5, 1.0, 1.5)),
        (made.ball(0.5), np.pi / 6, (0.5, 0.5, 0.5)),
        (made.cylinder(0.5, 2.0), np.pi / 2, (0.5, 0.5, 1.0)),
        (made.capsule(0.5, 2.0), np.pi / 2 + np.pi / 6, (0.5, 0.5, 1.5)),
        (made.bar(np.zeros(3), np.array([0.0, 3.0, 0.0]), 0.5), 0.75 * np.pi, (0.5, 1.5, 0.5)),
    ],
)
def test_solids_enclose_their_volume(mesh: Mesh, exact: float, half: tuple[float, ...]) -> None:
    assert 0.9 * exact < volume(mesh) <= exact * (1 + 1e-9)
    size = mesh.vertices.max(axis=0) - mesh.vertices.min(axis=0)
    assert size == pytest.approx(2 * np.array(half), rel=0.03)


@pytest.mark.parametrize("apart", [0.0, 1.0])
def test_a_distance_pair_is_drawn_where_its_points_coincide_too(apart: float) -> None:
    bodies = (Body("a", 1.0, np.zeros(3), np.eye(3)),)
    at = Pose(np.eye(3), np.array([0.0, 0.0, apart]))
    rod = Pair("rod", "distance", WORLD, "a", Pose.identity(), at, closure=True, length=1.0)
    mech = Mechanism(
        "one ball", bodies, (Pair("ball", "spherical", WORLD, "a", Pose.identity(), Pose.identity()), rod)
    )
    drawn = {
        glyph.name: glyph.mesh
        for glyph in glyphs(mech, forward(mech, np.array([0.0, 0.0, 0.0, 1.0])), {}, 0.1)
    }
    assert drawn["rod"].vertices[:, 2].max() == pytest.approx(max(apart, 0.05), abs=0.06)


def test_an_arrow_ends_where_its_vector_does() -> None:
    vector = np.array([1.0, -2.0, 2.0])
    for heads in (1, 2):
        along = made.arrow(vector, 0.02, heads).vertices @ vector / 3.0
        assert (along.min(), along.max()) == pytest.approx((0.0, 3.0))


def test_meshes_move_as_bodies_do_and_merge() -> None:
    box = made.box(1.0, 1.0, 1.0)
    X = Pose(rotation_from_rpy((0.3, -0.4, 2.0)), np.array([1.0, 2.0, 3.0]))
    both = merged([box, moved(box, X)])
    assert volume(both) == pytest.approx(2.0)
    assert both.vertices[8:].mean(axis=0) == pytest.approx(X.p)


def test_a_fine_mesh_gets_coarser_and_keeps_its_form() -> None:
    import trimesh

    fine = trimesh.creation.icosphere(subdivisions=6)
    simple = limited(Mesh(np.array(fine.vertices), np.array(fine.faces)), 3000)
    assert 500 < len(simple.faces) <= 3000
    assert volume(simple) == pytest.approx(4 / 3 * np.pi, rel=0.05)


@pytest.mark.parametrize("file", sorted(ORACLES.glob("*.sdf")), ids=lambda file: file.stem)
def test_every_body_of_every_known_mechanism_is_seen(file: Path) -> None:
    seen = of(str(file))
    assert {body.name for body in seen.bodies} == {"world", *(b.name for b in seen.mechanism.bodies)}
    for body in seen.bodies[1:]:
        assert len(body.mesh.faces) > 50
        points = body.mesh.vertices @ seen.poses.of(seen.mechanism.body_index[body.name]).R.T
        points = points + seen.poses.of(seen.mechanism.body_index[body.name]).p
        assert np.linalg.norm(points - seen.center_W, axis=1).max() < 1.1 * seen.radius
    assert "every body" in seen.notes[-1]


@pytest.mark.bullet
def test_minitaur_has_its_meshes_and_closed_feet() -> None:
    seen = of(MINITAUR)
    assert seen.notes == ()
    mech, poses = seen.mechanism, seen.poses
    # the file's rounded angles let the shins stand 10 µm apart
    closures = [joint for joint in seen.joints if joint.kind == "closure"]
    assert len(closures) == 4
    for joint in closures:
        pair = mech.pair_by_name[joint.name]
        p_WS = poses.of(mech.body_index[pair.body_b]).apply(pair.X_BS.p)
        assert joint.X_WJ.p == pytest.approx(p_WS, abs=2e-5)
        assert joint.verdict == "non-unique"
    # eight equal motors are one surface in eight places
    motors = [body for body in seen.bodies if body.name.startswith("motor_")]
    assert len(motors) == 8
    assert len({id(body.parts[0].mesh) for body in motors}) == 1


@pytest.mark.bullet
def test_verdicts_are_those_of_the_analysis() -> None:
    scene = mb.load(MINITAUR)
    analysis = mb.analyze(scene)
    seen = picture(scene, analysis=analysis)
    flexible = {body.name for body in seen.bodies if body.verdict == "flexible"}
    assert flexible == {body.name for body in analysis.bodies if not body.may_stay_rigid}
    told = {joint.name: joint.verdict for joint in seen.joints}
    assert told == {c.name: c.reaction for c in analysis.constraints if c.name in told}
    assert {body.verdict for body in picture(scene).bodies} == {"ground", "unjudged"}


def test_what_cannot_be_shown_is_named(tmp_path: Path) -> None:
    scene = mb.load(DOOR_1)
    (tmp_path / "broken.obj").write_text("this is not a mesh")
    shapes = tuple(
        Shape("visual", kind, size, Pose.identity(), mesh)
        for kind, size, mesh in (
            ("mesh", (1.0, 1.0, 1.0), "gone.obj"),
            ("mesh", (1.0, 1.0, 1.0), str(tmp_path / "broken.obj")),
            ("box", (0.0, 1.0, 1.0), ""),
            ("cloud", (1.0,), ""),
        )
    )
    body = scene.mechanism.bodies[0].name
    assert scene.request is not None
    request = replace(scene.request, package_dirs=(str(tmp_path),))
    seen = picture(replace(scene, shapes={body: shapes}, request=request))
    assert len(seen.notes) == 5
    for word, note in zip(("sticks", "gone.obj", "broken.obj", "box", "cloud"), seen.notes, strict=True):
        assert (word in note and body in note) or note.endswith("every body")
    assert seen.bodies[1].stick


def test_shapes_for_collisions_stand_in_for_visual_ones_that_cannot_be_shown() -> None:
    scene = mb.load(DOOR_1)
    body = scene.mechanism.bodies[0].name
    box = Shape("collision", "box", (1.0, 2.0, 3.0), Pose.identity())
    lost = Shape("visual", "mesh", (1.0, 1.0, 1.0), Pose.identity(), "gone.dae")
    ball = Shape("visual", "sphere", (0.1,), Pose.identity())
    cases = (((lost, box), 6.0), ((lost, ball, box), 6.0), ((ball, box), 0.00419), ((lost, ball), 0.00419))
    for shapes, expected in cases:
        seen = picture(replace(scene, shapes={body: shapes}))
        assert volume(seen.bodies[1].mesh) == pytest.approx(expected, rel=0.1)
        assert any("gone.dae" in note for note in seen.notes) == (lost in shapes)


def test_a_mirrored_mesh_is_not_inside_out(tmp_path: Path) -> None:
    import trimesh

    trimesh.creation.box((1, 2, 3)).export(tmp_path / "box.stl")
    scene = mb.load(DOOR_1)
    assert scene.request is not None
    shape = Shape("visual", "mesh", (-1.0, 1.0, 2.0), Pose.identity(), str(tmp_path / "box.stl"))
    body = scene.mechanism.bodies[0].name
    request = replace(scene.request, package_dirs=(str(tmp_path),))
    seen = picture(replace(scene, shapes={body: (shape,)}, request=request))
    assert volume(seen.bodies[1].mesh) == pytest.approx(12.0)


@pytest.mark.parametrize("kind", sorted(PAIR_TYPES))
def test_every_pair_type_has_a_glyph(kind: str) -> None:
    mesh = glyph_mesh(kind, 0.1)
    assert len(mesh.faces)
    assert np.abs(mesh.vertices).max() < 0.2


def test_the_hinge_of_a_door_carries_its_weight() -> None:
    scene = mb.load(DOOR_1)
    mech = scene.mechanism
    seen = picture(scene, reactions=mb.reactions(scene))
    weight = -sum(body.mass for body in mech.bodies) * mech.gravity
    assert all(len(arrow.fan) == 0 and arrow.resolved is None for arrow in seen.arrows)
    (force,) = [arrow for arrow in seen.arrows if arrow.quantity == "force"]
    assert force.known == pytest.approx(weight)
    (moment,) = [arrow for arrow in seen.arrows if arrow.quantity == "moment"]
    arm = forward(mech, scene.state.q).p_WC[0] - force.point_W
    assert moment.known == pytest.approx(np.cross(arm, weight))


def test_every_joint_of_an_arm_carries_what_is_beyond_it() -> None:
    scene = mb.load(ASSETS / "arm_6r.scene.toml")
    mech = scene.mechanism
    seen = picture(scene, reactions=mb.reactions(scene, qd=np.zeros(6), qdd=np.zeros(6)))
    masses = {body.name: body.mass for body in mech.bodies}
    for payload in scene.payloads:
        masses[payload.body] += payload.mass
    beyond = 0.0
    for joint in reversed(mech.tree.joints):
        beyond += masses[joint.outer]
        assert joint.pair is not None
        forces = [a for a in seen.arrows if a.quantity == "force" and a.constraint == joint.pair.name]
        if joint.pair.kind.free:
            assert forces[0].known == pytest.approx(-beyond * mech.gravity)


def test_two_hinges_leave_open_how_they_share_the_weight() -> None:
    scene = mb.load(DOOR_2)
    seen = picture(scene, reactions=mb.reactions(scene, estimate=False))
    forces = [arrow for arrow in seen.arrows if arrow.quantity == "force"]
    assert len(forces) == 2
    for arrow in forces:
        axis = next(j for j in seen.joints if j.name == arrow.constraint).axis_W
        open_along = np.abs(arrow.fan @ axis).max()
        assert open_along == pytest.approx(1.0, abs=0.3)
        assert arrow.resolved is None
    assert "open" in {entry.key for entry in seen.legend}


@pytest.mark.parametrize(("rank", "count"), [(0, 0), (1, 2), (2, 12), (3, 12)])
def test_a_fan_spans_what_is_open(rank: int, count: int) -> None:
    rng = np.random.default_rng(rank)
    basis: Array = rng.normal(size=(rank, 3))
    fan = _fan(rng.normal(size=(4, rank)) @ basis if rank else np.zeros((4, 3)))
    assert len(fan) == count
    if rank:
        assert np.linalg.norm(fan, axis=1) == pytest.approx(np.ones(count))
        assert fan.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
        assert np.linalg.matrix_rank(np.vstack((fan, basis)), tol=1e-9) == rank
        assert np.linalg.matrix_rank(fan, tol=1e-9) == rank


#: What the colour-blind see (Machado and others 2009, full severity), on linear RGB.
SEEN_AS = {
    "trichromat": np.eye(3),
    "protanope": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranope": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}


@pytest.mark.parametrize("who", SEEN_AS)
@pytest.mark.parametrize("marks", ["body", "joint"])
def test_verdicts_can_be_told_apart(who: str, marks: str) -> None:
    keys = {
        "body": ("rigid", "flexible", "ground"),
        "joint": ("unique", "non-unique", "undecided", "unjudged"),
    }[marks]
    assert set(keys) <= {entry.key for entry in LEGEND} | {"unjudged"}
    seen = [SEEN_AS[who] @ (np.array(PALETTE[key].rgba[:3]) ** 2.2) for key in keys]
    shown = [colour.clip(0) ** (1 / 2.2) for colour in seen]
    apart = [float(np.linalg.norm(a - b)) for a, b in combinations(shown, 2)]
    assert min(apart) > 0.2
