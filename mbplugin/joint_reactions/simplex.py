"""Many small linear programs at once: least c·w with E w = e and w ≥ 0, by the simplex method on stacked tableaus.

All programs of a stack have the same shape; programs on one polyhedron start from the same vertex. Contacts give
thousands of programs of a few rows, for which calls of a general solver cost far more than the pivots.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.model import AnyArray, Array

#: Reduced costs above minus this are not negative; costs are of unit size.
_OPTIMAL = 1e-10
#: Entries below this do not become pivots; columns are of unit size.
_PIVOT = 1e-9
#: Ratios of the ratio test that differ by less, relative to the right-hand side, are equal.
_TIED = 1e-12
#: Pivots per row after which ties could be cycling, and the first column with a negative cost enters (Bland).
_PATIENCE = 6
#: Pivots per row after which a program is given up.
_MOST_PIVOTS = 60
#: Numbers in the tableaus that are worked on together, which fit a cache.
_TOGETHER = 100_000


@dataclass(frozen=True, eq=False)
class Polyhedra:
    """Polyhedra {w ≥ 0 : E w = e} of one shape, each at one of its vertices.

    Parameters
    ----------
    E : (k, r, n) array
    e : (k, r) array
        Not negative.
    turned : (k, r) array
        1, or −1 for a row whose sign was changed.
    basis : (k, r) array of int
        Columns of the vertex; n + i is an artificial column of a row that depends on the others.
    tableau : (k, r, n + r) array
        B⁻¹ [E 1].
    vertex : (k, r) array
        Values of the columns of ``basis``.
    missing : (k,) array
        Sum of |E w − e| that no w removes.
    """

    E: Array
    e: Array
    turned: Array
    basis: AnyArray
    tableau: Array
    vertex: Array
    missing: Array


@dataclass(frozen=True, eq=False)
class Least:
    """Solutions of stacked programs.

    Parameters
    ----------
    value : (k,) array
        −∞ if the cost has no least value.
    w : (k, n) array
    reduced : (k, n) array
        Reduced costs, not negative: zero in the columns that may differ from zero.
    solved : (k,) array of bool
        False for a program that needs a general solver.
    """

    value: Array
    w: Array
    reduced: Array
    solved: AnyArray


def polyhedra(E: Array, e: Array) -> Polyhedra:
    """Find a vertex of each polyhedron, E (k, r, n) and e (k, r), with the smallest violation of its equations."""
    turned = np.where(e < 0, -1.0, 1.0)
    E, e = E * turned[:, :, None], e * turned
    k, r, n = E.shape
    tableau = np.concatenate((E, np.broadcast_to(np.eye(r), (k, r, r))), axis=2)
    basis = np.tile(np.arange(n, n + r), (k, 1))
    vertex = e.copy()
    costs = np.concatenate((-E.sum(axis=1), np.zeros((k, r))), axis=1)
    _pivoted(tableau, vertex, basis, costs, n)
    missing = np.where(basis >= n, vertex, 0.0).sum(axis=1)
    _drive_out(tableau, vertex, basis, n)
    return Polyhedra(E, e, turned, basis, tableau, np.maximum(vertex, 0.0), missing)


def least(on: Polyhedra, which: AnyArray, c: Array, extra: Array | None = None) -> Least:
    """Return the least c·w of each program.

    Parameters
    ----------
    on : Polyhedra
    which : (k,) array of int
        The polyhedron of each program.
    c : (k, n) array
        Costs, with n + 1 columns if there is an ``extra`` one.
    extra : (k, r) array, optional
        A further column of E for each program.
    """
    out = Least(np.empty(len(c)), np.zeros(c.shape), np.zeros(c.shape), np.zeros(len(c), dtype=bool))
    _, r, n = on.E.shape
    step = max(1, _TOGETHER // (max(r, 1) * (n + r + 1)))
    for start in range(0, len(c), step):
        part = slice(start, start + step)
        _least(on, which[part], c[part], None if extra is None else extra[part], out, part)
    return out


def _least(on: Polyhedra, which: AnyArray, c: Array, extra: Array | None, out: Least, part: slice) -> None:
    """Solve some of the programs, and write their solutions into ``part`` of ``out``; shapes as for :func:`least`.

    ``which`` is (k,), ``c`` (k, n) and ``extra`` (k, r).
    """
    _, r, n = on.E.shape
    E, e = on.E[which], on.e[which]
    tableau, vertex, basis = on.tableau[which], on.vertex[which], on.basis[which]
    if extra is not None:
        extra = extra * on.turned[which]
        inverse = tableau[:, :, n:]
        tableau = np.concatenate((tableau[:, :, :n], inverse @ extra[:, :, None], inverse), axis=2)
        E = np.concatenate((E, extra[:, :, None]), axis=2)
        basis = np.where(basis >= n, basis + 1, basis)
        n += 1
    size = np.abs(c).max(axis=1, initial=0.0, keepdims=True)
    size[size == 0] = 1.0
    full = np.concatenate((c / size, np.zeros((len(c), r))), axis=1)
    at_basis = np.take_along_axis(full, basis, axis=1)
    costs = full - (at_basis[:, None, :] @ tableau)[:, 0]
    bounded, solved = _pivoted(tableau, vertex, basis, costs, n)
    # the vertex and its prices once more from the original numbers: pivots leave rounding
    columns = np.concatenate((E, np.broadcast_to(np.eye(r), (len(c), r, r))), axis=2)
    B = np.take_along_axis(columns, basis[:, None, :], axis=2)
    at_basis = np.take_along_axis(full, basis, axis=1)
    try:
        exact = np.linalg.solve(B, e[:, :, None])[:, :, 0]
        prices = np.linalg.solve(B.transpose(0, 2, 1), at_basis[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        exact, prices = vertex, (at_basis[:, None, :] @ tableau[:, :, n:])[:, 0]
    # artificial columns stay at zero: what is missing was found before
    exact = np.where(basis >= n, 0.0, exact)
    w = np.zeros((len(c), n + r))
    np.put_along_axis(w, basis, exact, axis=1)
    out.w[part] = w[:, :n]
    out.reduced[part] = (full[:, :n] - (prices[:, None, :] @ E)[:, 0]) * size
    out.value[part] = np.where(bounded, (at_basis * exact).sum(axis=1) * size[:, 0], -np.inf)
    out.solved[part] = solved


def _pivoted(
    tableau: Array, vertex: Array, basis: AnyArray, costs: Array, n: int
) -> tuple[AnyArray, AnyArray]:
    """Pivot in place until no cost is negative; return for each (k,) whether it is bounded, and whether it is solved.

    Parameters
    ----------
    tableau : (k, r, m) array
        The first n columns may enter the basis.
    vertex, basis : (k, r) arrays
    costs : (k, m) array
        Reduced costs.
    """
    k, r, _ = tableau.shape
    bounded, solved = np.ones(k, dtype=bool), np.zeros(k, dtype=bool)
    active = np.arange(k)
    T, x, b, z = tableau, vertex, basis, costs
    for pivots in range(_MOST_PIVOTS * (r + 2)):
        entering = np.argmin(z[:, :n], axis=1) if n else np.zeros(len(active), dtype=int)
        if pivots > _PATIENCE * (r + 2):
            entering = np.argmax(z[:, :n] < -_OPTIMAL, axis=1)
        each = np.arange(len(active))
        improves = z[each, entering] < -_OPTIMAL if n else np.zeros(len(active), dtype=bool)
        column = T[each, :, entering]
        ratios = np.full(x.shape, np.inf)
        np.divide(x, column, out=ratios, where=column > _PIVOT)
        first = ratios.min(axis=1, initial=np.inf)
        leaves = np.isfinite(first)
        solved[active[~improves]] = True
        endless = improves & ~leaves
        solved[active[endless]], bounded[active[endless]] = True, False
        going = improves & leaves
        if not going.all():
            if T is not tableau:
                tableau[active], vertex[active], basis[active], costs[active] = T, x, b, z
            active = active[going]
            if not active.size:
                return bounded, solved
            T, x, b, z = tableau[active], vertex[active], basis[active], costs[active]
            entering, column, ratios, first = (values[going] for values in (entering, column, ratios, first))
        tied = ratios <= first[:, None] + _TIED * (1.0 + first[:, None])
        if pivots > _PATIENCE * (r + 2):
            leaving = np.argmin(np.where(tied, b, np.iinfo(int).max), axis=1)
        else:
            leaving = np.argmax(np.where(tied, column, -np.inf), axis=1)
        _exchange(T, x, b, z, leaving, entering)
    if T is not tableau:
        tableau[active], vertex[active], basis[active], costs[active] = T, x, b, z
    return bounded, solved


def _exchange(
    T: Array, x: Array, b: AnyArray, z: Array | None, leaving: AnyArray, entering: AnyArray
) -> None:
    """Exchange one column of each basis, in place.

    Parameters
    ----------
    T : (k, r, m) array
    x, b : (k, r) arrays
    z : (k, m) array or None
    leaving, entering : (k,) arrays of int
        Row of the column that leaves, and column that enters.
    """
    each = np.arange(len(T))
    column = T[each, :, entering]
    pivot = column[each, leaving]
    row = T[each, leaving] / pivot[:, None]
    value = x[each, leaving] / pivot
    T -= column[:, :, None] * row[:, None, :]
    T[each, leaving] = row
    x -= column * value[:, None]
    # a vertex that ties in the ratio test must not leave by rounding
    np.maximum(x, 0.0, out=x)
    x[each, leaving] = value
    if z is not None:
        z -= z[each, entering][:, None] * row
    b[each, leaving] = entering


def _drive_out(T: Array, x: Array, b: AnyArray, n: int) -> None:
    """Exchange artificial columns that are zero for others, in place; those of dependent rows stay.

    Parameters
    ----------
    T : (k, r, m) array
    x, b : (k, r) arrays
    """
    if not n:
        return
    for row in range(T.shape[1]):
        entries = np.abs(T[:, row, :n])
        entering = np.argmax(entries, axis=1)
        own = np.flatnonzero((b[:, row] >= n) & (entries[np.arange(len(T)), entering] > 1e-7))
        if own.size:
            part = T[own], x[own], b[own]
            _exchange(*part, None, np.full(own.size, row), entering[own])
            T[own], x[own], b[own] = part
