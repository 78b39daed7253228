"""Paths of points of bodies: by hand, by differences, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.errors import BadNumber, UnknownName
from places import ASSETS


def test_the_crank_pin_runs_on_a_circle() -> None:
    """The crank stands upright in its file, its frame in O1: O2 is 0.8 m off, clockwise about z."""
    motion = mb.simulate(ASSETS / "crank_rocker.scene.toml", 1.0, qd0={"O1": 4.0}, samples=50)
    angle, rate = motion.q[:, 0], motion.qd[:, 0]
    frame = motion.point("crank")
    across = np.column_stack((np.sin(angle), np.cos(angle), np.zeros_like(angle)))
    pin = motion.point("crank", (0.0, 0.4, 0.0))
    assert pin.p_W == pytest.approx(0.8 * across, abs=1e-12)
    assert frame.p_W == pytest.approx(0.4 * across, abs=1e-12)
    along = np.column_stack((np.cos(angle), -np.sin(angle), np.zeros_like(angle)))
    assert pin.v_W == pytest.approx(0.8 * rate[:, None] * along, abs=1e-12)


def test_velocities_are_those_of_the_paths() -> None:
    motion = mb.simulate(
        mb.load(ASSETS / "arm_6r.urdf", base="fixed").mechanism, 0.4, samples=2000, limits="ignore"
    )
    body = motion.mechanism.bodies[-1].name
    path = motion.point(body, [0.1, -0.2, 0.3])
    between = np.diff(path.p_W, axis=0) / np.diff(motion.time)[:, None]
    assert np.abs(path.v_W).max() > 0.1
    mean = 0.5 * (path.v_W[1:] + path.v_W[:-1])
    assert between == pytest.approx(mean, abs=1e-5 * np.abs(path.v_W).max())


def test_knife_edges_do_not_slip_along_a_curve() -> None:
    """The velocity of the edge's point has no part across the platform."""
    motion = mb.simulate(
        ASSETS / "four_wheel_robot.scene.toml",
        2.0,
        qd0={"1.vx": 1.0},
        profiles={"drive": mb.MotionProfile(((0.0, (0.0, 0.0, 0.01)),))},
        samples=40,
    )
    edge = motion.point("1", (0.0, 0.3, 0.0))
    right = motion.point("1", (0.0, -0.3, 0.0))
    side = (edge.p_W - right.p_W) / 0.6
    assert np.abs(side[:, 0]).max() > 0.05
    assert np.abs((edge.v_W * side).sum(axis=1)).max() < 1e-9


def test_what_is_no_point_of_a_body() -> None:
    motion = mb.simulate(ASSETS / "crank_rocker.scene.toml", 0.01)
    with pytest.raises(UnknownName, match=r"no body 'cranc'.*crank"):
        motion.point("cranc")
    for wrong in ([1.0, 2.0], [0.0, np.nan, 0.0]):
        with pytest.raises(BadNumber, match="three finite numbers"):
            motion.point("crank", wrong)
