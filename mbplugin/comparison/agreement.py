"""The result of a cross-check: whether the motion of PyBullet or MuJoCo converges to ours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mbplugin.bullet import quiet, session
from mbplugin.bullet.built import Built, build
from mbplugin.bullet.motion import Sampled, Task
from mbplugin.bullet.tree import outer_frame
from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.errors import BadUsage
from mbplugin.model import Array, Scene, State, cross, forward, mechanism_of
from mbplugin.model.brakes import AppliedForces, BrakeLike, idle_sentence, signalled_brakes
from mbplugin.model.mechanism import Driver, Lock, Mechanism, base_sentence, floating_sentence
from mbplugin.phrases import cut_short, listed, one_line, one_line_repr
from mbplugin.rendering import Result
from mbplugin.simulation.options import MAX_SECONDS, Options
from mbplugin.simulation.passing_marks import TimedDrive, joint_limits
from mbplugin.simulation.run import move, simulate
from mbplugin.simulation.trajectory.resampling import draw, legend
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.outcome import StopReport
from mbplugin.stopping.run import run_stop
from mbplugin.stopping.scenario import NO_EFFORT_LIMITS, EffortLimits, assumed_brakes, brakes_of_effort
from mbplugin.stopping.scenario.drives import timed_drives

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Relative deviation that is rounding.
_EXACT = 1e-8
#: A step so short that the sensors tell what acts at its start, s.
_MOMENT = 1e-9
EngineName = Literal["PyBullet", "MuJoCo"]
Verdict = Literal["agrees", "disagrees", "not asymptotic", "not comparable"]
Program = Literal["mbplugin", "PyBullet", "MuJoCo"]
#: Orders of convergence that count as first order.
FIRST_ORDER = (0.7, 1.3)
#: How long a motion is compared where nobody says, s.
_DURATION = 0.5
_RTOL, _ATOL = 1e-11, 1e-12
#: The longest step beside the duration; between steps rates are interpolated by cubics.
_STEP = 1 / 512
#: Beyond a limit, rad or m, that is only rounding.
_AT_LIMIT = 1e-9


# An agreement as a picture: errors over the step, and the coordinates of both.


def plot(found: Agreement, path: str | Path | None = None) -> Figure:
    """Draw an agreement into a file, or in a window where none is named, and return the figure.

    Raises
    ------
    MissingDependency
        Matplotlib is not installed.
    BadUsage
        No picture by its ending, or a file that cannot be written.
    """
    return draw(partial(_draw, found), (11.0, 5.0), path)


def _draw(found: Agreement, figure: Any) -> None:
    errors, curves = figure.subplots(1, 2)
    _draw_errors(found, errors)
    _draw_curves(found, curves)
    lines = (f"{found.engine} and mbplugin: {found.verdict}", cut_short(found.of_effort.heading, 110))
    figure.suptitle("\n".join(filter(None, lines))).set_parse_math(False)


def _draw_errors(found: Agreement, axes: Any) -> None:
    axes.set_xlabel(f"step of {found.engine} [s]")
    axes.set_ylabel("largest deviation [rad, m, rad/s, m/s]")
    axes.grid(alpha=0.3, which="both")
    shown = dict.fromkeys(row.quantity for row in found.rows if row.errors)
    for quantity in shown:
        errors = np.max([row.errors for row in found.rows if row.quantity == quantity and row.errors], axis=0)
        if errors.min() > 0:
            axes.loglog(found.steps, errors, "o-", label=quantity)
    if axes.lines:
        steps = np.array(found.steps)
        top = max(float(line.get_ydata()[0]) for line in axes.lines)
        axes.loglog(steps, top * steps / steps[0], "k--", linewidth=0.8, label="first order")
        axes.legend(fontsize="small")


def _draw_curves(found: Agreement, axes: Any) -> None:
    axes.set_xlabel("time [s]")
    axes.set_ylabel("coordinates [rad, m]")
    axes.grid(alpha=0.3)
    if found.curves is None:
        return
    lines = []
    for ours, theirs in zip(found.curves.ours.T, found.curves.bullet.T, strict=True):
        lines += axes.plot(found.curves.time, ours, linewidth=1.2)
        axes.plot(found.curves.time[::4], theirs[::4], ".", color=lines[-1].get_color(), markersize=4)
    legend(axes, lines, found.curves.names)
    axes.set_title(f"lines: mbplugin, dots: {found.engine} at its smallest step", fontsize="small")


# Quantities without a time step: the engine's mass matrix, inverse dynamics and joint sensors against ours.
#
# They are compared if the engine defines them (one tree on the ground, joints of one axis) and if they
# are unique: in a loop, reactions may be non-unique.


@dataclass(frozen=True, eq=False)
class Statics:
    """Statics of an engine at the start of a motion; entries are None where it has no answer.

    Parameters
    ----------
    mass : (nv, nv) array
    torque : (nv,) array
        For the accelerations of :func:`accelerations`.
    wrenches : dict of pair to (6,) array
        [f; m] on the successor at the origin of S, world axes, at rest, free of motors, brakes and loads.
    """

    mass: Array | None = None
    torque: Array | None = None
    wrenches: dict[str, Array] | None = None


def gravity_only(task: Task) -> Task:
    """Return the task without anything that acts besides gravity."""
    mech = replace(task.mech, locks=())
    return replace(
        task,
        mech=mech,
        loads=(),
        torques=None,
        springs=(),
        joint_springs=(),
        damping=False,
        friction=False,
        brakes=(),
        locks=(),
        drives=(),
    )


def accelerations(mech: Mechanism) -> Array:
    """Return joint accelerations (nv,) at which inverse dynamics is compared, rad/s² and m/s²."""
    return np.asarray(np.cos(1.0 + np.arange(len(mech.qd_names))))


@dataclass(frozen=True, eq=False)
class Begun:
    """First answer of an engine: the parts of the task that it cannot simulate, or statics and four motions."""

    left_out: tuple[str, ...]
    statics: Statics = Statics()
    runs: tuple[Sampled, ...] = ()


def query_statics(task: Task) -> Statics:
    """Return the statics that PyBullet computes at the start of a task."""
    task = gravity_only(task)
    with session() as (bullet, client):
        built = build(task.scene, client)
        bullet.setGravity(*task.mech.gravity.tolist(), physicsClientId=client)
        with quiet():
            mass, torque = _of_tree(task, built)
            return Statics(mass, torque, _sensors(task, built))


def statics_rows(task: Task, theirs: Statics) -> list[Row]:
    """Return the rows of the statics that PyBullet could compute."""
    from mbplugin.dynamics.tree_model import joint_equations

    task = gravity_only(task)
    mech, rows = task.mech, list[Row]()
    if theirs.mass is not None and theirs.torque is not None:
        equations = joint_equations(mech, task.q, task.qd, task.actions)
        size = np.sqrt(np.outer(np.diag(equations.M), np.diag(equations.M)))
        off = float((np.abs(theirs.mass - equations.M) / size).max())
        rows.append(Row("mass matrix", mech.name, "1", off, _EXACT))
        ours = equations.M @ accelerations(mech) - equations.F
        # over the root of the inertia that they move, forces and moments have one unit
        over = np.sqrt(np.diag(equations.M))
        off = float(np.abs((theirs.torque - ours) / over).max() / max(np.abs(ours / over).max(), 1e-300))
        rows.append(Row("inverse dynamics", mech.name, "1", off, _EXACT))
    own = _reactions(task) if theirs.wrenches else {}
    # in free fall the reactions vanish, and only the rounding of weights is left
    mass = sum(body.mass for body in mech.bodies) + sum(payload.mass for payload in task.payloads)
    weight = float(np.linalg.norm(mech.gravity) * mass)
    for pair, wrench in (theirs.wrenches or {}).items():
        for part, unit, scale in (
            (slice(0, 3), "N", weight),
            (slice(3, 6), "N·m", weight * mech.largest_arm),
        ):
            largest = max(float(np.abs(w[part]).max()) for w in own.values())
            off = float(np.abs(wrench[part] - own[pair][part]).max())
            rows.append(Row("reaction", pair, unit, off, 1e-6 * max(largest, 1e-6, 1e-6 * scale)))
    return rows


def _of_tree(task: Task, built: Built) -> tuple[Array | None, Array | None]:
    mech = task.mech
    motors = [(name, motor) for name, own in built.motors.items() for motor in own]
    axes = {m.link: mech.qd_names.index(name) for name, m in motors if name in mech.qd_names}
    plain = len(built.ids) == 1 and len(axes) == len(mech.qd_names) == len(motors)
    if not plain or any(m.step.kind == "spherical" for _, m in motors) or not axes:
        return None, None
    order = [axes[link] for link in sorted(axes)]
    requested = [vector[order].tolist() for vector in (task.q, task.qd, accelerations(mech))]
    bullet, where = built.bullet, {"physicsClientId": built.client}
    try:
        M = bullet.calculateMassMatrix(built.ids[0], requested[0], **where)
        torque = bullet.calculateInverseDynamics(built.ids[0], *requested, **where)
    except (bullet.error, SystemError):
        # it refuses trees with links of no mass
        return None, None
    mass, tau = np.empty((len(order), len(order))), np.empty(len(order))
    mass[np.ix_(order, order)], tau[order] = np.array(M), np.array(torque)
    return mass, tau


def _sensors(task: Task, built: Built) -> dict[str, Array] | None:
    """Return the wrenches of all joints that move, from one very short step.

    At rest: in motion PyBullet's sensors miss a part of the velocity-dependent forces, and do not fit the
    accelerations of its own motion.
    """
    mech = task.mech
    if mech.tree.cut or mech.couplings or mech.pfaffians or built.ties:
        return None
    bullet, where = built.bullet, {"physicsClientId": built.client}
    for motors in built.motors.values():
        bullet.enableJointForceTorqueSensor(motors[-1].id, motors[-1].link, True, **where)
    built.set_state(task.q)
    bullet.setTimeStep(_MOMENT, **where)
    bullet.stepSimulation(**where)
    poses, found = forward(mech, task.q), {}
    for joint in mech.tree.joints:
        if joint.pair is None or joint.pair.name not in built.motors or joint.reversed:
            continue
        motor, place = built.motors[joint.pair.name][-1], built.places[joint.outer]
        state = bullet.getJointStateMultiDof(motor.id, motor.link, **where)
        X_WL = poses.of(mech.body_index[joint.outer])
        X_WC = X_WL @ place.X_LC
        force, moment = X_WC.R @ np.array(state[2][:3]), X_WC.R @ np.array(state[2][3:])
        p_WS = (X_WL @ outer_frame(joint)).p
        found[joint.pair.name] = np.concatenate((force, moment + cross(X_WC.p - p_WS, force)))
    return found


def _reactions(task: Task) -> dict[str, Array]:
    """Return our wrenches at the start in world axes."""

    motion = simulate(
        task.mech, _MOMENT, q=task.q, payload=task.payloads, damping=False, friction=False, limits="ignore"
    )
    poses = forward(task.mech, task.q)
    out = {}
    for joint in task.mech.tree.joints:
        if joint.pair is not None:
            pair = joint.pair
            R_WP = (poses.of(task.mech.body_index[pair.body_a]) @ pair.X_AP).R
            f, m = motion.reactions(pair.name)[0].reshape(2, 3)
            out[pair.name] = np.concatenate((R_WP @ f, R_WP @ m))
    return out


@one_line_repr
@dataclass(frozen=True)
class Row:
    """One compared quantity of one element.

    Parameters
    ----------
    quantity : str
        What is compared: ``mass``, ``joint axis``, ``mass matrix``, ``coordinate``, ``rate``, ``jump`` …
    element : str
        The body, joint or coordinate.
    deviation : float
        Between the engine and us; of what depends on the step, the engine extrapolated to step zero.
    bound : float
        What the deviation may be.
    errors : tuple of float
        Largest deviation along the motion at each step of the engine, the coarsest first; empty where
        there is no step.
    orders : tuple of float
        Binary logarithms of their ratios.
    time : float or None
        When the deviation first leaves its bound, or is largest, s.
    """

    quantity: str
    element: str
    unit: str
    deviation: float
    bound: float
    errors: tuple[float, ...] = ()
    orders: tuple[float, ...] = ()
    time: float | None = None

    @property
    def agrees(self) -> bool:
        """Whether the deviation keeps its bound."""
        return self.deviation <= self.bound


@dataclass(frozen=True)
class Check:
    """What one motion, seen for itself, has to satisfy.

    Parameters
    ----------
    program : "mbplugin", "PyBullet" or "MuJoCo"
    name : str
        What is checked.
    value, bound : float
        By how much it is off, and may be.
    """

    program: Program
    name: str
    value: float
    bound: float
    unit: str

    @property
    def passes(self) -> bool:
        """Whether the value keeps its bound."""
        return self.value <= self.bound


@one_line_repr
@dataclass(frozen=True, eq=False)
class Curves:
    """Joint coordinates of both, for a picture.

    Parameters
    ----------
    names : tuple of str
        Of coordinates that are numbers, not parts of quaternions.
    time : (n,) array
        s.
    ours, bullet : (n, k) array
        At the smallest step of the engine, whichever it is, rad and m.
    """

    names: tuple[str, ...]
    time: Array
    ours: Array
    bullet: Array


@dataclass(frozen=True, eq=False)
class Agreement(Result):
    """The result of a cross-check with one engine, and that with the other engine where both are installed.

    Parameters
    ----------
    verdict : str
        ``agrees``, ``disagrees``, ``not asymptotic`` (the engine's values do not change with its
        step as those of a first-order method, so an extrapolation is not possible) or ``not comparable`` (the engine
        cannot model the mechanism, or our motion ended early).
    reason : str
        One sentence.
    rows : tuple of Row
        Parameters of the model first, then quantities without a time step, then the motion.
    steps : tuple of float
        The engine's steps, s, each half of the one before; between two events they are adjusted to end at
        them.
    orders : tuple of float
        Observed orders of convergence of all joint coordinates together, one for each halving.
    duration : float
        s.
    settings : dict of str to float
        The engine's solver: ``iterations`` and ``residual_threshold`` (of PyBullet), ``erp``.
    notes : tuple of str
        Parts that are omitted in both models, or read differently; one sentence each.
    curves : Curves or None
    checks : tuple of Check
        Checks of each motion alone, if the motions do not agree: the evidence for and against each.
    tolerance : float
        Relative rank tolerance of our motion.
    assumed : tuple of str
        Values of brakes and decelerations that are not stated, one sentence each. Both programs compute with them:
        that they agree says nothing about these values.
    of_effort : EffortLimits
        The joints of these brakes and decelerations.
    engine : "PyBullet" or "MuJoCo"
    version : str
        Of the engine.
    second : Agreement, optional
        The cross-check of the same motion with the other engine.
    left_out : tuple of str
        What the engine cannot model, one sentence each; then the motions are not comparable.
    """

    verdict: Verdict
    reason: str
    rows: tuple[Row, ...] = ()
    steps: tuple[float, ...] = ()
    orders: tuple[float, ...] = ()
    duration: float = 0.0
    settings: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    curves: Curves | None = None
    checks: tuple[Check, ...] = ()
    tolerance: float = DEFAULT_TOLERANCE
    assumed: tuple[str, ...] = ()
    of_effort: EffortLimits = NO_EFFORT_LIMITS
    engine: EngineName = "PyBullet"
    version: str = ""
    second: Agreement | None = None
    left_out: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return one_line(self, self.verdict, (*(("assumed values",) if self.assumed else ()), self.reason))

    @property
    def agrees(self) -> bool:
        """True if the verdict is ``agrees``, and the second engine, if any, does not disagree."""
        return self.verdict == "agrees" and (self.second is None or self.second.verdict != "disagrees")

    @property
    def order(self) -> float:
        """The order observed at the last halving; NaN if there is none."""
        return self.orders[-1] if self.orders else float("nan")

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw the errors over the step and the coordinates of both motions into a file or a window."""

        return plot(self, path)


# Our motion for the cross-check, and the same motion as a task for the engines.


@dataclass(frozen=True, eq=False)
class Setup:
    """A task, our motion of it, and sentences on the omissions and assumptions common to both motions."""

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
    """Return the setup of a motion; ``request`` has the further arguments of ``simulate``.

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
            f"the scene holds {scene.holds[0].constraint!r} for a while, which neither engine can do",
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


def _drive(ours: Trajectory, driver: Driver) -> TimedDrive:
    """Return a driver of the mechanism as one that leads a joint for good."""
    joint = ours.mechanism.tree.joint_of_pair.get(driver.joint)
    start = float(ours.q[0][joint.q.start]) if joint else 0.0
    return TimedDrive(driver, driver.segments(start))


def of_stop(report: StopReport, max_seconds: float = MAX_SECONDS) -> Setup:
    """Return the setup of a stop, from its signal to its end, without end stops."""
    from mbplugin.dynamics.tree_model import with_joints_without_mass_at_rest

    own = report.scenario
    bare = replace(own.actions, armature={})
    scenario = replace(
        own,
        actions=with_joints_without_mass_at_rest(own.mech, bare, own.qd)[0],
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
    """Return notes on the omissions of both motions, on differences by design, and those of our motion."""
    own = ours.mechanism
    notes = [
        *base_sentence(own.assumed_fixed),
        *floating_sentence(own),
        *idle_sentence(own, ours.actions),
    ]
    if geared:
        notes.append("rotor inertias are left out of both motions")
    if stronger := [brake.joint for brake in task.brakes if brake.law.static > brake.law.sliding]:
        notes.append(f"in the other motion the brake of {stronger[0]!r} holds no more than it slides with")
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
    if actions.friction and ours.motion_range is not None:
        raise BadUsage(
            "friction depends on forces that the rigid model does not determine, and our motion is one of many",
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
