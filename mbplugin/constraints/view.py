"""A mechanism at a pose for an analysis: in space or in a plane, at a rank tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from mbplugin.constraints.rank import RankedBlock, rank_blocks
from mbplugin.constraints.reduction.blocks import Block, find_blocks
from mbplugin.constraints.rows.build import all_rows
from mbplugin.constraints.rows.planar import planar_rows
from mbplugin.model.mechanism.coupling import Lock
from mbplugin.model.mechanism.kinematics import BodyPoses, forward
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array


@dataclass(frozen=True, eq=False)
class View:
    """What an analysis looks at.

    Parameters
    ----------
    q : (nq,) array
    columns : tuple of int
        Components of a twist that count: all six, or the three of a plane.
    tolerance : float
        Relative rank tolerance.
    """

    mech: Mechanism
    q: Array
    columns: tuple[int, ...]
    tolerance: float

    @cached_property
    def poses(self) -> BodyPoses:
        """Poses of all bodies."""
        return forward(self.mech, self.q)

    def at(self, q: Array) -> View:
        """Return the same view of another pose."""
        return self if q is self.q else replace(self, q=q)

    def locked(self, locks: Sequence[Lock]) -> View:
        """Return the same view with more joints locked where they stand."""
        mech = replace(self.mech, locks=(*self.mech.locks, *locks))
        held = replace(self, mech=mech)
        # locks move nothing
        vars(held)["poses"] = self.poses
        return held

    def ranked(self, blocks: Sequence[Block]) -> tuple[RankedBlock, ...]:
        """Return some blocks with their ranks."""
        return rank_blocks(self.mech, self.poses, self.columns, self.tolerance, self.q, blocks)

    @cached_property
    def blocks(self) -> tuple[RankedBlock, ...]:
        """All blocks with their ranks."""
        return self.ranked(find_blocks(self.mech))

    @cached_property
    def redundancy(self) -> int:
        """The degree of redundancy of all blocks together."""
        return redundancy(self.blocks)

    @cached_property
    def row_labels(self) -> dict[str, tuple[str, ...]]:
        """Labels of every constraint's rows; in space they follow from its type."""
        mech = self.mech
        labels = {r.constraint: r.components for b in self.blocks for r in b.reduced.rows}
        missing = [c.name for c in mech.constraints() if c.name not in labels]
        if len(self.columns) == 6:
            labels.update(
                {n: mech.pair_by_name[n].kind.constrained for n in missing if n in mech.pair_by_name}
            )
        missing = [name for name in missing if name not in labels]
        if missing:
            for r in all_rows(mech, self.poses, self.q, names=frozenset(missing)):
                labels[r.constraint] = planar_rows(r, self.columns).components
        return labels


def redundancy(blocks: Sequence[RankedBlock]) -> int:
    """Return the degree of redundancy of all blocks together."""
    return sum(b.redundancy for b in blocks)
