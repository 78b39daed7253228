"""Multipliers that go with known accelerations, spread over redundant rows as the motion was computed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.redundancy.eliminate import eliminate
from mbplugin.dynamics.redundancy.independent import Independent
from mbplugin.dynamics.redundancy.mass_weighted import mass_weighted
from mbplugin.dynamics.redundancy.minimum_norm import minimum_norm
from mbplugin.errors import BadUsage
from mbplugin.spatial import Array

_SPREAD: dict[str, Callable[[Equations], Independent]] = {
    "minimum-norm": minimum_norm,
    "mass-weighted": mass_weighted,
    # started from zero, its multipliers stay the smallest ones
    "augmented": minimum_norm,
}


class Handling:
    """One way of handling redundant rows along a motion.

    Elimination keeps the rows that it dropped first as long as that is possible, so that multipliers
    do not jump from one choice to another.
    """

    def __init__(self, redundancy: str) -> None:
        self._redundancy = redundancy
        self._dropped: tuple[int, ...] = ()

    def multipliers(self, equations: Equations, v_dot: Array) -> Array:
        """Return λ (m,) with Cᵀλ = M v̇ − F, N and N·m."""
        constraints = self._independent(equations)
        if not len(constraints.C):
            return np.zeros(len(equations.C))
        size = equations.column_scale
        missing = size * (equations.M @ v_dot - equations.F)
        return np.asarray(
            constraints.spread @ np.linalg.lstsq((constraints.C * size).T, missing, rcond=None)[0]
        )

    def _independent(self, equations: Equations) -> Independent:
        if self._redundancy != "eliminate":
            return _SPREAD[self._redundancy](equations)
        self._dropped = self._dropped or _left_over(equations)
        try:
            return eliminate(equations, self._dropped)
        except BadUsage:
            # the rows that were kept depend on each other here
            self._dropped = _left_over(equations)
            return eliminate(equations)


def _left_over(equations: Equations) -> tuple[int, ...]:
    """Return the rows that a pivoted factorisation would drop."""
    kept = set(equations.independent_rows.tolist())
    return tuple(k for k in range(len(equations.C)) if k not in kept)
