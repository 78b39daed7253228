"""Bounds of reactions: contacts only push, friction is limited, and held joints have a largest force.

A reaction that the rigid model does not determine is λ = λ₀ + Z y, and every y that satisfies the inequalities is
possible. The smallest and the largest value of each component are linear programs, solved block by block on the rays of
the contacts. The circle of friction is replaced by the regular polygon around it, so that the true values lie within
the bounds.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.sparse import block_diag, csc_array, csr_array, diags_array, vstack
from scipy.sparse.csgraph import connected_components

from mbplugin.errors import BadUsage
from mbplugin.joint_reactions.cones import FEASIBLE, OPTIONS, SOLVED, Cone, Part, Stack, is_large, stacks
from mbplugin.joint_reactions.statics import System
from mbplugin.model import NORMAL, SIDES, TANGENTS, AnyArray, Array, Driver, Lock

#: Digits in which two directions are the same.
_DIGITS = 12
#: Largest number of inequalities in programs that are solved together.
_MOST_LIMITS = 4000
#: Bounds closer than this fraction of the largest reaction are equal.
_EQUAL = 1e-8
#: Products of equilibrium and self-stresses below this are rounding.
_EXACT = 1e-10
#: Entries of self-stresses below this fraction of the largest one are rounding.
_ZERO = 1e-13
#: Directions of the sides of the polygon of friction.
_SIDES = np.round([(np.cos(a), np.sin(a)) for a in 2 * np.pi * np.arange(SIDES) / SIDES], 15)
Kind = Literal["normal", "friction", "limit"]


# Inequalities on the multipliers.


@dataclass(frozen=True, eq=False)
class Inequalities:
    """(A + s B) λ ≤ h on scaled multipliers λ, with s a factor on all friction coefficients.

    Parameters
    ----------
    A, B : (k, m) sparse array
    h : (k,) array
    owners : tuple of str
        Label of each: ``contact.cn``, ``contact.friction`` or ``joint.effort``.
    kinds : (k,) array of str
        ``normal``, ``friction`` or ``limit``.
    cones : tuple of Cone
        The same as rays, by contact and drive.
    cone_of : (k,) array of int
        The cone of each.
    """

    A: csr_array
    B: csr_array
    h: Array
    owners: tuple[str, ...]
    kinds: AnyArray
    cones: tuple[Cone, ...]
    cone_of: AnyArray

    def __len__(self) -> int:
        return len(self.owners)

    def with_friction(self, factor: float) -> csr_array:
        """Return A + s B (k, m) with the factor s on friction; rows are divided by s μ where that is large."""
        size = 1.0 / np.maximum(1.0, factor * np.abs(self.B).max(axis=1).toarray().ravel())
        return (diags_array(size) @ (self.A + factor * self.B)).tocsr()

    def of(self, *kinds: Kind) -> Inequalities:
        """Return those of some kinds."""
        kept = np.flatnonzero(np.isin(self.kinds, kinds))
        if len(kept) == len(self):
            return self
        owners = tuple(self.owners[k] for k in kept.tolist())
        used, cone_of = np.unique(self.cone_of[kept], return_inverse=True)
        cones = [self.cones[k] for k in used.tolist()]
        if "friction" not in kinds:
            cones = [cone.frictionless() for cone in cones]
        return Inequalities(
            self.A[kept], self.B[kept], self.h[kept], owners, self.kinds[kept], tuple(cones), cone_of
        )


def inequalities(system: System, limits: Mapping[str, float]) -> Inequalities:
    """Return the inequalities of all contacts, and of the drives with a largest force.

    Parameters
    ----------
    limits : mapping
        Largest force (N, N·m) of a multiplier by its label ``CONSTRAINT.COMPONENT``.
    """
    made = _Made([], [], [], [], [], [])
    for contact in system.mech.contacts:
        start = system.slices[contact.name].start
        components = system.rows_by_name[contact.name].components
        at = {name: start + k for k, name in enumerate(components)}
        if NORMAL not in at:
            continue
        n = at[NORMAL]
        tangents = [(at[name], k) for k, name in enumerate(TANGENTS) if name in at]
        sides = _SIDES[:, [k for _, k in tangents]]
        sides = sides[sides.any(axis=1)]
        rows = np.array([n, *(row for row, _ in tangents)])
        cone = _contact_cone(contact.name, rows, contact.mu, system.scale[rows])
        own, friction = np.zeros((2, len(sides) + 1, len(rows)))
        own[0, 0], own[1:, 1:], friction[1:, 0] = -1.0, sides, -contact.mu
        made.add(
            cone, own, friction, 0.0, [f"{contact.name}.{NORMAL}", *[f"{contact.name}.friction"] * len(sides)]
        )
    joints = {c.name: c.joint for c in system.mech.constraints() if isinstance(c, Driver | Lock)}
    for row, label in enumerate(system.labels):
        if (largest := limits.get(label.dotted)) is not None:
            joint = joints[label.constraint]
            cone = _drive_cone(joint, row, largest / system.scale[row])
            made.add(cone, np.array([[1.0], [-1.0]]), np.zeros((2, 1)), largest, [f"{joint}.effort"] * 2)
    return made.scaled(system)


def _drive_cone(joint: str, row: int, largest: float) -> Cone:
    return Cone(
        joint, np.array([row]), np.array([[1.0, 0.0]]), np.zeros((1, 2)), np.array([-largest]), 2 * largest
    )


class _Made(NamedTuple):
    """Inequalities Σ own · λ + s Σ friction · λ ≤ largest so far, contact by contact and drive by drive."""

    cones: list[Cone]
    own: list[Array]
    friction: list[Array]
    largest: list[float]
    owners: list[str]
    kinds: list[Kind]

    def add(self, cone: Cone, own: Array, friction: Array, largest: float, owners: Sequence[str]) -> None:
        """Add the inequalities of a cone, ``own`` and ``friction`` (n, k) in its rows."""
        self.cones.append(cone)
        self.own.append(own)
        self.friction.append(friction)
        self.largest.append(largest)
        self.owners.extend(owners)
        if cone.total is not None:
            self.kinds.extend(["limit"] * len(owners))
        else:
            self.kinds.append("normal")
            self.kinds.extend(["friction"] * (len(owners) - 1))

    def scaled(self, system: System) -> Inequalities:
        """Return the inequalities on scaled multipliers, each divided by its largest scale."""
        counts = [len(own) for own in self.own]
        shape = sum(counts), len(system.scale)
        i, j, values, sides = [np.zeros(0, int)], [np.zeros(0, int)], [np.zeros(0)], [np.zeros(0)]
        size = [np.zeros(0)]
        start = 0
        for cone, own, friction in zip(self.cones, self.own, self.friction, strict=True):
            scale = system.scale[cone.rows]
            largest = np.where(own != 0, scale, 0.0).max(axis=1)
            size.append(largest)
            i.append(np.repeat(np.arange(start, start + len(own)), len(cone.rows)))
            j.append(np.tile(cone.rows, len(own)))
            values.append((own * scale / largest[:, None]).ravel())
            sides.append((friction * scale / largest[:, None]).ravel())
            start += len(own)
        places = np.concatenate(i), np.concatenate(j)
        A, B = (csr_array((np.concatenate(v), places), shape=shape) for v in (values, sides))
        for matrix in (A, B):
            matrix.eliminate_zeros()
        cone_of = np.repeat(np.arange(len(counts)), counts)
        h = np.repeat(np.array(self.largest), counts) / np.concatenate(size)
        kinds = np.array(self.kinds, dtype=object)
        return Inequalities(A, B, h, tuple(self.owners), kinds, tuple(self.cones), cone_of)


def _contact_cone(name: str, rows: AnyArray, mu: float, scale: Array) -> Cone:
    """Return the pyramid around the cone of friction of a contact, in scaled rows (k,) with ``scale`` (k,)."""
    tangents = len(rows) - 1
    if tangents == 2:
        angles = (2 * np.arange(SIDES) + 1) * np.pi / SIDES
        edges = np.array([np.cos(angles), np.sin(angles)]) / np.cos(np.pi / SIDES)
    else:
        edges = np.array([[1.0, -1.0]] if tangents else np.zeros((0, 1)))
    normal, sideways = np.zeros((2, tangents + 1, edges.shape[1]))
    normal[0], sideways[1:] = 1.0, mu * edges
    return Cone(name, rows, normal / scale[:, None], sideways / scale[:, None], np.zeros(len(rows)))


# Linear programs over the undetermined part of the reactions.


@dataclass(frozen=True, eq=False)
class Phase:
    """The smallest violation of some inequalities that any possible reactions have.

    Parameters
    ----------
    violation : float
        Relative to the largest reaction; negative if all inequalities can hold with a margin.
    prices : (k,) array
        Shadow price of each inequality, not negative; they add up to one.
    """

    violation: float
    prices: Array

    @property
    def feasible(self) -> bool:
        """Whether some reactions satisfy all inequalities."""
        return self.violation <= FEASIBLE


@dataclass(frozen=True, eq=False)
class Possible:
    """The possible reactions λ = origin + basis y, scaled.

    Parameters
    ----------
    origin : (m,) array
    basis : (m, p) sparse array
    size : float
        The largest scaled reaction; inequalities are relative to it.
    C : (m, c) sparse array
        Scaled constraint matrix.
    made : dict
        Independent parts by inequalities, and admissible forces by inequalities and factor on friction.
    """

    origin: Array
    basis: csr_array
    size: float
    C: csr_array
    made: dict[object, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, system: System, multipliers: Array) -> Possible:
        """Return the reactions through one of them, ``multipliers`` (m,), scaled."""
        largest = float(np.abs(multipliers).max(initial=0.0))
        basis = system.local.tocsr(copy=True)
        # a turned frame leaves entries of 1e-17: an effort limit would bound by them what it does not restrict
        basis.data[np.abs(basis.data) < _ZERO * np.abs(basis.data).max(initial=0.0)] = 0.0
        basis.eliminate_zeros()
        return cls(multipliers, basis, largest or 1.0, system.C)

    def inside(self, wanted: Inequalities, factor: float = 1.0) -> tuple[csr_array, Array]:
        """Return G (k, p) and b (k,) with G y ≤ b for the inequalities, y relative to ``size``."""
        A = wanted.with_friction(factor)
        return (A @ self.basis).tocsr(), (wanted.h - A @ self.origin) / self.size

    def parts(self, wanted: Inequalities) -> list[Part]:
        """Return the independent parts of the contacts and drives, those without self-stresses each alone."""
        if wanted not in self.made:
            self.made[wanted] = list(self._parts(wanted))
        found: list[Part] = self.made[wanted]
        return found

    def _parts(self, wanted: Inequalities) -> Iterator[Part]:
        count = len(wanted.cones)
        rows = np.concatenate([np.zeros(0, int), *(cone.rows for cone in wanted.cones)])
        of = np.repeat(np.arange(count), [len(cone.rows) for cone in wanted.cones])
        ones = csr_array((np.ones(len(rows)), (of, rows)), shape=(count, self.basis.shape[0]))
        linked = (ones @ abs(self.basis)).tocsr()
        touched = vstack([abs(self.basis), linked]).tocsr()
        part = connected_components(touched.T @ touched, directed=False)[1]
        members: dict[int, list[int]] = defaultdict(list)
        for k, (start, stop) in enumerate(itertools.pairwise(linked.indptr.tolist())):
            if start == stop:
                cone = wanted.cones[k]
                yield Part(
                    (cone,),
                    cone.rows,
                    np.zeros(0, dtype=int),
                    np.zeros((len(cone.rows), 0)),
                    self.origin[cone.rows] / self.size,
                )
            else:
                members[int(part[linked.indices[start]])].append(k)
        order = np.argsort(part, kind="stable")
        starts = np.searchsorted(part[order], np.arange(part.max(initial=-1) + 2))
        for k, own in members.items():
            columns = order[starts[k] : starts[k + 1]]
            cones = tuple(wanted.cones[j] for j in own)
            rows = np.concatenate([cone.rows for cone in cones])
            Z = _block(self.basis, rows, columns)
            equations = (
                self._equations(rows, columns, Z) if is_large(len(rows), len(columns), cones) else None
            )
            yield Part(cones, rows, columns, Z, self.origin[rows] / self.size, equations)

    def _equations(self, rows: AnyArray, columns: AnyArray, Z: Array) -> csr_array | None:
        """Return the equilibrium (c, k) of rows (k,).

        None if other rows carry the self-stresses in ``columns`` (p,), Z (k, p) in these rows, or if Z is not exact.
        """
        if not np.isin(self.by_column[:, columns].indices, rows).all():
            return None
        equations = self.C[rows].T.tocsr()
        equations = equations[np.flatnonzero(np.diff(equations.indptr))]
        return equations if np.abs(equations @ Z).max(initial=0.0) <= _EXACT else None

    @cached_property
    def by_column(self) -> csc_array:
        """The basis by column."""
        return self.basis.tocsc()

    def forces(self, wanted: Inequalities, factor: float = 1.0) -> list[Stack]:
        """Return the admissible forces of all parts, those of one shape together."""
        if (wanted, factor) not in self.made:
            self.made[wanted, factor] = stacks(self.parts(wanted), self.size, factor)
        found: list[Stack] = self.made[wanted, factor]
        return found

    def holds(self, wanted: Inequalities, factor: float = 1.0) -> bool:
        """Return True if some reactions satisfy all inequalities."""
        if all(stack.feasible for stack in self.forces(wanted, factor)):
            return True
        return self.phase(wanted, factor).feasible

    def phase(self, wanted: Inequalities, factor: float = 1.0) -> Phase:
        """Return the smallest violation of the inequalities, friction coefficients multiplied by ``factor``."""
        G, b = self.inside(wanted, factor)
        parts = self.parts(wanted)
        programs, limits = [], []
        own_limits: dict[str, list[int]] = defaultdict(list)
        for k, cone in enumerate(wanted.cone_of.tolist()):
            own_limits[wanted.cones[cone].name].append(k)
        for part in parts:
            own = np.array([k for cone in part.cones for k in own_limits[cone.name]])
            p, k = len(part.columns), len(own)
            inside = np.zeros((k + 1, p + 1))
            inside[:k, :p] = _block(G, own, part.columns)
            inside[:, p] = -1.0
            programs.append(_Program(np.eye(1, p + 1, p)[0], inside, np.append(b[own], 1.0)))
            limits.append(own)
        worst, prices = -1.0, np.zeros(len(b))
        for own, (x, found) in zip(limits, _solved(programs), strict=True):
            if x[-1] > worst:
                worst, prices = float(x[-1]), np.zeros(len(b))
                prices[own] = found[:-1]
        return Phase(worst, prices)

    def furthest(self, wanted: Inequalities, loads: Array) -> list[tuple[float, tuple[str, ...]]]:
        """Return the largest factor on each of ``loads`` (n, m), scaled multipliers, and its limiting bound.

        Infinite for a load that can grow without limit. A contact without normal force is named by ``cn``.
        """
        found: list[tuple[float, tuple[str, ...]]] = [(np.inf, ())] * len(loads)
        for stack in self.forces(wanted):
            for factors in stack.furthest(loads / self.size):
                found = [new if new[0] < old[0] else old for new, old in zip(factors, found, strict=True)]
        return found


class _Program(NamedTuple):
    """The linear program: least c·x with G x ≤ b, which has a finite solution; c (n,), G (k, n), b (k,)."""

    c: Array
    G: Array
    b: Array


def _solved(programs: Sequence[_Program]) -> Iterator[tuple[Array, Array]]:
    """Yield the solution x (n,) and the shadow prices (k,) of each program; several are solved as one."""
    start = 0
    while start < len(programs):
        stop, size = start + 1, len(programs[start].b)
        while stop < len(programs) and size + len(programs[stop].b) <= _MOST_LIMITS:
            size += len(programs[stop].b)
            stop += 1
        yield from _solved_together(programs[start:stop])
        start = stop


def _solved_together(programs: Sequence[_Program]) -> Iterator[tuple[Array, Array]]:
    """Yield as :func:`_solved`, from the dual program: least b·w with Gᵀ w = −c, w ≥ 0, which has fewer rows."""
    # scipy.optimize takes longer to import than most reactions take to compute
    from scipy.optimize import linprog

    G = block_diag([program.G.T for program in programs], format="csr")
    c, b = (np.concatenate([program[k] for program in programs]) for k in (0, 2))
    found = linprog(
        b, A_eq=G, b_eq=-c, bounds=(0, None), method="highs-ds", options={**OPTIONS, "presolve": False}
    )
    if found.status != SOLVED:
        # one of them is badly conditioned
        yield from map(_solved_alone, programs)
        return
    n = k = 0
    for program in programs:
        rows, columns = program.G.shape
        yield found.eqlin.marginals[n : n + columns], found.x[k : k + rows]
        n, k = n + columns, k + rows


def _solved_alone(program: _Program) -> tuple[Array, Array]:
    """Return the solution (n,) and the shadow prices (k,) of one program.

    Raises
    ------
    BadUsage
        HiGHS finds no solution.
    """
    from scipy.optimize import linprog

    for method in ("highs-ds", "highs-ipm"):
        for options in (OPTIONS, {**OPTIONS, "presolve": False}, {}):
            found = linprog(
                program.c, A_ub=program.G, b_ub=program.b, bounds=(None, None), method=method, options=options
            )
            if found.status == SOLVED:
                return np.asarray(found.x), -np.asarray(found.ineqlin.marginals)
    raise BadUsage(
        f"the bounds of the reactions cannot be computed: {found.message.splitlines()[0]}",
        expected="contacts and constraints that are well conditioned",
    )


def _block(G: csr_array, rows: AnyArray, columns: AnyArray) -> Array:
    """Return some rows (k,) of G (m, p), whose entries are all in sorted ``columns`` (n,), as a dense array (k, n)."""
    out = np.zeros((len(rows), len(columns)))
    counts = G.indptr[rows + 1] - G.indptr[rows]
    entries = np.repeat(G.indptr[rows] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    out[np.repeat(np.arange(len(rows)), counts), np.searchsorted(columns, G.indices[entries])] = G.data[
        entries
    ]
    return out


# Smallest and largest value of each reaction.


@dataclass(frozen=True, eq=False)
class Bounds:
    """Smallest and largest value of every multiplier that the rigid model does not determine.

    Parameters
    ----------
    lower, upper : (m,) array
        N and N·m; infinite where nothing bounds it.
    bounded_by : mapping of row to tuple of str
        Labels of the inequalities that decide the bounds of a row.
    determined : (m,) array of bool
        Whether both bounds agree, although the rigid model leaves the value open.
    """

    lower: Array
    upper: Array
    bounded_by: Mapping[int, tuple[str, ...]]
    determined: AnyArray


def bounds_of(system: System, possible: Possible, wanted: Inequalities) -> Bounds:
    """Return the bounds of all multipliers under inequalities that some reactions satisfy."""
    m = len(system.scale)
    lower, upper = np.full(m, -np.inf), np.full(m, np.inf)
    bounded_by: dict[int, tuple[str, ...]] = {}
    for stack in possible.forces(wanted):
        asked = [_bounded_rows(system, possible, part, stack.directions is None) for part in stack.parts]
        for one, found in zip(asked, stack.extremes([one.units for one in asked]), strict=True):
            for row, kind, size in zip(one.rows.tolist(), one.kind.tolist(), one.size.tolist(), strict=True):
                extreme = found[kind]
                ends = sorted((size * extreme.low, size * extreme.high))
                lower[row], upper[row] = (possible.origin[row] + possible.size * end for end in ends)
                bounded_by[row] = extreme.active
    determined = ~system.unique & (upper - lower <= _EQUAL * possible.size)
    for ends_of_all in (lower, upper):
        ends_of_all[np.abs(ends_of_all) <= FEASIBLE * possible.size] = 0.0
        ends_of_all *= system.scale
    return Bounds(lower, upper, bounded_by, determined)


class _Asked(NamedTuple):
    """Rows (n,) of a part that are not unique: each is its size (n,) times the direction kind (n,) of units (d, p)."""

    rows: AnyArray
    units: Array
    kind: AnyArray
    size: Array


def _bounded_rows(system: System, possible: Possible, part: Part, single: bool) -> _Asked:
    """Return the rows of a part whose bounds are computed, by combinations of self-stresses or by ``single`` forces."""
    rows = np.zeros(0, dtype=int)
    if part.columns.size:
        rows = np.unique(possible.by_column[:, part.columns].indices)
        rows = rows[~system.unique[rows]]
    if single:
        units = (rows[:, None] == part.rows).astype(float)
        return _Asked(rows, units, np.arange(len(rows)), np.ones(len(rows)))
    C = _block(possible.basis, rows, part.columns)
    if not C.shape[1]:
        return _Asked(rows, np.zeros((0, 0)), np.zeros(0, dtype=int), np.zeros(0))
    first = np.take_along_axis(C, np.argmax(np.abs(C), axis=1)[:, None], axis=1)[:, 0]
    size = np.linalg.norm(C, axis=1) * np.where(first < 0, -1.0, 1.0)
    units, kind = np.unique(np.round(C / size[:, None], _DIGITS), axis=0, return_inverse=True)
    return _Asked(rows, units, kind.ravel(), size)
