"""``worst_stop``: search for the stops of a robot with the longest time, travel and tool path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import numpy as np
from typing_extensions import Unpack

from mbplugin.arguments import checked
from mbplugin.errors import BadNumber, BadUsage
from mbplugin.model import Array, Brake, BrakeLaw, FailureKind, Moving, units_of
from mbplugin.model.brakes import JointBrake, speeds_sentence, stated_brake, with_coordinates
from mbplugin.model.mechanism.kinematics import NamedNumbers, accelerations_of, numbers, rates_of
from mbplugin.model.scene import Scene, as_scene, mechanism_of
from mbplugin.processes.foreign import cores, require_possible
from mbplugin.readers import ModelSource
from mbplugin.readers.standing import on_stand
from mbplugin.simulation.options import MAX_SECONDS
from mbplugin.stopping import CONFIDENCE, SHARE, defaults, require_bound
from mbplugin.stopping.batch import ArmStopper, ArmStops, CompiledStop
from mbplugin.stopping.coupled import arm_stops, following, stated_rates
from mbplugin.stopping.outcome import StopOutcome, StopSummary
from mbplugin.stopping.run import StopArguments, make_scenario, stop_command, tool_name
from mbplugin.stopping.scenario import (
    assumed_brakes,
    assumed_speeds,
    speeds_said,
    with_assumed_drives,
)
from mbplugin.stopping.scenario.drives import brakes_of_movers, with_rigid_rest
from mbplugin.stopping.scenario.start import assumed_deceleration, inertias_at
from mbplugin.stopping.table import StoppingTable
from mbplugin.stopping.table.extension import axes_that_stop, table_axes
from mbplugin.stopping.table.run import AxisStops, ramps_by_joint, stopping_table
from mbplugin.stopping.worst_search import (
    SAMPLES,
    SAMPLES_OF_RUNS,
    Count,
    FailedBrake,
    Failure,
    Objective,
    SearchBudget,
    Searches,
    StopComputer,
    StopSpace,
    StopStart,
    WorstStop,
    WorstStops,
    coordinate_range,
    worst_points,
)

MOST_SAMPLES = 1_000_000
#: Smallest distance of a searched stop from the joint limits, rad and m.
_MARGIN = 1e-4
#: Outcomes in ascending order of severity.
_SEVERITY: tuple[StopOutcome, ...] = (
    "stopped",
    "slipped_back",
    "limit_hit",
    "not_stopped",
    "budget_spent",
    "loop_opened",
)


# Stopping tables with the worst stops of their axes.


def with_worst_stops(
    table: StoppingTable,
    mech: ModelSource,
    *,
    q: NamedNumbers | None = None,
    payload: float | None = None,
    speeds: Mapping[str, float] | None = None,
    progress: Count | None = None,
    **common: Unpack[StopArguments],
) -> StoppingTable:
    """Return a table with the worst stops of its axes, each moving alone, in each of its categories.

    Parameters
    ----------
    table : StoppingTable
        Computed from the same model with the same payload, speeds, brakes and decelerations.
    mech, q, payload, speeds, **common
        As for :func:`mbplugin.stopping_table`; the tool is that of the table.
    progress : callable, optional
        Called with the number of stops computed since the last call.

    Raises
    ------
    BadUsage, BadNumber
        As for :func:`mbplugin.worst_stop`.
    """
    common["tool"] = table.tool
    found = tuple(
        worst_stop(
            mech,
            q=q,
            # in the form of the standard, category 1 has fewer axes
            axes=tuple(dict.fromkeys(row["joint"] for row in table.rows if row["category"] == category)),
            category=category,
            payload=payload,
            speeds=speeds,
            share=table.share,
            confidence=table.confidence,
            progress=progress,
            **(common if category else {**common, "decelerations": None}),
        )
        for category in sorted({row["category"] for row in table.rows})
    )
    return replace(table, worst=found[0] if found else None, more_worst=found[1:])


@checked
def worst_stop(
    mech: ModelSource,
    *,
    q: NamedNumbers | None = None,
    axes: Sequence[str] | None = None,
    category: int = 0,
    moving: Moving = "one",
    payload: float | None = None,
    payload_range: tuple[float, float] = (0.0, 1.0),
    speeds: NamedNumbers | None = None,
    torque_tolerance: float = 0.0,
    delay_tolerance: float = 0.0,
    failures: Iterable[Failure] = (),
    limits: str = "stop",
    duration: float = 10.0,
    samples: int | None = None,
    seed: int = 0,
    max_seconds: float = MAX_SECONDS,
    share: float = SHARE,
    confidence: float = CONFIDENCE,
    progress: Count | None = None,
    jobs: int = -1,
    **common: Unpack[StopArguments],
) -> WorstStops:
    """Search for the worst stops of a category: the longest time, travel of each axis, and path of the tool.

    The search varies the pose at the signal within the limits, the sense of the motion, the payload, and the
    torques and delays of the brakes within their tolerances. It starts with random stops, followed by differential
    evolution and a pattern search. The result is a lower bound of the worst.

    Parameters
    ----------
    mech : path, PyBullet client, Scene or Mechanism
        An arm that its brakes hold; joints may follow others through couplings and loops.
    q : mapping, optional
        Coordinates of joints that the search does not vary, rad and m; by default the scene's.
    axes : sequence of str, optional
        Joints that move; by default all between the ground and the tool that have a velocity limit.
    category : 0, 1 or 2
        In category 1 brakes replace the drives after the ramps, and may slip; in category 2 nothing slips.
    moving : "one" or "all"
        One axis at a time at full speed, or all at once, each at up to full speed.
    payload : float, optional
        Rated mass at the tool, kg; by default the scene's payload.
    payload_range : (float, float)
        Smallest and largest carried share of the rated payload.
    speeds : mapping, optional
        Full speed by joint, rad/s or m/s; by default the velocity limits.
    torque_tolerance, delay_tolerance : float
        Relative, in both directions, independent for each brake.
    failures : iterable of Failure
        For each, the worst stops are computed again with one brake after the other failing.
    limits : "stop" or "ignore"
        A stop that reaches a joint limit is counted but does not compete; or the limits do not end a stop.
    duration : float
        Longest time to rest, s.
    samples : int, optional
        Number of random stops at the start of each search, at least the population of its evolution; by default
        2000, or 100 where joints are coupled or close loops: there a stop takes a thousand times as long.
    seed : int
        Random seed.
    max_seconds : float
        Time limit of the search, s; when it is reached, the worst stops so far are returned, with how much was done.
    share, confidence : float
        Of the upper bounds, between 0 and 1. A stop has bounds if one axis moves whose brake or ramp is calibrated.
    progress : callable, optional
        Called with the number of stops computed since the last call.
    jobs : int
        Number of threads; −1 for all cores. The result does not depend on it. Stops of category 1 or 2, and those of
        coupled joints, are computed one after the other.
    **common : StopArguments
        As for :func:`mbplugin.estop`.

    Raises
    ------
    BadUsage
        Brakes do not hold the arm, the speed of an axis is unknown, or the number of jobs is out of range.
    BadNumber
        A number is out of range.
    """
    require_bound(share, confidence)
    threads = cores() if require_possible(jobs) == -1 else jobs
    mech = with_coordinates(as_scene(on_stand(mech, q)), q or {})
    common["brakes"] = brakes = tuple(common["brakes"] or ())
    tool, failures = common["tool"], tuple(failures)
    mech = with_assumed_drives(mech, brakes)
    default = defaults.default_tool(mechanism_of(mech)) if tool is None else None
    body = tool_name(mechanism_of(mech), tool)
    stopped = axes_that_stop(mechanism_of(mech), body, axes)
    mech, rigid = with_rigid_rest(mech, body, brakes, stopped, axes, carries=bool(payload))
    common["brakes"] = brakes_of_movers(mech, brakes)
    scenario = make_scenario(mech, category=category, default=default, **common)
    # no need to require them again
    common["require_brakes"] = False
    scenario = replace(scenario, limits=limits, duration=duration)
    rated = defaults.rated_payload(scenario, payload)
    scenario = replace(scenario, actions=replace(scenario.actions, payloads=()))
    # a rough computation is enough while searching
    rough = (1e-6, 1e-8)
    arm = arm_stops(scenario, *rough)
    if samples is None:
        samples = SAMPLES if isinstance(arm, CompiledStop) else SAMPLES_OF_RUNS
    _check(moving, payload_range, (torque_tolerance, delay_tolerance), failures, samples, seed)
    if category == 2 and (torque_tolerance or failures):
        raise BadUsage("tolerances of torques and failures need brakes", expected="category 0 or 1")
    speeds = numbers(speeds, rates_of(scenario.mech))
    decelerations = numbers(common["decelerations"], accelerations_of(scenario.mech))
    chain = table_axes(scenario.mech, scenario.tool, axes, arm.chain) if axes is not None else _chain(arm)
    assumed = assumed_speeds(scenario.mech, chain, speeds)
    speeds, taken = (
        assumed or speeds,
        (*speeds_said(scenario.mech, assumed, chain, speeds), *scenario.taken, *rigid),
    )
    scenario = replace(scenario, taken=taken)
    names = _axes(arm, axes, speeds)
    full = defaults.full_speeds(scenario.mech, names, speeds)
    nominal = StopSpace(arm, rated, full, None, torque_tolerance, delay_tolerance, payload_range)
    # a stop that comes closer to a limit might reach it when computed more accurately
    computer = StopComputer(ArmStopper(arm, threads), progress or (lambda count: None), _MARGIN)
    rng = np.random.default_rng(seed)
    table = stopping_table(
        mech,
        axes=_axes_of_table(arm, names),
        payload=payload,
        speeds=full,
        categories=(min(category, 1),),
        **common,
    )
    grid = [row for row in table.rows if row["joint"] in names]
    budget = SearchBudget(max_seconds)
    planned = [
        (space, objectives, _grid_points(space, grid)) for space, objectives in _searches(nominal, moving)
    ]
    points = worst_points(computer, planned, samples, rng, budget)
    pairs = [(objective, space) for space, objectives, _ in planned for objective in objectives]
    searched = [(o, space, space.start(x)) for (o, space), x in zip(pairs, points, strict=True)]
    # reported values are as accurate as those of estop
    exact = StopComputer(ArmStopper(arm_stops(scenario, scenario.rtol, scenario.atol)), computer.count)
    scene = mech if isinstance(mech, Scene) else None
    alone = AxisStops(
        arm_stops(scenario, scenario.rtol, scenario.atol),
        ramps_by_joint(scenario, scene, decelerations),
        share,
        confidence,
    )
    values = ValuesOf(
        scene,
        exact,
        alone if moving == "one" and category < 2 else None,
        common,
        decelerations,
        payload is None,
        grid if category < 2 else (),
    )
    found = tuple(values.of(*one) for one in searched)
    choice = scenario.tool_choice.over_poses(scenario.mech, scenario.q, [names])
    searches = Searches(budget.complete, len(searched), max_seconds)
    return WorstStops(
        scenario.mech.name,
        scenario.tool,
        moving,
        names,
        seed,
        dict(sorted(computer.outcomes.items())),
        found,
        tuple(failed_brakes(exact, [(space, start) for _, space, start in searched], failures)),
        (*worst_stop_assumptions(nominal, moving), *filter(None, [choice.heading, searches.heading])),
        searches,
        scenario.of_effort._replace(ramps=tuple(j for j in scenario.ramps_of_effort if j in names)),
        tuple(brake.joint for brake in scenario.brakes if brake.freedom[0] == "t"),
        category,
        choice,
    )


def _check(
    moving: str,
    payload_range: tuple[float, float],
    tolerances: tuple[float, float],
    failures: Sequence[Failure],
    samples: int,
    seed: int,
) -> None:
    low, high = payload_range
    if moving not in get_args(Moving):
        raise BadUsage(f"moving is {moving!r}", expected="one or all")
    if not 0 <= low <= high <= 1:
        raise BadNumber(
            f"the payload range is {low:g} to {high:g}",
            expected="two shares of the rated payload, 0 to 1, in ascending order",
        )
    for what, value in zip(("torque", "delay"), tolerances, strict=True):
        if not 0 <= value < 1:
            raise BadNumber(f"the {what} tolerance is {value:g}", expected="at least 0 and below 1")
    if not 0 <= samples <= MOST_SAMPLES or seed < 0:
        raise BadNumber(
            f"{samples} random stops with seed {seed} were requested",
            expected=f"up to {MOST_SAMPLES} stops, and a seed that is not negative",
        )
    for failure in failures:
        if failure.kind not in get_args(FailureKind):
            raise BadUsage(f"a brake fails by being {failure.kind!r}", expected="dead, worn or late")
        most = {"dead": 0.0, "worn": 1.0, "late": 10.0}[failure.kind]
        if not 0 <= failure.amount <= most:
            raise BadNumber(
                f"a brake is {failure.kind} by {failure.amount:g}", expected=f"a number from 0 to {most:g}"
            )


def _axes(arm: ArmStops, axes: Sequence[str] | None, speeds: Mapping[str, float] | None) -> tuple[str, ...]:
    """Return the axes that move: the stated ones, else all between ground and tool with a known full speed."""
    scenario = arm.scenario
    if axes is not None:
        return table_axes(scenario.mech, scenario.tool, axes, arm.chain)
    chain = [scenario.mech.pair_by_name[name] for name in _chain(arm)]
    limited = {pair.name for pair in chain if 0 < pair.freedoms[0].velocity < np.inf}
    known = tuple(pair.name for pair in chain if pair.name in limited or pair.name in (speeds or {}))
    if not known:
        raise BadUsage(
            f"no joint between the ground and {scenario.tool!r} has a velocity limit",
            remedy="state the full speeds",
        )
    return known


def _chain(arm: ArmStops) -> tuple[str, ...]:
    """Return the names of the joints between the ground and the tool."""
    return tuple(joint.pair.name for joint in arm.chain if joint.pair is not None)


def _axes_of_table(arm: ArmStops, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the axes of the table for comparison, which determine its poses: by default the usual ones."""
    usual = table_axes(arm.scenario.mech, arm.scenario.tool, chain=arm.chain)
    limited = all(0 < arm.scenario.mech.pair_by_name[axis].freedoms[0].velocity < np.inf for axis in usual)
    return usual if set(names) <= set(usual) and limited else names


def _searches(nominal: StopSpace, moving: Moving) -> Iterator[tuple[StopSpace, list[Objective]]]:
    """Yield each search space with its objectives."""
    if moving == "one":
        for axis in nominal.speeds:
            yield (
                replace(nominal, axis=axis),
                [Objective(axis, "time"), Objective(axis, "travel"), Objective(axis, "tool_distance")],
            )
        return
    travels = [Objective(axis, "travel") for axis in nominal.speeds]
    yield nominal, [Objective(None, "time"), *travels, Objective(None, "tool_distance")]


def _grid_points(space: StopSpace, grid: Sequence[Mapping[str, Any]]) -> Array:
    """Return the stops of a stopping table that lie in a space, as points (k, d)."""
    names = space.scenario.mech.q_names
    points = [
        space.point(np.array([row["q"][n] for n in names]), {row["joint"]: row["sense"] * row["speed"]})
        for row in grid
        if space.axis in (None, row["joint"])
    ]
    return np.array(points).reshape(len(points), space.dimension)


# The values of the worst stops, and the commands that reproduce them.


class ValuesOf:
    """Computes the values that are reported."""

    def __init__(
        self,
        scene: Scene | None,
        computer: StopComputer,
        alone: AxisStops | None,
        common: StopArguments,
        decelerations: Mapping[str, float],
        of_scene: bool,
        grid: Sequence[Mapping[str, Any]],
    ) -> None:
        self.scene, self.computer, self.alone, self.of_scene = scene, computer, alone, of_scene
        self.common, self.decelerations = common, decelerations
        keys = (("time", "time"), ("travel", "distance"), ("tool_distance", "tool_distance"))
        self.grid = {(row["joint"], measure): abs(row[key]) for row in grid for measure, key in keys}

    def of(self, objective: Objective, space: StopSpace, start: StopStart) -> WorstStop:
        """Return the reported values of a worst stop.

        Raises
        ------
        BadNumber
            They are not finite.
        """
        scenario, n = self.computer.scenario, self.computer.index_of(objective)
        stop = self.computer.stop(space, start)
        value = objective.value(stop, n)
        if not np.isfinite([value, stop.time, stop.tool_distance]).all():
            raise BadNumber(
                "the worst stop cannot be computed: its numbers grow beyond all limits",
                expected="speeds, masses and payloads of a machine",
            )
        travel = units_of(scenario.brakes[n].freedom).coordinate
        q = dict(zip(scenario.mech.q_names, start.q.tolist(), strict=True))
        qd = dict(zip(scenario.mech.qd_names, start.qd.tolist(), strict=True))
        return WorstStop(
            objective.axis,
            objective.measure,
            {"time": "s", "travel": travel, "tool_distance": "m"}[objective.measure],
            value,
            None if objective.axis is None else self.grid.get((objective.axis, objective.measure)),
            stop.outcome,
            stop.time,
            stop.tool_distance,
            q,
            qd,
            start.share * space.rated.mass,
            self._factors(start.torque_factors),
            self._factors(start.delay_factors),
            self._command(space, start, q, stated_rates(space.arm, start.qd)),
            *self._bounds(objective, space, start, stop, n),
        )

    def _bounds(
        self, objective: Objective, space: StopSpace, start: StopStart, stop: StopSummary, n: int
    ) -> tuple[float | None, float | None, float | None]:
        """Return upper bounds of the value, the time (s) and the tool path (m); None where there are none."""
        axis = objective.axis
        varied = bool((start.torque_factors != 1).any() or (start.delay_factors != 1).any())
        if self.alone is None or axis is None or varied:
            return None, None, None
        self.alone.arm.set_payloads(space.payloads(start))
        bounds = self.alone.bounds(min(self.computer.scenario.category, 1), axis, start.q, start.qd, stop)
        if bounds is None:
            return None, None, None
        travel = abs(float(stop.travels[n]))
        way = (
            stop.tool_distance * bounds.distance / travel if bounds.distance is not None and travel else None
        )
        time = None if bounds.time is None else max(bounds.time, stop.time)
        own = {"time": bounds.time, "travel": bounds.distance, "tool_distance": way}[objective.measure]
        return own, time, way

    def _factors(self, factors: Array) -> dict[str, float]:
        """Return the factors (n,) of the brakes that are not 1."""
        joints = [brake.joint for brake in self.computer.scenario.brakes]
        return {j: f for j, f in zip(joints, factors.tolist(), strict=True) if f != 1.0}

    def _command(
        self, space: StopSpace, start: StopStart, q: Mapping[str, float], qd: Mapping[str, float]
    ) -> str | None:
        scenario = self.computer.scenario
        varied = bool((start.torque_factors != 1).any() or (start.delay_factors != 1).any())
        common = self.common.copy()
        if varied:
            common["brakes"] = [_stated(b) for b in start.brakes(scenario.brakes)]
        command = stop_command(self.scene, scenario, common, (), not (self.of_scene or space.rated.mass))
        carried = defaults.payload_options(space.rated, start.share, self.of_scene)
        extra = ("--limits", "ignore") if scenario.limits == "ignore" else ()
        if command is None or self._reacts_otherwise(start):
            return None
        return command.text(scenario.category, q, qd, (*carried, *extra), self.decelerations)

    def _reacts_otherwise(self, start: StopStart) -> bool:
        """Return True if delays vary but a ramp of the scene states a reaction, which no command option can change."""
        scenario = self.computer.scenario
        stated = any(ramp.reaction is not None for ramp in scenario.ramp_source.stated)
        return scenario.category != 0 and stated and bool((start.delay_factors != 1).any())


def _stated(brake: JointBrake) -> Brake:
    """Return a brake in the form of a command option."""
    delay = None if brake.at_once else brake.delay
    return replace(
        stated_brake(brake), static_torque=brake.law.static, delay=delay, origin="", uncertainty=None
    )


# The worst stops again, with one brake failing.


def failed_brakes(
    computer: StopComputer, starts: Sequence[tuple[StopSpace, StopStart]], failures: Sequence[Failure]
) -> Iterator[FailedBrake]:
    """Yield the worst results of the given stops with each brake failing in each way."""
    nominal = computer.scenario.brakes
    for failure in failures:
        for n, brake in enumerate(nominal):
            stops: list[StopSummary] = []
            for space, start in starts:
                own = list(start.brakes(nominal))
                own[n] = _with_failure(own[n], failure)
                stops.append(computer.stop_with(tuple(own), space, start))
            rested = [stop for stop in stops if stop.outcome in ("stopped", "slipped_back")]
            yield FailedBrake(
                brake.joint,
                failure,
                max((stop.outcome for stop in stops), key=_SEVERITY.index),
                max((stop.time for stop in rested), default=0.0),
                max((stop.tool_distance for stop in rested), default=0.0),
            )


def _with_failure(brake: JointBrake, failure: Failure) -> JointBrake:
    if failure.kind == "dead":
        return replace(brake, law=BrakeLaw())
    if failure.kind == "worn":
        return replace(brake, law=brake.law.scaled(failure.amount))
    return replace(brake, engagement=brake.engagement + failure.amount)


# The assumptions of a search for the worst stops, in sentences.


def worst_stop_assumptions(space: StopSpace, moving: Moving) -> Iterator[str]:
    """Yield the assumptions of a search, one sentence each."""
    scenario, rated = space.scenario, space.rated
    yield "computed, not measured; a search finds a lower bound of the worst, not a proof"
    yield (
        "one axis moves at full speed, the others stand"
        if moving == "one"
        else "all axes move at once, each at up to full speed"
    )
    low, high = space.payload_range
    carried = f"{low:g} to {high:g} times {rated.mass:g} kg at {rated.body}"
    yield f"payload: {carried if rated.mass else 'none (no rated payload is stated)'}"
    yield speeds_sentence(scenario.mech, "full speed", space.speeds)
    if not isinstance(space.arm, CompiledStop):
        yield from following(space.arm)
        yield "each stop is a run of the integrator, and the search is a short one"
    pairs = [joint.pair for joint in space.arm.varied if joint.pair is not None]
    fixed = [p.name for p in pairs if p.kind.free and coordinate_range(p)[0] >= coordinate_range(p)[1]]
    if fixed:
        yield f"not varied, as they have no limits: {', '.join(fixed)}"
    yield "poses within the joint limits; the arm may meet itself or its surroundings"
    for what, tolerance in (("torques", space.torque_tolerance), ("delays", space.delay_tolerance)):
        if tolerance:
            yield f"{what} of the brakes vary by ±{100 * tolerance:g} %, independently"
    yield from scenario.stated
    if scenario.category < 2:
        yield from assumed_brakes(scenario.brakes)
    if scenario.category > 0:
        yield from _assumed_ramps(space)
    # the heading is about the pose of the file, which is not among those searched
    yield from (note for note in scenario.notes if note != scenario.tool_choice.heading)


def _assumed_ramps(space: StopSpace) -> Iterator[str]:
    """Yield a sentence for each axis whose ramp the scene does not state."""
    scenario = space.scenario
    source = scenario.ramp_source
    inertias = partial(inertias_at, scenario.mech, scenario.q, scenario.actions)
    stated = {ramp.joint for ramp in source.stated} | {a.joint for a in source.actuators if a.deceleration}
    for axis in space.speeds:
        if axis in source.given:
            yield f"{axis}: given deceleration {source.given[axis]:g}"
        elif axis not in stated:
            found = assumed_deceleration(scenario.mech, axis, inertias)
            yield f"{axis}: category {scenario.category} decelerates with {found.source}"
