"""Edits of XML in its text: the position of each element, and changes that leave everything else untouched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from lxml import etree

from mbplugin.readers.xml import Element, local_name, without_comments

_TAG = re.compile(r"<(/?)([A-Za-z_][\w.:-]*)((?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*)>")


class NoCopy(Exception):
    """A file cannot be copied with other closures; the message is the reason, one clause."""


@dataclass(frozen=True)
class Edited:
    """A text with changed closures.

    Parameters
    ----------
    text : str
    held : tuple of str
        Parts of the model that are written in an equivalent form, one clause each.
    parts : mapping of closure name to str
        The body part used for each closure that needs one.
    shares : mapping of body name to float
        Fraction of its mass that a body retains.
    """

    text: str
    held: tuple[str, ...] = ()
    parts: Mapping[str, str] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Span:
    """Position of an element in a text: its start tag, its content, its end tag."""

    start: int
    open_end: int
    close_start: int
    end: int

    @property
    def is_empty(self) -> bool:
        """True if the element is a single empty tag."""
        return self.open_end == self.end


@dataclass(eq=False)
class XmlText:
    """A document as text and as elements, with pending edits.

    Parameters
    ----------
    root : Element
    text : str
    elements : list of Element
        Elements in the order of their start tags.
    spans : list of Span
        Position of each element.
    """

    root: Element
    text: str
    elements: list[Element] = field(init=False)
    spans: list[Span] = field(init=False)
    _edits: list[tuple[int, int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.elements = list(self.root.iter(etree.Element))
        self.spans = list(_spans(self.text))
        if len(self.spans) != len(self.elements):
            raise NoCopy("its text has tags that are no elements")

    @property
    def is_edited(self) -> bool:
        """True if there are pending edits."""
        return bool(self._edits)

    def find(self, tag: str, name: str) -> int:
        """Return the index of the only element with a tag and a name.

        Raises
        ------
        NoCopy
            There is none, or there are several.
        """
        found = [
            at for at, one in enumerate(self.elements) if local_name(one) == tag and one.get("name") == name
        ]
        if len(found) != 1:
            raise NoCopy(f"{name!r} is not one <{tag}> in its text")
        return found[0]

    def replace(self, at: int, new: str) -> None:
        """Replace an element by a text."""
        self._edits.append((self.spans[at].start, self.spans[at].end, new))

    def replace_in_line(self, at: int, new: Element) -> None:
        """Replace an element by another one, with the same indent."""
        lines = indented(new, self._indent(at))
        self.replace(at, lines.lstrip())

    def set_attribute(self, at: int, name: str, value: str) -> None:
        """Change an existing attribute of an element.

        Raises
        ------
        NoCopy
            The attribute is not in the text.
        """
        span = self.spans[at]
        tag = self.text[span.start : span.open_end]
        match = re.search(rf"(?<=\s){name}\s*=\s*(\"[^\"]*\"|'[^']*')", tag)
        if match is None:
            raise NoCopy(f"the attribute {name} is not in its text")
        start, end = (span.start + at for at in match.span(1))
        self._edits.append((start, end, quoteattr(value)))

    def set_text(self, at: int, value: str) -> None:
        """Change the text of an element without children."""
        span = self.spans[at]
        self._edits.append((span.open_end, span.close_start, escape(value)))

    def add_first(self, at: int, new: Element) -> None:
        """Add an element as the first child of another."""
        span = self.spans[at]
        if span.is_empty:
            self.add_last(at, new)
            return
        indent = self._indent(at) + "  "
        self._edits.append((span.open_end, span.open_end, f"\n{indented(new, indent)}"))

    def add_last(self, at: int, *new: Element) -> None:
        """Add elements as the last children of another."""
        span, indent = self.spans[at], self._indent(at)
        inner = "".join(f"\n{indented(one, indent + '  ')}" for one in new)
        if span.is_empty:
            tag = self.text[span.start : span.end]
            name = tag[1:].split("/")[0].split()[0].rstrip(">")
            self._edits.append((span.end - 2, span.end, f">{inner}\n{indent}</{name}>"))
            return
        # insert after the last content, before the line break and the indent of the end tag
        inside = self.text[span.open_end : span.close_start]
        at_end = span.open_end + len(inside.rstrip())
        tail = "" if "\n" in inside[len(inside.rstrip()) :] else f"\n{indent}"
        self._edits.append((at_end, at_end, inner + tail))

    def edited(self) -> str:
        """Return the text with all edits applied.

        Raises
        ------
        NoCopy
            Two edits overlap.
        """
        parts, position = [], 0
        windows = "\r\n" in self.text
        # the sort is stable: edits at the same position stay in order
        for start, end, new in sorted(self._edits, key=lambda edit: edit[0]):
            if start < position:
                raise NoCopy("two of its closures change the same element")
            parts += [self.text[position:start], new.replace("\n", "\r\n") if windows else new]
            position = end
        return "".join((*parts, self.text[position:]))

    def edited_inside(self) -> str:
        """Return the content of the root element with all edits applied."""
        text = self.edited()
        span = next(_spans(text))
        return text[span.open_end : span.close_start].strip()

    def _indent(self, at: int) -> str:
        start = self.spans[at].start
        line = self.text[self.text.rfind("\n", 0, start) + 1 : start]
        return line[: len(line) - len(line.lstrip())]


def indented(element: Element, indent: str) -> str:
    """Return an element as text with every line indented."""
    etree.indent(element)
    lines = etree.tostring(element, encoding="unicode", with_tail=False).splitlines()
    return "\n".join(indent + line for line in lines)


def _spans(text: str) -> Iterator[Span]:
    """Return the positions of the elements of a text, in the order of their start tags."""
    found: list[list[int]] = []
    opened: list[int] = []
    for match in _TAG.finditer(without_comments(text)):
        closing, rest = match.group(1), match.group(3)
        if closing:
            if not opened:
                raise NoCopy("its text has tags that are no elements")
            found[opened.pop()][2:] = [match.start(), match.end()]
            continue
        if not rest.endswith("/"):
            opened.append(len(found))
        found.append([match.start(), match.end(), match.end(), match.end()])
    return (Span(*numbers) for numbers in found)
