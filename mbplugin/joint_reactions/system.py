"""All rows of a mechanism with the self-stresses that go with them, scaled for solving.

Lengths are in characteristic lengths, so that a scaled row is of unit size and a multiplier in N or
N·m is ``scale`` times its scaled value; no result depends on the unit that was chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from mbplugin.analysis.uniqueness import ConstraintVerdict, StressedBlock, constraint_verdicts, stress
from mbplugin.constraints.rank import rank_blocks
from mbplugin.constraints.reduction.scaling import characteristic_length, row_scale
from mbplugin.constraints.reduction.strips import Strip, strip_of
from mbplugin.constraints.rows.build import all_rows
from mbplugin.constraints.rows.planar import planar_rows
from mbplugin.constraints.rows.row import Rows
from mbplugin.joint_reactions.self_stresses.basis import StressBasis, placed, side_by_side, stress_basis
from mbplugin.model.enumerations import ReactionUnit
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.mechanism.kinematics import BodyPoses
from mbplugin.model.mechanism.mechanism import Constraint, Mechanism
from mbplugin.model.spatial import AnyArray, Array


@dataclass(frozen=True, eq=False)
class System:
    """Rows, self-stresses and verdicts of a mechanism at a pose.

    Parameters
    ----------
    mech : Mechanism
        With the held joints among its locks.
    rows : tuple of Rows
        In the view of ``columns``, constraint by constraint.
    columns : tuple of int
        Twist components that count.
    length : float
        Characteristic length, m.
    scale : (m,) array
        Factor of each row that makes it dimensionless.
    bases : tuple of StressBasis
        The self-stresses of each block that has any.
    zero : (m,) array
        Size below which an entry of Z is zero.
    """

    mech: Mechanism
    poses: BodyPoses
    rows: tuple[Rows, ...]
    columns: tuple[int, ...]
    length: float
    scale: Array
    bases: tuple[StressBasis, ...]
    zero: Array
    verdicts: tuple[ConstraintVerdict, ...]

    @cached_property
    def labels(self) -> tuple[RowLabel, ...]:
        """(constraint, component) of each row."""
        return tuple(label for r in self.rows for label in r.labels)

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Rows of each constraint."""
        found, start = {}, 0
        for r in self.rows:
            found[r.constraint] = slice(start, start + len(r.components))
            start += len(r.components)
        return found

    @cached_property
    def units(self) -> tuple[ReactionUnit, ...]:
        """The unit of each multiplier."""
        return tuple("N" if t else "N·m" for r in self.rows for t in r.translation)

    @cached_property
    def rows_by_name(self) -> dict[str, Rows]:
        """The rows of each constraint."""
        return {r.constraint: r for r in self.rows}

    @cached_property
    def rows_on_body(self) -> dict[int, list[Rows]]:
        """The rows that act on each body, by its index."""
        found: dict[int, list[Rows]] = {}
        for r in self.rows:
            for body in dict(r.entries):
                found.setdefault(body, []).append(r)
        return found

    @property
    def degree_of_redundancy(self) -> int:
        """p, the number of independent self-stresses."""
        return sum(basis.Z.shape[1] for basis in self.bases)

    @cached_property
    def Z(self) -> csr_array:
        """Scaled self-stresses (m, p), orthonormal within each block."""
        return side_by_side([(basis.rows, basis.Z) for basis in self.bases], len(self.scale))

    @cached_property
    def local(self) -> csr_array:
        """The same space as Z, (m, p); of large blocks each self-stress in the few rows that it loads."""
        return side_by_side([(basis.rows, basis.local) for basis in self.bases], len(self.scale))

    def stress(self, rows: slice) -> Strip:
        """Return some rows of Z."""
        return strip_of(self.Z, rows)

    @cached_property
    def together(self) -> csr_array:
        """How much rows that are not unique change together: the projector Z Zᵀ in these rows, (m, m).

        What is zero as an entry of Z is zero in a product with another entry.
        """
        pieces, limit = [], 10 * self.zero.min(initial=1.0)
        for basis in self.bases:
            own = np.flatnonzero(~self.unique[basis.rows])
            projector = basis.Z[own] @ basis.Z[own].T
            pieces.append((basis.rows[own], basis.rows[own], projector * (abs(projector) > limit)))
        return placed(pieces, (len(self.scale), len(self.scale)))

    @cached_property
    def stress_groups(self) -> AnyArray:
        """For each row, (m,), the number of the group that shares its self-stresses, −1 if it is unique."""
        limit = 10 * self.zero[~self.unique].max(initial=0.0)
        group = connected_components(abs(self.together) > limit, directed=False)[1]
        return np.where(self.unique, -1, group)

    @cached_property
    def constraint_by_name(self) -> dict[str, Constraint]:
        """Every constraint."""
        return {c.name: c for c in self.mech.constraints()}

    @cached_property
    def unique(self) -> AnyArray:
        """Whether the rigid model determines each multiplier, (m,)."""
        return np.array([c.unique for verdict in self.verdicts for c in verdict.components], dtype=bool)

    @cached_property
    def C(self) -> csr_array:
        """Scaled constraint matrix (m, 6N) on twists [v/ℓ; ω]; columns out of the plane are zero."""
        size = self.column_scale
        data: list[AnyArray] = [np.zeros(0)]
        i: list[AnyArray] = [np.zeros(0, int)]
        j: list[AnyArray] = [np.zeros(0, int)]
        start = 0
        for r in self.rows:
            k = len(r.components)
            for body, entry in r.entries:
                data.append((entry * size * self.scale[start : start + k, None]).ravel())
                i.append(np.repeat(np.arange(start, start + k), 6))
                j.append(np.tile(6 * body + np.arange(6), k))
            start += k
        shape = (len(self.scale), 6 * len(self.mech.bodies))
        triplets = (np.concatenate(data), (np.concatenate(i), np.concatenate(j)))
        return coo_array(triplets, shape).tocsr()

    @property
    def column_scale(self) -> Array:
        """Factor of each twist component, (6,); zero out of the plane."""
        seen = np.zeros(6)
        seen[list(self.columns)] = 1.0
        return np.asarray(seen * np.array([self.length] * 3 + [1.0] * 3))

    @property
    def dropped(self) -> AnyArray:
        """p rows (p,), well apart, without which the rest are independent."""
        return np.sort(np.concatenate([np.zeros(0, dtype=int), *(basis.dropped for basis in self.bases)]))


def build_system(
    mech: Mechanism, q: Array, poses: BodyPoses, columns: tuple[int, ...], tolerance: float
) -> System:
    """Return the rows of a mechanism at a closed pose q (nq,), the rank being decided at a tolerance."""
    rows = tuple(planar_rows(r, columns) for r in all_rows(mech, poses, q))
    stressed = stress(rank_blocks(mech, poses, columns, tolerance, q))
    length = characteristic_length(rows, poses.p_WC, mech)
    scale = np.concatenate([row_scale(r, length) for r in rows]) if rows else np.zeros(0)
    labels = {r.constraint: r.components for r in rows}
    bases, zero, scale = _in_rows([label for r in rows for label in r.labels], stressed, scale)
    verdicts = constraint_verdicts(mech, stressed, labels)
    return System(mech, poses, rows, columns, length, scale, bases, zero, verdicts)


def _in_rows(
    labels: Sequence[RowLabel], stressed: Sequence[StressedBlock], scale: Array
) -> tuple[tuple[StressBasis, ...], Array, Array]:
    """Return the self-stresses of all blocks, and each row's zero and scale (m,)."""
    position = {label: k for k, label in enumerate(labels)}
    bases, zero, scale = [], np.full(len(labels), 1e-9), scale.copy()
    for s in stressed:
        if s.ranked.redundancy:
            at = np.array([position[label] for label in s.ranked.reduced.labels])
            bases.append(stress_basis(s, at))
            zero[at], scale[at] = s.ranked.zero, s.ranked.reduced.scale
    return tuple(bases), zero, scale
