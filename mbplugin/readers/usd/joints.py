"""Joint prims: their sides and what they leave free."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from mbplugin.errors import BadNumber
from mbplugin.model.bounds import LARGEST
from mbplugin.model.mechanism import WORLD, Pair
from mbplugin.model.spatial import Pose, rotation_from_quaternion
from mbplugin.readers.usd.bodies import Bodies, unique_names
from mbplugin.readers.usd.chains import End, Joint, Joints, add_chain
from mbplugin.readers.usd.freedoms import stated_freedoms, steps_of
from mbplugin.readers.usd.stage import Stage

#: Lengths that single precision cannot tell apart.
_EQUAL = 1e-6
#: Several joints with this schema between two bodies act one after the other, as those of one body in MJCF.
_CHAINED = "MjcJointAPI"


def read_joints(stage: Stage, bodies: Bodies) -> Joints:
    """Return the pairs of all enabled joints; what cannot be a pair is noted.

    Raises
    ------
    BadNumber
        A frame or a limit with a number that cannot be used.
    """
    out = Joints()
    found = {str(p.GetPath()): p for p in stage.prims if p.IsA(stage.pxr.UsdPhysics.Joint)}
    names = unique_names(found)
    chains: dict[tuple[str, str], list[Joint]] = {}
    for path, prim in found.items():
        if stage.value(prim, "physics:jointEnabled") is False:
            stage.not_read(prim, f"joint {names[path]!r} is not enabled and not read", "note")
            continue
        sides = _ends(stage, prim, bodies, names[path])
        joint = None if sides is None else _read(stage, prim, names[path], sides, out)
        if joint is None:
            continue
        if _CHAINED in stage.schemas(prim):
            chains.setdefault((joint.sides[0].body, joint.sides[1].body), []).append(joint)
        else:
            add_chain([joint], stage, bodies, out)
    for joints in chains.values():
        add_chain(joints, stage, bodies, out)
    return out


def _ends(stage: Stage, prim: Any, bodies: Bodies, name: str) -> tuple[End, End] | None:
    """Return both sides of a joint; None where a target is missing, or both are one body."""
    sides = []
    for number in (0, 1):
        targets = stage.targets(prim, f"physics:body{number}")
        if len(targets) > 1:
            stage.not_read(
                prim, f"joint {name!r} has {len(targets)} targets of body{number}; the first is read"
            )
        target = stage.stage.GetPrimAtPath(targets[0]) if targets else None
        if targets and not (target and target.IsActive()):
            stage.not_read(
                prim,
                f"joint {name!r} is not read: its body{number} <{targets[0]}> is not in the stage",
                body=str(targets[0]),
            )
            return None
        sides.append(_end(stage, prim, number, target, bodies))
    if sides[0].body == sides[1].body:
        what = "the ground" if sides[0].body == WORLD else f"body {sides[0].body!r}"
        stage.not_read(prim, f"joint {name!r} is not read: it joins {what} to itself")
        return None
    return sides[0], sides[1]


def _end(stage: Stage, prim: Any, number: int, target: Any, bodies: Bodies) -> End:
    """Return one side; a target that is no body stands for the body above it, or the ground."""
    local = stage.vector(prim, f"physics:localPos{number}", (0.0, 0.0, 0.0))
    if not (np.abs(local) <= LARGEST).all():
        raise BadNumber(f"localPos{number} cannot be used", where=stage.where(prim))
    R_TJ = rotation_from_quaternion(stage.quaternion(prim, f"physics:localRot{number}"))
    if target is None:
        return End(WORLD, Pose(R_TJ, stage.metre * local))
    A, p = stage.matrix(target)
    X_WJ = Pose(stage.rotation(target, A) @ R_TJ, stage.metre * (A @ local + p))
    body = bodies.owner(target)
    return End(body, bodies.pose(body).inverse() @ X_WJ)


def _read(stage: Stage, prim: Any, name: str, sides: tuple[End, End], out: Joints) -> Joint | None:
    """Return a joint; None, and a note, where it constrains nothing. A distance is added as it is."""
    stated = stated_freedoms(stage, prim, str(prim.GetTypeName()))
    if stated is None:
        if (pair := _distance(stage, prim, name, sides)) is not None:
            out.pairs.append(pair)
            out.origin["constraint", name, ""] = stage.place(prim)
        return None
    if len(stated) == 6:
        stage.not_read(prim, f"joint {name!r} locks no direction; it is left out", "note")
        return None
    return Joint(prim, name, sides, stated, steps_of(tuple(stated)))


def _distance(stage: Stage, prim: Any, name: str, sides: tuple[End, End]) -> Pair | None:
    """Return the pair of a distance joint with equal limits; a rope or a stop is noted."""
    low = stage.number(prim, "physics:minDistance", -1.0)
    high = stage.number(prim, "physics:maxDistance", -1.0)
    if not (isfinite(high) and low > 0 and abs(high - low) <= _EQUAL * high):
        stage.not_read(
            prim, f"distance joint {name!r} has no fixed distance (from {low:g} to {high:g}) and is not read"
        )
        return None
    length = stage.metre * (low + high) / 2
    a, b = sides
    return Pair(name, "distance", a.body, b.body, a.X_LJ, b.X_LJ, length=length)
