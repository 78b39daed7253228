"""Undetermined reactions: null directions of each reaction, and the family of possible values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse

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
    Z, scale = system.Z[rows], system.scale[rows]
    if system.unique[rows].all():
        return ()
    U, sigma, _ = np.linalg.svd(Z, full_matrices=False)
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
    others, Z = system.open_rows
    together = others[np.abs(Z @ system.Z[rows].T).max(axis=1) > limit]
    names = dict.fromkeys(system.labels[k][0] for k in together.tolist())
    return tuple(name for name in names if name != constraint)


def families(system: System, multipliers: Array) -> tuple[Family, ...]:
    """Return the families of possible multipliers through one of them, ``multipliers`` (m,), scaled."""
    open_rows = np.flatnonzero(~system.unique)
    if not open_rows.size:
        return ()
    pivots = open_rows[_independent_rows(system.Z[open_rows])]
    T = system.Z @ np.linalg.inv(system.Z[pivots])
    T[np.abs(T) < np.maximum(system.zero, _ZERO)[:, None]] = 0.0
    constant = (multipliers - T @ multipliers[pivots]) * system.scale
    constant[np.abs(constant) < 1e-11 * np.abs(multipliers * system.scale).max(initial=0.0)] = 0.0
    weight = system.scale[:, None] * T / system.scale[pivots]
    rest = np.setdiff1d(open_rows, pivots)
    return tuple(
        _family(system, pivots, columns, [k for k in rest if T[k, columns].any()], constant, weight)
        for columns in _components(T[rest])
    )


def _components(T: Array) -> list[list[int]]:
    """Return groups of columns of T (m, p) that share a row, in order."""
    import scipy.sparse.csgraph

    together = (np.abs(T).T > 0).astype(float) @ (np.abs(T) > 0)
    _, group = scipy.sparse.csgraph.connected_components(scipy.sparse.csr_array(together), directed=False)
    return [np.flatnonzero(group == g).tolist() for g in dict.fromkeys(group.tolist())]


def _family(
    system: System, pivots: AnyArray, columns: list[int], rows: list[int], constant: Array, weight: Array
) -> Family:
    """Return the family of some columns; pivots (p,), constant (m,) and weight (m, p) in N and N·m."""
    unit, labels = system.units, system.labels
    relations = tuple(
        Relation(
            *labels[k],
            unit[k],
            _rounded(constant[k]),
            tuple(
                Weight(labels[pivots[c]][0], labels[pivots[c]][1], _rounded(weight[k, c]))
                for c in columns
                if weight[k, c]
            ),
        )
        for k in rows
    )
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
