"""The table of stopping distances beside published ones in the guide is what the example computes."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from command_line import ROOT

PAGE = ROOT / "docs" / "estop.md"
(EXAMPLE,) = (ROOT / "examples").glob("*_stopping_distances_beside_published_ones.py")
ROW = re.compile(r"^\| (UR\d) \| (\d) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLE))


def rows(robot: str) -> list[tuple[str, str]]:
    """Published and computed cells of joints 1, 2, 3."""
    found = ROW.findall(Path(PAGE).read_text(encoding="utf-8"))
    return [(published, computed) for name, _, published, computed in found if name.lower() == robot]


@pytest.mark.parametrize("robot", ["ur5", "ur3"])
def test_the_published_column_is_that_of_the_example(robot: str, example: dict[str, Any]) -> None:
    stated = [f"{angle:.2f} rad, {1e3 * time:.0f} ms" for angle, time in example["PUBLISHED"][robot][0]]
    assert [published for published, _ in rows(robot)] == stated


@pytest.mark.robots
@pytest.mark.parametrize("robot", ["ur5", "ur3"])
def test_the_computed_column_is_recomputed(robot: str, example: dict[str, Any]) -> None:
    first, *others = [computed for _, computed in rows(robot)]
    assert first.endswith(" (fitted)")
    assert [first.removesuffix(" (fitted)"), *others] == example["computed"](robot)


@pytest.mark.parametrize(("inertia", "angle", "time"), [(5.0, 0.31, 0.244), (2.0, 0.18, 0.159)])
def test_the_fit_is_exact(inertia: float, angle: float, time: float, example: dict[str, Any]) -> None:
    """I ω̇ = −τ − c ω, stepped by hand, stops there and then."""
    dry, viscous = example["fitted"](inertia, angle, time)
    speed, travel, h = example["SPEED"], example["SPEED"] * example["DELAY"], 1e-6
    t = example["DELAY"]
    while speed > 0:
        middle = speed - 0.5 * h * (dry + viscous * speed) / inertia
        travel, speed, t = travel + h * middle, speed - h * (dry + viscous * middle) / inertia, t + h
    assert (travel, t) == pytest.approx((angle, time), abs=3e-6)
