"""Steps 1–8: propagation of the verdicts at the ground from body to body (pekal2024 §3.5).

Also the four numerical tools that decide which columns of G have unique multipliers (pekal2024 §3.1–3.4).

A tool takes G (m, m), its rank r, groups of columns, and the size below which an entry of a unit null
vector counts as zero. It returns one :class:`GroupUniqueness` per group. The rank is decided beforehand, so
it is the same for all tools.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mbplugin.analysis import uniqueness
from mbplugin.constraints import require_tolerance
from mbplugin.constraints.reduction import row_scale
from mbplugin.constraints.rows import Rows
from mbplugin.errors import BadUsage
from mbplugin.model import Array, BodyPoses, Mechanism, Pair, shift_rows
from mbplugin.model.mechanism.identity import DisjointSets, adjacency, breadth_first
from mbplugin.phrases import listed

#: Preconditions in the order of the checks, with the sentences printed in the trace.
PRECONDITIONS = {
    "tolerance": "the tolerance is above the rounding in G",
    "holonomic": "all constraints are holonomic",
    "pairs only": "nothing but ideal pairs constrains the mechanism",
    "ground connection": "every loop closes through the ground",
    "nonsingular U": "U is nonsingular at every elimination",
    "nonsingular pose": "the pose is not singular",
}
#: G contains the closure rows squared, so rounding of 1e-16 corresponds to 1e-8 in the rows.
SMALLEST_TOLERANCE = 1e-6
_QR = "use method qr (or svd, nullspace)"
Columns = Sequence[int]


# The preconditions of the divide-and-conquer test, checked one by one (pekal2024 §1, §2.3).


class DcaNotApplicable(BadUsage):
    """The divide-and-conquer test does not cover this mechanism, pose or tolerance.

    Parameters
    ----------
    precondition : str
        Key in ``PRECONDITIONS`` of the failed precondition.
    what : str
        Reason for the failure, without a full stop.
    remedy : str
        Alternative that applies.
    elements : tuple of str
        The pairs or bodies concerned.
    """

    def __init__(self, precondition: str, what: str, remedy: str, elements: tuple[str, ...] = ()) -> None:
        self.precondition, self.elements = precondition, elements
        super().__init__(
            f"the divide-and-conquer test does not apply: {what}",
            expected=f"that {PRECONDITIONS[precondition]}",
            remedy=remedy,
        )


def require_decidable(tolerance: float) -> None:
    """Reject a tolerance outside (0, 1), or one so small that rounding in G would decide the rank.

    Raises
    ------
    BadUsage
        The tolerance is outside (0, 1).
    DcaNotApplicable
        The tolerance is below ``SMALLEST_TOLERANCE``.
    """
    require_tolerance(tolerance)
    if tolerance < SMALLEST_TOLERANCE:
        raise DcaNotApplicable(
            "tolerance",
            f"the tolerance {tolerance:g} is below {SMALLEST_TOLERANCE:g}, where rounding decides in G, "
            "which holds the rows squared",
            "use method qr (or svd, nullspace), or a tolerance that is larger",
        )


def require_pairs_only(mech: Mechanism) -> None:
    """Reject nonholonomic rows, pfaffians, couplings, drivers, locks and load-dependent friction.

    A pair with dry friction that does not depend on the load is still ideal: such friction is an applied force.

    Raises
    ------
    DcaNotApplicable
        There are such elements; the message names them.
    """
    rolling = [p for p in mech.pfaffians if p.nonholonomic]
    if rolling:
        names = tuple(p.name for p in rolling)
        rows = ", ".join(dict.fromkeys(c for p in rolling for c in p.nonholonomic))
        raise DcaNotApplicable(
            "holonomic", f"{_listed(names)} have nonholonomic rows ({rows})", f"{_QR}, which take them", names
        )
    if by_load := tuple(p.name for p in mech.pairs if any(f.load_friction for f in p.freedoms)):
        raise DcaNotApplicable(
            "pairs only",
            f"the friction of {_listed(by_load)} grows with its load, so it is not an ideal pair",
            _QR,
            by_load,
        )
    for kind, found in (
        ("coupling", mech.couplings),
        ("driver", mech.drivers),
        ("lock", mech.locks),
        ("rolling contact", mech.pfaffians),
    ):
        if found:
            names = tuple(c.name for c in found)
            raise DcaNotApplicable(
                "pairs only",
                f"{kind} {_listed(names)} is not a pair between two bodies",
                f"{_QR}, which take its rows",
                names,
            )


def inner_closures(mech: Mechanism, joints: Sequence[Joint], *, refuse: bool) -> tuple[str, ...]:
    """Return the joints that close loops, or connect two bodies again, without passing through the ground.

    Raises
    ------
    DcaNotApplicable
        There is one and ``refuse`` is True.
    """
    groups: DisjointSets[int] = DisjointSets()
    edges: list[tuple[int, int, str]] = []
    closures = []
    for joint in joints:
        if joint.grounded:
            continue
        a, b = joint.body_a, joint.body_b
        if groups.join(a, b):
            edges.append((a, b, joint.name))
        elif refuse:
            loop = (*_path(adjacency(range(len(mech.bodies)), edges), a, b), joint.name)
            if len(loop) == 2:
                bodies = f"{mech.bodies[a].name!r} and {mech.bodies[b].name!r}"
                what = f"pairs {_listed(loop)} are a multi-joint connection between the bodies {bodies}"
            else:
                what = f"pairs {_listed(loop)} form a loop that does not pass through the ground"
            raise DcaNotApplicable(
                "ground connection",
                what,
                "use method dca-extended, or method qr (or svd, nullspace), which take loops anywhere",
                loop,
            )
        else:
            closures.append(joint.name)
    return tuple(closures)


def _path(neighbours: dict[int, list[tuple[int, str]]], start: int, end: int) -> tuple[str, ...]:
    """Return the joints on the path from one body to another in a forest."""
    came = {outer: (inner, joint) for inner, outer, joint in breadth_first(neighbours, start, set())}
    path = []
    while end != start:
        end, joint = came[end]
        path.append(joint)
    return tuple(reversed(path))


def singular_U(joint: str) -> DcaNotApplicable:
    """Return the error for an elimination with a singular U (pekal2024 (7))."""
    return DcaNotApplicable("nonsingular U", f"U is singular at pair {joint!r}", _QR, (joint,))


def singular_pose(joints: tuple[str, ...], here: int, generic: int) -> DcaNotApplicable:
    """Return the error for a pose at which G has a lower rank than at nearby poses."""
    return DcaNotApplicable(
        "nonsingular pose",
        f"the pose is singular: G of ground joints {_listed(joints)} has rank {here} here and "
        f"{generic} at poses around it",
        f"choose another pose, or {_QR}, which work at singular poses",
        joints,
    )


def _listed(names: Sequence[str]) -> str:
    return listed([repr(name) for name in names], 12)


@dataclass(frozen=True)
class Decision:
    """Decision on the uniqueness of one reaction.

    Parameters
    ----------
    step : int
        Step 2, 4 or 6 of the paper's algorithm.
    execution : int
        Number of the execution of step 6, from 1; 0 in the other steps.
    body : str
        The body whose balance decides, or the label of an assembly.
    """

    step: int
    execution: int
    body: str
    joint: str
    unique: bool


@dataclass(frozen=True)
class Propagation:
    """All decisions in order, and the bodies at which they stop.

    Parameters
    ----------
    unique : dict of joint to bool
        Verdicts on the decided joints.
    stalled : tuple of str
        Bodies at which the steps stop: three or more handles not known to be unique, at least one undecided.
    """

    decisions: tuple[Decision, ...]
    unique: Mapping[str, bool]
    stalled: tuple[str, ...]

    @property
    def executions(self) -> int:
        """Number of executions of step 6 that decided a reaction."""
        return max((d.execution for d in self.decisions), default=0)


def propagate(
    bodies: Sequence[str], handles: Sequence[Sequence[str]], at_ground: Sequence[Decision]
) -> Propagation:
    """Run steps 3 to 8 from the decisions of step 2.

    A unique reaction is a known load on its body. So a body with two handles not known to be unique is
    equivalent to the paper's body with two handles: both are unique or both are not.
    """
    decisions = list(at_ground)
    unique = {d.joint: d.unique for d in at_ground}
    for name, own in zip(bodies, handles, strict=True):
        if len(own) == 1 and own[0] not in unique:
            decisions.append(Decision(4, 0, name, own[0], True))
            unique[own[0]] = True
    execution = 1
    # complete the list before recording, so that each execution uses only the verdicts known at its start
    while new := list(_step_6(bodies, handles, unique, execution)):
        for decision in new:
            if decision.joint not in unique:
                decisions.append(decision)
                unique[decision.joint] = decision.unique
        execution += 1
    stalled = tuple(
        name
        for name, own in zip(bodies, handles, strict=True)
        if any(h not in unique for h in own) and sum(not unique.get(h, False) for h in own) > 2
    )
    return Propagation(tuple(decisions), unique, stalled)


def _step_6(
    bodies: Sequence[str], handles: Sequence[Sequence[str]], known: Mapping[str, bool], execution: int
) -> Iterator[Decision]:
    """Yield decisions on the last unknown reaction of a body, from the balance of the body."""
    for name, own in zip(bodies, handles, strict=True):
        unknown = [h for h in own if h not in known]
        arbitrary = sum(not known[h] for h in own if h in known)
        if len(unknown) == 1 and arbitrary < 2:
            yield Decision(6, execution, name, unknown[0], arbitrary == 0)


# Handles: the points at which joints act on a body, and the subspaces of transmitted forces and freedoms.


@dataclass(frozen=True, eq=False)
class Joint:
    """A pair in the divide-and-conquer algorithm: one handle on each of its bodies.

    Both handles are at the origin of the successor frame, in world axes. A vector has d = 6 entries
    in space and 3 in a plane.

    Parameters
    ----------
    body_a, body_b : int
        Predecessor and successor; −1 is the ground, including bodies welded to it.
    support : int
        The welded body on the ground side; −1 if that is the world, or if neither side is ground.
    components : tuple of str
        Labels of its k multipliers.
    point_W : (3,) array
        Position of the handles.
    T : (d, k) array
        Wrench on the successor at the handle per multiplier (pekal2024 (18)).
    unit : (k,) array
        A multiplier in N or N·m is ``unit`` times its value here, up to a common factor.
    """

    name: str
    body_a: int
    body_b: int
    support: int
    components: tuple[str, ...]
    point_W: Array
    T: Array
    unit: Array

    @cached_property
    def S(self) -> Array:
        """Motion subspace, orthogonal to T (pekal2024 (19)), (d, d − k)."""
        # the remaining left singular vectors of T span the motions on which its forces do no work
        return np.asarray(np.linalg.svd(self.T)[0][:, self.T.shape[1] :])

    @property
    def grounded(self) -> bool:
        """True if the joint connects a body to the ground."""
        return self.body_a < 0 or self.body_b < 0

    @property
    def moving(self) -> tuple[int, ...]:
        """The bodies of the joint that are not ground."""
        return tuple(body for body in (self.body_a, self.body_b) if body >= 0)

    @property
    def touched(self) -> tuple[int, ...]:
        """All bodies that its reaction loads, including a body welded to the ground."""
        return (*self.moving, self.support) if self.support >= 0 else self.moving

    def sign(self, body: int) -> float:
        """Return +1 for the successor, on which the multipliers act, and −1 for the predecessor."""
        return 1.0 if body == self.body_b else -1.0


def joint_handles(
    mech: Mechanism,
    poses: BodyPoses,
    rows: Sequence[Rows],
    columns: tuple[int, ...],
    length: float,
    welded: Mapping[str, int],
) -> tuple[Joint, ...]:
    """Return the joints of all pairs with rows, in file order; welds keep their bodies.

    Parameters
    ----------
    rows : sequence of Rows
        Rows of the pairs, in the view of the analysis.
    columns : tuple of int
        Twist columns of that view.
    length : float
        All lengths are divided by it; 1 keeps SI units.
    welded : mapping of pair name to int
        Fixed pairs that make a body part of the ground.
    """
    ground = frozenset(welded.values())
    joints = (
        _joint(mech, poses, mech.pair_by_name[r.constraint], r, columns, length) for r in rows if r.components
    )
    return tuple(joint if joint.name in welded else _on_ground(joint, ground) for joint in joints)


def _on_ground(joint: Joint, ground: frozenset[int]) -> Joint:
    """Return the joint with bodies welded to the ground replaced by the ground."""
    support = next((body for body in (joint.body_a, joint.body_b) if body in ground), -1)
    if support < 0:
        return joint
    a, b = (-1 if body in ground else body for body in (joint.body_a, joint.body_b))
    return replace(joint, body_a=a, body_b=b, support=support)


def _joint(
    mech: Mechanism, poses: BodyPoses, pair: Pair, rows: Rows, columns: tuple[int, ...], length: float
) -> Joint:
    body_a, body_b = mech.body_index[pair.body_a], mech.body_index[pair.body_b]
    point = poses.of(body_b).apply(pair.X_BS.p)
    # the rows act on the relative twist, so the entry of either body suffices; the ground has no entry
    body, entry = rows.entries[0]
    sign = 1.0 if body == body_b else -1.0
    unit = row_scale(rows, length)
    sized = sign * shift_rows(entry, poses.p_WC[body] - point)
    sized = sized * np.array([length] * 3 + [1.0] * 3) * unit[:, None]
    T = sized[:, list(columns)].T
    return Joint(pair.name, body_a, body_b, -1, rows.components, point / length, T, unit)


def halves(joint: Joint, mech: Mechanism) -> tuple[Joint, Joint]:
    """Return a joint between two bodies, cut: the sides on its predecessor and its successor, as joints to the ground.

    Both have the multipliers of the joint; their rows add up to its row.
    """
    a, b = (mech.bodies[body].name for body in (joint.body_a, joint.body_b))
    return (
        replace(joint, name=f"{joint.name} on {a}", body_b=-1),
        replace(joint, name=f"{joint.name} on {b}", body_a=-1),
    )


def handles_of_bodies(bodies: int, joints: Sequence[Joint]) -> tuple[tuple[str, ...], ...]:
    """Return the names of the joints at the nonempty handles of every body, in file order."""
    handles: list[list[str]] = [[] for _ in range(bodies)]
    for joint in joints:
        for body in joint.touched:
            handles[body].append(joint.name)
    return tuple(tuple(names) for names in handles)


# Beyond the paper: propagate the null space of G through the tree by statics, which decides every joint.
#
# Null multipliers of the ground joints load the assembly without accelerating it. So each joint of the tree
# carries the sum of the wrenches on the bodies beyond it.


@dataclass(frozen=True, eq=False)
class NullReaction:
    """Reaction of one joint to null loads.

    Parameters
    ----------
    multipliers : (k, p) array
        Dimensionless multipliers, for p null loads of unit length.
    zero : (p,) array
        Size below which they count as zero, in proportion to the largest possible effect of the loads.
    """

    multipliers: Array
    zero: Array

    def beside(self, other: NullReaction) -> NullReaction:
        """Return the reaction to two independent sets of null loads."""
        multipliers = np.hstack((self.multipliers, other.multipliers))
        return NullReaction(multipliers, np.concatenate((self.zero, other.zero)))

    def components_unique(self) -> tuple[bool, ...]:
        """Return True for each multiplier that no null load changes."""
        return tuple(bool(u) for u in np.linalg.norm(self.multipliers / self.zero, axis=1) <= 1.0)

    def dimension(self) -> int:
        """Return the dimension of the family of possible reactions."""
        return int((np.linalg.svd(self.multipliers / self.zero, compute_uv=False) > 1.0).sum())


#: A null load: the body it acts on, the joint at whose handle it acts, and the wrenches (d, p).
Load = tuple[int, Joint, Array]


#: A joint with the body on the side of the root, and the body beyond the joint.
Edge = tuple[Joint, int, int]


def carry(
    edges: Sequence[Edge], loads: Sequence[Load], columns: tuple[int, ...], zero: float
) -> dict[str, NullReaction]:
    """Return the reactions of the joints of a tree to null loads.

    Parameters
    ----------
    edges : sequence of (Joint, int, int)
        From the leaves to the root, dimensionless.
    loads : sequence of (int, Joint, (d, p) array)
        Loads on bodies of the tree; at least one.
    columns : tuple of int
        Twist columns of the view.
    zero : float
        Size below which an entry of a unit null load counts as zero.
    """
    center = np.mean([joint.point_W for _, joint, _ in loads], axis=0)
    force: dict[int, Array] = {}
    size: dict[int, float] = {}

    def load(body: int, wrenches: Array, largest: float) -> None:
        force[body] = force.get(body, 0.0) + wrenches
        size[body] = size.get(body, 0.0) + largest

    for body, joint, at_handle in loads:
        wrenches = np.zeros((6, at_handle.shape[1]))
        wrenches[list(columns)] = at_handle
        about_center = shift_rows(wrenches.T, joint.point_W - center).T
        load(body, about_center, float(np.linalg.norm(at_handle)) * (1.0 + _arm(joint, center)))
    nothing = np.zeros_like(force[loads[0][0]])
    out = {}
    for joint, inner, outer in edges:
        F, largest = force.get(outer, nothing), size.get(outer, 0.0)
        F_handle = shift_rows(F.T, center - joint.point_W).T[list(columns)]
        # the joint balances the loads on the bodies beyond it
        solved = np.linalg.lstsq(joint.sign(outer) * joint.T, -F_handle, rcond=None)[0]
        balance = np.asarray(solved, dtype=float)
        bound = zero * max(largest, 1.0) * (1.0 + _arm(joint, center))
        out[joint.name] = NullReaction(balance, np.full(balance.shape[1], bound))
        load(inner, F, largest)
    return out


def _arm(joint: Joint, center: Array) -> float:
    """Return the distance of a joint from ``center`` (3,), in the length unit of both."""
    return float(np.linalg.norm(joint.point_W - center))


def edges_of(bodies: Sequence[int], joints: Sequence[Joint]) -> list[Edge]:
    """Return the edges of the tree of some bodies, from the leaves to the root, which is the first body."""
    members = set(bodies)
    own = (joint for joint in joints if not joint.grounded and joint.body_a in members)
    neighbours = adjacency(bodies, ((joint.body_a, joint.body_b, joint) for joint in own))
    outwards = breadth_first(neighbours, bodies[0], set())
    return [(joint, inner, outer) for inner, outer, joint in outwards][::-1]


@dataclass(frozen=True)
class GroupUniqueness:
    """Verdict of a tool on a group of reactions.

    Parameters
    ----------
    assembly_effect_unique : bool
        Uniqueness of its effect on the otherwise assembled mechanism.
    components_unique : bool
        Uniqueness of every single multiplier: the second step of the tool.
    """

    assembly_effect_unique: bool
    components_unique: bool


@dataclass(frozen=True)
class GroupRanks:
    """Ranks of the tested columns, of the remaining columns and of the whole of G (pekal2024 (26)).

    Parameters
    ----------
    columns : int
        Number of columns of the group: G_T has full rank if ``tested`` equals it.
    tested, remaining, whole : int
        Ranks of G_T, G_R and G.
    """

    columns: int
    tested: int
    remaining: int
    whole: int

    @property
    def excess(self) -> int:
        """Dimension shared by the group and the rest: zero if the effect of the group is unique (pekal2024 (27))."""
        return self.tested + self.remaining - self.whole

    @property
    def full(self) -> bool:
        """True if G_T has full rank."""
        return self.tested == self.columns


Tool = Callable[[Array, int, Sequence[Columns], float], tuple[GroupUniqueness, ...]]


def rank_comparison(
    G: Array, rank: int, groups: Sequence[Columns], zero: float
) -> tuple[GroupUniqueness, ...]:
    """Compare the ranks of the tested and the remaining columns with that of G (pekal2024 (27))."""
    return tuple(
        GroupUniqueness(r.excess == 0, r.excess == 0 and r.full) for r in group_ranks(G, rank, groups)
    )


def group_ranks(G: Array, rank: int, groups: Sequence[Columns]) -> tuple[GroupRanks, ...]:
    """Return the ranks of groups of columns of G (m, m), with a threshold in the gap of the whole G."""
    threshold = uniqueness.gap_threshold(G, rank, 1.0)
    return tuple(
        GroupRanks(
            len(columns),
            uniqueness.rank_above(G[:, columns], threshold),
            uniqueness.rank_above(np.delete(G, columns, axis=1), threshold),
            rank,
        )
        for columns in groups
    )


def pivoted_qr(G: Array, rank: int, groups: Sequence[Columns], zero: float) -> tuple[GroupUniqueness, ...]:
    """Take the arbitrary directions from the last columns of Q, Gᵀ E = Q R (pekal2024 (28)–(37))."""
    return _by_directions(G, rank, uniqueness.left_null_basis_by_qr(G.T, len(G) - rank), groups, zero)


def svd(G: Array, rank: int, groups: Sequence[Columns], zero: float) -> tuple[GroupUniqueness, ...]:
    """Take the arbitrary directions from the last right singular vectors (pekal2024 (38)–(44))."""
    return _by_directions(G, rank, uniqueness.left_null_basis_by_svd(G.T, len(G) - rank), groups, zero)


def null_space(G: Array, rank: int, groups: Sequence[Columns], zero: float) -> tuple[GroupUniqueness, ...]:
    """Test G_T N_T = 0, and the rows of N for the components (pekal2024 (45)–(51)).

    N is found by elimination: each dependent column of G gives one vector, with its weights in the independent ones.
    """
    N: Array = np.linalg.qr(uniqueness.left_null_basis_by_elimination(G.T, len(G) - rank))[0]

    def row_uniqueness(columns: Columns) -> GroupUniqueness:
        unique = _vanishes(G[:, columns] @ N[columns], G, zero)
        return GroupUniqueness(unique, unique and bool((np.linalg.norm(N[columns], axis=1) <= zero).all()))

    return tuple(row_uniqueness(columns) for columns in groups)


#: The tools, named like their counterparts for the whole matrix in the option ``method``.
TOOLS: dict[str, Tool] = {
    "rank": rank_comparison,
    "qr": pivoted_qr,
    "svd": svd,
    "nullspace": null_space,
}


def _by_directions(
    G: Array, rank: int, directions: Array, groups: Sequence[Columns], zero: float
) -> tuple[GroupUniqueness, ...]:
    """Test B = G_T Q_T on the arbitrary ``directions`` (m, p), then the rank of G_T for the components."""
    threshold = uniqueness.gap_threshold(G, rank, 1.0)

    def row_uniqueness(columns: Columns) -> GroupUniqueness:
        G_T = G[:, columns]
        unique = _vanishes(G_T @ directions[columns], G, zero)
        return GroupUniqueness(unique, unique and uniqueness.rank_above(G_T, threshold) == len(columns))

    return tuple(row_uniqueness(columns) for columns in groups)


def _vanishes(B: Array, G: Array, zero: float) -> bool:
    """Return True if B (m, p) is zero relative to G."""
    return float(np.abs(B).max(initial=0.0)) <= zero * float(np.abs(G).max(initial=1.0))
