"""Marks that the compiled loops look out for: a step that may hold one is handed out to be searched."""

from __future__ import annotations

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.dynamics.kernels.solve import row_acceleration, row_rate
from mbplugin.model.spatial import Array
from mbplugin.simulation.steppers.kernel_state import Machine

#: What is watched: a coordinate passing a level, the rate of a row passing zero, a held row's multiplier
#: passing a size, and the rate of a row that sticks without a multiplier of its own.
COORDINATE, ROW_RATE, MULTIPLIER, DRIFT = 0, 1, 2, 3

#: A rate against its sense beyond this is no rounding, rad/s and m/s.
WRONG = 1e-9

#: A mark. ``index`` is a coordinate, a row, or a place among the chosen rows; ``rate`` the rate of a
#: coordinate. ``sense`` is the sign that the rate of a row has while nothing changes. ``value`` and
#: ``slope`` are those at the last step.
WATCH = np.dtype(
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
def look_out(m: Machine, marks: Records, h: float, q: Array, qd: Array) -> bool:
    """Update all marks at an evaluated state; return whether one may have been passed in the step h."""
    suspicious = False
    for n in range(len(marks)):
        mark = marks[n]
        value, slope = read_mark(m, mark, q, qd)
        if mark.value * value <= 0.0 and mark.value != 0.0:
            suspicious = True
        # a rate that was zero at the last step
        if mark.kind == ROW_RATE and mark.sense * value < -WRONG:
            suspicious = True
        # in and out again within one step needs a turn in between
        nearest = min(abs(mark.value), abs(value))
        if mark.slope * slope < 0.0 and nearest < h * max(abs(mark.slope), abs(slope)):
            suspicious = True
        mark.value, mark.slope = value, slope
    return suspicious


@kernel
def overloaded(m: Machine, marks: Records) -> bool:
    """Whether a held row's multiplier is beyond its mark at an evaluated state, that of a stage as well."""
    for n in range(len(marks)):
        if marks[n].kind == MULTIPLIER and abs(m.multipliers[marks[n].index]) > marks[n].level:
            return True
    return False


@kernel
def read_mark(m: Machine, mark: Records, q: Array, qd: Array) -> tuple[float, float]:
    """Return how far a mark is away, and the rate of that (zero where it is not known)."""
    if mark.kind == COORDINATE:
        return q[mark.index] - mark.level, qd[mark.rate]
    if mark.kind == MULTIPLIER:
        return mark.level - abs(m.multipliers[mark.index]), 0.0
    if mark.kind == DRIFT:
        return mark.level - abs(row_rate(m.solids, m.rows, m.terms, mark.index, qd)), 0.0
    slope = row_acceleration(m.solids, m.rates, m.rows, m.terms, mark.index) - m.rows[mark.index].gamma
    return row_rate(m.solids, m.rows, m.terms, mark.index, qd), slope
