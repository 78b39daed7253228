"""Reduction of a block to joint rates: the scaled closure Jacobian, and statics back to all rows.

Tree pairs are independent by construction, so they are eliminated exactly and rank is decided on the
few rows that are left, J = C_rest S. The same tree carries a left null vector of J back
to the self-stress in every tree pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mbplugin.constraints.reduction.blocks import Block
from mbplugin.constraints.reduction.scaling import BlockFrame, characteristic_length, row_scale
from mbplugin.constraints.reduction.tree_joints import TreeJointRows, balancing, block_links
from mbplugin.constraints.rows.build import all_rows
from mbplugin.constraints.rows.planar import planar_rows
from mbplugin.constraints.rows.row import Rows
from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.mechanism.kinematics import BodyPoses
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.topology import spanning_tree
from mbplugin.model.spatial import Array, shift_rows
from mbplugin.phrases import one_line_repr

#: In a large loop distant joints have long lever arms and many joints add up; both would set the scale
#: and drown the other rows. Beyond ten times the ordinary size a rate, or a row, is measured in larger
#: units. It is the size that entries could have, not the one they have, so no rounding is blown up.
_LARGE = 10.0
#: Rows that act on two bodies alike cancel on the bodies that carry both, up to this.
_CANCELLED = 1e-12


@one_line_repr
@dataclass(frozen=True, eq=False)
class Entry:
    """A dense piece of J: rows of one closing constraint in the rates of one tree joint."""

    rows: slice
    rates: slice
    values: Array


@one_line_repr
@dataclass(frozen=True, eq=False)
class ReducedBlock:
    """The closure Jacobian of one block, dimensionless, and the way back to its tree pairs.

    Parameters
    ----------
    shape : (k, f)
        Of J: rows of closures, couplings, drivers, locks and Pfaffian constraints, in joint rates.
    entries : tuple of Entry
        The non-zero pieces of J.
    tree_rows, rest : tuple of Rows
        Rows of the tree pairs, and those of J.
    misfit : float
        The most that a pair leaves open at the pose, rad or lengths ℓ.
    row_units : (k,) array
        Of the rows of J.
    links : tuple of TreeJointRows
        The tree, outwards.
    wrenches : tuple of (str, slice, (n, 6) array)
        The body, the rows of J, and these rows on its twist about the block's point.
    """

    block: Block
    frame: BlockFrame
    shape: tuple[int, int]
    entries: tuple[Entry, ...]
    tree_rows: tuple[Rows, ...]
    rest: tuple[Rows, ...]
    misfit: float
    _indices: tuple[int, ...]
    row_units: Array
    links: tuple[TreeJointRows, ...]
    wrenches: tuple[tuple[str, slice, Array], ...]

    @cached_property
    def J(self) -> Array:
        """The closure Jacobian as one dense array, (k, f)."""
        J = np.zeros(self.shape)
        for entry in self.entries:
            J[entry.rows, entry.rates] = entry.values
        return J

    @property
    def length(self) -> float:
        """Characteristic length ℓ, m."""
        return self.frame.length

    @cached_property
    def rows(self) -> tuple[Rows, ...]:
        """Rows of the whole block: tree pairs first, then those of J."""
        return (*self.tree_rows, *self.rest)

    @cached_property
    def labels(self) -> tuple[RowLabel, ...]:
        """(constraint, component) of each row of the block."""
        return tuple(label for r in self.rows for label in r.labels)

    @cached_property
    def scale(self) -> Array:
        """Factor of each row of the block that makes it dimensionless, (m,)."""
        scales = [row_scale(r, self.length) for r in self.rows]
        return np.concatenate(scales) if scales else np.zeros(0)

    @cached_property
    def balancing(self) -> dict[str, Array]:
        """What takes a wrench on a body, about the block's point, to the multipliers (k,) of its tree joint."""
        carries = zip(self.links, balancing(self.links), strict=True)
        return {link.outer: matrix for link, matrix in carries}

    def dense(self) -> Array:
        """Return all rows of the block in absolute coordinates, dimensionless, (m, 6·bodies)."""
        C = np.zeros((len(self.labels), 6 * len(self.block.bodies)))
        column = {body: 6 * k for k, body in enumerate(self._indices)}
        start = 0
        for rows in self.rows:
            stop = start + len(rows.components)
            for body, entry in rows.entries:
                at = column[body]
                C[start:stop, at : at + 6] = self.frame.scaled(rows, entry) * self.frame.mask
            start = stop
        return C

    def about_common_point(self, rows: Rows, body: int, poses: BodyPoses) -> Array:
        """Return the dimensionless rows (k, 6) of a constraint on one body's twist at the point."""
        entry = next(e for b, e in rows.entries if b == body)
        return self.frame.rows_at(rows, entry, poses.p_WC[body], self.frame.point)

    def self_stresses(self, mu: Array) -> Array:
        """Carry left null vectors mu (k, p) of J by statics to all rows of the block, (m, p).

        The reaction in a tree pair balances the closure wrenches on the bodies it supports. Values
        are scaled: a multiplier in N or N·m is ``scale`` times its value here.
        """
        mu = mu * self.row_units[:, None]
        nothing = np.zeros((6, mu.shape[1]))
        on_body: dict[str, Array] = {}
        for body, rows, W in self.wrenches:
            on_body[body] = on_body.get(body, nothing) + W.T @ mu[rows]
        in_tree: dict[str, Array] = {}
        for link in reversed(self.links):
            F = on_body.pop(link.outer, None)
            if link.rows is not None:
                in_tree[link.rows.constraint] = self.balancing[link.outer] @ (nothing if F is None else F)
            if F is not None and link.inner != WORLD:
                on_body[link.inner] = on_body.get(link.inner, nothing) + F
        return np.vstack([*(in_tree[r.constraint] for r in self.tree_rows), mu])


def reduce_blocks(
    mech: Mechanism,
    poses: BodyPoses,
    blocks: Sequence[Block],
    columns: tuple[int, ...],
    q: Array | None = None,
) -> list[ReducedBlock]:
    """Return the scaled closure Jacobians of some blocks at a pose q (nq,), in space or in a plane."""
    members = frozenset(name for block in blocks for name in block.constraints)
    rows = {r.constraint: planar_rows(r, columns) for r in all_rows(mech, poses, q, names=members)}
    return [
        _reduce(mech, poses, block, {name: rows[name] for name in block.constraints}, columns)
        for block in blocks
    ]


def reduce_block(
    mech: Mechanism, poses: BodyPoses, block: Block, columns: tuple[int, ...], q: Array | None = None
) -> ReducedBlock:
    """Return the scaled closure Jacobian of one block at a pose q (nq,)."""
    return reduce_blocks(mech, poses, (block,), columns, q)[0]


def _reduce(
    mech: Mechanism, poses: BodyPoses, block: Block, rows: dict[str, Rows], columns: tuple[int, ...]
) -> ReducedBlock:
    points = poses.p_WC[[mech.body_index[name] for name in block.bodies]]
    mask = np.zeros(6)
    mask[list(columns)] = 1.0
    frame = BlockFrame(characteristic_length(list(rows.values()), points, mech), points.mean(axis=0), mask)
    pairs = [mech.pair_by_name[name] for name in block.constraints if name in mech.pair_by_name]
    tree = spanning_tree(block.bodies, pairs)
    links = block_links(mech, poses, tree, rows, frame, block.grounded)
    in_tree = frozenset(link.rows.constraint for link in links if link.rows is not None)
    rest = tuple(r for name, r in rows.items() if name not in in_tree)
    wrenches = _wrenches(mech, poses, rest, frame)
    shape = (sum(len(r.components) for r in rest), links[-1].rates.stop if links else 0)
    entries, row_units = _in_ordinary_units(_entries(links, wrenches), shape)
    return ReducedBlock(
        block,
        frame,
        shape,
        entries,
        tuple(r for name, r in rows.items() if name in in_tree),
        rest,
        _misfit([r for r in rest if r.constraint in mech.pair_by_name], frame.length),
        tuple(mech.body_index[name] for name in block.bodies),
        row_units,
        links,
        wrenches,
    )


def _misfit(rows: Sequence[Rows], length: float) -> float:
    """Return the largest position residual, rad or lengths."""
    gaps = [np.abs(r.Phi / np.where(r.translation, length, 1.0)) for r in rows]
    return max((float(gap.max(initial=0.0)) for gap in gaps), default=0.0)


def _wrenches(
    mech: Mechanism, poses: BodyPoses, rest: Sequence[Rows], frame: BlockFrame
) -> tuple[tuple[str, slice, Array], ...]:
    """Return (body, its rows of J, rows about the block's point) for all closing constraints."""
    places: list[tuple[str, slice]] = []
    items: list[tuple[Rows, Array, Array, Array]] = []
    start = 0
    for r in rest:
        if not r.components:
            # none lies in the plane; an empty slice would begin where the next constraint's does
            continue
        rows = slice(start, start + len(r.components))
        start = rows.stop
        for body, entry in r.entries:
            places.append((mech.bodies[body].name, rows))
            items.append((r, entry, poses.p_WC[body], frame.point))
    return tuple((*place, W) for place, W in zip(places, frame.rows_at_all(items), strict=True))


def _entries(
    links: Sequence[TreeJointRows], wrenches: Sequence[tuple[str, slice, Array]]
) -> list[tuple[Entry, Array]]:
    """Return the pieces of J, each with the size that its entries could have."""
    inward = {link.outer: link for link in links}
    # of all joints at once: one call for each would take longer than what it computes
    translations, rotations = _sizes(np.hstack([link.local for link in links]).T) if links else ((), ())
    speeds = {link.outer: (translations[link.rates], rotations[link.rates]) for link in links}
    out: list[tuple[Entry, Array]] = []
    by_rows: dict[int, list[tuple[str, slice, Array]]] = {}
    for wrench in wrenches:
        by_rows.setdefault(wrench[1].start, []).append(wrench)
    for together in by_rows.values():
        rows = together[0][1]
        acting: dict[str, Array] = {}
        for body, _, W in together:
            acting[body] = acting[body] + W if body in acting else W
        while acting:
            # from the outermost body inwards; what cancels on a common carrier stops there
            body = max(acting, key=lambda name: inward[name].depth)
            W, link = acting.pop(body), inward[body]
            if link.local.shape[1]:
                own = shift_rows(W, link.arm)
                # how large the entries could be, whatever the directions of rows and axes
                (force, moment), (v, omega) = _sizes(own), speeds[body]
                size = force[:, None] * v + moment[:, None] * omega
                out.append((Entry(rows, link.rates, own @ link.local), size))
            if link.inner != WORLD:
                total = acting[link.inner] + W if link.inner in acting else W
                acting[link.inner] = total
                if np.abs(total).max(initial=0.0) <= _CANCELLED:
                    del acting[link.inner]
    return out


def _in_ordinary_units(
    pieces: Sequence[tuple[Entry, Array]], shape: tuple[int, int]
) -> tuple[tuple[Entry, ...], Array]:
    """Return the pieces of J with large rates and rows in larger units, and the units of the rows."""
    largest, squares = np.zeros(shape[1]), np.zeros(shape[0])
    for entry, size in pieces:
        largest[entry.rates] = np.maximum(largest[entry.rates], size.max(axis=0, initial=0.0))
    rates = 1.0 / np.maximum(1.0, largest / _LARGE)
    for entry, size in pieces:
        squares[entry.rows] += ((size * rates[entry.rates]) ** 2).sum(axis=1)
    units = 1.0 / np.maximum(1.0, np.sqrt(squares) / _LARGE)
    return tuple(
        Entry(e.rows, e.rates, units[e.rows, None] * e.values * rates[e.rates]) for e, _ in pieces
    ), units


def _sizes(rows: Array) -> tuple[Array, Array]:
    """Return the lengths of the translation and of the rotation parts of rows (k, 6)."""
    force, moment = np.sqrt((rows * rows).reshape(-1, 2, 3).sum(axis=2)).T
    return force, moment
