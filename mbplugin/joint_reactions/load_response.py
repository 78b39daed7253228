"""How joint reactions follow a load: the linear map from a wrench at a body to what the rigid model determines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.constraints.rows.planar import plane_columns
from mbplugin.joint_reactions.statics import balances
from mbplugin.joint_reactions.system import build_system
from mbplugin.joint_reactions.values import Reactions
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import Array


@dataclass(frozen=True, eq=False)
class LoadResponse:
    """What a wrench [f; m] on a body, world axes, about its centre of mass, adds to the reactions at a pose.

    Parameters
    ----------
    bodies : tuple of str
        Those that can be loaded: what is held carries every force on them.
    p_WC : (N, 3) array
        Their centres of mass, world, m.
    labels : tuple of (constraint, component)
        The components that the rigid model determines.
    matrix : (N, k, 6) array
        The change of each component, N or N·m, for each component of the wrench, N and N·m.
    """

    bodies: tuple[str, ...]
    p_WC: Array
    labels: tuple[RowLabel, ...]
    matrix: Array


def load_response(result: Reactions, q: Array | None = None) -> LoadResponse:
    """Return the map at the pose of some reactions, or at another closed pose q (nq,), with the joints that they hold.

    The reactions at rest are linear in the load: with M v̇ = 0 they satisfy Cᵀλ = −F, of which the unique
    rows do not depend on which λ is taken (wojtyra2013 §3.1).
    """
    mech = result.mechanism
    q = result.q if q is None else q
    poses = forward(mech, q)
    columns = plane_columns(result.planar)
    system = build_system(mech, q, poses, columns, result.tolerance)
    unique = np.flatnonzero(system.unique)
    count = len(mech.bodies)
    matrix, carried = np.zeros((count, len(unique), 6)), np.ones(count, dtype=bool)
    places = [(body, k) for body in range(count) for k in columns]
    for (body, k), found in zip(places, balances(system, _unit_loads(count, places)), strict=True):
        carried[body] &= found.share <= result.tolerance
        matrix[body, :, k] = (system.scale * found.multipliers)[unique]
    return LoadResponse(
        tuple(body.name for body, able in zip(mech.bodies, carried, strict=True) if able),
        poses.p_WC[carried],
        tuple(system.labels[k] for k in unique),
        matrix[carried],
    )


def _unit_loads(count: int, places: list[tuple[int, int]]) -> Array:
    """Return what is missing, (n, N, 6), where one component of a wrench acts on one body."""
    missing = np.zeros((len(places), count, 6))
    missing[np.arange(len(places)), [body for body, _ in places], [k for _, k in places]] = -1.0
    return missing
