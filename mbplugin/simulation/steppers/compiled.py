"""One call for all loops: take steps from a state until something happens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.events.locate import locate_first_change
from mbplugin.simulation.integrators.contract import Chunk, Control, Step, make_chunk
from mbplugin.simulation.integrators.registry import find_integrator
from mbplugin.simulation.options import Options
from mbplugin.simulation.projection import project_state
from mbplugin.simulation.steppers.absolute_accelerations import AbsoluteAccelerations
from mbplugin.simulation.steppers.evaluate import FORWARD_DYNAMICS, evaluate_at
from mbplugin.simulation.steppers.kernel_state import KernelState

#: A rejected step may be due to a singular pose when a row has lost this much towards being chosen anew.
NEAR_SINGULAR = 5.0
#: Evaluations of a model without rows and rates after which a loop comes back.
_WORK = 80_000


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
        """Fill accelerations and multipliers of the kernel state, whatever formulation moves the mechanism."""

    def first_change(
        self, kernel_state: KernelState, event_functions: AnyArray, step: Step
    ) -> tuple[float, int] | None:
        """Return the fraction of a step at which the first of ``event_functions`` (n,) changes sign, and which.

        The kernel state is somewhere inside the step afterwards.
        """
        ...

    def advance(
        self,
        kernel_state: KernelState,
        event_functions: AnyArray,
        state: State,
        end: float,
        reselect_below: float,
        steps: int = 0,
    ) -> tuple[int, Chunk, int]:
        """Take steps in place until ``end``, or a chunk; return status, samples and their number.

        The records of ``event_functions`` (e,) are updated.
        """
        ...


class CompiledStepper:
    """The compiled loops for one set of options; they evaluate in absolute coordinates where these are given."""

    def __init__(self, options: Options, dense: bool, absolute: AbsoluteAccelerations | None = None) -> None:
        self._options = options
        self.absolute = absolute
        self._integrator = find_integrator(options.integrator)
        self._dense = dense
        self.counts: Array = np.zeros(2)
        #: Room for steps, by their number: what is kept of a chunk is copied.
        self._chunks: dict[int, Chunk] = {}

    def settle(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Project a state and fill its accelerations, those of a step that has begun at a time, s."""
        if self._options.stabilization == "projection":
            project_state(kernel_state, state.t, state.q, state.qd)
        self.evaluate(kernel_state, state, begun)

    def evaluate(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Fill the accelerations of a state, of a step that has begun at a time (s), or begins here."""
        if self.absolute is None:
            self.fill(kernel_state, state, begun)
        else:
            at = state.t if begun is None else begun
            self.absolute.evaluate(kernel_state, state.t, at, state.q, state.qd)
        state.qdd[:] = kernel_state.rates["qdd"]

    def fill(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Fill accelerations and multipliers of the kernel state."""
        evaluate_at(kernel_state, FORWARD_DYNAMICS, state.t, state.q, state.qd, begun)

    def first_change(
        self, kernel_state: KernelState, event_functions: AnyArray, step: Step
    ) -> tuple[float, int] | None:
        """Return the fraction of a step at which the first of ``event_functions`` (n,) changes sign, and which."""
        return locate_first_change(kernel_state, event_functions, step)

    def advance(
        self,
        kernel_state: KernelState,
        event_functions: AnyArray,
        state: State,
        end: float,
        reselect_below: float,
        steps: int = 0,
    ) -> tuple[int, Chunk, int]:
        """Take steps in place until ``end``, or a chunk; return status, samples and their number;
        arrays as for :meth:`mbplugin.simulation.steppers.compiled.Stepper.advance`.
        """
        size = steps or _steps_per_call(kernel_state, self._integrator.evaluations)
        chunk = self._chunks.get(size)
        if chunk is None:
            chunk = make_chunk(size, len(state.q), len(state.qd), self._integrator.degree, self._dense)
            self._chunks[size] = chunk
        control = control_of(self._options, end, reselect_below)
        if self.absolute is not None:
            control = control._replace(evaluate=self.absolute.for_loops(kernel_state))
        status, kept = self._integrator.advance(
            kernel_state, event_functions, state, control, chunk, self.counts
        )
        return status, chunk, kept


def control_of(options: Options, end: float, reselect_below: float) -> Control:
    """Return what bounds the steps up to a time, s."""
    return Control(
        end,
        options.largest_step,
        options.rtol,
        options.atol,
        reselect_below,
        NEAR_SINGULAR * reselect_below,
        options.stabilization == "projection",
    )


def _steps_per_call(kernel_state: KernelState, evaluations: int) -> int:
    """Return after how many steps, some 50 ms, a loop comes back to show progress or be interrupted."""
    cost = 1 + len(kernel_state.rates) + len(kernel_state.independent_rows) ** 2
    return min(max(_WORK // (cost * evaluations), 16), 4096)
