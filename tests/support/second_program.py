"""A second program for motions with dry friction: fine time stepping, and nothing of the product in it.

A step of h seconds (symplectic Euler) takes the rates v of the freedoms to the solution v⁺ of

    M(q) (v⁺ − v) = h f(q, v) − p,    q⁺ = q + h v⁺

in which p is the impulse of all dry friction: a joint with the torque r holds with any value between −r·h
and r·h, and slides with r·h against its rate. This is the condition for the minimum over v⁺ of

    ½ v⁺ᵀ M v⁺ − (M v + h f)ᵀ v⁺ + h Σ r |rate of the joint|,

so a step is the best of a few candidates: each freedom held, or sliding one way or the other. The method
is of first order: half the step, half the error.

Everything is planar: x to the right, y upwards, angles about z. The arm follows from Lagrange's equations
with the second angle relative to the first link. The crank-rocker has one freedom, the angle θ of its
crank; the others follow from the loop a·e^{iθ} + b·e^{iφ} = d + c·e^{iψ} and its derivatives.
"""

from __future__ import annotations

from cmath import exp, phase
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import cos, sin, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = Sequence[float]
Array = NDArray[np.float64]
#: M (n, n), f (n,) and the rates of all joints for unit rates of the freedoms (joints, n).
Equations = tuple[list[list[float]], list[float], list[list[float]]]


@dataclass(frozen=True)
class Resistance:
    """Dry friction or a brake of one joint: N·m while it slides and at most at rest, from a time on (s)."""

    joint: int
    sliding: float
    static: float | None = None
    closes: float = 0.0


@dataclass(frozen=True, eq=False)
class Motion:
    """Freedoms, their rates and the work of each resistance at equal intervals, the start included.

    Parameters
    ----------
    time : (s,) array
        s.
    q, v : (s, n) array
        rad, rad/s.
    work : (s, resistances) array
        J, what each resistance has dissipated since the start.
    """

    time: Array
    q: Array
    v: Array
    work: Array


class System(Protocol):
    """What is moved: one or two freedoms, and joints whose rates are multiples of theirs."""

    def equations(self, q: Vector, v: Vector) -> Equations:
        """Return inertia, forces without friction and M·a, and ratios of the joints."""


@dataclass(frozen=True)
class Arm:
    """Two links whose joints turn about z.

    Parameters
    ----------
    length : float
        From the first joint to the second, m.
    mass, centre, inertia : tuple of 2 floats
        kg; joint to centre of mass along the link, m; about the centre of mass, kg·m².
    gravity : tuple of 2 floats
        m/s².
    """

    length: float
    mass: tuple[float, float]
    centre: tuple[float, float]
    inertia: tuple[float, float]
    gravity: tuple[float, float]

    def equations(self, q: Vector, v: Vector) -> Equations:
        """Return the terms of Lagrange's equations; both joints are freedoms."""
        (m1, m2), (l1, l2), (J1, J2), (gx, gy) = self.mass, self.centre, self.inertia, self.gravity
        L, c, s = self.length, cos(q[1]), sin(q[1])
        both = J1 + m1 * l1**2 + J2 + m2 * (L**2 + l2**2 + 2 * L * l2 * c)
        cross, outer = J2 + m2 * (l2**2 + L * l2 * c), J2 + m2 * l2**2
        reach = q[0] + q[1]
        outer_weight = m2 * l2 * (gy * cos(reach) - gx * sin(reach))
        weight = (m1 * l1 + m2 * L) * (gy * cos(q[0]) - gx * sin(q[0])) + outer_weight
        k = m2 * L * l2 * s
        force = [k * (2 * v[0] * v[1] + v[1] ** 2) + weight, -k * v[0] ** 2 + outer_weight]
        return [[both, cross], [cross, outer]], force, [[1.0, 0.0], [0.0, 1.0]]


@dataclass(frozen=True)
class CrankRocker:
    """A four-bar that is moved by its crank; its joints: crank, rocker, crank–coupler, coupler–rocker.

    Parameters
    ----------
    lengths : tuple of 4 floats
        Crank a, coupler b, rocker c, and ground d along x, m.
    mass, centre, inertia : tuple of 3 floats
        Of crank, coupler and rocker: kg; along the bar from the ground or the crank, m; about the centre
        of mass, kg·m².
    gravity : tuple of 2 floats
        m/s².
    """

    lengths: tuple[float, float, float, float] = (0.2, 0.6, 0.5, 0.6)
    mass: tuple[float, float, float] = (5.0, 0.5, 0.5)
    centre: tuple[float, float, float] = (0.0, 0.3, 0.25)
    inertia: tuple[float, float, float] = (0.5, 0.01, 0.01)
    gravity: tuple[float, float] = (0.0, 0.0)

    def angles(self, crank: float) -> tuple[float, float]:
        """Return the angles of coupler and rocker with x, the rocker's end above the diagonal."""
        a, b, c, d = self.lengths
        diagonal = d - a * exp(1j * crank)
        length = abs(diagonal)
        along = (b**2 - c**2 + length**2) / (2 * length)
        coupler = complex(along, sqrt(b**2 - along**2)) * diagonal / length
        return phase(coupler), phase(coupler - diagonal)

    def slopes(self, crank: float) -> tuple[float, float, float, float]:
        """Return φ′, ψ′, φ″ and ψ″, the derivatives of both angles over the crank's."""
        a, b, c, _ = self.lengths
        phi, psi = self.angles(crank)
        s = sin(phi - psi)
        d_phi, d_psi = a * sin(psi - crank) / (b * s), a * sin(phi - crank) / (c * s)
        bars = a * exp(1j * crank) + b * d_phi**2 * exp(1j * phi) - c * d_psi**2 * exp(1j * psi)
        dd_phi = -(bars * exp(-1j * psi)).real / (b * s)
        dd_psi = -(bars * exp(-1j * phi)).real / (c * s)
        return d_phi, d_psi, dd_phi, dd_psi

    def equations(self, q: Vector, v: Vector) -> Equations:
        """Return the reduced inertia, −½ J′ ω² with the weights, and the transmission ratios."""
        a, crank = self.lengths[0], q[0]
        (m1, m2, m3), (l1, l2, l3), (J1, J2, J3) = self.mass, self.centre, self.inertia
        phi, psi = self.angles(crank)
        d_phi, d_psi, dd_phi, dd_psi = self.slopes(crank)
        c, s = cos(crank - phi), sin(crank - phi)
        fast = a**2 + (l2 * d_phi) ** 2 + 2 * a * l2 * d_phi * c
        faster = 2 * l2**2 * d_phi * dd_phi + 2 * a * l2 * (dd_phi * c - d_phi * s * (1 - d_phi))
        rocker = J3 + m3 * l3**2
        inertia = J1 + m1 * l1**2 + m2 * fast + J2 * d_phi**2 + rocker * d_psi**2
        change = m2 * faster + 2 * J2 * d_phi * dd_phi + 2 * rocker * d_psi * dd_psi
        bars = (m1 * l1 + m2 * a) * exp(1j * crank) + m2 * l2 * d_phi * exp(1j * phi)
        bars += m3 * l3 * d_psi * exp(1j * psi)
        weight = (complex(*self.gravity).conjugate() * 1j * bars).real
        ratios = [[1.0], [d_psi], [d_phi - 1.0], [d_psi - d_phi]]
        return [[inertia]], [weight - 0.5 * change * v[0] ** 2], ratios


def move(
    system: System,
    q: Vector,
    v: Vector,
    resistances: Sequence[Resistance],
    duration: float,
    *,
    samples: int,
    refinement: int,
) -> Motion:
    """Return a motion in steps of duration / (samples · refinement).

    Brakes close at a multiple of duration / samples, or act within the step before.
    """
    steps = samples * refinement
    h = duration / steps
    q, v, work = list(q), list(v), [0.0] * len(resistances)
    kept = [(0.0, *q, *v, *work)]
    for k in range(steps):
        time = k * h
        M, f, W = system.equations(q, v)
        torques = [_torque(one, W[one.joint], v, time + 0.5 * h) for one in resistances]
        r = [
            h * sum(t * abs(W[one.joint][i]) for t, one in _pairs(torques, resistances))
            for i in range(len(q))
        ]
        b = [sum(m * x for m, x in zip(row, v, strict=True)) + h * y for row, y in zip(M, f, strict=True)]
        v = _slowed(M, b, r)
        q = [x + h * y for x, y in zip(q, v, strict=True)]
        for n, (torque, one) in enumerate(_pairs(torques, resistances)):
            work[n] += h * torque * abs(_rate(W[one.joint], v))
        if (k + 1) % refinement == 0:
            kept.append((time + h, *q, *v, *work))
    table, n = np.array(kept), len(q)
    return Motion(table[:, 0], table[:, 1 : n + 1], table[:, n + 1 : 2 * n + 1], table[:, 2 * n + 1 :])


def _pairs(torques: Sequence[float], resistances: Sequence[Resistance]) -> Iterator[tuple[float, Resistance]]:
    return zip(torques, resistances, strict=True)


def _rate(ratio: Vector, v: Vector) -> float:
    return sum(w * x for w, x in zip(ratio, v, strict=True))


def _torque(one: Resistance, ratio: Vector, v: Vector, time: float) -> float:
    """Return the most that a resistance does in a step; the static part only where the joint rests."""
    if time < one.closes:
        return 0.0
    rests = one.static is not None and not any(w and x for w, x in zip(ratio, v, strict=True))
    return one.static if rests and one.static is not None else one.sliding


def _slowed(M: list[list[float]], b: list[float], r: list[float]) -> list[float]:
    """Return the v that minimises ½ vᵀ M v − bᵀ v + Σ r |v| of one freedom or two."""
    if len(b) == 1:
        return [max(abs(b[0]) - r[0], 0.0) * (1.0 if b[0] > 0 else -1.0) / M[0][0]]
    (m11, m12), (_, m22) = M
    found, least = [0.0, 0.0], 0.0
    for x, y in _candidates(m11, m12, m22, b, r):
        value = 0.5 * (m11 * x * x + m22 * y * y) + m12 * x * y - b[0] * x - b[1] * y
        value += r[0] * abs(x) + r[1] * abs(y)
        if value < least:
            found, least = [x, y], value
    return found


def _candidates(m11: float, m12: float, m22: float, b: Vector, r: Vector) -> Iterator[tuple[float, float]]:
    """Yield the rates that each sense of sliding gives, one freedom held or none."""
    det = m11 * m22 - m12**2
    for s in (-1.0, 1.0):
        x, y = b[0] - s * r[0], b[1] - s * r[1]
        yield x / m11, 0.0
        yield 0.0, y / m22
        for t in (-1.0, 1.0):
            z = b[1] - t * r[1]
            yield (m22 * x - m12 * z) / det, (m11 * z - m12 * x) / det
