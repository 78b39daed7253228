"""Fixes of models that cannot be read: the word or the name for which there is no mechanism, in URDF, SDF and MJCF."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from mbplugin.linter.checks import twins
from mbplugin.linter.fixes.edits import Edit, Fix
from mbplugin.linter.fixes.of_xml import Fixes, exchanged_limits, near_name, spelling
from mbplugin.linter.fixes.sources import Sources, elements_at, name_of
from mbplugin.linter.fixes.xml_spans import XmlElement, XmlSpans
from mbplugin.linter.rule import Finding
from mbplugin.model import Scene
from mbplugin.readers.mjcf.files import references
from mbplugin.readers.sdf import SDF
from mbplugin.readers.sdf.joints import GEARBOX, TYPES
from mbplugin.readers.unread import Entry
from mbplugin.readers.urdf.joints import DRAKE_TYPES, URDF, URDF_TYPES

#: The permitted content of documents, by the tag of their root.
_CONTENTS = {"robot": URDF, "sdf": SDF}
#: The types of joints, by the tag of the root and that of the joint.
_TYPES: Mapping[tuple[str, str], Collection[str]] = {
    ("robot", "joint"): URDF_TYPES,
    ("robot", "drake:joint"): DRAKE_TYPES,
    ("sdf", "joint"): (*TYPES, GEARBOX),
}
#: The children of a joint that name a link.
_ENDS = ("parent", "child")


def corrected_reading(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix of the one word of an element for which a URDF or an SDF cannot be read, if it has one near match.

    The word is an attribute that is unknown where another one is missing, the type of a joint, or the name of one of
    its links. The finding quotes types and names, and the tag of an element that lacks something.
    """
    spans = sources.xml(finding.file)
    if spans is None or spans.root.tag not in _CONTENTS:
        return
    for element in spans.at(finding.line):
        found = [
            *_attributes(finding, spans, element),
            *_type(finding, spans, element),
            *_links(finding, spans, element),
        ]
        for words, edit in found:
            yield Fix(finding.code, name_of(finding), f"<{element.tag}>: {words}", (edit,))


def _attributes(finding: Finding, spans: XmlSpans, element: XmlElement) -> Iterator[tuple[str, Edit]]:
    """Yield the correction of the only unknown attribute of an element that the finding is about."""
    known = _entry(element)
    if known is None or known.rest is not None or not _is_about(finding, element):
        return
    stated = {one.name for one in element.attributes}
    wrong = [one for one in element.attributes if one.name not in known.attributes and ":" not in one.name]
    near = near_name(wrong[0].name, {*known.attributes} - stated) if len(wrong) == 1 else ""
    if near:
        edit = spans.replaced(wrong[0].start, wrong[0].name_end, near)
        yield f"{wrong[0].name} → {near}", edit


def _is_about(finding: Finding, element: XmlElement) -> bool:
    return f"<{element.tag}>" in finding.message or (
        element.tag in ("joint", "link") and repr(element.get("name")) in finding.message
    )


def _type(finding: Finding, spans: XmlSpans, element: XmlElement) -> Iterator[tuple[str, Edit]]:
    """Yield the correction of the type of a joint."""
    stated = element.attribute("type")
    if stated is None or f"unknown type {stated.value!r}" not in finding.message:
        return
    if near := near_name(stated.value, _TYPES.get((spans.root.tag, element.tag), ())):
        yield f"type {stated.value} → {near}", spans.with_value(stated, near)


def _links(finding: Finding, spans: XmlSpans, element: XmlElement) -> Iterator[tuple[str, Edit]]:
    """Yield the corrections of the names of links in a joint, or in one of its ends."""
    links = {one.get("name") for one in spans.elements if one.tag in ("link", "frame")} - {""}
    for end in (element, *element.children):
        if end.tag not in _ENDS:
            continue
        attribute, words = end.attribute("link"), spans.text_words(end) if not end.children else []
        wrong = attribute.value.strip() if attribute else words[0][2] if len(words) == 1 else ""
        near = near_name(wrong, links) if wrong not in links and repr(wrong) in finding.message else ""
        if near and attribute:
            yield f"{wrong} → {near}", spans.with_value(attribute, near)
        elif near:
            yield f"{wrong} → {near}", spans.replaced(*words[0][:2], near)


def _entry(element: XmlElement) -> Entry | None:
    """Return the permitted content of an element; None if it stands in one that is not read."""
    path = [element]
    while path[-1].parent is not None:
        path.append(path[-1].parent)
    root, *inner = reversed(path)
    contents = _CONTENTS[root.tag]
    known = contents[root.tag]
    for one in inner:
        key = known.children.get(one.tag)
        if not isinstance(key, str):
            return None
        known = contents[key]
    return known


# What MuJoCo refuses in MJCF: misspelt words and names, equalities of a joint with itself, inverted ranges.


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
