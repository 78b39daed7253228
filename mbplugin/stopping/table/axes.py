"""The axes of a stopping table: the first three joints that are not a roll along the arm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.model.component import is_turn
from mbplugin.model.mechanism.kinematics import BodyPoses, forward, joint_axes
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.topology import TreeJoint
from mbplugin.model.spatial import Array
from mbplugin.phrases import names_of

_COUNT = 3
#: An axis is a roll where the arm goes on within this sine of it.
_ALONG = 0.2
#: Joints nearer than this share of the reach share a place.
_NEAR = 0.01


def moving_chain(mech: Mechanism, tool: str) -> tuple[TreeJoint, ...]:
    """Return the joints with one freedom from the ground to the tool."""
    chain = [j for j in mech.tree.way_in(tool) if j.pair is not None and len(j.pair.kind.free) == 1]
    return tuple(reversed(chain))


def table_axes(mech: Mechanism, tool: str, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the joints of a stopping table, given ones or the first three that are no roll.

    Raises
    ------
    UnknownName
        A given name that is no joint between ground and tool.
    BadUsage
        No joint moves the tool.
    """
    chain = moving_chain(mech, tool)
    known = [joint.pair.name for joint in chain if joint.pair is not None]
    if not known:
        raise BadUsage(f"no joint moves the tool {tool!r}", remedy="name another tool")
    if names is not None:
        names = names_of(names)
        if not names:
            raise BadUsage(
                "no axis is named", expected="a joint at least", remedy="leave axes out for the usual ones"
            )
        for name in names:
            if name not in known:
                raise UnknownName(
                    f"the axis {name!r} is no joint between the ground and {tool!r}",
                    remedy=suggestion(name, known),
                )
        if len(set(names)) < len(names):
            raise BadUsage(f"the axes are {', '.join(names[:6])}", expected="each joint once")
        return tuple(names)
    poses = forward(mech, np.zeros(len(mech.q_names)))
    places = [place(mech, joint, poses) for joint in chain]
    points = np.array([point for _, point in places] + [poses.p_WL[mech.body_index[tool]]])
    reach = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    found = [
        known[k]
        for k, joint in enumerate(chain)
        if k == 0 or not _is_roll(joint, places[k][0], points[k], points[k + 1 :], reach)
    ]
    return tuple(found[:_COUNT])


def place(mech: Mechanism, joint: TreeJoint, poses: BodyPoses) -> tuple[Array, Array]:
    """Return direction (3,) and a point (3,) of a joint's axis, world."""
    S, point = joint_axes(mech, joint, poses)
    turns = np.asarray(S[3:, 0])
    return (turns if turns.any() else np.asarray(S[:3, 0])), point


def _is_roll(joint: TreeJoint, axis: Array, point: Array, beyond: Array, reach: float) -> bool:
    """Whether the next place of the arm that is another one lies along a turning axis.

    The axis (3,) goes through a point (3,); the places beyond (k, 3) are in the order of the arm, m, world.
    """
    if joint.pair is None or not is_turn(joint.pair.kind.free[0]):
        return False
    for other in beyond:
        way = other - point
        distance = float(np.linalg.norm(way))
        if distance > _NEAR * reach:
            across = way - (way @ axis) * axis
            return bool(np.linalg.norm(across) < _ALONG * distance)
    return True
