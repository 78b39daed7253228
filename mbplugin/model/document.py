"""The elements of a model file as written: names, attributes and places, for rules about the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from mbplugin.model.scene import Origin
from mbplugin.phrases import one_line, one_line_repr


# a tuple, because a large file has ten thousand of them
class Written(NamedTuple):
    """An element as written.

    Parameters
    ----------
    tag : str
        With its prefix, as in ``drake:joint``.
    text : str
        In one line.
    parent : int
        Position of the element that contains it; -1 for the root.
    """

    tag: str
    attributes: Mapping[str, str]
    text: str
    origin: Origin
    parent: int

    def __repr__(self) -> str:
        return one_line(self, self.tag, (self.origin,))


@one_line_repr
@dataclass(frozen=True, eq=False)
class Document:
    """The elements of one model file in file order, without nesting: files nest deeply.

    Parameters
    ----------
    format : str
        ``urdf``.
    elements : tuple of Written
        The root is the first.
    prefix : str
        Stands before every name of the file in the scene: ``model/``.
    """

    format: str
    elements: tuple[Written, ...]
    prefix: str = ""

    @property
    def root(self) -> Node:
        """The root element."""
        return Node(self, 0)

    @cached_property
    def inner(self) -> Mapping[int, tuple[int, ...]]:
        """The positions of the elements directly in an element."""
        found: dict[int, list[int]] = {}
        for position, element in enumerate(self.elements):
            found.setdefault(element.parent, []).append(position)
        return {parent: tuple(positions) for parent, positions in found.items()}


@dataclass(frozen=True, eq=False)
class Node:
    """An element of a document and the way to those inside it."""

    document: Document
    position: int

    @property
    def written(self) -> Written:
        """The element."""
        return self.document.elements[self.position]

    @property
    def tag(self) -> str:
        """The name of the element, with its prefix."""
        return self.written.tag

    @property
    def origin(self) -> Origin:
        """Where the element is written."""
        return self.written.origin

    @property
    def text(self) -> str:
        """The text of the element in one line."""
        return self.written.text

    @property
    def name(self) -> str:
        """The attribute ``name``, as the element is called in the scene; empty where there is none."""
        stated = self.get("name")
        return self.document.prefix + stated if stated else ""

    def get(self, attribute: str) -> str:
        """Return an attribute without blanks around it; empty where there is none."""
        return self.written.attributes.get(attribute, "").strip()

    def has(self, attribute: str) -> bool:
        """Return whether an attribute is written."""
        return attribute in self.written.attributes

    def children(self, *tags: str) -> Iterator[Node]:
        """Yield the elements directly inside, of some tags or all."""
        for position in self.document.inner.get(self.position, ()):
            if not tags or self.document.elements[position].tag in tags:
                yield Node(self.document, position)

    def child(self, tag: str) -> Node | None:
        """Return the first element of a tag directly inside."""
        return next(self.children(tag), None)

    def descendants(self, *tags: str) -> Iterator[Node]:
        """Yield the elements inside, at any depth, in file order."""
        inside = {self.position}
        for position in range(self.position + 1, len(self.document.elements)):
            element = self.document.elements[position]
            if element.parent not in inside:
                # file order: what follows is outside
                return
            inside.add(position)
            if not tags or element.tag in tags:
                yield Node(self.document, position)
