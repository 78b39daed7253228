"""The motion of a mechanism from a state, for arguments that are read and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from time import perf_counter

import numpy as np

from mbplugin.constraints.rows.planar import plane_columns
from mbplugin.dynamics.compiler.first_run import announce_compilation
from mbplugin.model.applied_forces import AppliedForces
from mbplugin.model.mechanism.coupling import Driver, Lock, TimedConstraint
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.mechanism import Constraint, Mechanism
from mbplugin.model.scene import State
from mbplugin.model.spatial import Array, make_read_only
from mbplugin.phrases import listed
from mbplugin.simulation.active_set.activation import Activation
from mbplugin.simulation.callables import checked_callbacks
from mbplugin.simulation.events.schedule import TimedDrive, schedule_of
from mbplugin.simulation.impact.instant import gripped
from mbplugin.simulation.options import Options, breaks_of
from mbplugin.simulation.outcome import declared
from mbplugin.simulation.problem import Problem, pose_problem
from mbplugin.simulation.request import each_once
from mbplugin.simulation.runner import Progress, Runner
from mbplugin.simulation.steppers.absolute_accelerations import AbsoluteAccelerations
from mbplugin.simulation.steppers.compiled import CompiledStepper, Stepper
from mbplugin.simulation.steppers.python import PythonStepper
from mbplugin.simulation.trajectory.measure import measure
from mbplugin.simulation.trajectory.playback import Playback
from mbplugin.simulation.trajectory.trajectory import Trajectory

#: The largest step along a piece of a profile.
_OF_A_PIECE = 1 / 8


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
    """Return the motion of a mechanism from what is stated; arguments as :func:`simulate` has read them.

    Parameters
    ----------
    drives : tuple of TimedDrive
        Drives that lead joints for a while.
    to_rest : bool
        Whether to end where everything stands still after the last change.
    holds : tuple of (TimedConstraint, Constraint)
        What holds for a while; it is not in the mechanism.
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


def _as_it_starts(driver: Driver, options: Options) -> Driver:
    """Return a driver with the numbers that a callable prescribes at t = 0: the state at the start follows them."""
    if driver.name not in options.profiles:
        return driver
    value, rate, acceleration = options.profiles[driver.name](0.0)
    return replace(driver, value=value, rate=rate, acceleration=acceleration)


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
