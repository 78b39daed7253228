"""The spans of tags, attributes, values and texts of an XML file, on its bytes as they are.

Nothing is decoded, normalised or written anew: comments, CDATA sections, entities and instructions are passed over,
and every other byte keeps its offset.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from mbplugin.linter.fixes.edits import Edit, SourceText

#: A name, and an attribute with its value in quotes.
_NAME = re.compile(r"[^\s=<>\"'/]+")
_ATTRIBUTE = re.compile(r"\s*([^\s=<>\"'/]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_REFERENCE = re.compile(r"&(?:#(\d{1,7})|#x([0-9A-Fa-f]{1,6})|(lt|gt|amp|quot|apos));")
_PREDEFINED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
#: Words of a list of numbers.
_WORD = re.compile(r"[^\s,]+")
#: What a passed-over part begins and ends with.
_PASSED = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"))


class NoSpans(ValueError):
    """The markup cannot be followed, so nothing in the file is edited."""


@dataclass(frozen=True)
class Attribute:
    """An attribute: its name, its value, and the offsets of both; the value is without its quotes."""

    name: str
    value: str
    start: int
    name_end: int
    value_start: int
    value_end: int


@dataclass(eq=False)
class XmlElement:
    """An element with its offsets.

    Parameters
    ----------
    tag : str
        With its prefix, as in ``drake:joint``.
    line : int
        Line of its ``<``, from 1.
    start, open_end : int
        Offsets of ``<`` and behind the ``>`` of the start tag.
    attributes : tuple of Attribute
    parent : XmlElement or None
    close_start, end : int
        Offsets of the end tag, and behind the element; equal if it has no end tag.
    children : list of XmlElement
    """

    tag: str
    line: int
    start: int
    open_end: int
    attributes: tuple[Attribute, ...]
    parent: XmlElement | None
    close_start: int = -1
    end: int = -1
    children: list[XmlElement] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """True for ``<tag/>``."""
        return self.close_start == self.end

    def attribute(self, name: str) -> Attribute | None:
        """Return an attribute; None if it is absent."""
        return next((one for one in self.attributes if one.name == name), None)

    def get(self, name: str) -> str:
        """Return the value of an attribute, stripped; empty if it is absent."""
        found = self.attribute(name)
        return found.value.strip() if found else ""

    def child(self, tag: str) -> XmlElement | None:
        """Return the first child with a tag; None if there is none."""
        return next((one for one in self.children if one.tag == tag), None)


class XmlSpans:
    """The elements of an XML file in file order.

    Raises
    ------
    NoSpans
        The markup cannot be followed.
    """

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.elements = tuple(_elements(source))

    @cached_property
    def _of_line(self) -> dict[int, list[XmlElement]]:
        found: dict[int, list[XmlElement]] = {}
        for element in self.elements:
            found.setdefault(element.line, []).append(element)
        return found

    @property
    def root(self) -> XmlElement:
        """The root element.

        Raises
        ------
        NoSpans
            The text has no element.
        """
        if not self.elements:
            raise NoSpans("no element")
        return self.elements[0]

    def at(self, line: int, *tags: str) -> Iterator[XmlElement]:
        """Yield the elements that begin in a line, all or those with given tags."""
        for element in self._of_line.get(line, ()):
            if not tags or element.tag in tags:
                yield element

    def words(self, attribute: Attribute) -> list[tuple[int, int, str]]:
        """Return the words of a value, separated by blanks or commas, with their offsets.

        Empty if the value is not a literal: it has references of XML, or expressions of xacro.
        """
        return self._words(attribute.value_start, attribute.value_end)

    def text_words(self, element: XmlElement) -> list[tuple[int, int, str]]:
        """Return the words of the text of an element that has neither elements nor comments, with their offsets."""
        return [] if element.is_empty else self._words(element.open_end, element.close_start)

    def _words(self, start: int, end: int) -> list[tuple[int, int, str]]:
        raw = self.source.text[start:end]
        if any(mark in raw for mark in "&<$"):
            return []
        return [(start + m.start(), start + m.end(), m.group()) for m in _WORD.finditer(raw)]

    # Edits.

    def replaced(self, start: int, end: int, text: str) -> Edit:
        """Return the edit that replaces a span by a text that needs no escapes."""
        return Edit(self.source.file, start, end, text)

    def with_value(self, attribute: Attribute, value: str) -> Edit:
        """Return the edit that gives an attribute another value, in its quotes."""
        quote = self.source.text[attribute.value_end]
        return self.replaced(attribute.value_start, attribute.value_end, escaped(value, quote))

    def renamed(self, element: XmlElement, tag: str) -> tuple[Edit, ...]:
        """Return the edits that give an element another tag."""
        opening = element.start + 1
        edits = [self.replaced(opening, opening + len(element.tag), tag)]
        if not element.is_empty:
            closing = element.close_start + 2
            edits.append(self.replaced(closing, closing + len(element.tag), tag))
        return tuple(edits)

    def removed(self, element: XmlElement) -> Edit:
        """Return the edit that removes an element, with its lines if nothing else is in them."""
        text, start, end = self.source.text, element.start, element.end
        before = self.source.start_of_line(start)
        line_end = text.find("\n", end)
        after = len(text) if line_end < 0 else line_end + 1
        if not text[before:start].strip() and not text[end:after].strip():
            return self.replaced(before, after, "")
        return self.replaced(start, end, "")

    def with_first_child(self, element: XmlElement, text: str) -> Edit | None:
        """Return the edit that puts an element before the first child; None for an element without content."""
        if element.is_empty:
            return None
        source = self.source
        first = element.children[0].start if element.children else -1
        if first < 0 or source.text[source.start_of_line(first) : first].strip():
            return self.replaced(element.open_end, element.open_end, text)
        indentation = source.indentation(first)
        return self.replaced(element.open_end, element.open_end, f"{source.line_end}{indentation}{text}")

    def with_last_child(self, element: XmlElement, text: str) -> Edit | None:
        """Return the edit that puts an element behind the last child; None for an element without content."""
        if element.is_empty or not element.children:
            return None
        source, last = self.source, element.children[-1]
        start = source.start_of_line(last.start)
        if source.text[start : last.start].strip():
            return self.replaced(last.end, last.end, text)
        indentation = source.indentation(last.start)
        return self.replaced(last.end, last.end, f"{source.line_end}{indentation}{text}")


def escaped(value: str, quote: str) -> str:
    """Return a value as it is written between quotes."""
    text = value.replace("&", "&amp;").replace("<", "&lt;")
    return text.replace(quote, "&quot;" if quote == '"' else "&apos;")


def unescaped(text: str) -> str:
    """Return a value without the references that XML itself knows."""

    def meant(match: re.Match[str]) -> str:
        number, hexadecimal, name = match.groups()
        if name:
            return _PREDEFINED[name]
        code = int(number) if number else int(hexadecimal, 16)
        return chr(code) if 0 < code <= 0x10FFFF else match.group()

    return _REFERENCE.sub(meant, text)


# The scanner.


def _elements(source: SourceText) -> Iterator[XmlElement]:
    text, position, line, counted = source.text, 0, 1, 0
    opened: list[XmlElement] = []
    found: list[XmlElement] = []
    while (start := text.find("<", position)) >= 0:
        position = _behind_passed(text, start)
        if position > start:
            continue
        if text.startswith("</", start):
            position = _close(text, start, opened)
            continue
        line += text.count("\n", counted, start)
        counted = start
        element, position = _opened(source, start, line, opened[-1] if opened else None)
        found.append(element)
        if element.end < 0:
            opened.append(element)
    if opened:
        raise NoSpans(f"<{opened[-1].tag}> is not closed")
    yield from found


def _behind_passed(text: str, start: int) -> int:
    """Return the offset behind a comment, a CDATA section, an instruction or a DOCTYPE; ``start`` for a tag."""
    for opening, closing in _PASSED:
        if text.startswith(opening, start):
            end = text.find(closing, start + len(opening))
            if end < 0:
                raise NoSpans(f"{opening} has no end")
            return end + len(closing)
    if not text.startswith("<!", start):
        return start
    subset, end = text.find("[", start), text.find(">", start)
    if 0 <= subset < end:
        end = text.find(">", text.find("]", subset))
    if end < 0:
        raise NoSpans("<! has no end")
    return end + 1


def _close(text: str, start: int, opened: list[XmlElement]) -> int:
    end = text.find(">", start)
    if end < 0 or not opened or text[start + 2 : end].strip() != opened[-1].tag:
        raise NoSpans("an end tag does not match")
    element = opened.pop()
    element.close_start, element.end = start, end + 1
    return end + 1


def _opened(source: SourceText, start: int, line: int, parent: XmlElement | None) -> tuple[XmlElement, int]:
    """Return the element of a start tag, and the offset behind the tag."""
    text = source.text
    name = _NAME.match(text, start + 1)
    if name is None:
        raise NoSpans("< without a name")
    position = name.end()
    attributes: list[Attribute] = []
    while match := _ATTRIBUTE.match(text, position):
        group = 2 if match.group(2) is not None else 3
        span = match.span(group)
        value = unescaped(source.decoded(*span))
        attributes.append(Attribute(match.group(1), value, match.start(1), match.end(1), *span))
        position = match.end()
    end = re.compile(r"\s*(/?)>").match(text, position)
    if end is None:
        raise NoSpans(f"<{name.group()[:60]} has no end")
    element = XmlElement(name.group(), line, start, end.end(), tuple(attributes), parent)
    if end.group(1):
        element.close_start = element.end = end.end()
    if parent is not None:
        parent.children.append(element)
    return element, end.end()
