"""Functions of a joint besides guiding: it is driven, braked, limited, locked or coupled.

A joint without any of these functions is passive. Only a passive joint can get a less restrictive type
without the loss of a motor, a brake or an end stop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

from mbplugin.model.component import units_of
from mbplugin.model.mechanism.identity import pair_and_freedom
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Scene, mechanism_of
from mbplugin.model.spring import JointSpring


@dataclass(frozen=True)
class Duty:
    """What a joint does.

    Parameters
    ----------
    kind : str
        ``effort``, ``limits``, ``drive``, ``brake``, ``ramp``, ``actuator``, ``coupling``, ``driver``, ``lock``
        or ``spring``.
    text : str
        A phrase, such as "an effort limit of 150 N·m".
    """

    kind: str
    text: str


def duties(model: Scene | Mechanism) -> dict[str, tuple[Duty, ...]]:
    """Return what every joint that is not passive does, by name in file order.

    A finite effort limit above zero stands for a drive; an effort limit of zero says that there is none.

    Parameters
    ----------
    model : Scene or Mechanism
        A scene also states brakes, ramps, actuators, timed locks, springs, and which joints a file gives a drive.
    """
    mech = mechanism_of(model)
    found: dict[str, list[Duty]] = {pair.name: list(_of_pair(pair)) for pair in mech.pairs}
    stated = [*_of_mechanism(mech), *(_of_scene(model) if isinstance(model, Scene) else ())]
    for joint, duty in stated:
        if joint in found and duty not in found[joint]:
            found[joint].append(duty)
    return {name: tuple(own) for name, own in found.items() if own}


def _of_pair(pair: Pair) -> Iterator[Duty]:
    for name, freedom in zip(pair.kind.free, pair.freedoms, strict=True):
        unit = units_of(name)
        if isfinite(freedom.effort) and freedom.effort > 0:
            yield Duty("effort", f"an effort limit of {freedom.effort:g} {unit.force}")
        if (isfinite(freedom.lower) or isfinite(freedom.upper)) and freedom.lower < freedom.upper:
            yield Duty("limits", f"limits from {freedom.lower:g} to {freedom.upper:g} {unit.coordinate}")


def _of_mechanism(mech: Mechanism) -> Iterator[tuple[str, Duty]]:
    for coupling in mech.couplings:
        for term in coupling.terms:
            yield term.joint, Duty("coupling", f"the coupling {coupling.name!r}")
    for driver in mech.drivers:
        yield driver.joint, Duty("driver", f"the driver {driver.name!r}")
    for lock in mech.locks:
        yield lock.joint, Duty("lock", "a lock")


def _of_scene(scene: Scene) -> Iterator[tuple[str, Duty]]:
    for joint in scene.actuated:
        yield joint, Duty("drive", "a drive")
    for brake in scene.brakes:
        yield brake.joint, Duty("brake", "a brake")
    for ramp in scene.ramps:
        yield ramp.joint, Duty("ramp", "a ramp")
    for actuator in scene.actuators:
        yield actuator.joint, Duty("actuator", "an actuator")
    for lock in scene.locks:
        yield lock.joint, Duty("lock", "a lock")
    pairs = scene.mechanism.pair_by_name
    for spring in scene.springs:
        if isinstance(spring, JointSpring):
            yield pair_and_freedom(spring.joint, pairs)[0], Duty("spring", "a spring")
