"""Contact points that a user states, compared with the bodies that touch there.

A point is compared with the collision shapes of a body; visual ones may leave out the legs of a table. A body without
collision shapes still has a size: its radius of gyration, with all that is rigidly connected to it, and the distance to
its joints. What cannot be a contact is refused: two contacts at one point, and a point that is clearly not on the
collision shapes. Smaller deviations are taken as stated, and said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.model import WORLD, AnyArray, Array, Contact, Mechanism, Scene, Shape
from mbplugin.model.mechanism.kinematics import BodyPoses, forward, rigid_groups
from mbplugin.phrases import Assumption, counted, listed
from mbplugin.readers import ModelSource, client_id, contacts_in, resting
from mbplugin.readers.meshes import UnusableMesh, mesh_file, read_mesh
from mbplugin.readers.standing import (
    ContactLike,
    Stance,
    read_contacts,
    require_free_base,
    require_stance_for,
    stance_of,
)

#: Distance of a point from the collision shapes that is accepted, relative to their size, and at least, m.
_OFF, _OFF_AT_LEAST = 0.02, 1e-3
#: A point farther from the center of mass than this many times the size of a body without shapes is said.
_FAR = 20.0
#: Two contacts of the same bodies whose points, m, and normals differ by less are one.
_SAME = 1e-9
#: A mesh with more triangles is compared by its convex hull only.
_MOST_TRIANGLES = 200_000
_NAMED = 4
#: A direction along which the points of a model have different places.
_GENERIC = np.array([0.5377, 0.7317, 0.4193])

#: Distance of a point from a shape: to its surface, and to that of its convex hull; negative inside, m.
_Distances = tuple[float, float]


def touching_scene(
    scene: Scene,
    source: ModelSource,
    q: Array,
    contacts: Iterable[ContactLike] | bool,
    stance: Iterable[str] | bool | None,
    friction: float | None,
) -> tuple[Scene, Stance | None]:
    """Add the contacts of a call to a scene: stated ones, those of a live client, and those of a stance.

    Parameters
    ----------
    scene, source : Scene and ModelSource
        The scene, and what it was read from.
    q : (nq,) array
        The closed pose.
    contacts : iterable or bool
        Contacts, or mappings with the keys of a scene's ``[[contact]]``. True takes those of a live PyBullet client,
        or requires that the scene has some.
    stance : iterable of str or bool, optional
        Links whose lowest points touch the ground, or patterns; True selects the lowest links.
    friction : float, optional
        Coefficient of friction of the stance.

    Raises
    ------
    BadUsage, UnknownName, BadNumber
        A contact is impossible or there is none, a link is unknown, or the base of a robot with a stance is fixed.
    """
    mech, poses = scene.mechanism, forward(scene.mechanism, q)
    of_engine = contacts_in(source) if contacts is True and client_id(source) is not None else ()
    stated = () if isinstance(contacts, bool) else tuple(contacts)
    if contacts is True and not (of_engine or scene.contacts or stance):
        raise BadUsage(
            f"{mech.name!r} has no contacts",
            expected="contacts as tables, a scene with them, or a live client in which bodies touch",
        )
    ground = None
    if stance:
        require_free_base(mech)
        links = None if isinstance(stance, bool) else tuple(stance)
        ground = stance_of(scene, mech, poses, links, friction)
    else:
        require_stance_for(friction)
    # one call, so that no two have one name
    standing = [replace(contact, name="") for contact in ground.contacts] if ground else []
    together = read_contacts(mech, (*scene.contacts, *stated, *of_engine, *standing))
    first = len(scene.contacts)
    compare_points(scene, mech, poses, together[first : first + len(stated)])
    if not of_engine:
        require_different(together, mech, poses)
    else:
        scene, _ = resting(source, scene)
    # an arm on feet is not bolted down
    open_base = scene.base_open and ground is None
    return replace(scene, contacts=together, base_open=open_base), ground


def compare_points(
    scene: Scene | None, mech: Mechanism, poses: BodyPoses, contacts: Sequence[Contact]
) -> tuple[str, ...]:
    """Compare contact points with the bodies that touch there, and return what is odd about them.

    Parameters
    ----------
    scene : Scene or None
        The shapes of the bodies; None if there are none.
    poses : BodyPoses
        Of ``mech``, with the bodies of the scene.

    Returns
    -------
    tuple of str
        An assumption for the points of a body that are beside its surface, or too far away to belong to it.

    Raises
    ------
    BadUsage
        A point is away from the collision shapes of a body, or deep inside them.
    """
    touching: dict[str, dict[str, Array]] = defaultdict(dict)
    for contact in contacts:
        point = poses.of(mech.body_index[contact.body]).apply(contact.point)
        for name in (contact.body, contact.on):
            if name != WORLD:
                touching[name][contact.name] = point
    notes: list[str] = []
    sizes = _Sizes(mech, poses)
    for name, points in touching.items():
        surfaces = _surfaces(scene, name) if scene is not None else []
        if surfaces:
            X_LW = poses.of(mech.body_index[name]).inverse()
            local = {contact: X_LW.apply(point) for contact, point in points.items()}
            notes.extend(_beside_shapes(name, surfaces, local))
        else:
            notes.extend(_far_away(name, points, *sizes.of(name)))
    return tuple(notes)


def _surfaces(scene: Scene, body: str) -> list[_Surface]:
    """Return the surfaces of the collision shapes of a body; empty if one of them is unknown."""
    shapes = [shape for shape in scene.shapes.get(body, ()) if shape.role == "collision"]
    found = [one for shape in shapes if (one := _surface(shape, scene)) is not None]
    return found if len(found) == len(shapes) else []


def require_different(
    contacts: Sequence[Contact],
    mech: Mechanism | None = None,
    poses: BodyPoses | None = None,
    where: Callable[[int], str] | None = None,
) -> None:
    """Raise if two contacts are the same: one point and one normal between the same bodies.

    Parameters
    ----------
    mech, poses : Mechanism and BodyPoses, optional
        A contact that is stated from the other side, of ``body_b`` on ``body_a``, is the same at these poses. Without
        them the points in the link frames are compared.
    where : callable, optional
        Returns the location of the k-th contact, for the message.

    Raises
    ------
    BadUsage
        Its location is that of the later contact.
    """
    if len(contacts) < 2:
        return
    points = np.array([c.point for c in contacts])
    normals = np.array([c.normal for c in contacts])
    bodies = [(c.body, c.on) for c in contacts]
    if mech is not None and poses is not None:
        points = np.array([poses.of(mech.body_index[c.body]).apply(c.point) for c in contacts])
        for k, pair in enumerate(bodies):
            if pair[0] > pair[1]:
                bodies[k], normals[k] = pair[::-1], -normals[k]
    number = {pair: k for k, pair in enumerate(dict.fromkeys(bodies))}
    kind = np.array([number[pair] for pair in bodies])
    # along this direction only points that are the same have the same place, in all likelihood
    order = np.lexsort((points @ _GENERIC, kind))
    first, then = order[:-1], order[1:]
    apart = np.abs(np.hstack((points[first] - points[then], normals[first] - normals[then]))).max(axis=1)
    same = np.flatnonzero((kind[first] == kind[then]) & (apart <= _SAME))
    if same.size:
        earlier, later = sorted((int(first[same[0]]), int(then[same[0]])))
        one, other = contacts[earlier], contacts[later]
        raise BadUsage(
            f"the contacts {one.name!r} and {other.name!r} of {other.body!r} on {other.on!r} are the same: "
            "they have one point and one normal",
            where=where(later) if where is not None else "",
            expected="each contact once",
        )


# Bodies with shapes.


class _Surface(NamedTuple):
    """The surface of a shape: distances of a point (3,) of the link frame from it, and the shape's size, m."""

    distances: Callable[[Array], _Distances]
    size: float
    is_mesh: bool = False


def _beside_shapes(body: str, surfaces: Sequence[_Surface], points: dict[str, Array]) -> Iterator[str]:
    """Yield a sentence on the points (3,), in the link frame, that are outside, and one on those inside of a body."""
    inside: dict[str, float] = {}
    outside: dict[str, float] = {}
    limit = max(_OFF * max(surface.size for surface in surfaces), _OFF_AT_LEAST)
    for name, point in points.items():
        found = [surface.distances(point) for surface in surfaces]
        away, of_hull = (min(distances) for distances in zip(*found, strict=True))
        # engines replace a mesh by its hull, which a mesh with a hollow does not fill: inside of it nothing is refused
        deep = min((d for s, (d, _) in zip(surfaces, found, strict=True) if not s.is_mesh), default=0.0)
        if of_hull > limit:
            raise _off(name, body, f"{of_hull:.3g} m away from", limit)
        if -deep > limit:
            raise _off(name, body, f"{-deep:.3g} m inside", limit)
        # a point on either surface is on the body
        beside = min(abs(away), abs(of_hull))
        if beside > _OFF_AT_LEAST:
            (inside if away < 0 else outside)[name] = beside
    for depths, how in ((inside, "inside"), (outside, "away from")):
        if depths:
            yield _depth_assumption(depths, f"{how} the collision shapes of {body!r}", f"{how} {body}")


def _off(contact: str, body: str, how: str, limit: float) -> BadUsage:
    return BadUsage(
        f"the point of contact {contact!r} is {how} the collision shapes of {body!r}",
        expected=f"a point on its surface, within {limit:.2g} m",
    )


def _depth_assumption(depths: dict[str, float], where: str, short: str) -> Assumption:
    """Return the assumption that points at these distances by contact, m, are contacts."""
    worst = max(depths, key=lambda name: depths[name])
    count = len(depths)
    largest = f"{1e3 * depths[worst]:.3g} mm"
    if count == 1:
        sentence = f"the point of contact {worst!r} is {largest} {where}; it is taken as stated"
        return Assumption(sentence, f"a contact {largest} {short}")
    sentence = (
        f"the points of {counted(count, 'contact')} are {where}, by up to {largest} ({worst!r}); they are taken as "
        f"stated: {listed(list(depths), _NAMED)}"
    )
    return Assumption(sentence, f"{counted(count, 'contact')} up to {largest} {short}")


def _surface(shape: Shape, scene: Scene) -> _Surface | None:
    """Return the distances of a point (3,) of the link frame from a shape, and the shape's size; None if unknown."""
    X_SL, size = shape.X_LS.inverse(), np.array(shape.size, dtype=float)
    if shape.kind in ("mesh", "hull"):
        return _mesh_surface(shape, scene)
    if shape.kind not in ("sphere", "box", "cylinder", "capsule"):
        return None

    def distance(point: Array) -> _Distances:
        p = X_SL.apply(point)
        if shape.kind == "sphere":
            away = float(np.linalg.norm(p) - size[0])
        elif shape.kind == "box":
            away = _outside(np.abs(p) - 0.5 * size)
        elif shape.kind == "cylinder":
            away = _outside(np.array([np.hypot(p[0], p[1]) - size[0], abs(p[2]) - 0.5 * size[1]]))
        else:
            on_axis = np.array([0.0, 0.0, np.clip(p[2], -0.5 * size[1], 0.5 * size[1])])
            away = float(np.linalg.norm(p - on_axis) - size[0])
        return away, away

    across = {
        "sphere": 2 * size[0],
        "box": np.linalg.norm(size),
        "cylinder": np.hypot(2 * size[0], size[-1]),
        "capsule": 2 * size[0] + size[-1],
    }
    return _Surface(distance, float(across[shape.kind]))


def _outside(q: Array) -> float:
    """Return the distance from a box whose sides are passed by q (n,), negative inside."""
    return float(np.linalg.norm(np.maximum(q, 0.0)) + min(float(q.max()), 0.0))


def _mesh_surface(shape: Shape, scene: Scene) -> _Surface | None:
    """Return the distances of a point (3,) of the link frame from a mesh or hull, and its size; None if unknown."""
    from scipy.spatial import ConvexHull, QhullError

    vertices, triangles = _mesh(shape, scene)
    if vertices is None:
        return None
    try:
        hull = ConvexHull(vertices)
    except (QhullError, ValueError):
        return None
    X_SL, planes = shape.X_LS.inverse(), hull.equations
    around = vertices[hull.simplices]
    corners = None if triangles is None or len(triangles) > _MOST_TRIANGLES else vertices[triangles]

    def distances(point: Array) -> _Distances:
        p = X_SL.apply(point)
        depth = float((planes[:, :3] @ p + planes[:, 3]).max())
        of_hull = depth if depth <= 0 else distance_from_triangles(p, around)
        if corners is None:
            return of_hull, of_hull
        away = distance_from_triangles(p, corners)
        return (-away if depth < 0 and winding(p, corners) > 0.5 else away), of_hull

    return _Surface(distances, float(np.linalg.norm(np.ptp(vertices, axis=0))), is_mesh=True)


def _mesh(shape: Shape, scene: Scene) -> tuple[Array | None, AnyArray | None]:
    """Return the vertices (n, 3) of a mesh or hull in its frame, m, and the triangles (m, 3) of a mesh."""
    if shape.points:
        return np.array(shape.points, dtype=float), None
    if shape.triangles is not None and len(shape.triangles[0]):
        return np.asarray(shape.triangles[0] * np.array(shape.size)), shape.triangles[1]
    path = mesh_file(shape, scene.request)
    if path is None:
        return None, None
    try:
        return read_mesh(path, shape.size)
    except UnusableMesh:
        return None, None


def distance_from_triangles(point: Array, corners: Array) -> float:
    """Return the distance of a point (3,) from the nearest of triangles with corners (m, 3, 3), m."""
    a, b, c = (corners[:, k] - point for k in range(3))
    normal = np.cross(b - a, c - a)
    area = np.einsum("ij,ij->i", normal, normal)
    flat = area > 0
    # over the triangle itself its plane is nearest, else an edge
    within = flat.copy()
    nearest = np.full(len(a), np.inf)
    for p, q in ((a, b), (b, c), (c, a)):
        edge = q - p
        length = np.einsum("ij,ij->i", edge, edge)
        along = np.clip(-np.einsum("ij,ij->i", p, edge) / np.where(length > 0, length, 1.0), 0.0, 1.0)
        nearest = np.minimum(nearest, np.linalg.norm(p + along[:, None] * edge, axis=1))
        within &= np.einsum("ij,ij->i", np.cross(p, q), normal) >= 0
    height = np.abs(np.einsum("ij,ij->i", a, normal)) / np.sqrt(np.where(flat, area, 1.0))
    return float(np.where(within, height, nearest).min())


def winding(point: Array, corners: Array) -> float:
    """Return the winding number of triangles with corners (m, 3, 3) about a point (3,): 1 inside a closed mesh."""
    a, b, c = (corners[:, k] - point for k in range(3))
    la, lb, lc = (np.linalg.norm(one, axis=1) for one in (a, b, c))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c))
    beside = la * lb * lc + sum(
        np.einsum("ij,ij->i", p, q) * length for p, q, length in ((a, b, lc), (b, c, la), (c, a, lb))
    )
    return abs(float(np.arctan2(volume, beside).sum())) / (2 * np.pi)


# Bodies without shapes.


def _far_away(body: str, points: dict[str, Array], center: Array, size: float) -> Iterator[str]:
    """Yield a sentence on the points (3,) that are too far from the center (3,) of a body, world, m."""
    far = {name: d for name, p in points.items() if (d := float(np.linalg.norm(p - center))) > _FAR * size}
    if not far or not size > 0:
        return
    worst = max(far, key=lambda name: far[name])
    more = f" (and {counted(len(far) - 1, 'other contact')} of it)" if len(far) > 1 else ""
    yield Assumption(
        f"the point of contact {worst!r}{more} is {far[worst]:.3g} m from the center of mass of {body!r}, "
        f"{far[worst] / size:.3g} times its size of {size:.3g} m; it is taken as stated (points are in m, in the "
        "frame of body_a)",
        f"a contact {far[worst]:.3g} m from {body}",
    )


class _Sizes:
    """Centers and sizes of bodies, each with all bodies that are rigidly connected to it."""

    def __init__(self, mech: Mechanism, poses: BodyPoses) -> None:
        self._mech, self._poses = mech, poses
        self._groups = rigid_groups(mech)
        self._joints: dict[frozenset[str], list[Array]] = defaultdict(list)
        for pair in mech.pairs:
            if self._groups[pair.body_a] is self._groups[pair.body_b]:
                continue
            for body, X in ((pair.body_a, pair.X_AP), (pair.body_b, pair.X_BS)):
                self._joints[self._groups[body]].append(poses.of(mech.body_index[body]).apply(X.p))

    def of(self, body: str) -> tuple[Array, float]:
        """Return the center of mass (3,), world, m, and the size of a body, m: zero if it is unknown.

        The size is the radius of gyration, or the distance from the center to the farthest joint if that is larger.
        """
        group = self._groups[body]
        index = [self._mech.body_index[name] for name in group if name != WORLD]
        masses = np.array([self._mech.bodies[k].mass for k in index])
        centers, total = self._poses.p_WC[index], float(masses.sum())
        center = np.asarray(masses @ centers / total if total > 0 else centers.mean(axis=0))
        moments = sum(0.5 * float(np.trace(self._mech.bodies[k].I_C)) for k in index)
        moments += float(masses @ ((centers - center) ** 2).sum(axis=1))
        gyration = float(np.sqrt(max(moments, 0.0) / total)) if total > 0 else 0.0
        return center, max([gyration, *(float(np.linalg.norm(p - center)) for p in self._joints[group])])
