"""What a spring between two points does to bodies at their poses and twists."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mbplugin.model.mechanism.kinematics import BodyPoses
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array, cross
from mbplugin.model.spring import Spring


def spring_forces(
    mech: Mechanism, spring: Spring, poses: BodyPoses, twists: Array
) -> Iterator[tuple[int, Array, Array]]:
    """Yield body, point (3,) in the world, m, and force (3,), N, for each end that is not on the ground.

    Parameters
    ----------
    twists : (N, 6) array
        Of the bodies at their centres of mass, world axes.
    """
    ends = []
    for name, point in ((spring.body_a, spring.point_a), (spring.body_b, spring.point_b)):
        i = mech.body_index[name]
        p = poses.of(i).apply(point)
        v = twists[i, :3] + cross(twists[i, 3:], p - poses.p_WC[i]) if i >= 0 else np.zeros(3)
        ends.append((i, p, v))
    (_, p_a, v_a), (_, p_b, v_b) = ends
    force = spring.force_on_a(p_b - p_a, v_b - v_a)
    for (i, p, _), sign in zip(ends, (1.0, -1.0), strict=True):
        if i >= 0:
            yield i, p, sign * force
