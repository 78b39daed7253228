"""The result of a calibration: fitted joints, rows compared with computed stops, and the TOML of a scene."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from mbplugin.model import Brake, CoordinateUnit, Ramp
from mbplugin.phrases import counted, listed, one_line, one_line_repr
from mbplugin.readers import Source
from mbplugin.rendering import Result
from mbplugin.stopping import ToleranceBound
from mbplugin.stopping.calibration.intervals import ROUNDING, ComparedRow, Margin, Parameter
from mbplugin.stopping.outcome import StopOutcome

#: A computed value explains a measured one if their relative deviation is at most this.
TOLERANCE = 0.10
#: Law that was fitted to the stops of a joint.
LawName = Literal["friction", "short_circuit", "ramp_time", "ramp_deceleration"]


@one_line_repr
@dataclass(frozen=True, eq=False)
class FittedJoint:
    """The fitted brake or ramp of a joint.

    Parameters
    ----------
    joint : str
    category : 0 or 1
    unit : "rad" or "m"
    law : LawName
    parameters : mapping of str to Parameter
        The fitted parameters.
    stated : Brake or Ramp
        As stated in a scene, with the fitted numbers.
    rows, held_out : int
        Numbers of fitted and of predicted rows.
    freedom : int
        Degrees of freedom: fitted numbers in excess of those that determine the parameters; 0 for an exact fit.
    time_scatter, distance_scatter : float or None
        Standard deviation of one stop about the computed one, s; rad or m. None if it was not fitted or
        the fit is exact.
    undetermined : tuple of tuple of str
        Groups of parameters of which the data determine only a combination.
    notes : tuple of str
        One sentence each.
    margin : Margin or None
        Addition to delay or reaction to cover the fitted rows; None if this was not requested.
    """

    joint: str
    category: int
    unit: CoordinateUnit
    law: LawName
    parameters: Mapping[str, Parameter]
    stated: Brake | Ramp
    rows: int
    held_out: int
    freedom: int
    time_scatter: float | None
    distance_scatter: float | None
    undetermined: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    margin: Margin | None = None


@one_line_repr
@dataclass(frozen=True)
class CalibratedRow(ComparedRow):
    """A measured stop compared with the stop computed from the fit.

    Parameters
    ----------
    held_out : bool
        Whether it was predicted, not fitted.
    unexplained : tuple of str
        Deviations that the law does not explain, one clause each.
    """

    held_out: bool
    unexplained: tuple[str, ...]

    def unexplained_deviation(self, name: str) -> float | None:
        """Return the deviation of ``time`` or ``distance`` if the law does not explain it, else None."""
        deviation = self.time_deviation if name == "time" else self.distance_deviation
        return deviation if deviation is not None and abs(deviation) > TOLERANCE else None


@dataclass(frozen=True)
class RepeatedStop:
    """A stop that was measured ten times or more.

    Parameters
    ----------
    row : CalibratedRow
        Its first row; joint, category, speed and computed values are the same in all rows.
    lines : tuple of int
        Lines of its rows in the file.
    time, distance : ToleranceBound or None
        Bounds that at least a share of such stops does not exceed, s; rad or m. None if too few were measured.
    """

    row: CalibratedRow
    lines: tuple[int, ...]
    time: ToleranceBound | None
    distance: ToleranceBound | None


@dataclass(frozen=True, eq=False)
class Calibration(Result):
    """Brakes and ramps of a robot fitted to measured stops, and a comparison with these stops.

    Parameters
    ----------
    model, date : str
        Name of the robot; day of the calibration, YYYY-MM-DD.
    measured : Source
    robot : tuple of Source
    hold_out : str or None
        Condition for the rows that were predicted, not fitted.
    joints : tuple of FittedJoint
    rows : tuple of CalibratedRow
        In the order of the file, s, rad and m.
    assumptions : tuple of str
        One sentence each.
    toml : str
        The ``[[brake]]`` and ``[[ramp]]`` tables of a scene, with their origin in comments.
    repeated : tuple of RepeatedStop
        Bounds from measured stops alone, independent of the fit.
    """

    model: str
    date: str
    measured: Source
    robot: tuple[Source, ...]
    hold_out: str | None
    joints: tuple[FittedJoint, ...]
    rows: tuple[CalibratedRow, ...]
    assumptions: tuple[str, ...]
    toml: str
    repeated: tuple[RepeatedStop, ...] = ()

    def __repr__(self) -> str:
        out = sum(row.held_out for row in self.rows)
        facts = (
            counted(len(self.joints), "fit"),
            f"{counted(len(self.rows), 'row')}, {out} of them predicted",
            f"{sum(bool(row.unexplained) for row in self.rows)} not explained",
        )
        return one_line(self, self.model, facts)

    def joint(self, name: str, category: int | None = None) -> FittedJoint:
        """Return the fit of a joint's stops, in the given category if it has two.

        Raises
        ------
        KeyError
            There is no such fit.
        """
        for joint in self.joints:
            if joint.joint == name and category in (None, joint.category):
                return joint
        raise KeyError(name)

    def rows_of(self, joint: FittedJoint) -> list[CalibratedRow]:
        """Return the rows of a fitted joint in its category, predicted ones included."""
        own = (joint.joint, joint.category)
        return [row for row in self.rows if (row.joint, row.category) == own]

    @property
    def fitted(self) -> tuple[CalibratedRow, ...]:
        """The rows that were not predicted."""
        return tuple(row for row in self.rows if not row.held_out)

    @property
    def exceeding(self) -> tuple[CalibratedRow, ...]:
        """Fitted rows that took longer or went farther than computed."""
        return tuple(row for row in self.fitted if not row.covered)

    @property
    def verdict(self) -> str:
        """Numbers of rows that were fitted, are not explained by the law, and exceed the computed stops, in words."""
        found = f"{counted(len(self.joints), 'fit')} to {counted(len(self.fitted), 'measured stop')}"
        missed = sum(bool(row.unexplained) for row in self.rows)
        said = (
            f"{missed} of {counted(len(self.rows), 'row')} not explained" if missed else "all rows explained"
        )
        return f"{found}, {said}; {self.exceeding_sentence}"

    @property
    def exceeding_sentence(self) -> str:
        """Number of fitted rows that took longer or went farther than computed, in words."""
        count = len(self.exceeding)
        if not count:
            return "no fitted row took longer or went farther than computed"
        return (
            f"{count} of {counted(len(self.fitted), 'fitted row')} took longer or went farther than computed"
        )

    @property
    def advice(self) -> str:
        """Advice on how to get upper bounds from a fit that is the middle of its rows; empty if it covers them."""
        if not self.exceeding:
            return ""
        return (
            "A fit is the middle of its rows, so some stops take longer than it computes. stop-table computes upper"
            " bounds from this fit; --cover (cover=True) lengthens the delays until no fitted row exceeds what is"
            " computed."
        )

    @property
    def not_determined(self) -> tuple[str, ...]:
        """Parameters that the rows do not determine, one sentence for each fit that has any."""
        out = []
        for joint in self.joints:
            names = tuple(dict.fromkeys(name for group in joint.undetermined for name in group))
            if names:
                out.append(not_determined(joint.joint, joint.category, names))
        return tuple(out)

    def _writers(self) -> Mapping[str, Callable[[Path], object]]:
        """Return the writers of the tables of a scene, by file extension."""
        return {".toml": partial(Path.write_text, data=self.toml, encoding="utf-8")}


def not_determined(joint: str, category: int, names: Sequence[str]) -> str:
    """Return the sentence on numbers of a brake or a ramp that measured stops do not determine."""
    return (
        f"NOT DETERMINED by measured stops: {listed(list(names))} of {joint}, category {category}. Stops at other"
        " speeds or loads than the measured ones may differ from what is computed."
    )


# Measured stops compared with those computed from a stopping table's brakes and ramps, without a fit.


#: A computed stop that is longer by more than this share cannot be of the same robot.
FAR = 0.5


@dataclass(frozen=True)
class MeasuredRow(ComparedRow):
    """A measured stop compared with the one computed from the table's brakes and ramps.

    Parameters
    ----------
    outcome : StopOutcome
        Of the computed stop.
    time_bound, distance_bound : float or None
        Upper bounds of the computed values, s; rad or m; None if the brake or the ramp is not calibrated.
    """

    outcome: StopOutcome
    time_bound: float | None = None
    distance_bound: float | None = None

    @property
    def exceeds_fit(self) -> bool:
        """Whether the measured stop took longer or went farther than computed, regardless of upper bounds."""
        return not super().covered

    @property
    def covered(self) -> bool:
        """Whether the measured stop is within the upper bounds, or within the computed values if it has none."""
        limits = (
            (self.time_measured, self.time_bound, self.time_computed),
            (self.distance_measured, self.distance_bound, self.distance_computed),
        )
        return all(
            measured is None or measured <= (computed if bound is None else bound) * (1.0 + ROUNDING)
            for measured, bound, computed in limits
        )

    @property
    def far(self) -> bool:
        """Whether the computed stop is so much longer or farther that the model cannot be of this robot."""
        return any(gap is not None and gap > FAR for gap in (self.time_deviation, self.distance_deviation))


@dataclass(frozen=True, eq=False)
class MeasuredStops:
    """Measured stops compared with computed ones.

    Parameters
    ----------
    source : Source
        The file of measured stops.
    rows : tuple of MeasuredRow
        In the order of the file.
    """

    source: Source
    rows: tuple[MeasuredRow, ...]

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that were stopped."""
        return tuple(dict.fromkeys(row.joint for row in self.rows))

    @property
    def sentence(self) -> str:
        """Numbers of rows computed too short and much too long, and the largest deviations, in words."""
        count = counted(len(self.rows), "measured stop")
        missed = [row for row in self.rows if not row.covered]
        bounded = any(row.time_bound is not None or row.distance_bound is not None for row in self.rows)
        than = "than their upper bounds" if bounded else "than computed"
        said = f"none of {count} took longer or went farther {than}"
        if missed:
            shortest = min(_deviations(missed))
            lines = listed([str(row.line) for row in missed], most=len(missed))
            said = (
                f"TOO SHORT: of {count}, {len(missed)} took longer or went farther {than} (line {lines});"
                f" the computed value is too short by up to {-100 * shortest[0]:.1f} % ({shortest[1]}, line"
                f" {shortest[2]})"
            )
        if bounded:
            said += f" ({sum(row.exceeds_fit for row in self.rows)} than the best fit, which is the middle of its rows)"
        far = [row for row in self.rows if row.far]
        if far:
            longest = max(_deviations(far))
            lines = listed([str(row.line) for row in far], most=len(far))
            return (
                f"{said}. TOO LONG: {len(far)} of {len(self.rows)} are computed more than {100 * FAR:.0f} %"
                f" longer or farther than measured (line {lines}), by up to {100 * longest[0]:.0f} %"
                f" ({longest[1]}, line {longest[2]}): the model does not describe this robot"
            )
        return (
            said
            if missed or not self.rows
            else f"{said}, and none is computed more than {100 * FAR:.0f} % longer or farther"
        )


def _deviations(rows: list[MeasuredRow]) -> Iterator[tuple[float, str, int]]:
    """Yield deviation, quantity and line of each measured value."""
    for row in rows:
        for name, gap in (("time", row.time_deviation), ("distance", row.distance_deviation)):
            if gap is not None:
                yield gap, name, row.line
