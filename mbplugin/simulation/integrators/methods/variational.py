"""A variational integrator for long runs: symplectic, of order 2, with a fixed step.

The action of a step is that of a uniform motion, L_d = h L(q ∘ Δ/2, Δ/h): the midpoint rule of Marsden and
West, Discrete mechanics and variational integrators (2001), in position–momentum form, with rotations on the
group as in Lee, Leok and McClamroch, Lie group variational integrators for the full body problem (2007).
Forces that are not part of L act at the midpoint (discrete d'Alembert principle); constraints are treated as in RATTLE
(Andersen 1983), with impulses at both ends. The method is symmetric in time, so a motion can be reversed; momenta that
belong to a symmetry are conserved, and the energy error stays bounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbplugin.dynamics.kernels.articulated import increment_rate
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.integrators.contract import Chunk, Control, Integrator, PythonStep
from mbplugin.simulation.integrators.explicit_loop import DEGREE, cubic
from mbplugin.simulation.integrators.variational_loop import (
    SMALLEST_PART,
    Moved,
    VariationalStep,
    compiled_discrete_forces,
    compiled_step,
    make_workspace,
    variational_loop,
)
from mbplugin.simulation.problem import project_state
from mbplugin.simulation.steppers.kernel_state import compiled_evaluate

if TYPE_CHECKING:
    from mbplugin.simulation.integrators.contract import State, StepperInPython
    from mbplugin.simulation.steppers.kernel_state import KernelState


class VariationalIntegrator(Integrator):
    """The variational integrator: its loop and its step in Python."""

    adaptive, by_momenta, degree, evaluations = False, True, DEGREE, 8

    def advance(
        self,
        kernel_state: KernelState,
        event_functions: AnyArray,
        state: State,
        control: Control,
        chunk: Chunk,
        counts: Array,
    ) -> tuple[int, int]:
        """Take compiled steps in place; return status and number of samples.

        Arrays as for :meth:`mbplugin.simulation.integrators.contract.Integrator.advance`.
        """
        status, kept, state.t, state.h = variational_loop()(
            *(compiled_evaluate(), compiled_discrete_forces(), compiled_step()),
            kernel_state,
            make_workspace(len(kernel_state.independent_rows), len(state.q), len(state.qd)),
            event_functions,
            *(state.t, control.end, state.h, control.reselect_below),
            *(state.q, state.qd, state.qdd, state.work),
            *(chunk.time, chunk.q, chunk.qd, chunk.qdd, chunk.work, chunk.dense),
            counts,
        )
        return int(status), int(kept)

    def in_python(self, stepper: StepperInPython) -> PythonStep:
        """Return the step in Python."""
        return _StepInParts(stepper)


class _StepInParts:
    """Steps in Python, which are divided if the equations of a whole step cannot be solved."""

    def __init__(self, stepper: StepperInPython) -> None:
        self._stepper = stepper
        #: Fraction of a step to try next, and the end time of the last step, s.
        self._part, self._reached = 1.0, 0.0

    def __call__(self, kernel_state: KernelState, state: State, control: Control, dense: Array) -> float:
        """Take a step in place, or part of one, and fill its ``dense`` (d, 2, nv) output.

        Return its length, s, or 0 if no part of it can be solved.
        """
        if state.t != self._reached:
            self._part = 1.0
        left, driven = control.end - state.t, kernel_state.power[2]
        while True:
            h = self._part * (min(state.h, left) if left < 1.5 * state.h else state.h)
            last = left - h < 1e-9 * state.h
            h = left if last else h
            moved = self._solved(kernel_state, state, h)
            if moved is not None:
                break
            self._stepper.counts[1] += 1
            self._part *= 0.5
            if self._part < SMALLEST_PART:
                return 0.0
        qd, qdd, slope = state.qd.copy(), state.qdd.copy(), np.empty_like(state.qd)
        begun, state.t = state.t, control.end if last else state.t + h
        state.q[:], state.qd[:] = moved.q, moved.qd
        self._part, self._reached = min(1.0, 2.0 * self._part), state.t
        self._stepper.prescribe(kernel_state, state.t, begun)
        # the impulses at the end are part of the step, so project regardless of the stabilisation
        project_state(kernel_state, state.t, state.q, state.qd)
        self._stepper.evaluate(kernel_state, state, begun)
        state.work[:2] += h * moved.power[:2]
        state.work[2] += 0.5 * h * (driven + kernel_state.power[2])
        increment_rate(kernel_state.composites, moved.x, state.qd, slope)
        cubic(h, moved.x, qd, slope, qd, state.qd, qdd, state.qdd, dense)
        return h

    def _solved(self, kernel_state: KernelState, state: State, h: float) -> Moved | None:
        """Return the end of a step of h, or None if its equations cannot be solved."""
        begun, stepper = state.t, self._stepper

        def prescribe(t: float) -> None:
            stepper.prescribe(kernel_state, t, begun)

        step = VariationalStep(kernel_state, prescribe, stepper.control, state.t, h, state.q, state.qd)
        moved = step.solve(state.qdd)
        stepper.counts[0] += moved.corrections if moved is not None else 0
        return moved


INTEGRATOR = VariationalIntegrator()
