"""``[[spring]]`` of a scene: frequency, energy, equilibrium and reactions by hand; bad tables."""

from __future__ import annotations

from math import cos, pi, sin, sqrt

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.errors import BadScene, MbPluginError, UnknownName
from mbplugin.joint_reactions.run import reactions
from mbplugin.linter.rules.reactions import BrakeWeakerThanGravity
from mbplugin.model.scene import Request, Scene
from mbplugin.model.spatial import JointSpring, Spring
from mbplugin.readers.scene_file.models import joined
from mbplugin.readers.scene_file.reader import read_scene
from mbplugin.simulation.run import simulate
from mbplugin.stopping.run import estop
from mbplugin.writers import write

SLIDER = """
gravity = [0, 0, 0]
[[body]]
name = "cart"
mass = 2.0
inertia = [1, 1, 1]
[[pair]]
name = "rail"
type = "prismatic"
body_a = "world"
body_b = "cart"
xyz_a = [0, 0, 0]
axis = [1, 0, 0]
"""
ROD = """
gravity = [0, -9.81, 0]
[[body]]
name = "rod"
mass = 3.0
com = [0.5, 0, 0]
inertia = [0.01, 0.25, 0.25]
[[pair]]
name = "hinge"
type = "revolute"
body_a = "world"
body_b = "rod"
xyz_a = [0, 0, 0]
"""
TO_A_WALL = '[[spring]]\nbody_a = "world"\nbody_b = "cart"\nxyz_a = [-1, 0, 0]\nstiffness = 50\nlength = 1\n'
ON_THE_RAIL = '[[spring]]\njoint = "rail"\nstiffness = 50\n'
ON_THE_HINGE = '[[spring]]\njoint = "hinge"\nstiffness = 40\nrest = 0.3\n'


def read(text: str) -> Scene:
    return read_scene(text, Request("s.toml", text=text))


@pytest.mark.parametrize("spring", [TO_A_WALL, ON_THE_RAIL])
def test_a_mass_on_a_spring_has_its_frequency(spring: str) -> None:
    motion = simulate(read(SLIDER + spring), 3.0, q0={"rail": 0.2}, rtol=1e-11, atol=1e-13)
    exact = 0.2 * np.cos(sqrt(50 / 2) * motion.time)
    assert motion.q[:, 0] == pytest.approx(exact, abs=1e-8)
    assert motion.energy == pytest.approx(0.5 * 50 * 0.2**2, rel=1e-9)


def test_a_damped_spring_takes_the_energy_that_is_told() -> None:
    spring = TO_A_WALL + "damping = 6\n"
    motion = simulate(read(SLIDER + spring), 2.0, q0={"rail": 0.2}, rtol=1e-11, atol=1e-13)
    rate, omega = 6 / (2 * 2), sqrt(50 / 2 - (6 / 4) ** 2)
    exact = (
        0.2
        * np.exp(-rate * motion.time)
        * (np.cos(omega * motion.time) + rate / omega * np.sin(omega * motion.time))
    )
    assert motion.q[:, 0] == pytest.approx(exact, abs=1e-8)
    assert motion.energy + motion.dissipated == pytest.approx(motion.energy[0], rel=1e-8)


def angle_at_rest() -> float:
    """40 (φ − 0.3) + 3 · 9.81 · 0.5 cos φ = 0 by Newton's steps."""
    angle = 0.0
    for _ in range(30):
        angle -= (40 * (angle - 0.3) + 14.715 * cos(angle)) / (40 - 14.715 * sin(angle))
    return angle


def test_a_rod_rests_where_its_spring_carries_it() -> None:
    scene, angle = read(ROD + ON_THE_HINGE), angle_at_rest()
    motion = simulate(scene, 1.0, q0={"hinge": angle})
    assert np.abs(motion.q[:, 0] - angle).max() < 1e-9
    held = reactions(scene, {"hinge": angle}, hold=["hinge"])
    assert held.value("lock hinge", "rz_lock") == pytest.approx(0, abs=1e-9)
    # elsewhere whoever holds the hinge carries the difference
    held = reactions(scene, {"hinge": 0.0}, hold=["hinge"])
    assert held.value("lock hinge", "rz_lock") == pytest.approx(14.715 - 40 * 0.3)
    assert held.value("hinge", "ty") == pytest.approx(3 * 9.81)


def test_a_spring_between_bodies_loads_the_hinge() -> None:
    """Vertical, at the end of the rod: its tension takes weight off the hinge."""
    spring = '[[spring]]\nbody_a = "world"\nbody_b = "rod"\npoint_a = [1, 2, 0]\npoint_b = [1, 0, 0]\n'
    scene = read(ROD + spring + "stiffness = 5\nlength = 0.5\n")
    held = reactions(scene, hold=["hinge"])
    assert held.value("hinge", "ty") == pytest.approx(3 * 9.81 - 5 * 1.5)
    assert held.value("lock hinge", "rz_lock") == pytest.approx(14.715 - 5 * 1.5)


def test_statics_and_motion_agree() -> None:
    """Accelerations of a motion, put into inverse dynamics, need nothing but the hinge."""
    spring = (
        '[[spring]]\nbody_a = "rod"\nbody_b = "world"\npoint_a = [0.8, 0.1, 0]\npoint_b = [0.2, 1, 0.3]\n'
    )
    scene = read(ROD + spring + "stiffness = 30\ndamping = 4\n" + ON_THE_HINGE)
    motion = simulate(scene, 0.5, qd0={"hinge": 2.0}, rtol=1e-11)
    k = len(motion.time) // 2
    found = reactions(
        scene,
        {"hinge": motion.q[k, 0]},
        {"hinge": motion.qd[k, 0]},
        {"hinge": motion.qdd[k, 0]},
        hold=["hinge"],
    )
    assert found.value("lock hinge", "rz_lock") == pytest.approx(0, abs=1e-8)
    wrench = [found.value("hinge", c) for c in ("tx", "ty", "tz", "rx", "ry")]
    assert wrench == pytest.approx(motion.reactions("hinge")[k, :5], abs=1e-8)


def test_a_stop_feels_the_spring() -> None:
    """A drive without power, and a brake that grips after a quarter of a period."""
    quarter = 0.25 * 2 * pi / 5.0
    brake = {"joint": "rail", "torque": 1e6, "engagement": quarter}
    report = estop(read(SLIDER + ON_THE_RAIL), {"rail": 0.2}, brakes=[brake], rtol=1e-11)
    assert report.joints[0].end == pytest.approx(0.0, abs=1e-5)


def test_a_balanced_arm_needs_no_brake() -> None:
    brake = '[[brake]]\njoint = "hinge"\ntorque = 10\n'
    scene = read(ROD + brake)
    assert [f.code for f in BrakeWeakerThanGravity().check(scene, mb.analyze(scene))] == ["MB601"]
    # a spring without length from above balances a rod everywhere: k · h · r = m g s
    joint_frames = 'body_a = "world"\nbody_b = "rod"\npoint_a = [0, 1, 0]\npoint_b = [0.5, 0, 0]\n'
    scene = read(f"{ROD}{brake}[[spring]]\n{joint_frames}stiffness = {3 * 9.81}\n")
    assert list(BrakeWeakerThanGravity().check(scene, mb.analyze(scene))) == []


def test_springs_of_several_models_keep_their_ends_apart() -> None:
    scene = read(ROD + ON_THE_HINGE + TO_A_WALL.replace("cart", "rod"))
    both = joined([("m", scene), ("n", scene)], "both")
    names = [s.joint if isinstance(s, JointSpring) else (s.body_a, s.body_b) for s in both.springs]
    assert names == ["m/hinge", ("world", "m/rod"), "n/hinge", ("world", "n/rod")]


def test_the_values_of_a_table() -> None:
    wall, rail = read(SLIDER + TO_A_WALL + ON_THE_RAIL).springs
    assert isinstance(wall, Spring) and isinstance(rail, JointSpring)
    assert (wall.body_a, wall.stiffness, wall.length, wall.damping) == ("world", 50, 1, 0)
    assert wall.point_a.tolist() == [-1, 0, 0] and wall.point_b.tolist() == [0, 0, 0]
    assert rail == JointSpring("rail", 50, 0)


def test_points_have_the_word_of_pairs_and_keep_their_former_one() -> None:
    former = TO_A_WALL.replace("xyz_a", "point_a")
    assert former != TO_A_WALL
    wall, same = (read(SLIDER + text).springs[0] for text in (TO_A_WALL, former))
    assert isinstance(wall, Spring) and isinstance(same, Spring)
    assert wall.point_a.tolist() == same.point_a.tolist() == [-1, 0, 0]


def test_a_spring_has_a_name_in_messages() -> None:
    named = 'name = "return"\n'
    wall, rail = read(SLIDER + TO_A_WALL + named + ON_THE_RAIL + 'name = "stop"\n').springs
    assert (wall.name, rail.name) == ("return", "stop")
    lost = [loss.text for loss in write(read(SLIDER + TO_A_WALL + named), "mjcf").losses]
    assert "1 spring between points: 'return'" in lost
    lost = [loss.text for loss in write(read(SLIDER + TO_A_WALL), "mjcf").losses]
    assert "1 spring between points: 'world'–'cart'" in lost


@pytest.mark.parametrize(
    ("table", "kind", "words"),
    [
        (
            'body_a = "world"\nbody_b = "cart"\nstiffness = 1\nxyz_a = [0, 0, 0]\npoint_a = [0, 0, 0]',
            BadScene,
            "has xyz_a and point_a, which is its former name",
        ),
        ('joint = "rail"\nstiffness = 1\nxyz_b = [0, 0, 0]', BadScene, "is on a joint and has xyz_b"),
        ('joint = "rail"\nstiffness = 1\npoint_b = [0, 0, 0]', BadScene, "is on a joint and has point_b"),
        ('joint = "rial"\nstiffness = 1', UnknownName, "did you mean 'rail'"),
        ('body_a = "world"\nbody_b = "card"\nstiffness = 1', UnknownName, "did you mean 'cart'"),
        ('body_a = "world"\nstiffness = 1', BadScene, "does not say what it pulls at"),
        ('joint = "rail"\nbody_a = "world"\nbody_b = "cart"\nstiffness = 1', BadScene, "does not say what"),
        ('joint = "rail"', BadScene, "stiffness"),
        ('joint = "rail"\nstiffness = -1', BadScene, "stiffness"),
        ('joint = "rail"\nstiffness = inf', BadScene, "stiffness"),
        ('joint = "rail"\nstiffness = 1\ndamping = 2', BadScene, "is on a joint and has damping"),
        (
            'body_a = "world"\nbody_b = "cart"\nstiffness = 1\nrest = 2',
            BadScene,
            "between bodies and has rest",
        ),
        ('body_a = "cart"\nbody_b = "cart"\nstiffness = 1', BadScene, "both ends on 'cart'"),
        ('joint = "rail"\nstiffness = 1\nfreedom = "rx"', MbPluginError, "no freedom 'rx'"),
        ('joint = "rail"\nstiffness = 1\nrset = 1', BadScene, "did you mean"),
        ('joint = "weld"\nstiffness = 1', BadScene, "weld"),
        ('joint = "ball"\nstiffness = 1', BadScene, "ball"),
        (
            'joint = "ball"\nstiffness = 1\nfreedom = "rx"',
            BadScene,
            "no coordinate that a spring could act on",
        ),
        ('joint = "loop"\nstiffness = 1', BadScene, "no coordinate that a spring could act on"),
    ],
)
def test_tables_that_are_refused(table: str, kind: type[MbPluginError], words: str) -> None:
    more = """
[[body]]
name = "part"
mass = 1
[[pair]]
name = "weld"
type = "fixed"
body_a = "cart"
body_b = "part"
xyz_a = [0, 0, 0]
[[body]]
name = "globe"
mass = 1
[[pair]]
name = "ball"
type = "spherical"
body_a = "cart"
body_b = "globe"
xyz_a = [0, 0, 0]
[[closure]]
name = "loop"
type = "prismatic"
axis = [1, 0, 0]
body_a = "world"
body_b = "part"
xyz_a = [0, 0, 0]
"""
    with pytest.raises(kind, match=words) as caught:
        read(f"{SLIDER}{more}[[spring]]\n{table}\n")
    assert "s.toml:" in str(caught.value)
