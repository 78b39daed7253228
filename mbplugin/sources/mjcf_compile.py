"""Compiling MJCF with the mujoco package, its messages told in one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from mbplugin.errors import BadNumber, BrokenModel, MbPluginError, MissingDependency, UnresolvedPath
from mbplugin.sources.paths import read_text
from mbplugin.sources.scene import Request
from mbplugin.sources.xml import Element, local_name, parse_xml, where

#: Compiled arrays that enter a mechanism.
_ARRAYS = (
    *("body_pos", "body_quat", "body_ipos", "body_iquat", "body_mass", "body_inertia"),
    *("jnt_pos", "jnt_axis", "jnt_range", "qpos0", "eq_data", "site_pos", "site_quat"),
    *("dof_damping", "dof_armature", "dof_frictionloss"),
)

_MISSING_FILE = re.compile(r"Error opening file '([^']*)'|(?:resource|file) not found[^']*'([^']*)'", re.I)
_LINE = re.compile(r"\bline (?:number=)?(\d+)", re.I)


def mujoco_module() -> Any:
    """Return the mujoco package.

    Raises
    ------
    MissingDependency
        It is not installed.
    """
    try:
        import mujoco
    except ImportError:
        raise MissingDependency(
            "reading MJCF needs the mujoco package", remedy="run pip install 'mbplugin[mjcf]'"
        ) from None
    return mujoco


def documents(text: str, request: Request) -> list[Element]:
    """Return the parsed file and everything it includes, for what the compiler forgets: the lines."""
    roots = [parse_xml(text, request.path)]
    files = {str(request.path)}
    for root in roots:
        for element in root.iter("include"):
            file = str(request.folder / str(element.get("file", "")))
            if file not in files and Path(file).is_file():
                files.add(file)
                roots.append(parse_xml(read_text(file), file))
    return roots


def compile_mjcf(roots: list[Element], text: str, request: Request) -> Any:
    """Return the compiled ``MjModel``.

    Parameters
    ----------
    roots : list of Element
        The same text and its includes, parsed: they have the line numbers.
    text : str
    request : Request
        A file is compiled from its path, so that the files it names are found beside it.

    Raises
    ------
    UnresolvedPath
        An include, mesh or texture that is not there.
    BrokenModel
        Anything else the compiler refuses.
    BadNumber
        A number that is not finite.
    """
    root = roots[0]
    if local_name(root) != "mujoco":
        raise BrokenModel(f"the root element is <{local_name(root)}>", where=where(root), expected="<mujoco>")
    mujoco = mujoco_module()
    with _quiet(mujoco) as warnings:
        try:
            if request.text is None:
                model = mujoco.MjModel.from_xml_path(request.path)
            else:
                model = mujoco.MjModel.from_xml_string(text)
        except ValueError as error:
            raise _told(str(error), request) from None
    if any("NaN" in warning for warning in warnings) or not all(
        np.isfinite(getattr(model, name)).all() for name in _ARRAYS
    ):
        raise BadNumber(
            "a number is not finite",
            where=_not_finite(roots) or request.path,
            remedy="replace NaN and infinity",
        )
    return model


@contextmanager
def _quiet(mujoco: Any) -> Iterator[list[str]]:
    """Collect the compiler's warnings, which otherwise go to stderr and a log file."""
    warnings: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(warnings.append)
    try:
        yield warnings
    finally:
        mujoco.set_mju_user_warning(before)


def _told(message: str, request: Request) -> MbPluginError:
    """Turn a compiler message of several lines into one error of ours."""
    missing = _MISSING_FILE.search(message)
    line = _LINE.search(message)
    place = f"{request.path}:{line.group(1)}" if line else request.path
    if missing:
        return UnresolvedPath(
            f"{(missing.group(1) or missing.group(2))!r} cannot be opened",
            where=place,
            expected="every file that the model names beside it",
            remedy="put it where meshdir, texturedir or the include says",
        )
    first, _, rest = message.strip().partition("\n")
    reason = re.sub(r"((XML )?Error|XML parse error \d+)\s*:\s*", "", first).strip()
    detail = re.sub(r"Element name '', id \d+(, )?|,? ?line \d+", "", " ".join(rest.split())).strip(" ,")
    reason = "; ".join(part for part in (reason.rstrip("."), detail) if part)
    return BrokenModel(
        f"MuJoCo cannot compile the model: {reason or 'no reason given'}",
        where=place,
        remedy="correct the file there",
    )


def _not_finite(roots: list[Element]) -> str:
    """Return where the first attribute with such a number stands."""
    for element in (element for root in roots for element in root.iter()):
        for name, value in element.attrib.items():
            if name in ("name", "class", "childclass", "file"):
                continue
            for word in str(value).split():
                try:
                    if not isfinite(float(word)):
                        return where(element)
                except ValueError:
                    break
    return ""
