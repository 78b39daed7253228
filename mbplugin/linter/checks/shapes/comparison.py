"""Mass and inertia of links against those of solids of their shapes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from mbplugin.linter.checks.carried import Carriages
from mbplugin.linter.checks.extent import extents
from mbplugin.linter.checks.masses.inertia import placeholder, possible, principal_moments
from mbplugin.linter.checks.masses.repeated_inertia import repeated_inertias
from mbplugin.linter.checks.per_scene import per_scene
from mbplugin.linter.checks.shapes.density import impossible_densities
from mbplugin.linter.checks.shapes.mesh_units import meshes_in_another_unit
from mbplugin.linter.checks.shapes.shape_inertia import Solid, solid_of
from mbplugin.model.mechanism import Body
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import AnyArray

_FACTOR = 10.0
#: Decades of a ratio that a number holds.
_LARGEST = 300.0


@dataclass(frozen=True, eq=False)
class Comparison:
    """What is stated of a link and what its shape would have; ``far`` and ``outside`` in words, or empty."""

    body: Body
    far: str
    outside: str
    evidence: dict[str, Any]


@per_scene
def compared_with_shapes(scene: Scene) -> tuple[Comparison, ...]:
    """Return the comparisons of all links that have a shape and can move: the ground carries any inertia."""
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
    """Return the comparison of a link with its shape; None where there is nothing to compare.

    What another rule reports of a ``suspect`` is not compared, and what explains an inertia may explain a
    centre of mass too, unless that is far outside of the mechanism, whose size is ``whole``, m.
    """
    if not possible(body) or body.name not in scene.shapes:
        return None
    solid = solid_of(scene.shapes[body.name], scene.request)
    if solid is None:
        return None
    stated = principal_moments(body)
    expected = np.linalg.eigvalsh(solid.inertia) * body.mass / solid.volume
    if expected[0] <= 0:
        # a shape so thin that rounding has eaten a moment says nothing
        return None
    distance, size = _outside(body, solid), float(np.linalg.norm(solid.upper - solid.lower))
    outside = f"{distance:.3g} m outside a shape of {size:.3g} m" if distance > size else ""
    evidence = {
        "principal_moments_kg_m2": stated.tolist(),
        "of_the_shape_kg_m2": expected.tolist(),
        "center_outside_m": distance,
        "shape_size_m": size,
    }
    # another rule names inertias that nobody has measured; a centre of mass is stated all the same
    explained = placeholder(body) or body.name in suspects
    far = "" if explained else _far(stated, expected)
    near = distance <= _FACTOR * max(size, whole)
    if near and (far or explained):
        outside = ""
    return Comparison(body, far, outside, evidence)


def _far(stated: AnyArray, expected: AnyArray) -> str:
    """Return the worst of the moments in words, or nothing where all are near enough.

    ``stated`` and ``expected`` (3,) are principal moments, kg·m².
    """
    # the ratio itself may be beyond the largest number
    decades = np.log10(stated) - np.log10(expected)
    k = int(np.argmax(np.abs(decades)))
    size = float(abs(decades[k]))
    if size <= np.log10(_FACTOR):
        return ""
    ratio = f"{10**size:.3g}" if size < _LARGEST else f"1e{size:.0f}"
    how = f"{ratio} times" if decades[k] > 0 else f"1/{ratio} of"
    return f"{stated[k]:.3g} kg·m², {how} {expected[k]:.3g}"


def _outside(body: Body, solid: Solid) -> float:
    """Return the distance of the centre of mass from the bounding box, m."""
    beyond = np.maximum(np.maximum(solid.lower - body.p_LC, body.p_LC - solid.upper), 0.0)
    return float(np.linalg.norm(beyond))
