"""The drives after the signal: unchanged until they react, then deceleration, then power-off."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from mbplugin.dynamics.joint import joint_equations
from mbplugin.lapack import pivots
from mbplugin.model.brakes import JointBrake
from mbplugin.model.mechanism.coupling import Driver
from mbplugin.model.mechanism.identity import Holder
from mbplugin.simulation.events.schedule import TimedDrive
from mbplugin.stopping.scenario.scenario import Scenario


def timed_drives(scenario: Scenario) -> tuple[TimedDrive, ...]:
    """Return the drives of a stop; the polynomials are those of the joint coordinates."""
    led = led_joints(scenario)
    if scenario.category == 0:
        return tuple(_goes_on(scenario, brake) for brake in led if brake.delay > 0)
    until = None if scenario.category == 2 else power_off(scenario)
    return tuple(TimedDrive(_driver(brake), ramp(scenario, brake), until) for brake in led)


def led_joints(scenario: Scenario) -> tuple[JointBrake, ...]:
    """Return joints with drives that do not contradict each other: all of a tree, some of a loop."""
    inside = [b for b in scenario.brakes if scenario.rate_of(b.joint) >= 0]
    mech = scenario.mech
    if not mech.tree.cut and not mech.couplings and not mech.pfaffians:
        return tuple(inside)
    free = scipy.linalg.null_space(joint_equations(mech, scenario.q, scenario.qd, scenario.actions).C)
    if not free.size or not inside:
        return ()
    own = free[[scenario.rate_of(b.joint) for b in inside]]
    sizes, order = pivots(own.T)
    rank = int((sizes > 1e-9 * max(sizes[0], 1e-300)).sum())
    return tuple(inside[k] for k in sorted(order[:rank]))


def ramp_time(scenario: Scenario, brake: JointBrake) -> float:
    """Return when a joint has been led to rest, s."""
    _, v, _ = _at(scenario, brake, brake.delay)
    return brake.delay + (abs(v) / scenario.decelerations[brake.joint] if v else 0.0)


def rest_time(scenario: Scenario) -> float:
    """Return when all led joints rest, s."""
    return max((ramp_time(scenario, brake) for brake in led_joints(scenario)), default=0.0)


def power_off(scenario: Scenario) -> float:
    """Return when the drives give up after a led stop: when all brakes have gripped, s."""
    return rest_time(scenario) + max((brake.engagement for brake in scenario.brakes), default=0.0)


def grip_times(scenario: Scenario) -> dict[str, float]:
    """Return when each brake grips, s; none in category 2."""
    if scenario.category == 2:
        return {}
    if scenario.category == 0:
        return {brake.joint: brake.engagement_time for brake in scenario.brakes}
    rest = rest_time(scenario)
    return {brake.joint: rest + brake.engagement for brake in scenario.brakes}


def ramp(scenario: Scenario, brake: JointBrake) -> tuple[tuple[float, tuple[float, ...]], ...]:
    """Return the stretches of a joint: on as before, at constant deceleration to rest, at rest."""
    start, v0, a0 = _at(scenario, brake, 0.0)
    q, v, _ = _at(scenario, brake, brake.delay)
    deceleration = scenario.decelerations[brake.joint] if v else 0.0
    end = ramp_time(scenario, brake)
    motion_segments: list[tuple[float, tuple[float, ...]]] = [
        (brake.delay, (q, v, -0.5 * np.sign(v) * deceleration))
    ]
    if v:
        motion_segments.append((end, (q + 0.5 * v * (end - brake.delay),)))
    if brake.delay > 0:
        motion_segments.insert(0, (0.0, (start, v0, 0.5 * a0)))
    return tuple((time, tuple(float(c) for c in polynomial)) for time, polynomial in motion_segments)


def _goes_on(scenario: Scenario, brake: JointBrake) -> TimedDrive:
    q, v, a = _at(scenario, brake, 0.0)
    return TimedDrive(_driver(brake), ((0.0, (q, v, 0.5 * a)),), brake.delay)


def _driver(brake: JointBrake) -> Driver:
    return Driver(str(Holder("drive", brake.joint)), brake.joint, (brake.freedom,), 0.0)


def _at(scenario: Scenario, brake: JointBrake, time: float) -> tuple[float, float, float]:
    """Return coordinate, rate and acceleration of a joint that goes on as at the signal."""
    joint = scenario.mech.tree.joint_of_pair[brake.joint]
    q = float(scenario.q[joint.q.start])
    v, a = float(scenario.qd[joint.qd.start]), float(scenario.qdd[joint.qd.start])
    return q + v * time + 0.5 * a * time**2, v + a * time, a
