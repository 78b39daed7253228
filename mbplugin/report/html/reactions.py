"""Uniqueness of reactions, joint reactions, misfits, assumptions, self-stresses and remedies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mbplugin.analysis.remedies import Remedy, at_singular_pose, no_remedy
from mbplugin.analysis.uniqueness import ConstraintVerdict, SelfStress
from mbplugin.joint_reactions.misfit import LoopMisfits
from mbplugin.joint_reactions.misfit_response import MisfitEffect
from mbplugin.joint_reactions.values import ComponentReaction, ConstraintReaction, Reactions
from mbplugin.model import COMPONENTS, freedom_of, units_of
from mbplugin.phrases import counted, listed, number
from mbplugin.report import record
from mbplugin.report.html.chapters import Chapter
from mbplugin.report.html.chart import Child, Html, choice, element, section, table, unshown
from mbplugin.report.text.reactions import family_title, relation_words, undetermined

#: Maximum number of rows shown; all are in the JSON.
_MOST = 500
_MARKS = {"rigid": "", "stated": " *", "estimated": " ~", "inequalities": " #"}
_WORDS = {
    "stated": "* not determined by the rigid model; by the stated stiffness",
    "estimated": "~ not determined by the rigid model; computed with estimated stiffness",
}
#: Maximum number of misfits shown for one loop; all are in the JSON.
_MISFITS = 24


def uniqueness_section(chapter: Chapter) -> Html | None:
    """Return the section with the verdict on each constraint, non-unique ones first."""
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
        folded=_numbers(sorted_ones) if chapter.report is not None else "",
    )


def _numbers(constraints: Sequence[ConstraintVerdict]) -> str:
    """Return the number of constraints, and of those whose reaction is not unique or undecided."""
    open_ones = (
        f"{count} {reaction}"
        for reaction in ("non-unique", "undecided")
        if (count := sum(one.reaction == reaction for one in constraints))
    )
    return ", ".join((counted(len(constraints), "constraint"), *open_ones))


def _verdict(one: ConstraintVerdict) -> Sequence[Child]:
    non_unique = " ".join(c.name for c in one.components if c.unique is False)
    between = [choice(one.body_a, "body"), " – ", choice(one.body_b, "body")]
    badge = element("span", one.reaction, class_=f"badge {one.reaction}")
    in_space = "" if one.unique else record.open_words(one.open_force, one.open_moment)
    made = one.type.replace("_", " ")
    return choice(one.name, "joint"), badge, one.kind, made, between, non_unique, in_space


def reactions_section(chapter: Chapter) -> Html | None:
    """Return the section with the wrenches of joints, and the forces of drives, wheels and couplings."""
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
        table(("drive, wheel, coupling or contact", "component", "value"), others[:_MOST])
        if others
        else None,
        [element("p", f"Contacts: {words}.") for words in record.standing_words(result)],
        list(_tolerances(result)),
        list(_envelope(result)),
        list(_actuation(result)),
        list(_families(result)),
        [element("p", line, class_="fine") for line in _legend(result)],
        [element("p", f"Note: {note}", class_="fine") for note in result.notes],
        lead=f"{result.mode.capitalize()}{plane}: the wrench on the successor, at the origin of its joint"
        f" frame, in axes of the predecessor's joint frame.{held}",
        folded=counted(len(result.constraints), "constraint") if chapter.report is not None else "",
    )


def _envelope(result: Reactions) -> Iterator[Html]:
    """Yield the largest loads along the motion, if requested."""
    if (found := result.envelope) is None:
        return
    title = f"Largest loads of {record.envelope_title(found)}; the wrenches above are those of the first"
    rows = [
        [choice(load.joint, "joint"), load.name or load.kind, *record.envelope_cells(load)]
        for load in found.loads[:_MOST]
    ]
    yield table(("joint", "load", *record.ENVELOPE_HEADS), rows, caption=title)
    yield element("p", f"{'; '.join(record.envelope_legend(found))}.", class_="fine")


def _actuation(result: Reactions) -> Iterator[Html]:
    """Yield the actuator forces, if requested, and how non-unique ones may be shared."""
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
    yield element("p", f"{record.ACTUATOR_TITLE}.")
    yield table(("actuator", "force", "determined"), rows[:_MOST])
    words = list(record.share_words(found))
    if words:
        yield element("p", f"The motion stays the same with any more of: {'; '.join(words)}.", class_="fine")


def _tolerances(result: Reactions) -> Iterator[Html]:
    """Yield the load deviations due to stated tolerances, and the misfits that stated limits allow."""
    if result.misfit_sigma:
        yield table(
            ("component", "deviation"), record.deviation_rows(result)[:_MOST], caption=record.DEVIATIONS_TITLE
        )
    if result.limits:
        sentences = [record.budget_words(one) for one in result.budget[:_MOST]] or [
            "No misfit loads a limited joint."
        ]
        yield element("h3", record.BUDGET_TITLE)
        yield element("ul", [element("li", one) for one in sentences])


def _families(result: Reactions) -> Iterator[Html]:
    """Yield for each family the undetermined components, with the equations of the others folded."""
    for family in result.families:
        follow = [element("li", relation_words(one)) for one in family.relations[:_MOST]]
        yield element(
            "details", element("summary", family_title(family, bool(result.contacts))), element("ul", follow)
        )


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
        return element("span", record.interval_words(component) or "?", class_="open")
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
    yield from record.bounds_legend(result)
    if any(
        c.value is None and not record.interval_words(c) for one in result.constraints for c in one.components
    ):
        yield f"? {undetermined(result)}"
    if result.estimated:
        bodies = counted(len({e.body for e in result.estimated}), "body", "bodies")
        yield f"Estimated: beam sections of {bodies}, of {result.estimated[0].material}."


# Loads due to misfits of closing constraints, as tables.


def misfits_section(chapter: Chapter) -> Html | None:
    """Return the section with the loads due to a misfit of each closing component."""
    if chapter.report is None or not chapter.report.misfits:
        return None
    return section(
        "What a misfit costs",
        element("p", record.rounding_words(rounding))
        if (rounding := chapter.report.rounding) is not None
        else None,
        [_loop(loop) for loop in chapter.report.misfits],
        element("h3", "What the remedies do to that"),
        element("ul", [element("li", sentence) for sentence in record.consequence_words(chapter.report)]),
        lead="Loads that a misfit of 0.1 mm or 1 mrad causes by itself, the largest first.",
        folded=counted(len(chapter.report.misfits), "loop"),
    )


def _loop(loop: LoopMisfits) -> Html:
    rows = [_misfits_row(effect) for effect in loop.effects[:_MISFITS]]
    more = len(loop.effects) - len(rows)
    return element(
        "div",
        element("h3", f"Loop of {listed(loop.constraints)}"),
        table(("misfit", "constraint", "component", "loads", "stiffness"), rows),
        element("p", f"{more} more are in the JSON.") if more else None,
    )


def _misfits_row(effect: MisfitEffect) -> tuple[Child, ...]:
    place = (str(effect.step), choice(effect.constraint, "joint"), effect.component)
    if effect.infinite:
        return (*place, "no compliance limits them", f"missing: {record.lacking_words(effect)}")
    return (*place, record.load_words(effect), record.source_words(effect))


# Self-stresses, selectable for the 3D view, and remedies.


def stresses_section(chapter: Chapter) -> Html | None:
    """Return the section with the self-stresses."""
    analysis = chapter.verdicts
    if analysis is None or not analysis.self_stresses:
        return None
    shown, p = len(analysis.self_stresses), analysis.degree_of_redundancy
    lead = (
        "Internal forces in equilibrium without any load: one for each redundant constraint."
        " Select one or several to see the constraints that they load."
    )
    if shown < p:
        lead += f" {shown} of {p} are listed here."
    return section(
        "Self-stresses",
        element(
            "ol", [_stress(k, stress) for k, stress in enumerate(analysis.self_stresses)], class_="stresses"
        ),
        lead=lead,
    )


def _stress(k: int, stress: SelfStress) -> Html:
    rows = [(choice(c.constraint, "joint"), c.component, number(c.weight, "+.3f")) for c in stress.components]
    return element(
        "li",
        element("button", "show", type="button", data_stress=k, aria_pressed="false"),
        " ",
        stress.text,
        element(
            "details",
            element("summary", counted(len(stress.components), "component")),
            table(("constraint", "component", "weight, scaled"), rows),
        ),
    )


def remedies_section(chapter: Chapter) -> Html | None:
    """Return the section with the remedies, each with its proof and lines to paste."""
    analysis = chapter.verdicts
    if analysis is None or not (analysis.remedies or analysis.obstacles):
        return None
    why_not = [element("p", f"{no_remedy(analysis.obstacles)}.")] if analysis.obstacles else []
    return section(
        "What to change",
        [
            *why_not,
            *(
                element(
                    "details",
                    element("summary", f"{_in_words(remedy)} → {remedy.proof}"),
                    element("pre", remedy.toml),
                    open=k == 0,
                )
                for k, remedy in enumerate(analysis.remedies)
            ),
        ],
        lead="Each remedy is verified by an analysis of the changed mechanism"
        f"{at_singular_pose(analysis.singular_pose)}. Paste its lines into the scene."
        if analysis.remedies
        else "",
    )


def _in_words(remedy: Remedy) -> str:
    by_change: dict[tuple[str, str], list[str]] = {}
    for change in remedy.changes:
        by_change.setdefault((change.old, change.new), []).append(change.constraint)
    return "; ".join(f"{listed(names, 6)}: {old} → {new}" for (old, new), names in by_change.items())
