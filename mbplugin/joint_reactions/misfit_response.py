"""Loads due to misfits: B = S (Sᵀ F S)⁻¹ Sᵀ, with the flexibility F of all rows and the self-stresses S."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components

from mbplugin.choices import LARGEST, CoordinateUnit, ReactionSource, ReactionUnit
from mbplugin.errors import BadNumber, BadUsage, UnknownName, suggestion
from mbplugin.joint_reactions import ClosedState
from mbplugin.joint_reactions.flexible import Flexible, row_sources
from mbplugin.joint_reactions.statics import System
from mbplugin.joint_reactions.stiffness import MissingStiffness, missing_stiffness
from mbplugin.joint_reactions.stiffness_estimate import Estimate
from mbplugin.model import AnyArray, Array, Mechanism, RowLabel
from mbplugin.phrases import counted, one_line
from mbplugin.rendering import Result

#: A row of the factor below this fraction of the largest row is rounding (its square in terms of stiffness).
_NOTHING = 1e-13
#: A load below this fraction of the largest load of a misfit is rounding.
_ROUNDING = 1e-9


# The misfit response of a mechanism whose stiffness is known.


def response_of(state: ClosedState, system: System, flexible: Flexible) -> MisfitResponse:
    """Return the misfit response of a mechanism whose stiffness is known."""
    resolution = flexible.resolution
    group = infinite_groups(resolution.open, resolution.determined)
    missing = tuple(
        _missing(system, flexible, group == number) for number in range(group.max(initial=-1) + 1)
    )
    # all rows but those of Pfaffian constraints have a position gap
    kinds = [
        verdict.kind
        for verdict, rows in zip(system.verdicts, system.rows, strict=True)
        for _ in rows.components
    ]
    # rows of rounding size become zero
    size = row_lengths(resolution.response)
    cleaned = (
        diags_array((size > _NOTHING * size.max(initial=0.0)).astype(float)) @ resolution.response
    ).tocsr()
    cleaned.eliminate_zeros()
    return MisfitResponse(
        mechanism=system.mech,
        q=state.q,
        planar=state.planar,
        tolerance=state.tolerance,
        degree_of_redundancy=system.degree_of_redundancy,
        labels=system.labels,
        units=system.units,
        factor=(diags_array(system.scale) @ cleaned).tocsr(),
        infinite_group=group,
        missing=missing,
        adjustable=np.array([kind != "pfaffian" for kind in kinds], dtype=bool),
        sources=row_sources(system, flexible),
        length=system.length,
        stated=tuple(e.name for e in flexible.stated),
        estimated=flexible.estimates,
        notes=(*state.notes, *flexible.notes),
    )


def infinite_groups(free: csr_array, determined: AnyArray) -> AnyArray:
    """Return the number of each row's group, (m,), in which rows stress each other without compliance; −1 elsewhere.

    Parameters
    ----------
    free : (m, k) sparse array
        Orthonormal self-stresses that neither the rigid model nor compliance determines.
    determined : (m,) bool array
    """
    group = np.full(len(determined), -1)
    rows = np.flatnonzero(~determined)
    if rows.size:
        # the projector on the free self-stresses does not depend on their basis
        inside = diags_array(1.0 / row_lengths(free)[rows]) @ free[rows]
        group[rows] = connected_components(abs(inside @ inside.T) > 1e-8, directed=False)[1]
    return group


def _missing(system: System, flexible: Flexible, inside: AnyArray) -> MissingStiffness:
    """Return the missing stiffness for the rows ``inside`` (m,), or the bodies of these rows if none is identified."""
    found = missing_stiffness(system, flexible.covered, ~inside)
    if found:
        return found
    carrying = {
        body
        for k in np.unique(system.constraint_of_row[inside]).tolist()
        for body in (system.verdicts[k].body_a, system.verdicts[k].body_b)
    }
    return MissingStiffness(tuple(b.name for b in system.mech.bodies if b.name in carrying))


# Standard deviations of loads from misfit tolerances, and allowable misfits from load limits.


@dataclass(frozen=True)
class MisfitBudget:
    """The largest misfit of one component that keeps every limited load below its limit.

    Parameters
    ----------
    constraint, component : str
        The component with the misfit.
    largest : float
        m or rad; 0 if no compliance limits the load.
    unit : "m" or "rad"
    decided_by : str
        The limit that is reached first, ``JOINT`` or ``JOINT.COMPONENT``.
    """

    constraint: str
    component: str
    largest: float
    unit: CoordinateUnit
    decided_by: str


def deviations(response: MisfitResponse, sigma: Array) -> Array:
    """Return the standard deviation of each load, (m,), for independent misfits: √(Σ B² σ²).

    Parameters
    ----------
    sigma : (m,) array
        Standard deviations of the misfits, m and rad.

    Returns
    -------
    (m,) array
        N and N·m; ``inf`` if no compliance limits the load.
    """
    variance = np.zeros(len(sigma))
    for row in np.flatnonzero(sigma).tolist():
        loaded, values = response.entries(row)
        variance[loaded] += (values * sigma[row]) ** 2
    found = np.sqrt(variance)
    finite = found[np.isfinite(found)]
    found[found < _NOTHING * finite.max(initial=0.0)] = 0.0
    return np.asarray(found)


def budget(response: MisfitResponse, limits: Mapping[str, float]) -> tuple[MisfitBudget, ...]:
    """Return the largest allowable misfit of each component, the smallest first, in the absence of other loads.

    Components whose misfit loads no limited joint are omitted.

    Parameters
    ----------
    limits : mapping
        ``JOINT`` to the largest resultant force, N; ``JOINT.COMPONENT`` to that of one component, N or N·m.

    Raises
    ------
    UnknownName
        No constraint or row has that name.
    BadUsage
        A joint without force components.
    BadNumber
        A limit is not positive and finite.
    """
    limited = {
        name: (rows_of_limit(response, name), _positive(name, value)) for name, value in limits.items()
    }
    if not limited:
        return ()
    scale = row_lengths(response.factor)
    found = []
    for row in response.stressing:
        column = response.column(row)
        allowed = [
            (value / float(np.linalg.norm(column[rows])), name)
            for name, (rows, value) in limited.items()
            if np.abs(column[rows]).max() > _ROUNDING * scale[row] * scale[rows].max()
        ]
        if allowed:
            largest, name = min(allowed)
            unit = STEPS[response.units[row]].unit
            found.append(MisfitBudget(*response.labels[row], largest, unit, name))
    # values are rounded, so that equal ones stay in the order of the file
    by_row = sorted(found, key=lambda one: response.row(f"{one.constraint}.{one.component}"))
    lever = {"m": 1.0, "rad": response.length}
    return tuple(sorted(by_row, key=lambda one: float(f"{one.largest * lever[one.unit]:.9g}")))


def rows_of_limit(response: MisfitResponse, name: str) -> AnyArray:
    """Return the rows (k,) whose resultant is limited by ``JOINT`` or ``JOINT.COMPONENT``.

    Raises
    ------
    UnknownName
        No constraint or row has that name.
    BadUsage
        A joint without force components.
    """
    own = [k for k, label in enumerate(response.labels) if label.constraint == name]
    forces = [k for k in own if response.units[k] == "N"]
    if forces:
        return np.array(forces)
    names = [label.dotted for label in response.labels]
    if own:
        raise BadUsage(
            f"the limit names {name!r}, a joint that carries no force",
            expected=f"the limit of a component, such as {names[own[0]]}",
        )
    if name not in names:
        joints = dict.fromkeys(label.constraint for label in response.labels)
        raise UnknownName(
            f"the limit names {name!r}, which is neither a joint nor a row of one",
            expected="JOINT or JOINT.COMPONENT",
            remedy=suggestion(name, [*joints, *names]),
        )
    return np.array([names.index(name)])


def _positive(name: str, value: float) -> float:
    number = float(value)
    if not 0 < number <= LARGEST:
        raise BadNumber(
            f"the limit of {name!r} is {value!r}", expected=f"a positive number up to {LARGEST:g}"
        )
    return number


# Effect of one misfit: the loads that it causes, the largest first.


class MisfitStep(NamedTuple):
    """A reference misfit of typical workshop size."""

    size: float
    unit: CoordinateUnit

    def __str__(self) -> str:
        factor, name = (1e3, "mm") if self.unit == "m" else (1e3, "mrad")
        return f"{factor * self.size:g} {name}"


class MisfitLoad(NamedTuple):
    """The load that a misfit causes in one component of a reaction.

    Parameters
    ----------
    value : float
        On the successor, N or N·m; ``inf``, regardless of sign, if no compliance limits it.
    source : "stated", "estimated", "rigid" or None
        The stiffness that determines it; None if it is infinite.
    """

    constraint: str
    component: str
    unit: ReactionUnit
    value: float
    source: ReactionSource | None


@dataclass(frozen=True)
class MisfitEffect:
    """Loads due to a misfit of one component.

    Parameters
    ----------
    constraint, component : str
        The component with the misfit.
    step : MisfitStep
        The misfit that causes the loads: 0.1 mm or 1 mrad.
    loads : tuple of MisfitLoad
        Loads due to the misfit, the largest first; empty if it loads nothing.
    missing : MissingStiffness
        Bodies and joints that need a stiffness to make infinite loads finite.
    rows : mapping of str to int
        All rows, loaded or not, by ``CONSTRAINT.COMPONENT``.
    """

    constraint: str
    component: str
    step: MisfitStep
    loads: tuple[MisfitLoad, ...]
    missing: MissingStiffness
    rows: Mapping[str, int] = field(repr=False, compare=False)

    @property
    def infinite(self) -> bool:
        """Whether some loads are not limited by any compliance."""
        return any(np.isinf(load.value) for load in self.loads)

    @property
    def largest(self) -> MisfitLoad | None:
        """The largest load; None if there is none."""
        return self.loads[0] if self.loads else None

    def __getitem__(self, name: str) -> float:
        """Return the load of ``CONSTRAINT.COMPONENT``, N or N·m; zero if there is none.

        Raises
        ------
        UnknownName
            No row has that name.
        """
        row_of(name, self.rows)
        found = (one.value for one in self.loads if f"{one.constraint}.{one.component}" == name)
        return next(found, 0.0)


def row_of(name: str, rows: Mapping[str, int]) -> int:
    """Return the index of a row ``CONSTRAINT.COMPONENT``.

    Raises
    ------
    UnknownName
        No row has that name.
    """
    if name not in rows:
        raise UnknownName(
            f"{name!r} is not a row of a constraint",
            expected="CONSTRAINT.COMPONENT",
            remedy=suggestion(name, list(rows)),
        )
    return rows[name]


#: The reference misfits for which loads are given: 0.1 mm and 1 mrad.
STEPS: dict[ReactionUnit, MisfitStep] = {"N": MisfitStep(1e-4, "m"), "N·m": MisfitStep(1e-3, "rad")}


@dataclass(frozen=True, eq=False)
class MisfitResponse(Result):
    """Loads due to a misfit of each constraint component, without applied loads.

    A misfit δ offsets the successor along a row before the joint is closed (m, rad); it changes the reactions
    on the successors by −B δ (N, N·m). B is symmetric and positive semidefinite, and every column is a
    self-stress. Without redundant constraints B is zero.

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) array
        The closed pose, rad and m.
    planar : str or None
        The plane, if forces are computed in a plane.
    tolerance : float
        Relative rank tolerance.
    degree_of_redundancy : int
    labels : tuple of RowLabel
        (constraint, component) of the m rows.
    units : tuple of "N" or "N·m"
        Unit of the load of each row; its misfit is in m or rad.
    factor : (m, k) sparse array
        W of the finite part W Wᵀ of B, in N/m, N/rad, N·m/m and N·m/rad.
    infinite_group : (m,) int array
        Rows with the same number, from 0, stress each other without any compliance; −1 elsewhere.
    missing : tuple of MissingStiffness
        For each of these groups, the parts that need a stiffness to make its loads finite.
    adjustable : (m,) bool array
        Whether a row can have a misfit; velocity constraints such as rolling cannot.
    sources : tuple of "rigid", "stated", "estimated" or None
        Source of the load of each row: the rigid model (the load is zero), a stiffness, or none.
    length : float
        Characteristic length by which forces and moments are compared, m.
    stated, estimated : tuple
        Names of pairs and bodies with stated stiffness, and the estimates used.
    """

    mechanism: Mechanism
    q: Array
    planar: str | None
    tolerance: float
    degree_of_redundancy: int
    labels: tuple[RowLabel, ...]
    units: tuple[ReactionUnit, ...]
    factor: csr_array
    infinite_group: AnyArray
    missing: tuple[MissingStiffness, ...]
    adjustable: AnyArray
    sources: tuple[ReactionSource | None, ...]
    length: float
    stated: tuple[str, ...] = ()
    estimated: tuple[Estimate, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        redundant = counted(self.degree_of_redundancy, "redundant constraint")
        stressing = counted(len(self.stressing), "component")
        facts = (redundant, f"{stressing} whose misfit costs something", f"tolerance {self.tolerance:g}")
        return one_line(self, self.mechanism.name, facts)

    @cached_property
    def finite(self) -> csr_array:
        """Finite part W Wᵀ of B, sparse, (m, m)."""
        found = (self.factor @ self.factor.T).tocsr()
        found.sort_indices()
        return found

    @cached_property
    def B(self) -> Array:
        """Response (m, m), N/m, N/rad, N·m/m and N·m/rad; ``inf`` where no compliance limits it."""
        size = len(self.labels)
        return np.array([self.column(k) for k in range(size)]).reshape(size, size)

    def column(self, row: int) -> Array:
        """Return column ``row`` of B, (m,)."""
        found = np.zeros(len(self.labels))
        rows, values = self.entries(row)
        found[rows] = values
        return found

    def entries(self, row: int) -> tuple[AnyArray, Array]:
        """Return the row indices (n,) and values (n,) of the nonzero entries in column ``row`` of B."""
        own = slice(self.finite.indptr[row], self.finite.indptr[row + 1])
        rows, values = self.finite.indices[own], self.finite.data[own]
        group = int(self.infinite_group[row])
        if group < 0:
            return rows, values
        infinite, kept = self._members[group], self.infinite_group[rows] != group
        rows = np.concatenate((rows[kept], infinite))
        order = np.argsort(rows)
        return rows[order], np.concatenate((values[kept], np.full(len(infinite), np.inf)))[order]

    @cached_property
    def stressing(self) -> tuple[int, ...]:
        """Rows whose misfit causes loads, the largest load first (0.1 mm compared with 1 mrad)."""
        cost = np.where(self.adjustable, self._costs, 0.0).tolist()
        # values are rounded, so that equal ones stay in the order of the file
        order = sorted(range(len(cost)), key=lambda k: -float(f"{cost[k]:.9g}"))
        return tuple(k for k in order if cost[k] > _ROUNDING * self._scale)

    @cached_property
    def _scale(self) -> float:
        """Largest finite load due to a reference misfit, N (moments divided by the length)."""
        size = row_lengths(self.factor) * self._in_newtons
        return float((size.max(initial=0.0) * size * self._steps).max(initial=0.0))

    @cached_property
    def _costs(self) -> Array:
        """Largest load due to the reference misfit of each row, (m,), N."""
        cost = np.zeros(len(self.labels))
        if self.finite.nnz:
            loads = abs(self.finite @ diags_array(self._in_newtons))
            cost = self._steps * loads.max(axis=1).toarray().ravel()
        return np.where(self.infinite_group >= 0, np.inf, cost)

    @cached_property
    def _steps(self) -> Array:
        """Reference misfit of each row, (m,), m and rad."""
        return np.array([STEPS[unit].size for unit in self.units])

    @cached_property
    def _in_newtons(self) -> Array:
        """Factors that convert loads to N for comparison, (m,)."""
        return np.array([1.0 if unit == "N" else 1.0 / self.length for unit in self.units])

    @cached_property
    def effects(self) -> tuple[MisfitEffect, ...]:
        """Effect of a misfit of 0.1 mm or 1 mrad in each component, the largest load first."""
        return tuple(self.effect(row) for row in self.stressing)

    def __getitem__(self, name: str) -> MisfitEffect:
        """Return the effect of a misfit in ``CONSTRAINT.COMPONENT``."""
        return self.effect(self.row(name))

    def row(self, name: str) -> int:
        """Return the index of a row ``CONSTRAINT.COMPONENT``.

        Raises
        ------
        UnknownName
            No row has that name.
        """
        return row_of(name, self.rows_by_name)

    @cached_property
    def rows_by_name(self) -> dict[str, int]:
        """Index of each row by ``CONSTRAINT.COMPONENT``."""
        return {label.dotted: k for k, label in enumerate(self.labels)}

    def value(self, misfit: str, load: str) -> float:
        """Return the load −B (N or N·m) of one ``CONSTRAINT.COMPONENT`` per m or rad of misfit of another.

        It is ``inf``, regardless of sign, if no compliance limits it.
        """
        found = float(self.column(self.row(misfit))[self.row(load)])
        return found if np.isinf(found) else 0.0 - found

    def effect(self, row: int) -> MisfitEffect:
        """Return the effect of a misfit of 0.1 mm or 1 mrad of row ``row``."""
        step, group = STEPS[self.units[row]], int(self.infinite_group[row])
        own = slice(self.finite.indptr[row], self.finite.indptr[row + 1])
        if group >= 0 and (self.infinite_group[self.finite.indices[own]] == group).all():
            return MisfitEffect(*self.labels[row], step, *self._infinite_loads[group], self.rows_by_name)
        rows, values = self.entries(row)
        loads = np.where(np.isinf(values), np.inf, 0.0 - step.size * values)
        return MisfitEffect(*self.labels[row], step, *self._listed(rows, loads, {group}), self.rows_by_name)

    @cached_property
    def _members(self) -> tuple[AnyArray, ...]:
        """The rows of each group that is stressed without any compliance, (n,)."""
        order = np.argsort(self.infinite_group, kind="stable")
        ends = np.searchsorted(self.infinite_group[order], np.arange(self.infinite_group.max(initial=-1) + 2))
        return tuple(order[start:end] for start, end in itertools.pairwise(ends.tolist()))

    @cached_property
    def _infinite_loads(self) -> tuple[tuple[tuple[MisfitLoad, ...], MissingStiffness], ...]:
        """Loads of a misfit that loads only its own group, by group; they are the same for all rows of the group."""
        return tuple(
            self._listed(rows, np.full(len(rows), np.inf), {group})
            for group, rows in enumerate(self._members)
        )

    def loads_of(self, misfit: Array) -> tuple[tuple[MisfitLoad, ...], MissingStiffness]:
        """Return the combined loads of misfits, the largest first, and the stiffness missing for infinite ones.

        Parameters
        ----------
        misfit : (m,) array
            Misfit of each row, m and rad.
        """
        rows = np.flatnonzero(misfit)
        loads = 0.0 - self.factor @ (self.factor[rows].T @ misfit[rows])
        groups = {int(group) for group in self.infinite_group[rows]} - {-1}
        loads[np.isin(self.infinite_group, list(groups))] = np.inf
        return self._listed(np.arange(len(loads)), loads, groups)

    def _listed(
        self, rows: AnyArray, loads: Array, groups: set[int]
    ) -> tuple[tuple[MisfitLoad, ...], MissingStiffness]:
        """Return the loads (n,) of ``rows`` (n,) above rounding, and the stiffness missing in infinite ``groups``."""
        size = np.abs(loads) * self._in_newtons[rows]
        finite = size[np.isfinite(size)].max(initial=0.0)
        kept = np.flatnonzero(size > max(_ROUNDING * finite, _ROUNDING**2 * self._scale))
        kept = kept[np.argsort([-float(f"{size[k]:.9g}") for k in kept.tolist()], kind="stable")]
        places: list[int] = rows[kept].tolist()
        found = tuple(
            MisfitLoad(*self.labels[k], self.units[k], load, self.sources[k])
            for k, load in zip(places, loads[kept].tolist(), strict=True)
        )
        groups = groups - {-1}
        return found, self.missing[min(groups)] if groups else MissingStiffness()


def row_lengths(matrix: csr_array) -> Array:
    """Return the norm of each row of a sparse matrix (m, k), (m,)."""
    return np.asarray(np.sqrt(matrix.power(2).sum(axis=1)))
