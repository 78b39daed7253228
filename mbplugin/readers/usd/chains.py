"""Joints as pairs of a mechanism: one pair, or a chain with massless links between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mbplugin.model.mechanism import Body, Freedom, Pair
from mbplugin.model.scene import MADE, Actuator, Origin, OriginKey
from mbplugin.model.spatial import Pose
from mbplugin.readers.usd.bodies import Bodies
from mbplugin.readers.usd.dialects import joint_extras
from mbplugin.readers.usd.freedoms import Step
from mbplugin.readers.usd.stage import Stage


@dataclass(eq=False)
class Joints:
    """What the joints of a stage give.

    Parameters
    ----------
    bodies : list of Body
        Massless ones between the pairs of a joint that is no single pair.
    poses : dict of str to Pose
        X_WL of these bodies.
    steps : dict of str to list of (Pair, tuple of str)
        The pairs of each joint by its path, with the directions of the joint frame along their freedoms.
    """

    pairs: list[Pair] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)
    poses: dict[str, Pose] = field(default_factory=dict)
    steps: dict[str, list[tuple[Pair, tuple[str, ...]]]] = field(default_factory=dict)
    actuators: list[Actuator] = field(default_factory=list)
    actuated: list[str] = field(default_factory=list)
    origin: dict[OriginKey, Origin] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class End:
    """One side of a joint: its body, and the joint frame in that body's link frame."""

    body: str
    X_LJ: Pose


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint prim: its sides, its freedoms by direction, and the pairs that have them."""

    prim: Any
    name: str
    sides: tuple[End, End]
    stated: Mapping[str, Freedom]
    steps: tuple[Step, ...]


def add_chain(joints: Sequence[Joint], stage: Stage, bodies: Bodies, out: Joints) -> None:
    """Add the pairs of joints that act one after the other between two bodies.

    Between two joints is a link with the frame of the last body, as MuJoCo has it.
    """
    first, last = joints[0].sides[0].body, joints[-1].sides[1].body
    inner = first
    for number, joint in enumerate(joints, start=1):
        outer = last
        if number < len(joints):
            outer = f"{last}#{number}"
            _add_link(outer, bodies.pose(last), stage.place(joint.prim), out)
        # behind the first joint the link has the frame of the last body
        X_inner = joint.sides[0].X_LJ if number == 1 else joint.sides[1].X_LJ
        _add_steps(joint, stage, bodies, (inner, outer), X_inner, out)
        inner = outer


def _add_steps(
    joint: Joint, stage: Stage, bodies: Bodies, ends: tuple[str, str], X_inner: Pose, out: Joints
) -> None:
    """Add the pairs of one joint between two links; its frame in the inner one is given."""
    place = stage.place(joint.prim)
    extras = joint_extras(stage, joint.prim)
    closure = stage.value(joint.prim, "physics:excludeFromArticulation") is True
    inner, X_outer = ends[0], joint.sides[1].X_LJ
    X_WP = bodies.pose(joint.sides[0].body) @ joint.sides[0].X_LJ
    X_PS = X_WP.inverse() @ bodies.pose(joint.sides[1].body) @ X_outer
    for k, step in enumerate(joint.steps, start=1):
        one, last = len(joint.steps) == 1, k == len(joint.steps)
        label = joint.name if one else f"{joint.name}#{k}"
        outer, X_BS = (ends[1], X_outer) if last else (label, Pose.identity())
        if not last:
            _add_link(label, _between(X_WP, joint.steps[:k], X_PS), place, out)
        turn = Pose(step.turn, np.zeros(3))
        freedoms = tuple(extras.apply(joint.stated[c], c) for c in step.free)
        pair = Pair(
            label, step.type, inner, outer, X_inner @ turn, X_BS @ turn, closure=closure, freedoms=freedoms
        )
        out.pairs.append(pair)
        out.steps.setdefault(str(joint.prim.GetPath()), []).append((pair, step.free))
        out.origin["constraint", label, ""] = place
        if step.free and (armature := extras.armature_of(step.free[0])):
            out.actuators.append(Actuator(label, armature))
        if any(extras.drives(c) for c in step.free):
            out.actuated.append(label)
        inner, X_inner = outer, X_BS


def _add_link(name: str, X_WL: Pose, place: Origin, out: Joints) -> None:
    """Add a massless link between two pairs."""
    out.bodies.append(Body(name))
    out.poses[name] = X_WL
    out.origin["body", name, ""] = out.origin["body", name, MADE] = place


def _between(X_WP: Pose, done: Sequence[Step], X_PS: Pose) -> Pose:
    """Return X_WL of the link behind some translations of a joint at the file's pose."""
    moved = [c for step in done for c in step.free if c[0] == "t"]
    p = np.array([X_PS.p[i] if f"t{axis}" in moved else 0.0 for i, axis in enumerate("xyz")])
    return X_WP @ Pose(np.eye(3), p)
