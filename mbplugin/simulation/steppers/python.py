"""The step loops in readable Python: for Python callables, and for every other formulation.

Same contract as the compiled loops, same trajectory; some hundred times slower.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mbplugin.dynamics.kernels.group import displace, increment_rate
from mbplugin.errors import BadUsage
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.active_set.load_friction import LoadFriction
from mbplugin.simulation.events.locate_python import first_change_in_python
from mbplugin.simulation.events.watch import (
    EVENT_FUNCTION,
    clear_candidates,
    event_value,
    follow_static,
    mark_overloaded,
    sign_changes,
)
from mbplugin.simulation.integrators.contract import Chunk, Derivative, Step, make_chunk
from mbplugin.simulation.integrators.registry import find_integrator, integrator_names
from mbplugin.simulation.integrators.stage import is_motion
from mbplugin.simulation.options import Options
from mbplugin.simulation.problem import Problem
from mbplugin.simulation.projection import project_state
from mbplugin.simulation.steppers.compiled import State, control_of
from mbplugin.simulation.steppers.kernel_state import (
    DONE,
    LOOK,
    NOT_FINITE,
    RESELECT,
    TOO_SMALL,
    WEAK,
    KernelState,
)
from mbplugin.simulation.steppers.leading import Leading
from mbplugin.simulation.steppers.python_accelerations import Accelerations

#: One step at a time: nothing is lost where a function of the user fails.
_CHUNK = 1


class PythonStepper:
    """The loops in Python, for one model and one set of options.

    Raises
    ------
    BadUsage
        Options that steps of this integrator, or Baumgarte's terms, do not allow.
    """

    def __init__(
        self, problem: Problem, options: Options, active: Callable[[], tuple[int, ...]], by_load: LoadFriction
    ) -> None:
        self._model, self._options = problem.model, options
        self._accelerations = Accelerations(problem, options, active, by_load)
        self._by_load = by_load
        #: What is watched, and whether a stage of the step under way has been beyond it.
        self._watched: AnyArray = np.zeros(0, dtype=EVENT_FUNCTION)
        self.counts: Array = np.zeros(2)
        self._integrator = find_integrator(options.integrator)
        self._step = self._integrator.in_python(self)
        baumgarte = options.stabilization == "baumgarte"
        if self._integrator.by_momenta and (baumgarte or not options.projects_independent_rows):
            raise BadUsage(
                f"the {options.integrator} integrator steps by momenta, not by accelerations",
                expected="projected formulation, elimination, joint coordinates, and projection",
                remedy=f"use integrator={_others()} with these",
            )
        if by_load and self._integrator.by_momenta:
            raise BadUsage(
                f"the {options.integrator} integrator has no accelerations, from which friction takes its loads",
                remedy=f"use integrator={_others()}",
            )
        if baumgarte and not options.projects_independent_rows:
            raise BadUsage(
                "Baumgarte's terms are for closing rows",
                expected="the projected formulation with elimination in joint coordinates",
            )

    @property
    def control(self) -> Callable[[float, Array, Array], None]:
        """Adds a controller's forces at (t, q, q̇) to ``tau``, and their power."""
        return self._model.control

    def prescribe(self, kernel_state: KernelState, t: float, begun: float | None = None) -> None:
        """Set the prescribed motions that are callables at a time, s, of a step that has begun at one."""
        self._accelerations.prescribe(kernel_state, t, t if begun is None else begun)

    def settle(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Project a state and fill its accelerations, those of a step that has begun at a time, s."""
        self.prescribe(kernel_state, state.t, begun)
        o = self._options
        at = state.t if begun is None else begun
        if o.formulation == "closing":
            if not self.leading and self._others_hold(kernel_state):
                # at the start rates follow those of the drivers as in every formulation
                project_state(kernel_state, state.t, state.q, state.qd)
            self._close(kernel_state, state, at)
        if o.stabilization == "projection" and (
            o.formulation != "closing" or self._others_hold(kernel_state)
        ):
            project_state(kernel_state, state.t, state.q, state.qd)
            if o.formulation == "closing":
                self._close(kernel_state, state, at)
        if o.has_leading_coordinates:
            self._accelerations.lead(kernel_state, state.t, at, state.q, state.qd)
        self.evaluate(kernel_state, state, begun)

    @property
    def leading(self) -> tuple[Leading, ...]:
        """Which coordinates led the motion so far, and from when."""
        return tuple(self._accelerations.leading.changes)

    def _close(self, kernel_state: KernelState, state: State, begun: float) -> None:
        """Compute the dependent coordinates and rates of a state from the independent ones."""
        state.q[:], state.qd[:] = self._accelerations.close(kernel_state, state.t, begun, state.q, state.qd)

    def _others_hold(self, kernel_state: KernelState) -> bool:
        """Whether rows hold that are no closing conditions: drivers, locks, brakes, wheels."""
        table, closed = self._model.table, self._accelerations.leading.closed_names
        return any(table.labels[i].constraint not in closed for i in kernel_state.independent_rows.tolist())

    def evaluate(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Fill the accelerations of a state, of a step that has begun at a time (s), or begins here.

        Where friction is watched, the multipliers as well.
        """
        begun = state.t if begun is None else begun
        state.qdd[:] = self._accelerations.at(kernel_state, state.t, begun, state.q, state.qd)
        if len(kernel_state.resistances) and not self._options.projects_independent_rows:
            power = kernel_state.power.copy()
            self.fill(kernel_state, state, begun)
            kernel_state.power[:] = power

    def fill(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Fill accelerations and multipliers of the kernel state, by the projected formulation."""
        begun = state.t if begun is None else begun
        self._accelerations.fill(kernel_state, state.t, begun, state.q, state.qd)

    def first_change(
        self, kernel_state: KernelState, event_functions: AnyArray, step: Step
    ) -> tuple[float, int] | None:
        """Return the fraction of a step at which the first of ``event_functions`` (n,) changes sign, and which."""

        def values(fraction: float, which: Sequence[int]) -> Array:
            x, qd = step.at(fraction)
            q = np.empty_like(step.q)
            displace(kernel_state.composites, step.q, x, q)
            t = step.start + fraction * step.length
            self.fill(kernel_state, State(t, q, qd, np.empty_like(qd)), step.start)
            self._raise_levels(kernel_state, event_functions)
            return np.array([event_value(kernel_state, event_functions[n], q, qd) for n in which])

        return first_change_in_python(event_functions, values)

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
        control = control_of(self._options, end, reselect_below)
        chunk = make_chunk(steps or _CHUNK, len(state.q), len(state.qd), self._integrator.degree, True)
        status, kept = DONE, 0
        while kept < len(chunk.time) and end - state.t > 1e-13 * (1.0 + abs(end)):
            self._watched = event_functions
            clear_candidates(event_functions)
            taken = self._step(kernel_state, state, control, chunk.dense[kept])
            if taken <= 0.0:
                return (TOO_SMALL if taken == 0.0 else WEAK), chunk, kept
            chunk.time[kept], chunk.q[kept], chunk.qd[kept] = state.t, state.q, state.qd
            chunk.qdd[kept], chunk.work[kept] = state.qdd, state.work
            kept += 1
            if not (is_motion(state.q, state.qd) and np.isfinite(state.qdd).all()):
                return NOT_FINITE, chunk, kept
            self._raise_levels(kernel_state, event_functions)
            if sign_changes(kernel_state, event_functions, taken, state.q, state.qd):
                return LOOK, chunk, kept
            if kernel_state.row_independence[0] < reselect_below:
                return RESELECT, chunk, kept
        return status, chunk, kept

    def _raise_levels(self, kernel_state: KernelState, event_functions: AnyArray) -> None:
        """Let what holds be watched, ``event_functions`` (n,), up to the friction of its load now."""
        if self._by_load:
            follow_static(kernel_state, event_functions, self._by_load.places)

    def _look(self, kernel_state: KernelState, t: float, begun: float, q: Array, qd: Array) -> None:
        """Note where a stage at q (nq,) and qd (nv,) overloads what friction holds."""
        if not self._options.projects_independent_rows:
            power = kernel_state.power.copy()
            self._accelerations.fill(kernel_state, t, begun, q, qd)
            kernel_state.power[:] = power
        self._raise_levels(kernel_state, self._watched)
        mark_overloaded(kernel_state, self._watched)

    def finish(self, kernel_state: KernelState, state: State, h: float, new: Array) -> None:
        """Put a state to the end of a step and settle it; ``new`` (2 nv + 3,) stacks increment, rates and works."""
        nv = len(state.qd)
        q = np.empty_like(state.q)
        displace(kernel_state.composites, state.q, np.array(new[:nv]), q)
        state.q[:], state.qd[:], state.work[:] = q, new[nv : 2 * nv], new[2 * nv :]
        begun = state.t
        state.t += h
        self.settle(kernel_state, state, begun)

    def derivative(self, kernel_state: KernelState, state: State) -> Derivative:
        """Return dy/dt, y stacking increment, rates and works."""
        base, begun, nv = state.q.copy(), state.t, len(state.qd)
        at, slope = np.empty_like(base), np.empty(nv)

        def f(t: float, y: Array) -> Array:
            x, qd = np.ascontiguousarray(y[:nv]), np.ascontiguousarray(y[nv : 2 * nv])
            displace(kernel_state.composites, base, x, at)
            qdd = self._accelerations.at(kernel_state, t, begun, at, qd)
            if len(self._watched):
                self._look(kernel_state, t, begun, at, qd)
            increment_rate(kernel_state.composites, x, qd, slope)
            return np.concatenate((slope, qdd, kernel_state.power))

        return f


def _others() -> str:
    """Return the integrators that step by accelerations, as a choice."""
    names = [name for name in integrator_names() if not find_integrator(name).by_momenta]
    return " or ".join(map(repr, names))
