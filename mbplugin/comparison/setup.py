"""Our motion for the cross-check, and the same motion as a task for PyBullet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from mbplugin.bullet.motion.task import Task
from mbplugin.errors import BadUsage
from mbplugin.model.applied_forces import AppliedForces
from mbplugin.model.brakes import BrakeLike, signalled_brakes
from mbplugin.model.mechanism import Driver, Mechanism
from mbplugin.model.mechanism.coupling import Lock
from mbplugin.model.scene import Scene, State, mechanism_of
from mbplugin.phrases import listed
from mbplugin.simulation.budget import MAX_SECONDS
from mbplugin.simulation.events.passing_marks import joint_limits
from mbplugin.simulation.events.schedule import TimedDrive
from mbplugin.simulation.motion import move
from mbplugin.simulation.options import Options
from mbplugin.simulation.run import simulate
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.outcome.values import StopReport
from mbplugin.stopping.scenario.drives import timed_drives
from mbplugin.stopping.scenario.effort_limits import EffortLimits, assumed_brakes, brakes_of_effort
from mbplugin.stopping.stop import run_stop

#: How long a motion is compared where nobody says, s.
_DURATION = 0.5
_RTOL, _ATOL = 1e-11, 1e-12
#: The longest step beside the duration; between steps rates are interpolated by cubics.
_STEP = 1 / 512
#: Beyond a limit, rad or m, that is only rounding.
_AT_LIMIT = 1e-9


@dataclass(frozen=True, eq=False)
class Setup:
    """A task, our motion of it, what was left out of both, and what is assumed in both; one sentence each."""

    task: Task
    ours: Trajectory
    notes: tuple[str, ...]
    assumed: tuple[str, ...]
    of_effort: EffortLimits


def of_motion(
    model: Scene | Mechanism,
    duration: float | None,
    brakes: Iterable[BrakeLike] | None,
    signal: float | None,
    locks: tuple[Lock, ...],
    **request: Any,
) -> Setup:
    """Return the setup of a motion; ``request`` is what ``simulate`` takes besides.

    Raises
    ------
    BadUsage
        The duration is not positive.
    """
    scene = model if isinstance(model, Scene) else None
    mech = mechanism_of(model)
    given = None if brakes is None else tuple(brakes)
    if scene and scene.holds:
        raise BadUsage(
            f"the scene holds {scene.holds[0].constraint!r} for a while, which PyBullet cannot",
            expected="a scene without [[hold]]",
        )
    later = (*(scene.locks if scene else ()), *locks)
    gripping, at = signalled_brakes(mech, scene.brakes if scene else (), given, signal)
    times = [at + brake.engagement_time for brake in gripping]
    times += [lock.at or 0.0 for lock in later]
    duration = max([_DURATION, *(1.5 * time for time in times)]) if duration is None else duration
    if not (isfinite(duration) and duration > 0):
        raise BadUsage(f"the duration is {duration:g} s", expected="a positive number")
    ours = simulate(
        replace(scene, actuators=()) if scene else mech,
        duration,
        brakes=given,
        signal=signal,
        locks=locks,
        limits="ignore",
        rtol=_RTOL,
        atol=_ATOL,
        step=duration * _STEP,
        **request,
    )
    timed = tuple(lock for lock in later if not lock.for_good)
    closed = tuple(lock for lock in later if lock.for_good)
    held = replace(mech, drivers=(), locks=(*mech.locks, *closed))
    drives = tuple(_drive(ours, driver) for driver in mech.drivers)
    geared = scene is not None and any(actuator.armature for actuator in scene.actuators)
    task = _task(held, ours, duration, timed, drives)
    own = ours.actions.brakes
    return Setup(task, ours, _notes(geared, task, ours), assumed_brakes(own), brakes_of_effort(own))


def of_stop(report: StopReport, max_seconds: float = MAX_SECONDS) -> Setup:
    """Return the setup of a stop, from its signal to its end, without end stops."""
    own = report.scenario
    scenario = replace(
        own,
        actions=replace(own.actions, armature={}),
        limits="ignore",
        rtol=_RTOL,
        atol=_ATOL,
        max_seconds=max_seconds,
    )
    drives = timed_drives(scenario)
    rough = run_stop(scenario)
    duration = float(rough.time[-1])
    options = Options(
        duration,
        limits="ignore",
        rtol=_RTOL,
        atol=_ATOL,
        step=duration * _STEP,
        tolerance=scenario.tolerance,
        max_seconds=max_seconds,
    )
    ours = move(
        scenario.mech,
        rough.actions,
        State(rough.q[0], rough.qd[0]),
        (),
        options,
        drives=drives,
    )
    task = _task(scenario.mech, ours, duration, (), drives)
    notes = (*_notes(any(own.actions.armature.values()), task, ours), *own.notes)
    return Setup(task, ours, tuple(dict.fromkeys(notes)), report.assumed, own.of_effort)


def _notes(geared: bool, task: Task, ours: Trajectory) -> tuple[str, ...]:
    """Return what both motions leave out, what PyBullet does its own way, and the notes of ours."""
    notes = []
    if geared:
        notes.append("rotor inertias are left out of both motions, for PyBullet has none")
    if stronger := [brake.joint for brake in task.brakes if brake.law.static > brake.law.sliding]:
        notes.append(f"in PyBullet the brake of {stronger[0]!r} holds no more than it slides with")
    if passed := _passed_limits(ours):
        notes.append(f"end stops are left out of both motions, which pass the limits of {listed(passed)}")
    return (*notes, *ours.notes)


def _passed_limits(ours: Trajectory) -> tuple[str, ...]:
    """Return the joints that our motion takes beyond their limits."""
    beyond = (
        limit.name
        for limit in joint_limits(ours.mechanism, Options(1.0))
        if ((ours.q[:, limit.coordinate] - limit.bound) * (1 if limit.upper else -1)).max() > _AT_LIMIT
    )
    return tuple(dict.fromkeys(beyond))


def _task(
    mech: Mechanism,
    ours: Trajectory,
    duration: float,
    locks: tuple[Lock, ...],
    drives: tuple[TimedDrive, ...],
) -> Task:
    actions: AppliedForces = ours.actions
    by_load = [p.name for p in mech.pairs if any(f.load_friction for f in p.freedoms)]
    if actions.friction and by_load:
        raise BadUsage(
            f"PyBullet has no friction that grows with the load of a joint, as {by_load[0]!r} has",
            remedy="leave friction out of both motions (--no-friction)",
        )
    return Task(
        mech,
        ours.q[0],
        ours.qd[0],
        duration,
        actions.payloads,
        actions.loads,
        dict(actions.torques),
        actions.springs,
        actions.joint_springs,
        actions.damping,
        actions.friction,
        actions.brakes,
        locks,
        drives,
    )


def _drive(ours: Trajectory, driver: Driver) -> TimedDrive:
    """Return a driver of the mechanism as one that leads a joint for good."""
    joint = ours.mechanism.tree.joint_of_pair.get(driver.joint)
    start = float(ours.q[0][joint.q.start]) if joint else 0.0
    return TimedDrive(driver, driver.segments(start))
