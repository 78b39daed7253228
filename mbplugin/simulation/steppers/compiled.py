"""One call for all loops: take steps from a state until something happens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.integrators.contract import Chunk, make_chunk
from mbplugin.simulation.integrators.dop853 import DEGREE as DOP853_DEGREE
from mbplugin.simulation.integrators.dop853 import dop853_loop
from mbplugin.simulation.integrators.rk4 import DEGREE as RK4_DEGREE
from mbplugin.simulation.integrators.rk4 import rk4_loop
from mbplugin.simulation.integrators.variational import DEGREE as VARIATIONAL_DEGREE
from mbplugin.simulation.integrators.variational import variational_loop
from mbplugin.simulation.integrators.variational_step import (
    compiled_discrete_forces,
    compiled_step,
    make_workspace,
)
from mbplugin.simulation.options import Options
from mbplugin.simulation.projection import project_state
from mbplugin.simulation.steppers.evaluate import FORWARD_DYNAMICS, compiled_evaluate, evaluate_at
from mbplugin.simulation.steppers.kernel_state import KernelState

#: A rejected step may be due to a singular pose when a row has lost this much towards being chosen anew.
NEAR_SINGULAR = 5.0
#: Evaluations of a model without rows and rates after which a loop comes back, and of a stage of a step.
_WORK, _STAGES = 80_000, {"dop853": 12, "rk4": 4, "variational": 8}
_DEGREE = {"dop853": DOP853_DEGREE, "rk4": RK4_DEGREE, "variational": VARIATIONAL_DEGREE}


@dataclass(eq=False)
class State:
    """Where a motion is: time, coordinates, rates, accelerations, works, and the next step."""

    t: float
    q: Array
    qd: Array
    qdd: Array
    work: Array = field(default_factory=lambda: np.zeros(3))
    h: float = 0.0

    def copy(self) -> State:
        """Return a state that later steps do not change."""
        return State(self.t, self.q.copy(), self.qd.copy(), self.qdd.copy(), self.work.copy(), self.h)


class Stepper(Protocol):
    """What a run needs of a set of loops."""

    counts: Array

    def settle(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Project a state and fill its accelerations, those of a step that has begun at a time, s."""

    def evaluate(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Fill the accelerations of a state, of a step that has begun at a time (s), or begins here."""

    def fill(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Fill accelerations and multipliers of the machine, whatever formulation moves the mechanism."""

    def advance(
        self,
        kernel_state: KernelState,
        event_functions: AnyArray,
        state: State,
        end: float,
        reselect_below: float,
        steps: int = 0,
    ) -> tuple[int, Chunk, int]:
        """Take steps in place until ``end``, or a chunk; return status, samples and their number."""
        ...


class CompiledStepper:
    """The compiled loops, for one set of options."""

    def __init__(self, options: Options, dense: bool) -> None:
        self._options = options
        self._dense = dense
        self.counts: Array = np.zeros(2)

    def settle(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Project a state and fill its accelerations, those of a step that has begun at a time, s."""
        if self._options.stabilization == "projection":
            project_state(kernel_state, state.t, state.q, state.qd)
        self.evaluate(kernel_state, state, begun)

    def evaluate(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Fill the accelerations of a state, of a step that has begun at a time (s), or begins here."""
        self.fill(kernel_state, state, begun)
        state.qdd[:] = kernel_state.rates["qdd"]

    def fill(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Fill accelerations and multipliers of the machine."""
        evaluate_at(kernel_state, FORWARD_DYNAMICS, state.t, state.q, state.qd, begun)

    def advance(
        self,
        kernel_state: KernelState,
        event_functions: AnyArray,
        state: State,
        end: float,
        reselect_below: float,
        steps: int = 0,
    ) -> tuple[int, Chunk, int]:
        """Take steps in place until ``end``, or a chunk; return status, samples and their number."""
        o = self._options
        workspace = steps or _steps_per_call(kernel_state, o.integrator)
        chunk = make_chunk(workspace, len(state.q), len(state.qd), _DEGREE[o.integrator], self._dense)
        projected = o.stabilization == "projection"
        common = (state.q, state.qd, state.qdd, state.work)
        out = (chunk.time, chunk.q, chunk.qd, chunk.qdd, chunk.work, chunk.dense)
        if o.integrator == "rk4":
            control = (state.t, end, state.h, reselect_below)
            result = rk4_loop()(
                compiled_evaluate(), kernel_state, event_functions, *control, projected, *common, *out
            )
        elif o.integrator == "variational":
            code = (compiled_evaluate(), compiled_discrete_forces(), compiled_step())
            working = (
                kernel_state,
                make_workspace(len(kernel_state.independent_rows), len(state.q), len(state.qd)),
                event_functions,
            )
            control = (state.t, end, state.h, reselect_below)
            result = variational_loop()(*code, *working, *control, *common, *out, self.counts)
        else:
            tolerance = (o.largest_step, o.rtol, o.atol, reselect_below, NEAR_SINGULAR * reselect_below)
            result = dop853_loop()(
                compiled_evaluate(),
                kernel_state,
                event_functions,
                state.t,
                end,
                state.h,
                *tolerance,
                projected,
                *common,
                *out,
                self.counts,
            )
        status, kept, state.t, state.h = result
        if o.integrator == "rk4":
            self.counts[0] += 4 * kept
        return int(status), chunk, int(kept)


def _steps_per_call(kernel_state: KernelState, integrator: str) -> int:
    """Return after how many steps, some 50 ms, a loop comes back to show progress or be interrupted."""
    cost = 1 + len(kernel_state.rates) + len(kernel_state.independent_rows) ** 2
    return min(max(_WORK // (cost * _STAGES[integrator]), 16), 4096)
