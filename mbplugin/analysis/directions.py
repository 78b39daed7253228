"""Directions in space that the rigid model does not determine in a joint, independent of its frame's x and y.

The rotation of a joint frame about a free axis is arbitrary, and with it the directions tx and ty. The span
of the forces, and of the moments at the joint's point, that a self-stress can cause in the joint is not.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

import numpy as np

from mbplugin.analysis.uniqueness import ConstraintVerdict, StressedBlock
from mbplugin.constraints.rows.row import Rows
from mbplugin.model.mechanism.kinematics import BodyPoses
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, shift_rows

Directions = tuple[tuple[float, float, float], ...]
#: Decimals of a coordinate of a direction; the rest is rounding.
_DIGITS = 12


def joint_point(mech: Mechanism, poses: BodyPoses, pair: Pair) -> Array:
    """Return the joint's point (3,), the origin of S in the world, m."""
    return np.asarray(poses.of(mech.body_index[pair.body_b]).apply(pair.X_BS.p))


def joint_place(mech: Mechanism, poses: BodyPoses, pair: Pair) -> tuple[Array, Array]:
    """Return the joint's point (3,), and R_WJ (3, 3), the axes of P in the world."""
    R_WJ = poses.of(mech.body_index[pair.body_a]).R @ pair.X_AP.R
    return joint_point(mech, poses, pair), np.asarray(R_WJ)


def rows_in_world(mech: Mechanism, poses: BodyPoses, pair: Pair, rows: Rows) -> Array:
    """Return rows (k, 6) on the relative twist [v; ω] at the joint's point, world axes.

    Transposed they take multipliers to the wrench on the successor there.

    Parameters
    ----------
    rows : Rows
        Of the pair, or of a drive or lock in its joint.
    """
    body, entry = _row_entry(mech, pair, rows)
    return shift_rows(entry, poses.p_WC[body] - joint_point(mech, poses, pair))


def _row_entry(mech: Mechanism, pair: Pair, rows: Rows) -> tuple[int, Array]:
    """Return a body of a pair, and ``rows`` on its twist, (k, 6), with the sign of the successor."""
    index = mech.body_index
    body, sign = (index[pair.body_b], 1.0) if index[pair.body_b] >= 0 else (index[pair.body_a], -1.0)
    return body, sign * dict(rows.entries)[body]


def open_directions(wrenches: Array, zero: float) -> tuple[Directions, Directions]:
    """Return orthonormal bases, world axes, of the open forces and of the open moments.

    Parameters
    ----------
    wrenches : (6, p) array
        What each self-stress puts into the joint, of unit size.
    zero : float
        Size below which a component is rounding.
    """
    force, moment = _bases(wrenches.reshape(2, 3, -1), zero)
    return force, moment


def _bases(vectors: Array, zero: float) -> list[Directions]:
    """Return a basis of each span of ``vectors`` (n, 3, p) that only depends on the span: of 2 its normal decides."""
    # with fewer vectors than dimensions the decomposition would have no normal
    padded = np.pad(vectors, ((0, 0), (0, 0), (0, max(0, 3 - vectors.shape[2]))))
    U, sigma, _ = np.linalg.svd(padded, full_matrices=False)
    rank = (sigma > zero).sum(axis=1)
    along, normal = _without_sign(U[:, :, 0]), _without_sign(U[:, :, 2])
    # the world axis that lies nearest to the plane, projected on it
    axis = np.eye(3)[np.argmin(np.round(np.abs(normal), 6), axis=1)]
    first = axis - (axis * normal).sum(axis=1, keepdims=True) * normal
    first = _without_sign(first / np.linalg.norm(first, axis=1, keepdims=True))
    second = _without_sign(np.cross(normal, first))
    whole: Directions = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    choices = zip(rank.tolist(), _tuples(along), _tuples(first), _tuples(second), strict=True)
    return [((), (a,), (b, c), whole)[r] for r, a, b, c in choices]


def _without_sign(directions: Array) -> Array:
    """Return unit vectors, ``directions`` (n, 3), whose largest coordinates, the first of equal ones, are positive."""
    largest = np.argmax(np.round(np.abs(directions), 6), axis=1)
    signs = np.sign(np.take_along_axis(directions, largest[:, None], axis=1))
    return np.asarray(directions * signs)


def _tuples(directions: Array) -> Directions:
    """Return unit vectors, ``directions`` (n, 3), without rounding and without negative zeros."""
    return tuple((x, y, z) for x, y, z in (np.round(directions, _DIGITS) + 0.0).tolist())


def with_open_directions(
    mech: Mechanism,
    poses: BodyPoses,
    stressed: Sequence[StressedBlock],
    verdicts: Sequence[ConstraintVerdict],
) -> tuple[ConstraintVerdict, ...]:
    """Return the verdicts on pairs with the directions that they leave open."""
    found: dict[str, tuple[Directions, Directions]] = {
        v.name: ((), ()) for v in verdicts if v.unique and v.name in mech.pair_by_name
    }
    open_names = {v.name for v in verdicts if v.name in mech.pair_by_name} - set(found)
    for s in stressed:
        found.update(_of_block(mech, poses, s, open_names))
    return tuple(
        replace(v, open_force=found[v.name][0], open_moment=found[v.name][1]) if v.name in found else v
        for v in verdicts
    )


def _of_block(
    mech: Mechanism, poses: BodyPoses, s: StressedBlock, names: Container[str]
) -> dict[str, tuple[Directions, Directions]]:
    """Return the open forces and moments of some pairs of a block, computed together."""
    stresses = s.ranked.reduced.scale[:, None] * s.Z
    members = [rows for rows in s.ranked.reduced.rows if rows.constraint in names]
    if not members:
        return {}
    wrenches, arms = [], []
    for rows in members:
        pair = mech.pair_by_name[rows.constraint]
        body, entry = _row_entry(mech, pair, rows)
        wrenches.append(entry.T @ stresses[s.slices[pair.name]])
        arms.append(poses.p_WC[body] - joint_point(mech, poses, pair))
    at_joints = shift_rows(np.array(wrenches).transpose(0, 2, 1), np.array(arms)[:, None])
    at_joints *= _sizes(s.ranked.reduced.length)
    bases = _bases(at_joints.transpose(0, 2, 1).reshape(2 * len(members), 3, -1), s.ranked.zero)
    return {r.constraint: (bases[2 * k], bases[2 * k + 1]) for k, r in enumerate(members)}


def unit_wrenches(at_joint: Array, scale: Array, length: float) -> Array:
    """Return what k scaled multipliers put into a joint, (6, k), force in units of moment per length.

    Parameters
    ----------
    at_joint : (k, 6) array
        Rows on the twist of the joint's point, world axes.
    scale : (k,) array
        Of the multipliers.
    length : float
        The characteristic length, m.
    """
    return np.asarray((at_joint * scale[:, None] * _sizes(length)).T)


def _sizes(length: float) -> Array:
    """Return the factors (6,) that make forces moments per characteristic length (m)."""
    return np.array([length] * 3 + [1.0] * 3)
