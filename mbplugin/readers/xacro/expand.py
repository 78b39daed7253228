"""The xacro package in a separate process, without access to the system.

It runs the file's macros, and nothing else: expressions are computed by
:mod:`mbplugin.readers.xacro.value`, files are opened only in the packages, of the environment only ROS's
variables are read. A text that is put together while the macros run passes the same gate as one that stands
in the file.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from math import pi
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.dom import minidom

from mbplugin.errors import BrokenModel, MissingDependency
from mbplugin.model.scene import Request
from mbplugin.readers.common.paths import is_file, read_text
from mbplugin.readers.common.xml import parse_xml, refuse_entities, where
from mbplugin.readers.xacro.check import check_text, check_variable, refused
from mbplugin.readers.xacro.expression import Refused
from mbplugin.readers.xacro.failures import MissingPackage, error_of
from mbplugin.readers.xacro.packages import Packages
from mbplugin.readers.xacro.places import Expansion, Marks
from mbplugin.readers.xacro.value import value_of

#: Characters of what a file may become.
_LONGEST = 50_000_000
#: Times that a file may be open at once: one that includes itself again and again is never expanded.
_DEEPEST = 20
#: What is replaced in the package; a version without it cannot be held.
_NEEDED = ("safe_eval", "parse", "process_file", "_global_symbols", "filestack", "substitution_args")


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
        self.xacro.substitution_args._eval_find = self.find
        own = self.xacro._global_symbols
        self.xacro.safe_eval = lambda text, symbols, local=None: value_of(text, symbols, own)
        self.xacro.parse = lambda text, name="": self.parse(text, name, self.checked)
        # the only other function of the package that opens a file is load_yaml
        self.xacro.open = self.open_yaml
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

    def open_yaml(self, name: str) -> io.StringIO:
        """Return the text of a file of values."""
        if Path(name).suffix.lower() not in (".yaml", ".yml"):
            if self.packages.may_read(Path(name)) and Path(name).is_dir():
                raise IsADirectoryError(21, "Is a directory", name)
            raise Refused(f"{name!r}, which is no .yaml file,")
        return io.StringIO(self.read(str(self.packages.installed(Path(name)))))

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
