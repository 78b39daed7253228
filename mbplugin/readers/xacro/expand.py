"""The xacro package in a separate process, without access to the system.

It runs the file's macros, and nothing else: expressions are computed by
:mod:`mbplugin.readers.xacro.expression`, files are asked of the process that started this one, which opens those of
the packages, and of the environment only ROS's variables are read. None of the package's functions is a value
that a file could name. A text that is put together while the macros run passes the same gate as one that stands
in the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from math import pi
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from xml.dom import minidom

from mbplugin.errors import BrokenModel, MissingDependency
from mbplugin.model.scene import Request
from mbplugin.processes.foreign import PARENT
from mbplugin.readers.common.xml import parse_xml, refuse_entities, where
from mbplugin.readers.xacro.check import check_text, check_variable, refused
from mbplugin.readers.xacro.expression import Refused, value_of
from mbplugin.readers.xacro.failures import MissingPackage, error_of
from mbplugin.readers.xacro.functions import CONSTANTS, Data, Function, require_data
from mbplugin.readers.xacro.packages import Files
from mbplugin.readers.xacro.places import Expansion, Marks

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


def expand(request: Request, variables: frozenset[str], folder: str = "") -> Expansion:
    """Return what a xacro file becomes; arguments that the request does not state have their defaults.

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
    return Expansion(text, tuple(gate.marks.files), places)


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
