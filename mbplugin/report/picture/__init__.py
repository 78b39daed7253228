"""The picture of a mechanism at one pose: bodies, joints, reaction arrows, colours and legend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbplugin.model import WORLD, BodyPoses, Mechanism, Scene, as_scene, forward, rigid_groups
from mbplugin.model.spatial import COMPONENTS, ROTATION, TRANSLATION, Array
from mbplugin.phrases import listed
from mbplugin.report.picture.bodies import (
    BodyDrawing,
    JointGlyph,
    Part,
    drawings,
    glyphs,
    joint_points,
    shown_parts,
)

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.joint_reactions.values import ConstraintReaction, Reactions

#: Number of fan arrows around a circle if two directions are undetermined.
_AROUND = 12
#: Loads below this fraction of the largest of their kind are rounding; arrows below this fraction of the picture's
#: radius are invisible.
_ZERO, _UNSEEN = 1e-9, 1e-6
#: Quantities drawn as arrows.
QUANTITIES = ("force", "moment")
#: Sizes of sticks and glyphs, relative to the radius of the picture.
_STICK, _GLYPH = 0.015, 0.05
#: Minimum radius of a picture, m.
_SMALLEST = 1e-3


# Arrows of joint reactions: one arrow for the known part, a fan for undetermined directions.


@dataclass(frozen=True, eq=False)
class ReactionArrow:
    """The force or the moment of one joint on its successor, world axes.

    Parameters
    ----------
    quantity : "force" or "moment"
    point_W : (3,) array
        Point of action, m.
    known : (3,) array
        The components that the rigid model determines, N or N·m.
    fan : (k, 3) array
        Unit vectors that span the undetermined directions: none, both senses of
        a line, around a circle, or in all directions.
    resolved : (3,) array or None
        The full vector, N or N·m, if stated or estimated stiffness determines what the rigid model leaves open.
    """

    constraint: str
    quantity: str
    point_W: Array
    known: Array
    fan: Array
    resolved: Array | None


class ArrowLengths(NamedTuple):
    """Arrow lengths relative to the radius of a picture: the largest of a kind, the shortest drawn, those of a fan."""

    largest: float
    smallest: float
    fan: float


class DrawnArrow(NamedTuple):
    """An arrow with lengths in m; ``known`` and ``resolved`` are None if negligible or unknown."""

    arrow: ReactionArrow
    known: Array | None
    resolved: Array | None
    fan: Array


def drawn_arrows(
    arrows: Sequence[ReactionArrow], radius: float, lengths: ArrowLengths
) -> Iterator[DrawnArrow]:
    """Yield arrows scaled for a picture with the given radius (m), forces first."""
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
    """Return the length of an arrow of 1 N or 1 N·m, m; 0 if all arrows of this quantity are zero."""
    own = [arrow for arrow in arrows if arrow.quantity == quantity]
    largest = max((length(v) for a in own for v in (a.known, a.resolved)), default=0.0)
    return lengths.largest * radius / largest if largest else 0.0


def length(vector: Array | None) -> float:
    """Return the length of a ``vector`` (3,), 0 for None."""
    return 0.0 if vector is None else float(np.linalg.norm(vector))


def reaction_arrows(result: Reactions) -> tuple[ReactionArrow, ...]:
    """Return the arrows of all pairs, without those that are determined and zero."""
    mech = result.mechanism
    poses = forward(mech, result.q)
    found = []
    for reaction in result.constraints:
        pair = mech.pair_by_name.get(reaction.name)
        if pair is None or reaction.point is None:
            continue
        R_WP = poses.of(mech.body_index[pair.body_a]).R @ pair.X_AP.R
        found += list(_of_pair(reaction, R_WP))
    largest = {
        kind: max((length(a.known) for a in found if a.quantity == kind), default=0.0)
        for kind in ("force", "moment")
    }
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
    """Return unit vectors (n, 3) that fan out over the span of ``directions`` (k, 3)."""
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


# Colours by result, from the colour-blind safe palette of Okabe and Ito, and the legend.


@dataclass(frozen=True)
class Colour:
    """A colour: ``#rrggbb``, its opacity, and its replacement on a dark background (empty: the same)."""

    hex: str
    alpha: float = 1.0
    dark: str = ""

    @property
    def on_dark(self) -> str:
        """The colour on a dark background, ``#rrggbb``."""
        return self.dark or self.hex

    @property
    def rgba(self) -> tuple[float, float, float, float]:
        """Red, green, blue and alpha, 0 … 1."""
        red, green, blue = (int(self.hex[k : k + 2], 16) / 255 for k in (1, 3, 5))
        return red, green, blue, self.alpha


@dataclass(frozen=True)
class LegendEntry:
    """One line of the legend: palette key, kind of marked item (body, joint or arrow), and text."""

    key: str
    marks: str
    text: str

    @property
    def colour(self) -> Colour:
        """The colour of the entry."""
        return PALETTE[self.key]


PALETTE: dict[str, Colour] = {
    "rigid": Colour("#56b4e9"),
    "flexible": Colour("#e69f00"),
    "ground": Colour("#8c8c8c"),
    # a floor fills the picture, and text must be legible on it
    "floor": Colour("#f0f2f4"),
    "unjudged": Colour("#c3c9d1"),
    "unique": Colour("#009e73"),
    "non-unique": Colour("#d55e00"),
    "undecided": Colour("#f0e442"),
    "known": Colour("#0072b2", dark="#3fa0e0"),
    "open": Colour("#d55e00", 0.45),
    "resolved": Colour("#7a3b00", dark="#c99a6b"),
    "selected": Colour("#cc79a7"),
    "naive": Colour("#882255", 0.4, dark="#d2629a"),
    "signal": Colour("#8c8c8c", 0.25, dark="#b5bcc4"),
    "extreme": Colour("#882255", 0.25, dark="#d2629a"),
    "path": Colour("#0072b2", dark="#3fa0e0"),
}
LEGEND: tuple[LegendEntry, ...] = (
    LegendEntry("rigid", "body", "may stay rigid"),
    LegendEntry("flexible", "body", "must be flexible for correct reactions"),
    LegendEntry("ground", "body", "ground"),
    LegendEntry("unjudged", "body", "not judged"),
    LegendEntry("unique", "joint", "reaction unique"),
    LegendEntry("non-unique", "joint", "reaction not unique"),
    LegendEntry("undecided", "joint", "reaction undecided"),
    LegendEntry("known", "arrow", "reaction, known part"),
    LegendEntry("open", "arrow", "reaction, undetermined directions"),
    LegendEntry("resolved", "arrow", "reaction by stated or estimated stiffness"),
    LegendEntry("selected", "body", "selected"),
    LegendEntry("naive", "body", "rates set to zero (naive)"),
    LegendEntry("signal", "body", "pose at the signal"),
    LegendEntry("extreme", "body", "extremes of the mode"),
    LegendEntry("path", "arrow", "path of the tool"),
)


def legend_of(keys: set[str]) -> tuple[LegendEntry, ...]:
    """Return the legend entries with these keys, in the order of ``LEGEND``."""
    return tuple(entry for entry in LEGEND if entry.key in keys)


@dataclass(frozen=True, eq=False)
class Picture:
    """The drawing of a mechanism at one pose.

    Parameters
    ----------
    bodies : tuple of BodyDrawing
        The ground first, then in the order of the mechanism.
    center_W : (3,) array
        Centre of the drawing, world frame, m.
    radius : float
        Radius of a ball about ``center_W`` that contains all joints, centres of mass and moving shapes, m.
    legend : tuple of LegendEntry
        Only entries that occur.
    notes : tuple of str
        Differences between the drawing and the model, one sentence each.
    """

    mechanism: Mechanism
    poses: BodyPoses
    bodies: tuple[BodyDrawing, ...]
    joints: tuple[JointGlyph, ...]
    arrows: tuple[ReactionArrow, ...]
    center_W: Array
    radius: float
    legend: tuple[LegendEntry, ...]
    notes: tuple[str, ...]


def picture(
    model: Scene | Mechanism,
    *,
    analysis: Analysis | None = None,
    reactions: Reactions | None = None,
    q: Array | None = None,
) -> Picture:
    """Return the drawing of a scene, coloured by verdict.

    Parameters
    ----------
    model : Scene or Mechanism
        A scene provides shapes; a body without shapes is drawn as a stick figure.
    analysis : Analysis, optional
        Provides the verdicts.
    reactions : Reactions, optional
        Provides the arrows.
    q : (nq,) array, optional
        The pose, rad and m; by default that of the reactions, else the closed pose of the analysis, else
        the pose of the scene.
    """
    mech = model.mechanism if isinstance(model, Scene) else model
    for source in (reactions, analysis):
        if q is None and source is not None:
            q = source.q
    if q is None:
        q = as_scene(model).state.q
    poses = forward(mech, q)
    parts, notes = shown_parts(model) if isinstance(model, Scene) else ({}, ())
    center_W, radius = _extent(mech, poses, parts)
    rigid = {} if analysis is None else {b.name: b.may_stay_rigid for b in analysis.bodies}
    reaction = {} if analysis is None else {c.name: c.reaction for c in analysis.constraints}
    bodies = tuple(drawings(mech, parts, rigid, _STICK * radius))
    joints = tuple(glyphs(mech, poses, reaction, _GLYPH * radius))
    arrows = () if reactions is None else reaction_arrows(reactions)
    keys = {body.verdict for body in bodies if body.parts} | {joint.verdict for joint in joints}
    keys |= {"known"} if arrows else set()
    keys |= {"open"} if any(len(a.fan) for a in arrows) else set()
    keys |= {"resolved"} if any(a.resolved is not None for a in arrows) else set()
    sticks = [body.name for body in bodies if body.stick and body.name != WORLD]
    if sticks:
        which = "every body" if len(sticks) == len(mech.bodies) else listed(sticks)
        notes = (f"drawn as sticks, since no shape is known: {which}", *notes)
    return Picture(mech, poses, bodies, joints, arrows, center_W, radius, legend_of(keys), notes)


def _extent(mech: Mechanism, poses: BodyPoses, parts: Mapping[str, tuple[Part, ...]]) -> tuple[Array, float]:
    """Return the centre (3,) and the radius of all joints, centres of mass and shapes of moving bodies, m."""
    still, joints = rigid_groups(mech)[WORLD], joint_points(mech)
    points = [poses.p_WC, np.zeros((0, 3))]
    for name, index in mech.body_index.items():
        X_WL = poses.of(index)
        own = [joints[name]]
        if name not in still:
            own += [part.mesh.vertices @ part.X_LM.R.T + part.X_LM.p for part in parts.get(name, ())]
        points += [some @ X_WL.R.T + X_WL.p for some in own]
    cloud = np.vstack(points)
    if not len(cloud):
        return np.zeros(3), 1.0
    center_W = 0.5 * (cloud.min(axis=0) + cloud.max(axis=0))
    return center_W, max(float(np.linalg.norm(cloud - center_W, axis=1).max()), _SMALLEST)
