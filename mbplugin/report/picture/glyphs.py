"""Glyphs of joints: type, position, axes, and whether the reaction is unique."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mbplugin.model.mechanism.kinematics import BodyPoses
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.mechanism.pfaffian import KnifeEdge, Pfaffian, Rolling
from mbplugin.model.spatial import Array, Pose, align_z
from mbplugin.report.picture import solids
from mbplugin.report.picture.mesh import Mesh, merged, moved

_ALONG_X = align_z(np.array([1.0, 0.0, 0.0]))
_ALONG_Y = align_z(np.array([0.0, 1.0, 0.0]))


@dataclass(frozen=True, eq=False)
class JointGlyph:
    """One pair, or a wheel or edge on the ground.

    Parameters
    ----------
    name, kind, type : str
        As in the analysis: kind is ``pair``, ``closure`` or ``pfaffian``.
    verdict : str
        ``unique``, ``non-unique``, ``undecided`` or ``unjudged``: a key of the palette.
    body : str
        That it moves with: the predecessor of a pair, the wheel of a rolling condition.
    X_LJ : Pose
        Its frame in the link frame of ``body``; z is the axis.
    X_WJ : Pose
        In the world, at the pose of the picture.
    end_W : (3,) array or None
        The other end of a rod (type ``distance``), m.
    mesh : Mesh
        In its own frame J.
    """

    name: str
    kind: str
    type: str
    body_a: str
    body_b: str
    verdict: str
    body: str
    X_LJ: Pose
    X_WJ: Pose
    end_W: Array | None
    mesh: Mesh

    @property
    def axis_W(self) -> Array:
        """Unit vector (3,) of the joint axis, world axes."""
        return self.X_WJ.R[:, 2]


def glyphs(
    mech: Mechanism, poses: BodyPoses, reaction: Mapping[str, str], size: float
) -> Iterator[JointGlyph]:
    """Yield a glyph for every pair and every wheel; ``size`` is about half its height, m."""
    for pair in mech.pairs:
        yield _of_pair(mech, pair, poses, reaction.get(pair.name, "unjudged"), size)
    for pfaffian in mech.pfaffians:
        yield _of_pfaffian(mech, pfaffian, poses, reaction.get(pfaffian.name, "unjudged"), size)


def _of_pair(mech: Mechanism, pair: Pair, poses: BodyPoses, verdict: str, size: float) -> JointGlyph:
    X_WP = poses.of(mech.body_index[pair.body_a]) @ pair.X_AP
    p_WS_W = (poses.of(mech.body_index[pair.body_b]) @ pair.X_BS).p
    kind = "closure" if pair.closure else "pair"
    apart = pair.type == "distance"
    mesh = glyph_mesh(pair.type, size)
    p_PS_P = X_WP.inverse().apply(p_WS_W)
    # in a loop that does not close the points may coincide
    if apart and p_PS_P.any():
        mesh = merged([mesh, solids.bar(np.zeros(3), p_PS_P, 0.2 * size)])
    return JointGlyph(
        pair.name,
        kind,
        pair.type,
        pair.body_a,
        pair.body_b,
        verdict,
        pair.body_a,
        pair.X_AP,
        X_WP,
        p_WS_W if apart else None,
        mesh,
    )


def _of_pfaffian(mech: Mechanism, made: Pfaffian, poses: BodyPoses, verdict: str, size: float) -> JointGlyph:
    match made:
        case Rolling():
            X_LJ = Pose(align_z(made.axis), made.center)
            mesh = solids.cylinder(made.radius, 0.15 * size)
        case KnifeEdge():
            X_LJ = Pose(align_z(made.direction), made.point)
            mesh = solids.cylinder(size, 0.15 * size)
    X_WJ = poses.of(mech.body_index[made.body]) @ X_LJ
    return JointGlyph(
        made.name, "pfaffian", made.type, "world", made.body, verdict, made.body, X_LJ, X_WJ, None, mesh
    )


@lru_cache(maxsize=64)
def glyph_mesh(kind: str, size: float) -> Mesh:
    """Return the glyph of a pair type in its joint frame; its axis is z, and equal ones are one object.

    Bars show axes of turning, boxes travel, balls three turnings, plates a plane.
    """
    thin, thick = 0.22 * size, 0.4 * size
    match kind:
        case "revolute" | "continuous":
            return merged([solids.cylinder(thick, 1.1 * size), solids.cylinder(thin, 2.2 * size)])
        case "prismatic":
            return merged([solids.box(2 * thick, 2 * thick, 1.1 * size), solids.box(thin, thin, 3 * size)])
        case "screw" | "cylindrical":
            return merged([solids.cylinder(thick, 1.1 * size), solids.box(thin, thin, 3 * size)])
        case "spherical":
            return solids.ball(0.6 * size)
        case "universal":
            rod = solids.cylinder(thin, 2.2 * size)
            return merged([moved(rod, Pose(R, np.zeros(3))) for R in (_ALONG_X, _ALONG_Y)])
        case "planar" | "point-on-plane":
            middle = solids.ball(thick) if kind == "point-on-plane" else solids.cylinder(thin, size)
            return merged([solids.box(2 * size, 2 * size, 0.1 * size), middle])
        case "point-on-line":
            return merged([solids.ball(thick), solids.box(thin, thin, 3 * size)])
        case "fixed":
            return solids.box(0.8 * size, 0.8 * size, 0.8 * size)
        case _:
            return solids.ball(thick)
