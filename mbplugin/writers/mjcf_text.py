"""The text of an MJCF model: its documents, in the order of inclusion, and edits of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from mbplugin.files import seen_from
from mbplugin.model.mechanism import WORLD
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Request
from mbplugin.readers.mjcf.files import model_files
from mbplugin.readers.paths import read_text
from mbplugin.readers.xml import Element, local_name
from mbplugin.writers.xml_text import NoCopy, XmlText

#: Elements that generate bodies, joints or equalities not written as elements.
_MAKERS = ("replicate", "composite", "flexcomp", "attach")
_EQUALITIES = ("connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain", "distance")
#: Numbers of coordinates of joints; other types have one.
_SIZES = {"free": 7, "ball": 4}


@dataclass(frozen=True, eq=False)
class Place:
    """An element of a model: its document, its index there, and the tags of its ancestors in the whole model."""

    document: XmlText
    at: int
    above: tuple[str, ...]

    @property
    def element(self) -> Element:
        """The XML element."""
        return self.document.elements[self.at]

    @property
    def tag(self) -> str:
        """Tag of the element."""
        return local_name(self.element)


@dataclass(frozen=True)
class TextJoint:
    """A joint of a model: its index among all elements, kind, number of coordinates, name and body."""

    at: int
    kind: str
    size: int
    name: str
    body: str


class MjcfText:
    """The documents of an MJCF model, and their elements in the order in which MuJoCo reads them."""

    def __init__(self, text: str, request: Request) -> None:
        main, *included = model_files(text, request).roots
        self._folder = request.folder
        self._left = {os.path.realpath(str(root.base)): root for root in included}
        #: Documents included by each document, by the index of the including element; in the order of reading.
        self._inner: dict[XmlText, dict[int, XmlText]] = {}
        self._main = XmlText(main, text)
        self.places = list(self._walk(self._main))
        self._bodies = [p for p in self.places if p.tag == "body" and "worldbody" in p.above]
        self._equalities = [p for p in self.places if p.above[-1:] == ("equality",) and p.tag in _EQUALITIES]

    def require_own_elements(self) -> None:
        """Reject a model with generated bodies, joints or equalities.

        Raises
        ------
        NoCopy
            There is a generating element, named in the message.
        """
        if made := [place.tag for place in self.places if place.tag in _MAKERS]:
            raise NoCopy(f"it has <{made[0]}>, which makes elements that are not in its text")

    @property
    def in_degrees(self) -> bool:
        """True if angles are written in degrees."""
        stated = [
            p.element.get("angle") for p in self.places if p.tag == "compiler" and p.element.get("angle")
        ]
        return not stated or stated[-1] == "degree"

    @property
    def has_joint_defaults(self) -> bool:
        """True if the file has defaults for joints."""
        return any(place.tag == "joint" and "default" in place.above for place in self.places)

    def body(self, name: str) -> Place:
        """Return the element of a body, or that of the world."""
        if name == WORLD:
            return next(place for place in self.places if place.tag == "worldbody")
        return _named(self._bodies, name, {f"body{i}": one for i, one in enumerate(self._bodies, start=1)})

    def equality(self, name: str) -> Place:
        """Return the element of an equality; unnamed ones are named by tag and number."""
        return _named(self._equalities, name, {f"{p.tag}{i}": p for i, p in enumerate(self._equalities)})

    def end_of(self, place: Place) -> int:
        """Return the index of the first element after the descendants of an element."""
        start = self.places.index(place)
        inside = takewhile(lambda other: len(other.above) > len(place.above), self.places[start + 1 :])
        return start + 1 + sum(1 for _ in inside)

    def joints(self, mech: Mechanism) -> list[TextJoint]:
        """Return the joints in the order of their coordinates.

        Types are taken from the mechanism, since they may come from a default.
        """
        found: list[TextJoint] = []
        bodies = {p: str(p.element.get("name") or f"body{k}") for k, p in enumerate(self._bodies, start=1)}
        above: list[tuple[int, str]] = []
        for at, place in enumerate(self.places):
            if place in bodies:
                above = [(depth, name) for depth, name in above if depth < len(place.above)]
                above.append((len(place.above), bodies[place]))
            if (
                place.tag in ("joint", "freejoint")
                and place.above[-1:] == ("body",)
                and "worldbody" in place.above
            ):
                owner = next(name for depth, name in reversed(above) if depth < len(place.above))
                name = str(place.element.get("name", f"joint{len(found)}"))
                pair = mech.pair_by_name.get(name)
                kind = "free" if pair is None else "ball" if pair.type == "spherical" else "single"
                found.append(TextJoint(at, kind, _SIZES.get(kind, 1), name, owner))
        return found

    def text(self, also: Callable[[XmlText], bool] = lambda _: False) -> str:
        """Return the main document with all changes; included documents with changes are expanded.

        Parameters
        ----------
        also : callable
            Predicate for other included documents to expand.
        """
        self._write_out(also)
        return self._main.edited()

    def _walk(self, main: XmlText) -> Iterator[Place]:
        """Yield the elements of a document and of those that it includes, except the roots of included documents.

        Iterative, because chains of included files may be long.
        """
        stack = [self._elements_of(main, ())]
        while stack:
            for document, at, above in stack[-1]:
                inner = self._included(document, document.elements[at])
                if inner is not None:
                    self._inner[document][at] = inner
                    stack.append(self._elements_of(inner, above))
                    break
                yield Place(document, at, above)
            else:
                stack.pop()

    def _elements_of(
        self, document: XmlText, base: tuple[str, ...]
    ) -> Iterator[tuple[XmlText, int, tuple[str, ...]]]:
        """Yield the elements of a document with the tags of their ancestors, beginning with ``base``."""
        self._inner[document] = {}
        inside: dict[Element, tuple[str, ...]] = {}
        for at, element in enumerate(document.elements):
            parent = element.getparent()
            above = base if parent is None else inside[parent]
            is_root = parent is None and bool(base)
            inside[element] = above if is_root else (*above, local_name(element))
            if not is_root:
                yield document, at, above

    def _included(self, document: XmlText, element: Element) -> XmlText | None:
        """Return the document that an element includes, or None; each document is included once."""
        if local_name(element) != "include":
            return None
        name = str(element.get("file", ""))
        for folder in (self._folder, Path(str(document.root.base)).parent):
            path = os.path.realpath(folder / name)
            if path in self._left:
                return XmlText(self._left.pop(path), read_text(path))
        return None

    def _write_out(self, also: Callable[[XmlText], bool]) -> None:
        """Expand included documents in the documents that include them, the innermost ones first."""
        changed: set[XmlText] = set()
        for document, inner in reversed(self._inner.items()):
            if document.is_edited or also(document) or changed & {*inner.values()}:
                changed.add(document)
        for document, inner in reversed(self._inner.items()):
            for at, one in inner.items():
                if one in changed:
                    document.replace(at, one.edited_inside())
                elif document in changed and document is not self._main:
                    # the name may be relative to the folder of a document that is expanded
                    document.set_attribute(at, "file", seen_from(self._folder, str(one.root.base)))


def _named(places: Sequence[Place], name: str, numbered: Mapping[str, Place]) -> Place:
    found = next((place for place in places if place.element.get("name") == name), numbered.get(name))
    if found is None:
        raise NoCopy(f"{name!r} is not in its text")
    return found
