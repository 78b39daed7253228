"""Comparisons as text: of two models, of engines, of a closed model with its origin; and the modes of a mechanism."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.model import SI, Units, base_sentence, coordinate_units, held_sentence
from mbplugin.phrases import Assumption, counted, joined_by_words, listed
from mbplugin.readers.standing import stance_sentence
from mbplugin.report import ROUNDING, shown
from mbplugin.report.text import (
    COMPONENT_NAMES,
    MOST,
    PLAIN_WIDTH,
    TITLE,
    Line,
    first_lines,
    grid_lines,
    more_lines,
    note_lines,
    sentences_under,
    table_lines,
    wrapped,
)

if TYPE_CHECKING:
    from mbplugin.closing.commanded import Commanded
    from mbplugin.closing.drift import Closing, Drift
    from mbplugin.comparison.agreement import Agreement, Row
    from mbplugin.comparison.models.alignment import Difference, ModelDiff, Normalised, Quantities, StopFigure
    from mbplugin.comparison.side_by_side import JointWrench, SideBySide
    from mbplugin.simulation.equilibrium import Equilibrium, Linearization, Mode


#: Maximum number of elements named for one kind of normalisation.
_NAMES = 6
#: At least this many elements with the same kind and cause of difference are merged into one paragraph.
_MANY = 3
_COLUMN = 12
#: Longest list of names in the first lines of a report, characters.
_ROOM = 60
#: Differences below this fraction of the largest load in their joint are rounding.
_ROUNDING = 1e-9
#: Components below this fraction of the largest load in their joint are printed as zero.
_NOISE = 1e-4
#: A joint carries nothing if its wrenches are below this share of the largest of all joints.
_NOTHING = 1e-12
_STYLES = {"agrees": "bold green", "disagrees": "bold red"}
#: Maximum number of elements printed for a quantity; all are in the JSON.
_MOST = 3
_HEADS = ("closures of", "gap mm", "turn mrad", "force N", "noise N")
#: If no body moves farther than this, the comparison under commands proves nothing, m.
_STILL = 1e-4


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
    title = f"{found.quantity} of {element_text(found)}"
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
    assumed = (
        *base_sentence(found.mechanism.assumed_fixed),
        *stance_sentence(found.stance),
        *held_sentence(found.assumed_held),
    )
    style = ("bold green" if found.compared else "bold yellow") if found.agrees else "bold red"
    held = f" Held: {listed(found.held, room=_ROOM)}." if found.held else ""
    verdict = wrapped(f"{found.mechanism.name}: {engines_verdict(found)}{held}", width, "", "  ")
    headline = [Line(text, style) for text in verdict]
    yield from first_lines(headline, assumed, width, notes=found.notes, warnings_first=True)
    for engine in found.engines:
        if engine.reason:
            yield from (
                Line(t, "bold yellow") for t in wrapped(absent_words(engine.engine, engine.reason), width)
            )
    names = [answer.engine for answer in found.answers]
    idle = _idle(found)
    for joint in found.joints:
        if joint in idle:
            continue
        yield Line()
        held = ", held" if joint.held else ""
        title = f"{joint.name} ({joint.type}{held}): on {joint.body_b}"
        yield from (Line(text, TITLE) for text in wrapped(title, width, "", "  "))
        yield from _rows(joint, names, width)
    if idle:
        yield Line()
        said = f"no engine has a force in {listed([joint.name for joint in idle], room=_ROOM)}"
        yield from (Line(text) for text in wrapped(said, width))
    yield from note_lines(found.notes, width)


def _idle(found: SideBySide) -> list[JointWrench]:
    """Return the joints in which all engines find less than rounding, such as those of links without mass."""
    values = {joint.name: np.abs(list(joint.wrenches.values())) for joint in found.joints}
    largest = max((float(np.nan_to_num(one).max()) for one in values.values()), default=0.0)
    return [
        joint
        for joint in found.joints
        if joint.unique.all() and (values[joint.name] <= _NOTHING * largest).all()
    ]


def engines_verdict(found: SideBySide, mark: str = "*") -> str:
    """Return a sentence on the agreement of the engines, for determined and for undetermined (marked) components."""
    redundant = counted(found.degree_of_redundancy, "redundant constraint")
    if not found.compared:
        return f"{found.mode}, {redundant}; no second engine gave a result, so nothing is compared."
    every = all(joint.unique.all() for joint in found.joints)
    what = "every force, all determined" if every else "what is determined"
    said = f"{found.mode}, {redundant}; {_unique_words(found, what)}"
    if every:
        return f"{said}."
    left_open = found.largest_undetermined_difference
    differs = f"differs by {100 * left_open:.3g} % of it" if left_open > _ROUNDING else "is equal by chance"
    return f"{said}; what a rigid model leaves open (marked {mark}) {differs}."


def _unique_words(found: SideBySide, what: str) -> str:
    """Return a sentence on the agreement of the engines on determined components, without a full stop."""
    difference = found.largest_unique_difference
    if not found.agrees:
        return f"the engines DIFFER on {what}, by {100 * difference:.3g} % of the largest in its joint"
    part = f"{shown(difference, digits=2)} of the largest in its joint"
    return f"the engines agree on {what}, to {'rounding' if difference <= _ROUNDING else part}"


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


def crosscheck_lines(
    found: Agreement, name: str, width: int = PLAIN_WIDTH, units: Units = SI
) -> Iterator[Line]:
    """Yield the report of a cross-check with one engine or two, with angles and lengths in some units."""
    of_engines = [found] if found.second is None else [found, found.second]
    # who reads one line reads that something disagrees
    of_engines.sort(key=lambda one: one.verdict != "disagrees")
    headline: list[Line] = []
    for one in of_engines:
        style = (
            "bold yellow"
            if one.verdict == "agrees" and one.assumed
            else _STYLES.get(one.verdict, "bold yellow")
        )
        who = name if found.second is None else f"{name}, {one.engine}"
        said = f"{who}: {one.verdict}. {_sentence(one.reason)}"
        headline += [Line(text, style) for text in wrapped(said, width, "", "  ")]
    yield from first_lines(
        headline,
        found.of_effort.warnings,
        width,
        notes=(note for one in of_engines for note in one.notes),
        warnings_first=True,
    )
    for one in of_engines:
        if one is found or one.verdict != "agrees":
            yield from _engine_lines(one, width, units)
    yield from sentences_under("Assumed", joined_by_words(found.assumed), width)
    yield from note_lines(tuple(dict.fromkeys(note for one in of_engines for note in one.notes)), width)


def _engine_lines(found: Agreement, width: int, units: Units) -> Iterator[Line]:
    """Yield the steps and tables of one engine."""
    if found.steps:
        yield from (Line(text) for text in wrapped(_steps(found), width, "", "  "))
    still = [row for row in found.rows if not row.errors]
    moved = [row for row in found.rows if row.errors]
    if still:
        yield from _still(still, width, units)
    if moved:
        yield from _moved(found, moved, width, units)
    if found.checks:
        cells = [
            (
                f"{check.program}: {check.name}{f' [{check.unit}]' if check.unit != '1' else ''}",
                (f"{check.value:.3g}", f"{check.bound:.3g}"),
            )
            for check in found.checks
        ]
        agree = [check.passes for check in found.checks]
        yield from _table("checks of each motion alone", ("off by", "bound"), cells, agree, width)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _steps(found: Agreement) -> str:
    steps = ", ".join(f"{1e3 * step:.4g}" for step in found.steps)
    solver = found.settings
    orders = ", ".join(f"{order:.2f}" for order in found.orders) or "none, it is exact"
    of_solver = ""
    if "iterations" in solver:
        of_solver = (
            f"{solver['iterations']:.0f} iterations, residual threshold {solver['residual_threshold']:g}, "
        )
    return (
        f"{found.engine}: {found.duration:.6g} s in steps of {steps} ms; observed orders {orders}; "
        f"{of_solver}ERP {solver['erp']:g}"
    )


def _still(rows: Sequence[Row], width: int, units: Units) -> Iterator[Line]:
    cells, agree = [], []
    for quantity, own in _by_quantity(rows):
        worst = _worst(own)
        for row in [row for row in worst if not row.agrees] or worst[:1]:
            size, unit = units.shown(row.unit)
            label = f"{quantity} of {row.element} [{unit}]" if unit != "1" else quantity
            cells.append((label, (f"{len(own)}", f"{size * row.deviation:.3g}", f"{size * row.bound:.3g}")))
            agree.append(row.agrees)
    yield from _table("without motion", ("compared", "deviation", "bound"), cells, agree, width)


def _moved(found: Agreement, rows: Sequence[Row], width: int, units: Units) -> Iterator[Line]:
    cells, agree, below = [], [], []
    for quantity, own in _by_quantity(rows):
        worst = _worst(own)
        for row in worst[:_MOST]:
            size, unit = units.shown(row.unit)
            numbers = (*row.errors, row.deviation, row.bound)
            cells.append(
                (
                    f"{quantity} of {row.element} [{unit}]",
                    [shown(value, size=size, digits=3) for value in numbers],
                )
            )
            agree.append(row.agrees)
            below.append(list[Line]())
        if len(own) > _MOST:
            below[-1].append(
                Line(f"    and {counted(len(own) - _MOST, 'row')} of {quantity} that are closer")
            )
    heads = (*(f"{1e3 * step:.4g} ms" for step in found.steps), "step → 0", "bound")
    yield from _table("largest deviation", heads, cells, agree, width, below)


def _table(
    title: str,
    heads: Sequence[str],
    cells: Sequence[tuple[str, Sequence[str]]],
    agree: Sequence[bool],
    width: int,
    below: Sequence[Sequence[Line]] = (),
) -> Iterator[Line]:
    """Yield a table in which rows that do not agree are marked."""
    rows = [(label, [*own, "" if agrees else "✗"]) for (label, own), agrees in zip(cells, agree, strict=True)]
    styles = ["" if agrees else "red" for agrees in agree]
    yield Line()
    yield from grid_lines(title, heads, rows, width, _COLUMN, styles, below)


def _by_quantity(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.quantity, []).append(row)
    return list(found.items())


def _worst(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: -row.deviation / row.bound if row.bound else 0.0)


# A conversion with closures as text: the verdict, the assumptions, the closures, and their drift.


def close_lines(
    found: Closing, width: int = PLAIN_WIDTH, written: str | None = None, refused: Sequence[str] = ()
) -> Iterator[Line]:
    """Yield the report of one conversion: verdict, losses that were not allowed, assumptions, closures and drift."""
    from mbplugin.closing.drift import assumptions_of

    style = "bold green" if found.proved and not found.strays else "bold yellow"
    verdict = wrapped(f"{found.mechanism.name}: {close_verdict(found)}", width, "", "  ")
    assumed = tuple(assumptions_of(found))
    lines = first_lines([Line(text, style) for text in verdict], (), width, notes=assumed)
    yield from (line for line in lines if line.text)
    if written is not None:
        yield Line(f"written to {written}")
    if how := _copy_sentence(found):
        yield from (Line(text) for text in wrapped(how, width, "", "  "))
    if refused:
        kinds = ",".join(refused)
        text = f"the {found.format} lacks parts of the model ({kinds}), see below; --allow-loss {kinds} accepts this"
        for line in wrapped(text, width, "", "  "):
            yield Line(line, "bold yellow")
    yield from sentences_under("Assumptions", assumed, width)
    yield from sentences_under("Closures", [*_closures(found), *_changes(found)], width)
    yield from sentences_under("Written in another way, with the same motion", found.written.held, width)
    yield from sentences_under(f"Not in the {found.format}", found.written.left_out, width)
    yield from _drift(found, width)
    if found.motions:
        told = [_under_command(one) for one in found.motions]
        if found.before.structural_redundancy and not all(one.reason for one in found.motions):
            told.append(
                "FILE has redundant constraints: where it does not fit exactly, it moves in another way without them"
            )
        yield from sentences_under("Under the same commands", told, width)


def _copy_sentence(found: Closing) -> str:
    """Return a sentence that a file in its original format is a copy, or why it was written again; else empty."""
    written = found.written
    if written.copy_of is not None:
        changed = sum(one.was != one.type for one in found.closures) + len(found.changes)
        rest = f"only {counted(changed, 'joint')} changed" if changed else "nothing is changed"
        return f"a copy of {written.copy_of.path}: {rest}"
    if not written.anew:
        return ""
    return (
        f"written anew, since {written.anew}; looks, sensors, contacts and comments of the file are not in it"
    )


def close_verdict(found: Closing) -> str:
    """Return the proved verdict on the written file, or the reasons why it is not proved."""
    before, after = found.before, found.after
    p = (
        f"p = {before.degree_of_redundancy} before, {after.degree_of_redundancy} after; "
        f"mobility {before.mobility} before, {after.mobility} after"
    )
    if found.proved and not found.strays:
        singular = "" if not after.degree_of_redundancy else ", and more at this singular pose"
        unknown = bool(found.motions) and all(one.reason for one in found.motions)
        compared = ", its motion not compared" if unknown else ""
        return f"{counted(len(found.closures), 'closure')} without redundancy{singular}{compared} ({p})."
    reasons = [] if not found.reason else [found.reason]
    if found.strays:
        reasons.append("the written file moves in another way under the same commands, see below")
    if not found.keeps_mobility:
        reasons.append(
            f"the mobility changes (with driven joints held {before.held_dof} before, {after.held_dof} after)"
        )
    return f"not proved: {'; '.join(reasons) or 'constraints are redundant'} ({p})."


def _closures(found: Closing) -> Iterator[str]:
    for one in found.closures:
        cut = "" if one.cut.instead_of == one.name else f", cut here instead of at {one.cut.instead_of}"
        was = "" if one.was == one.type else f" instead of {one.was}"
        yield (
            f"{one.name}: {one.type}{was}, {one.body_a}–{one.body_b}{cut} (criterion {one.cut.independence:.2f})"
        )


def _changes(found: Closing) -> Iterator[str]:
    for change in found.changes:
        yield f"{change.constraint}: the joint becomes {change.new} instead of {change.old}"


def _drift(found: Closing, width: int) -> Iterator[Line]:
    rows: list[tuple[str, Sequence[str]]] = []
    reasons: list[str] = []
    for before, after in zip(found.drift.before, found.drift.after, strict=True):
        for whose, drift in (("FILE", before), (found.format, after)):
            if drift.reason:
                reasons.append(f"{drift.engine}, closures of {whose}: {drift.reason.rstrip('.')}")
            else:
                rows.append((drift.engine, _cells(whose, drift)))
    if rows:
        yield from table_lines("Drift", _HEADS, rows, width, 12)
    yield from sentences_under("No drift", list(dict.fromkeys(reasons)), width)


def _under_command(found: Commanded) -> str:
    """Return a sentence on the difference between the two motions, or the reason why it is unknown."""
    if found.reason:
        return f"no answer of {found.engine}: {found.reason.rstrip('.')}"
    driven = {
        "command": f"{counted(len(found.driven), 'actuator')} got the same random commands",
        "torque": f"{counted(len(found.driven), 'joint')} got the same random torques",
        "none": "nothing is driven, and both moved freely",
    }[found.kind]
    proves = "" if found.moved > _STILL else ": next to nothing moves, which proves nothing"
    return (
        f"{driven} for {found.duration:g} s in {found.engine}, without contacts (seed {found.seed}, "
        f"steps of {1e3 * found.step:g} ms): bodies end up to "
        f"{found.angle:.2g} rad and {found.distance:.2g} m apart ({found.body}), after moving up to "
        f"{found.moved:.2g} m{proves}"
    )


def _cells(whose: str, drift: Drift) -> tuple[str, ...]:
    force = max((one.force for one in drift.closures), default=0.0)
    numbers = (1e3 * drift.gap, 1e3 * drift.turn, force, drift.noise)
    return (whose, *(f"{number:.2g}" if number < 100 else f"{number:.0f}" for number in numbers))


#: Number of joints in the shape of a mode, and of coordinates in a list.
_JOINTS, _COORDINATES = 4, 12
#: A joint takes part in a mode with at least this fraction of its largest rate.
_TAKES_PART = 0.05
STABILITY_MEANING = {
    "stable": "a small push dies out or swings",
    "unstable": "a small push grows",
    "neutral": "some freedom has no stiffness: it stays where it is put",
}


def modes_lines(found: Linearization, width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the equilibrium, and its modes by rising frequency with the joints that take part."""
    yield from equilibrium_lines(found.equilibrium, width)
    if not found.modes:
        return
    rows = [(str(n), mode_cells(mode)) for n, mode in enumerate(found.modes, 1)]
    yield from table_lines("mode", ("f [Hz]", "damping", "grows by e [s]"), rows, width)
    names = found.mechanism.qd_names
    shapes = [f"mode {n}: {mode_shape(mode, names)}" for n, mode in enumerate(found.modes, 1)]
    yield from sentences_under("Shapes (joint rates relative to the largest)", shapes, width)


def equilibrium_lines(found: Equilibrium, width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the kind of equilibrium, its assumptions, and the pose."""
    freedoms = counted(len(found.coordinates), "freedom")
    held = f", held: {listed(found.held, _JOINTS)}" if found.held else ""
    meaning = STABILITY_MEANING[found.stability] if found.coordinates else "nothing can move"
    title = f"{found.mechanism.name}: {found.stability.upper()} equilibrium with {freedoms}{held}: {meaning}"
    headline = [Line(text, "bold") for text in wrapped(title, width, "", "  ")]
    assumed = [note for note in found.notes if isinstance(note, Assumption)]
    warnings = [*base_sentence(found.mechanism.assumed_fixed), *assumed]
    yield from first_lines(headline, warnings, width, warnings_first=True)
    rows = list(rest_rows(found))
    yield from table_lines("at rest", ("q", "unit", "moved"), rows[:_COORDINATES], width)
    if len(rows) > _COORDINATES:
        yield Line(f"  … {len(rows) - _COORDINATES} more in --output-format json")
    yield from note_lines([note for note in found.notes if not isinstance(note, Assumption)], width)


def rest_rows(found: Equilibrium) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Yield each coordinate of a pose of rest with its value, its unit, and how far the search moved it."""
    units = [unit if unit != "1" else "" for unit in coordinate_units(found.mechanism)]
    moved = np.abs(found.q - found.start)
    for name, q, unit, way in zip(found.mechanism.q_names, found.q, units, moved, strict=True):
        yield name, (f"{q:.9g}", unit, f"{way:.3g}")


def mode_cells(mode: Mode) -> tuple[str, str, str]:
    """Format frequency, damping ratio and growth time of a mode; empty where a mode has none."""
    frequency = (
        "unstable" if mode.stiffness < 0 else f"{mode.frequency:.6g}" if mode.stiffness > 0 else "neutral"
    )
    damping = f"{mode.damping_ratio:.3g}" if isfinite(mode.damping_ratio) else ""
    growth = f"{mode.growth_time:.4g}" if isfinite(mode.growth_time) else ""
    return frequency, damping, growth


def mode_shape(mode: Mode, names: tuple[str, ...]) -> str:
    """Format the joints ``names`` that take part in a mode, with their relative rates."""
    order = np.argsort(-np.abs(mode.shape), kind="stable")
    parts = [f"{names[i]} {mode.shape[i]:+.2g}" for i in order if abs(mode.shape[i]) >= _TAKES_PART]
    more = f" and {len(parts) - _JOINTS} more" if len(parts) > _JOINTS else ""
    return ", ".join(parts[:_JOINTS]) + more
