"""The interface of the step loops, the compiled loops behind it, and states inside a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mbplugin.dynamics.kernels.articulated import displace
from mbplugin.model import AnyArray, Array
from mbplugin.simulation.events import EVENT_FUNCTION, locate_first_change
from mbplugin.simulation.integrators import find_integrator
from mbplugin.simulation.integrators.contract import Chunk, Control, State, Step, make_chunk
from mbplugin.simulation.kernel_state import FORWARD_DYNAMICS, KernelState, evaluate_at
from mbplugin.simulation.options import Options
from mbplugin.simulation.problem import project_state

if TYPE_CHECKING:
    from mbplugin.simulation.absolute_accelerations import AbsoluteAccelerations

#: Chunk size, and largest number of chunks, for integrating to an instant inside a step.
_STEPS, _TIMES = 64, 16
#: Times closer than this, relative to 1 s and the time, are the same.
_SAME = 1e-13
#: A rejected step may be due to a singular pose if the independence of a row is below this multiple of the threshold
#: for choosing rows anew.
NEAR_SINGULAR = 5.0
#: Work after which a loop returns, in evaluations of a model without rows and rates.
_WORK = 80_000


@dataclass(frozen=True)
class Leading:
    """The independent coordinates of a motion from a time on.

    Parameters
    ----------
    time : float
        s.
    names : tuple of str
        Names of joint rates.
    """

    time: float
    names: tuple[str, ...]


# States inside a step: part of the step is integrated again rather than interpolated.


def is_same(one: float, other: float) -> bool:
    """Return True if two times, s, are the same instant up to rounding."""
    return abs(one - other) <= _SAME * (1.0 + abs(other))


def follow(stepper: Stepper, kernel_state: KernelState, state: State, time: float) -> bool:
    """Integrate a state in place from the start of a step to a time inside it, s; return True if that is reached."""
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
    """Return the state inside a step across a singular pose, from its polynomial; works are interpolated linearly.

    Such a step cannot be integrated in parts, which would meet the pose.
    """
    part = min((time - step.start) / step.length, 1.0)
    x, qd = step.at(part)
    powers = np.arange(1, len(step.polynomial))
    slope = np.tensordot(powers * part ** (powers - 1), step.polynomial[1:, 1], axes=1)
    q: Array = np.empty_like(step.q)
    displace(kernel_state.composites, step.q, x, q)
    work = step.work[0] + part * (step.work[1] - step.work[0])
    return State(time, q, qd, slope / step.length, work)


# A common interface of all loops: take steps from a state until something happens.


class Stepper(Protocol):
    """The interface of a set of loops that a run needs."""

    counts: Array

    @property
    def leading(self) -> tuple[Leading, ...]:
        """Independent coordinates used so far, with the times from which they applied."""
        ...

    def prescribe(self, kernel_state: KernelState, t: float, begun: float | None = None) -> None:
        """Evaluate the prescribed motions that are callables at time t of a step that began at ``begun``, s."""

    def settle(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Project a state and fill its accelerations; ``begun`` is the start time of the step, s."""

    def evaluate(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Fill the accelerations of a state of a step that began at ``begun`` (s), by default here."""

    def fill(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Fill accelerations and multipliers of the kernel state, independent of the formulation of the motion."""

    def first_change(
        self, kernel_state: KernelState, event_functions: AnyArray, step: Step
    ) -> tuple[float, int] | None:
        """Return the fraction of a step at which the first of ``event_functions`` (n,) changes sign, and its index.

        Return None if none does. The kernel state is left at some point inside the step.
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
        """Take steps in place until ``end`` or until a chunk is full; return status, samples and their number.

        The records of ``event_functions`` (e,) are updated.
        """
        ...


class CompiledStepper:
    """The compiled loops for one set of options; in absolute coordinates if their accelerations are given."""

    def __init__(self, options: Options, dense: bool, absolute: AbsoluteAccelerations | None = None) -> None:
        self._options = options
        self.absolute = absolute
        self._integrator = find_integrator(options.integrator)
        self._dense = dense
        self.counts: Array = np.zeros(2)
        #: Chunks by their size, to be reused; samples are copied out of them.
        self._chunks: dict[int, Chunk] = {}

    @property
    def leading(self) -> tuple[Leading, ...]:
        """Nothing: the compiled loops choose no independent coordinates."""
        return ()

    def prescribe(self, kernel_state: KernelState, t: float, begun: float | None = None) -> None:
        """Do nothing: the compiled loops take no callables."""

    def settle(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Project a state and fill its accelerations; ``begun`` is the start time of the step, s."""
        if self._options.stabilization == "projection":
            project_state(kernel_state, state.t, state.q, state.qd)
        self.evaluate(kernel_state, state, begun)

    def evaluate(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Fill the accelerations of a state of a step that began at ``begun`` (s), by default here."""
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
        """Return the fraction of a step at which the first of ``event_functions`` (n,) changes sign, and its index."""
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
        """Take steps in place until ``end`` or until a chunk is full; return status, samples and their number.

        Arrays as for :meth:`mbplugin.simulation.steppers.Stepper.advance`.
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
    """Return the step control up to a time, s."""
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
    """Return the number of steps (some 50 ms) after which a loop returns, to show progress or be interrupted."""
    cost = 1 + len(kernel_state.rates) + len(kernel_state.independent_rows) ** 2
    return min(max(_WORK // (cost * evaluations), 16), 4096)
