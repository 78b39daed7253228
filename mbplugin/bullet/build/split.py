"""Closures without a constraint in PyBullet: a body is cut into halves, and the joint becomes a tree joint.

One half of the body hangs on the other side of the pair, where the pair is a joint of the tree, and a
fixed constraint holds the halves together. The motion is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from mbplugin.constraints.reduction.velocity import body_twists
from mbplugin.model.mechanism import WORLD, Mechanism, Pair
from mbplugin.model.mechanism.kinematics import BodyPoses, coordinates_of, forward, joint_axes
from mbplugin.model.spatial import Array, Pose, shift_twists

_CUTTABLE = ("universal", "cylindrical", "planar", "screw", "point-on-line", "point-on-plane")


def split(mech: Mechanism) -> tuple[Mechanism, dict[str, str]]:
    """Return a mechanism whose closures PyBullet has, and the whole body of each half that was added.

    The half of a body stays as it was but for its mass and inertia, and so do all names; a closure goes
    on under its name as a joint of the tree, and its fixed constraint is called after the half.
    """
    bodies = {body.name: body for body in mech.bodies}
    pairs, halves = list(mech.pairs), dict[str, str]()
    for pair in mech.tree.cut:
        if pair.type not in _CUTTABLE:
            continue
        ends = [name for name in (pair.body_b, pair.body_a) if name != WORLD and bodies[name].mass > 0]
        if not ends:
            continue
        whole, half = ends[0], f"half of {ends[0]} at {pair.name}"
        own = bodies[whole]
        bodies[whole] = replace(own, mass=own.mass / 2, I_C=own.I_C / 2)
        bodies[half] = replace(bodies[whole], name=half)
        halves[half] = whole
        a, b = (half if name == whole else name for name in pair.bodies)
        pairs[pairs.index(pair)] = replace(pair, body_a=a, body_b=b, closure=False)
        same = Pose.identity()
        pairs.append(Pair(f"{half} held", "fixed", half, whole, same, same, closure=True))
    return replace(mech, bodies=tuple(bodies.values()), pairs=tuple(pairs)), halves


def split_state(
    mech: Mechanism, cut: Mechanism, halves: Mapping[str, str], q: Array, qd: Array
) -> tuple[Array, Array]:
    """Return q and qd after :func:`split`, every half where its whole is; before it, q (nq,) and qd (nv,)."""
    if not halves:
        return q, qd
    poses, twists = forward(mech, q), body_twists(mech, forward(mech, q), qd)
    index = [mech.body_index[halves.get(body.name, body.name)] for body in cut.bodies]
    cut_poses = BodyPoses(poses.R_WL[index], poses.p_WL[index], poses.p_WC[index])
    q_cut, qd_cut = coordinates_of(cut, cut_poses), np.zeros(len(cut.qd_names))
    of_pair = mech.tree.joint_of_pair
    for joint in cut.tree.joints:
        if joint.pair is None or joint.pair.name in of_pair:
            own = mech.tree.joint_of_body[joint.outer] if joint.pair is None else of_pair[joint.pair.name]
            q_cut[joint.q], qd_cut[joint.qd] = q[own.q], qd[own.qd]
            continue
        S, point = joint_axes(cut, joint, cut_poses)
        relative = np.zeros(6)
        for name, sign in ((joint.outer, 1.0), (joint.inner, -1.0)):
            if name != WORLD:
                i = cut.body_index[name]
                relative += sign * shift_twists(twists[index[i]][:, None], point - cut_poses.p_WC[i])[:, 0]
        qd_cut[joint.qd] = np.linalg.lstsq(S, relative, rcond=None)[0]
    return q_cut, qd_cut
