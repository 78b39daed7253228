"""The root link has an inertia, which KDL ignores.

What it does
------------
Names the root link of a URDF if it has mass. Off by default: ``--extend-select MB144``.

Why it matters
--------------
KDL has no inertia on the root of a tree: programs that use it (kdl_parser, robot_state_publisher, many
controllers) ignore the mass of that link, and each prints a warning. Everything else reads it.

Example
-------
``<link name="base_link"><inertial>…`` as the link that is the child of no joint.

Remedy
------
Add a link without ``<inertial>`` as the new root, and a fixed joint from it to the old one.

References
----------
kdl_parser: "KDL does not support a root link with an inertia".
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.urdf_elements import number, urdf_documents
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.scene import Scene

SEVERITY: Severity = "note"
OPT_IN = True


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per root link with mass."""
    for document in urdf_documents(scene):
        ends = (joint.child("child") for joint in document.root.children("joint", "drake:joint"))
        children = {end.get("link") for end in ends if end}
        for link in document.root.children("link"):
            inertial = link.child("inertial")
            mass = number(inertial and inertial.child("mass"), "value")
            if inertial and mass and link.get("name") not in children:
                yield make_finding(
                    __name__,
                    SEVERITY,
                    f"root link {link.name!r} has a mass of {mass:g} kg, which KDL ignores",
                    element=link.name,
                    origin=inertial.origin,
                    evidence={"mass_kg": mass},
                    help="add a root link without <inertial>, and a fixed joint from it to this link",
                )
