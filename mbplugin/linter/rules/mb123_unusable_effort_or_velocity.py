"""The effort or velocity limit of a joint is missing, negative or zero.

What it does
------------
Lists the joints of a URDF whose ``<limit>`` has no ``effort`` or ``velocity``, or one that is negative,
or a ``velocity`` of 0. An ``effort`` of 0 is listed where all joints have it; MB604 reports a single
one. Joints with a ``<mimic>`` are omitted. The finding is a note if all that is wrong are zeros.

Why it matters
--------------
urdfdom, and with it ROS, does not load a joint whose ``<limit>`` has no effort or velocity. Controllers
that respect a limit of 0 never move the joint; a negative limit inverts it or is an error.

Example
-------
``<limit lower="-1" upper="1" effort="-10"/>``.

Remedy
------
Write the limits of the drive: N·m and rad/s, or N and m/s.

References
----------
URDF: ``effort`` and ``velocity`` are required in ``<limit>``; urdfdom, ``parseJointLimits``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.urdf_elements import SINGLE, number, written_joints
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.document import Node
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"
_NAMES = ("effort", "velocity")


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    driven = [joint for joint in written_joints(scene, *SINGLE) if joint.child("mimic") is None]
    limits = [(joint, limit) for joint in driven if (limit := joint.child("limit"))]
    weak = all(number(limit, "effort") == 0 for _, limit in limits)
    wrong = [(wrongs, joint, limit) for joint, limit in limits if (wrongs := list(_wrongs(limit, weak=weak)))]
    only_zeros = all(text.endswith("of 0") for wrongs, _, _ in wrong for text in wrongs)
    # what no program accepts comes first
    wrong.sort(key=lambda item: all(text.endswith("of 0") for text in item[0]))
    yield from joined_finding(
        __name__,
        "note" if only_zeros else SEVERITY,
        [
            Instance(joint.name, limit.origin, f"{joint.name!r} has {' and '.join(wrongs)}")
            for wrongs, joint, limit in wrong
        ],
        "unusable limits of drives",
        help="write effort and velocity of the drive, both above zero",
    )


def _wrongs(limit: Node, *, weak: bool) -> Iterator[str]:
    """Yield what is wrong with the limits of a joint; ``weak``: all joints have an effort of 0."""
    for name in _NAMES:
        value = number(limit, name)
        if not limit.has(name):
            yield f"no {name}"
        elif value is not None and value < 0:
            yield f"a negative {name} ({value:g})"
        elif value == 0 and (weak or name == "velocity"):
            yield f"{'an' if name == 'effort' else 'a'} {name} of 0"
