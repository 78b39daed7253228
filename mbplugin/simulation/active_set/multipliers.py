"""Multipliers for known accelerations, distributed over redundant rows as in the motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.redundancy.eliminate import ADMISSIBLE, eliminate
from mbplugin.dynamics.redundancy.independent import Independent
from mbplugin.dynamics.redundancy.mass_weighted import mass_weighted
from mbplugin.dynamics.redundancy.minimum_norm import minimum_norm
from mbplugin.errors import BadUsage
from mbplugin.lapack import pivot_order
from mbplugin.model.spatial import Array

_SPREAD: dict[str, Callable[[Equations], Independent]] = {
    "minimum-norm": minimum_norm,
    "mass-weighted": mass_weighted,
    # started from zero, its multipliers stay the smallest ones
    "augmented": minimum_norm,
}
#: Rows whose singular values are at least this share of the largest are independent without a closer look.
_CLEARLY = 1e-3


class Handling:
    """One way of handling redundant rows along a motion.

    Elimination keeps the rows that it dropped first as long as that is possible, so that multipliers
    do not jump from one choice to another.

    Parameters
    ----------
    redundancy : str
    dropped : sequence of (constraint, component)
        Rows that are to carry nothing; where locks and brakes make more rows redundant, others besides.
    """

    def __init__(self, redundancy: str, dropped: Sequence[tuple[str, str]] = ()) -> None:
        self._redundancy = redundancy
        self._stated = tuple(dropped)
        self._dropped: tuple[int, ...] = ()

    def multipliers(self, equations: Equations, v_dot: Array) -> Array:
        """Return λ (m,) with Cᵀλ = M v̇ − F for accelerations ``v_dot`` (n,), N and N·m."""
        return self.carrying(equations, equations.M @ v_dot - equations.F)

    def carrying(self, equations: Equations, forces: Array) -> Array:
        """Return λ (m,) with Cᵀλ = forces (n,), N and N·m."""
        size = equations.column_scale
        if self._dropped and len(self._dropped) == equations.degree_of_redundancy:
            # that the rows kept so far are independent here as well, their singular values tell
            kept = np.delete(np.arange(len(equations.C)), self._dropped)
            scale = equations.row_scale[kept]
            scaled = (scale[:, None] * equations.C[kept] * size).T
            mu, _, _, sizes = np.linalg.lstsq(scaled, size * forces, rcond=None)
            if len(sizes) == len(kept) and sizes.min(initial=np.inf) > _CLEARLY * sizes.max(initial=0.0):
                out = np.zeros(len(equations.C))
                out[kept] = scale * mu
                return out
        constraints = self._independent(equations)
        if not len(constraints.C):
            return np.zeros(len(equations.C))
        return np.asarray(
            constraints.spread @ np.linalg.lstsq((constraints.C * size).T, size * forces, rcond=None)[0]
        )

    def _independent(self, equations: Equations) -> Independent:
        if self._redundancy != "eliminate":
            return _SPREAD[self._redundancy](equations)
        if self._stated:
            return eliminate(equations, with_others(equations, self._stated))
        self._dropped = self._dropped or _left_over(equations)
        try:
            return eliminate(equations, self._dropped)
        except BadUsage:
            # the rows that were kept depend on each other here
            self._dropped = _left_over(equations)
            return eliminate(equations)


def with_others(equations: Equations, stated: Sequence[tuple[str, str]]) -> tuple[int, ...]:
    """Return p rows to drop, the stated ones among them; the others are those best apart from them.

    Raises
    ------
    BadUsage
        The rest is redundant or too weak without the stated rows.
    """
    rows = [equations.labels.index(label) for label in stated]
    Z = equations.self_stresses
    Q, R = np.linalg.qr(Z[rows].T)
    if len(rows) > Z.shape[1] or np.abs(np.diag(R)).min() < ADMISSIBLE:
        # says which rows, and how many can be dropped
        eliminate(equations, rows)
    rest = Z - (Z @ Q) @ Q.T
    more = pivot_order(rest.T)[: Z.shape[1] - len(rows)]
    return (*rows, *(int(k) for k in more))


def _left_over(equations: Equations) -> tuple[int, ...]:
    """Return the rows that a pivoted factorisation would drop."""
    kept = set(equations.independent_rows.tolist())
    return tuple(k for k in range(len(equations.C)) if k not in kept)
