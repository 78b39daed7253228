"""Back onto the constraints after a step: the smallest correction in the metric of the masses."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numba import types

from mbplugin.dynamics.compiler.jit import compiled, kernel
from mbplugin.dynamics.kernels.group import displace
from mbplugin.dynamics.kernels.solve import row_rate
from mbplugin.model.spatial import Array
from mbplugin.simulation.steppers.evaluate import ACT, CONFIGURE, LEAP, SPLIT, Act, compiled_act
from mbplugin.simulation.steppers.kernel_state import MACHINE, VECTOR, Machine, lend, lent

#: Scaled position residual that is left alone.
CLOSED = 1e-13
_ITERATIONS = 8


@kernel
def project(act: Act, place: int, t: float, begun: float, q: Array, qd: Array) -> bool:
    """Correct q and qd in place so that Φ = 0 and C v + b = 0; return whether M is regular.

    Poses, rows and their decomposition are those of the corrected state afterwards.
    """
    m = lent(place)
    if not act(place, CONFIGURE | SPLIT, t, begun, q, qd):
        return False
    if len(m.chosen) == 0:
        return True
    # near a singular pose a weak row would fling the mechanism about
    m.health[1] = m.health[2]
    if project_position(act, place, t, begun, q, qd):
        act(place, SPLIT, t, begun, q, qd)
    project_velocity(act, place, t, begun, q, qd)
    m.health[1] = 0.0
    return True


@kernel
def project_position(act: Act, place: int, t: float, begun: float, q: Array, qd: Array) -> bool:
    """Take Newton steps with the decomposition at hand; return whether q has moved."""
    m, moved, last = lent(place), False, np.inf
    step, new = np.empty(len(qd)), np.empty(len(q))
    for _ in range(_ITERATIONS):
        worst = 0.0
        for i in range(len(m.chosen)):
            row = m.rows[m.chosen[i]]
            m.gap[i] = -row.unit * row.phi
            worst = max(worst, abs(m.gap[i]))
        if worst <= CLOSED or worst > 0.5 * last:
            break
        last, moved = worst, True
        act(place, LEAP, t, begun, q, qd)
        for j in range(len(qd)):
            step[j] = m.rates[j].qdd
        displace(m.solids, q, step, new)
        for i in range(len(q)):
            q[i] = new[i]
        act(place, CONFIGURE, t, begun, q, qd)
    return moved


@kernel
def project_velocity(act: Act, place: int, t: float, begun: float, q: Array, qd: Array) -> None:
    """Correct qd in place at a decomposed state; impulses stay in ``multipliers``."""
    m = lent(place)
    for i in range(len(m.chosen)):
        row = m.rows[m.chosen[i]]
        m.gap[i] = -row.unit * (row_rate(m.solids, m.rows, m.terms, m.chosen[i], qd) + row.bias)
    act(place, LEAP, t, begun, q, qd)
    for j in range(len(qd)):
        qd[j] += m.rates[j].qdd
    act(place, CONFIGURE, t, begun, q, qd)


def _project_alone(act: Act, m: Machine, t: float, position: bool, q: Array, qd: Array) -> bool:
    place = lend(m)
    if position:
        return project(act, place, t, t, q, qd)
    regular = act(place, CONFIGURE | SPLIT, t, t, q, qd)
    if len(m.chosen):
        project_velocity(act, place, t, t, q, qd)
    return bool(regular)


@lru_cache(maxsize=1)
def _projector() -> Any:
    numbers = (types.float64, types.boolean, VECTOR, VECTOR)
    return compiled(_project_alone, types.boolean(ACT, MACHINE, *numbers))


def project_state(m: Machine, t: float, q: Array, qd: Array) -> bool:
    """Project a state in place, as after a step."""
    return bool(_projector()(compiled_act(), m, t, True, q, qd))


def jump_rates(m: Machine, t: float, q: Array, qd: Array) -> Array:
    """Change the rates in place so that the chosen rows hold; return the impulses (r,), N·s and N·m·s."""
    _projector()(compiled_act(), m, t, False, q, qd)
    return np.array(m.multipliers)
