"""Explicit closing conditions: dependent coordinates, rates and accelerations from independent ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

import numpy as np
import scipy.linalg

from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.dynamics.explicit_closure.newton import (
    ClosingRows,
    Layout,
    NewtonStep,
    closing_rows,
    layout,
    measured,
    with_cut,
)
from mbplugin.dynamics.explicit_closure.partition import Step, partition, tied_rates
from mbplugin.dynamics.formulations import Equations, Solution, solve
from mbplugin.errors import BadNumber, BadUsage, CannotClose, UnknownName, suggestion
from mbplugin.model import AnyArray, Array, Coupling, Driver, Mechanism, Pair, pivots

#: A dyad counts as nearly flat below this sine.
NEARLY_FLAT = 0.1
#: Largest change of coordinates per stage of Newton iterations, rad or m, so that they stay on the branch.
_FOLLOWED = 0.2


# Minimal equations of motion in the independent coordinates of closing conditions.


def minimal_accelerations(equations: Equations, closing: Closing, q: Array) -> Array:
    """Return q̈ (nv,) from AᵀM A q̈_I = Aᵀ(F − M ξ) + (C A)ᵀλ (blajer1993 (12)–(14)).

    λ are the multipliers of the rows that no closing condition replaces: drivers, locks, wheels.

    Parameters
    ----------
    equations : Equations
        In joint coordinates, at the state (q, q̇).
    q : (nq,) array
        A closed pose.

    Raises
    ------
    BadUsage
        The equations are in absolute coordinates.
    """
    return minimal_solution(equations, closing, q).v_dot


def minimal_solution(equations: Equations, closing: Closing, q: Array) -> Solution:
    """Return q̈ (nv,), and multipliers (m,) that are zero in the rows of closing conditions, at a closed q (nq,).

    Raises
    ------
    BadUsage
        The equations are in absolute coordinates.
    """
    if equations.coordinates != "joint":
        raise BadUsage(
            "closing conditions are between joint coordinates",
            expected="equations in joint coordinates",
        )
    here = closing.at(q)
    xi = here.xi(equations.v)
    others = other_rows(equations, closing)
    reduced = solve(minimal_equations(equations, closing, here, xi, others))
    multipliers = np.zeros(len(equations.C))
    multipliers[others] = reduced.multipliers
    return Solution(here.A @ reduced.v_dot + xi, multipliers)


def other_rows(equations: Equations, closing: Closing) -> AnyArray:
    """Return the rows (k,) of equations that no closing condition replaces."""
    own = {c.name for c in closing.rows.closings}
    return np.array([k for k, (name, _) in enumerate(equations.labels) if name not in own], dtype=int)


def minimal_equations(
    equations: Equations, closing: Closing, here: ClosedPose, xi: Array, others: AnyArray
) -> Equations:
    """Return the equations of motion in the independent rates, with the remaining rows ``others`` (k,).

    ``xi`` (nv,) is ξ of this state. The rank of the remaining rows is that of all rows minus the number of
    dependent rates.
    """
    A, chosen = here.A, closing.independent_rates
    M = A.T @ equations.M @ A
    factor = scipy.linalg.cho_factor(M)
    rank = equations.rank - (len(equations.v) - len(chosen))
    return replace(
        equations,
        labels=tuple(equations.labels[k] for k in others),
        v=equations.v[chosen],
        M=M,
        F=A.T @ (equations.F - equations.M @ xi),
        C=equations.C[others] @ A,
        b=equations.b[others],
        Gamma=equations.Gamma[others] - equations.C[others] @ xi,
        row_scale=equations.row_scale[others],
        column_scale=equations.column_scale[chosen],
        degree_of_redundancy=len(others) - min(max(rank, 0), len(others)),
        solver=lambda rhs: np.asarray(scipy.linalg.cho_solve(factor, rhs)),
    )


def closing_equations(equations: Equations, closing: Closing) -> Equations:
    """Return the equations of motion with only the rows of closing conditions."""
    kept = np.setdiff1d(np.arange(len(equations.C)), other_rows(equations, closing))
    return replace(
        equations,
        labels=tuple(equations.labels[k] for k in kept),
        C=equations.C[kept],
        b=equations.b[kept],
        Gamma=equations.Gamma[kept],
        row_scale=equations.row_scale[kept],
        degree_of_redundancy=len(kept) - (len(equations.v) - len(closing.independent_rates)),
    )


@dataclass(frozen=True, eq=False)
class Closing:
    """The closing conditions q_D = g(q_I) of a mechanism on one branch (blajer1993 (5)–(7)).

    Parameters
    ----------
    steps : tuple
        One per dyad, coupling or set of loops without a closed form, in the order of solution; each has
        ``kind``, ``joints``, ``branch`` and ``reason``.
    rows : ClosingRows
        Rows of all closures and couplings; used only for residuals if every step is explicit.
    q : (nq,) array
        The pose that selected the branches.
    """

    layout: Layout
    steps: tuple[Step, ...]
    rows: ClosingRows
    q: Array

    @property
    def explicit(self) -> bool:
        """True if every step has a closed form."""
        return not any(isinstance(step, NewtonStep) for step in self.steps)

    @property
    def may_be_explicit(self) -> bool:
        """True if every loop may have a closed form for some choice of independent coordinates."""
        return not any(isinstance(step, NewtonStep) and step.spatial for step in self.steps)

    @cached_property
    def independent_rates(self) -> AnyArray:
        """Indices (k,) of the independent rates among ``qd_names``."""
        dependent = {rate for step in self.steps for rate in step.dependent}
        return np.array([k for k in range(self.layout.nv) if k not in dependent], dtype=int)

    @cached_property
    def independent_coordinates(self) -> AnyArray:
        """Indices of the independent coordinates among ``q_names``, (k,) where no joint has a quaternion."""
        return self.layout.coordinates(self.independent_rates)

    @property
    def independent(self) -> tuple[str, ...]:
        """Names of the independent rates."""
        return tuple(self.layout.mech.qd_names[k] for k in self.independent_rates)

    @property
    def dependent(self) -> tuple[str, ...]:
        """Names of the dependent rates."""
        return tuple(name for name in self.layout.mech.qd_names if name not in self.independent)

    @property
    def branch(self) -> tuple[int, ...]:
        """±1 per step, 0 for a step with one solution or with Newton iterations."""
        return tuple(step.branch for step in self.steps)

    @cached_property
    def driven(self) -> tuple[DrivenRate, ...]:
        """Independent rates driven by drivers of the mechanism."""
        return driven_rates(self.layout, set(self.independent_rates.tolist()))

    def g(self, q_I: Array, near: Array | None = None, time: float | None = None) -> Array:
        """Return all joint coordinates (nq,) for the independent ones (blajer1993 (5)).

        Parameters
        ----------
        q_I : (k,) array
            In the order of ``independent_coordinates``, rad and m.
        near : (nq,) array, optional
            The previous pose. Angles are in the turn nearest to it, and Newton iterations start from it;
            the default is the pose that selected the branches.
        time : float, optional
            s; the ``driven`` coordinates then take the values of their drivers.

        Raises
        ------
        CannotClose
            The independent coordinates are out of reach.
        """
        own = np.array(q_I, dtype=float)
        for driven in self.driven if time is not None else ():
            own[self.independent_coordinates == driven.at] = driven.driver.at(time or 0.0)[0]
        return self._closed(own, near)[: self.layout.nq]

    def at(self, q: Array) -> ClosedPose:
        """Return the closing conditions at the independent coordinates of a pose q (nq,)."""
        y = self._closed(q[self.independent_coordinates], q)
        A = np.zeros((self.layout.nv + self.layout.cut_size, len(self.independent_rates)))
        A[self.independent_rates, np.arange(A.shape[1])] = 1.0
        slopes = []
        for step in self.steps:
            slopes.append(step.slope(y))
            A[list(step.dependent)] = slopes[-1] @ A[list(step.known)]
        return ClosedPose(self, y, A, tuple(slopes))

    def A(self, q: Array) -> Array:
        """Return A (nv, k) at q (nq,) with q̇ = A q̇_I, identity in the independent rows (blajer1993 (6))."""
        return self.at(q).A

    def eta(self, q: Array, time: float) -> Array:
        """Return η (nv,) at q (nq,) and a time (s): the rates of all joints if only the drivers move (blajer1993 (6)).

        q̇ = A q̇_I + η, with the columns of A of rates that are not driven.
        """
        rates = np.zeros(self.layout.nv)
        for driven in self.driven:
            rates[driven.rate] = driven.driver.at(time)[1]
        return self.at(q).A @ rates[self.independent_rates]

    def xi(self, q: Array, qd: Array, time: float | None = None) -> Array:
        """Return ξ (nv,) at q (nq,) and qd (nv,) with q̈ = A q̈_I + ξ, zero in the independent rows (blajer1993 (7)).

        With a ``time`` (s), it includes the accelerations of the ``driven`` rates, whose columns of A are left out.
        """
        here, own = self.at(q), np.zeros(self.layout.nv)
        for driven in self.driven if time is not None else ():
            own[driven.rate] = driven.driver.at(time or 0.0)[2]
        return here.A @ own[self.independent_rates] + here.xi(qd)

    def margin(self, q: Array) -> float:
        """Return the distance of the worst step from singularity at the independent coordinates of q (nq,), 0 … 1."""
        try:
            y = self._closed(q[self.independent_coordinates], q)
        except CannotClose:
            return 0.0
        return min((step.margin(y) for step in self.steps), default=1.0)

    def is_near_singular(self, q: Array, below: float = NEARLY_FLAT) -> bool:
        """Return True if other independent coordinates should be chosen at q (nq,)."""
        return self.margin(q) < below

    def on_branch_of(self, q: Array) -> Closing:
        """Return the closing conditions on the branch nearest to a pose q (nq,).

        Only steps that are nearly flat there can have changed branch: two assemblies meet where a dyad is
        flat, and a motion through such a pose may continue on the other one.
        """
        y, steps = with_cut(self.layout, q), []
        for step in self.steps:
            own = step.closed(y)
            for other in step.alternatives() if step.margin(own) < NEARLY_FLAT else ():
                there = other.closed(y)
                if np.abs(there - y).max() < np.abs(own - y).max():
                    step, own = other, there
            steps.append(step)
            y = own
        return replace(self, steps=tuple(steps))

    def change(self, q: Array, projections: Array | None = None, prescribed: Sequence[int] = ()) -> Closing:
        """Return the closing conditions in other independent coordinates at a pose q (nq,), on its branch.

        The coordinates have the largest projective criterion, from ``projections`` (k, nv) of
        :func:`mbplugin.dynamics.formulations.tangents`; without projections they are those that move most.
        ``prescribed`` rates come first. The motion does not jump, since q, q̇ and q̈ are known in all coordinates.
        """
        return closing_conditions(self.layout.mech, q, projections=projections, prescribed=prescribed)

    def residuals(self, q: Array) -> dict[str, float]:
        """Return the position residual of each closure and coupling in space at a pose q (nq,), m."""
        return self.rows.residuals(q)

    def _closed(self, q_I: Array, near: Array | None) -> Array:
        """Return y (nq + c,) closed at the independent coordinates q_I (k,), from a pose near (nq,), rad and m."""
        at = self.independent_coordinates
        if q_I.shape != at.shape or not np.isfinite(q_I).all():
            names = ", ".join(self.layout.mech.q_names[k] for k in at)
            raise BadNumber(
                f"the independent coordinates are {q_I.size} numbers", expected=f"finite values of {names}"
            )
        y = with_cut(self.layout, self.q if near is None else near)
        start = y[at]
        away = float(np.abs(q_I - start).max(initial=0.0))
        stages = 1 if self.explicit else max(1, ceil(away / _FOLLOWED))
        for stage in range(1, stages + 1):
            y[at] = q_I if stage == stages else start + (q_I - start) * stage / stages
            for step in self.steps:
                y = step.closed(y)
        return y


def closing_conditions(
    mech: Mechanism,
    q: Array,
    independent: Sequence[str] | None = None,
    *,
    projections: Array | None = None,
    prescribed: Sequence[int] = (),
) -> Closing:
    """Return explicit closing conditions of all loops and couplings (blajer1993 (5)–(7)).

    Planar loops are split into dyads and some spatial loops have a closed form; the others are closed by
    Newton iterations, with the reason in ``Closing.steps``. Drivers, locks and Pfaffian constraints are not
    closing conditions and are ignored.

    Parameters
    ----------
    q : (nq,) array
        A closed pose, which selects the branches.
    independent : sequence of str, optional
        Independent rates (of ``qd_names``) inside loops; those outside loops are always independent. The
        default selects the ones that move most at q.
    projections : (k, nv) array, optional
        The rates projected on the allowed motions, in the metric of the masses: the default then selects
        those with the largest projective criterion instead (blajer1994 (23a)).
    prescribed : sequence of int
        Rates (among ``qd_names``) that are functions of time, or zero: the default selects them first.

    Raises
    ------
    UnknownName
        An independent rate does not exist.
    BadUsage
        Too few or too many independent rates.
    """
    place = layout(mech)
    closings: list[Pair | Coupling] = [*(pair for pair in mech.tree.cut if pair.kind.constrained)]
    closings += mech.couplings
    rows = closing_rows(mech, closings, q)
    tied = sorted(set().union(*(tied_rates(place, closing) for closing in closings)))
    pose = np.array(q, dtype=float)
    pose.setflags(write=False)

    def closing(first: list[int], stated: bool) -> Closing:
        steps = partition(place, measured(place, pose), closings, first, stated=stated)
        return Closing(place, steps, rows, pose)

    mobile = mobile_rates(rows, pose) if projections is None else projections.T
    if independent is not None:
        return closing(_stated(mech, independent, tied, mobile), True)
    return _best(closing(first, False) for first in orders(place, mobile, tied, prescribed)) or closing(
        [], False
    )


def _best(candidates: Iterator[Closing]) -> Closing | None:
    """Return the first candidate in closed form that is not nearly singular, or the best of all."""
    best, score = None, (False, False, -1.0)
    for candidate in candidates:
        margin = candidate.margin(candidate.q)
        own = (margin >= NEARLY_FLAT, candidate.explicit, margin)
        if own > score:
            best, score = candidate, own
        # a loop without any closed form needs Newton iterations with every choice
        if own[0] and (candidate.explicit or not candidate.may_be_explicit):
            break
    return best


def _stated(mech: Mechanism, names: Sequence[str], tied: list[int], mobile: Array) -> list[int]:
    """Return the stated independent rates inside loops; ``mobile`` (nv, f) as from :func:`mobile_rates`."""
    for name in names:
        if name not in mech.qd_names:
            raise UnknownName(f"no joint rate is called {name!r}", remedy=suggestion(name, mech.qd_names))
    chosen = [rate for rate in map(mech.qd_names.index, names) if rate in tied]
    freedom = mobile.shape[1] - (len(mech.qd_names) - len(tied))
    if len(set(chosen)) > freedom:
        raise BadUsage(
            f"{len(set(chosen))} joints inside loops are to be independent",
            expected=f"at most {freedom}, the freedom of the loops",
        )
    return chosen


# Closing conditions at one pose: the matrix A and the vector ξ.


@dataclass(frozen=True, eq=False)
class ClosedPose:
    """Closing conditions at one pose.

    Parameters
    ----------
    y : array
        Coordinates of the tree, followed by those of the cut pairs.
    A_all : (rates, k) array
        Rates of the tree and of the cut pairs per independent rate.
    slopes : tuple of array
        Slope of each step.
    """

    closing: Closing
    y: Array
    A_all: Array
    slopes: tuple[Array, ...]

    @property
    def q(self) -> Array:
        """The closed joint coordinates (nq,)."""
        return self.y[: self.closing.layout.nq]

    @property
    def A(self) -> Array:
        """A (nv, k) with q̇ = A q̇_I."""
        return self.A_all[: self.closing.layout.nv]

    def xi(self, qd: Array) -> Array:
        """Return ξ (nv,) at joint rates qd (nv,), of which only the independent ones are used."""
        yd = self.A_all @ qd[self.closing.independent_rates]
        xi = np.zeros(len(yd))
        for step, slope in zip(self.closing.steps, self.slopes, strict=True):
            xi[list(step.dependent)] = slope @ xi[list(step.known)] + step.bias(self.y, yd)
        return xi[: self.closing.layout.nv]


# Rheonomic closing conditions: independent coordinates prescribed by drivers as functions of time.


@dataclass(frozen=True)
class DrivenRate:
    """A driven rate.

    Parameters
    ----------
    rate, at : int
        Its index among ``qd_names``, and that of its coordinate among ``q_names``.
    """

    driver: Driver
    rate: int
    at: int


def driven_rates(layout: Layout, among: Collection[int]) -> tuple[DrivenRate, ...]:
    """Return the driven rates ``among`` those given; drivers of cut pairs have no rate in the tree."""
    found: dict[int, DrivenRate] = {}
    for driver in layout.mech.drivers:
        if driver.joint not in layout.places or layout.is_cut(driver.joint):
            continue
        at, rate = layout.places[driver.joint]
        free = layout.mech.pair_by_name[driver.joint].kind.free
        for freedom in driver.freedoms or free:
            k = free.index(freedom)
            if rate + k in among:
                found[rate + k] = DrivenRate(driver, rate + k, at + k)
    return tuple(found.values())


# Choice of independent joint rates: those that move most when the mechanism moves.


def mobile_rates(rows: ClosingRows, q: Array) -> Array:
    """Return a basis (nv, f) of the rates that leave all loops closed at a pose q (nq,).

    Rates of sliders are in characteristic lengths per second, so that the basis is dimensionless.
    """
    J, _ = rows.linearise(q)
    J = J * rows.units
    if not J.size:
        return np.eye(J.shape[1])
    _, sigma, Vt = np.linalg.svd(J)
    return np.asarray(Vt[int((sigma > DEFAULT_TOLERANCE * sigma[0]).sum()) :].T)


def orders(
    layout: Layout, mobile: Array, tied: list[int], prescribed: Sequence[int] = ()
) -> Iterator[list[int]]:
    """Yield orders of independent rates inside loops: best first, then with every other rate first in turn.

    ``mobile`` (nv, f) is a basis from :func:`mobile_rates`. With the rates that move most, the loops need not split
    into dyads, so others are tried. ``prescribed`` rates, which are functions of time, come first, as many as are
    independent; finally orders without this preference follow, since these may be at a dead centre.
    """
    plain = sorted(set(tied) & _plain_rates(layout))
    if not plain or not mobile.shape[1]:
        return
    motion = mobile[plain].T
    first, left = _taken_out(motion, [plain.index(rate) for rate in prescribed if rate in plain])
    for front, rest in ((first, left), ([], motion)) if first else (([], motion),):
        for behind in _best_first(rest, front):
            yield [plain[k] for k in (*front, *behind)]


def _best_first(motion: Array, taken: Sequence[int]) -> Iterator[list[int]]:
    """Yield independent columns of motion (f, k): best first, then with every other column first in turn."""
    best = _pivots(motion)
    # all motion may be outside the loops, or prescribed
    if not best:
        if taken:
            yield []
        return
    yield best
    size = np.linalg.norm(motion, axis=0)
    for k in np.argsort(-size, kind="stable").tolist():
        if k != best[0] and size[k] > DEFAULT_TOLERANCE * size[best[0]]:
            _, left = _taken_out(motion, [k])
            yield [k, *(n for n in _pivots(left) if n != k)]


def _taken_out(motion: Array, columns: Sequence[int]) -> tuple[list[int], Array]:
    """Return the independent ones among ``columns``, in order, and motion (f, k) with their span projected out."""
    size, taken, left = np.linalg.norm(motion, axis=0), [], motion
    for k in columns:
        along = left[:, k]
        if (length := float(np.linalg.norm(along))) > DEFAULT_TOLERANCE * size.max():
            left = left - np.outer(along, along @ left) / length**2
            taken.append(k)
    return taken, left


def _pivots(motion: Array) -> list[int]:
    """Return the pivot columns of motion (f, k) by pivoted QR, as many as its rank."""
    sizes, order = pivots(motion)
    return [int(k) for k in order[: int((sizes > DEFAULT_TOLERANCE).sum())]]


def _plain_rates(layout: Layout) -> set[int]:
    """Return the rates that are derivatives of one coordinate each."""
    return {
        joint.qd.start + k
        for joint in layout.mech.tree.joints
        if joint.pair is not None and joint.pair.name in layout.places
        for k in range(joint.qd.stop - joint.qd.start)
    }
