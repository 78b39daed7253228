"""Constraint rows and scaled closure Jacobians of one mechanism at many poses at once.

Names and topology (labels, blocks, their trees) are those of the first pose, from
:mod:`mbplugin.constraints.reduction`; the numbers follow the same formulas with a leading axis over K poses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from mbplugin.constraints import reduction
from mbplugin.constraints.assembly import distinct, movable_sets_of
from mbplugin.constraints.closure import (
    CLOSED,
    CONVERGED,
    LIMIT_SLACK,
    Closure,
    Group,
    constraints_to_close,
    coupling_metres,
)
from mbplugin.constraints.descent import WORTH_PARTING, gauss_newton_at_poses
from mbplugin.constraints.moving import Frames, MovingTree
from mbplugin.constraints.rank import LARGEST_DENSE, ConstraintMatrix, View, redundancy
from mbplugin.constraints.rows import (
    JointFrames,
    Rows,
    pair_arrays,
    planar_rows,
    plane_columns,
    rate_arrays,
    rows_of,
)
from mbplugin.constraints.stated_state import closed_pose, stated_state
from mbplugin.errors import BadUsage, CannotClose
from mbplugin.model import BodyPoses, Pair, RowLabel, forward, has_quaternion
from mbplugin.model.mechanism import WORLD, Constraint, Coupling, Driver, Lock, Mechanism
from mbplugin.model.spatial import TWIST_COLUMNS, AnyArray, Array, cross, make_read_only, shift_rows
from mbplugin.phrases import one_line_repr

_SPACE = (0, 1, 2, 3, 4, 5)


# The constraint matrices of all poses.


@one_line_repr
@dataclass(frozen=True, eq=False)
class ConstraintMatrices:
    """Velocity constraints  C v + b = 0  and acceleration constraints  C v̇ = Γ at n poses, with labelled rows.

    ``matrices[k]`` is the :class:`ConstraintMatrix` of one pose.

    Parameters
    ----------
    C : (n, m, c) array
        c = 6N (3N when planar); twists [v; ω] in world axes at the centres of mass, m/s and rad/s.
    b, Gamma : (n, m) array
    Phi : (n, m) array
        Position residual of the holonomic rows, m and rad; zero in Pfaffian rows.
    rows : tuple of (constraint, component)
        Holonomic rows first.
    columns : tuple of (body, component)
    holonomic_rows : int
        Number of holonomic rows.
    q : (n, nq) array
        The poses, rad and m.
    """

    C: Array
    b: Array
    Gamma: Array
    Phi: Array
    rows: tuple[RowLabel, ...]
    columns: tuple[tuple[str, str], ...]
    holonomic_rows: int
    mechanism: Mechanism
    q: Array
    planar: str | None

    def __len__(self) -> int:
        return len(self.C)

    def __getitem__(self, pose: int) -> ConstraintMatrix:
        """Return the matrix of one pose."""
        from scipy.sparse import csr_array

        values = (csr_array(self.C[pose]), self.b[pose], self.Gamma[pose], self.Phi[pose])
        names = (self.rows, self.columns, self.holonomic_rows)
        return ConstraintMatrix(*values, *names, self.mechanism, self.q[pose], self.planar)

    def save(self, path: str | Path) -> None:
        """Write arrays and labels to an ``.npz`` file.

        Raises
        ------
        BadUsage
            The ending is another one.
        """
        if Path(path).suffix != ".npz":
            raise BadUsage(f"cannot write matrices to {str(path)!r}", expected="a name that ends in .npz")
        labels = [f"{constraint}.{component}" for constraint, component in self.rows]
        columns = [f"{body}.{component}" for body, component in self.columns]
        np.savez_compressed(
            path, C=self.C, b=self.b, Gamma=self.Gamma, Phi=self.Phi, q=self.q, rows=labels, columns=columns
        )


def constraint_matrices(
    mech: Mechanism, Q: Array, Qd: Array, planar: str | None = None
) -> ConstraintMatrices:
    """Return the constraint matrices at poses Q (n, nq) and rates Qd (n, nv); loops are not closed first.

    Raises
    ------
    BadUsage
        In a plane, other rows vanish at one pose than at the first.
    """
    columns = plane_columns(planar)
    whole = WholeTree(mech, Q)
    found = [_in_plane(r, columns) for r in rows_at_poses(whole, tuple(mech.constraints()), Qd)]
    labels = [label for r in found for label in r.rows.labels]
    flags = [np.zeros(0, dtype=bool), *(r.rows.holonomic for r in found)]
    order = np.argsort(~np.concatenate(flags), kind="stable")
    width = len(columns)
    C = np.zeros((len(Q), len(labels), width * len(mech.bodies)))
    start = 0
    for r in found:
        stop = start + len(r.rows.components)
        for body, entry in r.entries:
            C[:, start:stop, width * body : width * (body + 1)] += entry[:, :, columns]
        start = stop

    def stacked(parts: list[Array]) -> Array:
        return np.concatenate([np.zeros((len(Q), 0)), *parts], axis=1)[:, order]

    b = stacked([np.broadcast_to(r.rows.b, r.Phi.shape) for r in found])
    Gamma, Phi, C = stacked([r.Gamma for r in found]), stacked([r.Phi for r in found]), C[:, order]
    make_read_only(C, b, Gamma, Phi)
    names = tuple((body.name, TWIST_COLUMNS[c]) for body in mech.bodies for c in columns)
    count = int(np.concatenate(flags).sum())
    rows = tuple(labels[k] for k in order)
    return ConstraintMatrices(C, b, Gamma, Phi, rows, names, count, mech, np.array(Q), planar)


def _in_plane(rows: RowsAtPoses, columns: tuple[int, ...]) -> RowsAtPoses:
    """Return rows without those that vanish in a plane.

    Raises
    ------
    BadUsage
        Other rows vanish at one pose than at the first.
    """
    if len(columns) == 6:
        return rows
    each = [planar_rows(rows.at(k), columns) for k in range(len(rows.Phi))]
    for k, one in enumerate(each):
        if one.components != each[0].components:
            raise BadUsage(
                f"the rows of {rows.rows.constraint!r} in the plane at pose {k} are not those at pose 0",
                remedy="pass these poses one by one",
            )
    return _stacked(each)


# All bodies of a tree at many poses.


class WholeTree:
    """All joints of a tree at poses Q (K, nq), with columns in the order of ``qd_names``."""

    def __init__(self, mech: Mechanism, Q: Array) -> None:
        self.mech, self.Q = mech, Q
        self._tree = MovingTree(mech, range(len(mech.tree.joints)), forward(mech, Q[0]))
        self._order = np.argsort(self._tree.rates)

    @cached_property
    def _moving(self) -> Frames:
        return self._tree.frames(self.Q)

    @cached_property
    def axes(self) -> tuple[Array, Array]:
        """Velocities at the world's origin, and angular velocities, per unit rate, (K, nv, 3) each."""
        return self._moving.v0[:, self._order], self._moving.omega[:, self._order]

    @cached_property
    def X_WL(self) -> Array:
        """Transforms of all link frames, (K, N, 4, 4)."""
        anchors = [self._tree.anchor(body.name) for body in self.mech.bodies]
        X_AL = np.zeros((len(anchors), 4, 4))
        for k, (_, X) in enumerate(anchors):
            X_AL[k, :3, :3], X_AL[k, :3, 3], X_AL[k, 3, 3] = X.R, X.p, 1.0
        return np.asarray(self._moving.X[:, [node for node, _ in anchors]] @ X_AL)

    @cached_property
    def p_WC(self) -> Array:
        """Centres of mass, (K, N, 3), m."""
        p_LC = np.array([body.p_LC for body in self.mech.bodies]).reshape(-1, 3)
        return np.asarray(self.X_WL[..., :3, 3] + (self.X_WL[..., :3, :3] @ p_LC[:, :, None])[..., 0])

    def at(self, pose: int) -> BodyPoses:
        """Return the poses of all bodies at one pose."""
        X = self.X_WL[pose]
        return BodyPoses(X[:, :3, :3], X[:, :3, 3], self.p_WC[pose])

    @cached_property
    def moves(self) -> AnyArray:
        """Mask (N, nv) of the rates that move each body."""
        out = np.zeros((len(self.mech.bodies), len(self.mech.qd_names)), dtype=bool)
        index = self.mech.body_index
        for joint in self.mech.tree.joints:
            outer = index[joint.outer]
            if joint.inner != WORLD:
                out[outer] = out[index[joint.inner]]
            out[outer, joint.qd] = True
        return out

    def motion(self, Qd: Array) -> tuple[Array, Array]:
        """Return twists and accelerations without q̈ of all bodies, (K, N, 2, 3), at the world's origin, for Qd (K, nv).

        The second half of each is the angular part; the first belongs to the body's point at the origin.
        """
        v0_dot, omega_dot = self._tree.axis_rates(self._moving, Qd[:, self._tree.rates])
        return self.spread(Qd), self._spread((v0_dot[:, self._order], omega_dot[:, self._order]), Qd)

    def spread(self, Qd: Array) -> Array:
        """Return the twists of all bodies, (K, N, 2, 3), at the world's origin, for Qd (K, nv), or v̇ due to q̈."""
        return self._spread(self.axes, Qd)

    def _spread(self, axes: tuple[Array, Array], Qd: Array) -> Array:
        """Return the sums (K, N, 2, 3) of ``axes`` times Qd (K, nv) over the joints that carry each body."""
        out = np.zeros((len(self.Q), len(self.mech.bodies), 2, 3))
        index = self.mech.body_index
        for joint in self.mech.tree.joints:
            outer, own = index[joint.outer], joint.qd
            for half, values in enumerate(axes):
                out[:, outer, half] = (values[:, own] * Qd[:, own, None]).sum(axis=1)
            if joint.inner != WORLD:
                out[:, outer] += out[:, index[joint.inner]]
        return out

    def twists(self, Qd: Array) -> Array:
        """Return twists [v; ω] of all bodies at their centres of mass, (K, N, 6), for rates Qd (K, nv)."""
        nu, _ = self.motion(Qd)
        return np.concatenate((nu[:, :, 0] + cross(nu[:, :, 1], self.p_WC), nu[:, :, 1]), axis=2)


# Rows of constraints at many poses.


@dataclass(frozen=True, eq=False)
class RowsAtPoses:
    """Rows of one constraint at K poses.

    Parameters
    ----------
    rows : Rows
        Names and flags, with the numbers of the first pose.
    entries, parts : tuple of (int, (K, k, 6) array)
        As in :class:`Rows`.
    Gamma, Phi : (K, k) array
    """

    rows: Rows
    entries: tuple[tuple[int, Array], ...]
    parts: tuple[tuple[int, Array], ...]
    Gamma: Array
    Phi: Array

    def scale(self, length: Array) -> Array:
        """Return the factors (K, k) that make each row dimensionless, for length (K,), m."""
        if self.rows.components != ("c",):
            return np.where(self.rows.translation, 1.0 / length[:, None], 1.0)
        size = _sizes(length)
        pure = [reduction.pure_parts(e[:, 0]) * size for _, e in (*self.entries, *self.parts)]
        return np.asarray(1.0 / np.max([np.linalg.norm(p, axis=1) for p in pure], axis=0)[:, None])

    def scaled(self, entry: Array, length: Array) -> Array:
        """Return an ``entry`` (K, k, 6) on the twist [v/ℓ, ω], dimensionless, for length (K,), m."""
        return np.asarray(entry * self.scale(length)[:, :, None] * _sizes(length)[:, None, :])

    def at(self, pose: int) -> Rows:
        """Return the rows at one pose."""
        r = self.rows
        entries = tuple((body, entry[pose]) for body, entry in self.entries)
        parts = tuple((body, entry[pose]) for body, entry in self.parts)
        values = (r.b, self.Gamma[pose], self.Phi[pose], r.translation, r.holonomic)
        return Rows(r.constraint, r.components, entries, *values, parts)


def _sizes(length: Array) -> Array:
    """Return the units (K, 6) of the components of a twist for a characteristic ``length`` (K,), m."""
    out = np.ones((len(length), 6))
    out[:, :3] = length[:, None]
    return out


def _stacked(each: Sequence[Rows]) -> RowsAtPoses:
    """Return the rows of one constraint, computed pose by pose."""

    def over(name: str) -> tuple[tuple[int, Array], ...]:
        first = getattr(each[0], name)
        return tuple(
            (body, np.array([getattr(r, name)[k][1] for r in each])) for k, (body, _) in enumerate(first)
        )

    Gamma, Phi = np.array([r.Gamma for r in each]), np.array([r.Phi for r in each])
    return RowsAtPoses(each[0], over("entries"), over("parts"), Gamma, Phi)


def rows_at_poses(
    whole: WholeTree, constraints: Sequence[Constraint], Qd: Array | None = None
) -> list[RowsAtPoses]:
    """Return the rows of some constraints at all poses, in their order; rates Qd (K, nv) enter Γ only."""
    mech = whole.mech
    twists = whole.twists(Qd) if Qd is not None and Qd.any() else None
    first = rows_of(mech, constraints, whole.at(0), whole.Q[0], None if twists is None else twists[0])
    found: dict[str, RowsAtPoses] = {}
    templates = {r.constraint: r for r in first}
    pairs = [c for c in constraints if isinstance(c, Pair)]
    for kind in dict.fromkeys(pair.type for pair in pairs):
        alike = [pair for pair in pairs if pair.type == kind]
        found |= _of_pairs(whole, kind, alike, templates, twists)
    for constraint in constraints:
        if not isinstance(constraint, Pair):
            found[constraint.name] = _of_rates(
                whole, constraint, templates[constraint.name], twists
            ) or _stacked(list(_one_by_one(whole, constraint, twists)))
    return [found[c.name] for c in constraints]


def _one_by_one(whole: WholeTree, constraint: Constraint, twists: Array | None) -> Iterator[Rows]:
    """Yield the rows of a wheel, a contact or a measured closure at each pose, with twists (K, N, 6)."""
    for k, q in enumerate(whole.Q):
        yield rows_of(whole.mech, [constraint], whole.at(k), q, None if twists is None else twists[k])[0]


def _of_pairs(
    whole: WholeTree, kind: str, pairs: Sequence[Pair], templates: Mapping[str, Rows], twists: Array | None
) -> dict[str, RowsAtPoses]:
    """Return the rows of pairs of one type by name, with ``twists`` (K, N, 6) or at rest."""
    K, n = len(whole.Q), len(pairs)
    frames = _frames(whole, pairs, twists)
    on_a, on_b, Gamma, Phi = (x.reshape(K, n, *x.shape[1:]) for x in pair_arrays(kind, [*pairs] * K, frames))
    index, out = whole.mech.body_index, {}
    for k, pair in enumerate(pairs):
        sides = (index[pair.body_a], on_a), (index[pair.body_b], on_b)
        entries = tuple((i, e[:, k]) for i, e in sides if i >= 0)
        out[pair.name] = RowsAtPoses(templates[pair.name], entries, (), Gamma[:, k], Phi[:, k])
    return out


def _of_rates(
    whole: WholeTree, constraint: Constraint, template: Rows, twists: Array | None
) -> RowsAtPoses | None:
    """Return the rows of a coupling, driver or lock of tree joints with angles and travels, None for others.

    With ``twists`` (K, N, 6), or at rest.
    """
    mech = whole.mech
    terms: list[tuple[str, tuple[str, ...], float]]
    match constraint:
        case Coupling():
            terms = [(t.joint, (t.freedom,), t.coefficient) for t in constraint.terms]
        case Driver() | Lock():
            pair = mech.pair_by_name[constraint.joint]
            terms = [(constraint.joint, constraint.freedoms or pair.kind.free, 1.0)]
        case _:
            return None
    if isinstance(constraint, Coupling | Driver) and any(
        name not in mech.tree.joint_of_pair or has_quaternion(mech.pair_by_name[name].type)
        for name, _, _ in terms
    ):
        return None
    parts: list[tuple[int, Array]] = []
    Gamma = np.zeros((len(whole.Q), len(template.components)))
    Phi = np.zeros_like(Gamma)
    for name, freedoms, factor in terms:
        pair = mech.pair_by_name[name]
        on_a, on_b, own = rate_arrays(pair, freedoms, _frames(whole, [pair], twists))
        sides = (mech.body_index[pair.body_a], on_a), (mech.body_index[pair.body_b], on_b)
        parts += [(i, factor * e) for i, e in sides if i >= 0]
        Gamma += factor * own
        if not isinstance(constraint, Lock):
            start = mech.tree.joint_of_pair[name].q.start
            Phi += factor * whole.Q[:, [start + pair.kind.free.index(f) for f in freedoms]]
    if isinstance(constraint, Driver):
        Gamma = Gamma + constraint.acceleration
        Phi = Phi - constraint.value if constraint.value is not None else np.zeros_like(Phi)
        return RowsAtPoses(template, tuple(parts), (), Gamma, Phi)
    if isinstance(constraint, Lock):
        return RowsAtPoses(template, tuple(parts), (), Gamma, Phi)
    sums: dict[int, Array] = {}
    for body, entry in parts:
        sums[body] = sums[body] + entry if body in sums else entry
    return RowsAtPoses(template, tuple(sums.items()), tuple(parts), Gamma, Phi - constraint.offset)


def _frames(whole: WholeTree, pairs: Sequence[Pair], twists: Array | None) -> JointFrames:
    """Return the frames of n pairs at K poses, pose by pose, (K · n) of them; ``twists`` (K, N, 6)."""
    K, n = len(whole.Q), len(pairs)
    index = whole.mech.body_index
    a, b = [index[p.body_a] for p in pairs], [index[p.body_b] for p in pairs]
    # the ground follows the last body, so index −1 selects it
    X = np.concatenate((whole.X_WL, np.broadcast_to(np.eye(4), (K, 1, 4, 4))), axis=1)
    p_WC = np.concatenate((whole.p_WC, np.zeros((K, 1, 3))), axis=1)
    V = np.zeros((K, X.shape[1], 6))
    if twists is not None:
        V[:, :-1] = twists
    R_AP, R_BS = np.array([p.X_AP.R for p in pairs]), np.array([p.X_BS.R for p in pairs])
    p_AP, p_BS = np.array([p.X_AP.p for p in pairs]), np.array([p.X_BS.p for p in pairs])

    def flat(values: Array) -> Array:
        return values.reshape(K * n, *values.shape[2:])

    X_a, X_b = X[:, a], X[:, b]
    return JointFrames(
        [],
        [],
        flat(X_a[..., :3, :3] @ R_AP),
        flat(X_b[..., :3, :3] @ R_BS),
        flat(X_a[..., :3, 3] + (X_a[..., :3, :3] @ p_AP[:, :, None])[..., 0]),
        flat(X_b[..., :3, 3] + (X_b[..., :3, :3] @ p_BS[:, :, None])[..., 0]),
        flat(p_WC[:, a]),
        flat(p_WC[:, b]),
        flat(V[:, a, :3]),
        flat(V[:, b, :3]),
        flat(V[:, a, 3:]),
        flat(V[:, b, 3:]),
        twists is not None,
    )


# The scaled closure Jacobian of one block at many poses.


def characteristic_lengths(rows: Sequence[RowsAtPoses], points: Array, mech: Mechanism) -> Array:
    """Return :func:`characteristic_length` of rows at K poses, (K,), m, with points (K, n, 3), m."""
    parts = [e[:, r.rows.translation] for r in rows for _, e in r.entries]
    stacked = np.concatenate([np.zeros((len(points), 0, 6)), *parts], axis=1)
    force, moment = (np.linalg.norm(stacked[..., half], axis=2) for half in (slice(0, 3), slice(3, 6)))
    acts = force > 0
    arms = np.where(acts, moment / np.where(acts, force, 1.0), -1.0)
    longest = arms.max(axis=1, initial=-1.0)
    largest = np.abs(points).max(axis=(1, 2), initial=0.0)
    usual = longest > reduction.NOISE * np.maximum(largest, mech.largest_place)
    kept = np.sort(np.where(arms > reduction.LEVER_ARM_FLOOR * longest[:, None], arms, np.inf), axis=1)
    count = np.isfinite(kept).sum(axis=1)
    out = np.ones(len(points))
    for k in np.flatnonzero(~usual):
        out[k] = reduction.characteristic_length([r.at(int(k)) for r in rows], points[k], mech)
    some = np.flatnonzero(usual)
    low, high = kept[some, (count[some] - 1) // 2], kept[some, count[some] // 2]
    out[some] = (low + high) / 2
    return out


@dataclass(frozen=True, eq=False)
class ReducedAtPoses:
    """A block's dimensionless closure Jacobian at K poses; see :class:`ReducedBlock`.

    Parameters
    ----------
    template : ReducedBlock
        The block at the first pose: names, tree and slices.
    J : (K, k, f) array
    length, misfit : (K,) array
        Characteristic length, m; largest residual of its pairs, rad or lengths.
    row_units : (K, k) array
    own : tuple of (K, r, 6) array
        Rows of each tree joint on its outer body, about the joint's point.
    arms : tuple of (K, 3) array
        From the joint's point to the block's, in characteristic lengths.
    wrenches : tuple of (K, r, 6) array
        Rows of the closing constraints on each body, about the block's point.
    """

    template: reduction.ReducedBlock
    J: Array
    length: Array
    misfit: Array
    row_units: Array
    own: tuple[Array, ...]
    arms: tuple[Array, ...]
    wrenches: tuple[Array, ...]

    def self_stresses(self, mu: Array, poses: AnyArray) -> Array:
        """Return the self-stresses (n, m, p) of all rows from left null vectors mu (n, k, p) of J at ``poses`` (n,)."""
        mu = mu * self.row_units[poses][:, :, None]
        nothing = np.zeros((len(poses), 6, mu.shape[2]))
        on_body: dict[str, Array] = {}
        for (body, rows, _), W in zip(self.template.wrenches, self.wrenches, strict=True):
            on_body[body] = on_body.get(body, nothing) + np.swapaxes(W[poses], 1, 2) @ mu[:, rows]
        in_tree: dict[str, Array] = {}
        links = zip(self.template.links, self.own, self.arms, strict=True)
        for link, own, arm in reversed(list(links)):
            F = on_body.pop(link.outer, None)
            if link.rows is not None:
                carried = reduction.balancing_of(own[poses], arm[poses])
                in_tree[link.rows.constraint] = carried @ (nothing if F is None else F)
            if F is not None and link.inner != WORLD:
                on_body[link.inner] = on_body.get(link.inner, nothing) + F
        return np.concatenate([*(in_tree[r.constraint] for r in self.template.tree_rows), mu], axis=1)


def reduced_at_poses(
    whole: WholeTree, rows: Mapping[str, RowsAtPoses], template: reduction.ReducedBlock
) -> ReducedAtPoses:
    """Return the scaled closure Jacobian of a block, in space, at all poses; ``rows`` are those of its constraints."""
    mech, block, index = whole.mech, template.block, whole.mech.body_index
    points = whole.p_WC[:, [index[name] for name in block.bodies]]
    own_rows = [rows[name] for name in block.constraints]
    length, point = characteristic_lengths(own_rows, points, mech), points.mean(axis=1)
    inside = np.ones(6, dtype=bool)
    own, local, arms = [], [], []
    for link in template.links:
        body = index[link.outer]
        if link.rows is None:
            at, W = whole.p_WC[:, body], np.zeros((len(whole.Q), 0, 6))
        else:
            pair, r = mech.pair_by_name[link.rows.constraint], rows[link.rows.constraint]
            X_B = whole.X_WL[:, index[pair.body_b]]
            at = (
                X_B[:, :3, 3] + X_B[:, :3, :3] @ pair.X_BS.p
                if index[pair.body_b] >= 0
                else np.broadcast_to(pair.X_BS.p, (len(whole.Q), 3))
            )
            entry = next(e for b, e in r.entries if b == body)
            W = _about(r.scaled(entry, length), whole.p_WC[:, body] - at, length)
        own.append(W)
        arms.append((point - at) / length[:, None])
        free = reduction.free_twists(W, inside)
        local.append(free[:, :, : link.local.shape[1]])
    rest = [rows[r.constraint] for r in template.rest]
    wrenches = []
    for r in rest:
        for body, entry in r.entries if r.rows.components else ():
            wrenches.append(_about(r.scaled(entry, length), whole.p_WC[:, body] - point, length))
    J, units = _jacobian(template, wrenches, local, arms)
    gaps = [
        np.abs(r.Phi / np.where(r.rows.translation, length[:, None], 1.0)).max(axis=1, initial=0.0)
        for r in rest
        if r.rows.constraint in mech.pair_by_name
    ]
    misfit = np.max([np.zeros(len(whole.Q)), *gaps], axis=0)
    return ReducedAtPoses(template, J, length, misfit, units, tuple(own), tuple(arms), tuple(wrenches))


def alike_at_poses(view: View, Q: Array) -> tuple[list[ReducedAtPoses], list[reduction.Block]]:
    """Return the blocks that are reduced at all poses Q (n, nq) together, and those that need each pose for itself.

    A large block is decided by its pivots, and in a plane other rows may vanish at every pose.
    """
    mech = view.mech
    first = view.at(Q[0])
    templates = reduction.reduce_blocks(mech, first.poses, reduction.find_blocks(mech), view.columns, Q[0])
    in_space = len(view.columns) == 6
    alike = [t for t in templates if in_space and t.shape[0] * t.shape[1] <= LARGEST_DENSE]
    others = [template.block for template in templates if template not in alike]
    if not alike:
        return [], others
    whole = WholeTree(mech, Q)
    members = frozenset(name for template in alike for name in template.block.constraints)
    constraints = [c for c in mech.constraints() if c.name in members]
    rows = {r.rows.constraint: r for r in rows_at_poses(whole, constraints)}
    return [reduced_at_poses(whole, rows, template) for template in alike], others


def redundancy_at_poses(view: View, Q: Array) -> AnyArray:
    """Return the degree of redundancy (n,) at each of the closed poses Q (n, nq), as :attr:`View.redundancy` has it."""
    alike, others = alike_at_poses(view, Q)
    p = np.zeros(len(Q), dtype=int)
    for reduced in alike:
        _, rows, columns = reduced.J.shape
        p += rows
        if rows and columns:
            sigma = np.linalg.svd(reduced.J, compute_uv=False)
            p -= (sigma > view.tolerance * np.maximum(sigma[:, :1], 1.0)).sum(axis=1)
    if others:
        p += [redundancy(view.at(q).ranked(others)) for q in Q]
    return p


def _about(W: Array, arm: Array, length: Array) -> Array:
    """Return rows W (K, r, 6) about a point at ``arm`` (K, 3), m, before the old one; ``length`` (K,), m."""
    return shift_rows(W, (arm / length[:, None])[:, None, :])


def _jacobian(
    template: reduction.ReducedBlock, wrenches: Sequence[Array], local: Sequence[Array], arms: Sequence[Array]
) -> tuple[Array, Array]:
    """Return J (K, k, f) in ordinary units and the units of its rows (K, k).

    From rows on the bodies about the block's point, (K, r, 6), the free twists of each joint (K, 6, f) and its arm
    (K, 3), as ``reduction`` does for one pose.
    """
    K, (k, f) = len(arms[0]) if arms else len(wrenches[0]), template.shape
    inward = {link.outer: n for n, link in enumerate(template.links)}
    J, size = np.zeros((K, k, f)), np.zeros((K, k, f))
    by_rows: dict[int, list[tuple[str, slice, Array]]] = {}
    for (body, rows, _), W in zip(template.wrenches, wrenches, strict=True):
        by_rows.setdefault(rows.start, []).append((body, rows, W))
    for together in by_rows.values():
        rows, acting = together[0][1], dict[str, Array]()
        for body, _, W in together:
            acting[body] = acting[body] + W if body in acting else W
        while acting:
            body = max(acting, key=lambda name: template.links[inward[name]].depth)
            W, n = acting.pop(body), inward[body]
            link = template.links[n]
            if link.local.shape[1]:
                own = shift_rows(W, arms[n][:, None, :])
                J[:, rows, link.rates] = own @ local[n]
                (force, moment), (v, omega) = _halves(own, 2), _halves(local[n], 1)
                size[:, rows, link.rates] = (
                    force[:, :, None] * v[:, None] + moment[:, :, None] * omega[:, None]
                )
            if link.inner != WORLD:
                total = acting[link.inner] + W if link.inner in acting else W
                acting[link.inner] = total
                if np.abs(total).max(initial=0.0) <= reduction.CANCELLED:
                    del acting[link.inner]
    rates = 1.0 / np.maximum(1.0, size.max(axis=1, initial=0.0) / reduction.LARGE)
    squares = ((size * rates[:, None]) ** 2).sum(axis=2)
    units = 1.0 / np.maximum(1.0, np.sqrt(squares) / reduction.LARGE)
    return units[:, :, None] * J * rates[:, None], units


def _halves(values: Array, axis: int) -> tuple[Array, Array]:
    """Return the norms of both halves of six components along an ``axis`` of values (K, r, 6) or (K, 6, f)."""
    first, last = np.split(values, 2, axis=axis)
    return np.linalg.norm(first, axis=axis), np.linalg.norm(last, axis=axis)


#: Below this fraction of the closing threshold, Gauss–Newton steps alone close a pose, as in ``assembly``.
_NEARLY = 0.1


def closed_poses(mech: Mechanism, Q: Array) -> tuple[Array, Array]:
    """Return the closed poses (n, nq) near Q (n, nq), and the largest residual at the given ones, (n,), m.

    Each is the pose that :func:`mbplugin.constraints.assembly.assemble` finds from it.

    Raises
    ------
    CannotClose
        A loop cannot be closed; the message has the number of the pose.
    """
    constraints = constraints_to_close(mech)
    if not constraints:
        return np.array(Q), np.zeros(len(Q))
    whole = WholeTree(mech, Q)
    rows = rows_at_poses(whole, constraints)
    length = characteristic_lengths(rows, whole.p_WC, mech)
    metres = [_metres(constraint, r, length) for constraint, r in zip(constraints, rows, strict=True)]
    gaps, out = _largest(rows, metres), np.array(Q)
    is_open = gaps > CONVERGED * length
    near = np.flatnonzero(is_open & (gaps <= _NEARLY * CLOSED * length))
    if near.size:
        closure = Closure(mech, Q[near[0]])
        ends, done = out[near], np.ones(len(near), dtype=bool)
        for component in closure.components:
            own = np.concatenate([metres[k][near] for k in component.constraints], axis=1)
            ends, reached = _closed_together(closure, component, ends, own, length[near])
            done &= reached
        done &= ~_beyond_limits(mech, ends, length[near])
        out[near[done]] = ends[done]
        is_open[near[done]] = False
    for k in np.flatnonzero(is_open).tolist():
        try:
            out[k] = closed_pose(mech, stated_state(mech, Q[k], plausible=False, closing=True))[0].q
        except CannotClose as error:
            where = f"pose {k} of {len(Q)}"
            raise CannotClose(error.what, where=where, expected=error.expected, remedy=error.remedy) from None
    return out, gaps


def gaps_at_poses(mech: Mechanism, Q: Array) -> tuple[Array, Array]:
    """Return the largest residuals of the constraints at poses Q (n, nq), and characteristic lengths, (n,), m."""
    constraints = constraints_to_close(mech)
    if not constraints:
        return np.zeros(len(Q)), np.ones(len(Q))
    whole = WholeTree(mech, Q)
    rows = rows_at_poses(whole, constraints)
    length = characteristic_lengths(rows, whole.p_WC, mech)
    return _largest(rows, [_metres(c, r, length) for c, r in zip(constraints, rows, strict=True)]), length


def _largest(rows: Sequence[RowsAtPoses], metres: Sequence[Array]) -> Array:
    """Return the largest residuals (n,), m, for ``metres`` (n, k) per unit of each."""
    gaps = np.zeros(len(rows[0].Phi))
    for r, unit in zip(rows, metres, strict=True):
        gaps = np.maximum(gaps, np.abs(r.Phi * unit).max(axis=1, initial=0.0))
    return gaps


def _closed_together(
    closure: Closure, component: Group, Q: Array, metres: Array, length: Array
) -> tuple[Array, AnyArray]:
    """Return the ends (n, nq) of steps from nearly closed poses Q (n, nq), and which are closed, (n,) of bool.

    ``metres`` (n, r) per unit of the residuals of the component, and ``length`` (n,), m, are those of each pose. What
    needs more than the first set of rates that may change is left open.
    """
    mech, system = closure.mech, closure.system(component)
    movable = distinct(movable_sets_of(mech, np.zeros(len(closure.units), dtype=bool)), system.rates)[0].rates
    moving = movable[system.rates]
    if len(moving) >= WORTH_PARTING:
        return Q, np.zeros(len(Q), dtype=bool)
    travels = reduction.rate_scale(mech, 2.0)[system.rates] == 2.0
    units = np.where(travels, length[:, None], 1.0)

    def linearised(poses: AnyArray, q: Array) -> tuple[Array, Array]:
        J, Phi = system.in_lengths(q, metres[poses], units[poses])
        return J * moving, Phi

    def stepped(poses: AnyArray, q: Array, step: Array) -> Array:
        return system.advanced(q, step * units[poses])

    _, before = linearised(np.arange(len(Q)), Q)
    as_given = np.abs(before).max(axis=1, initial=0.0) <= CONVERGED * length
    ends, gap = gauss_newton_at_poses(linearised, stepped, Q, CONVERGED)
    ends[as_given], gap[as_given] = Q[as_given], 0.0
    for k in component.joints:
        joint = mech.tree.joints[k]
        if not movable[joint.qd].any():
            ends[:, joint.q] = Q[:, joint.q]
    # with all rates moving, a gap that is left is a misfit that no pose closes
    enough = CLOSED if moving.all() else CONVERGED
    return ends, gap <= enough * length


def _beyond_limits(mech: Mechanism, Q: Array, length: Array) -> AnyArray:
    """Return flags (n,) of the poses Q (n, nq), with ``length`` (n,), m, beyond a joint limit."""
    out = np.zeros(len(Q), dtype=bool)
    travels = reduction.rate_scale(mech, 2.0) == 2.0
    for joint in mech.tree.joints:
        if joint.pair is not None and len(joint.pair.freedoms) == 1:
            freedom, value = joint.pair.freedoms[0], Q[:, joint.q.start]
            unit = length if travels[joint.qd.start] else 1.0
            slack = LIMIT_SLACK * (unit + np.abs(value))
            if freedom.lower <= freedom.upper:
                out |= (value < freedom.lower - slack) | (value > freedom.upper + slack)
    return out


def _metres(constraint: Constraint, rows: RowsAtPoses, length: Array) -> Array:
    """Return the metres per unit of each residual, (n, k), for ``length`` (n,), m."""
    if isinstance(constraint, Coupling):
        return np.array([[coupling_metres(constraint, float(one))] for one in length])
    return np.where(rows.rows.translation, 1.0, length[:, None])
