"""The JSON document of ``mbplugin diff`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from mbplugin.comparison.models.values import DifferenceKind, NormalisedKind, StatedKind
from mbplugin.report.documents.part import Count, Part, Recorded, Size, key

if TYPE_CHECKING:
    from mbplugin.comparison.models.values import Difference, ModelDiff
    from mbplugin.model.scene import Origin


class _Model(Part):
    name: str
    bodies: Count = key("without the ground, fixed links merged")
    joints: Count
    loops: Count
    couplings: Count
    mass: float = key("kg")
    degree_of_redundancy: Count | None = key("null where the loops cannot be closed")
    dof: Count | None


class _Place(Part):
    file: str
    line: Count = key("0 where it is not known")


class _Difference(Part):
    kind: DifferenceKind
    element_a: str = key("empty where A has no such element")
    element_b: str = key("empty where B has no such element")
    value_a: str
    value_b: str
    cause: str = key("what probably happened; empty where nothing is obvious")
    place_a: _Place | None
    place_b: _Place | None

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the object of one difference."""
        found: Difference = value
        places = {name: _place(getattr(found, name)) for name in ("place_a", "place_b")}
        return super().of(value, **places, **stated)


def _place(origin: Origin | None) -> dict[str, Any] | None:
    return None if origin is None or not origin.file else _Place.of(origin)


class _Normalised(Part):
    kind: NormalisedKind
    element: str
    text: str


class _NotCompared(Part):
    kind: StatedKind | Literal["scene"] = key("scene: what a scene adds to the robot")
    side: Literal["A", "B", ""] = key("the model whose format has no place for it")
    elements: list[str] = key("joints of A of which the other one states it")
    text: str


class Output(Recorded):
    """Whether two models are the same robot."""

    source_a: str = key("A as it was given")
    source_b: str = key("B as it was given")
    files: list[str]
    same: bool
    tolerance: Size = key("relative, of masses")
    a: _Model
    b: _Model
    differences: list[_Difference]
    normalised: list[_Normalised] = key("legitimate differences, taken away before the comparison")
    not_compared: list[_NotCompared] = key(
        "what one format has no place for, and what scenes add to the robot; left out where there is nothing",
        optional=True,
    )
    bodies: dict[str, str] = key("names of A and of B")
    joints: dict[str, str] = key("names of A and of B")
    poses: Count = key(
        "random poses at which the dynamics were compared; 0 where the trees do not correspond"
    )
    mass_matrix: Size | None = key("largest relative difference")
    gravity_forces: Size | None = key("largest relative difference")
    wrenches: Size | None = key(
        "largest relative difference of joint forces that both rigid models determine"
    )


def diff_document(found: ModelDiff, sources: tuple[str, str], files: Sequence[str]) -> dict[str, Any]:
    """Return the document of one comparison."""
    return Output.of(
        found,
        source_a=sources[0],
        source_b=sources[1],
        files=list(dict.fromkeys(files)),
        not_compared=found.not_compared or None,
    )
