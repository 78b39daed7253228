"""USD: types, limits, drives, mimics and units that come back, and the names that a prim can have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mbplugin import readers, writers
from mbplugin.errors import BadUsage
from mbplugin.model.mechanism import WORLD, Body, Coupling, Mechanism, Term
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.pair import PAIR_TYPES, Freedom, Pair, PairType, RowKind
from mbplugin.model.scene import Actuator, Scene, State
from mbplugin.model.spatial import Pose, rotation_from_vector
from models import pose_at
from solid_bodies import with_masses

pytest.importorskip("pxr")
TYPES = (
    *("revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "point-on-line"),
    *("point-on-plane", "fixed"),
)


def back_of(scene: Scene) -> Scene:
    return readers.load("x.usda", text=writers.write(scene, "usd").text)


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_is_the_same_pair_with_the_same_frames(kind: str) -> None:
    rng = np.random.default_rng(3)
    X, Y = (Pose(rotation_from_vector(rng.normal(size=3)), rng.uniform(-1, 1, 3)) for _ in range(2))
    pairs = (Pair("base", "revolute", WORLD, "a", X, Y), Pair("p", kind, "a", "b", Y, X))
    mech = with_masses(Mechanism("two", (Body("a"), Body("b")), pairs), 0)
    q = np.array(np.zeros(len(mech.q_names)))
    q[[name.endswith(".qw") for name in mech.q_names]] = 1.0
    q[0] = 0.4
    back = back_of(Scene(mech, State(q, np.zeros(len(mech.qd_names)))))
    (ours, theirs) = (m.pair_by_name["p"] for m in (mech, back.mechanism))
    assert theirs.type == kind and theirs.bodies == ours.bodies
    np.testing.assert_allclose(theirs.X_AP.p, ours.X_AP.p, atol=1e-12)
    np.testing.assert_allclose(theirs.X_AP.R, ours.X_AP.R, atol=1e-12)
    np.testing.assert_allclose(theirs.X_BS.p, ours.X_BS.p, atol=1e-12)
    np.testing.assert_allclose(forward(back.mechanism, back.state.q).p_WC, forward(mech, q).p_WC, atol=1e-6)


def arm() -> Scene:
    freedom = Freedom(-1.0, 2.0, 30.0, 4.0, 0.4, 0.2)
    pairs = (
        Pair("one", "revolute", WORLD, "a", pose_at([0, 0, 1]), Pose.identity(), freedoms=(freedom,)),
        Pair(
            "two", "prismatic", "a", "b", pose_at([1, 0, 0], (0, 1, 0)), Pose.identity(), freedoms=(freedom,)
        ),
        Pair("three", "continuous", "b", "c", pose_at([0, 0, 0], (1, 0, 0)), Pose.identity()),
    )
    gear = Coupling("mimic three", "mimic", (Term("three", "rz", 2.0), Term("one", "rz", -3.0)), 0.4)
    mech = Mechanism(
        "arm", tuple(Body(n) for n in "abc"), pairs, couplings=(gear,), gravity=np.array([0, -3.0, 4.0])
    )
    return Scene(
        with_masses(mech, 0),
        State(np.array([0.5, -0.2, 0.1]), np.zeros(3)),
        actuators=(Actuator("one", 0.01, 10.0),),
    )


def test_limits_drives_mimics_and_gravity_come_back() -> None:
    scene = arm()
    written = writers.write(scene, "usd")
    back = readers.load("x.usda", text=written.text)
    assert written.left_out == ()
    for name in ("one", "two"):
        ours, theirs = (s.mechanism.pair_by_name[name].freedoms[0] for s in (scene, back))
        for key in ("lower", "upper", "effort", "velocity", "damping", "friction"):
            assert getattr(theirs, key) == pytest.approx(getattr(ours, key), rel=1e-6), (name, key)
    assert [(a.joint, a.armature) for a in back.actuators] == [("one", pytest.approx(1.0))]
    assert back.actuated == ("one", "two")
    (mimic,) = back.mechanism.couplings
    assert [t.coefficient for t in mimic.terms] == pytest.approx(
        [1.0, -1.5]
    ) and mimic.offset == pytest.approx(0.2)
    np.testing.assert_allclose(back.mechanism.gravity, scene.mechanism.gravity, rtol=1e-6)
    np.testing.assert_allclose(back.state.q, scene.state.q, atol=1e-9)


def test_a_closure_stands_outside_of_the_articulation() -> None:
    scene = arm()
    loop = Pair("loop", "point-on-line", WORLD, "c", pose_at([0, 1, 1]), Pose.identity(), closure=True)
    mech = replace(scene.mechanism, pairs=(*scene.mechanism.pairs, loop), couplings=())
    text = writers.write(replace(scene, mechanism=mech), "usd").text
    assert text.count("excludeFromArticulation = 1") == 1
    found = readers.load("x.usda", text=text).mechanism.pair_by_name["loop"]
    assert found.closure and found.type == "point-on-line"


def test_names_that_no_prim_can_have_are_changed_and_named() -> None:
    mech = Mechanism("2 links", (Body("1st link", 1.0), Body("1st_link", 1.0), Body("joints", 1.0)))
    written = writers.write(mech, "usd")
    assert "'1st link' as _1st_link" in written.held[0]
    assert {b.name for b in readers.load("x.usda", text=written.text).mechanism.bodies} == {
        "_1st_link",
        "_1st_link_2",
        "joints_2",
    }


def test_a_screw_is_refused() -> None:
    screw = Pair("s", "screw", WORLD, "a", Pose.identity(), Pose.identity(), lead=0.1)
    with pytest.raises(BadUsage, match=r"UsdPhysics has no joint such as 's' \(screw\)"):
        writers.write(Mechanism("screw", (Body("a", 1.0),), (screw,)), "usd")


@pytest.mark.parametrize("rows", [("tz", "d"), ("tz", "rx")])
def test_a_pair_whose_row_is_no_direction_is_refused(
    rows: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A type with a row of its own, with a label of its own or with that of a component."""
    kinds = {rows[1]: RowKind.DISTANCE}
    monkeypatch.setitem(PAIR_TYPES, "ring", PairType("ring", rows, (), kinds, "length"))
    ring = Pair("r", "ring", WORLD, "a", Pose.identity(), Pose.identity(), length=0.5)
    with pytest.raises(BadUsage, match=r"UsdPhysics has no joint such as 'r' \(ring\)"):
        writers.write(Mechanism("bead", (Body("a", 1.0),), (ring,)), "usd")


def test_a_robot_may_be_called_as_the_physics_scene() -> None:
    """``cartpole.urdf`` and ``r2d2.urdf`` of PyBullet are called ``physics``."""
    text = '<robot name="physics"><link name="a"><inertial><mass value="1"/>'
    text += '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    written = writers.write(readers.load("r.urdf", text=text), "usd")
    assert [body.name for body in readers.load("r.usda", text=written.text).mechanism.bodies] == ["a"]
