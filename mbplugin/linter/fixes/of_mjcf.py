"""Fixes of what MuJoCo refuses in MJCF: misspelt words, equalities of a joint with itself, and inverted ranges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mbplugin.linter.checks.listing import twins
from mbplugin.linter.fixes.edits import Edit, Fix
from mbplugin.linter.fixes.of_xml import exchanged_limits, spelling
from mbplugin.linter.fixes.sources import Sources, elements_at, name_of
from mbplugin.linter.fixes.xml_spans import XmlElement, XmlSpans
from mbplugin.linter.rule import Finding
from mbplugin.model.scene import Scene
from mbplugin.readers.mjcf.corrections import references

Fixes = Iterator[Fix]


def corrected_words(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix of a misspelt tag or attribute, at all its places."""
    if "tag" in finding.evidence:
        yield from spelling(finding, sources, scene)


def corrected_names(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix of a name that nothing has and that is near one, wherever things of its kind are named."""
    kind, meant = finding.evidence.get("kind"), finding.evidence.get("meant")
    if not kind or not meant:
        return
    ((wrong, right),) = meant.items()
    # the name of the other side of the robot is not a misspelling
    if any(twins((wrong, right))):
        return
    edits: list[Edit] = []
    for _, spans, element in elements_at(finding, sources):
        edits += _renamed(spans, element, kind, wrong, right)
    if edits:
        yield Fix(finding.code, name_of(finding), f"{kind} {wrong!r} → {right!r}", tuple(edits))


def _renamed(spans: XmlSpans, element: XmlElement, kind: str, wrong: str, right: str) -> Iterator[Edit]:
    stated = {one.name: one.value for one in element.attributes}
    for name, named, value in references(element.tag, stated):
        attribute = element.attribute(name)
        if (named, value) == (kind, wrong) and attribute is not None:
            yield spans.with_value(attribute, right)


def removed_equalities(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix that removes equalities of a joint with itself, which bind nothing."""
    name = finding.evidence.get("itself")
    found = [
        (spans, joint)
        for _, spans, joint in elements_at(finding, sources, "joint")
        if name and joint.get("joint1") == joint.get("joint2") == name
    ]
    if found:
        edits = tuple(spans.removed(joint) for spans, joint in found)
        yield Fix(finding.code, name_of(finding), f"equality of joint {name!r} with itself removed", edits)


def exchanged_range(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the unsafe fix that exchanges the ends of the range of a joint, for which MuJoCo refuses the model."""
    if "exchange" in finding.evidence:
        for fix in exchanged_limits(finding, sources, scene):
            yield replace(fix, element=name_of(finding), unsafe=True)
