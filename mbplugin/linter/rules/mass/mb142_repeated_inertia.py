"""Several links of different mass have the same inertia.

What it does
------------
Lists groups of three or more links with exactly the same inertia, whose masses differ by a factor of 1.5
or more. Links without mass or with less than a thousandth of the robot's, and the placeholder 1, 1, 1 of
MB104, are omitted.

Why it matters
--------------
Such an inertia is a placeholder that was copied. It is wrong for all links but one, by the ratio of
their masses and the square of their sizes.

Example
-------
``ixx="0.01" iyy="0.01" izz="0.01"`` on links of 0.2, 1 and 5 kg.

Remedy
------
Write the inertia that follows from mass and shape of each link.

References
----------
The inertia of similar bodies is proportional to mass times the square of the size.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.inertia import placeholder, possible
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.files.places import body_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.mechanism import Body
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"
_LINKS, _FACTOR = 3, 1.5
#: A link with less than this part of the robot's mass is there as a frame.
_NEGLIGIBLE = 1e-3


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    groups: dict[bytes, list[Body]] = {}
    least = _NEGLIGIBLE * sum(body.mass for body in scene.mechanism.bodies)
    for body in scene.mechanism.bodies:
        if body.mass > least and possible(body) and not placeholder(body):
            groups.setdefault(body.I_C.tobytes(), []).append(body)
    copied = [body for group in groups.values() if _different(group) for body in group]
    yield from joined_finding(
        __name__,
        SEVERITY,
        [
            Instance(
                body.name,
                body_place(scene, body.name, "inertia", "inertial"),
                f"{body.name!r} ({body.mass:.3g} kg)",
            )
            for body in copied
        ],
        "links of different mass have the same inertia",
        help="write the inertia that follows from mass and shape of each link",
    )


def _different(group: list[Body]) -> bool:
    masses = [body.mass for body in group]
    return len(group) >= _LINKS and max(masses) >= _FACTOR * min(masses)
