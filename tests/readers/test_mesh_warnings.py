"""Coordinates of a mesh that are huge or no numbers are judged by us, without a word from numpy before."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path

import pytest

from mbplugin.readers.meshes import UnusableMesh, load_mesh, mesh_extent, read_triangles

FACET = "facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex {x} 0 0\nvertex 0 1 0\nendloop\nendfacet\n"


@pytest.mark.parametrize("x", ["1e30", "nan", "inf", "1e38"])
def test_reading_warns_of_nothing(x: str, tmp_path: Path) -> None:
    file = tmp_path / "m.stl"
    file.write_text(f"solid s\n{FACET.format(x=x)}endsolid s\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            assert abs(load_mesh(str(file)).vertices).max() <= 1.01e30
        except UnusableMesh as error:
            assert "read (RuntimeWarning)" not in str(error)


def test_a_package_that_no_mesh_needs_is_not_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of an STL file that is cut short a text is made, whose encoding trimesh guesses with another package."""
    trimesh = pytest.importorskip("trimesh")

    def load(*_: object, **__: object) -> None:
        raise ImportError("No module named 'charset_normalizer'")

    monkeypatch.setattr(trimesh, "load", load)
    (tmp_path / "cut.stl").write_bytes(b"solid")
    with pytest.raises(UnusableMesh, match="cannot be read, and may be cut short"):
        load_mesh(str(tmp_path / "cut.stl"))


def test_nothing_of_trimesh_is_printed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It logs a traceback for each texture of a COLLADA file that is not there."""
    trimesh = pytest.importorskip("trimesh")
    logger, seen = logging.getLogger("trimesh"), list[logging.LogRecord]()
    handler = logging.Handler()
    monkeypatch.setattr(handler, "emit", seen.append)
    logger.addHandler(handler)

    def load(*_: object, **__: object) -> object:
        logger.warning("unable to load bumpmap", exc_info=True)
        return trimesh.creation.box((1, 1, 1))

    monkeypatch.setattr(trimesh, "load", load)
    (tmp_path / "a.stl").write_bytes(b"solid")
    try:
        assert len(load_mesh(str(tmp_path / "a.stl")).vertices) == 8
        assert not seen
        # its own users still see what it logs
        load()
        assert len(seen) == 1
    finally:
        logger.removeHandler(handler)


@pytest.mark.parametrize("rows", ["v\nv 1\nv 2\nf 1 2 3\n", "v 0 0\nv 1 0\nv 0 1\nf 1 2 3\n", "v \nv \nv \n"])
def test_vertices_of_fewer_than_three_coordinates_are_none(rows: str, tmp_path: Path) -> None:
    file = tmp_path / "flat.obj"
    file.write_text(rows)
    assert mesh_extent(str(file)) is None
    with pytest.raises(UnusableMesh):
        read_triangles(str(file))
