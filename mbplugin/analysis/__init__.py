"""The analysis of a mechanism at a pose, and its result: rank, redundancy, uniqueness, flexibility, remedies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from mbplugin.analysis.catalogue import generic_pose
from mbplugin.analysis.mobility import Mobility, finite_mobility
from mbplugin.analysis.remedies import Cures, Obstacle, Remedy, proved_cures
from mbplugin.analysis.uniqueness import (
    TOOLS,
    ComponentVerdict,
    ConstraintVerdict,
    SelfStress,
    StressedBlock,
    bodies_of,
    constraint_verdicts,
    self_stresses,
    stress,
    with_open_directions,
)
from mbplugin.arguments import checked
from mbplugin.constraints import DEFAULT_SAMPLES, DEFAULT_TOLERANCE, rank_tolerance, require_tolerance
from mbplugin.constraints.closure import Assembly
from mbplugin.constraints.rank import Plateau, RankedBlock, View, pfaffian_rank, plateaus
from mbplugin.constraints.rows import Rows, plane_columns
from mbplugin.constraints.stated_state import closed_pose, stated_state
from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.model import WORLD, Array, Mechanism, Scene, State, Uniqueness, duties, mechanism_of, option_of
from mbplugin.model.brakes import masses_below_zero, warn_of
from mbplugin.model.mechanism import kinematics
from mbplugin.model.mechanism.kinematics import BodyPoses, JointValues, Poses
from mbplugin.phrases import counted, dataclass, one_line
from mbplugin.processes.foreign import without_collections
from mbplugin.readers import ModelSource, client_id, contacts_in, model_of, reload
from mbplugin.rendering import Result

if TYPE_CHECKING:
    from mbplugin.analysis.dca import DcaResult
    from mbplugin.analysis.many_poses import PoseAnalyses
    from mbplugin.readers.standing import ContactLike


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
    body_by_body = all(
        np.abs(F).max() <= s.ranked.zero * 10
        for s in touching
        for F in _body_wrenches(s, poses, members).values()
    )
    return GroupVerdict(
        tuple(members),
        "unique" if body_by_body else "non-unique",
        all((np.linalg.norm(s.rows_of(members), axis=1) <= s.ranked.zero).all() for s in touching),
        all(_assembly_effect(mech, s, poses, members) for s in touching) if grounded else None,
        all(_resultant(mech, s, poses, members) for s in touching),
    )


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
    flexible -= {WORLD, *kinematics.welded_bodies(mech, tying)}
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
    finite_mobility, finite_dof : int or None
        Finite mobility, the dimension of the set of poses, by both names; None if a large block is undecided.
    mobility : Mobility
        First-order and finite mobility, and the blocks in which they differ, with branches and infinitesimal freedoms.
        ``mobility.mobility`` is the number ``dof``.
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
    def finite_mobility(self) -> int | None:
        """Finite mobility: the dimension of the set of poses; None if a large block is undecided."""
        return self.mobility.finite

    @property
    def finite_dof(self) -> int | None:
        """The finite mobility, by its other name."""
        return self.finite_mobility

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


DCA_METHODS = ("dca", "dca-extended")
METHODS = (*TOOLS, *DCA_METHODS)


# ``analyze``: the constraints of a scene or mechanism, at the scene's pose unless another one is given.


@overload
def analyze(
    mech: ModelSource,
    q: Mapping[str, float | str] | None = None,
    *,
    tolerance: float | None = None,
    method: str = "qr",
    planar: str | None = None,
    samples: int | None = None,
    snap_angles: bool = False,
    groups: Sequence[Sequence[str]] = (),
    contacts: Iterable[ContactLike] | bool = (),
) -> Analysis: ...
@overload
def analyze(
    mech: ModelSource,
    q: Poses,
    *,
    tolerance: float | None = None,
    method: str = "qr",
    planar: str | None = None,
    samples: int | None = None,
    snap_angles: bool = False,
    groups: Sequence[Sequence[str]] = (),
    contacts: Iterable[ContactLike] | bool = (),
) -> Any: ...
@checked
def analyze(
    mech: ModelSource,
    q: JointValues = None,
    *,
    tolerance: float | None = None,
    method: str = "qr",
    planar: str | None = None,
    samples: int | None = None,
    snap_angles: bool = False,
    groups: Sequence[Sequence[str]] = (),
    contacts: Iterable[ContactLike] | bool = (),
) -> Analysis | PoseAnalyses:
    """Close the pose of a scene or mechanism and analyze its constraints there; or those of n poses, as arrays.

    Parameters
    ----------
    mech : path, PyBullet client, Scene or Mechanism
    q : mapping or vector, optional
        Joint coordinates, rad and m; coordinates not named keep the scene's value. Coordinates named here or stated
        in the scene are held exactly while the loops are closed; contradictory values are an error. A vector
        only sets the initial guess for the closed pose. A batch (n, nq) has one such vector in each row.
    tolerance : float, optional
        Relative rank tolerance; default: the scene's, else ``constraints.DEFAULT_TOLERANCE``.
    method : "qr", "svd", "rank", "nullspace", "dca" or "dca-extended"
    planar : "xy", "yz" or "zx", optional
    samples : int, optional
        Number of sampled poses that distinguish redundancy from a singular pose; default: the scene's, else
        ``constraints.DEFAULT_SAMPLES``.
    snap_angles : bool
        Read rounded angle literals as fractions of π.
    groups : sequence of sequences of constraint names
    contacts : iterable or bool, optional
        Contact, or mappings with the keys of a scene's ``[[contact]]``: all of them hold at this pose, and count beside
        the joints. Those of the scene count with them. True takes those of a live PyBullet client, or of the scene.
        No poses are sampled then by default, as contacts hold at one pose.

    Returns
    -------
    Analysis or PoseAnalyses
        For a batch: ranks, singular values and unique components, an array each with a first axis over the n poses.
        It takes no samples, no groups, no contacts, and no method of divide and conquer.

    Raises
    ------
    BadUsage
        Invalid method, plane, tolerance or number of samples; ``snap_angles`` without a scene; an option that a batch
        does not take.
    UnknownName
        Unknown coordinate, or unknown constraint in a group.
    CannotClose
        The loops cannot be closed.
    ContradictedState
        No pose satisfies all stated coordinates.

    Warns
    -----
    ImplausibleValue
        A mechanism has a negative mass, or a coordinate is probably in another unit.
    """
    touching = contacts_in(mech) if contacts is True and client_id(mech) is not None else contacts
    mech = model_of(mech)
    if snap_angles:
        if not isinstance(mech, Scene):
            raise BadUsage("snap_angles needs the angles as they were written", remedy="pass a scene")
        mech = reload(mech, snap_angles=True)
    mechanism = mechanism_of(mech)
    if not isinstance(mech, Scene):  # for a file, the lint rules report it with its line
        warn_of(masses_below_zero(mechanism))
    tolerance = rank_tolerance(mech if isinstance(mech, Scene) else None, tolerance)
    planar = planar or option_of(mech, "planar", None)
    if kinematics.is_batch(q):
        # most callers, a lint among them, never need it
        from mbplugin.analysis.many_poses import analyze_poses

        _check(tolerance, samples or 0, method)
        _check_batch(samples, groups, method)
        if touching:
            raise BadUsage("a batch of poses takes no contacts", remedy="analyze the poses one by one")
        return analyze_poses(mechanism, kinematics.joint_vectors(mechanism, q), tolerance, planar)
    if touching:
        if method.startswith("dca"):
            raise BadUsage(f"the method {method!r} takes no contacts", expected="qr, svd, rank or nullspace")
        mechanism = _with_contacts(mech, mechanism, touching)
        samples = samples or 0
    return analyze_mechanism(
        mechanism,
        stated=stated_state(mech, q, closing=True),
        tolerance=tolerance,
        method=method,
        planar=planar,
        samples=option_of(mech, "samples", DEFAULT_SAMPLES) if samples is None else samples,
        groups=groups,
        kept={name: tuple(duty.text for duty in own) for name, own in duties(mech).items()},
    )


def _with_contacts(
    model: Scene | Mechanism, mech: Mechanism, contacts: Iterable[ContactLike] | Literal[True]
) -> Mechanism:
    """Return the mechanism with contacts that hold: those of the scene, and others.

    Raises
    ------
    BadUsage
        There are none, or two are the same.
    """
    # few analyses need it, and it loads the reader of meshes
    from mbplugin.readers.contact_points import require_different
    from mbplugin.readers.standing import read_contacts

    own = model.contacts if isinstance(model, Scene) else ()
    if contacts is True and not own:
        raise BadUsage(
            f"{mech.name!r} states no contacts",
            expected="contacts as tables, a scene with them, or a live client",
        )
    found = read_contacts(mech, (*own, *(() if contacts is True else contacts)))
    require_different(found)
    return replace(mech, contacts=found)


@without_collections()
def analyze_mechanism(
    mech: Mechanism,
    q: JointValues = None,
    *,
    stated: State | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
    method: str = "qr",
    planar: str | None = None,
    samples: int = DEFAULT_SAMPLES,
    groups: Sequence[Sequence[str]] = (),
    seed: int = 0,
    kept: Mapping[str, tuple[str, ...]] | None = None,
) -> Analysis:
    """Close the pose and analyze the mechanism there.

    Parameters
    ----------
    q : mapping or vector, optional
        Joint coordinates to start from.
    stated : State, optional
        Replaces q: a pose, with the set of stated coordinates.
    tolerance : float
        Rank tolerance relative to the largest singular value of a block's scaled closure Jacobian.
    method : "qr", "svd", "nullspace", "rank", "dca" or "dca-extended"
        The uniqueness tool. All agree where the rank is clear; the divide-and-conquer test reports where it
        does not apply or cannot decide. Its extension, which is not in the paper, propagates the null space
        through the tree and decides the cases that the paper's steps leave open.
    planar : "xy", "yz" or "zx", optional
        Analyze the motion in a plane.
    samples : int
        Maximum number of sampled poses that distinguish structural redundancy from a singular pose.
    groups : sequence of sequences of constraint names
    seed : int
        Random seed for restarts and samples.
    kept : mapping of pair name to phrases, optional
        Roles of the joints that are not passive; no remedy changes these joints.

    Raises
    ------
    CannotClose
        A loop cannot be closed.
    BadUsage
        A tolerance outside (0, 1), a negative number of samples, an unknown method or plane.
    """
    _check(tolerance, samples, method)
    assembly, _ = closed_pose(mech, stated or stated_state(mech, q, plausible=False, closing=True), seed=seed)
    view = View(mech, assembly.q, plane_columns(planar), tolerance)
    blocks, labels, p = view.blocks, view.row_labels, view.redundancy
    stressed = stress(blocks)
    if not p or any(b.elimination for b in blocks):
        # projecting a large mechanism back onto its closures takes longer than the rest of the analysis
        samples = 0
    structural, generic_q, taken = generic_pose(view, blocks, samples, seed)
    verdicts, dca = constraint_verdicts(mech, stressed, labels, method), None
    verdicts = with_B_norms(stressed, with_open_directions(mech, view.poses, stressed, verdicts))
    if method in DCA_METHODS:
        verdicts, dca = _by_dca(verdicts, view, planar, samples, seed, extended=method == "dca-extended")
    holonomic_rows, rank_holonomic = _holonomic(view, labels, p)

    rows = sum(len(components) for components in labels.values())
    columns = len(view.columns) * len(mech.bodies)
    return Analysis(
        mechanism=mech,
        q=view.q,
        planar=planar,
        tolerance=tolerance,
        method=method,
        rows=rows,
        holonomic_rows=holonomic_rows,
        columns=columns,
        rank_holonomic=rank_holonomic,
        rank_pfaffian=pfaffian_rank(blocks, tolerance),
        degree_of_redundancy=p,
        structural_redundancy=structural,
        samples=taken,
        plateaus=plateaus(blocks),
        assembly=assembly,
        constraints=verdicts,
        groups=tuple(group_verdict(mech, view.poses, stressed, members) for members in groups),
        bodies=body_verdicts(mech, verdicts),
        blocks=blocks,
        _find_self_stresses=partial(self_stresses, mech, stressed),
        _find_mobility=partial(finite_mobility, view, columns - rows + p, seed=seed),
        _find_cures=partial(_cures, view, generic_q if structural else None, kept or {}),
        dca=dca,
    )


# the deferred computations are module-level functions, so that an analysis can be pickled to another process


def _cures(
    view: View, generic_q: Array | None, kept: Mapping[str, tuple[str, ...]], mobility: Mobility
) -> Cures:
    """Return the remedies, found at the pose ``generic_q`` (nq,) of generic rank; none are needed without one."""
    return Cures() if generic_q is None else proved_cures(view.at(generic_q), view, kept, mobility=mobility)


def _by_dca(
    verdicts: Sequence[ConstraintVerdict],
    view: View,
    planar: str | None,
    samples: int,
    seed: int,
    *,
    extended: bool,
) -> tuple[tuple[ConstraintVerdict, ...], DcaResult]:
    """Return the verdicts of the divide-and-conquer test; without the extension some may be undecided."""
    from mbplugin.analysis.dca import dca_uniqueness

    result = dca_uniqueness(
        view.mech,
        view.q,
        tolerance=view.tolerance,
        planar=planar,
        extended=extended,
        samples=samples,
        seed=seed,
    )
    found = {v.name: v for v in result.verdicts}
    same = {v.name: v.reaction == found[v.name].reaction for v in verdicts}
    decided = tuple(
        replace(
            verdict,
            reaction=found[verdict.name].reaction,
            indeterminate_dim=found[verdict.name].indeterminate_dim,
            components=tuple(ComponentVerdict(*c) for c in found[verdict.name].components),
            # the directions and norms come from the other tools: keep them only where the verdicts agree
            open_force=verdict.open_force if same[verdict.name] else None,
            open_moment=verdict.open_moment if same[verdict.name] else None,
            B_norm=verdict.B_norm if same[verdict.name] else None,
        )
        for verdict in verdicts
    )
    return decided, result


def _check(tolerance: float, samples: int, method: str) -> None:
    require_tolerance(tolerance)
    if samples < 0:
        raise BadUsage(f"the number of samples is {samples}", expected="zero or more")
    if method not in METHODS:
        raise BadUsage(f"the method is {method!r}", expected=f"one of {', '.join(METHODS)}")


def _check_batch(samples: int | None, groups: Sequence[Sequence[str]], method: str) -> None:
    """Raise for an option that a batch of poses does not take.

    Raises
    ------
    BadUsage
        Samples, groups, or a method that judges a whole mechanism.
    """
    given = f"method {method!r}" if method in DCA_METHODS else "groups" if groups else ""
    given = given or (f"samples = {samples}" if samples else "")
    if given:
        raise BadUsage(
            f"a batch of poses takes no {given}", remedy="leave it out, or pass the poses one by one"
        )


def _holonomic(view: View, labels: dict[str, tuple[str, ...]], p: int) -> tuple[int, int]:
    """Return the number of holonomic rows and their rank."""
    rows = sum(len(components) for components in labels.values())
    mech = view.mech
    if not mech.pfaffians:
        return rows, rows - p
    nonholonomic = {pf.name: set(pf.nonholonomic) for pf in mech.pfaffians}
    rows -= sum(c in nonholonomic.get(name, ()) for name, cs in labels.items() for c in cs)
    holonomic_only = replace(
        mech, pfaffians=tuple(replace(pf, nonholonomic=()) for pf in mech.pfaffians if pf.holonomic)
    )
    return rows, rows - replace(view, mech=holonomic_only).redundancy


# How much of each reaction is arbitrary: the norms of B_X = C_Xᵀ Q_X (wojtyra2013 (27)).
#
# Q_X: the rows of constraint X in an orthonormal basis of the left null space (in the paper, the last p columns
# of Q). The reaction of X is unique iff B_X is zero. Its Frobenius norm does not depend on the basis.


def with_B_norms(
    stressed: Sequence[StressedBlock], verdicts: Sequence[ConstraintVerdict]
) -> tuple[ConstraintVerdict, ...]:
    """Return the verdicts with the norms of B_X; None in large blocks, for which no basis is stored."""
    norms: dict[str, float | None] = {}
    for s in stressed:
        if s.ranked.redundancy:
            norms.update(_of_block(s))
    found = [norms.get(v.name, 0.0) for v in verdicts]
    # in a large block the norm is None, which is also the default of a verdict
    return tuple(
        v if norm is None else replace(v, B_norm=norm) for v, norm in zip(verdicts, found, strict=True)
    )


def _of_block(s: StressedBlock) -> dict[str, float | None]:
    if not s.complete:
        return dict.fromkeys(s.slices)
    reduced = s.ranked.reduced
    found: dict[str, float | None] = {}
    for rows in reduced.rows:
        Q_X = s.Z[s.slices[rows.constraint]]
        on_bodies = [(reduced.frame.scaled(rows, e) * reduced.frame.mask).T @ Q_X for _, e in rows.entries]
        found[rows.constraint] = float(np.linalg.norm(on_bodies)) if on_bodies else 0.0
    return found
