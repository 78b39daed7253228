"""Engines agree in what a rigid model determines, and differ in the rest."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.comparison.side_by_side import SideBySide, instant_of
from mbplugin.errors import BadUsage, ImplausibleValue
from mbplugin.model.mechanism import Coupling, Term
from mbplugin.model.spatial import JointSpring
from mbplugin.report.html.chapters import Chapter
from mbplugin.report.html.view import grade
from mbplugin.report.text.models import engines_lines, engines_verdict

ROOT = Path(__file__).parents[3]
FOUR_BAR = ROOT / "assets/four_bar.scene.toml"
ORACLES = ROOT / "tests/oracles"
pytest.importorskip("pybullet")
pytest.importorskip("mujoco")

REDUNDANT = {
    "four_bar": (FOUR_BAR, None),
    "crank_rocker": (ROOT / "assets/crank_rocker.scene.toml", ["O1"]),
    "bennett_4R": (ORACLES / "bennett_4R.sdf", ["r0"]),
    "bricard_A04": (ORACLES / "bricard_A04.sdf", ["r0"]),
    "sarrus_6R": (ORACLES / "sarrus_6R.sdf", ["b0"]),
    "four_bar_RSRR": (ORACLES / "four_bar_RSRR.sdf", None),
}
DETERMINATE = {
    "arm_6r": (ROOT / "assets/arm_6r.scene.toml", None, {}),
    "door_1_hinge": (ORACLES / "door_1_hinge.sdf", None, {}),
    "stewart_6UPS": (ORACLES / "stewart_6UPS.sdf", [f"p{i}" for i in range(6)], {}),
    "parallelogram_3SS": (ORACLES / "parallelogram_3SS.sdf", None, {}),
    "bricard with a universal joint": (ORACLES / "bricard_A04.sdf", ["r0"], {"r3": "universal"}),
    "sarrus with a universal joint": (ORACLES / "sarrus_6R.sdf", ["b0"], {"e1": "universal"}),
}


def retyped(path: Path, types: dict[str, str]) -> mb.Scene | mb.Mechanism:
    """Return the scene, or its mechanism with some joints of other types."""
    scene = mb.load(path)
    if not types:
        return scene
    pairs = tuple(p.retyped(types[p.name]) if p.name in types else p for p in scene.mechanism.pairs)
    return replace(scene.mechanism, pairs=pairs)


@pytest.mark.long
@pytest.mark.parametrize("name", REDUNDANT)
def test_redundant_robots_differ_where_nothing_determines_the_force_and_nowhere_else(name: str) -> None:
    path, hold = REDUNDANT[name]
    found = mb.engines(path, hold=hold)
    assert [a.engine for a in found.answers] == ["mbplugin", "PyBullet", "MuJoCo"]
    assert found.degree_of_redundancy > 0
    assert found.agrees and found.largest_unique_difference < 0.01
    assert found.largest_undetermined_difference > 0.1


@pytest.mark.long
@pytest.mark.parametrize("name", DETERMINATE)
def test_robots_without_redundancy_have_one_answer(name: str) -> None:
    path, hold, types = DETERMINATE[name]
    scene = retyped(path, types)
    rest = {} if types else dict.fromkeys(scene.mechanism.qd_names, 0.0)
    found = mb.engines(scene, qd=rest, hold=hold)
    assert [a.engine for a in found.answers] == ["mbplugin", "PyBullet", "MuJoCo"]
    assert found.degree_of_redundancy == 0
    assert all(joint.unique.all() for joint in found.joints)
    assert found.largest_unique_difference < 0.01


@pytest.mark.long
@pytest.mark.parametrize("order", ["ad", "da"])
@pytest.mark.parametrize(
    ("closure", "jd"),
    [
        ("fixed", "spherical"),
        ("prismatic", "universal"),
        ("revolute", "universal"),
        ("spherical", "revolute"),
    ],
)
def test_a_closure_of_any_kind_has_the_same_force_for_either_of_its_bodies(
    closure: str, jd: str, order: str, tmp_path: Path
) -> None:
    """A spatial loop of six freedoms, without redundant rows.

    PyBullet gives the forces of its rows, those of a weld and a slide on its first body, those of points on its second.
    """
    bodies, anchor = 'body1="a" body2="d"', ".1 .2 .15"
    if order == "da":
        bodies, anchor = 'body1="d" body2="a"', ".6 .25 .4"
    file = tmp_path / "loop.xml"
    file.write_text(
        f'''<mujoco><worldbody><body name="base"><inertial mass="1" pos="0 0 0" diaginertia=".01 .01 .01"/>
        <body name="a" euler="25 -15 35"><joint name="ja" axis="0 1 0"/>
        <inertial mass="2" pos=".2 .1 .1" diaginertia=".01 .02 .02"/></body>
        <body name="b0" pos="1 0 0"><joint name="jb" axis="0 1 0"/>
        <inertial mass=".5" pos="0 0 0" diaginertia=".01 .01 .01"/>
        <body name="b"><joint name="jc" axis="1 0 0"/>
        <inertial mass="3" pos="-.3 .1 .1" diaginertia=".02 .01 .02"/>
        <body name="d" pos="-.5 .1 .3" euler="20 30 40"><joint name="jd" type="ball"/>
        <inertial mass=".7" pos="-.1 .05 .1" diaginertia=".01 .01 .01"/></body></body></body></body></worldbody>
        <equality><weld name="c" {bodies} anchor="{anchor}"/></equality></mujoco>'''
    )
    found = mb.engines(retyped(file, {"c": closure, "jd": jd}))
    assert [(a.engine, a.reason) for a in found.engines[1:]] == [("PyBullet", ""), ("MuJoCo", "")]
    (joint,) = (j for j in found.joints if j.name == "c")
    assert found.degree_of_redundancy == 0
    assert joint.unique.all() and np.abs(joint.wrenches["mbplugin"]).max() > 1.0
    # PyBullet's iterations leave some percent in loops near a singular pose
    assert found.largest_unique_difference < 0.05


def test_a_rod_that_the_load_spins_between_its_balls_is_held_as_a_whole_and_says_so(tmp_path: Path) -> None:
    """Two hinged arms joined by a rod with its centre of mass beside the line of its balls, as in Cassie's legs."""
    file = tmp_path / "rod.xml"
    file.write_text(
        """<mujoco><worldbody><body name="a" pos="0 0 1"><joint name="ja" axis="0 1 0"/>
        <inertial mass="1" pos="0 0 -.1" diaginertia=".01 .01 .01"/>
        <body name="rod" pos="0 0 -.3"><joint name="ball" type="ball"/>
        <inertial mass=".5" pos=".5 .1 0" diaginertia=".01 .01 .01"/></body></body>
        <body name="b" pos="1 0 1"><joint name="jb" axis="0 1 0"/>
        <inertial mass="1" pos="0 0 -.1" diaginertia=".01 .01 .01"/></body></worldbody>
        <equality><connect name="c" body1="rod" body2="b" anchor="1 0 0"/></equality></mujoco>"""
    )
    found = mb.engines(file)
    assert found.agrees and [a.reason for a in found.engines] == ["", "", ""]
    assert any(
        note.startswith("the load turns ball about some axes only; it is held as") for note in found.notes
    )
    assert found["ball"].held
    # what holds the rod upright against its weight, 0.1 m beside the line of its balls
    assert mb.engines(file, hold=["ja", "ball"], only=["mujoco"]).agrees
    with pytest.raises(BadUsage, match="only rx of joint 'ball' is held"):
        mb.engines(file, hold=["ja", "ball.rx"])


def test_a_pose_that_nobody_stated_is_not_warned_of(tmp_path: Path) -> None:
    """A loop that closes at a coordinate of 1e-16 rad, beyond a limit that excludes zero."""
    scene = mb.load(FOUR_BAR)
    q = mb.analyze(scene).q
    pairs = tuple(
        replace(p, freedoms=(replace(p.freedoms[0], lower=q[1] + 0.1, upper=q[1] + 1.0),))
        if p.name == "j1"
        else p
        for p in scene.mechanism.pairs
    )
    beyond = replace(scene, mechanism=replace(scene.mechanism, pairs=pairs))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mb.engines(beyond, only=["mujoco"]).agrees
    with pytest.warns(ImplausibleValue, match="the coordinate of j1 is"):
        mb.engines(beyond, q={"j1": float(q[1]) + 1e-3}, only=["mujoco"])


@pytest.mark.long
def test_a_door_hinge_carries_the_weight_by_hand() -> None:
    found = mb.engines(ORACLES / "door_1_hinge.sdf")
    mass = sum(body.mass for body in found.mechanism.bodies)
    (joint,) = found.joints
    for wrench in joint.wrenches.values():
        np.testing.assert_allclose(joint.R_WJ @ wrench[:3], [0, 0, 9.81 * mass], rtol=1e-2, atol=1e-6)


def test_a_spring_on_a_held_joint_loads_the_joint_that_holds_it_by_hand() -> None:
    """The joint holds what the spring does not: a hinge about a vertical axis holds minus the spring's moment."""
    scene = mb.load(ORACLES / "door_1_hinge.sdf")
    (name,) = scene.mechanism.qd_names
    sprung = replace(scene, springs=(JointSpring(name, 20.0, 0.4),))
    bare, held = (mb.engines(one, hold=[name], only=["mujoco"]).joints[0] for one in (scene, sprung))
    with_spring, without = (joint.wrenches["mbplugin"] for joint in (held, bare))
    np.testing.assert_allclose(with_spring[:3], without[:3], atol=1e-6)
    # 20 N m/rad, turned by 0.4 rad
    assert abs(with_spring[5] - without[5]) == pytest.approx(8.0)


@pytest.mark.robots
@pytest.mark.parametrize("name", [*REDUNDANT, *DETERMINATE])
def test_pinocchio_has_our_wrenches(name: str) -> None:
    path, hold, types = (*REDUNDANT[name], {}) if name in REDUNDANT else DETERMINATE[name]
    scene = retyped(path, types)
    rest = {} if types or name in REDUNDANT else dict.fromkeys(scene.mechanism.qd_names, 0.0)
    found = mb.engines(scene, qd=rest, hold=hold, only=["pinocchio"])
    assert [a.engine for a in found.answers] == ["mbplugin", "Pinocchio"]
    assert found.largest_unique_difference < 1e-9
    with_forces = max(float(np.abs(j.wrenches["Pinocchio"]).max()) for j in found.joints)
    assert with_forces > 1.0


@pytest.mark.robots
@pytest.mark.parametrize(
    ("path", "rates"), [("arm_6r", None), ("four_bar", {"j1": 2.0}), ("four_bar", {"j0": -3.0})]
)
def test_pinocchio_has_our_wrenches_in_motion(path: str, rates: dict[str, float] | None) -> None:
    load = {
        "body": "coupler" if path == "four_bar" else "hand",
        "force": [10.0, 5.0, 20.0],
        "torque": [1.0, 2.0, 3.0],
    }
    found = mb.engines(ROOT / f"assets/{path}.scene.toml", qd=rates, loads=[load], only=["pinocchio"])
    assert found.mode == "inverse dynamics"
    assert found.largest_unique_difference < 1e-9


@pytest.mark.robots
def test_pinocchio_says_what_it_cannot_hold() -> None:
    found = mb.engines(ROOT / "assets/husky.scene.toml", only=["pinocchio"])
    assert found.engines[1].reason.startswith("Pinocchio has no constraint for ")


@pytest.mark.long
def test_mujoco_has_our_wrenches_in_motion() -> None:
    """The arm's own rates: accelerations, centrifugal and gyroscopic parts."""
    found = mb.engines(ROOT / "assets/arm_6r.scene.toml", only=["mujoco"])
    assert found.mode == "inverse dynamics"
    assert found.largest_unique_difference < 1e-4


@pytest.mark.long
def test_mujoco_has_our_wrenches_in_a_loop_that_moves() -> None:
    found = mb.engines(FOUR_BAR, qd={"j1": 2.0}, only=["mujoco"])
    assert found.mode == "inverse dynamics"
    assert found.largest_unique_difference < 0.01


@pytest.mark.long
@pytest.mark.parametrize(("path", "rates"), [("arm_6r", None), ("four_bar", {"j0": 2.0})])
def test_pybullet_has_our_wrenches_in_motion(path: str, rates: dict[str, float] | None) -> None:
    """Its sensors as they are differ by 78 % in the arm and 15 % in the four-bar."""
    found = mb.engines(ROOT / f"assets/{path}.scene.toml", qd=rates, only=["pybullet"])
    assert found.mode == "inverse dynamics"
    assert [a.engine for a in found.answers] == ["mbplugin", "PyBullet"]
    assert found.largest_unique_difference < 0.01
    assert "inertia forces" in found.notes[-1]


@pytest.mark.bullet
def test_pybullet_is_not_quoted_where_its_sensors_miss_the_weight_of_a_pendulum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import pybullet

    from mbplugin.comparison.side_by_side import bullet

    instant, _, _ = instant_of(mb.load("assets/arm_6r.scene.toml"), None, None, (), None, None, None)
    bullet.sensor_error.cache_clear()
    assert bullet.sensor_error() < 1e-9
    right = bullet.bullet_wrenches(instant)
    assert not right.reason and right.wrenches
    sensed = pybullet.getJointStateMultiDof

    def without_moments(*arguments: object, **named: object) -> tuple[object, ...]:
        state = sensed(*arguments, **named)
        return (*state[:2], (*state[2][:3], 0.0, 0.0, 0.0), *state[3:])

    monkeypatch.setattr(pybullet, "getJointStateMultiDof", without_moments)
    bullet.sensor_error.cache_clear()
    try:
        wrong = bullet.bullet_wrenches(instant)
    finally:
        bullet.sensor_error.cache_clear()
    assert not wrong.wrenches and "at a pendulum at rest they miss" in wrong.reason


def test_engines_without_an_answer_say_why() -> None:
    found = mb.engines(ROOT / "assets/husky.scene.toml")
    assert [(a.engine, bool(a.reason)) for a in found.engines] == [
        ("mbplugin", False), ("PyBullet", True), ("MuJoCo", True),
    ]  # fmt: skip
    assert "rolling" in found.engines[2].reason


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(BadUsage, match="ode"):
        mb.engines(FOUR_BAR, only=["ode"])


def verdict_of(found: SideBySide, difference: float, *, unique: bool) -> str:
    """Return the verdict where the engines differ by a share of the largest in one component, determined or not."""
    joint = found["j1"]
    at = np.flatnonzero(joint.unique == unique)[0]
    spread = np.zeros(6)
    spread[at] = difference * joint.size[at]
    others = [replace(one, spread=np.zeros(6)) for one in found.joints if one.name != "j1"]
    return engines_verdict(replace(found, joints=(*others, replace(joint, spread=spread))))


def test_the_verdict_says_whether_engines_agree_and_to_what() -> None:
    found = mb.engines(FOUR_BAR, only=["pybullet"])
    assert "agree on what is determined, to rounding;" in verdict_of(found, 8.8e-12, unique=True)
    assert "agree on what is determined, to 0.001 of the largest" in verdict_of(found, 1e-3, unique=True)
    assert "DIFFER on what is determined, by 20 % of the largest" in verdict_of(found, 0.2, unique=True)
    assert "leaves open (marked *) differs by 20 % of it" in verdict_of(found, 0.2, unique=False)
    assert "leaves open (marked *) is equal by chance" in verdict_of(found, 0.0, unique=False)


def test_one_answer_alone_is_no_agreement() -> None:
    found = mb.engines(ROOT / "assets/husky.scene.toml")
    assert "no second engine gave a result, so nothing is compared." in engines_verdict(found)
    assert next(engines_lines(found)).style == "bold yellow"
    assert grade(Chapter(title="engines", side_by_side=found)) == "fair"


#: A torso of 10 kg, whose centre of mass lies ``x`` m in front of the hips, on four shins of 1 kg, 0.5 m long.
WALKER = """<mujoco><compiler angle="radian"/><worldbody><body name="torso" pos="0 0 0.5"><freejoint/>
<inertial pos="{x} 0 0" mass="10" diaginertia="0.1 0.2 0.3"/><geom type="box" size="0.3 0.2 0.05"/>{legs}</body>
</worldbody><actuator>{motors}</actuator></mujoco>"""
LEG = """<body name="shin{k}" pos="{x} {y} 0"><joint name="hip{k}" axis="0 1 0"/>
<inertial pos="0 0 -0.25" mass="1" diaginertia="0.02 0.02 0.001"/>
<geom type="sphere" size="0.02" pos="0 0 -0.48"/></body>"""
HIPS = [(0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2)]


def walker(folder: Path, x: float = 0.1) -> Path:
    legs = "".join(LEG.format(k=k, x=hip[0], y=hip[1]) for k, hip in enumerate(HIPS))
    motors = "".join(f'<motor joint="hip{k}" forcerange="-50 50"/>' for k in range(4))
    file = folder / "walker.xml"
    file.write_text(WALKER.format(x=x, legs=legs, motors=motors))
    return file


def test_a_robot_on_its_feet_is_compared_as_standing(tmp_path: Path) -> None:
    """Its file states a free base: it would fall, and every engine would find no force in any joint."""
    found = mb.engines(walker(tmp_path))
    assert found.agrees and [a.engine for a in found.answers] == ["mbplugin", "PyBullet", "MuJoCo"]
    assert found.stance is not None and len(found.stance.contacts) == 4
    assert "taken as standing on 4 contacts: shin0, shin1, shin2, shin3" in next(engines_lines(found)).text
    # legs push the torso up with its weight, and their moments about its centre of mass cancel
    force, moment = np.zeros(3), np.zeros(3)
    for joint in found.joints:
        wrench = joint.wrenches["mbplugin"]
        on_torso = -joint.R_WJ @ wrench[:3]
        force += on_torso
        moment += np.cross(joint.point - [0.1, 0, 0.5], on_torso) - joint.R_WJ @ wrench[3:]
    np.testing.assert_allclose(force, [0, 0, 98.1], atol=1e-9)
    np.testing.assert_allclose(moment, 0, atol=1e-9)
    for name in ("PyBullet", "MuJoCo"):
        for joint in found.joints:
            np.testing.assert_allclose(joint.wrenches[name], joint.wrenches["mbplugin"], atol=1e-6)


def test_contacts_that_a_scene_states_carry_the_robot_or_are_refused(tmp_path: Path) -> None:
    scene = mb.load(walker(tmp_path, x=0.2))
    three = [mb.Contact(f"c{k}", f"shin{k}", [0, 0, -0.5], [0, 0, 1], 0.5) for k in (0, 1, 2)]
    standing = replace(scene, contacts=tuple(three))
    found = mb.engines(standing, only=["mujoco"])
    assert found.agrees and found.stance is None and any("contact forces are loads" in n for n in found.notes)
    # by hand: c0 + c1 + c2 = 137.34 N, c0 + c1 - c2 = 98.1 N * 0.2 / 0.3 and c1 = c0 + c2; a shin weighs 9.81 N
    for k, push in enumerate((32.7, 68.67, 35.97, 0.0)):
        hip = found[f"hip{k}"]
        np.testing.assert_allclose(hip.R_WJ @ hip.wrenches["mbplugin"][:3], [0, 0, 9.81 - push], atol=1e-9)
    # stance=False assumes no contacts, and drops none that are stated
    assert mb.engines(standing, stance=False, only=["mujoco"])["hip0"].wrenches["mbplugin"].any()
    between = mb.Contact("c", "shin0", [0, 0, -0.5], [0, 0, 1], 0.5, on="shin1")
    with pytest.raises(BadUsage, match="states 4 contacts"):
        mb.engines(replace(scene, contacts=(*three, between)), only=["mujoco"])
    with pytest.raises(BadUsage, match="states 3 contacts"):
        mb.engines(standing, stance=True, only=["mujoco"])
    with pytest.raises(BadUsage, match="contacts are given for a motion"):
        mb.engines(standing, qd={"hip0": 1.0}, only=["mujoco"])


TIPPING = """
<robot name="tipping"><link name="base"><inertial><mass value="4"/><inertia ixx="0.1" iyy="0.1" izz="0.1"
ixy="0" ixz="0" iyz="0"/></inertial></link>{legs}</robot>
"""
TIPPING_LEG = """
<link name="foot{k}"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
</inertial><collision><geometry><sphere radius="0.05"/></geometry></collision></link>
<joint name="hip{k}" type="revolute"><parent link="base"/><child link="foot{k}"/><origin xyz="0.5 {y} -0.5"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="50" velocity="5"/></joint>
"""


def test_a_robot_that_cannot_stand_on_its_lowest_links_is_held_and_says_so(tmp_path: Path) -> None:
    """Two round feet beside its centre of mass; a stance or a friction that is stated is refused instead."""
    file = tmp_path / "tipping.urdf"
    file.write_text(TIPPING.format(legs="".join(TIPPING_LEG.format(k=k, y=k) for k in range(2))))
    expected = mb.engines(mb.load(file, base="fixed"), only=["mujoco"])
    found = mb.engines(file, only=["mujoco"])
    assert found.agrees and found.mechanism.assumed_fixed == ("base",) and found.stance is None
    assert "cannot stand on its lowest links (contact foot0, contact foot1 cannot carry" in found.notes[0]
    alone = mb.reactions(file)
    assert alone.mechanism.assumed_fixed == ("base",) and "cannot stand" in alone.notes[0]
    for k in range(2):
        wrench = expected[f"hip{k}"].wrenches["MuJoCo"]
        assert np.abs(wrench).max() > 9
        assert found[f"hip{k}"].wrenches["mbplugin"] == pytest.approx(wrench, abs=1e-9)
        assert alone[f"hip{k}"].wrench == pytest.approx(wrench, abs=1e-9)
    for ask in (mb.engines, mb.reactions):
        for stated in ({"stance": True}, {"friction": 0.5}, {"q": {"base.z": 1.0}}):
            with pytest.raises(BadUsage, match="carry this load"):
                ask(file, **stated)
        with pytest.raises(BadUsage, match="carry this load"):
            ask(mb.load(file, base="free"))


@pytest.mark.parametrize("ask", [mb.reactions, mb.engines])
def test_what_is_stated_acts_on_a_robot_that_is_held_as_it_cannot_stand(
    ask: Callable[..., Any], tmp_path: Path
) -> None:
    """A load, a payload and a pose: the held robot has the forces of one whose base is fixed."""
    file = tmp_path / "tipping.urdf"
    file.write_text(TIPPING.format(legs="".join(TIPPING_LEG.format(k=k, y=k) for k in range(2))))
    load = {"body": "foot0", "force": [3.0, 5.0, 7.0]}
    weight = {"body": "foot1", "mass": 2.0}
    for stated in ({"loads": [load]}, {"payload": [weight]}, {"q": {"hip0": 0.5}, "loads": [load]}):
        found = ask(file, **stated)
        expected = mb.reactions(mb.load(file, base="fixed"), **stated)
        assert found.mechanism.assumed_fixed == ("base",) and "cannot stand" in found.notes[0]
        for name in ("hip0", "hip1"):
            wrench = found[name].wrench if ask is mb.reactions else found[name].wrenches["mbplugin"]
            assert wrench == pytest.approx(expected[name].wrench, abs=1e-9)


@pytest.mark.parametrize("ask", [mb.reactions, mb.engines])
def test_a_load_that_tips_over_a_robot_that_stands_without_it_is_refused(
    ask: Callable[..., Any], tmp_path: Path
) -> None:
    load = {"body": "torso", "force": [0.0, 0.0, 1000.0]}
    with pytest.raises(BadUsage):
        ask(walker(tmp_path), loads=[load])


def test_joints_without_force_have_one_line_together(tmp_path: Path) -> None:
    """Two frames of sensors without mass; a joint with a force has its own rows."""
    file = tmp_path / "frames.urdf"
    frames = "".join(
        f'<link name="{name}"/><joint name="{name}_fixed" type="fixed"><parent link="foot0"/><child link="{name}"/>'
        "</joint>"
        for name in ("imu", "eye")
    )
    file.write_text(TIPPING.format(legs=TIPPING_LEG.format(k=0, y=0) + frames))
    found = mb.engines(mb.load(file, base="fixed"), only=["mujoco"])
    text = [line.text for line in engines_lines(found)]
    assert "no engine has a force in imu_fixed, eye_fixed" in text
    assert not any(line.startswith("imu_fixed (") for line in text)
    assert any(line.startswith("hip0 (") for line in text)


def test_a_stance_that_cannot_carry_a_robot_is_refused(tmp_path: Path) -> None:
    file = walker(tmp_path, x=0.5)
    with pytest.raises(BadUsage, match="cannot carry this load"):
        mb.engines(file, only=["mujoco"])
    with pytest.raises(BadUsage, match="falls under the load"):
        mb.engines(file, stance=False, only=["mujoco"])
    with pytest.raises(BadUsage, match="no stance"):
        mb.engines(FOUR_BAR, friction=0.5, only=["mujoco"])
    with pytest.raises(BadUsage, match="a stance is given for a motion"):
        mb.engines(file, qd={"hip0": 1.0}, stance=True, only=["mujoco"])
    # a load on the torso, behind the hips, balances it
    behind = {"body": "torso", "force": [0, 0, -60.0], "point": [-0.3, 0, 0]}
    assert mb.engines(file, loads=[behind], only=["mujoco"]).agrees


def test_friction_carries_a_robot_on_a_slope_as_far_as_it_can(tmp_path: Path) -> None:
    scene = mb.load(walker(tmp_path, x=0.0))
    slope = np.radians(20)
    normal = [-np.sin(slope), 0, np.cos(slope)]
    for mu, holds in ((0.5, True), (0.3, False)):
        feet = [mb.Contact(f"c{k}", f"shin{k}", [0, 0, -0.5], normal, mu) for k in range(4)]
        standing = replace(scene, contacts=tuple(feet))
        if holds:
            assert mb.engines(standing, only=["mujoco"]).agrees
        else:
            with pytest.raises(BadUsage, match="cannot carry this load"):
                mb.engines(standing, only=["mujoco"])


GRIPPER = """<robot name="gripper"><link name="palm">{mass}</link><link name="left">{mass}</link>
<link name="right">{mass}</link><joint name="open" type="prismatic"><parent link="palm"/><child link="left"/>
<origin xyz="0 .1 0"/><axis xyz="0 1 0"/><limit lower="0" upper=".1" effort="9" velocity="1"/></joint>
<joint name="follow" type="prismatic">
<parent link="palm"/><child link="right"/><origin xyz="0 -.1 0"/><axis xyz="0 -1 0"/>
<limit lower="0" upper=".1" effort="9" velocity="1"/><mimic joint="open"/></joint></robot>"""
MASS = (
    "<inertial><origin xyz='.1 .02 .3'/><mass value='2'/>"
    "<inertia ixx='.1' iyy='.1' izz='.1' ixy='0' ixz='0' iyz='0'/></inertial>"
)


def test_joints_that_are_coupled_to_each_other_are_held_because_no_engine_gives_the_force_of_a_coupling(
    tmp_path: Path,
) -> None:
    """Two gears of different ratios leave the fingers no motion, so that nothing else would hold them."""
    file = tmp_path / "gripper.urdf"
    file.write_text(GRIPPER.format(mass=MASS))
    mech = mb.load(file, base="fixed").mechanism
    gear = Coupling("gear", "gear", (Term("open", "tz", 1.0), Term("follow", "tz", 2.0)))
    mech = replace(mech, couplings=(*mech.couplings, gear))
    found = mb.engines(mech)
    assert set(found.held) == {"open", "follow"} and found.agrees
    assert [a.reason for a in found.engines[:3]] == ["", "", ""]
    assert any("are coupled to each other" in note for note in found.notes)
    # what the caller states is not completed
    stated = mb.engines(mech, hold=[])
    assert not stated.held and "does not report the force of 'mimic follow'" in stated.engines[1].reason


ROVER = """<robot name="rover"><link name="base_footprint"/><link name="chassis">{mass}<collision><geometry>
<box size=".4 .3 .05"/></geometry></collision></link><link name="mast">{mass}</link>
<joint name="down" type="fixed"><parent link="base_footprint"/><child link="chassis"/><origin xyz="0 0 .1"/></joint>
<joint name="up" type="fixed"><parent link="chassis"/><child link="mast"/><origin xyz="0 0 .3"/></joint>
{wheels}</robot>"""
WHEEL = """<link name="wheel_{n}">{mass}<collision><origin rpy="1.5707963 0 0"/>
<geometry><cylinder radius=".1" length=".05"/></geometry></collision></link>
<joint name="drive_{n}" type="continuous"><parent link="chassis"/><child link="wheel_{n}"/>
<origin xyz="{x} {y} 0"/><axis xyz="0 1 0"/></joint>"""
LIGHT = """<inertial><mass value="{m}"/><inertia ixx="{i}" iyy="{i}" izz="{z}" ixy="0" ixz="0" iyz="0"/></inertial>"""


@pytest.mark.parametrize("izz", [0.1, 0.5], ids=["possible", "impossible"])
def test_a_robot_below_a_massless_root_stands_alike_in_all_engines(izz: float, tmp_path: Path) -> None:
    """By hand: the mast weighs 2 kg, the massless root carries nothing. Inertias of no body do not act at rest."""
    own = LIGHT.format(m=2, i=0.1, z=izz)
    places = [(x, y) for x in (-0.2, 0.2) for y in (-0.2, 0.2)]
    wheels = "".join(WHEEL.format(n=n, x=x, y=y, mass=own) for n, (x, y) in enumerate(places))
    file = tmp_path / "rover.urdf"
    file.write_text(ROVER.format(mass=own, wheels=wheels))
    found = mb.engines(file)
    assert found.stance is not None and found.agrees
    assert [answer.engine for answer in found.answers] == ["mbplugin", "PyBullet", "MuJoCo"]
    for answer in found.answers:
        np.testing.assert_allclose(answer.wrenches["up"][:3], [0, 0, 2 * 9.81], atol=1e-6)
        np.testing.assert_allclose(answer.wrenches["down"], 0.0, atol=1e-6)
        print(answer.engine, answer.wrenches)
