"""What a result looks like in an interpreter: one line that says what one wants to know first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import mbplugin as mb
from places import ROOT

FOUR_BAR, ARM = ROOT / "assets" / "four_bar.scene.toml", ROOT / "assets" / "arm_6r.scene.toml"
PUBLISHED = ROOT / "examples" / "published_stops"

#: How each value is made, and what its line must say.
VALUES: dict[str, tuple[Callable[[], object], tuple[str, ...]]] = {
    "Scene": (lambda: mb.load(FOUR_BAR), ("four_bar", "4 bodies", "5 pairs")),
    "Mechanism": (lambda: mb.load(FOUR_BAR).mechanism, ("four_bar", "4 bodies", "0 couplings")),
    "Report": (lambda: mb.lint(ROOT / "tests/cases/err/mb128.urdf"), ("mb128.urdf", "0 errors")),
    "Finding": (
        lambda: mb.lint(ROOT / "tests/cases/err/mb128.urdf").findings[0],
        ("MB128", "note", "urdf:26"),
    ),
    "Analysis": (
        lambda: mb.analyze(mb.load(FOUR_BAR)),
        ("3 redundant constraints", "mobility 1", "tolerance 0.0001"),
    ),
    "ConstraintMatrix": (lambda: mb.constraint_matrix(mb.load(FOUR_BAR)), ("26 × 24", "26 holonomic rows")),
    "Reactions": (lambda: mb.reactions(mb.load(FOUR_BAR)), ("statics", "3 redundant constraints")),
    "Trajectory": (lambda: mb.simulate(mb.load(FOUR_BAR), 0.01), ("0.01 s", "3 samples", "completed")),
    "StopReport": (
        lambda: mb.estop(mb.load(ARM), qd={"j1": 0.5}),
        ("category 0", "stopped", "assumed values"),
    ),
    "Calibration": (
        lambda: mb.calibrate(
            mb.load(PUBLISHED / "tm5_700.urdf", base="fixed"),
            PUBLISHED / "tm5_700.csv",
            hold_out="speed=100%",
        ),
        ("tm5-700", "3 fits", "81 rows, 27 of them predicted"),
    ),
    "StoppingTable": (lambda: mb.stopping_table(mb.load(ARM), axes=["j1"], categories=[0]), ("1 row", "j1")),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_is_one_line(name: str) -> None:
    make, said = VALUES[name]
    line = repr(make())
    assert line.startswith(f"<{name} ") and line.endswith(">")
    assert len(line) <= 200 and "\n" not in line
    assert [part for part in said if part not in line] == []


def test_long_names_leave_room_for_the_facts() -> None:
    mechanism = replace(mb.load(FOUR_BAR).mechanism, name="long\nname " * 1000)
    line = repr(mechanism)
    assert len(line) <= 200 and "\n" not in line and line.endswith("0 couplings>")
