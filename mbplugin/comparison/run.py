"""The cross-check itself: models, statics, then motions with decreasing steps until they are conclusive.

The engine is PyBullet, MuJoCo, or both. Both are of first order here, so that one rule judges them.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, Literal, TypeVar

import numpy as np
from lxml import etree

from mbplugin.arguments import checked
from mbplugin.bullet import Allowance, in_child, quiet, session
from mbplugin.bullet.motion import Sampled, Solver, Task, left_out, run_motion
from mbplugin.bullet.reader import read_client
from mbplugin.comparison import agreement, compare, mujoco_motion
from mbplugin.comparison.agreement import Agreement, Begun, Check, EngineName, Row, Setup
from mbplugin.comparison.compare import Deviations
from mbplugin.errors import BadUsage, BrokenModel, MbPluginError, MissingDependency
from mbplugin.files import read_bounded
from mbplugin.model import WORLD, Body, BrakeLike, JointValues, Lock, Mechanism, NamedNumbers
from mbplugin.model.scene import LoadLike, PayloadLike, Scene
from mbplugin.phrases import Assumption, listed
from mbplugin.processes.foreign import LimitPassed, Limits, in_engine, in_own_child
from mbplugin.readers import ModelSource, load, model_of
from mbplugin.readers.standing import in_motion
from mbplugin.simulation.options import MAX_SECONDS
from mbplugin.stopping.outcome import StopReport

#: Steps of an engine in a whole motion at the coarsest, and how many it may take in the finest, over the
#: number of rows that PyBullet iterates over.
_STEPS, _MOST = 64, 40_000
#: Bounds beside the motion at which a comparison tells something.
_PRECISE = 1e-3
#: What PyBullet may take to read a file; a copy of it without shapes is written.
_READING = Limits(seconds=60.0, cpu=60, memory=3 << 30, written=1 << 30)
_LATE = "smaller steps are not compared, because the time or the memory allowed for {} was used up"
#: Travel that is none, rad or m.
_AT_REST = 1e-6
#: Told how many motions are computed, and how many there will be at least.
Progress = Callable[[int, int], None]
EngineWord = Literal["pybullet", "mujoco"]
T = TypeVar("T")
#: Rows of the parameters of both models, and notes.
Models = tuple[list[Row], tuple[str, ...]]
#: A mass (kg) or an inertia (kg·m²) that is none, beside which there is no relative error.
_NOTHING = 1e-9


# The engines: what of each is asked in a process of its own.


@dataclass(frozen=True)
class Engine:
    """An engine beside which a motion is checked.

    Parameters
    ----------
    name : "PyBullet" or "MuJoCo"
    package, extra : str
        The package that has to be installed, and the extra that installs it.
    begin : callable
        What it leaves out, or its statics and first motions of a task.
    motion : callable
        Its motions of a task.
    iterates : bool
        If true, its constraints are met the better, the more iterations it takes.
    """

    name: EngineName
    package: str
    extra: str
    begin: Callable[[Task, float, Solver], Begun]
    motion: Callable[[Task, float, tuple[int, ...], Solver], list[Sampled]]
    iterates: bool

    @property
    def installed(self) -> bool:
        """True if its package can be imported."""
        return self.package in sys.modules or find_spec(self.package) is not None

    @property
    def version(self) -> str:
        """Version of its package; empty if the package states none."""
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return ""

    def ask(self, allowance: Allowance, function: Callable[..., T], /, *args: Any) -> T:
        """Return the answer of a function that runs in a process of the engine."""
        if self.name == "PyBullet":
            return in_child(function, *args, limits=allowance.limits)
        return in_engine(self.name, allowance.limits, "", function, *args)


def engines_for(requested: EngineWord | None) -> tuple[Engine, ...]:
    """Return the engine that is requested, or those that are installed, PyBullet first.

    Raises
    ------
    MissingDependency
        It is not installed, or neither is.
    """
    wanted = ENGINES if requested is None else {requested: ENGINES[requested]}
    found = tuple(engine for engine in wanted.values() if engine.installed)
    if not found:
        first = next(iter(wanted.values())) if requested else ENGINES["mujoco"]
        either = "" if requested else "PyBullet or "
        raise MissingDependency.of("a cross-check", either + first.name, first.extra)
    return found


# ``crosscheck``: whether the motion of an engine converges to ours as its step decreases.


@checked
def crosscheck(
    mech: ModelSource | StopReport,
    duration: float | None = None,
    *,
    q: JointValues = None,
    qd: JointValues = None,
    locks: Iterable[Lock] = (),
    brakes: Iterable[BrakeLike] | None = None,
    signal: float | None = None,
    loads: Iterable[LoadLike] = (),
    payload: Iterable[PayloadLike] | None = None,
    torques: NamedNumbers | None = None,
    damping: bool = True,
    friction: bool = True,
    engine: Literal["pybullet", "mujoco"] | None = None,
    against: int | str | None = None,
    step: float | None = None,
    iterations: int = 500,
    progress: Callable[[int, int], None] | None = None,
    max_seconds: float = MAX_SECONDS,
) -> Agreement:
    """Compare a motion of mbplugin with an engine's at a step, a half, a quarter and an eighth of it.

    Both start from the same state with the same loads, locks and brakes. PyBullet and MuJoCo run in processes
    of their own. The parameters that PyBullet reads from a URDF are compared first.

    Parameters
    ----------
    mech : path, PyBullet client, Scene, Mechanism or StopReport
        A stop is compared from its signal to rest; then only ``engine``, ``against``, ``step`` and
        ``iterations`` apply.
    duration : float, optional
        s; by default 0.5, or 1.5 times the time of the last lock or brake if that is longer.
    q, qd : mapping or vector, optional
        State at the start; what is not named keeps the scene's value.
    locks : iterable of Lock
        In addition to the scene's.
    brakes, signal, loads, payload, torques, damping, friction
        As for ``simulate``.
    engine : "pybullet" or "mujoco", optional
        By default PyBullet, and MuJoCo as the second; the other one alone where one is not installed. MuJoCo is
        the first where PyBullet cannot model the mechanism and MuJoCo can.
    against : int or str, optional
        PyBullet's model: a connected client, or a URDF; by default the scene's own URDF as
        PyBullet reads it, if there is one.
    step : float, optional
        The engine's coarsest step, s. By default it is halved until its error decreases as that of a
        first-order method.
    iterations : int
        Of PyBullet's solver.
    progress : callable, optional
        Called with the number of computed motions of an engine, and the least total number.
    max_seconds : float
        Time limit of the computation, for our motion and for all of each engine; beyond it nothing is comparable.

    Returns
    -------
    Agreement

    Raises
    ------
    BadUsage, UnknownName, BadNumber, CannotClose
        Something in the request that cannot be.
    MissingDependency
        The engine is not installed, or neither is.
    """
    engines = engines_for(engine)
    if against is not None and engines[0].name != "PyBullet":
        if engine is None:
            raise MissingDependency.of("a model of PyBullet to compare with", "PyBullet", "bullet")
        raise BadUsage("against was given with MuJoCo", expected="PyBullet's model, for the engine pybullet")
    if step is not None and not (isfinite(step) and step > 0):
        raise BadUsage(f"the step is {step:g} s", expected="a positive number")
    if iterations < 1:
        raise BadUsage(f"{iterations} iterations were requested", expected="at least one")
    if isinstance(mech, StopReport):
        motion: dict[str, object] = {
            "duration": duration,
            "q": q,
            "qd": qd,
            "locks": locks,
            "brakes": brakes,
            "signal": signal,
        }
        motion |= {"loads": loads, "payload": payload, "torques": torques}
        motion |= {"damping": None if damping else damping, "friction": None if friction else friction}
        _require_none_given(motion)
        scene, setup = None, agreement.of_stop(mech, max_seconds)
    else:
        model = in_motion(model_of(mech), q, qd)
        scene = model if isinstance(model, Scene) else None
        setup = agreement.of_motion(
            model,
            duration,
            brakes,
            signal,
            q=q,
            qd=qd,
            locks=tuple(locks),
            loads=loads,
            payload=payload,
            torques=torques,
            damping=damping,
            friction=friction,
            max_seconds=max_seconds,
        )
    found: Agreement | None = None
    for one in reversed(engines):
        # only PyBullet reads a URDF as it is; what MuJoCo makes of one is another model
        compared: Models = models(scene, setup.task.mech, against) if one.name == "PyBullet" else ([], ())
        allowance = Allowance(max_seconds)
        checked_with = check(
            setup, compared, Solver(iterations), step, progress, allowance=allowance, engine=one
        )
        found = replace(checked_with, second=found)
    assert found is not None
    return _judged_by_the_able(found)


def _judged_by_the_able(found: Agreement) -> Agreement:
    """Return a cross-check with the second engine first if only that one can model the mechanism."""
    second = found.second
    if second is None or not found.left_out or second.verdict == "not comparable":
        return found
    reason = f"{found.engine} cannot model it, so {second.engine} judges: {second.reason}"
    return replace(second, reason=reason, second=replace(found, second=None))


def _require_none_given(motion: Mapping[str, object]) -> None:
    """Refuse arguments of a motion beside a stop, which has its own.

    Raises
    ------
    BadUsage
    """
    given = [
        name
        for name, value in motion.items()
        if not (value is None or (isinstance(value, tuple) and not value))
    ]
    if given:
        raise BadUsage(
            f"a stop has its own motion, and {listed(given)} was given too",
            expected="a stop with against, step and iterations alone",
            remedy="compute the stop with it, or give the model instead of the stop",
        )


def models(scene: Scene | None, mech: Mechanism, against: int | str | None) -> Models:
    """Compare the parameters of the model with those of PyBullet's own model, if there is one."""
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
    rows, idle = compare.without_idle(rows)
    return rows, (*notes, *idle, *ignored)


def _named(mech: Mechanism, against: int | str) -> Models:
    """Compare the parameters of the model with those of the named one, which must contain all its bodies."""
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
            f"it has no moving body and no joint of {mech.name!r}",
            where=where,
            expected="a model with the same names",
        )
    return [*lacking(mech, theirs), *rows], (*notes, *ignored)


def _read(file: str) -> Mechanism:
    """Return the mechanism that PyBullet reads from a URDF, in a process that a file may crash or block."""
    return in_own_child("PyBullet", _READING, file, os.environ, read_in_pybullet, file)


def check(
    setup: Setup,
    compared: Models,
    solver: Solver,
    step: float | None,
    progress: Progress | None = None,
    *,
    allowance: Allowance,
    engine: Engine,
) -> Agreement:
    """Return the agreement of a motion with the engine's, as far as it is computed in the time allowed.

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
    settings = {"erp": solver.erp}
    if engine.iterates:
        settings = {
            "iterations": float(solver.iterations),
            "residual_threshold": solver.residual_threshold,
            **settings,
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
        engine=engine.name,
        version=engine.version,
    )
    if wrong := [row for row in rows if not row.agrees]:
        return replace(base, reason=_models_differ(wrong))
    if reason := _unmoved(setup, engine):
        return replace(base, verdict="not comparable", reason=reason)
    h = task.duration / _STEPS if step is None else step
    try:
        return _compared(setup, base, solver, h, progress, allowance, engine, adapt=step is None)
    except LimitPassed as error:
        return replace(base, verdict="not comparable", reason=f"{error.what}; {error.remedy}")


def _compared(
    setup: Setup,
    base: Agreement,
    solver: Solver,
    h: float,
    progress: Progress | None,
    allowance: Allowance,
    engine: Engine,
    *,
    adapt: bool,
) -> Agreement:
    """Compare statics, and motions from the step ``h`` (s) on."""
    task = setup.task
    begun = engine.ask(allowance, engine.begin, task, h, solver)
    if begun.left_out:
        more = f" (and {len(begun.left_out) - 1} more of this kind)" if len(begun.left_out) > 1 else ""
        reason = begun.left_out[0] + more
        return replace(base, verdict="not comparable", reason=reason, left_out=begun.left_out)
    base = replace(base, rows=(*base.rows, *agreement.statics_rows(task, begun.statics)))
    if wrong := [row for row in base.rows if not row.agrees]:
        return replace(base, reason=explain_disagreement(setup, wrong))
    return _motions(setup, base, solver, h, begun.runs, progress, allowance, engine, adapt=adapt)


def _models_differ(wrong: list[Row]) -> str:
    row = wrong[0]
    more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    return (
        f"the models differ: {row.quantity} of {row.element!r} by {row.deviation:.3g}{unit_of(row)}{more};"
        " the motions were not compared"
    )


def _unmoved(setup: Setup, engine: Engine) -> str:
    """Return the reason why there is no motion to compare; empty if there is a motion."""
    if setup.ours.outcome not in ("completed", "stopped"):
        return f"our motion ended as {setup.ours.outcome!r} at {setup.ours.time[-1]:.6g} s"
    if setup.ours.planar and any(joint.pair is None for joint in setup.task.mech.tree.joints):
        return f"our motion keeps free bodies in the {setup.ours.planar} plane, and {engine.name}'s does not"
    return "" if setup.task.mech.qd_names else "nothing can move"


def _motions(
    setup: Setup,
    base: Agreement,
    solver: Solver,
    h: float,
    first: tuple[Sampled, ...],
    progress: Progress | None,
    allowance: Allowance,
    engine: Engine,
    *,
    adapt: bool,
) -> Agreement:
    """Compare four motions; unless the step was given, halve it until they are conclusive."""
    task, runs = setup.task, list(first)
    most = _MOST // max(1, task.rows) if engine.iterates else _MOST
    while True:
        k = len(runs) - 4
        if progress is not None:
            progress(len(runs), len(runs) + 1)
        last, finest = runs[k:], 2 ** (k + 3)
        finite = all(np.isfinite(run.q).all() and np.isfinite(run.qd).all() for run in last)
        found = compare.deviations(task, setup.ours, last, h / finest) if finite else []
        if (
            (_settled(found) and _is_conclusive(setup, found))
            or not adapt
            or 2 * finest * sum(task.counts(h)) > most
        ):
            break
        finer = _in_time(task, h, 2 * finest, solver, allowance, engine)
        if not finer:
            base = replace(base, notes=(*base.notes, _LATE.format(engine.name)))
            break
        runs += finer
    if _settled(found) and task.constrained and engine.iterates:
        more = replace(solver, iterations=2 * solver.iterations)
        last += engine.ask(allowance, engine.motion, task, h, (finest,), more)
        found = compare.deviations(task, setup.ours, last, h / finest)
    out = replace(
        base,
        rows=(*base.rows, *(row for d in found for row in compare.rows_of(d))),
        steps=tuple(h / 2**i for i in range(k, k + 4)),
        orders=compare.orders_of(found) if found else (np.nan,) * 3,
        notes=(*base.notes, *open_loops(task, last[3], engine.name)),
        curves=compare.curves_of(task, setup.ours, last[3]) if found else None,
    )
    if found and not (_settled(found) and _first_order(out.orders) and all(r.agrees for r in out.rows)):
        out = replace(
            out, checks=compare.checks_of(task, setup.ours, last, compare.own_orders(found), engine.name)
        )
    return _judged(setup, out, _settled(found), chosen=not adapt)


def _in_time(
    task: Task, h: float, refinement: int, solver: Solver, allowance: Allowance, engine: Engine
) -> list[Sampled]:
    """Return the engine's motion at one more step, or nothing where the time that is allowed ends first."""
    try:
        return engine.ask(allowance, engine.motion, task, h, (refinement,), solver)
    except LimitPassed:
        return []


def _judged(setup: Setup, out: Agreement, settled: bool, *, chosen: bool) -> Agreement:
    """Return the agreement with its verdict; ``settled`` is whether the engine converges, to any limit."""
    wrong = [row for row in out.rows if not row.agrees]
    if settled and wrong:
        return replace(out, reason=explain_disagreement(setup, wrong, out.checks))
    if settled and _first_order(out.orders):
        return replace(out, verdict="agrees", reason=_agreed(setup, out))
    reason = not_asymptotic(setup, out.orders, out.checks, chosen=chosen, engine=out.engine)
    return replace(out, verdict="not asymptotic", reason=reason)


def _settled(found: list[Deviations]) -> bool:
    """Return True if the engine converges with first order, to our motion or to another one."""
    return bool(found) and (_first_order(compare.orders_of(found)) or _first_order(compare.own_orders(found)))


def _first_order(orders: Sequence[float]) -> bool:
    return all(agreement.FIRST_ORDER[0] <= order <= agreement.FIRST_ORDER[1] for order in orders)


def _is_conclusive(setup: Setup, found: list[Deviations]) -> bool:
    """Return True if the bounds are small relative to the motion, and the errors of first order or too large."""
    if _travel(setup) < _AT_REST:
        return True
    rows = [row for d in found for row in compare.rows_of(d)]
    small = max(row.bound for row in rows if row.quantity == "coordinate") < _PRECISE * _travel(setup)
    return small and (_first_order(compare.orders_of(found)) or not all(row.agrees for row in rows))


def _travel(setup: Setup) -> float:
    """Return the largest change of a coordinate, rad or m."""
    return float(np.ptp(setup.ours.q, axis=0).max())


def _agreed(setup: Setup, found: Agreement) -> str:
    if _travel(setup) < _AT_REST:
        return f"neither moves in {found.duration:.6g} s; give rates or loads to compare a motion"
    moved = [row for row in found.rows if row.errors]
    if not found.orders:
        return f"{found.engine}'s motion is ours at every step down to {found.steps[-1]:.3g} s"
    worst = max((row for row in moved if row.quantity == "coordinate"), key=lambda row: row.deviation)
    return (
        f"{found.engine} converges to our motion with order {found.orders[-1]:.2f}; extrapolated to step zero,"
        f" {worst.element} is {worst.deviation:.2g} {worst.unit} off, within {worst.bound:.2g}"
    )


# The reason of a verdict in one sentence: where two motions differ, or why they are not comparable.


def unit_of(row: Row) -> str:
    """Return the unit of a row as it follows a number, or nothing where it has none."""
    return "" if row.unit == "1" else f" {row.unit}"


def explain_disagreement(setup: Setup, wrong: Sequence[Row], checks: Sequence[Check] = ()) -> str:
    """Return the place and time at which the two motions part, the event near it, and the evidence against either."""
    dated = [row for row in wrong if row.time is not None]
    row = min(dated, key=lambda r: (r.time or 0.0, -r.deviation / r.bound)) if dated else wrong[0]
    what = (
        f"{row.quantity} of {row.element!r} is {row.deviation:.3g}{unit_of(row)} apart, bound {row.bound:.2g}"
    )
    if row.time is None:
        return f"{what}; it is compared before anything moves"
    when = [t for t in setup.task.instants[1:-1] if abs(t - row.time) < 0.05 * setup.task.duration]
    near = f", near the change at {when[0]:.6g} s" if when else ""
    seen = compare.verdict_of(checks)
    return f"they part at {row.time:.6g} s{near}: {what}" + (f"; {seen}" if seen else "")


def not_asymptotic(
    setup: Setup,
    orders: Sequence[float],
    checks: Sequence[Check] = (),
    *,
    chosen: bool = False,
    engine: EngineName = "PyBullet",
) -> str:
    """Return a sentence that the deviation does not shrink as for a first-order method, and a possible remedy."""
    if np.isnan(orders).any():
        return f"{engine}'s motion leaves all bounds; choose a smaller step or a shorter duration"
    seen = ", ".join(f"{order:.2f}" for order in orders)
    if setup.task.mech.tree.cut or setup.task.mech.couplings:
        why = "loops that are badly conditioned for iterations, or a very sensitive motion"
    elif setup.task.brakes:
        why = "joints that come to rest or slip at instants that the steps do not meet"
    else:
        why = "a motion that is too sensitive"
    remedy = "choose a smaller step" if chosen else "choose a shorter duration"
    firm = [check for check in checks if check.name != compare.CONVERGENCE]
    failed = compare.verdict_of(firm) if any(not check.passes for check in firm) else ""
    return (
        f"the deviation shrinks with orders {seen} of {engine}'s step instead of 1, so nothing can be"
        f" extrapolated; possible reasons are {why}; {remedy}" + (f"; {failed}" if failed else "")
    )


def open_loops(task: Task, run: Sampled, engine: EngineName) -> tuple[str, ...]:
    """Return a note on the largest loop gap of an engine at its smallest step."""
    if not np.isfinite(run.q).all():
        return ()
    gaps = compare.opening(task.mech, run.q)
    if not gaps:
        return ()
    worst = max(gaps, key=lambda name: gaps[name])
    return (f"at its smallest step {engine} lets {worst!r} open by {gaps[worst]:.2g} m",)


# The first queries to PyBullet, combined in one process, because each start takes a second.


def begin(task: Task, step: float, solver: Solver) -> Begun:
    """Return PyBullet's statics and first motions of a task, or its obstacles."""
    if gone := left_out(task):
        return Begun(gone)
    return Begun((), agreement.query_statics(task), tuple(run_motion(task, step, (1, 2, 4, 8), solver)))


#: What can be asked, PyBullet first.
ENGINES: Mapping[EngineWord, Engine] = {
    "pybullet": Engine("PyBullet", "pybullet", "bullet", begin, run_motion, iterates=True),
    "mujoco": Engine(
        "MuJoCo", "mujoco", "mjcf", mujoco_motion.begin, mujoco_motion.run_motion, iterates=False
    ),
}


# Orientations that a URDF states as quaternions, which PyBullet does not read.


def ignored_quaternions(scene: Scene | None) -> tuple[str, ...]:
    """Return a note on the ``quat_xyzw`` of a scene's joints and inertias, nothing where there are none."""
    found = [
        (name, at) for (_, name, part), at in (scene.origin if scene else {}).items() if part == "quat_xyzw"
    ]
    if not found:
        return ()
    name, at = found[0]
    more = f" and of {len(found) - 1} more elements" if len(found) > 1 else ""
    return (
        f"PyBullet ignores the quat_xyzw of {name!r} ({at}){more} and takes its orientation as zero;"
        " write rpy for a model that both read alike",
    )


# The parameters of two models side by side: what PyBullet reads from a file, or holds, against ours.


def own_file(scene: Scene) -> str | None:
    """Return the one URDF from which a scene comes and that PyBullet can read."""
    request = scene.request
    if request is None or request.text is not None or request.snap_angles:
        return None
    files = [file for file in scene.files if file.endswith(".urdf")]
    return files[0] if len(files) == 1 and Path(files[0]).is_file() else None


def read_in_pybullet(path: str) -> Mechanism:
    """Return the mechanism that PyBullet reads from a URDF; call it in a child process.

    It refuses a file whose meshes it does not find; such a file is read without its shapes, which have no
    part in what is compared.

    Raises
    ------
    BrokenModel
        PyBullet refuses it.
    """
    with session() as (bullet, client):
        bullet.setAdditionalSearchPath(str(Path(path).parent), physicsClientId=client)
        if not _loaded(bullet, client, path):
            with TemporaryDirectory() as folder:
                gravity_only = Path(folder) / "bare.urdf"
                gravity_only.write_bytes(_without_shapes(path))
                if not _loaded(bullet, client, str(gravity_only)):
                    raise BrokenModel("PyBullet refuses to load it", where=path, expected="a URDF")
        return read_client(client).mechanism


def _loaded(bullet: ModuleType, client: int, path: str) -> bool:
    flags = bullet.URDF_USE_INERTIA_FROM_FILE
    with quiet():
        try:
            body: int = bullet.loadURDF(path, flags=flags, physicsClientId=client)
        except bullet.error:
            return False
    return body >= 0


def _without_shapes(path: str) -> bytes:
    tree = etree.fromstring(read_bounded(Path(path)), etree.XMLParser(resolve_entities=False, recover=True))
    if tree is None or tree.tag != "robot":
        raise BrokenModel("PyBullet refuses to load it", where=path, expected="a URDF")
    for link in tree.iter("link"):
        for shape in [*link.iterfind("visual"), *link.iterfind("collision")]:
            link.remove(shape)
    return bytes(etree.tostring(tree))


def model_rows(ours: Mechanism, theirs: Mechanism) -> tuple[list[Row], tuple[str, ...]]:
    """Return one row per parameter of all bodies and joints that both have, and notes on the others.

    What PyBullet never reads as it is written is a note: links without an inertia, inertias that no body
    can have, the masses of what stands still.

    Raises
    ------
    BadUsage
        PyBullet holds several models with the names of ours.
    """
    rows: list[Row] = []
    notes: list[str] = []
    prefix = _prefix(ours, theirs)
    others = {body.name.removeprefix(prefix): body for body in theirs.bodies}
    still = _standing(ours) | {name.removeprefix(prefix) for name in _standing(theirs)}
    for body in ours.bodies:
        if body.name not in others:
            notes.append(f"PyBullet has no body {body.name!r}")
        elif body.name in still:
            continue
        elif note := _misread(body, others[body.name]):
            notes.append(note)
        else:
            rows += _body_rows(body, others[body.name])
    pairs = {pair.name.removeprefix(prefix): pair for pair in theirs.pairs}
    inner = {joint.inner for joint in ours.tree.joints}
    idle = {body.name for body in ours.bodies if body.massless and body.name not in inner}
    for pair in ours.pairs:
        if pair.name in pairs:
            found = list(compare.pair_rows(pair, pairs[pair.name]))
            if pair.body_b in idle and not all(row.agrees for row in found):
                notes.append(f"PyBullet places {pair.body_b!r} otherwise, which carries no mass")
            else:
                rows += found
        elif pair.body_a != WORLD and not pair.closure:
            notes.append(f"PyBullet has no joint {pair.name!r}")
    return rows, tuple(notes)


def lacking(ours: Mechanism, theirs: Mechanism) -> list[Row]:
    """Return a row for every moving body of ours that PyBullet lacks, as a mass of zero."""
    prefix = _prefix(ours, theirs)
    held = _standing(ours) | {body.name.removeprefix(prefix) for body in theirs.bodies}
    gone = [body for body in ours.bodies if body.name not in held and not body.massless]
    return [Row("mass", body.name, "kg", body.mass, compare.READ * body.mass) for body in gone]


def _prefix(ours: Mechanism, theirs: Mechanism) -> str:
    """Return the prefix of our names where a client holds other models too."""
    known = {body.name for body in theirs.bodies}
    if any(body.name in known for body in ours.bodies):
        return ""
    found = Counter(
        name.removesuffix(body.name)
        for body in ours.bodies
        for name in known
        if name.endswith(f"/{body.name}")
    )
    (first, most), (second, next_most) = (*found.most_common(2), ("", 0), ("", 0))[:2]
    if most and most == next_most:
        raise BadUsage(
            f"PyBullet has loaded {first[:-1]!r} and {second[:-1]!r}, and either may be {ours.name!r}",
            remedy="leave one in the client",
        )
    return first


def _standing(mech: Mechanism) -> set[str]:
    """Return bodies that are fixed to the ground."""
    found = {WORLD}
    for joint in mech.tree.joints:
        if joint.inner in found and joint.pair is not None and not joint.pair.kind.free:
            found.add(joint.outer)
    return found


def _misread(ours: Body, theirs: Body) -> str:
    """Return a known misreading of a body by PyBullet; empty for none."""
    unit = theirs.mass == 1.0 and np.array_equal(theirs.I_C, np.eye(3))
    if ours.massless and unit:
        sentence = f"PyBullet gives {ours.name!r}, which states no inertia, 1 kg and 1 kg·m²"
        return Assumption(sentence, "1 kg in PyBullet for links without inertia")
    a, b, c = np.linalg.eigvalsh(ours.I_C)
    if not theirs.I_C.any() and ours.I_C.any() and (a < 0 or a + b < c):
        return f"PyBullet sets the inertia of {ours.name!r} to zero, since no body can have it"
    return ""


def _body_rows(ours: Body, theirs: Body) -> Iterator[Row]:
    mass = max(ours.mass, _NOTHING)
    yield Row("mass", ours.name, "kg", abs(theirs.mass - ours.mass), compare.READ * mass)
    shift = float(np.linalg.norm(theirs.p_LC - ours.p_LC))
    yield Row(
        "centre of mass", ours.name, "m", shift, compare.READ * max(1.0, float(np.abs(ours.p_LC).max()))
    )
    # Bullet turns an inertia to its principal axes until the products are below 1e-6 of the sum of the moments
    size = max(float(np.abs(np.diag(ours.I_C)).sum()), _NOTHING)
    yield Row("inertia", ours.name, "kg·m²", float(np.abs(theirs.I_C - ours.I_C).max()), compare.READ * size)
