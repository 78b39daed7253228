"""Steps of a stop in which one joint is damped so strongly that its rate decays within a step.

The damping of a light joint, of time constant τ, limits explicit steps to 3.3 τ by stability, and the decay of its rate
after each switch limits them to a fraction of τ by accuracy, although nothing else moves that fast. Here this decay is
part of the method. With the column c of the derivatives of all accelerations by the rate of that joint, j, taken at the
start of a stretch, the equations of motion are

    q̈ = c (q̇ⱼ − q̇ⱼ(0)) + N(q, q̇),    λ = cⱼ = −1/τ,

and N varies as slowly as the motion of the other joints. An exponential Runge–Kutta method (Hochbruck and Ostermann,
Acta Numerica 2010) solves the linear part exactly: the weights of N are functions of z = h λ. As the linear part has
rank one, each weight g(z) acts as g(0) on all rates, and as (g(z) − g(0))/λ along c: a stage is that of the method of
Dormand and Prince plus a multiple of c, for which only N of joint j has to be known.

The weights become those of Dormand and Prince at z = 0. They integrate as many powers of time exactly against the
exponential function as those do against 1, which for stages are one, two and three powers, and five for the step. Its
error estimate is applied to N instead of q̈. Rates and coordinates have weights of their own, with the φ functions of
their order.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, sqrt
from typing import Any

import numpy as np

from mbplugin.dynamics.compiler import Records, kernel, record_array
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.events import clear_candidates, mark_overloaded
from mbplugin.simulation.integrators.explicit_loop import (
    LEAST,
    MOST,
    SAFETY,
    SHORTEST,
    growth,
    put,
    put_row,
    quintic,
    take_accelerations,
)
from mbplugin.simulation.integrators.methods.dopri5 import INTEGRATOR
from mbplugin.simulation.kernel_state import FORWARD_DYNAMICS, TOO_SMALL, Evaluate, load_struct

#: A joint is treated as stiff in a stretch which is longer than this, in units of its time constant, and so is the time
#: ``_SPAN``, s, as steps are rarely longer.
_STIFF, _SPAN = 0.25, 0.02
#: Relative tolerance below which steps are short beside the decay in any case.
_TIGHT = 1e-9
#: Largest damping of all other joints, per inertia, as a share of that of the stiff joint.
_APART = 0.15
#: Longest step, in units of the time constant: beyond it the motion is no polynomial of degree 12.
LONGEST = 2.5
#: Longest part of a step, in units of the time constant, that is stored as one quintic; and the least step with such
#: a motion that more than a quintic is needed to search it for events.
_PART, _CURVED = 1.5, 0.5
#: Factor on the estimated error of a step with a stiff joint: the estimate holds for motions that are slow beside the
#: decay, and misses part of the error where another joint decays, or where the inertias change, within a few steps.
WARY = 10.0
#: Largest number of parts of a step, and number of powers in the polynomials of its motion.
PARTS, POWERS = 4, 13
#: Number of stages with the end of the step, and largest number of powers of time that a row integrates exactly.
_STAGES, _EXACT = 7, 5
#: Number of powers of time that each row of Dormand and Prince's tableau integrates exactly; the last is the step.
_ROWS = (0, 1, 2, 3, 3, 3, 5)
#: Number of points at which the motion within a step is fitted.
_FITTED = 7
#: The step of a stop with a stiff joint. ``joint`` is its rate, −1 without one; ``decay`` is λ, 1/s, and ``start`` its
#: acceleration at the start of the step. Of each stage: ``change`` of the rate of the joint since then, ``rest`` the
#: change of N of the joint, and ``shift`` the multiple of c in its rates. ``weights`` and ``double`` are those of N in
#: rates and coordinates less those at z = 0, ``linear`` the two for q̈ at the start, and ``damped`` that of the error.
#: ``last_error`` and ``last_step`` are those of the step before, 0 without one. ``curved`` is workspace.
STIFF = np.dtype(
    [
        ("joint", np.int64),
        *((name, np.float64) for name in ("decay", "start", "damped", "last_error", "last_step")),
        *((name, np.float64, (_STAGES,)) for name in ("change", "rest", "shift")),
        *((name, np.float64, (_STAGES, _STAGES)) for name in ("weights", "double")),
        ("linear", np.float64, (_STAGES, 2)),
        ("curved", np.float64, (_FITTED,)),
    ],
    align=True,
)
#: Constants of the method: ``A`` and its square ``squared``, nodes ``c``, ``errors``, and ``fit``, which turns changes
#: of the integrals of 1, θ, θ², … over the time of a stage into the smallest changes of its weights that follow them;
#: ``curve`` turns values at the fractions ``nodes`` of a step into the coefficients of a polynomial through them.
CONSTANTS = np.dtype(
    [
        *((name, np.float64, (_STAGES, _STAGES)) for name in ("A", "squared")),
        *((name, np.float64, (_STAGES,)) for name in ("c", "errors")),
        ("fit", np.float64, (_STAGES, _STAGES, _EXACT)),
        ("nodes", np.float64, (_FITTED,)),
        ("curve", np.float64, (_FITTED, _FITTED)),
    ],
    align=True,
)
STIFF_RECORDS: Any = record_array(STIFF)
CONSTANT_RECORDS: Any = record_array(CONSTANTS)


@lru_cache(maxsize=1)
def constants() -> AnyArray:
    """Return the constants (1,) of the method."""
    out, tableau = np.zeros(1, CONSTANTS), INTEGRATOR.tableau.coefficients
    one = out[0]
    one["A"], one["squared"] = tableau.A, tableau.A @ tableau.A
    one["c"], one["errors"] = tableau.c, tableau.errors[0]
    for i in range(1, _STAGES):
        # the second stage has no weight in the step
        own = [j for j in range(i) if j != 1 or i < _STAGES - 1]
        powers = np.vander(tableau.c[own], _ROWS[i], increasing=True)
        one["fit"][i, own, : _ROWS[i]] = np.linalg.pinv(powers.T)
    one["nodes"] = 0.5 + 0.5 * np.polynomial.chebyshev.chebpts1(_FITTED)
    one["curve"] = np.linalg.inv(np.vander(one["nodes"], increasing=True))
    return out


@kernel
def stiffest(s: Records, span: float, rtol: float) -> int:
    """Return the rate of the joint among s (n,) that is stiff in a stretch of length ``span``, s; −1 if none is.

    None is, if another joint decays almost as fast: its decay is no part of the method, and the estimate of the error
    would miss it; nor with a tolerance ``rtol`` at which accuracy limits the steps. Driven joints, and those that
    brakes hold, do not decay: they are not ``damped``.
    """
    if rtol < _TIGHT:
        return -1
    most, next_most, found = 0.0, 0.0, -1
    for n in range(len(s)):
        if s[n].damped > most:
            most, next_most, found = s[n].damped, most, s[n].rate
        else:
            next_most = max(next_most, s[n].damped)
    return found if most > _STIFF / min(span, _SPAN) and next_most < _APART * most else -1


@kernel
def difference(rate: float) -> float:
    """Return the change of a rate by which accelerations are differentiated, rad/s and m/s."""
    return 1e-4 * (1.0 + abs(rate))


@kernel
def set_decay(one: Records, joint: int, column: Array) -> None:
    """Store the stiff joint and its decay, from ``column`` (nv,); none if its rate grows.

    The force of a short-circuited motor falls with the rate where that is high: viscous damping does not tell it.
    """
    one.decay = column[joint]
    one.joint = joint if one.decay < 0.0 else -1


@kernel
def longest_step(one: Records) -> float:
    """Return the longest step with a stiff joint, s."""
    return float(-LONGEST / one.decay)


@kernel
def begin_stiff_step(one: Records, acceleration: float) -> None:
    """Begin a step at the given acceleration of the stiff joint."""
    one.start = acceleration
    one.change[0] = one.rest[0] = one.shift[0] = 0.0


@kernel
def weigh(one: Records, fixed: Records, h: float) -> None:
    """Fill the weights of a step of length h, s: integrals over a stage are k! c^(k+1) φ_(k+1)(c z) for θ^k."""
    z = h * one.decay
    for i in range(1, _STAGES):
        c = fixed.c[i]
        x = c * z
        phi2, phi3, phi4, phi5, phi6, phi7 = _phi(x)
        # less those at z = 0: x times the next one
        d0, d1, d2 = c * x * phi2, c * c * x * phi3, 2.0 * c * c * c * x * phi4
        c4 = c * c * c * c
        d3, d4 = 6.0 * c4 * x * phi5, 24.0 * c4 * c * x * phi6
        one.linear[i, 0], one.linear[i, 1] = d0, c * c * x * phi3
        e0, e1, e2 = c * c * x * phi3, c * c * c * x * phi4, 2.0 * c4 * x * phi5
        e3, e4 = 6.0 * c4 * c * x * phi6, 24.0 * c4 * c * c * x * phi7
        for j in range(i):
            fit = fixed.fit[i, j]
            one.weights[i, j] = fit[0] * d0 + fit[1] * d1 + fit[2] * d2 + fit[3] * d3 + fit[4] * d4
            one.double[i, j] = fit[0] * e0 + fit[1] * e1 + fit[2] * e2 + fit[3] * e3 + fit[4] * e4
        one.damped = d0


@kernel
def _phi(x: float) -> tuple[float, float, float, float, float, float]:
    """Return φ₂ … φ₇ of x: φₖ(x) = x φₖ₊₁(x) + 1/k!, φ₀(x) = eˣ."""
    if abs(x) < 1.0:
        # the series of φ₇, and the others from it, without cancellation
        y = 1.0 + x * (1 / 16) * (1.0 + x * (1 / 17) * (1.0 + x * (1 / 18) * (1.0 + x * (1 / 19))))
        y = 1.0 + x * (1 / 12) * (1.0 + x * (1 / 13) * (1.0 + x * (1 / 14) * (1.0 + x * (1 / 15) * y)))
        y = 1.0 + x * (1 / 8) * (1.0 + x * (1 / 9) * (1.0 + x * (1 / 10) * (1.0 + x * (1 / 11) * y)))
        phi7 = y * (1 / 5040)
        phi6 = x * phi7 + 1 / 720
        phi5 = x * phi6 + 1 / 120
        phi4 = x * phi5 + 1 / 24
        phi3 = x * phi4 + 1 / 6
        return x * phi3 + 0.5, phi3, phi4, phi5, phi6, phi7
    inverse = 1.0 / x
    phi2 = ((exp(x) - 1.0) * inverse - 1.0) * inverse
    phi3 = (phi2 - 0.5) * inverse
    phi4 = (phi3 - 1 / 6) * inverse
    phi5 = (phi4 - 1 / 24) * inverse
    phi6 = (phi5 - 1 / 120) * inverse
    return phi2, phi3, phi4, phi5, phi6, (phi6 - 1 / 720) * inverse


@kernel
def shifts(one: Records, fixed: Records, i: int, h: float) -> tuple[float, float]:
    """Return the multiples of c that stage i of a step of length h, s, adds to coordinates and to rates."""
    lead, scale = one.start, 1.0 / one.decay
    s, r, run = one.linear[i, 0] * scale * lead, one.linear[i, 1] * scale * lead, 0.0
    for j in range(1, i):
        rest = scale * one.rest[j]
        s += one.weights[i, j] * rest - fixed.A[i, j] * one.change[j]
        r += one.double[i, j] * rest - fixed.squared[i, j] * one.change[j]
        run += fixed.A[i, j] * one.shift[j]
    one.shift[i] = h * s
    # the rates of the stages, which the coordinates are integrals of, are shifted already
    return h * (h * r - run), h * s


@kernel
def note_stage(one: Records, i: int, change: float, acceleration: float) -> None:
    """Store the change of the rate of the stiff joint since the start of the step, and its acceleration, at stage i."""
    one.change[i] = change
    one.rest[i] = acceleration - one.start - one.decay * change


@kernel
def error_shifts(one: Records, fixed: Records) -> tuple[float, float]:
    """Return the multiples of c in the errors of coordinates and rates, per length of the step."""
    change, rest, scale = 0.0, 0.0, 1.0 / one.decay
    for j in range(1, _STAGES):
        change += fixed.errors[j] * one.change[j]
        rest += fixed.errors[j] * one.rest[j]
    return -scale * change, scale * one.damped * rest - change


# One step of a single stop.


@kernel
def differentiate(
    evaluate: Evaluate, place: int, one: Records, t: float, q: Array, qd: Array, qdd: Array, column: Array
) -> None:
    """Fill the derivatives of the accelerations by the rate of the stiff joint, and its decay.

    Parameters
    ----------
    place : int
        Address of the kernel state.
    one : record
        See ``STIFF``.
    t : float
        s.
    q, qd, qdd : (nv,) array
        Coordinates, rates and accelerations; rad and m, s.
    column : (nv,) array
        Filled with c, 1/s.
    """
    m, j = load_struct(place), one.joint
    put(qd, m.v)
    m.v[j] += difference(qd[j])
    evaluate(place, FORWARD_DYNAMICS, t, t, q, m.v)
    for k in range(len(qd)):
        column[k] = (m.rates[k].qdd - qdd[k]) / (m.v[j] - qd[j])
    set_decay(one, j, column)


@kernel
def take_stiff_step(
    evaluate: Evaluate,
    place: int,
    method: Records,
    one: Records,
    fixed: Records,
    column: Array,
    event_functions: Records,
    t: float,
    goal: float,
    h: float,
    control: tuple[float, float, float],
    q: Array,
    qd: Array,
    qdd: Array,
    counts: Array,
) -> tuple[int, float, float]:
    """Take a step of about h up to ``goal``, s; return its status, the time, and the next step, s.

    Parameters
    ----------
    place : int
        Address of the kernel state.
    method : (1,) record array
        The tables of Dormand and Prince.
    one, fixed : record
        See ``STIFF`` and ``CONSTANTS``.
    column : (nv,) array
        c, 1/s.
    event_functions : (n,) record array
        Those whose loads exceed their bound within the step become candidates.
    control : tuple of float
        Longest step, s, and relative and absolute tolerance.
    q, qd, qdd : (nv,) array
        The state, which moves to the end of the step; rad and m, s.
    counts : (2,) array
        Evaluations and rejected steps, which are incremented.
    """
    m, nv, j, grown = load_struct(place), len(qd), one.joint, MOST
    longest, rtol, atol = control
    kx, kv, own = m.kx, m.kv, method[0]
    put_row(qd, kx, 0)
    put_row(qdd, kv, 0)
    begin_stiff_step(one, qdd[j])
    while True:
        h = min(h, min(longest, longest_step(one)))
        last = h >= (goal - t) * (1.0 - 1e-12)
        step, regular = goal - t if last else h, True
        if step < SHORTEST * (1.0 + abs(t)):
            return TOO_SMALL, t, h
        clear_candidates(event_functions)
        weigh(one, fixed, step)
        for i in range(1, _STAGES):
            r, s = shifts(one, fixed, i, step)
            for k in range(nv):
                dx, dv = 0.0, 0.0
                for n in range(i):
                    dx += own.A[i, n] * kx[n, k]
                    dv += own.A[i, n] * kv[n, k]
                m.at[k], m.v[k] = q[k] + (step * dx + r * column[k]), qd[k] + (step * dv + s * column[k])
            regular = evaluate(place, FORWARD_DYNAMICS, t, t, m.at, m.v)
            for k in range(nv):
                kx[i, k], kv[i, k] = m.v[k], m.rates[k].qdd
            note_stage(one, i, m.v[j] - qd[j], kv[i, j])
            if i < _STAGES - 1:
                mark_overloaded(m, event_functions)
        counts[0] += _STAGES - 1
        r, s = error_shifts(one, fixed)
        total = 0.0
        for k in range(nv):
            x, v = r * column[k], s * column[k]
            for n in range(_STAGES):
                x += own.errors[0, n] * kx[n, k]
                v += own.errors[0, n] * kv[n, k]
            x /= atol + rtol * max(abs(q[k]), abs(m.at[k]))
            v /= atol + rtol * max(abs(qd[k]), abs(m.v[k]))
            total += x * x + v * v
        error = WARY * step * sqrt(total / (2 * nv))
        if error < 1.0:
            break
        counts[1] += 1
        h = step * (LEAST if error != error else max(LEAST, SAFETY * error**own.exponent))
        grown = 1.0
    grown = min(grown, growth(error, step, one.last_error, one.last_step, own.exponent))
    one.last_error, one.last_step = error, step
    put(m.at, q)
    put(m.v, qd)
    status = take_accelerations(place, regular, q, qd, qdd)
    # a step that was shortened to hit the end does not limit the next one
    h = max(h, step * grown) if last else step * grown
    return status, goal if last else t + step, h


# The motion within a step: a quintic, and what e^(zθ) has beyond a quintic.


@kernel
def parts_of(one: Records, length: float) -> int:
    """Return the number of parts in which a step of the given length, s, is stored."""
    if one.joint < 0:
        return 1
    return min(1 + int(-one.decay * length / _PART), PARTS)


@kernel
def motion_of_step(
    one: Records,
    fixed: Records,
    column: Array,
    length: float,
    q0: Array,
    q1: Array,
    qd0: Array,
    qd1: Array,
    qdd0: Array,
    qdd1: Array,
    out: Array,
) -> int:
    """Fill polynomials of increment and rates of a step; return the number of their powers.

    Without a stiff joint they are quintics. Otherwise the decaying part of the motion is A c e^(zθ) with the amplitude
    of the exact solution for N as a cubic through its stages; what a quintic cannot follow of it is θ³ (1 − θ)³ times a
    polynomial of degree 6 here, with an error of 1e-10 of its rate.

    Parameters
    ----------
    column : (nv,) array
        c, 1/s.
    length : float
        s.
    q0, q1, qd0, qd1, qdd0, qdd1 : (nv,) array
        Coordinates, rates and accelerations at start and end; rad and m, s.
    out : (POWERS, 2, nv) array
        Lowest power of the fraction of the step first.
    """
    quintic(length, q0, q1, qd0, qd1, qdd0, qdd1, out)
    z = length * one.decay
    if one.joint < 0 or not z < -_CURVED:
        return 6
    rest = one.rest
    g0, g1, g2 = rest[2] / 0.3, rest[3] / 0.8, rest[6]
    f01, f12 = (g1 - g0) / 0.5, (g2 - g1) / 0.2
    d3 = (f12 - f01) / 0.7
    d2, d1 = f01 - 1.1 * d3, g0 - 0.3 * f01 + 0.24 * d3
    amplitude = one.start + (d1 + (2.0 * d2 + 6.0 * d3 / z) / z) / z
    amplitude /= one.decay * one.decay * one.decay
    for i in range(_FITTED):
        one.curved[i] = _beyond(z, fixed.nodes[i])
    # powers of θ³ (1 − θ)³ times the polynomial through what e^(zθ) has beyond its quintic at the nodes
    r = (0.0, 0.0, 0.0, 0.0)
    for n in range(6, POWERS):
        for j in range(len(q0)):
            out[n, 0, j] = out[n, 1, j] = 0.0
    for n in range(_FITTED + 3):
        k = 0.0
        if n < _FITTED:
            for i in range(_FITTED):
                k += fixed.curve[n, i] * one.curved[i]
        r = (k, r[0], r[1], r[2])
        own = amplitude * (r[0] - 3.0 * r[1] + 3.0 * r[2] - r[3])
        for j in range(len(q0)):
            out[n + 3, 0, j] += own * column[j]
            out[n + 2, 1, j] += own * column[j] * (n + 3) / length
    return POWERS


@kernel
def _beyond(z: float, x: float) -> float:
    """Return e^(zx) less its quintic through both ends of [0, 1], divided by x³ (1 − x)³."""
    end = exp(z)
    D, E, F = end - (1.0 + z + 0.5 * z * z), z * end - (z + z * z), z * z * (end - 1.0)
    c3, c4, c5 = 10.0 * D - 4.0 * E + 0.5 * F, -15.0 * D + 7.0 * E - F, 6.0 * D - 3.0 * E + 0.5 * F
    own = 1.0 + x * (z + x * (0.5 * z * z + x * (c3 + x * (c4 + x * c5))))
    y = x * (1.0 - x)
    return (exp(z * x) - own) / (y * y * y)
