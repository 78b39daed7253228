"""A tree joint as the joints that PyBullet has: one axis after the other, then at most one ball."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mbplugin.model.component import axis_of, is_turn
from mbplugin.model.mechanism.topology import TreeJoint
from mbplugin.model.spatial import Array, Pose

#: Angles and travels along an axis of the joint frame, or a ball.
StepKind = Literal["continuous", "prismatic", "spherical", "fixed"]


@dataclass(frozen=True)
class Step:
    """One joint of PyBullet.

    Parameters
    ----------
    kind : str
        As URDF calls it.
    axis : tuple of float
        In the joint frame.
    freedom : str
        The freedom of the pair that it carries; a ball carries the last three.
    """

    kind: StepKind
    axis: tuple[float, float, float]
    freedom: str


def steps_of(joint: TreeJoint) -> tuple[Step, ...]:
    """Return the joints that together move as a pair of the tree, from its inner body outwards.

    A pair moves by its travels along the axes of P, then by its turns; where the tree runs from S to P
    the same motions follow each other backwards, with opposite axes. The travel of a screw follows its
    turn by a gear.
    """
    assert joint.pair is not None
    free = joint.pair.kind.free
    if not free:
        return (Step("fixed", (0.0, 0.0, 1.0), ""),)
    turns = [c for c in free if is_turn(c)]
    travels = [c for c in free if not is_turn(c)]
    ball = len(turns) == 3
    sign = -1.0 if joint.reversed else 1.0
    steps = [_step("prismatic", c, sign) for c in travels]
    if joint.pair.type == "screw":
        steps.append(_step("prismatic", "tz", sign))
    steps += (
        [Step("spherical", (0.0, 0.0, 1.0), "r")] if ball else [_step("continuous", c, sign) for c in turns]
    )
    return tuple(reversed(steps)) if joint.reversed else tuple(steps)


def _step(kind: StepKind, freedom: str, sign: float) -> Step:
    axis = [0.0, 0.0, 0.0]
    axis[axis_of(freedom)] = sign
    return Step(kind, (axis[0], axis[1], axis[2]), freedom)


def inner_frame(joint: TreeJoint) -> Pose:
    """Return the joint frame in the link frame of the inner body."""
    assert joint.pair is not None
    return joint.pair.X_BS if joint.reversed else joint.pair.X_AP


def outer_frame(joint: TreeJoint) -> Pose:
    """Return the joint frame in the link frame of the outer body; a free body has its link frame."""
    if joint.pair is None:
        return Pose.identity()
    return joint.pair.X_AP if joint.reversed else joint.pair.X_BS


def rpy_from_rotation(R: Array) -> tuple[float, float, float]:
    """Return fixed-axis angles (rad) of a rotation R (3, 3), exact also where roll and yaw share an axis."""
    yaw = np.arctan2(R[1, 0], R[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    pitch = np.arctan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = np.arctan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return float(roll), float(pitch), float(yaw)
