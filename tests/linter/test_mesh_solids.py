"""Volumes and inertias of meshes against closed forms and trimesh; what is kept of them between runs."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from mbplugin.linter.checks import meshes as mesh_cache
from mbplugin.linter.checks.meshes import MeshSolid, is_closed, mesh_solid
from mbplugin.model.spatial import rotation_from_rpy
from mbplugin.readers import meshes as triangles
from mbplugin.readers.meshes import read_triangles

trimesh = pytest.importorskip("trimesh")


def shapes() -> dict[str, object]:
    rng = np.random.default_rng(3)
    ring = trimesh.creation.annulus(0.4, 1.0, 0.3)
    ring.apply_translation([5.0, -7.0, 11.0])
    lump = trimesh.creation.icosphere(2, 0.3)
    lump.vertices *= 1 + 0.2 * rng.normal(size=(len(lump.vertices), 1))
    return {"box": trimesh.creation.box((0.2, 0.3, 0.5)), "ring": ring, "lump": lump}


@pytest.mark.parametrize("kind", ["stl", "obj", "ply"])
@pytest.mark.parametrize("name", ["box", "ring", "lump"])
def test_solids_agree_with_trimesh(name: str, kind: str, tmp_path: Path) -> None:
    mesh = shapes()[name]
    file = tmp_path / f"{name}.{kind}"
    mesh.export(file)  # type: ignore[attr-defined]
    expected = trimesh.load(file, force="mesh")
    solid = mesh_solid(*read_triangles(str(file)))
    assert solid is not None and expected.is_volume
    assert solid.volume == pytest.approx(expected.volume, rel=1e-7)
    assert solid.center == pytest.approx(expected.center_mass, rel=1e-7, abs=1e-9)
    # trimesh sums about the origin, and the ring is far from it
    assert solid.inertia == pytest.approx(expected.moment_inertia, rel=1e-5, abs=1e-8)
    assert np.array([solid.lower, solid.upper]) == pytest.approx(expected.bounds)


def test_a_box_far_from_the_origin_keeps_its_digits() -> None:
    mesh = trimesh.creation.box((0.2, 0.3, 0.5))
    solid = mesh_solid(np.asarray(mesh.vertices) + 1e4, np.asarray(mesh.faces))
    assert solid is not None
    x, y, z = 0.2, 0.3, 0.5
    expected = x * y * z / 12 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])
    assert solid.inertia == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_scaling_is_that_of_the_vertices() -> None:
    mesh = trimesh.creation.box((1, 2, 3))
    turned = np.asarray(mesh.vertices) @ rotation_from_rpy([0.3, 0.5, -0.2]).T + [1, 2, 3]
    faces = np.asarray(mesh.faces)
    solid = mesh_solid(turned, faces)
    assert solid is not None
    for scale in ((2.0, 0.5, 3.0), (-1.0, 2.0, 1.0)):
        mirrored = faces[:, ::-1] if np.prod(scale) < 0 else faces
        expected, found = mesh_solid(turned * scale, mirrored), solid.scaled(scale)
        assert expected is not None
        for part in ("volume", "center", "inertia", "lower", "upper"):
            assert getattr(found, part) == pytest.approx(getattr(expected, part), rel=1e-9, abs=1e-9)


def test_an_open_mesh_is_its_convex_hull_and_a_flat_one_nothing() -> None:
    mesh = trimesh.creation.box((0.2, 0.3, 0.5))
    vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.faces)
    assert is_closed(vertices, faces) and not is_closed(vertices, faces[1:])
    assert not is_closed(vertices, np.vstack([faces[1:], faces[:1, ::-1]]))
    open_box = mesh_solid(vertices, faces[1:])
    assert open_box is not None and open_box.volume == pytest.approx(0.03)
    assert open_box.inertia == pytest.approx(np.asarray(mesh.moment_inertia))
    assert mesh_solid(vertices * [1, 1, 0], faces) is None


def test_vertices_that_rounding_parts_are_one() -> None:
    mesh = trimesh.creation.icosphere(2)
    soup = np.asarray(mesh.triangles).reshape(-1, 3)
    noise = 1e-9 * np.random.default_rng(1).normal(size=soup.shape)
    assert is_closed(soup + noise + 0.37e-6, np.arange(len(soup)).reshape(-1, 3))


def test_polygons_and_texture_indices_of_an_obj(tmp_path: Path) -> None:
    corners = [(x, y, z) for x in (0, 1) for y in (0, 2) for z in (0, 3)]
    sides = ["1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + ["vt 0 0", "vn 0 0 1"]
    lines += ["f " + " ".join(f"{c}/1/1" for c in side.split()) for side in sides]
    (tmp_path / "box.obj").write_text("\n".join(lines))
    solid = mesh_solid(*read_triangles(str(tmp_path / "box.obj")))
    assert solid is not None and solid.volume == pytest.approx(6.0)
    (tmp_path / "back.obj").write_text("\n".join(lines).replace("f 1/1/1 2/1/1 4/1/1 3/1/1", "f -8 -7 -5 -6"))
    again = mesh_solid(*read_triangles(str(tmp_path / "back.obj")))
    assert again is not None and again.volume == pytest.approx(6.0)


# What is kept


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are read, with a cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(mesh_cache.OFF, raising=False)
    read: list[str] = []

    def reading(path: str, largest: int = 0) -> triangles.Triangles:
        read.append(path)
        return read_triangles(path)

    monkeypatch.setattr(mesh_cache, "read_triangles", reading)
    mesh_cache._numbers.cache_clear()
    return read


def volume(path: Path) -> float:
    mesh_cache._numbers.cache_clear()
    solid = mesh_cache.solid_of_file(str(path))
    return 0.0 if solid is None else solid.volume


def test_a_mesh_is_read_once_until_it_changes(
    counted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "box.stl"
    trimesh.creation.box((1, 1, 1)).export(file)
    assert volume(file) == pytest.approx(1)
    assert volume(file) == pytest.approx(1)
    assert len(counted) == 1
    # the same size, another content and time
    trimesh.creation.box((1, 1, 2)).export(file)
    os.utime(file, ns=(1, 1))
    assert volume(file) == pytest.approx(2)
    monkeypatch.setenv(mesh_cache.OFF, "1")
    assert volume(file) == pytest.approx(2)
    assert len(counted) == 3


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"key": 1}', "null"])
def test_a_damaged_entry_is_computed_again(damage: str, counted: list[str], tmp_path: Path) -> None:
    file = tmp_path / "box.stl"
    trimesh.creation.box((1, 1, 1)).export(file)
    volume(file)
    (entry,) = (tmp_path / "cache" / "mbplugin" / "meshes").iterdir()
    entry.write_text(damage)
    assert volume(file) == pytest.approx(1)
    assert len(counted) == 2


def test_what_is_no_mesh_is_kept_too(counted: list[str], tmp_path: Path) -> None:
    file = tmp_path / "broken.stl"
    file.write_text("solid nothing")
    assert volume(file) == volume(file) == 0.0
    assert len(counted) == 1


def test_kept_numbers_are_those_computed(counted: list[str], tmp_path: Path) -> None:
    file = tmp_path / "ball.stl"
    trimesh.creation.icosphere(2, 0.3).export(file)
    first = mesh_cache.solid_of_file(str(file))
    mesh_cache._numbers.cache_clear()
    again = mesh_cache.solid_of_file(str(file))
    assert isinstance(first, MeshSolid) and isinstance(again, MeshSolid) and len(counted) == 1
    for part in ("volume", "center", "moments", "lower", "upper"):
        assert np.array_equal(getattr(first, part), getattr(again, part))


def test_the_size_of_a_mesh_is_kept_beside_its_solid(
    counted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "box.stl"
    trimesh.creation.box((1, 2, 3)).export(file)
    assert volume(file) == pytest.approx(6)
    assert mesh_cache.extent_of_file(str(file)) == pytest.approx(np.array([1, 2, 3]))
    mesh_cache._numbers.cache_clear()
    monkeypatch.setitem(mesh_cache._COMPUTED, "extent", (3, lambda path: None))
    assert mesh_cache.extent_of_file(str(file)) == pytest.approx(np.array([1, 2, 3]))
    trimesh.creation.box((1, 2, 4)).export(file)
    os.utime(file, ns=(1, 1))
    assert mesh_cache.extent_of_file(str(file)) is None
