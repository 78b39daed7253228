"""Stops of one robot in any category, each with its own brakes and payloads, by the compiled loop."""

from __future__ import annotations

import numpy as np

from mbplugin.model.brakes import JointBrake
from mbplugin.model.scene import Payload
from mbplugin.model.spatial import Array
from mbplugin.simulation.interrupt import ctrl_c_waits
from mbplugin.stopping.compiled.batch import CompiledStop, StopSummary
from mbplugin.stopping.scenario.scenario import Scenario


class CompiledStopper:
    """Stops of an arm whose joints have one freedom and a brake each.

    Parameters
    ----------
    scenario : Scenario
        Its category and its ramps are those of all stops.
    *tolerances : float
        Relative and absolute, of the integration; by default those of :class:`CompiledStop`.
    """

    def __init__(self, scenario: Scenario, *tolerances: float) -> None:
        self.scenario, self.compiled = scenario, CompiledStop(scenario, *tolerances)

    def stop(
        self, q: Array, qd: Array, brakes: tuple[JointBrake, ...], payloads: tuple[Payload, ...]
    ) -> StopSummary:
        """Return how a stop from q (nq,) and qd (nv,) comes out; rad and m, per second."""
        self.compiled.set_brakes(brakes)
        self.compiled.set_payloads(payloads)
        if self.scenario.category == 0:
            with ctrl_c_waits():
                return self.compiled.stop(q, qd)
        ramps = self.scenario.decelerations_at(q, qd, brakes, lambda: self.compiled.inertias(q))
        decelerations = np.array([ramps[brake.joint] for brake in brakes])
        with ctrl_c_waits():
            return self.compiled.controlled_stop(q, qd, decelerations, braked=self.scenario.category == 1)
