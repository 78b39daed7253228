"""Rank and null space of a large multi-joint connection to the ground, subassembly by subassembly.

The rows of the ground joints go up the binary tree with the motions of the bodies. Where a motion is
hidden from the neighbours, the rows are rotated so that few of them resist it (they are independent) and
the rest do not; the rest goes on. Rows that resist nothing any more are redundant. So every subassembly
hands on no more rows than it has shown motions, the work on each is bounded, and rank is decided where
it is local. The null space goes down the same tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from mbplugin.analysis.dca.subassembly.motions import Motions
from mbplugin.model.spatial import AnyArray, Array

#: Which rows (k,) these are, and their values (k, c) in some motions.
_Rows = tuple[AnyArray, Array]


@dataclass(frozen=True, eq=False)
class _Rotation:
    """Rows (k,) of one step, and what they are after U (k, k): absorbed, handed on, redundant."""

    slots: AnyArray
    U: Array
    absorbed: int
    live: int


@dataclass(frozen=True, eq=False)
class Supports:
    """The ground joints of a complete assembly, eliminated.

    Parameters
    ----------
    rows : int
        Rows of the ground joints.
    kept, rejected : arrays
        Sizes, against a row of unit length, of what counts and of what was taken for zero; decreasing.
    """

    rows: int
    kept: Array
    rejected: Array
    motions: Motions
    _rotations: Mapping[int, _Rotation]

    @property
    def rank(self) -> int:
        """Rank of the rows."""
        return len(self.kept)

    @property
    def sizes(self) -> Array:
        """What counts, and behind it the largest that do not, (rows,)."""
        out = np.zeros(self.rows)
        found = np.concatenate((self.kept, self.rejected))[: self.rows]
        out[: len(found)] = found
        return out

    def null_space(self) -> Array:
        """Return an orthonormal left null space (rows, rows − rank)."""
        redundant = [r.slots[r.absorbed + r.live :] for r in self._rotations.values()]
        N = np.zeros((self.rows, self.rows - self.rank))
        N[np.concatenate(redundant), np.arange(N.shape[1])] = 1.0
        for number in sorted(self._rotations, reverse=True):
            rotation = self._rotations[number]
            N[rotation.slots] = rotation.U @ N[rotation.slots]
        return N

    def null_space_by_body(self) -> list[_Rows]:
        """Return the rows (k,) on each body, with what the null space has there, L (k, c): N Nᵀ = L Lᵀ.

        The columns of L are c ≤ k combinations of all null vectors, so this costs as little as the rank.
        """
        above: dict[int, Array] = {}
        found = []
        for number in sorted(self._rotations, reverse=True):
            rotation = self._rotations[number]
            live = above.pop(number, np.zeros((0, 0)))
            own = np.eye(len(rotation.slots) - rotation.absorbed - rotation.live)
            inside = rotation.U[:, rotation.absorbed :] @ scipy.linalg.block_diag(live, own)
            start = 0
            for part, _ in self.motions.inside(number):
                if below := self._rotations.get(part):
                    above[part] = _compressed(inside[start : start + below.live])
                    start += below.live
            if not self.motions.steps[number].parts:
                found.append((rotation.slots, inside))
        return found


def eliminate_supports(
    motions: Motions, supports: Mapping[int, _Rows], rows: int, tolerance: float
) -> Supports:
    """Eliminate the ground joints of a complete assembly.

    Parameters
    ----------
    supports : mapping of body to arrays (k,) and (k, d)
        Which rows its ground joints have, and these as functions of its twist; of unit length in the motions
        of the complete assembly.
    rows : int
        How many there are on all bodies.
    tolerance : float
        What is larger counts.
    """
    live: dict[int, _Rows] = {}
    rotations: dict[int, _Rotation] = {}
    kept, rejected = [np.zeros(0)], [np.zeros(0)]
    for number, step in enumerate(motions.steps):
        if (arriving := _arriving(motions, number, supports, live)) is None:
            continue
        slots, values = arriving
        U, hidden, nothing = _independent(values[:, step.shown :], tolerance)
        kept.append(hidden)
        rejected.append(nothing)
        absorbed, values = len(hidden), (U.T @ values)[len(hidden) :, : step.shown]
        if len(values) > step.shown:
            V, handed_on, nothing = _independent(values, tolerance)
            rejected.append(nothing)
            U, values = U @ scipy.linalg.block_diag(np.eye(absorbed), V), (V.T @ values)[: len(handed_on)]
        rotations[number] = _Rotation(slots, U, absorbed, len(values))
        live[number] = slots[absorbed : absorbed + len(values)], values
    return Supports(rows, _decreasing(kept), _decreasing(rejected), motions, rotations)


def _arriving(
    motions: Motions, number: int, supports: Mapping[int, _Rows], live: dict[int, _Rows]
) -> _Rows | None:
    """Return the rows of a body, or those that the parts of a subassembly hand on, in its motions."""
    step = motions.steps[number]
    if not step.parts:
        return supports.get(step.body)
    below = [(live.pop(part), shown) for part, shown in motions.inside(number) if part in live]
    if not below:
        return None
    slots = np.concatenate([own for (own, _), _ in below])
    return slots, np.vstack([values @ step.M[shown] for (_, values), shown in below])


def _independent(values: Array, tolerance: float) -> tuple[Array, Array, Array]:
    """Return U (k, k) that rotates values (k, c) so that few rows are not zero, their sizes, and those below."""
    U, sigma, _ = np.linalg.svd(values)
    return U, sigma[sigma > tolerance], sigma[sigma <= tolerance]


def _compressed(L: Array) -> Array:
    """Return a matrix (k, c) with c ≤ k for L (k, n), with the same L Lᵀ."""
    return L if L.shape[1] <= len(L) else np.asarray(np.linalg.qr(L.T, mode="r")).T


def _decreasing(parts: Sequence[Array]) -> Array:
    """Return all values (n,), the largest first."""
    return np.sort(np.concatenate(parts))[::-1]
