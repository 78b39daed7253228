"""A sweep with all that its reports show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mbplugin.phrases import counted, one_line
from mbplugin.rendering import Result
from mbplugin.stopping.order_statistics import ToleranceBound
from mbplugin.stopping.sweep.plan import SweepPlan
from mbplugin.stopping.sweep.run import SweepReport


@dataclass(frozen=True, eq=False)
class Swept(Result):
    """Many stops: what was planned, what came out (s, m, rad), and where they are.

    Parameters
    ----------
    report : SweepReport
    plan : SweepPlan
    folder : str
        Of the part files.
    bounds : mapping of str to ToleranceBound
        By quantity; empty where none were requested.
    """

    report: SweepReport
    plan: SweepPlan
    folder: str
    bounds: Mapping[str, ToleranceBound] = field(default_factory=dict)

    def __repr__(self) -> str:
        outcomes = (f"{number} {name}" for name, number in self.report.outcomes.items())
        facts = (counted(self.report.count, "stop"), *outcomes, f"seed {self.plan.seed}")
        return one_line(self, self.plan.scenario.mech.name, facts)
