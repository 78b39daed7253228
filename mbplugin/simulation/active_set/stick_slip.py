"""Stick and slip: which dry resistances stick and which slide at an instant, all joints together.

At rest a resistance sticks while some force within its static bound keeps its acceleration zero; otherwise
it slides and works against the motion. Of all forces within the bounds the actual ones give the
accelerations of least constraint (Gauß), which is least squares in bounds: with the innovations G of the
resting rows, free of what the persistent rows and the locks take up, the accelerations are
a = a₀ + G Gᵀ f, and f minimises ‖Gᵀ f + c‖ with G c = a₀. The accelerations are unique. The forces of rows
that depend on each other are not; then as few of them as possible are left to multipliers.

A row that depends on the persistent rows at this pose alone (a rocker at its dead centre) is out of reach
of any force: its rate is zero whatever acts on it. It slides where it accelerates, else it is watched.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.dynamics.kernels.solve import add_innovations, row_acceleration, row_rate
from mbplugin.dynamics.tree_model import TreeModel
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.active_set.bounded import basic_solution, bounded_least_squares
from mbplugin.simulation.steppers.kernel_state import KernelState

#: A rate is at rest below this, rad/s and m/s.
AT_REST = 1e-9
#: A resistance at its bound slides where its acceleration is that of this share of its bound.
_BREAKS_AWAY = 1e-9
#: Accelerations out of reach of any force that count as zero, relative to those of the mechanism.
_UNMOVED = 1e-9


@dataclass(frozen=True, eq=False)
class StickSlip:
    """What resistances do from an instant on, arrays over all of them.

    Parameters
    ----------
    sticking : (n,) array of bool
        Those whose rates stay zero.
    carrying : (n,) array of bool
        Those of them whose rows hold: independent ones, with a multiplier each.
    force : (n,) array
        Constant force along the rows of those that stick without a multiplier, N·m or N: a bound, or zero.
    sense : (n,) array
        Sign of the rate of those that slide, else zero.
    """

    sticking: AnyArray
    carrying: AnyArray
    force: Array
    sense: Array


def rates_of(model: TreeModel, qd: Array) -> Array:
    """Return the rate of every resistance at the configured state."""
    rows, terms = model.table.rows, model.table.terms
    return np.array([row_rate(model.composites, rows, terms, r["row"], qd) for r in model.resistances])


def own_innovations(model: TreeModel, kernel_state: KernelState, rows: AnyArray) -> tuple[Array, Array]:
    """Return the innovations G (n, nv) of rows, free of those that hold, and their share of the whole, (n,).

    The rows of the kernel state have been factorized at the state.
    """
    G = np.zeros((len(rows), len(model.rates)))
    for k, i in enumerate(rows.tolist()):
        add_innovations(model.composites, model.rates, model.table.rows, model.table.terms, i, 1.0, G[k])
    whole = np.linalg.norm(G, axis=1)
    # twice is enough
    for _ in range(2):
        G -= (G @ kernel_state.Q.T) @ kernel_state.Q
    own = np.linalg.norm(G, axis=1)
    return G, np.divide(own, whole, out=np.zeros_like(own), where=whole > 0.0)


def solve_stick_slip(
    model: TreeModel, kernel_state: KernelState, qd: Array, sense: Array, resting: AnyArray, tolerance: float
) -> StickSlip:
    """Decide which of the resting resistances stick.

    Parameters
    ----------
    kernel_state : KernelState
        Holds the persistent rows and the locks only, evaluated at the state with the sliding resistances
        at work and nothing at the resting ones.
    sense : (n,) array
        Of all resistances; zero where they rest or do not act.
    resting : (n,) array of bool
        Those with a dry part whose rate is zero.
    tolerance : float
        Share of its own below which a row depends on those that hold.
    """
    G, share = own_innovations(model, kernel_state, model.resistances["row"])
    a0 = _accelerations(model)
    within = resting & (share > tolerance)
    scale = 1.0 + float(np.abs(kernel_state.rates["qdd"]).max(initial=0.0) + np.abs(qd).max(initial=0.0) ** 2)
    sense = sense.copy()
    moved = resting & ~within & (np.abs(a0) > _UNMOVED * scale)
    sense[moved] = np.sign(a0[moved])
    carrying, force = _within_bounds(model, G, a0, np.flatnonzero(within), sense)
    return StickSlip(resting & (sense == 0.0), carrying, force, sense)


def _accelerations(model: TreeModel) -> Array:
    """Return the acceleration of every resistance at the evaluated state."""
    table = model.table
    return np.array(
        [
            row_acceleration(model.composites, model.rates, table.rows, table.terms, i)
            - table.rows["gamma"][i]
            for i in model.resistances["row"].tolist()
        ]
    )


def _within_bounds(
    model: TreeModel, G: Array, a0: Array, within: AnyArray, sense: Array
) -> tuple[AnyArray, Array]:
    """Set the sense of those of the resistances ``within`` that break away; return which carry, and forces.

    One that slides is weaker than it was at its static bound: the most loaded one goes first, and the
    others are decided anew. Should its sense then be wrong, it sticks after all.
    """
    static, kinetic = model.resistances["static"], model.resistances["sliding"]
    carrying, force = np.zeros(len(static), dtype=bool), np.zeros(len(static))
    c = np.asarray(np.linalg.lstsq(G[within], a0[within], rcond=1e-10)[0], dtype=float)
    sliding: dict[int, float] = {}
    back: set[int] = set()
    while within.size:
        at = np.array([n for n in within.tolist() if n not in sliding], dtype=np.int64)
        pushed = c + sum((G[n] * f for n, f in sliding.items()), np.zeros_like(c))
        A = G[at].T * static[at]
        u, free = bounded_least_squares(A, -pushed)
        v_dot = A @ u + pushed
        broken = at[~free & (np.abs(G[at] @ v_dot) > _BREAKS_AWAY * static[at] * _mobility(G, at, at[free]))]
        if weaker := [n for n in broken.tolist() if kinetic[n] < static[n]]:
            loads = dict(zip(at.tolist(), np.abs(np.linalg.lstsq(A, -pushed, rcond=1e-10)[0]), strict=True))
            first = max(weaker, key=lambda n: float(loads[n]))
            sliding[first] = float(kinetic[first] * u[at == first][0])
            continue
        own = _BREAKS_AWAY * static * _mobility(G, np.arange(len(G)), at[free])
        wrong = [n for n, f in sliding.items() if n not in back and float(G[n] @ v_dot) * f > own[n] * abs(f)]
        if wrong:
            back.add(wrong[0])
            del sliding[wrong[0]]
            continue
        sense[broken] = -np.sign(u[np.isin(at, broken)])
        u, free = basic_solution(A, u, free)
        carrying[at[free]] = True
        stuck = ~free & ~np.isin(at, broken)
        force[at[stuck]] = static[at[stuck]] * u[stuck]
        break
    for n, f in sliding.items():
        sense[n] = -np.sign(f)
    return carrying, force


def _mobility(G: Array, rows: AnyArray, holding: AnyArray) -> Array:
    """Return how much a unit of force along each of some rows accelerates it while others hold."""
    taken = np.linalg.lstsq(G[holding].T, G[rows].T, rcond=1e-9)[0]
    return np.asarray(((G[rows].T - G[holding].T @ taken) ** 2).sum(axis=0))
