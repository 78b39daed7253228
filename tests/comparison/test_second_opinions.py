"""A seeded part of the second opinions of ``make second-opinion``, and their kept table."""

from __future__ import annotations

import re

import pytest

import second_opinions
from places import ROOT
from second_opinions import Opinion, installed, opinions, table

#: Largest deviation of a quantity: rounding, first-order steps, or single precision in USD.
ALLOWED = {
    "accelerations of trees": 1e-9,
    "accelerations of loops": 1e-7,
    "positions of loops, m": 1e-9,
    "travel of stops of coupled arms, rad": 1e-4,
    "rest time of these stops, s": 2e-3,
    "mjcf written and read": 1e-9,
    "sdf written and read": 1e-9,
    "urdf written and read": 1e-9,
    "usd written and read": 1e-6,
    "scene written and read": 1e-9,
}
#: Exudyn differentiates its constraints numerically.
BY_DIFFERENCES = {("accelerations of loops", "exudyn"): 1e-5}
PAGE = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")


def allowed(quantity: str, program: str) -> float:
    """Return the largest deviation that is no disagreement."""
    return BY_DIFFERENCES.get((quantity, program), ALLOWED[quantity])


@pytest.mark.long
def test_other_programs_agree_with_some_random_mechanisms() -> None:
    if not installed():
        pytest.skip("neither pinocchio, mujoco nor exudyn is installed")
    rows = opinions(trees=6, loops=4, stops=2, copies=6)
    assert {row.quantity for row in rows} >= {
        "accelerations of trees",
        "travel of stops of coupled arms, rad",
    }
    for row in rows:
        assert row.worst <= allowed(row.quantity, row.program), row


@pytest.mark.long
def test_a_wrong_mass_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other program must not be given our own answer."""
    pytest.importorskip("pinocchio")
    right = second_opinions.accelerations

    def wrong(*state: object) -> object:
        q, qd, qdd = right(*state)  # type: ignore[arg-type]
        return q, qd, qdd * (1 + 1e-6)

    monkeypatch.setattr(second_opinions, "accelerations", wrong)
    rows = opinions(trees=2, loops=2, stops=0, copies=0)
    assert min(row.worst for row in rows if row.quantity.startswith("accelerations")) > 1e-7


def test_the_worst_case_is_kept_with_its_seed_also_if_it_is_not_a_number() -> None:
    row = Opinion("q", "p")
    for seed, value in enumerate((1e-9, 3e-8, 2e-8)):
        row.add(seed, value)
    assert (row.count, row.worst, row.seed) == (3, 3e-8, 1)
    row.add(7, float("nan"))
    assert row.seed == 7
    assert table([Opinion("q", "p", 2, 1.5e-9, 4)])[-1] == "| q | p | 2 | 1.5e-09 | 4 |"


def test_a_program_that_is_missing_has_a_row() -> None:
    lines = table([Opinion("q", "p", 2, 1.5e-9, 4)], ["exudyn"])
    assert lines[-1] == "| trees and loops | exudyn | 0 | not installed | |"


def test_the_kept_table_has_a_date_and_keeps_what_is_allowed() -> None:
    section = PAGE[PAGE.index("## Second opinions") :]
    assert re.search(r"\b20\d\d-\d\d-\d\d\b", section)
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| (\d+) \| ([^|]+) \| \d+ \|$", section, re.MULTILINE)
    assert {row[0] for row in rows} == set(ALLOWED)
    for quantity, program, count, worst in rows:
        assert int(count) >= 10 and float(worst) <= allowed(quantity, program)
    assert {row[1] for row in rows if row[0].startswith("accelerations")} == set(second_opinions.PROGRAMS)
