"""One part of a sweep: some hundred stops, and the file they end up in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mbplugin.files import temporary_beside
from mbplugin.stopping.sweep.folder import arrow, part_file, part_schema, signed_table
from mbplugin.stopping.sweep.orphans import end_with
from mbplugin.stopping.sweep.plan import SweepPlan
from mbplugin.stopping.sweep.stops import Stopper, stopper_of

_STOPPERS: dict[str, Stopper] = {}


def run_part(plan: SweepPlan, part: int, folder: str, parent: int | None = None) -> int:
    """Compute a part and put its file into place; return its number.

    Parameters
    ----------
    parent : int, optional
        Id of the process that started this one, without which it is not to live on.
    """
    if parent is not None:
        end_with(parent)
    table = signed_table(plan, part, part_columns(plan, part))
    content = arrow().BufferOutputStream()
    arrow().parquet.write_table(table, content)
    temporary = temporary_beside(part_file(Path(folder), part))
    try:
        temporary.write_bytes(content.getvalue())
        temporary.replace(part_file(Path(folder), part))
    finally:
        temporary.unlink(missing_ok=True)
    return part


def part_columns(plan: SweepPlan, part: int) -> dict[str, Any]:
    """Return the stops of a part, column by column: s, rad or m, kg."""
    stopper = _stopper(plan)
    names = plan.joints
    own = range(part * plan.part, min((part + 1) * plan.part, plan.count))
    columns: dict[str, list[Any]] = {name: [] for name in part_schema(plan).names}
    columns["stop"].extend(own)
    rates = [plan.scenario.rate_of(name) for name in names]
    for k in own:
        q, qd, brakes, payloads = plan.draw(k)
        stop = stopper.stop(q, qd, brakes, payloads)
        columns["outcome"].append(stop.outcome)
        columns["time"].append(stop.time)
        columns["tool_distance"].append(stop.tool_distance)
        columns["tool_displacement"].append(stop.tool_displacement)
        columns["payload"].append(sum(payload.mass for payload in payloads))
        for n, name in enumerate(names):
            columns[f"time {name}"].append(float(stop.times[n]))
            columns[f"travel {name}"].append(float(stop.travels[n]))
            columns[f"rate {name}"].append(float(qd[rates[n]]))
    return columns


def _stopper(plan: SweepPlan) -> Stopper:
    """Return what computes the stops of a plan, built once per process."""
    if plan.fingerprint not in _STOPPERS:
        _STOPPERS.clear()
        _STOPPERS[plan.fingerprint] = stopper_of(plan.scenario)
    return _STOPPERS[plan.fingerprint]
