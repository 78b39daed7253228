"""An MJCF model as its text: its documents, each included one where it is included, and edits of them."""

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
from mbplugin.readers.common.paths import read_text
from mbplugin.readers.common.xml import Element, local_name
from mbplugin.readers.mjcf.files import model_files
from mbplugin.writers.xml_text import NoCopy, XmlText

#: What makes bodies, joints or equalities that are no elements of their own.
_MAKERS = ("replicate", "composite", "flexcomp", "attach")
_EQUALITIES = ("connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain", "distance")
#: Coordinates of joints; others have one.
_SIZES = {"free": 7, "ball": 4}


@dataclass(frozen=True, eq=False)
class Place:
    """An element of a model: its document, its number there, and the tags above it in the whole model."""

    document: XmlText
    at: int
    above: tuple[str, ...]

    @property
    def element(self) -> Element:
        """The element itself."""
        return self.document.elements[self.at]

    @property
    def tag(self) -> str:
        """Its name."""
        return local_name(self.element)


@dataclass(frozen=True)
class TextJoint:
    """A joint of a model: its number among all elements, kind, number of coordinates, name and body."""

    at: int
    kind: str
    size: int
    name: str
    body: str


class MjcfText:
    """An MJCF model as its documents, and their elements in the order in which MuJoCo reads them."""

    def __init__(self, text: str, request: Request) -> None:
        main, *included = model_files(text, request).roots
        self._folder = request.folder
        self._left = {os.path.realpath(str(root.base)): root for root in included}
        #: What each document includes, by the number of the including element; in the order of reading.
        self._inner: dict[XmlText, dict[int, XmlText]] = {}
        self._main = XmlText(main, text)
        self.places = list(self._walk(self._main))
        self._bodies = [p for p in self.places if p.tag == "body" and "worldbody" in p.above]
        self._equalities = [p for p in self.places if p.above[-1:] == ("equality",) and p.tag in _EQUALITIES]

    def require_own_elements(self) -> None:
        """Refuse a model whose bodies are not all elements of its own.

        Raises
        ------
        NoCopy
            With what makes them.
        """
        if made := [place.tag for place in self.places if place.tag in _MAKERS]:
            raise NoCopy(f"it has <{made[0]}>, which makes elements that are not in its text")

    @property
    def in_degrees(self) -> bool:
        """Whether angles are written in degrees."""
        stated = [
            p.element.get("angle") for p in self.places if p.tag == "compiler" and p.element.get("angle")
        ]
        return not stated or stated[-1] == "degree"

    @property
    def has_joint_defaults(self) -> bool:
        """Whether a default of the file may give a joint something."""
        return any(place.tag == "joint" and "default" in place.above for place in self.places)

    def body(self, name: str) -> Place:
        """Return the element of a body, or that of the world."""
        if name == WORLD:
            return next(place for place in self.places if place.tag == "worldbody")
        return _named(self._bodies, name, {f"body{i}": one for i, one in enumerate(self._bodies, start=1)})

    def equality(self, name: str) -> Place:
        """Return the element of an equality, which MuJoCo numbers where it has no name."""
        return _named(self._equalities, name, {f"{p.tag}{i}": p for i, p in enumerate(self._equalities)})

    def end_of(self, place: Place) -> int:
        """Return the number of the first element behind those in a place."""
        start = self.places.index(place)
        inside = takewhile(lambda other: len(other.above) > len(place.above), self.places[start + 1 :])
        return start + 1 + sum(1 for _ in inside)

    def joints(self, mech: Mechanism) -> list[TextJoint]:
        """Return the joints in the order of their coordinates; a type may come from a default, not from the element."""
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
        """Return the main document with all changes, and with the included ones that have some written out.

        Parameters
        ----------
        also : callable
            Whether another included document is written out, too.
        """
        self._write_out(also)
        return self._main.edited()

    def _walk(self, main: XmlText) -> Iterator[Place]:
        """Yield the elements of a document and of those that it includes; the root of an included one is none.

        Without recursion: files may include each other in a long row.
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
        """Yield the elements of a document with the tags above them, where those above the document are ``base``."""
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
        """Return the document that an element includes; each is included once."""
        if local_name(element) != "include":
            return None
        name = str(element.get("file", ""))
        for folder in (self._folder, Path(str(document.root.base)).parent):
            path = os.path.realpath(folder / name)
            if path in self._left:
                return XmlText(self._left.pop(path), read_text(path))
        return None

    def _write_out(self, also: Callable[[XmlText], bool]) -> None:
        """Write included documents into those that include them, the innermost ones first."""
        changed: set[XmlText] = set()
        for document, inner in reversed(self._inner.items()):
            if document.is_edited or also(document) or changed & {*inner.values()}:
                changed.add(document)
        for document, inner in reversed(self._inner.items()):
            for at, one in inner.items():
                if one in changed:
                    document.replace(at, one.edited_inside())
                elif document in changed and document is not self._main:
                    # a name that counted from the folder of a document that is written out
                    document.set_attribute(at, "file", seen_from(self._folder, str(one.root.base)))


def _named(places: Sequence[Place], name: str, numbered: Mapping[str, Place]) -> Place:
    found = next((place for place in places if place.element.get("name") == name), numbered.get(name))
    if found is None:
        raise NoCopy(f"{name!r} is not in its text")
    return found
