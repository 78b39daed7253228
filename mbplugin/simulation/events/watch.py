"""What the compiled loops watch: a step in which an event function may change sign is searched for the instant."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba import types

from mbplugin.dynamics.compiler.jit import Records, compiled, kernel
from mbplugin.dynamics.compiler.pointers import address_of, function_at
from mbplugin.dynamics.kernels.rows import RATE
from mbplugin.dynamics.kernels.solve import row_acceleration, row_rate
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.active_set.stick_slip import AT_REST
from mbplugin.simulation.steppers.kernel_state import VECTOR, KernelState, load_struct

#: What is watched: a coordinate passing a level, the rate of a row passing zero, a held row's multiplier
#: passing a size, and the rate of a row that sticks without a multiplier of its own.
COORDINATE, ROW_RATE, MULTIPLIER, DRIFT = 0, 1, 2, 3

#: What holds is watched up to this share of its static part: there it no longer holds for certain.
_SLIPS = 1.0 + 1e-8
#: A rate against its sense beyond this is no rounding, rad/s and m/s.
WRONG = 1e-9

#: An event function. ``index`` is a coordinate, a row, or a place among the independent rows; ``rate`` the rate of a
#: coordinate. ``sense`` is the sign that the rate of a row has while nothing changes, or that of the
#: rate with which a coordinate passes its level. ``value`` and ``slope`` are those at the last step;
#: ``candidate`` tells whether its sign may have changed in it.
EVENT_FUNCTION = np.dtype(
    [
        ("kind", np.int64),
        ("index", np.int64),
        ("rate", np.int64),
        ("level", np.float64),
        ("sense", np.float64),
        ("value", np.float64),
        ("slope", np.float64),
        ("candidate", np.bool_),
    ],
    align=True,
)


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
        event_function.candidate |= changed
        found |= event_function.candidate
    return found


@kernel
def mark_overloaded(m: KernelState, event_functions: Records) -> None:
    """Mark held rows whose multiplier is beyond its level, at an evaluated state or that of a stage, as candidates."""
    for n in range(len(event_functions)):
        if (
            event_functions[n].kind == MULTIPLIER
            and abs(m.multipliers[event_functions[n].index]) > event_functions[n].level
        ):
            event_functions[n].candidate = True


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


_FLAGS = types.boolean[::1]
_SIGNATURE = types.int64(
    *(types.intp, VECTOR, VECTOR, _FLAGS, _FLAGS, types.float64, numba.from_dtype(EVENT_FUNCTION)[::1])
)
#: In a loop: :func:`watch_resistances` at its address.
watch_from = function_at(types.FunctionType(_SIGNATURE))


@lru_cache(maxsize=1)
def compiled_watch() -> Any:
    """Return :func:`watch_resistances`, compiled or from the cache."""
    return compiled(watch_resistances, _SIGNATURE, address=True)


@lru_cache(maxsize=1)
def watch_address() -> int:
    """Return where the compiled :func:`watch_resistances` is, for loops."""
    return address_of(compiled_watch(), _SIGNATURE)
