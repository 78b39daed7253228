"""The SRDF beside a URDF does not fit it.

What it does
------------
Reads the SRDF that has the name of the URDF and lies beside it. Lists links, joints and groups that do
not exist (in groups, chains, states, end effectors, virtual and passive joints, disabled pairs), and
values of group states outside the joint limits.

Why it matters
--------------
MoveIt leaves out a group with an unknown name, plans into collisions where a disabled pair has another
name, and does not accept a start or goal state beyond the limits.

Example
-------
``<group_state name="home" group="arm"><joint name="elbow" value="3.5"/>`` with an upper limit of 2.6.

Remedy
------
Correct the SRDF, or run the setup assistant again.

References
----------
SRDF: http://wiki.ros.org/srdf; MoveIt setup assistant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.srdf import srdf_beside
from mbplugin.linter.checks.urdf_elements import BOUNDED, number, urdf_documents
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.document import Document, Node
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"
#: Attributes that name a link, a joint or a group, by element.
_NAMES = {
    ("link", "name"): "link",
    ("joint", "name"): "joint",
    ("passive_joint", "name"): "joint",
    ("virtual_joint", "child_link"): "link",
    ("chain", "base_link"): "link",
    ("chain", "tip_link"): "link",
    ("disable_collisions", "link1"): "link",
    ("disable_collisions", "link2"): "link",
    ("enable_collisions", "link1"): "link",
    ("enable_collisions", "link2"): "link",
    ("link_sphere_approximation", "link"): "link",
    ("end_effector", "parent_link"): "link",
    ("end_effector", "group"): "group",
    ("group_state", "group"): "group",
}
#: A value that was rounded with its limit, rad and m.
_ROUNDING = 1e-3


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per SRDF."""
    for document in urdf_documents(scene):
        srdf = srdf_beside(document, scene)
        if srdf is not None:
            found = [*_unknown(srdf.root, document.root), *_beyond(srdf.root, document.root)]
            yield from joined_finding(
                __name__,
                SEVERITY,
                found,
                "the SRDF does not fit the URDF",
                help="correct the SRDF, or run the setup assistant again",
            )


def _unknown(srdf: Node, robot: Node) -> Iterator[Instance]:
    known = {
        "link": {link.get("name") for link in robot.descendants("link")},
        "joint": {
            joint.get("name") for joint in (*robot.children("joint"), *srdf.descendants("virtual_joint"))
        },
        "group": {group.get("name") for group in srdf.children("group")},
    }
    for element in srdf.descendants():
        inside = Node(srdf.document, element.written.parent).tag
        names = {**_NAMES, ("group", "name"): "group"} if inside == "group" else _NAMES
        for (tag, attribute), kind in names.items():
            name = element.get(attribute)
            if element.tag == tag and name and name not in known[kind]:
                shown = f"<{tag}> names the {kind} {name!r}, which does not exist"
                yield Instance(name, element.origin, shown)


def _beyond(srdf: Node, robot: Node) -> Iterator[Instance]:
    """Yield the values of group states outside the limits of their joints."""
    limits = _limits(robot.document)
    for state in srdf.children("group_state"):
        for joint in state.children("joint"):
            value, (lower, upper) = number(joint, "value"), limits.get(joint.get("name"), (None, None))
            if value is None or lower is None or upper is None or lower > upper:
                continue
            if not lower - _ROUNDING <= value <= upper + _ROUNDING:
                shown = (
                    f"state {state.get('name')!r} has {joint.get('name')!r} at {value:g}, outside "
                    f"{lower:g} … {upper:g}"
                )
                yield Instance(joint.get("name"), joint.origin, shown)


def _limits(robot: Document) -> dict[str, tuple[float | None, float | None]]:
    joints = (joint for joint in robot.root.children("joint") if joint.get("type") in BOUNDED)
    return {
        joint.get("name"): (number(joint.child("limit"), "lower"), number(joint.child("limit"), "upper"))
        for joint in joints
    }
