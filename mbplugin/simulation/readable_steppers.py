"""The step loops in readable Python, for Python callables and all other formulations.

They have the contract of the compiled loops and give the same trajectory, some hundred times slower.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.dynamics.explicit_closure import (
    Closing,
    closing_conditions,
    closing_equations,
    minimal_solution,
)
from mbplugin.dynamics.formulations import Equations, eliminate, independent_coordinates, solve, tangents
from mbplugin.dynamics.kernels.articulated import displace, increment_rate, inward, outward
from mbplugin.dynamics.kernels.composite_bodies import gather
from mbplugin.dynamics.kernels.rows import RATE
from mbplugin.dynamics.kernels.solve import constrain, resist, row_rate
from mbplugin.dynamics.tree_model import equations_of
from mbplugin.errors import BadUsage, CannotClose
from mbplugin.model import AnyArray, Array, Constraint, Mechanism
from mbplugin.simulation.absolute_accelerations import AbsoluteAccelerations
from mbplugin.simulation.events import (
    EVENT_FUNCTION,
    clear_candidates,
    event_value,
    first_change_in_python,
    follow_static,
    mark_overloaded,
    reason_to_return,
)
from mbplugin.simulation.friction import Handling, LoadFriction
from mbplugin.simulation.integrators import find_integrator, integrator_names
from mbplugin.simulation.integrators.contract import Chunk, Derivative, State, Step, make_chunk
from mbplugin.simulation.integrators.explicit_loop import is_motion
from mbplugin.simulation.kernel_state import (
    DONE,
    FACTORIZE,
    KINEMATICS,
    NOT_FINITE,
    TOO_SMALL,
    WEAK,
    KernelState,
    evaluate_at,
    prescribe as prescribe_drives,
)
from mbplugin.simulation.options import Options, breaks_of
from mbplugin.simulation.problem import Problem, project_state
from mbplugin.simulation.steppers import Leading, control_of

#: One step at a time, so that no step is lost if a user function fails.
_CHUNK = 1
#: Distance from a break at which a prescribed motion is evaluated, relative to 1 s and the time.
_BESIDE = 1e-12
#: If closing the loops moves a coordinate of a stage by more than this, rad or m, the pose is on another branch.
_OTHER_BRANCH = 0.1


class PythonStepper:
    """The loops in Python, for one model and one set of options.

    Raises
    ------
    BadUsage
        Options that this integrator, or Baumgarte stabilisation, does not support.
    """

    def __init__(
        self, problem: Problem, options: Options, active: Callable[[], tuple[int, ...]], by_load: LoadFriction
    ) -> None:
        self._model, self._options = problem.model, options
        self._accelerations = Accelerations(problem, options, active, by_load)
        self._by_load = by_load
        #: Active event functions; ``candidate`` is set if a stage of this step exceeded one.
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
        if baumgarte and not options.projects_independent_rows:
            raise BadUsage(
                "Baumgarte's terms are for closing rows",
                expected="the projected formulation with elimination in joint coordinates",
            )

    @property
    def control(self) -> Callable[[float, Array, Array], None]:
        """Function that adds a controller's forces at (t, q, q̇) to ``tau``, and their power."""
        return self._model.control

    def prescribe(self, kernel_state: KernelState, t: float, begun: float | None = None) -> None:
        """Evaluate the prescribed motions that are callables at time t of a step that began at ``begun``, s."""
        self._accelerations.prescribe(kernel_state, t, t if begun is None else begun)

    def settle(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Project a state and fill its accelerations; ``begun`` is the start time of the step, s."""
        self.prescribe(kernel_state, state.t, begun)
        o = self._options
        at = state.t if begun is None else begun
        if o.formulation == "closing":
            if not self.leading and self._others_hold(kernel_state):
                # at the start, the rates are made consistent with the drivers as in every formulation
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

    def follow_loads(self, kernel_state: KernelState, t: float, begun: float, q: Array, qd: Array) -> None:
        """Update friction that grows with joint loads to those at time t (s), q (nq,) and qd (nv,); else do nothing."""
        if self._by_load:
            self._accelerations.fill(kernel_state, t, begun, q, qd)

    @property
    def leading(self) -> tuple[Leading, ...]:
        """Independent coordinates used so far, with the times from which they applied."""
        return tuple(self._accelerations.leading.changes)

    def _close(self, kernel_state: KernelState, state: State, begun: float) -> None:
        """Compute the dependent coordinates and rates of a state from the independent ones."""
        state.q[:], state.qd[:] = self._accelerations.close(kernel_state, state.t, begun, state.q, state.qd)

    def _others_hold(self, kernel_state: KernelState) -> bool:
        """Return True if rows other than closing conditions are in force: drivers, locks, brakes or wheels."""
        table, closed = self._model.table, self._accelerations.leading.closed_names
        return any(table.labels[i].constraint not in closed for i in kernel_state.independent_rows.tolist())

    def evaluate(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Fill the accelerations of a state of a step that began at ``begun`` (s), by default here.

        If the model has friction, the multipliers are filled as well.
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
        """Return the fraction of a step at which the first of ``event_functions`` (n,) changes sign, and its index."""

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
        """Take steps in place until ``end`` or until a chunk is full; return status, samples and their number.

        Arrays as for :meth:`mbplugin.simulation.steppers.Stepper.advance`.
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
            status = reason_to_return(kernel_state, event_functions, taken, state.q, state.qd, reselect_below)
            if status != DONE:
                break
        return status, chunk, kept

    def _raise_levels(self, kernel_state: KernelState, event_functions: AnyArray) -> None:
        """Update the levels of ``event_functions`` (n,) of sticking joints to the friction of their present loads."""
        if self._by_load:
            follow_static(kernel_state, event_functions, self._by_load.places)

    def _look(self, kernel_state: KernelState, t: float, begun: float, q: Array, qd: Array) -> None:
        """Mark the event functions of sticking joints that a stage at q (nq,) and qd (nv,) may overload."""
        if not self._options.projects_independent_rows:
            power = kernel_state.power.copy()
            self._accelerations.fill(kernel_state, t, begun, q, qd)
            kernel_state.power[:] = power
        self._raise_levels(kernel_state, self._watched)
        mark_overloaded(kernel_state, self._watched)

    def finish(self, kernel_state: KernelState, state: State, h: float, new: Array) -> None:
        """Move a state to the end of a step and project it; ``new`` (2 nv + 3,) stacks increment, rates and works."""
        nv = len(state.qd)
        q = np.empty_like(state.q)
        displace(kernel_state.composites, state.q, np.array(new[:nv]), q)
        state.q[:], state.qd[:], state.work[:] = q, new[nv : 2 * nv], new[2 * nv :]
        begun = state.t
        state.t += h
        self.settle(kernel_state, state, begun)

    def derivative(self, kernel_state: KernelState, state: State) -> Derivative:
        """Return the function dy/dt, where y stacks increment, rates and works."""
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
    """Return the names of the integrators that step by accelerations, for a message."""
    names = [name for name in integrator_names() if not find_integrator(name).by_momenta]
    return " or ".join(map(repr, names))


# The accelerations of a model at a state in readable Python, for every formulation.


class Accelerations:
    """Compute the accelerations of a model by the chosen formulation."""

    def __init__(
        self, problem: Problem, options: Options, active: Callable[[], tuple[int, ...]], by_load: LoadFriction
    ) -> None:
        self.by_load = by_load
        self._handling = Handling(options.redundancy)
        self._problem, self._model, self._options = problem, problem.model, options
        self._active = active
        #: For formulations that select independent coordinates.
        self.leading = LeadingCoordinates(problem.model.mech)
        self._absolute = AbsoluteAccelerations(problem, options, active)

    def prescribe(self, kernel_state: KernelState, t: float, begun: float) -> None:
        """Replace prescribed motions given as callables by their quadratic polynomials about a time of a step.

        At a break, the values of the side on which the step began are taken.
        """
        for d, (driver, _) in enumerate(self._model.table.driven):
            profile = self._options.profiles.get(driver.name)
            if profile is not None:
                at = _on_one_side(breaks_of(profile), t, begun)
                value, rate, acceleration = profile(at)
                # a driver with a callable has one segment
                own = int(np.argmax(kernel_state.motion_segments["drive"] == d))
                kernel_state.motion_segments[own] = (d, at, (value, rate, 0.5 * acceleration, 0.0, 0.0, 0.0))

    def at(self, kernel_state: KernelState, t: float, begun: float, q: Array, qd: Array) -> Array:
        """Return q̈ (nv,) at a state q (nq,), qd (nv,) of a step that began at ``begun``; fill multipliers and power."""
        self.prescribe(kernel_state, t, begun)
        o = self._options
        if o.projects_independent_rows:
            return self._projected(kernel_state, t, begun, q, qd)
        if o.formulation == "closing":
            q, qd = self.close(kernel_state, t, begun, q, qd)
        if self.by_load:
            # update the sliding friction to the loads at this state, for the equations below
            self._projected(kernel_state, t, begun, q, qd)
        if o.coordinates == "absolute":
            qdd = self._absolute.compiled(kernel_state, t, begun, q, qd)
            if qdd is not None:
                return qdd
        # the factorisation measures the distance to a singular pose
        evaluate_at(kernel_state, KINEMATICS | FACTORIZE, t, q, qd, begun)
        self._model.power[:] = 0.0
        if o.coordinates == "absolute":
            self._count_power(kernel_state, t, q, qd)
            return self._absolute.readable(kernel_state, t, q, qd)
        equations = self._equations(kernel_state, t, q, qd)
        if o.formulation == "closing":
            solution = minimal_solution(equations, self.leading.closing(q), q)
        else:
            leading = self.leading.partition_of(len(qd) - equations.rank)
            solution = solve(equations, o.formulation, o.redundancy, o.dropped, leading)
        self._model.power[2] = -float(solution.multipliers @ equations.b)
        return solution.v_dot

    def close(
        self, kernel_state: KernelState, t: float, begun: float, q: Array, qd: Array
    ) -> tuple[Array, Array]:
        """Return the closed state (nq,), (nv,) for q (nq,), qd (nv,) at time t of a step that began at ``begun``, s."""
        prescribe_drives(kernel_state.motion_segments, kernel_state.drive, t, begun)
        return self.leading.close(q, qd, self._prescribed(kernel_state))

    def _prescribed(self, kernel_state: KernelState) -> tuple[Prescribed, ...]:
        """Return the joint rates that drivers prescribe now, and those that locks and stiction keep at zero."""
        found, rows = [], kernel_state.rows
        for i in self._active():
            row = rows[i]
            if row["kind"] == RATE and row["coordinate"] >= 0:
                rate, at, drive = (int(row[name]) for name in ("rate", "coordinate", "drive"))
                if drive < 0:
                    found.append(Prescribed(rate, at, None, 0.0))
                else:
                    value, speed = kernel_state.drive[drive, :2].tolist()
                    found.append(Prescribed(rate, at, float(row["offset"]) + value, speed))
        return tuple(found)

    def lead(self, kernel_state: KernelState, t: float, begun: float, q: Array, qd: Array) -> None:
        """Choose the independent coordinates from the end of a step on, at a time (s) and a state q (nq,), qd (nv,)."""
        evaluate_at(kernel_state, KINEMATICS, t, q, qd, begun)
        equations = self._equations(kernel_state, t, q, qd)
        if self._options.formulation == "closing":
            self.leading.choose(equations, t, q, self._prescribed(kernel_state))
        else:
            self.leading.choose_partition(equations, t)

    def _equations(self, kernel_state: KernelState, t: float, q: Array, qd: Array) -> Equations:
        """Return the equations of motion in joint coordinates at an evaluated state q (nq,), qd (nv,)."""
        rows = self._active()
        return equations_of(
            self._model,
            q,
            qd,
            time=t,
            degree_of_redundancy=len(rows) - len(kernel_state.independent_rows),
            rows=rows,
            drive=kernel_state.drive.copy(),
            decided=True,
        )

    def fill(self, kernel_state: KernelState, t: float, begun: float, q: Array, qd: Array) -> None:
        """Fill accelerations, multipliers and power of the kernel state at q (nq,), qd (nv,), for every formulation."""
        self.prescribe(kernel_state, t, begun)
        self._projected(kernel_state, t, begun, q, qd)

    def _count_power(self, m: KernelState, t: float, q: Array, qd: Array) -> None:
        """Fill the applied forces, and the power of dampers, friction and applied forces, at q (nq,) and qd (nv,)."""
        gather(m.composites, m.rates, m.loads, m.springs, q, qd, m.power)
        resist(m.composites, m.rates, m.rows, m.terms, m.resistances, qd, m.power)
        self._model.control(t, q, qd)

    def _projected(self, kernel_state: KernelState, t: float, begun: float, q: Array, qd: Array) -> Array:
        """Return q̈ (nv,) at q (nq,) and qd (nv,), with friction that agrees with the joint loads."""
        if not self.by_load or self.by_load.frozen:
            return self._with_friction(kernel_state, t, begun, q, qd)
        for _ in self.by_load.passes():
            qdd = self._with_friction(kernel_state, t, begun, q, qd)
            multipliers = self._multipliers(kernel_state, t, q, qd, qdd)
            evaluate_at(kernel_state, KINEMATICS, t, q, qd, begun)
            self._count_power(kernel_state, t, q, qd)
            self.by_load.follow(qdd, multipliers)
        # computing the loads has overwritten the forces
        return self._with_friction(kernel_state, t, begun, q, qd)

    def _multipliers(self, kernel_state: KernelState, t: float, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the multipliers (m,) of all rows for accelerations qdd (nv,) at q (nq,) and qd (nv,), N and N·m.

        Redundant rows are handled as the options state.
        """
        out = np.zeros(len(self._model.table.rows))
        if self._options.redundancy == "eliminate":
            held = kernel_state.independent_rows
            out[held] = kernel_state.multipliers[: len(held)]
        else:
            equations = self._equations(kernel_state, t, q, qd)
            out[list(self._active())] = self._handling.multipliers(equations, qdd)
        return out

    def _with_friction(self, kernel_state: KernelState, t: float, begun: float, q: Array, qd: Array) -> Array:
        """Return q̈ (nv,) at q (nq,) and qd (nv,) as the compiled code does, plus the controller's forces."""
        m = kernel_state
        evaluate_at(m, KINEMATICS | FACTORIZE, t, q, qd, begun)
        m.power[:] = 0.0
        self._count_power(m, t, q, qd)
        inward(m.composites, m.rates, True)
        outward(m.composites, m.rates, True)
        if len(m.independent_rows):
            if self._options.stabilization == "baumgarte":
                m.rows["gamma"][m.independent_rows] += self._baumgarte(m, m.independent_rows.tolist(), qd)
            constrain(m.composites, m.rates, m.rows, m.terms, m.independent_rows, m.Q, m.R, m.multipliers)
            m.power[2] = -float(m.multipliers @ m.rows["bias"][m.independent_rows])
        return np.array(m.rates["qdd"])

    def _baumgarte(self, kernel_state: KernelState, rows: list[int], qd: Array) -> Array:
        """Return −2α(C v + b) − α²Φ of some rows, (k,), at qd (nv,), critically damped, with α = 1/(10 steps)."""
        alpha = 1.0 / (10.0 * self._options.step) if self._options.step else 20.0
        rate = [row_rate(kernel_state.composites, kernel_state.rows, kernel_state.terms, i, qd) for i in rows]
        gap = np.array(rate) + kernel_state.rows["bias"][rows]
        return np.asarray(-2.0 * alpha * gap - alpha**2 * kernel_state.rows["phi"][rows])


def _on_one_side(breaks: tuple[float, ...], t: float, begun: float) -> float:
    """Return t, moved if necessary to lie between the same breaks as ``begun``, the start of the step."""
    for time in breaks:
        beside = _BESIDE * (1.0 + abs(time))
        if time > begun + beside:
            return min(t, time - beside)
        t = max(t, time + beside)
    return t


# The independent coordinates of a motion, and their changes.


@dataclass(frozen=True)
class Prescribed:
    """A prescribed rate at an instant: that of a driver, or zero if a lock or stiction acts.

    Parameters
    ----------
    rate, at : int
        Its index in ``qd_names``, and that of its coordinate in ``q_names``.
    value : float or None
        Prescribed coordinate, rad or m; None if it stays as it is.
    speed : float
        Prescribed rate, rad/s or m/s.
    """

    rate: int
    at: int
    value: float | None
    speed: float


class LeadingCoordinates:
    """The independent coordinates along one motion, for closing conditions or for coordinate partitioning."""

    def __init__(self, mech: Mechanism) -> None:
        self._mech = mech
        self._closing: Closing | None = None
        #: Independent coordinates of the partition, (k,).
        self._partition: AnyArray | None = None
        #: Rates that were prescribed when the closing conditions were chosen.
        self._prescribed: tuple[int, ...] = ()
        #: One entry for the start and for each change.
        self.changes: list[Leading] = []

    @property
    def closed_names(self) -> frozenset[str]:
        """Names of the constraints that the closing conditions replace."""
        closed: tuple[Constraint, ...] = (*self._mech.tree.cut, *self._mech.couplings)
        return frozenset(constraint.name for constraint in closed)

    def closing(self, q: Array) -> Closing:
        """Return the present closing conditions; the first call chooses them at q (nq,)."""
        if self._closing is None:
            self._closing = closing_conditions(self._mech, q)
        return self._closing

    def close(self, q: Array, qd: Array, prescribed: Sequence[Prescribed] = ()) -> tuple[Array, Array]:
        """Return the closed state (nq,), (nv,) with the independent coordinates and rates of q (nq,) and qd (nv,).

        Prescribed independent coordinates get their exact values (blajer1993 (5), (6)) and are not integrated.
        """
        closing = self.closing(q)
        q, qd = _as_prescribed(closing, q, qd, prescribed)
        try:
            if closing.is_near_singular(q):
                closing = closing.on_branch_of(q)
            here = closing.at(q)
            off = float(np.abs(here.q - q).max(initial=0.0)) > _OTHER_BRANCH
        except CannotClose:
            off = True
        if off:
            # the motion is repeated from an earlier time, or the stage is out of reach of these coordinates
            closing = closing_conditions(self._mech, q, prescribed=self._prescribed)
            q, qd = _as_prescribed(closing, q, qd, prescribed)
            here = closing.at(q)
        self._closing = closing
        return np.array(here.q), here.A @ qd[closing.independent_rates]

    def choose(self, equations: Equations, t: float, q: Array, prescribed: Sequence[Prescribed] = ()) -> None:
        """Choose the independent coordinates from the end of a step on, at a time (s) and pose q (nq,).

        They change only if they are nearly singular here, or if other rates are prescribed than before.
        """
        closing, driven_rates = self.closing(q), tuple(one.rate for one in prescribed)
        if not self.changes or driven_rates != self._prescribed or closing.is_near_singular(q):
            own = closing_equations(equations, closing)
            self._closing = closing.change(q, tangents(own, eliminate(own)), driven_rates)
            self._prescribed = driven_rates
        self._note(t, self.closing(q).independent)

    def choose_partition(self, equations: Equations, t: float) -> None:
        """Choose the independent coordinates of the partition from a time on, s."""
        self._partition = independent_coordinates(equations, eliminate(equations), self._partition)
        self._note(t, tuple(self._mech.qd_names[k] for k in self._partition))

    def partition_of(self, freedom: int) -> AnyArray | None:
        """Return the independent coordinates (k,) of the partition, or None if there are not ``freedom`` of them."""
        own = self._partition
        return own if own is not None and len(own) == freedom else None

    def _note(self, t: float, names: tuple[str, ...]) -> None:
        """Record independent coordinates from a time on, s, unless they are the last ones or the motion is repeated."""
        if not self.changes or (t >= self.changes[-1].time and names != self.changes[-1].names):
            self.changes.append(Leading(t, names))


def _as_prescribed(
    closing: Closing, q: Array, qd: Array, prescribed: Sequence[Prescribed]
) -> tuple[Array, Array]:
    """Return q (nq,) and qd (nv,) with the prescribed values of independent coordinates inserted."""
    independent = set(closing.independent_rates.tolist()) if prescribed else set()
    own = [one for one in prescribed if one.rate in independent]
    if not own:
        return q, qd
    q, qd = np.array(q), np.array(qd)
    for one in own:
        qd[one.rate] = one.speed
        if one.value is not None:
            q[one.at] = one.value
    return q, qd
