"""Reactions along a motion, against multipliers in absolute coordinates, against single states, by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import mbplugin as mb
from absolute_wrenches import absolute_wrenches
from mbplugin.bullet import session
from mbplugin.constraints.rows import plane_columns
from mbplugin.dynamics.absolute import absolute_equations
from mbplugin.dynamics.formulations import REDUNDANCY, solve
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.errors import UnknownName
from mbplugin.joint_reactions.statics import build_system, joint_rows
from mbplugin.model.brakes import AppliedForces
from mbplugin.model.mechanism import Body, Coupling, Driver, Lock, Mechanism, Term
from mbplugin.model.mechanism.kinematics import displace, forward, home
from mbplugin.model.mechanism.pair import PAIR_TYPES, Freedom, Pair
from mbplugin.model.scene import Load, Payload
from mbplugin.model.spatial import Array, JointSpring, Pose, Spring
from mbplugin.simulation.trajectory.trajectory import Trajectory
from models import chain, four_bar
from places import BULLET_DATA, ROOT
from random_mechanisms import loop_mechanism
from states import random_states
from trajectories import falling, through

ORACLES = sorted((ROOT / "tests" / "oracles").glob("*.sdf"))
ROBOT = ROOT / "assets" / "four_wheel_robot.scene.toml"


def assert_unique_ones_agree(motion: Trajectory, mech: Mechanism, tolerance: float = 1e-8) -> int:
    """Compare all unique components at all samples; return how many are not unique."""
    left_open = 0
    for k, t in enumerate(motion.time):
        assert t == 0
        theirs = absolute_wrenches(mech, motion.q[k], motion.qd[k], motion.actions, motion.planar)
        size = max(np.abs(w).max() for w in theirs.values())
        for name, wrench in theirs.items():
            unique = motion.uniqueness(name)[k]
            left_open += int((~unique).sum())
            difference = motion.reactions(name)[k] - wrench
            assert np.abs(difference[unique]).max(initial=0.0) <= tolerance * size, (name, difference)
    return left_open


def states_of(mech: Mechanism, q: Array, count: int = 2) -> list[tuple[float, Array, Array]]:
    rng = np.random.default_rng(3)
    nv = len(mech.qd_names)
    return [(0.0, displace(mech, q, 0.5 * rng.normal(size=nv)), rng.normal(size=nv)) for _ in range(count)]


@pytest.mark.parametrize(
    "pair_type", [t for t, kind in PAIR_TYPES.items() if kind.has_coordinates and kind.free]
)
@pytest.mark.parametrize("against", [False, True])
def test_a_tree_of_every_pair_with_fixed_ones_between(pair_type: str, against: bool) -> None:
    mech, _ = chain(5, pair_type, np.random.default_rng(5))
    pairs = tuple(
        replace(p, type="fixed", freedoms=()) if k in (0, 2) else p for k, p in enumerate(mech.pairs)
    )
    if against:
        pairs = tuple(replace(p, body_a=p.body_b, body_b=p.body_a) for p in pairs)
    mech = replace(mech, pairs=pairs)
    motion = through(mech, states_of(mech, home(mech)))
    assert assert_unique_ones_agree(motion, mech) == 0
    assert np.abs(motion.reactions("j0")).max() > 1


def test_everything_that_acts() -> None:
    rng = np.random.default_rng(15)
    mech, q = chain(3, "cylindrical", rng)
    closing = replace(mech.pairs[1], name="cut", body_a="b2", body_b="b0", closure=True)
    hanging = Pair("hanging", "fixed", "b2", "tool", Pose.from_xyz_rpy((0.1, 0, 0.2)), Pose.identity())
    pairs = tuple(
        replace(p, freedoms=(Freedom(damping=0.3, friction=0.2), Freedom(damping=0.1)))
        for p in (*mech.pairs, closing)
    )
    tool = Body("tool", 0.4, np.array([0.0, 0.1, 0.0]), 0.01 * np.eye(3))
    mech = replace(mech, bodies=(*mech.bodies, tool), pairs=(*pairs, hanging))
    vector = lambda: rng.normal(size=3)  # noqa: E731
    actions = AppliedForces(
        loads=(Load("b2", vector(), vector(), vector()), Load("tool", vector(), vector(), vector(), "body")),
        payloads=(Payload("tool", 1.5, vector(), 0.2 * np.eye(3)),),
        springs=(
            Spring("world", "tool", vector(), vector(), 50.0, 0.3, 2.0),
            Spring("b0", "b1", vector(), vector(), 20.0),
        ),
        joint_springs=(JointSpring("j0.tz", 30.0, 0.1), JointSpring("j1.rz", 5.0, -0.4)),
        torques={"j2.rz": 0.7},
        armature={"j1.rz": 0.05, "j0.tz": 0.4},
        controller=lambda t, q, qd: 0.1 * np.cos(q) - 0.2 * qd + t,
    )
    motion = through(mech, states_of(mech, q), actions)
    assert assert_unique_ones_agree(motion, mech) == 0
    # a rigid tool: what it carries is its own balance, whatever the joints do
    assert np.abs(motion.reactions("hanging")).max() > 1


def test_drivers_couplings_and_locks_along_the_tree() -> None:
    mech, q = chain(4, "universal", np.random.default_rng(11))
    mech = replace(
        mech,
        couplings=(Coupling("gear", "gear", (Term("j0", "rx", 2.0), Term("j3", "ry", -0.5)), 0.1),),
        drivers=(Driver("motor", "j1", ("ry",), 0.2, 0.7, -0.3),),
    )
    held = replace(mech, locks=(Lock("j2"),))
    motion = through(mech, states_of(mech, q), locks=(Lock("j2"),))
    assert motion.active == (("lock j2",),)
    assert assert_unique_ones_agree(motion, held) == 0
    equations = absolute_equations(held, motion.q[1], motion.qd[1])
    of = dict(zip(equations.labels, solve(equations, "kkt").multipliers, strict=True))
    assert motion.multipliers("motor")[1] == pytest.approx([of["motor", "ry_drive"]], rel=1e-8)
    assert motion.multipliers("gear")[1] == pytest.approx([of["gear", "c"]], rel=1e-8)
    assert motion.multipliers("lock j2")[1] == pytest.approx(
        [of["lock j2", "rx_lock"], of["lock j2", "ry_lock"]], rel=1e-8
    )


@pytest.mark.parametrize("kind", ["planar", "spherical", "generic"])
def test_random_loops(kind: str) -> None:
    left_open = 0
    for seed in range(8):
        mech, q = loop_mechanism(seed, 2, kind)
        motion = through(mech, [(0.0, q, np.zeros(len(mech.qd_names)))], handling="minimum-norm")
        if motion.degree_of_redundancy == len(joint_equations(mech, q, 0 * motion.qd[0]).C):
            continue
        left_open += assert_unique_ones_agree(motion, mech, 1e-6)
    assert left_open or kind == "generic"


@pytest.mark.parametrize("model", ORACLES, ids=lambda path: path.stem)
def test_oracles_in_motion(model: Path) -> None:
    scene = mb.load(model)
    p = mb.analyze(scene).degree_of_redundancy
    mech = replace(scene.mechanism, gravity=np.array([3.0, -5.0, -7.0]))
    states = [(0.0, *s) for s in random_states(mech, scene.state.q, 2, redundancy=p)]
    motion = through(mech, states)
    assert bool(assert_unique_ones_agree(motion, mech, 1e-7)) == bool(p)


@pytest.mark.parametrize("handling", REDUNDANCY)
def test_closures_carry_the_multipliers_of_the_formulation(handling: str) -> None:
    scene = mb.load(ROOT / "tests" / "oracles" / "four_bar_4R.sdf")
    states = [(0.0, *s) for s in random_states(scene.mechanism, scene.state.q, 2, redundancy=3)]
    motion = through(scene.mechanism, states, handling=handling)
    (cut,) = scene.mechanism.tree.cut
    solution = solve(joint_equations(scene.mechanism, *states[0][1:]), "kkt", handling)
    assert motion.reactions(cut.name)[0, :5] == pytest.approx(solution.multipliers, rel=1e-6, abs=1e-6)


def test_a_loop_with_a_lock_and_its_uniqueness() -> None:
    """With both cranks of a four-bar locked, forces in its plane are open too."""
    scene = mb.load(ROOT / "assets" / "four_bar.scene.toml")
    mech, q = mb.analyze(scene).mechanism, scene.state.q
    rest = [(0.0, q, np.zeros(len(mech.qd_names)))]
    for joints in (("j0",), ("j0", "j3")):
        motion = through(mech, rest, locks=tuple(Lock(j) for j in joints))
        held = mb.reactions(mech, q, hold=joints)
        for pair in mech.pairs:
            theirs, known = held[pair.name].wrench, motion.uniqueness(pair.name)[0]
            assert known.tolist() == np.isfinite(theirs).tolist()
            assert motion.reactions(pair.name)[0][known] == pytest.approx(theirs[known], abs=1e-8)
            if pair.type == "revolute":
                assert known[:2].all() == (len(joints) == 1) and not known[2:5].any() and known[5]


def test_single_states_of_a_planar_robot_on_wheels() -> None:
    scene = mb.load(ROBOT)
    load = Load("1", np.array([30.0, -500.0, 0.0]), np.array([0.0, 0.0, 20.0]), np.zeros(3))
    states = [(0.0, *s) for s in random_states(scene.mechanism, scene.state.q, 3, planar="xy", redundancy=2)]
    motion = through(scene.mechanism, states, AppliedForces(loads=(load,)), planar="xy")
    for k, (_, q, qd) in enumerate(states):
        theirs = mb.reactions(scene.mechanism, q, qd, motion.qdd[k], loads=[load], planar="xy", hold=[])
        for pair in scene.mechanism.pairs:
            wrench, known = theirs[pair.name].wrench, motion.uniqueness(pair.name)[k]
            assert known.tolist() == np.isfinite(wrench).tolist()
            assert motion.reactions(pair.name)[k][known] == pytest.approx(wrench[known], abs=1e-6)
        assert motion.multipliers("W5")[k] == pytest.approx([theirs["W5"].components[0].value], abs=1e-6)


def test_non_unique_ones_balance_every_body() -> None:
    """Whatever the handling: with the wrenches of all pairs the bodies accelerate as they do."""
    scene = mb.load(ROOT / "tests" / "oracles" / "four_bar_4R.sdf")
    mech = scene.mechanism
    states = [(0.0, *s) for s in random_states(mech, scene.state.q, 1, redundancy=3)]
    for handling in REDUNDANCY:
        motion = through(mech, states, handling=handling)
        q, qd = states[0][1:]
        equations = absolute_equations(mech, q, qd)
        v_dot = solve(equations, "kkt").v_dot
        system = build_system(mech, q, forward(mech, q), plane_columns(None), 1e-4)
        total = np.zeros_like(equations.F)
        for rows in system.rows:
            L = joint_rows(system, mech.pair_by_name[rows.constraint], rows)
            values = L @ motion.reactions(rows.constraint)[0]
            for body, entry in rows.entries:
                total[6 * body : 6 * body + 6] += values @ entry
        assert total == pytest.approx(equations.M @ v_dot - equations.F, abs=1e-6)


def test_what_elimination_leaves_out_stays_out_along_the_motion() -> None:
    """Around a full turn of a four-bar the same three rows carry nothing, whichever they are."""
    scene = mb.load(ROOT / "tests" / "oracles" / "four_bar_4R.sdf")
    states = [(0.0, *s) for s in random_states(scene.mechanism, scene.state.q, 12, redundancy=3)]
    motion = through(scene.mechanism, states)
    (cut,) = scene.mechanism.tree.cut
    carried = np.abs(motion.reactions(cut.name)) > 1e-9
    assert carried.any(axis=0).sum() == 2


def test_a_singular_pose_on_the_way_changes_no_verdict() -> None:
    """The parallelogram folded flat has one redundancy more, for an instant."""
    mech, q = four_bar()
    flat = q - np.array([np.pi / 2, 0, 0]) + np.array([0, np.pi / 2, -np.pi / 2])
    still = np.zeros(3)
    verdicts = [
        through(mech, [(0.0, pose, still) for pose in poses]).uniqueness("j1")[0].tolist()
        for poses in ((q, q), (q, flat, q))
    ]
    assert verdicts[0] == verdicts[1] == [True, True, False, False, False, True]


def test_a_pendulum_by_hand() -> None:
    """A point-like bob on a hinge: along the rod m(g cos φ + l φ̇²), across it nothing."""
    length, g = 0.8, 9.81
    bob = Body("bob", 2.0, np.array([0.0, 0.0, -length]), np.zeros((3, 3)))
    hinge = Pose.from_xyz_rpy((0, 0, 0), (-np.pi / 2, 0, 0))
    mech = Mechanism("pendulum", (bob,), (Pair("hinge", "revolute", "world", "bob", hinge, hinge),))
    motion = falling(mech, np.array([0.7]), np.array([0.4]), np.linspace(0, 1, 40))
    angle, rate = motion.q[:, 0], motion.qd[:, 0]
    force = motion.reactions("hinge")[:, :3] @ hinge.R.T
    along = np.column_stack((np.sin(angle), 0 * angle, np.cos(angle)))
    expected = 2.0 * (g * np.cos(angle) + length * rate**2)
    assert np.linalg.norm(force, axis=1) == pytest.approx(expected, rel=1e-9)
    assert (force * along).sum(axis=1) == pytest.approx(expected, rel=1e-9)


def test_names_are_suggested() -> None:
    mech, q = chain(2, "revolute", np.random.default_rng(0))
    motion = through(mech, states_of(mech, q))
    with pytest.raises(UnknownName, match="no pair 'j7'"):
        motion.reactions("j7")
    with pytest.raises(UnknownName, match="no driver"):
        motion.multipliers("j0")
    with pytest.raises(ValueError, match="read-only"):
        motion.reactions("j0")[0, 0] = 1.0


IIWA = str(BULLET_DATA / "kuka_iiwa" / "model.urdf")


def feedback(pb: ModuleType, client: int, q: Array) -> Array:
    """Bullet's joint feedback (7, 6) as the arm is let go: child's axes, at the child's centre of mass."""
    pb.setGravity(0, 0, -9.81, physicsClientId=client)
    pb.setTimeStep(1e-5, physicsClientId=client)
    flags = pb.URDF_USE_INERTIA_FROM_FILE
    body = int(pb.loadURDF(IIWA, useFixedBase=True, flags=flags, physicsClientId=client))
    for j, angle in enumerate(q):
        pb.resetJointState(body, j, angle, 0, physicsClientId=client)
        pb.enableJointForceTorqueSensor(body, j, True, physicsClientId=client)
        pb.changeDynamics(body, j, linearDamping=0, angularDamping=0, jointDamping=0, physicsClientId=client)
        pb.setJointMotorControl2(body, j, pb.VELOCITY_CONTROL, force=0, physicsClientId=client)
    pb.stepSimulation(physicsClientId=client)
    return np.array([pb.getJointState(body, j, physicsClientId=client)[2] for j in range(7)])


@pytest.mark.bullet
@pytest.mark.parametrize("seed", range(3))
def test_the_joint_feedback_of_an_arm_that_is_let_go(seed: int) -> None:
    """At rest: with rates, Bullet's feedback does not balance the bodies that Bullet moves."""
    mech = mb.load(IIWA, base="fixed").mechanism
    q = np.random.default_rng(seed).uniform(-1.5, 1.5, 7)
    motion = through(mech, [(0.0, q, np.zeros(7))])
    with session() as (pb, client):
        theirs = feedback(pb, client, q)
    poses = forward(mech, q)
    for name, expected in zip(mech.qd_names, theirs, strict=True):
        pair = mech.pair_by_name[name]
        child = mech.body_index[pair.body_b]
        R_WP = (poses.of(mech.body_index[pair.body_a]) @ pair.X_AP).R
        force, moment = (R_WP @ half for half in np.split(motion.reactions(name)[0], 2))
        arm = poses.p_WC[child] - poses.of(child).apply(pair.X_BS.p)
        ours = [poses.R_WL[child].T @ half for half in (force, moment - np.cross(arm, force))]
        assert np.concatenate(ours) == pytest.approx(expected, rel=1e-6, abs=1e-6 * np.abs(expected).max())
