"""Poses of rest and small vibrations: by hand, by energies written by hand, and by the motion that is simulated."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

import mbplugin as mb
from command_line import call
from mbplugin.errors import BadUsage, UnknownName
from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.spatial import Array, JointSpring, Pose, Spring
from models import chain, four_bar, from_world_frames, pose_at
from places import ASSETS, BULLET_DATA, ROOT

GRAVITY = 9.81


def rod(name: str, mass: float = 2.0, reach: float = 0.5) -> Body:
    """A body whose centre of mass hangs below its origin."""
    return Body(name, mass, np.array([0.0, 0.0, -reach]), np.diag([0.1, 0.1, 0.01]))


def pendulum(kind: str = "revolute", **freedom: float) -> Mechanism:
    hinge = pose_at([0, 0, 0], (0, 1, 0) if kind == "revolute" else (0, 0, 1))
    freedoms = (Freedom(**freedom),) if freedom else ()
    return Mechanism(
        "pendulum", (rod("rod"),), (Pair("j", kind, "world", "rod", hinge, hinge, freedoms=freedoms),)
    )


def points(*masses: float) -> Mechanism:
    """Point masses one below the other on strings of 1 m, which swing about y."""
    hinge, below = pose_at([0, 0, 0], (0, 1, 0)), pose_at([0, 0, -1], (0, 1, 0))
    bodies = [
        Body(f"m{k}", mass, np.array([0.0, 0.0, -1.0]), np.zeros((3, 3))) for k, mass in enumerate(masses)
    ]
    pairs = [
        Pair(f"j{k}", "revolute", f"m{k - 1}" if k else "world", f"m{k}", below if k else hinge, hinge)
        for k in range(len(masses))
    ]
    return Mechanism("points", tuple(bodies), tuple(pairs))


def test_a_pendulum_by_hand() -> None:
    found = mb.linearize(pendulum(damping=0.3), q={"j": 2.5})
    moment = 2 * GRAVITY * 0.5
    assert found.equilibrium.q == pytest.approx([0.0], abs=1e-12)
    assert found.equilibrium.stability == "stable"
    assert (found.mass[0, 0], found.damping[0, 0]) == pytest.approx((0.6, 0.3), rel=1e-12)
    assert found.stiffness[0, 0] == pytest.approx(moment, rel=1e-11)
    (mode,) = found.modes
    assert mode.frequency == pytest.approx(np.sqrt(moment / 0.6) / (2 * np.pi), rel=1e-11)
    assert mode.damping_ratio == pytest.approx(0.3 / (2 * np.sqrt(moment * 0.6)), rel=1e-11)
    damped = -0.25 + 1j * np.sqrt(moment / 0.6 - 0.25**2)
    assert found.eigenvalues == pytest.approx([damped.conjugate(), damped], rel=1e-11)


def test_an_upright_pendulum_is_an_unstable_equilibrium() -> None:
    found = mb.linearize(pendulum(), q={"j": np.pi})
    assert found.equilibrium.stability == "unstable" and found.equilibrium.steps == 0
    assert found.modes[0].growth_time == pytest.approx(np.sqrt(0.6 / (2 * GRAVITY * 0.5)), rel=1e-11)
    assert found.modes[0].frequency == 0.0 and np.isnan(found.modes[0].damping_ratio)


def test_two_points_on_strings_have_their_known_frequencies() -> None:
    """ω² = (2 ± √2) g/l (a textbook result), and shapes ±√2."""
    found = mb.linearize(points(1.0, 1.0), q={"j0": 0.4, "j1": -1.1})
    assert [m.stiffness for m in found.modes] == pytest.approx(
        GRAVITY * np.array([2 - 2**0.5, 2 + 2**0.5]), rel=1e-10
    )
    absolute = [np.cumsum(mode.shape) for mode in found.modes]
    assert [x[1] / x[0] for x in absolute] == pytest.approx([2**0.5, -(2**0.5)], rel=1e-9)


def test_a_spherical_pendulum_swings_alike_in_both_directions_and_spins_freely() -> None:
    found = mb.linearize(pendulum("spherical"))
    assert found.equilibrium.stability == "neutral"
    squares = [mode.stiffness for mode in found.modes]
    assert squares == pytest.approx([0.0, *[2 * GRAVITY * 0.5 / 0.6] * 2], rel=1e-10)


# A redundant four-bar with a spring across its diagonal, whose energies are written by hand in the angle of its crank.

STIFFNESS, LENGTH = 60.0, 0.9


def spring_four_bar() -> tuple[Mechanism, Spring]:
    mech, _ = four_bar()
    spring = Spring("world", "coupler", np.zeros(3), np.array([0.5, 0.0, 0.0]), STIFFNESS, LENGTH)
    return replace(mech, gravity=np.array([0.0, -GRAVITY, 0.0])), spring


def _slope(angle: float) -> float:
    """dV/dθ: V = 2 m g cos θ + ½ k (√(2 − 2 sin θ) − L₀)²."""
    length = np.sqrt(2 - 2 * np.sin(angle))
    return float(-2 * GRAVITY * np.sin(angle) + STIFFNESS * (length - LENGTH) * -np.cos(angle) / length)


def _curvature(angle: float) -> float:
    length = np.sqrt(2 - 2 * np.sin(angle))
    rate, bend = -np.cos(angle) / length, np.sin(angle) / length - np.cos(angle) ** 2 / length**3
    return float(-2 * GRAVITY * np.cos(angle) + STIFFNESS * (rate**2 + (length - LENGTH) * bend))


@pytest.mark.parametrize("start", [0.0, 0.3, -0.2])
def test_a_redundant_four_bar_rests_and_swings_by_its_energies(start: float) -> None:
    mech, spring = spring_four_bar()
    assert mb.analyze(mech).degree_of_redundancy == 3
    found = mb.linearize(mech, q={"j0": start}, springs=[spring])
    angle = brentq(_slope, 0.0, 1.0, xtol=1e-15)
    assert found.equilibrium.positions["j0"] == pytest.approx(angle, abs=1e-11)
    # both cranks turn about their ends, and the coupler does not turn
    mass = 2 * (0.01 + 0.25) + 1.0
    (mode,) = found.modes
    assert mode.stiffness == pytest.approx(_curvature(angle) / mass, rel=1e-9)
    assert found.equilibrium.stability == "stable"


def test_the_motion_from_a_small_push_has_the_frequency() -> None:
    mech, spring = spring_four_bar()
    found = mb.linearize(mech, springs=[spring])
    rest = found.equilibrium.positions["j0"]
    omega = 2 * np.pi * found.modes[0].frequency
    period = 2 * np.pi / omega
    motion = mb.simulate(
        mech, period, q={"j0": rest + 1e-5}, springs=[spring], rtol=1e-12, atol=1e-14, samples=8
    )
    column = mech.q_names.index("j0")
    assert (motion.q[:, column] - rest) * 1e5 == pytest.approx(np.cos(omega * motion.time), abs=1e-4)


def test_a_crank_rocker_hangs_at_the_lowest_point_and_swings_with_its_frequency() -> None:
    """Its joints do not turn alike, so that the derivatives must be taken along closed poses."""
    mech = mb.load(ASSETS / "crank_rocker.scene.toml").mechanism
    found = mb.linearize(mech)
    rest = found.equilibrium.positions["O1"]
    omega = 2 * np.pi * found.modes[0].frequency
    motion = mb.simulate(
        mech, 2 * np.pi / omega, q={"O1": rest + 1e-5}, rtol=1e-12, atol=1e-14, samples=8, limits="ignore"
    )
    swing = motion.q[:, mech.q_names.index("O1")] - rest
    assert swing * 1e5 == pytest.approx(np.cos(omega * motion.time), abs=1e-3)


# Random chains: the derivatives of the potential energy, from poses alone.


@pytest.mark.long_after(8)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "cylindrical", "universal", "screw"])
def test_the_stiffness_of_random_chains_is_the_curvature_of_their_energy(kind: str, seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    mech, _ = chain(3, kind, rng)
    springs = [JointSpring(name, float(rng.uniform(200, 400)), float(rng.normal())) for name in mech.qd_names]
    end = Spring("world", "b2", rng.normal(size=3), rng.normal(size=3), 50.0, 0.2)
    found = mb.linearize(mech, springs=[*springs, end])
    q = found.equilibrium.q

    def energy(at: Array) -> float:
        X = dict(zip((body.name for body in mech.bodies), mb.forward_kinematics(mech, at), strict=True))
        total = sum(0.5 * s.stiffness * (at[k] - s.rest) ** 2 for k, s in enumerate(springs))
        total += sum(body.mass * GRAVITY * X[body.name][2, 3] for body in mech.bodies)
        X_WB = X["b2"]
        distance = np.linalg.norm(X_WB[:3, :3] @ end.point_b + X_WB[:3, 3] - end.point_a)
        return float(total + 0.5 * end.stiffness * (distance - end.length) ** 2)

    h, n = 1e-3, len(q)
    steps = h * np.eye(n)
    slope = [(energy(q + s) - energy(q - s)) / (2 * h) for s in steps]
    assert slope == pytest.approx(np.zeros(n), abs=1e-3)
    hessian = np.array(
        [
            [
                (energy(q + a + b) - energy(q + a - b) - energy(q - a + b) + energy(q - a - b)) / (4 * h**2)
                for b in steps
            ]
            for a in steps
        ]
    )
    assert found.stiffness == pytest.approx(hessian, abs=1e-4 * np.abs(hessian).max())
    assert found.equilibrium.stability == "stable"
    assert found.mass == pytest.approx(mb.mass_matrix(mech, q), rel=1e-9, abs=1e-12)


# What is held, what has no stiffness, and what never rests.


def test_a_joint_that_is_held_stays_and_the_rest_settles() -> None:
    found = mb.equilibrium(points(1.0, 1.0), q={"j0": 0.7}, hold=["j0"])
    assert found.positions == pytest.approx({"j0": 0.7, "j1": -0.7}, abs=1e-11)
    assert (found.held, found.coordinates) == (("j0",), ("j1",))


@pytest.mark.parametrize("joint", ["j0", "j1", "j2", "j3"])
def test_a_loop_with_any_of_its_joints_held_does_not_move(joint: str) -> None:
    mech, spring = spring_four_bar()
    found = mb.linearize(mech, q={"j0": 0.2}, springs=[spring], hold=[joint])
    assert found.equilibrium.positions["j0"] == pytest.approx(0.2, abs=1e-12)
    assert not found.modes and found.equilibrium.stability == "stable"


def test_a_held_joint_of_a_loop_with_two_freedoms_stays_exactly() -> None:
    """Closing the loop after a step must not move what is held."""
    corners = np.array([[0, 0, 0], [0, 1, 0], [0.7, 1.6, 0], [1.4, 1, 0], [1.4, 0, 0]], dtype=float)
    middles = 0.5 * (corners[1:] + corners[:-1])
    bodies = {f"b{k}": Pose(np.eye(3), middle) for k, middle in enumerate(middles)}
    ends = ["world", *bodies, "world"]
    joints = [
        (f"j{k}", "revolute", a, b, pose_at(corner))
        for k, (a, b, corner) in enumerate(zip(ends, ends[1:], corners, strict=False))
    ]
    mech, q = from_world_frames("five-bar", bodies, joints)
    mech = replace(mech, gravity=np.array([0.0, -GRAVITY, 0.0]))
    found = mb.equilibrium(mech, q=q, hold=["j0"])
    assert abs(found.positions["j0"]) < 1e-15
    assert len(found.coordinates) == 1 and np.abs(found.q - q).max() > 0.1


def test_a_vertical_axis_is_neutral() -> None:
    hinge = pose_at([0, 0, 0])
    rotor = Mechanism("rotor", (rod("rod"),), (Pair("j", "revolute", "world", "rod", hinge, hinge),))
    found = mb.linearize(rotor, q={"j": 0.4})
    assert (found.equilibrium.stability, found.modes[0].frequency) == ("neutral", 0.0)
    assert found.equilibrium.q == pytest.approx([0.4])


def test_what_falls_has_no_equilibrium() -> None:
    down = pose_at([0, 0, 0])
    slider = Mechanism("lift", (rod("rod"),), (Pair("z", "prismatic", "world", "rod", down, down),))
    with pytest.raises(BadUsage, match=r"no equilibrium: .* keep moving z; .*hold a joint"):
        mb.equilibrium(slider)
    held = mb.equilibrium(slider, springs=[JointSpring("z", 1000.0)])
    assert held.q == pytest.approx([-2 * GRAVITY / 1000], rel=1e-11)


@pytest.mark.long
def test_a_joint_that_would_slide_for_ever_is_held_and_said_unless_joints_are_stated() -> None:
    """A lift with an arm, and a tray on a slope at the arm's end: both slide, the arm swings."""
    down, hinge = pose_at([0, 0, 0]), pose_at([0, 0, 0], (0.0, 1.0, 0.0))
    pairs = (
        Pair("z", "prismatic", "world", "lift", down, down),
        Pair("j", "revolute", "lift", "arm", hinge, hinge),
        Pair("t", "prismatic", "arm", "tray", pose_at([0, 0, -0.5]), down),
    )
    robot = Mechanism("robot", (rod("lift"), rod("arm"), rod("tray")), pairs)
    found, stated = (mb.equilibrium(robot, q={"j": 0.4}, hold=hold) for hold in ((), ("z", "t")))
    assert (found.held, found.coordinates) == (("z", "t"), ("j",))
    assert found.q == pytest.approx(stated.q, abs=1e-12) and abs(found.positions["j"]) < 1e-9
    assert found.notes[0].startswith("Nothing keeps z, t from sliding for ever")
    with pytest.raises(BadUsage, match=r"no equilibrium: .* keep moving z"):
        mb.equilibrium(robot, q={"j": 0.4}, hold=("t",))


def test_a_slide_on_a_spring_that_is_too_soft_for_the_search_is_not_held() -> None:
    down = pose_at([0, 0, 0])
    pairs = (
        Pair("z", "prismatic", "world", "lift", down, down),
        Pair("j", "revolute", "lift", "arm", down, down),
    )
    robot = Mechanism("robot", (rod("lift"), rod("arm")), pairs)
    with pytest.raises(BadUsage, match="no equilibrium"):
        mb.equilibrium(robot, springs=[JointSpring("z", 0.1)])


@pytest.mark.long
@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('[[lock]]\njoint = "j0"\nat = 0.5', "the lock of j0 has a time, and is left out"),
        ('[[driver]]\njoint = "j0"\nrate = 1.0', "the driver of j0 holds its joint where it begins"),
    ],
)
def test_what_a_scene_changes_in_time_is_said(tmp_path: Path, table: str, said: str) -> None:
    scene = bar(tmp_path, table)
    assert [note for note in mb.equilibrium(scene).notes if note.startswith(said)]
    done = call("modes", str(scene))
    assert done.code == 0 and said in " ".join(done.out.split())
    assert ("nothing can move" in done.out) is ("driver" in table)


def test_a_model_of_a_ground_plane_alone_has_no_modes(tmp_path: Path) -> None:
    """Worlds whose models are elsewhere have only their ground, of which no rate is left."""
    world = tmp_path / "ground.sdf"
    world.write_text(
        '<sdf version="1.9"><model name="ground"><static>true</static><link name="l"/></model></sdf>'
    )
    found = mb.linearize(world)
    assert len(found.eigenvalues) == 0
    done = call("modes", str(world))
    assert done.code == 0 and "0 freedoms: nothing can move" in done.out


def test_contacts_of_a_scene_are_refused(tmp_path: Path) -> None:
    scene = bar(tmp_path, '[[contact]]\nbody_a = "crank"\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\nmu = 0.5')
    with pytest.raises(BadUsage, match="contacts can open"):
        mb.equilibrium(scene)


def bar(folder: Path, table: str) -> Path:
    """The four-bar of the assets with one more table."""
    shutil.copy(ASSETS / "four_bar.urdf", folder)
    text = (ASSETS / "four_bar.scene.toml").read_text(encoding="utf-8")
    (folder / "bar.scene.toml").write_text(f"{text}\n{table}\n", encoding="utf-8")
    return folder / "bar.scene.toml"


def test_a_base_that_nothing_ties_is_named() -> None:
    with pytest.raises(BadUsage, match="nothing ties crate to the ground"):
        mb.equilibrium(Mechanism("crate", (rod("crate"),)))


def test_a_folded_pose_is_refused_and_one_beside_it_is_not() -> None:
    fold = ROOT / "tests" / "oracles" / "four_bar_fold_rectangle.sdf"
    with pytest.raises(BadUsage, match="comes to a singular pose"):
        mb.equilibrium(fold)
    assert mb.equilibrium(fold, q={"j0": 0.3}).stability == "neutral"


@pytest.mark.bullet
def test_an_arm_whose_last_link_is_light_finds_its_rest_from_any_pose() -> None:
    """At rest all generalised forces vanish: their rounding must not be taken for forces."""
    import pybullet_data

    arm = mb.load(f"{pybullet_data.getDataPath()}/kuka_iiwa/model.urdf", base="fixed")
    rng = np.random.default_rng(1)
    for q in (None, *rng.uniform(-2, 2, (3, 7))):
        found = mb.equilibrium(arm, q=q)
        assert found.stability == "neutral" and found.force < 1e-10


def test_a_load_keeps_its_direction() -> None:
    found = mb.equilibrium(
        pendulum(), loads=[{"body": "rod", "force": [2 * GRAVITY, 0, 0], "point": [0, 0, -0.5]}]
    )
    assert np.tan(found.positions["j"]) == pytest.approx(-1.0, rel=1e-10)


def test_friction_is_left_out_and_said() -> None:
    found = mb.linearize(pendulum(friction=0.5, damping=0.3), q={"j": 0.01})
    (note,) = found.equilibrium.notes
    assert note.startswith("dry friction of j is left out")
    assert found.equilibrium.q == pytest.approx([0.0], abs=1e-11)
    assert found.damping[0, 0] == pytest.approx(0.3, rel=1e-12)


def test_a_pose_beyond_a_limit_is_said() -> None:
    (note,) = mb.equilibrium(pendulum(lower=0.1, upper=1.0), q={"j": 0.5}).notes
    assert note.startswith("beyond limits at this pose: j;")


def test_wheels_and_unknown_joints_are_refused() -> None:
    with pytest.raises(BadUsage, match=r"rows without slip \(W1, W2, W3 and 2 more\) restrict rates"):
        mb.equilibrium(ASSETS / "four_wheel_robot.scene.toml")
    with pytest.raises(UnknownName, match="elbow"):
        mb.equilibrium(pendulum(), hold=["elbow"])


@pytest.mark.long
@pytest.mark.bullet
def test_the_base_of_a_robot_on_legs_is_held_and_said_unless_a_spring_carries_it() -> None:
    path = BULLET_DATA / "laikago" / "laikago_toes.urdf"
    found = mb.equilibrium(path)
    assert found.mechanism.assumed_fixed == ("chassis",)
    point, above = np.zeros(3), np.array([0.0, 0.0, 2.0])
    carried = mb.equilibrium(path, springs=[Spring("world", "chassis", above, point, 5000.0, 1.0)])
    assert not carried.mechanism.assumed_fixed
    with pytest.raises(BadUsage, match="finds no equilibrium"):
        mb.equilibrium(mb.load(path, base="free"))
