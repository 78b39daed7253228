"""Joint forces of several engines as text: one row per component, marked where nothing determines it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.phrases import counted
from mbplugin.report.rounding import shown
from mbplugin.report.text.blocks import note_lines
from mbplugin.report.text.layout import PLAIN_WIDTH, TITLE, Line, wrapped
from mbplugin.report.text.table import grid_lines

if TYPE_CHECKING:
    from mbplugin.comparison.side_by_side.values import JointWrench, SideBySide

_COLUMN = 12
#: Names and units of the components of a wrench.
COMPONENT_NAMES = ("fx N", "fy N", "fz N", "mx N·m", "my N·m", "mz N·m")
#: Beside the largest in its joint, a difference that is rounding alone.
_ROUNDING = 1e-9
#: Beside the largest in its joint, this is printed as zero.
_NOISE = 1e-4


def engines_lines(found: SideBySide, width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the table, and what it says in a sentence above."""
    style = ("bold green" if found.compared else "bold yellow") if found.agrees else "bold red"
    for text in wrapped(f"{found.mechanism.name}: {engines_verdict(found)}", width, "", "  "):
        yield Line(text, style)
    for engine in found.engines:
        if engine.reason:
            yield from (
                Line(t, "bold yellow") for t in wrapped(absent_words(engine.engine, engine.reason), width)
            )
    names = [answer.engine for answer in found.answers]
    for joint in found.joints:
        yield Line()
        held = ", held" if joint.held else ""
        title = f"{joint.name} ({joint.type}{held}): on {joint.body_b}"
        yield from (Line(text, TITLE) for text in wrapped(title, width, "", "  "))
        yield from _rows(joint, names, width)
    yield from note_lines(found.notes, width)


def engines_verdict(found: SideBySide, mark: str = "*") -> str:
    """Return whether the engines agree, and to what, in what is determined and in what is not, which has a mark."""
    redundant = counted(found.degree_of_redundancy, "redundant constraint")
    every = all(joint.unique.all() for joint in found.joints)
    what = "every force, all determined" if every else "what is determined"
    said = f"{found.mode}, {redundant}; {_unique_words(found, what)}"
    if every or not found.compared:
        return f"{said}."
    left_open = found.largest_undetermined_difference
    differs = f"differs by {100 * left_open:.3g} % of it" if left_open > _ROUNDING else "is equal by chance"
    return f"{said}; what a rigid model leaves open (marked {mark}) {differs}."


def _unique_words(found: SideBySide, what: str) -> str:
    """Return whether the engines agree on what is determined, and how far they differ, without a full stop."""
    if not found.compared:
        return f"no second engine answers: nothing is compared on {what}"
    difference = found.largest_unique_difference
    if not found.agrees:
        return f"the engines DIFFER on {what}, by {100 * difference:.3g} % of the largest in its joint"
    part = f"{shown(difference, digits=2)} of the largest in its joint"
    return f"the engines agree on {what}, to {f'rounding ({part})' if difference <= _ROUNDING else part}"


def absent_words(name: str, reason: str) -> str:
    """Return why an engine has no answer."""
    return f"no answer of {name}: {reason}"


def _rows(joint: JointWrench, names: list[str], width: int) -> Iterator[Line]:
    rows, styles = [], []
    for k, component in enumerate(COMPONENT_NAMES):
        cells = [wrench_cell(joint.wrenches[name][k], joint.size[k]) for name in names]
        unique, agrees = bool(joint.unique[k]), bool(joint.agrees[k])
        mark = "" if unique else "* " if agrees else "* differ"
        rows.append((f"  {component}", [*cells, "DIFFER" if unique and not agrees else mark]))
        styles.append("yellow" if not unique else "green" if agrees else "bold red")
    yield from grid_lines("", names, rows, width, _COLUMN, styles)


def wrench_cell(value: float, size: float) -> str:
    """Return a component in N or N·m; rounding beside what acts in the joint is 0."""
    if np.isnan(value):
        return "open"
    return "0" if abs(value) <= _NOISE * size else f"{value:.4g}"
