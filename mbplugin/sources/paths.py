"""Finding files: beside the model, in package folders, on the ROS paths, in pybullet_data."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

from mbplugin.errors import UnreadableFile, UnresolvedPath
from mbplugin.sources.scene import Request


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a file (UTF-8, else Latin-1).

    Raises
    ------
    UnreadableFile
        Missing, a directory, not permitted, empty or binary.
    """
    file = Path(path)
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        raise UnreadableFile("no such file", where=str(path), remedy="check the path") from None
    except IsADirectoryError:
        raise UnreadableFile("this is a directory", where=str(path), expected="a model file") from None
    except OSError as error:
        reason = (error.strerror or "cannot be read").lower()
        raise UnreadableFile(f"the file cannot be read ({reason})", where=str(path)) from None
    # a C program may have written the end of its string with it; PyBullet's humanoid.urdf is one
    data = data.rstrip(b"\0 \t\r\n")
    if not data:
        raise UnreadableFile("the file is empty", where=str(path), expected="a model")
    if b"\0" in data:
        raise UnreadableFile("the file is binary", where=str(path), expected="a model as text")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def resolve(name: str, request: Request, where: str) -> str:
    """Return the path of a file that a model names, looked up in the order of the documentation.

    Raises
    ------
    UnresolvedPath
        No folder holds it; the message lists how to say where it is.
    """
    for candidate in _candidates(name, request):
        if candidate.is_file():
            return str(candidate)
    raise UnresolvedPath(
        f"{name!r} cannot be found",
        where=where,
        expected="a file beside the model or below a package folder",
        remedy="pass --package-dir DIR with the folder that holds the package",
    )


def find(name: str, request: Request) -> str | None:
    """Return the path of a file that a model names, or None."""
    return next((str(c) for c in _candidates(name, request) if c.is_file()), None)


def _candidates(name: str, request: Request) -> Iterator[Path]:
    for scheme in ("package://", "model://", "file://"):
        if name.startswith(scheme):
            name = name[len(scheme) :]
            if scheme == "file://":
                yield Path(name)
                return
            # the first part is a package's name, which may or may not be a folder's name
            # and the model usually lies somewhere inside that package
            roots = [*_roots(request), *request.folder.parents]
            inner = name.partition("/")[2]
            yield from (root / name for root in roots)
            yield from (root / inner for root in roots if inner)
            return
    path = Path(name).expanduser()
    if path.is_absolute():
        yield path
        return
    yield from (root / path for root in _roots(request))


def _roots(request: Request) -> Iterator[Path]:
    yield request.folder
    yield from (Path(folder) for folder in request.package_dirs)
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        for entry in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            yield Path(entry)
            yield Path(entry) / "share"
    # found without importing it: the import would pull pybullet's banner into a lint
    spec = importlib.util.find_spec("pybullet_data")
    if spec and spec.submodule_search_locations:
        yield Path(spec.submodule_search_locations[0])
