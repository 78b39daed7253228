"""Solutions of the problems from closed forms and equations written by hand: nothing here imports mbplugin.

All arrays and numbers are in SI units. Integrals are those of scipy's DOP853 or Radau, or of Gauss-Kronrod quadrature.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipj, ellipk

Array = np.ndarray[Any, np.dtype[Any]]
#: Mass, moments about the centre of mass in own axes, orientation (3, 3) and centre of mass (3,) of a body.
Placed = tuple[float, Sequence[float], Array, Array]
G = 9.81


def swinging(times: Array, length: float) -> Array:
    """Angle of a pendulum from hanging, (T,), that is released level at -90 degrees."""
    k = 0.5
    sn, _, _, _ = ellipj(ellipk(k) - np.sqrt(G / length) * times, k)
    return -2 * np.arcsin(np.sqrt(k) * sn)


def turning(times: Array, stiffness: float, rate: float) -> Array:
    """Angle from upright, (T,), of a pendulum with φ̈ = stiffness sin φ that passes the top at a rate and turns over."""
    fastest = np.sqrt(rate**2 + 4 * stiffness)
    m = 4 * stiffness / fastest**2
    return 2 * ellipj(ellipk(m) + 0.5 * fastest * times, m)[3] - np.pi


def accurate(
    rates: Callable[[float, Array], Any], start: Sequence[float], end: float, **options: Any
) -> Array:
    """State at the end of an initial value problem, by DOP853 at 1e-13 unless told otherwise."""
    settings = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-14} | options
    return np.array(solve_ivp(rates, (0.0, end), start, **settings).y[:, -1])


def turn(axis: int, angle: Any) -> Array:
    """Rotation (3, 3) about the axis 0, 1 or 2; the angle may be complex."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3, dtype=np.result_type(angle, float))
    R[i, i] = R[j, j] = np.cos(angle)
    R[j, i] = np.sin(angle)
    R[i, j] = -R[j, i]
    return R


def inertia_and_weight(
    bodies: Callable[[Any], list[Placed]], x: float, gravity: Array
) -> tuple[float, float]:
    """Return the inertia m(x) and potential V(x) of a mechanism with one freedom, from its placed bodies."""
    h = 1e-30
    inertia = potential = 0.0
    for mass, moments, R, p in bodies(x + 1j * h):
        v, S = p.imag / h, (R.imag / h) @ R.real.T
        w = R.real.T @ np.array([S[2, 1], S[0, 2], S[1, 0]])
        inertia += mass * v @ v + np.dot(moments, w * w)
        potential -= mass * gravity @ p.real
    return float(inertia), float(potential)


def one_freedom(
    bodies: Callable[[Any], list[Placed]],
    gravity: Array,
    start: float,
    end: float,
    forces: Callable[[float], float] = lambda x: 0.0,
) -> Array:
    """Coordinate and rate (2,) at the end of a motion from rest: m ẍ + m' ẋ²/2 + V' = 0; forces add to V."""
    h, weights = 2e-3, np.array([-1, 9, -45, 0, 45, -9, 1]) / 60

    def at(x: float) -> tuple[float, float]:
        m, V = inertia_and_weight(bodies, x, gravity)
        return m, V + forces(x)

    def rates(_: float, y: Array) -> list[float]:
        near = np.array([at(y[0] + k * h) for k in range(-3, 4)])
        slope = weights @ near / h
        return [y[1], -(0.5 * slope[0] * y[1] ** 2 + slope[1]) / near[3, 0]]

    return accurate(rates, [start, 0.0], end, rtol=1e-12, atol=1e-13)


def travel(bodies: Callable[[Any], list[Placed]], gravity: Array, rate: float, end: float) -> float:
    """Time in which the coordinate goes from 0 to an end without stopping: the integral of dx/ẋ by conserved energy."""
    m, V = inertia_and_weight(bodies, 0.0, gravity)
    energy = 0.5 * m * rate**2 + V

    def slowness(x: float) -> float:
        m, V = inertia_and_weight(bodies, x, gravity)
        return float(np.sqrt(0.5 * m / (energy - V)))

    return integral(slowness, 0.0, end, 0.5)


def integral(f: Callable[[float], float], start: float, end: float, piece: float) -> float:
    """Integral of a function by Gauss-Kronrod quadrature, piece by piece."""
    ends = np.linspace(start, end, 2 + int((end - start) / piece))
    return float(sum(quad(f, a, b, epsabs=0, epsrel=1e-13)[0] for a, b in pairwise(ends)))


def squeezer(beta: Any) -> list[Placed]:
    """The seven bodies of Andrews' squeezer at an angle of its crank, from the triangles of its points."""
    A, B = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273])
    F = 0.007 * np.array([np.cos(beta), np.sin(beta)])

    def third(p: Array, q: Array, to_p: float, to_q: float, side: float) -> Array:
        """Point of a triangle over p and q, left of the way from p to q for side 1."""
        way = q - p
        square = way @ way
        along = 0.5 * (to_p**2 - to_q**2 + square)
        height = side * np.sqrt(to_p**2 * square - along**2)
        return p + (along * way + height * np.array([-way[1], way[0]])) / square

    E = third(F, B, 0.028, 0.035, 1.0)
    upper, lower = third(A, E, 0.04, 0.02, 1.0), third(A, E, 0.04, 0.02, -1.0)
    out = []
    # mass, moment, centre (x, y) in axes whose x goes along a direction, from an origin
    for mass, J, (x, y), origin, along in (
        (0.04325, 2.194e-6, (0.00092, 0), 0 * F, F / 0.007),
        (0.00365, 4.410e-7, (-0.0115, 0), F, (F - E) / 0.028),
        (0.02373, 5.255e-6, (-0.01043, 0.01874), B, (B - E) @ [[0, 1], [-1, 0]] / 0.035),
        (0.00706, 5.667e-7, (0.01421, 0), E, (upper - E) / 0.02),
        (0.07050, 1.169e-5, (0.02308, 0.00916), A, (upper - A) / 0.04),
        (0.00706, 5.667e-7, (0.01421, 0), E, (lower - E) / 0.02),
        (0.05498, 1.912e-5, (0.01228, -0.00449), A, (lower - A) / 0.04),
    ):
        across = np.array([-along[1], along[0]])
        R = np.zeros((3, 3), dtype=along.dtype)
        R[:2, 0], R[:2, 1], R[2, 2] = along, across, 1
        p = np.append(origin + x * along + y * across, 0)
        out.append((mass, (0.0, 0.0, J), R, p))
    return out


def squeezer_crank(start: float, end: float) -> float:
    """Angle of the crank of Andrews' squeezer at a time, from rest, with its spring and its motor."""

    def forces(beta: float) -> float:
        _, _, R, p = squeezer(beta)[2]
        eye = p + R @ [0.01043 - 0.02, 0.018 - 0.01874, 0]
        stretch = np.hypot(eye[0] - 0.014, eye[1] - 0.072) - 0.07785
        return float(0.5 * 4530 * stretch**2 - 0.033 * beta)

    return float(one_freedom(squeezer, np.zeros(3), start, end, forces)[0])


def bricard_joints(x: Any) -> tuple[Any, Any]:
    """Turns of the odd and of the even hinges of Bricard's mechanism from the cube, (1 + sin p)(1 + sin q) = 1."""
    sum_, gap = np.arcsin(np.sin(x) / np.sqrt(2)), np.arcsin(np.cos(x) / np.sqrt(2))
    return np.pi / 2 - 2 * (sum_ + gap), np.pi / 2 + 2 * (sum_ - gap)


def bricard(x: Any) -> list[Placed]:
    """Rods of Bricard's mechanism (IFToMM A04); x = 0 is the cube."""
    turns, along = bricard_joints(x), [(0, 1.0), (1, -1.0), (2, 1.0), (0, -1.0), (1, 1.0)]
    R, p, out = np.eye(3), np.zeros(3), []
    for k, (axis, sign) in enumerate(along):
        R = R @ turn((1, 2, 0)[k % 3], turns[k % 2])
        step = R[:, axis] * sign
        moments = np.full(3, 1.01 / 12)
        moments[axis] = 0.01 / 6
        out.append((1.0, moments, R, p + 0.5 * step))
        p = p + step
    return out


def slider_crank(x: Any) -> list[Placed]:
    """Crank, rod and slider of the spatial slider-crank (Haug); x is the crank's angle."""
    A, R = np.array([0.0, 0.1, 0.12]), turn(0, x)
    B = A + 0.08 * R[:, 2]
    C = np.array([B[0] + np.sqrt(0.09 - B[1] ** 2 - B[2] ** 2), 0.0, 0.0])
    along = (C - B) / 0.3
    # the cross: an axis of the rod stays across the slider's x and across the rod
    across = np.array([0.0, -along[2], along[1]]) / np.sqrt(along[1] ** 2 + along[2] ** 2)
    rod = np.column_stack((along, across, np.cross(along, across)))
    slider = (2.0, (1e-4, 1e-4, 1e-4), np.eye(3), C)
    return [
        (0.12, (1e-4, 1e-4, 1e-5), R, A + 0.04 * R[:, 2]),
        (0.5, (4e-4, 4e-3, 4e-3), rod, (B + C) / 2),
        slider,
    ]


def governor(end: float) -> Array:
    """Rod angle, slider height and their rates of the flyball governor (IFToMM A05) at a time."""
    J = 0.0250025 + 0.3 / 4 + 5.0

    def spin_inertia(a: float) -> tuple[float, float]:
        c, s = np.cos(a), np.sin(a)
        rod = 0.0250025 * c**2 + 5e-6 * s**2 + 0.3 * (0.05 + 0.5 * c) ** 2 + 5 * (0.05 + c) ** 2
        slope = -2 * c * s * (0.0250025 - 5e-6) - 0.3 * (0.05 + 0.5 * c) * s - 10 * (0.05 + c) * s
        return 5e-6 + 0.005 + 2 * rod, 2 * slope

    momentum = 2 * np.pi * spin_inertia(np.pi / 6)[0]

    def rates(_: float, y: Array) -> list[float]:
        a, s, va, vs = y
        along = np.array([0.5 * np.cos(a), 1 - 0.5 * np.sin(a) - s])
        by_a, by_s = np.array([-0.5 * np.sin(a), -0.5 * np.cos(a)]), np.array([0.0, -1.0])
        length = np.sqrt(along @ along)
        unit = along / length
        force = 8e5 * (length - 0.5) + 4e4 * (unit @ (by_a * va + by_s * vs))
        Iz, slope = spin_inertia(a)
        spin = momentum / Iz
        fall = (0.5 * slope * spin**2 + 2 * G * 5.15 * np.cos(a) - 2 * force * (unit @ by_a)) / (2 * J)
        return [va, vs, fall, (-3 * G - 2 * force * (unit @ by_s)) / 3]

    return accurate(rates, [np.pi / 6, 0.5, 0.0, 0.0], end, method="Radau", rtol=1e-11, atol=1e-12)


def disc(mass: float, radius: float, lean: float, spin: float, end: float) -> Array:
    """Normal, angular velocity and centre (9,) of a thin disc that rolls on a plane."""
    A, C, up = 0.25 * mass * radius**2, 0.5 * mass * radius**2, np.array([0.0, 0.0, 1.0])

    def rates(_: float, y: Array) -> Array:
        n, w = y[:3], y[3:6]
        level = up - n[2] * n
        size = np.sqrt(level @ level)
        arm, turning = radius * level / size, np.cross(w, n)
        change = -(turning[2] * n + n[2] * turning)
        arm_rate = radius * (change - level * (level @ change) / size**2) / size
        a = np.cross(w, arm_rate)
        # Ḣ at the centre + m arm × (ẇ × arm + a + g up) = 0
        own = A * np.eye(3) + (C - A) * np.outer(n, n)
        whole = own + mass * ((arm @ arm) * np.eye(3) - np.outer(arm, arm))
        rest = (C - A) * (n @ w) * turning + mass * np.cross(arm, a + G * up)
        return np.concatenate((turning, np.linalg.solve(whole, -rest), np.cross(w, arm)))

    n = np.array([0.0, np.cos(lean), np.sin(lean)])
    height = radius * np.cos(lean)
    return accurate(rates, [*n, *(spin * n), 0.0, 0.0, height], end)


def top(end: float) -> Array:
    """Quaternion xyzw of the heavy top of Bruels, Cardona and Arnold by Euler's equations in its own axes."""
    J = np.array([0.234375 + 15, 0.46875, 0.234375 + 15])

    def rates(_: float, y: Array) -> Array:
        (x, v, z, s), w = y[:4], y[4:]
        down = -np.array([2 * (x * z - v * s), 2 * (v * z + x * s), 1 - 2 * (x * x + v * v)])
        moment = np.cross([0.0, 1.0, 0.0], 15 * G * down)
        turning = 0.5 * np.concatenate((s * w + np.cross(y[:3], w), [-y[:3] @ w]))
        return np.concatenate((turning, (moment - np.cross(w, J * w)) / J))

    return accurate(rates, [0, 0, 0, 1, 0, 150, -4.61538], end)[:4]


def sliding_top(tilt_rate: float, spin: float, tilt: float, end: float) -> Array:
    """Tilt, precession, spin and tilt rate (4,) of a symmetric top on a smooth plane, by its conserved momenta."""
    A, C, weight = 0.234375, 0.46875, 15 * G
    own = C * spin
    about = own * np.cos(tilt)

    def rates(_: float, y: Array) -> list[float]:
        s, c = np.sin(y[0]), np.cos(y[0])
        precession = (about - own * c) / (A * s**2)
        force = A * precession**2 * s * c - own * precession * s + weight * s - 15 * s * c * y[3] ** 2
        return [y[3], precession, own / C - precession * c, force / (A + 15 * s**2)]

    return accurate(rates, [tilt, 0.0, 0.0, tilt_rate], end)


def tumbling(times: Array, moments: Sequence[float], first: float, third: float) -> Array:
    """Angular velocity (T, 3) of a free body in its own axes, from (first, 0, third), by Jacobi's functions."""
    A, B, C = moments
    twice, square = A * first**2 + C * third**2, (A * first) ** 2 + (C * third) ** 2
    pace = np.sqrt((C - B) * (square - twice * A) / (A * B * C))
    m = (B - A) * (twice * C - square) / ((C - B) * (square - twice * A))
    sn, cn, dn, _ = ellipj(pace * times, m)
    second = np.sqrt((twice * C - square) / (B * (C - B)))
    return np.column_stack((first * cn, second * sn, third * dn))


def sleigh(
    mass: float, inertia: float, arm: float, speed: float, rate: float, end: float
) -> tuple[float, float]:
    """Speed along the blade and turning rate of Chaplygin's sleigh."""
    ratio = np.sqrt((inertia + mass * arm**2) / mass)
    whole = np.hypot(speed, ratio * rate)
    start = np.arctanh(speed / whole)
    later = start + whole * arm / ratio**2 * end
    return float(whole * np.tanh(later)), float(whole / ratio / np.cosh(later) * np.sign(rate))


def stick_slip(stick: float, slip: float, belt: float) -> float:
    """Period of a block of 1 kg at a spring of 1 N/m on a moving belt."""
    return float(2 * (stick - slip) / belt + 2 * (np.pi - np.arctan((stick - slip) / belt)))


def schatz_gap(turns: Array) -> float:
    """How far the last hinge of Schatz's loop is from where it belongs, m and rad, at the turns of the other five."""
    R, p = np.eye(3), np.zeros(3)
    for angle, length in zip(turns, (0.0, 1.0, 1.0, 1.0, 0.0), strict=True):
        R = R @ turn(2, angle)
        p = p + length * R[:, 0]
        R = R @ turn(0, np.pi / 2)
    return float(max(np.abs(p + np.array([np.sqrt(3), 0, 0])).max(), np.abs(R[:2, 2]).max()))


def parallelogram(angle: float, rate: float) -> dict[str, Array]:
    """Forces (2,), along x and z, N, on the later body of the hinges that do not turn with a crank.

    Three cuboids of 1 m and 50 kg in a unit square, the cranks turned from upright by an angle and turning at a rate.
    """
    m, s, c = 50.0, np.sin(angle), np.cos(angle)
    about = m * 1.01 / 12 + m / 4
    acceleration = 2 * m * G * s / (2 * about + m)
    middle = np.array([acceleration * c - rate**2 * s, -acceleration * s - rate**2 * c])
    up = np.array([0.0, G])
    # the coupler does not turn, and equal cranks take equal shares along it
    share = 0.5 * m * (middle + up)
    foot = m * (0.5 * middle + up) + share
    return {"A": foot, "C": -share, "D": foot}


def diagonal_spring() -> tuple[float, float]:
    """Crank angle from the level and natural frequency, rad/s, of a rhombus of 1 kg rods with a spring at rest."""

    def derivatives(x: float) -> tuple[float, float]:
        # V = 2 g sin x + 25 (d - sqrt 2)^2 / 2 with d = 2 cos(x / 2), the diagonal
        d, slope = 2 * np.cos(x / 2), -np.sin(x / 2)
        stretch = d - np.sqrt(2)
        return 2 * G * np.cos(x) + 25 * stretch * slope, -2 * G * np.sin(x) + 25 * (
            slope**2 - stretch * d / 4
        )

    x = brentq(lambda x: derivatives(x)[0], 2.0, 2.4, xtol=1e-15, rtol=1e-15)
    return float(x), float(np.sqrt(derivatives(x)[1] / (2 / 3 + 1)))


def damped_slider_crank(end: float) -> Array:
    """Crank angle, its rate and the integral of the kinetic energy (3,) of the slider-crank of SUNDIALS at a time."""

    def rates(_: float, y: Array) -> list[float]:
        q, v, _energy = y
        s, c = 0.5 * np.sin(q), 0.5 * np.cos(q)
        cosine = np.sqrt(1 - s**2)
        # sin p = -s: slopes of the rod's angle p and of the slider x by q, and their slopes
        p1, x1 = -c / cosine, -s - s * c / cosine
        p2 = s / cosine - s * c**2 / cosine**3
        x2 = -c + (s**2 - c**2) / cosine - s**2 * c**2 / cosine**3
        x, sine = cosine + c, -s
        square = x**2 - x * (cosine + c) + (1 + 0.25) / 4 + (cosine * c + sine * s) / 2
        by_q = 2 * x * x1 - x1 * (cosine + c) - x * (-sine * p1 - s) + (p1 - 1) * (s * cosine - c * sine) / 2
        length = np.sqrt(square)
        slope = by_q / (2 * length)
        force = -(length - 1 + slope * v) * slope + x1 - sine * p1
        inertia, change = 1 + x1**2 + 2 * p1**2, 2 * x1 * x2 + 4 * p1 * p2
        return [v, (force - 0.5 * change * v**2) / inertia, 0.5 * inertia * v**2]

    return accurate(rates, [np.pi / 2, 0.0, 0.0], end)


def coulomb_response(ratio: float, friction: float) -> tuple[float, float]:
    """Amplitude and phase of an oscillator with dry friction under P cos(ωt + φ), at its greatest at t = 0.

    Den Hartog (1930): no standstill. Amplitude in P/k; ratio ω/ωₙ, friction F/P.
    """
    turns = np.pi / ratio
    V, H = 1 / (1 - ratio**2), np.sin(turns) / (ratio * (1 + np.cos(turns)))
    amplitude = np.sqrt(V**2 - (friction * H) ** 2)
    return float(amplitude), float(np.arctan2(-friction * H / V, amplitude / V))
