"""A stopping table: its columns, its rows, and its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.csv_tables import csv_text
from mbplugin.errors import UnknownName, suggestion
from mbplugin.model import Payload, Units, units_of
from mbplugin.phrases import at_most_shown, counted, listed, one_line
from mbplugin.rendering import Result, rendered
from mbplugin.stopping import CONFIDENCE, SHARE
from mbplugin.stopping.outcome import OUTCOME_WORDS
from mbplugin.stopping.scenario import NO_EFFORT_LIMITS, NO_TOOL, EffortLimits, Scenario, ToolChoice

if TYPE_CHECKING:
    from mbplugin.stopping.calibration import MeasuredStops
    from mbplugin.stopping.calibration.intervals import StopBounds
    from mbplugin.stopping.outcome import StopSummary
    from mbplugin.stopping.table.extension import ExtensionPose
    from mbplugin.stopping.worst_search import WorstStops
    from mbplugin.stopping.zones import StopMotion

#: Source of the numbers of a brake or a ramp: fitted to measured stops, stated, or assumed.
Evidence = Literal["calibrated", "stated", "assumed"]
#: A joint other than the axis is reported if it moves farther than this, rad or m.
MOVES = 1e-9


# The rows of a stopping table with angles and lengths in chosen units, for texts and pages.


def rows_in_units(table: StoppingTable, units: Units) -> list[dict[str, Any]]:
    """Return the rows converted to ``units``; ``unit`` of each becomes the unit of its axis."""
    return [_row_in_units(row, units, table.lengths) for row in table.rows]


def _row_in_units(row: Mapping[str, Any], units: Units, lengths: tuple[str, ...]) -> dict[str, Any]:
    if units.is_si:
        return dict(row)
    metre, _ = units.shown("m")
    radian, _ = units.shown("rad")
    scaled = {
        key: units.shown(column.unit_of(row["unit"]))[0] * row[key]
        for key, column in COLUMNS.items()
        if column.unit and row[key] is not None
    }
    pose = {name: value * (metre if name in lengths else radian) for name, value in row["q"].items()}
    slips = [_slip_in_units(slip, units) for slip in row["slips"]]
    return {**row, **scaled, "unit": units.shown(row["unit"])[1], "q": pose, "slips": slips}


def _slip_in_units(slip: Mapping[str, Any], units: Units) -> dict[str, Any]:
    size, unit = units.shown(slip["unit"])
    return {**slip, "unit": unit, "travel": size * slip["travel"]}


# The columns of a stopping table: their definitions, and their format in text and HTML.
#
# A column is an entry of :data:`COLUMNS`, and a cell in each table that shows it. The rows, the CSV, the JSON
# and its schema, the text and the page are generated from these definitions, and only the unit of the column
# says how its numbers are converted to the units of the user and which unit is printed.

#: Unit of a column: that of the axis (``unit``: rad or m) and its rates, a fixed SI unit, or none.
ColumnUnit = Literal[
    "", "s", "kg", "m", "m/s", "m/s²", "rad", "rad/s", "N", "N·m", "J", "unit", "unit/s", "unit/s²"
]


class RowCase(NamedTuple):
    """The inputs of a row's stop.

    Parameters
    ----------
    category, number : int
        Stop category, and number of the axis, from 1.
    axis : str
    shares : (int, int, int)
        Shares of full speed, extension and payload, percent.
    pose : ExtensionPose
    speed : float
        Speed of the axis, rad/s or m/s, not negative.
    deceleration : float or None
        Deceleration of the axis in category 1, rad/s² or m/s²; None in category 0.
    reaction : float
        Time from the signal until braking of the axis begins, s.
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
        Carried mass, kg.
    n : int
        Index of the axis among the brakes.
    bounds : StopBounds or None
        Intervals and upper bounds of time and distance; None if the brake or the ramp is not calibrated.
    evidence : Evidence
        Source of the brake or the ramp of the axis.
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
        """Unit of the axis, rad or m."""
        return units_of(self.scenario.brakes[self.n].freedom).coordinate

    @property
    def time(self) -> float:
        """Time from the signal until the axis is at rest, s."""
        return float(self.stop.times[self.n])

    @property
    def distance(self) -> float:
        """Travel of the axis, rad or m, not negative."""
        return abs(float(self.stop.travels[self.n]))

    def bound(self, name: str) -> float | None:
        """Return an entry of the bounds."""
        return None if self.bounds is None else getattr(self.bounds, name)

    @property
    def rest_time_bound(self) -> float | None:
        """Upper bound of the time until all joints are at rest, s: bound of the axis, computed times of the others."""
        bound = self.bound("time")
        return None if bound is None else max(bound, self.stop.time)

    @property
    def tool_distance_bound(self) -> float | None:
        """Upper bound of the tool path, m, scaled in proportion to the travel of the axis."""
        bound = self.bound("distance")
        if bound is None or not self.distance:
            return None
        return self.stop.tool_distance * bound / self.distance

    @property
    def reaction_time(self) -> float:
        """Time from the signal until braking of the axis begins, or until it is at rest, s."""
        return min(self.case.reaction, self.time)

    @property
    def slips(self) -> list[dict[str, object]]:
        """Other joints that move, with their travel (rad or m, signed) and their time to rest (s)."""
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
        Kind of its values: ``size`` (not negative), ``number`` and ``size or null``, ``count``, ``text``, or one that
        only a single column has.
    meaning : str
        Without the unit.
    unit : ColumnUnit
        Unit of its numbers; text and page are in the units of the user, CSV and JSON in SI units.
    value : callable
    """

    kind: str
    meaning: str
    unit: ColumnUnit
    value: Callable[[RowStop], object]

    def unit_of(self, axis: str) -> str:
        """Return the unit of the numbers for an axis with the unit ``axis``: ``deg/s`` for ``unit/s``."""
        return self.unit.replace("unit", axis)

    @property
    def description(self) -> str:
        """The meaning with the unit, for the schema."""
        return ", ".join(filter(None, (self.meaning, self.unit)))


#: Columns of the tables of all releases. Tables of earlier releases may lack any other column, so the schema does not
#: require it.
ALWAYS = frozenset(
    {
        *("category", "axis", "joint", "unit", "speed_percent", "extension_percent", "payload_percent"),
        *("speed", "sense", "extension", "payload", "deceleration", "time", "distance", "reaction_time"),
        *("reaction_distance", "rest_time", "tool_distance", "tool_displacement", "outcome", "slips", "q"),
    }
)
#: Columns by key, in the order of rows, CSV and JSON. The column ``command`` is added when a table is computed.
COLUMNS: dict[str, Column] = {
    "category": Column("category", "", "", lambda r: r.case.category),
    "axis": Column("count", "", "", lambda r: r.case.number),
    "joint": Column("text", "", "", lambda r: r.case.axis),
    "unit": Column("unit", "", "", lambda r: r.unit),
    "speed_percent": Column("count", "", "", lambda r: r.case.shares[0]),
    "extension_percent": Column("count", "", "", lambda r: r.case.shares[1]),
    "payload_percent": Column("count", "", "", lambda r: r.case.shares[2]),
    "speed": Column("size", "", "unit/s", lambda r: r.case.speed),
    "sense": Column("sense", "in which the axis moves", "", lambda r: int(r.case.pose.sense)),
    "extension": Column("size", "distance of the tool from the axis", "m", lambda r: r.case.pose.extension),
    "payload": Column("size", "", "kg", lambda r: r.payload),
    "deceleration": Column("size or null", "", "unit/s²", lambda r: r.case.deceleration),
    "time": Column("size", "from the signal until the axis rests", "s", lambda r: r.time),
    "distance": Column("size", "", "unit", lambda r: r.distance),
    "reaction_time": Column("size", "", "s", lambda r: r.reaction_time),
    "reaction_distance": Column("size", "", "unit", lambda r: abs(float(r.stop.reaction_travels[r.n]))),
    "rest_time": Column("size", "until all joints rest", "s", lambda r: r.stop.time),
    "tool_distance": Column("size", "along the path", "m", lambda r: r.stop.tool_distance),
    "tool_displacement": Column("size", "straight", "m", lambda r: r.stop.tool_displacement),
    "outcome": Column("outcome", "", "", lambda r: r.stop.outcome),
    "slips": Column("slips", "other joints that move", "", lambda r: r.slips),
    "evidence": Column("evidence", "source of the brake or the ramp", "", lambda r: r.evidence),
    "time_interval": Column(
        "size or null",
        "half the 95 % interval of time (null if the brake or ramp is not calibrated)",
        "s",
        lambda r: r.bound("time_interval"),
    ),
    "time_bound": Column("size or null", "upper bound of time", "s", lambda r: r.bound("time")),
    "distance_interval": Column(
        "size or null", "half the 95 % interval of distance", "unit", lambda r: r.bound("distance_interval")
    ),
    "distance_bound": Column(
        "size or null", "upper bound of distance", "unit", lambda r: r.bound("distance")
    ),
    "rest_time_bound": Column("size or null", "upper bound of rest_time", "s", lambda r: r.rest_time_bound),
    "tool_distance_bound": Column(
        "size or null", "upper bound of tool_distance", "m", lambda r: r.tool_distance_bound
    ),
    "q": Column("coordinates", "at the signal, rad, m", "", lambda r: _pose(r)),
}


class Cell(NamedTuple):
    """A cell of the tables in text and page: the value of a column.

    Parameters
    ----------
    head : str
        Without the unit.
    column : str
        Key of the column. Times are printed in ms, all other numbers in the unit of the column.
    form : str or callable
        Format specification of the value, or a function that returns its text.
    of : "axis", "distance" or ""
        Whether it shows the time or the distance of the axis, which cells with bounds follow.
    share : str
        Key of a column of percentages that is printed behind the value.
    without_unit : bool
        Leave out the unit of the axis behind the number, because another cell of the row has it.
    """

    head: str
    column: str
    form: str | Callable[[float], str] = ""
    of: Literal["axis", "distance", ""] = ""
    share: str = ""
    without_unit: bool = False

    @property
    def in_unit_of_axis(self) -> bool:
        """Whether its unit depends on the axis."""
        return COLUMNS[self.column].unit.startswith("unit")

    def title(self, units: Units, axis: str = "") -> str:
        """Return the head with the unit; a unit that depends on the axis only if all have the unit ``axis``."""
        column = COLUMNS[self.column]
        if self.in_unit_of_axis:
            unit = column.unit_of(axis) if axis else ""
        else:
            unit = "ms" if column.unit == "s" else units.shown(column.unit)[1]
        return f"{self.head} [{unit}]" if unit else self.head

    def text(self, row: Mapping[str, Any], unit_in_head: bool = False) -> str:
        """Return the text of the value of a row, with the unit of the axis unless the head has it."""
        value, column = row[self.column], COLUMNS[self.column]
        if value is None:
            return "–"
        value = 1e3 * value if column.unit == "s" else value
        shown = self.form(value) if callable(self.form) else format(value, self.form)
        if self.share:
            shown = f"{shown} ({row[self.share]} %)"
        if self.in_unit_of_axis and not (self.without_unit or unit_in_head):
            return f"{shown} {column.unit_of(row['unit'])}"
        return shown


#: Cells of bounds in text and page, after the bounded value, if any row has a bound.
TIME_BOUND_CELLS = (Cell("±", "time_interval", at_most_shown), Cell("≤", "time_bound", at_most_shown))
DISTANCE_BOUND_CELLS = (
    Cell("± dist.", "distance_interval", at_most_shown, without_unit=True),
    Cell("≤ dist.", "distance_bound", at_most_shown),
)


def cells_with_bounds(cells: Sequence[Cell], bounded: bool) -> tuple[Cell, ...]:
    """Return the cells; if ``bounded``, with those of bounds after the time and the distance of the axis."""
    if not bounded:
        return tuple(cells)
    out: list[Cell] = []
    for cell in cells:
        out.append(cell)
        out += {"axis": TIME_BOUND_CELLS, "distance": DISTANCE_BOUND_CELLS}.get(cell.of, ())
    return tuple(out)


#: Cells of the text. Times until the axis and the whole arm are at rest; tool distance along its path and straight.
TEXT_CELLS = (
    Cell("speed %", "speed_percent"),
    Cell("ext. %", "extension_percent"),
    Cell("load %", "payload_percent"),
    Cell("ext.", "extension", ".3f"),
    Cell("axis", "time", ".1f", of="axis"),
    Cell("arm", "rest_time", ".1f"),
    Cell("distance", "distance", ".3f", of="distance"),
    Cell("path", "tool_distance", ".3f"),
    Cell("chord", "tool_displacement", ".3f"),
)


#: Cells of the page, below a line for each axis and category.
HTML_CELLS = (
    Cell("speed %", "speed_percent"),
    Cell("extension %", "extension_percent"),
    Cell("payload", "payload", ".4g", share="payload_percent"),
    Cell("axis at rest", "time", at_most_shown, of="axis"),
    Cell("arm at rest", "rest_time", at_most_shown),
    Cell("distance", "distance", at_most_shown, of="distance"),
    Cell("before braking", "reaction_distance", at_most_shown),
    Cell("tool path", "tool_distance", at_most_shown),
    Cell("tool, straight", "tool_displacement", at_most_shown),
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
        The rows with the longest time, distance and tool path, by their upper bounds if they have any.
    unrested : int
        Number of stops that do not end at rest; they are ignored unless there are no others.
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
    """Return the upper bound of a value of a row, or the value if it has no bound."""
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
        In s, m, rad and kg by the keys of :data:`~mbplugin.stopping.table.COLUMNS`, and
        ``command``: the ``mbplugin estop …`` that reproduces the row, None for a model that was not
        read from a file.
    assumptions : tuple of str
        One sentence each.
    of_effort : EffortLimits
        Brakes and decelerations that are effort limits.
    motions : tuple of StopMotion
        Motions of the rows; none in a table that ``stopping_table`` did not compute.
    payloads : tuple of Payload
        The payloads at 100 % payload.
    tolerance : float
        Relative rank tolerance.
    lengths : tuple of str
        Coordinates that are lengths; the others are angles.
    worst : WorstStops, optional
        The worst stops of the same axes in the table's lowest category, if they were searched for.
    more_worst : tuple of WorstStops
        Those of its other categories, in ascending order.
    measured : MeasuredStops, optional
        Measured stops compared with computed ones, if a file of them was given.
    form : str or None
        Edition of the standard whose form the table has; None with another grid.
    tool_choice : ToolChoice
        The reason why this point is the tool, and the axes that do not move it.
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
        """Return a row by its index, from 0.

        Raises
        ------
        UnknownName
            The index is a text, such as a joint, which has several rows.
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
        """Return True, also for a table without rows."""
        return True

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings to show above the numbers, on assumptions, missing bounds and incomplete searches."""
        searched = (worst.searches.warning for worst in self.searched)
        return tuple(
            filter(None, (*self.of_effort.warnings, *self.unbounded, self.tool_choice.warning, *searched))
        )

    @property
    def facts(self) -> tuple[str, ...]:
        """The meaning of bounds, axes with equal rows, and the assumptions, one sentence each."""
        return tuple(filter(None, (self.bound_sentence, self.equal_loads, *self.assumptions[1:])))

    @property
    def bounded(self) -> bool:
        """Whether any row has an upper bound."""
        return any(row.get(f"{name}_bound") is not None for row in self.rows for name in ("time", "distance"))

    @property
    def bound_sentence(self) -> str:
        """The meaning of upper bounds; empty if no row has one."""
        if not self.bounded:
            return ""
        return (
            f"upper bounds (≤): with {100 * self.confidence:.10g} % confidence at least"
            f" {100 * self.share:.10g} % of such stops take no longer and go no farther, each bound by itself, if"
            " the fitted law describes the joint there; ±: 95 % interval of the computed value"
        )

    @property
    def equal_loads(self) -> str:
        """Sentence on axes whose category 1 stops do not depend on the payload, as their ramps do not; else empty."""
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
        """Sentence on the stops that do not end at rest, with their outcomes; empty if all do."""
        groups: dict[tuple[int, str, str], list[dict[str, Any]]] = {}
        for row in self.rows:
            if row["outcome"] != "stopped":
                # the joint that stops is not the one that fails if the brakes of others slip
                whose = "" if row["slips"] and row["outcome"] == "limit_hit" else row["joint"]
                groups.setdefault((row["category"], whose, row["outcome"]), []).append(row)
        if not groups:
            return ""
        said = []
        for (category, joint, outcome), rows in groups.items():
            speeds = sorted({row["speed_percent"] for row in rows})
            at = f"{listed([str(speed) for speed in speeds], most=len(speeds))} % speed"
            stops = counted(len(rows), "stop")
            slipping = Counter(slip["joint"] for row in rows for slip in row["slips"]).most_common()
            what = f"{joint or 'a joint'} {OUTCOME_WORDS[outcome]}"
            if not joint:
                brake = "brake" if len(slipping) == 1 else "brakes"
                what += f" while the {brake} of {listed([name for name, _ in slipping], 3)} slipped"
            said.append(f"{what} ({stops} of category {category}, {at})")
        count = sum(map(len, groups.values()))
        return f"{count} of {counted(len(self.rows), 'stop')} not at rest: {', '.join(said)}"

    @property
    def searched(self) -> tuple[WorstStops, ...]:
        """The worst stops of each category, if they were searched for."""
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
        """Return the CSV text: assumptions as comments, then one line per stop."""
        title = f"stopping table of {self.model}, tool {self.tool}"
        comparison = self.measured
        compared = [] if comparison is None else [f"measured: {comparison.source}", comparison.sentence]
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
    """Return the slips of other joints of a row, one phrase each."""
    return [
        f"{slip['joint']} slips {slip['travel']:+.4g} {slip['unit']}, at rest after"
        f" {1e3 * slip['time']:.1f} ms"
        for slip in row["slips"]
    ]


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a flat row for the CSV: slips in words, one column for each coordinate."""
    cells = {key: value for key, value in row.items() if key not in ("slips", "q", "command")}
    pose = {f"q {name}": value for name, value in row["q"].items()}
    return {**cells, "slips": "; ".join(slip_words(row)), **pose, "command": row["command"]}
