"""Measured stops beside those that a stopping table's brakes and ramps give: nothing is fitted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mbplugin.errors import BadNumber
from mbplugin.model.component import units_of
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Scene, mechanism_of
from mbplugin.model.spatial import Array
from mbplugin.phrases import counted, listed
from mbplugin.readers.hashed import Source
from mbplugin.stopping.calibration.bench import Bench
from mbplugin.stopping.calibration.compared import ComparedRow, known
from mbplugin.stopping.calibration.measured.measurement import Measurement
from mbplugin.stopping.calibration.measured.measurements import measurements_of
from mbplugin.stopping.calibration.measured.repeats import require_consistent
from mbplugin.stopping.calibration.measured.table import read_measured
from mbplugin.stopping.compiled.batch import CompiledStop, StopSummary
from mbplugin.stopping.outcome.outcome import StopOutcome

#: Returns the stop of a joint in a category from a pose (nq,) with rates (nv,), as the rows of the table are computed.
StopOf = Callable[[int, str, Array, Array], StopSummary]


@dataclass(frozen=True)
class MeasuredRow(ComparedRow):
    """A measured stop beside the one that the table's brakes and ramps give.

    Parameters
    ----------
    outcome : StopOutcome
        Of the computed stop.
    """

    outcome: StopOutcome


@dataclass(frozen=True, eq=False)
class MeasuredStops:
    """Measured stops beside computed ones.

    Parameters
    ----------
    source : Source
        The file of measured stops.
    rows : tuple of MeasuredRow
        In its order.
    """

    source: Source
    rows: tuple[MeasuredRow, ...]

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that were stopped."""
        return tuple(dict.fromkeys(row.joint for row in self.rows))

    @property
    def sentence(self) -> str:
        """How many of them took longer or went farther than computed, and the most that is missing."""
        count = counted(len(self.rows), "measured stop")
        missed = [row for row in self.rows if not row.covered]
        if not missed:
            return f"none of {count} took longer or went farther than computed"
        shortest = min(_shortfalls(missed))
        lines = listed([str(row.line) for row in missed], most=len(missed))
        return (
            f"TOO SHORT: of {count}, {len(missed)} took longer or went farther than computed (line {lines});"
            f" the computed value is too short by up to {-100 * shortest[0]:.1f} % ({shortest[1]}, line"
            f" {shortest[2]})"
        )


def measured_stops(
    mech: Scene | Mechanism,
    measured: str | Path,
    stop_of: StopOf,
    compiled: CompiledStop,
    *,
    payload: float | None,
    speeds: Mapping[str, float] | None,
    tool: str | None,
) -> MeasuredStops:
    """Return the measured stops of a file, each beside the computed one from the same start.

    Parameters
    ----------
    mech : Scene or Mechanism
    measured, payload, speeds, tool
        As for :func:`mbplugin.calibrate`.
    stop_of : callable
    compiled : CompiledStop
        Of the stops; it gets the payloads of the rows.

    Raises
    ------
    MbPluginError
        As for :func:`mbplugin.calibrate`.
    """
    file = read_measured(Path(measured))
    rows = measurements_of(file, mechanism_of(mech), speeds)
    require_consistent(file, rows)
    bench = Bench(mech, payload, tool)
    found = tuple(_row(row, bench, stop_of, compiled) for row in rows)
    return MeasuredStops(Source(file.path, file.sha256), found)


def _row(row: Measurement, bench: Bench, stop_of: StopOf, compiled: CompiledStop) -> MeasuredRow:
    start = bench.start(row)
    compiled.set_payloads(start.payloads)
    stop = stop_of(row.category, row.joint, start.q, start.qd)
    brakes = compiled.scenario.brakes
    n = [brake.joint for brake in brakes].index(row.joint)
    time, distance = float(stop.times[n]), abs(float(stop.travels[n]))
    if known(time) is None or known(distance) is None:
        raise BadNumber(
            f"the stop of line {row.line} cannot be computed: its numbers grow beyond all limits",
            expected="speeds, masses and payloads of a machine",
        )
    return MeasuredRow(
        row.line,
        row.joint,
        row.category,
        units_of(brakes[n].freedom).coordinate,
        row.speed,
        row.repeats,
        known(row.shape_index),
        known(row.time),
        time,
        known(row.distance),
        distance,
        stop.outcome,
    )


def _shortfalls(rows: list[MeasuredRow]) -> Iterator[tuple[float, str, int]]:
    """Yield deviation, quantity and line of what was measured."""
    for row in rows:
        for name, gap in (("time", row.time_deviation), ("distance", row.distance_deviation)):
            if gap is not None:
                yield gap, name, row.line
