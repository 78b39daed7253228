"""Rules about names that a file refers to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mbplugin.analysis import Analysis
from mbplugin.errors import suggestion
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.simulators import BOUNDED, number, srdf_beside, urdf_documents
from mbplugin.linter.rule import Finding, Rule, Severity
from mbplugin.model.scene import Document, Node, Scene


class DanglingReference(Rule):
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

    code, name = "MB150", "dangling-reference"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        found = [instance for document in urdf_documents(scene) for instance in _dangling(document)]
        yield from joined_finding(
            self,
            self.severity,
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
    """Return True if a ``<joint>`` element defines a joint; those in transmissions only name one."""
    return joint.child("child") is not None or joint.has("type")


def _driven(root: Node) -> Iterator[Node]:
    """Yield the ``<joint>`` elements in transmissions and ros2_control."""
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


class UndefinedMaterial(Rule):
    """A material is used but not defined.

    What it does
    ------------
    Lists the names of ``<material>`` elements without colour and texture that no other element of the URDF
    defines.

    Why it matters
    --------------
    RViz shows such a link in its default colour, and urdfdom reports an error for the whole file.

    Example
    -------
    ``<material name="orange"/>`` without ``<material name="orange"><color …/></material>``.

    Remedy
    ------
    Define the material once below ``<robot>``, or correct the name.

    References
    ----------
    URDF: ``<material>`` of a visual may refer to one of the robot by name.
    """

    code, name = "MB151", "undefined-material"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        found: dict[str, Instance] = {}
        for document in urdf_documents(scene):
            links = document.root.children("link")
            used = [
                m for link in links for visual in link.children("visual") for m in visual.children("material")
            ]
            defined = {m.get("name") for m in (*used, *document.root.children("material")) if _defines(m)}
            for material in used:
                name = material.get("name")
                if name and name not in defined:
                    found.setdefault(name, Instance(document.prefix + name, material.origin, repr(name)))
        yield from joined_finding(
            self,
            self.severity,
            list(found.values()),
            "materials that are defined nowhere",
            help="define each material once below <robot>, or correct the name",
        )


def _defines(material: Node) -> bool:
    return any(material.children("color", "texture"))


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


#: Allowed excess of a value over its limit due to rounding, rad and m.
_ROUNDING = 1e-3


class SrdfMismatch(Rule):
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

    code, name = "MB152", "srdf-mismatch"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per SRDF."""
        for document in urdf_documents(scene):
            srdf = srdf_beside(document, scene)
            if srdf is not None:
                found = [*_unknown(srdf.root, document.root), *_beyond(srdf.root, document.root)]
                yield from joined_finding(
                    self,
                    self.severity,
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
    """Yield the values of group states that are outside the limits of their joints."""
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
