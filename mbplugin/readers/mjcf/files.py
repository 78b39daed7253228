"""Files of an MJCF model: read and checked here, and passed to MuJoCo under generated names.

MuJoCo never gets a name stated by a model. Every ``file`` of the model, of its includes and of the models that it
attaches is looked up here by MuJoCo's rules, must lie in the model's package, and is replaced by a generated name for
its content. MuJoCo cannot open any file while it compiles the model.
"""

from __future__ import annotations

import html
import os
import re
import struct
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from mbplugin.errors import BrokenModel, BrokenXml, UnresolvedPath
from mbplugin.files import read_bounded, seen_from
from mbplugin.model import Defect, Request
from mbplugin.phrases import only_near
from mbplugin.readers import xml
from mbplugin.readers.paths import is_file, may_read, read_text

#: Edges of the two stand-ins of a mesh, in mesh units.
SIZES = (1.0, 2.0)
#: Side of each square of a stand-in texture, pixels; also the maximum number of squares.
_PIXELS = 12
_MECHANICAL = ("body_mass", "body_inertia", "body_ipos", "body_iquat", "body_pos", "body_quat")
#: Attributes that name files; all but the first are the sides of a cube texture.
NAMING = ("file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")
#: Elements that MuJoCo names after their file if they have no name.
_NAMED_AFTER_FILE = ("mesh", "hfield", "skin", "texture")
#: Maximum number of documents of a model, including attached models; a robot has a few dozen.
_MOST_DOCUMENTS = 10_000
_KEY = re.compile(r"mbplugin-\d+(?:\.\w+)?", re.ASCII)
_TAG = re.compile(r"<([A-Za-z_][\w.:-]*)(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*>")
_ATTRIBUTE = re.compile(r"([^\s=<>/\"']+)(\s*=\s*)(\"[^\"]*\"|'[^']*')")


# Small stand-ins given to MuJoCo for textures and meshes that are not on this machine.
#
# Stand-ins are permitted if no mechanics depend on them: the model is compiled with two sizes of each mesh,
# and must have the same masses, inertias and positions with both.


def stand_ins(missing: Sequence[Missing], size: float) -> dict[str, bytes] | None:
    """Return stand-in content for each missing file; None if any format has no stand-in.

    Parameters
    ----------
    missing : sequence of Missing
    size : float
        Edge length of the meshes.
    """
    contents: dict[str, bytes] = {}
    for lost in missing:
        content = _content(lost.element, Path(lost.name).suffix.lower(), size)
        if content is None:
            return None
        contents[lost.key] = content
    return contents


def same_mechanics(model: Any, other: Any) -> bool:
    """Return True if two compiled models have the same masses, inertias and body poses."""
    return all(np.array_equal(getattr(model, name), getattr(other, name)) for name in _MECHANICAL)


def missing_defects(missing: Sequence[Missing]) -> Iterator[Defect]:
    """Yield a warning for each file without which a model was compiled."""
    for element, name in ((lost.element, lost.name) for lost in missing):
        message = f"{name!r} cannot be opened; no mechanics depend on it, the model is analyzed without it"
        owner = str(element.get("name", "")) or name
        yield Defect("MB906", owner, message, xml.origin(element), severity="warning")


def _content(element: xml.Element, kind: str, size: float) -> bytes | None:
    if xml.local_name(element) not in ("mesh", "texture"):
        return None
    if kind == ".stl":
        return _stl(size)
    if kind == ".obj":
        s = f"{size:g}"
        return f"v 0 0 0\nv {s} 0 0\nv 0 {s} 0\nv 0 0 {s}\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n".encode()
    return _png(*_grid(element)) if kind == ".png" else None


def _grid(element: xml.Element) -> tuple[int, int]:
    """Return the rows and columns of squares in a texture; one square if MuJoCo would refuse the grid."""
    words = str(element.get("gridsize", "1 1")).split()
    rows, columns = (int(word) if word.isdigit() else 1 for word in (*words, "1", "1")[:2])
    # MuJoCo takes grids of at most 12 squares
    return (rows, columns) if 1 <= rows * columns <= _PIXELS else (1, 1)


def _stl(size: float) -> bytes:
    points = ((0.0, 0.0, 0.0), (size, 0.0, 0.0), (0.0, size, 0.0), (0.0, 0.0, size))
    faces = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
    rows = (struct.pack("<12fH", 0, 0, 0, *(x for k in face for x in points[k]), 0) for face in faces)
    return bytes(80) + struct.pack("<I", len(faces)) + b"".join(rows)


def _png(rows: int, columns: int) -> bytes:
    height, width = rows * _PIXELS, columns * _PIXELS
    lines = b"".join(b"\0" + bytes(3 * width) for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    written = (struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d)) for t, d in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(written)


@dataclass(frozen=True)
class Missing:
    """A missing file of a model: the element that names it, its name there, and the generated name."""

    element: xml.Element
    name: str
    key: str


@dataclass(eq=False)
class ModelFiles:
    """Everything that MuJoCo needs to compile a model.

    Parameters
    ----------
    roots : list of Element
        The parsed file and everything it includes, in the order in which MuJoCo reads it.
    attached : list of Element
        The same for the models that it attaches.
    text : str
        The file with generated names.
    contents : dict of str to bytes
        The content of each generated name.
    written : dict of str to str
        The name in the file for each generated name.
    paths : dict of str to str
        The path of each file, relative to the model.
    missing : list of Missing
    radians : bool
        The angles of the documents in ``roots`` are in radians.
    """

    roots: list[xml.Element] = field(default_factory=list)
    attached: list[xml.Element] = field(default_factory=list)
    text: str = ""
    contents: dict[str, bytes] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)
    missing: list[Missing] = field(default_factory=list)
    radians: bool = False

    def as_written(self, message: str) -> str:
        """Replace generated names in a MuJoCo message by those in the files."""
        return _KEY.sub(lambda match: self.written.get(match.group(), match.group()), message)

    def path_of(self, name: str) -> str:
        """Return the path of a file from its generated name, empty for other names."""
        match = _KEY.search(name)
        return self.paths.get(match.group(), "") if match else ""


@dataclass(eq=False)
class _Model:
    """A model whose documents are being read: its folder, and the asset folders of its compiler settings."""

    folder: Path
    attached: bool
    documents: dict[str, str] = field(default_factory=dict)
    texts: list[tuple[xml.Element, str, str]] = field(default_factory=list)
    meshdir: str = ""
    texturedir: str = ""
    strippath: bool = False
    radians: bool = False


def model_files(text: str, request: Request) -> ModelFiles:
    """Read and check the files of a model.

    Raises
    ------
    UnresolvedPath
        A file lies outside the model's package.
    BrokenXml
        A document is not XML, or not UTF-8.
    BrokenModel
        A model attaches itself, or there are too many documents.
    """
    found = ModelFiles()
    main = str(request.path) if request.text is None else ""
    _Reading(request, found).read_model(text, str(request.path), main, request.folder)
    return found


class _Reading:
    """State while reading the files of a model and of those it attaches."""

    def __init__(self, request: Request, found: ModelFiles) -> None:
        self.request, self.found = request, found
        self._models: dict[str, str] = {}
        self._assets: dict[str, str] = {}
        self._count = 0

    def read_model(self, text: str, path: str, key: str, folder: Path, above: tuple[str, ...] = ()) -> None:
        """Read a model with its includes, then rewrite them with generated file names."""
        model = _Model(folder, attached=bool(above))
        self._read_document(model, text, path, key)
        if not above:
            self.found.radians = model.radians
        for root, body, own in model.texts:
            names = self._names_of(model, root, (*above, os.path.realpath(path)))
            rewritten = _rewritten(body, names, snap=self.request.snap_angles and model.radians)
            if own == key and not above:
                self.found.text = rewritten
            else:
                self.found.contents[own] = rewritten.encode(errors="surrogateescape")

    def _read_document(self, model: _Model, text: str, path: str, key: str) -> None:
        """Read a document, and its includes where they occur: of repeated settings, the last one counts."""
        root = xml.parse_xml(text, path)
        _require_utf8(path)
        documents = self.found.attached if model.attached else self.found.roots
        documents.append(root)
        if len(self.found.roots) + len(self.found.attached) > _MOST_DOCUMENTS:
            raise BrokenModel(f"the model has more than {_MOST_DOCUMENTS} documents", where=self.request.path)
        model.texts.append((root, text, key))
        for element in root.iter("include", "compiler"):
            if xml.local_name(element) == "compiler":
                assets = str(element.get("assetdir", ""))
                model.meshdir = str(element.get("meshdir", assets or model.meshdir))
                model.texturedir = str(element.get("texturedir", assets or model.texturedir))
                model.radians = str(element.get("angle", "radian" if model.radians else "")) == "radian"
                model.strippath = str(element.get("strippath", model.strippath)).lower() == "true"
                continue
            name = str(element.get("file", ""))
            places = (model.folder / name, Path(path).parent / name)
            file = self._checked(element, name, places) if name else None
            if file is not None and str(file) not in model.documents:
                model.documents[str(file)] = inner = self._key(name, file)
                self._read_document(model, read_text(file), str(file), inner)

    def _names_of(
        self, model: _Model, root: xml.Element, above: tuple[str, ...]
    ) -> dict[tuple[str, str], str]:
        """Return the generated name of each file named in a document, keyed by element tag and file name."""
        names: dict[tuple[str, str], str] = {}
        for element in root.iter():
            kind = xml.local_name(element)
            for name in filter(None, (str(element.get(attribute, "")) for attribute in NAMING)):
                if (kind, name) not in names:
                    names[kind, name] = self._name_of(model, element, kind, name, above)
                if kind != "include" and names[kind, name] not in self.found.paths:
                    self.found.missing.append(Missing(element, name, names[kind, name]))
        return names

    def _name_of(
        self, model: _Model, element: xml.Element, kind: str, name: str, above: tuple[str, ...]
    ) -> str:
        file = self._checked(element, name, _places(model, element, kind, name))
        if kind == "include":
            return model.documents[str(file)] if file is not None else self._key(name)
        if file is None:
            return self._key(name)
        real = os.path.realpath(file)
        if kind != "model":
            if real not in self._assets:
                self._assets[real] = self._key(name, file)
                self.found.contents[self._assets[real]] = read_bounded(file)
            return self._assets[real]
        if real in above:
            raise BrokenModel(
                f"{name!r} attaches itself", where=xml.where(element), remedy="attach another model"
            )
        if real not in self._models:
            self._models[real] = self._key(name, file)
            self.read_model(read_text(file), str(file), self._models[real], file.parent, above)
        return self._models[real]

    def _key(self, name: str, file: Path | None = None) -> str:
        """Return a new generated name; it keeps the suffix, from which MuJoCo infers the format."""
        self._count += 1
        ending = Path(name).suffix
        key = f"mbplugin-{self._count}" + (ending if re.fullmatch(r"\.\w+", ending, re.ASCII) else "")
        self.found.written[key] = name
        if file is not None:
            self.found.paths[key] = seen_from(self.request.folder, str(file))
        return key

    def _checked(self, element: xml.Element, name: str, places: tuple[Path, ...]) -> Path | None:
        """Return the first of several paths that is a file, None if there is none."""
        for place in places:
            if not may_read(place, self.request):
                raise UnresolvedPath(
                    f"{name!r} lies outside the model's package",
                    where=xml.where(element),
                    expected="every file that the model names in its own package",
                    remedy="pass --package-dir DIR (package_dirs=[DIR]) with the folder that holds it",
                )
        return next((place for place in places if is_file(place)), None)


def _places(model: _Model, element: xml.Element, kind: str, name: str) -> tuple[Path, ...]:
    """Return the paths MuJoCo tries for a file, except the working folder, which it tries for attached models."""
    folder = model.texturedir if kind == "texture" else model.meshdir
    asset = model.folder / folder / (_last(name) if model.strippath else name)
    if kind == "include":
        return (model.folder / name, Path(str(element.base)).parent / name)
    if kind == "model":
        return (model.folder / name,)
    return (model.folder / name, asset) if kind == "flexcomp" else (asset,)


def _last(name: str) -> str:
    """Return a file name without its folders, with either separator."""
    return re.split(r"[/\\]", name)[-1]


def _rewritten(text: str, names: dict[tuple[str, str], str], *, snap: bool) -> str:
    """Return a document with generated file names and without comments, preserving line numbers.

    With ``snap``, rounded angles are replaced by those that they stand for.
    """
    return _TAG.sub(lambda match: _tag(match, names, snap=snap), xml.without_comments(text))


def _tag(match: re.Match[str], names: dict[tuple[str, str], str], *, snap: bool) -> str:
    kind, tag = match.group(1), match.group()
    stated = {m.group(1): html.unescape(m.group(3)[1:-1]) for m in _ATTRIBUTE.finditer(tag)}
    name = ""
    if kind in _NAMED_AFTER_FILE and "file" in stated and not stated.get("name"):
        name = f" name={quoteattr(Path(_last(stated['file'])).stem)}"

    def replaced(m: re.Match[str]) -> str:
        attribute, equals, value = m.groups()
        if snap and attribute in xml.TURNING:
            return f"{attribute}{equals}{value[0]}{_as_meant(value[1:-1], xml.TURNING[attribute])}{value[0]}"
        key = names.get((kind, html.unescape(value[1:-1]))) if attribute in NAMING else None
        if attribute == "name" and name:
            return name.strip()
        return m.group() if key is None else f'{attribute}{equals}"{key}"'

    head = f"<{kind}"
    inner = _ATTRIBUTE.sub(replaced, tag[len(head) :])
    return head + (name if "name" not in stated else "") + inner


def _as_meant(text: str, before: int) -> str:
    """Return a text with the angles that its rounded words stand for, except for some words before them."""
    words = text.split()
    meant = [xml.rounded_angle(word) for word in words[before:]]
    angles = (
        word if angle is None else repr(angle.meant)
        for word, angle in zip(words[before:], meant, strict=True)
    )
    return " ".join((*words[:before], *angles))


def _require_utf8(path: str) -> None:
    """Refuse a file in another encoding: its names could not be read from the compiled model."""
    file = Path(path)
    data = read_bounded(file) if is_file(file) else b""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BrokenXml(
            f"the text is not UTF-8: {error.reason}",
            where=f"{file}:{data[: error.start].count(10) + 1}",
            remedy="save it as UTF-8",
        ) from None


#: MuJoCo prints tags in the first columns, three more for each level, followed by their attributes.
_COLUMN, _INDENT = 30, 3
_ELEMENT = re.compile(r"Element '([^']+)'")
MISPLACED_ATTRIBUTE = re.compile(r"unrecognized attribute: '([^']*)'")
_QUOTED = re.compile(r"'([^']+)'")
STATED_LINE = re.compile(r"\bline (?:number=)?(\d+)", re.I)
_INVERTED = "range[0] should be smaller than range[1] in joint"
_NAME = re.compile(r"Element name '([^']*)'")
_REPEATED = re.compile(r"element '([^']*)' is repeated in equality constraint")
#: What the attributes of MJCF name.
_NAMED = {
    **dict.fromkeys(("body", "body1", "body2"), "body"),
    **dict.fromkeys(("joint", "joint1", "joint2", "jointinparent"), "joint"),
    **dict.fromkeys(("site", "site1", "site2", "cranksite", "slidersite", "refsite", "sidesite"), "site"),
    **dict.fromkeys(("geom", "geom1", "geom2"), "geom"),
    **dict.fromkeys(("tendon", "tendon1", "tendon2"), "tendon"),
    **{kind: kind for kind in ("mesh", "material", "texture", "hfield", "actuator")},
    **dict.fromkeys(("class", "childclass"), "default"),
}
#: Attributes that name what another one says, and elements like a body that MuJoCo does not print.
_TYPED = {"objname": "objtype", "refname": "reftype"}
_LIKE_BODIES = ("worldbody", "frame", "replicate")
_IN_BODIES = frozenset({"body", "frame", "replicate", "composite", "attach", "include"})
#: Elements that make names which the file does not state.
_MAKING_NAMES = ("attach", "replicate", "composite", "flexcomp")
#: The coefficients of a joint that is coupled with itself and so not bound.
_UNBOUND = ("", "0 1", "0 1 0", "0 1 0 0", "0 1 0 0 0")
#: The parent of what an included file begins with.
_UNKNOWN = "\0"


@dataclass(eq=False)
class Schema:
    """The tags and attributes that MuJoCo knows: attributes and children of each tag, in a parent and anywhere.

    ``main`` is the root of the model; what is around an included part is not known.
    """

    main: xml.Element
    attributes: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    children: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    @classmethod
    def of(cls, mujoco: Any, main: xml.Element) -> Schema:
        """Return the schema that a version of MuJoCo prints."""
        schema, above = cls(main), list[str]()
        for line in mujoco.mj_printSchema(False, False).splitlines():
            head = line[:_COLUMN]
            if words := head.split():
                depth = (len(head) - len(head.lstrip())) // _INDENT
                above[depth:] = ["body" if words[0] == "(world)body" else words[0]]
            if not above:
                continue
            parent, tag = above[-2] if len(above) > 1 else "", above[-1]
            schema.children[parent].add(tag)
            for key in ((parent, tag), ("", tag)):
                schema.attributes[key].update(line[_COLUMN:].split())
        schema.children["body"] |= _IN_BODIES
        schema.children["mujoco"] = schema.children["mujoco"] - {"body"} | {"worldbody", "include"}
        return schema

    def tags(self, element: xml.Element) -> set[str]:
        """Return the tags that are allowed in the place of an element."""
        return self.children.get(self._parent(element)) or set().union(*self.children.values())

    def names(self, element: xml.Element) -> set[str]:
        """Return the attributes that an element may have."""
        tag = _corrected_tag(element)
        return self.attributes.get((self._parent(element), tag)) or self.attributes.get(("", tag), set())

    def _parent(self, element: xml.Element) -> str:
        outer = element.getparent()
        known = outer is not None and (outer is self.main or outer.getparent() is not None)
        return _corrected_tag(outer) if known and outer is not None else _UNKNOWN


def correction_of(schema: Schema, message: str, roots: Sequence[xml.Element]) -> dict[str, Any]:
    """Return the correction of the word that a message of MuJoCo is about; empty if it is not certain.

    Parameters
    ----------
    schema : Schema
    message : str
        The message, with the names of the files.
    roots : sequence of Element
        The documents of the model.

    Returns
    -------
    dict
        ``places``, and ``meant``, the word for the misspelt one, with the ``tag`` of the elements, or the ``kind`` of
        what they name; or ``itself``, the joint that they couple with itself; or ``exchange``, the attribute of the
        joint whose two numbers are in the wrong order.
    """
    elements = [element for root in roots for element in root.iter("{*}*")]
    stated = STATED_LINE.search(message)
    line = int(stated.group(1)) if stated else 0
    if repeated := _REPEATED.search(message):
        found = _of_itself(elements, repeated.group(1))
        return _with_places({"itself": repeated.group(1)}, found, line)
    if _INVERTED in message:
        return _with_places({"exchange": "range"}, _inverted(elements, message, line), line)
    if "Schema violation: unrecognized" not in message:
        return _name(message, elements, line)
    tag = next(iter(_ELEMENT.findall(message)), "")
    if attribute := MISPLACED_ATTRIBUTE.search(message):
        return _attribute(schema, elements, tag, attribute.group(1), line)
    wrong = [one for one in elements if xml.local_name(one) == tag and tag not in schema.tags(one)]
    meant = {only_near(tag, schema.tags(one)) for one in wrong}
    return _with_places({"tag": tag, "meant": {tag: meant.pop()}}, wrong, line) if len(meant) == 1 else {}


def _attribute(
    schema: Schema, elements: Sequence[xml.Element], tag: str, name: str, line: int
) -> dict[str, Any]:
    wrong = [
        one
        for one in elements
        if xml.local_name(one) == tag and one.get(name) is not None and name not in schema.names(one)
    ]
    meant = {only_near(name, schema.names(one) - set(map(str, one.attrib))) for one in wrong}
    return _with_places({"tag": tag, "meant": {name: meant.pop()}}, wrong, line) if len(meant) == 1 else {}


def _name(message: str, elements: Sequence[xml.Element], line: int) -> dict[str, Any]:
    """Return the correction of a name that no element has, wherever elements of its kind are named."""
    if any(xml.local_name(one) in _MAKING_NAMES for one in elements):
        return {}
    names = _names(elements)
    for wrong in _QUOTED.findall(message):
        # MuJoCo reports line 0 for what an included file states
        here = {kind for one in elements if line in (0, one.sourceline) for kind in _kinds(one, wrong)}
        if len(here) != 1:
            continue
        (kind,) = here
        meant = "" if wrong in names[kind] else only_near(wrong, sorted(names[kind]))
        if meant:
            found = [one for one in elements if kind in _kinds(one, wrong)]
            return _with_places({"meant": {wrong: meant}, "kind": kind}, found, line)
    return {}


def references(tag: str, attributes: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the attributes with which an element names others, with the kind of what they name, and the name.

    Parameters
    ----------
    tag : str
    attributes : mapping of str to str
    """
    for attribute, value in attributes.items():
        kind = _NAMED.get(attribute, "")
        if attribute in _TYPED:
            kind = attributes.get(_TYPED[attribute], "").replace("xbody", "body")
        if kind and (tag, attribute) != ("default", "class"):
            yield attribute, kind, value.strip()


def _kinds(element: xml.Element, name: str) -> set[str]:
    """Return the kinds of things that an element names so."""
    attributes = xml.attributes_of(element)
    return {kind for _, kind, value in references(xml.local_name(element), attributes) if value == name}


def _names(elements: Sequence[xml.Element]) -> Mapping[str, set[str]]:
    """Return the names that elements have, by their kind."""
    found: dict[str, set[str]] = defaultdict(set)
    found["body"].add("world")
    found["default"].add("main")
    for element in elements:
        outer = element.getparent()
        parent = "" if outer is None else xml.local_name(outer)
        tag, name = xml.local_name(element), str(element.get("name", ""))
        if tag == "default":
            found["default"].add(str(element.get("class", "")))
        elif tag in ("mesh", "texture", "hfield") and not name:
            found[tag].add(Path(str(element.get("file", ""))).stem)
        elif parent in ("tendon", "actuator"):
            found[parent].add(name)
        elif parent not in ("equality", "default", "sensor"):
            found["joint" if tag == "freejoint" else tag].add(name)
    return defaultdict(set, {kind: names - {""} for kind, names in found.items()})


def _of_itself(elements: Sequence[xml.Element], name: str) -> list[xml.Element]:
    """Return the equalities that couple a joint with itself and bind nothing."""
    return [
        one
        for one in elements
        if xml.local_name(one) == "joint"
        and one.get("joint1") == one.get("joint2") == name
        and " ".join(str(one.get("polycoef", "")).split()) in _UNBOUND
    ]


def _inverted(elements: Sequence[xml.Element], message: str, line: int) -> list[xml.Element]:
    """Return the joint that a message names, or that stands in its line, if it states both ends of its range."""
    name = next(iter(_NAME.findall(message)), "")
    return [
        one
        for one in elements
        if xml.local_name(one) == "joint"
        and (one.get("name") == name if name else one.sourceline == line)
        and one.get("range")
    ]


def _with_places(correction: dict[str, Any], found: Sequence[xml.Element], line: int) -> dict[str, Any]:
    """Return a correction with its places, that in MuJoCo's line first; empty without a place or a word."""
    if not found or not all(correction.get("meant", {"": "-"}).values()):
        return {}
    places = sorted((str(xml.origin(one)) for one in found), key=lambda place: not place.endswith(f":{line}"))
    return {**correction, "places": places}


def _corrected_tag(element: xml.Element) -> str:
    tag = xml.local_name(element)
    return "body" if tag in _LIKE_BODIES else tag
