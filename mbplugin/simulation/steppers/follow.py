"""Inside a step: part of it is taken again, so that nothing is left to a polynomial between its ends."""

from __future__ import annotations

import numpy as np

from mbplugin.dynamics.kernels.group import displace
from mbplugin.model.spatial import Array
from mbplugin.simulation.events.watch import EVENT_FUNCTION
from mbplugin.simulation.integrators.contract import Step
from mbplugin.simulation.steppers.compiled import State, Stepper
from mbplugin.simulation.steppers.kernel_state import KernelState

#: Room for the steps that lead to an instant, and how often there may be more.
_STEPS, _TIMES = 64, 16
#: Instants nearer to each other than this, relative to 1 s and the time, are the same.
_SAME = 1e-13


def is_same(one: float, other: float) -> bool:
    """Whether two times, s, are one instant."""
    return abs(one - other) <= _SAME * (1.0 + abs(other))


def follow(stepper: Stepper, kernel_state: KernelState, state: State, time: float) -> bool:
    """Take a state in place from the start of a step to an instant in it, s; return whether it gets there."""
    counts = stepper.counts.copy()
    stepper.evaluate(kernel_state, state)
    none = np.zeros(0, dtype=EVENT_FUNCTION)
    for _ in range(_TIMES):
        state.h = time - state.t
        stepper.advance(kernel_state, none, state, time, 0.0, _STEPS)
        if is_same(state.t, time):
            break
    stepper.counts[:] = counts
    return is_same(state.t, time)


def inside(kernel_state: KernelState, step: Step, time: float) -> State:
    """Return the state inside a step across a singular pose, of its polynomial; works grow evenly.

    Taken in parts, such a step would meet the pose.
    """
    part = min((time - step.start) / step.length, 1.0)
    x, qd = step.at(part)
    powers = np.arange(1, len(step.polynomial))
    slope = np.tensordot(powers * part ** (powers - 1), step.polynomial[1:, 1], axes=1)
    q: Array = np.empty_like(step.q)
    displace(kernel_state.composites, step.q, x, q)
    work = step.work[0] + part * (step.work[1] - step.work[0])
    return State(time, q, qd, slope / step.length, work)
