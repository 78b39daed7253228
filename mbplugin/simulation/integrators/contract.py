"""The contract of an integrator, in numbered clauses, and the record of its steps.

1. It works on increments: at the start of a step x = 0 and the coordinates are q₀; inside the step they
   are q₀ ∘ x, with turns on the group, so that no quaternion is ever added to.
2. Inside the step ẋ follows from x and q̇, q̈ from the equations of motion, and three works (dampers,
   applied forces, drivers) are integrated along.
3. After every accepted step the state is projected onto position and velocity constraints, and the
   accelerations there are those with which the next step begins.
4. It is compiled, ``march_NAME(kernel_state, …)``, and written a second time in readable Python,
   ``NAME_step(derivative, …)``, for models with Python callables; both give the same trajectory. The
   variational one, whose steps are no function of accelerations (clause 2), solves the equations of a
   step instead: ``variational_step(kernel_state, …)`` and ``VariationalStep``, to which callables add what
   acts at the midpoint. A step that cannot be solved is taken in parts.
5. A loop returns after a chunk of steps, at the end time, after a step that may hold a watched mark, or
   when the chosen rows have become badly conditioned; a status tells which.
6. Between two samples a polynomial in the fraction of the step gives x and q̇ (dense output).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mbplugin.model.spatial import Array

#: dy/dt at (t, y), y stacking increment, rates and works.
Derivative = Callable[[float, Array], Array]


@dataclass(frozen=True, eq=False)
class Step:
    """One step with its dense output.

    Parameters
    ----------
    start, length : float
        s.
    q, qd : (nq,), (nv,) array
        State at the start.
    polynomial : (d, 2, nv) array
        Coefficients of increment x and rates q̇ in the fraction of the step, lowest power first.
    work : (2, 3) array
        Works at start and end, J.
    """

    start: float
    length: float
    q: Array
    qd: Array
    polynomial: Array
    work: Array

    def at(self, fraction: float) -> tuple[Array, Array]:
        """Return increment x (nv,) and rates (nv,) at a fraction of the step."""
        powers = fraction ** np.arange(len(self.polynomial))
        x, qd = (powers @ self.polynomial.reshape(len(powers), -1)).reshape(2, -1)
        return x, qd


@dataclass
class Chunk:
    """Arrays that a compiled loop fills: the state after each of its steps.

    Parameters
    ----------
    time, q, qd, qdd, work : (n,), (n, nq), (n, nv), (n, nv), (n, 3) array
    dense : (n, d, 2, nv) array
        Polynomial of the step that led to each sample.
    """

    time: Array
    q: Array
    qd: Array
    qdd: Array
    work: Array
    dense: Array


def make_chunk(n: int, nq: int, nv: int, degree: int, dense: bool) -> Chunk:
    """Return room for n steps; without dense output its array is empty."""
    return Chunk(
        np.zeros(n),
        np.zeros((n, nq)),
        np.zeros((n, nv)),
        np.zeros((n, nv)),
        np.zeros((n, 3)),
        np.zeros((n if dense else 0, degree + 1, 2, nv)),
    )
