"""SDF 1.2 to 1.11 as a scene: loops, world parents, every joint type, frames, local includes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from mbplugin.errors import BadUsage, BrokenModel, NothingThere, UnknownName, UnresolvedPath
from mbplugin.model.mechanism import WORLD, Coupling, Mechanism, Pair
from mbplugin.model.mechanism.kinematics import free_pose, home
from mbplugin.model.scene import Actuator, Defect, Origin, OriginKey, Request, Scene, State
from mbplugin.model.spatial import Pose
from mbplugin.model.spring import JointSpring
from mbplugin.readers.common.closing import mark_closures
from mbplugin.readers.common.grounding import require_free_root, to_world, with_fixed_roots
from mbplugin.readers.common.xml import local_name, origin, where
from mbplugin.readers.sdf.couplings import read_ball_constraint, read_gearbox, read_mimics
from mbplugin.readers.sdf.document import Reading, Scope
from mbplugin.readers.sdf.frames import Frames, Node
from mbplugin.readers.sdf.includes import read_document
from mbplugin.readers.sdf.joints import GEARBOX, AxisSpring, ReadJoint, joint_type, read_joint
from mbplugin.readers.sdf.links import link_origins, read_body, read_shapes
from mbplugin.readers.sdf.values import number_of, part, vector_of


def read_sdf(text: str, request: Request) -> Scene:
    """Return the scene of an SDF document.

    All joint frames are taken at the pose the file states, so that zero joint coordinates are that
    pose.

    Parameters
    ----------
    text : str
        The document.
    request : Request
        Where it comes from, and where included files are looked up.

    Raises
    ------
    MbPluginError
        A document from which no mechanism can be built; the message says file and line.
    """
    reading = Reading(request)
    world = read_document(text, reading)
    frames = Frames(world)
    links = _links(frames)
    if not links and reading.missing:
        raise _nothing_there(reading.missing[0])
    static = _static_pairs(frames, links, request)
    joints = _read_joints(frames, static, reading)
    mech = Mechanism(
        name=_name(world, request),
        bodies=tuple(read_body(node, name, reading) for name, node in links.items()),
        pairs=tuple(joints.pairs),
        couplings=tuple(joints.couplings),
    )
    mech = _with_gravity(mech, world)
    poses = {name: frames.pose(node) for name, node in links.items()}
    if request.base == "fixed":
        mech = with_fixed_roots(mech, poses)
    elif request.base == "free":
        require_free_root(mech, request.path)
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
    )


def _links(frames: Frames) -> dict[str, Node]:
    """Return the links by their names in the mechanism, without one that is the ground."""
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


def _add_origins(found: dict[OriginKey, Origin], links: Mapping[str, Node], mech: Mechanism) -> None:
    """Add the lines of links, and to pairs that no element states those of the links they hold."""
    for name, node in links.items():
        found.update(link_origins(node, name))
    for pair in mech.pairs:
        found.setdefault(("constraint", pair.name, ""), found.get(("body", pair.body_b, ""), Origin("", 0)))


@dataclass(eq=False)
class _Joints:
    """Everything the joints of a document give."""

    pairs: list[Pair] = field(default_factory=list)
    couplings: list[Coupling] = field(default_factory=list)
    actuators: list[Actuator] = field(default_factory=list)
    start: dict[str, tuple[float | None, ...]] = field(default_factory=dict)
    origin: dict[OriginKey, Origin] = field(default_factory=dict)
    springs: list[AxisSpring] = field(default_factory=list)


def _read_joints(frames: Frames, static: Sequence[Pair], reading: Reading) -> _Joints:
    """Read pairs first, behind those of static models, then what refers to pairs."""
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
            # most likely a link of the model that is not there
            message = f"joint {node.name!r} is not read, because an included model is missing: {error.what}"
            reading.not_read(element, frames.label(node), message)
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
    """Add the couplings of mimics; ``pairs`` has the pair of each joint node, by ``id``."""
    for node in frames.joints:
        if id(node) in pairs:
            assert node.member is not None
            for mimic in read_mimics(node, pairs[id(node)], frames, pairs, reading):
                out.couplings.append(mimic)
                out.origin["constraint", mimic.name, ""] = origin(node.member.element)


def _unique(name: str, taken: set[str], node: Node, reading: Reading) -> str:
    """Return the name, numbered where an earlier joint has it; a joint's second use is noted."""
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
    """Return Drake's rotor inertia and gear ratio of a joint."""
    assert node.member is not None
    element = node.member.element
    if part(element, "rotor_inertia") is None:
        return []
    return [Actuator(name, number_of(element, "rotor_inertia", 0.0), number_of(element, "gear_ratio", 1.0))]


def _on_coordinates(
    springs: Sequence[AxisSpring], mech: Mechanism, reading: Reading
) -> tuple[JointSpring, ...]:
    """Return the springs that act on a coordinate; joints that close a loop have none, and are noted."""
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


def _with_gravity(mech: Mechanism, world: Scope) -> Mechanism:
    """Take the world's gravity; a lone model has none of its own and keeps the default."""
    if local_name(world.element) != "world":
        return mech
    return replace(mech, gravity=vector_of(world.element, "gravity", 3, "0 0 -9.8"))


def _nothing_there(error: UnresolvedPath) -> NothingThere:
    return NothingThere(error.what, where=error.where, expected=error.expected, remedy=error.remedy)


def _name(world: Scope, request: Request) -> str:
    if len(world.models) == 1:
        return world.models[0].name
    return world.name or Path(request.path).stem


def _state(mech: Mechanism, poses: Mapping[str, Pose], start: Mapping[str, Sequence[float | None]]) -> State:
    """Return the file's pose: free roots where their links are, joints at their initial positions, which are stated."""
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
