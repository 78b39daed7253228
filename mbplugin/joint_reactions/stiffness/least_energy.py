"""Self-stresses of least elastic energy, part by part: densely, or along a band where many couple like a chain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse.linalg
from scipy.sparse import csr_array, diags_array, sparray, vstack
from scipy.sparse.csgraph import connected_components

from mbplugin.constraints.reduction.banded import banded_factor
from mbplugin.constraints.reduction.strips import Strip, strip_of
from mbplugin.model.spatial import AnyArray, Array

#: Part of a self-stress that has to bend something for the self-stress to be determined.
_SEEN = 1e-9
#: Self-stresses of one part up to which dense algebra is the quicker one.
LARGEST_DENSE = 200


@dataclass(frozen=True, eq=False)
class LeastEnergy:
    """What the self-stresses have to meet.

    Parameters
    ----------
    F : (k, m) sparse array
        FᵀF is the flexibility of all elements.
    loaded : (k,) array
        F λ₀.
    gaps : (m,) array
    uncovered : (m,) bool array
        Rows that self-stresses may load but stiffness does not decide.
    limit : float
        Size of what is zero in a self-stress.
    """

    F: csr_array
    loaded: Array
    gaps: Array
    uncovered: AnyArray
    limit: float


@dataclass(frozen=True, eq=False)
class SolvedPart:
    """What self-stresses that share rows or elements do.

    Parameters
    ----------
    rows : (n,) int array
        That they load.
    change : (n,) array
        To be taken from the multipliers.
    free : (n, k) array
        Orthonormal changes that remain open.
    responding : (n, r) array
        Factor of the response to gaps.
    """

    rows: AnyArray
    change: Array
    free: Array | sparray
    responding: Array | sparray


def solved_parts(problem: LeastEnergy, Z: csr_array, local: csr_array) -> list[SolvedPart]:
    """Return what each part does, of orthonormal self-stresses Z (m, p) and the same, ``local`` (m, p).

    Those of a part are also the same.
    """
    group = _groups(problem.F, local)
    order = np.argsort(group, kind="stable")
    stresses, by_entries = Z.T.tocsr()[order], local.T.tocsr()[order]
    bent = (problem.F @ Z).T.tocsr()[order]
    norms = np.sqrt(problem.F.power(2).sum(axis=1))
    found, bounds = [], np.flatnonzero(np.diff(group[order], prepend=-1, append=-1))
    for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        at = slice(start, stop)
        part = None
        if stop - start > LARGEST_DENSE:
            part = _of_large(problem, stresses[at].T, by_entries[at].T, norms)
        found.append(part or _of_small(problem, strip_of(stresses, at), strip_of(bent, at), norms))
    return found


def _groups(F: csr_array, local: csr_array) -> AnyArray:
    """Return the number of the part, (p,), of each of the self-stresses ``local`` (m, p)."""
    touched = abs(vstack([local, F @ local])).tocsr()
    return np.asarray(connected_components(touched.T @ touched, directed=False)[1])


def _of_small(problem: LeastEnergy, stresses: Strip, bending: Strip, norms: Array) -> SolvedPart:
    """Return what orthonormal self-stresses do, by dense algebra.

    ``stresses.values`` are Zᵀ (p, n) and ``bending.values`` (F Z)ᵀ (p, j), of rows of F with ``norms`` (k,).
    """
    rows, Z, FZ = stresses.columns, stresses.values.T, bending.values.T
    avoiding, loading = _split(Z[problem.uncovered[rows]], problem.limit)
    # what is determined must not depend on how much something gives way
    unseen, basis = _split((FZ / norms[bending.columns, None]) @ avoiding, _SEEN)
    unseen, basis = avoiding @ unseen, avoiding @ basis
    if not basis.shape[1]:
        return SolvedPart(rows, np.zeros(len(rows)), Z @ np.hstack((unseen, loading)), Z @ basis)
    bent, loaded = FZ @ basis, problem.loaded[bending.columns]
    y = basis @ _least_energy(bent, loaded, basis.T @ (Z.T @ problem.gaps[rows]))
    nothing = np.zeros(bent.shape[1])
    followed = [basis @ _least_energy(bent, FZ @ c, nothing) for c in loading.T]
    following = loading - np.array(followed).reshape(-1, len(y)).T
    free = np.linalg.qr(np.hstack((unseen, following)))[0]
    return SolvedPart(rows, Z @ y, Z @ free, Z @ basis @ _inverse_factor(bent))


def _of_large(problem: LeastEnergy, Z: sparray, local: sparray, norms: Array) -> SolvedPart | None:
    """Return what self-stresses do that stiffness determines all, or none; None where it is some of them.

    ``Z`` and ``local`` (m, p) have the same columns' space, and the rows of F have the ``norms`` (k,).
    """
    rows = np.unique(local.tocoo().row)
    bending = (problem.F @ local).tocsr()
    at = np.flatnonzero(np.diff(bending.indptr))
    if not at.size:
        return SolvedPart(rows, np.zeros(len(rows)), Z.tocsr()[rows], csr_array((len(rows), 0)))
    if problem.uncovered[rows].any() or not _all_seen(diags_array(1.0 / norms[at]) @ bending[at], local):
        return None
    factor = banded_factor(bending[at], problem.loaded[at])
    own = local.tocsr()[rows]
    y = factor.solution(own.T @ problem.gaps[rows])
    return SolvedPart(rows, own @ y, csr_array((len(rows), 0)), own @ factor.inverse())


def _all_seen(seen: csr_array, local: sparray) -> bool:
    """Return whether each of the self-stresses ``local`` (m, p) has a part that rows ``seen`` (k, p) see."""
    # a bound of the largest singular value
    sizes = abs(local)
    largest = sizes.sum(axis=0).max() * sizes.sum(axis=1).max()
    try:
        smallest = banded_factor(seen, np.zeros(seen.shape[0])).smallest()
    except np.linalg.LinAlgError:
        return False
    return bool(smallest > _SEEN * np.sqrt(largest))


def _split(rows: Array, limit: float) -> tuple[Array, Array]:
    """Return orthonormal bases of what rows (k, p) map to zero, (p, p − r), and of the rest, (p, r)."""
    _, sigma, Vt = np.linalg.svd(np.linalg.qr(rows, mode="r"))
    rank = int((sigma > limit).sum())
    return np.asarray(Vt[rank:].T), np.asarray(Vt[:rank].T)


def _least_energy(bent: Array, loaded: Array, gaps: Array) -> Array:
    """Return y (p,) of least ½ |loaded − bent y|² − gapsᵀ y; bent (k, p), loaded (k,) and gaps (p,).

    Rows of very different size (a soft pair beside a hard one) keep their digits when the largest
    come first in a pivoted QR; normal equations would lose the hard ones.
    """
    order = np.argsort(-np.linalg.norm(bent, axis=1), kind="stable")
    Q, R, pivots = scipy.linalg.qr(bent[order], mode="economic", pivoting=True)
    u = Q.T @ loaded[order] + scipy.linalg.solve_triangular(R, gaps[pivots], trans="T")
    y = np.zeros(len(pivots))
    y[pivots] = scipy.linalg.solve_triangular(R, u)
    return y


def _inverse_factor(bent: Array) -> Array:
    """Return G (p, p) with G Gᵀ = (bentᵀ bent)⁻¹, for bent (k, p); in the order of ``_least_energy``."""
    order = np.argsort(-np.linalg.norm(bent, axis=1), kind="stable")
    R, pivots = scipy.linalg.qr(bent[order], mode="r", pivoting=True)
    size = len(pivots)
    G = np.zeros((size, size))
    G[pivots] = scipy.linalg.solve_triangular(R[:size], np.eye(size))
    return G
