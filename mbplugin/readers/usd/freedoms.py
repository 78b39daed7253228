"""Which freedoms a joint prim leaves, and the pairs that have them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, radians
from typing import Any

import numpy as np

from mbplugin.model.mechanism import PAIR_TYPES, Freedom
from mbplugin.model.spatial import Array, align_z
from mbplugin.readers.common.numbers import limit
from mbplugin.readers.usd.stage import Stage

#: Names of the six directions of a joint frame in LimitAPI, and here.
DIRECTIONS = {"transX": "tx", "transY": "ty", "transZ": "tz", "rotX": "rx", "rotY": "ry", "rotZ": "rz"}
_AXES = {"X": "x", "Y": "y", "Z": "z"}


@dataclass(frozen=True, eq=False)
class Step:
    """A pair of a joint: its type, the rotation (3, 3) that takes its axes into the joint frame, its freedoms there."""

    type: str
    turn: Array
    free: tuple[str, ...]


def steps_of(free: tuple[str, ...]) -> tuple[Step, ...]:
    """Return the pairs, from body 0 to body 1, that leave some directions of a joint frame free.

    One pair where there is a type with these freedoms; else a chain, translations before rotations, each set in
    the order x, y, z.

    Parameters
    ----------
    free : tuple of str
        Of ``tx`` … ``rz``.
    """
    t = [name[1] for name in ("tx", "ty", "tz") if name in free]
    r = [name[1] for name in ("rx", "ry", "rz") if name in free]
    one = _one(t, r)
    if one is not None:
        return (one,)
    return (*(_along("prismatic", axis, "t") for axis in t), *([_turning(r)] if r else []))


def _one(t: list[str], r: list[str]) -> Step | None:
    """Return the one pair with translations along and rotations about some axes; None where there is no such type."""
    if len(t) == 3 and len(r) == 3:
        return Step("floating", np.eye(3), ("tx", "ty", "tz", "rx", "ry", "rz"))
    if not t and not r:
        return Step("fixed", np.eye(3), ())
    if not t:
        return _turning(r)
    if len(t) == 1 and (not r or r == t):
        return _along("cylindrical" if r else "prismatic", t[0], "tr" if r else "t")
    if len(t) == 2 and len(r) == 1 and r[0] not in t:
        return _planar("planar", r[0])
    if len(r) == 3:
        if len(t) == 1:
            return _spun("point-on-line", t[0])
        return _spun("point-on-plane", next(axis for axis in "xyz" if axis not in t))
    return None


def _turning(r: list[str]) -> Step:
    """Return the pair of rotations only; of two the first is about an axis of body 0."""
    if len(r) == 1:
        return _along("revolute", r[0], "r")
    if len(r) == 3:
        return Step("spherical", np.eye(3), ("rx", "ry", "rz"))
    x, y = (_unit(axis) for axis in r)
    return Step("universal", np.column_stack((x, y, np.cross(x, y))), (f"r{r[0]}", f"r{r[1]}"))


def _along(type: str, axis: str, kinds: str) -> Step:
    return Step(type, align_z(_unit(axis)), tuple(f"{kind}{axis}" for kind in kinds))


def _planar(type: str, normal: str) -> Step:
    """Return a pair with its normal along an axis, whose x and y are the other two in cyclic order."""
    x = "xyz"[("xyz".index(normal) + 1) % 3]
    y = "xyz"[("xyz".index(normal) + 2) % 3]
    turn = np.column_stack([_unit(axis) for axis in (x, y, normal)])
    return Step(type, turn, (f"t{x}", f"t{y}", f"r{normal}"))


def _spun(type: str, axis: str) -> Step:
    """Return a pair about whose point all rotations are free, with z along an axis."""
    step = _planar(type, axis)
    names = dict(zip("xyz", (name[1] for name in step.free), strict=True))
    return Step(type, step.turn, tuple(f"{name[0]}{names[name[1]]}" for name in PAIR_TYPES[type].free))


def _unit(axis: str) -> Array:
    """Return the unit vector (3,) of an axis, x, y or z."""
    return np.asarray(np.eye(3)["xyz".index(axis)])


def stated_freedoms(stage: Stage, prim: Any, kind: str) -> dict[str, Freedom] | None:
    """Return the freedoms of a joint prim by direction, with their limits; None where a distance is all it limits.

    Parameters
    ----------
    stage : Stage
    prim : Usd.Prim
    kind : str
        Its type in UsdPhysics: ``PhysicsRevoluteJoint`` …
    """
    if kind == "PhysicsFixedJoint":
        return {}
    if kind in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint"):
        turns = kind == "PhysicsRevoluteJoint"
        axis = _AXES.get(str(stage.value(prim, "physics:axis")), "x")
        lower = stage.number(prim, "physics:lowerLimit", -inf)
        upper = stage.number(prim, "physics:upperLimit", inf)
        return {f"{'r' if turns else 't'}{axis}": _limited(stage, lower, upper, turns=turns)}
    if kind == "PhysicsSphericalJoint":
        for name in ("physics:coneAngle0Limit", "physics:coneAngle1Limit"):
            if stage.number(prim, name, -1.0) >= 0:
                stage.not_read(prim, f"the cone that limits joint {prim.GetName()!r} is not read", "note")
                break
        return {name: Freedom() for name in ("rx", "ry", "rz")}
    if kind == "PhysicsDistanceJoint":
        return None
    return _of_limits(stage, prim)


def _of_limits(stage: Stage, prim: Any) -> dict[str, Freedom]:
    """Return the freedoms of a generic joint: a direction whose low limit is above its high one is locked.

    Both limits zero lock it too. Limits without LimitAPI are meant as such, and are noted.
    """
    found, without = {}, []
    applied = set(stage.schemas(prim))
    for written, name in DIRECTIONS.items():
        low = stage.number(prim, f"limit:{written}:physics:low", -inf)
        high = stage.number(prim, f"limit:{written}:physics:high", inf)
        if f"PhysicsLimitAPI:{written}" not in applied and stage.authored(
            prim, f"limit:{written}:physics:low"
        ):
            without.append(written)
        if low < high or low == high != 0.0:
            found[name] = _limited(stage, low, high, turns=name[0] == "r")
    if without:
        stage.not_read(
            prim,
            f"joint {prim.GetName()!r} has limits of {', '.join(without)} without PhysicsLimitAPI; they are read",
            "note",
        )
    if stage.authored(prim, "limit:distance:physics:high") or stage.authored(
        prim, "limit:distance:physics:low"
    ):
        stage.not_read(prim, f"the distance that limits joint {prim.GetName()!r} is not read")
    return found


def _limited(stage: Stage, lower: float, upper: float, *, turns: bool) -> Freedom:
    if turns:
        return Freedom(radians(limit(lower)), radians(limit(upper)))
    return Freedom(stage.metre * limit(lower), stage.metre * limit(upper))
