"""The JSON document of ``mbplugin sweep`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from mbplugin.model.component import units_of
from mbplugin.model.enumerations import CoordinateUnit, StopCategory
from mbplugin.report.documents.part import ByName, Count, Model, Part, Recorded, Size, by_name, key
from mbplugin.report.documents.stopping.bounds import Bound, bound_entries
from mbplugin.report.documents.stopping.stops import EffortLimits, JointBrake, Payload, ToolChoice
from mbplugin.stopping.outcome.outcome import StopOutcome

if TYPE_CHECKING:
    from mbplugin.stopping.sweep.plan import SweepPlan
    from mbplugin.stopping.sweep.run import SweepReport
    from mbplugin.stopping.sweep.swept import Swept


class _OutcomeCount(Part):
    outcome: StopOutcome
    stops: Count
    first: Count = key("number of a stop")


class _Quantile(Part):
    share: Size
    value: Size


class _WorstStop(Part):
    stop: Count
    value: Size


class _Quantity(Part):
    name: str = key("a column of the part files")
    unit: Literal["s", CoordinateUnit]
    quantiles: list[_Quantile]
    worst: _WorstStop


class _Bound(Bound):
    name: str = key("a column of the part files")
    unit: Literal["s", CoordinateUnit]


class _Case(Part):
    stop: Count
    q: ByName = key("at the signal, rad, m")
    qd: ByName = key("rad/s, m/s")
    brakes: list[JointBrake]
    payloads: list[Payload]
    decelerations: ByName = key("of categories 1 and 2, rad/s², m/s²", optional=True)


class _ReplacedFile(Part):
    file: str
    reason: str


class Output(Recorded):
    """Many stops of one category."""

    source: str = key("the FILE as it was given")
    model: Model
    computed_not_measured: Literal[True]
    category: StopCategory
    tolerance: Size = key("relative rank tolerance", optional=True)
    folder: str = key("of the part files")
    seed: Count
    stops: Count = key(read="count")
    outcomes: list[_OutcomeCount]
    quantities: list[_Quantity] = key("of the stops that come to rest")
    bounds: list[_Bound] = key("of each quantity by itself", optional=True)
    cases: list[_Case] = key("what the worst stops, and the first that do not rest, start from")
    stated: list[str] = key("brakes and ramps, and where they come from", optional=True)
    assumed: list[str]
    of_effort: EffortLimits = key("brakes that are not stated", optional=True)
    tool_choice: ToolChoice = key("of which point speed and way are computed, and why", optional=True)
    notes: list[str]
    replaced: list[_ReplacedFile] = key(
        "files of the folder that were not what they should be, and were made anew"
    )


def sweep_document(swept: Swept, source: str, files: Sequence[str]) -> dict[str, Any]:
    """Return the document of one sweep."""
    report, plan = swept.report, swept.plan
    scenario = plan.scenario
    return Output.of(
        report,
        source=source,
        model=(scenario.mech.name, files),
        category=scenario.category,
        folder=swept.folder,
        tolerance=scenario.tolerance,
        seed=plan.seed,
        outcomes=[(outcome, count, report.first[outcome]) for outcome, count in report.outcomes.items()],
        quantities=[
            (name, quantity_unit(plan, name), list(own.items()), (report.worst[name], own[1.0]))
            for name, own in report.quantiles.items()
        ],
        bounds=[
            {"name": name, "unit": quantity_unit(plan, name), **bound_entries(bound)}
            for name, bound in swept.bounds.items()
        ]
        or None,
        cases=[_case(plan, k) for k in told_cases(report)],
        stated=scenario.stated,
        assumed=scenario.assumed,
        of_effort=scenario.of_effort,
        tool_choice=scenario.tool_choice,
        notes=scenario.notes,
        replaced=list(report.replaced.items()),
    )


def quantity_unit(plan: SweepPlan, name: str) -> str:
    """Return the unit of a quantity of the report; those of the tool are lengths."""
    what, _, joint = name.partition(" ")
    if what == "time":
        return "s"
    freedoms = [brake.freedom for brake in plan.scenario.brakes if brake.joint == joint]
    return units_of(freedoms[0]).coordinate if freedoms else "m"


def told_cases(report: SweepReport) -> list[int]:
    """Return the numbers of the stops that a report speaks of."""
    unrested = (stop for outcome, stop in report.first.items() if outcome != "stopped")
    return sorted({*report.worst.values(), *unrested})


def _case(plan: SweepPlan, k: int) -> tuple[Any, ...]:
    """Return what stop k starts from."""
    scenario = plan.scenario
    q, qd, brakes, payloads = plan.draw(k)
    start = by_name(scenario.mech.q_names, q), by_name(scenario.mech.qd_names, qd)
    ramps = scenario.from_state(q, qd, brakes, payloads).decelerations if scenario.category else None
    return k, *start, brakes, payloads, ramps
