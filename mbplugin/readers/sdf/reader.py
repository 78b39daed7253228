"""Read SDF 1.2 to 1.11 as a scene: loops, world parents, every joint type, frames, local includes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from mbplugin.errors import BadUsage, BrokenModel, NothingThere, UnknownName, suggestion
from mbplugin.model import WORLD, Array, Coupling, JointSpring, Mechanism, Pair, Pose, Term, free_pose, home
from mbplugin.model.scene import Actuator, Defect, Origin, OriginKey, Request, Scene, State
from mbplugin.readers.sdf import number_of, part, text_of, vector_of
from mbplugin.readers.sdf.frames import Frames, Node, Reading, Scope, link_origins, read_body, read_shapes
from mbplugin.readers.sdf.joints import (
    GEARBOX,
    AxisSpring,
    ReadJoint,
    axis_in_world,
    ends,
    joint_type,
    link_pose,
    read_document,
    read_joint,
)
from mbplugin.readers.unread import mark_closures, to_world, with_requested_base
from mbplugin.readers.xml import Element, attribute_numbers, child, local_name, origin, where

#: Least cosine at which two axes count as parallel.
_PARALLEL = 1 - 1e-3


def read_sdf(text: str, request: Request) -> Scene:
    """Return the scene of an SDF document.

    All joint frames are taken at the pose of the file, so that zero joint coordinates correspond to that
    pose.

    Parameters
    ----------
    text : str
        The document.
    request : Request
        The origin of the document, and where included files are looked up.

    Raises
    ------
    MbPluginError
        No mechanism can be built from the document; the message states file and line.
    """
    reading = Reading(request)
    world = read_document(text, reading)
    frames = Frames(world)
    links = _links(frames)
    if not links and reading.missing:
        error = reading.missing[0]
        raise NothingThere(error.what, where=error.where, expected=error.expected, remedy=error.remedy)
    static = _static_pairs(frames, links, request)
    joints = _read_joints(frames, static, reading)
    mech = Mechanism(
        name=_name(world, request),
        bodies=tuple(read_body(node, name, reading) for name, node in links.items()),
        pairs=tuple(joints.pairs),
        couplings=tuple(joints.couplings),
    )
    # models without a world have the default gravity
    if local_name(world.element) == "world":
        mech = replace(mech, gravity=vector_of(world.element, "gravity", 3, "0 0 -9.8"))
    poses = {name: frames.pose(node) for name, node in links.items()}
    mech = with_requested_base(mech, poses, request)
    _add_origins(joints.origin, links, mech)
    springs = _on_coordinates(joints.springs, mech, reading)
    shapes = {name: read_shapes(node, frames, reading) for name, node in links.items()}
    return Scene(
        mechanism=mech,
        state=_state(mech, poses, joints.start),
        origin=joints.origin,
        files=tuple(dict.fromkeys(reading.files)),
        defects=tuple(reading.defects),
        shapes=shapes,
        actuators=tuple(joints.actuators),
        springs=springs,
        request=request,
        base_open=request.base is None,
    )


def _links(frames: Frames) -> dict[str, Node]:
    """Return the links by their names in the mechanism, except a link that is the ground."""
    links: dict[str, Node] = {}
    for node in frames.links:
        name = frames.label(node)
        if name in links:
            assert node.member is not None
            raise BrokenModel(
                f"two links are called {name!r}", where=where(node.member.element), remedy="rename one"
            )
        if node.name != WORLD:
            links[name] = node
    return links


def _name(world: Scope, request: Request) -> str:
    if len(world.models) == 1:
        return world.models[0].name
    return world.name or Path(request.path).stem


def _add_origins(found: dict[OriginKey, Origin], links: Mapping[str, Node], mech: Mechanism) -> None:
    """Add the locations of links; pairs without an element get those of the links they fix."""
    for name, node in links.items():
        found.update(link_origins(node, name))
    for pair in mech.pairs:
        found.setdefault(("constraint", pair.name, ""), found.get(("body", pair.body_b, ""), Origin("", 0)))


@dataclass(eq=False)
class _Joints:
    """Results of reading all joints of a document."""

    pairs: list[Pair] = field(default_factory=list)
    couplings: list[Coupling] = field(default_factory=list)
    actuators: list[Actuator] = field(default_factory=list)
    start: dict[str, tuple[float | None, ...]] = field(default_factory=dict)
    origin: dict[OriginKey, Origin] = field(default_factory=dict)
    springs: list[AxisSpring] = field(default_factory=list)


def _read_joints(frames: Frames, static: Sequence[Pair], reading: Reading) -> _Joints:
    """Read the pairs, with those of static models first, then the constraints that refer to pairs."""
    out, names, read = _Joints(), set[str](), dict[int, ReadJoint]()
    gearboxes: list[tuple[Node, str]] = []
    for node in frames.joints:
        assert node.member is not None
        element = node.member.element
        kind = joint_type(node)
        if node.path in frames.static:
            reading.not_read(
                element, frames.label(node), f"joint {node.name!r} of a static model is not read"
            )
            continue
        name = _unique(frames.label(node), names, node, reading)
        if kind == GEARBOX:
            gearboxes.append((node, name))
            continue
        try:
            joint = read_joint(node, name, frames, reading)
        except UnknownName as error:
            if not reading.missing:
                raise
            # most likely it is a link of the missing model
            message = f"joint {node.name!r} is not read, because an included model is missing: {error.what}"
            # the missing model is the finding; this is a consequence
            reading.not_read(element, frames.label(node), message, "note")
            continue
        read[id(node)] = joint
        out.start[name] = joint.start
        out.origin.update(joint.origin)
        out.actuators += _actuator(node, name)
        out.springs += joint.springs
    for node in frames.constraints:
        assert node.member is not None
        ball = read_ball_constraint(node, frames)
        name = _unique(ball.name, names, node, reading)
        out.origin["constraint", name, ""] = origin(node.member.element)
        out.pairs.append(replace(ball, name=name))
    out.pairs = mark_closures([*static, *(j.pair for j in read.values())]) + out.pairs
    for node, name in gearboxes:
        assert node.member is not None
        out.origin["constraint", name, ""] = origin(node.member.element)
        out.couplings.append(read_gearbox(node, name, frames, list(read.values()), reading))
    _add_mimics(frames, {key: joint.pair for key, joint in read.items()}, out, reading)
    return out


def _add_mimics(frames: Frames, pairs: Mapping[int, Pair], out: _Joints, reading: Reading) -> None:
    """Add the couplings of mimics; ``pairs`` maps the ``id`` of each joint node to its pair."""
    for node in frames.joints:
        if id(node) in pairs:
            assert node.member is not None
            for mimic in read_mimics(node, pairs[id(node)], frames, pairs, reading):
                out.couplings.append(mimic)
                out.origin["constraint", mimic.name, ""] = origin(node.member.element)


def _unique(name: str, taken: set[str], node: Node, reading: Reading) -> str:
    """Return the name, with a number if it is taken; a duplicate joint name is reported."""
    assert node.member is not None
    chosen, count = name, 1
    while chosen in taken:
        count += 1
        chosen = f"{name}#{count}"
    if chosen != name and node.kind == "joint":
        message = f"two joints are called {name!r}; the later one is read as {chosen!r}"
        reading.defects.append(Defect("MB107", name, message, origin(node.member.element)))
    taken.add(chosen)
    return chosen


def _actuator(node: Node, name: str) -> list[Actuator]:
    """Return the actuator of a joint from Drake's rotor inertia and gear ratio, if stated."""
    assert node.member is not None
    element = node.member.element
    if part(element, "rotor_inertia") is None:
        return []
    return [Actuator(name, number_of(element, "rotor_inertia", 0.0), number_of(element, "gear_ratio", 1.0))]


def _on_coordinates(
    springs: Sequence[AxisSpring], mech: Mechanism, reading: Reading
) -> tuple[JointSpring, ...]:
    """Return the springs that act on a coordinate; those of loop-closing joints are reported."""
    found = []
    for spring in springs:
        if spring.name in mech.q_names:
            found.append(JointSpring(spring.name, spring.stiffness, spring.reference))
            continue
        message = (
            f"joint {spring.name!r} closes a loop; its spring (spring_stiffness {spring.stiffness:g}, "
            f"spring_reference {spring.reference:g}) is not read"
        )
        reading.not_read(spring.place, spring.name, message)
    return tuple(found)


def _static_pairs(frames: Frames, links: Mapping[str, Node], request: Request) -> list[Pair]:
    """Return a fixed pair to the world for every link of a static model."""
    pairs = []
    for name, node in links.items():
        if node.path in frames.static:
            if request.base == "free":
                assert node.member is not None
                raise BadUsage(
                    f"the base of link {name!r} cannot be free, its model is static",
                    where=where(node.member.element),
                    remedy="remove <static> or do not ask for a free base",
                )
            pairs.append(to_world(name, frames.pose(node)))
    return pairs


def _state(mech: Mechanism, poses: Mapping[str, Pose], start: Mapping[str, Sequence[float | None]]) -> State:
    """Return the file's pose: free roots at their links' poses, joints at their stated initial positions."""
    q = home(mech)
    given: set[str] = set()
    for joint in mech.tree.joints:
        if joint.pair is None:
            q[joint.q] = free_pose(mech, joint.outer, poses[joint.outer])
            continue
        for k, value in enumerate(start.get(joint.pair.name, ())):
            if value is not None:
                q[joint.q.start + k] = value
                given.add(mech.q_names[joint.q.start + k])
    return State(q, np.zeros(len(mech.qd_names)), frozenset(given))


# Constraints of an SDF document other than joint pairs: gearboxes, mimics, and Drake's ball constraints.


def read_gearbox(
    node: Node, name: str, frames: Frames, joints: Sequence[ReadJoint], reading: Reading
) -> Coupling:
    """Return the coupling of a gearbox: theta_2 = -ratio · theta_1.

    theta_1 rotates the parent and theta_2 the child relative to the reference body, about ``axis`` and
    ``axis2`` in the world.

    Raises
    ------
    BrokenModel
        There is no reference body, or no hinge about that axis between it and the parent or child.
    """
    assert node.member is not None
    element = node.member.element
    reference = text_of(element, "gearbox_reference_body")
    if not reference:
        raise BrokenModel(f"gearbox {node.name!r} has no <gearbox_reference_body>", where=where(element))
    base = frames.body(frames.find(node.reference(reference, where(element))))
    first = part(element, "axis")
    if first is None:
        raise BrokenModel(f"gearbox {node.name!r} has no <axis>", where=where(element), remedy="add it")
    second = part(element, "axis2")
    parent, child_node = ends(node, frames)
    terms = []
    for link, axis, factor in (
        (child_node, first if second is None else second, 1.0),
        (parent, first, number_of(element, "gearbox_ratio", 1.0)),
    ):
        e_W = axis_in_world(node, axis, frames, reading)
        hinge, sign = _hinge(node, base, frames.body(link), e_W, joints)
        terms.append(Term(hinge, "rz", sign * factor))
    return Coupling(name, "gear", tuple(terms))


def _hinge(node: Node, base: str, link: str, e_W: Array, joints: Sequence[ReadJoint]) -> tuple[str, float]:
    """Return the hinge that rotates ``link`` relative to ``base``, and its sign about ``e_W`` (3,)."""
    assert node.member is not None
    for joint in joints:
        pair = joint.pair
        if {pair.body_a, pair.body_b} != {base, link} or pair.type not in ("revolute", "continuous"):
            continue
        cosine = float(joint.axes_W[0] @ e_W) * (1.0 if pair.body_a == base else -1.0)
        if abs(cosine) >= _PARALLEL:
            return pair.name, float(np.sign(cosine))
    raise BrokenModel(
        f"gearbox {node.name!r} has no hinge about its axis between {base!r} and {link!r}",
        where=where(node.member.element),
        expected="a revolute joint from the reference body to each of its two links",
        remedy="add the joint or correct gearbox_reference_body",
    )


def read_mimics(
    node: Node, follower: Pair, frames: Frames, pairs: Mapping[int, Pair], reading: Reading
) -> list[Coupling]:
    """Return the couplings of a joint's ``<mimic>`` elements.

    follower = multiplier · (leader − reference) + offset.

    Parameters
    ----------
    node : Node
        The following joint.
    follower : Pair
    frames : Frames
    pairs : mapping
        The pair of each joint node, by ``id``.
    reading : Reading
        Receives a defect for a mimic that cannot be used.
    """
    assert node.member is not None
    element = node.member.element
    found = []
    for i, tag in enumerate(("axis", "axis2")):
        axis = part(element, tag)
        mimic = None if axis is None else child(axis, "mimic")
        if mimic is None and i == 0:
            mimic = child(element, "drake:mimic")
        if mimic is None:
            continue
        coupling = _mimic(node, mimic, i, follower, frames, pairs, reading)
        if coupling is not None:
            found.append(coupling)
    return found


def _mimic(
    node: Node,
    mimic: Element,
    index: int,
    follower: Pair,
    frames: Frames,
    pairs: Mapping[int, Pair],
    reading: Reading,
) -> Coupling | None:
    wanted = str(mimic.get("joint", ""))
    reference = node.reference(wanted, where(mimic))
    leader = pairs.get(id(frames.find_joint(reference)))
    problem, free, leading = "", _freedom(follower, index), ""
    if leader is None:
        known = [pair.name for pair in pairs.values()]
        problem = f"which does not exist; {suggestion(wanted, known)}"
    elif leader is follower:
        problem = "which is itself"
    elif not (leading := _freedom(leader, 1 if mimic.get("axis") == "axis2" else 0)):
        problem = f"which is {leader.type} and has no such axis"
    elif not free:
        problem = f"but a {follower.type} joint has no such axis"
    if problem or leader is None:
        message = f"joint {follower.name!r} mimics joint {wanted!r}, {problem}; the mimic is left out"
        defect = Defect("MB108", follower.name, message, origin(mimic), {"joint": wanted})
        reading.defects.append(defect)
        return None
    multiplier = _value(mimic, "multiplier", 1.0)
    offset = _value(mimic, "offset", 0.0) - multiplier * _value(mimic, "reference", 0.0)
    name = f"mimic {follower.name}" + ("" if index == 0 else f".{free}")
    terms = (Term(follower.name, free, 1.0), Term(leader.name, leading, -multiplier))
    return Coupling(name, "mimic", terms, offset)


def _freedom(pair: Pair, index: int) -> str:
    """Return the freedom about an axis of a joint, empty if it has no such axis."""
    free = pair.kind.free
    return free[index] if index < len(free) and pair.type not in ("spherical", "planar") else ""


def _value(mimic: Element, name: str, default: float) -> float:
    """Return a number of a mimic, stated as an element or (Drake) as an attribute."""
    if mimic.get(name) is None:
        return number_of(mimic, name, default)
    return float(attribute_numbers(mimic, name, 1, repr(default))[0])


def read_ball_constraint(node: Node, frames: Frames) -> Pair:
    """Return the spherical closure of a ``<drake:ball_constraint>``, whose values are element text.

    Its frames have body A's axes at the file's pose. Its name is generated unless the file states one.

    Raises
    ------
    BrokenModel
        A body is not named, or is joined to itself.
    """
    assert node.member is not None
    element = node.member.element
    bodies, points = [], []
    for body, point in (("body_A", "p_AP"), ("body_B", "p_BQ")):
        link = text_of(element, f"ball_constraint_{body}")
        if not link:
            raise BrokenModel(f"a ball constraint has no drake:ball_constraint_{body}", where=where(element))
        bodies.append(frames.carrier(frames.find(node.reference(link, where(element)))))
        points.append(vector_of(element, f"ball_constraint_{point}", 3, "0 0 0"))
    R_WA, R_WB = (link_pose(body, frames).R for body in bodies)
    a, b = (frames.body(body) for body in bodies)
    if a == b:
        raise BrokenModel(f"a ball constraint joins {a!r} to itself", where=where(element))
    return Pair(
        name=frames.label(node) if node.name else f"ball_constraint_{a}_{b}",
        type="spherical",
        body_a=a,
        body_b=b,
        X_AP=Pose(np.eye(3), points[0]),
        X_BS=Pose(R_WB.T @ R_WA, points[1]),
        closure=True,
    )
