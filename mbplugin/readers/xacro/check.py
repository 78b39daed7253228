"""Checks of every expression and substitution of a xacro file, before it is expanded."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mbplugin.errors import MbPluginError
from mbplugin.readers.common.environment import is_ros_variable
from mbplugin.readers.common.xml import parse_xml
from mbplugin.readers.xacro.expression import Refused, parsed, refuse_constant

#: As xacro's own lexer: an escape, an expression, a substitution.
_PARTS = re.compile(r"\$\$+[{(]|\$\{([^}]*)\}|\$\(([^)]*)\)")
_INNER = re.compile(r"\$\([^)]*\)|\$\{[^}]*\}")
_SHOWN = 60


class RefusedXacro(MbPluginError):
    """A xacro file with something that is not expanded without being allowed."""

    code = "MB914"


def refused(what: str, where: str) -> RefusedXacro:
    """Return the error about something that a xacro file may not have."""
    return RefusedXacro(
        f"xacro with {what} is not expanded",
        where=where,
        expected="arithmetic, conditions, lists and calls of xacro's own functions",
        remedy="pass --xacro-unsafe if you trust the file and what it includes as you trust a program",
    )


def check_text(text: str, file: str, variables: frozenset[str]) -> None:
    """Refuse a file with an expression or substitution that is not allowed, with its line.

    Parameters
    ----------
    text : str
    file : str
    variables : frozenset of str
        The names of the environment variables that are set.

    Raises
    ------
    RefusedXacro
        The first one.
    BrokenXml
        The text is no XML.
    """
    for written, line in texts_of(text, file):
        if "$" not in written:
            continue
        for expression, substitution in _PARTS.findall(written):
            try:
                _check_expression(expression)
                _check_substitution(substitution, variables)
            except Refused as reason:
                shown = f"${{{expression}}}" if expression else f"$({substitution})"
                raise refused(f"{reason} in {_shortened(shown)!r}", f"{file}:{line}") from None


def check_variable(name: str, variables: frozenset[str], *, optional: bool) -> None:
    """Refuse to read an environment variable that is not one of ROS.

    One that may be missing is passed over where it is missing.

    Raises
    ------
    Refused
        With its name.
    """
    if not is_ros_variable(name) and not (optional and name not in variables):
        raise Refused(f"the environment variable {name!r}, which is not one of ROS,")


def texts_of(text: str, file: str) -> Iterator[tuple[str, int]]:
    """Yield every text of a file that xacro evaluates, and its line.

    Raises
    ------
    BrokenXml
        The text is no XML.
    """
    for element in parse_xml(text, file).iter():
        line = int(element.sourceline or 0)
        yield from ((str(value), line) for value in element.attrib.values())
        if element.text:
            yield element.text, line
        if element.tail:
            yield element.tail, line


def _check_expression(text: str) -> None:
    # what stands for an inner substitution is not known yet; the whole is looked at again with its value
    inner = _INNER.sub("x", text)
    try:
        parsed(inner)
        if inner == text:
            refuse_constant(text)
    except SyntaxError:
        # no expression: xacro says so, if it ever comes to it
        return


def _check_substitution(text: str, variables: frozenset[str]) -> None:
    words = text.split()
    if not words or "$" in text:
        return
    if words[0] == "eval":
        _check_expression(text.partition("eval")[2])
    if words[0] in ("env", "optenv") and len(words) > 1:
        check_variable(words[1], variables, optional=words[0] == "optenv")


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
