"""The step loops in readable Python: for Python callables, and for every other formulation.

Same contract as the compiled loops, same trajectory; some hundred times slower.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from mbplugin.analysis.rank import rank_blocks
from mbplugin.constraints.planar import plane_columns
from mbplugin.constraints.velocity import body_twists, velocity_transformation
from mbplugin.dynamics.absolute import absolute_equations
from mbplugin.dynamics.accelerations import body_accelerations
from mbplugin.dynamics.closing import Closing, closing_conditions, minimal_accelerations
from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.formulations import solve
from mbplugin.dynamics.joint import equations_of
from mbplugin.dynamics.kernels.articulated import inward, outward
from mbplugin.dynamics.kernels.forces import gather
from mbplugin.dynamics.kernels.group import displace, increment_rate
from mbplugin.dynamics.kernels.resistance import resist
from mbplugin.dynamics.kernels.solve import constrain, row_rate
from mbplugin.errors import BadUsage
from mbplugin.mechanism.kinematics import forward
from mbplugin.mechanism.mechanism import Mechanism
from mbplugin.simulation.act import CONFIGURE, SPLIT, do
from mbplugin.simulation.integrators.contract import Chunk, make_chunk
from mbplugin.simulation.integrators.dop853 import DEGREE as DOP853_DEGREE
from mbplugin.simulation.integrators.dop853 import dop853_dense, dop853_error, dop853_step
from mbplugin.simulation.integrators.rk4 import DEGREE as RK4_DEGREE
from mbplugin.simulation.integrators.rk4 import cubic, rk4_step
from mbplugin.simulation.machine import DONE, LOOK, NOT_FINITE, RESELECT, TOO_SMALL, WEAK, Machine
from mbplugin.simulation.march import NEAR_SINGULAR, State
from mbplugin.simulation.options import Options
from mbplugin.simulation.problem import Problem
from mbplugin.simulation.projection import project_state
from mbplugin.simulation.watch import look_out
from mbplugin.spatial import AnyArray, Array

#: One step at a time: nothing is lost where a function of the user fails.
_CHUNK = 1
_SAFETY, _LARGEST, _SMALLEST = 0.9, 10.0, 0.2


class ReadableMarch:
    """The loops in Python, for one model and one set of options."""

    def __init__(self, problem: Problem, options: Options, active: Callable[[], tuple[int, ...]]) -> None:
        self._problem, self._model, self._options = problem, problem.model, options
        self._active = active
        self._closing: Closing | None = None
        self._trusted = 0.0
        self._locked_for: set[str] = set()
        self._with_locks = problem.model.mech
        self.counts = np.zeros(2)
        if options.integrator == "variational":
            raise BadUsage(
                "the variational integrator has no loop in Python",
                expected="projected formulation, joint coordinates, projection, and no Python callables",
                remedy="use integrator='rk4' or 'dop853' with these",
            )
        if options.stabilization == "baumgarte" and (options.coordinates, options.formulation) != (
            "joint",
            "projected",
        ):
            raise BadUsage(
                "Baumgarte's terms are for closing rows",
                expected="the projected formulation in joint coordinates",
            )

    def settle(self, machine: Machine, state: State) -> None:
        """Project a state and fill its accelerations."""
        self._prescribe(machine, state.t)
        if self._options.stabilization == "projection":
            project_state(machine, state.t, state.q, state.qd)
        self.evaluate(machine, state)

    def evaluate(self, machine: Machine, state: State) -> None:
        """Fill the accelerations of a state."""
        state.qdd[:] = self._accelerations(machine, state.t, state.t, state.q, state.qd)

    def advance(
        self, machine: Machine, marks: AnyArray, state: State, end: float, trusted: float, steps: int = 0
    ) -> tuple[int, Chunk, int]:
        """Take steps in place until ``end``, or a chunk; return status, samples and their number."""
        self._trusted = trusted
        adaptive = self._options.integrator == "dop853"
        degree = DOP853_DEGREE if adaptive else RK4_DEGREE
        chunk = make_chunk(steps or _CHUNK, len(state.q), len(state.qd), degree, True)
        status, kept = DONE, 0
        while kept < len(chunk.time) and end - state.t > 1e-13 * (1.0 + abs(end)):
            step = self._step_dop853 if adaptive else self._step_rk4
            taken = step(machine, state, end, chunk.dense[kept])
            if taken <= 0.0:
                return (TOO_SMALL if taken == 0.0 else WEAK), chunk, kept
            chunk.time[kept], chunk.q[kept], chunk.qd[kept] = state.t, state.q, state.qd
            chunk.qdd[kept], chunk.work[kept] = state.qdd, state.work
            kept += 1
            if not np.isfinite(state.qdd).all():
                return NOT_FINITE, chunk, kept
            if len(marks) and look_out(machine, marks, taken, state.q, state.qd):
                return LOOK, chunk, kept
            if machine.health[0] < trusted:
                return RESELECT, chunk, kept
        return status, chunk, kept

    def _step_rk4(self, machine: Machine, state: State, end: float, dense: Array) -> float:
        h = end - state.t if end - state.t < state.h * (1 + 1e-9) else state.h
        f, nv = self._derivative(machine, state), len(state.qd)
        new = rk4_step(f, state.t, h, np.concatenate((np.zeros(nv), state.qd, state.work)))
        self.counts[0] += 4
        qd, qdd = state.qd.copy(), state.qdd.copy()
        x = self._finish(machine, state, h, new)
        slope = np.empty(nv)
        increment_rate(machine.solids, x, state.qd, slope)
        cubic(h, x, qd, slope, qd, state.qd, qdd, state.qdd, dense)
        return h

    def _step_dop853(self, machine: Machine, state: State, end: float, dense: Array) -> float:
        nv, o = len(state.qd), self._options
        f, grown = self._derivative(machine, state), _LARGEST
        y = np.concatenate((np.zeros(nv), state.qd, state.work))
        first = f(state.t, y)
        healthy = machine.health[0] >= NEAR_SINGULAR * self._trusted
        state.h = min(state.h, o.largest_step)
        while True:
            last = state.h >= (end - state.t) * (1.0 - 1e-12)
            h = end - state.t if last else state.h
            if h < 1e-14 * (1.0 + abs(state.t)):
                return 0.0
            new, k = dop853_step(f, state.t, h, y, first)
            self.counts[0] += 12
            size = self._sizes(machine, state.q, y, new)
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
        self._finish(machine, state, h, new)
        if last:
            state.t = end
        return h

    def _sizes(self, machine: Machine, q: Array, y: Array, new: Array) -> Array:
        """Return what the relative tolerance is relative to: coordinates, not increments; turns to 1."""
        nv = len(machine.rates)
        place = machine.rates["coordinate"]
        x = np.abs(new[:nv])
        own = np.maximum(np.abs(q[place]), np.abs(q[place] + new[:nv]))
        return np.concatenate(
            (np.where(place >= 0, own, np.maximum(1.0, x)), np.maximum(np.abs(y[nv:-3]), np.abs(new[nv:-3])))
        )

    def _finish(self, machine: Machine, state: State, h: float, new: Array) -> Array:
        """Put a state to the end of a step and settle it; return the increment."""
        nv = len(state.qd)
        x = np.array(new[:nv])
        q = np.empty_like(state.q)
        displace(machine.solids, state.q, x, q)
        state.q[:], state.qd[:], state.work[:] = q, new[nv : 2 * nv], new[2 * nv :]
        state.t += h
        self.settle(machine, state)
        return x

    def _derivative(self, machine: Machine, state: State) -> Callable[[float, Array], Array]:
        """Return dy/dt, y stacking increment, rates and works."""
        base, begun, nv = state.q.copy(), state.t, len(state.qd)
        at, slope = np.empty_like(base), np.empty(nv)

        def f(t: float, y: Array) -> Array:
            x, qd = np.ascontiguousarray(y[:nv]), np.ascontiguousarray(y[nv : 2 * nv])
            displace(machine.solids, base, x, at)
            qdd = self._accelerations(machine, t, begun, at, qd)
            increment_rate(machine.solids, x, qd, slope)
            return np.concatenate((slope, qdd, machine.power))

        return f

    def _prescribe(self, machine: Machine, t: float) -> None:
        """Let prescribed motions given as callables be polynomials about this instant."""
        for d, (driver, _) in enumerate(self._model.table.driven):
            profile = self._options.profiles.get(driver.name)
            if profile is not None:
                value, rate, acceleration = profile(t)
                machine.stretches[d] = (d, t, (value, rate, 0.5 * acceleration, 0.0, 0.0, 0.0))

    def _accelerations(self, machine: Machine, t: float, begun: float, q: Array, qd: Array) -> Array:
        self._prescribe(machine, t)
        o = self._options
        if o.formulation == "projected" and o.redundancy == "eliminate" and o.coordinates == "joint":
            return self._projected(machine, t, begun, q, qd)
        do(machine, CONFIGURE, t, q, qd, begun)
        self._model.power[:] = 0.0
        if o.coordinates == "absolute":
            return self._absolute(machine, t, q, qd)
        rows = self._active()
        equations = equations_of(
            self._model,
            q,
            qd,
            time=t,
            degree_of_redundancy=len(rows) - len(machine.chosen),
            rows=rows,
            drive=machine.drive.copy(),
            decided=True,
        )
        if o.formulation == "closing":
            return self._closed_form(equations, q)
        solution = solve(equations, o.formulation, o.redundancy, o.dropped)
        self._model.power[2] = -float(solution.multipliers @ equations.b)
        return solution.v_dot

    def _closed_form(self, equations: Equations, q: Array) -> Array:
        """Accelerations by explicit closing conditions, whose leading joints change near a flat dyad."""
        if self._closing is None:
            self._closing = closing_conditions(self._model.mech, q)
        if self._closing.is_near_singular(q):
            self._closing = self._closing.change(q)
        return minimal_accelerations(equations, self._closing, q)

    def _projected(self, machine: Machine, t: float, begun: float, q: Array, qd: Array) -> Array:
        """As the compiled piece does it, with the controller's forces."""
        m = machine
        do(m, CONFIGURE | SPLIT, t, q, qd, begun)
        m.power[:] = 0.0
        gather(m.solids, m.rates, m.loads, m.springs, q, qd, m.power)
        resist(m.solids, m.rates, m.rows, m.terms, m.resistances, qd, m.power)
        self._model.control(t, q, qd)
        inward(m.solids, m.rates, True)
        outward(m.solids, m.rates, True)
        if len(m.chosen):
            if self._options.stabilization == "baumgarte":
                m.rows["gamma"][m.chosen] += self._baumgarte(m, m.chosen.tolist(), qd)
            constrain(m.solids, m.rates, m.rows, m.terms, m.chosen, m.Q, m.R, m.multipliers)
            m.power[2] = -float(m.multipliers @ m.rows["bias"][m.chosen])
        return np.array(m.rates["qdd"])

    def _baumgarte(self, machine: Machine, rows: list[int], qd: Array) -> Array:
        """Return −2α(C v + b) − α²Φ, critically damped within a few steps."""
        alpha = 1.0 / (10.0 * self._options.step) if self._options.step else 20.0
        rate = [row_rate(machine.solids, machine.rows, machine.terms, i, qd) for i in rows]
        gap = np.array(rate) + machine.rows["bias"][rows]
        return np.asarray(-2.0 * alpha * gap - alpha**2 * machine.rows["phi"][rows])

    def _absolute(self, machine: Machine, t: float, q: Array, qd: Array) -> Array:
        """Accelerations of the bodies, read back as those of the joints."""
        model, o = self._model, self._options
        mech = self._mechanism
        equations = absolute_equations(
            mech,
            q,
            qd,
            model.actions,
            time=t,
            planar=o.planar,
            degree_of_redundancy=self._flat_redundancy + len(self._active()) - len(machine.chosen),
        )
        Gamma, b = equations.Gamma.copy(), equations.b.copy()
        for d, (driver, freedom) in enumerate(model.table.driven):
            k = equations.labels.index((driver.name, f"{freedom}_drive"))
            Gamma[k] += model.drive[d, 2] - driver.acceleration
            b[k] = -model.drive[d, 1]
        equations = replace(equations, Gamma=Gamma, b=b)
        solution = solve(equations, o.formulation, o.redundancy, o.dropped)
        model.power[2] = -float(solution.multipliers @ b)
        poses = forward(mech, q)
        S = velocity_transformation(mech, poses)
        bias = body_accelerations(mech, poses, body_twists(mech, poses, qd), np.zeros(len(qd))).ravel()
        kept = [6 * i + c for i in range(len(mech.bodies)) for c in plane_columns(o.planar)]
        return np.asarray(np.linalg.lstsq(S[kept], solution.v_dot - bias[kept], rcond=1e-10)[0])

    @property
    def _mechanism(self) -> Mechanism:
        """The mechanism with the locks that hold now among its own."""
        names = {self._model.table.labels[i][0] for i in self._active()}
        if names != self._locked_for:
            own = self._model.mech
            later = tuple(lock for lock in self._problem.locks if lock.name in names)
            self._locked_for, self._with_locks = names, replace(own, locks=(*own.locks, *later))
        return self._with_locks

    @cached_property
    def _flat_redundancy(self) -> int:
        """What p in a plane is more (or less) than p of the rows in joint rates, which hold the plane too."""
        o, mech, q = self._options, self._model.mech, self._problem.q
        if o.planar is None:
            return 0
        flat = rank_blocks(mech, forward(mech, q), plane_columns(o.planar), o.tolerance, q)
        return sum(b.redundancy for b in flat) - self._problem.degree_of_redundancy
