"""Explicit Runge–Kutta methods as integrators: a tableau, the compiled loop and the steps in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.integrators.contract import Chunk, Control, Integrator, PythonStep
from mbplugin.simulation.integrators.explicit_loop import explicit_loop
from mbplugin.simulation.integrators.explicit_python import ExplicitStep
from mbplugin.simulation.integrators.tableau import Tableau
from mbplugin.simulation.steppers.evaluate import evaluate_address, place_of

if TYPE_CHECKING:
    from mbplugin.simulation.steppers.compiled import State
    from mbplugin.simulation.steppers.kernel_state import KernelState
    from mbplugin.simulation.steppers.python import PythonStepper


class ExplicitIntegrator(Integrator):
    """An explicit Runge–Kutta method.

    Parameters
    ----------
    tableau : Tableau
        With error weights the step is adaptive, without it is fixed.
    """

    by_momenta = False

    def __init__(self, tableau: Tableau) -> None:
        self.tableau = tableau
        self.adaptive, self.degree, self.evaluations = tableau.adaptive, tableau.degree, tableau.stages

    def advance(
        self,
        kernel_state: KernelState,
        event_functions: AnyArray,
        state: State,
        control: Control,
        chunk: Chunk,
        counts: Array,
    ) -> tuple[int, int]:
        """Take compiled steps in place; return status and number of samples; arrays as for
        :meth:`mbplugin.simulation.integrators.contract.Integrator.advance`.
        """
        status, kept, state.t, state.h = explicit_loop()(
            *(control.evaluate or (evaluate_address(), place_of(kernel_state))),
            self.tableau.table,
            event_functions,
            state.t,
            control.end,
            state.h,
            control.largest_step,
            control.rtol,
            control.atol,
            control.reselect_below,
            control.dependent,
            control.projected,
            *(state.q, state.qd, state.qdd, state.work),
            *(chunk.time, chunk.q, chunk.qd, chunk.qdd, chunk.work, chunk.dense),
            counts,
        )
        return int(status), int(kept)

    def in_python(self, stepper: PythonStepper) -> PythonStep:
        """Return the step of this method in Python."""
        return ExplicitStep(self.tableau, stepper)
