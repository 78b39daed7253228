"""A calibration as text: every joint with its parameters, its rows beside the computed stops, and the TOML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mbplugin.model.units import SI, Units
from mbplugin.phrases import counted, listed
from mbplugin.report.text.blocks import note_lines, table_lines
from mbplugin.report.text.bounds import bounded
from mbplugin.report.text.layout import PLAIN_WIDTH, Line, wrapped

if TYPE_CHECKING:
    from mbplugin.stopping.calibration.intervals import Parameter
    from mbplugin.stopping.calibration.values import CalibratedRow, Calibration, FittedJoint, RepeatedStop

_ROWS = ("speed", "sigma", "measured [ms]", "computed [ms]", "measured", "computed", "deviation")
_LAWS = {
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
    facts = [f"measured: {calibration.measured}"]
    facts += [f"robot: {source}" for source in calibration.robot]
    if calibration.hold_out:
        facts.append(f"predicted, not fitted (marked *): rows with {calibration.hold_out}")
    for sentence in (*facts, *calibration.assumptions):
        yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))
    for joint in calibration.joints:
        own = (joint.joint, joint.category)
        rows = [row for row in calibration.rows if (row.joint, row.category) == own]
        yield from _joint(joint, rows, width, units)
        repeated = [one for one in calibration.repeated if (one.row.joint, one.row.category) == own]
        yield from note_lines([_repeats(one, units) for one in repeated], width)
    yield Line()
    yield Line(f"Tables of a scene{'' if units.is_si else ', in rad and m'}", "bold cyan")
    yield from (Line(f"  {line}".rstrip()) for line in calibration.toml.splitlines())


def _joint(joint: FittedJoint, rows: list[CalibratedRow], width: int, units: Units) -> Iterator[Line]:
    yield Line()
    title = f"{joint.joint}, category {joint.category}: {_LAWS[joint.law]}, from {counted(joint.rows, 'row')}"
    yield from (Line(text, "bold") for text in wrapped(title, width, "", "  "))
    parameters = [(name, _cells(parameter, units)) for name, parameter in joint.parameters.items()]
    yield from table_lines("parameter", ("value", "unit", "95 % from", "to"), parameters)
    yield from table_lines("line", _ROWS, [(_name(row), _row(row, units)) for row in rows], column=14)
    size, unit = units.shown(joint.unit)
    scatter = [
        f"{text} {factor * value:.3g} {of}"
        for text, value, factor, of in (
            ("time", joint.time_scatter, 1.0, "s"),
            ("distance", joint.distance_scatter, size, unit),
        )
        if value is not None
    ]
    notes = [f"scatter about the computed stops: {', '.join(scatter)}"] if scatter else []
    yield from note_lines([*notes, *_margin(joint, rows), *joint.notes], width)
    yield from note_lines([*_missed(rows, "time"), *_missed(rows, "distance")], width)


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
        yield f"the fitted {late} covers all fitted rows: none took longer or went farther than computed"
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
    low, high = (100 * bound for bound in (min(d for _, d in missed), max(d for _, d in missed)))
    size = f"{low:+.0f} %" if round(low) == round(high) else f"{low:+.0f} to {high:+.0f} %"
    lines = listed([str(line) for line, _ in missed], most=len(missed))
    yield f"not explained: the computed {name} differs by {size} in line{'s' * (len(missed) > 1)} {lines}"


def _cells(parameter: Parameter, units: Units) -> tuple[str, ...]:
    size, unit = units.shown(parameter.unit)
    value = f"{size * parameter.value:.4g}"
    if not parameter.identifiable:
        return value, unit, "undetermined", ""
    if parameter.low is None or parameter.high is None:
        return value, unit, "unknown", ""
    return value, unit, f"{size * parameter.low:.4g}", f"{size * parameter.high:.4g}"


def _name(row: CalibratedRow) -> str:
    return f"{row.line}{' *' if row.held_out else ''}"


def _row(row: CalibratedRow, units: Units) -> tuple[str, ...]:
    deviation, (size, unit) = row.distance_deviation, units.shown(row.unit)
    digits = 4 if units.is_si else 2
    return (
        f"{size * row.speed:.4g} {unit}/s",
        "" if row.shape_index is None else f"{row.shape_index:.2f}",
        "" if row.time_measured is None else f"{1e3 * row.time_measured:.1f}",
        f"{1e3 * row.time_computed:.1f}",
        "" if row.distance_measured is None else f"{size * row.distance_measured:.{digits}f} {unit}",
        f"{size * row.distance_computed:.{digits}f} {unit}",
        "" if deviation is None else f"{100 * deviation:+.1f} %",
    )
