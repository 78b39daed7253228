"""Many stops of one robot: its model is built once, every stop is one call of the compiled loop."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mbplugin.dynamics.kernels.composite_bodies import carried_masses, find_composites
from mbplugin.dynamics.kernels.inverse import mass_matrix
from mbplugin.dynamics.kernels.motion import move
from mbplugin.dynamics.kernels.resistance import law_of, store_laws
from mbplugin.dynamics.kernels.tree import composite_records
from mbplugin.dynamics.tree_model import TreeModel, tree_model
from mbplugin.model.brakes import JointBrake
from mbplugin.model.scene import Payload
from mbplugin.model.spatial import AnyArray, Array, Pose
from mbplugin.simulation.active_set.stick_slip import breaking_address
from mbplugin.simulation.events.passing_marks import BEYOND
from mbplugin.simulation.events.watch import EVENT_FUNCTION
from mbplugin.simulation.integrators.methods.dopri5 import INTEGRATOR
from mbplugin.simulation.steppers.evaluate import (
    FORWARD_DYNAMICS,
    KINEMATICS,
    evaluate_at,
)
from mbplugin.simulation.steppers.kernel_state import (
    MOTION_SEGMENT,
    KernelState,
    arrays_of,
    kernel_state_of,
    words_of,
)
from mbplugin.stopping.compiled.joints import STOPPING
from mbplugin.stopping.compiled.loop import (
    BROKEN,
    LIMIT,
    MOVING,
    STEPS,
    STOPPED,
    UNDECIDED,
    called_addresses,
    compiled_loop,
    workspace_for_stop,
)
from mbplugin.stopping.outcome.outcome import StopOutcome, slipped_back
from mbplugin.stopping.outcome.tool_path import path_length, turning_points
from mbplugin.stopping.scenario.ramps import Ramps
from mbplugin.stopping.scenario.scenario import Scenario

_OUTCOMES: dict[int, StopOutcome] = {
    STOPPED: "stopped",
    LIMIT: "limit_hit",
    MOVING: "not_stopped",
    BROKEN: "not_stopped",
}


@dataclass(frozen=True, eq=False)
class StopSummary:
    """What a stop comes to, joint by joint in the order of the brakes.

    Parameters
    ----------
    time : float
        To rest, s.
    times, travels, reaction_travels, back : (n,) array
        s from the signal; rad or m.
    tool_distance : float
        Length of the tool's path from the signal to rest, m.
    tool_displacement : float
        Straight, between the tool's places at the signal and at rest, m.
    """

    outcome: StopOutcome
    time: float
    times: Array
    travels: Array
    reaction_travels: Array
    back: Array
    tool_distance: float
    tool_displacement: float
    evaluations: int


class CompiledStop:
    """A robot that is stopped many times.

    Parameters
    ----------
    scenario : Scenario
        Of a robot for which :func:`~mbplugin.stopping.compiled.support.supports_compiled_stop` holds.
    """

    def __init__(self, scenario: Scenario, rtol: float = 1e-6, atol: float = 1e-8) -> None:
        self.scenario, self.rtol, self.atol = scenario, rtol, atol
        forces = tuple(brake.force() for brake in scenario.brakes)
        actions = replace(scenario.actions, brakes=forces)
        self.model = tree_model(scenario.mech, actions, q=scenario.q)
        self._s = _stopping(self.model, scenario)
        self._own = [n for n, _ in self.model.brakes]
        self._free_laws = [law_of(self._s[n]["free"]) for n in self._own]
        bare = find_composites(scenario.mech)
        self._bare = composite_records(scenario.mech, bare)
        self._masses = carried_masses(scenario.mech, bare.of_body, bare.X_KL, len(bare.composites))
        n, nv = len(self._s), len(self.model.rates)
        self._kernel_state = _with_workspace(
            kernel_state_of(self.model, np.zeros(0, MOTION_SEGMENT), np.zeros(n, np.int64)), n, nv
        )
        self._words = np.array(words_of(self._kernel_state), dtype=np.int64)
        self._workspace = workspace_for_stop(n, nv)
        self._workspace_words = np.array(words_of(self._workspace), dtype=np.int64)
        self._method = INTEGRATOR.tableau.table
        self._rows, self._event_functions = (
            self._kernel_state.independent_rows,
            np.zeros(3 * n, EVENT_FUNCTION),
        )
        self._rest = np.zeros(nv)
        self._rates = self._s["rate"][self._own]
        self._order = np.argsort(self._rates)
        self._pieces = np.zeros((STEPS + 2, 7, nv))
        #: The motion of the last stop, see :func:`path_length`; the next one overwrites it.
        self.pieces = self._pieces
        self._tool = self.model.composites_of.frame(
            scenario.mech, scenario.tool, Pose(np.eye(3), scenario.tool_point)
        )
        self.set_brakes(scenario.brakes)

    def set_brakes(self, brakes: tuple[JointBrake, ...]) -> None:
        """Give the brakes, on the same joints, other numbers."""
        laws = [free + brake.law for free, brake in zip(self._free_laws, brakes, strict=True)]
        store_laws(self._s["braked"], laws, self._own)
        self._s["power_off"][self._own] = [brake.delay for brake in brakes]
        self._s["engagement_time"][self._own] = [brake.engagement_time for brake in brakes]

    def set_payloads(self, payloads: tuple[Payload, ...]) -> None:
        """Carry other payloads."""
        composites, bare = self.model.composites, self._bare
        for name in ("mass", "com", "inertia", "weight"):
            composites[name] = bare[name]
        for k, (mass, com, inertia) in self._masses.with_payloads(payloads).items():
            composites["mass"][k], composites["com"][k], composites["inertia"][k] = mass, com, inertia
            composites["weight"][k] = mass * self.scenario.mech.gravity

    def stop(self, q: Array, qd: Array) -> StopSummary:
        """Return how a stop of category 0 from q (nq,) and qd (nv,) comes out."""
        start, q, qd = np.array(q, dtype=float), np.array(q, dtype=float), np.array(qd, dtype=float)
        ended = self._run(q, qd, self.scenario.duration)
        own, rates = self._s[self._own], self._rates
        reaction = np.where(own["direction"] != 0.0, own["position_at_braking"], q[rates]) - start[rates]
        back = np.where(
            np.abs(own["direction"]) == 1.0,
            own["max_travel"] - own["direction"] * (q[rates] - own["position_at_braking"]),
            0,
        )
        return self._stopped(ended, (start, q), own["rest"].copy(), reaction, back, self._pieces)

    def controlled_stop(
        self,
        q: Array,
        qd: Array,
        decelerations: Array,
        reactions: Array | None = None,
        braked: bool = True,
    ) -> StopSummary:
        """Return how a stop of category 1 or 2 comes out: ramps in closed form, then the brakes alone.

        Parameters
        ----------
        q, qd : (nq,), (nv,) array
            rad and m, rad/s and m/s.
        decelerations : (n,) array
            Of the joints with brakes, rad/s² or m/s², positive.
        reactions : (n,) array, optional
            From the signal until each ramp begins, s; by default the delays of the brakes.
        braked : bool
            Whether brakes replace the drives at rest (category 1), or the drives hold the robot.
        """
        start, rates, own = np.array(q, dtype=float), self._rates, self._s[self._own]
        v = np.asarray(qd, dtype=float)[rates]
        delay = own["power_off"] if reactions is None else np.asarray(reactions, dtype=float)
        ramps = Ramps(start[rates], v, delay, np.asarray(decelerations, dtype=float))
        rest = float(ramps.ends.max(initial=0.0))
        limit = ramps.limit_time(own["lower"], own["upper"])
        end = min(rest, limit, self.scenario.duration)
        q = start.copy()
        q[rates] = ramps.at(end)[0]
        times = np.minimum(ramps.ends, end)
        controlled = np.ascontiguousarray(ramps.pieces(end)[:, :, self._order])
        reaction = v * np.minimum(delay, end)
        if end < rest:
            ended = (LIMIT if end == limit else MOVING, end, 0)
            return self._stopped(ended, (start, q), times, reaction, np.zeros(len(v)), controlled)
        if not braked:
            return self._stopped((STOPPED, end, 0), (start, q), times, reaction, np.zeros(len(v)), controlled)
        status, time, count = self._braked(q, self.scenario.duration - end)
        slipped = self._s[self._own]["rest"]
        times = np.where(slipped > 0.0, end + slipped, times)
        slipping = self._pieces[: int((self._pieces[:, 0, 0] <= 0.0).argmax())]
        pieces = np.concatenate((controlled[controlled[:, 0, 0] > 0.0], slipping))
        # a braked joint turns at the end of a piece
        back = (np.sign(v) * (pieces[:, 4, rates] - q[rates])).max(axis=0, initial=0.0)
        return self._stopped((status, end + time, count), (start, q), times, reaction, back, pieces)

    def _braked(self, q: Array, duration: float) -> tuple[int, float, int]:
        """Move q (nq,) in place from rest: brakes are signalled, power goes off when the last is engaged."""
        delays, engagement_time = self._s["power_off"].copy(), self._s["engagement_time"].copy()
        engagement = (engagement_time - delays)[self._own]
        self._s["power_off"][self._own] = engagement.max(initial=0.0)
        self._s["engagement_time"][self._own] = engagement
        try:
            return self._run(q, np.zeros(len(q)), duration)
        finally:
            self._s["power_off"], self._s["engagement_time"] = delays, engagement_time

    def _run(self, q: Array, qd: Array, duration: float) -> tuple[int, float, int]:
        """Move q and qd (nv,) in place to rest; return how it ends, when (s), and the number of evaluations."""
        addresses, now = called_addresses(), self._workspace.now
        for _ in range(2):
            for array in arrays_of(self._workspace):
                array.fill(0)
            now.q[:], now.qd[:] = q, qd
            status, time, count = compiled_loop()(
                *(addresses, self._words.ctypes.data, self._words, self._workspace_words.ctypes.data),
                *(self._method, self._rows, self._event_functions, self._s),
                *(duration, self.rtol, self.atol, self.scenario.tolerance, self._pieces),
            )
            if status != UNDECIDED:
                break
            addresses[-1] = breaking_address()
        q[:], qd[:] = now.q, now.qd
        return int(status), float(time), int(count)

    def _stopped(
        self,
        ended: tuple[int, float, int],
        poses: tuple[Array, Array],
        times: Array,
        reaction: Array,
        back: Array,
        pieces: Array,
    ) -> StopSummary:
        """Return the value of a stop from how it ended (status, time, count), first and last pose, motion.

        ``times``, ``reaction`` and ``back`` (n,) are those of :class:`StopSummary`, s, rad and m; ``pieces`` (k, 7, nv)
        are the motion, see :func:`path_length`.
        """
        (status, time, count), (start, end) = ended, poses
        self.pieces = pieces
        travels = end[self._rates] - start[self._rates]
        outcome = _OUTCOMES[status]
        if status != LIMIT and slipped_back(back, travels):
            outcome = "slipped_back"
        carrier, X = self._tool
        length = path_length(self.model.composites, self.model.rates, carrier, X.p, pieces)
        displacement = float(np.linalg.norm(self.tool_at(end) - self.tool_at(start)))
        last = float(times.max(initial=0.0)) if status == STOPPED else time
        # a straight path may come out shorter than its chord by rounding
        length = max(float(length), displacement)
        return StopSummary(outcome, last, times, travels, reaction, back, length, displacement, count)

    def to_limits(self) -> float:
        """Return how near the last stop comes to a joint limit, from the first step on, rad or m."""
        own, extremes = self._s[self._own], turning_points(self.pieces)[:, self._rates]
        return float(np.minimum(extremes - own["lower"], own["upper"] - extremes).min(initial=np.inf))

    def holding(self, q: Array) -> Array:
        """Return the forces (n,) that the brakes need to hold a pose q (nq,), N·m and N."""
        m = self._kernel_state
        m.resistances["sense"] = 0.0
        m.independent_rows[:] = m.resistances["row"]
        evaluate_at(m, FORWARD_DYNAMICS, 0.0, np.array(q, dtype=float), np.zeros(len(self.model.rates)))
        return np.array(m.multipliers[self._own])

    def inertias(self, q: Array) -> Array:
        """Return the diagonal of the mass matrix (nv,) at a pose q (nq,), kg·m² and kg."""
        nv = len(self.model.rates)
        evaluate_at(self._kernel_state, KINEMATICS, 0.0, np.array(q, dtype=float), np.zeros(nv))
        M = np.zeros((nv, nv))
        mass_matrix(self.model.composites, self.model.rates, M)
        return np.array(np.diag(M))

    def potential(self, q: Array) -> float:
        """Return the potential energy of gravity at a pose q (nq,), J."""
        self.tool_at(q)
        composites = self.model.composites
        return -float((composites["weight"] * composites["c"]).sum())

    def tool_at(self, q: Array) -> Array:
        """Return the tool's place (3,) at a pose q (nq,), m."""
        move(self.model.composites, self.model.rates, np.asarray(q, dtype=float), self._rest)
        k, X = self._tool
        return np.asarray(self.model.composites["p"][k] + self.model.composites["R"][k] @ X.p)


def _stopping(model: TreeModel, scenario: Scenario) -> AnyArray:
    """Return the joints of a stop as records (n,), in the order of the resistances."""
    s = np.zeros(len(model.resistances), dtype=STOPPING)
    mech = model.mech
    bounds = {
        joint.qd.start: joint.pair.freedoms[0]
        for joint in mech.tree.joints
        if joint.pair is not None and joint.pair.kind.free
    }
    for joint, resistance in zip(s, model.resistances, strict=True):
        joint["rate"] = model.table.rows["rate"][resistance["row"]]
        joint["free"] = joint["braked"] = resistance
        freedom = bounds[int(joint["rate"])]
        watched = scenario.limits == "stop" and freedom.lower < freedom.upper
        # as the runner: at its very limit a joint has not passed it, and may do so with the first step
        joint["lower"] = freedom.lower - BEYOND if watched else -np.inf
        joint["upper"] = freedom.upper + BEYOND if watched else np.inf
    return s


def _with_workspace(kernel_state: KernelState, n: int, nv: int) -> KernelState:
    """Return the kernel state with memory for all resistances to hold."""
    return kernel_state._replace(
        Q=np.zeros((n, nv)), R=np.zeros((n, n)), multipliers=np.zeros(n), gap=np.zeros(n)
    )
