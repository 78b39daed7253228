"""Many category-0 stops of one arm in one compiled call: arrays of starts in, arrays of results out.

Each stop is one call of the loop in :mod:`mbplugin.stopping.compiled`; around it, the same code sets the start, the
brakes and the payloads, and evaluates the motion: travels, times of rest, and the path of the tool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import sqrt
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from mbplugin.dynamics.compiler import (
    Records,
    address_of,
    compiled,
    function_at,
    kernel,
    named_tuple,
    record_array,
)
from mbplugin.dynamics.kernels import move
from mbplugin.dynamics.kernels.solve import RESISTANCE
from mbplugin.model import AnyArray, Array, JointBrake
from mbplugin.simulation.events import EVENT_FUNCTION
from mbplugin.simulation.friction import AT_REST
from mbplugin.simulation.integrators.explicit_loop import METHOD, put
from mbplugin.simulation.kernel_state import INDICES, MATRIX, VECTOR, KernelState, load_struct
from mbplugin.stopping.compiled import (
    BROKEN,
    LIMIT,
    LOOP_SIGNATURE,
    MOVING,
    STOPPED,
    STOPPING,
    UNDECIDED,
    Motion,
    StopWorkspace,
    compiled_loop,
    load_workspace,
)
from mbplugin.stopping.outcome import StopOutcome, StopSummary, slipped_back
from mbplugin.stopping.tool_path import path_length

#: The outcome for each status of the loop; one that gave up counts as still moving.
OUTCOMES: dict[int, StopOutcome] = {
    STOPPED: "stopped",
    LIMIT: "limit_hit",
    MOVING: "not_stopped",
    BROKEN: "not_stopped",
}
#: A joint counts as moving above this rate, rad/s or m/s.
_MOVES = 1e-5
#: A composite body with the payloads that it carries in one stop.
CARRIED = np.dtype(
    [
        ("composite", np.int64),
        ("mass", np.float64),
        ("com", np.float64, (3,)),
        ("inertia", np.float64, (3, 3)),
        ("weight", np.float64, (3,)),
    ],
    align=True,
)
#: The end of a stop: status and time (s) of the loop, number of evaluations, length of the tool's path and straight
#: distance between its ends (m), and the smallest distance to a joint limit (rad or m).
ENDED = np.dtype(
    [
        ("status", np.int64),
        ("time", np.float64),
        ("evaluations", np.int64),
        ("tool_distance", np.float64),
        ("tool_displacement", np.float64),
        ("clearance", np.float64),
    ],
    align=True,
)
#: Rows of the values of the joints of a stop, s from the signal, rad or m: time of rest, travel, travel before
#: braking, and distance slipped back.
TIMES, TRAVELS, REACTIONS, BACK = range(4)


@dataclass(frozen=True, eq=False)
class StopStarts:
    """The starts of many stops of one robot.

    Parameters
    ----------
    q, qd : (k, nq), (k, nv) array
        States at the signal; rad and m, rad/s and m/s.
    torque_factors, delay_factors : (k, n) array
        Factors on the torques and delays of the brakes.
    shares : (k,) array
        Factors on the masses and inertias of the payloads.
    """

    q: Array
    qd: Array
    torque_factors: Array
    delay_factors: Array
    shares: Array

    def __len__(self) -> int:
        return len(self.q)

    def part(self, own: slice | AnyArray) -> StopStarts:
        """Return some of the starts."""
        return StopStarts(
            self.q[own], self.qd[own], self.torque_factors[own], self.delay_factors[own], self.shares[own]
        )

    @classmethod
    def joined(cls, parts: Sequence[StopStarts]) -> StopStarts:
        """Return the starts of several parts, one part after the other."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([part.q for part in parts]),
            np.concatenate([part.qd for part in parts]),
            np.concatenate([part.torque_factors for part in parts]),
            np.concatenate([part.delay_factors for part in parts]),
            np.concatenate([part.shares for part in parts]),
        )

    def brakes(self, k: int, nominal: tuple[JointBrake, ...]) -> tuple[JointBrake, ...]:
        """Return the brakes of stop k."""
        factors = self.torque_factors[k].tolist(), self.delay_factors[k].tolist()
        return tuple(brake.scaled(*own) for brake, *own in zip(nominal, *factors, strict=True))


@dataclass(frozen=True, eq=False)
class Stops:
    """Results of many stops.

    Parameters
    ----------
    ended : (k,) record array
        See ``ENDED``.
    joints : (k, 4, n) array
        Values of the joints, see ``TIMES``.
    duration : float
        Longest time to rest, s.
    others : dict of int to StopSummary
        Stops that were computed otherwise, by number.
    """

    ended: AnyArray
    joints: Array
    duration: float
    others: dict[int, StopSummary] = field(default_factory=dict)

    @classmethod
    def room_for(cls, count: int, n: int, duration: float) -> Stops:
        """Return results, all zero, for a number of stops of n joints with brakes."""
        return cls(np.zeros(count, ENDED), np.zeros((count, 4, n)), duration)

    @classmethod
    def of(cls, stops: Sequence[StopSummary], duration: float) -> Stops:
        """Return the results of stops that were computed one by one."""
        out = cls.room_for(len(stops), len(stops[0].times), duration)
        for k, stop in enumerate(stops):
            out.put(k, stop, 0.0)
        return out

    @classmethod
    def joined(cls, parts: Sequence[Stops]) -> Stops:
        """Return the results of several parts, none of which has stops that were computed otherwise."""
        if len(parts) == 1:
            return parts[0]
        ended = np.concatenate([part.ended for part in parts])
        return cls(ended, np.concatenate([part.joints for part in parts]), parts[0].duration)

    def part(self, own: slice) -> Stops:
        """Return the results of some stops that follow each other."""
        start, stop, _ = own.indices(len(self.ended))
        others = {k - start: one for k, one in self.others.items() if start <= k < stop}
        return Stops(self.ended[own], self.joints[own], self.duration, others)

    @property
    def is_broken(self) -> AnyArray:
        """The stops (k,) that are too stiff for the loop."""
        return np.asarray(self.ended["status"] == BROKEN)

    @property
    def outcomes(self) -> list[StopOutcome]:
        """The outcome of each stop."""
        back = slipped_back(self.joints[:, BACK], self.joints[:, TRAVELS]) & (self.ended["status"] != LIMIT)
        found: list[StopOutcome] = [
            "slipped_back" if slips else OUTCOMES[status]
            for slips, status in zip(back.tolist(), self.ended["status"].tolist(), strict=True)
        ]
        for k, stop in self.others.items():
            found[k] = stop.outcome
        return found

    @property
    def times(self) -> Array:
        """The time (k,) of each stop from the signal to rest, s."""
        at_rest = self.joints[:, TIMES].max(axis=-1, initial=0.0)
        ends = np.where(self.is_broken, self.duration, self.ended["time"])
        found = np.where(self.ended["status"] == STOPPED, at_rest, ends)
        for k, stop in self.others.items():
            found[k] = stop.time
        return found

    def summary(self, k: int) -> StopSummary:
        """Return the result of stop k."""
        if k in self.others:
            return self.others[k]
        one = Stops(self.ended[k : k + 1], self.joints[k : k + 1], self.duration)
        end, values = self.ended[k], self.joints[k]
        return StopSummary(
            one.outcomes[0],
            float(one.times[0]),
            values[TIMES],
            values[TRAVELS],
            values[REACTIONS],
            values[BACK],
            float(end["tool_distance"]),
            float(end["tool_displacement"]),
            int(end["evaluations"]),
        )

    def put(self, k: int, stop: StopSummary, clearance: float) -> None:
        """Replace the result of stop k; ``clearance`` is the smallest distance to a joint limit, rad or m."""
        self.others[k] = stop
        self.joints[k] = stop.times, stop.travels, stop.reaction_travels, stop.back
        path = stop.tool_distance, stop.tool_displacement
        self.ended[k] = (self.ended["status"][k], stop.time, stop.evaluations, *path, clearance)


class Settings(NamedTuple):
    """What the stops of one call share.

    Parameters
    ----------
    end, rtol, atol, tolerance : float
        As for :func:`~mbplugin.stopping.compiled.stop_loop`.
    carrier : int
        Index of the composite body that carries the tool.
    """

    end: float
    rtol: float
    atol: float
    tolerance: float
    carrier: int


def stop_many(
    loop: int,
    addresses: AnyArray,
    place: int,
    words: AnyArray,
    workspace_place: int,
    method: Records,
    rows: AnyArray,
    event_functions: Records,
    s: Records,
    settings: Settings,
    path_place: int,
    point: Array,
    own: AnyArray,
    pieces: Array,
    first: int,
    q: Array,
    qd: Array,
    braked: Records,
    power_off: Array,
    engagement: Array,
    carried: Records,
    ended: Records,
    joints: Array,
) -> int:
    """Compute stops from number ``first`` on; return the number of the first that is not decided, or of all.

    Parameters
    ----------
    loop : int
        Address of the compiled :func:`~mbplugin.stopping.compiled.stop_loop`, whose arguments the next ones are.
    addresses, words, rows : (6,), (w,), (n,) array of int
    pieces : (STEPS + 2, 7, nv) array
    path_place : int
        Address of a :class:`~mbplugin.stopping.tool_path.PathWorkspace` of the tree.
    point : (3,) array
        The tool in the frame of the composite body that carries it, m.
    own : (n,) array of int
        Index of the joint of each brake in ``s``.
    q, qd : (k, nv), (k, nv) array
        Starts; rad and m, rad/s and m/s.
    braked : (k, n) record array
        Resistance of each joint after its brake engages.
    power_off, engagement : (k, n) array
        Times at which drives are powered off and brakes engage, s.
    carried : (k, c) record array
        Composite bodies with payloads, see ``CARRIED``.
    ended : (k,) record array
        Filled with the ends of the stops, see ``ENDED``.
    joints : (k, 4, n) array
        Filled with the values of the joints, see ``TIMES``.
    """
    run, m, workspace = _loop_from(loop), load_struct(place), load_workspace(workspace_place)
    for k in range(first, len(q)):
        put_start(s, own, braked[k], power_off[k], engagement[k], m, carried[k], q[k], qd[k], workspace)
        status, time, count = run(
            addresses,
            place,
            words,
            workspace_place,
            method,
            rows,
            event_functions,
            s,
            settings.end,
            settings.rtol,
            settings.atol,
            settings.tolerance,
            pieces,
        )
        if status == UNDECIDED:
            return k
        put_end(
            (status, time, count),
            s,
            settings,
            m,
            path_place,
            point,
            own,
            pieces,
            q[k],
            workspace,
            ended[k],
            joints[k],
        )
    return len(q)


@kernel
def put_start(
    s: Records,
    own: AnyArray,
    braked: Records,
    power_off: Array,
    engagement: Array,
    m: KernelState,
    carried: Records,
    q: Array,
    qd: Array,
    workspace: StopWorkspace,
) -> None:
    """Set brakes, payloads and state of one stop; arguments as for :func:`stop_many`, those of this stop only.

    ``own``, ``power_off`` and ``engagement`` (n,); ``q`` and ``qd`` (nv,).
    """
    for n in range(len(own)):
        joint = s[own[n]]
        joint.braked = braked[n]
        joint.power_off, joint.engagement_time = power_off[n], engagement[n]
    for n in range(len(carried)):
        _load(m.composites, carried[n])
    friction, counts = workspace.friction, workspace.counts
    for n in range(len(s)):
        friction.acting[n] = friction.resting[n] = friction.sticking[n] = friction.carrying[n] = False
    counts[0] = counts[1] = 0.0
    _start_at(q, qd, workspace.now)


@kernel
def put_end(
    found: tuple[int, float, int],
    s: Records,
    settings: Settings,
    m: KernelState,
    path_place: int,
    point: Array,
    own: AnyArray,
    pieces: Array,
    start: Array,
    workspace: StopWorkspace,
    end: Records,
    joints: Array,
) -> None:
    """Fill the end of a stop and the values of its joints from what the loop returned.

    Arguments as for :func:`stop_many`, those of this stop only: ``point`` (3,), ``own`` (n,), ``pieces``
    (STEPS + 2, 7, nv), ``start`` (nv,), rad and m, and ``joints`` (4, n).
    """
    status, time, count = found
    now, old = workspace.now, workspace.old
    if status == STOPPED and only_slows_down(s, pieces):
        status, time = MOVING, settings.end
    for n in range(len(own)):
        _joint_values(s[own[n]], now, start, status, time, settings.end, joints[:, n])
    end.status, end.time, end.evaluations = status, time, count
    _tool_path(m.composites, m.rates, path_place, settings.carrier, point, pieces, start, now, old, end)
    end.clearance = clearance(s, pieces)


@kernel
def _start_at(q: Array, qd: Array, now: Motion) -> None:
    """Set a state to q (nv,), qd (nv,) without accelerations and work."""
    put(q, now.q)
    put(qd, now.qd)
    for j in range(len(q)):
        now.qdd[j] = 0.0
    for i in range(3):
        now.work[i] = 0.0


@kernel
def _load(composites: Records, carried: Records) -> None:
    """Set mass, centre of mass, inertia and weight of a composite body."""
    body = composites[carried.composite]
    body.mass = carried.mass
    for i in range(3):
        body.com[i], body.weight[i] = carried.com[i], carried.weight[i]
        for j in range(3):
            body.inertia[i, j] = carried.inertia[i, j]


@kernel
def only_slows_down(s: Records, pieces: Array) -> bool:
    """Return True if a joint that no static force holds has moved: its rate decays but never reaches zero.

    ``s`` (n,) are the joints, ``pieces`` (k, 7, nv) the motion.
    """
    for n in range(len(s)):
        if s[n].braked.static == 0.0:
            j, k = s[n].rate, 0
            while pieces[k, 0, 0] > 0.0:
                if abs(pieces[k, 2, j]) > _MOVES or abs(pieces[k, 5, j]) > _MOVES:
                    return True
                k += 1
    return False


@kernel
def _joint_values(
    joint: Records, now: Motion, start: Array, status: int, time: float, longest: float, out: Array
) -> None:
    """Fill ``out`` (4,) with the values of a joint, see ``TIMES``, from its record and ``start`` (nv,), rad and m."""
    j = joint.rate
    moved = now.q[j] - joint.position_at_braking
    # a joint that still moves where the loop gave up counts as moving to the end
    out[TIMES] = longest if status == BROKEN and joint.rest >= time else joint.rest
    out[TRAVELS] = now.q[j] - start[j]
    out[REACTIONS] = (joint.position_at_braking if joint.direction != 0.0 else now.q[j]) - start[j]
    out[BACK] = joint.max_travel - joint.direction * moved if abs(joint.direction) == 1.0 else 0.0


@kernel
def _tool_path(
    composites: Records,
    rates: Records,
    path_place: int,
    carrier: int,
    point: Array,
    pieces: Array,
    start: Array,
    now: Motion,
    old: Motion,
    end: Records,
) -> None:
    """Fill the tool's distance and displacement of a stop from ``start`` (nv,) to now; ``old`` becomes a state at rest.

    ``point`` (3,) is the tool in the frame of its composite body, m; ``pieces`` (k, 7, nv) are the motion.
    """
    length = path_length(path_place, carrier, point, pieces)
    for j in range(len(start)):
        old.qd[j] = 0.0
    move(composites, rates, now.q, old.qd)
    x, y, z = _position(composites, carrier, point)
    move(composites, rates, start, old.qd)
    u, v, w = _position(composites, carrier, point)
    end.tool_displacement = sqrt((x - u) * (x - u) + (y - v) * (y - v) + (z - w) * (z - w))
    # rounding may make a straight path shorter than its chord
    end.tool_distance = max(length, end.tool_displacement)


@kernel
def _position(composites: Records, carrier: int, point: Array) -> tuple[float, float, float]:
    """Return the position of a point (3,) of a composite body, m."""
    body = composites[carrier]
    R, x, y, z = body.R, point[0], point[1], point[2]
    return (
        body.p[0] + R[0, 0] * x + R[0, 1] * y + R[0, 2] * z,
        body.p[1] + R[1, 0] * x + R[1, 1] * y + R[1, 2] * z,
        body.p[2] + R[2, 0] * x + R[2, 1] * y + R[2, 2] * z,
    )


@kernel
def clearance(s: Records, pieces: Array) -> float:
    """Return the smallest distance of a motion, ``pieces`` (k, 7, nv), to a limit of the joints s (n,), rad or m.

    A motion comes nearest at the ends of pieces, and where rates vanish: there the acceleration is taken as constant.
    """
    least = np.inf
    for n in range(len(s)):
        j, k = s[n].rate, 0
        while k < len(pieces) and pieces[k, 0, 0] > 0.0:
            v, last, at = pieces[k, 2, j], pieces[k, 5, j], pieces[k, 1, j]
            # a rate that ends as zero up to rounding has no sign
            if v * last < 0.0 and abs(last) > AT_REST:
                at += 0.5 * pieces[k, 0, 0] * v * v / (v - last)
            for x in (at, pieces[k, 4, j]):
                least = min(least, x - s[n].lower, s[n].upper - x)
            k += 1
    return least


# The compiled function.

#: Compiler's type of the settings.
SETTINGS = named_tuple([types.float64] * 4 + [types.int64], Settings)
#: In the compiled function: get the loop from its address.
_loop_from = function_at(types.FunctionType(LOOP_SIGNATURE))


@lru_cache(maxsize=1)
def loop_address() -> int:
    """Return the address of the compiled loop."""
    return address_of(compiled_loop(), LOOP_SIGNATURE)


@lru_cache(maxsize=1)
def compiled_stops() -> Any:
    """Return the compiled :func:`stop_many`; its first argument is :func:`loop_address`."""
    joints, functions = record_array(STOPPING), record_array(EVENT_FUNCTION)
    many: Any = [numba.from_dtype(kind)[:, ::1] for kind in (RESISTANCE, CARRIED)]
    signature = types.int64(
        *(types.intp, INDICES, types.intp, INDICES, types.intp, METHOD, INDICES, functions, joints),
        *(SETTINGS, types.intp, VECTOR, INDICES, types.float64[:, :, ::1], types.int64, MATRIX, MATRIX),
        *(many[0], MATRIX, MATRIX, many[1], record_array(ENDED), types.float64[:, :, ::1]),
    )
    return compiled(stop_many, signature, in_threads=True)
