"""Stops as text: a stopping table, worst stops, a sweep, a calibration, and a separation distance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from mbplugin.model import SI, Units, said_in
from mbplugin.phrases import at_most_shown, counted, joined_by_words, listed, number, rounded_up
from mbplugin.report import ROUNDING, shown
from mbplugin.report.text import (
    PLAIN_WIDTH,
    TITLE,
    Line,
    first_lines,
    grid_lines,
    note_lines,
    sentences_under,
    table_lines,
    warning_lines,
    wrapped,
)
from mbplugin.report.text.stop import bounded, missing_sentence, percent
from mbplugin.stopping.outcome import OUTCOME_WORDS
from mbplugin.stopping.table import (
    TEXT_CELLS,
    StoppingTable,
    at_most,
    cells_with_bounds,
    rows_in_units,
    slip_words,
    summaries,
)

if TYPE_CHECKING:
    from mbplugin.stopping.calibration import (
        CalibratedRow,
        Calibration,
        FittedJoint,
        MeasuredRow,
        MeasuredStops,
        RepeatedStop,
    )
    from mbplugin.stopping.calibration.intervals import ComparedRow, Parameter
    from mbplugin.stopping.scenario import ToolChoice
    from mbplugin.stopping.sweep import Swept
    from mbplugin.stopping.sweep.run import SweepReport
    from mbplugin.stopping.worst_search import FailedBrake, WorstStop, WorstStops
    from mbplugin.stopping.zones.distance import Distance

#: Title of the measured stops of a table.
MEASURED_TITLE = "Measured stops beside computed ones, nothing fitted"
#: Widths of columns for SI units, and for other units.
_COLUMN, _WIDE_COLUMN = 10, 13
WORST_HEADS = ("value", "≤", "table row", "factor", "time", "tool path", "payload")
FAILURE_HEADS = ("worst outcome", "time", "tool path")
#: Heads of the tables of quantiles and of bounds.
QUANTILE_HEADS = ("median", "90 %", "99 %", "largest", "in stop")
BOUND_HEADS = ("no more than", "rank", "of stops")
#: Heads of the tables of parameters and of rows.
PARAMETER_HEADS = ("value", "unit", "95 % from", "to")
ROW_HEADS = ("speed", "2d/(vT)", "measured [ms]", "computed [ms]", "measured", "computed", "deviation")
#: The fitted laws in words.
LAWS = {
    "friction": "delay, dry and viscous friction",
    "short_circuit": "delay, dry friction and a short-circuited motor",
    "ramp_time": "reaction and a ramp of constant time",
    "ramp_deceleration": "reaction and a ramp of constant deceleration",
}


# A stopping table as text: the assumptions, one line per stop, slipping joints, and the poses.


def stop_table_lines(
    table: StoppingTable, width: int = PLAIN_WIDTH, *, commands: bool = False, units: Units = SI
) -> Iterator[Line]:
    """Yield the table by category and axis; optionally with the command that recomputes each row."""
    headline = [Line(text, "bold") for text in wrapped(table_verdict(table, units), width, "", "  ")]
    yield from first_lines(headline, table.warnings, width, notes=table.assumptions)
    if table.unrested:
        yield from (Line(text, "bold red") for text in wrapped(table.unrested, width, "  ", "    "))
        yield Line()
    rows = rows_in_units(table, units)
    yield from grid_lines(
        "longest stops",
        summary_heads(units),
        summary_cells(rows),
        width,
        _COLUMN if units.is_si else _WIDE_COLUMN,
    )
    yield Line()
    for sentence in said_in(table.facts, units):
        yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))
    for _, block in groupby(rows, key=lambda row: (row["category"], row["axis"])):
        yield from _block(list(block), width, commands, units, table.bounded)
    if table.measured is not None:
        yield from _measured(table.measured, width, units)
    for worst in table.searched:
        title = f"Worst of {counted(worst.count, 'stop')} of category {worst.category}, seed {worst.seed}"
        yield Line()
        yield from (Line(text, TITLE) for text in wrapped(title, width, "", "  "))
        for sentence in said_in(worst.only_here(table.assumptions), units):
            yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))
        yield from found_lines(worst, width, commands=commands, units=units)


def table_verdict(table: StoppingTable, units: Units, more: str = "") -> str:
    """Return a sentence with the longest stopping time and tool distance of a table, and ``more`` at its end."""
    found = list(summaries(rows_in_units(table, units)))
    if not found:
        return f"{table.model}: stopping table without a stop, tool {table.tool}"
    slowest = max((one.slowest for one in found), key=lambda row: at_most(row, "rest_time"))
    longest = max((one.longest for one in found), key=lambda row: at_most(row, "tool_distance"))
    # "at most" needs an upper bound in every row
    bounds = ("rest_time_bound", "tool_distance_bound")
    sure = "at most" if all(row[key] is not None for row in table.rows for key in bounds) else "up to"
    moving = sum(one.unrested for one in found)
    rested = f", {moving} NOT AT REST" if moving else ", all at rest"
    return (
        f"{table.model}: {counted(len(table.rows), 'stop')}{rested}, {sure}"
        f" {at_most_shown(1e3 * at_most(slowest, 'rest_time'))} ms ({slowest['joint']}, category"
        f" {slowest['category']}) and {at_most_shown(at_most(longest, 'tool_distance'))} {units.length} of the tool"
        f" {table.tool} ({longest['joint']}, category {longest['category']}){more}; computed, not measured"
    )


def evidence_sentence(table: StoppingTable) -> str:
    """Return a sentence on the origin of the axes' brakes and ramps, which says that all stops are computed."""
    words = {
        "calibrated": "fitted to measured stops",
        "stated": "stated, not measured here",
        "assumed": "ASSUMED, no evidence",
    }
    said = []
    for evidence, meaning in words.items():
        found: dict[str, dict[int, None]] = {}
        for row in table.rows:
            if row["evidence"] == evidence:
                found.setdefault(row["joint"], {})[row["category"]] = None
        if found:
            names = [f"{joint} (category {' and '.join(map(str, own))})" for joint, own in found.items()]
            said.append(f"{meaning}: {listed(names, most=len(names))}")
    return f"{'; '.join(said)}. All stops are computed from these brakes and ramps"


def summary_heads(units: Units) -> tuple[str, ...]:
    """Return the column heads of the table of longest stops."""
    return ("time [ms]", "± [ms]", "≤ [ms]", "distance", "±", "≤", f"tool ≤ [{units.length}]")


def summary_cells(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[str]]]:
    """Return the label and the cells of each axis and category, numbers rounded up; the last cell is the evidence."""
    out = []
    for one in summaries(rows):
        slow, far = one.slowest, one.farthest
        cells = [
            at_most_shown(1e3 * slow["time"]),
            _rounded_or_dash(slow["time_interval"], 1e3),
            _rounded_or_dash(slow["time_bound"], 1e3),
            f"{at_most_shown(far['distance'])} {far['unit']}",
            _rounded_or_dash(far["distance_interval"], 1.0),
            _rounded_or_dash(far["distance_bound"], 1.0),
            at_most_shown(at_most(one.longest, "tool_distance")),
            slow["evidence"] + (f", {one.unrested} not at rest" if one.unrested else ""),
        ]
        out.append((f"{one.joint}, category {one.category}", cells))
    return out


def _rounded_or_dash(value: float | None, factor: float) -> str:
    return "–" if value is None else at_most_shown(factor * value)


def _measured(beside: MeasuredStops, width: int, units: Units) -> Iterator[Line]:
    """Yield the table of measured and computed stops."""
    yield Line()
    yield Line(MEASURED_TITLE, TITLE)
    yield from (Line(text) for text in wrapped(str(beside.source), width, "  ", "    "))
    missed, far = any(not row.covered for row in beside.rows), any(row.far for row in beside.rows)
    style = "bold red" if missed else "bold yellow" if far else ""
    yield from (Line(text, style) for text in wrapped(beside.sentence, width, "  ", "    "))
    rows = [(measured_name(row), row_cells(row, units)) for row in beside.rows]
    yield from table_lines("line", ROW_HEADS, rows, width, 14)


def measured_name(row: MeasuredRow) -> str:
    """Return the label of a measured stop, with the outcome of the computed one unless it comes to rest."""
    outcome = "" if row.outcome == "stopped" else f", {row.outcome.replace('_', ' ')}"
    return f"{row.line} {row.joint}, category {row.category}{outcome}"


def _block(
    rows: list[dict[str, Any]], width: int, commands: bool, units: Units, bounded: bool
) -> Iterator[Line]:
    """Yield the rows of an axis in one category, and the poses at the signal."""
    first = rows[0]
    full = first["speed"] * 100 / first["speed_percent"]
    title = f"Category {first['category']}, axis {first['axis']}: {first['joint']}"
    yield Line()
    title += f", {full:.4g} {first['unit']}/s"
    yield from (Line(text, TITLE) for text in wrapped(title, width, "", "  "))
    shown_cells = cells_with_bounds(TEXT_CELLS, bounded)
    heads = [cell.title(units) for cell in shown_cells]
    cells = [("", [*(cell.text(row) for cell in shown_cells), _outcome(row)]) for row in rows]
    below = [list(_below(row, width, commands)) for row in rows]
    yield from grid_lines("", heads, cells, width, _COLUMN if units.is_si else _WIDE_COLUMN, below=below)
    for share, row in {row["extension_percent"]: row for row in rows}.items():
        sense = "positive" if row["sense"] > 0 else "negative"
        pose = ", ".join(f"{name} {number(value)}" for name, value in row["q"].items())
        said = f"pose ({units.angle}, {units.length}) of {share} % extension, the axis in its {sense} sense: {pose}"
        yield from (Line(text) for text in wrapped(said, width, "  ", "    "))


def _outcome(row: Mapping[str, Any]) -> str:
    return "" if row["outcome"] == "stopped" else str(row["outcome"]).replace("_", " ")


def _below(row: Mapping[str, Any], width: int, commands: bool) -> Iterator[Line]:
    """Yield the other joints that slip in the stop of a row, and optionally the command that recomputes it."""
    for phrase in slip_words(row):
        yield from (Line(text, "yellow") for text in wrapped(phrase, width, "    ! ", "      "))
    if commands and row["command"]:
        yield Line(f"    {row['command']}")


# The worst stops of a search as text: assumptions first, then the values, and failing brakes.


def worst_stop_lines(
    worst: WorstStops, width: int = PLAIN_WIDTH, *, commands: bool = False, units: Units = SI
) -> Iterator[Line]:
    """Yield the worst stops; optionally with the command that recomputes each."""
    title = (
        f"{worst.model}: worst of {counted(worst.count, 'stop')} of category {worst.category}, seed"
        f" {worst.seed}, tool {worst.tool}; computed, not measured"
    )
    headline = [Line(text, "bold") for text in wrapped(title, width, "", "  ")]
    warnings = (*worst.of_effort.warnings, worst.tool_choice.warning, worst.searches.warning)
    yield from first_lines(headline, warnings, width, notes=worst.assumptions)
    for sentence in said_in(worst.assumptions[1:], units):
        yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))
    yield Line()
    yield from found_lines(worst, width, commands=commands, units=units)


def found_lines(worst: WorstStops, width: int, *, commands: bool, units: Units) -> Iterator[Line]:
    """Yield the outcomes, the worst stops and the failing brakes of a search, without the assumptions."""
    worst = worst.in_units(units)
    for outcome, count in worst.outcomes.items():
        yield Line(f"  {OUTCOME_WORDS[outcome]}: {count}")
    cells = [(one.name, worst_cells(one, units.length)) for one in worst.found]
    yield from table_lines("worst stop", WORST_HEADS, cells, width, 12)
    for one in worst.found:
        if one.outcome != "stopped":
            said = f"{one.name}: {OUTCOME_WORDS[one.outcome]}"
            yield from (Line(text, "yellow") for text in wrapped(said, width, "  ! ", "    "))
    yield Line()
    for one in worst.found:
        said = f"{one.name}: from {worst_start(one)}"
        yield from (Line(text) for text in wrapped(said, width, "  ", "    "))
        if commands and one.command:
            yield Line(f"    {one.command}")
    if worst.failed:
        rows = [(failure_name(one), failure_cells(one, units.length)) for one in worst.failed]
        yield from table_lines("these stops again", FAILURE_HEADS, rows, width, 26)


def worst_cells(worst: WorstStop, length: str) -> list[str]:
    """Return the cells of a worst stop under ``WORST_HEADS``; ``length`` is the unit of lengths."""
    grid = "–" if not worst.grid else f"{shown(worst.grid)} {worst.unit}"
    if worst.outcome == "limit_hit":
        # no searched stop came to rest by its brakes: all end at a limit
        return ["–", "–", grid, "–", "–", "–", f"{worst.payload:.4g} kg"]
    # a stop that does not end continues beyond the computed motion
    more = "> " if worst.outcome in ("not_stopped", "budget_spent", "loop_opened") else ""
    factor = "–" if worst.factor is None else f"{more}{worst.factor:.3g}"
    own = f"{more}{shown(worst.value)} {worst.unit}"
    bound = "–" if worst.bound is None else f"{at_most_shown(worst.bound)} {worst.unit}"
    return [
        own,
        bound,
        grid,
        factor,
        f"{worst.time:.4g} s",
        f"{shown(worst.tool_distance)} {length}",
        f"{worst.payload:.4g} kg",
    ]


def worst_start(worst: WorstStop) -> str:
    """Return the state at the start of a stop, with brake factors, as text."""
    rates = {name: rate for name, rate in worst.qd.items() if rate}
    parts = [f"{name} {number(value)}" for name, value in worst.q.items()]
    parts.append("rates " + ", ".join(f"{name} {rate:.4g}" for name, rate in rates.items()))
    for what, factors in (("torque", worst.torque_factors), ("delay", worst.delay_factors)):
        parts += [f"{what} of {name} × {factor:.4g}" for name, factor in factors.items()]
    return ", ".join(parts)


def failure_name(failed: FailedBrake) -> str:
    """Return the failing brake and its failure as text."""
    kind, amount = failed.failure.kind, failed.failure.amount
    words = {"dead": "dead", "worn": f"at {100 * amount:g} %", "late": f"{1e3 * amount:g} ms late"}
    return f"brake of {failed.joint} {words[kind]}"


def failure_cells(failed: FailedBrake, length: str) -> list[str]:
    """Return the cells of a failing brake under ``FAILURE_HEADS``; ``length`` is the unit of lengths."""
    rest = [f"{failed.time:.4g} s", f"{failed.tool_distance:.4g} {length}"] if failed.time > 0 else ["–", "–"]
    return [OUTCOME_WORDS[failed.outcome], *rest]


# A sweep as text: the outcomes of the stops, quantiles, the worst stops, and tolerance bounds.


def sweep_lines(swept: Swept, width: int = PLAIN_WIDTH, units: Units = SI) -> Iterator[Line]:
    """Yield the report of one sweep, with angles and lengths in the given units."""
    scenario = swept.plan.scenario
    stops = counted(swept.report.count, "stop")
    title = (
        f"{scenario.mech.name}: {stops} of category {scenario.category}, seed {swept.plan.seed}, tool"
        f" {scenario.tool}; computed, not measured"
    )
    headline = [Line(text, "bold") for text in wrapped(title, width, "", "  ")]
    warnings = (*scenario.of_effort.warnings, scenario.tool_choice.warning)
    yield from first_lines(headline, warnings, width, notes=scenario.notes)
    yield from (Line(f"  {sentence}") for sentence in outcome_sentences(swept.report))
    yield from table_lines("of those that stopped", QUANTILE_HEADS, quantile_rows(swept, units), width)
    bounds = bound_rows(swept, units)
    if bounds:
        yield from table_lines("tolerance bounds", BOUND_HEADS, bounds, width)
    for k, sentence in enumerate(bound_sentences(swept)):
        yield from [Line()] * (k == 0)
        yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))
    yield Line()
    yield from (Line(text) for text in wrapped(f"all stops are in {swept.folder}", width, "  ", "    "))
    yield from sentences_under("Brakes and ramps", said_in(scenario.stated, units), width)
    yield from sentences_under("Assumed", joined_by_words(scenario.assumed), width)
    yield from sentences_under("Notes", scenario.notes, width)


def outcome_sentences(report: SweepReport) -> Iterator[str]:
    """Yield the number of stops with each outcome, and the first such stop unless it came to rest."""
    for outcome, count in report.outcomes.items():
        first = "" if outcome == "stopped" else f", first stop {report.first[outcome]}"
        yield f"{OUTCOME_WORDS[outcome]}: {count} ({100 * count / report.count:.4g} %){first}"


def quantile_rows(swept: Swept, units: Units) -> list[tuple[str, list[str]]]:
    """Return the label and the cells of each quantity."""
    report = swept.report
    return [
        (
            f"{name.replace('_', ' ')} [{unit}]",
            [*(shown(v, size=size) for v in own.values()), str(report.worst[name])],
        )
        for name, own in report.quantiles.items()
        for size, unit in [units.shown(swept.plan.unit_of(name))]
    ]


def bound_rows(swept: Swept, units: Units) -> list[tuple[str, tuple[str, ...]]]:
    """Return the label and the cells of each tolerance bound; empty if there are none."""
    # the rank and the number of infinite values are the same for all quantities
    if not swept.bounds or missing_sentence(next(iter(swept.bounds.values()))):
        return []
    return [
        (f"{name.replace('_', ' ')} [{unit}]", (_bound(bound.value, size), str(bound.rank), str(bound.count)))
        for name, bound in swept.bounds.items()
        for size, unit in [units.shown(swept.plan.unit_of(name))]
        if bound.value is not None
    ]


def bound_sentences(swept: Swept) -> Iterator[str]:
    """Yield the meaning of the tolerance bounds, or why there are none; nothing if they were not requested."""
    if not swept.bounds:
        return
    one = next(iter(swept.bounds.values()))
    yield missing_sentence(one) or (
        f"with {percent(one.confidence)} confidence, at least {percent(one.share)} of the stops that this"
        " sweep draws have no larger value: each bound by itself"
    )
    if one.infinite:
        yield f"{counted(one.infinite, 'stop')} that did not come to rest or met a limit count as infinite"


def _bound(value: float, size: float) -> str:
    """Format a bound times the size of its unit, rounded up; rounding errors become 0."""
    return rounded_up(size * value) if value > ROUNDING else shown(value, size=size)


# A calibration as text: each joint with its parameters, its measured and computed stops, and the TOML.


def calibrate_lines(calibration: Calibration, width: int = PLAIN_WIDTH, units: Units = SI) -> Iterator[Line]:
    """Yield a calibration: assumptions, joints with rows and unexplained deviations, and the tables of a scene.

    Angles and lengths are in the given units, except in the tables of a scene, which are in rad and m.
    """
    title = f"{calibration.model}: {calibration.verdict}"
    yield from (Line(text, "bold") for text in wrapped(title, width, "", "  "))
    yield Line()
    yield from warning_lines((*calibration.not_determined, calibration.advice), width)
    yield Line(f"  brakes and ramps from measured stops, {calibration.date}")
    for sentence in calibration_facts(calibration):
        yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))
    for joint in calibration.joints:
        yield from _joint(joint, calibration, width, units)
    yield Line()
    yield Line(f"Tables of a scene{'' if units.is_si else ', in rad and m'}", TITLE)
    yield from (Line(f"  {line}".rstrip()) for line in calibration.toml.splitlines())


def calibration_facts(calibration: Calibration) -> Iterator[str]:
    """Yield the input files, the predicted rows and the assumptions, a sentence each."""
    yield f"measured: {calibration.measured}"
    yield from (f"robot: {source}" for source in calibration.robot)
    if calibration.hold_out:
        yield f"predicted, not fitted (marked *): rows with {calibration.hold_out}"
    yield from calibration.assumptions


def joint_title(joint: FittedJoint) -> str:
    """Return a title with the fitted law of a joint and its number of rows."""
    return f"{joint.joint}, category {joint.category}: {LAWS[joint.law]}, from {counted(joint.rows, 'row')}"


def _joint(joint: FittedJoint, calibration: Calibration, width: int, units: Units) -> Iterator[Line]:
    yield Line()
    rows = calibration.rows_of(joint)
    yield from (Line(text, "bold") for text in wrapped(joint_title(joint), width, "", "  "))
    parameters = [(name, parameter_cells(parameter, units)) for name, parameter in joint.parameters.items()]
    yield from table_lines("parameter", PARAMETER_HEADS, parameters, width)
    cells = [(row_name(row), row_cells(row, units)) for row in rows]
    yield from table_lines("line", ROW_HEADS, cells, width, 14)
    yield from note_lines(list(joint_notes(joint, calibration, units)), width)


def joint_notes(joint: FittedJoint, calibration: Calibration, units: Units) -> Iterator[str]:
    """Yield scatter, margin, notes, unexplained deviations of a joint, and bounds from its repeated stops."""
    rows, (size, unit) = calibration.rows_of(joint), units.shown(joint.unit)
    scatter = [
        f"{text} {factor * value:.3g} {of}"
        for text, value, factor, of in (
            ("time", joint.time_scatter, 1.0, "s"),
            ("distance", joint.distance_scatter, size, unit),
        )
        if value is not None
    ]
    if scatter:
        yield f"scatter about the computed stops: {', '.join(scatter)}"
    yield from (*_margin(joint, rows), *joint.notes)
    yield from (*_missed(rows, "time"), *_missed(rows, "distance"))
    own = (joint.joint, joint.category)
    for one in calibration.repeated:
        if (one.row.joint, one.row.category) == own:
            yield _repeats(one, units)


def _repeats(stop: RepeatedStop, units: Units) -> str:
    """Return a sentence with the bounds from the repeats of one stop, and the computed values."""
    row, (size, unit) = stop.row, units.shown(stop.row.unit)
    found = [
        (name, of, factor, bound, factor * computed)
        for name, of, factor, bound, computed in (
            ("time", "ms", 1e3, stop.time, row.time_computed),
            ("distance", unit, size, stop.distance, row.distance_computed),
        )
        if bound is not None
    ]
    said = [
        f"{name} {bounded(bound, factor, of)} (computed: {computed:.4g})"
        for name, of, factor, bound, computed in found
    ]
    lines = listed([str(line) for line in stop.lines], most=len(stop.lines))
    return f"repeats at {size * row.speed:.4g} {unit}/s in lines {lines}: {'; '.join(said)}"


def _margin(joint: FittedJoint, rows: list[CalibratedRow]) -> Iterator[str]:
    """Yield the margin that covers the fitted rows, and the number of predicted rows it covers; nothing without one."""
    if joint.margin is None:
        return
    late = "reaction" if joint.category == 1 else "delay"
    if joint.margin.time:
        yield (
            f"the {late} below is {joint.margin.time:.3g} s longer than the fitted one: so no fitted row took longer or"
            f" went farther than computed (line {joint.margin.line} needs it)"
        )
    else:
        exact = "" if joint.freedom else "; of an exact fit it is not a reserve"
        yield f"the fitted {late} covers all fitted rows: none took longer or went farther than computed{exact}"
    predicted = [row for row in rows if row.held_out]
    if predicted:
        covered = sum(row.covered for row in predicted)
        rows_of = counted(len(predicted), "predicted row")
        yield f"of {rows_of}, {covered} took no longer and went no farther than computed"


def _missed(rows: list[CalibratedRow], name: str) -> Iterator[str]:
    """Yield a sentence on the rows whose time or distance (``name``) the law does not explain, if any."""
    found = [(row, row.unexplained_deviation(name)) for row in rows]
    missed = [(row.line, deviation) for row, deviation in found if deviation is not None]
    if not missed:
        return
    deviations = [deviation for _, deviation in missed]
    low, high = (number(100 * bound, "+.0f") for bound in (min(deviations), max(deviations)))
    size = f"{low} %" if low == high else f"{low} to {high} %"
    lines = listed([str(line) for line, _ in missed], most=len(missed))
    yield f"not explained: the computed {name} differs by {size} in line{'s' * (len(missed) > 1)} {lines}"


def parameter_cells(parameter: Parameter, units: Units) -> tuple[str, ...]:
    """Return the cells of a parameter: value, unit and interval."""
    size, unit = units.shown(parameter.unit)
    value = f"{size * parameter.value:.4g}"
    if not parameter.identifiable:
        return value, unit, "undetermined", ""
    if parameter.low is None or parameter.high is None:
        return value, unit, "unknown", ""
    return value, unit, f"{size * parameter.low:.4g}", f"{size * parameter.high:.4g}"


def row_name(row: CalibratedRow) -> str:
    """Return the line number of a row, with * if it was predicted."""
    return f"{row.line}{' *' if row.held_out else ''}"


def row_cells(row: ComparedRow, units: Units) -> tuple[str, ...]:
    """Return the cells of a measured stop and the computed one, under ``ROW_HEADS``."""
    deviation, (size, unit) = row.distance_deviation, units.shown(row.unit)
    digits = 4 if units.is_si else 2
    return (
        f"{size * row.speed:.4g} {unit}/s",
        "" if row.shape_index is None else f"{row.shape_index:.2f}",
        "" if row.time_measured is None else f"{1e3 * row.time_measured:.1f}",
        f"{1e3 * row.time_computed:.1f}",
        "" if row.distance_measured is None else f"{size * row.distance_measured:.{digits}f} {unit}",
        f"{size * row.distance_computed:.{digits}f} {unit}",
        "" if deviation is None else f"{number(100 * deviation, '+.1f')} %",
    )


# A separation distance as text: every term with its value, its unit and its source.


def tool_words(choice: ToolChoice) -> tuple[str, str]:
    """Return the tool point, and "given" or the reason for its choice."""
    return choice.place, f"not given: {choice.reason}" if choice.reason else "given"


def distance_lines(distance: Distance, width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the report of one distance."""
    title = (
        f"{distance.stop.model}: {distance.symbol} = {distance.value:.4f} m by {distance.standard};"
        " computed, not measured"
    )
    yield from (Line(text, "bold") for text in wrapped(title, width, "", "  "))
    yield Line()
    yield from warning_lines(distance.warnings, width)
    yield Line(f"  {distance.formula}")
    yield Line()
    for term in distance.terms:
        head = f"  {term.symbol:<6}{term.value:>9.4f} {term.unit:<5}"
        yield from (Line(text) for text in wrapped(f"{term.meaning} ({term.source})", width, head, " " * 22))
    if distance.tool_choice.body:
        place, why = tool_words(distance.tool_choice)
        style = "yellow" if distance.tool_choice.reason else ""
        said = wrapped(f"{place} ({why})", width, f"  {'tool':<20}", " " * 22)
        yield from (Line(text, style) for text in said)
    yield from sentences_under("Assumed in the stop", joined_by_words(distance.stop.assumed), width)
    yield from sentences_under("Notes", distance.notes, width)
    if distance.stop.file:
        yield Line()
        yield Line(f"  {distance.stop.file}, SHA-256 {distance.stop.sha256}")
