"""``docs/benchmarks.md`` is what ``examples/benchmarks`` solves, and answers are as near their references as told."""

from __future__ import annotations

import ast
import importlib
import re
from types import ModuleType

import numpy as np
import pytest

from places import ROOT

FOLDER = ROOT / "examples" / "benchmarks"
PAGE = ROOT / "docs" / "benchmarks.md"
HELPERS = {"all", "by_hand", "draw", "harness"}
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in HELPERS)
#: Below this an error is rounding, and differs from machine to machine.
ROUNDING = 1e-11


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("all")


def cells_of(name: str) -> list[str]:
    """Return the row of a problem on the page."""
    (row,) = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if f": `{name}.py` |" in line]
    return row.split(" | ")


def imported(name: str) -> set[str]:
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return names | {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


def test_every_script_has_a_row_and_every_row_a_script(table: ModuleType) -> None:
    assert sorted(table.NAMES) == SCRIPTS
    assert len(SCRIPTS) >= 15
    on_page = re.findall(r"^\| [^|]*: `(\w+)\.py` \|", PAGE.read_text("utf-8").split("##")[0], re.M)
    assert on_page == list(table.NAMES)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_short_and_of_the_public_functions(name: str) -> None:
    assert (FOLDER / f"{name}.py").read_text(encoding="utf-8").count("\n") < 40
    assert imported(name) <= {"mbplugin", "numpy", "by_hand", "harness"}


def test_references_share_nothing_with_the_package() -> None:
    assert not any(module.startswith("mbplugin") for module in imported("by_hand"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_page_says_of_a_problem_what_the_script_says(name: str, table: ModuleType) -> None:
    problem, _ = table.load(name)
    shown = cells_of(name)
    expected = table.row(name, problem, 1.0, 1.0).split(" | ")
    assert [re.sub(r"\*\*.*\*\*", "", cell) for cell in shown[:5]] == [
        re.sub(r"\*\*.*\*\*", "", cell) for cell in expected[:5]
    ]
    assert shown[6] == expected[6]


def test_at_least_ten_rows_have_numbers_that_others_published(table: ModuleType) -> None:
    published = [name for name in SCRIPTS if "published" in table.load(name)[0].reference]
    assert len(published) >= 10
    (said,) = re.findall(r"^(\w+) rows have numbers that others published", PAGE.read_text("utf-8"), re.M)
    assert said == {10: "Ten", 11: "Eleven", 12: "Twelve"}[len(published)]


def test_every_error_above_its_tolerance_is_explained(table: ModuleType) -> None:
    (explained,) = re.findall(
        r"^## Errors above the tolerance$(.*?)^## ", PAGE.read_text("utf-8"), re.M | re.S
    )
    for name in SCRIPTS:
        tolerance = table.load(name)[0].tolerance
        error = float(re.findall(r"\*\*(.*)\*\*", cells_of(name)[3])[0])
        above = tolerance != "—" and error > float(tolerance)
        assert (f"`{name}.py`" in explained) == above, (name, error, tolerance)


@pytest.mark.long
@pytest.mark.parametrize("name", SCRIPTS)
def test_an_answer_is_as_near_its_reference_as_the_page_says(name: str, table: ModuleType) -> None:
    problem, solve = table.load(name)
    error, _ = solve()
    assert np.isfinite(error)
    assert error <= problem.allowed
    shown = float(re.findall(r"\*\*(.*)\*\*", cells_of(name)[3])[0])
    assert max(error, shown) < ROUNDING or abs(np.log10(error / shown)) <= 1
