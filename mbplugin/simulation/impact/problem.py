"""An instant at which constraints close, its ranks decided: what all forms of the condition start from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.redundancy.independent import Independent
from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.lapack import pivot_order
from mbplugin.model.spatial import AnyArray, Array

#: A constraint (all its rows), a row by label, or a row by number.
Row = str | tuple[str, str] | int
#: Part of a self-stress on the rows that close, below which it is all on the others.
_SHARED = 1e-8


@dataclass(frozen=True, eq=False)
class ImpactProblem:
    """The rows of an instant, dimensionless, persistent ones and those that close.

    Parameters
    ----------
    equations : Equations
        With all rows that hold afterwards.
    qd : (n,) array
        Velocities before, rad/s and m/s.
    impulse : (n,) array
        Impulsive input U, N·s and N·m·s.
    activated : (m,) array of bool
    """

    equations: Equations
    qd: Array
    impulse: Array
    activated: AnyArray

    @cached_property
    def C(self) -> Array:
        """All rows (m, n) with dimensionless left sides, J₊."""
        return np.asarray(self.equations.row_scale[:, None] * self.equations.C)

    @cached_property
    def gap(self) -> Array:
        """What the jump has to close, −(J₊q̇₋ + b₊) (m,)."""
        return np.asarray(-(self.C @ self.qd + self.equations.row_scale * self.equations.b))

    @cached_property
    def persistent(self) -> AnyArray:
        """Numbers (k,) of well independent rows of J₁, the rows that held before."""
        rows = np.flatnonzero(~self.activated)
        Z = self.equations.self_stresses
        # self-stresses that need no closing row are those of the persistent rows alone
        shared = np.linalg.svd(Z[self.activated], compute_uv=False)
        alone = Z.shape[1] - int((shared > _SHARED).sum())
        return rows[best_rows(self.C[rows] * self.equations.column_scale, len(rows) - alone)]

    @property
    def added(self) -> int:
        """How many freedoms the closing rows take away."""
        return self.equations.rank - len(self.persistent)

    def pose(self, rows: AnyArray, C: Array, gap: Array) -> Independent:
        """Return some rows (k,) as constraints, their multipliers spread over all m scaled rows.

        Their dimensionless left sides are C (k, n), what they have to close is ``gap`` (k,).
        """
        spread = np.zeros((len(self.C), len(rows)))
        spread[rows, np.arange(len(rows))] = 1.0
        return Independent(C, gap, spread)

    def impulsive(self, F: Array) -> Equations:
        """Return the equations with an impulse F (n,) in place of the force."""
        return replace(self.equations, F=F)


def best_rows(scaled: Array, count: int) -> AnyArray:
    """Return ``count`` well independent rows (count,) of ``scaled`` (m, n) (pivoted QR), in their order."""
    if count == len(scaled):
        return np.arange(count)
    return np.sort(pivot_order(scaled.T)[:count])


def find_rows(equations: Equations, rows: Sequence[Row]) -> AnyArray:
    """Return which rows of the equations are meant, as (m,) bool.

    Raises
    ------
    UnknownName
        A constraint or row that the equations do not have.
    BadUsage
        A row number out of range.
    """
    out = np.zeros(len(equations.labels), dtype=bool)
    names = [name for name, _ in equations.labels]
    for row in rows:
        if isinstance(row, int | np.integer):
            if not 0 <= row < len(out):
                raise BadUsage(f"there is no row {row}", expected=f"0 to {len(out) - 1}")
            out[row] = True
            continue
        hits = [row == (name if isinstance(row, str) else (name, c)) for name, c in equations.labels]
        if not any(hits):
            said = row if isinstance(row, str) else " ".join(row)
            raise UnknownName(f"there is no constraint {said!r} to close", remedy=suggestion(said, names))
        out |= hits
    return out
