"""Energies, momenta and residuals along a motion, from its states."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import types

from mbplugin.dynamics.compiler.jit import compiled
from mbplugin.dynamics.kernels.articulated import factor
from mbplugin.dynamics.kernels.inverse import energies, mass_matrix
from mbplugin.dynamics.kernels.motion import move
from mbplugin.dynamics.tree_model import tree_model
from mbplugin.model.spatial import Array, make_read_only
from mbplugin.simulation.steppers.evaluate import KINEMATICS, evaluate_address, evaluate_from, place_of
from mbplugin.simulation.steppers.kernel_state import MATRIX, VECTOR, KernelState, load_struct

if TYPE_CHECKING:
    from mbplugin.simulation.trajectory.trajectory import Trajectory


def _measure(
    address: int,
    place: int,
    time: Array,
    q: Array,
    qd: Array,
    kinetic: Array,
    potential: Array,
    largest: Array,
) -> None:
    """Fill kinetic and potential (T,), J, and the largest (m,) |Φ| of the first rows, m or rad.

    Over samples time, q and qd (T,), (T, nq), (T, nv).
    """
    evaluate = evaluate_from(address)
    m = load_struct(place)
    for n in range(len(time)):
        evaluate(place, KINEMATICS, time[n], time[n], q[n], qd[n])
        kinetic[n], potential[n] = energies(m.composites, m.rates, m.springs, q[n], qd[n])
        for i in range(len(largest)):
            if m.rows[i].holonomic:
                largest[i] = max(largest[i], abs(m.rows[i].phi))


@lru_cache(maxsize=1)
def _measurer() -> Any:
    matrices = (VECTOR, MATRIX, MATRIX, VECTOR, VECTOR, VECTOR)
    return compiled(_measure, types.none(types.intp, types.intp, *matrices))


def measure(m: KernelState, rows: int, time: Array, q: Array, qd: Array) -> tuple[Array, Array, Array]:
    """Return kinetic and potential energy (T,), J, and the largest |Φ| of the first rows, m or rad.

    Over samples ``time`` (T,), ``q`` (T, nq) and ``qd`` (T, nv).
    """
    kinetic, potential, largest = np.zeros(len(time)), np.zeros(len(time)), np.zeros(rows)
    _measurer()(evaluate_address(), place_of(m), time, q, qd, kinetic, potential, largest)
    return kinetic, potential, largest


def momenta(trajectory: Trajectory) -> Array:
    """Return the generalised momenta M(q) q̇ (T, nv) of a motion, N·m·s and N·s, in the order of ``qd``.

    They are those of the tree in space: a planar view, closures and drivers leave M as it is.
    """
    model = tree_model(trajectory.mechanism, trajectory.actions)
    found, M = np.empty(trajectory.qd.shape), np.empty((len(model.rates), len(model.rates)))
    for k, (q, qd) in enumerate(zip(trajectory.q, trajectory.qd, strict=True)):
        move(model.composites, model.rates, q, qd)
        factor(model.composites, model.rates)
        mass_matrix(model.composites, model.rates, M)
        found[k] = M @ qd
    make_read_only(found)
    return found
