"""A sweep as text: the outcomes of the stops, quantiles, and the worst stop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from mbplugin.model.units import SI, Units
from mbplugin.phrases import counted
from mbplugin.report.documents.stopping.sweep import quantity_unit
from mbplugin.report.rounding import ROUNDING, shown
from mbplugin.report.text.blocks import sentences_under, table_lines, warning_lines
from mbplugin.report.text.bounds import missing_sentence, percent, rounded_up
from mbplugin.report.text.layout import PLAIN_WIDTH, Line, wrapped
from mbplugin.report.text.stopping.estop import OUTCOME_WORDS

if TYPE_CHECKING:
    from mbplugin.stopping.order_statistics import ToleranceBound
    from mbplugin.stopping.sweep.plan import SweepPlan
    from mbplugin.stopping.sweep.run import SweepReport


def sweep_lines(
    report: SweepReport,
    plan: SweepPlan,
    folder: str,
    width: int = PLAIN_WIDTH,
    units: Units = SI,
    bounds: Mapping[str, ToleranceBound] | None = None,
) -> Iterator[Line]:
    """Yield the report of one sweep, with angles and lengths in some units, and bounds where they are given."""
    scenario = plan.scenario
    yield from warning_lines(scenario.of_effort.warning, width)
    stops = counted(report.count, "stop")
    title = (
        f"{scenario.mech.name}: {stops} of category {scenario.category}, seed {plan.seed}, tool {scenario.tool};"
        " computed, not measured"
    )
    yield from (Line(text, "bold") for text in wrapped(title, width, "", "  "))
    yield Line()
    for outcome, count in report.outcomes.items():
        first = "" if outcome == "stopped" else f", first stop {report.first[outcome]}"
        yield Line(f"  {OUTCOME_WORDS[outcome]}: {count} ({100 * count / report.count:.4g} %){first}")
    yield from table_lines(
        "of those that stopped",
        ("median", "90 %", "99 %", "largest", "in stop"),
        [
            (f"{name} [{unit}]", [*(shown(v, size=size) for v in own.values()), str(report.worst[name])])
            for name, own in report.quantiles.items()
            for size, unit in [units.shown(quantity_unit(plan, name))]
        ],
    )
    if bounds:
        yield from _bounds(bounds, plan, width, units)
    yield Line()
    yield from (Line(text) for text in wrapped(f"all stops are in {folder}", width, "  ", "    "))
    yield from sentences_under("Assumed", scenario.assumed, width)
    yield from sentences_under("Notes", scenario.notes, width)


def _bounds(
    bounds: Mapping[str, ToleranceBound], plan: SweepPlan, width: int, units: Units
) -> Iterator[Line]:
    """Yield a table of the bounds, or what is missing for one, and about which stops they are."""
    # the rank and the number of infinite values are the same for all quantities
    one = next(iter(bounds.values()))
    missing = missing_sentence(one)
    if not missing:
        yield from table_lines(
            "tolerance bounds",
            ("no more than", "rank", "of stops"),
            [
                (f"{name} [{unit}]", (_bound(bound.value, size), str(bound.rank), str(bound.count)))
                for name, bound in bounds.items()
                for size, unit in [units.shown(quantity_unit(plan, name))]
                if bound.value is not None
            ],
        )
        missing = (
            f"with {percent(one.confidence)} confidence, at least {percent(one.share)} of the stops that this"
            " sweep draws have no larger value: each bound by itself"
        )
    infinite = f"{counted(one.infinite, 'stop')} that did not come to rest or met a limit count as infinite"
    yield Line()
    for sentence in (missing, *([infinite] if one.infinite else [])):
        yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))


def _bound(value: float, size: float) -> str:
    """Return a bound, times the size of its unit, rounded up; rounding is 0."""
    return rounded_up(size * value) if value > ROUNDING else shown(value, size=size)
