"""The instant in a step at which the first event function changes sign, in one compiled call."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from mbplugin.dynamics.compiler.jit import Records, compiled, kernel
from mbplugin.dynamics.compiler.pointers import address_of, function_at
from mbplugin.dynamics.kernels.group import displace
from mbplugin.dynamics.kernels.rows import RATE
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.active_set.stick_slip import AT_REST
from mbplugin.simulation.events.search import START
from mbplugin.simulation.events.watch import (
    COORDINATE,
    EVENT_FUNCTION,
    MULTIPLIER,
    ROW_RATE,
    WRONG,
    event_value,
)
from mbplugin.simulation.integrators.contract import Step
from mbplugin.simulation.steppers.evaluate import (
    FORWARD_DYNAMICS,
    KINEMATICS,
    Evaluate,
    evaluate_address,
    evaluate_from,
    place_of,
)
from mbplugin.simulation.steppers.kernel_state import VECTOR, KernelState, load_struct

#: Functions are looked at in these parts of a step.
_PARTS = 12
#: How near to each other the ends are between which a sign changes, in fractions of the step, and how often
#: they come nearer at most.
_NEAR, _TIMES = 1e-14, 200
#: No fraction of a step.
_NONE = 2.0


class _Inside(NamedTuple):
    """A step, and memory for a state inside it.

    Parameters
    ----------
    start, length : float
        s.
    q0, polynomial : (nq,), (d, 2, nv) array
        State at the start and dense output, as of :class:`Step`.
    x, q, qd : (nv,), (nq,), (nv,) array
        Increment, coordinates and rates.
    """

    start: float
    length: float
    q0: Array
    polynomial: Array
    x: Array
    q: Array
    qd: Array


def first_change(
    address: int,
    place: int,
    event_functions: Records,
    start: float,
    length: float,
    q0: Array,
    polynomial: Array,
) -> tuple[float, int]:
    """Return the fraction of a step at which the first event function changes sign, and which; −1: none.

    Only candidates are searched. The step starts at q0 (nq,) and has the dense output
    ``polynomial`` (d, 2, nv); the kernel state is somewhere inside it afterwards. ``address`` is that of
    ``evaluate``.
    """
    evaluate = evaluate_from(address)
    m, nv, count = load_struct(place), polynomial.shape[2], len(event_functions)
    inside = _Inside(start, length, q0, polynomial, np.empty(nv), np.empty(len(q0)), np.empty(nv))
    looks, what = np.empty((_PARTS + 1, count)), 0
    for n in range(count):
        if event_functions[n].candidate:
            what |= _needed(m, event_functions[n])
    for k in range(_PARTS + 1):
        _put(evaluate, place, what, inside, k / _PARTS)
        for n in range(count):
            if event_functions[n].candidate:
                looks[k, n] = event_value(m, event_functions[n], inside.q, inside.qd)
    first, which = _NONE, -1
    for n in range(count):
        if event_functions[n].candidate:
            zero = _first_zero(evaluate, place, event_functions[n], inside, looks[:, n])
            if zero < first:
                first, which = zero, n
    return first, which


@kernel
def _needed(m: KernelState, event_function: Records) -> int:
    """Return what has to be evaluated for an event function."""
    if event_function.kind == MULTIPLIER:
        return FORWARD_DYNAMICS
    if event_function.kind == COORDINATE or m.rows[event_function.index].kind == RATE:
        return 0
    return KINEMATICS


@kernel
def _put(evaluate: Evaluate, place: int, what: int, inside: _Inside, fraction: float) -> None:
    """Put the kernel state to a fraction of the step."""
    m, polynomial = load_struct(place), inside.polynomial
    for j in range(len(inside.x)):
        x, rate = 0.0, 0.0
        for n in range(polynomial.shape[0] - 1, -1, -1):
            x = x * fraction + polynomial[n, 0, j]
            rate = rate * fraction + polynomial[n, 1, j]
        inside.x[j], inside.qd[j] = x, rate
    displace(m.composites, inside.q0, inside.x, inside.q)
    if what:
        evaluate(place, what, inside.start + fraction * inside.length, inside.start, inside.q, inside.qd)


@kernel
def _value(
    evaluate: Evaluate, place: int, event_function: Records, inside: _Inside, fraction: float
) -> float:
    """Return the value of an event function at a fraction of the step."""
    m = load_struct(place)
    _put(evaluate, place, _needed(m, event_function), inside, fraction)
    return event_value(m, event_function, inside.q, inside.qd)


@kernel
def _first_zero(
    evaluate: Evaluate, place: int, event_function: Records, inside: _Inside, looks: Array
) -> float:
    """Return the first fraction at which an event function changes sign; beyond 1: none.

    ``looks`` (_PARTS + 1,) are its values at equal fractions of the step. A rate that starts to move is zero at
    the start, others may be soon after.
    """
    slides = event_function.kind == ROW_RATE
    least = START if not slides or abs(looks[0]) <= AT_REST else 0.0
    for k in range(_PARTS):
        low, high = k / _PARTS, (k + 1) / _PARTS
        zero = -1.0
        if looks[k + 1] == 0.0:
            zero = high
        elif looks[k] * looks[k + 1] < 0.0:
            zero = _root(evaluate, place, event_function, inside, (low, looks[k]), (high, looks[k + 1]))
        if zero > least and _counts(evaluate, place, event_function, inside, zero):
            return zero
    if slides and looks[_PARTS] * event_function.sense < -WRONG:
        return _early_zero(evaluate, place, event_function, inside)
    return _NONE


@kernel
def _counts(evaluate: Evaluate, place: int, event_function: Records, inside: _Inside, zero: float) -> bool:
    """Whether a zero counts: a coordinate passes a level on its way out only."""
    if event_function.kind != COORDINATE:
        return True
    _put(evaluate, place, 0, inside, zero)
    return bool(inside.qd[event_function.rate] * event_function.sense > 0.0)


@kernel
def _early_zero(evaluate: Evaluate, place: int, event_function: Records, inside: _Inside) -> float:
    """Return the fraction at which a rate, zero at first, turns from its sense to the other, before all looks."""
    high = 1.0 / _PARTS
    after = _value(evaluate, place, event_function, inside, high)
    while high > START:
        low = 0.25 * high
        before = _value(evaluate, place, event_function, inside, low)
        if before * event_function.sense > 0.0:
            return _root(evaluate, place, event_function, inside, (low, before), (high, after))
        high, after = low, before
    return high


@kernel
def _root(
    evaluate: Evaluate,
    place: int,
    event_function: Records,
    inside: _Inside,
    low: tuple[float, float],
    high: tuple[float, float],
) -> float:
    """Return the fraction at which an event function is zero, between two (fraction, value) of unlike sign.

    By the method of Chandrupatla (1997): inverse quadratic interpolation where it is safe, else bisection.
    """
    b, fb = low
    a, fa = high
    c, fc, part = b, fb, 0.5
    for _ in range(_TIMES):
        x = a + part * (b - a)
        fx = _value(evaluate, place, event_function, inside, x)
        if (fx > 0.0) == (fa > 0.0):
            c, fc = a, fa
        else:
            c, fc, b, fb = b, fb, a, fa
        a, fa = x, fx
        nearest = a if abs(fa) < abs(fb) else b
        least = _NEAR / abs(b - a)
        if least > 0.5 or fa == 0.0 or fb == 0.0:
            return nearest
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        part = 0.5
        if phi * phi < xi and (1.0 - phi) * (1.0 - phi) < 1.0 - xi:
            part = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        part = min(max(part, least), 1.0 - least)
    return nearest


_tuple: Any = types.Tuple  # the stubs leave it untyped
_SIGNATURE = _tuple((types.float64, types.int64))(
    *(types.intp, types.intp, numba.from_dtype(EVENT_FUNCTION)[::1], types.float64, types.float64, VECTOR),
    types.Array(types.float64, 3, "C"),
)
#: In a loop: the search at its address, called with the address of ``evaluate`` in front.
locate_from = function_at(types.FunctionType(_SIGNATURE))


@lru_cache(maxsize=1)
def _compiled_locate() -> Any:
    return compiled(first_change, _SIGNATURE, address=True)


@lru_cache(maxsize=1)
def locate_address() -> int:
    """Return where the compiled search is, for loops."""
    return address_of(_compiled_locate(), _SIGNATURE)


def locate_first_change(m: KernelState, event_functions: AnyArray, step: Step) -> tuple[float, int] | None:
    """Return the fraction of a step at which the first of ``event_functions`` (n,) changes sign, and which."""
    fraction, which = _compiled_locate()(
        *(evaluate_address(), place_of(m), event_functions),
        *(step.start, step.length, step.q, step.polynomial),
    )
    return None if which < 0 else (float(fraction), int(which))
