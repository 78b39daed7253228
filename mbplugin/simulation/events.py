"""The instant in a step at which the first event function changes sign, in one compiled call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from mbplugin.dynamics.compiler.jit import Records, compiled, kernel
from mbplugin.dynamics.compiler.pointers import address_of, function_at
from mbplugin.dynamics.kernels.articulated import displace
from mbplugin.dynamics.kernels.rows import RATE
from mbplugin.dynamics.kernels.solve import row_acceleration, row_rate
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.active_set.stick_slip import AT_REST
from mbplugin.simulation.integrators.contract import Step
from mbplugin.simulation.passing_marks import LOOKS, START, early_zero, first_zero
from mbplugin.simulation.steppers.kernel_state import (
    FORWARD_DYNAMICS,
    KINEMATICS,
    VECTOR,
    Evaluate,
    KernelState,
    evaluate_address,
    evaluate_from,
    load_struct,
    place_of,
)

#: Functions are looked at in these parts of a step.
_PARTS = 12
#: How near to each other the ends are between which a sign changes, in fractions of the step, and how often
#: they come nearer at most.
_NEAR, _TIMES = 1e-14, 200
#: No fraction of a step.
_NONE = 2.0
_tuple: Any = types.Tuple  # the stubs leave it untyped
#: What is watched: a coordinate passing a level, the rate of a row passing zero, a held row's multiplier
#: passing a size, and the rate of a row that sticks without a multiplier of its own.
COORDINATE, ROW_RATE, MULTIPLIER, DRIFT = 0, 1, 2, 3
#: What holds is watched up to this share of its static part: there it no longer holds for certain.
_SLIPS = 1.0 + 1e-8
#: Between its stages a load may come nearer to its bound than at them: by this share of how much it varies there.
_BETWEEN = 0.5
#: How near the ends come to each other between which a load is largest, in fractions of the step, and the golden
#: section.
_PEAK, _GOLDEN = 1e-8, 0.3819660112501051
#: A rate against its sense beyond this is no rounding, rad/s and m/s.
WRONG = 1e-9
#: An event function. ``index`` is a coordinate, a row, or a place among the independent rows; ``rate`` the rate of a
#: coordinate. ``sense`` is the sign that the rate of a row has while nothing changes, or that of the
#: rate with which a coordinate passes its level. ``value`` and ``slope`` are those at the last step;
#: ``candidate`` tells whether its sign may have changed in it. ``least`` and ``most`` are what the value of a
#: multiplier has been at the start, the stages and the end of a step.
EVENT_FUNCTION = np.dtype(
    [
        ("kind", np.int64),
        ("index", np.int64),
        ("rate", np.int64),
        ("level", np.float64),
        ("sense", np.float64),
        ("value", np.float64),
        ("slope", np.float64),
        ("least", np.float64),
        ("most", np.float64),
        ("candidate", np.bool_),
    ],
    align=True,
)
_SIGNATURE = _tuple((types.float64, types.int64))(
    *(types.intp, types.intp, numba.from_dtype(EVENT_FUNCTION)[::1], types.float64, types.float64, VECTOR),
    types.Array(types.float64, 3, "C"),
)
#: In a loop: the search at its address, called with the address of ``evaluate`` in front.
locate_from = function_at(types.FunctionType(_SIGNATURE))
_FLAGS = types.boolean[::1]
_WATCH_SIGNATURE = types.int64(
    *(types.intp, VECTOR, VECTOR, _FLAGS, _FLAGS, types.float64, numba.from_dtype(EVENT_FUNCTION)[::1])
)
#: In a loop: :func:`watch_resistances` at its address.
watch_from = function_at(types.FunctionType(_WATCH_SIGNATURE))


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
    """Return the quantity that has to be evaluated for an event function."""
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
        elif event_function.kind == MULTIPLIER and looks[k] > 0.0 and looks[k + 1] > 0.0:
            zero = _first_overload(evaluate, place, event_function, inside, looks, k)
        if zero > least and _counts(evaluate, place, event_function, inside, zero):
            return zero
    if slides and looks[_PARTS] * event_function.sense < -WRONG:
        return _early_zero(evaluate, place, event_function, inside)
    return _NONE


@kernel
def _first_overload(
    evaluate: Evaluate, place: int, event_function: Records, inside: _Inside, looks: Array, k: int
) -> float:
    """Return where a held load first passes its bound between ``looks`` (n,) within it, from look k on; −1: nowhere.

    Its value is least, thus the load largest, between the neighbours of a look that is not above them, or near an end
    of the step towards which it falls and then rises.
    """
    parts = len(looks) - 1
    if k == 0 and looks[0] <= looks[1] and 4.0 * looks[1] < 3.0 * looks[0] + looks[2]:
        zero = _overload(evaluate, place, event_function, inside, 0.0, 1.0 / parts, looks[0])
        if zero >= 0.0:
            return zero
    if k + 2 <= parts and looks[k + 1] <= looks[k] and looks[k + 1] <= looks[k + 2]:
        # what varies that little between looks does not reach the bound between them
        if looks[k + 1] > max(looks[k], looks[k + 2]) - looks[k + 1]:
            return -1.0
        return _overload(evaluate, place, event_function, inside, k / parts, (k + 2) / parts, looks[k])
    if k + 1 == parts and looks[parts] <= looks[k] and 3.0 * looks[parts] + looks[k - 1] > 4.0 * looks[k]:
        return _overload(evaluate, place, event_function, inside, k / parts, 1.0, looks[k])
    return -1.0


@kernel
def _overload(
    evaluate: Evaluate,
    place: int,
    event_function: Records,
    inside: _Inside,
    low: float,
    high: float,
    at_low: float,
) -> float:
    """Return where the value of an event function, positive at ``low``, is zero on its way to its least value
    between two fractions; −1 where that is positive. By the golden section."""
    begin, a, b = low, low + _GOLDEN * (high - low), high - _GOLDEN * (high - low)
    fa = _value(evaluate, place, event_function, inside, a)
    fb = _value(evaluate, place, event_function, inside, b)
    while True:
        if fa <= 0.0:
            return _root(evaluate, place, event_function, inside, (begin, at_low), (a, fa))
        if fb <= 0.0:
            return _root(evaluate, place, event_function, inside, (a, fa), (b, fb))
        if high - low < _PEAK:
            return -1.0
        if fa < fb:
            high, b, fb = b, a, fa
            a = low + _GOLDEN * (high - low)
            fa = _value(evaluate, place, event_function, inside, a)
        else:
            low, a, fa = a, b, fb
            b = high - _GOLDEN * (high - low)
            fb = _value(evaluate, place, event_function, inside, b)


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


# The instant in a step at which the first event function changes sign, for steps in Python.


def first_change_in_python(
    event_functions: AnyArray, values: Callable[[float, Sequence[int]], Array]
) -> tuple[float, int] | None:
    """Return the fraction of a step at which the first event function changes sign, and which; None: none does.

    The compiled search is :func:`mbplugin.simulation.events.first_change`.

    Parameters
    ----------
    event_functions : (n,) record array
    values : callable
        Values of some of the event functions, by their numbers, at a fraction of the step.
    """
    found: list[tuple[float, int]] = []
    looks: dict[float, dict[int, float]] = {}
    candidates = np.flatnonzero(event_functions["candidate"]).tolist()
    for n in candidates:
        event_function = event_functions[n]

        def g(fraction: float, n: int = n) -> float:
            # all candidates are evaluated where one is: the accelerations there cost most
            if fraction not in looks and fraction in LOOKS:
                looks[fraction] = dict(zip(candidates, values(fraction, candidates), strict=True))
            return float(looks[fraction][n] if fraction in looks else values(fraction, (n,))[0])

        # a rate that starts to move is zero at the start, others may be soon after
        slides = event_function["kind"] == ROW_RATE
        held = bool(event_function["kind"] == MULTIPLIER)
        zero = first_zero(g, START if not slides or abs(g(0.0)) <= AT_REST else 0.0, dips=held)
        if zero is None and slides and g(1.0) * event_function["sense"] < -WRONG:
            zero = early_zero(g, float(event_function["sense"]))
        if zero is not None:
            found.append((zero, n))
    return min(found, default=None)


# What the compiled loops watch: a step in which an event function may change sign is searched for the
# instant.


def watch_resistances(
    place: int,
    q: Array,
    qd: Array,
    sticking: AnyArray,
    carrying: AnyArray,
    drift: float,
    event_functions: Records,
) -> int:
    """Fill event functions at an evaluated state; return their number.

    The rates that slide are watched, the forces that hold, and rates that should stay zero.

    Parameters
    ----------
    place : int
        Of the kernel state.
    q, qd : (nq,), (nv,) array
        rad and m, rad/s and m/s.
    sticking, carrying : (n,) array of bool
        Which resistances stick, and which of these have a multiplier.
    drift : float
        Rates of rows that stick without a multiplier, in units of rest, that no rounding explains.
    event_functions : (n,) record array
    """
    m, count, fastest = load_struct(place), 0, 0.0
    for j in range(len(qd)):
        fastest = max(fastest, abs(qd[j]))
    for n in range(len(m.resistances)):
        one, function = m.resistances[n], event_functions[count]
        function.index, function.rate, function.level, function.sense = one.row, 0, 0.0, 0.0
        if carrying[n]:
            function.kind, function.level = MULTIPLIER, _SLIPS * one.static
            for i in range(len(m.independent_rows)):
                if m.independent_rows[i] == one.row:
                    function.index = i
        elif sticking[n]:
            function.kind, function.level = DRIFT, drift * AT_REST * (1.0 + fastest)
        elif one.sense != 0.0:
            function.kind, function.rate, function.sense = ROW_RATE, m.rows[one.row].rate, one.sense
        else:
            continue
        function.value, function.slope = read_event_function(m, function, q, qd)
        if function.kind == ROW_RATE and function.value * function.sense < AT_REST:
            # it has just started to slide: its sense is that of its acceleration
            function.value = 0.0
        count += 1
    return count


@kernel
def sign_changes(m: KernelState, event_functions: Records, h: float, q: Array, qd: Array) -> bool:
    """Update all event functions at an evaluated state; return whether one may have changed sign in the step h.

    The state is q (nq,) and qd (nv,).
    """
    found = False
    for n in range(len(event_functions)):
        event_function = event_functions[n]
        value, slope = read_event_function(m, event_function, q, qd)
        changed = event_function.value * value <= 0.0 and event_function.value != 0.0
        # a rate that was zero at the last step
        changed |= event_function.kind == ROW_RATE and event_function.sense * value < -WRONG
        # in and out again within one step needs a turn in between
        nearest = min(abs(event_function.value), abs(value))
        turned = event_function.slope * slope < 0.0
        changed |= turned and nearest < h * max(abs(event_function.slope), abs(slope))
        event_function.value, event_function.slope = value, slope
        if event_function.kind == MULTIPLIER:
            changed |= _may_be_overloaded(event_function, value)
        event_function.candidate |= changed
        found |= event_function.candidate
    return found


@kernel
def mark_overloaded(m: KernelState, event_functions: Records) -> None:
    """Mark held rows whose load passes its bound near an evaluated state inside a step as candidates."""
    for n in range(len(event_functions)):
        one = event_functions[n]
        if one.kind == MULTIPLIER:
            one.candidate |= _may_be_overloaded(one, one.level - abs(m.multipliers[one.index]))


@kernel
def _may_be_overloaded(event_function: Records, value: float) -> bool:
    """Take account of a value of a held row in the step; return whether its load may pass its bound near there."""
    event_function.least = min(event_function.least, value)
    event_function.most = max(event_function.most, value)
    return bool(event_function.least <= _BETWEEN * (event_function.most - event_function.least))


def follow_static(m: KernelState, event_functions: AnyArray, places: AnyArray) -> None:
    """Let the levels of held rows, ``event_functions`` (n,), be the static parts of their resistances, those at
    some ``places`` (k,)."""
    for n in places.tolist():
        at = np.flatnonzero(m.independent_rows == m.resistances["row"][n])
        if at.size:
            own = (event_functions["kind"] == MULTIPLIER) & (event_functions["index"] == at[0])
            event_functions["level"][own] = _SLIPS * m.resistances["static"][n]


@kernel
def clear_candidates(event_functions: Records) -> None:
    """Begin a step: no event function is a candidate for a change of sign."""
    for n in range(len(event_functions)):
        event_functions[n].candidate = False
        event_functions[n].least = event_functions[n].most = event_functions[n].value


@kernel
def read_event_function(m: KernelState, event_function: Records, q: Array, qd: Array) -> tuple[float, float]:
    """Return the value of an event function at q (nq,) and qd (nv,), and its rate (zero where it is not known)."""
    kind, index = event_function.kind, event_function.index
    # what needs no body is read here: handing on a kernel state takes longer than that
    if kind == COORDINATE:
        return float(q[index] - event_function.level), float(qd[event_function.rate])
    if kind == MULTIPLIER:
        return float(event_function.level - abs(m.multipliers[index])), 0.0
    row = m.rows[index]
    if kind == ROW_RATE and row.kind == RATE:
        return float(qd[row.rate]), float(m.rates[row.rate].qdd - row.gamma)
    return _row_value(m, event_function, qd), _row_slope(m, event_function)


@kernel
def event_value(m: KernelState, event_function: Records, q: Array, qd: Array) -> float:
    """Return the value of an event function at an evaluated state q (nq,), qd (nv,)."""
    kind, index = event_function.kind, event_function.index
    if kind == COORDINATE:
        return float(q[index] - event_function.level)
    if kind == MULTIPLIER:
        return float(event_function.level - abs(m.multipliers[index]))
    row = m.rows[index]
    if kind == ROW_RATE and row.kind == RATE:
        return float(qd[row.rate])
    return _row_value(m, event_function, qd)


@kernel
def _row_value(m: KernelState, event_function: Records, qd: Array) -> float:
    """Return the value of an event function of a row at rates qd (nv,)."""
    rate = row_rate(m.composites, m.rows, m.terms, event_function.index, qd)
    return event_function.level - abs(rate) if event_function.kind == DRIFT else rate


@kernel
def _row_slope(m: KernelState, event_function: Records) -> float:
    """Return the rate of an event function of a row, zero for a drift."""
    if event_function.kind == DRIFT:
        return 0.0
    own = row_acceleration(m.composites, m.rates, m.rows, m.terms, event_function.index)
    return float(own - m.rows[event_function.index].gamma)


@lru_cache(maxsize=1)
def compiled_watch() -> Any:
    """Return :func:`watch_resistances`, compiled or from the cache."""
    return compiled(watch_resistances, _WATCH_SIGNATURE, address=True)


@lru_cache(maxsize=1)
def watch_address() -> int:
    """Return where the compiled :func:`watch_resistances` is, for loops."""
    return address_of(compiled_watch(), _WATCH_SIGNATURE)
