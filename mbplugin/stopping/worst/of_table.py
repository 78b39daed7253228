"""A stopping table together with the worst stops of its axes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from mbplugin.model.brakes import BrakeLike
from mbplugin.readers.source import ModelSource
from mbplugin.stopping.table.values import StoppingTable
from mbplugin.stopping.worst.run import worst_stop
from mbplugin.stopping.worst.search import Count


def with_worst_stops(
    table: StoppingTable,
    mech: ModelSource,
    *,
    payload: float | None = None,
    speeds: Mapping[str, float] | None = None,
    brakes: Iterable[BrakeLike] | None = None,
    progress: Count | None = None,
) -> StoppingTable:
    """Return a table with the worst stops of category 0 of its axes, one at a time.

    Parameters
    ----------
    table : StoppingTable
        Made of the same model with the same payload, speeds and brakes.
    mech, payload, speeds, brakes
        As for :func:`mbplugin.stopping_table`.
    progress : callable, optional
        Gets the number of stops that were computed.

    Raises
    ------
    BadUsage, BadNumber
        As for :func:`mbplugin.worst_stop`.
    """
    worst = worst_stop(
        mech,
        axes=table.axes,
        payload=payload,
        speeds=speeds,
        brakes=brakes,
        tool=table.tool,
        progress=progress,
    )
    return replace(table, worst=worst)
