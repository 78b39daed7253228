"""Directions in space that the rigid model does not determine in a joint, independent of its frame's x and y.

The rotation of a joint frame about a free axis is arbitrary, and with it the directions tx and ty. The span
of the forces, and of the moments at the joint's point, that a self-stress can cause in the joint is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from mbplugin.analysis.uniqueness import ConstraintVerdict, StressedBlock
from mbplugin.constraints.rows.row import Rows
from mbplugin.model.mechanism.kinematics import BodyPoses
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import ROTATION, TRANSLATION, Array, shift_rows

Directions = tuple[tuple[float, float, float], ...]
#: Decimals of a coordinate of a direction; the rest is rounding.
_DIGITS = 12


def joint_place(mech: Mechanism, poses: BodyPoses, pair: Pair) -> tuple[Array, Array]:
    """Return the joint's point, the origin of S in the world (m), and R_WJ, the axes of P in the world."""
    point = poses.of(mech.body_index[pair.body_b]).apply(pair.X_BS.p)
    return np.asarray(point), np.asarray((poses.of(mech.body_index[pair.body_a]) @ pair.X_AP).R)


def rows_in_world(mech: Mechanism, poses: BodyPoses, pair: Pair, rows: Rows) -> Array:
    """Return rows (k, 6) on the relative twist [v; ω] at the joint's point, world axes.

    Transposed they take multipliers to the wrench on the successor there.

    Parameters
    ----------
    rows : Rows
        Of the pair, or of a drive or lock in its joint.
    """
    index = mech.body_index
    body, sign = (index[pair.body_b], 1.0) if index[pair.body_b] >= 0 else (index[pair.body_a], -1.0)
    entry = sign * dict(rows.entries)[body]
    return shift_rows(entry, poses.p_WC[body] - joint_place(mech, poses, pair)[0])


def open_directions(wrenches: Array, zero: float) -> tuple[Directions, Directions]:
    """Return orthonormal bases, world axes, of the open forces and of the open moments.

    Parameters
    ----------
    wrenches : (6, p) array
        What each self-stress puts into the joint, of unit size.
    zero : float
        Size below which a component is rounding.
    """
    return _basis(wrenches[TRANSLATION], zero), _basis(wrenches[ROTATION], zero)


def _basis(vectors: Array, zero: float) -> Directions:
    """Return the basis of the span of ``vectors`` (3, p) that only depends on the span: of 2 its normal decides."""
    _, sigma, Vt = np.linalg.svd(np.linalg.qr(vectors.T, mode="r"))
    rank = int((sigma > zero).sum())
    if rank == 0:
        return ()
    if rank == 3:
        return ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    if rank == 1:
        return (_told(Vt[0]),)
    normal = np.array(_told(Vt[2]))
    # the world axis that lies nearest to the plane, projected on it
    axis = np.eye(3)[int(np.argmin(np.round(np.abs(normal), 6)))]
    first = axis - (axis @ normal) * normal
    first /= np.linalg.norm(first)
    return _told(first), _told(np.cross(normal, first))


def _told(direction: Array) -> tuple[float, float, float]:
    """Return a unit vector, ``direction`` (3,), without rounding.

    Its largest coordinate is positive, the first one of equal ones.
    """
    largest = int(np.argmax(np.round(np.abs(direction), 6)))
    d = direction * np.sign(direction[largest])
    x, y, z = (round(float(value), _DIGITS) + 0.0 for value in d)
    return x, y, z


def with_open_directions(
    mech: Mechanism,
    poses: BodyPoses,
    stressed: Sequence[StressedBlock],
    verdicts: Iterable[ConstraintVerdict],
) -> tuple[ConstraintVerdict, ...]:
    """Return the verdicts on pairs with the directions that they leave open."""
    found: dict[str, tuple[Directions, Directions]] = {}
    for s in stressed:
        start = 0
        for rows in s.ranked.reduced.rows:
            stop = start + len(rows.components)
            pair = mech.pair_by_name.get(rows.constraint)
            if pair is not None and rows.components and s.ranked.redundancy:
                scale, length = s.ranked.reduced.scale[start:stop], s.ranked.reduced.length
                wrenches = unit_wrenches(rows_in_world(mech, poses, pair, rows), scale, length)
                found[pair.name] = open_directions(wrenches @ s.Z[start:stop], s.ranked.zero)
            start = stop
    return tuple(_told_of(v, found) if v.name in mech.pair_by_name else v for v in verdicts)


def _told_of(
    verdict: ConstraintVerdict, found: dict[str, tuple[Directions, Directions]]
) -> ConstraintVerdict:
    force, moment = ((), ()) if verdict.unique else found[verdict.name]
    return replace(verdict, open_force=force, open_moment=moment)


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
    size = np.array([length] * 3 + [1.0] * 3)
    return np.asarray((at_joint * scale[:, None] * size).T)
