"""The constraint matrix as text: one equation per row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.phrases import counted
from mbplugin.report.rounding import ROUNDING
from mbplugin.report.text.layout import PLAIN_WIDTH, Line, filled, wrapped
from mbplugin.visible import visible

if TYPE_CHECKING:
    from mbplugin.constraints.matrix import ConstraintMatrix


def matrix_lines(matrix: ConstraintMatrix, width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield every row as its label and its terms, after a line that sums up; rounding is left out."""
    m, n = matrix.C.shape
    gap = " and ".join(_gaps(matrix))
    title = (
        f"{matrix.mechanism.name}: {m} rows ({matrix.holonomic_rows} holonomic), {counted(n, 'column')},"
        f" {matrix.C.nnz} nonzeros, largest position residual {gap}"
    )
    yield from map(Line, wrapped(title, width, "", "  "))
    labels = [visible(str(row)) for row in matrix.rows]
    wide = max(map(len, labels), default=0)
    # beside long labels there is no room for the terms
    beside = wide <= width // 3
    rest = " " * (wide + 2 if beside else 4)
    for k, label in enumerate(labels):
        pieces = [piece for term in _terms(matrix, k) for piece in (visible(term), " ")]
        if not beside:
            yield Line(label)
        yield from map(Line, filled([*pieces, "= 0"], width, f"{label:<{wide}}  " if beside else rest, rest))


def _gaps(matrix: ConstraintMatrix) -> Iterator[str]:
    """Yield the largest position residual of the rows of travels and of those of turns."""
    couplings = {c.name: c.terms[0].freedom for c in matrix.mechanism.couplings if c.terms}
    turns = np.array([couplings.get(row[0], row[1])[0] == "r" for row in matrix.rows], dtype=bool)
    for unit, own in (("m", ~turns), ("rad", turns)):
        if own.any():
            yield f"{float(np.abs(matrix.Phi[own]).max()):.3g} {unit}"


def _terms(matrix: ConstraintMatrix, k: int) -> Iterator[str]:
    """Yield the terms of a row and its constant; what is rounding beside the largest of them is none."""
    start, stop = matrix.C.indptr[k : k + 2]
    values, constant = matrix.C.data[start:stop].tolist(), float(matrix.b[k])
    least = ROUNDING * max(map(abs, (*values, constant)), default=0.0)
    found = [
        f"{value:+.4g} {'.'.join(matrix.columns[j])}"
        for j, value in zip(matrix.C.indices[start:stop], values, strict=True)
        if abs(value) > least
    ]
    yield from found or ["0"]
    if abs(constant) > least:
        yield f"{constant:+.4g}"
