"""The wheels of a robot: those that are stated to touch the ground, else what looks like one."""

from __future__ import annotations

import numpy as np

from mbplugin.model.mechanism.kinematics import BodyPoses, forward, home, joint_axes
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.topology import TreeJoint

#: A wheel is balanced: its centre of mass is on its axis up to this distance, m.
_BALANCED = 1e-3
#: The axis of a wheel is level: this is the cosine of its least angle with gravity.
_LEVEL = 0.5
#: Joints that may lead to a wheel, that of the base among them: it steers and spins.
_MOST_JOINTS = 3


def stated_wheels(mech: Mechanism) -> tuple[str, ...]:
    """Return the bodies with a wheel or a knife edge on the ground."""
    return tuple(dict.fromkeys(pfaffian.body for pfaffian in mech.pfaffians))


def likely_wheels(mech: Mechanism) -> tuple[str, ...]:
    """Return what turns without end about a level axis through its centre of mass at the zero pose, on a mobile base.

    URDF does not state which bodies touch the ground.
    """
    poses = forward(mech, home(mech))
    in_loops = {body for pair in mech.tree.cut for body in pair.bodies}
    return tuple(
        joint.outer
        for joint in mech.tree.joints
        if joint.pair is not None
        and joint.pair.type == "continuous"
        and in_loops.isdisjoint(carried := _carried(mech, joint))
        and _on_mobile_base(mech, joint)
        and _is_balanced_and_level(mech, joint, poses, carried)
    )


def _carried(mech: Mechanism, joint: TreeJoint) -> list[str]:
    """Return the body of a joint and those fixed to it; none where something moves on it."""
    found = [joint.outer]
    for other in mech.tree.joints:
        if other.inner in found:
            if _moves(other):
                return []
            found.append(other.outer)
    return found


def _moves(joint: TreeJoint) -> bool:
    return joint.pair is None or bool(joint.pair.kind.free)


def _on_mobile_base(mech: Mechanism, joint: TreeJoint) -> bool:
    """Whether a joint is near a body that moves freely, or in a plane."""
    way = [j for j in mech.tree.way_in(joint.outer) if _moves(j)]
    root = way[-1].pair
    return len(way) <= _MOST_JOINTS and (root is None or root.type in ("planar", "floating"))


def _is_balanced_and_level(mech: Mechanism, joint: TreeJoint, poses: BodyPoses, carried: list[str]) -> bool:
    """Whether the axis of a joint is level and the bodies that it carries have their centre of mass on it."""
    if not carried:
        return False
    S, on_axis = joint_axes(mech, joint, poses)
    axis, down = S[3:, 0], mech.gravity
    rows = [mech.body_index[name] for name in carried]
    masses = np.array([mech.bodies[i].mass for i in rows])
    off = np.average(poses.p_WC[rows], axis=0, weights=masses) - on_axis if masses.sum() > 0 else np.zeros(3)
    balanced = np.linalg.norm(np.cross(axis, off)) < _BALANCED
    return bool(balanced and abs(axis @ down) <= _LEVEL * np.linalg.norm(down))
