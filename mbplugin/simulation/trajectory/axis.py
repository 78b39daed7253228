"""Quantities along a motion: forces along a joint's freedom, active constraints, energies, momenta, body motions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import types

from mbplugin.dynamics.compiler.jit import compiled
from mbplugin.dynamics.kernels.articulated import energies, factor, mass_matrix
from mbplugin.dynamics.kernels.composite_bodies import composite_records, find_composites, rate_records
from mbplugin.dynamics.kernels.motion import move
from mbplugin.dynamics.tree_model import tree_model
from mbplugin.model.mechanism.identity import Holder, HolderKind, pair_and_freedom
from mbplugin.model.mechanism.mechanism import Constraint, Lock, Mechanism
from mbplugin.model.mechanism.pair import Pair, RowKind, travel_per_radian
from mbplugin.model.spatial import COMPONENTS, AnyArray, Array, make_read_only, units_of
from mbplugin.simulation.friction import AT_REST
from mbplugin.simulation.impact import with_constraints
from mbplugin.simulation.kernel_state import (
    KINEMATICS,
    MATRIX,
    VECTOR,
    KernelState,
    evaluate_address,
    evaluate_from,
    load_struct,
    place_of,
)

if TYPE_CHECKING:
    from mbplugin.simulation.trajectory.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class AxisForces:
    """Torques about the axis of a joint, or forces along it, on the successor at every sample.

    While a drive moves or holds the joint, the static forces of its brake and friction are attributed to the drive;
    while a brake holds, friction is attributed to the brake. While a driven joint moves, the drive's force includes
    the part that overcomes friction.

    Parameters
    ----------
    freedom : str
        ``rz`` or ``tz``.
    unit : "N·m" or "N"
    total : (T,) array
        Total force from the predecessor on the successor along the freedom.
    drive : (T,) array
        Force of the drive of the joint, including the part that accelerates its inertia (armature).
    brake : (T,) array
    friction : (T,) array
        Dry and viscous.
    """

    freedom: str
    unit: str
    total: Array
    drive: Array
    brake: Array
    friction: Array


def axis_forces(motion: Trajectory, joint: str) -> AxisForces | None:
    """Return the forces along the freedom of a joint; None if it does not have exactly one freedom."""
    pair = motion.mechanism.pair_by_name[joint]
    if len(pair.kind.free) != 1:
        return None
    freedom = pair.kind.free[0]
    drive, friction = _driven(motion, pair)
    brake = _of_brake(motion, joint)
    friction += _of_friction(motion, pair, brake)
    total = _along(pair, motion.transmitted(joint))
    make_read_only(total, drive, brake, friction)
    return AxisForces(freedom, units_of(freedom).force, total, drive, brake, friction)


def _along(pair: Pair, wrench: Array) -> Array:
    """Return the power of a wrench (T, 6) per unit rate of the freedom, (T,)."""
    along: Array = wrench[:, COMPONENTS.index(pair.kind.free[0])].copy()
    if pair.kind.row_kind("tz") is RowKind.SCREW:
        along += travel_per_radian(pair) * wrench[:, 2]
    return along


def _while(motion: Trajectory, kind: HolderKind, joint: str) -> AnyArray:
    """Return flags (T,) of the samples at which a holder of this kind acts on a joint."""
    name = str(Holder(kind, joint))
    return np.asarray(np.array([name in names for names in motion.active], dtype=bool)[motion.segment])


def _holding(motion: Trajectory, joint: str) -> Array:
    """Return the force (T,) of the lock that stands for whatever holds or drives a joint."""
    rows = motion._wrenches.of_rest.get(str(Holder("lock", joint)))
    return np.zeros(len(motion.time)) if rows is None or not rows.shape[1] else rows[:, 0]


def _of_brake(motion: Trajectory, joint: str) -> Array:
    """Return the force of the brake of a joint, (T,), N·m or N; zero if there is none."""
    braked = joint in {brake.joint for brake in motion.actions.brakes}
    return motion.braking(joint).copy() if braked else np.zeros(len(motion.time))


def _of_friction(motion: Trajectory, pair: Pair, brake: Array) -> Array:
    """Return dry friction and damping, (T,), N·m or N, without the dry friction that a drive overcomes.

    ``brake`` (T,) is the force of the brake.
    """
    slid = motion._wrenches.of_resistance.get((pair.name, pair.kind.free[0]))
    out = np.zeros(len(brake))
    if slid is not None:
        out += slid - np.where(_while(motion, "brake", pair.name), 0.0, brake)
    out += np.where(_while(motion, "friction", pair.name), _holding(motion, pair.name), 0.0)
    joint = motion.mechanism.tree.joint_of_pair.get(pair.name)
    if joint is not None and motion.actions.damping:
        out -= pair.freedoms[0].damping * motion.qd[:, joint.qd.start]
    return out


def _driven(motion: Trajectory, pair: Pair) -> tuple[Array, Array]:
    """Return the force of a drive and the dry friction that it overcomes, (T,) each."""
    joint = motion.mechanism.tree.joint_of_pair.get(pair.name)
    leads = _while(motion, "drive", pair.name)
    drive = np.where(leads, _holding(motion, pair.name), 0.0)
    friction = np.zeros(len(drive))
    if joint is not None and motion.actions.friction:
        rate = motion.qd[:, joint.qd.start]
        sense = np.where(np.abs(rate) > AT_REST, np.sign(rate), 0.0)
        friction = np.where(leads, -pair.freedoms[0].friction * sense, 0.0)
    drive = drive - friction
    for driver in motion.mechanism.drivers:
        if driver.joint == pair.name:
            drive = drive + motion.multipliers(driver.name)[:, 0]
    return drive, friction


# The active constraints of each segment of a motion: the mechanism with closed locks, brakes and sticking joints.


@dataclass(frozen=True, eq=False)
class Held:
    """A mechanism with one set of active constraints, and the samples at which they apply.

    Parameters
    ----------
    mech : Mechanism
        With locks for additional constraints; locked freedoms have no dry friction, as the lock includes it.
    active : tuple of str
        Names of the active constraints besides the mechanism's own.
    samples : (s,) array of int
        Indices of the samples.
    """

    mech: Mechanism
    active: tuple[str, ...]
    samples: AnyArray

    def spread(self, most: int) -> list[int]:
        """Return up to ``most`` of the samples, evenly spread."""
        at = np.linspace(0, len(self.samples) - 1, min(most, len(self.samples)))
        return [int(k) for k in self.samples[at.round().astype(int)]]


def held_mechanisms(trajectory: Trajectory) -> Iterator[Held]:
    """Yield every segment of a motion that has samples."""
    for k, active in enumerate(trajectory.active):
        samples = np.flatnonzero(trajectory.segment == k)
        if samples.size:
            yield Held(_closed(trajectory.mechanism, active, trajectory.held), active, samples)


def _closed(mech: Mechanism, active: tuple[str, ...], for_a_while: tuple[Constraint, ...]) -> Mechanism:
    """Return the mechanism with the additional active constraints.

    These are locks for ``lock j``, ``friction j``, ``brake j`` and the like, and timed constraints.
    """
    mech = with_constraints(mech, [c for c in for_a_while if c.name in active])
    own = {constraint.name for constraint in mech.constraints()}
    holders = (Holder.of(name) for name in active if name not in own)
    joints = dict.fromkeys(holder.joint for holder in holders if holder)
    locks = tuple(_lock(mech, joint) for joint in joints)
    held = {(lock.joint, freedom) for lock in locks for freedom in _freedoms(mech, lock)}
    pairs = tuple(_without_friction(pair, held) for pair in mech.pairs)
    return replace(mech, pairs=pairs, locks=(*mech.locks, *locks))


def _lock(mech: Mechanism, joint: str) -> Lock:
    """Return the lock of a joint, or of one freedom for a name ``joint.freedom``."""
    pair, freedom = pair_and_freedom(joint, mech.pair_by_name)
    return Lock(pair, freedoms=(freedom,) if freedom else ())


def _freedoms(mech: Mechanism, lock: Lock) -> tuple[str, ...]:
    return lock.freedoms or mech.pair_by_name[lock.joint].kind.free


def _without_friction(pair: Pair, held: set[tuple[str, str]]) -> Pair:
    freedoms = tuple(
        replace(freedom, friction=0.0, load_friction=0.0) if (pair.name, name) in held else freedom
        for name, freedom in zip(pair.kind.free, pair.freedoms, strict=True)
    )
    return pair if freedoms == pair.freedoms else replace(pair, freedoms=freedoms)


# Energies, momenta and residuals at the states of a motion.


def _measure(
    address: int,
    place: int,
    time: Array,
    q: Array,
    qd: Array,
    kinetic: Array,
    potential: Array,
    largest: Array,
) -> None:
    """Fill the energies kinetic and potential (T,), J, and the largest (m,) |Φ| of the first rows, m or rad.

    The samples are time, q and qd (T,), (T, nq), (T, nv).
    """
    evaluate = evaluate_from(address)
    m = load_struct(place)
    for n in range(len(time)):
        evaluate(place, KINEMATICS, time[n], time[n], q[n], qd[n])
        kinetic[n], potential[n] = energies(m.composites, m.rates, m.springs, q[n], qd[n])
        for i in range(len(largest)):
            if m.rows[i].holonomic:
                largest[i] = max(largest[i], abs(m.rows[i].phi))


@lru_cache(maxsize=1)
def _measurer() -> Any:
    matrices = (VECTOR, MATRIX, MATRIX, VECTOR, VECTOR, VECTOR)
    return compiled(_measure, types.none(types.intp, types.intp, *matrices))


def measure(m: KernelState, rows: int, time: Array, q: Array, qd: Array) -> tuple[Array, Array, Array]:
    """Return kinetic and potential energy (T,), J, and the largest |Φ| of the first rows, m or rad.

    The samples are ``time`` (T,), ``q`` (T, nq) and ``qd`` (T, nv).
    """
    kinetic, potential, largest = np.zeros(len(time)), np.zeros(len(time)), np.zeros(rows)
    _measurer()(evaluate_address(), place_of(m), time, q, qd, kinetic, potential, largest)
    return kinetic, potential, largest


def momenta(trajectory: Trajectory) -> Array:
    """Return the generalised momenta M(q) q̇ (T, nv) of a motion, N·m·s and N·s, in the order of ``qd``.

    They are those of the tree in space: a planar view, closures and drivers do not change M.
    """
    model = tree_model(trajectory.mechanism, trajectory.actions)
    found, M = np.empty(trajectory.qd.shape), np.empty((len(model.rates), len(model.rates)))
    for k, (q, qd) in enumerate(zip(trajectory.q, trajectory.qd, strict=True)):
        move(model.composites, model.rates, q, qd)
        factor(model.composites, model.rates)
        mass_matrix(model.composites, model.rates, M)
        found[k] = M @ qd
    make_read_only(found)
    return found


# Poses and twists of all bodies along a motion.


@dataclass(frozen=True, eq=False)
class PointMotion:
    """The path of a point fixed in a body, world axes.

    Parameters
    ----------
    p_W, v_W : (T, 3) array
        Position and velocity at the samples, m and m/s.
    """

    p_W: Array
    v_W: Array


@dataclass(frozen=True, eq=False)
class BodyMotions:
    """Poses and twists of all bodies at the samples of a motion, world axes.

    Parameters
    ----------
    R_WL, p_WL : (T, N, 3, 3), (T, N, 3) array
        Link frames, m.
    p_WC : (T, N, 3) array
        Centres of mass, m.
    twists : (T, N, 6) array
        [v; ω] at the centres of mass, m/s and rad/s.
    """

    R_WL: Array
    p_WL: Array
    p_WC: Array
    twists: Array

    def point(self, body: int, p_L: Array) -> tuple[Array, Array]:
        """Return positions and velocities (T, 3) of a body's point p_L (3,) in its link frame, m and m/s."""
        path = self.p_WL[:, body] + self.R_WL[:, body] @ p_L
        twist = self.twists[:, body]
        return path, twist[:, :3] + np.cross(twist[:, 3:], path - self.p_WC[:, body])


def body_motions(mech: Mechanism, q: Array, qd: Array | None = None) -> BodyMotions:
    """Return poses and twists of all bodies at coordinates q (T, nq) and rates qd (T, nv), by default at rest."""
    of = find_composites(mech, apart=True)
    composites = composite_records(mech, of)
    rates = rate_records(mech, of, np.zeros(len(mech.qd_names)))
    rows = np.zeros((len(q), len(rates))) if qd is None else qd
    bodies = list(of.of_body)
    out = np.empty((len(q), len(bodies), 3, 3)), *(np.empty((len(q), len(bodies), n)) for n in (3, 3, 6))
    for k in range(len(q)):
        # copied, as the kernel would be compiled again for read-only arrays
        move(composites, rates, q[k].copy(), rows[k].copy())
        for values, part in zip(out, ("R", "p", "c", "v"), strict=True):
            values[k] = composites[part][bodies]
    R_WK, p_WK, p_WC, twists = out
    R_KL, p_KL = (np.array([getattr(X, part) for X in of.X_KL]) for part in ("R", "p"))
    return BodyMotions(R_WK @ R_KL, p_WK + np.einsum("tnij,nj->tni", R_WK, p_KL), p_WC, twists)
