"""The JSON documents of stops, from ``estop`` to ``calibrate`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import Field, fields
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Literal

from pydantic import create_model

from mbplugin import choices
from mbplugin.model import BrakeLaw
from mbplugin.report.documents.part import (
    ByName,
    Count,
    Matrix,
    Model,
    Part,
    Recorded,
    Six,
    Size,
    Source,
    Three,
    by_name,
    key,
)
from mbplugin.simulation.passing_marks import EventKind
from mbplugin.stopping import ToleranceBound
from mbplugin.stopping.calibration import Calibration, LawName, RepeatedStop
from mbplugin.stopping.outcome import StopOutcome, StopReport
from mbplugin.stopping.table import ALWAYS, COLUMNS, Evidence, StoppingTable
from mbplugin.stopping.zones.distance import Distance, TermOrigin, TermUnit

if TYPE_CHECKING:
    from mbplugin.stopping.sweep import Swept
    from mbplugin.stopping.sweep.plan import SweepPlan
    from mbplugin.stopping.sweep.run import SweepReport
    from mbplugin.stopping.worst_search import WorstStops


#: Parts of a brake law that all documents have, including those of earlier releases.
_ALWAYS = ("torque", "static", "viscous")


# Parts that the JSON documents of a stop, a table and a sweep share.


def _law_key(part: Field[float]) -> tuple[Any, Any]:
    """Return the type and the key of a part of a brake law; it is nullable if its default is infinite."""
    optional = part.metadata["key"] not in _ALWAYS
    kind = Size | None if part.default == inf else Size
    return kind, key(part.metadata["text"] or None, optional=optional)


if TYPE_CHECKING:
    _Law = Part
else:
    _Law = create_model(
        "_Law",
        __base__=Part,
        joint=(str, ...),
        freedom=(str, ...),
        **{part.metadata["key"]: _law_key(part) for part in fields(BrakeLaw)},
    )


#: Keys that several documents have.
_TOOL_CHOICE: Any = key("the point whose speed and path are computed, and the reason", optional=True)
_OF_EFFORT: Any = key("brakes and decelerations that are not stated", optional=True)
_SEARCHES: Any = key("the share of the search that was completed in time", optional=True)


class JointBrake(_Law):
    """The brake of a joint, with all parts of its law."""

    delay: Size = key("s")
    engagement: Size = key("s")
    assumed: list[str]
    origin: str = key("where the numbers come from; empty where that is not stated", optional=True)

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the JSON object of a brake."""
        law = value.law.document()
        found = super().of(value, **law)
        # an infinite part is written as null; the key is optional because earlier releases did not write it
        found.update({name: None for name in law if name not in found})
        return found


class EffortLimits(Part):
    """Joints whose effort limit replaces missing values, and those whose brake engages at the signal."""

    brakes: list[str]
    ramps: list[str] = key("decelerations")
    delays: list[str] = key("brakes without a stated time: they engage at the signal", optional=True)
    taken: list[str] = key("further assumptions about the robot", optional=True)
    holding: bool = key(
        "whether the brakes only hold joints that stated ramps have brought to rest", optional=True
    )


class ToolChoice(Part):
    """The point whose speed and path are computed."""

    body: str
    point: Three = key("link frame, m")
    reason: str = key("why the body is the tool; empty where it is named")
    still_on: list[str] = key(
        "joints whose axis the point, which is not stated, lies on: it does not move with them"
    )


class Payload(Part):
    """What a body carries."""

    body: str
    mass: Size = key("kg")
    com: Three = key("link frame, m")
    inertia: Matrix = key("kg·m²")


class ImpulseComponent(Part):
    """A component of an impulse."""

    constraint: str
    component: str
    value: float


class StopEvent(Part):
    """A brake that engages, or a joint that sticks, slips, locks or meets its limit."""

    time: Size
    kind: EventKind
    joint: str
    impulse: list[ImpulseComponent]
    text: str

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the JSON object of an event."""
        return super().of(value, impulse=[(*label, size) for label, size in value.impulse.items()])


class _JointStop(Part):
    name: str
    unit: choices.CoordinateUnit
    start: float
    end: float
    rate: float
    reaction_time: Size
    braking_time: float
    reaction_travel: float
    braking_travel: float
    back: float = key("distance moved back")
    brake_energy: float = key("J")
    stopped: bool
    time: Size = key("s")
    travel: float


class _ToolStop(Part):
    body: str
    speed: Size = key("at the signal, m/s")
    distance: Size = key("along the path, m")
    displacement: Size = key("straight, m")
    reaction_distance: Size
    braking_distance: Size
    path: list[Three] = key("world, m")


class _Box(Part):
    lower: Three
    upper: Three


class _Corridor(_Box):
    bodies: dict[str, _Box]
    without_shape: list[str] = key(read="left_out")

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        return super().of(value, bodies={name: tuple(box) for name, box in value.bodies.items()})


class _Energies(Part):
    kinetic: float
    potential: float
    driven: float
    applied: float
    brakes: float
    losses: float
    residual: float


class _InstantStop(Part):
    q: ByName
    time: Size = key("s")
    tool_distance: Size = key("along the path, m", read="distance")
    tool_displacement: Size = key("straight, m", read="displacement")
    tool_error: Size = key("m")
    energy_ignored: float = key("J")


class _Impact(Part):
    joint: str
    freedom: str = key("of the joint, rx to tz")
    rate: float
    impulse: Size = key("N·m·s, N·s")
    energy: float


class _PeakLoad(Part):
    value: Size = key("N·m, N")
    time: float = key("s")


class _AxisPeaks(Part):
    freedom: Literal["rz", "tz"]
    unit: choices.ReactionUnit
    total: _PeakLoad
    drive: _PeakLoad
    brake: _PeakLoad
    friction: _PeakLoad
    shared: bool = key(
        "whether brake is more than this brake can carry: one way to share a load that several hold together",
        optional=True,
    )


class _PeakWrench(Part):
    pair: str
    role: choices.PairRole
    force: Size = key("N; the whole force through the pair: bearing, drive, brake, friction")
    moment: Size = key("N·m; the whole moment through the pair")
    force_time: float
    moment_time: float
    components: Six = key("largest sizes of tx ty tz rx ry rz, N and N·m")
    structural_force: Size = key("N; the force on the bearing, without the part along the freedoms")
    structural_moment: Size = key("N·m; the moment on the bearing")
    structural_force_time: float
    structural_moment_time: float
    axis: _AxisPeaks | None = key("about or along the axis of a pair with one freedom")
    unique: bool


class EstopOutput(Recorded):
    """A stop of a moving robot."""

    source: str = key("the FILE as it was given")
    model: Model
    computed_not_measured: Literal[True]
    category: choices.StopCategory
    tolerance: Size = key("relative rank tolerance")
    outcome: StopOutcome
    falls: bool = key("whether nothing holds the robot, so that its distances mean nothing", optional=True)
    time: Size = key("from the signal to rest, s")
    reaction_time: Size = key("until the first brake engages or drive ramps, s")
    braking_time: float = key("s")
    q_end: ByName = key("rad, m")
    joints: list[_JointStop]
    tool: _ToolStop
    corridor: _Corridor
    energies: _Energies = key("J; kinetic + potential + driven + applied = brakes + losses + residual")
    naive: _InstantStop
    impact: _Impact | None
    peaks: list[_PeakWrench]
    events: list[StopEvent]
    brakes: list[JointBrake]
    decelerations: ByName = key("rad/s², m/s²")
    stated: list[str] = key(
        "brakes and ramps, and where they come from", read="scenario.stated", optional=True
    )
    assumed: list[str]
    of_effort: EffortLimits = _OF_EFFORT
    tool_choice: ToolChoice = _TOOL_CHOICE
    rest_speed: float = key(
        "below which a joint that only damping brakes counts as at rest, rad/s or m/s; 0: it never does",
        read="scenario.rest_speed",
        optional=True,
    )
    slowing: list[str] = key("rates that only slow down, because only damping brakes them", optional=True)
    notes: list[str]


def estop_document(report: StopReport, source: str, files: Sequence[str]) -> dict[str, Any]:
    """Return the document of one stop."""
    scenario = report.scenario
    names = scenario.mech.q_names
    return EstopOutput.of(
        report,
        source=source,
        model=(scenario.mech.name, files),
        category=scenario.category,
        tolerance=scenario.tolerance,
        q_end=by_name(names, report.trajectory.q[-1]),
        naive=_InstantStop.of(report.naive, q=by_name(names, report.naive.q)),
        brakes=scenario.brakes,
        decelerations=scenario.decelerations,
        of_effort=scenario.of_effort,
        tool_choice=scenario.tool_choice,
    )


# The JSON document of ``mbplugin worst-stop`` (contract: keys may be added, never renamed).


class _Worst(Part):
    axis: str | None = key("null where the value is that of the whole robot")
    measure: choices.StopMeasure
    unit: Literal["s", "rad", "m"]
    value: Size
    grid: Size | None = key(
        "the same of the row of the stopping table at full speed, extension and payload; null where there is none"
    )
    factor: Size | None = key("value over grid")
    outcome: StopOutcome
    time: Size = key("to rest, s")
    tool_distance: Size = key("along the path, m")
    q: ByName = key("at the signal, rad, m")
    qd: ByName = key("at the signal, rad/s, m/s")
    payload: Size = key("kg")
    torque_factors: ByName = key("of brakes, where not 1")
    delay_factors: ByName = key("of brakes, where not 1")
    command: str | None = key("computes the stop again; null without a file")
    bound: Size | None = key("upper bound of value, where the brake or ramp is calibrated", optional=True)
    time_bound: Size | None = key("upper bound of time, s", optional=True)
    tool_distance_bound: Size | None = key("upper bound of tool_distance, m", optional=True)


class _Failure(Part):
    kind: choices.FailureKind
    amount: Size = key("worn: the share of the torque that is left; late: the additional delay, s")


class _FailedBrake(Part):
    joint: str
    failure: _Failure
    outcome: StopOutcome = key("the worst one")
    time: Size = key("the longest of the stops that come to rest, s")
    tool_distance: Size = key("the longest of the stops that come to rest, m")


class _OutcomeCount(Part):
    outcome: StopOutcome
    stops: Count


class _Searches(Part):
    complete: Count = key("completed searches; the values of the others are the worst so far")
    planned: Count = key("one for each value")
    max_seconds: Size = key("of computing, s, that all together may take")


class WorstOfTable(Part):
    """The worst stops of the axes of a table in one of its categories, one at a time."""

    category: choices.StopCategory = key("0 in documents without it", optional=True)
    seed: Count
    stops: Count = key("that were computed", read="count")
    outcomes: list[_OutcomeCount] = key(read="outcome_counts")
    searches: _Searches = _SEARCHES
    found: list[_Worst]
    assumptions: list[str]


class WorstStopOutput(Recorded):
    """The worst stops of a category that a search found."""

    source: str = key("the FILE as it was given")
    model: Model
    computed_not_measured: Literal[True]
    category: choices.StopCategory
    tool: str
    moving: choices.Moving
    axes: list[str]
    seed: Count
    stops: Count = key("that were computed", read="count")
    outcomes: list[_OutcomeCount] = key(read="outcome_counts")
    searches: _Searches = _SEARCHES
    found: list[_Worst]
    failed: list[_FailedBrake] = key("the worst stops again, with one brake that fails")
    assumptions: list[str]
    of_effort: EffortLimits = key("brakes that are not stated")
    tool_choice: ToolChoice = _TOOL_CHOICE


def worst_stop_document(worst: WorstStops, source: str, files: Sequence[str]) -> dict[str, Any]:
    """Return the document of one search."""
    return WorstStopOutput.of(worst, source=source, model=(worst.model, files))


# The JSON document of ``mbplugin distance`` (contract: keys may be added, never renamed).


class _Term(Part):
    symbol: str
    meaning: str
    value: Size = key("unit")
    unit: TermUnit
    origin: TermOrigin = key("by the user, from the stop, or from other terms")
    source: str = key("the stop, or the formula")


class _Stop(Part):
    model: str
    time: Size = key("from the signal until all joints rest, s")
    travel: Size = key("of the tool, along its path, m")
    speed: Size | None = key("of the tool at the signal, m/s; null for a table")
    slowest: str
    farthest: str
    assumed: list[str]
    of_effort: EffortLimits = _OF_EFFORT
    tool_choice: ToolChoice = _TOOL_CHOICE
    unbounded: list[str] = key(
        "parameters that measured stops do not determine, and reasons why calibrated stops have no upper bound",
        optional=True,
    )
    file: str
    sha256: str = key("of the file")


class DistanceOutput(Recorded):
    """A separation distance."""

    computed_not_measured: Literal[True]
    standard: str = key("with its edition")
    formula: str
    symbol: Literal["S", "S_p"]
    value: Size = key("m")
    terms: list[_Term] = key("in the order of the formula, the distance last")
    stop: _Stop
    notes: list[str]


def distance_document(distance: Distance) -> dict[str, Any]:
    """Return the document of one distance."""
    return DistanceOutput.of(distance)


# A measured stop with the computed one, shared by several documents.


class ComparedRow(Part):
    """A measured stop beside the computed one."""

    line: Count = key("of the file of measured stops")
    joint: str
    category: Literal[0, 1]
    unit: choices.CoordinateUnit
    speed: Size = key("unit/s")
    repeats: Count
    shape_index: Size | None = key("2 d/(v T) of the measured values")
    time_measured: Size | None = key("s")
    time_computed: Size = key("s")
    distance_measured: Size | None = key("unit")
    distance_computed: Size = key("unit")


# The JSON document of ``mbplugin stop-table`` (contract: keys may be added, never renamed).


class _Slip(Part):
    joint: str
    unit: choices.CoordinateUnit
    travel: float = key("unit")
    time: Size = key("from the signal to rest, s")


#: The types of column values, by kind.
_KINDS: dict[str, Any] = {
    "category": Literal[0, 1],
    "count": Count,
    "text": str,
    "unit": choices.CoordinateUnit,
    "size": Size,
    "number": float,
    "size or null": Size | None,
    "sense": Literal[-1, 1],
    "outcome": StopOutcome,
    "slips": list[_Slip],
    "coordinates": ByName,
    "evidence": Evidence,
}


if TYPE_CHECKING:
    _Columns = Part
else:
    _Columns = create_model(
        "_Columns",
        __base__=Part,
        **{
            name: (_KINDS[column.kind], key(column.description or None, optional=name not in ALWAYS))
            for name, column in COLUMNS.items()
        },
    )


class _TableRow(_Columns):
    command: str | None = key("computes the row again; null without a file")


class _MeasuredRow(ComparedRow):
    outcome: StopOutcome = key("of the computed stop")
    time_bound: Size | None = key("upper bound of the computed time, s", optional=True)
    distance_bound: Size | None = key("upper bound of the computed distance, unit", optional=True)
    covered: bool = key("took no longer and went no farther than computed, or than the upper bounds")
    far: bool = key("whether the computed value exceeds the measured one by more than half", optional=True)


class _MeasuredStops(Part):
    source: Source
    sentence: str = key("how many took longer or went farther than computed")
    rows: list[_MeasuredRow]


class _TableModel(Part):
    name: str


class StopTableOutput(Recorded):
    """A stopping table."""

    model: _TableModel
    computed_not_measured: Literal[True]
    tolerance: Size = key("relative rank tolerance", optional=True)
    tool: str
    axes: list[str]
    assumptions: list[str]
    of_effort: EffortLimits = _OF_EFFORT
    tool_choice: ToolChoice = _TOOL_CHOICE
    share: Size = key("of the upper bounds: at least this share of such stops is below", optional=True)
    confidence: Size = key("of the upper bounds", optional=True)
    bound_sentence: str = key("the meaning of the upper bounds; empty if no row has one", optional=True)
    unbounded: list[str] = key(
        "parameters that measured stops do not determine, and reasons why calibrated rows have no upper bound",
        optional=True,
    )
    rows: list[_TableRow]
    unrested: str = key("which stops do not end at rest, and how they end; empty where all do", optional=True)
    worst: WorstOfTable | None = key(
        "the worst stops of the lowest category, where they were searched", optional=True
    )
    more_worst: list[WorstOfTable] = key("those of the other categories", optional=True)
    measured: _MeasuredStops | None = key("measured stops beside computed ones", optional=True)


def stop_table_document(table: StoppingTable) -> dict[str, Any]:
    """Return the document of one table."""
    return StopTableOutput.of(table, model=(table.model,))


# A tolerance bound in the JSON documents of sweeps and calibrations.


class Bound(Part):
    """An upper bound of a share of all stops, from order statistics."""

    share: Size = key("at least this share of all stops has no larger value")
    confidence: Size
    value: Size | None = key("null where there are too few values, or the one of this rank is infinite")
    rank: Count = key("of the bound among the values, 1 for the largest; 0 where there are too few")
    count: Count = key("values")
    infinite: Count = key("values of stops that did not come to rest or met a limit")
    required: Count = key("the smallest number of values whose largest one is such a bound")
    largest: Size | None = key("value; null where it is infinite")
    share_of_largest: Size = key("of all stops that have no larger value than largest, with this confidence")


def bound_entries(bound: ToleranceBound) -> dict[str, object]:
    """Return the entries of a bound; infinite values become None."""
    entries: dict[str, object] = dict(vars(bound))
    for name in ("value", "largest"):
        value = getattr(bound, name)
        entries[name] = value if value is not None and isfinite(value) else None
    return entries


# The JSON document of ``mbplugin sweep`` (contract: keys may be added, never renamed).


class _SweepOutcomeCount(Part):
    outcome: StopOutcome
    stops: Count
    first: Count = key("number of a stop")


class _Quantile(Part):
    share: Size
    value: Size


class _WorstStop(Part):
    stop: Count
    value: Size


class _Quantity(Part):
    name: str = key("a column of the part files")
    unit: Literal["s", choices.CoordinateUnit]
    quantiles: list[_Quantile]
    worst: _WorstStop


class _Bound(Bound):
    name: str = key("a column of the part files")
    unit: Literal["s", choices.CoordinateUnit]


class _Case(Part):
    stop: Count
    q: ByName = key("at the signal, rad, m")
    qd: ByName = key("rad/s, m/s")
    brakes: list[JointBrake]
    payloads: list[Payload]
    decelerations: ByName = key("of categories 1 and 2, rad/s², m/s²", optional=True)


class _ReplacedFile(Part):
    file: str
    reason: str


class SweepOutput(Recorded):
    """Many stops of one category."""

    source: str = key("the FILE as it was given")
    model: Model
    computed_not_measured: Literal[True]
    category: choices.StopCategory
    tolerance: Size = key("relative rank tolerance", optional=True)
    folder: str = key("of the part files")
    seed: Count
    stops: Count = key(read="count")
    outcomes: list[_SweepOutcomeCount]
    quantities: list[_Quantity] = key("of the stops that come to rest")
    bounds: list[_Bound] = key("of each quantity by itself", optional=True)
    cases: list[_Case] = key("initial states of the worst stops, and of the first that do not come to rest")
    stated: list[str] = key("brakes and ramps, and where they come from", optional=True)
    assumed: list[str]
    of_effort: EffortLimits = key("brakes that are not stated", optional=True)
    tool_choice: ToolChoice = _TOOL_CHOICE
    notes: list[str]
    replaced: list[_ReplacedFile] = key(
        "files of the folder that were damaged or foreign and were computed again"
    )


def sweep_document(swept: Swept, source: str, files: Sequence[str]) -> dict[str, Any]:
    """Return the document of one sweep."""
    report, plan = swept.report, swept.plan
    scenario = plan.scenario
    return SweepOutput.of(
        report,
        source=source,
        model=(scenario.mech.name, files),
        category=scenario.category,
        folder=swept.folder,
        tolerance=scenario.tolerance,
        seed=plan.seed,
        outcomes=[(outcome, count, report.first[outcome]) for outcome, count in report.outcomes.items()],
        quantities=[
            (name, plan.unit_of(name), list(own.items()), (report.worst[name], own[1.0]))
            for name, own in report.quantiles.items()
        ],
        bounds=[
            {"name": name, "unit": plan.unit_of(name), **bound_entries(bound)}
            for name, bound in swept.bounds.items()
        ]
        or None,
        cases=[_case(plan, k) for k in told_cases(report)],
        stated=scenario.stated,
        assumed=scenario.assumed,
        of_effort=scenario.of_effort,
        tool_choice=scenario.tool_choice,
        notes=scenario.notes,
        replaced=list(report.replaced.items()),
    )


def told_cases(report: SweepReport) -> list[int]:
    """Return the sorted numbers of the stops in a report: the worst, and the first of each outcome but rest."""
    unrested = (stop for outcome, stop in report.first.items() if outcome != "stopped")
    return sorted({*report.worst.values(), *unrested})


def _case(plan: SweepPlan, k: int) -> tuple[Any, ...]:
    """Return stop k with its start: q, qd, brakes, payloads and decelerations."""
    scenario = plan.scenario
    q, qd, brakes, payloads = plan.draw(k)
    start = by_name(scenario.mech.q_names, q), by_name(scenario.mech.qd_names, qd)
    ramps = scenario.from_state(q, qd, brakes, payloads).decelerations if scenario.category else None
    return k, *start, brakes, payloads, ramps


class _Parameter(Part):
    value: Size
    low: Size | None = key(
        "95 % interval, for all parameters of the joint together; null where the data give none"
    )
    high: Size | None
    identifiable: bool = key("whether the rows determine it")
    unit: str


class _Margin(Part):
    time: Size = key("s; 0 where the fit covers them itself")
    line: Count | None = key("the row that needs it")


class _Joint(Part):
    joint: str
    category: Literal[0, 1]
    unit: choices.CoordinateUnit
    law: LawName
    parameters: dict[str, _Parameter]
    rows: Count = key("fitted rows")
    held_out: Count = key("predicted rows")
    freedom: Count = key("fitted numbers beyond those that determine the parameters; 0 for an exact fit")
    time_scatter: Size | None = key("standard deviation of one stop about the computed one, s")
    distance_scatter: Size | None = key("unit")
    undetermined: list[list[str]] = key("parameters of which only a combination is determined")
    notes: list[str]
    margin: _Margin | None = key(
        "time added to delay or reaction, so that no fitted row took longer or went farther than computed",
        optional=True,
    )


class _Row(ComparedRow):
    held_out: bool = key("predicted, not fitted")
    unexplained: list[str]


class _RepeatedStop(Part):
    joint: str
    category: Literal[0, 1]
    unit: choices.CoordinateUnit
    speed: Size = key("unit/s")
    lines: list[Count]
    time: Bound | None = key("of the measured times, s; null where fewer than ten were measured")
    distance: Bound | None = key("of the measured distances, unit")
    time_computed: Size = key("s")
    distance_computed: Size = key("unit")


class _Model(Part):
    name: str
    files: list[Source]


class CalibrateOutput(Recorded):
    """Brakes and ramps from measured stops."""

    model: _Model
    date: str
    measured: Source
    hold_out: str | None
    verdict: str = key("how many rows were fitted, not explained, and exceed what is computed", optional=True)
    not_determined: list[str] = key("parameters that the rows do not determine", optional=True)
    assumptions: list[str]
    joints: list[_Joint]
    rows: list[_Row]
    repeated: list[_RepeatedStop] = key("stops that were measured ten times or more", optional=True)
    toml: str = key("tables of a scene")


def calibrate_document(calibration: Calibration) -> dict[str, Any]:
    """Return the document of one calibration."""
    return CalibrateOutput.of(
        calibration,
        model=(calibration.model, calibration.robot),
        repeated=[_repeated(stop) for stop in calibration.repeated] or None,
    )


def _repeated(stop: RepeatedStop) -> dict[str, object]:
    row = stop.row
    return {
        **{name: getattr(row, name) for name in ("joint", "category", "unit", "speed")},
        "lines": stop.lines,
        "time": stop.time and bound_entries(stop.time),
        "distance": stop.distance and bound_entries(stop.distance),
        "time_computed": row.time_computed,
        "distance_computed": row.distance_computed,
    }
