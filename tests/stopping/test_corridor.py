"""The room that a stop sweeps: shapes, meshes, and what is left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh

import mbplugin as mb
from mbplugin.stopping.outcome import SweptVolume

#: A bar 0.8 m long, 0.1 m wide and 0.2 m high on a vertical hinge, told by its shape.
BAR = """<robot name="bar">
<link name="world"/>
<link name="bar"><inertial><origin xyz="0.4 0 0"/><mass value="3"/>
<inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial>{shapes}</link>
<joint name="hinge" type="revolute"><parent link="world"/><child link="bar"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="50" velocity="3"/></joint>
</robot>
"""
BOX = '<geometry><box size="0.8 0.1 0.2"/></geometry>'
AT = '<origin xyz="0.4 0 0"/>'
#: The same as a mesh in mm, its long side along z, so that it is turned and scaled into place.
MESH = '<geometry><mesh filename="{name}" scale="0.001 0.001 0.001"/></geometry>'
TURNED = '<origin xyz="0.4 0 0" rpy="0 1.5707963267948966 0"/>'


def corridor(folder: Path, shapes: str) -> SweptVolume:
    file = folder / "bar.urdf"
    file.write_text(BAR.format(shapes=shapes), encoding="utf-8")
    brake = {"joint": "hinge", "torque": 20, "delay": 0.1}
    return mb.estop(mb.load(file), qd={"hinge": 2.5}, brakes=[brake]).corridor


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    box = trimesh.creation.box((200, 100, 800))
    box.export(tmp_path / "bar.stl")
    box.export(tmp_path / "bar.obj")
    (tmp_path / "broken.stl").write_text("solid nothing", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", ["bar.stl", "bar.obj"])
@pytest.mark.parametrize("role", ["visual", "collision"])
def test_a_mesh_sweeps_what_its_box_sweeps(folder: Path, name: str, role: str) -> None:
    progress = corridor(folder, f"<{role}>{AT}{BOX}</{role}>")
    read = corridor(folder, f"<{role}>{TURNED}{MESH.format(name=name)}</{role}>")
    assert read.bodies["bar"] == pytest.approx(progress.bodies["bar"], abs=1e-9)
    assert read.left_out == progress.left_out == ()
    # a turn of less than a right angle: the far corners go round
    assert progress.bodies["bar"][:, 2] == pytest.approx([-0.1, 0.1])
    assert progress.bodies["bar"][1, 0] == pytest.approx(np.hypot(0.8, 0.05), rel=1e-3)
    assert progress.bodies["bar"][0, 1] == pytest.approx(-0.05, rel=1e-9)
    assert 0.2 < progress.bodies["bar"][1, 1] < np.hypot(0.8, 0.05) + 1e-9


@pytest.mark.parametrize("name", ["none.stl", "broken.stl", "package://elsewhere/other.stl"])
def test_meshes_that_cannot_be_read_are_told(folder: Path, name: str) -> None:
    found = corridor(folder, f"<visual>{AT}{BOX}</visual><collision>{MESH.format(name=name)}</collision>")
    assert found.left_out == ("bar",)
    assert found.bodies["bar"][1, 0] == pytest.approx(np.hypot(0.8, 0.05), rel=1e-3)


def test_a_body_without_a_shape_is_told(folder: Path) -> None:
    found = corridor(folder, "")
    assert found.left_out == ("bar",)
    # its hinge and its centre of mass
    assert found.bodies["bar"][1, 0] == pytest.approx(0.4) and 0 <= found.bodies["bar"][1, 1] < 0.4
