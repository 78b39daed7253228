"""Locks that close along a motion: published answers, welds, and impulses of known mechanisms."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from bullet_trees import BulletTree
from locked_mechanisms import pendulum_3r, spatial_four_bar_with_pendulum, two_arms_one_part
from mbplugin.bullet import session
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.model.brakes import scene_actions
from mbplugin.model.mechanism import Lock, Mechanism
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import Array, Pose
from mbplugin.simulation.impact import FORMS, activate
from mbplugin.simulation.trajectory.trajectory import Trajectory
from models import chain
from places import ASSETS
from random_mechanisms import loop_mechanism
from states import random_states

ARM = ASSETS / "arm_6r.scene.toml"
#: 3R pendulum: rates around the two locks, their impulses, energies and the end (mueller2026 §6; digits
#: of a motion at rtol 1e-13 and of an independent program).
BEFORE = [(1.2717427470, -7.8740794060, -8.9336214500), (-1.7901668001, 0.0, -11.8547051717)]
AFTER = [(-2.0622687236, 0.0, -14.2005130578), (-2.4127938463, 0.0, 0.0)]
IMPULSE = [{"j2": 111.4643848887}, {"j2": 264.3319323964, "j3": 406.0802180813}]
ENERGY = (3230.395, 2791.555, 384.575)
JOINT_FRAME = (-3.197267988, 0.0913259905, -4.7925685412)


@cache
def swing(integrator: str) -> Trajectory:
    mech, q = pendulum_3r()
    options: dict[str, Any] = (
        {"rtol": 1e-12, "atol": 1e-13} if integrator == "dop853" else {"integrator": "rk4", "step": 1e-4}
    )
    return mb.simulate(mech, 2.0, q0=q, locks=[Lock("j2", 0.8), Lock("j3", 1.3)], **options)


@pytest.mark.parametrize(("integrator", "tolerance"), [("dop853", 1e-8), ("rk4", 1e-6)])
def test_the_3r_pendulum_of_the_paper(integrator: str, tolerance: float) -> None:
    motion = swing(integrator)
    assert motion.outcome == "completed"
    assert [(e.time, e.kind, e.joint) for e in motion.events] == [(0.8, "lock", "j2"), (1.3, "lock", "j3")]
    for event, before, after, impulse in zip(motion.events, BEFORE, AFTER, IMPULSE, strict=True):
        assert event.velocity_before == pytest.approx(before, abs=tolerance)
        assert event.velocity_after == pytest.approx(after, abs=tolerance)
        found = {name.removeprefix("lock "): value for (name, _), value in event.impulse.items()}
        assert found == pytest.approx(impulse, abs=tolerance)
    assert motion.q[-1] == pytest.approx(JOINT_FRAME, abs=tolerance)


@pytest.mark.parametrize("integrator", ["dop853", "rk4"])
def test_momenta_of_unlocked_joints_and_energy_of_the_pendulum(integrator: str) -> None:
    motion = swing(integrator)
    mech, _ = pendulum_3r()
    for event, free in zip(motion.events, ([0, 2], [0]), strict=True):
        at = int(np.flatnonzero(motion.time == event.time)[0])
        M = joint_equations(mech, motion.q[at], event.velocity_before).M
        momentum = M @ event.velocity_before
        jump = M @ event.velocity_after - momentum
        assert np.abs(jump[free]).max() < 1e-12 * np.linalg.norm(momentum)
    for segment, level in enumerate(ENERGY):
        energy = motion.energy[motion.segment == segment]
        assert energy == pytest.approx(level, abs=1e-3)
        assert np.ptp(energy) < (1e-7 if integrator == "dop853" else 1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_the_forms_give_the_jumps_of_the_motion(form: str) -> None:
    """What the runner does is what ``activate`` says, by every form, one lock after the other."""
    motion, (mech, _) = swing("dop853"), pendulum_3r()
    for event, names in zip(motion.events, (["j2"], ["j2", "j3"]), strict=True):
        q = motion.q[int(np.flatnonzero(motion.time == event.time)[0])]
        held = replace(mech, locks=tuple(Lock(n) for n in names))
        found = activate(
            joint_equations(held, q, event.velocity_before), None, [f"lock {names[-1]}"], form=form
        )
        assert found.qd_plus == pytest.approx(event.velocity_after, abs=1e-10 * np.abs(found.qd_minus).max())
        for label, value in event.impulse.items():
            assert found.impulse[label] == pytest.approx(value, rel=1e-10)


@pytest.mark.parametrize("kind", ["planar", "spherical", "generic", "tree"])
@pytest.mark.parametrize("seed", range(3))
def test_the_runner_jumps_as_activate_says(kind: str, seed: int) -> None:
    """Random mechanisms with redundant loops, and locks that are redundant among themselves."""
    if kind == "tree":
        mech, q = chain(4, ["cylindrical", "spherical", "planar"][seed], np.random.default_rng(seed))
    else:
        mech, q = loop_mechanism(seed + 20, 2, kind)
    p = joint_equations(mech, q, np.zeros(len(mech.qd_names))).degree_of_redundancy
    ((pose, rates),) = random_states(mech, q, 1, redundancy=p, seed=seed)
    names = [pair.name for pair in mech.pairs if pair.kind.free][:2]
    motion = mb.simulate(mech, 0.02, q0=pose, qd0=rates, locks=[Lock(n, 0.01) for n in names], rtol=1e-10)
    if motion.outcome != "completed":
        assert motion.outcome == "singular_transition"
        return
    (event,) = motion.events
    at = int(np.flatnonzero(motion.time == event.time)[0])
    held = replace(mech, locks=tuple(Lock(n) for n in names))
    equations = joint_equations(held, motion.q[at], event.velocity_before)
    found = activate(equations, None, [f"lock {n}" for n in names])
    size = np.abs(event.velocity_before).max()
    assert found.outcome == "regular"
    assert np.abs(found.qd_plus - event.velocity_after).max() < 1e-10 * max(size, 1e-3)


def weld(mech: Mechanism, q: Array, joint: str) -> tuple[Mechanism, list[str]]:
    """The same mechanism with a joint of one axis replaced by a weld at its present angle, and the rest."""
    at = mech.q_names.index(joint)
    cos, sin = np.cos(q[at]), np.sin(q[at])
    turned = Pose(np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]]), np.zeros(3))
    pairs = tuple(
        replace(p, type="fixed", freedoms=(), X_AP=p.X_AP @ turned) if p.name == joint else p
        for p in mech.pairs
    )
    return replace(mech, pairs=pairs), [n for n in mech.q_names if n != joint]


@pytest.mark.parametrize("case", ["tree", "loop"])
def test_a_locked_joint_is_a_weld(case: str) -> None:
    """Two constructions, one trajectory: 1e-9 over 1 s at rtol 1e-12."""
    rng = np.random.default_rng(8)
    if case == "tree":
        mech, q = chain(4, "revolute", rng)
        q, joint = rng.uniform(-1, 1, 4), "j1"
        qd = rng.normal(size=4)
    else:
        mech, q = two_arms_one_part()
        ((q, qd),) = random_states(mech, q, 1, redundancy=3, seed=2)
        joint = "lj1"
    precise: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-13}
    motion = mb.simulate(mech, 1.1, q0=q, qd0=qd, locks=[Lock(joint, 0.1)], **precise)
    (event,) = motion.events
    k = int(np.flatnonzero(motion.segment == 1)[0])
    assert np.abs(event.velocity_before[mech.qd_names.index(joint)]) > 0.01
    welded, rest = weld(mech, motion.q[k], joint)
    kept = [mech.q_names.index(n) for n in rest]
    assert list(welded.q_names) == rest
    other = mb.simulate(welded, 1.0, q0=motion.q[k][kept], qd0=motion.qd[k][kept], **precise)
    assert np.ptp(other.q, axis=0).max() > 0.1
    assert motion.q[-1][kept] == pytest.approx(other.q[-1], abs=1e-9)
    assert motion.qd[-1][kept] == pytest.approx(other.qd[-1], abs=1e-8)
    assert motion.q[-1][mech.q_names.index(joint)] == pytest.approx(event_angle(motion, joint), abs=1e-12)


def event_angle(motion: Trajectory, joint: str) -> float:
    k = int(np.flatnonzero(motion.segment == 1)[0])
    return float(motion.q[k][motion.mechanism.q_names.index(joint)])


@pytest.mark.bullet
@pytest.mark.parametrize("brakes", [("crank", "rocker"), ("crank",), ("rocker",)])
def test_pybullet_stops_the_four_bar_the_same_way(brakes: tuple[str, ...]) -> None:
    """Its motors with all the force they want give the same jump, but for one first-order step."""
    mech, q = spatial_four_bar_with_pendulum()
    ((q, qd),) = random_states(mech, q, 1, seed=5)
    held = replace(mech, locks=(Lock("crank"), Lock("rocker")))
    expected = activate(joint_equations(held, q, qd), None, ["lock crank", "lock rocker"]).qd_plus
    errors = []
    for step in (1e-3, 1e-4, 1e-5):
        with session() as (p, client):
            settings = {"fixedTimeStep": step, "numSolverIterations": 2000, "solverResidualThreshold": 0}
            p.setPhysicsEngineParameter(**settings, physicsClientId=client)
            world = BulletTree(p, client, mech, q, qd)
            for joint in brakes:
                world.brake(joint)
            p.stepSimulation(physicsClientId=client)
            errors.append(float(np.abs(world.rates() - expected).max()))
    assert abs(expected[-1] - qd[-1]) > 0.1
    # gravity works on the pendulum for one step
    assert errors == pytest.approx([errors[0], errors[0] / 10, errors[0] / 100], rel=1e-3)
    assert errors[-1] < 1e-4


@cache
def arm_stop(transition: str) -> Trajectory:
    return mb.simulate(mb.load(ARM), 0.25, transition=transition, rtol=1e-11, atol=1e-12)


def test_the_arm_stops_joint_by_joint() -> None:
    """Momenta of the free joints go on, energy is lost at the locks and only there."""
    motion, scene = arm_stop("consistent"), mb.load(ARM)
    actions = scene_actions(scene)
    assert actions.armature["j1"] == pytest.approx(6.0)
    assert [(e.joint, e.time) for e in motion.events] == [("j1", 0.05), ("j2", 0.10), ("j3", 0.15)]
    for k, event in enumerate(motion.events):
        at = int(np.flatnonzero(motion.time == event.time)[0])
        held = replace(scene.mechanism, locks=tuple(Lock(f"j{i}") for i in range(1, k + 2)))
        equations = joint_equations(held, motion.q[at], event.velocity_before, actions)
        momentum = equations.M @ event.velocity_before
        change = equations.M @ event.velocity_after - momentum
        assert np.abs(change[k + 1 :]).max() < 1e-12 * np.linalg.norm(momentum)
        for i in range(k + 1):
            assert event.impulse[f"lock j{i + 1}", "rz_lock"] == pytest.approx(change[i], abs=1e-9)
        found = activate(equations, None, [f"lock j{k + 1}"], form=FORMS[k])
        drop = motion.kinetic[at] - motion.kinetic[at + 1]
        assert found.loss == pytest.approx(drop, abs=1e-9) and drop > 50
    for segment in range(4):
        assert np.ptp(motion.energy[motion.segment == segment]) < 1e-7
    for joint in range(3):
        assert np.ptp(motion.q[motion.segment > joint, joint]) < 1e-14


def test_the_shortcut_puts_the_arm_elsewhere() -> None:
    right, naive = arm_stop("consistent"), arm_stop("naive")
    mech = right.mechanism
    flange = [forward(mech, m.q[-1]).p_WL[mech.body_index["flange"]] for m in (right, naive)]
    assert np.linalg.norm(flange[0] - flange[1]) > 0.1
    # the first axis has stopped where it was in both
    assert right.q[-1][0] == pytest.approx(naive.q[-1][0], abs=1e-9)
    assert abs(right.q[-1][2] - naive.q[-1][2]) > np.radians(5)
