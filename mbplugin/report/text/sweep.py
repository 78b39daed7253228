"""A sweep as text: the outcomes of the stops, quantiles, and the worst stop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mbplugin.model.units import SI, Units
from mbplugin.phrases import counted
from mbplugin.report.documents.stopping.sweep import quantity_unit
from mbplugin.report.text.blocks import sentences_under, table_lines, warning_lines
from mbplugin.report.text.estop import OUTCOME_WORDS
from mbplugin.report.text.layout import PLAIN_WIDTH, Line, wrapped

if TYPE_CHECKING:
    from mbplugin.stopping.sweep.plan import SweepPlan
    from mbplugin.stopping.sweep.run import SweepReport


def sweep_lines(
    report: SweepReport, plan: SweepPlan, folder: str, width: int = PLAIN_WIDTH, units: Units = SI
) -> Iterator[Line]:
    """Yield the report of one sweep, with angles and lengths in some units."""
    scenario = plan.scenario
    yield from warning_lines(scenario.of_effort.warning, width)
    stops = counted(report.count, "stop")
    title = (
        f"{scenario.mech.name}: {stops} of category 0, seed {plan.seed}, tool {scenario.tool};"
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
            (f"{name} [{unit}]", [*(f"{size * v:.4g}" for v in own.values()), str(report.worst[name])])
            for name, own in report.quantiles.items()
            for size, unit in [units.shown(quantity_unit(plan, name))]
        ],
    )
    yield Line()
    yield from (Line(text) for text in wrapped(f"all stops are in {folder}", width, "  ", "    "))
    yield from sentences_under("Assumed", scenario.assumed, width)
    yield from sentences_under("Notes", scenario.notes, width)
