"""Sampled poses on the constraint manifold, to distinguish redundancy from a singular pose."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mbplugin.constraints.assembly import Closure, independent_parts
from mbplugin.constraints.tolerance import DEFAULT_TOLERANCE
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import AnyArray, Array

#: Size of the step along the null space that leads to a sample: rad, and travels against the length.
_STEP = 0.5
#: A sample only has to be closed well enough for its rank.
_CONVERGED = 1e-8


def sample_poses(mech: Mechanism, q: Array, count: int, *, seed: int = 0) -> Iterator[Array]:
    """Yield closed poses (nq,) near q (nq,), reached by a random step along the null space of the closures.

    A pose from which no closed one is found is left out, so fewer than ``count`` may come.
    """
    if not count:
        return
    rng = np.random.default_rng(seed)
    closure = Closure(mech, q)
    restrained = _restrained(closure, q)
    every = np.ones(len(mech.qd_names), dtype=bool)
    for _ in range(count):
        pose = closure.displaced(q, _STEP * _allowed(restrained, every.size, rng))
        pose = closure.solve(pose, every, _CONVERGED) if closure.constraints else pose
        if closure.closed(pose):
            yield pose


def _restrained(closure: Closure, q: Array) -> list[tuple[AnyArray, Array]]:
    """Return an orthonormal basis, one per row, of the rates that the closures forbid at q (nq,), part by part."""
    if not closure.constraints or not closure.mech.qd_names:
        return []
    J = closure.linearise(q)[0]
    bases = []
    for rows, columns in independent_parts(J):
        _, sigma, Vt = np.linalg.svd(J[np.ix_(rows, columns)], full_matrices=False)
        bases.append((columns, np.asarray(Vt[sigma > DEFAULT_TOLERANCE * max(float(sigma[0]), 1e-300)])))
    return bases


def _allowed(restrained: list[tuple[AnyArray, Array]], count: int, rng: np.random.Generator) -> Array:
    """Return random rates (nv,) of largest entry one that the closures allow."""
    rates = rng.normal(size=count)
    for columns, basis in restrained:
        rates[columns] -= basis.T @ (basis @ rates[columns])
    return np.asarray(rates / max(float(np.abs(rates).max(initial=0.0)), 1e-9))
