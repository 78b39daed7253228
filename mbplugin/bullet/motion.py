"""Simulate the motion of a task in PyBullet, and list the parts that PyBullet does not support."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.bullet import session
from mbplugin.bullet.built import UNLIMITED, Built, Motor, build, drive
from mbplugin.errors import BrokenModel
from mbplugin.model import AppliedForces, BrakeForce, Freedom, Load, Payload, Scene, State, freedom_name
from mbplugin.model.brake_law import BrakeLaw, depends_on_rate, rate_force
from mbplugin.model.mechanism import WORLD, Lock, Mechanism, Pfaffian, Rolling
from mbplugin.model.spatial import Array, JointSpring, Spring, cross, unit

if TYPE_CHECKING:
    from mbplugin.simulation.passing_marks import TimedDrive

#: Most samples between two instants.
_SAMPLES = 100
#: Times that differ by less count as equal, s.
SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Sampled:
    """A sampled motion of PyBullet.

    Parameters
    ----------
    time : (n,) array
        s, without the start; a sample at an instant is the state before the change.
    q, qd : (n, nq), (n, nv) array
    p_WC : (n, N, 3) array
        Centres of mass of the bodies, m.
    R_WL : (n, N, 3, 3) array
    changed : tuple of (nv,) array
        Rates one step after each instant within the motion.
    """

    time: Array
    q: Array
    qd: Array
    p_WC: Array
    R_WL: Array
    changed: tuple[Array, ...]


def sampled_every(count: int) -> int:
    """Return after how many of ``count`` steps a sample is taken, at the coarsest step."""
    return max(1, -(-count // _SAMPLES))


def left_out(task: Task) -> tuple[str, ...]:
    """Return the parts of a task that PyBullet cannot simulate, one sentence each."""
    with session() as (_, client):
        try:
            built = build(task.scene, client)
        except BrokenModel as error:
            return (error.what,)
        return (*built.left_out, *_without_motor(task, built), *_by_load(task))


def _by_load(task: Task) -> Iterator[str]:
    """Name the joints whose friction grows with their load."""
    for pair in task.mech.pairs if task.friction else ():
        if any(freedom.load_friction for freedom in pair.freedoms):
            yield f"PyBullet has no friction that grows with the load of a joint, as {pair.name!r} has; MuJoCo gets it"


def run_motion(task: Task, step: float, refinements: tuple[int, ...], solver: Solver) -> list[Sampled]:
    """Return PyBullet's motion for each refinement, with steps of ``step`` (s) divided by it."""
    return [_run(task, step, refinement, solver) for refinement in refinements]


def run_to_end(task: Task, step: float, solver: Solver) -> Sampled:
    """Return PyBullet's motion with samples at the ends of its intervals only: reading poses takes most of a step."""
    return _run(task, step, 1, solver, ends_only=True)


def _run(task: Task, step: float, refinement: int, solver: Solver, ends_only: bool = False) -> Sampled:
    with session() as (bullet, client):
        built = build(task.scene, client)
        bullet.setGravity(*task.mech.gravity.tolist(), physicsClientId=client)
        bullet.setPhysicsEngineParameter(
            numSolverIterations=solver.iterations,
            solverResidualThreshold=solver.residual_threshold,
            erp=solver.erp,
            numSubSteps=0,
            physicsClientId=client,
        )
        samples: list[tuple[float, Array, Array, Array, Array]] = []
        changed = []
        held_contacts: list[int] = []
        instants = task.instants
        for begin, end, count in zip(instants[:-1], instants[1:], task.counts(step), strict=True):
            fine = count * refinement
            h = (end - begin) / fine
            bullet.setTimeStep(h, physicsClientId=client)
            driven, laws = _set_motors(task, built, begin + SAME)
            every = fine if ends_only else refinement * sampled_every(count)
            for k in range(1, fine + 1):
                for motor, rate in driven:
                    drive(built, motor, rate(begin + k * h), UNLIMITED)
                apply_forces(task, built, laws)
                held_contacts = hold_contacts(built, task.mech, held_contacts)
                bullet.stepSimulation(physicsClientId=client)
                if k == 1 and begin > 0:
                    changed.append(built.state()[1])
                if k % every == 0 or k == fine:
                    # the exact instant, so that rounding does not move the sample past it
                    time = end if k == fine else begin + k * h
                    samples.append((time, *built.state(), *_poses(built)))
        columns = [np.array(column) for column in zip(*samples, strict=True)]
        return Sampled(columns[0], columns[1], columns[2], columns[3], columns[4], tuple(changed))


def _poses(built: Built) -> tuple[Array, Array]:
    poses = [(built.pose(body.name), body.p_LC) for body in built.mechanism.bodies]
    return np.array([X.apply(p) for X, p in poses]), np.array([X.R for X, _ in poses])


@dataclass(frozen=True)
class Rate:
    """The rate of a drive, from a polynomial of its coordinate."""

    start: float
    coefficients: tuple[float, ...]

    def __call__(self, time: float) -> float:
        """Return the rate at a time, s."""
        s = time - self.start
        return float(sum(k * c * s ** (k - 1) for k, c in enumerate(self.coefficients) if k))


def _set_motors(
    task: Task, built: Built, time: float
) -> tuple[list[tuple[Motor, Rate]], dict[str, BrakeLaw]]:
    """Set locks, friction and brakes as they are from an instant on.

    Returns the driven motors with their rates, and by joint the parts of brake laws to be applied as torques.
    """
    moving = []
    laws: dict[str, BrakeLaw] = {}
    for pair, freedom, motor in axes(built):
        own = motor.step.freedom
        if is_locked(task, pair, own, time):
            drive(built, motor, 0.0, UNLIMITED)
            continue
        rate = driven_rate(task, pair, own, time)
        if rate is not None:
            moving.append((motor, rate))
            continue
        law = law_at(task, pair, own, freedom, time)
        drive(built, motor, 0.0, law.sliding)
        built.bullet.changeDynamics(
            motor.id, motor.link, jointDamping=law.viscous, physicsClientId=built.client
        )
        if depends_on_rate(law.without_linear_part):
            laws[pair] = law.without_linear_part
    return moving, laws


def law_at(task: Task, pair: str, own: str, freedom: Freedom, time: float) -> BrakeLaw:
    """Return the law of a freedom at a time, s: its friction and damping, and the brakes that have gripped."""
    law = BrakeLaw(
        sliding=freedom.friction if task.friction else 0.0,
        viscous=freedom.damping if task.damping else 0.0,
    )
    for brake in task.brakes:
        if (brake.joint, brake.freedom) == (pair, own) and brake.closes <= time:
            law += brake.law
    return law


def is_locked(task: Task, pair: str, freedom: str, time: float) -> bool:
    """Return True if a lock of the task holds a freedom at a time, s."""
    own = [k for k in (*task.mech.locks, *task.locks) if k.joint == pair]
    own = [k for k in own if not k.freedoms or freedom in k.freedoms]
    return any((k.at or 0.0) <= time and (k.until is None or time < k.until) for k in own)


def driven_rate(task: Task, pair: str, freedom: str, time: float) -> Rate | None:
    """Return the rate that a drive prescribes for a freedom from a time on, s; None without a drive."""
    for one in task.drives:
        of = one.driver
        if (
            of.joint == pair
            and freedom in (of.freedoms or (freedom,))
            and (one.until is None or time < one.until)
        ):
            return Rate(*[segment for segment in one.motion_segments if segment[0] <= time][-1])
    return None


def _without_motor(task: Task, built: Built) -> tuple[str, ...]:
    """Return a sentence for each lock, brake, drive, friction, torque or spring on a freedom without its own motor."""
    have = {(pair, motor.step.freedom) for pair, _, motor in axes(built)}
    requested = needed_axes(task)
    missing = dict.fromkeys((kind, pair) for kind, pair, freedom in requested if (pair, freedom) not in have)
    names = {n for pair, _, m in axes(built) for n in (pair, freedom_name(pair, m.step.freedom))}
    springs = [spring.joint for spring in task.joint_springs]
    idle = [name for name in (*(task.torques or {}), *springs) if name not in names]
    return (
        *(f"PyBullet has no motor for the {kind} of {pair!r}" for kind, pair in missing),
        *(f"PyBullet has no motor for the torque or spring of {name!r}" for name in idle),
    )


def needed_axes(task: Task) -> list[tuple[str, str, str]]:
    """Return the freedoms that something acts on: its kind, the pair and the freedom."""
    requested: list[tuple[str, str, str]] = [("brake", b.joint, b.freedom) for b in task.brakes]
    for lock in task.locks:
        free = task.mech.pair_by_name[lock.joint].kind.free
        requested += [("lock", lock.joint, f) for f in lock.freedoms or free]
    for one in task.drives:
        free = task.mech.pair_by_name[one.driver.joint].kind.free
        requested += [("driver", one.driver.joint, f) for f in one.driver.freedoms or free]
    if task.friction:
        requested += [
            ("friction", pair.name, f)
            for pair in task.mech.pairs
            for f, own in zip(pair.kind.free, pair.freedoms, strict=True)
            if own.friction or own.load_friction
        ]
    return requested


# Forces in PyBullet, applied before every step: loads, torques, springs, brake laws.


def axes(built: Built) -> Iterator[tuple[str, Freedom, Motor]]:
    """Yield the pair, the stated data and the motor of each freedom that has its own motor."""
    for name, motors in built.motors.items():
        pair = built.cut.pair_by_name[name]
        freedoms = dict(zip(pair.kind.free, pair.freedoms, strict=True))
        for motor in motors:
            if motor.step.freedom in freedoms and motor.step.kind != "spherical":
                yield name, freedoms[motor.step.freedom], motor


def apply_forces(task: Task, built: Built, laws: Mapping[str, BrakeLaw]) -> None:
    """Apply loads, torques, springs and brake laws for one step, with their values at its start.

    Parameters
    ----------
    laws : mapping of str to BrakeLaw
        By joint, without the parts that motors and dampers provide.
    """
    for load in task.loads:
        X_WL = built.pose(load.body)
        turn = X_WL.R if load.frame != "world" else np.eye(3)
        point, force, torque = X_WL.apply(load.point), turn @ load.force, turn @ load.torque
        for f, p in [(force, point), *_couple(torque, point)]:
            _pull(built, load.body, f, p)
    for spring in task.springs:
        _stretch(built, spring)
    efforts = dict(task.torques or {})
    if task.joint_springs or laws:
        mech, (q, qd) = task.mech, built.state()
        for one in task.joint_springs:
            own = one.force(float(q[mech.q_names.index(one.joint)]))
            efforts[one.joint] = efforts.get(one.joint, 0.0) + own
        for joint, law in laws.items():
            rate = float(qd[mech.qd_names.index(joint)])
            efforts[joint] = efforts.get(joint, 0.0) - rate_force(law, rate)
    if efforts:
        _turn(built, efforts)


def _turn(built: Built, efforts: dict[str, float]) -> None:
    for pair, _, motor in axes(built):
        for name in (pair, freedom_name(pair, motor.step.freedom)):
            if name in efforts:
                built.bullet.setJointMotorControl2(
                    motor.id,
                    motor.link,
                    built.bullet.TORQUE_CONTROL,
                    force=float(efforts[name]),
                    physicsClientId=built.client,
                )


def _pull(built: Built, body: str, force: Array, point: Array) -> None:
    """Apply a force (3,), N, at a point (3,), m, both in world axes."""
    if body == WORLD:
        return
    place = built.places[body]
    built.bullet.applyExternalForce(
        place.id,
        place.link,
        force.tolist(),
        point.tolist(),
        built.bullet.WORLD_FRAME,
        physicsClientId=built.client,
    )


def _couple(torque: Array, point: Array) -> list[tuple[Array, Array]]:
    """Return two forces with their points of application around a point (3,) that are equivalent to a torque (3,), N·m.

    They are used because PyBullet applies external torques in the wrong frame.
    """
    if not torque.any():
        return []
    arm = cross(torque, np.eye(3)[np.argmin(np.abs(torque))])
    arm = arm / np.linalg.norm(arm)
    force = 0.5 * cross(torque, arm)
    return [(force, point + arm), (-force, point - arm)]


def _stretch(built: Built, spring: Spring) -> None:
    """Apply the force of a spring and damper to both of its ends."""
    (p_a, v_a), (p_b, v_b) = (
        _end(built, body, point)
        for body, point in ((spring.body_a, spring.point_a), (spring.body_b, spring.point_b))
    )
    force = spring.force_on_a(p_b - p_a, v_b - v_a)
    _pull(built, spring.body_a, force, p_a)
    _pull(built, spring.body_b, -force, p_b)


def _end(built: Built, body: str, point: Array) -> tuple[Array, Array]:
    """Return the position and velocity of a point (3,) of a body, in world axes."""
    if body == WORLD:
        return point, np.zeros(3)
    place, where = built.places[body], {"physicsClientId": built.client}
    if place.link < 0:
        v, w = built.bullet.getBaseVelocity(place.id, **where)
    else:
        state: Any = built.bullet.getLinkState(place.id, place.link, computeLinkVelocity=1, **where)
        v, w = state[6:8]
    X_WL = built.pose(body)
    p = X_WL.apply(point)
    return p, np.array(v) + cross(np.array(w), p - X_WL.apply(place.X_LC.p))


# The task of a PyBullet motion: a mechanism, its state, and the changes with their times.


@dataclass(frozen=True, eq=False)
class Task:
    """One motion to be computed both by PyBullet and by mbplugin.

    Parameters
    ----------
    mech : Mechanism
        Without drivers.
    q, qd : (nq,), (nv,) array
        Initial state, with loops closed.
    duration : float
        s.
    payloads, loads, torques, springs, joint_springs : as in AppliedForces
    brakes : tuple of BrakeForce
        With the times at which they grip.
    locks : tuple of Lock
        With the times at which they close and open.
    drives : tuple of TimedDrive
        Drives of joints, permanent or temporary.
    """

    mech: Mechanism
    q: Array
    qd: Array
    duration: float
    payloads: tuple[Payload, ...] = ()
    loads: tuple[Load, ...] = ()
    torques: Mapping[str, float] | None = None
    springs: tuple[Spring, ...] = ()
    joint_springs: tuple[JointSpring, ...] = ()
    damping: bool = True
    friction: bool = True
    brakes: tuple[BrakeForce, ...] = ()
    locks: tuple[Lock, ...] = ()
    drives: tuple[TimedDrive, ...] = ()

    @property
    def instants(self) -> tuple[float, ...]:
        """Times at which something changes, from 0 to the duration, s."""
        times = {0.0, self.duration}
        for lock in self.locks:
            times |= {lock.at or 0.0, *(() if lock.until is None else (lock.until,))}
        times |= {brake.closes for brake in self.brakes}
        for timed in self.drives:
            times |= {start for start, _ in timed.motion_segments}
            times |= set() if timed.until is None else {timed.until}
        inner = [0.0]
        for time in sorted(times):
            if inner[-1] + SAME < time < self.duration - SAME:
                inner.append(time)
        return (*inner, self.duration)

    @property
    def constrained(self) -> bool:
        """Whether there are constraints for PyBullet's iterative solver."""
        mech = self.mech
        resisted = self.friction and any(
            f.friction or f.load_friction for pair in mech.pairs for f in pair.freedoms
        )
        ties = (
            mech.tree.cut,
            mech.pfaffians,
            mech.couplings,
            mech.locks,
            self.locks,
            self.brakes,
            self.drives,
            resisted,
        )
        return any(ties) or any(pair.type == "screw" for pair in mech.pairs)

    @property
    def rows(self) -> int:
        """Approximate number of constraint rows over which PyBullet iterates, without those of motors."""
        closed = sum(len(pair.kind.constrained) for pair in self.mech.tree.cut)
        return closed + len(self.mech.couplings) + 3 * len(self.mech.pfaffians)

    @property
    def scene(self) -> Scene:
        """The scene to build: with payloads, and without wheels and, if damping is off, without dampers."""
        mech = off_wheels(self.mech)
        if not self.damping:
            pairs = (
                replace(p, freedoms=tuple(replace(f, damping=0.0) for f in p.freedoms)) for p in mech.pairs
            )
            mech = replace(mech, pairs=tuple(pairs))
        return Scene(mech, State(self.q, self.qd), payloads=self.payloads)

    @property
    def actions(self) -> AppliedForces:
        """The applied forces, in the form that mbplugin's own simulation takes."""
        return AppliedForces(
            self.loads,
            self.payloads,
            self.springs,
            self.joint_springs,
            dict(self.torques or {}),
            damping=self.damping,
            friction=self.friction,
            brakes=self.brakes,
        )

    def counts(self, step: float) -> tuple[int, ...]:
        """Return the numbers of steps between the instants, none longer than ``step`` (s)."""
        lengths = np.diff(self.instants)
        return tuple(int(np.ceil(length / step * (1 - 1e-12))) for length in lengths)


@dataclass(frozen=True)
class Solver:
    """Settings of PyBullet's constraint solver: everything besides the time step that affects its motion."""

    iterations: int = 500
    residual_threshold: float = 0.0
    erp: float = 0.2


# Wheels that roll ideally in PyBullet: the contact point is held to the ground for one step.
#
# A constraint at the lowest point prevents the wheel from penetrating or slipping in that step; in the next step
# another point is the lowest. PyBullet's own contacts slip and penetrate.


def off_wheels(mech: Mechanism) -> Mechanism:
    """Return the mechanism without the wheels, whose contact points are held step by step instead."""
    return replace(mech, pfaffians=tuple(p for p in mech.pfaffians if not is_wheel(p)))


def is_wheel(pfaffian: Pfaffian) -> bool:
    """Return True for a wheel that is constrained in all three directions."""
    rows = {*pfaffian.holonomic, *pfaffian.nonholonomic}
    return isinstance(pfaffian, Rolling) and rows == {"normal", "roll", "side"}


def hold_contacts(built: Built, mech: Mechanism, held_contacts: list[int]) -> list[int]:
    """Release the former contact points and hold the present ones; return the ids of the constraints."""
    bullet, where = built.bullet, {"physicsClientId": built.client}
    for constraint in held_contacts:
        bullet.removeConstraint(constraint, **where)
    ties = []
    for wheel in mech.pfaffians:
        if not (isinstance(wheel, Rolling) and is_wheel(wheel)):
            continue
        place = built.places[wheel.body]
        X_WL = built.pose(wheel.body)
        n = unit(wheel.plane_normal)
        # the lowest point of the wheel's circle
        axis = X_WL.R @ unit(wheel.axis)
        center = X_WL.apply(wheel.center)
        down = -(n - (n @ axis) * axis)
        contact = np.asarray(center + wheel.radius * down / np.linalg.norm(down))
        pivot = (X_WL @ place.X_LC).inverse().apply(contact)
        ground = contact - (n @ (contact - wheel.plane_point)) * n
        ties.append(
            bullet.createConstraint(
                place.id,
                place.link,
                -1,
                -1,
                bullet.JOINT_POINT2POINT,
                [0, 0, 0],
                pivot.tolist(),
                ground.tolist(),
                **where,
            )
        )
        bullet.changeConstraint(ties[-1], maxForce=UNLIMITED, **where)
    return ties
