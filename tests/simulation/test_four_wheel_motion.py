"""The four-wheel robot of wojtyra2013, section 4: its turns by its elimination variants."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.dynamics.absolute import absolute_equations
from mbplugin.dynamics.formulations import solve
from mbplugin.model.mechanism import Driver
from mbplugin.model.scene import Load
from mbplugin.simulation.run import simulate
from mbplugin.simulation.trajectory.trajectory import Trajectory
from places import ASSETS

SCENE = mb.load(ASSETS / "four_wheel_robot.scene.toml")
#: Rows that are left out, numbered from 1 in the planar matrix.
VARIANTS = ((6, 21), (18, 21), (19, 21), (18, 20))
#: Where the steering slider is, s and m: right, straight, left.
STEERING = ((0.0, 0.0), (0.5, 0.04), (3.0, 0.04), (4.0, 0.0), (6.0, 0.0), (7.0, -0.04), (10.0, -0.04))


def steering(t: float) -> tuple[float, float, float]:
    """Value, rate and acceleration: quintic between the corners, so that all three are continuous."""
    for (t0, x0), (t1, x1) in pairwise(STEERING):
        if t <= t1:
            h, rise = t1 - t0, x1 - x0
            s = (t - t0) / h
            value = x0 + rise * s**3 * (10 - 15 * s + 6 * s**2)
            return value, rise * 30 * s**2 * (1 - s) ** 2 / h, rise * 60 * s * (1 - s) * (1 - 2 * s) / h**2
    return STEERING[-1][1], 0.0, 0.0


ACCELERATE = Load("1", np.array([4.0, 1.0, 0.0]), np.zeros(3), np.zeros(3), "body")


@cache
def motion(duration: float, dropped: tuple[int, ...] = (), coordinates: str = "absolute") -> Trajectory:

    return simulate(
        SCENE,
        duration,
        qd0={"1.vx": 1.0},
        loads=[ACCELERATE],
        profiles={"drive": steering},
        coordinates=coordinates,
        dropped=dropped,
        integrator="rk4",
        step=0.02,
    )


def assert_one_motion(duration: float) -> None:
    reference = motion(duration, coordinates="joint")
    assert reference.outcome == "completed"
    for dropped in VARIANTS:
        other = motion(duration, dropped)
        assert other.outcome == "completed"
        assert np.abs(other.q[-1] - reference.q[-1]).max() < 1e-8, dropped
        assert np.abs(other.qd[-1] - reference.qd[-1]).max() < 1e-8, dropped
        assert other.q == pytest.approx(reference.q, abs=1e-8), dropped


@pytest.mark.long
def test_four_eliminations_give_one_motion() -> None:
    assert_one_motion(0.2)


@pytest.mark.slow
def test_four_eliminations_give_one_motion_through_both_turns() -> None:
    assert_one_motion(10.0)
    whole = motion(10.0, coordinates="joint")
    yaw = 2 * np.unwrap(np.arctan2(whole.q[:, 5], whole.q[:, 6]))
    turned = np.interp([0, 3.5, 4, 6, 10], whole.time, yaw)
    # right, straight on, left
    assert turned[1] < turned[0] - 0.1 and turned[4] > turned[3] + 0.1
    assert abs(turned[3] - turned[2]) < 1e-6
    assert whole.energy - whole.energy[0] == pytest.approx(whole.applied + whole.driven, abs=1e-5)


def multipliers(dropped: tuple[int, ...], time: float) -> dict[str, np.ndarray]:
    """λ by constraint in the middle of a turn."""
    state = motion(0.5, coordinates="joint").resample([time])
    value, rate, acceleration = steering(time)
    driven = replace(
        SCENE.mechanism, drivers=(Driver("drive", "H", value=value, rate=rate, acceleration=acceleration),)
    )
    actions = replace(state.actions, loads=(ACCELERATE,))
    equations = absolute_equations(
        driven, state.q[0], state.qd[0], actions, planar="xy", degree_of_redundancy=2
    )
    rows = tuple(equations.labels[k - 1] for k in dropped)
    solution = solve(equations, "projected", "eliminate", rows)
    out: dict[str, list[float]] = {}
    for (name, _), force in zip(equations.labels, solution.multipliers, strict=True):
        out.setdefault(name, []).append(float(force))
    return {name: np.array(forces) for name, forces in out.items()}


def test_reactions_differ_exactly_where_they_are_not_unique() -> None:
    first, *others = (multipliers(dropped, 0.4) for dropped in VARIANTS)
    size = max(np.abs(force).max() for force in first.values())
    spread = {name: max(np.abs(o[name] - first[name]).max() / size for o in others) for name in first}
    unique = {"A", "D", "E", "F", "G", "H", "drive", "W5"}
    assert {name for name, value in spread.items() if value < 1e-9} == unique
    assert min(spread[name] for name in ("B", "C", "W1", "W2", "W3", "W4")) > 1e-3
    # W4 is row 21, which the first three leave out
    assert all(multipliers(dropped, 0.4)["W4"] == pytest.approx(0.0) for dropped in VARIANTS[:3])
