"""The constraint matrix as text: one equation per row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbplugin.visible import visible

if TYPE_CHECKING:
    from mbplugin.constraints.matrix import ConstraintMatrix


def matrix_text(matrix: ConstraintMatrix) -> str:
    """Return every row as its label and its nonzero terms, after a line that sums up."""
    m, n = matrix.C.shape
    gap = float(np.abs(matrix.Phi).max(initial=0.0))
    lines = [
        f"{matrix.mechanism.name}: {m} rows ({matrix.holonomic_rows} holonomic), {n} columns,"
        f" {matrix.C.nnz} nonzeros, largest position residual {gap:.3g} (m or rad)"
    ]
    labels = list(map(str, matrix.rows))
    width = max(map(len, labels), default=0)
    for k, label in enumerate(labels):
        start, stop = matrix.C.indptr[k : k + 2]
        terms = [
            f"{value:+.4g} {'.'.join(matrix.columns[j])}"
            for j, value in zip(matrix.C.indices[start:stop], matrix.C.data[start:stop], strict=True)
        ]
        constant = [f"{matrix.b[k]:+.4g}"] if matrix.b[k] else []
        lines.append(f"{label:<{width}}  {' '.join([*terms, *constant]) or '0'} = 0")
    return "".join(f"{visible(line)}\n" for line in lines)
