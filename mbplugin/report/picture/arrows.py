"""Arrows of joint reactions: one arrow for the known part, a fan for undetermined directions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import COMPONENTS, ROTATION, TRANSLATION, Array

if TYPE_CHECKING:
    from mbplugin.joint_reactions.values import ConstraintReaction, Reactions

#: Arrows around a circle, where two directions are open.
_AROUND = 12
#: Beside the largest of its kind, what is smaller is rounding; beside the radius, what is shorter is not seen.
_ZERO, _UNSEEN = 1e-9, 1e-6


#: What arrows stand for.
QUANTITIES = ("force", "moment")


@dataclass(frozen=True, eq=False)
class ReactionArrow:
    """The force or the moment of one joint on its successor, world axes.

    Parameters
    ----------
    quantity : "force" or "moment"
    point_W : (3,) array
        Where it acts, m.
    known : (3,) array
        The components that the rigid model determines, N or N·m.
    fan : (k, 3) array
        Unit vectors that span the undetermined directions: none, both ways along
        a line, around a circle, or all about.
    resolved : (3,) array or None
        The whole of it where stiffness, stated or estimated, decides what the rigid model does not.
    """

    constraint: str
    quantity: str
    point_W: Array
    known: Array
    fan: Array
    resolved: Array | None


class ArrowLengths(NamedTuple):
    """Lengths of arrows beside the radius of a picture: the largest of a kind, the smallest shown, those of a fan."""

    largest: float
    smallest: float
    fan: float


class DrawnArrow(NamedTuple):
    """An arrow with lengths in m; known and resolved are None where they are nearly zero or not known."""

    arrow: ReactionArrow
    known: Array | None
    resolved: Array | None
    fan: Array


def drawn_arrows(
    arrows: Sequence[ReactionArrow], radius: float, lengths: ArrowLengths
) -> Iterator[DrawnArrow]:
    """Yield arrows as a picture of a radius (m) shows them, forces first."""
    for quantity in QUANTITIES:
        scale = arrow_scale(arrows, quantity, radius, lengths)
        for arrow in (arrow for arrow in arrows if arrow.quantity == quantity):
            known, resolved = (
                None
                if vector is None or length(vector) * scale <= _UNSEEN * radius
                else vector * max(scale, lengths.smallest * radius / length(vector))
                for vector in (arrow.known, arrow.resolved)
            )
            yield DrawnArrow(arrow, known, resolved, lengths.fan * radius * arrow.fan)


def arrow_scale(
    arrows: Sequence[ReactionArrow], quantity: str, radius: float, lengths: ArrowLengths
) -> float:
    """Return the length of the arrow of 1 N or 1 N·m, m; 0 where all of a quantity are zero."""
    own = [arrow for arrow in arrows if arrow.quantity == quantity]
    largest = max((length(v) for a in own for v in (a.known, a.resolved)), default=0.0)
    return lengths.largest * radius / largest if largest else 0.0


def length(vector: Array | None) -> float:
    """Return the length of a ``vector`` (3,), 0 where there is none."""
    return 0.0 if vector is None else float(np.linalg.norm(vector))


def reaction_arrows(result: Reactions) -> tuple[ReactionArrow, ...]:
    """Return the arrows of every pair; those that are zero for certain are left out."""
    mech = result.mechanism
    poses = forward(mech, result.q)
    found = []
    for reaction in result.constraints:
        pair = mech.pair_by_name.get(reaction.name)
        if pair is None or reaction.point is None:
            continue
        R_WP = poses.of(mech.body_index[pair.body_a]).R @ pair.X_AP.R
        found += list(_of_pair(reaction, R_WP))
    largest = {kind: _largest(found, kind) for kind in ("force", "moment")}
    return tuple(a for a in found if len(a.fan) or length(a.known) > _ZERO * largest[a.quantity])


def _of_pair(reaction: ConstraintReaction, R_WP: Array) -> Iterator[ReactionArrow]:
    """Yield the arrows of force and moment of a pair; R_WP (3, 3)."""
    assert reaction.point is not None
    known, values = np.zeros(6), np.zeros(6)
    for component in reaction.components:
        if component.name in COMPONENTS:
            k = COMPONENTS.index(component.name)
            values[k] = np.nan if component.value is None else component.value
            known[k] = values[k] if component.unique else 0.0
    directions = np.zeros((len(reaction.directions), 6))
    for row, direction in zip(directions, reaction.directions, strict=True):
        for term in direction.components:
            if term.component in COMPONENTS:
                row[COMPONENTS.index(term.component)] = term.weight
    for quantity, part in (("force", TRANSLATION), ("moment", ROTATION)):
        fan = _fan(directions[:, part] @ R_WP.T)
        whole = values[part]
        resolved = R_WP @ whole if len(fan) and np.isfinite(whole).all() else None
        yield ReactionArrow(reaction.name, quantity, reaction.point, R_WP @ known[part], fan, resolved)


def _fan(directions: Array) -> Array:
    """Return unit vectors that show the span of some directions (k, 3)."""
    if not directions.any():
        return np.zeros((0, 3))
    lengths = np.linalg.norm(directions, axis=1)
    _, sigma, V = np.linalg.svd(directions[lengths > 0] / lengths[lengths > 0, None])
    rank = int((sigma > 1e-6 * sigma[0]).sum())
    if rank == 1:
        return np.array([V[0], -V[0]])
    if rank == 2:
        turn = np.linspace(0.0, 2 * np.pi, _AROUND, endpoint=False)
        return np.asarray(np.cos(turn)[:, None] * V[0] + np.sin(turn)[:, None] * V[1])
    golden = 0.5 * (1 + np.sqrt(5.0))
    corners = [
        np.roll([0.0, a, b * golden], shift) for shift in range(3) for a in (-1.0, 1.0) for b in (-1.0, 1.0)
    ]
    return np.asarray(corners) / float(np.hypot(1.0, golden))


def _largest(arrows: list[ReactionArrow], quantity: str) -> float:
    return max((length(a.known) for a in arrows if a.quantity == quantity), default=0.0)
