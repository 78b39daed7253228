"""The JSON document of ``mbplugin crosscheck`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mbplugin.comparison.agreement import Program, Verdict
from mbplugin.report.documents.part import Part, Recorded, Series, Size, by_name, key
from mbplugin.report.documents.stopping.stops import EffortLimits

if TYPE_CHECKING:
    from mbplugin.comparison.agreement import Agreement


class _Solver(Part):
    iterations: Size = key("of PyBullet's solver")
    residual_threshold: Size
    erp: Size = key("error reduction parameter")


class _Comparison(Part):
    quantity: str
    element: str = key("a body, joint or coordinate")
    unit: str
    deviation: Size = key(
        "between PyBullet and us; of what depends on the step, PyBullet extrapolated to step zero"
    )
    bound: Size = key("what the deviation may be")
    agrees: bool
    errors: list[Size] = key("largest deviation at each of the steps")
    orders: Series
    time: Size | None = key("when the deviation first leaves its bound, or is largest, s")


class _Check(Part):
    program: Program
    name: str
    value: Size = key("by how much it is off")
    bound: Size = key("by how much it may be off")
    unit: str
    passes: bool


class _Curves(Part):
    time: Series = key("s")
    ours: dict[str, Series] = key("rad and m, by coordinate")
    pybullet: dict[str, Series] = key("rad and m, by coordinate, at PyBullet's smallest step", read="bullet")

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the object of the curves."""
        ours, bullet = (by_name(value.names, curves.T) for curves in (value.ours, value.bullet))
        return super().of(value, ours=ours, pybullet=bullet)


class Output(Recorded):
    """Whether PyBullet's motion converges to that of mbplugin."""

    source: str = key("the FILE as it was given")
    files: list[str]
    verdict: Verdict
    reason: str = key("one sentence")
    assumed: list[str] = key("values of brakes and decelerations that are not stated", optional=True)
    of_effort: EffortLimits = key("brakes and decelerations that are not stated", optional=True)
    duration: Size = key("s")
    tolerance: Size = key("relative rank tolerance of our motion", optional=True)
    steps: list[Size] = key("PyBullet's steps, s, each half of the one before")
    orders: list[float | None] = key(
        "observed orders of all coordinates together, one for each halving; null where PyBullet's"
        " motion leaves all bounds"
    )
    solver: _Solver = key(read="settings")
    rows: list[_Comparison] = key("the model first, then what needs no step, then the motion")
    checks: list[_Check] = key(
        "of each motion alone, where the motions do not agree: what there is for and against each"
    )
    curves: _Curves | None
    notes: list[str]


def crosscheck_document(found: Agreement, source: str, files: Sequence[str]) -> dict[str, Any]:
    """Return the document of one cross-check."""
    return Output.of(found, source=source, files=files)
