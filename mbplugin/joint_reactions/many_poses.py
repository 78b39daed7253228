"""``reactions`` at many states: what the rigid model determines in every joint, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from mbplugin.analysis.many_poses import PoseAnalyses, analyze_poses
from mbplugin.constraints import many_poses
from mbplugin.constraints.closure import CONVERGED
from mbplugin.dynamics import load_wrench
from mbplugin.errors import BadUsage, MbPluginError, UnknownName, suggestion
from mbplugin.joint_reactions import ClosedState, Model, closed_state, spring_loads, with_held
from mbplugin.joint_reactions.statics import require_balance
from mbplugin.joint_reactions.stiffness import applied_to, held_under, lock_label, without_rounding
from mbplugin.joint_reactions.values import Reactions
from mbplugin.model import Lock, Mechanism, Pair, RowLabel
from mbplugin.model.mechanism.kinematics import JointValues, acceleration_vector, is_batch, states
from mbplugin.model.scene import (
    Load,
    LoadLike,
    Payload,
    PayloadLike,
    Scene,
    mechanism_of,
    read_loads,
    read_payloads,
)
from mbplugin.model.spatial import AnyArray, Array, JointSpring, Spring, cross, make_read_only, shift_rows
from mbplugin.phrases import one_line_repr

#: A residual of the rates or accelerations below this fraction of them is rounding.
_ROUNDING = 1e-12
#: A coefficient of a row on a wrench component below this is zero.
_ACTS = 1e-12
#: Rows are dependent by rounding only if their relative singular value is above this.
_DEPENDENT = 1e-12


@one_line_repr
@dataclass(frozen=True, eq=False)
class PoseReactions:
    """Reactions at n states that the rigid model determines, each as in the :class:`Reactions` of that state alone.

    Stiffness, contacts, misfits and bounds belong to :func:`mbplugin.reactions` at one state.

    Parameters
    ----------
    q, qd, qdd : (n, nq), (n, nv), (n, nv) array
        The states, rad and m.
    values : (n, m) array
        Multiplier of each row, N or N·m, on the successor, in axes of P at the origin of S; NaN where the rigid model
        does not determine it.
    unique : (n, m) bool array
        Whether it does, in the order of ``labels``.
    degree_of_redundancy : (n,) int array
        Including the held joints.
    labels : tuple of (constraint, component)
    constraints : tuple of str
    held : tuple of str
        Joints held for the balance at all poses.
    tolerance : float
        Relative rank tolerance.
    """

    mechanism: Mechanism
    q: Array
    qd: Array
    qdd: Array
    values: Array
    unique: AnyArray
    degree_of_redundancy: AnyArray
    labels: tuple[RowLabel, ...]
    constraints: tuple[str, ...]
    held: tuple[str, ...]
    tolerance: float

    def __len__(self) -> int:
        return len(self.q)

    def value(self, name: str, component: str) -> Array:
        """Return one component at all states, (n,), N or N·m, NaN where it is undetermined.

        Raises
        ------
        UnknownName
            There is no such constraint or component.
        """
        own = [label.component for label in self.labels if label.constraint == name]
        if name not in self.constraints:
            raise UnknownName(f"there is no constraint {name!r}", remedy=suggestion(name, self.constraints))
        if component not in own:
            remedy = suggestion(component, own)
            raise UnknownName(f"{name!r} has no component {component!r}", remedy=remedy)
        return np.asarray(self.values[:, self.labels.index(RowLabel(name, component))])

    def wrench(self, name: str) -> Array:
        """Return the wrench [f; m] of a pair on its successor at all states, (n, 6), N and N·m.

        At the origin of S, in axes of P; NaN where it is undetermined, zero in the free components of the joint.

        Raises
        ------
        UnknownName
            There is no such pair.
        """
        pair = self.mechanism.pair_by_name.get(name)
        if pair is None:
            remedy = suggestion(name, tuple(self.mechanism.pair_by_name))
            raise UnknownName(f"there is no pair {name!r}", remedy=remedy)
        (rows,) = many_poses.rows_at_poses(self._whole, [pair])
        L = _rows_at_joint(self._whole, pair, rows)
        at = [k for k, label in enumerate(self.labels) if label.constraint == name]
        parts = np.where(np.abs(L) > _ACTS, L * self.values[:, at, None], 0.0)
        return np.asarray(parts.sum(axis=1))

    @cached_property
    def _whole(self) -> many_poses.WholeTree:
        return many_poses.WholeTree(self.mechanism, self.q)

    def save(self, path: str | Path) -> None:
        """Write arrays and labels to an ``.npz`` file.

        Raises
        ------
        BadUsage
            The ending is another one.
        """
        if Path(path).suffix != ".npz":
            raise BadUsage(f"cannot write reactions to {str(path)!r}", expected="a name that ends in .npz")
        arrays = {name: getattr(self, name) for name in ("q", "qd", "qdd", "values", "unique")}
        np.savez_compressed(path, **arrays, labels=[".".join(label) for label in self.labels])


def _rows_at_joint(whole: many_poses.WholeTree, pair: Pair, rows: many_poses.RowsAtPoses) -> Array:
    """Return rows (n, k, 6) of a pair on its relative twist at the origin of S, axes of P."""
    index, K = whole.mech.body_index, len(whole.Q)
    a, b = index[pair.body_a], index[pair.body_b]
    ground = np.broadcast_to(np.eye(4), (K, 4, 4))
    X_A, X_B = (whole.X_WL[:, i] if i >= 0 else ground for i in (a, b))
    R_WP = X_A[:, :3, :3] @ pair.X_AP.R
    p_WS = X_B[:, :3, 3] + X_B[:, :3, :3] @ pair.X_BS.p
    body, sign = (b, 1.0) if b >= 0 else (a, -1.0)
    entry = sign * next(e for i, e in rows.entries if i == body)
    at_S = shift_rows(entry, (whole.p_WC[:, body] - p_WS)[:, None, :])
    return np.concatenate((at_S[..., :3] @ R_WP, at_S[..., 3:] @ R_WP), axis=2)


def reactions_at_poses(
    model: Model,
    q: JointValues,
    qd: JointValues,
    qdd: JointValues,
    *,
    loads: Iterable[LoadLike],
    payload: Iterable[PayloadLike] | None,
    hold: Iterable[str] | None,
    tolerance: float | None,
    alone: Callable[..., Reactions],
) -> PoseReactions:
    """Return the reactions at n states; the joints that are held at the first one are held at all.

    Parameters are those of :func:`mbplugin.reactions`, which is ``alone``; one of q, qd and qdd at least is a batch.

    Raises
    ------
    BadUsage
        The loads are not balanced at a state; the message has its number.
    CannotClose, ContradictedState
        The loops of a pose are open.
    """
    mech = mechanism_of(model)
    scene = model if isinstance(model, Scene) else None
    base = (scene.state.q, scene.state.qd) if scene else (None, None)
    Q, Qd = states(mech, q, qd, *base)
    wanted = qdd if is_batch(qdd) else acceleration_vector(mech, qdd)
    Q, Qdd = states(mech, Q if is_batch(q) or is_batch(qd) else Q[0], wanted)
    Qd = np.repeat(Qd, len(Q) // len(Qd), axis=0)
    still = qd is None and qdd is None and not Qd.any()

    first = _state(model, Q, Qd, Qdd, 0, still, tolerance)
    loads, payload = tuple(loads), None if payload is None else tuple(payload)
    held, assumed, system, found = held_under(first, model, applied_to(first, model, loads, payload), hold)
    require_balance(system, found, first.tolerance, first.at_rest)
    locks = (*held, *assumed)
    names = tuple(map(lock_label, locks))
    Q, Qd, Qdd = _consistent(model, Q, Qd, Qdd, first.tolerance, still)

    held_mech = with_held(mech, locks)
    whole = many_poses.WholeTree(mech, Q)
    missing = _missing(
        whole, Qd, Qdd, _read_loads(model, loads), _read_payloads(model, payload), _springs(model)
    )
    verdict = analyze_poses(held_mech, Q, first.tolerance, None)
    values, share = _multipliers(held_mech, Q, missing, verdict)
    if (moving := np.flatnonzero(share > first.tolerance)).size:
        _refuse(model, int(moving[0]), Q, Qd, Qdd, still, loads, payload, locks, first.tolerance)
    # which of nearly dependent rows is dropped changes the values, so one method decides
    for k in np.flatnonzero(verdict.sigma_r_plus_1 > _DEPENDENT):
        motion = () if still else (Qd[k], Qdd[k])
        options = {"loads": loads, "payload": payload, "hold": names, "tolerance": first.tolerance}
        values[k] = _values(alone(model, Q[k], *motion, estimate=False, **options))
    make_read_only(values, Q, Qd, Qdd)
    return PoseReactions(
        held_mech,
        Q,
        Qd,
        Qdd,
        values,
        verdict.unique,
        verdict.degree_of_redundancy,
        verdict.labels,
        verdict.constraints,
        names,
        first.tolerance,
    )


def _read_loads(model: Model, loads: Sequence[LoadLike]) -> tuple[Load, ...]:
    own = model.loads if isinstance(model, Scene) else ()
    return (*own, *read_loads(mechanism_of(model), loads))


def _read_payloads(model: Model, payload: Sequence[PayloadLike] | None) -> tuple[Payload, ...]:
    if payload is not None:
        return tuple(read_payloads(mechanism_of(model), payload))
    return tuple(model.payloads) if isinstance(model, Scene) else ()


def _springs(model: Model) -> tuple[Spring | JointSpring, ...]:
    return tuple(model.springs) if isinstance(model, Scene) else ()


def _values(result: Reactions) -> list[float]:
    """Return the determined forces at one state, row by row; NaN elsewhere."""
    parts = (part for constraint in result.constraints for part in constraint.components)
    return [part.value if part.unique and part.value is not None else np.nan for part in parts]


def _state(
    model: Model, Q: Array, Qd: Array, Qdd: Array, pose: int, still: bool, tolerance: float | None
) -> ClosedState:
    """Return one of the states Q (n, nq), Qd (n, nv) and Qdd (n, nv), as it is found alone.

    Raises
    ------
    MbPluginError
        There is none; the message has the number of the state.
    """
    try:
        if still:
            return closed_state(model, Q[pose], None, None, tolerance, None)
        return closed_state(model, Q[pose], Qd[pose], Qdd[pose], tolerance, None)
    except MbPluginError as error:
        where = f"pose {pose} of {len(Q)}"
        raise type(error)(error.what, where=where, expected=error.expected, remedy=error.remedy) from None


def _refuse(
    model: Model,
    pose: int,
    Q: Array,
    Qd: Array,
    Qdd: Array,
    still: bool,
    loads: Sequence[LoadLike],
    payload: Sequence[PayloadLike] | None,
    locks: Sequence[Lock],
    tolerance: float,
) -> None:
    """Raise for a state of Q (n, nq), Qd (n, nv) and Qdd (n, nv) whose loads the held joints do not balance.

    Raises
    ------
    BadUsage
        The message names the motion and the number of the state.
    """
    state = _state(model, Q, Qd, Qdd, pose, still, tolerance)
    names = tuple(map(lock_label, locks))
    _, _, system, found = held_under(state, model, applied_to(state, model, loads, payload), names)
    try:
        require_balance(system, found, tolerance, state.at_rest)
    except BadUsage as error:
        where = f"pose {pose} of {len(Q)}"
        raise BadUsage(error.what, where=where, expected=error.expected, remedy=error.remedy) from None
    raise BadUsage(f"the loads of pose {pose} are not balanced", remedy="pass this pose alone")


def _consistent(
    model: Model, Q: Array, Qd: Array, Qdd: Array, tolerance: float, still: bool
) -> tuple[Array, Array, Array]:
    """Return states Q (n, nq), Qd (n, nv) and Qdd (n, nv) that satisfy the constraints.

    Those that do not as given are those that :func:`closed_state` makes of them.
    """
    mech = mechanism_of(model)
    gaps, length = many_poses.gaps_at_poses(mech, Q)
    wrong = gaps > CONVERGED * length
    if not still:
        wrong |= _contradicts(mech, Q, Qd, Qdd)
    for k in np.flatnonzero(wrong).tolist():
        state = _state(model, Q, Qd, Qdd, k, still, tolerance)
        Q[k], Qd[k], Qdd[k] = state.q, state.qd, state.qdd
    return Q, Qd, Qdd


def _contradicts(mech: Mechanism, Q: Array, Qd: Array, Qdd: Array) -> AnyArray:
    """Return flags (n,) of the states Q (n, nq), Qd (n, nv), Qdd (n, nv) that violate the closing rows."""
    in_tree = mech.tree.joint_of_pair
    closing = [c for c in mech.constraints() if c.name not in in_tree]
    out = np.zeros(len(Q), dtype=bool)
    if not closing:
        return out
    whole = many_poses.WholeTree(mech, Q)
    v, v_dot = whole.twists(Qd), _accelerations(whole, Qd, Qdd)
    for r in many_poses.rows_at_poses(whole, closing, Qd):
        for wanted, given in ((-r.rows.b, v), (r.Gamma, v_dot)):
            parts = [(entry @ given[:, i, :, None])[..., 0] for i, entry in r.entries]
            size = sum((np.abs(part) for part in parts), np.abs(wanted) + np.zeros_like(r.Gamma))
            rest = np.abs(sum(parts, np.zeros_like(r.Gamma)) - wanted)
            out |= (rest > _ROUNDING * np.maximum(size.max(axis=1, initial=0.0), 1e-300)[:, None]).any(axis=1)
    return out


def _accelerations(whole: many_poses.WholeTree, Qd: Array, Qdd: Array) -> Array:
    """Return v̇ (n, N, 6) of all bodies at their centres of mass, for Qd (n, nv) and Qdd (n, nv)."""
    nu, a = whole.motion(Qd)
    a = a + whole.spread(Qdd)
    omega, arm = nu[:, :, 1], whole.p_WC
    v = nu[:, :, 0] + cross(omega, arm)
    return np.concatenate((a[:, :, 0] + cross(a[:, :, 1], arm) + cross(omega, v), a[:, :, 1]), axis=2)


def _missing(
    whole: many_poses.WholeTree,
    Qd: Array,
    Qdd: Array,
    loads: Sequence[Load],
    payloads: Sequence[Payload],
    springs: Sequence[Spring | JointSpring],
) -> Array:
    """Return M v̇ − F of all bodies, (n, N, 6), at their centres of mass, for Qd (n, nv) and Qdd (n, nv)."""
    mech = whole.mech
    v_dot, omega = _accelerations(whole, Qd, Qdd), whole.motion(Qd)[0][:, :, 1]
    R = whole.X_WL[..., :3, :3]
    mass = np.array([body.mass for body in mech.bodies])
    J = R @ np.array([body.I_C for body in mech.bodies]).reshape(-1, 3, 3) @ np.swapaxes(R, -1, -2)
    force = mass[:, None] * (v_dot[..., :3] - mech.gravity)
    spin = (J @ omega[..., None])[..., 0]
    moment = (J @ v_dot[..., 3:, None])[..., 0] + cross(omega, spin)
    out = np.concatenate((force, moment), axis=2)
    for payload in payloads:
        i = mech.body_index[payload.body]
        turned = R[:, i] @ payload.inertia @ np.swapaxes(R[:, i], 1, 2)
        arm = whole.X_WL[:, i, :3, 3] + R[:, i] @ payload.com - whole.p_WC[:, i]
        w, alpha = omega[:, i], v_dot[:, i, 3:]
        own = payload.mass * (v_dot[:, i, :3] + cross(alpha, arm) + cross(w, cross(w, arm)) - mech.gravity)
        about = (turned @ alpha[..., None])[..., 0] + cross(w, (turned @ w[..., None])[..., 0])
        out[:, i] += shift_rows(np.concatenate((own, about), axis=1), arm)
    for load in loads:
        i = mech.body_index[load.body]
        turn = R[:, i] if load.frame == "body" else np.eye(3)
        wrench = np.broadcast_to(
            np.concatenate((turn @ load.force, turn @ load.torque), axis=-1), (len(out), 6)
        )
        arm = whole.X_WL[:, i, :3, 3] + R[:, i] @ load.point - whole.p_WC[:, i]
        out[:, i] -= shift_rows(wrench, arm)
    for k in range(len(out)) if springs else ():
        for load in spring_loads(mech, springs, whole.Q[k], Qd[k]):
            i = mech.body_index[load.body]
            out[k, i] -= load_wrench(load, whole.at(k), i)
    return out


def _multipliers(mech: Mechanism, Q: Array, missing: Array, verdict: PoseAnalyses) -> tuple[Array, Array]:
    """Return the multipliers (n, m), N and N·m, NaN where they are not unique, and the unbalanced shares (n,).

    The least-norm solution of Cᵀλ = ``missing`` (n, N, 6) at Q (n, nq), whose unique rows are those of every solution.
    """
    whole = many_poses.WholeTree(mech, Q)
    rows = many_poses.rows_at_poses(whole, tuple(mech.constraints()))
    length = many_poses.characteristic_lengths(rows, whole.p_WC, mech)
    n, N = len(Q), len(mech.bodies)
    C, scale, start = np.zeros((n, len(verdict.labels), N, 6)), np.zeros((n, len(verdict.labels))), 0
    for r in rows:
        stop = start + len(r.rows.components)
        scale[:, start:stop] = r.scale(length)
        for i, entry in r.entries:
            C[:, start:stop, i] += r.scaled(entry, length)
        start = stop
    size = np.ones((n, 1, 6))
    size[..., :3] = length[:, None, None]
    W = (missing * size).reshape(n, 6 * N)
    flat, along = C.reshape(n, -1, 6 * N), np.zeros((n, 6 * N))
    scaled = np.zeros((n, len(verdict.labels)))
    regular = np.flatnonzero(verdict.degree_of_redundancy == 0)
    if regular.size and flat.shape[1]:
        basis, R = np.linalg.qr(np.swapaxes(flat[regular], 1, 2))
        inside = np.einsum("ncm,nc->nm", basis, W[regular])
        scaled[regular] = np.linalg.solve(R, inside[..., None])[..., 0]
        along[regular] = np.einsum("ncm,nm->nc", basis, inside)
    rest = np.flatnonzero(verdict.degree_of_redundancy > 0)
    if rest.size:
        U, sigma, Vt = np.linalg.svd(flat[rest], full_matrices=False)
        kept = np.arange(sigma.shape[1]) < verdict.rank[rest, None]
        inside = np.where(kept, np.einsum("nsc,nc->ns", Vt, W[rest]), 0.0)
        scaled[rest] = np.einsum("nms,ns->nm", U, inside / np.where(kept, sigma, 1.0))
        along[rest] = np.einsum("nsc,ns->nc", Vt, inside)
    left = W - along
    halves = [np.linalg.norm(x.reshape(n, N, 6), axis=2) for x in (W, left)]
    work = (halves[0] * halves[1]).sum(axis=1)
    share = np.where(work > 0, (left * left).sum(axis=1) / np.where(work > 0, work, 1.0), 0.0)
    values = scale * np.array([without_rounding(one) for one in scaled])
    return np.where(verdict.unique, values, np.nan), share
