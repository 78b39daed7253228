"""A motion as text: its range, energies, events and largest reactions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.model.spatial import COMPONENTS
from mbplugin.report.text.layout import PLAIN_WIDTH, Line, counted, wrapped
from mbplugin.simulation.trajectory.units import coordinate_units

if TYPE_CHECKING:
    from mbplugin.simulation.trajectory.trajectory import Trajectory

#: Coordinates and events that are printed; all are in the JSON and in saved files.
_MOST = 40
_COLUMN = 13
_WIDEST_NAME = 40
_OPEN = "?"
_ENERGIES = {
    "kinetic": "kinetic",
    "potential": "potential",
    "dissipated": "dissipated by damping and friction",
    "applied": "work of loads and torques",
    "driven": "work of drivers",
}


def simulate_lines(motion: Trajectory, pairs: Sequence[str] = (), width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the report of one motion, with the reactions of some pairs."""
    yield from (Line(text, "bold") for text in wrapped(_headline(motion), width, "", "  "))
    yield from _coordinates(motion)
    yield from _energies(motion)
    yield from _residuals(motion)
    yield from _events(motion, width)
    if pairs:
        yield from _reactions(motion, pairs, width)
    if motion.notes:
        yield Line()
        for note in motion.notes:
            yield from (Line(text) for text in wrapped(note, width, "note: ", "  "))


def _headline(motion: Trajectory) -> str:
    plane = f" in the {motion.planar} plane" if motion.planar else ""
    redundancy = counted(motion.degree_of_redundancy, "redundant constraint")
    samples = counted(len(motion.time), "sample")
    return (
        f"{motion.mechanism.name}: motion{plane} over {motion.time[-1]:.6g} s,"
        f" {motion.outcome.replace('_', ' ')}; {samples}, {redundancy}"
    )


def _table(title: str, heads: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> Iterator[Line]:
    yield Line()
    wide = min(max((len(name) for name, _ in rows), default=0), _WIDEST_NAME)
    wide = max(wide, len(title))
    yield Line(f"  {title:<{wide}}" + "".join(f"{head:>{_COLUMN}}" for head in heads), "bold cyan")
    for name, cells in rows:
        yield Line((f"  {name[:wide]:<{wide}}" + "".join(f"{cell:>{_COLUMN}}" for cell in cells)).rstrip())


def _coordinates(motion: Trajectory) -> Iterator[Line]:
    names, units = motion.mechanism.q_names, coordinate_units(motion.mechanism)
    rows = [
        (
            f"{name} [{unit}]" if unit != "1" else name,
            [f"{v:.6g}" for v in (q[0], q[-1], q.min(), q.max())],
        )
        for name, unit, q in zip(names, units, motion.q.T, strict=True)
    ]
    if rows:
        yield from _table("coordinate", ("start", "end", "smallest", "largest"), rows[:_MOST])
    if len(rows) > _MOST:
        yield Line(f"  and {len(rows) - _MOST} more (all are in the JSON)")


def _energies(motion: Trajectory) -> Iterator[Line]:
    rows = [
        (text, [f"{values[0]:.6g}", f"{values[-1]:.6g}"])
        for name, text in _ENERGIES.items()
        if (values := getattr(motion, name)).any()
    ]
    if rows:
        yield from _table("energy and work [J]", ("start", "end"), rows)


def _residuals(motion: Trajectory) -> Iterator[Line]:
    if motion.residuals:
        name, worst = max(motion.residuals.items(), key=lambda item: item[1])
        yield Line()
        yield Line(f"  constraints hold to {worst:.2g} (m, rad), the worst is {name}")


def _events(motion: Trajectory, width: int) -> Iterator[Line]:
    if not motion.events:
        return
    yield Line()
    yield Line("Events", "bold cyan")
    for event in motion.events[:_MOST]:
        said = event.text or f"{event.joint}: {event.kind}"
        yield from (Line(text) for text in wrapped(said, width, f"  {event.time:.9g} s  ", "    "))
    if len(motion.events) > _MOST:
        yield Line(f"  and {len(motion.events) - _MOST} more (all are in the JSON)")


def _reactions(motion: Trajectory, pairs: Sequence[str], width: int) -> Iterator[Line]:
    """Yield the largest absolute value of every component; an undetermined one has no number."""
    rows = [(pair, _largest(motion, pair)) for pair in pairs]
    heads = [f"{c} {'N' if c[0] == 't' else 'N·m'}" for c in COMPONENTS]
    yield from _table("largest reaction", heads, rows)
    said = (
        "sizes on the successor, at the origin of its joint frame, in axes of the predecessor's joint frame"
    )
    if any(_OPEN in cells for _, cells in rows):
        said += "; ? is not determined by the rigid model (see mbplugin reactions)"
    yield from (Line(text) for text in wrapped(said, width, "  ", "  "))


def _largest(motion: Trajectory, pair: str) -> list[str]:
    largest = np.abs(motion.reactions(pair)).max(axis=0).tolist()
    unique = np.asarray(motion.uniqueness(pair).all(axis=0)).tolist()
    free = motion.mechanism.pair_by_name[pair].kind.free
    return [
        _OPEN if not known else "" if name in free and not value else f"{value:.6g}"
        for name, value, known in zip(COMPONENTS, largest, unique, strict=True)
    ]
