"""Benchmark mechanisms of the literature, built from their published numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import mbplugin as mb
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.spatial import Array, Pose, Spring
from models import coupled_four_bars, from_world_frames, pose_at
from places import ORACLES

_DOWN = np.array([0.0, -9.81, 0.0])


def with_solids(mech: Mechanism, composites: dict[str, tuple[float, Array]], gravity: Array) -> Mechanism:
    """The mechanism with masses (kg) and inertias (kg·m², centre of mass) by body."""
    bodies = tuple(replace(b, mass=composites[b.name][0], I_C=composites[b.name][1]) for b in mech.bodies)
    return replace(mech, bodies=bodies, gravity=gravity)


def n_four_bar(n: int) -> tuple[Mechanism, Array, dict[str, float]]:
    """IFToMM A02: N windows, uniform rods of 1 m and 1 kg, the upper left corner at 1 m/s along x."""
    mech, q = coupled_four_bars(n)
    mech = with_solids(mech, {b.name: (1.0, np.eye(3) / 12) for b in mech.bodies}, _DOWN)
    rates = {f"g{k}": -1.0 for k in range(n + 1)} | {f"a{k}": 1.0 for k in range(n)}
    return mech, q, {name: rate for name, rate in rates.items() if name in mech.qd_names}


def bricard() -> Mechanism:
    """IFToMM A04: five rods of 1 m and 1 kg with a square section of 0.1 m."""
    mech = mb.load(ORACLES / "bricard_A04.sdf").mechanism
    composites = {}
    for body, along in zip(mech.bodies, (0, 1, 2, 0, 1), strict=True):
        J = np.full(3, (1.0 + 0.01) / 12)
        J[along] = 0.01 / 6
        composites[body.name] = (1.0, np.diag(J))
    return with_solids(mech, composites, _DOWN)


def spatial_slider_crank() -> tuple[Mechanism, Array]:
    """Haug's slider-crank: crank about x at A, ball, rod of 0.3 m, cross, slider along x."""
    A, B, C = np.array([0, 0.1, 0.12]), np.array([0, 0.1, 0.2]), np.array([0.2, 0, 0])
    rod = (C - B) / 0.3
    middle = Pose(np.column_stack((rod, *_across(rod))), (B + C) / 2)
    bodies = {"crank": Pose(np.eye(3), A), "rod": middle, "slider": Pose(np.eye(3), C)}
    second = np.array([0.0, 2.0, -1.0]) / np.sqrt(5)
    cross = Pose(np.column_stack(([1, 0, 0], second, np.cross([1, 0, 0], second))), C)
    joints = [
        ("A", "revolute", "world", "crank", pose_at(A, (1, 0, 0))),
        ("B", "spherical", "crank", "rod", pose_at(B)),
        ("slide", "prismatic", "world", "slider", pose_at(C, (1, 0, 0))),
        ("C", "universal", "slider", "rod", cross),
    ]
    mech, q = from_world_frames("slider-crank", bodies, joints)
    composites = {
        "crank": (0.12, np.diag([1e-4, 1e-4, 1e-5])),
        "rod": (0.5, np.diag([4e-4, 4e-3, 4e-3])),
        "slider": (2.0, 1e-4 * np.eye(3)),
    }
    return with_solids(mech, composites, np.array([0, 0, -9.81])), q


def _across(u: Array) -> tuple[Array, Array]:
    v = np.cross(u, [0.0, 0.0, 1.0])
    v /= np.linalg.norm(v)
    return v, np.cross(u, v)


#: Angles of Andrews' squeezer at 0 s and 0.03 s: β, Θ, γ, Φ, δ, Ω, ε (Hairer and Wanner 1996, VII.7;
#: the second from the Test Set for IVP Solvers, release 2.4, II-7).
SQUEEZER_START = np.array(
    [
        -0.0617138900142764496,
        0.0,
        0.455279819163070380,
        0.222668390165885885,
        0.487364979543842550,
        -0.222668390165885885,
        1.23054744454982119,
    ]
)
SQUEEZER_END = np.array(
    [
        15.81077119629904,
        -15.75637105984298,
        0.04082224013073101,
        -0.5347301163226948,
        0.5244099658805304,
        0.5347301163226948,
        1.048080741042263,
    ]
)


def squeezer_turns(angles: Array) -> Array:
    """Orientation of the seven bodies from the seven angles."""
    beta, theta, gamma, phi, delta, omega, epsilon = angles
    return np.array([beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon])


def squeezer() -> tuple[Mechanism, Array, Spring]:
    """Andrews' squeezer (Schiehlen 1990, Multibody Systems Handbook): seven bodies, ten hinges, a spring."""
    a, b, c = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273]), np.array([0.014, 0.072])
    masses = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
    inertias = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
    turn = squeezer_turns(SQUEEZER_START)

    def at(origin: Array, k: int, x: float, y: float) -> Array:
        """The point (x, y) of the axes of body k + 1 put at an origin."""
        cos, sin = np.cos(turn[k]), np.sin(turn[k])
        return origin + np.array([cos * x - sin * y, sin * x + cos * y])

    o = np.zeros(2)
    crank = at(o, 0, 0.007, 0)
    middle = at(crank, 1, -0.028, 0)
    upper, lower = at(a, 4, 0.04, 0), at(a, 6, 0, -0.04)
    centres = [
        at(o, 0, 0.00092, 0),
        at(crank, 1, -0.0115, 0),
        at(b, 2, 0.01043, -0.01874),
        at(upper, 3, 0, -(0.02 - 0.01421)),
        at(a, 4, 0.02308, 0.00916),
        at(lower, 5, 0.02 - 0.01421, 0),
        at(a, 6, -0.00449, -0.01228),
    ]
    bodies = {f"K{k + 1}": Pose(np.eye(3), np.array([*p, 0.0])) for k, p in enumerate(centres)}
    places = [
        ("O", "world", "K1", o),
        ("P", "K1", "K2", crank),
        ("E3", "K2", "K3", middle),
        ("E4", "K2", "K4", middle),
        ("E6", "K2", "K6", middle),
        ("F", "K4", "K5", upper),
        ("H", "K6", "K7", lower),
        ("B", "world", "K3", b),
        ("A5", "world", "K5", a),
        ("A7", "world", "K7", a),
    ]
    joints = [(n, "revolute", i, j, pose_at(np.array([*p, 0.0]))) for n, i, j, p in places]
    mech, q = from_world_frames("squeezer", bodies, joints)
    composites = {
        f"K{k + 1}": (m, J * np.eye(3)) for k, (m, J) in enumerate(zip(masses, inertias, strict=True))
    }
    pull = at(b, 2, 0.02, -0.018) - centres[2]
    spring = Spring("world", "K3", np.array([*c, 0.0]), np.array([*pull, 0.0]), 4530.0, 0.07785)
    return with_solids(mech, composites, np.zeros(3)), q, spring
