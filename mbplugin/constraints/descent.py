"""Gauss–Newton and Levenberg–Marquardt steps that close residuals, with sparse factorisations for large systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.constraints.reduction import Entry
from mbplugin.constraints.sparse_qr import eliminate
from mbplugin.model import AnyArray, Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array


_ITERATIONS = 60
#: A Gauss–Newton descent ends when more than this many steps in a row fail to reduce the squared residual to this
#: fraction.
_PATIENCE, _PROGRESS = 6, 0.98
#: Levenberg–Marquardt damping relative to the mean square of the columns of J: initial, smallest, and stuck above.
_DAMPING, _LEAST, _STUCK = 1e-2, 1e-9, 1e6
#: A Levenberg–Marquardt descent stops when a step reduces the squares by less than this fraction, or is shorter.
_WON, _SHORT = 1e-3, 1e-7
#: Entries below this fraction of the largest entry of J are rounding.
_NOTHING = 1e-14
#: Singular values below this are zero: a step divided by them would overflow, m/rad and m/m.
_NO_SLOPE = 1e-100
#: Smallest number of columns for which splitting J into independent parts pays.
WORTH_PARTING = 60
#: Largest step of one iteration: rad, and travels in characteristic lengths.
LARGEST_STEP = 0.5
#: Smallest damping that keeps the equations solvable, relative to the sum of squares of the entries of J.
_ROUNDING = 1e-13
#: Above this number of rates in a part its tolerance falls with their number: closing a gap along a chain of n loops
#: by moving them all a little has a singular value of 1/n, and is not a misfit by rounding.
_WIDE = 300
#: Steps of the power iteration for the largest singular values of large systems.
_POWERS = 40
#: Largest dimension of the Krylov space, and relative change at convergence.
_VECTORS, _NO_CHANGE = 60, 1e-14
#: Largest number of entries of a Jacobian, including zeros, for which dense algebra is faster.
LARGEST_DENSE = 100_000


# Descents to a closed pose: Gauss–Newton, which stays near, and Levenberg–Marquardt from many poses at once.


class Equations(Protocol):
    """Residuals, m, at poses Q (K, nq), and their Jacobians in C dimensionless rates."""

    length: float
    rates: AnyArray

    def linearised(self, Q: Array) -> tuple[Jacobians, Array]:
        """Return J, (r, C) at each of K poses, and Φ (K, r)."""

    def stepped(self, Q: Array, step: Array) -> Array:
        """Return the poses (K, nq) after a step (K, C)."""


def gauss_newton(equations: Equations, q: Array, movable: AnyArray, converged: float) -> tuple[Array, float]:
    """Return the end of damped Gauss–Newton steps from a pose, and its largest residual, m.

    Each step is the shortest that closes the residual to first order.

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
        # out of reach, the iteration would never converge
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


def gauss_newton_at_poses(
    linearised: Callable[[AnyArray, Array], tuple[Array, Array]],
    stepped: Callable[[AnyArray, Array, Array], Array],
    Q: Array,
    converged: float,
) -> tuple[Array, Array]:
    """Return the ends (K, nq) of :func:`gauss_newton` from poses Q (K, nq), and their largest residuals (K,), m.

    Parameters
    ----------
    linearised : callable
        J (n, r, C) and Φ (n, r) for the numbers (n,) of some poses and their q (n, nq).
    stepped : callable
        Their q (n, nq) after dimensionless steps (n, C).
    converged : float
        A dimensionless step below which a descent ends.
    """
    best, here = np.array(Q), np.array(Q)
    gap, size, since = np.full(len(Q), np.inf), np.full(len(Q), np.inf), np.zeros(len(Q), dtype=int)
    active = np.arange(len(Q))
    for _ in range(_ITERATIONS):
        J, Phi = linearised(active, here[active])
        squares = np.einsum("kr,kr->k", Phi, Phi)
        since[active] = np.where(squares < _PROGRESS * size[active], 0, since[active] + 1)
        nearer = squares < size[active]
        there = active[nearer]
        best[there], size[there] = here[there], squares[nearer]
        gap[there] = np.abs(Phi[nearer]).max(axis=1, initial=0.0)
        U, sigma, Vt = np.linalg.svd(J, full_matrices=False)
        kept = sigma > np.maximum(DEFAULT_TOLERANCE * sigma[:, :1], _NO_SLOPE)
        along = np.einsum("krs,kr->ks", U, -Phi)
        step = np.einsum("ksc,ks->kc", Vt, np.where(kept, along / np.where(kept, sigma, 1.0), 0.0))
        largest = np.abs(step).max(axis=1, initial=0.0)
        step *= np.minimum(1.0, LARGEST_STEP / np.maximum(largest, 1e-300))[:, None]
        going = (since[active] <= _PATIENCE) & (largest >= converged)
        active, step = active[going], step[going]
        if not active.size:
            break
        here[active] = stepped(active, here[active], step)
    return best, gap


def levenberg_marquardt(
    equations: Equations, Q: Array, movable: AnyArray, closed: float, iterations: int
) -> tuple[Array, Array]:
    """Return the ends of descents from many poses, and their largest residuals.

    Parameters
    ----------
    Q : (K, nq) array
    movable : (nv,) bool array
        Rates of the mechanism that may change.
    closed : float
        A descent ends when no residual is larger, m.
    iterations : int
        Largest number of iterations.

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


def damped_steps(J: Jacobians, Phi: Array, damping: Array) -> Array:
    """Return the steps (K, C) of damped least squares, limited to ``LARGEST_STEP``, for Phi (K, r) and damping (K,)."""
    # where J has grown during the descent, its initial damping may be below rounding
    damping = np.maximum(damping, _ROUNDING * J.squares())
    step = -(_damped_by_factors(J, Phi, damping) if J.large else _damped(J.dense(), Phi, damping))
    largest = np.abs(step).max(axis=1, keepdims=True)
    return np.asarray(step * np.minimum(1.0, LARGEST_STEP / np.maximum(largest, 1e-300)))


def _damped(J: Array, Phi: Array, damping: Array) -> Array:
    """Return (JᵀJ + damping)⁻¹ Jᵀ Φ, (K, C), for J (K, r, C), Phi (K, r) and damping (K,)."""
    normal = np.swapaxes(J, 1, 2) @ J
    diagonal = np.arange(J.shape[2])
    normal[:, diagonal, diagonal] += damping[:, None]
    return np.asarray(np.linalg.solve(normal, np.swapaxes(J, 1, 2) @ Phi[:, :, None])[:, :, 0])


def _damped_by_factors(J: Jacobians, Phi: Array, damping: Array) -> Array:
    """Return the same as :func:`_damped`, (K, C), for large J, Phi (K, r) and damping (K,)."""
    out = np.zeros((len(Phi), J.pattern.shape[1]))
    for k, d in enumerate(np.sqrt(damping)):
        out[k] = _Damped(_sparse(J, J.values[k]), float(d)).solution(Phi[k])
    return out


def shortest_step(J: Jacobians, rhs: Array) -> Array:
    """Return the shortest x (C,) with J x ≈ rhs (r,), for J of one pose, with small singular values truncated."""
    if J.large:
        return _shortest_by_factors(J, rhs)
    dense = J.dense()[0]
    x = np.zeros(dense.shape[1])
    for rows, columns in independent_parts(dense):
        U, sigma, Vt = np.linalg.svd(dense[np.ix_(rows, columns)], full_matrices=False)
        # a gap that only smaller ones could close is a misfit by rounding; closing it would need huge steps
        kept = sigma > max(DEFAULT_TOLERANCE * sigma[0], _NO_SLOPE)
        x[columns] = Vt[kept].T @ ((U[:, kept].T @ rhs[rows]) / sigma[kept])
    return x


def independent_parts(J: Array) -> list[tuple[AnyArray, AnyArray]]:
    """Return the rows and columns of the independent parts of J (k, n), i.e. of loops that share no joint.

    Dense work grows with the cube of a part's size. Zero rows and columns belong to no part.
    """
    used = np.abs(J) > _NOTHING * np.abs(J).max(initial=0.0)
    if not used.any():
        return []
    if J.shape[1] < WORTH_PARTING:
        return [(np.flatnonzero(used.any(axis=1)), np.flatnonzero(used.any(axis=0)))]
    rows, columns = np.nonzero(used)
    part = _parts(rows, columns, (J.shape[0], J.shape[1]))
    found = []
    for number in np.unique(part[rows]):
        members = np.flatnonzero(part == number)
        found.append((members[members < J.shape[0]], members[members >= J.shape[0]] - J.shape[0]))
    return found


def _parts(rows: AnyArray, columns: AnyArray, shape: tuple[int, int]) -> AnyArray:
    """Return the part of each row, then of each column, (r + C,), of entries in ``rows`` (n,) and ``columns`` (n,)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = sum(shape)
    graph = coo_array((np.ones(rows.size), (rows, shape[0] + columns)), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1])


def _shortest_by_factors(J: Jacobians, rhs: Array) -> Array:
    """Return the shortest x (C,) with J x ≈ rhs (r,) for a large J, with a separate tolerance for each part."""
    pattern, values = J.pattern, J.values[0]
    values = np.where(np.abs(values) > _NOTHING * np.abs(values).max(initial=0.0), values, 0.0)
    there = np.flatnonzero(values)
    part = _parts(pattern.rows[there], pattern.columns[there], pattern.shape)
    of_rows, of_columns = np.split(part, pattern.shape[:1])
    # scale by a bound first, so that no square underflows
    bound = _largest(part, pattern.rows, pattern.columns, values, pattern.shape)
    size = np.where(bound > _NO_SLOPE, bound, np.inf)
    size = size * _largest_singular(_sparse(J, values / size[of_rows][pattern.rows]), of_columns, len(size))
    size = size * np.minimum(1.0, _WIDE / np.maximum(1, np.bincount(of_columns, minlength=len(size))))
    matrix = _sparse(J, values / size[of_rows][pattern.rows])
    return _truncated(_Damped(matrix, DEFAULT_TOLERANCE), matrix, rhs / size[of_rows])


def _largest_singular(matrix: csr_array, part: AnyArray, count: int) -> Array:
    """Return the largest singular value of each of P parts, (P,), or one for an empty part, by power iteration.

    ``part`` (C,) is the part of each column of the matrix (r, C).
    """
    x = np.random.default_rng(0).normal(size=len(part))
    for _ in range(_POWERS):
        size = np.sqrt(np.bincount(part, x * x, count))
        x = matrix.T @ (matrix @ (x / np.where(size > 0, size, 1.0)[part]))
    square = np.sqrt(np.bincount(part, x * x, count))
    return np.sqrt(np.where(square > 0, square, 1.0))


def _truncated(damped: _Damped, matrix: csr_array, rhs: Array) -> Array:
    """Return the shortest x (C,) with J x ≈ rhs (r,), J (r, C), with singular values up to the damping d truncated.

    P = (JᵀJ + d²)⁻¹ JᵀJ has the eigenvalue ½ at a singular value d, so the truncated solution is a function of P. It
    is evaluated on the Krylov space of the damped solution (Lanczos with full orthogonalisation).
    """
    from scipy.linalg import eigh_tridiagonal

    x = damped.solution(rhs)
    size = float(np.linalg.norm(x))
    if size == 0.0:
        return x
    basis, diagonal = [x / size], list[float]()
    beside: list[float] = []
    last, still = np.zeros(0), 0
    while True:
        w, along = damped.solution(matrix @ basis[-1]), 0.0
        for _ in range(2):
            parts = np.array(basis) @ w
            w, along = w - parts @ np.array(basis), along + float(parts[-1])
        diagonal.append(along)
        values, vectors = eigh_tridiagonal(np.array(diagonal), np.array(beside))
        counted = np.where(values > 0.5, 1.0 / np.maximum(values, 0.5), 0.0)
        found = vectors @ (counted * vectors[0])
        change = np.abs(found - np.pad(last, (0, len(found) - len(last)))).max()
        # the first solution may lie entirely in the truncated space
        still = still + 1 if 0 < np.abs(found).max() >= change / _NO_CHANGE else 0
        left = float(np.linalg.norm(w))
        if still == 2 or left <= _NO_CHANGE or len(basis) == _VECTORS:
            return np.asarray(size * (found @ np.array(basis)))
        last = found
        beside.append(left)
        basis.append(w / left)


def _largest(
    part: AnyArray, rows: AnyArray, columns: AnyArray, values: Array, shape: tuple[int, int]
) -> Array:
    """Return an upper bound of the largest singular value of each of P parts, (P,).

    The square root of the largest absolute row sum times the largest absolute column sum. ``part`` (r + C,) is the
    part of each row and column; the entries are ``values`` (n,) in ``rows`` (n,) and ``columns`` (n,).
    """
    size, count = np.abs(values), shape[0]
    sums = np.concatenate((np.bincount(rows, size, count), np.bincount(columns, size, shape[1])))
    most = np.zeros((2, int(part.max(initial=0)) + 1))
    np.maximum.at(most[0], part[:count], sums[:count])
    np.maximum.at(most[1], part[count:], sums[count:])
    return np.asarray(np.sqrt(most[0]) * np.sqrt(most[1]))


def _sparse(J: Jacobians, values: Array) -> csr_array:
    """Return a sparse matrix (r, C) of the nonzero entries of ``values`` (n,)."""
    from scipy.sparse import csr_array

    there = np.flatnonzero(values)
    places = J.pattern.rows[there], J.pattern.columns[there]
    return csr_array((values[there], places), shape=J.pattern.shape)


class _Damped:
    """(JᵀJ + d²)⁻¹ Jᵀ of a sparse J (r, C), factorised.

    [[d, Jᵀ], [J, −d]] is as sparse as J, even if J has dense rows or columns, and has the condition number of J / d
    instead of its square.
    """

    def __init__(self, J: csr_array, d: float) -> None:
        from scipy.sparse import block_array, eye_array
        from scipy.sparse.linalg import splu

        rows, self.columns = J.shape
        self._K = block_array([[d * eye_array(self.columns), J.T], [J, -d * eye_array(rows)]], format="csc")
        # K is quasi-definite, so diagonal pivots in any order are stable; others would cause fill-in
        self._factors = splu(
            self._K, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )

    def solution(self, rhs: Array) -> Array:
        """Return x (C,) for rhs (r,)."""
        b = np.concatenate((np.zeros(self.columns), rhs))
        x = self._factors.solve(b)
        # iterative refinement: diagonal pivots as small as d lose digits
        x += self._factors.solve(b - self._K @ x)
        return np.asarray(x[: self.columns])


# Jacobians at many poses, stored by entries, since every constraint depends on few rates.


class Pattern:
    """Sparsity pattern of full blocks, each the rows of one constraint in some rates.

    Parameters
    ----------
    shape : (r, C)
    blocks : sequence of (slice, (k,) int array)
        Rows and columns of blocks that do not overlap.

    Attributes
    ----------
    rows, columns : (n,) int array
        Indices of all entries, block by block and row by row.
    """

    def __init__(self, shape: tuple[int, int], blocks: Sequence[tuple[slice, AnyArray]]) -> None:
        self.shape = shape
        self.blocks = blocks
        none = [np.zeros(0, dtype=int)]
        self.rows = np.concatenate(
            none + [np.repeat(np.arange(rows.start, rows.stop), len(columns)) for rows, columns in blocks]
        )
        self.columns = np.concatenate(
            none + [np.tile(columns, rows.stop - rows.start) for rows, columns in blocks]
        )


@dataclass(frozen=True, eq=False)
class Jacobians:
    """K Jacobians with the same sparsity pattern.

    Parameters
    ----------
    values : (K, n) array
        Entries.
    """

    pattern: Pattern
    values: Array

    @property
    def large(self) -> bool:
        """True if a Jacobian is too large for dense algebra."""
        return self.pattern.shape[0] * self.pattern.shape[1] > LARGEST_DENSE

    def at(self, poses: AnyArray) -> Jacobians:
        """Return the Jacobians at the pose indices ``poses`` (n,)."""
        return replace(self, values=self.values[poses])

    def moving(self, movable: AnyArray) -> Jacobians:
        """Return the Jacobians with zeros in all rates that are not ``movable`` (C,) of bool."""
        return replace(self, values=self.values * movable[self.pattern.columns])

    def squares(self) -> Array:
        """Return the sums of the squares of the entries, (K,)."""
        return np.asarray(np.einsum("kn,kn->k", self.values, self.values))

    def dense(self) -> Array:
        """Return dense Jacobians (K, r, C)."""
        J = np.zeros((len(self.values), *self.pattern.shape))
        J[:, self.pattern.rows, self.pattern.columns] = self.values
        return J

    def ranks(self) -> AnyArray:
        """Return the ranks (K,)."""
        if self.large:
            return np.array([self._rank_of_large(values) for values in self.values], dtype=int)
        sigma = np.linalg.svd(self.dense(), compute_uv=False)
        largest = sigma.max(axis=1, keepdims=True, initial=0.0)
        counts: AnyArray = (sigma > DEFAULT_TOLERANCE * largest).sum(axis=1)
        return counts

    def _rank_of_large(self, values: Array) -> int:
        """Return the rank of a Jacobian with entries ``values`` (n,), decided pivot by pivot."""
        entries, start = [], 0
        for rows, columns in self.pattern.blocks:
            count = rows.stop - rows.start
            block = values[start : start + count * len(columns)].reshape(count, -1)
            entries += [Entry(rows, slice(c, c + 1), block[:, [k]]) for k, c in enumerate(columns.tolist())]
            start += block.size
        return self.pattern.shape[0] - eliminate(entries, self.pattern.shape, DEFAULT_TOLERANCE).redundancy
