"""Sampled poses on the constraint manifold, to tell a redundancy from a singular pose."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mbplugin.constraints.assembly import Closure
from mbplugin.mechanism.kinematics import displace
from mbplugin.mechanism.mechanism import Mechanism
from mbplugin.spatial import Array

#: Size of the step along the null space that leads to a sample, rad (and m/m).
_STEP = 0.5
_NULL = 1e-4
#: A sample only has to be closed well enough for its rank.
_CONVERGED = 1e-8


def sample_poses(mech: Mechanism, q: Array, count: int, *, seed: int = 0) -> Iterator[Array]:
    """Yield closed poses near q, reached by a random step along the null space of the closures.

    A pose from which no closed one is found is left out, so fewer than ``count`` may come.
    """
    if not count:
        return
    rng = np.random.default_rng(seed)
    closure = Closure(mech, q)
    restrained = _restrained(closure, q)
    every = np.ones(len(mech.qd_names), dtype=bool)
    for _ in range(count):
        pose = displace(mech, q, _STEP * _allowed(restrained, rng))
        pose = closure.solve(pose, every, _CONVERGED) if closure.constraints else pose
        if closure.closed(pose):
            yield pose


def _restrained(closure: Closure, q: Array) -> Array:
    """Return an orthonormal basis, one per row, of the rates that the closures forbid."""
    rates = len(closure.mech.qd_names)
    if not closure.constraints or not rates:
        return np.zeros((0, rates))
    _, sigma, Vt = np.linalg.svd(closure.linearise(q)[0], full_matrices=False)
    return np.asarray(Vt[sigma > _NULL * max(float(sigma[0]), 1e-300)])


def _allowed(restrained: Array, rng: np.random.Generator) -> Array:
    """Return a random rate of largest entry one that the closures allow."""
    rates = rng.normal(size=restrained.shape[1])
    rates = rates - restrained.T @ (restrained @ rates)
    return np.asarray(rates / max(float(np.abs(rates).max(initial=0.0)), 1e-9))
