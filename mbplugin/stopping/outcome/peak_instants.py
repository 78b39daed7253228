"""The instants at which a stop is searched for its largest loads."""

from __future__ import annotations

import numpy as np

from mbplugin.model.spatial import Array
from mbplugin.simulation.events.search import bracketed_zero
from mbplugin.simulation.trajectory.trajectory import Trajectory

#: Instants looked at besides the samples of the motion: about so many, and in each interval at most.
_BETWEEN, _MOST = 240, 24
#: From so many intervals on the samples alone are looked at.
_ENOUGH = 2000


def peak_instants(motion: Trajectory) -> Array:
    """Return all samples' times, some between, and those at which a brake's law is strongest, (k,), s."""
    time = _with_between(motion.time)
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
