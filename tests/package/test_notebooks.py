"""The notebooks of ``examples/`` run as a user runs them, and each value is one screen of tables and curves."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from places import ROOT

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
#: The values that the cells of the first look end with, in this order.
VALUES = ["Report", "Analysis", "Analysis", "Trajectory", "StopReport", "StoppingTable"]
CURVES = {"Trajectory": 2, "StopReport": 2}
#: Rows and columns of one screen, and bytes that a notebook may carry for it.
ROWS, COLUMNS, BYTES = 12, 10, 100_000


def executed(path: Path) -> list[Any]:
    """Return the code cells of a notebook after its run; a cell that raises ends it."""
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(path.parent)}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=where).execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(cell: Any) -> dict[str, Any]:
    """Return what the last line of a cell shows, by type."""
    return next((out.data for out in cell.outputs if out.output_type == "execute_result"), {})


def check_one_screen(name: str, data: dict[str, Any]) -> None:
    assert data["text/plain"].startswith(f"<{name} ") and len(data["text/plain"]) <= 200
    assert len(data["text/html"].encode()) <= BYTES, name
    screen = html.fragment_fromstring(data["text/html"])
    assert screen.xpath("string(.//strong)") == name
    assert 1 <= len(screen.xpath(".//table//tbody/tr")) <= ROWS
    assert len(screen.xpath(".//table//thead//th")) <= COLUMNS
    assert len(screen.xpath(".//figure[.//polyline]")) == CURVES.get(name, 0)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_is_stored_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert path.stat().st_size < 20_000
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code and not any(cell.outputs or cell.execution_count for cell in code)
    # a text between two cells
    kinds = [cell.cell_type for cell in notebook.cells]
    assert ("code", "code") not in set(pairwise(kinds))


def test_the_fix_of_the_first_look_fits_a_robot_without_redundancy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever puts in a robot of his own has no remedies, mostly."""
    monkeypatch.chdir(ROOT / "examples")
    notebook = nbformat.read("16_first_look.ipynb", as_version=4)
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    values: dict[str, Any] = {}
    for source in code[: code.index(next(text for text in code if "fixed =" in text)) + 1]:
        exec(source.replace("four_bar", "arm_6r"), values)
    assert values["fixed"].analysis.degree_of_redundancy == 0


@pytest.mark.bullet
@pytest.mark.long
def test_the_first_look_shows_its_values() -> None:
    cells = executed(ROOT / "examples" / "16_first_look.ipynb")
    values = [data for cell in cells if "text/html" in (data := shown(cell))]
    assert len(values) == len(VALUES)
    for name, data in zip(VALUES, values, strict=True):
        check_one_screen(name, data)
    assert shown(cells[-1])["image/png"]
    # nothing is complained about
    assert not [out for cell in cells for out in cell.outputs if out.get("name") == "stderr"]
