"""Triangles of simple solids: closed, turned outwards, of the volume of their polyhedra, and on the surface."""

from __future__ import annotations

from math import pi, sin

import numpy as np
import pytest
import trimesh

from mbplugin.model.solids import (
    Triangles,
    box_triangles,
    capsule_triangles,
    cone_triangles,
    cylinder_triangles,
    unit_ball,
)
from mbplugin.readers.meshes import read_mesh
from mbplugin.report.picture import bodies


def volume(mesh: Triangles) -> float:
    vertices, faces = mesh
    return float(np.linalg.det(vertices[faces]).sum() / 6)


def polygon(sides: int) -> float:
    """The area of a regular polygon in the circle of radius 1."""
    return 0.5 * sides * sin(2 * pi / sides)


def capsule(radius: float, length: float, sides: int, rings: int) -> float:
    """The volume of prisms and frustums between the rings of a capsule."""
    angle = np.linspace(0, pi / 2, rings + 1)
    r, z = radius * np.cos(angle), radius * np.sin(angle)
    frustums = np.diff(z) * (r[:-1] ** 2 + r[:-1] * r[1:] + r[1:] ** 2) / 3
    return polygon(sides) * (2 * float(frustums.sum()) + radius**2 * length)


SOLIDS = {
    "box": (box_triangles(0.2, 0.3, 0.5), 0.03, 8),
    "cylinder": (cylinder_triangles(0.3, 0.7, 9), polygon(9) * 0.09 * 0.7, 20),
    "capsule": (capsule_triangles(0.3, 0.7, 8, 5), capsule(0.3, 0.7, 8, 5), 2 + 8 * 10),
    "cone": (cone_triangles(0.3, 0.7, 7), polygon(7) * 0.09 * 0.7 / 3, 9),
    "ball": (unit_ball(2), trimesh.creation.icosphere(2).volume, 162),
    "fine ball": (unit_ball(3), trimesh.creation.icosphere(3).volume, 642),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_a_solid_is_closed_turned_outwards_and_of_its_volume(name: str) -> None:
    mesh, expected, corners = SOLIDS[name]
    vertices, faces = mesh
    edges = faces[:, [(0, 1), (1, 2), (2, 0)]].reshape(-1, 2).tolist()
    # each edge once in each direction: no hole, and all triangles turned alike
    assert len(set(map(tuple, edges))) == len(edges)
    assert {(b, a) for a, b in edges} == {(a, b) for a, b in edges}
    assert volume(mesh) == pytest.approx(expected, rel=1e-12)
    assert len(vertices) == len(np.unique(vertices.round(9), axis=0)) == corners
    assert (np.bincount(faces.ravel(), minlength=len(vertices)) > 0).all()


def test_a_ball_has_the_vertices_of_trimesh() -> None:
    expected = trimesh.creation.icosphere(2).vertices.round(9) + 0.0
    assert {*map(tuple, unit_ball(2)[0].round(9) + 0.0)} == {*map(tuple, expected)}


def test_round_solids_touch_their_surface() -> None:
    x, y, z = cylinder_triangles(0.3, 0.7, 9)[0][2:].T
    np.testing.assert_allclose(np.hypot(x, y), 0.3, atol=1e-15)
    np.testing.assert_allclose(np.abs(z), 0.35, atol=1e-15)
    x, y, z = capsule_triangles(0.3, 0.7, 8, 5)[0].T
    np.testing.assert_allclose(np.hypot(np.hypot(x, y), np.abs(z) - 0.35), 0.3, atol=1e-15)
    x, y, z = cone_triangles(0.3, 0.7, 7)[0].T
    assert z.min() == 0.0 and z.max() == 0.7 and np.hypot(x, y)[z == 0.0].max() == pytest.approx(0.3)
    x, y, z = box_triangles(0.2, 0.3, 0.5)[0].T
    assert set(np.abs(x)) == {0.1} and set(np.abs(y)) == {0.15} and set(np.abs(z)) == {0.25}


def test_a_drawn_capsule_keeps_its_half_balls() -> None:
    """Its rings are scaled by the radius, the cylinder by the length."""
    drawn = bodies.capsule(0.1, 2.0)
    x, y, z = drawn.vertices.T
    np.testing.assert_allclose(np.hypot(np.hypot(x, y), np.maximum(np.abs(z) - 1.0, 0.0)), 0.1, atol=1e-12)
    assert z.max() == pytest.approx(1.1) and np.hypot(x, y).max() == pytest.approx(0.1)


def test_a_mirrored_mesh_file_stays_turned_outwards_and_loose_vertices_are_left_out(tmp_path) -> None:  # type: ignore[no-untyped-def]
    vertices, faces = box_triangles(1.0, 2.0, 3.0)
    lines = [f"v {x} {y} {z}" for x, y, z in [*vertices.tolist(), (9.0, 9.0, 9.0)]]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces.tolist()]
    (tmp_path / "box.obj").write_text("\n".join(lines))
    for scale in ((1.0, 1.0, 1.0), (-1.0, 1.0, 1.0), (-1.0, -2.0, 1.0), (-1.0, -1.0, -1.0)):
        read = read_mesh(str(tmp_path / "box.obj"), scale)
        assert volume(read) == pytest.approx(6.0 * abs(float(np.prod(scale))))
        assert len(read[0]) == 8 and np.abs(read[0]).max() < 4.0


def test_corners_of_an_stl_are_drawn_once(tmp_path) -> None:  # type: ignore[no-untyped-def]
    trimesh.creation.icosphere(2).export(tmp_path / "ball.stl")
    mesh, _ = bodies._read(str(tmp_path / "ball.stl"), "ball", (2.0, 2.0, 2.0), 10_000)
    assert len(mesh.vertices) == 162 and len(mesh.faces) == 320
    assert volume((mesh.vertices, mesh.faces)) == pytest.approx(
        8 * trimesh.creation.icosphere(2).volume, rel=1e-6
    )
