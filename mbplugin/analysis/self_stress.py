"""Descriptions of self-stress states: the loop, the motion restrained twice, the loaded constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.analysis.uniqueness import StressedBlock, bodies_of
from mbplugin.lapack import pivot_order
from mbplugin.model.component import MOTION_WORDS
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.phrases import one_line_repr

_WORDS = {
    **MOTION_WORDS,
    "d": "distance",
    "c": "coupled rate",
    "side": "sideways slip",
    "roll": "rolling slip",
    "normal": "distance from the plane",
}


@dataclass(frozen=True)
class StressComponent:
    """One multiplier of a self-stress; weights are scaled by the characteristic length, at most 1."""

    constraint: str
    component: str
    weight: float


@one_line_repr
@dataclass(frozen=True)
class SelfStress:
    """One independent self-stress state: internal forces that load the mechanism and move nothing.

    Parameters
    ----------
    constraints : tuple of str
        Who carries it.
    text : str
        In words.
    loop : str
        The bodies of the loop in their order, where the loaded constraints form one; else empty.
    restrains : str
        The motion that is restrained twice, ``rotation about x``.
    closed_by : str
        The constraint that restrains it once more.
    """

    constraints: tuple[str, ...]
    components: tuple[StressComponent, ...]
    text: str
    loop: str = ""
    restrains: str = ""
    closed_by: str = ""


def self_stresses(mech: Mechanism, stressed: Sequence[StressedBlock]) -> tuple[SelfStress, ...]:
    """Return p self-stress states, chosen so that each misfits one component of a closing constraint.

    Of a large block those that share a closing constraint with very many others are left out.
    """
    return tuple(stress for s in stressed for stress in _of_block(mech, s))


def _of_block(mech: Mechanism, s: StressedBlock) -> list[SelfStress]:
    if not s.ranked.redundancy:
        return []
    known = {constraint.name: bodies_of(mech, constraint) for constraint in mech.constraints()}
    labels, found = s.ranked.reduced.labels, []
    for rows, part in s.parts():
        Z, pivots = _one_misfit_each(s, rows, part)
        for column, pivot in enumerate(pivots):
            weights = Z[:, column] / np.abs(Z[:, column]).max()
            loaded = np.flatnonzero(np.abs(weights) > max(s.ranked.zero, 1e-6))
            components = tuple(StressComponent(*labels[int(rows[k])], float(weights[k])) for k in loaded)
            names = tuple(dict.fromkeys(c.constraint for c in components))
            found.append((rows[pivot], _described(known, names, components, labels[rows[pivot]])))
    return [described for _, described in sorted(found, key=lambda item: item[0])]


def _one_misfit_each(s: StressedBlock, rows: AnyArray, Z: Array) -> tuple[Array, list[int]]:
    """Return a basis of the self-stresses Z (n, p) in some ``rows`` (n,) with one closing component each.

    And the places of these among the rows. Rows of J determine the rest by statics, so there are always pivots
    among them.
    """
    closing = int(np.searchsorted(rows, len(s.ranked.reduced.labels) - s.ranked.reduced.shape[0]))
    order = pivot_order(Z[closing:].T)
    pivots = sorted(int(closing + k) for k in order[: Z.shape[1]])
    return Z @ np.linalg.inv(Z[pivots]), pivots


def _described(
    known: Mapping[str, tuple[str, str]],
    names: tuple[str, ...],
    components: tuple[StressComponent, ...],
    pivot: RowLabel,
) -> SelfStress:
    carried = "; ".join(
        f"{name} ({' '.join(c.component for c in components if c.constraint == name)})" for name in names
    )
    restrained = _WORDS.get(pivot.freedom, pivot.freedom)
    loop = _loop([known[name] for name in names])
    what = f"the loop {loop} restrains" if loop else f"{' and '.join(names[:4])} restrain"
    text = f"{what} {restrained} of {pivot.constraint} twice; carried by {carried}"
    return SelfStress(names, components, text, loop, restrained, pivot.constraint)


def _loop(left: list[tuple[str, str]]) -> str:
    """Return the bodies in the order of the loop, where those of the loaded constraints form one."""
    start, here = left.pop(0)
    path = [start, here]
    while left:
        following = next((ends for ends in left if here in ends), None)
        if following is None:
            return ""
        left.remove(following)
        here = following[1] if following[0] == here else following[0]
        path.append(here)
    return "–".join(path[:-1]) if path[-1] == start and len(path) > 2 else ""
