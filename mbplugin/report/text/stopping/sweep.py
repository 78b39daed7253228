"""A sweep as text: the outcomes of the stops, quantiles, and the worst stop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mbplugin.model.units import SI, Units
from mbplugin.phrases import counted, joined_by_words
from mbplugin.report.documents.stopping.sweep import quantity_unit
from mbplugin.report.rounding import ROUNDING, shown
from mbplugin.report.text.blocks import sentences_under, warning_lines
from mbplugin.report.text.bounds import missing_sentence, percent, rounded_up
from mbplugin.report.text.layout import PLAIN_WIDTH, Line, wrapped
from mbplugin.report.text.stopping.estop import OUTCOME_WORDS
from mbplugin.report.text.table import table_lines

if TYPE_CHECKING:
    from mbplugin.stopping.sweep.run import SweepReport
    from mbplugin.stopping.sweep.swept import Swept


#: Heads of the tables of quantiles and of bounds.
QUANTILE_HEADS = ("median", "90 %", "99 %", "largest", "in stop")
BOUND_HEADS = ("no more than", "rank", "of stops")


def sweep_lines(swept: Swept, width: int = PLAIN_WIDTH, units: Units = SI) -> Iterator[Line]:
    """Yield the report of one sweep, with angles and lengths in some units."""
    scenario = swept.plan.scenario
    yield from warning_lines(scenario.of_effort.warning, width)
    yield from warning_lines(scenario.tool_choice.warning, width)
    stops = counted(swept.report.count, "stop")
    title = (
        f"{scenario.mech.name}: {stops} of category {scenario.category}, seed {swept.plan.seed}, tool"
        f" {scenario.tool}; computed, not measured"
    )
    yield from (Line(text, "bold") for text in wrapped(title, width, "", "  "))
    yield Line()
    yield from (Line(f"  {sentence}") for sentence in outcome_sentences(swept.report))
    yield from table_lines("of those that stopped", QUANTILE_HEADS, quantile_rows(swept, units), width)
    bounds = bound_rows(swept, units)
    if bounds:
        yield from table_lines("tolerance bounds", BOUND_HEADS, bounds, width)
    for k, sentence in enumerate(bound_sentences(swept)):
        yield from [Line()] * (k == 0)
        yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))
    yield Line()
    yield from (Line(text) for text in wrapped(f"all stops are in {swept.folder}", width, "  ", "    "))
    yield from sentences_under("Brakes and ramps", scenario.stated, width)
    yield from sentences_under("Assumed", joined_by_words(scenario.assumed), width)
    yield from sentences_under("Notes", scenario.notes, width)


def outcome_sentences(report: SweepReport) -> Iterator[str]:
    """Yield how many stops have each outcome, and the first one of it."""
    for outcome, count in report.outcomes.items():
        first = "" if outcome == "stopped" else f", first stop {report.first[outcome]}"
        yield f"{OUTCOME_WORDS[outcome]}: {count} ({100 * count / report.count:.4g} %){first}"


def quantile_rows(swept: Swept, units: Units) -> list[tuple[str, list[str]]]:
    """Return the name and the cells of each quantity."""
    report = swept.report
    return [
        (
            f"{name.replace('_', ' ')} [{unit}]",
            [*(shown(v, size=size) for v in own.values()), str(report.worst[name])],
        )
        for name, own in report.quantiles.items()
        for size, unit in [units.shown(quantity_unit(swept.plan, name))]
    ]


def bound_rows(swept: Swept, units: Units) -> list[tuple[str, tuple[str, ...]]]:
    """Return the name and the cells of each bound; nothing where there is none."""
    # the rank and the number of infinite values are the same for all quantities
    if not swept.bounds or missing_sentence(next(iter(swept.bounds.values()))):
        return []
    return [
        (f"{name.replace('_', ' ')} [{unit}]", (_bound(bound.value, size), str(bound.rank), str(bound.count)))
        for name, bound in swept.bounds.items()
        for size, unit in [units.shown(quantity_unit(swept.plan, name))]
        if bound.value is not None
    ]


def bound_sentences(swept: Swept) -> Iterator[str]:
    """Yield about which stops the bounds are, or what is missing for one; nothing without a request."""
    if not swept.bounds:
        return
    one = next(iter(swept.bounds.values()))
    yield missing_sentence(one) or (
        f"with {percent(one.confidence)} confidence, at least {percent(one.share)} of the stops that this"
        " sweep draws have no larger value: each bound by itself"
    )
    if one.infinite:
        yield f"{counted(one.infinite, 'stop')} that did not come to rest or met a limit count as infinite"


def _bound(value: float, size: float) -> str:
    """Return a bound, times the size of its unit, rounded up; rounding is 0."""
    return rounded_up(size * value) if value > ROUNDING else shown(value, size=size)
