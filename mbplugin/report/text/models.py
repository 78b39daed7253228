"""The comparison of two models and of several engines as text, and blocks that several reports share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.model.mechanism.mechanism import base_sentence, held_sentence
from mbplugin.phrases import counted, listed
from mbplugin.report.formats import ROUNDING, shown
from mbplugin.report.text.layout import PLAIN_WIDTH, TITLE, Line, grid_lines, wrapped

if TYPE_CHECKING:
    from mbplugin.comparison.models.alignment import Difference, ModelDiff, Normalised, Quantities
    from mbplugin.comparison.models.stops import StopFigure
    from mbplugin.comparison.side_by_side.run import JointWrench, SideBySide
    from mbplugin.simulation.passing_marks import Event

#: The kinds of differences in words.
DIFFERENCE_NAMES = {
    "mass": "mass",
    "center": "centre of mass",
    "inertia": "inertia",
    "frame": "frame",
    "body": "body",
    "axis": "joint axis",
    "origin": "joint position",
    "limit": "limit",
    "zero": "zero position",
    "effort": "effort limit",
    "velocity": "velocity limit",
    "damping": "damping",
    "friction": "dry friction",
    "acceleration": "acceleration limit",
    "deceleration": "deceleration limit",
    "jerk": "jerk limit",
    "load_friction": "friction per load",
    "armature": "rotor inertia",
    "spring": "spring",
    "actuator": "actuator",
    "lead": "lead",
    "length": "length",
    "type": "joint type",
    "ends": "bodies of the joint",
    "joint": "joint",
    "loop": "loop",
    "coupling": "coupling",
    "gravity": "gravity",
    "base": "base",
    "redundancy": "redundancy",
    "mobility": "mobility",
    "dynamics": "dynamics",
    "reactions": "joint forces",
}
#: Maximum number of elements named for one kind of normalisation.
_NAMES = 6
#: At least this many elements with the same kind and cause of difference are merged into one paragraph.
_MANY = 3
_COLUMN = 12
#: Names and units of the components of a wrench.
COMPONENT_NAMES = ("fx N", "fy N", "fz N", "mx N·m", "my N·m", "mz N·m")
#: Differences below this fraction of the largest load in their joint are rounding.
_ROUNDING = 1e-9
#: Components below this fraction of the largest load in their joint are printed as zero.
_NOISE = 1e-4
#: Maximum number of printed rows or events; all are in the JSON.
MOST = 40


def diff_lines(found: ModelDiff, files: tuple[str, str], width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the verdict, each difference with its locations, the normalisations, and the basis of the decision."""
    style = "bold green" if found.same else "bold red"
    for text in wrapped(f"{found.a.name} and {found.b.name}: {found.verdict}", width, "", "  "):
        yield Line(text, style)
    for name, file, numbers in (("A", files[0], found.a), ("B", files[1], found.b)):
        yield from (
            Line(t) for t in wrapped(f"{file}: {quantities_text(numbers)}", width, f"  {name} ", "    ")
        )
    groups = _by_cause(found.differences)
    for group in groups[:MOST]:
        yield Line()
        yield from _difference(group, width)
    yield from more_lines(len(groups), MOST)
    if found.normalised:
        yield Line()
        yield Line("Normalised before the comparison", TITLE)
    for text in normalised_texts(found.normalised):
        yield from (Line(t) for t in wrapped(text, width, "  ", "    "))
    yield from _stop_lines(found, width)
    yield from sentences_under("Not compared", [one.text for one in found.not_compared], width)
    yield Line()
    yield Line("How this was decided", TITLE)
    for text in decided_texts(found):
        yield from (Line(t) for t in wrapped(text, width, "  ", "    "))


def _stop_lines(found: ModelDiff, width: int) -> Iterator[Line]:
    """Yield a table of the emergency stops, if they were requested; changed ones are yellow."""
    if not found.stops:
        return
    yield Line()
    heads = ("time A", "time B", "travel A", "travel B", "tool A", "tool B")
    rows, styles = [], []
    for change in found.stops[:MOST]:
        before, after = (stop_cells(figure) for figure in (change.a, change.b))
        rows.append(
            (f"  {change.joint}", [cell for both in zip(before, after, strict=True) for cell in both])
        )
        styles.append("" if before == after else "yellow")
    yield from grid_lines("Stops", heads, rows, width, _COLUMN, styles)
    yield from more_lines(len(found.stops), MOST)


def stop_cells(figure: StopFigure | None) -> tuple[str, str, str]:
    """Return time, travel of the joint and path of the tool of a stop; dashes where there is none."""
    if figure is None or figure.time is None or figure.travel is None or figure.tool_travel is None:
        return "-", "-", "-"
    travels = (figure.travel, figure.unit), (figure.tool_travel, "m")
    joint, tool = (f"{value if value > ROUNDING else 0.0:.4g} {unit}" for value, unit in travels)
    return f"{figure.time:.4g} s", joint, tool


def quantities_text(numbers: Quantities) -> str:
    """Return the counts, mass and mobility of a model in one phrase."""
    parts = [
        counted(numbers.bodies, "body", "bodies"),
        counted(numbers.joints, "joint"),
        counted(numbers.loops, "loop"),
        f"{numbers.mass:.6g} kg in all",
    ]
    if numbers.mobility is not None and numbers.degree_of_redundancy is not None:
        redundant = counted(numbers.degree_of_redundancy, "redundant constraint")
        parts += [f"mobility {numbers.mobility}", redundant]
    return ", ".join(parts)


def _by_cause(differences: Sequence[Difference]) -> list[list[Difference]]:
    """Group differences of one kind and cause if at least ``_MANY`` elements have them."""
    alike: dict[tuple[str, str], list[Difference]] = {}
    for one in differences:
        alike.setdefault((one.kind, one.cause), []).append(one)
    groups: list[list[Difference]] = []
    for those in alike.values():
        groups += [those] if len(those) >= _MANY and those[0].cause else [[one] for one in those]
    return groups


def _difference(group: Sequence[Difference], width: int) -> Iterator[Line]:
    """Yield the difference of a group, with the values of its first element."""
    found = group[0]
    title = f"{DIFFERENCE_NAMES[found.kind]} of {element_text(found)}"
    if len(group) > 1:
        title += f" and {len(group) - 1} more ({listed([one.element for one in group[1:]], _NAMES)})"
    cause = f": {found.cause}" if found.cause else ""
    for text in wrapped(title + cause, width, "", "  "):
        yield Line(text, "bold red", len(title))
    for name, value, place in (
        ("A", found.value_a, found.place_a),
        ("B", found.value_b, found.place_b),
    ):
        where = f"  {place}" if place is not None and place.file else ""
        yield from (Line(t) for t in wrapped((value or "none") + where, width, f"  {name} ", "    "))


def element_text(found: Difference) -> str:
    """Return the name of the differing element, with its name in B if that is another."""
    if found.element_a and found.element_b and found.element_a != found.element_b:
        return f"{found.element_a!r} ({found.element_b!r} in B)"
    return repr(found.element)


def normalised_texts(found: tuple[Normalised, ...]) -> Iterator[str]:
    """Yield a sentence per normalisation; those of one kind are merged if there are more than three."""
    by_kind: dict[str, list[Normalised]] = {}
    for one in found:
        by_kind.setdefault(one.kind, []).append(one)
    for kind, those in by_kind.items():
        if len(those) <= 3:
            yield from (f"{kind} of {one.element!r}: {one.text}" for one in those)
        else:
            yield f"{kind} of {len(those)} elements: {listed([one.element for one in those], _NAMES)}"


def decided_texts(found: ModelDiff) -> Iterator[str]:
    """Yield sentences on the matched names, the comparison of the dynamics, and the tolerance."""
    renamed = [f"{a} = {b}" for a, b in {**found.bodies, **found.joints}.items() if a != b]
    matched = (
        f"{counted(len(found.bodies), 'body', 'bodies')} and {counted(len(found.joints), 'joint')} matched"
    )
    yield matched + (f"; renamed: {listed(renamed, _NAMES)}" if renamed else "")
    numbers = [
        f"{name} {value:.2g}"
        for name, value in (
            ("mass matrix", found.mass_matrix),
            ("gravity forces", found.gravity_forces),
            ("determined joint forces", found.wrenches),
        )
        if value is not None
    ]
    if found.poses:
        yield f"largest relative differences at {counted(found.poses, 'random pose')}: {', '.join(numbers)}"
    else:
        yield "the dynamics are not compared, because the joints do not correspond"
    yield f"tolerance {found.tolerance:g}"


# Joint forces of several engines as text: one row per component, marked if the rigid model does not determine it.


def engines_lines(found: SideBySide, width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the verdict, then a table for each joint."""
    assumed = (*base_sentence(found.mechanism.assumed_fixed), *held_sentence(found.assumed_held))
    yield from warning_lines(assumed, width)
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
    """Return a sentence on the agreement of the engines, for determined and for undetermined (marked) components."""
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
    """Return a sentence on the agreement of the engines on determined components, without a full stop."""
    if not found.compared:
        return f"no second engine answers: nothing is compared on {what}"
    difference = found.largest_unique_difference
    if not found.agrees:
        return f"the engines DIFFER on {what}, by {100 * difference:.3g} % of the largest in its joint"
    part = f"{shown(difference, digits=2)} of the largest in its joint"
    return f"the engines agree on {what}, to {f'rounding ({part})' if difference <= _ROUNDING else part}"


def absent_words(name: str, reason: str) -> str:
    """Return a sentence on why an engine has no answer."""
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
    """Format a component in N or N·m: NaN as "open", 0 if negligible relative to ``size``, the joint's load."""
    if np.isnan(value):
        return "open"
    return "0" if abs(value) <= _NOISE * size else f"{value:.4g}"


# Blocks that several reports share: warnings, notes, sentences under a title, events.


def warning_lines(warnings: Iterable[str], width: int) -> Iterator[Line]:
    """Yield each non-empty warning as a paragraph, for the top of a report; those of one line stand together."""
    paragraphs = [list(wrapped(warning, width, "! ", "! ")) for warning in warnings if warning]
    for k, lines in enumerate(paragraphs):
        yield from (Line(text, "bold yellow") for text in lines)
        if len(lines) > 1 or paragraphs[k + 1 : k + 2] == [] or len(paragraphs[k + 1]) > 1:
            yield Line()


def sentences_under(title: str, sentences: Sequence[str], width: int) -> Iterator[Line]:
    """Yield sentences under a title; nothing if there are none."""
    if sentences:
        yield Line()
        yield Line(title, TITLE)
    for sentence in sentences:
        yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))


def note_lines(notes: Sequence[str], width: int) -> Iterator[Line]:
    """Yield notes after a blank line; nothing if there are none."""
    if notes:
        yield Line()
    for note in notes:
        yield from (Line(text) for text in wrapped(note, width, "note: ", "  "))


def event_lines(events: Sequence[Event], width: int, digits: int) -> Iterator[Line]:
    """Yield events, with ``digits`` significant digits of their times; nothing if there are none."""
    if events:
        yield Line()
        yield Line("Events", TITLE)
    for event in events[:MOST]:
        yield from (
            Line(text) for text in wrapped(event.sentence, width, f"  {event.time:.{digits}g} s  ", "    ")
        )
    yield from more_lines(len(events), MOST)


def more_lines(number: int, printed: int) -> Iterator[Line]:
    """Yield a line with the number of rows not printed; nothing if all are."""
    if number > printed:
        yield Line(f"  and {number - printed} more (all are in the JSON)")
