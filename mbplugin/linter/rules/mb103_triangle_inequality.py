"""The principal moments of a link violate the triangle inequality.

What it does
------------
Reports links whose largest principal moment of inertia exceeds the sum of the other two by more than 1e-6 of
itself. Links that are fixed to a heavier body or to the ground are one warning.

Why it matters
--------------
No distribution of mass has such an inertia. Bullet sets the inertia of the link to zero ("Bad inertia
tensor properties"), and its mass matrix then has an error of several percent.

Example
-------
``<inertia ixx="0.01" iyy="0.01" izz="0.05" …/>``: 0.05 > 0.01 + 0.01.

Remedy
------
Take the inertia from the CAD system about the centre of mass; if only the last digit is wrong, write
more digits.

References
----------
Bullet, ``BulletURDFImporter::getMassAndInertia``, which compares without a tolerance: it also zeroes a lamina
whose moments are rounded in the last digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.carried import Carriages
from mbplugin.linter.checks.listing import links_finding
from mbplugin.linter.checks.masses.inertia import principal_moments, triangle_excess
from mbplugin.linter.files.places import counted, listed
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.mechanism import Body
from mbplugin.model.scene import Scene

SEVERITY: Severity = "error"
_HELP = "export the inertia about the centre of mass anew; Bullet sets this one to zero"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per link, and one for all links that are fixed to a heavier body."""
    suspects = [body for body in scene.mechanism.bodies if triangle_excess(body)]
    if not suspects:
        return
    carriages = Carriages(scene)
    held = [body for body in suspects if carriages.heavier(body)]
    for body in suspects:
        if body not in held:
            yield _finding(scene, SEVERITY, [body], f"no body has the inertia of link {_shown(body)}")
    if held:
        links = f"{counted(len(held), 'link')} that {'is' if len(held) == 1 else 'are'}"
        message = f"no body has the inertia of {links} fixed to a heavier body or to the ground: " + listed(
            [_shown(body) for body in held], 3
        )
        yield _finding(scene, "warning", held, message)


def _shown(body: Body) -> str:
    a, b, c = (float(moment) for moment in principal_moments(body))
    return f"{body.name!r}: {c:.4g} exceeds {a:.4g} + {b:.4g} kg·m² by {triangle_excess(body):.2g}"


def _finding(scene: Scene, severity: Severity, bodies: Sequence[Body], message: str) -> Finding:
    excess = {body.name: triangle_excess(body) for body in bodies}
    evidence = {
        "principal_moments_kg_m2": principal_moments(bodies[0]).tolist(),
        "excess_kg_m2": excess[bodies[0].name],
        "links": excess,
    }
    return links_finding(
        __name__, severity, scene, list(excess), message, "inertia", "inertial", help=_HELP, evidence=evidence
    )
