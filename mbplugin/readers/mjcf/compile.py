"""Compiling MJCF with the mujoco package, with its messages in one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mbplugin.errors import (
    BadNumber,
    BrokenModel,
    MbPluginError,
    MissingDependency,
    UnresolvedPath,
)
from mbplugin.model.bounds import LARGEST
from mbplugin.model.scene import Request
from mbplugin.processes.foreign import EngineFailed
from mbplugin.processes.rlimits import no_more_files
from mbplugin.readers.common.xml import Element, local_name, where
from mbplugin.readers.mjcf.files import ModelFiles
from mbplugin.readers.mjcf.spelling import meant
from mbplugin.readers.mjcf.stand_ins import SIZES, same_mechanics, stand_ins

#: Compiled arrays that enter a mechanism.
_ARRAYS = (
    *("body_pos", "body_quat", "body_ipos", "body_iquat", "body_mass", "body_inertia"),
    *("jnt_pos", "jnt_axis", "qpos0", "eq_data", "site_pos", "site_quat"),
    *("dof_damping", "dof_armature", "dof_frictionloss", "geom_pos", "geom_quat", "geom_size"),
    *("jnt_stiffness", "qpos_spring"),
)

#: Those of which none is zero.
_DIRECTIONS = ("jnt_axis", "body_quat", "body_iquat", "geom_quat", "site_quat")

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
        raise MissingDependency.of("reading MJCF", "mujoco", "mjcf") from None
    return mujoco


def compile_mjcf(files: ModelFiles, request: Request) -> Any:
    """Return the compiled ``MjModel``.

    Parameters
    ----------
    files : ModelFiles
        All that MuJoCo gets.
    request : Request
        Where the model comes from.

    Raises
    ------
    UnresolvedPath
        An include that is not there, or a mesh that the masses depend on.
    BrokenModel
        Anything else the compiler refuses.
    BadNumber
        A number that is not finite.
    EngineFailed
        MuJoCo failed otherwise, and is of no more use in this process.
    """
    root = files.roots[0]
    if local_name(root) != "mujoco":
        raise BrokenModel(f"the root element is <{local_name(root)}>", where=where(root), expected="<mujoco>")
    mujoco = mujoco_module()
    with _quiet(mujoco) as warnings:
        try:
            model = _compiled(mujoco, files)
        except ValueError as error:
            message = files.as_written(str(error))
            raise _told(message, request, meant(mujoco, message)) from None
        except Exception as error:
            # what MuJoCo's own errors do not cover leaves it locked: the next model would wait for ever
            raise EngineFailed(
                f"MuJoCo failed while it compiled the model: {error or type(error).__name__}",
                where=request.path,
                expected="a model that MuJoCo compiles or refuses",
                remedy="look for empty or cut-off values in the file",
            ) from None
    if any("NaN" in warning for warning in warnings) or not _usable(model):
        raise BadNumber(
            "a number is not finite, or too large",
            where=_unusable_number([*files.roots, *files.attached]) or request.path,
            expected=f"magnitudes up to {LARGEST:g}",
            remedy="correct the number or its unit",
        )
    return model


def _compiled(mujoco: Any, files: ModelFiles) -> Any:
    """Return the compiled model; missing files have stand-ins where no mechanics depend on them."""

    def compiled(assets: dict[str, bytes]) -> Any:
        with no_more_files():
            return mujoco.MjModel.from_xml_string(files.text, assets={**files.contents, **assets})

    contents = [stand_ins(files.missing, size) for size in SIZES] if files.missing else []
    if any(content is None for content in contents):
        contents = []
    models = [compiled(content) for content in contents if content is not None]
    if models and same_mechanics(*models):
        return models[0]
    return compiled({})


def _usable(model: Any) -> bool:
    """Return whether the compiled numbers can be computed with; a direction that overflowed is zero."""
    # NaN is not smaller than anything
    small = all((np.abs(getattr(model, name)) <= LARGEST).all() for name in _ARRAYS)
    directions = (getattr(model, name).any(axis=1).all() for name in _DIRECTIONS)
    return bool(small and np.isfinite(model.jnt_range).all() and all(directions))


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


def _told(message: str, request: Request, remedy: str = "") -> MbPluginError:
    """Turn a compiler message of several lines into one error of ours."""
    missing = _MISSING_FILE.search(message)
    line = _LINE.search(message)
    # MuJoCo calls the line of what it cannot find 0
    place = f"{request.path}:{line.group(1)}" if line and int(line.group(1)) else request.path
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
        remedy=remedy or "correct the file there",
    )


def _unusable_number(roots: list[Element]) -> str:
    """Return where the first attribute with such a number stands."""
    for element in (element for root in roots for element in root.iter()):
        for name, value in element.attrib.items():
            if name in ("name", "class", "childclass", "file"):
                continue
            for word in str(value).split():
                try:
                    if not abs(float(word)) <= LARGEST:
                        return where(element)
                except ValueError:
                    break
    return ""
