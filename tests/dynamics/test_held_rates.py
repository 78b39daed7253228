"""Rates of a tree that are held by the recursion itself, against the KKT system of the same rows."""

from __future__ import annotations

import numpy as np
import pytest

from mbplugin.dynamics.tree_model import equations_of, tree_model
from mbplugin.model.mechanism import Lock
from mbplugin.model.mechanism.kinematics import displace
from mbplugin.model.spatial import Array
from mbplugin.simulation.kernel_state import (
    ACCELERATE,
    FACTORIZE,
    FORWARD_DYNAMICS,
    IMPULSE,
    KINEMATICS,
    MOTION_SEGMENT,
    KernelState,
    evaluate_at,
    kernel_state_of,
)
from models import chain

_PAIRS = ["revolute", "cylindrical", "spherical"]


def _held(pair_type: str) -> tuple[KernelState, Array, Array, Array, Array]:
    """Return a kernel state with held rates, a state, and what the KKT system has: q̈ and λ."""
    rng = np.random.default_rng(7)
    mech, q = chain(5, pair_type, rng)
    nv = len(mech.qd_names)
    q, qd = displace(mech, q, rng.normal(size=nv)), rng.normal(size=nv)
    locks = tuple(Lock(mech.pairs[k].name) for k in (1, 2, 4))
    model = tree_model(mech, locks=locks, q=q)
    model.evaluate(q, qd)
    rows = np.arange(len(model.table.rows))
    equations = equations_of(model, q, qd, rows=tuple(rows.tolist()), degree_of_redundancy=0, decided=True)
    r = len(rows)
    kkt = np.block([[equations.M, equations.C.T], [equations.C, np.zeros((r, r))]])
    solved = np.linalg.solve(kkt, np.concatenate((equations.F, equations.Gamma)))
    return kernel_state_of(model, np.zeros(0, MOTION_SEGMENT), rows), q, qd, solved[:nv], -solved[nv:]


@pytest.mark.parametrize("pair_type", _PAIRS)
@pytest.mark.parametrize("at_once", [True, False])
def test_accelerations_and_forces_are_those_of_the_constrained_system(pair_type: str, at_once: bool) -> None:
    state, q, qd, qdd, forces = _held(pair_type)
    for what in (FORWARD_DYNAMICS,) if at_once else (KINEMATICS | FACTORIZE, ACCELERATE):
        evaluate_at(state, what, 0.0, q, qd)
    assert state.rates["held"].any() == at_once
    np.testing.assert_allclose(state.rates["qdd"], qdd, atol=1e-9 * np.abs(qdd).max())
    np.testing.assert_allclose(state.multipliers, forces, atol=1e-9 * np.abs(forces).max())


@pytest.mark.parametrize("pair_type", _PAIRS)
def test_an_impulse_after_held_rates_is_that_without(pair_type: str) -> None:
    state, q, qd, _, _ = _held(pair_type)
    jumps = []
    for before in (KINEMATICS | FACTORIZE, FORWARD_DYNAMICS):
        evaluate_at(state, before, 0.0, q, qd)
        state.gap[:] = np.arange(1.0, len(state.gap) + 1.0)
        evaluate_at(state, IMPULSE, 0.0, q, qd)
        jumps.append(np.array(state.rates["qdd"]))
    np.testing.assert_allclose(jumps[1], jumps[0], rtol=1e-12, atol=1e-12 * np.abs(jumps[0]).max())
