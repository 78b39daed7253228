"""``stopping_table``: stopping times and distances of an arm, as in the manual of a manufacturer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.model.brakes import BrakeLike, stated_brakes
from mbplugin.model.plausible import implausible
from mbplugin.model.scene import Payload, Ramp, Scene
from mbplugin.model.spatial import Array
from mbplugin.readers.source import ModelSource, model_of
from mbplugin.stopping.compiled.batch import CompiledStop, supports_compiled_stop
from mbplugin.stopping.run import assumed_brakes, make_scenario
from mbplugin.stopping.scenario.decelerations import assumed_deceleration, checked_decelerations, has_ramp
from mbplugin.stopping.scenario.effort_limits import EffortLimits
from mbplugin.stopping.scenario.scenario import Scenario
from mbplugin.stopping.scenario.stated_ramps import with_reactions
from mbplugin.stopping.table.axes import table_axes
from mbplugin.stopping.table.columns import RowCase
from mbplugin.stopping.table.extension import ExtensionPose, ExtensionPoses
from mbplugin.stopping.table.grid import Grid, grid_of
from mbplugin.stopping.table.rated import full_speeds, payload_options, payload_share, rated_payload
from mbplugin.stopping.table.row import row_values
from mbplugin.stopping.table.row_command import StopCommand, stop_command
from mbplugin.stopping.table.values import StoppingTable
from mbplugin.stopping.zones.motion import StopMotion, motion_of_pieces


def stopping_table(
    mech: ModelSource,
    *,
    axes: Sequence[str] | None = None,
    payload: float | None = None,
    speeds: Mapping[str, float] | None = None,
    categories: Sequence[int] = (0, 1),
    brakes: Iterable[BrakeLike] | None = None,
    decelerations: Mapping[str, float] | None = None,
    tool: str | None = None,
    require_brakes: bool = False,
    grid: Mapping[str, Sequence[int]] | None = None,
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
    if not supports_compiled_stop(scenario):
        raise BadUsage(
            f"{scenario.mech.name!r} is no arm of joints with one freedom, each with a brake",
            remedy="use estop for single stops",
        )
    if not set(categories) <= {0, 1}:
        raise BadUsage(f"categories {tuple(categories)} were requested", expected="0 and 1")
    names = table_axes(scenario.mech, scenario.tool, axes)
    ramps = _stated_ramps(scenario, scene, decelerations)
    stated, joints = _stated_ramps(scenario, scene, None), [brake.joint for brake in scenario.brakes]
    rampless = [joint for joint in joints if joint not in stated and not has_ramp(scenario.mech, joint)]
    command = stop_command(scene, scenario.tool, brakes, rampless, payload is not None)
    # as accurate as estop: a table has few rows
    compiled = CompiledStop(scenario, rtol=scenario.rtol, atol=scenario.atol)
    maker = _Maker(
        compiled, names, rated, full_speeds(scenario.mech, names, speeds), points, payload is None, command
    )
    computed = [one for category in categories for one in maker.rows(category, ramps)]
    rows, motions = [row for row, _ in computed], [motion for _, motion in computed]
    of_effort = EffortLimits(scenario.of_effort.brakes, tuple(maker.ramps_of_effort))
    if require_brakes:
        of_effort.require_none()
    return StoppingTable(
        scenario.mech.name,
        scenario.tool,
        names,
        tuple(rows),
        (
            *_assumptions(scenario, rated, maker, scene.ramps if scene and 1 in categories else ()),
            *points.sentences,
            *_implausible(scenario, rated, maker.speeds),
            *scenario.notes,
        ),
        of_effort,
        tuple(motions),
        payload_share(rated, 1.0),
        scenario.tolerance,
        tuple(brake.joint for brake in scenario.brakes if brake.freedom[0] == "t"),
        form=points.form,
    )


class _Maker:
    """Runs the stops of a table."""

    def __init__(
        self,
        compiled: CompiledStop,
        axes: tuple[str, ...],
        rated: Payload,
        speeds: Mapping[str, float],
        grid: Grid,
        of_scene: bool,
        command: StopCommand | None,
    ) -> None:
        self.compiled, self.axes, self.rated, self.speeds = compiled, axes, rated, speeds
        self.grid, self.of_scene, self.command = grid, of_scene, command
        compiled.set_payloads(payload_share(rated, 1.0))
        self._poser = ExtensionPoses(compiled, axes)
        # at 100 % payload, as gravity decides where an axis is loaded most
        self.poses = {
            (axis, share): self._poser.pose(axis, share / 100)
            for k, axis in enumerate(axes)
            for share in {s for category in (0, 1) for s in self._extensions(k, category)}
        }
        self.assumed: list[str] = []
        self.ramps_of_effort: list[str] = []

    def rows(self, category: int, ramps: Mapping[str, Ramp]) -> list[tuple[dict[str, object], StopMotion]]:
        """Return the rows of a category, each with its motion."""
        speeds, loads = (self.grid.shares(name, category) for name in ("speed", "payload"))
        out = []
        for load in loads:
            self.compiled.set_payloads(payload_share(self.rated, load / 100))
            for k, axis in enumerate(self.axes):
                for share in self._extensions(k, category):
                    pose = self.poses[axis, share]
                    for speed in speeds:
                        out.append(self._row(category, k, axis, (speed, share, load), pose, ramps))
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
        ramps: Mapping[str, Ramp],
    ) -> tuple[dict[str, object], StopMotion]:
        scenario = self.compiled.scenario
        brakes = scenario.brakes
        q, speed = pose.q, self.speeds[axis] * shares[0] / 100
        qd = np.zeros(len(scenario.qd))
        qd[scenario.rate_of(axis)] = pose.sense * speed
        deceleration = None
        if category == 0:
            stop = self.compiled.stop(q, qd)
            reactions = {brake.joint: brake.engagement_time for brake in brakes}
        else:
            deceleration = self._deceleration(axis, q, speed, ramps)
            reactions = {brake.joint: brake.delay for brake in with_reactions(brakes, ramps.values())}
            delays = np.array([reactions[brake.joint] for brake in brakes])
            stop = self.compiled.controlled_stop(q, qd, np.full(len(brakes), deceleration), delays)
        case = RowCase(category, k + 1, axis, shares, pose, speed, deceleration, reactions[axis])
        carried = self.rated.mass * shares[2] / 100
        row = row_values(case, stop, scenario, carried) | {"command": self._command_of(case)}
        return row, motion_of_pieces(q, self.compiled.pieces)

    def _command_of(self, case: RowCase) -> str | None:
        """Return the command that computes a row again."""
        if self.command is None:
            return None
        q = dict(zip(self.compiled.scenario.mech.q_names, case.pose.q.tolist(), strict=True))
        qd = {case.axis: case.pose.sense * case.speed}
        carried = payload_options(self.rated, case.shares[2] / 100, self.of_scene)
        a = case.deceleration
        ramps = {} if a is None else dict.fromkeys((case.axis, *self.command.ramps), a)
        return self.command.text(case.category, q, qd, carried, ramps)

    def _deceleration(self, axis: str, q: Array, speed: float, ramps: Mapping[str, Ramp]) -> float:
        """Return the deceleration of an axis at a pose q (nq,), rad/s² or m/s²; what is assumed is noted."""
        if axis in ramps:
            return ramps[axis].deceleration_from(speed)
        compiled = self.compiled
        found = assumed_deceleration(compiled.scenario.mech, axis, lambda: compiled.inertias(q))
        assumption = f"{axis}: category 1 decelerates with {found.source}"
        if assumption not in self.assumed:
            self.assumed.append(assumption)
            if found.effort is not None:
                self.ramps_of_effort.append(axis)
        return found.value


#: Axes that come before the one that bends the arm.
_BENT = 2
_ORDER = ("category", "axis", "extension_percent", "payload_percent", "speed_percent")


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
    """Return sentences on full speeds and a rated payload that are probably in another unit."""
    qd = np.zeros(len(scenario.qd))
    for axis, speed in speeds.items():
        qd[scenario.rate_of(axis)] = speed
    return implausible(scenario.mech, qd, (rated,))


def _assumptions(scenario: Scenario, rated: Payload, maker: _Maker, ramps: Sequence[Ramp]) -> tuple[str, ...]:
    carried = f"{rated.mass:g} kg at {rated.body}" if rated.mass else "none (no rated payload is stated)"
    speeds = ", ".join(f"{axis} {speed:.4g}" for axis, speed in maker.speeds.items())
    delays = ", ".join(
        f"{b.joint} {1e3 * b.delay:g} + {1e3 * b.engagement:g} ms"
        for b in scenario.brakes
        if b.joint in maker.axes
    )
    return (
        "computed, not measured",
        "one axis moves, the others stand; the first axis in its place, the others down",
        f"100 % payload: {carried}",
        f"100 % speed (rad/s, m/s): {speeds}",
        "extension: distance of the tool from the axis, 100 % stretched; the arm may meet itself",
        f"from the signal to power off, and on to the brake's grip: {delays}",
        # those of the joints that stand hold, or slip
        *stated_brakes(scenario.brakes),
        *(ramp.sentence for ramp in ramps if ramp.joint in maker.axes),
        *assumed_brakes(tuple(b for b in scenario.brakes if b.joint in maker.axes)),
        *maker.assumed,
    )
