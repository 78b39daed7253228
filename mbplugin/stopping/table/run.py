"""``stopping_table``: stopping times and distances of an arm, as in the manual of a manufacturer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mbplugin.arguments import checked, known_as
from mbplugin.errors import BadUsage
from mbplugin.model.brakes import BrakeLike, stated_brakes
from mbplugin.model.mechanism.named_numbers import NamedNumbers, accelerations_of, numbers, rates_of
from mbplugin.model.plausible import implausible, warn_of
from mbplugin.model.scene import Payload, Ramp, Scene
from mbplugin.readers.source import ModelSource, model_of
from mbplugin.stopping.compiled.batch import CompiledStop
from mbplugin.stopping.compiled.support import require_compiled_stop
from mbplugin.stopping.run import make_scenario
from mbplugin.stopping.scenario.decelerations import checked_decelerations, has_ramp
from mbplugin.stopping.scenario.effort_limits import assumed_brakes
from mbplugin.stopping.scenario.scenario import Scenario
from mbplugin.stopping.table.axes import table_axes
from mbplugin.stopping.table.grid import grid_of
from mbplugin.stopping.table.measured import MeasuredStops, measured_stops
from mbplugin.stopping.table.rated import full_speeds, payload_share, rated_payload
from mbplugin.stopping.table.row_command import stop_command
from mbplugin.stopping.table.stops import TableStops
from mbplugin.stopping.table.values import StoppingTable


@checked
def stopping_table(
    mech: ModelSource,
    *,
    axes: Sequence[str] | None = None,
    payload: float | None = None,
    speeds: NamedNumbers | None = None,
    categories: Sequence[int] = (0, 1),
    brakes: Iterable[BrakeLike] | None = None,
    decelerations: NamedNumbers | None = None,
    tool: str | None = None,
    require_brakes: bool = False,
    grid: Mapping[str, Sequence[int]] | None = None,
    measured: str | Path | None = None,
) -> StoppingTable:
    """Compute the stopping table of an arm: one axis moves at a time.

    Category 0 stops three axes at full speed, extension and payload; category 1 the first two at 33, 66
    and 100 % of each, the third only with the arm stretched out. The second and third axis move downwards.

    Parameters
    ----------
    mech : path, PyBullet client, Scene or Mechanism
        A tree of joints with one freedom each.
    axes : sequence of str, optional
        Joints, by default the first three that are not roll axes along the arm.
    payload : float, optional
        Rated mass at the tool, kg; by default the scene's payload.
    speeds : mapping, optional
        Full speed by joint, rad/s or m/s; by default the velocity limits.
    categories : sequence of int
        0, 1 or both.
    brakes, decelerations, tool, require_brakes
        As for :func:`mbplugin.estop`.
    grid : mapping, optional
        Shares by ``speed``, ``extension`` and ``payload``, whole percents, instead of those above, in both
        categories.
    measured : path, optional
        A CSV file of measured stops as for :func:`mbplugin.calibrate`: each stands beside the stop that these brakes
        and decelerations give.

    Raises
    ------
    BadUsage
        A mechanism with loops, an axis of unknown speed, or an axis without a brake and a deceleration.
    BadNumber
        A share of the grid that is no percent.
    """
    points = grid_of(grid)
    mech = model_of(mech)
    scene, brakes = mech if isinstance(mech, Scene) else None, tuple(brakes or ())
    scenario = make_scenario(mech, brakes=brakes, tool=tool, require_brakes=require_brakes)
    rated = rated_payload(scenario, payload)
    scenario = replace(scenario, actions=replace(scenario.actions, payloads=()))
    require_compiled_stop(scenario)
    if not categories or not set(categories) <= {0, 1}:
        raise BadUsage(f"categories {tuple(categories)} were requested", expected="0, 1 or both")
    names = table_axes(scenario.mech, scenario.tool, axes)
    choice = scenario.tool_choice.over_poses(scenario.mech, scenario.q, [(name,) for name in names])
    ramps = _stated_ramps(scenario, scene, numbers(decelerations, accelerations_of(scenario.mech)))
    stated, joints = _stated_ramps(scenario, scene, None), [brake.joint for brake in scenario.brakes]
    rampless = [joint for joint in joints if joint not in stated and not has_ramp(scenario.mech, joint)]
    command = stop_command(scene, scenario.tool, brakes, rampless, payload is not None)
    # as accurate as estop: a table has few rows
    compiled = CompiledStop(scenario, rtol=scenario.rtol, atol=scenario.atol)
    speeds = numbers(speeds, rates_of(scenario.mech))
    full = full_speeds(scenario.mech, names, speeds)
    stops = TableStops(compiled, names, rated, full, points, ramps, payload is None, command)
    computed = [one for category in categories for one in stops.rows(category)]
    beside = None
    if measured is not None:
        beside = measured_stops(
            mech, measured, stops.stop, compiled, payload=payload, speeds=speeds, tool=tool
        )
    rows, motions = [row for row, _ in computed], [motion for _, motion in computed]
    of_effort = scenario.of_effort._replace(ramps=tuple(stops.ramps_of_effort))
    if require_brakes:
        of_effort.require_none()
    implausible_ones = _implausible(scenario, rated, stops.speeds)
    warn_of(implausible_ones)
    return StoppingTable(
        scenario.mech.name,
        scenario.tool,
        names,
        tuple(rows),
        (
            *_assumptions(scenario, stops, scene.ramps if scene else (), categories, beside),
            *points.sentences,
            *implausible_ones,
            *(note for note in scenario.notes if note != scenario.tool_choice.heading),
            *filter(None, [choice.heading]),
        ),
        of_effort,
        tuple(motions),
        payload_share(rated, 1.0),
        scenario.tolerance,
        tuple(brake.joint for brake in scenario.brakes if brake.freedom[0] == "t"),
        form=points.form,
        measured=beside,
        tool_choice=choice,
    )


#: By the name of the command.
stop_table = known_as(stopping_table, "stop_table")


def _stated_ramps(
    scenario: Scenario, scene: Scene | None, given: Mapping[str, float] | None
) -> dict[str, Ramp]:
    """Return the ramps by joint: given decelerations, else the scene's ramps, else those of its actuators."""
    actuators, ramps = (scene.actuators, scene.ramps) if scene else ((), ())
    stated = {a.joint: Ramp(a.joint, deceleration=a.deceleration) for a in actuators if a.deceleration}
    stated |= {ramp.joint: ramp for ramp in ramps}
    braked = [brake.joint for brake in scenario.brakes]
    for joint, value in checked_decelerations(braked, given or {}).items():
        reaction = stated[joint].reaction if joint in stated else None
        stated[joint] = Ramp(joint, deceleration=value, reaction=reaction)
    return stated


def _implausible(scenario: Scenario, rated: Payload, speeds: Mapping[str, float]) -> tuple[str, ...]:
    """Return sentences on full speeds, a rated payload and brakes that are probably in another unit."""
    qd = np.zeros(len(scenario.qd))
    for axis, speed in speeds.items():
        qd[scenario.rate_of(axis)] = speed
    return implausible(scenario.mech, qd, (rated,), scenario.brakes)


def _assumptions(
    scenario: Scenario,
    stops: TableStops,
    ramps: Sequence[Ramp],
    categories: Sequence[int],
    beside: MeasuredStops | None,
) -> tuple[str, ...]:
    rated, rows = stops.rated, () if beside is None else beside.rows
    shown = {*stops.axes, *(row.joint for row in rows)}
    led = {*stops.axes} if 1 in categories else set()
    led |= {row.joint for row in rows if row.category == 1}
    unloaded = "none (no rated payload is stated, so that rows of any load are equal)"
    carried = f"{rated.mass:g} kg at {rated.body}" if rated.mass else unloaded
    speeds = ", ".join(f"{axis} {speed:.4g}" for axis, speed in stops.speeds.items())
    delays = ", ".join(
        f"{b.joint} {1e3 * b.delay:g} + {1e3 * b.engagement:g} ms"
        for b in scenario.brakes
        if b.joint in shown
    )
    return (
        "computed, not measured",
        "one axis moves, downwards where gravity pulls on it, and the others stand",
        f"100 % payload: {carried}",
        f"100 % speed (rad/s, m/s): {speeds}",
        "extension: distance of the tool from the axis, 100 % stretched; the arm may meet itself",
        f"from the signal to power off, and on to the brake's grip: {delays}",
        # those of the joints that stand hold, or slip
        *stated_brakes(scenario.brakes),
        *(ramp.sentence for ramp in ramps if ramp.joint in led),
        *assumed_brakes(tuple(b for b in scenario.brakes if b.joint in shown)),
        *stops.assumed,
    )
