"""Edits of XML in its text: the position of each element, and changes that leave everything else untouched.

The text of an MJCF model has several documents, in the order of inclusion. In a copy for another folder, relative file
names are adapted.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from lxml import etree

from mbplugin.errors import BadUsage
from mbplugin.files import seen_from, toml_text
from mbplugin.model import WORLD, Mechanism, Request
from mbplugin.readers.mjcf.files import NAMING, model_files
from mbplugin.readers.paths import find, is_file, package_of, read_text
from mbplugin.readers.xml import Element, local_name, parse_xml, without_comments

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

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
            raise NoCopy("its text has tags that are not elements")

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
                raise NoCopy("its text has tags that are not elements")
            found[opened.pop()][2:] = [match.start(), match.end()]
            continue
        if not rest.endswith("/"):
            opened.append(len(found))
        found.append([match.start(), match.end(), match.end(), match.end()])
    return (Span(*numbers) for numbers in found)


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


#: Attributes of an MJCF file with the folders of meshes and textures.
_FOLDERS = ("meshdir", "texturedir", "assetdir")


def for_folder(text: str, format: str, request: Request, folder: Path) -> str:
    """Return the text of a copy for a folder, with file names that refer to the same files.

    Raises
    ------
    BadUsage
        File names in the text cannot be stated relative to this folder.
    """
    own, there = request.folder, Path(os.path.realpath(folder))
    if os.path.realpath(own) == str(there):
        return text
    try:
        return _moved(text, format, request, there)
    except NoCopy as reason:
        raise BadUsage(
            f"what is made of {request.path!r} cannot be in another folder: {reason}",
            expected=f"a file in {str(own)!r}",
        ) from None


def _moved(text: str, format: str, request: Request, folder: Path) -> str:
    if format == "mjcf":
        return _moved_mjcf(text, request, folder)
    if format in ("urdf", "sdf"):
        return _moved_joints(text, request, folder)
    if format == "scene":
        return _moved_scene(text, request, folder)
    if "@" in text:
        raise NoCopy("it names other layers or assets")
    return text


def _moved_mjcf(text: str, request: Request, folder: Path) -> str:
    """Return an MJCF file for another folder.

    Included files stay where they are; those with file names relative to the folder of the model are expanded.
    """

    text = MjcfText(text, request).text(also=_names_files)
    files = model_files(text, request)
    document = XmlText(files.roots[0], text)
    names_files = any(element.get(key) for root in files.roots for element in root.iter() for key in NAMING)
    _move_folders(document, names_files, request.folder, folder)
    for at, element in enumerate(document.elements):
        name = str(element.get("file", ""))
        old = request.folder / name
        if name and (
            local_name(element) in ("include", "model")
            or (local_name(element) == "flexcomp" and is_file(old))
        ):
            document.set_attribute(at, "file", seen_from(folder, str(old)))
    again = document.edited()
    packages = (*request.package_dirs, str(package_of(request.folder)))
    found = model_files(
        again, replace(request, path=str(folder / Path(request.path).name), package_dirs=packages)
    )
    if sorted(found.contents.values()) != sorted(files.contents.values()):
        raise NoCopy("other files are found from there")
    return again


def _names_files(document: XmlText) -> bool:
    """Return True if a document contains file names relative to the folder of the model."""
    own = Path(str(document.root.base)).parent
    includes = [str(element.get("file", "")) for element in document.root.iter("include")]
    elements = document.root.iter("compiler", "model", "flexcomp")
    return any(not is_file(own / name) for name in includes) or any(
        element.get(key) for element in elements for key in ("file", *_FOLDERS)
    )


def _move_folders(document: XmlText, has_files: bool, old: Path, new: Path) -> None:
    """Rewrite the folders of meshes and textures relative to another folder."""
    stated: set[str] = set()
    for at, element in enumerate(document.elements):
        if local_name(element) != "compiler":
            continue
        for key in _FOLDERS:
            if element.get(key) is not None:
                stated.update(_FOLDERS if key == "assetdir" else (key,))
                document.set_attribute(at, key, seen_from(new, str(old / str(element.get(key)))))
    if has_files and (rest := [key for key in ("meshdir", "texturedir") if key not in stated]):
        compiler = etree.Element("compiler")
        for key in rest:
            compiler.set(key, seen_from(new, str(old)))
        document.add_first(0, compiler)


def _moved_joints(text: str, request: Request, folder: Path) -> str:
    """Return a URDF or SDF file for another folder, with relative names of meshes and models adapted."""
    document = XmlText(parse_xml(text, request.path), text)
    for at, element in enumerate(document.elements):
        if local_name(element) in ("mesh", "texture"):
            if moved := _seen_from(folder, str(element.get("filename", "")), request):
                document.set_attribute(at, "filename", moved)
        elif local_name(element) == "uri" and (
            moved := _seen_from(folder, (element.text or "").strip(), request)
        ):
            document.set_text(at, moved)
    return document.edited()


def _moved_scene(text: str, request: Request, folder: Path) -> str:
    """Return a scene, written by this package, for another folder; it only names meshes, one on each line."""

    def moved(line: re.Match[str]) -> str:
        name = str(tomllib.loads(line.group())["mesh"])
        if not _is_beside(name, request):
            return line.group()
        return f"mesh = {toml_text(seen_from(folder, str(request.folder / name)))}"

    return re.sub(r'^mesh = (".*")$', moved, text, flags=re.MULTILINE)


def _seen_from(folder: Path, name: str, request: Request) -> str:
    """Return the name of a file relative to a folder; empty if the name need not change.

    A name in a package need not change if the package is also found from the new folder.
    """
    if _is_beside(name, request):
        return seen_from(folder, str(request.folder / name))
    path = find(name, request) if name.startswith(("package://", "model://")) else None
    there = replace(request, path=str(folder / Path(request.path).name), text=None)
    return "" if path is None or find(name, there) == path else seen_from(folder, path)


def _is_beside(name: str, request: Request) -> bool:
    """Return True if a name is that of an existing file, relative to the folder of a model."""
    return (
        bool(name)
        and "://" not in name
        and not Path(name).is_absolute()
        and os.path.exists(request.folder / name)  # noqa: PTH110
    )
