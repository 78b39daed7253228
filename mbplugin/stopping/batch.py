"""Compute many stops of one robot: the model is built once, and each stop is one call of the compiled loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from operator import is_
from threading import Lock
from typing import Protocol

import numpy as np

from mbplugin.dynamics.compiler import arrays_of, words_of
from mbplugin.dynamics.kernels import move
from mbplugin.dynamics.kernels.articulated import mass_matrix
from mbplugin.dynamics.kernels.composite_bodies import carried_masses, composite_records, find_composites
from mbplugin.dynamics.kernels.solve import RESISTANCE, law_of, store_laws
from mbplugin.dynamics.tree_model import TreeModel, tree_model
from mbplugin.errors import BadUsage, MbPluginError
from mbplugin.model import AnyArray, Array, JointBrake, Payload, Pose, TreeJoint
from mbplugin.model.brake_law import SCALED
from mbplugin.phrases import listed
from mbplugin.simulation.events import EVENT_FUNCTION
from mbplugin.simulation.friction import breaking_address
from mbplugin.simulation.kernel_state import (
    FORWARD_DYNAMICS,
    KINEMATICS,
    MOTION_SEGMENT,
    KernelState,
    evaluate_at,
    kernel_state_of,
)
from mbplugin.simulation.options import ctrl_c_waits
from mbplugin.simulation.passing_marks import BEYOND
from mbplugin.stopping import compiled, many
from mbplugin.stopping.evaluation import summarise
from mbplugin.stopping.lanes import LanesStarts
from mbplugin.stopping.outcome import StopSummary, slipped_back
from mbplugin.stopping.run import run_stop
from mbplugin.stopping.scenario import Scenario
from mbplugin.stopping.scenario.drives import Ramps
from mbplugin.stopping.side_by_side import ALONE, StopLanes, compiled_lanes
from mbplugin.stopping.tool_path import path_length, path_workspace
from mbplugin.stopping.zones import StopMotion, motion_of_pieces

#: Least number of stops that are worth a thread, and of those in one call that are computed in the lanes of vectors:
#: the code for these is compiled in seconds once, and the last stops leave lanes empty.
_LEAST_PER_THREAD, LEAST_IN_LANES = 8, 24
_COMPILING = Lock()
#: Most numbers of the pieces of ramps that are computed at a time, 2 MB.
_MOST_NUMBERS = 250_000
#: The parameters of a joint that a brake changes, and those of a composite body that a payload changes.
_OF_BRAKES = ("braked", "power_off", "engagement_time")
_OF_PAYLOADS = ("mass", "com", "inertia", "weight")


# Stops of one robot in any category, each with its own brakes and payloads, computed by the compiled loop.


class ArmStops(Protocol):
    """Computes many stops of one arm, each from its own state, with the current brakes and payloads."""

    scenario: Scenario

    @property
    def chain(self) -> tuple[TreeJoint, ...]:
        """The independent joints that move the tool, from the ground outwards."""

    @property
    def varied(self) -> tuple[TreeJoint, ...]:
        """The independent joints: their coordinates determine the pose."""

    @property
    def weight(self) -> float:
        """Sum of the components of the weight of all bodies, as an absolute value, N."""

    def set_brakes(self, brakes: tuple[JointBrake, ...]) -> None:
        """Replace the parameters of the brakes, which stay on the same joints."""

    def set_payloads(self, payloads: tuple[Payload, ...]) -> None:
        """Replace the payloads."""

    def stop(self, q: Array, qd: Array) -> StopSummary:
        """Return the result of a category-0 stop from q (nq,) and qd (nv,); rad and m, rad/s and m/s."""

    def controlled_stop(
        self,
        q: Array,
        qd: Array,
        decelerations: Array,
        reactions: Array | None = None,
        braked: bool = True,
    ) -> StopSummary:
        """Return the result of a stop of category 1 or 2 from q (nq,) and qd (nv,).

        ``decelerations`` and ``reactions`` (n,) are those of the joints with brakes, rad/s² or m/s², and s.
        """

    def motion(self, q: Array) -> StopMotion:
        """Return the motion of the last stop, which began at q (nq,)."""

    def to_limits(self) -> float:
        """Return the smallest distance to a joint limit during the last stop, rad or m."""

    def closed(self, q: Array) -> Array | None:
        """Return the pose (nq,) whose independent coordinates are those of q (nq,); None if there is none."""

    def toward(self, q: Array) -> Array:
        """Return the pose (nq,) nearest to q (nq,) on the way from the pose of the scenario."""

    def starts(self, q: Array, joints: Sequence[str], speeds: Array) -> tuple[Array, Array]:
        """Return the poses (k, nq) nearest to q (k, nq), and the rates (k, nv) for ``speeds`` (k, m) of m joints."""

    def rates(self, q: Array, speeds: Mapping[str, float]) -> Array:
        """Return the rates (nv,) at q (nq,) if the named independent joints move, rad/s or m/s, and others stand."""

    def inertias(self, q: Array) -> Array:
        """Return the inertias (nv,) that the joints move at q (nq,), kg·m² and kg."""

    def potential(self, q: Array) -> float:
        """Return the gravitational potential energy at a pose q (nq,), J."""

    def tool_at(self, q: Array) -> Array:
        """Return the tool's position (3,) at a pose q (nq,), m."""


class ArmStopper:
    """Computes stops of an arm in the category of its scenario, each with its own brakes and payloads.

    Parameters
    ----------
    jobs : int
        Number of threads in which :meth:`stops` computes many stops of category 0; the results do not depend on it.
    """

    def __init__(self, arm: ArmStops, jobs: int = 1) -> None:
        self.scenario, self.arm, self._jobs = arm.scenario, arm, jobs
        self._helpers: list[CompiledStop] = []

    def stop(
        self, q: Array, qd: Array, brakes: tuple[JointBrake, ...], payloads: tuple[Payload, ...]
    ) -> StopSummary:
        """Return the result of a stop from q (nq,) and qd (nv,); rad and m, rad/s and m/s."""
        self.arm.set_brakes(brakes)
        self.arm.set_payloads(payloads)
        if self.scenario.category == 0:
            with ctrl_c_waits():
                return self.arm.stop(q, qd)
        ramps = self.scenario.decelerations_at(q, qd, brakes, lambda: self.arm.inertias(q))
        decelerations = np.array([ramps[brake.joint] for brake in brakes])
        with ctrl_c_waits():
            return self.arm.controlled_stop(q, qd, decelerations, braked=self.scenario.category == 1)

    def stops(self, starts: many.StopStarts, payloads: tuple[Payload, ...]) -> many.Stops:
        """Return the results of stops from k starts, with factors on the brakes of the scenario and on payloads."""
        brakes = self.scenario.brakes
        if isinstance(self.arm, CompiledStop) and self.scenario.category:
            return self.arm.controlled_stops(starts, brakes, payloads, self.scenario.category == 1)
        if isinstance(self.arm, CompiledStop):
            helpers = max(min(self._jobs, len(starts) // _LEAST_PER_THREAD) - 1, 0)
            while len(self._helpers) < helpers:
                self._helpers.append(self.arm.another())
            with ctrl_c_waits():
                return self.arm.stops(starts, brakes, payloads, self._helpers[:helpers])
        out = many.Stops.room_for(len(starts), len(brakes), self.scenario.duration)
        for k in range(len(starts)):
            carried = tuple(payload.scaled(float(starts.shares[k])) for payload in payloads)
            stop = self.stop(starts.q[k], starts.qd[k], starts.brakes(k, brakes), carried)
            out.put(k, stop, self.arm.to_limits())
        return out


class CompiledStop:
    """Computes many stops of one robot, whose model is built once.

    Parameters
    ----------
    scenario : Scenario
        One for which :func:`~mbplugin.stopping.batch.supports_compiled_stop` is true.
    patient : bool
        Whether a stop too stiff for the compiled loop is left to the runner, which may take minutes. Otherwise such
        a stop counts as still moving at its longest time, which is enough for a fit.
    """

    def __init__(
        self, scenario: Scenario, rtol: float = 1e-6, atol: float = 1e-8, *, patient: bool = True
    ) -> None:
        self._patient = patient
        self.scenario, self.rtol, self.atol = scenario, rtol, atol
        self._brakes, self._payloads = tuple[JointBrake, ...](), tuple[Payload, ...]()
        self._nominal = dict[str, AnyArray]()
        forces = tuple(brake.force() for brake in scenario.brakes)
        actions = replace(scenario.actions, brakes=forces)
        self.model = tree_model(scenario.mech, actions, q=scenario.q)
        self._s = _stopping(self.model, scenario)
        self._own = [n for n, _ in self.model.brakes]
        self._own_indices = np.array(self._own, dtype=np.int64)
        self._free_laws = [law_of(self._s[n]["free"]) for n in self._own]
        bare = find_composites(scenario.mech)
        records = composite_records(scenario.mech, bare)
        self._bare = self._loaded = {name: records[name].copy() for name in _OF_PAYLOADS}
        self._masses = carried_masses(scenario.mech, bare.of_body, bare.X_KL, len(bare.composites))
        n, nv = len(self._s), len(self.model.rates)
        self._kernel_state = _with_workspace(
            kernel_state_of(self.model, np.zeros(0, MOTION_SEGMENT), np.zeros(n, np.int64)), n, nv
        )
        self._words = np.array(words_of(self._kernel_state), dtype=np.int64)
        self._path = path_workspace(self.model.composites, self.model.rates)
        self._path_words = np.array(words_of(self._path), dtype=np.int64)
        self._workspace = compiled.workspace_for_stop(n, nv)
        self._workspace_words = np.array(words_of(self._workspace), dtype=np.int64)
        self._method = compiled.methods()
        self._rows, self._event_functions = (
            self._kernel_state.independent_rows,
            np.zeros(3 * n, EVENT_FUNCTION),
        )
        self._rest = np.zeros(nv)
        self._rates = self._s["rate"][self._own]
        self._order = np.argsort(self._rates)
        self._pieces = np.zeros((compiled.STEPS + 2, 7, nv))
        #: The motion of the last stop, see :func:`~mbplugin.stopping.tool_path.path_length`, until the next one.
        self.pieces = self._pieces
        self._tool = self.model.composites_of.frame(
            scenario.mech, scenario.tool, Pose(np.eye(3), scenario.tool_point)
        )
        self.set_brakes(scenario.brakes)
        self.set_payloads(scenario.actions.payloads)

    @property
    def chain(self) -> tuple[TreeJoint, ...]:
        """The joints that move the tool, from the ground outwards."""
        way = self.scenario.mech.tree.way_in(self.scenario.tool)
        return tuple(reversed([joint for joint in way if joint.pair is not None and joint.pair.kind.free]))

    @property
    def varied(self) -> tuple[TreeJoint, ...]:
        """All joints: each moves by itself."""
        return tuple(j for j in self.scenario.mech.tree.joints if j.pair is not None and j.pair.kind.free)

    @property
    def weight(self) -> float:
        """Sum of the components of the weight of all bodies, as an absolute value, N."""
        return abs(float(self.model.composites["weight"].sum()))

    def set_brakes(self, brakes: tuple[JointBrake, ...]) -> None:
        """Replace the parameters of the brakes, which stay on the same joints."""
        own = self._own
        if brakes is self._brakes:
            # many stops in one call leave those of the last one
            for name, values in self._nominal.items():
                self._s[name][own] = values
            return
        self._brakes = brakes
        laws = [free + brake.law for free, brake in zip(self._free_laws, brakes, strict=True)]
        store_laws(self._s["braked"], laws, own)
        self._s["power_off"][own] = [brake.delay for brake in brakes]
        self._s["engagement_time"][own] = [brake.engagement_time for brake in brakes]
        self._nominal = {}

    def set_payloads(self, payloads: tuple[Payload, ...]) -> None:
        """Replace the payloads."""
        composites, now = self.model.composites, self._payloads
        if len(now) != len(payloads) or not all(map(is_, now, payloads)):
            self._payloads, loaded = payloads, {name: values.copy() for name, values in self._bare.items()}
            for k, (mass, com, inertia) in self._masses.with_payloads(payloads).items():
                loaded["mass"][k], loaded["com"][k], loaded["inertia"][k] = mass, com, inertia
                loaded["weight"][k] = mass * self.scenario.mech.gravity
            self._loaded = loaded
        for name, values in self._loaded.items():
            composites[name] = values

    def stop(self, q: Array, qd: Array) -> StopSummary:
        """Return the result of a category-0 stop from q (nq,) and qd (nv,)."""
        one, s, own = np.ones((1, len(self._own))), self._s, self._own
        starts = many.StopStarts(
            np.array([q], dtype=float), np.array([qd], dtype=float), one, one, np.ones(1)
        )
        times = s["power_off"][None, own], s["engagement_time"][None, own]
        stops = self._computed(starts, s["braked"][None, own], times, np.zeros((1, 0), many.CARRIED))
        if stops.is_broken[0] and self._patient:
            return self._by_the_runner(starts.q[0], starts.qd[0])
        self.pieces = self._pieces
        return stops.summary(0)

    def another(self) -> CompiledStop:
        """Return one for the same scenario with a memory of its own, for another thread."""
        return CompiledStop(self.scenario, self.rtol, self.atol, patient=self._patient)

    def stops(
        self,
        starts: many.StopStarts,
        brakes: tuple[JointBrake, ...],
        payloads: tuple[Payload, ...],
        helpers: Sequence[CompiledStop] = (),
    ) -> many.Stops:
        """Return the results of category-0 stops from k starts, with factors on these brakes and payloads.

        Each of the ``helpers``, see :meth:`another`, computes an equal part of them in a thread of its own.
        """
        stops = self._in_threads(starts, brakes, payloads, helpers)
        for k in np.flatnonzero(stops.is_broken).tolist() if self._patient else ():
            self.set_brakes(starts.brakes(k, brakes))
            self.set_payloads(tuple(payload.scaled(float(starts.shares[k])) for payload in payloads))
            stops.put(k, self._by_the_runner(starts.q[k], starts.qd[k]), self.to_limits())
        self.set_brakes(brakes)
        self.set_payloads(payloads)
        return stops

    def _in_threads(
        self,
        starts: many.StopStarts,
        brakes: tuple[JointBrake, ...],
        payloads: tuple[Payload, ...],
        helpers: Sequence[CompiledStop],
    ) -> many.Stops:
        """Return the results of the compiled loop for k starts; arguments as for :meth:`stops`."""
        in_lanes = len(starts) >= LEAST_IN_LANES and not len(self.model.springs)
        if not helpers:
            return self._part_of(starts, brakes, payloads, in_lanes)
        # compiled before any thread starts: Ctrl-C interrupts a compilation in the main thread only
        compiled_loops = (compiled_lanes,) if in_lanes else (many.loop_address, many.compiled_stops)
        for prepare in (compiled.called_addresses, *compiled_loops):
            prepare()
        ends = np.linspace(0, len(starts), len(helpers) + 2).astype(int).tolist()
        own, *others = (starts.part(slice(*at)) for at in pairwise(ends))
        waiting = [
            helper._thread.submit(helper._part_of, part, brakes, payloads, in_lanes)
            for helper, part in zip(helpers, others, strict=True)
        ]
        try:
            parts = [self._part_of(own, brakes, payloads, in_lanes)]
        finally:
            # nothing goes on in a thread after the call
            wait(waiting)
        return many.Stops.joined([*parts, *(one.result() for one in waiting)])

    @cached_property
    def _thread(self) -> ThreadPoolExecutor:
        """The thread of a helper, kept for its next call: to start one takes as long as ten stops."""
        return ThreadPoolExecutor(1)

    def _part_of(
        self,
        starts: many.StopStarts,
        brakes: tuple[JointBrake, ...],
        payloads: tuple[Payload, ...],
        in_lanes: bool,
    ) -> many.Stops:
        """Return the results of the compiled loop for k starts, computed side by side with ``in_lanes``."""
        self.set_brakes(brakes)
        self.set_payloads(payloads)
        braked, *times = self._factored(starts)
        return self._computed(
            starts, braked, (times[0], times[1]), self._carried(payloads, starts.shares), in_lanes
        )

    def _factored(self, starts: many.StopStarts) -> tuple[AnyArray, Array, Array]:
        """Return resistances after braking (k, n), and times (k, n) of power-off and engagement, s, with factors."""
        s, own, late = self._s, self._own, starts.delay_factors
        self._nominal = self._nominal or {name: s[name][own] for name in _OF_BRAKES}
        braked = np.empty((len(starts), len(own)), dtype=RESISTANCE)
        braked[:] = s["braked"][own]
        free = s["free"][own]
        for part in SCALED:
            own_laws = np.array([getattr(brake.law, part) for brake in self._brakes])
            braked[part] = free[part] + starts.torque_factors * own_laws
        return braked, late * s["power_off"][own], late * s["engagement_time"][own]

    def _computed(
        self,
        starts: many.StopStarts,
        braked: AnyArray,
        times: tuple[Array, Array],
        carried: AnyArray,
        in_lanes: bool = False,
    ) -> many.Stops:
        """Compute stops in one compiled call; arguments as for :func:`~mbplugin.stopping.many.stop_many`.

        With ``in_lanes`` several are computed side by side, see :mod:`mbplugin.stopping.side_by_side`.
        """
        count, n, addresses = len(starts), len(self._own), compiled.called_addresses()
        if in_lanes:
            return self._side_by_side(starts, braked, times, carried)
        out, settings, point = (
            many.Stops.room_for(count, n, self.scenario.duration),
            self._settings,
            self._tool[1].p,
        )
        done = 0
        while True:
            done = many.compiled_stops()(
                *(many.loop_address(), addresses, self._words.ctypes.data, self._words),
                *(
                    self._workspace_words.ctypes.data,
                    self._method,
                    self._rows,
                    self._event_functions,
                    self._s,
                ),
                *(settings, self._path_words.ctypes.data, point, self._own_indices, self._pieces, done),
                *(np.ascontiguousarray(values) for values in (starts.q, starts.qd, braked, *times, carried)),
                *(out.ended, out.joints),
            )
            if done == count:
                return out
            # one thread compiles it, and the others wait
            with _COMPILING:
                addresses[-1] = breaking_address()

    def _side_by_side(
        self, starts: many.StopStarts, braked: AnyArray, times: tuple[Array, Array], carried: AnyArray
    ) -> many.Stops:
        """Compute stops in the lanes of vectors; arguments as for :func:`~mbplugin.stopping.many.stop_many`."""
        out, addresses = (
            many.Stops.room_for(len(starts), len(self._own), self.scenario.duration),
            compiled.called_addresses(),
        )
        self._lanes.load(self.model.composites, _OF_PAYLOADS, self._s)
        inputs = [np.ascontiguousarray(values) for values in (starts.q, starts.qd, braked, *times, carried)]
        arguments = (
            self._method,
            self._settings,
            self._path_words.ctypes.data,
            self._tool[1].p,
            self._own_indices,
        )
        while not self._lanes.compute(
            addresses, *arguments, LanesStarts._make((*inputs, out.ended, out.joints))
        ):
            with _COMPILING:
                addresses[-1] = breaking_address()
        alone = np.flatnonzero(out.ended["status"] == ALONE)
        if alone.size:
            own = (values[alone] for values in (braked, *times, carried))
            braked, off, engagement, carried = own
            found = self._computed(starts.part(alone), braked, (off, engagement), carried)
            out.ended[alone], out.joints[alone] = found.ended, found.joints
        return out

    @cached_property
    def _lanes(self) -> StopLanes:
        return StopLanes(self._kernel_state, self._workspace, self._s)

    @property
    def _settings(self) -> many.Settings:
        tolerances = self.rtol, self.atol, self.scenario.tolerance
        return many.Settings(self.scenario.duration, *tolerances, self._tool[0])

    def _carried(self, payloads: tuple[Payload, ...], shares: Array) -> AnyArray:
        """Return the ``CARRIED`` records (k, c) of the composite bodies with payloads, for shares (k,) of these."""
        loaded = self._masses.with_shares(payloads, shares)
        out = np.zeros((len(shares), len(loaded)), many.CARRIED)
        for n, (k, (mass, com, inertia)) in enumerate(loaded.items()):
            record = out[:, n]
            record["composite"], record["mass"], record["com"], record["inertia"] = k, mass, com, inertia
            record["weight"] = mass[:, None] * self.scenario.mech.gravity
        return out

    def _by_the_runner(self, q: Array, qd: Array) -> StopSummary:
        """Compute with the runner a category-0 stop from q (nq,) and qd (nv,) that is too stiff for the compiled loop.

        Raises
        ------
        BadUsage
            The runner cannot compute it either.
        """
        scenario = replace(self.scenario, category=0).from_state(q, qd, self._brakes, self._payloads)
        try:
            motion = run_stop(scenario)
        except MbPluginError as error:
            raise BadUsage(
                f"the numbers of a stop are out of range ({error.what})",
                expected="speeds, masses, payloads and brakes of a machine",
                remedy=error.remedy,
            ) from error
        samples = np.stack((motion.q, motion.qd, motion.qdd), axis=1)
        lengths = np.diff(motion.time)
        self.pieces = np.zeros((int((lengths > 0).sum()) + 1, 7, len(qd)))
        self.pieces[:-1, 0, 0] = lengths[lengths > 0]
        self.pieces[:-1, 1:4], self.pieces[:-1, 4:] = samples[:-1][lengths > 0], samples[1:][lengths > 0]
        return summarise(scenario, motion)

    def controlled_stop(
        self,
        q: Array,
        qd: Array,
        decelerations: Array,
        reactions: Array | None = None,
        braked: bool = True,
    ) -> StopSummary:
        """Return the result of a stop of category 1 or 2: ramps in closed form, then the brakes alone.

        Parameters
        ----------
        q, qd : (nq,), (nv,) array
            State at the signal; rad and m, rad/s and m/s.
        decelerations : (n,) array
            Of the joints with brakes, rad/s² or m/s², positive.
        reactions : (n,) array, optional
            Time from the signal until each ramp begins, s; by default the delays of the brakes.
        braked : bool
            Whether brakes replace the drives at rest (category 1); otherwise the drives hold the robot (category 2).

        Raises
        ------
        BadUsage
            A joint that slips after its ramp takes too many steps.
        """
        start, rates, own = np.array(q, dtype=float), self._rates, self._s[self._own]
        v = np.asarray(qd, dtype=float)[rates]
        delay = own["power_off"] if reactions is None else np.asarray(reactions, dtype=float)
        ramps = Ramps(start[rates], v, delay, np.asarray(decelerations, dtype=float))
        rest = float(ramps.ends.max(initial=0.0))
        limit = float(ramps.limit_time(own["lower"], own["upper"]))
        end = min(rest, limit, self.scenario.duration)
        q = start.copy()
        q[rates] = ramps.at(end)[0]
        times = np.minimum(ramps.ends, end)
        controlled = self._ended_by_zero(ramps.pieces(np.array(end)))
        reaction = v * np.minimum(delay, end)
        if end < rest:
            ended = (compiled.LIMIT if end == limit else compiled.MOVING, end, 0)
            return self._stopped(ended, (start, q), times, reaction, np.zeros(len(v)), controlled)
        if not braked:
            return self._stopped(
                (compiled.STOPPED, end, 0), (start, q), times, reaction, np.zeros(len(v)), controlled
            )
        status, time, count = self._braked(q, self.scenario.duration - end)
        if status == compiled.BROKEN:
            raise BadUsage(
                "a joint that slips after its ramp is braked so stiffly that the stop takes too many steps",
                expected="dampings and viscous brakes that stop their joint in more than a thousandth of the stop",
                remedy="compute this stop alone (estop)",
            )
        slipped = self._s[self._own]["rest"]
        times = np.where(slipped > 0.0, end + slipped, times)
        slipping = self._pieces[: int((self._pieces[:, 0, 0] <= 0.0).argmax())]
        pieces = np.concatenate((controlled[controlled[:, 0, 0] > 0.0], slipping))
        # a braked joint reverses only at the end of a piece
        back = (np.sign(v) * (pieces[:, 4, rates] - q[rates])).max(axis=0, initial=0.0)
        return self._stopped((status, end + time, count), (start, q), times, reaction, back, pieces)

    def _ended_by_zero(self, pieces: Array) -> Array:
        """Return pieces (m, 7, n) of the joints with brakes as a motion (k, 7, nv) that a piece of duration 0 ends."""
        pieces = pieces[pieces[:, 0, 0] > 0.0][:, :, self._order]
        return np.concatenate((pieces, np.zeros((1, *pieces.shape[1:]))))

    def controlled_stops(
        self,
        starts: many.StopStarts,
        brakes: tuple[JointBrake, ...],
        payloads: tuple[Payload, ...],
        braked: bool = True,
    ) -> many.Stops:
        """Return the results of stops of category 1 or 2 from k starts, with factors on these brakes and payloads.

        Each is that of :meth:`controlled_stop`: all ramps in closed form at once, and one by one the stops whose brakes
        do not hold the robot at the end of its ramps.
        """
        self.set_brakes(brakes)
        self.set_payloads(payloads)
        scenario, (rates, own) = self.scenario, (self._rates, self._s[self._own])
        delay = starts.delay_factors * own["power_off"]
        joints = [brake.joint for brake in brakes]
        decelerations = scenario.ramp_source.of_many(
            scenario.mech, joints, starts.qd[:, rates], lambda: self._inertias_at(starts, payloads)[:, rates]
        )
        ramps = Ramps(starts.q[:, rates], starts.qd[:, rates], delay, decelerations)
        rest = ramps.ends.max(axis=-1, initial=0.0)
        limit = ramps.limit_time(own["lower"], own["upper"])
        end = np.minimum(np.minimum(rest, limit), scenario.duration)
        last = starts.q.copy()
        last[:, rates] = ramps.at(end[:, None])[0]
        out = many.Stops.room_for(len(starts), len(brakes), scenario.duration)
        early = np.where(end == limit, compiled.LIMIT, compiled.MOVING)
        out.ended["status"], out.ended["time"] = np.where(end < rest, early, compiled.STOPPED), end
        out.joints[:, many.TIMES] = np.minimum(ramps.ends, end[:, None])
        out.joints[:, many.TRAVELS] = last[:, rates] - ramps.q
        out.joints[:, many.REACTIONS] = ramps.v * np.minimum(delay, end[:, None])
        alone, clearance = np.zeros(len(starts), bool), np.full(len(starts), np.inf)
        if braked:
            with ctrl_c_waits():
                holds, out.ended["evaluations"] = self._hold(starts, last, end, payloads)
            alone = (end >= rest) & ~holds
            out.ended["evaluations"][end < rest] = 0
            # the robot rests while its brakes engage, also after a stop in which no joint moves
            rests = (end >= rest) & (own["engagement_time"] > own["power_off"]).any()
            gap = np.minimum(last[:, rates] - own["lower"], own["upper"] - last[:, rates]).min(axis=-1)
            clearance[rests] = gap[rests]
        for k, pieces in self._motions(ramps, end):
            if not alone[k]:
                self.pieces = pieces
                ended, motion = out.ended[k], (starts.q[k], last[k], pieces)
                ended["tool_distance"], ended["tool_displacement"] = self._tool_path(*motion)
                ended["clearance"] = min(self.to_limits(), clearance[k])
        for k in np.flatnonzero(alone).tolist():
            self.set_brakes(starts.brakes(k, brakes))
            self.set_payloads(tuple(payload.scaled(float(starts.shares[k])) for payload in payloads))
            with ctrl_c_waits():
                stop = self.controlled_stop(starts.q[k], starts.qd[k], decelerations[k])
            out.put(k, stop, self.to_limits())
        self.set_brakes(brakes)
        self.set_payloads(payloads)
        return out

    def _motions(self, ramps: Ramps, end: Array) -> Iterator[tuple[int, Array]]:
        """Yield number and pieces (m, 7, nv) of each motion up to its end (k,), s, some motions at a time."""
        n = ramps.q.shape[1]
        some = max(1, _MOST_NUMBERS // (7 * n * (2 * n + 1)))
        for first in range(0, len(end), some):
            own = slice(first, first + some)
            part = Ramps(ramps.q[own], ramps.v[own], ramps.delay[own], ramps.deceleration[own])
            for k, pieces in enumerate(part.pieces(end[own]), first):
                yield k, self._ended_by_zero(pieces)

    def _inertias_at(self, starts: many.StopStarts, payloads: tuple[Payload, ...]) -> Array:
        """Return the inertias (k, nv) that the joints move at the starts, kg·m² and kg."""
        found, carried = [], self._carried(payloads, starts.shares)
        composites = self.model.composites
        for q, bodies in zip(starts.q, carried, strict=True):
            for body in bodies:
                for name in _OF_PAYLOADS:
                    composites[name][body["composite"]] = body[name]
            found.append(self.inertias(q))
        return np.array(found).reshape(starts.q.shape)

    def _hold(
        self, starts: many.StopStarts, q: Array, end: Array, payloads: tuple[Payload, ...]
    ) -> tuple[AnyArray, AnyArray]:
        """Return the stops (k,) whose brakes hold q (k, nv) after end (k,), s, and their numbers of evaluations."""
        braked, off, engagement = self._factored(starts)
        engagement = engagement - off
        off = np.zeros_like(engagement) + engagement.max(axis=-1, keepdims=True, initial=0.0)
        at_rest = replace(starts, q=q, qd=np.zeros_like(q))
        in_lanes = len(starts) >= LEAST_IN_LANES and not len(self.model.springs)
        carried = self._carried(payloads, starts.shares)
        found = self._computed(at_rest, braked, (off, engagement), carried, in_lanes)
        in_time = end + off[:, 0] <= self.scenario.duration
        still = (found.ended["status"] == compiled.STOPPED) & ~found.joints.any(axis=(1, 2))
        return in_time & still, found.ended["evaluations"]

    def _braked(self, q: Array, duration: float) -> tuple[int, float, int]:
        """Move q (nq,) in place from rest: brakes start to engage, and drives are powered off with the last of them."""
        delays, engagement_time = self._s["power_off"].copy(), self._s["engagement_time"].copy()
        engagement = (engagement_time - delays)[self._own]
        self._s["power_off"][self._own] = engagement.max(initial=0.0)
        self._s["engagement_time"][self._own] = engagement
        try:
            return self._run(q, np.zeros(len(q)), duration)
        finally:
            self._s["power_off"], self._s["engagement_time"] = delays, engagement_time

    def _run(self, q: Array, qd: Array, duration: float) -> tuple[int, float, int]:
        """Integrate q (nq,) and qd (nv,) in place to rest; return status, time (s) and number of evaluations."""
        addresses, now = compiled.called_addresses(), self._workspace.now
        for _ in range(2):
            for array in arrays_of(self._workspace._replace(constants=self._workspace.column)):
                array.fill(0)
            now.q[:], now.qd[:] = q, qd
            status, time, count = compiled.compiled_loop()(
                *(addresses, self._words.ctypes.data, self._words, self._workspace_words.ctypes.data),
                *(self._method, self._rows, self._event_functions, self._s),
                *(duration, self.rtol, self.atol, self.scenario.tolerance, self._pieces),
            )
            if status != compiled.UNDECIDED:
                break
            addresses[-1] = breaking_address()
        q[:], qd[:] = now.q, now.qd
        if status == compiled.STOPPED and many.only_slows_down(self._s, self._pieces):
            status, time = compiled.MOVING, duration
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
        """Return the summary of a stop from its end (status, time, count), first and last pose, and motion.

        ``times``, ``reaction`` and ``back`` (n,) are those of :class:`StopSummary`, s, rad and m; ``pieces`` (k, 7, nv)
        are the motion, see :func:`~mbplugin.stopping.tool_path.path_length`.
        """
        (status, time, count), (start, end) = ended, poses
        self.pieces = pieces
        travels = end[self._rates] - start[self._rates]
        outcome = many.OUTCOMES[status]
        if status != compiled.LIMIT and slipped_back(back, travels):
            outcome = "slipped_back"
        last = float(times.max(initial=0.0)) if status == compiled.STOPPED else time
        path = self._tool_path(start, end, pieces)
        return StopSummary(outcome, last, times, travels, reaction, back, *path, count)

    def _tool_path(self, start: Array, end: Array, pieces: Array) -> tuple[float, float]:
        """Return length and chord of the tool path, m, from start (nq,) to end (nq,); pieces (k, 7, nv)."""
        carrier, X = self._tool
        length = path_length(self._path_words.ctypes.data, carrier, X.p, pieces)
        displacement = float(np.linalg.norm(self.tool_at(end) - self.tool_at(start)))
        # rounding may make a straight path shorter than its chord
        return max(float(length), displacement), displacement

    def motion(self, q: Array) -> StopMotion:
        """Return the motion of the last stop, which began at q (nq,)."""
        return motion_of_pieces(q, self.pieces)

    def closed(self, q: Array) -> Array | None:
        """Return a pose q (nq,) itself: no joint follows others."""
        return q

    def toward(self, q: Array) -> Array:
        """Return a pose q (nq,) itself: no joint follows others."""
        return q

    def starts(self, q: Array, joints: Sequence[str], speeds: Array) -> tuple[Array, Array]:
        """Return q (k, nq), and the rates (k, nv) for ``speeds`` (k, m) of the named joints; the others stand."""
        qd = np.zeros((len(q), len(self.model.rates)))
        qd[:, [self.scenario.rate_of(joint) for joint in joints]] = speeds
        return q, qd

    def rates(self, q: Array, speeds: Mapping[str, float]) -> Array:
        """Return the rates (nv,) in which the named joints move, rad/s or m/s, and the others stand; q (nq,)."""
        qd = np.zeros(len(self.model.rates))
        for joint, speed in speeds.items():
            qd[self.scenario.rate_of(joint)] = speed
        return qd

    def to_limits(self) -> float:
        """Return the smallest distance to a joint limit during the last stop, rad or m."""
        return float(many.clearance(self._s, self.pieces))

    def holding(self, q: Array) -> Array:
        """Return the brake forces (n,) that hold a pose q (nq,), N·m and N."""
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
        """Return the gravitational potential energy at a pose q (nq,), J."""
        self.tool_at(q)
        composites = self.model.composites
        return -float((composites["weight"] * composites["c"]).sum())

    def tool_at(self, q: Array) -> Array:
        """Return the tool's position (3,) at a pose q (nq,), m."""
        move(self.model.composites, self.model.rates, np.asarray(q, dtype=float), self._rest)
        k, X = self._tool
        return np.asarray(self.model.composites["p"][k] + self.model.composites["R"][k] @ X.p)


def _stopping(model: TreeModel, scenario: Scenario) -> AnyArray:
    """Return the ``STOPPING`` records (n,) of the joints, in the order of the resistances."""
    s = np.zeros(len(model.resistances), dtype=compiled.STOPPING)
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
        # as in the runner: a joint exactly at its limit has not passed it yet, but may do so in the first step
        joint["lower"] = freedom.lower - BEYOND if watched else -np.inf
        joint["upper"] = freedom.upper + BEYOND if watched else np.inf
    return s


def _with_workspace(kernel_state: KernelState, n: int, nv: int) -> KernelState:
    """Return the kernel state with enough memory for all resistances to hold at once."""
    return kernel_state._replace(
        Q=np.zeros((n, nv)), R=np.zeros((n, n)), multipliers=np.zeros(n), gap=np.zeros(n)
    )


# Stops that the compiled loop supports: those of arms whose joints move independently, each with a brake.


def supports_compiled_stop(scenario: Scenario) -> bool:
    """Return True if the compiled loop can compute a stop: a tree of one-freedom joints, each with a brake."""
    return not next(_obstacles(scenario), "")


def _obstacles(scenario: Scenario) -> Iterator[str]:
    """Yield the reasons, in words, why the compiled loop cannot compute a stop."""
    mech = scenario.mech
    pairs = [joint.pair for joint in mech.tree.joints if joint.pair is not None]
    controlled = {brake.joint for brake in scenario.brakes}
    if len(pairs) < len(mech.tree.joints):
        yield "its base is free"
    yield from (f"{p.name!r} closes a loop" for p in mech.tree.cut)
    yield from (
        f"{c.name!r} couples the joints {listed([term.joint for term in c.terms])}" for c in mech.couplings
    )
    yield from (f"{lock.joint!r} is locked" for lock in mech.locks)
    yield from (f"{driver.joint!r} is driven" for driver in mech.drivers)
    yield from (f"{row.name!r} ties {row.body!r} to the ground" for row in mech.pfaffians)
    yield from (f"{p.name!r} has {len(p.kind.free)} freedoms" for p in pairs if len(p.kind.free) > 1)
    yield from (f"{p.name!r} has no brake" for p in pairs if p.kind.free and p.name not in controlled)
    if any(f.load_friction for pair in mech.pairs for f in pair.freedoms):
        yield "its friction depends on the load"
    if scenario.actions.controller is not None or scenario.qdd.any():
        yield "it is controlled or accelerates at the signal"


def require_compiled_stop(
    scenario: Scenario, instead: str = "use estop for single stops, sweep for many"
) -> None:
    """Require an arm whose joints move independently and all have brakes.

    Raises
    ------
    BadUsage
        The scenario is not an arm that the compiled loop supports; the remedy is to fix its free base, or ``instead``.
    """
    obstacle = next(_obstacles(scenario), "")
    if not obstacle:
        return
    free = any(joint.pair is None for joint in scenario.mech.tree.joints)
    raise BadUsage(
        "stopping tables and worst-stop searches need arms whose joints move independently and have brakes; "
        f"{scenario.mech.name!r}: {obstacle}",
        remedy="fix its base with --base fixed, in Python with mb.load(FILE, base='fixed')"
        if free
        else instead,
    )
