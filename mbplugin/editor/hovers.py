"""Hovers: what the joint, link or closure at a place is, and the summaries of the rules that report something there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import degrees, isinf
from typing import Any

from mbplugin.analysis import Analysis
from mbplugin.editor.diagnostics import Inspection, summary_of
from mbplugin.editor.documents import Documents, Position, Positions, Range
from mbplugin.linter.fixes import toml_spans, xml_spans
from mbplugin.linter.fixes.edits import SourceText
from mbplugin.linter.fixes.toml_spans import TomlSpans
from mbplugin.linter.fixes.xml_spans import XmlSpans
from mbplugin.model import Body, Freedom, Mechanism, Pair, Scene
from mbplugin.phrases import counted, listed, visible
from mbplugin.readers.paths import real_path

#: Most elements of one line, such as those of a macro that is called for each leg, that are described.
_MOST = 4


def hover(documents: Documents, inspection: Inspection, position: Position) -> dict[str, Any] | None:
    """Return the hover at a position of a document as JSON of the protocol; None if there is nothing to say.

    Parameters
    ----------
    documents : Documents
    inspection : Inspection
        The last one of the document.
    position : Position
    """
    positions = documents.positions(inspection.path)
    document = documents.get(inspection.path)
    if positions is None or document is None:
        return None
    parts: list[str] = []
    report = inspection.report
    if report is not None and report.scene is not None:
        source = SourceText(inspection.path, document.content)
        lines = _lines_around(source, positions, position)
        parts += _described(report.scene, report.analysis, inspection.path, lines)
    codes = dict.fromkeys(
        finding.code
        for finding, file, span in inspection.findings
        if real_path(file) == real_path(inspection.path)
        and span["start"]["line"] <= position["line"] <= span["end"]["line"]
    )
    parts += filter(None, map(summary_of, codes))
    return {"contents": {"kind": "markdown", "value": "\n\n".join(parts)}} if parts else None


def within(span: Range, position: Position) -> bool:
    """Return True if a position lies in a range, its end included."""
    start, end = ((span[which]["line"], span[which]["character"]) for which in ("start", "end"))
    return start <= (position["line"], position["character"]) <= end


# The element at a place: readers record the line at which each element begins.


def _lines_around(source: SourceText, positions: Positions, position: Position) -> Sequence[int]:
    """Return the lines, from 1, at which the elements around a position begin, the innermost first."""
    index = positions.index(position)
    offset = len(source.data) if index >= len(positions.text) else _offset(positions.text, index)
    if source.file.endswith(".toml"):
        try:
            tables = TomlSpans(source).tables
        except toml_spans.NoSpans:
            return []
        return [table.line for table in tables if table.start <= offset <= table.end][-1:]
    try:
        elements = XmlSpans(source).elements
    except xml_spans.NoSpans:
        return [source.line(offset)]
    around = [element for element in elements if element.start <= offset < element.end]
    return [element.line for element in reversed(around)]


def _offset(text: str, index: int) -> int:
    return index if text.isascii() else len(text[:index].encode("utf-8", "replace"))


def _described(scene: Scene, analysis: Analysis | None, path: str, lines: Iterable[int]) -> Iterator[str]:
    """Yield descriptions of the elements that begin at the first line at which any begins."""
    own = real_path(path)
    at_line: dict[int, list[tuple[str, str]]] = {}
    for (kind, name, part), origin in scene.origin.items():
        if kind in ("body", "constraint") and not part and real_path(origin.file) == own:
            at_line.setdefault(origin.line, []).append((kind, name))
    for line in lines:
        if elements := at_line.get(line):
            yield from (_described_element(scene, analysis, *element) for element in elements[:_MOST])
            if len(elements) > _MOST:
                yield f"{counted(len(elements) - _MOST, 'element')} more at this line"
            return


def _described_element(scene: Scene, analysis: Analysis | None, kind: str, name: str) -> str:
    mech = scene.mechanism
    looped = _pairs_of_loops(mech)
    if kind == "body":
        index = mech.body_index.get(name)
        return f"link {_code(name)}" if index is None else _link(mech, mech.bodies[index], looped)
    pair = mech.pair_by_name.get(name)
    if pair is None:
        return f"constraint {_code(name)}{_reaction(analysis, name)}"
    return _joint(pair, looped, analysis)


def _joint(pair: Pair, looped: set[str], analysis: Analysis | None) -> str:
    what = "closure" if pair.closure else "joint"
    lines = [f"**{what} {_code(pair.name)}**: {pair.type}, {_code(pair.body_a)} → {_code(pair.body_b)}"]
    if len(pair.kind.free) == 1:
        axis = " ".join(f"{value + 0.0:.4g}" for value in pair.X_BS.R[:, 2].tolist())
        lines.append(f"axis ({axis}) in the frame of {_code(pair.body_b)}")
    for component, freedom in zip(pair.kind.free, pair.freedoms, strict=True):
        name = "" if len(pair.freedoms) == 1 else f"{component}: "
        if stated := _limits(freedom, turning=component.startswith("r")):
            lines.append(f"{name}{stated}")
    lines.append("part of a loop" if pair.name in looped else "in no loop")
    text = "  \n".join(lines)
    return f"{text}{_reaction(analysis, pair.name)}"


def _limits(freedom: Freedom, *, turning: bool) -> str:
    unit, force = ("rad", "N·m") if turning else ("m", "N")
    parts = []
    if not (isinf(freedom.lower) and isinf(freedom.upper)):
        shown = f"limits {freedom.lower:.6g} … {freedom.upper:.6g} {unit}"
        if turning and not (isinf(freedom.lower) or isinf(freedom.upper)):
            shown += f" ({degrees(freedom.lower):.4g}° … {degrees(freedom.upper):.4g}°)"
        parts.append(shown)
    if not isinf(freedom.velocity):
        parts.append(f"velocity {freedom.velocity:.6g} {unit}/s")
    if not isinf(freedom.effort):
        parts.append(f"effort {freedom.effort:.6g} {force}")
    return ", ".join(parts)


def _link(mech: Mechanism, body: Body, looped: set[str]) -> str:
    lines = [f"**link {_code(body.name)}**: mass {body.mass:.6g} kg"]
    if body.mass:
        center = " ".join(f"{value + 0.0:.4g}" for value in body.p_LC.tolist())
        moments = " ".join(f"{body.I_C[k, k]:.4g}" for k in range(3))
        lines.append(f"centre of mass ({center}) m, moments of inertia ({moments}) kg·m²")
    joints = [pair for pair in mech.pairs if body.name in pair.bodies]
    lines.append(f"joints: {', '.join(_code(pair.name) for pair in joints[:8]) or 'none'}")
    around = any(pair.name in looped for pair in joints)
    lines.append("part of a loop" if around else "in no loop")
    return "  \n".join(lines)


def _reaction(analysis: Analysis | None, name: str) -> str:
    """Return a line on the reaction of a constraint; empty if it was not analyzed."""
    verdict = next((one for one in analysis.constraints if one.name == name), None) if analysis else None
    if verdict is None:
        return ""
    if verdict.reaction == "unique":
        return "  \nreaction determined by the rigid model"
    if verdict.reaction == "undecided":
        return "  \nreaction undecided at this tolerance"
    open_ = [component.name for component in verdict.components if not component.unique]
    return f"  \nreaction **not determined** by the rigid model ({listed(open_, 6)})"


def _pairs_of_loops(mech: Mechanism) -> set[str]:
    """Return the names of the pairs that lie on a loop: each cut pair, and the tree joints between its bodies."""
    found: set[str] = set()
    for cut in mech.tree.cut:
        # the joints that both bodies have on their way to the ground are not on the loop
        ways = [
            {joint.pair.name for joint in mech.tree.way_in(body) if joint.pair is not None}
            for body in cut.bodies
        ]
        found |= {cut.name} | (ways[0] ^ ways[1])
    return found


def _code(name: str) -> str:
    return f"`{visible(name).replace('`', chr(39))}`"
