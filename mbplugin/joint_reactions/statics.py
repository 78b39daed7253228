"""Balancing multipliers, the motion driven by unbalanced loads, and the family of undetermined reactions."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.sparse.linalg
from scipy.sparse import coo_array, csr_array, issparse, sparray
from scipy.sparse.csgraph import connected_components

from mbplugin.analysis.mobility import finite_mobility
from mbplugin.analysis.uniqueness import (
    ConstraintVerdict,
    StressedBlock,
    constraint_verdicts,
    joint_place,
    rows_in_world,
    stress,
)
from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.constraints.rank import View, rank_blocks
from mbplugin.constraints.reduction import characteristic_length, row_scale
from mbplugin.constraints.rows import Rows, all_rows, planar_rows, rows_of
from mbplugin.constraints.sparse_qr import Strip, strip_of
from mbplugin.errors import BadUsage
from mbplugin.model import BodyPoses, Pair, ReactionUnit, RowLabel, coordinates_of, freedom_name
from mbplugin.model.mechanism import Constraint, Driver, Mechanism
from mbplugin.model.spatial import AnyArray, Array, units_of
from mbplugin.phrases import listed, one_line_repr
from mbplugin.readers.standing import feet

#: What balances a load on contacts.
BALANCED_STANCE = (
    "a pose (--q) and links that touch (--stance), such that the load presses between the contacts"
)
#: Largest number of joints named in a sentence.
_NAMED = 6
#: Joint rates below this fraction of the largest body motion are rounding.
_ROUNDING = 1e-9
#: A joint takes no part in a motion below this fraction of the largest joint rate.
_TAKES_PART = 1e-3
#: A coefficient below this fraction of the largest in its row is rounding.
_ZERO = 1e-8
#: A row becomes a parameter if at least this fraction of it is independent of the rows before.
_INDEPENDENT = 0.3
#: A pivot must have at least this fraction of the largest entry of its column; among these the sparsest row wins.
_PIVOT = 0.1
#: A coefficient below this is rounding.
_NOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class Balance:
    """Multipliers with Cᵀλ = M v̇ − F, up to an unbalanced rest.

    Parameters
    ----------
    multipliers : (m,) array
        One of the possible λ, scaled; zero in the dropped rows. Only its unique rows are meaningful.
    rest : (N, 6) array
        The unbalanced rest, as a twist [v; ω] of the motion that it drives, m and rad.
    share : float
        Work of the load on that motion, relative to the largest possible work.
    """

    multipliers: Array
    rest: Array
    share: float


def balance(system: System, missing: Array) -> Balance:
    """Return one λ with Cᵀλ = ``missing`` (N, 6), and the unbalanced rest."""
    (found,) = balances(system, missing[None])
    return found


def balances(system: System, missing: Array) -> list[Balance]:
    """Return one solution λ of Cᵀλ = ``missing`` and the unbalanced rest for each of ``missing`` (n, N, 6).

    p well-chosen rows are dropped (wojtyra2013 §3.1), which changes only non-unique rows; the others are the
    least-squares solution, whose residual is a motion that all constraints allow.
    """
    W = (missing * system.column_scale).reshape(len(missing), 6 * missing.shape[1]).T
    kept = np.setdiff1d(np.arange(len(system.scale)), system.dropped)
    multipliers = np.zeros((len(system.scale), len(missing)))
    residual = W
    if kept.size and W.any():
        C = system.C[kept]
        corner = scipy.sparse.eye_array(C.shape[1])
        solve = scipy.sparse.linalg.splu(scipy.sparse.block_array([[corner, C.T], [C, None]]).tocsc()).solve
        x = solve(np.concatenate((W, np.zeros((len(kept), len(missing))))))
        for _ in range(2):  # refinement: long chains lose digits in the first solution
            r, mu = x[: len(W)], x[len(W) :]
            x = x + solve(np.concatenate((W - r - C.T @ mu, -(C @ r))))
        residual, multipliers[kept] = x[: len(W)], x[len(W) :]
    return [_balance(system, w, r, mu) for w, r, mu in zip(W.T, residual.T, multipliers.T, strict=True)]


def _balance(system: System, w: Array, residual: Array, multipliers: Array) -> Balance:
    """Return the balance of a load w (6N,), with residual (6N,) and multipliers (m,), all scaled."""
    work = np.linalg.norm(w.reshape(-1, 6), axis=1) @ np.linalg.norm(residual.reshape(-1, 6), axis=1)
    share = float(residual @ residual) / work if work > 0 else 0.0
    return Balance(multipliers, -residual.reshape(-1, 6) * system.column_scale, share)


def require_balance(system: System, found: Balance, tolerance: float, at_rest: bool) -> None:
    """Raise if loads do work on a motion that the constraints allow.

    Raises
    ------
    BadUsage
        The loads are not balanced; the message names the motion, joint by joint, and joints to hold.
    """
    if found.share <= tolerance:
        return
    moving = joint_motion(system.mech, system, found.rest)
    holdable = [name for name, _, _ in moving]
    words = ", ".join(f"{name} by {value:+.3g} {unit}" for name, value, unit in moving[:_NAMED])
    more = f" and {len(moving) - _NAMED} more joints" if len(moving) > _NAMED else ""
    falling = _falling(system, found.rest)
    what = words + more if moving and not falling else _free_bodies(system, found.rest)
    rigid = yielding_rates(system) if moving else set()
    if rigid and rigid.issuperset(set(holdable) & set(system.mech.qd_names)):
        raise BadUsage(
            f"no finite reactions of a rigid model carry this load: it acts along {listed(sorted(rigid), _NAMED)}, "
            "free to first order only, where the loop does not move but yields (see MB506)",
            expected="a load with no part along that freedom",
            remedy="model the loop as one body, or correct the dimensions",
        )
    if system.mech.contacts and not (moving and not falling):
        names = listed([contact.name for contact in system.mech.contacts], _NAMED)
        raise BadUsage(
            f"{names} alone cannot carry this load: nothing keeps the bodies from turning over the contacts",
            expected=BALANCED_STANCE,
        )
    if at_rest:
        said = f"the mechanism {'falls' if falling else 'moves'} under the load: {what}"
    else:
        said = f"these accelerations need a force that nothing supplies along this motion: {what}"
    remedy = ""
    if moving and not falling:
        first = holdable[0]
        remedy = (
            f"hold a joint of that motion, such as {first!r} (--hold {first}, in Python hold=[{first!r}])"
        )
    raise BadUsage(
        said,
        expected="a load that the held joints can carry",
        remedy=remedy or f"fix the base (base='fixed' or --base fixed) or balance the loads{_stance(system)}",
    )


def _free_bodies(system: System, twists: Array) -> str:
    """Return a phrase with the bodies that move in a motion, twists (N, 6)."""
    moving = np.linalg.norm(twists, axis=1)
    names = [b.name for b, m in zip(system.mech.bodies, moving, strict=True) if m > 0.1 * moving.max()]
    return f"nothing holds {', '.join(names[:_NAMED])} in the world"


def yielding_rates(system: System) -> set[str]:
    """Return the joint rates that are free to first order only: the loop has no finite motion along them."""
    q = coordinates_of(system.mech, system.poses)
    view = View(system.mech, q, system.columns, tolerance=DEFAULT_TOLERANCE)
    return set(finite_mobility(view, 0).shaky_rates)


def _falling(system: System, twists: Array) -> bool:
    """Return True if a free root moves in a motion, twists (N, 6): holding joints cannot balance the load then."""
    size = np.abs(twists.reshape(-1, 2, 3) / [[system.length], [1.0]]).max(axis=(1, 2))
    roots = [system.mech.body_index[joint.outer] for joint in system.mech.tree.joints if joint.pair is None]
    return bool(roots) and bool(size[roots].max() > _TAKES_PART * size.max())


def _stance(system: System) -> str:
    """Return a hint to let a legged robot stand; empty for other mechanisms."""
    ends = feet(system.mech, system.poses)
    if not ends:
        return ""
    return (
        "; a robot that stands has contacts: in a scene, a [[contact]] with point, normal = [0, 0, 1] and mu for each"
        f" body_a of {listed(ends, _NAMED)}, or --stance (stance=[...]) where these have collision shapes"
    )


def joint_motion(mech: Mechanism, system: System, twists: Array) -> list[tuple[str, float, str]]:
    """Return (coordinate, rate, unit) of the joints that take part in a motion, largest first; twists (N, 6).

    The rates are scaled to a largest rotation of one radian, or one metre without rotation.
    """
    found: list[tuple[str, float, str]] = []
    for pair in mech.pairs:
        if not pair.kind.free:
            continue
        (rows,) = rows_of(mech, (Driver("", pair.name),), system.poses)
        rates = sum((e @ twists[body] for body, e in rows.entries), np.zeros(len(rows.components)))
        for freedom, rate in zip(pair.kind.free, rates.tolist(), strict=True):
            name = freedom_name(pair.name, freedom, len(pair.kind.free))
            found.append((name, rate, units_of(freedom).coordinate))
    size = {unit: max((abs(r) for _, r, u in found if u == unit), default=0.0) for unit in ("rad", "m")}
    largest = max(size["rad"], size["m"] / system.length)
    # if the base falls as a whole, joint rates are only rounding
    whole = float(np.abs(twists.reshape(-1, 2, 3) / [[system.length], [1.0]]).max(initial=0.0))
    if largest <= _ROUNDING * whole:
        return []
    unit = size["rad"] if size["rad"] > _TAKES_PART * largest else size["m"]
    kept = [
        (name, rate / unit, u)
        for name, rate, u in found
        if abs(rate) / (1.0 if u == "rad" else system.length) > _TAKES_PART * largest
    ]
    return sorted(kept, key=lambda item: -round(abs(item[1]) / (system.length if item[2] == "m" else 1.0), 6))


# Undetermined reactions: null directions of each reaction, and the family of possible values.


@dataclass(frozen=True)
class Weight:
    """One term of a null direction or relation: ``weight`` of a component."""

    constraint: str
    component: str
    weight: float


@dataclass(frozen=True)
class NullDirection:
    """A change of one reaction that leaves the rigid model in balance, in N and N·m."""

    components: tuple[Weight, ...]


@one_line_repr
@dataclass(frozen=True)
class Relation:
    """component = constant + Σ weight · parameter, in N and N·m; holds for every possible reaction."""

    constraint: str
    component: str
    unit: ReactionUnit
    constant: float
    terms: tuple[Weight, ...]


@one_line_repr
@dataclass(frozen=True)
class Family:
    """All reactions that the rigid model allows: free parameters, and the components that depend on them.

    Parameters
    ----------
    parameters : tuple of (constraint, component, unit)
        Components that may take any value.
    relations : tuple of Relation
        Every other component of the family.
    """

    parameters: tuple[tuple[str, str, ReactionUnit], ...]
    relations: tuple[Relation, ...]


def null_directions(system: System, constraint: str) -> tuple[NullDirection, ...]:
    """Return independent changes of one reaction that the rigid model allows."""
    rows = system.slices[constraint]
    if system.unique[rows].all():
        return ()
    scale = system.scale[rows]
    U, sigma, _ = np.linalg.svd(system.stress(rows).values, full_matrices=False)
    U = U[:, : max(1, int((sigma > system.zero[rows].max()).sum()))]
    labels = system.labels[rows]
    if U.shape[1] == len(U):
        # each component may change by itself
        return tuple(NullDirection((Weight(*label, 1.0),)) for label in labels)
    pivots = _independent_rows(U)
    N = scale[:, None] * (U @ np.linalg.inv(U[pivots])) / scale[pivots]
    return tuple(NullDirection(_weights(labels, N[:, k] / scale, N[:, k])) for k in range(N.shape[1]))


def _weights(labels: Sequence[RowLabel], scaled: Array, values: Array) -> tuple[Weight, ...]:
    """Return the nonzero entries of a combination, selected by ``scaled`` (m,), with ``values`` (m,)."""
    kept = np.flatnonzero(np.abs(scaled) > _ZERO * np.abs(scaled).max(initial=0.0))
    return tuple(Weight(labels[k][0], labels[k][1], _rounded(values[k])) for k in kept.tolist())


def sharing(system: System, constraint: str) -> tuple[str, ...]:
    """Return the other constraints that change together with one (blocks of the projector Z Zᵀ)."""
    rows = system.slices[constraint]
    if system.unique[rows].all():
        return ()
    # entries of Z are at most one, so products with entries below the zero threshold are zero
    limit = 10 * system.zero[rows].max()
    with_these = strip_of(system.together, rows)
    others = with_these.columns[np.abs(with_these.values).max(axis=0) > limit]
    names = dict.fromkeys(system.labels[k][0] for k in others.tolist())
    return tuple(name for name in names if name != constraint)


def families(system: System, multipliers: Array) -> tuple[Family, ...]:
    """Return the families of possible multipliers through one of them, ``multipliers`` (m,), scaled."""
    found = [_relations(system, basis) for basis in system.bases]
    pivots = np.concatenate([np.zeros(0, dtype=int), *(own for own, _ in found)])
    order = np.argsort(pivots)
    T = side_by_side([(b.rows, T) for b, (_, T) in zip(system.bases, found, strict=True)], len(multipliers))
    T, pivots = T[:, order], pivots[order]
    constant = multipliers - T @ multipliers[pivots]
    # scaled values are compared, since forces and moments then have the same unit
    constant[np.abs(constant) < 1e-11 * np.abs(multipliers).max(initial=0.0)] = 0.0
    constant = constant * system.scale
    T.sort_indices()
    following = ~system.unique
    following[pivots] = False
    return tuple(
        _family(system, pivots, columns, rows, constant, T) for columns, rows in _components(T, following)
    )


def _relations(system: System, basis: StressBasis) -> tuple[AnyArray, Array | csr_array]:
    """Return the parameters (p,), as rows of the system, and all rows of a block as combinations of them, (n, p)."""
    limit = np.maximum(system.zero[basis.rows], _ZERO)
    open_rows = np.flatnonzero(~system.unique[basis.rows])
    if basis.large:
        pivots, combined = independent_rows(basis.local)
        T = combined.tocoo()
        T.data[np.abs(T.data) < limit[T.row]] = 0.0
    else:
        pivots = open_rows[_independent_rows(basis.Z[open_rows])]
        T = basis.Z @ np.linalg.inv(basis.Z[pivots])
        T[np.abs(T) < limit[:, None]] = 0.0
    return basis.rows[pivots], T


def _components(T: csr_array, following: AnyArray) -> Iterator[tuple[list[int], list[int]]]:
    """Yield each group of columns of T (m, p) that share rows, and its rows in the mask ``following`` (m,)."""
    m, p = T.shape
    entries = T.tocoo()
    places = entries.row, m + entries.col
    graph = coo_array((np.ones(entries.nnz), places), shape=(m + p, m + p))
    group = connected_components(graph, directed=False)[1]
    members: dict[int, tuple[list[int], list[int]]] = {g: ([], []) for g in group[m:].tolist()}
    for column, g in enumerate(group[m:].tolist()):
        members[g][0].append(column)
    for row in np.flatnonzero(following).tolist():
        if (own := members.get(int(group[row]))) is not None:
            own[1].append(row)
    yield from members.values()


def _family(
    system: System, pivots: AnyArray, columns: list[int], rows: list[int], constant: Array, T: csr_array
) -> Family:
    """Return the family of some columns of T (m, p), scaled; ``pivots`` (p,), ``constant`` (m,) in N and N·m."""
    unit, labels, scale = system.units, system.labels, system.scale

    def terms(row: int) -> Iterator[Weight]:
        own = slice(T.indptr[row], T.indptr[row + 1])
        for column, value in zip(T.indices[own].tolist(), T.data[own].tolist(), strict=True):
            pivot = int(pivots[column])
            yield Weight(*labels[pivot], _rounded(scale[row] * value / scale[pivot]))

    relations = tuple(Relation(*labels[k], unit[k], _rounded(constant[k]), tuple(terms(k))) for k in rows)
    return Family(tuple((*labels[pivots[c]], unit[pivots[c]]) for c in columns), relations)


def _rounded(value: float) -> float:
    """Return a coefficient rounded to 12 digits, so that 0.9999999999999998 becomes 1."""
    return float(f"{value:.12g}")


def _independent_rows(Z: Array) -> list[int]:
    """Return p independent rows of Z (m, p), preferring early ones."""
    chosen: list[int] = []
    basis = np.zeros((0, Z.shape[1]))
    size = np.sqrt(np.einsum("ij,ij->i", Z, Z))
    loaded = np.sort(size[size > 0])
    middle = 0.5 * (loaded[(len(loaded) - 1) // 2] + loaded[len(loaded) // 2])
    for k in np.flatnonzero(size > _INDEPENDENT * middle).tolist():
        left = Z[k] - basis.T @ (basis @ Z[k])
        left -= basis.T @ (basis @ left)
        if (norm := math.sqrt(left @ left)) > _INDEPENDENT * size[k]:
            chosen.append(k)
            basis = np.vstack((basis, left / norm))
        if len(chosen) == Z.shape[1]:
            return chosen
    deflated = Z - (Z @ basis.T) @ basis
    order = scipy.linalg.qr(deflated.T, mode="r", pivoting=True)[1]
    return sorted([*chosen, *(int(k) for k in order[: Z.shape[1] - len(chosen)])])


# Bases of the self-stresses of all blocks.


@dataclass(frozen=True, eq=False)
class StressBasis:
    """The scaled self-stresses of one block.

    Parameters
    ----------
    rows : (n,) int array
        Row indices of the system.
    Z : (n, p) array
        Orthonormal basis.
    local : (n, p) array
        Basis of the same space; for a large block each column loads few rows.
    dropped : (p,) int array
        Rows of the system without which the others are independent; well-conditioned choice.
    """

    rows: AnyArray
    Z: Array | csr_array
    local: Array | csr_array
    dropped: AnyArray

    @property
    def large(self) -> bool:
        """Whether the arrays are sparse."""
        return bool(issparse(self.Z))


def stress_basis(s: StressedBlock, rows: AnyArray) -> StressBasis:
    """Return the basis of a block with redundant constraints at ``rows`` (n,) of the system."""
    if s.complete:
        return StressBasis(rows, s.Z, s.Z, rows[dependent_rows(s.Z)])
    local = s.ranked.local_stresses
    return StressBasis(rows, s.ranked.orthonormal_stresses, local, rows[np.sort(independent_rows(local)[0])])


def dependent_rows(Z: Array) -> AnyArray:
    """Return p rows (p,) on which the self-stresses Z (m, p) are well conditioned (pivoted QR of Zᵀ).

    Without them the rows have full rank: no combination of the others is a self-stress.
    """
    if not Z.shape[1]:
        return np.zeros(0, dtype=int)
    order = scipy.linalg.qr(Z.T, mode="r", pivoting=True)[1]
    return np.sort(order[: Z.shape[1]])


def side_by_side(pieces: Sequence[tuple[AnyArray, Array | sparray]], m: int) -> csr_array:
    """Return pieces (n, k) side by side in one matrix with m rows, each in its rows (n,)."""
    placed_pieces, width = [], 0
    for rows, values in pieces:
        columns = np.arange(width, width + values.shape[1])
        placed_pieces.append((rows, columns, values))
        width += len(columns)
    return placed(placed_pieces, (m, width))


def placed(pieces: Sequence[tuple[AnyArray, AnyArray, Array | sparray]], shape: tuple[int, int]) -> csr_array:
    """Return a matrix assembled from pieces (n, k), each at its rows (n,) and columns (k,)."""
    data, i, j = [np.zeros(0)], [np.zeros(0, int)], [np.zeros(0, int)]
    for rows, columns, values in pieces:
        if isinstance(values, np.ndarray):
            row, column = np.nonzero(values)
            data.append(values[row, column])
        else:
            piece = coo_array(values)
            data.append(piece.data)
            row, column = piece.row, piece.col
        i.append(rows[row])
        j.append(columns[column])
    return csr_array((np.concatenate(data), (np.concatenate(i), np.concatenate(j))), shape=shape)


# All rows of a mechanism with their self-stresses, scaled for solving.
#
# Lengths are in characteristic lengths, so a scaled row is of unit size, and a multiplier in N or N·m is
# ``scale`` times its scaled value; no result depends on the chosen unit.


@dataclass(frozen=True, eq=False)
class System:
    """Rows, self-stresses and verdicts of a mechanism at a pose.

    Parameters
    ----------
    mech : Mechanism
        Held joints are among its locks.
    rows : tuple of Rows
        Rows in the view of ``columns``, constraint by constraint.
    columns : tuple of int
        Twist components that count.
    length : float
        Characteristic length, m.
    scale : (m,) array
        Factor of each row that makes it dimensionless.
    bases : tuple of StressBasis
        The self-stresses of each block that has any.
    zero : (m,) array
        Threshold below which an entry of Z is zero.
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
    def constraint_of_row(self) -> AnyArray:
        """Index into ``rows`` of the constraint of each row, (m,)."""
        return np.repeat(np.arange(len(self.rows)), [len(r.components) for r in self.rows])

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
        """Number p of independent self-stresses."""
        return sum(basis.Z.shape[1] for basis in self.bases)

    @cached_property
    def Z(self) -> csr_array:
        """Scaled self-stresses (m, p), orthonormal within each block."""
        return side_by_side([(basis.rows, basis.Z) for basis in self.bases], len(self.scale))

    @cached_property
    def local(self) -> csr_array:
        """Basis of the same space as Z, (m, p); in large blocks each self-stress loads few rows."""
        return side_by_side([(basis.rows, basis.local) for basis in self.bases], len(self.scale))

    def stress(self, rows: slice) -> Strip:
        """Return some rows of Z."""
        key = (rows.start, rows.stop)
        if (found := self._strips.get(key)) is None:
            found = self._strips[key] = strip_of(self.Z, rows)
        return found

    @cached_property
    def _strips(self) -> dict[tuple[int, int], Strip]:
        """The requested rows of Z: those of each constraint are needed several times."""
        return {}

    @cached_property
    def together(self) -> csr_array:
        """Coupling of the non-unique rows: the projector Z Zᵀ on these rows, (m, m), without negligible entries.

        Entries of Z are at most one, so products with entries below the zero threshold are zero.
        """
        pieces, limit = [], 10 * self.zero.min(initial=1.0)
        for basis in self.bases:
            own = np.flatnonzero(~self.unique[basis.rows])
            projector = basis.Z[own] @ basis.Z[own].T
            pieces.append((basis.rows[own], basis.rows[own], projector * (abs(projector) > limit)))
        return placed(pieces, (len(self.scale), len(self.scale)))

    @cached_property
    def stress_groups(self) -> AnyArray:
        """Number of the group of rows that share self-stresses, for each row, (m,); −1 for a unique row."""
        limit = 10 * self.zero[~self.unique].max(initial=0.0)
        group = connected_components(abs(self.together) > limit, directed=False)[1]
        return np.where(self.unique, -1, group)

    @cached_property
    def constraint_by_name(self) -> dict[str, Constraint]:
        """Constraints by name."""
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
        """Scale of each twist component, (6,); zero out of the plane."""
        seen = np.zeros(6)
        seen[list(self.columns)] = 1.0
        return np.asarray(seen * np.array([self.length] * 3 + [1.0] * 3))

    @property
    def dropped(self) -> AnyArray:
        """Indices (p,) of well-conditioned rows without which the others are independent."""
        return np.sort(np.concatenate([np.zeros(0, dtype=int), *(basis.dropped for basis in self.bases)]))


def build_system(
    mech: Mechanism, q: Array, poses: BodyPoses, columns: tuple[int, ...], tolerance: float
) -> System:
    """Return the system of a mechanism at a closed pose q (nq,), with the rank at a relative tolerance."""
    rows = tuple(planar_rows(r, columns) for r in all_rows(mech, poses, q))
    stressed = stress(rank_blocks(mech, poses, columns, tolerance, q, rows=rows))
    length = characteristic_length(rows, poses.p_WC, mech)
    scale = np.concatenate([row_scale(r, length) for r in rows]) if rows else np.zeros(0)
    labels = {r.constraint: r.components for r in rows}
    bases, zero, scale = _in_rows([label for r in rows for label in r.labels], stressed, scale)
    verdicts = constraint_verdicts(mech, stressed, labels)
    return System(mech, poses, rows, columns, length, scale, bases, zero, verdicts)


def _in_rows(
    labels: Sequence[RowLabel], stressed: Sequence[StressedBlock], scale: Array
) -> tuple[tuple[StressBasis, ...], Array, Array]:
    """Return the self-stresses of all blocks, and the zero threshold and ``scale`` (m,) of each row."""
    position = {label: k for k, label in enumerate(labels)}
    bases, zero, scale = [], np.full(len(labels), 1e-9), scale.copy()
    for s in stressed:
        if s.ranked.redundancy:
            at = np.array([position[label] for label in s.ranked.reduced.labels])
            bases.append(stress_basis(s, at))
            zero[at], scale[at] = s.ranked.zero, s.ranked.reduced.scale
    return tuple(bases), zero, scale


# The rows of a pair at its joint.


def joint_rows(system: System, pair: Pair, rows: Rows) -> Array:
    """Return the rows (k, 6) of a pair on the relative twist at the origin of S, axes of P."""
    return rows_at_joint(system.mech, system.poses, pair, rows)


def rows_at_joint(mech: Mechanism, poses: BodyPoses, pair: Pair, rows: Rows) -> Array:
    """Return the rows (k, 6) of a pair at some poses on the relative twist at the origin of S, axes of P."""
    _, R_WP = joint_place(mech, poses, pair)
    return np.asarray(rows_in_world(mech, poses, pair, rows) @ np.kron(np.eye(2), R_WP))


def joint_point(system: System, pair: Pair) -> Array:
    """Return the origin of S in the world, (3,), m."""
    return joint_place(system.mech, system.poses, pair)[0]


# Rows on which sparse self-stresses are independent, and the other rows as combinations of these.


def independent_rows(B: csr_array) -> tuple[AnyArray, csr_array]:
    """Return p independent rows (p,) of a basis B (m, p), and T = B (these rows of B)⁻¹, (m, p).

    Gauss–Jordan elimination, column by column. The pivot is the row with the fewest columns among those with large
    enough entries, so that combinations stay short; ties go to the first.
    """
    by_column = B.tocsc()
    columns = [
        dict(zip(by_column.indices[a:b].tolist(), by_column.data[a:b].tolist(), strict=True))
        for a, b in zip(by_column.indptr[:-1].tolist(), by_column.indptr[1:].tolist(), strict=True)
    ]
    sharing: defaultdict[int, set[int]] = defaultdict(set)
    for c, column in enumerate(columns):
        for row in column:
            sharing[row].add(c)
    pivots = []
    for c, column in enumerate(columns):
        enough = _PIVOT * max(abs(value) for value in column.values())
        pivot = min(
            (row for row, v in column.items() if abs(v) >= enough), key=lambda r: (len(sharing[r]), r)
        )
        divisor = column[pivot]
        for row in column:
            column[row] /= divisor
        for other in sharing[pivot] - {c}:
            _subtract(columns, sharing, c, other, pivot)
        pivots.append(pivot)
    rows = np.array([row for column in columns for row in column], dtype=int)
    data = np.array([value for column in columns for value in column.values()])
    places = rows, np.repeat(np.arange(len(columns)), [len(column) for column in columns])
    return np.array(pivots, dtype=int), csr_array((data, places), shape=B.shape)


def _subtract(
    columns: list[dict[int, float]], sharing: dict[int, set[int]], c: int, other: int, pivot: int
) -> None:
    """Subtract a multiple of column ``c`` from column ``other`` to eliminate its entry in row ``pivot``."""
    changed = columns[other]
    factor = changed[pivot]
    for row, value in columns[c].items():
        left = changed.get(row, 0.0) - factor * value
        if row == pivot or abs(left) < _NOTHING:
            changed.pop(row, None)
            sharing[row].discard(other)
        else:
            changed[row] = left
            sharing[row].add(other)
