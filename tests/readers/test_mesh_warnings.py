"""Coordinates of a mesh that are huge or no numbers are judged by us, without a word from numpy before."""

from __future__ import annotations

import io
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


#: A triangle whose material has a bump map; trimesh logs a traceback if the picture is not there.
BUMPED = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset/>
<library_images><image id="i"><init_from>gone.png</init_from></image></library_images>
<library_effects><effect id="e"><profile_COMMON><newparam sid="s"><surface type="2D"><init_from>i</init_from></surface>
</newparam><newparam sid="t"><sampler2D><source>s</source></sampler2D></newparam><technique sid="common"><lambert>
<diffuse><color>1 1 1 1</color></diffuse></lambert><extra><technique profile="m"><bump>
<texture texture="t" texcoord="u"/></bump></technique></extra></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh><source id="p"><float_array id="pa" count="9">0 0 0 1 0 0 0 1 0</float_array>
<technique_common><accessor source="#pa" count="3" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source><vertices id="v">
<input semantic="POSITION" source="#p"/></vertices><triangles count="1" material="a"><input semantic="VERTEX"
 source="#v" offset="0"/><p>0 1 2</p></triangles></mesh></geometry></library_geometries><library_visual_scenes>
<visual_scene id="w"><node id="n"><instance_geometry url="#g"><bind_material><technique_common>
<instance_material symbol="a" target="#m"/></technique_common></bind_material></instance_geometry></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#w"/></scene></COLLADA>"""


def test_nothing_of_trimesh_is_printed(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("collada")
    file = tmp_path / "bumped.dae"
    file.write_text(BUMPED)
    assert len(load_mesh(str(file)).vertices) == 3
    assert not caplog.records
    # its own users still see what it logs
    trimesh.load(io.BytesIO(BUMPED.encode()), file_type="dae", force="mesh")
    assert any("bumpmap" in record.message for record in caplog.records)


@pytest.mark.parametrize("rows", ["v\nv 1\nv 2\nf 1 2 3\n", "v 0 0\nv 1 0\nv 0 1\nf 1 2 3\n", "v \nv \nv \n"])
def test_vertices_of_fewer_than_three_coordinates_are_none(rows: str, tmp_path: Path) -> None:
    file = tmp_path / "flat.obj"
    file.write_text(rows)
    assert mesh_extent(str(file)) is None
    with pytest.raises(UnusableMesh):
        read_triangles(str(file))
