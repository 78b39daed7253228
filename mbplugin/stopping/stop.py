"""One stop: the motion from the signal to rest."""

from __future__ import annotations

from dataclasses import replace

from mbplugin.model.applied_forces import BrakeForce
from mbplugin.model.brakes import JointBrake
from mbplugin.model.scene import State
from mbplugin.simulation.motion import move
from mbplugin.simulation.options import Options
from mbplugin.simulation.runner import Progress
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.scenario.drives import grip_times, timed_drives
from mbplugin.stopping.scenario.scenario import Scenario


def run_stop(scenario: Scenario, progress: Progress | None = None) -> Trajectory:
    """Return the motion of a stop; it ends at rest, at an end stop, or when the time is over."""
    times = grip_times(scenario)
    brakes = tuple(_force(brake, times[brake.joint]) for brake in scenario.brakes if brake.joint in times)
    options = Options(
        scenario.duration,
        rtol=scenario.rtol,
        atol=scenario.atol,
        limits=scenario.limits,
        tolerance=scenario.tolerance,
        max_seconds=scenario.max_seconds,
    )
    return move(
        scenario.mech,
        replace(scenario.actions, brakes=brakes),
        # what was stated has been followed already: nothing leads
        State(scenario.q, scenario.qd),
        (),
        options,
        progress,
        drives=timed_drives(scenario),
        to_rest=True,
    )


def _force(brake: JointBrake, closes: float) -> BrakeForce:
    return replace(brake.force(), closes=closes)
