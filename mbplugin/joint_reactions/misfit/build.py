"""The misfit response of a mechanism whose stiffness is known."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components

from mbplugin.joint_reactions.misfit.response import MisfitResponse, row_lengths
from mbplugin.joint_reactions.state import ClosedState
from mbplugin.joint_reactions.stiffness.coverage import MissingStiffness, missing_stiffness
from mbplugin.joint_reactions.stiffness.flexible import Flexible, row_sources
from mbplugin.joint_reactions.system import System
from mbplugin.model.spatial import AnyArray

#: Part of the largest row of the factor below which a row is rounding: of the stiffness it is the square.
_NOTHING = 1e-13


def response_of(state: ClosedState, system: System, flexible: Flexible) -> MisfitResponse:
    """Return the misfit response of a mechanism whose stiffness is known."""
    resolution = flexible.resolution
    group = infinite_groups(resolution.open, resolution.determined)
    missing = tuple(
        _missing(system, flexible, group == number) for number in range(group.max(initial=-1) + 1)
    )
    return MisfitResponse(
        mechanism=system.mech,
        q=state.q,
        planar=state.planar,
        tolerance=state.tolerance,
        degree_of_redundancy=system.degree_of_redundancy,
        labels=system.labels,
        units=system.units,
        factor=(diags_array(system.scale) @ _without_rounding(resolution.response)).tocsr(),
        infinite_group=group,
        missing=missing,
        adjustable=_adjustable(system),
        sources=row_sources(system, flexible),
        length=system.length,
        stated=tuple(e.name for e in flexible.stated),
        estimated=flexible.estimates,
        notes=(*state.notes, *flexible.notes),
    )


def _without_rounding(factor: csr_array) -> csr_array:
    """Return a factor (m, k) of the response whose rows are zero where they are rounding of the others."""
    size = row_lengths(factor)
    cleaned = (diags_array((size > _NOTHING * size.max(initial=0.0)).astype(float)) @ factor).tocsr()
    cleaned.eliminate_zeros()
    return cleaned


def infinite_groups(free: csr_array, determined: AnyArray) -> AnyArray:
    """Return for each row, (m,), the number of the group that stresses it without compliance, −1 if none does.

    Parameters
    ----------
    free : (m, k) sparse array
        Orthonormal self-stresses that nothing determines.
    determined : (m,) bool array
    """
    group = np.full(len(determined), -1)
    rows = np.flatnonzero(~determined)
    if rows.size:
        # the projector on the free self-stresses does not depend on their basis
        inside = diags_array(1.0 / row_lengths(free)[rows]) @ free[rows]
        group[rows] = connected_components(abs(inside @ inside.T) > 1e-8, directed=False)[1]
    return group


def _missing(system: System, flexible: Flexible, inside: AnyArray) -> MissingStiffness:
    """Return what lacks stiffness for the rows ``inside`` (m,), or who carries them where no table helps."""
    found = missing_stiffness(system, flexible.covered, ~inside)
    if found:
        return found
    carrying = {
        body
        for verdict in system.verdicts
        if inside[system.slices[verdict.name]].any()
        for body in (verdict.body_a, verdict.body_b)
    }
    return MissingStiffness(tuple(b.name for b in system.mech.bodies if b.name in carrying))


def _adjustable(system: System) -> AnyArray:
    """Return which rows, (m,) bool, close a gap: rows of velocities close none."""
    kinds = [
        verdict.kind
        for verdict, rows in zip(system.verdicts, system.rows, strict=True)
        for _ in rows.components
    ]
    return np.array([kind != "pfaffian" for kind in kinds], dtype=bool)
