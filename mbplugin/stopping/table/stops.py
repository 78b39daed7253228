"""The stops of a stopping table: one axis moves, at every share of speed, extension and payload."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mbplugin.model.ramp import Ramp
from mbplugin.model.scene import Payload
from mbplugin.model.spatial import Array
from mbplugin.stopping.compiled.batch import CompiledStop, StopSummary
from mbplugin.stopping.scenario.decelerations import assumed_deceleration
from mbplugin.stopping.scenario.stated_ramps import with_reactions
from mbplugin.stopping.table.columns import RowCase
from mbplugin.stopping.table.extension import ExtensionPose, ExtensionPoses
from mbplugin.stopping.table.grid import Grid
from mbplugin.stopping.table.rated import payload_options, payload_share
from mbplugin.stopping.table.row import row_values
from mbplugin.stopping.table.row_command import StopCommand
from mbplugin.stopping.zones.motion import StopMotion, motion_of_pieces

#: Axes that come before the one that bends the arm.
_BENT = 2
_ORDER = ("category", "axis", "extension_percent", "payload_percent", "speed_percent")


class TableStops:
    """Computes the stops of a table."""

    def __init__(
        self,
        compiled: CompiledStop,
        axes: tuple[str, ...],
        rated: Payload,
        speeds: Mapping[str, float],
        grid: Grid,
        ramps: Mapping[str, Ramp],
        of_scene: bool,
        command: StopCommand | None,
    ) -> None:
        self.compiled, self.axes, self.rated, self.speeds = compiled, axes, rated, speeds
        self.grid, self.ramps, self.of_scene, self.command = grid, ramps, of_scene, command
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

    def rows(self, category: int) -> list[tuple[dict[str, object], StopMotion]]:
        """Return the rows of a category, each with its motion."""
        speeds, loads = (self.grid.shares(name, category) for name in ("speed", "payload"))
        out = []
        for load in loads:
            self.compiled.set_payloads(payload_share(self.rated, load / 100))
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
        scenario = self.compiled.scenario
        q, speed = pose.q, self.speeds[axis] * shares[0] / 100
        qd = np.zeros(len(scenario.qd))
        qd[scenario.rate_of(axis)] = pose.sense * speed
        stop, reactions, deceleration = self._stop(category, axis, q, qd)
        case = RowCase(category, k + 1, axis, shares, pose, speed, deceleration, reactions[axis])
        carried = self.rated.mass * shares[2] / 100
        row = row_values(case, stop, scenario, carried) | {"command": self._command_of(case)}
        return row, motion_of_pieces(q, self.compiled.pieces)

    def stop(self, category: int, axis: str, q: Array, qd: Array) -> StopSummary:
        """Return the stop of an axis in a category from q (nq,) and qd (nv,), with the payloads that are set."""
        return self._stop(category, axis, q, qd)[0]

    def _stop(
        self, category: int, axis: str, q: Array, qd: Array
    ) -> tuple[StopSummary, dict[str, float], float | None]:
        """Return a stop from q (nq,) and qd (nv,), the reaction times (s), and the deceleration of category 1."""
        brakes = self.compiled.scenario.brakes
        if category == 0:
            reactions = {brake.joint: brake.engagement_time for brake in brakes}
            return self.compiled.stop(q, qd), reactions, None
        speed = abs(float(qd[self.compiled.scenario.rate_of(axis)]))
        deceleration = self._deceleration(axis, q, speed)
        reactions = {brake.joint: brake.delay for brake in with_reactions(brakes, self.ramps.values())}
        delays = np.array([reactions[brake.joint] for brake in brakes])
        decelerations = np.full(len(brakes), deceleration)
        return self.compiled.controlled_stop(q, qd, decelerations, delays), reactions, deceleration

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

    def _deceleration(self, axis: str, q: Array, speed: float) -> float:
        """Return the deceleration of an axis at a pose q (nq,), rad/s² or m/s²; what is assumed is noted."""
        if axis in self.ramps:
            return self.ramps[axis].deceleration_from(speed)
        compiled = self.compiled
        found = assumed_deceleration(compiled.scenario.mech, axis, lambda: compiled.inertias(q))
        assumption = f"{axis}: category 1 decelerates with {found.source}"
        if assumption not in self.assumed:
            self.assumed.append(assumption)
            if found.effort is not None:
                self.ramps_of_effort.append(axis)
        return found.value
