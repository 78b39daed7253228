"""The variational step in readable Python: the equations of ``variational_step``, with matrices.

M and C stand here as arrays, where the other one has recursions; a controller adds its forces at the
midpoint, as everything does that is no part of the Lagrangian.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mbplugin.dynamics.kernels.forces import gather
from mbplugin.dynamics.kernels.group import displace, increment_rate
from mbplugin.dynamics.kernels.inverse import mass_matrix
from mbplugin.dynamics.kernels.momenta import collect_forces, kinetic_slopes, momenta
from mbplugin.dynamics.kernels.resistance import resist
from mbplugin.dynamics.kernels.rows import RATE
from mbplugin.dynamics.kernels.solve import SINGULAR, row_in_rates, row_rate
from mbplugin.model.spatial import Array
from mbplugin.simulation.integrators.variational_step import ITERATIONS, PATIENCE, SOLVED, STALLED
from mbplugin.simulation.steppers.evaluate import KINEMATICS, evaluate_at
from mbplugin.simulation.steppers.kernel_state import BEYOND, KernelState


@dataclass(frozen=True, eq=False)
class Moved:
    """Where a step ends.

    Parameters
    ----------
    x : (nv,) array
        The increment Δ.
    q, qd : (nq,), (nv,) array
        The end, with rates from the momenta there, not yet projected.
    power : (3,) array
        At the midpoint; that of drivers is not filled.
    """

    x: Array
    q: Array
    qd: Array
    power: Array
    corrections: int


@dataclass(frozen=True, eq=False)
class _Middle:
    """What the equations need at the midpoint: mass, rows and their residuals, P and g."""

    M: Array
    C: Array
    gap: Array
    P: Array
    g: Array


class VariationalStep:
    """The equations of the step of a length from a state.

    Increments x (nv,), velocities v (nv,), momenta a (nv,), and an ``impulse`` (m,) with an entry for each row.

    Parameters
    ----------
    prescribe : callable
        Sets the prescribed motions that are callables at a time.
    control : callable
        Adds a controller's forces at (t, q, q̇) to ``tau``, and their power.
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
        t: float,
        h: float,
        q: Array,
        qd: Array,
    ) -> None:
        self._kernel_state, self._prescribe, self._control = kernel_state, prescribe, control
        self._t, self._h, self._q, self._qd = t, h, q, qd
        composites = kernel_state.composites[1:]
        # where the three rates of each turn on the group begin
        self._turns = (composites["qd_start"] + composites["freedoms"] - 3)[composites["quaternion"]].tolist()
        self._configure(t, q, qd)
        self._p, self._J = self._mass() @ qd, self._rows()

    def solve(self, qdd: Array) -> Moved | None:
        """Return the end of the step, or None where its equations are not solved; ``qdd`` (nv,) starts it."""
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
        """Evaluate end and midpoint of an increment; return None where M is singular or nothing finite."""
        m, v = self._kernel_state, x / self._h
        if not self._configure(self._t + self._h, self._moved(x), v):
            return None
        gap = m.rows["phi"][m.independent_rows].copy()
        middle = self._moved(0.5 * x)
        if not self._configure(self._t + 0.5 * self._h, middle, v):
            return None
        for k, i in enumerate(m.independent_rows):
            row = m.rows[i]
            if not row["holonomic"] or (row["kind"] == RATE and row["coordinate"] < 0):
                # a row without a position
                gap[k] = self._h * (row_rate(m.composites, m.rows, m.terms, i, v) + row["bias"])
        M, C = self._mass(), self._rows()
        return _Middle(M, C, gap, M @ v, self._forces(middle, v))

    def _forces(self, q: Array, v: Array) -> Array:
        """Return g (nv,) at the configured midpoint: ∂L/∂q and what acts besides."""
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
        """Return δ and δλ with M δ − h Cᵀδλ = h · residual and C δ = −Φ: least in the metric M."""
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
        """Return the end, with the rates that follow from p₊ = p + Cᵀλ + Δ × P + h g; None beyond all numbers."""
        q, power = self._moved(x), self._kernel_state.power.copy()
        self._configure(self._t + self._h, q, x / self._h)
        p = self._p + self._J.T @ impulse + self._cross(x, at.P) + self._h * at.g
        rates = np.asarray(np.linalg.solve(self._mass(), p), dtype=float)
        return Moved(x, q, rates, power, corrections) if _largest(rates) < BEYOND else None

    def _configure(self, t: float, q: Array, qd: Array) -> bool:
        """Fill poses, inertias and rows; return whether M is regular."""
        self._prescribe(t)
        return evaluate_at(self._kernel_state, KINEMATICS, t, q, qd, self._t)

    def _mass(self) -> Array:
        """Return the mass matrix (nv, nv)."""
        m = self._kernel_state
        M = np.zeros((len(m.rates), len(m.rates)))
        mass_matrix(m.composites, m.rates, M)
        return M

    def _rows(self) -> Array:
        """Return the chosen rows in joint rates (r, nv)."""
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
        """Return Δ × a (nv,) of the turns on the group and 0 elsewhere, a (nv,); ``tangent``: times tan(|Δ|/4)/|Δ|."""
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
    """Return the largest magnitude in a (n,), 0 of none."""
    return float(np.abs(a).max(initial=0.0))
