"""The random quantities of a sweep: states, brakes and payloads, drawn from a seed, stop by stop."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import isfinite

import numpy as np

from mbplugin.constraints.assembly import Assembly, assemble
from mbplugin.constraints.stated_state import following_rates
from mbplugin.errors import BadNumber, BadUsage, CannotClose, ContradictedState
from mbplugin.model.bounds import LARGEST
from mbplugin.model.brakes import JointBrake, no_brakes
from mbplugin.model.scene import Payload, State
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.phrases import one_line_repr
from mbplugin.stopping.scenario.scenario import Scenario
from mbplugin.stopping.sweep.fingerprint import fingerprint_of

#: Changes whenever the part files get other columns, or a column another meaning: such a folder is another
#: sweep's.
_COLUMNS = 2
#: More stops than anybody waits for.
MOST_STOPS = 10_000_000
#: Of a variation of the coordinates, tried one after the other until the loops close.
_SHARES = (1.0, 0.5, 0.25, 0.125, 0.0625)


@one_line_repr
@dataclass(frozen=True, eq=False)
class SweepPlan:
    """Many stops of one robot. Stop k depends on the plan and k only, wherever it is computed.

    Parameters
    ----------
    scenario : Scenario
        Its state is the middle of the states, unless ``states`` is given.
    count : int
        Number of stops.
    states : (n, nq + nv) array, optional
        Coordinates and rates along a motion, of which each stop takes one.
    recorded : tuple of str
        The joints of that motion: their values hold, those of the others follow.
    q_spread : float
        Coordinates vary by up to this much either way, rad and m; limits cut it off. Those of a free base
        and of joints with quaternions do not vary. Where joints are in loops or coupled, the variation is
        halved until the loops close within the limits.
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
    recorded: tuple[str, ...] = ()

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
        if not self.scenario.brakes:
            raise no_brakes(self.scenario.mech)

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that a sweep reports: those with a brake and a coordinate."""
        names = [brake.joint for brake in self.scenario.brakes]
        return tuple(name for name in names if self.scenario.rate_of(name) >= 0)

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
        # what is said of a stop does not change it
        scenario = replace(self.scenario, assumed=(), notes=())
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "scenario"}
        return fingerprint_of(_COLUMNS, scenario, own)

    def draw(self, k: int) -> tuple[Array, Array, tuple[JointBrake, ...], tuple[Payload, ...]]:
        """Return coordinates, rates, brakes and payloads of stop k."""
        rng = np.random.default_rng([self.seed, k])
        s = self.scenario
        q, qd = s.q, s.qd
        if self.states is not None:
            q, qd = np.split(self.states[rng.integers(len(self.states))], [len(q)])
        q = self._closed(q, np.where(self._varied, rng.uniform(-self.q_spread, self.q_spread, len(q)), 0.0))
        qd = self._agreeing(q, qd * rng.uniform(*self.speed_range))
        torques = 1 + rng.uniform(-self.torque_tolerance, self.torque_tolerance, len(s.brakes))
        delays = 1 + rng.uniform(-self.delay_tolerance, self.delay_tolerance, len(s.brakes))
        factors = zip(s.brakes, torques.tolist(), delays.tolist(), strict=True)
        brakes = tuple(_scaled(brake, torque, delay) for brake, torque, delay in factors)
        share = float(rng.uniform(*self.payload_range))
        payloads = tuple(
            replace(p, mass=share * p.mass, inertia=share * p.inertia) for p in s.actions.payloads
        )
        return q, qd, brakes, payloads

    @cached_property
    def _varied(self) -> AnyArray:
        """Which coordinates (nq,) vary: those of joints that have one for each freedom."""
        varied = np.zeros(len(self.scenario.q), dtype=bool)
        for joint in self.scenario.mech.tree.joints:
            if joint.pair is not None:
                varied[joint.q] = joint.q.stop - joint.q.start == len(joint.pair.kind.free)
        return varied

    def _closed(self, q: Array, change: Array) -> Array:
        """Return q (nq,) with as much of a change (nq,) as limits and loops allow; rad and m."""
        scenario = self.scenario
        if not (scenario.mech.tree.cut or scenario.mech.couplings):
            return self._within(q + change)
        for share in _SHARES:
            drawn = self._within(q + share * change)
            try:
                closed = self._led(drawn)
            except CannotClose:
                continue
            if scenario.limits == "ignore" or not closed.beyond_limits:
                return np.array(closed.q)
        return q

    def _led(self, q: Array) -> Assembly:
        """Return a drawn pose q (nq,) closed with what is named, or near it where that is more than the freedoms."""
        named = self.scenario.named if self.states is None else self.recorded
        try:
            return assemble(self.scenario.mech, q, named, named)
        except ContradictedState:
            return assemble(self.scenario.mech, q)

    def _agreeing(self, q: Array, qd: Array) -> Array:
        """Return rates qd (nv,) at q (nq,) that constraints allow, those that are stated as they are; per second.

        At another pose than that of the scenario, rates of more joints than there are freedoms contradict each other.
        """
        mech = self.scenario.mech
        named = self.scenario.named_rates if self.states is None else self.recorded
        names = frozenset(named) & {*mech.qd_names}
        stated = State(q, qd, given_rates=names, named_rates=names)
        try:
            return following_rates(mech, q, stated)[0]
        except ContradictedState:
            return following_rates(mech, q, State(q, qd))[0]

    def _within(self, q: Array) -> Array:
        """Return coordinates q (nq,), rad and m, put within the limits in place."""
        lower, upper = self._limits
        return np.clip(q, lower, upper, out=q)

    @cached_property
    def _limits(self) -> tuple[Array, Array]:
        """Limits of the coordinates that vary, lower and upper (nq,), rad and m; infinite where none is kept."""
        lower, upper = np.full(len(self.scenario.q), -np.inf), np.full(len(self.scenario.q), np.inf)
        if self.scenario.limits != "stop":
            return lower, upper
        for joint in self.scenario.mech.tree.joints:
            if joint.pair is not None and self._varied[joint.q].all():
                for k, freedom in zip(range(joint.q.start, joint.q.stop), joint.pair.freedoms, strict=True):
                    if freedom.lower < freedom.upper:
                        lower[k], upper[k] = freedom.lower, freedom.upper
        return lower, upper


def _scaled(brake: JointBrake, torque: float, delay: float) -> JointBrake:
    """Return a brake with its torques and its delays multiplied."""
    return replace(
        brake,
        law=brake.law.scaled(torque),
        delay=delay * brake.delay,
        engagement=delay * brake.engagement,
    )
