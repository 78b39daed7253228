"""Forward dynamics of a tree as one fast call, for controllers and estimators."""

from __future__ import annotations

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.dynamics.kernels.articulated import factor, inward, outward
from mbplugin.dynamics.kernels.forces import gather
from mbplugin.dynamics.kernels.motion import move
from mbplugin.dynamics.tree_model import massless_joint, tree_model
from mbplugin.errors import BadUsage
from mbplugin.model.applied_forces import NO_FORCES, AppliedForces
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array


class ForwardDynamics:
    """q̈ of a mechanism without loops, by the articulated-body recursion.

    Parameters
    ----------
    mech : Mechanism
        Without closures, couplings, drivers, locks and wheels.
    actions : AppliedForces
        Loads, payloads, springs, dampers; dry friction and controllers are left out.

    Raises
    ------
    BadUsage
        A mechanism with closing rows.

    Examples
    --------
    ``qdd = ForwardDynamics(mech)(q, qd)``
    """

    def __init__(self, mech: Mechanism, actions: AppliedForces = NO_FORCES) -> None:
        self._model = tree_model(mech, actions)
        if self._model.table.persistent:
            raise BadUsage(
                f"constraint {self._model.table.labels[0][0]!r} closes the tree",
                remedy="use mbplugin.dynamics.formulations.solve, or simulate",
            )
        m = self._model
        self._records = (m.composites, m.rates, m.loads, m.springs, m.power)

    def __call__(self, q: Array, qd: Array, out: Array | None = None) -> Array:
        """Return the joint accelerations (nv,) at a state, rad/s² and m/s².

        Parameters
        ----------
        q, qd : (nq,), (nv,) contiguous array
        out : (nv,) array, optional
            Filled and returned.
        """
        if out is None:
            out = np.empty(len(qd))
        if not free_accelerations(*self._records, q, qd, out):
            raise massless_joint(self._model)
        return out


@kernel
def free_accelerations(
    composites: Records,
    rates: Records,
    loads: Records,
    springs: Records,
    power: Array,
    q: Array,
    qd: Array,
    out: Array,
) -> bool:
    """Fill ``out`` (nv,) with the joint accelerations of a tree; return whether every rate moves mass.

    ``q`` (nq,), ``qd`` (nv,); ``power`` (3,) takes what :func:`gather` adds, W.
    """
    move(composites, rates, q, qd)
    regular = factor(composites, rates)
    gather(composites, rates, loads, springs, q, qd, power)
    inward(composites, rates, True)
    outward(composites, rates, True)
    for j in range(len(out)):
        out[j] = rates[j].qdd
    return regular
