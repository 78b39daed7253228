"""Errors of an expansion: what is missing is named, with the file and line that need it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mbplugin.errors import BrokenModel, Fragment, MbPluginError, UnresolvedPath
from mbplugin.readers.xacro.check import refused, texts_of
from mbplugin.readers.xacro.expression import Refused
from mbplugin.readers.xacro.places import Marks


class MissingPackage(LookupError):
    """A package that is found nowhere; its argument is the name."""


def error_of(error: BaseException, xacro: Any, file: str, marks: Marks) -> MbPluginError:
    """Return the error of ours that an exception in xacro stands for.

    Parameters
    ----------
    error : BaseException
    xacro : module
    file : str
        The file that was expanded.
    marks : Marks
        The files that were read, in which the place is searched, and the lines of their elements.

    Raises
    ------
    MemoryError
        The process has no more memory; its limits are judged elsewhere.
    """
    cause: Any = error
    # xacro wraps what goes wrong in an expression
    while (inner := getattr(cause, "exc", None)) is not None:
        cause = inner
    if isinstance(cause, MbPluginError):
        return cause
    if isinstance(cause, MemoryError):
        raise cause
    read = str((xacro.filestack or [file])[-1] or file)
    failed = marks.where_failed(error) or read
    # the file that was worked on comes first
    searched = {file: marks.texts[file] for file in (read, *marks.files) if file in marks.texts}
    if isinstance(cause, Refused):
        return refused(str(cause), failed)
    if isinstance(cause, MissingPackage):
        return _missing_package(str(cause.args[0]), searched, failed)
    if isinstance(cause, xacro.substitution_args.ArgException):
        return _missing_argument(str(cause), searched, failed)
    if isinstance(cause, OSError) and cause.filename:
        return _unreadable(str(cause.filename), str(cause.strerror), failed)
    lines = dict.fromkeys(line.strip().rstrip(". ") for line in str(error).splitlines())
    reason = "; ".join(filter(None, lines)) or type(error).__name__
    return BrokenModel(
        f"xacro could not expand the file: {reason}",
        where=_place(searched, _expression(reason)) or failed,
        remedy="correct the file, or pass --xacro-arg for arguments that it needs",
    )


def _missing_package(name: str, texts: Mapping[str, str], failed: str) -> MbPluginError:
    return UnresolvedPath(
        f"package {name!r} is not found",
        where=_place(texts, f"$(find {name})") or failed,
        expected="a folder with a package.xml of this name in the repository, in a --package-dir or on a "
        "path of ROS",
        remedy="pass --package-dir DIR with a folder around it",
    )


def _missing_argument(name: str, texts: Mapping[str, str], failed: str) -> MbPluginError:
    return Fragment(
        f"the xacro argument {name!r} has no value",
        where=_place(texts, f"$(arg {name})") or failed,
        expected="a default that stands above its use, or a value from the caller",
        remedy=f"pass --xacro-arg {name}:=VALUE, or state it below [xacro.arguments] in mbplugin.toml",
    )


def _unreadable(name: str, why: str, failed: str) -> MbPluginError:
    foreign = "package:/" in name
    return UnresolvedPath(
        f"what is included or loaded from {name!r} cannot be read ({why.lower()})",
        where=failed,
        expected="a file beside this one, or in a package",
        remedy="write $(find NAME)/… for package://NAME/…, which xacro does not resolve"
        if foreign
        else "correct the name",
    )


def _expression(reason: str) -> str:
    """Return the expression that a message of xacro quotes, empty where it quotes none."""
    _, quoted, rest = reason.partition("when evaluating expression '")
    return rest.partition("'")[0] if quoted else ""


def _place(texts: Mapping[str, str], written: str) -> str:
    """Return ``file:line`` of the first element with a text; empty where none has it."""
    # a macro is expanded where it is called, not where it is written
    for file, content in texts.items() if written else ():
        try:
            lines = [line for text, line in texts_of(content, file) if written in text]
        except (MbPluginError, ValueError):
            continue
        if lines:
            return f"{file}:{lines[0]}"
    return ""
