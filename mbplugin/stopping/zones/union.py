"""The union of what many stops sweep."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array
from mbplugin.simulation.trajectory.body_motions import BodyMotions, body_motions
from mbplugin.stopping.zones.chords import chord_spans
from mbplugin.stopping.zones.hulls import floor_hulls, grown, simplified, solid_hulls
from mbplugin.stopping.zones.libraries import shapely
from mbplugin.stopping.zones.motion import StopMotion
from mbplugin.stopping.zones.pieces import BodyPieces, box_corners

#: Zones of stops that are united at a time.
_BATCH = 64
#: The sagitta of solids beside the resolution of the floor: their files are large.
_SOLID = 5.0
#: Triangles of an STL file.
_MOST_TRIANGLES = 2_000_000


class ZoneUnion:
    """The zone of a robot, stop by stop.

    Parameters
    ----------
    mech : Mechanism
    robot : BodyPieces
    resolution : float
        m.
    solid : bool
        Whether solids are kept.
    """

    def __init__(self, mech: Mechanism, robot: BodyPieces, resolution: float, solid: bool) -> None:
        self._mech, self._robot, self._resolution = mech, robot, resolution
        self._corners = [box_corners(pieces) for pieces in robot.pieces]
        self._simple = [[simplified(piece) for piece in pieces] for pieces in robot.pieces] if solid else None
        self._solids: list[Array] = []
        self._standing: set[bytes] = set()
        self._polygons: list[Any] = []
        self.lower, self.upper = np.full(3, np.inf), np.full(3, -np.inf)
        self.sagitta = 0.0

    def add(self, motion: StopMotion) -> None:
        """Add the stop of one motion."""
        bodies = body_motions(self._mech, motion.q, motion.qd)
        hulls = []
        for i, pieces in enumerate(self._robot.pieces):
            spans = self._spans(motion.time, bodies, i, self._resolution)
            if len(spans) == 1 and spans[0].last == 0 and self._stood(bodies, i):
                continue
            self.sagitta = max(self.sagitta, *(span.sagitta for span in spans))
            for piece in pieces:
                polygons, lower, upper = floor_hulls(piece, spans, bodies.R_WL[:, i], bodies.p_WL[:, i])
                hulls.append(polygons)
                self.lower, self.upper = np.minimum(self.lower, lower), np.maximum(self.upper, upper)
            self._add_solids(motion.time, bodies, i)
        if hulls:
            self._polygons.append(shapely().union_all(np.concatenate(hulls)))
        if len(self._polygons) >= _BATCH:
            self._polygons = [shapely().union_all(self._polygons)]

    def _stood(self, bodies: BodyMotions, i: int) -> bool:
        """Return whether a body that stands still has been added where it stands, as the base has in every stop."""
        pose = np.array([i, *bodies.R_WL[0, i].ravel(), *bodies.p_WL[0, i]]).tobytes()
        known = pose in self._standing
        self._standing.add(pose)
        return known

    def _spans(self, time: Array, bodies: BodyMotions, i: int, tolerance: float) -> list[Any]:
        """Return the spans of body i at the samples ``time`` (T,), s."""
        R_WL, p_WL = bodies.R_WL[:, i], bodies.p_WL[:, i]
        x_W = np.einsum("tij,nj->tni", R_WL, self._corners[i]) + p_WL[:, None]
        twist = bodies.twists[:, i]
        v_W = twist[:, None, :3] + np.cross(twist[:, None, 3:], x_W - bodies.p_WC[:, i, None])
        return chord_spans(time, x_W, v_W, tolerance)

    def _add_solids(self, time: Array, bodies: BodyMotions, i: int) -> None:
        """Add the solids of body i at the samples ``time`` (T,), s."""
        if self._simple is None:
            return
        spans = self._spans(time, bodies, i, _SOLID * self._resolution)
        poses = bodies.R_WL[:, i], bodies.p_WL[:, i]
        self._solids += [solid_hulls(piece, spans, *poses, self._resolution) for piece in self._simple[i]]
        if sum(map(len, self._solids)) > _MOST_TRIANGLES:
            raise BadUsage(
                f"the solids have more than {_MOST_TRIANGLES} triangles",
                remedy="state a coarser resolution or fewer stops; the floor (.dxf, .svg, .csv) has no such limit",
            )

    def polygons(self) -> tuple[Array, ...]:
        """Return the outlines (n, 2) on the floor, m, grown and simplified by the resolution, holes filled."""
        whole = shapely().union_all(self._polygons)
        parts = [shapely().Polygon(part.exterior) for part in shapely().get_parts(whole)]
        outline = self._simplified(shapely().union_all(parts))
        rings = [part.exterior.coords for part in shapely().get_parts(outline)]
        found = [np.array(ring)[:-1, :2] for ring in rings]
        return tuple(ring if _signed_area(ring) > 0 else ring[::-1].copy() for ring in found)

    def _simplified(self, whole: Any) -> Any:
        """Return a simple polygon around another.

        Simplification may go beyond its tolerance where it also drops the first corner of a ring, so what
        comes out is tried.
        """
        around = grown(whole, self._resolution)
        # what is on the outline, or is rounded in a file, is inside
        kept = grown(whole, 0.01 * self._resolution)
        for tolerance in (0.9, 0.6, 0.3, 0.1):
            outline = shapely().simplify(around, tolerance * self._resolution, preserve_topology=True)
            if shapely().covers(outline, kept):
                return outline
        return around

    def triangles(self) -> Array | None:
        """Return the triangles (m, 3, 3) of the solids, m; None where none were kept."""
        return None if self._simple is None else np.concatenate(self._solids)


def _signed_area(ring: Array) -> float:
    """Return the area of a ring (n, 2) of corners, m², positive where it is counter-clockwise."""
    x, y = ring.T
    return 0.5 * float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum())
