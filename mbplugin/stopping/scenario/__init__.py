"""The scenario of a stop: all inputs, checked before the computation.

Brakes and speeds of a robot whose file states neither are assumed from its own masses and lengths, and reports say
so. Files of grippers, toys and mobile robots often state no effort limit, so that there is no number to put in place
of a brake. A drive is usually dimensioned to hold twice what it carries, and to stop its joint quickly: the larger of
the two is the assumed brake. It depends on the robot alone, not on pose or payload, so that all stops of a robot have
the same brakes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from typing import NamedTuple, get_args

import numpy as np

from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.errors import BadUsage
from mbplugin.model import Array, Payload, Ramp, Scene, StopCategory, StopLimits, is_turn, units_of
from mbplugin.model.brakes import (
    AppliedForces,
    BrakeForce,
    BrakeLike,
    JointBrake,
    implausible,
    meant_in_degrees,
    stated_brakes,
    stated_ramps,
)
from mbplugin.model.mechanism import Mechanism, TreeJoint, base_sentence
from mbplugin.model.mechanism.kinematics import BodyPoses, follows, forward, home, joint_axes
from mbplugin.phrases import Assumption, counted, listed, one_line_repr
from mbplugin.simulation.options import LONGEST, MAX_SECONDS, Options
from mbplugin.simulation.passing_marks import joint_limits
from mbplugin.stopping.scenario.start import RampSource, inertias_at

#: Ratio of published stopping times to those with default brakes: smallest and largest of six rows (UR5, UR3,
#: category 0) of the table in ``docs/estop.md``.
PUBLISHED_OVER_DEFAULT = (1.2, 7.1)
#: A point lies on an axis if its distance is below this, m.
_ON_AXIS = 1e-6
#: Radius of gyration above which the bodies turned by an axis are wide: m, and as a share of the reach.
_WIDE, _WIDE_SHARE = 0.05, 0.1
#: IEC 60204-1: immediate power-off; driven to rest, then power-off; driven to rest, power kept.
CATEGORIES: tuple[StopCategory, ...] = get_args(StopCategory)


# Brakes and decelerations that are not stated are replaced by the effort limits of the joints.


#: What a brake holds, relative to the largest load of its links.
_MARGIN = 2.0
#: Time in which a brake stops the largest inertia of its links from full speed, s.
_STOP_TIME = 0.5
#: Full speed of a joint without a velocity limit: rad/s, and m/s (the reduced speed of ISO 10218-1).
_TURNING, _SLIDING = 1.0, 0.25
#: Faster velocity limits fill a field that was not thought about, rad/s and m/s: small servo joints reach 30 rad/s.
_FASTEST_TURN, _FASTEST_SLIDE = 100.0, 50.0
#: Most joints that a sentence names, and characters for them: the sentences belong into the first lines of a report.
_NAMED, _ROOM = 6, 36
#: Start of the sentence on assumed brakes, and the rule that gives their numbers.
NO_DRIVE = "No brake and no effort limit is stated"
RULE = (
    f"An assumed brake holds {_MARGIN:g} times what holds its links stretched out level, or stops them from full speed"
    f" within {_STOP_TIME:g} s, if that is more; brakes that are stated leave other joints without one."
)


class EffortLimits(NamedTuple):
    """Assumptions about a robot in place of data that are not stated.

    Parameters
    ----------
    brakes, ramps : tuple of str
        Joints whose brake or deceleration is taken from the effort limit.
    delays : tuple of str
        Joints whose brake is assumed to engage without delay.
    taken : tuple of str
        Other assumptions, one sentence each.
    holding : bool
        Whether the brakes only hold joints that stated ramps have brought to rest.
    """

    brakes: tuple[str, ...] = ()
    ramps: tuple[str, ...] = ()
    delays: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    holding: bool = False

    @property
    def joints(self) -> tuple[str, ...]:
        """All joints with an assumption, each once."""
        return tuple(dict.fromkeys((*self.brakes, *self.ramps, *self.delays)))

    @property
    def heading(self) -> str:
        """Summary of the assumptions; empty if everything is stated."""
        return f"ASSUMED, NOT STATED: {self._what()}" if self.joints else ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings at the top of a report; empty if everything is stated."""
        return tuple(filter(None, (*self.taken, Assumption(self._of_joints(), self._in_short()))))

    def _in_short(self) -> str:
        """Return the brakes and decelerations in a few words."""
        number = {
            "brakes": len(self.brakes),
            "decelerations": len(self.ramps),
            "brake delays": len(self.delays),
        }
        if not any(number.values()):
            return ""
        if any(said.startswith(NO_DRIVE) for said in self.taken):
            return "no evidence for safety"
        said = [f"{what} of {counted(count, 'joint')}" for what, count in number.items() if count]
        source = " from effort limits" if self.brakes or self.ramps else ""
        return f"{' and '.join(said)}{source}, no evidence for safety"

    def _of_joints(self) -> str:
        if not self.joints:
            return ""
        if self.holding:
            return (
                f"{self.heading}. They only hold the arm after the stated ramps have stopped it, so no time or distance"
                " below depends on them, unless a joint then slips back, which its row reports. State the brakes"
                " to be sure that they hold; --require-brakes refuses assumed ones."
            )
        low, high = PUBLISHED_OVER_DEFAULT
        guessed = any(said.startswith(NO_DRIVE) for said in self.taken)
        of_file = " (effort limits of the file)" if (self.brakes or self.ramps) and not guessed else ""
        parts = [f"{self.heading}{of_file}.", *(RULE,) * guessed]
        if self.brakes and not guessed:
            parts.append(
                f"Published stops of the UR5 and UR3 take {low:g} to {high:g} times as long as with"
                " such brakes."
            )
        if self.ramps and not guessed:
            parts.append("A ramp is a setting of the drive, and may be slower than its effort limit allows.")
        if self.delays:
            parts.append("No brake engages at the signal without a delay: a real stop takes longer.")
        names = (("brakes", self.brakes), ("ramps", self.ramps), ("delays", self.delays))
        missing = " and ".join(name for name, joints in names if joints)
        parts.append(
            f"No number below is evidence for safety: state the {missing}; --require-brakes refuses assumed ones."
        )
        return " ".join(parts)

    def require_none(self) -> None:
        """Require that no brake, delay or deceleration is assumed.

        Raises
        ------
        BadUsage
            Some are assumed; the message names the joints.
        """
        if self.joints:
            ramps = "[[ramp]] or --deceleration, or stop in category 0"
            keys = ("torque",) * bool(self.brakes) + ("delay",) * bool(self.delays)
            key = f"{' and '.join(keys)} in [[brake]] or --brake" if keys else ramps
            also = f" and {ramps}" if keys and self.ramps else ""
            raise BadUsage(
                f"stated brakes are required, but {self._what()} are assumed",
                expected="data of the manufacturer or of a calibration",
                remedy=f"state {key}{also}",
            )

    def _what(self) -> str:
        parts = (
            ("delays of the brakes", self.delays),
            ("brakes", self.brakes),
            ("decelerations", self.ramps),
        )
        return " and ".join(f"the {what} of {listed(joints)}" for what, joints in parts if joints)


#: No assumptions: everything is stated.
NO_EFFORT_LIMITS = EffortLimits()


def start_as_stated(brakes: Iterable[JointBrake], ramps: Iterable[Ramp]) -> bool:
    """Return True if the ramps of all joints with these brakes begin at stated times, not after an assumed delay."""
    stated = {ramp.joint for ramp in ramps if ramp.reaction is not None}
    return all(brake.joint in stated or not (brake.at_once or brake.assumed) for brake in brakes)


def brakes_of_effort(brakes: Iterable[JointBrake | BrakeForce]) -> EffortLimits:
    """Return the joints whose brake torque is assumed, and those whose brake engages without delay."""
    known = tuple(brakes)
    return EffortLimits(
        tuple(brake.joint for brake in known if brake.assumed),
        delays=tuple(brake.joint for brake in known if brake.at_once),
    )


#: Largest plausible ratio of a robot's weakest effort limit to its gravity load; real arms have 2 to 20.
_PLAUSIBLE = 50.0


def placeholder_efforts(mech: Mechanism, brakes: Iterable[JointBrake], q: Array) -> tuple[str, ...]:
    """Return a sentence if implausibly large effort limits replace brakes, at the pose q (nq,).

    The criterion is the joint with the smallest ratio of its limit to the load of the bodies it carries, each at its
    full distance from the joint. Wrists alone would mislead: they are made for a payload, so their ratios are large.
    """
    poses = forward(mech, q)
    pull = float(np.linalg.norm(mech.gravity))
    ratios: list[tuple[float, str, float, float, str]] = []
    for brake in brakes:
        joint = mech.tree.joint_of_pair.get(brake.joint)
        if not brake.assumed or joint is None or joint.pair is None:
            continue
        effort, turns = joint.pair.freedoms[0].effort, is_turn(joint.pair.kind.free[0])
        _, on_axis = joint_axes(mech, joint, poses)
        load = 0.0
        for name in mech.tree.carried(joint.outer):
            i = mech.body_index[name]
            lever = float(np.linalg.norm(poses.p_WC[i] - on_axis)) if turns else 1.0
            load += max(mech.bodies[i].mass, 0.0) * pull * lever
        if load > 0.0:
            ratios.append((effort / load, brake.joint, effort, load, "N·m" if turns else "N"))
    if not ratios or min(ratios)[0] <= _PLAUSIBLE:
        return ()
    ratio, joint_name, effort, load, unit = min(ratios)
    sentence = (
        f"The effort limits look like placeholders: that of {joint_name}, {effort:g} {unit}, is {ratio:.0f} times the"
        f" {load:.3g} {unit} that holds what it carries; stops with real brakes are longer and softer."
    )
    return (Assumption(sentence, "the effort limits look like placeholders"),)


def assumed_brakes(brakes: Iterable[JointBrake | BrakeForce]) -> tuple[str, ...]:
    """Return the assumptions about brakes, one sentence for each joint."""
    return tuple(f"{brake.joint}: {', '.join(said)}" for brake in brakes if (said := _said(brake)))


def _said(brake: JointBrake | BrakeForce) -> tuple[str, ...]:
    return (*brake.assumed, *("its delay is 0 s, as none is stated",) * brake.at_once)


# The tool of a stop: its point, the reason for a default choice, and the axes that do not move it.


class ToolChoice(NamedTuple):
    """The point whose speed and path are computed.

    Parameters
    ----------
    body : str
    point : (float, float, float)
        Link frame, m.
    reason : str
        Why the body is the tool; empty if it was named.
    still_on : tuple of str
        Revolute joints that do not move the point, because it was not stated and lies on their axes.
    """

    body: str = ""
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    reason: str = ""
    still_on: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Body and point, in words."""
        return f"{self.body} at ({', '.join(f'{x:.4g}' for x in self.point)}) m in its link frame"

    @property
    def sentence(self) -> str:
        """The tool used by default, in words; empty if one was given."""
        if not self.reason:
            return ""
        return Assumption(f"no tool given; using {self.body}, {self.reason}", f"tool {self.body} (--tool)")

    @property
    def heading(self) -> str:
        """The axes that do not move the point, in one clause; empty if there are none."""
        axes = listed(self.still_on)
        own = "axis" if len(self.still_on) == 1 else "axes"
        moves = "it" if len(self.still_on) == 1 else "them"
        if not axes:
            return ""
        return f"the tool point, the origin of {self.body}, lies on the {own} of {axes} and does not move with {moves}"

    @property
    def warning(self) -> str:
        """Warning at the top of a report; empty if all axes move the point."""
        if not self.still_on:
            return ""
        sentence = (
            f"NOT THE WHOLE MOTION: {self.heading}. Speed, path and extension of the tool below leave that motion"
            " out, and a payload stated by its mass alone sits there too: state the point with --tool-point"
            " (tool_point) of estop, or name a link at the tip with --tool."
        )
        return Assumption(
            sentence, f"not moved by {listed(self.still_on, 2)}, on whose axis it lies (--tool-point)"
        )

    def moved_by(self, mech: Mechanism, q: Array, moving: Iterable[str]) -> ToolChoice:
        """Return the choice with the ``moving`` joints added if none of them moves the point at a pose q (nq,)."""
        turned = axes_through(mech, self.body, np.array(self.point), q)
        moving = tuple(moving)
        if not moving or not set(moving) <= set(turned):
            return self
        return self._replace(still_on=tuple(dict.fromkeys((*self.still_on, *moving))))

    def over_poses(self, mech: Mechanism, q: Array, stops: Iterable[Sequence[str]]) -> ToolChoice:
        """Return the choice for stops from many poses, each moving the named joints.

        Only axes that meet the point in every pose count. A given pose may be special: the flange of an upright arm
        lies on its first axis. So the joints are displaced from q (nq,) by random amounts (seed 0).
        """
        drawn = q.copy()
        angles = np.random.default_rng(0).uniform(0.3, 1.2, len(q))
        for joint in mech.tree.joints:
            if joint.pair is not None and len(joint.pair.kind.free) == 1:
                drawn[joint.q] += angles[joint.q]
        choice = self._replace(still_on=wide_axes_through(mech, self.body, np.array(self.point), drawn))
        for moving in stops:
            choice = choice.moved_by(mech, drawn, moving)
        return choice


#: No information about the tool.
NO_TOOL = ToolChoice()


def axes_through(mech: Mechanism, body: str, point: Array, q: Array) -> tuple[str, ...]:
    """Return the revolute joints on whose axes a point (3,) of a body (link frame, m) lies at a pose q (nq,)."""
    return tuple(name for name, distance, _ in _axes(mech, body, point, q) if distance < _ON_AXIS)


def wide_axes_through(mech: Mechanism, body: str, point: Array, q: Array) -> tuple[str, ...]:
    """Return the axes through a point (3,) at q (nq,) that turn a wide body: a link, but not a flange about itself."""
    found = _axes(mech, body, point, q)
    reach = max((distance for _, distance, _ in found), default=0.0)
    least = max(_WIDE, _WIDE_SHARE * reach)
    return tuple(name for name, distance, radius in found if distance < _ON_AXIS and radius > least)


def _axes(mech: Mechanism, body: str, point: Array, q: Array) -> list[tuple[str, float, float]]:
    """Return name, distance to a point (3,) and radius of gyration, m, of each revolute joint at q (nq,)."""
    poses = forward(mech, q)
    i = mech.body_index[body]
    tip = poses.p_WL[i] + poses.R_WL[i] @ point
    found = []
    for joint in mech.tree.way_in(body):
        if joint.pair is None or len(joint.pair.kind.free) != 1 or not is_turn(joint.pair.kind.free[0]):
            continue
        S, on_axis = joint_axes(mech, joint, poses)
        way, axis = tip - on_axis, S[3:, 0]
        distance = float(np.linalg.norm(way - (way @ axis) * axis))
        found.append((joint.pair.name, distance, _gyration(mech, joint, poses, axis, on_axis)))
    return found


def _gyration(mech: Mechanism, joint: TreeJoint, poses: BodyPoses, axis: Array, on_axis: Array) -> float:
    """Return the radius of gyration, m, of all bodies a joint turns; axis (3,) and on_axis (3,) in world axes."""
    mass, inertia = 0.0, 0.0
    for name in mech.tree.carried(joint.outer):
        i = mech.body_index[name]
        link, way = mech.bodies[i], poses.p_WC[i] - on_axis
        own = poses.R_WL[i].T @ axis
        mass += link.mass
        inertia += float(own @ link.I_C @ own) + link.mass * float(way @ way - (way @ axis) ** 2)
    # for a body on the axis, rounding may make the difference negative
    return float(np.sqrt(max(inertia, 0.0) / mass)) if mass > 0.0 else 0.0


@one_line_repr
@dataclass(frozen=True, eq=False)
class Scenario:
    """A moving robot and a stop; the signal is at t = 0.

    Parameters
    ----------
    mech : Mechanism
        Without drivers.
    actions : AppliedForces
        Forces other than those of brakes and drives.
    q, qd, qdd : (nq,), (nv,), (nv,) array
        State at the signal; the drives continue it until they react.
    brakes : tuple of JointBrake
    category : 0, 1 or 2
    decelerations : mapping
        Of the driven joints in categories 1 and 2, rad/s² or m/s², positive.
    tool : str
        The body whose stopping distance is computed.
    tool_point : (3,) array
        Point of the tool, link frame, m.
    limits : str
        ``stop``: a joint limit is an end stop; ``ignore``.
    duration : float
        Longest time to rest, s.
    rest_speed : float
        Speed below which a joint that nothing holds counts as at rest, rad/s or m/s; 0: it never does.
    assumed, notes : tuple of str
        Assumptions and changes, one sentence each.
    ramps_of_effort : tuple of str
        Joints that decelerate with their effort limit, because nothing is stated.
    taken : tuple of str
        Other assumptions about the robot, apart from its base, one sentence each.
    tolerance : float
        Relative rank tolerance.
    max_seconds : float
        Time limit of the computation, s.
    ramp_source : RampSource
        Source of the decelerations, for stops from other states.
    named, named_rates : tuple of str
        Coordinates named in the call, and stated rates: they take precedence when a sweep draws other values.
    tool_choice : ToolChoice
        The reason why this point is the tool, and the axes that do not move it.
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
    rest_speed: float = 0.0
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
    taken: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.category not in CATEGORIES:
            raise BadUsage(f"there is no stop category {self.category}", expected="0, 1 or 2")
        if self.limits not in get_args(StopLimits):
            raise BadUsage(f"limits are {self.limits!r}", expected="stop or ignore")
        if not 0 < self.duration <= LONGEST:
            raise BadUsage(f"the duration is {self.duration:g} s", expected=f"up to {LONGEST:g} s")
        if not 0 <= self.rest_speed < inf:
            raise BadUsage(
                f"the rest speed is {self.rest_speed:g}", expected="a speed above zero, rad/s or m/s"
            )
        if self.limits == "stop":
            self._require_within_limits()

    @property
    def stated(self) -> tuple[str, ...]:
        """The brakes, and in categories 1 and 2 the ramps, with their values and sources, in words."""
        braked = {brake.joint for brake in self.brakes}
        ramps = self.ramp_source.stated if self.category else ()
        return (*stated_brakes(self.brakes), *stated_ramps(self.mech, ramps, braked))

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
        """The assumptions about brakes and decelerations of this stop."""
        own = brakes_of_effort(() if self.category == 2 else self.brakes)
        moving = [brake for brake in self.brakes if self.rate_of(brake.joint) >= 0]
        moving = [brake for brake in moving if self.qd[self.rate_of(brake.joint)] != 0.0]
        return own._replace(
            ramps=self.ramps_of_effort,
            taken=(*base_sentence(self.mech.assumed_fixed), *self.taken),
            holding=self.category == 1
            and not self.ramps_of_effort
            and start_as_stated(moving, self.ramp_source.stated),
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Values that are probably stated in another unit, one sentence each."""
        return implausible(self.mech, self.qd, self.actions.payloads, self.brakes)

    def from_state(
        self, q: Array, qd: Array, brakes: tuple[JointBrake, ...], payloads: tuple[Payload, ...]
    ) -> Scenario:
        """Return the stop of the same robot from another state.

        Parameters
        ----------
        q, qd : (nq,), (nv,) array
            State at the signal, rad and m, rad/s and m/s.
        brakes : tuple of JointBrake
            On the same joints.
        payloads : tuple of Payload
            Replace the payloads.
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
        """Return the index of a joint's rate, −1 for a joint that closes a loop."""
        of_pair = self.mech.tree.joint_of_pair
        return of_pair[joint].qd.start if joint in of_pair else -1


def vector_of(values: Array | None, size: int) -> Array:
    """Return a copy of the values (n,), or ``size`` zeros if there are none."""
    return np.zeros(size) if values is None else np.array(values, dtype=float)


def with_assumed_drives(
    model: Scene | Mechanism, brakes: Iterable[BrakeLike] | None = None
) -> Scene | Mechanism:
    """Return the model with effort limits for its joints if no joint has a brake or an effort limit above 0.

    The effort limit of a joint is twice the load that holds its links stretched out level, or what stops their
    inertia, stretched out, from full speed within 0.5 s, if that is more. The mechanism names the joints in
    ``assumed_drives``. Joints of several freedoms, and those that move no mass or follow others, get none.

    Parameters
    ----------
    brakes : iterable of Brake or mapping, optional
        Brakes given by the caller.
    """
    mech = model.mechanism if isinstance(model, Scene) else model
    stated = tuple(brakes or ()) or (isinstance(model, Scene) and model.brakes)
    if stated or any(_known(freedom.effort) for pair in mech.pairs for freedom in pair.freedoms):
        return model
    poses = forward(mech, home(mech))
    efforts = {
        joint.pair.name: effort
        for joint in mech.tree.joints
        if joint.pair is not None and len(joint.pair.kind.free) == 1 and not follows(mech, joint.pair)
        if _known(effort := _effort(mech, joint, poses))
    }
    if not efforts:
        return model
    pairs = tuple(
        replace(pair, freedoms=(replace(pair.freedoms[0], effort=efforts[pair.name]),))
        if pair.name in efforts
        else pair
        for pair in mech.pairs
    )
    driven = replace(mech, pairs=pairs, assumed_drives=tuple(efforts))
    return replace(model, mechanism=driven) if isinstance(model, Scene) else driven


def drives_sentence(mech: Mechanism) -> tuple[str, ...]:
    """Return a sentence with the numbers of the assumed brakes and the option; empty if there are none."""
    pairs = [pair for pair in mech.pairs if pair.name in mech.assumed_drives and pair.kind.free]
    if not pairs:
        return ()
    shown = [f"{p.name} {p.freedoms[0].effort:.3g} {units_of(p.kind.free[0]).force}" for p in pairs]
    said = listed(shown, _NAMED, _ROOM)
    sentence = f"{NO_DRIVE}: assumed are {said} (--brake, brakes=)."
    return (Assumption(sentence, f"brakes {said}, as none and no effort limit is stated (--brake)"),)


def assumed_speeds(
    mech: Mechanism, axes: Iterable[str], given: Mapping[str, float] | None
) -> dict[str, float]:
    """Return full speeds to assume, rad/s and m/s, if none of the axes has a velocity limit or a given speed."""
    pairs = [mech.pair_by_name[name] for name in axes]
    if given or any(_known(pair.freedoms[0].velocity) for pair in pairs):
        return {}
    return {pair.name: _default_speed(is_turn(pair.kind.free[0])) for pair in pairs}


def speeds_said(
    mech: Mechanism, assumed: Mapping[str, float], axes: Iterable[str], given: Mapping[str, float] | None
) -> tuple[str, ...]:
    """Return a sentence on full speeds that are assumed, or on velocity limits that no robot reaches."""
    beyond = {}
    for name in axes:
        free, limit = mech.pair_by_name[name].kind.free[0], mech.pair_by_name[name].freedoms[0].velocity
        if (
            name not in (given or {})
            and (_FASTEST_TURN if is_turn(free) else _FASTEST_SLIDE) < limit < np.inf
        ):
            beyond[name] = limit
    speeds = assumed or beyond
    if not speeds:
        return ()
    units = {name: units_of(mech.pair_by_name[name].kind.free[0]).rate for name in speeds}
    shown = listed([f"{name} {speed:g} {units[name]}" for name, speed in speeds.items()], _NAMED, _ROOM)
    if assumed:
        sentence = f"No axis states a velocity limit: assumed are {shown} (--speed, speeds=)."
        return (Assumption(sentence, f"full speeds {shown} (--speed)"),)
    sentence = f"No robot reaches the velocity limits of the file, {shown}, which are the full speeds here: "
    sentence += "--speed (speeds=) states others."
    return (Assumption(sentence, f"full speeds {shown} from the file, which no robot reaches (--speed)"),)


def _effort(mech: Mechanism, joint: TreeJoint, poses: BodyPoses) -> float:
    """Return the assumed effort limit of a joint, N·m or N; 0 if it moves no mass."""
    pair = joint.pair
    assert pair is not None
    turns, velocity = is_turn(pair.kind.free[0]), pair.freedoms[0].velocity
    S, on_axis = joint_axes(mech, joint, poses)
    reach = _reaches(mech, joint, poses, on_axis, S[3:, 0] if turns else None)
    pull, load, inertia = float(np.linalg.norm(mech.gravity)), 0.0, 0.0
    for name, lever in reach.items():
        body = mech.bodies[mech.body_index[name]]
        mass = max(body.mass, 0.0)
        load += mass * pull * (lever if turns else 1.0)
        inertia += mass * lever**2 + max(float(np.linalg.eigvalsh(body.I_C)[-1]), 0.0) if turns else mass
    speed = velocity if _known(velocity) else _default_speed(turns)
    return max(_MARGIN * load, inertia * speed / _STOP_TIME)


def _reaches(
    mech: Mechanism, joint: TreeJoint, poses: BodyPoses, on_axis: Array, axis: Array | None
) -> dict[str, float]:
    """Return the largest distances of the centres of mass of the carried bodies from a joint, over all poses, m.

    Parameters
    ----------
    on_axis : (3,) array
    axis : (3,) array or None
        Of a joint that turns: distances are those from the axis, and a wheel has none.
    """
    begins, places = {joint.outer: 0.0}, {joint.outer: on_axis}

    def distance(body: str, point: Array) -> float:
        way = point - places[body]
        if axis is not None and body == joint.outer:
            way = way - (way @ axis) * axis
        return begins[body] + float(np.linalg.norm(way))

    carried = mech.tree.carried(joint.outer)
    for other in mech.tree.joints:
        if other.outer == joint.outer or other.outer not in carried or other.inner not in places:
            continue
        _, point = joint_axes(mech, other, poses)
        pair = other.pair
        rigid = pair is None or not pair.kind.free
        # a body that is fixed to another keeps its place on it, and distances are measured from where that begins
        begins[other.outer] = begins[other.inner] if rigid else distance(other.inner, point)
        places[other.outer] = places[other.inner] if rigid else point
        if pair is not None and pair.kind.free and not is_turn(pair.kind.free[0]):
            ends = [abs(end) for end in (pair.freedoms[0].lower, pair.freedoms[0].upper) if isfinite(end)]
            begins[other.outer] += max(ends, default=0.0)
    return {name: distance(name, poses.p_WC[mech.body_index[name]]) for name in places}


def _default_speed(turns: bool) -> float:
    return _TURNING if turns else _SLIDING


def _known(value: float) -> bool:
    return isfinite(value) and value > 0.0
