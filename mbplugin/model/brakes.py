"""The brakes of a robot as forces: stated data, defaults from effort limits, and engagement times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from math import isfinite
from numbers import Real
from typing import Any

from mbplugin.errors import BadNumber, BadUsage, UnknownName, suggestion
from mbplugin.model.applied_forces import BrakeForce
from mbplugin.model.brake_law import Brake, BrakeLaw, bad_number, contradiction, dimension_of
from mbplugin.model.component import units_of
from mbplugin.model.loads import require_kind, require_table
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.mechanism.undriven import follows, unbraked_joints
from mbplugin.model.units import SI
from mbplugin.phrases import one_line_repr

BrakeLike = Brake | Mapping[str, Any]

#: Reaction delay of a joint of which nothing is stated, s: what fits the stopping times that makers of
#: small robots publish.
ASSUMED_DELAY = 0.015

_KEYS = tuple(field.name for field in fields(Brake))


@one_line_repr
@dataclass(frozen=True)
class JointBrake:
    """A brake with all its numbers.

    Parameters
    ----------
    law : BrakeLaw
        Wear included.
    delay : float
        From the signal until the drive is without power, s.
    engagement : float
        From there until the brake grips, s.
    assumed : tuple of str
        What was not stated, one phrase each.
    origin : str
        Where the numbers come from, as far as that is stated.
    wear : float
        Share of the dry parts that is left; the law has it already.
    at_once : bool
        It grips with the signal, as nothing is stated about its times.
    """

    joint: str
    freedom: str
    law: BrakeLaw
    delay: float
    engagement: float
    assumed: tuple[str, ...] = ()
    origin: str = ""
    wear: float = 1.0
    at_once: bool = False

    @property
    def sentence(self) -> str:
        """Its numbers, and where they come from."""
        units = units_of(self.freedom)
        law = self.law.words(units.force, units.rate) + (
            f" (wear {self.wear:g} included)" if self.wear != 1 else ""
        )
        times = f"{1e3 * self.delay:g} ms until power off, {1e3 * self.engagement:g} ms more until it grips"
        if self.at_once:
            times = "it grips with the signal, as no delay is stated"
        return f"{self.joint}: the brake {law}; {times} ({self.origin or 'stated'})"

    @property
    def engagement_time(self) -> float:
        """From the signal until the brake grips, s."""
        return self.delay + self.engagement

    def force(self, signal: float = 0.0) -> BrakeForce:
        """Return what it does after a signal at a time (s)."""
        closes = signal + self.engagement_time
        return BrakeForce(self.joint, self.freedom, self.law, closes, self.assumed, self.at_once)


def read_brakes(mech: Mechanism, brakes: Iterable[BrakeLike]) -> tuple[JointBrake, ...]:
    """Return stated brakes with what they leave out filled in.

    A torque that is not stated is the effort limit of the joint; a static one is the sliding one.

    Parameters
    ----------
    brakes : iterable of Brake or mapping
        A mapping has the keys of a scene's ``[[brake]]``, which are the parameters of :class:`Brake`.

    Raises
    ------
    UnknownName
        No such joint, or an unknown key.
    BadUsage
        A joint without exactly one freedom, two brakes on one joint, or no torque to be had.
    BadNumber
        A number that is negative or not finite.
    """
    found = tuple(_read(mech, brake) for brake in brakes)
    for k, brake in enumerate(found):
        if brake.joint in (other.joint for other in found[:k]):
            raise BadUsage(f"joint {brake.joint!r} has two brakes", expected="one per joint")
    return found


def signalled_brakes(
    mech: Mechanism, own: tuple[Brake, ...], brakes: Iterable[BrakeLike] | None, signal: float | None
) -> tuple[tuple[JointBrake, ...], float]:
    """Return the brakes that grip during a motion, those given or after a mere signal a scene's own, and its time, s.

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
    """Return the brakes of all joints: the stated ones, and assumed ones at joints with an effort limit.

    Raises
    ------
    BadUsage
        No joint has a brake or an effort limit.
    """
    stated = read_brakes(mech, brakes)
    led = {brake.joint for brake in stated}
    assumed = (
        Brake(pair.name, delay=ASSUMED_DELAY)
        for pair in mech.pairs
        if pair.name not in led and len(pair.kind.free) == 1 and _effort(pair) and not follows(mech, pair)
    )
    found = (*stated, *(_filled(mech.pair_by_name[b.joint], b, ("no brake is stated",)) for b in assumed))
    if not found:
        raise no_brakes(mech)
    order = {pair.name: k for k, pair in enumerate(mech.pairs)}
    return tuple(sorted(found, key=lambda brake: order[brake.joint]))


def no_brakes(mech: Mechanism) -> BadUsage:
    """Return the error of a stop of a robot that nothing brakes."""
    return BadUsage(
        f"no joint of {mech.name!r} has a brake or an effort limit",
        remedy="state a [[brake]] in a scene, or --brake JOINT:torque=TORQUE"
        " (brakes=[{'joint': JOINT, 'torque': TORQUE}])",
    )


def stated_brakes(brakes: Iterable[JointBrake]) -> tuple[str, ...]:
    """Return the brakes that are stated in full, one sentence each."""
    return tuple(brake.sentence for brake in brakes if not brake.assumed)


def brakeless(mech: Mechanism, brakes: Iterable[JointBrake]) -> tuple[str, ...]:
    """Return one sentence for each joint that a stop finds without a brake, and why."""
    zero, unstated = unbraked_joints(mech, {brake.joint for brake in brakes})
    return (
        *(f"joint {joint} has no brake: its effort limit is 0" for joint in zero),
        *(f"joint {joint} has no brake: it states neither a brake nor an effort limit" for joint in unstated),
    )


def unbraked_for_freedoms(mech: Mechanism) -> tuple[str, ...]:
    """Return a sentence on every joint that gets no brake for its effort limit: it has several freedoms."""
    return tuple(
        f"{pair.name}: an effort limit, but {len(pair.kind.free)} freedoms: no brake is assumed"
        for pair in mech.pairs
        if len(pair.kind.free) > 1 and any(isfinite(f.effort) and f.effort > 0 for f in pair.freedoms)
    )


def _effort(pair: Pair) -> float:
    effort = pair.freedoms[0].effort
    return effort if isfinite(effort) else 0.0


def brake_in_si(mech: Mechanism, brake: BrakeLike) -> Brake:
    """Return a brake with numbers in SI units where it states texts with units."""
    if isinstance(brake, Mapping):
        require_table("brake", brake, _KEYS, 50)
        brake = Brake(**brake)
    require_kind("brake", brake, Brake, _KEYS)
    return _in_si(brake, _braked_pair(mech, brake.joint))


def _read(mech: Mechanism, brake: BrakeLike) -> JointBrake:
    brake = brake_in_si(mech, brake)
    pair = mech.pair_by_name[brake.joint]
    if wrong := bad_number(brake):
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


def _in_si(brake: Brake, pair: Pair) -> Brake:
    slides = pair.kind.free[0][0] == "t"
    numbers: dict[str, Any] = {
        part.name: getattr(brake, part.name) for part in fields(Brake) if part.metadata
    }
    for key, value in numbers.items():
        if isinstance(value, str):
            what = f"the brake of {pair.name!r} has {key}"
            numbers[key] = SI.value(value, dimension_of(key, slides), what)
    return replace(brake, **numbers)


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


def _filled(pair: Pair, brake: Brake, assumed: tuple[str, ...] = ()) -> JointBrake:
    effort = _effort(pair)
    unit = units_of(pair.kind.free[0]).force
    if brake.torque is None:
        share = f" times its wear {brake.wear:g}" if brake.wear != 1 else ""
        assumed = (*assumed, f"its torque is the effort limit, {effort:g} {unit}{share}")
    if wrong := contradiction(brake, effort, unit):
        _, clause, expected = wrong
        raise BadUsage(f"the brake of {pair.name!r} {clause}", expected=expected)
    if assumed and brake.delay == ASSUMED_DELAY:
        assumed = (*assumed, f"its delay is {brake.delay:g} s")
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
    )
