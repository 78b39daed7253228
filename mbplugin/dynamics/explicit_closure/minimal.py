"""Minimal equations of motion in the independent coordinates of closing conditions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.linalg

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.explicit_closure.closed_pose import ClosedPose
from mbplugin.dynamics.explicit_closure.closing import Closing
from mbplugin.dynamics.formulations.table import solve
from mbplugin.dynamics.solution import Solution
from mbplugin.errors import BadUsage
from mbplugin.model.spatial import AnyArray, Array


def minimal_accelerations(equations: Equations, closing: Closing, q: Array) -> Array:
    """Return q̈ (nv,) from AᵀM A q̈_I = Aᵀ(F − M ξ) + (C A)ᵀλ (blajer1993 (12)–(14)).

    λ are the multipliers of the rows that no closing condition replaces: drivers, locks, wheels.

    Parameters
    ----------
    equations : Equations
        In joint coordinates, at the state (q, q̇).
    q : (nq,) array
        A closed pose.

    Raises
    ------
    BadUsage
        Equations in absolute coordinates.
    """
    return minimal_solution(equations, closing, q).v_dot


def minimal_solution(equations: Equations, closing: Closing, q: Array) -> Solution:
    """Return q̈ (nv,), and multipliers (m,) that are zero in the rows of closing conditions, at a closed q (nq,).

    Raises
    ------
    BadUsage
        Equations in absolute coordinates.
    """
    if equations.coordinates != "joint":
        raise BadUsage(
            "closing conditions are between joint coordinates",
            expected="equations in joint coordinates",
        )
    here = closing.at(q)
    xi = here.xi(equations.v)
    others = other_rows(equations, closing)
    reduced = solve(minimal_equations(equations, closing, here, xi, others))
    multipliers = np.zeros(len(equations.C))
    multipliers[others] = reduced.multipliers
    return Solution(here.A @ reduced.v_dot + xi, multipliers)


def other_rows(equations: Equations, closing: Closing) -> AnyArray:
    """Return the rows (k,) of equations that no closing condition replaces."""
    own = {c.name for c in closing.rows.closings}
    return np.array([k for k, (name, _) in enumerate(equations.labels) if name not in own], dtype=int)


def minimal_equations(
    equations: Equations, closing: Closing, here: ClosedPose, xi: Array, others: AnyArray
) -> Equations:
    """Return the equations of motion in the independent rates, with the rows ``others`` (k,) left.

    ``xi`` (nv,) is ξ of this state. Of the rank that was decided for all rows, the closing conditions have
    one for each dependent rate.
    """
    A, chosen = here.A, closing.independent_rates
    M = A.T @ equations.M @ A
    factor = scipy.linalg.cho_factor(M)
    rank = equations.rank - (len(equations.v) - len(chosen))
    return replace(
        equations,
        labels=tuple(equations.labels[k] for k in others),
        v=equations.v[chosen],
        M=M,
        F=A.T @ (equations.F - equations.M @ xi),
        C=equations.C[others] @ A,
        b=equations.b[others],
        Gamma=equations.Gamma[others] - equations.C[others] @ xi,
        row_scale=equations.row_scale[others],
        column_scale=equations.column_scale[chosen],
        degree_of_redundancy=len(others) - min(max(rank, 0), len(others)),
        solver=lambda rhs: np.asarray(scipy.linalg.cho_solve(factor, rhs)),
    )


def closing_equations(equations: Equations, closing: Closing) -> Equations:
    """Return equations of motion with the rows of closing conditions alone."""
    kept = np.setdiff1d(np.arange(len(equations.C)), other_rows(equations, closing))
    return replace(
        equations,
        labels=tuple(equations.labels[k] for k in kept),
        C=equations.C[kept],
        b=equations.b[kept],
        Gamma=equations.Gamma[kept],
        row_scale=equations.row_scale[kept],
        degree_of_redundancy=len(kept) - (len(equations.v) - len(closing.independent_rates)),
    )
