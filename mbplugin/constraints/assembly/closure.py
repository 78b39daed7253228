"""The position equations of a mechanism, in metres, at one pose or at many."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from mbplugin.constraints.assembly.descent.jacobians import Jacobians
from mbplugin.constraints.assembly.descent.newton import Equations, gauss_newton
from mbplugin.constraints.assembly.loops import Group, Paths, connected
from mbplugin.constraints.assembly.residuals import Residuals
from mbplugin.constraints.reduction.scaling import characteristic_length, rate_scale
from mbplugin.constraints.rows.build import rows_of
from mbplugin.constraints.rows.row import Rows
from mbplugin.model.component import is_turn
from mbplugin.model.mechanism.coupling import Coupling, Driver
from mbplugin.model.mechanism.kinematics import BodyPoses, displace, forward
from mbplugin.model.mechanism.mechanism import Constraint, Mechanism
from mbplugin.model.spatial import AnyArray, Array, make_read_only

#: A loop counts as closed when what rounding leaves open is below this fraction of its size.
CLOSED = 1e-3
#: A step below this ends a descent.
CONVERGED = 1e-12


class Closure:
    """The position equations of a mechanism, in metres; steps are dimensionless (``units``).

    Parameters
    ----------
    q : (nq,) array
        A pose, for the characteristic length and the ``initial`` residuals.

    Attributes
    ----------
    constraints : list of Constraint
        Those that the joint coordinates do not satisfy by themselves.
    units : (nv,) array
        The unit of each joint rate: the characteristic length for travels, 1 rad for turns.
    """

    def __init__(self, mech: Mechanism, q: Array) -> None:
        self.mech = mech
        self.constraints = constraints_to_close(mech)
        self.poses = forward(mech, q)
        self._rows = rows_of(mech, self.constraints, self.poses, q)
        self.length = characteristic_length(self._rows, self.poses.p_WC, mech)
        self.units = rate_scale(mech, self.length)
        self._metres = [
            _metres(constraint, rows, self.length)
            for constraint, rows in zip(self.constraints, self._rows, strict=True)
        ]
        self.initial = {
            rows.constraint: float(np.abs(unit * rows.Phi).max())
            for rows, unit in zip(self._rows, self._metres, strict=True)
        }

    @cached_property
    def members(self) -> list[frozenset[int]]:
        """The joints, as positions among ``mech.tree.joints``, that move each constraint."""
        paths = Paths(self.mech)
        return [paths.of(constraint) for constraint in self.constraints]

    @cached_property
    def components(self) -> list[Group]:
        """The groups of constraints that share no joint with the others."""
        return connected(self.members, range(len(self.constraints)))

    @cached_property
    def _whole(self) -> System:
        every = range(len(self.constraints))
        return self._system(Group(tuple(every), tuple(frozenset().union(*self.members))), self.poses)

    def system(self, group: Group, q: Array | None = None) -> System:
        """Return the equations of a group in its joints; all others are as at q, or at the start."""
        if len(group.constraints) == len(self.constraints) and q is None:
            return self._whole
        return self._system(group, self.poses if q is None else forward(self.mech, q))

    def _system(self, group: Group, poses: BodyPoses) -> System:
        chosen = [self.constraints[k] for k in group.constraints]
        rows = [self._rows[k] for k in group.constraints]
        residuals = Residuals(self.mech, chosen, rows, group.joints, poses)
        metres = np.concatenate([np.zeros(0), *(self._metres[k] for k in group.constraints)])
        return System(residuals, self.length, self.units, metres)

    def residuals(self, q: Array) -> dict[str, float]:
        """Return the largest residual of each constraint at q (nq,), m."""
        return self._whole.gaps(self._whole.linearised(q[None])[1][0]) if self.constraints else {}

    def turned(self, q: Array) -> tuple[str, ...]:
        """Return the constraints whose largest residual at q (nq,) is that of a rotation."""
        return self._whole.turned(self._whole.linearised(q[None])[1][0])

    def closed(self, q: Array) -> bool:
        """Return whether every residual at q (nq,) is small against the mechanism."""
        return max(self.residuals(q).values(), default=0.0) <= CLOSED * self.length

    def solve(self, q: Array, movable: AnyArray, converged: float = CONVERGED) -> Array:
        """Return the end (nq,) of damped Gauss–Newton steps from q (nq,) in the rates ``movable`` (nv,) of bool.

        The largest entry of a dimensionless step below ``converged`` ends them.
        """
        return gauss_newton(self._whole, q, movable, converged)[0]

    def displaced(self, q: Array, step: Array) -> Array:
        """Return the pose (nq,) a dimensionless step (nv,) away from q (nq,)."""
        return displace(self.mech, q, self.units * step)

    def linearise(self, q: Array) -> tuple[Array, Array]:
        """Return Jacobian (k, nv) in dimensionless joint rates and residual (k,) at q (nq,), both in metres."""
        J, Phi = self._whole.linearised(q[None])
        pattern = J.pattern
        out = np.zeros((pattern.shape[0], len(self.units)))
        out[pattern.rows, self._whole.rates[pattern.columns]] = J.values[0]
        return out, Phi[0]


class System(Equations):
    """Some of the position equations, in metres, in the dimensionless rates of some joints.

    Parameters
    ----------
    length : float
        Characteristic length, m.
    units : (nv,) array
        Of all joint rates of the mechanism.
    metres : (r,) array
        Per unit of each residual.

    Attributes
    ----------
    rates : (C,) int array
        The columns of qd.
    """

    def __init__(self, residuals: Residuals, length: float, units: Array, metres: Array) -> None:
        self._residuals = residuals
        self.length = length
        self.rates = residuals.tree.rates
        self.units = units[self.rates]
        self._scale = np.where(residuals.holonomic, metres, 0.0)
        self._last: tuple[Array, Jacobians, Array] | None = None

    def linearised(self, Q: Array) -> tuple[Jacobians, Array]:
        """Return J, (r, C) at each of K poses Q (K, nq), and Φ (K, r), both in metres and read-only.

        One descent begins where another one ended, so the last ones are kept.
        """
        if self._last is None or not np.array_equal(self._last[0], Q):
            values, Phi = self._residuals.at(Q)
            pattern = self._residuals.pattern
            values = values * (self._scale[pattern.rows] * self.units[pattern.columns])
            self._last = (np.array(Q), Jacobians(pattern, values), Phi * self._scale)
            make_read_only(self._last[0], values, self._last[2])
        return self._last[1:]

    def stepped(self, Q: Array, step: Array) -> Array:
        """Return the poses Q (K, nq) after dimensionless steps, step (K, C)."""
        return self._residuals.tree.advanced(Q, step * self.units)

    def gaps(self, Phi: Array) -> dict[str, float]:
        """Return the largest part of a residual Phi (r,) by constraint, m."""
        slices = self._residuals.slices
        return {name: float(np.abs(Phi[rows]).max(initial=0.0)) for name, rows in slices.items()}

    def turned(self, Phi: Array) -> tuple[str, ...]:
        """Return the constraints of which the largest part of a residual Phi (r,) is a rotation."""
        translation = self._residuals.translation
        slices = self._residuals.slices.items()
        return tuple(name for name, rows in slices if not translation[rows][np.abs(Phi[rows]).argmax()])


def _metres(constraint: Constraint, rows: Rows, length: float) -> Array:
    """Return the metres per unit of each residual (k,): turns count by the mechanism's length, m."""
    if isinstance(constraint, Coupling):
        return np.array([coupling_metres(constraint, length)])
    return np.where(rows.translation, 1.0, length)


def coupling_metres(coupling: Coupling, length: float) -> float:
    """Return the metres per unit of a coupling's residual in a mechanism of a length, m.

    A coupling of turns with travels has no unit of its own: its factor is free, so that its largest term
    counts as one length, whatever the factor.
    """
    turns = [is_turn(term.freedom) for term in coupling.terms]
    if all(turns) or not any(turns):
        return length if all(turns) else 1.0
    terms = [abs(t.coefficient) * (1.0 if is_turn(t.freedom) else length) for t in coupling.terms]
    return length / (max(terms) or length)


def constraints_to_close(mech: Mechanism) -> list[Constraint]:
    """Return the constraints that the joint coordinates do not satisfy by themselves."""
    drivers: list[Driver] = [d for d in mech.drivers if d.value is not None]
    rolling = [p for p in mech.pfaffians if p.holonomic]
    cut = [p for p in mech.tree.cut if p.kind.constrained]
    return [*cut, *mech.couplings, *drivers, *rolling]
