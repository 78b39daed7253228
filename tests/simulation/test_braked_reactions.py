"""What brakes do to reactions: by hand, and as the applied torque that they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from absolute_wrenches import absolute_wrenches
from command_line import ASSETS
from mbplugin.model.brake_law import Brake
from mbplugin.model.brakes import AppliedForces
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.run import estop
from rod_arms import G, arm, two_rods

SCENE = mb.load(ASSETS / "four_bar.scene.toml")


def test_one_joint_by_hand() -> None:
    """It slides with 4 N·m and 0.5 N·m·s/rad, then holds the weight."""
    mech = arm((1.2,), 3.0)
    brake = Brake("j0", 40.0, viscous=0.5, delay=0.1)
    motion = mb.simulate(mech, 1.0, qd0={"j0": 2.0}, brakes=[brake], rtol=1e-10, samples=200)
    torque, stick = motion.braking("j0"), next(e.time for e in motion.events if e.kind == "stick")
    before = np.arange(len(torque)) <= np.flatnonzero(motion.time == 0.1)[0]
    sliding = ~before & (motion.time < stick)
    assert not torque[before].any() and sliding.sum() > 3
    assert torque[sliding] == pytest.approx(-40 - 0.5 * motion.qd[sliding, 0], rel=1e-12)
    held = motion.time > stick
    assert torque[held] == pytest.approx(3 * G * 0.6 * np.cos(motion.q[held, 0]), rel=1e-9)
    # what carries the rod beside its axis is its own balance: m (r̈ − g)
    q, qd, qdd = motion.q[:, 0], motion.qd[:, 0], motion.qdd[:, 0]
    along = -0.6 * qd**2 + G * np.sin(q)
    across = 0.6 * qdd + G * np.cos(q)
    force = 3 * np.column_stack(
        (along * np.cos(q) - across * np.sin(q), along * np.sin(q) + across * np.cos(q))
    )
    assert motion.reactions("j0")[:, :2] == pytest.approx(force, abs=1e-8)


def test_a_held_joint_beside_a_sliding_one() -> None:
    """The inner brake holds while the outer one slides: its torque is what the rods need."""
    motion = mb.simulate(
        arm((1.0, 1.0)), 0.1, q0=[0.0, -0.9], qd0=[0.0, 4.0], brakes=[Brake("j0", 60.0), Brake("j1", 4.0)]
    )
    after = motion.time > 0
    for q, qd, qdd, inner, outer in zip(
        motion.q[after], motion.qd[after], motion.qdd[after], motion.braking("j0")[after],
        motion.braking("j1")[after], strict=True,
    ):  # fmt: skip
        M, h = two_rods(q, qd)
        assert [inner, outer] == pytest.approx(M @ qdd + h, abs=1e-6)
        assert outer == pytest.approx(-4.0, rel=1e-12)


def sliding_samples(motion: Trajectory) -> list[int]:
    engagement_time = next(e.time for e in motion.events if e.kind == "brake")
    stick = next(e.time for e in motion.events if e.kind == "stick")
    return np.flatnonzero((motion.time > engagement_time) & (motion.time < stick)).tolist()


def test_a_loop_with_a_brake_on_its_crank() -> None:
    """Its reactions are those of an applied torque of the brake's value, from equations of all bodies."""
    brake = Brake("j0", 3.0, viscous=0.2, delay=0.05)
    motion = mb.simulate(SCENE, 2.0, qd0={"j0": 3.0}, brakes=[brake], rtol=1e-10)
    samples = sliding_samples(motion)
    assert len(samples) > 5
    for k in samples[:: max(1, len(samples) // 5)]:
        torque = float(motion.braking("j0")[k])
        assert torque == pytest.approx(-3.0 * np.sign(motion.qd[k, 0]) - 0.2 * motion.qd[k, 0], rel=1e-9)
        applied = AppliedForces(torques={"j0": torque})
        theirs = absolute_wrenches(motion.mechanism, motion.q[k], motion.qd[k], applied)
        for name, wrench in theirs.items():
            known = motion.uniqueness(name)[k]
            assert motion.reactions(name)[k][known] == pytest.approx(wrench[known], rel=1e-6, abs=1e-6)


def test_the_same_motion_by_a_torque() -> None:
    """Two constructions: a brake that slides all the time, and a torque of its size."""
    mech = replace(SCENE.mechanism, gravity=np.zeros(3))
    options = {"q0": SCENE.state.q, "qd0": {"j0": 5.0}, "rtol": 1e-11, "samples": 20}
    braked = mb.simulate(mech, 0.05, brakes=[Brake("j0", 3.0)], **options)  # type: ignore[arg-type]
    sense = np.sign(braked.qd[0, 0])
    pushed = mb.simulate(mech, 0.05, torques={"j0": -3.0 * sense}, **options)  # type: ignore[arg-type]
    free = mb.simulate(mech, 0.05, **options)  # type: ignore[arg-type]
    assert [e.kind for e in braked.events] == ["brake"]
    assert braked.q[-1] == pytest.approx(pushed.q[-1], abs=1e-9)
    for name in ("j1", "j2", "j3"):
        known = pushed.uniqueness(name)[-1]
        assert braked.reactions(name)[-1][known] == pytest.approx(pushed.reactions(name)[-1][known], abs=1e-6)
    assert np.abs(pushed.reactions("j1")[-1] - free.reactions("j1")[-1]).max() > 0.5


def test_the_peaks_of_a_stop_hold_the_brake() -> None:
    report = estop(arm((1.2,), 3.0, gravity=0.0), qd={"j0": 2.5}, brakes=[Brake("j0", 40.0, viscous=2.0)])
    (peak,) = report.peaks
    assert peak.components[5] == pytest.approx(40.0 + 2.0 * 2.5, rel=1e-6)
    assert peak.moment >= peak.components[5]


def test_a_joint_without_a_brake_is_named() -> None:
    motion = mb.simulate(arm((1.0, 1.0)), 0.05, brakes=[Brake("j0", 3.0)])
    with pytest.raises(mb.MbPluginError, match="no braked joint 'j1'"):
        motion.braking("j1")
