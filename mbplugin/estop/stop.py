"""One stop: the motion from the signal to rest."""

from __future__ import annotations

from dataclasses import replace

from mbplugin.dynamics.actions import BrakeForce
from mbplugin.estop.drives import grip_times, timed_drives
from mbplugin.estop.scenario import Scenario
from mbplugin.simulation.brakes import JointBrake
from mbplugin.simulation.options import Options
from mbplugin.simulation.run import move
from mbplugin.simulation.runner import Progress
from mbplugin.simulation.trajectory import Trajectory


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
        scenario.q,
        scenario.qd,
        scenario.mech.q_names,
        (),
        options,
        progress,
        drives=timed_drives(scenario),
        to_rest=True,
    )


def _force(brake: JointBrake, closes: float) -> BrakeForce:
    return replace(brake.force(), closes=closes)
