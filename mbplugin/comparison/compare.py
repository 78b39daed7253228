"""PyBullet's motions at four steps against ours: errors, orders, extrapolation, and bounds for it.

PyBullet's method is of first order, so its value y(h) is y + c·h + …, and the first-order term cancels in
2·y(h/2) − y(h). Of four steps the last two give the compared value, the others give it twice more. For an
error that is smooth in h, the change between these values is three times the remaining error of the last
one, and four times as much one halving before. The bound of a deviation is twice the larger of the last
change and a quarter of the one before. Where PyBullet iterates, the last motion is computed once more with
twice the iterations, and ten times the resulting change is added to the bound. If a joint comes to rest or
slips within a step of h, its position depends on the instant in the step by up to a·h²/8, where a is the jump
of the accelerations; this is added too, and rates are not compared within two of the longest steps of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np

from mbplugin.bullet.motion import SAME, Sampled, Task
from mbplugin.bullet.tree import loaded
from mbplugin.comparison.agreement import FIRST_ORDER, Check, Curves, EngineName, Program, Row
from mbplugin.constraints.reduction import body_twists
from mbplugin.model import WORLD, BrakeLaw, Freedom, Mechanism, Pair, rate_force, spatial
from mbplugin.model.mechanism.kinematics import forward, rate_units, relative_pose
from mbplugin.simulation.trajectory.trajectory import Trajectory

SAFETY = 2.0
_ITERATED = 10.0
#: Share of the largest bound of a quantity that every element of it is granted: errors are not
#: independent of each other.
_SHARED = 0.2
#: What rounding and PyBullet's iterations leave, whatever the step, rad or m and per second.
_FLOOR = {"coordinate": 1e-8, "rate": 1e-7, "position": 1e-8, "orientation": 1e-8, "jump": 1e-7}
#: Error of a place (m), a direction (rad) or a value, relative to it where it is larger than one, that
#: reading may cause.
READ = 1e-6
_FREEDOMS, _PRESENCE = "number of differing freedoms", "presence of a "
#: What has no part in a motion that is compared: limits are off in both.
IDLE = ("lower limit", "upper limit", "effort limit", "velocity limit")
OURS: Program = "mbplugin"
#: The check that a shorter step may pass, and that therefore speaks against no motion.
CONVERGENCE = "order of its own convergence, from 1"
#: Error of an energy beside what is turned over, for ours and for PyBullet extrapolated to step zero.
_OF_OURS, _OF_THEIRS = 1e-4, 1e-3
#: Opening of a loop beside the reach of the mechanism, of ours and of PyBullet's at its smallest step.
_CLOSED, _NEARLY_CLOSED = 1e-8, 1e-4
#: Parts of an interval on which a way there and back is added up.
_PARTS = 8


@dataclass(frozen=True, eq=False)
class Deviations:
    """By how much the engine's samples differ from ours: (runs, samples, elements) and their names.

    The runs are those at the four steps, and one with more iterations at the last where there is any.
    ``uneven`` is what instants within steps may do to the extrapolated value.
    """

    quantity: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    time: spatial.Array
    values: spatial.Array
    uneven: float = 0.0


def deviations(task: Task, ours: Trajectory, runs: Sequence[Sampled], step: float) -> list[Deviations]:
    """Return all deviations of the motion; ``step`` is the smallest one, s."""
    mech, time = task.mech, runs[0].time
    at = _samples(task, ours, time)
    per_rate = rate_units(mech)
    units = tuple(unit.removesuffix("/s") for unit in per_rate)
    uneven = _uneven(ours, step)
    q = [[_difference(mech, a, b) for a, b in zip(run.q, at.q, strict=True)] for run in runs]
    smooth = _smooth(ours, time, 16 * step)
    qd = np.array([run.qd - at.qd for run in runs])[:, smooth]
    return [
        Deviations("coordinate", mech.qd_names, units, time, np.array(q), uneven),
        Deviations("rate", mech.qd_names, per_rate, time[smooth], qd),
        *_bodies(mech, at.q, time, runs, uneven),
        *_jumps(task, ours, runs, per_rate),
    ]


def _bodies(
    mech: Mechanism, q: spatial.Array, time: spatial.Array, runs: Sequence[Sampled], uneven: float
) -> Iterator[Deviations]:
    """Yield the deviations of centres of mass and orientations; q (T, nq) at time (T,), s."""
    own = [forward(mech, x) for x in q]
    p, R = np.array([x.p_WC for x in own]), np.array([x.R_WL for x in own])
    names, reach = tuple(body.name for body in mech.bodies), float(np.ptp(p.reshape(-1, 3), axis=0).max())
    places = np.array([run.p_WC - p for run in runs])
    yield Deviations("position", names, ("m",) * len(names), time, places, uneven * max(1.0, reach))
    turns = np.array([_turns(run.R_WL, R) for run in runs])
    yield Deviations("orientation", names, ("rad",) * len(names), time, turns, uneven)


def _turns(R: spatial.Array, reference: spatial.Array) -> spatial.Array:
    """Return rotation vectors (n, N, 3) between orientations R (n, N, 3, 3) and reference (n, N, 3, 3)."""
    relative = R @ reference.transpose(0, 1, 3, 2)
    flat = [spatial.vector_from_rotation(one) for one in relative.reshape(-1, 3, 3)]
    return np.array(flat).reshape(*R.shape[:2], 3)


def orders_of(all_deviations: Sequence[Deviations]) -> tuple[float, ...]:
    """Return the observed orders of all coordinates together; empty where PyBullet is exact."""
    values = all_deviations[0].values[:4]
    errors = np.sqrt((values**2).mean(axis=(1, 2))) if values.size else np.zeros(len(values))
    return _orders(errors, _FLOOR["coordinate"])


def own_orders(all_deviations: Sequence[Deviations]) -> tuple[float, ...]:
    """Return the orders at which PyBullet's coordinates change with its step, independent of our motion."""
    values = all_deviations[0].values[:4]
    changes = np.diff(values, axis=0)
    return _orders(np.sqrt((changes**2).mean(axis=(1, 2))), _FLOOR["coordinate"])


def rows_of(found: Deviations) -> list[Row]:
    """Return one row for each element."""
    values = found.values
    if values.ndim == 3:
        values = values[..., None]
    first, second, last = (2 * values[k + 1] - values[k] for k in range(3))
    deviation = np.linalg.norm(last, axis=-1)
    changes = [np.linalg.norm(d, axis=-1).max(axis=0) for d in (second - first, last - second)]
    change = SAFETY * np.maximum(changes[1], changes[0] / 4)
    if len(values) > 4:
        change += _ITERATED * np.linalg.norm(values[4] - values[3], axis=-1).max(axis=0)
    errors = np.linalg.norm(values[:4], axis=-1).max(axis=1)
    floor = _FLOOR[found.quantity]
    rows = []
    for k, (name, unit) in enumerate(zip(found.names, found.units, strict=True)):
        shared = max(c for c, u in zip(change, found.units, strict=True) if u == unit)
        bound = max(float(change[k]), _SHARED * float(shared), floor) + found.uneven
        outside = np.flatnonzero(deviation[:, k] > bound)
        when = outside[0] if outside.size else int(np.argmax(deviation[:, k]))
        rows.append(
            Row(
                found.quantity,
                name,
                unit,
                float(deviation[:, k].max()),
                bound,
                tuple(errors[:, k].tolist()),
                _orders(errors[:, k], floor),
                float(found.time[when]),
            )
        )
    return rows


def curves_of(task: Task, ours: Trajectory, run: Sampled) -> Curves:
    """Return the coordinates of both that are numbers."""
    mech = task.mech
    names, columns = [], []
    for joint in mech.tree.joints:
        plain = joint.q.stop - joint.q.start == joint.qd.stop - joint.qd.start
        for k in range(joint.q.start, joint.q.stop if plain else joint.q.stop - 4):
            names.append(mech.q_names[k])
            columns.append(k)
    own = _samples(task, ours, run.time).q
    start = np.concatenate(([0.0], run.time))
    first = task.q[None, columns]
    return Curves(
        tuple(names),
        start,
        np.concatenate((first, own[:, columns])),
        np.concatenate((first, run.q[:, columns])),
    )


def _samples(task: Task, ours: Trajectory, time: spatial.Array) -> Trajectory:
    """Return our motion at PyBullet's sample times, ``time`` (T,), before the changes at these instants."""
    at = [(t, False) for t in time.tolist()]
    for instant in task.instants[1:-1]:
        # the time of our event is that of the instant but for the rounding of our own steps
        own = float(ours.time[np.argmin(np.abs(ours.time - instant))])
        if abs(own - instant) < SAME:
            at = [(own, extra) if abs(t - instant) < SAME else (t, extra) for t, extra in at]
            at += [(own, True)] if any(t == own for t, _ in at) else []
    at.sort(key=lambda entry: entry[0])
    kept = np.array([not extra for _, extra in at])
    found = ours.resample([t for t, _ in at])
    return replace(found, time=found.time[kept], q=found.q[kept], qd=found.qd[kept])


def _smooth(ours: Trajectory, time: spatial.Array, apart: float) -> spatial.AnyArray:
    """Return a mask of the samples of ``time`` (T,) that are more than ``apart`` (s) from a stick or slip event.

    The mask is (T,) of bool. Near such an event a rate may be at rest in one program and not yet in the other, an
    error that does not shrink smoothly with the step.
    """
    kept = np.ones(len(time), dtype=bool)
    for event in ours.events:
        if event.kind in ("stick", "slip"):
            kept &= np.abs(time - event.time) > apart
    return kept if kept.any() else ~kept


def _uneven(ours: Trajectory, step: float) -> float:
    """Return the effect on the extrapolated value of joints that come to rest or slip within a step."""
    total = 0.0
    for event in ours.events:
        at = np.flatnonzero(np.abs(ours.time - event.time) < SAME)
        if event.kind in ("stick", "slip") and len(at) > 1:
            total += float(np.abs(ours.qdd[at[-1]] - ours.qdd[at[0]]).max())
    return total * (2 * step**2 + (2 * step) ** 2) / 8


def _jumps(task: Task, ours: Trajectory, runs: Sequence[Sampled], units: tuple[str, ...]) -> list[Deviations]:
    """Return the deviations of the jumps at instants at which our rates jump."""
    found = []
    for k, instant in enumerate(task.instants[1:-1]):
        events = [event for event in ours.events if abs(event.time - instant) < SAME]
        if not events:
            continue
        jump = events[-1].velocity_after - events[0].velocity_before
        if not jump.any():
            continue
        values = []
        for run in runs:
            before = run.qd[int(np.argmin(np.abs(run.time - instant)))]
            values.append((run.changed[k] - before - jump)[None])
        names = tuple(f"{name} at {instant:.6g} s" for name in task.mech.qd_names)
        found.append(Deviations("jump", names, units, np.array([instant]), np.array(values)))
    return found


def _difference(mech: Mechanism, q: spatial.Array, reference: spatial.Array) -> spatial.Array:
    """Return q (nq,) − reference (nq,) in the order of the rates, (nv,), turns as rotation vectors."""
    out = np.zeros(len(mech.qd_names))
    for joint in mech.tree.joints:
        a, b = q[joint.q], reference[joint.q]
        if len(a) == joint.qd.stop - joint.qd.start:
            out[joint.qd] = a - b
            continue
        R = spatial.rotation_from_quaternion(a[-4:]) @ spatial.rotation_from_quaternion(b[-4:]).T
        out[joint.qd] = np.concatenate((a[:-4] - b[:-4], spatial.vector_from_rotation(R)))
    return out


def _orders(errors: spatial.Array, floor: float) -> tuple[float, ...]:
    """Return the observed orders of errors (s,) whose steps are halved; none where one is below the floor."""
    if not len(errors) or errors.min() < floor:
        return ()
    return tuple(np.log2(errors[:-1] / errors[1:]).tolist())


# The parameters of one joint in two models side by side.


def pair_rows(ours: Pair, theirs: Pair) -> Iterator[Row]:
    """Yield how far freedoms, frames, resistance and limits of a joint are off.

    Frames are in the link frame of the predecessor; where a base stands is not a parameter of a model.
    """
    ours_free, theirs_free = set(ours.kind.free), set(theirs.kind.free)
    if len(ours_free) <= 1 and ours_free != theirs_free:
        yield Row(_FREEDOMS, ours.name, "1", float(len(ours_free ^ theirs_free)), 0.0)
    if ours_free != theirs_free or len(ours_free) > 1:
        return
    if not ours.body_a == theirs.body_a == WORLD:
        yield from _frame_rows(ours, theirs)
    for a, b, freedom in zip(ours.freedoms, theirs.freedoms, ours.kind.free, strict=True):
        yield from _freedom_rows(ours, a, b, freedom)


def _frame_rows(ours: Pair, theirs: Pair) -> Iterator[Row]:
    """Yield the deviations of axis, position and orientation."""
    if not all(np.isfinite(X.p).all() and np.isfinite(X.R).all() for X in (theirs.X_AP, theirs.X_SB)):
        # PyBullet divides the axis 0 0 0 by its length
        yield Row(f"{_PRESENCE}joint frame", ours.name, "1", 1.0, 0.0)
        return
    if ours.kind.free:
        a, b = ours.X_AP.R[:, 2], theirs.X_AP.R[:, 2]
        angle = float(np.arctan2(np.linalg.norm(spatial.cross(a, b)), a @ b))
        yield Row("joint axis", ours.name, "rad", angle, READ)
    X, Y = (p.X_AP @ p.X_SB for p in (ours, theirs))
    bound = READ * max(1.0, float(np.abs(X.p).max()))
    yield Row("joint place", ours.name, "m", float(np.linalg.norm(Y.p - X.p)), bound)
    turn = float(np.linalg.norm(spatial.vector_from_rotation(Y.R @ X.R.T)))
    yield Row("joint orientation", ours.name, "rad", turn, READ)


def _freedom_rows(pair: Pair, ours: Freedom, theirs: Freedom, freedom: str) -> Iterator[Row]:
    """Yield how far damping, friction and limits are off."""
    units = spatial.units_of(freedom)
    for what, unit, a, b in (
        ("joint damping", f"{units.force}·s/{units.coordinate}", ours.damping, theirs.damping),
        ("joint friction", units.force, ours.friction, theirs.friction),
        (IDLE[0], units.coordinate, ours.lower, theirs.lower),
        (IDLE[1], units.coordinate, ours.upper, theirs.upper),
        (IDLE[2], units.force, _stated(ours.effort), _stated(theirs.effort)),
        (IDLE[3], units.rate, _stated(ours.velocity), _stated(theirs.velocity)),
    ):
        if isfinite(a) and isfinite(b):
            yield Row(what, pair.name, unit, abs(a - b), READ * max(1.0, abs(a)))
        elif a != b:
            yield Row(_PRESENCE + what, pair.name, "1", 1.0, 0.0)


def _stated(limit: float) -> float:
    """Return an effort or velocity limit as PyBullet reports it: no limit is 0, as is a stated 0."""
    return limit if isfinite(limit) else 0.0


def without_idle(rows: Sequence[Row]) -> tuple[list[Row], tuple[str, ...]]:
    """Return the rows, except differences that do not affect a motion, and a note for each exception."""
    kept: list[Row] = []
    notes = []
    for row in rows:
        what = row.quantity.removeprefix(_PRESENCE)
        if row.agrees or what not in (*IDLE, _FREEDOMS):
            kept.append(row)
        elif what == _FREEDOMS:
            notes.append(f"PyBullet reads other freedoms of {row.element!r}; both motions take ours")
        else:
            notes.append(f"PyBullet reads another {what} of {row.element!r}; limits are off in both motions")
    return kept, tuple(notes)


# Evidence for and against each of two different motions: energy, loops, convergence.
#
# A difference between two programs does not show which one is right. Each motion is therefore compared with
# conditions that any motion of the mechanism satisfies, both by the same sums over their states: kinetic and
# potential energy change only by the work of friction, brakes and dampers along the travel of their joints,
# and by the work of torques. Loops stay closed, and results converge as the step decreases.


@dataclass(frozen=True, eq=False)
class _States:
    """A motion as states, the start included: (n,), (n, nq), (n, nv)."""

    time: spatial.Array
    q: spatial.Array
    qd: spatial.Array


def checks_of(
    task: Task, ours: Trajectory, runs: Sequence[Sampled], orders: Sequence[float], engine: EngineName
) -> tuple[Check, ...]:
    """Return the checks of both motions.

    Parameters
    ----------
    runs : sequence of Sampled
        The engine's at four steps, the coarsest first.
    orders : sequence of float
        With which its coordinates converge to a limit of their own.
    """
    own = _States(ours.time, ours.q, ours.qd)
    theirs = [
        _States(
            np.concatenate(([0.0], run.time)),
            np.concatenate((task.q[None], run.q)),
            np.concatenate((task.qd[None], run.qd)),
        )
        for run in runs[:4]
    ]
    found = [_account(ours), _closed(task, own.q, OURS, _CLOSED)]
    if reckoned(task):
        (left, turned) = _unaccounted(task, own)
        found.append(_energy(OURS, left, turned, _OF_OURS))
        last, before = (_unaccounted(task, states) for states in (theirs[-1], theirs[-2]))
        found.append(_energy(engine, 2 * last[0] - before[0], last[1], _OF_THEIRS))
    found.append(_closed(task, theirs[-1].q, engine, _NEARLY_CLOSED))
    if len(orders):
        off = abs(orders[-1] - 1.0)
        found.append(Check(engine, CONVERGENCE, off, FIRST_ORDER[1] - 1.0, "1"))
    return tuple(check for check in found if check is not None)


def verdict_of(checks: Sequence[Check]) -> str:
    """Return the verdict of the checks on the two motions, as a clause; empty without checks."""
    if not checks:
        return ""
    failed = [check for check in checks if not check.passes]
    if not failed:
        return "each motion passes its own checks, which shows neither to be wrong"
    sentences = []
    theirs = next((check.program for check in checks if check.program != OURS), None)
    for program in filter(None, (OURS, theirs)):
        own = [check for check in failed if check.program == program]
        if own:
            sentences.append(f"the motion of {program} fails its {' and '.join(map(_fails, own))}")
        else:
            sentences.append(f"that of {program} passes its own")
    return ", ".join(sentences)


def reckoned(task: Task) -> bool:
    """Whether all work can be added up from states: besides gravity only joints of the tree do any."""
    free = any(joint.pair is None for joint in task.mech.tree.joints)
    timed = any(lock.at or lock.until is not None for lock in task.locks)
    closed = any(f.friction or f.damping for pair in task.mech.tree.cut for f in pair.freedoms)
    by_load = task.friction and any(f.load_friction for pair in task.mech.pairs for f in pair.freedoms)
    acted = task.loads or task.springs or task.drives or timed or (free and task.payloads)
    return not (closed or by_load or acted)


def opening(mech: Mechanism, states: spatial.Array) -> dict[str, float]:
    """Return the largest gap of each closure in ``states`` (s, nq), m, by name."""
    held = [pair for pair in mech.tree.cut if any(c[0] == "t" for c in pair.kind.constrained)]
    gaps = {pair.name: 0.0 for pair in held}
    for q in states if held else ():
        poses = forward(mech, q)
        for pair in held:
            p = relative_pose(mech, pair, poses).p
            fixed = [p["xyz".index(c[1])] for c in pair.kind.constrained if c[0] == "t"]
            gaps[pair.name] = max(gaps[pair.name], float(np.linalg.norm(fixed)))
    return gaps


def _fails(check: Check) -> str:
    unit = "" if check.unit == "1" else f" {check.unit}"
    return f"{check.name} ({check.value:.3g}{unit}, bound {check.bound:.2g})"


def _closed(task: Task, q: spatial.Array, program: Program, share: float) -> Check | None:
    """Return the check of how far loops open along q (T, nq), m; None without loops."""
    gaps = opening(task.mech, q)
    if not gaps:
        return None
    p = forward(task.mech, task.q).p_WC
    bound = share * max(1.0, float(np.ptp(p, axis=0).max()))
    return Check(program, "opening of loops", max(gaps.values()), bound, "m")


def _account(ours: Trajectory) -> Check:
    """Check our energy against our balance of work; losses in impacts are not included."""
    balance = np.diff(ours.energy + ours.dissipated - ours.applied - ours.driven)
    balance[np.diff(ours.time) == 0] = 0.0
    off = float(np.abs(np.cumsum(balance)).max(initial=0.0))
    turned = float(ours.kinetic.max() + np.ptp(ours.potential) + np.abs(ours.applied).max())
    return Check(OURS, "account of energy and work", off, 1e-6 * max(turned, 1e-6), "J")


def _energy(program: Program, left: spatial.Array, turned: float, share: float) -> Check:
    """Return the check of ``left`` (T,), the residual of the energy balance, J."""
    bound = share * max(turned, 1e-6)
    return Check(program, "energy against friction along the way", float(np.abs(left).max()), bound, "J")


def _unaccounted(task: Task, states: _States) -> tuple[spatial.Array, float]:
    """Return the energy (n,) gained without a source since the start, and the energy turned over, J."""
    mech = loaded(task.mech, task.payloads)
    kinetic, potential = np.array(
        [_energies(task, mech, q, qd) for q, qd in zip(states.q, states.qd, strict=True)]
    ).T
    work = _work(task, states)
    energy = kinetic + potential
    return energy - energy[0] - work, float(kinetic.max() + np.ptp(potential) + np.abs(work).max())


def _energies(task: Task, mech: Mechanism, q: spatial.Array, qd: spatial.Array) -> tuple[float, float]:
    """Return kinetic and potential energy at q (nq,) and qd (nv,), J."""
    poses = forward(mech, q)
    kinetic = potential = 0.0
    for body, twist, p, R in zip(
        mech.bodies, body_twists(mech, poses, qd), poses.p_WC, poses.R_WL, strict=True
    ):
        turn = R.T @ twist[3:]
        kinetic += 0.5 * float(body.mass * twist[:3] @ twist[:3] + turn @ body.I_C @ turn)
        potential -= body.mass * float(mech.gravity @ p)
    for spring in task.joint_springs:
        stretched = float(q[mech.q_names.index(spring.joint)]) - spring.rest
        potential += 0.5 * spring.stiffness * stretched**2
    return kinetic, potential


def _work(task: Task, states: _States) -> spatial.Array:
    """Return the work of friction, brakes, dampers and torques since the start, (n,), J."""
    done = np.zeros(len(states.time))
    for joint in task.mech.tree.joints:
        if joint.pair is None or joint.q.stop - joint.q.start != joint.qd.stop - joint.qd.start:
            continue
        for k, (name, own) in enumerate(zip(joint.pair.kind.free, joint.pair.freedoms, strict=True)):
            laws = _laws(task, joint.pair.name, name, own)
            if laws:
                parts, rates = _changes_in_parts(states, joint.q.start + k, joint.qd.start + k)
                for law, closes in laws:
                    acts = states.time[:-1] >= closes - SAME
                    done[1:] -= np.cumsum(acts * _lost(law, parts, rates))
            torque = (task.torques or {}).get(task.mech.qd_names[joint.qd.start + k], 0.0)
            done += torque * (states.q[:, joint.q.start + k] - states.q[0, joint.q.start + k])
    return done


def _laws(task: Task, pair: str, freedom: str, own: Freedom) -> list[tuple[BrakeLaw, float]]:
    """Return the laws of a freedom, its own and those of its brakes, and the times at which they begin to act, s."""
    friction = own.friction if task.friction else 0.0
    damping = own.damping if task.damping else 0.0
    stated = [(BrakeLaw(friction, friction, damping), 0.0)] if friction or damping else []
    brakes = [b for b in task.brakes if (b.joint, b.freedom) == (pair, freedom)]
    return [*stated, *((brake.law, brake.closes) for brake in brakes)]


def _lost(law: BrakeLaw, parts: spatial.Array, rates: spatial.Array) -> spatial.Array:
    """Return the work (n,) that a law takes up in every interval, J.

    Parameters
    ----------
    parts, rates : (parts, n) array
        Way in each part of an interval (rad or m), and the mean rate there.
    """
    lost: spatial.Array = law.sliding * np.abs(parts).sum(axis=0) + (rate_force(law, rates) * parts).sum(
        axis=0
    )
    return lost


def _changes_in_parts(states: _States, k: int, n: int) -> tuple[spatial.Array, spatial.Array]:
    """Return the ways of one coordinate in the parts of every interval, and the mean rates there.

    Both are (parts, n), by cubics through states and rates.
    """
    h = np.diff(states.time)
    q0, q1, v0, v1 = states.q[:-1, k], states.q[1:, k], states.qd[:-1, n], states.qd[1:, n]
    s = np.linspace(0.0, 1.0, _PARTS + 1)[:, None]
    blend = s**2 * (3 - 2 * s)
    path = q0 + (q1 - q0) * blend + h * (v0 * s * (1 - s) ** 2 - v1 * s**2 * (1 - s))
    parts = np.diff(path, axis=0)
    return parts, np.divide(_PARTS * parts, h, out=np.zeros_like(parts), where=h > 0)
