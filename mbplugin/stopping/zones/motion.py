"""The motion of a stop as samples that are close enough to follow every point between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbplugin.model.spatial import Array
from mbplugin.phrases import one_line_repr
from mbplugin.simulation.trajectory.trajectory import Trajectory

#: Between two samples the joints together turn less than this, rad (or move less, m): the path of a point
#: at 1 m then differs from its cubic by 0.05⁴/384 = 0.02 µm.
_TURN = 0.05
#: Samples of one stop.
_MOST = 20_000


@one_line_repr
@dataclass(frozen=True, eq=False)
class StopMotion:
    """Samples of a stop; at an event there may be two of one time.

    Parameters
    ----------
    time : (T,) array
        s.
    q, qd : (T, nq), (T, nv) array
        Coordinates and rates, rad and m, per second.
    """

    time: Array
    q: Array
    qd: Array


def motion_of_trajectory(motion: Trajectory) -> StopMotion:
    """Return the samples of a trajectory, which is followed again between its steps."""
    counts = _counts(np.diff(motion.time), motion.qd)
    spans = zip(motion.time, np.diff(motion.time), counts, strict=False)
    inner = [start + h * np.arange(1, n) / n for start, h, n in spans]
    dense = motion.resample(np.sort(np.concatenate((motion.time, *inner))))
    return StopMotion(dense.time, dense.q, dense.qd)


def motion_of_pieces(q: Array, pieces: Array) -> StopMotion:
    """Return the samples of a stop of the compiled loop.

    Parameters
    ----------
    q : (nv,) array
        Coordinates at the signal, rad and m.
    pieces : (n, 7, nv) array
        Length (s) in [k, 0, 0], then q, q̇, q̈ at the start and at the end of piece k; a piece of length 0
        ends them.
    """
    # its import takes as long as a thousand stops, and few sweeps have zones
    from scipy.interpolate import BPoly

    ended = np.flatnonzero(pieces[:, 0, 0] <= 0.0)
    used = pieces[: ended[0]] if len(ended) else pieces
    time, qs, qds, now = [0.0], [q], [np.zeros(len(q)) if len(used) == 0 else used[0, 2]], 0.0
    for piece in used:
        h = float(piece[0, 0])
        n = int(_counts(np.array([h]), piece[[2, 5]])[0])
        curve = BPoly.from_derivatives([0.0, h], [piece[1:4], piece[4:7]])
        at = h * np.arange(n + 1) / n
        time += (now + at).tolist()
        qs += list(curve(at))
        qds += list(curve(at, 1))
        now += h
    return StopMotion(np.array(time), np.array(qs), np.array(qds))


def _counts(h: Array, qd: Array) -> NDArray[np.int64]:
    """Return into how many parts (T − 1,) spans ``h`` (T − 1,), s, are cut, for rates ``qd`` (T, nv)."""
    speeds = np.abs(qd).sum(axis=1)
    turns = h * np.maximum(speeds[1:], speeds[:-1])
    # where rates change, so much lies between the motion and the one at constant rates, eight times
    changes = h * np.abs(np.diff(qd, axis=0)).sum(axis=1)
    counts = np.ceil(np.maximum(turns / _TURN, np.sqrt(changes) / _TURN)).clip(np.where(turns > 1e-9, 2, 1))
    most = max(1, _MOST // max(1, len(h)))
    return np.asarray(np.minimum(counts, most), dtype=np.int64)
