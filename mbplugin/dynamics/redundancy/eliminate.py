"""Elimination: p redundant rows are dropped and carry nothing (wojtyra2013 §4.4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.redundancy.independent import Independent, as_they_are
from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.model.spatial import AnyArray

#: A row: its place from 0, or (constraint, component).
Row = int | tuple[str, str]
#: Rows can be dropped when the self-stresses on them are at least this independent.
ADMISSIBLE = 1e-6


def eliminate(equations: Equations, dropped: Sequence[Row] = ()) -> Independent:
    """Return r of the rows: well independent ones, or all but those named.

    Parameters
    ----------
    dropped : sequence of int or (constraint, component)
        The p rows to drop; none leaves the choice to a pivoted factorisation.

    Raises
    ------
    BadUsage
        Rows without which the others are still redundant, or hold less than all do.
    UnknownName
        A row that there is not.
    """
    if not equations.degree_of_redundancy and not dropped:
        return as_they_are(equations)
    rows = _all_but(equations, dropped) if dropped else equations.independent_rows
    scale = equations.row_scale[rows]
    spread = np.zeros((len(equations.C), len(rows)))
    spread[rows, np.arange(len(rows))] = scale
    return Independent(scale[:, None] * equations.C[rows], scale * equations.Gamma[rows], spread)


def _all_but(equations: Equations, dropped: Sequence[Row]) -> AnyArray:
    """Return the rows that are left, (r,), where those dropped are one for each self-stress."""
    out = sorted({_index(equations, row) for row in dropped})
    p = equations.degree_of_redundancy
    stress = equations.self_stresses[out]
    if len(out) != p or np.linalg.svd(stress, compute_uv=False)[-1] < ADMISSIBLE:
        names = ", ".join(str(equations.labels[k]) for k in out)
        raise BadUsage(
            f"rows {{{names}}} cannot be dropped together: the other rows are then redundant or too few",
            expected=f"{p} {'row' if p == 1 else 'rows'}, one for each self-stress",
        )
    return np.delete(np.arange(len(equations.C)), out)


def _index(equations: Equations, row: Row) -> int:
    if isinstance(row, int | np.integer):
        if not 0 <= row < len(equations.C):
            raise BadUsage(f"there is no row {row}", expected=f"0 to {len(equations.C) - 1}")
        return row
    label = (str(row[0]), str(row[1]))
    if label not in equations.labels:
        known = [label.dotted for label in equations.labels]
        raise UnknownName(f"there is no row {row}", remedy=suggestion(".".join(label), known))
    return equations.labels.index(label)
