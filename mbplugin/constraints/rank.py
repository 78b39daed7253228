"""The labelled constraint matrix in absolute coordinates (wojtyra2013 (4), (5), (8)), and the rank of its blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.constraints.closure import Closure
from mbplugin.constraints.descent import independent_parts
from mbplugin.constraints.reduction import Block, ReducedBlock, body_twists, find_blocks, reduce_blocks
from mbplugin.constraints.rows import Rows, all_rows, planar_rows, plane_columns
from mbplugin.constraints.sparse_qr import Elimination, Strip, added, banded_factor, eliminate, stacked
from mbplugin.csv_tables import write_csv
from mbplugin.model import TWIST_COLUMNS, WORLD, AnyArray, Array, Lock, Mechanism, RowLabel
from mbplugin.model.mechanism.kinematics import BodyPoses, JointValues, forward, joint_vector, rate_vector
from mbplugin.phrases import dataclass, one_line, one_line_repr
from mbplugin.rendering import Result

if TYPE_CHECKING:
    import scipy.sparse
    from scipy.sparse import csr_array


#: A smaller gap is floating-point rounding, not rounded angles of the file, m and rad.
_NOTHING = 1e-12


# Rank of a reduced block at a tolerance, and the left null space of the whole matrix.


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Singular values of a block's scaled closure Jacobian, relative to its largest.

    Parameters
    ----------
    rows : int
        Rows of J; missing singular values are zero.
    relative : (min(k, f),) array
        Decreasing. If even the largest is below one (a row of J is a unit wrench times unit twists), they are
        relative to one, so that a block of small entries is redundant as a whole.
    """

    rows: int
    relative: Array

    def rank(self, tolerance: float) -> int:
        """Return the number of singular values above a relative tolerance."""
        return int((self.relative > tolerance).sum())

    def redundancy(self, tolerance: float) -> int:
        """Return rows minus rank at a tolerance."""
        return self.rows - self.rank(tolerance)


def spectrum(J: Array) -> Spectrum:
    """Return the singular values of a scaled closure Jacobian J (k, f)."""
    if 0 in J.shape:
        return Spectrum(len(J), np.zeros(0))
    sigma = np.linalg.svd(J, compute_uv=False)
    return Spectrum(len(J), np.asarray(sigma / max(float(sigma[0]), 1.0), dtype=float))


def block_null_space(reduced: ReducedBlock, redundancy: int) -> Array:
    """Return an orthonormal basis (m, p) of the scaled self-stresses of a block, for a given p."""
    if redundancy == 0:
        return np.zeros((len(reduced.labels), 0))
    U = np.linalg.svd(reduced.J)[0]
    return np.asarray(np.linalg.qr(reduced.self_stresses(U[:, len(U) - redundancy :]))[0])


def left_null_space(matrix: ConstraintMatrix, tolerance: float) -> Array:
    """Return Z (m, p) of a constraint matrix: unit self-stresses, block by block."""
    poses = forward(matrix.mechanism, matrix.q)
    columns = plane_columns(matrix.planar)
    position = {label: k for k, label in enumerate(matrix.rows)}
    parts = []
    for reduced in reduce_blocks(matrix.mechanism, poses, find_blocks(matrix.mechanism), columns, matrix.q):
        Z_scaled = block_null_space(reduced, spectrum(reduced.J).redundancy(tolerance))
        Z = np.zeros((len(matrix.rows), Z_scaled.shape[1]))
        Z[[position[label] for label in reduced.labels]] = Z_scaled * reduced.scale[:, None]
        parts.append(Z / np.linalg.norm(Z, axis=0))
    return np.hstack(parts) if parts else np.zeros((len(matrix.rows), 0))


# Gaps in the loops of a file due to its rounded angles.


def gaps_of_rounding(
    written: Mechanism, meant: Mechanism, q: Array, planar: str | None = None
) -> dict[RowLabel, float]:
    """Return the gaps of constraints, m and rad, with the angles as written, where the intended angles close the loops.

    They offset the successor, as a misfit does. Gaps of the intended mechanism itself are subtracted.

    Parameters
    ----------
    written, meant : Mechanism
        Mechanisms of the same file, with angles as written and as intended.
    q : (nq,) array
        The closed pose of ``meant``, rad and m.
    planar : str, optional
    """
    gaps, own = (_gaps(mech, q, planar) for mech in (written, meant))
    found = {label: gap - own.get(label, 0.0) for label, gap in gaps.items()}
    return {label: gap for label, gap in found.items() if abs(gap) > _NOTHING}


def _gaps(mech: Mechanism, q: Array, planar: str | None) -> dict[RowLabel, float]:
    """Return the position residual of every row at q (nq,), m and rad."""
    rows = constraint_rows(mech, q, np.zeros(len(mech.qd_names)), planar)
    return {label: gap for r in rows for label, gap in zip(r.labels, r.Phi.tolist(), strict=True)}


@dataclass(frozen=True, eq=False)
class ConstraintMatrix(Result):
    """Velocity constraints  C v + b = 0  and acceleration constraints  C v̇ = Γ, with labelled rows.

    Parameters
    ----------
    C : (m, n) sparse array
        n = 6N (3N when planar); twists [v; ω] in world axes at the centres of mass.
    b, Gamma : (m,) array
    Phi : (m,) array
        Position residual of the holonomic rows, m and rad; zero in Pfaffian rows.
    rows : tuple of (constraint, component)
        Holonomic rows first.
    columns : tuple of (body, component)
    holonomic_rows : int
        Number of holonomic rows.
    """

    C: scipy.sparse.csr_array
    b: Array
    Gamma: Array
    Phi: Array
    rows: tuple[RowLabel, ...]
    columns: tuple[tuple[str, str], ...]
    holonomic_rows: int
    mechanism: Mechanism
    q: Array
    planar: str | None = None

    def __repr__(self) -> str:
        rows, columns = self.C.shape
        facts = (f"{rows} × {columns}", f"{self.holonomic_rows} holonomic rows")
        return one_line(self, self.mechanism.name, facts)

    def left_null_space(self, tolerance: float = DEFAULT_TOLERANCE) -> Array:
        """Return Z (m, p), unit columns of self-stress with Cᵀ Z = 0, at a rank tolerance."""

        return left_null_space(self, tolerance)

    def _writers(self) -> Mapping[str, Callable[[Path], object]]:
        return {".npz": self._write_arrays, ".csv": self._write_table}

    def _write_arrays(self, path: Path) -> None:
        # NumPy would append .npz to a path, but not to an open file
        with path.open("wb") as file:
            np.savez_compressed(
                file,
                C=self.C.toarray(),
                b=self.b,
                Gamma=self.Gamma,
                Phi=self.Phi,
                rows=np.array(self.rows, dtype=str).reshape(-1, 2),
                columns=np.array(self.columns, dtype=str).reshape(-1, 2),
            )

    def _write_table(self, path: Path) -> None:
        """Write the dense matrix with labels."""
        labels = [f"{body} {component}" for body, component in self.columns]
        header = ["constraint", "component", *labels, "b", "Gamma", "Phi"]
        numbers = np.column_stack([self.C.toarray(), self.b, self.Gamma, self.Phi]).tolist()
        rows = ([*label, *row] for label, row in zip(self.rows, numbers, strict=True))
        write_csv(path, header, rows)


def constraint_matrix(
    mech: Mechanism, q: JointValues = None, qd: JointValues = None, *, planar: str | None = None
) -> ConstraintMatrix:
    """Return the labelled constraint matrix at joint coordinates q and rates qd.

    Parameters
    ----------
    mech : Mechanism
    q, qd : mapping or vector, optional
        Joint coordinates and rates; the pose is used as given, loops are not closed first.
    planar : "xy", "yz" or "zx", optional
        Project to three coordinates per body and drop the rows that vanish there.
    """
    q_vector = joint_vector(mech, q)
    blocks = constraint_rows(mech, q_vector, rate_vector(mech, qd), planar)
    return _assemble(mech, blocks, plane_columns(planar), q_vector, planar)


def constraint_rows(mech: Mechanism, q: Array, qd: Array, planar: str | None = None) -> list[Rows]:
    """Return the rows of the constraint matrix at coordinates q (nq,) and rates qd (nv,), by constraint."""
    poses = forward(mech, q)
    columns = plane_columns(planar)
    return [planar_rows(r, columns) for r in all_rows(mech, poses, q, body_twists(mech, poses, qd))]


def _assemble(
    mech: Mechanism, blocks: Sequence[Rows], columns: tuple[int, ...], q: Array, planar: str | None
) -> ConstraintMatrix:
    """Return the matrix of rows at q (nq,), holonomic ones first."""
    width = len(columns)
    labels = [label for r in blocks for label in r.labels]
    holonomic = np.concatenate([r.holonomic for r in blocks]) if blocks else np.zeros(0, bool)
    # holonomic rows over Pfaffian rows, each in the order of the constraints
    order = np.argsort(~holonomic, kind="stable")
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    data: list[Array] = []
    i: list[Array] = []
    j: list[Array] = []
    start = 0
    for r in blocks:
        k = len(r.components)
        for body, entry in r.entries:
            data.append(entry[:, columns].ravel())
            i.append(np.repeat(position[start : start + k], width))
            j.append(np.tile(width * body + np.arange(width), k))
        start += k
    shape = (len(labels), width * len(mech.bodies))
    triplets = tuple(np.concatenate(part) if part else np.zeros(0) for part in (data, i, j))
    # imported here because SciPy is slow to import and linting builds no matrix
    import scipy.sparse

    C = scipy.sparse.coo_array((triplets[0], (triplets[1].astype(int), triplets[2].astype(int))), shape)

    def stacked(name: str) -> Array:
        parts = [getattr(r, name) for r in blocks]
        out = np.asarray((np.concatenate(parts) if parts else np.zeros(0))[order], dtype=float)
        out.setflags(write=False)
        return out

    C = C.tocsr()
    C.eliminate_zeros()
    return ConstraintMatrix(
        C,
        stacked("b"),
        stacked("Gamma"),
        stacked("Phi"),
        tuple(labels[k] for k in order),
        tuple((body.name, TWIST_COLUMNS[c]) for body in mech.bodies for c in columns),
        int(holonomic.sum()),
        mech,
        q,
        planar,
    )


LOOSEST, TIGHTEST = 1e-2, 1e-12
#: Largest number of entries of a closure Jacobian for which singular values are computed.
LARGEST_DENSE = 40_000
#: Singular values that differ by less than this fraction are one jump of p, not two.
_SAME_JUMP = 1e-3
#: An entry of a unit self-stress above this is never rounding, however close the rank decision is.
LOADED = 1e-2
#: Step along the null space to a sample: rad, and travels in characteristic lengths.
_STEP = 0.5
#: Convergence of a sample: it only needs to be closed well enough for its rank.
_CONVERGED = 1e-8


# A mechanism at a pose for an analysis: in space or in a plane, at a rank tolerance.


@dataclass(frozen=True, eq=False)
class View:
    """A mechanism at a pose, in space or in a plane, at a rank tolerance.

    Parameters
    ----------
    q : (nq,) array
    columns : tuple of int
        Twist components of the view: all six, or the three of a plane.
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
        """Return the same view at another pose."""
        return self if q is self.q else replace(self, q=q)

    def locked(self, locks: Sequence[Lock]) -> View:
        """Return the same view with more joints locked at their current positions."""
        mech = replace(self.mech, locks=(*self.mech.locks, *locks))
        # locks change neither the tree nor the pose
        vars(mech)["tree"] = self.mech.tree
        held = replace(self, mech=mech)
        # a block without a lock is the same as before
        known = {ranked.block.constraints: ranked for ranked in self.blocks}
        vars(held).update(poses=self.poses, _rows=dict(self._rows), _known_blocks=known)
        return held

    def retyped(self, mech: Mechanism, q: Array, known: Iterable[RankedBlock] = ()) -> View:
        """Return the view of a mechanism with other pairs between the same bodies at their poses.

        Parameters
        ----------
        q : (nq,) array
            Coordinates of the other mechanism.
        known : iterable of RankedBlock
            Blocks of it with their ranks, from :meth:`ranked_in`.
        """
        view = replace(self, mech=mech, q=q)
        mine, rows = self.mech.pair_by_name, self._rows
        shared = {p.name: rows[p.name] for p in mech.pairs if p.name in rows and mine.get(p.name) is p}
        blocks = {ranked.block.constraints: ranked for ranked in known}
        vars(view).update(poses=self.poses, _rows=shared, _known_blocks=blocks)
        return view

    @cached_property
    def _rows(self) -> dict[str, Rows]:
        """The rows of constraints that are known at this pose."""
        return {}

    @cached_property
    def _known_blocks(self) -> dict[tuple[str, ...], RankedBlock]:
        """Blocks whose ranks are known, by their constraints."""
        return {}

    def ranked(self, blocks: Sequence[Block]) -> tuple[RankedBlock, ...]:
        """Return some blocks with their ranks."""
        rows = tuple(self._rows.values())
        found = rank_blocks(self.mech, self.poses, self.columns, self.tolerance, self.q, blocks, rows)
        self._rows.update((r.constraint, r) for ranked in found for r in ranked.reduced.rows)
        return found

    def ranked_in(self, mech: Mechanism, block: Block) -> RankedBlock:
        """Return a block with its rank in a mechanism with other pairs between the same bodies at their poses."""
        mine, known = self.mech.pair_by_name, self._rows
        same = (name for name in block.constraints if name in known and mine.get(name))
        rows = [known[name] for name in same if mech.pair_by_name.get(name) is mine[name]]
        (found,) = rank_blocks(mech, self.poses, self.columns, self.tolerance, blocks=(block,), rows=rows)
        return found

    @cached_property
    def blocks(self) -> tuple[RankedBlock, ...]:
        """All blocks with their ranks."""
        found, known = find_blocks(self.mech), self._known_blocks
        new = iter(self.ranked([block for block in found if block.constraints not in known]))
        return tuple(known.get(block.constraints) or next(new) for block in found)

    @cached_property
    def redundancy(self) -> int:
        """The degree of redundancy of all blocks together."""
        return redundancy(self.blocks)

    @cached_property
    def row_labels(self) -> dict[str, tuple[str, ...]]:
        """Row labels of every constraint; in space they follow from its type."""
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


@one_line_repr
@dataclass(frozen=True, eq=False)
class RankedBlock:
    """A reduced block with its spectrum and the rank decided at the tolerance.

    Parameters
    ----------
    spectrum : Spectrum
        Singular values; for a large block the sizes of the pivots, which decide its rank locally.
    tolerance : float
        Tolerance of the rank decision.
    elimination : Elimination or None
        For a large block only.
    """

    reduced: ReducedBlock
    spectrum: Spectrum
    redundancy: int
    tolerance: float
    elimination: Elimination | None = None

    @property
    def block(self) -> Block:
        """The block."""
        return self.reduced.block

    @cached_property
    def local_stresses(self) -> csr_array:
        """A sparse basis (m, p) of the scaled self-stresses of a large block; each loads few rows."""
        assert self.elimination is not None
        return local_stresses(self.reduced, self.elimination)

    @cached_property
    def orthonormal_stresses(self) -> csr_array:
        """A sparse orthonormal basis (m, p) of the scaled self-stresses of a large block."""
        local = self.local_stresses
        return (local @ banded_factor(local, np.zeros(local.shape[0])).inverse()).tocsr()

    @property
    def rank(self) -> int:
        """Rank of the closure Jacobian."""
        return self.spectrum.rows - self.redundancy

    @property
    def sigma_r(self) -> float:
        """Smallest nonzero singular value, relative; infinite at rank zero."""
        return float(self.spectrum.relative[self.rank - 1]) if self.rank else np.inf

    @property
    def sigma_next(self) -> float:
        """Largest singular value taken as zero, relative; 0 if there is none."""
        rest = self.spectrum.relative[self.rank :]
        return float(rest[0]) if rest.size else 0.0

    @property
    def zero(self) -> float:
        """Threshold below which an entry of a unit self-stress is zero.

        It allows for the singular values taken as zero and for the misfit of the pose: the axes of an open loop
        are known no better than its gap.
        """
        unknown = max(self.sigma_next, min(self.reduced.misfit, self.tolerance))
        return min(LOADED, max(1e-9, 10.0 * unknown / min(self.sigma_r, 1.0)))


@one_line_repr
@dataclass(frozen=True)
class Plateau:
    """A range of relative tolerances over which the degree of redundancy is constant."""

    start: float
    stop: float
    degree_of_redundancy: int


def rank_blocks(
    mech: Mechanism,
    poses: BodyPoses,
    columns: tuple[int, ...],
    tolerance: float,
    q: Array | None = None,
    blocks: Sequence[Block] | None = None,
    rows: Sequence[Rows] | None = None,
) -> tuple[RankedBlock, ...]:
    """Return the blocks (all of them by default) at a pose q (nq,), with their rank at a relative tolerance.

    ``rows`` as for :func:`reduce_blocks`.
    """
    chosen = find_blocks(mech) if blocks is None else blocks
    reduced = reduce_blocks(mech, poses, chosen, columns, q, rows)
    return tuple(_ranked(one, tolerance) for one in reduced)


def _ranked(reduced: ReducedBlock, tolerance: float) -> RankedBlock:
    if reduced.shape[0] * reduced.shape[1] <= LARGEST_DENSE:
        sigma = spectrum(reduced.J)
        return RankedBlock(reduced, sigma, sigma.redundancy(tolerance), tolerance)
    elimination = eliminate(reduced.entries, reduced.shape, tolerance)
    sizes = Spectrum(reduced.shape[0], np.concatenate((elimination.pivots, elimination.rejected)))
    return RankedBlock(reduced, sizes, elimination.redundancy, tolerance, elimination)


def plateaus(blocks: Sequence[RankedBlock]) -> tuple[Plateau, ...]:
    """Return the plateaus of p over tolerances from 1e-12 to 1e-2."""
    values = (v for b in blocks for v in b.spectrum.relative)
    jumps = sorted(float(v) for v in values if TIGHTEST < v < LOOSEST)
    out: list[Plateau] = []
    start = TIGHTEST
    for stop in (*jumps, LOOSEST):
        if stop < start * (1 + _SAME_JUMP) and stop != LOOSEST:
            start = stop
            continue
        p = sum(b.spectrum.redundancy(np.sqrt(start * stop)) for b in blocks)
        out.append(Plateau(out[-1].stop if out else TIGHTEST, stop, p))
        start = stop
    return tuple(out)


def pfaffian_rank(blocks: Sequence[RankedBlock], tolerance: float) -> int:
    """Return the rank of the Pfaffian rows alone, in absolute coordinates, body by body."""
    by_body: dict[int, list[Array]] = {}
    for ranked in blocks:
        length = ranked.reduced.length
        for rows in ranked.reduced.rest:
            if not rows.holonomic.all():
                body, entry = rows.entries[0]
                sized = entry[~rows.holonomic] * np.array([1.0] * 3 + [1.0 / length] * 3)
                by_body.setdefault(body, []).append(sized)
    return sum(spectrum(np.vstack(rows)).rank(tolerance) for rows in by_body.values())


# Self-stresses of a large block, stored only in the few rows that each loads.


def local_stresses(reduced: ReducedBlock, elimination: Elimination) -> csr_array:
    """Return a sparse basis (m, p) of the scaled self-stresses, with unit columns.

    Same as :meth:`ReducedBlock.self_stresses` of all null vectors, but only the nonzero entries: a loop loads its
    own joints, and its wrenches cancel on the bodies that carry it.
    """
    from scipy.sparse import csr_array

    mu = elimination.null_strips()
    nothing = Strip(np.zeros(0, dtype=int), np.zeros((1, 0)))
    on_body: dict[str, list[Strip]] = {}
    for body, rows, W in reduced.wrenches:
        own = stacked([mu.get(row, nothing) for row in range(rows.start, rows.stop)])
        on_body.setdefault(body, []).append(own.times(W.T * reduced.row_units[rows]))
    in_tree: dict[str, Strip] = {}
    for link in reversed(reduced.links):
        F = added(on_body.pop(link.outer, [Strip(nothing.columns, np.zeros((6, 0)))]))
        if link.rows is not None:
            in_tree[link.rows.constraint] = F.times(reduced.balancing[link.outer])
        if link.inner != WORLD and len(F.columns):
            on_body.setdefault(link.inner, []).append(F)
    strips = [in_tree[rows.constraint] for rows in reduced.tree_rows]
    units = reduced.row_units
    strips += [mu.get(row, nothing).times(units[[row], None]) for row in range(len(units))]
    data = np.concatenate([strip.values.ravel() for strip in strips])
    columns = np.concatenate([np.tile(strip.columns, len(strip.values)) for strip in strips])
    widths = np.concatenate([np.full(len(strip.values), len(strip.columns)) for strip in strips])
    size = np.sqrt(np.bincount(columns, data * data, elimination.redundancy))
    shape = (len(reduced.labels), elimination.redundancy)
    return csr_array((data / size[columns], columns, np.concatenate(([0], np.cumsum(widths)))), shape=shape)


# Sampled poses on the constraint manifold, to distinguish redundancy from a singular pose.


def sample_poses(mech: Mechanism, q: Array, count: int, *, seed: int = 0) -> Iterator[Array]:
    """Yield closed poses (nq,) near q (nq,), reached by a random step along the null space of the closures.

    Poses that cannot be closed are skipped, so there may be fewer than ``count``.
    """
    if not count:
        return
    rng = np.random.default_rng(seed)
    closure = Closure(mech, q)
    restrained = _restrained(closure, q)
    every = np.ones(len(mech.qd_names), dtype=bool)
    for _ in range(count):
        pose = closure.displaced(q, _STEP * _allowed(restrained, every.size, rng))
        pose = closure.solve(pose, every, _CONVERGED) if closure.constraints else pose
        if closure.closed(pose):
            yield pose


def _restrained(closure: Closure, q: Array) -> list[tuple[AnyArray, Array]]:
    """Return columns and an orthonormal row basis of the rates that the closures forbid at q (nq,), for each part."""
    if not closure.constraints or not closure.mech.qd_names:
        return []
    J = closure.linearise(q)[0]
    bases = []
    for rows, columns in independent_parts(J):
        _, sigma, Vt = np.linalg.svd(J[np.ix_(rows, columns)], full_matrices=False)
        bases.append((columns, np.asarray(Vt[sigma > DEFAULT_TOLERANCE * max(float(sigma[0]), 1e-300)])))
    return bases


def _allowed(restrained: list[tuple[AnyArray, Array]], count: int, rng: np.random.Generator) -> Array:
    """Return random rates (nv,) that the closures allow, with largest entry one."""
    rates = rng.normal(size=count)
    for columns, basis in restrained:
        rates[columns] -= basis.T @ (basis @ rates[columns])
    return np.asarray(rates / max(float(np.abs(rates).max(initial=0.0)), 1e-9))
