"""Whether all that rests can be held: the decision at most instants, in which nothing breaks away."""

from __future__ import annotations

from math import sqrt

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.active_set.orthogonal import column_product

#: Rows of innovations that have this share of their own are far from depending on each other.
_OWN = 1e-4


@kernel
def all_hold(resistances: Records, G: Array, a0: Array, within: AnyArray) -> bool:
    """Whether forces within the bounds hold all of ``within`` (n,), whose rows are far from depending on each other.

    Then there is nothing to decide. The forces f solve G Gᵀ f = −a₀, with Gᵀ = W R; G and a0 (n, nv), (n,).
    """
    at, n, nv = np.empty(len(within), dtype=np.int64), 0, G.shape[1]
    for k in range(len(within)):
        if within[k]:
            at[n] = k
            n += 1
    W, R, f = np.empty((nv, n)), np.zeros((n, n)), np.empty(n)
    for k in range(n):
        for j in range(nv):
            W[j, k] = G[at[k], j]
        whole = sqrt(column_product(W, k, k))
        for _ in range(2):
            for i in range(k):
                along = column_product(W, i, k)
                R[i, k] += along
                for j in range(nv):
                    W[j, k] -= along * W[j, i]
        R[k, k] = sqrt(column_product(W, k, k))
        if not R[k, k] > _OWN * whole:
            return False
        for j in range(nv):
            W[j, k] /= R[k, k]
    for k in range(n):
        f[k] = -a0[at[k]]
        for i in range(k):
            f[k] -= R[i, k] * f[i]
        f[k] /= R[k, k]
    for k in range(n - 1, -1, -1):
        for i in range(k + 1, n):
            f[k] -= R[k, i] * f[i]
        f[k] /= R[k, k]
        if not abs(f[k]) <= resistances[at[k]].static:
            return False
    return True
