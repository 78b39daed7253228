"""The ground joints of one complete assembly as rows in the twists of its bodies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbplugin.analysis.dca.handles import Joint
from mbplugin.analysis.dca.inertia import to_handles
from mbplugin.analysis.dca.subassembly.motions import Motions, motions_of
from mbplugin.analysis.dca.subassembly.supports import Supports, eliminate_supports
from mbplugin.model.spatial import AnyArray, Array


def ground_supports(
    ground: Sequence[Joint],
    bodies: Sequence[int],
    inner: Sequence[Joint],
    centers_W: Array,
    columns: tuple[int, ...],
    tolerance: float,
) -> tuple[Supports, Array]:
    """Return the ground joints of an assembly, eliminated, and what makes their rows unit ones (m,).

    Parameters
    ----------
    ground, inner : sequences of Joint
        Without units; those to the ground in the order of their rows, those between the bodies in the
        order of their elimination.
    bodies : sequence of int
        Of the assembly.
    centers_W : (n, 3) array
        Centres of mass of all bodies, without units, world axes.
    columns : tuple of int
        Twist columns of the view.
    tolerance : float
        What is larger, against a row of unit length, counts.
    """
    to_joint = {
        (body, joint.name): to_handles([joint.point_W - centers_W[body]], columns)
        for joint in (*ground, *inner)
        for body in joint.moving
    }
    motions = motions_of(bodies, inner, to_joint, len(columns))
    rows = [_row(joint, to_joint[joint.moving[0], joint.name]) for joint in ground]
    size = _inverse_lengths(motions, ground, rows)
    return eliminate_supports(motions, _by_body(ground, rows, size), len(size), tolerance), size


def _row(joint: Joint, to_joint: Array) -> Array:
    """Return the rows (k, d) of a ground joint in the twist of its body; ``to_joint`` (d, d)."""
    # where the body is the predecessor it takes the multipliers with the opposite sign
    return np.asarray(joint.sign(joint.moving[0]) * joint.T.T @ to_joint)


def _inverse_lengths(motions: Motions, ground: Sequence[Joint], rows: Sequence[Array]) -> Array:
    """Return one over the length (m,) of each row (k, d) in the motions of the complete assembly."""
    spread = motions.spreads()
    squares = [
        np.einsum("ij,jk,ik->i", row, spread[joint.moving[0]], row)
        for joint, row in zip(ground, rows, strict=True)
    ]
    return np.asarray(1.0 / np.sqrt(np.concatenate(squares)))


def _by_body(
    ground: Sequence[Joint], rows: Sequence[Array], size: Array
) -> dict[int, tuple[AnyArray, Array]]:
    """Return the numbers (k,) and the unit rows (k, d) of each body that the ground holds; ``size`` (m,)."""
    found: dict[int, list[tuple[AnyArray, Array]]] = {}
    start = 0
    for joint, row in zip(ground, rows, strict=True):
        numbers = np.arange(start, start + len(row))
        found.setdefault(joint.moving[0], []).append((numbers, row * size[numbers, None]))
        start += len(row)
    return {
        body: (np.concatenate([n for n, _ in own]), np.vstack([row for _, row in own]))
        for body, own in found.items()
    }
