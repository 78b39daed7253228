"""The JSON document of ``mbplugin engines`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from mbplugin.joint_reactions.values import Mode
from mbplugin.report.documents.part import (
    Count,
    Matrix,
    Part,
    Recorded,
    Six,
    Size,
    Three,
    by_name,
    key,
)

if TYPE_CHECKING:
    from mbplugin.comparison.side_by_side.values import JointWrench, SideBySide

_SixOrNull = Annotated[list[float | None], Field(min_length=6, max_length=6)]
_SixTruths = Annotated[list[bool], Field(min_length=6, max_length=6)]


class _Engine(Part):
    engine: str
    version: str = key("empty where it did not run")
    answers: bool
    reason: str = key("why it has no answer; empty with one")


class _Joint(Part):
    name: str
    type: str
    body_a: str
    body_b: str
    held: bool = key("its drive's force is in the wrench")
    point: Three = key("where the wrenches act, world, m")
    R_WJ: Matrix = key("axes of the wrenches in the world, by column")
    unique: _SixTruths = key("whether the rigid model determines each component")
    agrees: _SixTruths = key("whether the engines differ by less than 1 % of size")
    wrenches: dict[str, _SixOrNull] = key(
        "by engine: force (N) and moment (N·m) on the successor; null in ours where nothing determines it"
    )
    spread: Six = key("largest difference between two engines, N and N·m")
    size: Six = key("largest force and moment of any engine in this joint, at least 1 % of the model's")

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the object of one joint."""
        joint: JointWrench = value
        wrenches = {
            name: [None if np.isnan(entry) else float(entry) for entry in wrench]
            for name, wrench in joint.wrenches.items()
        }
        return super().of(value, wrenches=wrenches, **stated)


class Output(Recorded):
    """Joint wrenches of several engines at one instant."""

    source: str = key("the FILE as it was given")
    files: list[str]
    mode: Mode
    tolerance: Size = key("relative rank tolerance")
    q: dict[str, float] = key("of the joints that are not held, rad and m")
    qd: dict[str, float]
    held: list[str]
    degree_of_redundancy: Count = key("with the held joints")
    agrees: bool = key("whether all engines have the same value of every component that is unique")
    largest_unique_difference: Size = key("as a fraction of size")
    largest_undetermined_difference: Size = key("as a fraction of size, of what is not unique")
    engines: list[_Engine]
    joints: list[_Joint]
    notes: list[str]


def engines_document(found: SideBySide, source: str, files: Sequence[str]) -> dict[str, Any]:
    """Return the document of one comparison."""
    mech = found.mechanism
    return Output.of(
        found,
        source=source,
        files=files,
        q=by_name(mech.q_names, found.q),
        qd=by_name(mech.qd_names, found.qd),
        engines=[_Engine.of(engine, answers=not engine.reason) for engine in found.engines],
    )
