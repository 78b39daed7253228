"""Rank block by block: the spectra, the plateaus of redundancy, and the decision at the tolerance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.constraints.assembly import Closure, independent_parts
from mbplugin.constraints.matrix import Spectrum, spectrum
from mbplugin.constraints.reduction.frontal_qr import Elimination, Strip, added, eliminate, stacked
from mbplugin.constraints.reduction.reduce import Block, ReducedBlock, find_blocks, reduce_blocks
from mbplugin.constraints.rows import all_rows, planar_rows
from mbplugin.constraints.tolerance import DEFAULT_TOLERANCE
from mbplugin.model.mechanism.kinematics import BodyPoses, forward
from mbplugin.model.mechanism.mechanism import WORLD, Lock, Mechanism
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.phrases import one_line_repr

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LOOSEST, TIGHTEST = 1e-2, 1e-12
#: Entries of a closure Jacobian up to which its singular values are computed.
LARGEST_DENSE = 40_000
#: Singular values that differ by less than this fraction are one jump of p, not two.
_SAME_JUMP = 1e-3
#: An entry of a unit self-stress that is larger is none of rounding, however near the rank is to another.
LOADED = 1e-2
#: Size of the step along the null space that leads to a sample: rad, and travels against the length.
_STEP = 0.5
#: A sample only has to be closed well enough for its rank.
_CONVERGED = 1e-8


# A mechanism at a pose for an analysis: in space or in a plane, at a rank tolerance.


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


@one_line_repr
@dataclass(frozen=True, eq=False)
class RankedBlock:
    """A reduced block with its spectrum and the rank decided at the tolerance.

    Parameters
    ----------
    spectrum : Spectrum
        Singular values; of a large block the sizes of the pivots, which decide its rank locally.
    tolerance : float
        At which it was decided.
    elimination : Elimination or None
        Of a large block.
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
        """A basis (m, p) of the scaled self-stresses of a large block, each in the few rows that it loads."""
        assert self.elimination is not None
        return local_stresses(self.reduced, self.elimination)

    @cached_property
    def orthonormal_stresses(self) -> csr_array:
        """An orthonormal basis (m, p) of the scaled self-stresses of a large block, as far as each reaches."""
        from mbplugin.constraints.reduction.banded import banded_factor

        local = self.local_stresses
        return (local @ banded_factor(local, np.zeros(local.shape[0])).inverse()).tocsr()

    @property
    def rank(self) -> int:
        """Rank of the closure Jacobian."""
        return self.spectrum.rows - self.redundancy

    @property
    def sigma_r(self) -> float:
        """Smallest singular value that counts, relative; infinite where none does."""
        return float(self.spectrum.relative[self.rank - 1]) if self.rank else np.inf

    @property
    def sigma_next(self) -> float:
        """Largest singular value that does not count, relative."""
        rest = self.spectrum.relative[self.rank :]
        return float(rest[0]) if rest.size else 0.0

    @property
    def zero(self) -> float:
        """Size below which an entry of a unit self-stress is zero.

        What the rank decision takes for zero, and what the pose leaves open, may each be in it: where
        a loop does not close, its axes are known no better than that.
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
) -> tuple[RankedBlock, ...]:
    """Return the blocks (all of them by default) at a pose q (nq,), with their rank at a relative tolerance."""
    ranked = []
    for reduced in reduce_blocks(mech, poses, find_blocks(mech) if blocks is None else blocks, columns, q):
        ranked.append(_ranked(reduced, tolerance))
    return tuple(ranked)


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


# Self-stresses of a large block, each in the few rows that it loads.


def local_stresses(reduced: ReducedBlock, elimination: Elimination) -> csr_array:
    """Return a basis (m, p) of the scaled self-stresses, of columns of length one.

    The same as :meth:`ReducedBlock.self_stresses` of all null vectors, in the entries that are not zero: a loop
    loads its own joints, and its wrenches cancel on the bodies that carry it.
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

    A pose from which no closed one is found is left out, so fewer than ``count`` may come.
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
    """Return an orthonormal basis, one per row, of the rates that the closures forbid at q (nq,), part by part."""
    if not closure.constraints or not closure.mech.qd_names:
        return []
    J = closure.linearise(q)[0]
    bases = []
    for rows, columns in independent_parts(J):
        _, sigma, Vt = np.linalg.svd(J[np.ix_(rows, columns)], full_matrices=False)
        bases.append((columns, np.asarray(Vt[sigma > DEFAULT_TOLERANCE * max(float(sigma[0]), 1e-300)])))
    return bases


def _allowed(restrained: list[tuple[AnyArray, Array]], count: int, rng: np.random.Generator) -> Array:
    """Return random rates (nv,) of largest entry one that the closures allow."""
    rates = rng.normal(size=count)
    for columns, basis in restrained:
        rates[columns] -= basis.T @ (basis @ rates[columns])
    return np.asarray(rates / max(float(np.abs(rates).max(initial=0.0)), 1e-9))
