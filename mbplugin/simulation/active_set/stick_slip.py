"""Stick and slip: decide which dry resistances stick and which slide at an instant, for all joints together.

A resistance at rest sticks if some force within its static bound keeps its acceleration zero; otherwise
it slides and its force opposes the motion. Among all forces within the bounds, the actual ones minimise Gauss's
constraint, a least-squares problem with bounds: with the innovations G of the resting rows, projected off the
persistent rows and the locks, the accelerations are a = a₀ + G Gᵀ f, and f minimises ‖Gᵀ f + c‖ with G c = a₀. The
accelerations are unique. The forces of rows that depend on each other are not; then as few rows as possible get
multipliers.

A row that depends on the persistent rows at this pose only (a rocker at its dead centre) cannot be influenced by
any force: its rate is zero regardless of the forces. It slides if it accelerates; otherwise its rate is monitored.

The runner and the loop of many stops use the same two kernels: :func:`let_slide` before, and
:func:`solve_stick_slip` after the accelerations without the resting resistances are known. Usually all resistances
at rest can be held; the search for those that break away, which is slowest to compile, is compiled when needed.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numba import types

from mbplugin.dynamics.compiler.jit import Records, compiled, kernel
from mbplugin.dynamics.compiler.pointers import address_of, function_at
from mbplugin.dynamics.kernels.rows import any_held
from mbplugin.dynamics.kernels.solve import add_innovations, row_acceleration, row_rate
from mbplugin.dynamics.tree_model import TreeModel
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.active_set.breaking_away import break_away, column_product, true_positions
from mbplugin.simulation.steppers.kernel_state import MATRIX, VECTOR, KernelState, load_struct

#: A rate below this counts as zero, rad/s and m/s.
AT_REST = 1e-9
#: Accelerations below this count as zero for a mechanism at rest, rad/s² and m/s².
STILL = 1e-6
#: Accelerations below this, relative to those of the mechanism, count as zero for rows that no force can influence.
_UNMOVED = 1e-9
_FLAGS = types.boolean[::1]
_BREAK_AWAY = types.void(types.intp, MATRIX, VECTOR, _FLAGS, _FLAGS)
#: In the decision: get :func:`break_away` from its address; it is called with the address of a kernel state.
breaking_from = function_at(types.FunctionType(_BREAK_AWAY))
_SOLVE = types.boolean(types.intp, types.intp, VECTOR, _FLAGS, types.float64, _FLAGS, _FLAGS)
#: In a loop: get :func:`solve_stick_slip` from its address; it is called with the address of a kernel state.
solve_from = function_at(types.FunctionType(_SOLVE))
#: Rows of innovations are clearly independent if more than this fraction of each remains after orthogonalisation.
_OWN = 1e-4


@kernel
def let_slide(place: int, qd: Array, acting: AnyArray, at_zero: int, resting: AnyArray) -> None:
    """Set the sense of every dry resistance that slides, zero for the others; clear the constant forces.

    Parameters
    ----------
    place : int
        Address of a kernel state with the kinematics of the state.
    qd : (nv,) array
        rad/s and m/s.
    acting : (n,) array of bool
        Those that act; the resistances of a freedom with a drive or lock do not.
    at_zero : int
        A row whose rate passes zero here; −1: none.
    resting : (n,) array of bool
        In: those that stuck so far, whose rates may have rounding errors. Out: those with dry friction that are
        at rest now.
    """
    m = load_struct(place)
    for n in range(len(m.resistances)):
        one = m.resistances[n]
        rate = row_rate(m.composites, m.rows, m.terms, one.row, qd)
        dry = acting[n] and one.static > 0.0
        still = abs(rate) <= AT_REST or resting[n] or one.row == at_zero
        one.sense = (1.0 if rate > 0.0 else -1.0) if dry and not still else 0.0
        one.stuck = 0.0
        resting[n] = dry and still


def solve_stick_slip(
    breaking: int,
    place: int,
    qd: Array,
    resting: AnyArray,
    tolerance: float,
    sticking: AnyArray,
    carrying: AnyArray,
) -> bool:
    """Decide which of the resting resistances stick, and set their ``sense`` and ``stuck``.

    Return True if the decision is made. If something breaks away and ``breaking`` is 0, it is not; call again with
    the address then.

    Parameters
    ----------
    breaking : int
        Address of :func:`break_away`, or 0 if it is not compiled yet.
    place : int
        Address of a kernel state with only the persistent rows and the locks in force, evaluated at the state with
        the forces of sliding resistances, but none of resting ones.
    qd : (nv,) array
        rad/s and m/s.
    resting : (n,) array of bool
        Those with dry friction whose rate is zero.
    tolerance : float
        Independence below which a row depends on those in force.
    sticking : (n,) array of bool
        Out: those whose rates stay zero; their rows keep the present values.
    carrying : (n,) array of bool
        Out: those of them whose rows, independent ones, get multipliers.
    """
    m = load_struct(place)
    n = len(m.resistances)
    for k in range(n):
        sticking[k] = carrying[k] = False
    if not len(true_positions(resting)):
        return True
    which = np.empty(n, dtype=np.int64)
    for k in range(n):
        which[k] = m.resistances[k].row if resting[k] else -1
    G, share = own_innovations(m, which)
    a0, within, largest, fastest = np.empty(n), np.zeros(n, dtype=np.bool_), 0.0, 0.0
    for j in range(len(qd)):
        largest, fastest = max(largest, abs(m.rates[j].qdd)), max(fastest, abs(qd[j]))
    for k in range(n):
        one = m.resistances[k]
        a0[k] = row_acceleration(m.composites, m.rates, m.rows, m.terms, one.row) - m.rows[one.row].gamma
        within[k] = resting[k] and share[k] > tolerance
        if resting[k] and not within[k] and abs(a0[k]) > _UNMOVED * (1.0 + largest + fastest * fastest):
            one.sense = np.sign(a0[k])
    if all_hold(m.resistances, G, a0, within):
        for k in range(n):
            carrying[k] = within[k]
    elif breaking == 0:
        return False
    else:
        breaking_from(breaking)(place, G, a0, within, carrying)
    for k in range(n):
        one = m.resistances[k]
        sticking[k] = resting[k] and one.sense == 0.0
        if sticking[k]:
            m.rows[one.row].offset += m.rows[one.row].phi
    return True


@kernel
def own_innovations(m: KernelState, which: AnyArray) -> tuple[Array, Array]:
    """Return the innovations G (n, nv) of rows ``which`` (n,), projected off the rows in force, and their share, (n,).

    The share is the fraction of a row's length that the projection leaves. Both are zero for an index −1.

    The rows of the kernel state must have been factorised at the state, unless they lock single rates: then the
    innovations need no projection.
    """
    n, nv, factorized = len(which), len(m.rates), not any_held(m.rates)
    G, share = np.zeros((n, nv)), np.zeros(n)
    for k in range(n):
        if which[k] < 0:
            continue
        add_innovations(m.composites, m.rates, m.rows, m.terms, which[k], 1.0, G[k])
        whole = _length(G[k])
        # twice is enough
        for _ in range(2 * factorized):
            for i in range(len(m.independent_rows)):
                along = 0.0
                for j in range(nv):
                    along += G[k, j] * m.Q[i, j]
                for j in range(nv):
                    G[k, j] -= along * m.Q[i, j]
        share[k] = _length(G[k]) / whole if whole > 0.0 else 0.0
    return G, share


@kernel
def _length(a: Array) -> float:
    """Return the Euclidean norm of a (n,)."""
    total = 0.0
    for j in range(len(a)):
        total += a[j] * a[j]
    return sqrt(total)


@kernel
def is_at_rest(qd: Array, qdd: Array) -> bool:
    """Return True if all rates qd (nv,) and accelerations qdd (nv,) count as zero, SI units."""
    fastest, largest = 0.0, 0.0
    for j in range(len(qd)):
        fastest, largest = max(fastest, abs(qd[j])), max(largest, abs(qdd[j]))
    return fastest <= AT_REST and largest <= STILL


class _Compiled(NamedTuple):
    """The kernels as called from Python, with the address of a kernel state as first argument (``solve``: second)."""

    let_slide: Any
    solve: Any
    own_share: Any


def _let_slide_at(place: int, qd: Array, acting: AnyArray, at_zero: int, resting: AnyArray) -> None:
    """Call :func:`let_slide`; qd (nv,), acting and resting (n,)."""
    let_slide(place, qd, acting, at_zero, resting)


def _own_share_at(place: int, row: int) -> float:
    _, share = own_innovations(load_struct(place), np.array([row]))
    return float(share[0])


def _break_away_at(place: int, G: Array, a0: Array, within: AnyArray, carrying: AnyArray) -> None:
    """Call :func:`break_away` on the kernel state at an address; G (n, nv), a0, within and carrying (n,)."""
    break_away(load_struct(place).resistances, G, a0, true_positions(within), carrying)


@lru_cache(maxsize=1)
def solve_address() -> int:
    """Return the address of the compiled :func:`solve_stick_slip`, for loops."""
    return address_of(compiled_stick_slip().solve, _SOLVE)


@lru_cache(maxsize=1)
def breaking_address() -> int:
    """Return the address of the compiled :func:`break_away`; the first call compiles it, or loads it from the cache."""
    return address_of(_compiled_break_away(), _BREAK_AWAY)


@lru_cache(maxsize=1)
def _compiled_break_away() -> Any:
    return compiled(_break_away_at, _BREAK_AWAY, address=True)


def breaking_so_far() -> int:
    """Return the address of the compiled :func:`break_away`, or 0 if it has not been needed so far."""
    return breaking_address() if breaking_address.cache_info().currsize else 0


def decide_stick_slip(
    place: int, qd: Array, resting: AnyArray, tolerance: float, sticking: AnyArray, carrying: AnyArray
) -> None:
    """Decide as :func:`solve_stick_slip`; :func:`break_away` is compiled only if something breaks away.

    qd (nv,), rad/s and m/s; resting, sticking and carrying (n,) of bool.
    """
    solve = compiled_stick_slip().solve
    if not solve(breaking_so_far(), place, qd, resting, tolerance, sticking, carrying):
        solve(breaking_address(), place, qd, resting, tolerance, sticking, carrying)


@lru_cache(maxsize=1)
def compiled_stick_slip() -> _Compiled:
    """Return the compiled kernels; they take the address of a kernel state."""
    flags, place, whole = _FLAGS, types.intp, types.int64
    return _Compiled(
        compiled(_let_slide_at, types.void(place, VECTOR, flags, whole, flags)),
        compiled(solve_stick_slip, _SOLVE, address=True),
        compiled(_own_share_at, types.float64(place, whole)),
    )


def rates_of(model: TreeModel, qd: Array) -> Array:
    """Return the rate of every resistance (n,) at rates qd (nv,) of the configured state, rad/s and m/s."""
    table = model.table
    out: Array = row_rates(model.composites, table.rows, table.terms, model.resistances, np.array(qd))
    return out


@kernel
def row_rates(composites: Records, rows: Records, terms: Records, resistances: Records, qd: Array) -> Array:
    """Return the rates (n,) of the resistances at qd (nv,), rad/s and m/s."""
    out = np.empty(len(resistances))
    for n in range(len(resistances)):
        out[n] = row_rate(composites, rows, terms, resistances[n].row, qd)
    return out


# Test whether all resistances at rest can be held, which is so at most instants.


@kernel
def all_hold(resistances: Records, G: Array, a0: Array, within: AnyArray) -> bool:
    """Return True if the rows ``within`` (n,) are clearly independent, and forces within their bounds hold them all.

    The forces f solve G Gᵀ f = −a₀, with Gᵀ = W R; G and a0 (n, nv), (n,).
    """
    at, n, nv = np.empty(len(within), dtype=np.int64), 0, G.shape[1]
    for k in range(len(within)):
        if within[k]:
            at[n] = k
            n += 1
    W, R, f = np.empty((nv, n)), np.zeros((n, n)), np.empty(n)
    for k in range(n):
        for j in range(nv):
            W[j, k] = G[at[k], j]
        whole = sqrt(column_product(W, k, k))
        for _ in range(2):
            for i in range(k):
                along = column_product(W, i, k)
                R[i, k] += along
                for j in range(nv):
                    W[j, k] -= along * W[j, i]
        R[k, k] = sqrt(column_product(W, k, k))
        if not R[k, k] > _OWN * whole:
            return False
        for j in range(nv):
            W[j, k] /= R[k, k]
    for k in range(n):
        f[k] = -a0[at[k]]
        for i in range(k):
            f[k] -= R[i, k] * f[i]
        f[k] /= R[k, k]
    for k in range(n - 1, -1, -1):
        for i in range(k + 1, n):
            f[k] -= R[k, i] * f[i]
        f[k] /= R[k, k]
        if not abs(f[k]) <= resistances[at[k]].static:
            return False
    return True
