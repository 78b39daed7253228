"""Joint frames as text: reactions in world axes, undetermined directions, and the pose of each frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.phrases import listed
from mbplugin.report.directions import open_words, vector_words
from mbplugin.report.rounding import shown
from mbplugin.report.text.layout import MOST_NAMES, TITLE, Line, wrapped
from mbplugin.report.text.table import grid_lines, table_lines

if TYPE_CHECKING:
    from mbplugin.joint_reactions.values import ConstraintReaction, Reactions, WorldWrench

#: What follows a value, by its source.
MARKS = {"rigid": " ", "stated": "*", "estimated": "~", None: " "}
OPEN = "?"
COLUMN = 11
_WORLD = ("fx N", "fy N", "fz N", "mx N·m", "my N·m", "mz N·m")


def world_table(result: Reactions, width: int) -> Iterator[Line]:
    """Yield the wrenches of pairs, drives, locks and wheels in world axes."""
    rows = [(f"{c.name} ({c.type})", c.world) for c in result.constraints if c.world is not None]
    values = np.array([world.wrench for _, world in rows]).reshape(-1, 6)
    largest = [np.nanmax(np.abs(part), initial=0.0) for part in (values[:, :3], values[:, 3:])]
    yield from wrench_lines(_WORLD, [(name, [*_cells(world, largest)]) for name, world in rows], width)


def wrench_lines(
    heads: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]], width: int
) -> Iterator[Line]:
    """Yield a table of wrenches, nothing without rows; cells end with the mark of their source."""
    if rows:
        yield from table_lines("", [head + " " for head in heads], rows, width, COLUMN + 1)


def _cells(world: WorldWrench, largest: list[float]) -> Iterator[str]:
    for k, (value, source) in enumerate(zip(world.wrench.tolist(), world.sources, strict=True)):
        if source is None:
            yield OPEN + " "
        else:
            yield shown(value, largest[k // 3], digits=6) + MARKS[source]


def open_lines(result: Reactions, width: int) -> Iterator[Line]:
    """Yield the directions in which the rigid model does not determine the reactions of pairs."""
    same: dict[str, list[str]] = {}
    for c in result.constraints:
        if c.reaction != "unique" and (words := open_words(c.open_force, c.open_moment)):
            same.setdefault(words, []).append(c.name)
    if not same:
        return
    yield Line()
    title = "Undetermined directions in a rigid model, in world axes (moments at the joint's point)"
    yield from (Line(text, TITLE) for text in wrapped(title, width))
    for words, names in same.items():
        yield from (
            Line(text) for text in wrapped(f"{listed(names, MOST_NAMES)}: {words}", width, "  ", "      ")
        )


def frame_lines(result: Reactions, width: int) -> Iterator[Line]:
    """Yield the point of every pair and the axes of its frame in the world."""
    rows = [(c, c.point, c.R_WJ) for c in result.constraints if c.point is not None and c.R_WJ is not None]
    if not rows:
        return
    yield Line()
    title = "Joint frames in the world: point [m], and the axes x, y, z of the components"
    yield from (Line(text, TITLE) for text in wrapped(title, width, "", "  "))
    vectors = [(_name(c), (point, *R_WJ.T)) for c, point, R_WJ in rows]
    cells = [(name, [vector_words(vector.tolist()) for vector in own]) for name, own in vectors]
    yield from grid_lines("", ("point", "x", "y", "z"), cells, width)


def _name(constraint: ConstraintReaction) -> str:
    return f"{constraint.name} ({constraint.body_a} to {constraint.body_b})"
