"""A stopping table as a value, and as a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from mbplugin.constraints.tolerance import DEFAULT_TOLERANCE
from mbplugin.csv_tables import csv_text
from mbplugin.errors import UnknownName, suggestion
from mbplugin.model.brake_law import Units
from mbplugin.model.spatial import units_of
from mbplugin.phrases import at_most_shown, counted, listed, one_line
from mbplugin.rendering import Result, rendered
from mbplugin.stopping.order_statistics import CONFIDENCE, SHARE
from mbplugin.stopping.outcome import OUTCOME_WORDS
from mbplugin.stopping.scenario.scenario import NO_EFFORT_LIMITS, NO_TOOL, EffortLimits, ToolChoice

if TYPE_CHECKING:
    from mbplugin.model.scene import Payload
    from mbplugin.stopping.batch import StopSummary
    from mbplugin.stopping.calibration.bounds import StopBounds
    from mbplugin.stopping.calibration.values import MeasuredStops
    from mbplugin.stopping.scenario.scenario import Scenario
    from mbplugin.stopping.table.extension import ExtensionPose
    from mbplugin.stopping.worst_stops import WorstStops
    from mbplugin.stopping.zones.zone import StopMotion

#: Where the numbers of a brake or a ramp come from: fitted to measured stops, stated, or assumed.
Evidence = Literal["calibrated", "stated", "assumed"]
#: A joint that is not the axis and moves farther than this is named, rad or m.
MOVES = 1e-9


# The rows of a stopping table with angles and lengths in some units, for texts and pages.


def rows_in_units(table: StoppingTable, units: Units) -> list[dict[str, Any]]:
    """Return the rows with their numbers in some units; ``unit`` is that of the axis."""
    return [_row_in_units(row, units, table.lengths) for row in table.rows]


def head_in_units(cell: Cell, units: Units) -> str:
    """Return the head of a cell with the unit of lengths."""
    return cell.head.replace("[m]", f"[{units.length}]")


def _row_in_units(row: Mapping[str, Any], units: Units, lengths: tuple[str, ...]) -> dict[str, Any]:
    if units.is_si:
        return dict(row)
    size, unit = units.shown(row["unit"])
    metre, _ = units.shown("m")
    radian, _ = units.shown("rad")
    sizes = {"": 1.0, "axis": size, "length": metre}
    scaled = {
        key: sizes[column.scale] * row[key]
        for key, column in COLUMNS.items()
        if column.scale and row[key] is not None
    }
    pose = {name: value * (metre if name in lengths else radian) for name, value in row["q"].items()}
    slips = [_slip_in_units(slip, units) for slip in row["slips"]]
    return {**row, **scaled, "unit": unit, "q": pose, "slips": slips}


def _slip_in_units(slip: Mapping[str, Any], units: Units) -> dict[str, Any]:
    size, unit = units.shown(slip["unit"])
    return {**slip, "unit": unit, "travel": size * slip["travel"]}


# The columns of a stopping table: what each is, and how text and HTML show it.
#
# A column is an entry of :data:`COLUMNS`, and a cell in each table that shows it. The rows, the CSV, the JSON
# and its schema, the text and the page read this file.


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
    bounds : StopBounds or None
        How far time and distance may be off; None where the brake or the ramp is not calibrated.
    evidence : Evidence
        Where the brake or the ramp of the axis comes from.
    """

    case: RowCase
    stop: StopSummary
    scenario: Scenario
    payload: float
    n: int
    bounds: StopBounds | None = None
    evidence: Evidence = "stated"

    @property
    def unit(self) -> str:
        """Of the axis, rad or m."""
        return units_of(self.scenario.brakes[self.n].freedom).coordinate

    @property
    def time(self) -> float:
        """From the signal until the axis rests, s."""
        return float(self.stop.times[self.n])

    @property
    def distance(self) -> float:
        """How far the axis moves, rad or m."""
        return abs(float(self.stop.travels[self.n]))

    def bound(self, name: str) -> float | None:
        """Return an entry of the bounds."""
        return None if self.bounds is None else getattr(self.bounds, name)

    @property
    def rest_time_bound(self) -> float | None:
        """Upper bound of the time until all joints rest, s: of the axis, and what others are computed to take."""
        bound = self.bound("time")
        return None if bound is None else max(bound, self.stop.time)

    @property
    def tool_distance_bound(self) -> float | None:
        """Upper bound of the tool's way, m: it grows as the travel of the axis does."""
        bound = self.bound("distance")
        if bound is None or not self.distance:
            return None
        return self.stop.tool_distance * bound / self.distance

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
            if n != self.n and abs(self.stop.travels[n]) > MOVES
        ]


class Column(NamedTuple):
    """A column of the rows.

    Parameters
    ----------
    kind : str
        Of its values, as the schema names kinds.
    meaning : str
        With the unit.
    value : callable
    scale : "", "axis" or "length"
        Whether its numbers are in the unit of the axis, or lengths: those are shown in the units of the user.
    optional : bool
        Whether documents of earlier releases lack it.
    """

    kind: str
    meaning: str
    value: Callable[[RowStop], object]
    scale: Literal["", "axis", "length"] = ""
    optional: bool = False


#: By key, in the order of rows, CSV and JSON. The command is added where the table is made.
COLUMNS: dict[str, Column] = {
    "category": Column("category", "", lambda r: r.case.category),
    "axis": Column("count", "", lambda r: r.case.number),
    "joint": Column("text", "", lambda r: r.case.axis),
    "unit": Column("unit", "", lambda r: r.unit),
    "speed_percent": Column("count", "", lambda r: r.case.shares[0]),
    "extension_percent": Column("count", "", lambda r: r.case.shares[1]),
    "payload_percent": Column("count", "", lambda r: r.case.shares[2]),
    "speed": Column("size", "unit/s", lambda r: r.case.speed, "axis"),
    "sense": Column("sense", "in which the axis moves", lambda r: int(r.case.pose.sense)),
    "extension": Column(
        "size", "distance of the tool from the axis, m", lambda r: r.case.pose.extension, "length"
    ),
    "payload": Column("size", "kg", lambda r: r.payload),
    "deceleration": Column("size or null", "unit/s²", lambda r: r.case.deceleration, "axis"),
    "time": Column("size", "from the signal until the axis rests, s", lambda r: r.time),
    "distance": Column("size", "unit", lambda r: r.distance, "axis"),
    "reaction_time": Column("size", "s", lambda r: r.reaction_time),
    "reaction_distance": Column("size", "unit", lambda r: abs(float(r.stop.reaction_travels[r.n])), "axis"),
    "rest_time": Column("size", "until all joints rest, s", lambda r: r.stop.time),
    "tool_distance": Column("size", "along the path, m", lambda r: r.stop.tool_distance, "length"),
    "tool_displacement": Column("size", "straight, m", lambda r: r.stop.tool_displacement, "length"),
    "outcome": Column("outcome", "", lambda r: r.stop.outcome),
    "slips": Column("slips", "other joints that move", lambda r: r.slips),
    "evidence": Column(
        "evidence", "where the brake or the ramp of the axis comes from", lambda r: r.evidence, optional=True
    ),
    "time_interval": Column(
        "size or null",
        "half the 95 % interval of time, s; null where the brake or ramp is not calibrated",
        lambda r: r.bound("time_interval"),
        optional=True,
    ),
    "time_bound": Column("size or null", "upper bound of time, s", lambda r: r.bound("time"), optional=True),
    "distance_interval": Column(
        "size or null",
        "half the 95 % interval of distance, unit",
        lambda r: r.bound("distance_interval"),
        "axis",
        optional=True,
    ),
    "distance_bound": Column(
        "size or null", "upper bound of distance, unit", lambda r: r.bound("distance"), "axis", optional=True
    ),
    "rest_time_bound": Column(
        "size or null", "upper bound of rest_time, s", lambda r: r.rest_time_bound, optional=True
    ),
    "tool_distance_bound": Column(
        "size or null",
        "upper bound of tool_distance, m",
        lambda r: r.tool_distance_bound,
        "length",
        optional=True,
    ),
    "q": Column("coordinates", "at the signal, rad, m", lambda r: _pose(r)),
}


class Cell(NamedTuple):
    """A cell of a table that shows rows.

    Parameters
    ----------
    head : str
    show : callable
        Returns what it shows of a row.
    number : bool
    of : "axis", "distance" or ""
        Whether it shows the time or the distance of the axis, behind which bounds stand.
    """

    head: str
    show: Callable[[Mapping[str, Any]], str]
    number: bool = True
    of: Literal["axis", "distance", ""] = ""


#: In text and page, beside the value that is bounded, where some row has a bound.
TIME_BOUND_CELLS = (
    Cell("± [ms]", lambda row: _known(row["time_interval"], 1e3)),
    Cell("≤ [ms]", lambda row: _known(row["time_bound"], 1e3)),
)
DISTANCE_BOUND_CELLS = (
    Cell("± dist.", lambda row: _known(row["distance_interval"])),
    Cell("≤ dist.", lambda row: _known(row["distance_bound"], unit=row["unit"])),
)


def cells_with_bounds(cells: Sequence[Cell], bounded: bool) -> tuple[Cell, ...]:
    """Return cells, with those of bounds behind the time and the distance of the axis where there are some."""
    if not bounded:
        return tuple(cells)
    out: list[Cell] = []
    for cell in cells:
        out.append(cell)
        out += {"axis": TIME_BOUND_CELLS, "distance": DISTANCE_BOUND_CELLS}.get(cell.of, ())
    return tuple(out)


def _known(value: float | None, factor: float = 1.0, unit: str = "") -> str:
    """Return a number of a bound, rounded up; a dash where there is none."""
    return "–" if value is None else f"{at_most_shown(factor * value)} {unit}".rstrip()


#: In the text. Times until the axis and until the whole arm rest; the tool's way along its path and straight.
TEXT_CELLS = (
    Cell("speed %", lambda row: f"{row['speed_percent']}"),
    Cell("ext. %", lambda row: f"{row['extension_percent']}"),
    Cell("load %", lambda row: f"{row['payload_percent']}"),
    Cell("ext. [m]", lambda row: f"{row['extension']:.3f}"),
    Cell("axis [ms]", lambda row: f"{1e3 * row['time']:.1f}", of="axis"),
    Cell("arm [ms]", lambda row: f"{1e3 * row['rest_time']:.1f}"),
    Cell("distance", lambda row: f"{row['distance']:.3f} {row['unit']}", of="distance"),
    Cell("path [m]", lambda row: f"{row['tool_distance']:.3f}"),
    Cell("chord [m]", lambda row: f"{row['tool_displacement']:.3f}"),
)


#: On the page, below a line for each axis and category.
HTML_CELLS = (
    Cell("speed %", lambda row: f"{row['speed_percent']}"),
    Cell("extension %", lambda row: f"{row['extension_percent']}"),
    Cell("payload [kg]", lambda row: f"{row['payload']:.4g} ({row['payload_percent']} %)"),
    Cell("axis at rest [ms]", lambda row: at_most_shown(1e3 * row["time"]), of="axis"),
    Cell("arm at rest [ms]", lambda row: at_most_shown(1e3 * row["rest_time"])),
    Cell("distance", lambda row: f"{at_most_shown(row['distance'])} {row['unit']}", of="distance"),
    Cell("before braking", lambda row: f"{at_most_shown(row['reaction_distance'])} {row['unit']}"),
    Cell("tool path [m]", lambda row: at_most_shown(row["tool_distance"])),
    Cell("tool, straight [m]", lambda row: at_most_shown(row["tool_displacement"])),
)


def _pose(row: RowStop) -> dict[str, float]:
    return dict(zip(row.scenario.mech.q_names, row.case.pose.q.tolist(), strict=True))


class AxisSummary(NamedTuple):
    """The longest stops of an axis in one category.

    Parameters
    ----------
    joint : str
    category : int
    slowest, farthest, longest : dict
        The rows of the longest time, the longest distance and the longest way of the tool; by their upper bounds
        where they have some.
    unrested : int
        How many stops do not end at rest; the others count.
    """

    joint: str
    category: int
    slowest: Mapping[str, Any]
    farthest: Mapping[str, Any]
    longest: Mapping[str, Any]
    unrested: int


def summaries(rows: Sequence[Mapping[str, Any]]) -> Iterator[AxisSummary]:
    """Yield the longest stops of each axis in each category, in the order of the rows."""
    for joint, category in dict.fromkeys((row["joint"], row["category"]) for row in rows):
        own = [row for row in rows if (row["joint"], row["category"]) == (joint, category)]
        rested = [row for row in own if row["outcome"] == "stopped"]
        slowest, farthest, longest = (
            max(rested or own, key=partial(at_most, name=name))
            for name in ("time", "distance", "tool_distance")
        )
        yield AxisSummary(joint, category, slowest, farthest, longest, len(own) - len(rested))


def at_most(row: Mapping[str, Any], name: str) -> float:
    """Return the upper bound of a value of a row, or the value where it has none."""
    bound = row.get(f"{name}_bound")
    return float(row[name] if bound is None else bound)


@dataclass(frozen=True, eq=False)
class StoppingTable(Result):
    """Stopping times and distances of an arm: computed, not measured.

    Parameters
    ----------
    model, tool : str
    axes : tuple of str
        The joints that are stopped.
    rows : tuple of dict
        In s, m, rad and kg by the keys of :data:`~mbplugin.stopping.table.values.COLUMNS`, and
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
        The worst stops of the same axes and of the table's lowest category, where they were searched.
    more_worst : tuple of WorstStops
        Those of its other categories, in their order.
    measured : MeasuredStops, optional
        Measured stops beside computed ones, where a file of them was given.
    form : str or None
        The edition of the standard whose form the table has; None with another grid.
    tool_choice : ToolChoice
        Why the tool is this point, and which axes do not move it.
    share, confidence : float
        Of the upper bounds of rows whose brake or ramp is calibrated.
    unbounded : tuple of str
        What measured stops do not determine, and why calibrated rows have no upper bound, one sentence each.
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
    more_worst: tuple[WorstStops, ...] = ()
    share: float = SHARE
    confidence: float = CONFIDENCE
    unbounded: tuple[str, ...] = ()

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
        searched = (worst.searches.warning for worst in self.searched)
        return tuple(
            filter(None, (*self.of_effort.warnings, *self.unbounded, self.tool_choice.warning, *searched))
        )

    @property
    def facts(self) -> tuple[str, ...]:
        """What bounds mean, what is equal, and the assumptions, one sentence each."""
        return tuple(filter(None, (self.bound_sentence, self.equal_loads, *self.assumptions[1:])))

    @property
    def bounded(self) -> bool:
        """Whether some row has an upper bound."""
        return any(row.get(f"{name}_bound") is not None for row in self.rows for name in ("time", "distance"))

    @property
    def bound_sentence(self) -> str:
        """What upper bounds mean; empty where no row has one."""
        if not self.bounded:
            return ""
        return (
            f"upper bounds (≤): with {100 * self.confidence:.10g} % confidence at least"
            f" {100 * self.share:.10g} % of such stops take no longer and go no farther, each bound by itself, if"
            " the fitted law describes the joint there; ±: 95 % interval of the computed value"
        )

    @property
    def equal_loads(self) -> str:
        """Which axes of category 1 stop alike with every payload, as their ramps do; empty where none does."""
        axes = []
        for joint in self.axes:
            rows = [row for row in self.rows if (row["category"], row["joint"]) == (1, joint)]
            same: dict[tuple[int, int], set[tuple[float, float]]] = {}
            for row in rows:
                case = row["speed_percent"], row["extension_percent"]
                same.setdefault(case, set()).add((row["time"], row["distance"]))
            loads = {row["payload"] for row in rows}
            if len(loads) > 1 and all(len(values) == 1 for values in same.values()):
                axes.append(joint)
        if not axes:
            return ""
        return (
            f"category 1 rows of different payloads are equal for {listed(axes, most=len(axes))}: a ramp does not"
            " depend on the payload, which the drive is taken to master"
        )

    @property
    def unrested(self) -> str:
        """Which stops do not end at rest, and how they end; empty where all do."""
        groups: dict[tuple[int, str, str], list[dict[str, Any]]] = {}
        for row in self.rows:
            if row["outcome"] != "stopped":
                groups.setdefault((row["category"], row["joint"], row["outcome"]), []).append(row)
        if not groups:
            return ""
        said = []
        for (category, joint, outcome), rows in groups.items():
            speeds = sorted({row["speed_percent"] for row in rows})
            at = f"{listed([str(speed) for speed in speeds], most=len(speeds))} % speed"
            stops = counted(len(rows), "stop")
            said.append(f"{joint} {OUTCOME_WORDS[outcome]} ({stops} of category {category}, {at})")
        count = sum(map(len, groups.values()))
        return f"{count} of {counted(len(self.rows), 'stop')} not at rest: {', '.join(said)}"

    @property
    def searched(self) -> tuple[WorstStops, ...]:
        """The worst stops of each category, where they were searched."""
        return () if self.worst is None else (self.worst, *self.more_worst)

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
        beside = self.measured
        compared = [] if beside is None else [f"measured: {beside.source}", beside.sentence]
        searched = [
            f"worst of a search in category {worst.category}, {one.name}: {one.value:.6g} {one.unit}"
            for worst in self.searched
            for one in worst.found
        ]
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
