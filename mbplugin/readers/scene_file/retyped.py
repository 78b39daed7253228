"""Pairs of a file with another type in the scene: their functions are kept, or the change is an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf

from mbplugin.errors import BadScene
from mbplugin.model.duties import Duty, duties
from mbplugin.model.mechanism import PAIR_TYPES, Freedom, Pair
from mbplugin.model.mechanism.joint import has_quaternion
from mbplugin.model.scene import Scene
from mbplugin.readers.scene_file.joints import changes_coordinates
from mbplugin.readers.scene_file.schema import SceneFile
from mbplugin.readers.scene_file.source import SceneSource
from mbplugin.readers.scene_file.tables.mechanism import DriverTable, LockTable, PairTable
from mbplugin.readers.scene_file.tables.stops import ActuatorTable, BrakeTable, RampTable

#: What ``passive = true`` takes from a joint.
_OF_THE_FILE = ("effort", "limits", "drive", "actuator")
#: What acts on the one freedom that a joint has.
_ON_ONE = ("effort", "drive", "brake", "ramp", "actuator")


def settle_duties(models: Scene, source: SceneSource, tables: SceneFile) -> Scene:
    """Return the models with the joints passive that the scene calls so.

    Raises
    ------
    BadScene
        A joint of a file that would lose a drive, limits, a coupling or a spring by its new type.
    """
    retyped = {
        table.name: (i, table)
        for i, table in enumerate(tables.pair)
        if table.body_a is None and table.name in models.mechanism.pair_by_name
    }
    passive = {name for name, (_, table) in retyped.items() if table.passive}
    models = _without_drives(models, passive)
    own = duties(models)
    for name, (i, table) in retyped.items():
        pair = models.mechanism.pair_by_name[name]
        for duty in own.get(name, ()):
            if changes_coordinates(pair, table) and not _kept(duty, pair, table):
                raise _lost(source.where("pair", i), pair, table, duty)
    return models


def check_acting(source: SceneSource, tables: SceneFile, pairs: Mapping[str, Pair]) -> None:
    """Refuse brakes, ramps, actuators, drivers and locks of the scene on pairs on which they mean nothing.

    Raises
    ------
    BadScene
        A brake, ramp or actuator on a joint of several freedoms; a driver or lock that names no freedom of a
        pair that was retyped to several; a drive on a joint that is called passive.
    """
    retyped = {table.name: table for table in tables.pair if table.body_a is None}
    acting: dict[str, Sequence[BrakeTable | RampTable | ActuatorTable | DriverTable | LockTable]] = {
        "brake": tables.brake,
        "ramp": tables.ramp,
        "actuator": tables.actuator,
        "driver": tables.driver,
        "lock": tables.lock,
    }
    for kind, stated in acting.items():
        for i, table in enumerate(stated):
            pair, where = pairs[table.joint], source.where(kind, i, "joint")
            new = retyped.get(pair.name)
            what = f"the [[{kind}]] of {pair.name!r}"
            if new is not None and new.passive and kind != "lock":
                raise BadScene(f"{what} acts on a joint that a [[pair]] calls passive", where=where)
            names_freedoms = isinstance(table, (DriverTable, LockTable)) and bool(table.freedoms)
            if len(pair.kind.free) == 1 or names_freedoms:
                continue
            if kind in _ON_ONE or new is not None:
                raise BadScene(
                    f"{what} acts on a {pair.type} pair, which has {len(pair.kind.free)} freedoms",
                    where=where,
                    expected="a joint with one"
                    if kind in _ON_ONE
                    else f"freedoms, of {', '.join(pair.kind.free)}",
                    remedy="give the joint a type that keeps its one freedom" if new is not None else "",
                )


def _without_drives(models: Scene, passive: set[str]) -> Scene:
    if not passive:
        return models
    pairs = tuple(
        replace(pair, freedoms=tuple(_undriven(freedom) for freedom in pair.freedoms))
        if pair.name in passive
        else pair
        for pair in models.mechanism.pairs
    )
    return replace(
        models,
        mechanism=replace(models.mechanism, pairs=pairs),
        actuated=tuple(joint for joint in models.actuated if joint not in passive),
        actuators=tuple(actuator for actuator in models.actuators if actuator.joint not in passive),
    )


def _undriven(freedom: Freedom) -> Freedom:
    return replace(freedom, lower=-inf, upper=inf, effort=inf, velocity=inf)


def _kept(duty: Duty, pair: Pair, table: PairTable) -> bool:
    """Return whether what a joint does still means the same with its new type."""
    free, turned = PAIR_TYPES[table.type].free, table.axis is not None and any(table.axis[:2])
    if table.type == "fixed" and duty.kind in _OF_THE_FILE:
        # what cannot move needs neither drive nor limits
        return True
    if turned or (table.axis is not None and table.axis[2] < 0):
        return False
    if duty.kind in _ON_ONE:
        return free == pair.kind.free
    # an angle that becomes a part of a quaternion is no coordinate any more
    return set(pair.kind.free) <= set(free) and not has_quaternion(table.type)


def _lost(where: str, pair: Pair, table: PairTable, duty: Duty) -> BadScene:
    by_file = duty.kind in _OF_THE_FILE
    return BadScene(
        f"{pair.type} joint {pair.name!r} has {duty.text}, which means nothing for its new type {table.type}",
        where=where,
        expected="a type that keeps its motion",
        remedy="retype passive joints only, or add passive = true where this has no drive, brake or stop"
        if by_file
        else "retype another joint",
    )
