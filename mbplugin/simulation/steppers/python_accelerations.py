"""The accelerations of a model at a state in readable Python, by every formulation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.explicit_closure.minimal import minimal_solution
from mbplugin.dynamics.formulations import solve
from mbplugin.dynamics.joint import equations_of
from mbplugin.dynamics.kernels.articulated import inward, outward
from mbplugin.dynamics.kernels.forces import gather
from mbplugin.dynamics.kernels.resistance import resist
from mbplugin.dynamics.kernels.rows import RATE
from mbplugin.dynamics.kernels.solve import constrain, row_rate
from mbplugin.model.spatial import Array
from mbplugin.simulation.active_set.load_friction import LoadFriction
from mbplugin.simulation.active_set.multipliers import Handling
from mbplugin.simulation.options import Options, breaks_of
from mbplugin.simulation.problem import Problem
from mbplugin.simulation.steppers.absolute_accelerations import AbsoluteAccelerations
from mbplugin.simulation.steppers.evaluate import FACTORIZE, KINEMATICS, evaluate_at
from mbplugin.simulation.steppers.evaluate import prescribe as prescribe_drives
from mbplugin.simulation.steppers.kernel_state import KernelState
from mbplugin.simulation.steppers.leading import LeadingCoordinates, Prescribed

#: How far beside a break a prescribed motion is asked, relative to 1 s and the time.
_BESIDE = 1e-12


class Accelerations:
    """How one model accelerates, by the chosen formulation."""

    def __init__(
        self, problem: Problem, options: Options, active: Callable[[], tuple[int, ...]], by_load: LoadFriction
    ) -> None:
        self.by_load = by_load
        self._handling = Handling(options.redundancy)
        self._problem, self._model, self._options = problem, problem.model, options
        self._active = active
        #: Who leads, for formulations that have independent coordinates.
        self.leading = LeadingCoordinates(problem.model.mech)
        self._absolute = AbsoluteAccelerations(problem, options, active)

    def prescribe(self, kernel_state: KernelState, t: float, begun: float) -> None:
        """Let prescribed motions given as callables be polynomials about this instant of a step.

        At a break it is those of the side on which the step has begun.
        """
        for d, (driver, _) in enumerate(self._model.table.driven):
            profile = self._options.profiles.get(driver.name)
            if profile is not None:
                at = _on_one_side(breaks_of(profile), t, begun)
                value, rate, acceleration = profile(at)
                # a driver that a callable leads has one segment
                own = int(np.argmax(kernel_state.motion_segments["drive"] == d))
                kernel_state.motion_segments[own] = (d, at, (value, rate, 0.5 * acceleration, 0.0, 0.0, 0.0))

    def at(self, kernel_state: KernelState, t: float, begun: float, q: Array, qd: Array) -> Array:
        """Return q̈ (nv,) at a state q (nq,), qd (nv,) of a step begun at a time; fill multipliers and power."""
        self.prescribe(kernel_state, t, begun)
        o = self._options
        if o.projects_independent_rows:
            return self._projected(kernel_state, t, begun, q, qd)
        if o.formulation == "closing":
            q, qd = self.close(kernel_state, t, begun, q, qd)
        if self.by_load:
            # sliding parts that go with the state, for whichever equations follow
            self._projected(kernel_state, t, begun, q, qd)
        if o.coordinates == "absolute":
            qdd = self._absolute.compiled(kernel_state, t, begun, q, qd)
            if qdd is not None:
                return qdd
        # the decomposition says how near a singular pose is
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
        """Return the closed state (nq,), (nv,) at a time (s) of a step begun at one, from q (nq,) and qd (nv,)."""
        prescribe_drives(kernel_state.motion_segments, kernel_state.drive, t, begun)
        return self.leading.close(q, qd, self._prescribed(kernel_state))

    def _prescribed(self, kernel_state: KernelState) -> tuple[Prescribed, ...]:
        """Return the joint rates that drivers lead now, and those that locks and stiction hold at zero."""
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
        """Choose who leads from the end of a step, at a time (s) and a state q (nq,), qd (nv,)."""
        evaluate_at(kernel_state, KINEMATICS, t, q, qd, begun)
        equations = self._equations(kernel_state, t, q, qd)
        if self._options.formulation == "closing":
            self.leading.choose(equations, t, q, self._prescribed(kernel_state))
        else:
            self.leading.choose_partition(equations, t)

    def _equations(self, kernel_state: KernelState, t: float, q: Array, qd: Array) -> Equations:
        """Return the equations of motion in joint coordinates at a state q (nq,), qd (nv,), evaluated before."""
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
        """Fill accelerations, multipliers and power of the kernel state, for every formulation; q (nq,), qd (nv,)."""
        self.prescribe(kernel_state, t, begun)
        self._projected(kernel_state, t, begun, q, qd)

    def _count_power(self, m: KernelState, t: float, q: Array, qd: Array) -> None:
        """Fill the power of dampers, friction and applied forces at q (nq,) and qd (nv,); no coordinates change it."""
        gather(m.composites, m.rates, m.loads, m.springs, q, qd, m.power)
        resist(m.composites, m.rates, m.rows, m.terms, m.resistances, qd, m.power)
        self._model.control(t, q, qd)

    def _projected(self, kernel_state: KernelState, t: float, begun: float, q: Array, qd: Array) -> Array:
        """Return q̈ (nv,) at q (nq,) and qd (nv,), friction being that of the loads which they cause."""
        if not self.by_load or self.by_load.frozen:
            return self._with_friction(kernel_state, t, begun, q, qd)
        for _ in self.by_load.passes():
            qdd = self._with_friction(kernel_state, t, begun, q, qd)
            multipliers = self._multipliers(kernel_state, t, q, qd, qdd)
            evaluate_at(kernel_state, KINEMATICS, t, q, qd, begun)
            self._count_power(kernel_state, t, q, qd)
            self.by_load.follow(qdd, multipliers)
        # what the loads were read from has been used up
        return self._with_friction(kernel_state, t, begun, q, qd)

    def _multipliers(self, kernel_state: KernelState, t: float, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the multipliers (m,) of all rows for accelerations qdd (nv,) at q (nq,) and qd (nv,), N and N·m,
        redundant rows being handled as the options say."""
        out = np.zeros(len(self._model.table.rows))
        if self._options.redundancy == "eliminate":
            held = kernel_state.independent_rows
            out[held] = kernel_state.multipliers[: len(held)]
        else:
            equations = self._equations(kernel_state, t, q, qd)
            out[list(self._active())] = self._handling.multipliers(equations, qdd)
        return out

    def _with_friction(self, kernel_state: KernelState, t: float, begun: float, q: Array, qd: Array) -> Array:
        """Return q̈ (nv,) at q (nq,) and qd (nv,) as the compiled piece does, with the controller's forces."""
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
        """Return −2α(C v + b) − α²Φ of some rows, (k,), at qd (nv,), critically damped within a few steps."""
        alpha = 1.0 / (10.0 * self._options.step) if self._options.step else 20.0
        rate = [row_rate(kernel_state.composites, kernel_state.rows, kernel_state.terms, i, qd) for i in rows]
        gap = np.array(rate) + kernel_state.rows["bias"][rows]
        return np.asarray(-2.0 * alpha * gap - alpha**2 * kernel_state.rows["phi"][rows])


def _on_one_side(breaks: tuple[float, ...], t: float, begun: float) -> float:
    """Return an instant between the same breaks as the start of a step, at t or just beside it."""
    for time in breaks:
        beside = _BESIDE * (1.0 + abs(time))
        if time > begun + beside:
            return min(t, time - beside)
        t = max(t, time + beside)
    return t
