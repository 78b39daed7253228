"""Descents on equations that are not a mechanism."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mbplugin.constraints.descent import Jacobians, Pattern, gauss_newton, levenberg_marquardt
from mbplugin.model.spatial import AnyArray, Array


def alike(value: float, count: int) -> Jacobians:
    """Jacobians of one row whose two entries are equal."""
    return Jacobians(Pattern((1, 2), [(slice(0, 1), np.arange(2))]), np.full((count, 2), value))


@dataclass
class Growing:
    """One residual of two rates that count alike; it halves with each step, and J grows a thousandfold."""

    steps: int = 0
    length: float = 1.0
    rates: AnyArray = field(default_factory=lambda: np.arange(2))

    def linearised(self, Q: Array) -> tuple[Jacobians, Array]:
        return alike(1000.0**self.steps, len(Q)), np.full((len(Q), 1), 0.5**self.steps)

    def stepped(self, Q: Array, step: Array) -> Array:
        self.steps += 1
        return Q + step


def test_a_descent_goes_on_where_the_jacobian_has_grown() -> None:
    Q, gap = levenberg_marquardt(Growing(), np.zeros((3, 2)), np.ones(2, dtype=bool), 0.01, 20)
    assert np.isfinite(Q).all()
    assert (gap < 0.1).all()


@dataclass
class Flat:
    """One residual, which two rates hardly change."""

    length: float = 1.0
    rates: AnyArray = field(default_factory=lambda: np.arange(2))

    def linearised(self, Q: Array) -> tuple[Jacobians, Array]:
        return alike(1e-310, len(Q)), np.full((len(Q), 1), 3.0)

    def stepped(self, Q: Array, step: Array) -> Array:
        return Q + step


def test_a_step_that_would_overflow_is_none() -> None:
    with np.errstate(all="raise", under="ignore"):
        q, gap = gauss_newton(Flat(), np.zeros(2), np.ones(2, dtype=bool), 1e-12)
    assert (q.tolist(), gap) == ([0.0, 0.0], 3.0)
