"""``stopping_table``: stopping times and distances of an arm, as in the manual of a manufacturer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from typing_extensions import Unpack

from mbplugin.arguments import checked, known_as
from mbplugin.errors import BadNumber, BadUsage
from mbplugin.model import Array, Brake, Mechanism, Ramp, implausible, units_of, warn_of, with_coordinates
from mbplugin.model.brakes import speeds_sentence, stated_brake, stated_brakes, stated_ramps
from mbplugin.model.mechanism.kinematics import NamedNumbers, accelerations_of, numbers, rates_of
from mbplugin.model.scene import Payload, Scene, as_scene, mechanism_of
from mbplugin.readers import ModelSource, Source
from mbplugin.readers.standing import on_stand
from mbplugin.simulation.options import LONGEST, MAX_SECONDS, require_positive
from mbplugin.stopping import CONFIDENCE, SHARE, defaults, require_bound
from mbplugin.stopping.batch import ArmStops
from mbplugin.stopping.calibration import MeasuredRow, MeasuredStops, not_determined
from mbplugin.stopping.calibration.fit import Bench, braked
from mbplugin.stopping.calibration.intervals import StopBounds, bounds_of, known, no_bounds
from mbplugin.stopping.calibration.measured import (
    Measurement,
    measurements_of,
    read_measured,
    require_consistent,
)
from mbplugin.stopping.coupled import arm_stops, following, stated_rates
from mbplugin.stopping.defaults import DefaultTool
from mbplugin.stopping.outcome import StopSummary
from mbplugin.stopping.run import StopArguments, StopCommand, make_scenario, stop_command, tool_name
from mbplugin.stopping.scenario import (
    Scenario,
    assumed_brakes,
    assumed_speeds,
    speeds_said,
    start_as_stated,
    with_assumed_drives,
)
from mbplugin.stopping.scenario.drives import brakes_of_movers, with_rigid_rest
from mbplugin.stopping.scenario.start import (
    assumed_deceleration,
    checked_decelerations,
    has_ramp,
    with_reactions,
)
from mbplugin.stopping.table import COLUMNS, MOVES, Evidence, RowCase, RowStop, StoppingTable
from mbplugin.stopping.table.extension import ExtensionPose, ExtensionPoses, axes_that_stop, table_axes
from mbplugin.stopping.zones import StopMotion

#: Number of axes before the one that bends the arm.
_BENT = 2
_ORDER = ("category", "axis", "extension_percent", "payload_percent", "speed_percent")
#: Citation in reports by year of the edition, unless another grid is stated. Axes and shares are those of Annex B of
#: 2011 in both cases; the newest is the default.
FORMS = {2025: "ISO 10218-1:2025", 2011: "ISO 10218-1:2011, Annex B"}
#: Shares in category 1 in that form, percent; in category 0 all are 100 %.
SHARES = (33, 66, 100)
QUANTITIES = ("speed", "extension", "payload")


@checked
def stopping_table(
    mech: ModelSource,
    *,
    q: NamedNumbers | None = None,
    axes: Sequence[str] | None = None,
    payload: float | None = None,
    speeds: NamedNumbers | None = None,
    categories: Sequence[int] = (0, 1),
    grid: Mapping[str, Sequence[int]] | None = None,
    edition: int = max(FORMS),
    measured: str | Path | None = None,
    share: float = SHARE,
    confidence: float = CONFIDENCE,
    max_seconds: float = MAX_SECONDS,
    **common: Unpack[StopArguments],
) -> StoppingTable:
    """Compute the stopping table of an arm, in which one axis moves at a time.

    Category 0 stops three axes at full speed, extension and payload. Category 1 stops the first two at 33, 66
    and 100 % of each, and the third only with the arm stretched. The second and third axes move downwards.

    Parameters
    ----------
    mech : path, PyBullet client, Scene or Mechanism
        An arm that its brakes hold; joints may follow others through couplings and loops.
    q : mapping, optional
        Coordinates of joints that the rows do not set, rad and m; by default the scene's.
    axes : sequence of str, optional
        Joints, by default the first three that are not roll axes along the arm.
    payload : float, optional
        Rated mass at the tool, kg; by default the scene's payload.
    speeds : mapping, optional
        Full speed by joint, rad/s or m/s; by default the velocity limits.
    categories : sequence of int
        0, 1 or both.
    grid : mapping, optional
        Shares by ``speed``, ``extension`` and ``payload``, whole percents, which replace those above in both
        categories.
    edition : 2011 or 2025
        Edition of ISO 10218-1 that reports cite for the form of the table.
    measured : path, optional
        A CSV file of measured stops as for :func:`mbplugin.calibrate`: each is compared with the stop computed from
        these brakes and decelerations.
    share, confidence : float
        Of the upper bounds of stops whose brake or ramp is calibrated, between 0 and 1.
    max_seconds : float
        Time limit of the computation, s; exceeding it is an error.
    **common : StopArguments
        As for :func:`mbplugin.estop`.

    Raises
    ------
    BadUsage
        Brakes do not hold the arm, the speed of an axis is unknown, or an axis has no brake or no deceleration.
    BadNumber
        A share of the grid is not a whole percent, or ``share`` or ``confidence`` is not between 0 and 1.
    """
    points = grid_of(grid, edition)
    require_positive("time to compute", max_seconds, "s", LONGEST)
    require_bound(share, confidence)
    budget = (monotonic() + max_seconds, max_seconds)
    mech = with_coordinates(as_scene(on_stand(mech, q)), q or {})
    common["brakes"] = brakes = tuple(common["brakes"] or ())
    decelerations, tool = common["decelerations"], common["tool"]
    mech = with_assumed_drives(mech, brakes)
    default = defaults.default_tool(mechanism_of(mech)) if tool is None else None
    body = tool_name(mechanism_of(mech), tool)
    stopped = axes_that_stop(mechanism_of(mech), body, axes)
    carries = bool(payload) or measured is not None
    mech, rigid = with_rigid_rest(mech, body, brakes, stopped, axes, carries=carries)
    common["brakes"] = brakes_of_movers(mech, brakes)
    scene = mech if isinstance(mech, Scene) else None
    scenario = make_scenario(mech, default=default, **common)
    rated = defaults.rated_payload(scenario, payload)
    scenario = replace(scenario, actions=replace(scenario.actions, payloads=()))
    # as accurate as estop: a table has few rows
    arm = arm_stops(scenario, scenario.rtol, scenario.atol)
    if not categories or not set(categories) <= {0, 1}:
        raise BadUsage(f"categories {tuple(categories)} were requested", expected="0, 1 or both")
    names = table_axes(scenario.mech, scenario.tool, axes, arm.chain)
    choice = scenario.tool_choice.over_poses(scenario.mech, scenario.q, [(name,) for name in names])
    ramps = ramps_by_joint(scenario, scene, numbers(decelerations, accelerations_of(scenario.mech)))
    ramped, joints = ramps_by_joint(scenario, scene, None), [brake.joint for brake in scenario.brakes]
    rampless = [joint for joint in joints if joint not in ramped and not has_ramp(scenario.mech, joint)]
    command = stop_command(scene, scenario, common, rampless, payload == 0.0)
    speeds = numbers(speeds, rates_of(scenario.mech))
    assumed = assumed_speeds(scenario.mech, names, speeds)
    scenario = replace(
        scenario, taken=(*speeds_said(scenario.mech, assumed, names, speeds), *scenario.taken, *rigid)
    )
    full = defaults.full_speeds(scenario.mech, names, assumed or speeds)
    bound = (share, confidence)
    stops = TableStops(arm, names, rated, full, points, ramps, payload is None, command, bound, budget)
    comparison = None
    # before the rows, because the file may be invalid
    if measured is not None:
        comparison = measured_stops(
            mech,
            measured,
            stops,
            arm,
            payload=payload,
            speeds=speeds,
            tool=tool,
            default=default,
        )
    computed = [one for category in categories for one in stops.rows(category)]
    rows, motions = [row for row, _ in computed], [motion for _, motion in computed]
    braked = [brake for brake in scenario.brakes if brake.joint in names]
    only_ramps = set(categories) == {1} and not stops.ramps_of_effort
    of_effort = scenario.of_effort._replace(
        ramps=tuple(stops.ramps_of_effort), holding=only_ramps and start_as_stated(braked, ramps.values())
    )
    if common["require_brakes"]:
        of_effort.require_none()
    implausible_values = _implausible_sentences(scenario, rated, stops.speeds)
    warn_of(implausible_values)
    return StoppingTable(
        scenario.mech.name,
        scenario.tool,
        names,
        tuple(rows),
        (
            *_assumptions(scenario, stops, scene.ramps if scene else (), categories, comparison),
            *points.sentences,
            *implausible_values,
            *(note for note in scenario.notes if note != scenario.tool_choice.heading),
            *filter(None, [choice.heading]),
        ),
        of_effort,
        tuple(motions),
        defaults.payload_share(rated, 1.0),
        scenario.tolerance,
        tuple(brake.joint for brake in scenario.brakes if brake.freedom[0] == "t"),
        form=points.form,
        measured=comparison,
        tool_choice=choice,
        share=share,
        confidence=confidence,
        unbounded=(*stops.not_determined(sorted(set(categories))), *stops.unbounded),
    )


#: Alias with the name of the command.
stop_table = known_as(stopping_table, "stop_table")


def ramps_by_joint(
    scenario: Scenario, scene: Scene | None, given: Mapping[str, float] | None
) -> dict[str, Ramp]:
    """Return the ramps by joint: given decelerations (rad/s², m/s²), else a scene's ramps, else its actuators'."""
    actuators, ramps = (scene.actuators, scene.ramps) if scene else ((), ())
    stated = {a.joint: Ramp(a.joint, deceleration=a.deceleration) for a in actuators if a.deceleration}
    stated |= {ramp.joint: ramp for ramp in ramps}
    braked = [brake.joint for brake in scenario.brakes]
    for joint, value in checked_decelerations(braked, given or {}).items():
        reaction = stated[joint].reaction if joint in stated else None
        stated[joint] = Ramp(joint, deceleration=value, reaction=reaction)
    return stated


def _implausible_sentences(
    scenario: Scenario, rated: Payload, speeds: Mapping[str, float]
) -> tuple[str, ...]:
    """Return sentences on full speeds, the rated payload and brakes that are probably stated in another unit."""
    qd = np.zeros(len(scenario.qd))
    for axis, speed in speeds.items():
        qd[scenario.rate_of(axis)] = speed
    return implausible(scenario.mech, qd, (rated,), scenario.brakes)


def _assumptions(
    scenario: Scenario,
    stops: TableStops,
    ramps: Sequence[Ramp],
    categories: Sequence[int],
    comparison: MeasuredStops | None,
) -> tuple[str, ...]:
    rated, rows = stops.rated, () if comparison is None else comparison.rows
    shown = {*stops.axes, *(row.joint for row in rows)}
    decelerated = {*stops.axes} if 1 in categories else set()
    decelerated |= {row.joint for row in rows if row.category == 1}
    unloaded = "none (no rated payload is stated, so that rows of any load are equal)"
    carried = f"{rated.mass:g} kg at {rated.body}" if rated.mass else unloaded
    delays = ", ".join(
        f"{b.joint} {1e3 * b.delay:g} + {1e3 * b.engagement:g} ms"
        for b in scenario.brakes
        if b.joint in shown
    )
    return (
        "computed, not measured",
        "one axis moves at a time, downwards if gravity acts on it; the others are at rest",
        f"100 % payload: {carried}",
        speeds_sentence(scenario.mech, "100 % speed", stops.speeds),
        "extension: distance of the tool from the axis, 100 % stretched; the arm may meet itself",
        f"from the signal to power-off + engagement of the brake: {delays}",
        # all brakes: those of the other joints hold, or slip
        *stated_brakes(scenario.brakes),
        *stated_ramps(scenario.mech, ramps, decelerated),
        *assumed_brakes(tuple(b for b in scenario.brakes if b.joint in shown)),
        *stops.assumed,
        *following(stops.arm),
    )


# The stops of a stopping table: one axis moves, at all shares of speed, extension and payload.


class AxisStops:
    """Computes stops in which one axis moves, and their upper bounds.

    Parameters
    ----------
    arm : ArmStops
        The robot with its current payloads.
    ramps : mapping of str to Ramp
        Stated ramps by joint.
    share, confidence : float
        Of upper bounds.
    budget : (float, float)
        End of the computing time on the clock of :func:`time.monotonic`, and total computing time, s.
    """

    def __init__(
        self,
        arm: ArmStops,
        ramps: Mapping[str, Ramp],
        share: float = SHARE,
        confidence: float = CONFIDENCE,
        budget: tuple[float, float] = (math.inf, math.inf),
    ) -> None:
        self._end, self._max_seconds = budget
        self.arm, self.ramps, self.share, self.confidence = arm, ramps, share, confidence
        self.assumed: list[str] = []
        self.ramps_of_effort: list[str] = []

    def stop(self, category: int, axis: str, q: Array, qd: Array) -> StopSummary:
        """Return the stop of an axis in a category from q (nq,) and qd (nv,), with the current payloads."""
        return self._stop(category, axis, q, qd)[0]

    def _stop(
        self, category: int, axis: str, q: Array, qd: Array
    ) -> tuple[StopSummary, dict[str, float], float | None]:
        """Return a stop from q (nq,) and qd (nv,), the reaction times (s), and the deceleration of category 1."""
        if monotonic() > self._end:
            raise BadUsage(
                f"the table is not computed within {self._max_seconds:g} s",
                expected="a table of fewer stops, or brakes of a lower viscous torque",
                remedy="allow more (--max-seconds, max_seconds=), or ask for fewer rows (--grid, grid=)",
            )
        brakes = self.arm.scenario.brakes
        if category == 0:
            reactions = {brake.joint: brake.engagement_time for brake in brakes}
            return self.arm.stop(q, qd), reactions, None
        speed = abs(float(qd[self.arm.scenario.rate_of(axis)]))
        deceleration = self._deceleration(axis, q, speed)
        reactions = {brake.joint: brake.delay for brake in with_reactions(brakes, self.ramps.values())}
        delays = np.array([reactions[brake.joint] for brake in brakes])
        decelerations = np.full(len(brakes), deceleration)
        return self.arm.controlled_stop(q, qd, decelerations, delays), reactions, deceleration

    def bounds(self, category: int, axis: str, q: Array, qd: Array, own: StopSummary) -> StopBounds | None:
        """Return the bounds of a stop from q (nq,) and qd (nv,); None without a calibration, or without rest."""
        brakes = self.arm.scenario.brakes
        n = [brake.joint for brake in brakes].index(axis)
        stated = stated_brake(brakes[n]) if category == 0 else self.ramps.get(axis)
        if stated is None or stated.uncertainty is None or own.outcome != "stopped":
            return None

        def predict(numbers: Mapping[str, float]) -> Array:
            changed: dict[str, Any] = dict(numbers)
            stop = self._with(replace(stated, **changed), n, q, qd) if numbers else own
            return np.array([float(stop.times[n]), abs(float(stop.travels[n]))])

        if category == 0 and any(abs(own.travels[k]) > MOVES for k in range(len(brakes)) if k != n):
            return no_bounds("another joint slips, and the measured stops are fitted as if the others stand")
        speed = abs(float(qd[self.arm.scenario.rate_of(axis)]))
        return bounds_of(stated, speed, predict, self.share, self.confidence)

    def _with(self, stated: Brake | Ramp, n: int, q: Array, qd: Array) -> StopSummary:
        """Return the stop from q (nq,) and qd (nv,) with another brake or ramp of joint n."""
        if isinstance(stated, Brake):
            brakes = self.arm.scenario.brakes
            others = list(brakes)
            others[n] = braked(brakes[n], stated)
            self.arm.set_brakes(tuple(others))
            try:
                return self.stop(0, stated.joint, q, qd)
            finally:
                self.arm.set_brakes(brakes)
        ramps = self.ramps
        self.ramps = {**ramps, stated.joint: stated}
        try:
            return self.stop(1, stated.joint, q, qd)
        finally:
            self.ramps = ramps

    def _deceleration(self, axis: str, q: Array, speed: float) -> float:
        """Return the deceleration of an axis at a pose q (nq,), rad/s² or m/s²; note it if it is assumed."""
        if axis in self.ramps:
            return self.ramps[axis].deceleration_from(speed)
        arm = self.arm
        found = assumed_deceleration(arm.scenario.mech, axis, lambda: arm.inertias(q))
        assumption = f"{axis}: category 1 decelerates with {found.source}"
        if assumption not in self.assumed:
            self.assumed.append(assumption)
            if found.effort is not None:
                self.ramps_of_effort.append(axis)
        return found.value


class TableStops(AxisStops):
    """Computes the rows of a stopping table."""

    def __init__(
        self,
        arm: ArmStops,
        axes: tuple[str, ...],
        rated: Payload,
        speeds: Mapping[str, float],
        grid: Grid,
        ramps: Mapping[str, Ramp],
        of_scene: bool,
        command: StopCommand | None,
        bound: tuple[float, float],
        budget: tuple[float, float],
    ) -> None:
        super().__init__(arm, ramps, *bound, budget)
        self.axes, self.rated, self.speeds = axes, rated, speeds
        self.grid, self.of_scene, self.command = grid, of_scene, command
        arm.set_payloads(defaults.payload_share(rated, 1.0))
        self._poser = ExtensionPoses(arm, axes)
        # at 100 % payload, because the pose of the largest load depends on gravity
        self.poses = {
            (axis, share): self._poser.pose(axis, share / 100)
            for k, axis in enumerate(axes)
            for share in {s for category in (0, 1) for s in self._extensions(k, category)}
        }
        self.unbounded: list[str] = []

    def rows(self, category: int) -> list[tuple[dict[str, object], StopMotion]]:
        """Return the rows of a category, each with its motion."""
        speeds, loads = (self.grid.shares(name, category) for name in ("speed", "payload"))
        out = []
        for load in loads:
            self.arm.set_payloads(defaults.payload_share(self.rated, load / 100))
            for k, axis in enumerate(self.axes):
                for share in self._extensions(k, category):
                    pose = self.poses[axis, share]
                    for speed in speeds:
                        out.append(self._row(category, k, axis, (speed, share, load), pose))
        return sorted(out, key=lambda one: [one[0][key] for key in _ORDER])

    def _extensions(self, k: int, category: int) -> tuple[int, ...]:
        """Return the shares of extension at which an axis is stopped, percent."""
        bent = k < _BENT and self._poser.bends(self.axes[k])
        return self.grid.shares("extension", category) if bent else (100,)

    def _row(
        self,
        category: int,
        k: int,
        axis: str,
        shares: tuple[int, int, int],
        pose: ExtensionPose,
    ) -> tuple[dict[str, object], StopMotion]:
        scenario = self.arm.scenario
        q, speed = pose.q, self.speeds[axis] * shares[0] / 100
        qd = self.arm.rates(q, {axis: pose.sense * speed})
        stop, reactions, deceleration = self._stop(category, axis, q, qd)
        case = RowCase(category, k + 1, axis, shares, pose, speed, deceleration, reactions[axis])
        carried = self.rated.mass * shares[2] / 100
        motion = self.arm.motion(q)
        bounds = self.bounds(category, axis, q, qd, stop)
        if bounds is not None and bounds.missing:
            reason = f"NO UPPER BOUND for {axis}, category {category}: {bounds.missing}."
            self.unbounded += [reason] if reason not in self.unbounded else []
        row = row_values(case, stop, scenario, carried, bounds, self._evidence(category, axis))
        row["command"] = self._command_of(case)
        return row, motion

    def not_determined(self, categories: Sequence[int]) -> Iterator[str]:
        """Yield a sentence for each calibrated axis with parameters that its measured stops do not determine."""
        brakes = {brake.joint: brake for brake in self.arm.scenario.brakes}
        for category in categories:
            for axis in self.axes:
                stated = brakes[axis] if category == 0 else self.ramps.get(axis)
                if stated is not None and stated.uncertainty and stated.uncertainty.not_determined:
                    yield not_determined(axis, category, stated.uncertainty.not_determined)

    def _evidence(self, category: int, axis: str) -> Evidence:
        """Return the source of the brake or the ramp of an axis."""
        (brake,) = (brake for brake in self.arm.scenario.brakes if brake.joint == axis)
        stated = brake if category == 0 else self.ramps.get(axis)
        if stated is not None and stated.uncertainty is not None:
            return "calibrated"
        return "assumed" if stated is None or (category == 0 and brake.assumed) else "stated"

    def _command_of(self, case: RowCase) -> str | None:
        """Return the command that reproduces a row, None if there is none."""
        if self.command is None:
            return None
        q = dict(zip(self.arm.scenario.mech.q_names, case.pose.q.tolist(), strict=True))
        qd = stated_rates(self.arm, self.arm.rates(case.pose.q, {case.axis: case.pose.sense * case.speed}))
        carried = defaults.payload_options(self.rated, case.shares[2] / 100, self.of_scene)
        a = case.deceleration
        ramps = {} if a is None else dict.fromkeys((case.axis, *self.command.ramps), a)
        return self.command.text(case.category, q, qd, carried, ramps)


# One row of a stopping table: its inputs and results.


def row_values(
    case: RowCase,
    stop: StopSummary,
    scenario: Scenario,
    payload: float,
    bounds: StopBounds | None = None,
    evidence: Evidence = "stated",
) -> dict[str, object]:
    """Return a row of a :class:`~mbplugin.stopping.table.StoppingTable`, without its command.

    Parameters
    ----------
    payload : float
        Carried mass, kg.
    bounds : StopBounds, optional
        Intervals and upper bounds of time and distance.
    evidence : Evidence
        Source of the brake or the ramp.
    """
    n = [brake.joint for brake in scenario.brakes].index(case.axis)
    row = RowStop(case, stop, scenario, payload, n, bounds, evidence)
    _require_numbers(row)
    return {key: column.value(row) for key, column in COLUMNS.items()}


def _require_numbers(row: RowStop) -> None:
    """Require that all results of a stop are finite.

    Raises
    ------
    BadNumber
        One is not; the message gives the speed and the payload of the row.
    """
    case, stop = row.case, row.stop
    found = (stop.time, row.time, stop.travels[row.n], stop.tool_distance, stop.tool_displacement)
    if not np.isfinite(found).all():
        raise BadNumber(
            f"the stop of {case.axis!r} at {case.speed:g} {row.unit}/s with {row.payload:g} kg cannot be"
            " computed: its numbers grow beyond all limits",
            expected="speeds, masses and payloads of a machine",
        )


# The grid of a stopping table: the shares of speed, extension and payload of its stops.


@dataclass(frozen=True)
class Grid:
    """The shares of each quantity, percent: stated ones, else those of the standard.

    Parameters
    ----------
    stated : mapping of str to tuple of int
        Shares by ``speed``, ``extension`` and ``payload``, ascending.
    edition : int
        Edition of the standard whose form applies to other quantities.
    """

    stated: Mapping[str, tuple[int, ...]]
    edition: int

    @property
    def form(self) -> str | None:
        """Edition of the standard whose form the table has; None if a grid is stated."""
        return None if self.stated else FORMS[self.edition]

    def shares(self, quantity: str, category: int) -> tuple[int, ...]:
        """Return the shares of a quantity in a stop category, percent; stated ones apply to both categories."""
        return self.stated.get(quantity, (100,) if category == 0 else SHARES)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences of a report on a stated grid."""
        if not self.stated:
            return ()
        listed = "; ".join(f"{name} {', '.join(map(str, own))} %" for name, own in self.stated.items())
        return (f"the grid is stated, it is not that of {FORMS[self.edition]}: {listed}",)


def grid_of(given: Mapping[str, Sequence[int]] | None, edition: int) -> Grid:
    """Return the grid with given shares by quantity, percent, else that of an edition of the standard.

    Raises
    ------
    BadUsage
        A quantity or the edition is unknown, or a quantity has no shares.
    BadNumber
        A share is not a whole percent from 1 to 100, for the payload from 0.
    """
    if edition not in FORMS:
        raise BadUsage(
            f"the edition of ISO 10218-1 is {edition}", expected=" or ".join(map(str, sorted(FORMS)))
        )
    stated = {}
    for quantity, shares in (given or {}).items():
        if quantity not in QUANTITIES or not shares:
            raise BadUsage(
                f"the grid has {quantity!r}" + ("" if shares else " without shares"),
                expected="shares of speed, extension or payload",
            )
        lowest = 0 if quantity == "payload" else 1
        for share in shares:
            if share != int(share) or not lowest <= share <= 100:
                raise BadNumber(
                    f"the grid has {share} % {quantity}", expected=f"whole percentages from {lowest} to 100"
                )
        stated[quantity] = tuple(sorted({int(share) for share in shares}))
    return Grid({quantity: stated[quantity] for quantity in QUANTITIES if quantity in stated}, edition)


# Measured stops compared with those computed from a stopping table's brakes and ramps, without a fit.


def measured_stops(
    mech: Scene | Mechanism,
    measured: str | Path,
    stops: TableStops,
    arm: ArmStops,
    *,
    payload: float | None,
    speeds: Mapping[str, float] | None,
    tool: str | None,
    default: DefaultTool | None = None,
) -> MeasuredStops:
    """Return the measured stops of a file, each compared with the stop computed from the same start.

    Parameters
    ----------
    mech : Scene or Mechanism
    measured, payload, speeds, tool
        As for :func:`mbplugin.calibrate`.
    stops : TableStops
    arm : ArmStops
        Computes the stops; its payloads are set to those of the rows.
    default : DefaultTool, optional
        Used if no tool is named.

    Raises
    ------
    MbPluginError
        As for :func:`mbplugin.calibrate`.
    """
    file = read_measured(Path(measured))
    rows = measurements_of(file, mechanism_of(mech), speeds)
    require_consistent(file, rows)
    bench = Bench(mech, payload, tool, default=default)
    found = tuple(_row(row, bench, stops, arm) for row in rows)
    return MeasuredStops(Source(file.path, file.sha256), found)


def _row(row: Measurement, bench: Bench, stops: TableStops, arm: ArmStops) -> MeasuredRow:
    start = bench.start(row)
    arm.set_payloads(start.payloads)
    stop = stops.stop(row.category, row.joint, start.q, start.qd)
    bounds = stops.bounds(row.category, row.joint, start.q, start.qd, stop)
    brakes = arm.scenario.brakes
    n = [brake.joint for brake in brakes].index(row.joint)
    time, distance = float(stop.times[n]), abs(float(stop.travels[n]))
    if known(time) is None or known(distance) is None:
        raise BadNumber(
            f"the stop of line {row.line} cannot be computed: its numbers grow beyond all limits",
            expected="speeds, masses and payloads of a machine",
        )
    return MeasuredRow(
        row.line,
        row.joint,
        row.category,
        units_of(brakes[n].freedom).coordinate,
        row.speed,
        row.repeats,
        known(row.shape_index),
        known(row.time),
        time,
        known(row.distance),
        distance,
        stop.outcome,
        bounds and bounds.time,
        bounds and bounds.distance,
    )
