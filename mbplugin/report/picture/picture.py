"""The picture of a mechanism at one pose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.kinematics import BodyPoses, forward
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.rigid import rigid_groups
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array
from mbplugin.phrases import listed
from mbplugin.report.picture.arrows import ReactionArrow, reaction_arrows
from mbplugin.report.picture.bodies import BodyDrawing, Part, drawings, joint_points, shown_parts
from mbplugin.report.picture.glyphs import JointGlyph, glyphs
from mbplugin.report.picture.palette import LegendEntry, legend_of

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.joint_reactions.values import Reactions

#: Sizes of sticks and glyphs, beside the radius of what is to be seen.
_STICK, _GLYPH = 0.015, 0.05
#: Smallest radius that is shown, m.
_SMALLEST = 1e-3


@dataclass(frozen=True, eq=False)
class Picture:
    """What is to be seen.

    Parameters
    ----------
    bodies : tuple of BodyDrawing
        The ground first, then in the order of the mechanism.
    center_W : (3,) array
    radius : float
        A ball about ``center_W`` holds all that moves, m.
    legend : tuple of LegendEntry
        Only what occurs.
    notes : tuple of str
        What is not shown as it is, one sentence each.
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
    """Return what is to be seen of a scene, coloured by verdict.

    Parameters
    ----------
    model : Scene or Mechanism
        Shapes come from a scene; without any, a body is a stick figure.
    analysis : Analysis, optional
        Gives the verdicts.
    reactions : Reactions, optional
        Gives the arrows.
    q : (nq,) array, optional
        The pose, rad and m; default: that of the reactions, else the closed one of the analysis, else
        the scene's.
    """
    mech = model.mechanism if isinstance(model, Scene) else model
    for source in (reactions, analysis):
        if q is None and source is not None:
            q = source.q
    if q is None:
        from mbplugin.model.scene import as_scene

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
        notes = (*notes, f"drawn as sticks, since no shape is known: {which}")
    return Picture(mech, poses, bodies, joints, arrows, center_W, radius, legend_of(keys), notes)


def _extent(mech: Mechanism, poses: BodyPoses, parts: Mapping[str, tuple[Part, ...]]) -> tuple[Array, float]:
    """Return the middle and the radius of joints, centres of mass and shapes of what moves."""
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
