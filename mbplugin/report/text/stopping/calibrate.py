"""A calibration as text: every joint with its parameters, its rows beside the computed stops, and the TOML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mbplugin.model.units import SI, Units
from mbplugin.phrases import counted, listed, number
from mbplugin.report.text.blocks import note_lines
from mbplugin.report.text.bounds import bounded
from mbplugin.report.text.layout import PLAIN_WIDTH, TITLE, Line, wrapped
from mbplugin.report.text.table import table_lines

if TYPE_CHECKING:
    from mbplugin.stopping.calibration.compared import ComparedRow
    from mbplugin.stopping.calibration.intervals import Parameter
    from mbplugin.stopping.calibration.values import CalibratedRow, Calibration, FittedJoint, RepeatedStop

#: Heads of the tables of parameters and of rows.
PARAMETER_HEADS = ("value", "unit", "95 % from", "to")
ROW_HEADS = ("speed", "2d/(vT)", "measured [ms]", "computed [ms]", "measured", "computed", "deviation")
#: What was fitted, in words.
LAWS = {
    "friction": "delay, dry and viscous friction",
    "short_circuit": "delay, dry friction and a short-circuited motor",
    "ramp_time": "reaction and a ramp of constant time",
    "ramp_deceleration": "reaction and a ramp of constant deceleration",
}


def calibrate_lines(calibration: Calibration, width: int = PLAIN_WIDTH, units: Units = SI) -> Iterator[Line]:
    """Yield a calibration: assumptions, joints, rows, what is not explained, and the tables of a scene.

    Angles and lengths are in the given units, except in the tables of a scene, which are in rad and m.
    """
    title = f"{calibration.model}: brakes and ramps from measured stops, {calibration.date}"
    yield from (Line(text, "bold") for text in wrapped(title, width, "", "  "))
    for sentence in calibration_facts(calibration):
        yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))
    for joint in calibration.joints:
        yield from _joint(joint, calibration, width, units)
    yield Line()
    yield Line(f"Tables of a scene{'' if units.is_si else ', in rad and m'}", TITLE)
    yield from (Line(f"  {line}".rstrip()) for line in calibration.toml.splitlines())


def calibration_facts(calibration: Calibration) -> Iterator[str]:
    """Yield what was read, what was predicted and what is assumed, a sentence each."""
    yield f"measured: {calibration.measured}"
    yield from (f"robot: {source}" for source in calibration.robot)
    if calibration.hold_out:
        yield f"predicted, not fitted (marked *): rows with {calibration.hold_out}"
    yield from calibration.assumptions


def joint_title(joint: FittedJoint) -> str:
    """Return what was fitted to a joint, and from how many rows."""
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
    """Yield scatter, margin, notes, what is not explained of a joint, and what its repeats bound."""
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
    """Return what the repeats of one stop bound, and what is computed of it."""
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
    """Yield what covers the rows, and whether it covers those that were predicted; nothing without a request."""
    if joint.margin is None:
        return
    late = "reaction" if joint.category == 1 else "delay"
    if joint.margin.time:
        yield (
            f"the {late} below is {joint.margin.time:.3g} s longer than the fitted one: so no fitted row took longer or"
            f" went farther than computed (line {joint.margin.line} needs it)"
        )
    else:
        exact = "" if joint.freedom else "; of an exact fit this is no reserve"
        yield f"the fitted {late} covers all fitted rows: none took longer or went farther than computed{exact}"
    predicted = [row for row in rows if row.held_out]
    if predicted:
        covered = sum(row.covered for row in predicted)
        rows_of = counted(len(predicted), "predicted row")
        yield f"of {rows_of}, {covered} took no longer and went no farther than computed"


def _missed(rows: list[CalibratedRow], name: str) -> Iterator[str]:
    """Yield a sentence on the rows whose time or distance the law does not explain, nothing where there are none."""
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
    """Return value, unit and interval of a parameter."""
    size, unit = units.shown(parameter.unit)
    value = f"{size * parameter.value:.4g}"
    if not parameter.identifiable:
        return value, unit, "undetermined", ""
    if parameter.low is None or parameter.high is None:
        return value, unit, "unknown", ""
    return value, unit, f"{size * parameter.low:.4g}", f"{size * parameter.high:.4g}"


def row_name(row: CalibratedRow) -> str:
    """Return the line of a row, marked where it was predicted."""
    return f"{row.line}{' *' if row.held_out else ''}"


def row_cells(row: ComparedRow, units: Units) -> tuple[str, ...]:
    """Return a measured stop beside the computed one."""
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
