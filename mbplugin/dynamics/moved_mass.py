"""Which joint rates move mass: measured by the mass that lies outwards, since differences leave rounding."""

from __future__ import annotations

import numpy as np

from mbplugin.dynamics.compiler.jit import Records
from mbplugin.model.spatial import AnyArray, Array, skew

#: Below this share of the inertia that lies outwards, what a rate moves is the rounding of a difference.
_ROUNDING = 1e-12


def without_mass(composites: Records, rates: Records) -> AnyArray:
    """Return which rates (nv,) move no mass, at the poses and inertias that are filled in.

    A rate that others can undo, such as a slide next to a massless body that is free, moves what is left of
    the inertia outwards after the others have followed: D of the articulated-body recursion.
    """
    D = np.asarray(rates["D"])
    # what is no number moves none either
    return ~(_ROUNDING * _rigid(composites, rates) < D)


def _rigid(composites: Records, rates: Records) -> Array:
    """Return the inertia (nv,) that each rate moves where all joints outwards are rigid."""
    composite = np.zeros((len(composites), 6, 6))
    out = np.zeros(len(rates))
    for k in range(len(composites) - 1, 0, -1):
        body = composites[k]
        composite[k, :3, :3] += body["mass"] * np.eye(3)
        composite[k, 3:, 3:] += body["J"]
        for j in range(body["qd_start"], body["qd_start"] + body["freedoms"]):
            s = rates[j]["s"]
            out[j] = rates[j]["armature"] + s @ composite[k] @ s
        if body["parent"]:
            # the twist of the parent's centre of mass to that of this one
            X = np.eye(6)
            X[:3, 3:] = -skew(body["c"] - composites[body["parent"]]["c"])
            composite[body["parent"]] += X.T @ composite[k] @ X
    return out
