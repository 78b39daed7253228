"""Densities that follow from the mass of a link and the volume of its shape, and that no material has."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from mbplugin.linter.checks.per_scene import per_scene
from mbplugin.linter.checks.shapes.mesh_units import meshes_in_another_unit
from mbplugin.linter.checks.shapes.shape_inertia import solid_of
from mbplugin.linter.checks.shapes.shape_places import box_volume
from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.mechanism.rigid import rigid_groups
from mbplugin.model.scene import Scene

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


@per_scene
def impossible_densities(scene: Scene) -> Mapping[str, float]:
    """Return the densities (kg/m³) of links that no material has, in file order."""
    # the shape is wrong there, not the mass
    omitted = {odd.mesh.link for odd in meshes_in_another_unit(scene)} | _carried(scene.mechanism)
    bodies = [body for body in scene.mechanism.bodies if body.mass > 0 and body.name not in omitted]
    densities = ((body.name, _density(scene, body)) for body in bodies)
    return MappingProxyType(
        {name: rho for name, rho in densities if rho is not None and not _LEAST <= rho <= _MOST}
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
