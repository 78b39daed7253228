"""Docstrings against the code: parameters that there are, shapes of arrays, exceptions that are raised."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from docstring_duties import Function, functions, parsed, shaped, without_raises, without_shape
from mbplugin.cli.help import COMMANDS
from places import ROOT

FILES = sorted((ROOT / "mbplugin").rglob("*.py"))
SECTION = re.compile(r"^( *)Parameters\n\1-+\n(.*?)(?=^\1\S[^\n]*\n\1-+\n|\Z)", re.DOTALL | re.MULTILINE)


def documented(text: str) -> set[str]:
    """Return the names of a ``Parameters`` section."""
    found = SECTION.search(text)
    if not found:
        return set()
    indent = len(found.group(1))
    heads = [
        line
        for line in found.group(2).splitlines()
        if line.strip() and line[:indent].isspace() | (not indent)
    ]
    heads = [line[indent:] for line in heads if not line[indent].isspace()]
    names = {name.strip().lstrip("*") for head in heads for name in head.partition(" : ")[0].split(",")}
    return {name for name in names if name.isidentifier()}


def arguments(function: ast.FunctionDef) -> set[str]:
    a = function.args
    return {x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if x}


def available(node: ast.FunctionDef | ast.ClassDef) -> set[str]:
    if isinstance(node, ast.FunctionDef):
        return arguments(node)
    fields = {
        f.target.id for f in node.body if isinstance(f, ast.AnnAssign) and isinstance(f.target, ast.Name)
    }
    makers = [f for f in node.body if isinstance(f, ast.FunctionDef) and f.name in ("__init__", "__new__")]
    return fields.union(*map(arguments, makers))


def room_of(file: Path) -> str:
    """Return the folder of a file below the package; "" at its top."""
    return file.relative_to(ROOT / "mbplugin").parts[0] if file.parent.name != "mbplugin" else ""


ROOMS = sorted({room_of(file) for file in FILES})


@pytest.mark.long_after(13)
@pytest.mark.parametrize("room", ROOMS)
def test_documented_parameters_exist(room: str) -> None:
    unknown = {}
    for file in FILES:
        for node in ast.walk(parsed(file)) if room_of(file) == room else ():
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and (names := available(node)):
                unknown[f"{file}: {node.name}"] = documented(ast.get_docstring(node) or "") - names
    assert unknown and not {name: gone for name, gone in unknown.items() if gone}


def test_a_parameter_that_is_gone_is_seen() -> None:
    text = "Do it.\n\nParameters\n----------\nold, q : (n,) array\n    rad.\n\nRaises\n------\nBadUsage\n"
    assert documented(text) == {"old", "q"}


FUNCTIONS = {file: tuple(functions(file)) for file in FILES}
DOCSTRINGS = {f"{one.module}.{one.name}": one.own for every in FUNCTIONS.values() for one in every}


def is_command(file: Path) -> bool:
    """Return whether the docstrings of a file are the help of commands."""
    return file.parent.name == "cli" and file.stem in {entry.module for entry in COMMANDS.values()}


@pytest.mark.parametrize("room", ROOMS)
def test_public_functions_give_shapes_and_what_they_raise(room: str) -> None:
    public = [
        one for file in FILES if room_of(file) == room and not is_command(file) for one in FUNCTIONS[file]
    ]
    missing = {
        f"{one.module}.{one.name}": without_shape(one, DOCSTRINGS) + without_raises(one) for one in public
    }
    assert public and not {name: what for name, what in missing.items() if what}


@pytest.mark.parametrize("room", ROOMS)
def test_private_functions_give_shapes(room: str) -> None:
    every = [one for file in FILES if room_of(file) == room for one in functions(file, private=True)]
    assert not [f"{one.module}.{one.name}" for one in every if without_shape(one, DOCSTRINGS)]


def duty(text: str) -> Function:
    (node,) = (one for one in ast.parse(text).body if isinstance(one, ast.FunctionDef))
    return Function("m", node.name, node, ast.get_docstring(node) or "", "")


def test_an_array_without_a_shape_is_seen() -> None:
    head = "def f(q: Array, twists: Array | None = None) -> Array:\n    "
    assert without_shape(duty(head + '"""Return J."""'), {}) == ["q", "twists", "the returned array"]
    assert without_shape(duty(head + '"""Return J (m, n) at q (nq,); arrays as for :func:`g`."""'), {}) == [
        "twists"
    ]
    others = {"m.g": "Do it.\n\nParameters\n----------\nq, twists : (nq,), (N, 6) array\n"}
    assert not without_shape(duty(head + '"""Return J (m, n); arrays as for :func:`g`."""'), others)


def test_shapes_are_read_in_sections_and_sentences() -> None:
    assert shaped("``a`` (n,), b (3, 3) and c d") == {"a", "b"}
    assert shaped("Move a, b and c (n,) to d and e (3,), (4, 4).") == {"a", "b", "c", "d", "e"}
    assert shaped("x, y : (n,), (m,), (k,) array") == set()


def test_what_is_raised_without_a_word_is_seen() -> None:
    body = "\n    if x:\n        raise BadUsage('no')\n    def g():\n        raise KeyError\n"
    section = "Do.\n\n    Raises\n    ------\n    "
    assert without_raises(duty(f'def f(x):\n    """Do."""{body}')) == ["BadUsage"]
    assert not without_raises(
        duty(f'def f(x):\n    """{section}MbPluginError\n        Not so.\n    """{body}')
    )
    assert without_raises(duty(f'def f(x):\n    """{section}KeyError\n        Not so.\n    """{body}'))
