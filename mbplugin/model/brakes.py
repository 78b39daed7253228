"""Brakes of a robot as forces: stated data, defaults from effort limits, engagement times; other applied forces."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields, replace
from math import inf, isfinite, pi
from numbers import Real
from typing import Any

import numpy as np

from mbplugin.errors import BadNumber, BadUsage, ImplausibleValue, UnknownName, suggestion
from mbplugin.model import brake_law
from mbplugin.model.mechanism import WORLD, Mechanism, kinematics
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Load, Payload, Scene, require_kind, require_table
from mbplugin.model.spatial import Array, JointSpring, Spring, units_of
from mbplugin.phrases import Assumption, counted, dataclass, listed, one_line_repr

#: A rate may exceed its velocity limit by this factor: full speed is the limit itself.
_ABOVE = 1.0 + 1e-6
#: A coordinate beyond its limit by less is a rounding error: rad or m, and relative to larger values.
_ROUNDING = 1e-9
#: Longest plausible delay and engagement time of a brake, s.
_SLOWEST = 1.0
#: Largest plausible brake torque, relative to the effort limit of the joint.
_STRONGEST = 20.0
BrakeLike = brake_law.Brake | Mapping[str, Any]
#: Delay assumed for a joint with no stated brake data, s; it fits the stopping times published by makers of small
#: robots.
ASSUMED_DELAY = 0.015
_KEYS = tuple(field.name for field in fields(brake_law.Brake) if field.name != "uncertainty")
#: A controller returns generalised forces (nv,) in the order of ``qd_names``, N·m and N, for t, q, qd.
Controller = Callable[[float, Array, Array], Array]


# Implausible numbers, probably mistyped or in another unit: degrees for radians, grams for kilograms.


def implausible(
    mech: Mechanism, qd: Array, payloads: Sequence[Payload] = (), brakes: Sequence[JointBrake] = ()
) -> tuple[str, ...]:
    """Return warnings on implausible rates, masses, payloads and brakes, one sentence each.

    These are rates above their limits, negative masses, payloads heavier than the robot, slow brakes, and brakes much
    stronger than the effort limits.

    Parameters
    ----------
    mech : Mechanism
    qd : (nv,) array
        rad/s and m/s.
    payloads : sequence of Payload
    brakes : sequence of JointBrake
    """
    return (
        *_rates(mech, qd),
        *masses_below_zero(mech),
        *_payloads(mech, payloads),
        *_times(brakes),
        *_torques(mech, brakes),
    )


def weightless(scene: Scene) -> tuple[str, ...]:
    """Return a sentence on moving links that have a shape but no mass and are computed as massless."""
    names = [name for name in weightless_bodies(scene.mechanism) if scene.shapes.get(name)]
    if not names:
        return ()
    sentence = (
        f"links that have a shape and no mass count as without mass, so that forces and travels may be too small:"
        f" {listed(names)}"
    )
    count = "1 link with a shape has" if len(names) == 1 else f"{len(names)} links with shapes have"
    return (Assumption(sentence, f"{count} no mass (--massless)"),)


def weightless_bodies(mech: Mechanism) -> list[str]:
    """Return the moving bodies without mass."""
    group = kinematics.rigid_groups(mech)
    return [body.name for body in mech.bodies if body.mass == 0 and WORLD not in group[body.name]]


def idle_sentence(mech: Mechanism, actions: AppliedForces) -> tuple[str, ...]:
    """Return a sentence on drives that exert no force; empty if a force acts, or no joint states an effort limit."""
    acting = actions.torques or actions.controller or actions.brakes or mech.drivers or mech.locks
    driven = [pair.name for pair in mech.pairs if any(0 < f.effort < inf for f in pair.freedoms)]
    if acting or not driven:
        return ()
    sentence = (
        f"No drive acts on {listed(driven, 3)}: --torque, --lock and --profile (torques, locks, profiles) do."
    )
    return (
        Assumption(
            sentence, f"no drive acts on {counted(len(driven), 'joint')} (--torque, --lock, --profile)"
        ),
    )


def stated_coordinates(mech: Mechanism, q: kinematics.JointValues, base: Array | None = None) -> Array:
    """Return q (nq,) as :func:`joint_vector` does, with ``base`` (nq,) for others, and warn of implausible coordinates.

    Of a vector, only coordinates that differ from ``base`` (without one, from the home pose) are checked.

    Warns
    -----
    ImplausibleValue
        A coordinate is beyond the limits of its joint, or a large whole number that is probably in degrees.
    """
    found = kinematics.joint_vector(mech, q, base)
    if q is not None:
        values = dict(zip(mech.q_names, found.tolist(), strict=True))
        own = kinematics.home(mech) if base is None else base
        changed = [n for n, old in zip(mech.q_names, own.tolist(), strict=True) if values[n] != old]
        warn_of(
            _coordinates(mech, {name: values[name] for name in (q if isinstance(q, Mapping) else changed)})
        )
    return found


def with_coordinates(scene: Scene, values: Mapping[str, float | str]) -> Scene:
    """Return the scene with the given joint coordinates (rad, m), which are kept when loops are closed."""
    q = stated_coordinates(scene.mechanism, values, scene.state.q)
    named = scene.state.named | set(values)
    return replace(scene, state=replace(scene.state, q=q, given=scene.state.given | named, named=named))


def warn_of(sentences: Iterable[str]) -> None:
    """Issue a warning for each sentence, attributed to the caller of the package.

    Warns
    -----
    ImplausibleValue
        For each sentence; the command line prints each one once.
    """
    for sentence in sentences:
        warnings.warn(sentence, ImplausibleValue, stacklevel=_outside())


def meant_in_degrees(pair: Pair | None, value: float) -> bool:
    """Return True if a coordinate (rad) of more than half a turn would be within its limits if it were in degrees.

    A value that was converted from degrees is excluded by its digits.
    """
    if pair is None or len(pair.freedoms) != 1 or not _is_short(value):
        return False
    turns, limits = pair.kind.free[0][0] == "r", pair.freedoms[0]
    return turns and abs(value) > pi and limits.lower <= value * pi / 180 <= limits.upper


def _outside() -> int:
    """Return the ``stacklevel`` of the first caller outside the package, counted from the caller of this function."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and _is_own(frame.f_globals.get("__name__", "")):
        depth, frame = depth + 1, frame.f_back
    return depth


def _is_own(module: str) -> bool:
    return module.startswith("mbplugin.") or module == "contextlib"


def _is_short(value: float) -> bool:
    """Return True if six digits represent a number; one converted from another unit, such as 300deg, has more."""
    return float(f"{value:g}") == value


def _coordinates(mech: Mechanism, q: Mapping[str, float]) -> Iterator[str]:
    """Yield a sentence on each implausible coordinate, rad or m."""
    for name, value in q.items():
        pair = mech.pair_by_name.get(name)
        if pair is None or len(pair.freedoms) != 1:
            continue
        turns, limits = pair.kind.free[0][0] == "r", pair.freedoms[0]
        slack = _ROUNDING * max(1.0, abs(value))
        inside = limits.lower - slack <= value <= limits.upper + slack
        in_degrees = meant_in_degrees(pair, value)
        if inside and not (in_degrees and abs(value) > 2 * pi and value == round(value)):
            continue
        size = brake_law.in_both(value, *(("rad", "deg") if turns else ("m", "mm")))
        beyond = "more than a turn" if inside else "beyond its limits"
        meant = f"; write {value:g}deg if that is meant" if in_degrees else ""
        yield f"the coordinate of {name} is {size}, {beyond}{meant}"


def masses_below_zero(mech: Mechanism) -> Iterator[str]:
    """Yield a sentence on each body with negative mass."""
    for body in mech.bodies:
        if body.mass < 0:
            yield f"the mass of {body.name} is {body.mass:g} kg, so the motion is not that of a robot; correct it"


def _rates(mech: Mechanism, qd: Array) -> Iterator[str]:
    """Yield a sentence on each rate of qd (nv,), rad/s and m/s, above its velocity limit."""
    for pair in mech.pairs:
        joint = mech.tree.joint_of_pair.get(pair.name)
        if joint is None or len(pair.freedoms) != 1:
            continue
        limit, rate = pair.freedoms[0].velocity, float(qd[joint.qd.start])
        if not (isfinite(limit) and 0 < limit * _ABOVE < abs(rate)):
            continue
        turns = pair.kind.free[0][0] == "r"
        unit, other, size = ("rad/s", "deg/s", pi / 180) if turns else ("m/s", "mm/s", 1e-3)
        fits = abs(rate) * size <= limit * _ABOVE and _is_short(rate)
        meant = f"; write {rate:g}{other} if that is meant" if fits else ""
        yield (
            f"the rate of {pair.name} is {brake_law.in_both(rate, unit, other)}, above its velocity limit of"
            f" {brake_law.in_both(limit, unit, other)}{meant}"
        )


def _payloads(mech: Mechanism, payloads: Sequence[Payload]) -> Iterator[str]:
    own = sum(body.mass for body in mech.bodies)
    carried = sum(payload.mass for payload in payloads)
    if 0 < own < carried:
        meant = f"; write {carried:g}g if that is meant" if carried * 1e-3 <= own else ""
        yield (
            f"the payload is {brake_law.in_both(carried, 'kg', 'g')}, more than the whole robot"
            f" ({brake_law.in_both(own, 'kg', 'g')}){meant}"
        )


def _times(brakes: Sequence[JointBrake]) -> Iterator[str]:
    for brake in brakes:
        for name, value in (("delay", brake.delay), ("engagement", brake.engagement)):
            if value > _SLOWEST:
                meant = f"; write {value:g}ms if that is meant" if value * 1e-3 <= _SLOWEST else ""
                yield f"the {name} of the brake of {brake.joint} is {value:g} s{meant}"


def _torques(mech: Mechanism, brakes: Sequence[JointBrake]) -> Iterator[str]:
    for brake in brakes:
        effort = mech.pair_by_name[brake.joint].freedoms[0].effort
        if isfinite(effort) and brake.law.static > _STRONGEST * effort > 0:
            unit = units_of(brake.freedom).force
            yield (
                f"the brake of {brake.joint} holds {brake.law.static:g} {unit}, {brake.law.static / effort:.0f} times"
                f" the effort limit of the joint, {effort:g} {unit}"
            )


@one_line_repr
@dataclass(frozen=True)
class JointBrake:
    """A brake with all its parameters filled in.

    Parameters
    ----------
    law : BrakeLaw
        Law with wear included.
    delay : float
        Time from the signal until the drive is without power, s.
    engagement : float
        Time from then until the brake grips, s.
    assumed : tuple of str
        Assumptions for values that were not stated, one phrase each.
    origin : str
        Source of the numbers, as far as stated.
    wear : float
        Remaining fraction of the dry torques; already included in the law.
    at_once : bool
        Whether the brake grips with the signal, because no times are stated.
    uncertainty : FitUncertainty or None
        Uncertainty from a calibration.
    """

    joint: str
    freedom: str
    law: brake_law.BrakeLaw
    delay: float
    engagement: float
    assumed: tuple[str, ...] = ()
    origin: str = ""
    wear: float = 1.0
    at_once: bool = False
    uncertainty: brake_law.FitUncertainty | None = None

    @property
    def sentence(self) -> str:
        """A sentence with the numbers of the brake and their source."""
        units = units_of(self.freedom)
        law = self.law.words(units.force, units.rate) + (
            f" (wear {self.wear:g} included)" if self.wear != 1 else ""
        )
        times = f"{1e3 * self.delay:g} ms until power off, {1e3 * self.engagement:g} ms more until it grips"
        if self.at_once:
            times = "it grips with the signal, as no delay is stated"
        return f"{self.joint}: the brake {law}; {times} ({self.origin or 'stated'})"

    def scaled(self, torque: float, delay: float) -> JointBrake:
        """Return the brake with its torques and its delays multiplied by factors."""
        return replace(
            self,
            law=self.law.scaled(torque),
            delay=delay * self.delay,
            engagement=delay * self.engagement,
        )

    @property
    def engagement_time(self) -> float:
        """Time from the signal until the brake grips, s."""
        return self.delay + self.engagement

    def force(self, signal: float = 0.0) -> BrakeForce:
        """Return the braking force for a signal at a given time (s)."""
        closes = signal + self.engagement_time
        return BrakeForce(self.joint, self.freedom, self.law, closes, self.assumed, self.at_once)


def read_brakes(mech: Mechanism, brakes: Iterable[BrakeLike]) -> tuple[JointBrake, ...]:
    """Read stated brakes and fill in the missing values.

    A missing torque is the effort limit of the joint; a missing static torque is the sliding one.

    Parameters
    ----------
    brakes : iterable of Brake or mapping
        A mapping has the keys of a scene's ``[[brake]]``, which are the parameters of :class:`Brake`.

    Raises
    ------
    UnknownName
        A joint or a key is unknown.
    BadUsage
        A joint does not have exactly one freedom, has two brakes, or has neither a stated torque nor an effort limit.
    BadNumber
        A number is not valid, such as negative or not finite.
    """
    found = tuple(_read(mech, brake) for brake in brakes)
    for k, brake in enumerate(found):
        if brake.joint in (other.joint for other in found[:k]):
            raise BadUsage(f"joint {brake.joint!r} has two brakes", expected="one per joint")
    return found


def signalled_brakes(
    mech: Mechanism,
    own: tuple[brake_law.Brake, ...],
    brakes: Iterable[BrakeLike] | None,
    signal: float | None,
) -> tuple[tuple[JointBrake, ...], float]:
    """Return the brakes of a motion and the time of their signal, s: those given, else, with a signal, the scene's own.

    Raises
    ------
    BadUsage
        The signal is before the start, or there is no brake for it.
    """
    if brakes is None and signal is None:
        return (), 0.0
    signal = 0.0 if signal is None else signal
    if not (isfinite(signal) and signal >= 0):
        raise BadUsage(f"the brake signal is at {signal:g} s", expected="a time from 0 on")
    if brakes is None and not own:
        raise BadUsage("there is a signal to brake, and no brake", remedy="state brakes")
    return read_brakes(mech, own if brakes is None else brakes), signal


def robot_brakes(mech: Mechanism, brakes: Iterable[BrakeLike]) -> tuple[JointBrake, ...]:
    """Return the brakes of all joints: stated ones, and assumed ones for joints with an effort limit.

    Raises
    ------
    BadUsage
        No joint has a brake or an effort limit.
    """
    stated = read_brakes(mech, brakes)
    braked = {brake.joint for brake in stated}
    assumed = (
        brake_law.Brake(pair.name, delay=ASSUMED_DELAY)
        for pair in mech.pairs
        if pair.name not in braked
        and len(pair.kind.free) == 1
        and _effort(pair)
        and not kinematics.follows(mech, pair)
    )
    guessed = set(mech.assumed_drives)
    found = (
        *stated,
        *(
            _filled(mech.pair_by_name[b.joint], b, ("no brake is stated",), b.joint in guessed)
            for b in assumed
        ),
    )
    if not found:
        raise no_brakes(mech)
    order = {pair.name: k for k, pair in enumerate(mech.pairs)}
    return tuple(sorted(found, key=lambda brake: order[brake.joint]))


def no_brakes(mech: Mechanism) -> BadUsage:
    """Return the error for a stop of a robot without brakes."""
    if not any(pair.kind.free for pair in mech.pairs):
        return BadUsage(
            f"no joint of {mech.name!r} can move, so that it has no stop",
            expected="a file with a joint that is not fixed",
        )
    return BadUsage(
        f"no joint of {mech.name!r} has a brake or an effort limit",
        remedy="state a [[brake]] in a scene, or --brake JOINT:torque=TORQUE"
        " (brakes=[{'joint': JOINT, 'torque': TORQUE}])",
    )


def stated_ramps(
    mech: Mechanism, ramps: Iterable[brake_law.Ramp], joints: Collection[str]
) -> tuple[str, ...]:
    """Return one sentence for the ramp of each given joint."""
    return tuple(
        ramp.sentence(units_of(mech.pair_by_name[ramp.joint].kind.free[0]).coordinate)
        for ramp in ramps
        if ramp.joint in joints
    )


def speeds_sentence(mech: Mechanism, what: str, speeds: Mapping[str, float]) -> brake_law.Said:
    """Return one sentence with the speeds of joints, rad/s or m/s."""
    named = ", ".join(f"{brake_law.quoted(axis)} {{}}" for axis in speeds)
    rates = [units_of(mech.pair_by_name[axis].kind.free[0]).rate for axis in speeds]
    return brake_law.Said(f"{what}: {named}", *zip(speeds.values(), rates, strict=True))


def stated_brakes(brakes: Iterable[JointBrake]) -> tuple[str, ...]:
    """Return one sentence for each brake that is stated in full."""
    return tuple(brake.sentence for brake in brakes if not brake.assumed)


def brakeless(mech: Mechanism, brakes: Iterable[JointBrake]) -> tuple[str, ...]:
    """Return one sentence for each joint without a brake, with the reason."""
    zero, unstated = kinematics.unbraked_joints(mech, {brake.joint for brake in brakes})
    return (
        *(f"joint {joint} has no brake: its effort limit is 0" for joint in zero),
        *(f"joint {joint} has no brake: it states neither a brake nor an effort limit" for joint in unstated),
    )


def unbraked_for_freedoms(mech: Mechanism) -> tuple[str, ...]:
    """Return one sentence for each joint with an effort limit that gets no brake because it has several freedoms."""
    return tuple(
        f"{pair.name}: an effort limit, but {len(pair.kind.free)} freedoms: no brake is assumed"
        for pair in mech.pairs
        if len(pair.kind.free) > 1 and any(isfinite(f.effort) and f.effort > 0 for f in pair.freedoms)
    )


def _effort(pair: Pair) -> float:
    effort = pair.freedoms[0].effort
    return effort if isfinite(effort) else 0.0


def brake_in_si(mech: Mechanism, brake: BrakeLike) -> brake_law.Brake:
    """Return a brake with texts with units converted to numbers in SI units."""
    if isinstance(brake, Mapping):
        require_table("brake", brake, _KEYS, 50)
        brake = brake_law.Brake(**brake)
    require_kind("brake", brake, brake_law.Brake, _KEYS)
    pair = _braked_pair(mech, brake.joint)
    slides = pair.kind.free[0][0] == "t"
    numbers: dict[str, Any] = {
        part.name: getattr(brake, part.name) for part in fields(brake_law.Brake) if part.metadata
    }
    for key, value in numbers.items():
        if isinstance(value, str):
            what = f"the brake of {pair.name!r} has {key}"
            numbers[key] = brake_law.SI.value(value, brake_law.dimension_of(key, slides), what)
    return replace(brake, **numbers)


def _read(mech: Mechanism, brake: BrakeLike) -> JointBrake:
    brake = brake_in_si(mech, brake)
    pair = mech.pair_by_name[brake.joint]
    if wrong := brake_law.bad_number(brake):
        key, expected = wrong
        value = getattr(brake, key)
        raise BadNumber(
            f"the {key.replace('_', ' ')} of the brake of {pair.name!r} is"
            f" {f'{value:g}' if isinstance(value, Real) else repr(value)}",
            expected=expected,
        )
    if brake.torque is None and not _effort(pair):
        raise BadUsage(
            f"the brake of {pair.name!r} states no torque, and the joint no effort limit",
            remedy="state torque in its [[brake]]",
        )
    return _filled(pair, brake)


def _braked_pair(mech: Mechanism, joint: str) -> Pair:
    if joint not in mech.pair_by_name:
        raise UnknownName(
            f"a brake is on an unknown joint {joint!r}", remedy=suggestion(joint, list(mech.pair_by_name))
        )
    pair = mech.pair_by_name[joint]
    if len(pair.kind.free) != 1:
        raise BadUsage(
            f"a brake is on the {pair.type} joint {joint!r}, which has {len(pair.kind.free)} freedoms",
            expected="a joint with one",
        )
    return pair


def _filled(
    pair: Pair, brake: brake_law.Brake, assumed: tuple[str, ...] = (), guessed: bool = False
) -> JointBrake:
    effort = _effort(pair)
    unit = units_of(pair.kind.free[0]).force
    if brake.torque is None:
        share = f" times its wear {brake.wear:g}" if brake.wear != 1 else ""
        own = f"assumed, {effort:.3g}" if guessed else f"assumed as the effort limit, {effort:g}"
        assumed = (*assumed, f"torque {own} {unit}{share}")
    if wrong := brake_law.contradiction(brake, effort, unit):
        _, clause, expected = wrong
        raise BadUsage(f"the brake of {pair.name!r} {clause}", expected=expected)
    if assumed and brake.delay == ASSUMED_DELAY:
        assumed = (*assumed, f"delay assumed as {brake.delay:g} s")
    return JointBrake(
        pair.name,
        pair.kind.free[0],
        brake.law(effort),
        brake.delay or 0.0,
        brake.engagement,
        assumed,
        brake.origin,
        brake.wear,
        at_once=brake.delay is None and not brake.engagement,
        uncertainty=brake.uncertainty,
    )


def stated_brake(brake: JointBrake) -> brake_law.Brake:
    """Return a brake as a statement of all its numbers, wear included."""
    law, names = brake.law, {part.name for part in fields(brake_law.Brake)}
    # the parts besides the dry one have the same names in both
    parts = {
        part.name: getattr(law, part.name)
        for part in fields(brake_law.BrakeLaw)
        if part.name in names and getattr(law, part.name) != part.default
    }
    return brake_law.Brake(
        brake.joint,
        law.sliding,
        None if law.static == law.sliding else law.static,
        delay=brake.delay,
        engagement=brake.engagement,
        origin=brake.origin,
        uncertainty=brake.uncertainty,
        **parts,
    )


# The forces on a moving mechanism: loads, payloads, springs, dampers, friction, armature.
#
# Joint forces act on joint rates, so that one description serves absolute and joint coordinates.


@one_line_repr
@dataclass(frozen=True)
class BrakeForce:
    """The force of a brake on one freedom from the time when it grips.

    Parameters
    ----------
    closes : float
        Time at which the brake grips, s.
    assumed : tuple of str
        Assumptions for values that were not stated, one phrase each.
    at_once : bool
        Whether the brake grips with the signal, because no times are stated.
    """

    joint: str
    freedom: str
    law: brake_law.BrakeLaw
    closes: float = 0.0
    assumed: tuple[str, ...] = ()
    at_once: bool = False


@one_line_repr
@dataclass(frozen=True, eq=False)
class AppliedForces:
    """The applied forces on a mechanism, besides constraints and gravity, and added masses.

    Parameters
    ----------
    loads : tuple of Load
        Constant wrenches on bodies.
    payloads : tuple of Payload
        Masses that move with a body.
    torques : mapping
        Constant generalised forces by joint rate, N·m or N.
    armature : mapping
        Inertias that drives add, by joint rate, kg·m² or kg.
    damping : bool
        Whether the viscous damping stated in the file is applied.
    friction : bool
        Whether the dry friction stated in the file is applied.
    controller : callable, optional
        Generalised forces as a function of (t, q, qd).
    """

    loads: tuple[Load, ...] = ()
    payloads: tuple[Payload, ...] = ()
    springs: tuple[Spring, ...] = ()
    joint_springs: tuple[JointSpring, ...] = ()
    torques: Mapping[str, float] = field(default_factory=dict)
    armature: Mapping[str, float] = field(default_factory=dict)
    damping: bool = True
    friction: bool = True
    controller: Controller | None = None
    brakes: tuple[BrakeForce, ...] = ()


#: Only gravity, and the damping and friction stated in the file.
NO_FORCES = AppliedForces()


def scene_actions(scene: Scene) -> AppliedForces:
    """Return the loads, payloads and springs of a scene, and the armature J·n² of its actuators."""
    armature = {a.joint: a.armature * a.gear_ratio**2 for a in scene.actuators if a.armature}
    return with_springs(AppliedForces(scene.loads, scene.payloads, armature=armature), scene.springs)


def with_springs(actions: AppliedForces, springs: Iterable[Spring | JointSpring]) -> AppliedForces:
    """Return the applied forces with additional springs."""
    springs = tuple(springs)
    return replace(
        actions,
        springs=(*actions.springs, *(s for s in springs if isinstance(s, Spring))),
        joint_springs=(*actions.joint_springs, *(s for s in springs if isinstance(s, JointSpring))),
    )


def rate_values(mech: Mechanism, values: Mapping[str, float], what: str) -> Array:
    """Return values by rate name as a vector (nv,), zero for rates without one.

    Raises
    ------
    UnknownName
        A name is not that of a joint rate.
    BadNumber
        A value is not finite.
    """
    out = np.zeros(len(mech.qd_names))
    for name, value in values.items():
        if name not in mech.qd_names:
            closes = name in mech.pair_by_name and name not in mech.tree.joint_of_pair
            raise UnknownName(
                f"{what} is given for {name!r}, which {'closes a loop and has' if closes else 'is'} no joint rate",
                remedy="let another joint of its loop be the closure"
                if closes
                else suggestion(name, mech.qd_names),
            )
        if not np.isfinite(value):
            raise BadNumber(
                f"{what} of {name!r} has a value that is not finite", expected="numbers in SI units"
            )
        out[mech.qd_names.index(name)] = value
    return out


def rest_values(mech: Mechanism, springs: Sequence[JointSpring]) -> tuple[Array, Array]:
    """Return the total spring stiffness (nv,) and the unloaded coordinate (nv,) for each joint rate.

    Raises
    ------
    UnknownName
        A spring is on a joint whose rate is not the derivative of one coordinate.
    """
    k = np.zeros(len(mech.qd_names))
    moment = np.zeros_like(k)
    for spring in springs:
        k += (own := rate_values(mech, {spring.joint: spring.stiffness}, "a spring"))
        if spring.joint not in mech.q_names:
            raise UnknownName(
                f"the spring of {spring.joint!r} has no coordinate to act on",
                expected="a joint whose rate is the derivative of one coordinate",
            )
        moment += own * spring.rest
    return k, moment / np.where(k != 0, k, 1.0)
