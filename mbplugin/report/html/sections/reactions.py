"""Unique and non-unique reactions, and the joint reactions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mbplugin.analysis.uniqueness import ConstraintVerdict
from mbplugin.joint_reactions.values import ComponentReaction, ConstraintReaction, Reactions
from mbplugin.model.component import units_of
from mbplugin.model.mechanism.identity import freedom_of
from mbplugin.model.spatial import COMPONENTS
from mbplugin.phrases import counted
from mbplugin.report import actuators
from mbplugin.report.directions import open_words
from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.markup import Child, Html, choice, element, section, table, unshown
from mbplugin.report.misfits import BUDGET_TITLE, DEVIATIONS_TITLE, budget_words, deviation_rows
from mbplugin.report.text.reactions import family_title, relation_words, undetermined

#: Rows that somebody reads; all are in the JSON.
_MOST = 500
_MARKS = {"rigid": "", "stated": " *", "estimated": " ~"}
_WORDS = {
    "stated": "* not determined by the rigid model; by the stated stiffness",
    "estimated": "~ not determined by the rigid model; by an estimate of stiffness",
}


def uniqueness_section(chapter: Chapter) -> Html | None:
    """Return the verdict on every constraint, those that are not unique first."""
    analysis = chapter.verdicts
    if analysis is None or not analysis.constraints:
        return None
    order = ("non-unique", "undecided", "unique")
    sorted_ones = sorted(analysis.constraints, key=lambda c: order.index(c.reaction))
    heads = ("constraint", "reaction", "kind", "type", "between", "non-unique components", "in world axes")
    kept = 5 if all(one.unique for one in sorted_ones) else 7
    return section(
        "Unique and non-unique reactions",
        table(
            heads[:kept],
            [_verdict(one)[:kept] for one in sorted_ones[:_MOST]],
        ),
        unshown(len(sorted_ones), _MOST),
    )


def _verdict(one: ConstraintVerdict) -> Sequence[Child]:
    non_unique = " ".join(c.name for c in one.components if c.unique is False)
    between = [choice(one.body_a, "body"), " – ", choice(one.body_b, "body")]
    badge = element("span", one.reaction, class_=f"badge {one.reaction}")
    in_space = "" if one.unique else open_words(one.open_force, one.open_moment)
    made = one.type.replace("_", " ")
    return choice(one.name, "joint"), badge, one.kind, made, between, non_unique, in_space


def reactions_section(chapter: Chapter) -> Html | None:
    """Return the table of wrenches, and of the forces of drives, wheels and couplings."""
    result = chapter.reactions
    if result is None:
        return None
    pairs = [c for c in result.constraints if c.wrench is not None and c.components]
    others = list(_others(result))
    heads = ["joint", "type", *(f"{name} [{units_of(name).force}]" for name in COMPONENTS)]
    plane = f" in the {result.planar} plane" if result.planar else ""
    held = f" Held for the balance: {', '.join(result.held)}." if result.held else ""
    return section(
        "Joint reactions",
        table(heads, [_row(c) for c in pairs[:_MOST]], numbers=range(2, 8)),
        unshown(len(pairs), _MOST),
        table(("drive, wheel or coupling", "component", "value"), others[:_MOST]) if others else None,
        list(_tolerances(result)),
        list(_actuation(result)),
        list(_families(result)),
        [element("p", line, class_="fine") for line in _legend(result)],
        [element("p", f"Note: {note}", class_="fine") for note in result.notes],
        lead=f"{result.mode.capitalize()}{plane}: the wrench on the successor, at the origin of its joint"
        f" frame, in axes of the predecessor's joint frame.{held}",
    )


def _actuation(result: Reactions) -> Iterator[Html]:
    """Yield the forces of the actuators, and what they may share, where they were asked for."""
    if (found := result.actuation) is None:
        return
    rows = [
        [
            choice(force.joint, "joint"),
            f"{force.value:.4g} {force.unit}",
            "by the motion" if force.unique else "shared, of least norm",
        ]
        for force in found.forces
    ]
    yield element("p", f"{actuators.TITLE}.")
    yield table(("actuator", "force", "determined"), rows[:_MOST])
    words = list(actuators.share_words(found))
    if words:
        yield element("p", f"The motion stays the same with any more of: {'; '.join(words)}.", class_="fine")


def _tolerances(result: Reactions) -> Iterator[Html]:
    """Yield the deviations that stated tolerances cause, and the misfits that stated limits allow."""
    if result.misfit_sigma:
        yield table(("component", "deviation"), deviation_rows(result)[:_MOST], caption=DEVIATIONS_TITLE)
    if result.limits:
        sentences = [budget_words(one) for one in result.budget[:_MOST]] or [
            "No misfit loads a limited joint."
        ]
        yield element("h3", BUDGET_TITLE)
        yield element("ul", [element("li", one) for one in sentences])


def _families(result: Reactions) -> Iterator[Html]:
    """Yield what may have any value in a rigid model, and how the rest follows from it, folded up."""
    for family in result.families:
        follow = [element("li", relation_words(one)) for one in family.relations[:_MOST]]
        yield element("details", element("summary", family_title(family)), element("ul", follow))


def _row(constraint: ConstraintReaction) -> Html:
    values = {component.name: component for component in constraint.components}
    cells = [
        element("td", _value(values[name]), class_="n", data_reaction=f"{constraint.name} {name}")
        if name in values
        else element("td", class_="n")
        for name in COMPONENTS
    ]
    return element(
        "tr",
        element("td", choice(constraint.name, "joint")),
        element("td", constraint.type),
        cells,
    )


def _value(component: ComponentReaction) -> Html | str:
    if component.value is None:
        return element("span", "?", class_="open")
    text = f"{component.value:.4g}{_MARKS.get(component.source or '', '')}"
    return text if component.unique else element("span", text, class_="open")


def _others(result: Reactions) -> Iterator[list[Child]]:
    for c in result.constraints:
        for component in c.components:
            if component.name not in COMPONENTS or c.wrench is None:
                yield [
                    c.name,
                    freedom_of(component.name),
                    [
                        element("span", _value(component), data_reaction=f"{c.name} {component.name}"),
                        f" {component.unit}",
                    ],
                ]


def _legend(result: Reactions) -> Iterator[str]:
    sources = {component.source for c in result.constraints for component in c.components}
    yield from (words for source, words in _WORDS.items() if source in sources)
    if None in sources:
        yield f"? {undetermined(result)}"
    if result.estimated:
        bodies = counted(len({e.body for e in result.estimated}), "body", "bodies")
        yield f"Estimated: beam sections of {bodies}, of {result.estimated[0].material}."
