"""The accelerations of a model in absolute coordinates: compiled where that does all, and in readable Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.constraints.rank import rank_blocks
from mbplugin.constraints.reduction.velocity import body_twists, velocity_transformation
from mbplugin.constraints.rows.planar import plane_columns
from mbplugin.dynamics.absolute import absolute_equations, without_mass
from mbplugin.dynamics.accelerations import body_accelerations
from mbplugin.dynamics.formulations import solve
from mbplugin.dynamics.kernels.resistance import law_of
from mbplugin.dynamics.kernels.solve import row_rate
from mbplugin.dynamics.redundancy.eliminate import ADMISSIBLE
from mbplugin.model.brake_law import BrakeLaw, rate_force
from mbplugin.model.mechanism.coupling import Lock
from mbplugin.model.mechanism.identity import RowLabel, drive_component, freedom_held
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array
from mbplugin.simulation.options import Options
from mbplugin.simulation.problem import Problem
from mbplugin.simulation.steppers.kernel_state import KernelState

if TYPE_CHECKING:
    from mbplugin.dynamics.kernels.absolute.state import AbsoluteState
    from mbplugin.simulation.steppers.evaluate_absolute import AbsoluteEvaluation


class AbsoluteAccelerations:
    """How one model accelerates, from equations in the twists of all bodies."""

    def __init__(self, problem: Problem, options: Options, active: Callable[[], tuple[int, ...]]) -> None:
        self._problem, self._model, self._options = problem, problem.model, options
        self._active = active
        self._locked_for: set[RowLabel] = set()
        self._with_locks = problem.model.mech

    def compiled(self, m: KernelState, t: float, begun: float, q: Array, qd: Array) -> Array | None:
        """Return q̈ (nv,) at q (nq,) and qd (nv,), and fill the power, in machine code.

        None where only the readable equations do: other formulations and handlings, and poses at which the rows
        that the user drops can hardly be spared.
        """
        dropped = set(self._options.dropped)
        if not self._options.projects_absolute or (dropped and len(dropped) != self._redundancy(m)):
            return None
        state = self.evaluate(m, t, begun, q, qd)
        own = state.R[np.arange(len(state.R)), state.order[: len(state.R)]]
        if dropped and len(own) and own.min() < ADMISSIBLE * own.max():
            return None
        return np.array(m.rates["qdd"])

    def evaluate(self, m: KernelState, t: float, begun: float, q: Array, qd: Array) -> AbsoluteState:
        """Fill accelerations and power at q (nq,) and qd (nv,), in machine code; return the state.

        Raises
        ------
        BrokenModel
            A body without mass.
        """
        state, place = self._state(m)
        if self._model.actions.controller is not None:
            state.applied[:] = self._model.controller_force(t, q, qd)
        # a stage of a step that is too long may overflow; the step is rejected for its error
        if not self._evaluation.at(place, t, begun, q, qd) and np.isfinite(state.M).all():
            actions, plane = replace(self._model.actions, friction=False), self._options.planar
            raise without_mass(
                self._mechanism, absolute_equations(self._mechanism, q, qd, actions, planar=plane).M
            )
        return state

    def for_loops(self, m: KernelState) -> tuple[int, int]:
        """Return the addresses of the compiled evaluation, and of what it evaluates now."""
        return self._evaluation.address, self._state(m)[1]

    def _state(self, m: KernelState) -> tuple[AbsoluteState, int]:
        """Return the state of the rows that hold, and its address."""
        dropped = [RowLabel(*row) for row in self._options.dropped]
        return self._evaluation.state(m, self._active(), self._redundancy(m), dropped)

    @cached_property
    def _evaluation(self) -> AbsoluteEvaluation:
        # few motions need it, and its kernels take a while to import
        from mbplugin.dynamics.absolute_model import absolute_model
        from mbplugin.simulation.steppers.evaluate_absolute import AbsoluteEvaluation

        problem = self._problem
        locks = (*problem.locks, *problem.held, *(d.driver for d in problem.drives))
        return AbsoluteEvaluation(absolute_model(self._model, problem.q, locks))

    def _redundancy(self, m: KernelState) -> int:
        """Return p of all rows that hold."""
        return self._flat_redundancy + len(self._active()) - len(m.independent_rows)

    def readable(self, kernel_state: KernelState, t: float, q: Array, qd: Array) -> Array:
        """Return q̈ (nv,) at q (nq,) and qd (nv,), read back from the accelerations of the bodies."""
        model, o = self._model, self._options
        mech = self._mechanism
        equations = absolute_equations(
            mech,
            q,
            qd,
            # friction slides and sticks as has been decided, not as the rates of a stage have it
            replace(model.actions, friction=False),
            time=t,
            planar=o.planar,
            degree_of_redundancy=self._redundancy(kernel_state),
            resisting=self._resisting(qd),
        )
        Gamma, b = equations.Gamma.copy(), equations.b.copy()
        for d, (driver, freedom) in enumerate(model.table.driven):
            k = equations.labels.index((driver.name, drive_component(freedom)))
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

    def _resisting(self, qd: Array) -> dict[tuple[str, str], float]:
        """Return what friction and brakes do along freedoms at qd (nv,), N and N·m, by (pair, component)."""
        model, out = self._model, {}
        rows, terms = model.table.rows, model.table.terms
        for one in model.resistances:
            pair, component = freedom_held(model.table.labels[one["row"]])
            law = law_of(one)
            if pair not in model.mech.tree.joint_of_pair and model.actions.damping:
                # dampers of closures are in the equations already
                of = model.mech.pair_by_name[pair]
                law += BrakeLaw(viscous=-of.freedoms[of.kind.free.index(component)].damping)
            rate = row_rate(model.composites, rows, terms, one["row"], qd)
            out[pair, component] = float(one["stuck"] - one["sense"] * law.sliding - rate_force(law, rate))
        return out

    @property
    def _mechanism(self) -> Mechanism:
        """The mechanism with what holds now among its own locks: locks, friction and brakes that stick."""
        labels = {self._model.table.labels[i] for i in self._active()[self._model.table.persistent :]}
        if labels != self._locked_for:
            own, names = self._model.mech, {name for name, _ in labels}
            later = [lock for lock in self._problem.locks if lock.name in names]
            known = {lock.name for lock in later}
            sticking = sorted(freedom_held(label) for label in labels if label.constraint not in known)
            later += [Lock(pair, freedoms=(component,)) for pair, component in sticking]
            self._locked_for, self._with_locks = labels, replace(own, locks=(*own.locks, *later))
        return self._with_locks

    @cached_property
    def _flat_redundancy(self) -> int:
        """What p in a plane is more (or less) than p of the rows in joint rates, which hold the plane too."""
        o, mech, q = self._options, self._model.mech, self._problem.q
        if o.planar is None:
            return 0
        flat = rank_blocks(mech, forward(mech, q), plane_columns(o.planar), o.tolerance, q)
        return sum(b.redundancy for b in flat) - self._problem.degree_of_redundancy
