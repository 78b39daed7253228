"""Why two motions part or tell nothing, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbplugin.bullet.agreement import Row
from mbplugin.bullet.crosscheck_motion import Sampled
from mbplugin.bullet.crosscheck_setup import Setup
from mbplugin.bullet.crosscheck_task import Task
from mbplugin.mechanism.kinematics import forward, relative_pose


def unit_of(row: Row) -> str:
    """Return the unit of a row as it follows a number, or nothing where it has none."""
    return "" if row.unit == "1" else f" {row.unit}"


def parted(setup: Setup, wrong: Sequence[Row]) -> str:
    """Return where and when PyBullet and we part, and what is likely to be behind it."""
    dated = [row for row in wrong if row.time is not None]
    row = min(dated, key=lambda r: (r.time or 0.0, -r.deviation / r.bound)) if dated else wrong[0]
    what = f"{row.quantity} of {row.element!r} is {row.deviation:.3g} {row.unit} off, bound {row.bound:.2g}"
    if row.time is None:
        return f"{what}; PyBullet computes it from another model"
    when = [t for t in setup.task.instants[1:-1] if abs(t - row.time) < 0.05 * setup.task.duration]
    if when:
        why = f"what changes at {when[0]:.6g} s acts otherwise in PyBullet"
    elif setup.task.mech.tree.cut:
        why = "PyBullet's iterations may not have converged in the loops: ask for more"
    else:
        why = "forces or inertias differ"
    return f"they part at {row.time:.6g} s: {what}; likely, {why}"


def not_asymptotic(setup: Setup, orders: Sequence[float], chosen: bool) -> str:
    """Return why PyBullet's errors do not shrink as those of a first-order method."""
    if np.isnan(orders).any():
        return "PyBullet's motion leaves all bounds; choose a smaller step or a shorter duration"
    seen = ", ".join(f"{order:.2f}" for order in orders)
    if setup.task.mech.tree.cut or setup.task.mech.couplings:
        why = "the loops are badly conditioned for PyBullet's iterations, or the motion is very sensitive"
    elif setup.task.brakes:
        why = "joints come to rest or slip at instants that its steps do not meet"
    else:
        why = "the motion is too sensitive"
    remedy = "choose a smaller step" if chosen else "choose a shorter duration"
    return f"PyBullet's error shrinks with orders {seen} instead of 1: {why}; {remedy}"


def open_loops(task: Task, run: Sampled) -> tuple[str, ...]:
    """Return how far PyBullet lets loops open at its smallest step, as a note."""
    mech = task.mech
    held = [pair for pair in mech.tree.cut if "tx" in pair.kind.constrained]
    if not held or not np.isfinite(run.q).all():
        return ()
    gaps = {pair.name: 0.0 for pair in held}
    for q in run.q:
        poses = forward(mech, q)
        for pair in held:
            p = relative_pose(mech, pair, poses).p
            fixed = [abs(p["xyz".index(c[1])]) for c in pair.kind.constrained if c[0] == "t"]
            gaps[pair.name] = max(gaps[pair.name], float(np.linalg.norm(fixed)))
    worst = max(gaps, key=lambda name: gaps[name])
    return (f"at its smallest step PyBullet lets {worst!r} open by {gaps[worst]:.2g} m",)
