"""The equilibrium of a mechanism and its natural modes as text."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.model.mechanism.kinematics import coordinate_units
from mbplugin.model.mechanism.mechanism import base_sentence
from mbplugin.phrases import Assumption, counted, listed
from mbplugin.report.text import (
    PLAIN_WIDTH,
    Line,
    first_lines,
    note_lines,
    sentences_under,
    table_lines,
    wrapped,
)

if TYPE_CHECKING:
    from mbplugin.simulation.equilibrium import Equilibrium
    from mbplugin.simulation.linearization import Linearization, Mode

#: Number of joints in the shape of a mode, and of coordinates in a list.
_JOINTS, _COORDINATES = 4, 12
#: A joint takes part in a mode with at least this fraction of its largest rate.
_TAKES_PART = 0.05
_MEANING = {
    "stable": "a small push dies out or swings",
    "unstable": "a small push grows",
    "neutral": "some freedom has no stiffness: it stays where it is put",
}


def modes_lines(found: Linearization, width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the equilibrium, and its modes by rising frequency with the joints that take part."""
    yield from equilibrium_lines(found.equilibrium, width)
    if not found.modes:
        return
    rows = [(str(n), _cells(mode)) for n, mode in enumerate(found.modes, 1)]
    yield from table_lines("mode", ("f [Hz]", "damping", "grows by e [s]"), rows, width)
    names = found.mechanism.qd_names
    shapes = [f"mode {n}: {_shape(mode, names)}" for n, mode in enumerate(found.modes, 1)]
    yield from sentences_under("Shapes (joint rates relative to the largest)", shapes, width)


def equilibrium_lines(found: Equilibrium, width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the kind of equilibrium, its assumptions, and the pose."""
    freedoms = counted(len(found.coordinates), "freedom")
    held = f", held: {listed(found.held, _JOINTS)}" if found.held else ""
    meaning = _MEANING[found.stability] if found.coordinates else "nothing can move"
    title = f"{found.mechanism.name}: {found.stability.upper()} equilibrium with {freedoms}{held}: {meaning}"
    headline = [Line(text, "bold") for text in wrapped(title, width, "", "  ")]
    assumed = [note for note in found.notes if isinstance(note, Assumption)]
    warnings = [*base_sentence(found.mechanism.assumed_fixed), *assumed]
    yield from first_lines(headline, warnings, width, warnings_first=True)
    units = [unit if unit != "1" else "" for unit in coordinate_units(found.mechanism)]
    moved = np.abs(found.q - found.start)
    rows = [
        (name, (f"{q:.9g}", unit, f"{way:.3g}"))
        for name, q, unit, way in zip(found.mechanism.q_names, found.q, units, moved, strict=True)
    ]
    yield from table_lines("at rest", ("q", "unit", "moved"), rows[:_COORDINATES], width)
    if len(rows) > _COORDINATES:
        yield Line(f"  … {len(rows) - _COORDINATES} more in --output-format json")
    yield from note_lines([note for note in found.notes if not isinstance(note, Assumption)], width)


def _cells(mode: Mode) -> tuple[str, str, str]:
    frequency = (
        "unstable" if mode.stiffness < 0 else f"{mode.frequency:.6g}" if mode.stiffness > 0 else "neutral"
    )
    damping = f"{mode.damping_ratio:.3g}" if isfinite(mode.damping_ratio) else ""
    growth = f"{mode.growth_time:.4g}" if isfinite(mode.growth_time) else ""
    return frequency, damping, growth


def _shape(mode: Mode, names: tuple[str, ...]) -> str:
    order = np.argsort(-np.abs(mode.shape), kind="stable")
    parts = [f"{names[i]} {mode.shape[i]:+.2g}" for i in order if abs(mode.shape[i]) >= _TAKES_PART]
    more = f" and {len(parts) - _JOINTS} more" if len(parts) > _JOINTS else ""
    return ", ".join(parts[:_JOINTS]) + more
