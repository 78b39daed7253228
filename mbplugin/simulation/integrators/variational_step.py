"""The equations of one variational step, and how they are solved.

With P = ∂L/∂q̇ and g = ∂L/∂q plus what acts besides, both at the midpoint q ∘ Δ/2 with rates Δ/h, a step
solves for its increment Δ and the impulses λ of the constraints

    p + Cᵀλ = dexp(−Δ)⁻ᵀ P − h Aᵀ g,    Φ(q ∘ Δ) = 0,    A = ½ (1 + tan(|Δ|/4)/|Δ| Δ×)

and ends with p₊ = p + Cᵀλ + Δ × P + h g, which is this and its mirror image together; dexp, A and × differ
from 1, ½ and 0 for turns on the group only. The velocity constraints at the end then take their share of
p₊. Rows without a position (wheels, knife edges) hold at the midpoint instead.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt, tan
from typing import Any, NamedTuple

import numpy as np
from numba import types

from mbplugin.dynamics.compiler.jit import compiled, kernel
from mbplugin.dynamics.kernels.articulated import inward, outward
from mbplugin.dynamics.kernels.forces import gather
from mbplugin.dynamics.kernels.group import displace, increment_rate
from mbplugin.dynamics.kernels.momenta import collect_forces, kinetic_slopes, momenta
from mbplugin.dynamics.kernels.resistance import resist
from mbplugin.dynamics.kernels.rows import RATE
from mbplugin.dynamics.kernels.solve import row_acceleration, row_in_rates, row_rate
from mbplugin.model.spatial import Array
from mbplugin.simulation.steppers.evaluate import ACT, CONFIGURE, LEAP, SIGNATURE, SPLIT, Act
from mbplugin.simulation.steppers.kernel_state import MATRIX, VECTOR, Machine, lent

_ITERATIONS = 60
#: A correction of an increment after which the next would be none, and one that will do where rounding
#: lets it become no smaller: relative to the increment, and absolute, rad or m.
_SOLVED, _STALLED = (1e-14, 1e-17), (1e-11, 1e-14)
#: Corrections in a row, none of them the smallest so far, after which nothing is gained any more: of
#: those that will do, and of others.
_PATIENCE = (2, 8)
#: What ``impel`` does, in this order; the numbers add up.
MOMENTA, SLOPES, FREE = 1, 2, 4


class Room(NamedTuple):
    """What a step works with.

    Parameters
    ----------
    J : (r, nv) array
        Chosen rows in joint rates at the start.
    p, x, P, g : (nv,) array
        Momenta at the start, the increment, momenta and what changes them at the midpoint.
    v, step : (nv,) array
        Rates, and a correction of x.
    at : (nq,) array
    impulse, phi : (r,) array
        λ, and residuals.
    """

    J: Array
    p: Array
    x: Array
    P: Array
    g: Array
    v: Array
    step: Array
    at: Array
    impulse: Array
    phi: Array


def make_room(r: int, nq: int, nv: int) -> Room:
    """Return room for steps with r chosen rows."""
    p, x, P, g, v, step = (np.zeros(nv) for _ in range(6))
    return Room(np.zeros((r, nv)), p, x, P, g, v, step, np.zeros(nq), np.zeros(r), np.zeros(r))


def impel(place: int, what: int, t: float, begun: float, q: Array, qd: Array) -> bool:
    """Do what is asked at a configured state.

    MOMENTA fills ``u`` of the rates with ∂L/∂q̇; SLOPES, after it, ``tau`` with ∂L/∂q plus what acts
    besides; FREE fills ``qdd`` with M⁻¹ ``tau`` and ``a`` of the solids with what follows from it.
    """
    m = lent(place)
    if what & MOMENTA:
        momenta(m.solids, m.rates, qd)
    if what & SLOPES:
        kinetic_slopes(m.solids, m.rates, qd)
        for i in range(3):
            m.power[i] = 0.0
        gather(m.solids, m.rates, m.loads, m.springs, q, qd, m.power)
        resist(m.solids, m.rates, m.rows, m.terms, m.resistances, qd, m.power)
        collect_forces(m.solids, m.rates)
        for j in range(len(qd)):
            m.rates[j].tau += m.rates[j].qdd
    if what & FREE:
        for k in range(1, len(m.solids)):
            for i in range(6):
                m.solids[k].f[i] = 0.0
        inward(m.solids, m.rates, False)
        outward(m.solids, m.rates, False)
    return True


@lru_cache(maxsize=1)
def compiled_impel() -> Act:
    """Return ``impel``, compiled or from the cache."""
    return compiled(impel, SIGNATURE)


_named_tuple: Any = types.NamedTuple  # the stubs leave it untyped
#: The room as the compiler knows it, and how the step is called.
ROOM = _named_tuple([MATRIX, *[VECTOR] * 9], Room)
_STEP = types.int64(ACT, ACT, types.intp, types.float64, types.float64, VECTOR, VECTOR, VECTOR, ROOM)
#: The step as the loop gets it: a pointer.
STEP = types.FunctionType(_STEP)


def variational_step(
    act: Act, impel: Act, place: int, t: float, h: float, q: Array, qd: Array, qdd: Array, room: Room
) -> int:
    """Take a step in place; return the number of corrections, or zero where the equations are not solved.

    ``power`` is that at the midpoint; without a solution q and qd stay as they are.
    """
    m = lent(place)
    act(place, CONFIGURE, t, t, q, qd)
    impel(place, MOMENTA, t, t, q, qd)
    for i in range(len(m.chosen)):
        for j in range(len(qd)):
            room.J[i, j] = 0.0
        row_in_rates(m.solids, m.rates, m.rows, m.terms, m.chosen[i], 1.0, room.J[i])
        room.impulse[i] = 0.5 * h * m.multipliers[i]
    for j in range(len(qd)):
        room.p[j] = m.rates[j].u
        room.x[j] = h * (qd[j] + 0.5 * h * qdd[j])
    best, since = np.inf, 0
    for n in range(1, _ITERATIONS + 1):
        _look_ahead(act, impel, place, t, h, q, room, n == 1)
        _correct(act, impel, place, t, h, room)
        size, change = 0.0, 0.0
        for j in range(len(qd)):
            room.x[j] += room.step[j]
            size = max(size, abs(room.x[j]))
            change = max(change, abs(room.step[j]))
        since = 0 if change < best else since + 1
        best = min(best, change)
        stalled = since >= _PATIENCE[0] and change <= _STALLED[0] * size + _STALLED[1]
        if stalled or change <= _SOLVED[0] * size + _SOLVED[1]:
            _end(act, impel, place, t, h, q, qd, room)
            return n
        if since >= _PATIENCE[1]:
            return 0
    return 0


@lru_cache(maxsize=1)
def compiled_step() -> Any:
    """Return the step, compiled or from the cache."""
    return compiled(variational_step, _STEP)


@kernel
def _look_ahead(
    act: Act, impel: Act, place: int, t: float, h: float, q: Array, room: Room, first: bool
) -> None:
    """Fill residuals of the rows, and momenta and what changes them at the midpoint."""
    m = lent(place)
    for j in range(len(room.x)):
        room.v[j] = room.x[j] / h
        room.step[j] = 0.5 * room.x[j]
    if len(m.chosen):
        displace(m.solids, q, room.x, room.at)
        act(place, CONFIGURE, t + h, t, room.at, room.v)
        for i in range(len(m.chosen)):
            room.phi[i] = m.rows[m.chosen[i]].phi
    displace(m.solids, q, room.step, room.at)
    act(place, CONFIGURE | SPLIT if first else CONFIGURE, t + 0.5 * h, t, room.at, room.v)
    for i in range(len(m.chosen)):
        row = m.rows[m.chosen[i]]
        if not row.holonomic or (row.kind == RATE and row.coordinate < 0):
            room.phi[i] = h * (row_rate(m.solids, m.rows, m.terms, m.chosen[i], room.v) + row.bias)
    impel(place, MOMENTA | SLOPES, t, t, room.at, room.v)
    for j in range(len(room.x)):
        room.P[j] = m.rates[j].u
        room.g[j] = m.rates[j].tau


@kernel
def _correct(act: Act, impel: Act, place: int, t: float, h: float, room: Room) -> None:
    """Correct λ, and fill the correction δ of x:  M δ − h Cᵀδλ = h · residual,  C δ = −Φ."""
    m = lent(place)
    increment_rate(m.solids, room.x, room.P, room.step)
    for j in range(len(room.x)):
        m.rates[j].tau = h * (room.p[j] - room.step[j] + 0.5 * h * room.g[j] + _pulled(room, j))
    _add_cross(m, room.x, room.g, True, -0.5 * h * h)
    impel(place, FREE, t, t, room.at, room.v)
    for j in range(len(room.x)):
        room.step[j] = m.rates[j].qdd
    if len(m.chosen) == 0:
        return
    for i in range(len(m.chosen)):
        gap = room.phi[i] + row_acceleration(m.solids, m.rates, m.rows, m.terms, m.chosen[i])
        m.gap[i] = -m.rows[m.chosen[i]].unit * gap
    act(place, LEAP, t, t, room.at, room.v)
    for j in range(len(room.x)):
        room.step[j] += m.rates[j].qdd
    for i in range(len(m.chosen)):
        room.impulse[i] += m.multipliers[i] / h


@kernel
def _end(act: Act, impel: Act, place: int, t: float, h: float, q: Array, qd: Array, room: Room) -> None:
    """Put q to the end, and qd to the rates that follow from the momenta there."""
    m = lent(place)
    displace(m.solids, q, room.x, room.at)
    for i in range(len(q)):
        q[i] = room.at[i]
    act(place, CONFIGURE, t + h, t, q, room.v)
    for j in range(len(qd)):
        m.rates[j].tau = room.p[j] + h * room.g[j] + _pulled(room, j)
    _add_cross(m, room.x, room.P, False, 1.0)
    impel(place, FREE, t, t, q, qd)
    for j in range(len(qd)):
        qd[j] = m.rates[j].qdd


@kernel
def _pulled(room: Room, j: int) -> float:
    """Return element j of Cᵀλ at the start."""
    total = 0.0
    for i in range(len(room.impulse)):
        total += room.J[i, j] * room.impulse[i]
    return total


@kernel
def _add_cross(m: Machine, x: Array, a: Array, tangent: bool, size: float) -> None:
    """Add ``size`` Δ × a to ``tau`` of turns on the group, ``tangent``: times tan(|Δ|/4)/|Δ|."""
    for k in range(1, len(m.solids)):
        me = m.solids[k]
        if not me.quaternion:
            continue
        j = me.qd_start + me.freedoms - 3
        angle = sqrt(x[j] * x[j] + x[j + 1] * x[j + 1] + x[j + 2] * x[j + 2])
        part = size
        if tangent:
            part *= tan(0.25 * angle) / angle if angle > 1e-8 else 0.25
        for i in range(3):
            b, c = j + (i + 1) % 3, j + (i + 2) % 3
            m.rates[j + i].tau += part * (x[b] * a[c] - x[c] * a[b])
