"""Package folders that a xacro file names, and the files that it may read.

The process that expands a file opens no files itself: it asks its parent process for :class:`Files`.
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path
from typing import Any
from xml.dom import expatbuilder, minidom

from mbplugin.errors import MbPluginError
from mbplugin.model import Defect, Document, Origin, Request, Scene
from mbplugin.readers.paths import is_file, may_read, package_name, read_text, repository_of
from mbplugin.readers.xacro.functions import Refused
from mbplugin.readers.xml import parse_xml

_PACKAGE_FILES = ("package.xml", "manifest.xml")
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
#: Maximum number of folders searched below a folder given by the user, or below a repository.
_MOST = 20_000
#: Maximum number of files and folders compared with the pattern of an include.
_COMPARED = 100_000
_MAGIC = re.compile(r"[*?[]")
_KEY = "written at"
#: Start of a message about an element unknown to the format, up to its verb.
_STRANGE = re.compile(r"<([\w.-]+)> in <.*? (?:is|are)(?= not part of the format and )")
#: Variables in xacro's code for the element being processed.
_WORKED_ON = ("node", "elt")
#: Index of the file, and line.
Place = tuple[int, int]


class Files:
    """File access for a xacro file; all methods take strings.

    Parameters
    ----------
    request : Request
    """

    def __init__(self, request: Request) -> None:
        self._packages = Packages(request)

    def find(self, name: str) -> str:
        """Return the folder of a package, empty if it cannot be located."""
        return str(self._packages.find(name) or "")

    def installed(self, name: str) -> str:
        """Return the source file that is installed under a name."""
        return str(self._packages.installed(Path(name)))

    def is_file(self, name: str) -> bool:
        """Return True if the file exists, even if it may not be read."""
        return is_file(Path(name))

    def text(self, name: str) -> str:
        """Return the text of a file, if it may be read.

        Raises
        ------
        FileNotFoundError
            The file does not exist.
        Refused
            It may not be read, or is not a file.
        """
        path = Path(name)
        if not self._packages.may_read(path):
            raise Refused(f"{name!r}, which lies outside the packages,")
        if not path.exists():
            raise FileNotFoundError(2, "No such file or directory", name)
        if not path.is_file():
            raise Refused(f"{name!r}, which is not a file,")
        return read_text(path)

    def values(self, name: str) -> str:
        """Return the text of a YAML file of values.

        Raises
        ------
        IsADirectoryError
            The name is that of a folder.
        Refused
            It is not a YAML file, or may not be read.
        """
        if Path(name).suffix.lower() not in (".yaml", ".yml"):
            if self._packages.may_read(Path(name)) and Path(name).is_dir():
                raise IsADirectoryError(21, "Is a directory", name)
            raise Refused(f"{name!r}, which is no .yaml file,")
        return self.text(self.installed(name))

    def matching(self, pattern: str) -> list[str]:
        """Return the readable files that match a pattern, in the order of ``glob``.

        Raises
        ------
        Refused
            The pattern leads outside the packages, or is compared with too many names.
        """
        parts = pattern.replace(os.sep, "/").split("/")
        first = next((k for k, part in enumerate(parts) if _MAGIC.search(part)), len(parts))
        base = "/".join(parts[:first])
        if ".." in parts[first:] or not self._packages.may_read(Path(base or ".")):
            raise Refused(f"{pattern!r}, which may match what lies outside the packages,")
        found, left = [base], _COMPARED
        for part in parts[first:]:
            inner = []
            for folder in found:
                names = sorted(islice(_names_in(folder), left + 1))
                left -= len(names)
                if left < 0:
                    raise Refused(f"{pattern!r}, which is compared with more than {_COMPARED} names,")
                wanted = (name for name in names if not name.startswith(".") or part.startswith("."))
                inner += [f"{folder}/{name}" if folder else name for name in wanted if fnmatch(name, part)]
            found = inner
        return found


def _names_in(folder: str) -> Iterator[str]:
    try:
        yield from (entry.name for entry in os.scandir(folder or "."))
    except (OSError, ValueError):
        return


class Packages:
    """Results of ``$(find …)`` for one file, and permission to read files for it.

    Parameters
    ----------
    request : Request
        The file, and the folders given by the user.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._found: dict[str, Path | None] = {}
        self._below: dict[Path, list[tuple[str, Path]]] = {}
        self._folders: dict[Path, list[Path]] = {}

    @property
    def folder(self) -> Path:
        """Folder of the xacro file."""
        return self._request.folder

    def find(self, name: str) -> Path | None:
        """Return the folder of a package, or None.

        It is searched around the file, in the user's folders, in the file's repository, beside the folders
        around the file, and on ROS paths.
        """
        if name not in self._found:
            known = _NAME.fullmatch(name) and name not in (".", "..")
            self._found[name] = next(self._candidates(name), None) if known else None
        return self._found[name]

    def may_read(self, path: Path) -> bool:
        """Return True if a file lies in the model's package, a located package, or a folder of the user."""
        if may_read(path, self._request):
            return True
        real = path.resolve()
        return any(real.is_relative_to(found.resolve()) for found in self._found.values() if found)

    def installed(self, path: Path) -> Path:
        """Return the source file that is installed at a path; the path itself if there is none.

        ``install(DIRECTORY description/urdf …)`` of CMake drops the first folders, and ``$(find …)`` refers to
        the installed package. A source file is used only if it is the only candidate.
        """
        for package in filter(None, self._found.values()):
            if path.is_relative_to(package) and not path.exists():
                inner = path.relative_to(package)
                meant = [file for folder in self._inside(package) if (file := folder / inner).is_file()]
                if len(meant) == 1 and ".." not in inner.parts:
                    return meant[0]
        return path

    def _inside(self, package: Path) -> list[Path]:
        """Return the folders in a package, listed once and cached."""
        if package not in self._folders:
            self._folders[package] = [Path(folder) for folder, _, _ in islice(os.walk(package), _MOST)]
        return self._folders[package]

    def _candidates(self, name: str) -> Iterator[Path]:
        folder = self._request.folder
        around = (folder, *folder.parents)
        yield from (own for own in around if package_name(own) == name)
        yield from self._in_roots(name, [Path(entry).absolute() for entry in self._request.package_dirs])
        if root := repository_of(folder):
            beside = [path for own, path in self._packages(root) if own == name]
            # the nearest of several with the same name
            yield from sorted(beside, key=lambda path: -len(_common(path, folder)))
        # the packages of a workspace are sibling folders with their names
        yield from (own / name for own in around[:-1] if package_name(own / name) == name)
        variables = (os.environ.get(key, "") for key in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"))
        entries = (entry for value in variables for entry in value.split(os.pathsep))
        yield from self._in_roots(name, [Path(entry) for entry in entries if entry])

    def _in_roots(self, name: str, roots: list[Path]) -> Iterator[Path]:
        for root in roots:
            for candidate in (root / "share" / name, root / name):
                if package_name(candidate) == name:
                    yield candidate
            yield from (path for own, path in self._packages(root) if own == name)

    def _packages(self, root: Path) -> list[tuple[str, Path]]:
        """Return name and folder of the packages below a folder, searched once and cached."""
        if root not in self._below:
            self._below[root] = [(package_name(path), path) for path in _packages_below(root)]
        return self._below[root]


def _common(path: Path, folder: Path) -> tuple[str, ...]:
    """Return the leading parts that a path and a folder have in common."""
    count = 0
    for a, b in zip(path.parts, folder.parts, strict=False):
        if a != b:
            break
        count += 1
    return path.parts[:count]


def _packages_below(root: Path) -> Iterator[Path]:
    """Yield the package folders below a folder; packages inside packages are skipped."""
    for path, folders, files in islice(os.walk(root), _MOST):
        if any(name in files for name in _PACKAGE_FILES):
            folders.clear()
            yield Path(path)
        folders[:] = sorted(name for name in folders if not name.startswith("."))


# Source locations of the elements of an expanded xacro file.
#
# Every parsed element carries its file and line as user data, also after macros copy it, invisibly to xacro.


class _Kept:
    """Handler that copies the location of an element to its copies."""

    def handle(self, operation: int, key: str, data: Place, source: Any, copy: Any) -> None:
        """Copy the location; the signature is that of the DOM."""
        copy.setUserData(key, data, self)


class _Builder(expatbuilder.ExpatBuilderNS):
    """A document builder that records the line of each element."""

    def __init__(self, file: int) -> None:
        super().__init__()
        self._file = file

    def start_element_handler(self, name: str, attributes: Any) -> None:
        super().start_element_handler(name, attributes)
        element: Any = self.curNode
        element.setUserData(_KEY, (self._file, self.getParser().CurrentLineNumber), _Kept())


@dataclass(frozen=True)
class Expansion:
    """The result of expanding a xacro file.

    Parameters
    ----------
    text : str
        The URDF or SDF.
    files : tuple of str
        Every macro file that was read, in order of reading.
    places : tuple of (int, int) or None
        For each element of the text, in document order, the index of the file and the line from 1.
    macros : frozenset of str
        The names of the macros defined in the files.
    """

    text: str
    files: tuple[str, ...]
    places: tuple[Place | None, ...]
    macros: frozenset[str] = frozenset()


@dataclass(eq=False)
class Marks:
    """The files parsed during the expansion of a xacro file, their texts, and the names of their macros."""

    files: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    macros: set[str] = field(default_factory=set)

    def document(self, text: str | bytes, file: str) -> Any:
        """Parse the text of a file into a document whose elements carry their locations."""
        if file not in self.files:
            self.files.append(file)
            self.texts[file] = text if isinstance(text, str) else text.decode("utf-8", "replace")
        document = _Builder(self.files.index(file)).parseString(text)
        self.macros |= {macro.getAttribute("name") for macro in document.getElementsByTagName("xacro:macro")}
        return document

    def places(self, document: minidom.Document) -> tuple[Place | None, ...]:
        """Return the location of each element in document order.

        Elements generated by the expansion have the location of their enclosing element.
        """
        return tuple(_place(element) for element in document.getElementsByTagName("*"))

    def where_failed(self, error: BaseException) -> str:
        """Return ``file:line`` of the element that xacro was processing, empty if it is unknown."""
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        for frame in reversed(frames):
            for name in _WORKED_ON:
                if (place := _place(frame.f_locals.get(name))) is not None:
                    return f"{self.files[place[0]]}:{place[1]}"
        return ""


def _place(node: Any) -> Place | None:
    """Return the location of a node, or of its nearest ancestor with one."""
    while node is not None:
        place: Place | None = node.getUserData(_KEY) if hasattr(node, "getUserData") else None
        if place is not None:
            return place
        node = getattr(node, "parentNode", None)
    return None


class Written:
    """Maps lines of an expanded text to the files and lines where they were written.

    Parameters
    ----------
    expansion : Expansion
    name : str
        Name of the expanded text in origins and messages.
    file : str
        The xacro file, for items without a line.
    """

    def __init__(self, expansion: Expansion, name: str, file: str) -> None:
        self._name, self._file, self._macros = name, file, expansion.macros
        self._mention = re.compile(re.escape(name) + r"(?::(\d+))?")
        self._places: dict[int, tuple[str, int]] = {}
        for line, place in _lines(expansion, name):
            if place is not None:
                self._places.setdefault(line, (expansion.files[place[0]], place[1]))

    def origin(self, origin: Origin) -> Origin:
        """Map an origin in the expanded text to its source."""
        if origin.file != self._name:
            return origin
        file, line = self._places.get(origin.line, (self._file, 0))
        return Origin(file, line, origin.text)

    def message(self, text: str) -> str:
        """Replace locations in a message by those in the source files."""
        return self._mention.sub(
            lambda match: str(self.origin(Origin(self._name, int(match.group(1) or 0)))), text
        )

    def defect(self, defect: Defect) -> Defect:
        """Map a defect to its source location."""
        evidence = dict(defect.evidence)
        if isinstance(evidence.get("lines"), list):
            evidence["lines"] = [self.origin(Origin(self._name, line)).line for line in evidence["lines"]]
        if isinstance(evidence.get("places"), list):
            evidence["places"] = [self.message(str(place)) for place in evidence["places"]]
        place = defect.origin and self.origin(defect.origin)
        called = _STRANGE.match(defect.message)
        if called and called[1] in self._macros:
            # all elements that the macro would generate are missing from the robot
            message = (
                f"{called[0]} not read: {called[1]!r} is a macro of xacro that is called without its prefix"
            )
            evidence["remedy"] = f"write <xacro:{called[1]} …>"
        else:
            message = self.message(defect.message)
        return replace(defect, origin=place, message=message, evidence=evidence)

    def scene(self, scene: Scene) -> Scene:
        """Map the origins, defects and documents of a scene to their source locations."""
        return replace(
            scene,
            origin={key: self.origin(origin) for key, origin in scene.origin.items()},
            defects=tuple(self.defect(defect) for defect in scene.defects),
            documents=tuple(self.document(document) for document in scene.documents),
        )

    def document(self, document: Document) -> Document:
        """Map the elements of a document to their source locations."""
        elements = (part._replace(origin=self.origin(part.origin)) for part in document.elements)
        return replace(document, elements=tuple(elements))

    def error(self, error: MbPluginError) -> MbPluginError:
        """Map the locations in an error to their sources, in place."""
        error.what, error.where, error.remedy = (
            self.message(text) for text in (error.what, error.where, error.remedy)
        )
        error.args = (error.sentence(),)
        return error


def _lines(expansion: Expansion, name: str) -> Iterator[tuple[int, Place | None]]:
    """Yield the line of each element in the expanded text, and its source location."""
    try:
        root = parse_xml(expansion.text, name)
    except MbPluginError:
        # the reader of the text will report the error
        return
    elements: Sequence[Any] = [element for element in root.iter() if isinstance(element.tag, str)]
    if len(elements) == len(expansion.places):
        yield from ((int(e.sourceline or 0), p) for e, p in zip(elements, expansion.places, strict=True))
