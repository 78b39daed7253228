"""XML changed in its own text: where each element stands, and edits that leave everything else as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from lxml import etree

from mbplugin.readers.common.xml import Element, local_name, without_comments

_TAG = re.compile(r"<(/?)([A-Za-z_][\w.:-]*)((?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*)>")


class NoCopy(Exception):
    """A file that cannot be copied with other closures; the text is the reason, one clause."""


@dataclass(frozen=True)
class Edited:
    """A text with other closures.

    Parameters
    ----------
    text : str
    held : tuple of str
        What is held in another way than in the model, one clause each.
    parts : mapping of closure name to str
        The parts of bodies that hold closures.
    shares : mapping of body name to float
        Which part of its mass a body keeps.
    """

    text: str
    held: tuple[str, ...] = ()
    parts: Mapping[str, str] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Span:
    """Where an element stands in a text: its start tag, what is in it, its end tag."""

    start: int
    open_end: int
    close_start: int
    end: int

    @property
    def is_empty(self) -> bool:
        """Whether the start tag is also the end."""
        return self.open_end == self.end


@dataclass(eq=False)
class XmlText:
    """A document as text and as elements, and what is to be changed in it.

    Parameters
    ----------
    root : Element
    text : str
    elements : list of Element
        In the order of their start tags.
    spans : list of Span
        Of each of them.
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
        """Whether anything is to be changed."""
        return bool(self._edits)

    def find(self, tag: str, name: str) -> int:
        """Return the number of the one element with a tag and a name.

        Raises
        ------
        NoCopy
            None, or several.
        """
        found = [
            at for at, one in enumerate(self.elements) if local_name(one) == tag and one.get("name") == name
        ]
        if len(found) != 1:
            raise NoCopy(f"{name!r} is not one <{tag}> in its text")
        return found[0]

    def replace(self, at: int, new: str) -> None:
        """Put a text in the place of an element."""
        self._edits.append((self.spans[at].start, self.spans[at].end, new))

    def replace_in_line(self, at: int, new: Element) -> None:
        """Put an element in the place of another one."""
        lines = indented(new, self._indent(at))
        self.replace(at, lines.lstrip())

    def set_attribute(self, at: int, name: str, value: str) -> None:
        """Change an attribute that an element has.

        Raises
        ------
        NoCopy
            An attribute that is not in the text.
        """
        span = self.spans[at]
        tag = self.text[span.start : span.open_end]
        match = re.search(rf"(?<=\s){name}\s*=\s*(\"[^\"]*\"|'[^']*')", tag)
        if match is None:
            raise NoCopy(f"the attribute {name} is not in its text")
        start, end = (span.start + at for at in match.span(1))
        self._edits.append((start, end, quoteattr(value)))

    def set_text(self, at: int, value: str) -> None:
        """Change the text of an element that has no other elements."""
        span = self.spans[at]
        self._edits.append((span.open_end, span.close_start, escape(value)))

    def add_first(self, at: int, new: Element) -> None:
        """Add an element as the first one of another."""
        span = self.spans[at]
        if span.is_empty:
            self.add_last(at, new)
            return
        indent = self._indent(at) + "  "
        self._edits.append((span.open_end, span.open_end, f"\n{indented(new, indent)}"))

    def add_last(self, at: int, *new: Element) -> None:
        """Add elements behind those of another."""
        span, indent = self.spans[at], self._indent(at)
        inner = "".join(f"\n{indented(one, indent + '  ')}" for one in new)
        if span.is_empty:
            tag = self.text[span.start : span.end]
            name = tag[1:].split("/")[0].split()[0].rstrip(">")
            self._edits.append((span.end - 2, span.end, f">{inner}\n{indent}</{name}>"))
            return
        # behind what is last, in front of the line break and the blanks of the end tag
        inside = self.text[span.open_end : span.close_start]
        at_end = span.open_end + len(inside.rstrip())
        tail = "" if "\n" in inside[len(inside.rstrip()) :] else f"\n{indent}"
        self._edits.append((at_end, at_end, inner + tail))

    def edited(self) -> str:
        """Return the text with all changes.

        Raises
        ------
        NoCopy
            Two changes of the same part.
        """
        parts, position = [], 0
        windows = "\r\n" in self.text
        # of several changes at one place the first one comes first
        for start, end, new in sorted(self._edits, key=lambda edit: edit[0]):
            if start < position:
                raise NoCopy("two of its closures change the same element")
            parts += [self.text[position:start], new.replace("\n", "\r\n") if windows else new]
            position = end
        return "".join((*parts, self.text[position:]))

    def edited_inside(self) -> str:
        """Return what is in the root element, with all changes."""
        text = self.edited()
        span = next(_spans(text))
        return text[span.open_end : span.close_start].strip()

    def _indent(self, at: int) -> str:
        start = self.spans[at].start
        line = self.text[self.text.rfind("\n", 0, start) + 1 : start]
        return line[: len(line) - len(line.lstrip())]


def indented(element: Element, indent: str) -> str:
    """Return an element as text, each line of it with an indent."""
    etree.indent(element)
    lines = etree.tostring(element, encoding="unicode", with_tail=False).splitlines()
    return "\n".join(indent + line for line in lines)


def _spans(text: str) -> Iterator[Span]:
    """Yield where the elements of a text stand, in the order of their start tags."""
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
