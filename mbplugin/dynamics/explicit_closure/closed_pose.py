"""Closing conditions at one pose: the matrix A and the vector ξ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.model.spatial import Array

if TYPE_CHECKING:
    from mbplugin.dynamics.explicit_closure.closing import Closing


@dataclass(frozen=True, eq=False)
class ClosedPose:
    """Closing conditions at one pose.

    Parameters
    ----------
    y : array
        Coordinates of the tree, and of the cut pairs behind them.
    A_all : (rates, k) array
        Rates of the tree and of the cut pairs per independent rate.
    slopes : tuple of array
        Of each step.
    """

    closing: Closing
    y: Array
    A_all: Array
    slopes: tuple[Array, ...]

    @property
    def q(self) -> Array:
        """The closed joint coordinates (nq,)."""
        return self.y[: self.closing.layout.nq]

    @property
    def A(self) -> Array:
        """A (nv, k) with q̇ = A q̇_I."""
        return self.A_all[: self.closing.layout.nv]

    def xi(self, qd: Array) -> Array:
        """Return ξ (nv,) at joint rates qd (nv,), of which only the independent ones are read."""
        yd = self.A_all @ qd[self.closing.independent_rates]
        xi = np.zeros(len(yd))
        for step, slope in zip(self.closing.steps, self.slopes, strict=True):
            xi[list(step.dependent)] = slope @ xi[list(step.known)] + step.bias(self.y, yd)
        return xi[: self.closing.layout.nv]
