"""Xacro: checked, then expanded in a separate process, with the arguments of the caller."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import pi
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from xml.dom import minidom

from mbplugin import errors
from mbplugin.model import Request, Scene
from mbplugin.processes.foreign import PARENT, Limits, in_own_child
from mbplugin.processes.walls import Walls
from mbplugin.readers.sdf.reader import read_sdf
from mbplugin.readers.urdf import read_urdf
from mbplugin.readers.xacro.expression import parsed, refuse_constant, value_of
from mbplugin.readers.xacro.functions import CONSTANTS, Data, Function, Refused, require_data
from mbplugin.readers.xacro.packages import Expansion, Files, Marks, Written
from mbplugin.readers.xml import is_ros_variable, parse_xml, refuse_entities, root_name, where

#: Limits for the expansion of one file.
LIMITS = Limits(seconds=60.0, cpu=10, memory=1 << 30)
#: The process only computes; it asks its parent for files.
_WALLS = Walls(reads=False)
#: Maximum length of an expanded file, characters.
_LONGEST = 50_000_000
#: Maximum number of times that a file may be open at once, to stop endless recursive includes.
_DEEPEST = 20
#: Attributes of the xacro package that are replaced; a version without them cannot be restricted.
_NEEDED = (
    *("safe_eval", "parse", "process_file", "_global_symbols", "filestack", "substitution_args"),
    *("NameSpace", "glob", "eval_extension", "substitution_args_context", "all_includes"),
)
#: Units of numbers in YAML files, and their values in SI.
_UNITS = {
    "!radians": 1.0,
    "!degrees": pi / 180.0,
    "!meters": 1.0,
    "!millimeters": 0.001,
    "!foot": 0.3048,
    "!inches": 0.0254,
}
#: As in xacro's own lexer: an escape, an expression, a substitution.
_PARTS = re.compile(r"\$\$+[{(]|\$\{([^}]*)\}|\$\(([^)]*)\)")
_INNER = re.compile(r"\$\([^)]*\)|\$\{[^}]*\}")
_SHOWN = 60


def read_xacro(text: str, request: Request) -> Scene:
    """Return the scene of a xacro file.

    Origins state the xacro file (possibly an included one) and line in which an element was written.

    Raises
    ------
    MissingDependency
        ``xacro`` is not installed.
    RefusedXacro
        The file has expressions that are evaluated only with permission.
    BrokenModel
        The expansion failed or exceeded a limit, or its result is not a URDF.
    UnresolvedPath
        A package cannot be located.
    UnreadableFile
        The request is for a text without a file, which could not name other files.
    """
    if request.text is not None:
        raise errors.UnreadableFile(
            "xacro cannot be read from a text, because it names other files",
            where=request.path,
            expected="a file",
            remedy="pass the path of the .xacro file",
        )
    refuse_entities(text, request.path)
    expansion = _expanded(request)
    name = f"{request.path} (expanded)"
    written = Written(expansion, name, request.path)
    try:
        read = read_sdf if root_name(expansion.text) == "sdf" else read_urdf
        scene = read(expansion.text, replace(request, path=name))
    except errors.MbPluginError as error:
        raise written.error(error) from None
    files = (request.path, *expansion.files, *scene.files[1:])
    return replace(written.scene(scene), request=request, files=tuple(dict.fromkeys(files)))


def _expanded(request: Request) -> Expansion:
    environment = {
        name: value for name, value in os.environ.items() if request.xacro_unsafe or is_ros_variable(name)
    }
    variables = frozenset(os.environ)
    if request.xacro_unsafe:
        # the user trusts the file like a program, and may want it to start programs
        return in_own_child(
            "xacro", LIMITS, request.path, environment, expand, request, variables, walls=None
        )
    arguments, files = (request, variables, str(Path.cwd())), Files(request)
    return in_own_child(
        "xacro", LIMITS, request.path, environment, expand, *arguments, walls=_WALLS, served=files
    )


# The xacro package in a separate process, without access to the system.
#
# It runs the file's macros, and nothing else: expressions are computed by
# :mod:`mbplugin.readers.xacro.expression`; files are requested from the parent process, which opens only those of
# the packages; and only ROS variables of the environment are read. None of the package's functions is a value
# that a file could name. Text that macros compose at run time passes the same checks as text in the file.


def expand(request: Request, variables: frozenset[str], folder: str = "") -> Expansion:
    """Expand a xacro file; arguments that the request does not state have their defaults.

    Parameters
    ----------
    request : Request
    variables : frozenset of str
        The names of the environment variables set for the user.
    folder : str
        The working folder of the parent, which opens the files for this process; if empty, they are opened here.

    Raises
    ------
    MissingDependency
        xacro is not installed, or too old.
    RefusedXacro
        The file, or one that it includes, contains something that is not permitted.
    BrokenModel
        The expansion failed.
    UnresolvedPath
        A package cannot be located.
    """
    xacro = _xacro(request)
    gate = _Gate(xacro, _Asked() if folder else Files(request), variables, folder or str(Path.cwd()))
    if request.xacro_unsafe:
        gate.open()
    else:
        gate.check_known_includes(request.path, "", set())
        gate.close()
    try:
        document = xacro.process_file(request.path, mappings=dict(request.xacro_args))
        places = gate.marks.places(document)
        text = str(document.toprettyxml(indent="  "))
    except Exception as error:
        raise error_of(error, xacro, request.path, gate.marks) from None
    if len(text) > _LONGEST:
        raise errors.BrokenModel(
            f"xacro expands the file to {len(text)} characters",
            where=request.path,
            expected=f"at most {_LONGEST}",
        )
    return Expansion(text, tuple(gate.marks.files), places, frozenset(gate.marks.macros))


def _xacro(request: Request) -> ModuleType:
    try:
        import xacro
        import xacro.substitution_args
    except ImportError:
        raise errors.MissingDependency(
            "this is a xacro file, and xacro is not installed",
            where=request.path,
            remedy=f"{errors.install_command('xacro')}, or run xacro yourself and pass the URDF",
        ) from None
    missing = [name for name in _NEEDED if not hasattr(xacro, name)]
    if missing:
        raise errors.MissingDependency(
            f"the installed xacro is too old, it has no {missing[0]}",
            where=request.path,
            remedy=errors.install_command("xacro", upgrade=True),
        )
    module: ModuleType = xacro
    return module


class _Asked:
    """Proxy for the :class:`Files` of the parent process, which is asked by method name."""

    def __getattr__(self, name: str) -> Callable[[str], Any]:
        return lambda text: PARENT.ask(name, text)


@dataclass(eq=False)
class _Gate:
    """Replacement of the functions by which the xacro package accesses the system.

    Parameters
    ----------
    xacro : module
    files : Files
    variables : frozenset of str
    folder : str
        The working folder of the user.
    marks : Marks
    """

    xacro: Any
    files: Files | _Asked
    variables: frozenset[str]
    folder: str
    marks: Marks = field(default_factory=Marks)

    def open(self) -> None:
        """Install this reader's package search and recording of lines; nothing is refused."""
        self.xacro.substitution_args._eval_find = self.find
        self.xacro.parse = lambda text, name="": self.parse(text, name, self.unchecked)

    def close(self) -> None:
        """Replace every access of the package to the system."""
        xacro = self.xacro
        xacro.substitution_args._eval_find = self.find
        spaces = {name: xacro.NameSpace() for name in ("math", "python", "xacro")}
        for name in ("math", "python"):
            dict.update(spaces[name], CONSTANTS)
        xacro._global_symbols = {**CONSTANTS, **spaces}
        files = {"load_yaml": Function(self.load_yaml), "abs_filename": Function(self.abs_filename)}
        functions = {**files, **{f"xacro.{name}": function for name, function in files.items()}}
        functions["xacro.arg"] = Function(lambda name: xacro.substitution_args_context["arg"][name])
        xacro.safe_eval = lambda text, symbols, local=None: value_of(
            text, symbols, functions, xacro.NameSpace
        )
        xacro.parse = lambda text, name="": self.parse(text, name, self.checked)
        xacro.glob = SimpleNamespace(glob=self.files.matching)
        extension = xacro.eval_extension
        # the working folder of this process has no meaning for the user
        xacro.eval_extension = lambda text: self.folder if text == "$(cwd)" else extension(text)
        arguments = self.xacro.substitution_args
        arguments._eval, arguments._eval_dirname = self.eval, self.dirname
        read, read_optional = arguments._eval_env, arguments._eval_optenv

        def env(name: str) -> Any:
            check_variable(name, self.variables, optional=False)
            return read(name)

        def optenv(name: str, default: str = "") -> Any:
            check_variable(name, self.variables, optional=True)
            return read_optional(name, default)

        arguments._eval_env, arguments._eval_optenv = env, optenv

    def find(self, name: str) -> str:
        """Return the folder of a package."""
        if found := self.files.find(name):
            return found
        raise MissingPackage(name)

    def dirname(self, name: str) -> str:
        """Return the folder of a file, absolute, relative names starting from the user's working folder."""
        return os.path.normpath(os.path.join(self.folder, os.path.dirname(name)))  # noqa: PTH118, PTH120

    def eval(self, text: str, context: Any) -> str:
        """Return the value of ``$(eval …)``: an expression of the arguments, without functions that read files."""
        convert = self.xacro.substitution_args.convert_value
        given = context.get("arg", {})
        # converted as by xacro: 'true' becomes a truth value, '2' a number
        symbols = {name: convert(given[name], "auto") for name in given}
        return str(value_of(text, symbols | {"true": True, "false": False, "pi": pi}, {}))

    def parse(self, text: Any, name: str, content: Callable[[str], str | bytes]) -> Any:
        """Return the document of a text, or of a macro file with its lines."""
        if text is not None:
            return minidom.parseString(text)
        if self.xacro.filestack.count(name) > _DEEPEST:
            raise errors.BrokenModel(
                "the file includes itself without end",
                where=name,
                expected="an xacro:include of another file, or one in an xacro:if that ends it",
            )
        name = self.files.installed(name)
        try:
            return self.marks.document(content(name), name)
        except OSError as error:
            # as in xacro itself, whose optional includes may be missing
            self.xacro.filestack.pop()
            raise self.xacro.XacroException(f"{error.strerror}: {error.filename}", exc=error) from None

    def unchecked(self, name: str) -> bytes:
        """Return the content of a trusted macro file."""
        return Path(name).read_bytes()

    def checked(self, name: str) -> str:
        """Return the text of a macro file after checking that all its content is permitted."""
        text = self.files.text(name)
        refuse_entities(text, name)
        check_text(text, name, self.variables)
        return text

    def abs_filename(self, name: str) -> str:
        """Return the path of a name relative to the file being expanded."""
        if not isinstance(name, str):
            raise TypeError("a file's name is a text")
        return os.path.join(os.path.dirname(self.xacro.filestack[-1] or ""), name)  # noqa: PTH118, PTH120

    def load_yaml(self, name: str) -> Data:
        """Return the content of a YAML file of values, as data."""
        import yaml

        path = self.abs_filename(name)
        text = self.files.values(path)

        class Loader(yaml.SafeLoader):
            """Loader of plain data, with the units of xacro."""

        def number(loader: Any, node: Any) -> float:
            return float(value_of(str(loader.construct_scalar(node)), CONSTANTS)) * _UNITS[node.tag]

        # dates have no meaning for a robot; xacro would print their text
        constructors: dict[str, Any] = {"tag:yaml.org,2002:timestamp": Loader.construct_yaml_str}
        for tag, constructor in {**constructors, **dict.fromkeys(_UNITS, number)}.items():
            Loader.add_constructor(tag, constructor)
        self.xacro.all_includes.append(path)
        return require_data(yaml.load(text, Loader))

    def check_known_includes(self, file: str, included_at: str, seen: set[str]) -> None:
        """Check a file and its includes, as far as their names are known before the expansion."""
        if file in seen:
            return
        seen.add(file)
        try:
            text = self.checked(file)
        except Refused as reason:
            raise refused(str(reason), included_at or file) from None
        for element in parse_xml(text, file).iter("{*}include"):
            name = str(element.get("filename", ""))
            if name.startswith("$(find ") and ")" in name:
                package, _, inner = name.removeprefix("$(find ").partition(")")
                found = self.files.find(package.strip())
                name = f"{found}{inner}" if found else "$"
            path = self.files.installed(str(Path(file).parent / name))
            if not set("$*?[") & set(name) and self.files.is_file(path):
                self.check_known_includes(path, where(element), seen)


# Errors of an expansion: they name what is missing, with the file and line that need it.


class MissingPackage(LookupError):
    """A package that cannot be located; the argument is its name."""


def error_of(error: BaseException, xacro: Any, file: str, marks: Marks) -> errors.MbPluginError:
    """Convert an exception raised in xacro to an error of this package.

    Parameters
    ----------
    error : BaseException
    xacro : module
    file : str
        The file that was expanded.
    marks : Marks
        The files that were read, with the lines of their elements, in which the location is searched.

    Raises
    ------
    MemoryError
        The process is out of memory; the caller handles this limit.
    """
    cause: Any = error
    # xacro wraps errors in expressions
    while (inner := getattr(cause, "exc", None)) is not None:
        cause = inner
    if isinstance(cause, errors.MbPluginError):
        return cause
    if isinstance(cause, MemoryError):
        raise cause
    read = str((xacro.filestack or [file])[-1] or file)
    failed = marks.where_failed(error) or read
    # the file being processed comes first
    searched = {file: marks.texts[file] for file in (read, *marks.files) if file in marks.texts}
    if isinstance(cause, Refused):
        return refused(str(cause), failed)
    if isinstance(cause, MissingPackage):
        return errors.UnresolvedPath(
            f"package {str(cause.args[0])!r} is not found",
            where=_place(searched, f"$(find {cause.args[0]!s})") or failed,
            expected="a folder with a package.xml of this name in the repository, in a --package-dir or on a "
            "path of ROS",
            remedy="pass --package-dir DIR with a folder around it",
        )
    if isinstance(cause, xacro.substitution_args.ArgException):
        return errors.Fragment(
            f"the xacro argument {str(cause)!r} has no value",
            where=_place(searched, f"$(arg {cause!s})") or failed,
            expected="a default that stands above its use, or a value from the caller",
            remedy=f"pass --xacro-arg {cause!s}:=VALUE, or state it below [xacro.arguments] in mbplugin.toml",
        )
    if isinstance(cause, OSError) and cause.filename:
        return _unreadable(str(cause.filename), str(cause.strerror), failed)
    lines = dict.fromkeys(line.strip().rstrip(". ") for line in str(error).splitlines())
    reason = "; ".join(filter(None, lines)) or type(error).__name__
    return errors.BrokenModel(
        f"xacro could not expand the file: {reason}",
        where=_place(searched, _expression(reason)) or failed,
        remedy="correct the file, or pass --xacro-arg for arguments that it needs",
    )


def _unreadable(name: str, why: str, failed: str) -> errors.MbPluginError:
    foreign = "package:/" in name
    return errors.UnresolvedPath(
        f"{name!r} cannot be included or loaded ({why.lower()})",
        where=failed,
        expected="a file beside this one, or in a package",
        remedy="write $(find NAME)/… for package://NAME/…, which xacro does not resolve"
        if foreign
        else "correct the name",
    )


def _expression(reason: str) -> str:
    """Return the expression quoted in a message of xacro, empty if there is none."""
    _, quoted, rest = reason.partition("when evaluating expression '")
    return rest.partition("'")[0] if quoted else ""


def _place(texts: Mapping[str, str], written: str) -> str:
    """Return ``file:line`` of the first element that contains a text, empty if there is none."""
    # search the source: a macro fails where it is called, not where it is written
    for file, content in texts.items() if written else ():
        try:
            lines = [line for text, line in texts_of(content, file) if written in text]
        except (errors.MbPluginError, ValueError):
            continue
        if lines:
            return f"{file}:{lines[0]}"
    return ""


# Checks of every expression and substitution of a xacro file, before its expansion.


class RefusedXacro(errors.MbPluginError):
    """A xacro file with content that is expanded only with permission."""

    code = "MB914"


def refused(what: str, where: str) -> RefusedXacro:
    """Return the error about content of a xacro file that is not permitted."""
    return RefusedXacro(
        f"xacro with {what} is not expanded",
        where=where,
        expected="arithmetic, conditions, lists and calls of xacro's own functions",
        remedy="pass --xacro-unsafe if you trust the file and what it includes as you trust a program",
    )


def check_text(text: str, file: str, variables: frozenset[str]) -> None:
    """Refuse a file with an expression or substitution that is not permitted, with its line.

    Parameters
    ----------
    text : str
    file : str
    variables : frozenset of str
        The names of the environment variables that are set.

    Raises
    ------
    RefusedXacro
        The first such expression or substitution.
    BrokenXml
        The text is not XML.
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
    """Refuse an environment variable that is not one of ROS.

    An ``optional`` variable that is not set is permitted.

    Raises
    ------
    Refused
        With the name of the variable.
    """
    if not is_ros_variable(name) and not (optional and name not in variables):
        raise Refused(f"the environment variable {name!r}, which is not one of ROS,")


def texts_of(text: str, file: str) -> Iterator[tuple[str, int]]:
    """Yield every text of a file that xacro evaluates, with its line.

    Raises
    ------
    BrokenXml
        The text is not XML.
    """
    for element in parse_xml(text, file).iter():
        line = int(element.sourceline or 0)
        yield from ((str(value), line) for value in element.attrib.values())
        if element.text:
            yield element.text, line
        if element.tail:
            yield element.tail, line


def _check_expression(text: str) -> None:
    # the values of inner substitutions are unknown yet; the whole is checked again with them
    inner = _INNER.sub("x", text)
    try:
        parsed(inner)
        if inner == text:
            refuse_constant(text)
    except SyntaxError:
        # not an expression: xacro reports it, if it is ever evaluated
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
