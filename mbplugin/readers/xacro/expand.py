"""The xacro package in a separate process, without access to the system.

It runs the file's macros, and nothing else: expressions are computed by
:mod:`mbplugin.readers.xacro.expression`, files are opened only in the packages, and of the environment only
ROS's variables are read. None of the package's functions is a value that a file could name. A text that is
put together while the macros run passes the same gate as one that stands in the file.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from math import pi
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from xml.dom import minidom

from mbplugin.errors import BrokenModel, MissingDependency
from mbplugin.model.scene import Request
from mbplugin.readers.common.paths import is_file, read_text
from mbplugin.readers.common.xml import parse_xml, refuse_entities, where
from mbplugin.readers.xacro.check import check_text, check_variable, refused
from mbplugin.readers.xacro.expression import Refused, value_of
from mbplugin.readers.xacro.failures import MissingPackage, error_of
from mbplugin.readers.xacro.functions import CONSTANTS, Data, Function, require_data
from mbplugin.readers.xacro.packages import Packages
from mbplugin.readers.xacro.places import Expansion, Marks

#: Characters of what a file may become.
_LONGEST = 50_000_000
#: Times that a file may be open at once: one that includes itself again and again is never expanded.
_DEEPEST = 20
#: What is replaced in the package; a version without it cannot be held.
_NEEDED = (
    *("safe_eval", "parse", "process_file", "_global_symbols", "filestack", "substitution_args"),
    *("NameSpace", "glob", "root_dir", "substitution_args_context", "all_includes"),
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


def expand(request: Request, variables: frozenset[str]) -> Expansion:
    """Return what a xacro file becomes; arguments that the request does not state have their defaults.

    Parameters
    ----------
    request : Request
    variables : frozenset of str
        The names of the environment variables that are set for the user.

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
    gate = _Gate(xacro, Packages(request), variables)
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


@dataclass(eq=False)
class _Gate:
    """What stands between the xacro package and the system.

    Parameters
    ----------
    xacro : module
    packages : Packages
    variables : frozenset of str
    marks : Marks
    """

    xacro: Any
    packages: Packages
    variables: frozenset[str]
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
        xacro.glob = SimpleNamespace(glob=self.glob)
        # the folder that $(cwd) stands for is the model's, wherever the command was started
        xacro.root_dir = str(self.packages.folder)
        arguments = self.xacro.substitution_args
        arguments._eval = self.eval
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
        if found := self.packages.find(name):
            return str(found)
        raise MissingPackage(name)

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
        name = str(self.packages.installed(Path(name)))
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
        text = self.read(name)
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

        path = self.packages.installed(Path(self.abs_filename(name)))
        if path.suffix.lower() not in (".yaml", ".yml"):
            if self.packages.may_read(path) and path.is_dir():
                raise IsADirectoryError(21, "Is a directory", str(path))
            raise Refused(f"{name!r}, which is no .yaml file,")

        class Loader(yaml.SafeLoader):
            """The loader of plain data, with the units of xacro."""

        def number(loader: Any, node: Any) -> float:
            text = str(loader.construct_scalar(node))
            return float(value_of(text, CONSTANTS)) * _UNITS[node.tag]

        # a date has no meaning for a robot; its text is what xacro would print
        constructors: dict[str, Any] = {"tag:yaml.org,2002:timestamp": Loader.construct_yaml_str}
        for tag, constructor in {**constructors, **dict.fromkeys(_UNITS, number)}.items():
            Loader.add_constructor(tag, constructor)
        text = self.read(str(path))
        self.xacro.all_includes.append(str(path))
        return require_data(yaml.load(text, Loader))

    def glob(self, pattern: str) -> list[str]:
        """Return the files that an include with wildcards names, of those that may be read."""
        folder = Path(re.split(r"[*?[]", pattern, maxsplit=1)[0] + "x").parent
        if not self.packages.may_read(folder) or ".." in Path(pattern).parts[len(folder.parts) :]:
            raise Refused(f"{pattern!r}, which lies outside the packages,")
        return [name for name in glob.glob(pattern) if self.packages.may_read(Path(name))]  # noqa: PTH207

    def read(self, name: str) -> str:
        """Return the text of a file that may be read."""
        path = Path(name)
        if not self.packages.may_read(path):
            raise Refused(f"{name!r}, which lies outside the packages,")
        if not path.exists():
            raise FileNotFoundError(2, "No such file or directory", name)
        if not path.is_file():
            raise Refused(f"{name!r}, which is no file,")
        return read_text(path)

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
                found = self.packages.find(package.strip())
                name = f"{found}{inner}" if found else "$"
            path = self.packages.installed(Path(file).parent / name)
            if not set("$*?[") & set(name) and is_file(path):
                self.check_known_includes(str(path), where(element), seen)
