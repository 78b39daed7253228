"""Mimic joints of the PhysX and Newton schemas as couplings."""

from __future__ import annotations

from math import radians
from typing import Any

from mbplugin.model.mechanism import Coupling, Pair, Term
from mbplugin.model.scene import Origin, OriginKey
from mbplugin.readers.usd.chains import Joints
from mbplugin.readers.usd.freedoms import DIRECTIONS
from mbplugin.readers.usd.stage import Stage

#: Position and coefficient of one freedom: its pair, its component there, and whether it turns.
_Coordinate = tuple[Pair, str, bool]


def read_mimics(stage: Stage, joints: Joints) -> tuple[list[Coupling], dict[OriginKey, Origin]]:
    """Return the couplings that mimic joints state, and where; what cannot be one is noted."""
    found: list[Coupling] = []
    origin: dict[OriginKey, Origin] = {}
    taken = {pair.name for pair in joints.pairs}
    for path in joints.steps:
        prim = stage.stage.GetPrimAtPath(path)
        coupling = _newton(stage, prim, joints) if prim.GetRelationship("newton:mimicJoint") else None
        for schema in () if coupling else stage.schemas(prim):
            api, _, instance = schema.partition(":")
            if api == "PhysxMimicJointAPI":
                coupling = _physx(stage, prim, instance, joints)
        if coupling is None or coupling.name in taken:
            continue
        taken.add(coupling.name)
        found.append(coupling)
        origin["constraint", coupling.name, ""] = stage.place(prim)
    return found, origin


def _physx(stage: Stage, prim: Any, instance: str, joints: Joints) -> Coupling | None:
    """Return  q + gearing · q_reference + offset = 0; offsets of angles are in degrees."""
    start = f"physxMimicJoint:{instance}"
    axis = str(stage.value(prim, f"{start}:referenceJointAxis") or "rotX")
    gearing = stage.number(prim, f"{start}:gearing", 1.0)
    offset = stage.number(prim, f"{start}:offset", 0.0)
    return _coupling(stage, prim, f"{start}:referenceJoint", (instance, axis), gearing, -offset, joints)


def _newton(stage: Stage, prim: Any, joints: Joints) -> Coupling | None:
    """Return  q = coef0 + coef1 · q_leader; coef0 of angles is in degrees."""
    if stage.value(prim, "newton:mimicEnabled") is False:
        return None
    slope = stage.number(prim, "newton:mimicCoef1", 1.0)
    offset = stage.number(prim, "newton:mimicCoef0", 0.0)
    return _coupling(stage, prim, "newton:mimicJoint", ("", ""), -slope, offset, joints)


def _coupling(
    stage: Stage,
    prim: Any,
    relationship: str,
    axes: tuple[str, str],
    coefficient: float,
    offset: float,
    joints: Joints,
) -> Coupling | None:
    """Return  q + coefficient · q_leader = offset in SI units; None, and a note, where a side is no coordinate."""
    targets = stage.targets(prim, relationship)
    follower = _coordinate(joints, str(prim.GetPath()), axes[0])
    leader = _coordinate(joints, str(targets[0]), axes[1]) if targets else None
    if follower is None or leader is None or leader[2] is not follower[2] or leader[:2] == follower[:2]:
        other = f"<{targets[0]}>" if targets else "no joint"
        joint = prim.GetName()
        stage.not_read(
            prim,
            f"the mimic of joint {joint!r} is not read: it refers to {other}, which has no such coordinate",
        )
        return None
    turns = follower[2]
    terms = (Term(follower[0].name, follower[1], 1.0), Term(leader[0].name, leader[1], coefficient))
    right = radians(offset) if turns else stage.metre * offset
    return Coupling(f"mimic {follower[0].name}", "mimic", terms, right)


def _coordinate(joints: Joints, path: str, axis: str) -> _Coordinate | None:
    """Return the coordinate of a joint: its only one, or the one of a direction."""
    all_of = [
        (pair, component, direction)
        for pair, directions in joints.steps.get(path, ())
        for component, direction in zip(pair.kind.free, directions, strict=True)
    ]
    wanted = all_of if len(all_of) == 1 else [c for c in all_of if c[2] == DIRECTIONS.get(axis)]
    if not wanted:
        return None
    pair, component, direction = wanted[0]
    return pair, component, direction[0] == "r"
