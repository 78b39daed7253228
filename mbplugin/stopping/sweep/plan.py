"""The random quantities of a sweep: states, brakes and payloads, drawn from a seed, stop by stop."""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite

import numpy as np

from mbplugin.errors import BadNumber, BadUsage
from mbplugin.model.bounds import LARGEST
from mbplugin.model.brakes import JointBrake
from mbplugin.model.scene import Payload
from mbplugin.model.spatial import Array
from mbplugin.model.spring import JointSpring, Spring
from mbplugin.stopping.compiled.batch import supports_compiled_stop
from mbplugin.stopping.scenario.scenario import Scenario

#: Changes whenever the part files get other columns, or a column another meaning: such a folder is another
#: sweep's.
_COLUMNS = 2
#: More stops than anybody waits for.
MOST_STOPS = 10_000_000


@dataclass(frozen=True, eq=False)
class SweepPlan:
    """Many stops of one robot. Stop k depends on the plan and k only, wherever it is computed.

    Parameters
    ----------
    scenario : Scenario
        Of category 0; its state is the middle of the states, unless ``states`` is given.
    count : int
        Number of stops.
    states : (n, 2, nv) array, optional
        Coordinates and rates along a motion, of which each stop takes one.
    q_spread : float
        Coordinates vary by up to this much either way, rad and m; limits cut it off.
    speed_range : (float, float)
        Rates are multiplied by a number between these.
    torque_tolerance, delay_tolerance : float
        Of brakes, relative, either way, each joint by itself.
    payload_range : (float, float)
        The payload's mass is multiplied by a number between these.
    part : int
        Stops per file.
    """

    scenario: Scenario
    count: int
    seed: int = 0
    states: Array | None = None
    q_spread: float = 0.0
    speed_range: tuple[float, float] = (1.0, 1.0)
    torque_tolerance: float = 0.0
    delay_tolerance: float = 0.0
    payload_range: tuple[float, float] = (1.0, 1.0)
    part: int = 250

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_STOPS or self.part < 1:
            raise BadUsage(
                f"a sweep of {self.count} stops was requested", expected=f"at least one, at most {MOST_STOPS}"
            )
        if self.seed < 0:
            raise BadUsage(f"the seed is {self.seed}", expected="a number that is not negative")
        for what in ("q_spread", "torque_tolerance", "delay_tolerance"):
            value = getattr(self, what)
            if not 0 <= value <= LARGEST or (what != "q_spread" and value >= 1):
                raise BadNumber(
                    f"the {what.replace('_', ' ')} is {value:g}",
                    expected=f"not negative, a spread up to {LARGEST:g}, tolerances below 1",
                )
        for what in ("speed_range", "payload_range"):
            low, high = getattr(self, what)
            least = -np.inf if what == "speed_range" else 0.0
            if not (isfinite(low) and isfinite(high) and least <= low <= high):
                raise BadNumber(
                    f"the {what.replace('_', ' ')} is {low:g} to {high:g}",
                    expected="two factors, the smaller one first, those of a payload not negative",
                )
        if self.payload_range != (1.0, 1.0) and not self.scenario.actions.payloads:
            raise BadUsage("a payload is to vary, and there is none", remedy="state a payload")
        if not supports_compiled_stop(self.scenario):
            raise BadUsage(
                f"{self.scenario.mech.name!r} is no arm of joints with one freedom, each with a brake",
                remedy="use estop for single stops",
            )

    @property
    def parts(self) -> int:
        """Number of files."""
        return -(-self.count // self.part)

    def size_of(self, part: int) -> int:
        """Return how many stops a part holds."""
        return min(self.part, self.count - part * self.part)

    @cached_property
    def fingerprint(self) -> str:
        """What tells this plan from others."""
        s = self.scenario
        content = (
            _COLUMNS,
            s.mech.name,
            [(b.name, b.mass, b.p_LC.tolist(), b.I_C.tolist()) for b in s.mech.bodies],
            [(p.name, p.type, p.X_AP.p.tolist(), p.X_AP.R.tolist(), repr(p.freedoms)) for p in s.mech.pairs],
            [(p.body, p.mass, p.com.tolist(), p.inertia.tolist()) for p in s.actions.payloads],
            [
                (x.body, x.force.tolist(), x.torque.tolist(), x.point.tolist(), x.frame)
                for x in s.actions.loads
            ],
            [_told(spring) for spring in s.actions.springs],
            [_told(spring) for spring in s.actions.joint_springs],
            sorted(s.actions.armature.items()),
            (s.actions.damping, s.actions.friction, s.q.tolist(), s.qd.tolist(), repr(s.brakes)),
            (s.tool, s.tool_point.tolist(), s.limits, s.duration),
            None if self.states is None else self.states.tolist(),
            (self.count, self.seed, self.q_spread, self.speed_range, self.torque_tolerance),
            (self.delay_tolerance, self.payload_range, self.part),
        )
        return hashlib.sha256(pickle.dumps(content, protocol=4)).hexdigest()[:16]

    def draw(self, k: int) -> tuple[Array, Array, tuple[JointBrake, ...], tuple[Payload, ...]]:
        """Return coordinates, rates, brakes and payloads of stop k."""
        rng = np.random.default_rng([self.seed, k])
        s = self.scenario
        q, qd = s.q, s.qd
        if self.states is not None:
            q, qd = self.states[rng.integers(len(self.states))]
        q = self._within(q + rng.uniform(-self.q_spread, self.q_spread, len(q)))
        qd = qd * rng.uniform(*self.speed_range)
        torques = 1 + rng.uniform(-self.torque_tolerance, self.torque_tolerance, len(s.brakes))
        delays = 1 + rng.uniform(-self.delay_tolerance, self.delay_tolerance, len(s.brakes))
        factors = zip(s.brakes, torques.tolist(), delays.tolist(), strict=True)
        brakes = tuple(_varied(brake, torque, delay) for brake, torque, delay in factors)
        share = float(rng.uniform(*self.payload_range))
        payloads = tuple(
            replace(p, mass=share * p.mass, inertia=share * p.inertia) for p in s.actions.payloads
        )
        return q, qd, brakes, payloads

    def _within(self, q: Array) -> Array:
        """Return coordinates q (nq,), rad and m, put within the limits in place."""
        for joint in self.scenario.mech.tree.joints:
            if joint.pair is not None and joint.pair.kind.free and self.scenario.limits == "stop":
                freedom = joint.pair.freedoms[0]
                if freedom.lower < freedom.upper:
                    q[joint.q] = np.clip(q[joint.q], freedom.lower, freedom.upper)
        return q


def _told(spring: Spring | JointSpring) -> list[object]:
    return [v.tolist() if isinstance(v, np.ndarray) else v for v in vars(spring).values()]


def _varied(brake: JointBrake, torque: float, delay: float) -> JointBrake:
    """Return a brake with its torques and its delays multiplied."""
    return replace(
        brake,
        law=brake.law.scaled(torque),
        delay=delay * brake.delay,
        engagement=delay * brake.engagement,
    )
