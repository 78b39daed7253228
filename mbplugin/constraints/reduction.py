"""Reduction of a block to joint rates: the scaled closure Jacobian, and statics to recover all rows.

Rows are dimensionless, with one characteristic length ℓ per block. Tree pairs are independent by construction,
so they are eliminated exactly, and rank is decided on the few remaining rows, J = C_rest S. Statics along the same
tree extend a left null vector of J to the self-stress in every tree pair.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property

import numpy as np

from mbplugin.constraints.rows import Rows, all_rows, planar_rows
from mbplugin.model import BodyPoses, Contact, Pair, joint_axes, mechanism
from mbplugin.model.mechanism.identity import DisjointSets, RowLabel, biconnected_components
from mbplugin.model.spatial import (
    COMPONENTS,
    ROTATION,
    TRANSLATION,
    AnyArray,
    Array,
    is_turn,
    shift_rows,
    shift_twists,
    skew,
)
from mbplugin.phrases import dataclass, median, one_line_repr

#: A lever arm counts as zero below this fraction of the longest one.
LEVER_ARM_FLOOR = 1e-9
#: A length counts as zero below this fraction of the largest coordinate it is computed from (rounding noise).
NOISE = 1e-12


@dataclass(frozen=True, eq=False)
class BlockFrame:
    """Reference of a block's dimensionless rows: lengths in units of ℓ, moments about one point.

    Parameters
    ----------
    length : float
        ℓ, m.
    point : (3,) array
        Near the block, so that lever arms stay small, m.
    mask : (6,) array
        One for the twist components of the view (space or a plane), else zero.
    """

    length: float
    point: Array
    mask: Array

    def rows_at_all(self, items: Sequence[tuple[Rows, Array, Array, Array]]) -> list[Array]:
        """Return :meth:`rows_at` of many (rows, entry, p_WC, at), vectorised over equal shapes."""
        out: list[Array] = [np.zeros((0, 6))] * len(items)
        by_count: dict[int, list[int]] = {}
        for k, (_, entry, _, _) in enumerate(items):
            by_count.setdefault(len(entry), []).append(k)
        for members in by_count.values():
            entries = np.array([items[k][1] for k in members])
            scale = np.array([row_scale(items[k][0], self.length) for k in members])
            arms = np.array([items[k][2] - items[k][3] for k in members]) / self.length
            sized = entries * scale[:, :, None] * ([self.length] * 3 + [1.0] * 3)
            for k, W in zip(members, shift_rows(sized, arms[:, None, :]) * self.mask, strict=True):
                out[k] = W
        return out

    def scaled(self, rows: Rows, entry: Array) -> Array:
        """Return dimensionless rows (k, 6) on a body's twist [v/ℓ, ω] at its centre of mass; entry (k, 6)."""
        return np.asarray(entry * row_scale(rows, self.length)[:, None] * ([self.length] * 3 + [1.0] * 3))

    def rows_at(self, rows: Rows, entry: Array, p_WC: Array, at: Array) -> Array:
        """Return dimensionless rows (k, 6) on a body's twist [v/ℓ, ω] at a point.

        Parameters
        ----------
        entry : (k, 6) array
            Coefficients on the body's twist at its centre of mass.
        p_WC, at : (3,) array
            The centre of mass and the point, m.
        """
        arm = (p_WC - at) / self.length
        return np.asarray(shift_rows(self.scaled(rows, entry), arm) * self.mask)


def characteristic_length(rows: Sequence[Rows], points: Array, mech: mechanism.Mechanism) -> float:
    """Return the median nonzero lever arm |rotation part|/|translation part| of the rows, m.

    If there is none, return the extent of the bodies' centres of mass ``points`` (n, 3); if that is zero too, the
    largest distance of a joint from a centre of mass; if all are zero, 1 m.
    """
    entries = [entry[r.translation] for r in rows for _, entry in r.entries]
    stacked = np.concatenate(entries) if entries else np.zeros((0, 6))
    force, moment = (np.linalg.norm(stacked[:, half], axis=1) for half in (TRANSLATION, ROTATION))
    lever_arms = moment[force > 0] / force[force > 0]
    noise = NOISE * max(float(np.abs(points).max(initial=0.0)), mech.largest_place)
    if lever_arms.size and lever_arms.max() > noise:
        return median(lever_arms[lever_arms > LEVER_ARM_FLOOR * lever_arms.max()].tolist())
    extent = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    if extent > noise:
        return extent
    return mech.largest_arm if mech.largest_arm > noise else 1.0


def rate_scale(mech: mechanism.Mechanism, length: float) -> Array:
    """Return the unit of each joint rate, (nv,): ``length`` (m) for travels, 1 rad for turns.

    Rates divided by it are comparable and independent of the unit of length.
    """
    scale = np.ones(len(mech.qd_names))
    for joint in mech.tree.joints:
        free = joint.pair.kind.free if joint.pair else COMPONENTS
        scale[joint.qd] = [1.0 if is_turn(component) else length for component in free]
    return scale


def row_scale(rows: Rows, length: float) -> Array:
    """Return the factor that makes each row dimensionless and of unit size, (k,)."""
    if rows.components != ("c",):
        return np.where(rows.translation, 1.0 / length, 1.0)
    # the scale of a coupling's coefficients is arbitrary, so it is normalised by its largest term before summation
    size = np.array([length] * 3 + [1.0] * 3)
    entries = (*rows.entries, *rows.parts)
    return np.array([1.0 / max(float(np.linalg.norm(pure_parts(e) * size)) for _, e in entries)])


def pure_parts(entries: Array) -> Array:
    """Return rows of couplings, entries (n, 6), without the lever arm of translations."""
    out = np.array(entries)
    out[out[:, :3].any(axis=1), 3:] = 0.0
    return out


# The tree velocity transformation v = S q̇, as a whole or applied to some rows.


@dataclass(frozen=True, eq=False)
class TreeMotion:
    """Motion axes of all joint rates about one common point, and the rates that move each body.

    Parameters
    ----------
    axes : (6, nv) array
        Twist per unit rate, world axes, at ``point``.
    point : (3,) array
        Near the mechanism, so that lever arms stay small.
    """

    mech: mechanism.Mechanism
    poses: BodyPoses
    axes: Array
    point: Array
    _paths: dict[str, AnyArray] = field(default_factory=dict)

    def path(self, body: str) -> AnyArray:
        """Return the indices (k,) of the k rates that move a body, inner ones first."""
        chain: list[str] = []
        while body != mechanism.WORLD and body not in self._paths:
            chain.append(body)
            body = self.mech.tree.joint_of_body[body].inner
        path = self._paths.get(body, np.zeros(0, dtype=int))
        for outer in reversed(chain):
            qd = self.mech.tree.joint_of_body[outer].qd
            path = np.concatenate((path, np.arange(qd.start, qd.stop)))
            self._paths[outer] = path
        return path

    def reduce(self, rows: Sequence[Rows]) -> Array:
        """Return rows in joint rates, C_rows S, shape (k, nv)."""
        out = np.zeros((sum(len(r.components) for r in rows), self.axes.shape[1]))
        start = 0
        for r in rows:
            stop = start + len(r.components)
            for body, entry in r.entries:
                path = self.path(self.mech.bodies[body].name)
                about_point = shift_rows(entry, self.poses.p_WC[body] - self.point)
                out[start:stop, path] += about_point @ self.axes[:, path]
            start = stop
        return out


def tree_motion(mech: mechanism.Mechanism, poses: BodyPoses) -> TreeMotion:
    """Return the motion axes of the spanning tree at a pose."""
    point = poses.p_WC.mean(axis=0) if len(mech.bodies) else np.zeros(3)
    axes = np.zeros((6, len(mech.qd_names)))
    for joint in mech.tree.joints:
        S, at = joint_axes(mech, joint, poses)
        axes[:, joint.qd] = shift_twists(S, point - at)
    return TreeMotion(mech, poses, axes, point)


def velocity_transformation(mech: mechanism.Mechanism, poses: BodyPoses) -> Array:
    """Return S (6N, nv): twists [v; ω] of all bodies per joint rate, world axes at the COMs."""
    motion = tree_motion(mech, poses)
    S = np.zeros((6 * len(mech.bodies), motion.axes.shape[1]))
    for i, body in enumerate(mech.bodies):
        path = motion.path(body.name)
        S[6 * i : 6 * i + 6, path] = shift_twists(motion.axes[:, path], poses.p_WC[i] - motion.point)
    return S


def body_twists(mech: mechanism.Mechanism, poses: BodyPoses, qd: Array) -> Array:
    """Return the twists (N, 6) of all bodies at joint rates qd (nv,)."""
    twists = np.zeros((len(mech.bodies), 6))
    if not qd.any():
        return twists
    motion = tree_motion(mech, poses)
    for joint in mech.tree.joints:
        step = motion.axes[:, joint.qd] @ qd[joint.qd]
        inner = mech.body_index[joint.inner]
        twists[mech.body_index[joint.outer]] = step + (twists[inner] if inner >= 0 else 0.0)
    # from the common point to each centre of mass
    arms = poses.p_WC - motion.point
    twists[:, TRANSLATION] -= np.einsum("nij,nj->ni", skew(arms), twists[:, ROTATION])
    return twists


def mass_matrix(mech: mechanism.Mechanism, poses: BodyPoses) -> Array:
    """Return M (6N, 6N), block-diagonal: m I and R I_C Rᵀ per body, world axes."""
    M = np.zeros((6 * len(mech.bodies), 6 * len(mech.bodies)))
    for i, body in enumerate(mech.bodies):
        R = poses.R_WL[i]
        M[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = body.mass * np.eye(3)
        M[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = R @ body.I_C @ R.T
    return M


_Bond = frozenset[str]
#: In a large loop distant joints have long lever arms and many joints add up; both would dominate the scale
#: of the other rows. A rate or row beyond ten times the ordinary size is therefore measured in larger units.
#: The bound of the entries counts, not their actual size, so rounding is not amplified.
LARGE = 10.0
#: Rows on two bodies cancel on a common carrier if the sum is below this.
CANCELLED = 1e-12


# The tree of a block: freedoms of each tree joint, and the wrench that its pair transmits.


@one_line_repr
@dataclass(frozen=True, eq=False)
class TreeJointRows:
    """One tree joint of a block, in the block's dimensionless frame.

    Parameters
    ----------
    inner, outer : str
        The bodies it joins, ``inner`` nearer to the root.
    depth : int
        Number of joints from the root to ``outer``.
    rates : slice
        Its columns of J.
    local : (6, f) array
        Orthonormal motion axes at the joint's point.
    rows : Rows or None
        Rows of its pair; None for a floating root.
    arm : (3,) array
        From the joint's point to the block's, in characteristic lengths.
    own : (k, 6) array
        The rows on the twist of ``outer`` at the joint's point.
    """

    inner: str
    outer: str
    depth: int
    rates: slice
    local: Array
    rows: Rows | None
    arm: Array
    own: Array


def block_links(
    mech: mechanism.Mechanism,
    poses: BodyPoses,
    tree: mechanism.SpanningTree,
    rows: Mapping[str, Rows],
    frame: BlockFrame,
    grounded: bool,
) -> tuple[TreeJointRows, ...]:
    """Return the tree joints of a block, outwards; their axes span the twists that their rows leave free."""
    at = [_joint_point(mech, poses, joint) for joint in tree.joints]
    W = _own_rows(mech, poses, tree, rows, frame, at)
    inside = frame.mask > 0
    free = _by_shape(W, lambda stack: free_twists(stack, inside))
    arms = [(frame.point - point) / frame.length for point in at]
    links: list[TreeJointRows] = []
    depth: dict[str, int] = {}
    rates, reference_chosen = 0, grounded
    for k, joint in enumerate(tree.joints):
        local = free[k]
        if joint.pair is None and not reference_chosen:
            # without ground the first root is the reference, since rigid motion of the block affects no row
            reference_chosen, local = True, np.zeros((6, 0))
        depth[joint.outer] = depth.get(joint.inner, 0) + 1
        slot = slice(rates, rates + local.shape[1])
        rates = slot.stop
        own = None if joint.pair is None else rows[joint.pair.name]
        links.append(
            TreeJointRows(joint.inner, joint.outer, depth[joint.outer], slot, local, own, arms[k], W[k])
        )
    return tuple(links)


def balancing(links: Sequence[TreeJointRows]) -> list[Array]:
    """Return, for each joint, the matrix (k, 6) from a wrench on ``outer`` about the block's point to its multipliers.

    These multipliers of the joint's rows balance the wrench.
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for k, link in enumerate(links):
        groups[len(link.own)].append(k)
    out: list[Array] = [np.zeros((0, 6))] * len(links)
    for members in groups.values():
        own, arms = (np.array([getattr(links[k], name) for k in members]) for name in ("own", "arm"))
        for k, matrix in zip(members, balancing_of(own, arms), strict=True):
            out[k] = matrix
    return out


def balancing_of(own: Array, arms: Array) -> Array:
    """Return the matrices (n, k, 6) of :func:`balancing` for joints with the rows ``own`` (n, k, 6) and arms (n, 3)."""
    carries = -np.linalg.pinv(np.swapaxes(own, 1, 2))
    shifts = shift_rows(np.broadcast_to(np.eye(6), (len(own), 6, 6)), arms[:, None, :])
    return np.asarray(carries @ np.swapaxes(shifts, 1, 2))


def _joint_point(mech: mechanism.Mechanism, poses: BodyPoses, joint: mechanism.TreeJoint) -> Array:
    """Return the point (3,) of a joint, m: the origin of S, or the centre of mass of a floating root."""
    if joint.pair is None:
        return np.asarray(poses.p_WC[mech.body_index[joint.outer]])
    return poses.of(mech.body_index[joint.pair.body_b]).apply(joint.pair.X_BS.p)


def _own_rows(
    mech: mechanism.Mechanism,
    poses: BodyPoses,
    tree: mechanism.SpanningTree,
    rows: Mapping[str, Rows],
    frame: BlockFrame,
    at: Sequence[Array],
) -> list[Array]:
    """Return each joint's rows (k, 6) on its outer body about the joint's point; no rows for a floating root."""
    out: list[Array] = [np.zeros((0, 6))] * len(at)
    paired = [k for k, joint in enumerate(tree.joints) if joint.pair is not None]
    items = []
    for k in paired:
        joint = tree.joints[k]
        assert joint.pair is not None
        body, own = mech.body_index[joint.outer], rows[joint.pair.name]
        items.append((own, next(e for b, e in own.entries if b == body), poses.p_WC[body], at[k]))
    for k, W in zip(paired, frame.rows_at_all(items), strict=True):
        out[k] = W
    return out


def free_twists(stack: Array, inside: AnyArray) -> Array:
    """Return orthonormal bases (n, 6, f) of the twists that independent rows, stack (n, k, 6), leave free.

    Columns are pure translations or pure rotations where possible; ``inside`` (6,) marks the components of the view.
    """
    rank = stack.shape[1]
    if rank:
        Vt = np.linalg.svd(stack[:, :, inside])[2]
    else:
        Vt = np.broadcast_to(np.eye(int(inside.sum())), (len(stack), *[int(inside.sum())] * 2))
    free = np.zeros((len(stack), 6, Vt.shape[1] - rank))
    free[:, inside] = np.swapaxes(Vt[:, rank:], 1, 2)
    if free.shape[2] < 2:
        return free
    return np.asarray(free @ np.swapaxes(np.linalg.svd(free[:, ROTATION])[2], 1, 2), dtype=float)


def _by_shape(matrices: list[Array], function: Callable[[Array], Array]) -> list[Array]:
    """Apply a function to stacks of equally shaped matrices and return its results in order."""
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for k, matrix in enumerate(matrices):
        groups[matrix.shape].append(k)
    out: list[Array] = [np.zeros(0)] * len(matrices)
    for members in groups.values():
        results = function(np.array([matrices[k] for k in members]))
        for k, result in zip(members, results, strict=True):
            out[k] = result
    return out


# Independent blocks of the constraint graph: sets of constraints that can share a self-stress.
#
# Nodes are the bodies and the ground. Every pair, driver, lock and Pfaffian row is a separate edge ("bond"), so
# two parallel bonds form a cycle; a coupling merges the blocks of its joints. A bond outside all cycles carries
# no self-stress.


@one_line_repr
@dataclass(frozen=True, eq=False)
class Block:
    """Constraints that can share a self-stress.

    Parameters
    ----------
    constraints : tuple of str
        In file order.
    bodies : tuple of str
        In file order, without the ground.
    grounded : bool
        Whether the ground is one of its nodes.
    """

    constraints: tuple[str, ...]
    bodies: tuple[str, ...]
    grounded: bool


def find_blocks(mech: mechanism.Mechanism) -> tuple[Block, ...]:
    """Return the blocks with more than one bond, in file order."""
    if not (mech.tree.cut or mech.couplings or mech.drivers or mech.locks or mech.pfaffians or mech.contacts):
        return ()
    bonds = {c.name: _bonds(mech, c) for c in mech.constraints()}
    block_of_bond = _merged_components(bonds)
    members: dict[int, list[str]] = defaultdict(list)
    count: Counter[int] = Counter()
    for name, own in bonds.items():
        if own:
            block = block_of_bond[own[0]]
            members[block].append(name)
            count[block] += len(own)
    return tuple(_block(mech, names, bonds) for block, names in members.items() if count[block] > 1)


def _bonds(mech: mechanism.Mechanism, constraint: mechanism.Constraint) -> list[_Bond]:
    """Return the body pairs that a constraint connects, one per edge of the graph."""
    match constraint:
        case Pair():
            tied = [constraint.bodies] if constraint.kind.constrained else []
        case mechanism.Coupling():
            tied = [mech.pair_by_name[term.joint].bodies for term in constraint.terms]
        case mechanism.Driver() | mechanism.Lock():
            tied = [mech.pair_by_name[constraint.joint].bodies]
        case mechanism.KnifeEdge() | mechanism.Rolling():
            rows = len(constraint.holonomic) + len(constraint.nonholonomic)
            tied = [(mechanism.WORLD, constraint.body)] * rows
        case Contact():
            tied = [(constraint.on, constraint.body)] * len(constraint.components)
    return [frozenset(ends) for ends in tied]


def _merged_components(bonds: dict[str, list[_Bond]]) -> dict[_Bond, int]:
    """Return the block of each bond: its biconnected component, merged where one constraint spans two."""
    edges = (tuple(bond) for own in bonds.values() for bond in own)
    components = biconnected_components((first, last) for first, *_, last in edges)
    component = {frozenset(edge): number for number, found in enumerate(components) for edge in found}
    merged: DisjointSets[int] = DisjointSets()
    for own in bonds.values():
        for bond in own[1:]:
            merged.join(component[bond], component[own[0]])
    return {bond: merged.find(number) for bond, number in component.items()}


def _block(mech: mechanism.Mechanism, names: list[str], bonds: dict[str, list[_Bond]]) -> Block:
    nodes = frozenset(node for name in names for bond in bonds[name] for node in bond)
    bodies = tuple(body.name for body in mech.bodies if body.name in nodes)
    return Block(tuple(names), bodies, mechanism.WORLD in nodes)


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
    """The dimensionless closure Jacobian of one block, and the statics of its tree pairs.

    Parameters
    ----------
    shape : (k, f)
        Of J: rows of closures, couplings, drivers, locks and Pfaffian constraints, in joint rates.
    entries : tuple of Entry
        The non-zero pieces of J.
    tree_rows, rest : tuple of Rows
        Rows of the tree pairs, and those of J.
    misfit : float
        Largest position residual of a pair at the pose, rad or lengths ℓ.
    row_units : (k,) array
        Units of the rows of J.
    links : tuple of TreeJointRows
        The tree, outwards.
    wrenches : tuple of (str, slice, (n, 6) array)
        Body, rows of J, and coefficients of these rows on the body's twist about the block's point.
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
        """Factor that makes each row of the block dimensionless, (m,)."""
        scales = [row_scale(r, self.length) for r in self.rows]
        return np.concatenate(scales) if scales else np.zeros(0)

    @cached_property
    def balancing(self) -> dict[str, Array]:
        """Matrix (k, 6) for each body from a wrench on it, about the block's point, to its tree joint's multipliers."""
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
        """Return the self-stresses (m, p) of all rows of the block from left null vectors mu (k, p) of J, by statics.

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
            if F is not None and link.inner != mechanism.WORLD:
                on_body[link.inner] = on_body.get(link.inner, nothing) + F
        return np.vstack([*(in_tree[r.constraint] for r in self.tree_rows), mu])


def reduce_blocks(
    mech: mechanism.Mechanism,
    poses: BodyPoses,
    blocks: Sequence[Block],
    columns: tuple[int, ...],
    q: Array | None = None,
    rows: Sequence[Rows] | None = None,
) -> list[ReducedBlock]:
    """Return the scaled closure Jacobians of some blocks at a pose q (nq,), in space or in a plane.

    Parameters
    ----------
    rows : sequence of Rows, optional
        Those of constraints of the blocks, in the plane, that are known.
    """
    known = {r.constraint: r for r in rows or ()}
    members = frozenset(name for block in blocks for name in block.constraints if name not in known)
    if members:
        more = (planar_rows(r, columns) for r in all_rows(mech, poses, q, names=members))
        known.update((r.constraint, r) for r in more)
    return [
        _reduce(mech, poses, block, {name: known[name] for name in block.constraints}, columns)
        for block in blocks
    ]


def reduce_block(
    mech: mechanism.Mechanism,
    poses: BodyPoses,
    block: Block,
    columns: tuple[int, ...],
    q: Array | None = None,
) -> ReducedBlock:
    """Return the scaled closure Jacobian of one block at a pose q (nq,)."""
    return reduce_blocks(mech, poses, (block,), columns, q)[0]


def _reduce(
    mech: mechanism.Mechanism, poses: BodyPoses, block: Block, rows: dict[str, Rows], columns: tuple[int, ...]
) -> ReducedBlock:
    points = poses.p_WC[[mech.body_index[name] for name in block.bodies]]
    mask = np.zeros(6)
    mask[list(columns)] = 1.0
    frame = BlockFrame(characteristic_length(list(rows.values()), points, mech), points.mean(axis=0), mask)
    pairs = [mech.pair_by_name[name] for name in block.constraints if name in mech.pair_by_name]
    tree = mechanism.spanning_tree(block.bodies, pairs)
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
    mech: mechanism.Mechanism, poses: BodyPoses, rest: Sequence[Rows], frame: BlockFrame
) -> tuple[tuple[str, slice, Array], ...]:
    """Return (body, its rows of J, rows about the block's point) for all closing constraints."""
    places: list[tuple[str, slice]] = []
    items: list[tuple[Rows, Array, Array, Array]] = []
    start = 0
    for r in rest:
        if not r.components:
            # no row in the plane; an empty slice would have the same start as the next constraint's
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
    """Return the pieces of J, each with an upper bound of its entries."""
    inward = {link.outer: link for link in links}
    # for all joints at once, since the overhead of a call per joint would dominate
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
            # from the outermost body inwards; rows that cancel on a common carrier end there
            body = max(acting, key=lambda name: inward[name].depth)
            W, link = acting.pop(body), inward[body]
            if link.local.shape[1]:
                own = shift_rows(W, link.arm)
                # bound of the entries for any directions of rows and axes
                (force, moment), (v, omega) = _sizes(own), speeds[body]
                size = force[:, None] * v + moment[:, None] * omega
                out.append((Entry(rows, link.rates, own @ link.local), size))
            if link.inner != mechanism.WORLD:
                total = acting[link.inner] + W if link.inner in acting else W
                acting[link.inner] = total
                if np.abs(total).max(initial=0.0) <= CANCELLED:
                    del acting[link.inner]
    return out


def _in_ordinary_units(
    pieces: Sequence[tuple[Entry, Array]], shape: tuple[int, int]
) -> tuple[tuple[Entry, ...], Array]:
    """Return the pieces of J with large rates and rows in larger units, and the units of the rows."""
    largest, squares = np.zeros(shape[1]), np.zeros(shape[0])
    for entry, size in pieces:
        largest[entry.rates] = np.maximum(largest[entry.rates], size.max(axis=0, initial=0.0))
    rates = 1.0 / np.maximum(1.0, largest / LARGE)
    for entry, size in pieces:
        squares[entry.rows] += ((size * rates[entry.rates]) ** 2).sum(axis=1)
    units = 1.0 / np.maximum(1.0, np.sqrt(squares) / LARGE)
    return tuple(
        Entry(e.rows, e.rates, units[e.rows, None] * e.values * rates[e.rates]) for e, _ in pieces
    ), units


def _sizes(rows: Array) -> tuple[Array, Array]:
    """Return the norms of the translation and rotation parts of rows (k, 6)."""
    force, moment = np.sqrt((rows * rows).reshape(-1, 2, 3).sum(axis=2)).T
    return force, moment
