"""Friction and brakes where rows depend on each other: dead centres, several brakes on one freedom."""

from __future__ import annotations

from collections.abc import Callable
from math import atan2, cos, pi, sin, sqrt

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mbplugin as mb
from mbplugin.model.mechanism import WORLD, Body, Mechanism
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.spatial import Array, Pose
from mbplugin.simulation.breaking_away import basic_solution, bounded_least_squares
from places import ASSETS

CRANK, COUPLER, ROCKER, GROUND = 0.2, 0.6, 0.5, 0.6


def crank_rocker(crank: float = 0.0, rocker: float = 0.0) -> tuple[Mechanism, dict[str, float]]:
    """Return the linkage with dry friction in two bearings, N·m, and its pose with the crank upright."""
    unit = np.eye(3)

    def at(*p: float) -> Pose:
        return Pose(unit, np.array(p, dtype=float))

    bodies = (
        Body("crank", 5.0, np.zeros(3), 0.5 * unit),
        Body("coupler", 0.5, np.array([COUPLER / 2, 0.0, 0.0]), 0.01 * unit),
        Body("rocker", 0.5, np.array([ROCKER / 2, 0.0, 0.0]), 0.01 * unit),
    )
    pairs = (
        Pair("j0", "revolute", WORLD, "crank", at(0, 0, 0), at(0, 0, 0), freedoms=(Freedom(friction=crank),)),
        Pair(
            "j3",
            "revolute",
            WORLD,
            "rocker",
            at(GROUND, 0, 0),
            at(0, 0, 0),
            freedoms=(Freedom(friction=rocker),),
        ),
        Pair("j1", "revolute", "crank", "coupler", at(CRANK, 0, 0), at(0, 0, 0)),
        Pair("j2", "point-on-line", "coupler", "rocker", at(COUPLER, 0, 0), at(ROCKER, 0, 0), closure=True),
    )
    phi, psi = angles(pi / 2)
    return Mechanism("crank-rocker", bodies, pairs, gravity=np.zeros(3)), {
        "j0": pi / 2,
        "j1": phi - pi / 2,
        "j3": psi,
    }


def angles(theta: float) -> tuple[float, float]:
    """Return the angles of coupler and rocker in the plane, by circles, rad."""
    A, D = np.array([CRANK * cos(theta), CRANK * sin(theta)]), np.array([GROUND, 0.0])
    L = float(np.hypot(*(D - A)))
    x = (COUPLER**2 - ROCKER**2 + L**2) / (2 * L)
    e = (D - A) / L
    B = A + x * e + sqrt(COUPLER**2 - x**2) * np.array([-e[1], e[0]])
    return atan2(*(B - A)[::-1]), atan2(*(B - D)[::-1])


def ratios(theta: float) -> tuple[float, float]:
    """Return how fast coupler and rocker turn per turn of the crank, by the loop's velocities."""
    phi, psi = angles(theta)
    J = np.array([[-COUPLER * sin(phi), ROCKER * sin(psi)], [COUPLER * cos(phi), -ROCKER * cos(psi)]])
    k = np.linalg.solve(J, [CRANK * sin(theta), -CRANK * cos(theta)])
    return float(k[0]), float(k[1])


def inertia(theta: float) -> float:
    """Return the inertia that the crank feels, kg·m²."""
    (phi, _), (k_phi, k_psi) = angles(theta), ratios(theta)
    v = CRANK * np.array([-sin(theta), cos(theta)]) + COUPLER / 2 * k_phi * np.array([-sin(phi), cos(phi)])
    return float(0.5 + 0.01 * k_phi**2 + 0.5 * v @ v + (0.01 + 0.5 * (ROCKER / 2) ** 2) * k_psi**2)


def dissipated_over_angle(
    energy: float, torque: Callable[[float], float], end: float
) -> tuple[float, float, float]:
    """Return time (s) and energy left (J) after an angle, and the angle where none is left.

    The crank turns one way and loses dE = torque(θ) dθ, so the time is ∫ dθ √(I / 2E).
    """

    def slope(theta: float, y: Array) -> list[float]:
        return [sqrt(inertia(theta) / (2.0 * max(y[1], 1e-300))), -torque(theta)]

    def spent(theta: float, y: Array) -> float:
        return float(y[1] - 1e-12)

    spent.terminal = True  # type: ignore[attr-defined]
    found = solve_ivp(
        slope, (pi / 2, end), [0.0, energy], rtol=1e-10, atol=1e-13, events=spent, max_step=0.02
    )
    return float(found.y[0, -1]), float(found.y[1, -1]), float(found.t[-1])


def rocker_friction(torque: float) -> Callable[[float], float]:
    return lambda theta: torque * abs(ratios(theta)[1])


def test_the_independent_ratios_are_the_derivatives_of_its_angles() -> None:
    h = 1e-6
    for theta in (0.3, 1.7, 4.0):
        ahead, behind = angles(theta + h), angles(theta - h)
        expected = [(a - b) / (2 * h) for a, b in zip(ahead, behind, strict=True)]
        assert ratios(theta) == pytest.approx(expected, rel=1e-7)


@pytest.mark.long
@pytest.mark.parametrize(
    "how", [{}, {"integrator": "rk4", "step": 1e-3}, {"integrator": "rodas5p"}, {"readable": True}]
)
def test_friction_at_the_rocker_outlives_its_dead_centres(how: dict) -> None:
    mech, q0 = crank_rocker(rocker=1.0)
    motion = mb.simulate(mech, 2.0, q0=q0, qd0={"j0": 10.0}, limits="ignore", **how)
    energy, end = 0.5 * inertia(pi / 2) * 100.0, float(motion.q[-1, motion.joint_names.index("j0")])
    time, left, _ = dissipated_over_angle(energy, rocker_friction(1.0), end)
    assert time == pytest.approx(2.0, rel=1e-6)
    assert motion.dissipated[-1] == pytest.approx(energy - left, rel=1e-6)
    assert motion.dissipated[-1] == pytest.approx(5.449, rel=1e-4)
    assert motion.energy[0] - motion.energy[-1] == pytest.approx(motion.dissipated[-1], rel=1e-6)


@pytest.mark.long
def test_a_brake_at_the_rocker_brings_the_crank_to_rest() -> None:
    mech, q0 = crank_rocker()
    stop = mb.estop(
        mech,
        q0,
        {"j0": 10.0, "j1": ratios(pi / 2)[0] * 10.0 - 10.0, "j3": ratios(pi / 2)[1] * 10.0},
        brakes=[{"joint": "j3", "torque": 3.0}],
        limits="ignore",
    )
    energy = 0.5 * inertia(pi / 2) * 100.0
    time, _, angle = dissipated_over_angle(energy, rocker_friction(3.0), 100.0)
    assert stop.outcome == "stopped"
    assert stop.time == pytest.approx(time, abs=2e-4)
    assert stop.trajectory.q[-1, 0] == pytest.approx(angle, abs=1e-6)
    assert stop.joint("j3").brake_energy == pytest.approx(energy, rel=1e-6)
    assert abs(stop.energies.losses) < 1e-6


def test_frictions_at_both_ends_of_one_freedom_add_up() -> None:
    mech, q0 = crank_rocker(crank=0.3, rocker=1.0)
    motion = mb.simulate(mech, 1.5, q0=q0, qd0={"j0": 10.0}, limits="ignore")
    energy, end = 0.5 * inertia(pi / 2) * 100.0, float(motion.q[-1, 0])
    time, left, _ = dissipated_over_angle(energy, lambda a: 0.3 + abs(ratios(a)[1]), end)
    assert time == pytest.approx(1.5, rel=1e-6)
    assert motion.dissipated[-1] == pytest.approx(energy - left, rel=1e-6)


@pytest.mark.parametrize("share", [-1.001, -0.999, 0.999, 1.001])
def test_what_two_brakes_on_one_freedom_hold_is_the_sum_of_both(share: float) -> None:
    """Crank and rocker stick together up to the sum of their torques, through the ratio of the loop."""
    mech, _ = crank_rocker(crank=2.0, rocker=3.0)
    theta = 0.9
    phi, psi = angles(theta)
    holds = 2.0 + 3.0 * abs(ratios(theta)[1])
    motion = mb.simulate(
        mech,
        0.01,
        q0={"j0": theta, "j1": phi - theta, "j3": psi},
        torques={"j0": share * holds},
        limits="ignore",
    )
    moved = motion.q[-1, 0] - theta
    if abs(share) < 1.0:
        assert np.abs(motion.qd).max() < 1e-15
        assert np.abs(motion.q - motion.q[0]).max() < 1e-12
    else:
        # the friction is what it was as long as the ratio hardly changes
        a = np.sign(share) * (abs(share) - 1.0) * holds / inertia(theta)
        assert moved == pytest.approx(0.5 * a * 0.01**2, rel=1e-3)


def test_a_load_that_changes_its_sign_meets_the_sum_of_both_again() -> None:
    """A torque swings from +0.99 to −0.99 of what both hold: nothing moves; from 1.01 on it does."""
    mech, _ = crank_rocker(crank=2.0, rocker=3.0)
    theta = 0.9
    phi, psi = angles(theta)
    holds = 2.0 + 3.0 * abs(ratios(theta)[1])
    q0 = {"j0": theta, "j1": phi - theta, "j3": psi}

    def swing(size: float) -> Callable[[float, Array, Array], Array]:
        return lambda t, q, qd: np.array([size * holds * sin(40.0 * t), 0.0, 0.0])

    names = mb.simulate(mech, 1e-6, q0=q0).joint_names
    assert names[0] == "j0"
    held = mb.simulate(mech, 0.2, q0=q0, controller=swing(0.99), limits="ignore")
    assert np.abs(held.qd).max() < 1e-9
    moved = mb.simulate(mech, 0.2, q0=q0, controller=swing(1.01), limits="ignore")
    assert moved.dissipated[-1] > 1e-6


def test_at_rest_at_a_dead_centre_nothing_moves_without_a_load() -> None:
    mech, _ = crank_rocker(rocker=1.0)
    theta = _dead_centre()
    phi, psi = angles(theta)
    motion = mb.simulate(mech, 0.5, q0={"j0": theta, "j1": phi - theta, "j3": psi}, limits="ignore")
    assert np.abs(motion.qd).max() < 1e-9
    assert motion.dissipated[-1] == 0.0


@pytest.mark.parametrize("torque", [-0.5, 0.5])
def test_a_crank_leaves_the_dead_centre_that_the_brake_cannot_hold(torque: float) -> None:
    """There the rocker does not move with the crank; its friction works as soon as it does."""
    mech, _ = crank_rocker(rocker=1.0)
    theta = _dead_centre()
    phi, psi = angles(theta)
    motion = mb.simulate(
        mech,
        0.6,
        q0={"j0": theta, "j1": phi - theta, "j3": psi},
        torques={"j0": torque},
        limits="ignore",
        rtol=1e-9,
    )
    end = float(motion.q[-1, 0])
    assert abs(end - theta) > 0.05
    angle = np.linspace(theta, end, 4001)
    friction = abs(np.trapezoid([abs(ratios(a)[1]) for a in angle], angle))
    assert motion.dissipated[-1] == pytest.approx(friction, rel=1e-5)
    assert motion.kinetic[-1] == pytest.approx(torque * (end - theta) - friction, rel=1e-4)


def _dead_centre() -> float:
    """Return the crank angle with crank and coupler in line, the rocker farthest out, rad."""
    reach = CRANK + COUPLER
    return float(np.arccos((reach**2 + GROUND**2 - ROCKER**2) / (2 * reach * GROUND)))


def test_the_dead_centre_is_one() -> None:
    assert abs(ratios(_dead_centre())[1]) < 1e-9


@pytest.mark.long
def test_bounded_least_squares_against_the_conditions_of_a_minimum() -> None:
    """The gradient is zero where free, and pushes outwards at a bound; columns may depend on each other."""
    random = np.random.default_rng(5)
    for _ in range(300):
        m, n, rank = random.integers(1, 6), random.integers(1, 9), random.integers(1, 5)
        A = random.normal(size=(m, rank)) @ random.normal(size=(rank, n))
        b = random.normal(size=m) * 3.0
        u, free = bounded_least_squares(A, b)
        g = A.T @ (A @ u - b)
        assert np.abs(u).max() <= 1.0
        assert np.abs(g[free]).max(initial=0.0) < 1e-7
        assert (np.abs(u[~free]) == 1.0).all()
        assert (u[~free] * g[~free] <= 1e-7).all()
        basic, left = basic_solution(A, u, free)
        assert np.allclose(A @ basic, A @ u, atol=1e-8)
        assert np.abs(basic).max() <= 1.0 + 1e-12
        assert np.linalg.matrix_rank(A[:, left], tol=1e-8) == left.sum()


@pytest.mark.parametrize("how", [{"coordinates": "absolute"}, {"formulation": "null-space"}])
def test_friction_sticks_whatever_formulation_moves_the_mechanism(how: dict) -> None:
    """A slider of 1 kg: 1 N does not move it against 2 N, 5 N do; a brake of 1 N stops it from 1 m/s."""
    along = Pose(np.eye(3), np.zeros(3))
    bodies = (Body("slider", 1.0, np.zeros(3), 0.01 * np.eye(3)),)
    pair = Pair("x", "prismatic", WORLD, "slider", along, along, freedoms=(Freedom(friction=2.0),))
    mech = Mechanism("slider", bodies, (pair,), gravity=np.zeros(3))
    held = mb.simulate(mech, 0.5, torques={"x": 1.0}, limits="ignore", **how)
    assert np.abs(held.q).max() < 1e-12 and held.dissipated[-1] == 0.0
    moved = mb.simulate(mech, 0.5, torques={"x": 5.0}, limits="ignore", **how)
    assert moved.q[-1, 0] == pytest.approx(0.5 * 3.0 * 0.25, rel=1e-8)
    assert moved.dissipated[-1] == pytest.approx(2.0 * moved.q[-1, 0], rel=1e-8)
    brakes = [{"joint": "x", "torque": 1.0, "viscous": 2.0}]
    stopped = mb.simulate(mech, 2.0, qd0={"x": 1.0}, brakes=brakes, limits="ignore", **how)
    # v̇ = −3 − 2 v: at rest after ½ ln(1 + 2/3)
    sticks = [event.time for event in stopped.events if event.kind == "stick"]
    assert sticks == pytest.approx([0.5 * np.log(5 / 3)], rel=1e-7)


@pytest.mark.parametrize("torque", [1e-300, 1e-322])
def test_a_brake_whose_squares_are_no_numbers_stops_nothing(torque: float) -> None:
    scene = mb.load(ASSETS / "four_bar.scene.toml")
    end = 0.2
    free = mb.simulate(scene, end, rtol=1e-10, atol=1e-12)
    braked = mb.simulate(scene, end, brakes=[{"joint": "j1", "torque": torque}], rtol=1e-10, atol=1e-12)
    assert braked.outcome == "completed"
    assert np.abs(free.qd[-1]).max() > 0.1
    assert braked.q[-1] == pytest.approx(free.q[-1], abs=1e-8)
