"""Wrenches of pairs from the multipliers of the equations in absolute coordinates."""

from __future__ import annotations

import numpy as np

from mbplugin.constraints.rows import plane_columns
from mbplugin.dynamics.absolute import absolute_equations
from mbplugin.dynamics.formulations import solve
from mbplugin.joint_reactions.statics import build_system, joint_rows
from mbplugin.model.brakes import NO_FORCES, AppliedForces
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import Array


def absolute_wrenches(
    mech: Mechanism, q: Array, qd: Array, actions: AppliedForces = NO_FORCES, planar: str | None = None
) -> dict[str, Array]:
    """The wrench of every pair from the multipliers of the absolute equations."""
    equations = absolute_equations(mech, q, qd, actions, planar=planar)
    of = dict(zip(equations.labels, solve(equations, "kkt", "minimum-norm").multipliers, strict=True))
    system = build_system(mech, q, forward(mech, q), plane_columns(planar), 1e-4)
    found = {}
    for rows in system.rows:
        if (pair := mech.pair_by_name.get(rows.constraint)) is not None:
            values = np.array([of[rows.constraint, c] for c in rows.components])
            found[pair.name] = values @ joint_rows(system, pair, rows) if len(values) else np.zeros(6)
    return found
