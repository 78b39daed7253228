"""How the self-stresses of a block load each of its constraints, in units of the largest force and moment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mbplugin.analysis.uniqueness import StressedBlock
from mbplugin.constraints.reduction.strips import Strip, strip_of
from mbplugin.constraints.rows.row import Rows
from mbplugin.model.spatial import AnyArray, Array


@dataclass(frozen=True, eq=False)
class Loads:
    """The self-stresses in the k rows of one constraint.

    Parameters
    ----------
    columns : (n,) int array
        Those of a basis that load it.
    values : (k, n) array
        Their entries.
    orthonormal : (k, r) array
        The same in an orthonormal basis, up to its choice.
    """

    rows: Rows
    columns: AnyArray
    values: Array
    orthonormal: Array


def loads_of(s: StressedBlock) -> Iterator[Loads]:
    """Yield the loads of all constraints of a block.

    Moments grow with the size of a mechanism, forces do not; neither may hide the other. So the largest force
    row of an orthonormal basis has length one, and so has the largest moment row.
    """
    rows = s.ranked.reduced.rows
    found = _of_basis(s) if s.complete else _of_local_basis(s)
    translation = np.concatenate([one.translation for one in rows])
    length = np.concatenate([np.linalg.norm(orthonormal, axis=1) for _, orthonormal in found])
    unit = np.ones(len(length))
    for kind in (translation, ~translation):
        unit[kind] = max(float(length[kind].max(initial=0.0)), s.ranked.zero)
    for one, (strip, orthonormal) in zip(rows, found, strict=True):
        own = unit[s.slices[one.constraint], None]
        yield Loads(one, strip.columns, strip.values / own, orthonormal / own)


def _of_basis(s: StressedBlock) -> list[tuple[Strip, Array]]:
    """Return the rows (k, p) of each constraint in an orthonormal basis, twice."""
    every = np.arange(s.Z.shape[1])
    parts = [s.Z[s.slices[one.constraint]] for one in s.ranked.reduced.rows]
    return [(Strip(every, part), part) for part in parts]


def _of_local_basis(s: StressedBlock) -> list[tuple[Strip, Array]]:
    """Return the rows of each constraint in the local basis, and (k, k) in an orthonormal one."""
    found = []
    for one in s.ranked.reduced.rows:
        at = s.slices[one.constraint]
        wide = strip_of(s.ranked.orthonormal_stresses, at).values
        k, n = wide.shape
        # turned so that they are triangular: (k, k) says as much
        turned = np.asarray(np.linalg.qr(np.pad(wide, ((0, 0), (0, max(0, k - n)))).T, mode="r"))
        found.append((strip_of(s.ranked.local_stresses, at), turned.T))
    return found
