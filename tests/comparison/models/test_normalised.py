"""Legitimate differences between two files of one robot are taken away, and listed."""

from __future__ import annotations

import random
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lxml import etree

import mbplugin as mb
from mbplugin.errors import BadUsage, UnknownName
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Pose, rotation_from_vector
from mbplugin.readers import load
from tests.support.converted_robot import changed, joint, link, robot, text

ROOT = Path(__file__).parents[3]
ORACLES = ROOT / "tests" / "oracles"


@pytest.fixture(scope="module")
def original() -> Scene:
    return load("arm.urdf", text=text(robot()))


def kinds(found: mb.ModelDiff) -> set[str]:
    assert found.same, [(d.kind, d.element, d.value_a, d.value_b, d.cause) for d in found.differences]
    return {n.kind for n in found.normalised}


def fused(root: etree._Element) -> None:
    """Put the camera into the forearm, as converters do with fixed links."""
    from mbplugin.comparison.models.matching import merged

    whole = merged(load("r.urdf", text=text(root)).mechanism).mechanism
    body = whole.bodies[whole.body_index["fore"]]
    inertial = link(root, "fore").find("inertial")
    inertial.find("origin").set("xyz", " ".join(map(repr, body.p_LC.tolist())))
    inertial.find("mass").set("value", repr(body.mass))
    for key, value in zip(("ixx", "iyy", "izz"), np.diag(body.I_C), strict=True):
        inertial.find("inertia").set(key, repr(float(value)))
    for key, i, j in (("ixy", 0, 1), ("ixz", 0, 2), ("iyz", 1, 2)):
        inertial.find("inertia").set(key, repr(float(body.I_C[i, j])))
    root.remove(joint(root, "camera_mount"))
    root.remove(link(root, "camera"))


def with_frame(root: etree._Element) -> None:
    root.append(etree.fromstring("<link name='laser'/>"))
    mount = "<joint name='m' type='fixed'><parent link='wrist'/><child link='laser'/><origin xyz='1 2 3'/></joint>"
    root.append(etree.fromstring(mount))


def flipped(root: etree._Element) -> None:
    joint(root, "pan", "axis").set("xyz", "0 0 -1")
    limit = joint(root, "pan", "limit")
    limit.set("lower", "-2.5")
    limit.set("upper", "1.2")


def moved_zero(root: etree._Element) -> None:
    joint(root, "pan", "origin").set("rpy", "0 0 0.4")
    limit = joint(root, "pan", "limit")
    limit.set("lower", str(-1.2 - 0.4))
    limit.set("upper", str(2.5 - 0.4))


def flipped_leader(root: etree._Element) -> None:
    """The axis of the leading finger, its limits, and the multiplier of the one that follows."""
    joint(root, "grip", "axis").set("xyz", "0 -1 0")
    joint(root, "grip", "limit").set("lower", "-0.04")
    joint(root, "grip", "limit").set("upper", "0.01")
    joint(root, "follow", "mimic").set("multiplier", "-2")


def shuffled(root: etree._Element) -> None:
    children = list(root)
    random.Random(4).shuffle(children)
    root[:] = children


CHANGES: list[tuple[str, Callable[[etree._Element], object], set[str]]] = [
    ("fixed link merged", fused, {"fixed links"}),
    ("massless frame", with_frame, {"frame"}),
    ("axis and limits exchanged", flipped, {"axis"}),
    ("zero and limits moved", moved_zero, {"zero"}),
    ("axis of a leader", flipped_leader, {"axis"}),
    ("another order", shuffled, set()),
]


@pytest.mark.parametrize(("change", "expected"), [c[1:] for c in CHANGES], ids=[c[0] for c in CHANGES])
def test_legitimate_differences_are_normalised(
    original: Scene, change: Callable[[etree._Element], object], expected: set[str]
) -> None:
    found = mb.diff(original, load("b.urdf", text=changed(change)))
    assert kinds(found) == expected
    assert max(found.mass_matrix, found.gravity_forces, found.wrenches) < 1e-9


def renamed(prefix: str) -> str:
    root = deepcopy(robot())
    names = {e.get("name"): f"{prefix}{k}" for k, e in enumerate(root) if e.get("name") != "world"}
    for element in root.iter():
        for attribute in ("name", "link", "joint"):
            if element.get(attribute) in names and element is not root:
                element.set(attribute, names[element.get(attribute)])
    return text(root)


def test_other_names_are_matched_by_structure(original: Scene) -> None:
    found = mb.diff(original, load("b.urdf", text=renamed("x")))
    assert kinds(found) <= {"frame", "ground"}
    assert len(found.joints) == len(original.mechanism.pairs) - 3
    assert found.bodies["wrist"] != "wrist"


def test_a_map_states_names(original: Scene) -> None:
    text_b = changed(lambda r: joint(r, "pan").set("name", "turntable"))
    found = mb.diff(original, load("b.urdf", text=text_b), names={"pan": "turntable"})
    assert found.joints["pan"] == "turntable"
    with pytest.raises(UnknownName, match="turntables"):
        mb.diff(original, load("b.urdf", text=text_b), names={"pan": "turntables"})
    with pytest.raises(BadUsage):
        mb.diff(original, original, tolerance=2.0)


def moved_frames(scene: Scene) -> Scene:
    """Give every link another frame; nothing that is made of it moves."""
    rng = np.random.default_rng(7)
    mech = scene.mechanism
    X = {b.name: Pose(rotation_from_vector(rng.normal(size=3)), rng.normal(size=3)) for b in mech.bodies}
    X["world"] = Pose.identity()
    bodies = tuple(
        replace(b, p_LC=X[b.name].inverse().apply(b.p_LC), I_C=X[b.name].R.T @ b.I_C @ X[b.name].R)
        for b in mech.bodies
    )
    pairs = tuple(
        replace(p, X_AP=X[p.body_a].inverse() @ p.X_AP, X_BS=X[p.body_b].inverse() @ p.X_BS)
        for p in mech.pairs
    )
    return replace(scene, mechanism=replace(mech, bodies=bodies, pairs=pairs))


def test_other_link_frames_are_normalised(original: Scene) -> None:
    found = mb.diff(original, moved_frames(original))
    # the tool frame is all that its link has, and it is elsewhere now
    assert [(d.kind, d.element) for d in found.differences] == [("frame", "tool0")]
    assert {n.kind for n in found.normalised} == {"link frame"}
    assert found.mass_matrix < 1e-9


def reversed_pair(pair: Pair) -> Pair:
    """Return the same joint seen from its other body, with the same coordinate."""
    flip = Pose(np.diag([1.0, -1.0, -1.0]), np.zeros(3))
    return replace(pair, body_a=pair.body_b, body_b=pair.body_a, X_AP=pair.X_BS @ flip, X_BS=pair.X_AP @ flip)


def test_joints_in_the_other_order_of_bodies_and_another_cut(original: Scene) -> None:
    mech = original.mechanism
    chosen = {"elbow": reversed_pair, "roll": reversed_pair}
    pairs = tuple(chosen.get(p.name, lambda p: p)(p) for p in mech.pairs)
    pairs = tuple(replace(p, closure=p.name == "crank_pin") for p in pairs)
    other = replace(mech, pairs=pairs)
    found = mb.diff(mech, other)
    assert kinds(found) == {"order", "cut"}
    assert found.mass_matrix < 1e-9


def test_rotor_inertia_and_a_fixed_base_of_mjcf(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    root = robot()
    root.remove(root.find("loop_joint"))
    for name in ("world",):
        root.remove(link(root, name))
    root.remove(joint(root, "mount"))
    (tmp_path / "arm.urdf").write_text(text(root))
    model = mujoco.MjModel.from_xml_string(text(root))
    mujoco.mj_saveLastXML(str(tmp_path / "arm.xml"), model)
    written = (
        (tmp_path / "arm.xml").read_text().replace('<joint name="pan"', '<joint name="pan" armature="0.3"')
    )
    (tmp_path / "arm.xml").write_text(written)
    found = mb.diff(tmp_path / "arm.urdf", tmp_path / "arm.xml")
    assert {"base", "fixed links", "ground"} <= kinds(found)
    # a URDF has no place for rotors, nor MJCF for velocity limits; the efforts that MuJoCo keeps are the same
    joints = ("pan", "lift", "elbow", "roll", "grip", "follow", "rod_pin", "crank_pin")
    assert {(n.kind, n.side, n.elements) for n in found.not_compared} == {
        ("armature", "A", ("pan",)),
        ("velocity", "B", joints),
    }
    assert max(found.mass_matrix, found.gravity_forces, found.wrenches) < 1e-5


def test_a_usd_twin_is_the_same(tmp_path: Path) -> None:
    pytest.importorskip("pxr")
    from tests.support.usd_stages import four_bar

    (tmp_path / "bar.usda").write_text(four_bar(unit=0.01))
    found = mb.diff(ORACLES / "four_bar_4R.sdf", tmp_path / "bar.usda")
    assert kinds(found) <= {"gravity"}
    assert (found.a.degree_of_redundancy, found.b.degree_of_redundancy) == (3, 3)
    assert found.wrenches < 1e-5


def test_a_mass_welded_to_the_ground_is_a_difference_that_loads_only_its_weld(original: Scene) -> None:
    mech = original.mechanism
    bodies = tuple(replace(b, mass=b.mass + 1.0) if b.name == "base" else b for b in mech.bodies)
    heavier = replace(original, mechanism=replace(mech, bodies=bodies))
    (found,) = mb.diff(original, heavier).differences
    assert (found.kind, found.element) == ("mass", "base")
    assert "no motion differs, only the reaction of what fixes it" in found.cause


@pytest.mark.long
@pytest.mark.parametrize(
    ("scene", "feet"), [pytest.param("minitaur", 4, marks=pytest.mark.bullet), ("four_bar", 1)]
)
def test_a_body_that_close_has_split_is_one_body(scene: str, feet: int, tmp_path: Path) -> None:
    """What is left are the weaker closures, one cause for each kind, and the redundancy that they take away."""
    model = ROOT / "assets" / f"{scene}.scene.toml"
    mb.close(model, "mjcf", measure_drift=False).save(tmp_path / "m.xml")
    found = mb.diff(model, tmp_path / "m.xml")
    assert sorted(d.kind for d in found.differences) == ["ends"] * feet + ["joint"] * feet + ["redundancy"]
    assert all("one joint of more freedoms" in d.cause for d in found.differences[:-1])
    assert "fixed links" in {n.kind for n in found.normalised}
    if feet > 1:
        assert "bodies of the joint of 'foot_front_left' and 3 more" in str(found)
