"""The parameters of one joint in two models side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

import numpy as np

from mbplugin.comparison.agreement import Row
from mbplugin.model.component import units_of
from mbplugin.model.mechanism import WORLD, Pair
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.model.spatial import cross, vector_from_rotation

#: Error of a place (m), a direction (rad) or a value, relative to it where it is larger than one, that
#: reading may cause.
READ = 1e-6
_FREEDOMS, _PRESENCE = "number of differing freedoms", "presence of a "
#: What has no part in a motion that is compared: limits are off in both.
IDLE = ("lower limit", "upper limit", "effort limit", "velocity limit")


def pair_rows(ours: Pair, theirs: Pair) -> Iterator[Row]:
    """Yield how far freedoms, frames, resistance and limits of a joint are off.

    Frames are in the link frame of the predecessor; where a base stands is no parameter of a model.
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
    """Yield how far axis, place and orientation are off."""
    if not all(np.isfinite(X.p).all() and np.isfinite(X.R).all() for X in (theirs.X_AP, theirs.X_SB)):
        # PyBullet divides the axis 0 0 0 by its length
        yield Row(f"{_PRESENCE}joint frame", ours.name, "1", 1.0, 0.0)
        return
    if ours.kind.free:
        a, b = ours.X_AP.R[:, 2], theirs.X_AP.R[:, 2]
        angle = float(np.arctan2(np.linalg.norm(cross(a, b)), a @ b))
        yield Row("joint axis", ours.name, "rad", angle, READ)
    X, Y = (p.X_AP @ p.X_SB for p in (ours, theirs))
    bound = READ * max(1.0, float(np.abs(X.p).max()))
    yield Row("joint place", ours.name, "m", float(np.linalg.norm(Y.p - X.p)), bound)
    turn = float(np.linalg.norm(vector_from_rotation(Y.R @ X.R.T)))
    yield Row("joint orientation", ours.name, "rad", turn, READ)


def _freedom_rows(pair: Pair, ours: Freedom, theirs: Freedom, freedom: str) -> Iterator[Row]:
    """Yield how far damping, friction and limits are off."""
    units = units_of(freedom)
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
    """Return an effort or velocity limit as PyBullet tells it: none is 0, as a stated 0 is."""
    return limit if isfinite(limit) else 0.0


def without_idle(rows: Sequence[Row]) -> tuple[list[Row], tuple[str, ...]]:
    """Return the rows without what differs and has no part in a motion, and a note for each of those."""
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
