"""The worst stops that a search found, and the same with a brake that fails."""

from __future__ import annotations

from mbplugin.phrases import counted
from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.markup import Child, Html, data_cell, element, section, table
from mbplugin.report.text.stopping.estop import OUTCOME_WORDS
from mbplugin.report.text.stopping.worst_stop import (
    FAILURE_HEADS,
    WORST_HEADS,
    failure_cells,
    failure_name,
    worst_cells,
    worst_start,
)
from mbplugin.stopping.worst.in_units import worst_in_units
from mbplugin.stopping.worst.values import FailedBrake, WorstStop


def worst_stops_section(chapter: Chapter) -> Html | None:
    """Return the finds of the search, and its assumptions."""
    if chapter.worst is None:
        return None
    worst, length = worst_in_units(chapter.worst, chapter.units), chapter.units.length
    outcomes = ", ".join(f"{OUTCOME_WORDS[outcome]} {count}" for outcome, count in worst.outcomes.items())
    assumed = worst.only_here(chapter.table.assumptions if chapter.table is not None else ())
    return section(
        "Worst stops",
        table(("worst stop", *WORST_HEADS, "again"), [_row(one, length) for one in worst.found]),
        table(
            ("these stops again", *FAILURE_HEADS),
            [(failure_name(one), *_failure(one, length)) for one in worst.failed],
        )
        if worst.failed
        else None,
        element("h3", "Assumptions and notes") if assumed else None,
        element("ul", [element("li", sentence) for sentence in assumed]) if assumed else None,
        lead=f"The worst of {counted(worst.count, 'stop')} of category {worst.category} that a search computed, seed"
        f" {worst.seed}, tool {worst.tool}: {outcomes}. Computed, not measured.",
    )


def _failure(one: FailedBrake, length: str) -> list[Child]:
    """Return the cells of a stop with a failing brake; red where it does not end at rest."""
    said, *rest = failure_cells(one, length)
    return [said if one.outcome == "stopped" else element("span", said, class_="badge bad"), *rest]


def _row(one: WorstStop, length: str) -> Html:
    again = element(
        "details",
        element("summary", "pose, command"),
        element("p", f"from {worst_start(one)}"),
        element("code", one.command) if one.command else None,
    )
    said = OUTCOME_WORDS[one.outcome]
    name = one.name if one.outcome == "stopped" else f"{one.name}: {said}"
    cells = (name, *worst_cells(one, length), again)
    return element(
        "tr",
        [data_cell(cell) for cell in cells],
        class_=None if one.outcome == "stopped" else "bad",
    )
