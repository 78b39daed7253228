"""Contacts of a robot that stands on the ground: the lowest points of its collision shapes.

A sphere touches at one point, a capsule at two, a cylinder at the lowest points of its rims, a box or a mesh at the
corners of its lowest face: at most four of their convex hull. A face smaller than ``_SMALL`` of the robot's size, such
as the bottom of a tessellated ball, is one point. The ground is not modelled: its normal is against gravity at every
contact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from mbplugin.errors import BadNumber, BadUsage, UnknownName, suggestion
from mbplugin.model.contacts import named
from mbplugin.model.mechanism.contact import LARGEST_FRICTION, Contact
from mbplugin.model.mechanism.kinematics import BodyPoses, rigid_groups
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Scene, Shape
from mbplugin.model.spatial import AnyArray, Array, Pose
from mbplugin.phrases import Assumption, counted, listed
from mbplugin.readers.meshes import UnusableMesh, mesh_file, read_mesh

#: Coefficient of friction of rubber on a dry floor, assumed if none is stated.
FRICTION = 0.8
#: Links that reach to this fraction of the robot's size above its lowest point touch the ground.
TOUCHING = 0.01
#: Points of a link up to this fraction of the robot's size above its lowest point are its lowest face.
_FACE = 1e-3
#: A face up to this fraction of the robot's size wide is one point.
_SMALL = 0.02
#: Largest number of points of one link.
_MOST = 4
#: Number of points on the rim of an upright cylinder.
_RIM = 8
#: Sine of the angle between a cylinder's axis and gravity below which it is upright.
_UPRIGHT = 1e-3
#: Distance of a stated contact point from a shape that is accepted, relative to the shape's size, and at least, m.
_OFF, _OFF_AT_LEAST = 0.02, 1e-3
_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)


@dataclass(frozen=True, eq=False)
class Stance:
    """The links on which a robot stands, and their contacts.

    Parameters
    ----------
    links : tuple of str
    contacts : tuple of Contact
    friction : float
        Coefficient of friction of all contacts.
    assumed : bool
        Whether the links are assumed, not named.
    assumed_friction : bool
        Whether the coefficient is assumed, not stated.
    notes : tuple of str
        What the shapes do not say.
    """

    links: tuple[str, ...]
    contacts: tuple[Contact, ...]
    friction: float
    assumed: bool
    assumed_friction: bool
    notes: tuple[str, ...] = ()


def stance_of(
    scene: Scene,
    mech: Mechanism,
    poses: BodyPoses,
    links: Iterable[str] | None,
    friction: float | None,
) -> Stance:
    """Return the contacts of a robot at a pose with the ground below it.

    Parameters
    ----------
    mech : Mechanism
        With the bodies of the scene.
    links : iterable of str, or None
        Names of the links that touch, or patterns such as ``*_foot``, each with its lowest points; None selects the
        links that reach the lowest height.
    friction : float or None
        Coefficient of friction, by default ``FRICTION``.

    Raises
    ------
    UnknownName
        No link has the name.
    BadUsage, BadNumber
        There is no gravity, the links have no shapes, or the friction is impossible.
    """
    if not mech.gravity.any():
        raise BadUsage(
            "the direction of the ground is unknown without gravity", expected="gravity, or contacts"
        )
    mu = FRICTION if friction is None else friction
    if not 0 <= mu <= LARGEST_FRICTION:
        raise BadNumber(
            f"the coefficient of friction is {mu!r}", expected=f"a number from 0 to {LARGEST_FRICTION:g}"
        )
    up = -mech.gravity / np.linalg.norm(mech.gravity)
    lowest, notes = _lowest_points(scene, mech, poses, up)
    wanted = None if links is None else _matching(mech, links)
    if wanted is not None and (bare := [name for name in wanted if name not in lowest]):
        raise BadUsage(
            f"{listed(bare)} {'has' if len(bare) == 1 else 'have'} no shape that can touch the ground",
            expected="links with collision shapes",
            remedy="state a [[contact]] in a scene (contacts=[...])",
        )
    if not lowest:
        raise BadUsage(
            f"no link of {mech.name!r} has a shape that could stand on the ground",
            expected="collision shapes",
            remedy="state each [[contact]] in a scene (contacts=[...])",
        )
    everything = np.vstack(list(lowest.values()))
    size = float(np.linalg.norm(np.ptp(everything, axis=0))) or 1.0
    heights = {name: float((points @ up).min()) for name, points in lowest.items()}
    if wanted is None:
        limit = min(heights.values()) + TOUCHING * size
        wanted = tuple(name for name, height in heights.items() if height <= limit)
    elif (spread := float(np.ptp([heights[name] for name in wanted]))) > TOUCHING * size:
        notes = (*notes, f"the links that touch are at heights that differ by {spread:.4g} m")
    rigid = rigid_groups(mech)
    together = [(name,) for name in wanted] if links is not None else _grouped(wanted, rigid)
    found = _faces(lowest, together, up, size)
    contacts = [
        Contact("", name, poses.of(mech.body_index[name]).inverse().apply(point), up, mu)
        for name, points in found.items()
        for point in points
    ]
    taken = [constraint.name for constraint in mech.constraints()]
    return Stance(
        tuple(found), tuple(named(contacts, taken)), mu, links is None, friction is None, tuple(notes)
    )


def stance_sentence(stance: Stance | None) -> tuple[str, ...]:
    """Return a sentence on what of a stance is assumed, and how to change that; empty if nothing is."""
    if stance is None or not (stance.assumed or stance.assumed_friction):
        return ()
    count = len(stance.contacts)
    said = f"taken as standing on {count} contact{'s' if count != 1 else ''}: {listed(stance.links)}"
    if stance.assumed_friction:
        mu = f"{stance.friction:g}"
        said += f"; the coefficient of friction is assumed to be {mu}: --friction (friction=...) changes it"
    if stance.assumed:
        said += "; --stance (stance=[...]) names the links that touch the ground"
    short = f"standing on {counted(count, 'contact')}, friction {stance.friction:g} (--stance, --friction)"
    return (Assumption(said + ".", short),)


def _matching(mech: Mechanism, links: Iterable[str]) -> tuple[str, ...]:
    """Return the bodies with given names or patterns, in file order."""
    known = [body.name for body in mech.bodies]
    wanted: set[str] = set()
    for name in links:
        found = [own for own in known if own == name] or [own for own in known if fnmatchcase(own, name)]
        if not found:
            raise UnknownName(
                f"the stance names {name!r}, which is not a link of {mech.name!r}",
                remedy=suggestion(name, known),
            )
        wanted.update(found)
    return tuple(name for name in known if name in wanted)


def _lowest_points(
    scene: Scene, mech: Mechanism, poses: BodyPoses, up: Array
) -> tuple[dict[str, Array], tuple[str, ...]]:
    """Return the points (n, 3) of each body, in the world, that can be its lowest ones, and notes; up (3,)."""
    found, unread = _of_role(scene, mech, poses, up, "collision")
    notes: list[str] = []
    if not found:
        found, unread = _of_role(scene, mech, poses, up, "visual")
        if found:
            notes.append("no link has a collision shape, so that the visual shapes touch the ground")
    if unread:
        notes.append(f"meshes of {listed(unread)} cannot be read, so that nothing touches the ground there")
    return found, tuple(notes)


def _of_role(
    scene: Scene, mech: Mechanism, poses: BodyPoses, up: Array, role: str
) -> tuple[dict[str, Array], list[str]]:
    """Return the possible lowest points (n, 3) by body, and the bodies with unreadable shapes; up (3,)."""
    found: dict[str, Array] = {}
    unread: list[str] = []
    for k, body in enumerate(mech.bodies):
        X_WL, parts = poses.of(k), []
        for shape in scene.shapes.get(body.name, ()):
            if shape.role != role or shape.kind == "plane":
                continue
            points = shape_points(shape, scene, X_WL, up)
            if points is None:
                unread.append(body.name)
            elif len(points):
                parts.append(points)
        if parts:
            found[body.name] = np.vstack(parts)
    return found, list(dict.fromkeys(unread))


def shape_points(shape: Shape, scene: Scene, X_WL: Pose, up: Array) -> Array | None:
    """Return the points (n, 3) of a shape, in the world, m, among which are its lowest ones; None if it is unreadable.

    Parameters
    ----------
    X_WL : Pose
        Link frame in the world.
    up : (3,) array
        Direction against gravity.
    """
    R, center = X_WL.R @ shape.X_LS.R, X_WL.apply(shape.X_LS.p)
    size = np.array(shape.size, dtype=float)
    if shape.kind in ("box", "sphere", "cylinder", "capsule") and not (np.isfinite(size) & (size > 0)).all():
        return None
    if shape.kind == "box":
        return np.asarray(center + (0.5 * size * _CORNERS) @ R.T)
    if shape.kind == "sphere":
        return np.asarray(center - size[0] * up)[None]
    if shape.kind in ("cylinder", "capsule"):
        ends = center + np.outer([-0.5 * size[1], 0.5 * size[1]], R[:, 2])
        return np.asarray(ends - size[0] * up) if shape.kind == "capsule" else _rims(ends, size[0], R, up)
    vertices = _vertices(shape, scene)
    return None if vertices is None else np.asarray(center + vertices @ R.T)


def _rims(ends: Array, radius: float, R: Array, up: Array) -> Array:
    """Return the lowest points (n, 3) of both rims of a cylinder; ends (2, 3) of its axis, R (3, 3), up (3,)."""
    down = -(up - (up @ R[:, 2]) * R[:, 2])
    sine = float(np.linalg.norm(down))
    if sine > _UPRIGHT:
        return np.asarray(ends + radius * down / sine)
    angles = 2 * np.pi * np.arange(_RIM) / _RIM
    rim = radius * (np.outer(np.cos(angles), R[:, 0]) + np.outer(np.sin(angles), R[:, 1]))
    return np.vstack([end + rim for end in ends])


def _vertices(shape: Shape, scene: Scene) -> Array | None:
    """Return the vertices (n, 3) of a mesh or hull in its frame, m; None if there are none."""
    if shape.points:
        return np.array(shape.points, dtype=float)
    if shape.triangles is not None and len(shape.triangles[0]):
        return np.asarray(shape.triangles[0] * np.array(shape.size))
    path = mesh_file(shape, scene.request)
    if path is None:
        return None
    try:
        vertices = np.array(read_mesh(path, shape.size).vertices, dtype=float)
    except UnusableMesh:
        return None
    return vertices if len(vertices) and np.isfinite(vertices).all() else None


def _faces(
    lowest: Mapping[str, Array], groups: Iterable[Sequence[str]], up: Array, size: float
) -> dict[str, Array]:
    """Return the points (k, 3) of each body in the lowest face of its group, from ``lowest`` (n, 3); up (3,)."""
    found: dict[str, Array] = {}
    for group in groups:
        owners = np.repeat(np.arange(len(group)), [len(lowest[name]) for name in group])
        points = np.vstack([lowest[name] for name in group])
        chosen = _face(points, up, size)
        for k, name in enumerate(group):
            if (own := chosen[owners[chosen] == k]).size:
                found[name] = points[own]
    return found


def _face(points: Array, up: Array, size: float) -> AnyArray:
    """Return the indices (k,) of at most ``_MOST`` points of the lowest face of points (n, 3); up (3,)."""
    heights = points @ up
    near = np.flatnonzero(heights <= heights.min() + _FACE * size)
    low = points[near]
    first = np.linalg.svd(up[None])[2][1:]
    flat = low @ first.T
    middle = flat.mean(axis=0)
    far = np.linalg.norm(flat - middle, axis=1)
    if 2 * far.max() <= _SMALL * size:
        return near[[int(np.argmin(far))]]
    # the two points farthest apart, then those farthest from the line between them on either side
    a = int(np.argmax(np.linalg.norm(flat - flat[int(np.argmax(far))], axis=1)))
    b = int(np.argmax(np.linalg.norm(flat - flat[a], axis=1)))
    chosen = [a, b]
    along = (flat[b] - flat[a]) / np.linalg.norm(flat[b] - flat[a])
    aside = (flat - flat[a]) @ np.array([-along[1], along[0]])
    for k in (int(np.argmax(aside)), int(np.argmin(aside))):
        if abs(aside[k]) > 0.5 * _SMALL * size:
            chosen.append(k)
    return near[list(dict.fromkeys(chosen))[:_MOST]]


def _grouped(names: Iterable[str], rigid: Mapping[str, frozenset[str]]) -> list[tuple[str, ...]]:
    """Return the names by rigid group: a leg and the toe welded to it have one lowest face."""
    groups: dict[frozenset[str], list[str]] = {}
    for name in names:
        groups.setdefault(rigid[name], []).append(name)
    return [tuple(group) for group in groups.values()]


# Contact points that a user states, compared with the shapes of both bodies.


def require_on_shapes(scene: Scene, mech: Mechanism, poses: BodyPoses, contacts: Iterable[Contact]) -> None:
    """Raise if a contact point is away from the collision shapes of a body that touches, or deep inside one.

    Bodies without collision shapes are not compared; of meshes only the convex hull is.

    Raises
    ------
    BadUsage
    """
    for contact in contacts:
        point = poses.of(mech.body_index[contact.body]).apply(contact.point)
        for name in (contact.body, contact.on):
            shapes = [shape for shape in scene.shapes.get(name, ()) if shape.role == "collision"]
            if name not in mech.body_index or mech.body_index[name] < 0 or not shapes:
                continue
            local = poses.of(mech.body_index[name]).inverse().apply(point)
            found = [one for shape in shapes if (one := _depth(shape, scene, local)) is not None]
            if len(found) < len(shapes):
                continue
            away = min(distance for distance, _ in found)
            limit = max(_OFF * max(size for _, size in found), _OFF_AT_LEAST)
            if abs(away) > limit:
                how = f"{away:.3g} m away from" if away > 0 else f"{-away:.3g} m inside"
                raise BadUsage(
                    f"the point of contact {contact.name!r} is {how} the collision shapes of {name!r}",
                    expected=f"a point on its surface, within {limit:.2g} m",
                )


def _depth(shape: Shape, scene: Scene, point: Array) -> tuple[float, float] | None:
    """Return the distance of a point (3,) of the link frame from a shape, negative inside, and the shape's size, m.

    None for a shape without a surface that is known. A point inside a mesh has the distance 0.
    """
    p, size = shape.X_LS.inverse().apply(point), np.array(shape.size, dtype=float)
    if shape.kind == "sphere":
        return float(np.linalg.norm(p) - size[0]), 2 * float(size[0])
    if shape.kind == "box":
        q = np.abs(p) - 0.5 * size
        return _outside(q), float(np.linalg.norm(size))
    if shape.kind == "cylinder":
        q = np.array([np.hypot(p[0], p[1]) - size[0], abs(p[2]) - 0.5 * size[1]])
        return _outside(q), float(np.hypot(2 * size[0], size[1]))
    if shape.kind == "capsule":
        on_axis = np.array([0.0, 0.0, np.clip(p[2], -0.5 * size[1], 0.5 * size[1])])
        return float(np.linalg.norm(p - on_axis) - size[0]), float(2 * size[0] + size[1])
    vertices = _vertices(shape, scene) if shape.kind in ("mesh", "hull") else None
    if vertices is None:
        return None
    from scipy.spatial import ConvexHull, QhullError

    try:
        planes = ConvexHull(vertices).equations
    except (QhullError, ValueError):
        return None
    return max(0.0, float((planes[:, :3] @ p + planes[:, 3]).max())), float(
        np.linalg.norm(np.ptp(vertices, axis=0))
    )


def _outside(q: Array) -> float:
    """Return the distance from a box whose sides are passed by q (n,), negative inside."""
    return float(np.linalg.norm(np.maximum(q, 0.0)) + min(float(q.max()), 0.0))
