"""Across a singular pose: a step that would end near it is replaced by the polynomial of the one before.

At the pose itself the accelerations are a quotient of two numbers that vanish together. An adaptive
integrator rejects every step across it and accepts smaller and smaller ones up to it; the motion is smooth
all the same, so the last good step tells how it goes on over a distance that is short against it.
"""

from __future__ import annotations

from mbplugin.simulation.integrators.contract import Step
from mbplugin.simulation.machine import CONFIGURE, SPLIT, Machine, do
from mbplugin.simulation.march import State

#: The pose has to be nearer than this fraction of the last good step.
_NEAR = 0.05
#: A pose farther away is approached by an ordinary step, so far that the next one can be a leap.
_APPROACH = 0.97


def time_to_singular(machine: Machine, step: Step, state: State) -> float | None:
    """Return when the weakest row will have nothing of its own, s from now; None where it grows."""
    do(machine, CONFIGURE | SPLIT, step.start, step.q, step.qd)
    before = float(machine.health[0])
    do(machine, CONFIGURE | SPLIT, state.t, state.q, state.qd)
    now = float(machine.health[0])
    return step.length * now / (before - now) if now < before else None


def leap_length(step: Step, ahead: float) -> float | None:
    """Return how far the step before may be continued, s; None where the pose is not near enough yet."""
    return 2.0 * ahead if ahead < _NEAR * step.length else None


def approach(ahead: float) -> float:
    """Return a step that ends before the pose, s."""
    return _APPROACH * ahead
