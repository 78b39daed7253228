"""Projection onto the constraints after a step: the smallest correction in the metric of the masses."""

from __future__ import annotations

from functools import lru_cache
from math import inf
from typing import Any

import numpy as np
from numba import types

from mbplugin.dynamics.compiler.jit import compiled, kernel
from mbplugin.dynamics.kernels.group import displace
from mbplugin.dynamics.kernels.solve import row_rate
from mbplugin.model.spatial import Array
from mbplugin.simulation.steppers.evaluate import (
    FACTORIZE,
    IMPULSE,
    KINEMATICS,
    Evaluate,
    evaluate_address,
    evaluate_from,
    place_of,
)
from mbplugin.simulation.steppers.kernel_state import VECTOR, KernelState, load_struct

#: Scaled position residual that is left alone.
CLOSED = 1e-13
_ITERATIONS = 8


@kernel
def project(evaluate: Evaluate, place: int, t: float, begun: float, q: Array, qd: Array) -> bool:
    """Correct q (nq,) and qd (nv,) in place so that Φ = 0 and C v + b = 0; return whether M is regular.

    Poses, rows and their decomposition are those of the corrected state afterwards.
    """
    m = load_struct(place)
    if not evaluate(place, KINEMATICS | FACTORIZE, t, begun, q, qd):
        return False
    if len(m.independent_rows) == 0:
        return True
    # near a singular pose a weak row would fling the mechanism about
    m.row_independence[1] = m.row_independence[2]
    if project_position(evaluate, place, t, begun, q, qd):
        evaluate(place, FACTORIZE, t, begun, q, qd)
    project_velocity(evaluate, place, t, begun, q, qd)
    m.row_independence[1] = 0.0
    return True


@kernel
def project_position(evaluate: Evaluate, place: int, t: float, begun: float, q: Array, qd: Array) -> bool:
    """Take Newton steps with the decomposition at hand; return whether q has moved; q (nq,), qd (nv,)."""
    m, moved, last = load_struct(place), False, inf
    step = m.v
    for _ in range(_ITERATIONS):
        worst = 0.0
        for i in range(len(m.independent_rows)):
            row = m.rows[m.independent_rows[i]]
            m.gap[i] = -row.unit * row.phi
            worst = max(worst, abs(m.gap[i]))
        if worst <= CLOSED or worst > 0.5 * last:
            break
        last, moved = worst, True
        evaluate(place, IMPULSE, t, begun, q, qd)
        for j in range(len(qd)):
            step[j] = m.rates[j].qdd
        displace(m.composites, q, step, q)
        evaluate(place, KINEMATICS, t, begun, q, qd)
    return moved


@kernel
def project_velocity(evaluate: Evaluate, place: int, t: float, begun: float, q: Array, qd: Array) -> None:
    """Correct qd (nv,) in place at a decomposed state, q (nq,); impulses stay in ``multipliers``."""
    m = load_struct(place)
    for i in range(len(m.independent_rows)):
        row = m.rows[m.independent_rows[i]]
        m.gap[i] = -row.unit * (row_rate(m.composites, m.rows, m.terms, m.independent_rows[i], qd) + row.bias)
    evaluate(place, IMPULSE, t, begun, q, qd)
    for j in range(len(qd)):
        qd[j] += m.rates[j].qdd
    evaluate(place, KINEMATICS, t, begun, q, qd)


def _project_alone(address: int, place: int, t: float, position: bool, q: Array, qd: Array) -> bool:
    """Project q (nq,) and qd (nv,) in place, or qd only; return whether anything moved or every rate moves mass."""
    evaluate = evaluate_from(address)
    if position:
        return project(evaluate, place, t, t, q, qd)
    regular = evaluate(place, KINEMATICS | FACTORIZE, t, t, q, qd)
    if len(load_struct(place).independent_rows):
        project_velocity(evaluate, place, t, t, q, qd)
    return bool(regular)


@lru_cache(maxsize=1)
def _projector() -> Any:
    numbers = (types.float64, types.boolean, VECTOR, VECTOR)
    return compiled(_project_alone, types.boolean(types.intp, types.intp, *numbers))


def project_state(m: KernelState, t: float, q: Array, qd: Array) -> bool:
    """Project a state q (nq,), qd (nv,) in place, as after a step."""
    return bool(_projector()(evaluate_address(), place_of(m), t, True, q, qd))


def jump_rates(m: KernelState, t: float, q: Array, qd: Array) -> Array:
    """Change the rates qd (nv,) at q (nq,) in place so that the chosen rows hold.

    Returns the impulses (r,), N·s and N·m·s.
    """
    _projector()(evaluate_address(), place_of(m), t, False, q, qd)
    return np.array(m.multipliers)
