"""The cross-check itself: models, statics, then motions with decreasing steps until they are conclusive."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from mbplugin.bullet.child import Allowance, in_child
from mbplugin.bullet.motion.run import Sampled, run_motion
from mbplugin.bullet.motion.task import Solver, Task
from mbplugin.bullet.reader.client import read_client
from mbplugin.comparison.agreement import FIRST_ORDER, Agreement, Row
from mbplugin.comparison.compare import Deviations, curves_of, deviations, orders_of, own_orders, rows_of
from mbplugin.comparison.evidence import checks_of
from mbplugin.comparison.first_questions import begin
from mbplugin.comparison.joints import without_idle
from mbplugin.comparison.model import lacking, model_rows, own_file, read_in_pybullet
from mbplugin.comparison.quaternions import ignored_quaternions
from mbplugin.comparison.reason import explain_disagreement, not_asymptotic, open_loops, unit_of
from mbplugin.comparison.setup import Setup
from mbplugin.comparison.statics import statics_rows
from mbplugin.errors import BadUsage, MbPluginError
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Scene
from mbplugin.processes.foreign import LimitPassed, Limits, in_own_child
from mbplugin.readers import load

#: PyBullet's steps in a whole motion at the coarsest, and how many it may take in the finest, over the
#: number of rows that it iterates over.
_STEPS, _MOST = 64, 40_000
#: Bounds beside the motion at which a comparison tells something.
_PRECISE = 1e-3
#: What PyBullet may take to read a file; a copy of it without shapes is written.
_READING = Limits(seconds=60.0, cpu=60, memory=3 << 30, written=1 << 30)
_LATE = "smaller steps are not compared, because the time or the memory allowed for PyBullet was used up"
#: Travel that is none, rad or m.
_AT_REST = 1e-6

#: Told how many motions are computed, and how many there will be at least.
Progress = Callable[[int, int], None]
#: Rows of the parameters of both models, and notes.
Models = tuple[list[Row], tuple[str, ...]]


def models(scene: Scene | None, mech: Mechanism, against: int | str | None) -> Models:
    """Return how the model compares with PyBullet's own, where it has one."""
    if against is not None:
        return _named(mech, against)
    file = own_file(scene) if scene else None
    if file is None:
        several = scene is not None and sum(name.endswith(".urdf") for name in scene.files) > 1
        return [], ("the scene has several URDFs, whose parameters are not compared",) if several else ()
    ignored = ignored_quaternions(scene)
    try:
        rows, notes = model_rows(mech, _read(file))
    except MbPluginError as error:
        return [], (f"the parameters of the file are not compared: {error.what}", *ignored)
    rows, idle = without_idle(rows)
    return rows, (*notes, *idle, *ignored)


def _named(mech: Mechanism, against: int | str) -> Models:
    """Return how the model compares with the one that the user names, which has to hold all of it."""
    ignored: tuple[str, ...] = ()
    if isinstance(against, int):
        where, theirs = f"PyBullet client {against}", read_client(against).mechanism
    else:
        # what it says of a file that is none is better than what PyBullet does
        ignored = ignored_quaternions(load(against))
        where, theirs = str(against), _read(str(against))
    rows, notes = model_rows(mech, theirs)
    if not rows:
        raise BadUsage(
            f"it holds no moving body and no joint of {mech.name!r}",
            where=where,
            expected="a model with the same names",
        )
    return [*lacking(mech, theirs), *rows], (*notes, *ignored)


def _read(file: str) -> Mechanism:
    """Return what PyBullet reads from a URDF, in a process that a file may end or hold up."""
    return in_own_child("PyBullet", _READING, file, os.environ, read_in_pybullet, file)


def check(
    setup: Setup,
    compared: Models,
    solver: Solver,
    step: float | None,
    progress: Progress | None = None,
    *,
    allowance: Allowance,
) -> Agreement:
    """Return the agreement of a motion with PyBullet's, as far as it is computed in the time allowed.

    Raises
    ------
    BadUsage
        The step is longer than the motion.
    """
    rows, notes = compared
    notes = (*setup.notes, *notes)
    task = setup.task
    if step is not None and step > task.duration:
        raise BadUsage(f"the step is {step:g} s", expected=f"at most the duration, {task.duration:g} s")
    settings = {
        "iterations": float(solver.iterations),
        "residual_threshold": solver.residual_threshold,
        "erp": solver.erp,
    }
    base = Agreement(
        "disagrees",
        "",
        tuple(rows),
        duration=task.duration,
        settings=settings,
        notes=notes,
        tolerance=setup.ours.tolerance,
        assumed=setup.assumed,
        of_effort=setup.of_effort,
    )
    if wrong := [row for row in rows if not row.agrees]:
        return replace(base, reason=_models_differ(wrong))
    if reason := _unmoved(setup):
        return replace(base, verdict="not comparable", reason=reason)
    h = task.duration / _STEPS if step is None else step
    try:
        return _compared(setup, base, solver, h, progress, allowance, adapt=step is None)
    except LimitPassed as error:
        return replace(base, verdict="not comparable", reason=f"{error.what}; {error.remedy}")


def _compared(
    setup: Setup,
    base: Agreement,
    solver: Solver,
    h: float,
    progress: Progress | None,
    allowance: Allowance,
    *,
    adapt: bool,
) -> Agreement:
    """Compare statics, and motions from the step ``h`` (s) on."""
    task = setup.task
    begun = in_child(begin, task, h, solver, limits=allowance.limits)
    if begun.left_out:
        more = f" (and {len(begun.left_out) - 1} more of this kind)" if len(begun.left_out) > 1 else ""
        return replace(base, verdict="not comparable", reason=begun.left_out[0] + more)
    base = replace(base, rows=(*base.rows, *statics_rows(task, begun.statics)))
    if wrong := [row for row in base.rows if not row.agrees]:
        return replace(base, reason=explain_disagreement(setup, wrong))
    return _motions(setup, base, solver, h, begun.runs, progress, allowance, adapt=adapt)


def _models_differ(wrong: list[Row]) -> str:
    row = wrong[0]
    more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    return (
        f"the models differ: {row.quantity} of {row.element!r} by {row.deviation:.3g}{unit_of(row)}{more};"
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
    setup: Setup,
    base: Agreement,
    solver: Solver,
    h: float,
    first: tuple[Sampled, ...],
    progress: Progress | None,
    allowance: Allowance,
    *,
    adapt: bool,
) -> Agreement:
    """Compare four motions; unless the step was chosen, halve it until they tell something."""
    task, runs = setup.task, list(first)
    most = _MOST // max(1, task.rows)
    while True:
        k = len(runs) - 4
        if progress is not None:
            progress(len(runs), len(runs) + 1)
        last, finest = runs[k:], 2 ** (k + 3)
        found = deviations(task, setup.ours, last, h / finest) if _finite(last) else []
        if (_settled(found) and _tells(setup, found)) or not adapt or 2 * finest * sum(task.counts(h)) > most:
            break
        finer = _in_time(task, h, 2 * finest, solver, allowance)
        if not finer:
            base = replace(base, notes=(*base.notes, _LATE))
            break
        runs += finer
    if _settled(found) and task.constrained:
        more = replace(solver, iterations=2 * solver.iterations)
        last += in_child(run_motion, task, h, (finest,), more, limits=allowance.limits)
        found = deviations(task, setup.ours, last, h / finest)
    out = replace(
        base,
        rows=(*base.rows, *(row for d in found for row in rows_of(d))),
        steps=tuple(h / 2**i for i in range(k, k + 4)),
        orders=orders_of(found) if found else (np.nan,) * 3,
        notes=(*base.notes, *open_loops(task, last[3])),
        curves=curves_of(task, setup.ours, last[3]) if found else None,
    )
    if found and not (_settled(found) and _first_order(out.orders) and all(r.agrees for r in out.rows)):
        out = replace(out, checks=checks_of(task, setup.ours, last, own_orders(found)))
    return _judged(setup, out, _settled(found), chosen=not adapt)


def _in_time(task: Task, h: float, refinement: int, solver: Solver, allowance: Allowance) -> list[Sampled]:
    """Return PyBullet's motion at one more step, or nothing where the time that is allowed ends first."""
    try:
        return in_child(run_motion, task, h, (refinement,), solver, limits=allowance.limits)
    except LimitPassed:
        return []


def _judged(setup: Setup, out: Agreement, settled: bool, *, chosen: bool) -> Agreement:
    """Return the agreement with its verdict; ``settled`` is whether PyBullet converges, to whatever."""
    wrong = [row for row in out.rows if not row.agrees]
    if settled and wrong:
        return replace(out, reason=explain_disagreement(setup, wrong, out.checks))
    if settled and _first_order(out.orders):
        return replace(out, verdict="agrees", reason=_agreed(setup, out))
    reason = not_asymptotic(setup, out.orders, out.checks, chosen=chosen)
    return replace(out, verdict="not asymptotic", reason=reason)


def _settled(found: list[Deviations]) -> bool:
    """Whether PyBullet converges with first order: its error against us, or else to something of its own."""
    return bool(found) and (_first_order(orders_of(found)) or _first_order(own_orders(found)))


def _first_order(orders: Sequence[float]) -> bool:
    return all(FIRST_ORDER[0] <= order <= FIRST_ORDER[1] for order in orders)


def _tells(setup: Setup, found: list[Deviations]) -> bool:
    """Whether the bounds are small beside the motion, and the errors those of first order or too large."""
    if _travel(setup) < _AT_REST:
        return True
    rows = [row for d in found for row in rows_of(d)]
    small = max(row.bound for row in rows if row.quantity == "coordinate") < _PRECISE * _travel(setup)
    return small and (_first_order(orders_of(found)) or not all(row.agrees for row in rows))


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
