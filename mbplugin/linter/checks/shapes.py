"""Mass and inertia of links: which are possible, which were copied, and how they compare with their shapes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, product
from types import MappingProxyType
from typing import Any

import numpy as np

from mbplugin.linter.checks.loops import Carriages, Extents, extents, per_scene
from mbplugin.linter.checks.meshes import Solid, extent_of_file, solid_of
from mbplugin.linter.checks.snapping import srdf_beside, urdf_documents, written_links
from mbplugin.linter.rule import body_place
from mbplugin.model import WORLD, Body, Mechanism, Node, Origin, Scene, Shape, forward, rigid_groups
from mbplugin.model.spatial import AnyArray, Array, quaternion_from_rotation
from mbplugin.phrases import dataclass, median
from mbplugin.readers.meshes import UnusableMesh, mesh_file, mesh_path, read_mesh

_WIDE, _NARROW = 2.0, 0.02
#: Largest density, kg/m³ (the densest metals have 22 600 kg/m³); and the fraction of the radius of gyration of a ball
#: of this density below which a radius is too small.
_DENSEST, _DENSE = 25_000.0, 1 / 3
_LINKS, _COPIED = 3, 1.5
#: Factors of inertias in kg·mm², g·mm², g·m² and t·m², and of one that was converted to kg·m² twice.
#: Of several that fit, the radius of gyration nearest to this share of the mechanism is taken.
_FACTORS_OF_UNITS, _USUAL = (1e-9, 1e-6, 1e-3, 1e3, 1e6), 0.25
#: A link with less than this fraction of the robot's mass only serves as a frame.
_FRAME = 1e-3
#: Below this fraction of the largest moment a difference is rounding from rotations computed here.
_ROUNDING = 1e-12
#: Below this fraction of the largest moment a difference is rounding in the file: a lamina written with six digits.
_LAMINA = 1e-6
#: Radius of gyration of a point mass, m: exporters write 1e-20 kg·m² for a zero inertia.
_POINT = 1e-6


# Radii of gyration that no body of the robot can have.
_FACTOR = 10.0
#: Allowed ratio of a moment to that of all mass in the corners of the box, since shapes omit cables and screws; and
#: the lower ratio allowed if the moment would fit when taken about the link's origin. A rod about its end has 4/3.
_CORNERS, _ABOUT_ORIGIN = 1.5, 1.2
#: Number of decades of a ratio that a float can represent.
_LARGEST = 300.0
#: Range of possible densities, kg/m³; many MuJoCo models state a density of 5, from which the quotient differs by
#: rounding.
_LEAST, _MOST = 5.0 * (1 - 1e-6), 25_000.0
#: Largest density of the bounding box that needs no further check, kg/m³: a mesh fills at least a tenth of its box.
_BOXED = 0.1 * _MOST
#: Maximum number of contact spheres under a foot; more of them are a body made of spheres.
_CONTACTS = 32
#: Smaller shapes only mark a point, m³.
_MARKER = 2e-6
#: A link below this fraction of the mass of its rigid group is only decoration.
_NEGLIGIBLE = 0.01
#: A link that carries others is below this fraction only if it has a dummy mass, which some programs require.
_DUMMY = 1e-5
#: The volume of the bounding box of a primitive shape.
_BOXES: dict[str, Callable[..., float]] = {
    "box": lambda x, y, z: x * y * z,
    "sphere": lambda r: 8 * r**3,
    "cylinder": lambda r, h: 4 * r * r * h,
    "capsule": lambda r, h: 4 * r * r * (h + 2 * r),
}
#: A mesh this many times as large as the rest is in another unit.
_LARGE = 30.0
#: A mesh is in another unit if it is smaller than this, m, and smaller than this fraction of the others.
_TINY, _SMALL = 5e-4, 0.01
_PRIMITIVES = ("box", "sphere", "cylinder", "capsule")


@per_scene
def implausible_radii(scene: Scene) -> Mapping[str, str]:
    """Return the implausible radii of gyration of links without a readable shape, in words, in file order."""
    around, repeated = extents(scene), {body.name for body in repeated_inertias(scene)}
    found: dict[str, str] = {}
    for body in scene.mechanism.bodies:
        if around.whole == 0 or not possible(body) or placeholder(body) or body.name in repeated:
            continue
        # take the roots first: with the smallest representable masses the quotient would overflow
        radius = float(np.sqrt(principal_moments(body)[-1]) / np.sqrt(body.mass))
        against = _contradiction(body, radius, around)
        if against and solid_of(scene.shapes.get(body.name, ()), scene.request) is None:
            found[body.name] = f"{radius:.3g} m, {against}"
    return MappingProxyType(found)


def fitting_factors(scene: Scene, names: Iterable[str]) -> Mapping[str, float]:
    """Return the factor by which the inertia of a link fits the robot, for links that a wrong unit would explain."""
    around, index = extents(scene), scene.mechanism.body_index
    found: dict[str, float] = {}
    for name in names:
        body = scene.mechanism.bodies[index[name]]
        radius = float(np.sqrt(principal_moments(body)[-1]) / np.sqrt(body.mass))
        fitting = {
            factor: abs(float(np.log(radius * factor**0.5 / (_USUAL * around.whole))))
            for factor in _FACTORS_OF_UNITS
            if not _contradiction(body, radius * factor**0.5, around)
        }
        if fitting:
            found[name] = min(fitting, key=lambda factor: fitting[factor])
    return MappingProxyType(found)


def _contradiction(body: Body, radius: float, around: Extents) -> str:
    """Return the size that a radius of gyration (m) contradicts, in words; empty if it is plausible."""
    if radius > _WIDE * around.whole:
        return f"the mechanism {around.whole:.3g} m"
    if radius < _NARROW * around.of(body.name):
        return f"its joints {around.of(body.name):.3g} m apart"
    ball = float(np.sqrt(0.4) * np.cbrt(3 * body.mass / (4 * np.pi * _DENSEST)))
    return f"a metal ball of {body.mass:.3g} kg {ball:.3g} m" if radius < _DENSE * ball else ""


# Inertias that were copied between links of different mass.


@per_scene
def repeated_inertias(scene: Scene) -> tuple[Body, ...]:
    """Return the bodies that share an inertia with bodies of another mass."""
    groups: dict[bytes, list[Body]] = {}
    least = _FRAME * sum(body.mass for body in scene.mechanism.bodies)
    for body in scene.mechanism.bodies:
        if body.mass > least and possible(body) and not placeholder(body):
            groups.setdefault(body.I_C.tobytes(), []).append(body)
    return tuple(body for group in groups.values() if _different(group) for body in group)


def _different(group: list[Body]) -> bool:
    masses = [body.mass for body in group]
    return len(group) >= _LINKS and max(masses) >= _COPIED * min(masses)


@lru_cache(maxsize=4096)
def principal_moments(body: Body) -> Array:
    """Return the principal moments about the centre of mass, increasing, (3,), kg·m²; cached for many rules."""
    if is_diagonal(body):
        # keep the moments as written: the triangle inequality of a thin plate depends on the last bit
        moments = np.sort(np.diag(body.I_C))
    else:
        moments = np.linalg.eigvalsh(0.5 * (body.I_C + body.I_C.T))
        moments = np.where(np.abs(moments) > _ROUNDING * np.abs(moments).max(), moments, 0.0)
    moments.setflags(write=False)
    return moments


def is_diagonal(body: Body) -> bool:
    """Return True if the principal axes of the inertia are the link's axes."""
    return not (body.I_C - np.diag(np.diag(body.I_C))).any()


def negative(body: Body) -> bool:
    """Return True if a principal moment is negative."""
    return bool(principal_moments(body)[0] < -_nothing(body))


def vanishing(body: Body) -> bool:
    """Return True if the smallest principal moment is zero."""
    return bool(abs(principal_moments(body)[0]) <= _nothing(body))


def _nothing(body: Body) -> float:
    """Return the moment up to which a body is a point mass, kg·m²."""
    return max(body.mass, 0.0) * _POINT**2


def triangle_excess(body: Body) -> float:
    """Return the excess of the largest moment over the sum of the others, kg·m²; zero if it is rounding.

    For a lamina both are equal up to the last digit in the file.
    """
    smallest, middle, largest = (float(moment) for moment in principal_moments(body))
    excess = largest - smallest - middle
    rounding = max(_LAMINA * largest, _nothing(body))
    return excess if not negative(body) and excess > rounding else 0.0


def placeholder(body: Body) -> bool:
    """Return True if the inertia is a placeholder: the identity, or ones in every entry."""
    deviations = (np.abs(body.I_C - ones).max() for ones in (np.eye(3), np.ones((3, 3))))
    return bool(min(deviations) <= _ROUNDING)


def possible(body: Body) -> bool:
    """Return True if mass and inertia are physically possible."""
    return body.mass > 0 and not (negative(body) or vanishing(body) or triangle_excess(body))


@dataclass(frozen=True, eq=False)
class Comparison:
    """Comparison of a link's mass properties with those of its shape; ``far`` and ``outside`` in words, or empty."""

    body: Body
    far: str
    outside: str
    evidence: dict[str, Any]


@per_scene
def compared_with_shapes(scene: Scene) -> tuple[Comparison, ...]:
    """Return the comparisons of all movable links with a shape; the inertia of grounded links does not matter."""
    held = Carriages(scene)
    suspects = {odd.mesh.link for odd in meshes_in_another_unit(scene)}
    suspects |= {body.name for body in repeated_inertias(scene)} | set(impossible_densities(scene))
    whole = extents(scene).whole
    found = (
        _comparison(scene, body, suspects, whole)
        for body in scene.mechanism.bodies
        if held.of(body.name) != "grounded"
    )
    return tuple(comparison for comparison in found if comparison is not None)


def _comparison(scene: Scene, body: Body, suspects: Collection[str], whole: float) -> Comparison | None:
    """Return the comparison of a link with its shape; None if there is nothing to compare.

    The inertia of ``suspects`` is not compared, since another rule reports them. If the inertia is wrong or
    explained, the centre of mass is reported only if it is far outside the mechanism, whose size is ``whole``, m.
    """
    if not possible(body) or body.name not in scene.shapes or body.name in _partly_read(scene):
        return None
    solid = solid_of(scene.shapes[body.name], scene.request)
    if solid is None:
        return None
    stated = principal_moments(body)
    expected = np.linalg.eigvalsh(solid.inertia) * body.mass / solid.volume
    if expected[0] <= 0:
        # the shape is so thin that a moment is lost to rounding
        return None
    # from the bounding box to the centre of mass
    beyond = np.maximum(np.maximum(solid.lower - body.p_LC, body.p_LC - solid.upper), 0.0)
    distance, size = float(np.linalg.norm(beyond)), float(np.linalg.norm(solid.upper - solid.lower))
    outside = f"{distance:.3g} m outside a shape of {size:.3g} m" if distance > size else ""
    evidence = {
        "principal_moments_kg_m2": stated.tolist(),
        "of_the_shape_kg_m2": expected.tolist(),
        "center_outside_m": distance,
        "shape_size_m": size,
    }
    # other rules report placeholder inertias, but the centre of mass may still be meaningful
    explained = placeholder(body) or body.name in suspects
    far = "" if explained else _far(stated, expected) or _beyond(body, scene)
    near = distance <= _FACTOR * max(size, whole)
    if near and (far or explained):
        outside = ""
    return Comparison(body, far, outside, evidence)


def _far(stated: AnyArray, expected: AnyArray) -> str:
    """Return the worst of the moments in words; empty if all are close enough.

    ``stated`` and ``expected`` (3,) are principal moments, kg·m².
    """
    # the ratio itself may overflow
    decades = np.log10(stated) - np.log10(expected)
    k = int(np.argmax(np.abs(decades)))
    size = float(abs(decades[k]))
    if size <= np.log10(_FACTOR):
        return ""
    ratio = f"{10**size:.3g}" if size < _LARGEST else f"1e{size:.0f}"
    how = f"{ratio} times" if decades[k] > 0 else f"1/{ratio} of"
    return f"{stated[k]:.3g} kg·m², {how} {expected[k]:.3g}"


def _beyond(body: Body, scene: Scene) -> str:
    """Return a phrase about a moment larger than that of all mass in the corners of the box; else empty.

    About an axis of the link, no mass distribution within the bounding box of its shapes has a larger moment.
    """
    shapes = scene.shapes[body.name]
    lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
    for role in ("collision", "visual"):
        # visual meshes are large and usually not needed, so they come last
        if (solid := solid_of([shape for shape in shapes if shape.role == role], scene.request)) is not None:
            lower, upper = np.minimum(lower, solid.lower), np.maximum(upper, solid.upper)
            # the moments of a box with all mass in its corners
            x, y, z = np.square((upper - lower) / 2)
            largest = body.mass * np.array([y + z, x + z, x + y])
            if (np.diag(body.I_C) <= _ABOUT_ORIGIN * largest).all():
                return ""
    with np.errstate(divide="ignore", over="ignore"):
        k = int(np.argmax(np.diag(body.I_C) / largest))
    shown = f"i{'xyz'[k] * 2} {body.I_C[k, k]:.3g} kg·m², at most {largest[k]:.3g} in its shape"
    d = body.p_LC
    moved = replace(body, I_C=body.I_C - body.mass * (d @ d * np.eye(3) - np.outer(d, d)))
    fits = d.any() and possible(moved) and (np.diag(moved.I_C) <= largest).all()
    if fits:
        return f"{shown}: about its origin?"
    return shown if body.I_C[k, k] > _CORNERS * largest[k] else ""


# Impossible densities, computed from the mass of a link and the volume of its shape.


@per_scene
def impossible_densities(scene: Scene) -> Mapping[str, float]:
    """Return the impossible densities (kg/m³) of links, in file order."""
    # for meshes in another unit the shape is wrong, not the mass
    omitted = {odd.mesh.link for odd in meshes_in_another_unit(scene)} | _carried(scene.mechanism)
    omitted |= _partly_read(scene)
    bodies = [body for body in scene.mechanism.bodies if body.mass > 0 and body.name not in omitted]
    densities = ((body.name, _density(scene, body)) for body in bodies)
    return MappingProxyType(
        {name: rho for name, rho in densities if rho is not None and not _LEAST <= rho <= _MOST}
    )


def _partly_read(scene: Scene) -> set[str]:
    """Return the links with a shape that the reader left out, such as an ellipsoid of MJCF."""
    geoms = (defect for defect in scene.defects if defect.code == "MB113" and "links" in defect.evidence)
    return {str(name) for defect in geoms for name in defect.evidence["links"]}


def _carried(mech: Mechanism) -> set[str]:
    """Return the links whose mass is negligible relative to that of their rigid group."""
    fixed = {pair.body_b for pair in mech.pairs if pair.type == "fixed" and not pair.closure}
    group = rigid_groups(mech)
    mass = {body.name: body.mass for body in mech.bodies}
    total = {name: sum(mass.get(other, 0.0) for other in group[name]) for name in mass}
    return {name for name in mass if mass[name] < (_NEGLIGIBLE if name in fixed else _DUMMY) * total[name]}


def _density(scene: Scene, body: Body) -> float | None:
    """Return the impossible density of a link, kg/m³, from its visual shapes if they give one, else collision shapes.

    None if the density for either kind of shapes is possible, or if a shape is unknown or as small as a marker.
    """
    densities = []
    for role in ("collision", "visual"):
        shapes = [shape for shape in scene.shapes.get(body.name, ()) if shape.role == role]
        box = box_volume(scene, body.name, shapes)
        if not box or _are_contact_points(shapes):
            continue
        if _LEAST <= body.mass / box <= _BOXED:
            return None
        solid = solid_of(shapes, scene.request)
        if solid is None or solid.volume < _MARKER or _LEAST <= body.mass / solid.volume <= _MOST:
            return None
        densities.append(body.mass / solid.volume)
    return densities[-1] if densities else None


def _are_contact_points(shapes: Sequence[Shape]) -> bool:
    """Return True if shapes are separate spheres, as under a foot, which only mark contact points."""
    if not 2 <= len(shapes) <= _CONTACTS or any(shape.kind != "sphere" for shape in shapes):
        return False
    return all(
        np.linalg.norm(a.X_LS.p - b.X_LS.p) > abs(a.size[0]) + abs(b.size[0])
        for a, b in combinations(shapes, 2)
    )


# The meshes of links, each with its location in the file.


@dataclass(frozen=True)
class ShownMesh:
    """A mesh of a link, with its location in the model file, its shape (with scale), and the path of the mesh file.

    The path is None if the file is not found.
    """

    link: str
    origin: Origin | None
    shape: Shape
    path: str | None


def written_solids(link: Node) -> Iterator[Node]:
    """Yield the elements inside ``<geometry>`` of a link."""
    for shape in link.children("visual", "collision"):
        for geometry in shape.children("geometry"):
            yield from geometry.children()


# cached, because finding a file takes longer than reading its size
@per_scene
def shown_meshes(scene: Scene) -> tuple[ShownMesh, ...]:
    """Return the meshes of a scene, each file once for each link and scale."""
    return tuple(_shown(scene))


def _shown(scene: Scene) -> Iterator[ShownMesh]:
    places = {
        (link.name, solid.get("filename")): solid.origin
        for link in written_links(scene)
        for solid in written_solids(link)
        if solid.tag == "mesh"
    }
    paths: dict[tuple[str, str], str | None] = {}
    for link, shapes in scene.shapes.items():
        seen = set()
        for shape in shapes:
            if shape.kind == "mesh" and shape.mesh and (shape.mesh, shape.size) not in seen:
                seen.add((shape.mesh, shape.size))
                place = places.get((link, shape.mesh)) or body_place(scene, link)
                key = (shape.mesh, shape.beside)
                if key not in paths:
                    paths[key] = mesh_path(shape, scene.request)
                yield ShownMesh(link, place, shape, paths[key])


def box_volume(scene: Scene, link: str, shapes: Sequence[Shape]) -> float | None:
    """Return the total volume of the bounding boxes of shapes of a link, m³.

    None if a size is unknown without reading more than vertices, or if there are no shapes.
    """
    paths = {(m.shape.mesh, m.shape.size): m.path for m in shown_meshes(scene) if m.link == link}
    total = 0.0
    for shape in shapes:
        if shape.kind == "mesh":
            path = paths.get((shape.mesh, shape.size))
            edges = None if path is None else extent_of_file(path)
            if edges is None or len(shape.size) != 3:
                return None
            total += abs(float(np.prod(edges * np.array(shape.size))))
        elif shape.kind in _BOXES:
            total += abs(_BOXES[shape.kind](*shape.size))
        else:
            return None
    return total if shapes else None


# Meshes whose size does not fit the rest of the robot.


@dataclass(frozen=True)
class OddMesh:
    """A mesh, the diagonal of its bounding box, and the size of the rest of the robot, m."""

    mesh: ShownMesh
    size: float
    around: float


@per_scene
def meshes_in_another_unit(scene: Scene) -> tuple[OddMesh, ...]:
    """Return the meshes that are far too large or too small."""
    return tuple(_odd(scene))


def _odd(scene: Scene) -> Iterator[OddMesh]:
    sizes = [(mesh, size) for mesh in shown_meshes(scene) if (size := _size(mesh))]
    if not sizes:
        return
    # planes have no size
    shapes = [shape for own in scene.shapes.values() for shape in own if shape.kind != "mesh"]
    largest = max((max(map(abs, shape.size), default=0.0) for shape in shapes), default=0.0)
    known = max(extents(scene).whole, largest)
    for mesh, size in sizes:
        others = [other for m, other in sizes if m.shape.mesh != mesh.shape.mesh]
        around = max(known, median(others) if others else 0.0)
        large = around > 0 and size > _LARGE * around
        tiny = size < _TINY and size < _SMALL * (median(others) if others else known)
        if large or tiny:
            yield OddMesh(mesh, size, around)


def _size(mesh: ShownMesh) -> float:
    """Return the diagonal of the bounding box of a scaled mesh, m; 0 if unknown."""
    edges = None if mesh.path is None else extent_of_file(mesh.path)
    scale = np.array(mesh.shape.size)
    if edges is None or scale.shape != (3,) or not scale.all():
        return 0.0
    # the diagonal of edges of 1e200 m overflows to infinity, which is too large anyway
    with np.errstate(over="ignore"):
        return float(np.linalg.norm(edges * scale))


# Links with overlapping collision shapes, for engines with convex collision shapes.


@dataclass(frozen=True)
class Overlap:
    """Two overlapping links, and the penetration depth, m."""

    link_a: str
    link_b: str
    depth: float


def overlaps(scene: Scene, q: Array) -> Iterator[Overlap]:
    """Yield the pairs of links that overlap at coordinates q (nq,).

    Skipped are links connected by a joint, links of the same rigid group, and pairs disabled in an SRDF.
    """
    from mbplugin.bullet import Solid, overlap_depths

    poses, index = forward(scene.mechanism, q), scene.mechanism.body_index
    owners: list[str] = []
    solids: list[Solid] = []
    boxes: list[Array] = []
    for link, shapes in scene.shapes.items():
        for shape in shapes if link in index else ():
            points = _points(shape, scene) if shape.role == "collision" else None
            if points is None:
                continue
            X_WS = poses.of(index[link]) @ shape.X_LS
            kind = shape.kind if shape.kind in _PRIMITIVES else "hull"
            vertices = tuple(map(tuple, points.tolist())) if kind == "hull" else ()
            turn = tuple(quaternion_from_rotation(X_WS.R).tolist())
            solids.append(Solid(kind, shape.size, vertices, tuple(X_WS.p.tolist()), turn))
            owners.append(link)
            placed = points @ X_WS.R.T + X_WS.p
            boxes.append(np.array([placed.min(axis=0), placed.max(axis=0)]))
    passed = _passed_over(scene)
    pairs = [
        (i, j)
        for i, j in combinations(range(len(solids)), 2)
        if frozenset((owners[i], owners[j])) not in passed and owners[i] != owners[j]
        if np.all(boxes[i][0] <= boxes[j][1]) and np.all(boxes[j][0] <= boxes[i][1])
    ]
    deepest: dict[tuple[str, str], float] = {}
    for (i, j), depth in zip(pairs, overlap_depths(solids, pairs) if pairs else (), strict=True):
        key = (owners[i], owners[j])
        deepest[key] = max(depth, deepest.get(key, 0.0))
    yield from (Overlap(a, b, depth) for (a, b), depth in deepest.items())


def _points(shape: Shape, scene: Scene) -> Array | None:
    """Return points (n, 3) of a shape in its local axes whose hull contains it; None if unknown."""
    if shape.kind in _PRIMITIVES:
        if not all(0 < length < np.inf for length in shape.size):
            return None
        if shape.kind == "box":
            half = np.array(shape.size) / 2
        else:
            radius, length = shape.size[0], shape.size[1] if len(shape.size) > 1 else 0.0
            reach = length / 2 if shape.kind == "cylinder" else radius + length / 2
            half = np.array([radius, radius, reach])
        corners = np.array(list(product((-1.0, 1.0), repeat=3)))
        return np.asarray(half * corners)
    path = mesh_file(shape, scene.request) if shape.kind == "mesh" else None
    try:
        return None if path is None else _hull(read_mesh(path, shape.size)[0])
    except UnusableMesh:
        return None


def _hull(points: Array) -> Array | None:
    """Return the corners (k, 3) of the convex hull of points (n, 3); None if they span no volume."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return np.asarray(points[ConvexHull(points).vertices], dtype=float)
    except (QhullError, ValueError):
        return None


def _passed_over(scene: Scene) -> set[frozenset[str]]:
    group = rigid_groups(scene.mechanism)
    joined = {
        frozenset((a, b))
        for pair in scene.mechanism.pairs
        for a in group[pair.body_a]
        for b in group[pair.body_b]
    }
    rigid = {frozenset((a, b)) for members in set(group.values()) for a, b in combinations(members, 2)}
    return {pair for pair in joined | rigid if WORLD not in pair} | set(_disabled(scene))


def _disabled(scene: Scene) -> Iterator[frozenset[str]]:
    for document in urdf_documents(scene):
        srdf = srdf_beside(document, scene)
        for element in srdf.root.children("disable_collisions") if srdf is not None else ():
            yield frozenset(document.prefix + element.get(end) for end in ("link1", "link2"))
