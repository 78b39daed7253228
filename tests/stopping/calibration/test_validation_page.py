"""``docs/validation.md`` begins with what the example computes from the published tables."""

from __future__ import annotations

import runpy
from typing import Any

import pytest

from places import ROOT

PAGE = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
(EXAMPLE,) = (ROOT / "examples").glob("13_*.py")


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLE))


def test_the_section_of_the_ramps_is_recomputed(example: dict[str, Any]) -> None:
    section = "\n".join(example["ramps"]())
    assert section in PAGE
    assert section.count(" ms, ") == 2 * 81 and section.count("\\* |") == 27
    assert section.count("more than 10 %") == 3


@pytest.mark.robots
def test_the_page_is_recomputed(example: dict[str, Any]) -> None:
    assert PAGE.startswith(example["page"]())


def test_every_published_row_is_on_the_page(example: dict[str, Any]) -> None:
    for name, cells in (("ur5", 3), ("ur3", 3), ("kr20_r3100", 3)):
        rows = list(example["published"](name).values())[2:]
        assert len(rows) == cells
        for row in rows:
            assert f"| {row[5]} ms, {row[6]}{'°' if name.startswith('kr') else ' rad'} |" in PAGE
