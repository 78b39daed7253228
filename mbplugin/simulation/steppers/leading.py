"""The independent coordinates that lead a motion, and when others take over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.explicit_closure import Closing, closing_conditions
from mbplugin.dynamics.explicit_closure.minimal import closing_equations
from mbplugin.dynamics.formulations.criterion import tangents
from mbplugin.dynamics.formulations.partitioning import independent_coordinates
from mbplugin.dynamics.redundancy.eliminate import eliminate
from mbplugin.errors import CannotClose
from mbplugin.model.mechanism.mechanism import Constraint, Mechanism
from mbplugin.model.spatial import AnyArray, Array

#: A pose that is closed this far from where a stage has it, rad or m, is on another branch.
_OTHER_BRANCH = 0.1


@dataclass(frozen=True)
class Leading:
    """The independent coordinates of a motion from a time on.

    Parameters
    ----------
    time : float
        s.
    names : tuple of str
        Of joint rates.
    """

    time: float
    names: tuple[str, ...]


@dataclass(frozen=True)
class Prescribed:
    """A rate that is a function of time at an instant: of a driver, or zero where a lock or stiction holds.

    Parameters
    ----------
    rate, at : int
        Its place among ``qd_names``, and that of its coordinate among ``q_names``.
    value : float or None
        Of the coordinate, rad or m; None where it stays where it is.
    speed : float
        rad/s or m/s.
    """

    rate: int
    at: int
    value: float | None
    speed: float


class LeadingCoordinates:
    """Which coordinates lead one motion: those of closing conditions, or of coordinate partitioning."""

    def __init__(self, mech: Mechanism) -> None:
        self._mech = mech
        self._closing: Closing | None = None
        #: Independent coordinates of the partition, (k,).
        self._partition: AnyArray | None = None
        #: Rates that were prescribed when the closing conditions were chosen.
        self._prescribed: tuple[int, ...] = ()
        #: From the start on, one entry for each change.
        self.changes: list[Leading] = []

    @property
    def closed_names(self) -> frozenset[str]:
        """Names of the constraints that closing conditions replace."""
        closed: tuple[Constraint, ...] = (*self._mech.tree.cut, *self._mech.couplings)
        return frozenset(constraint.name for constraint in closed)

    def closing(self, q: Array) -> Closing:
        """Return the closing conditions to go on with from a pose q (nq,)."""
        if self._closing is None:
            self._closing = closing_conditions(self._mech, q)
        return self._closing

    def close(self, q: Array, qd: Array, prescribed: Sequence[Prescribed] = ()) -> tuple[Array, Array]:
        """Return the closed state (nq,), (nv,) that has the independent coordinates of q (nq,) and qd (nv,).

        What is prescribed among these is so exactly (blajer1993 (5), (6)): nothing of it is integrated.
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
            # a motion followed again from an earlier time, or a stage beyond the reach of these coordinates
            closing = closing_conditions(self._mech, q, prescribed=self._prescribed)
            q, qd = _as_prescribed(closing, q, qd, prescribed)
            here = closing.at(q)
        self._closing = closing
        return np.array(here.q), here.A @ qd[closing.independent_rates]

    def choose(self, equations: Equations, t: float, q: Array, prescribed: Sequence[Prescribed] = ()) -> None:
        """Choose the coordinates that lead from the end of a step at a time (s) and pose q (nq,).

        They are chosen again where they are nearly singular, and where a lock closes or opens.
        """
        closing, led = self.closing(q), tuple(one.rate for one in prescribed)
        if not self.changes or led != self._prescribed or closing.is_near_singular(q):
            own = closing_equations(equations, closing)
            self._closing = closing.change(q, tangents(own, eliminate(own)), led)
            self._prescribed = led
        self._note(t, self.closing(q).independent)

    def choose_partition(self, equations: Equations, t: float) -> None:
        """Choose the coordinates of a partition for the next step from a time on, s."""
        self._partition = independent_coordinates(equations, eliminate(equations), self._partition)
        self._note(t, tuple(self._mech.qd_names[k] for k in self._partition))

    def partition_of(self, freedom: int) -> AnyArray | None:
        """Return the independent coordinates (k,) of a partition, or None where other constraints hold now."""
        own = self._partition
        return own if own is not None and len(own) == freedom else None

    def _note(self, t: float, names: tuple[str, ...]) -> None:
        """Note who leads from a time on, s; a motion that is followed again changes nothing."""
        if not self.changes or (t >= self.changes[-1].time and names != self.changes[-1].names):
            self.changes.append(Leading(t, names))


def _as_prescribed(
    closing: Closing, q: Array, qd: Array, prescribed: Sequence[Prescribed]
) -> tuple[Array, Array]:
    """Return q (nq,) and qd (nv,) with what is prescribed among the independent coordinates."""
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
