"""Links that move have no mass.

What it does
------------
Lists the links without ``<inertial>`` that can move and have no body with mass fixed to them. It is a note for
the root of a robot whose base nothing frees. Frames that are fixed to a mass are not listed.

Why it matters
--------------
A massless body that moves by itself has no equation of motion, and its motion cannot be simulated.
PyBullet gives each such link 1 kg and 1 kg·m² without a warning.

Example
-------
``<link name="finger"/>`` behind a prismatic joint.

Remedy
------
Write an ``<inertial>``; hold the base of a robot that is bolted down with ``--base fixed``.

References
----------
URDF: a link without ``<inertial>`` has zero mass; PyBullet's importer gives it mass.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.carried import Carriages, is_made, states_inertial
from mbplugin.linter.checks.listing import links_finding
from mbplugin.linter.files.places import counted, listed
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding for the links that move, and one for the roots."""
    stated = {body.name: states_inertial(scene, body) for body in scene.mechanism.bodies}
    without = [name for name, written in stated.items() if not written and not is_made(scene, name)]
    if not without:
        return
    carriages = Carriages(scene)
    # a zero mass that is stated is MB101, also for the frames that are fixed to the link
    own = [name for name in without if not any(stated[other] for other in carriages.together(name))]
    moving = [name for name in own if carriages.of(name) == "moving"]
    roots = [name for name in own if carriages.of(name) == "root"]
    if moving:
        yield _finding(
            scene,
            SEVERITY,
            moving,
            f"{counted(len(moving), 'link')} without mass {'moves' if len(moving) == 1 else 'move'}, and "
            f"PyBullet gives each 1 kg: {listed(moving)}",
            "write an <inertial>, or fix the link to a body with mass",
        )
    if roots:
        yield _finding(
            scene,
            "note",
            roots,
            f"{counted(len(roots), 'root link')} without mass {'is' if len(roots) == 1 else 'are'} free to "
            f"move, and PyBullet gives each 1 kg: {listed(roots)}",
            "hold the base with --base fixed, or write an <inertial>",
        )


def _finding(scene: Scene, severity: Severity, links: list[str], message: str, help: str) -> Finding:
    evidence = {"links": links, "without_any_mass": links}
    return links_finding(__name__, severity, scene, links, message, help=help, evidence=evidence)
