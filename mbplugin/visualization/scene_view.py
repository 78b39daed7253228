"""The drawing of a picture in any client: surfaces of one colour that move with a body."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.model.mechanism.kinematics import BodyPoses, forward
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, Pose, align_z
from mbplugin.report.picture import BodyDrawing, JointGlyph, Mesh, Picture, solids
from mbplugin.report.picture.arrows import ArrowLengths, DrawnArrow, drawn_arrows
from mbplugin.report.picture.glyphs import glyph_mesh
from mbplugin.report.picture.mesh import merged, moved

if TYPE_CHECKING:
    from mbplugin.visualization.recording import Replay

#: Lengths of arrows, and radii of arrows, rods and paths, beside the radius of the picture.
_ARROWS = ArrowLengths(largest=0.36, smallest=0.09, fan=0.17)
_THICK, _THIN, _ROD, _LINE = 0.011, 0.005, 0.01, 0.005
#: Half the height of the glyph of a rod's end, beside the radius of the picture.
_END = 0.03
_SHRUNK = {"unique": 0.94, "undecided": 0.97}
#: Extent of the ground beside the radius of the picture, above which it is a floor.
_FLOOR = 4.0
#: Poses of a replay that have to be in view.
_WATCHED = 12


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles of one colour.

    Parameters
    ----------
    key : str
        Of the palette.
    mesh : Mesh
        In the link frame of ``body``, m; that of a rod along z, its middle in the origin.
    body : int
        Index in the mechanism; −1 is the ground, which is also the world.
    rod : Pair or None
        The pair whose two points a rod joins; it then moves with neither body.
    """

    key: str
    mesh: Mesh
    body: int = -1
    rod: Pair | None = None

    def place(self, mech: Mechanism, poses: BodyPoses) -> Pose:
        """Return where its own frame is in the world."""
        if self.rod is None:
            return poses.of(self.body)
        start, end = _ends(mech, poses, self.rod)
        return Pose(align_z(end - start), 0.5 * (start + end))


def robot_surfaces(seen: Picture) -> Iterator[Surface]:
    """Yield the bodies, then the glyphs of the joints; those of one body and colour are one surface."""
    for index, body in enumerate(seen.bodies, start=-1):
        if body.parts:
            yield Surface(_body_key(body, seen.radius), body.mesh, index)
    joined: dict[tuple[int, str], list[Mesh]] = {}
    for joint in seen.joints:
        key = (seen.mechanism.body_index[joint.body], joint.verdict)
        mesh = joint.mesh if joint.end_W is None else glyph_mesh("spherical", _END * seen.radius)
        # where two joints meet in a point, the more alarming one is seen
        mesh = Mesh(_SHRUNK.get(joint.verdict, 1.0) * mesh.vertices, mesh.faces)
        joined.setdefault(key, []).append(moved(mesh, joint.X_LJ))
    for (body_index, verdict), meshes in joined.items():
        yield Surface(verdict, merged(meshes), body_index)
    yield from (_rod(seen, joint) for joint in seen.joints if joint.end_W is not None)


def _body_key(body: BodyDrawing, radius: float) -> str:
    """Return the colour of a body in a picture of a radius, m."""
    wide = float(np.ptp(body.mesh.vertices, axis=0).max()) > _FLOOR * radius
    return "floor" if wide and body.verdict == "ground" else body.verdict


def ghost_surfaces(seen: Picture, key: str) -> Iterator[Surface]:
    """Yield the bodies that can move, in one colour."""
    for index, body in enumerate(seen.bodies, start=-1):
        if body.parts and body.verdict != "ground":
            yield Surface(key, body.mesh, index)


def arrow_surfaces(seen: Picture) -> Iterator[Surface]:
    """Yield the reaction arrows at the pose of the picture, by colour: known, resolved, open."""
    made: dict[str, list[Mesh]] = {}
    for drawn in drawn_arrows(seen.arrows, seen.radius, _ARROWS):
        for key, mesh in _arrow(drawn, seen.radius):
            made.setdefault(key, []).append(moved(mesh, Pose(np.eye(3), drawn.arrow.point_W)))
    for key, meshes in made.items():
        yield Surface(key, merged(meshes))


def arrow_points(seen: Picture) -> Array:
    """Return where the arrows reach, (n, 3), m."""
    return np.vstack([np.zeros((0, 3)), *(surface.mesh.vertices for surface in arrow_surfaces(seen))])


def replay_points(seen: Picture, replay: Replay) -> Array:
    """Return joints and centres of mass along a motion, and the path, (n, 3), m."""
    some = replay.q[:: max(1, len(replay.q) // _WATCHED)]
    poses = [forward(seen.mechanism, q) for q in (*some, replay.q[-1], *replay.ghosts.values())]
    clouds = [points for p in poses for points in (p.p_WC, p.p_WL)]
    return np.vstack([replay.path_W, *clouds])


def path_surface(path_W: Array, radius: float) -> Surface | None:
    """Return the path ``path_W`` (n, 3) of a point, m, as a line that can be seen; none where it does not move."""
    kept = list(path_W[:1])
    for point in path_W[1:]:
        if np.linalg.norm(point - kept[-1]) > 0.01 * radius:
            kept.append(point)
    if len(kept) < 2:
        return None
    bars = [solids.bar(a, b, _LINE * radius) for a, b in pairwise(kept)]
    return Surface("path", merged(bars))


def placed(surfaces: Iterable[Surface], mech: Mechanism, q: Array) -> list[Surface]:
    """Return surfaces as they stand in the world at a pose q (nq,), fixed to it."""
    poses = forward(mech, q)
    return [replace(s, mesh=moved(s.mesh, s.place(mech, poses)), body=-1, rod=None) for s in surfaces]


def by_colour(surfaces: Sequence[Surface]) -> Mapping[str, Surface]:
    """Return surfaces that stand in the world as one for each colour."""
    keys = dict.fromkeys(s.key for s in surfaces)
    return {key: Surface(key, merged(s.mesh for s in surfaces if s.key == key)) for key in keys}


def _rod(seen: Picture, joint: JointGlyph) -> Surface:
    pair = seen.mechanism.pair_by_name[joint.name]
    start, end = _ends(seen.mechanism, seen.poses, pair)
    length = float(np.linalg.norm(end - start))
    return Surface(joint.verdict, solids.cylinder(_ROD * seen.radius, length), rod=pair)


def _ends(mech: Mechanism, poses: BodyPoses, pair: Pair) -> tuple[Array, Array]:
    a, b = (
        poses.of(mech.body_index[name]) if name in mech.body_index else Pose.identity()
        for name in pair.bodies
    )
    return (a @ pair.X_AP).p, (b @ pair.X_BS).p


def _arrow(drawn: DrawnArrow, radius: float) -> Iterator[tuple[str, Mesh]]:
    heads = 1 if drawn.arrow.quantity == "force" else 2
    for key, vector in (("known", drawn.known), ("resolved", drawn.resolved)):
        if vector is not None:
            yield key, solids.arrow(vector, _THICK * radius, heads)
    for direction in drawn.fan:
        yield "open", solids.arrow(direction, _THIN * radius, heads)
