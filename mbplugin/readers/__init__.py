"""Files to scenes: one reader per format, found by what the file contains."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from mbplugin.errors import BadUsage, Template, UnknownFormat, UnreadableFile
from mbplugin.files import read_bounded
from mbplugin.model.enumerations import Base, Massless
from mbplugin.model.scene import Request, Scene
from mbplugin.readers.common.paths import read_text, refuse_pointer, require_few_links, require_ordinary_size
from mbplugin.readers.common.xml import root_name

Reader = Callable[[str, Request], Scene]

#: Module and function of each reader; one is imported only for a file of its format.
_READERS = {
    "urdf": ("urdf.reader", "read_urdf"),
    "xacro": ("xacro.reader", "read_xacro"),
    "sdf": ("sdf.reader", "read_sdf"),
    "mjcf": ("mjcf.reader", "read_mjcf_apart"),
    "usd": ("usd.reader", "read_usd_apart"),
    "scene": ("scene_file.reader", "read_scene"),
}
#: SDF up to 1.2 calls its root after the simulator.
_ROOTS = {"robot": "urdf", "sdf": "sdf", "gazebo": "sdf", "mujoco": "mjcf"}
#: Endings of USD files, some of which are binary: OpenUSD opens them itself.
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
        The file; a name for messages where ``text`` is given.
    text : str, optional
        The content, where it does not come from the file.
    package_dirs : sequence of str or path
        Folders in which ``package://`` and relative names are searched.
    base : "fixed" or "free", optional
        Overrides the base of the root links in the file.
    snap_angles : bool
        Read rounded angle literals (1.5707) as the fraction of π they stand for.
    xacro_unsafe : bool
        Expand xacro as the program does, whatever it runs or reads; see ``docs/trust.md``.
    xacro_args : mapping of str to str, optional
        Values of xacro's arguments, as ``name:=value`` states them for the program.
    massless : "zero" or "pybullet"
        What links of a URDF without ``<inertial>`` weigh: nothing, or 1 kg with 1 kg·m² as in PyBullet.

    Raises
    ------
    MbPluginError
        UnreadableFile, UnknownFormat, or what the reader of the format raises.
    """
    name = os.fspath(path)
    if base not in (None, "fixed", "free"):
        raise BadUsage(f"the base cannot be {base!r}", expected="fixed or free")
    if massless not in ("zero", "pybullet"):
        raise BadUsage(f"massless links cannot be {massless!r}", expected="zero or pybullet")
    folders = tuple(os.fspath(folder) for folder in package_dirs)
    arguments = tuple((xacro_args or {}).items())
    return _read(Request(name, text, folders, base, snap_angles, xacro_unsafe, arguments, massless))


def reload(scene: Scene, *, snap_angles: bool) -> Scene:
    """Return a scene loaded again with or without snapped angles, in the state it is in.

    Raises
    ------
    BadUsage
        The scene came from a live client, which has no angle literals.
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
    """Return the scene of another text in the place of a file that was read: names of files count from its folder.

    Parameters
    ----------
    text : str
    request : Request
        For the file.

    Raises
    ------
    MbPluginError
        What the reader of the format raises.
    """
    return _reader(_format(text, request.path))(text, request)


def _read(request: Request) -> Scene:
    if _is_usd(request):
        refuse_pointer(read_bounded(Path(request.path)), request.path)
        return _reader("usd")("", request)
    text = read_text(request.path) if request.text is None else request.text
    if not text.strip():
        raise UnreadableFile("the text is empty", where=request.path, expected="a model")
    require_ordinary_size(text, request.path)
    try:
        scene = _reader(_format(text, request.path))(text, request)
    except Template:
        if request.text is not None:
            raise
        # many repositories give a xacro file the ending of what becomes of it
        scene = _reader("xacro")(text, request)
    require_few_links(len(scene.mechanism.bodies), request.path)
    return scene


def _reader(name: str) -> Reader:
    module, function = _READERS[name]
    reader: Reader = getattr(import_module(f"mbplugin.readers.{module}"), function)
    return reader


def format_name(request: Request) -> str:
    """Return the format of the file that a request is for: ``urdf``, ``xacro``, ``sdf``, ``mjcf``, ``usd``, ``scene``.

    Raises
    ------
    UnreadableFile, UnknownFormat
    """
    if _is_usd(request):
        return "usd"
    return _format(read_text(request.path) if request.text is None else request.text, request.path)


def _is_usd(request: Request) -> bool:
    """Return whether a file is USD by its ending; its content may be binary."""
    return request.text is None and request.path.lower().endswith(_USD)


def _format(text: str, name: str) -> str:
    """Return the format: by the root element first, then by the file's ending."""
    ending = Path(name).suffix.lower()
    if ending == ".toml" and not text.lstrip("\ufeff \t\r\n").startswith("<"):
        return "scene"
    if text.startswith("#usda"):
        return "usd"
    root = root_name(text)
    if root in ("robot", "sdf") and ending == ".xacro":
        return "xacro"
    if root in _ROOTS:
        return _ROOTS[root]
    raise UnknownFormat(
        f"the root element is <{root}>" if root else "the text is no XML",
        where=f"{name}:1",
        expected="URDF (<robot>), SDF (<sdf>), MJCF (<mujoco>), xacro, USD (.usda, .usdc, .usdz) or a scene (.toml)",
        remedy="check the file",
    )
