"""Undetermined reactions: null directions of each reaction, and the family of possible values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from mbplugin.constraints.reduction.strips import strip_of
from mbplugin.joint_reactions.self_stresses.basis import StressBasis, side_by_side
from mbplugin.joint_reactions.self_stresses.independent_rows import independent_rows
from mbplugin.joint_reactions.system import System
from mbplugin.model.enumerations import ReactionUnit
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.phrases import one_line_repr

#: A coefficient below this fraction of the largest of its row is rounding.
_ZERO = 1e-8
#: A row is taken as a parameter when at least this part of it is independent of those before it.
_INDEPENDENT = 0.3


@dataclass(frozen=True)
class Weight:
    """One term of a null direction or relation: ``weight`` of a component."""

    constraint: str
    component: str
    weight: float


@dataclass(frozen=True)
class NullDirection:
    """A change of one reaction that the rigid model does not notice, in N and N·m."""

    components: tuple[Weight, ...]


@one_line_repr
@dataclass(frozen=True)
class Relation:
    """component = constant + Σ weight · parameter, in N and N·m: true for every possible reaction."""

    constraint: str
    component: str
    unit: ReactionUnit
    constant: float
    terms: tuple[Weight, ...]


@one_line_repr
@dataclass(frozen=True)
class Family:
    """All reactions that the rigid model allows: free parameters, and what follows from them.

    Parameters
    ----------
    parameters : tuple of (constraint, component, unit)
        Components that may take any value.
    relations : tuple of Relation
        Every other component of the family.
    """

    parameters: tuple[tuple[str, str, ReactionUnit], ...]
    relations: tuple[Relation, ...]


def null_directions(system: System, constraint: str) -> tuple[NullDirection, ...]:
    """Return independent changes of one reaction that the rigid model allows."""
    rows = system.slices[constraint]
    if system.unique[rows].all():
        return ()
    scale = system.scale[rows]
    U, sigma, _ = np.linalg.svd(system.stress(rows).values, full_matrices=False)
    U = U[:, : max(1, int((sigma > system.zero[rows].max()).sum()))]
    pivots = _independent_rows(U)
    N = scale[:, None] * (U @ np.linalg.inv(U[pivots])) / scale[pivots]
    labels = system.labels[rows]
    return tuple(NullDirection(_weights(labels, N[:, k] / scale, N[:, k])) for k in range(N.shape[1]))


def _weights(labels: Sequence[RowLabel], scaled: Array, values: Array) -> tuple[Weight, ...]:
    """Return the entries of a combination that are not zero; scaled (m,) decides, values (m,) are reported."""
    kept = np.flatnonzero(np.abs(scaled) > _ZERO * np.abs(scaled).max(initial=0.0))
    return tuple(Weight(labels[k][0], labels[k][1], _rounded(values[k])) for k in kept.tolist())


def sharing(system: System, constraint: str) -> tuple[str, ...]:
    """Return the other constraints that change together with one (blocks of the projector Z Zᵀ)."""
    rows = system.slices[constraint]
    if system.unique[rows].all():
        return ()
    # what is zero as an entry of Z is zero in a product with another entry
    limit = 10 * system.zero[rows].max()
    with_these = strip_of(system.together, rows)
    others = with_these.columns[np.abs(with_these.values).max(axis=0) > limit]
    names = dict.fromkeys(system.labels[k][0] for k in others.tolist())
    return tuple(name for name in names if name != constraint)


def families(system: System, multipliers: Array) -> tuple[Family, ...]:
    """Return the families of possible multipliers through one of them, ``multipliers`` (m,), scaled."""
    found = [_relations(system, basis) for basis in system.bases]
    pivots = np.concatenate([np.zeros(0, dtype=int), *(own for own, _ in found)])
    order = np.argsort(pivots)
    T = side_by_side([(b.rows, T) for b, (_, T) in zip(system.bases, found, strict=True)], len(multipliers))
    T, pivots = T[:, order], pivots[order]
    constant = multipliers - T @ multipliers[pivots]
    # forces and moments are compared where they have one unit
    constant[np.abs(constant) < 1e-11 * np.abs(multipliers).max(initial=0.0)] = 0.0
    constant = constant * system.scale
    T.sort_indices()
    following = ~system.unique
    following[pivots] = False
    return tuple(
        _family(system, pivots, columns, rows, constant, T) for columns, rows in _components(T, following)
    )


def _relations(system: System, basis: StressBasis) -> tuple[AnyArray, Array | csr_array]:
    """Return parameters (p,), rows of the system, and all rows of a block as combinations of them, (n, p)."""
    limit = np.maximum(system.zero[basis.rows], _ZERO)
    open_rows = np.flatnonzero(~system.unique[basis.rows])
    if basis.large:
        pivots, combined = independent_rows(basis.local)
        T = combined.tocoo()
        T.data[np.abs(T.data) < limit[T.row]] = 0.0
    else:
        pivots = open_rows[_independent_rows(basis.Z[open_rows])]
        T = basis.Z @ np.linalg.inv(basis.Z[pivots])
        T[np.abs(T) < limit[:, None]] = 0.0
    return basis.rows[pivots], T


def _components(T: csr_array, following: AnyArray) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the columns of T (m, p) that share a row, in order, and their rows among ``following`` (m,) of bool."""
    m, p = T.shape
    entries = T.tocoo()
    places = entries.row, m + entries.col
    graph = coo_array((np.ones(entries.nnz), places), shape=(m + p, m + p))
    group = connected_components(graph, directed=False)[1]
    members: dict[int, tuple[list[int], list[int]]] = {g: ([], []) for g in group[m:].tolist()}
    for column, g in enumerate(group[m:].tolist()):
        members[g][0].append(column)
    for row in np.flatnonzero(following).tolist():
        if (own := members.get(int(group[row]))) is not None:
            own[1].append(row)
    yield from members.values()


def _family(
    system: System, pivots: AnyArray, columns: list[int], rows: list[int], constant: Array, T: csr_array
) -> Family:
    """Return the family of some columns of T (m, p), scaled; pivots (p,) and constant (m,), N and N·m."""
    unit, labels, scale = system.units, system.labels, system.scale

    def terms(row: int) -> Iterator[Weight]:
        own = slice(T.indptr[row], T.indptr[row + 1])
        for column, value in zip(T.indices[own].tolist(), T.data[own].tolist(), strict=True):
            pivot = int(pivots[column])
            yield Weight(*labels[pivot], _rounded(scale[row] * value / scale[pivot]))

    relations = tuple(Relation(*labels[k], unit[k], _rounded(constant[k]), tuple(terms(k))) for k in rows)
    return Family(tuple((*labels[pivots[c]], unit[pivots[c]]) for c in columns), relations)


def _rounded(value: float) -> float:
    """Return a coefficient without the last digits, where a one is 0.9999999999999998."""
    return float(f"{value:.12g}")


def _independent_rows(Z: Array) -> list[int]:
    """Return as many rows as Z (m, p) has columns, independent and early ones first."""
    chosen: list[int] = []
    basis = np.zeros((0, Z.shape[1]))
    size = np.linalg.norm(Z, axis=1)
    for k in np.flatnonzero(size > _INDEPENDENT * np.median(size[size > 0])):
        left = Z[k] - basis.T @ (basis @ Z[k])
        left -= basis.T @ (basis @ left)
        if (norm := float(np.linalg.norm(left))) > _INDEPENDENT * size[k]:
            chosen.append(int(k))
            basis = np.vstack((basis, left / norm))
        if len(chosen) == Z.shape[1]:
            return chosen
    deflated = Z - (Z @ basis.T) @ basis
    order = scipy.linalg.qr(deflated.T, mode="r", pivoting=True)[1]
    return sorted([*chosen, *(int(k) for k in order[: Z.shape[1] - len(chosen)])])
