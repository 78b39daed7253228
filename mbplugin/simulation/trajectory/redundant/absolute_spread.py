"""Reactions of a motion spread over the rows of all pairs, as absolute coordinates have them.

In joint coordinates only closing rows can be redundant, in absolute ones those of every pair; which of the
possible reactions is the smallest, or has some rows carry nothing, depends on that. All possible ones
differ by self-stresses (wojtyra2013 (6)), so that one of them and the rows are enough to find another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.constraints.rank import rank_blocks
from mbplugin.constraints.rows.build import all_rows
from mbplugin.constraints.rows.planar import planar_rows, plane_columns
from mbplugin.dynamics.absolute import absolute_equations
from mbplugin.joint_reactions.stiffness.elements import rows_at_joint
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import Array
from mbplugin.simulation.active_set.multipliers import Handling
from mbplugin.simulation.trajectory.segments import Held

if TYPE_CHECKING:
    from mbplugin.simulation.trajectory.trajectory import Trajectory

#: Poses among which the one of least redundancy counts; more at single poses is singular.
_POSES = 3


def spread_over_all_rows(
    trajectory: Trajectory,
    held: Held,
    rest: Mapping[str, Sequence[str]],
    of_pair: dict[str, Array],
    of_rest: dict[str, Array],
) -> None:
    """Replace the reactions at some samples by those that the motion's handling chooses, in place.

    Parameters
    ----------
    held : Held
        What holds, and at which samples.
    rest : mapping of constraint name to its components
        The columns of ``of_rest``.
    of_pair : dict of str to (T, 6) array
        [f; m] on the successor at the origin of S, axes of P, N and N·m.
    of_rest : dict of str to (T, k) array
        Multipliers of the other constraints, N and N·m.
    """
    handling = Handling(trajectory.redundancy, trajectory.dropped)
    p, columns = _redundancy(trajectory, held), plane_columns(trajectory.planar)
    if not p:
        return
    # what acts has no part in the rows, and a controller is not asked again
    actions = replace(trajectory.actions, controller=None)
    for k in held.samples.tolist():
        q, qd = trajectory.q[k], trajectory.qd[k]
        equations = absolute_equations(
            held.mech, q, qd, actions, planar=trajectory.planar, degree_of_redundancy=p
        )
        poses, start = forward(held.mech, q), 0
        rows = [planar_rows(r, columns) for r in all_rows(held.mech, poses, q)]
        pairs = {
            r.constraint: rows_at_joint(held.mech, poses, held.mech.pair_by_name[r.constraint], r)
            for r in rows
            if r.constraint in of_pair and r.components
        }
        known = [
            np.linalg.lstsq(pairs[r.constraint].T, of_pair[r.constraint][k], rcond=None)[0]
            if r.constraint in pairs
            else _at(rest.get(r.constraint, ()), r.components, of_rest.get(r.constraint), k)
            for r in rows
        ]
        multipliers = handling.carrying(equations, equations.C.T @ np.concatenate(known))
        for r in rows:
            own = multipliers[start : start + len(r.components)]
            start += len(r.components)
            if r.constraint in pairs:
                of_pair[r.constraint][k] = own @ pairs[r.constraint]
            elif r.constraint in rest:
                places = [list(rest[r.constraint]).index(c) for c in r.components]
                of_rest[r.constraint][k, places] = own


def _at(names: Sequence[str], components: Sequence[str], values: Array | None, k: int) -> Array:
    """Return the multipliers (k,) of some components of a constraint at a sample; ``values`` (T, n) of all samples."""
    if values is None:
        return np.zeros(len(components))
    return values[k, [list(names).index(c) for c in components]]


def _redundancy(trajectory: Trajectory, held: Held) -> int:
    """Return p of the rows of all pairs in the view of the motion."""
    columns = plane_columns(trajectory.planar)
    poses = [trajectory.q[k] for k in held.spread(_POSES)]
    blocks = (rank_blocks(held.mech, forward(held.mech, q), columns, trajectory.tolerance, q) for q in poses)
    return min(sum(block.redundancy for block in own) for own in blocks)
