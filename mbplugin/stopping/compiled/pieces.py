"""The motion of a stop, step by step: states, room for steps, and what is kept of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.model.spatial import Array
from mbplugin.simulation.integrators.stage import put
from mbplugin.stopping.compiled.joints import track_travel

#: How many steps are taken at a time.
AT_ONCE = 8


class Motion(NamedTuple):
    """A state of the robot: q, q̇, q̈ (nv,) and the works (3,)."""

    q: Array
    qd: Array
    qdd: Array
    work: Array


class Taken(NamedTuple):
    """Room for steps taken at once, see :class:`Chunk`."""

    t: Array
    q: Array
    qd: Array
    qdd: Array
    work: Array
    dense: Array


def motion_at_rest(nv: int) -> Motion:
    """Return a state of nv rates that are zero."""
    return Motion(np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(3))


def room_for_steps(nv: int) -> Taken:
    """Return room for the steps of nv rates, without dense output: both ends of a step give its quintic."""
    n = AT_ONCE
    return Taken(
        np.zeros(n),
        np.zeros((n, nv)),
        np.zeros((n, nv)),
        np.zeros((n, nv)),
        np.zeros((n, 3)),
        np.zeros((0, 1, 2, nv)),
    )


@kernel
def put_all(of: Motion, out: Motion) -> None:
    """Copy a state."""
    put(of.q, out.q)
    put(of.qd, out.qd)
    put(of.qdd, out.qdd)


@kernel
def keep_all(
    pieces: Array, kept: int, s: Records, begin: float, old: Motion, taken: Taken, count: int
) -> tuple[int, float]:
    """Keep the first steps that were taken in ``pieces`` (k, 7, nv); return their number and the time, s.

    ``old`` becomes the end of the last step.
    """
    for k in range(count):
        now = Motion(taken.q[k], taken.qd[k], taken.qdd[k], taken.work[k])
        kept, begin = keep_step(pieces, kept, s, begin, taken.t[k], old, now)
    return kept, begin


@kernel
def keep_step(
    pieces: Array, kept: int, s: Records, begin: float, t: float, old: Motion, now: Motion
) -> tuple[int, float]:
    """Keep a step from ``old`` to ``now`` in ``pieces`` (k, 7, nv); return their number and the time, s.

    ``old`` becomes the end of the step.
    """
    kept = keep_piece(pieces, kept, t - begin, old, now)
    track_travel(s, t, old.qd, now.q, now.qd)
    put_all(now, old)
    return kept, t


@kernel
def keep_piece(pieces: Array, k: int, length: float, old: Motion, now: Motion) -> int:
    """Keep a step as piece k of ``pieces`` (most, 7, nv); return the number of pieces.

    A piece (7, nv) has its length (s) in [0, 0], then q, q̇, q̈ at its start and q, q̇, q̈ at its end; behind
    the last piece stands one of length 0.
    """
    if length > 0.0:
        piece = pieces[k]
        piece[0, 0] = length
        for j in range(len(now.q)):
            piece[1, j], piece[2, j], piece[3, j] = old.q[j], old.qd[j], old.qdd[j]
            piece[4, j], piece[5, j], piece[6, j] = now.q[j], now.qd[j], now.qdd[j]
        k += 1
    pieces[k, 0, 0] = 0.0
    return k
