"""A stopping table as a value, and as a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbplugin.constraints.tolerance import DEFAULT_TOLERANCE
from mbplugin.csv_tables import csv_text
from mbplugin.errors import UnknownName, suggestion
from mbplugin.phrases import counted, one_line
from mbplugin.rendering import Result, rendered
from mbplugin.stopping.scenario.effort_limits import NO_EFFORT_LIMITS, EffortLimits
from mbplugin.stopping.scenario.tool_choice import NO_TOOL, ToolChoice

if TYPE_CHECKING:
    from mbplugin.model.scene import Payload
    from mbplugin.stopping.table.measured import MeasuredStops
    from mbplugin.stopping.worst.values import WorstStops
    from mbplugin.stopping.zones.motion import StopMotion


@dataclass(frozen=True, eq=False)
class StoppingTable(Result):
    """Stopping times and distances of an arm: computed, not measured.

    Parameters
    ----------
    model, tool : str
    axes : tuple of str
        The joints that are stopped.
    rows : tuple of dict
        In s, m, rad and kg by the keys of :data:`~mbplugin.stopping.table.columns.COLUMNS`, and
        ``command``: the ``mbplugin estop …`` that computes the row again, None for a model that was not
        read from a file.
    assumptions : tuple of str
        One sentence each.
    of_effort : EffortLimits
        Brakes and decelerations that are effort limits.
    motions : tuple of StopMotion
        Of the rows; none in a table that was put together otherwise.
    payloads : tuple of Payload
        What is carried at 100 % payload.
    tolerance : float
        Relative rank tolerance.
    lengths : tuple of str
        Coordinates that are lengths; the others are angles.
    worst : WorstStops, optional
        The worst stops of category 0 of the same axes, where they were searched.
    measured : MeasuredStops, optional
        Measured stops beside computed ones, where a file of them was given.
    form : str or None
        The edition of the standard whose form the table has; None with another grid.
    tool_choice : ToolChoice
        Why the tool is this point, and which axes do not move it.
    """

    model: str
    tool: str
    axes: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    assumptions: tuple[str, ...]
    of_effort: EffortLimits = NO_EFFORT_LIMITS
    motions: tuple[StopMotion, ...] = ()
    payloads: tuple[Payload, ...] = ()
    tolerance: float = DEFAULT_TOLERANCE
    lengths: tuple[str, ...] = ()
    worst: WorstStops | None = None
    measured: MeasuredStops | None = None
    form: str | None = None
    tool_choice: ToolChoice = NO_TOOL

    def __repr__(self) -> str:
        return one_line(self, self.model, (counted(len(self.rows), "row"), f"axes {', '.join(self.axes)}"))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Return a row by its number, from 0.

        Raises
        ------
        UnknownName
            By another name: a joint has several rows.
        """
        if isinstance(index, str):
            raise UnknownName(
                f"a stopping table has rows by their number, not by {index!r}",
                remedy=f"write [row for row in table if row['joint'] == {index!r}]"
                if index in self.axes
                else suggestion(index, self.axes),
            )
        return self.rows[index]

    def __bool__(self) -> bool:
        """Return True: a table without rows is a table."""
        return True

    @property
    def warnings(self) -> tuple[str, ...]:
        """What stands above the numbers where some of them are assumed or not searched to the end."""
        searched = "" if self.worst is None else self.worst.searches.warning
        return tuple(filter(None, (self.of_effort.warning, self.tool_choice.warning, searched)))

    def _writers(self) -> Mapping[str, Callable[[Path], object]]:
        return {".csv": lambda path: path.write_text(self._csv(), encoding="utf-8", newline="\n")}

    def text(self, kind: str) -> str:
        """Return the table as ``csv``, ``json``, ``html`` or ``text``."""
        if kind == "csv":
            return self._csv()
        if kind == "text":
            return f"{str(self).rstrip()}\n"
        return rendered(self, "json" if kind == "json" else "html")

    def _csv(self) -> str:
        """Return the assumptions as comments, then one line per stop."""
        title = f"stopping table of {self.model}, tool {self.tool}"
        found = self.worst.found if self.worst is not None else ()
        beside = self.measured
        compared = [] if beside is None else [f"measured: {beside.source}", beside.sentence]
        searched = [f"worst of a search, {one.name}: {one.value:.6g} {one.unit}" for one in found]
        rows = [flat(row) for row in self.rows]
        return csv_text(
            list(rows[0]) if rows else [],
            (list(row.values()) for row in rows),
            (*self.warnings, title, *self.assumptions, *compared, *searched),
        )


def slip_words(row: Mapping[str, Any]) -> list[str]:
    """Return how far other joints of a row move, one phrase each."""
    return [
        f"{slip['joint']} slips {slip['travel']:+.4g} {slip['unit']}, at rest after"
        f" {1e3 * slip['time']:.1f} ms"
        for slip in row["slips"]
    ]


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of cells: slips in words, one column for each coordinate."""
    cells = {key: value for key, value in row.items() if key not in ("slips", "q", "command")}
    pose = {f"q {name}": value for name, value in row["q"].items()}
    return {**cells, "slips": "; ".join(slip_words(row)), **pose, "command": row["command"]}
