"""What a formulation makes of the equations of motion: accelerations and multipliers."""

from __future__ import annotations

from dataclasses import dataclass

from mbplugin.model.spatial import Array


@dataclass(frozen=True, eq=False)
class Solution:
    """Accelerations and Lagrange multipliers at a state.

    Parameters
    ----------
    v_dot : (n,) array
        v̇ in the coordinates of the equations, m/s² and rad/s².
    multipliers : (m,) array
        λ of all rows, N and N·m, acting on the successor. Where a reaction is not unique this is the
        one that the redundancy handling chose.
    """

    v_dot: Array
    multipliers: Array
