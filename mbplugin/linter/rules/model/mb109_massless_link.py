"""Links without ``<inertial>`` are taken as massless.

What it does
------------
Lists the links that have no ``<inertial>`` and are not fixed to the ground, and says which of them can
move without any mass fixed to them.

Why it matters
--------------
PyBullet gives each of them 1 kg and 1 kg·m² without a warning. Here they have no mass, and for a
motion they are combined with the bodies fixed to them; a massless body that moves by itself is
then an error.

Example
-------
``<link name="tool_frame"/>``.

Remedy
------
None, if the link only carries a frame and PyBullet is not used; otherwise write an
``<inertial>``.

References
----------
URDF: a link without ``<inertial>`` has zero mass; PyBullet's importer gives it mass.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.files.places import body_place, counted, listed
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.mechanism import WORLD
from mbplugin.model.mechanism.rigid import rigid_groups
from mbplugin.model.scene import Scene

SEVERITY: Severity = "note"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    mech = scene.mechanism
    massless = [
        body.name
        for body in mech.bodies
        if body.massless and not any(("body", body.name, p) in scene.origin for p in ("inertial", "mass"))
    ]
    group = rigid_groups(mech) if massless else {}
    moving = [name for name in massless if WORLD not in group[name]]
    if not moving:
        return
    heavy = {body.name for body in mech.bodies if body.mass > 0}
    alone = [name for name in moving if not heavy & group[name]]
    has, is_ = ("has", "is") if len(moving) == 1 else ("have", "are")
    also = f"; no mass is fixed to {listed(alone)}" if alone else ""
    yield make_finding(
        __name__,
        SEVERITY,
        f"{counted(len(moving), 'moving link')} {has} no <inertial> and {is_} taken as massless, where "
        f"PyBullet gives each 1 kg: {listed(moving)}{also}",
        element=(alone or moving)[0],
        origin=body_place(scene, (alone or moving)[0]),
        evidence={"links": moving, "without_any_mass": alone},
        help="write an <inertial> for links that have mass",
    )
