"""Equations of motion in absolute coordinates: twists of all bodies, with constraint rows for every pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import scipy.linalg

from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.constraints.rank import rank_blocks
from mbplugin.constraints.reduction import characteristic_length, row_scale
from mbplugin.constraints.rows import Rows, all_rows, planar_rows, plane_columns, rows_of
from mbplugin.dynamics import NewtonEuler, newton_euler, spring_forces
from mbplugin.dynamics.formulations import Equations
from mbplugin.dynamics.kernels import composite_bodies
from mbplugin.dynamics.kernels.absolute import AbsoluteState
from mbplugin.dynamics.kernels.rows import RowTable, row_table, row_units
from mbplugin.dynamics.tree_model import TreeModel, resisted_freedoms
from mbplugin.errors import BrokenModel
from mbplugin.model import AnyArray, Array, Freedom, Pair, Pose, RowLabel, forward, shift_rows
from mbplugin.model.brakes import NO_FORCES, AppliedForces, rate_values, rest_values
from mbplugin.model.mechanism import WORLD, Constraint, Driver, Lock, Mechanism, TreeJoint
from mbplugin.phrases import listed


def absolute_equations(
    mech: Mechanism,
    q: Array,
    qd: Array,
    actions: AppliedForces = NO_FORCES,
    *,
    time: float = 0.0,
    planar: str | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
    degree_of_redundancy: int | None = None,
    resisting: Mapping[tuple[str, str], float] | None = None,
) -> Equations:
    """Return M v̇ = F + Cᵀλ, C v̇ = Γ in body twists at a closed state (wojtyra2013 (8)–(11)).

    Parameters
    ----------
    q, qd : (nq,), (nv,) array
        A state that satisfies the constraints.
    actions : AppliedForces
        Applied forces, springs, damping, friction and controller.
    time : float
        For the controller, s.
    planar : "xy", "yz" or "zx", optional
        Use only the twist components (x, y, φ) of this plane.
    tolerance : float
        Relative rank tolerance.
    degree_of_redundancy : int, optional
        p, if already decided (for example at the generic pose).
    resisting : mapping of (pair, component) to float, optional
        Forces along freedoms in addition to ``actions``, N and N·m: brakes, or friction decided elsewhere.

    Raises
    ------
    BrokenModel
        When M⁻¹ is first applied, if a body has no mass: its acceleration is then undetermined.
    """
    columns = plane_columns(planar)
    made = newton_euler(mech, q, qd, loads=actions.loads, payloads=actions.payloads)
    resisting = resisting or {}
    rows = [planar_rows(r, columns) for r in all_rows(mech, made.poses, q, made.twists)]
    M, F = _block_diagonal(made.M), applied_wrenches(mech, made, actions, time).ravel()
    _add_armature(mech, made, actions, M, F)
    for (pair, component), force in resisting.items():
        (row,) = rows_of(mech, (Driver("", pair, (component,)),), made.poses, made.q, made.twists)
        for body, entry in row.entries:
            F[6 * body : 6 * body + 6] += entry[0] * force
    kept = np.concatenate([6 * i + np.array(columns) for i in range(len(mech.bodies))])
    M, F = M[np.ix_(kept, kept)], F[kept]
    if degree_of_redundancy is None:
        degree_of_redundancy = sum(b.redundancy for b in rank_blocks(mech, made.poses, columns, tolerance, q))
    length = characteristic_length(rows, made.poses.p_WC, mech)
    size = np.tile(np.array([length] * 3 + [1.0] * 3)[list(columns)], len(mech.bodies))
    return Equations(
        "absolute",
        tuple(label for r in rows for label in r.labels),
        made.twists.ravel()[kept],
        M,
        F,
        _stack(rows, len(mech.bodies))[:, kept],
        _joined([r.b for r in rows]),
        _joined([r.Gamma for r in rows]),
        _joined([row_scale(r, length) for r in rows]),
        size,
        degree_of_redundancy,
        _Factor(mech, M),
    )


def _block_diagonal(blocks: Array) -> Array:
    """Return the block-diagonal matrix (6N, 6N) of blocks (N, 6, 6)."""
    M = np.zeros((6 * len(blocks), 6 * len(blocks)))
    for i, block in enumerate(blocks):
        M[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = block
    return M


class _Factor:
    """M⁻¹ by Cholesky factorisation of M (n, n), at its first use."""

    def __init__(self, mech: Mechanism, M: Array) -> None:
        self._mech, self._M = mech, M
        self._factor: tuple[Array, bool] | None = None

    def __call__(self, rhs: Array) -> Array:
        """Return M⁻¹ rhs, rhs (n,) or (n, k)."""
        if self._factor is None:
            try:
                self._factor = scipy.linalg.cho_factor(self._M)
            except np.linalg.LinAlgError:
                raise without_mass(self._mech, self._M) from None
        # a stage of too long a step may overflow; error control rejects that step
        return np.asarray(scipy.linalg.cho_solve(self._factor, rhs, check_finite=False))


def without_mass(mech: Mechanism, M: Array) -> BrokenModel:
    """Return the error that names the bodies without mass or inertia, from M (n, n) of all twists."""
    size = len(M) // len(mech.bodies)
    smallest = [np.linalg.eigvalsh(M[k : k + size, k : k + size])[0] for k in range(0, len(M), size)]
    names = [b.name for b, own in zip(mech.bodies, smallest, strict=True) if own <= max(0.0, min(smallest))]
    return BrokenModel(
        f"absolute coordinates need the mass and the inertia of every link, and {listed(names)} lacks them",
        remedy="state both, or use joint coordinates",
    )


def rate_rows(mech: Mechanism, made: NewtonEuler) -> Iterator[tuple[slice, Rows]]:
    """Yield the slice of rates of every moving tree pair, and the rows that measure these rates."""
    for joint in mech.tree.joints:
        if joint.pair is not None and joint.pair.kind.free:
            (rows,) = rows_of(mech, (Driver("", joint.pair.name),), made.poses, made.q, made.twists)
            yield joint.qd, rows


def applied_wrenches(mech: Mechanism, made: NewtonEuler, actions: AppliedForces, time: float) -> Array:
    """Return the wrenches (N, 6) on all bodies, without constraint forces and the inertia of drives.

    Gravity, gyroscopic and applied forces, and forces on joint rates: a force Q on the rates r·v is the wrench rᵀQ.
    """
    F: Array = made.F.copy()
    Q = tree_forces(mech, made.q, made.qd, actions, time)
    for joint in mech.tree.joints:
        if joint.pair is None:
            F[mech.body_index[joint.outer]] += Q[joint.qd]
    for at, rows in rate_rows(mech, made):
        for body, entry in rows.entries:
            F[body] += entry.T @ Q[at]
    for pair in mech.tree.cut:
        if pair.kind.free and (actions.damping or actions.friction):
            (rows,) = rows_of(mech, (Driver("", pair.name),), made.poses, made.q, made.twists)
            rates = sum((e @ made.twists[i] for i, e in rows.entries), np.zeros(len(pair.kind.free)))
            force = -np.array([_passive(f, r, actions) for f, r in zip(pair.freedoms, rates, strict=True)])
            for body, entry in rows.entries:
                F[body] += entry.T @ force
    for spring in actions.springs:
        for body, point, pull in spring_forces(mech, spring, made.poses, made.twists):
            wrench = np.concatenate((pull, np.zeros(3)))
            F[body] += shift_rows(wrench, point - made.poses.p_WC[body])
    return F


def _add_armature(mech: Mechanism, made: NewtonEuler, actions: AppliedForces, M: Array, F: Array) -> None:
    """Add the inertia of drives to M (6N, 6N) and F (6N,)."""
    armature = rate_values(mech, actions.armature, "armature")
    for joint in mech.tree.joints:
        if joint.pair is None:
            own = np.arange(6) + 6 * mech.body_index[joint.outer]
            M[own, own] += armature[joint.qd]
    for at, rows in rate_rows(mech, made):
        for body, entry in rows.entries:
            F[6 * body : 6 * body + 6] += entry.T @ (armature[at] * rows.Gamma)
            for other, row in rows.entries:
                M[6 * body : 6 * body + 6, 6 * other : 6 * other + 6] += entry.T @ (armature[at, None] * row)


def tree_forces(mech: Mechanism, q: Array, qd: Array, actions: AppliedForces, time: float) -> Array:
    """Return the generalised forces (nv,) of damping, friction, joint springs, torques and controller.

    At q (nq,) and qd (nv,); N·m and N.
    """
    Q = rate_values(mech, actions.torques, "a torque")
    stiffness, rest = rest_values(mech, actions.joint_springs)
    at = {name: k for k, name in enumerate(mech.q_names)}
    for k in np.flatnonzero(stiffness).tolist():
        Q[k] -= stiffness[k] * (q[at[mech.qd_names[k]]] - rest[k])
    for joint in mech.tree.joints:
        if joint.pair is not None:
            for k, freedom in enumerate(joint.pair.freedoms, joint.qd.start):
                Q[k] -= _passive(freedom, qd[k], actions)
    if actions.controller is not None:
        Q += np.asarray(actions.controller(time, q, qd), dtype=float)
    return Q


def _passive(freedom: Freedom, rate: float, actions: AppliedForces) -> float:
    """Return the damping and sliding friction of a freedom at a rate, with the sign of the rate."""
    viscous = freedom.damping * rate if actions.damping else 0.0
    return float(viscous + (freedom.friction * np.sign(rate) if actions.friction else 0.0))


def _stack(rows: list[Rows], bodies: int) -> Array:
    """Return the coefficients (m, 6N) of all rows on the twists of N bodies."""
    C = np.zeros((sum(len(r.components) for r in rows), 6 * bodies))
    start = 0
    for r in rows:
        stop = start + len(r.components)
        for body, entry in r.entries:
            C[start:stop, 6 * body : 6 * body + 6] += entry
        start = stop
    return C


def _joined(parts: list[Array]) -> Array:
    """Return the concatenated parts, (m,)."""
    return np.concatenate(parts) if parts else np.zeros(0)


# Kernel records in absolute coordinates: every body separate, rows for every pair.


@dataclass(frozen=True, eq=False)
class AbsoluteModel:
    """Kernel records of a mechanism in absolute coordinates, in addition to those of its tree.

    Parameters
    ----------
    tree : TreeModel
    table : RowTable
        Rows of all constraints: first the permanent ones, then locks and resisted freedoms as in the tree, then
        those that measure the rates of the tree.
    counted : (m,) array of bool
        True for rows that do not vanish in the plane; without the rows that measure rates.
    state : AbsoluteState
        The state without active rows.
    """

    tree: TreeModel
    table: RowTable
    counted: AnyArray
    state: AbsoluteState

    def holding(
        self, active: Sequence[int], degree_of_redundancy: int, dropped: Sequence[RowLabel] = ()
    ) -> AbsoluteState:
        """Return the state in which all permanent rows and the rows ``active`` (as numbered in the tree) hold.

        Parameters
        ----------
        degree_of_redundancy : int
            p of all rows that hold.
        dropped : sequence of RowLabel
            p rows to leave out; if empty, they are chosen at each pose.
        """
        own, in_tree = self.table.persistent, self.tree.table.persistent
        rows = [*range(own), *(i - in_tree + own for i in active if i >= in_tree)]
        rows = [i for i in rows if self.counted[i]]
        rank = len(rows) - degree_of_redundancy
        rows = [i for i in rows if self.table.labels[i] not in dropped]
        m, n = len(rows), len(self.state.v_dot)
        return self.state._replace(
            candidates=np.array(rows, dtype=np.int64),
            order=np.zeros(m, dtype=np.int64),
            G=np.zeros((m, n)),
            R=np.zeros((min(rank, m), m)),
            multipliers=np.zeros(m),
        )


def absolute_model(tree: TreeModel, q: Array, locks: Sequence[Constraint] = ()) -> AbsoluteModel:
    """Return the records of a mechanism in absolute coordinates.

    Parameters
    ----------
    q : (nq,) array
        Pose at which to detect the rows that vanish in a plane.
    locks : sequence of constraints
        Those that the tree was built with.
    """
    mech, actions, columns = tree.mech, tree.actions, plane_columns(tree.planar)
    composites = composite_bodies.find_composites(mech, actions.payloads, apart=True)
    freedoms = [(pair, freedom) for pair, freedom, _ in resisted_freedoms(mech, actions)]
    pairs = [joint.pair or _free_pair(mech, joint) for joint in mech.tree.joints]
    rates = [(pair, freedom) for pair in pairs for freedom in pair.kind.free]
    table = row_table(
        mech, composites, locks=cast(Sequence[Lock], locks), resisted=[*freedoms, *rates], every_pair=True
    )
    table.rows["unit"][: len(table.labels)] = row_units(table, tree.length)
    first = len(table.labels) - len(rates)
    w, n = len(columns), len(columns) * len(mech.bodies)
    measured = _measured_rates(mech, first)
    state = AbsoluteState(
        bodies=_body_records(tree, composites),
        joint_frames=table.joint_frames,
        rows=table.rows,
        terms=table.terms,
        loads=composite_bodies.load_records(mech, composites, actions),
        springs=composite_bodies.spring_records(mech, composites, actions),
        resistances=tree.resistances.copy(),
        columns=np.array(columns, dtype=np.int64),
        measured=measured,
        resisted=np.array([first - len(freedoms)], dtype=np.int64),
        candidates=np.zeros(0, dtype=np.int64),
        order=np.zeros(0, dtype=np.int64),
        applied=np.zeros(len(tree.rates)),
        first=_first_columns(table, measured[tree.rates["armature"] != 0], w, n),
        M=np.zeros((n, n)),
        v_dot=np.zeros(n),
        G=np.zeros((0, n)),
        R=np.zeros((0, 0)),
        multipliers=np.zeros(0),
    )
    return AbsoluteModel(tree, table, _counted(tree, table.labels[:first], q, locks, freedoms), state)


def _body_records(tree: TreeModel, composites: composite_bodies.Composites) -> AnyArray:
    """Return the records (N + 1,) of the ground and all bodies, each located in its composite body of the tree."""
    mech, out = tree.mech, composite_bodies.composite_records(tree.mech, composites)
    for i in range(len(mech.bodies)):
        record = out[composites.of_body[i]]
        X = tree.composites_of.X_KL[i] @ composites.X_KL[i].inverse()
        record["parent"], record["R_in"], record["p_in"] = tree.composites_of.of_body[i], X.R, X.p
    return out


def _measured_rates(mech: Mechanism, first: int) -> AnyArray:
    """Return the index of the row that measures each rate, (nv,); these rows start at ``first``, in tree order."""
    out = np.zeros(len(mech.qd_names), dtype=np.int64)
    for joint in mech.tree.joints:
        count = joint.qd.stop - joint.qd.start
        out[joint.qd] = np.arange(first, first + count)
        first += count
    return out


def _free_pair(mech: Mechanism, joint: TreeJoint) -> Pair:
    """Return a floating pair with the rates of a free root: the twist of its centre of mass, world axes."""
    center = Pose(np.eye(3), mech.bodies[mech.body_index[joint.outer]].p_LC)
    return Pair(f"free {joint.outer}", "floating", WORLD, joint.outer, Pose.identity(), center)


def _first_columns(table: RowTable, drives: AnyArray, w: int, n: int) -> AnyArray:
    """Return the first nonzero column of each row of M, (n,): of its body, or of one coupled by a drive's inertia.

    ``drives`` (k,) are the rows of freedoms with armature, w is the number of coordinates per body.
    """
    body = np.arange(n // w)
    for row in table.rows[drives]:
        low, high = sorted((int(row["a"]) - 1, int(row["b"]) - 1))
        if low >= 0:
            body[high] = min(body[high], low)
    return np.repeat(w * body, w)


def _counted(
    tree: TreeModel,
    labels: Sequence[RowLabel],
    q: Array,
    locks: Sequence[Constraint],
    freedoms: Sequence[tuple[Pair, str]],
) -> AnyArray:
    """Return a mask (m,) of the rows that do not vanish in the plane at q (nq,); those of ``freedoms`` come last."""
    out = np.ones(len(labels), dtype=bool)
    if tree.planar is None:
        return out
    mech, poses, columns = tree.mech, forward(tree.mech, q), plane_columns(tree.planar)

    def in_plane(constraints: Sequence[Constraint]) -> set[RowLabel]:
        rows = (planar_rows(r, columns) for r in rows_of(mech, constraints, poses, q))
        return {RowLabel(r.constraint, c) for r in rows for c in r.components}

    kept, behind = in_plane((*mech.constraints(), *locks)), len(labels) - len(freedoms)
    out[:behind] = [label in kept for label in labels[:behind]]
    out[behind:] = [bool(in_plane((Lock(pair.name, freedoms=(f,)),))) for pair, f in freedoms]
    return out
