"""The result of an analysis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mbplugin.analysis.flexibility import BodyVerdict
from mbplugin.analysis.groups import GroupVerdict
from mbplugin.analysis.mobility import Mobility
from mbplugin.analysis.proof import Cures
from mbplugin.analysis.remedies import Obstacle, Remedy
from mbplugin.analysis.self_stress import SelfStress
from mbplugin.analysis.uniqueness import ConstraintVerdict
from mbplugin.constraints.assembly import Assembly
from mbplugin.constraints.rank import Plateau, RankedBlock
from mbplugin.errors import UnknownName, suggestion
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array
from mbplugin.phrases import counted, one_line
from mbplugin.processes.collections import without_collections
from mbplugin.rendering import Result

if TYPE_CHECKING:
    from mbplugin.analysis.dca import DcaResult


@dataclass(frozen=True, eq=False)
class Analysis(Result):
    """The analysis of a mechanism at a closed pose (keys of the JSON report).

    Attributes
    ----------
    mechanism : Mechanism
    q : (nq,) array
        The closed pose.
    planar : str or None
    tolerance : float
        Relative rank tolerance.
    method : str
    rows, holonomic_rows, pfaffian_rows, columns : int
    rank, rank_holonomic, rank_pfaffian : int
    dof, gruebler : int
        n − rank and n − rows: mobility to first order, and Grübler's.
    finite_dof : int or None
        Mobility in fact, the dimension of the set of poses; None where a large block is not decided.
    mobility : Mobility
        Both, and the blocks in which they differ, with their branches and the freedoms that are only infinitesimal.
    degree_of_redundancy, structural_redundancy : int
        p at this pose, and at the generic pose.
    samples : int
        Number of sampled poses for the latter; 0 if nothing is redundant or a block is large.
    sigma_r, sigma_r_plus_1 : float or None
        The smallest nonzero relative singular value over all blocks, and the largest one that is taken as
        zero; None if there is none.
    plateaus : tuple of Plateau
    characteristic_length : float or None
        Of the block with the smallest margin, m; None without a loop.
    assembly : Assembly
    constraints, groups, bodies : tuple
    blocks : tuple of RankedBlock
    dca : DcaResult or None
        The divide-and-conquer test, if it is the method.
    self_stresses, remedies : tuple
        In words; computed at the first use.
    obstacles : tuple of Obstacle
        Joints whose function (drive, brake, limit, …) prevents a remedy.
    """

    mechanism: Mechanism
    q: Array
    planar: str | None
    tolerance: float
    method: str
    rows: int
    holonomic_rows: int
    columns: int
    rank_holonomic: int
    rank_pfaffian: int
    degree_of_redundancy: int
    structural_redundancy: int
    samples: int
    plateaus: tuple[Plateau, ...]
    assembly: Assembly
    constraints: tuple[ConstraintVerdict, ...]
    groups: tuple[GroupVerdict, ...]
    bodies: tuple[BodyVerdict, ...]
    blocks: tuple[RankedBlock, ...]
    _find_self_stresses: Callable[[], tuple[SelfStress, ...]]
    _find_mobility: Callable[[], Mobility]
    _find_cures: Callable[[Mobility], Cures]
    dca: DcaResult | None = None

    def __repr__(self) -> str:
        redundant = counted(self.degree_of_redundancy, "redundant constraint")
        facts = (redundant, f"mobility {self.dof}", f"tolerance {self.tolerance:g}")
        return one_line(self, self.mechanism.name, facts)

    def __getitem__(self, name: str) -> ConstraintVerdict:
        """Return the verdict on a constraint.

        Raises
        ------
        UnknownName
            There is no such constraint.
        """
        for verdict in self.constraints:
            if verdict.name == name:
                return verdict
        names = tuple(verdict.name for verdict in self.constraints)
        raise UnknownName(f"there is no constraint {name!r}", remedy=suggestion(name, names))

    @cached_property
    def self_stresses(self) -> tuple[SelfStress, ...]:
        """Independent self-stress states."""
        with without_collections():
            return self._find_self_stresses()

    @cached_property
    def mobility(self) -> Mobility:
        """Mobility to first order and in fact."""
        with without_collections():
            return self._find_mobility()

    @property
    def finite_dof(self) -> int | None:
        """Mobility in fact: the dimension of the set of poses; None where a large block is not decided."""
        return self.mobility.finite

    @cached_property
    def _cures(self) -> Cures:
        mobility = self.mobility
        with without_collections():
            return self._find_cures(mobility)

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """What to change, each way with its proof."""
        return self._cures.remedies

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """Joints that could be made weaker, but for what they do."""
        return self._cures.obstacles

    @property
    def pfaffian_rows(self) -> int:
        """Number of nonholonomic rows."""
        return self.rows - self.holonomic_rows

    @property
    def rank(self) -> int:
        """Rank of the constraint matrix."""
        return self.rows - self.degree_of_redundancy

    @property
    def dof(self) -> int:
        """Mobility to first order: columns minus rank."""
        return self.columns - self.rank

    @property
    def gruebler(self) -> int:
        """Grübler's mobility, for independent constraints: columns minus rows."""
        return self.columns - self.rows

    @property
    def singular_pose(self) -> bool:
        """Whether the rank is lower here than at poses around it."""
        return self.degree_of_redundancy > self.structural_redundancy

    @property
    def critical(self) -> RankedBlock | None:
        """The block whose rank decision has the smallest margin."""
        return min(self.blocks, key=lambda b: b.sigma_r / max(b.sigma_next, 1e-16), default=None)

    @property
    def sigma_r(self) -> float | None:
        """Smallest nonzero relative singular value."""
        values = [b.sigma_r for b in self.blocks if b.rank]
        return min(values) if values else None

    @property
    def sigma_r_plus_1(self) -> float | None:
        """Largest relative singular value that is taken as zero."""
        values = [b.sigma_next for b in self.blocks if b.redundancy]
        return max(values) if values else None

    @property
    def characteristic_length(self) -> float | None:
        """Characteristic length of the critical block, m."""
        return self.critical.reduced.length if self.critical else None
