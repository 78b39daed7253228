"""A live client is drawn with its own shapes: those of its files, and those that a script has made."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.report.picture import picture
from mbplugin.stopping.zones import shape_piece
from places import BULLET_DATA

pybullet = pytest.importorskip("pybullet")


@pytest.fixture
def client() -> Iterator[int]:
    made = pybullet.connect(pybullet.DIRECT)
    pybullet.setAdditionalSearchPath(str(BULLET_DATA), physicsClientId=made)
    yield made
    pybullet.disconnect(made)


@pytest.mark.parametrize(
    "name", ["r2d2.urdf", "husky/husky.urdf", "kuka_iiwa/model.urdf", "quadruped/minitaur.urdf"]
)
def test_shapes_are_where_the_file_has_them(client: int, name: str) -> None:
    pybullet.loadURDF(name, physicsClientId=client)
    live, file = mb.load(client), mb.load(str(BULLET_DATA / name))
    compared = 0
    for body, shapes in file.shapes.items():
        wanted = [one for one in shapes if one.role == "visual"]
        found = [one for one in live.shapes.get(body, ()) if one.role == "visual"]
        assert [one.kind for one in found] == [one.kind for one in wanted], body
        for one, other in zip(found, wanted, strict=True):
            assert one.size == pytest.approx(other.size, abs=1e-6)
            assert one.X_LS.p == pytest.approx(other.X_LS.p, abs=1e-6)
            assert pytest.approx(other.X_LS.R, abs=1e-5) == one.X_LS.R
            compared += 1
    assert compared > 7
    shown = picture(live)
    # what no link has a visual for is a stick: massless frames
    assert {b.name for b in shown.bodies if b.stick} == {b.name for b in picture(file).bodies if b.stick}


def test_shapes_of_a_script_and_those_that_only_collide(client: int) -> None:
    box = pybullet.createVisualShape(
        pybullet.GEOM_BOX,
        halfExtents=[0.1, 0.2, 0.3],
        visualFramePosition=[0, 0, 0.5],
        physicsClientId=client,
    )
    ball = pybullet.createCollisionShape(
        pybullet.GEOM_CAPSULE,
        radius=0.2,
        height=0.7,
        collisionFramePosition=[0, 0.1, 0],
        physicsClientId=client,
    )
    made = {"basePosition": [0, 0, 1], "baseInertialFramePosition": [0.3, 0, 0], "physicsClientId": client}
    pybullet.createMultiBody(1.0, -1, box, **made)
    pybullet.createMultiBody(1.0, ball, -1, **made)
    scene = mb.load(client)
    (seen,), (felt,) = scene.shapes.values()
    assert (seen.kind, felt.kind) == ("box", "capsule")
    assert seen.size == pytest.approx((0.2, 0.4, 0.6)) and felt.size == pytest.approx((0.2, 0.7))
    assert seen.X_LS.p == pytest.approx([0, 0, 0.5]) and felt.X_LS.p == pytest.approx([0, 0.1, 0])
    assert not any(body.stick for body in picture(scene).bodies[1:])


def test_triangles_without_a_file_are_drawn_by_what_collides(client: int) -> None:
    """PyBullet does not give back what is only seen; what collides it does, as the points of a hull."""
    points = [[0, 0, 0], [0.3, 0, 0], [0, 0.4, 0], [0, 0, 0.5]]
    faces = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
    own = {"physicsClientId": client}
    mesh = {"shapeType": pybullet.GEOM_MESH, "vertices": points}
    seen = pybullet.createVisualShape(**mesh, indices=faces, **own)
    hull = pybullet.createCollisionShape(**mesh, collisionFramePosition=[0, 0.2, 0], **own)
    box = pybullet.createCollisionShape(
        pybullet.GEOM_BOX, halfExtents=[0.1, 0.2, 0.3], collisionFramePosition=[0, 0, 0.1], **own
    )
    for collides in (hull, box, -1):
        pybullet.createMultiBody(1.0, collides, seen, baseInertialFramePosition=[0.05, 0, 0], **own)
    scene = mb.load(client)
    drawn = picture(scene)
    by_hull, by_box, sticks = drawn.bodies[1:]
    assert [body.stick for body in drawn.bodies[1:]] == [False, False, True]
    low, high = by_hull.mesh.vertices.min(axis=0), by_hull.mesh.vertices.max(axis=0)
    assert low == pytest.approx([0, 0.2, 0]) and high == pytest.approx([0.3, 0.6, 0.5])
    assert by_box.mesh.vertices.max(axis=0) == pytest.approx([0.1, 0.2, 0.4])
    # zones of stops have the hull too
    (shape,) = (one for one in scene.shapes[by_hull.name] if one.kind == "hull")
    piece = shape_piece(shape, None)
    assert piece is not None and piece.points.max(axis=0) == pytest.approx(high)
    assert any(
        f"{sticks.name}: triangles without a file, which a script has made" in note for note in drawn.notes
    )


def test_reading_shapes_changes_no_motion(client: int) -> None:
    other = pybullet.connect(pybullet.DIRECT)
    ends = []
    for one in (client, other):
        pybullet.setGravity(0, 0, -9.81, physicsClientId=one)
        robot = pybullet.loadURDF(str(BULLET_DATA / "r2d2.urdf"), [0, 0, 1], physicsClientId=one)
        for step in range(50):
            if one == client and step % 10 == 0:
                mb.load(one)
            pybullet.stepSimulation(physicsClientId=one)
        states = pybullet.getJointStates(robot, range(pybullet.getNumJoints(robot, one)), physicsClientId=one)
        ends.append(np.array([state[:2] for state in states]))
    pybullet.disconnect(other)
    assert np.array_equal(*ends)
