"""The walls of the package: no circle of imports, and no room imports one above it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_line import ROOT
from rooms import ORDER

PACKAGE = ROOT / "mbplugin"
#: A value whose methods call what computes on it, and that what computes on it takes.
FACADE = "mbplugin.simulation.trajectory.trajectory"
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}


def name_of(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(file): file for file in PACKAGE.rglob("*.py")}


def type_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports(node: ast.AST, typing: bool) -> Iterator[str]:
    """Yield the modules of the package that a piece of code imports, in functions too, and for typing if asked."""
    for child in ast.iter_child_nodes(node):
        if type_only(child) and not typing:
            continue
        if isinstance(child, ast.ImportFrom) and (child.module or "").partition(".")[0] == "mbplugin":
            for alias in child.names:
                whole = f"{child.module}.{alias.name}"
                yield whole if whole in MODULES else str(child.module)
        elif isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names if alias.name in MODULES)
        else:
            yield from imports(child, typing)


def imported(module: str, *, typing: bool = False) -> set[str]:
    return set(imports(ast.parse(MODULES[module].read_text(encoding="utf-8")), typing)) - {module}


def room_of(module: str) -> str:
    return [*module.split("."), ""][1]


def test_each_room_has_its_place() -> None:
    assert {room_of(module) for module in MODULES} == set(LEVEL)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_nothing_is_imported_from_above(module: str) -> None:
    above = {m for m in imported(module) if LEVEL[room_of(m)] > LEVEL[room_of(module)]}
    assert not above


def test_there_is_no_circle() -> None:
    graph = {module: imported(module, typing=True) for module in MODULES}
    graph[FACADE] = set()
    while free := {module for module, needs in graph.items() if not needs & graph.keys()}:
        graph = {module: needs for module, needs in graph.items() if module not in free}
    assert not graph


def test_no_package_is_called_like_a_public_function() -> None:
    import mbplugin

    packages = {folder.name for folder in PACKAGE.iterdir() if folder.is_dir()}
    assert not packages & set(mbplugin.__all__)


def test_no_module_hides_a_function_of_its_package() -> None:
    """Once ``gui.replay`` is imported, it is the module, whatever the package defines under this name."""
    hidden = {
        f"{name}.{node.name}"
        for name, file in MODULES.items()
        if file.name == "__init__.py"
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and f"{name}.{node.name}" in MODULES
    }
    assert not hidden


def test_no_test_imports_another() -> None:
    tests = {file.stem: file for file in (ROOT / "tests").rglob("test_*.py")}
    for file in tests.values():
        nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        names = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
        assert not names & tests.keys(), file
