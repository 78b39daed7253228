"""The inertia of a link is not positive definite.

What it does
------------
Reports links whose inertia has a negative principal moment; they are warnings if a fixed joint connects the
link to a heavier body or to the ground. A zero moment of a link with mass is a warning if the link moves, and a
note if it is fixed to another mass or to the ground. Warnings and notes are one finding each, with all links.

Why it matters
--------------
The kinetic energy of a real body is positive in every motion. With a negative moment the mass matrix
is indefinite and a simulation diverges; Bullet sets the whole inertia to zero instead. A zero moment
is a point or a line of mass, and MuJoCo reports an error.

Example
-------
``<inertia ixx="0.1" ixy="0.5" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>``: the principal moments are
−0.4, 0.1 and 0.6 kg·m².

Remedy
------
Take the inertia from the CAD system about the centre of mass, and check the sign convention of its
products of inertia.

References
----------
URDF: ``<inertia>`` is about the centre of mass, in axes of ``<inertial><origin>``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.carried import Carriages
from mbplugin.linter.checks.listing import links_finding
from mbplugin.linter.checks.masses.inertia import negative, principal_moments, vanishing
from mbplugin.linter.files.places import counted, listed
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.mechanism import Body
from mbplugin.model.scene import Scene

SEVERITY: Severity = "error"
_HELP = "export the inertia about the centre of mass anew, and check the signs of its products"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per link that moves with a negative moment, and one for each milder kind."""
    suspects = [b for b in scene.mechanism.bodies if negative(b) or (b.mass > 0 and vanishing(b))]
    if not suspects:
        return
    carriages = Carriages(scene)
    held: list[Body] = []
    moving: list[Body] = []
    borne: list[Body] = []
    for body in suspects:
        if negative(body) and not carriages.heavier(body):
            message = f"link {body.name!r} has a negative principal moment of inertia: {_shown(body)} kg·m²"
            yield _finding(scene, SEVERITY, [body], message)
        elif negative(body):
            held.append(body)
        else:
            (borne if carriages.of(body.name) in ("grounded", "borne") else moving).append(body)
    if held:
        what = "a negative principal moment of inertia, and a heavier body or the ground fixed to it"
        yield _listed(scene, "warning", held, what)
    if moving:
        yield _listed(scene, "warning", moving, "mass, but a principal moment of inertia of zero")
    if borne:
        what = "a principal moment of inertia of zero, which is harmless where the link is fixed to a mass"
        yield _listed(scene, "note", borne, what)


def _shown(body: Body) -> str:
    return ", ".join(f"{moment:.4g}" for moment in principal_moments(body))


def _listed(scene: Scene, severity: Severity, bodies: Sequence[Body], what: str) -> Finding:
    names = [f"{body.name} ({_shown(body)} kg·m²)" for body in bodies]
    has = "has" if len(bodies) == 1 else "have"
    return _finding(scene, severity, bodies, f"{counted(len(bodies), 'link')} {has} {what}: {listed(names)}")


def _finding(scene: Scene, severity: Severity, bodies: Sequence[Body], message: str) -> Finding:
    moments = {body.name: principal_moments(body).tolist() for body in bodies}
    evidence = {
        "principal_moments_kg_m2": moments[bodies[0].name],
        "mass_kg": bodies[0].mass,
        "links": moments,
    }
    return links_finding(
        __name__,
        severity,
        scene,
        list(moments),
        message,
        "inertia",
        "inertial",
        help=_HELP,
        evidence=evidence,
    )
