"""What passes through a joint: the pair with everything that acts along its freedoms, as one wrench.

A sensor between two bodies, or the joint force of a simulator, measures the pair together with its drives,
locks and couplings.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mbplugin.analysis.directions import unit_wrenches
from mbplugin.constraints.reduction.strips import Strip, added
from mbplugin.constraints.rows.build import rows_of
from mbplugin.constraints.rows.planar import planar_rows
from mbplugin.joint_reactions.stiffness.elements import rows_at_joint
from mbplugin.joint_reactions.system import System
from mbplugin.joint_reactions.values import Reactions
from mbplugin.model.mechanism.coupling import Coupling, Driver, Lock
from mbplugin.model.mechanism.mechanism import Constraint
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import AnyArray, Array

#: Beside what counts as zero in one self-stress, for sums of several.
_SUMS = 10.0
#: A row has no part along an axis below this.
_ACTS = 1e-12


def acting_rows(system: System, pair: Pair) -> Iterator[tuple[slice, Array]]:
    """Yield where the multipliers are that act through a joint, and their rows (k, 6).

    The rows are on the relative twist at the origin of S, axes of P: transposed they take the multipliers to
    the wrench on the successor.
    """
    for rows in system.rows:
        constraint = system.constraint_by_name[rows.constraint]
        at = system.slices[rows.constraint]
        if isinstance(constraint, Coupling):
            for term in constraint.terms:
                if term.joint == pair.name:
                    yield at, term.coefficient * _freedom_row(system, pair, term.freedom)
        elif rows.components and (constraint is pair or _drives(constraint, pair)):
            yield at, rows_at_joint(system.mech, system.poses, pair, rows)


def unique_axes(system: System, pair: Pair, R_AP: Array) -> AnyArray:
    """Return which components (6,) of what passes through a joint the rigid model determines.

    Parameters
    ----------
    R_AP : (3, 3) array
        The axes of P in the axes of the components.
    """
    parts, zero = [Strip(np.zeros(0, dtype=int), np.zeros((6, 0)))], 1e-8
    for at, L in acting_rows(system, pair):
        own = system.stress(at)
        wrenches = unit_wrenches(L, system.scale[at], system.length) @ own.values
        parts.append(Strip(own.columns, wrenches))
        zero = max(zero, float(system.zero[at].max(initial=0.0)))
    turned = np.kron(np.eye(2), R_AP) @ added(parts).values
    return np.asarray(np.linalg.norm(turned, axis=1) <= _SUMS * zero)


def _drives(constraint: Constraint, pair: Pair) -> bool:
    return isinstance(constraint, Driver | Lock) and constraint.joint == pair.name


def _freedom_row(system: System, pair: Pair, freedom: str) -> Array:
    """Return the row (1, 6) of one freedom of a pair at its joint, axes of P."""
    (rows,) = rows_of(system.mech, (Driver("", pair.name, (freedom,)),), system.poses)
    return rows_at_joint(system.mech, system.poses, pair, planar_rows(rows, system.columns))


def coupled_wrench(system: System, result: Reactions, pair: Pair) -> Array:
    """Return what passes through a joint (6,), axes of P at the origin of S, N and N·m.

    NaN in what nothing determines; ``result`` is of the mechanism of the system, without drives and locks.
    """
    wrench = result[pair.name].wrench
    out = np.zeros(6) if wrench is None else np.array(wrench)
    for coupling in system.mech.couplings:
        for term in coupling.terms:
            if term.joint == pair.name:
                row = term.coefficient * _freedom_row(system, pair, term.freedom)[0]
                acts = np.abs(row) > _ACTS
                out[acts] += row[acts] * result.value(coupling.name, "c")
    return out
