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

import numpy as np

from mbplugin.bullet.motion.run import Sampled
from mbplugin.bullet.motion.task import SAME, Task
from mbplugin.comparison.agreement import Curves, Row
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.coordinate_units import rate_units
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import AnyArray, Array, rotation_from_quaternion, vector_from_rotation
from mbplugin.simulation.trajectory.trajectory import Trajectory

SAFETY = 2.0
_ITERATED = 10.0
#: Share of the largest bound of a quantity that every element of it is granted: errors are not
#: independent of each other.
_SHARED = 0.2
#: What rounding and PyBullet's iterations leave, whatever the step, rad or m and per second.
_FLOOR = {"coordinate": 1e-8, "rate": 1e-7, "position": 1e-8, "orientation": 1e-8, "jump": 1e-7}


@dataclass(frozen=True, eq=False)
class Deviations:
    """By how much PyBullet's samples differ from ours: (runs, samples, elements) and their names.

    The runs are those at the four steps, and one with more iterations at the last where there is any.
    ``uneven`` is what instants within steps may do to the extrapolated value.
    """

    quantity: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    time: Array
    values: Array
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
    mech: Mechanism, q: Array, time: Array, runs: Sequence[Sampled], uneven: float
) -> Iterator[Deviations]:
    """Yield the deviations of centres of mass and orientations; q (T, nq) at time (T,), s."""
    own = [forward(mech, x) for x in q]
    p, R = np.array([x.p_WC for x in own]), np.array([x.R_WL for x in own])
    names, reach = tuple(body.name for body in mech.bodies), float(np.ptp(p.reshape(-1, 3), axis=0).max())
    places = np.array([run.p_WC - p for run in runs])
    yield Deviations("position", names, ("m",) * len(names), time, places, uneven * max(1.0, reach))
    turns = np.array([_turns(run.R_WL, R) for run in runs])
    yield Deviations("orientation", names, ("rad",) * len(names), time, turns, uneven)


def orders_of(all_deviations: Sequence[Deviations]) -> tuple[float, ...]:
    """Return the observed orders of all coordinates together; empty where PyBullet is exact."""
    values = all_deviations[0].values[:4]
    errors = np.sqrt((values**2).mean(axis=(1, 2))) if values.size else np.zeros(len(values))
    return _orders(errors, _FLOOR["coordinate"])


def own_orders(all_deviations: Sequence[Deviations]) -> tuple[float, ...]:
    """Return the orders by which PyBullet's coordinates change with its step, whatever ours are."""
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


def _samples(task: Task, ours: Trajectory, time: Array) -> Trajectory:
    """Return our motion at PyBullet's sample times, ``time`` (T,), at instants before what changes there."""
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


def _smooth(ours: Trajectory, time: Array, apart: float) -> AnyArray:
    """Return which samples of ``time`` (T,) are apart (s) from instants at which joints come to rest or slip.

    The answer is (T,) of bool. In between a rate may rest in one program and not yet in the other, which is
    no error that shrinks evenly with the step.
    """
    kept = np.ones(len(time), dtype=bool)
    for event in ours.events:
        if event.kind in ("stick", "slip"):
            kept &= np.abs(time - event.time) > apart
    return kept if kept.any() else ~kept


def _uneven(ours: Trajectory, step: float) -> float:
    """Return what joints that come to rest or slip within a step do to the extrapolated value."""
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


def _difference(mech: Mechanism, q: Array, reference: Array) -> Array:
    """Return q (nq,) − reference (nq,) in the order of the rates, (nv,), turns as rotation vectors."""
    out = np.zeros(len(mech.qd_names))
    for joint in mech.tree.joints:
        a, b = q[joint.q], reference[joint.q]
        if len(a) == joint.qd.stop - joint.qd.start:
            out[joint.qd] = a - b
            continue
        R = rotation_from_quaternion(a[-4:]) @ rotation_from_quaternion(b[-4:]).T
        out[joint.qd] = np.concatenate((a[:-4] - b[:-4], vector_from_rotation(R)))
    return out


def _turns(R: Array, reference: Array) -> Array:
    """Return rotation vectors (n, N, 3) between orientations R (n, N, 3, 3) and reference (n, N, 3, 3)."""
    relative = R @ reference.transpose(0, 1, 3, 2)
    flat = [vector_from_rotation(one) for one in relative.reshape(-1, 3, 3)]
    return np.array(flat).reshape(*R.shape[:2], 3)


def _orders(errors: Array, floor: float) -> tuple[float, ...]:
    """Return the observed orders of errors (s,) whose steps are halved; none where one is below the floor."""
    if not len(errors) or errors.min() < floor:
        return ()
    return tuple(np.log2(errors[:-1] / errors[1:]).tolist())
