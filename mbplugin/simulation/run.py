"""``simulate``: compute the motion of a mechanism in time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.arguments import checked
from mbplugin.constraints import rank_tolerance
from mbplugin.constraints.rank import constraint_matrix
from mbplugin.constraints.rows import plane_columns
from mbplugin.constraints.stated_state import stated_state
from mbplugin.dynamics.compiler import announce_compilation
from mbplugin.dynamics.tree_model import tree_model, with_joints_without_mass_at_rest
from mbplugin.errors import BadNumber, BadUsage, BrokenModel, MbPluginError, UnknownName, suggestion
from mbplugin.model import Array, Holder, JointSpring, MotionProfile, Pair, Spring, make_read_only
from mbplugin.model.brakes import (
    AppliedForces,
    BrakeLike,
    Controller,
    implausible,
    scene_actions,
    signalled_brakes,
    warn_of,
    weightless,
    with_springs,
)
from mbplugin.model.mechanism import Constraint, Driver, Lock, Mechanism, TimedConstraint, kinematics
from mbplugin.model.mechanism.kinematics import JointValues, NamedNumbers
from mbplugin.model.scene import (
    LoadLike,
    PayloadLike,
    Scene,
    State,
    mechanism_of,
    option_of,
    read_loads,
    read_payloads,
    replaced_payloads,
)
from mbplugin.phrases import counted, listed, visible_one_line
from mbplugin.readers import ModelSource, model_of
from mbplugin.readers.standing import in_motion
from mbplugin.simulation.activation import Activation
from mbplugin.simulation.friction import AT_REST
from mbplugin.simulation.impact import gripped, state_in, without_constraints
from mbplugin.simulation.integrators import DEFAULT_INTEGRATOR
from mbplugin.simulation.kernel_state import measure
from mbplugin.simulation.options import MAX_SECONDS, Options, Profile, UserEvent, breaks_of, declared
from mbplugin.simulation.passing_marks import TimedDrive, schedule_of
from mbplugin.simulation.problem import Problem, pose_problem
from mbplugin.simulation.runner import Progress, Runner
from mbplugin.simulation.steppers import CompiledStepper, Stepper
from mbplugin.simulation.trajectory.record import Playback
from mbplugin.simulation.trajectory.trajectory import Trajectory

if TYPE_CHECKING:
    from mbplugin.joint_reactions.flexible import StiffnessLike
    from mbplugin.simulation.trajectory import StatedStiffness

Model = Scene | Mechanism
#: Largest step, as a fraction of the shortest piece of a profile.
_OF_A_PIECE = 1 / 8


@checked
def simulate(
    mech: ModelSource,
    duration: float,
    *,
    q: JointValues = None,
    qd: JointValues = None,
    locks: Iterable[Lock] = (),
    holds: Iterable[TimedConstraint] = (),
    drivers: Iterable[Driver] = (),
    brakes: Iterable[BrakeLike] | None = None,
    signal: float | None = None,
    loads: Iterable[LoadLike] = (),
    payload: Iterable[PayloadLike] | None = None,
    springs: Iterable[Spring | JointSpring] = (),
    stiffness: StiffnessLike = (),
    torques: NamedNumbers | None = None,
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
    """Close the loops of a mechanism and compute its motion from there.

    The state, loads, payloads, springs, drives and timed locks of a scene are included; the arguments are
    added to them.

    Parameters
    ----------
    mech : path, PyBullet client, Scene or Mechanism
    duration : float
        s.
    q, qd : mapping or vector, optional
        Initial joint coordinates and rates, rad and m; coordinates that are not named keep the scene's value.
        Values named here or stated in the scene are kept exactly, and the others are computed from them; values
        that contradict each other are an error.
    locks : iterable of Lock
        Joints that lock at a given time: their rates jump to zero, and the other rates jump with them;
        with ``until`` they are released again.
    holds : iterable of TimedConstraint
        Closures, couplings, drivers and wheels of the mechanism that are active only for an interval.
    drivers : iterable of Driver
        Prescribed motions of joints, added to those of the mechanism.
    brakes : iterable of Brake or mapping, optional
        Joint brakes; each engages after its delays, counted from the signal. If only a signal is given, the
        scene's brakes are used.
    signal : float, optional
        Time of the brake signal, s; 0 if brakes are given.
    loads, payload : iterable, optional
        Load and Payload, or mappings with the keys of the scene's tables; payloads replace those of the scene.
    springs : iterable of Spring or JointSpring
    stiffness : iterable of Stiffness or mapping, optional
        As for :func:`mbplugin.joint_reactions.run.reactions`, in addition to that of the scene: reactions that the
        rigid model does not determine are those of least elastic energy. The motion is that of the rigid model.
    torques, armature : mapping, optional
        Constant forces, N·m or N, and drive inertias, kg·m² or kg, by joint rate.
    controller : callable, optional
        Forces (nv,) on the joint rates at (t, q, qd).
    profiles : mapping of driver name to MotionProfile or callable, optional
        Value, rate and acceleration of a driver as functions of time; a joint without a driver gets one that
        follows the MotionProfile. A callable whose acceleration jumps must have an attribute ``breaks`` with the
        times (s) of the jumps; the motion has a sample before and after each.
    damping, friction : bool
        Whether the joint damping and dry friction of the model file are included.
    formulation, redundancy, coordinates : str
        See the guide to motions; they select the method and do not change the motion.
    dropped : sequence of int or (constraint, component)
        Redundant rows to eliminate, numbered from 1 as in ``mbplugin matrix``; by default a pivoted
        factorisation selects them.
    integrator : str
        A name of ``mbplugin.simulation.integrators``; see the guide to the motion.
    step : float, optional
        Step of a fixed-step integrator, 1e-3 s by default; the largest step of an adaptive one.
    rtol, atol : float
        Tolerances of an adaptive integrator.
    tolerance : float, optional
        Relative rank tolerance; by default the scene's, else ``constraints.DEFAULT_TOLERANCE``.
    planar : "xy", "yz" or "zx", optional
        Keep free roots in a plane.
    limits : "record", "stop" or "ignore"
        What to do when a joint passes a limit.
    events : iterable of UserEvent
        Functions whose zeros are recorded or end the motion.
    stabilization : "projection", "baumgarte" or "none"
    samples : int, optional
        Number of equal intervals of the trajectory, besides events; by default there is a sample at every step.
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
        An invalid argument, or a scene with contacts.
    CannotClose
        A loop that cannot be closed.
    ContradictedState
        Stated coordinates or rates that contradict each other.
    BrokenModel
        A joint that moves no mass.
    """
    mech = _driven(in_motion(model_of(mech), q, qd), tuple(drivers))
    scene = mech if isinstance(mech, Scene) else None
    if scene is not None and scene.contacts:
        raise BadUsage(
            f"the scene has {counted(len(scene.contacts), 'contact')}, and a motion is computed without contacts",
            expected="a scene without [[contact]], which enters reactions and lint",
            remedy="hold the bodies by pairs or closures, or with base='fixed' (--base fixed), and leave the "
            "tables out",
        )
    mechanism, callables = led_by(mechanism_of(mech), profiles or {})
    holds = (*(scene.holds if scene else ()), *holds)
    mechanism, held = without_constraints(mechanism, holds)
    start = stated_state(mech, q, qd, mechanism, scene_state(scene, mechanism))
    base = scene_actions(scene) if scene else AppliedForces()
    gripping, at = signalled_brakes(mechanism, scene.brakes if scene else (), brakes, signal)
    actions = replace(
        with_springs(base, springs),
        loads=(*base.loads, *read_loads(mechanism, loads)),
        payloads=base.payloads if payload is None else read_payloads(mechanism, payload),
        torques={**base.torques, **kinematics.numbers(torques, kinematics.forces_of(mechanism))},
        armature={**base.armature, **(armature or {})},
        controller=controller,
        damping=damping,
        friction=friction,
        brakes=tuple(brake.force(at) for brake in gripping),
    )
    massless: tuple[str, ...] = ()
    if not held:  # what is held for a while may act on any joint
        actions, massless = with_joints_without_mass_at_rest(mechanism, actions, start.qd)
    warn_of(implausible(mechanism, start.qd, actions.payloads, gripping))
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
    springy = _stated(mechanism, scene.stiffness if scene else (), stiffness)
    motion = move(
        mechanism,
        actions,
        start,
        checked_locks(mechanism, timed, duration),
        options,
        progress,
        holds=timed_holds(holds, held, options),
    )
    replaced = replaced_payloads(base.payloads) if payload is not None else ()
    notes = (*massless, *motion.notes, *(weightless(scene) if scene else ()), *replaced)
    return replace(motion, stiffness=springy, notes=notes)


def _driven(model: Scene | Mechanism, drivers: tuple[Driver, ...]) -> Scene | Mechanism:
    """Return the scene or mechanism with more drivers."""
    if not drivers:
        return model
    mech = mechanism_of(model)
    driven = replace(mech, drivers=(*mech.drivers, *drivers))
    return replace(model, mechanism=driven) if isinstance(model, Scene) else driven


def _stated(mech: Mechanism, of_scene: StiffnessLike, given: StiffnessLike) -> StatedStiffness | None:
    """Return the checked stiffness from which reactions are computed; None if none is stated."""
    if not of_scene and not given:
        return None
    # this module is slow to import, and few motions need it
    from mbplugin.simulation.trajectory.redundant import stated_stiffness

    return stated_stiffness(mech, of_scene, given)


def _labels(
    mech: Mechanism, dropped: Sequence[int | tuple[str, str]], planar: str | None
) -> tuple[tuple[str, str], ...]:
    """Return the rows to drop as (constraint, component)."""
    if not dropped:
        return ()
    rows = constraint_matrix(
        mech, kinematics.joint_vector(mech, None), kinematics.rate_vector(mech, None), planar=planar
    ).rows
    out = []
    for row in dropped:
        if isinstance(row, int):
            if not 1 <= row <= len(rows):
                raise BadUsage(f"there is no row {row}", expected=f"1 to {len(rows)}")
            row = rows[row - 1]
        out.append((str(row[0]), str(row[1])))
    return tuple(out)


# The motion of a mechanism from a state, for arguments that have been read and checked.


def move(
    mech: Mechanism,
    actions: AppliedForces,
    stated: State,
    locks: tuple[Lock, ...],
    options: Options,
    progress: Progress | None = None,
    drives: tuple[TimedDrive, ...] = (),
    to_rest: bool = False,
    holds: tuple[tuple[TimedConstraint, Constraint], ...] = (),
) -> Trajectory:
    """Return the motion of a mechanism from the stated values, for arguments as read by :func:`simulate`.

    Parameters
    ----------
    drives : tuple of TimedDrive
        Drives that move joints for an interval.
    to_rest : bool
        Whether to end when everything is at rest after the last change.
    holds : tuple of (TimedConstraint, Constraint)
        Constraints that are active only for an interval; they are not part of the mechanism.
    """
    begun = perf_counter()
    drivers = (*mech.drivers, *(one for _, one in holds if isinstance(one, Driver)))
    options = replace(options, step_of_profiles=_step_of_profiles(drivers))
    announce_compilation()
    actions, options = checked_callbacks(actions, options)
    later = tuple(lock for lock in locks if not lock.for_good)
    mech = replace(
        mech,
        locks=(*mech.locks, *(lock for lock in locks if lock not in later)),
        drivers=tuple(_as_it_starts(driver, options) for driver in mech.drivers),
    )
    held = tuple(constraint for _, constraint in holds)
    problem = pose_problem(mech, actions, stated, each_once(later), options, drives, held)
    friction = bool(len(problem.model.resistances))
    dense = bool(
        options.samples or options.limits != "ignore" or options.events or friction or problem.own_rank
    )
    activation = Activation(problem, options)
    plain = options.plain and actions.controller is None and not activation.by_load
    stepper = _stepper(problem, options, activation, plain=plain, dense=dense)
    engagement_time = [(brake.closes, brake.joint) for brake in actions.brakes]
    breaks = [time for profile in options.profiles.values() for time in breaks_of(profile)]
    breaks += [time for driver in drivers if driver.profile is not None for time in driver.profile.breaks]
    schedule = schedule_of((*later, *(hold for hold, _ in holds)), engagement_time, drives, to_rest, breaks)
    known = len(problem.notes)
    if activation.by_load:
        problem = replace(
            problem,
            notes=(
                *problem.notes,
                *_open_loads(problem, tuple(dict.fromkeys(activation.by_load.names)), options),
            ),
        )
    open_loads = len(problem.notes) > known
    runner = Runner(problem, stepper, options, activation, schedule)
    outcome = runner.run(progress)
    motion = _trajectory(problem, runner, options, outcome, perf_counter() - begun)
    return _with_range(motion, options, held, later) if open_loads and not drives else motion


def _step_of_profiles(drivers: Sequence[Driver]) -> float:
    """Return the largest step for drivers with profiles, s: a fraction of the shortest piece of a profile."""
    pieces = [
        np.diff((0.0, *d.profile.breaks)) for d in drivers if d.profile is not None and d.profile.breaks
    ]
    return _OF_A_PIECE * min((float(own.min()) for own in pieces), default=inf)


def _as_it_starts(driver: Driver, options: Options) -> Driver:
    """Return a driver with the values that its callable prescribes at t = 0, which the initial state must satisfy."""
    if driver.name not in options.profiles:
        return driver
    value, rate, acceleration = options.profiles[driver.name](0.0)
    return replace(driver, value=value, rate=rate, acceleration=acceleration)


def _with_range(
    motion: Trajectory, options: Options, held: tuple[Constraint, ...], later: tuple[Lock, ...]
) -> Trajectory:
    """Return a motion with the range of its accelerations where it first slides without a timed constraint or brake."""
    if options.profiles:
        return motion
    # this module is slow to import, and few motions need it
    from mbplugin.simulation.motion_range import range_at

    first = min((brake.closes for brake in motion.actions.brakes), default=inf)
    model = tree_model(
        motion.mechanism, motion.actions, locks=(*later, *held), planar=options.planar, q=motion.q[0]
    )
    for k, time in enumerate(motion.time.tolist()):
        if time >= first:
            break
        if motion.active[motion.segment[k]] or not np.abs(motion.qd[k]).max(initial=0.0) > AT_REST:
            continue
        try:
            found = range_at(model, time, motion.q[k], motion.qd[k], options.tolerance)
        except BrokenModel as error:
            return replace(
                motion, notes=(*motion.notes, f"the range of its accelerations is not known: {error}")
            )
        if found is not None:
            found = replace(found, time=time)
            return replace(motion, motion_range=found, notes=(f"{found.words}", *motion.notes))
        break
    return motion


def _stepper(
    problem: Problem, options: Options, activation: Activation, *, plain: bool, dense: bool
) -> Stepper:
    """Return the compiled loops, or those in Python if the motion is not ``plain``."""
    # few motions need the imported modules, and they import others
    if not plain:
        from mbplugin.simulation.readable_steppers import PythonStepper

        return PythonStepper(problem, options, activation.active, activation.by_load)
    if options.coordinates == "joint":
        return CompiledStepper(options, dense)
    from mbplugin.simulation.absolute_accelerations import AbsoluteAccelerations

    return CompiledStepper(options, dense, AbsoluteAccelerations(problem, options, activation.active))


def _open_loads(problem: Problem, joints: Sequence[str], options: Options) -> list[str]:
    """Return a note if friction depends on reactions that the rigid model does not determine."""
    # this module is slow to import, and few motions need it
    from mbplugin.joint_reactions.statics import build_system

    mech, columns = problem.model.mech, plane_columns(options.planar)
    system = build_system(mech, problem.q, kinematics.forward(mech, problem.q), columns, options.tolerance)
    names = [v.name for v in system.verdicts if v.name in joints and not v.unique]
    if not names:
        return []
    return [
        f"the motion is not unique: the friction of {listed(names)} depends on a reaction that the rigid model "
        f"does not determine; this one has the reactions of redundancy {options.redundancy!r}"
    ]


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
        runner.stepper.leading,
        None
        if runner.budget.out_of_time
        else Playback(runner.phases, runner.stepper, options, runner.record),
    )


def _measured(
    runner: Runner, options: Options, rows: int, states: tuple[Array, Array, Array]
) -> tuple[Array, Array, Array]:
    """Return kinetic and potential energy (T,), J, and the largest |Φ| of the first rows, m or rad."""
    kernel_state, stepper = runner.activation.kernel_state, runner.stepper
    if not options.profiles:
        return measure(kernel_state, rows, *states)
    found = []
    for k, time in enumerate(states[0].tolist()):
        stepper.prescribe(kernel_state, time)
        found.append(measure(kernel_state, rows, *(values[k : k + 1] for values in states)))
    kinetic, potential, residuals = (np.array(parts) for parts in zip(*found, strict=True))
    return kinetic[:, 0], potential[:, 0], residuals.max(axis=0)


# Constraints that close and open during a motion, checked before the computation.


def checked_locks(mech: Mechanism, locks: Sequence[Lock], duration: float) -> tuple[Lock, ...]:
    """Return the locks, with joint names and times checked.

    Raises
    ------
    UnknownName
        A joint that is not a pair of the mechanism.
    BadUsage
        A time outside the motion.
    """
    for lock in locks:
        if not isinstance(lock, Lock):
            raise BadUsage(f"a lock cannot be {lock!r}", expected="a list of mb.Lock(joint, at=seconds)")
        if lock.joint not in mech.pair_by_name:
            raise UnknownName(
                f"a lock names an unknown pair {lock.joint!r}",
                remedy=suggestion(lock.joint, list(mech.pair_by_name)),
            )
        _check_times(f"the lock of {lock.joint!r}", lock.at or 0.0, lock.until, duration)
    return tuple(locks)


def scene_state(scene: Scene | None, mech: Mechanism) -> tuple[Array | None, Array | None]:
    """Return the state of the scene, q (nq,) and qd (nv,), in the coordinates of the simulated mechanism."""
    if scene is None:
        return None, None
    if scene.mechanism.q_names == mech.q_names:
        return scene.state.q, scene.state.qd
    return state_in(scene.mechanism, scene.state.q, scene.state.qd, mech)


def timed_holds(
    holds: Sequence[TimedConstraint], held: Sequence[Constraint], options: Options
) -> tuple[tuple[TimedConstraint, Constraint], ...]:
    """Return the constraints that are active only for an interval, with their checked times.

    Raises
    ------
    BadUsage
        A time outside the motion; coordinates other than joint coordinates; a planar view of a closure.
    """
    by_name = {constraint.name: constraint for constraint in held}
    for hold in holds:
        _check_times(f"constraint {hold.constraint!r}", hold.at, hold.until, options.duration)
        if options.coordinates != "joint" or (options.planar and isinstance(by_name[hold.name], Pair)):
            raise BadUsage(
                f"constraint {hold.constraint!r} is to hold for a while",
                expected="joint coordinates, and no planar view of a closure",
            )
    return tuple((hold, by_name[hold.constraint]) for hold in holds)


def each_once(locks: Sequence[Lock]) -> tuple[Lock, ...]:
    """Return the locks without their times; one that closes several times occurs once.

    Raises
    ------
    BadUsage
        Two locks on different freedoms of a joint.
    """
    found = tuple(dict.fromkeys(replace(lock, at=None, until=None) for lock in locks))
    for k, lock in enumerate(found):
        if lock.joint in (other.joint for other in found[:k]):
            raise BadUsage(
                f"joint {lock.joint!r} has locks of different freedoms", expected="one lock for all of them"
            )
    return found


def _check_times(what: str, at: float, until: float | None, duration: float) -> None:
    """Raise if a constraint closes outside the motion, or opens before it closes."""
    if not 0 <= at <= duration:
        raise BadUsage(
            f"{what} closes at {at:g} s", expected=f"a time from 0 to the duration, {duration:g} s"
        )
    if until is not None and not until > at:
        raise BadUsage(f"{what} closes at {at:g} s and opens at {until:g} s", expected="a later time")


def led_by(
    mech: Mechanism, profiles: Mapping[str, Profile | MotionProfile]
) -> tuple[Mechanism, dict[str, Profile]]:
    """Return a mechanism whose drivers follow the motion profiles, and the callables of other drivers.

    Raises
    ------
    UnknownName
        A profile names neither a driver nor, in the case of a MotionProfile, a joint without a driver.
    """
    drivers = {driver.name: driver for driver in mech.drivers}
    callables = {}
    for name, profile in profiles.items():
        if not isinstance(profile, MotionProfile):
            _require_driver(name, tuple(drivers))
            drivers[name], callables[name] = replace(drivers[name], profile=None), profile
        elif name in drivers:
            drivers[name] = replace(drivers[name], profile=profile)
        else:
            led = {driver.joint for driver in mech.drivers}
            _require_driver(name, (*drivers, *(pair for pair in mech.pair_by_name if pair not in led)))
            driver = Driver(str(Holder("drive", name)), name, profile=profile)
            drivers[driver.name] = driver
    changed = tuple(drivers.values())
    return (mech if changed == mech.drivers else replace(mech, drivers=changed)), callables


def _require_driver(name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise UnknownName(
            f"a profile is given for {name!r}, which is not a driver",
            expected=f"one of {', '.join(known)}" if known else "a driver",
            remedy=suggestion(name, tuple(known)),
        )


# Calls of user functions, whose errors are reported with the time.


def checked_callbacks(actions: AppliedForces, options: Options) -> tuple[AppliedForces, Options]:
    """Return forces and options with every user function wrapped, so that errors are reported with the time."""
    controller = actions.controller
    if controller is not None:
        actions = replace(actions, controller=_named_errors("the controller", controller))
    events = tuple(
        replace(e, function=_named_errors(f"event {e.name!r}", e.function)) for e in options.events
    )
    profiles = {name: _profile(name, profile) for name, profile in options.profiles.items()}
    return actions, replace(options, events=events, profiles=profiles)


def _named_errors(what: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(time: float, *state: Any) -> Any:
        try:
            return function(time, *state)
        except MbPluginError:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {visible_one_line(error)}"
            raise BadUsage(f"{what} failed at t = {time:.9g} s: {reason}") from error

    return call


@dataclass(frozen=True, eq=False)
class _WatchedProfile:
    """A user's prescribed motion, whose values are checked."""

    name: str
    profile: Callable[..., Any]
    breaks: tuple[float, ...]

    def __call__(self, time: float) -> tuple[float, float, float]:
        values = np.asarray(self.profile(time), dtype=float).reshape(-1)
        if values.shape != (3,) or not np.isfinite(values).all():
            raise BadNumber(
                f"the profile of {self.name!r} returned {values} at t = {time:.9g} s",
                expected="value, rate and acceleration, three finite numbers",
            )
        return float(values[0]), float(values[1]), float(values[2])


def _profile(name: str, profile: Profile) -> Profile:
    breaks = breaks_of(profile)
    if not np.isfinite(breaks).all():
        raise BadNumber(f"the profile of {name!r} breaks at {breaks}", expected="times in s")
    return _WatchedProfile(name, _named_errors(f"the profile of {name!r}", profile), breaks)
