"""Copies of USD stages with other closures: the root layer with one joint changed, and everything else as it was."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin import readers
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Pose, rotation_from_vector
from mbplugin.readers import Request
from mbplugin.writers import usd
from usd_stages import four_bar, stage

pxr = pytest.importorskip("pxr")
from pxr import Usd  # noqa: E402

#: What a file may have besides its joints.
LOOKS = """def Scope "looks" (
    doc = "kept"
)
{
    custom string note = "as it was"
    def Material "steel"
    {
        token outputs:surface.connect = </robot/looks/steel/shader.outputs:surface>
    }
}"""


def with_looks(text: str) -> str:
    """The stage with more in it that no mechanism needs."""
    at = text.rindex("}")
    return f"{text[:at]}{LOOKS}\n{text[at:]}"


def said(file: Path) -> dict[str, object]:
    """All that a stage says, by the path of the prim or property."""
    found: dict[str, object] = {}
    opened = Usd.Stage.Open(str(file))
    for prim in opened.TraverseAll():
        found[str(prim.GetPath())] = (str(prim.GetTypeName()), tuple(prim.GetAppliedSchemas()))
        for attribute in prim.GetAuthoredAttributes():
            found[str(attribute.GetPath())] = str(attribute.Get())
        for relation in prim.GetAuthoredRelationships():
            found[str(relation.GetPath())] = tuple(map(str, relation.GetTargets()))
    return found


def with_pair(mech: Mechanism, wanted: Pair) -> tuple[Mechanism, Mechanism, tuple[Pair]]:
    """A mechanism before and after one of its pairs is another one, and that pair."""
    pairs = tuple(wanted if one.name == wanted.name else one for one in mech.pairs)
    return mech, replace(mech, pairs=pairs), (wanted,)


@pytest.mark.parametrize(
    ("axis", "unit"),
    [
        *(("X", 1.0), ("Y", 0.01), ("Z", 1.0)),
        *(pytest.param(*other, marks=pytest.mark.long) for other in (("X", 0.01), ("Y", 1.0), ("Z", 0.01))),
    ],
)
def test_only_the_closure_is_another_one(tmp_path: Path, unit: float, axis: str) -> None:
    text = with_looks(four_bar(unit=unit))
    if axis != "Z":
        # the axis of all joints by another name, in frames that are turned back
        turned = {"X": "(0.70710678, 0, -0.70710678, 0)", "Y": "(0.70710678, 0.70710678, 0, 0)"}[axis]
        frames = "".join(f"quatf physics:localRot{k} = {turned}\n" for k in (0, 1))
        text = text.replace('physics:axis = "Z"\n', f'physics:axis = "{axis}"\n{frames}')
    file = tmp_path / "four.usda"
    file.write_text(text)
    assert mb.analyze(file).degree_of_redundancy == 3
    found = mb.close(file, "usd")
    assert found.written.copy_of is not None, found.written.anew
    assert found.proved and not found.strays and not found.written.losses
    ((name, was, new),) = [(one.name, one.was, one.type) for one in found.closures]
    assert (name, was, new) == ("j3", "revolute", "point-on-line")
    found.save(tmp_path / "copy.usda")
    before, after = said(file), said(tmp_path / "copy.usda")
    differs = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    joint = "/robot/j3"
    assert differs and all(path.partition(".")[0] == joint for path in differs)
    # the frames stay as they are, to the last digit
    assert not any("local" in path for path in differs)
    others = {"X": "YZ", "Y": "ZX", "Z": "XY"}[axis]
    assert set(after[joint][1]) == {f"PhysicsLimitAPI:trans{direction}" for direction in others}  # type: ignore[index]
    again = mb.analyze(tmp_path / "copy.usda")
    assert (again.degree_of_redundancy, again.dof) == (0, 1)


def test_what_another_layer_says_of_the_joint_is_blocked(tmp_path: Path) -> None:
    (tmp_path / "base.usda").write_text(four_bar())
    file = tmp_path / "over.usda"
    over = 'over "robot"\n{\n    over "j3"\n    {\n        custom string note = "mine"\n    }\n}'
    file.write_text(stage(over, more="    subLayers = [@./base.usda@]\n"))
    found = mb.close(file, "usd", measure_drift=False)
    assert found.written.copy_of is not None and found.proved and not found.written.losses
    copy = tmp_path / "copy.usda"
    found.save(copy)
    assert "@./base.usda@" in copy.read_text()
    opened = Usd.Stage.Open(str(copy))
    joint = opened.GetPrimAtPath("/robot/j3")
    assert joint.GetTypeName() == "PhysicsJoint"
    assert joint.GetAttribute("note").Get() == "mine"
    assert not joint.GetAttribute("physics:axis").HasAuthoredValue()
    assert mb.analyze(copy).degree_of_redundancy == 0
    # the base is as it was
    assert mb.analyze(tmp_path / "base.usda").degree_of_redundancy == 3


def test_a_closure_with_limits_is_not_changed_in_place(tmp_path: Path) -> None:
    """The loop is cut where nothing is lost."""
    file = tmp_path / "four.usda"
    excluded = "excludeFromArticulation = 1"
    file.write_text(four_bar().replace(excluded, f"{excluded}\nfloat physics:lowerLimit = -90"))
    found = mb.close(file, "usd", measure_drift=False)
    assert found.written.copy_of is None and found.proved and not found.written.losses
    assert found.written.anew == "'j3' becomes point-on-line, and has limits, damping or friction"


def test_a_loop_that_the_stage_does_not_state_is_stated(tmp_path: Path) -> None:
    """No articulation can have the joint that closes it: which one that is, is the model's choice."""
    file = tmp_path / "four.usda"
    root = 'def Xform "robot" (\n    prepend apiSchemas = ["PhysicsArticulationRootAPI"]\n)'
    text = four_bar().replace('def Xform "robot"', root)
    file.write_text(text.replace("uniform bool physics:excludeFromArticulation = 1", ""))
    (finding,) = (one for one in mb.lint(file).findings if one.code == "MB129")
    found = mb.close(file, "usd", measure_drift=False)
    assert found.written.copy_of is not None and found.proved
    found.save(tmp_path / "copy.usda")
    opened = Usd.Stage.Open(str(tmp_path / "copy.usda"))
    excluded = [
        prim.GetName()
        for prim in opened.TraverseAll()
        if prim.GetAttribute("physics:excludeFromArticulation").Get()
    ]
    assert excluded == [finding.element] == [one.name for one in found.closures]
    assert not any(one.code == "MB129" for one in mb.lint(tmp_path / "copy.usda").findings)


def test_a_joint_of_an_instance_is_written_anew(tmp_path: Path) -> None:
    text = re.sub(r'def Xform "robot"', 'def Xform "class"', four_bar()).replace("</robot/", "</class/")
    text = text.replace('defaultPrim = "robot"', 'defaultPrim = "one"')
    one = 'def Xform "one" (\n    instanceable = true\n    prepend references = </class>\n)\n{\n}\n'
    file = tmp_path / "instance.usda"
    file.write_text(text.replace('def Xform "class"', 'class Xform "class"') + one)
    found = mb.close(file, "usd", measure_drift=False)
    assert found.written.copy_of is None and found.proved
    assert found.written.anew == "joint 'j3' is part of an instance"


def test_schemas_that_state_no_freedoms_stay(tmp_path: Path) -> None:
    text = four_bar()
    joint = 'def PhysicsRevoluteJoint "j3"'
    assert text.count(joint) == 1
    schemas = '["PhysxJointAPI", "PhysicsDriveAPI:angular"]'
    text = text.replace(joint, f"{joint} (prepend apiSchemas = {schemas})")
    file = tmp_path / "four.usda"
    file.write_text(text)
    pair = mb.load(file).mechanism.pair_by_name["j3"]
    wanted = replace(pair, type="spherical", freedoms=())
    edited = usd.with_types(text, Request(str(file)), *with_pair(mb.load(file).mechanism, wanted))
    (tmp_path / "new.usda").write_text(edited.text)
    opened = Usd.Stage.Open(str(tmp_path / "new.usda"))
    changed = opened.GetPrimAtPath("/robot/j3")
    assert changed.GetTypeName() == "PhysicsSphericalJoint"
    assert changed.GetMetadata("apiSchemas").GetAddedOrExplicitItems() == ["PhysxJointAPI"]


@pytest.mark.parametrize("stated", ["", "(0.8, 0.6, 0, 0)"])
@pytest.mark.parametrize("angle", [0.0, 0.4, np.pi / 2])
def test_frames_turn_where_the_axes_of_the_pair_are_others(tmp_path: Path, angle: float, stated: str) -> None:
    """A line in another direction of the plane: its axes are none of the joint's, whose frame may be turned."""
    file = tmp_path / "four.usda"
    turned = "".join(f"quatf physics:localRot{k} = {stated}\n" for k in (0, 1)) if stated else ""
    excluded = "uniform bool physics:excludeFromArticulation = 1"
    file.write_text(four_bar().replace(excluded, f"{turned}{excluded}"))
    scene = mb.load(file)
    pair = scene.mechanism.pair_by_name["j3"]
    turn = Pose(rotation_from_vector(np.array([0.0, angle, 0.3])), np.zeros(3))
    wanted = replace(
        pair, type="point-on-line", freedoms=(), X_AP=pair.X_AP @ turn, X_BS=pair.X_BS @ turn, closure=True
    )
    text = usd.with_types(file.read_text(), Request(str(file)), *with_pair(scene.mechanism, wanted)).text
    again = readers.load("again.usda", text=text).mechanism.pair_by_name["j3"]
    assert again.type == "point-on-line" and again.bodies == wanted.bodies
    for one, other in ((again.X_AP, wanted.X_AP), (again.X_BS, wanted.X_BS)):
        assert one.p == pytest.approx(other.p, abs=1e-6)
        assert abs(one.R[:, 2] @ other.R[:, 2]) == pytest.approx(1.0, abs=1e-6)
