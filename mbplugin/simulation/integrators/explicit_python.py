"""The steps of all explicit Runge–Kutta methods in readable Python, from the same coefficients."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.dynamics.kernels.group import increment_rate
from mbplugin.model.spatial import Array
from mbplugin.simulation.integrators.contract import Control, Derivative
from mbplugin.simulation.integrators.explicit_loop import LEAST, MOST, REMAINDER, SAFETY, SHORTEST
from mbplugin.simulation.integrators.hermite import cubic
from mbplugin.simulation.integrators.tableau import Tableau

if TYPE_CHECKING:
    from mbplugin.simulation.steppers.compiled import State
    from mbplugin.simulation.steppers.kernel_state import KernelState
    from mbplugin.simulation.steppers.python import PythonStepper


class ExplicitStep:
    """Steps of an explicit method; y (n,) stacks increment, rates and works, k (s, n) are derivatives of stages.

    ``first`` (n,) is the derivative at the start.
    """

    def __init__(self, tableau: Tableau, stepper: PythonStepper) -> None:
        self._tableau, self._stepper = tableau, stepper
        self._of = tableau.coefficients

    def __call__(self, kernel_state: KernelState, state: State, control: Control, dense: Array) -> float:
        """Take a step in place and fill its ``dense`` (d, 2, nv) output; return its length, s, 0 or −1 without one."""
        f, nv = self._stepper.derivative(kernel_state, state), len(state.qd)
        y = np.concatenate((np.zeros(nv), state.qd, state.work))
        first = f(state.t, y)
        self._stepper.counts[0] += 1
        if self._tableau.adaptive:
            found = self._adaptive(f, kernel_state, state, control, y, first)
            if isinstance(found, float):
                return found
            h, last, new, k = found
        else:
            remaining = control.end - state.t
            last = remaining < state.h * (1.0 + REMAINDER)
            h = remaining if last else state.h
            new, k = self._stages(f, state.t, h, y, first)
        qd, qdd, slope = state.qd.copy(), state.qdd.copy(), np.empty(nv)
        if len(self._of.dense):
            polynomial = self._polynomial(f, state.t, h, y, k)[:, : 2 * nv]
            dense[:] = polynomial.reshape(len(dense), 2, nv)
        x = np.array(new[:nv])
        increment_rate(kernel_state.composites, x, np.array(new[nv : 2 * nv]), slope)
        self._stepper.finish(kernel_state, state, h, new)
        if not len(self._of.dense):
            cubic(h, x, qd, slope, qd, state.qd, qdd, state.qdd, dense)
        if last:
            state.t = control.end
        return h

    def _adaptive(
        self,
        f: Derivative,
        kernel_state: KernelState,
        state: State,
        control: Control,
        y: Array,
        first: Array,
    ) -> tuple[float, bool, Array, Array] | float:
        """Return length, whether it is the last, end and stages of a step whose error is small enough.

        0 where the step becomes too small, −1 where a rejected one is not to be tried again.
        """
        grown, power, nv = MOST, self._of.exponent, len(state.qd)
        independent = kernel_state.row_independence[0] >= control.dependent
        state.h = min(state.h, control.largest_step)
        while True:
            last = state.h >= (control.end - state.t) * (1.0 - 1e-12)
            h = control.end - state.t if last else state.h
            if h < SHORTEST * (1.0 + abs(state.t)):
                return 0.0
            new, k = self._stages(f, state.t, h, y, first)
            scale = control.atol + control.rtol * _sizes(kernel_state, state.q, y, new)
            error = self._error(h, k[:, : 2 * nv], scale)
            if error < 1.0:
                break
            self._stepper.counts[1] += 1
            state.h = h * max(LEAST, SAFETY * error**power) if np.isfinite(error) else h * LEAST
            grown = 1.0
            if not independent:
                return -1.0
        grown = min(grown, SAFETY * error**power) if error > 0 else grown
        state.h = max(state.h, h * grown) if last else h * grown
        return h, last, new, k

    def _stages(self, f: Derivative, t: float, h: float, y: Array, first: Array) -> tuple[Array, Array]:
        """Return the state after a step of h, and the derivatives of its stages, with that at the end.

        Both are NaN from where a step that is too long overflows.
        """
        of, s = self._of, len(self._of.b)
        k = np.full((s + self._tableau.evaluates_end, len(y)), np.nan)
        k[0] = first
        with np.errstate(over="ignore", invalid="ignore"):
            for i in range(1, s):
                stage = y + h * of.A[i, :i] @ k[:i]
                if not np.isfinite(stage).all():
                    break
                k[i] = f(t + of.c[i] * h, stage)
            new = y + h * of.b @ k[:s]
            if self._tableau.evaluates_end and np.isfinite(new).all():
                k[s] = f(t + h, new)
        self._stepper.counts[0] += len(k) - 1
        return new, k

    def _error(self, h: float, k: Array, scale: Array) -> float:
        """Return the error of a step relative to the tolerance ``scale`` (n,) of each state."""
        with np.errstate(over="ignore", invalid="ignore"):
            first, second = (float((((weights @ k) / scale) ** 2).sum()) for weights in self._of.errors)
        if first == second == 0.0:
            return 0.0
        return abs(h) * first / sqrt((first + 0.01 * second) * len(scale))

    def _polynomial(self, f: Derivative, t: float, h: float, y: Array, k: Array) -> Array:
        """Return the dense output (d+1, n) of a step, lowest power of its fraction first."""
        of, known = self._of, len(k)
        k = np.vstack((k, np.zeros((len(of.A) - known, len(y)))))
        for i in range(known, len(of.A)):
            k[i] = f(t + of.c[i] * h, y + h * of.A[i, :i] @ k[:i])
        self._stepper.counts[0] += len(of.A) - known
        out = h * of.dense.T @ k
        out[0] += y
        return np.asarray(out)


def _sizes(kernel_state: KernelState, q: Array, y: Array, new: Array) -> Array:
    """Return what the relative tolerance is relative to, (n,): coordinates, not increments; turns to 1.

    Coordinates q (nq,), the state y (n,) before and ``new`` (n,) after the step.
    """
    nv = len(kernel_state.rates)
    place = kernel_state.rates["coordinate"]
    x = np.abs(new[:nv])
    own = np.maximum(np.abs(q[place]), np.abs(q[place] + new[:nv]))
    return np.concatenate(
        (np.where(place >= 0, own, np.maximum(1.0, x)), np.maximum(np.abs(y[nv:-3]), np.abs(new[nv:-3])))
    )
