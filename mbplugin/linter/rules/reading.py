"""Rules about how a file was read: what was left out, completed or moved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.errors import suggestion
from mbplugin.linter.checks import Instance, joined_finding
from mbplugin.linter.checks.loops import stated_poses
from mbplugin.linter.checks.snapping import BOUNDED, format_of, number, srdf_beside, urdf_documents
from mbplugin.linter.rule import Finding, Rule, Severity, defects_noted, make_finding
from mbplugin.model import Array, BodyPoses, Document, Node, Origin, Pair, Scene

_OF_NOTES = "leave it; only if the mechanism depends on it, state it in a scene file"


class NotRead(Rule):
    """Something in the file is not read as written.

    What it does
    ------------
    Reports elements and attributes that cannot be part of the mechanism, and names that the format does not
    define. All of one kind give one finding; it is a note for what changes loads at most. Settings that no mechanism
    depends on are MB153, which is off by default.

    Why it matters
    --------------
    The analyzed model differs from the file.

    Example
    -------
    An inactive ``<equality>``, a tendon or a position actuator in MJCF, an SDF ``<state>``, ``<dynamic>`` for
    ``<dynamics>`` in a URDF.

    Remedy
    ------
    Remove the element, or state it in a scene file.

    References
    ----------
    The formats' specifications.
    """

    code, name = "MB113", "not-read"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield a finding for each defect that the reader noted."""
        for finding in defects_noted(self, scene, "state it in a scene file, or remove it"):
            remedy = str(
                finding.evidence.get("remedy", _OF_NOTES if finding.severity == "note" else finding.help)
            )
            yield replace(finding, help=remedy)


class SimulatorSetting(Rule):
    """A setting of one simulator or controller is not read.

    What it does
    ------------
    Reports what MB113 leaves out because no mechanism depends on it: contact parameters, ``<transmission>``,
    ``<ros2_control>``, ``<safety_controller>``, ``<mujoco>``, solver settings. Off by default:
    ``--extend-select MB153``.

    Why it matters
    --------------
    It seldom does: the simulator or controller that the setting is for reads it. Select the rule to see all that a file
    says and no analysis uses.

    Example
    -------
    ``<mu1>`` in ``<gazebo reference="foot">``.

    Remedy
    ------
    Leave it.

    References
    ----------
    The formats' specifications.
    """

    code, name = "MB153", "simulator-setting"
    severity: Severity = "note"
    opt_in = True

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield a finding for each defect that the reader noted."""
        yield from defects_noted(self, scene, "leave it")


#: Largest plausible distance of a joint from a body, relative to the length of the mechanism.
_FAR = 3.0


class ClosureFromPose(Rule):
    """One side of a closure is not stated; it is computed from the pose.

    What it does
    ------------
    Reports every ``[[closure]]`` of a scene that gives the joint frame on one body only, with the values that
    the other side gets at the pose of the scene; and every ``[[pair]]`` with one joint frame whose bodies state
    no pose, if the other side is away from the link frame. It is a warning if the distance of the joint from
    all known points of one of its bodies (joints, centre of mass, shapes) is more than three times the length
    of the mechanism.

    Why it matters
    --------------
    A side that is computed from the pose always closes the loop, so an error in the other one, 5 for 0.5, gives no
    other finding: the analysis is that of another robot. A body without a pose stands at the origin of the world when a
    side is computed, which is seldom meant where links are given by their dimensions.

    Example
    -------
    ``xyz_a`` without ``xyz_b``.

    Remedy
    ------
    Check the values and write them into the scene (the finding contains the lines to paste).

    References
    ----------
    wojtyra2013 (1): the constraint equations hold at an assembled pose.
    """

    code, name = "MB116", "closure-from-pose"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield a finding for each noted defect; a warning if the joint is far from one of its bodies."""
        for finding in defects_noted(self, scene, "check the values, and write them out"):
            pair = scene.mechanism.pair_by_name.get(finding.element)
            far = None if pair is None else _farthest(scene, pair)
            if far is None:
                yield finding
                continue
            body, distance, length = far
            yield replace(
                finding,
                severity="warning",
                message=f"{finding.message}; the joint lies {distance:.3g} m from all that is known of {body!r}, "
                f"and the mechanism without it is {length:.3g} m long",
                evidence={**finding.evidence, "distance_m": distance, "mechanism_length_m": length},
            )


def _farthest(scene: Scene, pair: Pair) -> tuple[str, float, float] | None:
    """Return the body from which a closure is implausibly far, the distance, m, and the length of the mechanism, m.

    None if the closure is close enough to both bodies.
    """
    poses = stated_poses(scene)
    known = {name: np.array(list(_points(scene, name, pair, poses))) for name in (pair.body_a, pair.body_b)}
    everything = [_points(scene, body.name, pair, poses) for body in scene.mechanism.bodies]
    points = np.array([p for found in everything for p in found])
    length = float(np.linalg.norm(np.ptp(points, axis=0)))
    place = poses.of(scene.mechanism.body_index[pair.body_a]).apply(pair.X_AP.p)
    found = [
        (name, float(np.linalg.norm(own - place, axis=1).min())) for name, own in known.items() if len(own)
    ]
    body, distance = max(found, key=lambda item: item[1], default=("", 0.0))
    return (body, distance, length) if length > 0 and distance > _FAR * length else None


def _points(scene: Scene, name: str, without: Pair, poses: BodyPoses) -> Iterator[Array]:
    """Yield known points of a body in world axes: its joints except ``without``, its centre of mass, its shapes."""
    i = scene.mechanism.body_index[name]
    X_WL = poses.of(i)
    for pair in scene.mechanism.pairs:
        if pair is not without:
            ends = ((pair.body_a, pair.X_AP), (pair.body_b, pair.X_BS))
            yield from (X_WL.apply(X.p) for body, X in ends if body == name)
    if i >= 0 and not scene.mechanism.bodies[i].massless:
        yield poses.p_WC[i]
    yield from (X_WL.apply(shape.X_LS.p) for shape in scene.shapes.get(name, ()))


class NothingMoves(Rule):
    """The model has no body that can move.

    What it does
    ------------
    Reports a model without bodies, or with all bodies fixed to the ground: a floor, a wall, a static scene.

    Why it matters
    --------------
    There is no constraint to analyze. A robot whose links are missing here is in another file.

    Example
    -------
    An MJCF file with a ground plane and lights only.

    Remedy
    ------
    None is needed for a static scene.

    References
    ----------
    The static models of the SDF specification, ``<static>``.
    """

    code, name = "MB118", "nothing-moves"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding if there is no movable joint and no free body."""
        if scene.mechanism.qd_names:
            return
        count = len(scene.mechanism.bodies)
        what = "it has no body" if not count else f"all {count} bodies are fixed to the ground"
        if count == 1:
            what = "its only body is fixed to the ground"
        place = Origin(scene.files[0], 1) if scene.files else None
        message = f"nothing in the model can move: {what}"
        help = "nothing is needed for a static scene; else lint the file that has the links"
        yield make_finding(self, self.severity, message, origin=place, help=help)


_HELP = {
    "": "correct the pivots and frames of createConstraint, or place the body where they meet",
    "mjcf": "correct the pose of the body, or the frames of the equality",
    "scene": "correct the pose or the joint frames; or leave out the pose, or the joint frame of one side",
}


class JointOffItsFrame(Rule):
    """The two frames of a joint do not coincide at the given pose.

    What it does
    ------------
    Compares the position of each joint in SDF with that of the ``<frame>`` in its ``<parent>``, and the two
    local frames of each joint in USD, at the file's pose, and those of an equality of MJCF or a constraint of a
    live client that alone carries a body; these two have 1e-3 m and rad for rounding and for PyBullet's drift.
    In a scene it compares the pose of each body with the two joint frames of the pair that carries it: what the
    pair's own coordinates do not reach is an error, beyond the rounding of angles, 1e-3 rad.

    Why it matters
    --------------
    SDF places a joint in its child and takes only the body of the parent; in USD simulators move the bodies of
    the joint's tree together. PyBullet pulls the frames of ``createConstraint`` together in its next steps, a
    fifth of the gap in each, and here the body is moved at once. Another mechanism than the one that was meant
    is analyzed and simulated.

    Example
    -------
    ``<parent>Wd</parent>`` with a frame 2 m away from the joint, or ``physics:localPos1`` in metres in a stage
    of centimetres; a ``[[body]]`` with ``xyz = [0.2, 0, 0]`` whose hinge has ``xyz_a = xyz_b = [0, 0, 0]``;
    ``createConstraint`` with a child pivot 0.1 m away from that of the parent.

    Remedy
    ------
    Place the child link so that the frames meet, or name the link in ``<parent>``. In a scene correct the pose or the
    frames, or leave one of them out. In PyBullet correct the pivots and frames, or place the body where they meet.

    References
    ----------
    SDF: pose frame semantics; Drake's ``four_bar_loop.sdf``. UsdPhysics: local frames of a joint.
    """

    code, name = "MB119", "joint-off-its-frame"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield the notes of the reader."""
        other = "place the child link so that the joint is at the frame, or name the link in <parent>"
        help = _HELP.get(format_of(scene), other)
        return defects_noted(self, scene, help)


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
            yield _instance(
                joint, f"joint {name!r} of <{Node(joint.document, joint.written.parent).tag}>", name, joints
            )
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
            defined = {
                m.get("name")
                for m in (*used, *document.root.children("material"))
                if any(m.children("color", "texture"))
            }
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
