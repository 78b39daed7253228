"""The walls of the package: no circle of imports, and no room imports one above it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_line import ROOT
from mbplugin.api import PUBLIC
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


#: Files of users, the group of entry points for rules, and an attribute in an example.
NOT_OURS = {"mbplugin.toml", "model.config", "mbplugin.rules", "analysis.rank"}
#: A place in quotation marks of code: names with dots, or a file.
DOTTED = re.compile(r"`~?(?P<dotted>[a-z_]+(?:\.\w+)+)`")
FILE = re.compile(r"`(?:mbplugin/)?(?P<file>[a-z_]+(?:/\w+)+\.py)`")


def names_in(module: str) -> set[str]:
    """Return the names at the top of a module: what it defines and what it imports."""
    found: set[str] = set()
    for node in ast.parse(MODULES[module].read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in node.names}
        else:
            found |= {
                one.id
                for one in ast.walk(node)
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
            }
    return found


def is_place(dotted: str) -> bool:
    """Return True if names with dots are a module, or begin with one and lead to a name in it."""
    parts = f"mbplugin.{dotted.removeprefix('mbplugin.')}".split(".")
    if parts[-1] in PUBLIC and len(parts) == 2:
        return True
    n = next(n for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in MODULES)
    return n == len(parts) or parts[n] in names_in(".".join(parts[:n]))


def is_file(path: str) -> bool:
    """Return True if a path leads to a file, from the package, the repository, or a folder of the package."""
    return any((folder / path).exists() for folder in (PACKAGE, ROOT, *PACKAGE.iterdir()))


@pytest.mark.parametrize("room", sorted({room_of(module) for module in MODULES} - {""}))
def test_places_that_the_code_names_exist(room: str) -> None:
    texts = [file.read_text(encoding="utf-8") for module, file in MODULES.items() if room_of(module) == room]
    dotted = {one["dotted"] for text in texts for one in DOTTED.finditer(text)} - NOT_OURS
    ours = {one for one in dotted if one.split(".")[0] in {*LEVEL, "mbplugin"}}
    files = {one["file"] for text in texts for one in FILE.finditer(text)}
    assert not [one for one in ours if not is_place(one)] + [one for one in files if not is_file(one)]


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_files_that_the_pages_for_authors_name_exist(page: str) -> None:
    files = {one["file"] for one in FILE.finditer((ROOT / page).read_text(encoding="utf-8"))}
    assert files and not [one for one in files if not is_file(one) and "FORMAT" not in one]


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_name_at_the_top_of_a_module_is_bound_once(module: str) -> None:
    """The second of two constants of one name would change what reads the first; linters do not look at constants."""
    bound = Counter(
        name.id
        for node in ast.parse(MODULES[module].read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for name in ast.walk(target)
        if isinstance(name, ast.Name) and name.id != "_"
    )
    assert not [name for name, times in bound.items() if times > 1]
