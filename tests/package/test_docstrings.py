"""Docstrings name the parameters that there are: numpydoc sections against signatures and fields."""

from __future__ import annotations

import ast
import re

import pytest

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


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT / "mbplugin")))
def test_documented_parameters_exist(file) -> None:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and (names := available(node)):
            unknown = documented(ast.get_docstring(node) or "") - names
            assert not unknown, f"{node.name} documents {sorted(unknown)}"


def test_a_parameter_that_is_gone_is_seen() -> None:
    text = "Do it.\n\nParameters\n----------\nold, q : (n,) array\n    rad.\n\nRaises\n------\nBadUsage\n"
    assert documented(text) == {"old", "q"}
