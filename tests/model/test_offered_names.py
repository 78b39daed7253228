"""The names that the model room offers are those of the modules that it states for type checkers."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

from mbplugin import model

OFFERED = {
    name.name: str(node.module)
    for node in ast.walk(ast.parse(Path(model.__file__).read_text()))
    if isinstance(node, ast.ImportFrom) and str(node.module).startswith("mbplugin.")
    for name in node.names
}


def test_an_offered_name_is_that_of_its_module() -> None:
    assert len(OFFERED) > 100
    for name, module in OFFERED.items():
        assert getattr(model, name) is getattr(import_module(module), name), name


@pytest.mark.parametrize("name", ["no_name", "_Pose", "__wrapped__"])
def test_an_unknown_name_is_an_attribute_error(name: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'mbplugin.model' has no attribute '{name}'"):
        getattr(model, name)
