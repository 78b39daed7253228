"""A sweep: the outcomes of its stops, quantiles, bounds, and where the worst are."""

from __future__ import annotations

from mbplugin.phrases import counted
from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.markup import Html, element, section, table
from mbplugin.report.text.stopping.sweep import (
    BOUND_HEADS,
    QUANTILE_HEADS,
    bound_rows,
    bound_sentences,
    outcome_sentences,
    quantile_rows,
)


def sweep_section(chapter: Chapter) -> Html | None:
    """Return the outcomes, tables of quantiles and bounds, and what is assumed."""
    made = chapter.sweep
    if made is None:
        return None
    scenario, units = made.plan.scenario, chapter.units
    bounds = bound_rows(made, units)
    return section(
        "Sweep of stops",
        element("ul", [element("li", one) for one in outcome_sentences(made.report)]),
        table(
            ("of those that stopped", *QUANTILE_HEADS),
            [(name, *row) for name, row in quantile_rows(made, units)],
        ),
        table(("tolerance bounds", *BOUND_HEADS), [(name, *row) for name, row in bounds]) if bounds else None,
        element("ul", [element("li", one) for one in bound_sentences(made)]),
        element("p", f"All stops are in {made.folder}."),
        element("h3", "Assumptions and notes"),
        element("ul", [element("li", one) for one in (*scenario.stated, *scenario.assumed, *scenario.notes)]),
        lead=f"{counted(made.report.count, 'stop')} of category {scenario.category}, seed {made.plan.seed}, tool"
        f" {scenario.tool}. Computed, not measured.",
    )
