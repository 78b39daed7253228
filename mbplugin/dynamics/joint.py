"""Equations of motion in joint coordinates: only closures, couplings, drivers and the like are rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbplugin.constraints.rank import rank_blocks
from mbplugin.constraints.rows.planar import plane_columns
from mbplugin.constraints.tolerance import DEFAULT_TOLERANCE
from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.kernels.articulated import accelerate, inward, outward
from mbplugin.dynamics.kernels.inverse import inverse_dynamics, mass_matrix
from mbplugin.dynamics.kernels.solve import row_acceleration, row_in_rates
from mbplugin.dynamics.moved_mass import without_mass
from mbplugin.dynamics.tree_model import TreeModel, massless_joint, tree_model
from mbplugin.model.applied_forces import NO_FORCES, AppliedForces
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import ROTATION, AnyArray, Array


def joint_equations(
    mech: Mechanism,
    q: Array,
    qd: Array,
    actions: AppliedForces = NO_FORCES,
    *,
    time: float = 0.0,
    planar: str | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
    degree_of_redundancy: int | None = None,
) -> Equations:
    """Return M q̈ = F + Jᵀλ, J q̈ = Γ in joint rates at a closed state; arguments as for
    :func:`mbplugin.dynamics.absolute.absolute_equations`.

    M comes from composite inertias, F from inverse dynamics, M⁻¹ from the articulated-body recursion.

    Raises
    ------
    BrokenModel
        A joint that moves no mass, or no more than rounding leaves of a difference.
    """
    model = tree_model(mech, actions, planar=planar, q=q)
    if degree_of_redundancy is None:
        degree_of_redundancy = redundancy(mech, q, planar, tolerance)
    equations = equations_of(model, q, qd, time=time, degree_of_redundancy=degree_of_redundancy)
    if (still := without_mass(model.composites, model.rates)).any():
        raise massless_joint(model, still)
    return equations


def redundancy(mech: Mechanism, q: Array, planar: str | None, tolerance: float) -> int:
    """Return p of the rows in joint rates at a closed pose q (nq,).

    Rows that hold a planar view in its plane make the rows across it redundant as well, so those are
    counted in space.
    """
    poses = forward(mech, q)
    spatial = rank_blocks(mech, poses, plane_columns(None), tolerance, q)
    if planar is None:
        return sum(b.redundancy for b in spatial)
    flat = rank_blocks(mech, poses, plane_columns(planar), tolerance, q)
    rows = sum(b.reduced.shape[0] for b in spatial)
    return rows - sum(b.rank for b in flat)


def equations_of(
    model: TreeModel,
    q: Array,
    qd: Array,
    *,
    time: float = 0.0,
    degree_of_redundancy: int,
    rows: Sequence[int] | None = None,
    drive: Array | None = None,
    decided: bool = False,
) -> Equations:
    """Return the equations of a model at a state, friction and controller included.

    Parameters
    ----------
    q, qd : (nq,), (nv,) array
    time : float
        For the controller and the drivers, s.
    degree_of_redundancy : int
        p of the rows.
    rows : sequence of int, optional
        Which rows of the model hold; by default the mechanism's own.
    drive : (d, 3) array, optional
        What the drivers prescribe, in place of what the mechanism says.
    decided : bool
        Whether it has been decided in which sense friction slides; otherwise the rates tell.
    """
    model.evaluate(q, qd, time, drive)
    if len(model.resistances) and not decided:
        model.slide(qd)
        model.evaluate(q, qd, time, drive)
    table, nv = model.table, len(model.rates)
    chosen = list(range(table.persistent) if rows is None else rows)
    count = len(chosen)
    M, C, Gamma, rest = np.zeros((nv, nv)), np.zeros((count, nv)), np.zeros(count), np.zeros(nv)
    mass_matrix(model.composites, model.rates, M)
    model.rates["qdd"] = 0.0
    accelerate(model.composites, model.rates)
    for k, i in enumerate(chosen):
        row_in_rates(model.composites, model.rates, table.rows, table.terms, i, 1.0, C[k])
        own = row_acceleration(model.composites, model.rates, table.rows, table.terms, i)
        Gamma[k] = table.rows["gamma"][i] - own
    inverse_dynamics(model.composites, model.rates, rest)
    turns = np.abs(model.rates["s"][:, ROTATION]).max(axis=1, initial=0.0) > 0
    return Equations(
        "joint",
        tuple(table.labels[i] for i in chosen),
        np.array(qd, dtype=float),
        M,
        -rest,
        C,
        table.rows["bias"][chosen],
        Gamma,
        table.rows["unit"][chosen],
        np.where(turns, 1.0, model.length),
        degree_of_redundancy,
        _Recursion(model.composites.copy(), model.rates.copy()),
    )


class _Recursion:
    """M⁻¹ by the articulated-body recursion, at the state of its own records."""

    def __init__(self, composites: AnyArray, rates: AnyArray) -> None:
        """Keep the records of composites (b,) and rates (nv,), whose forces every call changes."""
        self._solids, self._rates = composites, rates

    def __call__(self, rhs: Array) -> Array:
        """Return M⁻¹ rhs, rhs (nv,) or (nv, k)."""
        given = np.asarray(rhs, dtype=float)
        # no reshape: how many columns -1 means is undecided where nothing moves
        columns = given[:, None] if given.ndim == 1 else given
        out = np.empty_like(columns)
        for k in range(columns.shape[1]):
            self._rates["tau"], self._solids["f"] = columns[:, k], 0.0
            inward(self._solids, self._rates, False)
            outward(self._solids, self._rates, False)
            out[:, k] = self._rates["qdd"]
        return out.reshape(np.shape(rhs))
