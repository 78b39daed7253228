"""``stop_zone``: the union of the volumes that stops sweep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls
from scipy.spatial import ConvexHull

from mbplugin.arguments import checked
from mbplugin.errors import BadNumber, BadUsage
from mbplugin.model import Array, Mechanism, Payload, Scene
from mbplugin.phrases import listed
from mbplugin.readers import ModelSource, model_of
from mbplugin.readers.paths import named_package
from mbplugin.simulation.trajectory import BodyMotions, body_motions
from mbplugin.stopping import zones
from mbplugin.stopping.outcome import StopReport
from mbplugin.stopping.sweep.plan import SweepPlan, stopper_of
from mbplugin.stopping.table import StoppingTable
from mbplugin.stopping.zones import BodyPieces, ConvexPiece, StopMotion, StopZone

#: Called with (stops done, stops in total).
Progress = Callable[[int, int], None]
#: Limits of the resolution, m.
_FINEST, _COARSEST = 1e-5, 1.0
#: Number of stops whose zones are united at a time.
_BATCH = 64
#: Ratio of the sagitta of solids to the resolution of the floor outline, because files of solids are large.
_SOLID = 5.0
#: Most triangles in an STL file.
_MOST_TRIANGLES = 2_000_000
#: Segments of a quarter circle. The polygon is circumscribed, not inscribed.
_QUARTER = 8
_AROUND = 1.0 / np.cos(np.pi / (4 * _QUARTER))
#: Number of directions in which the extreme corners of a piece are kept when it is simplified.
_DIRECTIONS = 48
#: Weight of the condition Σ shares = 1 in the search for the nearest point of a hull.
_SUM = 1e3
_CUBE = np.array(list(product((-1.0, 1.0), repeat=3)))
#: Largest ratio of the sagitta of an arc of up to 0.05 rad to that of the cubic through its samples.
_REMAINDER = 1.001
#: A body is at rest if its corners move less than this, m.
_STILL = 1e-9


# ``stop_zone``: the volume that a robot, its tool and its payload sweep during a stop, a table or a sweep.


@checked
def stop_zone(
    scene: ModelSource,
    stops: StopReport | StoppingTable | SweepPlan,
    *,
    resolution: float = 0.002,
    payload_radius: float | None = None,
    solid: bool = False,
    progress: Progress | None = None,
) -> StopZone:
    """Compute the zone that a robot, its tool and its payload sweep during stops.

    The zone contains every point of the shapes at every time from the signal to rest: between two samples
    of a link it is the convex hull of both, grown by the sagitta of the path. Holes are filled.

    Parameters
    ----------
    scene : path, PyBullet client or Scene
        The robot, with its shapes: collision shapes, else visual ones.
    stops : StopReport, StoppingTable or SweepPlan
        Stops of this robot.
    resolution : float
        Largest sagitta between two samples if the samples allow it, and growth of the outline, m. Samples are up to
        0.05 rad apart, which is a sagitta of 0.3 mm for a point 1 m from the axis.
    payload_radius : float, optional
        Radius of the ball around the centre of mass of each payload, m, because a payload has no shape.
    solid : bool
        Also compute the solids for an STL file.
    progress : callable, optional
        Called with (stops done, stops in total).

    Raises
    ------
    BadUsage
        Payloads have no radius, a stop is of another robot, or the zone has too many solids.
    BadNumber
        The resolution or the radius is out of range.
    MissingDependency
        shapely is not installed.
    """
    zones.shapely()
    scene = model_of(scene)
    if not isinstance(scene, Scene):
        raise BadUsage(f"{scene!r} has no shapes", expected="a Scene, which mbplugin.load returns")
    if not _FINEST <= resolution <= _COARSEST:
        raise BadNumber(f"the resolution is {resolution:g} m", expected=f"{_FINEST:g} to {_COARSEST:g} m")
    payloads, count, motions = _motions_of(scene, stops)
    robot = _robot(scene, payloads, payload_radius)
    union = ZoneUnion(scene.mechanism, robot, resolution, solid)
    for done, motion in enumerate(motions, start=1):
        union.add(motion)
        if progress is not None:
            progress(done, count)
    polygons = union.polygons()
    return StopZone(
        scene.mechanism.name,
        count,
        polygons,
        union.lower,
        union.upper,
        union.sagitta,
        resolution,
        robot.without_shape,
        (
            *_warnings(stops),
            *_assumptions(robot, scene.mechanism, payloads, payload_radius, union.sagitta, resolution),
        ),
        union.triangles(),
    )


def _motions_of(
    scene: Scene, stops: StopReport | StoppingTable | SweepPlan
) -> tuple[tuple[Payload, ...], int, Iterable[StopMotion]]:
    """Return the payloads of the robot, the number of stops, and their motions."""
    if isinstance(stops, StoppingTable):
        _require_same(scene, stops.model)
        if not stops.motions:
            raise BadUsage("the table has no motions", expected="a table that stopping_table returned")
        return stops.payloads, len(stops.motions), stops.motions
    if isinstance(stops, StopReport):
        _require_same(scene, stops.scenario.mech.name, stops.scenario.mech.q_names)
        return stops.scenario.actions.payloads, 1, [zones.motion_of_trajectory(stops.trajectory)]
    if isinstance(stops, SweepPlan):
        _require_same(scene, stops.scenario.mech.name, stops.scenario.mech.q_names)
        return stops.scenario.actions.payloads, stops.count, _sweep_motions(stops)
    raise BadUsage(f"{stops!r} is not a stop", expected="a StopReport, a StoppingTable or a SweepPlan")


def _warnings(stops: StopReport | StoppingTable | SweepPlan) -> Iterator[str]:
    """Yield the warnings about assumptions in the stops."""
    own = stops if isinstance(stops, StoppingTable) else stops.scenario
    yield from filter(None, (*own.of_effort.warnings, own.tool_choice.warning))


def _require_same(scene: Scene, name: str, q_names: tuple[str, ...] | None = None) -> None:
    own = scene.mechanism
    if name != own.name or q_names not in (None, own.q_names):
        raise BadUsage(f"the stop is that of {name!r}, not of {own.name!r}", expected="a stop of the scene")


def _sweep_motions(plan: SweepPlan) -> Iterator[StopMotion]:
    """Yield the motions of a sweep, each computed again from the number of its stop."""
    stopper = stopper_of(plan.scenario)
    for k in range(plan.count):
        stopper.stop(*plan.draw(k))
        yield stopper.motion()


def _robot(scene: Scene, payloads: tuple[Payload, ...], radius: float | None) -> BodyPieces:
    """Return the convex pieces of the robot with its payloads.

    Raises
    ------
    BadUsage, BadNumber
        Payloads have no radius, or the radius is out of range.
    """
    if radius is not None and not (isfinite(radius) and 0 <= radius <= 100):
        raise BadNumber(f"the radius of the payload is {radius:g} m", expected="0 to 100 m")
    if payloads and radius is None:
        raise BadUsage(
            f"the size of the payload at {payloads[0].body!r} is not stated",
            expected="the radius of a sphere around its centre of mass that contains it, m",
            remedy="state it with --payload-radius (payload_radius); 0 ignores its shape",
        )
    return zones.body_pieces(scene.mechanism, scene.shapes, payloads, radius or 0.0, scene.request)


def _assumptions(
    robot: BodyPieces,
    mech: Mechanism,
    payloads: tuple[Payload, ...],
    radius: float | None,
    sagitta: float,
    resolution: float,
) -> tuple[str, ...]:
    said = [
        "computed, not measured",
        "world axes, m; seen from above, holes filled; a mesh counts as its convex hull",
        f"between samples grown by the sagitta of the path, at most {1e3 * sagitta:.3g} mm; the outline by at most"
        f" {2e3 * resolution:.3g} mm",
    ]
    if payloads:
        said.append(f"each payload is a ball of {radius:g} m around its centre of mass")
    return (*said, *_too_small(robot, mech))


def _too_small(robot: BodyPieces, mech: Mechanism) -> Iterator[str]:
    """Yield warnings on parts missing from the zone: unreadable shapes, and links with mass but without shapes."""
    if robot.unread:
        files = list(dict.fromkeys(file for files in robot.unread.values() for file in files))
        packages = dict.fromkeys(name for file in files if (name := named_package(file)))
        folder = f"the folder that holds {', '.join(packages)}" if packages else "their folder"
        remedy = f"; state {folder} with --package-dir" if files else ""
        which = f" ({listed([repr(file) for file in files], most=2)})" if files else ""
        yield (
            f"TOO SMALL: the shapes of {', '.join(robot.unread)} cannot be read{which}: only joints and centres"
            f" of mass of these links are in the zone{remedy}"
        )
    # a frame without mass, such as a flange, has no volume that could be missing
    without_shape = [
        name
        for name in robot.without_shape
        if name not in robot.unread and mech.bodies[mech.body_index[name]].mass > 0
    ]
    if without_shape:
        yield (
            f"TOO SMALL: {', '.join(without_shape)} state no shape: only joints and centres of mass of these links"
            " are in the zone; state their collision shapes"
        )


class ZoneUnion:
    """Accumulates the zone of a robot stop by stop.

    Parameters
    ----------
    mech : Mechanism
    robot : BodyPieces
    resolution : float
        m.
    solid : bool
        Whether solids are computed.
    """

    def __init__(self, mech: Mechanism, robot: BodyPieces, resolution: float, solid: bool) -> None:
        self._mech, self._robot, self._resolution = mech, robot, resolution
        self._corners = [zones.box_corners(pieces) for pieces in robot.pieces]
        self._simple = [[simplified(piece) for piece in pieces] for pieces in robot.pieces] if solid else None
        self._solids: list[Array] = []
        self._standing: set[bytes] = set()
        self._polygons: list[Any] = []
        self.lower, self.upper = np.full(3, np.inf), np.full(3, -np.inf)
        self.sagitta = 0.0

    def add(self, motion: StopMotion) -> None:
        """Add one stop, given by its motion."""
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
            self._polygons.append(zones.shapely().union_all(np.concatenate(hulls)))
        if len(self._polygons) >= _BATCH:
            self._polygons = [zones.shapely().union_all(self._polygons)]

    def _stood(self, bodies: BodyMotions, i: int) -> bool:
        """Return True if a resting body was already added at this pose, as the base after the first stop; note it."""
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
        whole = zones.shapely().union_all(self._polygons)
        parts = [zones.shapely().Polygon(part.exterior) for part in zones.shapely().get_parts(whole)]
        outline = self._simplified(zones.shapely().union_all(parts))
        rings = [part.exterior.coords for part in zones.shapely().get_parts(outline)]
        found = [np.array(ring)[:-1, :2] for ring in rings]
        return tuple(ring if _signed_area(ring) > 0 else ring[::-1].copy() for ring in found)

    def _simplified(self, whole: Any) -> Any:
        """Return a polygon with few corners that contains another.

        Simplification may exceed its tolerance if it drops the first corner of a ring, so the result is checked.
        """
        around = grown(whole, self._resolution)
        # points on the outline, also rounded ones in a file, must be inside
        kept = grown(whole, 0.01 * self._resolution)
        for tolerance in (0.9, 0.6, 0.3, 0.1):
            outline = zones.shapely().simplify(around, tolerance * self._resolution, preserve_topology=True)
            if zones.shapely().covers(outline, kept):
                return outline
        return around

    def triangles(self) -> Array | None:
        """Return the triangles (m, 3, 3) of the solids, m; None if solids were not requested."""
        return None if self._simple is None else np.concatenate(self._solids)


def _signed_area(ring: Array) -> float:
    """Return the area of a ring (n, 2) of corners, m², positive if counter-clockwise."""
    x, y = ring.T
    return 0.5 * float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum())


# The volumes that the pieces of a body sweep in the spans of its motion, as convex hulls: on the floor, and solid.


def grown(polygons: Any, distances: Any) -> Any:
    """Return polygons grown by distances, m."""
    return zones.shapely().buffer(polygons, _AROUND * distances, quad_segs=_QUARTER)


def floor_hulls(
    piece: ConvexPiece, spans: Sequence[Span], R_WL: Array, p_WL: Array
) -> tuple[Any, Array, Array]:
    """Return polygons (k,) that contain, seen from above, what a piece sweeps in each span, and their box.

    Parameters
    ----------
    R_WL, p_WL : (T, 3, 3), (T, 3) array
        Link frames of the body along the motion, m.

    Returns
    -------
    polygons : (k,) array of shapely.Polygon
    lower, upper : (3,) array
        World, m.
    """
    ends = np.array([(span.first, span.last) for span in spans])
    reach = np.array([span.sagitta for span in spans]) + piece.radius
    x_W = np.einsum("ktij,nj->ktni", R_WL[ends], piece.points) + p_WL[ends][:, :, None]
    lower = (x_W.min(axis=(1, 2)) - reach[:, None]).min(axis=0)
    upper = (x_W.max(axis=(1, 2)) + reach[:, None]).max(axis=0)
    flat = np.ascontiguousarray(x_W[..., :2]).reshape(len(spans), -1, 2)
    hulls = zones.shapely().convex_hull(zones.shapely().linestrings(flat))
    return grown(hulls, reach), lower, upper


def solid_hulls(piece: ConvexPiece, spans: Sequence[Span], R_WL: Array, p_WL: Array, growth: float) -> Array:
    """Return the triangles (m, 3, 3) of closed hulls, m, each containing what a piece sweeps in one span.

    Parameters
    ----------
    R_WL, p_WL : (T, 3, 3), (T, 3) array
        Link frames of the body along the motion, m.
    growth : float
        Additional growth of the hulls, so that flat pieces have a volume too, m.
    """
    found = []
    for span in spans:
        ends = [piece.points @ R_WL[k].T + p_WL[k] for k in (span.first, span.last)]
        corners = zones.hull_vertices(np.concatenate(ends))
        reach = piece.radius + span.sagitta + growth
        # a cube around the small ball of the sagitta is enough; round pieces need more corners
        around = reach * (_CUBE if piece.radius < 10 * growth else _ball())
        points = (corners[:, None] + around).reshape(-1, 3)
        hull = ConvexHull(points)
        triangles = points[hull.simplices]
        normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        inward = (normals * hull.equations[:, :3]).sum(axis=1) < 0
        triangles[inward] = triangles[inward, ::-1]
        found.append(triangles)
    return np.concatenate(found)


@lru_cache(maxsize=1)
def _directions() -> Array:
    """Return evenly spread unit vectors (n, 3), on a spiral of equal areas."""
    k = np.arange(_DIRECTIONS) + 0.5
    z, angle = 1 - 2 * k / _DIRECTIONS, np.pi * (1 + np.sqrt(5)) * k
    ring = np.sqrt(1 - z * z)
    return np.column_stack((ring * np.cos(angle), ring * np.sin(angle), z))


@lru_cache(maxsize=1)
def _ball() -> Array:
    """Return the corners (n, 3) of a polyhedron that contains the unit ball."""
    directions = _directions()
    return directions / -float(ConvexHull(directions).equations[:, 3].max())


def simplified(piece: ConvexPiece) -> ConvexPiece:
    """Return a piece with few corners that contains ``piece``, with a correspondingly larger radius."""
    points = piece.points
    if len(points) <= _DIRECTIONS:
        return piece
    kept = np.unique((points @ _directions().T).argmax(axis=0))
    rest = np.delete(points, kept, axis=0)
    return ConvexPiece(points[kept], piece.radius + max(_distance(points[kept], x) for x in rest))


def _distance(corners: Array, x: Array) -> float:
    """Return an upper bound of the distance of x (3,) from the hull of corners (n, 3), m: that to one of its points."""
    scale = float(np.ptp(corners, axis=0).max())
    A = np.vstack(((corners - x).T / scale, np.full(len(corners), _SUM)))
    shares, _ = nnls(A, np.array([0.0, 0.0, 0.0, _SUM]))
    return float(np.linalg.norm((shares / shares.sum()) @ corners - x))


# Spans of a motion in which every point of a body stays near its chord, with a bound of the deviation.


class Span(NamedTuple):
    """Indices of the first and last sample of a span, and the largest deviation of points from their chords, m."""

    first: int
    last: int
    sagitta: float


def chord_spans(time: Array, corners_W: Array, velocities_W: Array, tolerance: float) -> list[Span]:
    """Cut the motion of a body into spans whose sagitta is within a tolerance, as far as the samples allow.

    At any instant within a span, a point of the body is at most the sagitta away from a point of its
    chord, with the same share s of the chord for all points of the body. The distance from x(t) to
    (1 − s) x_a + s x_b is a convex function of the position in the body, so it is largest at a corner of a
    box around the body. At the samples it is computed. Between two neighbouring samples x(t) is the cubic
    through positions and velocities, which differs from the straight line by
    h σ (1 − σ) |(1 − σ)(v₀ − m) − σ (v₁ − m)| ≤ h/4 max(|v₀ − m|, |v₁ − m|), m = Δx/h. For a point that
    turns by Δθ on a radius r this is the sagitta r Δθ²/8. The error of the cubic is added.

    Parameters
    ----------
    time : (T,) array
        s.
    corners_W, velocities_W : (T, 8, 3) array
        Corners of a box around the body along the motion, m and m/s.
    tolerance : float
        m.
    """
    if float(np.abs(corners_W - corners_W[0]).max()) < _STILL:
        return [Span(0, 0, _STILL)]
    between = _between_samples(time, corners_W, velocities_W)
    return list(_cut(corners_W, between, tolerance, 0, len(time) - 1))


def _between_samples(time: Array, x: Array, v: Array) -> Array:
    """Return bounds (T − 1,), m, of the deviation from the straight line between neighbouring samples.

    ``time`` (T,), s; positions ``x`` (T, 8, 3), m; velocities ``v`` (T, 8, 3), m/s.
    """
    h = np.diff(time)
    steps = np.diff(x, axis=0)
    with np.errstate(all="ignore"):
        m = np.where((h > 0)[:, None, None], steps / h[:, None, None], 0.0)
    off = [np.linalg.norm(end - m, axis=2).max(axis=1) for end in (v[:-1], v[1:])]
    # two samples at one time have the same pose, since an event only changes rates
    return np.where(h > 0, 0.25 * _REMAINDER * h * np.maximum(*off), 0.0)


def _cut(x: Array, between: Array, tolerance: float, first: int, last: int) -> Iterator[Span]:
    """Yield the spans from one sample of ``x`` (T, 8, 3) to another, halved until they are within the tolerance.

    ``between`` (T − 1,) bounds the deviation between samples, m.
    """
    sagitta = float(between[first:last].max()) + _off_chord(x[first : last + 1])
    if sagitta <= tolerance or last - first <= 1:
        yield Span(first, last, sagitta)
        return
    middle = (first + last) // 2
    yield from _cut(x, between, tolerance, first, middle)
    yield from _cut(x, between, tolerance, middle, last)


def _off_chord(x: Array) -> float:
    """Return the largest distance of samples x (T, 8, 3) from the chords between the first and the last one, m."""
    if len(x) <= 2:
        return 0.0
    chord, inner = x[-1] - x[0], x[1:-1] - x[0]
    length = float((chord**2).sum())
    share = (
        np.clip((inner * chord).sum(axis=(1, 2)) / length, 0.0, 1.0) if length > 0 else np.zeros(len(inner))
    )
    return float(np.linalg.norm(inner - share[:, None, None] * chord, axis=2).max())
