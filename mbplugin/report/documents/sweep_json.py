"""The JSON document of ``mbplugin sweep`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mbplugin.report.documents.json import SCHEMA_VERSION

if TYPE_CHECKING:
    from mbplugin.stopping.sweep.plan import SweepPlan
    from mbplugin.stopping.sweep.run import SweepReport


def sweep_document(
    report: SweepReport, plan: SweepPlan, source: str, files: Sequence[str], folder: str
) -> dict[str, Any]:
    """Return the document of one sweep."""
    scenario = plan.scenario
    return {
        "schema_version": SCHEMA_VERSION,
        "source": source,
        "model": {"name": scenario.mech.name, "files": list(files)},
        "computed_not_measured": True,
        "category": scenario.category,
        "folder": folder,
        "seed": plan.seed,
        "stops": report.count,
        "outcomes": [
            {"outcome": outcome, "stops": count, "first": report.first[outcome]}
            for outcome, count in report.outcomes.items()
        ],
        "quantities": [
            {
                "name": name,
                "unit": quantity_unit(plan, name),
                "quantiles": [{"share": share, "value": value} for share, value in own.items()],
                "worst": {"stop": report.worst[name], "value": own[1.0]},
            }
            for name, own in report.quantiles.items()
        ],
        "cases": [_case(plan, k) for k in told_cases(report)],
        "assumed": list(scenario.assumed),
        "notes": list(scenario.notes),
        "replaced": [{"file": file, "reason": reason} for file, reason in report.replaced.items()],
    }


def quantity_unit(plan: SweepPlan, name: str) -> str:
    """Return the unit of a quantity of the report."""
    what, _, joint = name.partition(" ")
    if what == "time":
        return "s"
    turning = {brake.joint for brake in plan.scenario.brakes if brake.freedom.startswith("r")}
    return "rad" if joint in turning else "m"


def told_cases(report: SweepReport) -> list[int]:
    """Return the numbers of the stops that a report speaks of."""
    unrested = (stop for outcome, stop in report.first.items() if outcome != "stopped")
    return sorted({*report.worst.values(), *unrested})


def _case(plan: SweepPlan, k: int) -> dict[str, Any]:
    """Return what stop k started from."""
    mech = plan.scenario.mech
    q, qd, brakes, payloads = plan.draw(k)
    return {
        "stop": k,
        "q": dict(zip(mech.q_names, q, strict=True)),
        "qd": dict(zip(mech.qd_names, qd, strict=True)),
        "brakes": [brake.document() for brake in brakes],
        "payloads": [{"body": p.body, "mass": p.mass, "com": p.com, "inertia": p.inertia} for p in payloads],
    }
