"""A walking machine: many planar legs on one crank, their bars stretched out far from closed."""

from __future__ import annotations

import numpy as np

from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, Pose, rotation_from_rpy

#: Crank; from its pin to the upper and the lower joint; from the pivot to these and to the far corner of
#: the upper plate; the two bars that meet at the ankle, m.
CRANK, UPPER, LOWER, UPPER_ARM, LOWER_ARM, PLATE, FAR_BAR, SHANK = (
    0.15,
    0.62,
    0.65,
    0.45,
    0.42,
    0.42,
    0.4,
    0.42,
)
#: The pivot of a leg on the right of the crank shaft, m: 0.5 m away.
PIVOT = np.array([0.5, 0.0, 0.0])
#: Hinges turn about the world's y.
_Y = rotation_from_rpy((-np.pi / 2, 0.0, 0.0))
_BARS = ("upper", "lower", "plate", "arm", "bar", "shank")


def at(x: float, y: float = 0.0, z: float = 0.0) -> Pose:
    return Pose(_Y, np.array([x, y, z]))


def walking_machine(legs: int, *, short: int = -1) -> tuple[Mechanism, Array]:
    """Legs on one crank shaft, each with three ball closures, and the pose where every bar points along x.

    Every leg is a planar linkage of six bars without freedom while the crank is held; every closure has
    one row out of its plane, which nothing can violate: dof = 1 and p = 3 per leg. Lower and arm of the leg
    ``short`` are 0.1 m each: the pivot is at least 0.5 m - 0.15 m from the pin, so 0.15 m are missing.
    """
    bodies, pairs = [_body("crank")], [Pair("shaft", "revolute", "world", "crank", at(0), at(0))]
    for k in range(legs):
        bodies += [_body(f"{bar}{k}") for bar in _BARS]
        pairs += _leg(k, 2 * np.pi * k / legs, short=k == short)
    mech = Mechanism("walking machine", tuple(bodies), tuple(pairs))
    return mech, np.zeros(len(mech.q_names))


def _leg(k: int, phase: float, *, short: bool) -> list[Pair]:
    y = 0.1 * k
    pin = at(CRANK * np.cos(phase), y, CRANK * np.sin(phase))
    pivot = at(float(PIVOT[0]) * (1 if k % 2 else -1), y, float(PIVOT[2]))
    lower, arm = (0.1, 0.1) if short else (LOWER, LOWER_ARM)
    return [
        Pair(f"pin{k}", "revolute", "crank", f"upper{k}", pin, at(0)),
        Pair(f"knee{k}", "revolute", f"upper{k}", f"lower{k}", at(0), at(0)),
        Pair(f"top{k}", "revolute", f"upper{k}", f"plate{k}", at(UPPER), at(0)),
        Pair(f"joint{k}", "revolute", f"lower{k}", f"arm{k}", at(lower), at(0)),
        Pair(f"corner{k}", "revolute", f"plate{k}", f"bar{k}", at(UPPER_ARM, 0, PLATE), at(0)),
        Pair(f"heel{k}", "revolute", f"lower{k}", f"shank{k}", at(lower), at(0)),
        Pair(f"plate on pivot{k}", "spherical", "world", f"plate{k}", pivot, at(UPPER_ARM), closure=True),
        Pair(f"arm on pivot{k}", "spherical", "world", f"arm{k}", pivot, at(arm), closure=True),
        Pair(f"ankle{k}", "spherical", f"bar{k}", f"shank{k}", at(FAR_BAR), at(SHANK), closure=True),
    ]


def _body(name: str) -> Body:
    return Body(name, 1.0, np.zeros(3), 0.01 * np.eye(3))
