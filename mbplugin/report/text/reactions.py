"""Joint reactions as text: a table of values and marks, and the undetermined components."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mbplugin.model.component import units_of
from mbplugin.model.mechanism.identity import freedom_of
from mbplugin.model.spatial import COMPONENTS
from mbplugin.phrases import counted, listed
from mbplugin.report import actuators
from mbplugin.report.misfits import BUDGET_TITLE, DEVIATIONS_TITLE, budget_words, deviation_rows
from mbplugin.report.text.blocks import MOST, more_lines, note_lines, sentences_under
from mbplugin.report.text.frames import (
    COLUMN,
    MARKS,
    OPEN,
    frame_lines,
    open_lines,
    world_table,
    wrench_lines,
)
from mbplugin.report.text.layout import MOST_NAMES, PLAIN_WIDTH, TITLE, Line, wrapped
from mbplugin.report.text.table import grid_lines

if TYPE_CHECKING:
    from mbplugin.joint_reactions.family import Family, Relation, Weight
    from mbplugin.joint_reactions.stiffness.coverage import MissingStiffness
    from mbplugin.joint_reactions.values import ComponentReaction, ConstraintReaction, Reactions


def reactions_lines(
    result: Reactions, width: int = PLAIN_WIDTH, axes: str = "joint", frames: bool = False
) -> Iterator[Line]:
    """Yield the report of one result.

    Parameters
    ----------
    width : int
        Of sentences and tables.
    axes : "joint" or "world"
        In which the wrenches are printed.
    frames : bool
        Whether to print the point and the axes of every joint frame.
    """
    yield from (Line(text, "bold") for text in wrapped(_headline(result), width, "", "  "))
    yield from world_table(result, width) if axes == "world" else _table(result, width)
    yield from _others(result, width)
    legend = _legend(result, axes)
    yield from (Line(text) for sentence in legend for text in wrapped(sentence, width, "  ", "    "))
    yield from open_lines(result, width)
    if frames:
        yield from frame_lines(result, width)
    yield from _actuation(result, width)
    yield from _families(result, width)
    yield from _deviations(result, width)
    yield from _budget(result, width)
    yield from _estimates(result, width)
    yield from note_lines(result.notes, width)


def _headline(result: Reactions) -> str:
    plane = f" in the {result.planar} plane" if result.planar else ""
    redundancy = counted(result.degree_of_redundancy, "redundant constraint")
    held = f", held: {listed(result.held, MOST_NAMES)}" if result.held else ""
    return f"{result.mechanism.name}: joint reactions, {result.mode}{plane}; {redundancy}{held}"


def _table(result: Reactions, width: int) -> Iterator[Line]:
    pairs = [c for c in result.constraints if c.wrench is not None and c.components]
    heads = [f"{name} {units_of(name).force}" for name in COMPONENTS]
    yield from wrench_lines(
        heads, [(f"{c.name} ({c.type})", [_cell(c, name) for name in COMPONENTS]) for c in pairs], width
    )


def _cell(constraint: ConstraintReaction, name: str) -> str:
    component = next((c for c in constraint.components if c.name == name), None)
    return "" if component is None else _value(component)


def _value(component: ComponentReaction) -> str:
    if component.value is None:
        return OPEN + " "
    return f"{component.value:.6g}{MARKS[component.source]}"


def _others(result: Reactions, width: int) -> Iterator[Line]:
    """Yield what is no component of a pair's frame: drives, held joints, couplings, wheels, rods."""
    rows = [
        (c, component)
        for c in result.constraints
        for component in c.components
        if component.name not in COMPONENTS or c.wrench is None
    ]
    if not rows:
        return
    yield Line()
    cells = [
        (f"{c.name} {freedom_of(component.name)}", (_value(component), component.unit))
        for c, component in rows
    ]
    yield from grid_lines("", ("",), cells, width, COLUMN + 1)


def _legend(result: Reactions, axes: str) -> Iterator[str]:
    sources = {component.source for c in result.constraints for component in c.components}
    if axes == "world":
        # a direction may be open in which no component is, and the other way round
        sources |= {source for c in result.constraints if c.world for source in c.world.sources}
    axes_name = "the world" if axes == "world" else "the predecessor's joint frame"
    yield ""
    yield f"on the successor, at the origin of its joint frame, in axes of {axes_name}"
    if "stated" in sources:
        yield f"{MARKS['stated']} not determined by the rigid model; by the stated stiffness"
    if "estimated" in sources:
        yield f"{MARKS['estimated']} not determined by the rigid model; by an estimate of stiffness (below)"
    if None in sources:
        yield f"{OPEN} {undetermined(result)}"


def undetermined(result: Reactions) -> str:
    """Return what it means that a component has no value, and what still needs a stiffness."""
    missing = result.missing
    needed = [f"{kind} {listed(names, MOST_NAMES)}" for kind, names in _kinds(missing) if names]
    touched = result.stated or result.estimated
    why = "some parts that it loads have no stiffness" if touched else "the model is rigid there"
    remedy = f": state a [[stiffness]] for {' and '.join(needed)}" if needed else ""
    return f"not determined, any value is possible, since {why}{remedy}"


def _kinds(missing: MissingStiffness) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (
        ("body" if len(missing.bodies) == 1 else "bodies", missing.bodies),
        ("joint" if len(missing.pairs) == 1 else "joints", missing.pairs),
    )


def _families(result: Reactions, width: int) -> Iterator[Line]:
    for family in result.families:
        yield Line()
        yield from (Line(text, TITLE) for text in wrapped(family_title(family), width))
        for relation in family.relations[:MOST]:
            yield from (Line(text) for text in wrapped(relation_words(relation), width, "  ", "      "))
        yield from more_lines(len(family.relations), MOST)


def _actuation(result: Reactions, width: int) -> Iterator[Line]:
    """Yield the forces of the actuators, and what they may share."""
    if (found := result.actuation) is None:
        return
    yield Line()
    yield Line(actuators.TITLE, TITLE)
    cells = [
        (one.joint, (f"{one.value:.6g}{' ' if one.unique else actuators.SHARED}", one.unit))
        for one in found.forces
    ]
    yield from grid_lines("", ("",), cells, width)
    if found.free:
        text = f"{actuators.SHARED} of least norm; the motion stays the same with any more in {listed(found.free)}:"
        yield from (Line(line) for line in wrapped(text, width, "  ", "    "))
    for text in actuators.share_words(found):
        yield from (Line(line) for line in wrapped(text, width, "    ", "      "))


def _deviations(result: Reactions, width: int) -> Iterator[Line]:
    if not result.misfit_sigma:
        return
    yield Line()
    yield from (Line(text, TITLE) for text in wrapped(DEVIATIONS_TITLE, width, "", "  "))
    rows = deviation_rows(result)
    yield from grid_lines("", ("",), [(name, (value,)) for name, value in rows[:MOST]], width)
    if not rows:
        yield Line("  none of these misfits loads anything")
    yield from more_lines(len(rows), MOST)


def _budget(result: Reactions, width: int) -> Iterator[Line]:
    if not result.limits:
        return
    sentences = [budget_words(one) for one in result.budget[:MOST]]
    none = ["no misfit loads a limited joint"]
    yield from sentences_under(BUDGET_TITLE, sentences or none, width)
    yield from more_lines(len(result.budget), MOST)


def family_title(family: Family) -> str:
    """Return which components may have any value in a rigid model."""
    free = listed([f"{name} {component}" for name, component, _ in family.parameters], MOST_NAMES)
    return f"Undetermined in a rigid model: any {free}; the others follow"


def relation_words(relation: Relation) -> str:
    """Return how a component follows from those that may have any value."""
    terms = " ".join(_term(term, first=k == 0) for k, term in enumerate(relation.terms))
    constant = ""
    if relation.constant:
        sign = "-" if relation.constant < 0 else "+"
        constant = f" {sign} {abs(relation.constant):.6g} {relation.unit}"
    return f"{relation.constraint} {relation.component} = {terms}{constant}"


def _term(term: Weight, first: bool) -> str:
    size = "" if abs(abs(term.weight) - 1) < 1e-9 else f"{abs(term.weight):.6g} · "
    sign = ("-" if term.weight < 0 else "") if first else ("- " if term.weight < 0 else "+ ")
    return f"{sign}{size}{term.constraint} {term.component}"


def _estimates(result: Reactions, width: int) -> Iterator[Line]:
    if not result.estimated:
        return
    yield Line()
    yield Line("Estimated beam sections (no stiffness is stated for these bodies)", TITLE)
    for e in result.estimated:
        how = f"{counted(e.stations, 'slice')} of" if e.stations else "the bounding box of"
        s = e.section
        text = (
            f"{e.body}: {e.material}, {e.length:.4g} m, A {s.A:.3g} m², Iy {s.Iy:.3g} m⁴, Iz {s.Iz:.3g} m⁴,"
            f" J {s.J:.3g} m⁴ from {how} {', '.join(dict.fromkeys(e.shapes))}"
        )
        yield from (Line(line) for line in wrapped(text, width, "  ", "    "))
