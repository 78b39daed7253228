"""Descents to a closed pose: one, that stays near, and many at once, that go where they find one."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from mbplugin.constraints.tolerance import DEFAULT_TOLERANCE
from mbplugin.model.spatial import AnyArray, Array

_ITERATIONS = 60
#: A descent ends when so many steps have not made the squares of the residuals smaller by so much.
_PATIENCE, _PROGRESS = 6, 0.98
#: What is smaller than this fraction of the largest entry of J is rounding.
_NOTHING = 1e-14
#: What is smaller than this has no effect that could close a gap: a step over it would overflow, m/rad and m/m.
_NO_SLOPE = 1e-100
#: Columns from which on it pays to look for parts.
_WORTH_PARTING = 60
#: Of one iteration: rad, and travels against the mechanism's length.
_LARGEST_STEP = 0.5
#: Damping of the many descents against the mean square of the columns of J: first, least, and too much.
_DAMPING, _LEAST, _STUCK = 1e-2, 1e-9, 1e6
#: Damping that keeps equations solvable, against the sum of the squares of the entries of J.
_ROUNDING = 1e-13
#: A descent of many is at rest when a step wins less than this fraction of the squares, or is shorter.
_WON, _SHORT = 1e-3, 1e-7


class Equations(Protocol):
    """Residuals, m, of poses Q (K, nq), in C dimensionless rates."""

    length: float
    rates: AnyArray

    def linearised(self, Q: Array) -> tuple[Array, Array]:
        """Return J (K, r, C) and Φ (K, r)."""

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
    columns = np.flatnonzero(movable[equations.rates])
    size = np.inf
    best, gap, since = q, np.inf, 0
    for _ in range(_ITERATIONS):
        J, Phi = (found[0] for found in equations.linearised(q[None]))
        # a loop that is out of reach is circled for ever
        since = 0 if float(Phi @ Phi) < _PROGRESS * size else since + 1
        if float(Phi @ Phi) < size:
            best, gap, size = q, float(np.abs(Phi).max(initial=0.0)), float(Phi @ Phi)
        if since > _PATIENCE:
            break
        step = np.zeros((1, J.shape[1]))
        step[0, columns] = _truncated_solution(J[:, columns], -Phi)
        step *= min(1.0, _LARGEST_STEP / max(float(np.abs(step).max(initial=0.0)), 1e-300))
        if float(np.abs(step).max(initial=0.0)) < converged:
            break
        q = equations.stepped(q[None], step)[0]
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
    columns = np.flatnonzero(movable[equations.rates])
    Q, (J, Phi) = np.array(Q), equations.linearised(Q)
    J, Phi = J[:, :, columns], np.array(Phi)
    scale = np.maximum(np.einsum("krc,krc->k", J, J) / max(1, columns.size), 1e-300)
    damping = np.full(len(Q), _DAMPING)
    active = np.flatnonzero(np.abs(Phi).max(axis=1, initial=0.0) > closed)
    for _ in range(iterations):
        if not active.size or not columns.size:
            break
        step = np.zeros((active.size, len(equations.rates)))
        step[:, columns] = _damped(J[active], Phi[active], damping[active] * scale[active])
        trial = equations.stepped(Q[active], step)
        J_new, Phi_new = equations.linearised(trial)
        before, after = (np.einsum("kr,kr->k", P, P) for P in (Phi[active], Phi_new))
        better = after < before
        there = active[better]
        Q[there], J[there], Phi[there] = trial[better], J_new[better][:, :, columns], Phi_new[better]
        rest = better & ((before - after < _WON * before) | (np.abs(step).max(axis=1) < _SHORT))
        damping[active] = np.where(better, np.maximum(0.2 * damping[active], _LEAST), 4 * damping[active])
        open_ = np.abs(Phi[active]).max(axis=1) > closed
        active = active[open_ & ~rest & (damping[active] < _STUCK)]
    return Q, np.abs(Phi).max(axis=1, initial=0.0)


def _damped(J: Array, Phi: Array, damping: Array) -> Array:
    """Return the steps (K, C) of damped least squares, none longer than is sensible.

    J (K, r, C), Phi (K, r) and damping (K,).
    """
    normal = np.swapaxes(J, 1, 2) @ J
    diagonal = np.arange(J.shape[2])
    # where J has grown on the way, what was damping at the start is rounding now
    least = _ROUNDING * np.einsum("krc,krc->k", J, J)
    normal[:, diagonal, diagonal] += np.maximum(damping, least)[:, None]
    step = -np.linalg.solve(normal, np.swapaxes(J, 1, 2) @ Phi[:, :, None])[:, :, 0]
    largest = np.abs(step).max(axis=1, keepdims=True)
    return np.asarray(step * np.minimum(1.0, _LARGEST_STEP / np.maximum(largest, 1e-300)))


def _truncated_solution(J: Array, rhs: Array) -> Array:
    """Return x (n,) with J x ≈ rhs, J (m, n) and rhs (m,), part by part."""
    x = np.zeros(J.shape[1])
    for rows, columns in independent_parts(J):
        x[columns] = _solution_of_part(J[np.ix_(rows, columns)], rhs[rows])
    return x


def independent_parts(J: Array) -> list[tuple[AnyArray, AnyArray]]:
    """Return rows and columns of the parts of J (k, n) that share nothing: loops that do not touch.

    The work on one part grows with its cube. Rows and columns of zeros belong to none.
    """
    rows, columns = np.nonzero(np.abs(J) > _NOTHING * np.abs(J).max(initial=0.0))
    if J.shape[1] < _WORTH_PARTING or not rows.size:
        return [(np.unique(rows), np.unique(columns))] if rows.size else []
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = sum(J.shape)
    graph = coo_array((np.ones(rows.size), (rows, J.shape[0] + columns)), shape=(size, size))
    part = connected_components(graph, directed=False)[1]
    found = []
    for number in np.unique(part[rows]):
        members = np.flatnonzero(part == number)
        found.append((members[members < J.shape[0]], members[members >= J.shape[0]] - J.shape[0]))
    return found


def _solution_of_part(J: Array, rhs: Array) -> Array:
    """Return the smallest x (n,) with J x ≈ rhs, J (m, n) and rhs (m,), without what rounding decides."""
    U, sigma, Vt = np.linalg.svd(J, full_matrices=False)
    # what only smaller ones could close is a misfit by rounding: chasing it would fling the mechanism about
    kept = sigma > max(DEFAULT_TOLERANCE * sigma[0], _NO_SLOPE)
    return np.asarray(Vt[kept].T @ ((U[:, kept].T @ rhs) / sigma[kept]))
