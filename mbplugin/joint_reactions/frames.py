"""Frames of a reaction: the wrench in world axes, and the undetermined directions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbplugin.analysis.directions import (
    Directions,
    joint_place,
    open_directions,
    rows_in_world,
    unit_wrenches,
)
from mbplugin.constraints.reduction.strips import strip_of
from mbplugin.constraints.rows.row import Rows
from mbplugin.joint_reactions.stiffness.compliance import Resolution
from mbplugin.joint_reactions.stiffness.coverage import joints_of
from mbplugin.joint_reactions.stiffness.elements import acting_point
from mbplugin.joint_reactions.system import System
from mbplugin.joint_reactions.values import WorldWrench
from mbplugin.model.enumerations import ReactionSource
from mbplugin.model.mechanism.coupling import Coupling
from mbplugin.model.mechanism.mechanism import Constraint
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, shift_rows

#: Beside what counts as zero in one self-stress, for sums of several.
_SUMS = 10.0


def world_rows(system: System, constraint: Constraint, rows: Rows) -> tuple[str, Array, Array] | None:
    """Return the body on which a constraint acts, where (m), and its rows (k, 6) there in world axes.

    None for a coupling, which acts at several places, and where there are no rows.
    """
    if isinstance(constraint, Coupling) or not rows.components:
        return None
    joints = joints_of(system.mech, constraint)
    if joints:
        (pair,) = joints
        point, _ = joint_place(system.mech, system.poses, pair)
        return pair.body_b, point, rows_in_world(system.mech, system.poses, pair, rows)
    ((body, entry),) = ((body, entry) for body, entry in rows.entries if body >= 0)
    point = acting_point(system, constraint, body)
    return system.mech.bodies[body].name, point, shift_rows(entry, system.poses.p_WC[body] - point)


def joint_axes(system: System, constraint: Constraint) -> Array | None:
    """Return R_WJ (3, 3), the axes of P in the world, of a pair or of the joint of a drive or lock."""
    joints = joints_of(system.mech, constraint)
    if isinstance(constraint, Coupling) or not joints:
        return None
    return joint_place(system.mech, system.poses, joints[0])[1]


def world_wrench(
    system: System,
    constraint: Constraint,
    rows: Rows,
    resolution: Resolution,
    sources: Sequence[ReactionSource | None],
) -> WorldWrench | None:
    """Return a reaction in world axes, NaN along every axis with a part that is not determined.

    Parameters
    ----------
    sources : sequence of str or None
        Of the constraint's rows.
    """
    found = world_rows(system, constraint, rows)
    if found is None:
        return None
    body, point, L = found
    at = system.slices[constraint.name]
    wrench = L.T @ (system.scale * resolution.multipliers)[at]
    sized = unit_wrenches(L, system.scale[at], system.length)
    limit = _SUMS * max(float(system.zero[at].max()), 1e-8)
    wrench[np.linalg.norm(sized @ strip_of(resolution.open, at).values, axis=1) > limit] = np.nan
    rigid = np.linalg.norm(sized @ system.stress(at).values, axis=1) <= limit
    decided: ReactionSource = "estimated" if "estimated" in sources else "stated"
    wrench.setflags(write=False)
    return WorldWrench(
        body,
        point,
        wrench,
        tuple(
            None if np.isnan(value) else "rigid" if known else decided
            for value, known in zip(wrench, rigid, strict=True)
        ),
    )


def open_in(
    system: System, constraint: Constraint, rows: Rows
) -> tuple[Directions | None, Directions | None]:
    """Return the directions in which the rigid model leaves the force and the moment of a pair open."""
    if not isinstance(constraint, Pair):
        return None, None
    at = system.slices[constraint.name]
    if system.unique[at].all():
        return (), ()
    L = rows_in_world(system.mech, system.poses, constraint, rows)
    stresses = unit_wrenches(L, system.scale[at], system.length) @ system.stress(at).values
    return open_directions(stresses, float(system.zero[at].max()))
