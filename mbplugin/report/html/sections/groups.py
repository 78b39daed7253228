"""Groups of constraints, and the result of the divide-and-conquer test."""

from __future__ import annotations

from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.markup import Html, element, section, table

_HEADS = ("members", "reaction", "components", "resultant", "effect on the assembly")


def groups_section(chapter: Chapter) -> Html | None:
    """Return the three results for each group."""
    analysis = chapter.verdicts
    if analysis is None or not analysis.groups:
        return None
    rows = [
        (
            ", ".join(group.members),
            group.reaction,
            _told(group.components_unique),
            _told(group.resultant_unique),
            _told(group.assembly_effect_unique),
        )
        for group in analysis.groups
    ]
    return section("Groups", table(_HEADS, rows))


def dca_section(chapter: Chapter) -> Html | None:
    """Return the steps of the divide-and-conquer test, where it was the method."""
    analysis = chapter.verdicts
    if analysis is None or analysis.dca is None:
        return None
    stalled = ", ".join(analysis.dca.stalled)
    return section(
        "Divide and conquer",
        element("p", f"The method stalls at {stalled} and leaves the reactions beyond undecided.")
        if stalled
        else None,
        element("details", element("summary", "every step"), element("pre", analysis.dca.trace)),
    )


def _told(unique: bool | None) -> str:
    return "" if unique is None else "unique" if unique else "non-unique"
