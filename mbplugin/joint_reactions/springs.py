"""Springs at a state, as the loads that they are at that instant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from mbplugin.constraints.reduction.velocity import body_twists
from mbplugin.constraints.rows.build import rows_of
from mbplugin.dynamics.springs import spring_forces
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
    """Yield the loads at both ends of a spring, at q (nq,) and qd (nv,)."""
    poses = forward(mech, q)
    for i, p, force in spring_forces(mech, spring, poses, body_twists(mech, poses, qd)):
        yield Load(mech.bodies[i].name, force, np.zeros(3), poses.of(i).inverse().apply(p))


def _at_joint(mech: Mechanism, spring: JointSpring, q: Array) -> Iterator[Load]:
    """Yield the loads of a joint's spring at q (nq,)."""
    k = mech.qd_names.index(spring.joint)
    joint = next(j for j in mech.tree.joints if j.qd.start <= k < j.qd.stop)
    pair = joint.pair
    assert pair is not None
    force = spring.force(float(q[mech.q_names.index(spring.joint)]))
    poses = forward(mech, q)
    (rows,) = rows_of(mech, (Driver("", pair.name, (pair.kind.free[k - joint.qd.start],)),), poses, q)
    for i, entry in rows.entries:
        if i >= 0:
            wrench = force * entry[0]
            point = pair.X_AP.p if mech.bodies[i].name == pair.body_a else pair.X_BS.p
            arm = poses.p_WC[i] - poses.of(i).apply(point)
            yield Load(mech.bodies[i].name, wrench[:3], wrench[3:] + np.cross(arm, wrench[:3]), point)
