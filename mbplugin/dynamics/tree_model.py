"""Kernel records of a mechanism: composite bodies, rates, forces and rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import numpy as np

from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.constraints.rank import rank_blocks
from mbplugin.constraints.reduction import characteristic_length
from mbplugin.constraints.rows import all_rows, plane_columns
from mbplugin.dynamics.compiler import Records
from mbplugin.dynamics.formulations import Equations
from mbplugin.dynamics.kernels import articulated, composite_bodies, move, solve
from mbplugin.dynamics.kernels.rows import RowTable, row_table, row_units, update_rows
from mbplugin.errors import BadNumber, BrokenModel
from mbplugin.model import WORLD, BrakeLaw, Constraint, Lock, Mechanism, Pair, TreeJoint, forward
from mbplugin.model.brakes import NO_FORCES, AppliedForces, BrakeForce, rate_values
from mbplugin.model.mechanism.identity import Holder, RowLabel, freedom_held
from mbplugin.model.mechanism.kinematics import home, joint_axes, rigid_groups
from mbplugin.model.spatial import ROTATION, AnyArray, Array, cross, skew
from mbplugin.phrases import Assumption, counted, listed

#: A rate whose inertia is below this fraction of the rigid outboard inertia moves no mass: the rest is rounding.
_ROUNDING = 1e-12


# Equations of motion in joint coordinates: only closures, couplings, drivers and the like are rows.


def joint_equations(
    mech: Mechanism,
    q: Array,
    qd: Array,
    actions: AppliedForces = NO_FORCES,
    *,
    time: float = 0.0,
    planar: str | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
    degree_of_redundancy: int | None = None,
) -> Equations:
    """Return M q̈ = F + Jᵀλ, J q̈ = Γ in joint rates at a closed state; arguments as for
    :func:`mbplugin.dynamics.absolute.absolute_equations`.

    M comes from composite inertias, F from inverse dynamics, M⁻¹ from the articulated-body recursion.

    Raises
    ------
    BrokenModel
        A joint moves no mass beyond rounding.
    """
    model = tree_model(mech, actions, planar=planar, q=q)
    if degree_of_redundancy is None:
        degree_of_redundancy = redundancy(mech, q, planar, tolerance)
    equations = equations_of(model, q, qd, time=time, degree_of_redundancy=degree_of_redundancy)
    if (still := without_mass(model.composites, model.rates)).any():
        raise massless_joint(model, still)
    return equations


def redundancy(mech: Mechanism, q: Array, planar: str | None, tolerance: float) -> int:
    """Return p of the rows in joint rates at a closed pose q (nq,).

    In a planar view the rows across the plane are redundant as well, so p is the number of rows in space minus the
    rank in the plane.
    """
    if planar is None and _couples_apart(mech):
        return 0
    poses = forward(mech, q)
    spatial = rank_blocks(mech, poses, plane_columns(None), tolerance, q)
    if planar is None:
        return sum(b.redundancy for b in spatial)
    flat = rank_blocks(mech, poses, plane_columns(planar), tolerance, q)
    rows = sum(b.reduced.shape[0] for b in spatial)
    return rows - sum(b.rank for b in flat)


def _couples_apart(mech: Mechanism) -> bool:
    """Return True if couplings are the only rows in joint rates and no two of them have a joint in common."""
    if mech.tree.cut or mech.drivers or mech.locks or mech.pfaffians:
        return False
    joints = [term.joint for coupling in mech.couplings for term in coupling.terms]
    return len(joints) == len(set(joints))


def equations_of(
    model: TreeModel,
    q: Array,
    qd: Array,
    *,
    time: float = 0.0,
    degree_of_redundancy: int,
    rows: Sequence[int] | None = None,
    drive: Array | None = None,
    decided: bool = False,
) -> Equations:
    """Return the equations of a model at a state, friction and controller included.

    Parameters
    ----------
    q, qd : (nq,), (nv,) array
    time : float
        For the controller and the drivers, s.
    degree_of_redundancy : int
        p of the rows.
    rows : sequence of int, optional
        Active rows of the model; by default the permanent ones of the mechanism.
    drive : (d, 3) array, optional
        Prescribed value, rate and acceleration of the driven freedoms, overriding those of the mechanism.
    decided : bool
        Whether the sliding direction of friction is already set; otherwise it follows from the rates.
    """
    model.evaluate(q, qd, time, drive)
    if len(model.resistances) and not decided:
        model.slide(qd)
        model.evaluate(q, qd, time, drive)
    table, nv = model.table, len(model.rates)
    chosen = list(range(table.persistent) if rows is None else rows)
    count = len(chosen)
    M, C, Gamma, rest = np.zeros((nv, nv)), np.zeros((count, nv)), np.zeros(count), np.zeros(nv)
    articulated.mass_matrix(model.composites, model.rates, M)
    model.rates["qdd"] = 0.0
    articulated.accelerate(model.composites, model.rates)
    for k, i in enumerate(chosen):
        solve.row_in_rates(model.composites, model.rates, table.rows, table.terms, i, 1.0, C[k])
        own = solve.row_acceleration(model.composites, model.rates, table.rows, table.terms, i)
        Gamma[k] = table.rows["gamma"][i] - own
    articulated.inverse_dynamics(model.composites, model.rates, rest)
    turns = np.abs(model.rates["s"][:, ROTATION]).max(axis=1, initial=0.0) > 0
    return Equations(
        "joint",
        tuple(table.labels[i] for i in chosen),
        np.array(qd, dtype=float),
        M,
        -rest,
        C,
        table.rows["bias"][chosen],
        Gamma,
        table.rows["unit"][chosen],
        np.where(turns, 1.0, model.length),
        degree_of_redundancy,
        _Recursion(model.composites.copy(), model.rates.copy()),
    )


class _Recursion:
    """M⁻¹ by the articulated-body recursion, at the state stored in its own records."""

    def __init__(self, composites: AnyArray, rates: AnyArray) -> None:
        """Store the records of composites (b,) and rates (nv,); every call overwrites their forces."""
        self._solids, self._rates = composites, rates

    def __call__(self, rhs: Array) -> Array:
        """Return M⁻¹ rhs, rhs (nv,) or (nv, k)."""
        given = np.asarray(rhs, dtype=float)
        # no reshape(…, -1): the number of columns is ambiguous for nv = 0
        columns = given[:, None] if given.ndim == 1 else given
        out = np.empty_like(columns)
        for k in range(columns.shape[1]):
            self._rates["tau"], self._solids["f"] = columns[:, k], 0.0
            articulated.inward(self._solids, self._rates, False)
            articulated.outward(self._solids, self._rates, False)
            out[:, k] = self._rates["qdd"]
        return out.reshape(np.shape(rhs))


@dataclass(frozen=True, eq=False)
class TreeModel:
    """Records for the kernels; their state fields are overwritten by every evaluation.

    Parameters
    ----------
    composites_of : Solids
        Assignment of bodies to composite bodies.
    length : float
        Characteristic length that makes rows dimensionless, m.
    composites, rates, loads, springs, resistances : record arrays
    brakes : tuple of (index, BrakeForce)
        Brakes, each with the index of the resistance that it adds to when it closes.
    drive : (d, 3) array
        Value, rate and acceleration of every driven freedom.
    power : (3,) array
        Power of dampers and friction, of applied forces, and of drivers, W.
    """

    mech: Mechanism
    actions: AppliedForces
    planar: str | None
    composites_of: composite_bodies.Composites
    length: float
    table: RowTable
    composites: AnyArray
    rates: AnyArray
    loads: AnyArray
    springs: AnyArray
    resistances: AnyArray
    brakes: tuple[tuple[int, BrakeForce], ...]
    drive: Array
    power: Array

    def evaluate(self, q: Array, qd: Array, time: float = 0.0, drive: Array | None = None) -> None:
        """Fill poses, twists, inertias, rows and forces at a state.

        Parameters
        ----------
        q, qd : (nq,), (nv,) array
        time : float
            For the controller and the drivers, s.
        drive : (d, 3) array, optional
            Prescribed value, rate and acceleration of the driven freedoms, overriding those of the mechanism.

        Raises
        ------
        BrokenModel
            A joint moves no mass.
        BadNumber
            The controller does not return nv finite numbers.
        """
        self.power[:] = 0.0
        # read-only arrays would make the kernels compile once more
        q, qd = np.array(q, dtype=float), np.array(qd, dtype=float)
        move(self.composites, self.rates, q, qd)
        if not articulated.factor(self.composites, self.rates):
            raise massless_joint(self)
        if drive is None:
            self.set_drive(time)
        else:
            self.drive[:] = drive
        update_rows(
            self.composites, self.table.joint_frames, self.table.rows, self.table.terms, self.drive, q
        )
        composite_bodies.gather(self.composites, self.rates, self.loads, self.springs, q, qd, self.power)
        rows, terms = self.table.rows, self.table.terms
        solve.resist(self.composites, self.rates, rows, terms, self.resistances, qd, self.power)
        self.control(time, q, qd)

    def control(self, time: float, q: Array, qd: Array) -> None:
        """Add the forces of the controller, if any, at q (nq,) and qd (nv,) to ``tau``, and their power."""
        if self.actions.controller is not None:
            force = self.controller_force(time, q, qd)
            self.rates["tau"] += force
            self.power[1] += float(force @ qd)

    def slide(self, qd: Array) -> None:
        """Set the sliding direction of every resistance from its rate at qd (nv,) and the last evaluated pose."""
        rows, terms, qd = self.table.rows, self.table.terms, np.array(qd)
        for resistance in self.resistances:
            resistance["sense"] = np.sign(solve.row_rate(self.composites, rows, terms, resistance["row"], qd))

    def close_brake(self, brake: BrakeForce) -> None:
        """Close a brake: add its law to the friction of its freedom."""
        for n, other in self.brakes:
            if other is brake:
                solve.add_law(self.resistances[n], brake.law)

    def set_drive(self, time: float) -> None:
        """Fill value, rate and acceleration of the driven freedoms at a time, s."""
        for d, (driver, _) in enumerate(self.table.driven):
            self.drive[d] = driver.at(time)

    def controller_force(self, time: float, q: Array, qd: Array) -> Array:
        """Return the controller's forces (nv,) at q (nq,) and qd (nv,), N·m and N.

        Raises
        ------
        BadNumber
            The controller does not return nv finite numbers.
        """
        assert self.actions.controller is not None
        force = np.asarray(self.actions.controller(time, q.copy(), qd.copy()), dtype=float)
        if force.shape != qd.shape or not np.isfinite(force).all():
            raise BadNumber(
                f"the controller returned {force} at t = {time:.9g} s",
                expected=f"{len(qd)} finite numbers, in the order of qd_names",
            )
        return force


def tree_model(
    mech: Mechanism,
    actions: AppliedForces = NO_FORCES,
    *,
    locks: Sequence[Constraint] = (),
    planar: str | None = None,
    q: Array | None = None,
    apart: bool = False,
) -> TreeModel:
    """Return the records of a mechanism; ``q`` (nq,) is the pose that sets the characteristic length.

    ``locks`` are constraints that may be activated and released later; their rows follow the permanent ones.
    Brakes are open initially. With ``apart``, bodies joined by fixed pairs stay separate.
    """
    composites_of = composite_bodies.find_composites(mech, actions.payloads, apart=apart)
    rates = composite_bodies.rate_records(
        mech, composites_of, rate_values(mech, actions.armature, "armature")
    )
    composite_bodies.fill_rate_forces(mech, rates, actions)
    resisted = list(resisted_freedoms(mech, actions))
    freedoms = [(pair, freedom) for pair, freedom, _ in resisted]
    table = row_table(mech, composites_of, plane_columns(planar), cast(Sequence[Lock], locks), freedoms)
    first = len(table.labels) - len(resisted)
    places = {(pair.name, freedom): n for n, (pair, freedom) in enumerate(freedoms)}
    brakes = tuple((places[brake.joint, brake.freedom], brake) for brake in actions.brakes)
    table = replace(table, labels=_named_after_brakes(table.labels, [first + n for n, _ in brakes]))
    length = _length(mech, q)
    table.rows["unit"][: len(table.labels)] = row_units(table, length)
    return TreeModel(
        mech,
        actions,
        planar,
        composites_of,
        length,
        table,
        composite_bodies.composite_records(mech, composites_of),
        rates,
        composite_bodies.load_records(mech, composites_of, actions),
        composite_bodies.spring_records(mech, composites_of, actions),
        solve.resistance_records(first, [law for _, _, law in resisted]),
        brakes,
        np.zeros((len(table.driven), 3)),
        np.zeros(3),
    )


def resisted_freedoms(mech: Mechanism, actions: AppliedForces) -> Iterator[tuple[Pair, str, BrakeLaw]]:
    """Yield pair, freedom and law (without brake) of freedoms with friction or a brake, and of dampers in cut pairs."""
    braked = {(brake.joint, brake.freedom) for brake in actions.brakes}
    for pair in mech.pairs:
        cut = pair.name not in mech.tree.joint_of_pair
        for component, freedom in zip(pair.kind.free, pair.freedoms, strict=True):
            viscous = freedom.damping if actions.damping and cut else 0.0
            dry = freedom.friction if actions.friction else 0.0
            by_load = actions.friction and freedom.load_friction > 0
            if viscous or dry or by_load or (pair.name, component) in braked:
                yield pair, component, BrakeLaw(dry, dry, viscous)


def _named_after_brakes(labels: tuple[RowLabel, ...], braked: Sequence[int]) -> tuple[RowLabel, ...]:
    """Return the labels of rows; those at the indices ``braked`` name a brake instead of friction."""
    return tuple(
        label._replace(constraint=str(Holder("brake", freedom_held(label)[0]))) if i in braked else label
        for i, label in enumerate(labels)
    )


def _length(mech: Mechanism, q: Array | None) -> float:
    """Return the characteristic length at a pose q (nq,), m; 1 where there is none."""
    if q is None:
        return 1.0
    poses = forward(mech, q)
    return characteristic_length(all_rows(mech, poses, q), poses.p_WC, mech)


def massless_joint(model: TreeModel, rates: AnyArray | None = None) -> BrokenModel:
    """Return the error for a joint that moves no mass; ``rates`` (nv,) marks the massless rates."""
    rate = int(np.flatnonzero(~(model.rates["D"] > 0) if rates is None else rates)[-1])
    name = model.mech.qd_names[rate]
    joint = next(joint for joint in model.mech.tree.joints if joint.qd.start <= rate < joint.qd.stop)
    if joint.pair is not None:
        none = not any(body.mass or body.I_C.any() for body in model.mech.bodies)
        return BrokenModel(
            f"joint rate {name!r} moves no mass" + (", as no link of the file has one" if none else ""),
            remedy="state a mass or an armature of what it moves, or give links without <inertial> 1 kg, as PyBullet"
            " does, with --massless pybullet (massless='pybullet')",
        )
    return BrokenModel(
        f"the base {joint.outer!r} is free, and its rate {name!r} moves no mass",
        remedy="hold the base (base='fixed' or --base fixed) or give it a mass",
    )


# Joints that carry no mass and that nothing acts on: any motion of theirs leaves that of the others as it is.


def joints_without_mass(mech: Mechanism, actions: AppliedForces, qd: Array | None = None) -> tuple[str, ...]:
    """Return the tree joints beyond which there is no mass, and that nothing moves.

    Not among them are joints with a closure, coupling, driver, spring, load, payload, armature or torque on them
    or beyond them, and joints that move at ``qd`` (nv,), rad/s and m/s. There are none if a controller acts, or if
    no joint carries mass: then no motion is left to compute.
    """
    if actions.controller is not None:
        return ()
    tree = mech.tree
    forces = (*actions.torques.items(), *actions.armature.items())
    rates = {*(name for name, value in forces if value), *(spring.joint for spring in actions.joint_springs)}
    busy = {
        *(body.name for body in mech.bodies if body.mass or body.I_C.any()),
        *(name for pair in tree.cut for name in pair.bodies),
        *(pfaffian.body for pfaffian in mech.pfaffians),
        *(name for contact in mech.contacts for name in (contact.body, contact.on)),
        *(load.body for load in actions.loads if load.force.any() or load.torque.any()),
        *(payload.body for payload in actions.payloads if payload.mass or payload.inertia.any()),
        *(name for spring in actions.springs for name in (spring.body_a, spring.body_b)),
    }
    led = {
        *(term.joint for coupling in mech.couplings for term in coupling.terms),
        *(driver.joint for driver in mech.drivers),
    }
    found = []
    for joint in reversed(tree.joints):
        moves = qd is not None and bool(qd[joint.qd].any())
        acted_on = (joint.pair is not None and joint.pair.name in led) or rates & set(mech.qd_names[joint.qd])
        if joint.outer in busy or acted_on or moves:
            busy.add(joint.inner)
        elif joint.pair is not None and joint.pair.kind.free:
            found.append(joint.pair.name)
    moving = [joint for joint in tree.joints if joint.pair is None or joint.pair.kind.free]
    return () if len(found) == len(moving) else tuple(reversed(found))


def with_joints_without_mass_at_rest(
    mech: Mechanism, actions: AppliedForces, qd: Array | None = None
) -> tuple[AppliedForces, tuple[Assumption, ...]]:
    """Return forces that leave the :func:`joints_without_mass` at rest, and a sentence that names these joints.

    Their motion is not determined. An armature makes it determined and changes no other motion, because it
    enters the equation of its own rate only, and nothing acts on that. Joints without mass that follow another joint
    borrow inertia from it, see :func:`followers_without_mass`.

    Parameters
    ----------
    qd : (nv,) array, optional
        Rates at the start, rad/s and m/s; by default all are at rest.
    """
    names = joints_without_mass(mech, actions, qd)
    joints = (mech.tree.joint_of_pair[name] for name in names)
    armature = {rate: 1.0 for joint in joints for rate in mech.qd_names[joint.qd]}
    actions = with_followers_without_mass(mech, actions)
    return replace(actions, armature={**actions.armature, **armature}), said_of_massless(names)


class Follower(NamedTuple):
    """A joint without mass that follows one with mass by a coupling c_f q̇_f + c_l q̇_l = 0.

    Parameters
    ----------
    coupling, follower, leader : str
        Name of the coupling, and of the two rates.
    armature, borrowed : float
        Inertia that the follower gets, and that its leader loses, kg·m² or kg.
    coefficient : float
        c_f.
    """

    coupling: str
    follower: str
    leader: str
    armature: float
    borrowed: float
    coefficient: float


def with_followers_without_mass(mech: Mechanism, actions: AppliedForces) -> AppliedForces:
    """Return the forces with the armatures of :func:`followers_without_mass`."""
    armature = dict(actions.armature)
    for one in followers_without_mass(mech, actions):
        armature[one.follower] = one.armature
        armature[one.leader] = armature.get(one.leader, 0.0) - one.borrowed
    return replace(actions, armature=armature)


def borrowers(mech: Mechanism, actions: AppliedForces) -> list[Follower]:
    """Return the followers whose armatures are among the forces, see :func:`with_followers_without_mass`."""
    found = followers_without_mass(mech, replace(actions, armature={}))
    return [one for one in found if actions.armature.get(one.follower) == one.armature]


def followers_without_mass(mech: Mechanism, actions: AppliedForces) -> list[Follower]:
    """Return the joints without mass that follow a joint with mass, such as mimics, and have no armature.

    The coupling determines their motion, but the recursion divides by the inertia of each joint alone. So the follower
    gets an armature a, and its leader −a (c_l/c_f)²: in all motions that the coupling allows, their kinetic energies
    cancel. Half of the least inertia of the leader stays.
    """
    heavy = {body.name for body in mech.bodies if body.mass or body.I_C.any()}
    heavy |= {payload.body for payload in actions.payloads if payload.mass or payload.inertia.any()}
    for joint in reversed(mech.tree.joints):
        if joint.outer in heavy:
            heavy.add(joint.inner)
    pairs, found = mech.tree.joint_of_pair, list[tuple[str, TreeJoint, TreeJoint, float, float]]()
    for coupling in mech.couplings:
        ends = [(pairs.get(term.joint), term.coefficient) for term in coupling.terms]
        own = [(joint, c) for joint, c in ends if joint is not None and _has_one_rate(joint)]
        light = [(joint, c) for joint, c in own if joint.outer not in heavy]
        if len(own) == len(ends) == 2 and len(light) == 1:
            (follower, c_f), ((leader, c_l),) = light[0], [end for end in own if end not in light]
            if mech.qd_names[follower.qd.start] not in actions.armature:
                found.append((coupling.name, follower, leader, c_f, c_l))
    out = []
    for name, follower, leader, c_f, c_l in found:
        share = 0.5 * _least_inertia(mech, leader) / sum(other is leader for _, _, other, _, _ in found)
        if share > 0:
            rates = [mech.qd_names[joint.qd.start] for joint in (follower, leader)]
            out.append(Follower(name, rates[0], rates[1], share * (c_f / c_l) ** 2, share, c_f))
    return out


def _has_one_rate(joint: TreeJoint) -> bool:
    return joint.pair is not None and len(joint.pair.kind.free) == 1


def _least_inertia(mech: Mechanism, joint: TreeJoint) -> float:
    """Return the inertia about a joint, or the mass on it, of the bodies that move with its outer body alone."""
    poses = forward(mech, home(mech))
    S, on_axis = joint_axes(mech, joint, poses)
    v, w = S[:3, 0], S[3:, 0]
    total = 0.0
    for name in rigid_groups(mech)[joint.outer]:
        i = mech.body_index[name]
        if name != WORLD and joint in mech.tree.way_in(name):
            speed = v + cross(w, poses.p_WC[i] - on_axis)
            J = poses.R_WL[i] @ mech.bodies[i].I_C @ poses.R_WL[i].T
            total += mech.bodies[i].mass * float(speed @ speed) + float(w @ J @ w)
    return total


def said_of_massless(names: Sequence[str]) -> tuple[Assumption, ...]:
    """Return a sentence on joints that stay as they are because they move no mass; empty if there are none."""
    if not names:
        return ()
    stay, they, on = ("stays", "it moves", "it") if len(names) == 1 else ("stay", "they move", "them")
    sentence = (
        f"{listed(names)}: {stay} in place, as {they} no mass, and no other motion depends on {on};"
        " --massless pybullet (massless='pybullet') gives links without <inertial> 1 kg, as PyBullet does."
    )
    return (Assumption(sentence, f"{counted(len(names), 'joint')} without mass in place (--massless)"),)


# Rates that move no mass: compared with the outboard inertia, because differences leave rounding errors.


def without_mass(composites: Records, rates: Records) -> AnyArray:
    """Return a mask (nv,) of the rates that move no mass, at the poses and inertias in the records.

    A rate's inertia is D of the articulated-body recursion, with all outer joints free. It vanishes where other
    rates can compensate, such as for a slide next to a massless free body.
    """
    D = np.asarray(rates["D"])
    # NaN counts as no mass
    return ~(_ROUNDING * _rigid(composites, rates) < D)


def _rigid(composites: Records, rates: Records) -> Array:
    """Return the inertia (nv,) that each rate moves if all outer joints are rigid."""
    composite = np.zeros((len(composites), 6, 6))
    out = np.zeros(len(rates))
    for k in range(len(composites) - 1, 0, -1):
        body = composites[k]
        composite[k, :3, :3] += body["mass"] * np.eye(3)
        composite[k, 3:, 3:] += body["J"]
        for j in range(body["qd_start"], body["qd_start"] + body["freedoms"]):
            s = rates[j]["s"]
            out[j] = rates[j]["armature"] + s @ composite[k] @ s
        if body["parent"]:
            # maps the twist at the parent's centre of mass to this one
            X = np.eye(6)
            X[:3, 3:] = -skew(body["c"] - composites[body["parent"]]["c"])
            composite[body["parent"]] += X.T @ composite[k] @ X
    return out
