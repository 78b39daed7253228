"""Fixes in scene files and configurations (TOML), and in text layers of USD."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import hypot

from mbplugin.linter.fixes.edits import Edit, Fix, SourceText
from mbplugin.linter.fixes.sources import Sources, name_of, places_of
from mbplugin.linter.rule import Finding
from mbplugin.model import Scene
from mbplugin.readers.xml import wrong_norm

Fixes = Iterator[Fix]
_PRIM = re.compile(r"[ \t]*(?:def|over|class)\b")
#: What hides brackets: strings, names of assets and comments.
_HIDDEN = re.compile(
    r"\"\"\".*?\"\"\"|'''.*?'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|@@@.*?@@@|@[^@\n]*@|#[^\n]*",
    re.DOTALL,
)
#: The quaternion of a joint frame; its numbers are the group.
_JOINT_FRAME = re.compile(r"quat[fdh][ \t]+physics:localRot[01][ \t]*=[ \t]*\(([^()#=\"']*)\)")
_NAME = re.compile(r"^name = \"([^\"\\]+)\"$", re.MULTILINE)


def corrected_keys(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix of the misspelt keys and tables of a scene that have one near match."""
    toml, meant = sources.toml(finding.file), finding.evidence.get("meant")
    if toml is None or not isinstance(meant, list):
        return
    edits: list[Edit] = []
    words: list[str] = []
    for line, wrong, right in meant:
        spans = [(key.start, key.end) for key in toml.keys_at(line) if key.name == wrong]
        table = toml.table(line)
        if table is not None and table.name == wrong:
            start = toml.source.text.find(wrong, table.start, table.end)
            # all tables of the array have the name
            spans = [
                (found, found + len(wrong))
                for one in toml.tables
                if one.name == wrong and (found := toml.source.text.find(wrong, one.start, one.end)) >= start
            ]
        edits += [toml.with_entry(start, end, right) for start, end in spans]
        words += [f"{wrong} → {right}"] * bool(spans)
    if edits:
        yield Fix(finding.code, name_of(finding), ", ".join(words), tuple(edits))


def written_side(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix that writes the computed side of a closure into its table."""
    toml = sources.toml(finding.file)
    table = toml.table(finding.line) if toml else None
    side = str(finding.evidence.get("side", ""))
    if toml is None or table is None or {f"xyz_{side}", f"rpy_{side}"} & {*table.keys}:
        return
    lines = [
        f"{key} = [{', '.join(repr(float(value) + 0.0) for value in finding.evidence[key])}]"
        for key in (f"xyz_{side}", f"rpy_{side}")
    ]
    title = f"side {side} of {finding.element!r} written out"
    yield Fix(finding.code, finding.element, title, (toml.with_key(table, "\n".join(lines)),))


def weaker_closure(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix that gives a closure of a scene the weaker type that the analysis proved to be enough."""
    file = finding.file if finding.file.endswith(".toml") else _scene_file(scene)
    toml = sources.toml(file) if file else None
    if toml is None:
        return
    old, new = (str(finding.evidence.get(key, "")) for key in ("type", "weaker_type"))
    table = toml.table(finding.line) if file == finding.file else None
    key = table.keys.get("type") if table else None
    if key is not None and table is not None and toml.value(key) == old:
        if "axis" in table.keys and new == "spherical":
            return
        edit = toml.with_entry(key.value_start, key.value_end, f'"{new}"')
    elif table is None and (added := str(finding.evidence.get("toml", ""))):
        edit = toml.with_tables(added)
    else:
        return
    title = f"type of closure {old} → {new}"
    yield Fix(finding.code, finding.element, title, (edit,), frozenset({finding.element}), redundancy=True)


def removed_table(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix that removes a ``[[closure]]`` that repeats another joint."""
    toml = sources.toml(finding.file)
    table = toml.table(finding.line) if toml else None
    if toml is None or table is None or table.name != "closure":
        return
    title = f"closure {finding.element!r} removed, the same as {finding.evidence.get('same_as')!r}"
    touches = frozenset({finding.element})
    yield Fix(finding.code, finding.element, title, (toml.removed(table),), touches, redundancy=True)


def added_closures(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix that adds the closures that a finding states to the scene that is linted."""
    file = _scene_file(scene)
    toml = sources.toml(file) if file else None
    text = str(finding.evidence.get("toml", ""))
    if toml is None or not text:
        return
    names = frozenset(_NAME.findall(text))
    title = f"closure {', '.join(map(repr, sorted(names)))} added to the scene"
    edits = (toml.with_tables(text),)
    yield Fix(finding.code, finding.element, title, edits, names, redundancy=True, mobility=True)


def _scene_file(scene: Scene | None) -> str:
    """Return the file of a scene; empty if the model itself is linted."""
    request = scene.request if scene else None
    return request.path if request and request.path.endswith(".toml") else ""


def removed_waiver(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix that removes a waiver that matches nothing, written as a table of its own."""
    toml = sources.toml(finding.file)
    table = toml.table(finding.line) if toml else None
    if toml is None or table is None or table.name.rpartition(".")[2] not in ("waive", "ignore"):
        return
    rule = finding.evidence.get("rule")
    title = f"waiver of {rule} for {finding.element!r} removed"
    yield Fix(finding.code, finding.element, title, (toml.removed(table),))


def excluded_joint(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix that excludes the joint that closes a loop from the articulation of a USD stage."""
    joint = str(finding.evidence.get("exclude", ""))
    statement = "uniform bool physics:excludeFromArticulation = true"
    yield from _stated(finding, sources, statement, frozenset({joint, *finding.elements}))


def principal_axes(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix that states the axes of moments of inertia: those of the prim, as they are read."""
    yield from _stated(finding, sources, "quatf physics:principalAxes = (1, 0, 0, 0)", frozenset())


def corrected_property(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix of a misspelt property of a prim of a USD stage, where its schemas have one near match."""
    source, meant = _usd_text(sources, finding.file), finding.evidence.get("meant")
    content = _content_of_prim(source, finding.line) if source else -1
    if source is None or content < 0 or not isinstance(meant, Mapping):
        return
    for wrong, right in meant.items():
        found = [*_statements(source.text, content, re.compile(rf"{re.escape(wrong)}(?![\w:])"))]
        edits = tuple(Edit(source.file, one.start(), one.end(), right) for one in found)
        if edits:
            touches = frozenset({finding.element, finding.element.rpartition("/")[2]})
            title = f"{wrong} → {right}"
            yield Fix(finding.code, finding.element, title, edits, touches, redundancy=True, mobility=True)


def normalized_joint_frames(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fixes that divide the quaternions of joint frames of a USD stage by their norm."""
    for place, element in dict.fromkeys(zip(places_of(finding), finding.elements, strict=False)):
        source = _usd_text(sources, place[0])
        content = _content_of_prim(source, place[1]) if source else -1
        if source is None or content < 0:
            continue
        edits: list[Edit] = []
        titles: list[str] = []
        for match in _statements(source.text, content, _JOINT_FRAME):
            words = match.group(1).replace(",", " ").split()
            if wrong_norm(words) is None:
                continue
            values = [float(word) for word in words]
            unit = ", ".join(repr(value / hypot(*values) + 0.0) for value in values)
            edits.append(Edit(source.file, match.start(1), match.end(1), unit))
            titles.append(f"quaternion {match.group(1)} → {unit}")
        if edits:
            yield Fix(finding.code, element, "; ".join(titles), tuple(edits))


def _usd_text(sources: Sources, file: str) -> SourceText | None:
    """Return the text of a layer of USD; None for another file, and for a binary layer."""
    source = sources.text(file) if file.endswith((".usda", ".usd")) else None
    return source if source is not None and source.data.startswith(b"#usda") else None


def _statements(text: str, content: int, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern among the statements of a prim, not of the prims in it."""
    position, depth = content, 0
    while position < len(text) and depth >= 0:
        if hidden := _HIDDEN.match(text, position):
            position = hidden.end()
            continue
        if not depth and text[position - 1].isspace() and (found := pattern.match(text, position)):
            yield found
            position = found.end()
            continue
        depth += (text[position] in "{(") - (text[position] in "})")
        position += 1


def _stated(finding: Finding, sources: Sources, statement: str, touches: frozenset[str]) -> Fixes:
    source = _usd_text(sources, finding.file)
    if source is None:
        return
    content = _content_of_prim(source, finding.line)
    if content < 0:
        return
    edits = (_with_statement(source, content, statement),)
    yield Fix(finding.code, finding.element, f"{statement} added", edits, touches)


# Where the content of a prim begins in a text layer of USD, on its bytes as they are.


def _content_of_prim(source: SourceText, line: int) -> int:
    """Return the offset behind the ``{`` of the prim that is declared in a line; -1 if there is none."""
    text, start = source.text, 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
        if not start:
            return -1
    if line < 1 or not _PRIM.match(text, start):
        return -1
    position, metadata = start, 0
    while position < len(text):
        if hidden := _HIDDEN.match(text, position):
            position = hidden.end()
            continue
        mark = text[position]
        metadata += (mark == "(") - (mark == ")")
        position += 1
        if mark == "{" and not metadata:
            return position
    return -1


def _with_statement(source: SourceText, content: int, statement: str) -> Edit:
    """Return the edit that puts a statement first in the content of a prim, indented as the next one.

    Parameters
    ----------
    source : SourceText
    content : int
        As :func:`_content_of_prim` returns it.
    statement : str
    """
    text = source.text
    following = content
    while following < len(text) and text[following] in " \t\r\n":
        following += 1
    if "\n" in text[content:following] and text[following : following + 1] not in ("", "}"):
        indentation = source.indentation(following)
    else:
        indentation = source.indentation(content) + "    "
    return Edit(source.file, content, content, f"{source.line_end}{indentation}{statement}")
