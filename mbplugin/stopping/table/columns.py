"""The columns of a stopping table: what each is, and how text and HTML show it.

A column is an entry of :data:`COLUMNS`, and a cell in each table that shows it. The rows, the CSV, the JSON
and its schema, the text and the page read this file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mbplugin.model.component import units_of
from mbplugin.stopping.table.values import slip_words

if TYPE_CHECKING:
    from mbplugin.stopping.compiled.batch import StopSummary
    from mbplugin.stopping.scenario.scenario import Scenario
    from mbplugin.stopping.table.extension import ExtensionPose

#: A joint that is not the axis and moves farther than this is named, rad or m.
_MOVES = 1e-9


class RowCase(NamedTuple):
    """The stop of a row.

    Parameters
    ----------
    category, number : int
        Stop category, and number of the axis, from 1.
    axis : str
    shares : (int, int, int)
        Of speed, extension and payload, percent.
    pose : ExtensionPose
    speed : float
        Of the axis, rad/s or m/s, not negative.
    deceleration : float or None
        Of the axis in category 1, rad/s² or m/s².
    reaction : float
        From the signal until the axis is braked, s.
    """

    category: int
    number: int
    axis: str
    shares: tuple[int, int, int]
    pose: ExtensionPose
    speed: float
    deceleration: float | None
    reaction: float


class RowStop(NamedTuple):
    """A computed stop of a row.

    Parameters
    ----------
    case : RowCase
    stop : StopSummary
    scenario : Scenario
    payload : float
        Mass that is carried, kg.
    n : int
        Index of the axis among the brakes.
    """

    case: RowCase
    stop: StopSummary
    scenario: Scenario
    payload: float
    n: int

    @property
    def unit(self) -> str:
        """Of the axis, rad or m."""
        return units_of(self.scenario.brakes[self.n].freedom).coordinate

    @property
    def time(self) -> float:
        """From the signal until the axis rests, s."""
        return float(self.stop.times[self.n])

    @property
    def reaction_time(self) -> float:
        """From the signal until the axis is braked, or rests, s."""
        return min(self.case.reaction, self.time)

    @property
    def slips(self) -> list[dict[str, object]]:
        """Which other joints move, how far (rad or m, signed) and until when (s)."""
        return [
            {
                "joint": brake.joint,
                "unit": units_of(brake.freedom).coordinate,
                "travel": float(self.stop.travels[n]),
                "time": float(self.stop.times[n]),
            }
            for n, brake in enumerate(self.scenario.brakes)
            if n != self.n and abs(self.stop.travels[n]) > _MOVES
        ]


class Column(NamedTuple):
    """A column: the kind of its values, as the schema names kinds; what it means, with its unit; its value."""

    kind: str
    meaning: str
    value: Callable[[RowStop], object]


#: By key, in the order of rows, CSV and JSON. The command is added where the table is made.
COLUMNS: dict[str, Column] = {
    "category": Column("category", "", lambda r: r.case.category),
    "axis": Column("count", "", lambda r: r.case.number),
    "joint": Column("text", "", lambda r: r.case.axis),
    "unit": Column("unit", "", lambda r: r.unit),
    "speed_percent": Column("count", "", lambda r: r.case.shares[0]),
    "extension_percent": Column("count", "", lambda r: r.case.shares[1]),
    "payload_percent": Column("count", "", lambda r: r.case.shares[2]),
    "speed": Column("size", "unit/s", lambda r: r.case.speed),
    "sense": Column("sense", "in which the axis moves", lambda r: int(r.case.pose.sense)),
    "extension": Column("size", "distance of the tool from the axis, m", lambda r: r.case.pose.extension),
    "payload": Column("size", "kg", lambda r: r.payload),
    "deceleration": Column("size or null", "unit/s²", lambda r: r.case.deceleration),
    "time": Column("size", "from the signal until the axis rests, s", lambda r: r.time),
    "distance": Column("size", "unit", lambda r: abs(float(r.stop.travels[r.n]))),
    "reaction_time": Column("size", "s", lambda r: r.reaction_time),
    "reaction_distance": Column("size", "unit", lambda r: abs(float(r.stop.reaction_travels[r.n]))),
    "rest_time": Column("size", "until all joints rest, s", lambda r: r.stop.time),
    "tool_distance": Column("size", "along the path, m", lambda r: r.stop.tool_distance),
    "tool_displacement": Column("size", "straight, m", lambda r: r.stop.tool_displacement),
    "outcome": Column("outcome", "", lambda r: r.stop.outcome),
    "slips": Column("slips", "other joints that move", lambda r: r.slips),
    "q": Column("coordinates", "at the signal, rad, m", lambda r: _pose(r)),
}


class Cell(NamedTuple):
    """A cell of a table that shows rows: its head, what it shows of a row, whether that is a number."""

    head: str
    show: Callable[[Mapping[str, Any]], str]
    number: bool = True


#: In the text. Times until the axis and until the whole arm rest; the tool's way along its path and straight.
TEXT_CELLS = (
    Cell("speed %", lambda row: f"{row['speed_percent']}"),
    Cell("ext. %", lambda row: f"{row['extension_percent']}"),
    Cell("load %", lambda row: f"{row['payload_percent']}"),
    Cell("ext. [m]", lambda row: f"{row['extension']:.3f}"),
    Cell("axis [ms]", lambda row: f"{1e3 * row['time']:.1f}"),
    Cell("arm [ms]", lambda row: f"{1e3 * row['rest_time']:.1f}"),
    Cell("distance", lambda row: f"{row['distance']:.3f} {row['unit']}"),
    Cell("path [m]", lambda row: f"{row['tool_distance']:.3f}"),
    Cell("chord [m]", lambda row: f"{row['tool_displacement']:.3f}"),
)
#: On the page.
HTML_CELLS = (
    Cell("category", lambda row: f"{row['category']}"),
    Cell("axis", lambda row: f"{row['axis']}"),
    Cell("joint", lambda row: row["joint"], number=False),
    Cell("speed %", lambda row: f"{row['speed_percent']}"),
    Cell("extension %", lambda row: f"{row['extension_percent']}"),
    Cell("payload [kg]", lambda row: f"{row['payload']:.4g} ({row['payload_percent']} %)"),
    Cell("axis at rest [ms]", lambda row: f"{1e3 * row['time']:.1f}"),
    Cell("arm at rest [ms]", lambda row: f"{1e3 * row['rest_time']:.1f}"),
    Cell("distance", lambda row: f"{row['distance']:.4f} {row['unit']}"),
    Cell("of it reaction", lambda row: f"{row['reaction_distance']:.4f} {row['unit']}"),
    Cell("tool path [m]", lambda row: f"{row['tool_distance']:.4f}"),
    Cell("tool, straight [m]", lambda row: f"{row['tool_displacement']:.4f}"),
    Cell("outcome", lambda row: row["outcome"].replace("_", " "), number=False),
    Cell("other joints", lambda row: "; ".join(slip_words(row)), number=False),
)


def _pose(row: RowStop) -> dict[str, float]:
    return dict(zip(row.scenario.mech.q_names, row.case.pose.q.tolist(), strict=True))
