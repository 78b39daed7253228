"""Where the elements of an expanded xacro file were written.

Every element that is parsed carries its file and line as user data, also where macros copy it: xacro itself sees
nothing of it.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from xml.dom import expatbuilder, minidom

from mbplugin.errors import MbPluginError
from mbplugin.model.document import Document
from mbplugin.model.scene import Defect, Origin, Scene
from mbplugin.readers.common.xml import parse_xml

_KEY = "written at"
#: What xacro calls the element that it works on.
_WORKED_ON = ("node", "elt")

#: File, as an index, and line.
Place = tuple[int, int]


class _Kept:
    """Gives the copy of an element the place of the element."""

    def handle(self, operation: int, key: str, data: Place, source: Any, copy: Any) -> None:
        """Do so; the signature is that of the DOM."""
        copy.setUserData(key, data, self)


class _Builder(expatbuilder.ExpatBuilderNS):
    """A builder of documents whose elements carry their line."""

    def __init__(self, file: int) -> None:
        super().__init__()
        self._file = file

    def start_element_handler(self, name: str, attributes: Any) -> None:
        super().start_element_handler(name, attributes)
        element: Any = self.curNode
        element.setUserData(_KEY, (self._file, self.getParser().CurrentLineNumber), _Kept())


@dataclass(frozen=True)
class Expansion:
    """What a xacro file becomes.

    Parameters
    ----------
    text : str
        The URDF or SDF.
    files : tuple of str
        Every file of macros that was read, the first one first.
    places : tuple of (int, int) or None
        For each element of the text, in its order, the index of the file and the line from 1.
    """

    text: str
    files: tuple[str, ...]
    places: tuple[Place | None, ...]


@dataclass(eq=False)
class Marks:
    """The files that were parsed while a xacro file is expanded, and their texts."""

    files: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)

    def document(self, text: str | bytes, file: str) -> Any:
        """Return the document of a file's text, whose elements carry where they stand."""
        if file not in self.files:
            self.files.append(file)
            self.texts[file] = text if isinstance(text, str) else text.decode("utf-8", "replace")
        return _Builder(self.files.index(file)).parseString(text)

    def places(self, document: minidom.Document) -> tuple[Place | None, ...]:
        """Return the place of each element in document order.

        What the expansion has made itself stands where the element around it stands.
        """
        return tuple(_place(element) for element in document.getElementsByTagName("*"))

    def where_failed(self, error: BaseException) -> str:
        """Return ``file:line`` of the element that xacro worked on; empty where that is not known."""
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        for frame in reversed(frames):
            for name in _WORKED_ON:
                if (place := _place(frame.f_locals.get(name))) is not None:
                    return f"{self.files[place[0]]}:{place[1]}"
        return ""


def _place(node: Any) -> Place | None:
    """Return the place of a node, or of the nearest element around it that has one."""
    while node is not None:
        place: Place | None = node.getUserData(_KEY) if hasattr(node, "getUserData") else None
        if place is not None:
            return place
        node = getattr(node, "parentNode", None)
    return None


class Written:
    """Translates lines of an expanded text into the files and lines where they were written.

    Parameters
    ----------
    expansion : Expansion
    name : str
        What the expanded text is called in origins and messages.
    file : str
        The xacro file, for what has no line.
    """

    def __init__(self, expansion: Expansion, name: str, file: str) -> None:
        self._name, self._file = name, file
        self._mention = re.compile(re.escape(name) + r"(?::(\d+))?")
        self._places: dict[int, tuple[str, int]] = {}
        for line, place in _lines(expansion, name):
            if place is not None:
                self._places.setdefault(line, (expansion.files[place[0]], place[1]))

    def origin(self, origin: Origin) -> Origin:
        """Return where something of the expanded text was written."""
        if origin.file != self._name:
            return origin
        file, line = self._places.get(origin.line, (self._file, 0))
        return Origin(file, line, origin.text)

    def message(self, text: str) -> str:
        """Return a text that names files and lines as they were written."""
        return self._mention.sub(lambda match: str(self.origin(_origin(match, self._name))), text)

    def defect(self, defect: Defect) -> Defect:
        """Return a defect at the place where it was written."""
        evidence = dict(defect.evidence)
        if isinstance(evidence.get("lines"), list):
            evidence["lines"] = [self.origin(Origin(self._name, line)).line for line in evidence["lines"]]
        place = defect.origin and self.origin(defect.origin)
        return replace(defect, origin=place, message=self.message(defect.message), evidence=evidence)

    def scene(self, scene: Scene) -> Scene:
        """Return a scene with its origins, defects and documents where they were written."""
        return replace(
            scene,
            origin={key: self.origin(origin) for key, origin in scene.origin.items()},
            defects=tuple(self.defect(defect) for defect in scene.defects),
            documents=tuple(self.document(document) for document in scene.documents),
        )

    def document(self, document: Document) -> Document:
        """Return a document whose elements are where they were written."""
        elements = (part._replace(origin=self.origin(part.origin)) for part in document.elements)
        return replace(document, elements=tuple(elements))

    def error(self, error: MbPluginError) -> MbPluginError:
        """Return an error that names the place where its cause was written."""
        error.what, error.where, error.remedy = (
            self.message(text) for text in (error.what, error.where, error.remedy)
        )
        error.args = (error.sentence(),)
        return error


def _origin(match: re.Match[str], name: str) -> Origin:
    return Origin(name, int(match.group(1) or 0))


def _lines(expansion: Expansion, name: str) -> Iterator[tuple[int, Place | None]]:
    """Yield the line of each element in the expanded text, and its place."""
    try:
        root = parse_xml(expansion.text, name)
    except MbPluginError:
        # whoever reads the text says what is wrong with it
        return
    elements: Sequence[Any] = [element for element in root.iter() if isinstance(element.tag, str)]
    if len(elements) == len(expansion.places):
        yield from ((int(e.sourceline or 0), p) for e, p in zip(elements, expansion.places, strict=True))
