"""The state of a live client in the joint coordinates of the mechanism read from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from mbplugin.bullet.reader.client import Part
from mbplugin.model.mechanism import WORLD, Mechanism
from mbplugin.model.mechanism.kinematics import (
    FRAMES_MEET,
    BodyPoses,
    coordinates_of,
    forward,
    frames_apart,
    free_pose,
    home,
    joint_axes,
)
from mbplugin.model.scene import Defect, State
from mbplugin.model.spatial import Array, shift_twists


def state_of(mech: Mechanism, parts: Sequence[Part]) -> tuple[State, tuple[Defect, ...]]:
    """Return coordinates and rates of all joints, and a defect per body that is moved to where it hangs.

    PyBullet tells those of its own joints and bases. Where a constraint of the client is what hangs
    a body in the tree, its coordinates follow from the poses and twists of the two bodies.
    """
    own = replace(mech, pairs=tuple(p for p in mech.pairs if not p.closure), couplings=())
    state = _state_without_closures(own, parts)
    hung = [joint for joint in mech.tree.joints if joint.pair is not None and joint.pair.closure]
    if not hung:
        return state, ()
    poses = forward(own, state.q)
    twists = _twists(own, poses, state.qd)
    known_q = dict(zip(own.q_names, state.q, strict=True))
    known_qd = dict(zip(own.qd_names, state.qd, strict=True))
    q, qd = coordinates_of(mech, poses), np.zeros(len(mech.qd_names))
    for joint in mech.tree.joints:
        if joint in hung:
            S, point = joint_axes(mech, joint, poses)
            relative = shift_twists((twists[joint.outer] - twists[joint.inner])[:, None], point)[:, 0]
            qd[joint.qd] = np.linalg.lstsq(S, relative, rcond=None)[0]
        else:
            q[joint.q] = [known_q[name] for name in mech.q_names[joint.q]]
            qd[joint.qd] = [known_qd[name] for name in mech.qd_names[joint.qd]]
    return State(q, qd), tuple(_moved_bodies(mech, poses))


def _moved_bodies(mech: Mechanism, poses: BodyPoses) -> Iterator[Defect]:
    """Yield the constraints that carry a body and do not hold at the poses of the client."""
    for joint, pair, distance, angle in frames_apart(mech, poses):
        if pair.closure and max(distance, angle) > FRAMES_MEET:
            message = (
                f"{pair.name} does not hold at the present pose: its frames are {distance:.3g} m and "
                f"{np.degrees(angle):.3g}° apart; PyBullet pulls them together in its next steps, here body "
                f"{joint.outer!r} is moved to where they meet"
            )
            evidence = {"body": joint.outer, "distance": distance, "angle": angle}
            yield Defect("MB119", pair.name, message, None, evidence)


def _state_without_closures(mech: Mechanism, parts: Sequence[Part]) -> State:
    q, qd = home(mech), np.zeros(len(mech.qd_names))
    positions = {name: value for part in parts for name, value in part.q.items()}
    rates = {name: value for part in parts for name, value in part.qd.items()}
    for body, X_WL in (part.free_base for part in parts if part.free_base is not None):
        positions[body] = free_pose(mech, body, X_WL)
    for joint in mech.tree.joints:
        name = joint.outer if joint.pair is None else joint.pair.name
        if name in positions:
            q[joint.q], qd[joint.qd] = positions[name], rates[name]
    return State(q, qd)


def _twists(mech: Mechanism, poses: BodyPoses, qd: Array) -> dict[str, Array]:
    """Return the twist (6,) of every body at rates qd (nv,), world axes at the world's origin."""
    twists: dict[str, Array] = {WORLD: np.zeros(6)}
    for joint in mech.tree.joints:
        S, point = joint_axes(mech, joint, poses)
        own = shift_twists((S @ qd[joint.qd])[:, None], -point)[:, 0]
        twists[joint.outer] = twists[joint.inner] + own
    return twists
