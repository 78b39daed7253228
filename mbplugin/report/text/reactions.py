"""Joint reactions as text (a table of values and marks, undetermined components), and motions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.model import COMPONENTS, SI, Units, coordinate_units, freedom_of, units_of
from mbplugin.model.brakes import idle_sentence
from mbplugin.model.mechanism import base_sentence, floating_sentence, held_sentence
from mbplugin.phrases import counted, joined_by_words, listed
from mbplugin.readers.standing import stance_sentence
from mbplugin.report import largest_of, record, shown
from mbplugin.report.text import (
    COMPONENT_NAMES,
    MOST,
    MOST_NAMES,
    PLAIN_WIDTH,
    TITLE,
    Line,
    event_lines,
    first_lines,
    grid_lines,
    more_lines,
    note_lines,
    sentences_under,
    table_lines,
    wrapped,
)
from mbplugin.stopping.scenario import assumed_brakes, brakes_of_effort

if TYPE_CHECKING:
    from mbplugin.joint_reactions.sizing import Envelope
    from mbplugin.joint_reactions.statics import Family, Relation, Weight
    from mbplugin.joint_reactions.stiffness import MissingStiffness
    from mbplugin.joint_reactions.values import ComponentReaction, ConstraintReaction, Reactions, WorldWrench
    from mbplugin.simulation.trajectory.trajectory import Trajectory

#: Attributes of a motion with energies and work, and their labels.
ENERGIES = {
    "kinetic": "kinetic",
    "potential": "potential",
    "dissipated": "dissipated by damping and friction",
    "applied": "work of loads and torques",
    "driven": "work of drivers",
}
#: Mark after a value, by its source.
MARKS = {"rigid": " ", "stated": "*", "estimated": "~", "inequalities": "#", None: " "}
OPEN = "?"
COLUMN = 11


def reactions_lines(
    result: Reactions, width: int = PLAIN_WIDTH, axes: str = "joint", frames: bool = False
) -> Iterator[Line]:
    """Yield the report of joint reactions, or of their largest values along a motion.

    Parameters
    ----------
    width : int
        Width of sentences and tables, characters.
    axes : "joint" or "world"
        Axes in which the wrenches are printed.
    frames : bool
        Whether to print the point and the axes of every joint frame.
    """
    assumed = (
        *base_sentence(result.mechanism.assumed_fixed),
        *stance_sentence(result.stance),
        *held_sentence(result.assumed_held),
    )
    if result.envelope is not None:
        yield from first_lines([], assumed, width, notes=result.notes, warnings_first=True)
        yield from envelope_lines(result.envelope, width)
        return
    headline = [Line(text, "bold") for text in wrapped(_headline(result), width, "", "  ")]
    yield from first_lines(headline, assumed, width, notes=result.notes, warnings_first=True)
    yield from world_table(result, width) if axes == "world" else _table(result, width)
    yield from _others(result, width)
    legend = _legend(result, axes)
    yield from (Line(text) for sentence in legend for text in wrapped(sentence, width, "  ", "    "))
    yield from sentences_under("Contacts", [*record.standing_words(result)], width)
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
    held = f", held: {listed(result.held)}" if result.held else ""
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
        return (record.interval_words(component) or OPEN) + " "
    return f"{component.value:.6g}{MARKS[component.source]}"


def _others(result: Reactions, width: int) -> Iterator[Line]:
    """Yield reactions without components in a pair's frame: drives, locked joints, couplings, wheels, rods."""
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
        # world directions may be undetermined where no joint component is, and vice versa
        sources |= {source for c in result.constraints if c.world for source in c.world.sources}
    axes_name = "the world" if axes == "world" else "the predecessor's joint frame"
    yield ""
    yield f"on the successor, at the origin of its joint frame, in axes of {axes_name}"
    if result.contacts:
        yield "at a contact cn along its normal, ct1 downhill (along x on a level plane), ct2 = cn × ct1"
    if "stated" in sources:
        yield f"{MARKS['stated']} not determined by the rigid model; by the stated stiffness"
    if "estimated" in sources:
        yield f"{MARKS['estimated']} not determined by the rigid model; computed with estimated stiffness (below)"
    yield from record.bounds_legend(result)
    if any(
        c.value is None and not record.interval_words(c) for one in result.constraints for c in one.components
    ) or (axes == "world" and None in sources):
        yield f"{OPEN} {undetermined(result)}"


def undetermined(result: Reactions) -> str:
    """Return the reason why components have no value, and the bodies and joints that still need a stiffness."""
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
        yield from (Line(text, TITLE) for text in wrapped(family_title(family, bool(result.contacts)), width))
        for relation in family.relations[:MOST]:
            yield from (Line(text) for text in wrapped(relation_words(relation), width, "  ", "      "))
        yield from more_lines(len(family.relations), MOST)


def _actuation(result: Reactions, width: int) -> Iterator[Line]:
    """Yield the actuator forces, and how non-unique ones may be shared."""
    if (found := result.actuation) is None:
        return
    yield Line()
    yield Line(record.ACTUATOR_TITLE, TITLE)
    cells = [
        (one.joint, (f"{one.value:.6g}{' ' if one.unique else record.SHARED}", one.unit))
        for one in found.forces
    ]
    yield from grid_lines("", ("",), cells, width)
    if found.free:
        text = (
            f"{record.SHARED} of least norm; the motion stays the same with any more in {listed(found.free)}:"
        )
        yield from (Line(line) for line in wrapped(text, width, "  ", "    "))
    for text in record.share_words(found):
        yield from (Line(line) for line in wrapped(text, width, "    ", "      "))


def envelope_lines(envelope: Envelope, width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the largest loads along a motion, joint by joint.

    Parameters
    ----------
    width : int
        Width of sentences and tables, characters.
    """
    head = f"{envelope.mechanism.name}: largest joint loads of {record.envelope_title(envelope)}"
    yield from (Line(text, "bold") for text in wrapped(head, width, "", "  "))
    rows = [
        (f"{load.joint} {load.name or load.kind}", record.envelope_cells(load)) for load in envelope.loads
    ]
    yield from table_lines("", record.ENVELOPE_HEADS, rows, width)
    yield Line()
    for sentence in record.envelope_legend(envelope):
        yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))
    yield from note_lines(envelope.notes, width)


def _deviations(result: Reactions, width: int) -> Iterator[Line]:
    if not result.misfit_sigma:
        return
    yield Line()
    yield from (Line(text, TITLE) for text in wrapped(record.DEVIATIONS_TITLE, width, "", "  "))
    rows = record.deviation_rows(result)
    yield from grid_lines("", ("",), [(name, (value,)) for name, value in rows[:MOST]], width)
    if not rows:
        yield Line("  none of these misfits loads anything")
    yield from more_lines(len(rows), MOST)


def _budget(result: Reactions, width: int) -> Iterator[Line]:
    if not result.limits:
        return
    sentences = [record.budget_words(one) for one in result.budget[:MOST]]
    none = ["no misfit loads a limited joint"]
    yield from sentences_under(record.BUDGET_TITLE, sentences or none, width)
    yield from more_lines(len(result.budget), MOST)


def family_title(family: Family, bounded: bool = False) -> str:
    """Return a title with the components that may have any value in a rigid model."""
    free = listed([f"{name} {component}" for name, component, _ in family.parameters], MOST_NAMES)
    within = " within the bounds" if bounded else ""
    return f"Undetermined in a rigid model: any {free}{within}; the others follow"


def relation_words(relation: Relation) -> str:
    """Return the equation of a component in terms of those that may have any value."""
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


# A motion as text: its range, energies, events and largest reactions.


def simulate_lines(
    motion: Trajectory, pairs: Sequence[str] = (), width: int = PLAIN_WIDTH, units: Units = SI
) -> Iterator[Line]:
    """Yield the report of one motion, with the reactions of ``pairs``; coordinates are in the given units."""
    headline = [Line(text, "bold") for text in wrapped(_simulate_headline(motion), width, "", "  ")]
    if motion.motion_range is not None:
        text = f"The motion is not unique: {motion.motion_range.words}"
        headline += [Line(line, "bold") for line in wrapped(text, width, "", "  ")]
    mech, actions = motion.mechanism, motion.actions
    notes = (
        *base_sentence(mech.assumed_fixed),
        *floating_sentence(mech),
        *idle_sentence(mech, actions),
        *motion.notes,
    )
    warnings = brakes_of_effort(actions.brakes).warnings
    yield from first_lines(headline, warnings, width, notes=notes, warnings_first=True)
    yield from _coordinates(motion, width, units)
    yield from _independent(motion, width)
    yield from _energies(motion, width)
    yield from _residuals(motion, width)
    yield from event_lines(motion.events, width, 9)
    if pairs:
        yield from _reactions(motion, pairs, width)
    yield from sentences_under("Assumed", joined_by_words(assumed_brakes(motion.actions.brakes)), width)
    yield from note_lines(motion.notes, width)


def _simulate_headline(motion: Trajectory) -> str:
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
        said = f"constraints hold to {worst:.2g} (m, rad), worst at {name}"
        if motion.outcome == "loop_opened":
            said += "; then a loop opens"
        yield from (Line(text) for text in wrapped(said, width, "  ", "    "))


def _reactions(motion: Trajectory, pairs: Sequence[str], width: int) -> Iterator[Line]:
    """Yield the largest absolute value of each component; undetermined ones are marked ?."""
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


# Joint frames as text: reactions in world axes, undetermined directions, and the pose of each frame.


def world_table(result: Reactions, width: int) -> Iterator[Line]:
    """Yield the wrenches of pairs, drives, locks and wheels in world axes."""
    rows = [(f"{c.name} ({c.type})", c.world) for c in result.constraints if c.world is not None]
    values = np.array([world.wrench for _, world in rows]).reshape(-1, 6)
    largest = [np.nanmax(np.abs(part), initial=0.0) for part in (values[:, :3], values[:, 3:])]
    yield from wrench_lines(
        COMPONENT_NAMES, [(name, [*_cells(world, largest)]) for name, world in rows], width
    )


def wrench_lines(
    heads: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]], width: int
) -> Iterator[Line]:
    """Yield a table of wrenches, or nothing without rows; cells end with the mark of their source."""
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
        if c.reaction != "unique" and (words := record.open_words(c.open_force, c.open_moment)):
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
    """Yield the point of each reaction and the axes of its joint frame in the world."""
    rows = [(c, c.point, c.R_WJ) for c in result.constraints if c.point is not None and c.R_WJ is not None]
    if not rows:
        return
    yield Line()
    title = "Joint frames in the world: point [m], and the axes x, y, z of the components"
    yield from (Line(text, TITLE) for text in wrapped(title, width, "", "  "))
    vectors = [(f"{c.name} ({c.body_a} to {c.body_b})", (point, *R_WJ.T)) for c, point, R_WJ in rows]
    cells = [(name, [record.vector_words(vector.tolist()) for vector in own]) for name, own in vectors]
    yield from grid_lines("", ("point", "x", "y", "z"), cells, width)
