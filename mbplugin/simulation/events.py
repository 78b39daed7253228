"""Event functions of a step, and the search for the first one that changes sign, compiled and in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from mbplugin.dynamics.compiler import Records, address_of, compiled, function_at, kernel
from mbplugin.dynamics.kernels.articulated import displace
from mbplugin.dynamics.kernels.rows import RATE
from mbplugin.dynamics.kernels.solve import row_acceleration, row_rate
from mbplugin.model import AnyArray, Array
from mbplugin.simulation.friction import AT_REST
from mbplugin.simulation.integrators.contract import Step
from mbplugin.simulation.kernel_state import (
    DONE,
    FORWARD_DYNAMICS,
    KINEMATICS,
    LOOK,
    RESELECT,
    VECTOR,
    Evaluate,
    KernelState,
    evaluate_address,
    evaluate_from,
    load_struct,
    place_of,
)
from mbplugin.simulation.passing_marks import LOOKS, START, early_zero, first_zero

#: Number of equal parts of a step at whose ends functions are sampled.
_PARTS = 12
#: Width of the bracket at which a root search ends, in fractions of the step, and its largest number of iterations.
_NEAR, _TIMES = 1e-14, 200
#: Stands for "no zero", as it is not a fraction of a step.
_NONE = 2.0
_tuple: Any = types.Tuple  # the stubs leave it untyped
#: Kinds of event functions: a coordinate that passes a level, the rate of a row that passes zero, the multiplier of a
#: sticking row that exceeds a bound, and the rate of a row that sticks without a multiplier of its own.
COORDINATE, ROW_RATE, MULTIPLIER, DRIFT = 0, 1, 2, 3
#: Bound of a sticking row's multiplier, relative to its static friction, beyond which it slips for certain.
_SLIPS = 1.0 + 1e-8
#: Between the stages a load may come closer to its bound than at them, by this fraction of its variation over them.
_BETWEEN = 0.5
#: Width of the bracket at which the search for the largest load ends, in fractions of the step; the golden section.
_PEAK, _GOLDEN = 1e-8, 0.3819660112501051
#: A rate against its sense beyond this is not due to rounding, rad/s and m/s.
WRONG = 1e-9
#: An event function. ``index`` is that of a coordinate, of a row, or within the independent rows; ``rate`` is the rate
#: of a coordinate or row. ``sense`` is the sign of the rate of a row while it slides, or of the rate with which a
#: coordinate passes its level. ``value`` and ``slope`` are those at the end of the last step; ``candidate`` is set if
#: the sign may have changed in that step. ``least`` and ``most`` bound the value of a multiplier at the start, the
#: stages and the end of the step.
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
#: In a loop: get :func:`first_change` from its address; its first argument is the address of ``evaluate``.
locate_from = function_at(types.FunctionType(_SIGNATURE))
_FLAGS = types.boolean[::1]
_WATCH_SIGNATURE = types.int64(
    *(types.intp, VECTOR, VECTOR, _FLAGS, _FLAGS, types.float64, numba.from_dtype(EVENT_FUNCTION)[::1])
)
#: In a loop: get :func:`watch_resistances` from its address.
watch_from = function_at(types.FunctionType(_WATCH_SIGNATURE))


class _Inside(NamedTuple):
    """A step, and workspace for a state inside it.

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
    """Return the fraction of a step at which the first event function changes sign, and its index; −1: none.

    Only candidates are searched. The step starts at q0 (nq,) and has the dense output ``polynomial`` (d, 2, nv).
    The kernel state is left at some point inside the step. ``address`` is that of ``evaluate``.
    """
    evaluate = evaluate_from(address)
    m, count, what = load_struct(place), len(event_functions), 0
    inside = _Inside(start, length, q0, polynomial, m.x, m.at, m.v)
    for n in range(count):
        if event_functions[n].candidate:
            what |= _needed(m, event_functions[n])
    if not what:
        return _first_of_motion(evaluate, place, event_functions, inside)
    looks = np.empty((_PARTS + 1, count))
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
def _first_of_motion(
    evaluate: Evaluate, place: int, event_functions: Records, inside: _Inside
) -> tuple[float, int]:
    """Return the share of the step at the first change, and its event function, from the motion alone.

    They are sampled no further than to the first sign change, of all of them.
    """
    m, first, which = load_struct(place), _NONE, -1
    for n in range(len(event_functions)):
        one = event_functions[n]
        if not one.candidate:
            continue
        slides, before, found = one.kind == ROW_RATE, _value_of_motion(m, one, inside, 0.0), _NONE
        least = START if not slides or abs(before) <= AT_REST else 0.0
        # a rate that does not start in its sense may change within the first part
        late = not slides or before * one.sense > AT_REST
        for k in range(_PARTS):
            low, high = k / _PARTS, (k + 1) / _PARTS
            if late and low > first:
                break
            after, zero = _value_of_motion(m, one, inside, high), -1.0
            if after == 0.0:
                zero = high
            elif before * after < 0.0:
                zero = _root(evaluate, place, one, inside, (low, before), (high, after))
            if zero > least and _counts(evaluate, place, one, inside, zero):
                found = zero
                break
            before = after
        if found > 1.0 and not late and _value_of_motion(m, one, inside, 1.0) * one.sense < -WRONG:
            found = _early_zero(evaluate, place, one, inside)
        if found < first:
            first, which = found, n
    return first, which


@kernel
def _needed(m: KernelState, event_function: Records) -> int:
    """Return the parts of ``evaluate`` that an event function needs."""
    if event_function.kind == MULTIPLIER:
        return FORWARD_DYNAMICS
    if event_function.kind == COORDINATE or m.rows[event_function.index].kind == RATE:
        return 0
    return KINEMATICS


@kernel
def _put(evaluate: Evaluate, place: int, what: int, inside: _Inside, fraction: float) -> None:
    """Move to a fraction of the step, and evaluate the parts ``what`` of the kernel state there."""
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
    what = _needed(m, event_function)
    if not what:
        return _value_of_motion(m, event_function, inside, fraction)
    _put(evaluate, place, what, inside, fraction)
    return event_value(m, event_function, inside.q, inside.qd)


@kernel
def _value_of_motion(m: KernelState, event_function: Records, inside: _Inside, fraction: float) -> float:
    """Return the value of an event function that needs no parts of ``evaluate``, from its one polynomial."""
    polynomial, total = inside.polynomial, 0.0
    if event_function.kind == COORDINATE:
        for n in range(polynomial.shape[0] - 1, -1, -1):
            total = total * fraction + polynomial[n, 0, event_function.rate]
        return float(inside.q0[event_function.index] + total - event_function.level)
    rate = m.rows[event_function.index].rate
    for n in range(polynomial.shape[0] - 1, -1, -1):
        total = total * fraction + polynomial[n, 1, rate]
    return -abs(total) + event_function.level if event_function.kind == DRIFT else total


@kernel
def _first_zero(
    evaluate: Evaluate, place: int, event_function: Records, inside: _Inside, looks: Array
) -> float:
    """Return the first fraction at which an event function changes sign; a value above 1 means none.

    ``looks`` (_PARTS + 1,) are its values at equal fractions of the step. Zeros up to ``START`` do not count, except
    those of a rate that is not at rest at the start.
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
    """Return the first fraction after sample k at which a sticking joint's load exceeds its bound; −1: none.

    The samples ``looks`` (n,) on both sides are within the bound. The value is least, and the load largest, between
    the neighbours of a sample that is not above them, or between an end of the step and the sample next to it.
    """
    parts = len(looks) - 1
    if k == 0 and looks[0] <= looks[1] and 4.0 * looks[1] < 3.0 * looks[0] + looks[2]:
        zero = _overload(evaluate, place, event_function, inside, 0.0, 1.0 / parts, looks[0])
        if zero >= 0.0:
            return zero
    if k + 2 <= parts and looks[k + 1] <= looks[k] and looks[k + 1] <= looks[k + 2]:
        # with so little variation between the samples, the bound is not reached between them
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
    """Return the zero of an event function between ``low``, where it is positive, and its minimum up to ``high``.

    Return −1 if the minimum is positive. The minimum is searched by golden section.
    """
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
    """Return True if a zero counts; that of a coordinate does only when moving outwards."""
    if event_function.kind != COORDINATE:
        return True
    _put(evaluate, place, 0, inside, zero)
    return bool(inside.qd[event_function.rate] * event_function.sense > 0.0)


@kernel
def _early_zero(evaluate: Evaluate, place: int, event_function: Records, inside: _Inside) -> float:
    """Return the fraction, before the first sample, at which a rate, zero at the start, changes from its sense."""
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
    """Return the fraction at which an event function is zero, between two (fraction, value) of opposite sign.

    Uses the method of Chandrupatla (1997): inverse quadratic interpolation where it is safe, else bisection.
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
    """Return the address of the compiled search, for loops."""
    return address_of(_compiled_locate(), _SIGNATURE)


def locate_first_change(m: KernelState, event_functions: AnyArray, step: Step) -> tuple[float, int] | None:
    """Return the fraction of a step at which the first of ``event_functions`` (n,) changes sign, and its index."""
    fraction, which = _compiled_locate()(
        *(evaluate_address(), place_of(m), event_functions),
        *(step.start, step.length, step.q, step.polynomial),
    )
    return None if which < 0 else (float(fraction), int(which))


# The first sign change of an event function in a step, for steps in Python.


def first_change_in_python(
    event_functions: AnyArray, values: Callable[[float, Sequence[int]], Array]
) -> tuple[float, int] | None:
    """Return the fraction of a step at which the first event function changes sign, and its index, or None.

    The compiled search is :func:`mbplugin.simulation.events.first_change`.

    Parameters
    ----------
    event_functions : (n,) record array
    values : callable
        Values of event functions, given by their indices, at a fraction of the step.
    """
    found: list[tuple[float, int]] = []
    looks: dict[float, dict[int, float]] = {}
    candidates = np.flatnonzero(event_functions["candidate"]).tolist()
    for n in candidates:
        event_function = event_functions[n]

        def g(fraction: float, n: int = n) -> float:
            # evaluate all candidates together, as the accelerations cost most
            if fraction not in looks and fraction in LOOKS:
                looks[fraction] = dict(zip(candidates, values(fraction, candidates), strict=True))
            return float(looks[fraction][n] if fraction in looks else values(fraction, (n,))[0])

        # zeros up to START do not count, except those of a rate that is not at rest at the start
        slides = event_function["kind"] == ROW_RATE
        held = bool(event_function["kind"] == MULTIPLIER)
        zero = first_zero(g, START if not slides or abs(g(0.0)) <= AT_REST else 0.0, dips=held)
        if zero is None and slides and g(1.0) * event_function["sense"] < -WRONG:
            zero = early_zero(g, float(event_function["sense"]))
        if zero is not None:
            found.append((zero, n))
    return min(found, default=None)


# Event functions in the compiled loops: a step in which one may change sign is searched for the instant.


def watch_resistances(
    place: int,
    q: Array,
    qd: Array,
    sticking: AnyArray,
    carrying: AnyArray,
    drift: float,
    event_functions: Records,
) -> int:
    """Fill the event functions of the resistances at an evaluated state; return their number.

    They are the rates of sliding rows, the multipliers of sticking ones, and the rates of rows that stick without a
    multiplier.

    Parameters
    ----------
    place : int
        Address of the kernel state.
    q, qd : (nq,), (nv,) array
        rad and m, rad/s and m/s.
    sticking, carrying : (n,) array of bool
        Which resistances stick, and which of these have a multiplier.
    drift : float
        Bound of the rates of rows that stick without a multiplier, in units of ``AT_REST``, beyond rounding.
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
            # it has just started to slide, in the sense of its acceleration
            function.value = 0.0
        count += 1
    return count


@kernel
def sign_changes(m: KernelState, event_functions: Records, h: float, q: Array, qd: Array) -> bool:
    """Update all event functions at an evaluated state; return True if one may have changed sign in the step h.

    The state is q (nq,) and qd (nv,).
    """
    found = False
    for n in range(len(event_functions)):
        event_function = event_functions[n]
        value, slope = read_event_function(m, event_function, q, qd)
        changed = event_function.value * value <= 0.0 and event_function.value != 0.0
        # a rate that was zero at the last step, and now opposes its sense
        changed |= event_function.kind == ROW_RATE and event_function.sense * value < -WRONG
        # two sign changes within one step require an extremum in between
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
def reason_to_return(
    m: KernelState, event_functions: Records, h: float, q: Array, qd: Array, reselect_below: float
) -> int:
    """Return why a loop returns after a step h (s) to the evaluated state q (nq,) and qd (nv,); DONE if it goes on.

    All event functions are updated.
    """
    if len(event_functions) and sign_changes(m, event_functions, h, q, qd):
        return LOOK
    return RESELECT if m.row_independence[0] < reselect_below else DONE


@kernel
def mark_overloaded(m: KernelState, event_functions: Records) -> None:
    """Mark as candidates the sticking rows whose load may exceed its bound near an evaluated state inside a step."""
    for n in range(len(event_functions)):
        one = event_functions[n]
        if one.kind == MULTIPLIER:
            one.candidate |= _may_be_overloaded(one, one.level - abs(m.multipliers[one.index]))


@kernel
def _may_be_overloaded(event_function: Records, value: float) -> bool:
    """Update the range of a sticking row's value in the step; return True if its load may exceed its bound nearby."""
    event_function.least = min(event_function.least, value)
    event_function.most = max(event_function.most, value)
    return bool(event_function.least <= _BETWEEN * (event_function.most - event_function.least))


def follow_static(m: KernelState, event_functions: AnyArray, places: AnyArray) -> None:
    """Set the levels of sticking rows, ``event_functions`` (n,), to the present static parts of their resistances.

    ``places`` (k,) are the indices of the resistances to be updated.
    """
    for n in places.tolist():
        at = np.flatnonzero(m.independent_rows == m.resistances["row"][n])
        if at.size:
            own = (event_functions["kind"] == MULTIPLIER) & (event_functions["index"] == at[0])
            event_functions["level"][own] = _SLIPS * m.resistances["static"][n]


@kernel
def clear_candidates(event_functions: Records) -> None:
    """Reset candidates and ranges of all event functions at the start of a step."""
    for n in range(len(event_functions)):
        event_functions[n].candidate = False
        event_functions[n].least = event_functions[n].most = event_functions[n].value


@kernel
def read_event_function(m: KernelState, event_function: Records, q: Array, qd: Array) -> tuple[float, float]:
    """Return the value of an event function at q (nq,) and qd (nv,), and its rate (zero if unknown)."""
    kind, index = event_function.kind, event_function.index
    # kinds that need no bodies are evaluated here: passing on a kernel state would take longer
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
    """Return the value of a row's event function at rates qd (nv,)."""
    rate = row_rate(m.composites, m.rows, m.terms, event_function.index, qd)
    return event_function.level - abs(rate) if event_function.kind == DRIFT else rate


@kernel
def _row_slope(m: KernelState, event_function: Records) -> float:
    """Return the rate of a row's event function; zero for a drift."""
    if event_function.kind == DRIFT:
        return 0.0
    own = row_acceleration(m.composites, m.rates, m.rows, m.terms, event_function.index)
    return float(own - m.rows[event_function.index].gamma)


@lru_cache(maxsize=1)
def compiled_watch() -> Any:
    """Return the compiled :func:`watch_resistances`."""
    return compiled(watch_resistances, _WATCH_SIGNATURE, address=True)


@lru_cache(maxsize=1)
def watch_address() -> int:
    """Return the address of the compiled :func:`watch_resistances`, for loops."""
    return address_of(compiled_watch(), _WATCH_SIGNATURE)
