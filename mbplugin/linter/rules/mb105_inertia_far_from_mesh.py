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

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import links_finding
from mbplugin.linter.checks.shapes.comparison import Comparison, compared_with_shapes
from mbplugin.linter.files.places import counted, listed
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "note"
_HELP = "compare the units and the reference point with the system it was exported from"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding for the moments of all links, and one for their centres of mass."""
    found = compared_with_shapes(scene)
    far = [comparison for comparison in found if comparison.far]
    outside = [comparison for comparison in found if comparison.outside]
    if far:
        words = [c.far for c in far]
        yield _finding(scene, far, words, "an inertia far from that of a solid of {its} shape", "inertia")
    if outside:
        words = [c.outside for c in outside]
        yield _finding(scene, outside, words, "a centre of mass far outside {its} shape", "inertial")


def _finding(
    scene: Scene, found: Sequence[Comparison], words: Sequence[str], what: str, part: str
) -> Finding:
    links = [f"{c.body.name} ({text})" for c, text in zip(found, words, strict=True)]
    has, its = ("has", "its") if len(found) == 1 else ("have", "their")
    compared = {c.body.name: c.evidence for c in found}
    return links_finding(
        __name__,
        SEVERITY,
        scene,
        list(compared),
        f"{counted(len(found), 'link')} {has} {what.format(its=its)}: {listed(links)}",
        part,
        "inertial",
        help=_HELP,
        evidence={**found[0].evidence, "links": compared},
    )
