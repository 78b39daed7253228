"""The misfit response of a mechanism whose stiffness is known."""

from __future__ import annotations

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph

from mbplugin.joint_reactions.misfit.response import MisfitResponse
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
        degree_of_redundancy=system.Z.shape[1],
        labels=system.labels,
        units=system.units,
        factor=system.scale[:, None] * _without_rounding(resolution.response),
        infinite_group=group,
        missing=missing,
        adjustable=_adjustable(system),
        sources=row_sources(system, flexible),
        length=system.length,
        stated=tuple(e.name for e in flexible.stated),
        estimated=flexible.estimates,
        notes=(*state.notes, *flexible.notes),
    )


def _without_rounding(factor: AnyArray) -> AnyArray:
    """Return a factor (m, k) of the response whose rows are zero where they are rounding of the others."""
    size = np.linalg.norm(factor, axis=1)
    return np.where((size > _NOTHING * size.max(initial=0.0))[:, None], factor, 0.0)


def infinite_groups(free: AnyArray, determined: AnyArray) -> AnyArray:
    """Return for each row, (m,), the number of the group that stresses it without compliance, −1 if none does.

    Parameters
    ----------
    free : (m, k) array
        Orthonormal self-stresses that nothing determines.
    determined : (m,) bool array
    """
    group = np.full(len(determined), -1)
    rows = np.flatnonzero(~determined)
    if rows.size:
        # the projector on the free self-stresses does not depend on their basis
        inside = free[rows] / np.linalg.norm(free[rows], axis=1, keepdims=True)
        together = np.abs(inside @ inside.T) > 1e-8
        group[rows] = scipy.sparse.csgraph.connected_components(
            scipy.sparse.csr_array(together), directed=False
        )[1]
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
