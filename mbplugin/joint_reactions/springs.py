"""Springs at a state, as the loads that they are at that instant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from mbplugin.constraints.reduction.velocity import body_twists
from mbplugin.constraints.rows.build import rows_of
from mbplugin.model.mechanism.coupling import Driver
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Load
from mbplugin.model.spatial import Array
from mbplugin.model.spring import JointSpring, Spring


def spring_loads(
    mech: Mechanism, springs: Iterable[Spring | JointSpring], q: Array, qd: Array
) -> tuple[Load, ...]:
    """Return what springs do to the bodies at a state, as loads in world axes.

    Parameters
    ----------
    q, qd : (nq,), (nv,) array
    """
    found: list[Load] = []
    for spring in springs:
        found += _at_joint(mech, spring, q) if isinstance(spring, JointSpring) else _ends(mech, spring, q, qd)
    return tuple(found)


def _ends(mech: Mechanism, spring: Spring, q: Array, qd: Array) -> Iterator[Load]:
    poses = forward(mech, q)
    twists = body_twists(mech, poses, qd)
    ends = []
    for name, point in ((spring.body_a, spring.point_a), (spring.body_b, spring.point_b)):
        i = mech.body_index[name]
        p = np.asarray(poses.of(i).apply(point))
        v = twists[i, :3] + np.cross(twists[i, 3:], p - poses.p_WC[i]) if i >= 0 else np.zeros(3)
        ends.append((name, i, point, p, v))
    (_, _, _, p_a, v_a), (_, _, _, p_b, v_b) = ends
    length = float(np.linalg.norm(p_b - p_a))
    e = (p_b - p_a) / length if length > 0 else np.zeros(3)
    tension = spring.stiffness * (length - spring.length) + spring.damping * float(e @ (v_b - v_a))
    for (name, i, point, _, _), sign in zip(ends, (1.0, -1.0), strict=True):
        if i >= 0:
            yield Load(name, sign * tension * e, np.zeros(3), point)


def _at_joint(mech: Mechanism, spring: JointSpring, q: Array) -> Iterator[Load]:
    k = mech.qd_names.index(spring.joint)
    joint = next(j for j in mech.tree.joints if j.qd.start <= k < j.qd.stop)
    pair = joint.pair
    assert pair is not None
    force = -spring.stiffness * (q[mech.q_names.index(spring.joint)] - spring.rest)
    poses = forward(mech, q)
    (rows,) = rows_of(mech, (Driver("", pair.name, (pair.kind.free[k - joint.qd.start],)),), poses, q)
    for i, entry in rows.entries:
        if i >= 0:
            wrench = force * entry[0]
            point = pair.X_AP.p if mech.bodies[i].name == pair.body_a else pair.X_BS.p
            arm = poses.p_WC[i] - poses.of(i).apply(point)
            yield Load(mech.bodies[i].name, wrench[:3], wrench[3:] + np.cross(arm, wrench[:3]), point)
