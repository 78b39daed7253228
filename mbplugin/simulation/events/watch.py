"""Marks that the compiled loops look out for: a step that may hold one is handed out to be searched."""

from __future__ import annotations

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.dynamics.kernels.solve import row_acceleration, row_rate
from mbplugin.model.spatial import Array
from mbplugin.simulation.steppers.kernel_state import KernelState

#: What is watched: a coordinate passing a level, the rate of a row passing zero, a held row's multiplier
#: passing a size, and the rate of a row that sticks without a multiplier of its own.
COORDINATE, ROW_RATE, MULTIPLIER, DRIFT = 0, 1, 2, 3

#: A rate against its sense beyond this is no rounding, rad/s and m/s.
WRONG = 1e-9

#: An event function. ``index`` is a coordinate, a row, or a place among the independent rows; ``rate`` the rate of a
#: coordinate. ``sense`` is the sign that the rate of a row has while nothing changes. ``value`` and
#: ``slope`` are those at the last step.
EVENT_FUNCTION = np.dtype(
    [
        ("kind", np.int64),
        ("index", np.int64),
        ("rate", np.int64),
        ("level", np.float64),
        ("sense", np.float64),
        ("value", np.float64),
        ("slope", np.float64),
    ],
    align=True,
)


@kernel
def sign_changes(m: KernelState, event_functions: Records, h: float, q: Array, qd: Array) -> bool:
    """Update all event functions at an evaluated state; return whether one may have changed sign in the step h.

    The state is q (nq,) and qd (nv,).
    """
    suspicious = False
    for n in range(len(event_functions)):
        event_function = event_functions[n]
        value, slope = read_event_function(m, event_function, q, qd)
        if event_function.value * value <= 0.0 and event_function.value != 0.0:
            suspicious = True
        # a rate that was zero at the last step
        if event_function.kind == ROW_RATE and event_function.sense * value < -WRONG:
            suspicious = True
        # in and out again within one step needs a turn in between
        nearest = min(abs(event_function.value), abs(value))
        if event_function.slope * slope < 0.0 and nearest < h * max(abs(event_function.slope), abs(slope)):
            suspicious = True
        event_function.value, event_function.slope = value, slope
    return suspicious


@kernel
def overloaded(m: KernelState, event_functions: Records) -> bool:
    """Whether a held row's multiplier is beyond its level at an evaluated state, or that of a stage."""
    for n in range(len(event_functions)):
        if (
            event_functions[n].kind == MULTIPLIER
            and abs(m.multipliers[event_functions[n].index]) > event_functions[n].level
        ):
            return True
    return False


@kernel
def read_event_function(m: KernelState, event_function: Records, q: Array, qd: Array) -> tuple[float, float]:
    """Return the value of an event function at q (nq,) and qd (nv,), and its rate (zero where it is not known)."""
    if event_function.kind == COORDINATE:
        return q[event_function.index] - event_function.level, qd[event_function.rate]
    if event_function.kind == MULTIPLIER:
        return event_function.level - abs(m.multipliers[event_function.index]), 0.0
    if event_function.kind == DRIFT:
        return event_function.level - abs(
            row_rate(m.composites, m.rows, m.terms, event_function.index, qd)
        ), 0.0
    slope = (
        row_acceleration(m.composites, m.rates, m.rows, m.terms, event_function.index)
        - m.rows[event_function.index].gamma
    )
    return row_rate(m.composites, m.rows, m.terms, event_function.index, qd), slope
