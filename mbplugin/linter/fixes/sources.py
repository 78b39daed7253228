"""The files that findings name, with the spans of their elements, each read once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mbplugin.errors import UnreadableFile
from mbplugin.files import read_bounded
from mbplugin.linter.fixes import toml_spans, xml_spans
from mbplugin.linter.fixes.edits import SourceText
from mbplugin.linter.fixes.toml_spans import TomlSpans
from mbplugin.linter.fixes.xml_spans import XmlElement, XmlSpans
from mbplugin.linter.rule import Finding

#: Longer files are not edited, bytes.
_LONGEST = 20_000_000


class Sources:
    """The texts of files by the names that findings use."""

    def __init__(self) -> None:
        self._texts: dict[str, SourceText | None] = {}
        self._xml: dict[str, XmlSpans | None] = {}
        self._toml: dict[str, TomlSpans | None] = {}

    def text(self, file: str) -> SourceText | None:
        """Return the text of a file; None if it cannot be read."""
        if file not in self._texts:
            try:
                self._texts[file] = SourceText(file, read_bounded(Path(file), _LONGEST)) if file else None
            except UnreadableFile:
                self._texts[file] = None
        return self._texts[file]

    def xml(self, file: str) -> XmlSpans | None:
        """Return the elements of an XML file; None for another file."""
        if file not in self._xml:
            source = None if file.endswith((".toml", ".usda", ".usd")) else self.text(file)
            try:
                self._xml[file] = XmlSpans(source) if source else None
            except xml_spans.NoSpans:
                self._xml[file] = None
        return self._xml[file]

    def toml(self, file: str) -> TomlSpans | None:
        """Return the tables of a TOML file; None for another file."""
        if file not in self._toml:
            source = self.text(file) if file.endswith(".toml") else None
            try:
                self._toml[file] = TomlSpans(source) if source else None
            except toml_spans.NoSpans:
                self._toml[file] = None
        return self._toml[file]


def name_of(finding: Finding) -> str:
    """Return the element of a finding; for unusable input, where only the first error is reported, line and word."""
    if not finding.code.startswith("MB9") or finding.severity != "error":
        return finding.element
    meant = finding.evidence.get("meant")
    words = "".join(f" {wrong!r}" for wrong in meant) if isinstance(meant, Mapping) else ""
    return f"line {finding.line}{words}"


def elements_of(finding: Finding) -> tuple[str, ...]:
    """Return the elements of a finding; see :func:`name_of`."""
    return finding.elements if name_of(finding) == finding.element else (name_of(finding),)


def places_of(finding: Finding) -> Iterator[tuple[str, int]]:
    """Yield the file and line of each place that a finding names; that of the finding if it lists none."""
    places = finding.evidence.get("places")
    if not isinstance(places, list) or not all(isinstance(place, str) for place in places):
        yield finding.file, finding.line
        return
    for place in places:
        file, _, line = place.rpartition(":")
        if line.isdigit():
            yield file, int(line)


def elements_at(finding: Finding, sources: Sources, *tags: str) -> Iterator[tuple[str, XmlSpans, XmlElement]]:
    """Yield the XML elements at the places of a finding, all or those with given tags, with the name it gives them."""
    places, names = list(places_of(finding)), finding.elements
    paired = names if len(names) == len(places) else (finding.element,) * len(places)
    seen: set[tuple[str, int]] = set()
    for (file, line), name in zip(places, paired, strict=True):
        spans = sources.xml(file)
        for element in spans.at(line, *tags) if spans else ():
            if (file, element.start) not in seen:
                seen.add((file, element.start))
                assert spans is not None
                yield _name_of(element, names) or name, spans, element


def _name_of(element: XmlElement, names: Sequence[str]) -> str:
    """Return the name of the element around or of itself that a finding names; empty if it names none of them."""
    inner: XmlElement | None = element
    while inner is not None:
        own = inner.get("name")
        found = next((name for name in names if own and (name == own or name.endswith(f"/{own}"))), "")
        if found:
            return found
        inner = inner.parent
    return ""
