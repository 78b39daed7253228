"""The constraints of a live client: point-to-point, fixed, prismatic and gears."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from mbplugin.bullet.reader.client import Link, Links
from mbplugin.errors import BrokenModel
from mbplugin.model.mechanism import WORLD, Coupling, Pair, Term
from mbplugin.model.spatial import Array, Pose, align_z, rotation_from_quaternion

_PRISMATIC, _FIXED, _POINT, _GEAR = 1, 4, 5, 6
_TYPES = {_PRISMATIC: "prismatic", _FIXED: "fixed", _POINT: "spherical"}
_GROUND = Link(WORLD, "", Pose.identity())


def read_constraints(
    bullet: ModuleType, client: int, links: Links, pairs: Sequence[Pair]
) -> tuple[list[Pair], list[Coupling]]:
    """Return the client's constraints as closures and gear couplings.

    Parameters
    ----------
    links : mapping of (body id, link index) to Link
    pairs : sequence of Pair
        The joints of all bodies.
    """
    freedoms = {pair.name: pair.kind.free for pair in pairs}
    closures, couplings = [], []
    for i in range(bullet.getNumConstraints(physicsClientId=client)):
        uid = bullet.getConstraintUniqueId(i, physicsClientId=client)
        info = bullet.getConstraintInfo(uid, physicsClientId=client)
        if info[4] == _GEAR:
            couplings.append(_coupling(bullet, client, f"constraint {uid}", info, links, freedoms))
        else:
            closures.append(_closure(f"constraint {uid}", info, links))
    return closures, couplings


def _closure(name: str, info: Any, links: Links) -> Pair:
    """Return a closing pair; pivots and frames are given in the inertial frames, the ground's is W."""
    if info[4] not in _TYPES:
        raise BrokenModel(f"{name} is of a kind that PyBullet cannot create on links ({info[4]})")
    kind = _TYPES[info[4]]
    a = links[info[0], info[1]]
    b = _GROUND if info[2] < 0 else links[info[2], info[3]]
    R_A, R_B = np.eye(3), np.eye(3)
    if kind != "spherical":
        R_A, R_B = rotation_from_quaternion(info[8]), rotation_from_quaternion(info[9])
    turn = align_z(_axis_in_frame(name, info[5], R_A)) if kind == "prismatic" else np.eye(3)
    return Pair(
        name,
        kind,
        a.body,
        b.body,
        a.X_LC @ Pose(R_A @ turn, np.array(info[6], dtype=float)),
        b.X_LC @ Pose(R_B @ turn, np.array(info[7], dtype=float)),
        closure=True,
    )


def _axis_in_frame(name: str, axis: Sequence[float], R_A: Array) -> Array:
    """Return a slider's axis (3,) in its joint frame, which is ``R_A`` (3, 3) in the parent's inertial frame.

    PyBullet takes the axis in the parent's inertial frame.
    """
    if not any(axis):
        raise BrokenModel(f"{name} slides along a zero axis", remedy="give createConstraint a jointAxis")
    return np.asarray(R_A.T @ np.array(axis, dtype=float))


def _coupling(
    bullet: ModuleType,
    client: int,
    name: str,
    info: Any,
    links: Links,
    freedoms: dict[str, tuple[str, ...]],
) -> Coupling:
    """Return a gear  q̇_A + ratio·q̇_B = q̇_aux, measured in PyBullet.

    Its position error is corrected only on request, so the present position is the right one.
    """
    # a ratio that was never set is one in Bullet, but told as zero; an unset auxiliary link as well
    members = [(info[0], info[1], 1.0), (info[2], info[3], info[11] or 1.0)]
    if info[12] > 0:
        members.append((info[0], info[12], -1.0))
    terms, offset = [], 0.0
    for body, link, coefficient in members:
        joint = links[body, link].joint if (body, link) in links else ""
        if len(freedoms.get(joint, ())) != 1:
            raise BrokenModel(
                f"{name} gears link {link} of body {body}, whose joint has not one freedom",
                expected="revolute or prismatic joints",
            )
        terms.append(Term(joint, freedoms[joint][0], coefficient))
        offset += coefficient * bullet.getJointState(body, link, physicsClientId=client)[0]
    return Coupling(name, "gear", tuple(terms), offset)
