"""The values of found stops, and the commands that compute them again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mbplugin.errors import BadNumber
from mbplugin.model.brake_law import Brake
from mbplugin.model.brakes import BrakeLike, JointBrake
from mbplugin.model.component import units_of
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array
from mbplugin.stopping.table.rated import payload_options
from mbplugin.stopping.table.row_command import stop_command
from mbplugin.stopping.worst.search import Objective, StopComputer
from mbplugin.stopping.worst.space import StopSpace, StopStart
from mbplugin.stopping.worst.values import WorstStop


class ValuesOf:
    """Makes the values that are reported."""

    def __init__(
        self,
        scene: Scene | None,
        computer: StopComputer,
        brakes: tuple[BrakeLike, ...],
        decelerations: Mapping[str, float],
        of_scene: bool,
        grid: Sequence[Mapping[str, Any]],
    ) -> None:
        self.scene, self.computer, self.of_scene = scene, computer, of_scene
        self.given, self.decelerations = brakes, decelerations
        keys = (("time", "time"), ("travel", "distance"), ("tool_distance", "tool_distance"))
        self.grid = {(row["joint"], measure): abs(row[key]) for row in grid for measure, key in keys}

    def of(self, objective: Objective, space: StopSpace, start: StopStart) -> WorstStop:
        """Return the value of a found stop.

        Raises
        ------
        BadNumber
            Its numbers grow beyond all limits.
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
            self._command(space, start, q, {name: rate for name, rate in qd.items() if rate}),
        )

    def _factors(self, factors: Array) -> dict[str, float]:
        """Return the factors (n,) of the brakes that are not 1."""
        joints = [brake.joint for brake in self.computer.scenario.brakes]
        return {j: f for j, f in zip(joints, factors.tolist(), strict=True) if f != 1.0}

    def _command(
        self, space: StopSpace, start: StopStart, q: Mapping[str, float], qd: Mapping[str, float]
    ) -> str | None:
        scenario = self.computer.scenario
        varied = bool((start.torque_factors != 1).any() or (start.delay_factors != 1).any())
        brakes = [_stated(b) for b in start.brakes(scenario.brakes)] if varied else self.given
        command = stop_command(self.scene, scenario.tool, brakes, (), not self.of_scene)
        carried = payload_options(space.rated, start.share, self.of_scene)
        extra = ("--limits", "ignore") if scenario.limits == "ignore" else ()
        if command is None or self._reacts_otherwise(start):
            return None
        return command.text(scenario.category, q, qd, (*carried, *extra), self.decelerations)

    def _reacts_otherwise(self, start: StopStart) -> bool:
        """Whether a ramp of the scene states the reaction of a joint, which no option of a command changes."""
        scenario = self.computer.scenario
        stated = any(ramp.reaction is not None for ramp in scenario.ramp_source.stated)
        return scenario.category != 0 and stated and bool((start.delay_factors != 1).any())


def _stated(brake: JointBrake) -> Brake:
    """Return a brake as an option states it."""
    law, short = brake.law, bool(brake.law.short_circuit)
    return Brake(
        brake.joint,
        law.sliding,
        law.static,
        law.viscous,
        None if brake.at_once else brake.delay,
        brake.engagement,
        short_circuit=law.short_circuit if short else None,
        short_circuit_rate=law.short_circuit_rate if short else None,
    )
