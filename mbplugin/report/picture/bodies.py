"""The picture of each body: its shapes, or sticks between its joints and its centre of mass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pfaffian import Rolling
from mbplugin.model.mechanism.rigid import rigid_groups
from mbplugin.model.scene import Scene, Shape
from mbplugin.model.spatial import Array, Pose
from mbplugin.report.picture import solids
from mbplugin.report.picture.mesh import Mesh, merged, moved
from mbplugin.report.picture.shapes import NotShown, chosen, shape_mesh, share_of_faces

#: Sides of the bars of a stick figure: there may be thousands of them.
_SIDES = 10


@dataclass(frozen=True, eq=False)
class Part:
    """A surface and its place in the link frame L; equal surfaces are one ``Mesh`` object."""

    mesh: Mesh
    X_LM: Pose


@dataclass(frozen=True, eq=False)
class BodyDrawing:
    """One body.

    Parameters
    ----------
    name : str
        ``world`` is the ground.
    verdict : str
        ``rigid``, ``flexible``, ``ground`` or ``unjudged``: a key of the palette.
    parts : tuple of Part
        Empty where the body is a point without a joint.
    stick : bool
        Whether the parts are a stick figure, since nothing is known of its shape.
    """

    name: str
    verdict: str
    parts: tuple[Part, ...]
    stick: bool

    @property
    def mesh(self) -> Mesh:
        """All parts as one surface, in link axes."""
        return merged(moved(part.mesh, part.X_LM) for part in self.parts)


def shown_parts(scene: Scene) -> tuple[dict[str, tuple[Part, ...]], tuple[str, ...]]:
    """Return the shapes of each body that has any, and a sentence for all that is not shown as it is."""
    most = share_of_faces(scene.shapes)
    found: dict[str, tuple[Part, ...]] = {}
    notes: list[str] = []
    for name, shapes in scene.shapes.items():
        tried = []
        for role in chosen(shapes):
            parts, said = _parts(scene, name, role, most)
            notes += said
            tried.append(parts)
            if len(parts) == len(role):
                # nothing of it is missing
                tried = [parts]
                break
        if any(tried):
            found[name] = next(filter(None, tried))
    return found, tuple(dict.fromkeys(notes))


def _parts(
    scene: Scene, name: str, shapes: tuple[Shape, ...], most: int
) -> tuple[tuple[Part, ...], list[str]]:
    """Return the drawable parts of some shapes of a body, and notes about them."""
    parts, said = [], []
    for shape in shapes:
        try:
            mesh, note = shape_mesh(shape, scene.request, most)
        except NotShown as reason:
            said.append(f"{name}: {reason}")
            continue
        parts.append(Part(mesh, shape.X_LS))
        said += [note] if note else []
    return tuple(parts), said


def joint_points(mech: Mechanism) -> dict[str, Array]:
    """Return where the joints of each body are, in its link frame, (n, 3), m."""
    points: dict[str, list[Array]] = {name: [] for name in mech.body_index}
    for pair in mech.pairs:
        points[pair.body_a].append(pair.X_AP.p)
        points[pair.body_b].append(pair.X_BS.p)
    for pfaffian in mech.pfaffians:
        contact = pfaffian.center if isinstance(pfaffian, Rolling) else pfaffian.point
        points[pfaffian.body].append(contact)
    return {name: np.array(own, dtype=float).reshape(-1, 3) for name, own in points.items()}


def stick_figure(mech: Mechanism, name: str, points: Array, radius: float) -> tuple[Part, ...]:
    """Return bars from a body's centre of mass to ``points`` (n, 3), its joints, m, and a ball at it."""
    if name == WORLD:
        block = solids.box(4 * radius, 4 * radius, 4 * radius)
        return tuple(Part(block, Pose(np.eye(3), point)) for point in points)
    body = mech.bodies[mech.body_index[name]]
    middle = points.mean(axis=0) if body.massless and len(points) else body.p_LC
    far = [p for p in points if np.linalg.norm(p - middle) > 1e-3 * radius]
    knob = Part(solids.ball(1.8 * radius), Pose(np.eye(3), middle))
    bars = [solids.bar(middle, p, radius, _SIDES) for p in far]
    return (knob, Part(merged(bars), Pose.identity())) if bars else (knob,)


def drawings(
    mech: Mechanism,
    parts: Mapping[str, tuple[Part, ...]],
    may_stay_rigid: Mapping[str, bool],
    radius: float,
) -> Iterator[BodyDrawing]:
    """Yield the ground, then the bodies in the order of the mechanism."""
    still, points = rigid_groups(mech)[WORLD], joint_points(mech)
    for name in (WORLD, *(body.name for body in mech.bodies)):
        own = parts.get(name, ())
        if name == WORLD or (name in still and may_stay_rigid.get(name, True)):
            verdict = "ground"
        elif name in may_stay_rigid:
            verdict = "rigid" if may_stay_rigid[name] else "flexible"
        else:
            verdict = "unjudged"
        yield BodyDrawing(name, verdict, own or stick_figure(mech, name, points[name], radius), not own)
