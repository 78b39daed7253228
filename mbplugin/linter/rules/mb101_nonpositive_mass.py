"""A link states a mass that is zero or negative.

What it does
------------
Reports negative masses, and zero masses of links that have an ``<inertial>``. A zero mass is a warning if the
link moves, and a note if a fixed joint connects it to a mass or to the ground, or if it is the root and
nothing states a free base.

Why it matters
--------------
A body of negative mass gains energy. A body without mass that can move has no equation of motion: the mass
matrix is singular, and engines replace the mass or return infinite accelerations.

Example
-------
``<inertial><mass value="-1"/>…``.

Remedy
------
Write the mass in kg; leave ``<inertial>`` out of links that only carry a frame.

References
----------
URDF: ``<inertial>``; PyBullet reads a root link of zero mass as fixed to the ground.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.carried import Carriage, Carriages, is_made, states_inertial
from mbplugin.linter.checks.listing import links_finding
from mbplugin.linter.files.places import body_place, counted, listed
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.mechanism import Body
from mbplugin.model.scene import Scene

SEVERITY: Severity = "error"
_HELP = "write the mass in kg, or leave <inertial> out of a link that only carries a frame"
#: What a zero mass means, by how the link is held.
_MEANING: dict[Carriage, tuple[Severity, str]] = {
    "moving": ("warning", " and {moves}, so a motion cannot be computed"),
    "root": ("note", "; PyBullet holds such a root fixed, here it is free unless the base is"),
    "borne": ("note", ", which is harmless where the link is fixed to its neighbour"),
    "grounded": ("note", ", which is harmless where the link is fixed to its neighbour"),
}


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per negative mass, and one for all zero masses of each kind."""
    stated = [b for b in scene.mechanism.bodies if b.mass <= 0 and states_inertial(scene, b)]
    yield from (_negative(scene, body) for body in stated if body.mass < 0)
    zero = [body for body in stated if body.mass == 0 and not is_made(scene, body.name)]
    if zero:
        yield from _zero(scene, zero)


def _negative(scene: Scene, body: Body) -> Finding:
    return make_finding(
        __name__,
        SEVERITY,
        f"link {body.name!r} states a mass of {body.mass:g} kg",
        element=body.name,
        origin=body_place(scene, body.name, "mass", "inertial"),
        evidence={"mass_kg": body.mass},
        help=_HELP,
    )


def _zero(scene: Scene, bodies: Sequence[Body]) -> Iterator[Finding]:
    carriages = Carriages(scene)
    kinds: dict[tuple[Severity, str], list[str]] = {}
    for body in bodies:
        kinds.setdefault(_MEANING[carriages.of(body.name)], []).append(body.name)
    for (severity, meaning), links in kinds.items():
        one = len(links) == 1
        what = f"link {links[0]!r} states" if one else f"{counted(len(links), 'link')} state"
        names = "" if one else f": {listed(links)}"
        message = f"{what} a mass of 0 kg{meaning.format(moves='moves' if one else 'move')}{names}"
        yield links_finding(
            __name__,
            severity,
            scene,
            links,
            message,
            "mass",
            "inertial",
            help=_HELP,
            evidence={"mass_kg": 0.0},
        )
