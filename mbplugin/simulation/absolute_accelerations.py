"""Accelerations in absolute coordinates, compiled where possible and in readable Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numba import types

from mbplugin.constraints.rank import rank_blocks
from mbplugin.constraints.reduction import body_twists, velocity_transformation
from mbplugin.constraints.rows import plane_columns
from mbplugin.dynamics import body_accelerations
from mbplugin.dynamics.absolute import AbsoluteModel, absolute_equations, absolute_model, without_mass
from mbplugin.dynamics.compiler import (
    address_of,
    compiled,
    named_tuple,
    record_array,
    struct_loader,
    words_of,
)
from mbplugin.dynamics.formulations import ADMISSIBLE, solve
from mbplugin.dynamics.kernels.absolute import AbsoluteState, absolute_accelerations
from mbplugin.dynamics.kernels.composite_bodies import COMPOSITE, LOAD, SPRING
from mbplugin.dynamics.kernels.rows import JOINT_FRAME, ROW, TERM
from mbplugin.dynamics.kernels.solve import RESISTANCE, law_of, row_rate
from mbplugin.model import AnyArray, Array, BrakeLaw, Lock, Mechanism, forward, rate_force
from mbplugin.model.mechanism.identity import RowLabel, drive_component, freedom_held
from mbplugin.simulation.kernel_state import (
    ACCELERATE,
    FORWARD_DYNAMICS,
    INDICES,
    KERNEL_STATE,
    MATRIX,
    SIGNATURE,
    VECTOR,
    KernelState,
    evaluate_address,
    evaluate_from,
    load_struct,
)
from mbplugin.simulation.options import Options
from mbplugin.simulation.problem import Problem

#: Compiler's type of the state in absolute coordinates.
ABSOLUTE_STATE = named_tuple(
    [record_array(d) for d in (COMPOSITE, JOINT_FRAME, ROW, TERM, LOAD, SPRING, RESISTANCE)]
    + [INDICES] * 5
    + [VECTOR, INDICES, MATRIX, VECTOR, MATRIX, MATRIX, VECTOR],
    AbsoluteState,
)
_load_absolute, _load_word = struct_loader(ABSOLUTE_STATE), struct_loader(types.intp)
#: Word offsets of the address of ``evaluate``, and of the absolute state, behind the kernel state: an array takes five
#: words, and two more for each dimension.
_ADDRESS = sum(5 + 2 * kind.ndim for kind in KERNEL_STATE)
_STATE = _ADDRESS + 1


class AbsoluteAccelerations:
    """Compute the accelerations of a model from equations in the twists of all bodies."""

    def __init__(self, problem: Problem, options: Options, active: Callable[[], tuple[int, ...]]) -> None:
        self._problem, self._model, self._options = problem, problem.model, options
        self._active = active
        self._locked_for: set[RowLabel] = set()
        self._with_locks = problem.model.mech

    def compiled(self, m: KernelState, t: float, begun: float, q: Array, qd: Array) -> Array | None:
        """Return q̈ (nv,) at q (nq,) and qd (nv,) by the compiled evaluation, and fill the power.

        Return None if only the readable equations apply: for other formulations and treatments of redundancy, if the
        dropped rows are not as many as are redundant, or if the other rows are nearly dependent at this pose.
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
        """Fill accelerations and power at q (nq,) and qd (nv,) by the compiled evaluation; return its state.

        Raises
        ------
        BrokenModel
            A body without mass.
        """
        state, place = self._state(m)
        if self._model.actions.controller is not None:
            state.applied[:] = self._model.controller_force(t, q, qd)
        # a stage of a too long step may overflow; the step is then rejected for its error
        if not self._evaluation.at(place, t, begun, q, qd) and np.isfinite(state.M).all():
            actions, plane = replace(self._model.actions, friction=False), self._options.planar
            raise without_mass(
                self._mechanism, absolute_equations(self._mechanism, q, qd, actions, planar=plane).M
            )
        return state

    def for_loops(self, m: KernelState) -> tuple[int, int]:
        """Return the addresses of the compiled evaluation and of its present state."""
        return self._evaluation.address, self._state(m)[1]

    def _state(self, m: KernelState) -> tuple[AbsoluteState, int]:
        """Return the state for the rows in force, and its address."""
        dropped = [RowLabel(*row) for row in self._options.dropped]
        return self._evaluation.state(m, self._active(), self._redundancy(m), dropped)

    @cached_property
    def _evaluation(self) -> AbsoluteEvaluation:
        # few motions need it, and its kernels are slow to import

        problem = self._problem
        locks = (*problem.locks, *problem.held, *(d.driver for d in problem.drives))
        return AbsoluteEvaluation(absolute_model(self._model, problem.q, locks))

    def _redundancy(self, m: KernelState) -> int:
        """Return p of all rows in force."""
        return self._flat_redundancy + len(self._active()) - len(m.independent_rows)

    def readable(self, kernel_state: KernelState, t: float, q: Array, qd: Array) -> Array:
        """Return q̈ (nv,) at q (nq,) and qd (nv,), computed back from the accelerations of the bodies."""
        model, o = self._model, self._options
        mech = self._mechanism
        equations = absolute_equations(
            mech,
            q,
            qd,
            # stick and slip are as decided before, not as the rates of a stage suggest
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
        """Return the forces of friction and brakes along freedoms at qd (nv,), N and N·m, by (pair, component)."""
        model, out = self._model, {}
        rows, terms = model.table.rows, model.table.terms
        for one in model.resistances:
            pair, component = freedom_held(model.table.labels[one["row"]])
            law = law_of(one)
            if pair not in model.mech.tree.joint_of_pair and model.actions.damping:
                # the equations already contain the dampers of closures
                of = model.mech.pair_by_name[pair]
                law += BrakeLaw(viscous=-of.freedoms[of.kind.free.index(component)].damping)
            rate = row_rate(model.composites, rows, terms, one["row"], qd)
            out[pair, component] = float(one["stuck"] - one["sense"] * law.sliding - rate_force(law, rate))
        return out

    @property
    def _mechanism(self) -> Mechanism:
        """The mechanism with locks for the present locks and for sticking friction and brakes."""
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
        """Difference between p in a plane and p of the rows in joint rates, which also keep the plane."""
        o, mech, q = self._options, self._model.mech, self._problem.q
        if o.planar is None:
            return 0
        flat = rank_blocks(mech, forward(mech, q), plane_columns(o.planar), o.tolerance, q)
        return sum(b.redundancy for b in flat) - self._problem.degree_of_redundancy


# ``evaluate`` in absolute coordinates, called like that of the tree by the same loops.
#
# It is compiled when a motion in absolute coordinates first needs it.


def evaluate_absolute(place: int, what: int, t: float, begun: float, q: Array, qd: Array) -> bool:
    """Evaluate at q (nq,) and qd (nv,) as :func:`evaluate`, but accelerations and power in absolute coordinates.

    Rows and their multipliers remain those of the tree, for events and the choice of rows.
    """
    m, a = load_struct(place), _load_absolute(place + 8 * _STATE)
    evaluate = evaluate_from(_load_word(place + 8 * _ADDRESS))
    if not what & ACCELERATE:
        return bool(evaluate(place, what, t, begun, q, qd))
    # sticking joints are watched by their multipliers, which the tree computes
    of_tree = what if len(m.resistances) else what & ~ACCELERATE
    regular = not of_tree or evaluate(place, of_tree, t, begun, q, qd)
    m.power[0] = m.power[1] = m.power[2] = 0.0
    known = absolute_accelerations(a, m.composites, m.rates, m.resistances, m.drive, q, qd, m.power)
    return bool(regular and known)


class AbsoluteEvaluation:
    """``evaluate_absolute`` of one model, with its cached state.

    Parameters
    ----------
    model : AbsoluteModel
    """

    def __init__(self, model: AbsoluteModel) -> None:
        self._model = model
        #: Kernel state, active rows and p for which the state was made; the state; the words of both states.
        self._known: tuple[KernelState, tuple[int, ...], int, AbsoluteState, AnyArray] | None = None

    def state(
        self, m: KernelState, active: tuple[int, ...], p: int, dropped: Sequence[RowLabel] = ()
    ) -> tuple[AbsoluteState, int]:
        """Return the state with rows ``active`` of the tree in force, p of all rows redundant, and its address."""
        known = self._known
        if known is None or known[0] is not m or known[1:3] != (active, p):
            state = self._model.holding(active, p, dropped)
            words = np.array([*words_of(m), evaluate_address(), *words_of(state)], dtype=np.int64)
            known = self._known = (m, active, p, state, words)
        return known[3], known[4].ctypes.data

    @property
    def address(self) -> int:
        """Address of the compiled evaluation, for loops."""
        return absolute_address()

    def at(self, place: int, t: float, begun: float, q: Array, qd: Array) -> bool:
        """Fill accelerations and power at q (nq,) and qd (nv,); return True if every body has mass.

        ``place`` is the address of a state, from :meth:`state`.
        """
        return bool(compiled_evaluate_absolute()(place, FORWARD_DYNAMICS, t, begun, q, qd))


@lru_cache(maxsize=1)
def compiled_evaluate_absolute() -> Any:
    """Return the compiled ``evaluate_absolute``."""
    return compiled(evaluate_absolute, SIGNATURE, address=True)


@lru_cache(maxsize=1)
def absolute_address() -> int:
    """Return the address of the compiled ``evaluate_absolute``, for loops."""
    return address_of(compiled_evaluate_absolute(), SIGNATURE)
