"""Sampled poses on the constraint manifold, to tell a redundancy from a singular pose."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mbplugin.constraints.assembly import Closure
from mbplugin.mechanism.kinematics import displace
from mbplugin.mechanism.mechanism import Mechanism
from mbplugin.spatial import Array

#: Size of one step along the null space, rad (and m/m), and how many lead to a sample.
_STEP, _STEPS = 0.35, 2
_NULL = 1e-4
#: A sample only has to be closed well enough for its rank.
_CONVERGED = 1e-8


def sample_poses(mech: Mechanism, q: Array, count: int, *, seed: int = 0) -> Iterator[Array]:
    """Yield closed poses near q, reached by random steps along the null space of the closures.

    A pose from which no closed one is found is left out, so fewer than ``count`` may come.
    """
    rng = np.random.default_rng(seed)
    closure = Closure(mech, q)
    every = np.ones(len(mech.qd_names), dtype=bool)
    for _ in range(count):
        pose = q
        for _ in range(_STEPS):
            pose = displace(mech, pose, _STEP * _tangent(closure, pose, rng))
            pose = closure.solve(pose, every, _CONVERGED) if closure.constraints else pose
        if closure.closed(pose):
            yield pose


def _tangent(closure: Closure, q: Array, rng: np.random.Generator) -> Array:
    """Return a random rate of largest entry one that the closures allow."""
    rates = rng.normal(size=len(closure.mech.qd_names))
    if closure.constraints:
        _, sigma, Vt = np.linalg.svd(closure.linearise(q)[0], full_matrices=False)
        rows = Vt[sigma > _NULL * max(float(sigma[0]), 1e-300)]
        rates = rates - rows.T @ (rows @ rates)
    return np.asarray(rates / max(float(np.abs(rates).max(initial=0.0)), 1e-9))
