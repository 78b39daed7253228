"""Descents to a closed pose: one, that stays near, and many at once, that go where they find one."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from mbplugin.constraints.assembly.descent.jacobians import Jacobians
from mbplugin.constraints.assembly.descent.steps import LARGEST_STEP, damped_steps, shortest_step
from mbplugin.model.spatial import AnyArray, Array

_ITERATIONS = 60
#: A descent ends when so many steps have not made the squares of the residuals smaller by so much.
_PATIENCE, _PROGRESS = 6, 0.98
#: Damping of the many descents against the mean square of the columns of J: first, least, and too much.
_DAMPING, _LEAST, _STUCK = 1e-2, 1e-9, 1e6
#: A descent of many is at rest when a step wins less than this fraction of the squares, or is shorter.
_WON, _SHORT = 1e-3, 1e-7


class Equations(Protocol):
    """Residuals, m, of poses Q (K, nq), in C dimensionless rates."""

    length: float
    rates: AnyArray

    def linearised(self, Q: Array) -> tuple[Jacobians, Array]:
        """Return J, (r, C) at each of K poses, and Φ (K, r)."""

    def stepped(self, Q: Array, step: Array) -> Array:
        """Return the poses (K, nq) after a step (K, C)."""


def gauss_newton(equations: Equations, q: Array, movable: AnyArray, converged: float) -> tuple[Array, float]:
    """Return the end of damped Gauss–Newton steps from a pose, and its largest residual, m.

    Each step is the shortest that closes what is open to first order.

    Parameters
    ----------
    q : (nq,) array
    movable : (nv,) bool array
        Rates of the mechanism that may change.
    converged : float
        A dimensionless step below which it ends.
    """
    moving = movable[equations.rates]
    size = np.inf
    best, gap, since = q, np.inf, 0
    for _ in range(_ITERATIONS):
        J, residuals = equations.linearised(q[None])
        Phi = residuals[0]
        # a loop that is out of reach is circled for ever
        since = 0 if float(Phi @ Phi) < _PROGRESS * size else since + 1
        if float(Phi @ Phi) < size:
            best, gap, size = q, float(np.abs(Phi).max(initial=0.0)), float(Phi @ Phi)
        if since > _PATIENCE:
            break
        step = shortest_step(J.moving(moving), -Phi)
        step *= min(1.0, LARGEST_STEP / max(float(np.abs(step).max(initial=0.0)), 1e-300))
        if float(np.abs(step).max(initial=0.0)) < converged:
            break
        q = equations.stepped(q[None], step[None])[0]
    return best, gap


def levenberg_marquardt(
    equations: Equations, Q: Array, movable: AnyArray, closed: float, iterations: int
) -> tuple[Array, Array]:
    """Return where descents from many poses end, and their residuals.

    Parameters
    ----------
    Q : (K, nq) array
    movable : (nv,) bool array
        Rates of the mechanism that may change.
    closed : float
        A descent ends when no residual is larger, m.
    iterations : int
        At most.

    Returns
    -------
    Q : (K, nq) array
    gap : (K,) array
        Largest residual, m.
    """
    moving = movable[equations.rates]
    Q, (J, Phi) = np.array(Q), equations.linearised(Q)
    J, Phi = J.moving(moving), np.array(Phi)
    scale = np.maximum(J.squares() / max(1, int(moving.sum())), 1e-300)
    damping = np.full(len(Q), _DAMPING)
    active = np.flatnonzero(np.abs(Phi).max(axis=1, initial=0.0) > closed)
    for _ in range(iterations):
        if not active.size or not moving.any():
            break
        step = damped_steps(J.at(active), Phi[active], damping[active] * scale[active])
        trial = equations.stepped(Q[active], step)
        J_new, Phi_new = equations.linearised(trial)
        before, after = (np.einsum("kr,kr->k", P, P) for P in (Phi[active], Phi_new))
        better = after < before
        there = active[better]
        Q[there], Phi[there] = trial[better], Phi_new[better]
        J.values[there] = J_new.moving(moving).values[better]
        rest = better & ((before - after < _WON * before) | (np.abs(step).max(axis=1) < _SHORT))
        damping[active] = np.where(better, np.maximum(0.2 * damping[active], _LEAST), 4 * damping[active])
        open_ = np.abs(Phi[active]).max(axis=1) > closed
        active = active[open_ & ~rest & (damping[active] < _STUCK)]
    return Q, np.abs(Phi).max(axis=1, initial=0.0)
