"""Which reaction components a rigid model determines along a motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbplugin.constraints.rows.planar import plane_columns
from mbplugin.joint_reactions.stiffness.elements import joint_rows
from mbplugin.joint_reactions.system import System, build_system
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import AnyArray, make_read_only
from mbplugin.simulation.trajectory.segments import Held, held_mechanisms

if TYPE_CHECKING:
    from mbplugin.simulation.trajectory.trajectory import Trajectory

#: Poses at which each set of constraints is judged.
_POSES = 5
#: A row has no part in a component of the wrench below this.
_NO_PART = 1e-12


def determined_components(trajectory: Trajectory) -> dict[str, AnyArray]:
    """Return for every pair whether the rigid model determines each component, (T, 6) of bool."""
    count = len(trajectory.time)
    out: dict[str, AnyArray] = {name: np.ones((count, 6), dtype=bool) for name in trajectory.pair_names}
    for held in held_mechanisms(trajectory):
        systems = _generic(trajectory, held)
        for name in out.keys() & held.mech.pair_by_name.keys():
            out[name][held.samples] = np.all([_determined(s, name) for s in systems], axis=0)
    make_read_only(*out.values())
    return out


def _generic(trajectory: Trajectory, held: Held) -> list[System]:
    """Return the systems at the judged poses that are not singular: those of the least redundancy."""
    columns = plane_columns(trajectory.planar)
    poses = [trajectory.q[k] for k in held.spread(_POSES)]
    systems = [
        build_system(held.mech, q, forward(held.mech, q), columns, trajectory.tolerance) for q in poses
    ]
    least = min(system.Z.shape[1] for system in systems)
    return [system for system in systems if system.Z.shape[1] == least]


def _determined(system: System, name: str) -> AnyArray:
    """Return the components (6,) of a pair's wrench to which only determined multipliers contribute."""
    pair = system.mech.pair_by_name[name]
    (rows,) = (rows for rows in system.rows if rows.constraint == name)
    if not rows.components:
        return np.ones(6, dtype=bool)
    part = np.abs(joint_rows(system, pair, rows)) > _NO_PART
    return np.asarray(~part[~system.unique[system.slices[name]]].any(axis=0))
