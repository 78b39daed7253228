"""Mesh files that are none, that announce more than they hold, or that refer to other files."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import trimesh

from command_line import ROOT, call, call_process
from mbplugin.readers.meshes import UnusableMesh, load_mesh

ATTACKS = ROOT / "tests" / "attacks" / "meshes"
#: File, scale, and what is said of it.
UNUSABLE = [
    ("lfs.stl", "1 1 1", "git lfs pull"),
    ("lfs.obj", "1 1 1", "git lfs pull"),
    ("lfs.dae", "1 1 1", "git lfs pull"),
    ("empty.stl", "1 1 1", "is an empty file"),
    ("no_face.obj", "1 1 1", "holds no triangle"),
    ("triangle.obj", "1 0 0", "leaves no shape"),
    ("bomb.3mf", "1 1 1", "has a format that is not read"),
    ("zero.gltf", "1 1 1", "outside its folder"),
    ("announced.gltf", "1 1 1", "announces more than"),
    ("announced.ply", "1 1 1", "announces more elements"),
    ("announced.off", "1 1 1", "announces more elements"),
    ("doubled.dae", "1 1 1", "shows its parts 1099511627776 times"),
]


def robot(folder: Path, mesh: str, scale: str = "1 1 1") -> str:
    text = (ATTACKS / "robot.urdf.txt").read_text().replace("MESH", mesh).replace("SCALE", scale)
    (folder / "robot.urdf").write_text(text)
    if (ATTACKS / mesh).is_file():
        shutil.copy(ATTACKS / mesh, folder)
    return str(folder / "robot.urdf")


@pytest.mark.long_after(13)
@pytest.mark.parametrize(("mesh", "scale", "said"), UNUSABLE)
def test_a_mesh_without_a_shape_gives_no_estimate_and_a_note(
    mesh: str, scale: str, said: str, tmp_path: Path
) -> None:
    # the first as a process of its own
    ask = call_process if mesh == UNUSABLE[0][0] else call
    done = ask("reactions", robot(tmp_path, mesh, scale), "--output-format", "json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["estimated"] == [] and found["unresolved"] != []
    (note,) = (n for n in found["notes"] if mesh in n)
    assert said in note and "'a'" in note


@pytest.mark.parametrize(("mesh", "said"), [("lfs.obj", "git lfs pull"), ("no_face.obj", "no triangle")])
def test_the_page_names_a_mesh_that_it_cannot_show(mesh: str, said: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = call(
        "lint", robot(tmp_path, mesh), "--output-format", "html", "--output", str(page), "--fail-on", "error"
    )
    assert "Traceback" not in done.err
    assert said in page.read_text()


def test_a_flat_mesh_is_no_solid(tmp_path: Path) -> None:
    done = call("reactions", robot(tmp_path, "triangle.obj"), "--output-format", "json")
    assert done.code == 0 and json.loads(done.out)["estimated"] == []


@pytest.mark.parametrize("ending", ["stl", "obj", "ply", "off", "glb", "gltf"])
def test_the_formats_that_are_read_hold_the_same_box(ending: str, tmp_path: Path) -> None:
    box = trimesh.creation.box((1.0, 2.0, 3.0))
    if ending == "gltf":
        for name, content in trimesh.exchange.gltf.export_gltf(trimesh.Scene(box)).items():
            (tmp_path / name.replace("model", "box")).write_bytes(content)
    else:
        box.export(tmp_path / f"box.{ending}")
    read = load_mesh(str(tmp_path / f"box.{ending}"))
    assert read.bounds == pytest.approx(np.array([[-0.5, -1, -1.5], [0.5, 1, 1.5]]), abs=1e-6)
    assert read.volume == pytest.approx(6.0, rel=1e-6)


def gltf(folder: Path, nodes: list[dict[str, object]], uri: str = "box.bin") -> str:
    (folder / "box.bin").write_bytes(np.eye(3, dtype="<f4").tobytes())
    (folder / "box.gltf").write_text(
        json.dumps(
            {
                "asset": {"version": "2.0"},
                "buffers": [{"uri": uri, "byteLength": 36}],
                "bufferViews": [{"buffer": 0, "byteLength": 36}],
                "accessors": [{"bufferView": 0, "count": 3, "type": "VEC3", "componentType": 5126}],
                "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
                "nodes": nodes,
                "scenes": [{"nodes": [0]}],
            }
        )
    )
    return str(folder / "box.gltf")


def test_a_gltf_reads_what_lies_beside_it_and_nothing_else(tmp_path: Path) -> None:
    own = tmp_path / "model"
    own.mkdir()
    (tmp_path / "secret.bin").write_bytes(np.eye(3, dtype="<f4").tobytes())
    (own / "link.bin").symlink_to(tmp_path / "secret.bin")
    assert len(load_mesh(gltf(own, [{"mesh": 0}])).faces) == 1
    for uri in ("../secret.bin", "link.bin", str(tmp_path / "secret.bin")):
        with pytest.raises(UnusableMesh, match="outside its folder"):
            load_mesh(gltf(own, [{"mesh": 0}], uri))


@pytest.mark.parametrize(
    "nodes",
    [
        [{"children": [1, 2]}, {"children": [3]}, {"children": [3]}, {"mesh": 0}],
        [{"mesh": 0}, {"children": [2]}, {"children": [1]}],
        [{"children": list(range(1, 30001))}, *({"mesh": 0} for _ in range(30000))],
    ],
    ids=["two_parents", "circle", "many"],
)
def test_nodes_that_multiply_are_refused(nodes: list[dict[str, object]], tmp_path: Path) -> None:
    with pytest.raises(UnusableMesh, match=r"parents|contains itself|too much|more than 2000 primitives"):
        load_mesh(gltf(tmp_path, nodes))


def test_a_pipe_or_a_device_is_no_mesh(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.stl")
    (tmp_path / "zero.stl").symlink_to("/dev/zero")
    for name in ("pipe.stl", "zero.stl"):
        with pytest.raises(UnusableMesh, match="not a regular file"):
            load_mesh(str(tmp_path / name))


def test_triangles_of_missing_vertices_are_refused(tmp_path: Path) -> None:
    (tmp_path / "off.ply").write_text(
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
        "0 0 0\n1 0 0\n0 1 0\n3 0 1 900\n"
    )
    with pytest.raises(UnusableMesh):
        load_mesh(str(tmp_path / "off.ply"))
