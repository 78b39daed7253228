"""The JSON document of ``mbplugin matrix`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mbplugin.report.documents.part import Count, Part, PlanarModel, Recorded, key

if TYPE_CHECKING:
    from mbplugin.constraints.matrix import ConstraintMatrix


class _Row(Part):
    constraint: str
    component: str
    holonomic: bool
    b: float = key("C v + b = 0")
    Gamma: float = key("C dv/dt = Gamma")
    Phi: float = key("position residual, m or rad")


class _Column(Part):
    body: str
    component: str


class Output(Recorded):
    """The labelled constraint matrix."""

    model: PlanarModel
    shape: tuple[Count, Count]
    rows: list[_Row]
    columns: list[_Column]
    entries: list[tuple[Count, Count, float]] = key("nonzeros: [row, column, value]")


def matrix_document(matrix: ConstraintMatrix, files: Sequence[str]) -> dict[str, Any]:
    """Return the labelled matrix; its nonzero entries are [row, column, value]."""
    C = matrix.C.tocoo()
    values = zip(matrix.b.tolist(), matrix.Gamma.tolist(), matrix.Phi.tolist(), strict=True)
    return Output.of(
        matrix,
        model=(matrix.mechanism.name, files, matrix.planar or False),
        shape=C.shape,
        rows=[
            (*label, k < matrix.holonomic_rows, *numbers)
            for k, (label, numbers) in enumerate(zip(matrix.rows, values, strict=True))
        ],
        entries=list(zip(C.row.tolist(), C.col.tolist(), C.data.tolist(), strict=True)),
    )
