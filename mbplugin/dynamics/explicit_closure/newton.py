"""Loops without a closed form: dependent coordinates by Newton steps, rates from the closing rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mbplugin.constraints.assembly import CLOSED
from mbplugin.constraints.tolerance import DEFAULT_TOLERANCE
from mbplugin.dynamics.explicit_closure.layout import Layout
from mbplugin.dynamics.explicit_closure.rows import ClosingRows
from mbplugin.errors import CannotClose
from mbplugin.model.mechanism.kinematics import displace
from mbplugin.model.spatial import AnyArray, Array

_CONVERGED = 1e-13
_ITERATIONS = 30
_LARGEST_STEP = 0.5
#: Below this fraction of the mechanism's own smallest singular value a partition is singular.
_SINGULAR = 1e-9


@dataclass(frozen=True, eq=False)
class NewtonStep:
    """Dependent coordinates of loops that hang together and have no closed form.

    Coordinates y (nq + c,) and rates yd (nv + c,) are in the order of the layout, c of them for cut pairs.

    Parameters
    ----------
    rows : ClosingRows
        Of their closures and couplings.
    dependent, known : tuple of int
        Indices of rates.
    reason : str
        One sentence: why there is no closed form.
    spatial : bool
        Whether it is that a loop is not planar.
    """

    layout: Layout
    rows: ClosingRows
    dependent: tuple[int, ...]
    known: tuple[int, ...]
    reason: str
    spatial: bool

    kind = "Newton"
    branch = 0

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the dependent rates."""
        return tuple(self.layout.mech.qd_names[k] for k in self.dependent)

    def closed(self, y: Array) -> Array:
        """Return y (nq + c,) with the dependent coordinates solved, from where they were.

        Raises
        ------
        CannotClose
            Newton's steps do not arrive.
        """
        q, D = y[: self.layout.nq], list(self.dependent)
        units = self.rows.units
        for _ in range(_ITERATIONS):
            J, Phi = self.rows.linearise(q)
            step = np.zeros(self.layout.nv)
            step[D] = _pseudoinverse((J * units)[:, D]) @ -Phi
            size = float(np.abs(step).max(initial=0.0))
            step *= min(1.0, _LARGEST_STEP / max(size, 1e-300))
            q = displace(self.layout.mech, q, units * step)
            if size <= _CONVERGED:
                break
        gaps = self.rows.residuals(q)
        worst = max(gaps, key=lambda name: gaps[name])
        if not gaps[worst] <= CLOSED * self.rows.length:
            raise CannotClose(
                f"the loop through {worst!r} cannot be closed: {gaps[worst]:.3g} m stay open",
                remedy="keep the independent coordinates inside the range of the mechanism",
            )
        return np.concatenate((q, y[self.layout.nq :]))

    def alternatives(self) -> Iterator[NewtonStep]:
        """Yield nothing: it follows the motion."""
        return iter(())

    def slope(self, y: Array) -> Array:
        """Return ∂q̇_D/∂q̇_I = −C_D⁻¹ C_I, (dependent, known) (blajer1994 (7))."""
        J, _ = self.rows.linearise(y[: self.layout.nq])
        return -self._inverse(J) @ J[:, list(self.known)]

    def bias(self, y: Array, yd: Array) -> Array:
        """Return ξ = C_D⁻¹ Γ (dependent,) at rates of all joints (blajer1994 (8))."""
        q, qd = y[: self.layout.nq], yd[: self.layout.nv]
        J, _ = self.rows.linearise(q)
        return np.asarray(self._inverse(J) @ self.rows.gamma(q, qd))

    def margin(self, y: Array) -> float:
        """Return how much worse conditioned the dependent columns are than all columns, 0 … 1."""
        return self._margin(self.rows.linearise(y[: self.layout.nq])[0])

    def _margin(self, J: Array) -> float:
        """Return the condition of the dependent columns of J (k, nv) relative to that of all, 0 … 1."""
        J = J * self.rows.units
        own = np.linalg.svd(J[:, list(self.dependent)], compute_uv=False)
        everything = np.linalg.svd(J, compute_uv=False)
        k = len(self.dependent) - 1
        return min(1.0, float(own[k] / everything[k])) if len(own) > k and everything[k] else 0.0

    def _inverse(self, J: Array) -> Array:
        """Return C_D⁻¹ (dependent, k), C_D the dependent columns of J (k, nv)."""
        if self._margin(J) <= _SINGULAR:
            raise CannotClose(
                f"the rates of {', '.join(map(repr, self.joints))} do not follow from the others here",
                remedy="change the independent coordinates before",
            )
        D = list(self.dependent)
        return np.asarray(
            self.rows.units[D, None] * np.linalg.pinv((J * self.rows.units)[:, D], rcond=_SINGULAR)
        )


def _pseudoinverse(J: AnyArray) -> Array:
    """Return the pseudoinverse (d, k) of J (k, d) at the default rank tolerance, for a step of bounded size."""
    return np.asarray(np.linalg.pinv(J, rcond=DEFAULT_TOLERANCE))
