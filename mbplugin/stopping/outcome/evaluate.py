"""From the motion of a stop to its report."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mbplugin.model.scene import Request, Shape
from mbplugin.model.spatial import Array
from mbplugin.simulation.trajectory.body_motions import BodyMotions, body_motions
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.outcome.impact import impact_at_end, undetermined_impact
from mbplugin.stopping.outcome.joints import course_of, joint_stops, reaction_time, sample_at
from mbplugin.stopping.outcome.outcome import StopOutcome, slipped_back
from mbplugin.stopping.outcome.peak_instants import passed_over
from mbplugin.stopping.outcome.swept_box import swept_box
from mbplugin.stopping.outcome.values import Energies, InstantStop, JointStop, StopReport, ToolStop
from mbplugin.stopping.scenario.scenario import Scenario

#: Instants of the tool's path besides the steps of the motion.
_PATH = 200
#: Share of the dissipated energy that quadratures of the same motion may differ by.
_ROUNDING = 1e-7


def evaluate(
    scenario: Scenario,
    motion: Trajectory,
    shapes: Mapping[str, tuple[Shape, ...]] | None = None,
    request: Request | None = None,
) -> StopReport:
    """Return the report of a stop."""
    joints = joint_stops(scenario, motion)
    dense = motion.resample(np.sort(np.concatenate((motion.time, np.linspace(0, motion.time[-1], _PATH)))))
    bodies = body_motions(scenario.mech, dense.q, dense.qd)
    reaction = min((j.reaction_time for j in joints if j.time > 0), default=0.0)
    tool = _tool(scenario, dense.time, bodies, reaction)
    impact = impact_at_end(motion, scenario.actions)
    outcome = outcome_of(motion, joints)
    return StopReport(
        outcome,
        scenario,
        motion,
        max((j.time for j in joints), default=float(motion.time[-1])),
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
            *_why_not_stopped(outcome, scenario, joints),
        ),
    )


def _why_not_stopped(
    outcome: StopOutcome, scenario: Scenario, joints: tuple[JointStop, ...]
) -> tuple[str, ...]:
    """Return why a stop does not end at rest, where nothing else says it."""
    if outcome != "not_stopped":
        return ()
    free = any(joint.pair is None for joint in scenario.mech.tree.joints)
    body = "the robot falls, because its base is free (base='fixed' or --base fixed bolts it down)"
    if scenario.mech.pfaffians:
        body = "the robot tips or falls, because its wheels alone do not hold it: add the castor or wheel that does"
    moving = ", ".join(joint.name for joint in joints if not joint.stopped)
    moving = moving or (body if free else "a body that no joint holds")
    return (f"still moving when the longest time, {scenario.duration:g} s, was over: {moving}",)


def outcome_of(motion: Trajectory, joints: tuple[JointStop, ...]) -> StopOutcome:
    """Return how a stop ends."""
    if motion.outcome == "limit_hit":
        return "limit_hit"
    if motion.outcome == "budget_spent":
        return "budget_spent"
    if motion.outcome == "loop_opened":
        return "loop_opened"
    back, travels = (np.array([getattr(joint, key) for joint in joints]) for key in ("back", "travel"))
    if slipped_back(back, travels):
        return "slipped_back"
    return "stopped" if motion.outcome == "stopped" else "not_stopped"


def _tool(scenario: Scenario, time: Array, bodies: BodyMotions, reaction: float) -> ToolStop:
    """Return the way of the tool; the samples of the motion are at ``time`` (T,), s."""
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
    # what only brakes take up is theirs: a difference of rounding is no loss
    losses = lost - brakes if lost - brakes > _ROUNDING * lost else 0.0
    residual = kinetic + potential + driven + applied - brakes - losses
    return Energies(kinetic, potential, driven, applied, brakes, losses, residual)


def _naive(scenario: Scenario, motion: Trajectory, tool: ToolStop) -> InstantStop:
    """Return where the robot would stand if every joint froze when its brake grips or its drive reacts."""
    times = {brake.joint: reaction_time(scenario, brake) for brake in scenario.brakes}
    end = min(max(times.values(), default=0.0), float(motion.time[-1]))
    k = sample_at(motion.time, end)
    dense = motion.resample(np.unique(np.concatenate((motion.time[: k + 1], np.linspace(0, end, _PATH)))))
    q = dense.q.copy()
    for joint, time in times.items():
        if scenario.rate_of(joint) >= 0:
            place = scenario.mech.tree.joint_of_pair[joint].q.start
            frozen = sample_at(dense.time, time)
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
