"""The inertia of a link is far from that of its shape.

What it does
------------
Assumes that the link's collision shapes (else the visual ones) are solid, with uniform density and the stated
mass. Reports a principal moment that differs by more than a factor of 10, and a centre of mass that
lies outside the shape's bounding box by more than the size of the box. Meshes that cannot be read, and
inertias that another rule reports, are skipped.

Why it matters
--------------
Frequent causes are millimetres read as metres, an inertia about the wrong point, or a missing digit.

Example
-------
A box of 0.1 m and 1 kg with ``ixx="1.67"`` instead of ``0.00167``.

Remedy
------
Compare units and reference point with the CAD system; the inertia of a hollow link differs as well, but by less.

References
----------
Moments of inertia of box, ball, cylinder and capsule in closed form; of meshes by trimesh.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.inertia import placeholder, possible, principal_moments
from mbplugin.linter.checks.shape_inertia import Solid, solid_of
from mbplugin.linter.files.places import body_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.mechanism import Body
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import AnyArray

SEVERITY: Severity = "note"
_FACTOR = 10.0
#: Decades of a ratio that a number holds.
_LARGEST = 300.0


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per link."""
    for body in scene.mechanism.bodies:
        if not possible(body) or placeholder(body) or body.name not in scene.shapes:
            continue
        solid = solid_of(scene.shapes[body.name], scene.request)
        if solid is None:
            continue
        stated = principal_moments(body)
        expected = np.linalg.eigvalsh(solid.inertia) * body.mass / solid.volume
        if expected[0] <= 0:
            # a shape so thin that rounding has eaten a moment says nothing
            continue
        outside = _outside(body, solid)
        size = float(np.linalg.norm(solid.upper - solid.lower))
        far = _far(stated, expected)
        if not far and outside <= size:
            continue
        yield make_finding(
            __name__,
            SEVERITY,
            f"the inertia of link {body.name!r} is far from its shape's: {far}"
            if far
            else f"the centre of mass of link {body.name!r} lies {outside:.3g} m outside its shape, "
            f"which is {size:.3g} m in size",
            element=body.name,
            origin=body_place(scene, body.name, "inertia" if far else "inertial", "inertial"),
            evidence={
                "principal_moments_kg_m2": stated.tolist(),
                "of_the_shape_kg_m2": expected.tolist(),
                "center_outside_m": outside,
                "shape_size_m": size,
            },
            help="compare the units and the reference point with the system it was exported from",
        )


def _far(stated: AnyArray, expected: AnyArray) -> str:
    """Return the worst of the moments in words, or nothing where all are near enough."""
    # the ratio itself may be beyond the largest number
    decades = np.log10(stated) - np.log10(expected)
    k = int(np.argmax(np.abs(decades)))
    size = float(abs(decades[k]))
    if size <= np.log10(_FACTOR):
        return ""
    ratio = f"{10**size:.3g}" if size < _LARGEST else f"1e{size:.0f}"
    how = f"{ratio} times" if decades[k] > 0 else f"1/{ratio} of"
    return f"a principal moment is {stated[k]:.4g} kg·m², {how} the {expected[k]:.4g} kg·m² of a solid"


def _outside(body: Body, solid: Solid) -> float:
    """Return the distance of the centre of mass from the bounding box, m."""
    beyond = np.maximum(np.maximum(solid.lower - body.p_LC, body.p_LC - solid.upper), 0.0)
    return float(np.linalg.norm(beyond))
