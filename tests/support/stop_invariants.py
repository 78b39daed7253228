"""What holds for every stop: its energies, times and outcome."""

from __future__ import annotations

import numpy as np

from looked import ENERGY, Looked
from mbplugin.simulation.options import Options
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.outcome import StopReport
from resisting import resistances


def energies_of_stop_are_balanced(report: StopReport) -> None:
    """Brakes take up something, together no more than is dissipated, each ∫ (c |q̇| + μ) |q̇| dt."""
    e, motion = report.energies, report.trajectory
    look = Looked(motion, Options(1.0, rtol=report.scenario.rtol, atol=report.scenario.atol))
    size = max(ENERGY, 100 * report.scenario.rtol) * look.at_stake + 1e-12
    for joint in report.joints:
        assert joint.brake_energy >= 0.0, f"the brake of {joint.name} takes up {joint.brake_energy:.6g} J"
    taken, lost = sum(j.brake_energy for j in report.joints), float(motion.dissipated[-1])
    assert taken <= lost + size, f"brakes take up {taken:.9g} J of {lost:.9g} J that are dissipated"
    assert e.losses >= -size, f"losses in damping and friction are {e.losses:.6g} J"
    assert abs(e.residual) <= size + _impact_of(motion), (
        f"the balance of the stop leaves {e.residual:.6g} J open, more than {size:.3g} J"
    )
    resisted = any(r.damping or r.friction or r.motion is not None for r in resistances(motion))
    if not resisted and not motion.actions.springs:
        cut = {pair.name for pair in motion.mechanism.tree.cut}
        if not any(b.joint in cut for b in motion.actions.brakes):
            assert abs(taken - lost) <= size, (
                f"only brakes resist: they take up {taken:.9g} J, and {lost:.9g} J are dissipated"
            )


def stopped_means_at_rest(report: StopReport) -> None:
    """A stop that is called stopped ends with every rate zero, or below what counts as rest, and its times add up."""
    motion = report.trajectory
    if report.outcome == "stopped":
        moving = float(np.abs(motion.qd[-1]).max(initial=0.0))
        assert moving <= max(1e-8, report.scenario.rest_speed), (
            f"the outcome is stopped, and a rate is {moving:.3g} at the end"
        )
        assert all(j.stopped for j in report.joints), "the outcome is stopped, and a joint is not"
    for joint in report.joints:
        assert joint.time <= report.time + 1e-12, (
            f"{joint.name} rests after {joint.time} s, later than the arm"
        )
        gap = joint.start + joint.travel - joint.end
        assert abs(gap) <= 1e-12 * (1 + abs(joint.end)), f"the travel of {joint.name} is off by {gap:.3g}"


def _impact_of(motion: Trajectory) -> float:
    """Kinetic energy that jumps of the rates take, J: no part of a stop's balance."""
    jumps = np.diff(motion.time) == 0
    return float(-np.where(jumps, np.diff(motion.kinetic), 0.0).sum())
