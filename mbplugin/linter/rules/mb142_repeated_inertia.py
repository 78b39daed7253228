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
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.masses.repeated_inertia import repeated_inertias
from mbplugin.linter.files.places import body_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    yield from joined_finding(
        __name__,
        SEVERITY,
        [
            Instance(
                body.name,
                body_place(scene, body.name, "inertia", "inertial"),
                f"{body.name!r} ({body.mass:.3g} kg)",
            )
            for body in repeated_inertias(scene)
        ],
        "links of different mass have the same inertia",
        help="write the inertia that follows from mass and shape of each link",
    )
