"""``sweep``: many stops on all cores or a cluster, in a folder that an interrupted run goes on with."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.estop.sweep_backend import finished, joblib_with, working
from mbplugin.estop.sweep_part import arrow, part_file, run_part
from mbplugin.estop.sweep_plan import SweepPlan
from mbplugin.files import replacing

QUANTILES = (0.5, 0.9, 0.99, 1.0)

#: Told (stops done, stops in all).
Told = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class SweepReport:
    """What a sweep comes to.

    Parameters
    ----------
    count : int
    outcomes : dict of str to int
    quantiles : dict of str to dict of float to float
        Of the stops that come to rest: time (s), tool_distance along its path and
        tool_displacement, straight (m), and of every joint the time and the
        size of the travel (rad, m).
    worst : dict of str to int
        The number of the stop with the largest value.
    first : dict of str to int
        The number of the first stop with each outcome.
    table : pyarrow.Table
        One row per stop.
    """

    count: int
    outcomes: dict[str, int]
    quantiles: dict[str, dict[float, float]]
    worst: dict[str, int]
    first: dict[str, int]
    table: Any


def sweep(
    plan: SweepPlan,
    folder: str | Path,
    *,
    jobs: int = -1,
    backend: str = "loky",
    told: Told | None = None,
) -> SweepReport:
    """Run a sweep, or what is left of it, and report.

    Parameters
    ----------
    plan : SweepPlan
    folder : str or Path
        For the part files; a folder of the same plan is gone on with.
    jobs : int
        Processes; −1 for all cores.
    backend : "loky", "dask" or "ray"
        The machine's cores, or the cluster that a dask client or ray is connected to.
    told : callable, optional
        Told (stops done, stops in all), first what the folder holds already.

    Raises
    ------
    BadUsage
        A folder of another sweep, or no processes.
    MissingDependency
        joblib, pyarrow, or what the backend needs is not installed.
    """
    if jobs == 0:
        raise BadUsage("0 processes were asked for", expected="at least one, or -1 for all cores")
    joblib = joblib_with(backend)
    arrow()
    folder = Path(folder)
    _claim(plan, folder)
    missing = [part for part in range(plan.parts) if not part_file(folder, part).exists()]
    done = plan.count - sum(_size(plan, part) for part in missing)
    if told is not None:
        told(done, plan.count)
    with working(joblib, backend, jobs):
        work = [joblib.delayed(run_part)(plan, part, str(folder)) for part in missing]
        for part in finished(joblib, backend, work):
            done += _size(plan, part)
            if told is not None:
                told(done, plan.count)
    return report_of(plan, folder)


def report_of(plan: SweepPlan, folder: Path) -> SweepReport:
    """Return the report of a finished sweep."""
    pyarrow = arrow()
    files = [part_file(folder, part) for part in range(plan.parts)]
    table = pyarrow.concat_tables([pyarrow.parquet.read_table(file) for file in files])
    outcomes = table.column("outcome").to_pylist()
    rested = np.array([outcome == "stopped" for outcome in outcomes])
    quantiles, worst = {}, {}
    names = [brake.joint for brake in plan.scenario.brakes]
    joints = (f"{w} {name}" for name in names for w in ("time", "travel"))
    for key in ("time", "tool_distance", "tool_displacement", *joints):
        values = np.abs(table.column(key).to_numpy())
        if rested.any():
            quantiles[key] = {p: float(np.quantile(values[rested], p)) for p in QUANTILES}
            worst[key] = int(np.flatnonzero(rested)[values[rested].argmax()])
    counted = {outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))}
    first = {outcome: outcomes.index(outcome) for outcome in counted}
    return SweepReport(len(outcomes), counted, quantiles, worst, first, table)


def _size(plan: SweepPlan, part: int) -> int:
    return min(plan.part, plan.count - part * plan.part)


def _claim(plan: SweepPlan, folder: Path) -> None:
    """Let the folder belong to the plan."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or "no reason given").lower()
        raise BadUsage(f"the folder cannot be made ({reason})", where=str(folder)) from None
    note = folder / "sweep.json"
    if note.exists():
        if json.loads(note.read_text(encoding="utf-8")).get("plan") != plan.fingerprint:
            raise BadUsage("the folder holds another sweep", where=str(folder), remedy="name an empty one")
        return
    with replacing(note) as temporary:
        told = {"plan": plan.fingerprint, "count": plan.count, "seed": plan.seed}
        temporary.write_text(json.dumps(told), encoding="utf-8")
