"""The JSON document of ``mbplugin close`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mbplugin.closing.assumptions import assumptions_of
from mbplugin.closing.drift.run import Drives
from mbplugin.model.enumerations import Format
from mbplugin.report.documents.part import Count, Part, Recorded, Size, by_name, key

if TYPE_CHECKING:
    from mbplugin.closing.values import Closing


class _Closure(Part):
    name: str
    type: str
    body_a: str
    body_b: str
    was: str = key("the type of this pair in FILE")
    instead_of: str = key("the pair that closes the loop in FILE", read="cut.instead_of")
    independence: Size = key("projective criterion of the cut, 0 to 1", read="cut.independence")


class _Change(Part):
    constraint: str = key("a joint of the tree")
    from_: str = key(name="from", read="old")
    to: str = key(read="new")


class _Verdict(Part):
    degree_of_redundancy: Count
    structural_redundancy: Count = key("at a generic pose")
    dof: int
    held_dof: int = key("degrees of freedom with all driven joints held")


class _ClosureDrift(Part):
    name: str
    type: str
    gap: Size = key("largest violation of a distance, m")
    turn: Size = key("largest violation of an angle, rad")
    force: Size = key("root mean square of the force, N")
    noise: Size = key("root mean square of the white noise in the force, N")


class _Drift(Part):
    engine: str
    version: str = key("empty where it did not run")
    step: Size = key("of the engine, s")
    duration: Size = key("s")
    reason: str = key("why it has no answer; empty with one")
    gap: Size = key("largest of all closures, m")
    turn: Size = key("largest of all closures, rad")
    noise: Size = key("largest of all closures, N")
    closures: list[_ClosureDrift]


class _Drifts(Part):
    drives: Drives = key("whether driven joints move freely or are held")
    before: list[_Drift] = key("with the closures of FILE, one per engine")
    after: list[_Drift] = key("with the closures that were written, one per engine")


class Output(Recorded):
    """A model written with closures that a format holds."""

    assumptions: list[str]
    source: str = key("the FILE as it was given")
    files: list[str]
    format: Format
    written: str | None = key("the file that was written; null where none was")
    tolerance: Size = key("relative rank tolerance")
    q: dict[str, float] = key("the closed pose that was written, rad and m")
    proved: bool = key("whether the written file, read again, has p = 0 and the mobility of FILE")
    keeps_mobility: bool
    reason: str = key("why constraints are still redundant; empty where none is")
    driven: list[str] = key("joints that stay in the tree")
    closures: list[_Closure]
    changes: list[_Change] = key("other joints with a new type")
    held: list[str] = key("what is written in another way than in FILE, with the same motion")
    left_out: list[str] = key("what the format has no place for")
    before: _Verdict = key("of FILE")
    after: _Verdict = key("of the written file, read again")
    drift: _Drifts


def close_document(found: Closing, source: str, files: Sequence[str], written: str | None) -> dict[str, Any]:
    """Return the document of one conversion."""
    return Output.of(
        found,
        assumptions=list(assumptions_of(found)),
        source=source,
        files=list(files),
        written=written,
        q=by_name(found.mechanism.q_names, found.state.q),
        held=found.written.held,
        left_out=found.written.left_out,
    )
