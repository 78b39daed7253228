"""Reactions of moving mechanisms: accelerations by differences, power, and a pendulum by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.constraints.reduction import body_twists
from mbplugin.dynamics import body_accelerations, newton_euler
from mbplugin.errors import BadUsage
from mbplugin.joint_reactions import closed_state
from mbplugin.model.mechanism import Body, Driver
from mbplugin.model.mechanism.kinematics import displace, forward
from mbplugin.model.mechanism.pair import PAIR_TYPES
from mbplugin.model.spatial import Pose
from models import chain, four_bar, from_world_frames, pose_at
from places import ASSETS

TYPES = sorted(set(PAIR_TYPES) - {"distance", "fixed"})


@pytest.mark.parametrize("kind", TYPES)
def test_accelerations_are_the_derivative_of_twists(kind: str) -> None:
    rng = np.random.default_rng(5)
    mech, q = chain(3, kind, rng)
    nv = len(mech.qd_names)
    q = displace(mech, q, rng.uniform(-0.5, 0.5, nv))
    qd, qdd, h = rng.normal(size=nv), rng.normal(size=nv), 1e-5
    poses = forward(mech, q)
    exact = body_accelerations(mech, poses, body_twists(mech, poses, qd), qdd)

    def twists(t: float) -> np.ndarray:
        there = displace(mech, q, t * qd + 0.5 * t * t * qdd)
        return body_twists(mech, forward(mech, there), qd + t * qdd)

    assert exact == pytest.approx((twists(h) - twists(-h)) / (2 * h), abs=2e-4)


def test_a_conical_turn_by_hand() -> None:
    """2 kg on a 0.5 m arm about z at 3 rad/s: m ω² r inwards; speeding up by 4 rad/s²: m r² · 4 + J · 4."""
    m, r, J = 2.0, 0.5, 0.1
    mech, q = from_world_frames(
        "turntable",
        {"arm": Pose(np.eye(3), np.array([r, 0, 0]))},
        [("axle", "revolute", "world", "arm", pose_at([0, 0, 0]))],
    )
    mech = replace(mech, bodies=(Body("arm", m, np.zeros(3), J * np.eye(3)),))
    result = mb.reactions(mech, q, {"axle": 3.0}, {"axle": 4.0}, hold=["axle"])
    assert result.mode == "inverse dynamics"
    assert result["axle"].wrench[:3] == pytest.approx([-m * 9 * r, m * 4 * r, m * 9.81])
    assert result["axle"].wrench[3:5] == pytest.approx([0, -m * 9.81 * r])
    assert result.value("lock axle", "rz_lock") == pytest.approx((m * r * r + J) * 4)


def test_a_payload_is_a_body_welded_on() -> None:
    """Two constructions: a payload, and the same mass as a body on a fixed pair."""
    rng = np.random.default_rng(0)
    mech, q = chain(2, "revolute", rng)
    A = rng.normal(size=(3, 3))
    mass, com, inertia = 3.0, rng.normal(size=3), A @ A.T
    from mbplugin.model.mechanism.pair import Pair

    at = Pose(np.eye(3), com)
    welded = replace(
        mech,
        bodies=(*mech.bodies, Body("extra", mass, np.zeros(3), inertia)),
        pairs=(*mech.pairs, Pair("weld", "fixed", "b1", "extra", at, Pose.identity())),
    )
    qd, qdd, hold = rng.normal(size=2), rng.normal(size=2), ["j0", "j1"]
    payload = {"body": "b1", "mass": mass, "com": com, "inertia": inertia}
    one = mb.reactions(mech, q, qd, qdd, payloads=[payload], hold=hold)
    other = mb.reactions(welded, q, qd, qdd, hold=hold)
    for name in ("j0", "j1"):
        assert one[name].wrench == pytest.approx(other[name].wrench, rel=1e-9, abs=1e-9)
        lock = f"lock {name}", "rz_lock"
        assert one.value(*lock) == pytest.approx(other.value(*lock))


def test_rates_of_one_joint_bring_the_others_along() -> None:
    """In the square four-bar the rocker turns with the crank; the coupler only travels."""
    mech, q = four_bar()
    result = mb.reactions(mech, q, {"j0": 2.0}, hold=["j0"])
    assert dict(zip(mech.qd_names, result.qd, strict=True)) == pytest.approx(
        {"j0": 2.0, "j1": -2.0, "j2": 2.0}
    )
    assert any("rates made to agree" in note for note in result.notes)
    # the coupler, 1 kg, is carried on a circle of 1 m: the pins pull it down with m ω² r
    on_coupler = result["j1"].wrench[1] - result["j2"].wrench[1]
    assert on_coupler == pytest.approx(-1.0 * 2.0**2 * 1.0)


def test_drive_power_is_the_change_of_energy() -> None:
    mech, q = four_bar()
    mech = replace(mech, gravity=np.array([0.3, -9.81, 0.5]))
    qd, qdd = {"j0": 1.3}, {"j0": -0.7}
    result = mb.reactions(mech, q, qd, qdd, hold=["j0"])
    h = 1e-5

    def energy(t: float) -> float:
        state = closed_state(mech, q, qd, qdd, None, None)
        there = displace(mech, q, t * state.qd + 0.5 * t * t * state.qdd)
        at = newton_euler(mech, there, state.qd + t * state.qdd)
        kinetic = 0.5 * np.einsum("ni,nij,nj", at.twists, at.M, at.twists)
        return float(
            kinetic - sum(b.mass * mech.gravity @ p for b, p in zip(mech.bodies, at.poses.p_WC, strict=True))
        )

    power = result.value("lock j0", "rz_lock") * 1.3
    assert power == pytest.approx((energy(h) - energy(-h)) / (2 * h), rel=1e-6)


def test_a_driver_prescribes_its_rate_and_acceleration() -> None:
    mech, q = four_bar()
    driven = replace(mech, drivers=(Driver("motor", "j0", rate=2.0, acceleration=3.0),))
    result = mb.reactions(driven, q, {}, {})
    plain = mb.reactions(mech, q, {"j0": 2.0}, {"j0": 3.0}, hold=["j0"])
    assert result.qd == pytest.approx(plain.qd) and result.qdd == pytest.approx(plain.qdd)
    assert result.value("motor", "rz_drive") == pytest.approx(plain.value("lock j0", "rz_lock"))
    # at rest a driver only holds
    assert mb.reactions(driven, q).qd == pytest.approx(0)


@pytest.mark.long
def test_rates_of_a_motion_agree_with_redundant_rows_to_rounding() -> None:
    """Two wheel rows too many: what a motion leaves of their gap is noise, and no contradiction."""
    scene = mb.load(ASSETS / "four_wheel_robot.scene.toml")
    profile = mb.MotionProfile(((0.0, (0.0, 0.0, 0.02)),))
    motion = mb.simulate(scene, 0.5, qd0={"1.vx": 1.0}, profiles={"drive": profile}, samples=20)
    for time, q, qd in zip(motion.time, motion.q, motion.qd, strict=True):
        value, rate, acceleration = profile(time)
        driver = mb.Driver("drive", "H", value=value, rate=rate, acceleration=acceleration)
        now = replace(scene, mechanism=replace(scene.mechanism, drivers=(driver,)))
        state = closed_state(now, q, qd, None, None, None)
        assert state.qd == pytest.approx(qd, abs=1e-10)


def test_contradicting_drivers_are_refused() -> None:
    mech, q = four_bar()
    drivers = (Driver("left", "j0", rate=1.0), Driver("right", "j3", rate=-1.0))
    with pytest.raises(BadUsage, match="no rates satisfy constraint"):
        mb.reactions(replace(mech, drivers=drivers), q, {})


def test_accelerations_that_nothing_drives_are_refused() -> None:
    mech, q = four_bar()
    with pytest.raises(BadUsage, match="these accelerations need a force that nothing supplies"):
        mb.reactions(mech, q, {"j0": 1.0}, {"j0": 2.0}, hold=[])


def test_a_scene_in_motion_is_inverse_dynamics() -> None:

    scene = mb.load(ASSETS / "four_bar.scene.toml")
    assert mb.reactions(scene).mode == "statics"
    moving = replace(scene, state=replace(scene.state, qd=np.ones_like(scene.state.qd)))
    assert mb.reactions(moving).mode == "inverse dynamics"
