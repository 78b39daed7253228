"""The planar view: twists (x, y, φ) of one coordinate plane, and the rows that do not vanish in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mbplugin.constraints.rows.row import Rows
from mbplugin.errors import BadUsage
from mbplugin.lapack import pivots
from mbplugin.model.spatial import Array

#: Columns of a twist that lie in a plane.
PLANES = {"xy": (0, 1, 5), "yz": (1, 2, 3), "zx": (2, 0, 4)}
_PLANES_BY_LETTERS = {**PLANES, "yx": PLANES["xy"], "zy": PLANES["yz"], "xz": PLANES["zx"]}

#: A row counts as vanished in the plane below this fraction of its length in space; a file's
#: rounded angles tilt an axis by up to 1e-3 rad.
VANISHED = 2e-3


def plane_columns(planar: str | None) -> tuple[int, ...]:
    """Return the twist columns of a plane, all six for None.

    Raises
    ------
    BadUsage
        Not a coordinate plane.
    """
    if planar is None:
        return (0, 1, 2, 3, 4, 5)
    if planar not in _PLANES_BY_LETTERS:
        raise BadUsage(f"planar is {planar!r}", expected="xy, yz or zx")
    return _PLANES_BY_LETTERS[planar]


def planar_rows(rows: Rows, columns: tuple[int, ...]) -> Rows:
    """Return the rows that restrain motion in the plane, the others dropped.

    Besides the rows that vanish, a row is dropped that only repeats the rest of its own constraint
    in the plane (a tilted fixed pair has six rows there, and no more than three can count).
    """
    if len(columns) == 6:
        return rows
    if not rows.components:
        return rows
    full = _dimensionless(np.hstack([entry for _, entry in rows.entries]))
    wanted = np.concatenate([6 * i + np.array(columns) for i in range(len(rows.entries))])
    inside = full[:, wanted]
    inside = inside / np.maximum(np.linalg.norm(full, axis=1, keepdims=True), 1e-300)
    sizes, order = pivots(inside.T)
    rank = int((sizes > VANISHED).sum())
    kept = np.sort(order[:rank])
    return replace(
        rows,
        components=tuple(rows.components[k] for k in kept),
        entries=tuple((body, entry[kept]) for body, entry in rows.entries),
        b=rows.b[kept],
        Gamma=rows.Gamma[kept],
        Phi=rows.Phi[kept],
        translation=rows.translation[kept],
        holonomic=rows.holonomic[kept],
    )


def _dimensionless(coefficients: Array) -> Array:
    """Return rows, ``coefficients`` (k, 6 N), with translations multiplied by the constraint's own lever arm."""
    out = coefficients.reshape(len(coefficients), -1, 6).copy()
    force, moment = np.abs(out[:, :, :3]).max(), np.abs(out[:, :, 3:]).max()
    out[:, :, :3] *= moment / force if force > 0 and moment > 0 else 1.0
    return np.asarray(out.reshape(coefficients.shape))
