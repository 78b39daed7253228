"""The motion of a task in PyBullet, step by step, and the parts that PyBullet does not support."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.bullet.build.build import build
from mbplugin.bullet.build.built import Built, Motor
from mbplugin.bullet.build.ties import UNLIMITED, drive
from mbplugin.bullet.motion.forces import apply_forces, axes
from mbplugin.bullet.motion.task import SAME, Solver, Task
from mbplugin.bullet.motion.wheels import hold_contacts
from mbplugin.bullet.session import session
from mbplugin.model.brake_law import BrakeLaw, depends_on_rate
from mbplugin.model.mechanism.identity import freedom_name
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.model.spatial import Array

#: Samples that are taken of a stretch, at most.
_SAMPLES = 100


@dataclass(frozen=True, eq=False)
class Sampled:
    """A motion of PyBullet.

    Parameters
    ----------
    time : (n,) array
        s, without the start; a sample at an instant is the state before what changes there.
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


def left_out(task: Task) -> tuple[str, ...]:
    """Return what PyBullet cannot do of a task, one sentence each."""
    with session() as (_, client):
        built = build(task.scene, client)
        return (*built.left_out, *_without_motor(task, built))


def run_motion(task: Task, step: float, refinements: tuple[int, ...], solver: Solver) -> list[Sampled]:
    """Return PyBullet's motion at steps of ``step`` s over each of the refinements."""
    return [_run(task, step, refinement, solver) for refinement in refinements]


def _run(task: Task, step: float, refinement: int, solver: Solver) -> Sampled:
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
            led, laws = _set_motors(task, built, begin + SAME)
            every = refinement * max(1, -(-count // _SAMPLES))
            for k in range(1, fine + 1):
                for motor, rate in led:
                    drive(built, motor, rate(begin + k * h), UNLIMITED)
                apply_forces(task, built, laws)
                held_contacts = hold_contacts(built, task.mech, held_contacts)
                bullet.stepSimulation(physicsClientId=client)
                if k == 1 and begin > 0:
                    changed.append(built.state()[1])
                if k % every == 0 or k == fine:
                    # rounding must not put an instant behind itself
                    time = end if k == fine else begin + k * h
                    samples.append((time, *built.state(), *_poses(built)))
        columns = [np.array(column) for column in zip(*samples, strict=True)]
        return Sampled(columns[0], columns[1], columns[2], columns[3], columns[4], tuple(changed))


def _poses(built: Built) -> tuple[Array, Array]:
    poses = [(built.pose(body.name), body.p_LC) for body in built.mechanism.bodies]
    return np.array([X.apply(p) for X, p in poses]), np.array([X.R for X, _ in poses])


@dataclass(frozen=True)
class _Rate:
    """The rate of a drive, from a polynomial of its coordinate."""

    start: float
    coefficients: tuple[float, ...]

    def __call__(self, time: float) -> float:
        s = time - self.start
        return float(sum(k * c * s ** (k - 1) for k, c in enumerate(self.coefficients) if k))


def _set_motors(
    task: Task, built: Built, time: float
) -> tuple[list[tuple[Motor, _Rate]], dict[str, BrakeLaw]]:
    """Set locks, friction and brakes as they are from an instant on.

    Returns what is led, and how; and the parts of laws that are to be applied as torques, by joint.
    """
    led = []
    laws: dict[str, BrakeLaw] = {}
    for pair, freedom, motor in axes(built):
        own = motor.step.freedom
        if _locked(task, pair, own, time):
            drive(built, motor, 0.0, UNLIMITED)
            continue
        rate = _led(task, pair, own, time)
        if rate is not None:
            led.append((motor, rate))
            continue
        law = _law(task, pair, own, freedom, time)
        drive(built, motor, 0.0, law.sliding)
        built.bullet.changeDynamics(
            motor.id, motor.link, jointDamping=law.viscous, physicsClientId=built.client
        )
        if depends_on_rate(law.without_linear_part):
            laws[pair] = law.without_linear_part
    return led, laws


def _law(task: Task, pair: str, own: str, freedom: Freedom, time: float) -> BrakeLaw:
    """Return the law of a freedom: of its friction and damping and of the brakes that have gripped."""
    law = BrakeLaw(
        sliding=freedom.friction if task.friction else 0.0,
        viscous=freedom.damping if task.damping else 0.0,
    )
    for brake in task.brakes:
        if (brake.joint, brake.freedom) == (pair, own) and brake.closes <= time:
            law += brake.law
    return law


def _locked(task: Task, pair: str, freedom: str, time: float) -> bool:
    own = [k for k in (*task.mech.locks, *task.locks) if k.joint == pair]
    own = [k for k in own if not k.freedoms or freedom in k.freedoms]
    return any((k.at or 0.0) <= time and (k.until is None or time < k.until) for k in own)


def _led(task: Task, pair: str, freedom: str, time: float) -> _Rate | None:
    for one in task.drives:
        of = one.driver
        if (
            of.joint == pair
            and freedom in (of.freedoms or (freedom,))
            and (one.until is None or time < one.until)
        ):
            return _Rate(*[segment for segment in one.motion_segments if segment[0] <= time][-1])
    return None


def _without_motor(task: Task, built: Built) -> tuple[str, ...]:
    """Name locks, brakes, drives, friction and torques on what has no motor of its own."""
    have = {(pair, motor.step.freedom) for pair, _, motor in axes(built)}
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
            if own.friction
        ]
    missing = dict.fromkeys((kind, pair) for kind, pair, freedom in requested if (pair, freedom) not in have)
    names = {n for pair, _, m in axes(built) for n in (pair, freedom_name(pair, m.step.freedom))}
    springs = [spring.joint for spring in task.joint_springs]
    idle = [name for name in (*(task.torques or {}), *springs) if name not in names]
    return (
        *(f"PyBullet has no motor for the {kind} of {pair!r}" for kind, pair in missing),
        *(f"PyBullet has no motor for the torque or spring of {name!r}" for name in idle),
    )
