"""The pieces of a calculation put together as the value that a caller gets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbplugin.analysis.uniqueness import ConstraintVerdict
from mbplugin.constraints.rows.row import Rows
from mbplugin.joint_reactions.family import families, null_directions, sharing
from mbplugin.joint_reactions.frames import joint_axes, open_in, world_wrench
from mbplugin.joint_reactions.state import ClosedState
from mbplugin.joint_reactions.statics import Balance
from mbplugin.joint_reactions.stiffness.compliance import Resolution
from mbplugin.joint_reactions.stiffness.coverage import missing_stiffness
from mbplugin.joint_reactions.stiffness.elements import joint_point, joint_rows
from mbplugin.joint_reactions.stiffness.flexible import Flexible, row_sources
from mbplugin.joint_reactions.system import System
from mbplugin.joint_reactions.values import ComponentReaction, ConstraintReaction, Reactions
from mbplugin.model.enumerations import ReactionSource
from mbplugin.model.mechanism.coupling import Lock
from mbplugin.model.spatial import Array

#: An unbalanced share of the load that is worth a note.
_NOTED = 1e-9


def collect(
    state: ClosedState,
    system: System,
    held: Sequence[Lock],
    found: Balance,
    flexible: Flexible,
) -> Reactions:
    """Return the reactions of all constraints, with where each value comes from."""
    resolution = flexible.resolution
    source = row_sources(system, flexible)
    labels = {lock.name: _label(lock) for lock in held}
    made = tuple(
        _constraint(system, verdict, rows, resolution, source, verdict.name in labels)
        for verdict, rows in zip(system.verdicts, system.rows, strict=True)
    )
    notes = list(state.notes)
    if found.share > _NOTED:
        notes.append(
            f"loads work on a free motion with {found.share:.2g} of what they could, taken as rounding"
        )
    return Reactions(
        mechanism=system.mech,
        q=state.q,
        qd=state.qd,
        qdd=state.qdd,
        mode="statics" if state.at_rest else "inverse dynamics",
        planar=state.planar,
        tolerance=state.tolerance,
        degree_of_redundancy=system.degree_of_redundancy,
        held=tuple(labels.values()),
        constraints=made,
        families=families(system, found.multipliers),
        unresolved=tuple(label for label, s in zip(system.labels, source, strict=True) if s is None),
        stated=tuple(e.name for e in flexible.stated),
        estimated=flexible.estimates,
        missing=missing_stiffness(system, flexible.covered, resolution.determined),
        notes=(*notes, *flexible.notes),
    )


def _label(lock: Lock) -> str:
    return lock.joint if not lock.freedoms else f"{lock.joint}.{'.'.join(lock.freedoms)}"


def _constraint(
    system: System,
    verdict: ConstraintVerdict,
    rows: Rows,
    resolution: Resolution,
    source: Sequence[ReactionSource | None],
    held: bool,
) -> ConstraintReaction:
    at = system.slices[verdict.name]
    values = (system.scale * resolution.multipliers)[at]
    values.setflags(write=False)
    sources = source[at]
    components = tuple(
        ComponentReaction(c, unit, bool(unique), None if s is None else float(value), s)
        for c, unit, unique, value, s in zip(
            rows.components, system.units[at], system.unique[at], values, sources, strict=True
        )
    )
    pair = system.mech.pair_by_name.get(verdict.name)
    known = np.where([s is None for s in sources], np.nan, values)
    constraint = system.constraint_by_name[verdict.name]
    open_force, open_moment = open_in(system, constraint, rows)
    return ConstraintReaction(
        name=verdict.name,
        kind="hold" if held else verdict.kind,
        type=verdict.type,
        body_a=verdict.body_a,
        body_b=verdict.body_b,
        reaction=verdict.reaction,
        # the tools that judge here tell a dimension for every constraint
        indeterminate_dim=verdict.indeterminate_dim or 0,
        point=None if pair is None else joint_point(system, pair),
        wrench=None if pair is None else _wrench(joint_rows(system, pair, rows), known),
        components=components,
        directions=null_directions(system, verdict.name),
        shared_with=sharing(system, verdict.name),
        R_WJ=joint_axes(system, constraint),
        world=world_wrench(system, constraint, rows, resolution, sources),
        open_force=open_force,
        open_moment=open_moment,
    )


def _wrench(L: Array, values: Array) -> Array:
    """Return Lᵀ λ (6,) of rows L (k, 6) and values (k,).

    It is NaN in every component to which an undetermined multiplier contributes.
    """
    wrench = np.zeros(6)
    for row, value in zip(L, values, strict=True):
        part = np.abs(row) > 1e-12
        wrench[part] += row[part] * value
    wrench.setflags(write=False)
    return wrench
