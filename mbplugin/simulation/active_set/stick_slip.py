"""Stick and slip: which dry resistances stick and which slide at an instant, all joints together.

At rest a resistance sticks while some force within its static bound keeps its acceleration zero; otherwise
it slides and works against the motion. Of all forces within the bounds the actual ones give the
accelerations of least constraint (Gauß), which is least squares in bounds: with the innovations G of the
resting rows, free of what the persistent rows and the locks take up, the accelerations are
a = a₀ + G Gᵀ f, and f minimises ‖Gᵀ f + c‖ with G c = a₀. The accelerations are unique. The forces of rows
that depend on each other are not; then as few of them as possible are left to multipliers.

A row that depends on the persistent rows at this pose alone (a rocker at its dead centre) is out of reach
of any force: its rate is zero whatever acts on it. It slides where it accelerates, else it is watched.

The runner and the loop of many stops decide by the same two kernels: :func:`let_slide` before, and
:func:`solve_stick_slip` after the accelerations without the resting ones are known. Most often everything that
rests can be held; the search for what breaks away, which takes the compiler longest, is compiled where it is needed.
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

#: A rate is at rest below this, rad/s and m/s.
AT_REST = 1e-9
#: Accelerations below this are those of a mechanism at rest, rad/s² and m/s².
STILL = 1e-6
#: Accelerations out of reach of any force that count as zero, relative to those of the mechanism.
_UNMOVED = 1e-9
_FLAGS = types.boolean[::1]
_BREAK_AWAY = types.void(types.intp, MATRIX, VECTOR, _FLAGS, _FLAGS)
#: In the decision: :func:`break_away` at its address, called with the place of a kernel state.
breaking_from = function_at(types.FunctionType(_BREAK_AWAY))
_SOLVE = types.boolean(types.intp, types.intp, VECTOR, _FLAGS, types.float64, _FLAGS, _FLAGS)
#: In a loop: :func:`solve_stick_slip` at its address, called with the place of a kernel state.
solve_from = function_at(types.FunctionType(_SOLVE))
#: Rows of innovations that have this share of their own are far from depending on each other.
_OWN = 1e-4


@kernel
def let_slide(place: int, qd: Array, acting: AnyArray, at_zero: int, resting: AnyArray) -> None:
    """Set the sense of every dry resistance that moves, and nothing at those that rest.

    Parameters
    ----------
    place : int
        Of a kernel state with the kinematics of the state.
    qd : (nv,) array
        rad/s and m/s.
    acting : (n,) array of bool
        Those that act: a drive or a lock that leads a freedom takes over what resists it.
    at_zero : int
        A row whose rate has been found to pass zero here; −1: none.
    resting : (n,) array of bool
        In: those held at rest so far, whatever rounding has left of their rates. Out: those with a dry
        part that rest now.
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
    """Decide which of the resting resistances stick; their ``sense`` and ``stuck`` tell what they do from now on.

    Return whether that is decided. Where something breaks away and ``breaking`` is 0 it is not; the same call with
    an address decides it.

    Parameters
    ----------
    breaking : int
        The address of :func:`break_away`, or 0: not compiled yet.
    place : int
        Of a kernel state that holds the persistent rows and the locks only, evaluated at the state with the
        sliding resistances at work and nothing at the resting ones.
    qd : (nv,) array
        rad/s and m/s.
    resting : (n,) array of bool
        Those with a dry part whose rate is zero.
    tolerance : float
        Share of its own below which a row depends on those that hold.
    sticking : (n,) array of bool
        Becomes: those whose rates stay zero; their rows keep the values that they have.
    carrying : (n,) array of bool
        Becomes: those of them whose rows hold, independent ones, with a multiplier each.
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
    """Return the innovations G (n, nv) of rows ``which`` (n,), free of those that hold, and their share, (n,).

    Of a row −1 both are zero.

    The rows of the kernel state have been factorized at the state, or their rates are held: then nothing has to be
    taken out, and what remains is its own.
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
    """Return the Euclidean length of a (n,)."""
    total = 0.0
    for j in range(len(a)):
        total += a[j] * a[j]
    return sqrt(total)


@kernel
def is_at_rest(qd: Array, qdd: Array) -> bool:
    """Return whether nothing moves, and nothing starts to: rates qd (nv,), accelerations qdd (nv,), SI units."""
    fastest, largest = 0.0, 0.0
    for j in range(len(qd)):
        fastest, largest = max(fastest, abs(qd[j])), max(largest, abs(qdd[j]))
    return fastest <= AT_REST and largest <= STILL


class _Compiled(NamedTuple):
    """The kernels as Python calls them, with the place of a kernel state in front."""

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
    """Return where the compiled :func:`solve_stick_slip` is, for loops."""
    return address_of(compiled_stick_slip().solve, _SOLVE)


@lru_cache(maxsize=1)
def breaking_address() -> int:
    """Return where the compiled :func:`break_away` is; the first call compiles it, or reads it from the cache."""
    return address_of(_compiled_break_away(), _BREAK_AWAY)


@lru_cache(maxsize=1)
def _compiled_break_away() -> Any:
    return compiled(_break_away_at, _BREAK_AWAY, address=True)


def breaking_so_far() -> int:
    """Return the address of the compiled :func:`break_away`, or 0 as long as nothing has needed it."""
    return breaking_address() if breaking_address.cache_info().currsize else 0


def decide_stick_slip(
    place: int, qd: Array, resting: AnyArray, tolerance: float, sticking: AnyArray, carrying: AnyArray
) -> None:
    """Decide as :func:`solve_stick_slip` does; what decides on breaking away is compiled where something does.

    qd (nv,), rad/s and m/s; resting, sticking and carrying (n,) of bool.
    """
    solve = compiled_stick_slip().solve
    if not solve(breaking_so_far(), place, qd, resting, tolerance, sticking, carrying):
        solve(breaking_address(), place, qd, resting, tolerance, sticking, carrying)


@lru_cache(maxsize=1)
def compiled_stick_slip() -> _Compiled:
    """Return the kernels, compiled or from the cache; they take the address of a kernel state."""
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


# Whether all that rests can be held: the decision at most instants, in which nothing breaks away.


@kernel
def all_hold(resistances: Records, G: Array, a0: Array, within: AnyArray) -> bool:
    """Whether forces within the bounds hold all of ``within`` (n,), whose rows are far from depending on each other.

    Then there is nothing to decide. The forces f solve G Gᵀ f = −a₀, with Gᵀ = W R; G and a0 (n, nv), (n,).
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
