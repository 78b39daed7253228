"""Xacro: checked, then expanded in a process of its own, with the arguments of the caller."""

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

from mbplugin.errors import (
    BrokenModel,
    Fragment,
    MbPluginError,
    MissingDependency,
    UnreadableFile,
    UnresolvedPath,
)
from mbplugin.model.scene import Request, Scene
from mbplugin.processes.foreign import PARENT, Limits, in_own_child
from mbplugin.processes.walls import Walls
from mbplugin.readers.common.xml import is_ros_variable, parse_xml, refuse_entities, root_name, where
from mbplugin.readers.sdf.reader import read_sdf
from mbplugin.readers.urdf.reader import read_urdf
from mbplugin.readers.xacro.expression import parsed, refuse_constant, value_of
from mbplugin.readers.xacro.functions import CONSTANTS, Data, Function, Refused, require_data
from mbplugin.readers.xacro.packages import Expansion, Files, Marks, Written

#: What the expansion of one file may take.
LIMITS = Limits(seconds=60.0, cpu=10, memory=1 << 30)
#: It computes, and asks for what it needs of files.
_WALLS = Walls(reads=False)
#: Characters of what a file may become.
_LONGEST = 50_000_000
#: Times that a file may be open at once: one that includes itself again and again is never expanded.
_DEEPEST = 20
#: What is replaced in the package; a version without it cannot be held.
_NEEDED = (
    *("safe_eval", "parse", "process_file", "_global_symbols", "filestack", "substitution_args"),
    *("NameSpace", "glob", "eval_extension", "substitution_args_context", "all_includes"),
)
#: Units of numbers in YAML files, and what they are of the unit of SI.
_UNITS = {
    "!radians": 1.0,
    "!degrees": pi / 180.0,
    "!meters": 1.0,
    "!millimeters": 0.001,
    "!foot": 0.3048,
    "!inches": 0.0254,
}
#: As xacro's own lexer: an escape, an expression, a substitution.
_PARTS = re.compile(r"\$\$+[{(]|\$\{([^}]*)\}|\$\(([^)]*)\)")
_INNER = re.compile(r"\$\([^)]*\)|\$\{[^}]*\}")
_SHOWN = 60


def read_xacro(text: str, request: Request) -> Scene:
    """Return the scene of a xacro file.

    Origins name the xacro file and line in which an element was written, be it an included one.

    Raises
    ------
    MissingDependency
        ``xacro`` is not installed.
    RefusedXacro
        The file has expressions that are not evaluated unless they are allowed.
    BrokenModel
        The expansion failed or passed a limit, or what came out is no URDF.
    UnresolvedPath
        A package is found nowhere.
    UnreadableFile
        It is a text without a file, which could not name others.
    """
    if request.text is not None:
        raise UnreadableFile(
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
    except MbPluginError as error:
        raise written.error(error) from None
    files = (request.path, *expansion.files, *scene.files[1:])
    return replace(written.scene(scene), request=request, files=tuple(dict.fromkeys(files)))


def _expanded(request: Request) -> Expansion:
    environment = {
        name: value for name, value in os.environ.items() if request.xacro_unsafe or is_ros_variable(name)
    }
    variables = frozenset(os.environ)
    if request.xacro_unsafe:
        # the user trusts it like a program, and may want it to start programs
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
# :mod:`mbplugin.readers.xacro.expression`, files are asked of the process that started this one, which opens
# those of
# the packages, and of the environment only ROS's variables are read. None of the package's functions is a
# value
# that a file could name. A text that is put together while the macros run passes the same gate as one that
# stands
# in the file.


def expand(request: Request, variables: frozenset[str], folder: str = "") -> Expansion:
    """Return the expansion of a xacro file; arguments that the request does not state have their defaults.

    Parameters
    ----------
    request : Request
    variables : frozenset of str
        The names of the environment variables that are set for the user.
    folder : str
        The working folder of the parent, which then opens the files for this process.

    Raises
    ------
    MissingDependency
        There is no xacro, or one that is too old.
    RefusedXacro
        The file, or one that it includes, has something that is not allowed.
    BrokenModel
        The expansion failed.
    UnresolvedPath
        A package is found nowhere.
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
        raise BrokenModel(
            f"xacro made {len(text)} characters of the file",
            where=request.path,
            expected=f"at most {_LONGEST}",
        )
    return Expansion(text, tuple(gate.marks.files), places, frozenset(gate.marks.macros))


def _xacro(request: Request) -> ModuleType:
    try:
        import xacro
        import xacro.substitution_args
    except ImportError:
        raise MissingDependency(
            "this is a xacro file, and xacro is not installed",
            where=request.path,
            remedy="pip install 'mbplugin[xacro]', or run xacro yourself and pass the URDF",
        ) from None
    missing = [name for name in _NEEDED if not hasattr(xacro, name)]
    if missing:
        raise MissingDependency(
            f"the installed xacro is too old, it has no {missing[0]}",
            where=request.path,
            remedy="pip install 'mbplugin[xacro]'",
        )
    module: ModuleType = xacro
    return module


class _Asked:
    """What the parent tells of files: its :class:`Files`, asked by the names of their methods."""

    def __getattr__(self, name: str) -> Callable[[str], Any]:
        return lambda text: PARENT.ask(name, text)


@dataclass(eq=False)
class _Gate:
    """What stands between the xacro package and the system.

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
        """Have packages found where ours are found, and lines remembered; nothing is refused."""
        self.xacro.substitution_args._eval_find = self.find
        self.xacro.parse = lambda text, name="": self.parse(text, name, self.unchecked)

    def close(self) -> None:
        """Replace every way out of the package."""
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
        # the working folder of this process is nobody's
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
        """Return the folder of a package as text."""
        if found := self.files.find(name):
            return found
        raise MissingPackage(name)

    def dirname(self, name: str) -> str:
        """Return the folder of a file, absolute where the user stands."""
        return os.path.normpath(os.path.join(self.folder, os.path.dirname(name)))  # noqa: PTH118, PTH120

    def eval(self, text: str, context: Any) -> str:
        """Return the value of ``$(eval …)``: an expression of the arguments, without calls."""
        convert = self.xacro.substitution_args.convert_value
        given = context.get("arg", {})
        # as xacro takes them: 'true' is a truth value, '2' a number
        symbols = {name: convert(given[name], "auto") for name in given}
        return str(value_of(text, symbols | {"true": True, "false": False, "pi": pi}, {}))

    def parse(self, text: Any, name: str, content: Callable[[str], str | bytes]) -> Any:
        """Return the document of a text, or of a file of macros with its lines."""
        if text is not None:
            return minidom.parseString(text)
        if self.xacro.filestack.count(name) > _DEEPEST:
            raise BrokenModel(
                "the file includes itself without end",
                where=name,
                expected="an xacro:include of another file, or one in an xacro:if that ends it",
            )
        name = self.files.installed(name)
        try:
            return self.marks.document(content(name), name)
        except OSError as error:
            # as xacro itself does, whose optional includes may be missing
            self.xacro.filestack.pop()
            raise self.xacro.XacroException(f"{error.strerror}: {error.filename}", exc=error) from None

    def unchecked(self, name: str) -> bytes:
        """Return the content of a file of macros that is trusted."""
        return Path(name).read_bytes()

    def checked(self, name: str) -> str:
        """Return the text of a file of macros in which everything is allowed."""
        text = self.files.text(name)
        refuse_entities(text, name)
        check_text(text, name, self.variables)
        return text

    def abs_filename(self, name: str) -> str:
        """Return the path of a name beside the file that is being expanded."""
        if not isinstance(name, str):
            raise TypeError("a file's name is a text")
        return os.path.join(os.path.dirname(self.xacro.filestack[-1] or ""), name)  # noqa: PTH118, PTH120

    def load_yaml(self, name: str) -> Data:
        """Return the content of a file of values, as data."""
        import yaml

        path = self.abs_filename(name)
        text = self.files.values(path)

        class Loader(yaml.SafeLoader):
            """The loader of plain data, with the units of xacro."""

        def number(loader: Any, node: Any) -> float:
            return float(value_of(str(loader.construct_scalar(node)), CONSTANTS)) * _UNITS[node.tag]

        # a date has no meaning for a robot; its text is what xacro would print
        constructors: dict[str, Any] = {"tag:yaml.org,2002:timestamp": Loader.construct_yaml_str}
        for tag, constructor in {**constructors, **dict.fromkeys(_UNITS, number)}.items():
            Loader.add_constructor(tag, constructor)
        self.xacro.all_includes.append(path)
        return require_data(yaml.load(text, Loader))

    def check_known_includes(self, file: str, included_at: str, seen: set[str]) -> None:
        """Check a file and what it includes by names that are known before anything is expanded."""
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


# Errors of an expansion: what is missing is named, with the file and line that need it.


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


# Checks of every expression and substitution of a xacro file, before it is expanded.


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
