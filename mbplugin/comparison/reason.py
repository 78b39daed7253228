"""The reason of a verdict in one sentence: where two motions differ, or why they are not comparable."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbplugin.bullet.motion.run import Sampled
from mbplugin.bullet.motion.task import Task
from mbplugin.comparison.agreement import Check, Row
from mbplugin.comparison.evidence import CONVERGENCE, opening, verdict_of
from mbplugin.comparison.setup import Setup


def unit_of(row: Row) -> str:
    """Return the unit of a row as it follows a number, or nothing where it has none."""
    return "" if row.unit == "1" else f" {row.unit}"


def explain_disagreement(setup: Setup, wrong: Sequence[Row], checks: Sequence[Check] = ()) -> str:
    """Return where and when the two motions part, what happens then, and what speaks against either."""
    dated = [row for row in wrong if row.time is not None]
    row = min(dated, key=lambda r: (r.time or 0.0, -r.deviation / r.bound)) if dated else wrong[0]
    what = (
        f"{row.quantity} of {row.element!r} is {row.deviation:.3g}{unit_of(row)} apart, bound {row.bound:.2g}"
    )
    if row.time is None:
        return f"{what}; it is compared before anything moves"
    when = [t for t in setup.task.instants[1:-1] if abs(t - row.time) < 0.05 * setup.task.duration]
    near = f", near the change at {when[0]:.6g} s" if when else ""
    seen = verdict_of(checks)
    return f"they part at {row.time:.6g} s{near}: {what}" + (f"; {seen}" if seen else "")


def not_asymptotic(
    setup: Setup, orders: Sequence[float], checks: Sequence[Check] = (), *, chosen: bool = False
) -> str:
    """Return that the deviation does not shrink as that of a first-order method, and what may help."""
    if np.isnan(orders).any():
        return "PyBullet's motion leaves all bounds; choose a smaller step or a shorter duration"
    seen = ", ".join(f"{order:.2f}" for order in orders)
    if setup.task.mech.tree.cut or setup.task.mech.couplings:
        why = "loops that are badly conditioned for iterations, or a very sensitive motion"
    elif setup.task.brakes:
        why = "joints that come to rest or slip at instants that the steps do not meet"
    else:
        why = "a motion that is too sensitive"
    remedy = "choose a smaller step" if chosen else "choose a shorter duration"
    firm = [check for check in checks if check.name != CONVERGENCE]
    failed = verdict_of(firm) if any(not check.passes for check in firm) else ""
    return (
        f"the deviation shrinks with orders {seen} of PyBullet's step instead of 1, so nothing can be"
        f" extrapolated; possible reasons are {why}; {remedy}" + (f"; {failed}" if failed else "")
    )


def open_loops(task: Task, run: Sampled) -> tuple[str, ...]:
    """Return how far PyBullet lets loops open at its smallest step, as a note."""
    if not np.isfinite(run.q).all():
        return ()
    gaps = opening(task.mech, run.q)
    if not gaps:
        return ()
    worst = max(gaps, key=lambda name: gaps[name])
    return (f"at its smallest step PyBullet lets {worst!r} open by {gaps[worst]:.2g} m",)
