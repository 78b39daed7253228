"""Motions made without the runner: accelerations from a formulation, time steps by scipy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.integrate import solve_ivp

from mbplugin.dynamics.formulations import solve
from mbplugin.dynamics.tree_model import equations_of, redundancy, tree_model
from mbplugin.model.brakes import AppliedForces
from mbplugin.model.mechanism import Lock, Mechanism
from mbplugin.model.spatial import Array
from mbplugin.simulation.trajectory.trajectory import Trajectory


def through(
    mech: Mechanism,
    states: list[tuple[float, Array, Array]],
    actions: AppliedForces = AppliedForces(),  # noqa: B008
    locks: tuple[Lock, ...] = (),
    planar: str | None = None,
    handling: str = "eliminate",
) -> Trajectory:
    """A motion through states (t, q, q̇) on the constraints, with the accelerations that follow."""
    held = replace(mech, locks=(*mech.locks, *locks))
    p = redundancy(held, states[0][1], planar, 1e-4)
    model = tree_model(held, actions, planar=planar, q=states[0][1])
    formulation = "kkt" if handling == "augmented" else "projected"
    qdd = [
        solve(equations_of(model, q, qd, time=t, degree_of_redundancy=p), formulation, handling).v_dot
        for t, q, qd in states
    ]
    time, q, qd = (np.array(column) for column in zip(*states, strict=True))
    zero = np.zeros(len(time))
    return Trajectory(
        mech,
        actions,
        time,
        q,
        qd,
        np.array(qdd),
        *(zero,) * 5,
        active=(tuple(lock.name for lock in locks),),
        segment=np.zeros(len(time), dtype=int),
        residuals={},
        planar=planar,
        redundancy=handling,
        degree_of_redundancy=p,
    )


def falling(mech: Mechanism, q: Array, qd: Array, times: Array) -> Trajectory:
    """The motion of a tree without quaternions from a state, by scipy's DOP853."""
    model, nv = tree_model(mech, q=q), len(qd)

    def slope(t: float, y: Array) -> Array:
        e = equations_of(model, y[:nv], y[nv:], time=t, degree_of_redundancy=0)
        return np.concatenate((y[nv:], e.solve_M(e.F)))

    y = solve_ivp(
        slope, (times[0], times[-1]), np.concatenate((q, qd)), "DOP853", times, rtol=1e-11, atol=1e-12
    ).y.T
    return through(mech, [(t, row[:nv], row[nv:]) for t, row in zip(times.tolist(), y, strict=True)])
