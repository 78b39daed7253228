"""Which files of a folder are linted: models of every format; what only other models use is skipped."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from mbplugin.phrases import listed
from mbplugin.readers.common.xml import root_name

#: What is linted in folders whatever it holds, and collected by pytest.
ENDINGS = (".urdf", ".sdf", ".world", ".scene.toml")
#: What is linted where its content is that of a model.
BY_CONTENT = (".xacro", ".xml", ".mjcf", ".usda")
#: The schema without which a USD layer has no mechanism.
_RIGID = "PhysicsRigidBodyAPI"
#: Characters of a file that are looked at for that.
_HEAD = 2_000_000
_MACRO = re.compile(r"<xacro:macro\b.*?</xacro:macro\s*>", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
#: Elements that make a part of a robot, or call a macro that may.
_MAKES = re.compile(
    r"<(?:link|model|world|xacro:(?!include\b|property\b|arg\b|macro\b|if\b|unless\b|insert_block\b))"
)
_SEMANTICS = (".srdf.xacro", ".ros2_control.xacro", ".gazebo.xacro", ".transmission.xacro")

#: Why files of a folder are skipped.
MACROS = "xacro files that only define macros or properties"
OUTSIDE = "links that lead out of the repository"


def is_candidate(name: str) -> bool:
    """Return whether a file may be linted by its name."""
    return name.lower().endswith((*ENDINGS, *BY_CONTENT))


def why_skipped(path: str) -> str | None:
    """Return why a file of a folder is not linted: a reason, empty where there is none to state; else None.

    Parameters
    ----------
    path : str
        A file with a name for which :func:`is_candidate` holds.
    """
    name = path.lower()
    if name.endswith(ENDINGS):
        return None
    text = _head(path)
    if name.endswith(".usda"):
        return None if _RIGID in text else ""
    root = root_name(text)
    if name.endswith(".xacro"):
        if root not in ("robot", "sdf") or name.endswith(_SEMANTICS):
            return ""
        text = _COMMENT.sub("", text)
        return None if _MAKES.search(_MACRO.sub("", text)) or _only_includes(text) else MACROS
    return None if root == "mujoco" else ""


def _only_includes(text: str) -> bool:
    """Return whether a xacro file joins others, and defines nothing for others."""
    return "<xacro:include" in text and "<xacro:macro" not in text


def _head(path: str) -> str:
    try:
        # a pipe would wait for its writer
        if not os.path.isfile(path):  # noqa: PTH113
            return ""
        with Path(path).open("rb") as stream:
            return stream.read(_HEAD).decode("utf-8", errors="replace")
    except OSError:
        return ""


def skipped_line(skipped: Iterable[tuple[str, str]]) -> str:
    """Return the line that states which files of the folders were skipped, and why; empty for none.

    Parameters
    ----------
    skipped : iterable of (str, str)
        Files and reasons.
    """
    by_reason: dict[str, list[str]] = {}
    for file, reason in skipped:
        if reason:
            by_reason.setdefault(reason, []).append(file)
    parts = []
    for reason, files in by_reason.items():
        parts.append(f"{len(files)} {reason} ({listed(files, 3)})")
    return f"skipped: {'; '.join(parts)}" if parts else ""
