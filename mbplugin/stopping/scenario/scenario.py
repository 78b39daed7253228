"""The scenario of a stop: all inputs, checked before the computation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import get_args

import numpy as np

from mbplugin.constraints.tolerance import DEFAULT_TOLERANCE
from mbplugin.errors import BadUsage
from mbplugin.model.applied_forces import AppliedForces
from mbplugin.model.brakes import JointBrake, stated_brakes
from mbplugin.model.enumerations import StopCategory, StopLimits
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.plausible import implausible, meant_in_degrees
from mbplugin.model.scene import Payload
from mbplugin.model.spatial import Array
from mbplugin.phrases import one_line_repr
from mbplugin.simulation.budget import MAX_SECONDS
from mbplugin.simulation.events.passing_marks import joint_limits
from mbplugin.simulation.options import LONGEST, Options
from mbplugin.stopping.scenario.decelerations import inertias_at
from mbplugin.stopping.scenario.effort_limits import EffortLimits, brakes_of_effort
from mbplugin.stopping.scenario.ramp_source import RampSource
from mbplugin.stopping.scenario.tool_choice import NO_TOOL, ToolChoice

#: IEC 60204-1: without power at once; led to rest, then without power; led to rest, power kept.
CATEGORIES: tuple[StopCategory, ...] = get_args(StopCategory)


@one_line_repr
@dataclass(frozen=True, eq=False)
class Scenario:
    """A moving robot and a stop; the signal is at t = 0.

    Parameters
    ----------
    mech : Mechanism
        Without drivers of its own.
    actions : AppliedForces
        What acts besides brakes and drives.
    q, qd, qdd : (nq,), (nv,), (nv,) array
        State at the signal; the drives go on with it until they react.
    brakes : tuple of JointBrake
    category : 0, 1 or 2
    decelerations : mapping
        Of the led joints in categories 1 and 2, rad/s² or m/s², positive.
    tool : str
        The body whose stopping distance is computed.
    tool_point : (3,) array
        On it, link frame, m.
    limits : str
        ``stop``: a joint limit is an end stop; ``ignore``.
    duration : float
        Longest time to rest, s.
    assumed, notes : tuple of str
        What was assumed and changed, one sentence each.
    ramps_of_effort : tuple of str
        Joints that decelerate with their effort limit, since nothing is stated.
    tolerance : float
        Relative rank tolerance.
    max_seconds : float
        Of computing.
    ramp_source : RampSource
        What the decelerations come from, for stops from other states.
    named, named_rates : tuple of str
        Coordinates that the call names and rates that somebody states: they lead where a sweep draws others.
    tool_choice : ToolChoice
        Why the tool is this point, and what does not move it.
    """

    mech: Mechanism
    actions: AppliedForces
    q: Array
    qd: Array
    qdd: Array
    brakes: tuple[JointBrake, ...]
    category: int
    decelerations: Mapping[str, float]
    tool: str
    tool_point: Array
    limits: str = "stop"
    duration: float = 10.0
    rtol: float = 1e-8
    atol: float = 1e-10
    assumed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    tolerance: float = DEFAULT_TOLERANCE
    max_seconds: float = MAX_SECONDS
    ramps_of_effort: tuple[str, ...] = ()
    ramp_source: RampSource = field(default_factory=RampSource)
    named: tuple[str, ...] = ()
    named_rates: tuple[str, ...] = ()
    tool_choice: ToolChoice = NO_TOOL

    def __post_init__(self) -> None:
        if self.category not in CATEGORIES:
            raise BadUsage(f"there is no stop category {self.category}", expected="0, 1 or 2")
        if self.limits not in get_args(StopLimits):
            raise BadUsage(f"limits are {self.limits!r}", expected="stop or ignore")
        if not 0 < self.duration <= LONGEST:
            raise BadUsage(f"the duration is {self.duration:g} s", expected=f"up to {LONGEST:g} s")
        if self.limits == "stop":
            self._require_within_limits()

    @property
    def stated(self) -> tuple[str, ...]:
        """The brakes, and in categories 1 and 2 the ramps, with their numbers and where these come from."""
        braked = {brake.joint for brake in self.brakes}
        ramps = self.ramp_source.stated if self.category else ()
        return (*stated_brakes(self.brakes), *(ramp.sentence for ramp in ramps if ramp.joint in braked))

    def _require_within_limits(self) -> None:
        for limit in joint_limits(self.mech, Options(1.0)):
            value = float(self.q[limit.coordinate])
            if (value > limit.bound + 1e-9) if limit.upper else (value < limit.bound - 1e-9):
                side = "above its upper" if limit.upper else "below its lower"
                degrees = meant_in_degrees(self.mech.pair_by_name.get(limit.name), value)
                raise BadUsage(
                    f"joint {limit.name!r} is at {value:.6g}, {side} limit {limit.bound:.6g}",
                    remedy=f"write {value:g}deg if that is meant"
                    if degrees
                    else f"state a pose within the limits, such as {limit.name} = … under [state.q] of a scene; "
                    "a single stop takes --q (q in Python) too",
                )

    @property
    def of_effort(self) -> EffortLimits:
        """The brakes and the decelerations of the stop that are effort limits."""
        own = brakes_of_effort(() if self.category == 2 else self.brakes)
        return own._replace(ramps=self.ramps_of_effort)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is probably in another unit, one sentence each."""
        return implausible(self.mech, self.qd, self.actions.payloads, self.brakes)

    def from_state(
        self, q: Array, qd: Array, brakes: tuple[JointBrake, ...], payloads: tuple[Payload, ...]
    ) -> Scenario:
        """Return the stop of the same robot from another state.

        Parameters
        ----------
        q, qd : (nq,), (nv,) array
            At the signal, rad and m, per second.
        brakes : tuple of JointBrake
            On the same joints.
        payloads : tuple of Payload
            What is carried instead.
        """
        actions = replace(self.actions, payloads=payloads)
        decelerations = self.decelerations_at(q, qd, brakes, lambda: inertias_at(self.mech, q, actions))
        return replace(self, actions=actions, q=q, qd=qd, brakes=brakes, decelerations=decelerations)

    def decelerations_at(
        self, q: Array, qd: Array, brakes: tuple[JointBrake, ...], inertias: Callable[[], Array]
    ) -> Mapping[str, float]:
        """Return the decelerations from another state q (nq,), qd (nv,), rad/s² and m/s².

        Parameters
        ----------
        brakes : tuple of JointBrake
            On the same joints.
        inertias : callable
            Returns the diagonal of the mass matrix at the pose, (nv,), kg·m² and kg.
        """
        if self.category == 0:
            return self.decelerations
        return self.ramp_source.decelerations(self.mech, brakes, (q, qd, self.qdd), inertias).values

    def rate_of(self, joint: str) -> int:
        """Index of a joint's rate, −1 for a joint that closes a loop."""
        of_pair = self.mech.tree.joint_of_pair
        return of_pair[joint].qd.start if joint in of_pair else -1


def vector_of(values: Array | None, size: int) -> Array:
    """Return values (n,), or zeros (n,) of the size where there are none."""
    return np.zeros(size) if values is None else np.array(values, dtype=float)
