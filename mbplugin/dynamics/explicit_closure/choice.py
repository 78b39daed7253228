"""Which joint rates are best independent: those that move most when the mechanism moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mbplugin.constraints.tolerance import DEFAULT_TOLERANCE
from mbplugin.dynamics.explicit_closure.layout import Layout
from mbplugin.dynamics.explicit_closure.rows import ClosingRows
from mbplugin.lapack import pivots
from mbplugin.model.spatial import Array


def mobile_rates(rows: ClosingRows, q: Array) -> Array:
    """Return a basis (nv, f) of the rates that leave all loops closed at a pose q (nq,).

    Rates of sliders count in characteristic lengths per second, so that the basis has no units.
    """
    J, _ = rows.linearise(q)
    J = J * rows.units
    if not J.size:
        return np.eye(J.shape[1])
    _, sigma, Vt = np.linalg.svd(J)
    return np.asarray(Vt[int((sigma > DEFAULT_TOLERANCE * sigma[0]).sum()) :].T)


def orders(
    layout: Layout, mobile: Array, tied: list[int], prescribed: Sequence[int] = ()
) -> Iterator[list[int]]:
    """Yield independent rates inside loops, best first, then with every other rate in front in turn.

    ``mobile`` (nv, f) is a basis as of :func:`mobile_rates`. The ones that move most need not be those behind
    which the dyads come off one by one. Rates that are functions of time, ``prescribed``, are in front of all
    others, as many as are independent; at last none is, since they may stand at a dead centre.
    """
    plain = sorted(set(tied) & _plain_rates(layout))
    if not plain or not mobile.shape[1]:
        return
    motion = mobile[plain].T
    led, left = _taken_out(motion, [plain.index(rate) for rate in prescribed if rate in plain])
    for front, rest in ((led, left), ([], motion)) if led else (([], motion),):
        for behind in _best_first(rest, front):
            yield [plain[k] for k in (*front, *behind)]


def _best_first(motion: Array, taken: Sequence[int]) -> Iterator[list[int]]:
    """Yield independent columns of motion (f, k), best first, then with every other in front in turn."""
    best = _pivots(motion)
    # all that moves may be outside the loops, or prescribed
    if not best:
        if taken:
            yield []
        return
    yield best
    size = np.linalg.norm(motion, axis=0)
    for k in np.argsort(-size, kind="stable").tolist():
        if k != best[0] and size[k] > DEFAULT_TOLERANCE * size[best[0]]:
            _, left = _taken_out(motion, [k])
            yield [k, *(n for n in _pivots(left) if n != k)]


def _taken_out(motion: Array, columns: Sequence[int]) -> tuple[list[int], Array]:
    """Return those of the columns that are independent, in order, and motion (f, k) without what they span."""
    size, taken, left = np.linalg.norm(motion, axis=0), [], motion
    for k in columns:
        along = left[:, k]
        if (length := float(np.linalg.norm(along))) > DEFAULT_TOLERANCE * size.max():
            left = left - np.outer(along, along @ left) / length**2
            taken.append(k)
    return taken, left


def _pivots(motion: Array) -> list[int]:
    """Return the columns of pivoted QR of motion (f, k), as many as are independent of one another."""
    sizes, order = pivots(motion)
    return [int(k) for k in order[: int((sizes > DEFAULT_TOLERANCE).sum())]]


def _plain_rates(layout: Layout) -> set[int]:
    """Return the rates that are derivatives of one coordinate each."""
    return {
        joint.qd.start + k
        for joint in layout.mech.tree.joints
        if joint.pair is not None and joint.pair.name in layout.places
        for k in range(joint.qd.stop - joint.qd.start)
    }
