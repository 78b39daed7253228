"""Constraints of an SDF document other than pairs: gearboxes, mimics, and Drake's ball constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mbplugin.errors import BrokenModel, suggestion
from mbplugin.model.mechanism.coupling import Coupling, Term
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Defect
from mbplugin.model.spatial import Array, Pose
from mbplugin.readers.common.xml import Element, attribute_numbers, child, origin, where
from mbplugin.readers.sdf.document import Reading
from mbplugin.readers.sdf.frames import Frames, Node
from mbplugin.readers.sdf.joints import ReadJoint, axis_in_world, ends, link_pose
from mbplugin.readers.sdf.values import number_of, part, text_of, vector_of

#: Two axes count as parallel from this cosine on.
_PARALLEL = 1 - 1e-3


def read_gearbox(
    node: Node, name: str, frames: Frames, joints: Sequence[ReadJoint], reading: Reading
) -> Coupling:
    """Return the coupling of a gearbox: theta_2 = -ratio · theta_1.

    theta_1 turns the parent and theta_2 the child against the reference body, about ``axis`` and
    ``axis2`` in the world.

    Raises
    ------
    BrokenModel
        No reference body, or no hinge about that axis between it and the parent or child.
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
    """Return the hinge that turns ``link`` against ``base``, and its sense about ``e_W`` (3,)."""
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
        Receives a defect for a leader that does not exist.
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
    problem, free, led = "", _freedom(follower, index), ""
    if leader is None:
        known = [pair.name for pair in pairs.values()]
        problem = f"which does not exist; {suggestion(wanted, known)}"
    elif leader is follower:
        problem = "which is itself"
    elif not (led := _freedom(leader, 1 if mimic.get("axis") == "axis2" else 0)):
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
    terms = (Term(follower.name, free, 1.0), Term(leader.name, led, -multiplier))
    return Coupling(name, "mimic", terms, offset)


def _freedom(pair: Pair, index: int) -> str:
    """Return the freedom about an axis of a joint; empty where it has no such axis."""
    free = pair.kind.free
    return free[index] if index < len(free) and pair.type not in ("spherical", "planar") else ""


def _value(mimic: Element, name: str, default: float) -> float:
    """Return a number of a mimic, written as an element or (Drake) as an attribute."""
    if mimic.get(name) is None:
        return number_of(mimic, name, default)
    return float(attribute_numbers(mimic, name, 1, repr(default))[0])


def read_ball_constraint(node: Node, frames: Frames) -> Pair:
    """Return the spherical closure of a ``<drake:ball_constraint>``, whose values are element text.

    Its frames have body A's axes at the file's pose, and it has a name only where the file gives one.

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
