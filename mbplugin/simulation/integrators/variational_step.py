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
from mbplugin.simulation.steppers.evaluate import (
    EVALUATE,
    FACTORIZE,
    IMPULSE,
    KINEMATICS,
    SIGNATURE,
    Evaluate,
)
from mbplugin.simulation.steppers.kernel_state import BEYOND, MATRIX, VECTOR, KernelState, load_struct

ITERATIONS = 60
#: A correction of an increment after which the next would be none, and one that will do where rounding
#: lets it become no smaller: relative to the increment, and absolute, rad or m.
SOLVED, STALLED = (1e-14, 1e-17), (1e-11, 1e-14)
#: Corrections in a row, none of them the smallest so far, after which nothing is gained any more: of
#: those that will do, and of others.
PATIENCE = (2, 8)
#: What ``discrete_forces`` does, in this order; the numbers add up.
MOMENTA, SLOPES, FREE = 1, 2, 4


class Workspace(NamedTuple):
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


def make_workspace(r: int, nq: int, nv: int) -> Workspace:
    """Return room for steps with r chosen rows."""
    p, x, P, g, v, step = (np.zeros(nv) for _ in range(6))
    return Workspace(np.zeros((r, nv)), p, x, P, g, v, step, np.zeros(nq), np.zeros(r), np.zeros(r))


def discrete_forces(place: int, what: int, t: float, begun: float, q: Array, qd: Array) -> bool:
    """Evaluate the requested quantities at a configured state q (nq,), qd (nv,).

    MOMENTA fills ``u`` of the rates with ∂L/∂q̇; SLOPES, after it, ``tau`` with ∂L/∂q plus what acts
    besides; FREE fills ``qdd`` with M⁻¹ ``tau`` and ``a`` of the composite bodies with what follows from it.
    """
    m = load_struct(place)
    if what & MOMENTA:
        momenta(m.composites, m.rates, qd)
    if what & SLOPES:
        kinetic_slopes(m.composites, m.rates, qd)
        for i in range(3):
            m.power[i] = 0.0
        gather(m.composites, m.rates, m.loads, m.springs, q, qd, m.power)
        resist(m.composites, m.rates, m.rows, m.terms, m.resistances, qd, m.power)
        collect_forces(m.composites, m.rates)
        for j in range(len(qd)):
            m.rates[j].tau += m.rates[j].qdd
    if what & FREE:
        for k in range(1, len(m.composites)):
            for i in range(6):
                m.composites[k].f[i] = 0.0
        inward(m.composites, m.rates, False)
        outward(m.composites, m.rates, False)
    return True


@lru_cache(maxsize=1)
def compiled_discrete_forces() -> Evaluate:
    """Return ``discrete_forces``, compiled or from the cache."""
    return compiled(discrete_forces, SIGNATURE, address=True)


_named_tuple: Any = types.NamedTuple  # the stubs leave it untyped
#: The room as the compiler knows it, and how the step is called.
ROOM = _named_tuple([MATRIX, *[VECTOR] * 9], Workspace)
_STEP = types.int64(
    EVALUATE, EVALUATE, types.intp, types.float64, types.float64, VECTOR, VECTOR, VECTOR, ROOM
)
#: The step as the loop gets it: a pointer.
STEP = types.FunctionType(_STEP)


def variational_step(
    evaluate: Evaluate,
    discrete_forces: Evaluate,
    place: int,
    t: float,
    h: float,
    q: Array,
    qd: Array,
    qdd: Array,
    workspace: Workspace,
) -> int:
    """Take a step in place; return the number of corrections, or zero where the equations are not solved.

    ``q`` (nq,), ``qd`` (nv,) and ``qdd`` (nv,) are those of the start and become those of the end. ``power``
    is that at the midpoint; without a solution q and qd stay as they are.
    """
    m = load_struct(place)
    evaluate(place, KINEMATICS, t, t, q, qd)
    discrete_forces(place, MOMENTA, t, t, q, qd)
    for i in range(len(m.independent_rows)):
        for j in range(len(qd)):
            workspace.J[i, j] = 0.0
        row_in_rates(m.composites, m.rates, m.rows, m.terms, m.independent_rows[i], 1.0, workspace.J[i])
        workspace.impulse[i] = 0.5 * h * m.multipliers[i]
    for j in range(len(qd)):
        workspace.p[j] = m.rates[j].u
        workspace.x[j] = h * (qd[j] + 0.5 * h * qdd[j])
    best, since = np.inf, 0
    for n in range(1, ITERATIONS + 1):
        _look_ahead(evaluate, discrete_forces, place, t, h, q, workspace, n == 1)
        _correct(evaluate, discrete_forces, place, t, h, workspace)
        size, change = 0.0, 0.0
        for j in range(len(qd)):
            workspace.x[j] += workspace.step[j]
            # NaN is not smaller either
            if not abs(workspace.x[j]) < BEYOND:
                return 0
            size = max(size, abs(workspace.x[j]))
            change = max(change, abs(workspace.step[j]))
        since = 0 if change < best else since + 1
        best = min(best, change)
        stalled = since >= PATIENCE[0] and change <= STALLED[0] * size + STALLED[1]
        if stalled or change <= SOLVED[0] * size + SOLVED[1]:
            return n if _end(evaluate, discrete_forces, place, t, h, q, qd, workspace) else 0
        if since >= PATIENCE[1]:
            return 0
    return 0


@lru_cache(maxsize=1)
def compiled_step() -> Any:
    """Return the step, compiled or from the cache."""
    return compiled(variational_step, _STEP, address=True)


@kernel
def _look_ahead(
    evaluate: Evaluate,
    discrete_forces: Evaluate,
    place: int,
    t: float,
    h: float,
    q: Array,
    workspace: Workspace,
    first: bool,
) -> None:
    """Fill residuals of the rows, and momenta and what changes them at the midpoint of a step from q (nq,)."""
    m = load_struct(place)
    for j in range(len(workspace.x)):
        workspace.v[j] = workspace.x[j] / h
        workspace.step[j] = 0.5 * workspace.x[j]
    if len(m.independent_rows):
        displace(m.composites, q, workspace.x, workspace.at)
        evaluate(place, KINEMATICS, t + h, t, workspace.at, workspace.v)
        for i in range(len(m.independent_rows)):
            workspace.phi[i] = m.rows[m.independent_rows[i]].phi
    displace(m.composites, q, workspace.step, workspace.at)
    evaluate(
        place, KINEMATICS | FACTORIZE if first else KINEMATICS, t + 0.5 * h, t, workspace.at, workspace.v
    )
    for i in range(len(m.independent_rows)):
        row = m.rows[m.independent_rows[i]]
        if not row.holonomic or (row.kind == RATE and row.coordinate < 0):
            workspace.phi[i] = h * (
                row_rate(m.composites, m.rows, m.terms, m.independent_rows[i], workspace.v) + row.bias
            )
    discrete_forces(place, MOMENTA | SLOPES, t, t, workspace.at, workspace.v)
    for j in range(len(workspace.x)):
        workspace.P[j] = m.rates[j].u
        workspace.g[j] = m.rates[j].tau


@kernel
def _correct(
    evaluate: Evaluate, discrete_forces: Evaluate, place: int, t: float, h: float, workspace: Workspace
) -> None:
    """Correct λ, and fill the correction δ of x:  M δ − h Cᵀδλ = h · residual,  C δ = −Φ."""
    m = load_struct(place)
    increment_rate(m.composites, workspace.x, workspace.P, workspace.step)
    for j in range(len(workspace.x)):
        m.rates[j].tau = h * (
            workspace.p[j] - workspace.step[j] + 0.5 * h * workspace.g[j] + _pulled(workspace, j)
        )
    _add_cross(m, workspace.x, workspace.g, True, -0.5 * h * h)
    discrete_forces(place, FREE, t, t, workspace.at, workspace.v)
    for j in range(len(workspace.x)):
        workspace.step[j] = m.rates[j].qdd
    if len(m.independent_rows) == 0:
        return
    for i in range(len(m.independent_rows)):
        gap = workspace.phi[i] + row_acceleration(
            m.composites, m.rates, m.rows, m.terms, m.independent_rows[i]
        )
        m.gap[i] = -m.rows[m.independent_rows[i]].unit * gap
    evaluate(place, IMPULSE, t, t, workspace.at, workspace.v)
    for j in range(len(workspace.x)):
        workspace.step[j] += m.rates[j].qdd
    for i in range(len(m.independent_rows)):
        workspace.impulse[i] += m.multipliers[i] / h


@kernel
def _end(
    evaluate: Evaluate,
    discrete_forces: Evaluate,
    place: int,
    t: float,
    h: float,
    q: Array,
    qd: Array,
    workspace: Workspace,
) -> bool:
    """Put q (nq,) to the end, and qd (nv,) to the rates that follow from the momenta there.

    False, and nothing is put anywhere, where these are beyond all numbers.
    """
    m = load_struct(place)
    displace(m.composites, q, workspace.x, workspace.at)
    evaluate(place, KINEMATICS, t + h, t, workspace.at, workspace.v)
    for j in range(len(qd)):
        m.rates[j].tau = workspace.p[j] + h * workspace.g[j] + _pulled(workspace, j)
    _add_cross(m, workspace.x, workspace.P, False, 1.0)
    discrete_forces(place, FREE, t, t, workspace.at, qd)
    for j in range(len(qd)):
        if not abs(m.rates[j].qdd) < BEYOND:
            return False
    for i in range(len(q)):
        q[i] = workspace.at[i]
    for j in range(len(qd)):
        qd[j] = m.rates[j].qdd
    return True


@kernel
def _pulled(workspace: Workspace, j: int) -> float:
    """Return element j of Cᵀλ at the start."""
    total = 0.0
    for i in range(len(workspace.impulse)):
        total += workspace.J[i, j] * workspace.impulse[i]
    return total


@kernel
def _add_cross(m: KernelState, x: Array, a: Array, tangent: bool, size: float) -> None:
    """Add ``size`` Δ × a to ``tau`` of turns on the group, ``tangent``: times tan(|Δ|/4)/|Δ|.

    The increment Δ is x (nv,), rad and m; a (nv,).
    """
    for k in range(1, len(m.composites)):
        composite = m.composites[k]
        if not composite.quaternion:
            continue
        j = composite.qd_start + composite.freedoms - 3
        angle = sqrt(x[j] * x[j] + x[j + 1] * x[j + 1] + x[j + 2] * x[j + 2])
        part = size
        if tangent:
            part *= tan(0.25 * angle) / angle if angle > 1e-8 else 0.25
        for i in range(3):
            b, c = j + (i + 1) % 3, j + (i + 2) % 3
            m.rates[j + i].tau += part * (x[b] * a[c] - x[c] * a[b])
