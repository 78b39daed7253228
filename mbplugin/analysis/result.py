"""The result of an analysis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.analysis.mobility import Mobility
from mbplugin.analysis.remedies import Cures, Obstacle, Remedy
from mbplugin.analysis.uniqueness import ConstraintVerdict, SelfStress, StressedBlock, bodies_of
from mbplugin.constraints.assembly import Assembly
from mbplugin.constraints.rank import Plateau, RankedBlock
from mbplugin.constraints.rows import Rows
from mbplugin.errors import UnknownName, suggestion
from mbplugin.model.enumerations import Uniqueness
from mbplugin.model.mechanism.kinematics import BodyPoses, welded_bodies
from mbplugin.model.mechanism.mechanism import WORLD, Mechanism
from mbplugin.model.spatial import Array
from mbplugin.phrases import counted, one_line
from mbplugin.processes.foreign import without_collections
from mbplugin.rendering import Result

if TYPE_CHECKING:
    from mbplugin.analysis.dca import DcaResult

# Different uniqueness tests for the reactions of a group of constraints.


@dataclass(frozen=True)
class GroupVerdict:
    """Uniqueness of the reactions of a group of constraints, in four senses.

    Parameters
    ----------
    reaction : str
        The wrench of the group on each body: ``unique`` iff C_Xᵀ Z_X = 0.
    components_unique : bool
        True if every multiplier of the group is unique.
    assembly_effect_unique : bool or None
        Uniqueness of the effect of ground joints on the otherwise assembled mechanism (pekal2024 (27)); None if
        a member does not touch the ground.
    resultant_unique : bool
        Uniqueness of the sum of the wrenches at one point, for example the foundation load.
    """

    members: tuple[str, ...]
    reaction: Uniqueness
    components_unique: bool
    assembly_effect_unique: bool | None
    resultant_unique: bool


def group_verdict(
    mech: Mechanism, poses: BodyPoses, stressed: Sequence[StressedBlock], members: Sequence[str]
) -> GroupVerdict:
    """Apply the uniqueness tests to a group of constraints.

    Raises
    ------
    UnknownName
        A member is not a constraint.
    """
    known = {c.name: c for c in mech.constraints()}
    for name in members:
        if name not in known:
            raise UnknownName(
                f"the group names an unknown constraint {name!r}", remedy=suggestion(name, list(known))
            )
    touching = [s for s in stressed if s.ranked.redundancy and len(s.rows_of(members))]
    grounded = all(WORLD in bodies_of(mech, known[name]) for name in members)
    return GroupVerdict(
        tuple(members),
        "unique" if all(_body_by_body(s, poses, members) for s in touching) else "non-unique",
        all((np.linalg.norm(s.rows_of(members), axis=1) <= s.ranked.zero).all() for s in touching),
        all(_assembly_effect(mech, s, poses, members) for s in touching) if grounded else None,
        all(_resultant(mech, s, poses, members) for s in touching),
    )


def _body_by_body(s: StressedBlock, poses: BodyPoses, members: Sequence[str]) -> bool:
    forces = _body_wrenches(s, poses, members)
    return all(np.abs(F).max() <= s.ranked.zero * 10 for F in forces.values())


def _resultant(mech: Mechanism, s: StressedBlock, poses: BodyPoses, members: Sequence[str]) -> bool:
    """Return True if the sum of the wrenches is unique.

    Wrenches are those on the successors, or on the predecessor if the successor is the ground.
    """
    total = np.zeros((6, s.Z.shape[1]))
    for name in members:
        constraint = next(c for c in mech.constraints() if c.name == name)
        body_a, body_b = bodies_of(mech, constraint)
        receiver = mech.body_index[body_a if body_b == WORLD else body_b]
        total += _body_wrenches(s, poses, (name,)).get(receiver, np.zeros_like(total))
    return bool(np.abs(total).max() <= s.ranked.zero * 10)


def _assembly_effect(mech: Mechanism, s: StressedBlock, poses: BodyPoses, members: Sequence[str]) -> bool:
    """Return True if the group's wrenches vanish on the motions that all joints not touching the ground allow."""
    # imported here because linting a robot without loops needs no scipy, which is slow to import
    import scipy.linalg

    known = {c.name: c for c in mech.constraints()}
    inner = [r for r in s.ranked.reduced.rows if WORLD not in bodies_of(mech, known[r.constraint])]
    bodies = sorted({body for r in s.ranked.reduced.rows for body, _ in r.entries})
    C = _dense(inner, poses, s, bodies)
    V = scipy.linalg.null_space(C) if len(C) else np.eye(6 * len(bodies))
    forces = _body_wrenches(s, poses, members)
    F = np.vstack([forces.get(body, np.zeros((6, s.Z.shape[1]))) for body in bodies])
    return bool(np.abs(V.T @ F).max(initial=0.0) <= s.ranked.zero * 10)


def _body_wrenches(s: StressedBlock, poses: BodyPoses, members: Sequence[str]) -> dict[int, Array]:
    """Return the scaled wrenches that the group's self-stresses exert on each body, at a common point."""
    wrenches: dict[int, Array] = {}
    start = 0
    for r in s.ranked.reduced.rows:
        stop = start + len(r.components)
        if r.constraint in members:
            for body, _ in r.entries:
                W = s.ranked.reduced.about_common_point(r, body, poses)
                total = wrenches.get(body, np.zeros((6, s.Z.shape[1])))
                wrenches[body] = total + W.T @ s.Z[start:stop]
        start = stop
    return wrenches


def _dense(rows: Sequence[Rows], poses: BodyPoses, s: StressedBlock, bodies: list[int]) -> Array:
    """Return rows (k, 6 b) on the scaled twists of b bodies about the common point."""
    C = np.zeros((sum(len(r.components) for r in rows), 6 * len(bodies)))
    start = 0
    for r in rows:
        stop = start + len(r.components)
        for body, _ in r.entries:
            column = 6 * bodies.index(body)
            C[start:stop, column : column + 6] = s.ranked.reduced.about_common_point(r, body, poses)
        start = stop
    return C


# Bodies that may stay rigid in a model with correct reactions (advice on flexible bodies, pekal2024 §4).


@dataclass(frozen=True)
class BodyVerdict:
    """Verdict on a body of a hybrid model: it may stay rigid if every reaction on it is unique."""

    name: str
    may_stay_rigid: bool


def body_verdicts(mech: Mechanism, verdicts: Sequence[ConstraintVerdict]) -> tuple[BodyVerdict, ...]:
    """Return the verdict of every body; bodies welded to the world count as ground and may stay rigid."""
    tying = {v.name for v in verdicts if v.components and v.name in mech.pair_by_name}
    flexible = {body for v in verdicts if not v.unique for body in _touched(mech, v)}
    flexible -= {WORLD, *welded_bodies(mech, tying)}
    return tuple(BodyVerdict(body.name, body.name not in flexible) for body in mech.bodies)


def _touched(mech: Mechanism, verdict: ConstraintVerdict) -> set[str]:
    touched = {verdict.body_a, verdict.body_b}
    for coupling in mech.couplings:
        if coupling.name == verdict.name:
            pairs = [mech.pair_by_name[term.joint] for term in coupling.terms]
            touched |= {body for pair in pairs for body in pair.bodies}
    return touched


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
        Finite mobility, the dimension of the set of poses; None if a large block is undecided.
    mobility : Mobility
        First-order and finite mobility, and the blocks in which they differ, with branches and infinitesimal freedoms.
    degree_of_redundancy, structural_redundancy : int
        p at this pose, and at the generic pose.
    samples : int
        Number of sampled poses for the latter; 0 if nothing is redundant or a block is large.
    sigma_r, sigma_r_plus_1 : float or None
        The smallest nonzero relative singular value over all blocks, and the largest one treated as
        zero; None if there is none.
    plateaus : tuple of Plateau
    characteristic_length : float or None
        Of the block with the smallest margin, m; None without a loop.
    assembly : Assembly
    constraints, groups, bodies : tuple
    blocks : tuple of RankedBlock
    dca : DcaResult or None
        Result of the divide-and-conquer test, if it is the method.
    self_stresses, remedies : tuple
        Computed at first use.
    obstacles : tuple of Obstacle
        Joints whose role (drive, brake, limit, …) prevents a remedy.
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
        """First-order and finite mobility."""
        with without_collections():
            return self._find_mobility()

    @property
    def finite_dof(self) -> int | None:
        """Finite mobility: the dimension of the set of poses; None if a large block is undecided."""
        return self.mobility.finite

    @cached_property
    def _cures(self) -> Cures:
        mobility = self.mobility
        with without_collections():
            return self._find_cures(mobility)

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """Alternative sets of changes, each with its proof."""
        return self._cures.remedies

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """Joints that could be made weaker if they had no role."""
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
        """True if the rank is lower here than at nearby poses."""
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
        """Largest relative singular value treated as zero."""
        values = [b.sigma_next for b in self.blocks if b.redundancy]
        return max(values) if values else None

    @property
    def characteristic_length(self) -> float | None:
        """Characteristic length of the critical block, m."""
        return self.critical.reduced.length if self.critical else None
