"""The inertia of a link is far from that of its shape.

What it does
------------
Assumes that the link's collision shapes (else the visual ones) are solid, with uniform density and the stated
mass. Reports a principal moment that differs by more than a factor of 10, and a centre of mass that
lies outside the shape's bounding box by more than the size of the box. Meshes that cannot be read, and
inertias that another rule reports, are skipped. All links of a file are one finding for each of the two.

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
Moments of inertia of box, ball, cylinder and capsule in closed form; of meshes as sums over their triangles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.extent import extents
from mbplugin.linter.checks.inertia import placeholder, possible, principal_moments
from mbplugin.linter.checks.shapes.shape_inertia import Solid, solid_of
from mbplugin.linter.files.places import body_place, counted, listed
from mbplugin.linter.finding import ELEMENTS, Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.mechanism import Body
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import AnyArray

SEVERITY: Severity = "note"
_FACTOR = 10.0
#: Decades of a ratio that a number holds.
_LARGEST = 300.0
_HELP = "compare the units and the reference point with the system it was exported from"


@dataclass(frozen=True)
class _Comparison:
    """What is stated of a link and what its shape would have; ``far`` and ``outside`` in words, or empty.

    ``near`` says that what explains the inertia may explain the centre of mass too.
    """

    body: Body
    far: str
    outside: str
    near: bool
    evidence: dict[str, Any]


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding for the moments of all links, and one for their centres of mass."""
    whole = extents(scene).whole
    found = [c for body in scene.mechanism.bodies if (c := _compared(scene, body, whole)) is not None]
    far = [comparison for comparison in found if comparison.far]
    outside = [c for c in found if c.outside and not (c.far and c.near)]
    if far:
        words = [c.far for c in far]
        yield _finding(scene, far, words, "an inertia far from that of a solid of {its} shape", "inertia")
    if outside:
        words = [c.outside for c in outside]
        yield _finding(scene, outside, words, "a centre of mass far outside {its} shape", "inertial")


def _compared(scene: Scene, body: Body, whole: float) -> _Comparison | None:
    """Return the comparison of a link with its shape; None where there is nothing to compare.

    ``whole`` is the size of the mechanism, m.
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
    far = "" if placeholder(body) else _far(stated, expected)
    return _Comparison(body, far, outside, distance <= _FACTOR * max(size, whole), evidence)


def _finding(
    scene: Scene, found: Sequence[_Comparison], words: Sequence[str], what: str, part: str
) -> Finding:
    first = found[0].body
    links = [f"{c.body.name} ({text})" for c, text in zip(found, words, strict=True)]
    has, its = ("has", "its") if len(found) == 1 else ("have", "their")
    return make_finding(
        __name__,
        SEVERITY,
        f"{counted(len(found), 'link')} {has} {what.format(its=its)}: {listed(links)}",
        element=first.name,
        origin=body_place(scene, first.name, part, "inertial"),
        evidence={
            **found[0].evidence,
            ELEMENTS: [c.body.name for c in found],
            "links": {c.body.name: c.evidence for c in found},
            "places": [str(body_place(scene, c.body.name, part, "inertial") or "") for c in found],
        },
        help=_HELP,
    )


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
