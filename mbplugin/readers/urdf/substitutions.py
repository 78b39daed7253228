"""ROS substitutions that were left in a URDF: ``$(optenv …)`` and ``$(env …)`` of ROS variables can be read.

Other variables may hold what nobody wants to see in a report, so they are not read for a model.
"""

from __future__ import annotations

import os
import re

from mbplugin.errors import MbPluginError, Template
from mbplugin.readers.common.environment import ROS_PREFIXES, is_ros_variable
from mbplugin.readers.common.xml import Element, local_name, where

_ENVIRONMENT = re.compile(r"\$\((optenv|env)\s+([^\s)]+)\s*([^)]*)\)")
#: Elements that state the mechanism; the rest of a file is not read.
_READ = ("link", "joint", "drake:joint", "loop_joint", "drake:ball_constraint")
#: Definitions that xacro leaves behind and that stand for nothing by themselves.
_HARMLESS = ("xacro:property", "xacro:arg", "xacro:macro")


def expand(robot: Element, *, every_variable: bool = False) -> None:
    """Replace environment substitutions in place.

    Parameters
    ----------
    robot : Element
    every_variable : bool
        Read variables that are not ROS's, too.

    Raises
    ------
    MbPluginError
        A variable that is not one of ROS, and is set.
    Template
        Another substitution or a xacro element is left: the text is a template, no model.
    """
    for element in robot:
        if not isinstance(element.tag, str):
            continue
        name = local_name(element)
        if name.startswith("xacro:") and name not in _HARMLESS:
            raise _template(f"<{name}>", element)
        if name in _READ:
            for part in element.iter():
                _expand_attributes(part, every_variable)


def _expand_attributes(element: Element, every_variable: bool) -> None:
    for name, value in element.attrib.items():
        text = str(value)
        # files named by shapes are looked up later, and only where a mesh is wanted
        if "$" not in text or name == "filename":
            continue
        for _, variable, _ in _ENVIRONMENT.findall(text):
            if variable in os.environ and not (every_variable or is_ros_variable(variable)):
                raise _not_of_ros(variable, element)
        text = _ENVIRONMENT.sub(_from_environment, text)
        if "$(" in text or "${" in text:
            raise _template(repr(text), element)
        element.set(name, text)


def _from_environment(match: re.Match[str]) -> str:
    kind, variable, default = match.groups()
    if variable in os.environ:
        return os.environ[variable]
    return default.strip() if kind == "optenv" else match.group()


def _not_of_ros(variable: str, element: Element) -> MbPluginError:
    return MbPluginError(
        f"the environment variable {variable!r} is not one of ROS, and not read for a model",
        where=where(element),
        expected=f"names that begin with {', '.join(ROS_PREFIXES)}",
        remedy="write the value out, or pass --xacro-unsafe if you trust the file",
        code="MB914",
    )


def _template(what: str, element: Element) -> Template:
    return Template(
        f"{what} is xacro that was not expanded",
        where=where(element),
        expected="a plain URDF",
        remedy="run xacro on the text first, or pass the path of its file",
    )
