"""Reduction of a block to joint rates: the scaled closure Jacobian, and statics back to all rows.

Tree pairs are independent by construction, so they are eliminated exactly and rank is decided on the
few rows that are left, J = C_rest S (THEORY §3). The same tree carries a left null vector of J back
to the self-stress in every tree pair. All lengths are divided by one characteristic length ℓ, which
makes every row and every twist dimensionless.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mbplugin.constraints.blocks import Block
from mbplugin.constraints.build import all_rows
from mbplugin.constraints.planar import planar_rows
from mbplugin.constraints.rows import Rows
from mbplugin.mechanism.body import WORLD
from mbplugin.mechanism.kinematics import BodyPoses
from mbplugin.mechanism.mechanism import Mechanism
from mbplugin.mechanism.topology import SpanningTree, spanning_tree
from mbplugin.spatial import ROTATION, TRANSLATION, Array, shift_rows, shift_twists

#: A lever arm counts as zero below this fraction of the longest one, …
_LEVER_ARM_FLOOR = 1e-9
#: … and all of them do when the longest is rounding noise, m.
_NO_LEVER_ARM = 1e-12


#: In a large loop distant joints have long lever arms and many joints add up; both would set the scale
#: and drown the other rows. Beyond ten times the ordinary size a rate, or a row, is measured in larger
#: units. It is the size that entries could have, not the one they have, so no rounding is blown up.
_LARGE = 10.0


@dataclass(frozen=True, eq=False)
class _Link:
    """One tree joint of a block: motion axes about the common point and its own, rows about its own."""

    inner: str
    outer: str
    axes: Array
    local: Array
    rates: slice
    rows: Rows | None
    W: Array
    arm: Array


@dataclass(frozen=True, eq=False)
class ReducedBlock:
    """The closure Jacobian of one block, dimensionless, and the way back to its tree pairs.

    Parameters
    ----------
    block : Block
    J : (k, f) array
        Rows of closures, couplings, drivers, locks and Pfaffian constraints in joint rates.
    length : float
        Characteristic length ℓ, m.
    tree_rows, rest : tuple of Rows
        Rows of the tree pairs, and those of J.
    point : (3,) array
        The common point, near the block, m.
    """

    block: Block
    J: Array
    length: float
    tree_rows: tuple[Rows, ...]
    rest: tuple[Rows, ...]
    point: Array
    _row_units: Array
    _links: tuple[_Link, ...]
    _wrenches: tuple[tuple[str, int, Array], ...]
    _mask: Array

    @property
    def rows(self) -> tuple[Rows, ...]:
        """Rows of the whole block: tree pairs first, then those of J."""
        return (*self.tree_rows, *self.rest)

    @cached_property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """(constraint, component) of each row of the block."""
        return tuple((r.constraint, c) for r in self.rows for c in r.components)

    @property
    def scale(self) -> Array:
        """Factor of each row of the block that makes it dimensionless, (m,)."""
        scales = [row_scale(r, self.length) for r in self.rows]
        return np.concatenate(scales) if scales else np.zeros(0)

    def about_common_point(self, rows: Rows, body: int, poses: BodyPoses) -> Array:
        """Return the dimensionless rows (k, 6) of a constraint on one body's twist at the point."""
        entry = next(e for b, e in rows.entries if b == body)
        arm = (poses.p_WC[body] - self.point) / self.length
        return np.asarray(shift_rows(_dimensionless(rows, entry, self.length), arm) * self._mask)

    def self_stresses(self, mu: Array) -> Array:
        """Carry left null vectors of J, (k, p), by statics to all rows of the block, (m, p).

        The reaction in a tree pair balances the closure wrenches on the bodies it supports. Values
        are scaled: a multiplier in N or N·m is ``scale`` times its value here.
        """
        columns = mu.shape[1]
        mu = mu * self._row_units[:, None]
        on_body: dict[str, Array] = {}
        for body, start, W in self._wrenches:
            total = on_body.get(body, np.zeros((6, columns)))
            on_body[body] = total + W.T @ mu[start : start + len(W)]
        in_tree: dict[str, Array] = {}
        for link in reversed(self._links):
            F = on_body.pop(link.outer, None)
            if link.rows is not None:
                local = np.zeros((6, columns)) if F is None else shift_rows(F.T, link.arm).T
                balance = np.linalg.lstsq(link.W.T, -local * self._mask[:, None], rcond=None)[0]
                in_tree[link.rows.constraint] = balance
            if F is not None and link.inner != WORLD:
                on_body[link.inner] = on_body.get(link.inner, np.zeros((6, columns))) + F
        return np.vstack([*(in_tree[r.constraint] for r in self.tree_rows), mu])


def reduce_block(
    mech: Mechanism,
    poses: BodyPoses,
    block: Block,
    columns: tuple[int, ...],
    q: Array | None = None,
) -> ReducedBlock:
    """Return the scaled closure Jacobian of a block at a pose, in space or in a plane."""
    members = frozenset(block.constraints)
    rows = {r.constraint: planar_rows(r, columns) for r in all_rows(mech, poses, q, names=members)}
    points = poses.p_WC[[mech.body_index[name] for name in block.bodies]]
    length = characteristic_length(list(rows.values()), points)
    tree = spanning_tree(block.bodies, [p for p in mech.pairs if p.name in members])
    mask = np.zeros(6)
    mask[list(columns)] = 1.0
    point = points.mean(axis=0)
    links = _links(mech, poses, tree, rows, block.grounded, length, mask, point)
    in_tree = frozenset(link.rows.constraint for link in links if link.rows is not None)
    rest = tuple(r for name, r in rows.items() if name not in in_tree)
    wrenches = _wrenches(mech, poses, rest, length, mask, point)
    J, row_units = _closure_jacobian(links, wrenches, sum(len(r.components) for r in rest))
    return ReducedBlock(
        block,
        J,
        length,
        tuple(r for name, r in rows.items() if name in in_tree),
        rest,
        point,
        row_units,
        links,
        wrenches,
        mask,
    )


def characteristic_length(rows: Sequence[Rows], points: Array) -> float:
    """Return the median nonzero lever arm |rotation part|/|translation part| of the rows, m.

    Where there is none, the extent of the bodies' centres of mass ``points``; where that is zero too,
    1 m.
    """
    arms: list[float] = []
    for r in rows:
        for _, entry in r.entries:
            force = np.linalg.norm(entry[r.translation, TRANSLATION], axis=1)
            moment = np.linalg.norm(entry[r.translation, ROTATION], axis=1)
            arms.extend(moment[force > 0] / force[force > 0])
    lever_arms = np.array(arms)
    if lever_arms.size and lever_arms.max() > _NO_LEVER_ARM:
        return float(np.median(lever_arms[lever_arms > _LEVER_ARM_FLOOR * lever_arms.max()]))
    extent = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    return extent or 1.0


def row_scale(rows: Rows, length: float) -> Array:
    """Return the factor that makes each row dimensionless and of unit size, (k,)."""
    scale = np.where(rows.translation, 1.0 / length, 1.0)
    if rows.components == ("c",):
        # how large a ratio was written says nothing about the constraint
        size = np.array([length] * 3 + [1.0] * 3)
        largest = max(float(np.linalg.norm(_pure_part(e) * size)) for _, e in rows.entries)
        scale = np.array([1.0 / largest])
    return np.asarray(scale)


def _pure_part(entry: Array) -> Array:
    """Return a coupling's entry without the lever arm of its translations."""
    e = entry[0]
    return np.concatenate((e[:3], np.zeros(3))) if e[:3].any() else e


def _dimensionless(rows: Rows, entry: Array, length: float) -> Array:
    """Return scaled rows (k, 6) on dimensionless twists [v/ℓ, ω]."""
    return np.asarray(entry * np.array([length] * 3 + [1.0] * 3) * row_scale(rows, length)[:, None])


def _links(
    mech: Mechanism,
    poses: BodyPoses,
    tree: SpanningTree,
    rows: dict[str, Rows],
    grounded: bool,
    length: float,
    mask: Array,
    point: Array,
) -> tuple[_Link, ...]:
    """Return the tree joints of a block, outwards; their axes are what their rows leave free."""
    links: list[_Link] = []
    reference_chosen = grounded
    rates = 0
    for joint in tree.joints:
        body = mech.body_index[joint.outer]
        if joint.pair is None:
            # without the ground the first root is the reference: no row sees the block move as one
            axes = local = np.diag(mask)[:, mask > 0] if reference_chosen else np.zeros((6, 0))
            reference_chosen = True
            own, W, at = None, np.zeros((0, 6)), poses.p_WC[body]
        else:
            own = rows[joint.pair.name]
            successor = mech.body_index[joint.pair.body_b]
            at = poses.of(successor).apply(joint.pair.X_BS.p)
            entry = next(e for b, e in own.entries if b == body)
            W = shift_rows(_dimensionless(own, entry, length), (poses.p_WC[body] - at) / length) * mask
            local = _free_twists(W, mask)
            axes = shift_twists(local, (point - at) / length)
        slot = slice(rates, rates + axes.shape[1])
        rates = slot.stop
        links.append(_Link(joint.inner, joint.outer, axes, local, slot, own, W, (point - at) / length))
    return tuple(links)


def _free_twists(W: Array, mask: Array) -> Array:
    """Return an orthonormal basis (6, f) of the twists that independent rows W leave free.

    Its columns are pure translations and pure rotations where there are any.
    """
    inside = mask > 0
    Vt = np.linalg.svd(W[:, inside])[2] if len(W) else np.eye(int(inside.sum()))
    free = np.zeros((6, len(Vt) - len(W)))
    free[inside] = Vt[len(W) :].T
    return np.asarray(free @ np.linalg.svd(free[ROTATION])[2].T)


def _wrenches(
    mech: Mechanism, poses: BodyPoses, rest: Sequence[Rows], length: float, mask: Array, point: Array
) -> tuple[tuple[str, int, Array], ...]:
    """Return (body, first row, rows about the common point) for all rows of J."""
    out: list[tuple[str, int, Array]] = []
    start = 0
    for r in rest:
        for body, entry in r.entries:
            W = shift_rows(_dimensionless(r, entry, length), (poses.p_WC[body] - point) / length)
            out.append((mech.bodies[body].name, start, W * mask))
        start += len(r.components)
    return tuple(out)


def _closure_jacobian(
    links: Sequence[_Link], wrenches: Sequence[tuple[str, int, Array]], rows: int
) -> tuple[Array, Array]:
    """Return the rows of all closing constraints in joint rates, and the units of large rows."""
    inward = {link.outer: link for link in links}
    J = np.zeros((rows, links[-1].rates.stop if links else 0))
    possible = np.zeros_like(J)
    for body, start, W in wrenches:
        mine = slice(start, start + len(W))
        while (link := inward.get(body)) is not None:
            J[mine, link.rates] += W @ link.axes
            size = _possible_size(shift_rows(W, link.arm), link.local)
            possible[mine, link.rates] = np.maximum(possible[mine, link.rates], size)
            body = link.inner
    rates = 1.0 / np.maximum(1.0, possible.max(axis=0, initial=0.0) / _LARGE)
    row_units = 1.0 / np.maximum(1.0, np.linalg.norm(possible * rates, axis=1) / _LARGE)
    return row_units[:, None] * J * rates, row_units


def _possible_size(W: Array, twists: Array) -> Array:
    """Return how large the entries of rows W in each twist could be, whatever their directions."""
    force, moment = (np.linalg.norm(W[:, half], axis=1, keepdims=True) for half in (TRANSLATION, ROTATION))
    v, omega = (np.linalg.norm(twists[half], axis=0) for half in (TRANSLATION, ROTATION))
    return np.asarray(force * v + moment * omega)
