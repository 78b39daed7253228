"""SDF of old versions: 1.2 calls its root ``<gazebo>``, and before it values stood in attributes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from command_line import call
from mbplugin.errors import BrokenModel
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array
from mbplugin.readers import load

MODEL = """<model name="pendulum">
<link name="base"/>
<link name="bar"><pose>0 0 1 0 0 1.5</pose>
<inertial><pose>0.5 0 0 0 0 0</pose><mass>2</mass></inertial></link>
<joint name="hinge" type="revolute"><parent>base</parent><child>bar</child>
<axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis></joint>
</model>"""


def read(opening: str, closing: str, model: str = MODEL) -> Scene:
    return load("old.sdf", text=f"<?xml version='1.0'?>\n{opening}\n{model}\n{closing}")


def hinge_axis(scene: Scene) -> Array:
    return scene.mechanism.pair_by_name["hinge"].X_AP.R[:, 2]


def test_sdf_1_2_is_read_as_1_4() -> None:
    new = read('<sdf version="1.4">', "</sdf>")
    for opening, closing in (('<gazebo version="1.2">', "</gazebo>"), ('<sdf version="1.2">', "</sdf>")):
        old = read(opening, closing)
        assert old.mechanism.q_names == new.mechanism.q_names
        assert [(b.name, b.mass) for b in old.mechanism.bodies] == [("base", 0.0), ("bar", 2.0)]
        # the axis is in the frame of the model, not in that of the joint
        np.testing.assert_allclose(hinge_axis(old), hinge_axis(new), atol=1e-15)
        assert not old.defects


def test_an_include_of_sdf_1_2_is_read(tmp_path: Path) -> None:
    (tmp_path / "part.sdf").write_text(f'<gazebo version="1.2">{MODEL}</gazebo>')
    scene = tmp_path / "all.sdf"
    scene.write_text(
        '<sdf version="1.6"><world name="w"><include><uri>part.sdf</uri></include></world></sdf>'
    )
    assert [body.name for body in load(scene).mechanism.bodies] == ["base", "bar"]


def test_values_in_attributes_are_refused_with_the_version_the_line_and_a_remedy() -> None:
    for opening, closing in (('<gazebo version="1.0">', "</gazebo>"), ('<sdf version="1.0">', "</sdf>")):
        with pytest.raises(BrokenModel, match=r"SDF 1\.0 is not read.*attributes") as caught:
            read(
                opening, closing, '<model name="m"><link name="a"><origin pose="0 0 1 0 0 0"/></link></model>'
            )
        assert caught.value.where == "old.sdf:2"
        assert "convert" in caught.value.remedy


def test_a_lone_gazebo_element_of_a_urdf_is_no_sdf(tmp_path: Path) -> None:
    part = tmp_path / "part.urdf"
    part.write_text('<gazebo reference="bar"><mu1>1</mu1></gazebo>')
    done = call("lint", str(part))
    assert done.code == 2 and "<gazebo> without a version" in done.out
