"""``inverse_dynamics``: actuator forces for a motion, and the freedom left by redundant actuation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mbplugin import joint_reactions
from mbplugin.arguments import checked
from mbplugin.constraints.rank import rank_blocks
from mbplugin.constraints.reduction import tree_motion, velocity_transformation
from mbplugin.constraints.rows import planar_rows, rows_of
from mbplugin.errors import BadNumber, BadUsage, UnknownName, suggestion
from mbplugin.joint_reactions import ClosedState, JointMotion, Model
from mbplugin.joint_reactions.run import noting_masses
from mbplugin.joint_reactions.stiffness import applied_to, without_rounding
from mbplugin.joint_reactions.values import ActuatorForce, ActuatorForces
from mbplugin.model import JointValues, Lock, ReactionUnit, freedom_name, freedom_of
from mbplugin.model.brakes import implausible, rate_values, warn_of
from mbplugin.model.scene import LoadLike, PayloadLike, Scene, read_payloads
from mbplugin.model.spatial import AnyArray, Array, pivot_order, units_of
from mbplugin.phrases import listed, names_of
from mbplugin.readers import ModelSource
from mbplugin.readers.standing import standing

#: Zero threshold for entries of unit vectors of shares, and for sliding rates.
_ZERO = 1e-9


@checked
def inverse_dynamics(
    model: ModelSource,
    q: JointValues = None,
    qd: JointValues = None,
    qdd: JointValues = None,
    *,
    actuated: Iterable[str] | None = None,
    loads: Iterable[LoadLike] = (),
    payload: Iterable[PayloadLike] | None = None,
    weights: Mapping[str, float] | None = None,
    damping: bool = True,
    friction: bool = True,
    tolerance: float | None = None,
    planar: str | None = None,
) -> ActuatorForces:
    """Compute the actuator forces for a motion, for example for feed-forward control.

    The equations of the open tree are projected onto the motions that the constraints allow (mueller2026 (8),
    (9)): Vᵀ(M q̈ − F) = VᵀB c. With more actuators than freedoms, c is not unique: the result is the least-norm
    solution and a basis of the forces that only stress the mechanism without moving it. Loads, payloads, springs
    and rotor inertias of a scene are included. Drivers do not act here, their joints are actuated; locks remain.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
    q, qd, qdd : mapping or vector, optional
        Joint coordinates, rates and accelerations, rad and m; unnamed ones follow from the constraints.
    actuated : iterable of str, optional
        Joints (or ``joint.freedom``), including closures. Default: those with a driver or an actuator, else those
        with a finite effort limit.
    loads, payload : iterable, optional
        As for ``reactions``.
    weights : mapping, optional
        For each joint the force by which the actuator's force is divided in the norm, such as its rating. Default:
        1 N·m for turns; for travels 1 N·m divided by the characteristic length.
    damping, friction : bool
        Whether to include the joint damping and the dry friction of the file; at rest friction is zero.
    tolerance : float, optional
        Relative rank tolerance; the scene's, else ``constraints.DEFAULT_TOLERANCE``.
    planar : "xy", "yz" or "zx", optional
        Compute the forces in a plane.

    Raises
    ------
    BadUsage
        There are no actuators, or they cannot produce the motion (the message names it).
    UnknownName, BadNumber
        An actuator or weight for an unknown joint; a weight that is not positive.
    CannotClose
        A loop cannot be closed.
    """
    model = standing(model, q, qd, qdd)
    # an empty qdd makes drivers prescribe the motion even without given rates
    state = joint_reactions.closed_state(model, q, qd, {} if qdd is None else qdd, tolerance, planar)
    state = noting_masses(state, model, payload)
    motion = JointMotion(replace(state.mech, drivers=()), state.q, state.motion.poses, state.motion.columns)
    actuators = _Actuators.of(motion, _actuated(state, model, actuated))
    blocks = rank_blocks(motion.mech, motion.poses, motion.columns, state.tolerance, state.q)
    free = motion.free_motions(sum(block.redundancy for block in blocks))
    tree = _tree_forces(state, motion, model, loads, payload)
    tree += _resistance(state, motion, damping, friction)
    balanced = _balance(motion, actuators, free, free.T @ (motion.units * tree), state.tolerance)
    warn_of(implausible(state.mech, state.qd, read_payloads(state.mech, payload or ())))
    values, shares = without_rounding(balanced.least(_weights(actuators, weights))), balanced.shares
    basis, chosen = _echelon(balanced.N, shares)
    made = tuple(
        ActuatorForce(name, float(value), unit, not is_open)
        for name, value, unit, is_open in zip(
            actuators.names, values, actuators.units, balanced.is_open.tolist(), strict=True
        )
    )
    return ActuatorForces(
        mechanism=state.mech,
        q=state.q,
        qd=state.qd,
        qdd=state.qdd,
        forces=made,
        shares=basis,
        free=tuple(actuators.names[k] for k in chosen),
        mobility=free.shape[1],
        tolerance=state.tolerance,
        notes=state.notes,
    )


@dataclass(frozen=True, eq=False)
class _Actuators:
    """Actuated freedoms: names, units of the forces, and the Jacobian J (a, nv) from joint rates to their rates.

    ``size`` (a,) makes forces in N and N·m comparable: 1/ℓ for travels, else 1.
    """

    names: tuple[str, ...]
    units: tuple[ReactionUnit, ...]
    J: Array
    size: Array

    @classmethod
    def of(cls, motion: JointMotion, locks: Sequence[Lock]) -> _Actuators:
        rows = [planar_rows(r, motion.columns) for r in rows_of(motion.mech, locks, motion.poses, motion.q)]
        names, units = [], []
        for lock, r in zip(locks, rows, strict=True):
            count = len(motion.mech.pair_by_name[lock.joint].kind.free)
            for component in r.components:
                freedom = freedom_of(component)
                names.append(freedom_name(lock.joint, freedom, count))
                units.append(units_of(freedom).force)
        J = tree_motion(motion.mech, motion.poses).reduce(rows)
        size = np.array([1.0 if unit == "N·m" else 1.0 / motion.length for unit in units])
        return cls(tuple(names), tuple(units), J, size)


@dataclass(frozen=True, eq=False)
class _Balance:
    """Forces ``size · (particular + N y)`` (a,) that produce the motion for every y; N (a, s) is orthonormal."""

    size: Array
    particular: Array
    N: Array
    is_open: AnyArray

    @property
    def shares(self) -> Array:
        """Basis of the forces that do not change the motion, (a, s), N·m and N."""
        return np.asarray(self.size[:, None] * self.N)

    def least(self, weights: Array) -> Array:
        """Return the forces (a,) that have the least norm when divided by the weights (a,)."""
        value = self.size * self.particular
        if self.N.shape[1]:
            parts = self.shares / weights[:, None]
            value = value - self.shares @ np.linalg.lstsq(parts, value / weights, rcond=None)[0]
        return np.asarray(value)


def _balance(
    motion: JointMotion, actuators: _Actuators, free: Array, needed: Array, tolerance: float
) -> _Balance:
    """Solve Vᵀ Jᵀ c = ``needed`` (f,) in the free motions V, given by their scaled rates ``free`` (nv, f).

    Raises
    ------
    BadUsage
        No actuator acts on a free motion that needs a force.
    """
    A = actuators.size[:, None] * (actuators.J * motion.units) @ free
    U, sigma, Vt = np.linalg.svd(A)
    rank = int((sigma > tolerance * sigma.max(initial=0.0)).sum())
    inside = Vt[:rank] @ needed
    _require_reached(motion, free @ (needed - Vt[:rank].T @ inside), free @ needed, tolerance)
    N = U[:, rank:]
    noise = 10 * sigma[rank] / sigma[rank - 1] if 0 < rank < len(sigma) else 0.0
    is_open = np.linalg.norm(N, axis=1) > max(_ZERO, noise)
    return _Balance(actuators.size, U[:, :rank] @ (inside / sigma[:rank]), N, is_open)


def _require_reached(motion: JointMotion, rest: Array, needed: Array, tolerance: float) -> None:
    """Raise if the part ``rest`` (nv,) of the ``needed`` (nv,) scaled forces that no actuator supplies is not small."""
    size = np.abs(rest)
    if np.linalg.norm(rest) <= tolerance * np.linalg.norm(needed):
        return
    moving = [k for k in np.argsort(-size, kind="stable") if size[k] > 1e-3 * size.max()]
    names = listed([motion.mech.qd_names[k] for k in moving], 6)
    raise BadUsage(
        f"no actuated joint moves this motion, which needs a force: {names}",
        expected="actuators in every motion that the constraints allow, or accelerations that need none there",
        remedy=f"name a joint of that motion as actuated, such as {motion.mech.qd_names[moving[0]]!r}",
    )


def _actuated(state: ClosedState, model: Model, names: Iterable[str] | None) -> tuple[Lock, ...]:
    """Return the actuated joints as locks: the named ones, else those with a drive or an effort limit.

    Raises
    ------
    BadUsage
        There are none.
    """
    mech = state.mech
    if names is None:
        own = {a.joint for a in model.actuators} if isinstance(model, Scene) else set()
        own |= {driver.joint for driver in mech.drivers}
        names = [p.name for p in mech.pairs if p.name in own] or joint_reactions.limited_joints(mech)
    locks = {
        lock.name: lock
        for lock in (joint_reactions.named_lock(mech, name, "the actuated joint") for name in names_of(names))
    }
    if not locks:
        raise BadUsage(
            f"nothing says which joints of {mech.name!r} are actuated",
            expected="drivers, [[actuator]] tables, effort limits, or names",
        )
    return tuple(locks.values())


def _tree_forces(
    state: ClosedState,
    motion: JointMotion,
    model: Model,
    loads: Iterable[LoadLike],
    payloads: Iterable[PayloadLike] | None,
) -> Array:
    """Return M q̈ − F of the open tree (nv,), rotor inertias included."""
    applied = applied_to(state, model, loads, payloads)
    missing = applied.equations.missing(applied.accelerations)
    out = velocity_transformation(motion.mech, motion.poses).T @ missing.ravel()
    if isinstance(model, Scene):
        rotors = {a.joint: a.armature * a.gear_ratio**2 for a in model.actuators if a.armature}
        out += rate_values(motion.mech, rotors, "an armature") * state.qdd
    return np.asarray(out)


def _resistance(state: ClosedState, motion: JointMotion, damping: bool, friction: bool) -> Array:
    """Return the forces (nv,) that overcome the damping and the sliding friction of all joints."""
    out = np.zeros(len(state.qd))
    for pair in motion.mech.pairs:
        for freedom, stated in zip(pair.kind.free, pair.freedoms, strict=False):
            d, f = damping * stated.damping, friction * stated.friction
            if d or f:
                one = _Actuators.of(motion, [Lock(pair.name, freedoms=(freedom,))])
                rate = one.J @ state.qd
                out += one.J.T @ (d * rate + f * np.sign(rate) * (np.abs(rate) > _ZERO))
    return out


def _weights(actuators: _Actuators, weights: Mapping[str, float] | None) -> Array:
    """Return the weight of each actuator, (a,), N·m and N.

    Raises
    ------
    UnknownName, BadUsage, BadNumber
        A weight for an unknown actuator, an actuator without weight, a weight that is not positive and finite.
    """
    if weights is None:
        return actuators.size
    for name, value in weights.items():
        if name not in actuators.names:
            raise UnknownName(
                f"a weight is given for {name!r}, which is not actuated",
                remedy=suggestion(name, actuators.names),
            )
        if not 0 < value < np.inf:
            raise BadNumber(f"the weight of {name!r} is {value!r}", expected="a positive number")
    if missing := [name for name in actuators.names if name not in weights]:
        raise BadUsage(f"{missing[0]!r} has no weight", expected="one for every actuated joint, or none")
    return np.array([float(weights[name]) for name in actuators.names])


def _echelon(N: Array, shares: Array) -> tuple[Array, AnyArray]:
    """Return a basis (a, s) of the shares (a, s) that is the identity at s actuators, and their indices (s,).

    N (a, s) is an orthonormal basis of the same space, up to the scaling of forces.
    """
    s = N.shape[1]
    chosen = np.sort(pivot_order(N.T)[:s]) if s else np.zeros(0, dtype=int)
    basis = shares @ np.linalg.inv(shares[chosen]) if s else shares
    basis[np.abs(basis) < _ZERO * np.abs(basis).max(initial=0.0)] = 0.0
    basis.setflags(write=False)
    return basis, chosen
