"""Accelerations and multipliers in absolute coordinates, from the poses and twists of the tree."""

from __future__ import annotations

from math import nan

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.dynamics.kernels.absolute.independent import choose_independent, fill_rows
from mbplugin.dynamics.kernels.absolute.mass import factor_masses, solve_lower, solve_upper
from mbplugin.dynamics.kernels.absolute.state import AbsoluteState, place_bodies
from mbplugin.dynamics.kernels.forces import gather
from mbplugin.dynamics.kernels.resistance import resist
from mbplugin.dynamics.kernels.row_evaluation import update_rows
from mbplugin.model.spatial import Array


@kernel
def absolute_accelerations(
    a: AbsoluteState,
    composites: Records,
    rates: Records,
    resistances: Records,
    drive: Array,
    q: Array,
    qd: Array,
    power: Array,
) -> bool:
    """Fill ``v_dot``, multipliers, and ``qdd`` of the rates of the tree; return whether every body has mass.

    Where one has none, or the state is no motion any more, ``qdd`` is not a number.
    The composite bodies of the tree must be placed at q (nq,) and qd (nv,). ``drive`` (d, 3) prescribes motions;
    ``power`` (3,) takes that of dampers and friction, of applied forces, and of drivers, W.
    """
    place_bodies(composites, a.bodies)
    update_rows(a.bodies, a.joint_frames, a.rows, a.terms, drive, q)
    if not factor_masses(a, rates):
        for j in range(len(rates)):
            rates[j].qdd = nan
        return False
    _apply_forces(a, rates, resistances, q, qd, power)
    _fill_forces(a, rates)
    solve_lower(a.M, a.first, a.v_dot, 0)
    fill_rows(a)
    _constrain(a)
    solve_upper(a.M, a.first, a.v_dot)
    for k in range(len(a.candidates)):
        # Cᵀλ works with vᵀCᵀλ = −bᵀλ
        power[2] -= a.multipliers[k] * a.rows[a.candidates[k]].bias
    _read_back(a, rates)
    return True


@kernel
def _apply_forces(
    a: AbsoluteState,
    rates: Records,
    resistances: Records,
    q: Array,
    qd: Array,
    power: Array,
) -> None:
    """Fill minus the wrenches ``f`` on all bodies; arrays as for :func:`absolute_accelerations`."""
    gather(a.bodies, rates, a.loads, a.springs, q, qd, power)
    for n in range(len(resistances)):
        a.resistances[n] = resistances[n]
        a.resistances[n].row = a.resisted[0] + n
    resist(a.bodies, rates, a.rows, a.terms, a.resistances, qd, power)
    for j in range(len(rates)):
        rates[j].tau += a.applied[j]
        power[1] += a.applied[j] * qd[j]
        row = a.rows[a.measured[j]]
        for i in range(6):
            a.bodies[row.a].f[i] -= rates[j].tau * row.on_a[i]
            a.bodies[row.b].f[i] -= rates[j].tau * row.on_b[i]


@kernel
def _fill_forces(a: AbsoluteState, rates: Records) -> None:
    """Fill ``v_dot`` with the generalised forces, those with which drives oppose what turns without them included."""
    w = len(a.columns)
    for j in range(len(rates)):
        if rates[j].armature != 0.0:
            row = a.rows[a.measured[j]]
            for i in range(6):
                a.bodies[row.a].f[i] -= rates[j].armature * row.gamma * row.on_a[i]
                a.bodies[row.b].f[i] -= rates[j].armature * row.gamma * row.on_b[i]
    for k in range(1, len(a.bodies)):
        for i in range(w):
            a.v_dot[(k - 1) * w + i] = -a.bodies[k].f[a.columns[i]]


@kernel
def _constrain(a: AbsoluteState) -> None:
    """Add Lᵀ times what independent rows do to ``v_dot``, which is Lᵀ v̇ here; fill the multipliers."""
    m, n, r = len(a.candidates), len(a.v_dot), len(a.R)
    y = np.empty(m)
    for k in range(m):
        row, along = a.rows[a.candidates[k]], 0.0
        for j in range(n):
            along += a.G[k, j] * a.v_dot[j]
        y[k] = row.unit * row.gamma - along
        a.multipliers[k] = 0.0
    choose_independent(a.G, a.R, a.order)
    for k in range(r):
        i = a.order[k]
        for s in range(k):
            y[i] -= a.R[s, i] * y[a.order[s]]
        y[i] = y[i] / a.R[k, i] if a.R[k, i] > 0.0 else 0.0
        for j in range(n):
            a.v_dot[j] += y[i] * a.G[i, j]
    for k in range(r - 1, -1, -1):
        i = a.order[k]
        total = y[i]
        for s in range(k + 1, r):
            total -= a.R[k, a.order[s]] * a.multipliers[a.order[s]]
        a.multipliers[i] = total / a.R[k, i] if a.R[k, i] > 0.0 else 0.0
    for k in range(m):
        a.multipliers[k] *= a.rows[a.candidates[k]].unit


@kernel
def _read_back(a: AbsoluteState, rates: Records) -> None:
    """Fill the accelerations of the bodies, and from these, pair by pair, those of the rates of the tree."""
    w = len(a.columns)
    for k in range(1, len(a.bodies)):
        a.bodies[k].a[:] = 0.0
        for i in range(w):
            a.bodies[k].a[a.columns[i]] = a.v_dot[(k - 1) * w + i]
    for j in range(len(rates)):
        row = a.rows[a.measured[j]]
        total = -row.gamma
        for i in range(6):
            total += row.on_a[i] * a.bodies[row.a].a[i] + row.on_b[i] * a.bodies[row.b].a[i]
        rates[j].qdd = total
