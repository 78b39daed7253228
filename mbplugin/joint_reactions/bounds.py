"""Bounds of reactions: contacts only push, friction is limited, and held joints have a largest force.

A reaction that the rigid model does not determine is λ = λ₀ + Z y, and every y that satisfies the inequalities is
possible. The smallest and the largest value of each component are linear programs in y, solved block by block. The
circle of friction is replaced by the regular polygon around it, so that the true values lie within the bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_diag, csr_array, diags_array, vstack
from scipy.sparse.csgraph import connected_components

from mbplugin.errors import BadUsage
from mbplugin.joint_reactions.statics import System
from mbplugin.model.mechanism.contact import NORMAL, SIDES, TANGENTS
from mbplugin.model.mechanism.mechanism import Driver, Lock
from mbplugin.model.spatial import AnyArray, Array

#: Violation of an inequality below this fraction of the largest reaction is rounding.
FEASIBLE = 1e-9
#: Feasibility tolerance of the linear programs; with smaller ones HiGHS fails now and then.
_TOLERANCE = 1e-9
_OPTIONS = {"primal_feasibility_tolerance": _TOLERANCE, "dual_feasibility_tolerance": _TOLERANCE}
#: Status of a linear program that is solved.
_SOLVED = 0
#: A value that stands for infinity, relative to the largest reaction.
_HUGE = 1e6
#: Digits in which two directions are the same.
_DIGITS = 12
#: Largest number of inequalities in programs that are solved together.
_MOST_LIMITS = 4000
#: Bounds closer than this fraction of the largest reaction are equal.
_EQUAL = 1e-8
#: Shadow prices below this fraction of the largest are zero.
PRICED = 1e-7
#: Components of a direction below this are zero.
_NOTHING = 1e-15
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
    """

    A: csr_array
    B: csr_array
    h: Array
    owners: tuple[str, ...]
    kinds: AnyArray

    def __len__(self) -> int:
        return len(self.owners)

    def with_friction(self, factor: float) -> csr_array:
        """Return A + s B (k, m) with the factor s on friction; rows are divided by s μ where that is large."""
        size = 1.0 / np.maximum(1.0, factor * np.abs(self.B).max(axis=1).toarray().ravel())
        return (diags_array(size) @ (self.A + factor * self.B)).tocsr()

    def of(self, *kinds: Kind) -> Inequalities:
        """Return those of some kinds."""
        kept = np.flatnonzero(np.isin(self.kinds, kinds))
        owners = tuple(self.owners[k] for k in kept.tolist())
        return Inequalities(self.A[kept], self.B[kept], self.h[kept], owners, self.kinds[kept])


class _Inequality(NamedTuple):
    """Σ own · λ + s Σ friction · λ ≤ largest, entries by row."""

    own: Mapping[int, float]
    friction: Mapping[int, float]
    largest: float
    owner: str
    kind: Kind


def inequalities(system: System, limits: Mapping[str, float]) -> Inequalities:
    """Return the inequalities of all contacts, and of the drives with a largest force.

    Parameters
    ----------
    limits : mapping
        Largest force (N, N·m) of a multiplier by its label ``CONSTRAINT.COMPONENT``.
    """
    found: list[_Inequality] = []
    for contact in system.mech.contacts:
        start = system.slices[contact.name].start
        components = system.rows_by_name[contact.name].components
        at = {name: start + k for k, name in enumerate(components)}
        if NORMAL not in at:
            continue
        n = at[NORMAL]
        found.append(_Inequality({n: -1.0}, {}, 0.0, f"{contact.name}.{NORMAL}", "normal"))
        tangents = [(at[name], k) for k, name in enumerate(TANGENTS) if name in at]
        for angle in 2 * np.pi * np.arange(SIDES if tangents else 0) / SIDES:
            direction = (float(np.cos(angle)), float(np.sin(angle)))
            side = {row: direction[k] for row, k in tangents if abs(direction[k]) > _NOTHING}
            if side:
                owner = f"{contact.name}.friction"
                found.append(_Inequality(side, {n: -contact.mu}, 0.0, owner, "friction"))
    joints = {c.name: c.joint for c in system.mech.constraints() if isinstance(c, Driver | Lock)}
    for row, label in enumerate(system.labels):
        if (largest := limits.get(label.dotted)) is not None:
            owner = f"{joints[label.constraint]}.effort"
            found += [_Inequality({row: sign}, {}, largest, owner, "limit") for sign in (1.0, -1.0)]
    return _scaled(system, found)


def _scaled(system: System, found: Sequence[_Inequality]) -> Inequalities:
    """Return the inequalities on scaled multipliers, each divided by its largest scale."""
    size = np.array([max(system.scale[row] for row in one.own) for one in found])

    def matrix(parts: Sequence[Mapping[int, float]]) -> csr_array:
        entries = [(k, row, value) for k, part in enumerate(parts) for row, value in part.items()]
        i, j = (np.array([entry[c] for entry in entries], dtype=int) for c in (0, 1))
        data = np.array([entry[2] for entry in entries], dtype=float) * system.scale[j] / size[i]
        return csr_array((data, (i, j)), shape=(len(found), len(system.scale)))

    h = np.array([one.largest for one in found]) / size if found else np.zeros(0)
    return Inequalities(
        matrix([one.own for one in found]),
        matrix([one.friction for one in found]),
        h,
        tuple(one.owner for one in found),
        np.array([one.kind for one in found], dtype=object),
    )


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
    """

    origin: Array
    basis: csr_array
    size: float

    @classmethod
    def of(cls, system: System, multipliers: Array) -> Possible:
        """Return the reactions through one of them, ``multipliers`` (m,), scaled."""
        largest = float(np.abs(multipliers).max(initial=0.0))
        return cls(multipliers, system.local, largest or 1.0)

    def inside(self, wanted: Inequalities, factor: float = 1.0) -> tuple[csr_array, Array]:
        """Return G (k, p) and b (k,) with G y ≤ b for the inequalities, y relative to ``size``."""
        A = wanted.with_friction(factor)
        return (A @ self.basis).tocsr(), (wanted.h - A @ self.origin) / self.size

    def parts(self, wanted: Inequalities) -> list[Part]:
        """Return the independent parts of the self-stresses and inequalities, those without self-stresses alone."""
        A = abs(wanted.A) + abs(wanted.B)
        G = (A @ abs(self.basis)).tocsr()
        alone = np.flatnonzero(np.diff(G.indptr) == 0)
        found = [Part(np.zeros(0, dtype=int), alone)] if alone.size else []
        touched = vstack([abs(self.basis), G]).tocsr()
        part = connected_components(touched.T @ touched, directed=False)[1]
        limited = np.flatnonzero(np.diff(G.indptr))
        part_of_limit = part[G.indices[G.indptr[limited]]]
        order = np.argsort(part, kind="stable")
        starts = np.searchsorted(part[order], np.arange(part.max(initial=-1) + 2))
        by_part = np.argsort(part_of_limit, kind="stable")
        limits = np.searchsorted(part_of_limit[by_part], np.arange(len(starts)))
        for k in range(len(starts) - 1):
            own = limited[by_part[limits[k] : limits[k + 1]]]
            if own.size:
                found.append(Part(order[starts[k] : starts[k + 1]], own))
        return found

    def phase(self, wanted: Inequalities, factor: float = 1.0) -> Phase:
        """Return the smallest violation of the inequalities, friction coefficients multiplied by ``factor``."""
        G, b = self.inside(wanted, factor)
        parts = self.parts(wanted)
        programs = []
        for part in parts:
            p, k = len(part.columns), len(part.limits)
            own = np.zeros((k + 1, p + 1))
            own[:k, :p] = _block(G, part.limits, part.columns)
            own[:, p] = -1.0
            programs.append(_Program(np.eye(1, p + 1, p)[0], own, np.append(b[part.limits], 1.0)))
        worst, prices = -1.0, np.zeros(len(b))
        for part, (x, found) in zip(parts, _solved(programs), strict=True):
            if x[-1] > worst:
                worst, prices = float(x[-1]), np.zeros(len(b))
                prices[part.limits] = found[:-1]
        return Phase(worst, prices)

    def furthest(self, wanted: Inequalities, loads: Array) -> list[tuple[float, tuple[str, ...]]]:
        """Return the largest factor on each of ``loads`` (n, m), scaled multipliers, and what limits it.

        Infinite for a load that can grow without limit. A contact without normal force is named by ``cn``.
        """
        G, b = self.inside(wanted)
        along = wanted.with_friction(1.0) @ loads.T / self.size
        parts, normal_of = self.parts(wanted), _normals(wanted)
        programs = []
        for part in parts:
            p, k = len(part.columns), len(part.limits)
            for load in along[part.limits].T:
                own = np.zeros((k + 1, p + 1))
                own[:k, :p], own[:k, p], own[k, p] = _block(G, part.limits, part.columns), load, 1.0
                programs.append(_Program(-np.eye(1, p + 1, p)[0], own, np.append(b[part.limits], _HUGE)))
        found: list[tuple[float, tuple[str, ...]]] = [(np.inf, ())] * len(loads)
        for n, (x, prices) in enumerate(_solved(programs)):
            part, load = parts[n // len(loads)], n % len(loads)
            if x[-1] < min(found[load][0], 0.5 * _HUGE):
                slack = programs[n].b - programs[n].G @ x
                own_normals = np.searchsorted(part.limits, normal_of[part.limits])
                limiting = part.limits[_decisive(prices[:-1], slack[:-1], own_normals)]
                found[load] = float(x[-1]), tuple(dict.fromkeys(wanted.owners[k] for k in limiting.tolist()))
        return found


@dataclass(frozen=True, eq=False)
class Part:
    """Self-stresses and inequalities that are independent of all others.

    Parameters
    ----------
    columns : (p,) array of int
        Columns of the basis.
    limits : (k,) array of int
    """

    columns: AnyArray
    limits: AnyArray


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
    G = block_diag([program.G.T for program in programs], format="csr")
    c, b = (np.concatenate([program[k] for program in programs]) for k in (0, 2))
    found = linprog(
        b, A_eq=G, b_eq=-c, bounds=(0, None), method="highs-ds", options={**_OPTIONS, "presolve": False}
    )
    if found.status != _SOLVED:
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
    for method in ("highs-ds", "highs-ipm"):
        for options in (_OPTIONS, {**_OPTIONS, "presolve": False}, {}):
            found = linprog(
                program.c, A_ub=program.G, b_ub=program.b, bounds=(None, None), method=method, options=options
            )
            if found.status == _SOLVED:
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


class _Extreme(NamedTuple):
    """The least and the greatest value of a combination of y, and the inequalities that decide them."""

    low: float
    high: float
    active: tuple[int, ...]


def bounds_of(system: System, possible: Possible, wanted: Inequalities) -> Bounds:
    """Return the bounds of all multipliers under inequalities that some reactions satisfy."""
    m = len(system.scale)
    lower, upper = np.full(m, -np.inf), np.full(m, np.inf)
    bounded_by: dict[int, tuple[str, ...]] = {}
    G, b = possible.inside(wanted)
    # rounding must not make a single possible value impossible
    b = b + max(possible.phase(wanted).violation, 0.0)
    normal_of = _normals(wanted)
    chosen = list(_with_rows(system, possible, wanted))
    blocks = []
    for part, rows in chosen:
        C = _block(possible.basis, rows, part.columns)
        inside = _block(G, part.limits, part.columns)
        own_normals = np.searchsorted(part.limits, normal_of[part.limits])
        blocks.append(_Block(C, inside, b[part.limits], own_normals))
    for (part, rows), found in zip(chosen, _extremes(blocks), strict=True):
        for row, extreme in zip(rows.tolist(), found, strict=True):
            ends = (possible.origin[row] + possible.size * end for end in extreme[:2])
            lower[row], upper[row] = ends
            bounded_by[row] = tuple(dict.fromkeys(wanted.owners[part.limits[k]] for k in extreme.active))
    determined = ~system.unique & (upper - lower <= _EQUAL * possible.size)
    for ends_of_all in (lower, upper):
        ends_of_all[np.abs(ends_of_all) <= FEASIBLE * possible.size] = 0.0
        ends_of_all *= system.scale
    return Bounds(lower, upper, bounded_by, determined)


def _with_rows(system: System, possible: Possible, wanted: Inequalities) -> Iterator[tuple[Part, AnyArray]]:
    """Yield the parts with self-stresses, each with the rows (n,) that these load."""
    by_column = possible.basis.tocsc()
    for part in possible.parts(wanted):
        rows = np.unique(by_column[:, part.columns].indices) if part.columns.size else np.zeros(0, dtype=int)
        rows = rows[~system.unique[rows]]
        if rows.size:
            yield part, rows


def _normals(wanted: Inequalities) -> AnyArray:
    """Return for each inequality the index (k,) of the normal force that it limits friction by, else its own."""
    normals = {
        name: k
        for k, (name, kind) in enumerate(zip(wanted.owners, wanted.kinds, strict=True))
        if kind == "normal"
    }
    return np.array(
        [normals.get(f"{name.rpartition('.')[0]}.{NORMAL}", k) for k, name in enumerate(wanted.owners)],
        dtype=int,
    )


def _decisive(prices: Array, slack: Array, normal_of: AnyArray) -> AnyArray:
    """Return the indices (n,) of the inequalities with a shadow price, from prices (k,) and slack (k,).

    An unloaded contact is named by its normal force, of index ``normal_of`` (k,), and not by its friction.
    """
    found = np.flatnonzero(prices > PRICED * prices.max(initial=0.0))
    return np.where(slack[normal_of[found]] <= FEASIBLE, normal_of[found], found)


class _Block(NamedTuple):
    """Combinations C (n, p) of y with G y ≤ b, G (k, p) and b (k,); normal_of (k,) as for :func:`_decisive`."""

    C: Array
    G: Array
    b: Array
    normal_of: AnyArray


def _extremes(blocks: Sequence[_Block]) -> Iterator[list[_Extreme]]:
    """Yield the extremes of each combination of each block."""
    together = [_directions(block.C) for block in blocks]
    programs = [_programs(block, units) for block, (units, _, _) in zip(blocks, together, strict=True)]
    solved = _solved([program for own in programs for program in own])
    for block, (units, kind, size) in zip(blocks, together, strict=True):
        if block.C.shape[1] == 1:
            yield _on_a_line(block.C[:, 0], block.G[:, 0], block.b)
            continue
        found = [_between(block, unit, solved) for unit in units]
        out = []
        for k, sign in zip(kind.tolist(), size.tolist(), strict=True):
            low, high, active = found[k]
            ends = sorted((sign * low, sign * high))
            out.append(_Extreme(ends[0], ends[1], active))
        yield out


def _directions(C: Array) -> tuple[Array, AnyArray, Array]:
    """Return the directions (d, p) of C (n, p), the direction (n,) of each row and its signed length (n,)."""
    if C.shape[1] == 1:
        return np.zeros((0, 1)), np.zeros(0, dtype=int), np.zeros(0)
    first = np.take_along_axis(C, np.argmax(np.abs(C), axis=1)[:, None], axis=1)[:, 0]
    size = np.linalg.norm(C, axis=1) * np.where(first < 0, -1.0, 1.0)
    units, kind = np.unique(np.round(C / size[:, None], _DIGITS), axis=0, return_inverse=True)
    return units, kind.ravel(), size


def _programs(block: _Block, units: Array) -> Iterator[_Program]:
    """Yield the two programs of each direction, units (d, p)."""
    # values below −_HUGE stand for −∞, so that every program has a solution
    limits = np.append(block.b, _HUGE)
    for unit in units:
        for sign in (1.0, -1.0):
            yield _Program(sign * unit, np.vstack((block.G, -sign * unit)), limits)


def _between(block: _Block, unit: Array, solved: Iterator[tuple[Array, Array]]) -> _Extreme:
    """Return the extremes of a direction, unit (p,), from the next two of the solutions solved, (p,) and (k,)."""
    ends: list[float] = []
    active: list[int] = []
    for sign in (1.0, -1.0):
        y, prices = next(solved)
        value, prices = sign * float(unit @ y), prices[:-1]
        if value < -0.5 * _HUGE:
            ends.append(-sign * np.inf)
            continue
        ends.append(sign * value)
        active += _decisive(prices, block.b - block.G @ y, block.normal_of).tolist()
    return _Extreme(ends[0], ends[1], tuple(active))


def _on_a_line(c: Array, g: Array, b: Array) -> list[_Extreme]:
    """Return the extremes of c (n,) times one unknown y with g y ≤ b, with g (k,) and b (k,)."""
    ends: list[tuple[float, tuple[int, ...]]] = []
    for sign in (-1.0, 1.0):
        limiting = np.flatnonzero(sign * g > _TOLERANCE)
        ratios = b[limiting] / np.abs(g[limiting])
        k = int(np.argmin(ratios)) if ratios.size else -1
        ends.append((sign * ratios[k], (int(limiting[k]),)) if ratios.size else (sign * np.inf, ()))
    (low, below), (high, above) = ends
    out = []
    for value in c.tolist():
        # zero times an infinite end is no number
        first, last = sorted((value * low, value * high)) if value else (0.0, 0.0)
        out.append(_Extreme(float(first), float(last), below + above))
    return out
