"""The analysis of a mechanism at a pose: rank, redundancy, uniqueness, flexibility, remedies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mbplugin.analysis.flexibility import BodyVerdict, body_verdicts
from mbplugin.analysis.groups import GroupVerdict, group_verdict
from mbplugin.analysis.rank import Plateau, RankedBlock, pfaffian_rank, plateaus, rank_blocks
from mbplugin.analysis.remedies import Remedy, apply_changes, candidate_remedies
from mbplugin.analysis.sampling import sample_poses
from mbplugin.analysis.self_stress import SelfStress, self_stresses
from mbplugin.analysis.tools import TOOLS
from mbplugin.analysis.uniqueness import (
    ComponentVerdict,
    ConstraintVerdict,
    constraint_verdicts,
    stress,
)
from mbplugin.constraints.assembly import Assembly, assemble
from mbplugin.constraints.build import all_rows
from mbplugin.constraints.planar import planar_rows, plane_columns
from mbplugin.errors import BadUsage
from mbplugin.mechanism.kinematics import JointValues, coordinates_of, forward, joint_vector
from mbplugin.mechanism.mechanism import Mechanism
from mbplugin.spatial import Array

if TYPE_CHECKING:
    from mbplugin.analysis.dca import DcaResult

METHODS = (*TOOLS, "dca")
DEFAULT_TOLERANCE = 1e-4
DEFAULT_SAMPLES = 8
#: A sampled pose proves a higher rank only by singular values that are clear of the tolerance.
_CLEAR = 10.0


@dataclass(frozen=True, eq=False)
class Analysis:
    """What is known about a mechanism at a closed pose (keys of the JSON report, DESIGN §8).

    Parameters
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
        n − rank and n − rows.
    degree_of_redundancy, structural_redundancy : int
        p at this pose, and at the generic pose.
    samples : int
        Poses that were sampled for the latter; none where nothing is redundant or a block is large.
    sigma_r, sigma_r_plus_1 : float or None
        The smallest relative singular value that counts over all blocks, and the largest that does
        not; None where there is none.
    plateaus : tuple of Plateau
    characteristic_length : float or None
        Of the block with the smallest margin, m; None where nothing forms a loop.
    assembly : Assembly
    constraints, groups, bodies, self_stresses, remedies : tuple
    blocks : tuple of RankedBlock
    dca : DcaResult or None
        The divide-and-conquer test, where it was the method.
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
    self_stresses: tuple[SelfStress, ...]
    remedies: tuple[Remedy, ...]
    blocks: tuple[RankedBlock, ...]
    dca: DcaResult | None = None

    @property
    def pfaffian_rows(self) -> int:
        """Rows that are no position equations."""
        return self.rows - self.holonomic_rows

    @property
    def rank(self) -> int:
        """Rank of the constraint matrix."""
        return self.rows - self.degree_of_redundancy

    @property
    def dof(self) -> int:
        """Mobility: columns minus rank."""
        return self.columns - self.rank

    @property
    def gruebler(self) -> int:
        """Columns minus rows, what a formula for independent constraints would call the mobility."""
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
        """Smallest relative singular value that counts."""
        values = [b.sigma_r for b in self.blocks if b.rank]
        return min(values) if values else None

    @property
    def sigma_r_plus_1(self) -> float | None:
        """Largest relative singular value that does not count."""
        values = [b.sigma_next for b in self.blocks if b.redundancy]
        return max(values) if values else None

    @property
    def characteristic_length(self) -> float | None:
        """Characteristic length of the critical block, m."""
        return self.critical.reduced.length if self.critical else None


def analyze_mechanism(
    mech: Mechanism,
    q: JointValues = None,
    *,
    given: Sequence[str] = (),
    tolerance: float = DEFAULT_TOLERANCE,
    method: str = "qr",
    planar: str | None = None,
    samples: int = DEFAULT_SAMPLES,
    groups: Sequence[Sequence[str]] = (),
    seed: int = 0,
) -> Analysis:
    """Close the pose and analyze the mechanism there.

    Parameters
    ----------
    mech : Mechanism
    q : mapping or vector, optional
        Joint coordinates to start from.
    given : sequence of str
        Coordinates to hold while the loops are closed.
    tolerance : float
        Rank tolerance relative to the largest singular value of a block's scaled closure Jacobian.
    method : "qr", "svd", "nullspace", "rank" or "dca"
        The uniqueness tool; they agree wherever the rank is clear, and the divide-and-conquer test
        says where it does not apply or cannot decide.
    planar : "xy", "yz" or "zx", optional
        Analyze the motion in a plane.
    samples : int
        Poses sampled to tell structural redundancy from a singular pose.
    groups : sequence of sequences of constraint names
    seed : int
        Of restarts and samples.

    Raises
    ------
    CannotClose
        A loop that cannot be closed.
    BadUsage
        A tolerance outside (0, 1), a negative number of samples, an unknown method or plane.
    """
    _check(tolerance, samples, method)
    columns = plane_columns(planar)
    assembly = assemble(mech, joint_vector(mech, q), given, seed=seed)
    poses = forward(mech, assembly.q)
    blocks = rank_blocks(mech, poses, columns, tolerance, assembly.q)
    stressed = stress(blocks)
    redundancy = sum(b.redundancy for b in blocks)
    if not redundancy or any(b.elimination for b in blocks):
        # projecting a large mechanism back onto its closures takes longer than all the rest
        samples = 0
    generic, generic_q = _generic_pose(mech, assembly.q, blocks, columns, tolerance, samples, seed)
    labels = _row_labels(mech, assembly.q, columns, blocks)
    verdicts, dca = constraint_verdicts(mech, stressed, labels, method), None
    if method == "dca":
        verdicts, dca = _by_dca(verdicts, mech, assembly.q, tolerance, planar, samples, seed)
    holonomic, rank_holonomic = _holonomic(mech, assembly.q, columns, tolerance, labels, redundancy)
    result = Analysis(
        mechanism=mech,
        q=assembly.q,
        planar=planar,
        tolerance=tolerance,
        method=method,
        rows=sum(len(components) for components in labels.values()),
        holonomic_rows=holonomic,
        columns=len(columns) * len(mech.bodies),
        rank_holonomic=rank_holonomic,
        rank_pfaffian=pfaffian_rank(mech, blocks, tolerance),
        degree_of_redundancy=redundancy,
        structural_redundancy=generic,
        samples=samples,
        plateaus=plateaus(blocks),
        assembly=assembly,
        constraints=verdicts,
        groups=tuple(group_verdict(mech, poses, stressed, members) for members in groups),
        bodies=body_verdicts(mech, verdicts),
        self_stresses=self_stresses(mech, stressed),
        remedies=(),
        blocks=blocks,
        dca=dca,
    )
    return replace(result, remedies=_proved_remedies(result, generic_q, columns))


def _by_dca(
    verdicts: Sequence[ConstraintVerdict],
    mech: Mechanism,
    q: Array,
    tolerance: float,
    planar: str | None,
    samples: int,
    seed: int,
) -> tuple[tuple[ConstraintVerdict, ...], DcaResult]:
    """Return the verdicts of the divide-and-conquer test, which leaves some of them open."""
    from mbplugin.analysis.dca import dca_uniqueness

    result = dca_uniqueness(mech, q, tolerance=tolerance, planar=planar, samples=samples, seed=seed)
    found = {v.name: v for v in result.verdicts}
    decided = tuple(
        replace(
            verdict,
            reaction=found[verdict.name].reaction,
            indeterminate_dim=found[verdict.name].indeterminate_dim,
            components=tuple(ComponentVerdict(*c) for c in found[verdict.name].components),
        )
        for verdict in verdicts
    )
    return decided, result


def _check(tolerance: float, samples: int, method: str) -> None:
    if not 0 < tolerance < 1:
        raise BadUsage(f"the tolerance is {tolerance:g}", expected="a number between 0 and 1")
    if samples < 0:
        raise BadUsage(f"the number of samples is {samples}", expected="zero or more")
    if method not in METHODS:
        raise BadUsage(f"the method is {method!r}", expected=f"one of {', '.join(METHODS)}")


def _row_labels(
    mech: Mechanism, q: Array, columns: tuple[int, ...], blocks: Sequence[RankedBlock]
) -> dict[str, tuple[str, ...]]:
    """Return the labels of every constraint's rows; in space they follow from its type."""
    labels = {r.constraint: r.components for b in blocks for r in b.reduced.rows}
    missing = [c.name for c in mech.constraints() if c.name not in labels]
    if len(columns) == 6:
        labels.update({n: mech.pair_by_name[n].kind.constrained for n in missing if n in mech.pair_by_name})
    missing = [name for name in missing if name not in labels]
    if missing:
        for r in all_rows(mech, forward(mech, q), q, names=frozenset(missing)):
            labels[r.constraint] = planar_rows(r, columns).components
    return labels


def _holonomic(
    mech: Mechanism,
    q: Array,
    columns: tuple[int, ...],
    tolerance: float,
    labels: dict[str, tuple[str, ...]],
    redundancy: int,
) -> tuple[int, int]:
    """Return the number of holonomic rows and their rank."""
    rows = sum(len(components) for components in labels.values())
    if not mech.pfaffians:
        return rows, rows - redundancy
    nonholonomic = {p.name: set(p.nonholonomic) for p in mech.pfaffians}
    rows -= sum(c in nonholonomic.get(name, ()) for name, cs in labels.items() for c in cs)
    holonomic_only = replace(
        mech, pfaffians=tuple(replace(p, nonholonomic=()) for p in mech.pfaffians if p.holonomic)
    )
    blocks = rank_blocks(holonomic_only, forward(mech, q), columns, tolerance, q)
    return rows, rows - sum(b.redundancy for b in blocks)


def _generic_pose(
    mech: Mechanism,
    q: Array,
    blocks: Sequence[RankedBlock],
    columns: tuple[int, ...],
    tolerance: float,
    samples: int,
    seed: int,
) -> tuple[int, Array]:
    """Return the redundancy at the generic rank, and the pose that shows most of it."""
    redundant = [b for b in blocks if b.redundancy]
    fewest = [b.redundancy for b in redundant]
    best_q, best = q, sum(fewest)
    again = [b.block for b in redundant]
    for sample in sample_poses(mech, q, samples, seed=seed):
        there = rank_blocks(mech, forward(mech, sample), columns, _CLEAR * tolerance, sample, again)
        fewest = [min(f, b.redundancy) for f, b in zip(fewest, there, strict=True)]
        if sum(b.redundancy for b in there) < best:
            best_q, best = sample, sum(b.redundancy for b in there)
    return sum(fewest), best_q


def _proved_remedies(result: Analysis, q: Array, columns: tuple[int, ...]) -> tuple[Remedy, ...]:
    """Return the remedies that re-analysis confirms: p = 0 and the mobility unchanged."""
    if not result.structural_redundancy or any(b.elimination for b in result.blocks):
        return ()
    mech = result.mechanism
    poses = forward(mech, q)
    there = rank_blocks(mech, poses, columns, result.tolerance, q, [b.block for b in result.blocks])
    dof = result.columns - result.rows + sum(b.redundancy for b in there)
    proved = []
    for changes in candidate_remedies(mech, poses, stress(there)):
        changed = apply_changes(mech, changes)
        # the changed pairs have other coordinates for the same body poses
        q_changed = coordinates_of(changed, poses)
        after = rank_blocks(changed, poses, columns, result.tolerance, q_changed)
        p = sum(b.redundancy for b in after)
        rows = sum(len(c) for c in _row_labels(changed, q_changed, columns, after).values())
        if p == 0 and result.columns - rows == dof:
            proved.append(Remedy(changes, p, dof))
    return tuple(proved)
