"""Stops of arms whose joints are coupled or close loops: belts, mimics, parallelograms.

Some joints with a brake determine the pose, and the others follow. Each stop is one run of the integrator, as for
``estop``, so that tables and searches take longer than for arms whose joints move independently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.constraints.closure import Closure
from mbplugin.constraints.rank import sample_poses
from mbplugin.dynamics.tree_model import joint_equations, tree_model
from mbplugin.errors import BadUsage
from mbplugin.model import (
    AnyArray,
    AppliedForces,
    Array,
    Driver,
    JointBrake,
    Payload,
    TreeJoint,
    displace,
    follows,
    forward,
)
from mbplugin.phrases import listed
from mbplugin.simulation.friction import choose_rows
from mbplugin.simulation.kernel_state import KINEMATICS, KernelState, evaluate_at, kernel_state_of
from mbplugin.simulation.problem import motion_segments_of, project_state
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.batch import ArmStops, CompiledStop, supports_compiled_stop
from mbplugin.stopping.evaluation import summarise
from mbplugin.stopping.outcome import StopSummary
from mbplugin.stopping.run import run_stop
from mbplugin.stopping.scenario import Scenario
from mbplugin.stopping.zones import StopMotion, motion_of_trajectory

#: Largest change of a coordinate at once while a loop is followed, rad and m.
_STEP = 0.15
#: Residuals below this share of the characteristic length close the loops, after so many projections at most.
_CLOSED, _PROJECTIONS = 1e-9, 12
#: A coordinate may pass a limit by this much, rad and m.
_BEYOND = 1e-9
#: A joint moves the tool if the tool is faster than this share of the fastest, per unit of its rate.
_MOVES = 1e-6
#: Halvings of the way to a pose that the loops do not reach.
_HALVINGS = 12
#: A joint still moves while all brakes hold if its part of a free motion is larger than this.
_LOOSE = 1e-3
#: The followers are determined if the smallest singular value of their Jacobian is this share of the largest.
_DETERMINED = 1e-2
#: Number of poses nearby at which the freedoms of a singular pose are compared.
_NEARBY = 4
#: Rates below this share of the largest are rounding.
_ROUNDING = 1e-12
#: Step of a numerical derivative, rad and m.
_SMALL = 1e-6


def arm_stops(scenario: Scenario, *tolerances: float) -> ArmStops:
    """Return the computer of an arm's stops: the compiled loop if it can, else one run of the integrator each.

    Parameters
    ----------
    *tolerances : float
        Relative and absolute tolerance of the integration; by default those of :class:`CompiledStop` or of the
        scenario.

    Raises
    ------
    BadUsage
        The robot is not such an arm: its base is free, or a joint without a brake moves.
    """
    if supports_compiled_stop(scenario):
        return CompiledStop(scenario, *tolerances)
    obstacle, remedy = next(_obstacles(scenario), ("", ""))
    if not obstacle:
        return CoupledStop(scenario, *tolerances)
    raise BadUsage(
        "stopping tables and worst-stop searches need arms that their brakes hold; "
        f"{scenario.mech.name!r}: {obstacle}",
        remedy=remedy or "use estop for single stops, sweep for many",
    )


def following(arm: ArmStops) -> tuple[str, ...]:
    """Return a sentence on the joints that follow others; none where all move independently."""
    own = {joint.pair.name for joint in arm.varied if joint.pair is not None}
    pairs = [joint.pair for joint in arm.scenario.mech.tree.joints if joint.pair is not None]
    names = [pair.name for pair in pairs if pair.kind.free and pair.name not in own]
    verb = "follows" if len(names) == 1 else "follow"
    return (f"{listed(names, 12)} {verb} the other joints through couplings and loops",) if names else ()


def stated_rates(arm: ArmStops, qd: Array) -> dict[str, float]:
    """Return the rates that a command has to state, rad/s and m/s, by name; qd (nv,).

    Where joints move independently, those without a stated rate are at rest. Elsewhere they would follow
    the joints with stated rates.
    """
    if isinstance(arm, CompiledStop):
        return {
            name: rate for name, rate in zip(arm.scenario.mech.qd_names, qd.tolist(), strict=True) if rate
        }
    rates = np.where(np.abs(qd) < _ROUNDING * np.abs(qd).max(initial=0.0), 0.0, qd)
    return dict(zip(arm.scenario.mech.qd_names, rates.tolist(), strict=True))


class CoupledStop:
    """Computes stops of an arm whose joints are coupled or close loops.

    Parameters
    ----------
    scenario : Scenario
        One that :func:`arm_stops` accepts; its pose satisfies all couplings and loops.
    rtol, atol : float, optional
        Tolerances of the integrator; by default those of the scenario.
    """

    def __init__(self, scenario: Scenario, rtol: float | None = None, atol: float | None = None) -> None:
        self.scenario = replace(scenario, rtol=rtol or scenario.rtol, atol=atol or scenario.atol)
        self._arm = Independent.of(scenario)
        self._brakes, self._payloads = scenario.brakes, scenario.actions.payloads
        self._start: Array | None = None
        self._last: Trajectory | None = None

    @property
    def chain(self) -> tuple[TreeJoint, ...]:
        """The independent joints that move the tool, in the order of the tree."""
        return self._arm.chain

    @property
    def varied(self) -> tuple[TreeJoint, ...]:
        """The independent joints."""
        return self._arm.joints

    def set_brakes(self, brakes: tuple[JointBrake, ...]) -> None:
        """Replace the parameters of the brakes, which stay on the same joints."""
        self._brakes = brakes

    def set_payloads(self, payloads: tuple[Payload, ...]) -> None:
        """Replace the payloads."""
        self._payloads = payloads

    def stop(self, q: Array, qd: Array) -> StopSummary:
        """Return the result of a category-0 stop from q (nq,) and qd (nv,); rad and m, rad/s and m/s."""
        return self._run(replace(self.scenario, category=0, q=q, qd=qd, brakes=self._brakes))

    def controlled_stop(
        self,
        q: Array,
        qd: Array,
        decelerations: Array,
        reactions: Array | None = None,
        braked: bool = True,
    ) -> StopSummary:
        """Return the result of a stop of category 1 or 2.

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
        """
        brakes = self._brakes
        if reactions is not None:
            pairs = zip(brakes, np.asarray(reactions, dtype=float).tolist(), strict=True)
            brakes = tuple(replace(brake, delay=delay) for brake, delay in pairs)
        values = np.asarray(decelerations, dtype=float).tolist()
        ramps = {brake.joint: value for brake, value in zip(brakes, values, strict=True)}
        category = 1 if braked else 2
        return self._run(
            replace(self.scenario, category=category, q=q, qd=qd, brakes=brakes, decelerations=ramps)
        )

    def _run(self, scenario: Scenario) -> StopSummary:
        scenario = replace(scenario, actions=replace(scenario.actions, payloads=self._payloads))
        self._start, self._last = scenario.q, run_stop(scenario)
        return summarise(scenario, self._last)

    def motion(self, q: Array) -> StopMotion:
        """Return the motion of the last stop, which began at q (nq,)."""
        # the first sample may differ from q by rounding, since a motion starts with closed loops
        computed = self._last is not None and self._start is not None and np.array_equal(self._start, q)
        assert self._last is not None and computed, "that stop was not computed"
        return motion_of_trajectory(self._last)

    def to_limits(self) -> float:
        """Return the smallest distance to a joint limit during the last stop, rad or m."""
        assert self._last is not None, "no stop was computed"
        q, (low, high) = self._last.q, self._arm.limits
        extremes = np.stack((q.min(axis=0), q.max(axis=0)))
        return float(np.minimum(extremes - low, high - extremes).min(initial=np.inf))

    def closed(self, q: Array) -> Array | None:
        """Return the pose (nq,) whose independent coordinates are those of q (nq,), None if the loops cannot close."""
        return self._arm.closed(q)

    def toward(self, q: Array) -> Array:
        """Return the pose (nq,) nearest to the independent coordinates of q (nq,) on the way from the scenario's."""
        return self._arm.toward(q)

    def starts(self, q: Array, joints: Sequence[str], speeds: Array) -> tuple[Array, Array]:
        """Return the poses (k, nq) nearest to q (k, nq), and the rates (k, nv) for ``speeds`` (k, m) of m joints."""
        poses = [self.toward(one) for one in q]
        named = [dict(zip(joints, row, strict=True)) for row in speeds.tolist()]
        rates = [self.rates(pose, row) for pose, row in zip(poses, named, strict=True)]
        return np.array(poses), np.array(rates)

    def rates(self, q: Array, speeds: Mapping[str, float]) -> Array:
        """Return the rates (nv,) at a pose q (nq,) in which the named joints move and other independent ones stand.

        Parameters
        ----------
        speeds : mapping of str to float
            Rates by joint, rad/s or m/s.
        """
        own = np.array(
            [speeds.get(joint.pair.name, 0.0) if joint.pair else 0.0 for joint in self._arm.joints]
        )
        return np.asarray(self._arm.motions(q) @ own)

    def inertias(self, q: Array) -> Array:
        """Return the inertias (nv,) at a pose q (nq,), kg·m² and kg; those of leaders include their followers."""
        scenario = self.scenario
        actions = replace(scenario.actions, payloads=self._payloads)
        M = joint_equations(
            scenario.mech, q, np.zeros(len(scenario.qd)), actions, tolerance=scenario.tolerance
        ).M
        out, N = np.array(np.diag(M)), self._arm.motions(q)
        out[self._arm.rates] = np.diag(N.T @ M @ N)
        return out

    @property
    def weight(self) -> float:
        """Sum of the components of the weight of all bodies, as an absolute value, N."""
        masses = sum(body.mass for body in self.scenario.mech.bodies) + sum(p.mass for p in self._payloads)
        return abs(float(np.sum(self.scenario.mech.gravity)) * masses)

    def potential(self, q: Array) -> float:
        """Return the gravitational potential energy at a pose q (nq,), J."""
        mech = self.scenario.mech
        poses = forward(mech, q)
        masses = np.array([body.mass for body in mech.bodies])
        moments = masses @ poses.p_WC
        for payload in self._payloads:
            i = mech.body_index[payload.body]
            moments = moments + payload.mass * (poses.p_WL[i] + poses.R_WL[i] @ np.asarray(payload.com))
        return -float(moments @ mech.gravity)

    def tool_at(self, q: Array) -> Array:
        """Return the tool's position (3,) at a pose q (nq,), m."""
        return _tool_at(self.scenario, q)


def _obstacles(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield each reason why stops of a robot cannot be computed, with its remedy; ``""`` stands for the usual one."""
    mech = scenario.mech
    if any(joint.pair is None for joint in mech.tree.joints):
        yield "its base is free", "fix its base with --base fixed, in Python with mb.load(FILE, base='fixed')"
    yield from ((f"{lock.joint!r} is locked", "") for lock in mech.locks)
    yield from ((f"{driver.joint!r} is driven", "") for driver in mech.drivers)
    yield from ((f"{row.name!r} ties {row.body!r} to the ground", "") for row in mech.pfaffians)
    if scenario.actions.controller is not None or scenario.qdd.any():
        yield "it is controlled or accelerates at the signal", ""
    arm = Independent.of(scenario)
    names = listed([repr(name) for name in arm.loose])
    if arm.loose and arm.is_singular():
        yield (
            f"at its pose, a singular one, the loops do not determine how {names} follow",
            "state another pose with --q (q=...)",
        )
    elif arm.loose:
        one = len(arm.loose) == 1
        brake = f"state {'its brake' if one else 'their brakes'} with --brake (brakes=[...])"
        yield (
            f"{names} {'has' if one else 'have'} no brake",
            f"{brake}, or use estop for single stops, sweep for many",
        )


# The joints that determine the pose of the arm; the others follow through couplings and loops.


@dataclass(frozen=True, eq=False)
class Independent:
    """The joints with a brake that determine the pose of an arm.

    Parameters
    ----------
    joints, chain : tuple of TreeJoint
        All of them, and those that move the tool, in the order of the tree.
    loose : tuple of str
        Joints that still move while all brakes hold.
    """

    scenario: Scenario
    closure: Closure
    joints: tuple[TreeJoint, ...]
    chain: tuple[TreeJoint, ...]
    loose: tuple[str, ...]

    @classmethod
    def of(cls, scenario: Scenario) -> Independent:
        """Return the independent joints of a robot; leaders of couplings come before their followers."""
        mech = scenario.mech
        closure = Closure(mech, scenario.q)
        free = _free_motions(closure, scenario.q)
        braked = {brake.joint for brake in scenario.brakes}
        candidates = [
            joint
            for joint in mech.tree.joints
            if joint.pair is not None and joint.pair.name in braked and len(joint.pair.kind.free) == 1
        ]
        chosen: list[TreeJoint] = []
        rest = free
        for joint in sorted(candidates, key=lambda j: j.pair is not None and follows(mech, j.pair)):
            row = rest[joint.qd.start]
            if np.abs(row).max(initial=0.0) > DEFAULT_TOLERANCE:
                chosen.append(joint)
                direction = row / np.linalg.norm(row)
                rest = rest - np.outer(rest @ direction, direction)
        loose = tuple(
            joint.pair.name
            for joint in mech.tree.joints
            if joint.pair is not None and np.abs(rest[joint.qd]).max(initial=0.0) > _LOOSE
        )
        order = {id(joint): k for k, joint in enumerate(mech.tree.joints)}
        joints = tuple(sorted(chosen, key=lambda joint: order[id(joint)]))
        partial = cls(scenario, closure, joints, (), loose)
        return replace(partial, chain=() if loose else partial._moving_the_tool())

    def is_singular(self) -> bool:
        """Return True if the loops leave more freedoms at the pose of the scenario than at one of those nearby."""
        freedoms = _free_motions(self.closure, self.scenario.q).shape[1]
        nearby = sample_poses(self.scenario.mech, self.scenario.q, _NEARBY)
        return any(_free_motions(self.closure, q).shape[1] < freedoms for q in nearby)

    @cached_property
    def rates(self) -> AnyArray:
        """Indices of their rates (m,)."""
        return np.array([joint.qd.start for joint in self.joints], dtype=int)

    @cached_property
    def places(self) -> AnyArray:
        """Indices of their coordinates (m,)."""
        return np.array([joint.q.start for joint in self.joints], dtype=int)

    @cached_property
    def limits(self) -> tuple[Array, Array]:
        """Lowest and highest coordinates (nq,); infinite where there is no limit."""
        n = len(self.scenario.q)
        low, high = np.full(n, -np.inf), np.full(n, np.inf)
        for joint in self.scenario.mech.tree.joints:
            if joint.pair is not None and len(joint.pair.kind.free) == 1:
                freedom = joint.pair.freedoms[0]
                if freedom.lower < freedom.upper and self.scenario.limits == "stop":
                    low[joint.q], high[joint.q] = freedom.lower, freedom.upper
        return low, high

    def closed(self, q: Array) -> Array | None:
        """Return the pose (nq,) with the independent coordinates of q (nq,), None if loops or limits prevent it.

        Nor is there one where the loops leave more freedoms than elsewhere: how the others follow is undetermined.
        """
        there = self._followed(q)
        if there is None or not self._determined(there):
            return None
        low, high = self.limits
        outside = (there < low - _BEYOND) | (there > high + _BEYOND)
        return None if bool(outside.any()) else there

    def toward(self, q: Array) -> Array:
        """Return the pose (nq,) on the way from the scenario's to q (nq,), as near to q as loops and limits allow."""
        if (there := self.closed(q)) is not None:
            return there
        start = self.scenario.q
        best, reached, share = start, 0.0, 0.5
        for k in range(1, _HALVINGS):
            there = self.closed(start + share * (q - start))
            if there is not None:
                best, reached = there, share
            share = reached + 0.5 ** (k + 1)
        return best

    def _determined(self, q: Array) -> bool:
        """Return True if the independent rates determine all others at q (nq,)."""
        if not self.scenario.mech.tree.cut:
            return True
        others = np.ones(len(self.scenario.qd), dtype=bool)
        others[self.rates] = False
        sizes = np.linalg.svd(self.closure.linearise(q)[0][:, others], compute_uv=False)
        return len(sizes) >= others.sum() and bool(sizes[others.sum() - 1] > _DETERMINED * sizes[0])

    def motions(self, q: Array) -> Array:
        """Return the rates (nv, m) at a pose q (nq,) per unit rate of each independent joint."""
        free = _free_motions(self.closure, q)
        return np.asarray(free @ np.linalg.pinv(free[self.rates]))

    def _followed(self, q: Array) -> Array | None:
        """Return the pose (nq,) with the independent coordinates of q (nq,), reached in small steps."""
        lead = self._leading
        now: Array = self.scenario.q.copy()
        wanted = q[self.places]
        way = wanted - now[self.places]
        # couplings alone are linear: one step is enough
        step = _STEP if self.scenario.mech.tree.cut else np.inf
        count = max(int(np.ceil(np.abs(way).max(initial=0.0) / step)), 1)
        for k in range(count):
            lead.segments["c"][:, 0] = (wanted - way * (1.0 - (k + 1) / count))[lead.order]
            if not self._closes(lead, now):
                return None
        now[self.places] = wanted
        return now

    def _closes(self, lead: _Lead, q: Array) -> bool:
        """Project q (nq,) in place onto all rows; return True if the loops are closed."""
        idle = np.zeros(len(self.scenario.qd))
        for _ in range(_PROJECTIONS):
            if not project_state(lead.state, 0.0, q, idle):
                return False
            rows = lead.state.rows[: lead.rows]
            if np.abs(rows["unit"] * rows["phi"]).max(initial=0.0) < _CLOSED:
                return True
        return False

    @cached_property
    def _leading(self) -> _Lead:
        mech, names = self.scenario.mech, [joint.pair.name for joint in self.joints if joint.pair is not None]
        drivers = tuple(Driver(f"lead {name}", name, value=0.0) for name in names)
        # joints without mass that follow others need their armatures
        inertias = AppliedForces(armature=self.scenario.actions.armature)
        model = tree_model(replace(mech, drivers=drivers), inertias, q=self.scenario.q)
        driven = np.array([names.index(driver.joint) for driver, _ in model.table.driven], dtype=int)
        segments = motion_segments_of(model, ())
        segments["c"][:, 0] = self.scenario.q[self.places][driven]
        empty = kernel_state_of(model, segments, np.zeros(0, dtype=np.int64))
        evaluate_at(empty, KINEMATICS, 0.0, self.scenario.q.copy(), np.zeros(len(self.scenario.qd)))
        every = tuple(range(model.table.persistent))
        rows = choose_rows(model, every, len(self.scenario.qd), self.scenario.tolerance, ()).rows
        return _Lead(kernel_state_of(model, segments, rows), segments, driven, len(every))

    def _moving_the_tool(self) -> tuple[TreeJoint, ...]:
        """Return the independent joints that move the tool at a generic pose."""
        rng = np.random.default_rng(0)
        q = self.scenario.q.copy()
        q[self.places] += rng.uniform(0.1, 0.3, len(self.joints))
        q = self.toward(q)
        speeds = np.zeros(len(self.joints))
        for k, motion in enumerate(self.motions(q).T):
            speeds[k] = self._tool_moves(q, motion)
        least = _MOVES * max(float(speeds.max(initial=0.0)), 1e-12)
        return tuple(joint for joint, speed in zip(self.joints, speeds, strict=True) if speed > least)

    def _tool_moves(self, q: Array, motion: Array) -> float:
        """Return the sum of speed and angular speed of the tool, m and rad per unit of a motion (nv,), at q (nq,)."""
        mech, i = self.scenario.mech, self.scenario.mech.body_index[self.scenario.tool]
        ahead, behind = (forward(mech, displace(mech, q, sign * _SMALL * motion)) for sign in (1.0, -1.0))
        moved = ahead.p_WL[i] - behind.p_WL[i], ahead.R_WL[i] - behind.R_WL[i]
        return sum(float(np.linalg.norm(part)) for part in moved) / (2 * _SMALL)


class _Lead(NamedTuple):
    """A kernel state in which drives set the independent coordinates.

    Parameters
    ----------
    segments : (m,) record array
        The values of the drives.
    order : (m,) int array
        Index of the joint of each drive.
    rows : int
        Number of rows of the couplings, loops and drives, which come first.
    """

    state: KernelState
    segments: AnyArray
    order: AnyArray
    rows: int


def _tool_at(scenario: Scenario, q: Array) -> Array:
    """Return the tool's position (3,) at a pose q (nq,), m."""
    poses = forward(scenario.mech, q)
    i = scenario.mech.body_index[scenario.tool]
    return np.asarray(poses.p_WL[i] + poses.R_WL[i] @ scenario.tool_point)


def _free_motions(closure: Closure, q: Array) -> Array:
    """Return an orthonormal basis (nv, d) of the motions that couplings and loops leave at q (nq,)."""
    nv = len(closure.units)
    if not closure.constraints:
        return np.eye(nv)
    J = closure.linearise(q)[0]
    _, sigma, Vt = np.linalg.svd(J)
    rank = int((sigma > DEFAULT_TOLERANCE * max(float(sigma.max(initial=0.0)), 1e-300)).sum())
    free = closure.units[:, None] * Vt[rank:].T
    return np.asarray(np.linalg.qr(free)[0])
