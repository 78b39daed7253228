"""How much of each reaction is arbitrary: the norms of B_X = C_Xᵀ Q_X (wojtyra2013 (27)).

Q_X are the rows of constraint X of an orthonormal basis of the left null space, the last p columns of Q
there. The reaction of X is unique iff B_X is zero. Its Frobenius norm does not depend on the basis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mbplugin.analysis.uniqueness import ConstraintVerdict, StressedBlock


def with_B_norms(
    stressed: Sequence[StressedBlock], verdicts: Sequence[ConstraintVerdict]
) -> tuple[ConstraintVerdict, ...]:
    """Return the verdicts with the norms of B_X; None in a large block, which keeps no basis."""
    norms: dict[str, float | None] = {}
    for s in stressed:
        if s.ranked.redundancy:
            norms.update(_of_block(s))
    found = [norms.get(v.name, 0.0) for v in verdicts]
    # a large block has none, nor have the verdicts yet
    return tuple(
        v if norm is None else replace(v, B_norm=norm) for v, norm in zip(verdicts, found, strict=True)
    )


def _of_block(s: StressedBlock) -> dict[str, float | None]:
    if not s.complete:
        return dict.fromkeys(s.slices)
    reduced = s.ranked.reduced
    found: dict[str, float | None] = {}
    for rows in reduced.rows:
        Q_X = s.Z[s.slices[rows.constraint]]
        on_bodies = [(reduced.frame.scaled(rows, e) * reduced.frame.mask).T @ Q_X for _, e in rows.entries]
        found[rows.constraint] = float(np.linalg.norm(on_bodies)) if on_bodies else 0.0
    return found
