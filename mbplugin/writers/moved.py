"""A copy of a file for another folder, with relative file names adapted."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

from lxml import etree

from mbplugin.errors import BadUsage
from mbplugin.files import seen_from
from mbplugin.model.scene import Request
from mbplugin.readers.paths import find, is_file, package_of
from mbplugin.readers.xml import local_name, parse_xml
from mbplugin.writers.xml_text import NoCopy, XmlText

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
    from mbplugin.readers.mjcf.files import NAMING, model_files
    from mbplugin.writers.mjcf_text import MjcfText

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
        name = json.loads(line.group(1))
        if not _is_beside(name, request):
            return line.group()
        return f"mesh = {json.dumps(seen_from(folder, str(request.folder / name)), ensure_ascii=False)}"

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
