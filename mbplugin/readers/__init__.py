"""Load scenes from files: one reader per format, selected by the content of the file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from mbplugin.errors import BadUsage, Template, UnknownFormat, UnreadableFile
from mbplugin.files import read_bounded, read_instead
from mbplugin.formats import FORMATS
from mbplugin.model import Base, Massless
from mbplugin.model.scene import Request, Scene
from mbplugin.readers.paths import read_text, refuse_pointer, require_few_links, require_ordinary_size
from mbplugin.readers.xml import root_name

Reader = Callable[[str, Request], Scene]

_FORMATS = {one.name: one for one in FORMATS}
_ROOTS = {root: one.name for one in FORMATS for root in one.roots}
#: Suffixes of USD files; some are binary, so OpenUSD opens them itself.
_USD = (".usd", ".usda", ".usdc", ".usdz")


def load(
    path: str | os.PathLike[str],
    *,
    text: str | None = None,
    package_dirs: Sequence[str | os.PathLike[str]] = (),
    base: Base | None = None,
    snap_angles: bool = False,
    xacro_unsafe: bool = False,
    xacro_args: Mapping[str, str] | None = None,
    massless: Massless = "zero",
) -> Scene:
    """Return the scene of a URDF, xacro, SDF, MJCF, USD or scene file.

    Parameters
    ----------
    path : str or path
        The file; only a name for messages if ``text`` is given.
    text : str, optional
        The content, if it is not to be read from the file.
    package_dirs : sequence of str or path
        Folders in which ``package://`` and relative names are searched.
    base : "fixed" or "free", optional
        Overrides the base of the root links in the file.
    snap_angles : bool
        Read rounded angle literals (1.5707) as the fraction of π they stand for.
    xacro_unsafe : bool
        Expand xacro as the xacro program does, whatever it runs or reads; see ``docs/trust.md``.
    xacro_args : mapping of str to str, optional
        Values of the xacro arguments, given to the program as ``name:=value``.
    massless : "zero" or "pybullet"
        Mass of URDF links without ``<inertial>``: zero, or 1 kg with 1 kg·m² as in PyBullet.

    Raises
    ------
    MbPluginError
        UnreadableFile, UnknownFormat, or any error of the reader of the format.
    """
    name = os.fspath(path)
    if text is None and isinstance(name, str) and name.lstrip().startswith("<"):
        raise BadUsage(
            "the argument is the text of a model",
            expected="the path of a file",
            remedy="write it to a file, pipe it to mbplugin with - for FILE, or mb.lint('robot.urdf', text=…)",
        )
    if isinstance(name, str) and name != name.encode("utf-8", "replace").decode():
        raise UnreadableFile(
            "the path of the file is not UTF-8",
            where=name,
            expected="names in UTF-8",
            remedy="rename it",
        )
    if base not in (None, "fixed", "free"):
        raise BadUsage(f"the base cannot be {base!r}", expected="fixed or free")
    if massless not in ("zero", "pybullet"):
        raise BadUsage(f"massless links cannot be {massless!r}", expected="zero or pybullet")
    folders = tuple(os.fspath(folder) for folder in package_dirs)
    arguments = tuple((xacro_args or {}).items())
    return _read(Request(name, text, folders, base, snap_angles, xacro_unsafe, arguments, massless))


def reload(scene: Scene, *, snap_angles: bool) -> Scene:
    """Load a scene again with or without snapped angles, keeping its state if the coordinates are the same.

    Raises
    ------
    BadUsage
        The scene was not loaded from a file, so it has no angle literals.
    """
    if scene.request is None:
        raise BadUsage(
            "angles cannot be snapped in a live client",
            expected="a scene that was loaded from a file",
            remedy="load the file that the client was made from",
        )
    again = _read(replace(scene.request, snap_angles=snap_angles))
    if again.mechanism.q_names == scene.mechanism.q_names:
        return replace(again, state=scene.state)
    return again


def read_again(text: str, request: Request) -> Scene:
    """Return the scene of a text that replaces a file; relative file names start from that file's folder.

    Parameters
    ----------
    text : str
    request : Request
        The request for the file.

    Raises
    ------
    MbPluginError
        Any error of the reader of the format.
    """
    return _reader(_format(text, request.path))(text, request)


def _read(request: Request) -> Scene:
    if _is_usd(request):
        refuse_pointer(read_bounded(Path(request.path)), request.path)
        # OpenUSD opens files itself, so a content that stands in place of a file's is given as its text
        text = (read_instead(request.path) or b"").decode("utf-8", "surrogateescape")
        return _reader("usd")(text, request)
    text = read_text(request.path) if request.text is None else request.text
    if not text.strip():
        raise UnreadableFile("the text is empty", where=request.path, expected="a model")
    require_ordinary_size(text, request.path)
    try:
        scene = _reader(_format(text, request.path))(text, request)
    except Template:
        if request.text is not None:
            raise
        # many repositories give a xacro file the suffix of the format it expands to
        scene = _reader("xacro")(text, request)
    require_few_links(len(scene.mechanism.bodies), request.path)
    return scene


def _reader(name: str) -> Reader:
    # imported only when a file of its format is read
    module = import_module(f"mbplugin.readers.{_FORMATS[name].module}")
    reader: Reader = getattr(module, _FORMATS[name].function)
    return reader


def format_name(request: Request) -> str:
    """Return the name of the format of a requested file, as in ``mbplugin.formats.FORMATS``.

    Raises
    ------
    UnreadableFile, UnknownFormat
    """
    if _is_usd(request):
        return "usd"
    return _format(read_text(request.path) if request.text is None else request.text, request.path)


def _is_usd(request: Request) -> bool:
    """Return True if the suffix of a file is one of USD; its content may be binary."""
    return request.text is None and request.path.lower().endswith(_USD)


def _format(text: str, name: str) -> str:
    """Return the format, from the root element and the suffix of the file."""
    ending = Path(name).suffix.lower()
    if text.startswith("#usda"):
        return "usd"
    if not text.lstrip("\ufeff \t\r\n").startswith("<"):
        for known in FORMATS:
            if known.plain and name.lower().endswith(known.endings):
                return known.name
    root = root_name(text)
    if root in ("robot", "sdf") and ending == ".xacro":
        return "xacro"
    if root in _ROOTS:
        return _ROOTS[root]
    raise UnknownFormat(
        f"the root element is <{root}>" if root else "the text is not XML",
        where=f"{name}:1",
        expected=f"{', '.join(known.described for known in FORMATS[:-1])} or {FORMATS[-1].described}",
        remedy="check the file",
    )
