"""Evaluate the motion of a stop into its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from mbplugin.constraints.reduction import find_blocks
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.model import Array, Holder, Lock, Mechanism, Payload, Request, Shape, lock_component, units_of
from mbplugin.model.brake_law import BrakeLaw, depends_on_rate, rate_force
from mbplugin.model.brakes import AppliedForces, JointBrake
from mbplugin.phrases import listed
from mbplugin.readers.meshes import mesh_bounds
from mbplugin.simulation.impact import activate
from mbplugin.simulation.passing_marks import Event, bracketed_zero
from mbplugin.simulation.trajectory import BodyMotions, body_motions, held_mechanisms
from mbplugin.simulation.trajectory.resampling import coordinates_at
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.outcome import (
    Energies,
    Impact,
    InstantStop,
    JointStop,
    StopOutcome,
    StopReport,
    StopSummary,
    SweptVolume,
    ToolStop,
    passed_over,
    slipped_back,
)
from mbplugin.stopping.scenario import Scenario
from mbplugin.stopping.scenario.drives import grip_times

#: Number of instants of the tool's path in addition to the steps of the motion.
_PATH = 200
#: Share of the dissipated energy by which quadratures of the same motion may differ.
_ROUNDING = 1e-7
#: A joint is at rest below this rate, rad/s or m/s: events of other joints leave it a small rate.
_RESTS = 1e-5
#: A joint that reverses while others in its loop are faster than this, rad/s or m/s, passes a dead centre.
_TURNS = 1e-3
#: A joint takes part in a free motion (null-space vector) if its component is larger than this.
_FREE = 1e-6
#: Speeds, rad/s and m/s, for which a report states when a joint that only slows down falls below them.
_SPEEDS = (0.1, 0.01, 0.001)
#: Quadrature nodes between two samples for the work of brakes whose force depends on the rate.
_NODES = 6


def evaluate(
    scenario: Scenario,
    motion: Trajectory,
    shapes: Mapping[str, tuple[Shape, ...]] | None = None,
    request: Request | None = None,
) -> StopReport:
    """Return the report of a stop."""
    outcome, slowing, joints, time, reaction, bodies, tool = _ended(scenario, motion)
    impact = impact_at_end(motion, scenario.actions)
    return StopReport(
        outcome,
        scenario,
        motion,
        time,
        reaction,
        joints,
        tool,
        swept_box(scenario.mech, bodies, shapes or {}, scenario.actions.payloads, request),
        _energies(motion, joints),
        _naive(scenario, motion, tool),
        impact,
        (
            *scenario.notes,
            *motion.notes,
            *undetermined_impact(motion, impact),
            *passed_over(motion),
            *(_slows_down(scenario, motion, slowing) or _why_not_stopped(outcome, scenario, joints)),
        ),
        slowing,
    )


def summarise(scenario: Scenario, motion: Trajectory) -> StopSummary:
    """Return the summary of a stop for tables, searches and sweeps; its values are those of the report."""
    outcome, _, joints, time, _, _, tool = _ended(scenario, motion)
    keys = ("time", "travel", "reaction_travel", "back")
    times, travels, reactions, back = (np.array([getattr(joint, key) for joint in joints]) for key in keys)
    return StopSummary(
        outcome, time, times, travels, reactions, back, tool.distance, tool.displacement, evaluations=0
    )


class _Ended(NamedTuple):
    """What a report and a summary of a stop have in common; times in s."""

    outcome: StopOutcome
    slowing: tuple[str, ...]
    joints: tuple[JointStop, ...]
    time: float
    reaction: float
    bodies: BodyMotions
    tool: ToolStop


def _ended(scenario: Scenario, motion: Trajectory) -> _Ended:
    slowing = slowing_rates(scenario, motion)
    joints = joint_stops(scenario, motion, slowing)
    dense = np.sort(np.concatenate((motion.time, np.linspace(0, motion.time[-1], _PATH))))
    bodies = body_motions(scenario.mech, *coordinates_at(motion, dense))
    reaction = min((j.reaction_time for j in joints if j.time > 0), default=0.0)
    return _Ended(
        outcome_of(motion, joints, slowing, scenario.rest_speed),
        slowing,
        joints,
        max((j.time for j in joints), default=float(motion.time[-1])),
        reaction,
        bodies,
        _tool(scenario, dense, bodies, reaction),
    )


def slowing_rates(scenario: Scenario, motion: Trajectory) -> tuple[str, ...]:
    """Return the names of the rates that have only slowed down at the end of a stop, because nothing holds them.

    Their decay is exponential and never ends. Rates that are still fast are left out: a rate must have stayed below
    ``scenario.rest_speed``, or the threshold of rest, for the last tenth of the time (if it stopped, at the end).
    """
    if motion.outcome not in ("stopped", "completed"):
        return ()
    late = motion.time >= 0.9 * motion.time[-1] if motion.outcome == "completed" else [-1]
    slow = np.abs(motion.qd[late]).max(axis=0) <= max(scenario.rest_speed, _RESTS)
    moved = slow & (np.abs(motion.qd).max(axis=0) > _RESTS)
    *_, last = held_mechanisms(motion)
    held = {holder.joint for holder in map(Holder.of, last.active) if holder}
    mech = motion.mechanism
    names = mech.qd_names
    of_pair = {
        k: joint.pair.name
        for joint in mech.tree.joints
        if joint.pair
        for k in range(joint.qd.start, joint.qd.stop)
    }
    found = [k for k in np.flatnonzero(moved).tolist() if not {names[k], of_pair.get(k)} & held]
    if found and (mech.tree.cut or mech.couplings or mech.pfaffians or mech.drivers):
        # the rows alone are read, for which their redundancy does not matter
        at_rest = np.zeros(len(names))
        equations = joint_equations(
            last.mech, motion.q[-1], at_rest, scenario.actions, degree_of_redundancy=0
        )
        _, sizes, V = np.linalg.svd(equations.scaled_C)
        free = V[int((sizes > motion.tolerance).sum()) :]
        found = [k for k in found if np.abs(free[:, k]).max(initial=0.0) > _FREE]
    return tuple(names[k] for k in found)


def _slows_down(scenario: Scenario, motion: Trajectory, slowing: tuple[str, ...]) -> tuple[str, ...]:
    """Return the sentence about rates that only slow down, if there are any."""
    if not slowing:
        return ()
    what = (
        f"{listed(slowing)} only slow{'s' if len(slowing) == 1 else ''} down, as nothing but damping brakes"
    )
    what += " it" if len(slowing) == 1 else " them"
    if scenario.rest_speed:
        return (f"{what}: below {scenario.rest_speed:g} rad/s or m/s counts as rest",)
    times = ", ".join(f"{speed:g} from {_below(motion, slowing, speed):.4g} s on" for speed in _SPEEDS)
    return (
        f"{what}, and never come{'s' if len(slowing) == 1 else ''} to rest: below {times} (rad/s, m/s);"
        " state what holds at rest (torque of a brake), or which speed counts as rest"
        " (--rest-speed, rest_speed=)",
    )


def _below(motion: Trajectory, names: tuple[str, ...], speed: float) -> float:
    """Return the time from which all named rates stay below a speed, rad/s or m/s; s."""
    columns = [motion.mechanism.qd_names.index(name) for name in names]
    return max(_time_below(motion, column, speed) for column in columns)


def _time_below(motion: Trajectory, column: int, speed: float) -> float:
    """Return the time from which a rate stays below a speed, rad/s or m/s; s."""
    above = np.flatnonzero(np.abs(motion.qd[:, column]) > speed)
    if not above.size:
        return 0.0
    k = int(above[-1])
    if k + 1 == len(motion.time):
        return float(motion.time[-1])
    low, high = motion.time[k : k + 2].tolist()
    if low == high:
        return float(high)
    return float(
        bracketed_zero(
            lambda t: float(abs(motion.resample([t]).qd[0, column]) - speed),
            low,
            high,
            near=1e-9 * (high - low),
        )
    )


def _why_not_stopped(
    outcome: StopOutcome, scenario: Scenario, joints: tuple[JointStop, ...]
) -> tuple[str, ...]:
    """Return the reason why a stop is ``not_stopped``; empty for other outcomes."""
    if outcome != "not_stopped":
        return ()
    free = any(joint.pair is None for joint in scenario.mech.tree.joints)
    body = "the robot falls, because its base is free (base='fixed' or --base fixed bolts it down)"
    if scenario.mech.pfaffians:
        body = "the robot tips or falls, because its wheels alone do not hold it: add the castor or wheel that does"
    moving = ", ".join(joint.name for joint in joints if not joint.stopped)
    moving = moving or (body if free else "a body that no joint holds")
    return (f"still moving when the longest time, {scenario.duration:g} s, was over: {moving}",)


def outcome_of(
    motion: Trajectory, joints: tuple[JointStop, ...], slowing: tuple[str, ...] = (), rest_speed: float = 0.0
) -> StopOutcome:
    """Return the outcome; ``slowing`` rates rest below ``rest_speed``, rad/s or m/s, or never if that is 0."""
    if motion.outcome == "limit_hit":
        return "limit_hit"
    if motion.outcome == "budget_spent":
        return "budget_spent"
    if motion.outcome == "loop_opened":
        return "loop_opened"
    back, travels = (np.array([getattr(joint, key) for joint in joints]) for key in ("back", "travel"))
    if slipped_back(back, travels):
        return "slipped_back"
    if slowing:
        others = [n not in slowing for n in motion.mechanism.qd_names]
        rest = bool((np.abs(motion.qd[-1, others]) <= _RESTS).all())
        return "stopped" if rest_speed and rest else "not_stopped"
    return "stopped" if motion.outcome == "stopped" else "not_stopped"


def _tool(scenario: Scenario, time: Array, bodies: BodyMotions, reaction: float) -> ToolStop:
    """Return the stop of the tool; ``time`` (T,) are the samples of the motion, s."""
    path, velocity = bodies.point(scenario.mech.body_index[scenario.tool], np.array(scenario.tool_point))
    lengths = arc_lengths(time, path, velocity)
    k = sample_at(time, reaction)
    path.setflags(write=False)
    return ToolStop(
        scenario.tool,
        path,
        float(np.linalg.norm(velocity[0])),
        float(lengths[:k].sum()),
        float(lengths[k:].sum()),
    )


def arc_lengths(time: Array, path: Array, velocity: Array) -> Array:
    """Return the lengths (T − 1,) of the cubic arcs of a path, m.

    Parameters
    ----------
    time : (T,) array
        s.
    path, velocity : (T, 3) array
        m and m/s.
    """
    h, chord = np.diff(time), np.diff(path, axis=0)
    middle = 1.5 * chord - 0.25 * h[:, None] * (velocity[1:] + velocity[:-1])
    speed = np.linalg.norm(velocity, axis=1)
    arcs = (h * (speed[1:] + speed[:-1]) + 4 * np.linalg.norm(middle, axis=1)) / 6
    return np.asarray(np.maximum(arcs, np.linalg.norm(chord, axis=1)))


def _energies(motion: Trajectory, joints: tuple[JointStop, ...]) -> Energies:
    kinetic = float(motion.kinetic[0] - motion.kinetic[-1])
    potential = float(motion.potential[0] - motion.potential[-1])
    driven, applied = float(motion.driven[-1]), float(motion.applied[-1])
    brakes, lost = sum(joint.brake_energy for joint in joints), float(motion.dissipated[-1])
    # if only brakes dissipate energy, a difference within rounding is not a loss
    losses = lost - brakes if lost - brakes > _ROUNDING * lost else 0.0
    residual = kinetic + potential + driven + applied - brakes - losses
    return Energies(kinetic, potential, driven, applied, brakes, losses, residual)


def _naive(scenario: Scenario, motion: Trajectory, tool: ToolStop) -> InstantStop:
    """Return the stop if every joint froze at the instant its brake engages or its drive reacts."""
    times = {brake.joint: reaction_time(scenario, brake) for brake in scenario.brakes}
    end = min(max(times.values(), default=0.0), float(motion.time[-1]))
    k = sample_at(motion.time, end)
    dense = np.unique(np.concatenate((motion.time[: k + 1], np.linspace(0, end, _PATH))))
    q, _ = coordinates_at(motion, dense)
    for joint, time in times.items():
        if scenario.rate_of(joint) >= 0:
            place = scenario.mech.tree.joint_of_pair[joint].q.start
            frozen = sample_at(dense, time)
            q[frozen:, place] = course_of(motion, joint).q[sample_at(motion.time, time)]
    i = scenario.mech.body_index[scenario.tool]
    path, _ = body_motions(scenario.mech, q).point(i, np.array(scenario.tool_point))
    q = q[-1].copy()
    q.setflags(write=False)
    return InstantStop(
        q,
        end,
        float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum()),
        float(np.linalg.norm(path[-1] - path[0])),
        float(np.linalg.norm(path[-1] - tool.path[-1])),
        float(motion.kinetic[k]),
    )


# The volume that a stop sweeps: boxes in world axes around the motion of every body.


def swept_box(
    mech: Mechanism,
    bodies: BodyMotions,
    shapes: Mapping[str, tuple[Shape, ...]],
    payloads: Sequence[Payload],
    request: Request | None = None,
) -> SweptVolume:
    """Return the boxes that the bodies sweep.

    Parameters
    ----------
    request : Request, optional
        Locates the mesh files.
    bodies : BodyMotions
        Motions of all bodies.
    """
    boxes, left_out = {}, []
    for i, body in enumerate(mech.bodies):
        points, whole = _points(mech, body.name, shapes.get(body.name, ()), payloads, request)
        if not whole:
            left_out.append(body.name)
        along = np.einsum("tij,nj->tni", bodies.R_WL[:, i], points) + bodies.p_WL[:, None, i]
        boxes[body.name] = np.array([along.min(axis=(0, 1)), along.max(axis=(0, 1))])
    corners = np.array(list(boxes.values()))
    return SweptVolume(boxes, corners[:, 0].min(axis=0), corners[:, 1].max(axis=0), tuple(left_out))


def _points(
    mech: Mechanism,
    name: str,
    shapes: tuple[Shape, ...],
    payloads: Sequence[Payload],
    request: Request | None,
) -> tuple[Array, bool]:
    """Return points (n, 3) of a body in its link frame, and whether they span all its shapes."""
    body = mech.bodies[mech.body_index[name]]
    points = [body.p_LC]
    points += [pair.X_AP.p for pair in mech.pairs if pair.body_a == name]
    points += [pair.X_BS.p for pair in mech.pairs if pair.body_b == name]
    points += [np.asarray(payload.com) for payload in payloads if payload.body == name]
    whole = bool(shapes)
    for shape in shapes:
        box = mesh_bounds(shape, request) if shape.kind == "mesh" else _box(shape)
        if box is None:
            whole = False
            continue
        points += [shape.X_LS.apply(np.array(corner)) for corner in product(*box.T)]
    return np.array(points), whole


def _box(shape: Shape) -> Array | None:
    """Return the lowest and highest corner (2, 3) of a shape in its local axes, m; None for planes."""
    size = shape.size
    if shape.kind == "box":
        half = 0.5 * np.array(size)
    elif shape.kind == "sphere":
        half = np.full(3, size[0])
    elif shape.kind in ("cylinder", "capsule"):
        end = size[0] if shape.kind == "capsule" else 0.0
        half = np.array([size[0], size[0], 0.5 * size[1] + end])
    else:
        return None
    return np.array([-half, half])


# A joint that reaches its end stop: the impulse of an impact without rebound (mueller2026 (22), (24)).


def impact_at_end(motion: Trajectory, actions: AppliedForces) -> Impact | None:
    """Return the impact at the joint limit that ended a motion; None if there is none or it is not determined."""
    hit = _hit(motion)
    if hit is None:
        return None
    mech, q, qd = motion.mechanism, motion.q[-1], motion.qd[-1]
    k = mech.qd_names.index(hit.joint)
    pair, freedom = next(
        (joint.pair, joint.pair.kind.free[k - joint.qd.start])
        for joint in mech.tree.joints
        if joint.pair is not None and joint.qd.start <= k < joint.qd.stop
    )
    lock = Lock(pair.name, freedoms=(freedom,))
    held = replace(mech, locks=(*mech.locks, lock))
    equations = joint_equations(held, q, qd, actions, tolerance=motion.tolerance)
    change = activate(equations, qd, [lock.name])
    if change.outcome != "regular":
        return None
    impulse = change.impulse[lock.name, lock_component(freedom)]
    return Impact(hit.joint, freedom, float(qd[k]), abs(impulse), change.loss)


def undetermined_impact(motion: Trajectory, impact: Impact | None) -> tuple[str, ...]:
    """Return a note if a joint runs into its end stop and the momenta do not determine the impulse."""
    hit = _hit(motion)
    if hit is None or impact is not None:
        return ()
    return (f"{hit.joint} runs into its end stop at a singular pose, where the impulse is not determined",)


def _hit(motion: Trajectory) -> Event | None:
    """Return the event of the joint limit that ended a motion, None if no limit did."""
    if motion.outcome != "limit_hit":
        return None
    return next((event for event in reversed(motion.events) if event.kind == "limit"), None)


# The stops of the braked joints, evaluated from the motion.


class JointHistory(NamedTuple):
    """The samples of one joint: time, coordinate, rate and acceleration (T,)."""

    time: Array
    q: Array
    qd: Array
    qdd: Array


def joint_stops(
    scenario: Scenario, motion: Trajectory, slowing: tuple[str, ...] = ()
) -> tuple[JointStop, ...]:
    """Return the stops of the joints with a brake; joints that close a loop have no coordinate and are left out.

    Joints in ``slowing`` only slow down: they stop when they stay below the speed that counts as rest, if there is one.
    """
    engagement_time = grip_times(scenario)
    brakes = [brake for brake in scenario.brakes if scenario.rate_of(brake.joint) >= 0]
    acting = [brake for brake in brakes if brake.joint in engagement_time]
    works = _rate_works(motion, {b.joint: b.law for b in acting if depends_on_rate(b.law)})
    none = np.zeros(max(len(motion.time) - 1, 0))
    out = []
    for brake in brakes:
        joint, course = brake.joint, course_of(motion, brake.joint)
        # the brakes of a robot at rest, which has no ramps, engage before a ramp would begin
        reaction = min(reaction_time(scenario, brake), engagement_time.get(joint, np.inf))
        others = _others_in_loops(motion, joint)
        energy = 0.0
        if joint in engagement_time:
            energy = brake_energy(brake, course, works.get(joint, none), engagement_time[joint])
        rests = None
        if joint in slowing:
            column = scenario.rate_of(joint)
            rests = _time_below(motion, column, scenario.rest_speed) if scenario.rest_speed else np.inf
        out.append(_stop(brake, course, others, reaction, energy, rests))
    return tuple(out)


def _others_in_loops(motion: Trajectory, joint: str) -> Array:
    """Return the largest rate (T,) of the other joints in the loops of a joint, rad/s and m/s."""
    mech = motion.mechanism
    members = {
        name for block in find_blocks(mech) if joint in block.constraints for name in block.constraints
    }
    places = [place.qd for name, place in mech.tree.joint_of_pair.items() if name in members - {joint}]
    columns = [k for place in places for k in range(place.start, place.stop)]
    return np.asarray(np.abs(motion.qd[:, columns]).max(axis=1, initial=0.0))


def course_of(motion: Trajectory, joint: str) -> JointHistory:
    """Return the samples of a joint with one freedom."""
    place = motion.mechanism.tree.joint_of_pair[joint]
    k = place.qd.start
    return JointHistory(motion.time, motion.q[:, place.q.start], motion.qd[:, k], motion.qdd[:, k])


def reaction_time(scenario: Scenario, brake: JointBrake) -> float:
    """Return the time at which the brake of a joint engages (category 0) or its ramp begins, s."""
    return brake.engagement_time if scenario.category == 0 else brake.delay


def _stop(
    brake: JointBrake,
    course: JointHistory,
    others: Array,
    reaction: float,
    energy: float,
    rests: float | None = None,
) -> JointStop:
    """Return the stop of one joint; ``others`` (T,) are the largest other rates of its loops, rad/s and m/s.

    ``rests``: time at which it counts as at rest, s, if its rate does not tell.
    """
    moving = np.flatnonzero(np.abs(course.qd) > _RESTS)
    last = int(moving[-1]) + 1 if moving.size else 0
    stopped = last < len(course.time)
    end = float(course.time[min(last, len(course.time) - 1)])
    if rests is not None:
        stopped, end = rests < np.inf, min(rests, float(course.time[-1]))
    k = sample_at(course.time, reaction)
    reaction = min(reaction, end)
    return JointStop(
        brake.joint,
        units_of(brake.freedom).coordinate,
        float(course.q[0]),
        float(course.q[-1]),
        float(course.qd[0]),
        reaction,
        end - reaction,
        float(course.q[k] - course.q[0]),
        float(course.q[-1] - course.q[k]),
        _back(course, others, k),
        energy,
        stopped,
    )


def sample_at(time: Array, t: float) -> int:
    """Return the index of the last sample of ``time`` (T,) that is not after t, s."""
    return max(0, int(np.searchsorted(time, t + 1e-12, side="right")) - 1)


def _back(course: JointHistory, others: Array, k: int) -> float:
    """Return the distance by which a joint has slipped back from its turning point after sample k, rad or m.

    At a dead centre of its loop a joint reverses while the others (T,) move on: this does not count as slipping back.
    """
    v = np.where(np.abs(course.qd) > _RESTS, course.qd, 0.0)
    passed = (others > _TURNS) & ((v == 0.0) | (np.append(0.0, v[:-1] * v[1:]) < 0.0))
    passed[: k + 1] = False
    if v[k] == 0.0 and not passed.any():
        return 0.0
    k = int(np.flatnonzero(passed).max(initial=k))
    moves = v[k:][v[k:] != 0.0]
    way = np.sign(moves[:1].sum()) * (course.q[k:] - course.q[k])
    return float(way.max() - way[-1])


def brake_energy(brake: JointBrake, course: JointHistory, works: Array, engagement_time: float) -> float:
    """Return the energy that a brake dissipates, J: ∫ |τ q̇| dt of its dry and its rate-dependent part.

    The dry part is exact, since there is a sample wherever the rate changes sign.

    Parameters
    ----------
    works : (T - 1,) array
        Work of the rate-dependent part from each sample to the next, J.
    """
    k = sample_at(course.time, engagement_time)
    return float(brake.law.sliding * np.abs(np.diff(course.q[k:])).sum() + works[k:].sum())


def _rate_works(motion: Trajectory, laws: Mapping[str, BrakeLaw]) -> dict[str, Array]:
    """Return the work of the rate-dependent brake forces (T - 1,), J, by joint, from Gauss quadrature."""
    if not laws:
        return {}
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    h = np.diff(motion.time)
    at = motion.time[:-1, None] + 0.5 * h[:, None] * (1.0 + nodes)
    dense = motion.resample(at[h > 0].ravel())
    out = {}
    for joint, law in laws.items():
        rates = course_of(dense, joint).qd.reshape(-1, _NODES)
        out[joint] = np.zeros(len(h))
        out[joint][h > 0] = 0.5 * h[h > 0] * ((rate_force(law, rates) * rates) @ weights)
    return out
