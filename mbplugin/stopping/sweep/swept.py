"""A sweep with all that its reports show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mbplugin.stopping.order_statistics import ToleranceBound
from mbplugin.stopping.sweep.plan import SweepPlan
from mbplugin.stopping.sweep.run import SweepReport


@dataclass(frozen=True, eq=False)
class Swept:
    """What was planned, what came out, and where the stops are.

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
