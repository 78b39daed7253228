"""``calibrate``: fit the brakes and ramps of a robot to measured stops."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date as calendar
from math import isfinite
from pathlib import Path

import numpy as np

from mbplugin.arguments import checked
from mbplugin.errors import BadUsage
from mbplugin.files import toml_text
from mbplugin.model import Array, Mechanism, Scene, base_sentence, mechanism_of, units_of, warn_of
from mbplugin.model.brake_law import Brake, FitUncertainty, Ramp
from mbplugin.model.mechanism.kinematics import NamedNumbers, numbers, rates_of
from mbplugin.phrases import counted, listed, number, visible
from mbplugin.readers import ModelSource, Source, sources_of
from mbplugin.readers.standing import standing
from mbplugin.simulation.options import LONGEST, MAX_SECONDS, require_positive
from mbplugin.stopping import (
    CONFIDENCE,
    SHARE,
    ToleranceBound,
    require_bound,
    tolerance_bound,
)
from mbplugin.stopping.calibration import CalibratedRow, Calibration, FittedJoint, RepeatedStop, fit
from mbplugin.stopping.calibration.choice import (
    WITHOUT_TORQUE,
    Choice,
    choose_brake,
    choose_ramp,
    requested,
    shape_notes,
    undetermined_note,
    unexplained,
    without_reaction,
)
from mbplugin.stopping.calibration.fit import Bench, BrakeModel, Fit, RampModel, RowModel
from mbplugin.stopping.calibration.intervals import (
    Determination,
    Margin,
    as_written,
    covering_margin,
    determination,
    known,
    parameters_of,
    uncertainty_of,
    written_up,
)
from mbplugin.stopping.calibration.measured import (
    MeasuredFile,
    Measurement,
    held_out,
    measurements_of,
    read_measured,
    require_consistent,
)
from mbplugin.stopping.defaults import default_tool
from mbplugin.stopping.run import tool_name
from mbplugin.stopping.scenario.drives import with_rigid_rest
from mbplugin.stopping.table.extension import axes_that_stop
from mbplugin.version import __version__

#: Gravity acts in the stops of a joint if its torque exceeds this share of the braking torque.
_GRAVITY = 1e-3
#: Digits of a file's hash in an origin; the full hash is in a comment of the tables.
_DIGEST = 16
#: Least number of repeats for a bound: fewer say little about the largest stop.
LEAST = 10


@checked
def calibrate(
    mech: ModelSource,
    measured: str | Path,
    *,
    hold_out: str | None = None,
    cover: bool = False,
    parameters: Sequence[str] | None = None,
    payload: float | None = None,
    speeds: NamedNumbers | None = None,
    tool: str | None = None,
    date: str | None = None,
    share: float = SHARE,
    confidence: float = CONFIDENCE,
    max_seconds: float = MAX_SECONDS,
    progress: Callable[[int], None] | None = None,
) -> Calibration:
    """Fit brakes and ramps of a robot to measured stops of its joints.

    Category 0: the stops are computed by the simulator with the pose, the payload and gravity of each row,
    while the other joints are at rest. Category 1: reaction and ramp in closed form, for which the robot needs no
    masses. Every joint is fitted separately.

    Parameters
    ----------
    mech : path, PyBullet client, Scene or Mechanism
        Parameters that are not fitted are those of the scene's brakes.
    measured : path
        A CSV file with the columns joint, category, speed (rad/s, m/s, %), time (s) and distance (rad, m),
        and optionally payload (kg, %), extension (m, %) or ``q NAME`` (rad, m), sense, repeats, time_spread
        and distance_spread; other units are stated in the header, such as ``speed [deg/s]``.
    hold_out : str, optional
        Condition for rows that are predicted, not fitted, such as ``speed=100%`` or ``payload>3``.
    cover : bool
        Lengthen delays and reactions after the fit until no fitted row took longer or went farther than computed.
    parameters : sequence of str, optional
        Fitted parameters: delay (s), torque, viscous, short_circuit and short_circuit_rate of brakes, reaction (s),
        time (s) or deceleration of ramps; by default those of the law that the rows support.
    payload : float, optional
        Rated mass at the tool, kg, to which shares refer; by default the scene's payload.
    speeds : mapping, optional
        Full speed by joint, rad/s or m/s, to which shares refer; by default the velocity limits.
    tool : str, optional
    date : str, optional
        Day of the calibration, YYYY-MM-DD; by default today.
    share, confidence : float
        Of the tolerance bounds of stops that were measured ten times or more.
    max_seconds : float
        Time limit of the computation for all joints together, s.
    progress : callable, optional
        Called with the number of newly computed stops.

    Warns
    -----
    ImplausibleValue
        The best torque of a brake is 0.

    Raises
    ------
    MbPluginError
        The file cannot be read, names or units do not match the robot, repeats contradict each other, there are
        fewer numbers than parameters, or the fit takes too long; one sentence with the line.
    """
    mech = standing(mech)
    default = default_tool(mechanism_of(mech)) if tool is None else None
    body = tool_name(mechanism_of(mech), tool)
    mech, rigid = with_rigid_rest(mech, body, axes=axes_that_stop(mechanism_of(mech), body), carries=True)
    mechanism = mechanism_of(mech)
    file = read_measured(Path(measured))
    rows = measurements_of(file, mechanism, numbers(speeds, rates_of(mechanism)))
    require_consistent(file, rows)
    require_bound(share, confidence)
    require_positive("time to compute", max_seconds, "s", LONGEST)
    out = held_out(hold_out, file, rows)
    for category in (0, 1):
        requested(parameters, category)
    bench = (
        Bench(mech, payload, tool, progress, max_seconds, default)
        if any(row.category == 0 for row in rows)
        else None
    )
    groups = _groups(rows, out, file)
    fitted = [_Group(group, mech, bench, requested(parameters, group.category), cover) for group in groups]
    joints, found = (
        [one.joint for one in fitted],
        sorted((row for one in fitted for row in one.rows), key=lambda row: row.line),
    )
    source, robot = Source(file.path, file.sha256), sources_of(mech) if isinstance(mech, Scene) else ()
    date = date or calendar.today().isoformat()
    joints = [_with_origin(joint, source, date) for joint in joints]
    warn_of(f"{joint.joint}: {WITHOUT_TORQUE}" for joint in joints if WITHOUT_TORQUE in joint.notes)
    return Calibration(
        mechanism.name,
        date,
        source,
        robot,
        hold_out,
        tuple(joints),
        tuple(found),
        (*base_sentence(mechanism.assumed_fixed), *rigid, *_assumptions(bench)),
        toml_of(joints, found, source, robot, date, hold_out),
        repeated_stops(rows, found, share, confidence),
    )


def _with_origin(joint: FittedJoint, measured: Source, date: str) -> FittedJoint:
    """Return the fitted joint with its origin, which reports of stops with it show."""
    rows = counted(joint.rows, "row")
    file = visible(Path(measured.path).name)
    origin = f"calibrated on {date} from {rows} of {file}, SHA-256 {(measured.sha256 or '')[:_DIGEST]}…"
    if not joint.freedom:
        origin += ", an exact fit"
    late = "reaction" if joint.category == 1 else "delay"
    if late not in joint.parameters:
        origin += f"; the {late} was not fitted"
    if joint.undetermined:
        names = dict.fromkeys(name for group in joint.undetermined for name in group)
        origin += f"; not determined by these rows: {', '.join(names)}"
    return replace(joint, stated=replace(joint.stated, origin=origin))


@dataclass(frozen=True)
class _Rows:
    """The rows of a joint in a category: fitted ones, all, a mask of predicted ones, and their location."""

    joint: str
    category: int
    fitted: tuple[Measurement, ...]
    all: tuple[Measurement, ...]
    out: tuple[bool, ...]
    where: str


def _groups(rows: Sequence[Measurement], out: Sequence[bool], file: MeasuredFile) -> list[_Rows]:
    groups = []
    for joint, category in dict.fromkeys((row.joint, row.category) for row in rows):
        own = [k for k, row in enumerate(rows) if (row.joint, row.category) == (joint, category)]
        fitted = tuple(rows[k] for k in own if not out[k])
        if not fitted:
            raise BadUsage(
                f"all rows of joint {joint!r} in category {category} are held out",
                where=file.path,
                expected="at least one row to fit",
            )
        every = tuple(rows[k] for k in own)
        groups.append(
            _Rows(joint, category, fitted, every, tuple(out[k] for k in own), file.where(fitted[0].line))
        )
    return groups


class _Group:
    """The fit of one joint in one category, and its rows."""

    def __init__(
        self, of: _Rows, mech: Scene | Mechanism, bench: Bench | None, names: tuple[str, ...], cover: bool
    ) -> None:
        mechanism = mechanism_of(mech)
        self._names = names
        self._of, freedom = of, mechanism.pair_by_name[of.joint].kind.free[0]
        self._fixed = _fixed(mech, of.joint, names)
        choice, margin, predicted, self._gravity = self._fitted(bench, names, cover)
        known = determination(choice.fit)
        units = [fit.unit_of(name, freedom) for name in choice.fit.names]
        every = {p.name: p for p in parameters_of(choice.fit, known, units)}
        undetermined, notes = known.undetermined, self._notes(choice, known)
        if "reaction" in choice.fit.values and "reaction" not in every:
            every, undetermined, note = without_reaction(every)
            notes = (*notes, note)
        unit = units_of(freedom).coordinate
        self.rows = tuple(
            self._row(row, (float(pair[0]), float(pair[1])), held, unit, choice)
            for row, pair, held in zip(of.all, predicted, of.out, strict=True)
        )
        scatter = _scatter(choice.fit, known, of.fitted)
        self.joint = FittedJoint(
            of.joint,
            of.category,
            unit,
            choice.law,
            every,
            replace(
                self._stated(self._later(choice.fit.values, margin)),
                uncertainty=replace(
                    self._uncertainty(choice.fit, known, margin),
                    not_determined=tuple(dict.fromkeys(name for group in undetermined for name in group)),
                ),
            ),
            len(of.fitted),
            sum(of.out),
            max(known.freedom, 0),
            scatter[0],
            scatter[1],
            undetermined,
            notes,
            margin,
        )

    def _fitted(
        self, bench: Bench | None, names: tuple[str, ...], cover: bool
    ) -> tuple[Choice, Margin | None, Array, bool]:
        """Return the fit, its margin, the computed values (n, 2) of all rows, and whether gravity acts."""
        of = self._of
        model: RowModel
        every: RowModel
        if of.category == 1:
            ramp = RampModel(of.fitted)
            choice, gravity = choose_ramp(ramp, names, of.where), False
            model, every = ramp, RampModel(of.all)
        else:
            assert bench is not None
            brake = BrakeModel(bench, of.joint, of.fitted, self._fixed)
            choice, gravity = choose_brake(brake, names, of.where), brake.gravity > _GRAVITY
            model, every = brake, BrakeModel(bench, of.joint, of.all, self._fixed)
        values = choice.fit.values
        # the margin must cover the rows with the rounded numbers that a scene contains
        written = {name: as_written(value) for name, value in values.items()}
        margin = covering_margin(model, written, self._late, self._fixed.delay or 0.0) if cover else None
        return choice, margin, every.predict(self._later(values, margin)), gravity

    @property
    def _late(self) -> str:
        """The parameter that grows to cover rows."""
        return "reaction" if self._of.category == 1 else "delay"

    def _later(self, values: Mapping[str, float], margin: Margin | None) -> Mapping[str, float]:
        """Return the fitted values; with a margin rounded as written, and the delay or reaction rounded up."""
        if margin is None:
            return values
        written = {name: as_written(value) for name, value in values.items()}
        if margin.time:
            late = written.get(self._late, self._fixed.delay or 0.0) + margin.time
            written[self._late] = written_up(late)
        return written

    def _stated(self, values: Mapping[str, float]) -> Brake | Ramp:
        if self._of.category == 1:
            return fit.ramp_with(self._of.joint, values)
        return fit.brake_with(self._fixed, values)

    def _uncertainty(self, found: Fit, known: Determination, margin: Margin | None) -> FitUncertainty:
        """Return the uncertainty of the fit, with the margin as the difference of the written numbers."""
        law = (
            fit.FRICTION
            if self._of.category == 0 and not self._names and "short_circuit" not in found.names
            else ()
        )
        stated = uncertainty_of(found, known, self._of.fitted, law)
        if margin is None or not margin.time:
            return stated
        fitted = as_written(found.values.get(self._late, self._fixed.delay or 0.0))
        return replace(stated, margin=self._later(found.values, margin)[self._late] - fitted)

    def _notes(self, choice: Choice, known: Determination) -> tuple[str, ...]:
        of, notes = self._of, list(choice.notes)
        if known.freedom <= 0:
            notes.append(
                "the fit has as many parameters as numbers: that it is exact proves nothing, and there are no intervals"
            )
        for group in known.undetermined:
            notes.append(undetermined_note(group, of.fitted))
        for name in choice.fit.names:
            if choice.fit.values[name] == 0.0:
                notes.append(WITHOUT_TORQUE if name == "torque" else f"the best {name} is its bound, 0")
        return (*notes, *shape_notes(of.fitted, of.category, self._gravity))

    def _row(
        self, row: Measurement, computed: tuple[float, float], held: bool, unit: str, choice: Choice
    ) -> CalibratedRow:
        time, distance = computed
        rate = any(choice.fit.values.get(name, 0.0) > 0.0 for name in ("viscous", "short_circuit"))
        clauses = unexplained(row, time, distance, gravity=self._gravity, depends_on_rate=rate)
        return CalibratedRow(
            row.line,
            row.joint,
            row.category,
            unit,  # type: ignore[arg-type]
            row.speed,
            row.repeats,
            known(row.shape_index),
            known(row.time),
            time,
            known(row.distance),
            distance,
            held,
            clauses,
        )


def _scatter(found: Fit, known: Determination, rows: Sequence[Measurement]) -> list[float | None]:
    """Return the standard deviations of time and distance of one stop, None if the fit shows none."""
    if known.scatter is None:
        return [None, None]
    counts = np.sqrt([row.repeats for row in rows])
    one = np.median(found.weights * counts[:, None], axis=0) * known.scatter
    return [float(one[c]) if found.used[:, c].any() else None for c in (0, 1)]


def _fixed(mech: Scene | Mechanism, joint: str, names: Sequence[str]) -> Brake:
    """Return the scene's brake on a joint, whose parameters are fitted; by default one with torque and delay 0."""
    stated = [brake for brake in (mech.brakes if isinstance(mech, Scene) else ()) if brake.joint == joint]
    if not stated:
        return Brake(joint, 0.0, delay=0.0)
    effort = mechanism_of(mech).pair_by_name[joint].freedoms[0].effort
    torque = stated[0].torque if stated[0].torque is not None else (effort if np.isfinite(effort) else 0.0)
    # measured torques already include the wear
    return replace(stated[0], torque=stated[0].wear * torque, static_torque=None, wear=1.0)


def _assumptions(bench: Bench | None) -> tuple[str, ...]:
    if bench is None:
        return ()
    rated = bench.rated
    return (
        "while a joint stops, the other joints stand",
        f"100 % payload: {rated.mass:g} kg at {rated.body}" if rated.mass else "no rated payload is stated",
        "a row without a sense moves the way gravity pulls",
        # warnings are about the strong brakes that hold the joints here, not about the robot's
        *(note for note in bench.scenario.notes if note not in bench.scenario.warnings),
    )


# The fitted brakes and ramps as tables of a scene, with their origin in comments.


def toml_of(
    joints: Iterable[FittedJoint],
    rows: Sequence[CalibratedRow],
    measured: Source,
    robot: Iterable[Source],
    date: str,
    hold_out: str | None,
) -> str:
    """Return the ``[[brake]]`` and ``[[ramp]]`` tables of a scene."""
    lines = [
        f"# fitted to measured stops by mbplugin calibrate {__version__} on {date}",
        f"# measured: {measured}",
        *(f"# robot: {source}" for source in robot),
        *([f"# not fitted but predicted: rows with {hold_out}"] if hold_out else []),
    ]
    for joint in joints:
        lines += [
            "",
            *_table(joint, [r for r in rows if (r.joint, r.category) == (joint.joint, joint.category)]),
        ]
    return "".join(f"{visible(line)}\n" for line in lines)


def _table(joint: FittedJoint, rows: Sequence[CalibratedRow]) -> Iterator[str]:
    own = [row for row in rows if not row.held_out]
    lines = listed([str(row.line) for row in own])
    yield f"# {joint.joint}, category {joint.category}: {counted(len(own), 'row')} (line {lines})"
    for name, unit in (("time", "s"), ("distance", joint.unit)):
        gaps = [
            (computed - measured, computed / measured - 1.0)
            for row in own
            if (measured := getattr(row, f"{name}_measured"))
            for computed in (getattr(row, f"{name}_computed"),)
        ]
        if gaps:
            gap, share = max(gaps, key=lambda pair: abs(pair[0]))
            ignored = joint.freedom and getattr(joint, f"{name}_scatter") is None
            note = ", which was not fitted" if ignored else ""
            size, percent = number(gap, "+.3g"), number(100 * share, "+.1f")
            yield f"# largest residual of the {name}{note}: {size} {unit} ({percent} %)"
    yield from (f"# {note}" for note in joint.notes)
    yield "[[ramp]]" if isinstance(joint.stated, Ramp) else "[[brake]]"
    fitted = {}
    for part in fields(joint.stated):
        value = getattr(joint.stated, part.name)
        if part.name == "uncertainty":
            continue
        if part.name in ("joint", "origin"):
            yield f"{part.name} = {toml_text(value)}"
        elif value is not None and (part.name in joint.parameters or value != part.default):
            yield f"{part.name} = {_number(value)}{_comment(joint, part.name)}"
            if part.name in joint.parameters:
                fitted[part.name] = _number(value)
    # reports use these values to detect later edits by hand, which are not calibrated
    yield f"origin_values = {{ {', '.join(f'{name} = {value}' for name, value in fitted.items())} }}"
    yield from _uncertainty_lines(joint.stated)


def _uncertainty_lines(stated: Brake | Ramp) -> Iterator[str]:
    """Yield the subtable of a brake or a ramp from which upper bounds of stops are computed."""
    if stated.uncertainty is None:
        return
    yield ""
    yield "[ramp.uncertainty]" if isinstance(stated, Ramp) else "[brake.uncertainty]"
    for part in fields(stated.uncertainty):
        value = getattr(stated.uncertainty, part.name)
        if value != part.default:
            yield f"{part.name} = {_toml(value)}"


def _toml(value: object) -> str:
    """Return the TOML of a value of an uncertainty: a name, a number, or a list of them."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return toml_text(value)
    assert isinstance(value, float)
    return _number(value)


def _number(value: float) -> str:
    return repr(as_written(value))


def _comment(joint: FittedJoint, name: str) -> str:
    if joint.margin and joint.margin.time and name in ("delay", "reaction"):
        return f"{_fitted(joint, name)}; and {joint.margin.time:.3g} s to cover line {joint.margin.line}"
    if joint.margin and name in ("delay", "reaction"):
        return f"{_fitted(joint, name)}; covers all fitted rows without a margin"
    return _fitted(joint, name)


def _fitted(joint: FittedJoint, name: str) -> str:
    if name not in joint.parameters:
        return "  # stated"
    parameter = joint.parameters[name]
    unit = f"  # {parameter.unit}"
    if not parameter.identifiable:
        return f"{unit}, not determined by these rows"
    if parameter.low is None or parameter.high is None:
        return f"{unit}, exact fit"
    return f"{unit}, {parameter.low:.4g} to {parameter.high:.4g}"


# Stops that were repeated often enough for a tolerance bound from measurements alone.


def repeated_stops(
    rows: Sequence[Measurement], found: Sequence[CalibratedRow], share: float, confidence: float
) -> tuple[RepeatedStop, ...]:
    """Return the stops with ten repeats or more, each with the bounds of its time and its distance.

    Two rows repeat the same stop if they differ only in time and distance. A row that is the mean of
    several stops hides the largest of them and does not count.

    Parameters
    ----------
    rows : sequence of Measurement
    found : sequence of CalibratedRow
        The same rows compared with their computed stops.
    share, confidence : float
        Of the bounds, between 0 and 1.
    """
    groups: dict[tuple[object, ...], list[Measurement]] = defaultdict(list)
    for row in rows:
        if row.repeats == 1:
            groups[row.condition].append(row)
    of_line = {row.line: row for row in found}
    bounded = []
    for group in groups.values():
        first = of_line[group[0].line]
        time, distance = (
            _bound([getattr(row, name) for row in group], share, confidence) for name in ("time", "distance")
        )
        if time or distance:
            lines = tuple(row.line for row in group)
            bounded.append(RepeatedStop(first, lines, time, distance))
    return tuple(bounded)


def _bound(values: Sequence[float], share: float, confidence: float) -> ToleranceBound | None:
    """Return the tolerance bound of the measured values; None if there are too few."""
    measured = [value for value in values if isfinite(value)]
    return tolerance_bound(measured, share=share, confidence=confidence) if len(measured) >= LEAST else None
