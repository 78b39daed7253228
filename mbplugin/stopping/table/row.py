"""One row of a stopping table: its inputs and results."""

from __future__ import annotations

import numpy as np

from mbplugin.errors import BadNumber
from mbplugin.stopping.compiled.batch import StopSummary
from mbplugin.stopping.scenario.scenario import Scenario
from mbplugin.stopping.table.columns import COLUMNS, RowCase, RowStop


def row_values(case: RowCase, stop: StopSummary, scenario: Scenario, payload: float) -> dict[str, object]:
    """Return a row as :class:`~mbplugin.stopping.table.values.StoppingTable` has it, without its command.

    Parameters
    ----------
    payload : float
        Mass that is carried, kg.
    """
    n = [brake.joint for brake in scenario.brakes].index(case.axis)
    row = RowStop(case, stop, scenario, payload, n)
    _require_numbers(row)
    return {key: column.value(row) for key, column in COLUMNS.items()}


def _require_numbers(row: RowStop) -> None:
    """Refuse a stop whose motion went beyond what numbers can say.

    Raises
    ------
    BadNumber
        With the speed and the payload of the row.
    """
    case, stop = row.case, row.stop
    found = (stop.time, row.time, stop.travels[row.n], stop.tool_distance, stop.tool_displacement)
    if not np.isfinite(found).all():
        raise BadNumber(
            f"the stop of {case.axis!r} at {case.speed:g} {row.unit}/s with {row.payload:g} kg cannot be"
            " computed: its numbers grow beyond all limits",
            expected="speeds, masses and payloads of a machine",
        )
