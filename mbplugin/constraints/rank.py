"""Rank block by block: the spectra, the plateaus of redundancy, and the decision at the tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.constraints.reduction.blocks import Block, find_blocks
from mbplugin.constraints.reduction.frontal_qr import Elimination, eliminate
from mbplugin.constraints.reduction.local_stresses import local_stresses
from mbplugin.constraints.reduction.null_space import Spectrum, spectrum
from mbplugin.constraints.reduction.reduce import ReducedBlock, reduce_blocks
from mbplugin.model.mechanism.kinematics import BodyPoses
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array
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
