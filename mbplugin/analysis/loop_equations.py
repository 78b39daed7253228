"""Dimensionless position equations of blocks at poses near a given one, in the rates that may change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from mbplugin.constraints.closure import Paths, Residuals, constraints_to_close
from mbplugin.constraints.moving import MovingTree
from mbplugin.constraints.rank import RankedBlock, View
from mbplugin.constraints.rows import VANISHED, Rows, freedom_value, rows_of
from mbplugin.model import AnyArray, Array, Constraint, Coupling, Driver, Lock, is_turn, rate_units
from mbplugin.phrases import dataclass

_IN_SPACE = 6


@dataclass(frozen=True, eq=False)
class Directions:
    """Directions of the rates of a block, by their entries that are not zero: a large block has too many others.

    Parameters
    ----------
    rates, numbers : (e,) int array
        The rate and the direction of each entry, among those of the block.
    values : (e,) array
    count : int
        Number of directions.
    """

    rates: AnyArray
    numbers: AnyArray
    values: Array
    count: int


@dataclass(frozen=True, eq=False)
class AlikeBlocks:
    """n blocks with Jacobians of the same shape: r rows, c rates and f admissible directions of the rates.

    Parameters
    ----------
    numbers : (n,) int array
        Block indices.
    rows, columns : (n, r) and (n, c) int array
        Row and column indices among those of all blocks.
    directions : tuple of Directions
        The admissible directions of each: rates that are not locked; in a plane, those that stay in it.
    rank : int or None
        Rank of the Jacobian in these directions; None if it must be found from the singular values.
    entries, places : (n, e) int array
        Indices of the Jacobian entries among all entries, and their positions in the flattened (r, c).
    """

    numbers: AnyArray
    rows: AnyArray
    columns: AnyArray
    directions: tuple[Directions, ...]
    rank: int | None
    entries: AnyArray
    places: AnyArray

    @cached_property
    def basis(self) -> Array:
        """The admissible directions as columns, (n, c, f)."""
        found = np.zeros((*self.columns.shape, self.directions[0].count))
        for basis, own in zip(found, self.directions, strict=True):
            basis[own.rates, own.numbers] = own.values
        return found

    def dense(self, values: Array) -> Array:
        """Return the dense Jacobians (D, n, r, f) from their entries ``values`` (D, N) at D poses."""
        D, (n, r), c = len(values), self.rows.shape, self.columns.shape[1]
        J = np.zeros((D, n, r * c))
        J[:, np.arange(n)[:, None], self.places] = values[:, self.entries]
        return np.asarray(J.reshape(D, n, r, c) @ self.basis)


class LoopEquations:
    """The position equations of some blocks, made dimensionless with each block's length.

    Locked or driven joints do not move; in a plane only rates that stay in it are used.

    Attributes
    ----------
    q : (nq,) array
        The pose from which steps are taken.
    alike : list of AlikeBlocks
        The blocks with position equations.
    units : (C,) array
        Units of the moving rates: the block's length for translations, 1 for rotations.
    """

    def __init__(self, view: View, blocks: Sequence[RankedBlock]) -> None:
        self.mech, self.q, self.tolerance, self.count = view.mech, view.q, view.tolerance, len(blocks)
        self.alike: list[AlikeBlocks] = []
        owner = {name: k for k, b in enumerate(blocks) for name in b.block.constraints}
        locked, equations = _equations(view, owner)
        if not equations:
            return
        constraints = [c for _, c in equations]
        paths = Paths(view.mech)
        joints = [paths.of(c) for c in constraints]
        rows = rows_of(view.mech, constraints, view.poses, view.q)
        moving = sorted(frozenset().union(*joints))
        self.residuals = Residuals(view.mech, constraints, rows, moving, view.poses)
        counted = _rows_in_plane(blocks, rows) if len(view.columns) < _IN_SPACE else {}
        scales = [
            _row_scale(c, r.translation, blocks[k].reduced.length)
            * counted.get(c.name, np.ones(len(r.components)))
            for (k, c), r in zip(equations, rows, strict=True)
        ]
        self._scale = np.where(self.residuals.holonomic, np.concatenate(scales), 0.0)
        self.units = np.ones(len(self.residuals.tree.rates))
        owned = [(k, c.name, own) for (k, c), own in zip(equations, joints, strict=True)]
        self._sort(view, blocks, owned, locked)
        pattern = self.residuals.pattern
        self._entries = self._scale[pattern.rows] * self.units[pattern.columns]

    def at(self, Q: Array) -> tuple[Array, Array]:
        """Return the entries (D, N) of the Jacobians and the residuals (D, r) at poses Q (D, nq)."""
        values, Phi = self.residuals.at(Q)
        return values * self._entries, Phi * self._scale

    def stepped(self, q: Array, step: Array) -> Array:
        """Return the pose (nq,) after a dimensionless step (C,) from q (nq,)."""
        return np.asarray(self.residuals.tree.advanced(q[None], (step * self.units)[None])[0])

    def advanced(self, Q: Array, moved: Sequence[AlikeBlocks], steps: Sequence[Array]) -> Array:
        """Return the poses (D, nq) after steps (D, n, f) of some blocks from Q (D, nq)."""
        step = np.zeros((len(Q), len(self.units)))
        for alike, y in zip(moved, steps, strict=True):
            step[:, alike.columns] = np.einsum("ncf,dnf->dnc", alike.basis, y)
        return np.asarray(self.residuals.tree.advanced(Q, step * self.units))

    def _sort(
        self,
        view: View,
        blocks: Sequence[RankedBlock],
        owned: Sequence[tuple[int, str, frozenset[int]]],
        locked: frozenset[int],
    ) -> None:
        """Group rows, rates and Jacobian entries by block, and the blocks by shape."""
        tree, pattern = self.residuals.tree, self.residuals.pattern
        rows: dict[int, list[int]] = defaultdict(list)
        joints: dict[int, set[int]] = defaultdict(set)
        for k, name, own in owned:
            at = self.residuals.slices[name]
            rows[k] += range(at.start, at.stop)
            joints[k] |= own
        travels = np.array([unit == "m/s" for unit in rate_units(view.mech)], dtype=bool)
        column_of = {int(rate): k for k, rate in enumerate(tree.rates)}
        in_plane = _planar_twists(tree, view) if len(view.columns) < _IN_SPACE else None
        row_block, row_place = np.zeros((2, pattern.shape[0]), dtype=int)
        column_place, width = np.zeros(pattern.shape[1], dtype=int), np.zeros(len(blocks), dtype=int)
        shapes: dict[tuple[int, ...], list[tuple[int, AnyArray, Directions]]] = defaultdict(list)
        ranks: dict[int, int | None] = {}
        for k, own_rows in rows.items():
            slices = [view.mech.tree.joints[j].qd for j in sorted(joints[k])]
            rates = np.array([rate for at in slices for rate in range(at.start, at.stop)], dtype=int)
            columns = np.array([column_of[rate] for rate in rates.tolist()], dtype=int)
            row_block[own_rows], row_place[own_rows] = k, np.arange(len(own_rows))
            column_place[columns], width[k] = np.arange(len(columns)), len(columns)
            self.units[columns] = np.where(travels[rates], blocks[k].reduced.length, 1.0)
            free = np.array([rate not in locked for rate in rates.tolist()], dtype=bool)
            directions = _unlocked(free) if in_plane is None else _in_plane(slices, in_plane[columns], free)
            rank = ranks[k] = _rank(view, blocks[k], directions.count, len(own_rows))
            shape = (len(own_rows), len(columns), directions.count, -1 - k if rank is None else rank)
            shapes[shape].append((k, columns, directions))
        block_of_entry = row_block[pattern.rows]
        order = np.argsort(block_of_entry, kind="stable")
        bounds = np.searchsorted(block_of_entry[order], np.arange(len(blocks) + 1))
        places = row_place[pattern.rows] * width[block_of_entry] + column_place[pattern.columns]
        for members in shapes.values():
            by_count: dict[int, list[tuple[int, AnyArray, Directions]]] = defaultdict(list)
            for member in members:
                by_count[int(bounds[member[0] + 1] - bounds[member[0]])].append(member)
            for same in by_count.values():
                entries = np.array([order[bounds[k] : bounds[k + 1]] for k, _, _ in same])
                self.alike.append(
                    AlikeBlocks(
                        np.array([k for k, _, _ in same]),
                        np.array([rows[k] for k, _, _ in same]),
                        np.array([columns for _, columns, _ in same]),
                        tuple(directions for _, _, directions in same),
                        ranks[same[0][0]],
                        entries,
                        places[entries],
                    )
                )


def _equations(view: View, owner: Mapping[str, int]) -> tuple[frozenset[int], list[tuple[int, Constraint]]]:
    """Return the rates fixed by locks and drivers, and the position equations as (block number, constraint).

    A lock or driver of a loop-closing pair becomes one equation for each of its freedoms.
    """
    mech = view.mech
    held: set[int] = set()
    equations: list[tuple[int, Constraint]] = [
        (owner[c.name], c)
        for c in constraints_to_close(mech)
        if not isinstance(c, Driver) and c.name in owner
    ]
    drives: list[Driver | Lock] = [*mech.drivers, *mech.locks]
    for c in drives:
        if c.name not in owner:
            continue
        pair = mech.pair_by_name[c.joint]
        joint = mech.tree.joint_of_pair.get(c.joint)
        for freedom in c.freedoms or pair.kind.free:
            if joint is not None:
                held.add(joint.qd.start + pair.kind.free.index(freedom))
                continue
            value = freedom_value(mech, pair, freedom, view.poses, view.q)
            equations.append((owner[c.name], Driver(f"{c.name} {freedom}", c.joint, (freedom,), value)))
    return frozenset(held), equations


def _rows_in_plane(blocks: Sequence[RankedBlock], rows: Sequence[Rows]) -> dict[str, Array]:
    """Return weights of the rows of each constraint: 1 if the row restrains planar motion, else 0.

    The other rows would only show rounding in the file.
    """
    kept = {r.constraint: frozenset(r.components) for b in blocks for r in b.reduced.rows}
    return {
        r.constraint: np.array([float(c in kept.get(r.constraint, r.components)) for c in r.components])
        for r in rows
    }


def _rank(view: View, ranked: RankedBlock, free: int, rows: int) -> int | None:
    """Return the rank that agrees with the rank decision of the block.

    None if the block has nonholonomic rows, or if that rank is impossible for ``rows`` rows in ``free`` rates.
    """
    names = set(ranked.block.constraints)
    if any(p.name in names and p.nonholonomic for p in view.mech.pfaffians):
        return None
    rank = free - (ranked.reduced.shape[1] - ranked.rank)
    return rank if 0 <= rank <= min(rows, free) else None


def _planar_twists(tree: MovingTree, view: View) -> Array:
    """Return the out-of-plane parts (C, 3) of the normalized twists per unit rate, at the origin."""
    frames = tree.frames(view.q[None])
    twists = np.hstack((frames.v0[0], frames.omega[0]))
    outside = [k for k in range(_IN_SPACE) if k not in view.columns]
    size = np.maximum(np.linalg.norm(twists, axis=1, keepdims=True), 1e-300)
    return np.asarray((twists / size)[:, outside])


def _unlocked(free: AnyArray) -> Directions:
    """Return each rate that is not locked, of ``free`` (c,) of bool, as a direction."""
    rates = np.flatnonzero(free)
    return Directions(rates, np.arange(len(rates)), np.ones(len(rates)), len(rates))


def _in_plane(slices: Sequence[slice], outside: Array, free: AnyArray) -> Directions:
    """Return the combinations of each joint's free rates that stay in the plane.

    ``outside`` (c, 3) holds the out-of-plane twists, ``free`` (c,) of bool the rates that are not locked.
    """
    found: list[tuple[AnyArray, Array]] = []
    start = 0
    for at in slices:
        stop = start + at.stop - at.start
        own = np.flatnonzero(free[start:stop])
        if own.size:
            _, sigma, Vt = np.linalg.svd(outside[start:stop][own].T)
            found += [(start + own, direction) for direction in Vt[int((sigma > VANISHED).sum()) :]]
        start = stop
    rates = np.concatenate([np.zeros(0, dtype=int), *(rates for rates, _ in found)])
    values = np.concatenate([np.zeros(0), *(direction for _, direction in found)])
    return Directions(
        rates, np.repeat(np.arange(len(found)), [len(own) for own, _ in found]), values, len(found)
    )


def _row_scale(constraint: Constraint, translation: AnyArray, length: float) -> Array:
    """Return the factors (k,) that make residuals dimensionless; ``translation`` (k,) is true for those in metres."""
    if isinstance(constraint, Coupling):
        terms = [abs(t.coefficient) * (1.0 if is_turn(t.freedom) else length) for t in constraint.terms]
        return np.array([1.0 / (max(terms, default=0.0) or 1.0)])
    return np.where(translation, 1.0 / length, 1.0)
