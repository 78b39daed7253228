"""A motion as text: its range, energies, events and largest reactions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.model.component import units_of
from mbplugin.model.mechanism.coordinate_units import coordinate_units
from mbplugin.model.spatial import COMPONENTS
from mbplugin.model.units import SI, Units
from mbplugin.phrases import counted, joined_by_words
from mbplugin.report.rounding import largest_of, shown
from mbplugin.report.text.blocks import (
    MOST,
    event_lines,
    more_lines,
    note_lines,
    sentences_under,
    warning_lines,
)
from mbplugin.report.text.frames import OPEN
from mbplugin.report.text.layout import PLAIN_WIDTH, Line, wrapped
from mbplugin.report.text.table import table_lines
from mbplugin.stopping.scenario.effort_limits import assumed_brakes, brakes_of_effort

if TYPE_CHECKING:
    from mbplugin.simulation.trajectory.trajectory import Trajectory

#: Energies and works of a motion, and their names.
ENERGIES = {
    "kinetic": "kinetic",
    "potential": "potential",
    "dissipated": "dissipated by damping and friction",
    "applied": "work of loads and torques",
    "driven": "work of drivers",
}


def simulate_lines(
    motion: Trajectory, pairs: Sequence[str] = (), width: int = PLAIN_WIDTH, units: Units = SI
) -> Iterator[Line]:
    """Yield the report of one motion, with the reactions of some pairs; coordinates in some units."""
    yield from warning_lines(brakes_of_effort(motion.actions.brakes).warning, width)
    yield from (Line(text, "bold") for text in wrapped(_headline(motion), width, "", "  "))
    yield from _coordinates(motion, width, units)
    yield from _independent(motion, width)
    yield from _energies(motion, width)
    yield from _residuals(motion, width)
    yield from event_lines(motion.events, width, 9)
    if pairs:
        yield from _reactions(motion, pairs, width)
    yield from sentences_under("Assumed", joined_by_words(assumed_brakes(motion.actions.brakes)), width)
    yield from note_lines(motion.notes, width)


def _headline(motion: Trajectory) -> str:
    plane = f" in the {motion.planar} plane" if motion.planar else ""
    redundancy = counted(motion.degree_of_redundancy, "redundant constraint")
    samples = counted(len(motion.time), "sample")
    return (
        f"{motion.mechanism.name}: motion{plane} over {motion.time[-1]:.6g} s,"
        f" {motion.outcome.replace('_', ' ')}; {samples}, {redundancy}"
    )


def _coordinates(motion: Trajectory, width: int, units: Units) -> Iterator[Line]:
    names, sizes = motion.mechanism.q_names, map(units.shown, coordinate_units(motion.mechanism))
    rows = [
        (
            f"{name} [{unit}]" if unit != "1" else name,
            [shown(v, size=size, digits=6) for v in (q[0], q[-1], q.min(), q.max())],
        )
        for name, (size, unit), q in zip(names, sizes, motion.q.T, strict=True)
    ]
    if rows:
        heads = ("start", "end", "smallest", "largest")
        yield from table_lines("coordinate", heads, rows[:MOST], width)
    yield from more_lines(len(rows), MOST)


def _independent(motion: Trajectory, width: int) -> Iterator[Line]:
    if not motion.independent:
        return
    first, *later = motion.independent
    changes = [f"{', '.join(one.names) or 'none'} from {one.time:.6g} s" for one in later]
    own = "; ".join([", ".join(first.names) or "none", *changes[:MOST]])
    yield from (Line(text) for text in wrapped(f"independent: {own}", width, "", "  "))
    yield from more_lines(len(changes), MOST)


def _energies(motion: Trajectory, width: int) -> Iterator[Line]:
    found = {text: getattr(motion, name) for name, text in ENERGIES.items()}
    largest = largest_of(np.abs(values).max(initial=0.0) for values in found.values())
    rows = [
        (text, [shown(values[0], largest, digits=6), shown(values[-1], largest, digits=6)])
        for text, values in found.items()
        if values.any()
    ]
    if rows:
        yield from table_lines("energy and work [J]", ("start", "end"), rows, width)


def _residuals(motion: Trajectory, width: int) -> Iterator[Line]:
    if motion.residuals:
        name, worst = max(motion.residuals.items(), key=lambda item: item[1])
        yield Line()
        said = f"constraints hold to {worst:.2g} (m, rad), the worst is {name}"
        if motion.outcome == "loop_opened":
            said += "; then a loop opens"
        yield from (Line(text) for text in wrapped(said, width, "  ", "    "))


def _reactions(motion: Trajectory, pairs: Sequence[str], width: int) -> Iterator[Line]:
    """Yield the largest absolute value of every component; an undetermined one has no number."""
    rows = [(pair, _largest(motion, pair)) for pair in pairs]
    heads = [f"{c} {units_of(c).force}" for c in COMPONENTS]
    yield from table_lines("largest reaction", heads, rows, width)
    said = (
        "sizes on the successor, at the origin of its joint frame, in axes of the predecessor's joint frame"
    )
    if any(OPEN in cells for _, cells in rows):
        said += "; ? is not determined by the rigid model (see mbplugin reactions)"
    if motion.stiffness and not all(motion.uniqueness(pair).all() for pair in pairs):
        said += "; what the rigid model does not determine, the stated stiffness does"
    yield from (Line(text) for text in wrapped(said, width, "  ", "  "))


def _largest(motion: Trajectory, pair: str) -> list[str]:
    largest = np.abs(motion.reactions(pair)).max(axis=0).tolist()
    unique = np.asarray(motion.determined(pair).all(axis=0)).tolist()
    free = motion.mechanism.pair_by_name[pair].kind.free
    return [
        OPEN if not known else "" if name in free and not value else f"{value:.6g}"
        for name, value, known in zip(COMPONENTS, largest, unique, strict=True)
    ]
