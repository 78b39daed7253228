"""The cross-check itself: models, statics, then motions at ever smaller steps until they tell something."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mbplugin.bullet.agreement import FIRST_ORDER, Agreement, Row
from mbplugin.bullet.child import in_child
from mbplugin.bullet.crosscheck_begin import begin
from mbplugin.bullet.crosscheck_compare import Deviations, curves_of, deviations, orders_of, rows_of
from mbplugin.bullet.crosscheck_model import model_rows, own_file, read_in_pybullet
from mbplugin.bullet.crosscheck_motion import Sampled, run_motion
from mbplugin.bullet.crosscheck_reason import not_asymptotic, open_loops, parted
from mbplugin.bullet.crosscheck_setup import Setup
from mbplugin.bullet.crosscheck_statics import statics_rows
from mbplugin.bullet.crosscheck_task import Solver
from mbplugin.bullet.reader import read_client
from mbplugin.errors import MbPluginError
from mbplugin.mechanism.mechanism import Mechanism
from mbplugin.sources.scene import Scene

#: PyBullet's steps in a whole motion at the coarsest, and how many it may take in the finest, over the
#: number of rows that it iterates over.
_STEPS, _MOST = 64, 40_000
#: Bounds beside the motion at which a comparison tells something.
_PRECISE = 1e-3
#: Travel that is none, rad or m.
_AT_REST = 1e-6

#: Rows of the parameters of both models, and notes.
Models = tuple[list[Row], tuple[str, ...]]


def models(scene: Scene | None, mech: Mechanism, against: int | str | None) -> Models:
    """Return how the model compares with PyBullet's own, where it has one."""
    if isinstance(against, int):
        return model_rows(mech, read_client(against).mechanism)
    file = against if against is not None else (own_file(scene) if scene else None)
    if file is None:
        return [], ()
    try:
        return model_rows(mech, in_child(read_in_pybullet, str(file)))
    except MbPluginError as error:
        if against is not None:
            raise
        return [], (f"the parameters of the file are not compared: {error.what}",)


def check(setup: Setup, compared: Models, solver: Solver, step: float | None) -> Agreement:
    """Return the agreement of a motion with PyBullet's."""
    rows, notes = compared
    notes = (*setup.notes, *notes)
    task = setup.task
    settings = {
        "iterations": float(solver.iterations),
        "residual_threshold": solver.residual_threshold,
        "erp": solver.erp,
    }
    base = Agreement("disagrees", "", tuple(rows), duration=task.duration, settings=settings, notes=notes)
    if wrong := [row for row in rows if not row.agrees]:
        return replace(base, reason=_models_differ(wrong))
    if reason := _unmoved(setup):
        return replace(base, verdict="not comparable", reason=reason)
    h = task.duration / _STEPS if step is None else step
    begun = in_child(begin, task, h, solver)
    if begun.left_out:
        more = f" (and {len(begun.left_out) - 1} more of this kind)" if len(begun.left_out) > 1 else ""
        return replace(base, verdict="not comparable", reason=begun.left_out[0] + more)
    base = replace(base, rows=(*rows, *statics_rows(task, begun.statics)))
    if wrong := [row for row in base.rows if not row.agrees]:
        return replace(base, reason=parted(setup, wrong))
    return _motions(setup, base, solver, h, begun.runs, adapt=step is None)


def _models_differ(wrong: list[Row]) -> str:
    row = wrong[0]
    more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    return (
        f"the models differ: {row.quantity} of {row.element!r} by {row.deviation:.3g} {row.unit}{more};"
        " the motions were not compared"
    )


def _unmoved(setup: Setup) -> str:
    """Return why there is no motion to compare, or nothing."""
    if setup.ours.outcome not in ("completed", "stopped"):
        return f"our motion ended as {setup.ours.outcome!r} at {setup.ours.time[-1]:.6g} s"
    if setup.ours.planar and any(joint.pair is None for joint in setup.task.mech.tree.joints):
        return f"our motion keeps free bodies in the {setup.ours.planar} plane, and PyBullet's does not"
    return "" if setup.task.mech.qd_names else "nothing can move"


def _motions(
    setup: Setup, base: Agreement, solver: Solver, h: float, first: tuple[Sampled, ...], *, adapt: bool
) -> Agreement:
    """Compare four motions; unless the step was chosen, halve it until they tell something."""
    task, runs = setup.task, list(first)
    most = _MOST // max(1, task.rows)
    while True:
        k = len(runs) - 4
        last = runs[k:]
        found = deviations(task, setup.ours, last, h / 2 ** (k + 3)) if _finite(last) else []
        orders = orders_of(found) if found else (np.nan,) * 3
        first_order = all(FIRST_ORDER[0] <= order <= FIRST_ORDER[1] for order in orders)
        if (
            not adapt
            or sum(task.counts(h)) * 2 ** (k + 4) > most
            or (first_order and _tells(setup, found[0]))
        ):
            break
        runs += in_child(run_motion, task, h, (2 ** (k + 4),), solver)
    if first_order and task.constrained:
        more = replace(solver, iterations=2 * solver.iterations)
        last += in_child(run_motion, task, h, (2 ** (k + 3),), more)
        found = deviations(task, setup.ours, last, h / 2 ** (k + 3))
    rows = (*base.rows, *(row for d in found for row in rows_of(d)))
    out = replace(
        base,
        rows=rows,
        steps=tuple(h / 2**i for i in range(k, k + 4)),
        orders=orders,
        notes=(*base.notes, *open_loops(task, last[3])),
        curves=curves_of(task, setup.ours, last[3]) if found else None,
    )
    if not first_order:
        return replace(out, verdict="not asymptotic", reason=not_asymptotic(setup, orders, not adapt))
    if wrong := [row for row in rows if not row.agrees]:
        return replace(out, reason=parted(setup, wrong))
    return replace(out, verdict="agrees", reason=_agreed(setup, out))


def _tells(setup: Setup, coordinates: Deviations) -> bool:
    """Whether the bounds are small beside the motion, or there is none."""
    travel = _travel(setup)
    return travel < _AT_REST or max(row.bound for row in rows_of(coordinates)) < _PRECISE * travel


def _travel(setup: Setup) -> float:
    """Return the largest change of a coordinate, rad or m."""
    return float(np.ptp(setup.ours.q, axis=0).max())


def _finite(runs: list[Sampled]) -> bool:
    return all(np.isfinite(run.q).all() and np.isfinite(run.qd).all() for run in runs)


def _agreed(setup: Setup, found: Agreement) -> str:
    if _travel(setup) < _AT_REST:
        return f"neither moves in {found.duration:.6g} s; give rates or loads to compare a motion"
    moved = [row for row in found.rows if row.errors]
    if not found.orders:
        return f"PyBullet's motion is ours at every step down to {found.steps[-1]:.3g} s"
    worst = max((row for row in moved if row.quantity == "coordinate"), key=lambda row: row.deviation)
    return (
        f"PyBullet converges to our motion with order {found.orders[-1]:.2f}; extrapolated to step zero,"
        f" {worst.element} is {worst.deviation:.2g} {worst.unit} off, within {worst.bound:.2g}"
    )
