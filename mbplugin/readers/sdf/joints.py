"""Joints of an SDF document as pairs whose frames coincide at the file's pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, pi

import numpy as np

from mbplugin.errors import BadNumber, BrokenModel
from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.pair import PAIR_TYPES, Freedom, Pair
from mbplugin.model.scene import Defect, Origin, OriginKey
from mbplugin.model.spatial import Array, Pose, align_z, cross, unit
from mbplugin.readers.common.unread_numbers import unread_number
from mbplugin.readers.common.xml import Element, child, origin, where
from mbplugin.readers.sdf.document import MODEL_FRAME, Reading
from mbplugin.readers.sdf.frames import Frames, Node
from mbplugin.readers.sdf.parent_frames import report_apart
from mbplugin.readers.sdf.values import bound_of, cap_of, flag_of, number_of, part, text_of, vector_of

#: Pair types by joint type; a gearbox is a coupling, not a pair.
TYPES = {
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "ball": "spherical",
    "universal": "universal",
    "revolute2": "universal",
    "screw": "screw",
    "fixed": "fixed",
    "planar": "planar",
}
GEARBOX = "gearbox"

#: Two axes count as perpendicular up to this cosine.
_PERPENDICULAR = 1e-3


@dataclass(frozen=True, eq=False)
class AxisSpring:
    """What ``<dynamics>`` states about the spring of one axis: torque −stiffness · (q − reference).

    Parameters
    ----------
    name : str
        The joint coordinate, ``joint`` or ``joint.freedom``.
    stiffness : float
        N·m/rad or N/m.
    reference : float
        rad or m.
    place : Element
        The ``<dynamics>``.
    """

    name: str
    stiffness: float
    reference: float
    place: Element


@dataclass(frozen=True, eq=False)
class ReadJoint:
    """A pair, where its axes point in the world, and where it starts; None where that is not stated."""

    pair: Pair
    axes_W: tuple[Array, ...]
    start: tuple[float | None, ...]
    origin: dict[OriginKey, Origin] = field(default_factory=dict)
    springs: tuple[AxisSpring, ...] = ()


def joint_type(node: Node) -> str:
    """Return the joint's type.

    Raises
    ------
    BrokenModel
        A type that SDF does not have.
    """
    assert node.member is not None
    element = node.member.element
    kind = str(element.get("type", ""))
    if kind not in TYPES and kind != GEARBOX:
        what = (
            f"joint {node.name!r} has the unknown type {kind!r}"
            if kind
            else f"joint {node.name!r} has no type"
        )
        raise BrokenModel(what, where=where(element), expected=", ".join((*TYPES, GEARBOX)))
    return kind


def ends(node: Node, frames: Frames) -> tuple[Node, Node]:
    """Return the links (or the world) that a joint's parent and child are fixed to.

    Raises
    ------
    BrokenModel
        No parent or child, or both on one body.
    UnknownName
        A frame that does not exist.
    """
    assert node.member is not None
    element = node.member.element
    found = []
    for tag in ("parent", "child"):
        name = text_of(element, tag)
        if not name:
            raise BrokenModel(
                f"joint {node.name!r} has no <{tag}>", where=where(element), remedy=f"name its {tag}"
            )
        place = part(element, tag)
        found.append(
            frames.carrier(frames.find(node.reference(name, where(element if place is None else place))))
        )
    if frames.body(found[0]) == frames.body(found[1]):
        raise BrokenModel(
            f"joint {node.name!r} joins {frames.body(found[0])!r} to itself",
            where=where(element),
            remedy="give it two different bodies",
        )
    return found[0], found[1]


def read_joint(node: Node, name: str, frames: Frames, reading: Reading) -> ReadJoint:
    """Return the pair of a joint that is no gearbox.

    Parameters
    ----------
    node : Node
    name : str
        Its name in the mechanism.
    frames : Frames
    reading : Reading
    """
    assert node.member is not None
    element, kind = node.member.element, joint_type(node)
    type = TYPES[kind]
    parent, child_node = ends(node, frames)
    report_apart(node, frames, reading)
    axes = axes_of(node, kind, frames, reading)
    X_WP = Pose(_joint_axes(node, kind, axes, frames), frames.pose(node).p)
    elements = [part(element, tag) for tag in ("axis", "axis2")][: len(axes)]
    freedoms = tuple(_freedom(axis, kind, name, reading) for axis in elements)
    pair = Pair(
        name=name,
        type=type,
        body_a=frames.body(parent),
        body_b=frames.body(child_node),
        X_AP=link_pose(parent, frames).inverse() @ X_WP,
        X_BS=link_pose(child_node, frames).inverse() @ X_WP,
        lead=_lead(element) if kind == "screw" else 0.0,
        freedoms=freedoms if len(freedoms) == len(PAIR_TYPES[type].free) else (),
    )
    start = tuple(
        None
        if axis is None or part(axis, "initial_position") is None
        else number_of(axis, "initial_position", 0.0)
        for axis in elements
    )
    return ReadJoint(pair, axes, start, _origins(node, name), _springs(elements, pair))


def link_pose(link: Node, frames: Frames) -> Pose:
    """Return X_WL of a link; that of the ground, under whatever name, is the identity."""
    return Pose.identity() if frames.body(link) == WORLD else frames.pose(link)


def axes_of(node: Node, kind: str, frames: Frames, reading: Reading) -> tuple[Array, ...]:
    """Return the unit axes of a joint in the world.

    Raises
    ------
    BrokenModel
        The axis of a joint with one axis is not there.
    """
    assert node.member is not None
    if kind in ("fixed", "ball", "planar"):
        return ()
    axes: list[Array] = []
    tags = ("axis", "axis2") if kind in ("universal", "revolute2") else ("axis",)
    for tag in tags:
        element = part(node.member.element, tag)
        if element is None and len(tags) == 1:
            raise BrokenModel(
                f"{kind} joint {node.name!r} has no <{tag}>",
                where=where(node.member.element),
                remedy="add it",
            )
        axes.append(
            _default_axis(node, tag, axes, frames, reading)
            if element is None
            else axis_in_world(node, element, frames, reading)
        )
    return tuple(axes)


def _default_axis(node: Node, tag: str, first: Sequence[Array], frames: Frames, reading: Reading) -> Array:
    """Return an axis (3,) that a joint with two axes leaves out, in the world.

    Without both they are x and y of the joint, as in Drake and DART; a second one is the format's default z,
    or y where the first one is along z.
    """
    assert node.member is not None
    R_WJ = frames.pose(node).R
    stated = part(node.member.element, "axis") is not None
    order: tuple[int, ...] = (2, 1, 0) if stated else (1, 2, 0)
    if not first:
        order = (0,)
    across = [k for k in order if not first or abs(float(R_WJ[:, k] @ first[0])) <= _PERPENDICULAR]
    k = across[0] if across else order[0]
    message = f"joint {node.name!r} has no <{tag}>; {'xyz'[k]} of the joint is taken"
    reading.defects.append(
        Defect("MB113", frames.label(node), message, origin(node.member.element), severity="note")
    )
    return np.asarray(R_WJ[:, k])


def axis_in_world(node: Node, element: Element, frames: Frames, reading: Reading) -> Array:
    """Return the unit vector (3,) of an ``<axis>`` in the world; a zero one is noted and read as z."""
    xyz = vector_of(element, "xyz", 3, "0 0 1")
    length = float(np.linalg.norm(xyz))
    if length == 0.0:
        message = f"the axis of joint {node.name!r} is zero; it is read as 0 0 1"
        literal = {"literal": text_of(element, "xyz")}
        reading.defects.append(Defect("MB106", frames.label(node), message, origin(element), literal))
        xyz, length = np.array([0.0, 0.0, 1.0]), 1.0
    return np.asarray(frames.pose(_expressed_in(node, element, frames)).R @ xyz / length)


def _expressed_in(node: Node, element: Element, frames: Frames) -> Node:
    """Return the frame of an axis.

    Up to 1.4 that is the model; since 1.5 the joint, or the model by ``use_parent_model_frame``; since
    1.7 also any frame by ``expressed_in``.
    """
    assert node.member is not None
    xyz = child(element, "xyz")
    name = "" if xyz is None else str(xyz.get("expressed_in", ""))
    if not name and flag_of(element, "use_parent_model_frame", node.member.version < (1, 5)):
        name = MODEL_FRAME if node.path else WORLD
    return frames.find(node.reference(name, where(element))) if name else node


def _joint_axes(node: Node, kind: str, axes: Sequence[Array], frames: Frames) -> Array:
    """Return R_WP (3, 3): z along the axis, or for a universal joint x and y along its two axes."""
    R_WJ = frames.pose(node).R
    if not axes:
        return R_WJ
    if len(axes) == 1:
        return np.asarray(R_WJ @ align_z(R_WJ.T @ axes[0]))
    assert node.member is not None
    x, second = axes
    # unit vectors of rounded numbers may have a product beyond one
    cosine = float(np.clip(x @ second, -1.0, 1.0))
    if abs(cosine) > _PERPENDICULAR:
        raise BrokenModel(
            f"the axes of {kind} joint {node.name!r} meet at {np.degrees(np.arccos(cosine)):.4g} degrees",
            where=where(node.member.element),
            expected="perpendicular axes",
            remedy="write it as two revolute joints with a link between them",
        )
    y = second - cosine * x
    y = unit(y)
    return np.column_stack((x, y, cross(x, y)))


def _freedom(axis: Element | None, kind: str, name: str, reading: Reading) -> Freedom:
    """Return the limits, damping and friction of one axis."""
    if axis is None:
        return Freedom()
    limit, dynamics = child(axis, "limit"), child(axis, "dynamics")
    bounded = kind != "continuous"
    return Freedom(
        lower=bound_of(limit, "lower", -inf) if bounded else -inf,
        upper=bound_of(limit, "upper", inf) if bounded else inf,
        effort=_cap(limit, "effort", name, reading),
        velocity=_cap(limit, "velocity", name, reading),
        damping=0.0 if dynamics is None else number_of(dynamics, "damping", 0.0),
        friction=0.0 if dynamics is None else number_of(dynamics, "friction", 0.0),
    )


def _cap(limit: Element | None, tag: str, name: str, reading: Reading) -> float:
    """Return an effort or velocity limit; one that is no number is none."""
    try:
        return cap_of(limit, tag)
    except BadNumber as error:
        reading.defects.append(unread_number(error, name, "no limit is taken"))
        return inf


def _springs(elements: Sequence[Element | None], pair: Pair) -> tuple[AxisSpring, ...]:
    """Return the springs of a joint's axes that have a stiffness."""
    free, found = pair.kind.free, []
    for freedom, axis in zip(free, elements, strict=False):
        dynamics = None if axis is None else child(axis, "dynamics")
        if dynamics is None or not (stiffness := number_of(dynamics, "spring_stiffness", 0.0)):
            continue
        name = pair.name if len(free) == 1 else f"{pair.name}.{freedom}"
        reference = number_of(dynamics, "spring_reference", 0.0)
        found.append(AxisSpring(name, stiffness, reference, dynamics))
    return tuple(found)


def _lead(element: Element) -> float:
    """Return the travel per turn of a screw, m.

    ``screw_thread_pitch`` (1.10) is that, positive for a right-handed thread. The older
    ``thread_pitch`` has always been taken as rad/m, positive for a left-handed one; its default is 1.
    """
    if child(element, "screw_thread_pitch") is not None:
        return number_of(element, "screw_thread_pitch", 1.0)
    pitch = number_of(element, "thread_pitch", 1.0)
    if pitch == 0.0:
        raise BrokenModel(
            "a screw joint has thread_pitch 0", where=where(element), expected="rad/m, not zero"
        )
    return -2 * pi / pitch


def _origins(node: Node, name: str) -> dict[OriginKey, Origin]:
    assert node.member is not None
    element = node.member.element
    found: dict[OriginKey, Origin] = {("constraint", name, ""): origin(element)}
    if node.member.pose.rpy is not None:
        found["constraint", name, "rpy"] = node.member.pose.rpy
    axis = part(element, "axis")
    xyz = None if axis is None else child(axis, "xyz")
    if xyz is not None:
        found["constraint", name, "axis"] = origin(xyz, (xyz.text or "").strip())
    return found
