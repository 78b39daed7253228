"""Admissible forces as combinations of rays, and the extreme values of what depends on them.

The forces that a contact or a drive admits are λ = shift + rays w with w ≥ 0: the edges of the pyramid of friction, or
the way from one effort limit to the other. Those of all contacts that the equilibrium links are then the polyhedron
E w = e, w ≥ 0. It has a row for each combination of these forces that the equilibrium determines, and that are few
where many contacts carry one body.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import block_diag, csr_array, hstack

from mbplugin.errors import BadUsage
from mbplugin.joint_reactions.simplex import Least, Polyhedra, least, polyhedra
from mbplugin.model import NORMAL, AnyArray, Array

#: Violation of an inequality below this fraction of the largest reaction is rounding.
FEASIBLE = 1e-9
#: Feasibility tolerance of the general solver; with smaller ones HiGHS fails now and then.
TOLERANCE = 1e-9
OPTIONS = {"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE}
#: Status of a linear program that is solved, and of one without a finite solution.
SOLVED, _ENDLESS = 0, 3
#: A value that stands for infinity, relative to the largest reaction.
HUGE = 1e6
#: Shadow prices below this fraction of the largest are zero.
PRICED = 1e-7
#: A direction that differs by less from one that the inequalities limit is limited as well.
_LIMITED = 1e-9
#: Singular values below this fraction of the largest are zero.
_RANK = 1e-10
#: Numbers in one tableau from which on a general, sparse solver takes over.
_LARGE = 50_000


@dataclass(frozen=True, eq=False)
class Cone:
    """Scaled forces that a contact or a drive admits: λ = shift + rays w, w ≥ 0, and Σ w = total for a drive.

    Parameters
    ----------
    name : str
        Of the contact, or of the joint of the drive.
    rows : (k,) array of int
        Rows of the system; the first is the normal force of a contact.
    normal, sideways : (k, s) array
        Rays without friction, and their parts for the stated friction.
    shift : (k,) array
    total : float or None
    """

    name: str
    rows: AnyArray
    normal: Array
    sideways: Array
    shift: Array
    total: float | None = None

    def frictionless(self) -> Cone:
        """Return the cone of the normal force alone, with the friction free; a drive's cone is the same."""
        if self.total is not None:
            return self
        return replace(
            self,
            rows=self.rows[:1],
            normal=self.normal[:1, :1],
            sideways=self.sideways[:1, :1],
            shift=self.shift[:1],
        )

    def rays(self, factor: float) -> Array:
        """Return the rays (k, s), of unit size, with a factor on friction."""
        rays = self.normal + factor * self.sideways
        return np.asarray(rays / np.abs(rays).max(axis=0)) if self.total is None else rays


@dataclass(frozen=True)
class Extreme:
    """The least and the greatest value of a combination of forces, and the bounds that decide them."""

    low: float
    high: float
    active: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Part:
    """Contacts and drives that the equilibrium links, independent of all others.

    Parameters
    ----------
    cones : tuple of Cone
    rows : (k,) array of int
        Rows of the system, one cone after the other.
    columns : (p,) array of int
        Self-stresses of the part.
    Z : (k, p) array
        The self-stresses in these rows.
    origin : (k,) array
        One set of balancing forces in these rows, relative to the largest reaction, as everything here.
    equations : (c, k) sparse array or None
        Equilibrium of these rows, if they are many and no others carry the self-stresses.
    """

    cones: tuple[Cone, ...]
    rows: AnyArray
    columns: AnyArray
    Z: Array
    origin: Array
    equations: csr_array | None = None

    @cached_property
    def shape(self) -> tuple[tuple[int, int, bool], ...]:
        """Rows and rays of each cone, and whether it is a drive's."""
        return tuple((*cone.normal.shape, cone.total is not None) for cone in self.cones)


@dataclass(frozen=True, eq=False)
class Stack:
    """Admissible forces λ = shift + R w, E w = e, w ≥ 0 of parts of one shape, solved together.

    Parameters
    ----------
    parts : tuple of Part
    directions : (P, k, p) array or None
        Combinations of forces that are the coordinates of the self-stresses; None if a direction is one force.
    balance : (P, r, k) array
        Combinations of forces that the equilibrium determines; those of a large part are sparse, in a tuple.
    shift : (P, k) array
    R : (P, k, n) array
    E, e : (P, r + drives, n) array and (P, r + drives) array
    """

    parts: tuple[Part, ...]
    directions: Array | None
    balance: Array | tuple[csr_array, ...]
    shift: Array
    R: Array | tuple[csr_array, ...]
    E: Array | tuple[csr_array, ...]
    e: Array

    @cached_property
    def solver(self) -> Polyhedra | None:
        """Vertices of the polyhedra; None if a general solver is used."""
        if isinstance(self.E, tuple) or self.E[0].size > _LARGE:
            return None
        return polyhedra(self.E, self.e)

    @property
    def feasible(self) -> bool:
        """Whether every part has admissible forces."""
        if self.solver is not None:
            return bool((self.solver.missing <= FEASIBLE).all())
        return all(
            _general(E, e, np.zeros(E.shape[1])) is not None for E, e in zip(self.E, self.e, strict=True)
        )

    def extremes(self, asked: Sequence[Array]) -> Iterator[list[Extreme]]:
        """Yield for each part the extremes of directions (d, p), or of single forces (d, k)."""
        which = np.repeat(np.arange(len(self.parts)), [len(own) for own in asked])
        if not which.size:
            yield from ([] for _ in self.parts)
            return
        units = np.concatenate([own for own in asked if len(own)])
        limited = np.ones(len(which), dtype=bool)
        D = units
        if self.directions is not None:
            D = np.einsum("dkp,dp->dk", self.directions[which], units)
            Z = np.array([part.Z for part in self.parts])
            limited = np.linalg.norm(np.einsum("dkp,dk->dp", Z[which], D) - units, axis=1) <= _LIMITED
        origin = np.array([part.origin for part in self.parts])
        constants = np.einsum("dk,dk->d", D, (self.shift - origin)[which])
        costs = np.concatenate([np.asarray(D[which == k] @ R) for k, R in enumerate(self.R)])
        own = np.flatnonzero(limited)
        found = self._solved(np.tile(which[own], 2), np.concatenate((costs[own], -costs[own])))
        labels = self._labels(np.tile(which[own], 2), found)
        ends = np.full((2, len(which)), np.inf)
        ends[:, own] = found.value.reshape(2, -1)
        low, high = ends[0] + constants, constants - ends[1]
        low[~limited | (ends[0] < -0.5 * HUGE)] = -np.inf
        high[~limited | (ends[1] < -0.5 * HUGE)] = np.inf
        active: list[tuple[str, ...]] = [()] * len(which)
        for n, k in enumerate(own.tolist()):
            active[k] = tuple(dict.fromkeys(labels[n] + labels[n + len(own)]))
        every = list(map(Extreme, low.tolist(), high.tolist(), active))
        start = 0
        for one in asked:
            yield every[start : start + len(one)]
            start += len(one)

    def furthest(self, loads: Array) -> Iterator[list[tuple[float, tuple[str, ...]]]]:
        """Yield for each part the largest factor on each load, and its limiting bound.

        Parameters
        ----------
        loads : (l, m) array
            In rows of the system, relative to the largest reaction.
        """
        count = len(loads)
        which = np.repeat(np.arange(len(self.parts)), count)
        extra = np.zeros((len(which), self.e.shape[1]))
        for k, part in enumerate(self.parts):
            along = -(self.balance[k] @ loads[:, part.rows].T).T
            extra[k * count : (k + 1) * count, : along.shape[1]] = along
        size = np.abs(extra).max(axis=1, initial=0.0)
        moves = np.flatnonzero(size > FEASIBLE)
        costs = np.zeros((len(moves), self.R[0].shape[1] + 1))
        costs[:, -1] = -1.0
        found = self._solved(which[moves], costs, extra[moves] / size[moves, None])
        labels = self._labels(which[moves], found)
        out: list[tuple[float, tuple[str, ...]]] = [(np.inf, ())] * len(which)
        for n, k in enumerate(moves.tolist()):
            factor = float(-found.value[n] / size[k])
            if factor < 0.5 * HUGE:
                out[k] = factor, labels[n]
        for k in range(len(self.parts)):
            yield out[k * count : (k + 1) * count]

    def _solved(self, which: AnyArray, c: Array, extra: Array | None = None) -> Least:
        """Return the least values of costs c (k, n) on parts ``which`` (k,), with further columns ``extra`` (k, r)."""
        if self.solver is None:
            out = Least(np.zeros(len(c)), np.zeros(c.shape), np.zeros(c.shape), np.zeros(len(c), dtype=bool))
        else:
            out = least(self.solver, which, c, extra)
        for k in np.flatnonzero(~out.solved).tolist():
            column = None if extra is None else extra[k]
            found = _general(self.E[which[k]], self.e[which[k]], c[k], column)
            if found is None:
                raise BadUsage(
                    "the bounds of the reactions cannot be computed: the linear program is badly conditioned",
                    expected="contacts and constraints that are well conditioned",
                )
            out.value[k], out.w[k], out.reduced[k] = found
        return out

    def _labels(self, which: AnyArray, found: Least) -> list[tuple[str, ...]]:
        """Return the limits that decide each solution on parts ``which`` (k,); unloaded contacts by normal force."""
        if not len(which):
            return []
        shape = self.parts[0].shape
        starts = np.cumsum([0, *(rays for _, rays, _ in shape)])[:-1]
        firsts = np.cumsum([0, *(rows for rows, _, _ in shape)])[:-1]
        n = self.R[0].shape[1]
        prices = np.maximum.reduceat(np.abs(found.reduced[:, :n]), starts, axis=1)
        priced = (prices > PRICED * prices.max(axis=1, initial=0.0, keepdims=True)) & (
            found.value > -0.5 * HUGE
        )[:, None]
        normal = np.empty((len(which), len(shape)))
        for k, R in enumerate(self.R):
            own = which == k
            normal[own] = (R[firsts] @ found.w[own, :n].T).T
        bare = np.array([rows == 1 for rows, _, _ in shape])
        names = [
            [
                (f"{c.name}.effort",) * 2
                if c.total is not None
                else (f"{c.name}.friction", f"{c.name}.{NORMAL}")
                for c in part.cones
            ]
            for part in self.parts
        ]
        kinds = (bare | (normal <= FEASIBLE)).astype(int)
        out: list[list[str]] = [[] for _ in range(len(which))]
        for k, cone in zip(*(places.tolist() for places in np.nonzero(priced)), strict=True):
            out[k].append(names[which[k]][cone][kinds[k, cone]])
        return [tuple(one) for one in out]


def stacks(parts: Sequence[Part], size: float, factor: float) -> list[Stack]:
    """Return the admissible forces of parts, those of one shape together.

    Parameters
    ----------
    size : float
        The largest reaction.
    factor : float
        On all coefficients of friction.
    """
    alike: dict[tuple[object, ...], list[Part]] = defaultdict(list)
    found: list[Stack] = []
    for part in parts:
        if part.equations is not None:
            found.append(_sparse(part, size, factor))
        else:
            alike[part.shape, part.Z.shape[1]].append(part)
    for own in alike.values():
        U, s, Vt = np.linalg.svd(np.array([part.Z for part in own]), full_matrices=True)
        rank = (s > _RANK * s.max(axis=1, initial=0.0, keepdims=True)).sum(axis=1)
        for r in np.unique(rank).tolist():
            members = np.flatnonzero(rank == r)
            inverse = (U[members, :, :r] / s[members, None, :r]) @ Vt[members, :r]
            N = U[members, :, r:].transpose(0, 2, 1)
            found.append(_dense([own[k] for k in members.tolist()], inverse, N, size, factor))
    return found


def _dense(parts: Sequence[Part], inverse: Array, N: Array, size: float, factor: float) -> Stack:
    """Return the forces of small parts, with directions ``inverse`` (P, k, p) and balance N (P, r, k)."""
    shape = parts[0].shape
    R = np.zeros((len(parts), len(parts[0].rows), sum(rays for _, rays, _ in shape)))
    drives = [k for k, (_, _, drive) in enumerate(shape) if drive]
    totals = np.zeros((len(parts), len(drives), R.shape[2]))
    row = column = 0
    for k, (rows, rays, drive) in enumerate(shape):
        R[:, row : row + rows, column : column + rays] = [part.cones[k].rays(factor) for part in parts]
        if drive:
            totals[:, drives.index(k), column : column + rays] = 1.0
        row, column = row + rows, column + rays
    shift = np.array([np.concatenate([cone.shift for cone in part.cones]) for part in parts]) / size
    sums = np.array([[part.cones[k].total for k in drives] for part in parts], dtype=float) / size
    origin = np.array([part.origin for part in parts])
    E = np.concatenate((N @ R, totals), axis=1)
    e = np.concatenate(((N @ (origin - shift)[:, :, None])[:, :, 0], sums), axis=1)
    return Stack(tuple(parts), inverse, N, shift, R, E, e)


def _sparse(part: Part, size: float, factor: float) -> Stack:
    assert part.equations is not None
    R = csr_array(block_diag([cone.rays(factor) for cone in part.cones]))
    shift = np.concatenate([cone.shift for cone in part.cones]) / size
    balance = part.equations
    e = (balance @ (part.origin - shift))[None]
    return Stack((part,), None, (balance,), shift[None], (R,), (csr_array(balance @ R),), e)


def is_large(rows: int, stresses: int, cones: Sequence[Cone]) -> bool:
    """Return True if a general, sparse solver is used for a part."""
    return (rows - stresses) * sum(cone.normal.shape[1] for cone in cones) > _LARGE and not any(
        cone.total is not None for cone in cones
    )


def _general(
    E: Array | csr_array, e: Array, c: Array, extra: Array | None = None
) -> tuple[float, Array, Array] | None:
    """Return the least value, w (n,) and reduced costs (n,) by HiGHS; None if there is no solution.

    Parameters
    ----------
    E : (r, n) array
    e : (r,) array
    c : (n,) array
    extra : (r,) array
    """
    # scipy.optimize takes longer to import than most reactions take to compute
    from scipy.optimize import linprog

    if extra is not None:
        E = hstack([csr_array(E), csr_array(extra[:, None])])
    for options in ({**OPTIONS, "presolve": False}, OPTIONS, {}):
        found = linprog(c, A_eq=E, b_eq=e, bounds=(0, None), method="highs-ds", options=options)
        if found.status == SOLVED:
            return float(found.fun), np.asarray(found.x), np.asarray(found.lower.marginals)
        if found.status == _ENDLESS:
            return -np.inf, np.zeros(len(c)), np.zeros(len(c))
    return None
