"""A name of a link or joint has characters that ROS or USD cannot carry.

What it does
------------
Lists the links and joints of a URDF whose names are not letters, digits and underscores, or begin with a
digit. Off by default: ``--extend-select MB160``.

Why it matters
--------------
Such a name cannot be a token of a ROS name (topic, parameter, node), and it is no name of a USD prim: the
importer of Isaac Sim replaces what does not fit by underscores, so programs do not find the joint under the
name of the file, and two names may become one.

Example
-------
``<joint name="wheel-left">``, ``<link name="2nd_arm">``.

Remedy
------
Rename it with letters, digits and underscores only, beginning with a letter.

References
----------
ROS 2: topic and service names; OpenUSD: names of prims; Isaac Sim: URDF importer, conventions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.urdf_elements import written_joints, written_links
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "note"
OPT_IN = True
_PORTABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    yield from joined_finding(
        __name__,
        SEVERITY,
        [
            Instance(element.name, element.origin, f"{element.tag} {element.get('name')!r}")
            for element in (*written_links(scene), *written_joints(scene))
            if element.name and not _PORTABLE.fullmatch(element.get("name"))
        ],
        "names that ROS or USD cannot carry",
        help="use letters, digits and underscores only, beginning with a letter",
    )
