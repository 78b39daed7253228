"""Accelerations of all bodies from joint coordinates, rates and accelerations."""

from __future__ import annotations

import numpy as np

from mbplugin.constraints.rows.build import rows_of
from mbplugin.model.mechanism.coupling import Driver
from mbplugin.model.mechanism.kinematics import BodyPoses
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array


def body_accelerations(mech: Mechanism, poses: BodyPoses, twists: Array, qdd: Array) -> Array:
    """Return v̇ = S q̈ + Ṡ q̇ of all bodies, (N, 6), world axes at the centres of mass.

    Along the tree the rows of a pair and the rates of its freedoms are six equations for the body
    that it carries, so no derivative of S is needed.

    Parameters
    ----------
    twists : (N, 6) array
        [v; ω] of the bodies.
    qdd : (nv,) array
        Joint accelerations in the order of ``qd_names``, rad/s² and m/s².
    """
    out = np.zeros((len(mech.bodies), 6))
    index = mech.body_index
    for joint in mech.tree.joints:
        if joint.pair is None:
            out[index[joint.outer]] = qdd[joint.qd]
            continue
        entries, rhs = _six_equations(mech, joint.pair, poses, twists, qdd[joint.qd])
        inner = index[joint.inner]
        if inner >= 0:
            rhs = rhs - entries[inner] @ out[inner]
        out[index[joint.outer]] = np.linalg.solve(entries[index[joint.outer]], rhs)
    return out


def _six_equations(
    mech: Mechanism, pair: Pair, poses: BodyPoses, twists: Array, qdd: Array
) -> tuple[dict[int, Array], Array]:
    """Return coefficients (6, 6) on the acceleration of each body, and the right-hand side (6,).

    ``twists`` (N, 6) are those of the bodies, ``qdd`` (f,) the accelerations of the pair's freedoms, rad/s²
    and m/s².
    """
    (held,) = rows_of(mech, (pair,), poses, None, twists)
    free = rows_of(mech, (Driver("", pair.name),) if pair.kind.free else (), poses, None, twists)
    parts = [held, *free]
    entries = {body: np.vstack([dict(r.entries)[body] for r in parts]) for body, _ in parts[-1].entries}
    return entries, np.concatenate([r.Gamma for r in parts]) + np.concatenate(
        (np.zeros(len(held.components)), qdd)
    )
