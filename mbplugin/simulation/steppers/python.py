"""The step loops in readable Python: for Python callables, and for every other formulation.

Same contract as the compiled loops, same trajectory; some hundred times slower.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mbplugin.dynamics.kernels.group import displace, increment_rate
from mbplugin.errors import BadUsage
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.events.watch import EVENT_FUNCTION, overloaded, sign_changes
from mbplugin.simulation.integrators.contract import Chunk, make_chunk
from mbplugin.simulation.integrators.dop853 import DEGREE as DOP853_DEGREE
from mbplugin.simulation.integrators.dop853 import dop853_dense, dop853_error, dop853_step
from mbplugin.simulation.integrators.rk4 import DEGREE as RK4_DEGREE
from mbplugin.simulation.integrators.rk4 import cubic, rk4_step
from mbplugin.simulation.integrators.variational import DEGREE as VARIATIONAL_DEGREE
from mbplugin.simulation.integrators.variational_readable import Moved, VariationalStep
from mbplugin.simulation.options import Options
from mbplugin.simulation.problem import Problem
from mbplugin.simulation.projection import project_state
from mbplugin.simulation.steppers.compiled import NEAR_SINGULAR, State
from mbplugin.simulation.steppers.kernel_state import (
    DONE,
    LOOK,
    NOT_FINITE,
    RESELECT,
    TOO_SMALL,
    WEAK,
    KernelState,
)
from mbplugin.simulation.steppers.python_accelerations import Accelerations

#: One step at a time: nothing is lost where a function of the user fails.
_CHUNK = 1
_SAFETY, _LARGEST, _SMALLEST = 0.9, 10.0, 0.2
#: Part of a variational step that is still tried where the equations of the whole have not been solved.
_SMALLEST_PART = 1e-6
_DEGREE = {"dop853": DOP853_DEGREE, "rk4": RK4_DEGREE, "variational": VARIATIONAL_DEGREE}


class PythonStepper:
    """The loops in Python, for one model and one set of options."""

    def __init__(self, problem: Problem, options: Options, active: Callable[[], tuple[int, ...]]) -> None:
        self._model, self._options = problem.model, options
        self._accelerations = Accelerations(problem, options, active)
        self._trusted = 0.0
        #: What is watched, and whether a stage of the step under way has been beyond it.
        self._watched: AnyArray = np.zeros(0, dtype=EVENT_FUNCTION)
        self._beyond = False
        #: The part of a variational step that is tried next, and the time up to which the last has come.
        self._part, self._reached = 1.0, 0.0
        self.counts: Array = np.zeros(2)
        baumgarte = options.stabilization == "baumgarte"
        if options.integrator == "variational" and (baumgarte or not _projects_chosen_rows(options)):
            raise BadUsage(
                "the variational integrator steps by momenta, not by accelerations",
                expected="projected formulation, elimination, joint coordinates, and projection",
                remedy="use integrator='rk4' or 'dop853' with these",
            )
        if baumgarte and not _projects_chosen_rows(options):
            raise BadUsage(
                "Baumgarte's terms are for closing rows",
                expected="the projected formulation with elimination in joint coordinates",
            )

    def prescribe(self, kernel_state: KernelState, t: float) -> None:
        """Set the prescribed motions that are callables at a time, s."""
        self._accelerations.prescribe(kernel_state, t, t)

    def settle(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Project a state and fill its accelerations, those of a step that has begun at a time, s."""
        self._accelerations.prescribe(kernel_state, state.t, state.t if begun is None else begun)
        if self._options.stabilization == "projection":
            project_state(kernel_state, state.t, state.q, state.qd)
        self.evaluate(kernel_state, state, begun)

    def evaluate(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Fill the accelerations of a state, of a step that has begun at a time (s), or begins here.

        Where friction is watched, the multipliers as well.
        """
        begun = state.t if begun is None else begun
        state.qdd[:] = self._accelerations.at(kernel_state, state.t, begun, state.q, state.qd)
        if len(kernel_state.resistances) and not _projects_chosen_rows(self._options):
            power = kernel_state.power.copy()
            self.fill(kernel_state, state, begun)
            kernel_state.power[:] = power

    def fill(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Fill accelerations and multipliers of the machine, by the projected formulation."""
        begun = state.t if begun is None else begun
        self._accelerations.fill(kernel_state, state.t, begun, state.q, state.qd)

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
        self._trusted = reselect_below
        integrator = self._options.integrator
        ways = {"dop853": self._step_dop853, "rk4": self._step_rk4, "variational": self._step_variational}
        step = ways[integrator]
        chunk = make_chunk(steps or _CHUNK, len(state.q), len(state.qd), _DEGREE[integrator], True)
        status, kept = DONE, 0
        while kept < len(chunk.time) and end - state.t > 1e-13 * (1.0 + abs(end)):
            self._watched, self._beyond = event_functions, False
            taken = step(kernel_state, state, end, chunk.dense[kept])
            if taken <= 0.0:
                return (TOO_SMALL if taken == 0.0 else WEAK), chunk, kept
            chunk.time[kept], chunk.q[kept], chunk.qd[kept] = state.t, state.q, state.qd
            chunk.qdd[kept], chunk.work[kept] = state.qdd, state.work
            kept += 1
            if not np.isfinite(state.qdd).all():
                return NOT_FINITE, chunk, kept
            beyond = self._beyond
            if len(event_functions) and (
                sign_changes(kernel_state, event_functions, taken, state.q, state.qd) or beyond
            ):
                return LOOK, chunk, kept
            if kernel_state.row_independence[0] < reselect_below:
                return RESELECT, chunk, kept
        return status, chunk, kept

    def _step_rk4(self, kernel_state: KernelState, state: State, end: float, dense: Array) -> float:
        h = end - state.t if end - state.t < state.h * (1 + 1e-9) else state.h
        f, nv = self._derivative(kernel_state, state), len(state.qd)
        new = rk4_step(f, state.t, h, np.concatenate((np.zeros(nv), state.qd, state.work)))
        self.counts[0] += 4
        qd, qdd = state.qd.copy(), state.qdd.copy()
        x = self._finish(kernel_state, state, h, new)
        slope = np.empty(nv)
        increment_rate(kernel_state.composites, x, state.qd, slope)
        cubic(h, x, qd, slope, qd, state.qd, qdd, state.qdd, dense)
        return h

    def _step_dop853(self, kernel_state: KernelState, state: State, end: float, dense: Array) -> float:
        nv, o = len(state.qd), self._options
        f, grown = self._derivative(kernel_state, state), _LARGEST
        y = np.concatenate((np.zeros(nv), state.qd, state.work))
        first = f(state.t, y)
        healthy = kernel_state.row_independence[0] >= NEAR_SINGULAR * self._trusted
        state.h = min(state.h, o.largest_step)
        while True:
            last = state.h >= (end - state.t) * (1.0 - 1e-12)
            h = end - state.t if last else state.h
            if h < 1e-14 * (1.0 + abs(state.t)):
                return 0.0
            new, k = dop853_step(f, state.t, h, y, first)
            self.counts[0] += 12
            size = self._sizes(kernel_state, state.q, y, new)
            error = dop853_error(h, k[:, : 2 * nv], o.atol + o.rtol * size)
            if error < 1.0:
                break
            self.counts[1] += 1
            state.h = h * max(_SMALLEST, _SAFETY * error ** (-1 / 8)) if np.isfinite(error) else h * _SMALLEST
            grown = 1.0
            if not healthy:
                return -1.0
        grown = min(grown, _SAFETY * error ** (-1 / 8)) if error > 0 else grown
        state.h = max(state.h, h * grown) if last else h * grown
        polynomial = dop853_dense(f, state.t, h, y, new, k)[:, : 2 * nv]
        dense[:] = polynomial.reshape(len(dense), 2, nv)
        self._finish(kernel_state, state, h, new)
        if last:
            state.t = end
        return h

    def _step_variational(self, kernel_state: KernelState, state: State, end: float, dense: Array) -> float:
        """Take a step, or part of one that is too long for its equations to be solved."""
        if state.t != self._reached:
            self._part = 1.0
        left, driven = end - state.t, kernel_state.power[2]
        while True:
            h = self._part * (min(state.h, left) if left < 1.5 * state.h else state.h)
            last = left - h < 1e-9 * state.h
            h = left if last else h
            moved = self._solved(kernel_state, state, h)
            if moved is not None:
                break
            self.counts[1] += 1
            self._part *= 0.5
            if self._part < _SMALLEST_PART:
                return 0.0
        qd, qdd, slope = state.qd.copy(), state.qdd.copy(), np.empty_like(state.qd)
        begun, state.t = state.t, end if last else state.t + h
        state.q[:], state.qd[:] = moved.q, moved.qd
        self._part, self._reached = min(1.0, 2.0 * self._part), state.t
        self._accelerations.prescribe(kernel_state, state.t, begun)
        # whatever else is asked for, the impulses at the end are part of the step
        project_state(kernel_state, state.t, state.q, state.qd)
        self.evaluate(kernel_state, state, begun)
        state.work[:2] += h * moved.power[:2]
        state.work[2] += 0.5 * h * (driven + kernel_state.power[2])
        increment_rate(kernel_state.composites, moved.x, state.qd, slope)
        cubic(h, moved.x, qd, slope, qd, state.qd, qdd, state.qdd, dense)
        return h

    def _solved(self, kernel_state: KernelState, state: State, h: float) -> Moved | None:
        """Return where a variational step ends, or None where its equations are not solved."""

        begun = state.t

        def prescribe(t: float) -> None:
            self._accelerations.prescribe(kernel_state, t, begun)

        step = VariationalStep(kernel_state, prescribe, self._model.control, state.t, h, state.q, state.qd)
        moved = step.solve(state.qdd)
        self.counts[0] += moved.corrections if moved is not None else 0
        return moved

    def _sizes(self, kernel_state: KernelState, q: Array, y: Array, new: Array) -> Array:
        """Return what the relative tolerance is relative to: coordinates, not increments; turns to 1."""
        nv = len(kernel_state.rates)
        place = kernel_state.rates["coordinate"]
        x = np.abs(new[:nv])
        own = np.maximum(np.abs(q[place]), np.abs(q[place] + new[:nv]))
        return np.concatenate(
            (np.where(place >= 0, own, np.maximum(1.0, x)), np.maximum(np.abs(y[nv:-3]), np.abs(new[nv:-3])))
        )

    def _look(self, kernel_state: KernelState, t: float, begun: float, q: Array, qd: Array) -> None:
        """Note where a stage overloads what friction holds."""
        if not _projects_chosen_rows(self._options):
            power = kernel_state.power.copy()
            self._accelerations.fill(kernel_state, t, begun, q, qd)
            kernel_state.power[:] = power
        self._beyond = self._beyond or bool(overloaded(kernel_state, self._watched))

    def _finish(self, kernel_state: KernelState, state: State, h: float, new: Array) -> Array:
        """Put a state to the end of a step and settle it; return the increment."""
        nv = len(state.qd)
        x = np.array(new[:nv])
        q = np.empty_like(state.q)
        displace(kernel_state.composites, state.q, x, q)
        state.q[:], state.qd[:], state.work[:] = q, new[nv : 2 * nv], new[2 * nv :]
        begun = state.t
        state.t += h
        self.settle(kernel_state, state, begun)
        return x

    def _derivative(self, kernel_state: KernelState, state: State) -> Callable[[float, Array], Array]:
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


def _projects_chosen_rows(options: Options) -> bool:
    """Whether the motion is computed as the compiled loops do it, callables aside."""
    return (options.formulation, options.redundancy, options.coordinates) == (
        "projected",
        "eliminate",
        "joint",
    )
