"""A trajectory at other times: followed again between samples, or interpolated where only samples are known.

Neither goes across an event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.errors import BadNumber, BadUsage
from mbplugin.model.mechanism.coordinate_units import rate_units
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import AnyArray, Array, make_read_only
from mbplugin.phrases import cut_short
from mbplugin.simulation.trajectory import so3

if TYPE_CHECKING:
    from mbplugin.simulation.trajectory.playback import Playback
    from mbplugin.simulation.trajectory.trajectory import Trajectory

#: A polynomial stands for a motion in pictures as long as nothing turns further between two samples, rad.
_TURN = 0.5


def resample(trajectory: Trajectory, times: Sequence[float] | Array) -> Trajectory:
    """Return the motion at given times.

    A motion that was computed is followed again from the sample before. One that was made of samples is
    interpolated: coordinates are quintic between two samples, from q, q̇ and q̈ at both (turns on the
    group, less than half a turn between samples); rates are cubic and accelerations their derivatives.
    Energies are those of the state. At a sample it is that sample; at a jump the state after it; where a
    time is given twice, first the one before.

    Parameters
    ----------
    times : (n,) array
        s, not decreasing, within the motion.

    Raises
    ------
    BadNumber, BadUsage
        Times that are not finite, decrease or leave the motion.
    """
    at = _checked(trajectory, times)
    if trajectory.playback is None:
        return _with(trajectory, at, _interpolated(trajectory, at))
    return _with(trajectory, at, _played(trajectory, trajectory.playback, at))


def drawn(trajectory: Trajectory, times: Sequence[float] | Array) -> Trajectory:
    """Return the motion at given times (n,), s, as ``resample`` does, but exact only to what an eye sees.

    To follow a motion again costs a step for every instant. Where steps are slow because the equations
    are evaluated in Python, it is interpolated, unless a body turns too far between two samples for that.
    """
    playback = trajectory.playback
    if playback is None or playback.compiled or _most_turned(trajectory) > _TURN:
        return resample(trajectory, times)
    at = _checked(trajectory, times)
    return _with(trajectory, at, _interpolated(trajectory, at))


def _most_turned(trajectory: Trajectory) -> float:
    """Return the largest product of an angular rate and the time between two samples, rad."""
    angular = [k for k, unit in enumerate(rate_units(trajectory.mechanism)) if unit == "rad/s"]
    rates = np.abs(trajectory.qd[:, angular]).max(axis=1, initial=0.0)
    return float((np.maximum(rates[1:], rates[:-1]) * np.diff(trajectory.time)).max(initial=0.0))


def _with(trajectory: Trajectory, at: Array, arrays: dict[str, AnyArray]) -> Trajectory:
    """Return the motion with other arrays, at other times: at (n,), s."""
    kinetic, potential = _energies(trajectory, arrays["q"], arrays["qd"])
    arrays.update(time=at, kinetic=kinetic, potential=potential)
    make_read_only(*arrays.values())
    changed: dict[str, Any] = arrays
    return replace(trajectory, **changed)


def _played(trajectory: Trajectory, playback: Playback, at: Array) -> dict[str, AnyArray]:
    """Return the arrays of a motion that is followed again, at (n,), s; at a sample those of the sample."""
    out: dict[str, AnyArray] = {
        name: np.empty((len(at), *getattr(trajectory, name).shape[1:]))
        for name in ("q", "qd", "qdd", "dissipated", "applied", "driven")
    }
    out["segment"] = np.empty(len(at), dtype=int)
    known, own = _samples_at(trajectory.time, at)
    for n, time in enumerate(at.tolist()):
        if known[n]:
            for name, values in out.items():
                values[n] = getattr(trajectory, name)[own[n]]
            continue
        state, out["segment"][n] = playback.at(time)
        out["q"][n], out["qd"][n], out["qdd"][n] = state.q, state.qd, state.qdd
        out["dissipated"][n] = -state.work[0]
        out["applied"][n], out["driven"][n] = state.work[1:]
    return out


def _samples_at(time: Array, at: Array) -> tuple[AnyArray, AnyArray]:
    """Return which times are those of samples, and the sample; ``time`` (T,) and ``at`` (n,), s.

    Of two samples at one time it is the first for the first of two such times, else the last.
    """
    first, last = (np.searchsorted(time, at, side=side) for side in ("left", "right"))
    return first < last, np.where(_first_of_two(at), first, last - 1)


def _first_of_two(at: Array) -> AnyArray:
    """Return which of the times at (n,), s, come twice and are the first of the two, (n,) of bool."""
    return np.append(np.diff(at) == 0, False) if at.size else np.zeros(0, dtype=bool)


def _interpolated(trajectory: Trajectory, at: Array) -> dict[str, AnyArray]:
    """Return the arrays at (n,), s, of a motion of which only samples are known."""
    first = _intervals(trajectory.time, at)
    last = np.minimum(first + 1, len(trajectory.time) - 1)
    h = trajectory.time[last] - trajectory.time[first]
    s = np.where(h > 0, (at - trajectory.time[first]) / np.where(h > 0, h, 1.0), 1.0)
    q = _coordinates(trajectory, first, last, h, s)
    qd, qdd = _rates(trajectory, first, last, h, s)
    works = (trajectory.dissipated, trajectory.applied, trajectory.driven)
    dissipated, applied, driven = (_work(trajectory.time, work, at, first) for work in works)
    segment = np.where(s < 1, trajectory.segment[first], trajectory.segment[last])
    out = {
        "q": q, "qd": qd, "qdd": qdd, "segment": segment,
        "dissipated": dissipated, "applied": applied, "driven": driven,
    }  # fmt: skip
    known, own = _samples_at(trajectory.time, at)
    for name, values in out.items():
        values[known] = getattr(trajectory, name)[own[known]]
    return out


def _checked(trajectory: Trajectory, times: Sequence[float] | Array) -> Array:
    """Return the times (n,), s, at which a motion is to be given; checked, and put within the motion."""
    try:
        at = np.array(times, dtype=float).reshape(-1)
    except (TypeError, ValueError):
        raise BadNumber(
            f"the times to resample at are {cut_short(repr(times), 40)}", expected="numbers in s"
        ) from None
    start, end = float(trajectory.time[0]), float(trajectory.time[-1])
    if not np.isfinite(at).all():
        raise BadNumber("a time to resample at is not finite", expected="numbers in s")
    slack = 1e-12 * (1.0 + abs(end))
    if at.size and (at.min() < start - slack or at.max() > end + slack):
        raise BadUsage("a time to resample at lies outside the motion", expected=f"{start:g} s to {end:g} s")
    if (np.diff(at) < 0).any():
        raise BadUsage("the times to resample at decrease", expected="times in order")
    return np.asarray(np.clip(at, start, end))


def _intervals(time: Array, at: Array) -> AnyArray:
    """Return the samples (n,) at which the intervals of ``at`` (n,), s, begin; ``time`` (T,) of the samples."""
    after = np.searchsorted(time, at, side="right") - 1
    before = np.searchsorted(time, at, side="left") - 1
    # the first of two equal times is the end of what came before
    first_of_two = _first_of_two(at) & (before >= 0)
    return np.where(first_of_two, before, np.minimum(after, max(len(time) - 2, 0)))


def _coordinates(trajectory: Trajectory, first: AnyArray, last: AnyArray, h: Array, s: Array) -> Array:
    """Return coordinates (n, nq) at fractions s (n,) of intervals of lengths h (n,), s.

    They begin and end at the samples first and last (n,).
    """
    straight, turned = _split(trajectory.mechanism)
    q, qd, qdd = trajectory.q, trajectory.qd, trajectory.qdd
    out = np.empty((len(s), q.shape[1]))
    h, s = h[:, None], s[:, None]
    at_q, at_qd = ([pair[k] for pair in straight] for k in (0, 1))
    out[:, at_q] = q[first][:, at_q] + _quintic(
        s,
        h * qd[first][:, at_qd],
        h**2 * qdd[first][:, at_qd],
        q[last][:, at_q] - q[first][:, at_q],
        h * qd[last][:, at_qd],
        h**2 * qdd[last][:, at_qd],
    )
    for at, of in turned:
        begin = q[first, at]
        angle = so3.between(begin, q[last, at])
        rate = so3.angle_rate(angle, qd[last, of])
        acceleration = so3.angle_acceleration(angle, rate, qd[last, of], qdd[last, of])
        x = _quintic(s, h * qd[first, of], h**2 * qdd[first, of], angle, h * rate, h**2 * acceleration)
        out[:, at] = so3.turned(begin, x)
    return out


def _split(mech: Mechanism) -> tuple[list[tuple[int, int]], list[tuple[slice, slice]]]:
    """Return (coordinate, rate) of what is a number, and the slices of quaternions and their rates."""
    straight: list[tuple[int, int]] = []
    turned: list[tuple[slice, slice]] = []
    for joint in mech.tree.joints:
        count = joint.qd.stop - joint.qd.start
        if joint.q.stop - joint.q.start > count:
            count -= 3
            turned.append((slice(joint.q.stop - 4, joint.q.stop), slice(joint.qd.stop - 3, joint.qd.stop)))
        straight += [(joint.q.start + k, joint.qd.start + k) for k in range(count)]
    return straight, turned


def _quintic(s: Array, v0: Array, a0: Array, x1: Array, v1: Array, a1: Array) -> Array:
    """Return x(s) from x(0) = 0 to x(1) = x1 with these first and second derivatives in s at the ends.

    s (n, 1) gives x (n, k) of v0, a0, x1, v1 and a1 (n, k).
    """
    s2, s3 = s**2, s**3
    s4, s5 = s**4, s**5
    return np.asarray(
        v0 * (s - 6 * s3 + 8 * s4 - 3 * s5)
        + a0 * (s2 - 3 * s3 + 3 * s4 - s5) / 2
        + a1 * (s3 - 2 * s4 + s5) / 2
        + v1 * (-4 * s3 + 7 * s4 - 3 * s5)
        + x1 * (10 * s3 - 15 * s4 + 6 * s5)
    )


def _rates(
    trajectory: Trajectory, first: AnyArray, last: AnyArray, h: Array, s: Array
) -> tuple[Array, Array]:
    """Return rates and accelerations (n, nv) at fractions s (n,) of intervals of lengths h (n,), s.

    They begin and end at the samples first and last (n,).
    """
    h, s = h[:, None], s[:, None]
    v0, v1 = trajectory.qd[first], trajectory.qd[last]
    a0, a1 = trajectory.qdd[first], trajectory.qdd[last]
    rise, s2 = v1 - v0, s**2
    b, c = 3 * rise - h * (2 * a0 + a1), -2 * rise + h * (a0 + a1)
    rates = v0 + s * h * a0 + s2 * b + s**3 * c
    inside = a0 + (2 * s * b + 3 * s2 * c) / np.where(h > 0, h, 1.0)
    # where an interval has no length, its end is an event
    return np.where(h > 0, rates, v1), np.where(h > 0, inside, a1)


def _energies(trajectory: Trajectory, q: Array, qd: Array) -> tuple[Array, Array]:
    """Return kinetic and potential energy (n,), J, at q and qd (n, nq), (n, nv)."""
    from mbplugin.dynamics.kernels.articulated import factor
    from mbplugin.dynamics.kernels.inverse import energies
    from mbplugin.dynamics.kernels.motion import move
    from mbplugin.dynamics.tree_model import tree_model

    model = tree_model(trajectory.mechanism, trajectory.actions)
    out = np.empty((2, len(q)))
    for k in range(len(q)):
        move(model.composites, model.rates, q[k], qd[k])
        factor(model.composites, model.rates)
        out[:, k] = energies(model.composites, model.rates, model.springs, q[k], qd[k])
    return out[0], out[1]


def _work(time: Array, work: Array, at: Array, first: AnyArray) -> Array:
    """Return work (n,), J, at (n,), s: monotone where the samples are, piece by piece between events.

    time and work (T,) are those of the samples, first (n,) says at which the intervals begin.
    """
    out = np.empty(len(at))
    ends = [0, *(np.flatnonzero(np.diff(time) == 0) + 1), len(time)]
    for start, stop in pairwise(ends):
        mine = (first >= start) & (first < stop)
        if stop - start == 1:
            out[mine] = work[start]
        elif mine.any():
            # few motions need it, and its import takes as long as one of them
            from scipy.interpolate import PchipInterpolator

            out[mine] = PchipInterpolator(time[start:stop], work[start:stop])(at[mine])
    return out
