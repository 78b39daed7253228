"""Joint reactions along a motion, from its accelerations: Cᵀλ = M v̇ − F (wojtyra2013 (8))."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from mbplugin.constraints.rows import plane_columns
from mbplugin.dynamics.kernels.articulated import inverse_dynamics
from mbplugin.dynamics.kernels.solve import add_law, sliding_forces
from mbplugin.dynamics.tree_model import TreeModel, borrowers, equations_of, redundancy, tree_model
from mbplugin.joint_reactions.statics import System, build_system, joint_rows
from mbplugin.model import BrakeForce, Pair, RowKind, forward, rate_force, travel_per_radian
from mbplugin.model.mechanism.identity import Holder, HolderKind, RowLabel, freedom_held, lock_label
from mbplugin.model.spatial import COMPONENTS, AnyArray, Array, cross, make_read_only, units_of
from mbplugin.simulation.friction import AT_REST, Handling, LoadFriction, pull_rows, rates_of
from mbplugin.simulation.trajectory import Held, Samples, held_mechanisms

#: Number of poses at which the uniqueness is computed for each set of constraints.
_POSES = 5
#: A row does not contribute to a component of the wrench if its coefficient is below this.
_NO_PART = 1e-12
#: Where sliding ends, a rate below this counts as zero, rad/s and m/s: the instant is not located more accurately.
_HARDLY = 1e-6


@dataclass(frozen=True, eq=False)
class JointWrenches:
    """Wrenches and multipliers of a motion of T samples.

    Parameters
    ----------
    of_pair : dict of str to (T, 6) array
        [f; m] on the successor at the origin of S, axes of P, N and N·m.
    of_rest : dict of str to (T, k) array
        Multipliers of all other constraints, row by row, N and N·m; zero while a constraint is not active.
    of_brake : dict of str to (T,) array
        Force of a joint's brake along its freedom, N·m or N; zero before it engages.
    of_resistance : dict of (str, str) to (T,) array
        Forces of dry friction, a sliding brake, and a damper in a cut pair along a freedom, N·m or N; without
        static forces.
    transmitted : dict of str to (T, 6) array
        As ``of_pair``, plus the forces along the freedoms: drives, brakes, friction, springs.
    determined : dict of str to (T, 6) array of bool
        Components of ``of_pair`` that the rigid model or the stated stiffness determines; empty without stated
        stiffness.
    """

    of_pair: dict[str, Array]
    of_rest: dict[str, Array]
    of_brake: dict[str, Array]
    of_resistance: dict[tuple[str, str], Array]
    transmitted: dict[str, Array]
    determined: dict[str, AnyArray]


@dataclass(frozen=True, eq=False)
class _Passing:
    """Forces in the joints at the samples of one segment, world axes.

    Parameters
    ----------
    R, p, c : (s, S, 3, 3), (s, S, 3), (s, S, 3) array
        Frames and centres of mass of the composite bodies, the ground first.
    inwards : (s, S, 6) array
        Wrench of its tree joint on each composite body, at its centre of mass.
    multipliers : (s, m) array
        λ of the closing rows.
    cut : (s, m, 6) array
        Wrench of each closing row on its successor, at the centre of mass.
    brakes : (s, b) array
        Forces of the engaged brakes, N·m or N.
    resisted : (s, r) array
        Forces of all sliding resistances, N·m or N.
    """

    R: Array
    p: Array
    c: Array
    inwards: Array
    multipliers: Array
    cut: Array
    brakes: Array
    resisted: Array


def joint_wrenches(trajectory: Samples) -> JointWrenches:
    """Return the wrenches of all joints at all samples.

    Multipliers of the closing rows follow from M q̈ − F in joint rates. With these, the balance of every body and
    the tree beyond it gives the wrench in its tree joint.
    """
    count = len(trajectory.time)
    of_pair: dict[str, Array] = {name: np.zeros((count, 6)) for name in trajectory.pair_names}
    of_rest: dict[str, Array] = {}
    of_brake: dict[str, Array] = {brake.joint: np.zeros(count) for brake in trajectory.actions.brakes}
    of_resistance: dict[tuple[str, str], Array] = {}
    transmitted: dict[str, Array] = {name: np.zeros((count, 6)) for name in trajectory.pair_names}
    determined = (
        {name: np.array(own) for name, own in determined_components(trajectory).items()}
        if trajectory.stiffness
        else {}
    )
    for held, gripped in _stretches(trajectory):
        start = trajectory.q[held.samples[0]]
        model = tree_model(held.mech, trajectory.actions, planar=trajectory.planar, q=start, apart=True)
        close(model, held, gripped)
        carried = _carried(trajectory, held, model, gripped)
        for brake, forces in zip(gripped, carried.brakes.T, strict=True):
            of_brake[brake.joint][held.samples] = forces
        freedoms = model.table.labels[len(model.table.labels) - len(model.resistances) :]
        along = {freedom_held(label): n for n, label in enumerate(freedoms)}
        for freedom, n in along.items():
            of_resistance.setdefault(freedom, np.zeros(count))[held.samples] = carried.resisted[:, n]
        for name, at in _rows_by_constraint(model).items():
            if name not in of_pair:
                # a wheel that begins to roll has more rows than before
                missing = len(at) - of_rest.setdefault(name, np.zeros((count, 0))).shape[1]
                of_rest[name] = np.pad(of_rest[name], ((0, 0), (0, max(missing, 0))))
                of_rest[name][held.samples, : len(at)] = carried.multipliers[:, at]
        for pair in held.mech.pairs:
            if pair.name in of_pair:
                whole, constrained = _wrench(model, pair, carried)
                transmitted[pair.name][held.samples] = whole
                of_pair[pair.name][held.samples] = constrained
        rest = {n: [model.table.labels[i][1] for i in at] for n, at in _rows_by_constraint(model).items()}
        if trajectory.coordinates == "absolute":
            before = {name: wrenches[held.samples] for name, wrenches in of_pair.items()}
            # this module is slow to import, and few motions need it
            from mbplugin.simulation.trajectory.redundant import spread_over_all_rows

            spread_over_all_rows(trajectory, held, rest, of_pair, of_rest)
            for name, wrenches in of_pair.items():
                transmitted[name][held.samples] += wrenches[held.samples] - before[name]
        if trajectory.stiffness:
            from mbplugin.simulation.trajectory.redundant import Carried, resolve_along

            resolve_along(
                trajectory,
                held,
                trajectory.stiffness,
                Carried(of_pair, transmitted, of_rest, rest, determined),
            )
        if trajectory.stiffness or trajectory.coordinates == "absolute":
            for brake in gripped:
                if label := holding_row(model, held, brake):
                    k = rest[label[0]].index(label[1])
                    of_brake[brake.joint][held.samples] = of_rest[label[0]][held.samples, k]
    for one in borrowers(trajectory.mechanism, trajectory.actions):
        # the coupling does not have to accelerate the inertia that its follower borrows
        qdd = trajectory.qdd[:, trajectory.mechanism.qd_names.index(one.follower)]
        of_rest[one.coupling] = of_rest[one.coupling] - (one.armature / one.coefficient * qdd)[:, None]
    out = JointWrenches(of_pair, of_rest, of_brake, of_resistance, transmitted, determined)
    for held_by in (of_pair, of_rest, of_brake, of_resistance, transmitted, determined):
        make_read_only(*held_by.values())
    return out


def _stretches(trajectory: Samples) -> Iterator[tuple[Held, tuple[BrakeForce, ...]]]:
    """Yield each stretch of samples with the same active constraints and the same engaged brakes."""
    for held in held_mechanisms(trajectory):
        for samples, gripped in by_brakes(trajectory, held.samples):
            yield replace(held, samples=samples), gripped


def _carried(trajectory: Samples, held: Held, model: TreeModel, gripped: tuple[BrakeForce, ...]) -> _Passing:
    apart = trajectory.dropped if trajectory.coordinates == "joint" else ()
    handling = Handling(trajectory.redundancy, apart)
    p = trajectory.degree_of_redundancy if not held.active else _redundancy(trajectory, held)
    count, composites, rows = len(held.samples), len(model.composites), model.table.persistent
    out = _Passing(
        np.empty((count, composites, 3, 3)),
        np.empty((count, composites, 3)),
        np.empty((count, composites, 3)),
        np.empty((count, composites, 6)),
        np.empty((count, rows)),
        np.empty((count, rows, 6)),
        np.empty((count, len(gripped))),
        np.empty((count, len(model.resistances))),
    )
    ends = before_jumps(trajectory.time)
    multipliers = np.zeros(rows)
    by_load = LoadFriction(model)
    for n, k in enumerate(held.samples):
        t, q, qd, qdd = (getattr(trajectory, name)[k] for name in ("time", "q", "qd", "qdd"))
        model.evaluate(q, qd, t)
        before = (trajectory.qd[k - 1], trajectory.qdd[k - 1]) if k and ends[k] else None
        set_senses(model, qd, qdd, before)
        for _ in by_load.passes():
            if rows:
                equations = equations_of(model, q, qd, time=t, degree_of_redundancy=p, decided=True)
                multipliers = handling.multipliers(equations, qdd)
            model.evaluate(q, qd, t)
            by_load.follow(qdd, multipliers)
        model.evaluate(q, qd, t)
        pull_rows(model, multipliers)
        model.rates["qdd"] = qdd
        inverse_dynamics(model.composites, model.rates, np.empty(len(qdd)))
        for name, field in (("R", out.R), ("p", out.p), ("c", out.c), ("f", out.inwards)):
            field[n] = model.composites[name]
        out.multipliers[n] = multipliers
        out.brakes[n] = [brake_force(model, held, brake, qd, multipliers) for brake in gripped]
        out.resisted[n] = resistance_forces(model, qd)
        out.cut[n] = multipliers[:, None] * model.table.rows["on_b"][:rows]
    return out


def _redundancy(trajectory: Samples, held: Held) -> int:

    # a larger redundancy at single poses is due to a singularity
    poses = (trajectory.q[k] for k in held.spread(3))
    return min(redundancy(held.mech, q, trajectory.planar, trajectory.tolerance) for q in poses)


def _rows_by_constraint(model: TreeModel) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for i, (name, _) in enumerate(model.table.labels[: model.table.persistent]):
        found.setdefault(name, []).append(i)
    return found


def _wrench(model: TreeModel, pair: Pair, carried: _Passing) -> tuple[Array, Array]:
    """Return the total wrench (s, 6) of a pair, and the part that its rows carry.

    Both act on the successor at the origin of S, axes of P.
    """
    mech = model.mech
    a, X_aP = model.composites_of.frame(mech, pair.body_a, pair.X_AP)
    b, X_bS = model.composites_of.frame(mech, pair.body_b, pair.X_BS)
    p_S = carried.p[:, b] + carried.R[:, b] @ X_bS.p
    joint = mech.tree.joint_of_pair.get(pair.name)
    if joint is None:
        own = [i for i, label in enumerate(model.table.labels) if label[0] == pair.name]
        wrench: Array = carried.cut[:, own].sum(axis=1)
        at = b
    else:
        at = a if joint.reversed else b
        wrench = -carried.inwards[:, at] if joint.reversed else carried.inwards[:, at]
    force, moment = wrench[:, :3], wrench[:, 3:] + cross(carried.c[:, at] - p_S, wrench[:, :3])
    seen = np.isin(np.arange(6), plane_columns(model.planar))
    R_PW = np.swapaxes(carried.R[:, a] @ X_aP.R, 1, 2)
    turned = [np.einsum("nij,nj->ni", R_PW, half) for half in (force * seen[:3], moment * seen[3:])]
    wrench = np.concatenate(turned, axis=1)
    constrained = constrained_part(pair, wrench, R_PW @ carried.R[:, b] @ X_bS.R)
    if joint is not None:
        return wrench, constrained
    return constrained + _along_freedoms(model, pair, carried), constrained


def _along_freedoms(model: TreeModel, pair: Pair, carried: _Passing) -> Array:
    """Return the forces along the freedoms of a cut pair (s, 6), both sliding and static."""
    out: Array = np.zeros((len(carried.resisted), 6))
    labels = model.table.labels
    first = len(labels) - len(model.resistances)
    for freedom in pair.kind.free:
        k = COMPONENTS.index(freedom)
        for i, label in enumerate(labels):
            if i >= first and freedom_held(label) == (pair.name, freedom):
                out[:, k] += carried.resisted[:, i - first]
            elif label == lock_label(pair.name, freedom):
                out[:, k] += carried.multipliers[:, i]
    return out


def constrained_part(pair: Pair, wrench: Array, R_PS: Array) -> Array:
    """Return the part (n, 6) of a joint's wrench that its rows carry, without the forces along its freedoms.

    Parameters
    ----------
    wrench : (n, 6) array
        At the origin of S, axes of P.
    R_PS : (n, 3, 3) array
        Orientation of S relative to P.
    """
    out: Array = wrench.copy()
    if pair.kind.row_kind("rz") is RowKind.CROSSED:
        normal = cross(np.broadcast_to(np.array([1.0, 0.0, 0.0]), R_PS.shape[:2]), R_PS[:, :, 1])
        out[:, 3:] = normal * (normal * wrench[:, 3:]).sum(axis=1, keepdims=True)
        return out
    out[:, [COMPONENTS.index(c) for c in pair.kind.free]] = 0.0
    if pair.kind.row_kind("tz") is RowKind.SCREW:
        out[:, 5] = -travel_per_radian(pair) * wrench[:, 2]
    return out


# Uniqueness of the reaction components in the rigid model along a motion.


def determined_components(trajectory: Samples) -> dict[str, AnyArray]:
    """Return flags (T, 6) for every pair of the components that the rigid model determines."""
    count = len(trajectory.time)
    out: dict[str, AnyArray] = {name: np.ones((count, 6), dtype=bool) for name in trajectory.pair_names}
    for held in held_mechanisms(trajectory):
        systems = _generic(trajectory, held)
        for name in out.keys() & held.mech.pair_by_name.keys():
            out[name][held.samples] = np.all([_determined(s, name) for s in systems], axis=0)
    make_read_only(*out.values())
    return out


def _generic(trajectory: Samples, held: Held) -> list[System]:
    """Return the systems at sampled poses that are not singular, i.e. those of the smallest redundancy."""
    columns = plane_columns(trajectory.planar)
    poses = [trajectory.q[k] for k in held.spread(_POSES)]
    systems = [
        build_system(held.mech, q, forward(held.mech, q), columns, trajectory.tolerance) for q in poses
    ]
    least = min(system.Z.shape[1] for system in systems)
    return [system for system in systems if system.Z.shape[1] == least]


def _determined(system: System, name: str) -> AnyArray:
    """Return flags (6,) of the components of a pair's wrench to which only determined multipliers contribute."""
    pair = system.mech.pair_by_name[name]
    (rows,) = (rows for rows in system.rows if rows.constraint == name)
    if not rows.components:
        return np.ones(6, dtype=bool)
    part = np.abs(joint_rows(system, pair, rows)) > _NO_PART
    return np.asarray(~part[~system.unique[system.slices[name]]].any(axis=0))


# Engaged brakes along a computed motion, and their forces.


def by_brakes(trajectory: Samples, samples: AnyArray) -> Iterator[tuple[AnyArray, tuple[BrakeForce, ...]]]:
    """Yield parts of the ``samples`` (k,) of a segment with the brakes engaged there, in the order of time."""
    first = {brake: _first_sample(trajectory, brake.closes) for brake in trajectory.actions.brakes}
    inner = sorted({k for k in first.values() if samples[0] < k <= samples[-1]})
    for part in np.split(samples, np.searchsorted(samples, inner)):
        if part.size:
            yield part, tuple(brake for brake, k in first.items() if k <= part[0])


def _first_sample(trajectory: Samples, closes: float) -> int:
    """Return the first sample after a brake engages at ``closes`` (s); of two different ones then, the second."""
    time, qdd = trajectory.time, trajectory.qdd
    k = int(np.searchsorted(time, closes - 1e-12 * (1.0 + closes)))
    twice = k + 1 < len(time) and time[k + 1] - time[k] <= 1e-12 * (1.0 + closes)
    return k + 1 if twice and not np.array_equal(qdd[k], qdd[k + 1]) else k


def close(model: TreeModel, held: Held, gripped: tuple[BrakeForce, ...]) -> None:
    """Add the laws of engaged brakes to the model; without dry friction if a lock replaces it."""
    own = {lock.joint for lock in held.mech.locks}
    for n, brake in model.brakes:
        if brake in gripped:
            law = brake.law.without_dry_part if brake.joint in own else brake.law
            add_law(model.resistances[n], law)


def set_senses(model: TreeModel, qd: Array, qdd: Array, before: tuple[Array, Array] | None = None) -> None:
    """Set the sense of every resistance to that of its rate.

    If the rate is zero, take the sense of the acceleration, in which it starts to slide; if sliding has just
    ended, that of the rate before. The model must have been evaluated at the state.

    Parameters
    ----------
    qd, qdd : (nv,) array
        Rates and accelerations, SI units.
    before : (qd, qdd), optional
        Those of the previous sample, if the state is the last one before a jump.
    """
    rates, at_rest = rates_of(model, qd), AT_REST
    beside = rates_of(model, qdd)
    if before is not None:
        earlier, at_rest = rates_of(model, before[0]), _HARDLY
        beside = np.where(np.abs(earlier) > AT_REST, earlier, rates_of(model, before[1]))
    model.resistances["sense"] = np.sign(np.where(np.abs(rates) > at_rest, rates, beside))


def before_jumps(time: Array) -> AnyArray:
    """Return flags (T,) of the last samples before jumps, from their ``time`` (T,), s.

    These are the first of several samples with the same time.
    """
    twice = np.diff(time) == 0
    return np.asarray(np.append(twice, False) & ~np.insert(twice, 0, False))


def resistance_forces(model: TreeModel, qd: Array) -> Array:
    """Return the sliding force of every resistance (n,) along its freedom at rates qd (nv,), N·m or N."""
    return sliding_forces(model.resistances, rates_of(model, qd))


def holding_row(model: TreeModel, held: Held, brake: BrakeForce) -> RowLabel | None:
    """Return the (constraint, component) of the lock that represents a holding brake; None if it does not hold."""
    label = lock_label(brake.joint, brake.freedom)
    return label if str(Holder("brake", brake.joint)) in held.active and label in model.table.labels else None


def brake_force(model: TreeModel, held: Held, brake: BrakeForce, qd: Array, multipliers: Array) -> float:
    """Return the force of an engaged brake along the freedom of its joint, N·m or N.

    Rates qd (nv,) and multipliers (m,) are those of the state.
    """
    n = next(n for n, other in model.brakes if other is brake)
    if label := holding_row(model, held, brake):
        return float(multipliers[model.table.labels.index(label)])
    one = model.resistances[n]
    rate = float(rates_of(model, qd)[n])
    sliding = brake.law.sliding * one["sense"] if one["sliding"] else 0.0
    return -float(sliding + rate_force(brake.law, rate))


# Forces along the freedom of a joint.


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


def axis_forces(motion: Samples, wrenches: JointWrenches, joint: str) -> AxisForces | None:
    """Return the forces along the freedom of a joint; None if it does not have exactly one freedom."""
    pair = motion.mechanism.pair_by_name[joint]
    if len(pair.kind.free) != 1:
        return None
    freedom = pair.kind.free[0]
    drive, friction = _driven(motion, wrenches, pair)
    braked = joint in {brake.joint for brake in motion.actions.brakes}
    brake = wrenches.of_brake[joint].copy() if braked else np.zeros(len(motion.time))
    friction += _of_friction(motion, wrenches, pair, brake)
    total = _along(pair, wrenches.transmitted[joint])
    make_read_only(total, drive, brake, friction)
    return AxisForces(freedom, units_of(freedom).force, total, drive, brake, friction)


def _along(pair: Pair, wrench: Array) -> Array:
    """Return the power of a wrench (T, 6) per unit rate of the freedom, (T,)."""
    along: Array = wrench[:, COMPONENTS.index(pair.kind.free[0])].copy()
    if pair.kind.row_kind("tz") is RowKind.SCREW:
        along += travel_per_radian(pair) * wrench[:, 2]
    return along


def _while(motion: Samples, kind: HolderKind, joint: str) -> AnyArray:
    """Return flags (T,) of the samples at which a holder of this kind acts on a joint."""
    name = str(Holder(kind, joint))
    return np.asarray(np.array([name in names for names in motion.active], dtype=bool)[motion.segment])


def _holding(motion: Samples, wrenches: JointWrenches, joint: str) -> Array:
    """Return the force (T,) of the lock that replaces the brake, friction or drive of a joint."""
    rows = wrenches.of_rest.get(str(Holder("lock", joint)))
    return np.zeros(len(motion.time)) if rows is None or not rows.shape[1] else rows[:, 0]


def _of_friction(motion: Samples, wrenches: JointWrenches, pair: Pair, brake: Array) -> Array:
    """Return dry friction and damping, (T,), N·m or N, without the dry friction that a drive overcomes.

    ``brake`` (T,) is the force of the brake.
    """
    slid = wrenches.of_resistance.get((pair.name, pair.kind.free[0]))
    out = np.zeros(len(brake))
    if slid is not None:
        out += slid - np.where(_while(motion, "brake", pair.name), 0.0, brake)
    out += np.where(_while(motion, "friction", pair.name), _holding(motion, wrenches, pair.name), 0.0)
    joint = motion.mechanism.tree.joint_of_pair.get(pair.name)
    if joint is not None and motion.actions.damping:
        out -= pair.freedoms[0].damping * motion.qd[:, joint.qd.start]
    return out


def _driven(motion: Samples, wrenches: JointWrenches, pair: Pair) -> tuple[Array, Array]:
    """Return the force of a drive and the dry friction that it overcomes, (T,) each."""
    joint = motion.mechanism.tree.joint_of_pair.get(pair.name)
    leads = _while(motion, "drive", pair.name)
    drive = np.where(leads, _holding(motion, wrenches, pair.name), 0.0)
    friction = np.zeros(len(drive))
    if joint is not None and motion.actions.friction:
        rate = motion.qd[:, joint.qd.start]
        sense = np.where(np.abs(rate) > AT_REST, np.sign(rate), 0.0)
        friction = np.where(leads, -pair.freedoms[0].friction * sense, 0.0)
    drive = drive - friction
    for driver in motion.mechanism.drivers:
        if driver.joint == pair.name:
            drive = drive + wrenches.of_rest[driver.name][:, 0]
    return drive, friction
