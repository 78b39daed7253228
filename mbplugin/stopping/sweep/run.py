"""``sweep``: many stops on all cores or a cluster, in a folder from which an interrupted run resumes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mbplugin.errors import BadUsage, MbPluginError
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.phrases import one_line_repr
from mbplugin.processes.number import require_possible
from mbplugin.stopping.order_statistics import CONFIDENCE, SHARE, ToleranceBound, tolerance_bound
from mbplugin.stopping.sweep.backend import finished, joblib_with, working
from mbplugin.stopping.sweep.folder import UnfitPart, arrow, claim, numbers_of, part_file, read_part
from mbplugin.stopping.sweep.part import run_part
from mbplugin.stopping.sweep.plan import SweepPlan
from mbplugin.visible import one_line

QUANTILES = (0.5, 0.9, 0.99, 1.0)

#: Told (stops done, stops in all).
Progress = Callable[[int, int], None]


@one_line_repr
@dataclass(frozen=True, eq=False)
class SweepReport:
    """What a sweep comes to.

    Parameters
    ----------
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
    replaced : dict of str to str
        Files that the folder held already and that were made anew, each with what was wrong with it.
    """

    count: int
    outcomes: dict[str, int]
    quantiles: dict[str, dict[float, float]]
    worst: dict[str, int]
    first: dict[str, int]
    table: Any
    replaced: dict[str, str] = field(default_factory=dict)

    def bounds(self, share: float = SHARE, confidence: float = CONFIDENCE) -> dict[str, ToleranceBound]:
        """Return an upper bound of every quantity by itself, s, m and rad: see :func:`mbplugin.tolerance_bound`.

        A stop that does not come to rest, or meets a limit, counts as infinite. The bounds are about the
        stops that the plan draws, not about what it does not vary.
        """
        rested = _rested(self.table)
        return {
            name: tolerance_bound(
                np.where(rested, _sizes(self.table, name), np.inf), share=share, confidence=confidence
            )
            for name in quantities_in(self.table)
        }


def sweep(
    plan: SweepPlan,
    folder: str | Path,
    *,
    jobs: int = -1,
    backend: str = "loky",
    progress: Progress | None = None,
    force: bool = False,
) -> SweepReport:
    """Run a sweep, or what is left of it, and report.

    Parameters
    ----------
    folder : str or Path
        For the part files; a folder of the same plan is gone on with. Files in it that are not what
        they should be are made anew.
    jobs : int
        Processes; −1 for all cores.
    backend : "loky", "dask" or "ray"
        The machine's cores, or the cluster that a dask client or ray is connected to.
    progress : callable, optional
        Told (stops done, stops in all), first what the folder holds already.
    force : bool
        Replace files with the names of a sweep's that somebody else wrote.

    Raises
    ------
    BadUsage
        A folder of another sweep or with files of somebody else, no processes, or a part that cannot be written.
    MissingDependency
        joblib, pyarrow, or what the backend needs is not installed.
    """
    require_possible(jobs)
    joblib = joblib_with(backend)
    arrow()
    folder = Path(folder)
    wrong_note = claim(plan, folder, force)
    unfit = _unfit_parts(plan, folder)
    done = plan.count - sum(plan.size_of(part) for part in unfit)
    if progress is not None:
        progress(done, plan.count)
    for part in _computed(joblib, backend, jobs, plan, list(unfit), folder):
        done += plan.size_of(part)
        if progress is not None:
            progress(done, plan.count)
    replaced = {"sweep.json": wrong_note} | {part_file(folder, n).name: why for n, why in unfit.items()}
    return report_of(plan, folder, {name: why for name, why in replaced.items() if why})


def _computed(
    joblib: Any, backend: str, jobs: int, plan: SweepPlan, parts: Sequence[int], folder: Path
) -> Iterator[int]:
    """Compute parts, and yield their numbers as they end."""
    # a cluster looks after its own processes
    parent = os.getpid() if backend == "loky" else None
    try:
        with working(joblib, backend, jobs):
            # a process may stand elsewhere
            where = str(folder.absolute())
            work = [joblib.delayed(run_part)(plan, part, where, parent) for part in parts]
            yield from finished(joblib, backend, work)
    except OSError as error:
        reason = (error.strerror or one_line(error) or "no reason given").lower()
        raise BadUsage(f"a part of the sweep cannot be written ({reason})", where=str(folder)) from None
    except BrokenProcessPool:
        raise MbPluginError(
            "a process of the sweep was killed",
            where=str(folder),
            remedy="give it more memory or fewer jobs; the same command goes on",
        ) from None


def report_of(plan: SweepPlan, folder: Path, replaced: Mapping[str, str]) -> SweepReport:
    """Return the report of a finished sweep.

    Parameters
    ----------
    replaced : mapping of str to str
        As in the report.

    Raises
    ------
    BadUsage
        A part was changed meanwhile.
    """
    tables = []
    for part in range(plan.parts):
        file = part_file(folder, part)
        try:
            tables.append(read_part(plan, part, file))
        except UnfitPart as error:
            raise BadUsage(
                f"the part was changed meanwhile: {error}", where=str(file), remedy="run the sweep again"
            ) from None
    table = arrow().concat_tables(tables)
    outcomes = table.column("outcome").to_pylist()
    rested = _rested(table)
    quantiles, worst = {}, {}
    for key in quantities_in(table):
        values = _sizes(table, key)
        if rested.any():
            quantiles[key] = {p: float(np.quantile(values[rested], p)) for p in QUANTILES}
            worst[key] = int(np.flatnonzero(rested)[values[rested].argmax()])
    counted = {outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))}
    first = {outcome: outcomes.index(outcome) for outcome in counted}
    return SweepReport(len(outcomes), counted, quantiles, worst, first, table, dict(replaced))


def quantities_in(table: Any) -> list[str]:
    """Return the columns of a sweep's table that are reported: times, travels and the tool's ways."""
    first = ("time", "tool_distance", "tool_displacement")
    joints = (name for name in table.column_names if name.startswith(("time ", "travel ")))
    return [*first, *joints]


def _rested(table: Any) -> AnyArray:
    """Return which stops (n,) come to rest as they should."""
    return np.array([outcome == "stopped" for outcome in table.column("outcome").to_pylist()])


def _sizes(table: Any, name: str) -> Array:
    """Return the sizes (n,) of a quantity, s, rad or m."""
    return np.abs(numbers_of(table.column(name)))


def _unfit_parts(plan: SweepPlan, folder: Path) -> dict[int, str]:
    """Return which parts are to be computed, each with what is wrong with its file, if there is one."""
    unfit = {}
    for part in range(plan.parts):
        file = part_file(folder, part)
        try:
            read_part(plan, part, file)
        except UnfitPart as error:
            unfit[part] = str(error) if os.path.lexists(file) else ""
    return unfit
