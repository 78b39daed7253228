"""Windows, pictures and films of a robot, drawn by PyBullet; here what they show of a scene and its results."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.bullet.tree import Visual, wavefront
from mbplugin.errors import BadNumber, BadUsage
from mbplugin.model import BodyPoses, Mechanism, Pair, Scene, as_scene, forward
from mbplugin.model.spatial import Array, Pose, align_z, quaternion_from_rotation
from mbplugin.report.picture import PALETTE, ArrowLengths, DrawnArrow, Picture, bodies as shapes, drawn_arrows
from mbplugin.report.picture.bodies import JointGlyph, Mesh, glyph_mesh, merged, moved
from mbplugin.simulation.trajectory.resampling import drawn

if TYPE_CHECKING:
    from mbplugin.simulation.trajectory.trajectory import Trajectory
    from mbplugin.stopping.outcome import StopReport


#: Lengths of arrows, and radii of arrows, rods and paths, relative to the radius of the picture.
_ARROWS = ArrowLengths(largest=0.36, smallest=0.09, fan=0.17)
_THICK, _THIN, _ROD, _LINE = 0.011, 0.005, 0.01, 0.005
#: Half the height of the glyph at a rod's end, relative to the radius of the picture.
_END = 0.03
_SHRUNK = {"unique": 0.94, "undecided": 0.97}
#: Ground wider than this, relative to the radius of the picture, is coloured as a floor.
_FLOOR = 4.0
#: Number of poses of a replay, about, that the camera keeps in view.
_WATCHED = 12
#: Frames per second of a replay, and maximum number of steps.
RATE, _MOST = 25, 3000
#: Shortest and longest replay if no speed is requested, s; other motions are slowed down or sped up.
_SHORTEST, _LONGEST = 3.0, 30.0
#: Round speeds to choose from, relative to real time.
_SPEEDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)


# Surfaces in a PyBullet client: they have no mass and no collision shape; all poses are set.


class VisualScene:
    """The surfaces of a mechanism that are drawn in a PyBullet client.

    Parameters
    ----------
    bullet : module
        The imported ``pybullet``.
    mech : Mechanism
        Its forward kinematics place the surfaces.
    """

    def __init__(self, bullet: ModuleType, client: int, mech: Mechanism) -> None:
        self.bullet, self.client, self.mech = bullet, client, mech
        self._drawn: list[tuple[int, Surface]] = []

    def draw(self, surfaces: Iterable[Surface]) -> tuple[int, ...]:
        """Add surfaces, each in its local frame, and return their ids; :meth:`pose` and :meth:`place` move them."""
        ids: list[int] = []
        with tempfile.TemporaryDirectory() as folder:
            for surface in surfaces:
                file = Path(folder) / f"{len(ids)}.obj"
                mesh = surface.mesh
                file.write_text(wavefront(Visual(mesh.vertices, mesh.faces)), encoding="ascii")
                shape = self.bullet.createVisualShape(
                    self.bullet.GEOM_MESH,
                    fileName=str(file),
                    rgbaColor=PALETTE[surface.key].rgba,
                    physicsClientId=self.client,
                )
                ids.append(int(self.bullet.createMultiBody(0, -1, shape, physicsClientId=self.client)))
                self._drawn.append((ids[-1], surface))
        return tuple(ids)

    def remove(self, ids: Iterable[int]) -> None:
        """Remove surfaces by their ids."""
        gone = set(ids)
        for id in gone:
            self.bullet.removeBody(id, physicsClientId=self.client)
        self._drawn = [(id, surface) for id, surface in self._drawn if id not in gone]

    def pose(self, q: Array) -> None:
        """Move all surfaces to coordinates q (nq,) of the mechanism."""
        self.place(forward(self.mech, q))

    def place(self, poses: BodyPoses) -> None:
        """Move all surfaces to given poses of the bodies."""
        for id, surface in self._drawn:
            if surface.body < 0 and surface.rod is None:
                continue
            X_WL = surface.place(self.mech, poses)
            self.bullet.resetBasePositionAndOrientation(
                id, X_WL.p.tolist(), quaternion_from_rotation(X_WL.R).tolist(), physicsClientId=self.client
            )


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles of one colour.

    Parameters
    ----------
    key : str
        Key of the palette.
    mesh : Mesh
        In the link frame of ``body``, m; the mesh of a rod lies along z with its middle at the origin.
    body : int
        Index in the mechanism; −1 is the ground, which is also the world.
    rod : Pair or None
        The pair whose two points the rod connects; such a surface is attached to neither body.
    """

    key: str
    mesh: Mesh
    body: int = -1
    rod: Pair | None = None

    def place(self, mech: Mechanism, poses: BodyPoses) -> Pose:
        """Return the pose of the surface's local frame in the world."""
        if self.rod is None:
            return poses.of(self.body)
        start, end = _ends(mech, poses, self.rod)
        return Pose(align_z(end - start), 0.5 * (start + end))


def robot_surfaces(seen: Picture) -> Iterator[Surface]:
    """Yield the bodies, then the glyphs of the joints, merged per body and colour, then the rods."""
    for index, body in enumerate(seen.bodies, start=-1):
        if body.parts:
            wide = float(np.ptp(body.mesh.vertices, axis=0).max()) > _FLOOR * seen.radius
            yield Surface("floor" if wide and body.verdict == "ground" else body.verdict, body.mesh, index)
    joined: dict[tuple[int, str], list[Mesh]] = {}
    for joint in seen.joints:
        key = (seen.mechanism.body_index[joint.body], joint.verdict)
        mesh = joint.mesh if joint.end_W is None else glyph_mesh("spherical", _END * seen.radius)
        # where two joints coincide, the more alarming one stays visible
        mesh = Mesh(_SHRUNK.get(joint.verdict, 1.0) * mesh.vertices, mesh.faces)
        joined.setdefault(key, []).append(moved(mesh, joint.X_LJ))
    for (body_index, verdict), meshes in joined.items():
        yield Surface(verdict, merged(meshes), body_index)
    yield from (_rod(seen, joint) for joint in seen.joints if joint.end_W is not None)


def _rod(seen: Picture, joint: JointGlyph) -> Surface:
    pair = seen.mechanism.pair_by_name[joint.name]
    start, end = _ends(seen.mechanism, seen.poses, pair)
    length = float(np.linalg.norm(end - start))
    return Surface(joint.verdict, shapes.cylinder(_ROD * seen.radius, length), rod=pair)


def ghost_surfaces(seen: Picture, key: str) -> Iterator[Surface]:
    """Yield the moving bodies in the colour of ``key``."""
    for index, body in enumerate(seen.bodies, start=-1):
        if body.parts and body.verdict != "ground":
            yield Surface(key, body.mesh, index)


def arrow_surfaces(seen: Picture) -> Iterator[Surface]:
    """Yield the reaction arrows at the pose of the picture, merged per colour: known, resolved, open."""
    made: dict[str, list[Mesh]] = {}
    for one in drawn_arrows(seen.arrows, seen.radius, _ARROWS):
        for key, mesh in _arrow(one, seen.radius):
            made.setdefault(key, []).append(moved(mesh, Pose(np.eye(3), one.arrow.point_W)))
    for key, meshes in made.items():
        yield Surface(key, merged(meshes))


def arrow_points(seen: Picture) -> Array:
    """Return the vertices of the reaction arrows, (n, 3), m."""
    return np.vstack([np.zeros((0, 3)), *(surface.mesh.vertices for surface in arrow_surfaces(seen))])


def replay_points(seen: Picture, replay: Replay) -> Array:
    """Return link origins and centres of mass at some poses of a replay, and the tool path, (n, 3), m."""
    some = replay.q[:: max(1, len(replay.q) // _WATCHED)]
    poses = [forward(seen.mechanism, q) for q in (*some, replay.q[-1], *replay.ghosts.values())]
    clouds = [points for p in poses for points in (p.p_WC, p.p_WL)]
    return np.vstack([replay.path_W, *clouds])


def path_surface(path_W: Array, radius: float) -> Surface | None:
    """Return the path ``path_W`` (n, 3) of a point, m, as thin bars; None if the point does not move."""
    kept = list(path_W[:1])
    for point in path_W[1:]:
        if np.linalg.norm(point - kept[-1]) > 0.01 * radius:
            kept.append(point)
    if len(kept) < 2:
        return None
    bars = [shapes.bar(a, b, _LINE * radius) for a, b in pairwise(kept)]
    return Surface("path", merged(bars))


def placed(surfaces: Iterable[Surface], mech: Mechanism, q: Array) -> list[Surface]:
    """Return surfaces fixed to the world where they are at a pose q (nq,)."""
    poses = forward(mech, q)
    return [replace(s, mesh=moved(s.mesh, s.place(mech, poses)), body=-1, rod=None) for s in surfaces]


def by_colour(surfaces: Sequence[Surface]) -> Mapping[str, Surface]:
    """Merge world-fixed surfaces into one per colour."""
    keys = dict.fromkeys(s.key for s in surfaces)
    return {key: Surface(key, merged(s.mesh for s in surfaces if s.key == key)) for key in keys}


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
            yield key, shapes.arrow(vector, _THICK * radius, heads)
    for direction in drawn.fan:
        yield "open", shapes.arrow(direction, _THIN * radius, heads)


# A motion or a stop as a replay: poses equally spaced in time, transparent robots, the path of the tool.


@dataclass(frozen=True, eq=False)
class Replay:
    """A motion resampled for replay.

    Parameters
    ----------
    time : (T,) array
        s, equally spaced.
    q : (T, nq) array
        Joint coordinates, rad, m and quaternions xyzw.
    speed : float
        Initial speed relative to real time.
    ghosts : mapping of a key of the palette to (nq,) array
        Poses of the transparent robots.
    path_W : (n, 3) array
        Path of the tool, m.
    events : tuple of (float, str)
        Time of each event, s, and its sentence.
    tolerance : float or None
        The relative rank tolerance of the motion, if known.
    """

    title: str
    time: Array
    q: Array
    speed: float
    ghosts: Mapping[str, Array] = field(default_factory=dict)
    path_W: Array = field(default_factory=lambda: np.zeros((0, 3)))
    events: tuple[tuple[float, str], ...] = ()
    tolerance: float | None = None

    def said(self, frame: int, speed: float) -> tuple[str, ...]:
        """Return the lines of text at a pose: the time, and the latest event if any."""
        now = float(self.time[frame])
        past = [text for time, text in self.events if time <= now + 1e-12]
        clock = f"{self.title}: {now:.3f} of {self.time[-1]:.3f} s, at {speed:g} of real time"
        return (clock, past[-1]) if past else (clock,)


def replay_of(
    model: Scene | Mechanism, motion: Trajectory | StopReport | str | Path, speed: float | None = None
) -> Replay:
    """Return the replay of a motion, a stop, or a motion in a file (``.npz`` or ``.csv``).

    Parameters
    ----------
    model : Scene or Mechanism
    motion : Trajectory, StopReport or path
    speed : float, optional
        Relative to real time; by default chosen so that the replay lasts 3 to 30 s.

    Raises
    ------
    BadNumber, BadUsage
        A speed that is not positive and finite, or a motion of another mechanism.
    """
    if speed is not None and not (np.isfinite(speed) and speed > 0):
        raise BadNumber(f"the speed is {speed:g}", expected="a positive number, 1 for real time")
    if isinstance(motion, (str, Path)):
        return _of_file(model, Path(motion), speed)
    from mbplugin.stopping.outcome import StopReport

    if isinstance(motion, StopReport):
        return _of_stop(model, motion, speed)
    times = _times(float(motion.time[0]), float(motion.time[-1]), speed)
    _require_same(model, motion.mechanism)
    q = drawn(motion, times).q
    return Replay(
        "motion",
        times,
        q,
        _speed(times, speed),
        path_W=_path(motion.mechanism, q),
        events=_events(motion),
        tolerance=motion.tolerance,
    )


def _of_stop(model: Scene | Mechanism, stop: StopReport, speed: float | None) -> Replay:
    motion = stop.trajectory
    _require_same(model, motion.mechanism)
    times = _times(float(motion.time[0]), float(motion.time[-1]), speed)
    ghosts = {"signal": motion.q[0], "naive": stop.naive.q}
    assumed = ", ASSUMED brakes" if stop.scenario.of_effort.joints else ""
    title = f"stop, category {stop.scenario.category}{assumed}"
    q = drawn(motion, times).q
    pace, path = _speed(times, speed), stop.tool.path
    return Replay(title, times, q, pace, ghosts, path, _events(motion), motion.tolerance)


def _of_file(model: Scene | Mechanism, file: Path, speed: float | None) -> Replay:
    from mbplugin.stopping.scenario.start import read_recording

    mech = model.mechanism if isinstance(model, Scene) else model
    recording = read_recording(file, mech.q_names)
    home = as_scene(model).state.q
    times = _times(float(recording.time[0]), float(recording.time[-1]), speed)
    q = np.array([recording.pose(mech, home, at) for at in times])
    return Replay(file.name, times, q, _speed(times, speed), path_W=_path(mech, q))


def _require_same(model: Scene | Mechanism, moved: Mechanism) -> None:
    mech = model.mechanism if isinstance(model, Scene) else model
    if mech.q_names != moved.q_names:
        raise BadUsage(
            f"the motion is that of {moved.name!r}, not of {mech.name!r}", expected="the same coordinates"
        )


def _times(start: float, end: float, speed: float | None) -> Array:
    """Return the times (T,) of the frames, s."""
    shown = (end - start) / (speed or _chosen(end - start))
    count = int(np.clip(np.ceil(shown * RATE), 1, _MOST)) + 1
    return np.asarray(np.linspace(start, end, count), dtype=float)


def _speed(times: Array, speed: float | None) -> float:
    """Return the requested speed, else a speed near real time that suits ``times`` (T,), s."""
    return speed or _chosen(float(times[-1] - times[0]))


def _chosen(lasts: float) -> float:
    """Return the round speed nearest to real time at which a replay of this duration lasts 3 to 30 s."""
    fitting = [s for s in _SPEEDS if _SHORTEST <= lasts / s <= _LONGEST]
    nearest = sorted(fitting, key=lambda s: abs(np.log(s)))
    return nearest[0] if nearest else (_SPEEDS[0] if lasts < 1.0 else _SPEEDS[-1])


def _path(mech: Mechanism, q: Array) -> Array:
    """Return the path of the default tool body's centre of mass, (T, 3), m, for a motion q (T, nq)."""
    from mbplugin.stopping.defaults import default_tool

    if not mech.bodies:
        return np.zeros((0, 3))
    index = mech.body_index[default_tool(mech).body]
    return np.array([forward(mech, one).p_WC[index] for one in q])


def _events(motion: Trajectory) -> tuple[tuple[float, str], ...]:
    return tuple((e.time, e.sentence) for e in motion.events)
