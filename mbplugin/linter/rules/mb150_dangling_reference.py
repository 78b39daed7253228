"""An element refers to a link or joint that does not exist.

What it does
------------
Lists the joints of ``<transmission>`` and ``<ros2_control>`` that the URDF does not have, and the
``<gazebo reference>`` that names neither a link nor a joint.

Why it matters
--------------
ros2_control stops at start-up with a message about an interface; Gazebo leaves the settings out without
a message: the friction or the colour is the default.

Example
-------
``<gazebo reference="base_lnk">`` where the link is called ``base_link``.

Remedy
------
Correct the name, or remove the element.

References
----------
ros2_control: the joints of a hardware component are joints of the URDF; Gazebo: ``<gazebo reference>``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mbplugin.analysis import Analysis
from mbplugin.errors import suggestion
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.urdf_elements import urdf_documents
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.document import Document, Node
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    found = [instance for document in urdf_documents(scene) for instance in _dangling(document)]
    yield from joined_finding(
        __name__,
        SEVERITY,
        found,
        "references to nothing",
        help="correct the name, or remove the element",
    )


def _dangling(document: Document) -> Iterator[Instance]:
    root = document.root
    joints = {joint.get("name") for joint in root.descendants("joint", "drake:joint") if _is_joint(joint)}
    links = {link.get("name") for link in root.descendants("link")}
    for joint in _driven(root):
        name = joint.get("name") or joint.text
        if name and name not in joints:
            yield _instance(joint, f"joint {name!r} of <{_owner(joint)}>", name, joints)
    for gazebo in root.children("gazebo"):
        name = gazebo.get("reference")
        if name and name not in links | joints:
            yield _instance(gazebo, f"<gazebo reference={name!r}>", name, links | joints)


def _is_joint(joint: Node) -> bool:
    """Return whether a joint joins links; those of transmissions are names of joints."""
    return joint.child("child") is not None or joint.has("type")


def _driven(root: Node) -> Iterator[Node]:
    """Yield the joints that drives name."""
    for transmission in root.descendants("transmission"):
        yield from transmission.children("joint")
    for control in root.children("ros2_control"):
        yield from control.children("joint")


def _owner(element: Node) -> str:
    return Node(element.document, element.written.parent).tag


def _instance(element: Node, what: str, name: str, known: set[str]) -> Instance:
    hint = suggestion(name, sorted(known))
    shown = f"{what}, {hint}" if hint.startswith("did") else what
    return Instance(element.document.prefix + name, element.origin, shown)
