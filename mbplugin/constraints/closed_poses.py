"""Closing the loops of many poses: those that are nearly closed together, the others one by one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbplugin.constraints.assembly import distinct, movable_sets_of
from mbplugin.constraints.closure import (
    CLOSED,
    CONVERGED,
    LIMIT_SLACK,
    Closure,
    Group,
    constraints_to_close,
    coupling_metres,
)
from mbplugin.constraints.descent import WORTH_PARTING, gauss_newton_at_poses
from mbplugin.constraints.many_poses import RowsAtPoses, WholeTree, characteristic_lengths, rows_at_poses
from mbplugin.constraints.reduction import rate_scale
from mbplugin.constraints.stated_state import closed_pose, stated_state
from mbplugin.errors import CannotClose
from mbplugin.model.mechanism.mechanism import Constraint, Coupling, Mechanism
from mbplugin.model.spatial import AnyArray, Array

#: Below this fraction of the closing threshold, Gauss–Newton steps alone close a pose, as in ``assembly``.
_NEARLY = 0.1


def closed_poses(mech: Mechanism, Q: Array) -> tuple[Array, Array]:
    """Return the closed poses (n, nq) near Q (n, nq), and the largest residual at the given ones, (n,), m.

    Each is the pose that :func:`mbplugin.constraints.assembly.assemble` finds from it.

    Raises
    ------
    CannotClose
        A loop cannot be closed; the message has the number of the pose.
    """
    constraints = constraints_to_close(mech)
    if not constraints:
        return np.array(Q), np.zeros(len(Q))
    whole = WholeTree(mech, Q)
    rows = rows_at_poses(whole, constraints)
    length = characteristic_lengths(rows, whole.p_WC, mech)
    metres = [_metres(constraint, r, length) for constraint, r in zip(constraints, rows, strict=True)]
    gaps, out = _largest(rows, metres), np.array(Q)
    is_open = gaps > CONVERGED * length
    near = np.flatnonzero(is_open & (gaps <= _NEARLY * CLOSED * length))
    if near.size:
        closure = Closure(mech, Q[near[0]])
        ends, done = out[near], np.ones(len(near), dtype=bool)
        for component in closure.components:
            own = np.concatenate([metres[k][near] for k in component.constraints], axis=1)
            ends, reached = _closed_together(closure, component, ends, own, length[near])
            done &= reached
        done &= ~_beyond_limits(mech, ends, length[near])
        out[near[done]] = ends[done]
        is_open[near[done]] = False
    for k in np.flatnonzero(is_open).tolist():
        try:
            out[k] = closed_pose(mech, stated_state(mech, Q[k], plausible=False, closing=True))[0].q
        except CannotClose as error:
            where = f"pose {k} of {len(Q)}"
            raise CannotClose(error.what, where=where, expected=error.expected, remedy=error.remedy) from None
    return out, gaps


def gaps_at_poses(mech: Mechanism, Q: Array) -> tuple[Array, Array]:
    """Return the largest residuals of the constraints at poses Q (n, nq), and characteristic lengths, (n,), m."""
    constraints = constraints_to_close(mech)
    if not constraints:
        return np.zeros(len(Q)), np.ones(len(Q))
    whole = WholeTree(mech, Q)
    rows = rows_at_poses(whole, constraints)
    length = characteristic_lengths(rows, whole.p_WC, mech)
    return _largest(rows, [_metres(c, r, length) for c, r in zip(constraints, rows, strict=True)]), length


def _largest(rows: Sequence[RowsAtPoses], metres: Sequence[Array]) -> Array:
    """Return the largest residuals (n,), m, for ``metres`` (n, k) per unit of each."""
    gaps = np.zeros(len(rows[0].Phi))
    for r, unit in zip(rows, metres, strict=True):
        gaps = np.maximum(gaps, np.abs(r.Phi * unit).max(axis=1, initial=0.0))
    return gaps


def _closed_together(
    closure: Closure, component: Group, Q: Array, metres: Array, length: Array
) -> tuple[Array, AnyArray]:
    """Return the ends (n, nq) of steps from nearly closed poses Q (n, nq), and which are closed, (n,) of bool.

    ``metres`` (n, r) per unit of the residuals of the component, and ``length`` (n,), m, are those of each pose. What
    needs more than the first set of rates that may change is left open.
    """
    mech, system = closure.mech, closure.system(component)
    movable = distinct(movable_sets_of(mech, np.zeros(len(closure.units), dtype=bool)), system.rates)[0].rates
    moving = movable[system.rates]
    if len(moving) >= WORTH_PARTING:
        return Q, np.zeros(len(Q), dtype=bool)
    travels = rate_scale(mech, 2.0)[system.rates] == 2.0
    units = np.where(travels, length[:, None], 1.0)

    def linearised(poses: AnyArray, q: Array) -> tuple[Array, Array]:
        J, Phi = system.in_lengths(q, metres[poses], units[poses])
        return J * moving, Phi

    def stepped(poses: AnyArray, q: Array, step: Array) -> Array:
        return system.advanced(q, step * units[poses])

    _, before = linearised(np.arange(len(Q)), Q)
    as_given = np.abs(before).max(axis=1, initial=0.0) <= CONVERGED * length
    ends, gap = gauss_newton_at_poses(linearised, stepped, Q, CONVERGED)
    ends[as_given], gap[as_given] = Q[as_given], 0.0
    for k in component.joints:
        joint = mech.tree.joints[k]
        if not movable[joint.qd].any():
            ends[:, joint.q] = Q[:, joint.q]
    # with all rates moving, a gap that is left is a misfit that no pose closes
    enough = CLOSED if moving.all() else CONVERGED
    return ends, gap <= enough * length


def _beyond_limits(mech: Mechanism, Q: Array, length: Array) -> AnyArray:
    """Return flags (n,) of the poses Q (n, nq), with ``length`` (n,), m, beyond a joint limit."""
    out = np.zeros(len(Q), dtype=bool)
    travels = rate_scale(mech, 2.0) == 2.0
    for joint in mech.tree.joints:
        if joint.pair is not None and len(joint.pair.freedoms) == 1:
            freedom, value = joint.pair.freedoms[0], Q[:, joint.q.start]
            unit = length if travels[joint.qd.start] else 1.0
            slack = LIMIT_SLACK * (unit + np.abs(value))
            if freedom.lower <= freedom.upper:
                out |= (value < freedom.lower - slack) | (value > freedom.upper + slack)
    return out


def _metres(constraint: Constraint, rows: RowsAtPoses, length: Array) -> Array:
    """Return the metres per unit of each residual, (n, k), for ``length`` (n,), m."""
    if isinstance(constraint, Coupling):
        return np.array([[coupling_metres(constraint, float(one))] for one in length])
    return np.where(rows.rows.translation, 1.0, length[:, None])
