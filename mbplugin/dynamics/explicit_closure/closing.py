"""Explicit closing conditions: dependent coordinates, rates and accelerations from independent ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

import numpy as np

from mbplugin.dynamics.explicit_closure.choice import mobile_rates, orders
from mbplugin.dynamics.explicit_closure.closed_pose import ClosedPose
from mbplugin.dynamics.explicit_closure.driven import Led, led_rates
from mbplugin.dynamics.explicit_closure.layout import Layout, layout, measured, with_cut
from mbplugin.dynamics.explicit_closure.newton import NewtonStep
from mbplugin.dynamics.explicit_closure.partition import Step, partition, tied_rates
from mbplugin.dynamics.explicit_closure.rows import ClosingRows, closing_rows
from mbplugin.errors import BadNumber, BadUsage, CannotClose, UnknownName, suggestion
from mbplugin.model.mechanism.coupling import Coupling
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import AnyArray, Array

#: Below this sine a dyad counts as nearly flat.
NEARLY_FLAT = 0.1
#: Newton's steps follow the motion in steps of at most this size, rad or m, to keep the branch.
_FOLLOWED = 0.2


@dataclass(frozen=True, eq=False)
class Closing:
    """The closing conditions q_D = g(q_I) of a mechanism on one branch (blajer1993 (5)–(7)).

    Parameters
    ----------
    steps : tuple
        One per dyad, coupling or set of loops without a closed form, in the order in which they are
        solved; each has ``kind``, ``joints``, ``branch`` and ``reason``.
    rows : ClosingRows
        Of all closures and couplings; nothing but residuals is read from them where every step is
        explicit.
    q : (nq,) array
        The pose that selected the branches.
    """

    layout: Layout
    steps: tuple[Step, ...]
    rows: ClosingRows
    q: Array

    @property
    def explicit(self) -> bool:
        """Whether every step has a closed form."""
        return not any(isinstance(step, NewtonStep) for step in self.steps)

    @property
    def all_planar(self) -> bool:
        """Whether every loop is planar, so that some choice of coordinates may have a closed form."""
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
        """±1 per step, 0 where a step has one solution or follows the motion."""
        return tuple(step.branch for step in self.steps)

    @cached_property
    def led(self) -> tuple[Led, ...]:
        """The independent rates that drivers of the mechanism lead."""
        return led_rates(self.layout, set(self.independent_rates.tolist()))

    def g(self, q_I: Array, near: Array | None = None, time: float | None = None) -> Array:
        """Return all joint coordinates (nq,) for the independent ones (blajer1993 (5)).

        Parameters
        ----------
        q_I : (k,) array
            In the order of ``independent_coordinates``, rad and m.
        near : (nq,) array, optional
            The pose before. Angles are given in the turn nearest to it, and loops without a closed
            form are followed from it; the default is the pose that selected the branches.
        time : float, optional
            s; the coordinates that are ``led`` are then those of their drivers.

        Raises
        ------
        CannotClose
            The independent coordinates are out of reach.
        """
        own = np.array(q_I, dtype=float)
        for led in self.led if time is not None else ():
            own[self.independent_coordinates == led.at] = led.driver.at(time or 0.0)[0]
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

        q̇ = A q̇_I + η with the columns of A that no driver leads.
        """
        rates = np.zeros(self.layout.nv)
        for led in self.led:
            rates[led.rate] = led.driver.at(time)[1]
        return self.at(q).A @ rates[self.independent_rates]

    def xi(self, q: Array, qd: Array, time: float | None = None) -> Array:
        """Return ξ (nv,) at q (nq,) and qd (nv,) with q̈ = A q̈_I + ξ, zero in the independent rows (blajer1993 (7)).

        At a ``time`` (s) it has the accelerations of what is ``led``, whose columns of A do not count then.
        """
        here, own = self.at(q), np.zeros(self.layout.nv)
        for led in self.led if time is not None else ():
            own[led.rate] = led.driver.at(time or 0.0)[2]
        return here.A @ own[self.independent_rates] + here.xi(qd)

    def margin(self, q: Array) -> float:
        """Return how far the worst step is from singular at the independent coordinates of q (nq,), 0 … 1."""
        try:
            y = self._closed(q[self.independent_coordinates], q)
        except CannotClose:
            return 0.0
        return min((step.margin(y) for step in self.steps), default=1.0)

    def is_near_singular(self, q: Array, below: float = NEARLY_FLAT) -> bool:
        """Return whether other independent coordinates should be chosen at q (nq,) before going on."""
        return self.margin(q) < below

    def on_branch_of(self, q: Array) -> Closing:
        """Return the closing conditions on the branch nearest to a pose q (nq,).

        Only steps that are nearly flat there can have changed their branch: two assemblies meet where a
        dyad is flat, and a motion through such a pose goes on in the other one.
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
        """Return the closing conditions in other coordinates at a pose q (nq,), on its branch.

        They are those of the largest projective criterion, from ``projections`` (k, nv) as
        :func:`mbplugin.dynamics.formulations.criterion.tangents` gives them, or else those that move most.
        ``prescribed`` rates come first. Nothing jumps: q, q̇ and q̈ are known in all coordinates when the
        change is made.
        """
        return closing_conditions(self.layout.mech, q, projections=projections, prescribed=prescribed)

    def residuals(self, q: Array) -> dict[str, float]:
        """Return how far each closure and coupling is open in space at a pose q (nq,), m."""
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

    Planar loops are taken apart into dyads and solved in closed form; loops that have no closed form
    are closed by Newton's steps, and ``Closing.steps`` says why. Drivers, locks and Pfaffian
    constraints are no closing conditions and are left alone.

    Parameters
    ----------
    q : (nq,) array
        A closed pose; it tells the branches.
    independent : sequence of str, optional
        Rates (of ``qd_names``) inside loops that are to be independent; those outside loops always
        are. The default takes the ones that move most at q.
    projections : (k, nv) array, optional
        The rates projected on the allowed motions, in the metric of the masses: the default then takes
        those of the largest projective criterion instead (blajer1994 (23a)).
    prescribed : sequence of int
        Rates (among ``qd_names``) that are functions of time, or zero: the default takes them first.

    Raises
    ------
    UnknownName
        An independent rate that does not exist.
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
    """Return the first closing in closed form that is not nearly singular, or the best of all."""
    best, score = None, (False, False, -1.0)
    for candidate in candidates:
        margin = candidate.margin(candidate.q)
        own = (margin >= NEARLY_FLAT, candidate.explicit, margin)
        if own > score:
            best, score = candidate, own
        # nothing takes Newton's steps away from a loop that is not planar
        if own[0] and (candidate.explicit or not candidate.all_planar):
            break
    return best


def _stated(mech: Mechanism, names: Sequence[str], tied: list[int], mobile: Array) -> list[int]:
    """Return the stated independent rates inside loops; ``mobile`` (nv, f) as of :func:`mobile_rates`."""
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
