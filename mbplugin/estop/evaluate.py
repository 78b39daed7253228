"""From the motion of a stop to its report."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mbplugin.estop.corridor import swept
from mbplugin.estop.impact import impact_at_end
from mbplugin.estop.joints import course_of, joint_stops, reaction_time, sample_at
from mbplugin.estop.scenario import Scenario
from mbplugin.estop.values import Energies, JointStop, Naive, StopReport, ToolStop
from mbplugin.mechanism.kinematics import displace, forward
from mbplugin.mechanism.mechanism import Mechanism
from mbplugin.simulation.trajectory import Trajectory
from mbplugin.sources.scene import Request, Shape
from mbplugin.spatial import Array

#: Instants of the tool's path besides the steps of the motion.
_PATH = 200
#: A joint has slipped back when it has come back this far (rad, m), and by this share of its travel.
_BACK, _SHARE = 1e-3, 0.05


def evaluate(
    scenario: Scenario,
    motion: Trajectory,
    shapes: Mapping[str, tuple[Shape, ...]] | None = None,
    request: Request | None = None,
) -> StopReport:
    """Return the report of a stop."""
    joints = joint_stops(scenario, motion)
    dense = motion.resample(np.sort(np.concatenate((motion.time, np.linspace(0, motion.time[-1], _PATH)))))
    R, p = _frames(scenario.mech, dense.q)
    reaction = min((j.reaction_time for j in joints if j.time > 0), default=0.0)
    tool = _tool(scenario, dense.time, R, p, reaction)
    impact = impact_at_end(motion, scenario.actions)
    return StopReport(
        outcome_of(motion, joints),
        scenario,
        motion,
        max((j.time for j in joints), default=float(motion.time[-1])),
        reaction,
        joints,
        tool,
        swept(scenario.mech, R, p, shapes or {}, scenario.actions.payloads, request),
        _energies(motion, joints),
        _naive(scenario, motion, tool),
        impact,
        (*scenario.notes, *motion.notes),
    )


def outcome_of(motion: Trajectory, joints: tuple[JointStop, ...]) -> str:
    """Return how a stop ends."""
    if motion.outcome == "limit_hit":
        return "limit_hit"
    if any(joint.back > max(_BACK, _SHARE * abs(joint.travel)) for joint in joints):
        return "slipped_back"
    return "stopped" if motion.outcome == "stopped" else "not_stopped"


def _frames(mech: Mechanism, q: Array) -> tuple[Array, Array]:
    poses = [forward(mech, row) for row in q]
    return np.array([one.R_WL for one in poses]), np.array([one.p_WL for one in poses])


def _tool(scenario: Scenario, time: Array, R: Array, p: Array, reaction: float) -> ToolStop:
    i = scenario.mech.body_index[scenario.tool]
    path = p[:, i] + R[:, i] @ scenario.tool_point
    lengths = np.linalg.norm(np.diff(path, axis=0), axis=1)
    k = sample_at(time, reaction)
    path.setflags(write=False)
    return ToolStop(
        scenario.tool,
        path,
        _speed(scenario),
        float(lengths[:k].sum()),
        float(lengths[k:].sum()),
    )


def _speed(scenario: Scenario) -> float:
    """Return the speed of the tool at the signal, m/s, by a central difference."""
    step, mech = 1e-6, scenario.mech
    ahead, behind = (
        forward(mech, displace(mech, scenario.q, sign * step * scenario.qd))
        .of(mech.body_index[scenario.tool])
        .apply(scenario.tool_point)
        for sign in (1.0, -1.0)
    )
    return float(np.linalg.norm(ahead - behind)) / (2 * step)


def _energies(motion: Trajectory, joints: tuple[JointStop, ...]) -> Energies:
    kinetic = float(motion.kinetic[0] - motion.kinetic[-1])
    potential = float(motion.potential[0] - motion.potential[-1])
    driven, applied = float(motion.driven[-1]), float(motion.applied[-1])
    brakes, lost = sum(joint.brake_energy for joint in joints), float(motion.dissipated[-1])
    residual = kinetic + potential + driven + applied - lost
    return Energies(kinetic, potential, driven, applied, brakes, lost - brakes, residual)


def _naive(scenario: Scenario, motion: Trajectory, tool: ToolStop) -> Naive:
    """Return where the robot would stand if every joint froze when its brake grips or its drive reacts."""
    times = {brake.joint: reaction_time(scenario, brake) for brake in scenario.brakes}
    end = min(max(times.values(), default=0.0), float(motion.time[-1]))
    k = sample_at(motion.time, end)
    q = motion.q[k].copy()
    for joint, time in times.items():
        if scenario.rate_of(joint) >= 0:
            course = course_of(motion, joint)
            place = scenario.mech.tree.joint_of_pair[joint].q.start
            q[place] = course.q[sample_at(motion.time, time)]
    poses = forward(scenario.mech, q).of(scenario.mech.body_index[scenario.tool])
    there = poses.apply(scenario.tool_point)
    q.setflags(write=False)
    return Naive(
        q,
        end,
        float(np.linalg.norm(there - tool.path[0])),
        float(np.linalg.norm(there - tool.path[-1])),
        float(motion.kinetic[k]),
    )
