"""Xacro: expanded by ``xacrodoc`` or by an installed ``xacro``, with all arguments at their defaults."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from dataclasses import replace

from mbplugin.errors import BrokenModel, MissingDependency, UnreadableFile
from mbplugin.sources.scene import Origin, Request, Scene
from mbplugin.sources.urdf import read_urdf
from mbplugin.sources.xml import refuse_entities


def read_xacro(text: str, request: Request) -> Scene:
    """Return the scene of a xacro file.

    Origins name the file without a line: lines of the expanded text stand nowhere in it.

    Raises
    ------
    MissingDependency
        Neither ``xacrodoc`` nor ``xacro`` is installed.
    BrokenModel
        The expansion failed, or what came out is no URDF.
    """
    if request.text is not None:
        raise UnreadableFile(
            "xacro cannot be read from a text, because it names other files",
            where=request.path,
            expected="a file",
            remedy="pass the path of the .xacro file",
        )
    refuse_entities(text, request.path)
    expanded = replace(request, path=f"{request.path} (expanded)")
    scene = read_urdf(_expanded(request), expanded)

    def in_file(origin: Origin) -> Origin:
        return Origin(request.path, 0, origin.text) if origin.file == expanded.path else origin

    return replace(
        scene,
        request=request,
        files=(request.path, *scene.files[1:]),
        origin={key: in_file(origin) for key, origin in scene.origin.items()},
        defects=tuple(replace(d, origin=in_file(d.origin) if d.origin else None) for d in scene.defects),
    )


def _expanded(request: Request) -> str:
    if importlib.util.find_spec("xacrodoc"):
        return _by_xacrodoc(request)
    if program := shutil.which("xacro"):
        return _by_program(program, request)
    raise MissingDependency(
        "this is a xacro file, and neither xacrodoc nor xacro is installed",
        where=request.path,
        remedy="pip install mbplugin[xacro], or run xacro yourself and pass the URDF",
    )


def _by_xacrodoc(request: Request) -> str:
    from xacrodoc import XacroDoc, packages

    if request.package_dirs:
        packages.look_in([str(folder) for folder in request.package_dirs])
    try:
        # packages of meshes need not be there, a lint does not open them
        document = XacroDoc.from_file(request.path, resolve_packages=False)
        return str(document.to_urdf_string(use_protocols=False, pretty=True))
    except Exception as error:  # xacro evaluates Python, so anything can come out
        raise _failed(str(error) or type(error).__name__, request) from None


def _by_program(program: str, request: Request) -> str:
    done = subprocess.run([program, request.path], capture_output=True, text=True, check=False)
    if done.returncode:
        raise _failed((done.stderr.strip().splitlines() or ["no message"])[-1], request)
    return done.stdout


def _failed(reason: str, request: Request) -> BrokenModel:
    reason = re.sub(r"\s+", " ", reason).rstrip(". ")
    return BrokenModel(
        f"xacro could not expand the file: {reason}",
        where=request.path,
        remedy="correct it, or pass --package-dir for packages it names",
    )
