"""File look-up: beside the model, in package folders, on ROS and Gazebo paths, and in pybullet_data."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from mbplugin.errors import BrokenModel, MbPluginError, UnreadableFile, UnresolvedPath, install_command
from mbplugin.files import LFS_POINTER, LONGEST, read_bounded
from mbplugin.model import Defect, Origin, Request

#: Files that mark the root of a package.
_PACKAGE_MARKS = ("package.xml", "model.config", "pyproject.toml")
_TAG = re.compile(r"<name\b[^>]*>\s*([^<\s]+)\s*</name>")
#: Maximum length of a name quoted in a message, characters.
_LONGEST_SHOWN = 200
#: System state presented as files (environments, descriptors, devices), which no model needs.
_SYSTEM = tuple(map(Path, ("/proc", "/sys", "/dev")))
#: A folder of ordinary files below one of these.
_SHARED_MEMORY = Path("/dev/shm")
#: Environment variables with the model folders of Gazebo.
_GAZEBO_PATHS = ("GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH")
T = TypeVar("T")
_KEPT: ContextVar[dict[Hashable, Any] | None] = ContextVar("kept lookups", default=None)
#: Maximum number of links of a model, and of all models of a scene together.
MOST_LINKS = 20_000
_LINK = re.compile(r"<(?:link|body)[\s/>]")
_JOINT = re.compile(r"<(?:joint|loop_joint)[\s/>]")


def read_text(path: str | os.PathLike[str], most: int = LONGEST) -> str:
    """Return the text of a file (UTF-8, else Latin-1) of at most ``most`` bytes.

    Raises
    ------
    UnreadableFile
        The file is missing, a directory, not permitted, empty, binary or too large.
    """
    data = read_bounded(Path(path), most)
    # a C program may have written the terminating null of its string, as in PyBullet's humanoid.urdf
    data = data.rstrip(b"\0 \t\r\n")
    if not data:
        raise UnreadableFile("the file is empty", where=str(path), expected="a model")
    refuse_pointer(data, path)
    if b"\0" in data:
        raise UnreadableFile("the file is binary", where=str(path), expected="a model as text")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def refuse_pointer(data: bytes, path: str | os.PathLike[str]) -> None:
    """Refuse a Git LFS pointer, which stands for a file that was not fetched.

    Raises
    ------
    UnreadableFile
        The data is a pointer.
    """
    if data.startswith(LFS_POINTER):
        raise UnreadableFile(
            "this is a pointer of Git LFS, not the file itself",
            where=str(path),
            expected="a model",
            remedy="run git lfs pull",
        )


def real_path(path: str | os.PathLike[str]) -> Path:
    """Resolve the symbolic links of a path; circular links remain."""
    try:
        return Path(os.path.realpath(path))
    # the name contains a null character
    except ValueError:
        return Path(path)


def resolve(name: str, request: Request, where: str) -> Path:
    """Return the path of a file that a scene names: as :func:`find`, but a missing file is an error.

    The message does not reveal whether a file exists outside the permitted folders.

    Raises
    ------
    UnresolvedPath
        The file lies outside the repository and the user's folders, is not an ordinary file, or is in no folder;
        the message lists how to state its location.
    """
    candidates = list(_candidates(name, request))
    allowed = [path for path, root in candidates if may_read(path, request, root)]
    if found := next((path for path in allowed if is_file(path)), None):
        return found
    remedy = "pass --package-dir DIR (package_dirs=[DIR]) with the folder that holds "
    own = package_of(_folder(request))
    if candidates and all(_is_of_the_system(real_path(path)) for path, _ in candidates):
        raise UnresolvedPath(
            f"{_quoted(name)} is a system file", where=where, expected=f"an ordinary file in {own}"
        )
    # a link out of the repository may share its name with a file in another folder
    if candidates and candidates[0][0] not in allowed:
        raise UnresolvedPath(
            f"{_quoted(name)} lies outside the scene's repository",
            where=where,
            expected=f"a file in {own} or in a package folder",
            remedy=f"{remedy}it",
        )
    if any(_exists(path) for path in allowed):
        raise UnresolvedPath(f"{_quoted(name)} is not an ordinary file", where=where, expected="a file")
    raise UnresolvedPath(
        f"{_quoted(name)} cannot be found",
        where=where,
        expected="a file beside the model or below a package folder",
        remedy=f"{remedy}the package" + _bullet_hint(name),
    )


def _quoted(name: str) -> str:
    """Format a file name for messages."""
    return repr(name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}…")


def _bullet_hint(name: str) -> str:
    """Return a hint to install the PyBullet models, empty if they are installed."""
    if "://" in name or importlib.util.find_spec("pybullet_data"):
        return ""
    return f"; those of PyBullet come with {install_command('bullet')}"


def find(name: str, request: Request) -> str | None:
    """Return the path of a file that a model names, or None.

    Models are untrusted: the files they name are read only from their own package and from the folders
    that the user gave; a link is judged by its target.
    """
    return looked_up(("find", name, *_place(request)), lambda: _lookup(name, request))


def _place(request: Request) -> tuple[Hashable, ...]:
    """Return the parts of a request on which file look-ups depend."""
    return request.path, request.text is None, request.package_dirs


def _lookup(name: str, request: Request) -> str | None:
    for path, root in _candidates(name, request):
        if is_file(path) and may_read(path, request, root):
            return str(path)
    return None


def may_read(path: Path, request: Request, root: Path | None = None) -> bool:
    """Return True if a model may name a file: in its package, in the user's folders, or below ``root``.

    Files below ``/proc``, ``/sys`` or ``/dev`` are never allowed, wherever the model is and whatever folders are given.
    """
    lexical, real = os.path.abspath(path), real_path(path)  # noqa: PTH100
    if _is_of_the_system(real):
        return False
    named = looked_up(("named", request.package_dirs), lambda: _absolute(_named_roots(request)))
    if any(_is_below(lexical, folder) for folder in named):
        return True
    own = package_of(_folder(request)) if root is None or root == _folder(request) else root
    return real.is_relative_to(looked_up(("real", own), lambda: real_path(own)))


def _is_of_the_system(real: Path) -> bool:
    return any(real.is_relative_to(folder) for folder in _SYSTEM) and not real.is_relative_to(_SHARED_MEMORY)


def _absolute(folders: Sequence[Path]) -> tuple[str, ...]:
    return tuple(os.path.abspath(folder) for folder in folders)  # noqa: PTH100


def _is_below(path: str, folder: str) -> bool:
    """Return True if an absolute path is the folder or lies in it; ten times as fast as Path."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def package_of(folder: Path) -> Path:
    """Return the folder that the files of a model may not leave: its repository, else its package.

    Without either, it is the folder above the model, where meshes often lie.
    """
    return looked_up(("package", folder), lambda: _package_of(folder))


def _package_of(folder: Path) -> Path:
    if repository := repository_of(folder):
        return repository
    for candidate in (folder, *folder.parents):
        if any((candidate / mark).exists() for mark in _PACKAGE_MARKS):
            return candidate
    return folder.parent if folder.parent != Path(folder.anchor) else folder


def named_package(name: str) -> str:
    """Return the package of a ``package://`` or ``model://`` name, empty for other names."""
    scheme, _, rest = name.partition("://")
    return rest.partition("/")[0] if scheme in ("package", "model") else ""


def package_is_known(name: str, request: Request) -> bool:
    """Return True if the package of a ``package://`` or ``model://`` name is a folder on this machine."""
    package = name.partition("://")[2].partition("/")[0]
    around = [folder for folder in request.folder.parents if folder != Path(folder.anchor)]
    own = package_of(request.folder)
    mine = (request.folder, *around)
    inside = [folder for folder in mine if folder.is_relative_to(own)]
    if package == own.name or package in map(package_name, inside):
        return True
    return any(_is_folder(root / package) for root in (*_roots(request), *around))


def package_name(folder: Path) -> str:
    """Return the package name that a folder declares, which may differ from the folder's name; empty if none."""
    try:
        if (folder / "package.xml").is_file():
            text = read_bounded(folder / "package.xml").decode("utf-8", "replace")
            match = _TAG.search(text)
            return match.group(1) if match else ""
        return folder.name if (folder / "manifest.xml").is_file() else ""
    except (OSError, UnreadableFile):
        return ""


def repository_of(folder: Path) -> Path | None:
    """Return the root of the repository around a folder, or None."""
    return next((root for root in (folder, *folder.parents) if (root / ".git").exists()), None)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_file(path: Path) -> bool:
    """Return True if the path is an existing file."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        # the name is too long or contains a null character
        return False


def _candidates(name: str, request: Request) -> Iterator[tuple[Path, Path | None]]:
    """Yield the paths that a name may mean, each with the root it was looked up in."""
    if name.startswith("file://"):
        written = name.removeprefix("file://").removeprefix("localhost")
        # decoded as a URL, or literally, as written by authors who did not know that it is one
        yield from ((Path(text), None) for text in dict.fromkeys((unquote(written), written)))
        return
    for scheme in ("package://", "model://"):
        if name.startswith(scheme):
            yield from _in_packages(name.removeprefix(scheme), request)
            return
    path = _expanded(name)
    if path.is_absolute():
        yield path, None
        return
    yield from ((root / path, root) for root in _roots(request))


def _in_packages(name: str, request: Request) -> Iterator[tuple[Path, Path]]:
    """Yield the paths that a name in a package may mean, each with the folder it must not leave."""
    package, _, inner = name.partition("/")
    key = ("package folders", package, *_place(request))
    for folder in looked_up(key, lambda: tuple(_package_folders(package, request))):
        yield folder / inner, folder
    # the package need not be named like its folder, and the model lies somewhere inside that package
    own = package_of(_folder(request))
    if inner:
        inside = [around for around in _ancestors(request) if around.is_relative_to(own)]
        yield from ((root / inner, root) for root in (*_roots(request), *inside))


def _package_folders(package: str, request: Request) -> Iterator[Path]:
    """Yield the folders named like the package: beside the model, in the named folders, and around the model."""
    if package not in ("", ".."):
        named = (root / package for root in (*_roots(request), *_ancestors(request)))
        yield from (path for path in named if _exists(path))


def _ancestors(request: Request) -> list[Path]:
    return [around for around in _folder(request).parents if around != Path(around.anchor)]


def _expanded(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:
        # ~nobody
        return Path(name)


def _folder(request: Request) -> Path:
    return looked_up(("folder", *_place(request)), lambda: request.folder)


def _roots(request: Request) -> Iterator[Path]:
    yield _folder(request)
    yield from _named_roots(request)


def gazebo_caches() -> list[Path]:
    """Return the existing user folders in which Gazebo stores models."""
    kept = [_expanded(name) for name in ("~/.gz/fuel", "~/.gz/models", "~/.gazebo/models")]
    return [folder for folder in kept if folder.is_dir()]


def _named_roots(request: Request) -> Sequence[Path]:
    return looked_up(("roots", request.package_dirs), lambda: tuple(search_folders(request.package_dirs)))


def search_folders(package_dirs: Sequence[str | Path]) -> Iterator[Path]:
    """Yield the folders given by the user, those of ROS and Gazebo, and that of pybullet_data."""
    yield from (Path(folder) for folder in package_dirs)
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        for entry in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            yield Path(entry)
            yield Path(entry) / "share"
    for variable in _GAZEBO_PATHS:
        for entry in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            yield Path(entry)
    yield from gazebo_caches()
    # located without importing it: the import would print pybullet's banner during a lint
    spec = importlib.util.find_spec("pybullet_data")
    if spec and spec.submodule_search_locations:
        yield Path(spec.submodule_search_locations[0])


# Look-ups are cached for one run, during which files are assumed not to change.


@contextlib.contextmanager
def lookups_kept() -> Iterator[None]:
    """Cache all look-ups in this block, since several rules need the same files."""
    token = _KEPT.set({})
    try:
        yield
    finally:
        _KEPT.reset(token)


def looked_up(key: Hashable, look_up: Callable[[], T]) -> T:
    """Return the result of a look-up, cached by its key inside a block of :func:`lookups_kept`.

    Parameters
    ----------
    key : hashable
        What is looked up, with everything but the files themselves on which the result depends.
    look_up : callable
    """
    kept = _KEPT.get()
    if kept is None:
        return look_up()
    if key not in kept:
        kept[key] = look_up()
    result: T = kept[key]
    return result


# The largest permitted model: larger ones would take minutes, and are refused.


def require_ordinary_size(text: str, file: str) -> None:
    """Refuse a model text with more links or joints than permitted.

    Raises
    ------
    BrokenModel
        Too many; the message states their number and the maximum.
    """
    for what, pattern in (("links", _LINK), ("joints", _JOINT)):
        # counted only if the text is long enough to contain too many
        if len(text) > 6 * MOST_LINKS and (count := len(pattern.findall(text))) > 2 * MOST_LINKS:
            raise _too_large(count, what, file)


def require_few_links(count: int, file: str) -> None:
    """Refuse a mechanism with more bodies than ``MOST_LINKS``.

    Raises
    ------
    BrokenModel
        Too many; the message states their number and the maximum.
    """
    if count > MOST_LINKS:
        raise _too_large(count, "links", file)


def _too_large(count: int, what: str, file: str) -> BrokenModel:
    return BrokenModel(
        f"the model has {count} {what}",
        where=file,
        expected=f"at most {MOST_LINKS} links",
        remedy="leave out what does not move, or analyze it in parts",
    )


# Unreadable numbers that the mechanics do without: findings instead of errors.


def unread_number(error: MbPluginError, element: str, instead: str) -> Defect:
    """Return the defect that reports the error about such a number.

    Parameters
    ----------
    error : MbPluginError
        The problem and its location.
    element : str
        The link or joint.
    instead : str
        What is used in its place.
    """
    file, _, line = error.where.rpartition(":")
    place = Origin(file, int(line)) if file and line.isdigit() else Origin(error.where, 0)
    return Defect("MB114", element, f"{error.what}; {instead}", place, {"expected": error.expected})
