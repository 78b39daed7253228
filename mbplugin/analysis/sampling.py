"""Sampled poses on the constraint manifold, to tell a redundancy from a singular pose."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mbplugin.constraints.assembly import position_jacobian, project
from mbplugin.mechanism.kinematics import displace
from mbplugin.mechanism.mechanism import Mechanism
from mbplugin.spatial import Array

#: Size of one step along the null space, rad (and m/m), and how many lead to a sample.
_STEP, _STEPS = 0.25, 3
_NULL = 1e-4


def sample_poses(mech: Mechanism, q: Array, count: int, *, seed: int = 0) -> Iterator[Array]:
    """Yield closed poses near q, reached by random steps along the null space of the closures.

    A pose from which no closed one is found is left out, so fewer than ``count`` may come.
    """
    rng = np.random.default_rng(seed)
    for _ in range(count):
        pose: Array | None = q
        for _ in range(_STEPS):
            if pose is None:
                break
            pose = project(mech, displace(mech, pose, _STEP * _tangent(mech, pose, rng)))
        if pose is not None:
            yield pose


def _tangent(mech: Mechanism, q: Array, rng: np.random.Generator) -> Array:
    """Return a random rate of largest entry one that the closures allow."""
    rates = rng.normal(size=len(mech.qd_names))
    J = position_jacobian(mech, q)
    if J.size:
        _, sigma, Vt = np.linalg.svd(J, full_matrices=False)
        rows = Vt[sigma > _NULL * max(float(sigma[0]), 1e-300)]
        rates = rates - rows.T @ (rows @ rates)
    return np.asarray(rates / max(float(np.abs(rates).max(initial=0.0)), 1e-9))
