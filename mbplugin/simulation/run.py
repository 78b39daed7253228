"""``simulate``: the motion of a mechanism in time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.constraints.assembly.held_coordinates import HeldCoordinates, held_coordinates
from mbplugin.constraints.matrix import constraint_matrix
from mbplugin.constraints.rows.planar import plane_columns
from mbplugin.constraints.tolerance import rank_tolerance
from mbplugin.dynamics.compiler.first_run import announce_compilation
from mbplugin.errors import BadUsage
from mbplugin.model.applied_forces import AppliedForces, Controller, scene_actions, with_springs
from mbplugin.model.brakes import BrakeLike, brake_forces
from mbplugin.model.loads import LoadLike, PayloadLike, read_loads, read_payloads
from mbplugin.model.mechanism.coupling import Driver, Lock, TimedConstraint
from mbplugin.model.mechanism.kinematics import JointValues, forward, joint_vector, rate_vector
from mbplugin.model.mechanism.mechanism import Constraint, Mechanism
from mbplugin.model.mechanism.motion_profile import MotionProfile
from mbplugin.model.scene import Scene, mechanism_of, option_of
from mbplugin.model.spatial import Array, make_read_only
from mbplugin.model.spring import JointSpring, Spring
from mbplugin.phrases import listed
from mbplugin.readers.source import ModelSource, model_of
from mbplugin.simulation.active_set.activation import Activation
from mbplugin.simulation.budget import MAX_SECONDS
from mbplugin.simulation.callables import checked_callbacks
from mbplugin.simulation.events.schedule import TimedDrive, schedule_of
from mbplugin.simulation.impact.instant import gripped
from mbplugin.simulation.impact.timed import without_constraints
from mbplugin.simulation.integrators.registry import DEFAULT_INTEGRATOR
from mbplugin.simulation.options import Options, Profile, UserEvent, breaks_of
from mbplugin.simulation.outcome import declared
from mbplugin.simulation.problem import Problem, pose_problem
from mbplugin.simulation.request import checked_locks, each_once, led_by, scene_state, timed_holds
from mbplugin.simulation.runner import Progress, Runner
from mbplugin.simulation.steppers.absolute_accelerations import AbsoluteAccelerations
from mbplugin.simulation.steppers.compiled import CompiledStepper, Stepper
from mbplugin.simulation.steppers.python import PythonStepper
from mbplugin.simulation.trajectory.measure import measure
from mbplugin.simulation.trajectory.playback import Playback
from mbplugin.simulation.trajectory.trajectory import Trajectory

if TYPE_CHECKING:
    from mbplugin.joint_reactions.stiffness.pair_stiffness import StiffnessLike
    from mbplugin.simulation.trajectory.redundant.compliance_spread import StatedStiffness

Model = Scene | Mechanism

#: The largest step along a piece of a profile.
_OF_A_PIECE = 1 / 8


def simulate(
    mech: ModelSource,
    duration: float,
    *,
    q0: JointValues = None,
    qd0: JointValues = None,
    locks: Iterable[Lock] = (),
    holds: Iterable[TimedConstraint] = (),
    brakes: Iterable[BrakeLike] | None = None,
    signal: float | None = None,
    loads: Iterable[LoadLike] = (),
    payloads: Iterable[PayloadLike] = (),
    springs: Iterable[Spring | JointSpring] = (),
    stiffness: StiffnessLike = (),
    torques: Mapping[str, float] | None = None,
    armature: Mapping[str, float] | None = None,
    controller: Controller | None = None,
    profiles: Mapping[str, Profile | MotionProfile] | None = None,
    damping: bool = True,
    friction: bool = True,
    formulation: str = "projected",
    redundancy: str = "eliminate",
    dropped: Sequence[int | tuple[str, str]] = (),
    coordinates: str = "joint",
    integrator: str = DEFAULT_INTEGRATOR,
    step: float | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    tolerance: float | None = None,
    planar: str | None = None,
    limits: str = "record",
    events: Iterable[UserEvent] = (),
    stabilization: str = "projection",
    samples: int | None = None,
    readable: bool = False,
    transition: str = "consistent",
    max_seconds: float = MAX_SECONDS,
    progress: Progress | None = None,
) -> Trajectory:
    """Compute the motion of a mechanism from a state, after its loops are closed.

    The state, loads, payloads, springs, drives and timed locks of a scene are included; the arguments are
    added.

    Parameters
    ----------
    mech : path, PyBullet client, Scene or Mechanism
    duration : float
        s.
    q0, qd0 : mapping or vector, optional
        Joint coordinates and rates at the start, rad and m; what is not named keeps the scene's value.
        Rates that are not named follow from the named ones; named ones that the constraints do not allow
        are corrected, with a note.
    locks : iterable of Lock
        Joints that lock at a time: their rates jump to zero, and the rates of the others jump with them;
        with ``until`` they are released again.
    holds : iterable of TimedConstraint
        Closures, couplings, drivers and wheels of the mechanism that are active only for an interval.
    brakes : iterable of Brake or mapping, optional
        Joint brakes; each engages after its delays, counted from the signal. With a signal alone, the
        scene's.
    signal : float, optional
        Time of the brake signal, s; 0 if brakes are given.
    loads, payloads : iterable, optional
        Load and Payload, or mappings with the keys of the scene's tables.
    springs : iterable of Spring or JointSpring
    stiffness : iterable of Stiffness or mapping, optional
        As for :func:`mbplugin.joint_reactions.run.reactions`, besides that of the scene: reactions that the rigid
        model does not determine are those of least elastic energy. The motion is that of the rigid model.
    torques, armature : mapping, optional
        By joint rate: a constant force, N·m or N, and a drive's inertia, kg·m² or kg.
    controller : callable, optional
        Forces (nv,) on the joint rates at (t, q, qd).
    profiles : mapping of driver name to MotionProfile or callable, optional
        Value, rate and acceleration of a driver at a time; a joint that no driver leads gets one that follows
        the MotionProfile. A callable with a jump of its acceleration has an attribute ``breaks``, the times (s)
        of the jumps: the motion has a sample before and after each.
    damping, friction : bool
        Whether the file's joint damping and dry friction count.
    formulation, redundancy, coordinates : str
        See the guide to motions; they change the method, not the motion.
    dropped : sequence of int or (constraint, component)
        Redundant rows to eliminate, numbered from 1 as in ``mbplugin matrix``; by default a pivoted
        factorisation selects them.
    integrator : str
        A name of ``mbplugin.simulation.integrators.registry``; see the guide to the motion.
    step : float, optional
        Step of a fixed-step integrator, 1e-3 s by default; the largest step of an adaptive one.
    rtol, atol : float
        Tolerances of an adaptive integrator.
    tolerance : float, optional
        Relative rank tolerance; the scene's, else ``constraints.tolerance.DEFAULT_TOLERANCE``.
    planar : "xy", "yz" or "zx", optional
        Keep free roots in a plane.
    limits : "record", "stop" or "ignore"
        The reaction to a joint that passes a limit.
    events : iterable of UserEvent
        Functions whose zeros are recorded, or end the motion.
    stabilization : "projection", "baumgarte" or "none"
    samples : int, optional
        Number of equal intervals of the trajectory, besides events; by default every step.
    readable : bool
        Use the loops written in Python.
    transition : "consistent" or "naive"
        With "naive" a lock only sets its own rates to zero: the usual simplification, which is wrong, for
        comparison.
    max_seconds : float
        Time limit of the computation; a motion that takes longer, or too much memory, ends with the outcome
        ``budget_spent`` and keeps its samples.
    progress : callable, optional
        Called with (time, duration) at intervals.

    Returns
    -------
    Trajectory

    Raises
    ------
    BadUsage, UnknownName, BadNumber
        Something in the request that cannot be.
    CannotClose
        A loop that cannot be closed.
    BrokenModel
        A joint that moves no mass.
    """
    mech = model_of(mech)
    scene = mech if isinstance(mech, Scene) else None
    mechanism, callables = led_by(mechanism_of(mech), profiles or {})
    holds = (*(scene.holds if scene else ()), *holds)
    mechanism, held = without_constraints(mechanism, holds)
    start = scene_state(scene, mechanism)
    base = scene_actions(scene) if scene else AppliedForces()
    actions = replace(
        with_springs(base, springs),
        loads=(*base.loads, *read_loads(mechanism, loads)),
        payloads=(*base.payloads, *read_payloads(mechanism, payloads)),
        torques={**base.torques, **(torques or {})},
        armature={**base.armature, **(armature or {})},
        controller=controller,
        damping=damping,
        friction=friction,
        brakes=brake_forces(mechanism, scene.brakes if scene else (), brakes, signal),
    )
    planar = planar or option_of(mech, "planar", None)
    options = Options(
        duration,
        integrator,
        formulation,
        redundancy,
        coordinates,
        stabilization,
        limits,
        _labels(mechanism, dropped, planar),
        step,
        rtol,
        atol,
        rank_tolerance(scene, tolerance),
        planar,
        tuple(events),
        samples,
        callables,
        readable,
        transition,
        max_seconds,
    )
    timed = (*(scene.locks if scene else ()), *locks)
    stated = _stated(mechanism, scene.stiffness if scene else (), stiffness)
    motion = move(
        mechanism,
        actions,
        joint_vector(mechanism, q0, start[0]),
        rate_vector(mechanism, qd0, start[1]),
        held_coordinates(scene or mechanism, q0),
        checked_locks(mechanism, timed, duration),
        options,
        progress,
        holds=timed_holds(holds, held, options),
        given_rates=tuple(qd0) if isinstance(qd0, Mapping) else (),
    )
    return replace(motion, stiffness=stated) if stated else motion


def _stated(mech: Mechanism, of_scene: StiffnessLike, given: StiffnessLike) -> StatedStiffness | None:
    """Return the stiffness that decides on reactions, checked; None where none is stated."""
    if not of_scene and not given:
        return None
    # what gives way takes long to import, and few motions need it
    from mbplugin.simulation.trajectory.redundant.compliance_spread import stated_stiffness

    return stated_stiffness(mech, of_scene, given)


def move(
    mech: Mechanism,
    actions: AppliedForces,
    q: Array,
    qd: Array,
    given: HeldCoordinates,
    locks: tuple[Lock, ...],
    options: Options,
    progress: Progress | None = None,
    drives: tuple[TimedDrive, ...] = (),
    to_rest: bool = False,
    holds: tuple[tuple[TimedConstraint, Constraint], ...] = (),
    given_rates: tuple[str, ...] = (),
) -> Trajectory:
    """Return the motion of a mechanism from q (nq,) and qd (nv,); arguments as :func:`simulate` has read them.

    Parameters
    ----------
    drives : tuple of TimedDrive
        Drives that lead joints for a while.
    to_rest : bool
        Whether to end where everything stands still after the last change.
    holds : tuple of (TimedConstraint, Constraint)
        What holds for a while; it is not in the mechanism.
    given_rates : tuple of str
        Rates that stay as they are where the constraints allow that.
    """
    begun = perf_counter()
    drivers = (*mech.drivers, *(one for _, one in holds if isinstance(one, Driver)))
    options = replace(options, step_of_profiles=_step_of_profiles(drivers))
    announce_compilation()
    actions, options = checked_callbacks(actions, options)
    later = tuple(lock for lock in locks if not lock.for_good)
    mech = replace(mech, locks=(*mech.locks, *(lock for lock in locks if lock not in later)))
    held = tuple(constraint for _, constraint in holds)
    problem = pose_problem(mech, actions, q, qd, given, each_once(later), options, drives, held, given_rates)
    friction = bool(len(problem.model.resistances))
    dense = bool(
        options.samples or options.limits != "ignore" or options.events or friction or problem.own_rank
    )
    activation = Activation(problem, options)
    plain = options.plain and actions.controller is None and not activation.by_load
    absolute = options.coordinates == "absolute"
    stepper: Stepper = CompiledStepper(
        options, dense, AbsoluteAccelerations(problem, options, activation.active) if absolute else None
    )
    if not plain:
        stepper = PythonStepper(problem, options, activation.active, activation.by_load)
    engagement_time = [(brake.closes, brake.joint) for brake in actions.brakes]
    breaks = [time for profile in options.profiles.values() for time in breaks_of(profile)]
    breaks += [time for driver in drivers if driver.profile is not None for time in driver.profile.breaks]
    schedule = schedule_of((*later, *(hold for hold, _ in holds)), engagement_time, drives, to_rest, breaks)
    if activation.by_load:
        problem = replace(
            problem, notes=(*problem.notes, *_open_loads(problem, activation.by_load.names, options))
        )
    runner = Runner(problem, stepper, options, activation, schedule)
    outcome = runner.run(progress)
    return _trajectory(problem, runner, options, outcome, perf_counter() - begun)


def _open_loads(problem: Problem, joints: Sequence[str], options: Options) -> list[str]:
    """Return a note where friction depends on reactions that the rigid model does not determine."""
    # what decides on reactions takes long to import, and few motions need it
    from mbplugin.joint_reactions.system import build_system

    mech, columns = problem.model.mech, plane_columns(options.planar)
    system = build_system(mech, problem.q, forward(mech, problem.q), columns, options.tolerance)
    names = [v.name for v in system.verdicts if v.name in joints and not v.unique]
    if not names:
        return []
    return [
        f"the motion is not unique: the friction of {listed(names)} depends on a reaction that the rigid model "
        f"does not determine; this one has the reactions of redundancy {options.redundancy!r}"
    ]


def _step_of_profiles(drivers: Sequence[Driver]) -> float:
    """Return a share of the shortest piece of the profiles that drivers follow, s."""
    pieces = [
        np.diff((0.0, *d.profile.breaks)) for d in drivers if d.profile is not None and d.profile.breaks
    ]
    return _OF_A_PIECE * min((float(own.min()) for own in pieces), default=inf)


def _labels(
    mech: Mechanism, dropped: Sequence[int | tuple[str, str]], planar: str | None
) -> tuple[tuple[str, str], ...]:
    """Return rows to drop as (constraint, component)."""
    if not dropped:
        return ()
    rows = constraint_matrix(mech, joint_vector(mech, None), rate_vector(mech, None), planar=planar).rows
    out = []
    for row in dropped:
        if isinstance(row, int):
            if not 1 <= row <= len(rows):
                raise BadUsage(f"there is no row {row}", expected=f"1 to {len(rows)}")
            row = rows[row - 1]
        out.append((str(row[0]), str(row[1])))
    return tuple(out)


def _trajectory(
    problem: Problem, runner: Runner, options: Options, outcome: str, seconds: float
) -> Trajectory:
    record, model = runner.grid.record if runner.grid else runner.record, problem.model
    time, q, qd, qdd, work = record.arrays()
    persistent = model.table.persistent
    kinetic, potential, largest = _measured(runner, options, persistent, (time, q, qd))
    residuals: dict[str, float] = {}
    for (name, _), value in zip(model.table.labels[:persistent], largest, strict=True):
        residuals[name] = max(residuals.get(name, 0.0), float(value))
    arrays = (time, q, qd, qdd, kinetic, potential, -work[:, 0], work[:, 1], work[:, 2])
    make_read_only(*arrays)
    return Trajectory(
        model.mech,
        model.actions,
        *arrays,
        tuple(runner.activation.segments),
        record.segment(),
        residuals,
        tuple(runner.record.events),
        declared(outcome),
        (*problem.notes, *([runner.failure] if runner.failure else [])),
        options.planar,
        options.redundancy,
        problem.degree_of_redundancy,
        {
            "evaluations": float(runner.stepper.counts[0]),
            "rejected": float(runner.stepper.counts[1]),
            "seconds": seconds,
        },
        tuple(gripped(model, constraint) for constraint in problem.held),
        options.coordinates,
        options.dropped,
        options.tolerance,
        runner.stepper.leading if isinstance(runner.stepper, PythonStepper) else (),
        None
        if runner.budget.out_of_time
        else Playback(runner.phases, runner.stepper, options, runner.record),
    )


def _measured(
    runner: Runner, options: Options, rows: int, states: tuple[Array, Array, Array]
) -> tuple[Array, Array, Array]:
    """Return kinetic and potential energy (T,), J, and the largest |Φ| of the first rows, m or rad."""
    kernel_state, stepper = runner.activation.kernel_state, runner.stepper
    if not options.profiles or not isinstance(stepper, PythonStepper):
        return measure(kernel_state, rows, *states)
    found = []
    for k, time in enumerate(states[0].tolist()):
        stepper.prescribe(kernel_state, time)
        found.append(measure(kernel_state, rows, *(values[k : k + 1] for values in states)))
    kinetic, potential, residuals = (np.array(parts) for parts in zip(*found, strict=True))
    return kinetic[:, 0], potential[:, 0], residuals.max(axis=0)
