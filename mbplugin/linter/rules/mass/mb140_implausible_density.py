"""The mass of a link and the volume of its shape give an impossible density.

What it does
------------
Divides the mass of a link by the volume of its collision shape, else of its visual one, and lists links
below 5 or above 25 000 kg/m³. Where a link has both kinds of shapes, both must say so. Shapes below 2
cm³, which mark a place, and links with less than 1 % of the mass that they are fixed to are omitted.
Meshes that are not closed count as their convex hull.

Why it matters
--------------
Expanded polystyrene has 15 kg/m³ and platinum 21 450 kg/m³. Frequent causes are grams written as
kilograms, a default mass of 1 kg, and a mesh in another unit. All forces and stopping distances scale
with the mass.

Example
-------
``<mass value="350"/>`` for a finger of 0.35 kg.

Remedy
------
Correct the mass, in kg, or the size of the shape, in metres.

References
----------
Densities: platinum 21 450 kg/m³, expanded polystyrene 15 kg/m³.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.shapes.mesh_units import meshes_in_another_unit
from mbplugin.linter.checks.shapes.shape_inertia import solid_of
from mbplugin.linter.checks.shapes.shape_places import box_volume
from mbplugin.linter.files.places import body_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.mechanism.rigid import rigid_groups
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"
#: kg/m³; many models of MuJoCo state a density of 5, from which the quotient differs by rounding.
_LEAST, _MOST = 5.0 * (1 - 1e-6), 25_000.0
#: A mesh fills a tenth of the box around it or more, so up to this density of the box it is possible, kg/m³.
_BOXED = 0.1 * _MOST
#: Smaller shapes only mark a place, m³.
_MARKER = 2e-6
#: A link with less than this part of the mass of all that is fixed together is there for its looks.
_NEGLIGIBLE = 0.01
#: A link that carries others has less than this part only where a program wants some mass of every link.
_DUMMY = 1e-5


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    found: list[Instance] = []
    densities: dict[str, float] = {}
    # the shape is wrong there, not the mass
    omitted = {odd.mesh.link for odd in meshes_in_another_unit(scene)} | _carried(scene.mechanism)
    for body in scene.mechanism.bodies:
        density = _density(scene, body) if body.mass > 0 and body.name not in omitted else None
        if density is not None and not _LEAST <= density <= _MOST:
            densities[body.name] = density
            place = body_place(scene, body.name, "mass", "inertial")
            shown = f"{body.name!r} {body.mass:.4g} kg, {density:.3g} kg/m³"
            found.append(Instance(body.name, place, shown))
    yield from joined_finding(
        __name__,
        SEVERITY,
        found,
        "mass and volume of links do not fit together",
        help="correct the mass, in kg, or the size of the shape, in metres",
        evidence={"densities_kg_m3": densities},
    )


def _carried(mech: Mechanism) -> set[str]:
    """Return the links whose mass is negligible against that of all to which fixed pairs tie them."""
    fixed = {pair.body_b for pair in mech.pairs if pair.type == "fixed" and not pair.closure}
    group = rigid_groups(mech)
    mass = {body.name: body.mass for body in mech.bodies}
    total = {name: sum(mass.get(other, 0.0) for other in group[name]) for name in mass}
    return {name for name in mass if mass[name] < (_NEGLIGIBLE if name in fixed else _DUMMY) * total[name]}


def _density(scene: Scene, body: Body) -> float | None:
    """Return the density that is nearest to a possible one among the kinds of shapes, kg/m³.

    None where a shape is unknown, or one is as small as a marker.
    """
    densities = []
    for role in ("collision", "visual"):
        shapes = [shape for shape in scene.shapes.get(body.name, ()) if shape.role == role]
        box = box_volume(scene, body.name, shapes)
        if not box:
            continue
        if _LEAST <= body.mass / box <= _BOXED:
            return None
        solid = solid_of(shapes, scene.request)
        if solid is None or solid.volume < _MARKER or _LEAST <= body.mass / solid.volume <= _MOST:
            return None
        densities.append(body.mass / solid.volume)
    return densities[-1] if densities else None
