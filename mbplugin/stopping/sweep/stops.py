"""The stops of a sweep, one by one: by the compiled loop where the robot allows it, else like estop."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from mbplugin.model.brakes import JointBrake
from mbplugin.model.scene import Payload
from mbplugin.model.spatial import Array
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.compiled.batch import StopSummary
from mbplugin.stopping.compiled.stopper import CompiledStopper
from mbplugin.stopping.compiled.support import supports_compiled_stop
from mbplugin.stopping.outcome.evaluate import evaluate
from mbplugin.stopping.scenario.scenario import Scenario
from mbplugin.stopping.stop import run_stop
from mbplugin.stopping.zones.motion import StopMotion, motion_of_pieces, motion_of_trajectory


class Stopper(Protocol):
    """Computes stops of one robot."""

    def stop(
        self, q: Array, qd: Array, brakes: tuple[JointBrake, ...], payloads: tuple[Payload, ...]
    ) -> StopSummary:
        """Return how a stop from q (nq,) and qd (nv,) comes out; rad and m, per second."""

    def motion(self) -> StopMotion:
        """Return the motion of the last stop."""


def stopper_of(scenario: Scenario) -> Stopper:
    """Return what computes the stops of a robot."""
    return _Compiled(scenario) if supports_compiled_stop(scenario) else _General(scenario)


class _Compiled(CompiledStopper):
    """Stops of an arm whose joints have one freedom and a brake each."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self._start = scenario.q

    def stop(
        self, q: Array, qd: Array, brakes: tuple[JointBrake, ...], payloads: tuple[Payload, ...]
    ) -> StopSummary:
        """Return how a stop from q (nq,) and qd (nv,) comes out; rad and m, per second."""
        self._start = q
        return super().stop(q, qd, brakes, payloads)

    def motion(self) -> StopMotion:
        return motion_of_pieces(self._start, self.compiled.pieces)


class _General:
    """Stops of any other robot: with a free base, wheels, loops, or joints without a brake."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._last: Trajectory | None = None

    def stop(
        self, q: Array, qd: Array, brakes: tuple[JointBrake, ...], payloads: tuple[Payload, ...]
    ) -> StopSummary:
        """Return how a stop from q (nq,) and qd (nv,) comes out; rad and m, per second."""
        scenario = self.scenario.from_state(q, qd, brakes, payloads)
        self._last = run_stop(scenario)
        report = evaluate(scenario, self._last)
        keys = ("time", "travel", "reaction_travel", "back")
        times, travels, reactions, back = (
            np.array([getattr(joint, key) for joint in report.joints]) for key in keys
        )
        return StopSummary(
            report.outcome,
            report.time,
            times,
            travels,
            reactions,
            back,
            report.tool.distance,
            report.tool.displacement,
            0,
        )

    def motion(self) -> StopMotion:
        assert self._last is not None, "no stop was computed"
        return motion_of_trajectory(self._last)
