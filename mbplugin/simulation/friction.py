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

Dry friction that grows with the force in its joint, by a fixed-point iteration; choice of independent rows.

Friction depends on the reactions, reactions on the accelerations, and these on friction: M v̇ = F(λ) + Cᵀλ. The
loads N of all such joints are a fixed point, computed by iteration with a secant step. Sliding friction is then
the stated dry part plus μ N, or μ r N, in a guide with a stated length μ (N₁ + N₂) of its two ends; the bound of
static friction grows likewise. If a reaction is not unique,
neither is the motion (wojtyra2013 §1, pekal2024 §1).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numba import types

from mbplugin.constraints.rank import sample_poses
from mbplugin.constraints.rows import plane_columns
from mbplugin.dynamics.compiler import Records, address_of, compiled, function_at, kernel
from mbplugin.dynamics.formulations import (
    ADMISSIBLE,
    Equations,
    Independent,
    eliminate,
    mass_weighted,
    minimum_norm,
)
from mbplugin.dynamics.kernels.articulated import inverse_dynamics
from mbplugin.dynamics.kernels.rows import COMBINED, RATE, any_held
from mbplugin.dynamics.kernels.solve import (
    SINGULAR,
    add_innovations,
    row_acceleration,
    row_in_rates,
    row_rate,
)
from mbplugin.dynamics.tree_model import TreeModel, redundancy
from mbplugin.errors import BadUsage, BrokenModel
from mbplugin.model import ROTATION, AnyArray, Array, Mechanism, Pair, freedom_held, pivot_order, pivots
from mbplugin.simulation.breaking_away import break_away, column_product, true_positions
from mbplugin.simulation.kernel_state import MATRIX, VECTOR, KernelState, load_struct

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


#: Largest number of passes, and the relative change of the loads at which the iteration has converged.
_MOST, _ENOUGH = 200, 1e-12
#: The smallest load, N.
_LEAST = 1e-12
_SPREAD: dict[str, Callable[[Equations], Independent]] = {
    "minimum-norm": minimum_norm,
    "mass-weighted": mass_weighted,
    # its iteration starts from zero, so its multipliers are those of minimum norm
    "augmented": minimum_norm,
}
#: Rows whose singular values exceed this fraction of the largest are independent without further tests.
_CLEARLY = 1e-3
#: Poses sampled for the generic rank.
_SAMPLES = 4
#: Rows are chosen anew when their independence falls to this fraction of its value at the last choice.
_WEAKENED = 1e-2


class LoadFriction:
    """The joints of a model with friction that depends on their load, and their present loads.

    A prismatic guide of a stated length has two loads, one at each end of its bush; all other joints have one.
    ``frozen`` keeps the loads constant during a stick-slip decision.
    """

    def __init__(self, model: TreeModel) -> None:
        self._model = model
        self.frozen = False
        labels = model.table.labels
        self._joints: list[tuple[int, Pair, float]] = []
        #: Of each load: 1 or −1 at the two ends of a bush, 0 at a joint whose moments are not counted.
        self._ends: list[float] = []
        for n, row in enumerate(model.resistances["row"].tolist() if model.actions.friction else ()):
            pair = model.mech.pair_by_name[freedom_held(labels[row])[0]]
            if pair.freedoms and pair.freedoms[0].load_friction > 0:
                ends = (1.0, -1.0) if pair.freedoms[0].guide_length > 0 else (0.0,)
                self._joints += [(n, pair, pair.freedoms[0].load_friction)] * len(ends)
                self._ends += ends
        self.places = np.array([n for n, _, _ in self._joints], dtype=int)
        self._arms = np.array([arm for _, _, arm in self._joints])
        self._loads = np.zeros(len(self._joints))
        self._before: tuple[Array, Array] | None = None
        self._done = True
        if self._joints:
            self.let(self._loads)

    def __bool__(self) -> bool:
        return bool(self._joints)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the joints, one for each load."""
        return tuple(pair.name for _, pair, _ in self._joints)

    def passes(self) -> Iterator[int]:
        """Yield passes until the loads have converged.

        In each, the caller computes accelerations and calls :meth:`follow`.

        Raises
        ------
        BrokenModel
            The loads do not converge: friction is so large that no motion satisfies it, or several do.
        """
        self._before, self._done = None, False
        for k in range(_MOST):
            yield k
            if self._done:
                return
        names = ", ".join(map(repr, dict.fromkeys(self.names)))
        raise BrokenModel(
            f"friction that grows with the load of {names} has no solution that the iteration finds",
            remedy="state a smaller friction_coefficient",
        )

    def follow(self, qdd: Array, multipliers: Array) -> None:
        """Update loads and friction for accelerations qdd (nv,) and multipliers (m,) of the first m rows.

        The model must hold the forces at the state, without those of rows; they are overwritten.
        """
        if not self._joints or self.frozen:
            self._done = True
            return
        found = self._read(qdd, multipliers)
        gap = found - self._loads
        self._done = bool(np.abs(gap).max() <= _ENOUGH * (1.0 + np.abs(found).max()))
        aim = found
        if self._before is not None:
            # a secant step towards the fixed point, for all loads together
            change = gap - self._before[0]
            square = float(change @ change)
            if square > 0.0:
                share = float(gap @ change) / square
                aim = found - share * (found - self._before[1])
        self._before = gap, found
        self.let(found if self._done else np.maximum(aim, 0.0))

    def let(self, loads: Array) -> None:
        """Set the dry friction for loads (k,), N."""
        # a joint without dry friction would not get a sense of sliding
        loads = np.maximum(loads, _LEAST)
        for part in ("sliding", "static"):
            values = self._model.resistances[part]
            # both ends of a bush add to the friction of one joint
            np.add.at(values, self.places, self._arms * (loads - self._loads))
            values[self.places] = np.maximum(values[self.places], 0.0)
        self._loads = np.array(loads)

    def _read(self, qdd: Array, multipliers: Array) -> Array:
        """Return the magnitude (k,) of each load, N, for qdd (nv,) and multipliers (m,)."""
        return np.array([np.linalg.norm(force) for force in self.forces(qdd, multipliers)])

    def forces(self, qdd: Array, multipliers: Array) -> list[Array]:
        """Return the force (3,) of each load, N, world axes, for qdd (nv,) and multipliers (m,).

        The ends z = ±L/2 of a bush, seen from its centre in S, carry F/2 ± (M × e_z)/L of a force F and a moment M
        across the guide: together the force F and the moment M, and nothing else does. The model must hold the
        forces at the state, without those of rows; they are overwritten.
        """
        model = self._model
        pull_rows(model, multipliers)
        model.rates["qdd"] = qdd
        inverse_dynamics(model.composites, model.rates, np.empty(len(qdd)))
        return [
            self._force(pair, end, multipliers)
            for (_, pair, _), end in zip(self._joints, self._ends, strict=True)
        ]

    def _force(self, pair: Pair, end: float, multipliers: Array) -> Array:
        """Return the force (3,) in one joint or at one end of its bush, N, for multipliers (m,)."""
        model = self._model
        a, X_aP = model.composites_of.frame(model.mech, pair.body_a, pair.X_AP)
        b, X_bS = model.composites_of.frame(model.mech, pair.body_b, pair.X_BS)
        composites = model.composites
        joint = model.mech.tree.joint_of_pair.get(pair.name)
        if joint is None:
            own = [
                i for i, label in enumerate(model.table.labels[: len(multipliers)]) if label[0] == pair.name
            ]
            at, wrench = b, multipliers[own] @ model.table.rows["on_b"][own]
        elif joint.reversed:
            at, wrench = a, -composites["f"][a]
        else:
            at, wrench = b, composites["f"][b].copy()
        seen = np.isin(np.arange(6), plane_columns(model.planar))
        force = wrench[:3] * seen[:3]
        if pair.type == "prismatic":
            axis = composites["R"][a] @ X_aP.R[:, 2]
            force = force - (force @ axis) * axis
            if end:
                p_S = composites["p"][b] + composites["R"][b] @ X_bS.p
                moment = (wrench[3:] + np.cross(composites["c"][at] - p_S, wrench[:3])) * seen[3:]
                force = force / 2 + end * np.cross(moment, axis) / pair.freedoms[0].guide_length
        return np.asarray(force)


def pull_rows(model: TreeModel, multipliers: Array) -> None:
    """Add the forces of rows to the composite bodies, for multipliers (m,) of the first m rows, N and N·m.

    Parts that act on joint rates load no joint.
    """
    rows, terms = model.table.rows, model.table.terms
    if not len(multipliers):
        return
    force = np.zeros(len(rows))
    force[: len(multipliers)] = multipliers
    for i in np.flatnonzero(rows["kind"][: len(multipliers)] == COMBINED):
        own = terms[rows["first"][i] : rows["first"][i] + rows["count"][i]]
        np.add.at(force, own["row"], own["coefficient"] * multipliers[i])
        force[i] = 0.0
    for body, entry in (("a", "on_a"), ("b", "on_b")):
        np.subtract.at(model.composites["f"], rows[body], force[:, None] * rows[entry])


# Multipliers for known accelerations, distributed over redundant rows as in the motion.


class Handling:
    """A method of handling redundant rows along a motion.

    Elimination keeps dropping the same rows as long as possible, so that multipliers do not jump between choices.

    Parameters
    ----------
    redundancy : str
        Name of the method.
    dropped : sequence of (constraint, component)
        Rows that are to carry no load; if locks and brakes make more rows redundant, others are dropped as well.
    """

    def __init__(self, redundancy: str, dropped: Sequence[tuple[str, str]] = ()) -> None:
        self._redundancy = redundancy
        self._stated = tuple(dropped)
        self._dropped: tuple[int, ...] = ()

    def multipliers(self, equations: Equations, v_dot: Array) -> Array:
        """Return λ (m,) with Cᵀλ = M v̇ − F for accelerations ``v_dot`` (n,), N and N·m."""
        return self.carrying(equations, equations.M @ v_dot - equations.F)

    def carrying(self, equations: Equations, forces: Array) -> Array:
        """Return λ (m,) with Cᵀλ = forces (n,), N and N·m."""
        size = equations.column_scale
        if self._dropped and len(self._dropped) == equations.degree_of_redundancy:
            # the singular values show whether the rows kept so far are independent here too
            kept = np.delete(np.arange(len(equations.C)), self._dropped)
            scale = equations.row_scale[kept]
            scaled = (scale[:, None] * equations.C[kept] * size).T
            mu, _, _, sizes = np.linalg.lstsq(scaled, size * forces, rcond=None)
            if len(sizes) == len(kept) and sizes.min(initial=np.inf) > _CLEARLY * sizes.max(initial=0.0):
                out = np.zeros(len(equations.C))
                out[kept] = scale * mu
                return out
        constraints = self._independent(equations)
        if not len(constraints.C):
            return np.zeros(len(equations.C))
        return np.asarray(
            constraints.spread @ np.linalg.lstsq((constraints.C * size).T, size * forces, rcond=None)[0]
        )

    def _independent(self, equations: Equations) -> Independent:
        if self._redundancy != "eliminate":
            return _SPREAD[self._redundancy](equations)
        if self._stated:
            return eliminate(equations, with_others(equations, self._stated))
        self._dropped = self._dropped or _left_over(equations)
        try:
            return eliminate(equations, self._dropped)
        except BadUsage:
            # the rows kept so far have become dependent
            self._dropped = _left_over(equations)
            return eliminate(equations)


def with_others(equations: Equations, stated: Sequence[tuple[str, str]]) -> tuple[int, ...]:
    """Return p rows to drop, including the stated ones; pivoting selects the others.

    Raises
    ------
    BadUsage
        Without the stated rows, the others are redundant or nearly lose rank.
    """
    rows = [equations.labels.index(label) for label in stated]
    Z = equations.self_stresses
    Q, R = np.linalg.qr(Z[rows].T)
    if len(rows) > Z.shape[1] or np.abs(np.diag(R)).min() < ADMISSIBLE:
        # raises an error that names the rows, and how many can be dropped
        eliminate(equations, rows)
    rest = Z - (Z @ Q) @ Q.T
    more = pivot_order(rest.T)[: Z.shape[1] - len(rows)]
    return (*rows, *(int(k) for k in more))


def _left_over(equations: Equations) -> tuple[int, ...]:
    """Return the rows that the pivoted factorisation leaves out."""
    kept = set(equations.independent_rows.tolist())
    return tuple(k for k in range(len(equations.C)) if k not in kept)


# Choice of independent rows in force: the rank is decided once for all poses, the rows anew when they become weak.


@dataclass(frozen=True, eq=False)
class Choice:
    """Rows in force, and a choice of independent ones.

    Parameters
    ----------
    active : tuple of int
        All rows in force, including redundant ones.
    rows : (r,) array of int
        Independent rows, best first.
    missing : int
        Number of rows that are independent at other poses, but not at this one.
    """

    active: tuple[int, ...]
    rows: AnyArray
    missing: int = 0


def generic_redundancy(mech: Mechanism, q: Array, planar: str | None, tolerance: float) -> int:
    """Return p of the mechanism's rows in joint rates for their generic rank near a closed pose q (nq,)."""
    least = redundancy(mech, q, planar, tolerance)
    if least == 0:
        return 0
    for pose in sample_poses(mech, q, _SAMPLES):
        # a higher rank must exceed the tolerance clearly
        least = min(least, redundancy(mech, pose, planar, 10 * tolerance))
    return least


def choose_rows(
    model: TreeModel,
    active: tuple[int, ...],
    own_rank: int,
    tolerance: float,
    dropped: tuple[int, ...] = (),
    led: Collection[int] = (),
) -> Choice:
    """Return independent rows among the active ones, at the configured state of the model.

    Parameters
    ----------
    own_rank : int
        Generic rank of the persistent rows, which come first; the rank of further rows is that at this pose.
    dropped : tuple of int
        Rows that the user eliminates.
    led : collection of int
        Rows of drives, which count as independent without a rank test: the row of a rack may differ from that of its
        pinion by a thousandth only, yet the drive's force acts in that difference.

    Raises
    ------
    BadUsage
        More rows are to be dropped than are redundant.
    """
    kept = [i for i in active if i not in dropped]
    if not kept:
        return Choice(active, np.zeros(0, dtype=np.int64))
    if not dropped and _lead_one_rate_each(model, kept):
        return Choice(active, np.array(kept, dtype=np.int64))
    own = [i for i in kept if i < model.table.persistent]
    own += [i for i in kept if i in led]
    rank = own_rank + len([i for i in kept if i in led])
    if len(own) < len(kept):
        rank += rank_of(model, kept, tolerance) - rank_of(model, own, tolerance)
    G = np.zeros((len(kept), len(model.rates)))
    for k, i in enumerate(kept):
        unit = float(model.table.rows["unit"][i])
        add_innovations(model.composites, model.rates, model.table.rows, model.table.terms, i, unit, G[k])
    sizes, order = pivots(G.T)
    usable = int((sizes > SINGULAR * max(sizes[0], 1e-300)).sum()) if sizes.size else 0
    if dropped and rank > len(kept):
        raise BadUsage(
            "more rows are to be dropped than are redundant", expected=f"{len(active) - rank} rows"
        )
    return Choice(active, np.array(kept, dtype=np.int64)[order[: min(rank, usable)]], max(rank - usable, 0))


def _lead_one_rate_each(model: TreeModel, rows: list[int]) -> bool:
    """Return True if every row fixes a different joint rate, so that the rows are independent at every pose."""
    table = model.table.rows[rows]
    return bool((table["kind"] == RATE).all()) and len(np.unique(table["rate"])) == len(rows)


def rank_of(model: TreeModel, rows: list[int], tolerance: float) -> int:
    """Return the rank of some rows in scaled joint rates at the configured state."""
    if not rows:
        return 0
    J = np.zeros((len(rows), len(model.rates)))
    for k, i in enumerate(rows):
        unit = float(model.table.rows["unit"][i])
        row_in_rates(model.composites, model.rates, model.table.rows, model.table.terms, i, unit, J[k])
    rotational = np.abs(model.rates["s"][:, ROTATION]).max(axis=1, initial=0.0) > 0
    sigma = np.linalg.svd(J * np.where(rotational, 1.0, model.length), compute_uv=False)
    return int((sigma > tolerance * sigma[0]).sum()) if sigma[0] > 0 else 0


def trusted_share(row_independence: float) -> float:
    """Return the independence below which the rows are to be chosen again."""
    return _WEAKENED * row_independence
