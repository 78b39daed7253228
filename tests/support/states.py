"""Random states on the constraint manifold: closed poses with C v + b = 0."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mbplugin.constraints.assembly import assemble
from mbplugin.constraints.closure import Closure
from mbplugin.constraints.rows import plane_columns
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.joint_reactions import JointMotion
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import displace, forward
from mbplugin.model.spatial import Array


def random_states(
    mech: Mechanism, q: Array, count: int, *, planar: str | None = None, redundancy: int = 0, seed: int = 0
) -> Iterator[tuple[Array, Array]]:
    """Yield poses and rates (q, qd): steps along the free motions, closed again, with rates of size one.

    A planar mechanism stays in its plane; ``redundancy`` is p at a generic pose.
    """
    rng = np.random.default_rng(seed)
    closure = Closure(mech, q)
    q = assemble(mech, q).q
    for _ in range(count):
        motion = JointMotion(mech, q, forward(mech, q), plane_columns(planar))
        step = motion.free_motions(redundancy)
        pose = displace(mech, q, 0.5 * motion.units * (step @ rng.normal(size=step.shape[1])))
        if closure.constraints:
            pose = closure.solve(pose, motion.units > 0)
        motion = JointMotion(mech, pose, forward(mech, pose), plane_columns(planar))
        # beside a fold there are fewer free motions than on it
        here = joint_equations(mech, pose, np.zeros(len(mech.qd_names))).degree_of_redundancy
        free = motion.free_motions(min(redundancy, here))
        driven = motion.rates(np.zeros(len(mech.qd_names)), ())
        yield pose, driven + motion.units * (free @ rng.normal(size=free.shape[1]))
