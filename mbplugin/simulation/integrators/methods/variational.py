"""A variational integrator for long runs: symplectic, of order 2, with a fixed step.

The action of a step is that of a uniform motion, L_d = h L(q ∘ Δ/2, Δ/h): the midpoint rule of Marsden and
West, Discrete mechanics and variational integrators (2001), in position–momentum form, with rotations on the
group as in Lee, Leok and McClamroch, Lie group variational integrators for the full body problem (2007).
Forces that are not part of L act at the midpoint (discrete d'Alembert principle); constraints are treated as in RATTLE
(Andersen 1983), with impulses at both ends. The method is symmetric in time, so a motion can be reversed; momenta that
belong to a symmetry are conserved, and the energy error stays bounded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt, tan
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from mbplugin.dynamics.compiler import Records, compiled, kernel
from mbplugin.dynamics.kernels.articulated import (
    collect_forces,
    displace,
    increment_rate,
    inward,
    kinetic_slopes,
    mass_matrix,
    momenta,
    outward,
)
from mbplugin.dynamics.kernels.composite_bodies import gather
from mbplugin.dynamics.kernels.rows import RATE
from mbplugin.dynamics.kernels.solve import SINGULAR, resist, row_acceleration, row_in_rates, row_rate
from mbplugin.model import AnyArray, Array
from mbplugin.simulation.events import EVENT_FUNCTION, clear_candidates, mark_overloaded, reason_to_return
from mbplugin.simulation.integrators.contract import (
    Chunk,
    Control,
    Integrator,
    PythonStep,
    State,
    StepperInPython,
)
from mbplugin.simulation.integrators.explicit_loop import DEGREE, cubic, keep, settle
from mbplugin.simulation.kernel_state import (
    BEYOND,
    DONE,
    EVALUATE,
    FACTORIZE,
    FORWARD_DYNAMICS,
    IMPULSE,
    KERNEL_STATE,
    KINEMATICS,
    MATRIX,
    SIGNATURE,
    TOO_SMALL,
    VECTOR,
    Evaluate,
    KernelState,
    compiled_evaluate,
    evaluate_at,
    load_struct,
    struct_pointer,
)
from mbplugin.simulation.problem import project_state

#: Smallest fraction of a step that is tried if its equations cannot be solved.
SMALLEST_PART = 1e-6
ITERATIONS = 60
#: Corrections of the increment at which the iteration has converged, and at which it is accepted if rounding stops its
#: progress: relative to the increment, and absolute, rad or m.
SOLVED, STALLED = (1e-14, 1e-17), (1e-11, 1e-14)
#: Number of iterations without progress after which a step is accepted, or given up.
PATIENCE = (2, 8)
#: Parts of ``discrete_forces``, in this order; flags to be combined.
MOMENTA, SLOPES, FREE = 1, 2, 4
_named_tuple: Any = types.NamedTuple  # the stubs leave it untyped


def advance_variational(
    evaluate: Evaluate,
    discrete_forces: Evaluate,
    take_step: Any,
    m: KernelState,
    workspace: Workspace,
    event_functions: Records,
    t: float,
    end: float,
    h: float,
    reselect_below: float,
    q: Array,
    qd: Array,
    qdd: Array,
    work: Array,
    out_t: Array,
    out_q: Array,
    out_qd: Array,
    out_qdd: Array,
    out_work: Array,
    dense: Array,
    counts: Array,
) -> tuple[int, int, float, float]:
    """Take steps of h from (q, qd, qdd), all changed in place, until ``end`` or until the chunk is full.

    If the equations of a step cannot be solved, the step is divided. Returns status, number of samples, time (s), and
    h (s).

    Parameters
    ----------
    q, qd, qdd : (nq,), (nv,), (nv,) array
        The state; rad, m and s.
    work : (3,) array
        Work of dampers, applied forces and drivers, J.
    out_t, out_q, out_qd, out_qdd, out_work : (c,), (c, nq), (c, nv), (c, nv), (c, 3) array
        The chunk.
    dense : (c, d, 2, nv) array
        Its polynomials; empty without dense output.
    counts : (2,) array
        Numbers of evaluations and of failed steps, which are incremented.
    """
    place = struct_pointer(m)
    m, kept, taken, part, status, begun = load_struct(place), 0, 0, 1.0, DONE, t
    nv, driven = len(qd), m.power[2]
    old_q, old_qd, old_qdd, slope = np.empty(len(q)), np.empty(nv), np.empty(nv), np.empty(nv)
    while kept < len(out_t) and end - t > 1e-9 * h:
        # compute times from the number of steps, so that no rounding accumulates
        now = begun + taken * h
        step = part * min(h, end - now)
        if end - now - step < 1e-9 * h:
            step = end - now
        for j in range(nv):
            old_qd[j], old_qdd[j] = qd[j], qdd[j]
        for i in range(len(q)):
            old_q[i] = q[i]
        tries = take_step(evaluate, discrete_forces, place, now, step, q, qd, qdd, workspace)
        if tries == 0:
            counts[1] += 1
            part *= 0.5
            if part < SMALLEST_PART:
                return TOO_SMALL, kept, t, h
            continue
        counts[0] += tries
        work[0] += step * m.power[0]
        work[1] += step * m.power[1]
        t = now + step
        taken += 1
        if part < 1.0:
            begun, taken, part = t, 0, 2.0 * part
        clear_candidates(event_functions)
        if len(event_functions):
            _look_halfway(evaluate, place, now, step, old_q, old_qd, qd, workspace.x, event_functions)
        status = settle(evaluate, place, t, now, True, q, qd, qdd)
        work[2] += 0.5 * step * (driven + m.power[2])
        driven = m.power[2]
        if len(dense):
            increment_rate(m.composites, workspace.x, qd, slope)
            cubic(step, workspace.x, old_qd, slope, old_qd, qd, old_qdd, qdd, dense[kept])
        keep(kept, t, q, qd, qdd, work, out_t, out_q, out_qd, out_qdd, out_work)
        kept += 1
        if status == DONE:
            status = reason_to_return(m, event_functions, step, q, qd, reselect_below)
        if status != DONE:
            break
    return status, kept, t, h


@kernel
def _look_halfway(
    evaluate: Evaluate,
    place: int,
    begun: float,
    step: float,
    q: Array,
    qd: Array,
    end_qd: Array,
    x: Array,
    event_functions: Records,
) -> None:
    """Mark overloaded sticking rows at the middle of a step from q (nq,) and qd (nv,) by x (nv,), which has no stages.

    ``end_qd`` (nv,) are the rates at its end, rad/s and m/s.
    """
    power = load_struct(place).power.copy()
    half, middle, rates = 0.5 * x, q.copy(), 0.5 * (qd + end_qd)
    displace(load_struct(place).composites, q, half, middle)
    evaluate(place, FORWARD_DYNAMICS, begun + 0.5 * step, begun, middle, rates)
    m = load_struct(place)
    mark_overloaded(m, event_functions)
    for i in range(len(power)):
        m.power[i] = power[i]


@lru_cache(maxsize=1)
def variational_loop() -> Any:
    """Return the compiled loop; its first arguments are ``evaluate``, ``discrete_forces`` and the step."""
    dense = types.Array(types.float64, 4, "C")
    numbers = [types.float64] * 4
    state = [VECTOR] * 4 + [VECTOR, MATRIX, MATRIX, MATRIX, MATRIX, dense]
    result: Any = types.Tuple  # the stubs leave it untyped
    result = result((types.int64, types.int64, types.float64, types.float64))
    event_functions = numba.from_dtype(EVENT_FUNCTION)[::1]
    return compiled(
        advance_variational,
        result(EVALUATE, EVALUATE, STEP, KERNEL_STATE, ROOM, event_functions, *numbers, *state, VECTOR),
    )


# The variational step in readable Python: the equations of ``variational_step`` with matrices.
#
# M and C are arrays here, where the compiled step uses recursions. A controller's forces act at the midpoint, as do
# all forces that are not part of the Lagrangian. So does friction that grows with joint loads: a force of
# d'Alembert's principle with the loads of the accelerations at the midpoint, which each iteration finds anew.


@dataclass(frozen=True, eq=False)
class Moved:
    """The end of a step.

    Parameters
    ----------
    x : (nv,) array
        The increment Δ.
    q, qd : (nq,), (nv,) array
        Coordinates, and rates from the momenta, not yet projected.
    power : (3,) array
        Power at the midpoint; that of drivers is not filled.
    """

    x: Array
    q: Array
    qd: Array
    power: Array
    corrections: int


@dataclass(frozen=True, eq=False)
class _Middle:
    """Terms of the equations at the midpoint: mass matrix, rows and their residuals, P and g."""

    M: Array
    C: Array
    gap: Array
    P: Array
    g: Array


class VariationalStep:
    """The equations of a step of given length from a state.

    Increments x (nv,), velocities v (nv,), momenta a (nv,), and an ``impulse`` (m,) with an entry for each row.

    Parameters
    ----------
    prescribe : callable
        Evaluates the prescribed motions that are callables at a time.
    control : callable
        Adds a controller's forces at (t, q, q̇) to ``tau``, and their power.
    follow_loads : callable
        Updates friction that grows with joint loads to those at (t, q, q̇).
    t, h : float
        Start and length, s.
    q, qd : (nq,), (nv,) array
        The state at the start.
    """

    def __init__(
        self,
        kernel_state: KernelState,
        prescribe: Callable[[float], None],
        control: Callable[[float, Array, Array], None],
        follow_loads: Callable[[float, Array, Array], None],
        t: float,
        h: float,
        q: Array,
        qd: Array,
    ) -> None:
        self._kernel_state, self._prescribe, self._control = kernel_state, prescribe, control
        self._follow_loads = follow_loads
        self._t, self._h, self._q, self._qd = t, h, q, qd
        composites = kernel_state.composites[1:]
        # index of the first of the three rates of each rotation on the group
        self._turns = (composites["qd_start"] + composites["freedoms"] - 3)[composites["quaternion"]].tolist()
        self._configure(t, q, qd)
        self._p, self._J = self._mass() @ qd, self._rows()

    def solve(self, qdd: Array) -> Moved | None:
        """Solve for the end of the step; return None if that fails. The initial guess uses ``qdd`` (nv,)."""
        h = self._h
        x, impulse = h * (self._qd + 0.5 * h * qdd), 0.5 * h * self._kernel_state.multipliers
        best, since = np.inf, 0
        for n in range(1, ITERATIONS + 1):
            middle = self._look_ahead(x)
            if middle is None:
                return None
            correction, more = self._correct(x, impulse, middle)
            x, impulse = x + correction, impulse + more
            size, change = _largest(x), _largest(correction)
            if not size < BEYOND:
                return None
            since = 0 if change < best else since + 1
            best = min(best, change)
            stalled = since >= PATIENCE[0] and change <= STALLED[0] * size + STALLED[1]
            if stalled or change <= SOLVED[0] * size + SOLVED[1]:
                return self._end(x, impulse, middle, n)
            if since >= PATIENCE[1]:
                return None
        return None

    def _look_ahead(self, x: Array) -> _Middle | None:
        """Evaluate end and midpoint of an increment; return None if M is singular or not finite."""
        m, v = self._kernel_state, x / self._h
        if not self._configure(self._t + self._h, self._moved(x), v):
            return None
        gap = m.rows["phi"][m.independent_rows].copy()
        middle = self._moved(0.5 * x)
        # before the rows are evaluated, since finding the loads overwrites them
        self._follow_loads(self._t + 0.5 * self._h, middle, v)
        if not self._configure(self._t + 0.5 * self._h, middle, v):
            return None
        for k, i in enumerate(m.independent_rows):
            row = m.rows[i]
            if not row["holonomic"] or (row["kind"] == RATE and row["coordinate"] < 0):
                # a row without a position-level equation
                gap[k] = self._h * (row_rate(m.composites, m.rows, m.terms, i, v) + row["bias"])
        M, C = self._mass(), self._rows()
        return _Middle(M, C, gap, M @ v, self._forces(middle, v))

    def _forces(self, q: Array, v: Array) -> Array:
        """Return g (nv,) at the configured midpoint: ∂L/∂q plus the forces that are not part of L."""
        m = self._kernel_state
        momenta(m.composites, m.rates, v)
        kinetic_slopes(m.composites, m.rates, v)
        slopes = m.rates["qdd"].copy()
        m.power[:] = 0.0
        gather(m.composites, m.rates, m.loads, m.springs, q, v, m.power)
        resist(m.composites, m.rates, m.rows, m.terms, m.resistances, v, m.power)
        collect_forces(m.composites, m.rates)
        self._control(self._t + 0.5 * self._h, q, v)
        return np.asarray(m.rates["tau"] + slopes)

    def _correct(self, x: Array, impulse: Array, at: _Middle) -> tuple[Array, Array]:
        """Return δ and δλ with M δ − h Cᵀδλ = h · residual and C δ = −Φ, by a pseudoinverse in the metric M."""
        m, h = self._kernel_state, self._h
        carried = np.empty_like(x)
        increment_rate(m.composites, x, at.P, carried)
        gained = 0.5 * h * (at.g - self._cross(x, at.g, tangent=True))
        free = h * np.linalg.solve(at.M, self._p + self._J.T @ impulse - carried + gained)
        unit, L = m.rows["unit"][m.independent_rows], np.linalg.cholesky(at.M)
        reach = np.linalg.pinv(np.linalg.solve(L, at.C.T * unit).T, rcond=SINGULAR)
        y = reach @ (-unit * (at.gap + at.C @ free))
        return np.asarray(free + np.linalg.solve(L.T, y), dtype=float), unit * (reach.T @ y) / h

    def _end(self, x: Array, impulse: Array, at: _Middle, corrections: int) -> Moved | None:
        """Return the end, with the rates from p₊ = p + Cᵀλ + Δ × P + h g; None if the rates are too large."""
        q, power = self._moved(x), self._kernel_state.power.copy()
        self._configure(self._t + self._h, q, x / self._h)
        p = self._p + self._J.T @ impulse + self._cross(x, at.P) + self._h * at.g
        rates = np.asarray(np.linalg.solve(self._mass(), p), dtype=float)
        return Moved(x, q, rates, power, corrections) if _largest(rates) < BEYOND else None

    def _configure(self, t: float, q: Array, qd: Array) -> bool:
        """Evaluate poses, inertias and rows; return True if M is regular."""
        self._prescribe(t)
        return evaluate_at(self._kernel_state, KINEMATICS, t, q, qd, self._t)

    def _mass(self) -> Array:
        """Return the mass matrix (nv, nv)."""
        m = self._kernel_state
        M = np.zeros((len(m.rates), len(m.rates)))
        mass_matrix(m.composites, m.rates, M)
        return M

    def _rows(self) -> Array:
        """Return the independent rows in joint rates (r, nv)."""
        m = self._kernel_state
        C = np.zeros((len(m.independent_rows), len(m.rates)))
        for k, i in enumerate(m.independent_rows):
            row_in_rates(m.composites, m.rates, m.rows, m.terms, i, 1.0, C[k])
        return C

    def _moved(self, x: Array) -> Array:
        """Return the coordinates (nq,) after an increment x (nv,)."""
        q = np.empty_like(self._q)
        displace(self._kernel_state.composites, self._q, x, q)
        return q

    def _cross(self, x: Array, a: Array, tangent: bool = False) -> Array:
        """Return Δ × a (nv,) for rotations on the group, else 0; with ``tangent``, times tan(|Δ|/4)/|Δ|; a (nv,)."""
        out = np.zeros_like(x)
        for j in self._turns:
            turn = x[j : j + 3]
            angle = float(np.linalg.norm(turn))
            part = 1.0
            if tangent:
                part = np.tan(0.25 * angle) / angle if angle > 1e-8 else 0.25
            out[j : j + 3] = part * np.cross(turn, a[j : j + 3])
        return out


def _largest(a: Array) -> float:
    """Return the largest magnitude in a (n,); 0 if empty."""
    return float(np.abs(a).max(initial=0.0))


# The equations of one variational step, and their solution.
#
# With P = ∂L/∂q̇ and g = ∂L/∂q plus the other forces, both at the midpoint q ∘ Δ/2 with rates Δ/h, a step solves
# for its increment Δ and the impulses λ of the constraints
#
#     p + Cᵀλ = dexp(−Δ)⁻ᵀ P − h Aᵀ g,    Φ(q ∘ Δ) = 0,    A = ½ (1 + tan(|Δ|/4)/|Δ| Δ×)
#
# and ends with p₊ = p + Cᵀλ + Δ × P + h g, the sum of this equation and its mirror image; dexp, A and × differ
# from 1, ½ and 0 only for rotations on the group. Then p₊ is projected onto the velocity constraints at the end. Rows
# without a position-level equation (wheels, knife edges) hold at the midpoint instead.


class Workspace(NamedTuple):
    """Workspace of a step.

    Parameters
    ----------
    J : (r, nv) array
        Independent rows in joint rates at the start.
    p, x, P, g : (nv,) array
        Momenta at the start, the increment, and momenta and their rate of change at the midpoint.
    v, step : (nv,) array
        Rates, and a correction of x.
    at : (nq,) array
        Coordinates.
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
    """Return the workspace for steps with r independent rows."""
    p, x, P, g, v, step = (np.zeros(nv) for _ in range(6))
    return Workspace(np.zeros((r, nv)), p, x, P, g, v, step, np.zeros(nq), np.zeros(r), np.zeros(r))


def discrete_forces(place: int, what: int, t: float, begun: float, q: Array, qd: Array) -> bool:
    """Evaluate the requested quantities at a configured state q (nq,), qd (nv,).

    MOMENTA fills ``u`` of the rates with ∂L/∂q̇; SLOPES, after it, ``tau`` with ∂L/∂q plus the other forces;
    FREE fills ``qdd`` with M⁻¹ ``tau`` and ``a`` of the composite bodies with the resulting accelerations.
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
    """Return the compiled ``discrete_forces``."""
    return compiled(discrete_forces, SIGNATURE, address=True)


#: Compiler's type of the workspace.
ROOM = _named_tuple([MATRIX, *[VECTOR] * 9], Workspace)
_STEP = types.int64(
    EVALUATE, EVALUATE, types.intp, types.float64, types.float64, VECTOR, VECTOR, VECTOR, ROOM
)


#: Compiler's type of the step, a function pointer.
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
    """Take a step in place; return the number of corrections, or zero if the equations cannot be solved.

    ``q`` (nq,) and ``qd`` (nv,) are moved from the start to the end, the rates not yet projected; without a solution
    they stay unchanged. ``qdd`` (nv,), at the start, gives the initial guess. ``power`` is that at the midpoint.
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
            # also true for NaN
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
    """Return the compiled step."""
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
    """Fill the residuals of the rows, and momenta and their rate of change at the midpoint of a step from q (nq,)."""
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
    """Correct λ, and fill the correction δ of x from M δ − h Cᵀδλ = h · residual and C δ = −Φ."""
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
    """Set q (nq,) to the end of the step, and qd (nv,) to the rates from the momenta there.

    If the rates are too large, return False and leave q and qd unchanged.
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
    """Return element j of Cᵀλ, with C at the start."""
    total = 0.0
    for i in range(len(workspace.impulse)):
        total += workspace.J[i, j] * workspace.impulse[i]
    return total


@kernel
def _add_cross(m: KernelState, x: Array, a: Array, tangent: bool, size: float) -> None:
    """Add ``size`` Δ × a to ``tau`` of rotations on the group; with ``tangent``, times tan(|Δ|/4)/|Δ|.

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


class VariationalIntegrator(Integrator):
    """The variational integrator: its loop and its step in Python."""

    adaptive, by_momenta, degree, evaluations = False, True, DEGREE, 8

    def advance(
        self,
        kernel_state: KernelState,
        event_functions: AnyArray,
        state: State,
        control: Control,
        chunk: Chunk,
        counts: Array,
    ) -> tuple[int, int]:
        """Take compiled steps in place; return status and number of samples.

        Arrays as for :meth:`mbplugin.simulation.integrators.contract.Integrator.advance`.
        """
        status, kept, state.t, state.h = variational_loop()(
            *(compiled_evaluate(), compiled_discrete_forces(), compiled_step()),
            kernel_state,
            make_workspace(len(kernel_state.independent_rows), len(state.q), len(state.qd)),
            event_functions,
            *(state.t, control.end, state.h, control.reselect_below),
            *(state.q, state.qd, state.qdd, state.work),
            *(chunk.time, chunk.q, chunk.qd, chunk.qdd, chunk.work, chunk.dense),
            counts,
        )
        return int(status), int(kept)

    def in_python(self, stepper: StepperInPython) -> PythonStep:
        """Return the step in Python."""
        return _StepInParts(stepper)


class _StepInParts:
    """Steps in Python, which are divided if the equations of a whole step cannot be solved."""

    def __init__(self, stepper: StepperInPython) -> None:
        self._stepper = stepper
        #: Fraction of a step to try next, and the end time of the last step, s.
        self._part, self._reached = 1.0, 0.0

    def __call__(self, kernel_state: KernelState, state: State, control: Control, dense: Array) -> float:
        """Take a step in place, or part of one, and fill its ``dense`` (d, 2, nv) output.

        Return the length of the solved part, s, or 0 if no part can be solved.
        """
        if state.t != self._reached:
            self._part = 1.0
        left, driven = control.end - state.t, kernel_state.power[2]
        while True:
            h = self._part * min(state.h, left)
            last = left - h < 1e-9 * state.h
            h = left if last else h
            moved = self._solved(kernel_state, state, h)
            if moved is not None:
                break
            self._stepper.counts[1] += 1
            self._part *= 0.5
            if self._part < SMALLEST_PART:
                return 0.0
        qd, qdd, slope = state.qd.copy(), state.qdd.copy(), np.empty_like(state.qd)
        begun, state.t = state.t, control.end if last else state.t + h
        state.q[:], state.qd[:] = moved.q, moved.qd
        self._part, self._reached = min(1.0, 2.0 * self._part), state.t
        self._stepper.prescribe(kernel_state, state.t, begun)
        # the impulses at the end are part of the step, so project regardless of the stabilisation
        project_state(kernel_state, state.t, state.q, state.qd)
        self._stepper.evaluate(kernel_state, state, begun)
        state.work[:2] += h * moved.power[:2]
        state.work[2] += 0.5 * h * (driven + kernel_state.power[2])
        increment_rate(kernel_state.composites, moved.x, state.qd, slope)
        cubic(h, moved.x, qd, slope, qd, state.qd, qdd, state.qdd, dense)
        return h

    def _solved(self, kernel_state: KernelState, state: State, h: float) -> Moved | None:
        """Return the end of a step of h, or None if its equations cannot be solved."""
        begun, stepper = state.t, self._stepper

        def prescribe(t: float) -> None:
            stepper.prescribe(kernel_state, t, begun)

        def follow_loads(t: float, q: Array, qd: Array) -> None:
            stepper.follow_loads(kernel_state, t, begun, q, qd)

        step = VariationalStep(
            kernel_state, prescribe, stepper.control, follow_loads, state.t, h, state.q, state.qd
        )
        moved = step.solve(state.qdd)
        stepper.counts[0] += moved.corrections if moved is not None else 0
        return moved


INTEGRATOR = VariationalIntegrator()
