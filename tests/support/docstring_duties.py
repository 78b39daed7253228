"""What docstrings owe their readers: a shape for every array, and what a function itself raises."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mbplugin import errors

ARRAY = re.compile(r"(?:Any)?Array(?: \| None)?")
#: ``(n,)``, ``(m, n)``, ``(..., 3)``
SHAPE = r"\([^()]*,[^()]*\)"
HEAD = re.compile(r"^ *(?P<names>[\w*]+(?:, [\w*]+)*) : (?P<type>.*)$", re.MULTILINE)
NAME = r"`{0,2}\w+`{0,2}"
#: ``q, qd and x (nv,)``, or a shape for each of them
SEVERAL = re.compile(rf"((?:{NAME}, )*{NAME} and {NAME}) ({SHAPE}(?:(?:, | and ){SHAPE})*)")
AS_FOR = re.compile(r"as (?:for|in|of)\s+:(?:func|meth):`~?([\w.]+)`")
#: Methods that a caller writes without their names.
MADE, CALLED = ("__init__", "__new__"), ("__call__",)


@dataclass(frozen=True)
class Function:
    """A function or method of a module.

    Parameters
    ----------
    module, name : str
        The name with that of its class.
    node : ast.FunctionDef
    own : str
        Its docstring; that of the class where it makes one.
    around : str
        The docstrings of class and module, whose conventions hold for it.
    """

    module: str
    name: str
    node: ast.FunctionDef
    own: str
    around: str


@cache
def parsed(file: Path) -> ast.Module:
    """Return the syntax tree of a file, which several tests look at."""
    return ast.parse(file.read_text(encoding="utf-8"))


def functions(file: Path, *, private: bool = False) -> Iterator[Function]:
    """Yield the public functions of a module, and the public methods of its public classes.

    With ``private`` all functions and methods but those inside others.
    """
    module = parsed(file)
    about = ast.get_docstring(module) or ""
    parts = file.with_suffix("").parts
    name = ".".join(parts[len(parts) - 1 - parts[::-1].index("mbplugin") :])
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and (private or not node.name.startswith("_")):
            yield Function(name, node.name, node, ast.get_docstring(node) or "", about)
        elif isinstance(node, ast.ClassDef) and (private or not node.name.startswith("_")):
            of_class = ast.get_docstring(node) or ""
            for inner in node.body:
                if not isinstance(inner, ast.FunctionDef):
                    continue
                if private or inner.name in MADE + CALLED or not inner.name.startswith("_"):
                    own = f"{of_class if inner.name in MADE else ''}\n{ast.get_docstring(inner) or ''}"
                    yield Function(name, f"{node.name}.{inner.name}", inner, own, f"{of_class}\n{about}")


def array_parameters(node: ast.FunctionDef) -> list[str]:
    """Return the parameters that are arrays."""
    every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return [x.arg for x in every if x.annotation and ARRAY.fullmatch(ast.unparse(x.annotation))]


@cache
def shaped(text: str) -> frozenset[str]:
    """Return the names to which a docstring gives a shape, in a section or in a sentence."""
    found: set[str] = set()
    for head in HEAD.finditer(text):
        names = [name.strip("*") for name in head["names"].split(", ")]
        if len(re.findall(SHAPE, head["type"])) in (1, len(names)):
            found |= set(names)
    found |= set(re.findall(rf"(\w+)`{{0,2}} {SHAPE}", text))
    for names, shapes in SEVERAL.findall(text):
        every = re.findall(r"\w+", names.replace(" and ", ", "))
        if len(re.findall(SHAPE, shapes)) in (1, len(every)):
            found |= set(every)
    return frozenset(found)


def without_shape(function: Function, others: Mapping[str, str]) -> list[str]:
    """Return the arrays of a function that have no shape; ``others`` are docstrings by full name."""
    arrays = array_parameters(function.node)
    returned = function.node.returns
    returns_array = returned is not None and ARRAY.fullmatch(ast.unparse(returned))
    if not arrays and not returns_array:
        return []
    named = shaped(function.own) | shaped(function.around)
    for reference in AS_FOR.findall(function.own):
        whole = reference if "." in reference else f"{function.module}.{reference}"
        named |= shaped(others.get(whole, ""))
    missing = [name for name in arrays if name not in named]
    before_sections = re.split(r"\n *(?:Parameters|Raises)\n *-", function.own)[0]
    if returns_array and not re.search(SHAPE, before_sections):
        missing.append("the returned array")
    return missing


def raised(node: ast.AST) -> Iterator[str]:
    """Yield the exception classes that a function itself raises."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(child, ast.Raise) and child.exc is not None:
            value = child.exc.func if isinstance(child.exc, ast.Call) else child.exc
            name = value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")
            if name[:1].isupper():
                yield name
        yield from raised(child)


def without_raises(function: Function) -> list[str]:
    """Return what a function itself raises and its section ``Raises`` does not name."""
    found = re.search(r"^Raises\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", function.own, re.DOTALL | re.MULTILINE)
    section = found[1] if found else ""
    return [
        name
        for name in sorted(set(raised(function.node)))
        if not any(re.search(rf"\b{one}\b", section) for one in _names_of(name))
    ]


def _names_of(name: str) -> set[str]:
    """Return the name of an exception class and those of its bases that say something."""
    known = getattr(errors, name, None) or getattr(builtins, name, None)
    lineage = {one.__name__ for one in known.__mro__} if known else {name}
    return lineage - {"object", "BaseException", "Exception"}
