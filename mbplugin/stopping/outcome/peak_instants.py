"""The instants at which a stop is searched for its largest loads."""

from __future__ import annotations

import numpy as np

from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.events.search import bracketed_zero
from mbplugin.simulation.trajectory.trajectory import Trajectory

#: Instants looked at besides the samples of the motion: about so many, and in each interval at most.
_BETWEEN, _MOST = 240, 24
#: From so many intervals on the samples alone are looked at.
_ENOUGH = 2000
#: Of so many samples some are passed over: what the joints carry takes about half a millisecond per instant.
_ALL = 4000


def peak_instants(motion: Trajectory) -> Array:
    """Return the samples' times, some between, and those at which a brake's law is strongest, (k,), s.

    Of more than 4000 samples that is every n-th, with those at events where these are no more than that.
    """
    time = _with_between(motion.time[_looked_at(motion.time)])
    found = [time]
    peaks = {
        (place.qd.start, rate)
        for brake in motion.actions.brakes
        if (place := motion.mechanism.tree.joint_of_pair.get(brake.joint)) is not None
        for rate in brake.law.peak_rates
    }
    if peaks:
        dense = motion.resample(time)
        found += [_passing_times(dense, column, rate) for column, rate in sorted(peaks)]
    return np.asarray(np.sort(np.concatenate(found)))


def passed_over(motion: Trajectory) -> tuple[str, ...]:
    """Return the sentence about samples at which no loads are looked at, where there are some."""
    chosen, count = _looked_at(motion.time), len(motion.time)
    if len(chosen) == count:
        return ()
    return (
        f"the largest loads are those of {len(chosen)} among {count} samples of a motion with many events;"
        " between them there may be larger ones",
    )


def _looked_at(time: Array) -> AnyArray:
    """Return which samples (k,) of a motion are looked at; ``time`` (T,) are theirs, s."""
    count = len(time)
    if count <= _ALL:
        return np.arange(count)
    twice = np.diff(time) == 0
    events = np.flatnonzero(np.append(twice, False) | np.insert(twice, 0, False))
    even = np.unique(np.linspace(0, count - 1, _ALL).round().astype(int))
    return np.union1d(even, events) if len(events) <= _ALL else even


def _with_between(time: Array) -> Array:
    """Return all samples' times and some between, (k,), s; ``time`` (T,) are those of the samples.

    There are more between where there are few intervals, however short.
    """
    starts, lengths = time[:-1], np.diff(time)
    starts, lengths = starts[lengths > 0], lengths[lengths > 0]
    count = min(max(_BETWEEN // max(len(starts), 1), int(len(starts) < _ENOUGH)), _MOST)
    between = starts[:, None] + lengths[:, None] * (np.arange(1, count + 1) / (count + 1))
    return np.asarray(np.sort(np.concatenate((time, between.ravel()))))


def _passing_times(dense: Trajectory, column: int, rate: float) -> Array:
    """Return when the size of a joint rate passes a value (rad/s or m/s), (k,), s."""

    def beyond(time: float) -> float:
        return float(abs(dense.resample([time]).qd[0, column]) - rate)

    past = np.abs(dense.qd[:, column]) > rate
    starts = np.flatnonzero((past[:-1] != past[1:]) & (np.diff(dense.time) > 0))
    found = []
    for low, high in (dense.time[k : k + 2].tolist() for k in starts.tolist()):
        passed = beyond(low) * beyond(high) < 0
        found.append(bracketed_zero(beyond, low, high, near=2e-12) if passed else low)
    return np.array(found)
