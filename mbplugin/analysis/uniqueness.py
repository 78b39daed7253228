"""Uniqueness of reactions, determined from the left null space (wojtyra2013 (21)–(27)), and the tools that find it.

A tool takes a reduced block, its degree of redundancy p (decided beforehand, so the same for all tools)
and the size below which an entry of a unit self-stress counts as zero. It returns a :class:`RowVerdict`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np

from mbplugin.constraints.rank import RankedBlock, block_null_space
from mbplugin.constraints.reduction import ReducedBlock
from mbplugin.constraints.rows import Rows
from mbplugin.constraints.sparse_qr import strip_of
from mbplugin.model import BodyPoses, ConstraintKind, Contact, Pair, RowLabel, Uniqueness
from mbplugin.model.mechanism import WORLD, Constraint, Coupling, Driver, Lock, Mechanism
from mbplugin.model.spatial import MOTION_WORDS, AnyArray, Array, pivot_order, pivoted_qr, shift_rows
from mbplugin.phrases import dataclass, one_line_repr

# Rank comparison in absolute coordinates: X is unique iff rank C_X + rank C_Y = rank C.


def uniqueness_by_rank(reduced: ReducedBlock, redundancy: int, zero: float) -> RowVerdict:
    """Judge every row and every constraint of a block by the ranks of the row itself and of all others.

    The excess of rank C_X + rank C_Y over rank C is the dimension of the intersection of the row spaces of X and
    the rest Y, which is the dimension of X's indeterminate reaction. The threshold for the ranks of parts lies in
    the gap between the singular values of the whole C, whose rank was decided beforehand.
    """
    C = reduced.dense()
    rank = len(C) - redundancy
    threshold = gap_threshold(C, rank, 1e3)

    def shared(rows: AnyArray) -> int:
        return rank_above(C[rows], threshold) + rank_above(np.delete(C, rows, axis=0), threshold) - rank

    dims: dict[str, int] = {}
    unique = np.ones(len(C), dtype=bool)
    start = 0
    for rows in reduced.rows:
        mine = np.arange(start, start + len(rows.components))
        start += len(mine)
        dims[rows.constraint] = max(0, shared(mine))
        if dims[rows.constraint]:
            unique[mine] = [shared(mine[k : k + 1]) <= 0 for k in range(len(mine))]
    return RowVerdict(unique, dims)


def gap_threshold(C: Array, rank: int, rounding: float) -> float:
    """Return the geometric mean of the singular values of C (m, n) on both sides of the gap below number ``rank``.

    ``rounding`` is the size of rounding errors, in machine epsilons relative to the largest singular value.
    """
    sigma = np.linalg.svd(C, compute_uv=False)
    floor = rounding * np.finfo(float).eps * float(sigma[0])
    beyond = max(float(sigma[rank]) if rank < len(sigma) else 0.0, floor)
    return float(np.sqrt(beyond * max(float(sigma[rank - 1]), beyond))) if rank else 2 * beyond


def rank_above(C: Array, threshold: float) -> int:
    """Return the number of singular values of C (m, n) above a threshold."""
    return int((np.linalg.svd(C, compute_uv=False) > threshold).sum()) if C.size else 0


# Null space by elimination: every dependent row of J is a combination of the independent ones.


def uniqueness_by_null_space(reduced: ReducedBlock, redundancy: int, zero: float) -> RowVerdict:
    """Judge every row of a block from the dependent rows, written as combinations of the independent ones."""
    return from_left_null_basis(reduced, left_null_basis_by_elimination(reduced.J, redundancy), zero)


def left_null_basis_by_elimination(J: Array, redundancy: int) -> Array:
    """Return a basis (k, p) of the left null space of J (k, f): one vector for each dependent row."""
    order = pivot_order(J.T)
    independent, dependent = order[: len(J) - redundancy], order[len(J) - redundancy :]
    mu = np.zeros((len(J), redundancy))
    mu[dependent] = np.eye(redundancy)
    mu[independent] = -np.linalg.lstsq(J[independent].T, J[dependent].T, rcond=None)[0]
    return mu


# Pivoted QR: the left null space is the last columns of Q (wojtyra2013 (21)–(27)).


def uniqueness_by_qr(reduced: ReducedBlock, redundancy: int, zero: float) -> RowVerdict:
    """Judge every row of a block from the QR decomposition J E = Q R."""
    return from_left_null_basis(reduced, left_null_basis_by_qr(reduced.J, redundancy), zero)


def left_null_basis_by_qr(J: Array, redundancy: int) -> Array:
    """Return an orthonormal basis (k, p) of the left null space of J (k, f)."""
    Q = pivoted_qr(J)[0]
    return Q[:, len(Q) - redundancy :]


# Singular value decomposition: the left null space is the last left singular vectors.


def uniqueness_by_svd(reduced: ReducedBlock, redundancy: int, zero: float) -> RowVerdict:
    """Judge every row of a block from the decomposition J = U Σ Vᵀ."""
    return from_left_null_basis(reduced, left_null_basis_by_svd(reduced.J, redundancy), zero)


def left_null_basis_by_svd(J: Array, redundancy: int) -> Array:
    """Return an orthonormal basis (k, p) of the left null space of J (k, f)."""
    U = np.linalg.svd(J)[0]
    return np.asarray(U[:, len(U) - redundancy :])


@dataclass(frozen=True, eq=False)
class RowVerdict:
    """Uniqueness of the multipliers of one block.

    Parameters
    ----------
    unique : (m,) bool array
        Per row, in the order of ``ReducedBlock.labels``.
    indeterminate_dim : dict of constraint name to int
        Dimension of the family of possible reactions.
    """

    unique: AnyArray
    indeterminate_dim: dict[str, int]


def from_self_stresses(reduced: ReducedBlock, Z: Array, zero: float) -> RowVerdict:
    """Return the verdict from self-stresses Z (m, s): a basis, or at least six random ones.

    A row is unique iff it is zero in Z; the rank of a constraint's rows is the dimension of its
    indeterminate reaction. A random vector of the left null space is zero in a row exactly when that
    row is unique, with probability one.
    """
    unique = np.linalg.norm(Z, axis=1) <= zero
    first = np.cumsum([0, *(len(rows.components) for rows in reduced.rows)])
    dims = {rows.constraint: 0 for rows in reduced.rows}
    alike: dict[int, list[int]] = {}
    for k, rows in enumerate(reduced.rows):
        if not unique[first[k] : first[k + 1]].all():
            alike.setdefault(len(rows.components), []).append(k)
    for count, members in alike.items():
        Z_X = Z[first[members][:, None] + np.arange(count)]
        ranks = (np.linalg.svd(Z_X, compute_uv=False) > zero).sum(axis=1)
        dims.update((reduced.rows[k].constraint, max(1, int(r))) for k, r in zip(members, ranks, strict=True))
    return RowVerdict(unique, dims)


def from_left_null_basis(reduced: ReducedBlock, mu: Array, zero: float) -> RowVerdict:
    """Extend a left null basis mu (k, p) of J to all rows by statics, and return the verdict from it."""
    Z = np.linalg.qr(reduced.self_stresses(mu))[0]
    return from_self_stresses(reduced, np.asarray(Z), zero)


Tool = Callable[[ReducedBlock, int, float], RowVerdict]

#: Tools by the value of the option ``method``.
TOOLS: dict[str, Tool] = {
    "qr": uniqueness_by_qr,
    "svd": uniqueness_by_svd,
    "nullspace": uniqueness_by_null_space,
    "rank": uniqueness_by_rank,
}
_WORDS = {
    **MOTION_WORDS,
    "d": "distance",
    "c": "coupled rate",
    "side": "sideways slip",
    "roll": "rolling slip",
    "normal": "distance from the plane",
    "cn": "approach along the normal",
    "ct1": "slip along ct1",
    "ct2": "slip along ct2",
}
Directions = tuple[tuple[float, float, float], ...]
#: Number of decimals kept in coordinates of directions; the rest is rounding.
_DIGITS = 12
#: Random self-stresses drawn from a large block; at least as many as a constraint has rows.
_DRAWN = 8
#: Maximum number of self-stresses of a large block that are described together; they share closing rows.
_TOGETHER = 300


# Descriptions of self-stress states: the loop, the motion that is restrained twice, the loaded constraints.


@dataclass(frozen=True)
class StressComponent:
    """One multiplier of a self-stress; weights are scaled by the characteristic length, at most 1."""

    constraint: str
    component: str
    weight: float


@one_line_repr
@dataclass(frozen=True)
class SelfStress:
    """One independent self-stress state: internal forces that load the mechanism and move nothing.

    Parameters
    ----------
    constraints : tuple of str
        The loaded constraints.
    text : str
        Description in words.
    loop : str
        The bodies of the loop in order, if the loaded constraints form one; else empty.
    restrains : str
        The motion that is restrained twice, for example ``rotation about x``.
    closed_by : str
        The constraint that restrains it redundantly.
    """

    constraints: tuple[str, ...]
    components: tuple[StressComponent, ...]
    text: str
    loop: str = ""
    restrains: str = ""
    closed_by: str = ""


def self_stresses(mech: Mechanism, stressed: Sequence[StressedBlock]) -> tuple[SelfStress, ...]:
    """Return p self-stress states, each loading exactly one pivot component of a closing constraint.

    In large blocks, groups of more than ``_TOGETHER`` states that share closing constraints are truncated.
    """
    return tuple(stress for s in stressed for stress in _of_block(mech, s))


def _of_block(mech: Mechanism, s: StressedBlock) -> list[SelfStress]:
    if not s.ranked.redundancy:
        return []
    known = {constraint.name: bodies_of(mech, constraint) for constraint in mech.constraints()}
    labels, found = s.ranked.reduced.labels, []
    for rows, part in s.parts():
        # a basis with one closing component each
        closing = int(np.searchsorted(rows, len(s.ranked.reduced.labels) - s.ranked.reduced.shape[0]))
        order = pivot_order(part[closing:].T)
        pivots = sorted(int(closing + k) for k in order[: part.shape[1]])
        Z = part @ np.linalg.inv(part[pivots])
        for column, pivot in enumerate(pivots):
            weights = Z[:, column] / np.abs(Z[:, column]).max()
            loaded = np.flatnonzero(np.abs(weights) > max(s.ranked.zero, 1e-6))
            components = tuple(StressComponent(*labels[int(rows[k])], float(weights[k])) for k in loaded)
            names = tuple(dict.fromkeys(c.constraint for c in components))
            found.append((rows[pivot], _described(known, names, components, labels[rows[pivot]])))
    return [described for _, described in sorted(found, key=lambda item: item[0])]


def _described(
    known: Mapping[str, tuple[str, str]],
    names: tuple[str, ...],
    components: tuple[StressComponent, ...],
    pivot: RowLabel,
) -> SelfStress:
    carried = "; ".join(
        f"{name} ({' '.join(c.component for c in components if c.constraint == name)})" for name in names
    )
    restrained = _WORDS.get(pivot.freedom, pivot.freedom)
    loop = _loop([known[name] for name in names])
    what = f"the loop {loop} restrains" if loop else f"{' and '.join(names[:4])} restrain"
    text = f"{what} {restrained} of {pivot.constraint} twice; carried by {carried}"
    return SelfStress(names, components, text, loop, restrained, pivot.constraint)


def _loop(left: list[tuple[str, str]]) -> str:
    """Return the bodies in the order of the loop, or an empty string if the constraints do not form a loop."""
    start, here = left.pop(0)
    path = [start, here]
    while left:
        following = next((ends for ends in left if here in ends), None)
        if following is None:
            return ""
        left.remove(following)
        here = following[1] if following[0] == here else following[0]
        path.append(here)
    return "–".join(path[:-1]) if path[-1] == start and len(path) > 2 else ""


# Directions of the forces and moments in a joint that the rigid model leaves open, in world axes.
#
# The rotation of a joint frame about a free axis is arbitrary, and so are its directions tx and ty. The span of
# the forces that self-stresses cause in the joint does not depend on it, nor does that of the moments at its point.


def joint_point(mech: Mechanism, poses: BodyPoses, pair: Pair) -> Array:
    """Return the joint's point (3,), the origin of S in the world, m."""
    return np.asarray(poses.of(mech.body_index[pair.body_b]).apply(pair.X_BS.p))


def joint_place(mech: Mechanism, poses: BodyPoses, pair: Pair) -> tuple[Array, Array]:
    """Return the joint's point (3,), and R_WJ (3, 3), the axes of P in the world."""
    R_WJ = poses.of(mech.body_index[pair.body_a]).R @ pair.X_AP.R
    return joint_point(mech, poses, pair), np.asarray(R_WJ)


def rows_in_world(mech: Mechanism, poses: BodyPoses, pair: Pair, rows: Rows) -> Array:
    """Return rows (k, 6) on the relative twist [v; ω] at the joint's point, world axes.

    The transpose maps multipliers to the wrench on the successor at that point.

    Parameters
    ----------
    rows : Rows
        Rows of the pair, or of a drive or lock in its joint.
    """
    body, entry = _row_entry(mech, pair, rows)
    return shift_rows(entry, poses.p_WC[body] - joint_point(mech, poses, pair))


def _row_entry(mech: Mechanism, pair: Pair, rows: Rows) -> tuple[int, Array]:
    """Return a moving body of a pair, and ``rows`` on its twist, (k, 6), with the sign for the successor."""
    index = mech.body_index
    body, sign = (index[pair.body_b], 1.0) if index[pair.body_b] >= 0 else (index[pair.body_a], -1.0)
    return body, sign * dict(rows.entries)[body]


def open_directions(wrenches: Array, zero: float) -> tuple[Directions, Directions]:
    """Return orthonormal bases, world axes, of the open forces and of the open moments.

    Parameters
    ----------
    wrenches : (6, p) array
        Wrenches of unit self-stresses on the joint.
    zero : float
        Singular values up to this size are rounding.
    """
    force, moment = _bases(wrenches.reshape(2, 3, -1), zero)
    return force, moment


def _bases(vectors: Array, zero: float) -> list[Directions]:
    """Return a basis of the span of each of ``vectors`` (n, 3, p) that depends only on the span.

    In a plane the basis is constructed from the normal.
    """
    # with fewer than three vectors the decomposition would not contain the normal
    padded = np.pad(vectors, ((0, 0), (0, 0), (0, max(0, 3 - vectors.shape[2]))))
    U, sigma, _ = np.linalg.svd(padded, full_matrices=False)
    rank = (sigma > zero).sum(axis=1)
    along, normal = _without_sign(U[:, :, 0]), _without_sign(U[:, :, 2])
    # the world axis closest to the plane, projected onto it
    axis = np.eye(3)[np.argmin(np.round(np.abs(normal), 6), axis=1)]
    first = axis - (axis * normal).sum(axis=1, keepdims=True) * normal
    first = _without_sign(first / np.linalg.norm(first, axis=1, keepdims=True))
    second = _without_sign(np.cross(normal, first))
    whole: Directions = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    choices = zip(rank.tolist(), _tuples(along), _tuples(first), _tuples(second), strict=True)
    return [((), (a,), (b, c), whole)[r] for r, a, b, c in choices]


def _without_sign(directions: Array) -> Array:
    """Return unit vectors ``directions`` (n, 3), signed so that the (first) largest coordinate is positive."""
    largest = np.argmax(np.round(np.abs(directions), 6), axis=1)
    signs = np.sign(np.take_along_axis(directions, largest[:, None], axis=1))
    return np.asarray(directions * signs)


def _tuples(directions: Array) -> Directions:
    """Return unit vectors ``directions`` (n, 3) as tuples, rounded and without negative zeros."""
    return tuple((x, y, z) for x, y, z in (np.round(directions, _DIGITS) + 0.0).tolist())


def with_open_directions(
    mech: Mechanism,
    poses: BodyPoses,
    stressed: Sequence[StressedBlock],
    verdicts: Sequence[ConstraintVerdict],
) -> tuple[ConstraintVerdict, ...]:
    """Return the verdicts, those on pairs with their open directions."""
    found: dict[str, tuple[Directions, Directions]] = {
        v.name: ((), ()) for v in verdicts if v.unique and v.name in mech.pair_by_name
    }
    open_names = {v.name for v in verdicts if v.name in mech.pair_by_name} - set(found)
    for s in stressed:
        found.update(_directions_of_block(mech, poses, s, open_names))
    return tuple(
        replace(v, open_force=found[v.name][0], open_moment=found[v.name][1]) if v.name in found else v
        for v in verdicts
    )


def _directions_of_block(
    mech: Mechanism, poses: BodyPoses, s: StressedBlock, names: Container[str]
) -> dict[str, tuple[Directions, Directions]]:
    """Return the directions of open forces and moments of some pairs of a block, computed together."""
    stresses = s.ranked.reduced.scale[:, None] * s.Z
    members = [rows for rows in s.ranked.reduced.rows if rows.constraint in names]
    if not members:
        return {}
    wrenches, arms = [], []
    for rows in members:
        pair = mech.pair_by_name[rows.constraint]
        body, entry = _row_entry(mech, pair, rows)
        wrenches.append(entry.T @ stresses[s.slices[pair.name]])
        arms.append(poses.p_WC[body] - joint_point(mech, poses, pair))
    at_joints = shift_rows(np.array(wrenches).transpose(0, 2, 1), np.array(arms)[:, None])
    at_joints *= _sizes(s.ranked.reduced.length)
    bases = _bases(at_joints.transpose(0, 2, 1).reshape(2 * len(members), 3, -1), s.ranked.zero)
    return {r.constraint: (bases[2 * k], bases[2 * k + 1]) for k, r in enumerate(members)}


def unit_wrenches(at_joint: Array, scale: Array, length: float) -> Array:
    """Return the wrenches of k scaled multipliers on a joint, (6, k), force in units of moment per length.

    Parameters
    ----------
    at_joint : (k, 6) array
        Rows on the twist at the joint's point, world axes.
    scale : (k,) array
        Scales of the multipliers.
    length : float
        The characteristic length, m.
    """
    return np.asarray((at_joint * scale[:, None] * _sizes(length)).T)


def _sizes(length: float) -> Array:
    """Return the factors (6,) that scale forces by the characteristic length (m), and moments by one."""
    return np.array([length] * 3 + [1.0] * 3)


@dataclass(frozen=True)
class ComponentVerdict:
    """Uniqueness of one reaction component in the rigid model; None if undecided."""

    name: str
    unique: bool | None


@one_line_repr
@dataclass(frozen=True)
class ConstraintVerdict:
    """Uniqueness of the reaction of one constraint in the rigid model.

    Parameters
    ----------
    name, kind, type, body_a, body_b : str
        ``kind`` is pair, closure, coupling, driver, pfaffian, lock or contact.
    reaction : str
        ``unique``, ``non-unique`` or ``undecided``.
    indeterminate_dim : int or None
        Dimension of the family of possible reactions; None if the method does not determine it.
    open_force, open_moment : tuple of (x, y, z) or None
        Orthonormal directions, world axes, that span the open forces, and the open moments at the
        joint's point (the origin of S); empty if the reaction is unique. Unlike the components, they do not
        depend on the rotation of the joint frame about a free axis. None for constraints other than pairs,
        and if the method does not determine them.
    B_norm : float or None
        Frobenius norm of B_X (wojtyra2013 (27)), lengths in characteristic lengths: 0 if the reaction is
        unique. None if the method does not determine it.
    """

    name: str
    kind: ConstraintKind
    type: str
    body_a: str
    body_b: str
    reaction: Uniqueness
    indeterminate_dim: int | None
    components: tuple[ComponentVerdict, ...]
    open_force: tuple[tuple[float, float, float], ...] | None = None
    open_moment: tuple[tuple[float, float, float], ...] | None = None
    B_norm: float | None = None

    @property
    def unique(self) -> bool:
        """True if the whole reaction is unique."""
        return self.reaction == "unique"


@dataclass(frozen=True, eq=False)
class StressedBlock:
    """A block with its scaled self-stresses.

    Parameters
    ----------
    Z : (m, p) array
        Orthonormal basis, rows as in ``ranked.reduced.labels``; for a large block, random
        self-stresses with a largest entry of one.
    """

    ranked: RankedBlock
    Z: Array

    @property
    def complete(self) -> bool:
        """True if Z is a basis."""
        return self.ranked.elimination is None

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Rows of each constraint in Z."""
        found: dict[str, slice] = {}
        start = 0
        for rows in self.ranked.reduced.rows:
            found[rows.constraint] = slice(start, start + len(rows.components))
            start += len(rows.components)
        return found

    def rows_of(self, constraints: Collection[str]) -> Array:
        """Return the rows of Z that belong to some constraints, (k, p)."""
        parts = [self.Z[self.slices[name]] for name in constraints if name in self.slices]
        return np.vstack(parts) if parts else np.zeros((0, self.Z.shape[1]))

    def parts(self) -> Iterator[tuple[AnyArray, Array]]:
        """Yield the row indices (n,) and self-stresses (n, s) of independent parts: parts share no closing rows."""
        if self.complete:
            yield np.arange(len(self.Z)), self.Z
            return
        from scipy.sparse.csgraph import connected_components

        local = self.ranked.local_stresses
        closing = local[-self.ranked.reduced.shape[0] :]
        part = connected_components(abs(closing.T) @ abs(closing), directed=False)[1]
        order = np.argsort(part, kind="stable")
        by_column = local.T.tocsr()[order]
        bounds = np.flatnonzero(np.diff(part[order], prepend=-1, append=-1)).tolist()
        for start, stop in itertools.pairwise(bounds):
            own = strip_of(by_column, slice(start, min(stop, start + _TOGETHER)))
            yield own.columns, own.values.T


def stress(blocks: Iterable[RankedBlock]) -> tuple[StressedBlock, ...]:
    """Return the self-stresses of every block."""
    return tuple(StressedBlock(b, _self_stresses(b)) for b in blocks)


def _self_stresses(ranked: RankedBlock) -> Array:
    """Return a basis (m, p) of the scaled self-stresses; for a large block, random self-stresses."""
    p = ranked.redundancy
    if ranked.elimination is None:
        return block_null_space(ranked.reduced, p)
    drawn = np.random.default_rng(0).normal(size=(p, _DRAWN * bool(p)))
    Z = ranked.reduced.self_stresses(ranked.elimination.null_vectors(drawn))
    return np.asarray(Z / np.maximum(np.abs(Z).max(axis=0, initial=0.0), 1e-300))


def constraint_verdicts(
    mech: Mechanism,
    stressed: Sequence[StressedBlock],
    components: dict[str, tuple[str, ...]],
    method: str = "svd",
) -> tuple[ConstraintVerdict, ...]:
    """Return the verdict of every constraint; constraints in no redundant block are unique.

    Parameters
    ----------
    components : dict of constraint name to row labels
        Labels of the rows in the view of the analysis, space or plane.
    method : str
        The tool; large blocks are always judged from random self-stresses.
    """
    unique: dict[str, list[bool]] = {}
    dims: dict[str, int] = {}
    for s in stressed:
        if s.ranked.redundancy:
            verdict = _judged(s, method)
            dims.update(verdict.indeterminate_dim)
            unique.update({name: verdict.unique[rows].tolist() for name, rows in s.slices.items()})
    return tuple(
        _verdict(mech, c, components[c.name], unique.get(c.name), dims.get(c.name, 0))
        for c in mech.constraints()
    )


def _judged(s: StressedBlock, method: str) -> RowVerdict:
    if s.complete:
        # the divide-and-conquer test later judges the whole mechanism; here any tool will do
        return TOOLS.get(method, TOOLS["svd"])(s.ranked.reduced, s.ranked.redundancy, s.ranked.zero)
    return from_self_stresses(s.ranked.reduced, s.Z, s.ranked.zero)


def _verdict(
    mech: Mechanism, constraint: Constraint, labels: tuple[str, ...], unique: list[bool] | None, dim: int
) -> ConstraintVerdict:
    flags = [True] * len(labels) if unique is None else unique
    body_a, body_b = bodies_of(mech, constraint)
    return ConstraintVerdict(
        constraint.name,
        kind_of(constraint),
        type_of(constraint),
        body_a,
        body_b,
        "unique" if all(flags) else "non-unique",
        dim,
        _components(labels, tuple(flags)),
    )


@lru_cache(maxsize=256)
def _components(labels: tuple[str, ...], flags: tuple[bool, ...]) -> tuple[ComponentVerdict, ...]:
    """Return the verdicts on components, cached because those of a thousand hinges are the same."""
    return tuple(ComponentVerdict(c, u) for c, u in zip(labels, flags, strict=True))


def kind_of(constraint: Constraint) -> ConstraintKind:
    """Return the kind of a constraint: pair, closure, coupling, driver, lock, pfaffian or contact."""
    if isinstance(constraint, Pair):
        return "closure" if constraint.closure else "pair"
    kinds: dict[type, ConstraintKind] = {
        Coupling: "coupling",
        Driver: "driver",
        Lock: "lock",
        Contact: "contact",
    }
    return kinds.get(type(constraint), "pfaffian")


def type_of(constraint: Constraint) -> str:
    """Return the type of a constraint as named in reports."""
    if isinstance(constraint, Driver | Lock):
        return kind_of(constraint)
    return constraint.type


def bodies_of(mech: Mechanism, constraint: Constraint) -> tuple[str, str]:
    """Return the predecessor and successor of a constraint (those of the first joint, for a coupling)."""
    match constraint:
        case Pair():
            pair = constraint
        case Coupling():
            pair = mech.pair_by_name[constraint.terms[0].joint]
        case Driver() | Lock():
            pair = mech.pair_by_name[constraint.joint]
        case Contact():
            return constraint.on, constraint.body
        case _:
            return WORLD, constraint.body
    return pair.bodies
