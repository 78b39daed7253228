"""Crossing a singular pose in one step, between poses with a well-conditioned branch.

Near a pose at which closing rows become dependent, what tells one branch from another drowns: a position
that is closed to ε leaves rates open to ε/δ² at the distance δ. Small steps make that worse. So one long
step of Gauß's collocation is taken instead, whose nodes lie on both sides, each put onto the constraints.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.dynamics.kernels.group import displace, increment_rate
from mbplugin.model.spatial import Array
from mbplugin.simulation.integrators.contract import Step
from mbplugin.simulation.steppers.compiled import State, Stepper
from mbplugin.simulation.steppers.kernel_state import KernelState

#: Stages; even, so that none lies in the middle.
_STAGES = 6
_ITERATIONS = 60
#: The iteration is done when rates change by less than this fraction.
_STILL = 1e-13
#: Corrections at the end of the step, as a fraction of its motion, beyond which it has left its branch.
_ASTRAY = 1e-5


def _collocation() -> tuple[Array, Array]:
    """Return nodes (s,) in (0, 1) and the integrals (s, s+1) of their Lagrange polynomials, as powers."""
    nodes = 0.5 * (np.polynomial.legendre.leggauss(_STAGES)[0] + 1.0)
    integrals = np.zeros((_STAGES, _STAGES + 1))
    for i, c in enumerate(nodes):
        others = np.delete(nodes, i)
        lagrange = np.polynomial.polynomial.polyfromroots(others) / np.prod(c - others)
        integrals[i] = np.polynomial.polynomial.polyint(lagrange)
    return nodes, integrals


NODES, _INTEGRALS = _collocation()
_TO_NODES = np.array([[np.polynomial.polynomial.polyval(c, p) for p in _INTEGRALS] for c in NODES])
_TO_END = _INTEGRALS.sum(axis=1)


@dataclass(frozen=True, eq=False)
class CollocationStep:
    """A step across.

    Parameters
    ----------
    end : State
        Settled.
    step : Step
        With dense output.
    weakest : float
        Smallest own share of a row at the nodes and at the end.
    """

    end: State
    step: Step
    weakest: float


def collocation_step(
    stepper: Stepper, kernel_state: KernelState, start: State, length: float
) -> CollocationStep | None:
    """Return the step of a length (s) from a state, or None where it does not stay on one branch."""
    nv = len(start.qd)
    slopes, accelerations = np.tile(start.qd, (_STAGES, 1)), np.zeros((_STAGES, nv))
    powers, row_independence, change = np.zeros((_STAGES, 3)), np.zeros(_STAGES), np.inf
    for _ in range(_ITERATIONS):
        before = accelerations.copy()
        for i in range(_STAGES):
            x = length * _TO_NODES[i] @ slopes
            at = _moved(kernel_state, start, NODES[i] * length, x, length * _TO_NODES[i] @ accelerations)
            stepper.settle(kernel_state, at)
            increment_rate(kernel_state.composites, x, at.qd, slopes[i])
            accelerations[i], powers[i], row_independence[i] = (
                at.qdd,
                kernel_state.power,
                kernel_state.row_independence[0],
            )
        last, change = change, length * float(np.abs(accelerations - before).max(initial=0.0))
        if not change < last or change <= _STILL * (1.0 + np.abs(slopes).max(initial=0.0)):
            break
    x, dqd = length * _TO_END @ slopes, length * _TO_END @ accelerations
    end = _moved(kernel_state, start, length, x, dqd)
    aimed = end.copy()
    stepper.settle(kernel_state, end)
    end.work += length * _TO_END @ powers
    end.h = start.h
    size = max(float(np.abs(x).max(initial=0.0)), float(np.abs(dqd).max(initial=0.0)))
    errors = (np.abs(end.q - aimed.q).max(initial=0.0), np.abs(end.qd - aimed.qd).max(initial=0.0), change)
    if not all(np.isfinite(e) and e <= _ASTRAY * size for e in errors):
        return None
    polynomial = length * np.stack((_INTEGRALS.T @ slopes, _INTEGRALS.T @ accelerations), axis=1)
    polynomial[0, 1] += start.qd
    step = Step(start.t, length, start.q, start.qd, polynomial, np.array([start.work, end.work]))
    return CollocationStep(
        end, step, min(float(row_independence.min()), float(kernel_state.row_independence[0]))
    )


def _moved(kernel_state: KernelState, start: State, time: float, x: Array, rise: Array) -> State:
    """Return the state after a time, s, an increment x (nv,) and a change of rates, rise (nv,)."""
    q = np.empty_like(start.q)
    displace(kernel_state.composites, start.q, x, q)
    return State(start.t + time, q, start.qd + rise, np.zeros_like(start.qd), start.work.copy())
